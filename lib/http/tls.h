/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of certificates and keys in memory. */
#ifndef MPIJOB__HTTP_TLS_H
#define MPIJOB__HTTP_TLS_H

#include "http/secret.h"

/* Check that the bytes contain a PEM certificate. 0, MPIJOB_ERR_SPEC (*fault, a constant, completes
 * a sentence), MPIJOB_ERR_NOMEM. */
int mpijob__http_tls_check_certificate(const char *pem, size_t len, const char **fault);
/* Check that the key is a PEM key without a pass phrase and belongs to the certificate. The same
 * results. */
int mpijob__http_tls_check_pair(const mpijob__http_secret *certificate,
    const mpijob__http_secret *key, const char **fault);

#endif
