/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effective values of one job: for each field, which one applies: the job, its annotations, a
 * section of the configuration or the operator's flags, and where the value comes from. The result
 * is a copy of the job for planning, made only if something differs; it is never written to the API
 * server.
 */
#include "operator/config.h"

#include "base/struct.h"
#include "operator/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "libmpijob/"
#define NUMBER 24 /* characters of a number of 64 bits */

struct entry {
	struct mpijob_effective_value view;
	int state; /* CONFIG_ABSENT: no value */
	int64_t number;
	int changes; /* the copy must change */
	char value[NUMBER], wanted[NUMBER];
};

/* The fields of a job that a configuration can change, in the order of mpijob_effective_at(). */
enum { CLEAN_POD, TTL, DEADLINE, WORKERS, FIELDS };

static const struct {
	const char *field;
	int slot; /* of its default */
} fields[FIELDS] = {
	[CLEAN_POD] = { CONFIG_FIELD_CLEAN_POD, CONFIG_CLEAN_POD },
	[TTL] = { CONFIG_FIELD_TTL, CONFIG_TTL },
	[DEADLINE] = { CONFIG_FIELD_DEADLINE, CONFIG_DEADLINE },
	[WORKERS] = { CONFIG_FIELD_WORKERS, CONFIG_WORKERS },
};

struct mpijob_effective {
	const mpijob *job;
	mpijob *copy; /* NULL: nothing differs */
	struct mpijob_features features;
	int32_t max_workers;
	size_t count;
	struct entry entries[];
};

struct work {
	const mpijob_operator_config *config; /* may be NULL */
	const mpijob *job;
	unsigned char *counts; /* which sections match the job's namespace */
	struct mpijob_effective *effective;
	mpijob_diag *diag;
	int rc;
};

/* ---- sections ---- */

static int find_sections(struct work *work)
{
	const char *namespace_ = mpijob_namespace(work->job);

	if (!work->config)
		return 0;
	work->counts = malloc(work->config->count);
	if (!work->counts)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < work->config->count; i++)
		work->counts[i] =
		    (unsigned char)mpijob__operator_config_matches(&work->config->sections[i],
			namespace_ ? namespace_ : "default");
	return 0;
}

/* The first matching section with a value; NULL when there is none. `rule` is -1 for the top. */
static const struct mpijob__operator_config_value *pick(const struct work *work, int slot,
    int32_t *rule)
{
	*rule = -1;
	for (size_t i = 0; work->config && i < work->config->count; i++) {
		const struct mpijob__operator_config_section *section = &work->config->sections[i];

		if (!work->counts[i] || section->values[slot].state == CONFIG_ABSENT)
			continue;
		*rule = section->patterns ? (int32_t)i : -1;
		return section->values[slot].state == CONFIG_GIVEN ? &section->values[slot] : NULL;
	}
	return NULL;
}

static const struct mpijob__operator_config_feature *pick_feature(const struct work *work,
    size_t index, int32_t *rule)
{
	*rule = -1;
	for (size_t i = 0; work->config && i < work->config->count; i++) {
		const struct mpijob__operator_config_section *section = &work->config->sections[i];

		if (!work->counts[i] || !section->features[index].given)
			continue;
		*rule = section->patterns ? (int32_t)i : -1;
		return &section->features[index];
	}
	return NULL;
}

/* ---- fields of the job ---- */

static const char *number_text(char *buffer, int64_t number)
{
	snprintf(buffer, NUMBER, "%" PRId64, number);
	return buffer;
}

static const char *text_of(int which, int state, int64_t number, char *buffer)
{
	const struct mpijob_field *field = mpijob_field_find(fields[which].field);

	if (state == CONFIG_ABSENT)
		return NULL;
	return field->choices ? field->choices[number - 1] : number_text(buffer, number);
}

