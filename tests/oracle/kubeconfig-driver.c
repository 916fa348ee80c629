/* SPDX-License-Identifier: Apache-2.0 */
/* Our side of test-kubeconfig and test-plugin-reply: the same requests and answers as
 * kubeconfig/main.go's, with our findings as the errors.
 */
#include "http/credentials.h"

#include <mpijob/doc.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

static const char *text_at(const mpijob_doc *doc, const char *path)
{
	return mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), path));
}

static void set_environment(const mpijob_doc *doc)
{
	const mpijob_node *env = mpijob_node_get(mpijob_doc_root(doc), "Env");

	unsetenv("KUBECONFIG");
	for (size_t i = 0; i < mpijob_node_count(env); i++)
		setenv(mpijob_node_key(env, i), mpijob_node_string(mpijob_node_at(env, i)), 1);
}

/* `groups` has room for all. */
static struct mpijob_http_config_options options_of(const mpijob_doc *doc, const char **groups)
{
	struct mpijob_http_config_options options = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	const mpijob_node *list = mpijob_node_find(mpijob_doc_root(doc), "Options.AsGroups");
	int insecure = 0;

	options.kubeconfig = text_at(doc, "Kubeconfig");
	options.context = text_at(doc, "Options.Context");
	options.cluster = text_at(doc, "Options.Cluster");
	options.user = text_at(doc, "Options.User");
	options.namespace_ = text_at(doc, "Options.Namespace");
	options.server = text_at(doc, "Options.Server");
	options.tls_server_name = text_at(doc, "Options.TLSServerName");
	options.certificate_authority = text_at(doc, "Options.CertificateAuthority");
	options.client_certificate = text_at(doc, "Options.ClientCertificate");
	options.client_key = text_at(doc, "Options.ClientKey");
	options.token = text_at(doc, "Options.Token");
	options.proxy_url = text_at(doc, "Options.ProxyURL");
	options.as_user = text_at(doc, "Options.As");
	options.as_uid = text_at(doc, "Options.AsUID");
	options.as_groups = groups;
	options.as_groups_count = mpijob_node_count(list);
	for (size_t i = 0; i < options.as_groups_count; i++)
		groups[i] = mpijob_node_string(mpijob_node_at(list, i));
	(void)mpijob_node_bool(mpijob_node_find(mpijob_doc_root(doc), "Options.Insecure"),
	    &insecure);
	options.insecure_skip_tls_verify = insecure;
	return options;
}

static void put(mpijob_doc *doc, mpijob_node *map, const char *key, const char *text)
{
	mpijob_node_put_string(doc, map, key, text ? text : "");
}

static void put_strings(mpijob_doc *doc, mpijob_node *map, const char *key, char *const *strings)
{
	mpijob_node *list = mpijob_node_put_list(doc, map, key);

	for (; strings && *strings; strings++)
		mpijob_node_append_string(doc, list, *strings);
}

static void put_exec(mpijob_doc *doc, mpijob_node *root,
    const struct mpijob__http_exec_plugin *exec)
{
	static const char *const modes[] = { "Never", "IfAvailable", "Always" };
	mpijob_node *map, *env;

	if (!exec->command)
		return;
	map = mpijob_node_put_map(doc, root, "Exec");
	put(doc, map, "APIVersion", exec->api_version);
	put(doc, map, "Command", exec->command);
	put(doc, map, "InstallHint", exec->install_hint);
	put(doc, map, "InteractiveMode", modes[exec->interactive_mode]);
	put(doc, map, "Extension", exec->cluster_extension);
	mpijob_node_put_bool(doc, map, "ProvideClusterInfo", exec->provide_cluster_info);
	put_strings(doc, map, "Args", exec->args);
	env = mpijob_node_put_list(doc, map, "Env");
	for (size_t i = 0; i < exec->env_count; i++) {
		char *const variable[] = { exec->env[i].name, exec->env[i].value, NULL };
		mpijob_node *list =
		    mpijob_node_append(doc, env, mpijob_node_new(doc, MPIJOB_NODE_LIST));

		for (size_t k = 0; variable[k]; k++)
			mpijob_node_append_string(doc, list, variable[k]);
	}
}

static mpijob_doc *describe(const mpijob_http_config *config)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, ""), *extra;

	put(doc, root, "Server", config->server);
	put(doc, root, "Namespace", config->namespace_);
	put(doc, root, "TLSServerName", config->tls_server_name);
	put(doc, root, "ProxyURL", config->proxy_url);
	mpijob_node_put_bool(doc, root, "TLS", config->tls);
	mpijob_node_put_bool(doc, root, "Insecure", config->insecure);
	put(doc, root, "Token", config->token.data);
	put(doc, root, "TokenFile", config->token_file);
	put(doc, root, "Username", config->username);
	put(doc, root, "Password", config->password.data);
	put(doc, root, "CA", config->ca.data.data);
	put(doc, root, "CAFile", config->ca.file);
	put(doc, root, "Certificate", config->certificate.data.data);
	put(doc, root, "CertificateFile", config->certificate.file);
	put(doc, root, "Key", config->key.data.data);
	put(doc, root, "KeyFile", config->key.file);
	put(doc, root, "As", config->as);
	put(doc, root, "AsUID", config->as_uid);
	put_strings(doc, root, "AsGroups", config->as_groups);
	extra = mpijob_node_put_map(doc, root, "AsExtra");
	for (size_t i = 0; i < config->as_extra_count; i++) {
		mpijob_node *list = mpijob_node_edit(extra, config->as_extra[i].name);

		if (!list)
			list = mpijob_node_put_list(doc, extra, config->as_extra[i].name);
		mpijob_node_append_string(doc, list, config->as_extra[i].value);
	}
	put_exec(doc, root, &config->exec);
	return doc;
}

