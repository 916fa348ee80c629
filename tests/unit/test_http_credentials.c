/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials in files that change while they are used, and the small parts that they are made
 * of. */
#include "base/base64.h"
#include "http/credentials.h"
#include "http/path.h"
#include "http/tls.h"

#include "../support/http_folder.h"

#include <errno.h>

static mpijob_http_config *config;
static mpijob__http_credentials *credentials;
static const struct mpijob__http_identity *identity;
static const char *message;
static char notices[2048];

static void notice(void *user, const struct mpijob_finding *finding)
{
	(void)user;
	assert_int_equal(finding->severity, MPIJOB_SEVERITY_WARNING);
	snprintf(notices + strlen(notices), sizeof(notices) - strlen(notices), "%s: %s\n",
	    finding->id, finding->message);
}

static int begin(void **state)
{
	notices[0] = 0;
	config = calloc(1, sizeof(*config));
	config->server = strdup("https://h:6443");
	config->tls = 1;
	credentials = NULL;
	return scratch_begin(state);
}

static int end(void **state)
{
	mpijob__http_credentials_free(credentials);
	mpijob_http_config_free(config);
	return scratch_end(state);
}

static void begin_credentials(void)
{
	mpijob__http_credentials_free(credentials);
	assert_int_equal(mpijob__http_credentials_new(config, 0, notice, NULL, &credentials), 0);
	identity = mpijob__http_credentials_identity(credentials);
}

static int prepare(int64_t now_ms)
{
	message = "";
	return mpijob__http_credentials_prepare(credentials, now_ms, &message);
}

static void test_k9_token_file(void **state)
{
	uint64_t generation;

	(void)state;
	config->token_file = strdup(put("token", "\n one \t\r\n"));
	begin_credentials();
	assert_int_equal(prepare(1000), 1);
	assert_string_equal(identity->authorization, "Bearer one");
	generation = identity->token_generation;
	put("token", "two");
	assert_int_equal(prepare(50999), 1);
	assert_string_equal(identity->authorization, "Bearer one");
	assert_int_equal(prepare(51000), 1);
	assert_string_equal(identity->authorization, "Bearer two");
	assert_true(identity->token_generation > generation);
	generation = identity->token_generation;
	assert_int_equal(identity->tls_generation, 1);
	/* The same again is nothing new. */
	assert_int_equal(prepare(102000), 1);
	assert_int_equal(identity->token_generation, generation);
	/* Empty, gone, or not fit for a header: the last good one stays, and that is told once. */
	put("token", " \n");
	assert_int_equal(prepare(153000), 1);
	assert_non_null(strstr(notices, "credentials-stale: the token file '"));
	assert_non_null(strstr(notices, "token' is empty; the last content is still used\n"));
	notices[0] = 0;
	unlink(config->token_file);
	assert_int_equal(prepare(155000), 1);
	assert_string_equal(notices, "");
	assert_string_equal(identity->authorization, "Bearer two");
	put("token", "three");
	assert_int_equal(prepare(157000), 1);
	assert_string_equal(identity->authorization, "Bearer three");
	put("token", "a\nb");
	assert_int_equal(prepare(257000), 1);
	assert_non_null(strstr(notices, "contains something other than a token"));
	assert_null(strstr(notices, "a\nb"));
	/* After a 401 it is read at once. */
	put("token", "four");
	mpijob__http_credentials_refused(credentials, identity->token_generation,
	    identity->tls_generation);
	assert_int_equal(prepare(257001), 1);
	assert_string_equal(identity->authorization, "Bearer four");
}

static void test_k9_token_and_file(void **state)
{
	(void)state;
	config->token_file = strdup(in_scratch("token"));
	begin_credentials();
	assert_int_equal(prepare(0), MPIJOB_ERR_IO);
	assert_non_null(strstr(message, "token' cannot be read: the file does not exist"));
	put("token", "");
	assert_int_equal(prepare(1), MPIJOB_ERR_AUTH);
	assert_non_null(strstr(message, "token' is empty"));
	put("token", "late");
	assert_int_equal(prepare(2), 1);
	assert_string_equal(identity->authorization, "Bearer late");
	/* A token beside it serves until the file was read. */
	unlink(config->token_file);
	mpijob__http_secret_set(&config->token, "static", 6);
	begin_credentials();
	assert_int_equal(prepare(0), 1);
	assert_string_equal(identity->authorization, "Bearer static");
	assert_non_null(strstr(notices, "credentials-stale"));
	put("token", "file");
	assert_int_equal(prepare(2000), 1);
	assert_string_equal(identity->authorization, "Bearer file");
}

