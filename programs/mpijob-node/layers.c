/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the root file system of the containers, once per node, from the mounts of the machine.
 *
 * An overlay of "/" is not possible: a user namespace refuses it (mounts below it are locked), and
 * it would not contain other mounts. So each top-level directory becomes its own overlay, and a
 * directory with mounts below it is split into its entries. /proc, /sys, /dev and /run are never
 * taken from the machine. Without overlayfs, directories are bound read-only, /etc is copied, and
 * directories that must be writable are new ones whose entries are bound. /etc is never split,
 * because files of the image contract are created in it.
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

/* A directory with more entries is not split, because each entry costs each container a mount. */
#define MAX_WRITABLE_ENTRIES \
	2048 /* higher, because a bound directory is read-only and programs need /tmp */
#define MAX_ENTRIES 64

struct mounts {
	char **path; /* on the machine */
	size_t count;
};

struct planner {
	struct layers *layers;
	const struct identity *identity;
	const char *cwd;
	struct mounts mounts;
};

bool path_below(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	if (len == 1)
		return true;
	return strncmp(path, directory, len) == 0 && (path[len] == 0 || path[len] == '/');
}

/* Decode octal escapes: mountinfo writes a space as \040. */
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

/* As root, an overlay may cover mounts below it. It covers those that are not files for programs:
 * the roots of other containers (overlay) and namespaces (nsfs). */
static bool can_be_hidden(const struct identity *identity, const char *rest)
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
		if (!path || strncmp(path, HOST "/", sizeof(HOST)) != 0 ||
		    can_be_hidden(identity, rest))
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

static struct part *add(struct layers *layers, const char *path, enum part_kind kind)
{
	struct part *part;

	layers->part = must_grow(layers->part, layers->count, sizeof(*layers->part));
	part = &layers->part[layers->count++];
	*part = (struct part){ must_copy(path), NULL, kind, false };
	return part;
}

static void add_link(struct layers *layers, const char *path, const char *on_host, size_t len)
{
	char *target = must_alloc(len + 1 > 4096 ? len + 1 : 4096);
	ssize_t n = readlink(on_host, target, 4095);

	if (n > 0) {
		target[n] = 0;
		add(layers, path, PART_LINK)->link = target;
	} else {
		free(target);
	}
}

static bool is_owned(const struct planner *p, const struct stat *st)
{
	if (p->identity->kind == NODE_IDENTITY_ROOT)
		return true;
	/* Unmapped ids appear as the overflow id, which is beyond usual subordinate ranges. */
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

/* Whether containers must be able to write here even without an overlay. */
static bool must_be_writable(const struct planner *p, const char *path)
{
	static const char *const always[] = { "/", "/tmp", "/root", "/home", "/var", "/var/tmp" };

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++) {
		if (strcmp(path, always[i]) == 0)
			return true;
	}
	return path_below(p->cwd, path);
}

static void plan_entry(struct planner *p, const char *path);

static void plan_entries(struct planner *p, const char *path, const char *on_host)
{
	struct dirent **entries = NULL;
	int count = scandir(on_host, &entries, NULL, alphasort);

	add(p->layers, path, PART_DIRECTORY);
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

static enum part_kind plan_directory(struct planner *p, const char *path, const char *on_host,
    const struct stat *st)
{
	bool has_mounts = has_mount_inside(&p->mounts, path);
	size_t most;

	if (access(on_host, R_OK | X_OK))
		return PART_DIRECTORY;
	if (!has_mounts && p->layers->overlay)
		return PART_OVERLAY;
	if (strcmp(path, "/etc") == 0)
		return PART_COPY; /* has mounts: in a container some files of /etc are mounts */
	if (!p->layers->overlay && !must_be_writable(p, path))
		return PART_BIND;
	most = must_be_writable(p, path) || is_owned(p, st) ? MAX_WRITABLE_ENTRIES : MAX_ENTRIES;
	if (count_entries(on_host) > most && !path_below(p->cwd, path))
		return PART_BIND;
	plan_entries(p, path, on_host);
	return PART_LINK; /* plan_entries() has added it */
}

static bool is_never_shared(const char *path)
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
	enum part_kind kind;
	struct stat st;

	if (is_never_shared(path) || lstat(on_host, &st)) {
		free(on_host);
		return;
	}
	if (S_ISLNK(st.st_mode)) {
		add_link(p->layers, path, on_host, (size_t)st.st_size);
	} else if (S_ISDIR(st.st_mode)) {
		kind = plan_directory(p, path, on_host, &st);
		if (kind != PART_LINK)
			add(p->layers, path, kind);
	} else if (S_ISREG(st.st_mode) && access(on_host, R_OK) == 0) {
		add(p->layers, path, PART_BIND)->file = true;
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

static bool is_covered(const struct layers *layers, const char *path)
{
	for (size_t i = 0; i < layers->count; i++) {
		const struct part *part = &layers->part[i];

		if (part->kind != PART_DIRECTORY && part->kind != PART_LINK &&
		    path_below(path, part->path))
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
	plan_entries(&p, "/", HOST);
	add(layers, "/run", PART_DIRECTORY);
	add(layers, "/dev", PART_DIRECTORY);
	if (strcmp(cwd, "/") != 0 && !is_covered(layers, cwd) && access(on_host, R_OK | X_OK) == 0)
		/* below /run or /dev/shm */
		add(layers, cwd, layers->overlay ? PART_OVERLAY : PART_BIND);
	for (size_t i = 0; i < p.mounts.count; i++)
		free(p.mounts.path[i]);
	free(p.mounts.path);
	free(on_host);
}
