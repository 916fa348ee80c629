/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command diff: what a new version of a job changes in a cluster. It compares the children of
 * both versions, and makes a plan for the new version in a cluster where all children of the old
 * one run. It prints a change as applied if the plan makes it. Other changes have no effect on
 * existing objects.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/api.h"
#include "facts.h"
#include "value_diff.h"
#include "findings.h"
#include "input.h"
#include "options.h"
#include "output.h"
#include "print.h"

#define NOW_MS INT64_C(1000000000000) /* any time: nothing that is printed depends on it */

struct version {
	struct input input;
	mpijob *job;
	mpijob_objects *objects;
};

struct comparison {
	const struct arguments *arguments;
	struct version old, new;
	struct mpijob_render_options render;
	struct facts facts;
	mpijob_plan *plan;
	mpijob_doc *doc; /* {changes: [...]} */
	mpijob_node *changes;
	mpijob_diag *diag;
};

/* ---- both versions ---- */

static int load(struct comparison *at, const char *file, struct version *version)
{
	const struct words operand = { &file, 1 };
	const struct input_object *found = NULL;

	int code = input_read(&operand, &version->input, at->diag);
	for (size_t i = 0; i < version->input.count && code == 0; i++) {
		const struct input_object *object = &version->input.objects[i];
		const char *name =
		    mpijob_node_string(mpijob_node_find(object->node, "metadata.name"));
		if (!mpijob_is_job(object->node) ||
		    (at->arguments->job && (!name || strcmp(name, at->arguments->job) != 0)))
			continue;
		if (found)
			return findings_add(at->diag, MPIJOB_ERR_USAGE, object->source,
			    "several-jobs", "several MPIJobs; name one with --job");
		found = object;
	}
	if (code == 0 && !found)
		code = findings_add(at->diag, MPIJOB_ERR_NOT_FOUND, file, "no-job",
		    "no MPIJob in here");
	if (code == 0)
		code = input_job(found, at->arguments, &version->job, at->diag);
	if (code == 0)
		code = input_generate_name(version->job, 1);
	if (code == 0)
		code = mpijob_identify(version->job, NULL, NULL, PLACEHOLDER_UID);
	if (code == 0)
		code = mpijob_validate(version->job, NULL, at->diag);
	if (code == 0)
		code = mpijob_render(version->job, &at->render, &version->objects, at->diag);
	return code;
}

static int same_job(const struct comparison *at)
{
	const char *old = mpijob_name(at->old.job), *new = mpijob_name(at->new.job);
	const char *old_namespace = mpijob_namespace(at->old.job),
		   *new_namespace = mpijob_namespace(at->new.job);

	if (strcmp(old, new) == 0 && strcmp(old_namespace, new_namespace) == 0)
		return 0;
	return findings_add(at->diag, MPIJOB_ERR_USAGE, NULL, "two-jobs",
	    "%s/%s and %s/%s are two jobs, not two versions of one", old_namespace, old,
	    new_namespace, new);
}

/* ---- a cluster in which the old version runs ---- */

static void put_status(mpijob_doc *doc, int32_t role)
{
	mpijob_node *status = mpijob_node_put_map(doc, mpijob_doc_edit(doc, ""), "status");

	if (role == MPIJOB_ROLE_LAUNCHER) {
		mpijob_node_put_int(doc, status, "active", 1);
		mpijob_node_put_string(doc, status, "startTime", "2001-09-09T01:46:40Z");
	} else if (role == MPIJOB_ROLE_WORKER) {
		mpijob_node *ready =
		    mpijob_node_append_map(doc, mpijob_node_put_list(doc, status, "conditions"));
		mpijob_node_put_string(doc, status, "phase", "Running");
		mpijob_node_put_string(doc, ready, "type", "Ready");
		mpijob_node_put_string(doc, ready, "status", "True");
	}
}

static int is_suspended(const mpijob *job)
{
	int suspended = 0;

	mpijob_node_bool(mpijob_node_find(mpijob_doc_root(mpijob_document(job)),
			     "spec.runPolicy.suspend"),
	    &suspended);
	return suspended;
}

