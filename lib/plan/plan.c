/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of planning: check that the job is ours and valid, determine whether it is finished,
 * then plan the children, workers, launcher and status, each in the file with its name.
 */
#include "plan/plan.h"

#include "base/api.h"
#include "core/diag.h"
#include "base/struct.h"
#include "job/job.h"
#include "render/features.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WORKERS      1000000
#define YEAR_10000_MS     INT64_C(253402300800000) /* a status cannot express later times */
#define DAY_MS            86400000
#define CONFLICT_RETRY_MS 60000 /* name conflict: no event reports when it is resolved */

void mpijob__plan_fail(struct mpijob_plan *plan, int code)
{
	if (!plan->code)
		plan->code = code;
}

/* Copy the temporary buffer into the arena; "" after a failure. */
static const char *copy_scratch(struct mpijob_plan *plan, int code)
{
	const char *copy = NULL;

	if (!code)
		copy = mpijob__base_arena_copy(&plan->arena, mpijob_text_data(&plan->scratch),
		    plan->scratch.len);
	/* mpijob_text_clear() would wipe it; names and messages are not secret */
	plan->scratch.len = 0;
	if (copy)
		return copy;
	mpijob__plan_fail(plan, MPIJOB_ERR_NOMEM);
	return "";
}

const char *mpijob__plan_text(struct mpijob_plan *plan, const char *format, ...)
{
	va_list args;
	int code;

	va_start(args, format);
	code = mpijob__base_text_vprintf(&plan->scratch, format, args);
	va_end(args);
	return copy_scratch(plan, code);
}

const char *mpijob__plan_name(struct mpijob_plan *plan, int32_t role, int32_t index)
{
	return copy_scratch(plan,
	    mpijob__render_name(plan->subject.name, role, index, &plan->scratch));
}

const char *mpijob__plan_pod_name(struct mpijob_plan *plan, const struct mpijob__plan_pod *pod)
{
	return copy_scratch(plan, mpijob__plan_pod_write_name(pod, &plan->scratch));
}

void mpijob__plan_reserve(struct mpijob_plan *plan, size_t more)
{
	struct mpijob__plan_action *actions;

	if (plan->cap - plan->count >= more)
		return;
	actions = realloc(plan->actions, (plan->count + more) * sizeof(*actions));
	if (!actions) {
		mpijob__plan_fail(plan, MPIJOB_ERR_NOMEM);
		return;
	}
	plan->actions = actions;
	plan->cap = plan->count + more;
}

static struct mpijob__plan_action *add(struct mpijob_plan *plan, int32_t stage, int32_t verb,
    int32_t body, const char *why)
{
	struct mpijob__plan_action *action;

	if (plan->count == plan->cap)
		mpijob__plan_reserve(plan, plan->cap + 8);
	if (plan->count == plan->cap)
		return NULL;
	action = &plan->actions[plan->count++];
	memset(action, 0, sizeof(*action));
	action->view.size = sizeof(action->view);
	action->view.verb = verb;
	action->view.stage = stage;
	action->view.index = -1;
	action->view.why = why;
	action->body = body;
	return action;
}

static void set_object_to_job(struct mpijob_plan *plan, struct mpijob__plan_action *action)
{
	action->view.api_version = MPIJOB__BASE_API_VERSION;
	action->view.kind = MPIJOB__BASE_API_KIND;
	action->view.name = mpijob_name(plan->job);
	action->view.uid = mpijob_uid(plan->job);
}

static const char *copy_uid(struct mpijob_plan *plan, const char *uid)
{
	const char *copy;

	if (!uid)
		return NULL;
	copy = mpijob__base_arena_copy(&plan->arena, uid, strlen(uid));
	if (!copy)
		mpijob__plan_fail(plan, MPIJOB_ERR_NOMEM);
	return copy;
}

struct mpijob__plan_action *mpijob__plan_add_action(struct mpijob_plan *plan, int32_t stage,
    int32_t verb, int32_t body, int32_t role, int32_t index, const char *uid, const char *why)
{
	struct mpijob__plan_action *action = add(plan, stage, verb, body, why);

	if (!action)
		return NULL;
	action->view.role = role;
	action->view.index = index;
	action->view.api_version = mpijob__render_api_version(role,
	    mpijob__render_subject_gang(&plan->subject) == MPIJOB__RENDER_GANG_VOLCANO);
	action->view.kind = mpijob__render_kind(role);
	action->view.name = mpijob__plan_name(plan, role, index);
	action->view.uid = copy_uid(plan, uid);
	return action;
}

