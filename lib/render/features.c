/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of features beyond mpi-operator v0.8.2, which are off by default. Flags, annotations,
 * files and docs/options.md (tests/unit/test_render_features.c) use its names, bounds and
 * descriptions. The code of a feature is in the file of the child or plan that it changes.
 * Differences that are on by default are in differences.inc.
 */
#include "render/features.h"

#include "core/diag.h"
#include "base/duration.h"
#include "base/near.h"
#include "base/struct.h"

#include <stddef.h>
#include <string.h>

#define A_DAY 86400

struct row {
	struct mpijob_feature view;
	size_t offset; /* in struct mpijob_features */
};

#define ROW(member, name, kind, minimum, maximum, defect, summary, detail, notice)              \
	{                                                                                       \
		{ sizeof(struct mpijob_feature), name, MPIJOB_FEATURE_##kind, minimum, maximum, \
			defect, summary, detail, notice },                                      \
		    offsetof(struct mpijob_features, member)                                    \
	}

static const struct row rows[] = {
	ROW(ttl_deletes_job, "ttl-deletes-job", SWITCH, 1, 1, 19,
	    "Delete the MPIJob itself, with everything that it owns, ttlSecondsAfterFinished after "
	    "its end.",
	    "The time starts at the job's `completionTime`. Ten seconds are added, because another "
	    "clock may have written it. A job without `ttlSecondsAfterFinished` is kept.",
	    "The MPIJob is deleted, with its status. Without this option only its launcher Job is "
	    "deleted."),
	ROW(clean_launcher, "clean-launcher", SWITCH, 1, 1, 18,
	    "With cleanPodPolicy All, delete the launcher's pods too when the job has ended.",
	    "The launcher Job is kept, with its conditions and counts. Its pods are deleted, "
	    "including those of earlier attempts, and so are their logs. The policies Running and "
	    "None do not change.",
	    "The launcher's logs are no longer available in the cluster."),
	ROW(replace_workers, "replace-workers", COUNT, 1, 10000, 5,
	    "Recreate a failed worker pod, at most this number of times for a job.",
	    "An evicted worker counts as failed, and ends the job only if no replacement is left. "
	    "At most sixteen workers are replaced at a time, and the next ones ten seconds later. "
	    "The condition `Restarting` contains the count. Ignored with `restart-gang`.",
	    "The log of the failed worker is lost. A launcher that does not support replacements "
	    "finds a worker without its processes."),
	ROW(restart_gang, "restart-gang", COUNT, 1, 1000, 5,
	    "When a worker pod fails, stop the launcher, delete all workers and restart the job, "
	    "at most this number of times for a job.",
	    "If a user deletes a worker pod, only that pod is recreated, as always. The launcher "
	    "Job is suspended until its pods are deleted, and continues as after a suspension: the "
	    "count for `backoffLimit` continues, `activeDeadlineSeconds` starts from zero. An "
	    "evicted worker counts as failed. A launcher Job that has finally failed ends the job, "
	    "as without this option. The second restart waits until ten seconds after the first "
	    "one was complete; each further restart waits twice as long, at most five minutes. The "
	    "condition `Restarting` contains the count.",
	    "The job runs again from the start. Without this option it would continue without the "
	    "worker, or fail."),
	ROW(fail_invalid, "fail-invalid", SWITCH, 1, 1, 6,
	    "A job that is rejected before it has started gets the condition Failed with reason "
	    "ValidationError.",
	    "When its spec is corrected, the condition is removed and the job starts. An edit does "
	    "not fail a job that had started; it only gets the Event. The Event is sent once for "
	    "each message.",
	    "A client that waits for the job sees the failure. A queue may treat the job as "
	    "finished, even if it is corrected later."),
	ROW(gang_safe_wait, "gang-safe-wait", SWITCH, 1, 1, 3,
	    "With WaitForWorkersReady, exclude the launcher from the PodGroup's minMember and "
	    "minResources until it runs.",
	    "Until then, a `minAvailable` that includes the launcher is reduced to the number of "
	    "workers. When the launcher Job exists and is not suspended, the PodGroup is the same "
	    "as without this option.",
	    "The gang is scheduled without resources for the launcher, which may then have to wait "
	    "for them."),
	ROW(worker_readiness, "worker-readiness", COUNT, 1, 65535, 0,
	    "Workers are ready only when they accept connections on this port, that of their sshd.",
	    "The first container of each worker gets a readiness probe (tcpSocket), unless it has "
	    "one. With `ssh-port`, the probe uses that port.",
	    "`WaitForWorkersReady` waits for sshd. The workers' DNS names are published later too, "
	    "so a launcher that is created `AtStartup` should wait for them, with "
	    "`wait-for-hosts`. If sshd listens on another port, the job waits forever."),
	ROW(ssh_port, "ssh-port", COUNT, 1, 65535, 0,
	    "The workers' sshd listens on this port, and ssh connects to it.",
	    "sshd gets `-p PORT` if the worker's first container runs the default command, or a "
	    "command whose program is sshd. ssh gets the port through the variables of each MPI. "
	    "The hostfile does not change. If it is unknown whether sshd listens on that port, "
	    "nothing is changed, and there is a finding.",
	    "Scripts that call ssh directly need `-p` too."),
	ROW(user_variables, "user-variables", SWITCH, 1, 1, 20,
	    "A variable in the env of the user's first container wins over an added variable of "
	    "the same name.",
	    "Variables from `envFrom` do not win, because their names are unknown.",
	    "Values that were overridden until now take effect."),
	ROW(user_dns_policy, "user-dns-policy", SWITCH, 1, 1, 21,
	    "Keep the user's dnsPolicy with hostNetwork.",
	    "If the user sets none, it is `ClusterFirstWithHostNet`, as always.",
	    "With `Default`, or with `ClusterFirst`, which then has the same meaning, the names of "
	    "the hostfile do not resolve."),
	ROW(private_keys, "private-keys", SWITCH, 1, 1, 22,
	    "The keys have mode 0600 wherever they are mounted, as in /root/.ssh.",
	    "This does not apply to a pod whose user is known not to be root: the files belong to "
	    "root, and that user could not read them. Then there is a finding.",
	    "Programs of another user in the container can no longer read the keys."),
	ROW(wait_for_hosts, "wait-for-hosts", DURATION, 1, A_DAY, 0,
	    "An init container of the launcher waits until all hosts have addresses, at most this "
	    "time.",
	    "The init container, `wait-for-hosts`, runs the launcher's image until all hosts of "
	    "the hostfile have addresses. It requests the same resources as the launcher's first "
	    "container. After the given time it fails and prints the names without an address. It "
	    "needs a POSIX shell, `date`, and `getent` or `ssh`. mpirun fails at the first name "
	    "that does not resolve, whatever the retry settings of ssh are, and names may be "
	    "published later than pods.",
	    "The launcher's pod has an init container."),
	ROW(compact_hosts, "compact-hosts", SWITCH, 1, 1, 0,
	    "Short host names and a discover_hosts.sh with loops, for jobs whose ConfigMap would "
	    "be too large.",
	    "The hostfile contains names such as `JOB-worker-0.JOB`, without namespace and domain. "
	    "`discover_hosts.sh` prints them with loops over ranges instead of one `echo` for "
	    "each. Pods of the job's namespace resolve the names through their search domains, "
	    "unless their `dnsPolicy` is `Default` or `None`. 10,000 workers with ordinary names "
	    "need 1.9 MB, and the limit of a ConfigMap is 1 MiB.",
	    "Programs that read the hostfile get short names."),
	ROW(network_policy, "network-policy", SWITCH, 1, 1, 0,
	    "Create a NetworkPolicy for each job: only pods of the job reach its pods.",
	    "It has the name of the job, which owns it. It is created with the Service and deleted "
	    "with the job. It applies to launcher and workers and to all ports. Outgoing "
	    "connections of the pods are not limited. This needs a network that enforces such "
	    "policies, and the right to create and watch them.",
	    "Ports of the job's pods that other pods use, for metrics or a dashboard, are closed."),
	ROW(fail_lost_worker, "fail-lost-worker", SWITCH, 1, 1, 0,
	    "A job whose launcher succeeds although a worker pod was deleted or failed during the "
	    "run is Failed, not Succeeded.",
	    "mpirun of Open MPI 5.0.7 exits with 0 when it loses a worker. The job gets the reason "
	    "MPIJobWorkerLost and the name of the worker. A worker pod counts as lost if it "
	    "failed, if it is missing or being deleted when the launcher ends, or if it was "
	    "recreated after the launcher Job had started. A pod that is lost and recreated within "
	    "the second in which the launcher starts is not detected. A worker that is added while "
	    "the job runs counts as lost. Do not use this for elastic programs, nor with "
	    "`replace-workers`.",
	    "A job that continues without a worker, as elastic programs do, fails at its end."),
};

