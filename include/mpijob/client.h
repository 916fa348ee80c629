/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client.h
 * A Kubernetes client: requests and answers over any transport.
 *
 * There are asynchronous and synchronous calls. An asynchronous call (mpijob_client_start(), or
 * mpijob_client_get_start() and so on, see tasks.h) progresses while mpijob_client_poll() runs,
 * concurrently with thousands of others, and ends with a callback. A synchronous call
 * (mpijob_client_get() and so on) polls until its answer has arrived. It is an inline function:
 * other languages use the asynchronous one and mpijob_task_wait().
 *
 * Each cause in the `Status` of a server becomes a finding, in the same form as findings of the
 * library.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_CLIENT_H
#define MPIJOB_CLIENT_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/tasks.h>
#include <mpijob/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A client; owns its transport. */
typedef struct mpijob_client mpijob_client;

/** @name Make, poll, free
 * @{ */

/**
 * Make a client.
 *
 * @param transport  not NULL; copied. `start`, `poll`, `cancel`, `wake` and `destroy` are required.
 * @param self       first argument of the transport's functions; may be NULL. *Taken*: the library
 *                   calls `destroy` with it when the client is freed, and also when this call fails
 *                   for any reason, unless `transport` is NULL or too short to contain `destroy`.
 * @param out        not NULL; receives the client, yours.
 * @return 0; `MPIJOB_ERR_USAGE` (a function is missing, NULL, size), `MPIJOB_ERR_UNSUPPORTED`
 *         (size); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_new(const struct mpijob_transport *transport, void *self,
    mpijob_client **out);

/** Rate limits and retries of a client. The defaults are those of client-go unless a member says
 * otherwise. */
struct mpijob_client_options {
	size_t size; /**< `sizeof` this struct. */
	/** Requests per second, not counting watches and followed logs; 0: no limit. */
	int32_t qps;
	/** Requests that an idle client may send at once; 0: twice `qps`. */
	int32_t burst;
	/** Retries of one request after 429 or 5xx with a Retry-After in seconds, and of a GET also
	 * after a broken connection; 0: 10; negative: none. A write whose result is unknown is
	 * never retried. */
	int32_t retries;
	/** Longest Retry-After in milliseconds that is waited for; if it is longer, the call
	 * returns the answer; 0: 60,000. */
	int64_t retry_after_most_ms;
	/** Receives the `Warning` headers of servers, each text once for each request. May be NULL.
	 */
	void (*warning)(void *user, const char *text);
	void *warning_user; /**< Passed to `warning`. */
};
#define MPIJOB_CLIENT_OPTIONS_INIT { sizeof(struct mpijob_client_options), 0, 0, 0, 0, NULL, NULL }

/**
 * Change the options of a client. They apply to requests that are started later.
 *
 * @param client   not NULL.
 * @param options  NULL for the defaults; copied.
 * @return 0; `MPIJOB_ERR_USAGE` (a negative rate); `MPIJOB_ERR_UNSUPPORTED` (size).
 * @since 0.1
 */
MPIJOB_API int mpijob_client_set_options(mpijob_client *client,
    const struct mpijob_client_options *options);

/**
 * Free a client. Running calls and tasks are cancelled without a callback, results that no
 * mpijob_task_wait() has taken are freed, the transport is destroyed.
 *
 * @param client  yours, or NULL. Must not be called from a callback inside mpijob_client_poll().
 * @since 0.1
 */
MPIJOB_API void mpijob_client_free(mpijob_client *client);

