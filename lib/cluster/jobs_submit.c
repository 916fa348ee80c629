/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sending a job, and finding out what became of it.
 *
 * Only this file knows when a create whose answer was lost has happened: the job that is there holds all that was sent,
 * lives, and nobody but us is named as the author of its fields. What cannot be known is said to be unknown.
 */
#include "cluster/jobs.h"

#include "base/diag.h"
#include "base/struct.h"
#include "job/job.h"

#include <string.h>

#define QUERY_MOST 6

/* One job on its way. */
struct sending {
	mpijob_client *client;
	const mpijob *job;
	struct mpijob_submit_options options;
	struct mpijob_target target; /* without a name: the collection */
	const char *name;            /* NULL: the server makes one */
	const char *query[QUERY_MOST];
	mpijob_doc *body;
};

/* --- comparing --- */

static int holds_map(const mpijob_node *stored, const mpijob_node *sent)
{
	for (size_t i = 0; i < mpijob_node_count(sent); i++) {
		const mpijob_node *value = mpijob_node_at(sent, i);
		const mpijob_node *other = mpijob_node_get(stored, mpijob_node_key(sent, i));

		if (!other && mpijob_node_kind(value) == MPIJOB_NODE_NULL)
			continue;
		if (!mpijob__jobs_holds(other, value))
			return 0;
	}
	return 1;
}

int mpijob__jobs_holds(const mpijob_node *stored, const mpijob_node *sent)
{
	int32_t kind = mpijob_node_kind(sent);

	if (mpijob_node_kind(stored) != kind)
		return 0;
	if (kind == MPIJOB_NODE_MAP)
		return holds_map(stored, sent);
	if (kind != MPIJOB_NODE_LIST)
		return mpijob_node_equal(stored, sent);
	if (mpijob_node_count(stored) != mpijob_node_count(sent))
		return 0;
	for (size_t i = 0; i < mpijob_node_count(sent); i++)
		if (!mpijob__jobs_holds(mpijob_node_at(stored, i), mpijob_node_at(sent, i)))
			return 0;
	return 1;
}

/* Controllers that write a status are no authors. A server that does not tell names nobody. */
static int has_other_author(const mpijob_node *stored, const char *manager)
{
	const mpijob_node *list = mpijob_node_find(stored, "metadata.managedFields");

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *entry = mpijob_node_at(list, i);
		const char *given = mpijob_node_string(mpijob_node_get(entry, "manager"));

		if (!mpijob_node_find(entry, "fieldsV1.f:spec"))
			continue;
		if (!given || strcmp(given, manager) != 0)
			return 1;
	}
	return 0;
}

static int is_ours(const struct sending *sending, const mpijob_node *stored)
{
	return !mpijob_node_find(stored, "metadata.deletionTimestamp") &&
	       mpijob__jobs_holds(stored, mpijob_doc_root(sending->body)) &&
	       !has_other_author(stored, sending->options.field_manager);
}

/* --- sending --- */

static void put_query(struct sending *sending, const char *name, const char *value)
{
	sending->query[sending->target.query_count++] = name;
	sending->query[sending->target.query_count++] = value;
}

static void set_query(struct sending *sending, const char *validation)
{
	sending->target.query = sending->query;
	sending->target.query_count = 0;
	if (!sending->options.apply)
		put_query(sending, "fieldManager", sending->options.field_manager);
	if (validation)
		put_query(sending, "fieldValidation", validation);
	if (sending->options.dry_run)
		put_query(sending, "dryRun", "All");
}

static int send_once(struct sending *sending, const char *validation, mpijob_doc **stored, mpijob_diag *diag)
{
	struct mpijob_apply_options apply = MPIJOB_APPLY_OPTIONS_INIT;
	struct mpijob_target target;
	const mpijob_node *body = mpijob_doc_root(sending->body);

	set_query(sending, validation);
	target = sending->target;
	if (!sending->options.apply)
		return mpijob_client_create(sending->client, &target, body, stored, diag);
	apply.field_manager = sending->options.field_manager;
	apply.force = sending->options.force;
	target.name = sending->name;
	return mpijob_client_apply(sending->client, &target, body, &apply, stored, diag);
}

static int say_not_strict(mpijob_diag *diag)
{
	return mpijob__diag_addf(diag, MPIJOB_SEVERITY_WARNING, "not-strict", NULL, NULL, NULL,
				 "the server cannot refuse fields that it does not know, and was not asked to");
}

/*
 * Strict where the server can; one that cannot is asked without, unless strictness was asked for. `diag` holds nothing
 * but what is said here.
 */
static int send_job(struct sending *sending, mpijob_doc **stored, mpijob_diag *diag)
{
	const char *validation = sending->options.field_validation;
	int rc = send_once(sending, validation ? validation : "Strict", stored, diag);

	if (rc != MPIJOB_ERR_UNSUPPORTED || validation)
		return rc;
	mpijob_diag_clear(diag);
	rc = send_once(sending, NULL, stored, diag);
	return rc ? rc : say_not_strict(diag);
}

int mpijob__jobs_lost(int code, const mpijob_diag *diag)
{
	if (code == MPIJOB_ERR_IO || code == MPIJOB_ERR_TIMEOUT)
		return 1;
	for (size_t i = 0; code == MPIJOB_ERR_SERVER && i < mpijob_diag_count(diag); i++) {
		const char *reason = mpijob_diag_at(diag, i)->reason;

		if (reason && strcmp(reason, "Timeout") == 0)
			return 1;
	}
	return 0;
}

