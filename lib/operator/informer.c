/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Informers: which kinds the operator lists and watches, in which order, and where their events go.
 *
 * Jobs are listed before launchers, and both before the rest, so that owners are in the cache when
 * their children arrive. A watch passes objects to the cache and sends nothing. While a watch is
 * disconnected its part of the cache is stale and stays "synced"; see write.c for what that means.
 */
#include "base/api.h"
#include "operator/informer.h"

#include "operator/cache_children.h"
#include "base/random.h"
#include "operator/operator.h"

#include <string.h>

#define JOB_LIMIT ((size_t)2 << 20) /* bytes: etcd takes requests of 1.5 MiB */

/* ---- store events ---- */

static void begin_list(void *user)
{
	struct mpijob__operator_informer *informer = user;

	if (++informer->generation == MPIJOB__OPERATOR_GENERATIONS)
		informer->generation = MPIJOB__OPERATOR_GENERATION_NONE + 1;
}

static int take_job(struct mpijob__operator_informer *informer,
    const struct mpijob_watch_event *object)
{
	mpijob_operator *operator_ = informer->operator_;
	int rc = mpijob__operator_job_update(operator_, object);
	struct mpijob__operator_job *job =
	    rc == 1 ? mpijob__operator_job_find(operator_, object->uid) : NULL;

	if (!job)
		return rc < 0 ? rc : 0;
	mpijob__operator_reconcile_job_changed(job);
	mpijob__operator_job_enqueue(operator_, job);
	return 0;
}

static int take_object(void *user, const struct mpijob_watch_event *object)
{
	struct mpijob__operator_informer *informer = user;
	int rc;

	if (informer->number == MPIJOB__OPERATOR_INFORMER_JOBS)
		rc = take_job(informer, object);
	else if (informer->number == MPIJOB__OPERATOR_INFORMER_PRIORITY_CLASSES)
		rc = mpijob__operator_classes_event(informer, object);
	else
		rc = mpijob__operator_children_event(informer, object);
	if (rc == MPIJOB_ERR_NOMEM)
		informer->operator_->nomem = 1;
	return rc;
}

static int end_list(void *user, const char *version)
{
	struct mpijob__operator_informer *informer = user;

	if (informer->number == MPIJOB__OPERATOR_INFORMER_JOBS)
		mpijob__operator_jobs_sweep(informer->operator_, informer->generation);
	else if (informer->number == MPIJOB__OPERATOR_INFORMER_PRIORITY_CLASSES)
		mpijob__operator_classes_sweep(informer);
	else
		mpijob__operator_children_sweep(informer, version);
	if (informer->degraded)
		mpijob__operator_jobs_enqueue(informer->operator_);
	informer->degraded = 0;
	return 0;
}

/*
 * The kinds of a gang scheduler, and NetworkPolicies, may be missing, or the operator may lack the
 * right to list them. Jobs that do not need them are reconciled; the others get an Event.
 */
static int may_be_missing(const struct mpijob__operator_informer *informer)
{
	return informer->number >= MPIJOB__OPERATOR_INFORMER_NETWORK_POLICIES;
}

static void watch_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct mpijob__operator_informer *informer = user;

	informer->failing = 1;
	if (may_be_missing(informer) &&
	    (answer->code == MPIJOB_ERR_NOT_FOUND || answer->code == MPIJOB_ERR_AUTH))
		informer->degraded = 1;

	if (answer->code == MPIJOB_ERR_NOMEM)
		informer->operator_->nomem = 1;
	mpijob__operator_log(informer->operator_, MPIJOB_SEVERITY_WARNING, "watch-failed",
	    "cannot %s %s: %s", what, informer->kind,
	    answer->message ? answer->message : mpijob_error_text(answer->code));
}

void mpijob__operator_informers_log_recovery(mpijob_operator *operator_)
{
	for (int i = 0; i < MPIJOB__OPERATOR_INFORMER_COUNT; i++) {
		struct mpijob__operator_informer *informer = &operator_->informers[i];

		if (!informer->failing || mpijob_watch_health_get(informer->watch)->code)
			continue;
		informer->failing = 0;
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_INFO, "watch-back",
		    "%s can be listed and watched again", informer->kind);
	}
}

/* ---- which kinds ---- */

