/* SPDX-License-Identifier: Apache-2.0 */
/* One run of an exec credential plugin: a child process and its output. */
#ifndef MPIJOB__HTTP_PLUGIN_H
#define MPIJOB__HTTP_PLUGIN_H

#include <stdint.h>
#include <sys/types.h>

#include "http/config.h"

#define MPIJOB__HTTP_PLUGIN_OUTPUT_LIMIT ((size_t)1 << 20)

/* pid 0: no plugin runs. */
struct mpijob__http_plugin {
	pid_t pid;
	int pipe;  /* its standard output; -1 after the end */
	int pidfd; /* -1: the system has no pidfd */
	int exited;
	int status;         /* as waitpid; meaningless when `unknown` */
	int status_unknown; /* the host reaped the process */
	int output_too_large;
	int timed_out;
	int64_t deadline_ms;
	int64_t check_ms;           /* time of the next check if no event occurs */
	mpijob__http_secret output; /* `data` has more room than `len` */
	size_t capacity;
};

/* Why a plugin did not start. */
#define MPIJOB__HTTP_PLUGIN_NOT_FOUND   1 /* there is no such program */
#define MPIJOB__HTTP_PLUGIN_NOT_STARTED 2 /* *number is the errno */
#define MPIJOB__HTTP_PLUGIN_FORBIDDEN   3 /* it is not in the list of allowed commands */

/*
 * Start the plugin of a configuration. `info` is the value of KUBERNETES_EXEC_INFO; with
 * `interactive` it gets our standard input. 0; MPIJOB__HTTP_PLUGIN_*; MPIJOB_ERR_NOMEM.
 */
int mpijob__http_plugin_start(struct mpijob__http_plugin *plugin, const mpijob_http_config *config,
    const char *info, int interactive, int64_t deadline_ms, int *number);
/* Read output, check the exit and the deadline. 1: it has ended; 0: it runs; MPIJOB_ERR_NOMEM: the
 * caller must end it. */
int mpijob__http_plugin_step(struct mpijob__http_plugin *plugin, int64_t now_ms);
/* The descriptor to poll for input, or -1. */
int mpijob__http_plugin_fd(const struct mpijob__http_plugin *plugin);
int64_t mpijob__http_plugin_due_ms(const struct mpijob__http_plugin *plugin);
/* Kill the plugin if it runs, reap it, wipe and free its output. */
void mpijob__http_plugin_end(struct mpijob__http_plugin *plugin);

#endif
