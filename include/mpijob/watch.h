/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file watch.h
 * Keeping up with a collection: what is there, then every change, for as long as it takes.
 *
 * A watch lists once (or streams the list), follows changes from there, and survives what happens
 * on the way: ends of streams, connections that break or fall silent, servers that forget ("410
 * Gone"), overload. You are told a consistent story: after each new list, what vanished meanwhile
 * is simply not in it. It ends by your word alone; mpijob_watch_hopeless() tells when there is
 * little use in waiting on.
 *
 * It runs inside of mpijob_client_poll(), beside all other calls.
 */
#ifndef MPIJOB_WATCH_H
#define MPIJOB_WATCH_H

#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A watch under way. */
typedef struct mpijob_watch mpijob_watch;

#define MPIJOB_WATCH_LISTED   0 /**< It is there: part of a list. */
#define MPIJOB_WATCH_ADDED    1 /**< It has appeared. */
#define MPIJOB_WATCH_MODIFIED 2 /**< It has changed. */
#define MPIJOB_WATCH_DELETED  3 /**< It is gone; the object is its last state. */

/** One object that was listed or changed. All pointers are borrowed for the call; strings are ""
 * when absent. */
struct mpijob_watch_event {
	size_t size;   /**< `sizeof` this struct of the library. */
	int32_t event; /**< `MPIJOB_WATCH_*`. */
	/** The object, with apiVersion and kind; NULL when it is larger than the limit. */
	const char *json;
	size_t json_len; /**< Its bytes. */
	/** Bytes that it had; more than the limit when `json` is NULL. */
	size_t whole_len;
	const char *uid;              /**< metadata.uid. */
	const char *name;             /**< metadata.name. */
	const char *namespace_;       /**< metadata.namespace. */
	const char *resource_version; /**< metadata.resourceVersion. */
};

/** What is watched, and who is told. */
struct mpijob_watch_options {
	size_t size;                /**< `sizeof` this struct. */
	const char *api_version;    /**< "v1", "kubeflow.org/v2beta1"; not NULL. */
	const char *kind;           /**< "Pod"; not NULL. */
	const char *namespace_;     /**< NULL: all namespaces. */
	const char *name;           /**< This object alone; NULL: all. */
	const char *label_selector; /**< As kubectl's -l; NULL: all. */
	size_t object_limit;        /**< Bytes of one object; 0: 8 MiB. */
	uint64_t seed;              /**< Of its dice, which spread watches over time; any number. */
	/** A list begins: what is not told again until `listed` is gone. May be NULL. */
	void (*begin)(void *user);
	/** An object. Return 0; or `MPIJOB_ERR_NOMEM`, `MPIJOB_ERR_SYNTAX` (it cannot be read: the
	   stream is garbled): it is told again. Other codes end the watch: `failed` gets them. Not
	   NULL. */
	int (*object)(void *user, const struct mpijob_watch_event *event);
	/** A list is complete, as of this resourceVersion. Return as `object`. May be NULL. */
	int (*listed)(void *user, const char *resource_version);
	/** A list or a watch ("list", "watch") failed and will be tried again; told once for each
	   cause, and once more when it has become hopeless, see mpijob_watch_hopeless(). May be
	   NULL. */
	void (*failed)(void *user, const struct mpijob_answer *answer, const char *what);
	void *user;         /**< Passed to all four. */
	const char *plural; /**< As in struct mpijob_target; NULL: guessed from the kind. */
	int32_t scope;      /**< As in struct mpijob_target, `MPIJOB_SCOPE_*`. */
};
#define MPIJOB_WATCH_OPTIONS_INIT { sizeof(struct mpijob_watch_options), NULL, NULL, NULL, \
	NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0 }

/**
 * Begin to watch; the first request leaves at the next poll.
 *
 * @param client   borrowed; must outlive the watch; not NULL.
 * @param options  not NULL; copied.
 * @param out      not NULL; the watch, yours.
 * @return 0; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (options); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_watch_new(mpijob_client *client, const struct mpijob_watch_options *options,
    mpijob_watch **out);

/** Stop; nothing is told any more. Also from inside of its callbacks. NULL does nothing. @since 0.1
 */
MPIJOB_API void mpijob_watch_free(mpijob_watch *watch);

/** Tell whether a first list has arrived whole: 1 or 0. `watch` not NULL. @since 0.1 */
MPIJOB_API int mpijob_watch_synced(const mpijob_watch *watch);

/**
 * Tell whether the failure that was told last will hardly get better by trying again, for who does
 * not want to wait for ever. Before the first list is whole that is any answer but "try later": no
 * permission, no such kind, something that is no list. Later, when the same may pass (a server that
 * starts, a token that is being renewed), it is hopeless when nothing else has come for a minute.
 * Lost connections and servers that fail or are overloaded are never hopeless; a watch that a code
 * of yours has ended is.
 *
 * @param watch  not NULL.
 * @return 1 or 0; 0 again when it works again.
 * @since 0.1
 */
MPIJOB_API int mpijob_watch_hopeless(const mpijob_watch *watch);

/** How a watch does, for health checks and metrics. */
struct mpijob_watch_health {
	size_t size; /**< `sizeof` this struct of the library. */
	/** `MPIJOB_ERR_*` of the failure after which it tries again; 0: the last request did not
	 * fail. */
	int32_t code;
	/** Milliseconds since the last byte from the server, the age of what you know; -1 until
	 * mpijob_watch_synced(). */
	int64_t silent_ms;
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
 * Decide whether an object is as somebody waits for it.
 *
 * @param user    what was given beside the function.
 * @param object  the object; NULL when it does not exist (any more).
 * @return 0 to wait on; 1 when it is so; a negative `MPIJOB_ERR_*` to give up with that code.
 */
typedef int (*mpijob_wait_fn)(void *user, const mpijob_node *object);

/**
 * Wait until an object is as you want it, however often the connection breaks meanwhile.
 *
 * @param client      not NULL. mpijob_client_cancel() ends the waiting from another thread.
 * @param target      names the object; not NULL; no subresource.
 * @param timeout_ms  milliseconds; 0: look once; negative: no limit.
 * @param ready       called with each state of the object; not NULL.
 * @param user        passed to `ready`.
 * @param out         set to the object as it then was, yours, or to NULL when it did not exist; may
 *                    be NULL.
 * @param diag        findings, or NULL.
 * @return 0; `MPIJOB_ERR_TIMEOUT`; `MPIJOB_ERR_CANCELLED`; `MPIJOB_ERR_AUTH` (not allowed to look);
 *         `MPIJOB_ERR_NOT_FOUND` (the server does not know that kind); what `ready` returned;
 *         `MPIJOB_ERR_SYNTAX` (the object, or the server, cannot be read); `MPIJOB_ERR_REJECTED`;
 *         `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED`, `MPIJOB_ERR_NOMEM`. What a server refuses
 *         after it has answered once ends the waiting only as mpijob_watch_hopeless() tells.
 * @since 0.1
 */
MPIJOB_API int mpijob_client_wait(mpijob_client *client, const struct mpijob_target *target,
    int64_t timeout_ms, mpijob_wait_fn ready, void *user, mpijob_doc **out, mpijob_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_WATCH_H */
