/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the DNS names of a job's workers resolve, while its launcher waits for that.
 *
 * The names are asked in order and the answers are polled: a job remembers the first name without
 * an answer. Without a way to ask, the plan's own limit of time decides.
 */
#include "operator/operator.h"

#include "plan/plan.h"
#include "render/render.h"

#include <string.h>

#define AT_ONCE       64 /* names asked before the first of them is answered */
#define LOOK_FIRST_MS 10 /* doubled up to LOOK_MOST_MS */
#define LOOK_MOST_MS  100

/* 1 when it resolves, 0 when not yet, negative when that cannot be asked. */
static int ask(mpijob_operator *operator_, const struct mpijob__operator_job *record,
    int32_t worker)
{
	mpijob_text name = { 0 };
	int code = mpijob__render_name(record->name, MPIJOB_ROLE_WORKER, worker, &name);

	if (code == 0)
		code =
		    mpijob__base_text_printf(&name, ".%s.%s.svc", record->name, record->namespace_);
	code = code ? 0 : operator_->resolve(operator_->resolve_user, mpijob_text_data(&name));
	mpijob__base_text_release(&name);
	return code;
}

static int all_known(mpijob_operator *operator_, struct mpijob__operator_job *record)
{
	int32_t first = record->names.known, workers = record->names.workers;

	for (int32_t i = first; i < workers && i - first < AT_ONCE; i++) {
		int code = ask(operator_, record, i);

		if (code < 0)
			return 0;
		record->names.known += code && i == record->names.known;
	}
	return record->names.known >= workers;
}

void mpijob__operator_names_fill_options(mpijob_operator *operator_,
    struct mpijob__operator_job *record, struct mpijob_plan_options *options)
{
	struct mpijob__operator_names *names = &record->names;

	options->launcher_hold_ms = operator_->shadow.on ? 0 : operator_->launcher_hold_ms;
	options->workers_ready_ms = names->ready_ms;
	options->names_known =
	    names->ready_ms && operator_->resolve && all_known(operator_, record);
}

void mpijob__operator_names_planned(mpijob_operator *operator_, struct mpijob__operator_job *record,
    const mpijob_plan *plan, const struct mpijob_plan_options *options)
{
	struct mpijob__operator_names *names = &record->names;

	if (!mpijob_plan_awaits_names(plan)) {
		memset(names, 0, sizeof(*names));
		return;
	}
	names->workers = plan->workers.wanted;
	if (!names->ready_ms) {
		names->ready_ms = options->now_ms;
		/* The queries leave now; a later turn reads the answers. */
		(void)(operator_->resolve && all_known(operator_, record));
	}
	names->wait_ms = names->wait_ms ? names->wait_ms * 2 : LOOK_FIRST_MS;
	if (names->wait_ms > LOOK_MOST_MS)
		names->wait_ms = LOOK_MOST_MS;
	if (!operator_->resolve || options->names_known)
		names->wait_ms = 0;
}

void mpijob__operator_names_schedule(mpijob_operator *operator_,
    struct mpijob__operator_job *record)
{
	if (record->names.wait_ms)
		mpijob__operator_queue_add_at(&operator_->queue, &record->item,
		    operator_->now_ms + record->names.wait_ms);
}
