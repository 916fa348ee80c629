/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of differences from Flyte's plugin, for people and programs, and the last steps of a
 * conversion to v2beta1: the worker's command, which the conversion itself would treat as one of
 * v1, and the variables of remote ranks.
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

int mpijob__flyte_repair_report(struct mpijob__flyte *f, uint32_t flag, const char *field,
    const char *format, ...)
{
	va_list args;
	int rc;

	if (f->repairs_reported & flag)
		return 0;
	f->repairs_reported |= flag;
	va_start(args, format);
	rc = mpijob__flyte_task_report(f, MPIJOB_SEVERITY_INFO, "flyte-repair", field, NULL, format,
	    args);
	va_end(args);
	return rc;
}

/* Pass on the findings of the conversion, except those that the last steps have resolved. */
static int pass_on(struct mpijob__flyte *f, const mpijob_diag *findings, int forwarded)
{
	if (mpijob_diag_dropped(findings))
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; mpijob_diag_at(findings, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(findings, i);

		if (forwarded && strcmp(finding->id, "conversion-loss") == 0 && finding->field &&
		    strcmp(finding->field, WORKER_CONTAINER ".env") == 0)
			continue;
		if (f->diag && mpijob_diag_add(f->diag, finding))
			return MPIJOB_ERR_NOMEM;
	}
	return 0;
}

static int convert(struct mpijob__flyte *f, mpijob_diag *findings)
{
	struct mpijob_convert_options options = MPIJOB_CONVERT_OPTIONS_INIT;
	mpijob_doc *converted = NULL;
	int rc;

	options.no_annotation = 1; /* there never was a job of v1 */
	rc = mpijob_convert(mpijob_doc_root(f->doc), f->source, "v2beta1", &options, &converted,
	    findings);
	if (rc)
		return rc;
	mpijob_doc_free(f->doc);
	f->doc = converted;
	return 0;
}

/* Remove the command that the repair gave to the worker, and keep it as a document; NULL for
 * none. */
static int keep_command(struct mpijob__flyte *f, mpijob_doc **out)
{
	mpijob_node *worker =
	    mpijob__flyte_pod_find(mpijob_doc_edit(f->doc, WORKER_SPEC), FLYTE_CONTAINER);
	const mpijob_node *command = mpijob_node_get(worker, "command");

	if (!command || !mpijob__flyte_task_repairs(f, MPIJOB_FLYTE_WORKER_COMMAND))
		return 0;
	*out = mpijob_doc_from_node(command, NULL);
	mpijob_node_remove(worker, "command");
	return *out ? 0 : MPIJOB_ERR_NOMEM;
}

static void give_command(struct mpijob__flyte *f, const mpijob_doc *command)
{
	mpijob_node *worker =
	    mpijob__flyte_pod_find(mpijob_doc_edit(f->doc, WORKER_SPEC), FLYTE_CONTAINER);

	if (command && worker)
		mpijob_node_put_copy(f->doc, worker, "command", mpijob_doc_root(command));
}

int mpijob__flyte_repair_convert(struct mpijob__flyte *f)
{
	mpijob_diag *findings = mpijob_diag_new();
	mpijob_doc *command = NULL;
	int forwarded = 0;
	int rc = findings ? keep_command(f, &command) : MPIJOB_ERR_NOMEM;

	if (findings)
		mpijob_diag_set_limit(findings, SIZE_MAX);
	if (!rc)
		rc = convert(f, findings);
	if (!rc && mpijob__flyte_task_repairs(f, MPIJOB_FLYTE_ENVIRONMENT)) {
		forwarded = mpijob__flyte_environment_forward(f);
		rc = forwarded < 0 ? forwarded : 0;
	}
	if (!rc)
		give_command(f, command);
	if (!rc)
		rc = pass_on(f, findings, forwarded);
	if (!rc && mpijob_doc_error(f->doc))
		rc = MPIJOB_ERR_NOMEM;
	mpijob_doc_free(command);
	mpijob_diag_free(findings);
	return rc;
}
