/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small changes of MPIJobs that exist, and waiting for their conditions.
 *
 * A change is decided by what was read, and written with the resourceVersion of just that: so a job that ends in
 * between is noticed, and somebody else's change is looked at again. This needs no more of a server than a merge patch.
 * It also makes an answer that was lost harmless: the job is looked at, and if it is not as wanted the change is decided
 * anew; of the two patches only one can happen, since the first makes the version of the second old, or the other way.
 */
#include "cluster/jobs.h"

#include "base/diag.h"
#include "base/text.h"

#include <mpijob/watch.h>

#include <string.h>

#define TRIES 10 /* a job whose status changes all the time must not keep us for ever */

static struct mpijob_target job_target(const char *namespace_, const char *name)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = MPIJOB__JOBS_VERSION;
	target.kind = MPIJOB__JOBS_KIND;
	target.namespace_ = namespace_;
	target.name = name;
	return target;
}

const char *mpijob__jobs_condition(const mpijob_node *job, const char *type)
{
	const mpijob_node *list = mpijob_node_find(job, "status.conditions");

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *condition = mpijob_node_at(list, i);
		const char *given = mpijob_node_string(mpijob_node_get(condition, "type"));
		const char *status = mpijob_node_string(mpijob_node_get(condition, "status"));
		const char *message = mpijob_node_string(mpijob_node_get(condition, "message"));

		if (given && status && strcmp(given, type) == 0 && strcmp(status, "True") == 0)
			return message ? message : "";
	}
	return NULL;
}

const char *mpijob__jobs_ended(const mpijob_node *job)
{
	if (mpijob__jobs_condition(job, "Succeeded"))
		return "Succeeded";
	return mpijob__jobs_condition(job, "Failed") ? "Failed" : NULL;
}

int mpijob_client_get_job(mpijob_client *client, const char *namespace_, const char *name, mpijob **out,
			  mpijob_diag *diag)
{
	struct mpijob_target target = job_target(namespace_, name);
	mpijob_doc *doc = NULL;
	int rc;

	if (!client || !namespace_ || !name || !out)
		return MPIJOB_ERR_USAGE;
	rc = mpijob_client_get(client, &target, &doc, diag);
	if (rc == 0)
		rc = mpijob_from_node(mpijob_doc_root(doc), mpijob_doc_source(doc), out, diag);
	mpijob_doc_free(doc);
	return rc;
}

/* The answer was lost: 0 when it is gone or going, or another one has its name; else `lost`, said to be unknown. */
static int look_after_deletion(mpijob_client *client, const struct mpijob_target *target, const char *uid, int lost,
			       mpijob_diag *diag)
{
	mpijob_doc *job = NULL;
	int rc = mpijob_client_get(client, target, &job, NULL), done = rc == MPIJOB_ERR_NOT_FOUND;
	const mpijob_node *metadata = rc == 0 ? mpijob_node_get(mpijob_doc_root(job), "metadata") : NULL;
	const char *has = mpijob_node_string(mpijob_node_get(metadata, "uid"));

	if (rc == 0)
		done = mpijob_node_get(metadata, "deletionTimestamp") || (uid && has && strcmp(uid, has) != 0);
	mpijob_doc_free(job);
	if (done)
		return 0;
	if (mpijob__jobs_say_unknown(rc == 0 ? "deleted, or not; it is there still" : "deleted, or not; it cannot be looked at",
				     diag))
		return MPIJOB_ERR_NOMEM;
	return rc == MPIJOB_ERR_NOMEM || rc == MPIJOB_ERR_CANCELLED ? rc : lost;
}

