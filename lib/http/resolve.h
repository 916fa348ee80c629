/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves kubeconfig entries and the caller's options to one configuration. */
#ifndef MPIJOB__HTTP_RESOLVE_H
#define MPIJOB__HTTP_RESOLVE_H

#include "http/config.h"
#include "http/kubeconfig.h"
#include "http/report.h"

struct mpijob__http_resolve {
	const struct mpijob_http_config_options *options; /* without empty strings */
	const char *service_account;                      /* directory */
	struct mpijob__http_report *report;
	const struct mpijob__http_kubeconfig *kubeconfig;
	struct mpijob__http_kubeconfig_entry context, cluster, user; /* all zero: absent */
	mpijob_http_config *config;                                  /* the result */
};

/* A setting and its origin. `text` NULL: it is absent. `entry` NULL: it is the option `key` of the
 * caller. */
struct mpijob__http_setting {
	const char *text;
	const struct mpijob__http_kubeconfig_entry *entry;
	const char *key;
};

/* Fill the whole configuration, and report errors. */
void mpijob__http_resolve_run(struct mpijob__http_resolve *resolve);
void mpijob__http_resolve_proxy(struct mpijob__http_resolve *resolve);
/* Remove the credentials and TLS settings, because the server's URL is plain HTTP. Warns when there
 * were credentials. */
void mpijob__http_resolve_drop_credentials(struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *server);

/* The caller's option `option`, whose name is `name`; if it is NULL, the entry's field `key`. */
struct mpijob__http_setting mpijob__http_resolve_setting(const char *option, const char *name,
    const struct mpijob__http_kubeconfig_entry *entry, const char *key);
/* Report an error about a setting; with `code` 0 a warning. */
void mpijob__http_resolve_report(const struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *setting, int code, const char *id, const char *reason,
    const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Copy a string into *slot; NULL leaves it unchanged. */
void mpijob__http_resolve_copy(const struct mpijob__http_resolve *resolve, char **slot,
    const char *text);
/* The absolute path of the file of a setting. The caller frees it; NULL after an error was
 * reported.
 */
char *mpijob__http_resolve_path(const struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *setting);
/* Fill `pem` from `file`, the name of a PEM file, or `data`, base64 of PEM. Both together are an
 * error, and so is a file that is empty or cannot be read. */
void mpijob__http_resolve_pem(const struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *file, const struct mpijob__http_setting *data,
    struct mpijob__http_pem *pem);

#endif
