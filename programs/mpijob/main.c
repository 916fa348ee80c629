/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `mpijob`: the table of commands with their names, summaries and help texts.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mpijob/base.h>

#include "base/near.h"
#include "command.h"
#include "help.h"
#include "options.h"
#include "print.h"
#include "base/text.h"

const struct command commands[] = {
	{ "create", COMMAND_CREATE, "NAME -- PROGRAM [ARG...]",
	    "Write an MPIJob for a program, with the reason for each choice",
	    "Prints YAML with comments. 'mpijob validate' has no findings for it. The job runs "
	    "mpirun, or another tool, with one rank for each slot, and sets what the MPI needs "
	    "in containers. Nothing is sent to a cluster.\n\nWith --template the job tests the "
	    "links between the hosts: pi computes pi; osu sends messages between each pair of "
	    "hosts and prints the slowest; nccl does so over GPUs (with the program "
	    "all_reduce_perf of the image). The jobs of pi and osu contain their source, which "
	    "the image's mpicc compiles, unless a program is given after --.",
	    create_command },
	{ "validate", COMMAND_VALIDATE, "FILE...",
	    "Check MPIJobs and report all findings, with line and column",
	    "Defaults are filled in first, as the operator does. Findings are printed to "
	    "standard output, one per line. -o json prints them as an array, -o name prints "
	    "the names of the jobs without an error.\n\nExit code: 0 if no finding is an "
	    "error, 1 otherwise.",
	    validate_command },
	{ "set", COMMAND_SET, "FILE PATH=VALUE...",
	    "Change fields of an MPIJob in a file, which keeps its comments and layout",
	    "A path is written as in findings: spec.slotsPerWorker, "
	    "metadata.labels[app.kubernetes.io/name], args[0]. [name=train] selects the item of a "
	    "list by one of its fields, and [-] is a new item at the end. What a path lacks is "
	    "created. For example, this sets an image:\n\nmpijob set pi.yaml "
	    "'spec.mpiReplicaSpecs.Worker.template.spec.containers[0].image=pi:2'\n\nA "
	    "value is YAML: 4 is a number, '\"4\"' a string, [a, b] a list, "
	    "nothing an empty string. Only the bytes of the values change. The new text is parsed "
	    "and checked before it is written; an edit that would change other values, because of "
	    "an anchor or an alias, is refused. FILE is replaced in one step and keeps its mode. "
	    "With - as FILE, standard input is edited and the result printed.\n\nThe result is "
	    "checked as in 'mpijob validate --strict', and the findings are printed to standard "
	    "error. With errors that FILE does not have, nothing is written.\n\nExit code: 0; 1 if "
	    "nothing was written, or a path of --get has no value.",
	    set_command },
	{ "default", COMMAND_DEFAULT, "FILE...", "Print MPIJobs with all defaults filled in",
	    "Prints YAML, or JSON with -o json. The order of keys and unknown fields do not "
	    "change; comments are removed.",
	    default_command },
	{ "render", COMMAND_RENDER, "FILE...",
	    "Print the objects that the operator creates for MPIJobs",
	    "Prints the Service, ConfigMap, Secret, PodGroup, worker Pods and launcher Job, as "
	    "they are when every worker runs. The private key in the Secret is a placeholder "
	    "unless --with-key is given. PriorityClasses in the files are used as those of the "
	    "cluster.",
	    render_command },
	{ "convert", COMMAND_CONVERT, "FILE...", "Convert MPIJobs to another version of the API",
	    "Converts between v1 (of the training operator) and v2beta1 in both directions, "
	    "and to a TrainJob of Trainer v2. Every field that is lost or changes its meaning "
	    "is reported on standard error. Fields that the version does not have are kept in "
	    "the annotation mpijob.libmpijob/converted, so that a conversion back returns the "
	    "original. Other objects in the files are printed unchanged.\n\nv1alpha1 and "
	    "v1alpha2 are converted in one direction only, and the image then needs sshd. "
	    "Check the result with 'mpijob validate'.",
	    convert_command },
	{ "flyte", COMMAND_FLYTE, "render FILE...", "Print the MPIJob of a Flyte task",
	    "Reads the template of a task, a TaskTemplate in the JSON of protobuf, and prints "
	    "its job. For v1 this is the job that Flyte's own plugin creates. For v2beta1 the "
	    "job is converted, the errors of the plugin are repaired, and the job is checked "
	    "as in 'mpijob validate'. Each repair and each change is reported on standard "
	    "error.",
	    flyte_command },
	{ "explain", COMMAND_EXPLAIN, "[FIELD...]", "Explain fields of an MPIJob, or a finding",
	    "A field is written with dots, such as spec.runPolicy.suspend or "
	    "spec.mpiReplicaSpecs.Worker.template.spec.containers.image, or as in findings. "
	    "The command prints its type, default, accepted values and the fields below it. "
	    "Without an operand it lists all fields. It also explains the identifier of a "
	    "finding (the word in brackets after a warning).",
	    explain_command },
	{ "crd", COMMAND_CRD, "", "Print the CustomResourceDefinition of the MPIJob",
	    "For 'kubectl apply -f -'. With this CRD an API server accepts, rejects and fills "
	    "in exactly the same as with the CRD of mpi-operator v0.8.2. Without descriptions "
	    "it is small enough for client-side 'kubectl apply'; 'kubectl explain' then shows "
	    "only types.",
	    crd_command },
	{ "plan", COMMAND_PLAN, "FILE...",
	    "Print the next actions of the controller for an MPIJob, and the reasons",
	    "--observed gives the objects in the cluster, for example the output of 'kubectl "
	    "get mpijob,job,pod,service,configmap,secret -o yaml'. Actions of one stage do not "
	    "depend on each other. The next stage follows when all of them are done. With -o "
	    "the command also prints the request bodies, with placeholders for keys.",
	    plan_command },
	{ "diff", COMMAND_DIFF, "OLD NEW",
	    "Print what changes in the cluster between two versions of an MPIJob",
	    "Prints every object that is created, deleted or changed when the new version is "
	    "applied while the old one runs, and the actual effect: a change of a template "
	    "never restarts running pods.\n\nExit code: 0 without differences, 1 with "
	    "differences, 2 if one version cannot be rendered.",
	    diff_command },
	{ "submit", COMMAND_SUBMIT, "FILE...", "Send MPIJobs and their dependencies to a cluster",
	    "The files are checked first, as in 'mpijob validate'. If there is an error, "
	    "nothing is sent. The other objects of the files (Namespaces, ConfigMaps, Secrets, "
	    "service accounts, volumes, quotas and so on) are created before the jobs. Objects "
	    "that exist and are equal are not changed. A job that exists is an error unless "
	    "--server-side is given.\n\nExit code: 0; 1 if something was rejected; with --wait "
	    "that of the first launcher that failed, 124 after --timeout.",
	    submit_command },
	{ "get", COMMAND_GET, "[NAME...]", "List MPIJobs of a cluster",
	    "Without a name, all jobs of the namespace are listed, in kubectl's table. -o wide "
	    "adds the number of ready workers, the state of the launcher, and reason and "
	    "message of the latest condition.",
	    get_command },
	{ "describe", COMMAND_DESCRIBE, "NAME...",
	    "Show details of MPIJobs of a cluster, and the causes of problems",
	    "Prints the spec of the job, its conditions, pods and events, and at the end the "
	    "causes of problems, each with the next step.",
	    describe_command },
	{ "logs", COMMAND_LOGS, "NAME", "Print the output of the pods of an MPIJob",
	    "Prints the output of all attempts of the launcher in their order, or that of the "
	    "workers. With -f the command waits for pods that do not exist yet, and continues "
	    "until the job and its output have ended.",
	    logs_command },
	{ "wait", COMMAND_WAIT, "NAME...", "Wait until MPIJobs of a cluster meet a condition",
	    "Works as 'kubectl wait'. Exit code: 0 if all jobs meet the condition; 1 if a job "
	    "has ended and can no longer meet it; 124 after --timeout. A failed job is "
	    "Finished too. A script that needs success uses --for=Succeeded, which exits with "
	    "1 at once if the job fails.",
	    wait_command },
	{ "suspend", COMMAND_SUSPEND, "NAME...",
	    "Suspend MPIJobs of a cluster: delete their pods, keep the jobs",
	    "Sets spec.runPolicy.suspend. A job that has ended is not changed.", suspend_command },
	{ "resume", COMMAND_RESUME, "NAME...", "Resume suspended MPIJobs of a cluster",
	    "Resets spec.runPolicy.suspend. The launcher starts from the beginning.",
	    resume_command },
	{ "scale", COMMAND_SCALE, "NAME... --replicas=NUMBER",
	    "Set the number of workers of MPIJobs of a cluster",
	    "Adds workers, or removes those with the highest numbers, and updates the "
	    "hostfile. A running mpirun does not notice the change, unless the program is "
	    "elastic.",
	    scale_command },
	{ "delete", COMMAND_DELETE, "NAME...",
	    "Delete MPIJobs of a cluster, and everything that they own",
	    "Waits until the jobs are deleted, unless --wait=false is given.", delete_command },
	{ "doctor", COMMAND_DOCTOR, "",
	    "Check whether a cluster can run MPIJobs, and print how to fix problems",
	    "Prints one line for each check. Exit code: 0; 1 if a problem prevents jobs from "
	    "running.",
	    doctor_command },
	{ "shadow-report", COMMAND_SHADOW_REPORT, "[FILE|URL]",
	    "Print the actions that our operator plans and the other operator did not execute",
	    "Reads the page /shadow of the monitoring port of 'mpijob-operator --shadow': from "
	    "http://HOST:PORT, from a file, or from standard input. Prints one line for each "
	    "action. The last column names the entry of docs/differences.md that explains "
	    "it.\n\nExit code: 0 if every action is explained, so that our operator may take "
	    "over; 1 otherwise.",
	    shadow_report_command },
	{ "run", COMMAND_RUN, "FILE...",
	    "Run an MPIJob on this machine, without a cluster, or on a cluster",
	    "With --context, --kubeconfig or --server, or called as 'kubectl mpijob run', the "
	    "job runs on that cluster, under its operator. Otherwise, and with --local, it "
	    "runs on this machine.\n\nOn this machine pods are real processes with their own "
	    "host names, addresses and private file systems. sshd and mpirun are this "
	    "machine's. The image of the job is not used. Namespaces, ConfigMaps, Secrets and "
	    "PriorityClasses of the files are created first.\n\nThe output of the launcher's "
	    "first container is printed unchanged to standard output, everything else to "
	    "standard error. Lines of its other containers, and the last lines of a failed "
	    "worker, start with [pod/NAME/CONTAINER], in colour on a terminal unless NO_COLOR "
	    "is set.\n\nThe exit code is that of the launcher's last attempt that ended by "
	    "itself; 1 if the job failed without one; 124 after --timeout; 130 or 143 after "
	    "SIGINT or SIGTERM; 125 if mpijob itself failed. A local run leaves nothing behind.",
	    run_command },
	{ "exec", COMMAND_EXEC, "POD -- COMMAND [ARG...]",
	    "Run a command in a pod of a job of 'mpijob run'",
	    "The exit code is that of the command; 125 if the pod cannot be reached.",
	    exec_command },
	{ "version", COMMAND_VERSION, "", "Print the version",
	    "Prints the versions of this program and of the library that it loaded.",
	    version_command },
	{ "completion", COMMAND_COMPLETION, "bash|zsh|fish",
	    "Print a completion script for a shell", "For bash: source <(mpijob completion bash)",
	    completion_command },
	{ "help", COMMAND_HELP, "[COMMAND]", "Print help", "Without a command, lists the commands.",
	    help_command },
	{ NULL, 0, NULL, NULL, NULL, NULL },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]) - 1)

