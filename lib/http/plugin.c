/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a plugin runs in a host that does not know of it: posix_spawn and not fork, because the host
 * may have threads; signals are changed in the child only; the child gets no descriptor of the host
 * except the standard ones; and only this child is waited for. When the host ignores SIGCHLD or
 * waits for all children, the exit code is lost, and the output alone decides. A plugin is over
 * when it has exited, even if a process that it started still holds the pipe.
 */
#define _GNU_SOURCE /* pipe2, posix_spawn_file_actions_addclosefrom_np */
#include "http/plugin.h"
#include "http/plugin_find.h"
#include "http/plugin_info.h"

#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS      100 /* between checks while output may arrive */
#define LOOK_LATE_MS 10  /* when its output has ended and there is no pidfd */
#define PIECE        8192

extern char **environ;

/* The order matters when the host has closed its standard descriptors and the pipe has one of their
 * numbers. */
static int set_files(posix_spawn_file_actions_t *actions, int output, int interactive)
{
	int number = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);

	if (!number && !interactive)
		number = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null",
		    O_RDONLY, 0);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
	if (!number)
		number = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
#endif
	return number;
}

/* No signal is blocked, and signals that hosts often ignore have their default action. */
static int set_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, defaults;
	int number;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGCHLD);
	number = posix_spawnattr_setsigmask(attributes, &none);
	if (!number)
		number = posix_spawnattr_setsigdefault(attributes, &defaults);
	if (!number)
		number = posix_spawnattr_setflags(attributes,
		    POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	return number;
}

/* 0 or an errno. */
static int spawn(const char *program, char **arguments, char **environment, int output,
    int interactive, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int number = posix_spawn_file_actions_init(&actions);

	if (number)
		return number;
	number = posix_spawnattr_init(&attributes);
	if (!number) {
		number = set_files(&actions, output, interactive);
		if (!number)
			number = set_signals(&attributes);
		if (!number)
			number = posix_spawn(pid, program, &actions, &attributes, arguments,
			    environment);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return number;
}

static int open_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0);
#else
	(void)pid;
	return -1;
#endif
}

/* The name of the program comes first, as in the configuration. */
static char **arguments_of(const struct mpijob__http_exec_plugin *exec)
{
	size_t count = 0;
	char **arguments;

	while (exec->args && exec->args[count])
		count++;
	arguments = calloc(count + 2, sizeof(*arguments));
	if (!arguments)
		return NULL;
	arguments[0] = exec->command;
	for (size_t i = 0; i < count; i++)
		arguments[i + 1] = exec->args[i];
	return arguments;
}

static int start(struct mpijob__http_plugin *plugin, const char *program, char **arguments,
    char **environment, int interactive)
{
	int ends[2];
	int number;

	if (pipe2(ends, O_CLOEXEC))
		return errno;
	number = spawn(program, arguments, environment, ends[1], interactive, &plugin->pid);
	close(ends[1]);
	if (!number && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) {
		plugin->pipe = ends[0];
		plugin->pidfd = open_pidfd(plugin->pid);
		return 0;
	}
	close(ends[0]);
	plugin->pid = 0;
	return number ? number : EIO;
}

int mpijob__http_plugin_start(struct mpijob__http_plugin *plugin, const mpijob_http_config *config,
    const char *info, int interactive, int64_t deadline_ms, int *number)
{
	const struct mpijob__http_exec_plugin *exec = &config->exec;
	char *program = NULL, **arguments, **environment;
	int code = mpijob__http_plugin_find(exec->command, config->plugins, &program);

	memset(plugin, 0, sizeof(*plugin));
	plugin->pipe = plugin->pidfd = -1;
	plugin->deadline_ms = deadline_ms;
	if (code)
		return code;
	arguments = arguments_of(exec);
	environment = mpijob__http_plugin_environment(exec, info);
	if (!arguments || !environment) {
		code = MPIJOB_ERR_NOMEM;
	} else {
		*number = start(plugin, program, arguments, environment, interactive);
		code = !*number            ? 0
		       : *number == ENOMEM ? MPIJOB_ERR_NOMEM
					   : MPIJOB__HTTP_PLUGIN_REFUSED;
	}
	mpijob__http_plugin_free_environment(environment);
	free(arguments);
	free(program);
	return code;
}

