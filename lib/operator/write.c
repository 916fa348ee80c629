/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an action becomes a request, and what is asked before it.
 *
 * A body is rendered, and a key drawn, when its turn has come. News may be old: before a launcher
 * is made or something deleted, the job is looked at; before its end is told because there is no
 * launcher, that; before something is made that no watch tells of, or pods that need it, that, too.
 */
#include "operator/write.h"

#include "base/secret.h"
#include "client/client.h"
#include "plan/plan.h"
#include "render/render.h"

#include <stdlib.h>
#include <string.h>

#define FRESH_MS 10000 /* what the server said of a job so lately is true */

static void fill_target(const struct mpijob__operator_write *write, struct mpijob_target *target)
{
	target->api_version = write->action.api_version;
	target->kind = write->action.kind;
	target->namespace_ = write->record->namespace_;
	target->name = write->action.name;
}

int mpijob__operator_write_verify(struct mpijob__operator_write *write, int failed)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL,
		mpijob__operator_answer_handle, write };
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	write->looking = 1;
	write->failed = failed;
	write->generation =
	    mpijob__operator_informer_generation(write->operator_, write->action.kind);
	fill_target(write, &target);
	return mpijob__operator_read_start(write->operator_, target, &callbacks, &write->listing,
	    &write->call);
}

static int write_body(struct mpijob__operator_job *record, size_t index, int with_entropy,
    mpijob_text *body)
{
	uint8_t entropy[MPIJOB_SSH_ENTROPY];
	int rc = with_entropy ? mpijob__operator_entropy_fill(entropy, sizeof(entropy)) : 0;

	if (rc == 0)
		rc = mpijob_plan_write_body(record->act.plan, index, with_entropy ? entropy : NULL,
		    with_entropy ? sizeof(entropy) : 0, mpijob_text_write, body);
	if (with_entropy)
		mpijob__base_secret_wipe(entropy, sizeof(entropy));
	return rc;
}

/* The resourceVersion of the job that was planned for; NULL when it has none. */
static const char *version_of(const struct mpijob__operator_job *record)
{
	return mpijob_node_string(mpijob_node_find(mpijob_doc_root(mpijob_document(record->job)),
	    "metadata.resourceVersion"));
}

int mpijob__operator_write_update(struct mpijob__operator_write *write,
    const struct mpijob_answer *answer)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL,
		mpijob__operator_answer_handle, write };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_text body = { 0 };
	int rc = write_body(write->record, write->index, write->action.role == MPIJOB_ROLE_SECRET,
	    &body);

	if (rc == 0)
		rc = mpijob__operator_write_merge(write, answer, &body);
	write->looking = write->listing = write->updating = 0;
	write->updated = 1;
	fill_target(write, &target);
	if (rc == 0)
		rc = mpijob__client_request_start(write->operator_->client, "PUT", &target,
		    "application/json", &body, &callbacks, &write->call);
	mpijob__base_text_release(&body);
	return rc;
}

static int send(struct mpijob__operator_write *write, size_t index)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL,
		mpijob__operator_answer_handle, write };
	const struct mpijob_action *action = &write->action;
	struct mpijob_delete_options options = MPIJOB_DELETE_OPTIONS_INIT;
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	const char *method = "PATCH", *type = "application/merge-patch+json";
	mpijob_text body = { 0 };
	int rc;

	if (mpijob__operator_write_is_update(write)) {
		write->updating = 1;
		return mpijob__operator_write_verify(write, 0);
	}
	fill_target(write, &target);
	write->generation = mpijob__operator_informer_generation(write->operator_, action->kind);
	if (action->verb == MPIJOB_ACTION_PATCH_STATUS)
		target.subresource = "status";
	if (action->verb == MPIJOB_ACTION_DELETE) {
		method = "DELETE";
		type = "application/json";
		/* A watch may be faster than the answer. */
		mpijob__operator_children_deleting(write->operator_, action->uid);
		/* A job that was changed meanwhile may not be one to delete any more. */
		options.uid = action->uid;
		options.resource_version = action->role == 0 ? version_of(write->record) : NULL;
		options.propagation = "Background";
		rc = mpijob__client_delete_write_options(&options, &target, &body);
	} else {
		rc = write_body(write->record, index, action->role == MPIJOB_ROLE_SECRET, &body);
	}
	if (action->verb == MPIJOB_ACTION_CREATE) {
		method = "POST";
		type = "application/json";
		target.name = NULL;
	}
	if (rc == 0)
		rc = mpijob__client_request_start(write->operator_->client, method, &target, type,
		    &body, &callbacks, &write->call);
	mpijob__base_text_release(&body);
	return rc;
}

/* The Service is made before them, in the same plan. */
static int makes_service(const mpijob_plan *plan)
{
	for (size_t i = 0; i < mpijob_plan_count(plan); i++) {
		const struct mpijob_action *action = mpijob_plan_at(plan, i);

		if (action->verb == MPIJOB_ACTION_CREATE && action->role == MPIJOB_ROLE_SERVICE)
			return 1;
		if (action->stage > 0)
			break;
	}
	return 0;
}

