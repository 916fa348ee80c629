/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of differences from Flyte's plugin, for people and programs. And the conversion to
 * v2beta1 with the steps after it: it restores a worker's own command, which the conversion would
 * treat as one of v1, and forwards the variables to remote ranks.
 */
#include "flyte/flyte.h"

#include <mpijob/convert.h>

#include <stdarg.h>
#include <string.h>

#define WORKER_SPEC      "spec.mpiReplicaSpecs[Worker].template.spec"
#define WORKER_CONTAINER WORKER_SPEC ".containers[0]"

#define REPAIR(flag, name, what, why)                                     \
	{                                                                 \
		sizeof(struct mpijob_flyte_repair), flag, name, what, why \
	}

static const struct mpijob_flyte_repair repairs[] = {
	REPAIR(MPIJOB_FLYTE_SLOTS, "slots",
	    "`slotsPerWorker` is the `slots` of the task, 1 without. In version 1 the plugin "
	    "always writes 1, in version 0 it writes 0 if they are absent.",
	    "mpirun must start workers × slots ranks, and fails: not enough slots."),
	REPAIR(MPIJOB_FLYTE_WORKER_COMMAND, "worker-command",
	    "A command of the workers is their command; without one they run the operator's "
	    "default. The plugin writes it as arguments, and leaves the launcher's arguments "
	    "to workers without one.",
	    "Under mpi-operator every worker would run mpirun in place of sshd; the training "
	    "operator ignores the command."),
	REPAIR(MPIJOB_FLYTE_ENVIRONMENT, "environment",
	    "mpirun gets `-x NAME` for each variable of the launcher's container. For v2beta1 "
	    "only.",
	    "kubectl exec entered containers that have these variables; a session of sshd has none "
	    "of them."),
	REPAIR(MPIJOB_FLYTE_ZERO, "zero",
	    "`backoffLimit`, `activeDeadlineSeconds` and `ttlSecondsAfterFinished` of 0 are 0 when "
	    "they are written down. The plugin takes 0 for absent.",
	    "\"No second try\" and \"delete at once\" could not be said."),
	REPAIR(MPIJOB_FLYTE_SAFE_LAUNCHER, "safe-launcher",
	    "The launcher of an interruptible task is placed as that of one that is not. The "
	    "plugin treats both roles alike.",
	    "The job ends with its launcher, so that one cheap node decides about all workers."),
	REPAIR(MPIJOB_FLYTE_LAUNCHER_GPUS, "launcher-gpus",
	    "The launcher has GPUs only when its own resources say so. The plugin gives it those "
	    "of the task.",
	    "A launcher that only starts mpirun would hold accelerators; with a GPU it also counts "
	    "as one more worker."),
	REPAIR(MPIJOB_FLYTE_PRIMARY_FIRST, "primary-first",
	    "The primary container of a pod comes first. The plugin leaves it where it is.",
	    "Operators add their variables, volumes and commands to the first container."),
	REPAIR(MPIJOB_FLYTE_ONE_LAUNCHER, "one-launcher",
	    "There is one launcher. In version 0 the plugin writes as many as the task says.",
	    "Every operator refuses a job with two."),
	REPAIR(MPIJOB_FLYTE_LAUNCHER_LOGS, "launcher-logs",
	    "The launcher's log is linked, before those of the workers. The plugin links the "
	    "workers' alone.",
	    "The output of all ranks is in the launcher's log."),
	REPAIR(MPIJOB_FLYTE_END_COUNTS, "end-counts",
	    "A job with a true condition Succeeded or Failed has ended, and of conditions that "
	    "became true in the same second the one that stands later counts. The plugin takes the "
	    "first one.",
	    "A job that runs and ends within one second would stay Queued forever."),
};
#define REPAIRS (sizeof(repairs) / sizeof(repairs[0]))

size_t mpijob_flyte_repair_count(void)
{
	return REPAIRS;
}

