/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mounts of a container except the parts of its root: the stage on which the root is built,
 * /proc, /sys, /dev, the shared mounts of a pod, and volumes. A volume is first cloned as a
 * detached mount, and attached after pivot_root(), when no path leads to the machine's files.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const devices[] = { "null", "zero", "full", "random", "urandom", "tty" };

void mounts_must(const char *source, const char *target, const char *type, unsigned long flags,
    const char *data)
{
	if (mount(source, target, type, flags, data))
		die(MPIJOB_ERR_IO, "cannot mount %s: %m", target);
}

static void set_attributes(int fd, unsigned flags, struct mount_attr attr, const char *name)
{
	if (syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | flags, &attr, sizeof(attr)))
		die(MPIJOB_ERR_IO, "cannot set the mount options of %s: %m", name);
}

void mounts_read_only(int fd, const char *name)
{
	set_attributes(fd, AT_RECURSIVE, (struct mount_attr){ .attr_set = MOUNT_ATTR_RDONLY },
	    name);
}

int mounts_clone(int fd, const char *name)
{
	int tree = (int)syscall(SYS_open_tree, fd, "",
	    AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0)
		die(MPIJOB_ERR_IO, "cannot copy the mount of %s: %m", name);
	return tree;
}

void mounts_attach(int tree, int target, const char *name)
{
	if (syscall(SYS_move_mount, tree, "", target, "",
		MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH))
		die(MPIJOB_ERR_IO, "cannot mount at %s: %m", name);
	close(tree);
}

static int must_open(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		die(MPIJOB_ERR_IO, "cannot open %s: %m", path);
	return fd;
}

static void read_only_path(const char *path)
{
	int fd = must_open(path);

	mounts_read_only(fd, path);
	close(fd);
}

/* Make the root read-only except /dev/shm, which the containers of a pod share. */
void mounts_read_only_root(void)
{
	int shm = must_open(ROOT "/dev/shm");

	read_only_path(ROOT);
	set_attributes(shm, 0, (struct mount_attr){ .attr_clr = MOUNT_ATTR_RDONLY }, "/dev/shm");
	close(shm);
}

void mounts_directory(const char *path, mode_t mode)
{
	if (mkdir(path, mode) && errno != EEXIST)
		die(MPIJOB_ERR_IO, "cannot create %s: %m", path);
}

void mounts_stage(void)
{
	mounts_must("tmpfs", STAGE, "tmpfs", MS_NODEV, "mode=0755");
	mounts_directory(ROOT, 0755);
	mounts_directory(STAGE "/layer", 0755);
	mounts_must(ROOT, ROOT, NULL, MS_BIND, NULL);
}

/* Mounted early, because the working directory may be below it. */
void mounts_shm(const struct container *container)
{
	char *shm = format_text("/pods/%llu/shm", (unsigned long long)container->sandbox->id);

	mounts_directory(ROOT "/dev/shm", 0755);
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
	if (symlink("/proc/self/fd", ROOT "/dev/fd") ||
	    symlink("/proc/self/fd/0", ROOT "/dev/stdin") ||
	    symlink("/proc/self/fd/1", ROOT "/dev/stdout") ||
	    symlink("/proc/self/fd/2", ROOT "/dev/stderr") || symlink("pts/ptmx", ROOT "/dev/ptmx"))
		die(MPIJOB_ERR_IO, "cannot create the links in /dev: %m");
	mounts_directory(ROOT "/dev/pts", 0755);
	mounts_directory(ROOT "/dev/mqueue", 0755);
	mounts_directory(ROOT "/proc", 0555);
	mounts_directory(ROOT "/sys", 0555);
}

/* Mount an empty file or directory over a path that reveals the machine. Missing paths are skipped.
 */
static void mask(const char *name)
{
	char *path = format_text(ROOT "%s", name);
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		mounts_must("tmpfs", path, "tmpfs", MS_RDONLY, "mode=0555");
	else if (access(path, F_OK) == 0)
		mounts_must(HOST "/dev/null", path, NULL, MS_BIND, NULL);
	free(path);
}

