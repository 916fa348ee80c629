/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a transport is created and freed. mpijob_http_new() checks libcurl's features, the options,
 * the server's URL and inline certificates, and chooses a proxy. Only this file gives the transport
 * access to environment variables. curl_global_cleanup() is never called, because other code in the
 * process may use libcurl.
 */
#include "http/open.h"

#include "base/secret.h"
#include "base/struct.h"
#include "http/ca_bundle.h"
#include "http/easy.h"
#include "http/pool.h"
#include "http/proxy.h"
#include "http/report.h"
#include "http/tls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_options(const struct mpijob_http_options *given,
    struct mpijob_http_options *options)
{
	int rc = mpijob__base_struct_check(options, sizeof(*options), given);

	if (rc)
		return rc;
	if (options->connect_timeout_ms < 0 || options->request_timeout_ms < 0 ||
	    options->idle_timeout_ms < 0 || options->plugin_timeout_ms < 0 ||
	    options->max_connections < 0 || options->http1 >> 1)
		return MPIJOB_ERR_USAGE;
	return 0;
}

static int64_t timeout_or(int64_t given, int64_t default_ms)
{
	return given ? mpijob__http_transport_clamp_ms(given) : default_ms;
}

static void take_options(struct mpijob_http *http, const struct mpijob_http_options *options)
{
	http->connect_timeout_ms = timeout_or(options->connect_timeout_ms, 30000);
	http->request_timeout_ms = timeout_or(options->request_timeout_ms, 60000);
	http->idle_timeout_ms = timeout_or(options->idle_timeout_ms, 45000);
	http->max_connections = options->max_connections ? options->max_connections : 8;
	http->http1 = options->http1 || !http->config->tls;
	http->http1_applied = http->http1_detected = http->http1;
}

static const char *variable(const char *name)
{
	return getenv(name); /* returns char *, so the functions below cannot take it directly */
}

static void report_failure(struct mpijob__http_report *report, int code, const char *id,
    const char *message)
{
	if (code == MPIJOB_ERR_NOMEM)
		mpijob__http_report_nomem(report);
	else
		mpijob__http_report_add(report, code, id, NULL, NULL, "%s", message);
}

static void find_route(struct mpijob_http *http, struct mpijob__http_report *report)
{
	const char *why = NULL;
	int rc = mpijob__http_server_init(&http->server, http->config->server,
	    http->config->tls_server_name, &why);

	if (rc) {
		report_failure(report, rc, "config-value", why);
		return;
	}
	rc = mpijob__http_proxy_choose(http->config->proxy_url, &http->server, variable,
	    &http->proxy);
	if (rc) {
		report_failure(report, rc, "config-unsupported",
		    "the proxy in the environment is not supported; its URL must begin with "
		    "http:// or https://");
		return;
	}
	http->ca_bundle = mpijob__http_ca_bundle_file(variable);
	if (http->proxy)
		http->proxy_shown = mpijob__http_proxy_shown(http->proxy);
	if (http->server.connect)
		http->connect_to = curl_slist_append(NULL, http->server.connect);
	if ((http->proxy && !http->proxy_shown) || (http->server.connect && !http->connect_to))
		mpijob__http_report_nomem(report);
}

static void report_fault(struct mpijob__http_report *report, int error, const char *what,
    const char *fault)
{
	if (error == MPIJOB_ERR_NOMEM)
		mpijob__http_report_nomem(report);
	else if (error)
		mpijob__http_report_add(report, error, "config-value", NULL, NULL, "%s %s", what,
		    fault ? fault : "cannot be used");
}

/* Check inline certificates. Files are read and checked before the first request. */
static void check_certificates(const mpijob_http_config *config, struct mpijob__http_report *report)
{
	const mpijob__http_secret *ca = &config->ca.data;
	const char *fault = NULL;

	if (config->certificate.data.len && config->key.data.len)
		report_fault(report,
		    mpijob__http_tls_check_pair(&config->certificate.data, &config->key.data,
			&fault),
		    "the client certificate cannot be used:", fault);
	if (ca->len)
		report_fault(report, mpijob__http_tls_check_certificate(ca->data, ca->len, &fault),
		    "certificate-authority-data", fault);
}

static void open_parts(struct mpijob_http *http, const struct mpijob_http_options *options,
    struct mpijob__http_report *report)
{
	int rc = mpijob__http_request_headers_common(http->config, &http->server,
	    options->user_agent, &http->headers);

	if (rc) {
		report_failure(report, rc, "config-value",
		    "a name to impersonate, or user_agent, contains a control character");
		return;
	}
	rc = mpijob__http_credentials_new(http->config,
	    timeout_or(options->plugin_timeout_ms, 60000), options->notice, options->notice_user,
	    &http->credentials);
	if (rc)
		mpijob__http_report_nomem(report);
	else if (mpijob__http_transport_open_epoll(http))
		report_failure(report, MPIJOB_ERR_IO, "http-descriptor",
		    "no descriptor is left in this process or on this machine");
}

static int set_up(struct mpijob_http *http, const mpijob_http_config *config,
    const struct mpijob_http_options *options, mpijob_diag *diag)
{
	struct mpijob__http_report report = { diag, 0 };
	const char *lacking = mpijob__http_easy_missing_feature();

	if (lacking) {
		report_failure(&report, MPIJOB_ERR_UNSUPPORTED, "http-libcurl", lacking);
		return report.code;
	}
	http->config = mpijob__http_config_clone(config);
	/* easy.c requires a libcurl in which this is thread-safe and counted. */
	if (!http->config || curl_global_init(CURL_GLOBAL_DEFAULT))
		return MPIJOB_ERR_NOMEM;
	take_options(http, options);
	find_route(http, &report);
	check_certificates(config, &report);
	if (!report.code)
		open_parts(http, options, &report);
	return report.code;
}

void mpijob__http_open_free(struct mpijob_http *http)
{
	mpijob__http_pool_free_all(http);
	mpijob__http_credentials_free(http->credentials);
	curl_slist_free_all(http->headers);
	curl_slist_free_all(http->connect_to);
	mpijob__http_server_clear(&http->server);
	/* The URL of a proxy may contain a password. */
	if (http->proxy)
		mpijob__base_secret_wipe(http->proxy, strlen(http->proxy));
	free(http->proxy);
	free(http->proxy_shown);
	free(http->sockets);
	if (http->wake >= 0)
		close(http->wake);
	if (http->epoll >= 0)
		close(http->epoll);
	mpijob_http_config_free(http->config);
	free(http);
}

int mpijob_http_new(const mpijob_http_config *config, const struct mpijob_http_options *options,
    struct mpijob_transport *transport, mpijob_http **out, mpijob_diag *diag)
{
	struct mpijob_http_options known;
	struct mpijob_http *http;
	int rc = read_options(options, &known);

	if (rc)
		return rc;
	if (!config || !out || !transport || transport->size < sizeof(struct mpijob_transport))
		return MPIJOB_ERR_USAGE;
	http = calloc(1, sizeof(*http));
	if (!http)
		return MPIJOB_ERR_NOMEM;
	http->epoll = http->wake = http->plugin_fd = -1;
	mpijob__http_transport_init(http);
	rc = set_up(http, config, &known, diag);
	if (rc) {
		mpijob__http_open_free(http);
		return rc;
	}
	mpijob__http_transport_fill(transport);
	*out = http;
	return 0;
}
