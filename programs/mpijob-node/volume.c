/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes and hosts files, in the node's tmpfs. An update is atomic, as in a kubelet: the files are
 * in a new directory, the symbolic link "..data" is replaced by rename, and each file is a symbolic
 * link through "..data".
 */
#include "node.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file {
	const char *path;
	const void *data;
	size_t len;
	mode_t mode;
	uint32_t uid;
	uint32_t gid;
};

struct volume_request {
	uint64_t id;
	uint64_t kind;
	bool has_group;
	uint32_t group;
};

static bool is_safe_path(const char *path)
{
	const char *part = path;

	if (!path || !*path || *path == '/')
		return false;
	while (part) {
		if (strncmp(part, "..", 2) == 0)
			return false; /* reserved for "..data" and the data directories */
		part = strchr(part, '/');
		part = part ? part + 1 : NULL;
	}
	return true;
}

static bool write_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/* With a single id the owner cannot change, and need not: all containers have that id. */
static bool set_owner(const struct node *node, int fd, uint32_t uid, uint32_t gid)
{
	return node->identity.kind == NODE_IDENTITY_SINGLE || fchown(fd, uid, gid) == 0;
}

static bool make_parents(const struct node *node, int at, const char *path,
    const struct volume_request *volume_request)
{
	char *copy = must_copy(path);
	bool ok = true;

	for (char *slash = strchr(copy, '/'); ok && slash; slash = strchr(slash + 1, '/')) {
		const char *name;
		int parent;
		int fd;

		*slash = 0;
		parent = inroot_open_parent(at, copy, &name);
		ok = parent >= 0 && (mkdirat(parent, name, 0755) == 0 || errno == EEXIST);
		fd =
		    ok ? openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
		if (fd >= 0 && volume_request->has_group)
			ok = set_owner(node, fd, 0, volume_request->group);
		if (fd >= 0)
			close(fd);
		if (parent >= 0)
			close(parent);
		*slash = '/';
	}
	free(copy);
	return ok;
}

static int create_file(int at, const char *path)
{
	const char *name;
	int parent = inroot_open_parent(at, path, &name);
	int fd =
	    parent < 0 ? -1 : openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (parent >= 0)
		close(parent);
	return fd;
}

static bool write_file(const struct node *node, int at, const struct file *file,
    const struct volume_request *volume_request)
{
	bool ok = is_safe_path(file->path) && make_parents(node, at, file->path, volume_request);
	mode_t mode = file->mode & 0777;
	int fd = ok ? create_file(at, file->path) : -1;

	if (ok && fd < 0)
		return false;
	if (!ok) {
		errno = EINVAL;
		return false;
	}
	ok = write_all(fd, file->data, file->len) &&
	     set_owner(node, fd, file->uid,
		 volume_request->has_group ? volume_request->group : file->gid);
	if (ok && node->identity.kind != NODE_IDENTITY_SINGLE && volume_request->has_group)
		/* fsGroup makes files readable for the group; with a single id this is not needed
		 */
		mode |= 0440;
	ok = ok && fchmod(fd, mode) == 0;
	close(fd);
	return ok;
}

static struct file read_file(const struct node_field *field)
{
	struct node_reader inside = mpijob__local_node_message_inside(field);
	struct file file = { .mode = 0644 };
	struct node_field f;

	while (mpijob__local_node_message_next(&inside, &f) == 1) {
		if (f.tag == NODE_F_PATH)
			file.path = mpijob__local_node_message_text(&f);
		else if (f.tag == NODE_F_MODE)
			file.mode = (mode_t)mpijob__local_node_message_number(&f);
		else if (f.tag == NODE_F_UID)
			file.uid = (uint32_t)mpijob__local_node_message_number(&f);
		else if (f.tag == NODE_F_GID)
			file.gid = (uint32_t)mpijob__local_node_message_number(&f);
		else if (f.tag == NODE_F_DATA) {
			file.data = f.data;
			file.len = f.len;
		}
	}
	return file;
}

static struct volume_request read_request(struct node_reader fields)
{
	struct volume_request volume_request = { 0 };
	struct node_field f;

	while (mpijob__local_node_message_next(&fields, &f) == 1) {
		if (f.tag == NODE_F_ID)
			volume_request.id = mpijob__local_node_message_number(&f);
		else if (f.tag == NODE_F_KIND)
			volume_request.kind = mpijob__local_node_message_number(&f);
		else if (f.tag == NODE_F_FS_GROUP) {
			volume_request.has_group = true;
			volume_request.group = (uint32_t)mpijob__local_node_message_number(&f);
		}
	}
	return volume_request;
}

/* Create the link "a" -> "..data/a" for the first component of a path, unless it exists. */
static bool link_first_part(int volume, const char *path)
{
	size_t len = strcspn(path, "/");
	char *name = format_text("%.*s", (int)len, path);
	char *target = format_text("..data/%s", name);
	bool ok = symlinkat(target, volume, name) == 0 || errno == EEXIST;

	free(name);
	free(target);
	return ok;
}

