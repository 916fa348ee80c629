/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every feature beyond mpi-operator v0.8.2 that is off unless it is asked for: THE table. Flags,
 * annotations, files and docs/options.md (tests/unit/test_render_features.c) take names, bounds and
 * sentences from it. What a feature does to a child or a plan is in the file of that child; what is
 * on by default is in differences.c.
 */
#include "render/features.h"

#include "core/diag.h"
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
	    "Delete the MPIJob itself, and so all that it owns, ttlSecondsAfterFinished after its "
	    "end.",
	    "The time counts from the job's `completionTime`, and ten seconds are added, since the "
	    "clock that wrote it may be another one. A job without `ttlSecondsAfterFinished` "
	    "stays.",
	    "The MPIJob is gone, with its status. Without this only its launcher Job goes."),
	ROW(clean_launcher, "clean-launcher", SWITCH, 1, 1, 18,
	    "With cleanPodPolicy All, delete the launcher's pods too once the job has ended.",
	    "The launcher Job stays, with its conditions and counts; its pods go, those of earlier "
	    "attempts too, and their logs with them. Running and None are as before.",
	    "The launcher's logs can no longer be had from the cluster."),
	ROW(replace_workers, "replace-workers", COUNT, 1, 10000, 5,
	    "Delete a worker pod that failed and make it again, at most so many times a job.",
	    "An evicted worker counts as one that failed, and ends the job only when no "
	    "replacement is left. At most sixteen are replaced at a time, and the next ones ten "
	    "seconds later. The condition `Restarting` says how many there were; that is where the "
	    "count is kept. Not looked at with `restart-gang`.",
	    "The log of the worker that failed is gone; a launcher that does not expect it meets "
	    "an empty worker."),
	ROW(restart_gang, "restart-gang", COUNT, 1, 1000, 5,
	    "When a worker pod failed, stop the launcher, delete all workers and begin again, at "
	    "most so many times a job.",
	    "A worker pod that somebody deletes is made again alone, as always. The launcher Job "
	    "is suspended until its pods are gone, and goes on as after a suspension: "
	    "`backoffLimit` counts on, `activeDeadlineSeconds` begins anew. An evicted worker "
	    "counts as one that failed. A launcher Job that has failed for good ends the job as "
	    "before. From the second on a restart waits until the one before it was through for "
	    "ten seconds, each time twice as long, at most five minutes. The condition "
	    "`Restarting` says how many there were; that is where the count is kept.",
	    "The job runs again from its beginning, where it would have gone on without the worker "
	    "or failed."),
	ROW(fail_invalid, "fail-invalid", SWITCH, 1, 1, 6,
	    "A job that is refused before anything of it started gets the condition Failed with "
	    "reason ValidationError.",
	    "When its spec is corrected, the condition goes and the job begins. A job that had "
	    "started is not failed by an edit: it gets the Event alone. The Event comes once for "
	    "each message.",
	    "Who waits for the job sees that it failed; a queue may take it for finished, also "
	    "when it is corrected later."),
	ROW(gang_safe_wait, "gang-safe-wait", SWITCH, 1, 1, 3,
	    "With WaitForWorkersReady, the PodGroup's minMember and minResources leave the "
	    "launcher out until it runs.",
	    "A `minAvailable` that counts the launcher is lowered to the number of workers for so "
	    "long. Once the launcher Job is there and not suspended, the PodGroup is what it is "
	    "without this.",
	    "The gang is placed without room for the launcher, which then may have to wait for "
	    "it."),
	ROW(worker_readiness, "worker-readiness", COUNT, 1, 65535, 0,
	    "Workers are ready only once they accept connections on this port, that of their sshd.",
	    "The first container of each worker gets a readiness probe (tcpSocket), unless it has "
	    "one. Where `ssh-port` is used, its port is asked.",
	    "`WaitForWorkersReady` waits for sshd, and so do the workers' DNS names: a launcher "
	    "that is made `AtStartup` should wait for them, with `wait-for-hosts`. If sshd listens "
	    "on another port, the job waits for ever."),
	ROW(ssh_port, "ssh-port", COUNT, 1, 65535, 0,
	    "Let the workers' sshd listen on this port, and ssh connect to it.",
	    "sshd gets `-p PORT` where the worker's first container runs the default command, or "
	    "one whose program is sshd; ssh gets it through the variables of each MPI. The "
	    "hostfile stays. Where it cannot be known that sshd listens there, nothing is changed, "
	    "and a finding tells.",
	    "Scripts that call ssh themselves need `-p` too."),
	ROW(user_variables, "user-variables", SWITCH, 1, 1, 20,
	    "A variable in the env of the user's first container wins over one of the same name "
	    "that is added.",
	    "What comes by `envFrom` does not: what it holds is not known.",
	    "Values that the added ones have overridden so far take effect."),
	ROW(user_dns_policy, "user-dns-policy", SWITCH, 1, 1, 21,
	    "A dnsPolicy that the user chose stays with hostNetwork.",
	    "Without one it is `ClusterFirstWithHostNet`, as always.",
	    "With `Default`, or `ClusterFirst`, which means the same there, the names of the "
	    "hostfile are not found."),
	ROW(private_keys, "private-keys", SWITCH, 1, 1, 22,
	    "The keys have mode 0600 wherever they are mounted, as they have in /root/.ssh.",
	    "Not for a pod whose user is known not to be root: the files belong to root, and it "
	    "could not read them. A finding tells.",
	    "Programs that run under another user in the container can no longer read the keys."),
	ROW(wait_for_hosts, "wait-for-hosts", DURATION, 1, A_DAY, 0,
	    "Let the launcher wait for so long until all hosts have addresses, in an init "
	    "container.",
	    "The init container, `wait-for-hosts`, runs the launcher's image until all hosts of "
	    "the hostfile have addresses, asks for what the launcher's first container asks for, "
	    "and fails after the given time with the names that have none. It needs a POSIX shell, "
	    "`date`, and `getent` or `ssh`. mpirun gives up at the first name that does not "
	    "resolve, however patient its ssh is, and names may come later than pods.",
	    "The launcher's pod has an init container."),
	ROW(compact_hosts, "compact-hosts", SWITCH, 1, 1, 0,
	    "Short host names, and a discover_hosts.sh that counts: for jobs whose ConfigMap would "
	    "be too large.",
	    "Hosts are called `JOB-worker-0.JOB` in the hostfile, without namespace and domain, "
	    "and `discover_hosts.sh` prints them by counting over ranges instead of one `echo` for "
	    "each. Pods of the job's namespace find the names through their search domains, unless "
	    "their `dnsPolicy` is `Default` or `None`. 10,000 workers with ordinary names take 1.9 "
	    "MB, and a ConfigMap holds 1 MiB.",
	    "Programs that read the hostfile find short names."),
	ROW(network_policy, "network-policy", SWITCH, 1, 1, 0,
	    "One NetworkPolicy for each job: only pods of the job reach its pods.",
	    "It is called as the job, owned by it, made with the Service and gone with the job; it "
	    "holds for launcher and workers and for all ports. What the pods themselves connect to "
	    "is not limited. It takes a network that enforces such policies, and the right to "
	    "create and watch them.",
	    "Ports of the job's pods that others use, for metrics or a dashboard, are closed."),
	ROW(fail_lost_worker, "fail-lost-worker", SWITCH, 1, 1, 0,
	    "A job whose launcher succeeded although a worker pod was deleted or failed during the "
	    "run is Failed, not Succeeded.",
	    "mpirun of Open MPI 5.0.7 exits with 0 when it loses a worker. The job gets the reason "
	    "MPIJobWorkerLost and the name of the worker. A worker pod counts as lost when it "
	    "failed, is missing or being deleted when the launcher ends, or was created again "
	    "after the launcher Job had started. A pod that is lost and created again within the "
	    "second in which the launcher started is not noticed; a worker that is added while the "
	    "job runs counts as lost. Not for elastic programs, and not with `replace-workers`.",
	    "A job that goes on without a worker, as elastic programs do, fails at its end."),
};

#define COUNT (sizeof(rows) / sizeof(rows[0]))

size_t mpijob_feature_count(void)
{
	return COUNT;
}

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

/* A number that stands first in the text, at most nine digits; its end, or NULL. */
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

	if (mpijob_duration_parse(text, &ms) || ms > INT64_C(1000) * INT32_MAX)
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

static int refuse_value(const struct row *row, const char *value, mpijob_diag *diag)
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

static int refuse_name(const char *name, mpijob_diag *diag)
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
		return refuse_name(name, diag);
	if (row->offset + sizeof(int32_t) > features->size)
		return MPIJOB_ERR_UNSUPPORTED;
	value = value != NULL ? value : "true";
	if (!read_value(row, value, &number) || !in_bounds(row, number))
		return refuse_value(row, value, diag);
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