/**
 * Process all calls, and wait at most the given time for progress. Callbacks run inside this
 * function. It may return early without progress: check your condition and call it again.
 *
 * @param client      not NULL.
 * @param timeout_ms  milliseconds; 0: do not wait; negative: no limit.
 * @return 0; `MPIJOB_ERR_USAGE` (called from a callback); what the transport returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_poll(mpijob_client *client, int timeout_ms);

/**
 * Get a file descriptor and a deadline for an event loop of your own; see `interest` in
 * transport.h.
 *
 * @param client       not NULL.
 * @param fd           not NULL; receives the descriptor.
 * @param deadline_ms  not NULL; receives the deadline.
 * @return 0; `MPIJOB_ERR_UNSUPPORTED` (the transport does not have `interest`); `MPIJOB_ERR_USAGE`
 *         (NULL); what the transport returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_interest(mpijob_client *client, int *fd, int64_t *deadline_ms);

/**
 * Make the waiting mpijob_client_poll() return, or the next one if none is waiting. May be called
 * from any thread, and from a signal handler.
 *
 * @param client  not NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_client_wake(mpijob_client *client);

/**
 * Make the waiting synchronous call or mpijob_task_wait(), or the next one if none is waiting,
 * return `MPIJOB_ERR_CANCELLED`. May be called from any thread, and from a signal handler.
 * Asynchronous calls, other tasks, watches and logs continue. A waiting mpijob_client_poll()
 * returns too, but the request to cancel remains for the next synchronous call; so a program that
 * calls mpijob_client_poll() itself and cleans up afterwards should use mpijob_client_wake() and a
 * flag of its own.
 *
 * @param client  not NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_client_cancel(mpijob_client *client);

/**
 * Get the time of the API server, for comparing with the times that it writes. The `Date` of each
 * answer bounds it. Until a server has sent one, it is the wall clock of this machine.
 *
 * @param client  not NULL.
 * @return milliseconds since 1970.
 * @since 0.1
 */
MPIJOB_API int64_t mpijob_client_server_ms(const mpijob_client *client);

/** A request that has ended. All pointers are borrowed for the callback. */
struct mpijob_request_stats {
	size_t size;        /**< `sizeof` this struct of the library. */
	const char *method; /**< "GET", "POST", "PUT", "PATCH", "DELETE"; "other" for any other. */
	int32_t streaming;  /**< 1: a watch or a followed log; its duration is not a latency. */
	int32_t status;     /**< HTTP status; 0 when none came. */
	int32_t code;       /**< As in struct mpijob_answer. */
	int64_t took_ms;    /**< Milliseconds since the last attempt was sent. */
};

/** What an observer of a client is called with, for metrics. It must not start or cancel calls. */
struct mpijob_client_observer {
	size_t size; /**< `sizeof` this struct. */
	/** A request has ended and was not cancelled; those of watches, logs and tasks too. Called
	 * before the `done` of its caller. May be NULL. */
	void (*ended)(void *user, const struct mpijob_request_stats *stats);
	/** Bytes of a streamed answer have arrived. May be NULL. */
	void (*received)(void *user, size_t len);
	void *user; /**< Passed to both. */
};
#define MPIJOB_CLIENT_OBSERVER_INIT { sizeof(struct mpijob_client_observer), NULL, NULL, NULL }

/**
 * Observe all requests of a client. It has one observer: this one replaces the earlier one.
 *
 * @param client    not NULL.
 * @param observer  NULL: none any more; copied.
 * @return 0; `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_UNSUPPORTED` (size).
 * @since 0.1
 */
MPIJOB_API int mpijob_client_set_observer(mpijob_client *client,
    const struct mpijob_client_observer *observer);

/** @} */
/** @name Timers
 * @{ */

/** A function that mpijob_client_poll() calls at a given time. */
typedef struct mpijob_timer mpijob_timer;

/** Called when a timer is due. It may set or free the timer. */
typedef void (*mpijob_timer_fn)(void *user);

/**
 * Create a timer. It does not fire before it is set.
 *
 * @param client  borrowed; must outlive the timer; not NULL.
 * @param fire    not NULL.
 * @param user    passed to `fire`; may be NULL.
 * @param out     not NULL; the timer, yours.
 * @return 0; `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_timer_new(mpijob_client *client, mpijob_timer_fn fire, void *user,
    mpijob_timer **out);

/**
 * Set when a timer fires, instead of any earlier time. It fires once. Set inside of a callback of
 * a timer, it fires in the next poll at the earliest.
 *
 * @param timer   not NULL.
 * @param due_ms  a time of CLOCK_MONOTONIC in milliseconds; in the past: in the next poll;
 *                INT64_MAX: it does not fire.
 * @since 0.1
 */
MPIJOB_API void mpijob_timer_set(mpijob_timer *timer, int64_t due_ms);

/** Free a timer, which does not fire any more. `timer` yours, or NULL. @since 0.1 */
MPIJOB_API void mpijob_timer_free(mpijob_timer *timer);

