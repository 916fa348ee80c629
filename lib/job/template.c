/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a pod template and the schema together. First it makes the checks of an API server for an
 * MPIJob with the CRD: known fields, types, required fields, unique list entries. Then it makes the
 * checks of template_rows.c for each object: those of an API server for the pods that are created
 * from the template.
 */
#include "job/template.h"

#include <stdlib.h>
#include <string.h>

#include "base/field_path.h"
#include "base/near.h"
#include "doc/number.h"
#include "job/field.h"
#include "job/template_types.h"
#include "job/template_walk.h"
#include "job/value.h"

#define NEAR_MOST  MPIJOB__JOB_TEMPLATE_FIELDS
#define PARTS_MOST 4   /* No list has more keys. */
#define KEY_SHOWN  317 /* bytes of the longest valid key: prefix, slash and name */

/* Append a key in brackets. An invalid longer key is cut: each finding below the key repeats it. */
static int put_entry(struct mpijob_text *out, const char *key)
{
	size_t len = strlen(key);

	if (len <= KEY_SHOWN)
		return mpijob__base_field_path_entry(out, key);
	for (len = KEY_SHOWN; len && ((unsigned char)key[len] & 0xc0) == 0x80; len--)
		;
	return mpijob__base_text_printf(out, "[%.*s...]", (int)len, key);
}

static int put_key(struct mpijob_text *out, const char *key)
{
	return strlen(key) <= KEY_SHOWN ? mpijob__base_field_path_key(out, key)
					: put_entry(out, key);
}

static int put_path(struct mpijob_text *out, const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	int code;

	if (!step || (!step->before && !step->key))
		return mpijob__base_text_puts(out, at->path);
	code = put_path(out, at, step->before);
	if (code)
		return code;
	return step->key ? put_key(out, step->key)
			 : mpijob__base_field_path_index(out, step->index);
}

/* The place of a step's value; if it has none, of its nearest parent. */
static struct mpijob__core_place place_of(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__core_place place = { at->report->source, 0, 0 };

	for (; step && !place.line; step = step->before)
		place = mpijob__job_report_place(at->report, step->node, NULL);
	return place.line ? place : at->place;
}

/* The place of the key at `index` of the step's map. */
static void key_place(const struct mpijob__job_step *step, size_t index,
    struct mpijob__core_place *place)
{
	int32_t line, column;

	mpijob_node_key_place(step->node, index, &line, &column);
	if (line) {
		place->line = line;
		place->column = column;
	}
}

/* The spot of a finding, with the memory of its path. */
struct spot {
	struct mpijob_text path;
	struct mpijob__job_spot spot;
};

static void spot_begin(struct spot *out, const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, const char *key)
{
	struct mpijob__job_step inner = { step, key, 0,
		key ? mpijob_node_get(step->node, key) : NULL, SCHEMA_NONE };

	memset(out, 0, sizeof(*out));
	if (put_path(&out->path, at, key ? &inner : step))
		at->report->code = MPIJOB_ERR_NOMEM;
	out->spot.path = mpijob_text_data(&out->path);
	out->spot.place = place_of(at, key ? &inner : step);
}

static void spot_end(struct spot *spot)
{
	mpijob__base_text_release(&spot->path);
}

void mpijob__job_template_error(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, const char *key, const char *id, const char *reason,
    const char *format, ...)
{
	struct spot spot;
	va_list args;

	if (mpijob__job_report_is_full(at->report, id))
		return;
	spot_begin(&spot, at, step, key);
	va_start(args, format);
	mpijob__job_report_verror(at->report, &spot.spot, id, reason, format, args);
	va_end(args);
	spot_end(&spot);
}

const mpijob_node *mpijob__job_template_map(const mpijob_node *map, const char *key)
{
	const mpijob_node *node = mpijob_node_get(map, key);

	return mpijob_node_kind(node) == MPIJOB_NODE_MAP ? node : NULL;
}

