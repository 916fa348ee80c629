/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lifetime of a configuration: which options exclude each other, in which order the library
 * reads files and options, and what mpijob_http_config_free() wipes. A configuration contains only
 * copies: the kubeconfig is freed after loading.
 */
#include "http/config.h"

#include "base/secret.h"
#include "base/struct.h"
#include "http/kubeconfig.h"
#include "http/resolve.h"

#include <stdlib.h>
#include <string.h>

void mpijob__http_config_clear_pem(struct mpijob__http_pem *pem)
{
	mpijob__http_secret_clear(&pem->data);
	free(pem->file);
	pem->file = NULL;
}

static void free_strings(char **strings)
{
	for (size_t i = 0; strings && strings[i]; i++)
		free(strings[i]);
	free(strings);
}

void mpijob__http_config_clear_exec(struct mpijob__http_exec_plugin *exec)
{
	for (size_t i = 0; i < exec->env_count; i++) {
		free(exec->env[i].name);
		mpijob__base_secret_free_text(exec->env[i].value);
	}
	for (size_t i = 0; exec->args && exec->args[i]; i++)
		mpijob__base_secret_wipe(exec->args[i], strlen(exec->args[i]));
	free(exec->env);
	free_strings(exec->args);
	free(exec->api_version);
	free(exec->command);
	free(exec->install_hint);
	free(exec->cluster_extension);
	memset(exec, 0, sizeof(*exec));
}

void mpijob_http_config_free(mpijob_http_config *config)
{
	if (!config)
		return;
	free(config->server);
	free(config->tls_server_name);
	mpijob__base_secret_free_text(config->proxy_url);
	free(config->context);
	free(config->user);
	free(config->namespace_);
	free(config->token_file);
	free(config->username);
	mpijob__http_secret_clear(&config->token);
	mpijob__http_secret_clear(&config->password);
	mpijob__http_config_clear_pem(&config->ca);
	mpijob__http_config_clear_pem(&config->certificate);
	mpijob__http_config_clear_pem(&config->key);
	mpijob__http_config_clear_exec(&config->exec);
	free(config->as);
	free(config->as_uid);
	free_strings(config->as_groups);
	free_strings(config->plugins);
	for (size_t i = 0; i < config->as_extra_count; i++) {
		free(config->as_extra[i].name);
		free(config->as_extra[i].value);
	}
	free(config->as_extra);
	free(config);
}

/* The copy functions set *failed when memory runs out and continue, so that the caller checks once,
 * at the end. */
static void copy_text(char **to, const char *from, int *failed)
{
	*to = from ? strdup(from) : NULL;
	*failed |= from && !*to;
}

static void copy_secret(mpijob__http_secret *to, const mpijob__http_secret *from, int *failed)
{
	*failed |= mpijob__http_secret_set(to, from->data, from->len) != 0;
}

static void copy_pem(struct mpijob__http_pem *to, const struct mpijob__http_pem *from, int *failed)
{
	copy_secret(&to->data, &from->data, failed);
	copy_text(&to->file, from->file, failed);
}

static void copy_strings(char ***to, char *const *from, int *failed)
{
	size_t count = 0;

	while (from && from[count])
		count++;
	if (!from)
		return;
	*to = calloc(count + 1, sizeof(**to));
	*failed |= !*to;
	for (size_t i = 0; *to && i < count && !*failed; i++)
		copy_text(&(*to)[i], from[i], failed);
}

static void copy_exec(struct mpijob__http_exec_plugin *to,
    const struct mpijob__http_exec_plugin *from, int *failed)
{
	copy_text(&to->api_version, from->api_version, failed);
	copy_text(&to->command, from->command, failed);
	copy_text(&to->install_hint, from->install_hint, failed);
	copy_text(&to->cluster_extension, from->cluster_extension, failed);
	copy_strings(&to->args, from->args, failed);
	to->provide_cluster_info = from->provide_cluster_info;
	to->interactive_mode = from->interactive_mode;
	if (!from->env_count)
		return;
	to->env = calloc(from->env_count, sizeof(*to->env));
	*failed |= !to->env;
	to->env_count = to->env ? from->env_count : 0;
	for (size_t i = 0; i < to->env_count; i++) {
		copy_text(&to->env[i].name, from->env[i].name, failed);
		copy_text(&to->env[i].value, from->env[i].value, failed);
	}
}