/** @} */
/** @name Targets
 * @{ */

/** Known kinds have their scope; unknown kinds are namespaced. */
#define MPIJOB_SCOPE_AUTO       0
#define MPIJOB_SCOPE_NAMESPACED 1 /**< Objects of the kind are in namespaces. */
/** Objects of the kind are not in namespaces; `namespace_` is ignored. */
#define MPIJOB_SCOPE_CLUSTER 2

/**
 * An object or collection, with query parameters.
 *
 * A URL contains a resource, not a kind. For a custom resource, set the `plural` and `scope` of its
 * CustomResourceDefinition (spec.names.plural, spec.scope) or of the server's discovery. Without
 * `plural`, the resource is guessed from the kind in lower case: "s" is added, "es" after an "s",
 * and "y" becomes "ies" unless a vowel is before it. Names that end in "endpoints" are unchanged,
 * and PodMetrics and NodeMetrics of metrics.k8s.io are known. The guess is wrong for a resource
 * with another plural.
 */
struct mpijob_target {
	size_t size;             /**< `sizeof` this struct. */
	const char *api_version; /**< "v1", "batch/v1", "kubeflow.org/v2beta1"; not NULL. */
	const char *kind;        /**< "Pod"; not NULL. */
	/** NULL: all namespaces of a collection, or a kind without namespaces. */
	const char *namespace_;
	const char *name;        /**< NULL: the collection. */
	const char *subresource; /**< "status", "log"; NULL for the object itself. */
	/** Names and values in turn: name, value, name, value, ...; not escaped; may be NULL. */
	const char *const *query;
	size_t query_count; /**< Strings in `query`, an even number. */
	const char *plural; /**< The resource: "pods"; NULL: guessed from the kind. */
	int32_t scope;      /**< `MPIJOB_SCOPE_*`. */
	int32_t reserved;   /**< 0; fills the struct. */
};
#define MPIJOB_TARGET_INIT { sizeof(struct mpijob_target), NULL, NULL, NULL, NULL, NULL, NULL, \
	0, NULL, 0, 0 }

/**
 * Write the path and query of a target, percent-escaped.
 *
 * @param target  not NULL.
 * @param write   the sink; not NULL.
 * @param user    passed to the sink.
 * @return 0; `MPIJOB_ERR_USAGE` (a name of "", "." or "..", or with "/"; a name without the
 *         namespace that its kind has; an odd query; an unknown scope; a struct too short);
 *         `MPIJOB_ERR_UNSUPPORTED` (a struct with unknown members that are set);
 *         `MPIJOB_ERR_NOMEM`; what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_target_write(const struct mpijob_target *target, mpijob_write_fn write,
    void *user);

/** @} */
/** @name Asynchronous calls
 * @{ */

/** A running call; invalid after its `done` was called, or after mpijob_call_cancel(). */
typedef struct mpijob_call mpijob_call;

/** The answer to a call. All pointers are borrowed for the callback. */
struct mpijob_answer {
	size_t size; /**< `sizeof` this struct of the library. */
	/** 0, or `MPIJOB_ERR_*` for the HTTP status, or for a failure without an answer. */
	int32_t code;
	int32_t status; /**< HTTP status; 0 without an answer. */
	/** The body, NUL-terminated; "" if it was streamed with status 200. Never NULL. */
	const char *body;
	size_t body_len;    /**< Number of bytes. */
	const char *reason; /**< The Status' reason ("AlreadyExists"); NULL when absent. */
	/** For users: the Status' message, or a description of the failure; NULL on success. */
	const char *message;
	int64_t retry_after_ms; /**< Retry-After of the server in milliseconds; 0 when absent. */
};

/** Callbacks of a call. `done` is called exactly once, unless the call is cancelled. */
struct mpijob_callbacks {
	size_t size; /**< `sizeof` this struct. */
	/** Receives the bytes of a streamed answer with status 200. Return 0 to continue; another
	 * value ends the call with this code. */
	int (*data)(void *user, const char *data, size_t len);
	/** The call has ended. May start new calls. Not NULL. */
	void (*done)(void *user, const struct mpijob_answer *answer);
	void *user; /**< Passed to both. */
};
#define MPIJOB_CALLBACKS_INIT { sizeof(struct mpijob_callbacks), NULL, NULL, NULL }

