/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which context, cluster and user are selected, and how options override the cluster entry, as in
 * kubectl. Some options also remove fields: a server removes tls-server-name; a CA removes
 * insecure-skip-tls-verify, and vice versa. If nothing names a server, the service account of the
 * pod is used.
 */
#include "http/resolve.h"

#include "http/in_cluster.h"
#include "base/dns.h"
#include "base/text.h"
#include "http/path.h"
#include "http/resolve_user.h"
#include "http/server_url.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mpijob__http_setting mpijob__http_resolve_setting(const char *option, const char *name,
    const struct mpijob__http_kubeconfig_entry *entry, const char *key)
{
	struct mpijob__http_setting setting = { option, NULL, name };

	if (option)
		return setting;
	setting.text = mpijob__http_kubeconfig_string(entry, key);
	setting.entry = entry;
	setting.key = key;
	return setting;
}

void mpijob__http_resolve_report(const struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *setting, int code, const char *id, const char *reason,
    const char *format, ...)
{
	struct mpijob__http_report_location location = { NULL, setting->key, NULL };
	const struct mpijob__http_kubeconfig_entry *entry = setting->entry;
	char *field = NULL, *message;
	va_list args;

	va_start(args, format);
	message = mpijob__base_text_vformat(format, args);
	va_end(args);
	if (entry && entry->file) {
		field = mpijob__base_text_format("%s[%zu].%s%s%s", entry->list, entry->index,
		    entry->inner, *setting->key ? "." : "", setting->key);
		location.source = entry->file->name;
		location.field = field;
		location.node = mpijob_node_find(entry->value, setting->key);
		if (!location.node)
			location.node = entry->item;
	}
	if (!message || (entry && entry->file && !field))
		mpijob__http_report_nomem(resolve->report);
	else
		mpijob__http_report_add(resolve->report, code, id, reason, &location, "%s",
		    message);
	free(message);
	free(field);
}

void mpijob__http_resolve_copy(const struct mpijob__http_resolve *resolve, char **slot,
    const char *text)
{
	if (!text)
		return;
	*slot = strdup(text);
	if (!*slot)
		mpijob__http_report_nomem(resolve->report);
}

char *mpijob__http_resolve_path(const struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *setting)
{
	char *path = setting->entry
			 ? mpijob__http_path_join(setting->entry->file->directory, setting->text)
			 : mpijob__http_path_absolute(setting->text);

	if (!path && (setting->entry || errno == ENOMEM))
		mpijob__http_report_nomem(resolve->report);
	else if (!path)
		mpijob__http_resolve_report(resolve, setting, MPIJOB_ERR_IO, "config-unreadable",
		    NULL, "the working directory cannot be determined: %s",
		    mpijob__http_report_errno(errno));
	return path;
}

void mpijob__http_resolve_pem(const struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *file, const struct mpijob__http_setting *data,
    struct mpijob__http_pem *pem)
{
	mpijob__http_secret content = { NULL, 0 };
	int rc;

	if (file->text && data->text)
		mpijob__http_resolve_report(resolve, data, MPIJOB_ERR_SPEC, "config-conflict",
		    "Invalid", "%s is given too; keep one of the two", file->key);
	if (data->text && mpijob__http_secret_decode(&pem->data, data->text, strlen(data->text)) ==
			      MPIJOB_ERR_NOMEM)
		mpijob__http_report_nomem(resolve->report);
	if (!file->text)
		return;
	pem->file = mpijob__http_resolve_path(resolve, file);
	if (!pem->file)
		return;
	rc = mpijob__http_secret_read(&content, pem->file, 0);
	if (rc == MPIJOB_ERR_NOMEM)
		mpijob__http_report_nomem(resolve->report);
	else if (rc)
		mpijob__http_resolve_report(resolve, file, MPIJOB_ERR_IO, "config-unreadable", NULL,
		    "the file '%s' cannot be read: %s", pem->file,
		    mpijob__http_report_errno(errno));
	else if (!content.len)
		mpijob__http_resolve_report(resolve, file, MPIJOB_ERR_SPEC, "config-value",
		    "Invalid", "the file '%s' is empty", pem->file);
	mpijob__http_secret_clear(&content);
}

/* Find an entry by name. 1; 0 after reporting which names exist. Without a name it is not an error
 * that the entry is absent. */
static int find(struct mpijob__http_resolve *resolve, const char *list, const char *inner,
    const char *name, const struct mpijob__http_setting *named_by,
    struct mpijob__http_kubeconfig_entry *entry)
{
	char *names;

