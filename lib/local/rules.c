/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of each kind for create and update: defaults, immutable fields, and features of Jobs
 * and pods that the embedded cluster does not support (501). Validation is in
 * mpijob_object_validate(). Only defaults that code of this project reads are set.
 */
#include "local/rules.h"
#include "base/api.h"
#include "base/base64.h"
#include "base/secret.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include <mpijob/job.h>

static const char *name_of(const mpijob_doc *doc)
{
	return mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.name"));
}

/* The text of an API server's message for each reason of a finding. */
static const struct reason {
	const char *reason, *words;
} reasons[] = {
	{ "Required", "Required value" }, { "NotSupported", "Unsupported value" },
	{ "Forbidden", "Forbidden" }, { "Duplicate", "Duplicate value" },
	{ "NotFound", "Not found" }, { "TooLong", "Too long" },
	{ "Invalid", "Invalid value" }, /* the default */
};

static int reject(const struct mpijob__local_kind *kind, const mpijob_doc *doc,
    const struct mpijob_finding *finding, struct mpijob__local_reply *reply)
{
	const struct reason *known = reasons;
	const char *reason = finding->reason ? finding->reason : "Invalid";
	char *cause;
	int rc = MPIJOB_ERR_NOMEM;

	while (known < &reasons[sizeof(reasons) / sizeof(reasons[0]) - 1] &&
	       strcmp(known->reason, reason) != 0)
		known++;
	cause = mpijob__base_text_format("FieldValue%s", reason);
	if (cause)
		rc = mpijob__local_reply_invalid(reply, kind, name_of(doc), cause, finding->field,
		    mpijob__base_text_format("%s: %s", known->words, finding->message));
	free(cause);
	return rc;
}

/* Validate an object as an API server does. The first error becomes the reply. */
static int check_object(const struct mpijob__local_kind *kind, const mpijob_doc *doc,
    struct mpijob__local_reply *reply)
{
	mpijob_diag *diag = mpijob_diag_new();
	int rc = diag ? mpijob_object_validate(mpijob_doc_root(doc), NULL, diag) : MPIJOB_ERR_NOMEM;

	for (size_t i = 0; rc == MPIJOB_ERR_SPEC && mpijob_diag_at(diag, i); i++) {
		if (mpijob_diag_at(diag, i)->severity == MPIJOB_SEVERITY_ERROR)
			rc = reject(kind, doc, mpijob_diag_at(diag, i), reply);
	}
	mpijob_diag_free(diag);
	return rc;
}

static void default_pod(mpijob_doc *doc)
{
	mpijob_node *root = mpijob_doc_edit(doc, "");
	mpijob_node *status = mpijob_node_put_map(doc, root, "status");

	mpijob_node_put_string(doc, status, "phase", "Pending");
}

/* ---- Jobs ---- */

struct job_limit {
	const char *path;
	const char *only; /* the only supported value; NULL: the field must be absent */
	const char *what;
};

static const struct job_limit job_limits[] = {
	{ "spec.completions", "1", "Jobs with spec.completions other than 1" },
	{ "spec.parallelism", "1", "Jobs with spec.parallelism other than 1" },
	{ "spec.completionMode", "NonIndexed", "indexed Jobs" },
	{ "spec.manualSelector", NULL, "Jobs with spec.manualSelector" },
	{ "spec.selector", NULL, "Jobs with a selector of their own" },
	{ "spec.podFailurePolicy", NULL, "spec.podFailurePolicy of Jobs" },
	{ "spec.successPolicy", NULL, "spec.successPolicy of Jobs" },
	{ "spec.backoffLimitPerIndex", NULL, "spec.backoffLimitPerIndex of Jobs" },
	{ "spec.maxFailedIndexes", NULL, "spec.maxFailedIndexes of Jobs" },
	{ "spec.managedBy", "kubernetes.io/job-controller", "Jobs managed by other controllers" },
};

static int check_limits(const struct mpijob__local_kind *kind, const mpijob_doc *doc,
    struct mpijob__local_reply *reply)
{
	for (size_t i = 0; i < sizeof(job_limits) / sizeof(job_limits[0]); i++) {
		const struct job_limit *limit = &job_limits[i];
		const mpijob_node *value = mpijob_node_find(mpijob_doc_root(doc), limit->path);
		const char *text = mpijob_node_text(value);

		if (!value || mpijob_node_kind(value) == MPIJOB_NODE_NULL ||
		    (limit->only && text && strcmp(text, limit->only) == 0))
			continue;
		return mpijob__local_reply_unsupported(reply, kind, name_of(doc), limit->what);
	}
	return 0;
}

