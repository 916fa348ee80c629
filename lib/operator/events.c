/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events about jobs, as `kubectl describe` shows them.
 *
 * They are sent a few at a time, independently of the actions, and never delay a job. The limits
 * are those of client-go: an equal Event raises the count of the one that exists; from the tenth
 * different message of one reason about one job within ten minutes, Events are combined; and one
 * reason about one job gets 25 Events, then one every five minutes. An Event is dropped after
 * twelve attempts, or when it is older than an API server would keep it. An operator that is not
 * leading sends none; it keeps them until it leads again.
 */
#include "operator/events.h"

#include "base/api.h"
#include "base/clock.h"
#include "base/time.h"
#include "base/random.h"
#include "operator/operator.h"
#include "operator/request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMPONENT     "mpi-job-controller"
#define COMBINED      "(combined from similar events): "
#define MESSAGE_LIMIT 1024
#define MOST_KEPT     4096 /* Events, and topics */
#define MOST_WAITING  1000
#define MOST_SENDING  4
#define MOST_ATTEMPTS 12
#define OLDEST_MS     3600000 /* --event-ttl of an API server */
#define RETRY_MS      10000
#define DISTINCT      10
#define DISTINCT_MS   600000
#define BURST         25
#define REFILL_MS     300000

/* One reason about one job. */
struct topic {
	struct mpijob__base_table_link link; /* first; by uid and reason */
	struct mpijob__base_list used;       /* in the order of their last use */
	int64_t since_ms;                    /* of counting different messages */
	int different;
	int64_t tokens_ms; /* the token bucket, as the time when it was empty */
	char key[];        /* uid, type, reason, with newlines between */
};

/* One Event. */
struct event {
	struct mpijob__base_table_link link; /* first; by topic and message */
	struct mpijob__base_list used;       /* in the order of their last use */
	struct mpijob__base_list waiting;    /* while it is in the send queue */
	mpijob_operator *operator_;
	mpijob_call *call;
	char *namespace_, *object, *uid, *type, *reason;
	char *message;             /* as it is sent */
	char *key;                 /* Events with this text are equal */
	char *name;                /* of the Event object */
	int64_t first_ms, last_ms; /* wall clock */
	int64_t emitted_ms;        /* last, by the monotonic clock */
	int64_t due_ms;
	int count;
	int created; /* the API server has it */
	int changed; /* changed since the last request */
	int attempts;
};

struct mpijob__operator_events {
	struct mpijob__base_table topics, events;
	struct mpijob__base_list used_topics, used_events; /* the least recently used ones first */
	struct mpijob__base_list queue;                    /* to be sent */
	size_t waiting, sending;
	uint64_t serial;
};

/* An operator that is not leading sends no Events. */
static int may_send(const mpijob_operator *operator_)
{
	return operator_->part != MPIJOB_OPERATOR_WATCHES;
}

int mpijob__operator_events_new(mpijob_operator *operator_)
{
	struct mpijob__operator_events *events = calloc(1, sizeof(*events));

	if (!events)
		return MPIJOB_ERR_NOMEM;
	if (mpijob__base_random_fill(&events->serial, sizeof(events->serial))) {
		free(events);
		return MPIJOB_ERR_IO;
	}
	mpijob__base_list_init(&events->used_topics);
	mpijob__base_list_init(&events->used_events);
	mpijob__base_list_init(&events->queue);
	events->topics.seed = events->serial * 3;
	events->events.seed = events->serial * 5;
	operator_->events = events;
	return 0;
}

/* ---- storage ---- */

static void free_event(struct event *event)
{
	free(event->namespace_);
	free(event->object);
	free(event->uid);
	free(event->type);
	free(event->reason);
	free(event->message);
	free(event->key);
	free(event->name);
	free(event);
}

static void forget_event(struct mpijob__operator_events *events, struct event *event)
{
	mpijob__base_list_remove(&event->used);
	mpijob__base_table_remove(&events->events, &event->link);
	free_event(event);
}

