/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of an operator, and the order of one step: start informers, reconcile, send Events,
 * poll.
 *
 * Only this file knows all parts, and the order in which they must be called. No request is sent
 * from a callback of a watch.
 */
#include "operator/operator.h"

#include "base/api.h"
#include "base/clock.h"
#include "base/dns.h"
#include "base/random.h"
#include "base/struct.h"
#include "operator/config.h"
#include "operator/reconcile.h"
#include "operator/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WRITES         16
#define STEP_US             20000
#define NOMEM_PAUSE_MS      100
#define SHADOW_GRACE_MS     10000
#define HOLD_MOST_MS        86400000 /* the limit of a plan */
#define RETRY_AFTER_MOST_MS 300000

void mpijob__operator_log(mpijob_operator *operator_, int32_t severity, const char *id,
    const char *format, ...)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	mpijob_text text = { 0 };
	va_list args;
	int rc;

	if (!operator_->options.log)
		return;
	va_start(args, format);
	rc = mpijob__base_text_vprintf(&text, format, args);
	va_end(args);
	finding.severity = severity;
	finding.id = id;
	finding.message = rc ? mpijob_error_text(rc) : mpijob_text_data(&text);
	operator_->options.log(operator_->options.log_user, &finding);
	mpijob__base_text_release(&text);
}

/* An overloaded server asks all requests to wait, not only those of one job. */
int64_t mpijob__operator_retry_after(mpijob_operator *operator_, const struct mpijob_answer *answer)
{
	int64_t wait = answer->retry_after_ms > RETRY_AFTER_MOST_MS ? RETRY_AFTER_MOST_MS
								    : answer->retry_after_ms;
	int64_t until_ms = mpijob__base_clock_monotonic_ms() + wait;

	if (wait > 0 && (answer->status == 429 || answer->status == 503) &&
	    operator_->hold_until_ms < until_ms)
		operator_->hold_until_ms = until_ms;
	return wait;
}

/* ---- create and free ---- */

static int copy_text(const char *from, char **to)
{
	if (!from || !*from)
		return 0;
	*to = strdup(from);
	return *to ? 0 : MPIJOB_ERR_NOMEM;
}

static int check_options(struct mpijob__operator_options *to,
    const struct mpijob_operator_options *options)
{
	struct mpijob_render_options *render = &to->render;
	int rc = mpijob__base_struct_check(render, sizeof(*render), options->render);

	if (rc == 0)
		rc = mpijob__operator_config_copy_features(render->features, &to->features);
	if (rc == 0 && render->reference)
		to->features = (struct mpijob_features)MPIJOB_FEATURES_INIT;
	if (rc == 0 &&
	    (options->max_writes < 0 || options->shadow_grace_ms < 0 ||
		options->launcher_hold_ms < 0 || options->launcher_hold_ms > HOLD_MOST_MS ||
		!mpijob__base_struct_is_flag(options->shadow) ||
		!mpijob__base_struct_is_flag(options->standby) ||
		!mpijob__base_struct_is_flag(options->log_actions) ||
		!mpijob__base_struct_is_flag(render->reference) ||
		(render->cluster_domain && !mpijob__base_dns_is_domain(render->cluster_domain))))
		rc = MPIJOB_ERR_USAGE;
	return rc;
}

static int copy_options(struct mpijob__operator_options *to,
    const struct mpijob_operator_options *options)
{
	struct mpijob_render_options *render = &to->render;

	render->features = &to->features;
	render->entropy = NULL;
	render->entropy_len = 0;
	render->running = NULL;
	render->running_count = 0;
	render->priority_classes = NULL;
	render->priority_classes_count = 0;
	to->max_writes = options->max_writes ? (size_t)options->max_writes : MOST_WRITES;
	to->launcher_hold_ms = options->launcher_hold_ms;
	to->resolve = options->resolve;
	to->resolve_user = options->resolve_user;
	to->log = options->log;
	to->log_user = options->log_user;
	to->log_actions = options->log_actions;
	if (copy_text(options->namespace_, &to->namespace_) ||
	    copy_text(render->cluster_domain, &to->cluster_domain) ||
	    copy_text(render->gang_scheduler, &to->gang_scheduler))
		return MPIJOB_ERR_NOMEM;
	render->cluster_domain = to->cluster_domain;
	render->gang_scheduler = to->gang_scheduler;
	return 0;
}