static int observe_object(struct comparison *at, size_t index)
{
	struct mpijob_object_head head = MPIJOB_OBJECT_HEAD_INIT;
	mpijob_doc *doc = NULL;
	char uid[40];

	int code = mpijob_objects_head(at->old.objects, index, &head);
	if (code == 0 && is_suspended(at->old.job) && head.role == MPIJOB_ROLE_WORKER)
		return 0;
	if (code == 0)
		code = mpijob_objects_at(at->old.objects, index, &doc);
	if (code)
		return code;
	snprintf(uid, sizeof(uid), "child-%zu", index);
	mpijob_node_put_string(doc, mpijob_doc_edit(doc, "metadata"), "uid", uid);
	if (!is_suspended(at->old.job))
		put_status(doc, head.role);
	code = mpijob_doc_error(doc);
	if (code == 0)
		code = facts_take(&at->facts, mpijob_doc_root(doc), at->diag);
	mpijob_doc_free(doc);
	return code;
}

static int plan_for(struct comparison *at, const mpijob *job, mpijob_plan **out)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;

	options.now_ms = NOW_MS;
	options.render = &at->render;
	return mpijob_plan_new(job, at->facts.all, &options, out, NULL);
}

/* The plan for the old version gives the status of the job. Then plan for the new version. */
static int make_plan(struct comparison *at)
{
	mpijob_plan *before = NULL;
	mpijob *job = mpijob_clone(at->new.job);
	int code =
	    job ? facts_begin(&at->facts, mpijob_name(at->old.job), mpijob_namespace(at->old.job))
		: MPIJOB_ERR_NOMEM;

	for (size_t i = 0; code == 0 && i < mpijob_objects_count(at->old.objects); i++)
		code = observe_object(at, i);
	if (code == 0)
		code = plan_for(at, at->old.job, &before);
	if (code == 0)
		code = mpijob_status_set(job, mpijob_plan_get_result(before)->status, NULL);
	if (code == 0)
		code = plan_for(at, job, &at->plan);
	mpijob_plan_free(before);
	mpijob_free(job);
	return code;
}

/* The action on a child; NULL if not found. */
static const struct mpijob_action *action_on(const struct comparison *at,
    const struct mpijob_object_head *head, int32_t verb, size_t *index)
{
	const struct mpijob_action *action;

	for (size_t i = 0; (action = mpijob_plan_at(at->plan, i)); i++) {
		if (action->verb == verb && action->role == head->role &&
		    action->index == head->index) {
			*index = i;
			return action;
		}
	}
	return NULL;
}

/* ---- what has an effect ---- */

static const struct {
	const char *field;
	const char *effect;
} job_effects[] = {
	{ "spec.runPolicy.cleanPodPolicy", "counts when the job ends" },
	{ "spec.launcherCreationPolicy", "counts while there is no launcher yet" },
	{ "spec.runPolicy.managedBy",
	    "another controller takes the job over; this one leaves it alone" },
	{ "spec.runPolicy.suspend", "applied at once" },
};

static const char *job_effect(const char *field)
{
	for (size_t i = 0; i < sizeof(job_effects) / sizeof(job_effects[0]); i++)
		if (strcmp(job_effects[i].field, field) == 0)
			return job_effects[i].effect;
	return NULL;
}

/* Whether a merge patch changes a path, or a parent of it. */
static int is_patched(const mpijob_node *patch, const char *path)
{
	while (mpijob_node_kind(patch) == MPIJOB_NODE_MAP && *path) {
		char key[300];
		int bracket = *path == '[';
		size_t len;
		path += bracket || *path == '.';
		len = strcspn(path, bracket ? "]" : ".[");
		if (len >= sizeof(key))
			return 0;
		memcpy(key, path, len);
		key[len] = '\0';
		path += len + (size_t)bracket;
		patch = mpijob_node_get(patch, key);
	}
	return patch != NULL;
}

static const char *unapplied_effect(int32_t role)
{
	switch (role) {
	case MPIJOB_ROLE_WORKER:
		return "takes effect for pods created from now on; those that run keep theirs";
	case MPIJOB_ROLE_LAUNCHER:
		return "has no effect on this job: the launcher's Job, and each pod it still "
		       "makes, keep theirs";
	default: return "has no effect on this job: the object stays as it was created";
	}
}

