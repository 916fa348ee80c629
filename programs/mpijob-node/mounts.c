/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts that every container has beside the layers of its root: the stage on which the root is
 * composed, /proc, /sys, /dev, what the containers of a pod share, and its volumes. Paths inside
 * volumes and roots are opened with their links confined to them, so that nothing that a pod wrote
 * leads a mount elsewhere.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const devices[] = { "null", "zero", "full", "random", "urandom", "tty" };

void mounts_must(const char *source, const char *target, const char *type, unsigned long flags, const char *data)
{
	if (mount(source, target, type, flags, data))
		die(MPIJOB_ERR_IO, "cannot mount %s: %m", target);
}

void mounts_read_only(const char *target)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

	if (syscall(SYS_mount_setattr, AT_FDCWD, target, AT_RECURSIVE, &attr, sizeof(attr)))
		die(MPIJOB_ERR_IO, "cannot make %s read-only: %m", target);
}

/* What shall not be written to, but for what the containers of a pod share. */
void mounts_read_only_root(void)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_RDONLY };

	mounts_read_only(ROOT);
	if (syscall(SYS_mount_setattr, AT_FDCWD, ROOT "/dev/shm", 0, &attr, sizeof(attr)))
		die(MPIJOB_ERR_IO, "cannot make /dev/shm writable: %m");
}

void mounts_folder(const char *path, mode_t mode)
{
	if (mkdir(path, mode) && errno != EEXIST)
		die(MPIJOB_ERR_IO, "cannot make %s: %m", path);
}

void mounts_stage(void)
{
	mounts_must("tmpfs", STAGE, "tmpfs", MS_NODEV, "mode=0755");
	mounts_folder(ROOT, 0755);
	mounts_folder(STAGE "/layer", 0755);
	mounts_must(ROOT, ROOT, NULL, MS_BIND, NULL);
}

/* Early, because the way to the working directory may lead through it. */
void mounts_shm(const struct container *container)
{
	char *shm = format_text("/pods/%llu/shm", (unsigned long long)container->sandbox->id);

	mounts_folder(ROOT "/dev/shm", 0755);
	mounts_must(shm, ROOT "/dev/shm", NULL, MS_BIND, NULL);
	free(shm);
}

static void bind_device(const char *name)
{
	char *source = format_text(HOST "/dev/%s", name);
	char *target = format_text(ROOT "/dev/%s", name);

	if (mknod(target, S_IFREG | 0644, 0) == 0)
		mounts_must(source, target, NULL, MS_BIND, NULL);
	free(source);
	free(target);
}

void mounts_devices(void)
{
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		bind_device(devices[i]);
	if (symlink("/proc/self/fd", ROOT "/dev/fd") || symlink("/proc/self/fd/0", ROOT "/dev/stdin") ||
	    symlink("/proc/self/fd/1", ROOT "/dev/stdout") || symlink("/proc/self/fd/2", ROOT "/dev/stderr") ||
	    symlink("pts/ptmx", ROOT "/dev/ptmx"))
		die(MPIJOB_ERR_IO, "cannot make the links in /dev: %m");
	mounts_folder(ROOT "/dev/pts", 0755);
	mounts_folder(ROOT "/dev/mqueue", 0755);
	mounts_folder(ROOT "/proc", 0555);
	mounts_folder(ROOT "/sys", 0555);
}

/* What writes to the whole machine, for root. */
static void mask_proc(void)
{
	static const char *const guarded[] = { "sys", "sysrq-trigger", "irq", "bus", "fs" };

	for (size_t i = 0; i < sizeof(guarded) / sizeof(guarded[0]); i++) {
		char *path = format_text(ROOT "/proc/%s", guarded[i]);

		if (mount(path, path, NULL, MS_BIND, NULL) == 0)
			mounts_read_only(path);
		free(path);
	}
	mount(HOST "/dev/null", ROOT "/proc/kcore", NULL, MS_BIND, NULL);
}

void mounts_system(const struct identity *identity)
{
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

	mounts_must("proc", ROOT "/proc", "proc", flags, NULL);
	if (identity->kind == NODE_IDENTITY_ROOT)
		mask_proc();
	if (mount("sysfs", ROOT "/sys", "sysfs", flags | MS_RDONLY, NULL)) {
		mounts_must(HOST "/sys", ROOT "/sys", NULL, MS_BIND | MS_REC, NULL);
		mounts_read_only(ROOT "/sys");
	}
	mounts_must("devpts", ROOT "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		    identity_has_gid(identity, 5) ? "newinstance,ptmxmode=0666,mode=0620,gid=5"
						  : "newinstance,ptmxmode=0666,mode=0620");
	mount("mqueue", ROOT "/dev/mqueue", "mqueue", flags, NULL); /* where the kernel has it */
}