const mpijob_node *mpijob__job_template_list(const mpijob_node *map, const char *key)
{
	const mpijob_node *node = mpijob_node_get(map, key);

	return mpijob_node_kind(node) == MPIJOB_NODE_LIST ? node : NULL;
}

const char *mpijob__job_template_text(const mpijob_node *map, const char *key)
{
	const char *text = mpijob_node_string(mpijob_node_get(map, key));

	return text && *text ? text : NULL;
}

int mpijob__job_template_flag(const mpijob_node *map, const char *key)
{
	int value;

	return mpijob_node_bool(mpijob_node_get(map, key), &value) && value;
}

int mpijob__job_template_number(const mpijob_node *map, const char *key, int64_t *out)
{
	return mpijob_node_int(mpijob_node_get(map, key), out);
}

int mpijob__job_template_has(const mpijob_node *map, const char *key)
{
	return mpijob_node_kind(mpijob_node_get(map, key)) > MPIJOB_NODE_NULL;
}

struct mpijob__job_step mpijob__job_template_child(const struct mpijob__job_step *step,
    const char *key)
{
	struct mpijob__job_step inner = { step, key, 0, mpijob_node_get(step->node, key),
		SCHEMA_NONE };

	return inner;
}

struct mpijob__job_step mpijob__job_template_entry(const struct mpijob__job_step *list,
    size_t index)
{
	struct mpijob__job_step inner = { list, NULL, index, mpijob_node_at(list->node, index),
		SCHEMA_NONE };

	return inner;
}

const mpijob_node *mpijob__job_template_spec(const struct mpijob__job_pod_template *at)
{
	return mpijob__job_template_map(at->node, "spec");
}

/* The MPIJOB_KIND_* of a SCHEMA_* kind. */
static int32_t row_kind(int kind)
{
	static const int32_t kinds[] = {
		[SCHEMA_STRING] = MPIJOB_KIND_STRING,
		[SCHEMA_BOOL] = MPIJOB_KIND_BOOL,
		[SCHEMA_INT32] = MPIJOB_KIND_INT32,
		[SCHEMA_INT64] = MPIJOB_KIND_INT64,
		[SCHEMA_TIME] = MPIJOB_KIND_TIME,
		[SCHEMA_OBJECT] = MPIJOB_KIND_OBJECT,
	};

	return kinds[kind];
}

static void complain(const struct mpijob__job_pod_template *at, const struct mpijob__job_step *step,
    const char *wanted, int32_t kind)
{
	const struct mpijob__job_row row = { .field.kind = kind };
	struct spot spot;

	if (mpijob__job_report_is_full(at->report, "wrong-type"))
		return;
	spot_begin(&spot, at, step, NULL);
	if (wanted)
		mpijob__job_value_complain_of(at->report, &spot.spot, wanted, step->node);
	else
		mpijob__job_value_complain(at->report, &spot.spot, &row, step->node);
	spot_end(&spot);
}

static int is_int_or_string(const mpijob_node *node)
{
	int64_t number;

	if (mpijob_node_string(node))
		return 1;
	return mpijob_node_int(node, &number) && number <= INT32_MAX && number >= INT32_MIN;
}

/* Report a value that does not have the type of a scalar. */
static void check_scalar(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, int kind)
{
	const struct mpijob__job_row row = { .field.kind =
						 kind == SCHEMA_ANY ? 0 : row_kind(kind) };
	struct mpijob__job_value value;
	int good = 1;

	if (kind == SCHEMA_QUANTITY)
		good = mpijob__job_value_is_quantity(at->report, step->node);
	else if (kind == SCHEMA_INT_OR_STRING)
		good = is_int_or_string(step->node);
	else if (kind != SCHEMA_ANY)
		good = mpijob__job_value_read(&row, step->node, &value) == VALUE_GIVEN;
	if (!good)
		complain(at, step,
		    kind == SCHEMA_QUANTITY        ? MPIJOB__JOB_VALUE_QUANTITY
		    : kind == SCHEMA_INT_OR_STRING ? "a whole number or a string"
						   : NULL,
		    row.field.kind);
}

