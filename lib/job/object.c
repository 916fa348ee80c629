/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob_object_validate(): checks an object as an API server does when it creates one. Knows for
 * each kind the format of the name, the path of the pod in it, and which maps have file names as
 * keys. The rules for pods are those for templates (lib/job/template*.c).
 */
#include <string.h>

#include "base/api.h"
#include "base/field_path.h"
#include "job/field.h"
#include "job/syntax.h"
#include "job/template.h"
#include "job/walk.h"

#include <mpijob/job.h>

static const struct kind {
	const char *version, *name;
	mpijob__job_syntax *syntax; /* Format of metadata.name; NULL: a subdomain. */
	/* Path of the pod; "": the object is a pod; NULL: it has no pod. */
	const char *pod;
	const char *files[2]; /* Maps whose keys are file names. */
} kinds[] = {
	{ "v1", "Namespace", mpijob__job_syntax_label, NULL, { NULL } },
	{ "v1", "Service", mpijob__job_syntax_label, NULL, { NULL } },
	{ "v1", "ConfigMap", NULL, NULL, { "data", "binaryData" } },
	{ "v1", "Secret", NULL, NULL, { "data", "stringData" } },
	{ "v1", "Pod", NULL, "", { NULL } },
	{ MPIJOB__BASE_API_BATCH, "Job", NULL, "spec.template", { NULL } },
};

static const struct kind *kind_of(const mpijob_node *object)
{
	static const struct kind other = { 0 };
	const char *version = mpijob_node_string(mpijob_node_get(object, "apiVersion"));
	const char *name = mpijob_node_string(mpijob_node_get(object, "kind"));

	for (size_t i = 0; version && name && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].version, version) == 0 && strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return &other;
}

static void check_name(struct mpijob__job_report *report, const mpijob_node *object,
    const struct kind *kind)
{
	const mpijob_node *node = mpijob_node_find(object, "metadata.name");
	struct mpijob__job_spot spot = { "metadata.name",
		mpijob__job_report_place(report, node, NULL) };
	const char *name = mpijob_node_string(node);
	const char *must =
	    name ? (kind->syntax ? kind->syntax : mpijob__job_syntax_subdomain)(name) : NULL;

	if (name && strlen(name) != mpijob_node_length(node))
		must = "without NUL";
	if (name && !must && kind->name && strcmp(kind->name, "Service") == 0 &&
	    strchr("0123456789", *name))
		must = "a label that begins with a letter";
	if (!name || !*name)
		mpijob__job_report_error(report, &spot, "missing", "Required",
		    "a value is required");
	else if (must)
		mpijob__job_report_error(report, &spot, "invalid-value", "Invalid",
		    "'%s' must be %s", name, must);
}

static void check_files(struct mpijob__job_report *report, const mpijob_node *object,
    const char *key)
{
	const mpijob_node *map = mpijob_node_get(object, key);
	struct mpijob_text path = { 0 };

	for (size_t i = 0; mpijob_node_kind(map) == MPIJOB_NODE_MAP && i < mpijob_node_count(map);
	     i++) {
		const char *name = mpijob_node_key(map, i);
		const char *must = mpijob__job_syntax_file(name);
		struct mpijob__job_spot spot = { NULL,
			mpijob__job_report_place(report, mpijob_node_at(map, i), NULL) };

		if (!must || mpijob__job_report_is_full(report, "invalid-value"))
			continue;
		mpijob__base_field_path_cut(&path, 0);
		if (mpijob__base_text_puts(&path, key) ||
		    mpijob__base_field_path_entry(&path, name))
			report->code = MPIJOB_ERR_NOMEM;
		spot.path = mpijob_text_data(&path);
		mpijob__job_report_error(report, &spot, "invalid-value", "Invalid",
		    "the key must be %s", must);
	}
	mpijob__base_text_release(&path);
}

static void require(struct mpijob__job_walk *walk, const struct mpijob__job_row *row,
    const mpijob_node *node)
{
	if ((row->crd & CRD_REQUIRES) && mpijob_node_kind(node) <= MPIJOB_NODE_NULL)
		mpijob__job_report_error(walk->report, mpijob__job_walk_spot(walk), "missing",
		    "Required", "a value is required");
}

int mpijob_object_validate(const mpijob_node *object, const char *source, mpijob_diag *diag)
{
	struct mpijob__job_report report = { .diag = diag, .source = source };
	struct mpijob__job_walk walk = { .report = &report, .field = require };
	const struct kind *kind = kind_of(object);
	const mpijob_node *spec = mpijob_node_get(object, "spec");

	if (mpijob_node_kind(object) != MPIJOB_NODE_MAP)
		return MPIJOB_ERR_USAGE;
	check_name(&report, object, kind);
	if (!kind->pod || *kind->pod)
		mpijob__job_template_check_metadata(&report, object);
	if (kind->pod)
		mpijob__job_template_check_pod(&report, kind->pod,
		    *kind->pod ? mpijob_node_find(object, kind->pod) : object);
	for (size_t i = 0; i < 2 && kind->files[i]; i++)
		check_files(&report, object, kind->files[i]);
	if (mpijob_is_job(object) && mpijob_node_kind(spec) == MPIJOB_NODE_MAP)
		mpijob__job_walk_object(&walk, FIELD_SPEC, spec);
	return mpijob__job_report_result(&report);
}
