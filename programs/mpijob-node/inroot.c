/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and creates files below a directory that pods can change. The kernel resolves each path
 * with that directory as the root (openat2, RESOLVE_IN_ROOT), so that "..", absolute symbolic links
 * and magic links of /proc cannot leave it. New entries are created by their last name in a
 * directory that is already open.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ATTEMPTS 64 /* openat2() fails with EAGAIN when a rename happens at the same time */

int inroot_open(int top, const char *path, int flags)
{
	struct open_how how = { .flags = (unsigned long long)(unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT };
	int fd = -1;

	errno = EAGAIN;
	for (int i = 0; fd < 0 && errno == EAGAIN && i < ATTEMPTS; i++)
		fd = (int)syscall(SYS_openat2, top, *path ? path : ".", &how, sizeof(how));
	return fd;
}

int inroot_open_parent(int top, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char *parent = format_text("%.*s", slash ? (int)(slash - path) : 0, path);
	int fd = inroot_open(top, parent, O_PATH | O_DIRECTORY);

	free(parent);
	*name = slash ? slash + 1 : path;
	if (fd >= 0 && (!**name || strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

/* Create one entry. 0, also if the name exists, or an errno. */
static int create_entry(int top, const char *path, bool directory)
{
	const char *name;
	int parent = inroot_open_parent(top, path, &name);
	int rc;

	if (parent < 0)
		return errno;
	rc = (directory ? mkdirat(parent, name, 0755) : mknodat(parent, name, S_IFREG | 0644, 0))
		 ? errno
		 : 0;
	close(parent);
	return rc == EEXIST ? 0 : rc;
}

int inroot_create(int top, const char *path, bool directory)
{
	char *copy = must_copy(path);
	int rc = 0;

	for (char *slash = *copy ? strchr(copy + 1, '/') : NULL; slash && !rc;
	     slash = strchr(slash + 1, '/')) {
		int fd;

		*slash = 0;
		fd = inroot_open(top, copy, O_PATH);
		if (fd >= 0)
			close(fd);
		else
			rc = errno == ENOENT ? create_entry(top, copy, true) : errno;
		*slash = '/';
	}
	free(copy);
	if (!rc) {
		int fd = inroot_open(top, path, O_PATH);

		if (fd >= 0 || errno != ENOENT)
			return fd;
		rc = create_entry(top, path, directory);
	}
	errno = rc;
	return rc ? -1 : inroot_open(top, path, O_PATH);
}

char *fd_path(int fd)
{
	return format_text("/proc/self/fd/%d", fd);
}