void mpijob__plan_add_status_patch(struct mpijob_plan *plan, int32_t stage, int32_t body,
    const char *why)
{
	struct mpijob__plan_action *action =
	    add(plan, stage, MPIJOB_ACTION_PATCH_STATUS, body, why);

	if (action)
		set_object_to_job(plan, action);
}

void mpijob__plan_delete_job(struct mpijob_plan *plan, int32_t stage, const char *why)
{
	struct mpijob__plan_action *action =
	    add(plan, stage, MPIJOB_ACTION_DELETE, MPIJOB__PLAN_BODY_NONE, why);

	if (action)
		set_object_to_job(plan, action);
}

void mpijob__plan_delete_launcher_pod(struct mpijob_plan *plan, int32_t stage,
    const struct mpijob__plan_pod *pod, const char *why)
{
	struct mpijob__plan_action *action =
	    add(plan, stage, MPIJOB_ACTION_DELETE, MPIJOB__PLAN_BODY_NONE, why);
	char uid[MPIJOB__BASE_UID_ROOM];

	if (!action)
		return;
	action->view.role = MPIJOB_ROLE_LAUNCHER;
	action->view.api_version = mpijob__render_api_version(MPIJOB_ROLE_WORKER, 0);
	action->view.kind = mpijob__render_kind(MPIJOB_ROLE_WORKER);
	action->view.name = mpijob__plan_pod_name(plan, pod);
	action->view.uid = copy_uid(plan, mpijob__base_uid_text(&pod->uid, uid));
}

void mpijob__plan_event(struct mpijob_plan *plan, int32_t stage, const char *type,
    const char *reason, const char *message)
{
	struct mpijob__plan_action *action = add(plan, stage, MPIJOB_ACTION_EVENT,
	    MPIJOB__PLAN_BODY_NONE, "report an Event about the job");

	if (!action)
		return;
	set_object_to_job(plan, action);
	action->view.event_type = type;
	action->view.event_reason = reason;
	action->view.event_message =
	    mpijob__plan_message_cut(plan, message, MPIJOB__PLAN_MESSAGE_LIMIT);
}

void mpijob__plan_again_at(struct mpijob_plan *plan, int64_t ms)
{
	if (!plan->result.next_ms || ms < plan->result.next_ms)
		plan->result.next_ms = ms;
}

int mpijob__plan_owns(const struct mpijob_plan *plan, const char *owner_uid)
{
	return owner_uid && strcmp(owner_uid, mpijob_uid(plan->job)) == 0;
}

void mpijob__plan_name_conflict(struct mpijob_plan *plan, const char *name, const char *kind)
{
	mpijob__plan_event(plan, MPIJOB__PLAN_STAGE_FIRST, "Warning",
	    MPIJOB__BASE_API_REASON_EXISTS,
	    mpijob__plan_text(plan,
		"Resource \"%s\" of Kind \"%s\" already exists and is not managed by MPIJob", name,
		kind));
	mpijob__plan_again_at(plan, plan->now_ms + CONFLICT_RETRY_MS);
}

/* Discard everything that was planned. */
static void discard(struct mpijob_plan *plan)
{
	plan->count = 0;
	plan->result.transitions = 0;
	plan->result.next_ms = 0;
	plan->creates_launcher = 0;
	plan->result.awaited_names = 0;
	plan->unseen = 0;
	plan->status_stage = MPIJOB__PLAN_STAGE_FIRST;
	mpijob__plan_status_reset(plan);
}

void mpijob__plan_reject(struct mpijob_plan *plan, const mpijob_diag *findings)
{
	discard(plan);
	mpijob__plan_status_reject(plan, mpijob__plan_text(plan, "Found validation errors: %s",
					     mpijob__plan_message_findings(plan, findings)));
}

/* Whether another controller manages the job, or the job is being deleted. */
static int is_not_ours(const struct mpijob_plan *plan)
{
	const mpijob_node *root = mpijob__job_node(plan->job);
	const char *manager =
	    mpijob_node_string(mpijob_node_find(root, "spec.runPolicy.managedBy"));

	if (manager && strcmp(manager, MPIJOB__BASE_API_MANAGER) != 0)
		return 1;
	return mpijob_node_string(mpijob_node_find(root, "metadata.deletionTimestamp")) != NULL;
}

