/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for one object: a watch of its name, until somebody is content with what it says.
 *
 * Whatever breaks on the way is the watch's to mend; only what no waiting cures ends it: no permission, no
 * such kind. An object that a list does not hold does not exist, and that is a state like any other.
 */
#include "base/diag.h"
#include "base/struct.h"
#include "cluster/client.h"

#include <string.h>

struct waiting {
	mpijob_wait_fn ready;
	void *user;
	const char *name;
	mpijob_doc *doc; /* as it was told last; NULL: it does not exist */
	int seen;        /* it was in this list */
	int over;
	int code;        /* why it is over */
	int looked;      /* a list has come, or could not be had */
	int failure;     /* what failed last */
	mpijob_text why; /* of that */
};

static void decide(struct waiting *waiting)
{
	int rc = waiting->ready(waiting->user, waiting->doc ? mpijob_doc_root(waiting->doc) : NULL);

	if (rc == 0)
		return;
	waiting->over = 1;
	waiting->code = rc < 0 ? rc : 0;
}

static void when_begun(void *user)
{
	((struct waiting *)user)->seen = 0;
}

static int when_told(void *user, const struct mpijob_watch_event *event)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	struct waiting *waiting = user;
	mpijob_doc *doc = NULL;
	int rc = 0;

	/* Some servers do not do field selectors. */
	if (waiting->over || strcmp(event->name, waiting->name) != 0)
		return 0;
	waiting->seen = event->event != MPIJOB_WATCH_DELETED;
	if (waiting->seen) {
		options.format = MPIJOB_FORMAT_JSON;
		options.max_bytes = MPIJOB__CLIENT_BODY_LIMIT;
		rc = event->json ? mpijob_doc_parse(event->json, event->json_len, &options, &doc, NULL)
				 : MPIJOB_ERR_SYNTAX;
	}
	if (rc == MPIJOB_ERR_NOMEM)
		return rc;
	mpijob_doc_free(waiting->doc);
	waiting->doc = doc;
	if (rc == 0) {
		decide(waiting);
		return 0;
	}
	waiting->over = 1;
	waiting->code = waiting->failure = rc;
	return 0;
}

static int when_listed(void *user, const char *version)
{
	struct waiting *waiting = user;

	(void)version;
	waiting->looked = 1;
	if (waiting->over || waiting->seen)
		return 0;
	mpijob_doc_free(waiting->doc);
	waiting->doc = NULL;
	decide(waiting);
	return 0;
}

/* What waiting does not cure; and memory, which its caller may be able to free. */
static int is_final(const struct mpijob_answer *answer)
{
	return answer->code == MPIJOB_ERR_NOMEM || answer->code == MPIJOB_ERR_AUTH ||
	       answer->code == MPIJOB_ERR_UNSUPPORTED || answer->status == 404 ||
	       (answer->status == 0 && answer->code == MPIJOB_ERR_USAGE);
}

static void when_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct waiting *waiting = user;

	(void)what;
	waiting->looked = 1;
	waiting->failure = answer->code;
	mpijob_text_clear(&waiting->why);
	(void)mpijob__text_puts(&waiting->why, answer->message ? answer->message : mpijob_error_text(answer->code));
	if (waiting->over || !is_final(answer))
		return;
	waiting->over = 1;
	waiting->code = answer->code;
}

/* Milliseconds that are left, as a timeout of a poll. */
static int left(int64_t end_ms, int64_t now_ms)
{
	int64_t rest = end_ms == INT64_MAX ? -1 : end_ms - now_ms;

	return rest > 3600000 ? 3600000 : (int)rest;
}

static int run(mpijob_client *client, struct waiting *waiting, int64_t timeout_ms)
{
	int64_t now_ms = client->clock();
	int64_t end_ms = timeout_ms < 0 || timeout_ms > INT64_MAX - now_ms ? INT64_MAX : now_ms + timeout_ms;
	int rc = 0;

	while (rc == 0 && !waiting->over) {
		if (mpijob__client_cancelled(client))
			return MPIJOB_ERR_CANCELLED;
		now_ms = client->clock();
		if (timeout_ms == 0 && !waiting->looked)
			rc = mpijob_client_poll(client, -1);
		else if (now_ms >= end_ms)
			return MPIJOB_ERR_TIMEOUT;
		else
			rc = mpijob_client_poll(client, left(end_ms, now_ms));
	}
	return rc ? rc : waiting->code;
}

static void report(const struct waiting *waiting, int code, mpijob_diag *diag)
{
	const char *why = waiting->failure && code != MPIJOB_ERR_CANCELLED ? mpijob_text_data(&waiting->why) : "";

	mpijob__diag_addf(diag, MPIJOB_SEVERITY_ERROR, "wait-failed", NULL, NULL, NULL, "waiting ended: %s%s%s",
			  mpijob_error_text(code), *why ? "; the server said last: " : "", why);
}

static int check(const mpijob_client *client, const struct mpijob_target *given, struct mpijob_target *target)
{
	int rc;

	if (client->polling)
		return MPIJOB_ERR_USAGE;
	rc = mpijob__struct_check(target, sizeof(*target), given);
	if (rc == 0 && (!target->name || target->subresource))
		rc = MPIJOB_ERR_USAGE;
	return rc ? rc : mpijob__target_check(target);
}

int mpijob_client_wait(mpijob_client *client, const struct mpijob_target *target, int64_t timeout_ms,
		       mpijob_wait_fn ready, void *user, mpijob_doc **out, mpijob_diag *diag)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;
	struct waiting waiting = { .ready = ready, .user = user };
	struct mpijob_target known;
	mpijob_watch *watch = NULL;
	int rc = client && target && ready ? check(client, target, &known) : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	waiting.name = known.name;
	options.api_version = known.api_version;
	options.kind = known.kind;
	options.namespace_ = known.namespace_;
	options.name = known.name;
	options.object_limit = MPIJOB__CLIENT_BODY_LIMIT;
	options.seed = (uint64_t)client->clock();
	options.begin = when_begun;
	options.object = when_told;
	options.listed = when_listed;
	options.failed = when_failed;
	options.user = &waiting;
	rc = mpijob_watch_new(client, &options, &watch);
	if (rc)
		return rc;
	rc = run(client, &waiting, timeout_ms);
	mpijob_watch_free(watch);
	/* What ready() returned is his to explain. */
	if (rc && (!waiting.over || waiting.failure == rc))
		report(&waiting, rc, diag);
	if (rc == 0 && out) {
		*out = waiting.doc;
		waiting.doc = NULL;
	}
	mpijob_doc_free(waiting.doc);
	mpijob__text_release(&waiting.why);
	return rc;
}
