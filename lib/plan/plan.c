/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The course of a plan: whose job it is, whether it is valid, how far it has come, and in which
 * order its parts are looked at. What each part needs is in the file that bears its name.
 */
#include "plan/plan.h"

#include "base/api.h"
#include "core/diag.h"
#include "base/struct.h"
#include "job/job.h"
#include "render/features.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WORKERS  1000000
#define YEAR_10000_MS INT64_C(253402300800000) /* no time in a status is as late */
#define A_DAY_MS      86400000
#define RETRY_MS      60000 /* a name that is taken: nothing tells us when it is free */

void mpijob__plan_fail(struct mpijob_plan *plan, int code)
{
	if (!plan->code)
		plan->code = code;
}

/* What was put into the scratch; "" after a failure. */
static const char *keep_scratch(struct mpijob_plan *plan, int code)
{
	const char *copy = NULL;

	if (!code)
		copy = mpijob__base_arena_copy(&plan->arena, mpijob_text_data(&plan->scratch),
		    plan->scratch.len);
	/* not cleared, which would wipe: names and messages are no secrets */
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
	return keep_scratch(plan, code);
}

const char *mpijob__plan_name(struct mpijob_plan *plan, int32_t role, int32_t index)
{
	return keep_scratch(plan,
	    mpijob__render_name(plan->subject.name, role, index, &plan->scratch));
}

const char *mpijob__plan_pod_name(struct mpijob_plan *plan, const struct mpijob__plan_pod *pod)
{
	return keep_scratch(plan, mpijob__plan_pod_write_name(pod, &plan->scratch));
}

void mpijob__plan_expect(struct mpijob_plan *plan, size_t more)
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
		mpijob__plan_expect(plan, plan->cap + 8);
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

static void about_job(struct mpijob_plan *plan, struct mpijob__plan_action *action)
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

void mpijob__plan_act(struct mpijob_plan *plan, int32_t stage, int32_t verb, int32_t body,
    int32_t role, int32_t index, const char *uid, const char *why)
{
	struct mpijob__plan_action *action = add(plan, stage, verb, body, why);

	if (!action)
		return;
	action->view.role = role;
	action->view.index = index;
	action->view.api_version = mpijob__render_api_version(role,
	    mpijob__render_subject_gang(&plan->subject) == MPIJOB__RENDER_GANG_VOLCANO);
	action->view.kind = mpijob__render_kind(role);
	action->view.name = mpijob__plan_name(plan, role, index);
	action->view.uid = copy_uid(plan, uid);
}

void mpijob__plan_act_status(struct mpijob_plan *plan, int32_t stage, int32_t body, const char *why)
{
	struct mpijob__plan_action *action =
	    add(plan, stage, MPIJOB_ACTION_PATCH_STATUS, body, why);

	if (action)
		about_job(plan, action);
}

void mpijob__plan_delete_job(struct mpijob_plan *plan, int32_t stage, const char *why)
{
	struct mpijob__plan_action *action =
	    add(plan, stage, MPIJOB_ACTION_DELETE, MPIJOB__PLAN_BODY_NONE, why);

	if (action)
		about_job(plan, action);
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
	    MPIJOB__PLAN_BODY_NONE, "tell people what happened");

	if (!action)
		return;
	about_job(plan, action);
	action->view.event_type = type;
	action->view.event_reason = reason;
	action->view.event_message =
	    mpijob__plan_message_cut(plan, message, MPIJOB__PLAN_MESSAGE_LIMIT);
}

void mpijob__plan_look_again(struct mpijob_plan *plan, int64_t ms)
{
	if (!plan->next_ms || ms < plan->next_ms)
		plan->next_ms = ms;
}

int mpijob__plan_owns(const struct mpijob_plan *plan, const char *owner_uid)
{
	return owner_uid && strcmp(owner_uid, mpijob_uid(plan->job)) == 0;
}

void mpijob__plan_taken(struct mpijob_plan *plan, const char *name, const char *kind)
{
	mpijob__plan_event(plan, MPIJOB__PLAN_STAGE_FIRST, "Warning",
	    MPIJOB__BASE_API_REASON_EXISTS,
	    mpijob__plan_text(plan,
		"Resource \"%s\" of Kind \"%s\" already exists and is not managed by MPIJob", name,
		kind));
	mpijob__plan_look_again(plan, plan->now_ms + RETRY_MS);
}