static void make_read_only(const char *name)
{
	char *path = format_text(ROOT "%s", name);

	if (mount(path, path, NULL, MS_BIND, NULL) == 0)
		read_only_path(path);
	else if (errno != ENOENT)
		die(MPIJOB_ERR_IO, "cannot make %s read-only: %m", name);
	free(path);
}

/* The paths that container runtimes mask and make read-only by default. */
static void mask_paths(void)
{
	static const char *const masked[] = { "/proc/acpi", "/proc/asound", "/proc/interrupts",
		"/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
		"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware",
		"/sys/devices/virtual/powercap" };
	static const char *const read_only[] = { "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
		"/proc/sysrq-trigger" };

	for (size_t i = 0; i < sizeof(read_only) / sizeof(read_only[0]); i++)
		make_read_only(read_only[i]);
	for (size_t i = 0; i < sizeof(masked) / sizeof(masked[0]); i++)
		mask(masked[i]);
}

void mounts_system(const struct identity *identity, bool unmasked)
{
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

	mounts_must("proc", ROOT "/proc", "proc", flags, NULL);
	if (mount("sysfs", ROOT "/sys", "sysfs", flags | MS_RDONLY, NULL)) {
		mounts_must(HOST "/sys", ROOT "/sys", NULL, MS_BIND | MS_REC, NULL);
		read_only_path(ROOT "/sys");
	}
	if (!unmasked)
		mask_paths();
	mounts_must("devpts", ROOT "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
	    identity_has_gid(identity, 5) ? "newinstance,ptmxmode=0666,mode=0620,gid=5"
					  : "newinstance,ptmxmode=0666,mode=0620");
	mount("mqueue", ROOT "/dev/mqueue", "mqueue", flags,
	    NULL); /* optional: the kernel may not support it */
}

void mounts_hide(int target, const char *name)
{
	char *empty = format_text(STAGE "/layer/%s", name);
	char *to = fd_path(target);

	mounts_directory(empty, 0700);
	mounts_must(empty, to, NULL, MS_BIND, NULL);
	close(target);
	free(to);
	free(empty);
}

void mounts_hosts_file(const struct container *container)
{
	char *group = format_text("/groups/%llu", (unsigned long long)container->sandbox->group);

	if (container->sandbox->group) {
		mounts_must(group, ROOT "/run/mpijob", NULL, MS_BIND, NULL);
		read_only_path(ROOT "/run/mpijob");
	}
	free(group);
}

bool mounts_is_directory(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Close `fd` and return `inner`, which must be open. */
static int replace_fd(int fd, int inner, const char *what, const char *path)
{
	if (inner < 0)
		die(errno == ENOENT ? MPIJOB_ERR_NOT_FOUND : MPIJOB_ERR_IO, "cannot open %s %s: %m",
		    what, path);
	close(fd);
	return inner;
}

int mounts_open_volume(const struct mount_spec *mount_spec)
{
	char *top = mount_spec->volume
			? format_text("/volumes/%llu", (unsigned long long)mount_spec->volume)
			: format_text(HOST);
	int fd = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int tree;

	if (fd < 0)
		die(MPIJOB_ERR_NOT_FOUND, "the volume of the mount %s does not exist",
		    mount_spec->path);
	if (!mount_spec->volume)
		fd = replace_fd(fd, inroot_open(fd, mount_spec->host_path, O_PATH), "hostPath",
		    mount_spec->host_path);
	if (mount_spec->sub_path)
		fd = replace_fd(fd, inroot_create(fd, mount_spec->sub_path, true), "subPath",
		    mount_spec->sub_path);
	tree = mounts_clone(fd, mount_spec->path);
	if (mount_spec->read_only)
		mounts_read_only(tree, mount_spec->path);
	close(fd);
	free(top);
	return tree;
}

void mounts_attach_volume(const struct mount_spec *mount_spec, int source)
{
	int root = must_open("/");
	int target = inroot_create(root, mount_spec->path, mounts_is_directory(source));

	if (target < 0)
		die(MPIJOB_ERR_IO, "cannot create the mount point %s: %m", mount_spec->path);
	mounts_attach(source, target, mount_spec->path);
	close(target);
	close(root);
}

void mounts_pivot_root(void)
{
	if (chdir(ROOT) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) ||
	    chdir("/"))
		die(MPIJOB_ERR_IO, "cannot change to the root of the container: %m");
}
