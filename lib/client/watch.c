/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a watch: what it does next, how long it waits after a failure, what its owner is
 * told.
 *
 * It lists (watch_list.c), or has the list streamed (watch_stream.c), and then watches from the
 * list's version on. After a failure it waits 0.8 s, doubled each time up to 30 s, times one to
 * two, until two minutes went well. When the server could not be reached, and then answers somebody
 * else, it waits no longer. It tries again by its own rules, so the client's retries are not used.
 * Its owner may free it from inside of any callback; it then goes when the last of them has
 * returned.
 */
#include "client/target.h"
#include "client/watch.h"

#include "base/struct.h"
#include "client/client.h"
#include "client/status.h"

#include <stdlib.h>
#include <string.h>

#define BACKOFF_FIRST_MS    800
#define BACKOFF_LAST_MS     30000
#define NOMEM_MS            100
#define HURRY_MS            500
#define HEALTHY_MS          120000
#define RETRY_AFTER_MOST_MS 300000
#define OBJECT_LIMIT        ((size_t)8 << 20)

/* --- make and free --- */

static int copy(const char *from, const char **to)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? MPIJOB_ERR_NOMEM : 0;
}

/* A name in a field selector: commas, equals signs and backslashes have a meaning there. */
static int name_selector(const char *name, char **out)
{
	mpijob_text text = { 0 };
	int rc = mpijob__base_text_puts(&text, "metadata.name=");

	for (; rc == 0 && *name; name++) {
		if (*name == ',' || *name == '=' || *name == '\\')
			rc = mpijob__base_text_puts(&text, "\\");
		if (rc == 0)
			rc = mpijob_text_write(&text, name, 1);
	}
	if (rc) {
		mpijob__base_text_release(&text);
		return rc;
	}
	*out = text.data;
	return 0;
}

/* These go into JSON as they are. */
static int is_plain(const char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
			return 0;
	return 1;
}

/* What cannot be named is found here, not by a server. */
static int check_options(const struct mpijob_watch_options *options)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	if (!options->api_version || !options->kind || !options->object ||
	    !is_plain(options->api_version) || !is_plain(options->kind))
		return MPIJOB_ERR_USAGE;
	target.api_version = options->api_version;
	target.kind = options->kind;
	target.plural = options->plural;
	target.scope = options->scope;
	target.namespace_ = options->namespace_;
	if (options->name && !options->namespace_)
		target.namespace_ = "any";
	target.name = options->name;
	return mpijob__client_target_check(&target);
}

static void destroy(mpijob_watch *watch)
{
	mpijob__client_split_release(&watch->split);
	mpijob__base_text_release(&watch->version);
	mpijob__base_text_release(&watch->page);
	free((char *)watch->options.api_version);
	free((char *)watch->options.kind);
	free((char *)watch->options.namespace_);
	free((char *)watch->options.name);
	free((char *)watch->options.label_selector);
	free((char *)watch->options.plural);
	free(watch->field_selector);
	free(watch);
}

static int copy_options(mpijob_watch *watch, const struct mpijob_watch_options *from)
{
	struct mpijob_watch_options *to = &watch->options;
	int rc = 0;

	*to = *from;
	rc |= copy(from->api_version, &to->api_version);
	rc |= copy(from->kind, &to->kind);
	rc |= copy(from->namespace_, &to->namespace_);
	rc |= copy(from->name, &to->name);
	rc |= copy(from->label_selector, &to->label_selector);
	rc |= copy(from->plural, &to->plural);
	if (rc == 0 && from->name)
		rc = name_selector(from->name, &watch->field_selector);
	return rc ? MPIJOB_ERR_NOMEM : 0;
}

int mpijob_watch_new(mpijob_client *client, const struct mpijob_watch_options *options,
    mpijob_watch **out)
{
	struct mpijob_watch_options known;
	mpijob_watch *watch;
	int rc = client && options && out
		     ? mpijob__base_struct_check(&known, sizeof(known), options)
		     : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = check_options(&known);
	if (rc)
		return rc;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return MPIJOB_ERR_NOMEM;
	if (copy_options(watch, &known)) {
		destroy(watch);
		return MPIJOB_ERR_NOMEM;
	}
	if (watch->options.object_limit == 0)
		watch->options.object_limit = OBJECT_LIMIT;
	watch->client = client;
	watch->dice = known.seed;
	watch->need_list = 1;
	watch->backoff_ms = BACKOFF_FIRST_MS;
	watch->healthy_ms = INT64_MIN;
	watch->due_ms = INT64_MIN;
	watch->next = client->watches;
	if (client->watches)
		client->watches->prev = watch;
	client->watches = watch;
	*out = watch;
	return 0;
}