static int check_job_policy(const struct mpijob__local_kind *kind, const mpijob_doc *doc,
    struct mpijob__local_reply *reply)
{
	const char *policy = mpijob_node_string(
	    mpijob_node_find(mpijob_doc_root(doc), "spec.template.spec.restartPolicy"));

	if (policy && (strcmp(policy, "Never") == 0 || strcmp(policy, "OnFailure") == 0))
		return 0;
	return mpijob__local_reply_invalid(reply, kind, name_of(doc),
	    policy ? "FieldValueNotSupported" : "FieldValueRequired",
	    "spec.template.spec.restartPolicy",
	    mpijob__base_text_format("%s: supported values: \"OnFailure\", \"Never\"",
		policy ? "Unsupported value" : "Required value"));
}

static void put_default(mpijob_doc *doc, mpijob_node *map, const char *key, int64_t value)
{
	const mpijob_node *present = mpijob_node_get(map, key);

	if (!present || mpijob_node_kind(present) == MPIJOB_NODE_NULL)
		mpijob_node_put_int(doc, map, key, value);
}

static void label_template(mpijob_doc *doc, const char *uid)
{
	mpijob_node *labels = mpijob_doc_make(doc, "spec.template.metadata.labels");
	mpijob_node *selector = mpijob_doc_make(doc, "spec.selector.matchLabels");

	mpijob_node_put_string(doc, labels, MPIJOB__BASE_API_BATCH_UID, uid);
	mpijob_node_put_string(doc, labels, MPIJOB__BASE_API_BATCH_NAME, name_of(doc));
	mpijob_node_put_string(doc, labels, "controller-uid", uid);
	mpijob_node_put_string(doc, labels, "job-name", name_of(doc));
	mpijob_node_put_string(doc, selector, MPIJOB__BASE_API_BATCH_UID, uid);
}

static int default_job(const struct mpijob__local_kind *kind, mpijob_doc *doc,
    struct mpijob__local_reply *reply)
{
	const char *uid =
	    mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.uid"));
	mpijob_node *spec = mpijob_doc_edit(doc, "spec");
	int rc = check_limits(kind, doc, reply);

	if (!rc && !reply->status)
		rc = check_job_policy(kind, doc, reply);
	if (rc || reply->status)
		return rc;
	put_default(doc, spec, "parallelism", 1);
	put_default(doc, spec, "completions", 1);
	put_default(doc, spec, "backoffLimit", 6);
	if (!mpijob_node_get(spec, "suspend"))
		mpijob_node_put_bool(doc, spec, "suspend", 0);
	mpijob_node_put_string(doc, spec, "completionMode", "NonIndexed");
	label_template(doc, uid);
	if (mpijob_node_count(mpijob_node_find(mpijob_doc_root(doc), "metadata.labels")) == 0)
		mpijob_node_put_copy(doc, mpijob_doc_make(doc, "metadata"), "labels",
		    mpijob_node_find(mpijob_doc_root(doc), "spec.template.metadata.labels"));
	return 0;
}

/* ---- other kinds ---- */

static int encode_string_data(mpijob_doc *doc)
{
	mpijob_node *root = mpijob_doc_edit(doc, "");
	const mpijob_node *plain = mpijob_node_get(root, "stringData");

	if (!mpijob_node_get(root, "type"))
		mpijob_node_put_string(doc, root, "type", "Opaque");
	for (size_t i = 0; i < mpijob_node_count(plain); i++) {
		const mpijob_node *value = mpijob_node_at(plain, i);
		const char *text = mpijob_node_string(value);
		char *encoded = mpijob__base_base64_encode_new(text ? text : "",
		    text ? mpijob_node_length(value) : 0);

		if (!encoded)
			return MPIJOB_ERR_NOMEM;
		mpijob_node_put_string(doc, mpijob_doc_make(doc, "data"), mpijob_node_key(plain, i),
		    encoded);
		mpijob__base_secret_free_text(encoded);
	}
	mpijob_node_remove(root, "stringData");
	return 0;
}

static int check_base64(const struct mpijob__local_kind *kind, const mpijob_doc *doc,
    const char *map, struct mpijob__local_reply *reply)
{
	const mpijob_node *data = mpijob_node_get(mpijob_doc_root(doc), map);

	for (size_t i = 0; i < mpijob_node_count(data); i++) {
		const mpijob_node *value = mpijob_node_at(data, i);
		const char *text = mpijob_node_string(value);
		char *bytes = NULL;
		size_t len = 0;
		int rc = text ? mpijob__base_base64_decode_new(text, mpijob_node_length(value),
				    &bytes, &len)
			      : MPIJOB_ERR_SYNTAX;

		if (rc == MPIJOB_ERR_SYNTAX)
			return mpijob__local_reply_error(reply, 400, "BadRequest", kind,
			    name_of(doc),
			    mpijob__base_text_format("%s[%s] of %s \"%s\" is not base64", map,
				mpijob_node_key(data, i), kind->name, name_of(doc)));
		if (rc)
			return rc;
		mpijob__base_secret_free(bytes, len);
	}
	return 0;
}

