/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the DNS names of a job's workers resolve, while its launcher waits for that.
 *
 * The names are queried in order and the answers are polled: a job remembers the first name that
 * does not resolve. Without a resolver the time limit of the plan decides.
 */
#include "operator/names.h"

#include "operator/operator.h"

#include <string.h>

#define AT_ONCE       64 /* queries in flight */
#define POLL_FIRST_MS 10 /* doubled up to POLL_MOST_MS */
#define POLL_MOST_MS  100

/* 1 when the name of a worker resolves, 0 when not yet, negative when there is no resolver. */
static int resolve(mpijob_operator *operator_, const struct mpijob__operator_job *job,
    int32_t worker)
{
	mpijob_text name = { 0 };
	int rc = mpijob_child_name_write(job->name, MPIJOB_ROLE_WORKER, worker, mpijob_text_write,
	    &name);

	if (rc == 0)
		rc = mpijob__base_text_printf(&name, ".%s.%s.svc", job->name, job->namespace_);
	rc = rc ? 0
		: operator_->options.resolve(operator_->options.resolve_user,
		      mpijob_text_data(&name));
	mpijob__base_text_release(&name);
	return rc;
}

static int all_resolve(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	int32_t first = job->names.known, workers = job->names.workers;

	for (int32_t i = first; i < workers && i - first < AT_ONCE; i++) {
		int rc = resolve(operator_, job, i);

		if (rc < 0)
			return 0;
		job->names.known += rc && i == job->names.known;
	}
	return job->names.known >= workers;
}

void mpijob__operator_names_fill_options(mpijob_operator *operator_,
    struct mpijob__operator_job *job, struct mpijob_plan_options *options)
{
	struct mpijob__operator_names *names = &job->names;

	options->launcher_hold_ms = operator_->shadow.on ? 0 : operator_->options.launcher_hold_ms;
	options->workers_ready_ms = names->ready_ms;
	options->names_known =
	    names->ready_ms && operator_->options.resolve && all_resolve(operator_, job);
}

void mpijob__operator_names_planned(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const mpijob_plan *plan, const struct mpijob_plan_options *options)
{
	struct mpijob__operator_names *names = &job->names;
	int32_t workers = mpijob_plan_get_result(plan)->awaited_names;

	if (!workers) {
		memset(names, 0, sizeof(*names));
		return;
	}
	names->workers = workers;
	if (!names->ready_ms) {
		names->ready_ms = options->now_ms;
		/* Send the queries now; a later turn reads the answers. */
		(void)(operator_->options.resolve && all_resolve(operator_, job));
	}
	names->wait_ms = names->wait_ms ? names->wait_ms * 2 : POLL_FIRST_MS;
	if (names->wait_ms > POLL_MOST_MS)
		names->wait_ms = POLL_MOST_MS;
	if (!operator_->options.resolve || options->names_known)
		names->wait_ms = 0;
}

void mpijob__operator_names_schedule(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	if (job->names.wait_ms)
		mpijob__operator_queue_add_at(&operator_->queue, &job->item,
		    operator_->now_ms + job->names.wait_ms);
}
