/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose an object is, and whether what is told of it is news.
 *
 * A child belongs to the MPIJob that controls it; a launcher's pod to the MPIJob of the Job that
 * controls it; an object that was once found under a child's name stays with that job. Everything
 * else is dropped at once. What our own writes answered is remembered by resourceVersion, so an
 * older event that comes later never takes us back.
 */
#include "operator/operator.h"

#include "plan/facts.h"

#include <stdlib.h>
#include <string.h>

#define MAKING_MS      5000
#define STRANGERS_MS   59000 /* a plan that meets one asks to be made again after a minute */
#define LEFTOVER_MS    1000  /* the garbage collector is on its way to it; doubled each time */
#define LEFTOVER_STEPS 6

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

/* --- the index of children --- */

static struct mpijob__operator_child *find(const mpijob_operator *operator_, const char *text)
{
	struct mpijob__base_uid uid;

	mpijob__base_uid_borrow(&uid, text);
	return mpijob__operator_index_find(&operator_->objects, &uid);
}

static struct mpijob__operator_child *keep(mpijob_operator *operator_,
    struct mpijob__operator_job *record, const char *uid, int source)
{
	struct mpijob__operator_child *object =
	    mpijob__operator_index_add(&operator_->objects, record, uid);

	if (!object)
		return NULL;
	object->source = (uint32_t)source & 15;
	if (source < MPIJOB__OPERATOR_INFORMER_COUNT)
		object->generation =
		    operator_->sources[source].generation & (MPIJOB__OPERATOR_GENERATIONS - 1);
	return object;
}

void mpijob__operator_children_release(struct mpijob__operator_job *record,
    mpijob_operator *operator_)
{
	while (record->objects)
		mpijob__operator_index_drop(&operator_->objects,
		    mpijob__operator_index_of(&operator_->objects, record));
}

/* An answer may come after the last event of its object: that one does not come back. */
static void note_gone(mpijob_operator *operator_, const char *uid, uint64_t version)
{
	struct mpijob__operator_deleted_child *gone = &operator_->gone[operator_->gone_at];

	gone->hash = mpijob__operator_table_hash(&operator_->jobs_by_uid, uid, "");
	gone->version = version;
	operator_->gone_at = (operator_->gone_at + 1) % MPIJOB__OPERATOR_DELETED_UIDS;
}

int mpijob__operator_children_is_deleted(const mpijob_operator *operator_, const char *uid,
    uint64_t version)
{
	uint64_t hash = mpijob__operator_table_hash(&operator_->jobs_by_uid, uid, "");

	for (size_t i = 0; i < MPIJOB__OPERATOR_DELETED_UIDS; i++)
		if (operator_->gone[i].hash == hash && version < operator_->gone[i].version)
			return 1;
	return 0;
}

/* It is gone for good. 1 when the job cares. */
static int forget(mpijob_operator *operator_, struct mpijob__operator_child *object)
{
	char room[MPIJOB__BASE_UID_ROOM];
	int known =
	    mpijob_facts_forget(object->record->facts, mpijob__base_uid_text(&object->uid, room));

	mpijob__operator_index_drop(&operator_->objects, object);
	return known == 1;
}

/* --- who owns it --- */

static int begins(const char *text, const char *start)
{
	return text && strncmp(text, start, strlen(start)) == 0;
}

static struct mpijob__operator_job *owner_of(const mpijob_operator *operator_,
    const struct mpijob_observed *observed)
{
	struct mpijob__operator_job *record = NULL;

	if (!observed->owner_uid || !observed->owner_kind)
		return NULL;
	if (strcmp(observed->owner_kind, "MPIJob") == 0 &&
	    begins(observed->owner_api_version, "kubeflow.org/")) {
		record = mpijob__operator_job_find(operator_, observed->owner_uid);
	} else if (observed->pod && strcmp(observed->owner_kind, "Job") == 0 &&
		   begins(observed->owner_api_version, "batch/")) {
		struct mpijob__operator_child *job = find(operator_, observed->owner_uid);

		record = job ? job->record : NULL;
	}
	/* An owner in another namespace is none: anybody could claim one. */
	if (record &&
	    (!observed->namespace_ || strcmp(record->namespace_, observed->namespace_) != 0))
		return NULL;
	return record;
}

