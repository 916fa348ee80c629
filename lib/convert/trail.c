/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trail: `{"from": VERSION, "restore": [{PATH: {"was": ..., "gave": ...}, ...}, ...]}`. "was"
 * is the original value, "gave" the value that the conversion back gives without the trail; a
 * missing member means an absent value. All paths of one entry are restored together, or none. An
 * entry is restored only if the conversion back still gives "gave"; so later changes are kept.
 */
#include "convert/trail.h"

#include <string.h>

#include "base/field_path.h"
#include "base/text.h"

/* marks a restored entry; not a path, because paths begin with a field */
#define DONE "done"
/* limit of the API server for all annotations, keys and values */
#define ANNOTATIONS_LIMIT 262144

/* Fields that are restored together. */
static const char *const together[][2] = {
	{ "spec.mpiReplicaSpecs[Launcher].restartPolicy", "spec.runPolicy.backoffLimit" },
	{ "spec.cleanPodPolicy", "spec.runPolicy.cleanPodPolicy" },
	{ "spec.mpiReplicaSpecs[Worker].template.spec.containers", "spec.mainContainer" },
};

struct trail {
	mpijob_doc *doc;
	mpijob_node *entries;
	const mpijob_node *original;
	const mpijob_node *back;
	struct mpijob_text path;
	int code;
};

static int is_at(const char *path, const char *start)
{
	size_t len = strlen(start);

	return strncmp(path, start, len) == 0 &&
	       (path[len] == '\0' || path[len] == '.' || path[len] == '[');
}

/* Any user may have written the trail, so it may restore only fields that a conversion changes. */
static int may_restore(const char *path)
{
	struct mpijob__base_field_step step;
	const char *rest = path;
	int more;

	while ((more = mpijob__base_field_path_next(&rest, &step)) > 0)
		;
	if (more < 0)
		return 0;
	return is_at(path, "spec") || is_at(path, "status") || strcmp(path, "metadata") == 0 ||
	       strcmp(path, "metadata.annotations") == 0;
}

/* ---- writing the trail ---- */

static void put_change(struct trail *trail, mpijob_node *entry, const char *path,
    const mpijob_node *was, const mpijob_node *gave)
{
	mpijob_node *change = mpijob_node_put_map(trail->doc, entry, path);

	mpijob_node_put_copy(trail->doc, change, "was", was);
	mpijob_node_put_copy(trail->doc, change, "gave", gave);
}

static void put_field(struct trail *trail, mpijob_node *entry, const char *path)
{
	put_change(trail, entry, path, mpijob_node_find(trail->original, path),
	    mpijob_node_find(trail->back, path));
}

static int is_recorded(const struct trail *trail, const char *path)
{
	for (size_t i = 0; i < mpijob_node_count(trail->entries); i++) {
		if (mpijob_node_get(mpijob_node_at(trail->entries, i), path))
			return 1;
	}
	return 0;
}

/* The command and args of a container are restored together. */
static void put_command_partner(struct trail *trail, mpijob_node *entry, const char *path)
{
	int is_command = mpijob__base_text_ends(path, "].command");
	struct mpijob_text partner = { 0 };

	if (!is_command && !mpijob__base_text_ends(path, "].args"))
		return;
	if (mpijob_text_write(&partner, path,
		strlen(path) - strlen(is_command ? "command" : "args")) ||
	    mpijob__base_text_puts(&partner, is_command ? "args" : "command"))
		trail->code = MPIJOB_ERR_NOMEM;
	else
		put_field(trail, entry, mpijob_text_data(&partner));
	mpijob__base_text_release(&partner);
}

static void record(struct trail *trail)
{
	const char *path = mpijob_text_data(&trail->path);
	mpijob_node *entry;

	if (is_recorded(trail, path))
		return;
	entry = mpijob_node_append_map(trail->doc, trail->entries);
	put_field(trail, entry, path);
	put_command_partner(trail, entry, path);
	for (size_t i = 0; i < sizeof(together) / sizeof(together[0]); i++) {
		for (int side = 0; side < 2; side++) {
			if (strcmp(together[i][side], path) == 0)
				put_field(trail, entry, together[i][!side]);
		}
	}
}