static void visit_object(const struct mpijob__job_pod_template *at, struct mpijob__job_step *step,
    int type);

/* Visit a value in an object, a map or a list. A null counts as a value only in a list, and for the
 * operator nowhere. */
static void visit_value(const struct mpijob__job_pod_template *at, struct mpijob__job_step *step,
    const struct mpijob__schema_field *field)
{
	int in_map = step->key != NULL;

	if (mpijob_node_kind(step->node) == MPIJOB_NODE_NULL && (in_map || at->report->reference))
		return;
	if (field->kind != SCHEMA_OBJECT)
		check_scalar(at, step, field->kind);
	else if (mpijob_node_kind(step->node) == MPIJOB_NODE_MAP)
		visit_object(at, step, field->of);
	else
		complain(at, step, NULL, MPIJOB_KIND_OBJECT);
}

/* The value of a key; NULL also for null. */
static const mpijob_node *given(const mpijob_node *map, const char *key)
{
	return mpijob__job_template_has(map, key) ? mpijob_node_get(map, key) : NULL;
}

/* The next of several names that are separated by spaces; NULL after the last. */
static const char *next_name(const char *names, char out[48])
{
	size_t len = strcspn(names, " ");

	if (!len || len > 47)
		return NULL;
	memcpy(out, names, len);
	out[len] = '\0';
	return names + len + (names[len] == ' ');
}

/* Append a kind, a text and a terminator. Returns 1 or MPIJOB_ERR_NOMEM. */
static int put_part(struct mpijob_text *out, char kind, const char *text, size_t len, char end)
{
	char *to;

	if (mpijob__base_text_reserve(out, len + 2))
		return MPIJOB_ERR_NOMEM;
	to = out->data + out->len;
	to[0] = kind;
	memcpy(to + 1, text, len);
	to[len + 1] = end;
	to[len + 2] = 0;
	out->len += len + 2;
	return 1;
}

int mpijob__job_template_identity(struct mpijob_text *out, const mpijob_node *node,
    const char *usual)
{
	char number[MPIJOB__DOC_NUMBER_ROOM];
	const char *text = node ? mpijob_node_string(node) : usual;
	size_t len;
	int truth;

	/* UTF-8 does not contain the byte 0xff. */
	if (text)
		return put_part(out, 's', text, node ? mpijob_node_length(node) : strlen(text),
		    '\xff');
	if (mpijob_node_bool(node, &truth))
		return put_part(out, truth ? 't' : 'f', "", 0, ';');
	if (mpijob_node_kind(node) == MPIJOB_NODE_NULL)
		return put_part(out, '0', "", 0, ';');
	text = mpijob_node_text(node);
	len = text ? mpijob__doc_number_canonical(text, mpijob_node_length(node), number) : 0;
	if (!len)
		return 0;
	return strcmp(number, "-0") == 0 ? put_part(out, 'n', "0", 1, ';')
					 : put_part(out, 'n', number, len, ';');
}

/* The keys that identify an entry of a list. */
struct identity {
	size_t count; /* 0: the entry itself */
	struct {
		const char *key, *fill;
	} parts[PARTS_MOST];
};

static void find_identity(struct identity *out, const struct mpijob__schema_field *list)
{
	const char *keys = mpijob__schema_text(list->keys);
	char name[48];

	out->count = 0;
	while ((list->flags & SCHEMA_KEYED) && out->count < PARTS_MOST &&
	       (keys = next_name(keys, name))) {
		const struct mpijob__schema_field *field = mpijob__schema_find(list->of, name);

		out->parts[out->count].key = mpijob__schema_text(field->name);
		out->parts[out->count++].fill =
		    field->fill ? mpijob__schema_text(field->fill) : NULL;
	}
}

/* Write the text that identifies an entry of a list. Returns 1; 0 if it has none, which other rules
 * report; MPIJOB_ERR_NOMEM. */
