/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pod knows of its cluster: two environment variables and three files of its service
 * account. A CA that cannot be used is only a warning, as in client-go; the server is then verified
 * with the system's roots.
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
	int bare = host && strchr(host, ':') && host[0] != '[';
	char *made = NULL;
	const char *why;
	int code;

	if (!setting.text && (!host || !port)) {
		mpijob__http_resolve_say(resolve, &setting, MPIJOB_ERR_NOT_FOUND, "config-missing",
		    NULL,
		    "this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not "
		    "set");
		return;
	}
	if (!setting.text) {
		made = mpijob__base_text_format("https://%s%s%s:%s", bare ? "[" : "", host,
		    bare ? "]" : "", port);
		setting.text = made;
		setting.key = "KUBERNETES_SERVICE_HOST";
	}
	code = setting.text ? mpijob__http_server_url_normalize(setting.text, 1,
				  &resolve->config->server, &why)
			    : MPIJOB_ERR_NOMEM;
	if (code == MPIJOB_ERR_NOMEM)
		mpijob__http_report_nomem(resolve->report);
	else if (code)
		mpijob__http_resolve_say(resolve, &setting, code, "config-value", "Invalid",
		    "the server's address %s", why);
	resolve->config->tls =
	    resolve->config->server && mpijob__http_server_url_is_tls(resolve->config->server);
	free(made);
}

/* The caller's setting, or the pod's; the latter may fail. */
static void resolve_authority(struct mpijob__http_resolve *resolve)
{
	struct mpijob__http_setting wish = { resolve->options->certificate_authority, NULL,
		"certificate_authority" };
	struct mpijob__http_setting none = { NULL, NULL, NULL };
	mpijob_http_config *config = resolve->config;
	mpijob__http_secret content = { NULL, 0 };
	char *path;
	int code;

	config->insecure = resolve->options->insecure_skip_tls_verify != 0;
	if (wish.text) {
		mpijob__http_resolve_pem(resolve, &wish, &none, &config->ca);
		return;
	}
	if (config->insecure)
		return;
	path = mpijob__http_path_join(resolve->service_account, "ca.crt");
	code = path ? mpijob__http_secret_read(&content, path, 0) : MPIJOB_ERR_NOMEM;
	if (code == MPIJOB_ERR_NOMEM) {
		mpijob__http_report_nomem(resolve->report);
	} else if (code || !content.data || !strstr(content.data, "-----BEGIN CERTIFICATE-----")) {
		wish.key = NULL;
		mpijob__http_resolve_say(resolve, &wish, 0, "config-unused", NULL,
		    "'%s' holds no certificate (%s); the system's certificates are used", path,
		    code ? mpijob__http_report_errno(errno) : "no PEM is in it");
	} else {
		config->ca.file = path;
		path = NULL;
	}
	mpijob__http_secret_clear(&content);
	free(path);
}

/* The service account's token, unless the caller gives other credentials. */
static void resolve_token(struct mpijob__http_resolve *resolve)
{
	struct mpijob__http_setting setting = { NULL, NULL, NULL };
	mpijob_http_config *config = resolve->config;
	mpijob__http_secret content = { NULL, 0 };
	int code;

	if (config->token.len || config->certificate.file)
		return;
	config->token_file = mpijob__http_path_join(resolve->service_account, "token");
	code = config->token_file ? mpijob__http_secret_read(&content, config->token_file, 1)
				  : MPIJOB_ERR_NOMEM;
	if (code == MPIJOB_ERR_NOMEM)
		mpijob__http_report_nomem(resolve->report);
	else if (code)
		mpijob__http_resolve_say(resolve, &setting,
		    errno == ENOENT ? MPIJOB_ERR_NOT_FOUND : MPIJOB_ERR_IO, "config-unreadable",
		    NULL, "the service account's token '%s' cannot be read: %s", config->token_file,
		    mpijob__http_report_errno(errno));
	else if (!content.len)
		mpijob__http_resolve_say(resolve, &setting, MPIJOB_ERR_SPEC, "config-value",
		    "Invalid", "the service account's token '%s' is empty", config->token_file);
	mpijob__http_secret_clear(&content);
	mpijob__http_resolve_keep(resolve, &config->user, "service account");
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
	mpijob__http_resolve_keep(resolve, &resolve->config->tls_server_name,
	    resolve->options->tls_server_name);
	mpijob__http_resolve_proxy(resolve);
	resolve->config->in_cluster = 1;
	if (resolve->config->tls)
		resolve_token(resolve);
	else
		mpijob__http_resolve_drop(resolve, &server);
}
