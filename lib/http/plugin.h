/* SPDX-License-Identifier: Apache-2.0 */
/* One run of an exec credential plugin: a child process, and what it writes. */
#ifndef MPIJOB__HTTP_PLUGIN_H
#define MPIJOB__HTTP_PLUGIN_H

#include <stdint.h>
#include <sys/types.h>

#include "http/config.h"

#define MPIJOB__HTTP_PLUGIN_OUTPUT_LIMIT ((size_t)1 << 20)

/* All zero with pid 0: nothing runs. */
struct mpijob__http_plugin {
	pid_t pid;
	int pipe;  /* its output; -1 after its end */
	int pidfd; /* -1: the system has none */
	int exited;
	int status;  /* as waitpid; meaningless when `unknown` */
	int unknown; /* somebody else took the status, or nobody may have it */
	int too_much;
	int timed_out;
	int64_t deadline_ms;
	int64_t look_ms;            /* when to look next without news */
	mpijob__http_secret output; /* `data` has more room than `len` */
	size_t room;
};

/* Why a plugin did not start. */
#define MPIJOB__HTTP_PLUGIN_NOT_FOUND 1 /* there is no such program */
#define MPIJOB__HTTP_PLUGIN_REFUSED   2 /* `number` says why */
#define MPIJOB__HTTP_PLUGIN_FORBIDDEN 3 /* it is not among those that may run */

/*
 * Find the program of a command; `allowed` are the commands that may run, NULL for all. 0;
 * MPIJOB__HTTP_PLUGIN_NOT_FOUND or _FORBIDDEN; MPIJOB_ERR_NOMEM.
 */
int mpijob__http_plugin_find(const char *command, char *const *allowed, char **out);

/*
 * Start the plugin of a configuration. `info` is the value of KUBERNETES_EXEC_INFO; with
 * `interactive` it gets our standard input. 0; MPIJOB__PLUGIN_*; MPIJOB_ERR_NOMEM.
 */
int mpijob__http_plugin_start(struct mpijob__http_plugin *plugin, const mpijob_http_config *config,
    const char *info, int interactive, int64_t deadline_ms, int *number);
/* Take what has happened: 1 when it is over, 0 when it still runs, MPIJOB_ERR_NOMEM (it is to be
 * stopped then). */
int mpijob__http_plugin_step(struct mpijob__http_plugin *plugin, int64_t now_ms);
/* What to watch for input, or -1. */
int mpijob__http_plugin_fd(const struct mpijob__http_plugin *plugin);
int64_t mpijob__http_plugin_due_ms(const struct mpijob__http_plugin *plugin);
/* Kill it if it still runs, wait for it, wipe and free what it wrote. */
void mpijob__http_plugin_end(struct mpijob__http_plugin *plugin);

/* The environment of a plugin: ours, its own variables, KUBERNETES_EXEC_INFO; closed by NULL; NULL
 * when memory ran out.
 */
char **mpijob__http_plugin_environment(const struct mpijob__http_exec_plugin *exec,
    const char *info);
void mpijob__http_plugin_free_environment(char **environment);
/* The value of KUBERNETES_EXEC_INFO; memory of its own, or NULL. `ca` is the PEM that the server is
 * checked with. */
char *mpijob__http_plugin_info(const mpijob_http_config *config, const mpijob__http_secret *ca,
    int interactive);

#endif
