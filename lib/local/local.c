/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded cluster as a transport. start() only queues a request. poll() does everything else
 * on the caller's thread: it serves requests, runs controllers and kubelet until the store no
 * longer changes, feeds watches and logs, and waits on one epoll set. Callbacks of the client may
 * start, cancel and poll; call->busy and call->cancelled decide when a call can be freed.
 */
#include "local/local.h"
#include "local/api.h"
#include "base/clock.h"
#include "base/secret.h"
#include "base/struct.h"
#include "base/text.h"
#include "local/gc.h"
#include "local/job_controller.h"
#include "local/kubelet.h"
#include "local/verbs.h"
#include "local/watches.h"

#include "local/exec_socket.h"

#include <mpijob/local.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS     64
#define MAX_ROUNDS 1000
#define MAX_SERVED 1000

/* ---- calls ---- */

static void call_free(struct mpijob__local_call *call)
{
	if (call->stream)
		call->stream->free(call->stream);
	mpijob__base_list_remove(&call->link);
	mpijob__base_secret_free(call->body, call->body_len);
	free(call->content_type);
	free(call->path);
	free(call->method);
	free(call);
}

static char *copy_or_null(const char *text, int *failed)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		*failed = 1;
	return copy;
}

static int copy_body(struct mpijob__local_call *call, const struct mpijob_request *request)
{
	if (!request->body || request->body_len == 0)
		return 0;
	call->body = malloc(request->body_len);
	if (!call->body)
		return MPIJOB_ERR_NOMEM;
	memcpy(call->body, request->body, request->body_len);
	call->body_len = request->body_len;
	return 0;
}

void mpijob__local_mark_ready(struct mpijob_local *local, struct mpijob__local_call *call)
{
	if (mpijob__base_list_is_linked(&call->ready) || call->paused || call->cancelled)
		return;
	mpijob__base_list_insert(&local->ready, &call->ready, call);
}

static void wake(void *self)
{
	struct mpijob_local *local = self;
	uint64_t one = 1;
	ssize_t written;

	do
		written = write(local->wake, &one, sizeof(one));
	while (written < 0 && errno == EINTR);
}

static int start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	struct mpijob_local *local = self;
	struct mpijob__local_call *call;
	int failed = 0;

	if (!request->method || !request->path)
		return MPIJOB_ERR_USAGE;
	call = calloc(1, sizeof(*call));
	if (!call)
		return MPIJOB_ERR_NOMEM;
	call->exchange = exchange;
	mpijob__base_list_insert(local->calls.next, &call->link, call);
	call->method = copy_or_null(request->method, &failed);
	call->path = copy_or_null(request->path, &failed);
	call->content_type = copy_or_null(request->content_type, &failed);
	if (failed || copy_body(call, request)) {
		call_free(call);
		return MPIJOB_ERR_NOMEM;
	}
	mpijob_exchange_set_slot(exchange, call);
	mpijob__local_mark_ready(local, call);
	wake(local);
	return 0;
}

static void cancel(void *self, mpijob_exchange *exchange)
{
	struct mpijob__local_call *call = mpijob_exchange_slot(exchange);

	(void)self;
	if (!call)
		return;
	mpijob__base_list_remove(&call->ready);
	call->cancelled = 1;
	if (!call->busy)
		call_free(call);
}

static void pause_call(void *self, mpijob_exchange *exchange, int on)
{
	struct mpijob_local *local = self;
	struct mpijob__local_call *call = mpijob_exchange_slot(exchange);

	if (!call)
		return;
	call->paused = on;
	if (on) {
		mpijob__base_list_remove(&call->ready);
	} else {
		mpijob__local_mark_ready(local, call);
		wake(local);
	}
}

int mpijob__local_send_data(struct mpijob_local *local, struct mpijob__local_call *call,
    const char *data, size_t len)
{
	if (call->cancelled)
		return 1;
	local->reports++;
	mpijob_exchange_data(call->exchange, data, len);
	return call->cancelled;
}

/* End the exchange. process_call() frees the call. */
static void end_call(struct mpijob_local *local, struct mpijob__local_call *call, int code)
{
	mpijob_exchange *exchange = call->exchange;

	if (call->cancelled)
		return;
	call->cancelled = 1;
	mpijob__base_list_remove(&call->ready);
	local->reports++;
	mpijob_exchange_set_slot(exchange, NULL);
	mpijob_exchange_end(exchange, code, code ? mpijob_error_text(code) : NULL);
}

