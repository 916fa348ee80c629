/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the CustomResourceDefinition from the field table and the schema of pod templates. Knows
 * the OpenAPI type of each kind of value and the extensions of Kubernetes. The tables alone say
 * which fields exist, are required or defaulted, and how they are merged. Keys are in alphabetical
 * order, as controller-gen writes them.
 */
#include <string.h>

#include "base/api.h"
#include "base/struct.h"
#include "job/field.h"
#include "schema/schema.h"
#include "base/text.h"

#define QUANTITY                                      \
	"^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))" \
	"(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$"

struct maker {
	mpijob_doc *doc;
	int descriptions;
	int code; /* Failures other than those of the document. */
};

static const struct word {
	const char *type;
	const char *format;
} words[] = {
	[SCHEMA_STRING] = { "string", NULL },
	[SCHEMA_BOOL] = { "boolean", NULL },
	[SCHEMA_INT32] = { "integer", "int32" },
	[SCHEMA_INT64] = { "integer", "int64" },
	[SCHEMA_TIME] = { "string", "date-time" },
};

static void put_type(struct maker *m, mpijob_node *at, struct word word)
{
	if (word.format)
		mpijob_node_put_string(m->doc, at, "format", word.format);
	mpijob_node_put_string(m->doc, at, "type", word.type);
}

static void put_default(struct maker *m, mpijob_node *at, int is_text, int is_number,
    const char *text)
{
	if (is_text)
		mpijob_node_put_string(m->doc, at, "default", text);
	else if (is_number)
		mpijob_node_put(m->doc, at, "default",
		    mpijob_node_new_text(m->doc, MPIJOB_NODE_NUMBER, text, strlen(text)));
	else
		mpijob_node_put_bool(m->doc, at, "default", strcmp(text, "true") == 0);
}

static void put_int_or_string(struct maker *m, mpijob_node *at, const char *pattern)
{
	mpijob_node *any = mpijob_node_put_list(m->doc, at, "anyOf");

	mpijob_node_put_string(m->doc, mpijob_node_append_map(m->doc, any), "type", "integer");
	mpijob_node_put_string(m->doc, mpijob_node_append_map(m->doc, any), "type", "string");
	if (pattern)
		mpijob_node_put_string(m->doc, at, "pattern", pattern);
	mpijob_node_put_bool(m->doc, at, "x-kubernetes-int-or-string", 1);
}

/* ---- types of Kubernetes ---- */

static void put_field(struct maker *m, mpijob_node *at, const struct mpijob__schema_field *field);

static void put_object(struct maker *m, mpijob_node *at, int type)
{
	size_t count = 0;
	const struct mpijob__schema_field *fields = mpijob__schema_fields(type, &count);
	mpijob_node *properties = mpijob_node_put_map(m->doc, at, "properties"), *required = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *name = mpijob__schema_text(fields[i].name);

		if (!(fields[i].flags & SCHEMA_IN_CRD))
			continue;
		put_field(m, mpijob_node_put_map(m->doc, properties, name), &fields[i]);
		if (!(fields[i].flags & SCHEMA_CRD_REQUIRED))
			continue;
		if (!required)
			required = mpijob_node_put_list(m->doc, at, "required");
		mpijob_node_append_string(m->doc, required, name);
	}
	mpijob_node_put_string(m->doc, at, "type", "object");
}

static void put_value(struct maker *m, mpijob_node *at, const struct mpijob__schema_field *field)
{
	switch (field->kind) {
	case SCHEMA_QUANTITY: put_int_or_string(m, at, QUANTITY); return;
	case SCHEMA_INT_OR_STRING: put_int_or_string(m, at, NULL); return;
	case SCHEMA_OBJECT:
		put_object(m, at, field->of);
		if (field->flags & SCHEMA_ATOMIC)
			mpijob_node_put_string(m->doc, at, "x-kubernetes-map-type", "atomic");
		return;
	case SCHEMA_ANY:
		mpijob_node_put_string(m->doc, at, "type", "object");
		mpijob_node_put_bool(m->doc, at, "x-kubernetes-preserve-unknown-fields", 1);
		return;
	default: put_type(m, at, words[field->kind]);
	}
}