/* Remove links whose file is not in the new content. */
static void unlink_stale(int volume)
{
	int fd = openat(volume, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_type == DT_LNK && strncmp(entry->d_name, "..", 2) != 0 &&
		    faccessat(volume, entry->d_name, F_OK, 0) && errno == ENOENT)
			unlinkat(volume, entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

static bool switch_data(int volume, const char *data)
{
	char old[64];
	ssize_t n = readlinkat(volume, "..data", old, sizeof(old) - 1);

	if ((unlinkat(volume, "..data_tmp", 0) && errno != ENOENT) ||
	    symlinkat(data, volume, "..data_tmp") ||
	    renameat(volume, "..data_tmp", volume, "..data"))
		return false;
	if (n > 0) {
		old[n] = 0;
		unlink_stale(volume);
		remove_tree(volume, old);
	}
	return true;
}

/* Write all files of a request into a new data directory. */
static bool write_all_files(const struct node *node, int data, struct node_reader fields,
    const struct volume_request *volume_request)
{
	struct node_field f;

	while (mpijob__local_node_message_next(&fields, &f) == 1) {
		struct file file;

		if (f.tag != NODE_F_FILE)
			continue;
		file = read_file(&f);
		if (!write_file(node, data, &file, volume_request))
			return false;
	}
	return true;
}

static bool link_all(int volume, struct node_reader fields)
{
	struct node_field f;

	while (mpijob__local_node_message_next(&fields, &f) == 1) {
		if (f.tag == NODE_F_FILE && !link_first_part(volume, read_file(&f).path))
			return false;
	}
	return true;
}

/* Links are created last, so that a new name never appears before its content. */
static bool write_files(struct node *node, int volume, struct node_reader fields,
    const struct volume_request *volume_request)
{
	char *name = format_text("..%u", ++node->contents);
	int data = mkdirat(volume, name, 0755) == 0
		       ? openat(volume, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
		       : -1;
	bool ok = data >= 0 &&
		  (!volume_request->has_group || set_owner(node, data, 0, volume_request->group)) &&
		  write_all_files(node, data, fields, volume_request) &&
		  switch_data(volume, name) && link_all(volume, fields);
	int number = errno;

	if (data >= 0)
		close(data);
	if (!ok)
		remove_tree(volume, name);
	free(name);
	errno = number;
	return ok;
}

/* All users may write to an emptyDir. With fsGroup, the setgid bit gives new files that group. */
static bool make_writable(const struct node *node, int volume,
    const struct volume_request *volume_request)
{
	if (volume_request->has_group && node->identity.kind != NODE_IDENTITY_SINGLE)
		return fchown(volume, 0, volume_request->group) == 0 && fchmod(volume, 02777) == 0;
	return fchmod(volume, 0777) == 0;
}

void volume_write(struct node *node, uint64_t request, struct node_reader *fields)
{
	struct volume_request volume_request = read_request(*fields);
	char *directory = format_text("/volumes/%llu", (unsigned long long)volume_request.id);
	bool made = volume_request.id && mkdir(directory, 0755) == 0;
	int volume = volume_request.id ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	bool ok = volume >= 0;

	if (ok && volume_request.kind == NODE_VOLUME_FILES)
		ok = write_files(node, volume, *fields, &volume_request);
	else if (ok && made)
		ok = make_writable(node, volume, &volume_request);
	if (ok)
		answer_ok(node, request);
	else
		answer_error(node, request, MPIJOB_ERR_IO, errno, "cannot write a volume: %s",
		    strerror(errno));
	if (volume >= 0)
		close(volume);
	free(directory);
}

void volume_remove(struct node *node, uint64_t request, uint64_t id)
{
	char *directory = format_text("/volumes/%llu", (unsigned long long)id);

	remove_tree(AT_FDCWD, directory);
	answer_ok(node, request);
	free(directory);
}

void hosts_write(struct node *node, uint64_t request, uint64_t group, const void *data, size_t len)
{
	char *directory = format_text("/groups/%llu", (unsigned long long)group);
	char *next = format_text("%s/..hosts", directory);
	char *hosts = format_text("%s/hosts", directory);
	int fd = -1;
	bool ok = group && (mkdir(directory, 0755) == 0 || errno == EEXIST);

	if (ok)
		fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ok = fd >= 0 && write_all(fd, data, len) && rename(next, hosts) == 0;
	if (ok)
		answer_ok(node, request);
	else
		answer_error(node, request, MPIJOB_ERR_IO, errno, "cannot write the hosts file: %s",
		    strerror(errno));
	if (fd >= 0)
		close(fd);
	free(directory);
	free(next);
	free(hosts);
}