int mpijob__jobs_say_unknown(const char *what, mpijob_diag *diag)
{
	return mpijob__diag_addf(diag, MPIJOB_SEVERITY_ERROR, "unknown-outcome", NULL, NULL, NULL,
				 "the answer was lost, so the job may have been %s", what);
}

/* The answer was lost: 0 when the job is there as it was sent, else what was lost, said to be unknown. */
static int look_after(struct sending *sending, int lost, mpijob_doc **stored, mpijob_diag *diag)
{
	struct mpijob_target target = sending->target;
	mpijob_doc *found = NULL;
	int rc;

	if (sending->options.dry_run)
		return lost;
	if (sending->options.apply || !sending->name) {
		(void)mpijob__jobs_say_unknown(sending->options.apply ? "changed, or not"
							 : "created, under a name of the server's, or not",
				  diag);
		return lost;
	}
	target.name = sending->name;
	target.query = NULL;
	target.query_count = 0;
	rc = mpijob_client_get(sending->client, &target, &found, NULL);
	if (rc == 0 && is_ours(sending, mpijob_doc_root(found))) {
		*stored = found;
		return 0;
	}
	if (rc == 0)
		(void)mpijob__jobs_say_unknown("created and changed, or somebody else's was there before", diag);
	else
		(void)mpijob__jobs_say_unknown(rc == MPIJOB_ERR_NOT_FOUND
					  ? "created and deleted, or is on its way; it is not there now"
					  : "created, or not; it cannot be looked for",
				  diag);
	mpijob_doc_free(found);
	return rc == MPIJOB_ERR_NOMEM || rc == MPIJOB_ERR_CANCELLED ? rc : lost;
}

static int submit(struct sending *sending, mpijob **out, mpijob_diag *diag)
{
	mpijob_diag *said = mpijob_diag_new();
	mpijob_doc *stored = NULL;
	int rc = said ? send_job(sending, &stored, said) : MPIJOB_ERR_NOMEM, lost = said && mpijob__jobs_lost(rc, said);

	if (lost)
		rc = look_after(sending, rc, &stored, said);
	/* That an answer was lost is no news when all is well. */
	if (rc == 0 && lost)
		mpijob_diag_clear(said);
	if (mpijob__jobs_place_findings(sending->job, said, diag) && rc)
		rc = MPIJOB_ERR_NOMEM;
	if (rc == 0 && out)
		rc = mpijob_from_node(mpijob_doc_root(stored), mpijob_doc_source(stored), out, diag);
	mpijob_doc_free(stored);
	mpijob_diag_free(said);
	return rc;
}

/* --- what is sent --- */

static int refuse(const mpijob *job, const char *id, const char *reason, const char *field, const char *message,
		  mpijob_diag *diag)
{
	const mpijob_node *node = mpijob_node_find(mpijob__job_node(job), field);
	struct mpijob__place place = { mpijob__job_source(job), mpijob_node_line(node), mpijob_node_column(node) };

	if (mpijob__diag_addf(diag, MPIJOB_SEVERITY_ERROR, id, reason, field, &place, "%s", message))
		return MPIJOB_ERR_NOMEM;
	return MPIJOB_ERR_SPEC;
}

static int aim(struct sending *sending, mpijob_diag *diag)
{
	const mpijob_node *root = mpijob__job_node(sending->job);
	const char *namespace_ = mpijob_namespace(sending->job), *wanted = sending->options.namespace_;
	const char *generate = mpijob_node_string(mpijob_node_find(root, "metadata.generateName"));
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	sending->name = mpijob_name(sending->job);
	if (sending->name && !*sending->name)
		sending->name = NULL;
	if (namespace_ && !*namespace_)
		namespace_ = NULL;
	if (!sending->name && (sending->options.apply || !generate || !*generate))
		return refuse(sending->job, "missing", "Required", "metadata.name",
			      sending->options.apply ? "give the job a name to apply it"
						     : "give the job a name, or generateName",
			      diag);
	if (namespace_ && wanted && strcmp(namespace_, wanted) != 0)
		return refuse(sending->job, "other-namespace", "Invalid", "metadata.namespace",
			      "the job names another namespace than the one that it is sent to", diag);
	target.api_version = mpijob_node_string(mpijob_node_get(root, "apiVersion"));
	if (!target.api_version)
		target.api_version = MPIJOB__JOBS_VERSION;
	target.kind = MPIJOB__JOBS_KIND;
	target.namespace_ = namespace_ ? namespace_ : wanted ? wanted : "default";
	sending->target = target;
	return 0;
}

static int make_body(struct sending *sending)
{
	sending->body = mpijob_doc_from_node(mpijob__job_node(sending->job));
	if (!sending->body)
		return MPIJOB_ERR_NOMEM;
	mpijob_node_remove(mpijob_doc_edit(sending->body), "status");
	return mpijob_doc_error(sending->body);
}

int mpijob_client_submit(mpijob_client *client, const mpijob *job, const struct mpijob_submit_options *options,
			 mpijob **out, mpijob_diag *diag)
{
	struct sending sending = { 0 };
	int rc = client && job ? mpijob__struct_check(&sending.options, sizeof(sending.options), options)
			       : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	sending.client = client;
	sending.job = job;
	if (!sending.options.field_manager)
		sending.options.field_manager = "mpijob";
	rc = aim(&sending, diag);
	if (rc == 0)
		rc = make_body(&sending);
	if (rc == 0)
		rc = submit(&sending, out, diag);
	mpijob_doc_free(sending.body);
	return rc;
}
