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

static int no_password(char *buffer, int size, int writing, void *user)
{
	(void)buffer;
	(void)size;
	(void)writing;
	(void)user;
	return -1;
}

static X509 *read_certificate(const char *pem, size_t len)
{
	BIO *bio = len > 0 && len <= INT_MAX ? BIO_new_mem_buf(pem, (int)len) : NULL;
	X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, no_password, NULL) : NULL;

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

static int check_owner(EVP_PKEY *key, const char *pem, size_t len, const char **fault)
{
	X509 *owner = read_certificate(pem, len);
	int error = 0;

	if (!owner)
		error = refuse("belongs to a client certificate that is none", fault);
	else if (X509_check_private_key(owner, key) != 1)
		error = refuse("does not belong to the client certificate", fault);
	X509_free(owner);
	return error;
}

static int refuse_key(const char **fault)
{
	unsigned long error = ERR_peek_last_error();

	if (ERR_GET_LIB(error) == ERR_LIB_PEM && (ERR_GET_REASON(error) == PEM_R_BAD_PASSWORD_READ ||
						  ERR_GET_REASON(error) == PEM_R_PROBLEMS_GETTING_PASSWORD))
		return refuse("is protected by a password; store it without one", fault);
	return refuse("holds no private key in PEM that is understood", fault);
}

int mpijob__tls_check_key(const char *pem, size_t len, const char *certificate, size_t certificate_len,
			  const char **fault)
{
	BIO *bio;
	EVP_PKEY *key;
	int error = 0;

	ERR_clear_error();
	bio = len > 0 && len <= INT_MAX ? BIO_new_mem_buf(pem, (int)len) : NULL;
	key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
	if (!key)
		error = refuse_key(fault);
	else if (certificate)
		error = check_owner(key, certificate, certificate_len, fault);
	EVP_PKEY_free(key);
	BIO_free(bio);
	ERR_clear_error();
	return error;
}
