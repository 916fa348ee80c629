/* SPDX-License-Identifier: Apache-2.0 */
#include "http_folder.h"

char scratch[64];

int scratch_begin(void **state)
{
	(void)state;
	strcpy(scratch, "/tmp/mpijob-http-XXXXXX");
	return mkdtemp(scratch) ? 0 : -1;
}

int scratch_end(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	return system(command);
}

const char *in_scratch(const char *name)
{
	static char names[8][256];
	static size_t next;
	char *out = names[next++ % 8];

	snprintf(out, 256, "%s/%s", scratch, name);
	return out;
}

const char *put(const char *name, const char *text)
{
	const char *path = in_scratch(name);
	char command[512];
	FILE *file;

	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"", path);
	assert_int_equal(system(command), 0);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	return path;
}

const char *put_program(const char *name, const char *text)
{
	const char *path = put(name, text);

	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

void make_pair(char **certificate, char **key)
{
	EVP_PKEY *pkey = EVP_EC_gen("P-256");
	X509 *x509 = X509_new();
	BIO *bios[2] = { BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()) };
	char **outs[2] = { certificate, key };

	assert_non_null(pkey);
	ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
	X509_gmtime_adj(X509_getm_notBefore(x509), 0);
	X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
	X509_set_pubkey(x509, pkey);
	assert_true(X509_sign(x509, pkey, EVP_sha256()) > 0);
	assert_int_equal(PEM_write_bio_X509(bios[0], x509), 1);
	assert_int_equal(PEM_write_bio_PrivateKey(bios[1], pkey, NULL, NULL, 0, NULL, NULL), 1);
	for (int i = 0; i < 2; i++) {
		char *data;
		long len = BIO_get_mem_data(bios[i], &data);

		/* The memory of a BIO has no NUL at its end. */
		*outs[i] = calloc((size_t)len + 1, 1);
		memcpy(*outs[i], data, (size_t)len);
		BIO_free(bios[i]);
	}
	X509_free(x509);
	EVP_PKEY_free(pkey);
}
