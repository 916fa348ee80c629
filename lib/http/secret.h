/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that are wiped when they are let go of. */
#ifndef MPIJOB__HTTP_SECRET_H
#define MPIJOB__HTTP_SECRET_H

#include <stddef.h>

#define MPIJOB__HTTP_SECRET_FILE_LIMIT ((size_t)16 << 20)

/* All zero: empty. `data` is NUL-terminated behind `len` bytes, or NULL when empty. */
typedef struct {
	char *data;
	size_t len;
} mpijob__http_secret;

/* Replace the content; the old one is wiped. `data` may be NULL when `len` is 0. 0 or
 * MPIJOB_ERR_NOMEM (unchanged). */
int mpijob__http_secret_set(mpijob__http_secret *secret, const char *data, size_t len);
/* Add to the content. 0 or MPIJOB_ERR_NOMEM (unchanged). `data` may not be the secret's own. */
int mpijob__http_secret_append(mpijob__http_secret *secret, const char *data, size_t len);
/* Replace the content by the base64 of `data`. 0, MPIJOB_ERR_NOMEM (unchanged). */
int mpijob__http_secret_encode(mpijob__http_secret *secret, const char *data, size_t len);
/* Replace the content by what base64 encodes. 0, MPIJOB_ERR_SYNTAX, MPIJOB_ERR_NOMEM
 * (unchanged). */
int mpijob__http_secret_decode(mpijob__http_secret *secret, const char *text, size_t len);
/* Wipe and free; empty afterwards. */
void mpijob__http_secret_clear(mpijob__http_secret *secret);
/*
 * Replace the content by a file's, white space around it cut off when `trim`. 0, MPIJOB_ERR_NOMEM,
 * MPIJOB_ERR_IO (errno says why; EFBIG: more than MPIJOB__HTTP_SECRET_FILE_LIMIT). Unchanged when
 * it fails.
 */
int mpijob__http_secret_read(mpijob__http_secret *secret, const char *path, int trim);

#endif
