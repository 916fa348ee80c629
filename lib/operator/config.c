/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the operator's configuration. All errors of a file are reported at once, each with its
 * place. An unknown key is an error: a limit with a misspelt name would not limit anything.
 *
 * The values are borrowed from the document, which the configuration owns.
 */
#include "operator/config.h"

#include "base/field_path.h"
#include "base/near.h"
#include "operator/report.h"

#include <stdlib.h>
#include <string.h>

struct place {
	int32_t line, column;
};

struct reader {
	mpijob_diag *diag;
	const char *source;
	struct mpijob_operator_config *config;
	struct mpijob__operator_config_section *section; /* the current one */
	unsigned where;                                  /* CONFIG_TOP or CONFIG_ENTRY */
	struct mpijob_text path;
	struct place around; /* of the map or list around a value */
	int is_wrong;        /* there is an error */
	int rc;              /* 0 or MPIJOB_ERR_NOMEM */
};

static struct place place_of(const struct reader *reader, const mpijob_node *node)
{
	struct place place;

	mpijob_node_place(node, &place.line, &place.column);
	return place.line ? place : reader->around;
}

static void note_path(struct reader *reader, int failed)
{
	if (failed)
		reader->rc = MPIJOB_ERR_NOMEM;
}

static void refuse_args(struct reader *reader, const mpijob_node *node, const char *id,
    const char *reason, const char *format, va_list args) MPIJOB__BASE_PRINTF(5, 0);
static void refuse(struct reader *reader, const mpijob_node *node, const char *id,
    const char *reason, const char *format, ...) MPIJOB__BASE_PRINTF(5, 6);

static void refuse_args(struct reader *reader, const mpijob_node *node, const char *id,
    const char *reason, const char *format, va_list args)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	struct place place = place_of(reader, node);

	finding.severity = MPIJOB_SEVERITY_ERROR;
	finding.line = place.line;
	finding.column = place.column;
	finding.id = id;
	finding.reason = reason;
	finding.field = mpijob_text_data(&reader->path);
	finding.source = reader->source;
	reader->is_wrong = 1;
	if (mpijob__operator_report_args(reader->diag, &finding, format, args))
		reader->rc = MPIJOB_ERR_NOMEM;
}

static void refuse(struct reader *reader, const mpijob_node *node, const char *id,
    const char *reason, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	refuse_args(reader, node, id, reason, format, args);
	va_end(args);
}

/* A value has the wrong type. */
static void report_type(struct reader *reader, const mpijob_node *node, const char *wanted)
{
	int is_yes = mpijob_node_kind(node) == MPIJOB_NODE_BOOL && strcmp(wanted, "a string") == 0;
	mpijob_text is = { 0 };

	note_path(reader, mpijob_node_describe(node, mpijob_text_write, &is));
	refuse(reader, node, "wrong-type", "TypeInvalid", "must be %s, not %s%s", wanted,
	    mpijob_text_data(&is), is_yes ? MPIJOB__BASE_TEXT_YAML_BOOL : "");
	mpijob__base_text_release(&is);
}

/* ---- values ---- */

static void read_identity(struct reader *reader, const struct mpijob__operator_config_key *key,
    const mpijob_node *node)
{
	const char *text = mpijob_node_string(node);

	if (!text)
		report_type(reader, node, "a string");
	else if (strcmp(text, key->word) != 0)
		refuse(reader, node, "unsupported-value", "NotSupported",
		    "'%s' is not known here; use %s", text, key->word);
}

static void refuse_choice(struct reader *reader, const struct mpijob_field *field,
    const mpijob_node *node)
{
	size_t count = 0;
	const char *near;

	while (field->choices[count])
		count++;
	near = mpijob__base_near_word(mpijob_node_string(node), field->choices, count);
	refuse(reader, node, "unsupported-value", "NotSupported", "unsupported value '%s'%s%s%s",
	    mpijob_node_string(node), near ? "; did you mean " : "", near ? near : "",
	    near ? "?" : "");
}

static const char *expected(int32_t kind)
{
	switch (kind) {
	case MPIJOB_KIND_INT32: return "a whole number of 32 bits";
	case MPIJOB_KIND_INT64: return "a whole number of 64 bits";
	default: return "a string";
	}
}

