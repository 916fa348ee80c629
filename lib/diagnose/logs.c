/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds causes in logs. A table has the error messages of ssh, sshd and the MPIs as literal parts
 * of lines. `before` may contain one `*` for any text between two parts; the word after `before`
 * (or with `back` in front of it) is the subject: a host, a file, a user. `after` must follow on
 * the same line.
 *
 * Also finds workers on which no rank ran (sshd reports that it listens, but never an accepted
 * login), and a lost worker in the log of a launcher that ended with exit code 0.
 */
#include "diagnose/diagnose.h"

#include <string.h>

#define ANYWHERE 0
#define BACK     1 /* the subject is in front */
#define OPENMPI  1
#define HYDRA    2

static const struct pattern {
	const char *id;
	int rank;
	int back;
	const char *before;
	const char *after;   /* NULL: anything */
	const char *message; /* {} is the subject */
} patterns[] = {
	{ "name-unresolved", RANK_CONNECT, 0, "Could not resolve hostname ", ":",
	    "ssh finds no address for {}" },
	{ "name-unresolved", RANK_CONNECT, 0, "unable to get host address for ", NULL,
	    "Hydra finds no address for {}" },
	{ "sshd-not-reached", RANK_CONNECT, 0, "connect to host ", "Connection refused",
	    "nothing accepts ssh connections on {}" },
	{ "host-unreachable", RANK_CONNECT, 0, "connect to host ", "Connection timed out",
	    "{} cannot be reached: timed out" },
	{ "host-unreachable", RANK_CONNECT, 0, "connect to host ", "No route to host",
	    "{} cannot be reached: no route" },
	{ "ssh-closed", RANK_CONNECT + 3, 0, "Connection reset by ", " port ",
	    "sshd on {} drops connections" },
	{ "ssh-closed", RANK_CONNECT + 3, 0, "Connection closed by ", " port ",
	    "sshd on {} drops connections" },
	{ "ssh-key-open", RANK_CONNECT, 0, "Permissions *for '", "are too open",
	    "ssh refuses the private key {}: others may read it" },
	{ "ssh-key-unreadable", RANK_CONNECT, 0, "Load key \"", "Permission denied",
	    "this user cannot read the private key {}" },
	{ "ssh-bad-modes", RANK_CONNECT, 0, "Authentication refused: bad ownership or modes for *",
	    NULL, "sshd does not accept the owner or mode of the {} with the keys" },
	{ "ssh-no-host-keys", RANK_CONNECT, 0, "no hostkeys available", NULL,
	    "sshd has no host key that it can use" },
	{ "sshd-no-root", RANK_CONNECT, 0, "chroot(\"", "Operation not permitted",
	    "sshd is not allowed to chroot into {}" },
	{ "sshd-no-root", RANK_CONNECT, 0, "Missing privilege separation directory: ", NULL,
	    "sshd's directory {} does not exist" },
	{ "ssh-pam", RANK_CONNECT, 0, "Access denied for user ", "by PAM account configuration",
	    "PAM does not allow user {} to log in" },
	{ "ssh-host-key", RANK_CONNECT, 0, "Host key verification failed", NULL,
	    "ssh does not trust the workers' host key" },
	{ "ssh-no-user", RANK_CONNECT, 0, "No user exists for uid ", NULL,
	    "user {} has no name in this image, so ssh refuses to run" },
	{ "sshd-port-denied", RANK_CONNECT, 0, "Bind to port ", "failed: Permission denied",
	    "sshd is not allowed to listen on port {}" },
	{ "sshd-port-taken", RANK_CONNECT, 0, "Bind to port ", "failed: Address already in use",
	    "port {} is already in use on this host" },
	{ "ssh-key-refused", RANK_CONNECT + 2, BACK, ": Permission denied (", NULL,
	    "sshd does not accept the key for {}" },
	{ "mpirun-not-found", RANK_CONNECT, BACK, "mpirun: command not found", NULL,
	    "there is no mpirun in the launcher's PATH" },
	{ "mpirun-not-found", RANK_CONNECT, BACK, "mpirun: not found", NULL,
	    "there is no mpirun in the launcher's PATH" },
	{ "mpirun-not-found", RANK_CONNECT, BACK, "mpiexec: command not found", NULL,
	    "there is no mpiexec in the launcher's PATH" },
	{ "mpirun-not-found", RANK_CONNECT, BACK, "mpiexec: not found", NULL,
	    "there is no mpiexec in the launcher's PATH" },
	{ "daemon-not-found", RANK_CONNECT, ANYWHERE, "orted: *not found", NULL,
	    "the workers' login shells find no orted" },
	{ "daemon-not-found", RANK_CONNECT, ANYWHERE, "orted: No such file", NULL,
	    "orted does not exist on the workers at the expected path" },
	{ "daemon-not-found", RANK_CONNECT, ANYWHERE, "prted: *not found", NULL,
	    "the workers' login shells find no prted" },
	{ "daemon-not-found", RANK_CONNECT, ANYWHERE, "prted: No such file", NULL,
	    "prted does not exist on the workers at the expected path" },
	{ "daemon-not-found", RANK_CONNECT, ANYWHERE, "hydra_pmi_proxy: *not found", NULL,
	    "the workers find no hydra_pmi_proxy" },
	{ "daemon-not-found", RANK_CONNECT, ANYWHERE, "hydra_pmi_proxy: No such file", NULL,
	    "hydra_pmi_proxy does not exist on the workers at the expected path" },
	{ "daemon-not-found", RANK_CONNECT, ANYWHERE, "hydra_bstrap_proxy: No such file", NULL,
	    "hydra_bstrap_proxy does not exist on the workers at the expected path" },
	{ "mpi-versions-differ", RANK_CONNECT, ANYWHERE, "detected a mismatch in versions", NULL,
	    "launcher and workers have different versions of Open MPI" },
	{ "mpi-versions-differ", RANK_CONNECT, ANYWHERE,
	    "Data unpack would read past end of buffer", NULL,
	    "launcher and workers seem to have different versions of Open MPI" },
	{ "no-way-back", RANK_CONNECT, 0, "unable to connect to server ", "check for firewalls",
	    "workers cannot connect to {}" },
	{ "mpi-interfaces", RANK_CONNECT, ANYWHERE,
	    "detected an inbound MPI TCP connection request", NULL,
	    "Open MPI receives connections from unexpected addresses" },
	{ "hostfile-unreadable", RANK_CONNECT, ANYWHERE, "unable to open the hostfile", NULL,
	    "mpirun cannot open its hostfile" },
	{ "hostfile-unreadable", RANK_CONNECT, 0, "unable to open host file: ", NULL,
	    "mpiexec cannot open the hostfile {}" },
	{ "not-enough-slots", RANK_CONNECT, ANYWHERE, "There are not enough slots available", NULL,
	    "more ranks are requested than the hosts have slots" },
	{ "mpirun-as-root", RANK_CONNECT, ANYWHERE, "detected an attempt to run as root", NULL,
	    "Open MPI refuses to run as root" },
	{ "no-space", RANK_PROGRAM, ANYWHERE, "No space left on device", NULL,
	    "a disk, or /dev/shm, is full" },
	{ "program-not-found", RANK_PROGRAM, ANYWHERE,
	    "unable to find the specified executable file", NULL,
	    "the program for mpirun does not exist or is not executable" },
	{ "program-not-found", RANK_PROGRAM, ANYWHERE, "unable to launch the specified application",
	    NULL, "the program for mpirun does not exist or is not executable" },
	{ "program-not-found", RANK_PROGRAM, 0, "execvp error on file ", NULL,
	    "the program {} does not exist or is not executable" },
	{ "worker-lost", RANK_CONNECT + 1, 0, "Remote daemon: *on node ", NULL,
	    "the connection to {} broke" },
	{ "worker-lost", RANK_CONNECT + 4, ANYWHERE, "has lost communication with a remote daemon",
	    NULL, "the connection to a worker broke" },
	{ "rank-killed", RANK_PROGRAM, 0, "noticed that process rank *on node ",
	    "exited on signal 9", "a rank on {} was killed" },
	{ "rank-killed", RANK_PROGRAM, ANYWHERE, "signal 9 (Killed)", NULL, "a rank was killed" },
	{ "rank-killed", RANK_PROGRAM, ANYWHERE, "KILLED BY SIGNAL: 9", NULL, "a rank was killed" },
	{ "rank-killed", RANK_PROGRAM, ANYWHERE, "Killed (signal 9)", NULL, "a rank was killed" },
	/* Also printed for signal 9, so these come after its patterns. */
	{ "rank-crashed", RANK_PROGRAM, 0, "noticed that process rank *on node ", "exited on",
	    "a rank on {} crashed" },
	{ "rank-crashed", RANK_PROGRAM, ANYWHERE, "KILLED BY SIGNAL: ", NULL, "a rank crashed" },
	{ "rank-crashed", RANK_PROGRAM, ANYWHERE, "TERMINATED WITH THE EXIT STRING: *(signal ",
	    NULL, "a rank crashed" },
	{ "rank-failed", RANK_SYMPTOM, ANYWHERE, "a non-zero exit code. ", "job has been aborted",
	    "a rank ended with an error" },
	{ "rank-failed", RANK_SYMPTOM, ANYWHERE, "exited with non-zero status", NULL,
	    "a rank ended with an error" },
	{ "rank-failed", RANK_SYMPTOM, ANYWHERE,
	    "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", NULL,
	    "a rank ended with an error" },
	{ "daemons-not-started", RANK_SYMPTOM, ANYWHERE,
	    "unable to reliably start one or more daemons", NULL,
	    "mpirun could not start its daemons on the workers; the log gives no reason" },
	{ "daemons-not-started", RANK_SYMPTOM, ANYWHERE,
	    "A daemon failed to report back after being spawned", NULL,
	    "mpirun could not start its daemons on the workers; the log gives no reason" },
	{ "daemons-not-started", RANK_SYMPTOM, 0, "nable to run bstrap_proxy on ", NULL,
	    "Hydra could not start its proxy on {}; the log gives no reason" },
	{ "daemons-not-started", RANK_SYMPTOM, ANYWHERE, "Launch proxy failed.", NULL,
	    "Hydra could not start its proxies on the workers; the log gives no reason" },
};

