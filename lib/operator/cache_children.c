/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which job owns an object, and whether an event or response is newer than the facts.
 *
 * A child belongs to the MPIJob that controls it; a launcher's pod to the MPIJob of the Job that
 * controls it; an object that was once found under a child's name stays with that job. All other
 * objects are dropped. The index holds the resourceVersion of our responses, so an older event that
 * arrives later changes nothing.
 */
#include "operator/cache_children.h"

#include "base/api.h"
#include "operator/operator.h"

#include <stdlib.h>
#include <string.h>

#define CREATING_MS     5000
#define FOREIGN_MS      59000 /* a plan that finds one is repeated after a minute */
#define LEFTOVER_MS     1000  /* the garbage collector will delete it; doubled each time */
#define LEFTOVER_STEPS  6
#define GENERATION_MASK (MPIJOB__OPERATOR_GENERATIONS - 1)

uint64_t mpijob__operator_version_parse(const char *text)
{
	uint64_t version = 0;

	if (!text || !*text)
		return 0;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (version > (UINT64_MAX - 9) / 10)
			return 0;
		version = version * 10 + (uint64_t)(*text - '0');
	}
	return *text ? 0 : version;
}

/* ---- the index of children ---- */

static struct mpijob__operator_child *find(const mpijob_operator *operator_, const char *text)
{
	struct mpijob__base_uid uid;

	mpijob__base_uid_borrow(&uid, text);
	return mpijob__operator_index_find(&operator_->cache.children, &uid);
}

static struct mpijob__operator_child *keep(mpijob_operator *operator_,
    struct mpijob__operator_job *job, const char *uid, int informer)
{
	struct mpijob__operator_child *child =
	    mpijob__operator_index_add(&operator_->cache.children, job, uid);

	if (!child)
		return NULL;
	child->informer = (uint32_t)informer & 15;
	if (informer < MPIJOB__OPERATOR_INFORMER_COUNT)
		child->generation = operator_->informers[informer].generation & GENERATION_MASK;
	return child;
}

void mpijob__operator_children_release(struct mpijob__operator_job *job, mpijob_operator *operator_)
{
	while (job->cache.children)
		mpijob__operator_index_drop(&operator_->cache.children,
		    mpijob__operator_index_of(&operator_->cache.children, job));
}

/* A response may arrive after the last event of its object, and must not add it again. */
static void note_deleted(mpijob_operator *operator_, const char *uid, uint64_t version)
{
	struct mpijob__operator_deleted_child *deleted =
	    &operator_->cache.deleted[operator_->cache.deleted_at];

	deleted->hash = mpijob__base_table_hash(&operator_->cache.by_uid, uid, "");
	deleted->version = version;
	operator_->cache.deleted_at =
	    (operator_->cache.deleted_at + 1) % MPIJOB__OPERATOR_DELETED_UIDS;
}

int mpijob__operator_children_is_deleted(const mpijob_operator *operator_, const char *uid,
    uint64_t version)
{
	uint64_t hash = mpijob__base_table_hash(&operator_->cache.by_uid, uid, "");

	for (size_t i = 0; i < MPIJOB__OPERATOR_DELETED_UIDS; i++)
		if (operator_->cache.deleted[i].hash == hash &&
		    version < operator_->cache.deleted[i].version)
			return 1;
	return 0;
}

/* Forget a deleted child. 1 when the facts of its job change. */
static int forget(mpijob_operator *operator_, struct mpijob__operator_child *child)
{
	char room[MPIJOB__BASE_UID_ROOM];
	int known =
	    mpijob_facts_forget(child->job->cache.facts, mpijob__base_uid_text(&child->uid, room));

	mpijob__operator_index_drop(&operator_->cache.children, child);
	return known == 1;
}

/* ---- owners ---- */

static struct mpijob__operator_job *owner_of(const mpijob_operator *operator_,
    const struct mpijob_observed *observed)
{
	struct mpijob__operator_job *job = NULL;

	if (!observed->owner_uid || !observed->owner_kind)
		return NULL;
	if (strcmp(observed->owner_kind, MPIJOB__BASE_API_KIND) == 0 &&
	    mpijob__base_text_begins(observed->owner_api_version, MPIJOB__BASE_API_GROUP "/")) {
		job = mpijob__operator_job_find(operator_, observed->owner_uid);
	} else if (observed->pod && strcmp(observed->owner_kind, "Job") == 0 &&
		   mpijob__base_text_begins(observed->owner_api_version, "batch/")) {
		struct mpijob__operator_child *launcher = find(operator_, observed->owner_uid);

		job = launcher ? launcher->job : NULL;
	}
	/* A tenant could name an owner in another namespace: this owner is ignored. */
	if (job && (!observed->namespace_ || strcmp(job->namespace_, observed->namespace_) != 0))
		return NULL;
	return job;
}

