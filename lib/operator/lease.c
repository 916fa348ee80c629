/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leader election by a Lease, as client-go's leaderelection does it.
 *
 * An attempt: if we hold a valid Lease, PUT; if that fails, or we do not hold it, GET, then PUT or
 * POST. A candidate makes an attempt every retry_ms times 1 to 2.2. The leader makes one every
 * retry_ms; if none succeeds for renew_ms after the first one was due, it becomes a candidate.
 * Times of the Lease are never compared with the local clock: a Lease of another holder counts from
 * when it was first observed, ours from when the write began.
 */
#include "operator/lease.h"

#include "base/clock.h"
#include "base/struct.h"

#include <stdlib.h>
#include <string.h>

#define LEASE_MS       15000
#define RENEW_MS       5000
#define RETRY_MS       3000
#define LEAST_LIMIT_MS 1000

/* ---- timers ---- */

static void attempt(mpijob_lease *lease);
static void give_up(mpijob_lease *lease);

static void set_timers(mpijob_lease *lease, int64_t next_ms, int64_t deadline_ms)
{
	lease->next_ms = next_ms;
	lease->deadline_ms = deadline_ms;
	mpijob_timer_set(lease->timer, next_ms < deadline_ms ? next_ms : deadline_ms);
}

static void timer_fired(void *user)
{
	mpijob_lease *lease = user;
	int64_t now_ms = lease->clock();

	if (lease->deadline_ms <= now_ms) {
		set_timers(lease, lease->next_ms, INT64_MAX);
		give_up(lease);
	}
	if (lease->next_ms <= now_ms) {
		set_timers(lease, INT64_MAX, lease->deadline_ms);
		attempt(lease);
	}
}

/* ---- make and free ---- */

uint64_t mpijob__operator_lease_random(mpijob_lease *lease)
{
	/* The upper bits of a linear congruential generator: good enough to spread. */
	lease->random =
	    lease->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return lease->random >> 20;
}

static int check_times(struct mpijob_lease_options *options)
{
	options->lease_ms = options->lease_ms ? options->lease_ms : LEASE_MS;
	options->renew_ms = options->renew_ms ? options->renew_ms : RENEW_MS;
	options->retry_ms = options->retry_ms ? options->retry_ms : RETRY_MS;
	if (options->retry_ms < 0 || options->lease_ms < 1000 || options->lease_ms % 1000 != 0 ||
	    options->lease_ms <= options->renew_ms ||
	    options->renew_ms <= options->retry_ms * INT64_C(12) / 10)
		return MPIJOB_ERR_USAGE;
	return 0;
}

static int check_options(struct mpijob_lease_options *options)
{
	if (!options->namespace_ || !*options->namespace_ || !options->name || !*options->name ||
	    !options->identity || !*options->identity)
		return MPIJOB_ERR_USAGE;
	return check_times(options);
}

static void destroy(mpijob_lease *lease)
{
	mpijob_timer_free(lease->timer);
	mpijob_doc_free(lease->doc);
	mpijob__base_text_release(&lease->observed);
	free(lease->holder);
	free(lease->namespace_);
	free(lease->name);
	free(lease->identity);
	free(lease->component);
	free(lease);
}

static int copy_options(mpijob_lease *lease, const struct mpijob_lease_options *options)
{
	lease->options = *options;
	lease->namespace_ = strdup(options->namespace_);
	lease->name = strdup(options->name);
	lease->identity = strdup(options->identity);
	lease->component = options->component ? strdup(options->component) : NULL;
	lease->holder = strdup("");
	return lease->namespace_ && lease->name && lease->identity && lease->holder &&
		       (lease->component || !options->component)
		   ? 0
		   : MPIJOB_ERR_NOMEM;
}

