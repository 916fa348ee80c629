/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the batch/v1 Job controller that launchers need: one pod at a time; at most
 * backoffLimit
 * + 1 attempts, whether pods are replaced (Never) or containers restart (OnFailure); exponential
 * back-off, suspension, deadline and TTL. Reasons and messages of conditions equal those of the
 * real controller, because operators read them. Counts are kept in memory, not in the objects.
 */
#include "local/job_controller.h"
#include "base/api.h"
#include "base/clock.h"
#include "base/text.h"
#include "local/deletion.h"
#include "local/job_status.h"
#include "local/verbs.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BACKOFF_MS  (6 * 60 * 1000)
#define MAX_NAME_PREFIX 57 /* bytes before "-xxxxx", so that a pod's name is a valid label */

struct mpijob__local_job_state {
	struct mpijob__local_job_state *next;
	char *uid;
	int dirty;
	int64_t due_ms;
	char **counted; /* uids of pods that are counted as failed or succeeded */
	size_t counted_count;
	int64_t failed;
	int64_t succeeded;
	int64_t started_ms;
	int64_t last_failure_ms;
	int64_t finished_ms;
	int rejected;    /* consecutive rejected creations */
	int stop_reason; /* STOP_*: why the controller deletes its pods */
};

#define STOP_NONE      0
#define STOP_SUSPENDED 1
#define STOP_FAILED    2
#define STOP_COMPLETE  3

static struct mpijob__local_job_state *find_state(const struct mpijob_local *local, const char *uid)
{
	struct mpijob__local_job_state *state = local->jobs;

	while (state && strcmp(state->uid, uid) != 0)
		state = state->next;
	return state;
}

static void state_free(struct mpijob__local_job_state *state)
{
	for (size_t i = 0; i < state->counted_count; i++)
		free(state->counted[i]);
	free(state->counted);
	free(state->uid);
	free(state);
}

static void add_state(struct mpijob_local *local, const struct mpijob__local_object *job)
{
	struct mpijob__local_job_state *state = calloc(1, sizeof(*state));
	char *uid = strdup(job->uid);

	/* If memory runs out, the next change of the Job adds it. */
	if (!state || !uid) {
		free(state);
		free(uid);
		return;
	}
	state->uid = uid;
	state->dirty = 1;
	state->due_ms = -1;
	state->next = local->jobs;
	local->jobs = state;
}

/* ---- count pods ---- */

static int is_counted(const struct mpijob__local_job_state *state, const char *uid)
{
	for (size_t i = 0; i < state->counted_count; i++) {
		if (strcmp(state->counted[i], uid) == 0)
			return 1;
	}
	return 0;
}

static int mark_counted(struct mpijob__local_job_state *state, const char *uid)
{
	char **counted = realloc(state->counted, (state->counted_count + 1) * sizeof(*counted));

	if (!counted)
		return MPIJOB_ERR_NOMEM;
	state->counted = counted;
	counted[state->counted_count] = strdup(uid);
	if (!counted[state->counted_count])
		return MPIJOB_ERR_NOMEM;
	state->counted_count++;
	return 0;
}

static int phase_is(const struct mpijob__local_object *pod, const char *phase)
{
	const char *now = mpijob__local_store_text(pod, "status.phase");

	return now && strcmp(now, phase) == 0;
}

static void count_result(struct mpijob__local_job_state *state, int succeeded)
{
	if (succeeded) {
		state->succeeded++;
	} else {
		state->failed++;
		state->last_failure_ms = mpijob__base_clock_monotonic_ms();
	}
}

/* Count a pod that was deleted before its end was observed. */
static void count_lost(struct mpijob__local_job_state *state,
    const struct mpijob__local_object *pod)
{
	if (!is_counted(state, pod->uid) && state->stop_reason != STOP_COMPLETE)
		count_result(state, phase_is(pod, "Succeeded"));
}

void mpijob__local_job_controller_changed(struct mpijob_local *local,
    struct mpijob__local_object *object, int change)
{
	struct mpijob__local_job_state *state = NULL;

	if (object->kind->id == MPIJOB__LOCAL_KIND_JOB) {
		state = find_state(local, object->uid);
		if (!state && change == MPIJOB__LOCAL_CHANGE_ADDED)
			add_state(local, object);
	} else if (object->kind->id == MPIJOB__LOCAL_KIND_POD && object->owner_count > 0) {
		state = find_state(local, object->owners[0]);
		if (state && change == MPIJOB__LOCAL_CHANGE_DELETED)
			count_lost(state, object);
	}
	if (state)
		state->dirty = 1;
}

struct pods {
	int64_t active;
	int64_t ready;
	int64_t terminating;
	int64_t restarts; /* failed container runs in active pods */
};

