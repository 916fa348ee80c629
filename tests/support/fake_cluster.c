/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_cluster.h"

char *fake_text(const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		abort();
	va_end(args);
	return text;
}

void fake_script(struct fake *fake, struct fake_reply reply)
{
	fake->script[fake->script_count++] = reply;
}

void fake_answer(struct fake *fake, int status, const char *body)
{
	struct fake_reply reply = { .status = status, .body = body };

	fake_script(fake, reply);
}

struct mpijob_target fake_pod(const char *name)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = "d";
	target.name = name;
	return target;
}

size_t fake_count(const struct fake *fake, const char *start)
{
	size_t count = 0;

	for (size_t i = 0; i < fake->log_count; i++)
		count += strncmp(fake->log[i], start, strlen(start)) == 0;
	return count;
}

size_t fake_writes(const struct fake *fake)
{
	return fake->log_count - fake_count(fake, "GET ");
}

/* --- paths --- */

char *fake_query(const char *path, const char *name)
{
	const char *at = strchr(path, '?');
	size_t len = strlen(name);

	while (at) {
		at++;
		if (strncmp(at, name, len) == 0 && at[len] == '=') {
			char *value = malloc(strlen(at) + 1), *to = value;

			for (at += len + 1; *at && *at != '&'; at++) {
				unsigned code;

				if (*at == '%' && sscanf(at + 1, "%2x", &code) == 1) {
					*to++ = (char)code;
					at += 2;
				} else {
					*to++ = *at;
				}
			}
			*to = 0;
			return value;
		}
		at = strchr(at, '&');
	}
	return NULL;
}

/* "/api/v1/namespaces/d/pods/p/status" into "/api/v1/pods", "d", "p", "status"; NULL what is
 * absent. */
static void fake_split(const char *path, char **collection, char **namespace_, char **name,
    char **sub)
{
	char *copy = strndup(path, strcspn(path, "?")), *save = NULL, *part;
	char *parts[10] = { 0 };
	int count = 0, at;
	mpijob_text text = { 0 };

	for (part = strtok_r(copy, "/", &save); part && count < 10;
	     part = strtok_r(NULL, "/", &save))
		parts[count++] = part;
	at = strcmp(parts[0], "api") == 0 ? 2 : 3;
	*namespace_ = NULL;
	for (int i = 0; i < at; i++)
		mpijob__base_text_printf(&text, "/%s", parts[i]);
	if (parts[at] && strcmp(parts[at], "namespaces") == 0 && parts[at + 2]) {
		*namespace_ = strdup(parts[at + 1]);
		at += 2;
	}
	mpijob__base_text_printf(&text, "/%s", parts[at]);
	*collection = strdup(mpijob_text_data(&text));
	*name = parts[at + 1] ? strdup(parts[at + 1]) : NULL;
	*sub = parts[at + 1] && parts[at + 2] ? strdup(parts[at + 2]) : NULL;
	mpijob__base_text_release(&text);
	free(copy);
}

/* --- objects --- */

char *fake_json(const mpijob_node *node)
{
	mpijob_text text = { 0 };
	char *copy;

	if (mpijob_node_write(node, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, &text))
		abort();
	copy = strdup(mpijob_text_data(&text));
	mpijob__base_text_release(&text);
	return copy;
}

struct fake_object *fake_find(struct fake *fake, const char *collection, const char *namespace_,
    const char *name)
{
	for (struct fake_object *object = fake->objects; object; object = object->next)
		if (strcmp(object->collection, collection) == 0 &&
		    strcmp(object->name, name) == 0 &&
		    strcmp(object->namespace_, namespace_ ? namespace_ : "") == 0)
			return object;
	return NULL;
}

