/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the structs of spec.h into a document. It writes only members that are inside the caller's
 * size, and only values that differ from those in the document, so that spelling, null, lines and
 * columns of all other values are kept. It never changes unknown keys.
 */
#include <string.h>

#include "base/struct.h"
#include "job/field.h"
#include "job/state.h"
#include "base/time.h"
#include "job/value.h"

#include <mpijob/spec.h>

struct store {
	mpijob_doc *doc;
	mpijob_diag *diag;
};

/* A copy of the caller's struct, with the size of this library. */
struct given {
	union {
		struct mpijob_spec spec;
		struct mpijob_run_policy run_policy;
		struct mpijob_scheduling_policy scheduling_policy;
		struct mpijob_replica_spec replica_spec;
		struct mpijob_status status;
		struct mpijob_condition condition;
		struct mpijob_replica_status replica_status;
		char bytes[1];
	} members;
	size_t size; /* The caller's size. */
};

static int store_members(struct store *store, int id, mpijob_node *map, const struct given *given);

static int fail(struct store *store, const struct mpijob__job_row *row, int code,
    const char *message)
{
	mpijob__core_diag_addf(store->diag, MPIJOB_SEVERITY_ERROR,
	    code == MPIJOB_ERR_USAGE ? "bad-struct" : "unknown-member", NULL, row->field.path, NULL,
	    "%s", message);
	return code;
}

static int take(struct store *store, const struct mpijob__job_row *row, const void *from,
    struct given *given)
{
	int code;

	if (!from)
		return fail(store, row, MPIJOB_ERR_USAGE, "an entry of the list is NULL");
	code = mpijob__base_struct_check(given->members.bytes,
	    mpijob__job_field_struct_size(row->of), from);
	if (code == MPIJOB_ERR_USAGE)
		return fail(store, row, code, "the struct's size is not set");
	if (code)
		return fail(store, row, code,
		    "the struct has a member that this version of the library does not know");
	memcpy(&given->size, from, sizeof(given->size));
	return 0;
}

static int has_member(const struct mpijob__job_row *row, const struct given *given)
{
	return row->in && mpijob__job_field_member_end(row) <= given->size;
}

static const void *member_pointer(const struct mpijob__job_row *row, const struct given *given)
{
	const void *pointer;

	memcpy(&pointer, given->members.bytes + row->offset, sizeof(pointer));
	return pointer;
}

/* The member as a value; VALUE_ABSENT or VALUE_GIVEN. */
static int member_value(const struct mpijob__job_row *row, const struct given *given,
    struct mpijob__job_value *out)
{
	int32_t small = 0;
	const void *pointer = NULL;

	out->number = 0;
	out->text = NULL;
	if (row->field.kind == MPIJOB_KIND_CHOICE || (row->flags & FIELD_BY_VALUE)) {
		memcpy(&small, given->members.bytes + row->offset, sizeof(small));
		out->number = small;
		return small ? VALUE_GIVEN : VALUE_ABSENT;
	}
	pointer = member_pointer(row, given);
	if (!pointer)
		return VALUE_ABSENT;
	if (row->field.kind == MPIJOB_KIND_STRING) {
		out->text = pointer;
	} else if (row->field.kind == MPIJOB_KIND_INT32 || row->field.kind == MPIJOB_KIND_BOOL) {
		memcpy(&small, pointer, sizeof(small));
		out->number = row->field.kind == MPIJOB_KIND_BOOL ? small != 0 : small;
	} else {
		memcpy(&out->number, pointer, sizeof(out->number));
	}
	return VALUE_GIVEN;
}

static int store_choice(struct store *store, const struct mpijob__job_row *row, mpijob_node *map,
    int64_t number)
{
	int64_t count = 0;

	if (number == MPIJOB_OTHER)
		return 0;
	while (row->field.choices[count])
		count++;
	if (number < 0 || number > count)
		return fail(store, row, MPIJOB_ERR_USAGE,
		    "the number is not one of this field's constants");
	mpijob_node_put_string(store->doc, map, row->key, row->field.choices[number - 1]);
	return 0;
}

static int store_time(struct store *store, const struct mpijob__job_row *row, mpijob_node *map,
    int64_t seconds)
{
	char text[MPIJOB__BASE_TIME_SIZE];

	if (!mpijob__base_time_format(seconds, text))
		return fail(store, row, MPIJOB_ERR_USAGE,
		    "the time is not within the years 0 to 9999");
	mpijob_node_put_string(store->doc, map, row->key, text);
	return 0;
}

