/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of all options of all commands, with kubectl's spelling where kubectl has the same
 * option. getopt_long() parses the command line; this file converts the table to its input.
 */
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "base/near.h"
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
	    NULL, "Jobs of a file, a directory, or - for standard input, instead of names." },
	{ "output", 'o', "FORMAT", COMMAND_GET, OPTION_TEXT, AT(output), "wide yaml json name",
	    "Print a wider table, or the jobs as yaml, json or name." },
	{ "output", 'o', "FORMAT", COMMAND_DESCRIBE | COMMAND_DOCTOR, OPTION_TEXT, AT(output),
	    "json", "Print as json." },
	{ "output", 'o', "FORMAT",
	    COMMAND_SUBMIT | COMMAND_WAIT | COMMAND_SUSPEND | COMMAND_RESUME | COMMAND_SCALE,
	    OPTION_TEXT, AT(output), "name yaml json",
	    "Print the stored objects as name, yaml or json." },
	{ "output", 'o', "FORMAT", COMMAND_DELETE, OPTION_TEXT, AT(output), "name",
	    "Print only the names." },
	{ "output", 'o', "FORMAT",
	    COMMAND_VALIDATE | COMMAND_DEFAULT | COMMAND_RENDER | COMMAND_CONVERT | COMMAND_FLYTE |
		ON_PLANS,
	    OPTION_TEXT, AT(output), "yaml json name",
	    "Print as yaml, json or name; convert, flyte, plan and diff do not support name." },
	{ "output", 'o', "FILE", COMMAND_SET, OPTION_TEXT, AT(output), NULL,
	    "Write the result to this file, or with - to standard output, instead of FILE." },
	{ "remove", 0, "PATH", COMMAND_SET, OPTION_WORDS, AT(removed), NULL,
	    "Remove the value at this path, after all others are set; may be repeated." },
	{ "get", 0, "PATH", COMMAND_SET, OPTION_WORDS, AT(printed), NULL,
	    "Change nothing, print the value at this path; may be repeated." },
	{ "dry-run", 0, NULL, COMMAND_SET, OPTION_FLAG, AT(dry_run), NULL,
	    "Print the result, write nothing." },
	{ "diff", 0, NULL, COMMAND_SET, OPTION_FLAG, AT(diff), NULL,
	    "Print the lines that change, write nothing." },
	{ "force", 0, NULL, COMMAND_SET, OPTION_FLAG, AT(force), NULL,
	    "Write the result even if it has errors that FILE does not have." },
	{ "output", 'o', "FORMAT", COMMAND_CRD, OPTION_TEXT, AT(output), "yaml json",
	    "Print as yaml, or as json in one line." },
	{ "image", 0, "IMAGE", COMMAND_CREATE, OPTION_TEXT, AT(create.image), NULL,
	    "The image of the launcher and the workers." },
	{ "workers", 0, "NUMBER", COMMAND_CREATE, OPTION_NUMBER, AT(create.workers), NULL,
	    "Number of workers; default: 2." },
	{ "slots", 0, "NUMBER", COMMAND_CREATE, OPTION_NUMBER, AT(create.slots), NULL,
	    "Ranks on each host; default: one for each of its GPUs, otherwise one." },
	{ "gpus", 0, "NUMBER", COMMAND_CREATE, OPTION_NUMBER, AT(create.gpus), NULL,
	    "GPUs of each worker (nvidia.com/gpu)." },
	{ "mpi", 0, "NAME", COMMAND_CREATE, OPTION_TEXT, AT(create.mpi), "openmpi intel mpich",
	    "The MPI of the image: openmpi, intel or mpich; default: openmpi." },
	{ "tool", 0, "NAME", COMMAND_CREATE, OPTION_TEXT, AT(create.tool),
	    "mpirun mpiexec horovodrun deepspeed",
	    "The tool that starts the ranks: mpirun, mpiexec, horovodrun or deepspeed; "
	    "default: mpirun." },
	{ "elastic", 0, NULL, COMMAND_CREATE, OPTION_FLAG, AT(create.elastic), NULL,
	    "With --tool horovodrun: workers may be added and removed while the job runs." },
	{ "backend", 0, "NAME", COMMAND_CREATE, OPTION_TEXT, AT(create.backend),
	    "gloo mpi pdsh openmpi",
	    "How the tool starts ranks: gloo or mpi for horovodrun, pdsh or openmpi for "
	    "deepspeed." },
	{ "env", 0, "NAME[=VALUE]", COMMAND_CREATE, OPTION_WORDS, AT(create.env), NULL,
	    "A variable for all ranks, or PREFIX* for all variables with that prefix; may be "
	    "repeated." },
	{ "run-launcher-as-worker", 0, NULL, COMMAND_CREATE, OPTION_FLAG, AT(create.launcher_works),
	    NULL, "Run ranks in the launcher's pod too." },
	{ "template", 0, "NAME", COMMAND_CREATE, OPTION_TEXT, AT(create.template_), "pi osu nccl",
	    "Write a test of the links between the hosts: pi, osu or nccl." },
	{ "full", 0, NULL, COMMAND_CRD, OPTION_FLAG, AT(full), NULL,
	    "Include a description of each field of the MPIJob itself." },
	{ "to", 0, "VERSION", COMMAND_CONVERT, OPTION_TEXT, AT(to), "v2beta1 v1 TrainJob",
	    "Target version: v2beta1 (MPI operator), v1 (training operator) or TrainJob "
	    "(Trainer v2)." },
	{ "to", 0, "VERSION", COMMAND_FLYTE, OPTION_TEXT, AT(to), "v2beta1 v1",
	    "Target version: v2beta1 (MPI operator, Kueue; the default) or v1 (training "
	    "operator, as in Flyte)." },
	{ "name", 0, "NAME", COMMAND_FLYTE, OPTION_TEXT, AT(job), NULL,
	    "Name of the job, instead of that of --execution." },
	{ "config", 0, "FILE", COMMAND_FLYTE, OPTION_TEXT, AT(flyte_config), NULL,
	    "Flyte's configuration, of which plugins.k8s is used; default: Flyte's defaults." },
	{ "execution", 0, "FILE", COMMAND_FLYTE, OPTION_TEXT, AT(flyte_execution), NULL,
	    "Data of one execution of the task: name, namespace, paths, labels and so on "
	    "(mpijob/flyte.h lists the keys)." },
	{ "repair", 0, "NAMES", COMMAND_FLYTE, OPTION_TEXT, AT(repairs),
	    "all none slots worker-command environment zero safe-launcher launcher-gpus "
	    "primary-first one-launcher",
	    "Repairs of the output of Flyte's plugin, separated by commas; default: all for "
	    "v2beta1, none for v1." },
	{ "no-annotation", 0, NULL, COMMAND_CONVERT, OPTION_FLAG, AT(no_annotation), NULL,
	    "Do not keep fields that the version does not have in an annotation." },
	{ "runtime", 0, "NAME", COMMAND_CONVERT, OPTION_TEXT, AT(runtime), NULL,
	    "The ClusterTrainingRuntime of a TrainJob." },
	{ "observed", 0, "FILE", COMMAND_PLAN, OPTION_TEXT, AT(observed), NULL,
	    "The objects in the cluster, including the stored MPIJob: Kubernetes objects or "
	    "lists of them; default: none." },
	{ "now", 0, "TIME", COMMAND_PLAN, OPTION_TEXT, AT(now), NULL,
	    "The time of the plan, such as 2026-11-21T12:00:00Z." },
	{ "namespace", 'n', "NAMESPACE",
	    COMMAND_DEFAULT | COMMAND_RENDER | COMMAND_RUN | COMMAND_EXEC | COMMAND_FLYTE |
		ON_PLANS,
	    OPTION_TEXT, AT(namespace_), NULL,
	    "Namespace of jobs that have none, and of the pod; default: \"default\"." },
	{ "namespace", 'n', "NAMESPACE", COMMAND_CREATE, OPTION_TEXT, AT(namespace_), NULL,
	    "Namespace to write; default: none." },
	{ "namespace", 'n', "NAMESPACE", ON_SERVERS, OPTION_TEXT, AT(namespace_), NULL,
	    "Namespace to use; default: that of the context." },
	{ "all-namespaces", 'A', NULL, ON_MANY | COMMAND_DOCTOR, OPTION_FLAG, AT(all_namespaces),
	    NULL, "Use all namespaces." },
	{ "selector", 'l', "LABELS", ON_MANY, OPTION_TEXT, AT(selector), NULL,
	    "Jobs with these labels, such as queue=a,team!=b, instead of names." },
	{ "all", 0, NULL, ON_MANY & ~(unsigned)COMMAND_GET, OPTION_FLAG, AT(all), NULL,
	    "All jobs of the namespace." },
	{ "watch", 'w', NULL, COMMAND_GET, OPTION_FLAG, AT(watch), NULL,
	    "Then print changes, until interrupted." },
	{ "watch-only", 0, NULL, COMMAND_GET, OPTION_FLAG, AT(watch_only), NULL,
	    "Print only changes from now on." },
	{ "no-headers", 0, NULL, COMMAND_GET, OPTION_FLAG, AT(no_headers), NULL,
	    "Omit the line with the column names." },
	{ "show-labels", 0, NULL, COMMAND_GET, OPTION_FLAG, AT(show_labels), NULL,
	    "Print the labels as last column." },
	{ "show-events", 0, NULL, COMMAND_DESCRIBE, OPTION_SWITCH, AT(show_events), NULL,
	    "Include the events; --show-events=false: omit them." },
	{ "operator-config", 0, "FILE", COMMAND_DESCRIBE, OPTION_TEXT, AT(operator_config), NULL,
	    "Also print the effective values of the job under this configuration of the "
	    "operator, and the source of each value." },
	{ "ignore-not-found", 0, NULL, COMMAND_GET | COMMAND_DELETE, OPTION_FLAG,
	    AT(ignore_not_found), NULL, "A job that does not exist is not an error." },
	{ "for", 0, "WHAT", COMMAND_WAIT, OPTION_TEXT, AT(for_),
	    "condition=Succeeded condition=Failed condition=Running Running Finished delete",
	    "What to wait for: condition=TYPE or only TYPE (Created, Running, Suspended, "
	    "Succeeded, Failed), Finished (Succeeded or Failed), or delete; default: Finished." },
	{ "timeout", 0, "DURATION", COMMAND_WAIT | COMMAND_SUBMIT, OPTION_LIMIT, AT(limit_ms), NULL,
	    "Stop waiting after this time (90s, 5m, 1h30m) and exit with 124; with 0, wait "
	    "checks once; default: no limit." },
	{ "timeout", 0, "DURATION", COMMAND_DELETE, OPTION_LIMIT, AT(limit_ms), NULL,
	    "Wait at most this time until the jobs are deleted; 0: no limit." },
	{ "replicas", 0, "NUMBER", COMMAND_SCALE, OPTION_NUMBER, AT(replicas), NULL,
	    "The new number of workers." },
	{ "workers", 0, "NUMBER", COMMAND_SCALE, OPTION_NUMBER, AT(replicas), NULL,
	    "The same as --replicas." },
	{ "current-replicas", 0, "NUMBER", COMMAND_SCALE, OPTION_NUMBER, AT(current_replicas), NULL,
	    "Change it only if the current number of workers is this one." },
	{ "server-side", 0, NULL, ON_SENDING, OPTION_FLAG, AT(server_side), NULL,
	    "Use server-side apply, which also changes existing objects, instead of create." },
	{ "force-conflicts", 0, NULL, ON_SENDING, OPTION_FLAG, AT(force_conflicts), NULL,
	    "With --server-side: take over fields of other managers." },
	{ "field-manager", 0, "NAME", ON_SENDING, OPTION_TEXT, AT(field_manager), NULL,
	    "Field manager that the server records; default: \"mpijob\"." },
	{ "validate", 0, "HOW", ON_SENDING, OPTION_CHOICE, AT(validate),
	    "strict warn ignore true false",
	    "How to treat unknown and duplicate fields: strict (error, the default), warn "
	    "(warning) or ignore." },
	{ "dry-run", 0, "HOW", ON_WRITES | COMMAND_DELETE, OPTION_CHOICE, AT(dry_run),
	    "client server none",
	    "client: only print what would be sent; server: the server checks it too; nothing "
	    "is stored." },
	{ "wait", 0, NULL, COMMAND_SUBMIT, OPTION_SWITCH, AT(wait), NULL,
	    "Wait until the jobs have ended; the exit code is that of the first launcher that "
	    "failed." },
	{ "wait", 0, NULL, COMMAND_DELETE, OPTION_SWITCH, AT(wait), NULL,
	    "Wait until the jobs are deleted; --wait=false: do not wait." },
	{ "cascade", 0, "HOW", COMMAND_DELETE, OPTION_CHOICE, AT(cascade),
	    "background foreground orphan",
	    "Delete the objects that a job owns after the job (background, the default), "
	    "before it (foreground), or keep them (orphan)." },
	{ "follow", 'f', NULL, COMMAND_LOGS, OPTION_FLAG, AT(follow), NULL,
	    "Continue with new output, until the job has ended." },
	{ "workers", 0, NULL, COMMAND_LOGS, OPTION_FLAG, AT(workers), NULL,
	    "Print the output of the workers instead of the launcher." },
	{ "all", 0, NULL, COMMAND_LOGS, OPTION_FLAG, AT(all), NULL,
	    "Print the output of the launcher and the workers." },
	{ "pod", 0, "NAME", COMMAND_LOGS, OPTION_TEXT, AT(pod), NULL,
	    "Print only the output of this pod of the job." },
	{ "all-containers", 0, NULL, COMMAND_LOGS, OPTION_FLAG, AT(all_containers), NULL,
	    "Print the output of all containers of the pods." },
	{ "previous", 'p', NULL, COMMAND_LOGS, OPTION_FLAG, AT(previous), NULL,
	    "Print the output of the containers before their last restart." },
	{ "tail", 0, "NUMBER", COMMAND_LOGS, OPTION_NUMBER, AT(tail), NULL,
	    "Print only this number of last lines; -1: all." },
	{ "since", 0, "DURATION", COMMAND_LOGS, OPTION_LIMIT, AT(since_ms), NULL,
	    "Print only lines that are not older than this." },
	{ "timestamps", 0, NULL, COMMAND_LOGS, OPTION_FLAG, AT(timestamps), NULL,
	    "Print the time before each line." },
	{ "prefix", 0, NULL, COMMAND_LOGS, OPTION_SWITCH, AT(prefix), NULL,
	    "Print pod and container before each line, in colour on a terminal unless NO_COLOR "
	    "is set; the default for more than one container." },
	{ "local", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(local), NULL,
	    "Run on this machine, also if called as 'kubectl mpijob run'." },
	{ "rm", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(rm), NULL,
	    "On a cluster: delete the job at the end, and when interrupted." },
	{ "detach", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(detach), NULL,
	    "On a cluster: submit the job and exit." },
	{ "job", 0, "NAME", COMMAND_RUN | COMMAND_SET | ON_PLANS, OPTION_TEXT, AT(job), NULL,
	    "The MPIJob to use, if there are several." },
	{ "timeout", 0, "DURATION", COMMAND_RUN, OPTION_DURATION, AT(timeout_ms), NULL,
	    "Stop the job after this time (90s, 5m, 1h30m) and exit with 124." },
	{ "resume", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(resume), NULL,
	    "Run the job on this machine even if its spec.runPolicy.suspend is true." },
	{ "keep", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(keep), NULL,
	    "After the job's end, keep the pods that its cleanPodPolicy keeps, until "
	    "interrupted." },
	{ "allow-host-path", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(allow_host_path), NULL,
	    "Allow hostPath volumes to access this machine's files, and containers to have "
	    "added capabilities." },
	{ "backoff-base", 0, "DURATION", COMMAND_RUN, OPTION_DURATION, AT(backoff_base_ms), NULL,
	    "First delay before the launcher is restarted; it doubles each time; default: 10s, "
	    "as in Kubernetes." },
	{ "late-names", 0, "DURATION", COMMAND_RUN, OPTION_DURATION, AT(late_names_ms), NULL,
	    "Publish the addresses of the pods' names only this time after the first pod, to "
	    "test a job with a slow DNS." },
	{ "timings", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(timings), NULL,
	    "At the end, print how long each step took." },
	{ "container", 'c', "NAME", COMMAND_EXEC | COMMAND_LOGS, OPTION_TEXT, AT(container), NULL,
	    "Container; default: the first one." },
	{ "cluster-domain", 0, "DOMAIN", COMMAND_RENDER | COMMAND_RUN | ON_PLANS, OPTION_TEXT,
	    AT(cluster_domain), NULL,
	    "DNS domain of the cluster for host names, as in the operator's flag; by default "
	    "they end with .svc." },
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
	    NULL,
	    "A PriorityClass of the cluster, for the resources of a PodGroup; may be "
	    "repeated." },
	{ "uid", 0, "UID", COMMAND_RENDER, OPTION_TEXT, AT(uid), NULL,
	    "UID of the MPIJob, for owner references." },
	{ "with-key", 0, NULL, COMMAND_RENDER, OPTION_FLAG, AT(with_key), NULL,
	    "Print a fresh SSH private key in the Secret instead of a placeholder." },
	{ "reference", 0, NULL, ON_FILES | ON_PLANS, OPTION_FLAG, AT(reference), NULL,
	    "Behave exactly as mpi-operator v0.8.2: disable every deliberate difference." },
	{ "strict", 0, NULL, COMMAND_VALIDATE, OPTION_FLAG, AT(strict), NULL,
	    "Treat unknown fields and roles as errors, not warnings." },
	{ "silence", 0, "ID", COMMAND_VALIDATE | COMMAND_RENDER, OPTION_WORDS, AT(silence), NULL,
	    "Do not report the warning or note with this identifier (in brackets after it); "
	    "may be repeated." },
	{ "error", 0, "ID", COMMAND_VALIDATE | COMMAND_RENDER, OPTION_WORDS, AT(error), NULL,
	    "Report the warning or note with this identifier as an error; may be repeated." },
	{ "warnings-as-errors", 0, NULL, ON_SERVERS | COMMAND_RUN, OPTION_FLAG,
	    AT(warnings_as_errors), NULL,
	    "Exit with a code other than 0 if the server sends a warning." },
	{ "kubeconfig", 0, "FILE", CONNECTION, OPTION_TEXT, AT(connection.kubeconfig), NULL,
	    "Kubeconfig to read; default: those in $KUBECONFIG, otherwise ~/.kube/config, "
	    "otherwise the service account of the pod." },
	{ "context", 0, "NAME", CONNECTION, OPTION_TEXT, AT(connection.context), NULL,
	    "Context of the kubeconfig to use." },
	{ "cluster", 0, "NAME", CONNECTION, OPTION_TEXT, AT(connection.cluster), NULL,
	    "Cluster of the kubeconfig to use." },
	{ "user", 0, "NAME", CONNECTION, OPTION_TEXT, AT(connection.user), NULL,
	    "User of the kubeconfig to use." },
	{ "server", 's', "URL", CONNECTION, OPTION_TEXT, AT(connection.server), NULL,
	    "Address of the API server." },
	{ "tls-server-name", 0, "NAME", CONNECTION, OPTION_TEXT, AT(connection.tls_server_name),
	    NULL, "Name that the server's certificate must have; default: that of the address." },
	{ "certificate-authority", 0, "FILE", CONNECTION, OPTION_TEXT,
	    AT(connection.certificate_authority), NULL,
	    "Certificates of the authorities that may sign the server's certificate." },
	{ "insecure-skip-tls-verify", 0, NULL, CONNECTION, OPTION_FLAG, AT(connection.insecure),
	    NULL,
	    "Do not check the server's certificate. This allows an attacker to impersonate the "
	    "server." },
	{ "client-certificate", 0, "FILE", CONNECTION, OPTION_TEXT,
	    AT(connection.client_certificate), NULL, "Client certificate for the server." },
	{ "client-key", 0, "FILE", CONNECTION, OPTION_TEXT, AT(connection.client_key), NULL,
	    "Key of that certificate." },
	{ "token", 0, "TOKEN", CONNECTION, OPTION_TEXT, AT(connection.token), NULL,
	    "Bearer token; other users of this machine can see it in the process list." },
	{ "as", 0, "USER", CONNECTION, OPTION_TEXT, AT(connection.as), NULL,
	    "User to impersonate." },
	{ "as-group", 0, "GROUP", CONNECTION, OPTION_WORDS, AT(connection.as_groups), NULL,
	    "Group to impersonate; may be repeated." },
	{ "as-uid", 0, "UID", CONNECTION, OPTION_TEXT, AT(connection.as_uid), NULL,
	    "UID to impersonate." },
	{ "request-timeout", 0, "DURATION", CONNECTION, OPTION_LIMIT,
	    AT(connection.request_timeout_ms), NULL,
	    "Cancel a request after this time; 0: never; default: 60s." },
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
		print_to(stderr, "mpijob: --%s: '%s' is not a number from 0 to %d\n", row->name,
		    value, INT32_MAX);
		return EXIT_USAGE;
	}
	if (row->kind == OPTION_NUMBER)
		return 0;
	if (mpijob__base_duration_parse(value + negative, &ms)) {
		print_to(stderr,
		    "mpijob: --%s: '%s' is not a duration; write 90s, 5m, 1h30m or seconds\n",
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
		    mpijob_diag_at(diag, 0) ? mpijob_diag_at(diag, 0)->message
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
		if (mpijob__base_duration_parse(value, (int64_t *)(void *)place) == 0)
			return 0;
		print_to(stderr,
		    "mpijob: --%s: '%s' is not a duration; write 90s, 5m, 1h30m or seconds\n",
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
	*letters++ = ':'; /* distinguishes a missing value from an unknown option */
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
	return mpijob__base_near_word(name, names, ROWS);
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

/* Cut argv at "--": the program of exec, or more operands, follow it. */
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
	for (size_t i = 0; i < ROWS; i++) {
		char *place = (char *)arguments + option_rows[i].offset;
		struct words *words = (struct words *)(void *)place;

		if (option_rows[i].kind != OPTION_WORDS)
			continue;
		free(words->items);
		*words = (struct words){ 0 };
	}
	free(arguments->operands.items);
}