void fake_stamp(struct fake *fake, struct fake_object *object, const char *type)
{
	mpijob_node *metadata = mpijob_doc_make(object->doc, "metadata");
	struct fake_event *event;
	char number[32], *json;

	object->version = ++fake->version;
	snprintf(number, sizeof(number), "%" PRIu64, object->version);
	mpijob_node_put_string(object->doc, metadata, "resourceVersion", number);
	json = fake_json(mpijob_doc_root(object->doc));
	fake->events = realloc(fake->events, (fake->event_count + 1) * sizeof(*fake->events));
	event = &fake->events[fake->event_count++];
	event->version = object->version;
	event->collection = strdup(object->collection);
	event->namespace_ = strdup(object->namespace_);
	event->json = fake_text("{\"type\":\"%s\",\"object\":%s}\n", type, json);
	free(json);
}

static struct fake_object *fake_add(struct fake *fake, const char *collection,
    const char *namespace_, mpijob_doc *doc)
{
	struct fake_object *object = calloc(1, sizeof(*object));
	mpijob_node *metadata = mpijob_doc_make(doc, "metadata");
	char uid[64];

	object->collection = strdup(collection);
	object->namespace_ = strdup(namespace_ ? namespace_ : "");
	object->name = strdup(mpijob_node_string(mpijob_node_get(metadata, "name")));
	object->doc = doc;
	snprintf(uid, sizeof(uid), "00000000-0000-4000-8000-%012u", ++fake->uids);
	if (!mpijob_node_get(metadata, "uid"))
		mpijob_node_put_string(doc, metadata, "uid", uid);
	if (namespace_)
		mpijob_node_put_string(doc, metadata, "namespace", namespace_);
	mpijob_node_put_string(doc, metadata, "creationTimestamp",
	    fake->created ? fake->created : "2026-11-21T12:00:00Z");
	object->next = fake->objects;
	fake->objects = object;
	fake_stamp(fake, object, "ADDED");
	return object;
}

struct fake_object *fake_put(struct fake *fake, const char *collection, const char *namespace_,
    const char *yaml)
{
	mpijob_doc *doc = NULL;

	if (mpijob_doc_parse(yaml, strlen(yaml), NULL, &doc, NULL))
		abort();
	return fake_add(fake, collection, namespace_, doc);
}

void fake_patch(struct fake *fake, struct fake_object *object, const char *yaml)
{
	mpijob_doc *patch = NULL;

	if (mpijob_doc_parse(yaml, strlen(yaml), NULL, &patch, NULL) ||
	    mpijob_doc_merge(object->doc, mpijob_doc_root(patch)))
		abort();
	mpijob_doc_free(patch);
	fake_stamp(fake, object, "MODIFIED");
}

static void fake_free_object(struct fake_object *object)
{
	free(object->collection);
	free(object->namespace_);
	free(object->name);
	mpijob_doc_free(object->doc);
	free(object);
}

void fake_delete(struct fake *fake, struct fake_object *object)
{
	struct fake_object **at = &fake->objects;

	while (*at != object)
		at = &(*at)->next;
	*at = object->next;
	fake_stamp(fake, object, "DELETED");
	fake_free_object(object);
}

const char *fake_string(const struct fake_object *object, const char *path)
{
	return object ? mpijob_node_string(mpijob_node_find(mpijob_doc_root(object->doc), path))
		      : NULL;
}

size_t fake_objects(const struct fake *fake, const char *collection)
{
	size_t count = 0;

	for (const struct fake_object *object = fake->objects; object; object = object->next)
		count += strcmp(object->collection, collection) == 0;
	return count;
}

/* --- verbs --- */

static char *fake_status(int code, const char *reason, const char *message)
{
	return fake_text("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"%s\",\"reason\":"
			 "\"%s\",\"message\":\"%s\","
			 "\"code\":%d}",
	    code < 300 ? "Success" : "Failure", reason, message, code);
}

static int fake_selected(const mpijob_node *object, const char *selector)
{
	char *copy, *next, *equals;
	const char *value;
	int yes = 1;

	if (!selector)
		return 1;
	copy = strdup(selector);
	for (char *at = copy; at && yes; at = next) {
		next = strchr(at, ',');
		if (next)
			*next++ = 0;
		equals = strchr(at, '=');
		*equals = 0;
		value = mpijob_node_string(
		    mpijob_node_get(mpijob_node_find(object, "metadata.labels"), at));
		yes = value && strcmp(value, equals + 1) == 0;
	}
	free(copy);
	return yes;
}

