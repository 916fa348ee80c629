/* SPDX-License-Identifier: Apache-2.0 */
/* Which exec credential plugins may run: whoever can write the kubeconfig chooses the command, and
 * the host says no. */
#include "http/credentials.h"

#include "../support/fake_wait.h"
#include "../support/http_folder.h"

#define SCRIPT                                                                         \
	"#!/bin/sh\n"                                                                  \
	"echo "                                                                        \
	"'{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/" \
	"v1\",\"status\":{\"token\":\"'$0'\"}}'\n"

static char *path_before;

/* Two programs of one name, of which one is in PATH. */
static int begin(void **state)
{
	char path[1024];

	if (scratch_begin(state))
		return -1;
	put_program("plugin", SCRIPT);
	put_program("other/plugin", SCRIPT);
	path_before = strdup(getenv("PATH"));
	snprintf(path, sizeof(path), "%s:%s", scratch, path_before);
	return setenv("PATH", path, 1);
}

static int end(void **state)
{
	setenv("PATH", path_before, 1);
	free(path_before);
	return scratch_end(state);
}

static int load(const char *command, int32_t policy, const char *const *plugins, size_t count,
    mpijob_http_config **out, mpijob_diag *diag)
{
	struct mpijob_http_config_options options = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	char text[1024];

	snprintf(text, sizeof(text),
	    "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],\n"
	    "clusters: [{name: c, cluster: {server: 'https://h'}}], users: [{name: u, user: {exec: "
	    "{\n"
	    "apiVersion: client.authentication.k8s.io/v1, command: '%s', interactiveMode: "
	    "Never}}}]}\n",
	    command);
	options.kubeconfig = put("kubeconfig", text);
	options.plugin_policy = policy;
	options.plugins = plugins;
	options.plugins_count = count;
	return mpijob_http_config_load(&options, out, diag);
}

static int prepare(mpijob__http_credentials *credentials, const char **message)
{
	int code;

	while (
	    (code = mpijob__http_credentials_prepare(credentials, fake_clock_ms(), message)) == 0) {
		fake_wait_poll(NULL, 0, 5);
		mpijob__http_credentials_step(credentials, fake_clock_ms());
	}
	return code;
}

/* With a command, and one that is listed unless it is NULL: the program that ran, or part of why
 * none did. */
static void expect(const char *command, int32_t policy, const char *listed, const char *wanted)
{
	const char *const plugins[] = { "elsewhere", listed };
	mpijob_http_config *config = NULL, *copy;
	mpijob__http_credentials *credentials = NULL;
	const char *message = "";
	int code;

	assert_int_equal(load(command, policy, listed ? plugins : NULL, listed ? 2 : 0, &config,
			     NULL),
	    0);
	copy = mpijob__http_config_clone(config);
	mpijob_http_config_free(config);
	assert_int_equal(mpijob__http_credentials_new(copy, 0, NULL, NULL, &credentials), 0);
	code = prepare(credentials, &message);
	assert_int_equal(code, *wanted == '/' ? 1 : MPIJOB_ERR_AUTH);
	if (code == 1)
		message = mpijob__http_credentials_identity(credentials)->authorization;
	if (!strstr(message, wanted))
		fail_msg("'%s' is not in '%s'", wanted, message);
	mpijob__http_credentials_free(credentials);
	mpijob_http_config_free(copy);
}

static void test_e9_plugin_policy(void **state)
{
	const char *no = "is not in the list of allowed plugins";
	char *ours = strdup(in_scratch("plugin")), *other = strdup(in_scratch("other/plugin"));

	(void)state;
	expect("plugin", MPIJOB_HTTP_PLUGINS_ALL, NULL, ours);
	expect("plugin", MPIJOB_HTTP_PLUGINS_NONE, NULL, no);
	expect("nowhere", MPIJOB_HTTP_PLUGINS_NONE, NULL, no);
	/* As it is written, as it is found, and a name that is found there too. */
	expect("plugin", MPIJOB_HTTP_PLUGINS_LISTED, "plugin", ours);
	expect("plugin", MPIJOB_HTTP_PLUGINS_LISTED, ours, ours);
	expect(ours, MPIJOB_HTTP_PLUGINS_LISTED, ours, ours);
	expect(ours, MPIJOB_HTTP_PLUGINS_LISTED, "plugin", ours);
	/* The same name is not the same program. */
	expect(other, MPIJOB_HTTP_PLUGINS_LISTED, "plugin", no);
	expect(other, MPIJOB_HTTP_PLUGINS_LISTED, ours, no);
	expect("plugin", MPIJOB_HTTP_PLUGINS_LISTED, other, no);
	expect("plugin", MPIJOB_HTTP_PLUGINS_LISTED, "plug", no);
	expect("nowhere", MPIJOB_HTTP_PLUGINS_LISTED, "nowhere", "is not installed");
	free(ours);
	free(other);
}

/* A policy that is not clear allows nothing by mistake. */
static void test_e9_policies_that_are_refused(void **state)
{
	static const char *const good[] = { "a", "b" }, *const hole[] = { "a", NULL },
				 *const empty[] = { "a", "" };
	static const struct {
		int32_t policy;
		const char *const *plugins;
		size_t count;
		const char *message;
	} rows[] = {
		{ 3, NULL, 0, "plugin_policy must be one of MPIJOB_HTTP_PLUGINS_*" },
		{ -1, NULL, 0, "plugin_policy must be one of MPIJOB_HTTP_PLUGINS_*" },
		{ MPIJOB_HTTP_PLUGINS_ALL, good, 2,
		    "plugins needs plugin_policy MPIJOB_HTTP_PLUGINS_LISTED" },
		{ MPIJOB_HTTP_PLUGINS_NONE, good, 2,
		    "plugins needs plugin_policy MPIJOB_HTTP_PLUGINS_LISTED" },
		{ MPIJOB_HTTP_PLUGINS_LISTED, NULL, 0,
		    "plugin_policy MPIJOB_HTTP_PLUGINS_LISTED needs plugins" },
		{ MPIJOB_HTTP_PLUGINS_LISTED, good, 0,
		    "plugin_policy MPIJOB_HTTP_PLUGINS_LISTED needs plugins" },
		{ MPIJOB_HTTP_PLUGINS_LISTED, NULL, 2,
		    "plugin_policy MPIJOB_HTTP_PLUGINS_LISTED needs plugins" },
		{ MPIJOB_HTTP_PLUGINS_LISTED, hole, 2, "plugins contains NULL or an empty string" },
		{ MPIJOB_HTTP_PLUGINS_LISTED, empty, 2,
		    "plugins contains NULL or an empty string" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mpijob_http_config *config = NULL;
		mpijob_diag *diag = mpijob_diag_new();

		assert_int_equal(load("plugin", rows[i].policy, rows[i].plugins, rows[i].count,
				     &config, diag),
		    MPIJOB_ERR_USAGE);
		assert_null(config);
		assert_int_equal(mpijob_diag_count(diag, 0), 1);
		assert_string_equal(mpijob_diag_at(diag, 0)->message, rows[i].message);
		mpijob_diag_free(diag);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_e9_plugin_policy),
		TEST(test_e9_policies_that_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
