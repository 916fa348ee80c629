/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the root of a container, in the mount namespace of the child that becomes the container.
 * The order is: the writable layers as plain directories, with everything that the container needs
 * (files of the image contract, mount points, parents of the working directory); overlays and
 * binds; /proc, /sys, /dev; pivot_root(); volumes. Everything is in one tmpfs, which the kernel
 * frees with the namespace.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

struct root {
	const struct node *node;
	const struct container *container;
	int host;   /* the machine's files */
	int top;    /* the new root */
	int *upper; /* the writable layer of each PART_OVERLAY; otherwise -1 */
};

/* An open directory and a path below it. */
struct location {
	int top;
	const char *path; /* borrowed from the pod's path */
};

/* The part that contains a path: the one with the longest path. */
static size_t part_of(const struct layers *layers, const char *path)
{
	size_t best = 0;

	for (size_t i = 0; i < layers->count; i++) {
		if (path_below(path, layers->part[i].path) &&
		    strlen(layers->part[i].path) >= strlen(layers->part[best].path))
			best = i;
	}
	return best;
}

/* Where to create an entry that appears at a path of the pod. */
static struct location locate(const struct root *root, const char *path)
{
	size_t index = part_of(&root->node->layers, path);
	const struct part *part = &root->node->layers.part[index];

	if (part->kind != PART_OVERLAY)
		return (struct location){ root->top, path };
	return (struct location){ root->upper[index], path + strlen(part->path) };
}

/* Open the directory of a path; *name is its last component. */
static int open_parent(const struct root *root, const char *path, const char **name)
{
	struct location location = locate(root, path);
	int fd = inroot_open_parent(location.top, location.path, name);

	if (fd < 0)
		die(MPIJOB_ERR_IO, "cannot create %s: %m", path);
	return fd;
}

/* Give a directory of a layer the mode and owner of the machine's directory at that path. */
static void copy_host_attributes(const struct root *root, int fd, const char *path, mode_t mode)
{
	const struct identity *identity = &root->node->identity;
	int on_host = inroot_open(root->host, path, O_PATH | O_DIRECTORY);
	struct stat st;
	bool exists = on_host >= 0 && fstat(on_host, &st) == 0;

	if (fchmod(fd, exists ? st.st_mode & 07777 : mode))
		die(MPIJOB_ERR_IO, "cannot set the mode of %s: %m", path);
	if (exists && identity_has_uid(identity, st.st_uid) &&
	    identity_has_gid(identity, st.st_gid) && st.st_uid != 65534 &&
	    fchown(fd, st.st_uid, st.st_gid))
		die(MPIJOB_ERR_IO, "cannot set the owner of %s: %m", path);
	if (on_host >= 0)
		close(on_host);
}