static void forget_topic(struct mpijob__operator_events *events, struct topic *topic)
{
	mpijob__base_list_remove(&topic->used);
	mpijob__base_table_remove(&events->topics, &topic->link);
	free(topic);
}

/* Make room: drop the least recently used, unless it is being sent. */
static void shrink(struct mpijob__operator_events *events)
{
	struct mpijob__base_list *next;

	for (struct mpijob__base_list *link = events->used_events.next;
	     events->events.count >= MOST_KEPT && link->owner; link = next) {
		struct event *event = link->owner;

		next = link->next;
		if (!mpijob__base_list_is_linked(&event->waiting) && !event->call)
			forget_event(events, event);
	}
	while (events->topics.count >= MOST_KEPT)
		forget_topic(events, mpijob__base_list_first(&events->used_topics));
}

static struct topic *find_topic(struct mpijob__operator_events *events, const char *key)
{
	uint64_t hash = mpijob__base_table_hash(&events->topics, key, "");
	struct mpijob__base_table_link *link = mpijob__base_table_next(&events->topics, hash, NULL);
	struct topic *topic;

	while (link && strcmp(((struct topic *)(void *)link)->key, key) != 0)
		link = mpijob__base_table_next(&events->topics, hash, link);
	if (link) {
		topic = (struct topic *)(void *)link;
		mpijob__base_list_remove(&topic->used);
		mpijob__base_list_insert(&events->used_topics, &topic->used, topic);
		return topic;
	}
	topic = calloc(1, sizeof(*topic) + strlen(key) + 1);
	if (!topic)
		return NULL;
	memcpy(topic->key, key, strlen(key) + 1);
	topic->tokens_ms = INT64_MIN;
	if (mpijob__base_table_add(&events->topics, &topic->link, hash)) {
		free(topic);
		return NULL;
	}
	mpijob__base_list_insert(&events->used_topics, &topic->used, topic);
	return topic;
}

static int is_of(const struct event *event, const char *uid, const char *type, const char *reason)
{
	return strcmp(event->uid, uid) == 0 && strcmp(event->type, type) == 0 &&
	       strcmp(event->reason, reason) == 0;
}

static struct event *find_event(const struct mpijob__operator_events *events, const char *key,
    const struct mpijob__operator_job *job, const char *type, const char *reason,
    const char *text_key)
{
	uint64_t hash = mpijob__base_table_hash(&events->events, key, text_key);
	struct mpijob__base_table_link *link = mpijob__base_table_next(&events->events, hash, NULL);

	for (; link; link = mpijob__base_table_next(&events->events, hash, link)) {
		struct event *event = (struct event *)(void *)link;

		if (strcmp(event->key, text_key) == 0 && is_of(event, job->uid, type, reason))
			return event;
	}
	return NULL;
}

/* ---- emitting ---- */

/* Take one token of 25; one is refilled every five minutes. */
static int spend(struct topic *topic, int64_t now_ms)
{
	int64_t full = now_ms - (int64_t)BURST * REFILL_MS;

	if (topic->tokens_ms < full)
		topic->tokens_ms = full;
	if (topic->tokens_ms + REFILL_MS > now_ms)
		return 0;
	topic->tokens_ms += REFILL_MS;
	return 1;
}

/* 1 from the tenth different message on. */
static int combine(struct topic *topic, int64_t now_ms)
{
	if (topic->different == 0 || now_ms - topic->since_ms > DISTINCT_MS) {
		topic->different = 0;
		topic->since_ms = now_ms;
	}
	if (topic->different < DISTINCT)
		topic->different++;
	return topic->different >= DISTINCT;
}

static void enqueue(struct mpijob__operator_events *events, struct event *event, int64_t due_ms)
{
	event->changed = 1;
	if (mpijob__base_list_is_linked(&event->waiting) || event->call)
		return;
	event->due_ms = due_ms;
	mpijob__base_list_insert(&events->queue, &event->waiting, event);
	events->waiting++;
}

