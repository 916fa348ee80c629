/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Container logs. The last 10 MiB of each run are kept; a reader whose position was trimmed gets a
 * line that says how many bytes it missed. The time of each line is kept separately and is written
 * only for requests with timestamps. A slow follower blocks the container, as a full pipe does, so
 * that a client that follows from the start misses nothing.
 */
#include "local/logs.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/text.h"
#include "local/kubelet.h"
#include "local/log_times.h"

#include <stdlib.h>
#include <string.h>

#define MAX_KEPT (10u << 20)
#define SLACK    (2u << 20)
#define MAX_LAG  (4u << 20)
#define CHUNK    (64u << 10)

struct reader {
	struct mpijob__local_stream stream; /* first */
	struct mpijob__base_list link;
	struct mpijob__local_log *log;
	struct mpijob__local_call *call;
	uint64_t offset;
	int follow;
	int timestamps;
	uint64_t left;      /* bytes that may be sent, without the times */
	int in_line;        /* inside a line, whose time is written */
	int64_t line_ns;    /* time of that line, or of the one before; 0: unknown */
	uint64_t next_line; /* where the next line begins */
};

struct mpijob__local_log {
	size_t refs;
	struct mpijob_local *local;
	char *data;
	size_t len;
	size_t cap;
	uint64_t base; /* offset of data[0] */
	int finished;
	int blocked; /* the last result of mpijob__local_logs_is_full() */
	size_t lost; /* bytes that were dropped because memory ran out */
	struct mpijob__base_list readers;
	struct mpijob__local_log_times times;
	void (*drained)(void *user);
	void *user;
};

struct mpijob__local_log *mpijob__local_logs_new(struct mpijob_local *local,
    void (*drained)(void *user), void *user)
{
	struct mpijob__local_log *log = calloc(1, sizeof(*log));

	if (log) {
		mpijob__base_list_init(&log->readers);
		log->refs = 1;
		log->local = local;
		log->drained = drained;
		log->user = user;
	}
	return log;
}

void mpijob__local_logs_ref(struct mpijob__local_log *log)
{
	log->refs++;
}

void mpijob__local_logs_unref(struct mpijob__local_log *log)
{
	if (!log || --log->refs > 0)
		return;
	mpijob__local_log_times_clear(&log->times);
	free(log->data);
	free(log);
}

static struct mpijob__local_log_bytes all_bytes(const struct mpijob__local_log *log)
{
	return (struct mpijob__local_log_bytes){ log->data, log->base, log->base + log->len };
}

void mpijob__local_logs_detach(struct mpijob__local_log *log)
{
	if (log)
		log->drained = NULL;
}

/* Drop the oldest bytes, up to the beginning of a line if there is one. */
static void trim(struct mpijob__local_log *log)
{
	size_t drop = log->len - MAX_KEPT;
	const char *line = memchr(log->data + drop, '\n', log->len - drop);
	struct mpijob__local_log_bytes all = all_bytes(log);

	if (line)
		drop = (size_t)(line - log->data) + 1;
	mpijob__local_log_times_trim(&log->times, &all, log->base + drop);
	log->len -= drop;
	log->base += drop;
	memmove(log->data, log->data + drop, log->len);
}

static int grow(struct mpijob__local_log *log, size_t more)
{
	size_t cap = log->cap ? log->cap : 4096;
	char *data;

	while (cap < log->len + more)
		cap *= 2;
	if (cap == log->cap)
		return 0;
	data = realloc(log->data, cap);
	if (!data)
		return MPIJOB_ERR_NOMEM;
	log->data = data;
	log->cap = cap;
	return 0;
}

static void wake_readers(struct mpijob__local_log *log)
{
	for (struct mpijob__base_list *link = log->readers.next; link->owner; link = link->next)
		mpijob__local_mark_ready(log->local, ((struct reader *)link->owner)->call);
}

static int append(struct mpijob__local_log *log, const char *data, size_t len)
{
	struct mpijob__local_log_bytes added = { data, log->base + log->len,
		log->base + log->len + len };

	if (grow(log, len))
		return MPIJOB_ERR_NOMEM;
	memcpy(log->data + log->len, data, len);
	log->len += len;
	mpijob__local_log_times_add(&log->times, &added, mpijob__base_clock_wall_ms());
	return 0;
}

/* Write a line about dropped bytes at their position. */
static int append_gap(struct mpijob__local_log *log)
{
	char *text =
	    log->lost
		? mpijob__base_text_format("\n[%zu bytes were lost: out of memory]\n", log->lost)
		: NULL;
	int rc = log->lost ? MPIJOB_ERR_NOMEM : 0;

	if (text)
		rc = append(log, text, strlen(text));
	if (!rc)
		log->lost = 0;
	free(text);
	return rc;
}

