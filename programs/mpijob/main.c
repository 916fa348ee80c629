/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `mpijob`: knows which commands there are, and what each is called and says of itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mpijob/base.h>

#include "command.h"
#include "help.h"
#include "options.h"
#include "print.h"

const struct command commands[] = {
	{ "create", COMMAND_CREATE, "NAME -- PROGRAM [ARG...]",
	    "Write an MPIJob for a program, with the reason for each choice",
	    "Prints commented YAML that 'mpijob validate' has nothing to say about: mpirun, or "
	    "another tool, with as many ranks as there are slots, and what the MPI needs to run in "
	    "containers. Nothing is sent anywhere.\n\n"
	    "With --template it is a test of the links between the hosts: pi computes, osu sends "
	    "messages between each pair of hosts and names the slowest, nccl does so over GPUs "
	    "(with the program all_reduce_perf of the image). pi and osu carry their source with "
	    "them, and are compiled by the image's mpicc, unless a program stands behind --.",
	    create_command },
	{ "validate", COMMAND_VALIDATE, "FILE...",
	    "Check MPIJobs and say what is wrong, with line and column",
	    "Defaults are filled in first, as the operator does. Findings go to standard output, "
	    "one line each; -o json prints them as an array, -o name the names of the jobs without "
	    "an error.\n\n"
	    "Exit code: 0 when no finding is an error, 1 otherwise.",
	    validate_command },
	{ "default", COMMAND_DEFAULT, "FILE...", "Print MPIJobs with all defaults filled in",
	    "Prints YAML, or with -o json JSON; order, comments aside, and unknown fields stay as "
	    "they are.",
	    default_command },
	{ "render", COMMAND_RENDER, "FILE...",
	    "Print the objects that the operator creates for MPIJobs",
	    "Service, ConfigMap, Secret, PodGroup, worker Pods and launcher Job, as they are once "
	    "every worker runs. The private key in the Secret is a placeholder unless --with-key "
	    "is given. PriorityClasses in the files count as those of the cluster.",
	    render_command },
	{ "convert", COMMAND_CONVERT, "FILE...", "Write MPIJobs for another version of the API",
	    "Between v1, the training operator's, and v2beta1, both ways; and to a TrainJob of "
	    "Trainer v2. Every field that is lost, or that means something else there, is named on "
	    "standard error. What the version cannot hold is kept in the annotation "
	    "mpijob.libmpijob/converted, so that the way back gives the original. Other objects in "
	    "the files pass through.\n\n"
	    "v1alpha1 and v1alpha2 are converted one way; the image then needs sshd. Check what "
	    "comes out with 'mpijob validate'.",
	    convert_command },
	{ "flyte", COMMAND_FLYTE, "render FILE...", "Write the MPIJob of a Flyte task",
	    "Reads the template of a task, a TaskTemplate as protobuf writes it in JSON, and "
	    "prints its job. For v1 that is what Flyte's own plugin builds, for v2beta1 it is "
	    "converted, repaired where the plugin is wrong, and checked as 'mpijob validate' does; "
	    "each repair and each change is told on standard error.",
	    flyte_command },
	{ "explain", COMMAND_EXPLAIN, "[FIELD...]",
	    "Tell about fields of an MPIJob, or about a finding",
	    "A field is written with dots, spec.runPolicy.suspend or "
	    "spec.mpiReplicaSpecs.Worker.template.spec.containers.image, or as findings write it. "
	    "Its type, default, accepted values and the fields below it are printed; without a "
	    "field all of them are listed. The identifier of a finding (the word in brackets "
	    "behind a warning) is explained too.",
	    explain_command },
	{ "crd", COMMAND_CRD, "", "Print the CustomResourceDefinition of the MPIJob",
	    "For 'kubectl apply -f -'. An API server takes, refuses and fills in by it exactly "
	    "what it does by that of mpi-operator v0.8.2. Without descriptions it is small enough "
	    "for 'kubectl apply' on the client's side; 'kubectl explain' then shows types alone.",
	    crd_command },
	{ "plan", COMMAND_PLAN, "FILE...",
	    "Tell what the controller would do next with an MPIJob, and why",
	    "What is in the cluster comes from --observed, for example what 'kubectl get "
	    "mpijob,job,pod,service,configmap,secret -o yaml' prints. Actions of one stage do not "
	    "depend on each other; the next stage follows when all are done. With -o the bodies "
	    "that would be sent are printed too, with placeholders for keys.",
	    plan_command },
	{ "diff", COMMAND_DIFF, "OLD NEW",
	    "Tell what changes in the cluster between two versions of an MPIJob",
	    "Says for every object what is created, deleted or changed when the new version is "
	    "applied while the old one runs, and what really happens: running pods are never "
	    "started again when a template changes.\n\n"
	    "Exit code: 0 without differences, 1 with some, 2 when one of them cannot be rendered.",
	    diff_command },
	{ "submit", COMMAND_SUBMIT, "FILE...", "Send MPIJobs, and what they need, to a cluster",
	    "The files are checked first, as 'mpijob validate' does; nothing is sent when that "
	    "finds an error. What jobs need (Namespaces, ConfigMaps, Secrets, service accounts, "
	    "volumes, quotas and whatever else the files hold) is created before the jobs; what is "
	    "there already as the file has it stays as it is. A job that exists is an error unless "
	    "--server-side is given.\n\n"
	    "Exit code: 0, 1 when something was refused; with --wait that of the first launcher "
	    "that failed, 124 after --timeout.",
	    submit_command },
	{ "get", COMMAND_GET, "[NAME...]", "List MPIJobs of a cluster",
	    "Without a name all of the namespace, in the table that kubectl prints; -o wide adds "
	    "the workers that are ready, the launcher's state and the newest condition's reason "
	    "and message.",
	    get_command },
	{ "describe", COMMAND_DESCRIBE, "NAME...",
	    "Tell all about MPIJobs of a cluster, and what is wrong with them",
	    "What the job asks for, its conditions, pods and events, and at the end the causes of "
	    "what goes wrong, with what to do next.",
	    describe_command },
	{ "logs", COMMAND_LOGS, "NAME", "Print what the pods of an MPIJob print",
	    "The launcher's output, of all its attempts in their order, or that of the workers. "
	    "With -f it waits for pods that are not there yet, and goes on until the job and its "
	    "output have ended.",
	    logs_command },
	{ "wait", COMMAND_WAIT, "NAME...", "Wait until MPIJobs of a cluster are as wanted",
	    "As 'kubectl wait'. Exit code: 0 when all are so; 1 when one has ended another way, so "
	    "that waiting makes no sense; 124 after --timeout. A job that failed is Finished too: "
	    "a script that goes on with success alone waits with --for=Succeeded, which ends with "
	    "1 at once when the job fails.",
	    wait_command },
	{ "suspend", COMMAND_SUSPEND, "NAME...",
	    "Suspend MPIJobs of a cluster: their pods go, the jobs stay",
	    "Sets spec.runPolicy.suspend. A job that has ended is left as it is.",
	    suspend_command },
	{ "resume", COMMAND_RESUME, "NAME...", "Let suspended MPIJobs of a cluster go on",
	    "Takes spec.runPolicy.suspend back; the launcher starts from its beginning.",
	    resume_command },
	{ "scale", COMMAND_SCALE, "NAME... --replicas=NUMBER",
	    "Set the number of workers of MPIJobs of a cluster",
	    "Workers are added, or those with the highest numbers removed, and the hostfile "
	    "follows. An mpirun that runs already does not notice, unless it is elastic.",
	    scale_command },
	{ "delete", COMMAND_DELETE, "NAME...",
	    "Delete MPIJobs of a cluster, and with them all that they own",
	    "Waits until the jobs are gone, unless --wait=false is given.", delete_command },
	{ "doctor", COMMAND_DOCTOR, "",
	    "Look whether a cluster can run MPIJobs, and say what mends it",
	    "One line for each thing that was looked at. Exit code: 0, 1 when something stands in "
	    "the way.",
	    doctor_command },
	{ "shadow-report", COMMAND_SHADOW_REPORT, "[FILE|URL]",
	    "Tell what an operator of ours would have done that the other one has not",
	    "Reads what 'mpijob-operator --shadow' shows at /shadow of its monitoring port: from "
	    "http://HOST:PORT, from a file, or from standard input. One line for each action; the "
	    "last column names the row of docs/differences.md that explains it.\n\n"
	    "Exit code: 0 when there is nothing that is not explained, so that it may take over; 1 "
	    "otherwise.",
	    shadow_report_command },
	{ "run", COMMAND_RUN, "FILE...",
	    "Run an MPIJob on this machine, without a cluster, or on a cluster",
	    "With --context, --kubeconfig or --server, or called as 'kubectl mpijob run', it runs "
	    "on that cluster, whose operator does the work; otherwise, and with --local, on this "
	    "machine.\n\n"
	    "On this machine pods are real processes with their own host names, addresses and "
	    "private file systems; sshd and mpirun are this machine's. The image of the job is not "
	    "used. Namespaces, ConfigMaps, Secrets and PriorityClasses of the files are created "
	    "first.\n\n"
	    "The output of the launcher's first container goes to standard output as it is, "
	    "everything else to standard error. Lines of its other containers, and the last lines "
	    "of a worker that failed, begin with [pod/NAME/CONTAINER]; on a terminal in colour, "
	    "unless NO_COLOR is set.\n\n"
	    "The exit code is that of the launcher's last attempt that ended by itself; 1 when the "
	    "job failed without one; 124 after --timeout; 130 or 143 after SIGINT or SIGTERM; 125 "
	    "when mpijob itself failed. Nothing is left behind.",
	    run_command },
	{ "exec", COMMAND_EXEC, "POD -- COMMAND [ARG...]",
	    "Run a command inside a pod of a job that 'mpijob run' runs",
	    "The exit code is that of the command; 125 when the pod cannot be reached.",
	    exec_command },
	{ "version", COMMAND_VERSION, "", "Print the version",
	    "Prints the version of this program and of the library that it loaded.",
	    version_command },
	{ "completion", COMMAND_COMPLETION, "bash|zsh|fish",
	    "Print a completion script for a shell", "For bash: source <(mpijob completion bash)",
	    completion_command },
	{ "help", COMMAND_HELP, "[COMMAND]", "Print help",
	    "Without a command: the list of commands.", help_command },
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
	/* What an earlier write failed of is not known any more. */
	print_to(stderr, "mpijob: standard output: %s\n",
	    flushed ? strerror(errno) : "not everything could be written");
	return code ? code : EXIT_FINDINGS;
}

static int complain(const char *name)
{
	const char *names[COMMANDS];

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	const char *near = mpijob_nearest(name, names, COMMANDS);
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

/* A descriptor that is closed would become that of a file or socket, into which messages would go
 * then. */
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
	const char *slash = path ? strrchr(path, '/') : NULL;

	return path && strcmp(slash ? slash + 1 : path, "kubectl-mpijob") == 0;
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
		print_to(stderr,
		    "mpijob: options stand behind the command: %smpijob COMMAND %s ...\n",
		    kubectl ? "kubectl " : "", argv[1]);
		return EXIT_USAGE;
	}
	if (!command)
		return complain(argv[1]);
	return dispatch(command, argc - 1, argv + 1, kubectl);
}
