/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of an operator and what one step of it does, in which order: listen, decide, send, wait.
 *
 * Only here the parts meet: what is watched, whom its news goes to, and which of them wants to be
 * woken first. Nothing is sent from inside of a callback that delivers news.
 */
#include "operator/operator.h"

#include "base/api.h"
#include "core/diag.h"
#include "base/struct.h"
#include "client/client.h"
#include "client/clock.h"
#include "client/watch.h"
#include "render/features.h"
#include "render/render.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MOST_WRITES         16
#define STEP_US             20000
#define JOB_LIMIT           ((size_t)2 << 20) /* bytes: etcd takes requests of 1.5 MiB */
#define NOMEM_PAUSE_MS      100
#define SHADOW_GRACE_MS     10000
#define HOLD_MOST_MS        86400000 /* as a plan has it */
#define RETRY_AFTER_MOST_MS 300000

void mpijob__operator_log(mpijob_operator *operator_, int32_t severity, const char *id,
    const char *format, ...)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	mpijob_text text = { 0 };
	va_list args;
	int rc;

	if (!operator_->log)
		return;
	va_start(args, format);
	rc = mpijob__base_text_vprintf(&text, format, args);
	va_end(args);
	finding.severity = severity;
	finding.id = id;
	finding.message = rc ? mpijob_error_text(rc) : mpijob_text_data(&text);
	operator_->log(operator_->log_user, &finding);
	mpijob__base_text_release(&text);
}

/* Too many requests are not the fault of one job. */
int64_t mpijob__operator_retry_after(mpijob_operator *operator_, const struct mpijob_answer *answer)
{
	int64_t wait = answer->retry_after_ms > RETRY_AFTER_MOST_MS ? RETRY_AFTER_MOST_MS
								    : answer->retry_after_ms;
	int64_t until_ms = mpijob__client_clock_monotonic_ms() + wait;

	if (wait > 0 && (answer->status == 429 || answer->status == 503) &&
	    operator_->hold_until_ms < until_ms)
		operator_->hold_until_ms = until_ms;
	return wait;
}

/* --- news --- */

static void begin_list(void *user)
{
	struct mpijob__operator_source *source = user;

	source->generation = (source->generation + 1) % MPIJOB__OPERATOR_GENERATIONS;
}

static int take_job(struct mpijob__operator_source *source, const struct mpijob_watch_event *object)
{
	mpijob_operator *operator_ = source->operator_;
	int rc = mpijob__operator_jobs_update(operator_, object);
	struct mpijob__operator_record *record =
	    rc == 1 ? mpijob__operator_jobs_by_uid(operator_, object->uid) : NULL;

	if (!record)
		return rc < 0 ? rc : 0;
	mpijob__operator_act_job_news(record);
	mpijob__operator_jobs_touch(operator_, record);
	return 0;
}

static int take_object(void *user, const struct mpijob_watch_event *object)
{
	struct mpijob__operator_source *source = user;
	int rc;

	if (source->number == MPIJOB__OPERATOR_SOURCE_JOBS)
		rc = take_job(source, object);
	else if (source->number == MPIJOB__OPERATOR_SOURCE_PRIORITY_CLASSES)
		rc = mpijob__operator_classes_event(source, object);
	else
		rc = mpijob__operator_route_event(source, object);
	if (rc == MPIJOB_ERR_NOMEM)
		source->operator_->nomem = 1;
	return rc;
}

static int end_list(void *user, const char *version)
{
	struct mpijob__operator_source *source = user;

	if (source->number == MPIJOB__OPERATOR_SOURCE_JOBS)
		mpijob__operator_jobs_sweep(source->operator_, source->generation);
	else if (source->number == MPIJOB__OPERATOR_SOURCE_PRIORITY_CLASSES)
		mpijob__operator_classes_sweep(source);
	else
		mpijob__operator_route_sweep(source, version);
	if (source->refused)
		mpijob__operator_jobs_touch_all(source->operator_);
	source->refused = 0;
	return 0;
}

/*
 * What a gang scheduler brings along may not be installed, or not be ours to see, and so
 * NetworkPolicies: jobs that do not need it go on, and those that do are told so when they want it.
 */
static int may_be_missing(const struct mpijob__operator_source *source)
{
	return source->number >= MPIJOB__OPERATOR_SOURCE_NETWORK_POLICIES;
}

static void watch_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct mpijob__operator_source *source = user;

	source->troubled = 1;
	if (may_be_missing(source) &&
	    (answer->code == MPIJOB_ERR_NOT_FOUND || answer->code == MPIJOB_ERR_AUTH))
		source->refused = 1;

	if (answer->code == MPIJOB_ERR_NOMEM)
		source->operator_->nomem = 1;
	mpijob__operator_log(source->operator_, MPIJOB_SEVERITY_WARNING, "watch-failed",
	    "cannot %s %s: %s", what, source->kind,
	    answer->message ? answer->message : mpijob_error_text(answer->code));
}

