/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of files as Go's path/filepath makes them, which decides what a relative name in a
 * kubeconfig means: ".." is taken away by spelling, so that links do not matter. Only the working
 * directory is asked of the system.
 */
#include "http/path.h"

#include "base/text.h"
#include "http/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the last element of what is written so far begins. */
static size_t last_element(const char *out, size_t len)
{
	while (len && out[len - 1] != '/')
		len--;
	return len;
}

char *mpijob__http_path_clean(const char *path)
{
	int rooted = path[0] == '/';
	char *out = malloc(strlen(path) + 2);
	size_t len = 0, fixed; /* `fixed`: what ".." cannot take away */

	if (!out)
		return NULL;
	if (rooted)
		out[len++] = '/';
	fixed = len;
	while (*path) {
		size_t size = strcspn(path, "/");

		if (size == 2 && path[0] == '.' && path[1] == '.' && len > fixed) {
			len = last_element(out, len);
			len -= len > fixed;
		} else if (size == 2 && path[0] == '.' && path[1] == '.' && rooted) {
			/* The parent of the root is the root. */
		} else if (size > 1 || (size == 1 && path[0] != '.')) {
			if (len > (size_t)rooted)
				out[len++] = '/';
			memcpy(out + len, path, size);
			len += size;
			if (size == 2 && path[0] == '.' && path[1] == '.')
				fixed = len;
		}
		path += size;
		path += *path == '/';
	}
	if (!len)
		out[len++] = '.';
	out[len] = 0;
	return out;
}

char *mpijob__http_path_join(const char *base, const char *path)
{
	char *joined, *clean = NULL;

	if (path[0] == '/')
		return strdup(path);
	joined = mpijob__base_text_format("%s/%s", base, path);
	if (joined)
		clean = mpijob__http_path_clean(joined);
	free(joined);
	return clean;
}

static char *working_directory(void)
{
	for (size_t room = 256;; room *= 2) {
		char *name = malloc(room);

		if (!name || getcwd(name, room))
			return name;
		free(name);
		if (errno != ERANGE)
			return NULL;
	}
}

char *mpijob__http_path_absolute(const char *file)
{
	char *base, *path;

	if (file[0] == '/')
		return strdup(file);
	base = working_directory();
	if (!base)
		return NULL;
	path = mpijob__http_path_join(base, file);
	free(base);
	if (!path)
		errno = ENOMEM;
	return path;
}

char *mpijob__http_path_folder(const char *file)
{
	char *path = mpijob__http_path_absolute(file);
	char *folder;

	if (!path)
		return NULL;
	path[last_element(path, strlen(path))] = 0;
	folder = mpijob__http_path_clean(path);
	free(path);
	if (!folder)
		errno = ENOMEM;
	return folder;
}