/* Nothing was planned. */
static void forget(struct mpijob_plan *plan)
{
	plan->count = 0;
	plan->transitions = 0;
	plan->next_ms = 0;
	plan->launcher_made = 0;
	plan->awaits_names = 0;
	plan->unseen = 0;
	plan->tells = MPIJOB__PLAN_STAGE_FIRST;
	mpijob__plan_status_reset(plan);
}

void mpijob__plan_refuse(struct mpijob_plan *plan, const mpijob_diag *findings)
{
	forget(plan);
	mpijob__plan_status_refuse(plan, mpijob__plan_text(plan, "Found validation errors: %s",
					     mpijob__plan_message_findings(plan, findings)));
}

/* 1 when somebody else is in charge, or the job is going. */
static int leave_alone(const struct mpijob_plan *plan)
{
	const mpijob_node *root = mpijob__job_node(plan->job);
	const char *manager =
	    mpijob_node_string(mpijob_node_find(root, "spec.runPolicy.managedBy"));

	if (manager && strcmp(manager, MPIJOB__BASE_API_MANAGER) != 0)
		return 1;
	return mpijob_node_string(mpijob_node_find(root, "metadata.deletionTimestamp")) != NULL;
}

/* No ConfigMap can list so many; the check keeps their number from becoming a size of ours. */
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

/* What the caller's validation reported, as if it had been made here. */
static int repeat(const mpijob_diag *validated, mpijob_diag *findings)
{
	for (size_t i = 0; i < mpijob_diag_count(validated); i++)
		if (mpijob_diag_add(findings, mpijob_diag_at(validated, i)))
			return MPIJOB_ERR_NOMEM;
	return mpijob_diag_count_severity(validated, MPIJOB_SEVERITY_ERROR) ? MPIJOB_ERR_SPEC : 0;
}

