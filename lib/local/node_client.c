/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the node is started from a host that may have threads (posix_spawn: no host code runs between
 * fork and exec), what it inherits (one socket, and only PATH and HOME), and how each request is
 * encoded.
 */
#include "local/node_client.h"
#include "local/node_message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct node_client {
	struct node_channel channel;
	struct node_incoming current; /* the message of the last event, which borrows from it */
	uint64_t last_request;
	pid_t pid;
	int out_of_memory; /* receiving failed; the next step returns it */
};

static int report(mpijob_diag *diag, int error, const char *what, const char *name, int number)
{
	const char *why = strerror(number);
	size_t len = strlen(what) + strlen(name) + strlen(why) + 8;
	char *message = malloc(len);
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;

	if (!message)
		return MPIJOB_ERR_NOMEM;
	snprintf(message, len, "%s%s: %s", what, name, why);
	finding.severity = MPIJOB_SEVERITY_ERROR;
	finding.id = "local-node";
	finding.message = message;
	mpijob_diag_add(diag, &finding);
	free(message);
	return error;
}

static char *home_variable(void)
{
	const char *home = getenv("HOME");
	size_t len = home ? strlen(home) : 0;
	char *variable = malloc(sizeof("HOME=") + len);

	if (!variable)
		return NULL;
	memcpy(variable, "HOME=", sizeof("HOME="));
	if (len)
		memcpy(variable + sizeof("HOME=") - 1, home, len + 1);
	return variable;
}

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr, int fd)
{
	sigset_t none;
	sigset_t all;
	int e = posix_spawn_file_actions_adddup2(actions, fd, NODE_FD);

	sigemptyset(&none);
	sigfillset(&all);
	if (!e)
		e = posix_spawnattr_setsigmask(attr, &none);
	if (!e)
		e = posix_spawnattr_setsigdefault(attr, &all);
	if (!e) /* its own process group: Ctrl-C in the terminal reaches only the parent */
		e = posix_spawnattr_setpgroup(attr, 0);
	if (!e)
		e = posix_spawnattr_setflags(attr,
		    POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	return e;
}

/* 0 or an errno. */
static int spawn(const struct node_options *options, int fd, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char *cwd = options->cwd ? strdup(options->cwd) : NULL;
	char identity[2] = { (char)('0' + options->identity), 0 };
	char name[] = "mpijob-node";
	char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	char *argv[] = { name, identity, cwd, NULL };
	char *envp[] = { path, home_variable(), NULL };
	int e = ENOMEM;

	if (!envp[1] || (options->cwd && !cwd))
		goto out;
	if (posix_spawn_file_actions_init(&actions))
		goto out;
	if (posix_spawnattr_init(&attr))
		goto out_actions;
	e = prepare(&actions, &attr, fd);
	if (!e)
		e = posix_spawn(pid, options->program, &actions, &attr, argv, envp);
	posix_spawnattr_destroy(&attr);
out_actions:
	posix_spawn_file_actions_destroy(&actions);
out:
	free(envp[1]);
	free(cwd);
	return e;
}

static void init_incoming(struct node_incoming *in)
{
	memset(in, 0, sizeof(*in));
	for (int i = 0; i < NODE_MAX_FDS; i++)
		in->fds[i] = -1;
}

int mpijob__local_node_client_start(const struct node_options *options, struct node_client **out,
    mpijob_diag *diag)
{
	struct node_client *client;
	int pair[2];
	int e;

	if (!options || !options->program || !out || options->identity < 0 ||
	    options->identity > NODE_IDENTITY_SINGLE)
		return MPIJOB_ERR_USAGE;
	client = calloc(1, sizeof(*client));
	if (!client)
		return MPIJOB_ERR_NOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		e = errno;
		free(client);
		return report(diag, MPIJOB_ERR_IO, "cannot create a socket pair for ",
		    "mpijob-node", e);
	}
	e = spawn(options, pair[1], &client->pid);
	close(pair[1]);
	if (e) {
		close(pair[0]);
		free(client);
		if (e == ENOMEM)
			return MPIJOB_ERR_NOMEM;
		return report(diag, MPIJOB_ERR_IO, "cannot start ", options->program, e);
	}
	mpijob__local_node_message_channel_init(&client->channel, pair[0]);
	init_incoming(&client->current);
	*out = client;
	return 0;
}

