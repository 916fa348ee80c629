/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file transport.h
 * The interface between client and cluster, for authors of transports.
 *
 * Everything in Kubernetes is an HTTP exchange, watches included: a request, then a status and a
 * stream of bytes. A transport performs such exchanges. This project contains two: HTTP, and the
 * cluster embedded in this process. You can write another one with this header.
 *
 * Fill a struct mpijob_transport and pass it to mpijob_client_new(). The client calls `start` with
 * a request and an exchange. Inside `poll` you report the answer by calling, in this order:
 *
 *     mpijob_exchange_header()   any number of times
 *     mpijob_exchange_status()   once
 *     mpijob_exchange_data()     any number of times
 *     mpijob_exchange_end()      once, always; with an error code it may come at any point
 *
 * The rules: `start` never calls any of them; each exchange ends exactly once; after `cancel` has
 * returned, no function is called for this exchange; all calls for one client come from the thread
 * that runs `poll`. Thousands of exchanges may be in flight at the same time.
 *
 * @par Stability
 * Frozen at 1.0.
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
 * A request. All pointers are borrowed until `start` returns.
 *
 * A transport reads the members up to `fresh`. Those behind it are for mpijob_client_start(); a
 * transport always gets them as 0 and NULL.
 */
struct mpijob_request {
	size_t size;        /**< `sizeof` this struct. */
	const char *method; /**< "GET", "POST", "PUT", "PATCH" or "DELETE"; not NULL. */
	/** Path and query, percent-encoded: "/api/v1/namespaces/default/pods?limit=500"; not
	 * NULL without a `target`. */
	const char *path;
	/** Media type of the body: "application/json", "application/merge-patch+json"; NULL without
	 * a body. */
	const char *content_type;
	/** The body, or NULL. It may contain a private key: do not log it. */
	const char *body;
	size_t body_len; /**< Bytes of the body. */
	/** 1: a watch or a followed log: report bytes as they arrive, without a time limit. */
	int32_t streaming;
	/** Time limit of the whole exchange in milliseconds, including the wait for a connection;
	 * 0: the transport's default; ignored if `streaming`. */
	int64_t timeout_ms;
	/** 1: use a new connection, because the existing ones may be dead. A transport without
	 * connections ignores it. */
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

/** An exchange in flight. The client creates it; the transport reports its answer. */
typedef struct mpijob_exchange mpijob_exchange;

/**
 * A transport, implemented by its author. `self` is the pointer that was passed to
 * mpijob_client_new() with it.
 */
struct mpijob_transport {
	size_t size; /**< `sizeof` this struct. */

	/**
	 * Start an exchange. Copy what you need of the request.
	 * @return 0, or a negative `MPIJOB_ERR_*`: then do not use the exchange.
	 */
	int (*start)(void *self, const struct mpijob_request *request, mpijob_exchange *exchange);

	/**
	 * Make progress with all exchanges. Wait for events, at most `timeout_ms` milliseconds (0:
	 * do not wait; negative: no limit). Return early after any mpijob_exchange_* call, and
	 * after `wake`.
	 * @return 0, or a negative `MPIJOB_ERR_*` if the whole transport has failed.
	 */
	int (*poll)(void *self, int timeout_ms);

	/**
	 * For the host's event loop: get the descriptor to poll for input, and the latest time for
	 * the next `poll`. May be NULL.
	 * @param fd           receives a descriptor, which may be an epoll set, or -1.
	 * @param deadline_ms  receives a time of CLOCK_MONOTONIC in milliseconds, or -1 for none.
	 * @return 0 or a negative `MPIJOB_ERR_*`.
	 */
	int (*interest)(void *self, int *fd, int64_t *deadline_ms);

	/** Stop (`on` 1) or continue (`on` 0) reporting data of an exchange: back-pressure. May be
	 * NULL. */
	void (*pause)(void *self, mpijob_exchange *exchange, int on);

	/** Cancel an exchange. After this returns, do not call any function for it. */
	void (*cancel)(void *self, mpijob_exchange *exchange);

	/** Make the `poll` that waits return, or the next one. Called from any thread and from
	 * signal handlers. */
	void (*wake)(void *self);

	/** Free everything. All exchanges have ended or are cancelled. */
	void (*destroy)(void *self);
};
#define MPIJOB_TRANSPORT_INIT { sizeof(struct mpijob_transport), NULL, NULL, NULL, NULL, NULL, \
	NULL, NULL }

/**
 * Report a header of the answer. The client uses only `Content-Type`, `Date`, `Retry-After` and
 * `Warning`.
 *
 * Do report `Date`: operator and Lease take the server's time from it, and otherwise use the clock
 * of this machine. With `Content-Type` the client distinguishes a web page (`text/html`) from a
 * damaged answer.
 *
 * @param exchange  not NULL.
 * @param name      not NULL; any case.
 * @param value     not NULL; copied.
 * @since 0.1
 */
MPIJOB_API void mpijob_exchange_header(mpijob_exchange *exchange, const char *name,
    const char *value);

/**
 * Report the status of the answer.
 *
 * @param exchange  not NULL.
 * @param status    the HTTP status, 100 to 599.
 * @since 0.1
 */
MPIJOB_API void mpijob_exchange_status(mpijob_exchange *exchange, int status);

/**
 * Report bytes of the answer's body, which may be split anywhere.
 *
 * @param exchange  not NULL.
 * @param data      not NULL unless `len` is 0; borrowed for the call.
 * @param len       number of bytes.
 * @since 0.1
 */
MPIJOB_API void mpijob_exchange_data(mpijob_exchange *exchange, const char *data, size_t len);

/**
 * Report the end of the exchange. The pointer is invalid afterwards.
 *
 * @param exchange  not NULL.
 * @param code      0 if the answer is complete, also with status 404 or 500; `MPIJOB_ERR_IO` (the
 *                  connection broke; a write may have been executed), `MPIJOB_ERR_UNREACHABLE`
 *                  (nothing was sent), `MPIJOB_ERR_TIMEOUT`, `MPIJOB_ERR_AUTH` (no credentials are
 *                  available), `MPIJOB_ERR_NOMEM`, `MPIJOB_ERR_UNSUPPORTED`.
 * @param message   the error message; may be NULL; copied.
 * @since 0.1
 */
MPIJOB_API void mpijob_exchange_end(mpijob_exchange *exchange, int code, const char *message);

/**
 * Store a pointer of the transport in the exchange.
 *
 * @param exchange  not NULL.
 * @param slot      any pointer; the client neither uses nor frees it.
 * @since 0.1
 */
MPIJOB_API void mpijob_exchange_set_slot(mpijob_exchange *exchange, void *slot);

/** Get the pointer of mpijob_exchange_set_slot(); NULL if it was not set. `exchange` not NULL.
 * @since 0.1 */
MPIJOB_API void *mpijob_exchange_slot(const mpijob_exchange *exchange);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_TRANSPORT_H */