/* Prefix and message, cut to 1024 bytes at the end of a character. */
static char *compose(const char *prefix, const char *message)
{
	mpijob_text text = { 0 };
	char *copy = NULL;

	if (mpijob__base_text_puts(&text, prefix) == 0 &&
	    mpijob__base_text_puts(&text, message) == 0) {
		if (text.len > MESSAGE_LIMIT) {
			text.len = MESSAGE_LIMIT;
			while (text.len && ((unsigned char)text.data[text.len] & 0xc0) == 0x80)
				text.len--;
			text.data[text.len] = 0;
		}
		copy = strdup(mpijob_text_data(&text));
	}
	mpijob__base_text_release(&text);
	return copy;
}

static char *make_name(struct mpijob__operator_events *events, const char *object)
{
	mpijob_text text = { 0 };
	char *name = NULL;

	events->serial += UINT64_C(0x9e3779b97f4a7c15);
	if (mpijob__base_text_printf(&text, "%s.%016" PRIx64, object, events->serial) == 0)
		name = strdup(mpijob_text_data(&text));
	mpijob__base_text_release(&text);
	return name;
}

static struct event *make_event(mpijob_operator *operator_, const struct mpijob__operator_job *job,
    const char *key, const char *type, const char *reason, const char *text_key)
{
	struct mpijob__operator_events *events = operator_->events;
	struct event *event = calloc(1, sizeof(*event));

	if (!event)
		return NULL;
	event->operator_ = operator_;
	event->namespace_ = strdup(job->namespace_);
	event->object = strdup(job->name);
	event->uid = strdup(job->uid);
	event->type = strdup(type);
	event->reason = strdup(reason);
	event->key = strdup(text_key);
	event->name = make_name(events, job->name);
	if (!event->namespace_ || !event->object || !event->uid || !event->type || !event->reason ||
	    !event->key || !event->name ||
	    mpijob__base_table_add(&events->events, &event->link,
		mpijob__base_table_hash(&events->events, key, text_key))) {
		free_event(event);
		return NULL;
	}
	event->first_ms = mpijob_client_server_ms(operator_->client);
	return event;
}

static void emit(mpijob_operator *operator_, const struct mpijob__operator_job *job,
    const char *key, const char *type, const char *reason, const char *message)
{
	struct mpijob__operator_events *events = operator_->events;
	int64_t now_ms = mpijob__base_clock_monotonic_ms();
	struct topic *topic = find_topic(events, key);
	struct event *event = topic ? find_event(events, key, job, type, reason, message) : NULL;
	const char *text_key = message;
	char *text;

	if (!topic || !spend(topic, now_ms) || (!event && events->waiting >= MOST_WAITING)) {
		operator_->metrics.events_dropped++;
		return;
	}
	if (!event && combine(topic, now_ms)) {
		text_key = COMBINED;
		event = find_event(events, key, job, type, reason, text_key);
	}
	text = compose(text_key == message ? "" : COMBINED, message);
	if (text && !event)
		event = make_event(operator_, job, key, type, reason, text_key);
	if (!text || !event) {
		operator_->metrics.events_dropped++;
		free(text);
		return;
	}
	mpijob__base_list_remove(&event->used);
	mpijob__base_list_insert(&events->used_events, &event->used, event);
	free(event->message);
	event->message = text;
	event->last_ms = mpijob_client_server_ms(operator_->client);
	event->emitted_ms = now_ms;
	event->count++;
	event->attempts = 0;
	enqueue(events, event, INT64_MIN);
}

void mpijob__operator_events_emit(mpijob_operator *operator_,
    const struct mpijob__operator_job *job, const char *type, const char *reason,
    const char *message)
{
	mpijob_text key = { 0 };

	if (!type || !reason || !message || !may_send(operator_))
		return;
	shrink(operator_->events);
	if (mpijob__base_text_printf(&key, "%s\n%s\n%s", job->uid, type, reason) == 0)
		emit(operator_, job, mpijob_text_data(&key), type, reason, message);
	mpijob__base_text_release(&key);
}

