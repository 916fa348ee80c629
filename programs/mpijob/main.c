/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command `mpijob`: knows which commands there are, and what each is called and says of itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "help.h"
#include "options.h"

const struct command commands[] = {
	{ "validate", COMMAND_VALIDATE, "FILE...", "Check MPIJobs and say what is wrong, with line and column",
	  "Defaults are filled in first, as the operator does. Findings go to standard output, one line each; -o json "
	  "prints them as an array, -o name the names of the jobs without an error.\n\n"
	  "Exit code: 0 when no finding is an error, 1 otherwise.",
	  validate_command },
	{ "default", COMMAND_DEFAULT, "FILE...", "Print MPIJobs with all defaults filled in",
	  "Prints YAML, or with -o json JSON; order, comments aside, and unknown fields stay as they are.",
	  default_command },
	{ "render", COMMAND_RENDER, "FILE...", "Print the objects that the operator creates for MPIJobs",
	  "Service, ConfigMap, Secret, PodGroup, worker Pods and launcher Job, as they are once every worker runs. "
	  "The private key in the Secret is a placeholder unless --with-key is given. PriorityClasses in the files count "
	  "as those of the cluster.",
	  render_command },
	{ "convert", COMMAND_CONVERT, "FILE...", "Write MPIJobs for another version of the API",
	  "Between v1, the training operator's, and v2beta1, both ways; and to a TrainJob of Trainer v2. Every field that is lost, or "
	  "that means something else there, is named on standard error. What the version cannot hold is kept in the annotation "
	  "mpijob.libmpijob/converted, so that the way back gives the original. Other objects in the files pass through.\n\n"
	  "v1alpha1 and v1alpha2 are not converted; where their fields move is said. Check what comes out with 'mpijob validate'.",
	  convert_command },
	{ "explain", COMMAND_EXPLAIN, "[FIELD...]", "Tell about fields of an MPIJob, or about a finding",
	  "A field is written with dots, spec.runPolicy.suspend or spec.mpiReplicaSpecs.Worker.template.spec.containers.image, or as "
	  "findings write it. Its type, default, accepted values and the fields below it are printed; without a field all of them are "
	  "listed. The identifier of a finding (the word in brackets behind a warning) is explained too.",
	  explain_command },
	{ "plan", COMMAND_PLAN, "FILE...", "Tell what the controller would do next with an MPIJob, and why",
	  "What is in the cluster comes from --observed, for example what 'kubectl get mpijob,job,pod,service,configmap,secret -o yaml' "
	  "prints. Actions of one stage do not depend on each other; the next stage follows when all are done. With -o the bodies that "
	  "would be sent are printed too, with placeholders for keys.",
	  plan_command },
	{ "diff", COMMAND_DIFF, "OLD NEW", "Tell what changes in the cluster between two versions of an MPIJob",
	  "Says for every object what is created, deleted or changed when the new version is applied while the old one runs, and what "
	  "really happens: running pods are never started again when a template changes.\n\n"
	  "Exit code: 0 without differences, 1 with some, 2 when one of them cannot be rendered.",
	  diff_command },
	{ "run", COMMAND_RUN, "FILE...", "Run an MPIJob on this machine, without a cluster",
	  "Pods are real processes with their own host names, addresses and private file systems; sshd and mpirun are "
	  "this machine's. The image of the job is not used. Namespaces, ConfigMaps, Secrets and PriorityClasses of the "
	  "files are created first.\n\n"
	  "The launcher's output goes to standard output as it comes, everything else to standard error. The exit code "
	  "is that of the launcher's last attempt that ended by itself; 1 when the job failed without one; 124 after "
	  "--timeout; 130 or 143 after SIGINT or SIGTERM; 125 when mpijob itself failed. Nothing is left behind.",
	  run_command },
	{ "exec", COMMAND_EXEC, "POD -- COMMAND [ARG...]", "Run a command inside a pod of a job that 'mpijob run' runs",
	  "The exit code is that of the command; 125 when the pod cannot be reached.", exec_command },
	{ "version", COMMAND_VERSION, "", "Print the version",
	  "Prints the version of this program and of the library that it loaded.", version_command },
	{ "completion", COMMAND_COMPLETION, "bash|zsh|fish", "Print a completion script for a shell",
	  "For bash: source <(mpijob completion bash)", completion_command },
	{ "help", COMMAND_HELP, "[COMMAND]", "Print help", "Without a command: the list of commands.", help_command },
	{ NULL, 0, NULL, NULL, NULL, NULL },
};

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
	fprintf(stderr, "mpijob: standard output: %s\n", flushed ? strerror(errno) : "not everything could be written");
	return code ? code : EXIT_FINDINGS;
}

static int dispatch(const struct command *command, int argc, char **argv)
{
	struct arguments arguments = { 0 };
	int code = options_parse(command, argc, argv, &arguments);

	if (code < 0) {
		help_print(command);
		code = 0;
	} else if (code == 0) {
		code = command->run(&arguments);
	}
	options_free(&arguments);
	return finish(code);
}

/* A descriptor that is closed would become that of a file or socket, into which messages would go then. */
static void hold_closed(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", O_RDONLY); /* the lowest that is free; writing to it still fails */
}

int main(int argc, char **argv)
{
	hold_closed();
	if (argc < 2) {
		help_print(NULL);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		argv[1] = (char *)"help";
	else if (strcmp(argv[1], "--version") == 0)
		argv[1] = (char *)"version";
	const struct command *command = command_find(argv[1]);
	if (!command) {
		fprintf(stderr, "mpijob: unknown command '%s'; see 'mpijob help'\n", argv[1]);
		return EXIT_USAGE;
	}
	return dispatch(command, argc - 1, argv + 1);
}