static int put_identity(struct mpijob_text *out, const struct identity *identity,
    const mpijob_node *entry)
{
	int found = 1;

	out->len = 0;
	if (!identity->count)
		return mpijob__job_template_identity(out, entry, NULL);
	for (size_t i = 0; i < identity->count && found == 1; i++)
		found = mpijob__job_template_identity(out, given(entry, identity->parts[i].key),
		    identity->parts[i].fill);
	return found;
}

/* Whether duplicates in a list are errors. For templates the CRD says so; in a complete pod an API
 * server checks only these lists. */
static int compares_entries(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *list)
{
	static const char *const keys[] = { "containers", "initContainers", "ephemeralContainers",
		"volumes", "volumeMounts", "volumeDevices", "resourceClaims", "schedulingGates" };

	for (size_t i = 0; at->pod && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(list->key, keys[i]) == 0)
			return 1;
	return !at->pod;
}

static void check_repetitions(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *list, const struct mpijob__schema_field *field)
{
	size_t count = mpijob_node_count(list->node);
	struct mpijob__doc_names seen = { 0 };
	struct mpijob_text text = { 0 };
	struct identity identity;

	if (at->report->reference || !(field->flags & (SCHEMA_SET | SCHEMA_KEYED)) || count < 2 ||
	    !compares_entries(at, list))
		return;
	find_identity(&identity, field);
	for (size_t i = 0; i < count; i++) {
		struct mpijob__job_step entry = mpijob__job_template_entry(list, i);
		int found = put_identity(&text, &identity, entry.node);
		uint32_t k;

		if (found == 1)
			found = mpijob__doc_names_add(&seen, mpijob_text_data(&text),
			    mpijob_text_len(&text), (uint32_t)i, &k);
		else if (found == 0)
			continue;
		if (found < 0)
			at->report->code = MPIJOB_ERR_NOMEM;
		else if (found == 0 && field->flags & SCHEMA_KEYED)
			mpijob__job_template_error(at, &entry,
			    at->pod ? mpijob__schema_text(field->keys) : NULL, "duplicate",
			    "Duplicate", "has the same %s as entry %lu",
			    mpijob__schema_text(field->keys), (unsigned long)k);
		else if (found == 0)
			mpijob__job_template_error(at, &entry, NULL, "duplicate", "Duplicate",
			    "is the same as entry %lu", (unsigned long)k);
	}
	mpijob__base_text_release(&text);
	mpijob__doc_names_release(&seen);
}

int mpijob__job_template_names_repeat(const struct mpijob__job_pod_template *at,
    struct mpijob__doc_names *names, const char *name)
{
	int added = name ? mpijob__doc_names_add(names, name, strlen(name), 0, NULL) : 1;

	if (added < 0)
		at->report->code = MPIJOB_ERR_NOMEM;
	return added == 0;
}

int mpijob__job_template_names_find(const struct mpijob__doc_names *names, const char *name,
    uint32_t *index)
{
	return mpijob__doc_names_find(names, name, strlen(name), index);
}

void mpijob__job_template_names_collect(const struct mpijob__job_pod_template *at,
    struct mpijob__doc_names *names, const mpijob_node *list, const char *key)
{
	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const char *name = mpijob__job_template_text(mpijob_node_at(list, i), key);

		if (name && mpijob__doc_names_add(names, name, strlen(name), (uint32_t)i, NULL) < 0)
			at->report->code = MPIJOB_ERR_NOMEM;
	}
}

static void visit_field(const struct mpijob__job_pod_template *at, struct mpijob__job_step *step,
    const struct mpijob__schema_field *field)
{
	int32_t wanted = field->shape == SCHEMA_LIST ? MPIJOB_NODE_LIST : MPIJOB_NODE_MAP;

	if (field->shape == SCHEMA_ONE) {
		visit_value(at, step, field);
		return;
	}
	if (mpijob_node_kind(step->node) != wanted) {
		complain(at, step, NULL,
		    field->shape == SCHEMA_LIST ? MPIJOB_KIND_LIST : MPIJOB_KIND_OBJECT);
		return;
	}
	for (size_t i = 0; i < mpijob_node_count(step->node); i++) {
		struct mpijob__job_step entry = mpijob__job_template_entry(step, i);

		if (field->shape == SCHEMA_MAP)
			entry.key = mpijob_node_key(step->node, i);
		visit_value(at, &entry, field);
	}
	check_repetitions(at, step, field);
}