/* --- life --- */

static int copy_text(const char *from, char **to)
{
	if (!from || !*from)
		return 0;
	*to = strdup(from);
	return *to ? 0 : MPIJOB_ERR_NOMEM;
}

static int take_options(mpijob_operator *operator_, const struct mpijob_operator_options *given,
    mpijob_diag *diag)
{
	struct mpijob_operator_options options;
	int rc = mpijob__base_struct_check(&options, sizeof(options), given);

	if (rc == 0)
		rc = mpijob__base_struct_check(&operator_->render, sizeof(operator_->render),
		    options.render);
	if (rc == 0)
		rc = mpijob__render_features_take(operator_->render.features,
		    operator_->render.reference, &operator_->features);
	if (rc == 0 &&
	    (options.max_writes < 0 || options.shadow_grace_ms < 0 ||
		options.launcher_hold_ms < 0 || options.launcher_hold_ms > HOLD_MOST_MS ||
		!mpijob__base_struct_is_flag(options.shadow) ||
		!mpijob__base_struct_is_flag(options.standby) ||
		(operator_->render.cluster_domain &&
		    !mpijob__render_is_domain(operator_->render.cluster_domain))))
		rc = MPIJOB_ERR_USAGE;
	if (rc) {
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "bad-options", NULL, NULL, NULL,
		    "the options of the operator are refused: %s", mpijob_error_text(rc));
		return rc;
	}
	operator_->render.features = &operator_->features;
	operator_->render.entropy = NULL;
	operator_->render.entropy_len = 0;
	operator_->render.running = NULL;
	operator_->render.running_count = 0;
	operator_->render.priority_classes = NULL;
	operator_->render.priority_classes_count = 0;
	operator_->max_writes = options.max_writes ? (size_t)options.max_writes : MOST_WRITES;
	operator_->queue.most = operator_->max_writes;
	operator_->shadow.on = options.shadow != 0;
	operator_->shadow.grace_ms =
	    options.shadow_grace_ms ? options.shadow_grace_ms : SHADOW_GRACE_MS;
	operator_->acting = operator_->telling = !options.shadow && !options.standby;
	operator_->launcher_hold_ms = options.launcher_hold_ms;
	operator_->resolve = options.resolve;
	operator_->resolve_user = options.resolve_user;
	operator_->log = options.log;
	operator_->log_user = options.log_user;
	if (copy_text(options.namespace_, &operator_->namespace_) ||
	    copy_text(operator_->render.cluster_domain, &operator_->cluster_domain) ||
	    copy_text(operator_->render.gang_scheduler, &operator_->gang_scheduler))
		return MPIJOB_ERR_NOMEM;
	operator_->render.cluster_domain = operator_->cluster_domain;
	operator_->render.gang_scheduler = operator_->gang_scheduler;
	return 0;
}

/* Which collection; `kind` stays NULL when it is not watched with these options. */
static void choose(const mpijob_operator *operator_, struct mpijob__operator_source *source)
{
	int volcano =
	    operator_->gang_scheduler && strcmp(operator_->gang_scheduler, "volcano") == 0;

	source->namespace_ = operator_->namespace_;
	source->api_version = "v1";
	switch (source->number) {
	case MPIJOB__OPERATOR_SOURCE_JOBS:
		source->api_version = "kubeflow.org/v2beta1";
		source->kind = "MPIJob";
		break;
	case MPIJOB__OPERATOR_SOURCE_LAUNCHERS:
		source->api_version = "batch/v1";
		source->kind = "Job";
		break;
	case MPIJOB__OPERATOR_SOURCE_PODS:
		source->kind = "Pod";
		source->label_selector =
		    MPIJOB__BASE_API_LABEL_OPERATOR "=" MPIJOB__RENDER_LABEL_OPERATOR_VALUE;
		break;
	case MPIJOB__OPERATOR_SOURCE_SERVICES: source->kind = "Service"; break;
	case MPIJOB__OPERATOR_SOURCE_CONFIG_MAPS: source->kind = "ConfigMap"; break;
	case MPIJOB__OPERATOR_SOURCE_NETWORK_POLICIES:
		/* Where single jobs ask for one by an annotation, it is known by name, as Secrets
		 * are. */
		source->api_version = mpijob__render_api_version(MPIJOB_ROLE_NETWORK_POLICY, 0);
		source->kind = operator_->features.network_policy ? "NetworkPolicy" : NULL;
		break;
	case MPIJOB__OPERATOR_SOURCE_POD_GROUPS:
		source->api_version = mpijob__render_api_version(MPIJOB_ROLE_POD_GROUP, volcano);
		source->kind = operator_->gang_scheduler ? "PodGroup" : NULL;
		break;
	case MPIJOB__OPERATOR_SOURCE_PRIORITY_CLASSES:
		source->api_version = "scheduling.k8s.io/v1";
		source->kind = operator_->gang_scheduler ? "PriorityClass" : NULL;
		source->namespace_ = NULL;
		break;
	default: break;
	}
}

