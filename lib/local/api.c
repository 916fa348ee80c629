/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of the Kubernetes API that the embedded API server supports: the verb of each method
 * and path, and the parameters and bodies of each verb. A parameter or field that is not supported
 * and would change the answer is rejected with 501 and named in the message.
 */
#include "local/api.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "local/deletion.h"
#include "local/log_times.h"
#include "local/logs.h"
#include "local/route.h"
#include "local/verbs.h"
#include "local/watches.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_WATCH_S 3600
#define MAX_WATCH_S     (7 * 24 * 3600)

struct request {
	struct mpijob_local *local;
	struct mpijob__local_call *call;
	struct mpijob__local_route route;
	struct mpijob__local_reply *reply;
};

static int reply_error(struct request *request, int code, const char *reason, char *message)
{
	return mpijob__local_reply_error(request->reply, code, reason, request->route.kind,
	    request->route.name, message);
}

static int unsupported(struct request *request, const char *what)
{
	return mpijob__local_reply_unsupported(request->reply, request->route.kind,
	    request->route.name, what);
}

static int is_set(const struct request *request, const char *name)
{
	const char *value = mpijob__local_route_parameter(&request->route, name);

	return value && *value && strcmp(value, "0") != 0;
}

static int check_parameters(struct request *request, const char *const *known)
{
	const char *unknown = mpijob__local_route_unknown_parameter(&request->route, known);
	char *what;
	int rc;

	if (!unknown)
		return 0;
	what = mpijob__base_text_format("the parameter %s", unknown);
	if (!what)
		return MPIJOB_ERR_NOMEM;
	rc = unsupported(request, what);
	free(what);
	return rc;
}

static struct mpijob__local_object *find_object(const struct request *request)
{
	const struct mpijob__local_route *route = &request->route;

	return mpijob__local_store_find(&request->local->store, route->kind->id,
	    route->namespace_ ? route->namespace_ : "", route->name);
}

/* ---- selectors ---- */

static int reply_selector_error(struct request *request, int error, const char *kind,
    const char *text)
{
	if (error == MPIJOB_ERR_SYNTAX)
		return reply_error(request, 400, "BadRequest",
		    mpijob__base_text_format("%s selector \"%s\" cannot be read", kind, text));
	if (error == MPIJOB_ERR_UNSUPPORTED)
		return unsupported(request, *kind == 'l'
						? "comparisons of numbers in label selectors"
						: "field selectors other than metadata.name=NAME");
	return error;
}

static int read_selector(struct request *request, struct mpijob__local_selector *selector)
{
	const char *labels = mpijob__local_route_parameter(&request->route, "labelSelector");
	const char *fields = mpijob__local_route_parameter(&request->route, "fieldSelector");
	int rc;

	memset(selector, 0, sizeof(*selector));
	if (request->route.namespace_) {
		selector->namespace_ = strdup(request->route.namespace_);
		if (!selector->namespace_)
			return MPIJOB_ERR_NOMEM;
	}
	rc = labels ? mpijob__local_selector_labels(selector, labels) : 0;
	if (rc)
		return reply_selector_error(request, rc, "label", labels);
	rc = fields ? mpijob__local_selector_fields(selector, fields) : 0;
	if (rc)
		return reply_selector_error(request, rc, "field", fields);
	/* Older clients watch one object by its path. */
	if (request->route.name && !selector->name) {
		selector->name = strdup(request->route.name);
		rc = selector->name ? 0 : MPIJOB_ERR_NOMEM;
	}
	return rc;
}

/* ---- GET ---- */

static int compare_names(const void *a, const void *b)
{
	const struct mpijob__local_object *first = *(struct mpijob__local_object *const *)a;
	const struct mpijob__local_object *second = *(struct mpijob__local_object *const *)b;
	int order = strcmp(first->namespace_, second->namespace_);

	return order ? order : strcmp(first->name, second->name);
}

static int write_text(mpijob_text *text, const char *words)
{
	return mpijob_text_write(text, words, strlen(words));
}

static int write_list(struct request *request, mpijob_text *text,
    struct mpijob__local_object **objects, size_t count)
{
	const struct mpijob__local_kind *kind = request->route.kind;
	char *head =
	    mpijob__base_text_format("{\"kind\":\"%sList\",\"apiVersion\":\"%s%s%s\","
				     "\"metadata\":{\"resourceVersion\":\"%llu\"},\"items\":[",
		kind->name, kind->group, *kind->group ? "/" : "", kind->version,
		(unsigned long long)request->local->store.version);
	int rc = head ? write_text(text, head) : MPIJOB_ERR_NOMEM;