const struct command *command_find(const char *name)
{
	for (const struct command *command = commands; command->name; command++)
		if (strcmp(command->name, name) == 0)
			return command;
	return NULL;
}

/* What the exit code of a command means when its output could not be written. */
static int finish(int code)
{
	int flushed = fflush(stdout);

	if (flushed == 0 && !ferror(stdout))
		return code;
	/* The reason of an earlier failure is no longer known. */
	print_to(stderr, "mpijob: standard output: %s\n",
	    flushed ? strerror(errno) : "not everything could be written");
	return code ? code : EXIT_FINDINGS;
}

static int complain(const char *name)
{
	const char *names[COMMANDS];

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	const char *near = mpijob__base_near_word(name, names, COMMANDS);
	print_to(stderr, "mpijob: unknown command '%s'", name);
	if (near)
		print_to(stderr, "; did you mean '%s'?\n", near);
	else
		fputs("; see 'mpijob help'\n", stderr);
	return EXIT_USAGE;
}

static int dispatch(const struct command *command, int argc, char **argv, int kubectl)
{
	struct arguments arguments = { .kubectl = kubectl };
	int code = options_parse(command, argc, argv, &arguments);

	if (code < 0) {
		help_print(command, kubectl);
		code = 0;
	} else if (code == 0) {
		code = command->run(&arguments);
	}
	options_free(&arguments);
	return finish(code);
}

/* A closed descriptor would be reused for a file or socket, and messages would be written to it. */
static void hold_closed(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			/* the lowest that is free; writing to it still fails */
			(void)!open("/dev/null", O_RDONLY);
}

/* kubectl runs kubectl-mpijob for 'kubectl mpijob'. */
static int is_plugin(const char *path)
{
	return mpijob__base_text_is(mpijob__base_text_file_name(path), "kubectl-mpijob");
}

int main(int argc, char **argv)
{
	int kubectl = is_plugin(argv[0]);

	hold_closed();
	guard_memory();
	if (argc < 2) {
		help_print(NULL, kubectl);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		argv[1] = (char *)"help";
	else if (strcmp(argv[1], "--version") == 0)
		argv[1] = (char *)"version";
	const struct command *command = command_find(argv[1]);
	if (!command && argv[1][0] == '-') {
		print_to(stderr, "mpijob: options follow the command: %smpijob COMMAND %s ...\n",
		    kubectl ? "kubectl " : "", argv[1]);
		return EXIT_USAGE;
	}
	if (!command)
		return complain(argv[1]);
	return dispatch(command, argc - 1, argv + 1, kubectl);
}
