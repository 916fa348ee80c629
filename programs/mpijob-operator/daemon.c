/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of the daemon: what is begun in which order, the one loop that drives everything, and the end.
 */
#include "daemon.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include <mpijob/mpijob.h>
#include <mpijob/operator.h>

#include "connect.h"
#include "log.h"

struct daemon {
	const struct settings *settings;
	mpijob_client *client;
	mpijob_operator *operator_;
	int asked, known; /* about the kind MPIJob */
};

static volatile sig_atomic_t signals; /* that asked for an end */
static mpijob_client *signalled;

static void on_end(int number)
{
	(void)number;
	signals++;
	if (signalled)
		mpijob_client_wake(signalled);
}

static void catch_signals(mpijob_client *client)
{
	struct sigaction action = { 0 };

	signalled = client;
	action.sa_handler = on_end;
	action.sa_flags = SA_RESTART;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void told(void *user, int known)
{
	struct daemon *daemon = user;

	daemon->asked = 1;
	daemon->known = known;
}

static int is_known(struct daemon *daemon)
{
	int code = connect_ask_kind(daemon->client, daemon->settings->namespace_, told, daemon);

	while (code == 0 && !daemon->asked && !signals)
		code = mpijob_client_poll(daemon->client, -1);
	if (daemon->asked && !daemon->known)
		log_line(MPIJOB_SEVERITY_ERROR, "the CRD doesn't exist: the server does not know MPIJobs of kubeflow.org/v2beta1; exiting");
	return code == 0 && (signals || daemon->known);
}

static int make_operator(struct daemon *daemon)
{
	const struct settings *settings = daemon->settings;
	struct mpijob_operator_options options = MPIJOB_OPERATOR_OPTIONS_INIT;
	struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();

	render.cluster_domain = settings->cluster_domain;
	render.gang_scheduler = settings->gang_scheduling;
	options.namespace_ = settings->namespace_ && *settings->namespace_ ? settings->namespace_ : NULL;
	options.render = &render;
	options.max_writes = (int32_t)settings->max_writes;
	options.log = log_finding;
	int code = diag ? mpijob_operator_new(daemon->client, &options, &daemon->operator_, diag) : MPIJOB_ERR_NOMEM;
	log_findings(diag);
	mpijob_diag_free(diag);
	return code;
}

static int work(struct daemon *daemon)
{
	int code = 0;

	while (!signals) {
		code = mpijob_operator_step(daemon->operator_, -1);
		if (code && code != MPIJOB_ERR_NOMEM)
			break;
	}
	return signals ? 0 : code;
}

static void tell_settings(const struct settings *settings)
{
	log_line(MPIJOB_SEVERITY_INFO, "mpijob-operator %s", mpijob_version());
	if (settings->namespace_ && *settings->namespace_)
		log_line(MPIJOB_SEVERITY_INFO, "for the namespace %s", settings->namespace_);
	else
		log_line(MPIJOB_SEVERITY_INFO, "for all namespaces");
	for (size_t i = 0; i < settings->ignored_count; i++)
		log_line(MPIJOB_SEVERITY_INFO, "the flag %s has no effect any more", settings->ignored[i]);
}

int daemon_run(const struct settings *settings)
{
	struct daemon daemon = { .settings = settings };
	int code;

	tell_settings(settings);
	code = connect_open(settings, &daemon.client);
	if (code)
		return 1;
	catch_signals(daemon.client);
	if (!is_known(&daemon))
		code = MPIJOB_ERR_NOT_FOUND;
	if (code == 0)
		code = make_operator(&daemon);
	if (code == 0)
		code = work(&daemon);
	if (code && code != MPIJOB_ERR_NOT_FOUND)
		log_line(MPIJOB_SEVERITY_ERROR, "cannot go on: %s", mpijob_error_text(code));
	mpijob_operator_free(daemon.operator_);
	signalled = NULL;
	mpijob_client_free(daemon.client);
	return code ? 1 : 0;
}