/**
 * Start an asynchronous call. No callback runs inside this function.
 *
 * @param client     not NULL.
 * @param request    not NULL; copied, its `target` too.
 * @param callbacks  not NULL; copied. With `data`, the answer is streamed.
 * @param out        receives the call, borrowed, to cancel or pause it; may be NULL.
 * @return 0; `MPIJOB_ERR_USAGE` (also a target without a path, see mpijob_target_write()),
 *         `MPIJOB_ERR_UNSUPPORTED` (structs); `MPIJOB_ERR_NOMEM`; what the transport returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_start(mpijob_client *client, const struct mpijob_request *request,
    const struct mpijob_callbacks *callbacks, mpijob_call **out);

/** Cancel a call: its callbacks are not called any more. `call` not NULL, not ended. @since 0.1 */
MPIJOB_API void mpijob_call_cancel(mpijob_call *call);

/**
 * Pause (`on` 1) or continue (`on` 0) a streamed call: back-pressure for a slow reader. If the
 * transport cannot pause, the client buffers the data.
 *
 * @param call  not NULL, not ended.
 * @param on    1 or 0.
 * @since 0.1
 */
MPIJOB_API void mpijob_call_pause(mpijob_call *call, int on);

/**
 * Tell whether a call waits in the client's send queue: for the rate, or for its next attempt. When
 * mpijob_call_cancel() cancels it then, nothing more of it is sent.
 *
 * @param call  not NULL, not ended.
 * @return 1 or 0.
 * @since 0.1
 */
MPIJOB_API int mpijob_call_queued(const mpijob_call *call);

/** @} */
/** @name Synchronous calls, and the tasks that they start
 * Each synchronous function polls until its answer has arrived; other calls continue meanwhile. It
 * returns 0 or the code for the answer: `MPIJOB_ERR_AUTH` (401, 403), `MPIJOB_ERR_NOT_FOUND` (404),
 * `MPIJOB_ERR_CONFLICT` (409), `MPIJOB_ERR_REJECTED` (400, 413, 422), `MPIJOB_ERR_SERVER` (429,
 * 5xx), `MPIJOB_ERR_UNSUPPORTED` (405, 415, 501), `MPIJOB_ERR_IO`, `MPIJOB_ERR_UNREACHABLE`,
 * `MPIJOB_ERR_TIMEOUT`, `MPIJOB_ERR_CANCELLED`, `MPIJOB_ERR_NOMEM`, `MPIJOB_ERR_SYNTAX` (the answer
 * is not JSON, or larger than 64 MiB), `MPIJOB_ERR_USAGE` (also if it is called from a callback:
 * start a task with callbacks there). Parameters of a write (`fieldManager`, `fieldValidation`,
 * `dryRun`) belong to the target's `query`. After `MPIJOB_ERR_IO` or `MPIJOB_ERR_TIMEOUT` the
 * result of a write is unknown: read the object. The result is also unknown after 5xx from a
 * gateway; so a retry after 5xx may find the effect of its own first attempt, and return
 * `MPIJOB_ERR_CONFLICT` for a create or `MPIJOB_ERR_NOT_FOUND` for a deletion. The functions of
 * jobs.h resolve these cases themselves.
 * @{ */

/**
 * Start mpijob_client_get(); `done` gets the document.
 *
 * @param client     not NULL.
 * @param target     not NULL.
 * @param callbacks  NULL: for mpijob_task_wait(); copied.
 * @param out        receives the task, borrowed; may be NULL with callbacks.
 * @param diag       findings, or NULL; borrowed until the task has ended.
 * @return 0; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (structs); `MPIJOB_ERR_NOMEM`; the error
 *         of the transport; `MPIJOB_ERR_CANCELLED` (only without callbacks, see tasks.h).
 * @since 0.1
 */