/* Could an MPIJob that we do not know yet own it? */
static int may_be_owned(const struct mpijob_observed *observed)
{
	if (!observed->owner_uid || !observed->owner_kind || !observed->uid || !observed->name ||
	    !observed->namespace_)
		return 0;
	if (strcmp(observed->owner_kind, "MPIJob") == 0)
		return begins(observed->owner_api_version, "kubeflow.org/");
	return observed->pod && observed->pod->role == MPIJOB_ROLE_LAUNCHER &&
	       strcmp(observed->owner_kind, "Job") == 0 &&
	       begins(observed->owner_api_version, "batch/");
}

/* --- what is told --- */

/* An answer told of a newer object of that name: of the one before it, which is news now, nothing
 * is left but its end. */
static int is_superseded(const mpijob_operator *operator_,
    const struct mpijob__operator_job *record, const struct mpijob_observed *observed)
{
	const struct mpijob_child_facts *child =
	    observed->child ? mpijob_facts_child(record->facts, observed->child->role) : NULL;
	const struct mpijob__plan_pod *pod =
	    observed->pod && observed->pod->name
		? mpijob__plan_pods_find(&record->facts->pods, observed->pod)
		: NULL;
	const struct mpijob__operator_child *known =
	    child ? find(operator_, child->uid)
	    : pod ? mpijob__operator_index_find(&operator_->objects, &pod->uid)
		  : NULL;
	uint64_t version = mpijob__operator_version_parse(observed->resource_version);

	if (child && observed->name && strcmp(child->name, observed->name) != 0)
		return 0;
	return known && version && version < known->version;
}

/* Apply to the job's facts. 1 when they changed, 0, MPIJOB_ERR_NOMEM. */
static int apply(mpijob_operator *operator_, struct mpijob__operator_job *record,
    struct mpijob__operator_child *object, const struct mpijob_observed *observed, int source)
{
	int rc;

	if (!object && is_superseded(operator_, record, observed))
		return 0;
	if (!object && observed->uid) {
		object = keep(operator_, record, observed->uid, source);
		if (!object)
			return MPIJOB_ERR_NOMEM;
		/* Launcher pods may have come before their Job. */
		if (observed->launcher)
			mpijob__operator_orphans_adopt(operator_, observed->uid);
	}
	rc = mpijob_facts_apply(record->facts, observed);
	if (rc < 0 && rc != MPIJOB_ERR_NOMEM) {
		operator_->metrics.set_aside[mpijob__operator_metrics_kind(observed->kind)]++;
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_WARNING, "object-set-aside",
		    "%s %s/%s is left out: %s", observed->kind ? observed->kind : "object",
		    record->namespace_, observed->name ? observed->name : "",
		    mpijob_error_text(rc));
		return 0;
	}
	if (rc >= 0 && object)
		object->version = mpijob__operator_version_parse(observed->resource_version);
	return rc;
}

static int is_old(const struct mpijob__operator_child *object, const char *version_text)
{
	uint64_t version = mpijob__operator_version_parse(version_text);

	return object->gone || (version && object->version && version <= object->version);
}

static int observe(mpijob_operator *operator_, const char *json, size_t len, const char *kind,
    const char *namespace_, const char *name)
{
	int rc = mpijob_observe(operator_->observation, json, len, NULL);

	if (rc && rc != MPIJOB_ERR_NOMEM) {
		operator_->metrics.set_aside[mpijob__operator_metrics_kind(kind)]++;
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "object-set-aside",
		    "%s %s/%s is set aside: it cannot be read: %s", kind, namespace_, name,
		    mpijob_error_text(rc));
	}
	return rc;
}

/* A child that is known was changed into something that cannot be read: whose job it is should
 * know. */
static void tell_aside(mpijob_operator *operator_, const struct mpijob__operator_child *object,
    const char *kind, const char *name)
{
	mpijob_text text = { 0 };

	if (mpijob__base_text_printf(&text,
		"%s %s is left out of account: it is too large, or cannot be read", kind,
		name) == 0)
		mpijob__operator_events_emit(operator_, object->record, "Warning", "ObjectSetAside",
		    mpijob_text_data(&text));
	mpijob__base_text_release(&text);
}

/* Somebody took away what we need; of pods, which come and go, only while we make some. */
static int is_undone(const mpijob_operator *operator_, const struct mpijob__operator_child *object)
{
	if (object->ours || object->gone)
		return 0;
	return object->source != MPIJOB__OPERATOR_INFORMER_PODS ||
	       operator_->now_ms - object->record->made_ms < MAKING_MS;
}

