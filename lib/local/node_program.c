/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the program mpijob-node relative to the file from which this code was loaded, in a build
 * tree and in an installation, so that either can be moved as a whole.
 */
#define _GNU_SOURCE /* dladdr */

#include "local/node_program.h"
#include "base/text.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef MPIJOB_LIBEXECDIR
#define MPIJOB_LIBEXECDIR "../libexec"
#endif
#ifndef MPIJOB_BUILD_LIBEXECDIR
#define MPIJOB_BUILD_LIBEXECDIR "../libexec"
#endif

static const char here;

char *mpijob__local_node_program_find(void)
{
	static const char *const directories[] = { MPIJOB_BUILD_LIBEXECDIR, MPIJOB_LIBEXECDIR };
	Dl_info info;
	char *file = dladdr(&here, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
	char *slash = file ? strrchr(file, '/') : NULL;
	char *path = NULL;

	if (slash)
		*slash = 0;
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		free(path);
		path = mpijob__base_text_format("%s%s%s/mpijob-node",
		    directories[i][0] == '/' ? ""
		    : slash                  ? file
					     : ".",
		    directories[i][0] == '/' ? "" : "/", directories[i]);
		if (path && access(path, X_OK) == 0)
			break;
	}
	free(file);
	return path;
}