static const struct {
	const char *text;
	int family;
	const char *name;
} flavours[] = {
	{ "ORTE was unable", OPENMPI, "Open MPI" },
	{ "Open RTE ", OPENMPI, "Open MPI" },
	{ "PRTE was unable", OPENMPI, "Open MPI" },
	{ "prterun ", OPENMPI, "Open MPI" },
	{ "ORTE does not know", OPENMPI, "Open MPI" },
	{ "[mpiexec@", HYDRA, "Hydra (MPICH, Intel MPI)" },
	{ "HYDU_", HYDRA, "Hydra (MPICH, Intel MPI)" },
	{ "HYD_pmcd", HYDRA, "Hydra (MPICH, Intel MPI)" },
};

struct span {
	const char *at;
	size_t len;
};

static const char *find(struct span in, const char *piece, size_t len)
{
	const char *at = in.at, *last = in.at + in.len;

	while ((size_t)(last - at) >= len &&
	       (at = memchr(at, *piece, (size_t)(last - at) - len + 1)) != NULL) {
		if (memcmp(at, piece, len) == 0)
			return at;
		at++;
	}
	return NULL;
}

static struct span line_around(struct span text, const char *at)
{
	const char *begin = at, *end = at;

	while (begin > text.at && begin[-1] != '\n')
		begin--;
	while (end < text.at + text.len && *end != '\n')
		end++;
	return (struct span){ begin, (size_t)(end - begin) };
}