static int choose_sources(mpijob_operator *operator_)
{
	for (int i = 0; i < MPIJOB__OPERATOR_SOURCE_COUNT; i++) {
		struct mpijob__operator_source *source = &operator_->sources[i];

		source->operator_ = operator_;
		source->number = i;
		choose(operator_, source);
		if (mpijob__operator_entropy_fill(&source->seed, sizeof(source->seed)))
			return MPIJOB_ERR_IO;
	}
	return 0;
}

static int open_source(struct mpijob__operator_source *source)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;

	options.api_version = source->api_version;
	options.kind = source->kind;
	options.namespace_ = source->namespace_;
	options.label_selector = source->label_selector;
	options.seed = source->seed;
	options.object_limit = source->number == MPIJOB__OPERATOR_SOURCE_JOBS ? JOB_LIMIT : 0;
	options.begin = begin_list;
	options.object = take_object;
	options.listed = end_list;
	options.failed = watch_failed;
	options.user = source;
	return mpijob_watch_new(source->operator_->client, &options, &source->watch);
}

int mpijob_operator_new(mpijob_client *client, const struct mpijob_operator_options *options,
    mpijob_operator **out, mpijob_diag *diag)
{
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
		rc = mpijob__operator_entropy_fill(seeds, sizeof(seeds));
	if (rc == 0) {
		operator_->jobs_by_uid.seed = seeds[0];
		operator_->jobs_by_name.seed = seeds[1];
		operator_->objects.seed = seeds[2];
		operator_->shadow.wants.seed = seeds[2] ^ seeds[0];
		operator_->observation = mpijob_observation_new();
		rc = operator_->observation ? 0 : MPIJOB_ERR_NOMEM;
	}
	if (rc == 0)
		rc = mpijob__operator_events_new(operator_);
	if (rc == 0)
		rc = choose_sources(operator_);
	if (rc) {
		mpijob_operator_free(operator_);
		return rc == MPIJOB_ERR_IO ? MPIJOB_ERR_NOMEM : rc;
	}
	client->observer.request = mpijob__operator_metrics_request;
	client->observer.user = &operator_->metrics;
	*out = operator_;
	return 0;
}

void mpijob_operator_free(mpijob_operator *operator_)
{
	if (!operator_)
		return;
	if (operator_->client->observer.user == &operator_->metrics)
		memset(&operator_->client->observer, 0, sizeof(operator_->client->observer));
	for (int i = 0; i < MPIJOB__OPERATOR_SOURCE_COUNT; i++)
		mpijob_watch_free(operator_->sources[i].watch);
	mpijob__operator_jobs_release(operator_);
	mpijob__operator_shadow_release(operator_);
	mpijob__operator_rights_release(operator_);
	mpijob__operator_orphans_release(operator_);
	mpijob__operator_events_free(operator_);
	mpijob__operator_classes_release(operator_);
	mpijob__operator_objects_release(&operator_->objects);
	mpijob__operator_queue_release(&operator_->queue);
	mpijob_observation_free(operator_->observation);
	mpijob_operator_config_free(operator_->config);
	free(operator_->namespace_);
	free(operator_->cluster_domain);
	free(operator_->gang_scheduler);
	free(operator_);
}

/* --- a step --- */

static int synced(const struct mpijob__operator_source *source)
{
	return !source->kind || source->refused ||
	       (source->watch && mpijob_watch_synced(source->watch));
}

int mpijob_operator_synced(const mpijob_operator *operator_)
{
	if (!operator_)
		return 0;
	for (int i = 0; i < MPIJOB__OPERATOR_SOURCE_COUNT; i++)
		if (!synced(&operator_->sources[i]))
			return 0;
	return 1;
}

/* Sources up to this one may be listed: owners before what they own. */
static int open_until(const mpijob_operator *operator_)
{
	if (!synced(&operator_->sources[MPIJOB__OPERATOR_SOURCE_JOBS]))
		return MPIJOB__OPERATOR_SOURCE_JOBS;
	if (!synced(&operator_->sources[MPIJOB__OPERATOR_SOURCE_LAUNCHERS]))
		return MPIJOB__OPERATOR_SOURCE_LAUNCHERS;
	return MPIJOB__OPERATOR_SOURCE_COUNT - 1;
}