/* Items carry no kind of their own, as those of a real server. */
static char *fake_list(struct fake *fake, const char *collection, const char *namespace_,
    const char *selector, const char *field)
{
	static const char name[] = "metadata.name=";
	mpijob_text text = { 0 };
	char *copy;
	int first = 1;

	mpijob__base_text_printf(&text,
	    "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"%" PRIu64
	    "\"},\"items\":[",
	    fake->version);
	for (struct fake_object *object = fake->objects; object; object = object->next) {
		mpijob_doc *doc;
		char *json;

		if (strcmp(object->collection, collection) != 0 ||
		    (namespace_ && strcmp(namespace_, object->namespace_) != 0) ||
		    !fake_selected(mpijob_doc_root(object->doc), selector) ||
		    (field && strncmp(field, name, strlen(name)) == 0 &&
			strcmp(field + strlen(name), object->name) != 0))
			continue;
		doc = mpijob_doc_from_node(mpijob_doc_root(object->doc), NULL);
		mpijob_node_remove(mpijob_doc_edit(doc, ""), "kind");
		mpijob_node_remove(mpijob_doc_edit(doc, ""), "apiVersion");
		json = fake_json(mpijob_doc_root(doc));
		mpijob__base_text_printf(&text, "%s%s", first ? "" : ",", json);
		first = 0;
		free(json);
		mpijob_doc_free(doc);
	}
	mpijob__base_text_puts(&text, "]}");
	copy = strdup(mpijob_text_data(&text));
	mpijob__base_text_release(&text);
	return copy;
}

static char *fake_merge(struct fake *fake, struct fake_object *object, mpijob_doc *patch,
    const char *sub, int *status)
{
	const mpijob_node *root = mpijob_doc_root(patch);
	const char *version =
	    mpijob_node_string(mpijob_node_find(root, "metadata.resourceVersion"));
	const char *uid = mpijob_node_string(mpijob_node_find(root, "metadata.uid"));
	mpijob_doc *before = mpijob_doc_from_node(mpijob_doc_root(object->doc), NULL);

	if ((version && strcmp(version, fake_string(object, "metadata.resourceVersion")) != 0) ||
	    (uid && strcmp(uid, fake_string(object, "metadata.uid")) != 0)) {
		*status = 409;
		mpijob_doc_free(before);
		return fake_status(409, "Conflict", "the object has been modified");
	}
	if (sub)
		mpijob_node_remove(mpijob_doc_edit(patch, ""), "spec");
	mpijob_doc_merge(object->doc, mpijob_doc_root(patch));
	if (!mpijob_node_equal(mpijob_doc_root(before), mpijob_doc_root(object->doc)))
		fake_stamp(fake, object, "MODIFIED");
	mpijob_doc_free(before);
	*status = 200;
	return fake_json(mpijob_doc_root(object->doc));
}

/* As an update does it: the whole object, when it is still the one that was read. */
static char *fake_replace(struct fake *fake, struct fake_object *object, mpijob_doc *doc,
    int *status)
{
	const char *version =
	    mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.resourceVersion"));

	if (version && strcmp(version, fake_string(object, "metadata.resourceVersion")) != 0) {
		mpijob_doc_free(doc);
		*status = 409;
		return fake_status(409, "Conflict", "the object has been modified");
	}
	mpijob_doc_free(object->doc);
	object->doc = doc;
	fake_stamp(fake, object, "MODIFIED");
	*status = 200;
	return fake_json(mpijob_doc_root(object->doc));
}

static char *fake_remove(struct fake *fake, struct fake_object *object, const mpijob_doc *options,
    int *status)
{
	const mpijob_node *root = options ? mpijob_doc_root(options) : NULL;
	const char *uid = mpijob_node_string(mpijob_node_find(root, "preconditions.uid"));

	if (uid && strcmp(uid, fake_string(object, "metadata.uid")) != 0) {
		*status = 409;
		return fake_status(409, "Conflict", "the UID in the precondition does not match");
	}
	fake_delete(fake, object);
	*status = 200;
	return fake_status(200, "", "");
}