	if (mpijob__http_kubeconfig_find(resolve->kubeconfig, list, inner, name ? name : "",
		entry) ||
	    !name)
		return 1;
	names = mpijob__http_kubeconfig_names(resolve->kubeconfig, list);
	if (names)
		mpijob__http_resolve_report(resolve, named_by, MPIJOB_ERR_NOT_FOUND,
		    "config-not-found", "NotFound", "no %s '%s'%s", inner, name, names);
	else
		mpijob__http_report_nomem(resolve->report);
	free(names);
	return 0;
}

static void find_context(struct mpijob__http_resolve *resolve)
{
	const char *option = resolve->options->context;
	const struct mpijob__http_kubeconfig_file *file = NULL;
	const mpijob_node *node = NULL;
	const char *name =
	    option ? option : mpijob__http_kubeconfig_current(resolve->kubeconfig, &file, &node);
	struct mpijob__http_setting named_by = { name, NULL, "context" };
	struct mpijob__http_report_location location = { file ? file->name : NULL,
		"current-context", node };
	char *names;

	if (option) {
		if (find(resolve, "contexts", "context", option, &named_by, &resolve->context))
			mpijob__http_resolve_copy(resolve, &resolve->config->context, option);
		return;
	}
	if (mpijob__http_kubeconfig_find(resolve->kubeconfig, "contexts", "context",
		name ? name : "", &resolve->context)) {
		mpijob__http_resolve_copy(resolve, &resolve->config->context, name);
	} else if (name) {
		names = mpijob__http_kubeconfig_names(resolve->kubeconfig, "contexts");
		if (names)
			mpijob__http_report_add(resolve->report, MPIJOB_ERR_NOT_FOUND,
			    "config-not-found", "NotFound", &location, "no context '%s'%s", name,
			    names);
		else
			mpijob__http_report_nomem(resolve->report);
		free(names);
	}
}

static void find_cluster_and_user(struct mpijob__http_resolve *resolve)
{
	const struct mpijob_http_config_options *options = resolve->options;
	struct mpijob__http_setting cluster =
	    mpijob__http_resolve_setting(options->cluster, "cluster", &resolve->context, "cluster");
	struct mpijob__http_setting user =
	    mpijob__http_resolve_setting(options->user, "user", &resolve->context, "user");
	int other_user = options->token || options->client_certificate;

	/* With an option for the server, the cluster entry may be absent; with options for
	 * credentials, the user entry. */
	if (options->cluster || !options->server)
		find(resolve, "clusters", "cluster", cluster.text, &cluster, &resolve->cluster);
	else
		(void)mpijob__http_kubeconfig_find(resolve->kubeconfig, "clusters", "cluster",
		    cluster.text ? cluster.text : "", &resolve->cluster);
	if (options->user || !other_user)
		find(resolve, "users", "user", user.text, &user, &resolve->user);
	else
		(void)mpijob__http_kubeconfig_find(resolve->kubeconfig, "users", "user",
		    user.text ? user.text : "", &resolve->user);
	if (resolve->user.file)
		mpijob__http_resolve_copy(resolve, &resolve->config->user, user.text);
}

/* CA, insecure-skip-tls-verify and tls-server-name. resolve_server() decides later whether the
 * connection uses TLS. */
static void resolve_tls(struct mpijob__http_resolve *resolve)
{
	const struct mpijob_http_config_options *options = resolve->options;
	const struct mpijob__http_kubeconfig_entry none = { NULL, NULL, NULL, 0, NULL, NULL };
	int has_tls_options = options->certificate_authority || options->insecure_skip_tls_verify;
	const struct mpijob__http_kubeconfig_entry *entry =
	    has_tls_options ? &none : &resolve->cluster;
	const struct mpijob__http_kubeconfig_entry *names =
	    options->server ? &none : &resolve->cluster;
	struct mpijob__http_setting file, data, name;

	file = mpijob__http_resolve_setting(options->certificate_authority, "certificate_authority",
	    entry, "certificate-authority");
	data = mpijob__http_resolve_setting(NULL, NULL, entry, "certificate-authority-data");
	name = mpijob__http_resolve_setting(options->tls_server_name, "tls_server_name", names,
	    "tls-server-name");
	resolve->config->insecure = options->insecure_skip_tls_verify != 0;
	(void)mpijob_node_bool(mpijob_node_get(entry->value, "insecure-skip-tls-verify"),
	    &resolve->config->insecure);
	mpijob__http_resolve_pem(resolve, &file, &data, &resolve->config->ca);
	mpijob__http_resolve_copy(resolve, &resolve->config->tls_server_name, name.text);
}

