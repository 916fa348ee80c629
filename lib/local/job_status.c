/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status of a batch/v1 Job: the conditions, times and counts that the real controller writes.
 * FailureTarget and SuccessCriteriaMet come first; Failed and Complete follow when no pod is left
 * that is active or terminating.
 */
#include "local/job_status.h"
#include "base/clock.h"
#include "base/time.h"
#include "local/verbs.h"

#include <mpijob/job.h>

#include <string.h>

const mpijob_node *mpijob__local_job_status_condition(const struct mpijob__local_object *object,
    const char *type)
{
	return mpijob_condition_find(mpijob_doc_root(object->doc), type, NULL);
}

int mpijob__local_job_status_is_true(const struct mpijob__local_object *object, const char *type)
{
	return mpijob_condition_find(mpijob_doc_root(object->doc), type, "True") != NULL;
}

int mpijob__local_job_status_finished(const struct mpijob__local_object *job)
{
	return mpijob__local_job_status_is_true(job, "Complete") ||
	       mpijob__local_job_status_is_true(job, "Failed");
}

int mpijob__local_job_status_failing(const struct mpijob__local_object *job,
    struct mpijob__local_job_summary *summary)
{
	const mpijob_node *condition = mpijob__local_job_status_condition(job, "FailureTarget");

	if (!mpijob__local_job_status_is_true(job, "FailureTarget"))
		return 0;
	summary->failed_reason = mpijob_node_string(mpijob_node_get(condition, "reason"));
	summary->failed_message = mpijob_node_string(mpijob_node_get(condition, "message"));
	return summary->failed_reason != NULL;
}

static mpijob_node *edit_condition(mpijob_doc *doc, const char *type)
{
	mpijob_node *list = mpijob_doc_edit(doc, "status.conditions");
	mpijob_node *condition;

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const char *text =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(list, i), "type"));

		if (text && strcmp(text, type) == 0)
			return mpijob_node_edit_at(list, i);
	}
	if (!list)
		list = mpijob_node_put_list(doc, mpijob_doc_make(doc, "status"), "conditions");
	condition = mpijob_node_append_map(doc, list);
	mpijob_node_put_string(doc, condition, "type", type);
	return condition;
}

static void set_condition(mpijob_doc *doc, const char *type, const char *status, const char *reason,
    const char *message)
{
	mpijob_node *condition = edit_condition(doc, type);
	const char *old = mpijob_node_string(mpijob_node_get(condition, "status"));
	char now[MPIJOB__BASE_TIME_SIZE];

	if (old && strcmp(old, status) == 0)
		return;
	(void)mpijob__base_time_format(mpijob__base_clock_wall_ms() / 1000, now);
	mpijob_node_put_string(doc, condition, "status", status);
	mpijob_node_put_string(doc, condition, "lastProbeTime", now);
	mpijob_node_put_string(doc, condition, "lastTransitionTime", now);
	mpijob_node_put_string(doc, condition, "reason", reason);
	mpijob_node_put_string(doc, condition, "message", message);
}

static void put_count(mpijob_doc *doc, mpijob_node *status, const char *key, int64_t count,
    int zero)
{
	if (count > 0 || zero)
		mpijob_node_put_int(doc, status, key, count);
	else
		mpijob_node_remove(status, key);
}

static void write_counts(mpijob_doc *doc, mpijob_node *status,
    const struct mpijob__local_job_summary *summary)
{
	put_count(doc, status, "active", summary->active, 0);
	put_count(doc, status, "ready", summary->ready, 1);
	put_count(doc, status, "terminating", summary->terminating, 1);
	put_count(doc, status, "failed", summary->failed, 0);
	put_count(doc, status, "succeeded", summary->succeeded, 0);
}

static void write_suspension(const struct mpijob__local_object *job, mpijob_doc *doc,
    mpijob_node *status, const struct mpijob__local_job_summary *summary)
{
	char now[MPIJOB__BASE_TIME_SIZE];

	if (summary->suspended) {
		set_condition(doc, "Suspended", "True", "JobSuspended", "Job suspended");
		mpijob_node_remove(status, "startTime");
		return;
	}
	if (mpijob__local_job_status_condition(job, "Suspended"))
		set_condition(doc, "Suspended", "False", "JobResumed", "Job resumed");
	if (mpijob_node_get(status, "startTime"))
		return;
	(void)mpijob__base_time_format(mpijob__base_clock_wall_ms() / 1000, now);
	mpijob_node_put_string(doc, status, "startTime", now);
}

static void write_end(mpijob_doc *doc, mpijob_node *status,
    const struct mpijob__local_job_summary *summary)
{
	static const char reached[] = "Reached expected number of succeeded pods";
	int over = summary->active == 0 && summary->terminating == 0;
	char now[MPIJOB__BASE_TIME_SIZE];

	if (summary->failed_reason) {
		set_condition(doc, "FailureTarget", "True", summary->failed_reason,
		    summary->failed_message);
		if (over)
			set_condition(doc, "Failed", "True", summary->failed_reason,
			    summary->failed_message);
		return;
	}
	set_condition(doc, "SuccessCriteriaMet", "True", "CompletionsReached", reached);
	if (!over)
		return;
	set_condition(doc, "Complete", "True", "CompletionsReached", reached);
	(void)mpijob__base_time_format(mpijob__base_clock_wall_ms() / 1000, now);
	mpijob_node_put_string(doc, status, "completionTime", now);
}

int mpijob__local_job_status_write(struct mpijob_local *local, struct mpijob__local_object *job,
    const struct mpijob__local_job_summary *summary)
{
	mpijob_doc *doc = mpijob_doc_from_node(mpijob_doc_root(job->doc), NULL);
	mpijob_node *status = mpijob_doc_make(doc, "status");

	write_counts(doc, status, summary);
	if (summary->failed_reason || summary->complete)
		write_end(doc, status, summary);
	else
		write_suspension(job, doc, status, summary);
	return mpijob__local_verbs_store(local, job, doc);
}