static int read_choice(const struct mpijob_field *field, const mpijob_node *node, int64_t *number)
{
	const char *word = mpijob_node_string(node);

	if (!word)
		return CONFIG_WRONG_TYPE;
	for (int i = 0; field->choices[i]; i++) {
		if (strcmp(field->choices[i], word) == 0 &&
		    strlen(word) == mpijob_node_length(node)) {
			*number = i + 1;
			return CONFIG_GIVEN;
		}
	}
	return CONFIG_WRONG_VALUE;
}

int mpijob__operator_config_read(const struct mpijob_field *field, const mpijob_node *node,
    int64_t *number)
{
	*number = 0;
	if (mpijob_node_kind(node) <= MPIJOB_NODE_NULL)
		return CONFIG_ABSENT;
	if (field->choices)
		return read_choice(field, node, number);
	if (mpijob_node_kind(node) != MPIJOB_NODE_NUMBER || !mpijob_node_int(node, number) ||
	    (field->kind == MPIJOB_KIND_INT32 && (*number > INT32_MAX || *number < INT32_MIN)))
		return CONFIG_WRONG_TYPE;
	return field->minimum && *number < *field->minimum ? CONFIG_WRONG_VALUE : CONFIG_GIVEN;
}

static const mpijob_node *root_of(const struct work *work)
{
	return mpijob_doc_root(mpijob_document(work->job));
}

/* The value of the job; 0 when it is invalid: validation rejects the job, and a limit must not
 * correct it. */
static int from_job(struct work *work, int which, struct entry *entry)
{
	const mpijob_node *node = mpijob_node_find(root_of(work), fields[which].field);
	int64_t number;
	int state =
	    mpijob__operator_config_read(mpijob_field_find(fields[which].field), node, &number);

	if (state == CONFIG_ABSENT)
		return 1;
	entry->view.origin = MPIJOB_ORIGIN_JOB;
	if (state == CONFIG_GIVEN) {
		entry->state = CONFIG_GIVEN;
		entry->number = number;
		return 1;
	}
	entry->view.value = mpijob_node_text(node);
	return 0;
}

static void from_defaults(struct work *work, int which, struct entry *entry)
{
	const struct mpijob__operator_config_value *value =
	    pick(work, fields[which].slot, &entry->view.rule);

	if (value) {
		entry->state = CONFIG_GIVEN;
		entry->number = value->number;
		entry->view.origin =
		    entry->view.rule < 0 ? MPIJOB_ORIGIN_DEFAULTS : MPIJOB_ORIGIN_NAMESPACE;
		entry->changes = 1;
		return;
	}
	entry->view.origin = MPIJOB_ORIGIN_BUILT_IN;
	entry->view.rule = -1;
	if (mpijob_field_find(fields[which].field)->default_text) {
		/* Of these fields only two have a default: the first choice, and the number 1. */
		entry->state = CONFIG_GIVEN;
		entry->number = 1;
	}
}

/* Replace a value by a limit. */
static void limit(struct entry *entry, int which, int64_t number, int32_t rule)
{
	/* Keep the wanted value, also if another limit replaced it before. */
	if (!entry->view.wanted) {
		entry->view.wanted = text_of(which, entry->state, entry->number, entry->wanted);
		if (!entry->view.wanted)
			entry->view.wanted = "none";
	}
	entry->state = CONFIG_GIVEN;
	entry->number = number;
	entry->view.origin = MPIJOB_ORIGIN_LIMIT;
	entry->view.rule = rule;
	entry->changes = 1;
}

static void limit_clean_pod(struct work *work, struct entry *entry)
{
	const struct mpijob_field *field = mpijob_field_find(CONFIG_FIELD_CLEAN_POD);
	const struct mpijob__operator_config_value *allowed;
	int64_t first = 0, number;
	int32_t rule;

	allowed = pick(work, CONFIG_CLEAN_POD_ALLOWED, &rule);
	for (size_t i = 0; allowed && i < mpijob_node_count(allowed->list); i++) {
		(void)mpijob__operator_config_read(field, mpijob_node_at(allowed->list, i),
		    &number);
		if (number == entry->number)
			return;
		if (i == 0)
			first = number;
	}
	if (allowed)
		limit(entry, CLEAN_POD, first, rule);
}