static void write_findings(mpijob_text *text, const mpijob_diag *diag)
{
	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, i);

		if (finding->severity != MPIJOB_SEVERITY_ERROR)
			continue;
		mpijob_finding_write(finding, mpijob_text_write, text);
		mpijob_text_write(text, "\n", 1);
	}
}

static int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int prepare(mpijob__http_credentials *credentials, const char **message)
{
	int code;

	while ((code = mpijob__http_credentials_prepare(credentials, clock_ms(), message)) == 0) {
		do {
			struct pollfd watch = { mpijob__http_credentials_fd(credentials), POLLIN,
				0 };

			poll(&watch, watch.fd >= 0, 10);
		} while (!mpijob__http_credentials_step(credentials, clock_ms()));
	}
	return code;
}

/* `cat` as the plugin. */
static void answer_reply(const mpijob_doc *doc)
{
	mpijob_http_config *config = calloc(1, sizeof(*config));
	mpijob__http_credentials *credentials = NULL;
	mpijob_doc *made = mpijob_doc_new();
	mpijob_text *text = mpijob_text_new();
	const char *message = "";
	int code;

	if (!config)
		fail("no memory");
	config->server = strdup("https://h");
	config->tls = 1;
	config->exec.command = strdup("cat");
	config->exec.api_version = strdup(text_at(doc, "APIVersion"));
	config->exec.args = calloc(2, sizeof(*config->exec.args));
	config->exec.args[0] = strdup(text_at(doc, "Reply"));
	if (mpijob__http_credentials_new(config, 0, NULL, NULL, &credentials))
		fail("no credentials");
	code = prepare(credentials, &message);
	if (code == 1) {
		const struct mpijob__http_identity *identity =
		    mpijob__http_credentials_identity(credentials);

		put(made, mpijob_doc_edit(made, ""), "Authorization", identity->authorization);
		mpijob_node_put_bool(made, mpijob_doc_edit(made, ""), "Certificate",
		    identity->certificate != NULL);
		mpijob_node_write(mpijob_doc_root(made), MPIJOB_FORMAT_JSON_COMPACT,
		    mpijob_text_write, text);
	} else {
		mpijob_text_write(text, message, strlen(message));
	}
	printf("%s %zu\n%s", code == 1 ? "ok" : "error", mpijob_text_len(text),
	    mpijob_text_data(text));
	mpijob__http_credentials_free(credentials);
	mpijob_http_config_free(config);
	mpijob_text_free(text);
	mpijob_doc_free(made);
}

static void answer(const char *request, size_t len)
{
	mpijob_doc *doc = NULL, *made = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_text *text = mpijob_text_new();
	mpijob_http_config *config = NULL;
	struct mpijob_http_config_options options;
	const char *groups[64];
	int code;

	if (mpijob_doc_parse(request, len, NULL, &doc, NULL))
		fail("a request is no JSON");
	if (text_at(doc, "Reply")) {
		answer_reply(doc);
		mpijob_text_free(text);
		mpijob_diag_free(diag);
		mpijob_doc_free(doc);
		return;
	}
	set_environment(doc);
	options = options_of(doc, groups);
	code = mpijob__http_config_load(&options, "/nonexistent", &config, diag);
	if (code == 0) {
		made = describe(config);
		mpijob_node_write(mpijob_doc_root(made), MPIJOB_FORMAT_JSON_COMPACT,
		    mpijob_text_write, text);
	} else {
		mpijob_text_write(text, mpijob_error_name(code), strlen(mpijob_error_name(code)));
		mpijob_text_write(text, "\n", 1);
		write_findings(text, diag);
	}
	printf("%s %zu\n%s", code ? "error" : "ok", mpijob_text_len(text), mpijob_text_data(text));
	mpijob_http_config_free(config);
	mpijob_text_free(text);
	mpijob_diag_free(diag);
	mpijob_doc_free(made);
	mpijob_doc_free(doc);
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		size_t len = strtoul(line, NULL, 10);
		char *request = malloc(len + 1);

		if (!request || fread(request, 1, len, stdin) != len)
			fail("a request is cut off");
		answer(request, len);
		free(request);
	}
	free(line);
	return 0;
}
