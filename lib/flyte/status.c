/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MPIJob's conditions as a Flyte phase: which condition is the current one, the phase and texts
 * of each type, when an operator is too late, and which pods get a link.
 */
#include "base/api.h"
#include "base/text.h"
#include "flyte/flyte.h"

#include "base/struct.h"
#include "base/time.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_TIMEOUT_S 60
#define FAILURE_CODE      "DownstreamSystemError"

struct mpijob_flyte_status {
	struct mpijob_flyte_phase phase;
	struct mpijob_text message, error;
	struct mpijob__flyte_links links;
	uint32_t repairs;
};

static const struct {
	const char *condition;
	int32_t phase;
	const char *name, *reason;
} phases[] = {
	{ "Created", MPIJOB_FLYTE_QUEUED, "Queued", "JobCreated" },
	{ "Running", MPIJOB_FLYTE_RUNNING, "Running", "" },
	{ "Restarting", MPIJOB_FLYTE_RUNNING, "Running", "" },
	{ "Succeeded", MPIJOB_FLYTE_SUCCESS, "Success", "" },
	{ "Failed", MPIJOB_FLYTE_RETRYABLE_FAILURE, "RetryableFailure", "" },
	{ "Suspended", MPIJOB_FLYTE_QUEUED, "Queued", "Suspended" },
};
#define PHASES (sizeof(phases) / sizeof(phases[0]))

static const char *text_of(const mpijob_node *map, const char *key)
{
	const char *text = mpijob_node_string(mpijob_node_get(map, key));

	return text ? text : "";
}

/* ---- the current condition ---- */

static int is_true(const mpijob_node *condition)
{
	return mpijob__base_text_is(text_of(condition, "status"), "True");
}

static int is_end(const mpijob_node *condition)
{
	return mpijob__base_text_is(text_of(condition, "type"), "Succeeded") ||
	       mpijob__base_text_is(text_of(condition, "type"), "Failed");
}

/* An absent time is earlier than all others. */
static int64_t time_of(const mpijob_node *condition)
{
	int64_t seconds = INT64_MIN;

	mpijob__base_time_parse(text_of(condition, "lastTransitionTime"), &seconds);
	return seconds;
}

/* The newest true condition. Of several with the same time, the first; with the repair, the last.
 */
static const mpijob_node *current_of(const mpijob_node *conditions, int repaired)
{
	const mpijob_node *best = NULL;

	for (size_t i = 0; i < mpijob_node_count(conditions); i++) {
		const mpijob_node *condition = mpijob_node_at(conditions, i);
		int64_t time = time_of(condition);
		int later = !best || time > time_of(best) || (repaired && time == time_of(best));

		if (!is_true(condition))
			continue;
		if (repaired && best && is_end(condition) != is_end(best))
			later = is_end(condition);
		if (later)
			best = condition;
	}
	return best;
}

/* ---- the phase ---- */

static int set_condition(mpijob_flyte_status *status, const mpijob_node *condition)
{
	const char *type = condition ? text_of(condition, "type") : "Created";
	size_t i = 0;

	if (!*type)
		type = "Created";
	while (i < PHASES && strcmp(phases[i].condition, type) != 0)
		i++;
	if (i == PHASES)
		return 0;
	status->phase.phase = phases[i].phase;
	status->phase.name = phases[i].name;
	status->phase.reason = phases[i].reason;
	if (phases[i].phase != MPIJOB_FLYTE_RETRYABLE_FAILURE)
		return 0;
	status->phase.code = FAILURE_CODE;
	return mpijob__base_text_printf(&status->message, "Job failed:\n\t%s - %s",
	    text_of(condition, "reason"), text_of(condition, "message"));
}

static int is_suspended(const mpijob_node *job)
{
	int truth = 0;

	return mpijob_node_bool(mpijob_node_find(job, "spec.runPolicy.suspend"), &truth) && truth;
}

/* Has no operator started the job in time? */
static int is_late(const mpijob_flyte_status *status, const mpijob_node *job)
{
	const struct mpijob_flyte_status_options *options = &status->links.options;
	int64_t timeout = options->timeout_s ? *options->timeout_s : DEFAULT_TIMEOUT_S, created = 0;
	const mpijob_node *start = mpijob_node_find(job, "status.startTime");

	if (!options->now_s || is_suspended(job) || mpijob_node_kind(start) == MPIJOB_NODE_STRING)
		return 0;
	if (!mpijob__base_time_parse(text_of(mpijob_node_get(job, "metadata"), "creationTimestamp"),
		&created))
		return 1;
	return options->now_s - created > timeout;
}

static int set_phase(mpijob_flyte_status *status, const mpijob_node *job)
{
	const mpijob_node *conditions = mpijob_node_find(job, "status.conditions"), *current;
	int listed = mpijob_node_kind(conditions) == MPIJOB_NODE_LIST;

	if (is_late(status, job)) {
		status->phase.timed_out = 1;
		return mpijob__base_text_printf(&status->error,
		    "kubeflow operator hasn't updated the mpi custom resource since creation time "
		    "%s",
		    text_of(mpijob_node_get(job, "metadata"), "creationTimestamp"));
	}
	current = current_of(conditions, (status->repairs & MPIJOB_FLYTE_END_COUNTS) != 0);
	if (listed && !current)
		return mpijob__base_text_puts(&status->error,
		    "found no current condition: none of the job's conditions is true");
	return set_condition(status, current);
}

