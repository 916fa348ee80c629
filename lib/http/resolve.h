/* SPDX-License-Identifier: Apache-2.0 */
/* From the entries of kubeconfigs and the caller's options to one configuration. */
#ifndef MPIJOB__HTTP_RESOLVE_H
#define MPIJOB__HTTP_RESOLVE_H

#include "http/config.h"
#include "http/kubeconfig.h"
#include "http/report.h"

struct mpijob__http_resolve {
	const struct mpijob_http_config_options *options; /* no empty strings */
	const char *service_account;                      /* directory */
	struct mpijob__http_report *report;
	const struct mpijob__http_kubeconfig *kubeconfig;
	struct mpijob__http_kubeconfig_entry context, cluster, user; /* all zero: none */
	mpijob_http_config *config;                                  /* the result */
};

/* A text and its origin. `text` NULL: it is absent. `entry` NULL: an option of the caller, named
 * `key`. */
struct mpijob__http_setting {
	const char *text;
	const struct mpijob__http_kubeconfig_entry *entry;
	const char *key;
};

/* Fill the whole configuration, and report errors. */
void mpijob__http_resolve_run(struct mpijob__http_resolve *resolve);
void mpijob__http_resolve_proxy(struct mpijob__http_resolve *resolve);
/* Drop all that must not be sent without TLS. */
void mpijob__http_resolve_drop(struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *server);

/* The caller's option, else the entry's field. */
struct mpijob__http_setting mpijob__http_resolve_setting(const char *option, const char *name,
    const struct mpijob__http_kubeconfig_entry *entry, const char *key);
/* Report an error of a setting; with `code` 0 a warning. */
void mpijob__http_resolve_say(const struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *setting, int code, const char *id, const char *reason,
    const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Copy a string, or NULL. */
void mpijob__http_resolve_keep(const struct mpijob__http_resolve *resolve, char **slot,
    const char *text);
/* The absolute name of the file of a setting; the caller frees it; NULL after a report. */
char *mpijob__http_resolve_path(const struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *setting);
/* Read PEM from a file or from base64, of which only one may be set. */
void mpijob__http_resolve_pem(const struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *file, const struct mpijob__http_setting *data,
    struct mpijob__http_pem *pem);
/* Whether a text could end a header's line. */
int mpijob__http_resolve_has_control(const char *text);

#endif