#define COUNT (sizeof(rows) / sizeof(rows[0]))

const struct mpijob_feature *mpijob_feature_at(size_t index)
{
	return index < COUNT ? &rows[index].view : NULL;
}

static const struct row *find(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (strcmp(rows[i].view.name, name) == 0)
			return &rows[i];
	return NULL;
}

const struct mpijob_feature *mpijob_feature_find(const char *name)
{
	const struct row *row = name != NULL ? find(name) : NULL;

	return row != NULL ? &row->view : NULL;
}

static int32_t *place(struct mpijob_features *features, const struct row *row)
{
	return (int32_t *)(void *)((char *)features + row->offset);
}

static int in_bounds(const struct row *row, int64_t value)
{
	return value == 0 || (value >= row->view.minimum && value <= row->view.maximum);
}

/* Parse a number of at most nine digits at the beginning of a text. Returns its end, or NULL. */
static const char *read_number(const char *text, int64_t *out)
{
	size_t len = strspn(text, "0123456789");

	if (len == 0 || len > 9)
		return NULL;
	*out = 0;
	for (size_t i = 0; i < len; i++)
		*out = *out * 10 + (text[i] - '0');
	return text + len;
}

static int read_seconds(const char *text, int64_t *out)
{
	int64_t ms;

	if (mpijob__base_duration_parse(text, &ms) || ms > INT64_C(1000) * INT32_MAX)
		return 0;
	*out = (ms + 999) / 1000;
	return 1;
}

