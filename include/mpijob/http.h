/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file http.h
 * A real cluster: where its API server is, who you are there, and the transport that talks to it.
 * (libmpijob-http)
 *
 * Two steps. A mpijob_http_config answers "which server, as whom", from kubeconfig files, the
 * service account of a pod, and your own wishes, by the rules of kubectl. mpijob_http_new() makes a
 * transport of it for mpijob_client_new().
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
 * Tokens, passwords and keys stay in memory that is wiped; they are in no finding, no log and no
 * file. (What libcurl copies of a request is not wiped, and libcurl obeys SSLKEYLOGFILE, a variable
 * for those who debug TLS.) Credentials that change while the transport lives (token files,
 * certificate files, exec plugins) are read again by themselves.
 *
 * Not supported, and refused with a finding that says what to use instead: the auth-provider
 * plugins (oidc too), SOCKS proxies, protobuf and CBOR.
 *
 * Where it is not as with kubectl, on purpose: a context whose cluster or user is not there is an
 * error; an address without a scheme means https when a CA, a client certificate or
 * insecure-skip-tls-verify is given; a token given here replaces the entry's token file; empty
 * files, keys given twice, and credentials in the server's address are refused; `$KUBECONFIG` may
 * also be the name of one file that has a ':' in it; which plugins may run is said here, and not
 * read from kubectl's own settings (kuberc). While a kubeconfig in YAML is read, libyaml holds
 * pieces of it in memory that is freed without being wiped.
 */
#ifndef MPIJOB_HTTP_H
#define MPIJOB_HTTP_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Which server, as whom
 * @{ */

/** A server and an identity there, as read once. */
typedef struct mpijob_http_config mpijob_http_config;

#define MPIJOB_HTTP_PLUGINS_ALL    0 /**< Every exec plugin that a kubeconfig names may run. */
#define MPIJOB_HTTP_PLUGINS_NONE   1 /**< None may. */
#define MPIJOB_HTTP_PLUGINS_LISTED 2 /**< Those may that are listed. */

/** What overrides or selects parts of the kubeconfig; kubectl's flags of the same names. NULL
 * everywhere: not given. */
struct mpijob_http_config_options {
	size_t size; /**< `sizeof` this struct. */
	/** This file alone; it must exist. NULL: the list in `$KUBECONFIG`, else ~/.kube/config;
	 * when these say nothing, the service account of the pod that this runs in. */
	const char *kubeconfig;
	const char *context;    /**< Context to use; NULL: current-context. */
	const char *cluster;    /**< Cluster entry to use; NULL: the context's. */
	const char *user;       /**< User entry to use; NULL: the context's. */
	const char *namespace_; /**< Overrides the context's namespace. */
	/** URL of the API server; drops the entry's tls-server-name. */
	const char *server;
	/** Name for SNI and for checking the server's certificate. */
	const char *tls_server_name;
	const char *certificate_authority; /**< PEM file; clears insecure-skip-tls-verify. */
	const char *client_certificate;    /**< PEM file. */
	const char *client_key;            /**< PEM file. */
	const char *token;                 /**< Bearer token; copied into wiped memory. */
	const char *proxy_url;             /**< http:// or https:// proxy. */
	const char *as_user;               /**< User to impersonate. */
	const char *as_uid;                /**< UID to impersonate; needs `as`. */
	const char *const *as_groups;      /**< Groups to impersonate; needs `as`. */
	size_t as_groups_count;            /**< How many. */
	/** 1: do not check the server's certificate; clears the CA. */
	int32_t insecure_skip_tls_verify;
	/** 1: the service account of the pod and nothing else. */
	int32_t in_cluster;
	/** 1: an exec plugin may read this process' standard input. */
	int32_t interactive;
	/** Commands of exec plugins that may run: as in the kubeconfig, or as found in `$PATH`, or
	 * a name that is found there as the same program. */
	const char *const *plugins;
	/** How many; 0 unless `plugin_policy` is `MPIJOB_HTTP_PLUGINS_LISTED`. */
	size_t plugins_count;
	/** `MPIJOB_HTTP_PLUGINS_*`: which exec plugins may run. The author of the kubeconfig
	 * chooses these programs. */
	int32_t plugin_policy;
};
#define MPIJOB_HTTP_CONFIG_OPTIONS_INIT { sizeof(struct mpijob_http_config_options), NULL, \
	NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, \
	0, 0, 0, NULL, 0, 0 }

