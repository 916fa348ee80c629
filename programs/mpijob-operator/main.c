/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon `mpijob-operator` and its exit codes.
 *
 * 0: success; 1: it cannot start or continue; 2: the command line is invalid, as in Go's flag
 * package.
 */
#include <stdio.h>
#include <string.h>

#include <mpijob/base.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "daemon.h"
#include "flags.h"
#include "log.h"

static int print(const struct settings *settings)
{
	if (settings->help)
		flags_print_help();
	else if (settings->man)
		flags_print_manual();
	else
		printf("mpijob-operator %s (kubeflow.org/v2beta1)\n", mpijob_version());
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}

/* The memory contains keys and tokens: write no core file, and prevent other processes of this user
 * from reading it. */
static void guard_memory(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) == 0) {
		limit.rlim_cur = 0;
		setrlimit(RLIMIT_CORE, &limit);
	}
	prctl(PR_SET_DUMPABLE, 0);
}

int main(int argc, char **argv)
{
	struct settings settings;
	int code = flags_parse(argc, argv, &settings) ? 2 : 0;

	guard_memory();
	if (code == 0 && (settings.help || settings.man || settings.version)) {
		code = print(&settings);
	} else if (code == 0) {
		log_set_json(strcmp(settings.log_format, "json") == 0);
		code = daemon_run(&settings);
	}
	flags_free(&settings);
	return code;
}
