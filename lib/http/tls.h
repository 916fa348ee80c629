/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a CA is one. */
#ifndef MPIJOB__HTTP_TLS_H
#define MPIJOB__HTTP_TLS_H

#include <stddef.h>

/* Do these bytes hold a certificate in PEM? 0, MPIJOB_ERR_SPEC (*fault says what is wrong, a constant),
 * MPIJOB_ERR_NOMEM. */
int mpijob__tls_check_certificate(const char *pem, size_t len, const char **fault);

#endif
