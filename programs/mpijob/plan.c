/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command plan: what the controller would do next with a job, and why. Knows how a plan is
 * printed as lines and as a document; the body of a Secret is shown with placeholders.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/time.h"
#include "facts.h"
#include "findings.h"
#include "input.h"
#include "options.h"
#include "output.h"
#include "print.h"
#include "when.h"

struct planned {
	const struct arguments *arguments;
	struct input input;
	struct input observed;
	struct facts facts;
	mpijob *job;
	mpijob_plan *plan;
	struct mpijob_render_options render;
	int64_t now_ms;
	mpijob_diag *diag;
};

/* ---- time ---- */

/* "2026-11-21T12:00:00Z"; the current time if NULL. */
static int time_read(const char *text, int64_t *ms)
{
	int64_t seconds = mpijob__base_clock_wall_ms() / 1000;

	if (text && when_parse(text, &seconds))
		return -1;
	*ms = seconds * 1000;
	return 0;
}

static const char *time_text(int64_t ms, char out[MPIJOB__BASE_TIME_SIZE])
{
	return mpijob__base_time_format(ms / 1000, out) ? out : "?";
}

/* ---- names ---- */

static const char *verb_name(int32_t verb)
{
	static const char *const names[] = { [MPIJOB_ACTION_CREATE] = "create",
		[MPIJOB_ACTION_PATCH] = "patch",
		[MPIJOB_ACTION_PATCH_STATUS] = "patch status",
		[MPIJOB_ACTION_DELETE] = "delete",
		[MPIJOB_ACTION_EVENT] = "event" };
	return names[verb];
}

/* ---- the plan ---- */

static const mpijob_node *stored_job(const struct planned *planned)
{
	for (size_t i = 0; i < planned->observed.count; i++) {
		const mpijob_node *node = planned->observed.objects[i].node;
		const char *name = mpijob_node_string(mpijob_node_find(node, "metadata.name"));
		const char *namespace_ =
		    mpijob_node_string(mpijob_node_find(node, "metadata.namespace"));
		if (mpijob_is_job(node) && name && strcmp(name, planned->facts.name) == 0 &&
		    (!namespace_ || strcmp(namespace_, planned->facts.namespace_) == 0))
			return node;
	}
	return NULL;
}

/* The status of the stored job is that of the job. */
static int take_status(struct planned *planned, const mpijob_node *stored)
{
	const struct mpijob_status *status;
	mpijob *job = NULL;

	int code = mpijob_from_node(stored, planned->arguments->observed, &job, planned->diag);
	if (code == 0)
		code = mpijob_status_get(job, &status, planned->diag);
	if (code == 0)
		code = mpijob_status_set(planned->job, status, planned->diag);
	mpijob_free(job);
	return code;
}

static int observe(struct planned *planned)
{
	const struct words operand = { (const char **)(uintptr_t)&planned->arguments->observed, 1 };

	int code =
	    facts_begin(&planned->facts, mpijob_name(planned->job), mpijob_namespace(planned->job));
	if (code || !planned->arguments->observed)
		return code;
	code = input_read(&operand, &planned->observed, planned->diag);
	for (size_t i = 0; i < planned->observed.count && code == 0; i++)
		code =
		    facts_take(&planned->facts, planned->observed.objects[i].node, planned->diag);
	return code;
}

/* The UID of the stored job, or the one in its children's owner references, or that of the file. */
static int identify(struct planned *planned)
{
	const mpijob_node *stored = stored_job(planned);
	const char *uid = mpijob_node_string(mpijob_node_find(stored, "metadata.uid"));
	int code = 0;

	if (stored)
		code = take_status(planned, stored);
	if (!uid)
		uid = planned->facts.uid;
	if (!uid && !mpijob_uid(planned->job))
		uid = PLACEHOLDER_UID;
	return code || !uid ? code : mpijob_identify(planned->job, NULL, NULL, uid);
}

static int pick_job(struct planned *planned)
{
	const struct arguments *arguments = planned->arguments;
	const struct input_object *found = NULL;

	for (size_t i = 0; i < planned->input.count; i++) {
		const struct input_object *object = &planned->input.objects[i];
		const char *name =
		    mpijob_node_string(mpijob_node_find(object->node, "metadata.name"));
		if (!mpijob_is_job(object->node) ||
		    (arguments->job && (!name || strcmp(name, arguments->job) != 0)))
			continue;
		if (found)
			return findings_add(planned->diag, MPIJOB_ERR_USAGE, object->source,
			    "several-jobs", "several MPIJobs; name one with --job");
		found = object;
	}
	if (!found)
		return findings_add(planned->diag, MPIJOB_ERR_NOT_FOUND,
		    arguments->operands.items[0], "no-job", "no MPIJob in here");
	int code = mpijob_from_node(found->node, found->source, &planned->job, planned->diag);
	if (code == 0)
		code = input_generate_name(planned->job, 1);
	if (code == 0 && !mpijob_name(planned->job))
		return findings_add(planned->diag, MPIJOB_ERR_SPEC, found->source, "no-name",
		    "the MPIJob has no metadata.name");
	if (code == 0 && !mpijob_namespace(planned->job))
		code = mpijob_identify(planned->job, NULL,
		    arguments->namespace_ ? arguments->namespace_ : "default", NULL);
	return code;
}

