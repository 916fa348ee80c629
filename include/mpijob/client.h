/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client.h
 * A client of any cluster: requests and answers over whichever transport it was given.
 *
 * Every call can be made in two ways. Started (`mpijob_client_start`), it goes on while
 * mpijob_client_poll() runs, beside thousands of others, and ends in a callback. Or made at once
 * (mpijob_client_get() and its sisters), which polls until the answer is there.
 *
 * What a server says in a `Status` becomes findings, one for each cause, as if the check had been
 * local.
 */
#ifndef MPIJOB_CLIENT_H
#define MPIJOB_CLIENT_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A client; owns its transport. */
typedef struct mpijob_client mpijob_client;

/** @name Make, drive, free
 * @{ */

/**
 * Make a client.
 *
 * @param transport  not NULL; copied. `start`, `poll`, `cancel`, `wake` and `destroy` must be
 *                   there.
 * @param self       what the transport's functions get first; may be NULL. *Taken*: `destroy` is
 *                   called with it when the client is freed, and also when this call fails, for
 *                   whatever reason, unless `transport` is NULL or too short to hold `destroy`.
 * @param out        not NULL; the client, yours.
 * @return 0; `MPIJOB_ERR_USAGE` (a function is missing, NULL, size), `MPIJOB_ERR_UNSUPPORTED`
 *         (size); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_new(const struct mpijob_transport *transport, void *self,
    mpijob_client **out);

/** How a client behaves toward its server; as client-go unless said otherwise. */
struct mpijob_client_options {
	size_t size; /**< `sizeof` this struct. */
	/** Requests a second that may leave, watches and followed logs not counted; 0: no limit. */
	int32_t qps;
	/** Requests that may leave at once on top, when the client was quiet; 0: twice `qps`. */
	int32_t burst;
	/** How often one request is sent again after 429 or 5xx with a Retry-After in seconds, and
	 * a GET also after a broken connection; 0: 10; negative: never. A write whose outcome is
	 * unknown is never sent again. */
	int32_t retries;
	/** A server may make a retry wait so long at most; beyond it the answer is handed on; 0:
	 * 60,000. */
	int64_t retry_after_most_ms;
	/** Called with what servers warn of (`Warning` headers), each text once for each request.
	 * May be NULL. */
	void (*warning)(void *user, const char *text);
	void *warning_user; /**< Passed to `warning`. */
};
#define MPIJOB_CLIENT_OPTIONS_INIT { sizeof(struct mpijob_client_options), 0, 0, 0, 0, NULL, NULL }

/**
 * Change how a client behaves; for requests from now on.
 *
 * @param client   not NULL.
 * @param options  NULL for the defaults; copied.
 * @return 0; `MPIJOB_ERR_USAGE` (a negative rate); `MPIJOB_ERR_UNSUPPORTED` (size).
 * @since 0.1
 */
MPIJOB_API int mpijob_client_set_options(mpijob_client *client,
    const struct mpijob_client_options *options);

/**
 * Free a client: calls under way are cancelled without a callback, the transport is destroyed.
 *
 * @param client  yours, or NULL. Not from inside of mpijob_client_poll() and its callbacks.
 * @since 0.1
 */
MPIJOB_API void mpijob_client_free(mpijob_client *client);

/**
 * Move all calls on; callbacks happen inside. Wait at most so long for something to happen. It may
 * return before that with nothing done: look at what you wait for, and call it again.
 *
 * @param client      not NULL.
 * @param timeout_ms  milliseconds; 0: do not wait; negative: no limit.
 * @return 0; `MPIJOB_ERR_USAGE` (from inside of a callback); what the transport returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_poll(mpijob_client *client, int timeout_ms);

/**
 * For a host's own event loop; see `interest` in transport.h.
 *
 * @param client       not NULL.
 * @param fd           not NULL.
 * @param deadline_ms  not NULL.
 * @return 0; `MPIJOB_ERR_UNSUPPORTED` (the transport has no such thing); `MPIJOB_ERR_USAGE` (NULL);
 *         what the transport returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_interest(mpijob_client *client, int *fd, int64_t *deadline_ms);

/**
 * Make a waiting mpijob_client_poll() return, or the next one when none waits. May be called from
 * any thread, and from a signal handler.
 *
 * @param client  not NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_client_wake(mpijob_client *client);

/**
 * Make the call made at once that waits on this client, or the next one, return
 * `MPIJOB_ERR_CANCELLED`. May be called from any thread, and from a signal handler. Started calls,
 * watches and logs go on. A waiting mpijob_client_poll() returns too, but what was asked for stays
 * for the next call made at once: who polls by hand and means to clean up afterwards takes
 * mpijob_client_wake() and a flag.
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
/** @name Name what you want
 * @{ */