static void put_list(struct maker *m, mpijob_node *at, const struct mpijob__schema_field *field)
{
	const char *key = mpijob__schema_text(field->keys);

	put_value(m, mpijob_node_put_map(m->doc, at, "items"), field);
	mpijob_node_put_string(m->doc, at, "type", "array");
	if (field->flags & SCHEMA_KEYED) {
		mpijob_node *keys = mpijob_node_put_list(m->doc, at, "x-kubernetes-list-map-keys");

		while (*key) {
			size_t len = strcspn(key, " ");

			mpijob_node_append(m->doc, keys,
			    mpijob_node_new_text(m->doc, MPIJOB_NODE_STRING, key, len));
			key += len + (key[len] == ' ');
		}
		mpijob_node_put_string(m->doc, at, "x-kubernetes-list-type", "map");
	} else if (field->flags & (SCHEMA_SET | SCHEMA_ATOMIC_LIST)) {
		mpijob_node_put_string(m->doc, at, "x-kubernetes-list-type",
		    field->flags & SCHEMA_SET ? "set" : "atomic");
	}
}

static void put_field(struct maker *m, mpijob_node *at, const struct mpijob__schema_field *field)
{
	int is_number = field->kind == SCHEMA_INT32 || field->kind == SCHEMA_INT64;

	if (field->fill || (field->flags & SCHEMA_EMPTY_FILL))
		put_default(m, at, !is_number && field->kind != SCHEMA_BOOL, is_number,
		    mpijob__schema_text(field->fill));
	if (field->shape == SCHEMA_ONE) {
		put_value(m, at, field);
	} else if (field->shape == SCHEMA_LIST) {
		put_list(m, at, field);
	} else {
		put_value(m, mpijob_node_put_map(m->doc, at, "additionalProperties"), field);
		mpijob_node_put_string(m->doc, at, "type", "object");
		if (field->kind != SCHEMA_OBJECT && (field->flags & SCHEMA_ATOMIC))
			mpijob_node_put_string(m->doc, at, "x-kubernetes-map-type", "atomic");
	}
}

/* ---- rows of the table ---- */

static void put_row(struct maker *m, mpijob_node *at, int id);

/* The same field of the other role; 0 if the row is not a field of a role. */
static int twin(int id)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);
	int role = row->parent,
	    around = role == FIELD_ROOT ? FIELD_ROOT : mpijob__job_field_row(role)->parent;

	if (around == FIELD_ROOT || !(mpijob__job_field_row(around)->flags & FIELD_BY_ROLE))
		return 0;
	for (int other = role + 1; other < FIELD_END; other++) {
		if (mpijob__job_field_row(other)->parent != around)
			continue;
		for (int same = other + 1; same < FIELD_END; same++) {
			const struct mpijob__job_row *found = mpijob__job_field_row(same);

			if (found->parent == other && strcmp(found->key, row->key) == 0)
				return same;
		}
	}
	return 0;
}

/* Roles share one schema: if their descriptions differ, both are written. */
static void put_description(struct maker *m, mpijob_node *at, int id)
{
	const char *own = mpijob__job_field_row(id)->field.summary;
	int other = twin(id);
	const struct mpijob__job_row *second = other ? mpijob__job_field_row(other) : NULL;
	mpijob_text *text;

	if (!second || strcmp(own, second->field.summary) == 0) {
		mpijob_node_put_string(m->doc, at, "description", own);
		return;
	}
	text = mpijob_text_new();
	if (text &&
	    !mpijob__base_text_puts(text,
		mpijob__job_field_row(mpijob__job_field_row(id)->parent)->key) &&
	    !mpijob__base_text_puts(text, ": ") && !mpijob__base_text_puts(text, own) &&
	    !mpijob__base_text_puts(text, " ") &&
	    !mpijob__base_text_puts(text, mpijob__job_field_row(second->parent)->key) &&
	    !mpijob__base_text_puts(text, ": ") &&
	    !mpijob__base_text_puts(text, second->field.summary))
		mpijob_node_put_string(m->doc, at, "description", mpijob_text_data(text));
	else
		m->code = MPIJOB_ERR_NOMEM;
	mpijob_text_free(text);
}

