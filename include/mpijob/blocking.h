/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file blocking.h
 * A transport for authors who have only a blocking call: another HTTP library, a Python package, a
 * test.
 *
 * You implement `perform` and `abort`. The adapter runs exchanges that do not stream in a bounded
 * thread pool and each stream in its own thread, and joins all threads when the transport is
 * destroyed. The library creates no other threads.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_BLOCKING_H
#define MPIJOB_BLOCKING_H

#include <mpijob/base.h>
#include <mpijob/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Receives the answer from `perform`; valid until `perform` returns. */
typedef struct mpijob_blocking_answer mpijob_blocking_answer;

/** The blocking calls, implemented by you. */
struct mpijob_blocking {
	size_t size; /**< `sizeof` this struct. */

	/**
	 * Perform one exchange, and return when it has ended. Called from several threads at the
	 * same time. Report the answer with mpijob_blocking_header(), mpijob_blocking_status() and
	 * mpijob_blocking_data().
	 *
	 * @param self     the `self` of mpijob_blocking_new().
	 * @param request  the request; borrowed until you return.
	 * @param answer   the receiver of the answer; `abort` gets the same pointer.
	 * @return 0 if the answer is complete, whatever its status; else a negative
	 *         `MPIJOB_ERR_*` as for mpijob_exchange_end().
	 */
	int (*perform)(void *self, const struct mpijob_request *request,
	    mpijob_blocking_answer *answer);

	/**
	 * Make the `perform` of this answer return soon. Called from another thread, at most once
	 * per answer. `perform` may be returning at the same time, or have just returned: protect
	 * shared data with a lock. `answer` is valid until you return. May be NULL: then destroying
	 * the transport waits for `perform`.
	 */
	void (*abort)(void *self, mpijob_blocking_answer *answer);

	/** Free everything. No `perform` is running. May be NULL. */
	void (*destroy)(void *self);

	/** Threads for exchanges that do not stream, at most 1,024; 0: 8. Streams are not counted.
	 */
	int32_t max_threads;
	int32_t reserved; /**< 0; fills the struct. */
};
#define MPIJOB_BLOCKING_INIT { sizeof(struct mpijob_blocking), NULL, NULL, NULL, 0, 0 }

/**
 * Create a transport from blocking calls.
 *
 * @param blocking   not NULL; copied; `perform` must not be NULL.
 * @param self       passed to the functions; may be NULL. On success the transport takes ownership.
 * @param transport  not NULL; `size` must be set; the functions are filled in.
 * @param out        not NULL; receives the `self` for mpijob_client_new(), which takes ownership.
 * @return 0; `MPIJOB_ERR_USAGE` (NULL; a transport that is too small for all functions);
 *         `MPIJOB_ERR_UNSUPPORTED` (size of `blocking`); `MPIJOB_ERR_IO` (no descriptor is left);
 *         `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_blocking_new(const struct mpijob_blocking *blocking, void *self,
    struct mpijob_transport *transport, void **out);

/**
 * Report a header of the answer, inside `perform`.
 *
 * @param answer  not NULL.
 * @param name    not NULL; any case.
 * @param value   not NULL; copied.
 * @since 0.1
 */
MPIJOB_API void mpijob_blocking_header(mpijob_blocking_answer *answer, const char *name,
    const char *value);

/** Report the HTTP status of the answer, inside `perform`. `answer` not NULL. @since 0.1 */
MPIJOB_API void mpijob_blocking_status(mpijob_blocking_answer *answer, int status);

/**
 * Report bytes of the body, inside `perform`. Blocks while the reader is slower (back-pressure).
 *
 * @param answer  not NULL.
 * @param data    not NULL unless `len` is 0; copied.
 * @param len     number of bytes.
 * @return 0; `MPIJOB_ERR_CANCELLED` (the exchange is cancelled: return from `perform`);
 *         `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_blocking_data(mpijob_blocking_answer *answer, const char *data, size_t len);

/** Set the error message of a `perform` that fails; copied. `answer` and `message` not NULL.
 * @since 0.1 */
MPIJOB_API void mpijob_blocking_message(mpijob_blocking_answer *answer, const char *message);

/** Test inside `perform` whether the exchange is cancelled: 1 or 0. `answer` not NULL. @since 0.1
 */
MPIJOB_API int mpijob_blocking_cancelled(const mpijob_blocking_answer *answer);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_BLOCKING_H */