/* Make room for one more piece; the old block is wiped. */
static int make_room(struct mpijob__http_plugin *plugin)
{
	size_t room = plugin->room ? plugin->room * 2 : PIECE * 2;
	char *data;

	if (plugin->room - plugin->output.len > PIECE)
		return 0;
	data = malloc(room);
	if (!data)
		return MPIJOB_ERR_NOMEM;
	if (plugin->output.len)
		memcpy(data, plugin->output.data, plugin->output.len);
	if (plugin->output.data)
		mpijob__base_secret_wipe(plugin->output.data, plugin->output.len);
	free(plugin->output.data);
	plugin->output.data = data;
	plugin->room = room;
	return 0;
}

static void close_pipe(struct mpijob__http_plugin *plugin)
{
	if (plugin->pipe >= 0)
		close(plugin->pipe);
	plugin->pipe = -1;
}

/* Read all available output. */
static int drain(struct mpijob__http_plugin *plugin)
{
	while (plugin->pipe >= 0) {
		ssize_t got;

		if (make_room(plugin))
			return MPIJOB_ERR_NOMEM;
		got = read(plugin->pipe, plugin->output.data + plugin->output.len, PIECE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got <= 0) {
			close_pipe(plugin);
			return 0;
		}
		plugin->output.len += (size_t)got;
		plugin->output.data[plugin->output.len] = 0;
		if (plugin->output.len > MPIJOB__HTTP_PLUGIN_OUTPUT_LIMIT) {
			plugin->too_much = 1;
			return 0;
		}
	}
	return 0;
}

/* Check whether it has exited. */
static void check_exit(struct mpijob__http_plugin *plugin, int flags)
{
	pid_t pid;

	if (plugin->exited)
		return;
	do
		pid = waitpid(plugin->pid, &plugin->status, flags);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return;
	plugin->exited = 1;
	plugin->unknown = pid != plugin->pid;
}

/* After somebody else has waited for it, its pid may belong to another process; its pidfd cannot.
 */
static void stop(struct mpijob__http_plugin *plugin)
{
	check_exit(plugin, WNOHANG);
	if (plugin->exited)
		return;
#ifdef SYS_pidfd_send_signal
	if (plugin->pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, plugin->pidfd, SIGKILL, NULL, 0);
	else
#endif
		(void)kill(plugin->pid, SIGKILL);
	check_exit(plugin, 0);
}

int mpijob__http_plugin_step(struct mpijob__http_plugin *plugin, int64_t now_ms)
{
	/* Check the exit first: all that it wrote before is then in the pipe. */
	check_exit(plugin, WNOHANG);
	if (drain(plugin))
		return MPIJOB_ERR_NOMEM;
	if (!plugin->exited && (plugin->too_much || now_ms >= plugin->deadline_ms)) {
		plugin->timed_out = !plugin->too_much;
		stop(plugin);
	}
	if (plugin->exited) {
		close_pipe(plugin);
		return 1;
	}
	plugin->look_ms =
	    now_ms + (plugin->pipe >= 0 || plugin->pidfd >= 0 ? LOOK_MS : LOOK_LATE_MS);
	return 0;
}

int mpijob__http_plugin_fd(const struct mpijob__http_plugin *plugin)
{
	return plugin->pipe >= 0 ? plugin->pipe : plugin->pidfd;
}

int64_t mpijob__http_plugin_due_ms(const struct mpijob__http_plugin *plugin)
{
	return plugin->look_ms < plugin->deadline_ms ? plugin->look_ms : plugin->deadline_ms;
}

void mpijob__http_plugin_end(struct mpijob__http_plugin *plugin)
{
	if (plugin->pid)
		stop(plugin);
	if (plugin->pid && plugin->pipe >= 0)
		close_pipe(plugin);
	if (plugin->pid && plugin->pidfd >= 0)
		close(plugin->pidfd);
	mpijob__http_secret_clear(&plugin->output);
	memset(plugin, 0, sizeof(*plugin));
	plugin->pipe = plugin->pidfd = -1;
}