int mpijob__operator_children_event(struct mpijob__operator_informer *source,
    const struct mpijob_watch_event *event)
{
	mpijob_operator *operator_ = source->operator_;
	struct mpijob__operator_child *object = *event->uid ? find(operator_, event->uid) : NULL;
	const struct mpijob_observed *observed;
	struct mpijob__operator_job *record;
	int rc;

	if (event->event == MPIJOB_WATCH_DELETED) {
		record = object ? object->record : NULL;
		note_gone(operator_, event->uid,
		    mpijob__operator_version_parse(event->resource_version));
		if (!object)
			mpijob__operator_orphans_drop(operator_, event->uid);
		else {
			if (is_undone(operator_, object))
				mpijob__operator_job_child_lost(operator_, record);
			if (forget(operator_, object))
				mpijob__operator_job_enqueue(operator_, record);
		}
		return 0;
	}
	if (object) {
		object->generation = source->generation & (MPIJOB__OPERATOR_GENERATIONS - 1);
		if (is_old(object, event->resource_version))
			return 0;
	}
	if (!event->json) {
		if (!object)
			return 0;
		operator_->metrics.set_aside[mpijob__operator_metrics_kind(source->kind)]++;
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_ERROR, "object-set-aside",
		    "%s %s/%s is set aside: it has %zu bytes", source->kind, event->namespace_,
		    event->name, event->whole_len);
		tell_aside(operator_, object, source->kind, event->name);
		return 0;
	}
	rc = observe(operator_, event->json, event->json_len, source->kind, event->namespace_,
	    event->name);
	if (rc && rc != MPIJOB_ERR_NOMEM && object)
		tell_aside(operator_, object, source->kind, event->name);
	if (rc)
		return rc == MPIJOB_ERR_NOMEM ? rc : 0;
	observed = mpijob_observation_view(operator_->observation);
	if (object && is_old(object, observed->resource_version))
		return 0;
	record = object ? object->record : owner_of(operator_, observed);
	if (!record) {
		if (may_be_owned(observed))
			mpijob__operator_orphans_add(source, observed);
		return 0;
	}
	rc = apply(operator_, record, object, observed, source->number);
	if (rc == 1)
		mpijob__operator_job_enqueue(operator_, record);
	return rc < 0 ? rc : 0;
}

static int source_of(const mpijob_operator *operator_, const char *kind)
{
	for (int i = 0; i < MPIJOB__OPERATOR_INFORMER_COUNT; i++)
		if (operator_->sources[i].kind && strcmp(operator_->sources[i].kind, kind) == 0)
			return i;
	return MPIJOB__OPERATOR_INFORMER_NONE;
}