/* ---- the links ---- */

static int add_pod(struct mpijob__flyte_links *links, const char *job, const char *role,
    int64_t index)
{
	struct mpijob_text name = { 0 };
	int rc = index < 0
		     ? mpijob__base_text_printf(&name, "%s-%s", job, role)
		     : mpijob__base_text_printf(&name, "%s-%s-%lld", job, role, (long long)index);

	if (!rc)
		rc = mpijob__flyte_links_add(links, name.data);
	mpijob__base_text_release(&name);
	return rc;
}

/* `replicas` is not validated here: it must not decide how much memory is used. */
#define MOST_LINKED_WORKERS 10000

static int link_pods(mpijob_flyte_status *status, const mpijob_node *job)
{
	struct mpijob__flyte_links *links = &status->links;
	const char *name = text_of(mpijob_node_get(job, "metadata"), "name"),
		   *pod = links->options.launcher_pod;
	int64_t workers = 0;
	int rc = 0;

	if (status->repairs & MPIJOB_FLYTE_LAUNCHER_LOGS) {
		if (pod)
			rc = mpijob__flyte_links_add(links, pod);
		else if (mpijob__base_text_is(text_of(job, "apiVersion"), MPIJOB__BASE_API_V1))
			rc = add_pod(links, name, "launcher", -1);
	}
	mpijob_node_int(mpijob_node_find(job, "spec.mpiReplicaSpecs[Worker].replicas"), &workers);
	for (int64_t i = 0; !rc && i < workers && i < MOST_LINKED_WORKERS; i++)
		rc = add_pod(links, name, "worker", i);
	return rc;
}

/* ---- the status ---- */

static int is_known(const mpijob_node *job)
{
	const char *version = text_of(job, "apiVersion");

	return mpijob__base_text_is(text_of(job, "kind"), MPIJOB__BASE_API_KIND) &&
	       (mpijob__base_text_is(version, MPIJOB__BASE_API_V1) ||
		   mpijob__base_text_is(version, MPIJOB__BASE_API_VERSION));
}

static int take_options(mpijob_flyte_status *status,
    const struct mpijob_flyte_status_options *given)
{
	struct mpijob_flyte_status_options *options = &status->links.options;
	int rc = mpijob__base_struct_check(options, sizeof(*options), given);

	for (size_t i = 0; !rc && options->templates && i < options->templates_count; i++) {
		struct mpijob_flyte_log_template template;

		rc = mpijob__flyte_links_template(&status->links, i, &template);
	}
	if (!rc)
		rc = mpijob__flyte_execution_take(&status->links.execution, options->execution);
	if (!rc)
		status->repairs = options->repairs ? *options->repairs : UINT32_MAX;
	return rc;
}

int mpijob_flyte_status_read(const mpijob_node *job,
    const struct mpijob_flyte_status_options *options, mpijob_flyte_status **out)
{
	mpijob_flyte_status *status;
	int rc;

	if (!job || !out)
		return MPIJOB_ERR_USAGE;
	if (!is_known(job))
		return MPIJOB_ERR_UNSUPPORTED;
	status = calloc(1, sizeof(*status));
	if (!status)
		return MPIJOB_ERR_NOMEM;
	status->links.job = job;
	status->phase = (struct mpijob_flyte_phase){ sizeof(status->phase), MPIJOB_FLYTE_UNDEFINED,
		0, "Undefined", "", "", "", NULL };
	rc = take_options(status, options);
	if (!rc)
		rc = set_phase(status, job);
	if (!rc && status->phase.phase != MPIJOB_FLYTE_UNDEFINED)
		rc = link_pods(status, job);
	status->phase.message = status->message.data ? status->message.data : "";
	status->phase.error = status->error.data;
	status->links.job = NULL;
	if (rc)
		mpijob_flyte_status_free(status);
	else
		*out = status;
	return rc;
}

const struct mpijob_flyte_phase *mpijob_flyte_status_phase(const mpijob_flyte_status *status)
{
	return status ? &status->phase : NULL;
}

size_t mpijob_flyte_status_link_count(const mpijob_flyte_status *status)
{
	return status ? status->links.count : 0;
}

const struct mpijob_flyte_link *mpijob_flyte_status_link_at(const mpijob_flyte_status *status,
    size_t index)
{
	return status && index < status->links.count ? &status->links.items[index] : NULL;
}

void mpijob_flyte_status_free(mpijob_flyte_status *status)
{
	if (!status)
		return;
	mpijob__flyte_links_free(&status->links);
	mpijob__base_text_release(&status->message);
	mpijob__base_text_release(&status->error);
	free(status);
}