int mpijob_lease_new(mpijob_client *client, const struct mpijob_lease_options *options,
    mpijob_lease **out)
{
	struct mpijob_lease_options known;
	mpijob_lease *lease;
	int rc = client && options && out
		     ? mpijob__base_struct_check(&known, sizeof(known), options)
		     : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = check_options(&known);
	if (rc)
		return rc;
	lease = calloc(1, sizeof(*lease));
	if (!lease)
		return MPIJOB_ERR_NOMEM;
	if (copy_options(lease, &known) ||
	    mpijob_timer_new(client, timer_fired, lease, &lease->timer)) {
		destroy(lease);
		return MPIJOB_ERR_NOMEM;
	}
	lease->client = client;
	lease->clock = mpijob__base_clock_monotonic_ms;
	lease->random = known.seed;
	lease->asleep = mpijob__base_clock_suspended_ms;
	for (int i = 0; i < MPIJOB__OPERATOR_LEASE_EVENTS; i++)
		lease->events[i].lease = lease;
	set_timers(lease, INT64_MIN, INT64_MAX);
	*out = lease;
	return 0;
}

static void cancel(mpijob_lease *lease)
{
	if (lease->call)
		mpijob_call_cancel(lease->call);
	lease->call = NULL;
	lease->request = MPIJOB__OPERATOR_LEASE_NONE;
}

void mpijob_lease_free(mpijob_lease *lease)
{
	if (!lease)
		return;
	cancel(lease);
	for (int i = 0; i < MPIJOB__OPERATOR_LEASE_EVENTS; i++)
		if (lease->events[i].call)
			mpijob_call_cancel(lease->events[i].call);
	destroy(lease);
}

/* ---- state ---- */

int mpijob__operator_lease_is_ours(const mpijob_lease *lease)
{
	return lease->doc && strcmp(lease->holder, lease->identity) == 0;
}

/* Only by the local monotonic clock. */
static int is_valid(const mpijob_lease *lease)
{
	return lease->doc && lease->clock() < lease->observed_ms + lease->holds_ms;
}

int mpijob_lease_leading(const mpijob_lease *lease)
{
	int64_t slept_ms; /* the Lease also expires while this machine is suspended */

	if (!lease)
		return 0;
	slept_ms = lease->asleep() - lease->renewed_asleep_ms;
	return lease->leading && mpijob__operator_lease_is_ours(lease) &&
	       lease->clock() + (slept_ms > 0 ? slept_ms : 0) <
		   lease->renewed_ms + lease->options.lease_ms;
}

const char *mpijob_lease_holder(const mpijob_lease *lease)
{
	return lease ? lease->holder : NULL;
}

int mpijob_lease_healthy(const mpijob_lease *lease, int64_t tolerance_ms)
{
	return lease && (!lease->leading || lease->clock() - lease->renewed_ms <=
						lease->options.lease_ms + tolerance_ms);
}

/* ---- callbacks ---- */

static void report_change(mpijob_lease *lease)
{
	if (lease->options.changed)
		lease->options.changed(lease->options.user, lease->leading, lease->holder);
}

static void log_failure(mpijob_lease *lease, const char *what, int code, int status,
    const char *message)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	mpijob_text text = { 0 };

	if (!lease->options.log || (lease->logged_code == code && lease->logged_status == status))
		return;
	lease->logged_code = code;
	lease->logged_status = status;
	finding.severity = MPIJOB_SEVERITY_WARNING;
	finding.id = "lease-failed";
	finding.message = mpijob_error_text(MPIJOB_ERR_NOMEM);
	if (mpijob__base_text_printf(&text, "cannot %s the Lease %s/%s: %s", what,
		lease->namespace_, lease->name, message ? message : mpijob_error_text(code)) == 0)
		finding.message = mpijob_text_data(&text);
	lease->options.log(lease->options.user, &finding);
	mpijob__base_text_release(&text);
}

/* ---- requests ---- */

static const char *word_of(enum mpijob__operator_lease_request request)
{
	switch (request) {
	case MPIJOB__OPERATOR_LEASE_GET: return "read";
	case MPIJOB__OPERATOR_LEASE_POST: return "create";
	case MPIJOB__OPERATOR_LEASE_RELEASE: return "release";
	default: return "take or renew";
	}
}

static void answered(void *user, const struct mpijob_answer *answer);

