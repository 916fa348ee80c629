/* SPDX-License-Identifier: Apache-2.0 */
/* One run of an exec credential plugin: a child process and its output. */
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
	int pidfd; /* -1: the system has no pidfd */
	int exited;
	int status;  /* as waitpid; meaningless when `unknown` */
	int unknown; /* another waitpid took the status */
	int too_much;
	int timed_out;
	int64_t deadline_ms;
	int64_t look_ms;            /* when to check next without an event */
	mpijob__http_secret output; /* `data` has more room than `len` */
	size_t room;
};

/* Why a plugin did not start. */
#define MPIJOB__HTTP_PLUGIN_NOT_FOUND 1 /* there is no such program */
#define MPIJOB__HTTP_PLUGIN_REFUSED   2 /* `number` says why */
#define MPIJOB__HTTP_PLUGIN_FORBIDDEN 3 /* it is not among those that may run */

/*
 * Start the plugin of a configuration. `info` is the value of KUBERNETES_EXEC_INFO; with
 * `interactive` it gets our standard input. 0; MPIJOB__PLUGIN_*; MPIJOB_ERR_NOMEM.
 */
int mpijob__http_plugin_start(struct mpijob__http_plugin *plugin, const mpijob_http_config *config,
    const char *info, int interactive, int64_t deadline_ms, int *number);
/* Process what has happened: 1 when it is over, 0 while it runs, MPIJOB_ERR_NOMEM: stop it. */
int mpijob__http_plugin_step(struct mpijob__http_plugin *plugin, int64_t now_ms);
/* The descriptor to poll for input, or -1. */
int mpijob__http_plugin_fd(const struct mpijob__http_plugin *plugin);
int64_t mpijob__http_plugin_due_ms(const struct mpijob__http_plugin *plugin);
/* Kill it if it still runs, wait for it, wipe and free its output. */
void mpijob__http_plugin_end(struct mpijob__http_plugin *plugin);

#endif