static int same(const struct mpijob__job_row *row, const struct mpijob__job_value *a,
    const struct mpijob__job_value *b)
{
	if (row->field.kind == MPIJOB_KIND_STRING)
		return strcmp(a->text, b->text) == 0;
	return a->number == b->number;
}

static int store_scalar(struct store *store, const struct mpijob__job_row *row, mpijob_node *map,
    const struct given *given)
{
	struct mpijob__job_value value, current;
	int state = member_value(row, given, &value);
	int old_state = mpijob__job_value_read(row, mpijob_node_get(map, row->key), &current);

	if (state == old_state && (state == VALUE_ABSENT || same(row, &value, &current)))
		return 0;
	if (state == VALUE_ABSENT) {
		/* An explicit 0 in the document is not a difference. */
		if (!(row->flags & FIELD_BY_VALUE) || old_state != VALUE_GIVEN || current.number)
			mpijob_node_remove(map, row->key);
		return 0;
	}
	switch (row->field.kind) {
	case MPIJOB_KIND_STRING:
		mpijob_node_put_string(store->doc, map, row->key, value.text);
		return 0;
	case MPIJOB_KIND_CHOICE: return store_choice(store, row, map, value.number);
	case MPIJOB_KIND_TIME: return store_time(store, row, map, value.number);
	case MPIJOB_KIND_BOOL:
		mpijob_node_put_bool(store->doc, map, row->key, (int)value.number);
		return 0;
	default: mpijob_node_put_int(store->doc, map, row->key, value.number); return 0;
	}
}

static int is_absent(const mpijob_node *map, const struct mpijob__job_row *row)
{
	return mpijob_node_kind(mpijob_node_get(map, row->key)) <= MPIJOB_NODE_NULL;
}

static int store_document(struct store *store, const struct mpijob__job_row *row, mpijob_node *map,
    const mpijob_node *node)
{
	if (!node) {
		if (!is_absent(map, row))
			mpijob_node_remove(map, row->key);
	} else if (!mpijob_node_equal(mpijob_node_get(map, row->key), node)) {
		mpijob_node_put_copy(store->doc, map, row->key, node);
	}
	return 0;
}

/* The map at a key; it is created if there is none. */
static mpijob_node *inner_map(struct store *store, const struct mpijob__job_row *row,
    mpijob_node *map)
{
	mpijob_node *inner = mpijob_node_edit(map, row->key);

	return mpijob_node_kind(inner) == MPIJOB_NODE_MAP
		   ? inner
		   : mpijob_node_put_map(store->doc, map, row->key);
}

static int store_struct(struct store *store, int id, mpijob_node *map, const void *from)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);
	struct given inner;
	int code;

	if (!from) {
		if (!is_absent(map, row))
			mpijob_node_remove(map, row->key);
		return 0;
	}
	code = take(store, row, from, &inner);
	return code ? code : store_members(store, id, inner_map(store, row, map), &inner);
}

static int has_key(const struct mpijob__job_row *key, const mpijob_node *entry, int state,
    const struct mpijob__job_value *wanted)
{
	struct mpijob__job_value current;

	if (mpijob_node_kind(entry) != MPIJOB_NODE_MAP ||
	    mpijob__job_value_read(key, mpijob_node_get(entry, key->key), &current) != state)
		return 0;
	return state == VALUE_ABSENT || same(key, wanted, &current);
}

/* The old entry that corresponds to a struct of the list: the one with the same index if it has the
 * same key, otherwise the first one with that key. A key may be absent, or occur twice. */
static const mpijob_node *entry_of(const struct mpijob__job_row *row, const mpijob_node *list,
    size_t index, const struct given *given)
{
	const struct mpijob__job_row *key = mpijob__job_field_row(row->list_key);
	struct mpijob__job_value wanted;
	int state;

	if (!row->list_key || !has_member(key, given))
		return mpijob_node_at(list, index);
	state = member_value(key, given, &wanted);
	if (has_key(key, mpijob_node_at(list, index), state, &wanted))
		return mpijob_node_at(list, index);
	for (size_t i = 0; state == VALUE_GIVEN && i < mpijob_node_count(list); i++) {
		if (has_key(key, mpijob_node_at(list, i), state, &wanted))
			return mpijob_node_at(list, i);
	}
	return NULL;
}