static void test_k11_certificate_files(void **state)
{
	char *certificates[2], *keys[2];
	uint64_t generation;

	(void)state;
	for (int i = 0; i < 2; i++)
		make_pair(&certificates[i], &keys[i]);
	config->certificate.file = strdup(put("crt", certificates[0]));
	config->key.file = strdup(put("key", keys[0]));
	config->ca.file = strdup(put("ca", certificates[1]));
	begin_credentials();
	assert_int_equal(prepare(0), 1);
	assert_string_equal(identity->certificate, certificates[0]);
	assert_string_equal(identity->key, keys[0]);
	assert_string_equal(identity->ca, certificates[1]);
	assert_null(identity->authorization);
	generation = identity->tls_generation;
	assert_int_equal(prepare(300000), 1);
	assert_int_equal(identity->tls_generation, generation);
	/* The certificate comes before its key: neither is taken, which is told. */
	put("crt", certificates[1]);
	assert_int_equal(prepare(599999), 1);
	assert_string_equal(notices, "");
	assert_int_equal(prepare(600000), 1);
	assert_non_null(strstr(notices,
	    "the key does not belong to the certificate; the last content is still used"));
	assert_string_equal(identity->certificate, certificates[0]);
	assert_int_equal(identity->tls_generation, generation);
	put("key", keys[1]);
	assert_int_equal(prepare(610000), 1);
	assert_string_equal(identity->certificate, certificates[1]);
	assert_string_equal(identity->key, keys[1]);
	assert_int_equal(identity->tls_generation, generation + 1);
	/* The CA too. */
	put("ca", certificates[0]);
	assert_int_equal(prepare(910000), 1);
	assert_string_equal(identity->ca, certificates[0]);
	assert_int_equal(identity->tls_generation, generation + 2);
	put("ca", "");
	notices[0] = 0;
	assert_int_equal(prepare(1210000), 1);
	assert_non_null(strstr(notices, "ca' is empty"));
	assert_string_equal(identity->ca, certificates[0]);
	/* What was never there is an error, as is what does not fit from the beginning. */
	begin_credentials();
	assert_int_equal(prepare(0), MPIJOB_ERR_IO);
	assert_non_null(strstr(message, "the certificate authority '"));
	put("ca", certificates[0]);
	put("key", keys[0]);
	assert_int_equal(prepare(0), MPIJOB_ERR_AUTH);
	assert_non_null(strstr(message, "the key does not belong to the certificate"));
	for (int i = 0; i < 2; i++) {
		free(certificates[i]);
		free(keys[i]);
	}
}

static void test_basic_and_nothing(void **state)
{
	(void)state;
	begin_credentials();
	assert_int_equal(prepare(0), 1);
	assert_null(identity->authorization);
	assert_null(identity->ca);
	assert_int_equal(mpijob__http_credentials_fd(credentials), -1);
	assert_true(mpijob__http_credentials_due_ms(credentials) == -1);
	assert_int_equal(mpijob__http_credentials_step(credentials, 0), 0);
	config->username = strdup("Aladdin");
	mpijob__http_secret_set(&config->password, "open sesame", 11);
	begin_credentials();
	assert_int_equal(prepare(0), 1);
	assert_string_equal(identity->authorization, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
	assert_int_equal(identity->token_generation, 1);
	assert_int_equal(prepare(5), 1);
	assert_int_equal(identity->token_generation, 1);
	mpijob__http_secret_clear(&config->password);
	begin_credentials();
	assert_int_equal(prepare(0), 1);
	assert_string_equal(identity->authorization, "Basic QWxhZGRpbjo=");
}

static void test_base64(void **state)
{
	static const struct {
		const char *text, *bytes; /* NULL: it is none */
	} rows[] = {
		{ "", "" },
		{ "Zg==", "f" },
		{ "Zm8=", "fo" },
		{ "Zm9v", "foo" },
		{ "Zm\r\n9v\n", "foo" },
		{ "Zg=\n=\n", "f" },
		{ "Zh==", "f" },
		{ "Zg", NULL },
		{ "Zg=", NULL },
		{ "Z===", NULL },
		{ "Zg==Zg==", NULL },
		{ "Zm9v ", NULL },
		{ "Zm9_", NULL },
		{ "====", NULL },
		{ "Zm9v=", NULL },
		{ "Zg===", NULL },
		{ "Zm8=\tx", NULL },
		{ "\n", "" },
	};
	mpijob__http_secret out = { NULL, 0 }, back = { NULL, 0 };
	char bytes[300];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int code = mpijob__http_secret_decode(&out, rows[i].text, strlen(rows[i].text));

		assert_int_equal(code, rows[i].bytes ? 0 : MPIJOB_ERR_SYNTAX);
		assert_int_equal(mpijob__base_base64_decode(rows[i].text, strlen(rows[i].text),
				     NULL) != SIZE_MAX,
		    code == 0);
		if (code == 0)
			assert_string_equal(out.data ? out.data : "", rows[i].bytes);
	}
	for (size_t len = 0; len < sizeof(bytes); len++) {
		for (size_t i = 0; i < len; i++)
			bytes[i] = (char)(i * 37 + len);
		assert_int_equal(mpijob__http_secret_encode(&out, bytes, len), 0);
		assert_int_equal(out.len, (len + 2) / 3 * 4);
		assert_int_equal(mpijob__http_secret_decode(&back, out.data, out.len), 0);
		assert_int_equal(back.len, len);
		if (len)
			assert_memory_equal(back.data, bytes, len);
	}
	mpijob__http_secret_clear(&out);
	mpijob__http_secret_clear(&back);
}

