/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon: the order of the start, the event loop, and the shutdown.
 *
 * The shutdown has stages: stop leading; wait for requests in flight, at most for the grace period;
 * release the Lease, unless a write may still be in flight; exit.
 */
#include "daemon.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <mpijob/lease.h>
#include <mpijob/mpijob.h>
#include <mpijob/operator.h>

#include "address.h"
#include "base/clock.h"
#include "connect.h"
#include "election.h"
#include "log.h"
#include "pages.h"
#include "state.h"

#define NOMEM_PAUSE_MS 100
#define RESOLV_CONF    "/etc/resolv.conf"
#define RELEASE_MS     5000 /* time to release the Lease and to send its Event */
#define IDLE_MS        1000 /* after this time without work free memory is returned to the system */
/* larger allocations are mapped separately, so that they do not fragment the heap */
#define MAPPED_BYTES 32768

enum stage { STAGE_CHECKING_KIND, STAGE_WORKING, STAGE_DRAINING, STAGE_RELEASING, STAGE_DONE };

struct daemon {
	struct state state;
	enum stage stage;
	int64_t deadline_ms;           /* end of the stage; INT64_MAX: none */
	int kind_checked, kind_exists; /* whether the server has the kind MPIJob */
	int pause;                     /* memory ran out: wait NOMEM_PAUSE_MS */
	int trimmed;                   /* free memory was returned since the last work */
};

static volatile sig_atomic_t terminations; /* SIGTERM and SIGINT */
static volatile sig_atomic_t hangups;      /* SIGHUP */
static int signal_fd = -1;

/* ---- signals ---- */

static void on_terminate(int number)
{
	static const uint64_t one = 1;
	int saved = errno;

	(void)number;
	if (++terminations > 1)
		_exit(1); /* the second signal ends at once */
	(void)!write(signal_fd, &one, sizeof(one));
	errno = saved;
}

static void on_hangup(int number)
{
	static const uint64_t one = 1;
	int saved = errno;

	(void)number;
	hangups++;
	(void)!write(signal_fd, &one, sizeof(one));
	errno = saved;
}

static int catch_signals(void)
{
	struct sigaction action = { 0 };

	signal_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (signal_fd < 0)
		return MPIJOB_ERR_IO;
	action.sa_handler = on_terminate;
	action.sa_flags = SA_RESTART;
	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGINT, &action, NULL);
	action.sa_handler = on_hangup;
	(void)sigaction(SIGHUP, &action, NULL);
	action.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &action, NULL);
	return 0;
}

/* ---- begin ---- */

static int start_servers(struct state *state)
{
	const struct settings *settings = state->settings;
	const char *address = settings->monitoring_address ? settings->monitoring_address : "";
	int fd;

	if (settings->health_address && *settings->health_address) {
		fd = address_listen(settings->health_address, 0, "health checks");
		state->health = fd < 0 ? NULL : server_new(fd, health_pages, state);
		if (!state->health)
			return MPIJOB_ERR_IO;
	}
	if (settings->monitoring_port || address_has_port(address)) {
		fd = address_listen(address, settings->monitoring_port, "metrics");
		state->monitoring = fd < 0 ? NULL : server_new(fd, monitoring_pages, state);
		if (!state->monitoring)
			return MPIJOB_ERR_IO;
	}
	return 0;
}

static void on_kind(void *user, int kind_exists)
{
	struct daemon *daemon = user;

	daemon->kind_checked = 1;
	daemon->kind_exists = kind_exists;
}

static int make_operator(struct state *state)
{
	const struct settings *settings = state->settings;
	struct mpijob_operator_options options = MPIJOB_OPERATOR_OPTIONS_INIT;
	struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();

	render.cluster_domain = settings->cluster_domain;
	render.gang_scheduler = settings->gang_scheduling;
	render.features = &settings->features;
	options.namespace_ =
	    settings->namespace_ && *settings->namespace_ ? settings->namespace_ : NULL;
	options.render = &render;
	options.max_writes = (int32_t)settings->max_writes;
	options.log = log_finding;
	options.log_actions = state->settings->verbosity >= 4;
	options.shadow = (int32_t)settings->shadow;
	options.standby = 1;
	options.launcher_hold_ms = settings->launcher_hold_ms;
	if (settings->launcher_hold_ms && !settings->shadow)
		state->names = names_new(RESOLV_CONF, settings->cluster_domain);
	options.resolve = state->names ? names_resolve : NULL;
	options.resolve_user = state->names;
	int rc = diag ? mpijob_operator_new(state->client, &options, &state->operator_, diag)
		      : MPIJOB_ERR_NOMEM;
	log_findings(diag);
	mpijob_diag_free(diag);
	return rc ? rc : configuration_apply(&state->configuration, state->operator_);
}

