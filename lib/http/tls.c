/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How OpenSSL is asked what it thinks of a certificate or key in memory, early enough to say in words what is wrong,
 * and without its asking a terminal for a password.
 */
#include "http/tls.h"

#include <mpijob/base.h>

#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

static X509 *read_certificate(const char *pem, size_t len)
{
	BIO *bio = len > 0 && len <= INT_MAX ? BIO_new_mem_buf(pem, (int)len) : NULL;
	X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;

	BIO_free(bio);
	return certificate;
}

/* Why OpenSSL failed. */
static int refuse(const char *why, const char **fault)
{
	if (ERR_GET_REASON(ERR_peek_last_error()) == ERR_R_MALLOC_FAILURE ||
	    ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE)
		return MPIJOB_ERR_NOMEM;
	*fault = why;
	return MPIJOB_ERR_SPEC;
}

int mpijob__tls_check_certificate(const char *pem, size_t len, const char **fault)
{
	X509 *certificate;
	int error;

	ERR_clear_error();
	certificate = read_certificate(pem, len);
	error = certificate ? 0 : refuse("holds no certificate in PEM", fault);
	X509_free(certificate);
	ERR_clear_error();
	return error;
}