/* ---- sending ---- */

static void put_time(mpijob_doc *doc, mpijob_node *map, const char *key, int64_t ms)
{
	char text[MPIJOB__BASE_TIME_SIZE];

	if (mpijob__base_time_format(ms / 1000, text))
		mpijob_node_put_string(doc, map, key, text);
}

static void fill_whole(mpijob_doc *doc, mpijob_node *root, const struct event *event)
{
	mpijob_node *map;

	mpijob_node_put_string(doc, root, "apiVersion", "v1");
	mpijob_node_put_string(doc, root, "kind", "Event");
	map = mpijob_node_put_map(doc, root, "metadata");
	mpijob_node_put_string(doc, map, "name", event->name);
	mpijob_node_put_string(doc, map, "namespace", event->namespace_);
	map = mpijob_node_put_map(doc, root, "involvedObject");
	mpijob_node_put_string(doc, map, "apiVersion", MPIJOB__BASE_API_VERSION);
	mpijob_node_put_string(doc, map, "kind", MPIJOB__BASE_API_KIND);
	mpijob_node_put_string(doc, map, "namespace", event->namespace_);
	mpijob_node_put_string(doc, map, "name", event->object);
	mpijob_node_put_string(doc, map, "uid", event->uid);
	mpijob_node_put_string(doc, root, "reason", event->reason);
	mpijob_node_put_string(doc, root, "type", event->type);
	mpijob_node_put_string(doc, mpijob_node_put_map(doc, root, "source"), "component",
	    COMPONENT);
	mpijob_node_put_string(doc, root, "reportingComponent", COMPONENT);
	mpijob_node_put_string(doc, root, "reportingInstance", "");
	put_time(doc, root, "firstTimestamp", event->first_ms);
}

static int write_event(const struct event *event, mpijob_text *body)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, "");
	int rc;

	if (!event->created)
		fill_whole(doc, root, event);
	mpijob_node_put_string(doc, root, "message", event->message);
	mpijob_node_put_int(doc, root, "count", event->count);
	put_time(doc, root, "lastTimestamp", event->last_ms);
	rc = mpijob_doc_error(doc);
	if (rc == 0)
		rc = mpijob_node_write(root, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, body);
	mpijob_doc_free(doc);
	return rc;
}

static void end_call(struct event *event)
{
	event->call = NULL;
	event->operator_->events->sending--;
	event->operator_->writes--;
}

/* Another attempt may succeed. */
static int is_transient(int code)
{
	return code == MPIJOB_ERR_NOMEM || code == MPIJOB_ERR_IO || code == MPIJOB_ERR_TIMEOUT ||
	       code == MPIJOB_ERR_UNREACHABLE || code == MPIJOB_ERR_SERVER;
}

static void sent(void *user, const struct mpijob_answer *answer)
{
	struct event *event = user;
	mpijob_operator *operator_ = event->operator_;
	struct mpijob__operator_events *events = operator_->events;
	int64_t wait = 0, retry_after_ms = mpijob__operator_retry_after(operator_, answer);
	int again = event->changed;

	end_call(event);
	if (answer->code == 0 || (!event->created && answer->code == MPIJOB_ERR_CONFLICT)) {
		event->created = 1;
		event->attempts = 0;
	} else if (event->created && answer->code == MPIJOB_ERR_NOT_FOUND) {
		event->created = 0; /* it has expired: create another one */
		event->count = 1;
		event->first_ms = event->last_ms;
		again = 1;
	} else if (is_transient(answer->code)) {
		again = ++event->attempts < MOST_ATTEMPTS;
		wait = retry_after_ms > RETRY_MS ? retry_after_ms : RETRY_MS;
		operator_->metrics.events_dropped += !again;
		if (!again)
			mpijob__operator_log(operator_, MPIJOB_SEVERITY_WARNING, "event-dropped",
			    "the Event %s about MPIJob %s/%s is dropped after %d attempts",
			    event->reason, event->namespace_, event->object, event->attempts);
	} else {
		/* Rejected, or its namespace is deleted: another attempt would not succeed. */
		operator_->metrics.events_dropped++;
		mpijob__operator_log(operator_, MPIJOB_SEVERITY_WARNING, "event-dropped",
		    "the Event %s about MPIJob %s/%s is refused: %s", event->reason,
		    event->namespace_, event->object,
		    answer->message ? answer->message : mpijob_error_text(answer->code));
		again = 0;
	}
	if (again)
		enqueue(events, event, wait ? operator_->now_ms + wait : INT64_MIN);
}

