/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_BASE64_H
#define MPIJOB_LOCAL_BASE64_H

#include <stddef.h>

/* Memory of its own; NULL when there is none. */
char *mpijob__local_base64_encode(const void *data, size_t len);
/* 0 and memory of its own, NUL-terminated; MPIJOB_ERR_SYNTAX (this is not base64);
 * MPIJOB_ERR_NOMEM. */
int mpijob__local_base64_decode(const char *text, size_t len, unsigned char **out, size_t *out_len);

/* Free what may be a key. */
void mpijob__local_base64_wipe_free(void *data, size_t len);

#endif
