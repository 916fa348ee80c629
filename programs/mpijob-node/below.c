/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and creating files below a directory that pods can influence. The kernel resolves each
 * path with that directory as its root (RESOLVE_IN_ROOT), so neither "..", nor an absolute link,
 * nor a link of /proc leads out of it. New entries are created by one name in a directory that is
 * already open.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES 64 /* a rename at the same time makes the kernel give up with EAGAIN */

int below_open(int top, const char *path, int flags)
{
	struct open_how how = { .flags = (unsigned long long)(unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT };
	int fd = -1;

	errno = EAGAIN;
	for (int i = 0; fd < 0 && errno == EAGAIN && i < TRIES; i++)
		fd = (int)syscall(SYS_openat2, top, *path ? path : ".", &how, sizeof(how));
	return fd;
}

int below_parent(int top, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char *parent = format_text("%.*s", slash ? (int)(slash - path) : 0, path);
	int fd = below_open(top, parent, O_PATH | O_DIRECTORY);

	free(parent);
	*name = slash ? slash + 1 : path;
	if (fd >= 0 && (!**name || strcmp(*name, ".") == 0 || strcmp(*name, "..") == 0)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

/* Returns 0 also when something has that name already. */
static int make_entry(int top, const char *path, bool folder)
{
	const char *name;
	int parent = below_parent(top, path, &name);
	int error;

	if (parent < 0)
		return errno;
	error = (folder ? mkdirat(parent, name, 0755) : mknodat(parent, name, S_IFREG | 0644, 0))
		    ? errno
		    : 0;
	close(parent);
	return error == EEXIST ? 0 : error;
}

int below_make(int top, const char *path, bool folder)
{
	char *copy = must_copy(path);
	int error = 0;

	for (char *slash = *copy ? strchr(copy + 1, '/') : NULL; slash && !error;
	     slash = strchr(slash + 1, '/')) {
		int fd;

		*slash = 0;
		fd = below_open(top, copy, O_PATH);
		if (fd >= 0)
			close(fd);
		else
			error = errno == ENOENT ? make_entry(top, copy, true) : errno;
		*slash = '/';
	}
	free(copy);
	if (!error) {
		int fd = below_open(top, path, O_PATH);

		if (fd >= 0 || errno != ENOENT)
			return fd;
		error = make_entry(top, path, folder);
	}
	errno = error;
	return error ? -1 : below_open(top, path, O_PATH);
}

char *fd_path(int fd)
{
	return format_text("/proc/self/fd/%d", fd);
}
