/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how a file is written in one step: a temporary file beside it, on the disk before it gets
 * the name.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replace_file.h"

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t done = write(fd, data, len);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		data += done;
		len -= (size_t)done;
	}
	return 0;
}

/* Take mode and owner of the old file; a new one gets those of every new file. */
static int take_mode(int fd, const struct stat *old)
{
	mode_t mask = umask(0);

	umask(mask);
	if (!old)
		return fchmod(fd, 0666 & ~mask);
	if (fchown(fd, old->st_uid, old->st_gid) != 0 && fchown(fd, (uid_t)-1, old->st_gid) != 0)
		return fchmod(fd, old->st_mode & 0777);
	return fchmod(fd, old->st_mode & 07777);
}

/* So that the new name is on the disk too. Not every file system can do this. */
static void sync_directory(char *path)
{
	int fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

static int replace(const char *path, const struct stat *old, const char *data, size_t len)
{
	char *temporary = NULL;

	if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
		errno = ENOMEM;
		return -1;
	}
	int fd = mkostemp(temporary, O_CLOEXEC);
	int rc = fd < 0 ? -1 : write_all(fd, data, len);
	if (rc == 0)
		rc = take_mode(fd, old);
	if (rc == 0)
		rc = fsync(fd);
	if (fd >= 0 && close(fd) != 0)
		rc = -1;
	if (rc == 0)
		rc = rename(temporary, path);
	int error = errno;
	if (rc && fd >= 0)
		unlink(temporary);
	if (rc == 0)
		sync_directory(temporary);
	free(temporary);
	errno = error;
	return rc;
}

/* A pipe or a device cannot be replaced. */
static int write_into(const char *path, const char *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : write_all(fd, data, len);

	if (fd >= 0 && close(fd) != 0)
		rc = -1;
	return rc;
}

int replace_file(const char *path, const char *data, size_t len)
{
	struct stat old;

	if (stat(path, &old) != 0)
		return errno == ENOENT ? replace(path, NULL, data, len) : -1;
	if (!S_ISREG(old.st_mode))
		return write_into(path, data, len);
	char *real = realpath(path, NULL);
	int rc = real ? access(real, W_OK) : -1;
	if (rc == 0)
		rc = replace(real, &old, data, len);
	int error = errno;
	free(real);
	errno = error;
	return rc;
}