const struct mpijob_flyte_repair *mpijob_flyte_repair_at(size_t index)
{
	return index < REPAIRS ? &repairs[index] : NULL;
}

int mpijob__flyte_repair_say(struct mpijob__flyte *f, uint32_t flag, const char *field,
    const char *format, ...)
{
	const struct mpijob__core_place place = { f->source, 0, 0 };
	va_list args;
	int code;

	if (f->repairs_told & flag)
		return 0;
	f->repairs_told |= flag;
	va_start(args, format);
	code = mpijob__core_diag_vaddf(f->diag, MPIJOB_SEVERITY_INFO, "flyte-repair", NULL, field,
	    &place, format, args);
	va_end(args);
	return code;
}

/* Copy the findings of the conversion, except the one about variables when mpirun forwards them. */
static int pass_on(struct mpijob__flyte *f, const mpijob_diag *heard, int forwarded)
{
	if (mpijob_diag_dropped(heard))
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < mpijob_diag_count(heard); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(heard, i);

		if (forwarded && strcmp(finding->id, "conversion-loss") == 0 && finding->field &&
		    strcmp(finding->field, WORKER_CONTAINER ".env") == 0)
			continue;
		if (f->diag && mpijob_diag_add(f->diag, finding))
			return MPIJOB_ERR_NOMEM;
	}
	return 0;
}

static int convert(struct mpijob__flyte *f, mpijob_diag *heard)
{
	struct mpijob_convert_options options = MPIJOB_CONVERT_OPTIONS_INIT;
	mpijob_doc *converted = NULL;
	int code;

	options.no_annotation = 1; /* the job of v1 never existed */
	code = mpijob_convert(mpijob_doc_root(f->doc), f->source, "v2beta1", &options, &converted,
	    heard);
	if (code)
		return code;
	mpijob_doc_free(f->doc);
	f->doc = converted;
	return 0;
}

/* Remove the command that the repair gave the worker. *out receives it, yours, or is unchanged. */
static int keep_command(struct mpijob__flyte *f, mpijob_doc **out)
{
	mpijob_node *worker =
	    mpijob__flyte_pod_find(mpijob_doc_find(f->doc, WORKER_SPEC), FLYTE_CONTAINER);
	const mpijob_node *command = mpijob_node_get(worker, "command");

	if (!command || !mpijob__flyte_task_repairs(f, MPIJOB_FLYTE_WORKER_COMMAND))
		return 0;
	*out = mpijob_doc_from_node(command);
	mpijob_node_remove(worker, "command");
	return *out ? 0 : MPIJOB_ERR_NOMEM;
}

static void give_command(struct mpijob__flyte *f, const mpijob_doc *command)
{
	mpijob_node *worker =
	    mpijob__flyte_pod_find(mpijob_doc_find(f->doc, WORKER_SPEC), FLYTE_CONTAINER);

	if (command && worker)
		mpijob_node_put_copy(f->doc, worker, "command", mpijob_doc_root(command));
}

int mpijob__flyte_repair_convert(struct mpijob__flyte *f)
{
	mpijob_diag *heard = mpijob_diag_new();
	mpijob_doc *command = NULL;
	int forwarded = 0;
	int code = heard ? keep_command(f, &command) : MPIJOB_ERR_NOMEM;

	if (heard)
		mpijob_diag_set_limit(heard, SIZE_MAX);
	if (!code)
		code = convert(f, heard);
	if (!code && mpijob__flyte_task_repairs(f, MPIJOB_FLYTE_ENVIRONMENT)) {
		forwarded = mpijob__flyte_environment_forward(f);
		code = forwarded < 0 ? forwarded : 0;
	}
	if (!code)
		give_command(f, command);
	if (!code)
		code = pass_on(f, heard, forwarded);
	if (!code && mpijob_doc_error(f->doc))
		code = MPIJOB_ERR_NOMEM;
	mpijob_doc_free(command);
	mpijob_diag_free(heard);
	return code;
}