static int send(mpijob_lease *lease, enum mpijob__operator_lease_request number)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, answered, lease };
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_text body = { 0 };
	int rc = 0;

	target.api_version = MPIJOB__OPERATOR_LEASE_API_VERSION;
	target.kind = "Lease";
	target.namespace_ = lease->namespace_;
	target.name = number == MPIJOB__OPERATOR_LEASE_POST ? NULL : lease->name;
	if (number != MPIJOB__OPERATOR_LEASE_GET)
		rc = mpijob__operator_lease_write(lease, number == MPIJOB__OPERATOR_LEASE_RELEASE,
		    &body);
	if (rc == 0) {
		request.method = number == MPIJOB__OPERATOR_LEASE_GET    ? "GET"
				 : number == MPIJOB__OPERATOR_LEASE_POST ? "POST"
									 : "PUT";
		request.target = &target;
		request.once = request.urgent = 1;
		if (body.len) {
			request.content_type = "application/json";
			request.body = mpijob_text_data(&body);
			request.body_len = body.len;
		}
		request.timeout_ms = lease->options.renew_ms / 2;
		if (request.timeout_ms < LEAST_LIMIT_MS)
			request.timeout_ms = LEAST_LIMIT_MS;
		lease->request = number;
		lease->written_ms = lease->clock();
		lease->asleep_ms = lease->asleep();
		rc = mpijob_client_start(lease->client, &request, &callbacks, &lease->call);
	}
	mpijob__base_text_release(&body);
	if (rc) {
		lease->request = MPIJOB__OPERATOR_LEASE_NONE;
		log_failure(lease, word_of(number), rc, 0, NULL);
	}
	return rc;
}

/* ---- candidate and leader ---- */

static void stop_leading(mpijob_lease *lease)
{
	if (!lease->leading)
		return;
	lease->leading = 0;
	mpijob__operator_lease_send_event(lease, MPIJOB__OPERATOR_LEASE_STOPPED);
	report_change(lease);
}

/* The attempt has failed. The deadline for renewing does not change. */
static void try_later(mpijob_lease *lease)
{
	int64_t now_ms = lease->clock(), retry_ms = lease->options.retry_ms, due_ms;

	if (lease->leading)
		due_ms = lease->begun_ms + retry_ms;
	else
		due_ms = now_ms + retry_ms +
			 (int64_t)(mpijob__operator_lease_random(lease) %
				   (uint64_t)(retry_ms * 12 / 10 + 1));
	set_timers(lease, due_ms > now_ms ? due_ms : now_ms, lease->deadline_ms);
}

/* We hold the Lease from the time at which the write began. */
static void succeed(mpijob_lease *lease)
{
	int64_t next_ms = lease->clock() + lease->options.retry_ms;

	lease->logged_code = lease->logged_status = 0;
	lease->renewed_ms = lease->written_ms;
	lease->renewed_asleep_ms = lease->asleep_ms;
	set_timers(lease, next_ms, next_ms + lease->options.renew_ms);
	if (lease->leading)
		return;
	lease->leading = 1;
	mpijob__operator_lease_send_event(lease, MPIJOB__OPERATOR_LEASE_LEADS);
	report_change(lease);
}

/* Another candidate holds a valid Lease. */
static void stand_by(mpijob_lease *lease)
{
	lease->logged_code = lease->logged_status = 0;
	if (lease->leading) { /* another candidate took it */
		lease->deadline_ms = INT64_MAX;
		stop_leading(lease);
	}
	try_later(lease);
}

/* Send a request of the attempt, or fail the attempt. */
static void continue_with(mpijob_lease *lease, enum mpijob__operator_lease_request request)
{
	if (send(lease, request))
		try_later(lease);
}

static void attempt(mpijob_lease *lease)
{
	if (lease->call || lease->released)
		return;
	lease->begun_ms = lease->clock();
	continue_with(lease, mpijob__operator_lease_is_ours(lease) && is_valid(lease)
				 ? MPIJOB__OPERATOR_LEASE_FAST_PUT
				 : MPIJOB__OPERATOR_LEASE_GET);
}

static void give_up(mpijob_lease *lease)
{
	cancel(lease);
	if (lease->released)
		return;
	stop_leading(lease);
	try_later(lease);
}

