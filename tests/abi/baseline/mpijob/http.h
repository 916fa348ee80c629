/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_HTTP_H
#define MPIJOB_HTTP_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/transport.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob_http_config mpijob_http_config;
#define MPIJOB_HTTP_PLUGINS_ALL 0
#define MPIJOB_HTTP_PLUGINS_NONE 1
#define MPIJOB_HTTP_PLUGINS_LISTED 2
struct mpijob_http_config_options {
	size_t size;
	const char *kubeconfig;
	const char *context;
	const char *cluster;
	const char *user;
	const char *namespace_;
	const char *server;
	const char *tls_server_name;
	const char *certificate_authority;
	const char *client_certificate;
	const char *client_key;
	const char *token;
	const char *proxy_url;
	const char *as_user;
	const char *as_uid;
	const char *const *as_groups;
	size_t as_groups_count;
	int32_t insecure_skip_tls_verify;
	int32_t in_cluster;
	int32_t interactive;
	const char *const *plugins;
	size_t plugins_count;
	int32_t plugin_policy;
	int32_t reserved;
};
#define MPIJOB_HTTP_CONFIG_OPTIONS_INIT { sizeof(struct mpijob_http_config_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, 0, 0 }
MPIJOB_API int mpijob_http_config_load(const struct mpijob_http_config_options *options, mpijob_http_config **out, mpijob_diag *diag);
MPIJOB_API void mpijob_http_config_free(mpijob_http_config *config);
MPIJOB_API const char *mpijob_http_config_server(const mpijob_http_config *config);
MPIJOB_API const char *mpijob_http_config_namespace(const mpijob_http_config *config);
MPIJOB_API const char *mpijob_http_config_context(const mpijob_http_config *config);
MPIJOB_API const char *mpijob_http_config_user(const mpijob_http_config *config);
typedef struct mpijob_http mpijob_http;
struct mpijob_http_options {
	size_t size;
	const char *user_agent;
	int64_t connect_timeout_ms;
	int64_t request_timeout_ms;
	int64_t idle_timeout_ms;
	int64_t plugin_timeout_ms;
	int32_t max_connections;
	int32_t http1;
	void (*notice)(void *user, const struct mpijob_finding *finding);
	void *notice_user;
};
#define MPIJOB_HTTP_OPTIONS_INIT { sizeof(struct mpijob_http_options), NULL, 0, 0, 0, 0, 0, 0, NULL, NULL }
MPIJOB_API int mpijob_http_new(const mpijob_http_config *config, const struct mpijob_http_options *options, struct mpijob_transport *transport, mpijob_http **out, mpijob_diag *diag);
#ifdef __cplusplus
}
#endif
#endif
