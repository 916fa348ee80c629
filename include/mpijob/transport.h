/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file transport.h
 * The seam: how requests reach a cluster, for those who write a transport.
 *
 * Everything in Kubernetes is one HTTP exchange, watches included: a request goes out, a status and
 * a stream of bytes come back. A transport moves such exchanges. Two exist in this project, HTTP
 * and the cluster embedded in this process; anybody's third one goes through this header.
 *
 * You fill a struct mpijob_transport and give it to mpijob_client_new(). The client calls `start`
 * with a request and an exchange. Whenever `poll` runs you tell what came back, by calling, in this
 * order:
 *
 *     mpijob_exchange_header()   any number of times
 *     mpijob_exchange_status()   once
 *     mpijob_exchange_data()     any number of times
 *     mpijob_exchange_end()      once, always; with an error code it may come at any point
 *
 * The rules: `start` never calls any of them itself; each exchange ends exactly once; after
 * `cancel` returned, nothing more is told about it; all calls for one client come from the thread
 * that runs `poll`. Thousands of exchanges may be open at a time.
 */
#ifndef MPIJOB_TRANSPORT_H
#define MPIJOB_TRANSPORT_H

#include <mpijob/base.h>
#include <mpijob/diag.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mpijob_target;

/**
 * What is asked. All pointers are borrowed until `start` returns.
 *
 * A transport reads the members up to `fresh`. Those behind it are for mpijob_client_start(); a
 * transport always gets them as 0 and NULL.
 */
struct mpijob_request {
	size_t size;        /**< `sizeof` this struct. */
	const char *method; /**< "GET", "POST", "PUT", "PATCH" or "DELETE"; not NULL. */
	/** Path and query, percent-escaped: "/api/v1/namespaces/default/pods?limit=500"; not
	 * NULL without a `target`. */
	const char *path;
	/** Of the body: "application/json", "application/merge-patch+json"; NULL without one. */
	const char *content_type;
	/** The body; NULL when there is none. It may hold a private key: do not log it. */
	const char *body;
	size_t body_len; /**< Bytes of the body. */
	/** 1: a watch or a followed log; bytes are told as they come, and there is no limit on the
	 * whole time. */
	int32_t streaming;
	/** Limit on the whole exchange in milliseconds, waiting for a connection included; 0: the
	 * transport's own; without meaning when `streaming`. */
	int64_t timeout_ms;
	/** 1: over a new connection, since on the others nothing comes any more; a transport
	 * without connections need not look. */
	int32_t fresh;
	/** 1: the client never sends it again. For callers with rules of their own for retries. */
	int32_t once;
	/** 1: it is sent at once, whatever the client's rate is, and does not count for it. */
	int32_t urgent;
	/** The object or collection (client.h): its path is requested instead of `path`. */
	const struct mpijob_target *target;
};
#define MPIJOB_REQUEST_INIT { sizeof(struct mpijob_request), NULL, NULL, NULL, NULL, 0, 0, 0, 0, \
	0, 0, NULL }

/** One exchange under way; made by the client, told about by the transport. */
typedef struct mpijob_exchange mpijob_exchange;

/**
 * A transport, filled by its author. `self` is what was given to mpijob_client_new() beside it.
 */
struct mpijob_transport {
	size_t size; /**< `sizeof` this struct. */

	/**
	 * Begin an exchange. Copy what you need of the request.
	 * @return 0, or a negative `MPIJOB_ERR_*`: the exchange then does not exist for you.
	 */
	int (*start)(void *self, const struct mpijob_request *request, mpijob_exchange *exchange);

	/**
	 * Move all exchanges on; wait for something to happen, at most `timeout_ms` milliseconds
	 * (0: do not wait; negative: no limit). Return early after any mpijob_exchange_* call, and
	 * when woken.
	 * @return 0, or a negative `MPIJOB_ERR_*` when the transport as a whole can do nothing
	 *         more.
	 */
	int (*poll)(void *self, int timeout_ms);

	/**
	 * For a host's own event loop: tell which descriptor to watch for input, and when to call
	 * `poll` at the latest. May be NULL.
	 * @param fd           set to a descriptor (an epoll set is one), or -1.
	 * @param deadline_ms  set to a time of CLOCK_MONOTONIC in milliseconds, or -1 for none.
	 * @return 0 or a negative `MPIJOB_ERR_*`.
	 */
	int (*interest)(void *self, int *fd, int64_t *deadline_ms);

	/** Stop (`on` 1) or go on (`on` 0) telling data of an exchange: back-pressure. May be NULL.
	 */
	void (*pause)(void *self, mpijob_exchange *exchange, int on);

	/** Give an exchange up. When this returns, nothing more may be told about it. */
	void (*cancel)(void *self, mpijob_exchange *exchange);

	/** Make a waiting `poll` return, or the next one when none waits. Called from any thread
	 * and from signal handlers. */
	void (*wake)(void *self);

	/** Free everything; every exchange has ended or was cancelled before. */
	void (*destroy)(void *self);
};
#define MPIJOB_TRANSPORT_INIT { sizeof(struct mpijob_transport), NULL, NULL, NULL, NULL, NULL, \
	NULL, NULL }

/**
 * Tell a header of the answer. Only `Content-Type`, `Date`, `Retry-After` and `Warning` matter;
 * others are ignored.
 *
 * A server that sends `Date` needs to be heard: the operator and the Lease take the server's time
 * from it, and without it go by this machine's clock. From `Content-Type` the client tells a web
 * page (`text/html`) from an answer that is garbled.
 *
 * @param exchange  not NULL.
 * @param name      not NULL; any case.
 * @param value     not NULL; copied.
 * @since 0.1
 */
MPIJOB_API void mpijob_exchange_header(mpijob_exchange *exchange, const char *name,
    const char *value);

/**
 * Tell the status of the answer.
 *
 * @param exchange  not NULL.
 * @param status    the HTTP status, 100 to 599.
 * @since 0.1
 */
MPIJOB_API void mpijob_exchange_status(mpijob_exchange *exchange, int status);

/**
 * Tell bytes of the answer's body, split anywhere.
 *
 * @param exchange  not NULL.
 * @param data      not NULL unless `len` is 0; borrowed for the call.
 * @param len       how many bytes.
 * @since 0.1
 */
MPIJOB_API void mpijob_exchange_data(mpijob_exchange *exchange, const char *data, size_t len);

/**
 * Tell that the exchange is over. The pointer is dead afterwards.
 *
 * @param exchange  not NULL.
 * @param code      0 when the answer came whole (also one of status 404 or 500); `MPIJOB_ERR_IO`
 *                  (the connection broke; a write may have happened), `MPIJOB_ERR_UNREACHABLE`
 *                  (none could be made), `MPIJOB_ERR_TIMEOUT`, `MPIJOB_ERR_AUTH` (credentials could
 *                  not be had), `MPIJOB_ERR_NOMEM`, `MPIJOB_ERR_UNSUPPORTED`.
 * @param message   for people; may be NULL; copied.
 * @since 0.1
 */
MPIJOB_API void mpijob_exchange_end(mpijob_exchange *exchange, int code, const char *message);

/**
 * Keep a pointer of the transport with the exchange.
 *
 * @param exchange  not NULL.
 * @param slot      anything; not freed.
 * @since 0.1
 */
MPIJOB_API void mpijob_exchange_set_slot(mpijob_exchange *exchange, void *slot);

/** Get the pointer back; NULL when none was set. `exchange` not NULL. @since 0.1 */
MPIJOB_API void *mpijob_exchange_slot(const mpijob_exchange *exchange);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_TRANSPORT_H */