static int send_reply(struct mpijob_local *local, struct mpijob__local_call *call,
    struct mpijob__local_reply *reply)
{
	const mpijob_text *body = reply->revision ? reply->revision->text : reply->text;

	local->reports++;
	mpijob_exchange_header(call->exchange, "Content-Type",
	    reply->type ? reply->type : "application/json");
	if (reply->warning && !call->cancelled) {
		char *text = mpijob__base_text_format("299 - \"%s\"", reply->warning);

		if (text)
			mpijob_exchange_header(call->exchange, "Warning", text);
		free(text);
	}
	if (!call->cancelled)
		mpijob_exchange_status(call->exchange, reply->status);
	if (body)
		mpijob__local_send_data(local, call, mpijob_text_data(body), mpijob_text_len(body));
	return call->cancelled;
}

static void serve(struct mpijob_local *local, struct mpijob__local_call *call)
{
	struct mpijob__local_reply reply = { 0, NULL, NULL, NULL, NULL, NULL };
	int rc = mpijob__local_api_serve(local, call, &reply);

	if (rc) {
		end_call(local, call, rc);
	} else if (!send_reply(local, call, &reply)) {
		if (reply.stream) {
			call->stream = reply.stream;
			reply.stream = NULL;
			mpijob__local_mark_ready(local, call);
		} else {
			end_call(local, call, 0);
		}
	}
	mpijob__local_reply_clear(&reply);
}

static void feed(struct mpijob_local *local, struct mpijob__local_call *call)
{
	int result = 1;

	while (result == 1 && !call->paused && !call->cancelled)
		result = call->stream->feed(call->stream, call);
	if (result == 2 || result < 0)
		end_call(local, call, result < 0 ? result : 0);
}

/* Serve a request, or feed a stream. */
static void process_call(struct mpijob_local *local, struct mpijob__local_call *call)
{
	int nested = call->busy;

	mpijob__base_list_remove(&call->ready);
	if (nested)
		return;
	call->busy = 1;
	if (call->stream)
		feed(local, call);
	else
		serve(local, call);
	call->busy = 0;
	if (call->cancelled)
		call_free(call);
}

/* ---- poll ---- */

static void object_changed(void *user, struct mpijob__local_object *object, int change)
{
	struct mpijob_local *local = user;

	mpijob__local_watches_changed(local, object->kind->id);
	mpijob__local_job_controller_changed(local, object, change);
	mpijob__local_kubelet_changed(local->kubelet, object, change);
	if (change == MPIJOB__LOCAL_CHANGE_DELETED)
		local->gc_pending = 1;
}

/*
 * Run each controller once. Watches are fed before the next round, so that a client that reads the
 * log of a container when it observes its end does so before a controller deletes the pod.
 */
static int run_controllers(struct mpijob_local *local, int64_t *next_ms)
{
	uint64_t version = local->store.version;
	int64_t clock = mpijob__base_clock_monotonic_ms();
	int64_t jobs = -1;
	int64_t pods = -1;
	int rc = mpijob__local_job_controller_run(local, clock, &jobs);

	if (!rc)
		rc = mpijob__local_kubelet_run(local->kubelet, clock, &pods);
	if (!rc)
		rc = mpijob__local_gc_run(local);
	*next_ms = mpijob__base_clock_earlier(mpijob__base_clock_earlier(jobs, pods),
	    mpijob__local_watches_run_due(local, clock));
	if (version != local->store.version)
		*next_ms = clock;
	return rc;
}

/* Serve and feed the ready calls, including those that callbacks start, up to MAX_SERVED. */
static int serve_ready(struct mpijob_local *local)
{
	int served = 0;

	while (local->ready.next->owner && served < MAX_SERVED) {
		served++;
		process_call(local, local->ready.next->owner);
	}
	mpijob__local_store_trim(&local->store);
	return served;
}

static int64_t wait_ms(int64_t next_ms, int64_t limit_ms)
{
	int64_t wait;

	if (next_ms < 0)
		return limit_ms;
	wait = next_ms - mpijob__base_clock_monotonic_ms();
	if (wait < 0)
		wait = 0;
	return limit_ms < 0 || wait < limit_ms ? wait : limit_ms;
}