static void put_children(struct maker *m, mpijob_node *at, int parent)
{
	mpijob_node *properties = mpijob_node_put_map(m->doc, at, "properties"), *required = NULL;

	for (int id = parent + 1; id < FIELD_END; id++) {
		const struct mpijob__job_row *row = mpijob__job_field_row(id);

		if (row->parent != parent)
			continue;
		put_row(m, mpijob_node_put_map(m->doc, properties, row->key), id);
		if (!(row->crd & CRD_REQUIRES))
			continue;
		if (!required)
			required = mpijob_node_put_list(m->doc, at, "required");
		mpijob_node_append_string(m->doc, required, row->key);
	}
	mpijob_node_put_string(m->doc, at, "type", "object");
}

/* The object with a key for each role: it accepts any key, and all have the schema of the first
 * role. */
static void put_roles(struct maker *m, mpijob_node *at, int id)
{
	mpijob_node *role = mpijob_node_put_map(m->doc, at, "additionalProperties");

	for (int first = id + 1; first < FIELD_END; first++) {
		if (mpijob__job_field_row(first)->parent != id)
			continue;
		put_children(m, role, first);
		break;
	}
	mpijob_node_put_string(m->doc, at, "type", "object");
}

static void put_document(struct maker *m, mpijob_node *at, const struct mpijob__job_row *row)
{
	struct mpijob__schema_field field = { .shape = SCHEMA_MAP, .kind = SCHEMA_STRING };

	if (row->shape == SHAPE_QUANTITIES)
		field.kind = SCHEMA_QUANTITY;
	if (row->shape == SHAPE_MAP) {
		field.shape = SCHEMA_ONE;
		field.kind = SCHEMA_OBJECT;
		field.of = row->schema;
		field.flags = row->schema == SCHEMA_LabelSelector ? SCHEMA_ATOMIC : 0;
	}
	put_field(m, at, &field);
}

static void put_conditions(struct maker *m, mpijob_node *at, const struct mpijob__job_row *row,
    int id)
{
	put_children(m, mpijob_node_put_map(m->doc, at, "items"), id);
	mpijob_node_put_string(m->doc, at, "type", "array");
	mpijob_node_append_string(m->doc,
	    mpijob_node_put_list(m->doc, at, "x-kubernetes-list-map-keys"),
	    mpijob__job_field_row(row->list_key)->key);
	mpijob_node_put_string(m->doc, at, "x-kubernetes-list-type", "map");
}

static void put_scalar(struct maker *m, mpijob_node *at, const struct mpijob__job_row *row)
{
	static const uint8_t kinds[] = {
		[MPIJOB_KIND_STRING] = SCHEMA_STRING,
		[MPIJOB_KIND_INT32] = SCHEMA_INT32,
		[MPIJOB_KIND_INT64] = SCHEMA_INT64,
		[MPIJOB_KIND_BOOL] = SCHEMA_BOOL,
		[MPIJOB_KIND_CHOICE] = SCHEMA_STRING,
		[MPIJOB_KIND_TIME] = SCHEMA_TIME,
	};

	if (row->crd & CRD_CHECKS) {
		mpijob_node *list = mpijob_node_put_list(m->doc, at, "enum");

		for (const char *const *choice = row->field.choices; *choice; choice++)
			mpijob_node_append_string(m->doc, list, *choice);
	}
	put_type(m, at, words[kinds[row->field.kind]]);
}