	free(head);
	for (size_t i = 0; i < count && !rc; i++) {
		const mpijob_text *object = objects[i]->now->text;

		if (i > 0)
			rc = write_text(text, ",");
		if (!rc)
			rc = mpijob_text_write(text, mpijob_text_data(object),
			    mpijob_text_len(object));
	}
	return rc ? rc : write_text(text, "]}");
}

static int list_selected(struct request *request, const struct mpijob__local_selector *selector)
{
	struct mpijob__local_collection *collection =
	    &request->local->store.collections[request->route.kind->id];
	struct mpijob__local_object **objects =
	    calloc(collection->names.count + 1, sizeof(struct mpijob__local_object *));
	mpijob_text *text = mpijob_text_new();
	size_t count = 0;
	int rc = objects && text ? 0 : MPIJOB_ERR_NOMEM;

	for (struct mpijob__local_object *object =
		 mpijob__local_store_first(&request->local->store, request->route.kind->id);
	     object && !rc; object = mpijob__local_store_next(object)) {
		if (mpijob__local_selector_matches(selector, object->now))
			objects[count++] = object;
	}
	if (count > 1)
		qsort(objects, count, sizeof(struct mpijob__local_object *), compare_names);
	if (!rc)
		rc = write_list(request, text, objects, count);
	free(objects);
	if (rc) {
		mpijob_text_free(text);
		return rc;
	}
	request->reply->status = 200;
	request->reply->text = text;
	return 0;
}

static int check_version(struct request *request, uint64_t *version)
{
	const char *text = mpijob__local_route_parameter(&request->route, "resourceVersion");
	const char *match = mpijob__local_route_parameter(&request->route, "resourceVersionMatch");

	*version = 0;
	if (match && *match && strcmp(match, "NotOlderThan") != 0)
		return unsupported(request, "lists of the past (resourceVersionMatch=Exact)");
	if (!text || !*text || mpijob__base_number_parse(text, version))
		return 0;
	return reply_error(request, 400, "BadRequest",
	    mpijob__base_text_format("resourceVersion \"%s\" is not a number", text));
}

static int serve_list(struct request *request)
{
	struct mpijob__local_selector selector;
	uint64_t version;
	int rc = check_version(request, &version);

	if (rc || request->reply->status)
		return rc;
	if (version > request->local->store.version)
		return mpijob__local_reply_cause(request->reply, 504, "Timeout",
		    request->route.kind, NULL, "ResourceVersionTooLarge", NULL,
		    mpijob__base_text_format("Too large resource version: %llu, current: %llu",
			(unsigned long long)version,
			(unsigned long long)request->local->store.version));
	rc = read_selector(request, &selector);
	if (!rc && !request->reply->status)
		rc = list_selected(request, &selector);
	mpijob__local_selector_clear(&selector);
	return rc;
}

static int64_t watch_time(const struct request *request)
{
	const char *text = mpijob__local_route_parameter(&request->route, "timeoutSeconds");
	uint64_t seconds = 0;

	if (!text || !mpijob__base_number_parse(text, &seconds) || seconds == 0)
		seconds = DEFAULT_WATCH_S;
	return (int64_t)(seconds > MAX_WATCH_S ? MAX_WATCH_S : seconds) * 1000;
}

static int serve_watch(struct request *request)
{
	const struct mpijob__local_route *route = &request->route;
	struct mpijob__local_watch_options options = { .kind = route->kind };
	int rc = check_version(request, &options.since);

	if (rc || request->reply->status)
		return rc;
	rc = read_selector(request, &options.selector);
	if (rc || request->reply->status) {
		mpijob__local_selector_clear(&options.selector);
		return rc;
	}
	options.initial_events = mpijob__local_route_flag(route, "sendInitialEvents");
	options.from_now = options.since == 0 || options.initial_events;
	options.bookmarks = mpijob__local_route_flag(route, "allowWatchBookmarks");
	options.timeout_ms = watch_time(request);
	rc = mpijob__local_watches_open(request->local, request->call, &options,
	    &request->reply->stream);
	if (!rc)
		request->reply->status = 200;
	return rc;
}

