/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows every option of every command: one row each, with kubectl's spelling where kubectl has the
 * same. getopt_long() does the reading; this file only turns rows into its tables.
 */
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "print.h"

#define AT(member) offsetof(struct arguments, member)
#define ON_FILES   (COMMAND_VALIDATE | COMMAND_DEFAULT | COMMAND_RENDER | COMMAND_RUN)
#define ON_PLANS   (COMMAND_PLAN | COMMAND_DIFF)
#define ON_NAMES                                                                          \
	(COMMAND_GET | COMMAND_DESCRIBE | COMMAND_LOGS | COMMAND_WAIT | COMMAND_SUSPEND | \
	    COMMAND_RESUME | COMMAND_SCALE | COMMAND_DELETE) /* operands are names of jobs */
#define ON_SERVERS (ON_NAMES | COMMAND_SUBMIT | COMMAND_DOCTOR)
#define ON_MANY    (COMMAND_GET | COMMAND_WAIT | COMMAND_SUSPEND | COMMAND_RESUME | COMMAND_DELETE)
#define ON_WRITES  (COMMAND_SUBMIT | COMMAND_SUSPEND | COMMAND_RESUME | COMMAND_SCALE)
#define ON_SENDING (COMMAND_SUBMIT | COMMAND_RUN)
#define CONNECTION (ON_SERVERS | COMMAND_RUN | COMMAND_CONNECTION)
#define ALL        (~0u)

#define FEATURE(name, value, commands)                                             \
	{                                                                          \
		name, 0, value, commands, OPTION_FEATURE, AT(features), NULL, NULL \
	}

