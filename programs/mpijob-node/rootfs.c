/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which a container's root comes to be, in the mount namespace of the child that
 * becomes the container: writable layers first, as plain directories, in which everything that the
 * container must find is put in place (files of the image contract, mount points, the way to the
 * working directory); then the overlays and binds over them; then /proc, /sys, /dev; then the
 * volumes; then pivot_root. All of it sits in one tmpfs that goes with the namespace.
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
	int *upper; /* per leaf its writable layer, where it has one */
};

/* A directory that is open, and a path below it. */
struct place {
	int top;
	const char *path; /* part of the pod's path */
};

/* The leaf in which a path lies: the one with the longest path. */
static size_t leaf_of(const struct layers *layers, const char *path)
{
	size_t best = 0;

	for (size_t i = 0; i < layers->count; i++) {
		if (path_below(path, layers->leaf[i].path) &&
		    strlen(layers->leaf[i].path) >= strlen(layers->leaf[best].path))
			best = i;
	}
	return best;
}

/* Where an entry is created that shall be at a path of the pod. */
static struct place place_of(const struct root *root, const char *path)
{
	size_t index = leaf_of(&root->node->layers, path);
	const struct leaf *leaf = &root->node->layers.leaf[index];

	if (leaf->kind != LEAF_LAYER)
		return (struct place){ root->top, path };
	return (struct place){ root->upper[index], path + strlen(leaf->path) };
}

/* The directory that holds the last name of a path. */
static int parent_of(const struct root *root, const char *path, const char **name)
{
	struct place place = place_of(root, path);
	int fd = below_parent(place.top, place.path, name);

	if (fd < 0)
		die(MPIJOB_ERR_IO, "cannot make %s: %m", path);
	return fd;
}

