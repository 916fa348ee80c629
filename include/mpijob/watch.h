/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file watch.h
 * Watch a collection: report the existing objects, then every change (client-go's Reflector).
 *
 * A watch lists once (or streams the list), and watches from that resourceVersion. It recovers from
 * ended streams, connections that break or become silent, expired versions ("410 Gone") and
 * overload. If it must list again, objects that were deleted meanwhile are not in the new list. A
 * watch runs until you free it; mpijob_watch_health_get() reports when further attempts will hardly
 * succeed.
 *
 * It runs inside mpijob_client_poll(), concurrently with all other calls.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_WATCH_H
#define MPIJOB_WATCH_H

#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/tasks.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A watch. */
typedef struct mpijob_watch mpijob_watch;

#define MPIJOB_WATCH_LISTED   0 /**< It exists: part of a list. */
#define MPIJOB_WATCH_ADDED    1 /**< It was added, or begins to match. */
#define MPIJOB_WATCH_MODIFIED 2 /**< It was modified. */
#define MPIJOB_WATCH_DELETED \
	3 /**< It was deleted, or no longer matches; the object is its last state. */

/** An event about one object. All pointers are borrowed for the call; absent strings are "". */
struct mpijob_watch_event {
	size_t size;   /**< `sizeof` this struct of the library. */
	int32_t event; /**< `MPIJOB_WATCH_*`. */
	/** The object as JSON, with apiVersion and kind; NULL if it is larger than the limit. */
	const char *json;
	size_t json_len; /**< Bytes of `json`. */
	/** Bytes of the received object; above the limit if `json` is NULL. */
	size_t whole_len;
	const char *uid;              /**< metadata.uid. */
	const char *name;             /**< metadata.name. */
	const char *namespace_;       /**< metadata.namespace. */
	const char *resource_version; /**< metadata.resourceVersion. */
};

/** The watched collection and the callbacks. */
struct mpijob_watch_options {
	size_t size;                /**< `sizeof` this struct. */
	const char *api_version;    /**< "v1", "kubeflow.org/v2beta1"; not NULL. */
	const char *kind;           /**< "Pod"; not NULL. */
	const char *namespace_;     /**< NULL: all namespaces. */
	const char *name;           /**< Only this object; NULL: all. */
	const char *label_selector; /**< As kubectl's -l; NULL: all. */
	size_t object_limit;        /**< Maximum bytes of one object; 0: 8 MiB. */
	uint64_t seed; /**< Seed of the jitter that spreads watches over time; any number. */
	/** A list begins: objects that are not reported before `listed` are deleted. May be NULL.
	 */
	void (*begin)(void *user);
	/** An event. Return 0; `MPIJOB_ERR_NOMEM` or `MPIJOB_ERR_SYNTAX` (the object cannot be
	 * parsed: the stream is damaged) to get it again; any other code ends the watch and is
	 * passed to `failed`. Not NULL. */
	int (*object)(void *user, const struct mpijob_watch_event *event);
	/** A list is complete, at this resourceVersion. The results are those of `object`. May be
	 * NULL. */
	int (*listed)(void *user, const char *resource_version);
	/** A request ("list" or "watch") failed and will be retried. Called once per cause, and
	 * once more when the watch becomes hopeless, see struct mpijob_watch_health. May be NULL.
	 */
	void (*failed)(void *user, const struct mpijob_answer *answer, const char *what);
	void *user;         /**< Passed to the callbacks. */
	const char *plural; /**< As in struct mpijob_target; NULL: derived from the kind. */
	int32_t scope;      /**< As in struct mpijob_target, `MPIJOB_SCOPE_*`. */
	int32_t reserved;   /**< 0; fills the struct. */
};
#define MPIJOB_WATCH_OPTIONS_INIT { sizeof(struct mpijob_watch_options), NULL, NULL, NULL, \
	NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0 }

/**
 * Start to watch. The next poll sends the first request.
 *
 * @param client   borrowed; must outlive the watch; not NULL.
 * @param options  not NULL; copied.
 * @param out      not NULL; receives the watch, which you free.
 * @return 0; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (options); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_watch_new(mpijob_client *client, const struct mpijob_watch_options *options,
    mpijob_watch **out);

/** Stop and free a watch, also from its callbacks. No callback is called afterwards. NULL does
 * nothing.
 * @since 0.1 */