void mpijob__client_watch_detach(mpijob_watch *watch)
{
	mpijob_client *client = watch->client;

	if (client->next_watch == watch)
		client->next_watch = watch->next;
	if (watch->prev)
		watch->prev->next = watch->next;
	else
		client->watches = watch->next;
	if (watch->next)
		watch->next->prev = watch->prev;
	if (watch->call)
		mpijob_call_cancel(watch->call);
	watch->call = NULL;
	watch->client = NULL;
	watch->state = MPIJOB__CLIENT_WATCH_ENDED;
	watch->due_ms = INT64_MAX;
}

void mpijob_watch_free(mpijob_watch *watch)
{
	if (!watch || watch->freed)
		return;
	if (watch->client)
		mpijob__client_watch_detach(watch);
	watch->freed = 1;
	if (!watch->busy)
		destroy(watch);
}

int mpijob_watch_synced(const mpijob_watch *watch)
{
	return watch ? watch->synced : 0;
}

int mpijob_watch_hopeless(const mpijob_watch *watch)
{
	return watch ? watch->hopeless : 0;
}

void mpijob__client_watch_enter(mpijob_watch *watch)
{
	watch->busy++;
}

int mpijob__client_watch_leave(mpijob_watch *watch)
{
	if (--watch->busy || !watch->freed)
		return 0;
	destroy(watch);
	return 1;
}

mpijob_watch *mpijob__client_watch_next(const mpijob_watch *watch)
{
	return watch->next;
}

int64_t mpijob__client_watch_silent_ms(const mpijob_watch *watch)
{
	return watch->synced && watch->client ? watch->client->clock() - watch->heard_ms : -1;
}

/* Not all at once. */
void mpijob__client_watch_retry_now(mpijob_watch *watch)
{
	int64_t soon_ms;

	if (watch->state != MPIJOB__CLIENT_WATCH_WAITING ||
	    watch->trouble != MPIJOB_ERR_UNREACHABLE)
		return;
	soon_ms = watch->client->clock() + (int64_t)(mpijob__client_watch_random(watch) % HURRY_MS);
	if (soon_ms < watch->due_ms)
		watch->due_ms = soon_ms;
	/* it may refuse for a moment what it does not know yet */
	watch->backoff_ms = BACKOFF_FIRST_MS;
}

int mpijob__client_watch_failure_code(const mpijob_watch *watch)
{
	return watch->trouble;
}

int64_t mpijob__client_watch_due_ms(const mpijob_watch *watch)
{
	return watch->due_ms;
}

/* --- what its owner is told --- */

void mpijob__client_watch_begin_list(mpijob_watch *watch)
{
	if (watch->begun)
		return;
	watch->begun = 1;
	if (watch->options.begin)
		watch->options.begin(watch->options.user);
}

void mpijob__client_watch_report_failure(mpijob_watch *watch, const struct mpijob_answer *answer,
    const char *what)
{
	int64_t now_ms = watch->client ? watch->client->clock() : 0;
	int had_hope = !watch->hopeless, same;

	watch->hopeless =
	    watch->state == MPIJOB__CLIENT_WATCH_ENDED ||
	    mpijob__client_retry_budget_exhausted(&watch->patience, answer->code, now_ms);
	same = watch->told_code == answer->code && watch->told_status == answer->status &&
	       !(watch->hopeless && had_hope);
	watch->told_code = watch->trouble = answer->code;
	watch->told_status = answer->status;
	if (same || watch->freed)
		return;
	if (watch->client)
		watch->client->reported = 1;
	if (watch->options.failed)
		watch->options.failed(watch->options.user, answer, what);
}

/* Its owner has enough, with a code of his. */
static int end(mpijob_watch *watch, int code, const char *what)
{
	struct mpijob_answer answer = { 0 };

	watch->state = MPIJOB__CLIENT_WATCH_ENDED;
	watch->due_ms = INT64_MAX;
	answer.size = sizeof(answer);
	answer.body = "";
	answer.code = code;
	answer.message = mpijob_error_text(code);
	watch->told_code = 0;
	mpijob__client_watch_report_failure(watch, &answer, what);
	return MPIJOB_ERR_CANCELLED;
}