static char *fake_serve(struct fake *fake, const char *method, const char *path, const char *body,
    size_t len, int *status)
{
	char *collection, *namespace_, *name, *sub, *answer = NULL;
	char *selector = fake_query(path, "labelSelector"),
	     *field = fake_query(path, "fieldSelector");
	struct fake_object *object = NULL;
	mpijob_doc *doc = NULL;

	fake_split(path, &collection, &namespace_, &name, &sub);
	if (len && mpijob_doc_parse(body, len, NULL, &doc, NULL)) {
		*status = 400;
		answer = fake_status(400, "BadRequest", "the body is no JSON");
	} else if (strcmp(method, "GET") == 0 && !name) {
		*status = 200;
		answer = fake_list(fake, collection, namespace_, selector, field);
	} else {
		const char *key = name;

		if (!key && doc)
			key = mpijob_node_string(
			    mpijob_node_find(mpijob_doc_root(doc), "metadata.name"));
		object = key ? fake_find(fake, collection, namespace_, key) : NULL;
		if (strcmp(method, "POST") == 0 && object) {
			*status = 409;
			answer = fake_status(409, "AlreadyExists", "it already exists");
		} else if (strcmp(method, "POST") == 0) {
			*status = 201;
			object = fake_add(fake, collection, namespace_, doc);
			doc = NULL;
			answer = fake_json(mpijob_doc_root(object->doc));
		} else if (!object) {
			*status = 404;
			answer = fake_status(404, "NotFound", "it is not found");
		} else if (strcmp(method, "GET") == 0) {
			*status = 200;
			answer = fake_json(mpijob_doc_root(object->doc));
		} else if (strcmp(method, "PATCH") == 0) {
			answer = fake_merge(fake, object, doc, sub, status);
		} else if (strcmp(method, "PUT") == 0) {
			answer = fake_replace(fake, object, doc, status);
			doc = NULL;
		} else {
			answer = fake_remove(fake, object, doc, status);
		}
	}
	mpijob_doc_free(doc);
	free(selector);
	free(field);
	free(collection);
	free(namespace_);
	free(name);
	free(sub);
	return answer;
}

/* --- the transport --- */

static void fake_free_exchange(struct fake *fake, struct fake_exchange *exchange)
{
	struct fake_exchange **at = &fake->exchanges;

	while (*at != exchange)
		at = &(*at)->next;
	*at = exchange->next;
	if (exchange->text && !exchange->watching)
		fake->in_flight_writes -= exchange->cursor;
	free(exchange->text);
	free(exchange->collection);
	free(exchange->namespace_);
	free(exchange->selector);
	free(exchange);
}

/* What is there, and the mark behind it. */
static void fake_initial(struct fake *fake, struct fake_exchange *exchange)
{
	mpijob_text text = { 0 };

	for (struct fake_object *object = fake->objects; object; object = object->next) {
		char *json;

		if (strcmp(object->collection, exchange->collection) != 0 ||
		    (exchange->namespace_ &&
			strcmp(exchange->namespace_, object->namespace_) != 0) ||
		    !fake_selected(mpijob_doc_root(object->doc), exchange->selector))
			continue;
		json = fake_json(mpijob_doc_root(object->doc));
		mpijob__base_text_printf(&text, "{\"type\":\"ADDED\",\"object\":%s}\n", json);
		free(json);
	}
	mpijob__base_text_printf(&text,
	    "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"%" PRIu64
	    "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n",
	    fake->version);
	free(exchange->text);
	exchange->text = strdup(mpijob_text_data(&text));
	mpijob__base_text_release(&text);
	exchange->cursor = fake->event_count;
}