static int ends_word(char c)
{
	return c == ' ' || c == '\t' || c == '\'' || c == '"' || c == ':' || c == ',' || c == '(' ||
	       c == ')' || c == '\r';
}

static struct span word_after(struct span line, const char *at)
{
	const char *end = line.at + line.len, *to = at;

	while (to < end && !ends_word(*to))
		to++;
	return (struct span){ at, (size_t)(to - at) };
}

static struct span word_before(struct span line, const char *at)
{
	const char *from = at;

	while (from > line.at && !ends_word(from[-1]))
		from--;
	return (struct span){ from, (size_t)(at - from) };
}

/* The end of the pattern's `before` in a line; NULL when the pattern does not match. */
static const char *match(struct span line, const struct pattern *pattern, const char **begin)
{
	const char *star = strchr(pattern->before, '*');
	size_t len = star ? (size_t)(star - pattern->before) : strlen(pattern->before);
	const char *at = find(line, pattern->before, len);

	if (!at)
		return NULL;
	*begin = at;
	at += len;
	if (star && star[1]) {
		at = find((struct span){ at, (size_t)(line.at + line.len - at) }, star + 1,
		    strlen(star + 1));
		at = at ? at + strlen(star + 1) : NULL;
	}
	if (at && pattern->after &&
	    !find((struct span){ at, (size_t)(line.at + line.len - at) }, pattern->after,
		strlen(pattern->after)))
		return NULL;
	return at;
}

