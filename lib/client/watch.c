/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a watch, how long it backs off, and what it reports to the caller.
 *
 *   WAITING ---------- due, upcoming is LISTING ---------------------> LISTING
 *   WAITING ---------- due, upcoming is LISTING_STREAM --------------> LISTING_STREAM
 *   WAITING ---------- due, upcoming is WATCHING --------------------> WATCHING
 *   LISTING_STREAM --- bookmark that ends the list ------------------> WATCHING
 *   any of the three - the request ends, fails or is silent too long > WAITING, with
 *
 *     from             after                                upcoming
 *     LISTING          a page that is not the last          LISTING
 *     LISTING          the last page                        WATCHING
 *     LISTING          a failure                            LISTING
 *     LISTING_STREAM   429, no answer, version expired      LISTING_STREAM
 *     LISTING_STREAM   another failure, or silence          LISTING (no_streamed_lists or not)
 *     WATCHING         end of the stream, silence           WATCHING, from the last version
 *     WATCHING         version expired or too new, 4xx but  LISTING_STREAM, else LISTING: relist
 *                      429, or 500 three times in turn
 *     WATCHING         another failure                      WATCHING, from the last version
 *
 *   any -------------- a callback returns a code, or client is freed > ENDED
 *   any -------------- mpijob_watch_free() inside of a callback -----> FREED, until it returns
 *
 * The end of a stream is normal, and the next one starts at once, unless the stream lasted less
 * than a second without an event: that is a failure. After a failure the watch waits 0.8 s, doubled
 * each time up to 30 s, times one to two, until requests have succeeded for two minutes. When the
 * server was unreachable and then answers any request of the client, the watch retries at once. It
 * has its own rules for retries, so those of the client are not used. Its streams use other
 * connections than the client's writes (lib/http/pool.c), so neither waits for the other, and an
 * event may arrive before or after the answer to the write that caused it.
 */
#include "client/target.h"
#include "client/watch_list.h"
#include "client/watch_stream.h"
#include "client/watch.h"

#include "base/struct.h"
#include "client/client.h"
#include "client/status.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define BACKOFF_FIRST_MS    800
#define BACKOFF_LAST_MS     30000
#define NOMEM_MS            100
#define RETRY_NOW_MS        500 /* watches spread over this time, not all at once */
#define HEALTHY_MS          120000
#define RETRY_AFTER_MOST_MS 300000
#define OBJECT_LIMIT        ((size_t)8 << 20)

/* ---- create and free ---- */

/* Escape a name for a field selector: commas, equals signs and backslashes are operators there. */
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

/* Whether it can be put into JSON without escapes. */
static int is_plain(const char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
			return 0;
	return 1;
}

/* Reject names that no path can contain, before a server does. */
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
	mpijob__base_split_release(&watch->split);
	mpijob__base_text_release(&watch->version);
	mpijob__base_text_release(&watch->list.page);
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
	rc |= mpijob__base_text_copy(from->api_version, &to->api_version);
	rc |= mpijob__base_text_copy(from->kind, &to->kind);
	rc |= mpijob__base_text_copy(from->namespace_, &to->namespace_);
	rc |= mpijob__base_text_copy(from->name, &to->name);
	rc |= mpijob__base_text_copy(from->label_selector, &to->label_selector);
	rc |= mpijob__base_text_copy(from->plural, &to->plural);
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
	watch->random = known.seed;
	watch->upcoming = MPIJOB__CLIENT_WATCH_LISTING_STREAM;
	watch->retry.backoff_ms = BACKOFF_FIRST_MS;
	watch->retry.healthy_ms = INT64_MIN;
	watch->due_ms = INT64_MIN;
	mpijob__base_list_insert(client->watches.next, &watch->link, watch);
	*out = watch;
	return 0;
}

void mpijob__client_watch_detach(mpijob_watch *watch)
{
	mpijob_client *client = watch->client;

	if (client->next_watch == &watch->link)
		client->next_watch = watch->link.next;
	mpijob__base_list_remove(&watch->link);
	if (watch->call)
		mpijob_call_cancel(watch->call);
	watch->call = NULL;
	watch->client = NULL;
	mpijob__client_watch_enter(watch, MPIJOB__CLIENT_WATCH_ENDED, INT64_MAX);
}

void mpijob_watch_free(mpijob_watch *watch)
{
	if (!watch || watch->state == MPIJOB__CLIENT_WATCH_FREED)
		return;
	if (watch->client)
		mpijob__client_watch_detach(watch);
	mpijob__client_watch_enter(watch, MPIJOB__CLIENT_WATCH_FREED, INT64_MAX);
	if (!watch->callbacks)
		destroy(watch);
}

void mpijob__client_watch_callback_begin(mpijob_watch *watch)
{
	watch->callbacks++;
}

void mpijob__client_watch_callback_end(mpijob_watch *watch)
{
	if (--watch->callbacks == 0 && watch->state == MPIJOB__CLIENT_WATCH_FREED)
		destroy(watch);
}