/* Whether its owner may be an MPIJob that is not in the cache yet. */
static int may_be_owned(const struct mpijob_observed *observed)
{
	if (!observed->owner_uid || !observed->owner_kind || !observed->uid || !observed->name ||
	    !observed->namespace_)
		return 0;
	if (strcmp(observed->owner_kind, MPIJOB__BASE_API_KIND) == 0)
		return mpijob__base_text_begins(observed->owner_api_version,
		    MPIJOB__BASE_API_GROUP "/");
	return observed->pod && observed->pod->role == MPIJOB_ROLE_LAUNCHER &&
	       strcmp(observed->owner_kind, "Job") == 0 &&
	       mpijob__base_text_begins(observed->owner_api_version, "batch/");
}

/* ---- events ---- */

/* The object that the facts know under the name of an observed one: 1, 0, MPIJOB_ERR_NOMEM. */
static int find_namesake(const struct mpijob__operator_job *job,
    const struct mpijob_observed *observed, const char **uid)
{
	const struct mpijob_pod_facts *pod = observed->pod;
	const struct mpijob_child_facts *child =
	    observed->child ? mpijob_facts_child(job->cache.facts, observed->child->role) : NULL;
	size_t at;

	if (child && (!observed->name || strcmp(child->name, observed->name) == 0)) {
		*uid = child->uid;
		return 1;
	}
	if (!pod ||
	    mpijob_facts_pod_find(job->cache.facts, pod->role, pod->index, pod->name, &at) <= 0)
		return 0;
	pod = mpijob_facts_pod_at(job->cache.facts, at);
	*uid = pod ? pod->uid : NULL;
	return pod ? 1 : MPIJOB_ERR_NOMEM;
}

/* Whether a response had a newer object of that name. Then this event is about the object before
 * it, and only its deletion matters. 1, 0, MPIJOB_ERR_NOMEM. */
static int is_superseded(const mpijob_operator *operator_, const struct mpijob__operator_job *job,
    const struct mpijob_observed *observed)
{
	uint64_t version = mpijob__operator_version_parse(observed->resource_version);
	const struct mpijob__operator_child *known;
	const char *uid;
	int rc = version ? find_namesake(job, observed, &uid) : 0;

	if (rc <= 0)
		return rc;
	known = find(operator_, uid);
	return known && version < known->version;
}

/* Apply to the job's facts. 1 when they changed, 0, MPIJOB_ERR_NOMEM. */
static int apply(mpijob_operator *operator_, struct mpijob__operator_job *job,
    struct mpijob__operator_child *child, const struct mpijob_observed *observed, int informer)
{
	int rc = child ? 0 : is_superseded(operator_, job, observed);

	if (rc)
		return rc < 0 ? rc : 0;
	if (!child && observed->uid) {
		child = keep(operator_, job, observed->uid, informer);
		if (!child)
			return MPIJOB_ERR_NOMEM;
		/* Launcher pods may have arrived before their Job. */
		if (observed->launcher)
			mpijob__operator_orphans_adopt(operator_, observed->uid);
	}
	rc = mpijob_facts_apply(job->cache.facts, observed);
	if (rc < 0 && rc != MPIJOB_ERR_NOMEM) {
		operator_->metrics.skipped[mpijob__operator_metrics_kind(observed->kind)]++;
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_WARNING, "object-set-aside",
		    "%s %s/%s is skipped: %s", observed->kind ? observed->kind : "object",
		    job->namespace_, observed->name ? observed->name : "", mpijob_error_text(rc));
		return 0;
	}
	if (rc >= 0 && child)
		child->version = mpijob__operator_version_parse(observed->resource_version);
	return rc;
}

static int is_old(const struct mpijob__operator_child *child, const char *version_text)
{
	uint64_t version = mpijob__operator_version_parse(version_text);

	return child->deleted || (version && child->version && version <= child->version);
}

static int observe(mpijob_operator *operator_, const char *json, size_t len, const char *kind,
    const char *namespace_, const char *name)
{
	int rc = mpijob_observe(operator_->cache.observation, json, len, &operator_->cache.observed,
	    NULL);

	if (rc && rc != MPIJOB_ERR_NOMEM) {
		operator_->metrics.skipped[mpijob__operator_metrics_kind(kind)]++;
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "object-set-aside",
		    "%s %s/%s is skipped: it cannot be parsed: %s", kind, namespace_, name,
		    mpijob_error_text(rc));
	}
	return rc;
}