/* The subject of a line. After a final `*` it is the rest of the line, such as "directory
 * /root/.ssh". */
static struct span subject_of(struct span line, const struct pattern *pattern, const char *begin,
    const char *end)
{
	if (!strstr(pattern->message, "{}"))
		return (struct span){ end, 0 };
	if (pattern->back)
		return word_before(line, begin);
	const char *last = pattern->before + strlen(pattern->before) - 1;
	if (*last == '*')
		return (struct span){ end, (size_t)(line.at + line.len - end) };
	return word_after(line, end);
}

static int is_own_name(const struct mpijob__diagnose_case *this, const char *host)
{
	return mpijob__diagnose_case_role(this, host) == MPIJOB__DIAGNOSE_LAUNCHER_POD;
}

static void put_message(struct mpijob__diagnose_case *this, struct mpijob_text *out,
    const char *message, const char *subject)
{
	const char *hole = strstr(message, "{}");
	int code =
	    mpijob_text_write(out, message, hole ? (size_t)(hole - message) : strlen(message));

	if (code == 0 && hole)
		code =
		    mpijob__base_text_printf(out, "%s%s", *subject ? subject : "a host", hole + 2);
	if (code)
		this->code = code;
}

/* Whether a worker has ended, or never ran: then it cannot be reached, and its end is a separate
 * finding, unless the worker was deleted, as workers are at the end of a job. */
static int has_ended(const struct mpijob__diagnose_case *this, const char *host)
{
	char name[256];
	size_t len = strcspn(host, ".");

	if (len >= sizeof(name))
		return 0;
	memcpy(name, host, len);
	name[len] = '\0';
	const mpijob_node *pod = mpijob__diagnose_case_pod(this, name);
	const char *phase = mpijob__diagnose_case_text(pod, "status.phase");
	return !mpijob_node_find(pod, "metadata.deletionTimestamp") &&
	       (strcmp(phase, "Failed") == 0 || strcmp(phase, "Succeeded") == 0);
}

static int is_connection_problem(const char *id)
{
	return strcmp(id, "name-unresolved") == 0 || strcmp(id, "sshd-not-reached") == 0 ||
	       strcmp(id, "host-unreachable") == 0 || strcmp(id, "ssh-closed") == 0;
}

struct check {
	struct mpijob__diagnose_case *this;
	const struct mpijob_log_tail *log;
	int32_t severity;
};

static void report(const struct check *check, const struct pattern *pattern, struct span subject)
{
	struct mpijob__diagnose_case *this = check->this;
	struct mpijob_text name = { 0 }, message = { 0 };
	const char *id = pattern->id;

	int is_worker =
	    mpijob__diagnose_case_role(this, check->log->pod) == MPIJOB__DIAGNOSE_WORKER_POD;

	if (strcmp(id, "rank-crashed") == 0 && mpijob__diagnose_case_has(this, "rank-killed"))
		return;
	/* sshd logs this for every connection that ends. */
	if (strcmp(id, "ssh-closed") == 0 && is_worker)
		return;
	if (mpijob_text_write(&name, subject.at, subject.len < 255 ? subject.len : 255))
		this->code = MPIJOB_ERR_NOMEM;
	const char *host = mpijob_text_data(&name);
	put_message(this, &message, pattern->message, host);
	int own = strcmp(id, "name-unresolved") == 0 && is_own_name(this, host);
	if (this->code == 0 && is_connection_problem(id) && has_ended(this, host))
		/* the pod's finding says it */;
	else if (this->code == 0 && own)
		mpijob__diagnose_case_add(this, "own-name-unresolved", check->severity,
		    pattern->rank, host, NULL,
		    "the launcher's own name %s has no address (log of pod %s)", host,
		    check->log->pod);
	else if (this->code == 0)
		mpijob__diagnose_case_add(this, id, check->severity, pattern->rank,
		    *host       ? host
		    : is_worker ? check->log->pod
				: NULL,
		    NULL, "%s (log of pod %s)", mpijob_text_data(&message), check->log->pod);
	mpijob__base_text_release(&name);
	mpijob__base_text_release(&message);
}