static int wait_for_events(struct mpijob_local *local, int64_t timeout)
{
	struct epoll_event events[EVENTS];
	int count =
	    epoll_wait(local->epoll, events, EVENTS, timeout > INT_MAX ? INT_MAX : (int)timeout);

	if (count < 0)
		return errno == EINTR ? 0 : MPIJOB_ERR_IO;
	for (int i = 0; i < count; i++) {
		struct mpijob__local_event_source *source = events[i].data.ptr;
		uint64_t number;

		if (source)
			source->run(source);
		else if (read(local->wake, &number, sizeof(number)) < 0 && errno != EAGAIN &&
			 errno != EINTR)
			return MPIJOB_ERR_IO;
	}
	return count;
}

static int run_until_idle(struct mpijob_local *local, int64_t *next_ms)
{
	for (int round = 0; round < MAX_ROUNDS; round++) {
		uint64_t version = local->store.version;
		int rc = run_controllers(local, next_ms);

		if (!serve_ready(local) && version == local->store.version)
			return rc;
		if (rc)
			return rc;
	}
	*next_ms = mpijob__base_clock_monotonic_ms();
	return 0;
}

static int poll_local(void *self, int timeout_ms)
{
	struct mpijob_local *local = self;
	int64_t end = timeout_ms < 0 ? -1 : mpijob__base_clock_monotonic_ms() + timeout_ms;
	size_t reports = local->reports;
	int64_t next_ms = -1;
	int rc = run_until_idle(local, &next_ms);

	while (!rc) {
		int64_t left = end < 0 ? -1 : end - mpijob__base_clock_monotonic_ms();
		int count;

		if (local->reports != reports || (end >= 0 && left < 0))
			left = 0;
		count = wait_for_events(local, wait_ms(next_ms, left));
		if (count < 0)
			return count;
		rc = run_until_idle(local, &next_ms);
		if (rc || local->reports != reports || count > 0 ||
		    (end >= 0 && mpijob__base_clock_monotonic_ms() >= end))
			break;
	}
	return rc;
}

static int interest(void *self, int *fd, int64_t *deadline_ms)
{
	struct mpijob_local *local = self;
	int64_t next_ms = -1;
	int rc = run_controllers(local, &next_ms);

	*fd = local->epoll;
	*deadline_ms =
	    mpijob__base_list_first(&local->ready) ? mpijob__base_clock_monotonic_ms() : next_ms;
	return rc;
}

/* ---- descriptors ---- */

static int update_epoll(struct mpijob_local *local, int operation,
    struct mpijob__local_event_source *source, int read_, int write_)
{
	struct epoll_event event = { 0 };

	event.events = (read_ ? EPOLLIN : 0u) | (write_ ? EPOLLOUT : 0u);
	event.data.ptr = source;
	return epoll_ctl(local->epoll, operation, source ? source->fd : local->wake, &event)
		   ? MPIJOB_ERR_IO
		   : 0;
}

int mpijob__local_add_fd(struct mpijob_local *local, struct mpijob__local_event_source *source,
    int write_)
{
	return update_epoll(local, EPOLL_CTL_ADD, source, 1, write_);
}

int mpijob__local_modify_fd(struct mpijob_local *local, struct mpijob__local_event_source *source,
    int read_, int write_)
{
	return update_epoll(local, EPOLL_CTL_MOD, source, read_, write_);
}

void mpijob__local_remove_fd(struct mpijob_local *local, struct mpijob__local_event_source *source)
{
	update_epoll(local, EPOLL_CTL_DEL, source, 0, 0);
}

/* ---- notices ---- */

void mpijob__local_notice(struct mpijob_local *local, int severity, const char *id,
    const char *field, char *message)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;

	finding.severity = severity;
	finding.id = id;
	finding.field = field;
	finding.message = message;
	if (local->notice && message)
		local->notice(local->notice_user, &finding);
	free(message);
}

/* ---- create and free ---- */

static void destroy(void *self)
{
	struct mpijob_local *local = self;

	if (!local)
		return;
	while (local->calls.next->owner)
		call_free(local->calls.next->owner);
	mpijob__local_exec_socket_free(local->exec_socket);
	mpijob__local_kubelet_free(local->kubelet);
	mpijob__local_job_controller_clear(local);
	mpijob__local_store_clear(&local->store);
	if (local->wake >= 0)
		close(local->wake);
	if (local->epoll >= 0)
		close(local->epoll);
	free(local->cluster_domain);
	free(local);
}

