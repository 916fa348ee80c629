/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SSH key pair: OpenSSL reads it as a sound P-521 key, ssh-keygen finds the same public line in
 * the private half, the same entropy gives the same key, and the edges of d = (c mod (n-1)) + 1 are
 * where FIPS 186-5 A.2.1 puts them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/ec.h>
#include <openssl/pem.h>

#include "render/ssh_key.h"

#include "../support/own_memory.h"

static const char order_hex[] =
    "01FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"
    "FA51868783BF2F966B7FCC0148F709A5D03BB5C9B8899C47AEBB6FB71E91386409";

static struct mpijob__render_ssh_key *make(const uint8_t *entropy)
{
	struct mpijob__render_ssh_key *key = NULL;

	assert_int_equal(mpijob__render_ssh_key_new(entropy, MPIJOB_SSH_ENTROPY, &key, NULL), 0);
	return key;
}

static EVP_PKEY *read_private(const struct mpijob__render_ssh_key *key)
{
	BIO *bio = BIO_new_mem_buf(key->pem, -1);
	EVP_PKEY *parsed = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);

	BIO_free(bio);
	assert_non_null(parsed);
	return parsed;
}

/* The private number of a key made from entropy. */
static BIGNUM *scalar_of(const uint8_t *entropy)
{
	struct mpijob__render_ssh_key *key = make(entropy);
	EVP_PKEY *parsed = read_private(key);
	BIGNUM *scalar = NULL;

	assert_int_equal(EVP_PKEY_get_bn_param(parsed, OSSL_PKEY_PARAM_PRIV_KEY, &scalar), 1);
	EVP_PKEY_free(parsed);
	mpijob__render_ssh_key_free(key);
	return scalar;
}

static void fill(uint8_t *entropy, unsigned seed)
{
	for (size_t i = 0; i < MPIJOB_SSH_ENTROPY; i++)
		entropy[i] = (uint8_t)((seed = seed * 1103515245u + 12345u) >> 16);
}

static void is_a_sound_key(void **state)
{
	uint8_t entropy[MPIJOB_SSH_ENTROPY];

	(void)state;
	for (unsigned seed = 1; seed <= 8; seed++) {
		struct mpijob__render_ssh_key *key;
		EVP_PKEY *parsed;
		EVP_PKEY_CTX *context;
		char group[64];

		fill(entropy, seed);
		key = make(entropy);
		parsed = read_private(key);
		context = EVP_PKEY_CTX_new(parsed, NULL);
		assert_int_equal(EVP_PKEY_check(context), 1);
		assert_int_equal(EVP_PKEY_get_group_name(parsed, group, sizeof(group), NULL), 1);
		assert_string_equal(group, "secp521r1");
		EVP_PKEY_CTX_free(context);
		EVP_PKEY_free(parsed);
		mpijob__render_ssh_key_free(key);
	}
}

static void ssh_keygen_agrees(void **state)
{
	char folder[] = "/tmp/mpijob-key-XXXXXX", path[64], command[128], line[1024];
	uint8_t entropy[MPIJOB_SSH_ENTROPY];
	struct mpijob__render_ssh_key *key;
	FILE *file;
	int fits;

	(void)state;
	if (system("command -v ssh-keygen >/dev/null") != 0) {
		print_message("ssh-keygen is not here\n");
		skip();
	}
	fill(entropy, 99);
	key = make(entropy);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/id_rsa", folder);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fchmod(fileno(file), 0600), 0);
	assert_true(fputs(key->pem, file) >= 0);
	assert_int_equal(fclose(file), 0);
	fits = snprintf(command, sizeof(command), "ssh-keygen -y -f %s", path);
	assert_true(fits > 0 && (size_t)fits < sizeof(command));
	file = popen(command, "r");
	assert_non_null(file);
	assert_non_null(fgets(line, sizeof(line), file));
	assert_int_equal(pclose(file), 0);
	unlink(path);
	rmdir(folder);
	assert_string_equal(line, key->line);
	mpijob__render_ssh_key_free(key);
}

static void same_entropy_same_key(void **state)
{
	uint8_t entropy[MPIJOB_SSH_ENTROPY + 1];
	struct mpijob__render_ssh_key *a, *b;

	(void)state;
	fill(entropy, 7);
	a = make(entropy);
	b = make(entropy);
	assert_string_equal(a->pem, b->pem);
	assert_string_equal(a->line, b->line);
	mpijob__render_ssh_key_free(b);
	entropy[MPIJOB_SSH_ENTROPY] = 1; /* more than is needed changes nothing */
	assert_int_equal(mpijob__render_ssh_key_new(entropy, sizeof(entropy), &b, NULL), 0);
	assert_string_equal(a->pem, b->pem);
	mpijob__render_ssh_key_free(b);
	entropy[MPIJOB_SSH_ENTROPY - 1] ^= 1;
	b = make(entropy);
	assert_string_not_equal(a->pem, b->pem);
	mpijob__render_ssh_key_free(a);
	mpijob__render_ssh_key_free(b);
}

