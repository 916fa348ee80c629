/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SSH key pair: ECDSA over P-521, the private key as SEC1 (RFC 5915) in PEM, the public key as
 * an authorized_keys line (RFC 5656), equal to the output of Go's crypto/x509 and x/crypto/ssh. The
 * private key is computed from the caller's entropy according to FIPS 186-5 A.2.1: d = (c mod
 * (n-1)) + 1, where c has 64 bits more than n. Only this file of lib/render calls OpenSSL; it
 * restores the thread's error queue.
 */
#include "render/ssh_key.h"

#include "base/base64.h"
#include "core/diag.h"
#include "base/secret.h"
#include "render/build.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/obj_mac.h>

#include <stdlib.h>
#include <string.h>

#define SCALAR 66               /* bytes of a number below n */
#define POINT  (1 + 2 * SCALAR) /* uncompressed */

/* ECPrivateKey, all lengths fixed by the curve: version 1, the key, [0] secp521r1, [1] the
 * point. */
static const unsigned char der_head[] = { 0x30, 0x81, 0xdc, 0x02, 0x01, 0x01, 0x04, SCALAR };
static const unsigned char der_middle[] = { 0xa0, 0x07, 0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23,
	0xa1, 0x81, 0x89, 0x03, 0x81, 0x86, 0x00 };
#define DER (sizeof(der_head) + SCALAR + sizeof(der_middle) + POINT)

static const char pem_head[] = "-----BEGIN EC PRIVATE KEY-----\n";
static const char pem_tail[] = "-----END EC PRIVATE KEY-----\n";
#define PEM_LINE 64
#define PEM_BODY MPIJOB__BASE_BASE64_LEN(DER)
#define PEM                                                                       \
	(sizeof(pem_head) - 1 + PEM_BODY + (PEM_BODY + PEM_LINE - 1) / PEM_LINE + \
	    sizeof(pem_tail) - 1)

static const char line_head[] = "ecdsa-sha2-nistp521 ";
/* Three strings, each after its length in four bytes: type, curve, point. */
static const unsigned char blob_head[] = "\0\0\0\x13"
					 "ecdsa-sha2-nistp521"
					 "\0\0\0\x08"
					 "nistp521"
					 "\0\0\0\x85";
#define BLOB (sizeof(blob_head) - 1 + POINT)
#define LINE (sizeof(line_head) - 1 + MPIJOB__BASE_BASE64_LEN(BLOB) + 1)

#define SIZE_OF(member) sizeof(((struct mpijob__render_ssh_key *)NULL)->member)
_Static_assert(SIZE_OF(pem) == PEM + 1 && SIZE_OF(line) == LINE + 1, "a text and its NUL");
_Static_assert(SIZE_OF(pem_base64) == MPIJOB__BASE_BASE64_LEN(PEM) + 1, "likewise");
_Static_assert(SIZE_OF(line_base64) == MPIJOB__BASE_BASE64_LEN(LINE) + 1, "likewise");

struct numbers {
	unsigned char scalar[SCALAR];
	unsigned char point[POINT];
	unsigned char der[DER];
};

/* d = (c mod (n-1)) + 1 */
static int derive(const uint8_t *entropy, const EC_GROUP *group, BIGNUM *d, BN_CTX *context)
{
	BIGNUM *wide, *bound;
	int done;

	BN_CTX_start(context);
	wide = BN_CTX_get(context);
	bound = BN_CTX_get(context);
	done = bound != NULL;
	if (done) {
		BN_set_flags(wide, BN_FLG_CONSTTIME);
		BN_set_flags(d, BN_FLG_CONSTTIME);
	}
	done = done && BN_bin2bn(entropy, MPIJOB_SSH_ENTROPY, wide) != NULL &&
	       BN_copy(bound, EC_GROUP_get0_order(group)) != NULL && BN_sub_word(bound, 1) &&
	       BN_mod(d, wide, bound, context) && BN_add_word(d, 1);
	if (wide != NULL)
		BN_clear(wide);
	BN_CTX_end(context);
	return done;
}

