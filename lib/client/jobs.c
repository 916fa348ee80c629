/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Get, delete and wait for MPIJobs.
 *
 * Only this file knows what the conditions of a job mean for a caller that waits, and when a
 * deletion whose answer was lost has succeeded.
 */
#include "client/delete.h"
#include "client/jobs.h"

#include "core/diag.h"
#include "base/text.h"
#include "client/jobs_findings.h"
#include "client/jobs_submit.h"
#include "client/task.h"

#include <string.h>

static struct mpijob_target job_target(const char *namespace_, const char *name)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = MPIJOB__CLIENT_JOBS_VERSION;
	target.kind = MPIJOB__CLIENT_JOBS_KIND;
	target.namespace_ = namespace_;
	target.name = name;
	return target;
}

const char *mpijob__client_jobs_ended(const mpijob_node *job)
{
	if (mpijob_condition_find(job, "Succeeded", "True"))
		return "Succeeded";
	return mpijob_condition_find(job, "Failed", "True") ? "Failed" : NULL;
}

int mpijob__client_jobs_task(size_t size, mpijob_client *client, const char *namespace_,
    const char *name, const struct mpijob_task_callbacks *callbacks, mpijob_task **handle,
    mpijob_diag *diag, struct mpijob_target *target, mpijob_task **out)
{
	mpijob_task *task = NULL;
	int rc = namespace_ && name
		     ? mpijob__client_task_new(size, client, callbacks, handle, diag, &task)
		     : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	*target = job_target(mpijob__client_task_copy(task, namespace_, &rc),
	    mpijob__client_task_copy(task, name, &rc));
	if (rc)
		mpijob_task_cancel(task);
	else
		*out = task;
	return rc;
}

static int got_job(mpijob_task *task, int code, mpijob_doc *doc)
{
	if (code == 0)
		code = mpijob_from_node(mpijob_doc_root(doc), mpijob_doc_source(doc), &task->job,
		    task->diag);
	mpijob_doc_free(doc);
	return code;
}

int mpijob_client_get_job_start(mpijob_client *client, const char *namespace_, const char *name,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag)
{
	struct mpijob_target target;
	mpijob_task *task = NULL;
	int rc = mpijob__client_jobs_task(sizeof(*task), client, namespace_, name, callbacks, out,
	    diag, &target, &task);

	if (rc)
		return rc;
	task->step = got_job;
	return mpijob__client_task_started(task,
	    mpijob__client_task_request(task, "GET", &target, NULL, NULL, 1, diag));
}

/* ---- deleting ---- */

struct deletion {
	mpijob_task task;
	struct mpijob_target target;
	const char *uid;   /* NULL: any */
	mpijob_diag *said; /* of the deletion */
	int lost;          /* the code of the lost answer; 0: none was lost */
};

/* The answer was lost: 0 when the job is deleted, is being deleted, or another job has its name;
 * else `lost`, with a finding that the outcome is unknown. */
static int after_lost_deletion(const struct deletion *deletion, int rc, const mpijob_doc *job)
{
	const mpijob_node *metadata =
	    rc == 0 ? mpijob_node_get(mpijob_doc_root(job), "metadata") : NULL;
	const char *has = mpijob_node_string(mpijob_node_get(metadata, "uid")),
		   *uid = deletion->uid;
	int done = rc == MPIJOB_ERR_NOT_FOUND;

	if (rc == 0)
		done = mpijob_node_get(metadata, "deletionTimestamp") ||
		       (uid && has && strcmp(uid, has) != 0);
	if (done)
		return 0;
	if (mpijob__client_jobs_report_unknown(rc == 0 ? "deleted, or not; it is there still"
						       : "deleted, or not; it cannot be read",
		deletion->said))
		return MPIJOB_ERR_NOMEM;
	return rc == MPIJOB_ERR_NOMEM || rc == MPIJOB_ERR_CANCELLED ? rc : deletion->lost;
}

static int deleted(mpijob_task *task, int code, mpijob_doc *doc)
{
	struct deletion *deletion = (struct deletion *)task;

	if (!deletion->lost && mpijob__client_jobs_outcome_unknown(task, code)) {
		deletion->lost = code;
		return mpijob__client_task_request(task, "GET", &deletion->target, NULL, NULL, 1,
		    NULL);
	}
	if (deletion->lost) {
		code = after_lost_deletion(deletion, code, doc);
		/* If the job is deleted, the lost answer is not reported. */
		if (code == 0)
			mpijob_diag_clear(deletion->said);
	}
	mpijob_doc_free(doc);
	if (mpijob__client_jobs_place_findings(NULL, deletion->said, task->diag) && code)
		code = MPIJOB_ERR_NOMEM;
	return code;
}

static void release_deletion(mpijob_task *task)
{
	mpijob_diag_free(((struct deletion *)task)->said);
}