void mounts_hide(const char *folder, const char *name)
{
	char *empty = format_text(STAGE "/layer/%s", name);
	char *target;

	if (!folder)
		return;
	target = format_text(ROOT "%s", folder);
	mounts_folder(empty, 0700);
	mounts_must(empty, target, NULL, MS_BIND, NULL);
	free(target);
	free(empty);
}

void mounts_shared(const struct container *container)
{
	char *group = format_text("/groups/%llu", (unsigned long long)container->sandbox->group);

	if (container->sandbox->group) {
		mounts_must(group, ROOT "/run/mpijob", NULL, MS_BIND, NULL);
		mounts_read_only(ROOT "/run/mpijob");
	}
	free(group);
}

/* Open what stands at a path inside a directory, whatever links are on the way; make it when it is absent. */
static int open_or_make(int top, const char *path, bool folder)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int fd = (int)syscall(SYS_openat2, top, *path ? path : ".", &how, sizeof(how));
	const char *slash = strrchr(path, '/');
	char *parent;
	int at;

	if (fd >= 0 || errno != ENOENT || !*path)
		return fd;
	parent = slash ? strndup(path, (size_t)(slash - path)) : strdup("");
	if (!parent)
		return -1;
	at = open_or_make(top, parent, true);
	free(parent);
	if (at < 0)
		return -1;
	if (folder)
		mkdirat(at, slash ? slash + 1 : path, 0755);
	else
		mknodat(at, slash ? slash + 1 : path, S_IFREG | 0644, 0);
	close(at);
	return (int)syscall(SYS_openat2, top, path, &how, sizeof(how));
}

bool mounts_is_folder(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

int mounts_source(const struct mount_spec *mount_spec)
{
	char *top = mount_spec->volume ? format_text("/volumes/%llu", (unsigned long long)mount_spec->volume)
				       : format_text(HOST);
	const char *path = mount_spec->volume ? "" : mount_spec->host_path;
	int fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int inner;

	if (fd < 0)
		die(MPIJOB_ERR_NOT_FOUND, "there is no volume for the mount %s", mount_spec->path);
	if (!mount_spec->volume) {
		struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };

		inner = (int)syscall(SYS_openat2, fd, path, &how, sizeof(how));
		if (inner < 0)
			die(MPIJOB_ERR_NOT_FOUND, "cannot open hostPath %s: %m", path);
		close(fd);
		fd = inner;
	}
	if (mount_spec->sub_path) {
		inner = open_or_make(fd, mount_spec->sub_path, true);
		if (inner < 0)
			die(MPIJOB_ERR_IO, "cannot open subPath %s of the mount %s: %m", mount_spec->sub_path,
			    mount_spec->path);
		close(fd);
		fd = inner;
	}
	free(top);
	return fd;
}

static void bind_fds(int source, int target, const char *name)
{
	char *from = format_text("/proc/self/fd/%d", source);
	char *to = format_text("/proc/self/fd/%d", target);

	if (mount(from, to, NULL, MS_BIND | MS_REC, NULL))
		die(MPIJOB_ERR_IO, "cannot mount a volume at %s: %m", name);
	free(from);
	free(to);
}

static void read_only_fd(int fd, const char *name)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };

	if (fd < 0 || syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)))
		die(MPIJOB_ERR_IO, "cannot make %s read-only: %m", name);
	close(fd);
}

void mounts_volume(const struct mount_spec *mount_spec, int source)
{
	int root = open(ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int target = open_or_make(root, mount_spec->path, mounts_is_folder(source));

	if (target < 0)
		die(MPIJOB_ERR_IO, "cannot make the mount point %s: %m", mount_spec->path);
	bind_fds(source, target, mount_spec->path);
	close(target);
	if (mount_spec->read_only)
		read_only_fd(open_or_make(root, mount_spec->path, true), mount_spec->path); /* now the mount */
	close(root);
}

void mounts_move_in(void)
{
	if (chdir(ROOT) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
		die(MPIJOB_ERR_IO, "cannot move into the root of the container: %m");
}
