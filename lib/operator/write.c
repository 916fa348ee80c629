/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an action becomes a request, and which actions need a fresh read first.
 *
 * A body is rendered, and a key drawn, when the request is sent.
 *
 * Cached facts are stale while a watch lags or is disconnected: a watch stays synced
 * after the first list. A create relies on that being harmless: the name is taken, so the server
 * answers 409, the object is read, and the job is planned again (answer.c). What such an answer
 * cannot undo needs a fresh read before it:
 *
 *   action                                   is read first
 *   create the launcher, delete anything     the job
 *   status patch for a missing launcher      the launcher
 *   create a pod                             our unwatched children that pods mount
 *   create an unwatched child                that child, unless the job is new
 *
 * The plan says what to read before the first three (struct mpijob_fresh_read). is_fresh() decides
 * whether a response confirmed it recently enough: the job within 10 s, or since the plan was made;
 * an unwatched child within 10 s before the plan; the launcher once since this operator leads,
 * because the watch reports later changes.
 *
 * Readiness may be stale: a worker that vanishes while the watch of pods is disconnected still
 * counts as ready when the launcher is created. mpirun then fails, and the launcher's Job retries.
 *
 * Before a deletion the job is read, and the object itself is not. Why that is enough: whether an
 * object is deleted follows from the job (replicas, suspend, cleanPodPolicy, clean-launcher, its
 * end, a restart that its status counts), so a stale job could delete what is wanted again. The
 * DELETE carries the UID as a precondition, so a pod that was recreated under the name stays; a
 * resourceVersion would add only conflicts with the kubelet's status updates. Only one fact
 * of the pod counts, its phase under cleanPodPolicy Running: a pod that ends just before its
 * deletion is deleted, too. A read before the request could not exclude that, and the reference
 * does the same. The MPIJob itself is deleted with its UID and resourceVersion: an edit may mean
 * that it stays.
 */
#include "operator/write.h"

#include "base/api.h"
#include "base/secret.h"
#include "operator/answer.h"
#include "operator/cache_children.h"
#include "base/random.h"
#include "operator/read.h"
#include "operator/request.h"
#include "operator/write_update.h"

#include <stdlib.h>
#include <string.h>

static void fill_target(const struct mpijob__operator_write *write, struct mpijob_target *target)
{
	target->api_version = write->action.api_version;
	target->kind = write->action.kind;
	target->namespace_ = write->job->namespace_;
	target->name = write->action.name;
}

/* ---- requests ---- */

int mpijob__operator_write_is_read(const struct mpijob__operator_write *write)
{
	return write->state == MPIJOB__OPERATOR_ACTION_VERIFYING ||
	       write->state == MPIJOB__OPERATOR_ACTION_VERIFYING_FAILURE ||
	       write->state == MPIJOB__OPERATOR_ACTION_MERGING;
}

int mpijob__operator_write_read(struct mpijob__operator_write *write,
    enum mpijob__operator_action_state state)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL,
		mpijob__operator_answer_handle, write };
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	write->state = state;
	write->generation =
	    mpijob__operator_informer_generation(write->operator_, write->action.kind);
	fill_target(write, &target);
	return mpijob__operator_read_start(write->operator_, target, &callbacks, &write->is_list,
	    &write->call);
}

static int start_request(struct mpijob__operator_write *write, const char *method,
    const struct mpijob_target *target, const mpijob_text *body)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL,
		mpijob__operator_answer_handle, write };

	return mpijob__operator_request_send(write->operator_->client, method, target, body,
	    &callbacks, &write->call);
}

static int write_body(const struct mpijob__operator_write *write, mpijob_text *body)
{
	int with_entropy = write->action.role == MPIJOB_ROLE_SECRET;
	uint8_t entropy[MPIJOB_SSH_ENTROPY];
	int rc = with_entropy ? mpijob__base_random_fill(entropy, sizeof(entropy)) : 0;

	if (rc == 0)
		rc = mpijob_plan_write_body(write->job->reconcile.plan, write->index,
		    with_entropy ? entropy : NULL, with_entropy ? sizeof(entropy) : 0,
		    mpijob_text_write, body);
	if (with_entropy)
		mpijob__base_secret_wipe(entropy, sizeof(entropy));
	return rc;
}

