/* SPDX-License-Identifier: Apache-2.0 */
/* One container as a source of lines. */
#ifndef MPIJOB__CLIENT_LOG_SOURCE_H
#define MPIJOB__CLIENT_LOG_SOURCE_H

#include "base/list.h"
#include "client/log_lines.h"
#include "client/retry_budget.h"

#include <mpijob/client.h>

struct mpijob_logs;
struct mpijob__client_log_pod;

/* The diagram is in log_source.c. */
enum mpijob__client_log_source_state {
	MPIJOB__CLIENT_LOG_IDLE,           /* wants a stream from retry.due_ms on, if at all */
	MPIJOB__CLIENT_LOG_QUEUED,         /* waits until another stream is closed */
	MPIJOB__CLIENT_LOG_STREAMING,      /* has a stream */
	MPIJOB__CLIENT_LOG_DRAINED,        /* its stream ended, and perhaps its run */
	MPIJOB__CLIENT_LOG_DRAINED_QUEUED, /* both: it waits for a stream to read on */
	MPIJOB__CLIENT_LOG_CLOSED          /* it is not read any more */
};

/* What a container does, by the status of its pod. */
enum mpijob__client_log_container {
	MPIJOB__CLIENT_LOG_CONTAINER_STOPPED, /* not begun, or ended */
	MPIJOB__CLIENT_LOG_CONTAINER_RUNNING,
	MPIJOB__CLIENT_LOG_CONTAINER_RESTARTING /* the last run has ended, the next one waits */
};

struct mpijob__client_log_source {
	struct mpijob_logs *logs;
	struct mpijob__client_log_pod *pod;
	struct mpijob__client_log_source *next; /* of the pod, init containers first */
	char *name;
	int is_gate; /* an init container that others wait for */
	int late;    /* it began after the logs were opened: all of it is read */
	enum mpijob__client_log_source_state state;
	struct mpijob__base_list queue; /* while QUEUED or DRAINED_QUEUED */
	struct {
		int32_t runs; /* that have begun */
		enum mpijob__client_log_container container;
	} status; /* of the pod */
	struct {
		int32_t done;    /* runs that are read, or lost */
		int32_t attempt; /* the run that is read; -1: none */
		int is_previous; /* the server keeps it as the run before the last */
	} run;
	struct {
		mpijob_call *call; /* NULL unless STREAMING */
		int64_t opened_ms;
		int64_t silent_since_ms; /* although the run is over; INT64_MIN: it is not silent */
		int silences;            /* streams that were cut for silence since the last line */
		int new_connection;      /* for the next stream */
	} stream;
	struct {
		int64_t due_ms;
		int64_t backoff_ms;
		int attempts;      /* without a line */
		int refusals;      /* those of them that the server answered */
		int reported_code; /* of the last reported failure */
		struct mpijob__client_retry_budget budget;
	} retry;
	struct mpijob__client_log_lines lines;
};

/* Move to another state, and into or out of the queue for a stream. */
void mpijob__client_log_source_enter(struct mpijob__client_log_source *source,
    enum mpijob__client_log_source_state state);
/* 1 when the source wants a stream now; else `*due_ms` is when it will, INT64_MAX: after an event.
 */
int mpijob__client_log_wants_stream(const struct mpijob__client_log_source *source, int64_t now_ms,
    int64_t *due_ms);
/* It wants a stream: queue it. */
void mpijob__client_log_queue(struct mpijob__client_log_source *source);
/* 1 when all runs that have begun are read. */
int mpijob__client_log_is_read(const struct mpijob__client_log_source *source);
/* Open a stream. A failure is reported and retried later. */
void mpijob__client_log_open_stream(struct mpijob__client_log_source *source);
/* 1 when its stream is silent although its run is over; else `*due_ms` is when it will be. */
int mpijob__client_log_is_silent(struct mpijob__client_log_source *source, int64_t now_ms,
    int64_t *due_ms);
/* Close a silent stream, and retry later. */
void mpijob__client_log_abort_silent(struct mpijob__client_log_source *source);
/* Close the stream. The next one begins after what was reported. */
void mpijob__client_log_close_stream(struct mpijob__client_log_source *source);
/* The pod has another status, or is deleted. */
void mpijob__client_log_source_changed(struct mpijob__client_log_source *source);
void mpijob__client_log_free_source(struct mpijob__client_log_source *source);

#endif
