/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What OpenSSL says of a client's certificate and key. It is asked before a new pair takes the place of an old one,
 * since files that are being replaced one after the other do not fit for a moment.
 */
#include "http/key_pair.h"

#include <mpijob/base.h>

#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

/* OpenSSL would ask at the terminal. */
static int no_pass_phrase(char *buffer, int size, int writing, void *user)
{
	(void)buffer;
	(void)size;
	(void)writing;
	(void)user;
	return -1;
}

static BIO *open_secret(const mpijob__secret *secret)
{
	return secret->len && secret->len < INT_MAX ? BIO_new_mem_buf(secret->data, (int)secret->len) : NULL;
}

int mpijob__key_pair_check(const mpijob__secret *certificate, const mpijob__secret *key, const char **why)
{
	BIO *first, *second;
	X509 *x509 = NULL;
	EVP_PKEY *pkey = NULL;

	ERR_set_mark();
	first = open_secret(certificate);
	second = open_secret(key);
	if (first)
		x509 = PEM_read_bio_X509(first, NULL, no_pass_phrase, NULL);
	if (second)
		pkey = PEM_read_bio_PrivateKey(second, NULL, no_pass_phrase, NULL);
	*why = NULL;
	if (!x509)
		*why = "the certificate is no certificate in PEM";
	else if (!pkey)
		*why = "the key is no key in PEM without a pass phrase";
	else if (X509_check_private_key(x509, pkey) != 1)
		*why = "the key is not that of the certificate";
	X509_free(x509);
	EVP_PKEY_free(pkey);
	BIO_free(first);
	BIO_free(second);
	ERR_pop_to_mark();
	return *why ? MPIJOB_ERR_SPEC : 0;
}
