/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds causes in the MPIJob alone, for the case that nothing else exists: no controller handles it
 * (perhaps because the operator silently ignores an invalid job), it is suspended, and how it ended
 * according to its conditions.
 */
#include "base/api.h"
#include "diagnose/diagnose.h"

#include <mpijob/job.h>

#include <string.h>

#define ERROR   MPIJOB_SEVERITY_ERROR
#define WARNING MPIJOB_SEVERITY_WARNING

#define SILENT_S 30 /* after this time without a reaction, no operator handles the job */

/* Add the validation error of mpi-operator. It reports it only in an Event, which is deleted after
 * an hour. */
static int add_refusal(struct mpijob__diagnose_case *this)
{
	struct mpijob_default_options defaults = MPIJOB_DEFAULT_OPTIONS_INIT;
	struct mpijob_validate_options options = MPIJOB_VALIDATE_OPTIONS_INIT;
	mpijob *copy = mpijob_clone(this->evidence.job);
	mpijob_diag *diag = mpijob_diag_new();
	int code = copy && diag ? 0 : MPIJOB_ERR_NOMEM, refused = 0;

	options.reference = defaults.reference = 1;
	if (code == 0)
		code = mpijob_default(copy, &defaults, diag);
	if (code == 0)
		code = mpijob_validate(copy, &options, diag);
	if (code == MPIJOB_ERR_SPEC) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, 0);
		mpijob__diagnose_case_add(this, "job-refused", ERROR, RANK_NOT_ACTED_ON, NULL, NULL,
		    "the operator ignores this job without a message, because its spec is invalid: "
		    "%s: %s",
		    finding && finding->field ? finding->field : "spec",
		    finding ? finding->message : "wrong type");
		refused = 1;
	} else if (code == MPIJOB_ERR_NOMEM) {
		this->code = code;
	}
	mpijob_diag_free(diag);
	mpijob_free(copy);
	return refused;
}

static void check_no_controller(struct mpijob__diagnose_case *this)
{
	int64_t age = mpijob__diagnose_case_age(this, this->root, "metadata.creationTimestamp");

	if (mpijob_node_count(mpijob_node_find(this->root, "status.conditions")) ||
	    mpijob_node_count(this->pods) || this->suspended || add_refusal(this))
		return;
	if (age >= SILENT_S && mpijob_node_count(this->events) == 0)
		mpijob__diagnose_case_add(this, "no-operator", ERROR, RANK_NOT_ACTED_ON, NULL, NULL,
		    "no controller has handled this job for %lld s: it has no status, no pods and "
		    "no events",
		    (long long)age);
}

static void check_suspended(struct mpijob__diagnose_case *this)
{
	const char *queue =
	    mpijob__diagnose_case_text(this->root, "metadata.labels[kueue.x-k8s.io/queue-name]");

	if (!this->suspended)
		return;
	if (*queue)
		mpijob__diagnose_case_add(this, "job-queued", WARNING, RANK_NOT_ACTED_ON, NULL,
		    "spec.runPolicy.suspend",
		    "the job is suspended until Kueue admits it from queue %s", queue);
	else
		mpijob__diagnose_case_add(this, "job-suspended", WARNING, RANK_NOT_ACTED_ON, NULL,
		    "spec.runPolicy.suspend", "the job is suspended");
}

static void check_conditions(struct mpijob__diagnose_case *this)
{
	const mpijob_node *conditions = mpijob_node_find(this->root, "status.conditions");

	for (size_t i = 0; i < mpijob_node_count(conditions); i++)
		(void)mpijob__diagnose_case_forbidden(this,
		    mpijob__diagnose_case_text(mpijob_node_at(conditions, i), "message"));
}

void mpijob__diagnose_check_job(struct mpijob__diagnose_case *this)
{
	const char *manager = mpijob__diagnose_case_text(this->root, "spec.runPolicy.managedBy");

	check_conditions(this);
	check_suspended(this);
	if (this->failed)
		return;
	if (!*manager || strcmp(manager, MPIJOB__BASE_API_MANAGER) == 0)
		check_no_controller(this);
	else if (mpijob_node_count(mpijob_node_find(this->root, "status.conditions")) == 0)
		mpijob__diagnose_case_add(this, "managed-by-other", WARNING, RANK_NOT_ACTED_ON,
		    NULL, "spec.runPolicy.managedBy",
		    "the job is managed by %s, which has not started it; the MPI operator ignores "
		    "it",
		    manager);
}

/* ---- how it ended ---- */

static const char *text_or(const char *text, const char *other)
{
	return *text ? text : other;
}