static int make_plan(struct planned *planned)
{
	const struct arguments *arguments = planned->arguments;
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;

	int code = input_read(&arguments->operands, &planned->input, planned->diag);
	if (code == 0)
		code = pick_job(planned);
	if (code == 0)
		code = observe(planned);
	if (code == 0)
		code = identify(planned);
	if (code)
		return code;
	planned->render = (struct mpijob_render_options)MPIJOB_RENDER_OPTIONS_INIT;
	planned->render.reference = arguments->reference;
	planned->render.cluster_domain = arguments->cluster_domain;
	planned->render.features = options_features(arguments);
	planned->render.gang_scheduler = arguments->gang_scheduling;
	planned->render.priority_classes = planned->facts.class_pointers;
	planned->render.priority_classes_count = planned->facts.classes_count;
	options.now_ms = planned->now_ms;
	options.render = &planned->render;
	return mpijob_plan_new(planned->job, planned->facts.all, &options, &planned->plan,
	    planned->diag);
}

/* ---- as a document ---- */

/* The Secret with placeholders, as `mpijob render` shows it. */
static int shown_secret(const struct planned *planned, mpijob_doc **out)
{
	mpijob *job = mpijob_clone(planned->job);
	mpijob_objects *objects = NULL;
	size_t index = 0;

	int code = job ? mpijob_default(job, NULL, NULL) : MPIJOB_ERR_NOMEM;
	if (code == 0)
		code = mpijob_render(job, &planned->render, &objects, NULL);
	if (code == 0 && mpijob_objects_find(objects, MPIJOB_ROLE_SECRET, 0, &index))
		code = mpijob_objects_at(objects, index, out);
	mpijob_objects_free(objects);
	mpijob_free(job);
	return code;
}

static int has_body(const struct mpijob_action *action)
{
	return action->verb == MPIJOB_ACTION_CREATE || action->verb == MPIJOB_ACTION_PATCH ||
	       action->verb == MPIJOB_ACTION_PATCH_STATUS;
}

static int body_of(const struct planned *planned, size_t index, mpijob_doc **out)
{
	mpijob_text *text = mpijob_text_new();
	int code = text ? 0 : MPIJOB_ERR_NOMEM;

	if (code == 0)
		code =
		    mpijob_plan_write_body(planned->plan, index, NULL, 0, mpijob_text_write, text);
	if (code == 0)
		code = mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, out,
		    NULL);
	mpijob_text_free(text);
	return code;
}

static int put_body(const struct planned *planned, size_t index, mpijob_doc *doc, mpijob_node *map)
{
	const struct mpijob_action *action = mpijob_plan_at(planned->plan, index);
	mpijob_doc *body = NULL;

	if (!has_body(action))
		return 0;
	int code = action->role == MPIJOB_ROLE_SECRET ? shown_secret(planned, &body)
						      : body_of(planned, index, &body);
	if (code == 0 && body && action->role == MPIJOB_ROLE_SECRET &&
	    action->verb == MPIJOB_ACTION_PATCH)
		mpijob_node_put_copy(doc, mpijob_node_put_map(doc, map, "body"), "data",
		    mpijob_node_get(mpijob_doc_root(body), "data"));
	else if (code == 0 && body)
		mpijob_node_put_copy(doc, map, "body", mpijob_doc_root(body));
	mpijob_doc_free(body);
	return code;
}

static int put_action(const struct planned *planned, size_t index, mpijob_doc *doc,
    mpijob_node *list)
{
	const struct mpijob_action *action = mpijob_plan_at(planned->plan, index);
	mpijob_node *map = mpijob_node_append_map(doc, list);

	mpijob_node_put_int(doc, map, "stage", action->stage);
	mpijob_node_put_string(doc, map, "verb", verb_name(action->verb));
	mpijob_node_put_string(doc, map, "apiVersion", action->api_version);
	mpijob_node_put_string(doc, map, "kind", action->kind);
	mpijob_node_put_string(doc, map, "name", action->name);
	mpijob_node_put_string(doc, map, "uid", action->uid);
	mpijob_node_put_string(doc, map, "why", action->why);
	if (action->verb == MPIJOB_ACTION_EVENT) {
		mpijob_node *event = mpijob_node_put_map(doc, map, "event");
		mpijob_node_put_string(doc, event, "type", action->event_type);
		mpijob_node_put_string(doc, event, "reason", action->event_reason);
		mpijob_node_put_string(doc, event, "message", action->event_message);
	}
	return put_body(planned, index, doc, map);
}

