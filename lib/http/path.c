/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths with the rules of Go's path/filepath, which kubectl applies to relative paths in a
 * kubeconfig: ".." removes the element before it without following links. Only the working
 * directory is read from the system.
 */
#include "http/path.h"

#include "base/text.h"
#include "http/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The offset of the last element of a path of `len` bytes. */
static size_t last_element_at(const char *out, size_t len)
{
	while (len && out[len - 1] != '/')
		len--;
	return len;
}

char *mpijob__http_path_clean(const char *path)
{
	int rooted = path[0] == '/';
	char *out = malloc(strlen(path) + 2);
	size_t len = 0, fixed; /* `fixed`: the part that ".." cannot remove */

	if (!out)
		return NULL;
	if (rooted)
		out[len++] = '/';
	fixed = len;
	while (*path) {
		size_t size = strcspn(path, "/");

		if (size == 2 && path[0] == '.' && path[1] == '.' && len > fixed) {
			len = last_element_at(out, len);
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
	for (size_t size = 256;; size *= 2) {
		char *name = malloc(size);

		if (!name || getcwd(name, size))
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

char *mpijob__http_path_directory(const char *file)
{
	char *path = mpijob__http_path_absolute(file);
	char *directory;

	if (!path)
		return NULL;
	path[last_element_at(path, strlen(path))] = 0;
	directory = mpijob__http_path_clean(path);
	free(path);
	if (!directory)
		errno = ENOMEM;
	return directory;
}
