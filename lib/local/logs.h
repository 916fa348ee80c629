/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_LOGS_H
#define MPIJOB_LOCAL_LOGS_H

#include "local/local.h"

struct mpijob__local_log_options {
	const char *container; /* NULL: the only container */
	int follow;
	int previous;
	int timestamps;
	int64_t since_ns; /* nanoseconds since 1970; INT64_MIN: from the beginning */
	int64_t tail;     /* lines; negative: all */
	uint64_t limit;   /* bytes, without the times */
};

/* The output of one run of a container. */
struct mpijob__local_log;

/* Create a log with one reference. `drained` is called when a log that was full has room again; may
 * be NULL. NULL when memory ran out. */
struct mpijob__local_log *mpijob__local_logs_new(struct mpijob_local *local,
    void (*drained)(void *user), void *user);
void mpijob__local_logs_ref(struct mpijob__local_log *log);
void mpijob__local_logs_unref(struct mpijob__local_log *log);
/* Stop calling `drained`, because its owner is freed. */
void mpijob__local_logs_detach(struct mpijob__local_log *log);
/* Append output. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__local_logs_write(struct mpijob__local_log *log, const char *data, size_t len);
/* The output has ended. */
void mpijob__local_logs_finish(struct mpijob__local_log *log);
/* Whether a follower is so far behind that the container must wait. */
int mpijob__local_logs_is_full(struct mpijob__local_log *log);
/* Copy the last lines, for a termination message. The caller frees it; NULL when memory ran out. */
char *mpijob__local_logs_tail(const struct mpijob__local_log *log, size_t lines, size_t bytes);

/* Answer a request for a container's log. 0 and a reply, or MPIJOB_ERR_NOMEM. */
int mpijob__local_logs_open(struct mpijob_local *local, struct mpijob__local_call *call,
    struct mpijob__local_object *pod, const struct mpijob__local_log_options *options,
    struct mpijob__local_reply *reply);

#endif