static void find_pattern(const struct check *check, const struct pattern *pattern)
{
	struct span all = { check->log->text, check->log->len }, rest = all;
	size_t len = strcspn(pattern->before, "*");
	const char *at;

	while (check->this->code == 0 && (at = find(rest, pattern->before, len)) != NULL) {
		struct span line = line_around(all, at);
		const char *begin = NULL, *end = match(line, pattern, &begin);
		if (end)
			report(check, pattern, subject_of(line, pattern, begin, end));
		rest.at = line.at + line.len;
		rest.len = (size_t)(all.at + all.len - rest.at);
	}
}

static void check_implementation(const struct check *check)
{
	const char *wanted =
	    mpijob__diagnose_case_text(check->this->root, "spec.mpiImplementation");
	int family = !*wanted || strcmp(wanted, "OpenMPI") == 0 ? OPENMPI : HYDRA;
	struct span all = { check->log->text, check->log->len };

	for (size_t i = 0; i < sizeof(flavours) / sizeof(flavours[0]); i++) {
		if (flavours[i].family == family ||
		    !find(all, flavours[i].text, strlen(flavours[i].text)))
			continue;
		mpijob__diagnose_case_add(check->this, "mpi-mismatch", check->severity,
		    RANK_CONNECT, NULL, "spec.mpiImplementation",
		    "the job sets %s, but pod %s runs %s, which does not read the hosts from the "
		    "same place",
		    *wanted ? wanted : "OpenMPI", check->log->pod, flavours[i].name);
		return;
	}
}

/* Open MPI 5 ignores the variables that mpi-operator sets: then it uses only the slots of the
 * launcher. */
static void check_prte(const struct check *check)
{
	struct span all = { check->log->text, check->log->len };
	const mpijob_node *pod = mpijob__diagnose_case_pod(check->this, check->log->pod);
	const mpijob_node *env = mpijob_node_find(pod, "spec.containers[0].env");

	if (!find(all, "PRRTE", 5) || !find(all, "not enough slots", 16) ||
	    mpijob_node_count(env) == 0)
		return;
	for (size_t i = 0; i < mpijob_node_count(env); i++)
		if (strcmp(mpijob__diagnose_case_text(mpijob_node_at(env, i), "name"),
			"PRTE_MCA_prte_default_hostfile") == 0)
			return;
	mpijob__diagnose_case_add(check->this, "ranks-on-launcher", check->severity,
	    RANK_CONNECT - 1, NULL, NULL,
	    "Open MPI 5 does not know the workers: pod %s has no PRTE_MCA_prte_default_hostfile",
	    check->log->pod);
}

/* A problem in the log of a running pod may have resolved itself. */
static int32_t severity_of(const struct mpijob__diagnose_case *this, const char *pod)
{
	const mpijob_node *node = mpijob__diagnose_case_pod(this, pod);
	const char *phase = mpijob__diagnose_case_text(node, "status.phase");

	if (this->failed || strcmp(phase, "Failed") == 0)
		return MPIJOB_SEVERITY_ERROR;
	return MPIJOB_SEVERITY_WARNING;
}

void mpijob__diagnose_check_logs(struct mpijob__diagnose_case *this)
{
	for (size_t i = 0; i < this->evidence.logs_count && this->code == 0; i++) {
		struct check check = { this, &this->logs[i], 0 };
		if (check.log->len == 0)
			continue;
		check.severity = severity_of(this, check.log->pod);
		for (size_t j = 0; j < sizeof(patterns) / sizeof(patterns[0]); j++)
			find_pattern(&check, &patterns[j]);
		if (mpijob__diagnose_case_role(this, check.log->pod) ==
		    MPIJOB__DIAGNOSE_LAUNCHER_POD) {
			check_implementation(&check);
			check_prte(&check);
		}
	}
	if (mpijob__diagnose_case_before(this, RANK_SYMPTOM))
		mpijob__diagnose_case_drop(this, RANK_SYMPTOM, RANK_END);
}