static int examine(struct mpijob_plan *plan, mpijob_diag *findings)
{
	struct mpijob_default_options defaults = { .size = sizeof(defaults),
		.reference = plan->render.reference };
	struct mpijob_validate_options judge = { .size = sizeof(judge),
		.reference = plan->render.reference };
	const struct mpijob_status *status;
	int code = mpijob_default(plan->job, &defaults, findings);

	if (!code)
		code = plan->validated ? repeat(plan->validated, findings)
				       : mpijob_validate(plan->job, &judge, findings);
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

static void see_first(struct mpijob_plan *plan)
{
	const char *message;

	if (plan->draft.count)
		return;
	message = mpijob__plan_text(plan, "MPIJob %s/%s is created.", plan->subject.namespace_,
	    plan->subject.name);
	mpijob__plan_conditions_set(plan, "Created", MPIJOB_CONDITION_TRUE, "MPIJobCreated",
	    message);
	mpijob__plan_event(plan, MPIJOB__PLAN_STAGE_LAST, "Normal", "MPIJobCreated", message);
	plan->transitions |= MPIJOB_TRANSITION_CREATED;
}

/*
 * A job that is refused no more: that it is not Failed any longer is all that is done now. One that
 * has started and is Failed would be cleaned up.
 */
static void accept(struct mpijob_plan *plan)
{
	forget(plan);
	mpijob__plan_status_accept(plan);
	see_first(plan);
}

static void start_clock(struct mpijob_plan *plan)
{
	if (plan->draft.has_start_time || plan->suspended)
		return;
	plan->draft.has_start_time = 1;
	plan->draft.start_time = plan->now_ms / 1000;
}

/* What a job needs while it is not finished. 0 when the plan has to stop. */
static int provide(struct mpijob_plan *plan)
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

/* Something that ends the job comes before all else: the news first, then cleaning up. */
static int ends(struct mpijob_plan *plan)
{
	if (mpijob__plan_launcher_vanished(plan)) {
		mpijob__plan_status_end_unseen(plan);
		plan->unseen = 1;
	} else if (mpijob__plan_launcher_done(plan) || (plan->workers.evicted && !plan->suspended))
		mpijob__plan_status_update(plan);
	else
		return 0;
	mpijob__plan_cleanup_plan(plan);
	return 1;
}

static void advance(struct mpijob_plan *plan)
{
	start_clock(plan);
	if (!mpijob__plan_launcher_find(plan))
		return;
	plan->subject.launcher_runs = plan->launcher && !plan->launcher->suspended;
	mpijob__plan_restart_look(plan);
	if (ends(plan))
		return;
	if (plan->restart.stops)
		mpijob__plan_restart_stop(plan);
	else if (!provide(plan))
		return;
	mpijob__plan_status_update(plan);
}

static void make(struct mpijob_plan *plan, mpijob_diag *diag)
{
	mpijob_diag *findings = mpijob_diag_new();
	int code = MPIJOB_ERR_NOMEM, accepted;

	if (findings)
		code = examine(plan, findings);
	for (size_t i = 0; code != MPIJOB_ERR_NOMEM && i < mpijob_diag_count(findings); i++) {
		if (mpijob_diag_add(diag, mpijob_diag_at(findings, i)))
			code = MPIJOB_ERR_NOMEM;
	}
	if (code == MPIJOB_ERR_SPEC)
		mpijob__plan_refuse(plan, findings);
	else if (code)
		mpijob__plan_fail(plan, code);
	mpijob_diag_free(findings);
	if (code)
		return;

	plan->suspended = plan->subject.spec->run_policy &&
			  plan->subject.spec->run_policy->suspend &&
			  *plan->subject.spec->run_policy->suspend;
	accepted = mpijob__plan_status_accept(plan);
	see_first(plan);
	mpijob__plan_workers_count(plan);
	if (mpijob__plan_conditions_finished(&plan->draft)) {
		mpijob__plan_launcher_find(plan);
		mpijob__plan_cleanup_plan(plan);
	} else {
		advance(plan);
	}
	/* What is too large is refused only when it was rendered. */
	if (accepted && !mpijob__plan_status_is_refused(&plan->draft))
		accept(plan);
}

/*
 * Put the stages in order, keep the order inside of each, and number them from 0 without gaps. Few
 * actions stand behind one of a later stage, and there may be many of those: what moves is moved
 * past them at once.
 */
static void order(struct mpijob_plan *plan)
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

static int copy_string(struct mpijob__base_arena *arena, const char **member)
{
	if (!*member)
		return 0;
	*member = mpijob__base_arena_copy(arena, *member, strlen(*member));
	return *member ? 0 : MPIJOB_ERR_NOMEM;
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
		if (copy_string(&plan->arena, &class->name))
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
	    options.launcher_hold_ms < 0 || options.launcher_hold_ms > A_DAY_MS ||
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
	if (copy_string(&plan->arena, &plan->render.cluster_domain) ||
	    copy_string(&plan->arena, &plan->render.gang_scheduler))
		return MPIJOB_ERR_NOMEM;
	return copy_classes(plan);
}

static int check_job(const mpijob *job)
{
	const char *name = mpijob_name(job), *uid = mpijob_uid(job);

	return name && *name && uid && *uid ? 0 : MPIJOB_ERR_USAGE;
}

/* What a code that is not about the job means. */
static int refuse(mpijob_diag *diag, int code, const char *usage)
{
	if (code == MPIJOB_ERR_UNSUPPORTED)
		usage = "a struct has a member that this version of the library does not know";
	if (code == MPIJOB_ERR_USAGE || code == MPIJOB_ERR_UNSUPPORTED)
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "bad-options", NULL, NULL, NULL,
		    "plan options: %s", usage);
	return code;
}

static void compose(struct mpijob_plan *plan, const mpijob *job, const mpijob_facts *facts,
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
	if (!plan->code && !leave_alone(plan))
		make(plan, diag);
	mpijob__plan_status_close(plan);
	order(plan);
	mpijob__plan_notes_add(plan);
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
		return refuse(diag, code, "the job needs metadata.name and metadata.uid");
	plan = calloc(1, sizeof(*plan));
	if (!plan)
		return MPIJOB_ERR_NOMEM;
	plan->code = copy_options(plan, options);
	if (plan->code)
		refuse(diag, plan->code,
		    "a member is out of its bounds, or the size of a struct is not set");
	else
		compose(plan, job, facts, diag);
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

size_t mpijob_plan_count(const mpijob_plan *plan)
{
	return plan ? plan->count : 0;
}

const struct mpijob_action *mpijob_plan_at(const mpijob_plan *plan, size_t index)
{
	return plan && index < plan->count ? &plan->actions[index].view : NULL;
}

const struct mpijob_status *mpijob_plan_status(const mpijob_plan *plan)
{
	return plan ? &plan->status : NULL;
}

int64_t mpijob_plan_next_ms(const mpijob_plan *plan)
{
	return plan ? plan->next_ms : 0;
}

int mpijob_plan_awaits_names(const mpijob_plan *plan)
{
	return plan && plan->awaits_names ? plan->workers.wanted : 0;
}

int32_t mpijob_plan_transitions(const mpijob_plan *plan)
{
	return plan ? plan->transitions : 0;
}