/* A directory of the layer looks like the one of the machine that it will cover. */
static void look_like_host(const struct root *root, int fd, const char *path, mode_t mode)
{
	const struct identity *identity = &root->node->identity;
	int on_host = below_open(root->host, path, O_PATH | O_DIRECTORY);
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
	int fd = below_open(root->host, path, O_PATH | O_NOFOLLOW);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

FILE *rootfs_host_file(const struct root *root, const char *path)
{
	int fd = below_open(root->host, path, O_RDONLY | O_NOCTTY);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

/* A directory of the pod: with owner and mode as on the machine, where that has it. */
static bool make_folder(const struct root *root, int parent, const char *name, const char *path,
    mode_t mode)
{
	int fd;

	if (mkdirat(parent, name, 0700)) {
		if (errno != EEXIST)
			die(MPIJOB_ERR_IO, "cannot make %s: %m", path);
		return false;
	}
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		die(MPIJOB_ERR_IO, "cannot open %s: %m", path);
	look_like_host(root, fd, path, mode);
	close(fd);
	return true;
}

/* One directory whose parent is there. */
static bool make_one(const struct root *root, const char *path, mode_t mode)
{
	const struct layers *layers = &root->node->layers;
	const struct leaf *leaf = &layers->leaf[leaf_of(layers, path)];
	const char *name;
	bool made;
	int parent;

	if (leaf->kind == LEAF_BIND && is_on_host(root, path))
		return false;
	if (leaf->kind == LEAF_BIND)
		die_errno(EROFS, MPIJOB_ERR_UNSUPPORTED,
		    "cannot make %s: %s is read-only for this user", path, leaf->path);
	if (strcmp(path, leaf->path) == 0)
		return false;
	parent = parent_of(root, path, &name);
	made = make_folder(root, parent, name, path, mode);
	close(parent);
	return made;
}

/* The path with the machine's symbolic links followed; what does not exist is kept as it is. */
static char *resolve(const struct root *root, const char *path)
{
	char *head = must_copy(path);
	char *real = must_alloc(PATH_MAX);
	int fd = -1;
	char *link;
	char *result;
	ssize_t n;

	while (*head && (fd = below_open(root->host, head, O_PATH)) < 0)
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
		make_one(root, copy, 0755);
		*slash = '/';
	}
	free(copy);
}

/* With a single id everything has the same owner already. */
static void own(const struct root *root, int parent, const char *name, uid_t uid, gid_t gid)
{
	if (root->node->identity.kind != NODE_IDENTITY_SINGLE &&
	    fchownat(parent, name, uid, gid, AT_SYMLINK_NOFOLLOW))
		die(MPIJOB_ERR_IO, "cannot set the owner of %s: %m", name);
}

void rootfs_folder(const struct root *root, const char *path, const struct file_look *look)
{
	char *real = resolve(root, path);

	make_parents(root, real);
	if (make_one(root, real, look->mode) && !is_on_host(root, real)) {
		const char *name;
		int parent = parent_of(root, real, &name);

		own(root, parent, name, look->uid, look->gid);
		close(parent);
	}
	free(real);
}

void rootfs_file(const struct root *root, const char *path, const struct file_look *look,
    const char *text, size_t len)
{
	char *real = resolve(root, path);
	const char *name;
	int parent;
	int fd;

	make_parents(root, real);
	parent = parent_of(root, real, &name);
	fd = openat(parent, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len || fchmod(fd, look->mode))
		die(MPIJOB_ERR_IO, "cannot write %s: %m", path);
	own(root, parent, name, look->uid, look->gid);
	close(fd);
	close(parent);
	free(real);
}

void rootfs_link(const struct root *root, const char *path, const char *target)
{
	const char *name;
	int parent = parent_of(root, path, &name);

	unlinkat(parent, name, 0);
	if (symlinkat(target, parent, name))
		die(MPIJOB_ERR_IO, "cannot make the link %s: %m", path);
	close(parent);
}

static int make_layer(const struct root *root, size_t index)
{
	const char *path = root->node->layers.leaf[index].path;
	char *folder = format_text(STAGE "/layer/%zu", index);
	char *upper = format_text("%s/upper", folder);
	char *work = format_text("%s/work", folder);
	int fd = -1;

	if (mkdir(folder, 0755) == 0 && mkdir(upper, 0755) == 0 && mkdir(work, 0755) == 0)
		fd = open(upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		die(MPIJOB_ERR_IO, "cannot make a layer for %s: %m", path);
	look_like_host(root, fd, path, 0755);
	free(folder);
	free(upper);
	free(work);
	return fd;
}

/* The leaf itself, or its mount point, below the new root. */
static void make_leaf(const struct root *root, const struct leaf *leaf)
{
	const char *name;
	int parent;

	make_parents(root, leaf->path);
	parent = below_parent(root->top, leaf->path, &name);
	if (parent < 0)
		die(MPIJOB_ERR_IO, "cannot make %s: %m", leaf->path);
	if (leaf->kind == LEAF_LINK ? symlinkat(leaf->link, parent, name)
				    : leaf->file && mknodat(parent, name, S_IFREG | 0644, 0))
		die(MPIJOB_ERR_IO, "cannot make %s: %m", leaf->path);
	if (leaf->kind != LEAF_LINK && !leaf->file)
		make_folder(root, parent, name, leaf->path, 0755);
	close(parent);
}

static void prepare_leaf(struct root *root, size_t index)
{
	const struct leaf *leaf = &root->node->layers.leaf[index];

	root->upper[index] = -1;
	if (strcmp(leaf->path, "/") == 0)
		return;
	make_leaf(root, leaf);
	if (strcmp(leaf->path, "/dev") == 0)
		mounts_shm(root->container);
	if (leaf->kind == LEAF_COPY)
		copy_tree(below_open(root->host, leaf->path, O_RDONLY | O_DIRECTORY),
		    below_open(root->top, leaf->path, O_RDONLY | O_DIRECTORY), leaf->path);
	if (leaf->kind == LEAF_LAYER)
		root->upper[index] = make_layer(root, index);
}

/* Commas separate options and colons separate directories, so both are escaped. */
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

static bool mount_layer(const struct layers *layers, size_t index, const char *target)
{
	char *lower = escape(layers->leaf[index].path);
	char *options = format_text("lowerdir=" HOST "%s,upperdir=" STAGE
				    "/layer/%zu/upper,workdir=" STAGE "/layer/%zu/work%s",
	    lower, index, index, layers->userxattr ? ",userxattr" : "");
	bool ok = mount("overlay", target, "overlay", 0, options) == 0;

	free(lower);
	free(options);
	return ok;
}

/* Some file systems cannot be under an overlay. */
static void bind_leaf(const struct root *root, const char *path, int target)
{
	int source = below_open(root->host, path, O_PATH);
	int tree;

	if (source < 0)
		return; /* what is gone since the plan was made stays away */
	tree = mounts_tree(source, path);
	mounts_read_only(tree, path);
	mounts_attach(tree, target, path);
	close(source);
}

static void mount_leaf(const struct root *root, size_t index)
{
	const struct leaf *leaf = &root->node->layers.leaf[index];
	int target;
	char *at;

	if (leaf->kind != LEAF_LAYER && leaf->kind != LEAF_BIND)
		return;
	target = below_open(root->top, leaf->path, O_PATH);
	if (target < 0)
		die(MPIJOB_ERR_IO, "cannot open %s: %m", leaf->path);
	at = fd_path(target);
	if (leaf->kind != LEAF_LAYER || !mount_layer(&root->node->layers, index, at))
		bind_leaf(root, leaf->path, target);
	close(target);
	free(at);
}

/* The place of a mount point, made in the layer where the machine's own directory could not be
 * written. */
static void prepare_target(const struct root *root, const char *path, bool folder)
{
	static const struct file_look folder_look = { .mode = 0755 };
	static const struct file_look file_look = { .mode = 0644 };
	char *real = resolve(root, path);

	if (strcmp(real, "/") == 0)
		die_errno(EINVAL, MPIJOB_ERR_UNSUPPORTED, "nothing can be mounted at /");
	if (folder)
		rootfs_folder(root, real, &folder_look);
	else if (!is_on_host(root, real))
		rootfs_file(root, real, &file_look, "", 0);
	free(real);
}

/* The machine's ssh keys are nobody's business in a pod: an empty directory lies over them. */
static char *hidden_folder(const struct root *root, const char *home)
{
	char *path = format_text("%s/.ssh", strcmp(home, "/") == 0 ? "" : home);
	char *real = is_on_host(root, path) ? resolve(root, path) : NULL;

	free(path);
	return real;
}

static void hide(const struct root *root, char *folder, const char *name)
{
	int target = folder ? below_open(root->top, folder, O_PATH) : -1;

	if (folder && target < 0)
		die(MPIJOB_ERR_IO, "cannot hide %s: %m", folder);
	if (folder)
		mounts_hide(target, name);
	free(folder);
}

static void prepare(struct root *root, const int *sources)
{
	const struct layers *layers = &root->node->layers;
	const struct spec *spec = &root->container->spec;
	const struct image_user *user = &root->container->user;

	for (size_t i = 0; i < layers->count; i++)
		prepare_leaf(root, i);
	mounts_devices();
	rootfs_folder(root, "/var/tmp", &(struct file_look){ .mode = 01777 });
	rootfs_folder(root, root->node->cwd, &(struct file_look){ .mode = 0755 });
	image_files(root, root->node, root->container);
	for (size_t i = 0; i < spec->mount_count; i++)
		prepare_target(root, spec->mounts[i].path, mounts_is_folder(sources[i]));
	if (spec->cwd)
		rootfs_folder(root, spec->cwd, &(struct file_look){ 0755, user->uid, user->gid });
}

static int must_open(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		die(MPIJOB_ERR_IO, "cannot open %s: %m", path);
	return fd;
}

/* Volumes come last, when no path leads to the machine's files any more. container_become closes
 * what is open. */
void rootfs_enter(const struct node *node, const struct container *container)
{
	struct root root = { node, container, must_open(HOST), -1,
		must_alloc(node->layers.count * sizeof(int)) };
	const struct spec *spec = &container->spec;
	int *sources = must_alloc(spec->mount_count * sizeof(int));
	char *own_keys = hidden_folder(&root, node->home);
	char *root_keys = strcmp(node->home, "/root") == 0 ? NULL : hidden_folder(&root, "/root");

	umask(0);
	for (size_t i = 0; i < spec->mount_count; i++)
		sources[i] = mounts_source(&spec->mounts[i]);
	mounts_stage();
	root.top = must_open(ROOT);
	prepare(&root, sources);
	for (size_t i = 0; i < node->layers.count; i++)
		mount_leaf(&root, i);
	hide(&root, own_keys, "own");
	hide(&root, root_keys, "roots");
	if (spec->read_only)
		mounts_read_only_root();
	mounts_system(&node->identity, spec->confine & NODE_CONFINE_NO_MASKS);
	mounts_shared(container);
	mounts_move_in();
	for (size_t i = 0; i < spec->mount_count; i++)
		mounts_volume(&spec->mounts[i], sources[i]);
	free(sources);
	free(root.upper);
}