static void limit_time(struct work *work, int which, int slot, struct entry *entry)
{
	int32_t rule;
	const struct mpijob__operator_config_value *most = pick(work, slot, &rule);

	if (most && (entry->state == CONFIG_ABSENT || entry->number > most->number))
		limit(entry, which, most->number, rule);
}

static void limit_ttl(struct work *work, struct entry *entry)
{
	int32_t rule;
	const struct mpijob__operator_config_value *least = pick(work, CONFIG_TTL_MIN, &rule);

	if (least && entry->state == CONFIG_GIVEN && entry->number < least->number)
		limit(entry, TTL, least->number, rule);
	limit_time(work, TTL, CONFIG_TTL_MAX, entry);
}

static void limit_workers(struct work *work, struct entry *entry)
{
	int32_t rule;
	const struct mpijob__operator_config_value *most = pick(work, CONFIG_WORKERS_MAX, &rule);

	if (!most)
		return;
	work->effective->max_workers = (int32_t)most->number;
	if (entry->number <= most->number)
		return;
	entry->view.refused = 1;
	entry->view.wanted = text_of(WORKERS, entry->state, entry->number, entry->wanted);
	entry->view.origin = MPIJOB_ORIGIN_LIMIT;
	entry->view.rule = rule;
	entry->view.value = number_text(entry->value, most->number);
}

static void apply_limit(struct work *work, int which, struct entry *entry)
{
	if (which == CLEAN_POD)
		limit_clean_pod(work, entry);
	else if (which == TTL)
		limit_ttl(work, entry);
	else if (which == DEADLINE)
		limit_time(work, DEADLINE, CONFIG_DEADLINE_MAX, entry);
	else
		limit_workers(work, entry);
}

static void settle(struct work *work, int which)
{
	struct entry *entry = &work->effective->entries[which];
	int readable;

	entry->view.size = sizeof(entry->view);
	entry->view.field = fields[which].field;
	entry->view.rule = -1;
	readable = from_job(work, which, entry);
	/* A job without workers does not get any. */
	if (which == WORKERS && mpijob_node_kind(mpijob_node_find(root_of(work),
				    "spec.mpiReplicaSpecs[Worker]")) <= MPIJOB_NODE_NULL) {
		entry->view.origin = MPIJOB_ORIGIN_BUILT_IN;
		return;
	}
	if (!readable)
		return;
	if (entry->state == CONFIG_ABSENT)
		from_defaults(work, which, entry);
	apply_limit(work, which, entry);
	if (!entry->view.refused)
		entry->view.value = text_of(which, entry->state, entry->number, entry->value);
}

/* ---- features ---- */

static int is_allowed(const struct work *work, const char *name)
{
	int32_t rule;
	const struct mpijob__operator_config_value *allowed = pick(work, CONFIG_ANNOTATIONS, &rule);

	for (size_t i = 0; allowed && i < mpijob_node_count(allowed->list); i++)
		if (strcmp(mpijob_node_string(mpijob_node_at(allowed->list, i)), name) == 0)
			return 1;
	return 0;
}

static void set_feature(struct work *work, struct entry *entry,
    const struct mpijob_feature *feature, int32_t value)
{
	char text[NUMBER];

	/* The value was read from text, or is within the bounds: this cannot fail. */
	mpijob_features_set(&work->effective->features, feature->name, number_text(text, value),
	    NULL);
	entry->number = value;
}

static void settle_feature(struct work *work, size_t index)
{
	const struct mpijob_feature *feature = mpijob_feature_at(index);
	struct entry *entry = &work->effective->entries[FIELDS + index];
	const struct mpijob__operator_config_feature *given =
	    pick_feature(work, index, &entry->view.rule);

	entry->view.size = sizeof(entry->view);
	entry->view.field = feature->name;
	entry->number = mpijob_features_get(&work->effective->features, feature->name);
	entry->view.origin = entry->number ? MPIJOB_ORIGIN_FLAG : MPIJOB_ORIGIN_BUILT_IN;
	if (given) {
		set_feature(work, entry, feature, given->value);
		entry->view.origin =
		    entry->view.rule < 0 ? MPIJOB_ORIGIN_DEFAULTS : MPIJOB_ORIGIN_NAMESPACE;
	}
}