int mpijob_client_delete_job(mpijob_client *client, const char *namespace_, const char *name, const char *uid,
			     const char *propagation, mpijob_diag *diag)
{
	struct mpijob_target target = job_target(namespace_, name);
	mpijob_diag *said;
	int rc;

	if (!client || !namespace_ || !name)
		return MPIJOB_ERR_USAGE;
	said = mpijob_diag_new();
	rc = said ? mpijob_client_delete(client, &target, uid, propagation ? propagation : "Background", said)
		  : MPIJOB_ERR_NOMEM;
	if (said && mpijob__jobs_lost(rc, said)) {
		rc = look_after_deletion(client, &target, uid, rc, said);
		/* That an answer was lost is no news when all is well. */
		if (rc == 0)
			mpijob_diag_clear(said);
	}
	if (mpijob__jobs_place_findings(NULL, said, diag) && rc)
		rc = MPIJOB_ERR_NOMEM;
	mpijob_diag_free(said);
	return rc;
}

/* --- changes --- */

struct change {
	/* What to write into the patch. 1: it is there; 0: nothing is to be done; negative: it must not be done. */
	int (*make)(const struct change *change, const mpijob_node *job, mpijob_doc *patch, mpijob_diag *diag);
	int (*is_made)(const struct change *change, const mpijob_node *job);
	int32_t value;
	int32_t expected;
};

static int refuse_ended(const mpijob_node *job, mpijob_diag *diag)
{
	const char *ended = mpijob__jobs_ended(job);

	if (!ended)
		return 0;
	if (mpijob__diag_addf(diag, MPIJOB_SEVERITY_ERROR, "job-ended", NULL, "status.conditions", NULL,
			      "the job has ended (%s) and is left as it is", ended))
		return MPIJOB_ERR_NOMEM;
	return MPIJOB_ERR_REJECTED;
}

static int make_patch(const struct change *change, const mpijob_node *job, mpijob_doc *patch, mpijob_diag *diag)
{
	const char *version = mpijob_node_string(mpijob_node_find(job, "metadata.resourceVersion"));
	const char *uid = mpijob_node_string(mpijob_node_find(job, "metadata.uid"));
	mpijob_node *metadata = mpijob_doc_make(patch, "metadata");
	int rc = refuse_ended(job, diag);

	if (rc)
		return rc;
	mpijob_node_put_string(patch, metadata, "resourceVersion", version);
	mpijob_node_put_string(patch, metadata, "uid", uid);
	rc = change->make(change, job, patch, diag);
	return rc > 0 && mpijob_doc_error(patch) ? mpijob_doc_error(patch) : rc;
}

/* Look, and tell when that cannot tell what became of a change whose answer was lost. */
static int look(mpijob_client *client, const struct mpijob_target *target, int lost, mpijob_doc **job, mpijob_diag *diag)
{
	int rc = mpijob_client_get(client, target, job, diag);

	if (rc == 0 || lost == 0 || rc == MPIJOB_ERR_NOT_FOUND)
		return rc;
	if (mpijob__jobs_say_unknown("changed, or not; it cannot be looked at", diag))
		return MPIJOB_ERR_NOMEM;
	return rc == MPIJOB_ERR_NOMEM || rc == MPIJOB_ERR_CANCELLED ? rc : lost;
}

/* What a patch came to. 1: it is to be looked at again. */
static int judge(int rc, int *lost, const mpijob_diag *said, mpijob_diag *diag)
{
	int again = mpijob__jobs_lost(rc, said);

	if (rc == MPIJOB_ERR_CONFLICT || (again && *lost == 0)) {
		*lost = again ? rc : *lost;
		return 1;
	}
	if (mpijob__jobs_place_findings(NULL, said, diag) && rc)
		return MPIJOB_ERR_NOMEM;
	if (again && mpijob__jobs_say_unknown("changed, or not; its answer was lost a second time", diag))
		return MPIJOB_ERR_NOMEM;
	return rc;
}

/*
 * Look, decide, write what was decided of just that. 1: somebody was faster, or the answer was lost: `*lost` is then why,
 * and stays so.
 */