static int check_data(const struct mpijob__local_kind *kind, mpijob_doc *doc,
    struct mpijob__local_reply *reply)
{
	int rc;

	if (kind->id == MPIJOB__LOCAL_KIND_CONFIG_MAP)
		return check_base64(kind, doc, "binaryData", reply);
	rc = encode_string_data(doc);
	return rc ? rc : check_base64(kind, doc, "data", reply);
}

int mpijob__local_rules_new(const struct mpijob__local_kind *kind, mpijob_doc *doc,
    struct mpijob__local_reply *reply)
{
	int rc = 0;

	if (kind->id == MPIJOB__LOCAL_KIND_NAMESPACE)
		mpijob_node_put_string(doc,
		    mpijob_node_put_map(doc, mpijob_doc_edit(doc, ""), "status"), "phase",
		    "Active");
	else if (kind->id == MPIJOB__LOCAL_KIND_POD)
		default_pod(doc);
	else if (kind->id == MPIJOB__LOCAL_KIND_JOB)
		rc = default_job(kind, doc, reply);
	else if (kind->id == MPIJOB__LOCAL_KIND_SECRET || kind->id == MPIJOB__LOCAL_KIND_CONFIG_MAP)
		rc = check_data(kind, doc, reply);
	if (!rc && !reply->status && mpijob_doc_error(doc))
		rc = MPIJOB_ERR_NOMEM;
	return rc || reply->status ? rc : check_object(kind, doc, reply);
}

static int differs(const struct mpijob__local_object *old, const mpijob_doc *doc, const char *path)
{
	return !mpijob_node_equal(mpijob_node_find(mpijob_doc_root(old->doc), path),
	    mpijob_node_find(mpijob_doc_root(doc), path));
}

static int change_job(const struct mpijob__local_object *old, const mpijob_doc *doc,
    struct mpijob__local_reply *reply)
{
	static const char *const fixed[] = { "spec.selector", "spec.completions",
		"spec.completionMode", "spec.template" };
	int suspended = 0;

	mpijob_node_bool(mpijob_node_find(mpijob_doc_root(old->doc), "spec.suspend"), &suspended);
	if (suspended && mpijob__local_store_text(old, "status.startTime"))
		suspended = 0;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		/* The template of a suspended Job that never started may change: Kueue sets its
		 * node selector. */
		if (!differs(old, doc, fixed[i]) ||
		    (suspended && strcmp(fixed[i], "spec.template") == 0))
			continue;
		return mpijob__local_reply_invalid(reply, old->kind, old->name, "FieldValueInvalid",
		    fixed[i], mpijob__base_text_format("Invalid value: field is immutable"));
	}
	return check_job_policy(old->kind, doc, reply);
}

static int change_data(const struct mpijob__local_object *old, mpijob_doc *doc,
    struct mpijob__local_reply *reply)
{
	int immutable = 0;
	int rc = check_data(old->kind, doc, reply);

	mpijob_node_bool(mpijob_node_get(mpijob_doc_root(old->doc), "immutable"), &immutable);
	if (rc || reply->status || !immutable)
		return rc;
	if (!differs(old, doc, "data") && !differs(old, doc, "binaryData") &&
	    !differs(old, doc, "immutable"))
		return 0;
	return mpijob__local_reply_invalid(reply, old->kind, old->name, "FieldValueForbidden",
	    "data",
	    mpijob__base_text_format("Forbidden: field is immutable when `immutable` is set"));
}

int mpijob__local_rules_change(const struct mpijob__local_object *old, mpijob_doc *doc,
    struct mpijob__local_reply *reply)
{
	int rc = 0;

	if (old->kind->id == MPIJOB__LOCAL_KIND_POD && differs(old, doc, "spec"))
		rc = mpijob__local_reply_unsupported(reply, old->kind, old->name,
		    "changes to the spec of a pod");
	else if (old->kind->id == MPIJOB__LOCAL_KIND_JOB)
		rc = change_job(old, doc, reply);
	else if (old->kind->id == MPIJOB__LOCAL_KIND_SECRET ||
		 old->kind->id == MPIJOB__LOCAL_KIND_CONFIG_MAP)
		rc = change_data(old, doc, reply);
	if (!rc && !reply->status && mpijob_doc_error(doc))
		rc = MPIJOB_ERR_NOMEM;
	return rc || reply->status ? rc : check_object(old->kind, doc, reply);
}