static int calculate(const uint8_t *entropy, const EC_GROUP *group, struct numbers *out)
{
	BN_CTX *context = BN_CTX_secure_new();
	BIGNUM *d = context != NULL ? BN_secure_new() : NULL;
	EC_POINT *point = d != NULL ? EC_POINT_new(group) : NULL;
	int done = point != NULL && derive(entropy, group, d, context) &&
		   BN_bn2binpad(d, out->scalar, SCALAR) == SCALAR &&
		   EC_POINT_mul(group, point, d, NULL, NULL, context) &&
		   EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, out->point,
		       POINT, context) == POINT;

	EC_POINT_clear_free(point);
	BN_clear_free(d);
	BN_CTX_free(context);
	return done;
}

static char *put(char *at, const void *data, size_t len)
{
	memcpy(at, data, len);
	return at + len;
}

static void write_private(struct mpijob__render_ssh_key *key, struct numbers *numbers)
{
	char body[PEM_BODY], *at = (char *)numbers->der;

	at = put(at, der_head, sizeof(der_head));
	at = put(at, numbers->scalar, SCALAR);
	at = put(at, der_middle, sizeof(der_middle));
	put(at, numbers->point, POINT);
	mpijob__base_base64_encode(numbers->der, DER, body);

	at = put(key->pem, pem_head, sizeof(pem_head) - 1);
	for (size_t i = 0; i < PEM_BODY; i += PEM_LINE) {
		at = put(at, body + i, PEM_BODY - i < PEM_LINE ? PEM_BODY - i : PEM_LINE);
		*at++ = '\n';
	}
	put(at, pem_tail, sizeof(pem_tail));
	mpijob__base_secret_wipe(body, sizeof(body));
	mpijob__base_base64_encode((const unsigned char *)key->pem, PEM, key->pem_base64);
}

static void write_public(struct mpijob__render_ssh_key *key, const struct numbers *numbers)
{
	unsigned char blob[BLOB];
	char *at = key->line;

	memcpy(blob, blob_head, sizeof(blob_head) - 1);
	memcpy(blob + sizeof(blob_head) - 1, numbers->point, POINT);
	at = put(at, line_head, sizeof(line_head) - 1);
	mpijob__base_base64_encode(blob, BLOB, at);
	key->line[LINE - 1] = '\n';
	mpijob__base_base64_encode((const unsigned char *)key->line, LINE, key->line_base64);
}

/* Whether libcrypto was built with the curve; asked without an allocation, as memory may have run
 * out. */
static int has_curve(void)
{
	EC_builtin_curve curves[256];
	size_t count = EC_get_builtin_curves(curves, sizeof(curves) / sizeof(curves[0]));

	for (size_t i = 0; i < count && i < sizeof(curves) / sizeof(curves[0]); i++)
		if (curves[i].nid == NID_secp521r1)
			return 1;
	return 0;
}

static int make(const uint8_t *entropy, struct mpijob__render_ssh_key *key)
{
	EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_secp521r1);
	struct numbers numbers;
	int code = 0;

	if (group == NULL && !has_curve())
		code = MPIJOB_ERR_UNSUPPORTED;
	else if (group == NULL || !calculate(entropy, group, &numbers))
		code = MPIJOB_ERR_NOMEM;
	if (code == 0) {
		write_private(key, &numbers);
		write_public(key, &numbers);
	}
	mpijob__base_secret_wipe(&numbers, sizeof(numbers));
	EC_GROUP_free(group);
	return code;
}

int mpijob__render_ssh_key_new(const uint8_t *entropy, size_t len,
    struct mpijob__render_ssh_key **out, mpijob_diag *diag)
{
	struct mpijob__render_ssh_key *key;
	int code;

	if (entropy == NULL || out == NULL || len < MPIJOB_SSH_ENTROPY)
		return MPIJOB_ERR_USAGE;
	key = calloc(1, sizeof(*key));
	if (key == NULL)
		return MPIJOB_ERR_NOMEM;
	ERR_set_mark();
	code = make(entropy, key);
	ERR_pop_to_mark();
	if (code == 0) {
		*out = key;
		return 0;
	}
	mpijob__render_ssh_key_free(key);
	if (code == MPIJOB_ERR_UNSUPPORTED)
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "no-p521", NULL, NULL, NULL,
		    "libcrypto does not have the curve P-521, so no SSH key can be made");
	return code;
}

void mpijob__render_ssh_key_free(struct mpijob__render_ssh_key *key)
{
	if (key == NULL)
		return;
	mpijob__base_secret_wipe(key, sizeof(*key));
	free(key);
}
