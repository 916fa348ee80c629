/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image contract: everything that sshd, ssh and MPI need in an image, applied to the machine's
 * own files, which are the image of local runs. docs/image-contract.md describes it for authors of
 * images.
 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define SSHD             HOST "/usr/sbin/sshd"
#define HOST_KEY         "/etc/ssh/mpijob_host_key"
#define DEFAULT_SSH_PATH "/root/.ssh"
#define USER_NAME        "mpiuser"

static const struct file_attributes directory_attributes = { .mode = 0755 };

/* The environment of the image; variables of the pod override it. Binding is off, because all pods
 * share the cores. */
static const char *const environment[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"OMPI_ALLOW_RUN_AS_ROOT=1",
	"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
	"OMPI_MCA_hwloc_base_binding_policy=none",
	"PRTE_MCA_hwloc_default_binding_policy=none",
	"I_MPI_PIN=0",
};

size_t image_environment(const char *const **list)
{
	*list = environment;
	return sizeof(environment) / sizeof(environment[0]);
}

static void write_sysctl(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, value, strlen(value));
	close(fd);
}

/* Let users other than root listen on port 22. Without IPv6 no address is tentative at first. */
void image_network(void)
{
	write_sysctl("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
	write_sysctl("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
	write_sysctl("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
}

/* Fill in the entry of the machine's /etc/passwd, if there is one. */
static void find_user(uid_t uid, struct image_user *user)
{
	FILE *f = fopen(HOST "/etc/passwd", "re");
	const struct passwd *entry = NULL;

	while (f && (entry = fgetpwent(f)) != NULL && entry->pw_uid != uid)
		;
	if (entry) {
		user->gid = entry->pw_gid;
		user->home = must_copy(entry->pw_dir);
		user->name = must_copy(entry->pw_name);
	}
	if (f)
		fclose(f);
}

/* The home of a user without passwd entry: the directory in which the keys are mounted as .ssh. */
static char *home_of_ssh_path(const char *ssh_path)
{
	const char *last = ssh_path ? strrchr(ssh_path, '/') : NULL;

	if (last && last != ssh_path && strcmp(last, "/.ssh") == 0)
		return format_text("%.*s", (int)(last - ssh_path), ssh_path);
	return must_copy("/home/" USER_NAME);
}

struct image_user image_user(const struct node *node, const struct spec *spec)
{
	struct image_user user = { 0 };

	user.uid = spec->uid >= 0 ? (uid_t)spec->uid : 0;
	find_user(user.uid, &user);
	if (!user.name)
		user.name = must_copy(user.uid == 0 ? "root" : USER_NAME);
	if (!user.home)
		user.home = user.uid == 0 ? must_copy("/root") : home_of_ssh_path(spec->ssh_path);
	if (spec->gid >= 0)
		user.gid = (gid_t)spec->gid;
	if (node->identity.kind == NODE_IDENTITY_SINGLE) {
		/* As uid 0, sshd requires further ids; therefore root gets another uid. */
		user.is_root = user.uid == 0;
		user.uid = user.uid ? user.uid : SINGLE_ROOT_ID;
		user.gid = user.gid ? user.gid : SINGLE_ROOT_ID;
	}
	return user;
}

struct buffer {
	FILE *stream;
	char *text;
	size_t len;
};

static void buffer_open(struct buffer *b)
{
	b->stream = open_memstream(&b->text, &b->len);
	if (!b->stream)
		die(MPIJOB_ERR_NOMEM, "out of memory");
}

static void buffer_write(struct buffer *b, const struct root *root, const char *path, mode_t mode)
{
	struct file_attributes attributes = { .mode = mode };

	if (fclose(b->stream))
		die(MPIJOB_ERR_NOMEM, "out of memory");
	rootfs_file(root, path, &attributes, b->text, b->len);
	free(b->text);
}

/* Call `each` for every line of a file of the machine; it writes to `out`. */
static void filter_lines(const struct root *root, const char *path,
    void (*each)(FILE *out, const char *line, const void *user), FILE *out, const void *user)
{
	FILE *f = rootfs_host_file(root, path);
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		each(out, line, user);
	}
	free(line);
	if (f)
		fclose(f);
}

static bool is_entry_of(const char *line, const struct image_user *user)
{
	size_t len = strlen(user->name);

	return strncmp(line, user->name, len) == 0 && line[len] == ':';
}

static void passwd_line(FILE *out, const char *line, const void *user)
{
	if (!is_entry_of(line, user))
		fprintf(out, "%s\n", line);
}

/*
 * The user of the container comes first and has /bin/sh: the start-up files of the machine's login
 * shell may be slow, or print text, which breaks the start of MPI over ssh.
 */
static void write_passwd(const struct root *root, const struct image_user *user)
{
	struct buffer b;

	buffer_open(&b);
	fprintf(b.stream, "%s:x:%lu:%lu::%s:/bin/sh\n", user->name, (unsigned long)user->uid,
	    (unsigned long)user->gid, user->home);
	filter_lines(root, "/etc/passwd", passwd_line, b.stream, user);
	buffer_write(&b, root, "/etc/passwd", 0644);
}

/* With a single id, sshd must not find the group tty, to which it could not change a terminal. */
static void group_line(FILE *out, const char *line, const void *user)
{
	const struct image_user *u = user;

	if (strncmp(line, "tty:", 4) == 0)
		return;
	if (u->is_root && strncmp(line, "root:", 5) == 0)
		fprintf(out, "root:x:%lu:\n", (unsigned long)u->gid);
	else
		fprintf(out, "%s\n", line);
}

static void write_group(const struct root *root, const struct node *node,
    const struct image_user *user)
{
	struct buffer b;

	if (node->identity.kind != NODE_IDENTITY_SINGLE)
		return;
	buffer_open(&b);
	filter_lines(root, "/etc/group", group_line, b.stream, user);
	buffer_write(&b, root, "/etc/group", 0644);
}

/* A pod must not see password hashes of the machine. For sshd an account with "*", unlike "!", is
 * not locked. */
static void shadow_line(FILE *out, const char *line, const void *user)
{
	size_t name = strcspn(line, ":");

	if (name > 0 && !is_entry_of(line, user))
		fprintf(out, "%.*s:*:19000:0:99999:7:::\n", (int)name, line);
}

static void write_shadow(const struct root *root, const struct image_user *user)
{
	struct buffer b;

	buffer_open(&b);
	fprintf(b.stream, "%s:*:19000:0:99999:7:::\n", user->name);
	filter_lines(root, "/etc/passwd", shadow_line, b.stream, user);
	buffer_write(&b, root, "/etc/shadow", 0600);
}

static void nsswitch_line(FILE *out, const char *line, const void *user)
{
	(void)user;
	if (strncmp(line, "hosts:", 6) != 0)
		fprintf(out, "%s\n", line);
}

/* Names are resolved from the hosts file only: a name server that does not answer would delay
 * lookups for seconds. */
static void write_name_resolution(const struct root *root, const struct container *container)
{
	struct buffer b;

	buffer_open(&b);
	fputs("hosts: files\n", b.stream);
	filter_lines(root, "/etc/nsswitch.conf", nsswitch_line, b.stream, NULL);
	buffer_write(&b, root, "/etc/nsswitch.conf", 0644);
	rootfs_file(root, "/etc/resolv.conf", &(struct file_attributes){ .mode = 0644 }, "", 0);
	buffer_open(&b);
	fprintf(b.stream, "%s\n", container->sandbox->hostname);
	buffer_write(&b, root, "/etc/hostname", 0644);
	rootfs_directory(root, "/run/mpijob", &directory_attributes);
	rootfs_link(root, "/etc/hosts", "/run/mpijob/hosts");
}

/* False: there is no host key, because ssh-keygen is missing or failed. */
static bool write_host_key(const struct root *root, const struct node *node,
    const struct image_user *user)
{
	struct pollfd made = { .fd = node->host_key, .events = POLLIN };
	char text[16384];
	int fd;
	ssize_t n;

	if (node->host_key < 0)
		return false;
	while (poll(&made, 1, -1) < 0 && errno == EINTR)
		;
	fd = open("/key/host_key", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	rootfs_file(root, HOST_KEY, &(struct file_attributes){ 0600, user->uid, user->gid }, text,
	    (size_t)n);
	explicit_bzero(text, sizeof(text));
	return true;
}

static void write_ssh(const struct root *root, const struct node *node,
    const struct container *container)
{
	const char *keys = container->spec.ssh_path ? container->spec.ssh_path : DEFAULT_SSH_PATH;
	char *job_key = format_text("%s/id_rsa", keys);
	bool has_host_key = write_host_key(root, node, &container->user);
	struct buffer b;

	buffer_open(&b);
	fprintf(b.stream,
	    "Host *\n"
	    "\tStrictHostKeyChecking no\n"
	    "\tUserKnownHostsFile /dev/null\n"
	    "\tGlobalKnownHostsFile /dev/null\n"
	    "\tLogLevel ERROR\n"
	    "\tBatchMode yes\n"
	    "\tIdentityFile ~/.ssh/id_rsa\n"
	    "\tIdentityFile %s/id_rsa\n",
	    keys);
	buffer_write(&b, root, "/etc/ssh/ssh_config", 0644);
	buffer_open(&b);
	/* The file is complete. Settings cannot be appended to the machine's file, because sshd
	 * uses the first value. */
	fprintf(b.stream,
	    "Port 22\n"
	    "AddressFamily inet\n"
	    "HostKey %s\n"
	    "PidFile none\n"
	    "UsePAM no\n"
	    "StrictModes no\n"
	    "PermitRootLogin prohibit-password\n"
	    "PubkeyAuthentication yes\n"
	    "PasswordAuthentication no\n"
	    "KbdInteractiveAuthentication no\n"
	    "AuthorizedKeysFile .ssh/authorized_keys %s/authorized_keys\n"
	    "MaxStartups 1000\n"
	    "MaxSessions 1000\n"
	    "UseDNS no\n"
	    "PrintMotd no\n"
	    "PrintLastLog no\n"
	    "X11Forwarding no\n"
	    "SetEnv OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n"
	    "Subsystem sftp internal-sftp\n",
	    has_host_key ? HOST_KEY : job_key, keys);
	buffer_write(&b, root, "/etc/ssh/sshd_config", 0644);
	rootfs_directory(root, "/run/sshd", &directory_attributes);
	rootfs_directory(root, "/run/lock", &(struct file_attributes){ .mode = 01777 });
	free(job_key);
}

void image_files(const struct root *root, const struct node *node,
    const struct container *container)
{
	const struct image_user *user = &container->user;

	write_passwd(root, user);
	write_group(root, node, user);
	write_shadow(root, user);
	write_name_resolution(root, container);
	write_ssh(root, node, container);
	if (user->home[0] == '/' && user->home[1])
		rootfs_directory(root, user->home,
		    &(struct file_attributes){ 0755, user->uid, user->gid });
}

/* In a new mount namespace: bind the directory of the key over the machine's /run, and run
 * ssh-keygen with the machine's root. */
_Noreturn static void make_host_key(void)
{
	char *const argv[] = { "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f",
		"/run/host_key", NULL };

	if (unshare(CLONE_NEWNS) || mount("/key", HOST "/run", NULL, MS_BIND, NULL) ||
	    chroot(HOST) || chdir("/"))
		_exit(1);
	execvp(argv[0], argv);
	_exit(1);
}

int image_host_key(void)
{
	int made[2];
	pid_t pid;

	if (access(HOST "/usr/bin/ssh-keygen", X_OK) || access(SSHD, F_OK) ||
	    pipe2(made, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		fcntl(made[1], F_SETFD, 0); /* closes when ssh-keygen exits */
		make_host_key();
	}
	close(made[1]);
	return made[0];
}