static void was_read(mpijob_lease *lease, const struct mpijob_answer *answer)
{
	char *before;
	int rc;

	if (answer->code == MPIJOB_ERR_NOT_FOUND && answer->status == 404) {
		mpijob_doc_free(lease->doc);
		lease->doc = NULL;
		continue_with(lease, MPIJOB__OPERATOR_LEASE_POST);
		return;
	}
	before = answer->code ? NULL : strdup(lease->holder);
	rc = answer->code ? answer->code
	     : before     ? mpijob__operator_lease_store(lease, answer, lease->clock(), 0)
			  : MPIJOB_ERR_NOMEM;
	if (rc) {
		log_failure(lease, "read", rc, answer->status, answer->message);
		try_later(lease);
	} else if (*lease->holder && is_valid(lease) && !mpijob__operator_lease_is_ours(lease)) {
		int another = strcmp(before, lease->holder) != 0 && !lease->leading;

		stand_by(lease);
		if (another)
			report_change(lease);
	} else {
		continue_with(lease, MPIJOB__OPERATOR_LEASE_PUT);
	}
	free(before);
}

static void was_written(mpijob_lease *lease, enum mpijob__operator_lease_request request,
    const struct mpijob_answer *answer)
{
	int rc = answer->code ? answer->code
			      : mpijob__operator_lease_store(lease, answer, lease->written_ms, 1);

	if (rc == 0 && mpijob__operator_lease_is_ours(lease)) {
		succeed(lease);
		return;
	}
	/* It is not a failure if another candidate was faster. */
	if (rc != MPIJOB_ERR_CONFLICT)
		log_failure(lease, word_of(request), rc ? rc : MPIJOB_ERR_SYNTAX, answer->status,
		    answer->message);
	if (request == MPIJOB__OPERATOR_LEASE_FAST_PUT)
		continue_with(lease, MPIJOB__OPERATOR_LEASE_GET);
	else
		try_later(lease);
}

/* ---- release ---- */

static void release_answered(mpijob_lease *lease, enum mpijob__operator_lease_request request,
    const struct mpijob_answer *answer)
{
	int rc = answer->code;

	if (request == MPIJOB__OPERATOR_LEASE_RELEASE && rc == MPIJOB_ERR_CONFLICT) {
		rc = send(lease, MPIJOB__OPERATOR_LEASE_GET);
	} else if (request == MPIJOB__OPERATOR_LEASE_GET && rc == 0) {
		rc = mpijob__operator_lease_store(lease, answer, lease->clock(), 0);
		if (rc == 0 && mpijob__operator_lease_is_ours(lease))
			rc = send(lease, MPIJOB__OPERATOR_LEASE_RELEASE);
	} else if (request == MPIJOB__OPERATOR_LEASE_RELEASE && rc == 0) {
		(void)mpijob__operator_lease_store(lease, answer, lease->clock(), 0);
	}
	if (rc && rc != MPIJOB_ERR_NOT_FOUND)
		log_failure(lease, "release", rc, answer->status, answer->message);
	if (!lease->call)
		set_timers(lease, INT64_MAX, INT64_MAX);
}

void mpijob_lease_release(mpijob_lease *lease)
{
	/* a write in flight may still reach the server */
	int unknown = lease && lease->call && lease->request != MPIJOB__OPERATOR_LEASE_GET;

	if (!lease || lease->released)
		return;
	lease->released = 1;
	cancel(lease);
	set_timers(lease, INT64_MAX, lease->clock() + lease->options.renew_ms);
	if (unknown)
		(void)send(lease, MPIJOB__OPERATOR_LEASE_GET);
	else if (mpijob__operator_lease_is_ours(lease))
		(void)send(lease, MPIJOB__OPERATOR_LEASE_RELEASE);
	if (!lease->call)
		set_timers(lease, INT64_MAX, INT64_MAX);
	stop_leading(lease);
}

int mpijob_lease_busy(const mpijob_lease *lease)
{
	int events = 0;

	if (!lease)
		return 0;
	for (int i = 0; i < MPIJOB__OPERATOR_LEASE_EVENTS; i++)
		events |= lease->events[i].waiting || lease->events[i].call;
	return events || (lease->released && lease->call);
}

static void answered(void *user, const struct mpijob_answer *answer)
{
	mpijob_lease *lease = user;
	enum mpijob__operator_lease_request request = lease->request;

	lease->call = NULL;
	lease->request = MPIJOB__OPERATOR_LEASE_NONE;
	if (lease->released)
		release_answered(lease, request, answer);
	else if (request == MPIJOB__OPERATOR_LEASE_GET)
		was_read(lease, answer);
	else
		was_written(lease, request, answer);
}