/* Whether the last run failed and its restart is still pending. */
static int awaits_restart_after_failure(const mpijob_node *status)
{
	const char *path = mpijob_node_find(status, "state.waiting")
			       ? "lastState.terminated.exitCode"
			       : "state.terminated.exitCode";
	int64_t code = 0;

	return mpijob_node_int(mpijob_node_find(status, path), &code) && code != 0;
}

/* Failed runs of one pod: those that were restarted, and one whose restart is pending. */
static int64_t failed_runs(const struct mpijob__local_object *pod)
{
	static const char *const lists[] = { "status.initContainerStatuses",
		"status.containerStatuses" };
	int64_t runs = 0;

	for (size_t i = 0; i < 2; i++) {
		const mpijob_node *list = mpijob_node_find(mpijob_doc_root(pod->doc), lists[i]);

		for (size_t j = 0; j < mpijob_node_count(list); j++) {
			const mpijob_node *status = mpijob_node_at(list, j);
			int64_t count = 0;

			mpijob_node_int(mpijob_node_get(status, "restartCount"), &count);
			runs += count + awaits_restart_after_failure(status);
		}
	}
	return runs;
}

static int restarts_containers(const struct mpijob__local_object *pod)
{
	const char *policy = mpijob__local_store_text(pod, "spec.restartPolicy");

	return policy && strcmp(policy, "OnFailure") == 0;
}

static int only_failed_replaced(const struct mpijob__local_object *job)
{
	const char *policy = mpijob__local_store_text(job, "spec.podReplacementPolicy");

	return policy && strcmp(policy, "Failed") == 0;
}

static int owned_by(const struct mpijob__local_object *pod, const struct mpijob__local_object *job)
{
	return pod->owner_count > 0 && strcmp(pod->owners[0], job->uid) == 0;
}

static int count_pod(struct mpijob__local_job_state *state, const struct mpijob__local_object *job,
    const struct mpijob__local_object *pod, struct pods *pods)
{
	int succeeded = phase_is(pod, "Succeeded");
	int ended = succeeded || phase_is(pod, "Failed");
	int deleting = mpijob__local_store_deleting(pod);

	if (!ended) {
		pods->terminating += deleting;
		pods->active += !deleting;
		pods->ready += !deleting && mpijob__local_job_status_is_true(pod, "Ready");
		if (!deleting && restarts_containers(pod))
			pods->restarts += failed_runs(pod);
	}
	/* A pod that is being deleted counts as failed at once, unless podReplacementPolicy is
	 * Failed. */
	if (is_counted(state, pod->uid) ||
	    (!ended &&
		!(deleting && state->stop_reason == STOP_NONE && !only_failed_replaced(job))))
		return 0;
	if (mark_counted(state, pod->uid))
		return MPIJOB_ERR_NOMEM;
	count_result(state, succeeded);
	return 0;
}

static int count_pods(struct mpijob_local *local, struct mpijob__local_job_state *state,
    const struct mpijob__local_object *job, struct pods *pods)
{
	int rc = 0;

	memset(pods, 0, sizeof(*pods));
	for (struct mpijob__local_object *pod =
		 mpijob__local_store_first(&local->store, MPIJOB__LOCAL_KIND_POD);
	     pod && !rc; pod = mpijob__local_store_next(pod)) {
		if (owned_by(pod, job))
			rc = count_pod(state, job, pod, pods);
	}
	return rc;
}

/* ---- create and delete pods ---- */

/* Delete the active pods. Pods that are deleted because the Job is suspended do not count as
 * failed. */
static int delete_active(struct mpijob_local *local, struct mpijob__local_job_state *state,
    const struct mpijob__local_object *job)
{
	for (struct mpijob__local_object *
		 pod = mpijob__local_store_first(&local->store, MPIJOB__LOCAL_KIND_POD),
		*next;
	     pod; pod = next) {
		int rc;

		next = mpijob__local_store_next(pod);
		if (!owned_by(pod, job) || mpijob__local_store_deleting(pod) ||
		    phase_is(pod, "Succeeded") || phase_is(pod, "Failed"))
			continue;
		rc = state->stop_reason == STOP_SUSPENDED ? mark_counted(state, pod->uid) : 0;
		if (!rc)
			rc = mpijob__local_deletion_run(local, pod, MPIJOB__LOCAL_DELETE_BACKGROUND,
			    -1);
		if (rc)
			return rc;
	}
	return 0;
}

static void put_owner(mpijob_doc *doc, mpijob_node *metadata,
    const struct mpijob__local_object *job)
{
	mpijob_node *owner =
	    mpijob_node_append_map(doc, mpijob_node_put_list(doc, metadata, "ownerReferences"));

	mpijob_node_put_string(doc, owner, "apiVersion", MPIJOB__BASE_API_BATCH);
	mpijob_node_put_string(doc, owner, "kind", "Job");
	mpijob_node_put_string(doc, owner, "name", job->name);
	mpijob_node_put_string(doc, owner, "uid", job->uid);
	mpijob_node_put_bool(doc, owner, "controller", 1);
	mpijob_node_put_bool(doc, owner, "blockOwnerDeletion", 1);
}