static void put_row(struct maker *m, mpijob_node *at, int id)
{
	const struct mpijob__job_row *row = mpijob__job_field_row(id);
	int32_t kind = row->field.kind;

	if (row->crd & CRD_DEFAULTS)
		put_default(m, at, kind == MPIJOB_KIND_STRING || kind == MPIJOB_KIND_CHOICE,
		    kind != MPIJOB_KIND_BOOL, row->field.default_text);
	/* an API server accepts only a type for metadata */
	if (m->descriptions && !(row->flags & FIELD_META))
		put_description(m, at, id);
	if (row->flags & FIELD_META)
		mpijob_node_put_string(m->doc, at, "type", "object");
	else if (row->flags & FIELD_BY_ROLE)
		put_roles(m, at, id);
	else if (kind == MPIJOB_KIND_OBJECT)
		put_children(m, at, id);
	else if (kind == MPIJOB_KIND_LIST)
		put_conditions(m, at, row, id);
	else if (kind == MPIJOB_KIND_DOCUMENT)
		put_document(m, at, row);
	else
		put_scalar(m, at, row);
}

/* ---- the CustomResourceDefinition ---- */

static void put_names(struct maker *m, mpijob_node *spec)
{
	mpijob_node *names = mpijob_node_put_map(m->doc, spec, "names");

	mpijob_node_put_string(m->doc, names, "kind", MPIJOB__BASE_API_KIND);
	mpijob_node_put_string(m->doc, names, "listKind", "MPIJobList");
	mpijob_node_put_string(m->doc, names, "plural", MPIJOB__BASE_API_PLURAL);
	mpijob_node_put_string(m->doc, names, "singular", "mpijob");
}

static void put_version(struct maker *m, mpijob_node *version)
{
	mpijob_node *schema;

	mpijob_node_put_string(m->doc, version, "name", "v2beta1");
	schema = mpijob_node_put_map(m->doc, mpijob_node_put_map(m->doc, version, "schema"),
	    "openAPIV3Schema");
	put_children(m, schema, FIELD_ROOT);
	mpijob_node_put_bool(m->doc, version, "served", 1);
	mpijob_node_put_bool(m->doc, version, "storage", 1);
	mpijob_node_put_map(m->doc, mpijob_node_put_map(m->doc, version, "subresources"), "status");
}

static void put_crd(struct maker *m)
{
	mpijob_node *root = mpijob_doc_edit(m->doc, ""), *spec;

	mpijob_node_put_string(m->doc, root, "apiVersion", MPIJOB__BASE_API_CRD);
	mpijob_node_put_string(m->doc, root, "kind", "CustomResourceDefinition");
	mpijob_node_put_string(m->doc, mpijob_node_put_map(m->doc, root, "metadata"), "name",
	    MPIJOB__BASE_API_RESOURCE);
	spec = mpijob_node_put_map(m->doc, root, "spec");
	mpijob_node_put_string(m->doc, spec, "group", MPIJOB__BASE_API_GROUP);
	put_names(m, spec);
	mpijob_node_put_string(m->doc, spec, "scope", "Namespaced");
	put_version(m,
	    mpijob_node_append_map(m->doc, mpijob_node_put_list(m->doc, spec, "versions")));
}

int mpijob_crd_new(const struct mpijob_crd_options *options, mpijob_doc **out)
{
	struct mpijob_crd_options known;
	struct maker m = { 0 };
	int code;

	if (!out)
		return MPIJOB_ERR_USAGE;
	code = mpijob__base_struct_check(&known, sizeof(known), options);
	if (code == 0 && !mpijob__base_struct_is_flag(known.descriptions))
		code = MPIJOB_ERR_USAGE;
	if (code)
		return code;
	m.descriptions = known.descriptions;
	m.doc = mpijob_doc_new();
	if (!m.doc)
		return MPIJOB_ERR_NOMEM;
	put_crd(&m);
	code = m.code ? m.code : mpijob_doc_error(m.doc);
	if (code)
		mpijob_doc_free(m.doc);
	else
		*out = m.doc;
	return code;
}
