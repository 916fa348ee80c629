/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credentials leave no secret in memory that was freed. Texts in YAML pass through libyaml's
 * buffers, which cannot be wiped, and so only JSON is tried.
 */
#include "http/credentials.h"

#include "../support/fake_wait.h"
#include "../support/http_folder.h"
#include "../support/own_memory.h"

#include <fcntl.h>

/* The secret is never in memory as a constant, nor for longer than it is written. */
static void make_secret(char out[SECRET_LENGTH + 1])
{
	for (int i = 0; i < SECRET_LENGTH; i++)
		out[i] = (char)('a' + (i * 7 + 3) % 23);
	out[SECRET_LENGTH] = 0;
}

static void put_secret(const char *name, const char *before, const char *after, mode_t mode)
{
	char secret[SECRET_LENGTH + 1];
	int fd = open(in_scratch(name), O_CREAT | O_WRONLY | O_TRUNC, mode);

	make_secret(secret);
	assert_int_equal(write(fd, before, strlen(before)), strlen(before));
	assert_int_equal(write(fd, secret, SECRET_LENGTH), SECRET_LENGTH);
	assert_int_equal(write(fd, after, strlen(after)), strlen(after));
	close(fd);
	explicit_bzero(secret, sizeof(secret));
}

static int prepare(mpijob__http_credentials *credentials)
{
	const char *message;
	int code;

	while ((code = mpijob__http_credentials_prepare(credentials, fake_clock_ms(), &message)) ==
	       0) {
		do {
			struct pollfd watch = { mpijob__http_credentials_fd(credentials), POLLIN,
				0 };

			fake_wait_poll(&watch, watch.fd >= 0, 10);
		} while (!mpijob__http_credentials_step(credentials, fake_clock_ms()));
	}
	return code;
}

#define HEAD "{\"clusters\": [{\"cluster\": {\"server\": \"https://h\"}}], \"users\": [{\"user\": {"

static void use(const char *name, int found_while_used)
{
	struct mpijob_http_config_options options = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	mpijob_http_config *config = NULL, *copy;
	mpijob__http_credentials *credentials = NULL;

	options.kubeconfig = in_scratch(name);
	assert_int_equal(mpijob_http_config_load(&options, &config, NULL), 0);
	copy = mpijob__http_config_clone(config);
	assert_int_equal(mpijob__http_credentials_new(copy, 0, NULL, NULL, &credentials), 0);
	assert_int_equal(prepare(credentials), 1);
	/* The search itself is good for something. */
	if (found_while_used)
		assert_true(own_memory_count(make_secret) > 0);
	mpijob__http_credentials_free(credentials);
	mpijob_http_config_free(copy);
	mpijob_http_config_free(config);
	assert_int_equal(own_memory_count(make_secret), 0);
}

static void test_k16_token(void **state)
{
	(void)state;
	put_secret("config", HEAD "\"token\": \"", "\"}}]}", 0600);
	use("config", 1);
}

static void test_k16_password(void **state)
{
	(void)state;
	put_secret("config", HEAD "\"username\": \"me\", \"password\": \"", "\"}}]}", 0600);
	use("config", 1);
}

static void test_k16_token_file(void **state)
{
	(void)state;
	put_secret("token", "\n", "\n", 0600);
	put("config", HEAD "\"tokenFile\": \"token\"}}]}");
	use("config", 1);
}

static void test_k16_plugin(void **state)
{
	(void)state;
	put_secret("plugin",
	    "#!/bin/sh\necho "
	    "'{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
	    "\"status\":{\"token\":\"",
	    "\"}}'\n", 0700);
	put("config", HEAD "\"exec\": {\"apiVersion\": \"client.authentication.k8s.io/v1\", "
			   "\"interactiveMode\": \"Never\", "
			   "\"command\": \"./plugin\"}}}]}");
	use("config", 1);
}

/* What a plugin is given may be secret too. */
static void test_k16_plugin_arguments(void **state)
{
	(void)state;
	put_program("plugin",
	    "#!/bin/sh\necho "
	    "'{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
	    "\"status\":{\"token\":\"t\"}}'\n");
	put_secret("config",
	    HEAD "\"exec\": {\"apiVersion\": \"client.authentication.k8s.io/v1\", "
		 "\"interactiveMode\": \"Never\", "
		 "\"command\": \"./plugin\", \"env\": [{\"name\": \"A\", \"value\": \"",
	    "\"}]}}}]}", 0600);
	use("config", 1);
}

/* Nothing that is secret is told, however wrong the file is. */
static void test_k16_findings(void **state)
{
	static const struct {
		const char *before, *after;
	} rows[] = {
		{ "\"token\": [\"", "\"]" },
		{ "\"token\": \"t\\n", "\"" },
		{ "\"token\": {\"", "\": 1}" },
		{ "\"client-key-data\": \"#", "\"" },
		{ "\"username\": 5, \"password\": \"", "\"" },
		{ "\"token\": \"t\", \"username\": \"me\", \"password\": \"", "\"" },
		{ "\"exec\": {\"env\": [{\"value\": \"", "\"}]}" },
		{ "\"auth-provider\": {\"config\": {\"id-token\": \"", "\"}}" },
		{ "\"token\": \"", "" },
		{ "\"token\": &", " ]" },
	};
	char secret[SECRET_LENGTH + 1], before[512], after[64];

	(void)state;
	make_secret(secret);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mpijob_http_config_options options = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
		mpijob_http_config *config = NULL;
		mpijob_diag *diag = mpijob_diag_new();

		snprintf(before, sizeof(before), HEAD "%s", rows[i].before);
		snprintf(after, sizeof(after), "%s}}]}", rows[i].after);
		put_secret("config", before, after, 0600);
		options.kubeconfig = in_scratch("config");
		assert_true(mpijob_http_config_load(&options, &config, diag) < 0);
		assert_true(mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR) > 0);
		for (size_t k = 0; mpijob_diag_at(diag, k); k++) {
			assert_null(strstr(mpijob_diag_at(diag, k)->message, secret));
			assert_null(mpijob_diag_at(diag, k)->field
					? strstr(mpijob_diag_at(diag, k)->field, secret)
					: NULL);
		}
		mpijob_diag_free(diag);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_begin, scratch_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_k16_token),
		TEST(test_k16_password),
		TEST(test_k16_token_file),
		TEST(test_k16_plugin),
		TEST(test_k16_plugin_arguments),
		TEST(test_k16_findings),
	};

	unsetenv("KUBERNETES_SERVICE_HOST");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
