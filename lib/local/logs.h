/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_LOGS_H
#define MPIJOB_LOCAL_LOGS_H

#include "local.h"

struct log_options {
	const char *container; /* NULL: the only one */
	int follow;
	int previous;
	int timestamps;
	int64_t since_ns; /* nanoseconds since 1970; INT64_MIN: from the beginning */
	int64_t tail;     /* lines; negative: all */
	uint64_t limit;   /* bytes, without the times */
};

/* What one run of a container wrote. */
struct log;

/* `drained` is called when a reader that was far behind caught up; may be NULL. */
struct log *mpijob__local_logs_new(struct mpijob_local *local, void (*drained)(void *user),
    void *user);
void mpijob__local_logs_hold(struct log *log);
void mpijob__local_logs_drop(struct log *log);
/* Its owner goes: `drained` is not called any more. */
void mpijob__local_logs_leave(struct log *log);
/* Bytes came. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__local_logs_write(struct log *log, const char *data, size_t len);
/* Nothing comes any more. */
void mpijob__local_logs_finish(struct log *log);
/* Whether some reader is so far behind that the container had better wait. */
int mpijob__local_logs_is_full(struct log *log);
/* Its last lines, for a termination message; NULL without memory. */
char *mpijob__local_logs_tail(const struct log *log, size_t lines, size_t bytes);

/* Answer a request for a container's log. 0 and a reply, or MPIJOB_ERR_NOMEM. */
int mpijob__local_logs_open(struct mpijob_local *local, struct call *call, struct object *pod,
    const struct log_options *options, struct reply *reply);

#endif
