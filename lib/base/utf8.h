/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, as strict as RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef MPIJOB__BASE_UTF8_H
#define MPIJOB__BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Read one character at `at`. Returns the number of its bytes, 1 to 4, or 0 when it is invalid;
 * `code` may be NULL. */
size_t mpijob__base_utf8_read(const char *at, const char *end, uint32_t *code);
/* Write one character, which must be valid. Returns the number of its bytes, 1 to 4. */
size_t mpijob__base_utf8_write(char into[4], uint32_t code);
/* Whether all of the text is UTF-8; if not, `*bad` (may be NULL) is the offset of the first invalid
 * byte. */
int mpijob__base_utf8_valid(const char *text, size_t len, size_t *bad);

#endif