static int put_effects(const struct comparison *at, const struct mpijob_object_head *head,
    mpijob_node *fields)
{
	mpijob_text *text = mpijob_text_new();
	mpijob_doc *patch = NULL;
	size_t index = 0;
	int code = text ? 0 : MPIJOB_ERR_NOMEM;

	if (code == 0 && head->role != MPIJOB_ROLE_SECRET &&
	    action_on(at, head, MPIJOB_ACTION_PATCH, &index)) {
		code = mpijob_plan_write_body(at->plan, index, NULL, 0, mpijob_text_write, text);
		if (code == 0)
			code = mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), NULL,
			    &patch, NULL);
	}
	for (size_t i = 0; i < mpijob_node_count(fields) && code == 0; i++) {
		mpijob_node *field = mpijob_node_edit_at(fields, i);
		int applied = patch && is_patched(mpijob_doc_root(patch),
					   mpijob_node_string(mpijob_node_get(field, "field")));
		mpijob_node_put_string(at->doc, field, "effect",
		    applied ? "applied at once" : unapplied_effect(head->role));
	}
	mpijob_doc_free(patch);
	mpijob_text_free(text);
	return code;
}

/* ---- the changes ---- */

static mpijob_node *put_change(struct comparison *at, const char *change, const char *kind,
    const char *name, int32_t index, const char *why)
{
	size_t count = mpijob_node_count(at->changes);
	mpijob_node *last = count ? mpijob_node_edit_at(at->changes, count - 1) : NULL;
	int64_t last_index = -1;

	/* Consecutive workers with the same change share an entry. */
	if (index >= 0 && last &&
	    strcmp(mpijob_node_string(mpijob_node_get(last, "change")), change) == 0 &&
	    mpijob_node_int(mpijob_node_get(last, "lastIndex"), &last_index) &&
	    last_index == index - 1 && !mpijob_node_get(last, "fields")) {
		mpijob_node_put_int(at->doc, last, "lastIndex", index);
		mpijob_node_put_string(at->doc, last, "lastName", name);
		return last;
	}
	mpijob_node *entry = mpijob_node_append_map(at->doc, at->changes);
	mpijob_node_put_string(at->doc, entry, "change", change);
	mpijob_node_put_string(at->doc, entry, "kind", kind);
	mpijob_node_put_string(at->doc, entry, "name", name);
	if (index >= 0)
		mpijob_node_put_int(at->doc, entry, "lastIndex", index);
	mpijob_node_put_string(at->doc, entry, "why", why);
	return entry;
}

/* Add a worker to the last entry if both change in the same way. */
static int joins_last(struct comparison *at, const struct mpijob_object_head *head,
    const mpijob_node *fields)
{
	size_t count = mpijob_node_count(at->changes);
	mpijob_node *last = count ? mpijob_node_edit_at(at->changes, count - 1) : NULL;
	int64_t last_index = -1;

	if (head->index < 0 || !last ||
	    !mpijob_node_int(mpijob_node_get(last, "lastIndex"), &last_index) ||
	    last_index != head->index - 1 ||
	    !mpijob_node_equal(mpijob_node_get(last, "fields"), fields))
		return 0;
	mpijob_node_put_int(at->doc, last, "lastIndex", head->index);
	mpijob_node_put_string(at->doc, last, "lastName", head->name);
	return 1;
}

static int compare_object(struct comparison *at, const struct mpijob_object_head *head,
    size_t old_index, size_t new_index)
{
	mpijob_doc *old = NULL, *new = NULL;
	mpijob_node *fields = mpijob_node_new(at->doc, MPIJOB_NODE_LIST);

	int code = mpijob_objects_at(at->old.objects, old_index, &old);
	if (code == 0)
		code = mpijob_objects_at(at->new.objects, new_index, &new);
	if (code == 0)
		code = value_diff(at->doc, fields, "", mpijob_doc_root(old), mpijob_doc_root(new));
	if (code == 0 && mpijob_node_count(fields)) {
		code = put_effects(at, head, fields);
		if (code == 0 && !joins_last(at, head, fields))
			mpijob_node_put(at->doc,
			    put_change(at, "changed", head->kind, head->name, head->index, NULL),
			    "fields", fields);
	}
	mpijob_doc_free(old);
	mpijob_doc_free(new);
	return code;
}