static int same_names(const mpijob_node *a, const mpijob_node *b)
{
	if (mpijob_node_count(a) != mpijob_node_count(b))
		return 0;
	for (size_t i = 0; i < mpijob_node_count(a); i++) {
		const char *name =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(a, i), "name"));
		const char *other =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(b, i), "name"));

		if (!name || !other || strcmp(name, other) != 0)
			return 0;
	}
	return 1;
}

static void compare(struct trail *trail, const mpijob_node *was, const mpijob_node *gave,
    int by_role);

static void compare_key(struct trail *trail, const mpijob_node *was, const mpijob_node *gave,
    const char *key, int by_role)
{
	size_t mark = trail->path.len;
	int roles = strcmp(key, "mpiReplicaSpecs") == 0 || strcmp(key, "replicaStatuses") == 0;

	if (by_role ? mpijob__base_field_path_entry(&trail->path, key)
		    : mpijob__base_field_path_key(&trail->path, key))
		trail->code = MPIJOB_ERR_NOMEM;
	else
		compare(trail, mpijob_node_get(was, key), mpijob_node_get(gave, key), roles);
	mpijob__base_field_path_cut(&trail->path, mark);
}

static void compare_maps(struct trail *trail, const mpijob_node *was, const mpijob_node *gave,
    int by_role)
{
	for (size_t i = 0; i < mpijob_node_count(was); i++)
		compare_key(trail, was, gave, mpijob_node_key(was, i), by_role);
	for (size_t i = 0; i < mpijob_node_count(gave); i++) {
		if (!mpijob_node_get(was, mpijob_node_key(gave, i)))
			compare_key(trail, was, gave, mpijob_node_key(gave, i), by_role);
	}
}

static void compare(struct trail *trail, const mpijob_node *was, const mpijob_node *gave,
    int by_role)
{
	size_t mark = trail->path.len;

	if (trail->code || mpijob_node_equal(was, gave))
		return;
	if (mpijob_node_kind(was) == MPIJOB_NODE_MAP && mpijob_node_kind(gave) == MPIJOB_NODE_MAP) {
		compare_maps(trail, was, gave, by_role);
		return;
	}
	if (mpijob_node_kind(was) != MPIJOB_NODE_LIST ||
	    mpijob_node_kind(gave) != MPIJOB_NODE_LIST || !same_names(was, gave)) {
		record(trail);
		return;
	}
	for (size_t i = 0; i < mpijob_node_count(was); i++) {
		if (mpijob__base_field_path_index(&trail->path, i))
			trail->code = MPIJOB_ERR_NOMEM;
		else
			compare(trail, mpijob_node_at(was, i), mpijob_node_at(gave, i), 0);
		mpijob__base_field_path_cut(&trail->path, mark);
	}
}

static void compare_field(struct trail *trail, const char *field)
{
	if (mpijob__base_text_puts(&trail->path, field))
		trail->code = MPIJOB_ERR_NOMEM;
	else
		compare(trail, mpijob_node_get(trail->original, field),
		    mpijob_node_get(trail->back, field), 0);
	mpijob__base_field_path_cut(&trail->path, 0);
}

/* Record if the map of annotations exists only because of the trail. */
static void record_annotations(struct trail *trail, const mpijob_node *original)
{
	const mpijob_node *metadata = mpijob_node_get(original, "metadata");
	const mpijob_node *annotations = mpijob_node_get(metadata, "annotations");
	mpijob_doc *left = mpijob_doc_new(); /* The metadata without the trail. */
	mpijob_node *entry,
	    *empty = mpijob_node_put_map(left, mpijob_doc_edit(left, ""), "annotations");

	if (!empty) {
		mpijob_doc_free(left);
		trail->code = MPIJOB_ERR_NOMEM;
		return;
	}
	if (mpijob_node_count(annotations) == 0) {
		entry = mpijob_node_append_map(trail->doc, trail->entries);
		put_change(trail, entry, "metadata.annotations", annotations, empty);
	}
	if (mpijob_node_kind(metadata) != MPIJOB_NODE_MAP) {
		entry = mpijob_node_append_map(trail->doc, trail->entries);
		put_change(trail, entry, "metadata", metadata, mpijob_doc_root(left));
	}
	mpijob_doc_free(left);
}