static int serve_collection_get(struct request *request)
{
	static const char *const known[] = { "labelSelector", "fieldSelector", "watch",
		"resourceVersion", "resourceVersionMatch", "allowWatchBookmarks", "timeoutSeconds",
		"sendInitialEvents", "limit", "continue", "pretty", NULL };
	int rc = check_parameters(request, known);

	if (rc || request->reply->status)
		return rc;
	if (is_set(request, "limit") || is_set(request, "continue"))
		return unsupported(request, "pagination (limit, continue)");
	return mpijob__local_route_flag(&request->route, "watch") ? serve_watch(request)
								  : serve_list(request);
}

static int serve_object_get(struct request *request)
{
	static const char *const known[] = { "resourceVersion", "pretty", NULL };
	struct mpijob__local_object *object = find_object(request);
	int rc = check_parameters(request, known);

	if (rc || request->reply->status)
		return rc;
	if (!object)
		return mpijob__local_reply_not_found(request->reply, request->route.kind,
		    request->route.name);
	return mpijob__local_reply_object(request->reply, 200, object);
}

/* The parameters that select a part of a log. */
static int read_log_options(struct request *request, struct mpijob__local_log_options *options)
{
	const char *tail = mpijob__local_route_parameter(&request->route, "tailLines");
	const char *since = mpijob__local_route_parameter(&request->route, "sinceTime");
	const char *seconds = mpijob__local_route_parameter(&request->route, "sinceSeconds");
	const char *limit = mpijob__local_route_parameter(&request->route, "limitBytes");
	uint64_t number = 0;

	options->tail = -1;
	options->since_ns = INT64_MIN;
	options->limit = UINT64_MAX;
	if (limit && (!mpijob__base_number_parse(limit, &options->limit) || !options->limit))
		return reply_error(request, 422, "Invalid",
		    mpijob__base_text_format("limitBytes \"%s\" is not a number of 1 or more",
			limit));
	if (since && seconds)
		return reply_error(request, 422, "Invalid",
		    mpijob__base_text_format("give sinceTime or sinceSeconds, not both"));
	if (tail && !mpijob__base_number_parse(tail, &number))
		return reply_error(request, 400, "BadRequest",
		    mpijob__base_text_format("tailLines \"%s\" is not a number", tail));
	if (tail)
		options->tail = (int64_t)(number > INT32_MAX ? INT32_MAX : number);
	if (since && !mpijob__local_log_times_parse(since, &options->since_ns))
		return reply_error(request, 400, "BadRequest",
		    mpijob__base_text_format("sinceTime \"%s\" is not an RFC 3339 time", since));
	if (seconds && (!mpijob__base_number_parse(seconds, &number) || number == 0))
		return reply_error(request, 422, "Invalid",
		    mpijob__base_text_format("sinceSeconds \"%s\" is not a number above 0",
			seconds));
	if (seconds)
		options->since_ns = (mpijob__base_clock_wall_ms() -
					(int64_t)(number > INT32_MAX ? INT32_MAX : number) * 1000) *
				    1000000;
	return 0;
}

static int serve_log(struct request *request)
{
	static const char *const known[] = { "follow", "container", "previous", "pretty",
		"insecureSkipTLSVerifyBackend", "timestamps", "tailLines", "limitBytes",
		"sinceSeconds", "sinceTime", NULL };
	struct mpijob__local_object *object = find_object(request);
	struct mpijob__local_log_options options = {
		.container = mpijob__local_route_parameter(&request->route, "container")
	};
	int rc = check_parameters(request, known);

	if (!rc && !request->reply->status)
		rc = read_log_options(request, &options);

	if (rc || request->reply->status)
		return rc;
	if (!object)
		return mpijob__local_reply_not_found(request->reply, request->route.kind,
		    request->route.name);
	options.follow = mpijob__local_route_flag(&request->route, "follow");
	options.previous = mpijob__local_route_flag(&request->route, "previous");
	options.timestamps = mpijob__local_route_flag(&request->route, "timestamps");
	return mpijob__local_logs_open(request->local, request->call, object, &options,
	    request->reply);
}

