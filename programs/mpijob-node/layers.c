/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of which pieces a pod's root is put together, worked out once from what is mounted on the
 * machine.
 *
 * An overlay of "/" itself is refused in a user namespace (mounts below it are locked), and would
 * not show what is mounted below it. So every top-level directory becomes an overlay of its own,
 * and one that has other mounts below it is taken apart further. /proc, /sys, /dev and /run are
 * never taken from the machine. Where the kernel has no overlay for us, directories are bound
 * read-only, /etc is copied, and those that must be writable are new directories whose entries are
 * bound. /etc is never taken apart, because files of the image contract must stand in it.
 */
#include "node.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* A directory with more entries is not taken apart: every entry costs every container a mount. */
#define MANY_OPEN   2048 /* bound as a whole it could not be written, and programs need a /tmp */
#define MANY_OTHERS 64

struct mounts {
	char **path; /* as the machine names it */
	size_t count;
};

struct planner {
	struct layers *layers;
	const struct identity *identity;
	const char *cwd;
	struct mounts mounts;
};

bool path_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (len == 1)
		return true;
	return strncmp(path, folder, len) == 0 && (path[len] == 0 || path[len] == '/');
}

/* The kernel writes blanks in paths as \040. */
static void unescape(char *text)
{
	char *to = text;

	while (*text) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] && text[3]) {
			*to++ =
			    (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = 0;
}

/* As root an overlay may leave out what is mounted below it: other containers' roots and namespaces
 * are not files to read. */
static bool left_out(const struct identity *identity, const char *rest)
{
	const char *type = rest ? strstr(rest, " - ") : NULL;

	return identity->kind == NODE_IDENTITY_ROOT && type &&
	       (strncmp(type + 3, "overlay ", 8) == 0 || strncmp(type + 3, "nsfs ", 5) == 0);
}

static void read_mounts(struct mounts *mounts, const struct identity *identity)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		die(MPIJOB_ERR_IO, "cannot read the list of mounts: %m");
	while (getline(&line, &size, f) > 0) {
		char *rest = line;
		char *path = NULL;

		for (int i = 0; i < 5; i++)
			path = strsep(&rest, " ");
		if (!path || strncmp(path, HOST "/", sizeof(HOST)) != 0 || left_out(identity, rest))
			continue;
		unescape(path);
		mounts->path = must_grow(mounts->path, mounts->count, sizeof(*mounts->path));
		mounts->path[mounts->count++] = must_copy(path + sizeof(HOST) - 1);
	}
	free(line);
	fclose(f);
}

static bool has_mount_inside(const struct mounts *mounts, const char *path)
{
	for (size_t i = 0; i < mounts->count; i++) {
		if (strcmp(mounts->path[i], path) != 0 && path_below(mounts->path[i], path))
			return true;
	}
	return false;
}

static struct leaf *add(struct layers *layers, const char *path, enum leaf_kind kind)
{
	struct leaf *leaf;

	layers->leaf = must_grow(layers->leaf, layers->count, sizeof(*layers->leaf));
	leaf = &layers->leaf[layers->count++];
	*leaf = (struct leaf){ must_copy(path), NULL, kind, false };
	return leaf;
}

static void add_link(struct layers *layers, const char *path, const char *on_host, size_t len)
{
	char *target = must_alloc(len + 1 > 4096 ? len + 1 : 4096);
	ssize_t n = readlink(on_host, target, 4095);

	if (n > 0) {
		target[n] = 0;
		add(layers, path, LEAF_LINK)->link = target;
	} else {
		free(target);
	}
}

static bool ours(const struct planner *p, const struct stat *st)
{
	if (p->identity->kind == NODE_IDENTITY_ROOT)
		return true;
	/* What is not mapped shows as the overflow id, which a range of subordinate ids never
	 * reaches. */
	return st->st_uid != 65534 && identity_has_uid(p->identity, st->st_uid);
}

static size_t count_entries(const char *on_host)
{
	DIR *dir = opendir(on_host);
	size_t count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return dir ? count : SIZE_MAX;
}

/* Must containers be able to write here even without overlays, or in a directory that is taken
 * apart? */
static bool is_open(const struct planner *p, const char *path)
{
	static const char *const always[] = { "/", "/tmp", "/root", "/home", "/var", "/var/tmp" };

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
		if (strcmp(path, always[i]) == 0)
			return true;
	}
	return path_below(p->cwd, path);
}

static void plan_entry(struct planner *p, const char *path);

