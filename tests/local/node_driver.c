/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives a real node through the client that lib/local uses. Each command is one scenario; what it
 * finds wrong it says on stderr, and ends with 1. Exit code 77: this machine cannot do it.
 *
 *   node_driver NODE IDENTITY checks              everything that one or two sandboxes can show
 *   node_driver NODE IDENTITY mpi N SLOTS CMD...  N workers with sshd, and a launcher that runs CMD
 *   node_driver NODE IDENTITY hold N              N workers with sshd; says "holding" and waits to
 *   be killed node_driver NODE IDENTITY fatal               prints what the node says instead of
 *   becoming ready node_driver NODE IDENTITY nonsense N          N frames that no parent would
 *   send; the node must live on node_driver NODE IDENTITY bench N             how long each
 *   operation takes, N times each
 */
#include "local/node_client.h"
#include "local/node_message.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CAPABILITIES UINT64_C(0xa00425fb) /* the default of container runtimes, but for MKNOD */

#define MAX_OUTPUT 65536

static struct node_client *client;
static double started;
static int failures;
static char *key_private;
static char *key_public;
static size_t key_private_len;
static size_t key_public_len;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((format(printf, 2, 3))) static void check(bool ok, const char *format, ...)
{
	va_list args;

	if (ok)
		return;
	failures++;
	fputs("FAILED: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

__attribute__((noreturn, format(printf, 1, 2))) static void stop(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	mpijob__local_node_client_free(client);
	exit(1);
}

/* Events that nobody waited for yet; texts are copied. */
static struct node_event kept[4096];
static char *kept_text[4096];
static size_t kept_count;
static char *texts[4096]; /* all that were kept, freed at the end */
static size_t text_count;

static char *keep_text(const char *text)
{
	if (text_count == 4096)
		stop("too many texts");
	texts[text_count] = strdup(text);
	return texts[text_count++];
}

static void pump(int timeout)
{
	struct node_event event;

	if (mpijob__local_node_client_step(client, timeout))
		stop("the node is gone");
	while (mpijob__local_node_client_next(client, &event)) {
		if (event.type == NODE_EVT_FATAL)
			stop("fatal: %s", event.text);
		if (kept_count == 4096)
			stop("too many events");
		kept[kept_count] = event;
		kept_text[kept_count++] = event.text ? keep_text(event.text) : NULL;
	}
}

static bool take(uint64_t number, int type, uint64_t id, struct node_event *event)
{
	for (size_t i = 0; i < kept_count; i++) {
		if (kept[i].request != number || (type && kept[i].type != type) ||
		    (id && kept[i].id != id))
			continue;
		*event = kept[i];
		event->text = kept_text[i];
		kept_count--;
		memmove(kept + i, kept + i + 1, (kept_count - i) * sizeof(*kept));
		memmove(kept_text + i, kept_text + i + 1, (kept_count - i) * sizeof(*kept_text));
		return true;
	}
	return false;
}

static struct node_event wait_for(uint64_t number, int type, uint64_t id, const char *what)
{
	struct node_event event;
	double end = now() + 60;

	while (!take(number, type, id, &event)) {
		if (now() > end)
			stop("nothing heard for 60 s of: %s", what);
		pump(1000);
	}
	return event;
}

static struct node_event answer(int sent, uint64_t number, const char *what)
{
	if (sent)
		stop("cannot ask: %s: %s", what, mpijob_error_name(sent));
	return wait_for(number, 0, 0, what);
}

static uint64_t request; /* the last one that the checks made */

static void expect_ok(int sent, const char *what)
{
	struct node_event event = answer(sent, request, what);

	check(event.type == NODE_ANS_OK, "%s: %s", what, event.text ? event.text : "no text");
}

static void sandbox(uint64_t id, const char *hostname, const char *address)
{
	struct node_sandbox s = { .id = id, .hostname = hostname, .address = address, .group = 1 };

	s.host_network = address == NULL;
	expect_ok(mpijob__local_node_client_sandbox_create(client, &s, &request), "sandbox");
}

/* One file's content or nothing. */
static void volume_file(uint64_t id, const char *path, const char *text, uint32_t mode)
{
	struct node_file file = { .path = path, .data = text, .len = strlen(text), .mode = mode };
	struct node_volume v = { .id = id,
		.kind = NODE_VOLUME_FILES,
		.fs_group = -1,
		.files = &file,
		.file_count = 1 };

	expect_ok(mpijob__local_node_client_volume_write(client, &v, &request), "volume");
}

static void volume_empty(uint64_t id)
{
	struct node_volume v = { .id = id, .kind = NODE_VOLUME_EMPTY, .fs_group = -1 };

	expect_ok(mpijob__local_node_client_volume_write(client, &v, &request), "empty volume");
}

static void hosts(const char *text)
{
	expect_ok(mpijob__local_node_client_hosts_write(client, 1, text, strlen(text), &request),
	    "hosts");
}

/* Run a container or an exec to its end; what it wrote, and its exit code. */
struct outcome {
	char output[MAX_OUTPUT];
	size_t len;
	int code;
	struct node_event event;
};

static void drain(struct outcome *o, int fd, uint64_t wanted_request, uint64_t wanted_id)
{
	bool ended = false;
	bool open = true;
	double end = now() + 60;

	while (!ended || open) {
		struct pollfd fds[2] = { { .fd = mpijob__local_node_client_fd(client),
					     .events = POLLIN },
			{ .fd = open ? fd : -1, .events = POLLIN } };

		if (now() > end)
			stop("a command did not end; so far: %s", o->output);
		pump(0);
		ended = ended || take(wanted_request, wanted_request ? 0 : NODE_EVT_EXITED,
				     wanted_id, &o->event);
		if (ended && !open)
			break;
		if (poll(fds, 2, 1000) > 0 && fds[1].revents) {
			ssize_t n = read(fd, o->output + o->len, sizeof(o->output) - 1 - o->len);

			if (n <= 0)
				open = false;
			else
				o->len += (size_t)n;
		}
	}
	o->output[o->len] = 0;
	o->code = o->event.code;
}

static struct outcome *run(struct node_container *c)
{
	static struct outcome o;
	struct node_event event;
	int out[2];
	int e;

	memset(&o, 0, sizeof(o));
	if (pipe2(out, O_CLOEXEC))
		stop("pipe");
	c->fds[0] = -1;
	c->fds[1] = c->fds[2] = out[1];
	e = mpijob__local_node_client_container_start(client, c, &request);
	close(out[1]);
	event = answer(e, request, "start");
	if (event.type == NODE_ANS_ERROR) {
		snprintf(o.output, sizeof(o.output), "%s", event.text);
		o.code = -1;
		o.event = event;
	} else {
		drain(&o, out[0], 0, c->id);
	}
	close(out[0]);
	return &o;
}

static struct outcome *shell(struct node_container *c, const char *script)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };

	c->argv = argv;
	return run(c);
}