static int serve_get(struct request *request)
{
	const struct mpijob__local_route *route = &request->route;

	if (!route->name)
		return serve_collection_get(request);
	if (route->subresource && strcmp(route->subresource, "log") == 0)
		return serve_log(request);
	if (mpijob__local_route_flag(route, "watch"))
		return unsupported(request,
		    "watches of one object by its path; use fieldSelector=metadata.name=NAME");
	return serve_object_get(request);
}

/* ---- create, update, patch ---- */

static const char *const write_parameters[] = { "fieldManager", "fieldValidation", "dryRun",
	"pretty", "force", NULL };

static int check_write(struct request *request)
{
	const char *validation = mpijob__local_route_parameter(&request->route, "fieldValidation");
	int rc = check_parameters(request, write_parameters);

	if (rc || request->reply->status)
		return rc;
	if (mpijob__local_route_parameter(&request->route, "dryRun"))
		return unsupported(request, "dry runs");
	if (mpijob__local_route_parameter(&request->route, "force"))
		return unsupported(request, "server-side apply");
	if (validation && strcmp(validation, "Strict") == 0)
		return unsupported(request, "strict field validation");
	return 0;
}

static int read_body(struct request *request, mpijob_doc **out)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	struct mpijob__local_call *call = request->call;
	mpijob_diag *diag = mpijob_diag_new();
	const struct mpijob_finding *finding;
	int rc;

	options.format = MPIJOB_FORMAT_JSON;
	rc = diag ? mpijob_doc_parse(call->body, call->body_len, &options, out, diag)
		  : MPIJOB_ERR_NOMEM;
	finding = mpijob_diag_at(diag, 0);
	if (rc == MPIJOB_ERR_SYNTAX)
		rc = reply_error(request, call->body_len > (3u << 20) ? 413 : 400,
		    call->body_len > (3u << 20) ? "RequestEntityTooLarge" : "BadRequest",
		    mpijob__base_text_format("the body cannot be read: %s",
			finding ? finding->message : "it is not JSON"));
	mpijob_diag_free(diag);
	return rc;
}

/* Whether the media type, without its parameters, is `wanted`. */
static int is_type(const char *type, const char *wanted)
{
	size_t len = type ? strcspn(type, "; ") : 0;

	return strlen(wanted) == len && strncmp(type, wanted, len) == 0;
}

static int check_json(struct request *request)
{
	const char *type = request->call->content_type;

	if (!type || is_type(type, "application/json"))
		return 0;
	return mpijob__local_reply_error(request->reply, 415, "UnsupportedMediaType", NULL, NULL,
	    mpijob__base_text_format("the body must be application/json, not %s", type));
}

static int serve_create(struct request *request)
{
	const struct mpijob__local_route *route = &request->route;
	mpijob_doc *doc = NULL;
	int rc = check_write(request);

	if (!rc && !request->reply->status)
		rc = check_json(request);
	if (!rc && !request->reply->status && !route->namespace_ &&
	    (route->kind->flags & MPIJOB__LOCAL_KIND_NAMESPACED))
		rc = reply_error(request, 405, "MethodNotAllowed",
		    mpijob__base_text_format("%s are created inside a namespace",
			route->kind->plural));
	if (!rc && !request->reply->status)
		rc = read_body(request, &doc);
	if (!rc && !request->reply->status)
		rc = mpijob__local_verbs_create(request->local, route->kind,
		    route->namespace_ ? route->namespace_ : "", mpijob_doc_root(doc),
		    request->reply, NULL);
	mpijob_doc_free(doc);
	return rc;
}

static int create_by_put(struct request *request, mpijob_doc *doc)
{
	const struct mpijob__local_route *route = &request->route;
	const char *name =
	    mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.name"));

	if (!name || strcmp(name, route->name) != 0)
		return reply_error(request, 400, "BadRequest",
		    mpijob__base_text_format(
			"the name of the object (%s) does not match that of the request (%s)",
			name ? name : "", route->name));
	if (!(route->kind->flags & MPIJOB__LOCAL_KIND_PUT_CREATES) || route->subresource)
		return mpijob__local_reply_not_found(request->reply, route->kind, route->name);
	return mpijob__local_verbs_create(request->local, route->kind, route->namespace_,
	    mpijob_doc_root(doc), request->reply, NULL);
}