static int try_change(mpijob_client *client, const struct mpijob_target *target, const struct change *change, int *lost,
		      mpijob_diag *diag)
{
	mpijob_doc *job = NULL, *patch = mpijob_doc_new();
	mpijob_diag *first = mpijob_diag_new();
	int rc = patch && first ? look(client, target, *lost, &job, diag) : MPIJOB_ERR_NOMEM;

	if (rc == 0 && !(*lost && change->is_made(change, mpijob_doc_root(job))))
		rc = make_patch(change, mpijob_doc_root(job), patch, diag);
	if (rc > 0)
		rc = judge(mpijob_client_patch(client, target, mpijob_doc_root(patch), NULL, first), lost, first, diag);
	mpijob_diag_free(first);
	mpijob_doc_free(patch);
	mpijob_doc_free(job);
	return rc;
}

static int change_job(mpijob_client *client, const char *namespace_, const char *name, const struct change *change,
		      mpijob_diag *diag)
{
	struct mpijob_target target = job_target(namespace_, name);
	int rc = 1, lost = 0;

	if (!client || !namespace_ || !name)
		return MPIJOB_ERR_USAGE;
	for (int i = 0; i < TRIES && rc > 0; i++)
		rc = try_change(client, &target, change, &lost, diag);
	if (rc <= 0)
		return rc;
	if (mpijob__diag_addf(diag, MPIJOB_SEVERITY_ERROR, "server-refused", "Conflict", NULL, NULL,
			      "the job was changed by others %d times in a row", TRIES))
		return MPIJOB_ERR_NOMEM;
	return MPIJOB_ERR_CONFLICT;
}

static int is_suspended(const struct change *change, const mpijob_node *job)
{
	int now = 0;

	(void)mpijob_node_bool(mpijob_node_find(job, "spec.runPolicy.suspend"), &now);
	return now == (change->value != 0);
}

static int make_suspend(const struct change *change, const mpijob_node *job, mpijob_doc *patch, mpijob_diag *diag)
{
	(void)diag;
	if (is_suspended(change, job))
		return 0;
	mpijob_node_put_bool(patch, mpijob_doc_make(patch, "spec.runPolicy"), "suspend", change->value);
	return 1;
}

int mpijob_client_suspend(mpijob_client *client, const char *namespace_, const char *name, int on, mpijob_diag *diag)
{
	struct change change = { make_suspend, is_suspended, on != 0, 0 };

	return change_job(client, namespace_, name, &change, diag);
}

static int is_scaled(const struct change *change, const mpijob_node *job)
{
	int64_t now = 0;

	return mpijob_node_int(mpijob_node_find(job, "spec.mpiReplicaSpecs.Worker.replicas"), &now) && now == change->value;
}

static int make_scale(const struct change *change, const mpijob_node *job, mpijob_doc *patch, mpijob_diag *diag)
{
	const mpijob_node *worker = mpijob_node_find(job, "spec.mpiReplicaSpecs.Worker");
	int64_t now = 1; /* what the operator makes of none */

	if (mpijob_node_kind(worker) != MPIJOB_NODE_MAP) {
		if (mpijob__diag_addf(diag, MPIJOB_SEVERITY_ERROR, "missing", "Required",
				      "spec.mpiReplicaSpecs[Worker]", NULL,
				      "the job has no workers whose number could be set"))
			return MPIJOB_ERR_NOMEM;
		return MPIJOB_ERR_REJECTED;
	}
	(void)mpijob_node_int(mpijob_node_get(worker, "replicas"), &now);
	if (change->expected >= 0 && now != change->expected) {
		if (mpijob__diag_addf(diag, MPIJOB_SEVERITY_ERROR, "unexpected-replicas", NULL,
				      "spec.mpiReplicaSpecs[Worker].replicas", NULL,
				      "the job has %lld workers and not %d; nothing was changed", (long long)now,
				      (int)change->expected))
			return MPIJOB_ERR_NOMEM;
		return MPIJOB_ERR_CONFLICT;
	}
	if (is_scaled(change, job))
		return 0;
	mpijob_node_put_int(patch, mpijob_doc_make(patch, "spec.mpiReplicaSpecs.Worker"), "replicas", change->value);
	return 1;
}

