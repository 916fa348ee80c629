/* SPDX-License-Identifier: Apache-2.0 */
/* The table itself: whole, consistent, and every row alive in the typed structs, the checks and the
 * defaults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/job.h>

#include "job/field.h"

_Static_assert(sizeof(void *) != 8 || sizeof(struct mpijob_scheduling_policy) == 48,
    "mpijob_scheduling_policy");
_Static_assert(sizeof(void *) != 8 || sizeof(struct mpijob_run_policy) == 64, "mpijob_run_policy");
_Static_assert(sizeof(void *) != 8 || sizeof(struct mpijob_replica_spec) == 32,
    "mpijob_replica_spec");
_Static_assert(sizeof(void *) != 8 || sizeof(struct mpijob_spec) == 64, "mpijob_spec");
_Static_assert(sizeof(void *) != 8 || sizeof(struct mpijob_condition) == 56, "mpijob_condition");
_Static_assert(sizeof(struct mpijob_replica_status) >= 20, "mpijob_replica_status");
_Static_assert(sizeof(void *) != 8 || sizeof(struct mpijob_status) == 56, "mpijob_status");
_Static_assert(sizeof(void *) != 8 || sizeof(struct mpijob_field) == 64, "mpijob_field");
_Static_assert(sizeof(struct mpijob_default_options) == sizeof(struct mpijob_validate_options),
    "options");

static const char empty_job[] = "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob}";

static mpijob *parse(const char *text)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob *job = NULL;

	options.format = MPIJOB_FORMAT_YAML;
	assert_int_equal(mpijob_parse(text, strlen(text), &options, &job, NULL), 0);
	return job;
}

static void public_rows(void **state)
{
	(void)state;
	assert_non_null(mpijob_field_at(FIELD_END - 2));
	assert_null(mpijob_field_at(FIELD_END - 1));
	assert_null(mpijob_field_at(SIZE_MAX));
	assert_null(mpijob_field_find("spec.nothing"));
	assert_null(mpijob_field_find(""));
	for (size_t i = 0; mpijob_field_at(i); i++) {
		const struct mpijob_field *field = mpijob_field_at(i);
		size_t len = strlen(field->summary);

		assert_int_equal(field->size, sizeof(*field));
		assert_ptr_equal(mpijob_field_find(field->path), field);
		assert_in_range(field->kind, MPIJOB_KIND_STRING, MPIJOB_KIND_DOCUMENT);
		assert_true(
		    len > 10 && field->summary[len - 1] == '.' && !strchr(field->summary, '\n'));
		assert_true(
		    strcmp(field->since, "0.3.0") >= 0 && strcmp(field->since, "0.8.2") <= 0);
		assert_true(
		    (field->kind != MPIJOB_KIND_CHOICE) || (field->choices && field->choices[0]));
	}
}

/* A row's path is its parent's and its own key. */
static void paths(void **state)
{
	(void)state;
	for (int id = 1; id < FIELD_END; id++) {
		const struct mpijob__job_row *row = mpijob__job_field_row(id);
		const struct mpijob__job_row *parent = mpijob__job_field_row(row->parent);
		char expected[200];

		assert_true(row->parent < id);
		if (row->parent == FIELD_ROOT)
			snprintf(expected, sizeof(expected), "%s", row->key);
		else if (parent->flags & FIELD_BY_ROLE)
			snprintf(expected, sizeof(expected), "%s[%s]", parent->field.path,
			    row->key);
		else
			snprintf(expected, sizeof(expected), "%s%s.%s", parent->field.path,
			    parent->field.kind == MPIJOB_KIND_LIST ? "[]" : "", row->key);
		assert_string_equal(row->field.path, expected);
		assert_true(row->parent == FIELD_ROOT || parent->field.kind == MPIJOB_KIND_OBJECT ||
			    parent->field.kind == MPIJOB_KIND_LIST);
	}
}

/* Both roles have the same fields: a row that is added to one must be added to the other. */
static void roles_agree(void **state)
{
	static const int pairs[][2] = { { FIELD_LAUNCHER, FIELD_WORKER },
		{ FIELD_LAUNCHER_STATUS, FIELD_WORKER_STATUS } };

	(void)state;
	for (size_t pair = 0; pair < 2; pair++) {
		int distance = pairs[pair][1] - pairs[pair][0];

		for (int id = pairs[pair][0]; id < pairs[pair][1]; id++) {
			const struct mpijob__job_row *launcher = mpijob__job_field_row(id);
			const struct mpijob__job_row *worker = mpijob__job_field_row(id + distance);

			assert_int_equal(launcher->field.kind, worker->field.kind);
			assert_int_equal(launcher->of, worker->of);
			if (id == pairs[pair][0])
				continue;
			assert_string_equal(launcher->key, worker->key);
			assert_int_equal(launcher->in, worker->in);
			assert_int_equal(launcher->offset, worker->offset);
			assert_int_equal(launcher->flags, worker->flags);
		}
	}
}