int mpijob__local_logs_write(struct mpijob__local_log *log, const char *data, size_t len)
{
	if (len == 0)
		return 0;
	if (append_gap(log) || append(log, data, len)) {
		log->lost += len;
		return MPIJOB_ERR_NOMEM;
	}
	if (log->len > MAX_KEPT + SLACK)
		trim(log);
	wake_readers(log);
	return 0;
}

void mpijob__local_logs_finish(struct mpijob__local_log *log)
{
	(void)append_gap(log);
	log->finished = 1;
	wake_readers(log);
}

static int has_lagging_reader(const struct mpijob__local_log *log)
{
	for (struct mpijob__base_list *link = log->readers.next; link->owner; link = link->next) {
		const struct reader *reader = link->owner;

		if (reader->follow && log->base + log->len - reader->offset > MAX_LAG)
			return 1;
	}
	return 0;
}

int mpijob__local_logs_is_full(struct mpijob__local_log *log)
{
	log->blocked = has_lagging_reader(log);
	return log->blocked;
}

char *mpijob__local_logs_tail(const struct mpijob__local_log *log, size_t lines, size_t bytes)
{
	size_t start = log->len;

	while (start > 0 && log->len - start < bytes) {
		if (log->data[start - 1] == '\n' && start < log->len && lines-- == 1)
			break;
		start--;
	}
	return mpijob__base_text_format("%.*s", (int)(log->len - start),
	    log->data ? log->data + start : "");
}

/* ---- readers ---- */

static void resume_writer(struct mpijob__local_log *log)
{
	if (!log->blocked || has_lagging_reader(log))
		return;
	log->blocked = 0;
	if (log->drained)
		log->drained(log->user);
}

static int send_gap(struct reader *reader, struct mpijob__local_call *call)
{
	struct mpijob__local_log *log = reader->log;
	char *text = mpijob__base_text_format("[%llu bytes are no longer kept]\n",
	    (unsigned long long)(log->base - reader->offset));
	int ended;

	if (!text)
		return MPIJOB_ERR_NOMEM;
	reader->offset = log->base;
	reader->in_line = 0;
	ended = mpijob__local_send_data(log->local, call, text, strlen(text));
	free(text);
	return ended ? 2 : 1;
}

static int put_time(struct reader *reader, mpijob_text *text)
{
	const struct mpijob__local_log_times *times = &reader->log->times;
	struct mpijob__local_log_bytes all = all_bytes(reader->log);
	char time[MPIJOB__BASE_TIME_NS_SIZE];

	/* Fast path: the line follows the one that was written last. */
	if (reader->line_ns && reader->next_line == reader->offset)
		reader->line_ns =
		    mpijob__local_log_times_next(times, reader->offset, reader->line_ns);
	else
		reader->line_ns = mpijob__local_log_times_at(times, &all, reader->offset);
	mpijob__local_log_times_format(reader->line_ns, time);
	reader->in_line = 1;
	if (mpijob_text_write(text, time, strlen(time)) || mpijob_text_write(text, " ", 1))
		return MPIJOB_ERR_NOMEM;
	return 0;
}

/* Copy at most `len` bytes, with times if the reader wants them. A copy is needed because the log
 * may grow while the data is reported. */
static int copy_chunk(struct reader *reader, mpijob_text *text, size_t len)
{
	const struct mpijob__local_log *log = reader->log;
	int rc = 0;

	while (len > 0 && !rc) {
		const char *from = log->data + (reader->offset - log->base);
		const char *end = reader->timestamps ? memchr(from, '\n', len) : NULL;
		size_t part = end ? (size_t)(end - from) + 1 : len;

		if (reader->timestamps && !reader->in_line)
			rc = put_time(reader, text);
		if (!rc)
			rc = mpijob_text_write(text, from, part);
		reader->offset += part;
		len -= part;
		if (end) {
			reader->in_line = 0;
			reader->next_line = reader->offset;
		}
	}
	return rc;
}

static int send_chunk(struct reader *reader, struct mpijob__local_call *call, size_t len)
{
	struct mpijob__local_log *log = reader->log;
	mpijob_text *text = mpijob_text_new();
	int rc = text ? copy_chunk(reader, text, len) : MPIJOB_ERR_NOMEM;
	int ended = rc ? 0
		       : mpijob__local_send_data(log->local, call, mpijob_text_data(text),
			     mpijob_text_len(text));

	mpijob_text_free(text);
	if (rc)
		return rc;
	if (ended)
		return 2;
	resume_writer(log);
	return 1;
}

