/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of a workflow engine for steps that are MPI programs: it submits a job, follows it, says
 * in the engine's own words how it is, and takes it away. All that it knows of the cluster is the
 * client that the engine gave it.
 */
#include "step.h"

#include <string.h>

/* The engine's phase for the conditions of a job. What has ended stays so. */
static void set_phase(struct step *step)
{
	const struct mpijob_status *status = NULL;
	step->phase = STEP_WAITING, step->why = "";
	if (mpijob_status_get(step->job, &status, NULL) != 0)
		return;
	for (size_t i = 0; i < status->conditions_count && step->phase < STEP_DONE; i++) {
		const struct mpijob_condition *condition = status->conditions[i];
		const char *type =
		    condition->status == MPIJOB_CONDITION_TRUE ? condition->type : "";
		if (strcmp(type, "Running") == 0)
			step->phase = STEP_RUNNING;
		if (strcmp(type, "Succeeded") == 0)
			step->phase = STEP_DONE;
		if (strcmp(type, "Failed") == 0)
			step->phase = STEP_FAILED,
			step->why = condition->message ? condition->message : condition->reason;
	}
}

/* News of the job; a job that went away before it ended was aborted, by whom ever. */
static int see(void *user, const struct mpijob_watch_event *event)
{
	struct step *step = user;
	mpijob *job = NULL;
	if (step->phase >= STEP_DONE || strcmp(event->uid, mpijob_uid(step->job)) != 0)
		return 0;
	if (event->event == MPIJOB_WATCH_DELETED)
		return step->phase = STEP_ABORTED, 0;
	step->seen = 1;
	int code = event->json ? mpijob_parse(event->json, event->json_len, NULL, &job, NULL)
			       : MPIJOB_ERR_SPEC;
	if (code == 0)
		mpijob_free(step->job), step->job = job, set_phase(step);
	return code;
}

static void begin(void *user)
{
	((struct step *)user)->seen = 0;
}

/* What went away unseen is simply not in the next list. */
static int listed(void *user, const char *resource_version)
{
	struct step *step = user;
	step->phase = step->seen || step->phase >= STEP_DONE ? step->phase : STEP_ABORTED;
	return (void)resource_version, 0;
}

int step_start(struct step *step, mpijob_client *client, const mpijob *job, const char *namespace_,
    mpijob_diag *diag)
{
	struct mpijob_submit_options submit = { .size = sizeof(submit), .namespace_ = namespace_ };
	struct mpijob_watch_options watch = { .size = sizeof(watch),
		.api_version = "kubeflow.org/v2beta1",
		.kind = "MPIJob",
		.namespace_ = namespace_,
		.begin = begin,
		.object = see,
		.listed = listed,
		.user = step };
	*step = (struct step){ .client = client, .phase = STEP_WAITING, .why = "" };
	int code = mpijob_client_submit(client, job, &submit, &step->job, diag);
	if (code != 0)
		return code;
	watch.name = mpijob_name(step->job);
	return mpijob_watch_new(client, &watch, &step->watch);
}

int step_abort(struct step *step, mpijob_diag *diag)
{
	int code = mpijob_client_delete_job(step->client, mpijob_namespace(step->job),
	    mpijob_name(step->job), mpijob_uid(step->job), NULL, diag);
	return code == MPIJOB_ERR_NOT_FOUND ? 0 : code; /* the watch will tell */
}

void step_end(struct step *step)
{
	mpijob_watch_free(step->watch), mpijob_free(step->job);
}