/* The server has accepted the stream that runs. Its first event may follow minutes later. */
static int is_accepted(const mpijob_watch *watch)
{
	return watch->state == MPIJOB__CLIENT_WATCH_WATCHING && watch->call &&
	       watch->call->exchange.answer.status == 200;
}

const struct mpijob_watch_health *mpijob_watch_health_get(mpijob_watch *watch)
{
	if (!watch)
		return NULL;
	watch->health.size = sizeof(watch->health);
	watch->health.code = is_accepted(watch) ? 0 : watch->retry.code;
	watch->health.synced = watch->synced;
	watch->health.hopeless = watch->retry.hopeless;
	watch->health.silent_ms =
	    watch->synced && watch->client ? watch->client->clock() - watch->heard_ms : -1;
	return &watch->health;
}

void mpijob__client_watch_retry_now(mpijob_watch *watch)
{
	int64_t soon_ms;

	if (watch->state != MPIJOB__CLIENT_WATCH_WAITING ||
	    watch->retry.code != MPIJOB_ERR_UNREACHABLE)
		return;
	soon_ms =
	    watch->client->clock() + (int64_t)(mpijob__client_watch_random(watch) % RETRY_NOW_MS);
	if (soon_ms < watch->due_ms)
		watch->due_ms = soon_ms;
	/* a server that starts may refuse for a moment */
	watch->retry.backoff_ms = BACKOFF_FIRST_MS;
}

int64_t mpijob__client_watch_due_ms(const mpijob_watch *watch)
{
	return watch->due_ms;
}

/* ---- reports to the caller ---- */

void mpijob__client_watch_begin_list(mpijob_watch *watch)
{
	if (watch->list.begun)
		return;
	watch->list.begun = 1;
	if (watch->options.begin)
		watch->options.begin(watch->options.user);
}

void mpijob__client_watch_report_failure(mpijob_watch *watch, const struct mpijob_answer *answer,
    const char *what)
{
	int64_t now_ms = watch->client ? watch->client->clock() : 0;
	int had_hope = !watch->retry.hopeless, same;

	watch->retry.hopeless =
	    mpijob__client_watch_is_over(watch) ||
	    mpijob__client_retry_budget_exhausted(&watch->retry.budget, answer->code, now_ms);
	same = watch->retry.reported_code == answer->code &&
	       watch->retry.reported_status == answer->status &&
	       !(watch->retry.hopeless && had_hope);
	watch->retry.reported_code = watch->retry.code = answer->code;
	watch->retry.reported_status = answer->status;
	if (same || watch->state == MPIJOB__CLIENT_WATCH_FREED)
		return;
	if (watch->client)
		watch->client->reported = 1;
	if (watch->options.failed)
		watch->options.failed(watch->options.user, answer, what);
}

/* The caller ends the watch with a code of its own. */
static int end(mpijob_watch *watch, int code, const char *what)
{
	struct mpijob_answer answer = { 0 };

	mpijob__client_watch_enter(watch, MPIJOB__CLIENT_WATCH_ENDED, INT64_MAX);
	answer.size = sizeof(answer);
	answer.body = "";
	answer.code = code;
	answer.message = mpijob_error_text(code);
	watch->retry.reported_code = 0;
	mpijob__client_watch_report_failure(watch, &answer, what);
	return MPIJOB_ERR_CANCELLED;
}

static int judge(mpijob_watch *watch, int code, const char *what)
{
	if (mpijob__client_watch_is_over(watch))
		return MPIJOB_ERR_CANCELLED;
	/* An object that cannot be parsed fails the request, as any other invalid data does. */
	return code == 0 || code == MPIJOB_ERR_NOMEM || code == MPIJOB_ERR_SYNTAX
		   ? code
		   : end(watch, code, what);
}

int mpijob__client_watch_report_object(mpijob_watch *watch, int event,
    const struct mpijob__base_split_object *object, const char *what)
{
	struct mpijob_watch_event reported_event = { sizeof(reported_event), event, object->json,
		object->len, object->whole, object->uid, object->name, object->namespace_,
		object->resource_version };

	return judge(watch, watch->options.object(watch->options.user, &reported_event), what);
}

void mpijob__client_watch_recovered(mpijob_watch *watch)
{
	watch->retry.code = watch->retry.hopeless = 0;
	mpijob__client_retry_budget_grant(&watch->retry.budget);
}

int mpijob__client_watch_complete_list(mpijob_watch *watch, const char *version)
{
	int rc = 0;

	mpijob__client_watch_begin_list(watch);
	if (!mpijob__client_watch_is_over(watch) && watch->options.listed)
		rc = watch->options.listed(watch->options.user, version);
	rc = judge(watch, rc, "list");
	if (rc == 0)
		rc = mpijob__client_watch_set_text(&watch->version, version);
	if (rc)
		return rc;
	watch->heard_ms = watch->client->clock();
	mpijob__client_watch_recovered(watch);
	watch->upcoming = MPIJOB__CLIENT_WATCH_WATCHING;
	watch->list.newest = watch->list.whole = watch->list.begun = 0;
	watch->synced = 1;
	watch->retry.reported_code = watch->retry.reported_status = 0;
	return 0;
}