static const char *text_of(const mpijob_node *node)
{
	const char *text = mpijob_node_string(node);

	return text ? text : "";
}

/* Whether the launcher's command contains a program that starts ranks; a script may hide it. */
static int starts_ranks(const struct mpijob__diagnose_case *this)
{
	static const char *const lists[] = { "command", "args" };
	static const char *const words[] = { "mpirun", "mpiexec", "orterun", "prterun",
		"horovodrun", "deepspeed" };
	const mpijob_node *container = mpijob_node_find(this->root,
	    "spec.mpiReplicaSpecs[Launcher].template.spec.containers[0]");

	for (size_t list = 0; list < 2; list++) {
		const mpijob_node *items = mpijob_node_get(container, lists[list]);
		for (size_t i = 0; i < mpijob_node_count(items); i++)
			for (size_t j = 0; j < sizeof(words) / sizeof(words[0]); j++)
				if (strstr(text_of(mpijob_node_at(items, i)), words[j]))
					return 1;
	}
	return 0;
}

/* PRRTE ends with 0 when it has lost a daemon: the ranks on that worker were lost. */
static void check_lost_worker(struct mpijob__diagnose_case *this, const struct mpijob_log_tail *log)
{
	static const char lost[] = "has lost communication with a remote daemon",
			  remote[] = "Remote daemon: ";
	static const char node[] = " on node ";
	struct span all = { log->text, log->len }, host = { "a worker", 8 };
	const char *at = find(all, lost, sizeof(lost) - 1);

	if (!at)
		return;
	at = find((struct span){ at, (size_t)(all.at + all.len - at) }, remote, sizeof(remote) - 1);
	struct span line = at ? line_around(all, at) : (struct span){ "", 0 };
	const char *named = find(line, node, sizeof(node) - 1);
	if (named)
		host = word_after(line, named + sizeof(node) - 1);
	mpijob__diagnose_case_add(this, "worker-lost", MPIJOB_SEVERITY_ERROR, RANK_CONNECT, NULL,
	    NULL,
	    "the job counts as succeeded, but mpirun lost the connection to %.*s and ended with "
	    "exit code 0: its result may be incomplete (log of pod %s)",
	    (int)(host.len < 255 ? host.len : 255), host.at, log->pod);
}

/* Only a launcher pod that succeeded counts, not an earlier attempt. */
static void check_lost_workers(struct mpijob__diagnose_case *this)
{
	for (size_t i = 0; i < this->evidence.logs_count; i++) {
		const struct mpijob_log_tail *log = &this->logs[i];
		const mpijob_node *pod = mpijob__diagnose_case_pod(this, log->pod);
		if (log->len &&
		    mpijob__diagnose_case_role(this, log->pod) == MPIJOB__DIAGNOSE_LAUNCHER_POD &&
		    strcmp(mpijob__diagnose_case_text(pod, "status.phase"), "Succeeded") == 0)
			check_lost_worker(this, log);
	}
}

static void check_idle_workers(struct mpijob__diagnose_case *this)
{
	int64_t workers = 1;
	size_t quiet = 0;

	if (!starts_ranks(this))
		return;

	mpijob_node_int(mpijob_node_find(this->root, "spec.mpiReplicaSpecs[Worker].replicas"),
	    &workers);
	for (size_t i = 0; i < this->evidence.logs_count; i++) {
		const struct mpijob_log_tail *log = &this->logs[i];
		struct span all = { log->text, log->len };
		if (mpijob__diagnose_case_role(this, log->pod) != MPIJOB__DIAGNOSE_WORKER_POD ||
		    log->len == 0)
			continue;
		if (!find(all, "Server listening on", 19) || find(all, "Accepted publickey", 18))
			return;
		quiet++;
	}
	/* A worker without a log may be the one that ran all ranks. */
	if (quiet && quiet == (size_t)workers)
		mpijob__diagnose_case_add(this, "ranks-on-launcher", MPIJOB_SEVERITY_WARNING,
		    RANK_CONNECT, NULL, NULL,
		    "sshd accepted no connection on %zu worker%s: all ranks ran on the launcher",
		    quiet, quiet == 1 ? "" : "s");
}

void mpijob__diagnose_check_success(struct mpijob__diagnose_case *this)
{
	check_lost_workers(this);
	check_idle_workers(this);
}