/* Compare objects of both versions (`common` 1), or list those of the old one only (0). */
static int compare_old(struct comparison *at, int common)
{
	int code = 0;

	for (size_t i = 0; i < mpijob_objects_count(at->old.objects) && code == 0; i++) {
		struct mpijob_object_head head = MPIJOB_OBJECT_HEAD_INIT;
		size_t other, action;
		code = mpijob_objects_head(at->old.objects, i, &head);
		if (code)
			break;
		int both = mpijob_objects_find(at->new.objects, head.role, head.index, &other);
		if (both && common)
			code = compare_object(at, &head, i, other);
		if (both || common)
			continue;
		const struct mpijob_action *delete =
		    action_on(at, &head, MPIJOB_ACTION_DELETE, &action);
		put_change(at, delete ? "deleted" : "left", head.kind, head.name, head.index,
		    delete ? delete->why
			   : "nothing needs it any more, and nothing deletes it before the job");
	}
	return code;
}

static int compare_new(struct comparison *at)
{
	int code = 0;

	for (size_t i = 0; i < mpijob_objects_count(at->new.objects) && code == 0; i++) {
		struct mpijob_object_head head = MPIJOB_OBJECT_HEAD_INIT;
		size_t other, action;
		code = mpijob_objects_head(at->new.objects, i, &head);
		if (code || mpijob_objects_find(at->old.objects, head.role, head.index, &other))
			continue;
		const struct mpijob_action *create =
		    action_on(at, &head, MPIJOB_ACTION_CREATE, &action);
		put_change(at, create ? "created" : "awaited", head.kind, head.name, head.index,
		    create ? create->why : "created when the job is ready for it");
	}
	return code;
}

/* Actions on objects of both versions: a plan deletes the workers of a suspended job. */
static int compare_actions(struct comparison *at)
{
	int code = 0;

	for (size_t i = 0; i < mpijob_objects_count(at->new.objects) && code == 0; i++) {
		struct mpijob_object_head head = MPIJOB_OBJECT_HEAD_INIT;
		size_t other, action;
		code = mpijob_objects_head(at->new.objects, i, &head);
		if (code || !mpijob_objects_find(at->old.objects, head.role, head.index, &other))
			continue;
		const struct mpijob_action *delete =
		    action_on(at, &head, MPIJOB_ACTION_DELETE, &action);
		const struct mpijob_action *create =
		    action_on(at, &head, MPIJOB_ACTION_CREATE, &action);
		if (delete || create)
			put_change(at, delete ? "deleted" : "created", head.kind, head.name,
			    head.index, delete ? delete->why : create->why);
	}
	return code;
}

/* Compare the jobs without their templates: changes of these are listed with the pods. */
static int compare_jobs(struct comparison *at)
{
	const mpijob_node *old = mpijob_doc_root(mpijob_document(at->old.job)),
			  *new = mpijob_doc_root(mpijob_document(at->new.job));
	mpijob_node *fields = mpijob_node_new(at->doc, MPIJOB_NODE_LIST);

	int code = value_diff(at->doc, fields, "spec", mpijob_node_get(old, "spec"),
	    mpijob_node_get(new, "spec"));
	if (code == 0)
		code = value_diff(at->doc, fields, "metadata.labels",
		    mpijob_node_find(old, "metadata.labels"),
		    mpijob_node_find(new, "metadata.labels"));
	if (code == 0)
		code = value_diff(at->doc, fields, "metadata.annotations",
		    mpijob_node_find(old, "metadata.annotations"),
		    mpijob_node_find(new, "metadata.annotations"));
	for (size_t i = mpijob_node_count(fields); i-- > 0;) {
		mpijob_node *field = mpijob_node_edit_at(fields, i);
		const char *path = mpijob_node_string(mpijob_node_get(field, "field"));
		if (strstr(path, ".template."))
			mpijob_node_remove_at(fields, i);
		else
			mpijob_node_put_string(at->doc, field, "effect", job_effect(path));
	}
	if (code == 0 && mpijob_node_count(fields))
		mpijob_node_put(at->doc,
		    put_change(at, "changed", MPIJOB__BASE_API_KIND, mpijob_name(at->new.job), -1,
			NULL),
		    "fields", fields);
	return code;
}