static void test_paths(void **state)
{
	static const struct {
		const char *path, *clean;
	} rows[] = {
		{ "a/b", "a/b" },
		{ "a//b/", "a/b" },
		{ "./a/./b", "a/b" },
		{ "a/../b", "b" },
		{ "a/..", "." },
		{ "..", ".." },
		{ "../../a", "../../a" },
		{ "a/../../b", "../b" },
		{ "/..", "/" },
		{ "/a/../../b", "/b" },
		{ "/", "/" },
		{ "//a", "/a" },
		{ "", "." },
		{ "a/b/../../..", ".." },
		{ "...", "..." },
		{ "../a/../..", "../.." },
		{ ".a/..b", ".a/..b" },
	};
	char *path;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		path = mpijob__http_path_clean(rows[i].path);
		assert_string_equal(path, rows[i].clean);
		free(path);
	}
	path = mpijob__http_path_join("/etc/k8s", "../ca.crt");
	assert_string_equal(path, "/etc/ca.crt");
	free(path);
	path = mpijob__http_path_join("/etc", "/a//b");
	assert_string_equal(path, "/a//b");
	free(path);
	assert_int_equal(chdir("/usr"), 0);
	path = mpijob__http_path_directory("lib/config");
	assert_string_equal(path, "/usr/lib");
	free(path);
	path = mpijob__http_path_directory("/config");
	assert_string_equal(path, "/");
	free(path);
	assert_int_equal(chdir("/"), 0);
}

static void test_secret_files(void **state)
{
	mpijob__http_secret secret = { NULL, 0 };
	char large[10000];

	(void)state;
	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = 0;
	assert_int_equal(mpijob__http_secret_read(&secret, put("large", large), 1), 0);
	assert_string_equal(secret.data, large);
	/* A failure leaves what was there. */
	assert_int_equal(mpijob__http_secret_read(&secret, scratch, 0), MPIJOB_ERR_IO);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(secret.len, sizeof(large) - 1);
	assert_int_equal(truncate(put("huge", ""), (off_t)MPIJOB__HTTP_SECRET_FILE_LIMIT + 1), 0);
	assert_int_equal(mpijob__http_secret_read(&secret, in_scratch("huge"), 0), MPIJOB_ERR_IO);
	assert_int_equal(errno, EFBIG);
	assert_int_equal(mpijob__http_secret_read(&secret, put("space", " \n\t "), 1), 0);
	assert_null(secret.data);
	assert_int_equal(mpijob__http_secret_append(&secret, "ab", 2) |
			     mpijob__http_secret_append(&secret, "cd", 2),
	    0);
	assert_string_equal(secret.data, "abcd");
	mpijob__http_secret_clear(&secret);
	assert_null(secret.data);
}

/* A key with a pass phrase is refused; nobody is asked for it. */
static void test_key_pairs(void **state)
{
	mpijob__http_secret first = { NULL, 0 }, second = { NULL, 0 };
	char *certificate, *key;
	const char *why;
	EVP_PKEY *pkey = EVP_EC_gen("P-256");
	BIO *bio = BIO_new(BIO_s_mem());
	char *data;
	long len;

	(void)state;
	make_pair(&certificate, &key);
	mpijob__http_secret_set(&first, certificate, strlen(certificate));
	mpijob__http_secret_set(&second, key, strlen(key));
	assert_int_equal(mpijob__http_tls_check_pair(&first, &second, &why), 0);
	assert_int_equal(mpijob__http_tls_check_pair(&second, &second, &why), MPIJOB_ERR_SPEC);
	assert_string_equal(why, "the certificate is not a PEM certificate");
	assert_int_equal(PEM_write_bio_PrivateKey(bio, pkey, EVP_aes_128_cbc(),
			     (const unsigned char *)"pw", 2, NULL, NULL),
	    1);
	len = BIO_get_mem_data(bio, &data);
	mpijob__http_secret_set(&second, data, (size_t)len);
	assert_int_equal(mpijob__http_tls_check_pair(&first, &second, &why), MPIJOB_ERR_SPEC);
	assert_string_equal(why, "the key is not a PEM key without a pass phrase");
	mpijob__http_secret_clear(&second);
	assert_int_equal(mpijob__http_tls_check_pair(&first, &second, &why), MPIJOB_ERR_SPEC);
	mpijob__http_secret_clear(&first);
	BIO_free(bio);
	EVP_PKEY_free(pkey);
	free(certificate);
	free(key);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_k9_token_file),
		TEST(test_k9_token_and_file),
		TEST(test_k11_certificate_files),
		TEST(test_basic_and_nothing),
		TEST(test_base64),
		TEST(test_paths),
		TEST(test_secret_files),
		TEST(test_key_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