static int store_entry(struct store *store, int id, const mpijob_node *old, mpijob_node *list,
    size_t index, const void *from)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);
	const mpijob_node *old_entry;
	mpijob_node *map;
	struct given given;
	int code = take(store, row, from, &given);

	if (code)
		return code;
	old_entry = entry_of(row, old, index, &given);
	if (mpijob_node_kind(old_entry) == MPIJOB_NODE_MAP)
		map = mpijob_node_append(store->doc, list, mpijob_node_copy(store->doc, old_entry));
	else
		map = mpijob_node_append_map(store->doc, list);
	return store_members(store, id, map, &given);
}

static int store_list(struct store *store, int id, mpijob_node *map, const struct given *given)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);
	const void *const *entries = member_pointer(row, given);
	const mpijob_node *old = mpijob_node_get(map, row->key);
	mpijob_node *list;
	size_t count;
	int code = 0;

	memcpy(&count, given->members.bytes + row->count_offset, sizeof(count));
	if (!count) {
		if (mpijob_node_kind(old) != MPIJOB_NODE_LIST || mpijob_node_count(old))
			return store_document(store, row, map, NULL);
		return 0;
	}
	if (!entries)
		return fail(store, row, MPIJOB_ERR_USAGE, "entries are counted but not given");
	list = mpijob_node_new(store->doc, MPIJOB_NODE_LIST);
	for (size_t i = 0; !code && i < count; i++)
		code = store_entry(store, id, old, list, i, entries[i]);
	mpijob_node_put(store->doc, map, row->key, list);
	return code;
}

/* Whether a struct has a value for an object without a struct of its own. */
static int gives_any(int id, const struct given *given)
{
	for (int i = 1; i < FIELD_END; i++) {
		const struct mpijob__job_row *row = mpijob__job_field_row(i);

		if (row->parent == id && has_member(row, given) && member_pointer(row, given))
			return 1;
	}
	return 0;
}

static int store_member(struct store *store, int id, mpijob_node *map, const struct given *given)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);

	if (row->field.kind == MPIJOB_KIND_OBJECT && !row->of) {
		int there = mpijob_node_kind(mpijob_node_get(map, row->key)) == MPIJOB_NODE_MAP;

		return there || gives_any(id, given)
			   ? store_members(store, id, inner_map(store, row, map), given)
			   : 0;
	}
	if (!has_member(row, given))
		return 0;
	switch (row->field.kind) {
	case MPIJOB_KIND_OBJECT: return store_struct(store, id, map, member_pointer(row, given));
	case MPIJOB_KIND_LIST: return store_list(store, id, map, given);
	case MPIJOB_KIND_DOCUMENT:
		return store_document(store, row, map, member_pointer(row, given));
	default: return store_scalar(store, row, map, given);
	}
}

static int store_members(struct store *store, int id, mpijob_node *map, const struct given *given)
{
	int code = map ? 0 : mpijob_doc_error(store->doc);

	for (int i = 1; !code && i < FIELD_END; i++) {
		if (mpijob__job_field_row(i)->parent == id)
			code = store_member(store, i, map, given);
	}
	return code;
}

static int store_top(mpijob_doc *doc, int id, const void *from, mpijob_diag *diag)
{
	struct store store = { doc, diag };
	int code = store_struct(&store, id, mpijob_doc_edit(doc, ""), from);

	return code ? code : mpijob_doc_error(doc);
}

int mpijob__job_store_spec(mpijob_doc *doc, const struct mpijob_spec *spec, mpijob_diag *diag)
{
	return store_top(doc, FIELD_SPEC, spec, diag);
}

static int set(mpijob *job, int id, const void *from, mpijob_diag *diag)
{
	mpijob_doc *draft;
	int code;

	if (!job || !from)
		return MPIJOB_ERR_USAGE;
	draft = mpijob__job_state_draft(job);
	if (!draft)
		return MPIJOB_ERR_NOMEM;
	code = store_top(draft, id, from, diag);
	if (code) {
		mpijob_doc_free(draft);
		return code;
	}
	mpijob__job_state_commit(job, draft);
	return 0;
}

int mpijob_spec_set(mpijob *job, const struct mpijob_spec *spec, mpijob_diag *diag)
{
	return set(job, FIELD_SPEC, spec, diag);
}

int mpijob_status_set(mpijob *job, const struct mpijob_status *status, mpijob_diag *diag)
{
	return set(job, FIELD_STATUS, status, diag);
}