static void plan_inside(struct planner *p, const char *path, const char *on_host)
{
	struct dirent **entries = NULL;
	int count = scandir(on_host, &entries, NULL, alphasort);

	add(p->layers, path, LEAF_DIRECTORY);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
			char *inner =
			    format_text("%s/%s", strcmp(path, "/") == 0 ? "" : path, name);

			plan_entry(p, inner);
			free(inner);
		}
		free(entries[i]);
	}
	free(entries);
}

static enum leaf_kind plan_folder(struct planner *p, const char *path, const char *on_host,
    const struct stat *st)
{
	bool apart = has_mount_inside(&p->mounts, path);
	size_t many;

	if (access(on_host, R_OK | X_OK))
		return LEAF_DIRECTORY;
	if (!apart && p->layers->overlay)
		return LEAF_LAYER;
	if (strcmp(path, "/etc") == 0)
		return LEAF_COPY; /* in a container single files of it are mounts */
	if (!p->layers->overlay && !is_open(p, path))
		return LEAF_BIND;
	many = is_open(p, path) || ours(p, st) ? MANY_OPEN : MANY_OTHERS;
	if (count_entries(on_host) > many && !path_below(p->cwd, path))
		return LEAF_BIND;
	plan_inside(p, path, on_host);
	return LEAF_LINK; /* it is added already */
}

static bool never_shared(const char *path)
{
	static const char *const fresh[] = { "/proc", "/sys", "/dev", "/run", "/.dockerenv",
		"/lost+found" };

	for (size_t i = 0; i < sizeof(fresh) / sizeof(fresh[0]); i++) {
		if (strcmp(path, fresh[i]) == 0)
			return true;
	}
	return false;
}

static void plan_entry(struct planner *p, const char *path)
{
	char *on_host = format_text(HOST "%s", path);
	enum leaf_kind kind;
	struct stat st;

	if (never_shared(path) || lstat(on_host, &st)) {
		free(on_host);
		return;
	}
	if (S_ISLNK(st.st_mode)) {
		add_link(p->layers, path, on_host, (size_t)st.st_size);
	} else if (S_ISDIR(st.st_mode)) {
		kind = plan_folder(p, path, on_host, &st);
		if (kind != LEAF_LINK)
			add(p->layers, path, kind);
	} else if (S_ISREG(st.st_mode) && access(on_host, R_OK) == 0) {
		add(p->layers, path, LEAF_BIND)->file = true;
	}
	free(on_host);
}

static bool try_overlay(const char *options)
{
	bool ok;

	if (mkdir(STAGE "/lower", 0755) || mkdir(STAGE "/upper", 0755) ||
	    mkdir(STAGE "/work", 0755))
		die(MPIJOB_ERR_IO, "cannot prepare a layer: %m");
	ok = mount("overlay", STAGE, "overlay", 0, options) == 0;
	if (ok)
		umount2(STAGE, MNT_DETACH);
	remove_tree(AT_FDCWD, STAGE "/lower");
	remove_tree(AT_FDCWD, STAGE "/upper");
	remove_tree(AT_FDCWD, STAGE "/work");
	return ok;
}

static void probe_overlay(struct layers *layers, const struct identity *identity)
{
	static const char plain[] =
	    "lowerdir=" STAGE "/lower,upperdir=" STAGE "/upper,workdir=" STAGE "/work";
	static const char user[] =
	    "lowerdir=" STAGE "/lower,upperdir=" STAGE "/upper,workdir=" STAGE "/work,userxattr";

	layers->userxattr = identity->kind != NODE_IDENTITY_ROOT;
	layers->overlay = try_overlay(layers->userxattr ? user : plain);
}

static bool covered(const struct layers *layers, const char *path)
{
	for (size_t i = 0; i < layers->count; i++) {
		const struct leaf *leaf = &layers->leaf[i];

		if (leaf->kind != LEAF_DIRECTORY && leaf->kind != LEAF_LINK &&
		    path_below(path, leaf->path))
			return true;
	}
	return false;
}

void layers_plan(struct layers *layers, const struct identity *identity, const char *cwd)
{
	struct planner p = { layers, identity, cwd, { NULL, 0 } };
	char *on_host = format_text(HOST "%s", cwd);

	probe_overlay(layers, identity);
	read_mounts(&p.mounts, identity);
	plan_inside(&p, "/", HOST);
	add(layers, "/run", LEAF_DIRECTORY);
	add(layers, "/dev", LEAF_DIRECTORY);
	if (strcmp(cwd, "/") != 0 && !covered(layers, cwd) && access(on_host, R_OK | X_OK) == 0)
		/* somewhere below /run or /dev/shm */
		add(layers, cwd, layers->overlay ? LEAF_LAYER : LEAF_BIND);
	for (size_t i = 0; i < p.mounts.count; i++)
		free(p.mounts.path[i]);
	free(p.mounts.path);
	free(on_host);
}