/* 1 when the job's field accepts the value. */
static int read_field(struct reader *reader, const char *path, const mpijob_node *node,
    int64_t *number)
{
	const struct mpijob_field *field = mpijob_field_find(path);
	int state = mpijob__operator_config_read(field, node, number);

	if (state == CONFIG_GIVEN)
		return 1;
	if (state != CONFIG_WRONG_VALUE)
		report_type(reader, node, expected(field->kind));
	else if (field->choices)
		refuse_choice(reader, field, node);
	else
		refuse(reader, node, "out-of-range", "Invalid", "must be at least %lld, not %lld",
		    (long long)*field->minimum, (long long)*number);
	return 0;
}

static void read_value(struct reader *reader, const struct mpijob__operator_config_key *key,
    const mpijob_node *node)
{
	struct mpijob__operator_config_value *value = &reader->section->values[key->slot];
	int64_t number;

	if (mpijob_node_kind(node) == MPIJOB_NODE_NULL) {
		value->state = CONFIG_NONE;
	} else if (read_field(reader, key->field, node, &number)) {
		value->state = CONFIG_GIVEN;
		value->number = number;
	}
}

static void read_values(struct reader *reader, const struct mpijob__operator_config_key *key,
    const mpijob_node *node)
{
	struct mpijob__operator_config_value *value = &reader->section->values[key->slot];

	value->state = CONFIG_NONE;
	if (mpijob_node_kind(node) == MPIJOB_NODE_NULL)
		return;
	if (mpijob_node_kind(node) != MPIJOB_NODE_LIST || mpijob_node_count(node) == 0) {
		report_type(reader, node, "a list with at least one entry");
		return;
	}
	value->state = CONFIG_GIVEN;
	value->list = node;
	for (size_t i = 0; i < mpijob_node_count(node); i++) {
		size_t mark = reader->path.len;
		int64_t number;

		note_path(reader, mpijob__base_field_path_index(&reader->path, i));
		read_field(reader, key->field, mpijob_node_at(node, i), &number);
		mpijob__base_field_path_cut(&reader->path, mark);
	}
}

/* ---- features ---- */

static size_t feature_index(const char *name)
{
	const struct mpijob_feature *feature;
	size_t i = 0;

	while ((feature = mpijob_feature_at(i)) != NULL && strcmp(feature->name, name) != 0)
		i++;
	return i;
}

/* Report a finding of the table of features at this place. */
static void refuse_feature(struct reader *reader, const mpijob_node *node, const char *name,
    const char *value)
{
	struct mpijob_features scratch = MPIJOB_FEATURES_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	const struct mpijob_finding *finding;

	if (diag)
		mpijob_features_set(&scratch, name, value, diag);
	finding = diag ? mpijob_diag_at(diag, 0) : NULL;
	if (!finding)
		reader->rc = MPIJOB_ERR_NOMEM;
	else if (!mpijob_feature_find(name))
		refuse(reader, node, "unknown-feature", finding->reason, "%s", finding->message);
	else
		refuse(reader, node, "invalid-feature", finding->reason, "%s", finding->message);
	mpijob_diag_free(diag);
}

static void read_feature(struct reader *reader, const char *name, const mpijob_node *node)
{
	struct mpijob_features scratch = MPIJOB_FEATURES_INIT;
	const char *text = mpijob_node_text(node);
	int on;

	if (mpijob_node_bool(node, &on))
		text = on ? "true" : "false";
	if (!mpijob_feature_find(name)) {
		refuse_feature(reader, NULL, name, "");
	} else if (!text || strlen(text) < mpijob_node_length(node)) {
		report_type(reader, node, "true, false, a number or a duration");
	} else if (mpijob_features_set(&scratch, name, text, NULL)) {
		refuse_feature(reader, node, name, text);
	} else {
		struct mpijob__operator_config_feature *feature =
		    &reader->section->features[feature_index(name)];

		feature->given = 1;
		feature->value = mpijob_features_get(&scratch, name);
	}
}

static void read_features(struct reader *reader, const mpijob_node *node)
{
	struct place around = reader->around;

	if (mpijob_node_kind(node) != MPIJOB_NODE_MAP &&
	    mpijob_node_kind(node) != MPIJOB_NODE_NULL) {
		report_type(reader, node, "a map");
		return;
	}
	for (size_t i = 0; i < mpijob_node_count(node); i++) {
		size_t mark = reader->path.len;

		note_path(reader,
		    mpijob__base_field_path_key(&reader->path, mpijob_node_key(node, i)));
		mpijob_node_key_place(node, i, &reader->around.line, &reader->around.column);
		read_feature(reader, mpijob_node_key(node, i), mpijob_node_at(node, i));
		mpijob__base_field_path_cut(&reader->path, mark);
	}
	reader->around = around;
}