/* The resourceVersion of the job that was planned for; NULL when it has none. */
static const char *version_of(const struct mpijob__operator_job *job)
{
	return mpijob_node_string(
	    mpijob_node_find(mpijob_doc_root(mpijob_document(job->cache.mpijob)),
		"metadata.resourceVersion"));
}

int mpijob__operator_write_update(struct mpijob__operator_write *write,
    const struct mpijob_answer *answer)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_text body = { 0 };
	int rc = write_body(write, &body);

	if (rc == 0)
		rc = mpijob__operator_write_merge(write, answer, &body);
	write->state = MPIJOB__OPERATOR_ACTION_UPDATE_IN_FLIGHT;
	fill_target(write, &target);
	if (rc == 0)
		rc = start_request(write, "PUT", &target, &body);
	mpijob__base_text_release(&body);
	return rc;
}

void mpijob__operator_write_not_executed(const struct mpijob__operator_write *write)
{
	if (write->action.verb == MPIJOB_ACTION_DELETE)
		mpijob__operator_children_set_deleting(write->operator_, write->action.uid, 0);
}

static int send(struct mpijob__operator_write *write)
{
	const struct mpijob_action *action = &write->action;
	struct mpijob_delete_options options = MPIJOB_DELETE_OPTIONS_INIT;
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	const char *method = "PATCH";
	mpijob_text body = { 0 };
	int rc;

	if (mpijob__operator_write_is_update(write))
		return mpijob__operator_write_read(write, MPIJOB__OPERATOR_ACTION_MERGING);
	write->state = MPIJOB__OPERATOR_ACTION_IN_FLIGHT;
	fill_target(write, &target);
	write->generation = mpijob__operator_informer_generation(write->operator_, action->kind);
	if (action->verb == MPIJOB_ACTION_PATCH_STATUS)
		target.subresource = "status";
	if (action->verb == MPIJOB_ACTION_DELETE) {
		method = "DELETE";
		/* The watch event may arrive before the response. */
		mpijob__operator_children_set_deleting(write->operator_, action->uid, 1);
		/* The preconditions: see the top of this file. */
		options.uid = action->uid;
		options.resource_version = action->role == 0 ? version_of(write->job) : NULL;
		options.propagation = "Background";
		rc = mpijob_delete_options_write(&options, mpijob_text_write, &body);
	} else {
		rc = write_body(write, &body);
	}
	if (action->verb == MPIJOB_ACTION_CREATE) {
		method = "POST";
		target.name = NULL;
	}
	if (rc == 0)
		rc = start_request(write, method, &target, &body);
	if (rc)
		mpijob__operator_write_not_executed(write);
	mpijob__base_text_release(&body);
	return rc;
}

/* ---- fresh reads ---- */

/* The plan creates the Service before the pods. */
static int creates_service(const mpijob_plan *plan)
{
	const struct mpijob_action *action;

	for (size_t i = 0; (action = mpijob_plan_at(plan, i)); i++) {
		if (action->verb == MPIJOB_ACTION_CREATE && action->role == MPIJOB_ROLE_SERVICE)
			return 1;
		if (action->stage > 0)
			break;
	}
	return 0;
}

/* A job that another operator began may have unwatched children. */
static int needs_child(const struct mpijob__operator_job *job, const struct mpijob_action *action)
{
	return action->verb == MPIJOB_ACTION_CREATE &&
	       mpijob__operator_children_is_unwatched(job->operator_, action->role) &&
	       !job->fresh.read_ms[action->role] &&
	       (mpijob__operator_job_has_status(job) || !creates_service(job->reconcile.plan));
}

/* Turn an action into a fresh read of another object. The answer makes a new plan, so the action
 * itself, and all after it, are not executed. */
