/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a process in a pod (client-go's InClusterConfig): two environment variables
 * and three files of the service account. As in client-go, an unusable ca.crt is only a warning,
 * and the system's CA bundle verifies the server.
 */
#include "http/in_cluster.h"

#include "base/text.h"
#include "http/resolve.h"

#include "http/path.h"
#include "http/resolve_user.h"
#include "http/server_url.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

int mpijob__http_in_cluster_possible(const char *service_account)
{
	char *path;
	struct stat about;
	int is;

	if (!variable("KUBERNETES_SERVICE_HOST") || !variable("KUBERNETES_SERVICE_PORT"))
		return 0;
	path = mpijob__http_path_join(service_account, "token");
	is = path && stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
	free(path);
	return is;
}

char *mpijob__http_in_cluster_namespace(const char *service_account, int *nomem)
{
	const char *given = variable("POD_NAMESPACE");
	mpijob__http_secret content = { NULL, 0 };
	char *path, *name = NULL;

	if (given) {
		name = strdup(given);
		*nomem = !name;
		return name;
	}
	path = mpijob__http_path_join(service_account, "namespace");
	*nomem = !path || mpijob__http_secret_read(&content, path, 1) == MPIJOB_ERR_NOMEM;
	if (content.len) {
		name = strdup(content.data);
		*nomem = !name;
	}
	mpijob__http_secret_clear(&content);
	free(path);
	return name;
}

static void resolve_address(struct mpijob__http_resolve *resolve)
{
	struct mpijob__http_setting setting = { resolve->options->server, NULL, "server" };
	const char *host = variable("KUBERNETES_SERVICE_HOST");
	const char *port = variable("KUBERNETES_SERVICE_PORT");
	int needs_brackets = host && strchr(host, ':') && host[0] != '[';
	char *url = NULL;
	const char *why;
	int rc;

	if (!setting.text && (!host || !port)) {
		mpijob__http_resolve_report(resolve, &setting, MPIJOB_ERR_NOT_FOUND,
		    "config-missing", NULL,
		    "this process does not run in a pod: KUBERNETES_SERVICE_HOST and "
		    "KUBERNETES_SERVICE_PORT are not set");
		return;
	}
	if (!setting.text) {
		url = mpijob__base_text_format("https://%s%s%s:%s", needs_brackets ? "[" : "", host,
		    needs_brackets ? "]" : "", port);
		setting.text = url;
		setting.key = "KUBERNETES_SERVICE_HOST";
	}
	rc = setting.text ? mpijob__http_server_url_normalize(setting.text, 1,
				&resolve->config->server, &why)
			  : MPIJOB_ERR_NOMEM;
	if (rc == MPIJOB_ERR_NOMEM)
		mpijob__http_report_nomem(resolve->report);
	else if (rc)
		mpijob__http_resolve_report(resolve, &setting, rc, "config-value", "Invalid",
		    "the server's address %s", why);
	resolve->config->tls =
	    resolve->config->server && mpijob__http_server_url_is_tls(resolve->config->server);
	free(url);
}

/* The CA of the options, or of the service account, which may be unusable. */
static void resolve_authority(struct mpijob__http_resolve *resolve)
{
	struct mpijob__http_setting option = { resolve->options->certificate_authority, NULL,
		"certificate_authority" };
	struct mpijob__http_setting none = { NULL, NULL, NULL };
	mpijob_http_config *config = resolve->config;
	mpijob__http_secret content = { NULL, 0 };
	char *path;
	int rc;

	config->insecure = resolve->options->insecure_skip_tls_verify != 0;
	if (option.text) {
		mpijob__http_resolve_pem(resolve, &option, &none, &config->ca);
		return;
	}
	if (config->insecure)
		return;
	path = mpijob__http_path_join(resolve->service_account, "ca.crt");
	rc = path ? mpijob__http_secret_read(&content, path, 0) : MPIJOB_ERR_NOMEM;
	if (rc == MPIJOB_ERR_NOMEM) {
		mpijob__http_report_nomem(resolve->report);
	} else if (rc || !content.data || !strstr(content.data, "-----BEGIN CERTIFICATE-----")) {
		option.key = NULL;
		mpijob__http_resolve_report(resolve, &option, 0, "config-unused", NULL,
		    "'%s' contains no certificate (%s); the system's certificates are used", path,
		    rc ? mpijob__http_report_errno(errno) : "it contains no PEM");
	} else {
		config->ca.file = path;
		path = NULL;
	}
	mpijob__http_secret_clear(&content);
	free(path);
}

/* Use the token of the service account unless the options contain credentials. */
static void resolve_token(struct mpijob__http_resolve *resolve)
{
	struct mpijob__http_setting setting = { NULL, NULL, NULL };
	mpijob_http_config *config = resolve->config;
	mpijob__http_secret content = { NULL, 0 };
	int rc;

	if (config->token.len || config->certificate.file)
		return;
	config->token_file = mpijob__http_path_join(resolve->service_account, "token");
	rc = config->token_file ? mpijob__http_secret_read(&content, config->token_file, 1)
				: MPIJOB_ERR_NOMEM;
	if (rc == MPIJOB_ERR_NOMEM)
		mpijob__http_report_nomem(resolve->report);
	else if (rc)
		mpijob__http_resolve_report(resolve, &setting,
		    errno == ENOENT ? MPIJOB_ERR_NOT_FOUND : MPIJOB_ERR_IO, "config-unreadable",
		    NULL, "the service account's token '%s' cannot be read: %s", config->token_file,
		    mpijob__http_report_errno(errno));
	else if (!content.len)
		mpijob__http_resolve_report(resolve, &setting, MPIJOB_ERR_SPEC, "config-value",
		    "Invalid", "the service account's token '%s' is empty", config->token_file);
	mpijob__http_secret_clear(&content);
	mpijob__http_resolve_copy(resolve, &config->user, "service account");
}

void mpijob__http_resolve_in_cluster(struct mpijob__http_resolve *resolve)
{
	struct mpijob__http_setting server = { resolve->options->server, NULL, "server" };

	memset(&resolve->context, 0, sizeof(resolve->context));
	memset(&resolve->cluster, 0, sizeof(resolve->cluster));
	memset(&resolve->user, 0, sizeof(resolve->user));
	free(resolve->config->context);
	free(resolve->config->user);
	resolve->config->context = NULL;
	resolve->config->user = NULL;
	resolve_address(resolve);
	if (resolve->report->code)
		return;
	mpijob__http_resolve_user(resolve);
	resolve_authority(resolve);
	mpijob__http_resolve_copy(resolve, &resolve->config->tls_server_name,
	    resolve->options->tls_server_name);
	mpijob__http_resolve_proxy(resolve);
	resolve->config->in_cluster = 1;
	if (resolve->config->tls)
		resolve_token(resolve);
	else
		mpijob__http_resolve_drop_credentials(resolve, &server);
}