/* Report with an Event that a known child cannot be parsed any more. */
static void report_skipped(mpijob_operator *operator_, const struct mpijob__operator_child *child,
    const char *kind, const char *name)
{
	mpijob_text text = { 0 };

	if (mpijob__base_text_printf(&text,
		"%s %s is skipped: it is too large, or cannot be parsed", kind, name) == 0)
		mpijob__operator_events_emit(operator_, child->job, "Warning", "ObjectSetAside",
		    mpijob_text_data(&text));
	mpijob__base_text_release(&text);
}

/* Whether another client deleted a child that is needed. Pods are often deleted: this counts only
 * while the plan creates pods. */
static int is_lost(const mpijob_operator *operator_, const struct mpijob__operator_child *child)
{
	if (child->deleting || child->deleted)
		return 0;
	return child->informer != MPIJOB__OPERATOR_INFORMER_PODS ||
	       (child->job->fresh.worker_created_ms &&
		   operator_->now_ms - child->job->fresh.worker_created_ms < CREATING_MS);
}

static void child_deleted(mpijob_operator *operator_, struct mpijob__operator_child *child,
    const struct mpijob_watch_event *event)
{
	struct mpijob__operator_job *job = child ? child->job : NULL;

	note_deleted(operator_, event->uid,
	    mpijob__operator_version_parse(event->resource_version));
	if (!child) {
		mpijob__operator_orphans_drop(operator_, event->uid);
		return;
	}
	if (is_lost(operator_, child))
		mpijob__operator_job_child_lost(operator_, job);
	if (forget(operator_, child))
		mpijob__operator_job_enqueue(operator_, job);
}

/* An object over the size limit counts only if it was a child before. */
static void child_too_large(struct mpijob__operator_informer *informer,
    struct mpijob__operator_child *child, const struct mpijob_watch_event *event)
{
	mpijob_operator *operator_ = informer->operator_;

	if (!child)
		return;
	operator_->metrics.skipped[mpijob__operator_metrics_kind(informer->kind)]++;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "object-set-aside",
	    "%s %s/%s is skipped: it has %zu bytes", informer->kind, event->namespace_, event->name,
	    event->whole_len);
	report_skipped(operator_, child, informer->kind, event->name);
}

