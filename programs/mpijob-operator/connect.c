/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the cluster, in mpi-operator's order and not in kubectl's: $KUBECONFIG, then the flags,
 * then the service account of the pod. Also the rate of requests, and which warnings of the server
 * are logged.
 */
#include "connect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <mpijob/http.h>
#include <mpijob/mpijob.h>

#include "base/api.h"
#include "log.h"

#define DEFAULT_QPS   5 /* client-go's default for 0 */
#define DEFAULT_BURST 10
#define POD_TOKEN     "/var/run/secrets/kubernetes.io/serviceaccount/token"

static const char *non_empty(const char *text)
{
	return text && *text ? text : NULL;
}

/* Whether this process runs in a pod with a service account. */
static int is_pod(void)
{
	return non_empty(getenv("KUBERNETES_SERVICE_HOST")) && access(POD_TOKEN, F_OK) == 0;
}

static void choose_cluster(const struct settings *settings,
    struct mpijob_http_config_options *options)
{
	if (!non_empty(getenv("KUBECONFIG"))) /* otherwise NULL: use $KUBECONFIG */
		options->kubeconfig = non_empty(settings->kubeconfig);
	options->server = non_empty(settings->master);
	if (!non_empty(getenv("KUBECONFIG")) && !options->kubeconfig)
		options->in_cluster = !options->server || is_pod();
}

/* Each write may return the same warning: log it once. */
static void on_warning(void *user, const char *text)
{
	static char last[256];

	(void)user;
	if (strncmp(last, text, sizeof(last) - 1) == 0)
		return;
	(void)snprintf(last, sizeof(last), "%s", text);
	log_line(MPIJOB_SEVERITY_WARNING, "the API server warns: %s", text);
}

static char *user_agent(void)
{
	struct utsname system;
	mpijob_text *text = mpijob_text_new();
	char *copy = NULL;

	if (text && uname(&system) == 0 && mpijob_text_write(text, "mpijob-operator/", 16) == 0 &&
	    mpijob_text_write(text, mpijob_version(), strlen(mpijob_version())) == 0 &&
	    mpijob_text_write(text, " (linux/", 8) == 0 &&
	    mpijob_text_write(text, system.machine, strlen(system.machine)) == 0 &&
	    mpijob_text_write(text, ")", 1) == 0)
		copy = strdup(mpijob_text_data(text));
	mpijob_text_free(text);
	return copy;
}

static int set_rate(const struct settings *settings, mpijob_client *client)
{
	struct mpijob_client_options options = MPIJOB_CLIENT_OPTIONS_INIT;

	options.warning = on_warning;
	if (settings->qps != NOT_GIVEN && settings->qps >= 0) {
		options.qps = (int32_t)(settings->qps ? settings->qps : DEFAULT_QPS);
		options.burst = (int32_t)(settings->burst > 0 ? settings->burst : DEFAULT_BURST);
	}
	return mpijob_client_set_options(client, &options);
}

static int make_client(const struct settings *settings, const mpijob_http_config *config,
    mpijob_client **out, mpijob_diag *diag)
{
	struct mpijob_http_options options = MPIJOB_HTTP_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	char *agent = user_agent();
	mpijob_http *http = NULL;
	mpijob_client *client = NULL;

	options.user_agent = agent;
	options.notice = log_finding;
	int rc =
	    agent ? mpijob_http_new(config, &options, &transport, &http, diag) : MPIJOB_ERR_NOMEM;
	free(agent);
	if (rc == 0)
		rc = mpijob_client_new(&transport, http, &client);
	if (rc == 0)
		rc = set_rate(settings, client);
	if (rc == 0)
		*out = client;
	else
		mpijob_client_free(client);
	return rc;
}

int connect_open(const struct settings *settings, mpijob_client **out)
{
	struct mpijob_http_config_options options = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	mpijob_http_config *config = NULL;
	mpijob_diag *diag = mpijob_diag_new();

	choose_cluster(settings, &options);
	int rc = diag ? mpijob_http_config_load(&options, &config, diag) : MPIJOB_ERR_NOMEM;
	if (rc == 0)
		rc = make_client(settings, config, out, diag);
	if (rc == 0)
		log_line(MPIJOB_SEVERITY_INFO, "the API server is %s",
		    mpijob_http_config_server(config));
	log_findings(diag);
	if (rc)
		log_line(MPIJOB_SEVERITY_ERROR, "no cluster: %s%s", mpijob_error_text(rc),
		    options.in_cluster ? "; outside a pod set --kubeConfig FILE or $KUBECONFIG"
				       : "");
	mpijob_http_config_free(config);
	mpijob_diag_free(diag);
	return rc;
}

/* ---- the kind ---- */

struct kind_query {
	void (*done)(void *user, int known);
	void *user;
};

static void on_kind_answer(void *user, const struct mpijob_answer *answer)
{
	struct kind_query kind_query = *(struct kind_query *)user;

	free(user);
	if (answer->code && answer->code != MPIJOB_ERR_NOT_FOUND)
		log_line(MPIJOB_SEVERITY_WARNING,
		    "cannot find out whether the server has the kind MPIJob: %s",
		    answer->message ? answer->message : mpijob_error_text(answer->code));
	kind_query.done(kind_query.user, answer->code != MPIJOB_ERR_NOT_FOUND);
}

int connect_ask_kind(mpijob_client *client, const char *namespace_,
    void (*done)(void *user, int known), void *user)
{
	static const char *const query[] = { "limit", "1" };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	struct kind_query *kind_query = malloc(sizeof(*kind_query));

	if (!kind_query)
		return MPIJOB_ERR_NOMEM;
	target.api_version = MPIJOB__BASE_API_VERSION;
	target.kind = MPIJOB__BASE_API_KIND;
	target.namespace_ = non_empty(namespace_);
	target.query = query;
	target.query_count = 2;
	*kind_query = (struct kind_query){ done, user };
	request.method = "GET";
	request.target = &target;
	callbacks.done = on_kind_answer;
	callbacks.user = kind_query;
	int rc = mpijob_client_start(client, &request, &callbacks, NULL);
	if (rc)
		free(kind_query);
	return rc;
}
