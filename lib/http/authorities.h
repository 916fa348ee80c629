/* SPDX-License-Identifier: Apache-2.0 */
/* Where this system keeps the certificates of the authorities that everybody trusts. */
#ifndef MPIJOB__HTTP_AUTHORITIES_H
#define MPIJOB__HTTP_AUTHORITIES_H

/* The first of `files`, which ends with NULL, that can be read; NULL: none, or `variable` knows
 * SSL_CERT_FILE or SSL_CERT_DIR, which OpenSSL reads itself. Borrowed from `files`. */
const char *mpijob__http_authorities_find(const char *const *files,
    const char *(*variable)(const char *name));
/* The same among those that this library was built to look for; NULL: libcurl and OpenSSL know
 * where. */
const char *mpijob__http_authorities_file(const char *(*variable)(const char *name));

#endif