int mpijob_client_scale(mpijob_client *client, const char *namespace_, const char *name, int32_t workers,
			int32_t expected, mpijob_diag *diag)
{
	struct change change = { make_scale, is_scaled, workers, expected };

	if (workers < 0)
		return MPIJOB_ERR_USAGE;
	return change_job(client, namespace_, name, &change, diag);
}

/* --- waiting --- */

struct waiting {
	const char *condition;
	mpijob_diag *diag;
	mpijob_text uid; /* of the job that was there first */
	int seen;
};

/* The job that was waited for is not there any more, or never was. */
static int is_gone(struct waiting *waiting, const mpijob_node *job, int *gone)
{
	const char *uid = mpijob_node_string(mpijob_node_find(job, "metadata.uid"));
	int rc = 0;

	*gone = !job;
	if (!job)
		return 0;
	if (!waiting->seen)
		rc = mpijob__text_puts(&waiting->uid, uid ? uid : "");
	else
		*gone = strcmp(mpijob_text_data(&waiting->uid), uid ? uid : "") != 0;
	waiting->seen = rc == 0;
	return rc;
}

static int tell_gone(const struct waiting *waiting)
{
	if (mpijob__diag_addf(waiting->diag, MPIJOB_SEVERITY_ERROR, "server-refused", "NotFound", NULL, NULL, "%s",
			      waiting->seen ? "the job was deleted meanwhile" : "there is no such job"))
		return MPIJOB_ERR_NOMEM;
	return MPIJOB_ERR_NOT_FOUND;
}

static int tell_ended(const struct waiting *waiting, const mpijob_node *job, const char *ended)
{
	const char *message = mpijob__jobs_condition(job, ended);

	if (mpijob__diag_addf(waiting->diag, MPIJOB_SEVERITY_ERROR, "job-ended", NULL, "status.conditions", NULL,
			      "the job has ended (%s) and will not be %s any more%s%s", ended, waiting->condition,
			      *message ? ": " : "", message))
		return MPIJOB_ERR_NOMEM;
	return MPIJOB_ERR_SPEC;
}

static int is_ready(void *user, const mpijob_node *job)
{
	struct waiting *waiting = user;
	const char *ended;
	int gone, rc = is_gone(waiting, job, &gone);

	if (rc)
		return rc;
	if (strcmp(waiting->condition, "Deleted") == 0)
		return gone;
	if (gone)
		return tell_gone(waiting);
	ended = mpijob__jobs_ended(job);
	if (strcmp(waiting->condition, "Finished") == 0)
		return ended != NULL;
	if (mpijob__jobs_condition(job, waiting->condition))
		return 1;
	return ended ? tell_ended(waiting, job, ended) : 0;
}

int mpijob_client_wait_job(mpijob_client *client, const char *namespace_, const char *name, const char *condition,
			   int64_t timeout_ms, mpijob **out, mpijob_diag *diag)
{
	struct mpijob_target target = job_target(namespace_, name);
	struct waiting waiting = { condition, diag, { 0 }, 0 };
	mpijob_doc *doc = NULL;
	int rc;

	if (!client || !namespace_ || !name || !condition)
		return MPIJOB_ERR_USAGE;
	rc = mpijob_client_wait(client, &target, timeout_ms, is_ready, &waiting, &doc, diag);
	if (rc == 0 && out) {
		if (doc && strcmp(condition, "Deleted") != 0)
			rc = mpijob_from_node(mpijob_doc_root(doc), mpijob_doc_source(doc), out, diag);
		else
			*out = NULL;
	}
	mpijob_doc_free(doc);
	mpijob__text_release(&waiting.uid);
	return rc;
}