/* The nearest field of a type for a misspelled key; NULL when none is near. */
static const char *nearest_field(int type, const char *key)
{
	const char *names[NEAR_MOST];
	size_t count;
	const struct mpijob__schema_field *fields = mpijob__schema_fields(type, &count);
	size_t used = 0;

	for (size_t i = 0; i < count && used < NEAR_MOST; i++) {
		if (fields[i].flags & SCHEMA_IN_CRD)
			names[used++] = mpijob__schema_text(fields[i].name);
	}
	return mpijob__base_near_word(key, names, used);
}

/* Report a key that the server drops: an unknown field, or one that only the CRD does not have. */
static void report_dropped(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, size_t index, const struct mpijob__schema_field *field)
{
	const char *key = mpijob_node_key(step->node, index), *near;
	struct spot spot;

	if (at->report->reference || at->pod ||
	    mpijob__job_report_strict_is_full(at->report, field ? "pruned-field" : "unknown-field"))
		return;
	near = field ? NULL : nearest_field(step->type, key);
	spot_begin(&spot, at, step, key);
	key_place(step, index, &spot.spot.place);
	if (field)
		mpijob__job_report_strict(at->report, &spot.spot, "pruned-field",
		    "Kubernetes " MPIJOB__SCHEMA_KUBERNETES
		    " has this field, but the CRD of " MPIJOB__SCHEMA_CRD
		    " does not: the server drops it");
	else
		mpijob__job_report_strict(at->report, &spot.spot, "unknown-field",
		    "unknown field in the CRD of " MPIJOB__SCHEMA_CRD
		    " and in Kubernetes " MPIJOB__SCHEMA_KUBERNETES ", the server drops it%s%s%s",
		    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	spot_end(&spot);
}

/* Visit all keys. Returns the present fields of the type: one bit for each, in the type's order. */
static uint64_t visit_keys(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	size_t count;
	const struct mpijob__schema_field *fields = mpijob__schema_fields(step->type, &count);
	uint64_t present = 0;

	for (size_t i = 0; i < mpijob_node_count(step->node); i++) {
		const char *key = mpijob_node_key(step->node, i);
		const struct mpijob__schema_field *field = mpijob__schema_find(step->type, key);
		struct mpijob__job_step inner = { step, key, 0, mpijob_node_at(step->node, i),
			SCHEMA_NONE };

		if (field)
			present |= UINT64_C(1) << (field - fields);
		if (!field || !(field->flags & SCHEMA_IN_CRD))
			report_dropped(at, step, i, field);
		else if (mpijob_node_kind(inner.node) != MPIJOB_NODE_NULL)
			visit_field(at, &inner, field);
	}
	return present;
}

static void check_required(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	size_t count;
	const struct mpijob__schema_field *fields = mpijob__schema_fields(step->type, &count);

	for (size_t i = 0; i < count; i++) {
		const char *key = mpijob__schema_text(fields[i].name);

		/* Another rule reports missing containers. */
		if (step->type == SCHEMA_PodSpec || !(fields[i].flags & SCHEMA_CRD_REQUIRED))
			continue;
		if (!mpijob__job_template_has(step->node, key))
			mpijob__job_template_error(at, step, key, "missing", "Required",
			    "a value is required");
	}
}

/* Whether a value is empty and Kubernetes treats it as absent. */
static int is_empty(const struct mpijob__schema_field *field, const mpijob_node *node)
{
	int64_t number;

	if (mpijob_node_kind(node) <= MPIJOB_NODE_NULL)
		return 1;
	if (field->flags & SCHEMA_POINTER)
		return 0;
	if (mpijob_node_string(node))
		return mpijob_node_length(node) == 0;
	if (mpijob_node_int(node, &number))
		return number == 0;
	return field->shape != SCHEMA_ONE && mpijob_node_count(node) == 0;
}

void mpijob__job_template_unsupported(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, const struct mpijob__schema_field *field, const char *word)
{
	const char *words[NEAR_MOST + 1] = { NULL };
	struct mpijob_text list = { 0 };
	size_t count = 0;
	const char *near;

	for (const char *choice = mpijob__schema_text(field->choices);
	     count < NEAR_MOST && (!count || *choice); choice += strlen(choice) + 1)
		words[count++] = choice;
	near = mpijob__base_near_word(word, words, count);
	for (size_t i = 0; i < count; i++) {
		if (*words[i] && mpijob__base_text_printf(&list, "%s%s",
				     !list.len       ? ""
				     : i + 1 < count ? ", "
						     : " or ",
				     words[i]))
			at->report->code = MPIJOB_ERR_NOMEM;
	}
	mpijob__job_template_error(at, step, NULL, "unsupported-value", "NotSupported",
	    "unsupported value '%s'; use %s%s%s%s", word, mpijob_text_data(&list),
	    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	mpijob__base_text_release(&list);
}

/* Check one value of a field; `row` may be NULL. */
static void check_field_value(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, const struct mpijob__schema_field *field,
    const struct mpijob__job_template_row *row)
{
	const char *text = mpijob_node_string(step->node);
	const char *must;
	int64_t number;

	if (text && !(row && (row->flags & ROW_ANY_WORD)) && !mpijob__schema_allows(field, text))
		mpijob__job_template_unsupported(at, step, field, text);
	if (!row)
		return;
	must = text && row->syntax ? row->syntax(text) : NULL;
	if (must)
		mpijob__job_template_error(at, step, NULL, "invalid-value", "Invalid",
		    "'%s' must be %s", text, must);
	if ((row->flags & ROW_RANGE) && mpijob_node_int(step->node, &number) &&
	    (number < row->low || number > row->high)) {
		if (row->high == INT64_MAX)
			mpijob__job_template_error(at, step, NULL, "out-of-range", "Invalid",
			    "must be at least %lld, not %lld", (long long)row->low,
			    (long long)number);
		else
			mpijob__job_template_error(at, step, NULL, "out-of-range", "Invalid",
			    "must be from %lld to %lld, not %lld", (long long)row->low,
			    (long long)row->high, (long long)number);
	}
}

static void check_field(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, const struct mpijob__schema_field *field,
    const struct mpijob__job_template_row *row)
{
	struct mpijob__job_step inner =
	    mpijob__job_template_child(step, mpijob__schema_text(field->name));

	if (is_empty(field, inner.node)) {
		if (row && (row->flags & ROW_REQUIRED) &&
		    (mpijob__job_template_has(step->node, inner.key) ||
			!(field->flags & SCHEMA_CRD_REQUIRED)))
			mpijob__job_template_error(at, step, inner.key, "missing", "Required",
			    "a value is required");
		return;
	}
	if (field->shape == SCHEMA_ONE)
		check_field_value(at, &inner, field, row);
	for (size_t i = 0; field->shape == SCHEMA_LIST && i < mpijob_node_count(inner.node); i++) {
		struct mpijob__job_step entry = mpijob__job_template_entry(&inner, i);

		check_field_value(at, &entry, field, row);
	}
}

/* Append a list of names with commas, and `last` before the last one: all, or the keys of `map`. */
static void put_names(struct mpijob_text *out, const struct mpijob__job_pod_template *at,
    const mpijob_node *map, const char *names, const char *last)
{
	char name[48], kept[48] = "";
	int code = 0;

	while ((names = next_name(names, name))) {
		if (map && !mpijob__job_template_has(map, name))
			continue;
		if (*kept)
			code |= mpijob__base_text_printf(out, "%s%s", out->len ? ", " : "", kept);
		memcpy(kept, name, sizeof(kept));
	}
	code |= mpijob__base_text_printf(out, "%s%s", out->len ? last : "", kept);
	if (code)
		at->report->code = MPIJOB_ERR_NOMEM;
}

static void check_one_of(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, const struct mpijob__job_template_row *row)
{
	struct mpijob_text names = { 0 };
	const char *rest = row->key;
	char name[48];
	int64_t count = 0;

	while ((rest = next_name(rest, name))) {
		const mpijob_node *value = mpijob_node_get(step->node, name);

		count += value && !is_empty(mpijob__schema_find(step->type, name), value);
	}
	if (count < row->low) {
		put_names(&names, at, NULL, row->key, " or ");
		mpijob__job_template_error(at, step, NULL, "none-of", "Required", "needs %s",
		    mpijob_text_data(&names));
	} else if (count > row->high) {
		put_names(&names, at, step->node, row->key, " and ");
		mpijob__job_template_error(at, step, NULL, "too-many-of", "Forbidden",
		    "has %s; only one of them is possible", mpijob_text_data(&names));
	}
	mpijob__base_text_release(&names);
}

static void check_rules(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step, uint64_t present)
{
	const struct mpijob__job_template_type *type =
	    mpijob__job_template_types_get(at->types, step->type);

	for (size_t i = 0; i < type->checks_count; i++)
		if (type->checks[i].when & present)
			check_field(at, step, type->checks[i].field, type->checks[i].row);
	for (size_t i = 0; i < type->rows_count; i++) {
		if (type->rows[i].flags & ROW_ONE_OF)
			check_one_of(at, step, &type->rows[i]);
		else if (type->rows[i].rule)
			type->rows[i].rule(at, step);
	}
}

static void visit_object(const struct mpijob__job_pod_template *at, struct mpijob__job_step *step,
    int type)
{
	uint64_t present;

	step->type = type;
	present = visit_keys(at, step);
	if (at->report->reference)
		return;
	check_required(at, step);
	if (!at->unused)
		check_rules(at, step, present | MPIJOB__JOB_TEMPLATE_ALWAYS);
}

int mpijob__job_template_pool_find(const struct mpijob__job_pod_template *at, int pool,
    const char *name, uint32_t *index)
{
	static const char *const lists[][3] = {
		[POOL_VOLUMES] = { "volumes" },
		[POOL_CONTAINERS] = { "containers", "initContainers", "ephemeralContainers" },
		[POOL_CLAIMS] = { "resourceClaims" },
	};
	struct mpijob__job_template_pool *of = &at->pools[pool];

	for (size_t i = 0; !of->filled && i < 3 && lists[pool][i]; i++)
		mpijob__job_template_names_collect(at, &of->names,
		    mpijob__job_template_list(mpijob__job_template_spec(at), lists[pool][i]),
		    "name");
	of->filled = 1;
	return mpijob__job_template_names_find(&of->names, name, index);
}

/* Visit metadata or spec of a Pod; if it is absent, as an empty object. */
static void visit_part(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *whole, const char *key, int type)
{
	struct mpijob__job_step part = mpijob__job_template_child(whole, key);

	if (mpijob_node_kind(part.node) <= MPIJOB_NODE_NULL ||
	    mpijob_node_kind(part.node) == MPIJOB_NODE_MAP)
		visit_object(at, &part, type);
	else
		complain(at, &part, NULL, MPIJOB_KIND_OBJECT);
}

/* Visit a template, a whole Pod, or the metadata of another object. */
static void visit_template(struct mpijob__job_pod_template *at, int metadata_only)
{
	struct mpijob__job_step step = { NULL, NULL, 0, at->node, SCHEMA_NONE };
	struct mpijob__job_template_pool pools[POOL_COUNT] = { 0 };

	at->pools = pools;
	if (at->pod)
		visit_part(at, &step, "metadata", SCHEMA_ObjectMeta);
	else
		visit_object(at, &step, SCHEMA_PodTemplateSpec);
	if (at->pod && !metadata_only)
		visit_part(at, &step, "spec", SCHEMA_PodSpec);
	for (size_t i = 0; i < POOL_COUNT; i++)
		mpijob__doc_names_release(&pools[i].names);
}

static void check_object(struct mpijob__job_report *report, const char *path,
    const mpijob_node *node, int metadata_only)
{
	struct mpijob__job_pod_template at = { .report = report,
		.path = path,
		.place = mpijob__job_report_place(report, node, NULL),
		.node = node,
		.pod = 1,
		.types = mpijob__job_template_types_new() };

	if (at.types)
		visit_template(&at, metadata_only);
	else
		report->code = MPIJOB_ERR_NOMEM;
	free(at.types);
}

void mpijob__job_template_check_pod(struct mpijob__job_report *report, const char *path,
    const mpijob_node *pod)
{
	check_object(report, path, pod, 0);
}

void mpijob__job_template_check_metadata(struct mpijob__job_report *report,
    const mpijob_node *object)
{
	check_object(report, "", object, 1);
}

/* Check the template of one role. */
static void check_role(struct mpijob__job_report *report, struct mpijob__job_template_types *types,
    const mpijob_node *root, const char *path, const mpijob_node *pod_template, int role)
{
	struct mpijob__job_pod_template at = { .report = report,
		.path = path,
		.place = mpijob__job_report_place(report, pod_template, NULL),
		.root = root,
		.node = pod_template,
		.worker = role == FIELD_WORKER,
		.unused = role == FIELD_ROOT,
		.types = types };

	if (mpijob_node_kind(pod_template) == MPIJOB_NODE_MAP)
		visit_template(&at, 0);
}

/* Check an unknown role: the operator ignores it, but the CRD has rules for it. */
static void check_other_role(struct mpijob__job_report *report,
    struct mpijob__job_template_types *types, const mpijob_node *root, const char *role,
    const mpijob_node *pod_template)
{
	struct mpijob_text path = { 0 };

	if (mpijob__base_text_puts(&path, mpijob__job_field_row(FIELD_REPLICA_SPECS)->field.path) ||
	    put_entry(&path, role) || mpijob__base_text_puts(&path, ".template"))
		report->code = MPIJOB_ERR_NOMEM;
	else
		check_role(report, types, root, mpijob_text_data(&path), pod_template, FIELD_ROOT);
	mpijob__base_text_release(&path);
}

void mpijob__job_template_check(struct mpijob__job_report *report, const mpijob_node *root)
{
	static const int known[][2] = { { FIELD_LAUNCHER, FIELD_LAUNCHER_TEMPLATE },
		{ FIELD_WORKER, FIELD_WORKER_TEMPLATE } };
	const mpijob_node *roles = mpijob__job_field_node(root, FIELD_REPLICA_SPECS);
	struct mpijob__job_template_types *types = mpijob__job_template_types_new();

	if (!types) {
		report->code = MPIJOB_ERR_NOMEM;
		return;
	}
	for (size_t i = 0; i < 2; i++)
		check_role(report, types, root, mpijob__job_field_row(known[i][1])->field.path,
		    mpijob__job_field_node(root, known[i][1]), known[i][0]);
	size_t count = mpijob_node_kind(roles) == MPIJOB_NODE_MAP ? mpijob_node_count(roles) : 0;
	for (size_t i = 0; i < count; i++) {
		const char *role = mpijob_node_key(roles, i);
		const mpijob_node *inside = mpijob_node_get(mpijob_node_at(roles, i), "template");

		if (mpijob_node_kind(inside) == MPIJOB_NODE_MAP &&
		    strcmp(role, mpijob__job_field_row(FIELD_LAUNCHER)->key) != 0 &&
		    strcmp(role, mpijob__job_field_row(FIELD_WORKER)->key) != 0)
			check_other_role(report, types, root, role, inside);
	}
	free(types);
}