static mpijob_doc *new_pod(const struct mpijob__local_object *job)
{
	const mpijob_node *template_ = mpijob_node_find(mpijob_doc_root(job->doc), "spec.template");
	const mpijob_node *metadata = mpijob_node_get(template_, "metadata");
	char *prefix = mpijob__base_text_format("%.*s-", MAX_NAME_PREFIX, job->name);
	mpijob_doc *doc = prefix ? mpijob_doc_new() : NULL;
	mpijob_node *pod_metadata = mpijob_doc_make(doc, "metadata");

	mpijob_node_put_string(doc, pod_metadata, "generateName", prefix);
	if (mpijob_node_get(metadata, "labels"))
		mpijob_node_put_copy(doc, pod_metadata, "labels",
		    mpijob_node_get(metadata, "labels"));
	if (mpijob_node_get(metadata, "annotations"))
		mpijob_node_put_copy(doc, pod_metadata, "annotations",
		    mpijob_node_get(metadata, "annotations"));
	if (mpijob_node_get(metadata, "finalizers"))
		mpijob_node_put_copy(doc, pod_metadata, "finalizers",
		    mpijob_node_get(metadata, "finalizers"));
	put_owner(doc, pod_metadata, job);
	mpijob_node_put_copy(doc, mpijob_doc_edit(doc, ""), "spec",
	    mpijob_node_get(template_, "spec"));
	free(prefix);
	if (!mpijob_doc_error(doc))
		return doc;
	mpijob_doc_free(doc);
	return NULL;
}

static int64_t backoff(const struct mpijob_local *local, int64_t failures)
{
	int64_t wait = local->backoff_ms;

	while (--failures > 0 && wait < MAX_BACKOFF_MS)
		wait *= 2;
	return wait < MAX_BACKOFF_MS ? wait : MAX_BACKOFF_MS;
}

static int create_pod(struct mpijob_local *local, struct mpijob__local_job_state *state,
    const struct mpijob__local_object *job)
{
	struct mpijob__local_reply reply = { 0, NULL, NULL, NULL, NULL, NULL };
	mpijob_doc *doc = new_pod(job);
	int rc;

	if (!doc)
		return MPIJOB_ERR_NOMEM;
	rc = mpijob__local_verbs_create(local, mpijob__local_store_kind(MPIJOB__LOCAL_KIND_POD),
	    job->namespace_, mpijob_doc_root(doc), &reply, NULL);
	mpijob_doc_free(doc);
	if (!rc && reply.status >= 300) {
		state->rejected++;
		state->due_ms = mpijob__base_clock_monotonic_ms() + backoff(local, state->rejected);
		mpijob__local_notice(local, MPIJOB_SEVERITY_WARNING, "pod-refused", NULL,
		    mpijob__base_text_format("the pod of job %s was rejected: %s", job->name,
			mpijob_text_data(reply.text)));
	} else if (!rc) {
		state->rejected = 0;
	}
	mpijob__local_reply_clear(&reply);
	return rc;
}

/* ---- decisions ---- */

static int64_t number_of(const struct mpijob__local_object *job, const char *path, int64_t absent)
{
	mpijob_node_int(mpijob_node_find(mpijob_doc_root(job->doc), path), &absent);
	return absent;
}

static int is_suspended(const struct mpijob__local_object *job)
{
	int suspend = 0;

	mpijob_node_bool(mpijob_node_find(mpijob_doc_root(job->doc), "spec.suspend"), &suspend);
	return suspend;
}

static int is_past_deadline(struct mpijob__local_job_state *state,
    const struct mpijob__local_object *job)
{
	int64_t seconds = number_of(job, "spec.activeDeadlineSeconds", -1);
	int64_t end;

	if (seconds < 0 || state->started_ms == 0)
		return 0;
	end = state->started_ms + seconds * 1000;
	if (mpijob__base_clock_monotonic_ms() >= end)
		return 1;
	state->due_ms = mpijob__base_clock_earlier(state->due_ms, end);
	return 0;
}

static void find_failure(struct mpijob__local_job_state *state,
    const struct mpijob__local_object *job, const struct pods *pods,
    struct mpijob__local_job_summary *summary)
{
	if (is_suspended(job)) {
		return;
	} else if (state->failed + pods->restarts > number_of(job, "spec.backoffLimit", 6)) {
		summary->failed_reason = MPIJOB__BASE_API_REASON_BACKOFF;
		summary->failed_message = "Job has reached the specified backoff limit";
	} else if (is_past_deadline(state, job)) {
		summary->failed_reason = MPIJOB__BASE_API_REASON_DEADLINE;
		summary->failed_message = "Job was active longer than specified deadline";
	}
}