static void fake_watch(struct fake *fake, struct fake_exchange *exchange, const char *path)
{
	char *version = fake_query(path, "resourceVersion");
	uint64_t from = version ? strtoull(version, NULL, 10) : 0;
	char *name, *sub;

	exchange->watching = 1;
	exchange->status = 200;
	exchange->text = strdup("");
	exchange->selector = fake_query(path, "labelSelector");
	fake_split(path, &exchange->collection, &exchange->namespace_, &name, &sub);
	if (strstr(path, "sendInitialEvents=true"))
		fake_initial(fake, exchange);
	while (
	    exchange->cursor < fake->event_count && fake->events[exchange->cursor].version <= from)
		exchange->cursor++;
	free(version);
	free(name);
	free(sub);
}

static int fake_start(void *self, const struct mpijob_request *request, mpijob_exchange *to)
{
	struct fake *fake = self;
	struct fake_exchange *exchange = calloc(1, sizeof(*exchange));
	char *watch = fake_query(request->path, "watch");
	int scripted = 0;

	if (request->once || request->urgent || request->target)
		abort(); /* these are for the client */
	fake->fresh += request->fresh != 0;
	if (fake->streams || !strstr(request->path, "sendInitialEvents=")) {
		fake->log = realloc(fake->log, (fake->log_count + 1) * sizeof(char *));
		fake->log[fake->log_count++] = fake_text("%s %s", request->method, request->path);
		mpijob_text_clear(&fake->last_body);
		mpijob_text_write(&fake->last_body, request->body, request->body_len);
		mpijob_text_clear(&fake->last_type);
		mpijob__base_text_puts(&fake->last_type,
		    request->content_type ? request->content_type : "");
	} else {
		exchange->reply.status = 501;
		scripted = 1;
	}
	if (scripted) {
		/* refused */
	} else if (fake->script_at < fake->script_count) {
		exchange->reply = fake->script[fake->script_at++];
		scripted = 1;
	} else if (fake->decide) {
		scripted = fake->decide(fake, request->method, request->path, &exchange->reply);
	}
	if (scripted && exchange->reply.refuse) {
		int code = exchange->reply.refuse;

		free(watch);
		free(exchange);
		return code;
	}
	exchange->exchange = to;
	exchange->scripted = scripted;
	exchange->next = fake->exchanges;
	fake->exchanges = exchange;
	mpijob_exchange_set_slot(to, exchange);
	if (scripted && exchange->reply.status && exchange->reply.apply)
		free(fake_serve(fake, request->method, request->path, request->body,
		    request->body_len, &exchange->status));
	if (scripted && exchange->reply.status) {
		exchange->status = exchange->reply.status;
		exchange->text = strdup(exchange->reply.body ? exchange->reply.body : "");
	} else if (scripted && !exchange->reply.apply && exchange->reply.end_code) {
		exchange->text = strdup("");
	} else if (watch) {
		fake_watch(fake, exchange, request->path);
	} else {
		exchange->text = fake_serve(fake, request->method, request->path, request->body,
		    request->body_len, &exchange->status);
	}
	if (!watch && strcmp(request->method, "GET") != 0) {
		exchange->cursor = 1; /* counted as a write */
		if (++fake->in_flight_writes > fake->most_writes)
			fake->most_writes = fake->in_flight_writes;
	}
	free(watch);
	return 0;
}

static void fake_gather(struct fake *fake, struct fake_exchange *exchange)
{
	while (exchange->cursor < fake->event_count) {
		const struct fake_event *event = &fake->events[exchange->cursor++];
		mpijob_doc *doc = NULL;
		char *more;

		if (strcmp(event->collection, exchange->collection) != 0 ||
		    (exchange->namespace_ && strcmp(exchange->namespace_, event->namespace_) != 0))
			continue;
		if (mpijob_doc_parse(event->json, strlen(event->json), NULL, &doc, NULL))
			abort();
		if (fake_selected(mpijob_node_get(mpijob_doc_root(doc), "object"),
			exchange->selector)) {
			more = fake_text("%s%s", exchange->text, event->json);
			free(exchange->text);
			exchange->text = more;
		}
		mpijob_doc_free(doc);
	}
}