static int serve_update(struct request *request)
{
	struct mpijob__local_object *object = find_object(request);
	mpijob_doc *doc = NULL;
	int rc = check_write(request);

	if (!rc && !request->reply->status)
		rc = check_json(request);
	if (!rc && !request->reply->status)
		rc = read_body(request, &doc);
	if (!rc && !request->reply->status && object) {
		rc = mpijob__local_verbs_update(request->local, object, doc,
		    request->route.subresource ? MPIJOB__LOCAL_UPDATE_STATUS : 0, request->reply);
		doc = NULL;
	} else if (!rc && !request->reply->status) {
		rc = create_by_put(request, doc);
	}
	mpijob_doc_free(doc);
	return rc;
}

static int check_patch(struct request *request)
{
	const char *type = request->call->content_type;

	if (is_type(type, "application/merge-patch+json"))
		return 0;
	if (is_type(type, "application/apply-patch+yaml") ||
	    is_type(type, "application/apply-patch+cbor"))
		return unsupported(request, "server-side apply");
	if (is_type(type, "application/json-patch+json"))
		return unsupported(request, "JSON patches; use application/merge-patch+json");
	if (is_type(type, "application/strategic-merge-patch+json"))
		return unsupported(request,
		    "strategic merge patches; use application/merge-patch+json");
	return mpijob__local_reply_error(request->reply, 415, "UnsupportedMediaType", NULL, NULL,
	    mpijob__base_text_format("a patch must be application/merge-patch+json, not %s",
		type ? type : "untyped"));
}

static int serve_patch(struct request *request)
{
	struct mpijob__local_object *object = find_object(request);
	mpijob_doc *doc = NULL;
	int rc = check_patch(request);

	if (!rc && !request->reply->status)
		rc = check_write(request);
	if (!rc && !request->reply->status && !object)
		rc = mpijob__local_reply_not_found(request->reply, request->route.kind,
		    request->route.name);
	if (!rc && !request->reply->status)
		rc = read_body(request, &doc);
	if (!rc && !request->reply->status)
		rc = mpijob__local_verbs_patch(request->local, object, mpijob_doc_root(doc),
		    request->route.subresource != NULL, request->reply);
	mpijob_doc_free(doc);
	return rc;
}

/* ---- DELETE ---- */

/* Not a stored kind: only error replies name it. */
static const struct mpijob__local_kind delete_options_kind = { MPIJOB__LOCAL_KIND_COUNT,
	"meta.k8s.io", "v1", "deleteoptions", "DeleteOptions", 0 };

static int read_policy(struct request *request, const char *text, int *policy)
{
	if (!text)
		return 0;
	if (strcmp(text, "Background") == 0)
		*policy = MPIJOB__LOCAL_DELETE_BACKGROUND;
	else if (strcmp(text, "Foreground") == 0)
		*policy = MPIJOB__LOCAL_DELETE_FOREGROUND;
	else if (strcmp(text, "Orphan") == 0)
		*policy = MPIJOB__LOCAL_DELETE_ORPHAN;
	else
		return mpijob__local_reply_invalid(request->reply, &delete_options_kind, "",
		    "FieldValueNotSupported", "propagationPolicy",
		    mpijob__base_text_format(
			"Unsupported value: \"%s\": use Background, Foreground or Orphan", text));
	return 0;
}

static int read_delete_body(struct request *request, const mpijob_node *body,
    struct mpijob__local_delete_options *options)
{
	static const char *const known[] = { "kind", "apiVersion", "propagationPolicy",
		"gracePeriodSeconds", "preconditions" };
	const mpijob_node *policy = mpijob_node_get(body, "propagationPolicy");

	for (size_t i = 0; i < mpijob_node_count(body); i++) {
		size_t j = 0;

		while (j < sizeof(known) / sizeof(known[0]) &&
		       strcmp(known[j], mpijob_node_key(body, i)) != 0)
			j++;
		if (j == sizeof(known) / sizeof(known[0]))
			return unsupported(request,
			    "this field of DeleteOptions; it supports propagationPolicy, "
			    "gracePeriodSeconds and preconditions");
	}
	mpijob_node_int(mpijob_node_get(body, "gracePeriodSeconds"), &options->grace);
	options->uid = mpijob_node_string(mpijob_node_find(body, "preconditions.uid"));
	options->version =
	    mpijob_node_text(mpijob_node_find(body, "preconditions.resourceVersion"));
	return read_policy(request, mpijob_node_string(policy), &options->policy);
}