/** As the kind is known; kinds that are not known are in namespaces. */
#define MPIJOB_SCOPE_AUTO       0
#define MPIJOB_SCOPE_NAMESPACED 1 /**< Objects of the kind are in namespaces. */
#define MPIJOB_SCOPE_CLUSTER    2 /**< They are not; `namespace_` is ignored. */

/**
 * Which object or collection, and how.
 *
 * A URL names a resource, not a kind. For a custom resource, give the `plural` and `scope` of its
 * CustomResourceDefinition (spec.names.plural, spec.scope), or of the server's discovery. Where
 * they are not given, the resource is guessed from the kind, in lower case: "s" is added, "es"
 * after an "s", and "y" becomes "ies" unless a vowel is before it. What ends in "endpoints" stays,
 * and PodMetrics and NodeMetrics of metrics.k8s.io are known. A guess is wrong for a resource whose
 * author chose another plural.
 */
struct mpijob_target {
	size_t size;             /**< `sizeof` this struct. */
	const char *api_version; /**< "v1", "batch/v1", "kubeflow.org/v2beta1"; not NULL. */
	const char *kind;        /**< "Pod"; not NULL. */
	/** NULL: all namespaces of a collection, or a kind without namespaces. */
	const char *namespace_;
	const char *name;        /**< NULL: the collection. */
	const char *subresource; /**< "status", "log"; NULL for the object itself. */
	/** Pairs: name, value, name, value, ...; unescaped; may be NULL. */
	const char *const *query;
	size_t query_count; /**< Strings in `query`, an even number. */
	const char *plural; /**< The resource: "pods"; NULL: guessed from the kind. */
	int32_t scope;      /**< `MPIJOB_SCOPE_*`. */
};
#define MPIJOB_TARGET_INIT { sizeof(struct mpijob_target), NULL, NULL, NULL, NULL, NULL, NULL, \
	0, NULL, 0 }

/**
 * Write the path and query of a target, percent-escaped.
 *
 * @param target  not NULL.
 * @param write   the sink; not NULL.
 * @param user    passed to the sink.
 * @return 0; `MPIJOB_ERR_USAGE` (a name of "", "." or "..", or with "/"; a name without the
 *         namespace that its kind has; an odd query; an unknown scope; a struct too short);
 *         `MPIJOB_ERR_UNSUPPORTED` (a struct with more members than are known); `MPIJOB_ERR_NOMEM`;
 *         what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_target_write(const struct mpijob_target *target, mpijob_write_fn write,
    void *user);

/** @} */
/** @name Started calls
 * @{ */

/** A call under way; dead after its `done` was called or mpijob_call_cancel(). */
typedef struct mpijob_call mpijob_call;

/** The answer to a call. All pointers are borrowed for the callback. */
struct mpijob_answer {
	size_t size; /**< `sizeof` this struct of the library. */
	/** 0, or `MPIJOB_ERR_*`: what the status, or the failure without one, means. */
	int32_t code;
	int32_t status; /**< HTTP status; 0 when none came. */
	/** The body, NUL-terminated; "" for a streamed one of status 200. Never NULL. */
	const char *body;
	size_t body_len;    /**< Its bytes. */
	const char *reason; /**< The Status' reason ("AlreadyExists"); NULL when absent. */
	/** For people: the Status' message, or what failed; NULL when all is well. */
	const char *message;
	int64_t retry_after_ms; /**< The server asks to wait so long; 0 when it does not. */
};

/** What to call back. `done` is called exactly once, unless the call is cancelled. */
struct mpijob_callbacks {
	size_t size; /**< `sizeof` this struct. */
	/** Bytes of a streamed answer of status 200, as they come; return 0 to go on, else the call
	 * is ended with that code. */
	int (*data)(void *user, const char *data, size_t len);
	/** The call is over. New calls may be started here. Not NULL. */
	void (*done)(void *user, const struct mpijob_answer *answer);
	void *user; /**< Passed to both. */
};
#define MPIJOB_CALLBACKS_INIT { sizeof(struct mpijob_callbacks), NULL, NULL, NULL }

