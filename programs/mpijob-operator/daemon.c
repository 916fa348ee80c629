/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of the daemon: the order of the start, the event loop, and the shutdown.
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
#define RELEASE_MS     5000 /* for the Lease, and the Event about it */
#define QUIET_MS       1000 /* without work: return free memory to the system */
/* large arrays are mapped separately, so that they leave no holes in the heap */
#define MAPPED_BYTES 32768

enum stage { STAGE_ASKING, STAGE_WORKING, STAGE_DRAINING, STAGE_RELEASING, STAGE_OVER };

struct life {
	struct state state;
	enum stage stage;
	int64_t deadline_ms; /* of the stage; INT64_MAX: none */
	int asked, known;    /* about the kind MPIJob */
	int pause;           /* memory ran out: wait a little */
	int tidy;            /* no work since free memory was returned */
};

static volatile sig_atomic_t ends;    /* signals that asked for the end */
static volatile sig_atomic_t hangups; /* signals that asked to read the configuration again */
static int alarm_fd = -1;

/* ---- signals ---- */

static void on_end(int number)
{
	static const uint64_t one = 1;
	int saved = errno;

	(void)number;
	if (++ends > 1)
		_exit(1); /* the second signal ends at once */
	(void)!write(alarm_fd, &one, sizeof(one));
	errno = saved;
}

static void on_hangup(int number)
{
	static const uint64_t one = 1;
	int saved = errno;

	(void)number;
	hangups++;
	(void)!write(alarm_fd, &one, sizeof(one));
	errno = saved;
}