/* No two rows of one struct share a member, and every byte of a struct but its size and padding has
 * a row. */
static void members(void **state)
{
	(void)state;
	for (int id = STRUCT_NONE + 1; id < STRUCT_END; id++) {
		size_t size = mpijob__job_field_struct_size(id), covered = sizeof(size_t);
		char used[128] = { 0 };

		assert_true(size <= sizeof(used));
		for (int i = 1; i < FIELD_END; i++) {
			const struct mpijob__job_row *row = mpijob__job_field_row(i);
			const struct mpijob__job_row *object = mpijob__job_field_row(row->parent);

			/* Both roles share a struct; one is enough. */
			if (row->in != id || (object->key && strcmp(object->key, "Worker") == 0))
				continue;
			for (size_t at = row->offset; at < mpijob__job_field_member_end(row);
			     at++) {
				assert_true(at < size && at >= sizeof(size_t));
				assert_int_equal(used[at]++, 0);
				covered++;
			}
		}
		assert_true(size - covered < sizeof(void *));
	}
}

static void defaults_are_valid(void **state)
{
	(void)state;
	for (size_t i = 0; mpijob_field_at(i); i++) {
		const struct mpijob_field *field = mpijob_field_at(i);
		int found = 0;

		if (!field->default_text)
			continue;
		if (field->minimum)
			assert_true(strtoll(field->default_text, NULL, 10) >= *field->minimum);
		for (int choice = 0; field->choices && field->choices[choice]; choice++)
			found |= strcmp(field->choices[choice], field->default_text) == 0;
		assert_true(found || !field->choices);
	}
}

/* A value of the right kind, in YAML. */
static const char *sample(const struct mpijob__job_row *row)
{
	switch (row->field.kind) {
	case MPIJOB_KIND_INT32:
	case MPIJOB_KIND_INT64: return "7";
	case MPIJOB_KIND_BOOL: return "true";
	case MPIJOB_KIND_CHOICE:
		return strcmp(row->field.choices[0], "True") == 0 ? "'True'"
								  : row->field.choices[0];
	case MPIJOB_KIND_TIME: return "2019-07-09T22:15:51Z";
	case MPIJOB_KIND_LIST: return "[{}]";
	case MPIJOB_KIND_OBJECT:
	case MPIJOB_KIND_DOCUMENT: return "{}";
	default: return row->field.choices ? row->field.choices[0] : "text";
	}
}

/* A document that has nothing but the row's value. */
static mpijob *job_with(int id, const char *value)
{
	const char *keys[10];
	char text[1000], *end = text;
	int count = 0, in_list[10] = { 0 };

	for (int at = id; at != FIELD_ROOT; at = mpijob__job_field_row(at)->parent) {
		in_list[count] =
		    mpijob__job_field_row(at)->field.kind == MPIJOB_KIND_LIST && at != id;
		keys[count++] = mpijob__job_field_row(at)->key;
	}
	end += sprintf(end, "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, ");
	for (int i = count - 1; i >= 0; i--)
		end += sprintf(end, "%s: %s", keys[i], i ? (in_list[i] ? "[{" : "{") : value);
	for (int i = 1; i < count; i++)
		end += sprintf(end, "%s", in_list[i] ? "}]" : "}");
	sprintf(end, "}");
	return parse(text);
}

static int is_below(int id, int top)
{
	while (id != FIELD_ROOT && id != top)
		id = mpijob__job_field_row(id)->parent;
	return id == top;
}

/* 1 when any byte past the size is set in a struct, or in one that its pointers of OBJECT and LIST
 * rows reach. */
static int holds_anything(const char *base, int struct_id)
{
	size_t size = mpijob__job_field_struct_size(struct_id);

	for (size_t i = sizeof(size_t); i < size; i++) {
		if (base[i])
			return 1;
	}
	return 0;
}

