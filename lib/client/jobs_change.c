/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small changes of existing MPIJobs.
 *
 * A change is based on a read and written with the resourceVersion of this read. So the call
 * notices a job that ends in between, and reads again after a change of another client. A server
 * needs to support merge patches only. A lost answer does no harm, either: the job is read again,
 * and if it is not as wanted the change is decided again. Only one of the two patches can succeed,
 * because each changes the version that the other names.
 */
#include "client/jobs.h"

#include "core/diag.h"
#include "base/text.h"
#include "client/jobs_findings.h"
#include "client/jobs_submit.h"
#include "client/task.h"

#include <string.h>

#define TRIES 10 /* limit for a job whose status changes all the time */

/* A change in progress. */
struct change {
	mpijob_task task;
	struct mpijob_target target;
	/* Write the patch. 1: there is one; 0: nothing is to be changed; negative: the change is
	 * not allowed. */
	int (*make)(const struct change *change, const mpijob_node *job, mpijob_doc *patch,
	    mpijob_diag *diag);
	int (*is_made)(const struct change *change, const mpijob_node *job);
	int32_t value;
	int32_t expected;
	int patched; /* the patch is in flight, not the read */
	int tries;
	int lost;          /* the code of a lost answer to the patch; 0: none was lost */
	mpijob_diag *said; /* resourceVersion of the patch */
};

static int refuse_ended(const mpijob_node *job, mpijob_diag *diag)
{
	const char *ended = mpijob__client_jobs_ended(job);

	if (!ended)
		return 0;
	if (mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "job-ended", NULL,
		"status.conditions", NULL, "the job has ended (%s) and is left as it is", ended))
		return MPIJOB_ERR_NOMEM;
	return MPIJOB_ERR_REJECTED;
}

static int make_patch(const struct change *change, const mpijob_node *job, mpijob_doc *patch,
    mpijob_diag *diag)
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

/* Read the job: at first, after a conflict, and after a lost answer. */
static int read_job(struct change *change)
{
	mpijob_task *task = &change->task;

	if (change->tries++ == TRIES) {
		if (mpijob__core_diag_addf(task->diag, MPIJOB_SEVERITY_ERROR, "server-refused",
			"Conflict", NULL, NULL, "the job was changed by others %d times in a row",
			TRIES))
			return MPIJOB_ERR_NOMEM;
		return MPIJOB_ERR_CONFLICT;
	}
	change->patched = 0;
	return mpijob__client_task_request(task, "GET", &change->target, NULL, NULL, 1, task->diag);
}

/* The read failed. If the answer to a patch was lost, report an unknown outcome. */
static int report_read_failure(const struct change *change, int rc)
{
	if (change->lost == 0 || rc == MPIJOB_ERR_NOT_FOUND)
		return rc;
	if (mpijob__client_jobs_report_unknown("changed, or not; it cannot be read",
		change->task.diag))
		return MPIJOB_ERR_NOMEM;
	return rc == MPIJOB_ERR_NOMEM || rc == MPIJOB_ERR_CANCELLED ? rc : change->lost;
}

/* Decide by what was read, and write a patch of exactly this version. */
static int decide(struct change *change, const mpijob_node *job)
{
	mpijob_task *task = &change->task;
	mpijob_doc *patch;
	int rc;

	if (change->lost && change->is_made(change, job))
		return 0;
	patch = mpijob_doc_new();
	rc = patch ? make_patch(change, job, patch, task->diag) : MPIJOB_ERR_NOMEM;
	if (rc > 0) {
		change->patched = 1;
		mpijob_diag_clear(change->said);
		rc = mpijob__client_task_request_node(task, "PATCH", &change->target,
		    "application/merge-patch+json", mpijob_doc_root(patch), 0, change->said);
	}
	mpijob_doc_free(patch);
	return rc;
}

/* The answer to a patch. */
static int judge(struct change *change, int rc)
{
	int again = mpijob__client_jobs_outcome_unknown(&change->task, rc);

	if (rc == MPIJOB_ERR_CONFLICT || (again && change->lost == 0)) {
		change->lost = again ? rc : change->lost;
		return read_job(change);
	}
	if (mpijob__client_jobs_place_findings(NULL, change->said, change->task.diag) && rc)
		return MPIJOB_ERR_NOMEM;
	if (again &&
	    mpijob__client_jobs_report_unknown("changed, or not; its answer was lost a second time",
		change->task.diag))
		return MPIJOB_ERR_NOMEM;
	return rc;
}