/**
 * Start a call. It never ends inside this function.
 *
 * @param client     not NULL.
 * @param request    not NULL; copied, its `target` too.
 * @param callbacks  not NULL; copied. With `data`, the answer is streamed.
 * @param out        set to the call, borrowed, for cancelling; may be NULL.
 * @return 0; `MPIJOB_ERR_USAGE` (also a target without a path, see mpijob_target_write()),
 *         `MPIJOB_ERR_UNSUPPORTED` (structs); `MPIJOB_ERR_NOMEM`; what the transport returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_start(mpijob_client *client, const struct mpijob_request *request,
    const struct mpijob_callbacks *callbacks, mpijob_call **out);

/** Give a call up: no callback comes any more. `call` not NULL, not ended. @since 0.1 */
MPIJOB_API void mpijob_call_cancel(mpijob_call *call);

/**
 * Stop (`on` 1) or go on (`on` 0) receiving data of a streamed call: back-pressure for a reader
 * that is behind. Where the transport cannot do that, data that comes is kept for you.
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
/** @name Calls made at once
 * Each polls until the answer is there; other calls go on meanwhile. They return 0 or what the
 * answer means: `MPIJOB_ERR_AUTH` (401, 403), `MPIJOB_ERR_NOT_FOUND` (404), `MPIJOB_ERR_CONFLICT`
 * (409), `MPIJOB_ERR_REJECTED` (400, 413, 422), `MPIJOB_ERR_SERVER` (429, 5xx),
 * `MPIJOB_ERR_UNSUPPORTED` (405, 415, 501), `MPIJOB_ERR_IO`, `MPIJOB_ERR_UNREACHABLE`,
 * `MPIJOB_ERR_TIMEOUT`, `MPIJOB_ERR_CANCELLED`, `MPIJOB_ERR_NOMEM`, `MPIJOB_ERR_SYNTAX` (the answer
 * is no JSON, or larger than 64 MiB), `MPIJOB_ERR_USAGE` (also from inside of a callback: start a
 * call there). What a write takes beyond its body (`fieldManager`, `fieldValidation`, `dryRun`)
 * goes into the target's `query`. After `MPIJOB_ERR_IO` or `MPIJOB_ERR_TIMEOUT` of a write nobody
 * knows whether it happened: look first. Nor is that known after 5xx from a gateway; so what was
 * sent again after one may meet itself, as `MPIJOB_ERR_CONFLICT` of a create or
 * `MPIJOB_ERR_NOT_FOUND` of a deletion. The calls of jobs.h look by themselves.
 * @{ */

/**
 * Get an object or list.
 *
 * @param client  not NULL.
 * @param target  not NULL.
 * @param out     not NULL; the document, yours.
 * @param diag    findings, or NULL.
 * @return see above.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_get(mpijob_client *client, const struct mpijob_target *target,
    mpijob_doc **out, mpijob_diag *diag);

/**
 * Get a whole collection, page by page, as one list: of one moment where the server can, and of the
 * newest moment when it forgot the first one meanwhile.
 *
 * @param client  not NULL.
 * @param target  the collection; not NULL. `limit` and `continue` in its query are ours to set.
 * @param page    items asked for at a time; 0: 500.
 * @param out     not NULL; a list whose items all have apiVersion and kind, yours.
 * @param diag    findings, or NULL.
 * @return see above.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_list(mpijob_client *client, const struct mpijob_target *target,
    int32_t page, mpijob_doc **out, mpijob_diag *diag);

/**
 * Create an object.
 *
 * @param client   not NULL.
 * @param target   the collection; not NULL.
 * @param object   not NULL.
 * @param out      what the server stored, yours; may be NULL.
 * @param diag     findings, or NULL.
 * @return see above.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_create(mpijob_client *client, const struct mpijob_target *target,
    const mpijob_node *object, mpijob_doc **out, mpijob_diag *diag);

/**
 * Replace an object; its resourceVersion, when it has one, must be current.
 * Parameters as mpijob_client_create(), `target` names the object.
 * @return see above.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_update(mpijob_client *client, const struct mpijob_target *target,
    const mpijob_node *object, mpijob_doc **out, mpijob_diag *diag);

/**
 * Change an object by a JSON merge patch.
 * Parameters as mpijob_client_create(), `target` names the object.
 * @return see above.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_patch(mpijob_client *client, const struct mpijob_target *target,
    const mpijob_node *patch, mpijob_doc **out, mpijob_diag *diag);

#define MPIJOB_PATCH_MERGE     0 /**< JSON merge patch (RFC 7386). */
#define MPIJOB_PATCH_JSON      1 /**< JSON patch (RFC 6902): a list of operations. */
#define MPIJOB_PATCH_STRATEGIC 2 /**< Kubernetes' own; for built-in kinds, not for MPIJobs. */