/* Is there one that may be listed now, and is not yet? */
static int may_listen(const mpijob_operator *operator_)
{
	int last = operator_->listening ? -1 : open_until(operator_);

	for (int i = 0; i <= last; i++)
		if (operator_->sources[i].kind && !operator_->sources[i].watch)
			return 1;
	return 0;
}

void mpijob_operator_act(mpijob_operator *operator_, int part)
{
	int acts = part == MPIJOB_OPERATOR_ACTS;

	if (!operator_ || operator_->shadow.on)
		return;
	operator_->telling = acts || part == MPIJOB_OPERATOR_ENDS;
	if (operator_->acting != acts) {
		operator_->acting = acts;
		mpijob__operator_jobs_switch(operator_);
	}
	if (!operator_->telling)
		mpijob__operator_events_stop(operator_);
}

size_t mpijob_operator_busy(const mpijob_operator *operator_)
{
	return operator_ ? operator_->writes + mpijob__operator_events_waiting(operator_) : 0;
}

/* Begin to watch what may be listed; the client drives it from there. */
static int listen(mpijob_operator *operator_)
{
	int last, rc = 0;

	if (operator_->listening)
		return 0;
	last = open_until(operator_);
	for (int i = 0; i <= last && rc == 0; i++) {
		struct mpijob__operator_source *source = &operator_->sources[i];

		if (source->kind && !source->watch)
			rc = open_source(source);
	}
	operator_->listening = rc == 0 && last == MPIJOB__OPERATOR_SOURCE_COUNT - 1;
	return rc;
}

int mpijob__operator_may_write(const mpijob_operator *operator_)
{
	return operator_->writes < operator_->max_writes &&
	       operator_->now_ms >= operator_->hold_until_ms;
}

/* One turn after the other, for as long as a step may take: what others sent is to be read before
 * more is done. */
static int decide(mpijob_operator *operator_)
{
	int64_t until_us = mpijob__client_clock_cpu_us() + STEP_US;

	while (mpijob__operator_may_write(operator_)) {
		struct mpijob__operator_queue_item *item =
		    mpijob__operator_queue_take(&operator_->queue, operator_->now_ms);
		int64_t from_us = mpijob__client_clock_cpu_us(), took_us;
		int rc = item ? mpijob__operator_act_turn(operator_,
				    (struct mpijob__operator_record *)(void *)item)
			      : 0;

		if (!item || rc)
			return rc;
		took_us = mpijob__client_clock_cpu_us() - from_us;
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

/* When there is something to do of our own accord. */
static int64_t due(const mpijob_operator *operator_)
{
	int64_t when = earlier(mpijob__operator_orphans_due_ms(operator_),
	    mpijob__operator_events_due_ms(operator_));

	if (mpijob_operator_synced(operator_) && operator_->writes < operator_->max_writes) {
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
	when = may_listen(operator_) ? INT64_MIN : due(operator_);
	if (when != INT64_MAX && (*deadline_ms < 0 || when < *deadline_ms))
		*deadline_ms = when < 0 ? 0 : when;
	return 0;
}

static void tick(mpijob_operator *operator_)
{
	operator_->now_ms = mpijob__client_clock_monotonic_ms();
	operator_->queue.now_ms = operator_->now_ms;
}

static void tell_recoveries(mpijob_operator *operator_)
{
	for (int i = 0; i < MPIJOB__OPERATOR_SOURCE_COUNT; i++) {
		struct mpijob__operator_source *source = &operator_->sources[i];

		if (!source->troubled || mpijob__client_watch_trouble(source->watch))
			continue;
		source->troubled = 0;
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_INFO, "watch-back",
		    "%s can be listed and watched again", source->kind);
	}
}

int mpijob_operator_step(mpijob_operator *operator_, int timeout_ms)
{
	int rc, polled;

	if (!operator_)
		return MPIJOB_ERR_USAGE;
	tick(operator_);
	tell_recoveries(operator_);
	rc = listen(operator_);
	if (rc == 0 && mpijob_operator_synced(operator_))
		rc = decide(operator_);
	mpijob__operator_orphans_step(operator_);
	mpijob__operator_events_step(operator_);
	if (rc && (timeout_ms < 0 || timeout_ms > NOMEM_PAUSE_MS))
		timeout_ms = NOMEM_PAUSE_MS;
	polled = mpijob_client_poll(operator_->client,
	    limit(due(operator_), mpijob__client_clock_monotonic_ms(), timeout_ms));
	operator_->queue.more = operator_->client->news;
	tick(operator_);
	if (operator_->nomem && rc == 0)
		rc = MPIJOB_ERR_NOMEM;
	operator_->nomem = 0;
	return rc ? rc : polled;
}
