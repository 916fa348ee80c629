/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets absent fields to their defaults. The field table has the defaults. This file knows that a
 * field is defaulted only if its parent object exists for the operator: runPolicy always does, a
 * Worker only if the document has one.
 */
#include <string.h>

#include "base/struct.h"
#include "job/field.h"
#include "job/state.h"
#include "job/value.h"

static const char *default_of(const struct mpijob__job_row *row, int reference)
{
	if (row->flags & FIELD_NOT_WRITTEN)
		return NULL;
	return reference && row->reference_default ? row->reference_default
						   : row->field.default_text;
}

/* Whether the object of a row exists for the operator: in the document, or FIELD_ALWAYS. */
static int exists(const mpijob_node *root, int id)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);
	const mpijob_node *node = mpijob__job_field_node(root, id);

	if (node || id == FIELD_ROOT)
		return 1;
	return (row->flags & FIELD_ALWAYS) && exists(root, row->parent);
}

static int is_missing(const mpijob_node *root, int id, int reference)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);
	struct mpijob__job_value value;

	if (!default_of(row, reference) || !exists(root, row->parent))
		return 0;
	return mpijob__job_value_read(row,
		   mpijob_node_get(mpijob__job_field_node(root, row->parent), row->key),
		   &value) == VALUE_ABSENT;
}

/* Report each parent of a field with a default that is not a map, once. */
static void check_objects(struct mpijob__job_report *report, const mpijob_node *root)
{
	char reported[FIELD_END] = { 0 };

	for (int i = 1; i < FIELD_END; i++) {
		if (!default_of(mpijob__job_field_row(i), report->reference))
			continue;
		for (int id = mpijob__job_field_row(i)->parent; id != FIELD_ROOT;
		     id = mpijob__job_field_row(id)->parent) {
			const struct mpijob__job_row *row = mpijob__job_field_row(id);
			const mpijob_node *node = mpijob__job_field_node(root, id);
			struct mpijob__job_spot spot = { row->field.path,
				mpijob__job_report_place(report, node, NULL) };

			if (node && mpijob_node_kind(node) != MPIJOB_NODE_MAP && !reported[id]) {
				reported[id] = 1;
				mpijob__job_value_complain(report, &spot, row, node);
			}
		}
	}
}

static void set_default(mpijob_doc *doc, const struct mpijob__job_row *row, const char *text)
{
	mpijob_node *map = mpijob_doc_make(doc, mpijob__job_field_row(row->parent)->field.path);

	switch (row->field.kind) {
	case MPIJOB_KIND_INT32:
	case MPIJOB_KIND_INT64:
		mpijob_node_put(doc, map, row->key,
		    mpijob_node_new_text(doc, MPIJOB_NODE_NUMBER, text, strlen(text)));
		return;
	case MPIJOB_KIND_BOOL:
		mpijob_node_put_bool(doc, map, row->key, strcmp(text, "true") == 0);
		return;
	default: mpijob_node_put_string(doc, map, row->key, text);
	}
}

static int set_defaults(mpijob *job, int reference)
{
	const mpijob_node *root = mpijob__job_node(job);
	mpijob_doc *draft = NULL;
	int code;

	for (int i = 1; i < FIELD_END; i++) {
		if (!is_missing(root, i, reference))
			continue;
		if (!draft)
			draft = mpijob__job_state_draft(job);
		set_default(draft, mpijob__job_field_row(i),
		    default_of(mpijob__job_field_row(i), reference));
		code = mpijob_doc_error(draft);
		if (code) {
			mpijob_doc_free(draft);
			return code;
		}
	}
	if (draft)
		mpijob__job_state_commit(job, draft);
	return 0;
}

int mpijob_default(mpijob *job, const struct mpijob_default_options *options, mpijob_diag *diag)
{
	struct mpijob_default_options known;
	struct mpijob__job_report report;
	int code;

	if (!job)
		return MPIJOB_ERR_USAGE;
	code = mpijob__base_struct_check(&known, sizeof(known), options);
	if (code == 0 && !mpijob__base_struct_is_flag(known.reference))
		code = MPIJOB_ERR_USAGE;
	if (code)
		return code;
	report = mpijob__job_state_report(job, diag, known.reference != 0);
	check_objects(&report, mpijob__job_node(job));
	code = mpijob__job_report_result(&report);
	return code ? code : set_defaults(job, report.reference);
}