static int ensure_pod(struct mpijob_local *local, struct mpijob__local_job_state *state,
    const struct mpijob__local_object *job, const struct pods *pods)
{
	int64_t due = state->last_failure_ms + backoff(local, state->failed);

	state->stop_reason = STOP_NONE;
	if (pods->active > 0 || (pods->terminating > 0 && only_failed_replaced(job)))
		return 0;
	if (state->rejected > 0 && state->due_ms > mpijob__base_clock_monotonic_ms())
		return 0;
	if (state->failed > 0 && mpijob__base_clock_monotonic_ms() < due) {
		state->due_ms = mpijob__base_clock_earlier(state->due_ms, due);
		return 0;
	}
	return create_pod(local, state, job);
}

static int clean_up_finished(struct mpijob_local *local, struct mpijob__local_job_state *state,
    struct mpijob__local_object *job)
{
	int64_t ttl = number_of(job, "spec.ttlSecondsAfterFinished", -1);

	if (state->finished_ms == 0)
		state->finished_ms = mpijob__base_clock_monotonic_ms();
	if (ttl < 0)
		return 0;
	state->due_ms = state->finished_ms + ttl * 1000;
	if (mpijob__base_clock_monotonic_ms() < state->due_ms)
		return 0;
	return mpijob__local_deletion_run(local, job, MPIJOB__LOCAL_DELETE_FOREGROUND, -1);
}

/* Create or delete pods as the Job requires, and fill the summary. */
static int reconcile_pods(struct mpijob_local *local, struct mpijob__local_job_state *state,
    const struct mpijob__local_object *job, const struct pods *pods,
    struct mpijob__local_job_summary *summary)
{
	if (mpijob__local_job_status_failing(job, summary) == 0 && state->succeeded == 0)
		find_failure(state, job, pods, summary);
	if (summary->failed_reason) {
		state->stop_reason = STOP_FAILED;
		return delete_active(local, state, job);
	}
	if (state->succeeded > 0) {
		state->stop_reason = STOP_COMPLETE;
		summary->complete = 1;
		return delete_active(local, state, job);
	}
	summary->suspended = is_suspended(job);
	if (summary->suspended) {
		state->stop_reason = STOP_SUSPENDED;
		state->started_ms = 0;
		return delete_active(local, state, job);
	}
	if (state->started_ms == 0)
		state->started_ms = mpijob__base_clock_monotonic_ms();
	return ensure_pod(local, state, job, pods);
}

static int sync_job(struct mpijob_local *local, struct mpijob__local_job_state *state,
    struct mpijob__local_object *job)
{
	struct mpijob__local_job_summary summary = { 0 };
	struct pods pods;
	int64_t again = state->rejected ? state->due_ms : -1;
	int rc;

	state->due_ms = again;
	if (mpijob__local_store_deleting(job))
		return 0;
	if (mpijob__local_job_status_finished(job))
		return clean_up_finished(local, state, job);
	rc = count_pods(local, state, job, &pods);
	if (!rc)
		rc = reconcile_pods(local, state, job, &pods, &summary);
	/* reconcile_pods() may have created or deleted pods. */
	if (!rc)
		rc = count_pods(local, state, job, &pods);
	summary.active = pods.active;
	summary.ready = pods.ready;
	summary.terminating = pods.terminating;
	summary.failed = state->failed;
	summary.succeeded = state->succeeded;
	return rc ? rc : mpijob__local_job_status_write(local, job, &summary);
}

int mpijob__local_job_controller_run(struct mpijob_local *local, int64_t clock_ms, int64_t *next_ms)
{
	struct mpijob__local_job_state **at = &local->jobs;

	*next_ms = -1;
	while (*at) {
		struct mpijob__local_job_state *state = *at;
		struct mpijob__local_object *job =
		    mpijob__local_store_by_uid(&local->store, state->uid);
		int due = state->due_ms >= 0 && state->due_ms <= clock_ms;
		int rc = 0;

		if (!job) {
			*at = state->next;
			state_free(state);
			continue;
		}
		if (state->dirty || due) {
			state->dirty = 0;
			rc = sync_job(local, state, job);
		}
		if (rc) {
			state->dirty = 1;
			return rc;
		}
		*next_ms =
		    mpijob__base_clock_earlier(*next_ms, state->dirty ? clock_ms : state->due_ms);
		at = &state->next;
	}
	return 0;
}

void mpijob__local_job_controller_clear(struct mpijob_local *local)
{
	while (local->jobs) {
		struct mpijob__local_job_state *state = local->jobs;

		local->jobs = state->next;
		state_free(state);
	}
}