/* c = 0 gives 1; c = n-2 gives n-1, the largest; c = n-1 gives 1 again; all ones is reduced. */
static void edges_of_the_range(void **state)
{
	uint8_t entropy[MPIJOB_SSH_ENTROPY] = { 0 };
	BIGNUM *order = NULL, *bound = NULL, *c = BN_new(), *expected = BN_new(), *d;
	BN_CTX *context = BN_CTX_new();

	(void)state;
	assert_true(BN_hex2bn(&order, order_hex) > 0);
	bound = BN_dup(order);
	assert_int_equal(BN_sub_word(bound, 1), 1);

	d = scalar_of(entropy);
	assert_true(BN_is_one(d));
	BN_free(d);

	assert_non_null(BN_copy(c, bound));
	assert_int_equal(BN_bn2binpad(c, entropy, sizeof(entropy)), (int)sizeof(entropy));
	d = scalar_of(entropy);
	assert_true(BN_is_one(d));
	BN_free(d);

	assert_int_equal(BN_sub_word(c, 1), 1);
	assert_int_equal(BN_bn2binpad(c, entropy, sizeof(entropy)), (int)sizeof(entropy));
	d = scalar_of(entropy);
	assert_int_equal(BN_cmp(d, bound), 0);
	BN_free(d);

	memset(entropy, 0xff, sizeof(entropy));
	assert_non_null(BN_bin2bn(entropy, sizeof(entropy), c));
	assert_int_equal(BN_mod(expected, c, bound, context), 1);
	assert_int_equal(BN_add_word(expected, 1), 1);
	d = scalar_of(entropy);
	assert_int_equal(BN_cmp(d, expected), 0);
	BN_free(d);

	BN_free(order);
	BN_free(bound);
	BN_free(c);
	BN_free(expected);
	BN_CTX_free(context);
}

/* The key with d = 1 is the curve's base point, whose coordinates FIPS 186 gives. */
static void known_answer(void **state)
{
	uint8_t entropy[MPIJOB_SSH_ENTROPY] = { 0 };
	struct mpijob__render_ssh_key *key = make(entropy);
	const char *public_line = key->line;
	EVP_PKEY *parsed = read_private(key);
	unsigned char point[133];
	static const unsigned char head[] = { 0x04, 0x00, 0xc6, 0x85, 0x8e, 0x06, 0xb7, 0x04, 0x04,
		0xe9, 0xcd };
	static const unsigned char tail[] = { 0xbe, 0x94, 0x76, 0x9f, 0xd1, 0x66, 0x50 };
	static const char start[] =
	    "ecdsa-sha2-nistp521 "
	    "AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBADGhY4GtwQE6c";
	size_t len = 0;

	(void)state;
	assert_int_equal(EVP_PKEY_get_octet_string_param(parsed, OSSL_PKEY_PARAM_PUB_KEY, point,
			     sizeof(point), &len),
	    1);
	assert_int_equal(len, sizeof(point));
	assert_memory_equal(point, head, sizeof(head));
	assert_memory_equal(point + sizeof(point) - sizeof(tail), tail, sizeof(tail));
	/* The first bytes of the blob: type, curve, and the point's first bytes, all in base64. */
	assert_memory_equal(public_line, start, sizeof(start) - 1);
	assert_int_equal(public_line[strlen(public_line) - 1], '\n');
	EVP_PKEY_free(parsed);
	mpijob__render_ssh_key_free(key);
}

static void refuses_too_little(void **state)
{
	uint8_t entropy[MPIJOB_SSH_ENTROPY] = { 0 };
	struct mpijob__render_ssh_key *key = NULL;

	(void)state;
	assert_int_equal(mpijob__render_ssh_key_new(entropy, MPIJOB_SSH_ENTROPY - 1, &key, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob__render_ssh_key_new(NULL, MPIJOB_SSH_ENTROPY, &key, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob__render_ssh_key_new(entropy, sizeof(entropy), NULL, NULL),
	    MPIJOB_ERR_USAGE);
	assert_null(key);
	mpijob__render_ssh_key_free(NULL);
}

/* What the caller has in OpenSSL's error queue stays, and nothing is added. */
static void leaves_the_error_queue(void **state)
{
	uint8_t entropy[MPIJOB_SSH_ENTROPY] = { 5 };

	(void)state;
	ERR_clear_error();
	mpijob__render_ssh_key_free(make(entropy));
	assert_int_equal(ERR_peek_error(), 0);
	ERR_raise(ERR_LIB_USER, 42);
	mpijob__render_ssh_key_free(make(entropy));
	assert_int_equal(ERR_GET_REASON(ERR_get_error()), 42);
	assert_int_equal(ERR_get_error(), 0);
}

#define MASK 0x55

static unsigned char masked[SECRET_LENGTH];

static void make_secret(char out[SECRET_LENGTH + 1])
{
	for (size_t i = 0; i < SECRET_LENGTH; i++)
		out[i] = (char)(masked[i] ^ MASK);
	out[SECRET_LENGTH] = 0;
}

/* The key, and a text that it passed through on its way to a server, with what that text was before
 * it grew. */
static void leaves_no_key_in_memory(void **state)
{
	uint8_t entropy[MPIJOB_SSH_ENTROPY];
	mpijob_text *body = mpijob_text_new();
	struct mpijob__render_ssh_key *key;
	const char *line;

	(void)state;
	fill(entropy, 1001); /* a key that no other test here has */
	key = make(entropy);
	explicit_bzero(entropy, sizeof(entropy));
	line = key->pem + strcspn(key->pem, "\n") + 65;
	for (size_t i = 0; i < SECRET_LENGTH; i++)
		masked[i] = (unsigned char)line[i] ^ MASK;
	for (int i = 0; i < 8; i++)
		assert_int_equal(mpijob_text_write(body, key->pem, strlen(key->pem)), 0);
	assert_true(own_memory_count(make_secret) >= 9);
	mpijob__render_ssh_key_free(key);
	mpijob_text_free(body);
	assert_int_equal(own_memory_count(make_secret), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_a_sound_key),
		cmocka_unit_test(ssh_keygen_agrees),
		cmocka_unit_test(same_entropy_same_key),
		cmocka_unit_test(edges_of_the_range),
		cmocka_unit_test(known_answer),
		cmocka_unit_test(refuses_too_little),
		cmocka_unit_test(leaves_the_error_queue),
		cmocka_unit_test(leaves_no_key_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