static int compare_all(struct comparison *at)
{
	const struct words *files = &at->arguments->operands;

	at->render = (struct mpijob_render_options)MPIJOB_RENDER_OPTIONS_INIT;
	at->render.reference = at->arguments->reference;
	at->render.cluster_domain = at->arguments->cluster_domain;
	at->render.features = options_features(at->arguments);
	at->render.gang_scheduler = at->arguments->gang_scheduling;
	int code = load(at, files->items[0], &at->old);
	if (code == 0)
		code = load(at, files->items[1], &at->new);
	if (code == 0)
		code = same_job(at);
	if (code == 0)
		code = make_plan(at);
	at->doc = mpijob_doc_new();
	at->changes = mpijob_node_put_list(at->doc, mpijob_doc_edit(at->doc, ""), "changes");
	if (code == 0)
		code = compare_jobs(at);
	if (code == 0)
		code = compare_old(at, 1);
	if (code == 0)
		code = compare_actions(at);
	if (code == 0)
		code = compare_old(at, 0);
	if (code == 0)
		code = compare_new(at);
	return code ? code : mpijob_doc_error(at->doc);
}

/* ---- printing ---- */

static void print_head(const mpijob_node *change)
{
	const char *last = mpijob_node_string(mpijob_node_get(change, "lastName"));
	const char *why = mpijob_node_string(mpijob_node_get(change, "why"));

	print_out("%s %s/%s", mpijob_node_string(mpijob_node_get(change, "change")),
	    mpijob_node_string(mpijob_node_get(change, "kind")),
	    mpijob_node_string(mpijob_node_get(change, "name")));
	if (last)
		print_out(" to %s", last);
	print_out("%s%s\n", why ? ": " : "", why ? why : "");
}

/* Consecutive fields with the same effect share the line of the effect. */
static int print_fields(const mpijob_node *fields)
{
	int code = 0;

	for (size_t i = 0; i < mpijob_node_count(fields) && code == 0; i++) {
		const mpijob_node *field = mpijob_node_at(fields, i),
				  *effect = mpijob_node_get(field, "effect");
		code = value_diff_print(field);
		if (effect && !mpijob_node_equal(effect,
				  mpijob_node_get(mpijob_node_at(fields, i + 1), "effect")))
			print_out("      %s\n", mpijob_node_string(effect));
	}
	return code;
}

static int print_changes(const struct comparison *at, int32_t format)
{
	int code = 0;

	if (format)
		return mpijob_node_write(mpijob_doc_root(at->doc), format, file_write, stdout);
	for (size_t i = 0; i < mpijob_node_count(at->changes) && code == 0; i++) {
		print_head(mpijob_node_at(at->changes, i));
		code = print_fields(mpijob_node_get(mpijob_node_at(at->changes, i), "fields"));
	}
	return code;
}

static void version_free(struct version *version)
{
	mpijob_objects_free(version->objects);
	mpijob_free(version->job);
	input_free(&version->input);
}

int diff_command(const struct arguments *arguments)
{
	struct comparison at = { .arguments = arguments };
	int32_t format = 0;

	if (output_format(arguments->output, &format))
		return EXIT_USAGE;
	if (arguments->operands.count != 2) {
		fputs("mpijob: name two files, the old version and the new one\n", stderr);
		return EXIT_USAGE;
	}
	at.diag = mpijob_diag_new();
	int code = at.diag ? compare_all(&at) : MPIJOB_ERR_NOMEM;
	if (code == 0)
		code = print_changes(&at, format);
	int differs = mpijob_node_count(at.changes) > 0;
	findings_print(at.diag, stderr);
	failure_print(at.diag, code);
	mpijob_plan_free(at.plan);
	facts_free(&at.facts);
	mpijob_doc_free(at.doc);
	version_free(&at.old);
	version_free(&at.new);
	mpijob_diag_free(at.diag);
	return code ? EXIT_USAGE : differs;
}