MPIJOB_API void mpijob_watch_free(mpijob_watch *watch);

/** How a watch does. */
struct mpijob_watch_health {
	size_t size; /**< `sizeof` this struct of the library. */
	/** `MPIJOB_ERR_*` of the failure after which it tries again; 0: the last request did not
	 * fail, or the server has accepted the stream that runs. */
	int32_t code;
	/** Milliseconds since the last byte from the server, the age of what you know; -1 until
	 * `synced`. */
	int64_t silent_ms;
	int32_t synced; /**< 1: the first list is complete. It never becomes 0 again. */
	/**
	 * 1: retries will hardly fix the last failure, for callers that do not wait indefinitely; 0
	 * again after a success.
	 *
	 * - Before the first list is complete: every answer except "try later" is hopeless, such as
	 * a missing permission, an unknown kind, or an answer that is not a list.
	 * - Later, when such an answer may be temporary (the server starts, a token is renewed): it
	 * is hopeless if no other answer has arrived for a minute.
	 * - Lost connections, and servers that fail or are overloaded, are never hopeless.
	 * - A watch that a callback has ended with an error is hopeless.
	 */
	int32_t hopeless;
};

/**
 * Get the health of a watch.
 *
 * @param watch  not NULL.
 * @return borrowed from the watch until the next call.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_watch_health *mpijob_watch_health_get(mpijob_watch *watch);

/**
 * Decide whether an object is in the state that the caller waits for.
 *
 * @param user    the pointer that was passed with the function.
 * @param object  the object; NULL if it does not exist.
 * @return 0 to continue waiting; 1 if the state is reached; a negative `MPIJOB_ERR_*` to stop with
 * that code.
 */
typedef int (*mpijob_wait_fn)(void *user, const mpijob_node *object);

/**
 * Start mpijob_client_wait(); `done` gets the object.
 *
 * @param client      not NULL.
 * @param target      the object; not NULL; without subresource.
 * @param timeout_ms  milliseconds; 0: check once; negative: no limit.
 * @param ready       called with each state of the object; not NULL.
 * @param user        passed to `ready`.
 * @param callbacks   NULL: for mpijob_task_wait(); copied.
 * @param out         receives the task, borrowed; may be NULL with callbacks.
 * @param diag        findings, or NULL; borrowed until the task has ended.
 * @return as mpijob_client_get_start().
 * @since 0.1
 */
MPIJOB_API int mpijob_client_wait_start(mpijob_client *client, const struct mpijob_target *target,
    int64_t timeout_ms, mpijob_wait_fn ready, void *user,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag);

/**
 * Wait until an object reaches a state, even if connections break meanwhile.
 *
 * @param client      not NULL. mpijob_client_cancel() ends the wait from another thread.
 * @param target      the object; not NULL; without subresource.
 * @param timeout_ms  milliseconds; 0: check once; negative: no limit.
 * @param ready       called with each state of the object; not NULL.
 * @param user        passed to `ready`.
 * @param out         receives the object in that state, which you free, or NULL if it does not
 * exist; may be NULL.
 * @param diag        receives findings; may be NULL.
 * @return 0; `MPIJOB_ERR_TIMEOUT`; `MPIJOB_ERR_CANCELLED`; `MPIJOB_ERR_AUTH` (no permission to read
 *         the object); `MPIJOB_ERR_NOT_FOUND` (the server does not know the kind); the negative
 * code of `ready`; `MPIJOB_ERR_SYNTAX` (the object, or an answer, cannot be parsed);
 *         `MPIJOB_ERR_REJECTED`; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED`, `MPIJOB_ERR_NOMEM`.
 *         After the server has answered once, a refusal ends the wait only if it is hopeless, see
 *         struct mpijob_watch_health.
 * @since 0.1
 */
static inline int mpijob_client_wait(mpijob_client *client, const struct mpijob_target *target,
    int64_t timeout_ms, mpijob_wait_fn ready, void *user, mpijob_doc **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc =
	    mpijob_client_wait_start(client, target, timeout_ms, ready, user, NULL, &task, diag);

	return rc ? rc : mpijob_task_wait(task, NULL, out);
}

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_WATCH_H */