static size_t bytes_of(const mpijob_node *annotations)
{
	size_t sum = 0;

	for (size_t i = 0; i < mpijob_node_count(annotations); i++)
		sum += strlen(mpijob_node_key(annotations, i)) +
		       mpijob_node_length(mpijob_node_at(annotations, i));
	return sum;
}

static void write_annotation(struct trail *trail, struct mpijob__convert_conversion *result)
{
	struct mpijob_text text = { 0 };
	int code = mpijob_node_write(mpijob_doc_root(trail->doc), MPIJOB_FORMAT_JSON_COMPACT,
	    mpijob_text_write, &text);
	size_t before = bytes_of(mpijob_doc_edit(result->doc, "metadata.annotations"));

	if (code)
		result->code = code;
	else if (before + strlen(MPIJOB_CONVERT_ANNOTATION) + text.len > ANNOTATIONS_LIMIT)
		mpijob__convert_loss(result, "metadata.annotations", NULL,
		    "the lost values do not fit into an annotation: they need %zu bytes, and the "
		    "limit of all annotations is %d",
		    text.len, ANNOTATIONS_LIMIT);
	else
		mpijob_node_put_string(result->doc,
		    mpijob_doc_make(result->doc, "metadata.annotations"), MPIJOB_CONVERT_ANNOTATION,
		    mpijob_text_data(&text));
	mpijob__base_text_release(&text);
}

void mpijob__convert_trail_write(struct mpijob__convert_conversion *result, const char *version,
    const mpijob_node *original, const mpijob_node *back)
{
	struct trail trail = { .doc = mpijob_doc_new(), .original = original, .back = back };

	mpijob_node_put_string(trail.doc, mpijob_doc_edit(trail.doc, ""), "from", version);
	trail.entries = mpijob_node_put_list(trail.doc, mpijob_doc_edit(trail.doc, ""), "restore");
	compare_field(&trail, "spec");
	compare_field(&trail, "status");
	if (mpijob_node_count(trail.entries) > 0)
		record_annotations(&trail, original);
	if (!trail.code)
		trail.code = mpijob_doc_error(trail.doc);
	if (trail.code)
		result->code = trail.code;
	else if (mpijob_node_count(trail.entries) > 0)
		write_annotation(&trail, result);
	mpijob__base_text_release(&trail.path);
	mpijob_doc_free(trail.doc);
}

/* ---- restoring ---- */

static int is_trail(const mpijob_node *root)
{
	const mpijob_node *entries = mpijob_node_get(root, "restore");

	if (!mpijob_node_string(mpijob_node_get(root, "from")) ||
	    mpijob_node_kind(entries) != MPIJOB_NODE_LIST)
		return 0;
	for (size_t i = 0; i < mpijob_node_count(entries); i++) {
		const mpijob_node *entry = mpijob_node_at(entries, i);

		if (mpijob_node_count(entry) == 0)
			return 0;
		for (size_t k = 0; k < mpijob_node_count(entry); k++) {
			if (mpijob_node_kind(mpijob_node_at(entry, k)) != MPIJOB_NODE_MAP ||
			    !may_restore(mpijob_node_key(entry, k)))
				return 0;
		}
	}
	return 1;
}

int mpijob__convert_trail_remove(struct mpijob__convert_conversion *conversion, const char *version,
    mpijob_doc **out)
{
	mpijob_node *annotations = mpijob_doc_edit(conversion->doc, "metadata.annotations");
	const mpijob_node *value = mpijob_node_get(annotations, MPIJOB_CONVERT_ANNOTATION);
	const char *text = mpijob_node_string(value);
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *trail = NULL;
	int code;

	if (!value)
		return 0;
	options.format = MPIJOB_FORMAT_JSON;
	code = text ? mpijob_doc_parse(text, mpijob_node_length(value), &options, &trail, NULL)
		    : MPIJOB_ERR_SYNTAX;
	if (code == MPIJOB_ERR_NOMEM)
		return code;
	if (code || !is_trail(mpijob_doc_root(trail))) {
		mpijob__convert_loss(conversion,
		    "metadata.annotations[" MPIJOB_CONVERT_ANNOTATION "]", value,
		    "cannot be parsed, so its values are not restored");
	} else if (strcmp(mpijob_node_string(mpijob_node_get(mpijob_doc_root(trail), "from")),
		       version) == 0) {
		mpijob_node_remove(annotations, MPIJOB_CONVERT_ANNOTATION);
		*out = trail;
		return conversion->code;
	}
	mpijob_doc_free(trail);
	return conversion->code;
}