const struct option_row option_rows[] = {
	{ "filename", 'f', "FILE", ON_FILES | COMMAND_CONVERT | COMMAND_PLAN | COMMAND_SUBMIT,
	    OPTION_WORDS, AT(operands), NULL,
	    "A file, a directory (its .yaml, .yml and .json files), or - for standard input; the "
	    "same as an operand." },
	{ "filename", 'f', "FILE", ON_NAMES & ~(unsigned)COMMAND_LOGS, OPTION_WORDS, AT(files),
	    NULL, "The jobs of a file, a directory, or - for standard input, in place of names." },
	{ "output", 'o', "FORMAT", COMMAND_GET, OPTION_TEXT, AT(output), "wide yaml json name",
	    "Print a wider table, or the jobs as yaml, json or name." },
	{ "output", 'o', "FORMAT", COMMAND_DESCRIBE | COMMAND_DOCTOR, OPTION_TEXT, AT(output),
	    "json", "Print as json." },
	{ "output", 'o', "FORMAT",
	    COMMAND_SUBMIT | COMMAND_WAIT | COMMAND_SUSPEND | COMMAND_RESUME | COMMAND_SCALE,
	    OPTION_TEXT, AT(output), "name yaml json",
	    "Print what the server stored as name, yaml or json." },
	{ "output", 'o', "FORMAT", COMMAND_DELETE, OPTION_TEXT, AT(output), "name",
	    "Print only the names." },
	{ "output", 'o', "FORMAT",
	    COMMAND_VALIDATE | COMMAND_DEFAULT | COMMAND_RENDER | COMMAND_CONVERT | COMMAND_FLYTE |
		ON_PLANS,
	    OPTION_TEXT, AT(output), "yaml json name",
	    "Print as yaml, json or name; convert, flyte, plan and diff know no name." },
	{ "output", 'o', "FORMAT", COMMAND_CRD, OPTION_TEXT, AT(output), "yaml json",
	    "Print as yaml, or as json in one line." },
	{ "image", 0, "IMAGE", COMMAND_CREATE, OPTION_TEXT, AT(create.image), NULL,
	    "The image of the launcher and the workers." },
	{ "workers", 0, "NUMBER", COMMAND_CREATE, OPTION_NUMBER, AT(create.workers), NULL,
	    "Number of workers; 2 without it." },
	{ "slots", 0, "NUMBER", COMMAND_CREATE, OPTION_NUMBER, AT(create.slots), NULL,
	    "Ranks on each host; without it one for each of its GPUs, or one." },
	{ "gpus", 0, "NUMBER", COMMAND_CREATE, OPTION_NUMBER, AT(create.gpus), NULL,
	    "GPUs of each worker (nvidia.com/gpu)." },
	{ "mpi", 0, "NAME", COMMAND_CREATE, OPTION_TEXT, AT(create.mpi), "openmpi intel mpich",
	    "The MPI of the image: openmpi, intel or mpich; openmpi without it." },
	{ "tool", 0, "NAME", COMMAND_CREATE, OPTION_TEXT, AT(create.tool),
	    "mpirun mpiexec horovodrun deepspeed",
	    "What starts the ranks: mpirun, mpiexec, horovodrun or deepspeed; mpirun without it." },
	{ "elastic", 0, NULL, COMMAND_CREATE, OPTION_FLAG, AT(create.elastic), NULL,
	    "With --tool horovodrun: workers may come and go while it runs." },
	{ "backend", 0, "NAME", COMMAND_CREATE, OPTION_TEXT, AT(create.backend),
	    "gloo mpi pdsh openmpi",
	    "How the tool starts ranks: of horovodrun gloo or mpi, of deepspeed pdsh or openmpi." },
	{ "env", 0, "NAME[=VALUE]", COMMAND_CREATE, OPTION_WORDS, AT(create.env), NULL,
	    "A variable for all ranks, or as PREFIX* all that begin so; may be repeated." },
	{ "run-launcher-as-worker", 0, NULL, COMMAND_CREATE, OPTION_FLAG, AT(create.launcher_works),
	    NULL, "Ranks run in the launcher's pod too." },
	{ "template", 0, "NAME", COMMAND_CREATE, OPTION_TEXT, AT(create.template_), "pi osu nccl",
	    "A test of the links between the hosts: pi, osu or nccl." },
	{ "full", 0, NULL, COMMAND_CRD, OPTION_FLAG, AT(full), NULL,
	    "With a sentence for each field of the MPIJob itself." },
	{ "to", 0, "VERSION", COMMAND_CONVERT, OPTION_TEXT, AT(to), "v2beta1 v1 TrainJob",
	    "The version to write: v2beta1 (the MPI operator), v1 (the training operator) or "
	    "TrainJob (Trainer v2)." },
	{ "to", 0, "VERSION", COMMAND_FLYTE, OPTION_TEXT, AT(to), "v2beta1 v1",
	    "The version to write: v2beta1 (the MPI operator, Kueue; so without it) or v1 (the "
	    "training operator, as Flyte does)." },
	{ "name", 0, "NAME", COMMAND_FLYTE, OPTION_TEXT, AT(job), NULL,
	    "The name of the job, in place of that of --execution." },
	{ "config", 0, "FILE", COMMAND_FLYTE, OPTION_TEXT, AT(flyte_config), NULL,
	    "Flyte's configuration, of which plugins.k8s counts; Flyte's defaults without it." },
	{ "execution", 0, "FILE", COMMAND_FLYTE, OPTION_TEXT, AT(flyte_execution), NULL,
	    "What one execution of the task knows: name, namespace, paths, labels and so on "
	    "(mpijob/flyte.h names the keys)." },
	{ "repair", 0, "NAMES", COMMAND_FLYTE, OPTION_TEXT, AT(repairs),
	    "all none slots worker-command environment zero safe-launcher launcher-gpus "
	    "primary-first one-launcher",
	    "What to do otherwise than Flyte's plugin, names with commas between them; all for "
	    "v2beta1 and none for v1 without it." },
	{ "no-annotation", 0, NULL, COMMAND_CONVERT, OPTION_FLAG, AT(no_annotation), NULL,
	    "Do not keep in an annotation what the version cannot hold." },
	{ "runtime", 0, "NAME", COMMAND_CONVERT, OPTION_TEXT, AT(runtime), NULL,
	    "The ClusterTrainingRuntime of a TrainJob." },
	{ "observed", 0, "FILE", COMMAND_PLAN, OPTION_TEXT, AT(observed), NULL,
	    "What is in the cluster: Kubernetes objects or lists of them, the stored MPIJob too; "
	    "nothing without it." },
	{ "now", 0, "TIME", COMMAND_PLAN, OPTION_TEXT, AT(now), NULL,
	    "The time to plan for, as 2026-11-21T12:00:00Z." },
	{ "namespace", 'n', "NAMESPACE",
	    COMMAND_DEFAULT | COMMAND_RENDER | COMMAND_RUN | COMMAND_EXEC | COMMAND_FLYTE |
		ON_PLANS,
	    OPTION_TEXT, AT(namespace_), NULL,
	    "Namespace for jobs that name none, and of the pod to reach; \"default\" without it." },
	{ "namespace", 'n', "NAMESPACE", COMMAND_CREATE, OPTION_TEXT, AT(namespace_), NULL,
	    "Namespace to write down; none without it." },
	{ "namespace", 'n', "NAMESPACE", ON_SERVERS, OPTION_TEXT, AT(namespace_), NULL,
	    "Namespace to work in; that of the context without it." },
	{ "all-namespaces", 'A', NULL, ON_MANY | COMMAND_DOCTOR, OPTION_FLAG, AT(all_namespaces),
	    NULL, "In all namespaces." },
	{ "selector", 'l', "LABELS", ON_MANY, OPTION_TEXT, AT(selector), NULL,
	    "Jobs with these labels, as queue=a,team!=b, in place of names." },
	{ "all", 0, NULL, ON_MANY & ~(unsigned)COMMAND_GET, OPTION_FLAG, AT(all), NULL,
	    "All jobs of the namespace." },
	{ "watch", 'w', NULL, COMMAND_GET, OPTION_FLAG, AT(watch), NULL,
	    "Go on and print what changes, until interrupted." },
	{ "watch-only", 0, NULL, COMMAND_GET, OPTION_FLAG, AT(watch_only), NULL,
	    "Print only what changes from now on." },
	{ "no-headers", 0, NULL, COMMAND_GET, OPTION_FLAG, AT(no_headers), NULL,
	    "No line with the names of the columns." },
	{ "show-labels", 0, NULL, COMMAND_GET, OPTION_FLAG, AT(show_labels), NULL,
	    "The labels as last column." },
	{ "show-events", 0, NULL, COMMAND_DESCRIBE, OPTION_SWITCH, AT(show_events), NULL,
	    "With the events; --show-events=false: without." },
	{ "operator-config", 0, "FILE", COMMAND_DESCRIBE, OPTION_TEXT, AT(operator_config), NULL,
	    "Also tell what holds for the job under this configuration of the operator, and where "
	    "each value comes from." },
	{ "ignore-not-found", 0, NULL, COMMAND_GET | COMMAND_DELETE, OPTION_FLAG,
	    AT(ignore_not_found), NULL, "A job that does not exist is no error." },
	{ "for", 0, "WHAT", COMMAND_WAIT, OPTION_TEXT, AT(for_),
	    "condition=Succeeded condition=Failed condition=Running Running Finished delete",
	    "What to wait for: condition=TYPE or the TYPE alone (Created, Running, Suspended, "
	    "Succeeded, Failed), Finished (which is Succeeded or Failed), or delete; Finished "
	    "without it." },
	{ "timeout", 0, "DURATION", COMMAND_WAIT | COMMAND_SUBMIT, OPTION_LIMIT, AT(limit_ms), NULL,
	    "Give up after so long (90s, 5m, 1h30m) and exit with 124; wait looks once with 0; no "
	    "limit without it." },
	{ "timeout", 0, "DURATION", COMMAND_DELETE, OPTION_LIMIT, AT(limit_ms), NULL,
	    "Wait at most so long until the jobs are gone; 0: no limit." },
	{ "replicas", 0, "NUMBER", COMMAND_SCALE, OPTION_NUMBER, AT(replicas), NULL,
	    "The number of workers to have." },
	{ "workers", 0, "NUMBER", COMMAND_SCALE, OPTION_NUMBER, AT(replicas), NULL,
	    "The same as --replicas." },
	{ "current-replicas", 0, "NUMBER", COMMAND_SCALE, OPTION_NUMBER, AT(current_replicas), NULL,
	    "Change it only while there are so many." },
	{ "server-side", 0, NULL, ON_SENDING, OPTION_FLAG, AT(server_side), NULL,
	    "Apply on the server's side, which also changes what exists, in place of creating." },
	{ "force-conflicts", 0, NULL, ON_SENDING, OPTION_FLAG, AT(force_conflicts), NULL,
	    "With --server-side: take fields over that others own." },
	{ "field-manager", 0, "NAME", ON_SENDING, OPTION_TEXT, AT(field_manager), NULL,
	    "Who the server notes as the owner of the fields; \"mpijob\" without it." },
	{ "validate", 0, "HOW", ON_SENDING, OPTION_CHOICE, AT(validate),
	    "strict warn ignore true false",
	    "What unknown and duplicate fields are: strict, an error (so without it); warn, a "
	    "warning; ignore, nothing." },
	{ "dry-run", 0, "HOW", ON_WRITES | COMMAND_DELETE, OPTION_CHOICE, AT(dry_run),
	    "client server none",
	    "client: only say what would be sent; server: let the server check it too; nothing is "
	    "stored." },
	{ "wait", 0, NULL, COMMAND_SUBMIT, OPTION_SWITCH, AT(wait), NULL,
	    "Wait until the jobs have ended; the exit code is then that of the first launcher that "
	    "failed." },
	{ "wait", 0, NULL, COMMAND_DELETE, OPTION_SWITCH, AT(wait), NULL,
	    "Wait until the jobs are gone; --wait=false: do not." },
	{ "cascade", 0, "HOW", COMMAND_DELETE, OPTION_CHOICE, AT(cascade),
	    "background foreground orphan",
	    "What a job owns is deleted after it (background, so without it), before it "
	    "(foreground), or stays (orphan)." },
	{ "follow", 'f', NULL, COMMAND_LOGS, OPTION_FLAG, AT(follow), NULL,
	    "Go on with what comes, until the job has ended." },
	{ "workers", 0, NULL, COMMAND_LOGS, OPTION_FLAG, AT(workers), NULL,
	    "Of the workers in place of the launcher." },
	{ "all", 0, NULL, COMMAND_LOGS, OPTION_FLAG, AT(all), NULL,
	    "Of the launcher and the workers." },
	{ "pod", 0, "NAME", COMMAND_LOGS, OPTION_TEXT, AT(pod), NULL,
	    "Of this pod of the job alone." },
	{ "all-containers", 0, NULL, COMMAND_LOGS, OPTION_FLAG, AT(all_containers), NULL,
	    "Of all containers of the pods." },
	{ "previous", 'p', NULL, COMMAND_LOGS, OPTION_FLAG, AT(previous), NULL,
	    "Of the containers before their last restart." },
	{ "tail", 0, "NUMBER", COMMAND_LOGS, OPTION_NUMBER, AT(tail), NULL,
	    "Only the last so many lines; -1: all." },
	{ "since", 0, "DURATION", COMMAND_LOGS, OPTION_LIMIT, AT(since_ms), NULL,
	    "Only what is not older than so long." },
	{ "timestamps", 0, NULL, COMMAND_LOGS, OPTION_FLAG, AT(timestamps), NULL,
	    "The time in front of each line." },
	{ "prefix", 0, NULL, COMMAND_LOGS, OPTION_SWITCH, AT(prefix), NULL,
	    "Pod and container in front of each line, in colour on a terminal unless NO_COLOR is "
	    "set; the default when more than one container is read." },
	{ "local", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(local), NULL,
	    "On this machine, also when called as 'kubectl mpijob run'." },
	{ "rm", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(rm), NULL,
	    "On a cluster: delete the job at the end, and when interrupted." },
	{ "detach", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(detach), NULL,
	    "On a cluster: submit the job and do not stay." },
	{ "job", 0, "NAME", COMMAND_RUN | ON_PLANS, OPTION_TEXT, AT(job), NULL,
	    "Which MPIJob when there are several." },
	{ "timeout", 0, "DURATION", COMMAND_RUN, OPTION_DURATION, AT(timeout_ms), NULL,
	    "Stop the job after so long (90s, 5m, 1h30m) and exit with 124." },
	{ "resume", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(resume), NULL,
	    "Run the job on this machine although its spec.runPolicy.suspend is true." },
	{ "keep", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(keep), NULL,
	    "Stay after the job's end, with the pods that its cleanPodPolicy keeps, until "
	    "interrupted." },
	{ "allow-host-path", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(allow_host_path), NULL,
	    "Let hostPath volumes reach this machine's files, and containers have the capabilities "
	    "that they add." },
	{ "backoff-base", 0, "DURATION", COMMAND_RUN, OPTION_DURATION, AT(backoff_base_ms), NULL,
	    "First pause before the launcher is tried again; it doubles each time; 10s as "
	    "Kubernetes without it." },
	{ "late-names", 0, "DURATION", COMMAND_RUN, OPTION_DURATION, AT(late_names_ms), NULL,
	    "Give the pods' names addresses only so long after the first pod, to try a job against "
	    "a slow DNS." },
	{ "timings", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(timings), NULL,
	    "Say at the end where the time went." },
	{ "container", 'c', "NAME", COMMAND_EXEC | COMMAND_LOGS, OPTION_TEXT, AT(container), NULL,
	    "Container; the first one without it." },
	{ "cluster-domain", 0, "DOMAIN", COMMAND_RENDER | COMMAND_RUN | ON_PLANS, OPTION_TEXT,
	    AT(cluster_domain), NULL,
	    "DNS domain of the cluster for host names, as the operator's flag; without it they end "
	    "in .svc." },
	FEATURE("compact-hosts", NULL, COMMAND_RENDER | COMMAND_RUN | ON_PLANS),
	FEATURE("wait-for-hosts", "DURATION", COMMAND_RENDER | COMMAND_RUN | ON_PLANS),
	FEATURE("worker-readiness", "PORT", COMMAND_RENDER | COMMAND_RUN | ON_PLANS),
	FEATURE("ssh-port", "PORT", COMMAND_RENDER | COMMAND_RUN | ON_PLANS),
	FEATURE("user-variables", NULL, COMMAND_RENDER | COMMAND_RUN | ON_PLANS),
	FEATURE("user-dns-policy", NULL, COMMAND_RENDER | ON_PLANS),
	FEATURE("private-keys", NULL, COMMAND_RENDER | COMMAND_RUN | ON_PLANS),
	FEATURE("network-policy", NULL, COMMAND_RENDER | ON_PLANS),
	FEATURE("gang-safe-wait", NULL, COMMAND_RENDER | ON_PLANS),
	FEATURE("ttl-deletes-job", NULL, COMMAND_PLAN),
	FEATURE("clean-launcher", NULL, COMMAND_RUN | COMMAND_PLAN),
	FEATURE("replace-workers", "NUMBER", COMMAND_RUN | COMMAND_PLAN),
	FEATURE("restart-gang", "NUMBER", COMMAND_RUN | COMMAND_PLAN),
	FEATURE("fail-invalid", NULL, COMMAND_PLAN),
	FEATURE("fail-lost-worker", NULL, COMMAND_PLAN),
	{ "gang-scheduling", 0, "NAME", COMMAND_RENDER | ON_PLANS, OPTION_TEXT, AT(gang_scheduling),
	    "volcano scheduler-plugins-scheduler",
	    "Gang scheduler: volcano, or the scheduler name of scheduler-plugins." },
	{ "priority-class", 0, "NAME=VALUE", COMMAND_RENDER, OPTION_WORDS, AT(priority_classes),
	    NULL, "A PriorityClass of the cluster, for a PodGroup's resources; may be repeated." },
	{ "uid", 0, "UID", COMMAND_RENDER, OPTION_TEXT, AT(uid), NULL,
	    "UID of the MPIJob, for owner references." },
	{ "with-key", 0, NULL, COMMAND_RENDER, OPTION_FLAG, AT(with_key), NULL,
	    "Print a fresh SSH private key in the Secret instead of a placeholder." },
	{ "reference", 0, NULL, ON_FILES | ON_PLANS, OPTION_FLAG, AT(reference), NULL,
	    "Exactly as mpi-operator v0.8.2: every deliberate difference off." },
	{ "strict", 0, NULL, COMMAND_VALIDATE, OPTION_FLAG, AT(strict), NULL,
	    "Unknown fields and roles are errors, not warnings." },
	{ "silence", 0, "ID", COMMAND_VALIDATE | COMMAND_RENDER, OPTION_WORDS, AT(silence), NULL,
	    "Do not report a warning or note, by the identifier in brackets behind it; may be "
	    "repeated." },
	{ "error", 0, "ID", COMMAND_VALIDATE | COMMAND_RENDER, OPTION_WORDS, AT(error), NULL,
	    "Make a warning or note an error; may be repeated." },
	{ "warnings-as-errors", 0, NULL, ON_SERVERS | COMMAND_RUN, OPTION_FLAG,
	    AT(warnings_as_errors), NULL, "When the server warned, the exit code is not 0." },
	{ "kubeconfig", 0, "FILE", CONNECTION, OPTION_TEXT, AT(connection.kubeconfig), NULL,
	    "Kubeconfig to read; without it those in $KUBECONFIG, else ~/.kube/config, else the "
	    "service account of the pod." },
	{ "context", 0, "NAME", CONNECTION, OPTION_TEXT, AT(connection.context), NULL,
	    "Context of the kubeconfig to use." },
	{ "cluster", 0, "NAME", CONNECTION, OPTION_TEXT, AT(connection.cluster), NULL,
	    "Cluster of the kubeconfig to use." },
	{ "user", 0, "NAME", CONNECTION, OPTION_TEXT, AT(connection.user), NULL,
	    "User of the kubeconfig to use." },
	{ "server", 's', "URL", CONNECTION, OPTION_TEXT, AT(connection.server), NULL,
	    "Address of the API server." },
	{ "tls-server-name", 0, "NAME", CONNECTION, OPTION_TEXT, AT(connection.tls_server_name),
	    NULL, "Name that the server's certificate must have; that of the address without it." },
	{ "certificate-authority", 0, "FILE", CONNECTION, OPTION_TEXT,
	    AT(connection.certificate_authority), NULL,
	    "Certificates of those who may sign the server's." },
	{ "insecure-skip-tls-verify", 0, NULL, CONNECTION, OPTION_FLAG, AT(connection.insecure),
	    NULL,
	    "Do not check the server's certificate: anybody could then answer in its place." },
	{ "client-certificate", 0, "FILE", CONNECTION, OPTION_TEXT,
	    AT(connection.client_certificate), NULL, "Certificate to show to the server." },
	{ "client-key", 0, "FILE", CONNECTION, OPTION_TEXT, AT(connection.client_key), NULL,
	    "Key of that certificate." },
	{ "token", 0, "TOKEN", CONNECTION, OPTION_TEXT, AT(connection.token), NULL,
	    "Bearer token; other users of this machine may see it in the list of processes." },
	{ "as", 0, "USER", CONNECTION, OPTION_TEXT, AT(connection.as), NULL, "User to act as." },
	{ "as-group", 0, "GROUP", CONNECTION, OPTION_WORDS, AT(connection.as_groups), NULL,
	    "Group to act as; may be repeated." },
	{ "as-uid", 0, "UID", CONNECTION, OPTION_TEXT, AT(connection.as_uid), NULL,
	    "UID to act as." },
	{ "request-timeout", 0, "DURATION", CONNECTION, OPTION_LIMIT,
	    AT(connection.request_timeout_ms), NULL,
	    "Give one request up after so long; 0: never; 60s without it." },
	{ "man", 0, NULL, COMMAND_HELP, OPTION_FLAG, AT(roff), NULL,
	    "Print the manual page in roff." },
	{ "help", 'h', NULL, ALL, OPTION_HELP, 0, NULL, "Print this help." },
	{ NULL, 0, NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

#define ROWS       (sizeof(option_rows) / sizeof(option_rows[0]) - 1)
#define FIRST_LONG 1000 /* getopt values of rows without a letter begin here */

static int words_add(struct words *words, const char *word)
{
	const char **items = realloc(words->items, (words->count + 1) * sizeof(*items));
	if (!items)
		return -1;
	items[words->count++] = word;
	words->items = items;
	return 0;
}

static int store_flag(const struct option_row *row, const char *value, int *place)
{
	int off = row->kind == OPTION_SWITCH ? -1 : 0;

	if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0) {
		print_to(stderr, "mpijob: --%s=%s: use true or false\n", row->name, value);
		return EXIT_USAGE;
	}
	*place = value && strcmp(value, "false") == 0 ? off : 1;
	return 0;
}

static int store_choice(const struct option_row *row, const char *value, int *place)
{
	int number = 1;

	for (const char *word = row->choices; value && *word; number++) {
		size_t len = strcspn(word, " ");
		if (len == strlen(value) && memcmp(word, value, len) == 0)
			break;
		word += len + (word[len] == ' ');
		if (!*word) {
			print_to(stderr, "mpijob: --%s=%s: use one of: %s\n", row->name, value,
			    row->choices);
			return EXIT_USAGE;
		}
	}
	*place = number;
	return 0;
}

/* -1 is how kubectl writes "not given". */
static int number_parse(const char *text, struct given *given)
{
	char *end;

	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (errno || end == text || *end || number < -1 || number > INT32_MAX)
		return -1;
	*given = (struct given){ number >= 0, number };
	return 0;
}

static int store_given(const struct option_row *row, const char *value, struct given *place)
{
	int negative = *value == '-';
	int64_t ms = 0;

	if (row->kind == OPTION_NUMBER && number_parse(value, place)) {
		print_to(stderr, "mpijob: --%s: '%s' is no number from 0 to %d\n", row->name, value,
		    INT32_MAX);
		return EXIT_USAGE;
	}
	if (row->kind == OPTION_NUMBER)
		return 0;
	if (mpijob_duration_parse(value + negative, &ms)) {
		print_to(stderr,
		    "mpijob: --%s: '%s' is no duration; write 90s, 5m, 1h30m or seconds\n",
		    row->name, value);
		return EXIT_USAGE;
	}
	*place = (struct given){ 1, negative ? -ms : ms };
	return 0;
}

static int store_feature(const struct option_row *row, const char *value,
    struct mpijob_features *features)
{
	mpijob_diag *diag = mpijob_diag_new();
	int code = diag ? mpijob_features_set(features, row->name, value, diag) : MPIJOB_ERR_NOMEM;

	if (code)
		print_to(stderr, "mpijob: --%s: %s\n", row->name,
		    mpijob_diag_count(diag) ? mpijob_diag_at(diag, 0)->message
					    : mpijob_error_text(code));
	mpijob_diag_free(diag);
	return code ? EXIT_USAGE : 0;
}

static int store(const struct option_row *row, const char *value, struct arguments *arguments)
{
	char *place = (char *)arguments + row->offset;

	switch (row->kind) {
	case OPTION_FLAG:
	case OPTION_SWITCH: return store_flag(row, value, (int *)(void *)place);
	case OPTION_CHOICE: return store_choice(row, value, (int *)(void *)place);
	case OPTION_LIMIT:
	case OPTION_NUMBER: return store_given(row, value, (struct given *)(void *)place);
	case OPTION_TEXT: *(const char **)(void *)place = value; return 0;
	case OPTION_WORDS:
		if (words_add((struct words *)(void *)place, value) == 0)
			return 0;
		fputs("mpijob: out of memory\n", stderr);
		return EXIT_USAGE;
	case OPTION_DURATION:
		if (mpijob_duration_parse(value, (int64_t *)(void *)place) == 0)
			return 0;
		print_to(stderr,
		    "mpijob: --%s: '%s' is no duration; write 90s, 5m, 1h30m or seconds\n",
		    row->name, value);
		return EXIT_USAGE;
	case OPTION_FEATURE:
		return store_feature(row, value, (struct mpijob_features *)(void *)place);
	case OPTION_HELP: break;
	}
	return -1;
}

static int is_choice(const struct option_row *row, const char *value)
{
	size_t len = strlen(value);

	for (const char *word = row->choices; *word;
	     word += strcspn(word, " "), word += *word == ' ')
		if (strcspn(word, " ") == len && memcmp(word, value, len) == 0)
			return 1;
	return 0;
}

/* getopt_long() gives an optional value with '=' only; `--dry-run client` is clear too. */
static const char *choice_behind(const struct option_row *row, char **argv)
{
	if (row->kind != OPTION_CHOICE || !row->value || optarg || !argv[optind] ||
	    !is_choice(row, argv[optind]))
		return optarg;
	return argv[optind++];
}

static const struct option_row *row_of(unsigned command, int value)
{
	for (size_t i = 0; i < ROWS; i++)
		if ((option_rows[i].commands & command) &&
		    value == (option_rows[i].letter ? option_rows[i].letter : FIRST_LONG + (int)i))
			return &option_rows[i];
	return NULL;
}

static int takes_value(const struct option_row *row)
{
	if (row->kind == OPTION_FLAG || row->kind == OPTION_SWITCH || row->kind == OPTION_CHOICE)
		return optional_argument; /* --watch=true, --wait=false, --dry-run */
	if (row->kind == OPTION_FEATURE && !row->value)
		return optional_argument;
	return row->value ? required_argument : no_argument;
}

static void tables_make(unsigned command, char *letters, struct option *longs)
{
	*letters++ = ':'; /* so that a missing value is told apart from an unknown option */
	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *row = &option_rows[i];
		if (!(row->commands & command))
			continue;
		*longs++ = (struct option){ row->name, takes_value(row), NULL,
			row->letter ? row->letter : FIRST_LONG + (int)i };
		if (row->letter) {
			*letters++ = row->letter;
			if (row->value)
				*letters++ = ':';
		}
	}
	*letters = '\0';
	*longs = (struct option){ NULL, 0, NULL, 0 };
}