static void log_settings(const struct settings *settings)
{
	log_line(MPIJOB_SEVERITY_INFO, "mpijob-operator %s", mpijob_version());
	if (settings->namespace_ && *settings->namespace_)
		log_line(MPIJOB_SEVERITY_INFO, "for the namespace %s", settings->namespace_);
	else
		log_line(MPIJOB_SEVERITY_INFO, "for all namespaces");
	if (settings->shadow)
		log_line(MPIJOB_SEVERITY_INFO,
		    "as a shadow: every job is planned, nothing is executed");
	else if (!settings->leader_elect)
		log_line(MPIJOB_SEVERITY_WARNING,
		    "without leader election: nothing prevents another operator from leading, too");
	if (settings->burst != NOT_GIVEN && settings->qps == NOT_GIVEN)
		log_line(MPIJOB_SEVERITY_INFO,
		    "the flag --kube-api-burst has no effect without --kube-api-qps");
	for (size_t i = 0; i < settings->ignored_count; i++)
		log_line(MPIJOB_SEVERITY_INFO, "the flag %s has no effect", settings->ignored[i]);
}

/* ---- stages ---- */

static int start_work(struct daemon *daemon)
{
	if (!daemon->kind_exists) {
		log_line(MPIJOB_SEVERITY_ERROR, "the CRD doesn't exist: the server does not know "
						"MPIJobs of kubeflow.org/v2beta1");
		return MPIJOB_ERR_NOT_FOUND;
	}
	daemon->stage = STAGE_WORKING;
	int rc = make_operator(&daemon->state);
	return rc ? rc : election_begin(&daemon->state);
}

static void start_shutdown(struct daemon *daemon)
{
	daemon->state.stopping = 1;
	log_line(MPIJOB_SEVERITY_INFO, "stopping");
	if (daemon->stage != STAGE_WORKING) {
		daemon->stage = STAGE_DONE;
		return;
	}
	daemon->stage = STAGE_DRAINING;
	daemon->deadline_ms = mpijob__base_clock_monotonic_ms() + daemon->state.settings->grace_ms;
}

static void end_drain(struct daemon *daemon, size_t busy)
{
	if (busy)
		log_line(MPIJOB_SEVERITY_WARNING,
		    "%zu requests are still in flight at the end of the grace period%s", busy,
		    daemon->state.lease ? "; the Lease is kept until it expires" : "");
	if (!daemon->state.lease || busy) {
		daemon->stage = STAGE_DONE;
		return;
	}
	daemon->stage = STAGE_RELEASING;
	daemon->deadline_ms = mpijob__base_clock_monotonic_ms() + RELEASE_MS;
	mpijob_lease_release(daemon->state.lease);
}

/* Handle signals, and enter the next stage when the current one is finished. 0, or the error that
 * ends the daemon. */
static int advance(struct daemon *daemon)
{
	struct state *state = &daemon->state;
	size_t busy;

	if (terminations && !state->stopping)
		start_shutdown(daemon);
	if (hangups) {
		hangups = 0;
		configuration_reload(&state->configuration, 1);
	}
	switch (daemon->stage) {
	case STAGE_CHECKING_KIND: return daemon->kind_checked ? start_work(daemon) : 0;
	case STAGE_DRAINING:
		busy = mpijob_operator_busy(state->operator_);
		if (busy == 0 || mpijob__base_clock_monotonic_ms() >= daemon->deadline_ms)
			end_drain(daemon, busy);
		return 0;
	case STAGE_RELEASING:
		if (!mpijob_lease_busy(state->lease) ||
		    mpijob__base_clock_monotonic_ms() >= daemon->deadline_ms)
			daemon->stage = STAGE_DONE;
		return 0;
	default: return 0;
	}
}

/* ---- the loop ---- */

/* Pass the current role to the operator when it changes. */
static void update_role(struct state *state)
{
	int part = election_part(state);

	if (part == state->part)
		return;
	state->part = part;
	mpijob_operator_act(state->operator_, part);
}

/* 0, or the error that ends the daemon. */
static int step(struct daemon *daemon)
{
	struct state *state = &daemon->state;
	int rc;

	if (state->operator_) {
		update_role(state);
		rc = mpijob_operator_step(state->operator_, 0);
		update_role(state);
	} else {
		rc = mpijob_client_poll(state->client, 0);
	}
	daemon->pause = rc == MPIJOB_ERR_NOMEM;
	return daemon->pause ? 0 : rc;
}

static void earlier(int64_t *when, int64_t other)
{
	if (other >= 0 && other < *when)
		*when = other;
}

