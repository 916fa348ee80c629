/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_BASE64_H
#define MPIJOB_LOCAL_BASE64_H

#include <stddef.h>

/* Both give memory of their own, NUL-terminated; NULL when there is none, or (decode) the text is not base64. */
char *mpijob__base64_encode(const void *data, size_t len);
unsigned char *mpijob__base64_decode(const char *text, size_t len, size_t *out_len);

/* Free what may be a key. */
void mpijob__base64_wipe_free(void *data, size_t len);

#endif