/* Tell what is new; 1 when something was told. The exchange may be gone afterwards. */
static int fake_tell(struct fake *fake, struct fake_exchange *exchange)
{
	size_t len, part;
	int news = 0, whole, cut;

	if (exchange->reply.polls-- > 0)
		return 0;
	if (exchange->watching)
		fake_gather(fake, exchange);
	len = strlen(exchange->text);
	part =
	    fake->piece && fake->piece < len - exchange->told ? fake->piece : len - exchange->told;
	if (exchange->reply.end_code && exchange->reply.apply)
		part = len = 0;
	else if (!exchange->started && exchange->status) {
		if (exchange->reply.header) {
			char *name = strdup(exchange->reply.header), *colon = strchr(name, ':');

			*colon = 0;
			mpijob_exchange_header(exchange->exchange, name, colon + 1);
			free(name);
		}
		mpijob_exchange_status(exchange->exchange, exchange->status);
		exchange->started = 1;
		news = 1;
	}
	if (part) {
		mpijob_exchange_data(exchange->exchange, exchange->text + exchange->told, part);
		exchange->told += part;
		news = 1;
	}
	whole = exchange->told >= len;
	cut = exchange->watching && fake->cut_watches && exchange->told > 0;
	if (whole && !exchange->reply.open && (!exchange->watching || cut)) {
		mpijob_exchange *to = exchange->exchange;
		int code = exchange->reply.end_code;

		fake_free_exchange(fake, exchange);
		mpijob_exchange_end(to, code, code ? "the connection was lost" : NULL);
		return 1;
	}
	return news;
}

static atomic_int fake_polls; /* for threads that act once a client waits */

void fake_await_polls(int count)
{
	for (int from = atomic_load(&fake_polls); atomic_load(&fake_polls) - from < count;)
		sched_yield();
}

static int fake_poll(void *self, int timeout_ms)
{
	struct fake *fake = self;
	struct fake_exchange *seen[256];
	size_t count = 0;
	int news = 0;

	/* Telling may start new exchanges, which come first in the list, and are not told in this
	 * poll. */
	for (struct fake_exchange *exchange = fake->exchanges; exchange && count < 256;
	     exchange = exchange->next)
		seen[count++] = exchange;
	while (count > 0)
		news |= fake_tell(fake, seen[--count]);
	/* Each poll takes a moment, so that nobody waits for ever; one without news waits, but not
	 * as long as it may. */
	fake_clock_advance_us(!news && timeout_ms != 0 ? 300 : 10);
	atomic_fetch_add(&fake_polls, 1);
	return 0;
}

static void fake_cancel(void *self, mpijob_exchange *exchange)
{
	fake_free_exchange(self, mpijob_exchange_slot(exchange));
}

static void fake_wake(void *self)
{
	((struct fake *)self)->woken++;
	errno = EAGAIN; /* as a write to a descriptor may */
}

void fake_destroy(void *self)
{
	((struct fake *)self)->destroyed++;
}

mpijob_client *fake_client(struct fake *fake)
{
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_client *client = NULL;

	memset(fake, 0, sizeof(*fake));
	fake->version = 100;
	transport.start = fake_start;
	transport.poll = fake_poll;
	transport.cancel = fake_cancel;
	transport.wake = fake_wake;
	transport.destroy = fake_destroy;
	if (mpijob_client_new(&transport, fake, &client))
		abort();
	return client;
}

void fake_release(struct fake *fake)
{
	while (fake->exchanges)
		fake_free_exchange(fake, fake->exchanges);
	while (fake->objects) {
		struct fake_object *object = fake->objects;

		fake->objects = object->next;
		fake_free_object(object);
	}
	for (size_t i = 0; i < fake->event_count; i++) {
		free(fake->events[i].collection);
		free(fake->events[i].namespace_);
		free(fake->events[i].json);
	}
	free(fake->events);
	for (size_t i = 0; i < fake->log_count; i++)
		free(fake->log[i]);
	free(fake->log);
	mpijob__base_text_release(&fake->last_body);
	mpijob__base_text_release(&fake->last_type);
}