int mpijob_client_delete_job_start(mpijob_client *client, const char *namespace_, const char *name,
    const char *uid, const char *propagation, const struct mpijob_task_callbacks *callbacks,
    mpijob_task **out, mpijob_diag *diag)
{
	struct mpijob_delete_options options = MPIJOB_DELETE_OPTIONS_INIT;
	struct mpijob_target target;
	struct deletion *deletion;
	mpijob_task *task = NULL;
	int rc = mpijob__client_jobs_task(sizeof(*deletion), client, namespace_, name, callbacks,
	    out, diag, &target, &task);

	if (rc)
		return rc;
	deletion = (struct deletion *)task;
	task->step = deleted;
	task->release = release_deletion;
	deletion->target = target;
	deletion->uid = mpijob__client_task_copy(task, uid, &rc);
	options.uid = uid;
	options.propagation = propagation ? propagation : "Background";
	deletion->said = mpijob_diag_new();
	if (!deletion->said)
		rc = MPIJOB_ERR_NOMEM;
	if (rc == 0)
		rc = mpijob__client_task_request_delete(task, &target, &options, deletion->said);
	return mpijob__client_task_started(task, rc);
}

/* ---- waiting ---- */

struct waiting {
	mpijob_task task;
	const char *condition;
	mpijob_text uid; /* UID of the job that existed at first */
	int seen;
};

/* The job does not exist any more, or never did. */
static int is_deleted(struct waiting *waiting, const mpijob_node *job, int *gone)
{
	const char *uid = mpijob_node_string(mpijob_node_find(job, "metadata.uid"));
	int rc = 0;

	*gone = !job;
	if (!job)
		return 0;
	if (!waiting->seen)
		rc = mpijob__base_text_puts(&waiting->uid, uid ? uid : "");
	else
		*gone = strcmp(mpijob_text_data(&waiting->uid), uid ? uid : "") != 0;
	waiting->seen = rc == 0;
	return rc;
}

static int report_deleted(const struct waiting *waiting)
{
	if (mpijob__core_diag_addf(waiting->task.diag, MPIJOB_SEVERITY_ERROR, "server-refused",
		"NotFound", NULL, NULL, "%s",
		waiting->seen ? "the job was deleted meanwhile" : "there is no such job"))
		return MPIJOB_ERR_NOMEM;
	return MPIJOB_ERR_NOT_FOUND;
}

static int report_ended(const struct waiting *waiting, const mpijob_node *job, const char *ended)
{
	const char *message = mpijob_node_string(
	    mpijob_node_get(mpijob_condition_find(job, ended, "True"), "message"));

	if (mpijob__core_diag_addf(waiting->task.diag, MPIJOB_SEVERITY_ERROR, "job-ended", NULL,
		"status.conditions", NULL, "the job has ended (%s) and will not be %s any more%s%s",
		ended, waiting->condition, message && *message ? ": " : "", message ? message : ""))
		return MPIJOB_ERR_NOMEM;
	return MPIJOB_ERR_SPEC;
}

static int is_ready(void *user, const mpijob_node *job)
{
	struct waiting *waiting = user;
	const char *ended;
	int gone, rc = is_deleted(waiting, job, &gone);

	if (rc)
		return rc;
	if (strcmp(waiting->condition, "Deleted") == 0)
		return gone;
	if (gone)
		return report_deleted(waiting);
	ended = mpijob__client_jobs_ended(job);
	if (strcmp(waiting->condition, "Finished") == 0)
		return ended != NULL;
	if (mpijob_condition_find(job, waiting->condition, "True"))
		return 1;
	return ended ? report_ended(waiting, job, ended) : 0;
}

static int waited(mpijob_task *task, int code, mpijob_doc *doc)
{
	const struct waiting *waiting = (const struct waiting *)task;

	if (code == 0 && doc && task->wants && strcmp(waiting->condition, "Deleted") != 0)
		code = mpijob_from_node(mpijob_doc_root(doc), mpijob_doc_source(doc), &task->job,
		    task->diag);
	mpijob_doc_free(doc);
	return code;
}

static void release_waiting(mpijob_task *task)
{
	mpijob__base_text_release(&((struct waiting *)task)->uid);
}

int mpijob_client_wait_job_start(mpijob_client *client, const char *namespace_, const char *name,
    const char *condition, int64_t timeout_ms, const struct mpijob_task_callbacks *callbacks,
    mpijob_task **out, mpijob_diag *diag)
{
	struct mpijob_task_callbacks parent;
	struct mpijob_target target;
	struct waiting *waiting;
	mpijob_task *task = NULL;
	int rc = condition ? mpijob__client_jobs_task(sizeof(*waiting), client, namespace_, name,
				 callbacks, out, diag, &target, &task)
			   : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	waiting = (struct waiting *)task;
	task->step = waited;
	task->release = release_waiting;
	parent = mpijob__client_task_child_callbacks(task);
	waiting->condition = mpijob__client_task_copy(task, condition, &rc);
	if (rc == 0)
		rc = mpijob_client_wait_start(client, &target, timeout_ms, is_ready, waiting,
		    &parent, &task->child, diag);
	return mpijob__client_task_started(task, rc ? rc : MPIJOB__CLIENT_TASK_WAITS);
}