static void ignore(struct work *work, const char *key, const char *why, const char *more)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;

	finding.severity = MPIJOB_SEVERITY_WARNING;
	finding.id = "annotation-ignored";
	finding.field = "metadata.annotations";
	if (mpijob__operator_report(work->diag, &finding, "the annotation %s has no effect: %s %s",
		key, why, more))
		work->rc = MPIJOB_ERR_NOMEM;
}

static void read_annotation(struct work *work, const char *key, const mpijob_node *node)
{
	const struct mpijob_feature *feature = mpijob_feature_find(key + strlen(PREFIX));
	struct mpijob_features scratch = MPIJOB_FEATURES_INIT;
	const char *value = mpijob_node_string(node);
	size_t index = 0;

	if (!feature) {
		ignore(work, key, "there is no feature", key + strlen(PREFIX));
		return;
	}
	if (!is_allowed(work, feature->name)) {
		ignore(work, key, "the configuration of the operator does not allow it in",
		    mpijob_namespace(work->job) ? mpijob_namespace(work->job) : "this namespace");
		return;
	}
	if (!value || strlen(value) != mpijob_node_length(node) ||
	    mpijob_features_set(&scratch, feature->name, value, NULL)) {
		ignore(work, key, "its value is not valid for", feature->name);
		return;
	}
	while (mpijob_feature_at(index) != feature)
		index++;
	set_feature(work, &work->effective->entries[FIELDS + index], feature,
	    mpijob_features_get(&scratch, feature->name));
	work->effective->entries[FIELDS + index].view.origin = MPIJOB_ORIGIN_ANNOTATION;
	work->effective->entries[FIELDS + index].view.rule = -1;
}

static void read_annotations(struct work *work)
{
	const mpijob_node *map = mpijob_node_find(root_of(work), "metadata.annotations");

	for (size_t i = 0; mpijob_node_kind(map) == MPIJOB_NODE_MAP && i < mpijob_node_count(map);
	     i++)
		if (strncmp(mpijob_node_key(map, i), PREFIX, strlen(PREFIX)) == 0)
			read_annotation(work, mpijob_node_key(map, i), mpijob_node_at(map, i));
}

static void show_feature(struct entry *entry, const struct mpijob_feature *feature)
{
	if (feature->kind == MPIJOB_FEATURE_SWITCH)
		entry->view.value = entry->number ? "true" : "false";
	else if (entry->number)
		entry->view.value = number_text(entry->value, entry->number);
}

/* ---- the copy ---- */

static const struct entry *change(const struct work *work, int which)
{
	const struct entry *entry = &work->effective->entries[which];

	return entry->changes ? entry : NULL;
}

/* 0; MPIJOB_ERR_SPEC when other fields have wrong types: then the job is rejected unchanged. */
static int write_copy(const struct work *work, mpijob *copy)
{
	struct mpijob_run_policy policy = MPIJOB_RUN_POLICY_INIT;
	struct mpijob_replica_spec worker = MPIJOB_REPLICA_SPEC_INIT;
	const struct mpijob_spec *stands;
	struct mpijob_spec spec;
	int32_t ttl = 0, workers = 0;
	int rc = mpijob_spec_get(copy, &stands, NULL);

	if (rc)
		return rc;
	spec = *stands;
	if (stands->run_policy)
		policy = *stands->run_policy;
	spec.run_policy = &policy;
	if (change(work, CLEAN_POD))
		policy.clean_pod_policy = (int32_t)change(work, CLEAN_POD)->number;
	if (change(work, TTL)) {
		ttl = (int32_t)change(work, TTL)->number;
		policy.ttl_seconds_after_finished = &ttl;
	}
	if (change(work, DEADLINE))
		policy.active_deadline_seconds = &change(work, DEADLINE)->number;
	if (change(work, WORKERS) && stands->worker) {
		workers = (int32_t)change(work, WORKERS)->number;
		worker = *stands->worker;
		worker.replicas = &workers;
		spec.worker = &worker;
	}
	return mpijob_spec_set(copy, &spec, NULL);
}