static int answered(mpijob_task *task, int code, mpijob_doc *doc)
{
	struct change *change = (struct change *)task;

	if (change->patched)
		return judge(change, code);
	code = code ? report_read_failure(change, code) : decide(change, mpijob_doc_root(doc));
	mpijob_doc_free(doc);
	return code;
}

static void release(mpijob_task *task)
{
	mpijob_diag_free(((struct change *)task)->said);
}

/* Start `wanted`, whose first members are not read. */
static int start(mpijob_client *client, const char *namespace_, const char *name,
    const struct change *wanted, const struct mpijob_task_callbacks *callbacks, mpijob_task **out,
    mpijob_diag *diag)
{
	struct mpijob_target target;
	struct change *change;
	mpijob_task *task = NULL;
	int rc = mpijob__client_jobs_task(sizeof(*change), client, namespace_, name, callbacks, out,
	    diag, &target, &task);

	if (rc)
		return rc;
	change = (struct change *)task;
	task->step = answered;
	task->release = release;
	change->target = target;
	change->make = wanted->make;
	change->is_made = wanted->is_made;
	change->value = wanted->value;
	change->expected = wanted->expected;
	change->said = mpijob_diag_new();
	return mpijob__client_task_started(task,
	    change->said ? read_job(change) : MPIJOB_ERR_NOMEM);
}

static int is_suspended(const struct change *change, const mpijob_node *job)
{
	int now = 0;

	(void)mpijob_node_bool(mpijob_node_find(job, "spec.runPolicy.suspend"), &now);
	return now == (change->value != 0);
}

static int make_suspend(const struct change *change, const mpijob_node *job, mpijob_doc *patch,
    mpijob_diag *diag)
{
	(void)diag;
	if (is_suspended(change, job))
		return 0;
	mpijob_node_put_bool(patch, mpijob_doc_make(patch, "spec.runPolicy"), "suspend",
	    change->value);
	return 1;
}

int mpijob_client_suspend_start(mpijob_client *client, const char *namespace_, const char *name,
    int on, const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag)
{
	const struct change change = { .make = make_suspend,
		.is_made = is_suspended,
		.value = on != 0 };

	return start(client, namespace_, name, &change, callbacks, out, diag);
}

static int is_scaled(const struct change *change, const mpijob_node *job)
{
	int64_t now = 0;

	return mpijob_node_int(mpijob_node_find(job, "spec.mpiReplicaSpecs.Worker.replicas"),
		   &now) &&
	       now == change->value;
}

static int make_scale(const struct change *change, const mpijob_node *job, mpijob_doc *patch,
    mpijob_diag *diag)
{
	const mpijob_node *worker = mpijob_node_find(job, "spec.mpiReplicaSpecs.Worker");
	int64_t now = 1; /* what the operator assumes when it is absent */

	if (mpijob_node_kind(worker) != MPIJOB_NODE_MAP) {
		if (mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "missing", "Required",
			"spec.mpiReplicaSpecs[Worker]", NULL,
			"the job has no workers whose number could be set"))
			return MPIJOB_ERR_NOMEM;
		return MPIJOB_ERR_REJECTED;
	}
	(void)mpijob_node_int(mpijob_node_get(worker, "replicas"), &now);
	if (change->expected >= 0 && now != change->expected) {
		if (mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "unexpected-replicas", NULL,
			"spec.mpiReplicaSpecs[Worker].replicas", NULL,
			"the job has %lld workers and not %d; nothing was changed", (long long)now,
			(int)change->expected))
			return MPIJOB_ERR_NOMEM;
		return MPIJOB_ERR_CONFLICT;
	}
	if (is_scaled(change, job))
		return 0;
	mpijob_node_put_int(patch, mpijob_doc_make(patch, "spec.mpiReplicaSpecs.Worker"),
	    "replicas", change->value);
	return 1;
}

int mpijob_client_scale_start(mpijob_client *client, const char *namespace_, const char *name,
    int32_t workers, int32_t expected, const struct mpijob_task_callbacks *callbacks,
    mpijob_task **out, mpijob_diag *diag)
{
	const struct change change = { .make = make_scale,
		.is_made = is_scaled,
		.value = workers,
		.expected = expected };

	return workers < 0 ? MPIJOB_ERR_USAGE
			   : start(client, namespace_, name, &change, callbacks, out, diag);
}