/* ---- lists of names ---- */

static void read_name(struct reader *reader, const struct mpijob__operator_config_key *key,
    const mpijob_node *node)
{
	const char *text = mpijob_node_string(node);

	if (!text || !*text)
		report_type(reader, node, "a name");
	else if (key->kind == CONFIG_NAMES && !mpijob_feature_find(text))
		refuse_feature(reader, node, text, "");
	else if (key->kind == CONFIG_PATTERNS &&
		 strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-*") != strlen(text))
		refuse(reader, node, "invalid-value", "Invalid",
		    "'%s' matches no namespace: their names have lower case letters, digits and "
		    "'-'; '*' stands for any",
		    text);
}

static void read_names(struct reader *reader, const struct mpijob__operator_config_key *key,
    const mpijob_node *node)
{
	int is_patterns = key->kind == CONFIG_PATTERNS;

	if (!is_patterns)
		reader->section->values[key->slot].state = CONFIG_NONE;
	if (mpijob_node_kind(node) == MPIJOB_NODE_NULL && !is_patterns)
		return;
	if (mpijob_node_kind(node) != MPIJOB_NODE_LIST ||
	    (is_patterns && mpijob_node_count(node) == 0)) {
		report_type(reader, node,
		    is_patterns ? "a list with at least one name" : "a list of names");
		return;
	}
	for (size_t i = 0; i < mpijob_node_count(node); i++) {
		size_t mark = reader->path.len;

		note_path(reader, mpijob__base_field_path_index(&reader->path, i));
		read_name(reader, key, mpijob_node_at(node, i));
		mpijob__base_field_path_cut(&reader->path, mark);
	}
	if (is_patterns) {
		reader->section->patterns = node;
	} else {
		reader->section->values[key->slot].state = CONFIG_GIVEN;
		reader->section->values[key->slot].list = node;
	}
}

/* ---- maps ---- */

static void read_map(struct reader *reader, const char *parent, const mpijob_node *map);
static void check_section(struct reader *reader, const mpijob_node *node);

static void read_sections(struct reader *reader, const mpijob_node *node)
{
	struct mpijob__operator_config_section *top = reader->section;
	struct place around = reader->around;

	if (mpijob_node_kind(node) != MPIJOB_NODE_LIST &&
	    mpijob_node_kind(node) != MPIJOB_NODE_NULL)
		report_type(reader, node, "a list");
	reader->where = CONFIG_ENTRY;
	for (size_t i = 0;
	     mpijob_node_kind(node) == MPIJOB_NODE_LIST && i < mpijob_node_count(node); i++) {
		size_t mark = reader->path.len;

		note_path(reader, mpijob__base_field_path_index(&reader->path, i));
		reader->around = place_of(reader, mpijob_node_at(node, i));
		reader->section = &reader->config->sections[i];
		read_map(reader, "", mpijob_node_at(node, i));
		check_section(reader, mpijob_node_at(node, i));
		mpijob__base_field_path_cut(&reader->path, mark);
	}
	reader->where = CONFIG_TOP;
	reader->around = around;
	reader->section = top;
}

static void read_key(struct reader *reader, const struct mpijob__operator_config_key *key,
    const mpijob_node *node)
{
	switch (key->kind) {
	case CONFIG_IDENTITY: read_identity(reader, key, node); break;
	case CONFIG_VALUE: read_value(reader, key, node); break;
	case CONFIG_VALUES: read_values(reader, key, node); break;
	case CONFIG_FEATURES: read_features(reader, node); break;
	case CONFIG_NAMES:
	case CONFIG_PATTERNS: read_names(reader, key, node); break;
	case CONFIG_SECTIONS: read_sections(reader, node); break;
	default:
		if (mpijob_node_kind(node) != MPIJOB_NODE_NULL)
			read_map(reader, key->path, node);
		break;
	}
}

#define MOST_KEYS 32 /* of one map */

static void refuse_key(struct reader *reader, const char *parent, const char *name)
{
	const char *known[MOST_KEYS], *near;
	size_t count = 0;

	for (size_t i = 0; i < mpijob__operator_config_key_count() && count < MOST_KEYS; i++) {
		const struct mpijob__operator_config_key *key = mpijob__operator_config_key_at(i);

		if ((key->where & reader->where) && strcmp(key->parent, parent) == 0)
			known[count++] = key->key;
	}
	near = mpijob__base_near_word(name, known, count);
	refuse(reader, NULL, "unknown-setting", "NotSupported", "there is no such key%s%s%s",
	    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static void check_required(struct reader *reader, const char *parent, const mpijob_node *map)
{
	for (size_t i = 0; i < mpijob__operator_config_key_count(); i++) {
		const struct mpijob__operator_config_key *key = mpijob__operator_config_key_at(i);
		size_t mark = reader->path.len;

		if (!(key->where & CONFIG_MUST) || !(key->where & reader->where) ||
		    strcmp(key->parent, parent) != 0 || mpijob_node_get(map, key->key))
			continue;
		note_path(reader, mpijob__base_field_path_key(&reader->path, key->key));
		refuse(reader, map, "missing", "Required", "a value is required");
		mpijob__base_field_path_cut(&reader->path, mark);
	}
}

static void read_map(struct reader *reader, const char *parent, const mpijob_node *map)
{
	struct place around = reader->around;

	if (mpijob_node_kind(map) != MPIJOB_NODE_MAP) {
		report_type(reader, map, "a map");
		return;
	}
	check_required(reader, parent, map);
	for (size_t i = 0; i < mpijob_node_count(map); i++) {
		const char *name = mpijob_node_key(map, i);
		const struct mpijob__operator_config_key *key =
		    mpijob__operator_config_key_find(parent, name, reader->where);
		size_t mark = reader->path.len;

		note_path(reader, mpijob__base_field_path_key(&reader->path, name));
		mpijob_node_key_place(map, i, &reader->around.line, &reader->around.column);
		if (key)
			read_key(reader, key, mpijob_node_at(map, i));
		else
			refuse_key(reader, parent, name);
		mpijob__base_field_path_cut(&reader->path, mark);
		reader->around = around;
	}
}

/* ---- values of one section ---- */

static int64_t given(const struct reader *reader, int slot, int64_t otherwise)
{
	const struct mpijob__operator_config_value *value = &reader->section->values[slot];

	return value->state == CONFIG_GIVEN ? value->number : otherwise;
}

/* A value of the section contradicts another one. */
static void contradict(struct reader *reader, const mpijob_node *section, const char *path,
    const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);

static void contradict(struct reader *reader, const mpijob_node *section, const char *path,
    const char *format, ...)
{
	size_t mark = reader->path.len;
	va_list args;

	note_path(reader, mpijob__base_text_printf(&reader->path, "%s%s", mark ? "." : "", path));
	va_start(args, format);
	refuse_args(reader, mpijob_node_find(section, path), "out-of-range", "Invalid", format,
	    args);
	va_end(args);
	mpijob__base_field_path_cut(&reader->path, mark);
}

static void check_bounds(struct reader *reader, const mpijob_node *section, const char *path,
    int64_t value, int64_t least, int64_t most)
{
	if (value < least)
		contradict(reader, section, path,
		    "%lld is less than the limit of this section, %lld", (long long)value,
		    (long long)least);
	else if (value > most)
		contradict(reader, section, path,
		    "%lld is more than the limit of this section, %lld", (long long)value,
		    (long long)most);
}

static int holds_choice(const mpijob_node *list, int64_t number)
{
	const char *word = mpijob_field_find(CONFIG_FIELD_CLEAN_POD)->choices[number - 1];

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const char *text = mpijob_node_string(mpijob_node_at(list, i));

		if (text && strcmp(text, word) == 0)
			return 1;
	}
	return 0;
}

/* A section must not contradict itself. Sections may contradict each other: one lifts the limit of
 * another. */
static void check_section(struct reader *reader, const mpijob_node *node)
{
	const struct mpijob__operator_config_value *values = reader->section->values;
	int64_t least = given(reader, CONFIG_TTL_MIN, 0),
		most = given(reader, CONFIG_TTL_MAX, INT64_MAX);

	if (least > most)
		contradict(reader, node, "limits.ttlSecondsAfterFinished.min",
		    "%lld is more than max, %lld", (long long)least, (long long)most);
	else
		check_bounds(reader, node, "defaults.ttlSecondsAfterFinished",
		    given(reader, CONFIG_TTL, least), least, most);
	check_bounds(reader, node, "defaults.activeDeadlineSeconds",
	    given(reader, CONFIG_DEADLINE, 0), 0, given(reader, CONFIG_DEADLINE_MAX, INT64_MAX));
	check_bounds(reader, node, "defaults.workers", given(reader, CONFIG_WORKERS, 0), 0,
	    given(reader, CONFIG_WORKERS_MAX, INT64_MAX));
	if (values[CONFIG_CLEAN_POD].state == CONFIG_GIVEN &&
	    values[CONFIG_CLEAN_POD_ALLOWED].state == CONFIG_GIVEN &&
	    !holds_choice(values[CONFIG_CLEAN_POD_ALLOWED].list, values[CONFIG_CLEAN_POD].number))
		contradict(reader, node, "defaults.cleanPodPolicy",
		    "is not one of those that limits.cleanPodPolicy.allowed lists");
}

/* ---- the file ---- */

static int make_sections(struct mpijob_operator_config *config)
{
	const mpijob_node *list = mpijob_node_get(mpijob_doc_root(config->doc), "namespaces");
	size_t features = mpijob__operator_config_feature_count();

	config->count =
	    (mpijob_node_kind(list) == MPIJOB_NODE_LIST ? mpijob_node_count(list) : 0) + 1;
	config->sections = calloc(config->count, sizeof(*config->sections));
	config->features = calloc(config->count * features, sizeof(*config->features));
	if (!config->sections || !config->features)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < config->count; i++)
		config->sections[i].features = config->features + i * features;
	return 0;
}

/* Takes ownership of the document, also on failure. */
static int make_config(mpijob_doc *doc, struct mpijob_operator_config **out, mpijob_diag *diag)
{
	struct mpijob_operator_config *config = calloc(1, sizeof(*config));
	struct reader reader = { 0 };
	int rc;

	if (!config) {
		mpijob_doc_free(doc);
		return MPIJOB_ERR_NOMEM;
	}
	config->doc = doc;
	rc = make_sections(config);
	if (rc == 0) {
		reader.diag = diag;
		reader.source = mpijob_doc_source(doc);
		reader.config = config;
		reader.section = &config->sections[config->count - 1];
		reader.where = CONFIG_TOP;
		reader.around = place_of(&reader, mpijob_doc_root(doc));
		read_map(&reader, "", mpijob_doc_root(doc));
		check_section(&reader, mpijob_doc_root(doc));
		rc = reader.rc ? reader.rc : reader.is_wrong ? MPIJOB_ERR_SPEC : 0;
		mpijob__base_text_release(&reader.path);
	}
	if (rc) {
		mpijob_operator_config_free(config);
		return rc;
	}
	*out = config;
	return 0;
}

int mpijob_operator_config_parse(const char *text, size_t len,
    const struct mpijob_parse_options *options, mpijob_operator_config **out, mpijob_diag *diag)
{
	mpijob_doc *doc = NULL;
	int rc;

	if (!out || (!text && len))
		return MPIJOB_ERR_USAGE;
	rc = mpijob_doc_parse(text, len, options, &doc, diag);
	return rc ? rc : make_config(doc, out, diag);
}

mpijob_operator_config *mpijob_operator_config_clone(const mpijob_operator_config *config)
{
	mpijob_operator_config *copy = NULL;
	mpijob_doc *doc = config ? mpijob_doc_from_node(mpijob_doc_root(config->doc),
				       mpijob_doc_source(config->doc))
				 : NULL;

	return doc && make_config(doc, &copy, NULL) == 0 ? copy : NULL;
}

void mpijob_operator_config_free(mpijob_operator_config *config)
{
	if (!config)
		return;
	mpijob_doc_free(config->doc);
	free(config->sections);
	free(config->features);
	free(config);
}

/* ---- namespaces ---- */

static int fits(const char *pattern, const char *name)
{
	const char *star = NULL, *behind = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			behind = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			/* The last star matches one more character. */
			pattern = star + 1;
			name = ++behind;
		} else {
			return 0;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

int mpijob__operator_config_matches(const struct mpijob__operator_config_section *section,
    const char *namespace_)
{
	if (!section->patterns)
		return 1;
	for (size_t i = 0; i < mpijob_node_count(section->patterns); i++)
		if (fits(mpijob_node_string(mpijob_node_at(section->patterns, i)), namespace_))
			return 1;
	return 0;
}