static int make_copy(struct work *work)
{
	int rc, changes = 0;

	for (int i = 0; i < FIELDS; i++)
		changes |= work->effective->entries[i].changes;
	if (!changes)
		return 0;
	work->effective->copy = mpijob_clone(work->job);
	if (!work->effective->copy)
		return MPIJOB_ERR_NOMEM;
	rc = write_copy(work, work->effective->copy);
	if (rc == 0)
		return 0;
	mpijob_free(work->effective->copy);
	work->effective->copy = NULL;
	return rc == MPIJOB_ERR_NOMEM ? rc : 0;
}

/* ---- public functions ---- */

size_t mpijob__operator_config_feature_count(void)
{
	size_t count = 0;

	while (mpijob_feature_at(count))
		count++;
	return count;
}

int mpijob__operator_config_copy_features(const struct mpijob_features *given,
    struct mpijob_features *out)
{
	int rc = mpijob__base_struct_check(out, sizeof(*out), given);

	for (size_t i = 0; rc == 0 && mpijob_feature_at(i); i++) {
		const struct mpijob_feature *feature = mpijob_feature_at(i);
		int32_t value = mpijob_features_get(out, feature->name);

		if (value && (value < feature->minimum || value > feature->maximum))
			rc = MPIJOB_ERR_USAGE;
	}
	return rc;
}

static int work_out(struct work *work)
{
	int rc = find_sections(work);

	if (rc)
		return rc;
	for (int i = 0; i < FIELDS; i++)
		settle(work, i);
	for (size_t i = 0; mpijob_feature_at(i); i++)
		settle_feature(work, i);
	read_annotations(work);
	for (size_t i = 0; mpijob_feature_at(i); i++)
		show_feature(&work->effective->entries[FIELDS + i], mpijob_feature_at(i));
	return work->rc ? work->rc : make_copy(work);
}

int mpijob_effective_new(const mpijob_operator_config *config, const mpijob *job,
    const struct mpijob_features *flags, mpijob_effective **out, mpijob_diag *diag)
{
	size_t count = FIELDS + mpijob__operator_config_feature_count();
	struct work work = { .config = config, .job = job, .diag = diag };
	int rc;

	if (!job || !out)
		return MPIJOB_ERR_USAGE;
	work.effective = calloc(1, sizeof(*work.effective) + count * sizeof(struct entry));
	if (!work.effective)
		return MPIJOB_ERR_NOMEM;
	work.effective->job = job;
	work.effective->count = count;
	rc = mpijob__operator_config_copy_features(flags, &work.effective->features);
	if (rc == 0)
		rc = work_out(&work);
	free(work.counts);
	if (rc) {
		mpijob_effective_free(work.effective);
		return rc;
	}
	*out = work.effective;
	return 0;
}

void mpijob_effective_free(mpijob_effective *effective)
{
	if (!effective)
		return;
	mpijob_free(effective->copy);
	free(effective);
}

const mpijob *mpijob_effective_job(const mpijob_effective *effective)
{
	if (!effective)
		return NULL;
	return effective->copy ? effective->copy : effective->job;
}

const struct mpijob_features *mpijob_effective_features(const mpijob_effective *effective)
{
	return effective ? &effective->features : NULL;
}

int32_t mpijob_effective_max_workers(const mpijob_effective *effective)
{
	return effective ? effective->max_workers : 0;
}

size_t mpijob_effective_count(const mpijob_effective *effective)
{
	return effective ? effective->count : 0;
}

const struct mpijob_effective_value *mpijob_effective_at(const mpijob_effective *effective,
    size_t index)
{
	return effective && index < effective->count ? &effective->entries[index].view : NULL;
}
