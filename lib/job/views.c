/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates the structs of spec.h from a document. The field table maps rows to members. Strings and
 * nodes are borrowed from the document; numbers and structs are in the job's memory for views.
 */
#include <string.h>

#include "base/arena.h"
#include "job/field.h"
#include "job/state.h"
#include "job/value.h"

static char *load_struct(struct mpijob__base_arena *memory, int struct_id, int id,
    const mpijob_node *map);

static void set_pointer(char *base, const struct mpijob__job_row *row, const void *pointer)
{
	memcpy(base + row->offset, &pointer, sizeof(pointer));
}

static int set_number(struct mpijob__base_arena *memory, char *base,
    const struct mpijob__job_row *row, int64_t number)
{
	int32_t small = (int32_t)number;
	int is_small = row->field.kind == MPIJOB_KIND_INT32 || row->field.kind == MPIJOB_KIND_BOOL;
	size_t size = is_small ? sizeof(small) : sizeof(number);
	void *copy;

	if (row->field.kind == MPIJOB_KIND_CHOICE || (row->flags & FIELD_BY_VALUE)) {
		memcpy(base + row->offset, &small, sizeof(small));
		return 0;
	}
	copy = mpijob__base_arena_alloc(memory, size);
	if (!copy)
		return MPIJOB_ERR_NOMEM;
	memcpy(copy, is_small ? (const void *)&small : (const void *)&number, size);
	set_pointer(base, row, copy);
	return 0;
}

static int set_list(struct mpijob__base_arena *memory, char *base, int id, const mpijob_node *list)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);
	size_t count = mpijob_node_count(list);
	const void **entries = mpijob__base_arena_array(memory, count, sizeof(*entries));

	if (!entries)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < count; i++) {
		entries[i] = load_struct(memory, row->of, id, mpijob_node_at(list, i));
		if (!entries[i])
			return MPIJOB_ERR_NOMEM;
	}
	set_pointer(base, row, entries);
	memcpy(base + row->count_offset, &count, sizeof(count));
	return 0;
}

static int set_struct(struct mpijob__base_arena *memory, char *base, int id, const mpijob_node *map)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);
	char *inner = load_struct(memory, row->of, id, map);

	if (!inner)
		return MPIJOB_ERR_NOMEM;
	set_pointer(base, row, inner);
	return 0;
}

static int load_members(struct mpijob__base_arena *memory, char *base, int id,
    const mpijob_node *map);

static int load_member(struct mpijob__base_arena *memory, char *base, int id,
    const mpijob_node *node)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);
	struct mpijob__job_value value;

	if (mpijob__job_value_read(row, node, &value) != VALUE_GIVEN)
		return 0;
	if (row->field.kind == MPIJOB_KIND_OBJECT && !row->of)
		return load_members(memory, base, id, node);
	if (!row->in)
		return 0;
	switch (row->field.kind) {
	case MPIJOB_KIND_OBJECT: return set_struct(memory, base, id, node);
	case MPIJOB_KIND_LIST: return set_list(memory, base, id, node);
	case MPIJOB_KIND_DOCUMENT: set_pointer(base, row, node); return 0;
	case MPIJOB_KIND_STRING: set_pointer(base, row, value.text); return 0;
	default: return set_number(memory, base, row, value.number);
	}
}

/* The members of an object without a struct (mpiReplicaSpecs) are in the struct of its parent. */
static int load_members(struct mpijob__base_arena *memory, char *base, int id,
    const mpijob_node *map)
{
	int code = 0;

	for (int i = 1; !code && i < FIELD_END; i++) {
		const struct mpijob__job_row *row = mpijob__job_field_row(i);

		if (row->parent == id)
			code = load_member(memory, base, i, mpijob_node_get(map, row->key));
	}
	return code;
}

static char *load_struct(struct mpijob__base_arena *memory, int struct_id, int id,
    const mpijob_node *map)
{
	size_t size = mpijob__job_field_struct_size(struct_id);
	char *base = mpijob__base_arena_alloc(memory, size);

	if (!base)
		return NULL;
	memset(base, 0, size);
	memcpy(base, &size, sizeof(size));
	return load_members(memory, base, id, map) ? NULL : base;
}

/* *out is unchanged on failure. */
static int view(const mpijob *job, int id, const void **out, mpijob_diag *diag)
{
	struct mpijob__job_report report = mpijob__job_state_report(job, diag, 0);
	const struct mpijob__job_row *row = mpijob__job_field_row(id);
	const mpijob_node *node = mpijob__job_field_node(mpijob__job_node(job), id);
	struct mpijob__job_value value;
	char *loaded;

	if (mpijob__job_value_read(row, node, &value) == VALUE_WRONG) {
		struct mpijob__job_spot spot = { row->field.path,
			mpijob__job_report_place(&report, node, NULL) };

		mpijob__job_value_complain(&report, &spot, row, node);
	} else {
		mpijob__job_value_check_types(&report, id, node);
	}
	if (mpijob__job_report_result(&report))
		return mpijob__job_report_result(&report);
	loaded = load_struct(&job->views->memory, row->of, id, node);
	if (!loaded)
		return MPIJOB_ERR_NOMEM;
	*out = loaded;
	return 0;
}

int mpijob__job_spec(const mpijob *job, const struct mpijob_spec **out, mpijob_diag *diag)
{
	const void *loaded = job->views->spec;
	int code = loaded ? 0 : view(job, FIELD_SPEC, &loaded, diag);

	if (code)
		return code;
	job->views->spec = loaded;
	*out = loaded;
	return 0;
}

int mpijob__job_status(const mpijob *job, const struct mpijob_status **out, mpijob_diag *diag)
{
	const void *loaded = job->views->status;
	int code = loaded ? 0 : view(job, FIELD_STATUS, &loaded, diag);

	if (code)
		return code;
	job->views->status = loaded;
	*out = loaded;
	return 0;
}

int mpijob_spec_get(mpijob *job, const struct mpijob_spec **out, mpijob_diag *diag)
{
	return job && out ? mpijob__job_spec(job, out, diag) : MPIJOB_ERR_USAGE;
}

int mpijob_status_get(mpijob *job, const struct mpijob_status **out, mpijob_diag *diag)
{
	return job && out ? mpijob__job_status(job, out, diag) : MPIJOB_ERR_USAGE;
}
