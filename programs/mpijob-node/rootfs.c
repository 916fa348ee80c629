/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which a container's root comes to be, in the mount namespace of the child that becomes
 * the container: writable layers first, as plain directories, in which everything that the container
 * must find is put in place (files of the image contract, mount points, the way to the working
 * directory); then the overlays and binds over them; then /proc, /sys, /dev; then the volumes; then
 * pivot_root. All of it sits in one tmpfs that goes with the namespace.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

struct root {
	const struct node *node;
	const struct container *container;
};

static char *layer_folder(size_t index, const char *name)
{
	return format_text(STAGE "/layer/%zu/%s", index, name);
}

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

char *rootfs_place(const struct root *root, const char *path)
{
	const struct layers *layers = &root->node->layers;
	size_t index = leaf_of(layers, path);
	const struct leaf *leaf = &layers->leaf[index];
	char *upper;
	char *place;

	if (leaf->kind != LEAF_LAYER)
		return format_text(ROOT "%s", path);
	upper = layer_folder(index, "upper");
	place = format_text("%s%s", upper, path + strlen(leaf->path));
	free(upper);
	return place;
}

/* A directory of the layer looks like the one of the machine that it will cover. */
static void look_like_host(const struct root *root, const char *place, const char *path, mode_t mode)
{
	const struct identity *identity = &root->node->identity;
	char *on_host = format_text(HOST "%s", path);
	struct stat st;
	bool exists = stat(on_host, &st) == 0 && S_ISDIR(st.st_mode);

	if (chmod(place, exists ? st.st_mode & 07777 : mode))
		die(MPIJOB_ERR_IO, "cannot set the mode of %s: %m", path);
	if (exists && identity_has_uid(identity, st.st_uid) && identity_has_gid(identity, st.st_gid) &&
	    st.st_uid != 65534 && chown(place, st.st_uid, st.st_gid))
		die(MPIJOB_ERR_IO, "cannot set the owner of %s: %m", path);
	free(on_host);
}

bool rootfs_on_host(const char *path)
{
	char *on_host = format_text(HOST "%s", path);
	struct stat st;
	bool exists = lstat(on_host, &st) == 0;

	free(on_host);
	return exists;
}

/* One directory whose parent is there. */
static bool make_one(struct root *root, const char *path, mode_t mode)
{
	const struct layers *layers = &root->node->layers;
	const struct leaf *leaf = &layers->leaf[leaf_of(layers, path)];
	char *place;
	bool made;

	if (leaf->kind == LEAF_BIND && rootfs_on_host(path))
		return false;
	if (leaf->kind == LEAF_BIND)
		die_errno(EROFS, MPIJOB_ERR_UNSUPPORTED, "cannot make %s: %s is read-only for this user", path,
			  leaf->path);
	place = rootfs_place(root, path);
	made = mkdir(place, 0700) == 0;
	if (made)
		look_like_host(root, place, path, mode);
	else if (errno != EEXIST)
		die(MPIJOB_ERR_IO, "cannot make %s: %m", path);
	free(place);
	return made;
}

