/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of logs: their options, their pods, and the queue for streams. */
#ifndef MPIJOB__CLIENT_LOGS_H
#define MPIJOB__CLIENT_LOGS_H

#include "client/log_pods.h"
#include "client/log_source.h"
#include "client/timer.h"

#include <mpijob/logs.h>
#include <mpijob/watch.h>

struct mpijob_logs {
	mpijob_client *client;
	struct mpijob_logs_options options; /* strings and lists are copies */
	int64_t tail_lines, since_seconds;
	char **names;
	char *named; /* for each name whether there was such a pod */
	mpijob_watch *watch;
	mpijob_timer timer;
	struct mpijob__client_log_pod *pods, **last_pod;
	struct mpijob__base_list queue;
	int32_t open; /* streams */
	unsigned round;
	int listed; /* a list was complete */
	int state;  /* 1, 0 or negative, as mpijob_logs_state() */
	int paused;
	int depth; /* callbacks that run */
	int freed; /* inside of one */
};

/* Every callback of the client is between these two: the caller may free the logs meanwhile. leave:
 * 1 when it did. */
void mpijob__client_log_enter(struct mpijob_logs *logs);
int mpijob__client_log_leave(struct mpijob_logs *logs);
/* End all with a code. */
void mpijob__client_log_end(struct mpijob_logs *logs, int code);
void mpijob__client_log_report_failure(struct mpijob_logs *logs, const char *pod,
    const char *container, int code, const char *message, int again);
/*
 * Something has changed: the next poll scans all sources, opens streams and checks whether all is
 * read. One scan serves many changes.
 */
void mpijob__client_log_schedule_scan(struct mpijob_logs *logs);

#endif