static int read_delete_query(struct request *request, struct mpijob__local_delete_options *options)
{
	static const char *const known[] = { "propagationPolicy", "gracePeriodSeconds", "dryRun",
		"pretty", NULL };
	const char *grace = mpijob__local_route_parameter(&request->route, "gracePeriodSeconds");
	uint64_t seconds = 0;
	int rc = check_parameters(request, known);

	if (rc || request->reply->status)
		return rc;
	if (mpijob__local_route_parameter(&request->route, "dryRun"))
		return unsupported(request, "dry runs");
	if (grace && !mpijob__base_number_parse(grace, &seconds))
		return reply_error(request, 400, "BadRequest",
		    mpijob__base_text_format("gracePeriodSeconds \"%s\" is not a number", grace));
	if (grace)
		options->grace = (int64_t)(seconds > INT32_MAX ? INT32_MAX : seconds);
	return read_policy(request,
	    mpijob__local_route_parameter(&request->route, "propagationPolicy"), &options->policy);
}

static int serve_delete(struct request *request)
{
	struct mpijob__local_delete_options options = { NULL, NULL, -1,
		MPIJOB__LOCAL_DELETE_DEFAULT };
	struct mpijob__local_object *object = find_object(request);
	mpijob_doc *doc = NULL;
	int rc = read_delete_query(request, &options);

	if (!rc && !request->reply->status && request->call->body_len > 0)
		rc = read_body(request, &doc);
	if (!rc && !request->reply->status && doc)
		rc = read_delete_body(request, mpijob_doc_root(doc), &options);
	if (!rc && !request->reply->status && !object)
		rc = mpijob__local_reply_not_found(request->reply, request->route.kind,
		    request->route.name);
	if (!rc && !request->reply->status)
		rc = mpijob__local_deletion_serve(request->local, object, &options, request->reply);
	mpijob_doc_free(doc);
	return rc;
}

/* ---- dispatch ---- */

static int check_subresource(struct request *request)
{
	const struct mpijob__local_route *route = &request->route;

	if (!route->subresource)
		return 0;
	if (strcmp(route->subresource, "status") == 0 &&
	    (route->kind->flags & MPIJOB__LOCAL_KIND_STATUS))
		return 0;
	if (route->kind->id == MPIJOB__LOCAL_KIND_POD && strcmp(route->subresource, "log") == 0 &&
	    strcmp(request->call->method, "GET") == 0)
		return 0;
	if (route->kind->id == MPIJOB__LOCAL_KIND_POD)
		return unsupported(request, "this subresource of pods");
	return mpijob__local_reply_error(request->reply, 404, "NotFound", NULL, NULL,
	    mpijob__base_text_format("%s have no %s", route->kind->plural, route->subresource));
}

static int not_allowed(struct request *request)
{
	return reply_error(request, 405, "MethodNotAllowed",
	    mpijob__base_text_format("%s is not allowed here", request->call->method));
}

static int serve_kind(struct request *request)
{
	const char *method = request->call->method;
	const struct mpijob__local_route *route = &request->route;

	if (strcmp(method, "GET") == 0)
		return serve_get(request);
	if (!route->name)
		return strcmp(method, "POST") == 0 ? serve_create(request)
		       : strcmp(method, "DELETE") == 0
			   ? unsupported(request, "the deletion of collections")
			   : not_allowed(request);
	if (strcmp(method, "PUT") == 0)
		return serve_update(request);
	if (strcmp(method, "PATCH") == 0)
		return serve_patch(request);
	if (strcmp(method, "DELETE") == 0 && !route->subresource)
		return serve_delete(request);
	return not_allowed(request);
}

int mpijob__local_api_serve(struct mpijob_local *local, struct mpijob__local_call *call,
    struct mpijob__local_reply *reply)
{
	struct request request = { .local = local, .call = call, .reply = reply };
	int rc = mpijob__local_route_parse(&request.route, call->path);

	if (rc == MPIJOB_ERR_SYNTAX)
		rc = reply_error(&request, 400, "BadRequest",
		    mpijob__base_text_format("the path cannot be read"));
	else if (!rc && !request.route.kind)
		rc = reply_error(&request, 404, "NotFound",
		    mpijob__base_text_format("there is no resource at this path"));
	else if (!rc)
		rc = check_subresource(&request);
	if (!rc && !reply->status && request.route.kind)
		rc = serve_kind(&request);
	mpijob__local_route_clear(&request.route);
	return rc;
}
