/* SPDX-License-Identifier: Apache-2.0 */
/* The CA bundle of the system: the file with the certificates that it trusts. */
#ifndef MPIJOB__HTTP_CA_BUNDLE_H
#define MPIJOB__HTTP_CA_BUNDLE_H

/* Find the first readable file of `files`, a list that ends with NULL. `variable` reads an
 * environment variable. NULL: no file is readable, or SSL_CERT_FILE or SSL_CERT_DIR is set, which
 * OpenSSL reads itself. The result is borrowed from `files`. */
const char *mpijob__http_ca_bundle_find(const char *const *files,
    const char *(*variable)(const char *name));
/* The same for the files that were configured at build time. NULL: libcurl and OpenSSL know the
 * bundle. */
const char *mpijob__http_ca_bundle_file(const char *(*variable)(const char *name));

#endif