/* Set the value at a path, or remove it. */
static void restore_value(struct mpijob__convert_conversion *conversion, const char *path,
    const mpijob_node *value)
{
	const char *rest = path, *last = path;
	struct mpijob__base_field_step step = { 0 };
	struct mpijob_text parent = { 0 }, key = { 0 };
	mpijob_node *map;
	size_t len;

	while (mpijob__base_field_path_next(&rest, &step) > 0) {
		if (*rest)
			last = rest;
	}
	len = (size_t)(last - path);
	if (len && path[len - 1] == '.')
		len--;
	if (mpijob_text_write(&parent, path, len) || mpijob_text_write(&key, step.text, step.len)) {
		conversion->code = MPIJOB_ERR_NOMEM;
	} else if (value) {
		map = mpijob_doc_make(conversion->doc, mpijob_text_data(&parent));
		mpijob_node_put_copy(conversion->doc, map, mpijob_text_data(&key), value);
	} else {
		mpijob_node_remove(mpijob_doc_edit(conversion->doc, mpijob_text_data(&parent)),
		    mpijob_text_data(&key));
	}
	mpijob__base_text_release(&parent);
	mpijob__base_text_release(&key);
}

static int is_unchanged(const struct mpijob__convert_conversion *conversion,
    const mpijob_node *entry)
{
	for (size_t i = 0; i < mpijob_node_count(entry); i++) {
		const mpijob_node *gave = mpijob_node_get(mpijob_node_at(entry, i), "gave");

		if (!mpijob_node_equal(gave,
			mpijob_doc_edit(conversion->doc, mpijob_node_key(entry, i))))
			return 0;
	}
	return 1;
}

/* All entries are checked before the first is restored, because one may be inside another. */
void mpijob__convert_trail_restore(struct mpijob__convert_conversion *conversion, mpijob_doc *trail)
{
	mpijob_node *entries = mpijob_node_edit(mpijob_doc_edit(trail, ""), "restore");

	for (size_t i = 0; i < mpijob_node_count(entries); i++) {
		if (is_unchanged(conversion, mpijob_node_at(entries, i)))
			mpijob_node_put_bool(trail, mpijob_node_edit_at(entries, i), DONE, 1);
	}
	for (size_t i = 0; i < mpijob_node_count(entries); i++) {
		const mpijob_node *entry = mpijob_node_at(entries, i);

		for (size_t k = 0; mpijob_node_get(entry, DONE) && k < mpijob_node_count(entry);
		     k++) {
			if (may_restore(mpijob_node_key(entry, k)))
				restore_value(conversion, mpijob_node_key(entry, k),
				    mpijob_node_get(mpijob_node_at(entry, k), "was"));
		}
	}
	if (mpijob_doc_error(trail))
		conversion->code = mpijob_doc_error(trail);
}

int mpijob__convert_trail_restored(const mpijob_doc *trail, const char *field)
{
	const mpijob_node *entries = mpijob_node_get(mpijob_doc_root(trail), "restore");

	for (size_t i = 0; field && i < mpijob_node_count(entries); i++) {
		const mpijob_node *entry = mpijob_node_at(entries, i);

		for (size_t k = 0; mpijob_node_get(entry, DONE) && k < mpijob_node_count(entry);
		     k++) {
			if (is_at(field, mpijob_node_key(entry, k)) ||
			    is_at(mpijob_node_key(entry, k), field))
				return 1;
		}
	}
	return 0;
}