static void verify_instead(struct mpijob__operator_write *write,
    const struct mpijob_fresh_read *read)
{
	struct mpijob_action *action = &write->action;

	mpijob__operator_reconcile_set_state(write->job, MPIJOB__OPERATOR_PLAN_STALE);
	action->verb = MPIJOB__OPERATOR_ACTION_GET;
	action->role = read->role;
	action->api_version = read->api_version;
	action->kind = read->kind;
	action->name = read->name;
	action->uid = read->uid;
}

/* A response has just confirmed the job. */
static int is_job_fresh(const struct mpijob__operator_job *job)
{
	return (job->fresh.job_ms &&
		   job->operator_->now_ms - job->fresh.job_ms < MPIJOB__OPERATOR_FRESH_MS) ||
	       (job->reconcile.verified & MPIJOB__OPERATOR_ROLE_BIT(0));
}

/* Events report changes of a watched child. An unwatched one was read shortly before the plan. */
static int is_mount_fresh(const struct mpijob__operator_job *job, int32_t role)
{
	return !mpijob__operator_children_is_unwatched(job->operator_, role) ||
	       (job->reconcile.verified & MPIJOB__OPERATOR_ROLE_BIT(role)) ||
	       (job->fresh.read_ms[role] && job->reconcile.started_ms - job->fresh.read_ms[role] <
						MPIJOB__OPERATOR_FRESH_MS);
}

static int is_fresh(const struct mpijob__operator_job *job, int32_t role)
{
	switch (role) {
	case 0: return is_job_fresh(job);
	case MPIJOB_ROLE_LAUNCHER: return job->fresh.read_ms[role] != 0;
	default: return is_mount_fresh(job, role);
	}
}

static int needs_fresh_read(struct mpijob__operator_write *write)
{
	for (size_t i = 0; i < write->action.fresh_reads_count; i++) {
		const struct mpijob_fresh_read *read = write->action.fresh_reads[i];

		if (!is_fresh(write->job, read->role)) {
			verify_instead(write, read);
			return 1;
		}
	}
	return needs_child(write->job, &write->action);
}

/* ---- begin and end ---- */

/* Log each action with its reason; a fresh read has the reason of the action that needs it. */
static void log_action(const struct mpijob__operator_write *write)
{
	const struct mpijob__operator_job *job = write->job;
	const struct mpijob_action *action = &write->action;
	int is_read = mpijob__operator_write_is_read(write);

	if (!write->operator_->options.log_actions)
		return;
	mpijob__operator_log(write->operator_, MPIJOB_SEVERITY_DEBUG, "action",
	    "%s %s %s/%s for MPIJob %s%s: %s",
	    mpijob__operator_metrics_verb(is_read ? MPIJOB__OPERATOR_ACTION_GET : action->verb),
	    action->kind, job->namespace_, action->name, job->name, is_read ? ", first" : "",
	    action->why);
}

int mpijob__operator_write_start(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	struct mpijob__operator_reconcile *reconcile = &job->reconcile;
	struct mpijob__operator_write *write = calloc(1, sizeof(*write));
	int rc;

	if (!write)
		return MPIJOB_ERR_NOMEM;
	write->operator_ = operator_;
	write->job = job;
	write->index = reconcile->next++;
	write->action = *mpijob_plan_at(reconcile->plan, write->index);
	mpijob__base_list_insert(reconcile->writes.next, &write->link, write);
	reconcile->in_flight++;
	operator_->writes++;
	mpijob__operator_queue_sent(&operator_->queue, &job->item);
	if (needs_fresh_read(write))
		rc = mpijob__operator_write_read(write, MPIJOB__OPERATOR_ACTION_VERIFYING);
	else
		rc = send(write);
	if (rc)
		mpijob__operator_write_end(write);
	else
		log_action(write);
	return rc;
}

void mpijob__operator_write_end(struct mpijob__operator_write *write)
{
	struct mpijob__operator_reconcile *reconcile = &write->job->reconcile;

	mpijob__base_list_remove(&write->link);
	reconcile->in_flight--;
	write->operator_->writes--;
	mpijob__operator_queue_answered(&write->operator_->queue, &write->job->item);
	free(write->forbidden);
	free(write->rejection);
	free(write);
}