/* The option of this command that `--word`, or `--word=value`, probably meant; NULL without one. */
static const char *near_option(unsigned command, const char *word)
{
	const char *names[ROWS];
	char name[65] = ""; /* longer ones are near to none */
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < ROWS; i++)
		names[i] = option_rows[i].commands & command ? option_rows[i].name : NULL;
	if (len < sizeof(name))
		memcpy(name, word, len);
	return mpijob_nearest(name, names, ROWS);
}

static int complain(const struct command *command, int value, char **argv)
{
	const char *word = argv[optind - 1], *near = NULL;

	if (value == ':')
		print_to(stderr, "mpijob: %s: a value is missing", word);
	else if (optopt && optopt < FIRST_LONG && word[1] != '-')
		print_to(stderr, "mpijob: unknown option -%c", optopt);
	else
		print_to(stderr, "mpijob: unknown option %s", word);
	if (value != ':' && strncmp(word, "--", 2) == 0)
		near = near_option(command->bit, word + 2);
	if (near)
		print_to(stderr, "; did you mean --%s?\n", near);
	else
		print_to(stderr, "; see 'mpijob help %s'\n", command->name);
	return EXIT_USAGE;
}

/* Cut argv at "--": what stands behind it is the program of exec, or more operands. */
static int cut_program(int argc, char **argv, char ***program)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			argv[i] = NULL;
			*program = argv + i + 1;
			return i;
		}
	}
	return argc;
}