static bool is_on_host(const struct root *root, const char *path)
{
	int fd = inroot_open(root->host, path, O_PATH | O_NOFOLLOW);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

FILE *rootfs_host_file(const struct root *root, const char *path)
{
	int fd = inroot_open(root->host, path, O_RDONLY | O_NOCTTY);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

/* Create a directory; false: it exists. Mode and owner are those of the machine's, if it exists
 * there. */
static bool make_new_directory(const struct root *root, int parent, const char *name,
    const char *path, mode_t mode)
{
	int fd;

	if (mkdirat(parent, name, 0700)) {
		if (errno != EEXIST)
			die(MPIJOB_ERR_IO, "cannot create %s: %m", path);
		return false;
	}
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		die(MPIJOB_ERR_IO, "cannot open %s: %m", path);
	copy_host_attributes(root, fd, path, mode);
	close(fd);
	return true;
}

/* Create a directory whose parent exists; false: it exists. */
static bool make_directory(const struct root *root, const char *path, mode_t mode)
{
	const struct layers *layers = &root->node->layers;
	const struct part *part = &layers->part[part_of(layers, path)];
	const char *name;
	bool made;
	int parent;

	if (part->kind == PART_BIND && is_on_host(root, path))
		return false;
	if (part->kind == PART_BIND)
		die_errno(EROFS, MPIJOB_ERR_UNSUPPORTED,
		    "cannot create %s: %s is read-only for this user", path, part->path);
	if (strcmp(path, part->path) == 0)
		return false;
	parent = open_parent(root, path, &name);
	made = make_new_directory(root, parent, name, path, mode);
	close(parent);
	return made;
}

/* Follow the machine's symbolic links in a path. Components that do not exist are unchanged. */
static char *resolve(const struct root *root, const char *path)
{
	char *head = must_copy(path);
	char *real = must_alloc(PATH_MAX);
	int fd = -1;
	char *link;
	char *result;
	ssize_t n;

	while (*head && (fd = inroot_open(root->host, head, O_PATH)) < 0)
		*strrchr(head, '/') = 0;
	link = fd_path(fd);
	n = *head ? readlink(link, real, PATH_MAX - 1) : -1;
	if (n >= (ssize_t)sizeof(HOST) && path_below(real, HOST))
		result = format_text("%s%s", real + sizeof(HOST) - 1, path + strlen(head));
	else
		result = must_copy(path);
	if (fd >= 0)
		close(fd);
	free(link);
	free(real);
	free(head);
	return result;
}

static void make_parents(const struct root *root, const char *path)
{
	char *copy = must_copy(path);

	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		make_directory(root, copy, 0755);
		*slash = '/';
	}
	free(copy);
}

/* With a single id the owner cannot change. */
static void set_owner(const struct root *root, int parent, const char *name, uid_t uid, gid_t gid)
{
	if (root->node->identity.kind != NODE_IDENTITY_SINGLE &&
	    fchownat(parent, name, uid, gid, AT_SYMLINK_NOFOLLOW))
		die(MPIJOB_ERR_IO, "cannot set the owner of %s: %m", name);
}

void rootfs_directory(const struct root *root, const char *path,
    const struct file_attributes *attributes)
{
	char *real = resolve(root, path);

	make_parents(root, real);
	if (make_directory(root, real, attributes->mode) && !is_on_host(root, real)) {
		const char *name;
		int parent = open_parent(root, real, &name);

		set_owner(root, parent, name, attributes->uid, attributes->gid);
		close(parent);
	}
	free(real);
}

void rootfs_file(const struct root *root, const char *path,
    const struct file_attributes *attributes, const char *text, size_t len)
{
	char *real = resolve(root, path);
	const char *name;
	int parent;
	int fd;

	make_parents(root, real);
	parent = open_parent(root, real, &name);
	fd = openat(parent, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len || fchmod(fd, attributes->mode))
		die(MPIJOB_ERR_IO, "cannot write %s: %m", path);
	set_owner(root, parent, name, attributes->uid, attributes->gid);
	close(fd);
	close(parent);
	free(real);
}

void rootfs_link(const struct root *root, const char *path, const char *target)
{
	const char *name;
	int parent = open_parent(root, path, &name);

	unlinkat(parent, name, 0);
	if (symlinkat(target, parent, name))
		die(MPIJOB_ERR_IO, "cannot create the link %s: %m", path);
	close(parent);
}

static int create_upper(const struct root *root, size_t index)
{
	const char *path = root->node->layers.part[index].path;
	char *directory = format_text(STAGE "/layer/%zu", index);
	char *upper = format_text("%s/upper", directory);
	char *work = format_text("%s/work", directory);
	int fd = -1;

	if (mkdir(directory, 0755) == 0 && mkdir(upper, 0755) == 0 && mkdir(work, 0755) == 0)
		fd = open(upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		die(MPIJOB_ERR_IO, "cannot create a layer for %s: %m", path);
	copy_host_attributes(root, fd, path, 0755);
	free(directory);
	free(upper);
	free(work);
	return fd;
}

/* Create a part, or its mount point, in the new root. */
static void create_part(const struct root *root, const struct part *part)
{
	const char *name;
	int parent;

	make_parents(root, part->path);
	parent = inroot_open_parent(root->top, part->path, &name);
	if (parent < 0)
		die(MPIJOB_ERR_IO, "cannot create %s: %m", part->path);
	if (part->kind == PART_LINK ? symlinkat(part->link, parent, name)
				    : part->file && mknodat(parent, name, S_IFREG | 0644, 0))
		die(MPIJOB_ERR_IO, "cannot create %s: %m", part->path);
	if (part->kind != PART_LINK && !part->file)
		make_new_directory(root, parent, name, part->path, 0755);
	close(parent);
}

static void prepare_part(struct root *root, size_t index)
{
	const struct part *part = &root->node->layers.part[index];

	root->upper[index] = -1;
	if (strcmp(part->path, "/") == 0)
		return;
	create_part(root, part);
	if (strcmp(part->path, "/dev") == 0)
		mounts_shm(root->container);
	if (part->kind == PART_COPY)
		copy_tree(inroot_open(root->host, part->path, O_RDONLY | O_DIRECTORY),
		    inroot_open(root->top, part->path, O_RDONLY | O_DIRECTORY), part->path);
	if (part->kind == PART_OVERLAY)
		root->upper[index] = create_upper(root, index);
}

/* Escape commas, which separate mount options, and colons, which separate lower directories. */
static char *escape(const char *path)
{
	char *result = must_alloc(2 * strlen(path) + 1);
	char *to = result;

	for (; *path; path++) {
		if (*path == ',' || *path == ':' || *path == '\\')
			*to++ = '\\';
		*to++ = *path;
	}
	return result;
}

static bool mount_overlay(const struct layers *layers, size_t index, const char *target)
{
	char *lower = escape(layers->part[index].path);
	char *options = format_text("lowerdir=" HOST "%s,upperdir=" STAGE
				    "/layer/%zu/upper,workdir=" STAGE "/layer/%zu/work%s",
	    lower, index, index, layers->userxattr ? ",userxattr" : "");
	bool ok = mount("overlay", target, "overlay", 0, options) == 0;

	free(lower);
	free(options);
	return ok;
}

/* The fallback for file systems that cannot be below an overlay. */
static void bind_part(const struct root *root, const char *path, int target)
{
	int source = inroot_open(root->host, path, O_PATH);
	int tree;

	if (source < 0)
		return; /* deleted since the root was planned */
	tree = mounts_clone(source, path);
	mounts_read_only(tree, path);
	mounts_attach(tree, target, path);
	close(source);
}

static void mount_part(const struct root *root, size_t index)
{
	const struct part *part = &root->node->layers.part[index];
	int target;
	char *at;

	if (part->kind != PART_OVERLAY && part->kind != PART_BIND)
		return;
	target = inroot_open(root->top, part->path, O_PATH);
	if (target < 0)
		die(MPIJOB_ERR_IO, "cannot open %s: %m", part->path);
	at = fd_path(target);
	if (part->kind != PART_OVERLAY || !mount_overlay(&root->node->layers, index, at))
		bind_part(root, part->path, target);
	close(target);
	free(at);
}

/* Create a mount point in the writable layer. */
static void prepare_target(const struct root *root, const char *path, bool directory)
{
	static const struct file_attributes directory_attributes = { .mode = 0755 };
	static const struct file_attributes file_attributes = { .mode = 0644 };
	char *real = resolve(root, path);

	if (strcmp(real, "/") == 0)
		die_errno(EINVAL, MPIJOB_ERR_UNSUPPORTED, "a volume cannot be mounted at /");
	if (directory)
		rootfs_directory(root, real, &directory_attributes);
	else if (!is_on_host(root, real))
		rootfs_file(root, real, &file_attributes, "", 0);
	free(real);
}

/* The path of the machine's ~/.ssh if it exists. A pod sees an empty directory there. */
static char *find_ssh_directory(const struct root *root, const char *home)
{
	char *path = format_text("%s/.ssh", strcmp(home, "/") == 0 ? "" : home);
	char *real = is_on_host(root, path) ? resolve(root, path) : NULL;

	free(path);
	return real;
}

static void hide(const struct root *root, char *directory, const char *name)
{
	int target = directory ? inroot_open(root->top, directory, O_PATH) : -1;

	if (directory && target < 0)
		die(MPIJOB_ERR_IO, "cannot hide %s: %m", directory);
	if (directory)
		mounts_hide(target, name);
	free(directory);
}

static void prepare_root(struct root *root, const int *sources)
{
	const struct layers *layers = &root->node->layers;
	const struct spec *spec = &root->container->spec;
	const struct image_user *user = &root->container->user;

	for (size_t i = 0; i < layers->count; i++)
		prepare_part(root, i);
	mounts_devices();
	rootfs_directory(root, "/var/tmp", &(struct file_attributes){ .mode = 01777 });
	rootfs_directory(root, root->node->cwd, &(struct file_attributes){ .mode = 0755 });
	image_files(root, root->node, root->container);
	for (size_t i = 0; i < spec->mount_count; i++)
		prepare_target(root, spec->mounts[i].path, mounts_is_directory(sources[i]));
	if (spec->cwd)
		rootfs_directory(root, spec->cwd,
		    &(struct file_attributes){ 0755, user->uid, user->gid });
}

static int must_open(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		die(MPIJOB_ERR_IO, "cannot open %s: %m", path);
	return fd;
}

/* Volumes are attached last, when no path leads to the machine's files. container_run_command()
 * closes the open descriptors. */
void rootfs_enter(const struct node *node, const struct container *container)
{
	struct root root = { node, container, must_open(HOST), -1,
		must_alloc(node->layers.count * sizeof(int)) };
	const struct spec *spec = &container->spec;
	int *sources = must_alloc(spec->mount_count * sizeof(int));
	char *user_keys = find_ssh_directory(&root, node->home);
	char *root_keys =
	    strcmp(node->home, "/root") == 0 ? NULL : find_ssh_directory(&root, "/root");

	umask(0);
	for (size_t i = 0; i < spec->mount_count; i++)
		sources[i] = mounts_open_volume(&spec->mounts[i]);
	mounts_stage();
	root.top = must_open(ROOT);
	prepare_root(&root, sources);
	for (size_t i = 0; i < node->layers.count; i++)
		mount_part(&root, i);
	hide(&root, user_keys, "own");
	hide(&root, root_keys, "roots");
	if (spec->read_only)
		mounts_read_only_root();
	mounts_system(&node->identity, spec->confine & NODE_CONFINE_NO_MASKS);
	mounts_hosts_file(container);
	mounts_pivot_root();
	for (size_t i = 0; i < spec->mount_count; i++)
		mounts_attach_volume(&spec->mounts[i], sources[i]);
	free(sources);
	free(root.upper);
}
