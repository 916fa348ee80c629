/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the certificates of the authorities that the system trusts. */
#ifndef MPIJOB__HTTP_AUTHORITIES_H
#define MPIJOB__HTTP_AUTHORITIES_H

/* The first readable file of `files`, which ends with NULL; NULL: none, or `variable` knows
 * SSL_CERT_FILE or SSL_CERT_DIR, which OpenSSL reads itself. Borrowed from `files`. */
const char *mpijob__http_authorities_find(const char *const *files,
    const char *(*variable)(const char *name));
/* The same for the files that were configured at build time; NULL: libcurl and OpenSSL know where.
 */
const char *mpijob__http_authorities_file(const char *(*variable)(const char *name));

#endif
