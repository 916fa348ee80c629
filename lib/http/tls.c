/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of certificates and keys with OpenSSL before curl uses them, so that messages can say what
 * is wrong. OpenSSL must not prompt for a pass phrase on the terminal. A pair is checked before it
 * replaces the old one: while files are updated one after the other, they do not match.
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

/* Why OpenSSL failed: MPIJOB_ERR_NOMEM when its error queue says so, else MPIJOB_ERR_SPEC. */
static int explain(const char *why, const char **fault)
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
	int rc = certificate ? 0 : explain("contains no PEM certificate", fault);

	X509_free(certificate);
	return rc;
}

static int check_pair(const mpijob__http_secret *certificate, const mpijob__http_secret *key,
    const char **fault)
{
	X509 *x509 = read_certificate(certificate->data, certificate->len);
	EVP_PKEY *pkey = x509 ? read_key(key->data, key->len) : NULL;
	int rc = 0;

	if (!x509)
		rc = explain("the certificate is not a PEM certificate", fault);
	else if (!pkey)
		rc = explain("the key is not a PEM key without a pass phrase", fault);
	else if (X509_check_private_key(x509, pkey) != 1)
		rc = explain("the key does not belong to the certificate", fault);
	X509_free(x509);
	EVP_PKEY_free(pkey);
	return rc;
}

/* Both functions check rejected data a second time: some layers of OpenSSL do not report that
 * memory ran out, but then the first allocation of the second attempt does. */

int mpijob__http_tls_check_certificate(const char *pem, size_t len, const char **fault)
{
	int rc;

	ERR_clear_error();
	rc = check_certificate(pem, len, fault);
	if (rc == MPIJOB_ERR_SPEC)
		rc = check_certificate(pem, len, fault);
	ERR_clear_error();
	return rc;
}

int mpijob__http_tls_check_pair(const mpijob__http_secret *certificate,
    const mpijob__http_secret *key, const char **fault)
{
	int rc;

	ERR_clear_error();
	rc = check_pair(certificate, key, fault);
	if (rc == MPIJOB_ERR_SPEC)
		rc = check_pair(certificate, key, fault);
	ERR_clear_error();
	return rc;
}
