/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that are wiped when they are freed. */
#ifndef MPIJOB__HTTP_SECRET_H
#define MPIJOB__HTTP_SECRET_H

#include <stddef.h>

#define MPIJOB__HTTP_SECRET_FILE_LIMIT ((size_t)16 << 20)

/* All zero: empty. `data` has a NUL after `len` bytes, or is NULL when empty. */
typedef struct {
	char *data;
	size_t len;
} mpijob__http_secret;

/* Replace the content and wipe the old one. `data` may be NULL when `len` is 0. 0 or
 * MPIJOB_ERR_NOMEM (unchanged). */
int mpijob__http_secret_set(mpijob__http_secret *secret, const char *data, size_t len);
/* Append to the content. 0 or MPIJOB_ERR_NOMEM (unchanged). `data` must not point into the secret
 * itself. */
int mpijob__http_secret_append(mpijob__http_secret *secret, const char *data, size_t len);
/* Replace the content by the base64 of `data`. 0, MPIJOB_ERR_NOMEM (unchanged). */
int mpijob__http_secret_encode(mpijob__http_secret *secret, const char *data, size_t len);
/* Replace the content by the decoded base64 of `text`. 0, MPIJOB_ERR_SYNTAX, MPIJOB_ERR_NOMEM;
 * unchanged on failure. */
int mpijob__http_secret_decode(mpijob__http_secret *secret, const char *text, size_t len);
/* Whether both have the same bytes. */
int mpijob__http_secret_equal(const mpijob__http_secret *a, const mpijob__http_secret *b);
/* Wipe and free; empty afterwards. */
void mpijob__http_secret_clear(mpijob__http_secret *secret);
/*
 * Replace the content by that of a file; with `trim`, without white space at both ends. 0,
 * MPIJOB_ERR_NOMEM, MPIJOB_ERR_IO (errno says why; EFBIG: more than
 * MPIJOB__HTTP_SECRET_FILE_LIMIT). Unchanged on failure.
 */
int mpijob__http_secret_read(mpijob__http_secret *secret, const char *path, int trim);

#endif