/* No ConfigMap can list so many; the check limits the memory that the number can allocate. */
static int check_workers(const struct mpijob_plan *plan, mpijob_diag *findings)
{
	int32_t workers = mpijob__render_subject_workers(&plan->subject);

	if (workers <= MOST_WORKERS)
		return 0;
	mpijob__core_diag_addf(findings, MPIJOB_SEVERITY_ERROR, "too-many-workers", "Invalid",
	    "spec.mpiReplicaSpecs[Worker].replicas", NULL,
	    "%d workers are more than one job can have", (int)workers);
	return MPIJOB_ERR_SPEC;
}

/* Report the findings of the caller's validation. */
static int copy_findings(const mpijob_diag *validated, mpijob_diag *findings)
{
	for (size_t i = 0; mpijob_diag_at(validated, i); i++)
		if (mpijob_diag_add(findings, mpijob_diag_at(validated, i)))
			return MPIJOB_ERR_NOMEM;
	return mpijob_diag_count(validated, MPIJOB_SEVERITY_ERROR) ? MPIJOB_ERR_SPEC : 0;
}

static int validate(struct mpijob_plan *plan, mpijob_diag *findings)
{
	struct mpijob_default_options defaults = { .size = sizeof(defaults),
		.reference = plan->render.reference };
	struct mpijob_validate_options checks = { .size = sizeof(checks),
		.reference = plan->render.reference };
	const struct mpijob_status *status;
	int code = mpijob_default(plan->job, &defaults, findings);

	if (!code)
		code = plan->validated ? copy_findings(plan->validated, findings)
				       : mpijob_validate(plan->job, &checks, findings);
	if (!code)
		code = mpijob__job_status(plan->job, &status, findings);
	if (!code)
		code = mpijob__plan_limit_workers(plan, findings);
	if (!code)
		code =
		    mpijob__render_subject_make(plan->job, &plan->render, &plan->subject, findings);
	if (!code)
		code = check_workers(plan, findings);
	return code;
}

static void add_created(struct mpijob_plan *plan)
{
	const char *message;

	if (plan->draft.count)
		return;
	message = mpijob__plan_text(plan, "MPIJob %s/%s is created.", plan->subject.namespace_,
	    plan->subject.name);
	mpijob__plan_conditions_set(plan, "Created", MPIJOB_CONDITION_TRUE, "MPIJobCreated",
	    message);
	mpijob__plan_event(plan, MPIJOB__PLAN_STAGE_LAST, "Normal", "MPIJobCreated", message);
	plan->result.transitions |= MPIJOB_TRANSITION_CREATED;
}

/*
 * A job that is not rejected any more: this plan only removes the condition Failed. Otherwise it
 * would be cleaned up as a failed job.
 */
static void plan_correction(struct mpijob_plan *plan)
{
	discard(plan);
	mpijob__plan_status_accept(plan);
	add_created(plan);
}

static void set_start_time(struct mpijob_plan *plan)
{
	if (plan->draft.has_start_time || plan->suspended)
		return;
	plan->draft.has_start_time = 1;
	plan->draft.start_time = plan->now_ms / 1000;
}

/* Plan the children of a job that is not finished. 0 to stop planning. */
static int plan_children(struct mpijob_plan *plan)
{
	if (!mpijob__plan_children_plan(plan))
		return 0;
	if (!plan->suspended && !mpijob__plan_workers_plan(plan))
		return 0;
	mpijob__plan_restart_replace(plan);
	mpijob__plan_launcher_create(plan);
	mpijob__plan_launcher_switch(plan);
	if (plan->suspended) {
		mpijob__plan_workers_delete(plan, MPIJOB__PLAN_STAGE_CLEAN, 0,
		    "the job is suspended");
		mpijob__plan_children_delete_pod_group(plan, MPIJOB__PLAN_STAGE_CLEAN,
		    "the job is suspended");
	}
	return 1;
}

/* Plan the end of a job that has ended: first the status, then the cleanup. 0 if it has not. */
static int plan_end(struct mpijob_plan *plan)
{
	if (mpijob__plan_launcher_vanished(plan)) {
		mpijob__plan_status_end_unobserved(plan);
		plan->unseen = 1;
	} else if (mpijob__plan_launcher_done(plan) || (plan->workers.evicted && !plan->suspended))
		mpijob__plan_status_update(plan);
	else
		return 0;
	mpijob__plan_cleanup_plan(plan);
	return 1;
}