/* Choose the collection; `kind` stays NULL when the options do not need it. */
static void choose(const mpijob_operator *operator_, struct mpijob__operator_informer *informer)
{
	const char *scheduler = operator_->options.gang_scheduler;
	int volcano = scheduler && strcmp(scheduler, "volcano") == 0;

	informer->namespace_ = operator_->options.namespace_;
	informer->api_version = "v1";
	switch (informer->number) {
	case MPIJOB__OPERATOR_INFORMER_JOBS:
		informer->api_version = MPIJOB__BASE_API_VERSION;
		informer->kind = MPIJOB__BASE_API_KIND;
		break;
	case MPIJOB__OPERATOR_INFORMER_LAUNCHERS:
		informer->api_version = MPIJOB__BASE_API_BATCH;
		informer->kind = "Job";
		break;
	case MPIJOB__OPERATOR_INFORMER_PODS:
		informer->kind = "Pod";
		informer->label_selector =
		    MPIJOB__BASE_API_LABEL_OPERATOR "=" MPIJOB__BASE_API_OPERATOR_NAME;
		break;
	case MPIJOB__OPERATOR_INFORMER_SERVICES: informer->kind = "Service"; break;
	case MPIJOB__OPERATOR_INFORMER_CONFIG_MAPS: informer->kind = "ConfigMap"; break;
	case MPIJOB__OPERATOR_INFORMER_NETWORK_POLICIES:
		/* If only single jobs request one by an annotation, it is read by name, as Secrets
		 * are. */
		informer->api_version = MPIJOB__BASE_API_NETWORK;
		informer->kind =
		    operator_->options.features.network_policy ? "NetworkPolicy" : NULL;
		break;
	case MPIJOB__OPERATOR_INFORMER_POD_GROUPS:
		informer->api_version =
		    volcano ? MPIJOB__BASE_API_VOLCANO : MPIJOB__BASE_API_COSCHEDULING;
		informer->kind = scheduler ? "PodGroup" : NULL;
		break;
	case MPIJOB__OPERATOR_INFORMER_PRIORITY_CLASSES:
		informer->api_version = "scheduling.k8s.io/v1";
		informer->kind = scheduler ? "PriorityClass" : NULL;
		informer->namespace_ = NULL;
		break;
	default: break;
	}
}

int mpijob__operator_informers_init(mpijob_operator *operator_)
{
	for (int i = 0; i < MPIJOB__OPERATOR_INFORMER_COUNT; i++) {
		struct mpijob__operator_informer *informer = &operator_->informers[i];

		informer->operator_ = operator_;
		informer->number = i;
		choose(operator_, informer);
		if (mpijob__base_random_fill(&informer->seed, sizeof(informer->seed)))
			return MPIJOB_ERR_IO;
	}
	return 0;
}

int mpijob__operator_informer_find(const mpijob_operator *operator_, const char *kind)
{
	for (int i = 0; i < MPIJOB__OPERATOR_INFORMER_COUNT; i++)
		if (operator_->informers[i].kind && strcmp(operator_->informers[i].kind, kind) == 0)
			return i;
	return MPIJOB__OPERATOR_INFORMER_NONE;
}

uint32_t mpijob__operator_informer_generation(const mpijob_operator *operator_, const char *kind)
{
	int number = mpijob__operator_informer_find(operator_, kind);

	return number == MPIJOB__OPERATOR_INFORMER_NONE ? MPIJOB__OPERATOR_GENERATION_NONE
							: operator_->informers[number].generation;
}

/* ---- start and end ---- */

static int is_synced(const struct mpijob__operator_informer *informer)
{
	return !informer->kind || informer->degraded ||
	       (informer->watch && mpijob_watch_health_get(informer->watch)->synced);
}

int mpijob_operator_synced(const mpijob_operator *operator_)
{
	if (!operator_)
		return 0;
	for (int i = 0; i < MPIJOB__OPERATOR_INFORMER_COUNT; i++)
		if (!is_synced(&operator_->informers[i]))
			return 0;
	return 1;
}

/* The last informer that may start now. */
static int last_to_start(const mpijob_operator *operator_)
{
	if (!is_synced(&operator_->informers[MPIJOB__OPERATOR_INFORMER_JOBS]))
		return MPIJOB__OPERATOR_INFORMER_JOBS;
	if (!is_synced(&operator_->informers[MPIJOB__OPERATOR_INFORMER_LAUNCHERS]))
		return MPIJOB__OPERATOR_INFORMER_LAUNCHERS;
	return MPIJOB__OPERATOR_INFORMER_COUNT - 1;
}

int mpijob__operator_informers_may_start(const mpijob_operator *operator_)
{
	int last = last_to_start(operator_);

	for (int i = 0; i <= last; i++)
		if (operator_->informers[i].kind && !operator_->informers[i].watch)
			return 1;
	return 0;
}

static int start(struct mpijob__operator_informer *informer)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;

	options.api_version = informer->api_version;
	options.kind = informer->kind;
	options.namespace_ = informer->namespace_;
	options.label_selector = informer->label_selector;
	options.seed = informer->seed;
	options.object_limit = informer->number == MPIJOB__OPERATOR_INFORMER_JOBS ? JOB_LIMIT : 0;
	options.begin = begin_list;
	options.object = take_object;
	options.listed = end_list;
	options.failed = watch_failed;
	options.user = informer;
	return mpijob_watch_new(informer->operator_->client, &options, &informer->watch);
}

int mpijob__operator_informers_start(mpijob_operator *operator_)
{
	int last = last_to_start(operator_), rc = 0;

	for (int i = 0; i <= last && rc == 0; i++)
		if (operator_->informers[i].kind && !operator_->informers[i].watch)
			rc = start(&operator_->informers[i]);
	return rc;
}

void mpijob__operator_informers_free(mpijob_operator *operator_)
{
	for (int i = 0; i < MPIJOB__OPERATOR_INFORMER_COUNT; i++)
		mpijob_watch_free(operator_->informers[i].watch);
}
