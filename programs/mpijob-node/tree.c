/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes and copies directory trees without following symbolic links.
 */
#include "node.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

void remove_tree(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (!is_dot(entry->d_name) && unlinkat(fd, entry->d_name, 0) &&
		    (errno == EISDIR || errno == EPERM))
			remove_tree(fd, entry->d_name);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	if (unlinkat(at, name, AT_REMOVEDIR) && errno == ENOTDIR)
		unlinkat(at, name, 0);
}

static void copy_file(int from, int to, const char *name, mode_t mode)
{
	char buffer[16384];
	int in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int out = in < 0 ? -1 : openat(to, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	ssize_t n;

	while (out >= 0 && (n = read(in, buffer, sizeof(buffer))) > 0) {
		if (write(out, buffer, (size_t)n) != n)
			die(MPIJOB_ERR_IO, "cannot copy %s: %m", name);
	}
	if (out >= 0)
		close(out);
	if (in >= 0)
		close(in);
}

static void copy_link(int from, int to, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);

	if (n > 0) {
		target[n] = 0;
		if (symlinkat(target, to, name) && errno != EEXIST)
			die(MPIJOB_ERR_IO, "cannot copy the link %s: %m", name);
	}
}

static void copy_entries(int from, int to)
{
	int copy = dup(from);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)) != NULL) {
		const char *name = entry->d_name;

		if (is_dot(name) || fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISREG(st.st_mode)) {
			copy_file(from, to, name, st.st_mode & 0777);
		} else if (S_ISLNK(st.st_mode)) {
			copy_link(from, to, name);
		} else if (S_ISDIR(st.st_mode) &&
			   (mkdirat(to, name, st.st_mode & 0777) == 0 || errno == EEXIST)) {
			int in =
			    openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			int out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			if (in >= 0 && out >= 0)
				copy_entries(in, out);
			if (in >= 0)
				close(in);
			if (out >= 0)
				close(out);
		}
	}
	if (dir)
		closedir(dir);
}

void copy_tree(int from, int to, const char *name)
{
	if (from < 0 || to < 0)
		die(MPIJOB_ERR_IO, "cannot copy %s: %m", name);
	copy_entries(from, to);
	close(from);
	close(to);
}
