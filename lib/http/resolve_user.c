/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identity: which credentials a user entry may combine, which of them an option of the caller
 * replaces, and impersonation. Messages do not contain secrets. Values that become headers must not
 * contain control characters.
 */
#include "http/resolve_user.h"

#include "http/resolve.h"
#include "http/request_headers.h"
#include "http/resolve_exec.h"

#include <stdlib.h>
#include <string.h>

static void copy_secret(const struct mpijob__http_resolve *resolve, mpijob__http_secret *slot,
    const struct mpijob__http_setting *setting)
{
	if (!setting->text)
		return;
	if (mpijob__http_secret_set(slot, setting->text, strlen(setting->text)))
		mpijob__http_report_nomem(resolve->report);
}

static void reject_control(const struct mpijob__http_resolve *resolve,
    const struct mpijob__http_setting *setting)
{
	if (setting->text && mpijob__http_request_headers_has_control(setting->text))
		mpijob__http_resolve_report(resolve, setting, MPIJOB_ERR_SPEC, "config-value",
		    "Invalid", "must not contain control characters, such as a line break");
}

/* Token, token file, user name and password. The caller's token also replaces the token file. */
static void resolve_passwords(struct mpijob__http_resolve *resolve)
{
	const struct mpijob__http_kubeconfig_entry *entry = &resolve->user;
	mpijob_http_config *config = resolve->config;
	struct mpijob__http_setting token =
	    mpijob__http_resolve_setting(resolve->options->token, "token", entry, "token");
	struct mpijob__http_setting file =
	    mpijob__http_resolve_setting(NULL, NULL, entry, "tokenFile");
	struct mpijob__http_setting name =
	    mpijob__http_resolve_setting(NULL, NULL, entry, "username");
	struct mpijob__http_setting password =
	    mpijob__http_resolve_setting(NULL, NULL, entry, "password");

	reject_control(resolve, &token);
	copy_secret(resolve, &config->token, &token);
	if (file.text && token.entry)
		config->token_file = mpijob__http_resolve_path(resolve, &file);
	mpijob__http_resolve_copy(resolve, &config->username, name.text);
	if (name.text)
		copy_secret(resolve, &config->password, &password);
	if ((token.text && (name.text || password.text)) || (config->token_file && name.text)) {
		struct mpijob__http_setting *at = name.text ? &name : &password;

		mpijob__http_resolve_report(resolve, at, MPIJOB_ERR_SPEC, "config-conflict",
		    "Invalid", "a token is given too; keep only one kind of credentials");
	}
}

static void resolve_certificate(struct mpijob__http_resolve *resolve)
{
	const struct mpijob_http_config_options *options = resolve->options;
	const struct mpijob__http_kubeconfig_entry none = { NULL, NULL, NULL, 0, NULL, NULL };
	const struct mpijob__http_kubeconfig_entry *entry = &resolve->user;
	mpijob_http_config *config = resolve->config;
	struct mpijob__http_setting file, data, key_file, key_data;

	file = mpijob__http_resolve_setting(options->client_certificate, "client_certificate",
	    entry, "client-certificate");
	data = mpijob__http_resolve_setting(NULL, NULL, options->client_certificate ? &none : entry,
	    "client-certificate-data");
	key_file =
	    mpijob__http_resolve_setting(options->client_key, "client_key", entry, "client-key");
	key_data = mpijob__http_resolve_setting(NULL, NULL, options->client_key ? &none : entry,
	    "client-key-data");
	if (!file.text && !data.text) {
		if (key_file.text || key_data.text)
			mpijob__http_resolve_report(resolve, key_file.text ? &key_file : &key_data,
			    0, "config-unused", NULL,
			    "the key is not used, because there is no client-certificate");
		return;
	}
	mpijob__http_resolve_pem(resolve, &file, &data, &config->certificate);
	mpijob__http_resolve_pem(resolve, &key_file, &key_data, &config->key);
	if (!key_file.text && !key_data.text)
		mpijob__http_resolve_report(resolve, file.text ? &file : &data, MPIJOB_ERR_SPEC,
		    "config-required", "Required", "needs client-key or client-key-data");
}

/* The number of strings in all lists of a map. */
static size_t count_values(const mpijob_node *map)
{
	size_t count = 0;

	for (size_t i = 0; i < mpijob_node_count(map); i++)
		count += mpijob_node_count(mpijob_node_at(map, i));
	return count;
}

static const char *text_of(const mpijob_node *node)
{
	return mpijob_node_string(node) ? mpijob_node_string(node) : "";
}

