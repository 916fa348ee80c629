/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates, identifies and frees jobs: which apiVersion and kind are accepted, what the finding
 * about another one says, and how a draft replaces the document of a job.
 */
#include <stdlib.h>
#include <string.h>

#include "base/api.h"
#include "base/near.h"
#include "job/field.h"
#include "job/state.h"

#define GROUP MPIJOB__BASE_API_GROUP "/"

/* Other versions of MPIJob, and the projects that define them. */
static const struct {
	const char *version;
	const char *owner;
	const char *way; /* how to convert it */
} other_versions[] = {
	{ MPIJOB__BASE_API_V1, "the training operator's MPIJob",
	    "'mpijob convert --to v2beta1' writes it" },
	{ MPIJOB__BASE_API_V1ALPHA2, "the MPIJob of mpi-operator 0.2",
	    "'mpijob convert --to v2beta1' converts it" },
	{ MPIJOB__BASE_API_V1ALPHA1, "the MPIJob of mpi-operator 0.1",
	    "'mpijob convert --to v2beta1' converts it" },
};

static const char *root_text(const mpijob_node *root, int id)
{
	return mpijob_node_string(mpijob__job_field_node(root, id));
}

static int is_choice(int id, const char *text)
{
	return text && strcmp(text, mpijob__job_field_row(id)->field.choices[0]) == 0;
}

int mpijob_is_job(const mpijob_node *node)
{
	const char *version = root_text(node, FIELD_API_VERSION);

	return version && strncmp(version, GROUP, strlen(GROUP)) == 0 &&
	       is_choice(FIELD_KIND, root_text(node, FIELD_KIND));
}

static void refuse_version(mpijob_diag *diag, const struct mpijob__core_place *place,
    const char *version)
{
	const char *ours = mpijob__job_field_row(FIELD_API_VERSION)->field.choices[0];

	for (size_t i = 0; i < sizeof(other_versions) / sizeof(other_versions[0]); i++) {
		if (strcmp(other_versions[i].version, version) != 0)
			continue;
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "unsupported-version",
		    "NotSupported", "apiVersion", place, "'%s' is %s; use %s, %s", version,
		    other_versions[i].owner, ours, other_versions[i].way);
		return;
	}
	mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "unsupported-version", "NotSupported",
	    "apiVersion", place, "not a known version of MPIJob: '%s'; use %s", version, ours);
}

static void refuse_kind(mpijob_diag *diag, const struct mpijob__core_place *place,
    const char *version, const char *kind)
{
	const char *ours = mpijob__job_field_row(FIELD_KIND)->field.choices[0];

	if (mpijob__base_near_word(kind, mpijob__job_field_row(FIELD_KIND)->field.choices, 1))
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "unsupported-object",
		    "NotSupported", "kind", place, "not an MPIJob: '%s'; did you mean %s?", kind,
		    ours);
	else
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "unsupported-object",
		    "NotSupported", "kind", place, "not an MPIJob but a %s of %s", kind, version);
}

/* 0, or MPIJOB_ERR_UNSUPPORTED and a finding. */
static int check_identity(const mpijob_node *root, const char *source, mpijob_diag *diag)
{
	const char *version = root_text(root, FIELD_API_VERSION);
	const char *kind = root_text(root, FIELD_KIND);
	int kind_fits = is_choice(FIELD_KIND, kind);
	int id = version && !kind_fits ? FIELD_KIND : FIELD_API_VERSION;
	const mpijob_node *value = mpijob__job_field_node(root, id);
	struct mpijob__core_place place = { .source = source };

	if (kind_fits && is_choice(FIELD_API_VERSION, version))
		return 0;
	mpijob_node_place(value, &place.line, &place.column);
	if (!place.line)
		mpijob_node_place(root, &place.line, &place.column);
	if (!version || !kind)
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "unsupported-object",
		    "Required", mpijob__job_field_row(id)->field.path, &place,
		    "not a Kubernetes object: %s is missing or not a string",
		    version ? "kind" : "apiVersion");
	else if (!kind_fits)
		refuse_kind(diag, &place, version, kind);
	else
		refuse_version(diag, &place, version);
	return MPIJOB_ERR_UNSUPPORTED;
}

/* Takes ownership of the document, also on failure. */
static int job_of(mpijob_doc *doc, const char *source, mpijob **out)
{
	mpijob *job = doc ? calloc(1, sizeof(*job)) : NULL;

	if (!job) {
		mpijob_doc_free(doc);
		return MPIJOB_ERR_NOMEM;
	}
	job->doc = doc;
	job->views = calloc(1, sizeof(*job->views));
	job->source = source ? strdup(source) : NULL;
	if (!job->views || (source && !job->source)) {
		mpijob_free(job);
		return MPIJOB_ERR_NOMEM;
	}
	*out = job;
	return 0;
}

int mpijob_parse(const char *text, size_t len, const struct mpijob_parse_options *options,
    mpijob **out, mpijob_diag *diag)
{
	mpijob_doc *doc = NULL;
	int code;

	if (!out || (!text && len))
		return MPIJOB_ERR_USAGE;
	code = mpijob_doc_parse(text, len, options, &doc, diag);
	if (code)
		return code;
	code = check_identity(mpijob_doc_root(doc), mpijob_doc_source(doc), diag);
	if (code) {
		mpijob_doc_free(doc);
		return code;
	}
	return job_of(doc, mpijob_doc_source(doc), out);
}