MPIJOB_API int mpijob_client_get_start(mpijob_client *client, const struct mpijob_target *target,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/**
 * Get an object or list.
 *
 * @param client  not NULL.
 * @param target  not NULL.
 * @param out     not NULL; receives the document, yours.
 * @param diag    findings, or NULL.
 * @return see above.
 * @since 0.1
 */
static inline int mpijob_client_get(mpijob_client *client, const struct mpijob_target *target,
    mpijob_doc **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc =
	    out ? mpijob_client_get_start(client, target, NULL, &task, diag) : MPIJOB_ERR_USAGE;

	return rc ? rc : mpijob_task_wait(task, NULL, out);
}

/**
 * Start mpijob_client_list(); `done` gets the list.
 * Parameters as mpijob_client_get_start(), and
 *
 * @param page  items for each request; 0: 500.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_list_start(mpijob_client *client, const struct mpijob_target *target,
    int32_t page, const struct mpijob_task_callbacks *callbacks, mpijob_task **out,
    mpijob_diag *diag);

/**
 * Get a whole collection page by page as one list. All pages have the same resourceVersion if the
 * server supports it; if that version expires meanwhile, the list is of the newest version.
 *
 * @param client  not NULL.
 * @param target  the collection; not NULL. Its query must not contain `limit` and `continue`.
 * @param page    items for each page; 0: 500.
 * @param out     not NULL; receives the list, yours; all its items have apiVersion and kind.
 * @param diag    findings, or NULL.
 * @return see above.
 * @since 0.1
 */
static inline int mpijob_client_list(mpijob_client *client, const struct mpijob_target *target,
    int32_t page, mpijob_doc **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = out ? mpijob_client_list_start(client, target, page, NULL, &task, diag)
		     : MPIJOB_ERR_USAGE;

	return rc ? rc : mpijob_task_wait(task, NULL, out);
}

/** @name Kinds of writes
 * @{ */
/** Create an object; the target is the collection. */
#define MPIJOB_WRITE_CREATE 0
/** Replace an object; its resourceVersion, when it has one, must be current. */
#define MPIJOB_WRITE_UPDATE 1
/** Change an object by a JSON merge patch (RFC 7386). */
#define MPIJOB_WRITE_PATCH_MERGE 2
/** Change an object by a JSON patch (RFC 6902): a list of operations. */
#define MPIJOB_WRITE_PATCH_JSON 3
/** Change an object by a strategic merge patch of Kubernetes; for built-in kinds, not for MPIJobs.
 */
#define MPIJOB_WRITE_PATCH_STRATEGIC 4
/** Server-side apply: create an object, or set and own the fields that it has. With
 * `MPIJOB_ERR_CONFLICT`, a finding names each field that another manager owns. */
#define MPIJOB_WRITE_APPLY 5
/** @} */

/** Options of mpijob_client_write(). */
struct mpijob_write_options {
	size_t size;  /**< `sizeof` this struct. */
	int32_t verb; /**< `MPIJOB_WRITE_*`. */
	/** Name of the field manager, at most 128 printable bytes; NULL: "mpijob" for an apply,
	 * otherwise that of the target's query, or the server's default. */
	const char *field_manager;
	int32_t force;    /**< 1: an apply takes over fields of other managers. */
	int32_t reserved; /**< 0; fills the struct. */
};
#define MPIJOB_WRITE_OPTIONS_INIT { sizeof(struct mpijob_write_options), 0, NULL, 0, 0 }

/**
 * Start mpijob_client_write(); `done` gets the object as stored by the server.
 *
 * @param client     not NULL.
 * @param target     not NULL.
 * @param object     not NULL; copied.
 * @param options    NULL for the defaults; copied.
 * @param callbacks  NULL: for mpijob_task_wait(); copied.
 * @param out        receives the task, borrowed; may be NULL with callbacks.
 * @param diag       findings, or NULL; borrowed until the task has ended.
 * @return as mpijob_client_get_start(), mpijob_client_write().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_write_start(mpijob_client *client, const struct mpijob_target *target,
    const mpijob_node *object, const struct mpijob_write_options *options,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/**
 * Create, replace, patch or apply an object.
 *
 * @param client   not NULL.
 * @param target   the object, or for a create its collection; not NULL.
 * @param object   the object or patch; not NULL.
 * @param options  NULL: create it.
 * @param out      receives the object as stored by the server, yours; may be NULL.
 * @param diag     findings, or NULL.
 * @return see above; `MPIJOB_ERR_USAGE` also for `force` without an apply, and if the query sets
 *         what the options set too.
 * @since 0.1
 */
static inline int mpijob_client_write(mpijob_client *client, const struct mpijob_target *target,
    const mpijob_node *object, const struct mpijob_write_options *options, mpijob_doc **out,
    mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = mpijob_client_write_start(client, target, object, options, NULL, &task, diag);

	return rc ? rc : mpijob_task_wait(task, NULL, out);
}

/** Options of mpijob_client_delete(). */
struct mpijob_delete_options {
	size_t size; /**< `sizeof` this struct. */
	/** The object must have this UID, otherwise `MPIJOB_ERR_CONFLICT`; NULL: any. */
	const char *uid;
	/** The object must have this resourceVersion, otherwise `MPIJOB_ERR_CONFLICT`; NULL: any.
	 */
	const char *resource_version;
	/** "Background", "Foreground" or "Orphan"; NULL: the server's default. */
	const char *propagation;
	/** Grace period in seconds, 0: none; NULL: that of the object. */
	const int64_t *grace_seconds;
};
#define MPIJOB_DELETE_OPTIONS_INIT { sizeof(struct mpijob_delete_options), NULL, NULL, NULL, NULL }

/**
 * Start mpijob_client_delete().
 * Parameters as mpijob_client_get_start(), and
 *
 * @param options  NULL for the defaults; copied.
 * @return as mpijob_client_get_start(), mpijob_client_delete().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_delete_start(mpijob_client *client, const struct mpijob_target *target,
    const struct mpijob_delete_options *options, const struct mpijob_task_callbacks *callbacks,
    mpijob_task **out, mpijob_diag *diag);

/**
 * Delete an object. Parameters in the target's query (`dryRun`, `gracePeriodSeconds`, ...) have an
 * effect too.
 *
 * @param client   not NULL.
 * @param target   names the object; not NULL.
 * @param options  NULL for the defaults.
 * @param diag     findings, or NULL.
 * @return see above; `MPIJOB_ERR_USAGE` also if the query has a parameter twice, a parameter that
 *         the options set too, or an invalid number or boolean.
 * @since 0.1
 */
static inline int mpijob_client_delete(mpijob_client *client, const struct mpijob_target *target,
    const struct mpijob_delete_options *options, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = mpijob_client_delete_start(client, target, options, NULL, &task, diag);

	return rc ? rc : mpijob_task_wait(task, NULL, NULL);
}

/**
 * Write the body of a started DELETE: a DeleteOptions, as JSON of type "application/json". A server
 * that gets a body ignores the query.
 *
 * @param options  NULL for the defaults.
 * @param write    the sink; not NULL.
 * @param user     passed to the sink.
 * @return 0; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (size); `MPIJOB_ERR_NOMEM`; what the
 *         sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_delete_options_write(const struct mpijob_delete_options *options,
    mpijob_write_fn write, void *user);

/** A permission. */
struct mpijob_access {
	size_t size; /**< `sizeof` this struct. */
	/** "create", "get", "list", "watch", "update", "patch", "delete"; not NULL. */
	const char *verb;
	const char *group;       /**< "batch"; NULL or "": the core group. */
	const char *resource;    /**< Plural: "jobs"; not NULL. */
	const char *subresource; /**< "status"; NULL: none. */
	const char *namespace_;  /**< NULL: in all of them. */
	const char *name;        /**< NULL: any. */
};
#define MPIJOB_ACCESS_INIT { sizeof(struct mpijob_access), NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Start mpijob_client_can(); the `code` of `done` is 1 or 0.
 * Parameters as mpijob_client_get_start(), and
 *
 * @param access  not NULL.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_can_start(mpijob_client *client, const struct mpijob_access *access,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/**
 * Ask the server whether this client's user may do something (SelfSubjectAccessReview).
 *
 * @param client  not NULL.
 * @param access  not NULL.
 * @param diag    findings, or NULL; if it is not allowed, a note with the server's reason.
 * @return 1 if it is allowed, 0 if it is not; negative: see above.
 * @since 0.1
 */
static inline int mpijob_client_can(mpijob_client *client, const struct mpijob_access *access,
    mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = mpijob_client_can_start(client, access, NULL, &task, diag);

	return rc ? rc : mpijob_task_wait(task, NULL, NULL);
}

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_CLIENT_H */