/* kubectl takes -o=json too, which getopt_long() gives as "=json". */
static const char *without_equals(const char *word, const char *value)
{
	return value && value == word + 2 && word[1] != '-' && *value == '=' ? value + 1 : value;
}

int options_parse(const struct command *command, int argc, char **argv, struct arguments *arguments)
{
	char letters[2 * ROWS + 2];
	struct option longs[ROWS + 1];
	int value;

	if (command->bit & (COMMAND_EXEC | COMMAND_CREATE))
		argc = cut_program(argc, argv, &arguments->program);
	arguments->features = (struct mpijob_features)MPIJOB_FEATURES_INIT;
	tables_make(command->bit, letters, longs);
	opterr = 0;
	optind = 0;
	while ((value = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const struct option_row *row =
		    value == '?' || value == ':' ? NULL : row_of(command->bit, value);
		if (!row)
			return complain(command, value, argv);
		const char *given = without_equals(argv[optind - 1], optarg);
		int code = store(row, given ? given : choice_behind(row, argv), arguments);
		if (code)
			return code;
	}
	for (; optind < argc; optind++) {
		if (words_add(&arguments->operands, argv[optind])) {
			fputs("mpijob: out of memory\n", stderr);
			return EXIT_USAGE;
		}
	}
	return 0;
}

const char *option_help(const struct option_row *row)
{
	return row->help || row->kind != OPTION_FEATURE ? row->help
							: mpijob_feature_find(row->name)->summary;
}

const struct mpijob_features *options_features(const struct arguments *arguments)
{
	return arguments->features.size ? &arguments->features : NULL;
}

void options_free(struct arguments *arguments)
{
	free(arguments->operands.items);
	free(arguments->files.items);
	free(arguments->create.env.items);
	free(arguments->connection.as_groups.items);
	free(arguments->priority_classes.items);
	free(arguments->silence.items);
	free(arguments->error.items);
}