static void copy_impersonation(mpijob_http_config *to, const mpijob_http_config *from, int *failed)
{
	copy_text(&to->as, from->as, failed);
	copy_text(&to->as_uid, from->as_uid, failed);
	copy_strings(&to->as_groups, from->as_groups, failed);
	if (!from->as_extra_count)
		return;
	to->as_extra = calloc(from->as_extra_count, sizeof(*to->as_extra));
	*failed |= !to->as_extra;
	to->as_extra_count = to->as_extra ? from->as_extra_count : 0;
	for (size_t i = 0; i < to->as_extra_count; i++) {
		copy_text(&to->as_extra[i].name, from->as_extra[i].name, failed);
		copy_text(&to->as_extra[i].value, from->as_extra[i].value, failed);
	}
}

mpijob_http_config *mpijob__http_config_clone(const mpijob_http_config *config)
{
	mpijob_http_config *copy = calloc(1, sizeof(*copy));
	int failed = 0;

	if (!copy)
		return NULL;
	copy->tls = config->tls;
	copy->insecure = config->insecure;
	copy->in_cluster = config->in_cluster;
	copy->interactive = config->interactive;
	copy_text(&copy->server, config->server, &failed);
	copy_text(&copy->tls_server_name, config->tls_server_name, &failed);
	copy_text(&copy->proxy_url, config->proxy_url, &failed);
	copy_text(&copy->context, config->context, &failed);
	copy_text(&copy->user, config->user, &failed);
	copy_text(&copy->namespace_, config->namespace_, &failed);
	copy_text(&copy->token_file, config->token_file, &failed);
	copy_text(&copy->username, config->username, &failed);
	copy_secret(&copy->token, &config->token, &failed);
	copy_secret(&copy->password, &config->password, &failed);
	copy_pem(&copy->ca, &config->ca, &failed);
	copy_pem(&copy->certificate, &config->certificate, &failed);
	copy_pem(&copy->key, &config->key, &failed);
	copy_exec(&copy->exec, &config->exec, &failed);
	copy_impersonation(copy, config, &failed);
	copy_strings(&copy->plugins, config->plugins, &failed);
	if (!failed)
		return copy;
	mpijob_http_config_free(copy);
	return NULL;
}

static int read_options(const struct mpijob_http_config_options *given,
    struct mpijob_http_config_options *options)
{
	const char **texts[] = { &options->kubeconfig, &options->context, &options->cluster,
		&options->user, &options->namespace_, &options->server, &options->tls_server_name,
		&options->certificate_authority, &options->client_certificate, &options->client_key,
		&options->token, &options->proxy_url, &options->as_user, &options->as_uid };
	int rc = mpijob__base_struct_check(options, sizeof(*options), given);

	if (rc)
		return rc;
	if (!mpijob__base_struct_is_flag(options->insecure_skip_tls_verify) ||
	    !mpijob__base_struct_is_flag(options->in_cluster) ||
	    !mpijob__base_struct_is_flag(options->interactive))
		return MPIJOB_ERR_USAGE;
	/* As with kubectl's flags, an empty string counts as absent. */
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (*texts[i] && !**texts[i])
			*texts[i] = NULL;
	}
	return 0;
}

static int report_usage(struct mpijob__http_report *report, const char *message)
{
	mpijob__http_report_add(report, MPIJOB_ERR_USAGE, "config-options", "Invalid", NULL, "%s",
	    message);
	return report->code;
}

/* A wrong combination of these options is an error: it must never allow more plugins than the
 * caller intended. */
static int check_plugins(const struct mpijob_http_config_options *options,
    struct mpijob__http_report *report)
{
	int is_listed = options->plugin_policy == MPIJOB_HTTP_PLUGINS_LISTED;