/**
 * Find out which server to use, and as whom, by the rules of kubectl. Reads files and the
 * environment; starts nothing.
 *
 * @param options  NULL for the defaults; copied.
 * @param out      not NULL; the configuration, yours.
 * @param diag     findings with file, line and column, or NULL; all that is wrong at once.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no configuration anywhere, or no such context, cluster or
 *         user: the finding lists those that exist); `MPIJOB_ERR_SYNTAX`, `MPIJOB_ERR_SPEC` (a
 *         kubeconfig that is wrong); `MPIJOB_ERR_IO` (a file cannot be read);
 *         `MPIJOB_ERR_UNSUPPORTED` (an auth-provider, a SOCKS proxy; the size of `options`);
 *         `MPIJOB_ERR_USAGE` (options that contradict each other); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_http_config_load(const struct mpijob_http_config_options *options,
    mpijob_http_config **out, mpijob_diag *diag);

/** Free a configuration; its secrets are wiped. NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_http_config_free(mpijob_http_config *config);

/** Get the URL of the server, never NULL, borrowed. `config` not NULL. @since 0.1 */
MPIJOB_API const char *mpijob_http_config_server(const mpijob_http_config *config);

/** Get the namespace to work in: "default" when nothing says another; never NULL, borrowed.
 * `config` not NULL. @since 0.1 */
MPIJOB_API const char *mpijob_http_config_namespace(const mpijob_http_config *config);

/** Get the name of the context; NULL in a pod and when only `server` was given; borrowed. `config`
 * not NULL. @since 0.1 */
MPIJOB_API const char *mpijob_http_config_context(const mpijob_http_config *config);

/** Get the name of the user's entry, or "service account"; NULL: no user is configured; borrowed.
 * `config` not NULL. @since 0.1 */
MPIJOB_API const char *mpijob_http_config_user(const mpijob_http_config *config);

/** @} */
/** @name Talk to it
 * @{ */

/** The HTTP transport: HTTP/2 where the server has it, thousands of exchanges over few connections,
 * on one thread. */
typedef struct mpijob_http mpijob_http;

/** How the transport works. Times longer than 24 days are taken for 24 days. */
struct mpijob_http_options {
	size_t size;                /**< `sizeof` this struct. */
	const char *user_agent;     /**< NULL: "libmpijob/VERSION (linux/amd64)". */
	int64_t connect_timeout_ms; /**< For connection and TLS handshake; 0: 30,000. */
	/** For an exchange that does not stream and names no limit itself; 0: 60,000. The time in
	 * which a plugin that may read standard input runs does not count, for no exchange. */
	int64_t request_timeout_ms;
	/** A connection that owes an answer or has a stream and says nothing for so long is asked
	 * whether it lives (TCP), and broken off when it does not say so; 0: 45,000. */
	int64_t idle_timeout_ms;
	/** For one run of an exec credential plugin; 0: 60,000. One that may read standard input,
	 * since somebody logs in there, has 900,000 at least. */
	int64_t plugin_timeout_ms;
	/** Connections to the server at a time; 0: 8. A quarter of them is kept for what does not
	 * stream, unless there is only 1. Over HTTP/1.1 each stream has a connection of its own,
	 * which is not counted. */
	int32_t max_connections;
	int32_t http1; /**< 1: HTTP/1.1 only. */
	/** Called with findings that belong to no exchange: a token file that cannot be read any
	 * more. May be NULL. */
	void (*notice)(void *user, const struct mpijob_finding *finding);
	void *notice_user; /**< Passed to `notice`. */
};
#define MPIJOB_HTTP_OPTIONS_INIT { sizeof(struct mpijob_http_options), NULL, 0, 0, 0, 0, 0, 0, \
	NULL, NULL }

/**
 * Make a transport to a server. Nothing is sent and nothing is run before the first exchange.
 *
 * @param config     not NULL; what is needed is copied.
 * @param options    NULL for the defaults; copied.
 * @param transport  not NULL; `size` set; filled.
 * @param out        not NULL; set to the `self` for mpijob_client_new(), which takes it. Without a
 *                   client, free it with the transport's `destroy`.
 * @param diag       findings, or NULL.
 * @return 0; `MPIJOB_ERR_SPEC` (an invalid certificate or key); `MPIJOB_ERR_IO` (no descriptor
 *         is left); `MPIJOB_ERR_UNSUPPORTED` (libcurl lacks what is needed; sizes);
 *         `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_NOMEM`.
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