static int send(struct event *event)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, sent, event };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_text body = { 0 };
	int rc = write_event(event, &body);

	target.api_version = "v1";
	target.kind = "Event";
	target.namespace_ = event->namespace_;
	target.name = event->created ? event->name : NULL;
	if (rc == 0)
		rc = mpijob__operator_request_send(event->operator_->client,
		    event->created ? "PATCH" : "POST", &target, &body, &callbacks, &event->call);
	mpijob__base_text_release(&body);
	return rc;
}

void mpijob__operator_events_step(mpijob_operator *operator_)
{
	struct mpijob__operator_events *events = operator_->events;
	struct mpijob__base_list *next;

	if (!may_send(operator_))
		return;
	for (struct mpijob__base_list *link = events->queue.next; link->owner; link = next) {
		struct event *event = link->owner;

		next = link->next;
		if (events->sending >= MOST_SENDING || !mpijob__operator_may_write(operator_))
			return;
		if (event->due_ms > operator_->now_ms)
			continue;
		mpijob__base_list_remove(&event->waiting);
		events->waiting--;
		event->changed = 0;
		if (operator_->now_ms - event->emitted_ms > OLDEST_MS) {
			operator_->metrics.events_dropped++;
			continue;
		}
		if (send(event) == 0) {
			events->sending++;
			operator_->writes++;
		} else if (++event->attempts < MOST_ATTEMPTS) {
			enqueue(events, event, operator_->now_ms + RETRY_MS);
		}
	}
}

void mpijob__operator_events_stop(mpijob_operator *operator_)
{
	struct mpijob__operator_events *events = operator_->events;

	for (struct mpijob__base_list *link = events->used_events.prev; link->owner;
	     link = link->prev) {
		struct event *event = link->owner;

		if (!event->call || !mpijob_call_queued(event->call))
			continue;
		mpijob_call_cancel(event->call);
		end_call(event);
		enqueue(events, event, INT64_MIN);
	}
}

size_t mpijob__operator_events_waiting(const mpijob_operator *operator_)
{
	return may_send(operator_) ? operator_->events->waiting : 0;
}

int64_t mpijob__operator_events_due_ms(const mpijob_operator *operator_)
{
	const struct mpijob__operator_events *events = operator_->events;
	int64_t due = INT64_MAX;

	if (!may_send(operator_) || events->sending >= MOST_SENDING ||
	    operator_->writes >= operator_->options.max_writes)
		return due;
	for (struct mpijob__base_list *link = events->queue.next; link->owner; link = link->next) {
		const struct event *event = link->owner;

		due = event->due_ms < due ? event->due_ms : due;
	}
	return due < operator_->hold_until_ms ? operator_->hold_until_ms : due;
}

void mpijob__operator_events_free(mpijob_operator *operator_)
{
	struct mpijob__operator_events *events = operator_->events;
	struct topic *topic;
	struct event *event;

	if (!events)
		return;
	while ((event = mpijob__base_list_first(&events->used_events)) != NULL) {
		if (event->call)
			mpijob_call_cancel(event->call);
		forget_event(events, event);
	}
	while ((topic = mpijob__base_list_first(&events->used_topics)) != NULL)
		forget_topic(events, topic);
	mpijob__base_table_release(&events->topics);
	mpijob__base_table_release(&events->events);
	free(events);
	operator_->events = NULL;
}