/* The path with the machine's symbolic links followed; what does not exist is kept as it is. */
static char *resolve(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	char *head = must_copy(path);
	int root = open(HOST, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = -1;
	char *link;
	char *real;
	char *result;
	ssize_t n;

	while (*head && (fd = (int)syscall(SYS_openat2, root, head, &how, sizeof(how))) < 0)
		*strrchr(head, '/') = 0;
	link = format_text("/proc/self/fd/%d", fd);
	real = must_alloc(PATH_MAX);
	n = *head ? readlink(link, real, PATH_MAX - 1) : -1;
	if (n >= (ssize_t)sizeof(HOST) && path_below(real, HOST))
		result = format_text("%s%s", real + sizeof(HOST) - 1, path + strlen(head));
	else
		result = must_copy(path);
	if (fd >= 0)
		close(fd);
	close(root);
	free(link);
	free(real);
	free(head);
	return result;
}

static void make_parents(struct root *root, const char *path)
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
void rootfs_own(struct root *root, const char *path, uid_t uid, gid_t gid)
{
	char *place;

	if (root->node->identity.kind == NODE_IDENTITY_SINGLE)
		return;
	place = rootfs_place(root, path);
	if (chown(place, uid, gid))
		die(MPIJOB_ERR_IO, "cannot set the owner of %s: %m", path);
	free(place);
}

void rootfs_folder(struct root *root, const char *path, mode_t mode, uid_t uid, gid_t gid)
{
	char *real = resolve(path);

	make_parents(root, real);
	if (make_one(root, real, mode) && !rootfs_on_host(real))
		rootfs_own(root, real, uid, gid);
	free(real);
}

void rootfs_file(struct root *root, const char *path, mode_t mode, const char *text, size_t len)
{
	char *real = resolve(path);
	char *place;
	int fd;

	make_parents(root, real);
	place = rootfs_place(root, real);
	fd = open(place, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len || fchmod(fd, mode))
		die(MPIJOB_ERR_IO, "cannot write %s: %m", path);
	close(fd);
	free(place);
	free(real);
}

static void prepare_leaf(struct root *root, size_t index)
{
	const struct leaf *leaf = &root->node->layers.leaf[index];
	char *place = format_text(ROOT "%s", leaf->path);
	char *folder = format_text(STAGE "/layer/%zu", index);
	char *upper = layer_folder(index, "upper");
	char *work = layer_folder(index, "work");

	if (leaf->kind == LEAF_LINK) {
		if (symlink(leaf->link, place))
			die(MPIJOB_ERR_IO, "cannot make the link %s: %m", leaf->path);
	} else if (leaf->file) {
		if (mknod(place, S_IFREG | 0644, 0))
			die(MPIJOB_ERR_IO, "cannot make %s: %m", leaf->path);
	} else if (strcmp(leaf->path, "/") != 0) {
		make_parents(root, leaf->path);
		if (mkdir(place, 0755) && errno != EEXIST)
			die(MPIJOB_ERR_IO, "cannot make %s: %m", leaf->path);
		look_like_host(root, place, leaf->path, 0755);
	}
	if (strcmp(leaf->path, "/dev") == 0)
		mounts_shm(root->container);
	if (leaf->kind == LEAF_COPY)
		copy_tree(leaf->path, place);
	if (leaf->kind == LEAF_LAYER) {
		if (mkdir(folder, 0755) || mkdir(upper, 0755) || mkdir(work, 0755))
			die(MPIJOB_ERR_IO, "cannot make a layer for %s: %m", leaf->path);
		look_like_host(root, upper, leaf->path, 0755);
	}
	free(place);
	free(folder);
	free(upper);
	free(work);
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
	char *options =
		format_text("lowerdir=" HOST "%s,upperdir=" STAGE "/layer/%zu/upper,workdir=" STAGE "/layer/%zu/work%s",
			    lower, index, index, layers->userxattr ? ",userxattr" : "");
	bool ok = mount("overlay", target, "overlay", 0, options) == 0;

	free(lower);
	free(options);
	return ok;
}

static void mount_leaf(const struct layers *layers, size_t index)
{
	const struct leaf *leaf = &layers->leaf[index];
	char *target = format_text(ROOT "%s", leaf->path);
	char *source = format_text(HOST "%s", leaf->path);
	bool done = leaf->kind != LEAF_LAYER && leaf->kind != LEAF_BIND;

	if (leaf->kind == LEAF_LAYER)
		done = mount_layer(layers, index, target);
	if (!done && access(source, F_OK) == 0) { /* what is gone since the plan was made stays away */
		/* Some file systems cannot be under an overlay. */
		mounts_must(source, target, NULL, MS_BIND | MS_REC, NULL);
		mounts_read_only(target);
	}
	free(target);
	free(source);
}

/* The place of a mount point, made in the layer where the machine's own directory could not be written. */
static void prepare_target(struct root *root, const char *path, bool folder)
{
	char *real = resolve(path);

	if (strcmp(real, "/") == 0)
		die_errno(EINVAL, MPIJOB_ERR_UNSUPPORTED, "nothing can be mounted at /");
	if (folder) {
		rootfs_folder(root, real, 0755, 0, 0);
	} else if (!rootfs_on_host(real)) {
		rootfs_file(root, real, 0644, "", 0);
	}
	free(real);
}

/* The machine's ssh keys are nobody's business in a pod: an empty directory lies over them. */
static char *hidden_folder(const char *home)
{
	char *path = format_text("%s/.ssh", strcmp(home, "/") == 0 ? "" : home);
	char *real;

	if (!rootfs_on_host(path)) {
		free(path);
		return NULL;
	}
	real = resolve(path);
	free(path);
	return real;
}

static void prepare(struct root *root, const int *sources)
{
	const struct layers *layers = &root->node->layers;
	const struct spec *spec = &root->container->spec;
	const struct image_user *user = &root->container->user;

	for (size_t i = 0; i < layers->count; i++)
		prepare_leaf(root, i);
	rootfs_folder(root, "/var/tmp", 01777, 0, 0);
	rootfs_folder(root, root->node->cwd, 0755, 0, 0);
	image_files(root, root->node, root->container);
	for (size_t i = 0; i < spec->mount_count; i++)
		prepare_target(root, spec->mounts[i].path, mounts_is_folder(sources[i]));
	if (spec->cwd && spec->cwd[0] == '/')
		rootfs_folder(root, spec->cwd, 0755, user->uid, user->gid);
}

void rootfs_enter(const struct node *node, const struct container *container)
{
	struct root root = { node, container };
	const struct spec *spec = &container->spec;
	int *sources = must_alloc(spec->mount_count * sizeof(int));
	char *own = hidden_folder(node->home);
	char *roots = strcmp(node->home, "/root") == 0 ? NULL : hidden_folder("/root");

	umask(0);
	for (size_t i = 0; i < spec->mount_count; i++)
		sources[i] = mounts_source(&spec->mounts[i]);
	mounts_stage();
	prepare(&root, sources);
	mounts_devices();
	for (size_t i = 0; i < node->layers.count; i++)
		mount_leaf(&node->layers, i);
	mounts_hide(own, "own");
	mounts_hide(roots, "roots");
	if (spec->read_only)
		mounts_read_only_root();
	mounts_system(&node->identity);
	mounts_shared(container);
	for (size_t i = 0; i < spec->mount_count; i++)
		mounts_volume(&spec->mounts[i], sources[i]);
	mounts_move_in();
	free(own);
	free(roots);
	free(sources);
}
