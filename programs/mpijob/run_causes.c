/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Print the causes of a failed run, each with what to do about it on this machine or on a cluster,
 * except for those that the run has printed already.
 */
#include <string.h>

#include "findings.h"
#include "print.h"
#include "run.h"

/* What the run has printed; and that devices are held, which a local run only counts. */
static int is_printed(const struct run *run, const char *id)
{
	static const char *const printed[] = { "container-failed", "backoff-limit", "job-failed",
		"launcher-gone" };

	for (size_t i = 0; i < sizeof(printed) / sizeof(printed[0]); i++)
		if (strcmp(printed[i], id) == 0)
			return 1;
	return !run->is_cluster && strcmp(id, "gpus-kept") == 0;
}

/* Limits, NetworkPolicies, images and nodes mean nothing on this machine, and no other command
 * reads its logs. */
static const struct {
	const char *id, *advice;
} on_this_machine[] = {
	{ "container-killed", "Limits are not enforced in a local run: look for the out-of-memory "
			      "killer in the kernel's log (`dmesg`)." },
	{ "container-not-started", "The message tells why." },
	{ "container-stopped", "mpirun, or another program on this machine, sent it a signal." },
	{ "crash-loop", "Give the role restartPolicy Never: then the run prints the last lines of "
			"a worker that fails." },
	{ "daemon-not-found", "Call mpirun by its whole path, which the workers then use too: a "
			      "login by ssh has another PATH." },
	{ "daemons-not-started", "Read the lines in front of it." },
	{ "host-unreachable", "Look whether the worker's end is reported above." },
	{ "launcher-waits",
	    "Look at the workers' readinessProbe: sshd must listen on the port that is probed." },
	{ "mpi-versions-differ", "Use one MPI for mpirun and the program." },
	{ "mpirun-not-found",
	    "Install an MPI on this machine, or set PATH in the launcher's env." },
	{ "name-unresolved", "Set `spec.launcherCreationPolicy: WaitForWorkersReady`, or leave "
			     "`spec.runPolicy.backoffLimit` some attempts." },
	{ "no-way-back", "Leave `spec.runPolicy.backoffLimit` some attempts." },
	{ "object-missing",
	    "Add it to the files of the run: a local run has only the objects of its files." },
	{ "own-name-unresolved", "Leave `spec.runPolicy.backoffLimit` some attempts." },
	{ "program-crashed", "Read its output above." },
	{ "program-not-found", "Correct `command`, or the program behind mpirun's options; it must "
			       "be on this machine." },
	{ "rank-crashed", "Read the output in front of mpirun's message." },
	{ "rank-failed", "Read the output in front of mpirun's message." },
	{ "rank-killed", "Limits are not enforced in a local run: look for the out-of-memory "
			 "killer in the kernel's log (`dmesg`), or run fewer ranks." },
	{ "ssh-closed", "Look whether the worker's end is reported above." },
	{ "ssh-key-refused",
	    "Is `spec.sshAuthMountPath` the .ssh folder of the user that both run as?" },
	{ "sshd-not-reached", "Give the workers a readinessProbe (tcpSocket on sshd's port) and "
			      "set `spec.launcherCreationPolicy: WaitForWorkersReady`." },
	{ "sshd-port-taken", "Set another `Port` in sshd_config and ssh_config." },
	{ "worker-lost", "Look whether the worker's end is reported above." },
};

static const char *advice_of(const struct run *run, const struct mpijob_finding_kind *kind)
{
	for (size_t i = 0;
	     i < sizeof(on_this_machine) / sizeof(on_this_machine[0]) && !run->is_cluster; i++)
		if (strcmp(on_this_machine[i].id, kind->id) == 0)
			return on_this_machine[i].advice;
	return kind->advice;
}

void run_print_cause(struct run *run, const struct mpijob_finding *finding)
{
	const struct mpijob_finding_kind *kind = mpijob_finding_kind_find(finding->id);

	if (is_printed(run, finding->id))
		return;
	progress_hide(&run->progress);
	fputs("mpijob: ", stderr);
	finding_print(finding, stderr);
	if (kind && finding->severity != MPIJOB_SEVERITY_INFO)
		print_to(stderr, "  %s\n", advice_of(run, kind));
}
