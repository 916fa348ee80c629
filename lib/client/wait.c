/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wait for one object: a watch of its name, until the caller accepts its state.
 *
 * The watch recovers from failures. Only failures that never recover end the wait, and the watch
 * knows them: a missing right, an unknown kind. An object that is not in the list does not exist,
 * and that is a state like any other.
 */
#include "core/diag.h"
#include "base/struct.h"
#include "client/target.h"
#include "client/task.h"
#include "client/timer.h"

#include <string.h>

struct waiting {
	mpijob_task task;
	struct mpijob_target target; /* the task owns the strings */
	mpijob_wait_fn ready;
	void *user;
	mpijob_watch *watch;
	mpijob_timer timer;
	mpijob_doc *doc; /* the last reported state; NULL: it does not exist */
	int seen;        /* the current list has the object */
	int once;        /* end after the first state */
	int failure;     /* the last failure */
	mpijob_text why; /* of this failure */
};

static void report(const struct waiting *waiting, int code)
{
	const char *why =
	    waiting->failure && code != MPIJOB_ERR_CANCELLED ? mpijob_text_data(&waiting->why) : "";

	mpijob__core_diag_addf(waiting->task.diag, MPIJOB_SEVERITY_ERROR, "wait-failed", NULL, NULL,
	    NULL, "waiting ended: %s%s%s", mpijob_error_text(code),
	    *why ? "; the server said last: " : "", why);
}

static void cancel_wait(mpijob_task *task, int code)
{
	report((struct waiting *)task, code);
	mpijob__client_task_finish(task, code);
}

/* 1: the wait has ended and is freed. */
static int decide(struct waiting *waiting)
{
	int rc = waiting->ready(waiting->user, waiting->doc ? mpijob_doc_root(waiting->doc) : NULL);

	if (rc == 0)
		return 0;
	if (rc > 0) {
		waiting->task.doc = waiting->doc;
		waiting->doc = NULL;
	}
	/* The caller explains what its ready() returned. */
	if (rc < 0 && rc == waiting->failure)
		report(waiting, rc);
	mpijob__client_task_finish(&waiting->task, rc < 0 ? rc : 0);
	return 1;
}

static void when_begun(void *user)
{
	((struct waiting *)user)->seen = 0;
}

static int take_object(void *user, const struct mpijob_watch_event *event)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	struct waiting *waiting = user;
	mpijob_doc *doc = NULL;
	int rc = 0;

	/* Some servers ignore field selectors. */
	if (strcmp(event->name, waiting->target.name) != 0)
		return 0;
	waiting->seen = event->event != MPIJOB_WATCH_DELETED;
	if (waiting->seen) {
		options.format = MPIJOB_FORMAT_JSON;
		options.max_bytes = MPIJOB__CLIENT_BODY_LIMIT;
		rc = event->json
			 ? mpijob_doc_parse(event->json, event->json_len, &options, &doc, NULL)
			 : MPIJOB_ERR_SYNTAX;
	}
	if (rc)
		return rc;
	mpijob_doc_free(waiting->doc);
	waiting->doc = doc;
	(void)decide(waiting);
	return 0;
}

static int when_listed(void *user, const char *version)
{
	struct waiting *waiting = user;

	(void)version;
	if (!waiting->seen) {
		mpijob_doc_free(waiting->doc);
		waiting->doc = NULL;
		if (decide(waiting))
			return 0;
	}
	if (waiting->once)
		cancel_wait(&waiting->task, MPIJOB_ERR_TIMEOUT);
	return 0;
}

static void when_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct waiting *waiting = user;

	(void)what;
	waiting->failure = answer->code;
	mpijob_text_clear(&waiting->why);
	(void)mpijob__base_text_puts(&waiting->why,
	    answer->message ? answer->message : mpijob_error_text(answer->code));
	/* Failures that never recover; and out of memory, because the caller may be able to free
	 * some. */
	if (mpijob_watch_health_get(waiting->watch)->hopeless || answer->code == MPIJOB_ERR_NOMEM)
		cancel_wait(&waiting->task, answer->code);
	else if (waiting->once)
		cancel_wait(&waiting->task, MPIJOB_ERR_TIMEOUT);
}

static void when_late(void *user)
{
	cancel_wait(user, MPIJOB_ERR_TIMEOUT);
}

static void release(mpijob_task *task)
{
	struct waiting *waiting = (struct waiting *)task;

	mpijob_timer_set(&waiting->timer, INT64_MAX);
	mpijob_watch_free(waiting->watch);
	mpijob_doc_free(waiting->doc);
	mpijob__base_text_release(&waiting->why);
}

static int begin(struct waiting *waiting, int64_t timeout_ms)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;
	mpijob_client *client = waiting->task.client;
	int64_t now_ms = client->clock();
	int rc;

	options.api_version = waiting->target.api_version;
	options.kind = waiting->target.kind;
	options.namespace_ = waiting->target.namespace_;
	options.name = waiting->target.name;
	options.object_limit = MPIJOB__CLIENT_BODY_LIMIT;
	options.seed = (uint64_t)now_ms;
	options.begin = when_begun;
	options.object = take_object;
	options.listed = when_listed;
	options.failed = when_failed;
	options.user = waiting;
	rc = mpijob_watch_new(client, &options, &waiting->watch);
	if (rc)
		return rc;
	waiting->once = timeout_ms == 0;
	mpijob__client_timer_init(&waiting->timer, client, when_late, waiting);
	if (timeout_ms > 0 && timeout_ms <= INT64_MAX - now_ms)
		mpijob_timer_set(&waiting->timer, now_ms + timeout_ms);
	return MPIJOB__CLIENT_TASK_WAITS;
}

static int check(const struct mpijob_target *given)
{
	struct mpijob_target target;
	int rc = mpijob__base_struct_check(&target, sizeof(target), given);

	if (rc == 0 && (!target.name || target.subresource))
		rc = MPIJOB_ERR_USAGE;
	return rc ? rc : mpijob__client_target_check(&target);
}

int mpijob_client_wait_start(mpijob_client *client, const struct mpijob_target *target,
    int64_t timeout_ms, mpijob_wait_fn ready, void *user,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag)
{
	struct waiting *waiting;
	mpijob_task *task = NULL;
	int rc = client && target && ready ? check(target) : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = mpijob__client_task_new(sizeof(*waiting), client, callbacks, out, diag, &task);
	if (rc)
		return rc;
	waiting = (struct waiting *)task;
	task->cancel_step = cancel_wait;
	task->release = release;
	waiting->ready = ready;
	waiting->user = user;
	rc = mpijob__client_task_copy_target(task, target, &waiting->target);
	return mpijob__client_task_started(task, rc ? rc : begin(waiting, timeout_ms));
}