	if (options->plugin_policy < MPIJOB_HTTP_PLUGINS_ALL ||
	    options->plugin_policy > MPIJOB_HTTP_PLUGINS_LISTED)
		report_usage(report, "plugin_policy must be one of MPIJOB_HTTP_PLUGINS_*");
	if (!is_listed && (options->plugins || options->plugins_count))
		report_usage(report, "plugins needs plugin_policy MPIJOB_HTTP_PLUGINS_LISTED");
	if (is_listed && (!options->plugins || !options->plugins_count))
		return report_usage(report,
		    "plugin_policy MPIJOB_HTTP_PLUGINS_LISTED needs plugins");
	for (size_t i = 0; is_listed && i < options->plugins_count; i++) {
		if (!options->plugins[i] || !*options->plugins[i])
			return report_usage(report, "plugins contains NULL or an empty string");
	}
	return report->code;
}

static int check_options(const struct mpijob_http_config_options *options,
    struct mpijob__http_report *report)
{
	if (options->insecure_skip_tls_verify && options->certificate_authority)
		report_usage(report,
		    "certificate_authority and insecure_skip_tls_verify exclude each other");
	if (options->in_cluster &&
	    (options->kubeconfig || options->context || options->cluster || options->user))
		report_usage(report, "in_cluster excludes kubeconfig, context, cluster and user");
	if (options->as_groups_count && !options->as_groups)
		report_usage(report, "as_groups is NULL, as_groups_count is not 0");
	for (size_t i = 0; options->as_groups && i < options->as_groups_count; i++) {
		if (!options->as_groups[i])
			return report_usage(report, "as_groups contains NULL");
	}
	return check_plugins(options, report);
}

/* Copy the list of allowed commands. An empty list allows no plugin. */
static int copy_plugins(const struct mpijob_http_config_options *options,
    mpijob_http_config *config)
{
	int failed = 0;

	if (options->plugin_policy == MPIJOB_HTTP_PLUGINS_ALL)
		return 0;
	config->plugins = calloc(options->plugins_count + 1, sizeof(*config->plugins));
	for (size_t i = 0; config->plugins && i < options->plugins_count && !failed; i++)
		copy_text(&config->plugins[i], options->plugins[i], &failed);
	return config->plugins && !failed ? 0 : MPIJOB_ERR_NOMEM;
}

int mpijob__http_config_load(const struct mpijob_http_config_options *options,
    const char *service_account, mpijob_http_config **out, mpijob_diag *diag)
{
	struct mpijob_http_config_options known;
	struct mpijob__http_report report = { diag, 0 };
	struct mpijob__http_kubeconfig kubeconfig = { NULL, 0, NULL, 0 };
	struct mpijob__http_resolve resolve = { 0 };
	int rc = out ? read_options(options, &known) : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = check_options(&known, &report);
	if (rc)
		return rc;
	resolve.options = &known;
	resolve.service_account = service_account;
	resolve.report = &report;
	resolve.kubeconfig = &kubeconfig;
	resolve.config = calloc(1, sizeof(*resolve.config));
	if (!resolve.config || copy_plugins(&known, resolve.config)) {
		mpijob_http_config_free(resolve.config);
		return MPIJOB_ERR_NOMEM;
	}
	if (!known.in_cluster)
		mpijob__http_kubeconfig_read(&kubeconfig, known.kubeconfig, &report);
	if (report.code == 0)
		mpijob__http_resolve_run(&resolve);
	mpijob__http_kubeconfig_release(&kubeconfig);
	if (report.code == 0)
		*out = resolve.config;
	else
		mpijob_http_config_free(resolve.config);
	return report.code;
}

int mpijob_http_config_load(const struct mpijob_http_config_options *options,
    mpijob_http_config **out, mpijob_diag *diag)
{
	return mpijob__http_config_load(options, MPIJOB__HTTP_CONFIG_SERVICE_ACCOUNT, out, diag);
}

const char *mpijob_http_config_server(const mpijob_http_config *config)
{
	return config ? config->server : NULL;
}

const char *mpijob_http_config_namespace(const mpijob_http_config *config)
{
	return config ? config->namespace_ : NULL;
}

const char *mpijob_http_config_context(const mpijob_http_config *config)
{
	return config ? config->context : NULL;
}

const char *mpijob_http_config_user(const mpijob_http_config *config)
{
	return config ? config->user : NULL;
}