int mpijob_from_node(const mpijob_node *node, const char *source, mpijob **out, mpijob_diag *diag)
{
	int code;

	if (!node || !out)
		return MPIJOB_ERR_USAGE;
	code = check_identity(node, source, diag);
	if (code)
		return code;
	return job_of(mpijob_doc_from_node(node, NULL), source, out);
}

static mpijob_doc *empty_document(const char *name, const char *namespace_)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, "");
	mpijob_node *metadata;

	for (int id = FIELD_API_VERSION; id <= FIELD_KIND; id++)
		mpijob_node_put_string(doc, root, mpijob__job_field_row(id)->key,
		    mpijob__job_field_row(id)->field.choices[0]);
	metadata = mpijob_node_put_map(doc, root, mpijob__job_field_row(FIELD_METADATA)->key);
	mpijob_node_put_string(doc, metadata, mpijob__job_field_row(FIELD_NAME)->key, name);
	mpijob_node_put_string(doc, metadata, mpijob__job_field_row(FIELD_NAMESPACE)->key,
	    namespace_);
	mpijob_node_put_map(doc, root, mpijob__job_field_row(FIELD_SPEC)->key);
	return doc;
}

int mpijob_new(const char *name, const char *namespace_, const struct mpijob_spec *spec,
    mpijob **out, mpijob_diag *diag)
{
	mpijob_doc *doc;
	int code;

	if (!name || !out)
		return MPIJOB_ERR_USAGE;
	doc = empty_document(name, namespace_);
	code = mpijob_doc_error(doc);
	if (!code && spec)
		code = mpijob__job_store_spec(doc, spec, diag);
	if (code) {
		mpijob_doc_free(doc);
		return code;
	}
	return job_of(doc, NULL, out);
}

mpijob *mpijob_clone(const mpijob *job)
{
	mpijob *copy = NULL;

	if (!job || job_of(mpijob__job_state_draft(job), job->source, &copy))
		return NULL;
	return copy;
}

void mpijob_free(mpijob *job)
{
	if (!job)
		return;
	if (job->views)
		mpijob__base_arena_free(&job->views->memory);
	free(job->views);
	free(job->source);
	mpijob_doc_free(job->doc);
	free(job);
}

mpijob_doc *mpijob__job_state_draft(const mpijob *job)
{
	return mpijob_doc_from_node(mpijob_doc_root(job->doc), mpijob_doc_source(job->doc));
}

void mpijob__job_state_commit(mpijob *job, mpijob_doc *draft)
{
	mpijob__base_arena_free(&job->views->memory);
	job->views->spec = NULL;
	job->views->status = NULL;
	mpijob_doc_free(job->doc);
	job->doc = draft;
}

struct mpijob__job_report mpijob__job_state_report(const mpijob *job, mpijob_diag *diag,
    int reference)
{
	struct mpijob__job_report report = { .diag = diag,
		.source = job->source,
		.reference = reference };

	return report;
}

const mpijob_doc *mpijob_document(const mpijob *job)
{
	return job ? job->doc : NULL;
}

const mpijob_node *mpijob__job_node(const mpijob *job)
{
	return mpijob_doc_root(job->doc);
}

const char *mpijob__job_source(const mpijob *job)
{
	return job->source;
}

const char *mpijob_name(const mpijob *job)
{
	return job ? root_text(mpijob__job_node(job), FIELD_NAME) : NULL;
}

const char *mpijob_namespace(const mpijob *job)
{
	return job ? root_text(mpijob__job_node(job), FIELD_NAMESPACE) : NULL;
}

const char *mpijob_uid(const mpijob *job)
{
	return job ? root_text(mpijob__job_node(job), FIELD_UID) : NULL;
}

const mpijob_node *mpijob__job_template(const mpijob *job, int role)
{
	int id = role == MPIJOB__JOB_LAUNCHER ? FIELD_LAUNCHER_TEMPLATE : FIELD_WORKER_TEMPLATE;
	const mpijob_node *node = mpijob__job_field_node(mpijob__job_node(job), id);

	return mpijob_node_kind(node) == MPIJOB_NODE_MAP ? node : NULL;
}

int mpijob_identify(mpijob *job, const char *name, const char *namespace_, const char *uid)
{
	mpijob_doc *draft;
	mpijob_node *metadata;
	int code;

	if (!job)
		return MPIJOB_ERR_USAGE;
	if (!name && !namespace_ && !uid)
		return 0;
	draft = mpijob__job_state_draft(job);
	metadata = mpijob_doc_make(draft, mpijob__job_field_row(FIELD_METADATA)->field.path);
	mpijob_node_put_string(draft, metadata, mpijob__job_field_row(FIELD_NAME)->key, name);
	mpijob_node_put_string(draft, metadata, mpijob__job_field_row(FIELD_NAMESPACE)->key,
	    namespace_);
	mpijob_node_put_string(draft, metadata, mpijob__job_field_row(FIELD_UID)->key, uid);
	code = mpijob_doc_error(draft);
	if (code) {
		mpijob_doc_free(draft);
		return code;
	}
	mpijob__job_state_commit(job, draft);
	return 0;
}
