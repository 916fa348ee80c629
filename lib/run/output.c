/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follow the output of the launchers' containers.
 *
 * Only this file knows how: on a local cluster as bytes, one request for each run of a container,
 * because a line may be a prompt; elsewhere by lines, which continue after broken connections, one
 * launcher after the other. It keeps the end of the launcher's output for a diagnosis: Kubernetes
 * deletes the pod of a last attempt.
 */
#include "run/run.h"

#include <stdlib.h>

#define LONGEST     (64 << 10) /* bytes of a line that wait for its end */
#define OVERTAKE_MS 15000 /* an earlier launcher that prints nothing for this time is overtaken */
#define TAIL_LINES  10    /* of a worker that fails */

/* ---- events ---- */

static void emit(const struct mpijob__run_container *container, const char *data, size_t len,
    int whole, int32_t attempt)
{
	struct mpijob_run_event event = { .size = sizeof(event), .kind = MPIJOB_RUN_OUTPUT };

	event.pod = container->pod->name;
	event.container = container->name;
	event.is_main = container->is_main;
	event.data = data;
	event.len = len;
	event.whole = whole;
	event.attempt = attempt;
	mpijob__run_emit(container->pod->run, &event);
}

static void keep_end(struct mpijob__run_tail *tail, const char *data, size_t len)
{
	if (!tail->data)
		tail->data = malloc(2 * MPIJOB__RUN_TAIL);
	if (!tail->data)
		return; /* the diagnosis has less to read */
	if (len > MPIJOB__RUN_TAIL) {
		data += len - MPIJOB__RUN_TAIL;
		len = MPIJOB__RUN_TAIL;
	}
	if (tail->len + len > 2 * MPIJOB__RUN_TAIL) {
		memmove(tail->data, tail->data + tail->len - MPIJOB__RUN_TAIL, MPIJOB__RUN_TAIL);
		tail->len = MPIJOB__RUN_TAIL;
	}
	memcpy(tail->data + tail->len, data, len);
	tail->len += len;
}

/* Emit the lines of a container whose output comes as bytes. */
static void emit_lines(struct mpijob__run_container *container, const char *data, size_t len)
{
	while (len > 0) {
		const char *end = memchr(data, '\n', len);
		size_t part = end ? (size_t)(end - data) : len;

		if (mpijob_text_write(container->line, data, part))
			mpijob__run_fail(container->pod->run, MPIJOB_ERR_NOMEM);
		if (end || mpijob_text_len(container->line) >= LONGEST) {
			emit(container, mpijob_text_data(container->line),
			    mpijob_text_len(container->line), end != NULL,
			    (int32_t)container->started - 1);
			mpijob_text_clear(container->line);
		}
		part += end != NULL;
		data += part;
		len -= part;
	}
}

static void note_output(struct mpijob__run_container *container, const char *data, size_t len)
{
	struct mpijob_run *run = container->pod->run;

	run->output_ms = container->output_ms = mpijob__run_now_ms(run);
	if (!container->is_main)
		return;
	if (run->pods.last_pod != container->pod->name)
		run->pods.last.len = 0;
	run->pods.last_pod = container->pod->name;
	keep_end(&run->pods.last, data, len);
}

/* ---- one run as bytes ---- */

static int on_data(void *user, const char *data, size_t len)
{
	struct mpijob__run_container *container = user;

	note_output(container, data, len);
	if (container->is_main)
		emit(container, data, len, 0, (int32_t)container->started - 1);
	else
		emit_lines(container, data, len);
	return container->pod->run->code;
}

static void report_lost(const struct mpijob__run_container *container, int code,
    const char *message)
{
	if (!container->pod->deleted)
		mpijob__run_notice(container->pod->run, container->pod->name, container->name, code,
		    "the output of pod %s was lost: %s", container->pod->name,
		    message ? message : mpijob_error_text(code));
}

static void on_done(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__run_container *container = user;

	container->call = NULL;
	if (mpijob_text_len(container->line))
		emit_lines(container, "\n", 1);
	if (answer->code)
		report_lost(container, answer->code, answer->message);
	mpijob__run_wake(container->pod->run);
}

/* ---- all runs by lines ---- */

static int on_line(void *user, const struct mpijob_log_line *line)
{
	struct mpijob__run_container *container = user;

	note_output(container, line->text, line->len);
	if (line->whole)
		note_output(container, "\n", 1);
	emit(container, line->text, line->len, line->whole, line->attempt);
	free(container->trouble);
	container->trouble = NULL;
	return container->pod->run->code;
}

static void on_failed(void *user, const char *pod, const char *name, int code, const char *message,
    int again)
{
	struct mpijob__run_container *container = user;
	struct mpijob_run *run = container->pod->run;

	(void)pod;
	(void)name;
	mpijob__run_wake(run);
	if (!again) {
		report_lost(container, code, message);
		return;
	}
	if (!container->trouble)
		container->trouble_ms = mpijob__run_now_ms(run);
	free(container->trouble);
	container->trouble =
	    mpijob__base_text_format("%s", message ? message : mpijob_error_text(code));
}

static int start_logs(struct mpijob__run_container *container, int follow,
    const int64_t *tail_lines, int (*line)(void *user, const struct mpijob_log_line *line),
    mpijob_logs **out)
{
	struct mpijob_logs_options options = MPIJOB_LOGS_OPTIONS_INIT;
	const char *pods[] = { container->pod->name };
	struct mpijob_run *run = container->pod->run;

	options.namespace_ = run->namespace_;
	options.pods = pods;
	options.pods_count = 1;
	options.container = container->name;
	options.follow = follow;
	options.tail_lines = tail_lines;
	options.line = line;
	options.failed = on_failed;
	options.user = container;
	return mpijob_logs_new(run->client, &options, out);
}