void mpijob__http_resolve_proxy(struct mpijob__http_resolve *resolve)
{
	struct mpijob__http_setting proxy =
	    mpijob__http_resolve_setting(resolve->options->proxy_url, "proxy_url",
		&resolve->cluster, "proxy-url");
	const char *why;
	int rc = proxy.text ? mpijob__http_server_url_check_proxy(proxy.text, &why) : 0;

	/* Messages do not quote the address, because it may contain a password. */
	if (rc == MPIJOB_ERR_UNSUPPORTED)
		mpijob__http_resolve_report(resolve, &proxy, rc, "config-unsupported",
		    "NotSupported", "%s", why);
	else if (rc)
		mpijob__http_resolve_report(resolve, &proxy, rc, "config-value", "Invalid",
		    "the proxy's address %s", why);
	mpijob__http_resolve_copy(resolve, &resolve->config->proxy_url, proxy.text);
}

static void resolve_server(struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *server)
{
	mpijob_http_config *config = resolve->config;
	int tls = config->insecure || config->ca.data.len || config->ca.file ||
		  config->certificate.data.len || config->certificate.file;
	const char *why;
	int rc;

	if (!server->text)
		return;
	rc = mpijob__http_server_url_normalize(server->text, tls, &config->server, &why);
	if (rc == MPIJOB_ERR_NOMEM)
		mpijob__http_report_nomem(resolve->report);
	else if (rc)
		mpijob__http_resolve_report(resolve, server, rc, "config-value", "Invalid",
		    "the server's address %s", why);
	config->tls = config->server && mpijob__http_server_url_is_tls(config->server);
}

void mpijob__http_resolve_drop_credentials(struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *server)
{
	mpijob_http_config *config = resolve->config;
	int any = config->token.len || config->token_file || config->username ||
		  config->certificate.data.len || config->certificate.file || config->exec.command;

	if (any)
		mpijob__http_resolve_report(resolve, server, 0, "config-unused", NULL,
		    "the credentials are not sent, because the server's address does not begin "
		    "with https://");
	mpijob__http_secret_clear(&config->token);
	mpijob__http_secret_clear(&config->password);
	mpijob__http_config_clear_pem(&config->certificate);
	mpijob__http_config_clear_pem(&config->key);
	mpijob__http_config_clear_pem(&config->ca);
	mpijob__http_config_clear_exec(&config->exec);
	free(config->token_file);
	free(config->username);
	free(config->tls_server_name);
	config->token_file = NULL;
	config->username = NULL;
	config->tls_server_name = NULL;
	config->insecure = 0;
}

/* Check that the file can be read. Called only for TLS: otherwise the token is not used. */
static void check_token_file(struct mpijob__http_resolve *resolve)
{
	struct mpijob__http_setting setting = { NULL, &resolve->user, "tokenFile" };
	mpijob_http_config *config = resolve->config;
	mpijob__http_secret content = { NULL, 0 };
	int rc;

	if (!config->token_file || config->token.len)
		return;
	rc = mpijob__http_secret_read(&content, config->token_file, 1);
	if (rc == MPIJOB_ERR_NOMEM)
		mpijob__http_report_nomem(resolve->report);
	else if (rc)
		mpijob__http_resolve_report(resolve, &setting, MPIJOB_ERR_IO, "config-unreadable",
		    NULL, "the file '%s' cannot be read: %s", config->token_file,
		    mpijob__http_report_errno(errno));
	else if (!content.len)
		mpijob__http_resolve_report(resolve, &setting, MPIJOB_ERR_SPEC, "config-value",
		    "Invalid", "the file '%s' is empty", config->token_file);
	mpijob__http_secret_clear(&content);
}

static void check_insecure(struct mpijob__http_resolve *resolve)
{
	struct mpijob__http_setting setting = { NULL, &resolve->cluster,
		"insecure-skip-tls-verify" };

	if (resolve->config->insecure && (resolve->config->ca.data.len || resolve->config->ca.file))
		mpijob__http_resolve_report(resolve, &setting, MPIJOB_ERR_SPEC, "config-conflict",
		    "Invalid", "a certificate authority is given too; remove one of the two");
}

