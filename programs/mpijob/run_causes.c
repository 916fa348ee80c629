/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows what a person wants to read when a run failed: the causes that the cluster shows, each with
 * what to do about it. What cannot be looked at any more is no failure of its own.
 */
#include <string.h>

#include "base/clock.h"
#include "evidence.h"
#include "findings.h"
#include "print.h"
#include "run.h"

/* What the run has said by itself; and that devices are held, which a local run only counts. */
static int is_told(const struct run *run, const char *id)
{
	static const char *const told[] = { "container-failed", "backoff-limit", "job-failed",
		"launcher-gone" };

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (strcmp(told[i], id) == 0)
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
	{ "container-stopped", "mpirun, or somebody else on this machine, sent it a signal." },
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

static void tell(const struct run *run, const mpijob_diag *causes)
{
	for (size_t i = 0; i < mpijob_diag_count(causes); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(causes, i);
		const struct mpijob_finding_kind *kind = mpijob_finding_kind_find(finding->id);
		if (is_told(run, finding->id))
			continue;
		fputs("mpijob: ", stderr);
		finding_print(finding, stderr);
		if (kind && finding->severity != MPIJOB_SEVERITY_INFO)
			print_to(stderr, "  %s\n", advice_of(run, kind));
	}
}

void run_tell_causes(struct run *run)
{
	mpijob_diag *causes = mpijob_diag_new();
	struct seen seen = { 0 };

	int code = causes ? seen_gather(&seen, run->client, run->namespace_, run->name, NULL)
			  : MPIJOB_ERR_NOMEM;
	if (code == 0)
		code = seen_add_logs(&seen, run->client);
	/* Kubernetes deletes the pod of a last attempt; what it printed passed through here. */
	if (code == 0 && run->pods.last_launcher)
		code = seen_keep_tail(&seen, run->pods.last_launcher, run->pods.last,
		    run->pods.last_len);
	if (code == 0 && seen_diagnose(&seen, mpijob__base_clock_wall_ms(), causes) >= 0)
		tell(run, causes);
	seen_free(&seen);
	mpijob_diag_free(causes);
}