static int catch_signals(void)
{
	struct sigaction action = { 0 };

	alarm_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (alarm_fd < 0)
		return MPIJOB_ERR_IO;
	action.sa_handler = on_end;
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

static int serve(struct state *state)
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

static void kind_known(void *user, int known)
{
	struct life *life = user;

	life->asked = 1;
	life->known = known;
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
	int code = diag ? mpijob_operator_new(state->client, &options, &state->operator_, diag)
			: MPIJOB_ERR_NOMEM;
	log_findings(diag);
	mpijob_diag_free(diag);
	return code ? code : configuration_apply(&state->configuration, state->operator_);
}

static void tell_settings(const struct settings *settings)
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

static int begin_work(struct life *life)
{
	if (!life->known) {
		log_line(MPIJOB_SEVERITY_ERROR, "the CRD doesn't exist: the server does not know "
						"MPIJobs of kubeflow.org/v2beta1");
		return MPIJOB_ERR_NOT_FOUND;
	}
	life->stage = STAGE_WORKING;
	int code = make_operator(&life->state);
	return code ? code : election_begin(&life->state);
}

static void begin_end(struct life *life)
{
	life->state.stopping = 1;
	log_line(MPIJOB_SEVERITY_INFO, "stopping");
	if (life->stage != STAGE_WORKING) {
		life->stage = STAGE_OVER;
		return;
	}
	life->stage = STAGE_DRAINING;
	life->deadline_ms = mpijob__base_clock_monotonic_ms() + life->state.settings->grace_ms;
}

static void end_drain(struct life *life, size_t busy)
{
	if (busy)
		log_line(MPIJOB_SEVERITY_WARNING,
		    "%zu requests are still in flight at the end of the grace period%s", busy,
		    life->state.lease ? "; the Lease is kept until it expires" : "");
	if (!life->state.lease || busy) {
		life->stage = STAGE_OVER;
		return;
	}
	life->stage = STAGE_RELEASING;
	life->deadline_ms = mpijob__base_clock_monotonic_ms() + RELEASE_MS;
	mpijob_lease_release(life->state.lease);
}

/* Enter the next stage when this one is over. 0, or why the daemon cannot continue. */
static int advance(struct life *life)
{
	struct state *state = &life->state;
	size_t busy;

	if (ends && !state->stopping)
		begin_end(life);
	if (hangups) {
		hangups = 0;
		configuration_look(&state->configuration, 1);
	}
	switch (life->stage) {
	case STAGE_ASKING: return life->asked ? begin_work(life) : 0;
	case STAGE_DRAINING:
		busy = mpijob_operator_busy(state->operator_);
		if (busy == 0 || mpijob__base_clock_monotonic_ms() >= life->deadline_ms)
			end_drain(life, busy);
		return 0;
	case STAGE_RELEASING:
		if (!mpijob_lease_busy(state->lease) ||
		    mpijob__base_clock_monotonic_ms() >= life->deadline_ms)
			life->stage = STAGE_OVER;
		return 0;
	default: return 0;
	}
}

/* ---- the loop ---- */

/* Set whether the operator leads, before its next step. */
static void tell_operator(struct state *state)
{
	int part = election_part(state);

	if (part == state->part)
		return;
	state->part = part;
	mpijob_operator_act(state->operator_, part);
}

/* 0, or why the daemon cannot continue. */
static int step(struct life *life)
{
	struct state *state = &life->state;
	int code;

	if (state->operator_) {
		tell_operator(state);
		code = mpijob_operator_step(state->operator_, 0);
		tell_operator(state);
	} else {
		code = mpijob_client_poll(state->client, 0);
	}
	life->pause = code == MPIJOB_ERR_NOMEM;
	return life->pause ? 0 : code;
}

static void sooner(int64_t *when, int64_t other)
{
	if (other >= 0 && other < *when)
		*when = other;
}

/* The descriptors to poll, by index: signals, the configuration's directory, two servers, the
 * client. */
enum { AT_ALARM, AT_CONFIGURATION, AT_HEALTH, AT_MONITORING, AT_CLIENT, PLACES };

static void serve_one(struct server *server, const struct pollfd *fd, int64_t due_ms)
{
	if (server && (fd->revents || (due_ms >= 0 && due_ms <= mpijob__base_clock_monotonic_ms())))
		server_run(server);
}

/* Work comes in bursts: return the memory after each. */
static int wait_quietly(struct life *life, struct pollfd *fds, int64_t wait)
{
	int is_long = !life->tidy && (wait < 0 || wait > QUIET_MS);
	int ready = poll(fds, PLACES, is_long ? QUIET_MS : wait > INT_MAX ? INT_MAX : (int)wait);

	if (ready < 0)
		return errno == EINTR ? 0 : -1;
	if (ready > 0)
		life->tidy = 0;
	if (ready == 0 && is_long) {
#ifdef __GLIBC__
		malloc_trim(0);
#endif
		life->tidy = 1;
	}
	return ready;
}

/* poll() ignores negative descriptors. */
static int wait_for_news(struct life *life)
{
	struct state *state = &life->state;
	struct pollfd fds[PLACES] = { { alarm_fd, POLLIN, 0 },
		{ state->configuration.fd, POLLIN, 0 },
		{ state->health ? server_fd(state->health) : -1, POLLIN, 0 },
		{ state->monitoring ? server_fd(state->monitoring) : -1, POLLIN, 0 },
		{ -1, POLLIN, 0 } };
	int64_t health_ms = state->health ? server_due_ms(state->health) : -1;
	int64_t monitoring_ms = state->monitoring ? server_due_ms(state->monitoring) : -1;
	int64_t when = life->deadline_ms, due = -1;
	int fd = -1;
	int code = state->operator_ ? mpijob_operator_interest(state->operator_, &fd, &due)
				    : mpijob_client_interest(state->client, &fd, &due);

	if (code)
		return code;
	fds[AT_CLIENT].fd = life->pause ? -1 : fd;
	sooner(&when, life->pause ? mpijob__base_clock_monotonic_ms() + NOMEM_PAUSE_MS : due);
	sooner(&when, health_ms);
	sooner(&when, monitoring_ms);
	int64_t wait = when == INT64_MAX ? -1 : when - mpijob__base_clock_monotonic_ms();
	if (when != INT64_MAX && wait < 0)
		wait = 0;
	if (wait_quietly(life, fds, wait) < 0)
		return MPIJOB_ERR_IO;
	if (fds[AT_ALARM].revents) {
		uint64_t number;
		(void)!read(alarm_fd, &number, sizeof(number));
	}
	if (fds[AT_CONFIGURATION].revents)
		configuration_look(&state->configuration, 0);
	serve_one(state->health, &fds[AT_HEALTH], health_ms);
	serve_one(state->monitoring, &fds[AT_MONITORING], monitoring_ms);
	return 0;
}

static int work(struct life *life)
{
	int code = connect_ask_kind(life->state.client, life->state.settings->namespace_,
	    kind_known, life);

	while (code == 0) {
		code = step(life);
		if (code == 0)
			code = advance(life);
		if (life->stage == STAGE_OVER)
			return code;
		if (code == 0)
			code = wait_for_news(life);
	}
	return code;
}

int daemon_run(const struct settings *settings)
{
	struct life life = { .state.settings = settings, .deadline_ms = INT64_MAX };
	struct state *state = &life.state;
	int code;

#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
#endif
	tell_settings(settings);
	code = catch_signals();
	if (code == 0)
		code = configuration_begin(&state->configuration, settings->config);
	if (code == 0)
		code = serve(state);
	if (code == 0)
		code = connect_open(settings, &state->client);
	if (code == 0) {
		code = work(&life);
		if (code && code != MPIJOB_ERR_NOT_FOUND)
			log_line(MPIJOB_SEVERITY_ERROR, "cannot continue: %s",
			    mpijob_error_text(code));
	}
	if (code == 0)
		log_line(MPIJOB_SEVERITY_INFO, "done");
	server_free(state->health);
	server_free(state->monitoring);
	election_end(state);
	mpijob_operator_free(state->operator_);
	names_free(state->names);
	mpijob_client_free(state->client);
	configuration_end(&state->configuration);
	return code ? 1 : 0;
}