static void check_failed(struct mpijob__diagnose_case *this)
{
	const mpijob_node *ended = mpijob_condition_find(this->evidence.launcher, "Failed", "True");
	const char *reason =
	    text_or(this->fail_reason, mpijob__diagnose_case_text(ended, "reason"));
	const char *message =
	    text_or(this->fail_message, mpijob__diagnose_case_text(ended, "message"));

	if (strstr(reason, MPIJOB__BASE_API_REASON_DEADLINE) ||
	    strcmp(mpijob__diagnose_case_text(ended, "reason"), MPIJOB__BASE_API_REASON_DEADLINE) ==
		0)
		mpijob__diagnose_case_add(this, "deadline-exceeded", ERROR, RANK_END, NULL,
		    "spec.runPolicy.activeDeadlineSeconds",
		    "the job exceeded its activeDeadlineSeconds: %s", message);
	else if (strstr(reason, MPIJOB__BASE_API_REASON_BACKOFF) ||
		 strcmp(mpijob__diagnose_case_text(ended, "reason"),
		     MPIJOB__BASE_API_REASON_BACKOFF) == 0)
		mpijob__diagnose_case_add(this, "backoff-limit", ERROR, RANK_END, NULL,
		    "spec.runPolicy.backoffLimit",
		    "the launcher reached its limit of failures: %s: %s", reason, message);
	else if (strstr(reason, "Evict") && !mpijob__diagnose_case_has(this, "pod-evicted") &&
		 !mpijob__diagnose_case_has(this, "ephemeral-storage"))
		mpijob__diagnose_case_add(this, "pod-evicted", ERROR, RANK_DIED, NULL, NULL, "%s",
		    text_or(message, "a worker was evicted"));
	else if (!mpijob__diagnose_case_before(this, RANK_END))
		mpijob__diagnose_case_add(this, "job-failed", ERROR, RANK_END, NULL, NULL,
		    "the job failed: %s: %s", text_or(reason, "no reason"),
		    text_or(message, "no message"));
}

static int has_launcher(const struct mpijob__diagnose_case *this)
{
	for (size_t i = 0; i < mpijob_node_count(this->pods); i++)
		if (mpijob__diagnose_case_role(this,
			mpijob__diagnose_case_text(mpijob_node_at(this->pods, i),
			    "metadata.name")) == MPIJOB__DIAGNOSE_LAUNCHER_POD)
			return 1;
	for (size_t i = 0; i < this->evidence.logs_count; i++)
		if (mpijob__diagnose_case_role(this, this->logs[i].pod) ==
		    MPIJOB__DIAGNOSE_LAUNCHER_POD)
			return 1;
	return 0;
}

/* Names of accelerators have a domain; those of CPUs, memory and disks do not. */
static const char *accelerator_of(const mpijob_node *pod)
{
	const mpijob_node *limits = mpijob_node_find(pod, "spec.containers[0].resources.limits");

	for (size_t i = 0; i < mpijob_node_count(limits); i++)
		if (strchr(mpijob_node_key(limits, i), '/'))
			return mpijob_node_key(limits, i);
	return NULL;
}

static void check_kept_pods(struct mpijob__diagnose_case *this)
{
	for (size_t i = 0; i < mpijob_node_count(this->pods); i++) {
		const mpijob_node *pod = mpijob_node_at(this->pods, i);
		const char *name = mpijob__diagnose_case_text(pod, "metadata.name"),
			   *device = accelerator_of(pod);
		if (device &&
		    strcmp(mpijob__diagnose_case_text(pod, "status.phase"), "Running") == 0 &&
		    mpijob__diagnose_case_role(this, name) == MPIJOB__DIAGNOSE_WORKER_POD &&
		    !mpijob_node_find(pod, "metadata.deletionTimestamp"))
			mpijob__diagnose_case_add(this, "gpus-kept", WARNING, RANK_HINT, name,
			    "spec.runPolicy.cleanPodPolicy",
			    "the job has ended, but %s still runs and occupies its %s", name,
			    device);
	}
}

void mpijob__diagnose_check_end(struct mpijob__diagnose_case *this)
{
	if (this->failed)
		check_failed(this);
	if (this->failed && this->pods && !has_launcher(this) &&
	    !mpijob__diagnose_case_before(this, RANK_END))
		mpijob__diagnose_case_add(this, "launcher-gone", MPIJOB_SEVERITY_INFO, RANK_HINT,
		    NULL, "spec.mpiReplicaSpecs[Launcher].restartPolicy",
		    "the launcher's pod and its log were deleted, so the cause is unknown");
	if (this->failed || this->succeeded)
		check_kept_pods(this);
}