static struct outcome *execute(uint64_t container, const char *const *argv)
{
	static struct outcome o;
	struct node_exec x = { .container = container, .argv = argv, .fds = { -1, -1, -1 } };
	int out[2];
	int e;

	memset(&o, 0, sizeof(o));
	if (pipe2(out, O_CLOEXEC))
		stop("pipe");
	x.fds[1] = x.fds[2] = out[1];
	e = mpijob__local_node_client_exec(client, &x, &request);
	close(out[1]);
	if (e)
		stop("exec: %s", mpijob_error_name(e));
	drain(&o, out[0], request, 0);
	close(out[0]);
	return &o;
}

static void expect(const struct outcome *o, int code, const char *text, const char *what)
{
	check(o->code == code && (!text || strstr(o->output, text)),
	    "%s: wanted code %d and '%s', got code %d and '%s'", what, code, text ? text : "",
	    o->code, o->output);
}

static char *read_whole(const char *path, size_t *len)
{
	char *text = calloc(1, 65536);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 || !text ? -1 : read(fd, text, 65535);

	if (n < 0)
		stop("cannot read %s", path);
	close(fd);
	*len = (size_t)n;
	return text;
}

/* The job's key pair, as ssh-keygen makes it. */
static void make_key(void)
{
	char folder[] = "/tmp/node-driver-XXXXXX";
	char path[64];
	char public[64];
	int status = 1;
	pid_t pid;

	if (!mkdtemp(folder))
		stop("mkdtemp");
	snprintf(path, sizeof(path), "%s/k", folder);
	snprintf(public, sizeof(public), "%s/k.pub", folder);
	pid = fork();
	if (pid == 0) {
		execlp("ssh-keygen", "ssh-keygen", "-q", "-t", "ecdsa", "-b", "521", "-N", "", "-f",
		    path, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	if (status)
		stop("ssh-keygen failed");
	key_private = read_whole(path, &key_private_len);
	key_public = read_whole(public, &key_public_len);
	unlink(path);
	unlink(public);
	rmdir(folder);
}

#define KEYS 900

static void key_volume(int64_t fs_group)
{
	struct node_file files[] = {
		{ .path = "id_rsa", .data = key_private, .len = key_private_len, .mode = 0600 },
		{ .path = "id_rsa.pub", .data = key_public, .len = key_public_len, .mode = 0644 },
		{ .path = "authorized_keys",
		    .data = key_public,
		    .len = key_public_len,
		    .mode = 0644 },
	};
	struct node_volume v = { .id = KEYS,
		.kind = NODE_VOLUME_FILES,
		.fs_group = fs_group,
		.files = files,
		.file_count = 3 };

	if (mpijob__local_node_client_volume_write(client, &v, &request))
		stop("key volume");
	expect_ok(0, "key volume");
}

static const char *const sshd_argv[] = { "/usr/sbin/sshd", "-De", NULL };

static void start_sshd(uint64_t id, uint64_t in, const struct node_container *like)
{
	struct node_mount keys = { .volume = KEYS, .path = "/root/.ssh" };
	struct node_container c = { .id = id,
		.sandbox = in,
		.argv = sshd_argv,
		.capabilities = CAPABILITIES,
		.uid = -1,
		.gid = -1,
		.fds = { -1, -1, 2 } };

	if (like) {
		c.uid = like->uid;
		c.gid = like->gid;
		c.ssh_auth_path = like->ssh_auth_path;
		keys.path = like->ssh_auth_path;
	}
	c.mounts = &keys;
	c.mount_count = 1;
	if (mpijob__local_node_client_container_start(client, &c, NULL))
		stop("start sshd");
}

static uint64_t ask_listening(uint64_t in, uint16_t port, bool listen_only)
{
	struct node_probe p = { .sandbox = in,
		.port = port,
		.timeout_ms = 10000,
		.retry_ms = 5,
		.listen_only = listen_only };
	uint64_t r;

	if (mpijob__local_node_client_probe(client, &p, &r))
		stop("probe");
	return r;
}

static void wait_listening(uint64_t in, uint16_t port)
{
	uint64_t r = ask_listening(in, port, true);
	struct node_event event = wait_for(r, 0, 0, "probe");

	check(event.type == NODE_ANS_OK && event.code == NODE_PROBE_OK,
	    "nobody listens in sandbox %d", (int)in);
}

static int identity_got;

static void start_node(const char *program, int identity)
{
	struct node_options options = { .program = program, .identity = identity };
	struct node_event event;

	started = now();
	if (mpijob__local_node_client_start(&options, &client, NULL))
		stop("cannot start the node");
	event = wait_for(0, NODE_EVT_READY, 0, "ready");
	identity_got = event.identity;
	printf("ready after %.1f ms, identity %d, kernel %s, features %u\n",
	    (now() - started) * 1e3, event.identity, event.text, event.features);
}

static void check_container(void)
{
	struct node_container c = { .id = 10,
		.sandbox = 1,
		.capabilities = CAPABILITIES,
		.uid = -1,
		.gid = -1 };
	const char *env[] = { "GREETING=hello", NULL };
	struct outcome *o;

	c.envp = env;
	expect(shell(&c,
		   "echo $GREETING $HOSTNAME $(hostname) pid $$ $OMPI_ALLOW_RUN_AS_ROOT; pwd"),
	    0, "hello alpha alpha pid 1 1", "environment, host name and pid");
	expect(shell(&c, "exit 7"), 7, "", "exit code");
	o = shell(&c, "kill -9 $$; sleep 1");
	check(o->code == 0 || o->code == 137, "a signal to PID 1 from inside: %d", o->code);
	expect(shell(&c, "sh -c 'kill -9 $$'; echo $?"), 0, "137", "a killed child");
	expect(shell(&c, "ls -d /proc/[0-9]* | wc -l | xargs echo processes; ls -A /run/mpijob"), 0,
	    "hosts", "hosts folder");
	expect(shell(&c, "cat /proc/1/comm; touch /usr/x /tmp/y /root/z /etc/w /opt/v /var/tmp/u "
			 "&& echo written"),
	    0, "written", "writable layers");
	check(access("/usr/x", F_OK) && access("/tmp/y", F_OK) && access("/var/tmp/u", F_OK),
	    "a write reached the machine");
	expect(shell(&c, "ls /usr/x /tmp/y; true"), 0, "No such file",
	    "writes do not outlive a container");
	expect(shell(&c,
		   "echo a > /dev/stdout; echo b > /dev/null; head -c 4 /dev/urandom | wc -c"),
	    0, "a\n4", "devices");
	expect(
	    shell(&c,
		"echo x > /dev/shm/shared; ls -l /dev/ptmx /dev/pts/ptmx >/dev/null && echo ptmx"),
	    0, "ptmx", "dev");
	expect(shell(&c, "cat /dev/shm/shared"), 0, "x", "shm is the sandbox's");
	c.sandbox = 2;
	expect(shell(&c, "cat /dev/shm/shared"), 1, "No such file", "shm is nobody else's");
	c.sandbox = 1;
	c.read_only_root = 1;
	expect(shell(&c, "touch /usr/x"), 1, "Read-only file system", "read-only root");
	expect(shell(&c, "echo x > /dev/shm/x && echo fine"), 0, "fine", "shm of a read-only root");
	c.read_only_root = 0;
	expect(shell(&c, "getent hosts beta; cat /etc/resolv.conf; ls ~/.ssh 2>&1 | head -1"), 0,
	    "198.18.0.3", "names");
	expect(shell(&c, "ulimit -c; cat /proc/self/status | grep CapBnd; mount -t tmpfs x /mnt"),
	    32, NULL, "no mounting inside");
	c.cwd = "/made/for/me";
	expect(shell(&c, "pwd"), 0, "/made/for/me",
	    "a working directory that does not exist is made");
	c.cwd = NULL;
}

static void check_failures(void)
{
	const char *missing[] = { "/no/such/program", NULL };
	const char *no_sshd[] = { "/no/such/sshd", NULL };
	const char *folder[] = { "/etc", NULL };
	struct node_container c = { .id = 11,
		.sandbox = 1,
		.capabilities = CAPABILITIES,
		.uid = -1,
		.gid = -1,
		.argv = missing };
	struct outcome *o = run(&c);

	check(o->code == -1 && o->event.error == MPIJOB_ERR_NOT_FOUND &&
		  o->event.errno_value == ENOENT,
	    "a missing program: %d %s", o->code, o->output);
	c.argv = no_sshd;
	o = run(&c);
	check(o->code == -1 && strstr(o->output, "openssh-server"),
	    "a missing sshd says how to get it: %s", o->output);
	c.argv = folder;
	o = run(&c);
	check(o->code == -1 && o->event.errno_value == EACCES, "a directory as program: %s",
	    o->output);
	c.sandbox = 77;
	o = run(&c);
	check(o->code == -1 && o->event.error == MPIJOB_ERR_CONFLICT, "no such sandbox: %s",
	    o->output);
}

static void check_volumes(void)
{
	struct node_mount mounts[] = { { .volume = 20, .path = "/config" },
		{ .volume = 21, .path = "/config/scratch", .read_only = 0 },
		{ .volume = 20, .path = "/etc/one.conf", .sub_path = "a.txt" },
		{ .host_path = "/usr", .path = "/machine", .read_only = 1 } };
	struct node_container c = { .id = 12,
		.sandbox = 1,
		.capabilities = CAPABILITIES,
		.uid = -1,
		.gid = -1,
		.mounts = mounts,
		.mount_count = 4 };
	const char *live[] = { "sh", "-c",
		"cat /config/a.txt /config/b.txt; ls /config; cat /etc/hosts", NULL };
	const char *sleeper[] = { "sleep", "1000", NULL };
	struct node_mount bad = { .volume = 20, .path = "/x", .sub_path = "../../../etc" };
	struct outcome *o;

	volume_file(20, "a.txt", "first\n", 0640);
	volume_empty(21);
	expect(shell(&c, "cat /config/a.txt; stat -Lc %a /config/a.txt; echo x > "
			 "/config/scratch/f; cat /etc/one.conf"),
	    0, "first\n640\nfirst", "files");
	expect(shell(&c, "cat /config/scratch/f; ls /machine/bin/env; touch /machine/x"), 1,
	    "Read-only", "a hostPath, read-only");
	c.argv = sleeper;
	c.fds[1] = c.fds[2] = -1;
	expect_ok(mpijob__local_node_client_container_start(client, &c, &request), "sleeper");
	volume_file(20, "b.txt", "second\n", 0644);
	hosts("127.0.0.1 localhost\n198.18.0.2 alpha\n198.18.0.3 beta\n198.18.0.9 later\n");
	expect(execute(12, live), 0,
	    "second\nb.txt\nscratch\n127.0.0.1 localhost\n198.18.0.2 alpha\n198.18.0.3 "
	    "beta\n198.18.0.9 later",
	    "live update");
	expect_ok(mpijob__local_node_client_container_signal(client, 12, SIGKILL, &request),
	    "signal");
	check(wait_for(0, NODE_EVT_EXITED, 12, "killed").signo == SIGKILL, "killed by a signal");
	volume_file(22, "deep/er/file", "deep\n", 0600);
	mounts[0] = (struct node_mount){ .volume = 22, .path = "/root/.ssh", .read_only = 1 };
	c.mount_count = 1;
	expect(shell(&c, "cat /root/.ssh/deep/er/file; touch /root/.ssh/x"), 1, "deep\n",
	    "paths with folders");
	c.mounts = &bad;
	o = shell(&c, "ls /x && echo listed");
	check(o->code == 0 && strstr(o->output, "listed") && !strstr(o->output, "passwd"),
	    "a subPath leads out: %s", o->output);
	expect_ok(mpijob__local_node_client_volume_remove(client, 22, &request), "remove");
}

static void check_exec(void)
{
	const char *sleeper[] = { "sleep", "1000", NULL };
	const char *look[] = { "sh", "-c",
		"hostname; ps ax 2>/dev/null | grep -c '[s]leep 1000'; id -u; exit 3", NULL };
	const char *missing[] = { "nothing-of-this-name", NULL };
	const char *folder[] = { "/etc", NULL };
	const char *long_run[] = { "sleep", "100", NULL };
	struct node_exec x = { .container = 13, .argv = long_run, .fds = { -1, -1, -1 } };
	struct node_container c = { .id = 13,
		.sandbox = 1,
		.capabilities = CAPABILITIES,
		.uid = -1,
		.gid = -1,
		.argv = sleeper,
		.fds = { -1, -1, -1 } };
	uint64_t running;
	uint64_t signalled;
	int tries = 0;

	expect_ok(mpijob__local_node_client_container_start(client, &c, &request), "sleeper");
	expect(execute(13, look), 3, "alpha\n1\n", "exec");
	expect(execute(13, missing), 127, NULL, "exec of what is not there");
	expect(execute(13, folder), 126, NULL, "exec of what is no program");
	if (mpijob__local_node_client_exec(client, &x, &running))
		stop("exec");
	do {
		usleep(1000);
		if (mpijob__local_node_client_exec_signal(client, running, SIGKILL, &signalled))
			stop("exec signal");
	} while (wait_for(signalled, 0, 0, "exec signal").type != NODE_ANS_OK && ++tries < 1000);
	check(wait_for(running, NODE_ANS_EXITED, 0, "killed exec").code == 137, "a killed exec");
	expect_ok(mpijob__local_node_client_sandbox_destroy(client, 2, &request), "destroy");
	expect_ok(mpijob__local_node_client_container_signal(client, 13, SIGKILL, &request),
	    "kill");
	wait_for(0, NODE_EVT_EXITED, 13, "end");
	x.argv = look;
	if (mpijob__local_node_client_exec(client, &x, &running))
		stop("exec");
	check(wait_for(running, 0, 0, "late exec").error == MPIJOB_ERR_NOT_FOUND,
	    "an exec after the end");
}

static void check_users(void)
{
	struct node_container c = { .id = 14,
		.sandbox = 1,
		.capabilities = CAPABILITIES,
		.uid = 1234,
		.gid = 1235 };
	uint32_t groups[] = { 1300 };

	expect(shell(&c, "id -u; id -g; touch ~/f && echo at home in $HOME; cd /; whoami"), 0,
	    "1234\n1235\nat home in /home/mpiuser\nmpiuser", "runAsUser");
	c.ssh_auth_path = "/opt/job/.ssh";
	expect(shell(&c, "echo $HOME"), 0, "/opt/job", "home beside the keys");
	c.groups = groups;
	c.group_count = 1;
	if (identity_got != NODE_IDENTITY_SINGLE)
		expect(shell(&c, "id -G"), 0, "1235 1300", "groups");
	c.uid = 3000000000;
	if (identity_got == NODE_IDENTITY_SUBORDINATE) {
		struct outcome *o = shell(&c, "id");

		check(o->code == -1 && strstr(o->output, "runAsUser 3000000000 is not available"),
		    "%s", o->output);
	}
}

static void check_ssh(void)
{
	struct node_mount keys = { .volume = KEYS, .path = "/root/.ssh" };
	struct node_container c = { .id = 32,
		.sandbox = 1,
		.capabilities = CAPABILITIES,
		.uid = -1,
		.gid = -1,
		.mounts = &keys,
		.mount_count = 1 };
	struct node_probe probe = { .sandbox = 4, .port = 22, .timeout_ms = 300 };

	key_volume(-1);
	sandbox(3, "gamma", "198.18.0.5");
	sandbox(4, "delta", "198.18.0.6");
	hosts("127.0.0.1 localhost\n198.18.0.2 alpha\n198.18.0.5 gamma.svc gamma\n198.18.0.6 "
	      "delta\n");
	start_sshd(30, 3, NULL);
	wait_listening(3, 22);
	check(wait_for(ask_listening(3, 22, false), 0, 0, "connect").code == NODE_PROBE_OK,
	    "connect to sshd");
	if (mpijob__local_node_client_probe(client, &probe, &request))
		stop("probe");
	check(wait_for(request, 0, 0, "refused").code == NODE_PROBE_REFUSED,
	    "nothing listens there");
	expect(shell(&c, "ssh gamma.svc 'hostname; echo $OMPI_ALLOW_RUN_AS_ROOT; id -un; echo ok "
			 ">&2; exit 5'"),
	    5, "gamma\n1\nroot\nok", "ssh by name");
	expect(shell(&c, "ssh gamma 'tty; true' </dev/null; ssh -tt gamma tty </dev/null"), 0,
	    "/dev/pts/", "a terminal");
}

static void check_ssh_as_user(void)
{
	struct node_container like = { .uid = 1234,
		.gid = 1234,
		.ssh_auth_path = "/home/mpiuser/.ssh" };
	struct node_mount keys = { .volume = KEYS, .path = "/home/mpiuser/.ssh" };
	struct node_container c = like;

	key_volume(1234);
	start_sshd(33, 4, &like);
	wait_listening(4, 22);
	c.id = 34;
	c.sandbox = 1;
	c.mounts = &keys;
	c.mount_count = 1;
	expect(shell(&c, "ssh delta 'hostname; id -u'"), 0, "delta\n1234",
	    "ssh as an ordinary user of the pod");
}

/* A reader never sees half a hosts file, nor none. */
static void check_hosts_are_whole(void)
{
	const char *const argv[] = { "/bin/sh", "-c",
		"i=0; while [ $i -lt 200 ]; do i=$((i+1)); grep -q '^# end$' /etc/hosts || exit 9; "
		"done",
		NULL };
	struct node_container c = { .id = 41,
		.sandbox = 1,
		.capabilities = CAPABILITIES,
		.uid = -1,
		.gid = -1,
		.argv = argv,
		.fds = { -1, -1, -1 } };
	static char text[200000];
	struct node_event event;
	int round = 0;

	hosts("# end\n");
	expect_ok(mpijob__local_node_client_container_start(client, &c, &request), "reader");
	do {
		size_t len = (size_t)(round % 2 ? 100 : 190000);

		memset(text, '#', len);
		for (size_t i = 79; i < len; i += 80)
			text[i] = '\n';
		memcpy(text + len, "\n# end\n", sizeof("\n# end\n"));
		hosts(text);
		round++;
	} while (!take(0, NODE_EVT_EXITED, 41, &event));
	check(event.code == 0 && round > 10,
	    "a hosts file was read in part: code %d after %d updates", event.code, round);
}

static void check_host_network(void)
{
	struct node_container c = { .id = 40,
		.sandbox = 5,
		.capabilities = CAPABILITIES,
		.uid = -1,
		.gid = -1 };

	sandbox(5, "hosted", NULL);
	expect(shell(&c, "hostname; ls /sys/class/net"), 0, "pods", "host network");
}

static void checks(void)
{
	make_key();
	hosts("127.0.0.1 localhost\n198.18.0.2 alpha\n198.18.0.3 beta\n");
	sandbox(1, "alpha", "198.18.0.2");
	sandbox(2, "beta", "198.18.0.3");
	check_container();
	check_failures();
	check_volumes();
	check_exec();
	check_users();
	check_ssh();
	check_ssh_as_user();
	check_host_network();
	check_hosts_are_whole();
}

/* Everything is asked for at once, as lib/local does. */
static void workers(int count)
{
	char name[32];
	char address[32];
	uint64_t *probes = calloc((size_t)count, sizeof(*probes));
	struct node_event event;
	size_t len = 0;
	char *text = calloc(1, 128 * (size_t)(count + 2));

	len += (size_t)sprintf(text, "127.0.0.1 localhost\n198.18.1.0 launcher\n");
	for (int i = 0; i < count; i++)
		len += (size_t)sprintf(text + len, "198.18.2.%d worker-%d.pi worker-%d\n", i + 1, i,
		    i);
	key_volume(-1);
	hosts(text);
	for (int i = 0; i < count; i++) {
		struct node_sandbox s = { .id = (uint64_t)i + 1,
			.hostname = name,
			.address = address,
			.group = 1 };

		snprintf(name, sizeof(name), "worker-%d", i);
		snprintf(address, sizeof(address), "198.18.2.%d", i + 1);
		if (mpijob__local_node_client_sandbox_create(client, &s, NULL))
			stop("sandbox");
		start_sshd((uint64_t)i + 1, (uint64_t)i + 1, NULL);
	}
	for (int i = 0; i < count; i++)
		probes[i] = ask_listening((uint64_t)i + 1, 22, true);
	for (int i = 0; i < count; i++) {
		event = wait_for(probes[i], 0, 0, "probe");
		check(event.type == NODE_ANS_OK && event.code == NODE_PROBE_OK,
		    "worker %d does not listen", i);
	}
	printf("%d workers listen after %.1f ms\n", count, (now() - started) * 1e3);
	free(probes);
	free(text);
}

/* As Open MPI reads them, and as MPICH and Intel MPI do. */
static void write_host_files(int count, int slots)
{
	char *open_mpi = calloc(2, 64 * (size_t)(count + 1));
	char *hydra = open_mpi + 64 * (count + 1);
	struct node_file files[2] = { { .path = "hostfile", .data = open_mpi, .mode = 0444 },
		{ .path = "hosts", .data = hydra, .mode = 0444 } };
	struct node_volume v = { .id = 30,
		.kind = NODE_VOLUME_FILES,
		.fs_group = -1,
		.files = files,
		.file_count = 2 };

	for (int i = 0; i < count; i++) {
		files[0].len +=
		    (size_t)sprintf(open_mpi + files[0].len, "worker-%d.pi slots=%d\n", i, slots);
		files[1].len +=
		    (size_t)sprintf(hydra + files[1].len, "worker-%d.pi:%d\n", i, slots);
	}
	expect_ok(mpijob__local_node_client_volume_write(client, &v, &request), "host files");
	free(open_mpi);
}

static void mpi(int count, int slots, char **command)
{
	struct node_mount mounts[] = { { .volume = KEYS, .path = "/root/.ssh" },
		{ .volume = 30, .path = "/etc/mpi" } };
	const char *env[] = { "OMPI_MCA_orte_keep_fqdn_hostnames=true",
		"OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile",
		"OMPI_MCA_plm_rsh_args=-o ConnectionAttempts=10",
		"PRTE_MCA_prte_default_hostfile=/etc/mpi/hostfile",
		"PRTE_MCA_prte_keep_fqdn_hostnames=true",
		"PRTE_MCA_plm_ssh_args=-o ConnectionAttempts=10", "HYDRA_HOST_FILE=/etc/mpi/hosts",
		"HYDRA_LAUNCHER_EXTRA_ARGS=-o ConnectionAttempts=10", NULL };
	struct node_container c = { .id = 1000,
		.sandbox = 1000,
		.uid = -1,
		.gid = -1,
		.mounts = mounts,
		.mount_count = 2,
		.argv = (const char *const *)command,
		.envp = env };
	struct outcome *o;
	double begin;

	make_key();
	workers(count);
	write_host_files(count, slots);
	sandbox(1000, "launcher", "198.18.1.0");
	begin = now();
	o = run(&c);
	fputs(o->output, stdout);
	printf("launcher ended with %d after %.1f ms, all after %.1f ms\n", o->code,
	    (now() - begin) * 1e3, (now() - started) * 1e3);
	check(o->code == 0, "the launcher failed");
}

static void hold(int count)
{
	make_key();
	workers(count);
	printf("holding\n");
	fflush(stdout);
	for (;;)
		pump(1000);
}

static void fatal(const char *program, int identity)
{
	struct node_options options = { .program = program, .identity = identity };
	struct node_event event;

	if (mpijob__local_node_client_start(&options, &client, NULL))
		stop("cannot start the node");
	while (mpijob__local_node_client_step(client, 5000) == 0) {
		while (mpijob__local_node_client_next(client, &event))
			printf("%d: %s\n", event.type, event.text);
	}
}

static uint64_t dice = 88172645463325252u;

static uint64_t roll(uint64_t below)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return dice % below;
}

static void put_nonsense(struct node_writer *w, int depth)
{
	static const char *const words[] = { "", "/", "a", "/bin/sh", "-c", "../..", "/proc/1/fd",
		"198.18.0.2", "A=b", "..data" };
	uint16_t tag = (uint16_t)roll(NODE_F_FEATURES + 2);
	uint64_t noise[4] = { roll(UINT64_MAX), roll(UINT64_MAX), roll(UINT64_MAX),
		roll(UINT64_MAX) };
	size_t opened;

	switch (roll(depth ? 3 : 4)) {
	case 0:
		mpijob__local_node_message_put_text(w, tag,
		    words[roll(sizeof(words) / sizeof(words[0]))]);
		break;
	case 1: mpijob__local_node_message_put_number(w, tag, roll(4) ? roll(6) : noise[0]); break;
	case 2: mpijob__local_node_message_put(w, tag, noise, roll(sizeof(noise))); break;
	default:
		opened = mpijob__local_node_message_open(w, tag);
		for (uint64_t i = roll(5); i > 0; i--)
			put_nonsense(w, depth + 1);
		mpijob__local_node_message_close(w, opened);
		break;
	}
}

/* Every request is answered once, whatever it is; containers may even start. */
static void nonsense(const char *program, const char *identity, int count)
{
	struct node_channel channel;
	struct node_incoming in;
	struct node_writer w;
	int answers = 0;
	int sent = 0;
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		stop("socketpair");
	pid = fork();
	if (pid == 0) {
		dup2(pair[1], NODE_FD);
		execl(program, program, identity, (char *)NULL);
		_exit(127);
	}
	close(pair[1]);
	mpijob__local_node_message_channel_init(&channel, pair[0]);
	while (answers < count && !channel.dead) {
		struct pollfd fds = { .fd = pair[0], .events = POLLIN };

		if (sent < count && sent - answers < 32) {
			mpijob__local_node_message_begin(&w, (uint16_t)roll(NODE_REQ_PROBE + 2),
			    (uint64_t)++sent);
			for (uint64_t i = roll(12); i > 0; i--)
				put_nonsense(&w, 0);
			mpijob__local_node_message_send(&channel, &w);
			mpijob__local_node_message_flush(&channel);
		} else if (poll(&fds, 1, 10000) == 0) {
			stop("%d of %d answered, then silence", answers, sent);
		}
		while (mpijob__local_node_message_receive(&channel, &in) == 1) {
			if (in.frame.type == NODE_EVT_FATAL)
				fprintf(stderr, "fatal\n");
			answers += in.frame.request != 0;
			mpijob__local_node_message_incoming_free(&in);
		}
	}
	printf("%d frames, %d answers\n", sent, answers);
	check(answers == count, "the node did not answer everything");
	mpijob__local_node_message_channel_close(&channel);
	waitpid(pid, NULL, 0);
}

static int first_child(int pid)
{
	char path[64];
	int child = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%d", &child) != 1)
		child = -1;
	if (f)
		fclose(f);
	return child;
}

/* How many descriptors the node's PID 1 has; -1 when that cannot be seen. */
static int open_descriptors(void)
{
	char path[64];
	int count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", first_child(first_child((int)getpid())));
	dir = opendir(path);
	if (!dir)
		return -1;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void bench(int count)
{
	int descriptors;
	const char *const nothing[] = { "/bin/true", NULL };
	struct node_container c = { .id = 1,
		.sandbox = 1,
		.capabilities = CAPABILITIES,
		.uid = -1,
		.gid = -1,
		.argv = nothing };
	char address[32];
	double begin = now();

	for (int i = 0; i < count; i++) {
		snprintf(address, sizeof(address), "198.18.%d.%d", i / 250 + 3, i % 250 + 1);
		sandbox((uint64_t)i + 1, "bench", address);
	}
	printf("sandbox %.2f ms\n", (now() - begin) * 1e3 / count);
	descriptors = open_descriptors();
	begin = now();
	for (int i = 0; i < count; i++)
		check(run(&c)->code == 0, "true");
	printf("container, start to end, %.2f ms\n", (now() - begin) * 1e3 / count);
	c.id = 2;
	c.argv = (const char *const[]){ "/bin/sleep", "1000", NULL };
	c.fds[0] = c.fds[1] = c.fds[2] = -1;
	expect_ok(mpijob__local_node_client_container_start(client, &c, &request), "sleeper");
	begin = now();
	for (int i = 0; i < count; i++)
		check(execute(2, nothing)->code == 0, "exec");
	printf("exec, start to end, %.2f ms\n", (now() - begin) * 1e3 / count);
	begin = now();
	for (int i = 0; i < count; i++)
		volume_file(7, "name", "content", 0644);
	printf("volume update %.3f ms\n", (now() - begin) * 1e3 / count);
	expect_ok(mpijob__local_node_client_container_signal(client, 2, SIGKILL, &request), "kill");
	wait_for(0, NODE_EVT_EXITED, 2, "end");
	check(open_descriptors() == descriptors,
	    "the node had %d descriptors, and has %d after all that", descriptors,
	    open_descriptors());
}

int main(int argc, char **argv)
{
	double before;

	if (argc < 4)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(argv[3], "fatal") == 0) {
		fatal(argv[1], atoi(argv[2]));
	} else if (strcmp(argv[3], "nonsense") == 0 && argc > 4) {
		nonsense(argv[1], argv[2], atoi(argv[4]));
	} else {
		start_node(argv[1], atoi(argv[2]));
		if (strcmp(argv[3], "checks") == 0)
			checks();
		else if (strcmp(argv[3], "mpi") == 0 && argc > 6)
			mpi(atoi(argv[4]), atoi(argv[5]), argv + 6);
		else if (strcmp(argv[3], "hold") == 0 && argc > 4)
			hold(atoi(argv[4]));
		else if (strcmp(argv[3], "bench") == 0 && argc > 4)
			bench(atoi(argv[4]));
	}
	before = now();
	mpijob__local_node_client_free(client);
	printf("gone after %.1f ms\n", (now() - before) * 1e3);
	while (text_count > 0)
		free(texts[--text_count]);
	free(key_private);
	free(key_public);
	if (failures == 0)
		printf("fine\n");
	return failures ? 1 : 0;
}
