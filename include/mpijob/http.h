/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file http.h
 * Connect to a cluster: find its API server and credentials, and create a transport to it.
 * (libmpijob-http)
 *
 * There are two steps. mpijob_http_config_load() determines server and identity from kubeconfig
 * files, the service account of a pod, and your options, by the rules of kubectl. mpijob_http_new()
 * creates a transport for mpijob_client_new() from this configuration.
 *
 * @code
 * mpijob_diag *diag = mpijob_diag_new();
 * mpijob_http_config *config = NULL;
 * struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
 * mpijob_http *http = NULL;
 * mpijob_client *client = NULL;
 * int code = mpijob_http_config_load(NULL, &config, diag);
 * if (code == 0)
 *         code = mpijob_http_new(config, NULL, &transport, &http, diag);
 * if (code == 0)
 *         code = mpijob_client_new(&transport, http, &client);
 * mpijob_client_free(client);
 * mpijob_http_config_free(config);
 * mpijob_diag_free(diag);
 * @endcode
 *
 * Tokens, passwords and keys are kept in memory that is wiped. They are never in a finding, a log
 * or a file. Exceptions: libcurl does not wipe its copies of requests, and obeys SSLKEYLOGFILE, an
 * environment variable for debugging TLS; libyaml does not wipe its buffers, which contain parts of
 * a kubeconfig in YAML. The transport rereads token files and certificate files, and runs exec
 * plugins again, when credentials change or expire.
 *
 * Not supported, and rejected with a finding that names the alternative: auth-provider plugins
 * (also oidc), SOCKS proxies, protobuf and CBOR.
 *
 * Deliberate differences from kubectl:
 * - A context whose cluster or user does not exist is an error.
 * - An address without scheme means https if a CA, a client certificate or insecure-skip-tls-verify
 * is given.
 * - The option `token` also replaces the token file of the user entry.
 * - Empty files, duplicate keys, and credentials in the server's address are errors.
 * - `$KUBECONFIG` may also be the name of one file that contains a ':'.
 * - The options here, not kubectl's own settings (kuberc), decide which plugins may run.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_HTTP_H
#define MPIJOB_HTTP_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Server and identity
 * @{ */

/** A configuration: a server and an identity. It does not change after it was loaded. */
typedef struct mpijob_http_config mpijob_http_config;

#define MPIJOB_HTTP_PLUGINS_ALL    0 /**< Every exec plugin that a kubeconfig names may run. */
#define MPIJOB_HTTP_PLUGINS_NONE   1 /**< No exec plugin may run. */
#define MPIJOB_HTTP_PLUGINS_LISTED 2 /**< Only the listed plugins may run. */

/** Options that select or override parts of the kubeconfig, like kubectl's flags of the same names.
 * NULL: not given. */
struct mpijob_http_config_options {
	size_t size; /**< `sizeof` this struct. */
	/** Read only this file, which must exist. NULL: the list in `$KUBECONFIG`, else
	 * ~/.kube/config; if these name no server, the service account of this process' pod. */
	const char *kubeconfig;
	const char *context;    /**< Context to use; NULL: current-context. */
	const char *cluster;    /**< Cluster entry to use; NULL: the context's. */
	const char *user;       /**< User entry to use; NULL: the context's. */
	const char *namespace_; /**< Overrides the context's namespace. */
	/** URL of the API server; also removes the entry's tls-server-name. */
	const char *server;
	/** Host name for SNI and for verifying the server's certificate. */
	const char *tls_server_name;
	const char *certificate_authority; /**< PEM file; also removes insecure-skip-tls-verify. */
	const char *client_certificate;    /**< PEM file. */
	const char *client_key;            /**< PEM file. */
	const char *token;                 /**< Bearer token; copied into wiped memory. */
	const char *proxy_url;             /**< http:// or https:// proxy. */
	const char *as_user;               /**< User to impersonate. */
	const char *as_uid;                /**< UID to impersonate; requires `as_user`. */
	const char *const *as_groups;      /**< Groups to impersonate; requires `as_user`. */
	size_t as_groups_count;            /**< Number of `as_groups`. */
	/** 1: do not verify the server's certificate; also removes the CA. */
	int32_t insecure_skip_tls_verify;
	/** 1: use only the service account of the pod. */
	int32_t in_cluster;
	/** 1: an exec plugin may read this process' standard input. */
	int32_t interactive;
	/** Commands of exec plugins that may run: the command as in the kubeconfig, its path in
	 * `$PATH`, or a name that resolves to the same program there. */
	const char *const *plugins;
	/** Number of `plugins`; must be 0 unless `plugin_policy` is `MPIJOB_HTTP_PLUGINS_LISTED`.
	 */
	size_t plugins_count;
	/** `MPIJOB_HTTP_PLUGINS_*`: which exec plugins may run. The author of the kubeconfig
	 * chooses these programs. */
	int32_t plugin_policy;
	int32_t reserved; /**< 0; fills the struct. */
};
#define MPIJOB_HTTP_CONFIG_OPTIONS_INIT { sizeof(struct mpijob_http_config_options), NULL, \
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, \
	0, 0, 0, NULL, 0, 0, 0 }