static void report_no_config(struct mpijob__http_resolve *resolve)
{
	const struct mpijob__http_kubeconfig *kubeconfig = resolve->kubeconfig;
	struct mpijob__http_report_location location = {
		kubeconfig->count ? kubeconfig->files[0].name : NULL, NULL, NULL
	};
	char *names = mpijob__http_kubeconfig_names(kubeconfig, "contexts");

	if (!names)
		mpijob__http_report_nomem(resolve->report);
	else if (kubeconfig->count)
		mpijob__http_report_add(resolve->report, MPIJOB_ERR_NOT_FOUND, "config-missing",
		    NULL, &location, "no current-context, so name a context%s", names);
	else if (kubeconfig->missing)
		mpijob__http_report_add(resolve->report, MPIJOB_ERR_NOT_FOUND, "config-missing",
		    NULL, NULL,
		    "no cluster configuration: %s does not exist, and this process does not run in "
		    "a pod with a service account",
		    kubeconfig->missing);
	else
		mpijob__http_report_add(resolve->report, MPIJOB_ERR_NOT_FOUND, "config-missing",
		    NULL, NULL,
		    "no cluster configuration: neither KUBECONFIG nor HOME is set, and this "
		    "process does not run in a pod with a service account");
	free(names);
}

/* Neither an option nor the cluster entry names a server. */
static void resolve_no_server(struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *server)
{
	if (mpijob_node_count(resolve->cluster.value)) {
		mpijob__http_resolve_user(resolve);
		mpijob__http_resolve_report(resolve, server, MPIJOB_ERR_SPEC, "config-required",
		    "Required",
		    "must be given: the address of the API server, such as https://10.0.0.1:6443");
	} else if (mpijob__http_in_cluster_possible(resolve->service_account)) {
		mpijob__http_resolve_in_cluster(resolve);
	} else if (resolve->cluster.file) {
		mpijob__http_resolve_report(resolve, server, MPIJOB_ERR_NOT_FOUND, "config-missing",
		    "Required",
		    "must be given: the address of the API server, such as https://10.0.0.1:6443");
	} else {
		report_no_config(resolve);
	}
}

static int is_label(const char *text)
{
	size_t len = strlen(text);

	return len <= MPIJOB__BASE_DNS_LABEL && mpijob__base_dns_is_label(text, len);
}

static void resolve_namespace(struct mpijob__http_resolve *resolve)
{
	struct mpijob__http_setting setting =
	    mpijob__http_resolve_setting(resolve->options->namespace_, "namespace_",
		&resolve->context, "namespace");
	int nomem = 0;

	if (setting.text && !is_label(setting.text))
		mpijob__http_resolve_report(resolve, &setting, 0, "config-unused", "Invalid",
		    "'%s' cannot be the name of a namespace; use lower case letters, digits and "
		    "'-'",
		    setting.text);
	mpijob__http_resolve_copy(resolve, &resolve->config->namespace_, setting.text);
	if (!setting.text && mpijob__http_in_cluster_possible(resolve->service_account))
		resolve->config->namespace_ =
		    mpijob__http_in_cluster_namespace(resolve->service_account, &nomem);
	if (nomem)
		mpijob__http_report_nomem(resolve->report);
	else if (!resolve->config->namespace_ && !setting.text)
		mpijob__http_resolve_copy(resolve, &resolve->config->namespace_, "default");
}

static void resolve_kubeconfig(struct mpijob__http_resolve *resolve)
{
	struct mpijob__http_setting server;

	find_context(resolve);
	if (resolve->report->code)
		return;
	find_cluster_and_user(resolve);
	server = mpijob__http_resolve_setting(resolve->options->server, "server", &resolve->cluster,
	    "server");
	if (resolve->report->code)
		return;
	if (!server.text) {
		resolve_no_server(resolve, &server);
		return;
	}
	mpijob__http_resolve_user(resolve);
	resolve_tls(resolve);
	mpijob__http_resolve_proxy(resolve);
	resolve_server(resolve, &server);
	if (resolve->config->tls) {
		check_insecure(resolve);
		check_token_file(resolve);
	} else if (resolve->config->server) {
		mpijob__http_resolve_drop_credentials(resolve, &server);
	}
}

void mpijob__http_resolve_run(struct mpijob__http_resolve *resolve)
{
	if (resolve->options->in_cluster)
		mpijob__http_resolve_in_cluster(resolve);
	else
		resolve_kubeconfig(resolve);
	resolve_namespace(resolve);
}