static void resolve_extra(struct mpijob__http_resolve *resolve)
{
	const mpijob_node *map = mpijob_node_get(resolve->user.value, "as-user-extra");
	struct mpijob__http_setting setting = { NULL, &resolve->user, "as-user-extra" };
	size_t count = count_values(map);
	mpijob_http_config *config = resolve->config;

	if (!count)
		return;
	config->as_extra = calloc(count, sizeof(*config->as_extra));
	if (!config->as_extra) {
		mpijob__http_report_nomem(resolve->report);
		return;
	}
	for (size_t i = 0; i < mpijob_node_count(map); i++) {
		const mpijob_node *list = mpijob_node_at(map, i);

		for (size_t k = 0; k < mpijob_node_count(list); k++) {
			struct mpijob__http_impersonation_extra *extra =
			    &config->as_extra[config->as_extra_count++];

			setting.text = text_of(mpijob_node_at(list, k));
			reject_control(resolve, &setting);
			mpijob__http_resolve_copy(resolve, &extra->name, mpijob_node_key(map, i));
			mpijob__http_resolve_copy(resolve, &extra->value, setting.text);
		}
	}
}

static void resolve_groups(struct mpijob__http_resolve *resolve)
{
	const struct mpijob_http_config_options *options = resolve->options;
	const mpijob_node *list = mpijob_node_get(resolve->user.value, "as-groups");
	struct mpijob__http_setting setting = { NULL,
		options->as_groups_count ? NULL : &resolve->user,
		options->as_groups_count ? "as_groups" : "as-groups" };
	size_t count =
	    options->as_groups_count ? options->as_groups_count : mpijob_node_count(list);
	char **groups;

	if (!count)
		return;
	groups = calloc(count + 1, sizeof(*groups));
	resolve->config->as_groups = groups;
	if (!groups) {
		mpijob__http_report_nomem(resolve->report);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		setting.text = options->as_groups_count ? options->as_groups[i]
							: text_of(mpijob_node_at(list, i));
		reject_control(resolve, &setting);
		mpijob__http_resolve_copy(resolve, &groups[i], setting.text);
		/* Memory ran out. A NULL ends the list. */
		if (!groups[i])
			return;
	}
}

static void resolve_impersonation(struct mpijob__http_resolve *resolve)
{
	const struct mpijob_http_config_options *options = resolve->options;
	const struct mpijob__http_kubeconfig_entry *entry = &resolve->user;
	mpijob_http_config *config = resolve->config;
	struct mpijob__http_setting as =
	    mpijob__http_resolve_setting(options->as_user, "as", entry, "as");
	struct mpijob__http_setting uid =
	    mpijob__http_resolve_setting(options->as_uid, "as_uid", entry, "as-uid");

	reject_control(resolve, &as);
	reject_control(resolve, &uid);
	mpijob__http_resolve_copy(resolve, &config->as, as.text);
	mpijob__http_resolve_copy(resolve, &config->as_uid, uid.text);
	resolve_groups(resolve);
	resolve_extra(resolve);
	if (as.text || (!uid.text && !config->as_groups && !config->as_extra_count))
		return;
	if (options->as_uid || options->as_groups_count)
		mpijob__http_resolve_report(resolve, &as, MPIJOB_ERR_USAGE, "config-required",
		    "Required", "must be given with as_uid and as_groups: the user to impersonate");
	else
		mpijob__http_resolve_report(resolve, &as, MPIJOB_ERR_SPEC, "config-required",
		    "Required",
		    "must be given with as-uid, as-groups and as-user-extra: the user to "
		    "impersonate");
}

/* The replacement of an auth-provider, which client-go no longer supports either (except oidc). */
static const char *instead_of(const char *provider)
{
	if (strcmp(provider, "gcp") == 0)
		return "use exec with gke-gcloud-auth-plugin";
	if (strcmp(provider, "azure") == 0)
		return "use exec with kubelogin";
	if (strcmp(provider, "oidc") == 0)
		return "use exec with a plugin for OpenID Connect, such as kubelogin's 'kubectl "
		       "oidc-login get-token'";
	return "use exec with a plugin of your provider";
}

static void resolve_plugins(struct mpijob__http_resolve *resolve)
{
	const mpijob_node *provider = mpijob_node_get(resolve->user.value, "auth-provider");
	const mpijob_node *exec = mpijob_node_get(resolve->user.value, "exec");
	struct mpijob__http_setting setting = { NULL, &resolve->user, "auth-provider" };
	int has_exec = mpijob_node_kind(exec) == MPIJOB_NODE_MAP;

	if (mpijob_node_kind(provider) == MPIJOB_NODE_MAP && has_exec)
		mpijob__http_resolve_report(resolve, &setting, MPIJOB_ERR_SPEC, "config-conflict",
		    "Invalid", "exec is given too; remove auth-provider");
	else if (mpijob_node_kind(provider) == MPIJOB_NODE_MAP)
		mpijob__http_resolve_report(resolve, &setting, MPIJOB_ERR_UNSUPPORTED,
		    "config-unsupported", "NotSupported", "auth-provider '%s' is not supported; %s",
		    text_of(mpijob_node_get(provider, "name")),
		    instead_of(text_of(mpijob_node_get(provider, "name"))));
	if (has_exec)
		mpijob__http_resolve_exec(resolve, exec);
}

void mpijob__http_resolve_user(struct mpijob__http_resolve *resolve)
{
	resolve_passwords(resolve);
	resolve_certificate(resolve);
	resolve_plugins(resolve);
	resolve_impersonation(resolve);
	resolve->config->interactive = resolve->options->interactive != 0;
}