static int add_default_namespace(struct mpijob_local *local)
{
	struct mpijob__local_reply reply = { 0, NULL, NULL, NULL, NULL, NULL };
	mpijob_doc *doc = mpijob_doc_new();
	int rc;

	mpijob_node_put_string(doc, mpijob_doc_make(doc, "metadata"), "name", "default");
	rc = mpijob_doc_error(doc) ? MPIJOB_ERR_NOMEM
				   : mpijob__local_verbs_create(local,
					 mpijob__local_store_kind(MPIJOB__LOCAL_KIND_NAMESPACE), "",
					 mpijob_doc_root(doc), &reply, NULL);
	mpijob__local_reply_clear(&reply);
	mpijob_doc_free(doc);
	return rc;
}

static int open_descriptors(struct mpijob_local *local)
{
	local->epoll = epoll_create1(EPOLL_CLOEXEC);
	local->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (local->epoll < 0 || local->wake < 0)
		return MPIJOB_ERR_IO;
	return update_epoll(local, EPOLL_CTL_ADD, NULL, 1, 0);
}

static int set_up(struct mpijob_local *local, const struct mpijob_local_options *options,
    mpijob_diag *diag)
{
	int rc;

	local->cluster_domain =
	    strdup(options->cluster_domain ? options->cluster_domain : "cluster.local");
	local->backoff_ms = options->backoff_base_ms > 0 ? options->backoff_base_ms : 10000;
	local->allow_host_path = options->allow_host_path;
	local->names_delay_ms = options->names_delay_ms;
	local->notice = options->notice;
	local->notice_user = options->notice_user;
	mpijob__local_store_init(&local->store, object_changed, local);
	rc = local->cluster_domain ? open_descriptors(local) : MPIJOB_ERR_NOMEM;
	if (!rc)
		rc = add_default_namespace(local);
	if (!rc && !options->no_node)
		rc = mpijob__local_kubelet_new(local, options->node_program, &local->kubelet, diag);
	if (!rc && !options->no_node)
		rc = mpijob__local_exec_socket_new(local, &local->exec_socket);
	return rc;
}

static int read_options(const struct mpijob_local_options *given,
    struct mpijob_local_options *options)
{
	int rc = mpijob__base_struct_check(options, sizeof(*options), given);

	if (rc)
		return rc;
	if (options->backoff_base_ms < 0 || options->names_delay_ms < 0 || options->no_node >> 1 ||
	    options->allow_host_path >> 1)
		return MPIJOB_ERR_USAGE;
	return 0;
}

static void fill_transport(struct mpijob_transport *transport)
{
	struct mpijob_transport table = MPIJOB_TRANSPORT_INIT;
	size_t size = transport->size < sizeof(table) ? transport->size : sizeof(table);

	table.size = transport->size;
	table.start = start;
	table.poll = poll_local;
	table.interest = interest;
	table.pause = pause_call;
	table.cancel = cancel;
	table.wake = wake;
	table.destroy = destroy;
	memcpy(transport, &table, size);
}

int mpijob_local_new(const struct mpijob_local_options *options, struct mpijob_transport *transport,
    mpijob_local **out, mpijob_diag *diag)
{
	struct mpijob_local_options known;
	struct mpijob_local *local;
	int rc = read_options(options, &known);

	if (rc)
		return rc;
	if (!transport || transport->size < sizeof(struct mpijob_transport) || !out)
		return MPIJOB_ERR_USAGE;
	local = calloc(1, sizeof(*local));
	if (!local)
		return MPIJOB_ERR_NOMEM;
	mpijob__base_list_init(&local->calls);
	mpijob__base_list_init(&local->ready);
	for (size_t kind = 0; kind < MPIJOB__LOCAL_KIND_COUNT; kind++)
		mpijob__base_list_init(&local->watches[kind]);
	local->epoll = -1;
	local->wake = -1;
	rc = set_up(local, &known, diag);
	if (rc) {
		destroy(local);
		return rc;
	}
	fill_transport(transport);
	*out = local;
	return 0;
}