static int read_value(const struct row *row, const char *text, int64_t *out)
{
	const char *end;

	if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0) {
		*out = 0;
		return 1;
	}
	*out = 1;
	switch (row->view.kind) {
	case MPIJOB_FEATURE_SWITCH: return strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
	case MPIJOB_FEATURE_DURATION: return read_seconds(text, out);
	default: end = read_number(text, out); return end != NULL && *end == '\0';
	}
}

static int report_value(const struct row *row, const char *value, mpijob_diag *diag)
{
	const struct mpijob_feature *view = &row->view;

	if (view->kind == MPIJOB_FEATURE_SWITCH)
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "invalid-feature", "Invalid",
		    view->name, NULL, "'%s' is not accepted; use true or false", value);
	else if (view->kind == MPIJOB_FEATURE_DURATION)
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "invalid-feature", "Invalid",
		    view->name, NULL,
		    "'%s' is not accepted; use a duration as 90s, 5m or 1h30m, at most %d s, or 0",
		    value, (int)view->maximum);
	else
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "invalid-feature", "Invalid",
		    view->name, NULL, "'%s' is not accepted; use a number from %d to %d, or 0",
		    value, (int)view->minimum, (int)view->maximum);
	return MPIJOB_ERR_SPEC;
}

static int report_name(const char *name, mpijob_diag *diag)
{
	const char *names[COUNT], *near;

	for (size_t i = 0; i < COUNT; i++)
		names[i] = rows[i].view.name;
	near = mpijob__base_near_word(name, names, COUNT);
	mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "unknown-feature", "NotSupported", name,
	    NULL, "there is no such feature%s%s%s", near != NULL ? "; did you mean " : "",
	    near != NULL ? near : "", near != NULL ? "?" : "");
	return MPIJOB_ERR_NOT_FOUND;
}

int mpijob_features_set(struct mpijob_features *features, const char *name, const char *value,
    mpijob_diag *diag)
{
	struct mpijob_features known;
	const struct row *row;
	int64_t number;
	int code = features != NULL && name != NULL
		       ? mpijob__base_struct_check(&known, sizeof(known), features)
		       : MPIJOB_ERR_USAGE;

	if (code != 0)
		return code;
	row = find(name);
	if (row == NULL)
		return report_name(name, diag);
	if (row->offset + sizeof(int32_t) > features->size)
		return MPIJOB_ERR_UNSUPPORTED;
	value = value != NULL ? value : "true";
	if (!read_value(row, value, &number) || !in_bounds(row, number))
		return report_value(row, value, diag);
	*place(features, row) = (int32_t)number;
	return 0;
}

int32_t mpijob_features_get(const struct mpijob_features *features, const char *name)
{
	const struct row *row = name != NULL ? find(name) : NULL;
	int32_t value;

	if (features == NULL || row == NULL || row->offset + sizeof(value) > features->size)
		return 0;
	memcpy(&value, (const char *)features + row->offset, sizeof(value));
	return value;
}

int mpijob__render_features_take(const struct mpijob_features *given, int reference,
    struct mpijob_features *out)
{
	int code = mpijob__base_struct_check(out, sizeof(*out), given);

	if (code == 0 && !mpijob__base_struct_is_flag(reference))
		code = MPIJOB_ERR_USAGE;
	for (size_t i = 0; code == 0 && i < COUNT; i++)
		if (!in_bounds(&rows[i], *place(out, &rows[i])))
			code = MPIJOB_ERR_USAGE;
	return code == 0 && reference ? mpijob__base_struct_check(out, sizeof(*out), NULL) : code;
}