static int take_options(mpijob_operator *operator_, const struct mpijob_operator_options *given,
    mpijob_diag *diag)
{
	struct mpijob_operator_options options;
	int rc = mpijob__base_struct_check(&options, sizeof(options), given);

	if (rc == 0)
		rc = check_options(&operator_->options, &options);
	if (rc) {
		struct mpijob_finding finding = MPIJOB_FINDING_INIT;

		finding.severity = MPIJOB_SEVERITY_ERROR;
		finding.id = "bad-options";
		(void)mpijob__operator_report(diag, &finding,
		    "the options of the operator are refused: %s", mpijob_error_text(rc));
		return rc;
	}
	operator_->shadow.on = options.shadow != 0;
	operator_->shadow.grace_ms =
	    options.shadow_grace_ms ? options.shadow_grace_ms : SHADOW_GRACE_MS;
	operator_->part =
	    options.shadow || options.standby ? MPIJOB_OPERATOR_WATCHES : MPIJOB_OPERATOR_ACTS;
	rc = copy_options(&operator_->options, &options);
	mpijob__operator_queue_init(&operator_->queue);
	operator_->queue.most = operator_->options.max_writes;
	return rc;
}

static void release(mpijob_operator *operator_)
{
	mpijob__operator_informers_free(operator_);
	mpijob__operator_jobs_release(operator_);
	mpijob__operator_shadow_release(operator_);
	mpijob__operator_rights_release(operator_);
	mpijob__operator_orphans_release(operator_);
	mpijob__operator_events_free(operator_);
	mpijob__operator_classes_release(operator_);
	mpijob__operator_index_release(&operator_->cache.children);
	mpijob__operator_queue_release(&operator_->queue);
	mpijob_observation_free(operator_->cache.observation);
	mpijob_operator_config_free(operator_->options.config);
	free(operator_->options.namespace_);
	free(operator_->options.cluster_domain);
	free(operator_->options.gang_scheduler);
	free(operator_);
}

static void request_ended(void *user, const struct mpijob_request_stats *stats)
{
	mpijob_operator *operator_ = user;

	operator_->queue.more = 1;
	mpijob__operator_metrics_request(&operator_->metrics, stats);
}

static void bytes_received(void *user, size_t len)
{
	mpijob_operator *operator_ = user;

	(void)len;
	operator_->queue.more = 1;
}

int mpijob_operator_new(mpijob_client *client, const struct mpijob_operator_options *options,
    mpijob_operator **out, mpijob_diag *diag)
{
	struct mpijob_client_observer observer = { sizeof(observer), request_ended, bytes_received,
		NULL };
	mpijob_operator *operator_;
	uint64_t seeds[3];
	int rc;

	if (!client || !out)
		return MPIJOB_ERR_USAGE;
	operator_ = calloc(1, sizeof(*operator_));
	if (!operator_)
		return MPIJOB_ERR_NOMEM;
	operator_->client = client;
	operator_->hold_until_ms = INT64_MIN;
	rc = take_options(operator_, options, diag);
	if (rc == 0)
		rc = mpijob__base_random_fill(seeds, sizeof(seeds));
	if (rc == 0) {
		operator_->cache.by_uid.seed = seeds[0];
		operator_->cache.by_name.seed = seeds[1];
		operator_->cache.children.seed = seeds[2];
		operator_->shadow.wants.seed = seeds[2] ^ seeds[0];
		operator_->cache.observation = mpijob_observation_new();
		rc = operator_->cache.observation ? 0 : MPIJOB_ERR_NOMEM;
	}
	if (rc == 0)
		rc = mpijob__operator_events_new(operator_);
	if (rc == 0)
		rc = mpijob__operator_informers_init(operator_);
	if (rc) {
		release(operator_);
		return rc == MPIJOB_ERR_IO ? MPIJOB_ERR_NOMEM : rc;
	}
	observer.user = operator_;
	(void)mpijob_client_set_observer(client, &observer);
	*out = operator_;
	return 0;
}

void mpijob_operator_free(mpijob_operator *operator_)
{
	if (!operator_)
		return;
	(void)mpijob_client_set_observer(operator_->client, NULL);
	release(operator_);
}

/* ---- leading ---- */

int mpijob__operator_is_leading(const mpijob_operator *operator_)
{
	return operator_->part == MPIJOB_OPERATOR_ACTS;
}

