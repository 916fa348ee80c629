/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648 section 4): the standard alphabet, padded. */
#ifndef MPIJOB__BASE_BASE64_H
#define MPIJOB__BASE_BASE64_H

#include <stddef.h>

#define MPIJOB__BASE_BASE64_LEN(len)     (((len) + 2) / 3 * 4)
#define MPIJOB__BASE_BASE64_DECODED(len) ((len) / 4 * 3 + 3) /* bytes for the decoded text */

/* Write MPIJOB__BASE_BASE64_LEN(len) characters and no NUL. `data` may be NULL when `len` is 0. */
void mpijob__base_base64_encode(const void *data, size_t len, char *out);
/* Encode into a new string, yours; NULL when out of memory. */
char *mpijob__base_base64_encode_new(const void *data, size_t len);
/*
 * Decode as Go does: CR and LF anywhere, no other white space, padding to a multiple of four, any
 * value in the unused bits of the last character.
 *
 * out  MPIJOB__BASE_BASE64_DECODED(len) bytes; NULL only checks the text.
 *
 * Returns the number of bytes, or SIZE_MAX if the text is not base64; `out` then has undefined
 * content.
 */
size_t mpijob__base_base64_decode(const char *text, size_t len, void *out);
/* Decode into new memory, yours, with a NUL after the bytes. Returns 0, MPIJOB_ERR_SYNTAX or
 * MPIJOB_ERR_NOMEM. */
int mpijob__base_base64_decode_new(const char *text, size_t len, char **out, size_t *out_len);

#endif