/* Indices of the polled descriptors. */
enum { FD_SIGNAL, FD_CONFIGURATION, FD_HEALTH, FD_MONITORING, FD_CLIENT, FD_COUNT };

static void run_server(struct server *server, const struct pollfd *fd, int64_t due_ms)
{
	if (server && (fd->revents || (due_ms >= 0 && due_ms <= mpijob__base_clock_monotonic_ms())))
		server_run(server);
}

/* poll(), and return free memory to the system after each burst of work. */
static int poll_and_trim(struct daemon *daemon, struct pollfd *fds, int64_t wait)
{
	int is_long = !daemon->trimmed && (wait < 0 || wait > IDLE_MS);
	int ready = poll(fds, FD_COUNT, is_long ? IDLE_MS : wait > INT_MAX ? INT_MAX : (int)wait);

	if (ready < 0)
		return errno == EINTR ? 0 : -1;
	if (ready > 0)
		daemon->trimmed = 0;
	if (ready == 0 && is_long) {
#ifdef __GLIBC__
		malloc_trim(0);
#endif
		daemon->trimmed = 1;
	}
	return ready;
}

/* poll() ignores negative descriptors. */
static int wait_for_events(struct daemon *daemon)
{
	struct state *state = &daemon->state;
	struct pollfd fds[FD_COUNT] = { { signal_fd, POLLIN, 0 },
		{ state->configuration.fd, POLLIN, 0 },
		{ state->health ? server_fd(state->health) : -1, POLLIN, 0 },
		{ state->monitoring ? server_fd(state->monitoring) : -1, POLLIN, 0 },
		{ -1, POLLIN, 0 } };
	int64_t health_ms = state->health ? server_due_ms(state->health) : -1;
	int64_t monitoring_ms = state->monitoring ? server_due_ms(state->monitoring) : -1;
	int64_t when = daemon->deadline_ms, due = -1;
	int fd = -1;
	int rc = state->operator_ ? mpijob_operator_interest(state->operator_, &fd, &due)
				  : mpijob_client_interest(state->client, &fd, &due);

	if (rc)
		return rc;
	fds[FD_CLIENT].fd = daemon->pause ? -1 : fd;
	earlier(&when, daemon->pause ? mpijob__base_clock_monotonic_ms() + NOMEM_PAUSE_MS : due);
	earlier(&when, health_ms);
	earlier(&when, monitoring_ms);
	int64_t wait = when == INT64_MAX ? -1 : when - mpijob__base_clock_monotonic_ms();
	if (when != INT64_MAX && wait < 0)
		wait = 0;
	if (poll_and_trim(daemon, fds, wait) < 0)
		return MPIJOB_ERR_IO;
	if (fds[FD_SIGNAL].revents) {
		uint64_t number;
		(void)!read(signal_fd, &number, sizeof(number));
	}
	if (fds[FD_CONFIGURATION].revents)
		configuration_reload(&state->configuration, 0);
	run_server(state->health, &fds[FD_HEALTH], health_ms);
	run_server(state->monitoring, &fds[FD_MONITORING], monitoring_ms);
	return 0;
}

static int work(struct daemon *daemon)
{
	int rc = connect_ask_kind(daemon->state.client, daemon->state.settings->namespace_, on_kind,
	    daemon);

	while (rc == 0) {
		rc = step(daemon);
		if (rc == 0)
			rc = advance(daemon);
		if (daemon->stage == STAGE_DONE)
			return rc;
		if (rc == 0)
			rc = wait_for_events(daemon);
	}
	return rc;
}

int daemon_run(const struct settings *settings)
{
	struct daemon daemon = { .state.settings = settings, .deadline_ms = INT64_MAX };
	struct state *state = &daemon.state;
	int rc;

#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
#endif
	log_settings(settings);
	rc = catch_signals();
	if (rc == 0)
		rc = configuration_begin(&state->configuration, settings->config);
	if (rc == 0)
		rc = start_servers(state);
	if (rc == 0)
		rc = connect_open(settings, &state->client);
	if (rc == 0) {
		rc = work(&daemon);
		if (rc && rc != MPIJOB_ERR_NOT_FOUND)
			log_line(MPIJOB_SEVERITY_ERROR, "cannot continue: %s",
			    mpijob_error_text(rc));
	}
	if (rc == 0)
		log_line(MPIJOB_SEVERITY_INFO, "done");
	server_free(state->health);
	server_free(state->monitoring);
	election_end(state);
	mpijob_operator_free(state->operator_);
	names_free(state->names);
	mpijob_client_free(state->client);
	configuration_end(&state->configuration);
	return rc ? 1 : 0;
}
