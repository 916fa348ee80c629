/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which program the command of a plugin is, and whether it may run. The author of a kubeconfig
 * chooses the command, so the program that will run is compared with the allowed ones, and not its
 * name alone.
 */
#include "http/plugin_find.h"

#include "http/path.h"
#include "http/plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_program(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

/* Search a bare command in $PATH. Relative directories are skipped: their content depends on the
 * working directory. */
static int look_up(const char *command, char **out)
{
	const char *part = getenv("PATH");

	*out = NULL;
	if (!part || !*part)
		part = "/usr/local/bin:/usr/bin:/bin";
	while (*part) {
		size_t len = strcspn(part, ":");
		char *folder = strndup(part, len);
		char *path =
		    folder && *folder == '/' ? mpijob__http_path_join(folder, command) : NULL;
		int failed = !folder || (*folder == '/' && !path);

		free(folder);
		if (failed)
			return MPIJOB_ERR_NOMEM;
		if (path && is_program(path)) {
			*out = path;
			return 0;
		}
		free(path);
		part += len;
		part += *part == ':';
	}
	return MPIJOB__HTTP_PLUGIN_NOT_FOUND;
}

static int find_program(const char *command, char **out)
{
	struct stat about;

	if (!strchr(command, '/'))
		return look_up(command, out);
	if (stat(command, &about) && (errno == ENOENT || errno == ENOTDIR))
		return MPIJOB__HTTP_PLUGIN_NOT_FOUND;
	*out = strdup(command);
	return *out ? 0 : MPIJOB_ERR_NOMEM;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether an allowed command resolves to this program. 1, 0, MPIJOB_ERR_NOMEM. */
static int is_found_as(const char *allowed, const char *program)
{
	char *path = NULL;
	int code, is_same;

	if (strcmp(base_name(allowed), base_name(program)) != 0)
		return 0;
	code = find_program(allowed, &path);
	is_same = code == 0 && strcmp(path, program) == 0;
	free(path);
	return code < 0 ? code : is_same;
}

/* 1, 0, MPIJOB_ERR_NOMEM. */
static int may_run(const char *command, const char *program, char *const *allowed)
{
	int code = 0;

	for (; code == 0 && *allowed; allowed++)
		code = strcmp(*allowed, command) == 0 || strcmp(*allowed, program) == 0
			   ? 1
			   : is_found_as(*allowed, program);
	return code;
}

int mpijob__http_plugin_find(const char *command, char *const *allowed, char **out)
{
	int code, may;

	if (allowed && !*allowed)
		return MPIJOB__HTTP_PLUGIN_FORBIDDEN;
	code = find_program(command, out);
	if (code || !allowed)
		return code;
	may = may_run(command, *out, allowed);
	if (may == 1)
		return 0;
	free(*out);
	*out = NULL;
	return may < 0 ? may : MPIJOB__HTTP_PLUGIN_FORBIDDEN;
}