uint32_t mpijob__operator_informer_generation(const mpijob_operator *operator_, const char *kind)
{
	int source = source_of(operator_, kind);

	return source == MPIJOB__OPERATOR_INFORMER_NONE ? 0 : operator_->sources[source].generation;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* Somebody else's object has the name of a child. `watched`: a watch tells when it goes, unless it
 * has not our label. */
static void note_stranger(mpijob_operator *operator_, struct mpijob__operator_job *record,
    const struct mpijob_observed *observed, int watched)
{
	int64_t wait = STRANGERS_MS;

	if (!watched && observed->owner_kind && strcmp(observed->owner_kind, "MPIJob") == 0 &&
	    !owner_of(operator_, observed) && record->leftovers < LEFTOVER_STEPS)
		wait = (int64_t)LEFTOVER_MS << record->leftovers++;
	record->strangers_ms = operator_->now_ms + wait;
}

int mpijob__operator_children_answer(mpijob_operator *operator_,
    struct mpijob__operator_job *record, const char *json, size_t len)
{
	const struct mpijob_observed *observed;
	struct mpijob__operator_child *object;
	int source, rc;

	rc = observe(operator_, json, len, "an answer about", record->namespace_, record->name);
	if (rc)
		return rc == MPIJOB_ERR_NOMEM ? rc : MPIJOB_ERR_SYNTAX;
	observed = mpijob_observation_view(operator_->observation);
	if (!observed->kind || !observed->uid)
		return MPIJOB_ERR_SYNTAX;
	if (strcmp(observed->kind, "MPIJob") == 0) {
		struct mpijob_watch_event answer = { sizeof(answer), MPIJOB_WATCH_MODIFIED, json,
			len, len, observed->uid, or_empty(observed->name),
			or_empty(observed->namespace_), or_empty(observed->resource_version) };

		if (strcmp(observed->uid, record->uid) != 0)
			/* another one of that name: its own events tell of it */
			return MPIJOB_ERR_SYNTAX;
		record->fresh_ms = operator_->now_ms;
		rc = mpijob__operator_job_update(operator_, &answer);
		return rc < 0 ? rc : 0;
	}
	source = source_of(operator_, observed->kind);
	/* Of pods only those with our label are watched. */
	if ((source == MPIJOB__OPERATOR_INFORMER_NONE ||
		source == MPIJOB__OPERATOR_INFORMER_PODS) &&
	    owner_of(operator_, observed) != record)
		note_stranger(operator_, record, observed,
		    source != MPIJOB__OPERATOR_INFORMER_NONE);
	if (source == MPIJOB__OPERATOR_INFORMER_NONE) {
		/* Not watched (a Secret): nothing will ever tell that it is gone, so no index. */
		rc = mpijob_facts_apply(record->facts, observed);
		return rc == MPIJOB_ERR_NOMEM ? rc : 0;
	}
	object = find(operator_, observed->uid);
	if (object && (object->record != record || is_old(object, observed->resource_version)))
		return 0;
	if (!object && mpijob__operator_children_is_deleted(operator_, observed->uid,
			   mpijob__operator_version_parse(observed->resource_version)))
		return 0;
	rc = apply(operator_, record, object, observed, source);
	return rc < 0 ? rc : 0;
}

void mpijob__operator_children_deleting(mpijob_operator *operator_, const char *uid)
{
	struct mpijob__operator_child *object = find(operator_, uid);

	if (object)
		object->ours = 1;
}

void mpijob__operator_children_deleted(mpijob_operator *operator_,
    struct mpijob__operator_job *record, const char *uid)
{
	struct mpijob__operator_child *object = find(operator_, uid);

	(void)mpijob_facts_forget(record->facts, uid);
	if (object && object->record == record)
		object->gone = 1;
}

/* Secrets are never listed, and NetworkPolicies only where all jobs have one. */
int mpijob__operator_children_is_unwatched(const mpijob_operator *operator_, int32_t role)
{
	return role == MPIJOB_ROLE_SECRET ||
	       (role == MPIJOB_ROLE_NETWORK_POLICY &&
		   !operator_->sources[MPIJOB__OPERATOR_INFORMER_NETWORK_POLICIES].kind);
}

static int is_strange(const struct mpijob__operator_job *record, const char *owner_uid)
{
	return !owner_uid || strcmp(owner_uid, record->uid) != 0;
}

static void forget_strange_child(mpijob_operator *operator_, struct mpijob__operator_job *record,
    int32_t role)
{
	const struct mpijob_child_facts *child = mpijob_facts_child(record->facts, role);

	if (child && mpijob__operator_children_is_unwatched(operator_, role) &&
	    is_strange(record, child->owner_uid))
		(void)mpijob_facts_forget(record->facts, child->uid);
}

void mpijob__operator_children_forget_foreign(mpijob_operator *operator_,
    struct mpijob__operator_job *record)
{
	record->strangers_ms = 0;
	record->rounds = 0; /* what comes now goes in no circle */
	forget_strange_child(operator_, record, MPIJOB_ROLE_SECRET);
	forget_strange_child(operator_, record, MPIJOB_ROLE_NETWORK_POLICY);
	for (size_t i = record->facts->pods.count; i > 0; i--) {
		const struct mpijob__plan_pod *pod =
		    mpijob__plan_pods_at(&record->facts->pods, i - 1);
		struct mpijob__operator_child *object =
		    pod->role == MPIJOB_ROLE_WORKER && is_strange(record, pod->owner_uid)
			? mpijob__operator_index_find(&operator_->objects, &pod->uid)
			: NULL;

		if (object && object->record == record)
			(void)forget(operator_, object);
	}
}

void mpijob__operator_children_sweep(struct mpijob__operator_informer *source,
    const char *list_version)
{
	mpijob_operator *operator_ = source->operator_;
	uint64_t version = mpijob__operator_version_parse(list_version);
	struct mpijob__operator_child *object;
	size_t place = 0;

	while ((object = mpijob__operator_index_next(&operator_->objects, &place))) {
		struct mpijob__operator_job *record = object->record;

		if ((int)object->source != source->number ||
		    object->generation == source->generation)
			continue;
		/* Made by us after the list was. */
		if (!object->gone && version && object->version > version)
			continue;
		if (forget(operator_, object))
			mpijob__operator_job_enqueue(operator_, record);
	}
}
