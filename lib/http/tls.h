/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of certificates and keys in memory. */
#ifndef MPIJOB__HTTP_TLS_H
#define MPIJOB__HTTP_TLS_H

#include "http/secret.h"

/* Do these bytes contain a certificate in PEM? 0, MPIJOB_ERR_SPEC (*fault, a constant, says what is
 * wrong), MPIJOB_ERR_NOMEM. */
int mpijob__http_tls_check_certificate(const char *pem, size_t len, const char **fault);
/* Are they a certificate and its key, without a pass phrase? As above. */
int mpijob__http_tls_check_pair(const mpijob__http_secret *certificate,
    const mpijob__http_secret *key, const char **fault);

#endif