/* A job that began its life under another operator may have what no watch tells of. */
static int wants_child_first(const struct mpijob__operator_job *record,
    const struct mpijob_action *action)
{
	return action->verb == MPIJOB_ACTION_CREATE &&
	       mpijob__operator_children_is_unwatched(record->operator_, action->role) &&
	       !record->known_ms[action->role] &&
	       (mpijob__operator_job_has_status(record) || !makes_service(record->act.plan));
}

/* A write becomes a look at something else. Once: the answer makes a new plan, and nothing more of
 * this one is started. */
static void turn_to(struct mpijob__operator_write *write, int32_t role, const char *name,
    const char *uid)
{
	struct mpijob_action *action = &write->action;

	write->record->act.replan = 1;
	action->verb = MPIJOB_ACTION_PATCH_STATUS;
	action->role = role;
	action->api_version = role ? mpijob__render_api_version(role, 0) : "kubeflow.org/v2beta1";
	action->kind = role ? mpijob__render_kind(role) : "MPIJob";
	action->name = name;
	action->uid = uid;
}

/*
 * News may be old, and a launcher must not run again, nor a worker go that is wanted by now: unless
 * we wrote to their job just now, we ask how that stands.
 */
static int wants_job_first(struct mpijob__operator_write *write)
{
	const struct mpijob_action *action = &write->action;
	struct mpijob__operator_job *record = write->record;

	if (write->operator_->now_ms - record->fresh_ms < FRESH_MS ||
	    (record->act.sure & MPIJOB__OPERATOR_ROLE_BIT(0)))
		return 0;
	if (action->verb != MPIJOB_ACTION_DELETE &&
	    (action->verb != MPIJOB_ACTION_CREATE || action->role != MPIJOB_ROLE_LAUNCHER))
		return 0;
	turn_to(write, 0, record->name, record->uid);
	return 1;
}

/* A watch that is behind has not told of a launcher that another of us made. */
static int wants_launcher_first(struct mpijob__operator_write *write)
{
	const struct mpijob_action *action = &write->action;
	const char *name = write->record->act.plan->unseen;

	if (!name || action->verb != MPIJOB_ACTION_PATCH_STATUS || action->role ||
	    write->record->known_ms[MPIJOB_ROLE_LAUNCHER])
		return 0;
	turn_to(write, MPIJOB_ROLE_LAUNCHER, name, NULL);
	return 1;
}

/* Our child of a role that no watch tells of, if nothing was heard of it for a while when the plan
 * was made. */
static const struct mpijob_child_facts *doubtful(const struct mpijob__operator_job *record,
    int32_t role)
{
	const struct mpijob_child_facts *child = mpijob_facts_child(record->facts, role);

	if (!child || !child->owner_uid || strcmp(child->owner_uid, record->uid) != 0 ||
	    !mpijob__operator_children_is_unwatched(record->operator_, role) ||
	    (record->act.sure & MPIJOB__OPERATOR_ROLE_BIT(role)))
		return NULL;
	return record->act.begun_ms - record->known_ms[role] < FRESH_MS ? NULL : child;
}

/* Somebody may have taken away what pods cannot start without, and no watch tells of that. */
static int wants_provisions_first(struct mpijob__operator_write *write)
{
	const struct mpijob_action *action = &write->action;
	struct mpijob__operator_job *record = write->record;
	int32_t role = MPIJOB_ROLE_SECRET;
	const struct mpijob_child_facts *child;

	if (action->verb != MPIJOB_ACTION_CREATE ||
	    (action->role != MPIJOB_ROLE_WORKER && action->role != MPIJOB_ROLE_LAUNCHER))
		return 0;
	child = doubtful(record, role);
	if (!child)
		child = doubtful(record, role = MPIJOB_ROLE_NETWORK_POLICY);
	if (!child)
		return 0;
	/* The facts forget theirs when it is gone. */
	turn_to(write, role, mpijob__plan_text(record->act.plan, "%s", child->name),
	    mpijob__plan_text(record->act.plan, "%s", child->uid));
	return 1;
}

static int wants_to_look(struct mpijob__operator_write *write)
{
	return wants_job_first(write) || wants_launcher_first(write) ||
	       wants_provisions_first(write) || wants_child_first(write->record, &write->action);
}

int mpijob__operator_write_start(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	struct mpijob__operator_reconcile *act = &record->act;
	struct mpijob__operator_write *write = calloc(1, sizeof(*write));
	size_t index = act->next;
	int rc;

	if (!write)
		return MPIJOB_ERR_NOMEM;
	write->operator_ = operator_;
	write->record = record;
	write->index = index;
	write->action = *mpijob_plan_at(act->plan, index);
	write->next = act->writes;
	if (act->writes)
		act->writes->prev = write;
	act->writes = write;
	act->in_flight++;
	operator_->writes++;
	mpijob__operator_queue_sent(&operator_->queue, &record->item);
	act->next++;
	if (wants_to_look(write))
		rc = *write->action.name ? mpijob__operator_write_verify(write, 0)
					 : MPIJOB_ERR_NOMEM;
	else
		rc = send(write, index);
	if (rc)
		mpijob__operator_write_end(write);
	return rc;
}