int mpijob__operator_children_event(struct mpijob__operator_informer *informer,
    const struct mpijob_watch_event *event)
{
	mpijob_operator *operator_ = informer->operator_;
	struct mpijob__operator_child *child = *event->uid ? find(operator_, event->uid) : NULL;
	const struct mpijob_observed *observed;
	struct mpijob__operator_job *job;
	int rc;

	if (event->event == MPIJOB_WATCH_DELETED) {
		child_deleted(operator_, child, event);
		return 0;
	}
	if (child) {
		child->generation = informer->generation & GENERATION_MASK;
		if (is_old(child, event->resource_version))
			return 0;
	}
	if (!event->json) {
		child_too_large(informer, child, event);
		return 0;
	}
	rc = observe(operator_, event->json, event->json_len, informer->kind, event->namespace_,
	    event->name);
	if (rc && rc != MPIJOB_ERR_NOMEM && child)
		report_skipped(operator_, child, informer->kind, event->name);
	if (rc)
		return rc == MPIJOB_ERR_NOMEM ? rc : 0;
	observed = operator_->cache.observed;
	if (child && is_old(child, observed->resource_version))
		return 0;
	job = child ? child->job : owner_of(operator_, observed);
	if (!job) {
		if (may_be_owned(observed))
			mpijob__operator_orphans_add(informer, observed);
		return 0;
	}
	rc = apply(operator_, job, child, observed, informer->number);
	if (rc == 1)
		mpijob__operator_job_enqueue(operator_, job);
	return rc < 0 ? rc : 0;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* A foreign object has the name of a child. `watched`: its kind has an informer, which does not
 * observe it without our label. */
static void note_foreign(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const struct mpijob_observed *observed, int watched)
{
	int64_t wait = FOREIGN_MS;

	if (!watched && observed->owner_kind &&
	    strcmp(observed->owner_kind, MPIJOB__BASE_API_KIND) == 0 &&
	    !owner_of(operator_, observed) && job->backoff.leftovers < LEFTOVER_STEPS)
		wait = (int64_t)LEFTOVER_MS << job->backoff.leftovers++;
	job->backoff.foreign_until_ms = operator_->now_ms + wait;
}

int mpijob__operator_children_answer(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const char *json, size_t len)
{
	const struct mpijob_observed *observed;
	struct mpijob__operator_child *child;
	int informer, rc;

	rc = observe(operator_, json, len, "a response about", job->namespace_, job->name);
	if (rc)
		return rc == MPIJOB_ERR_NOMEM ? rc : MPIJOB_ERR_SYNTAX;
	observed = operator_->cache.observed;
	if (!observed->kind || !observed->uid)
		return MPIJOB_ERR_SYNTAX;
	if (strcmp(observed->kind, MPIJOB__BASE_API_KIND) == 0) {
		struct mpijob_watch_event answer = { sizeof(answer), MPIJOB_WATCH_MODIFIED, json,
			len, len, observed->uid, or_empty(observed->name),
			or_empty(observed->namespace_), or_empty(observed->resource_version) };

		if (strcmp(observed->uid, job->uid) != 0)
			/* another job of that name: it has events of its own */
			return MPIJOB_ERR_SYNTAX;
		job->fresh.job_ms = operator_->now_ms;
		rc = mpijob__operator_job_update(operator_, &answer);
		return rc < 0 ? rc : 0;
	}
	informer = mpijob__operator_informer_find(operator_, observed->kind);
	/* Of pods only those with our label are watched. */
	if ((informer == MPIJOB__OPERATOR_INFORMER_NONE ||
		informer == MPIJOB__OPERATOR_INFORMER_PODS) &&
	    owner_of(operator_, observed) != job)
		note_foreign(operator_, job, observed, informer != MPIJOB__OPERATOR_INFORMER_NONE);
	if (informer == MPIJOB__OPERATOR_INFORMER_NONE) {
		/* Not watched (a Secret): no event reports its deletion, so it is not indexed. */
		rc = mpijob_facts_apply(job->cache.facts, observed);
		return rc == MPIJOB_ERR_NOMEM ? rc : 0;
	}
	child = find(operator_, observed->uid);
	if (child && (child->job != job || is_old(child, observed->resource_version)))
		return 0;
	if (!child && mpijob__operator_children_is_deleted(operator_, observed->uid,
			  mpijob__operator_version_parse(observed->resource_version)))
		return 0;
	rc = apply(operator_, job, child, observed, informer);
	return rc < 0 ? rc : 0;
}

void mpijob__operator_children_set_deleting(mpijob_operator *operator_, const char *uid, int on)
{
	struct mpijob__operator_child *child = find(operator_, uid);

	if (child)
		child->deleting = on != 0;
}

void mpijob__operator_children_deleted(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const char *uid)
{
	struct mpijob__operator_child *child = find(operator_, uid);

	(void)mpijob_facts_forget(job->cache.facts, uid);
	if (child && child->job == job)
		child->deleted = 1;
}

/* Secrets are never listed; NetworkPolicies only if all jobs have one. */
int mpijob__operator_children_is_unwatched(const mpijob_operator *operator_, int32_t role)
{
	return role == MPIJOB_ROLE_SECRET ||
	       (role == MPIJOB_ROLE_NETWORK_POLICY &&
		   !operator_->informers[MPIJOB__OPERATOR_INFORMER_NETWORK_POLICIES].kind);
}

static int is_foreign(const struct mpijob__operator_job *job, const char *owner_uid)
{
	return !owner_uid || strcmp(owner_uid, job->uid) != 0;
}

static void forget_foreign_child(mpijob_operator *operator_, struct mpijob__operator_job *job,
    int32_t role)
{
	const struct mpijob_child_facts *child = mpijob_facts_child(job->cache.facts, role);

	if (child && mpijob__operator_children_is_unwatched(operator_, role) &&
	    is_foreign(job, child->owner_uid))
		(void)mpijob_facts_forget(job->cache.facts, child->uid);
}

void mpijob__operator_children_forget_foreign(mpijob_operator *operator_,
    struct mpijob__operator_job *job)
{
	const struct mpijob_pod_facts *pod;
	size_t i = 0;

	job->backoff.foreign_until_ms = 0;
	job->backoff.rounds = 0; /* what follows is not a loop */
	forget_foreign_child(operator_, job, MPIJOB_ROLE_SECRET);
	forget_foreign_child(operator_, job, MPIJOB_ROLE_NETWORK_POLICY);
	while ((pod = mpijob_facts_pod_at(job->cache.facts, i))) {
		struct mpijob__operator_child *child =
		    pod->role == MPIJOB_ROLE_WORKER && is_foreign(job, pod->owner_uid)
			? find(operator_, pod->uid)
			: NULL;

		if (!child || child->job != job || !forget(operator_, child))
			i++;
	}
}

void mpijob__operator_children_sweep(struct mpijob__operator_informer *informer,
    const char *list_version)
{
	mpijob_operator *operator_ = informer->operator_;
	uint64_t version = mpijob__operator_version_parse(list_version);
	struct mpijob__operator_child *child;
	size_t place = 0;

	while ((child = mpijob__operator_index_next(&operator_->cache.children, &place))) {
		struct mpijob__operator_job *job = child->job;

		if ((int)child->informer != informer->number ||
		    child->generation == informer->generation)
			continue;
		/* It was created after the list. */
		if (!child->deleted && version && child->version > version)
			continue;
		if (forget(operator_, child))
			mpijob__operator_job_enqueue(operator_, job);
	}
}