static const char *view_of(mpijob *job, int id, int *struct_id, int *code, mpijob_diag *diag)
{
	const struct mpijob_spec *spec = NULL;
	const struct mpijob_status *status = NULL;

	if (is_below(id, FIELD_SPEC)) {
		*struct_id = STRUCT_SPEC;
		*code = mpijob_spec_get(job, &spec, diag);
		return (const char *)spec;
	}
	*struct_id = STRUCT_STATUS;
	*code = mpijob_status_get(job, &status, diag);
	return (const char *)status;
}

/* Each member appears in the view when its field alone is given, and only then. */
static void each_row_is_viewed(void **state)
{
	int seen = 0;

	(void)state;
	for (int id = 1; id < FIELD_END; id++) {
		const struct mpijob__job_row *row = mpijob__job_field_row(id);
		int struct_id, code;
		const char *view;
		mpijob *job;

		if (!row->in || (!is_below(id, FIELD_SPEC) && !is_below(id, FIELD_STATUS)))
			continue;
		job = job_with(id, sample(row));
		view = view_of(job, id, &struct_id, &code, NULL);
		assert_int_equal(code, 0);
		assert_int_equal(holds_anything(view, struct_id), 1);
		mpijob_free(job);
		job = job_with(id, "null");
		view = view_of(job, id, &struct_id, &code, NULL);
		assert_int_equal(code, 0);
		if (row->in == struct_id)
			assert_int_equal(holds_anything(view, struct_id), 0);
		mpijob_free(job);
		seen++;
	}
	assert_true(seen >= 35);
}

/* Each row refuses a value of another kind, in views and in the checks, at its own path. */
static void each_row_refuses_another_kind(void **state)
{
	(void)state;
	for (int id = 1; id < FIELD_END; id++) {
		const struct mpijob__job_row *row = mpijob__job_field_row(id);
		int is_container = row->field.kind >= MPIJOB_KIND_OBJECT;
		const struct mpijob_finding *finding;
		mpijob_diag *diag = mpijob_diag_new();
		int struct_id, code, found = 0;
		mpijob *job;

		if (id == FIELD_API_VERSION || id == FIELD_KIND) {
			mpijob_diag_free(diag);
			continue;
		}
		job = job_with(id, is_container ? "5" : "[5]");
		assert_int_equal(mpijob_validate(job, NULL, diag), MPIJOB_ERR_SPEC);
		for (size_t i = 0; (finding = mpijob_diag_at(diag, i)); i++) {
			if (finding->reason && strcmp(finding->reason, "TypeInvalid") == 0) {
				found++;
				assert_non_null(strstr(finding->field, row->key));
				assert_int_equal(finding->line, 1);
			}
		}
		assert_int_equal(found, 1);
		mpijob_diag_clear(diag);
		if (is_below(id, FIELD_SPEC) || is_below(id, FIELD_STATUS)) {
			view_of(job, id, &struct_id, &code, diag);
			assert_int_equal(code, MPIJOB_ERR_SPEC);
			assert_int_equal(mpijob_diag_count(diag, 0), 1);
		}
		mpijob_free(job);
		mpijob_diag_free(diag);
	}
}

/* What is written as a default is what the table says. */
static void each_default_is_filled_in(void **state)
{
	static const char roles[] = "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, "
				    "spec: {mpiReplicaSpecs: {Launcher: {}, Worker: {}}}}";
	mpijob *job = parse(roles);
	int filled = 0;

	(void)state;
	assert_int_equal(mpijob_default(job, NULL, NULL), 0);
	for (int id = 1; id < FIELD_END; id++) {
		const struct mpijob__job_row *row = mpijob__job_field_row(id);
		const mpijob_node *node =
		    mpijob_node_find(mpijob_doc_root(mpijob_document(job)), row->field.path);

		if (row->field.default_text && !(row->flags & FIELD_NOT_WRITTEN)) {
			assert_non_null(node);
			assert_string_equal(mpijob_node_text(node), row->field.default_text);
			filled++;
		} else if (row->field.default_text) {
			assert_null(node);
		}
	}
	assert_int_equal(filled, 9);
	mpijob_free(job);
	job = parse(empty_job);
	assert_int_equal(mpijob_default(job, NULL, NULL), 0);
	assert_null(
	    mpijob_node_find(mpijob_doc_root(mpijob_document(job)), "spec.mpiReplicaSpecs"));
	mpijob_free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(public_rows),
		cmocka_unit_test(paths),
		cmocka_unit_test(roles_agree),
		cmocka_unit_test(members),
		cmocka_unit_test(defaults_are_valid),
		cmocka_unit_test(each_row_is_viewed),
		cmocka_unit_test(each_row_refuses_another_kind),
		cmocka_unit_test(each_default_is_filled_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