static void plan_unfinished(struct mpijob_plan *plan)
{
	set_start_time(plan);
	if (!mpijob__plan_launcher_find(plan))
		return;
	plan->subject.launcher_runs = plan->launcher && !plan->launcher->suspended;
	mpijob__plan_restart_decide(plan);
	if (plan_end(plan))
		return;
	if (plan->restart.stopping)
		mpijob__plan_restart_stop(plan);
	else if (!plan_children(plan))
		return;
	mpijob__plan_status_update(plan);
}

static void plan_job(struct mpijob_plan *plan, mpijob_diag *diag)
{
	mpijob_diag *findings = mpijob_diag_new();
	int code = MPIJOB_ERR_NOMEM, accepted;

	if (findings)
		code = validate(plan, findings);
	for (size_t i = 0; code != MPIJOB_ERR_NOMEM && mpijob_diag_at(findings, i); i++) {
		if (mpijob_diag_add(diag, mpijob_diag_at(findings, i)))
			code = MPIJOB_ERR_NOMEM;
	}
	if (code == MPIJOB_ERR_SPEC)
		mpijob__plan_reject(plan, findings);
	else if (code)
		mpijob__plan_fail(plan, code);
	mpijob_diag_free(findings);
	if (code)
		return;

	plan->suspended = plan->subject.spec->run_policy &&
			  plan->subject.spec->run_policy->suspend &&
			  *plan->subject.spec->run_policy->suspend;
	accepted = mpijob__plan_status_accept(plan);
	add_created(plan);
	mpijob__plan_workers_count(plan);
	if (mpijob__plan_conditions_finished(&plan->draft)) {
		mpijob__plan_launcher_find(plan);
		mpijob__plan_cleanup_plan(plan);
	} else {
		plan_unfinished(plan);
	}
	/* A ConfigMap that is too large is detected only by rendering it. */
	if (accepted && !mpijob__plan_status_is_rejected(&plan->draft))
		plan_correction(plan);
}

/*
 * Sort the actions by stage, stable, and number the stages from 0 without gaps. Insertion with
 * memmove() is fast here, because few actions come after one of a later stage.
 */
static void sort_stages(struct mpijob_plan *plan)
{
	struct mpijob__plan_action *actions = plan->actions;
	int32_t last = -1, number = -1;

	for (size_t i = 1; i < plan->count; i++) {
		struct mpijob__plan_action action = actions[i];
		size_t at = i;

		while (at > 0 && actions[at - 1].view.stage > action.view.stage)
			at--;
		memmove(&actions[at + 1], &actions[at], (i - at) * sizeof(*actions));
		actions[at] = action;
	}
	for (size_t i = 0; i < plan->count; i++) {
		number += actions[i].view.stage != last;
		last = actions[i].view.stage;
		actions[i].view.stage = number;
	}
}

static int copy_classes(struct mpijob_plan *plan)
{
	struct mpijob_render_options *render = &plan->render;
	const struct mpijob_priority_class **classes;

	if (!render->priority_classes_count)
		return 0;
	if (!render->priority_classes)
		return MPIJOB_ERR_USAGE;
	classes = mpijob__base_arena_array(&plan->arena, render->priority_classes_count,
	    sizeof(*classes));
	if (!classes)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < render->priority_classes_count; i++) {
		struct mpijob_priority_class *class =
		    mpijob__base_arena_alloc(&plan->arena, sizeof(*class));
		int code;

		if (!class)
			return MPIJOB_ERR_NOMEM;
		if (!render->priority_classes[i])
			return MPIJOB_ERR_USAGE;
		code =
		    mpijob__base_struct_check(class, sizeof(*class), render->priority_classes[i]);
		if (code)
			return code;
		if (!class->name)
			return MPIJOB_ERR_USAGE;
		if (mpijob__base_arena_own(&plan->arena, &class->name))
			return MPIJOB_ERR_NOMEM;
		classes[i] = class;
	}
	render->priority_classes = classes;
	return 0;
}

