/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob exec: calls mpijob_local_exec().
 */
#include <unistd.h>

#include <mpijob/local.h>

#include "findings.h"
#include "command.h"

int exec_command(const struct arguments *arguments)
{
	struct mpijob_local_exec_options exec = MPIJOB_LOCAL_EXEC_OPTIONS_INIT;
	int exit_code = EXIT_OWN_FAILURE;

	if (arguments->operands.count != 1 || !arguments->program || !arguments->program[0]) {
		fputs("mpijob: write: mpijob exec POD -- COMMAND [ARG...]\n", stderr);
		return EXIT_USAGE;
	}
	exec.namespace_ = arguments->namespace_;
	exec.pod = arguments->operands.items[0];
	exec.container = arguments->container;
	exec.argv = (const char *const *)arguments->program;
	exec.fds[0] = STDIN_FILENO;
	exec.fds[1] = STDOUT_FILENO;
	exec.fds[2] = STDERR_FILENO;

	mpijob_diag *diag = mpijob_diag_new();
	int code = mpijob_local_exec(&exec, &exit_code, diag);
	findings_print(diag, stderr);
	failure_print(diag, code);
	mpijob_diag_free(diag);
	return code ? EXIT_OWN_FAILURE : exit_code;
}