void mpijob__local_node_client_free(struct node_client *client)
{
	if (!client)
		return;
	mpijob__local_node_message_incoming_free(&client->current);
	mpijob__local_node_message_channel_close(&client->channel);
	while (waitpid(client->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(client);
}

int mpijob__local_node_client_fd(const struct node_client *client)
{
	return client->channel.fd;
}

int mpijob__local_node_client_wants_write(const struct node_client *client)
{
	return client->channel.out_count > 0 && !client->channel.write_closed;
}

int mpijob__local_node_client_step(struct node_client *client, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = client->channel.fd, .events = POLLIN };

	if (client->channel.dead)
		return MPIJOB_ERR_IO;
	if (client->out_of_memory) {
		client->out_of_memory = 0;
		return MPIJOB_ERR_NOMEM;
	}
	mpijob__local_node_message_flush(&client->channel);
	if (mpijob__local_node_client_wants_write(client))
		poll_fd.events |= POLLOUT;
	if (timeout_ms != 0 && poll(&poll_fd, 1, timeout_ms) > 0 && (poll_fd.revents & POLLOUT))
		mpijob__local_node_message_flush(&client->channel);
	return 0; /* mpijob__local_node_client_next() notices the end, after the last message */
}

static void fill_event(struct node_event *event, const struct node_field *field)
{
	uint64_t number = mpijob__local_node_message_number(field);

	switch (field->tag) {
	case NODE_F_ID: event->id = number; break;
	case NODE_F_PID: event->pid = (int64_t)number; break;
	case NODE_F_CODE: event->code = (int32_t)number; break;
	case NODE_F_SIGNAL: event->signo = (int32_t)number; break;
	case NODE_F_ERROR: event->error = -(int32_t)number; break;
	case NODE_F_ERRNO: event->errno_value = (int32_t)number; break;
	case NODE_F_IDENTITY: event->identity = (int32_t)number; break;
	case NODE_F_FEATURES: event->features = (uint32_t)number; break;
	case NODE_F_TEXT:
	case NODE_F_KERNEL: event->text = mpijob__local_node_message_text(field); break;
	default: break;
	}
}

int mpijob__local_node_client_next(struct node_client *client, struct node_event *event)
{
	struct node_reader reader;
	struct node_field field;
	int r;

	mpijob__local_node_message_incoming_free(&client->current);
	r = mpijob__local_node_message_receive(&client->channel, &client->current);
	if (r == MPIJOB_ERR_NOMEM)
		client->out_of_memory = 1;
	if (r != 1)
		return 0;
	memset(event, 0, sizeof(*event));
	event->request = client->current.frame.request;
	event->type = client->current.frame.type;
	reader = (struct node_reader){ client->current.payload,
		client->current.payload + client->current.frame.length };
	while (mpijob__local_node_message_next(&reader, &field) == 1)
		fill_event(event, &field);
	return 1;
}

static void begin(struct node_client *client, struct node_writer *w, uint16_t type)
{
	mpijob__local_node_message_begin(w, type, ++client->last_request);
}

static int send_request(struct node_client *client, struct node_writer *w, uint64_t *request)
{
	int rc = mpijob__local_node_message_send(&client->channel, w);

	if (rc)
		return rc;
	if (request)
		*request = client->last_request;
	return 0;
}

int mpijob__local_node_client_sandbox_create(struct node_client *client,
    const struct node_sandbox *sandbox, uint64_t *request)
{
	struct node_writer w;

	begin(client, &w, NODE_REQ_SANDBOX_CREATE);
	mpijob__local_node_message_put_number(&w, NODE_F_ID, sandbox->id);
	mpijob__local_node_message_put_text(&w, NODE_F_HOSTNAME, sandbox->hostname);
	mpijob__local_node_message_put_text(&w, NODE_F_ADDRESS, sandbox->address);
	mpijob__local_node_message_put_number(&w, NODE_F_HOST_NETWORK, sandbox->host_network != 0);
	mpijob__local_node_message_put_number(&w, NODE_F_GROUP, sandbox->group);
	return send_request(client, &w, request);
}

/* A request whose only field is an id. */
static int send_id_request(struct node_client *client, uint16_t type, uint64_t id,
    uint64_t *request)
{
	struct node_writer w;

	begin(client, &w, type);
	mpijob__local_node_message_put_number(&w, NODE_F_ID, id);
	return send_request(client, &w, request);
}

int mpijob__local_node_client_sandbox_destroy(struct node_client *client, uint64_t sandbox,
    uint64_t *request)
{
	return send_id_request(client, NODE_REQ_SANDBOX_DESTROY, sandbox, request);
}

int mpijob__local_node_client_volume_remove(struct node_client *client, uint64_t volume,
    uint64_t *request)
{
	return send_id_request(client, NODE_REQ_VOLUME_REMOVE, volume, request);
}

int mpijob__local_node_client_volume_write(struct node_client *client,
    const struct node_volume *volume, uint64_t *request)
{
	struct node_writer w;

	begin(client, &w, NODE_REQ_VOLUME_WRITE);
	mpijob__local_node_message_put_number(&w, NODE_F_ID, volume->id);
	mpijob__local_node_message_put_number(&w, NODE_F_KIND, (uint64_t)volume->kind);
	if (volume->fs_group >= 0)
		mpijob__local_node_message_put_number(&w, NODE_F_FS_GROUP,
		    (uint64_t)volume->fs_group);
	for (size_t i = 0; i < volume->file_count; i++) {
		const struct node_file *file = &volume->files[i];
		size_t opened = mpijob__local_node_message_open(&w, NODE_F_FILE);

		mpijob__local_node_message_put_text(&w, NODE_F_PATH, file->path);
		mpijob__local_node_message_put_number(&w, NODE_F_MODE, file->mode);
		mpijob__local_node_message_put_number(&w, NODE_F_UID, file->uid);
		mpijob__local_node_message_put_number(&w, NODE_F_GID, file->gid);
		mpijob__local_node_message_put(&w, NODE_F_DATA, file->data, file->len);
		mpijob__local_node_message_close(&w, opened);
	}
	return send_request(client, &w, request);
}

int mpijob__local_node_client_hosts_write(struct node_client *client, uint64_t group,
    const char *text, size_t len, uint64_t *request)
{
	struct node_writer w;

	begin(client, &w, NODE_REQ_HOSTS_WRITE);
	mpijob__local_node_message_put_number(&w, NODE_F_GROUP, group);
	mpijob__local_node_message_put(&w, NODE_F_DATA, text, len);
	return send_request(client, &w, request);
}

static void put_list(struct node_writer *w, uint16_t tag, const char *const *list)
{
	for (; list && *list; list++)
		mpijob__local_node_message_put_text(w, tag, *list);
}

static void put_mount(struct node_writer *w, const struct node_mount *mount)
{
	size_t opened = mpijob__local_node_message_open(w, NODE_F_MOUNT);

	if (mount->volume)
		mpijob__local_node_message_put_number(w, NODE_F_VOLUME, mount->volume);
	else
		mpijob__local_node_message_put_text(w, NODE_F_HOST_PATH, mount->host_path);
	mpijob__local_node_message_put_text(w, NODE_F_PATH, mount->path);
	mpijob__local_node_message_put_text(w, NODE_F_SUB_PATH, mount->sub_path);
	mpijob__local_node_message_put_number(w, NODE_F_READ_ONLY, mount->read_only != 0);
	mpijob__local_node_message_close(w, opened);
}

static int put_fds(struct node_writer *w, const int fds[3])
{
	uint64_t bits = 0;

	for (int i = 0; i < 3; i++) {
		int fd;

		if (fds[i] < 0)
			continue;
		fd = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
		if (fd < 0)
			return MPIJOB_ERR_IO;
		w->fds[w->fd_count++] = fd;
		bits |= UINT64_C(1) << i;
	}
	mpijob__local_node_message_put_number(w, NODE_F_STDIO, bits);
	return 0;
}

int mpijob__local_node_client_container_start(struct node_client *client,
    const struct node_container *container, uint64_t *request)
{
	struct node_writer w;

	begin(client, &w, NODE_REQ_CONTAINER_START);
	mpijob__local_node_message_put_number(&w, NODE_F_ID, container->id);
	mpijob__local_node_message_put_number(&w, NODE_F_SANDBOX, container->sandbox);
	put_list(&w, NODE_F_ARG, container->argv);
	put_list(&w, NODE_F_ENV, container->envp);
	mpijob__local_node_message_put_text(&w, NODE_F_CWD, container->cwd);
	if (container->uid >= 0)
		mpijob__local_node_message_put_number(&w, NODE_F_UID, (uint64_t)container->uid);
	if (container->gid >= 0)
		mpijob__local_node_message_put_number(&w, NODE_F_GID, (uint64_t)container->gid);
	for (size_t i = 0; i < container->group_count; i++)
		mpijob__local_node_message_put_number(&w, NODE_F_SUPPLEMENTARY,
		    container->groups[i]);
	for (size_t i = 0; i < container->mount_count; i++)
		put_mount(&w, &container->mounts[i]);
	mpijob__local_node_message_put_number(&w, NODE_F_READ_ONLY, container->read_only_root != 0);
	mpijob__local_node_message_put_number(&w, NODE_F_CAPABILITIES, container->capabilities);
	mpijob__local_node_message_put_number(&w, NODE_F_CONFINE, container->confine);
	mpijob__local_node_message_put_text(&w, NODE_F_SSH_PATH, container->ssh_auth_path);
	if (put_fds(&w, container->fds)) {
		mpijob__local_node_message_release(&w);
		return MPIJOB_ERR_IO;
	}
	return send_request(client, &w, request);
}

int mpijob__local_node_client_container_signal(struct node_client *client, uint64_t container,
    int signo, uint64_t *request)
{
	struct node_writer w;

	begin(client, &w, NODE_REQ_CONTAINER_SIGNAL);
	mpijob__local_node_message_put_number(&w, NODE_F_ID, container);
	mpijob__local_node_message_put_number(&w, NODE_F_SIGNAL, (uint64_t)signo);
	return send_request(client, &w, request);
}

int mpijob__local_node_client_exec(struct node_client *client, const struct node_exec *exec,
    uint64_t *request)
{
	struct node_writer w;

	begin(client, &w, NODE_REQ_EXEC);
	mpijob__local_node_message_put_number(&w, NODE_F_ID, exec->container);
	put_list(&w, NODE_F_ARG, exec->argv);
	put_list(&w, NODE_F_ENV, exec->envp);
	mpijob__local_node_message_put_text(&w, NODE_F_CWD, exec->cwd);
	if (put_fds(&w, exec->fds)) {
		mpijob__local_node_message_release(&w);
		return MPIJOB_ERR_IO;
	}
	return send_request(client, &w, request);
}

int mpijob__local_node_client_exec_signal(struct node_client *client, uint64_t exec_request,
    int signo, uint64_t *request)
{
	struct node_writer w;

	begin(client, &w, NODE_REQ_EXEC_SIGNAL);
	mpijob__local_node_message_put_number(&w, NODE_F_REQUEST, exec_request);
	mpijob__local_node_message_put_number(&w, NODE_F_SIGNAL, (uint64_t)signo);
	return send_request(client, &w, request);
}

int mpijob__local_node_client_probe(struct node_client *client, const struct node_probe *probe,
    uint64_t *request)
{
	struct node_writer w;

	begin(client, &w, NODE_REQ_PROBE);
	mpijob__local_node_message_put_number(&w, NODE_F_SANDBOX, probe->sandbox);
	mpijob__local_node_message_put_number(&w, NODE_F_PORT, probe->port);
	mpijob__local_node_message_put_number(&w, NODE_F_TIMEOUT,
	    (uint64_t)(probe->timeout_ms > 0 ? probe->timeout_ms : 0));
	mpijob__local_node_message_put_number(&w, NODE_F_RETRY,
	    (uint64_t)(probe->retry_ms > 0 ? probe->retry_ms : 0));
	mpijob__local_node_message_put_number(&w, NODE_F_LISTEN, probe->listen_only != 0);
	return send_request(client, &w, request);
}