/* The status in the form of an MPIJob's. */
static int put_status(const struct planned *planned, mpijob_doc *doc)
{
	mpijob *job = mpijob_clone(planned->job);
	int code = job ? mpijob_status_set(job, mpijob_plan_get_result(planned->plan)->status, NULL)
		       : MPIJOB_ERR_NOMEM;

	if (code == 0)
		mpijob_node_put_copy(doc, mpijob_doc_edit(doc, ""), "status",
		    mpijob_node_get(mpijob_doc_root(mpijob_document(job)), "status"));
	mpijob_free(job);
	return code;
}

static int print_document(const struct planned *planned, int32_t format)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *actions = mpijob_node_put_list(doc, mpijob_doc_edit(doc, ""), "actions");
	const struct mpijob_plan_result *result = mpijob_plan_get_result(planned->plan);
	char text[MPIJOB__BASE_TIME_SIZE];
	int code = mpijob_doc_error(doc);

	for (size_t i = 0; i < result->actions_count && code == 0; i++)
		code = put_action(planned, i, doc, actions);
	if (code == 0)
		code = put_status(planned, doc);
	if (result->next_ms)
		mpijob_node_put_string(doc, mpijob_doc_edit(doc, ""), "nextLook",
		    time_text(result->next_ms, text));
	if (code == 0)
		code = mpijob_doc_error(doc);
	if (code == 0)
		code = mpijob_node_write(mpijob_doc_root(doc), format, file_write, stdout);
	mpijob_doc_free(doc);
	return code;
}

/* ---- as lines ---- */

static void print_actions(const mpijob_plan *plan)
{
	const struct mpijob_action *action;
	int32_t stage = -1;

	for (size_t i = 0; (action = mpijob_plan_at(plan, i)); i++) {
		if (action->stage != stage) {
			stage = action->stage;
			printf("stage %" PRId32 "\n", stage);
		}
		print_out("  %s %s/%s: ", verb_name(action->verb), action->kind, action->name);
		if (action->verb == MPIJOB_ACTION_EVENT)
			print_out("%s %s: %s; ", action->event_type, action->event_reason,
			    action->event_message);
		print_out("%s\n", action->why);
	}
	if (stage < 0)
		puts("nothing to do");
}

static void print_role(const char *name, const struct mpijob_replica_status *status)
{
	if (status)
		print_out("  %s: %" PRId32 " active, %" PRId32 " succeeded, %" PRId32 " failed\n",
		    name, status->active, status->succeeded, status->failed);
}

static void print_status(const struct mpijob_status *status)
{
	static const char *const words[] = { "?", "True", "False", "Unknown" };

	puts("status then");
	for (size_t i = 0; i < status->conditions_count; i++) {
		const struct mpijob_condition *condition = status->conditions[i];
		print_out("  %s is %s: %s\n", condition->type ? condition->type : "?",
		    condition->status > 0 && condition->status <= 3 ? words[condition->status]
								    : words[0],
		    condition->message ? condition->message : "");
	}
	print_role("Launcher", status->launcher);
	print_role("Worker", status->worker);
}

static void print_lines(const struct planned *planned)
{
	const struct mpijob_plan_result *result = mpijob_plan_get_result(planned->plan);
	int64_t next = result->next_ms;
	char text[40];

	print_actions(planned->plan);
	print_status(result->status);
	if (next)
		print_out("next look: %s, in %" PRId64 " s, or when something changes\n",
		    time_text(next, text), (next - planned->now_ms + 999) / 1000);
	else
		puts("next look: when something changes");
}

static int run(struct planned *planned, int32_t format)
{
	int code = make_plan(planned);

	if (code == 0 && format)
		code = print_document(planned, format);
	else if (code == 0)
		print_lines(planned);
	findings_print(planned->diag, stderr);
	failure_print(planned->diag, code);
	mpijob_plan_free(planned->plan);
	mpijob_free(planned->job);
	facts_free(&planned->facts);
	input_free(&planned->observed);
	input_free(&planned->input);
	return code == MPIJOB_ERR_USAGE ? EXIT_USAGE : code ? EXIT_FINDINGS : 0;
}

int plan_command(const struct arguments *arguments)
{
	struct planned planned = { .arguments = arguments };
	int32_t format = 0;

	if (output_format(arguments->output, &format))
		return EXIT_USAGE;
	if (time_read(arguments->now, &planned.now_ms)) {
		print_to(stderr, "mpijob: --now %s: write a time as 2026-11-21T12:00:00Z\n",
		    arguments->now);
		return EXIT_USAGE;
	}
	if (arguments->operands.count == 0) {
		fputs("mpijob: name a file, a directory, or - for standard input\n", stderr);
		return EXIT_USAGE;
	}
	planned.diag = mpijob_diag_new();
	if (!planned.diag) {
		failure_print(NULL, MPIJOB_ERR_NOMEM);
		return EXIT_FINDINGS;
	}
	int code = run(&planned, format);
	mpijob_diag_free(planned.diag);
	return code;
}