static int feed(struct mpijob__local_stream *stream, struct mpijob__local_call *call)
{
	struct reader *reader = (struct reader *)stream;
	struct mpijob__local_log *log = reader->log;
	size_t left;

	if (reader->offset < log->base)
		return send_gap(reader, call);
	left = (size_t)(log->base + log->len - reader->offset);
	left = left < CHUNK ? left : CHUNK;
	left = left < reader->left ? left : (size_t)reader->left;
	if (left > 0) {
		reader->left -= left;
		return send_chunk(reader, call, left);
	}
	return log->finished || !reader->follow || reader->left == 0 ? 2 : 0;
}

static void close_reader(struct mpijob__local_stream *stream)
{
	struct reader *reader = (struct reader *)stream;
	struct mpijob__local_log *log = reader->log;

	mpijob__base_list_remove(&reader->link);
	resume_writer(log);
	mpijob__local_logs_unref(log);
	free(reader);
}

/* The offset of the last `lines` lines. */
static uint64_t tail_offset(const struct mpijob__local_log *log, int64_t lines)
{
	size_t at = log->len;

	while (at > 0) {
		if (log->data[at - 1] == '\n' && at < log->len && --lines <= 0)
			break;
		at--;
	}
	return log->base + at;
}

static uint64_t start_offset(const struct mpijob__local_log *log,
    const struct mpijob__local_log_options *options)
{
	struct mpijob__local_log_bytes all = all_bytes(log);
	uint64_t since = options->since_ns > INT64_MIN
			     ? mpijob__local_log_times_since(&log->times, &all, options->since_ns)
			     : 0;
	uint64_t tail = options->tail == 0  ? all.to
			: options->tail > 0 ? tail_offset(log, options->tail)
					    : 0;

	return since > tail ? since : tail;
}

static int read_log(struct mpijob__local_log *log, struct mpijob__local_call *call,
    const struct mpijob__local_log_options *options, struct mpijob__local_reply *reply)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return MPIJOB_ERR_NOMEM;
	reader->stream = (struct mpijob__local_stream){ feed, close_reader };
	reader->log = log;
	reader->call = call;
	reader->follow = options->follow && !options->previous;
	reader->timestamps = options->timestamps;
	reader->left = options->limit;
	reader->offset = start_offset(log, options);
	mpijob__local_logs_ref(log);
	mpijob__base_list_insert(log->readers.next, &reader->link, reader);
	reply->status = 200;
	reply->type = "text/plain";
	reply->stream = &reader->stream;
	return 0;
}

/* The name of the container `wanted`; without a name, that of the only container. NULL: unknown or
 * ambiguous. */
static const char *choose_container(const struct mpijob__local_object *pod, const char *wanted)
{
	static const char *const lists[] = { "spec.containers", "spec.initContainers" };
	const mpijob_node *containers = mpijob_node_find(mpijob_doc_root(pod->doc), lists[0]);

	if (!wanted || !*wanted)
		return mpijob_node_count(containers) == 1
			   ? mpijob_node_string(
				 mpijob_node_get(mpijob_node_at(containers, 0), "name"))
			   : NULL;
	for (size_t i = 0; i < 2; i++) {
		const mpijob_node *list = mpijob_node_find(mpijob_doc_root(pod->doc), lists[i]);

		for (size_t j = 0; j < mpijob_node_count(list); j++) {
			const char *name =
			    mpijob_node_string(mpijob_node_get(mpijob_node_at(list, j), "name"));

			if (name && strcmp(name, wanted) == 0)
				return name;
		}
	}
	return NULL;
}

int mpijob__local_logs_open(struct mpijob_local *local, struct mpijob__local_call *call,
    struct mpijob__local_object *pod, const struct mpijob__local_log_options *options,
    struct mpijob__local_reply *reply)
{
	const char *container = choose_container(pod, options->container);
	struct mpijob__local_log *log;

	if (!container && options->container && *options->container)
		return mpijob__local_reply_error(reply, 400, "BadRequest", pod->kind, pod->name,
		    mpijob__base_text_format("container %s is not in pod %s", options->container,
			pod->name));
	if (!container)
		return mpijob__local_reply_error(reply, 400, "BadRequest", pod->kind, pod->name,
		    mpijob__base_text_format("pod %s has several containers: name one", pod->name));
	log = mpijob__local_kubelet_log(local->kubelet, pod->uid, container, options->previous);
	if (log)
		return read_log(log, call, options, reply);
	return mpijob__local_reply_error(reply, 400, "BadRequest", pod->kind, pod->name,
	    options->previous
		? mpijob__base_text_format("container \"%s\" in pod \"%s\" did not run before",
		      container, pod->name)
		: mpijob__base_text_format("container \"%s\" in pod \"%s\" is waiting to start",
		      container, pod->name));
}
