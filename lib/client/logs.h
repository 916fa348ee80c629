/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of logs: pods, their containers as sources of lines, and the streams that are open. */
#ifndef MPIJOB__CLIENT_LOGS_H
#define MPIJOB__CLIENT_LOGS_H

#include "base/text.h"
#include "client/retry_budget.h"
#include "client/timer.h"

#include <mpijob/logs.h>
#include <mpijob/watch.h>

struct mpijob__client_log_pod;

/* A time as the server writes it, and as it compares. */
struct mpijob__client_log_time {
	char text[48]; /* "" when there is none */
	int64_t seconds, nanoseconds;
};

/* How far one run was read. */
struct mpijob__client_log_position {
	struct mpijob__client_log_time last; /* of the last line that was told to its end */
	size_t same;                         /* lines with just that time, the last one included */
	struct mpijob__client_log_time open; /* of a line of which a part was told already */
	size_t told;                         /* bytes of that part; 0: none */
};

/* What one container writes. */
struct mpijob__client_log_source {
	struct mpijob_logs *logs;
	struct mpijob__client_log_pod *pod;
	struct mpijob__client_log_source *next;         /* of the pod, init containers first */
	struct mpijob__client_log_source *next_waiting; /* for a stream */
	char *name;
	int is_gate; /* an init container that others wait for */
	int late;    /* it began while we looked: nothing of it is left out */
	int is_waiting;
	int over; /* given up, or nothing more can come */

	/* What the pod's status says. */
	int32_t runs; /* that have begun */
	int running;  /* the last of them goes on */
	int between;  /* the last of them has ended, and the next one waits to start */

	/* What was read. */
	int32_t read;    /* runs that are done with */
	int32_t attempt; /* the run that is read; -1: none */
	int is_previous; /* it is read as the one before the last */
	int drained;     /* its stream ended well, and whether the run has ended is not known */
	struct mpijob__client_log_position place;

	/* The stream. */
	mpijob_call *call;
	int64_t opened_ms;
	/* not to be opened before; INT64_MAX: not before the pod's status changes */
	int64_t due_ms;
	int64_t backoff_ms;
	int tries;     /* without a line */
	int refusals;  /* of them those that were answered */
	int told_code; /* what `failed` was told of */
	struct mpijob__client_retry_budget patience;
	/* its run is over, and since `quiet_ms` neither the rest came nor the end */
	int quiet;
	int64_t quiet_ms;
	int silences;     /* streams that were cut because of that since the last line */
	int fresh;        /* not over the connection of the last one */
	mpijob_text line; /* what came of the line that is not told yet */
	int inside;       /* a first part of that line was told, or dropped */
	int dropping;     /* of that line */
	size_t skip;      /* bytes of that line that were told before the stream broke */
	int catching_up;  /* what comes may have been told before */
	size_t caught;    /* lines with the time of `place.last` that came again */
	int untimed;      /* a line of this stream has no time in front */
};

struct mpijob__client_log_pod {
	struct mpijob_logs *logs;
	struct mpijob__client_log_pod *next;
	char *name, *uid;
	struct mpijob__client_log_source *sources;
	unsigned round; /* the list in which it was seen last */
	int gone;
	int ended; /* its phase is final */
};

struct mpijob_logs {
	mpijob_client *client;
	struct mpijob_logs_options options; /* strings and lists are copies */
	int64_t tail_lines, since_seconds;
	char **names;
	char *named; /* for each name whether there was such a pod */
	mpijob_watch *watch;
	struct mpijob__client_timer timer;
	struct mpijob__client_log_pod *pods, **last_pod;
	struct mpijob__client_log_source *waiting, *last_waiting;
	int32_t open; /* streams */
	unsigned round;
	int listed; /* there was a whole list */
	int state;  /* 1, 0 or negative, as mpijob_logs_state() */
	int paused;
	int depth; /* inside of callbacks */
	int freed; /* from inside of one */
};

/* logs.c */
/* Around all that may call somebody back: the logs may be freed meanwhile. leave: 1 when they
 * were. */
void mpijob__client_log_enter(struct mpijob_logs *logs);
int mpijob__client_log_leave(struct mpijob_logs *logs);
/* End all with a code. */
void mpijob__client_log_end(struct mpijob_logs *logs, int code);
void mpijob__client_log_report_failure(struct mpijob_logs *logs, const char *pod,
    const char *container, int code, const char *message, int again);
/*
 * Something has changed: in the next poll, open what may be opened, and see whether all is read.
 * Once for many changes, since it looks at all sources.
 */
void mpijob__client_log_schedule_scan(struct mpijob_logs *logs);

/* logs_pods.c */
/* Take over a pod's state. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__client_log_take_pod(struct mpijob_logs *logs, const struct mpijob_watch_event *event);
/* A list is complete: pods that were not in it are gone. */
void mpijob__client_log_drop_unlisted(struct mpijob_logs *logs);
/* Free pods of which nothing can come any more. */
void mpijob__client_log_sweep_pods(struct mpijob_logs *logs);
void mpijob__client_log_free_pods(struct mpijob_logs *logs);

/* logs_source.c */
/* Whether a stream is to be opened now, or `*due_ms` when it will be; INT64_MAX: when something
 * changes. */
int mpijob__client_log_wants_stream(const struct mpijob__client_log_source *source, int64_t now_ms,
    int64_t *due_ms);
/* Whether nothing more can come of it as things are: all runs that have begun are read. */
int mpijob__client_log_is_read(const struct mpijob__client_log_source *source);
/* Open a stream. What goes wrong is told, and tried again later. */
void mpijob__client_log_open_stream(struct mpijob__client_log_source *source);
/* Whether its stream is silent although its run is over, or `*due_ms` when it will be. */
int mpijob__client_log_is_silent(struct mpijob__client_log_source *source, int64_t now_ms,
    int64_t *due_ms);
/* Close a silent one, and try again later. */
void mpijob__client_log_abort_silent(struct mpijob__client_log_source *source);
/* Close it; what comes next is what was not told yet. */
void mpijob__client_log_close_stream(struct mpijob__client_log_source *source);
/* The pod's status, or its end, was taken over. */
void mpijob__client_log_source_changed(struct mpijob__client_log_source *source);
void mpijob__client_log_free_source(struct mpijob__client_log_source *source);

/* logs_lines.c */
/* Cut bytes into lines and tell them. 0, MPIJOB_ERR_NOMEM, or what ended all. */
int mpijob__client_log_lines_feed(struct mpijob__client_log_source *source, const char *data,
    size_t len);
/* The log has ended: tell what had no line end. */
int mpijob__client_log_lines_flush(struct mpijob__client_log_source *source);
/*
 * What the node reports at the end of a stream in place of the rest of the log; NULL when the
 * stream ended as logs do. Borrowed until the next call.
 */
const char *mpijob__client_log_kubelet_error(const struct mpijob__client_log_source *source);
/* Begin again where it stood. */
void mpijob__client_log_lines_restart(struct mpijob__client_log_source *source);
void mpijob__client_log_lines_reset(struct mpijob__client_log_source *source);

#endif
