/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to run a child process inside an arbitrary host program. posix_spawn() is used instead of
 * fork(), because the host may have threads. Signals are changed in the child only. The child
 * inherits only the standard descriptors. Only this child is waited for; when the host ignores
 * SIGCHLD or reaps all children, the exit code is lost and only the output decides. The run ends
 * when the plugin exits, even if a process that it started keeps the pipe open.
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

#define CHECK_MS        100 /* between checks while the pipe or a pidfd can report an event */
#define CHECK_CLOSED_MS 10  /* when the pipe is closed and there is no pidfd */
#define CHUNK           8192

extern char **environ;

/* The host may have closed its standard descriptors, and the pipe may have one of their numbers:
 * therefore the pipe is duplicated first. */
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

/* Unblock all signals, and reset those that hosts often ignore. */
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

/* argv: the command as configured, then its arguments. Free only the array. */
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
	int rc = mpijob__http_plugin_find(exec->command, config->plugins, &program);

	memset(plugin, 0, sizeof(*plugin));
	plugin->pipe = plugin->pidfd = -1;
	plugin->deadline_ms = deadline_ms;
	if (rc)
		return rc;
	arguments = arguments_of(exec);
	environment = mpijob__http_plugin_environment(exec, info);
	if (!arguments || !environment) {
		rc = MPIJOB_ERR_NOMEM;
	} else {
		*number = start(plugin, program, arguments, environment, interactive);
		rc = !*number            ? 0
		     : *number == ENOMEM ? MPIJOB_ERR_NOMEM
					 : MPIJOB__HTTP_PLUGIN_NOT_STARTED;
	}
	mpijob__http_plugin_free_environment(environment);
	free(arguments);
	free(program);
	return rc;
}

/* Make room for one more CHUNK, and wipe the old block. */
static int grow_output(struct mpijob__http_plugin *plugin)
{
	size_t capacity = plugin->capacity ? plugin->capacity * 2 : CHUNK * 2;
	char *data;

	if (plugin->capacity - plugin->output.len > CHUNK)
		return 0;
	data = malloc(capacity);
	if (!data)
		return MPIJOB_ERR_NOMEM;
	if (plugin->output.len)
		memcpy(data, plugin->output.data, plugin->output.len);
	mpijob__base_secret_free(plugin->output.data, plugin->output.len);
	plugin->output.data = data;
	plugin->capacity = capacity;
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

		if (grow_output(plugin))
			return MPIJOB_ERR_NOMEM;
		got = read(plugin->pipe, plugin->output.data + plugin->output.len, CHUNK);
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
			plugin->output_too_large = 1;
			return 0;
		}
	}
	return 0;
}

/* Read the exit status if the plugin has exited. */
static void reap(struct mpijob__http_plugin *plugin, int flags)
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
	plugin->status_unknown = pid != plugin->pid;
}

/* When the host has reaped the plugin, its pid may belong to another process; a pidfd never does.
 */
static void kill_and_reap(struct mpijob__http_plugin *plugin)
{
	reap(plugin, WNOHANG);
	if (plugin->exited)
		return;
#ifdef SYS_pidfd_send_signal
	if (plugin->pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, plugin->pidfd, SIGKILL, NULL, 0);
	else
#endif
		(void)kill(plugin->pid, SIGKILL);
	reap(plugin, 0);
}

int mpijob__http_plugin_step(struct mpijob__http_plugin *plugin, int64_t now_ms)
{
	/* Check the exit before reading: then the pipe contains the whole output of a plugin that
	 * has exited. */
	reap(plugin, WNOHANG);
	if (drain(plugin))
		return MPIJOB_ERR_NOMEM;
	if (!plugin->exited && (plugin->output_too_large || now_ms >= plugin->deadline_ms)) {
		plugin->timed_out = !plugin->output_too_large;
		kill_and_reap(plugin);
	}
	if (plugin->exited) {
		close_pipe(plugin);
		return 1;
	}
	plugin->check_ms =
	    now_ms + (plugin->pipe >= 0 || plugin->pidfd >= 0 ? CHECK_MS : CHECK_CLOSED_MS);
	return 0;
}

int mpijob__http_plugin_fd(const struct mpijob__http_plugin *plugin)
{
	return plugin->pipe >= 0 ? plugin->pipe : plugin->pidfd;
}

int64_t mpijob__http_plugin_due_ms(const struct mpijob__http_plugin *plugin)
{
	return plugin->check_ms < plugin->deadline_ms ? plugin->check_ms : plugin->deadline_ms;
}

void mpijob__http_plugin_end(struct mpijob__http_plugin *plugin)
{
	if (plugin->pid)
		kill_and_reap(plugin);
	if (plugin->pid && plugin->pipe >= 0)
		close_pipe(plugin);
	if (plugin->pid && plugin->pidfd >= 0)
		close(plugin->pidfd);
	mpijob__http_secret_clear(&plugin->output);
	memset(plugin, 0, sizeof(*plugin));
	plugin->pipe = plugin->pidfd = -1;
}