/* ---- states ---- */

void mpijob__client_watch_enter(mpijob_watch *watch, enum mpijob__client_watch_state state,
    int64_t due_ms)
{
	if (mpijob__client_watch_is_over(watch) && state != MPIJOB__CLIENT_WATCH_FREED)
		return;
	watch->state = state;
	watch->due_ms = due_ms;
}

int mpijob__client_watch_is_over(const mpijob_watch *watch)
{
	return watch->state == MPIJOB__CLIENT_WATCH_ENDED ||
	       watch->state == MPIJOB__CLIENT_WATCH_FREED;
}

uint64_t mpijob__client_watch_random(mpijob_watch *watch)
{
	/* splitmix64 */
	uint64_t z = (watch->random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void wait_for(mpijob_watch *watch, int64_t wait_ms)
{
	watch->call = NULL;
	mpijob__base_split_release(&watch->split);
	if (!mpijob__client_watch_is_over(watch))
		mpijob__client_watch_enter(watch, MPIJOB__CLIENT_WATCH_WAITING,
		    wait_ms ? watch->client->clock() + wait_ms : INT64_MIN);
}

void mpijob__client_watch_continue(mpijob_watch *watch)
{
	wait_for(watch, 0);
}

/* Memory ran out here. This is not a failure of the server, so the back-off does not change. */
void mpijob__client_watch_wait_for_memory(mpijob_watch *watch)
{
	wait_for(watch, NOMEM_MS);
}

void mpijob__client_watch_mark_healthy(mpijob_watch *watch)
{
	if (watch->retry.healthy_ms == INT64_MIN)
		watch->retry.healthy_ms = watch->started_ms;
}

void mpijob__client_watch_back_off(mpijob_watch *watch, int64_t at_least_ms)
{
	int64_t wait_ms;

	if (mpijob__client_watch_is_over(watch)) {
		wait_for(watch, 0);
		return;
	}
	if (watch->retry.healthy_ms != INT64_MIN &&
	    watch->client->clock() - watch->retry.healthy_ms > HEALTHY_MS)
		watch->retry.backoff_ms = BACKOFF_FIRST_MS;
	watch->retry.healthy_ms = INT64_MIN;
	watch->client->unreachable |= watch->retry.code == MPIJOB_ERR_UNREACHABLE;
	wait_ms = watch->retry.backoff_ms +
		  (int64_t)(mpijob__client_watch_random(watch) % (uint64_t)watch->retry.backoff_ms);
	watch->retry.backoff_ms = watch->retry.backoff_ms * 2 > BACKOFF_LAST_MS
				      ? BACKOFF_LAST_MS
				      : watch->retry.backoff_ms * 2;
	if (at_least_ms > RETRY_AFTER_MOST_MS)
		at_least_ms = RETRY_AFTER_MOST_MS;
	wait_for(watch, wait_ms < at_least_ms ? at_least_ms : wait_ms);
}

/* ---- requests ---- */

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
	request.method = "GET";
	request.target = &target;
	request.once = 1;
	request.streaming = streaming;
	request.fresh = watch->new_connection;
	rc = mpijob_client_start(watch->client, &request, callbacks, &watch->call);
	if (rc == 0)
		watch->new_connection = 0;
	return rc;
}

static int start(mpijob_watch *watch)
{
	return watch->upcoming == MPIJOB__CLIENT_WATCH_LISTING
		   ? mpijob__client_watch_start_list(watch)
		   : mpijob__client_watch_start_stream(watch, watch->upcoming);
}

/* The stream was silent for too long, or the server left it open for too long. */
static void cut_stream(mpijob_watch *watch)
{
	mpijob_call_cancel(watch->call);
	if (watch->state == MPIJOB__CLIENT_WATCH_LISTING_STREAM) {
		mpijob__client_watch_streamed_list_timed_out(watch);
	} else {
		watch->new_connection = 1; /* a proxy may drop the bytes on the old one */
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
		cut_stream(watch);
	watch->started_ms = now_ms;
	answer.size = sizeof(answer);
	answer.body = "";
	answer.code = start(watch);
	if (answer.code == 0)
		return;
	answer.message = mpijob_error_text(answer.code);
	mpijob__client_watch_callback_begin(watch);
	mpijob__client_watch_report_failure(watch, &answer,
	    watch->upcoming == MPIJOB__CLIENT_WATCH_WATCHING ? "watch" : "list");
	if (answer.code == MPIJOB_ERR_NOMEM)
		mpijob__client_watch_wait_for_memory(watch);
	else
		mpijob__client_watch_back_off(watch, 0);
	mpijob__client_watch_callback_end(watch);
}
