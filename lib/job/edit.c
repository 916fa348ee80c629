/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits jobs by path: reads the values of edits, and finds the job in a text.
 */
#include <mpijob/edit.h>

#include <string.h>

#include "base/struct.h"
#include "doc/edit.h"
#include "job/field.h"
#include "job/state.h"

/* An edit with its value, and the document that owns it if it was read from text. */
struct reading {
	struct mpijob_edit given;
	mpijob_doc *owner;
	struct mpijob__doc_edit edit;
};

static int read_value(struct reading *reading, mpijob_diag *diag)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	const char *yaml = reading->given.yaml;

	if (!yaml) {
		reading->edit.value = reading->given.node;
		return 0;
	}
	/* The value has no place in the job, but its errors have one in the value. */
	options.source = reading->given.path;
	options.no_places = 1;
	yaml = *yaml ? yaml : "''";
	int code = mpijob_doc_parse(yaml, strlen(yaml), &options, &reading->owner, diag);
	reading->edit.value = mpijob_doc_root(reading->owner);
	return code;
}

static int reading_begin(struct reading *reading, const struct mpijob_edit *edit,
    const char *source, mpijob_diag *diag)
{
	memset(reading, 0, sizeof(*reading));
	if (!edit)
		return MPIJOB_ERR_USAGE;
	int code = mpijob__base_struct_check(&reading->given, sizeof(reading->given), edit);
	if (code)
		return code;
	if (!reading->given.path || (reading->given.yaml && reading->given.node))
		return MPIJOB_ERR_USAGE;
	reading->edit.path = reading->given.path;
	reading->edit.source = source;
	reading->edit.diag = diag;
	reading->edit.steps.size = sizeof(uint32_t);
	return read_value(reading, diag);
}

static void reading_end(struct reading *reading)
{
	mpijob__doc_stack_free(&reading->edit.steps);
	mpijob_doc_free(reading->owner);
}

/* ---- a job in memory ---- */

static int edit_draft(mpijob_doc *draft, const char *source, const struct mpijob_edit *edit,
    mpijob_diag *diag)
{
	struct reading reading;
	int code = reading_begin(&reading, edit, source, diag);

	if (code == 0)
		code = mpijob__doc_edit(&reading.edit, draft, mpijob_doc_edit(draft, ""));
	reading_end(&reading);
	return code;
}

int mpijob_edit_job(mpijob *job, const struct mpijob_edit *const *edits, size_t count,
    mpijob_diag *diag)
{
	if (!job || !edits)
		return MPIJOB_ERR_USAGE;
	mpijob_doc *draft = mpijob__job_state_draft(job);
	int code = draft ? 0 : MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < count && code == 0; i++)
		code = edit_draft(draft, job->source, edits[i], diag);
	if (code == 0)
		code = mpijob__job_check_identity(mpijob_doc_root(draft), job->source, diag);
	if (code == 0)
		mpijob__job_state_commit(job, draft);
	else
		mpijob_doc_free(draft);
	return code;
}

/* ---- a job in a text ---- */

/* The job that a name selects: its document, and its item if the document is a List. */
struct selection {
	const char *name;
	size_t jobs;  /* in the text */
	size_t found; /* of them have the name */
	size_t document;
	int in_list;
	uint32_t items[2]; /* the positions of "items" and of the job */
	const mpijob_node *job;
	const mpijob_node *second; /* that has the name too */
};

static void select_node(struct selection *selection, const mpijob_node *node, size_t document,
    const uint32_t *items)
{
	const char *name = mpijob_node_string(mpijob__job_field_node(node, FIELD_NAME));

	if (!mpijob_is_job(node))
		return;
	selection->jobs++;
	if (selection->name && (!name || strcmp(name, selection->name) != 0))
		return;
	if (selection->found++) {
		selection->second = node;
		return;
	}
	selection->job = node;
	selection->document = document;
	selection->in_list = items != NULL;
	if (items)
		memcpy(selection->items, items, sizeof(selection->items));
}

static void select_document(struct selection *selection, const mpijob_node *root, size_t document)
{
	uint32_t items[2] = { 0, 0 };
	const char *key;

	select_node(selection, root, document, NULL);
	while ((key = mpijob_node_key(root, items[0])) != NULL && strcmp(key, "items") != 0)
		items[0]++;
	if (!key || mpijob_is_job(root))
		return;
	for (const mpijob_node *list = mpijob_node_at(root, items[0]);
	     items[1] < mpijob_node_count(list); items[1]++)
		select_node(selection, mpijob_node_at(list, items[1]), document, items);
}

static int select_job(const struct mpijob__doc_editor *editor, struct selection *selection,
    mpijob_diag *diag)
{
	struct mpijob__core_place place = { editor->options.source, 0, 0 };
	const mpijob_doc *doc;

	for (size_t i = 0; (doc = mpijob_docs_at(editor->docs, i)) != NULL; i++)
		select_document(selection, mpijob_doc_root(doc), i);
	if (selection->found == 1)
		return 0;
	mpijob_node_place(selection->second, &place.line, &place.column);
	if (selection->found > 1)
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "several-jobs", NULL, NULL,
		    &place, "%zu MPIJobs%s%s; give the name of one", selection->found,
		    selection->name ? " have the name " : "",
		    selection->name ? selection->name : "");
	else if (selection->jobs)
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "no-job", NULL, NULL, &place,
		    "no MPIJob is called '%s'", selection->name);
	else
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "no-job", NULL, NULL, &place,
		    "no MPIJob in here");
	return selection->found ? MPIJOB_ERR_USAGE : MPIJOB_ERR_NOT_FOUND;
}

static int edit_text(struct mpijob__doc_editor *editor, const struct selection *selection,
    const struct mpijob_edit *edit, mpijob_diag *diag)
{
	struct reading reading;
	int code = reading_begin(&reading, edit, editor->options.source, diag);

	for (size_t i = 0; i < 2 && selection->in_list && code == 0; i++)
		if (!mpijob__doc_stack_push(&reading.edit.steps, &selection->items[i]))
			code = MPIJOB_ERR_NOMEM;
	if (code == 0)
		code = mpijob__doc_editor_apply(editor, &reading.edit, selection->document);
	reading_end(&reading);
	return code;
}

int mpijob_edit_text(const char *text, size_t len, const char *name,
    const struct mpijob_parse_options *options, const struct mpijob_edit *const *edits,
    size_t count, mpijob_write_fn write, void *user, mpijob_diag *diag)
{
	struct selection selection = { .name = name };
	struct mpijob__doc_editor editor;

	if ((!text && len) || !edits || !write)
		return MPIJOB_ERR_USAGE;
	int code = mpijob__doc_editor_open(&editor, text, len, options, diag);
	if (code == 0)
		code = select_job(&editor, &selection, diag);
	for (size_t i = 0; i < count && code == 0; i++)
		code = edit_text(&editor, &selection, edits[i], diag);
	if (code == 0)
		code = write(user, editor.text.data, editor.text.len);
	mpijob__doc_editor_close(&editor);
	return code;
}