/* ---- following ---- */

static int is_open(const struct mpijob__run_container *container)
{
	return container->queued || container->call ||
	       (container->logs && mpijob_logs_state(container->logs, NULL) > 0);
}

/* Whether the output of an earlier launcher still comes. */
static int is_behind_another(const struct mpijob__run_container *container)
{
	struct mpijob_run *run = container->pod->run;
	int64_t since_ms = mpijob__run_now_ms(run) - OVERTAKE_MS;

	if (!container->is_main)
		return 0;
	for (const struct mpijob__run_pod *pod = container->pod->launcher; pod; pod = pod->launcher)
		for (const struct mpijob__run_container *other = pod->containers; other;
		     other = other->next)
			if (other->is_main && is_open(other) &&
			    (other->queued || run->paused || other->output_ms > since_ms))
				return 1;
	return 0;
}

static void pause_one(struct mpijob__run_container *container)
{
	struct mpijob_run *run = container->pod->run;

	container->output_ms = mpijob__run_now_ms(run);
	if (container->call)
		mpijob_call_pause(container->call, run->paused);
	if (container->logs)
		mpijob_logs_pause(container->logs, run->paused);
}

static void follow_lines(struct mpijob__run_container *container)
{
	int rc;

	container->queued = is_behind_another(container);
	if (container->queued)
		return;
	container->output_ms = mpijob__run_now_ms(container->pod->run);
	rc = start_logs(container, 1, NULL, on_line, &container->logs);
	if (rc)
		mpijob__run_fail(container->pod->run, rc);
	if (container->pod->run->paused)
		pause_one(container);
}

/* Of a run that started and ended between two observations, the cluster keeps the last one. */
static void follow_bytes(struct mpijob__run_container *container, int64_t started)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), on_data, on_done, container };
	struct mpijob_run *run = container->pod->run;
	int previous = started > container->started + 1, rc;

	container->started = previous ? started - 1 : started;
	rc = mpijob__run_stream_log(run, container->pod->name, container->name, previous,
	    &callbacks, &container->call);
	if (rc)
		mpijob__run_fail(run, rc);
	else if (run->paused)
		pause_one(container);
}

void mpijob__run_output_follow(struct mpijob__run_container *container, int64_t started)
{
	struct mpijob_run *run = container->pod->run;

	if (run->result.given_up || container->call || started <= container->started)
		return;
	if (run->local) {
		follow_bytes(container, started);
		return;
	}
	container->started = started;
	if (!container->logs)
		follow_lines(container);
}

/* Call `act` for each container of a launcher. */
#define EACH_CONTAINER(run, pod, container)                                                 \
	for (struct mpijob__run_pod *pod = (run)->pods.launchers; pod; pod = pod->launcher) \
		for (struct mpijob__run_container *container = pod->containers; container;  \
		     container = container->next)

int mpijob__run_output_start_queued(struct mpijob_run *run)
{
	int queued = 0;

	EACH_CONTAINER(run, pod, container)
	if (container->queued) {
		follow_lines(container);
		queued |= container->queued;
	}
	return queued;
}

int mpijob__run_output_is_open(const struct mpijob_run *run)
{
	EACH_CONTAINER(run, pod, container)
	if (is_open(container))
		return 1;
	return run->pods.tail.logs && mpijob_logs_state(run->pods.tail.logs, NULL) > 0;
}

int mpijob__run_output_is_alive(const struct mpijob_run *run, int64_t silent_ms)
{
	int64_t since_ms = mpijob__run_now_ms(run) - silent_ms;

	EACH_CONTAINER(run, pod, container)
	if (is_open(container) && (!container->trouble || container->trouble_ms > since_ms))
		return 1;
	return 0;
}

void mpijob__run_output_report_missing(struct mpijob_run *run)
{
	EACH_CONTAINER(run, pod, container)
	if (is_open(container))
		mpijob__run_notice(run, pod->name, container->name, MPIJOB_ERR_TIMEOUT,
		    "the output of pod %s is not complete: %s", pod->name,
		    container->trouble ? container->trouble : "it did not end in time");
}

void mpijob__run_output_pause(struct mpijob_run *run)
{
	EACH_CONTAINER(run, pod, container)
	pause_one(container);
}

void mpijob__run_output_free(struct mpijob__run_container *container)
{
	if (container->call)
		mpijob_call_cancel(container->call);
	mpijob_logs_free(container->logs);
	mpijob_text_free(container->line);
	free(container->name);
	free(container->waits_for);
	free(container->trouble);
	free(container);
}

/* ---- the last lines of a worker ---- */

static int on_last_line(void *user, const struct mpijob_log_line *line)
{
	struct mpijob__run_container *container = user;
	struct mpijob_run *run = container->pod->run;

	if (!run->pods.tail.printed)
		mpijob__run_notice(run, container->pod->name, container->name, 0,
		    "the last lines of container %s of pod %s:", container->name,
		    container->pod->name);
	run->pods.tail.printed = 1;
	emit(container, line->text, line->len, 1, line->attempt);
	return run->code;
}

void mpijob__run_output_show_worker(struct mpijob__run_container *container)
{
	static const int64_t lines = TAIL_LINES;
	struct mpijob_run *run = container->pod->run;
	int rc;

	if (run->pods.tail.logs)
		return;
	rc = start_logs(container, 0, &lines, on_last_line, &run->pods.tail.logs);
	if (rc)
		mpijob__run_fail(run, rc);
}