/**
 * Determine server and identity by the rules of kubectl. Reads files and the environment; does not
 * run programs or connect.
 *
 * @param options  NULL for the defaults; copied.
 * @param out      not NULL; receives the configuration, which you free.
 * @param diag     receives all errors, with file, line and column; may be NULL.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (there is no configuration, or the context, cluster or user
 * does not exist: the finding lists the existing ones); `MPIJOB_ERR_SYNTAX`, `MPIJOB_ERR_SPEC` (an
 *         invalid kubeconfig); `MPIJOB_ERR_IO` (a file cannot be read); `MPIJOB_ERR_UNSUPPORTED`
 * (an auth-provider, a SOCKS proxy; the size of `options`); `MPIJOB_ERR_USAGE` (contradictory
 *         options); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_http_config_load(const struct mpijob_http_config_options *options,
    mpijob_http_config **out, mpijob_diag *diag);

/** Free a configuration and wipe its secrets. NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_http_config_free(mpijob_http_config *config);

/** Get the URL of the server; never NULL; borrowed. `config` not NULL. @since 0.1 */
MPIJOB_API const char *mpijob_http_config_server(const mpijob_http_config *config);

/** Get the namespace; "default" if no other is configured; never NULL; borrowed. `config` not NULL.
 * @since 0.1 */
MPIJOB_API const char *mpijob_http_config_namespace(const mpijob_http_config *config);

/** Get the name of the context; NULL in a pod, and if only `server` was given; borrowed. `config`
 * not NULL. @since 0.1 */
MPIJOB_API const char *mpijob_http_config_context(const mpijob_http_config *config);

/** Get the name of the user entry, or "service account"; NULL: no user is configured; borrowed.
 * `config` not NULL. @since 0.1 */
MPIJOB_API const char *mpijob_http_config_user(const mpijob_http_config *config);

/** @} */
/** @name Transport
 * @{ */

/** The HTTP transport: thousands of exchanges over few connections, on one thread. It uses HTTP/2
 * if the server supports it. */
typedef struct mpijob_http mpijob_http;

/** Options of the transport. Times are limited to 24 days. */
struct mpijob_http_options {
	size_t size;                /**< `sizeof` this struct. */
	const char *user_agent;     /**< NULL: "libmpijob/VERSION (linux/amd64)". */
	int64_t connect_timeout_ms; /**< For connection and TLS handshake, in ms; 0: 30,000. */
	/** For an exchange that does not stream and has no limit of its own, in ms; 0: 60,000.
	 * While a plugin runs that may read standard input, the time of no exchange counts. */
	int64_t request_timeout_ms;
	/** Limit for a dead connection that is in use, in ms: TCP keepalive probes start before it,
	 * and the connection is closed if the peer does not acknowledge them; 0: 45,000. */
	int64_t idle_timeout_ms;
	/** For one run of an exec credential plugin, in ms; 0: 60,000. A plugin that may read
	 * standard input, for example for a login, has at least 900,000. */
	int64_t plugin_timeout_ms;
	/** Maximum number of connections to the server; 0: 8. A quarter of them is reserved for
	 * exchanges that do not stream, unless the maximum is 1. With HTTP/1.1 each stream has its
	 * own connection, which is not counted. */
	int32_t max_connections;
	int32_t http1; /**< 1: HTTP/1.1 only. */
	/** Called with findings that belong to no exchange, such as a token file that can no longer
	 * be read. May be NULL. */
	void (*notice)(void *user, const struct mpijob_finding *finding);
	void *notice_user; /**< Passed to `notice`. */
};
#define MPIJOB_HTTP_OPTIONS_INIT { sizeof(struct mpijob_http_options), NULL, 0, 0, 0, 0, 0, 0, \
	NULL, NULL }

/**
 * Create a transport to a server. Before the first exchange nothing is sent, and no plugin runs.
 *
 * @param config     not NULL; copied.
 * @param options    NULL for the defaults; copied.
 * @param transport  not NULL; `size` must be set; the functions are filled in.
 * @param out        not NULL; receives the `self` for mpijob_client_new(), which takes ownership.
 *                   Without a client, free it with the transport's `destroy`.
 * @param diag       receives findings; may be NULL.
 * @return 0; `MPIJOB_ERR_SPEC` (an invalid certificate or key); `MPIJOB_ERR_IO` (no descriptor
 *         is left); `MPIJOB_ERR_UNSUPPORTED` (libcurl lacks a required feature; an environment
 * proxy that is not http or https; sizes); `MPIJOB_ERR_USAGE` (NULL, invalid options);
 *         `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_http_new(const mpijob_http_config *config,
    const struct mpijob_http_options *options, struct mpijob_transport *transport,
    mpijob_http **out, mpijob_diag *diag);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_HTTP_H */
