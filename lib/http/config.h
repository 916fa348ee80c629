/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration: one server and one identity. Everything is resolved that needs no other program.
 */
#ifndef MPIJOB__HTTP_CONFIG_H
#define MPIJOB__HTTP_CONFIG_H

#include <mpijob/http.h>

#include "http/secret.h"

/* An environment variable for an exec plugin. */
struct mpijob__http_exec_variable {
	char *name;
	char *value;
};

/* An exec credential plugin, as the user's entry describes it; command NULL: none. */
struct mpijob__http_exec_plugin {
	char *api_version; /* client.authentication.k8s.io/v1 or /v1beta1 */
	char *command;     /* with a slash: resolved against the directory of the kubeconfig */
	char **args;       /* closed by NULL; NULL: none */
	struct mpijob__http_exec_variable *env;
	size_t env_count;
	char *install_hint; /* NULL: none */
	int provide_cluster_info;
	int interactive_mode; /* MPIJOB__HTTP_EXEC_* */
	/* JSON of extensions["client.authentication.k8s.io/exec"]; NULL: none */
	char *cluster_extension;
};
#define MPIJOB__HTTP_EXEC_NEVER        0
#define MPIJOB__HTTP_EXEC_IF_AVAILABLE 1
#define MPIJOB__HTTP_EXEC_ALWAYS       2

/* PEM bytes, or the file that contains them, which identity_files.c reads periodically. Both empty:
 * not configured. */
struct mpijob__http_pem {
	mpijob__http_secret data;
	char *file; /* absolute; NULL when `data` came inline */
};

struct mpijob__http_impersonation_extra {
	char *name;
	char *value;
};

/* Everything is owned. Strings are NULL when absent. */
struct mpijob_http_config {
	/* "https://host:port/prefix": always with a scheme, without a slash at the end */
	char *server;
	int tls; /* the scheme is https; without it the transport sends no credentials */
	char *tls_server_name;
	int insecure;               /* do not verify the server's certificate */
	struct mpijob__http_pem ca; /* empty: the system's roots */
	/* NULL: $HTTPS_PROXY and $NO_PROXY decide; mpijob_http_new() reads them */
	char *proxy_url;
	char *context;
	char *user;
	char *namespace_; /* never NULL */
	int in_cluster;
	/* The identity; each part may be absent. */
	mpijob__http_secret token;
	char *token_file; /* absolute; takes precedence over `token` after it was read once */
	char *username;
	mpijob__http_secret password;
	struct mpijob__http_pem certificate;
	struct mpijob__http_pem key;
	struct mpijob__http_exec_plugin exec;
	int interactive; /* a plugin may read the standard input of this process */
	char **plugins;  /* commands that may run, closed by NULL; NULL: all */
	char *as;
	char *as_uid;
	char **as_groups; /* closed by NULL; NULL: none */
	struct mpijob__http_impersonation_extra *as_extra;
	size_t as_extra_count;
};

/* The directory of a pod's service account. */
#define MPIJOB__HTTP_CONFIG_SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

/* mpijob_http_config_load() with the service account in another directory. */
int mpijob__http_config_load(const struct mpijob_http_config_options *options,
    const char *service_account, mpijob_http_config **out, mpijob_diag *diag);

/* Copy a configuration, secrets too. NULL when memory ran out. */
mpijob_http_config *mpijob__http_config_clone(const mpijob_http_config *config);

void mpijob__http_config_clear_exec(struct mpijob__http_exec_plugin *exec);
void mpijob__http_config_clear_pem(struct mpijob__http_pem *pem);

#endif
