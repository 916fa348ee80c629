/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input of a plugin: the environment of this process, the variables of the user's entry, which
 * take precedence, and the ExecCredential in KUBERNETES_EXEC_INFO. Linux limits one variable to
 * 128 KiB; a large CA can exceed that, and then the plugin cannot start.
 */
#include "http/plugin_info.h"

#include "base/secret.h"
#include "base/text.h"
#include "http/plugin.h"
#include "http/report.h"

#include <stdlib.h>
#include <string.h>

#define INFO "KUBERNETES_EXEC_INFO"

extern char **environ;

void mpijob__http_plugin_free_environment(char **environment)
{
	for (size_t i = 0; environment && environment[i]; i++)
		mpijob__base_secret_free_text(environment[i]);
	free(environment);
}

static int has_name(const char *variable, const char *name)
{
	size_t len = strlen(name);

	return strncmp(variable, name, len) == 0 && variable[len] == '=';
}

/* Whether a later variable (of the entry, from `first` on, or INFO) has the same name. */
static int is_replaced(const struct mpijob__http_exec_plugin *exec, size_t first,
    const char *variable)
{
	for (size_t i = first; i < exec->env_count; i++) {
		if (has_name(variable, exec->env[i].name))
			return 1;
	}
	return has_name(variable, INFO);
}

/* Append `variable`, or free it when a later one replaces it. -1: it is NULL, memory ran out. */
static int add_variable(char **list, size_t *count, char *variable,
    const struct mpijob__http_exec_plugin *exec, size_t first)
{
	if (!variable)
		return -1;
	if (!is_replaced(exec, first, variable)) {
		list[(*count)++] = variable;
		return 0;
	}
	mpijob__base_secret_free_text(variable);
	return 0;
}

char **mpijob__http_plugin_environment(const struct mpijob__http_exec_plugin *exec,
    const char *info)
{
	size_t ours = 0, count = 0;
	char **list;
	int failed = 0;

	while (environ && environ[ours])
		ours++;
	list = calloc(ours + exec->env_count + 2, sizeof(*list));
	if (!list)
		return NULL;
	for (size_t i = 0; i < ours && environ[i]; i++)
		failed |= add_variable(list, &count, strdup(environ[i]), exec, 0);
	for (size_t i = 0; i < exec->env_count; i++)
		failed |= add_variable(list, &count,
		    mpijob__base_text_format("%s=%s", exec->env[i].name, exec->env[i].value), exec,
		    i + 1);
	list[count] = mpijob__base_text_format(INFO "=%s", info);
	if (!failed && list[count])
		return list;
	mpijob__http_plugin_free_environment(list);
	return NULL;
}

/* 0, or -1 when memory ran out. Errors of building the document are in mpijob_doc_error(). */
static int put_cluster(mpijob_doc *doc, mpijob_node *spec, const mpijob_http_config *config,
    const mpijob__http_secret *ca)
{
	mpijob_node *cluster = mpijob_node_put_map(doc, spec, "cluster");
	struct mpijob_parse_options json = MPIJOB_PARSE_OPTIONS_INIT;
	const char *extension = config->exec.cluster_extension;
	mpijob_doc *extra = NULL;
	mpijob__http_secret encoded = { NULL, 0 };
	int failed = ca->len && mpijob__http_secret_encode(&encoded, ca->data, ca->len);

	mpijob_node_put_string(doc, cluster, "server", config->server);
	mpijob_node_put_string(doc, cluster, "tls-server-name", config->tls_server_name);
	if (config->insecure)
		mpijob_node_put_bool(doc, cluster, "insecure-skip-tls-verify", 1);
	mpijob_node_put_string(doc, cluster, "certificate-authority-data", encoded.data);
	mpijob_node_put_string(doc, cluster, "proxy-url", config->proxy_url);
	json.format = MPIJOB_FORMAT_JSON;
	if (extension)
		failed |= mpijob_doc_parse(extension, strlen(extension), &json, &extra, NULL) != 0;
	if (extra)
		mpijob_node_put_copy(doc, cluster, "config", mpijob_doc_root(extra));
	else
		mpijob_node_put(doc, cluster, "config", mpijob_node_new(doc, MPIJOB_NODE_NULL));
	mpijob_doc_free(extra);
	mpijob__http_secret_clear(&encoded);
	return failed ? -1 : 0;
}

char *mpijob__http_plugin_info(const mpijob_http_config *config, const mpijob__http_secret *ca,
    int interactive)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, ""), *spec;
	mpijob_text *text = mpijob_text_new();
	char *out = NULL;
	int failed = 0;

	mpijob_node_put_string(doc, root, "kind", "ExecCredential");
	mpijob_node_put_string(doc, root, "apiVersion", config->exec.api_version);
	spec = mpijob_node_put_map(doc, root, "spec");
	if (config->exec.provide_cluster_info)
		failed = put_cluster(doc, spec, config, ca);
	mpijob_node_put_bool(doc, spec, "interactive", interactive);
	if (text && !failed && mpijob_doc_error(doc) == 0 &&
	    mpijob_node_write(root, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, text) == 0)
		out = strdup(mpijob_text_data(text));
	mpijob_text_free(text);
	mpijob_doc_free(doc);
	return out;
}
