/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How OpenSSL checks certificates and keys in memory, early enough to explain what is wrong, and
 * without asking a terminal for a pass phrase. A pair is checked before it replaces an old one,
 * because files that are replaced one after the other do not match for a moment.
 */
#include "http/tls.h"

#include <mpijob/base.h>

#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

static int no_pass_phrase(char *buffer, int size, int writing, void *user)
{
	(void)buffer;
	(void)size;
	(void)writing;
	(void)user;
	return -1;
}

static BIO *open_pem(const char *pem, size_t len)
{
	return len > 0 && len <= INT_MAX ? BIO_new_mem_buf(pem, (int)len) : NULL;
}

static X509 *read_certificate(const char *pem, size_t len)
{
	BIO *bio = open_pem(pem, len);
	X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, no_pass_phrase, NULL) : NULL;

	BIO_free(bio);
	return certificate;
}

static EVP_PKEY *read_key(const char *pem, size_t len)
{
	BIO *bio = open_pem(pem, len);
	EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_pass_phrase, NULL) : NULL;

	BIO_free(bio);
	return key;
}

/* Why OpenSSL failed: when memory runs out, one of its layers reports it, while others report only
 * what they could not do. */
static int refuse(const char *why, const char **fault)
{
	unsigned long error;

	while ((error = ERR_get_error()) != 0)
		if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE)
			return MPIJOB_ERR_NOMEM;
	*fault = why;
	return MPIJOB_ERR_SPEC;
}

static int check_certificate(const char *pem, size_t len, const char **fault)
{
	X509 *certificate = read_certificate(pem, len);
	int error = certificate ? 0 : refuse("holds no certificate in PEM", fault);

	X509_free(certificate);
	return error;
}

static int check_pair(const mpijob__http_secret *certificate, const mpijob__http_secret *key,
    const char **fault)
{
	X509 *x509 = read_certificate(certificate->data, certificate->len);
	EVP_PKEY *pkey = x509 ? read_key(key->data, key->len) : NULL;
	int error = 0;

	if (!x509)
		error = refuse("the certificate is no certificate in PEM", fault);
	else if (!pkey)
		error = refuse("the key is no key in PEM without a pass phrase", fault);
	else if (X509_check_private_key(x509, pkey) != 1)
		error = refuse("the key is not that of the certificate", fault);
	X509_free(x509);
	EVP_PKEY_free(pkey);
	return error;
}

/* Read rejected data a second time: some layers do not report that memory ran out, the first one
 * does. */

int mpijob__http_tls_check_certificate(const char *pem, size_t len, const char **fault)
{
	int error;

	ERR_clear_error();
	error = check_certificate(pem, len, fault);
	if (error == MPIJOB_ERR_SPEC)
		error = check_certificate(pem, len, fault);
	ERR_clear_error();
	return error;
}

int mpijob__http_tls_check_pair(const mpijob__http_secret *certificate,
    const mpijob__http_secret *key, const char **fault)
{
	int error;

	ERR_clear_error();
	error = check_pair(certificate, key, fault);
	if (error == MPIJOB_ERR_SPEC)
		error = check_pair(certificate, key, fault);
	ERR_clear_error();
	return error;
}