static int judge(mpijob_watch *watch, int code, const char *what)
{
	if (watch->freed || watch->state == MPIJOB__CLIENT_WATCH_ENDED)
		return MPIJOB_ERR_CANCELLED;
	/* An object that cannot be read is a garbled stream, like any other. */
	return code == 0 || code == MPIJOB_ERR_NOMEM || code == MPIJOB_ERR_SYNTAX
		   ? code
		   : end(watch, code, what);
}

int mpijob__client_watch_report_object(mpijob_watch *watch, int event,
    const struct mpijob__client_split_object *object, const char *what)
{
	struct mpijob_watch_event told = { sizeof(told), event, object->json, object->len,
		object->whole, object->uid, object->name, object->namespace_,
		object->resource_version };

	return judge(watch, watch->options.object(watch->options.user, &told), what);
}

void mpijob__client_watch_recovered(mpijob_watch *watch)
{
	watch->trouble = watch->hopeless = 0;
	mpijob__client_retry_budget_grant(&watch->patience);
}

int mpijob__client_watch_complete_list(mpijob_watch *watch, const char *version)
{
	int rc = 0;

	mpijob__client_watch_begin_list(watch);
	if (!watch->freed && watch->options.listed)
		rc = watch->options.listed(watch->options.user, version);
	rc = judge(watch, rc, "list");
	if (rc == 0)
		rc = mpijob__client_watch_set_text(&watch->version, version);
	if (rc)
		return rc;
	watch->heard_ms = watch->client->clock();
	mpijob__client_watch_recovered(watch);
	watch->need_list = watch->any_version = watch->list_once = watch->whole = watch->begun = 0;
	watch->synced = 1;
	watch->told_code = watch->told_status = 0;
	return 0;
}

/* --- when to go on --- */

