/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which program the command of a plugin resolves to, and whether the list of allowed commands
 * permits it. The author of a kubeconfig chooses the command; therefore the resolved program is
 * compared, not only its name.
 */
#include "http/plugin_find.h"

#include "http/path.h"
#include "http/plugin.h"
#include "base/text.h"

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

/* Search a command without slash in $PATH. Relative directories are skipped, because they depend on
 * the working directory. */
static int search_path(const char *command, char **out)
{
	const char *part = getenv("PATH");

	*out = NULL;
	if (!part || !*part)
		part = "/usr/local/bin:/usr/bin:/bin";
	while (*part) {
		size_t len = strcspn(part, ":");
		char *directory = strndup(part, len);
		char *path = directory && *directory == '/'
				 ? mpijob__http_path_join(directory, command)
				 : NULL;
		int failed = !directory || (*directory == '/' && !path);

		free(directory);
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
		return search_path(command, out);
	if (stat(command, &about) && (errno == ENOENT || errno == ENOTDIR))
		return MPIJOB__HTTP_PLUGIN_NOT_FOUND;
	*out = strdup(command);
	return *out ? 0 : MPIJOB_ERR_NOMEM;
}

/* Whether the command `allowed` resolves to this program. 1, 0, MPIJOB_ERR_NOMEM. */
static int resolves_to(const char *allowed, const char *program)
{
	char *path = NULL;
	int rc, is_same;

	if (strcmp(mpijob__base_text_file_name(allowed), mpijob__base_text_file_name(program)) != 0)
		return 0;
	rc = find_program(allowed, &path);
	is_same = rc == 0 && strcmp(path, program) == 0;
	free(path);
	return rc < 0 ? rc : is_same;
}

/* 1, 0, MPIJOB_ERR_NOMEM. */
static int may_run(const char *command, const char *program, char *const *allowed)
{
	int rc = 0;

	for (; rc == 0 && *allowed; allowed++)
		rc = strcmp(*allowed, command) == 0 || strcmp(*allowed, program) == 0
			 ? 1
			 : resolves_to(*allowed, program);
	return rc;
}

int mpijob__http_plugin_find(const char *command, char *const *allowed, char **out)
{
	int rc, allowed_rc;

	if (allowed && !*allowed)
		return MPIJOB__HTTP_PLUGIN_FORBIDDEN;
	rc = find_program(command, out);
	if (rc || !allowed)
		return rc;
	allowed_rc = may_run(command, *out, allowed);
	if (allowed_rc == 1)
		return 0;
	free(*out);
	*out = NULL;
	return allowed_rc < 0 ? allowed_rc : MPIJOB__HTTP_PLUGIN_FORBIDDEN;
}