void mpijob_operator_act(mpijob_operator *operator_, int part)
{
	int was_leading;

	if (!operator_ || operator_->shadow.on)
		return;
	was_leading = mpijob__operator_is_leading(operator_);
	operator_->part = part == MPIJOB_OPERATOR_ACTS || part == MPIJOB_OPERATOR_ENDS
			      ? part
			      : MPIJOB_OPERATOR_WATCHES;
	if (mpijob__operator_is_leading(operator_) != was_leading)
		mpijob__operator_jobs_leadership_changed(operator_);
	if (operator_->part == MPIJOB_OPERATOR_WATCHES)
		mpijob__operator_events_stop(operator_);
}

size_t mpijob_operator_busy(const mpijob_operator *operator_)
{
	return operator_ ? operator_->writes + mpijob__operator_events_waiting(operator_) : 0;
}

/* ---- a step ---- */

int mpijob__operator_may_write(const mpijob_operator *operator_)
{
	return operator_->writes < operator_->options.max_writes &&
	       operator_->now_ms >= operator_->hold_until_ms;
}

/* Reconcile jobs until the step has used its time: then events must be read. */
static int reconcile(mpijob_operator *operator_)
{
	int64_t until_us = mpijob__base_clock_cpu_us() + STEP_US;

	while (mpijob__operator_may_write(operator_)) {
		struct mpijob__operator_queue_item *item =
		    mpijob__operator_queue_take(&operator_->queue, operator_->now_ms);
		int64_t from_us = mpijob__base_clock_cpu_us(), took_us;
		int rc = item ? mpijob__operator_reconcile_run(operator_,
				    (struct mpijob__operator_job *)(void *)item)
			      : 0;

		if (!item || rc)
			return rc;
		took_us = mpijob__base_clock_cpu_us() - from_us;
		mpijob__operator_queue_charge(&operator_->queue, item, took_us);
		if (from_us + took_us >= until_us)
			return 0;
	}
	return 0;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* When the operator has work, even if no response and no event arrives. */
static int64_t due(const mpijob_operator *operator_)
{
	int64_t when = earlier(mpijob__operator_orphans_due_ms(operator_),
	    mpijob__operator_events_due_ms(operator_));

	if (mpijob_operator_synced(operator_) &&
	    operator_->writes < operator_->options.max_writes) {
		int64_t work = mpijob__operator_queue_due_ms(&operator_->queue);

		when = earlier(when,
		    work < operator_->hold_until_ms ? operator_->hold_until_ms : work);
	}
	return when;
}

static int limit(int64_t when, int64_t now_ms, int timeout_ms)
{
	int64_t wait = when <= now_ms ? 0 : when - now_ms;

	if (when == INT64_MAX || (timeout_ms >= 0 && wait > timeout_ms))
		return timeout_ms;
	return wait > INT_MAX ? INT_MAX : (int)wait;
}

int mpijob_operator_interest(mpijob_operator *operator_, int *fd, int64_t *deadline_ms)
{
	int64_t when;
	int rc = operator_ ? mpijob_client_interest(operator_->client, fd, deadline_ms)
			   : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	when = mpijob__operator_informers_may_start(operator_) ? INT64_MIN : due(operator_);
	if (when != INT64_MAX && (*deadline_ms < 0 || when < *deadline_ms))
		*deadline_ms = when < 0 ? 0 : when;
	return 0;
}

static void set_time(mpijob_operator *operator_)
{
	operator_->now_ms = mpijob__base_clock_monotonic_ms();
	operator_->queue.now_ms = operator_->now_ms;
}

int mpijob_operator_step(mpijob_operator *operator_, int timeout_ms)
{
	int rc, polled;

	if (!operator_)
		return MPIJOB_ERR_USAGE;
	set_time(operator_);
	mpijob__operator_informers_log_recovery(operator_);
	rc = mpijob__operator_informers_start(operator_);
	if (rc == 0 && mpijob_operator_synced(operator_))
		rc = reconcile(operator_);
	mpijob__operator_orphans_step(operator_);
	mpijob__operator_events_step(operator_);
	if (rc && (timeout_ms < 0 || timeout_ms > NOMEM_PAUSE_MS))
		timeout_ms = NOMEM_PAUSE_MS;
	operator_->queue.more = 0; /* until this poll has read the input; then there may be more */
	polled = mpijob_client_poll(operator_->client,
	    limit(due(operator_), mpijob__base_clock_monotonic_ms(), timeout_ms));
	set_time(operator_);
	if (operator_->nomem && rc == 0)
		rc = MPIJOB_ERR_NOMEM;
	operator_->nomem = 0;
	return rc ? rc : polled;
}