uint64_t mpijob__client_watch_random(mpijob_watch *watch)
{
	/* splitmix64 */
	uint64_t z = (watch->dice += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void wait_for(mpijob_watch *watch, int64_t wait_ms)
{
	watch->call = NULL;
	mpijob__client_split_release(&watch->split);
	if (watch->state == MPIJOB__CLIENT_WATCH_ENDED)
		return;
	watch->state = MPIJOB__CLIENT_WATCH_WAITING;
	watch->due_ms = wait_ms ? watch->client->clock() + wait_ms : INT64_MIN;
}

void mpijob__client_watch_continue(mpijob_watch *watch)
{
	wait_for(watch, 0);
}

/* Memory ran out here: the server is not to be spared, and nothing was learned about it. */
void mpijob__client_watch_wait_for_memory(mpijob_watch *watch)
{
	wait_for(watch, NOMEM_MS);
}

void mpijob__client_watch_mark_healthy(mpijob_watch *watch)
{
	if (watch->healthy_ms == INT64_MIN)
		watch->healthy_ms = watch->started_ms;
}

void mpijob__client_watch_back_off(mpijob_watch *watch, int64_t at_least_ms)
{
	int64_t wait_ms;

	if (watch->state == MPIJOB__CLIENT_WATCH_ENDED) {
		wait_for(watch, 0);
		return;
	}
	if (watch->healthy_ms != INT64_MIN &&
	    watch->client->clock() - watch->healthy_ms > HEALTHY_MS)
		watch->backoff_ms = BACKOFF_FIRST_MS;
	watch->healthy_ms = INT64_MIN;
	watch->client->unreachable |= watch->trouble == MPIJOB_ERR_UNREACHABLE;
	wait_ms = watch->backoff_ms +
		  (int64_t)(mpijob__client_watch_random(watch) % (uint64_t)watch->backoff_ms);
	watch->backoff_ms =
	    watch->backoff_ms * 2 > BACKOFF_LAST_MS ? BACKOFF_LAST_MS : watch->backoff_ms * 2;
	if (at_least_ms > RETRY_AFTER_MOST_MS)
		at_least_ms = RETRY_AFTER_MOST_MS;
	wait_for(watch, wait_ms < at_least_ms ? at_least_ms : wait_ms);
}

/* --- requests --- */

size_t mpijob__client_watch_add_query(const char **query, size_t count, const char *name,
    const char *value)
{
	query[count] = name;
	query[count + 1] = value;
	return count + 2;
}

int mpijob__client_watch_set_text(mpijob_text *text, const char *value)
{
	if (mpijob__base_text_reserve(text, strlen(value)))
		return MPIJOB_ERR_NOMEM;
	text->len = 0;
	text->data[0] = 0;
	return mpijob__base_text_puts(text, value);
}

int mpijob__client_watch_expired(const struct mpijob_answer *answer)
{
	return answer->status == 410 ||
	       (answer->reason &&
		   (strcmp(answer->reason, "Expired") == 0 || strcmp(answer->reason, "Gone") == 0));
}

int mpijob__client_watch_too_large(const struct mpijob_answer *answer)
{
	return answer->status == 504 &&
	       ((answer->message && strstr(answer->message, "Too large resource version")) ||
		   (answer->body && strstr(answer->body, "\"ResourceVersionTooLarge\"")));
}

int mpijob__client_watch_send(mpijob_watch *watch, const char *const *query, size_t count,
    int streaming, const struct mpijob_callbacks *callbacks)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	const char *all[24];
	mpijob_text path = { 0 };
	int rc;

	memcpy(all, query, count * sizeof(*all));
	if (watch->field_selector) {
		all[count++] = "fieldSelector";
		all[count++] = watch->field_selector;
	}
	if (watch->options.label_selector) {
		all[count++] = "labelSelector";
		all[count++] = watch->options.label_selector;
	}
	target.api_version = watch->options.api_version;
	target.kind = watch->options.kind;
	target.plural = watch->options.plural;
	target.scope = watch->options.scope;
	target.namespace_ = watch->options.namespace_;
	target.query = all;
	target.query_count = count;
	rc = mpijob_target_write(&target, mpijob_text_write, &path);
	if (rc == 0) {
		request.method = "GET";
		request.path = mpijob_text_data(&path);
		request.streaming = streaming;
		request.fresh = watch->fresh;
		rc = mpijob__client_call_start(watch->client, &request,
		    MPIJOB__CLIENT_CALL_NO_RETRY, callbacks, &watch->call);
	}
	if (rc == 0)
		watch->fresh = 0;
	mpijob__base_text_release(&path);
	return rc;
}

static int start(mpijob_watch *watch)
{
	if (!watch->need_list)
		return mpijob__client_watch_start_stream(watch, 0);
	if (watch->streams_refused || watch->list_once || watch->page.len)
		return mpijob__client_watch_start_list(watch);
	return mpijob__client_watch_start_stream(watch, 1);
}

/* Too long without a word, or open longer than the server should have left it. */
static void give_up_stream(mpijob_watch *watch)
{
	mpijob_call_cancel(watch->call);
	if (watch->state == MPIJOB__CLIENT_WATCH_LISTING_STREAM) {
		/* A server that does not know streamed lists just watches. */
		watch->streams_refused |= !watch->events;
		watch->list_once = 1;
		watch->begun = 0;
	} else {
		watch->fresh = 1; /* whoever takes the bytes there does not hand them on */
	}
	mpijob__client_watch_continue(watch);
}

void mpijob__client_watch_step(mpijob_watch *watch)
{
	int64_t now_ms;
	struct mpijob_answer answer = { 0 };

	if (watch->due_ms == INT64_MAX)
		return;
	now_ms = watch->client->clock();
	if (now_ms < watch->due_ms)
		return;
	if (watch->state == MPIJOB__CLIENT_WATCH_LISTING_STREAM ||
	    watch->state == MPIJOB__CLIENT_WATCH_WATCHING)
		give_up_stream(watch);
	watch->started_ms = now_ms;
	answer.size = sizeof(answer);
	answer.body = "";
	answer.code = start(watch);
	if (answer.code == 0)
		return;
	answer.message = mpijob_error_text(answer.code);
	mpijob__client_watch_enter(watch);
	mpijob__client_watch_report_failure(watch, &answer, watch->need_list ? "list" : "watch");
	if (watch->freed)
		mpijob__client_split_release(&watch->split);
	else if (answer.code == MPIJOB_ERR_NOMEM)
		mpijob__client_watch_wait_for_memory(watch);
	else
		mpijob__client_watch_back_off(watch, 0);
	mpijob__client_watch_leave(watch);
}