/**
 * Change an object by a patch of the given type.
 * Parameters as mpijob_client_patch(), and
 *
 * @param type  `MPIJOB_PATCH_*`.
 * @return see above.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_patch_typed(mpijob_client *client, const struct mpijob_target *target,
    int32_t type, const mpijob_node *patch, mpijob_doc **out, mpijob_diag *diag);

/** How an object is applied. */
struct mpijob_apply_options {
	size_t size; /**< `sizeof` this struct. */
	/** Who owns the fields, at most 128 printable bytes; NULL: "mpijob". */
	const char *field_manager;
	int32_t force; /**< 1: take fields over that others own. */
};
#define MPIJOB_APPLY_OPTIONS_INIT { sizeof(struct mpijob_apply_options), NULL, 0 }

/**
 * Apply an object on the server's side: create it, or own and set just the fields that it has.
 * Fields that others own are findings, one for each, with `MPIJOB_ERR_CONFLICT`.
 *
 * @param client   not NULL.
 * @param target   names the object; not NULL.
 * @param object   not NULL.
 * @param options  NULL for the defaults.
 * @param out      what the server stored, yours; may be NULL.
 * @param diag     findings, or NULL.
 * @return see above.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_apply(mpijob_client *client, const struct mpijob_target *target,
    const mpijob_node *object, const struct mpijob_apply_options *options, mpijob_doc **out,
    mpijob_diag *diag);

/**
 * Delete an object: mpijob_client_delete_with() with the options that are needed most.
 *
 * @param client       not NULL.
 * @param target       names the object; not NULL.
 * @param uid          the object must have this UID, else `MPIJOB_ERR_CONFLICT`; NULL: any.
 * @param propagation  "Background", "Foreground" or "Orphan"; NULL: the server's default.
 * @param diag         findings, or NULL.
 * @return see above.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_delete(mpijob_client *client, const struct mpijob_target *target,
    const char *uid, const char *propagation, mpijob_diag *diag);

/** What is asked of a deletion. */
struct mpijob_delete_options {
	size_t size; /**< `sizeof` this struct. */
	/** The object must have this UID, else `MPIJOB_ERR_CONFLICT`; NULL: any. */
	const char *uid;
	/** The object must be of this version, else `MPIJOB_ERR_CONFLICT`; NULL: any. */
	const char *resource_version;
	/** "Background", "Foreground" or "Orphan"; NULL: the server's default. */
	const char *propagation;
	/** How long containers may take to end, 0: none; NULL: as the object says. */
	const int64_t *grace_seconds;
};
#define MPIJOB_DELETE_OPTIONS_INIT { sizeof(struct mpijob_delete_options), NULL, NULL, NULL, NULL }

/**
 * Delete an object, as said by options. What the target's query says (`dryRun`,
 * `gracePeriodSeconds`, ...) holds too.
 *
 * @param client   not NULL.
 * @param target   names the object; not NULL.
 * @param options  NULL for the defaults.
 * @param diag     findings, or NULL.
 * @return see above; `MPIJOB_ERR_USAGE` also when the query has a parameter twice, or one that
 *         the options set, or a value that is not a number or not a boolean.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_delete_with(mpijob_client *client, const struct mpijob_target *target,
    const struct mpijob_delete_options *options, mpijob_diag *diag);

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

/** Something that one may be allowed to do. */
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
 * Ask the server whether this client's user may do something (SelfSubjectAccessReview).
 *
 * @param client  not NULL.
 * @param access  not NULL.
 * @param diag    findings, or NULL; when the answer is no, the server's reason as a note.
 * @return 1 allowed, 0 not; negative: see above.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_can(mpijob_client *client, const struct mpijob_access *access,
    mpijob_diag *diag);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_CLIENT_H */