static int copy_options(struct mpijob_plan *plan, const struct mpijob_plan_options *given)
{
	struct mpijob_plan_options options;
	int code = mpijob__base_struct_check(&options, sizeof(options), given);

	if (!code)
		code =
		    mpijob__base_struct_check(&plan->render, sizeof(plan->render), options.render);
	if (!code)
		code = mpijob__render_features_take(plan->render.features, plan->render.reference,
		    &plan->features);
	if (code)
		return code;
	if (options.now_ms < 0 || options.now_ms >= YEAR_10000_MS || options.max_workers < 0 ||
	    options.launcher_hold_ms < 0 || options.launcher_hold_ms > DAY_MS ||
	    options.workers_ready_ms < 0 || options.workers_ready_ms >= YEAR_10000_MS ||
	    !mpijob__base_struct_is_flag(options.names_known))
		return MPIJOB_ERR_USAGE;
	plan->now_ms = options.now_ms;
	plan->max_workers = options.max_workers;
	plan->validated = options.validated;
	plan->hold_ms = plan->render.reference ? 0 : options.launcher_hold_ms;
	plan->ready_ms = options.workers_ready_ms;
	plan->names_known = options.names_known != 0;
	plan->render.features = &plan->features;
	plan->render.entropy = NULL;
	plan->render.entropy_len = 0;
	plan->render.running = NULL;
	plan->render.running_count = 0;
	if (mpijob__base_arena_own(&plan->arena, &plan->render.cluster_domain) ||
	    mpijob__base_arena_own(&plan->arena, &plan->render.gang_scheduler))
		return MPIJOB_ERR_NOMEM;
	return copy_classes(plan);
}

static int check_job(const mpijob *job)
{
	const char *name = mpijob_name(job), *uid = mpijob_uid(job);

	return name && *name && uid && *uid ? 0 : MPIJOB_ERR_USAGE;
}

/* Report a failure that the options cause. */
static int report_options(mpijob_diag *diag, int code, const char *usage)
{
	if (code == MPIJOB_ERR_UNSUPPORTED)
		usage = "a struct has a member that this version of the library does not know";
	if (code == MPIJOB_ERR_USAGE || code == MPIJOB_ERR_UNSUPPORTED)
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "bad-options", NULL, NULL, NULL,
		    "plan options: %s", usage);
	return code;
}

static void build(struct mpijob_plan *plan, const mpijob *job, const mpijob_facts *facts,
    mpijob_diag *diag)
{
	plan->job = mpijob_clone(job);
	if (!plan->job) {
		mpijob__plan_fail(plan, MPIJOB_ERR_NOMEM);
		return;
	}
	plan->facts = facts;
	mpijob__plan_fail(plan, mpijob__plan_bodies_new(plan));
	mpijob__plan_status_load(plan);
	if (!plan->code && !is_not_ours(plan))
		plan_job(plan, diag);
	mpijob__plan_status_finish(plan);
	sort_stages(plan);
	mpijob__plan_notes_add(plan);
	plan->result.size = sizeof(plan->result);
	plan->result.actions_count = plan->count;
	plan->result.status = &plan->status;
	plan->facts = NULL;
	plan->validated = NULL;
	plan->launcher = NULL;
}

int mpijob_plan_new(const mpijob *job, const mpijob_facts *facts,
    const struct mpijob_plan_options *options, mpijob_plan **out, mpijob_diag *diag)
{
	struct mpijob_plan *plan;
	int code;

	if (!job || !facts || !options || !out)
		return MPIJOB_ERR_USAGE;
	code = check_job(job);
	if (code)
		return report_options(diag, code, "the job needs metadata.name and metadata.uid");
	plan = calloc(1, sizeof(*plan));
	if (!plan)
		return MPIJOB_ERR_NOMEM;
	plan->code = copy_options(plan, options);
	if (plan->code)
		report_options(diag, plan->code,
		    "a member is out of its bounds, or the size of a struct is not set");
	else
		build(plan, job, facts, diag);
	code = plan->code;
	if (code) {
		mpijob_plan_free(plan);
		return code;
	}
	*out = plan;
	return 0;
}

void mpijob_plan_free(mpijob_plan *plan)
{
	if (!plan)
		return;
	mpijob__plan_bodies_free(plan->bodies);
	mpijob_doc_free(plan->selector);
	mpijob_doc_free(plan->match_labels);
	mpijob_doc_free(plan->min_resources);
	mpijob_doc_free(plan->node_selector);
	mpijob_free(plan->job);
	free(plan->actions);
	mpijob__base_text_release(&plan->scratch);
	mpijob__base_arena_free(&plan->arena);
	free(plan);
}

const struct mpijob_action *mpijob_plan_at(const mpijob_plan *plan, size_t index)
{
	return plan && index < plan->count ? &plan->actions[index].view : NULL;
}

const struct mpijob_plan_result *mpijob_plan_get_result(const mpijob_plan *plan)
{
	return plan ? &plan->result : NULL;
}
