/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file blocking.h
 * A transport for authors who have only a call that blocks: another HTTP library, a Python package,
 * a test.
 *
 * You fill `perform` and `abort`; the adapter gives ordinary exchanges a bounded pool of threads,
 * each stream a thread of its own, and joins them all when the transport is destroyed. These are
 * the only threads that the library makes.
 */
#ifndef MPIJOB_BLOCKING_H
#define MPIJOB_BLOCKING_H

#include <mpijob/base.h>
#include <mpijob/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where `perform` tells what comes back; valid until `perform` returns. */
typedef struct mpijob_blocking_answer mpijob_blocking_answer;

/** Calls that block, filled by their author. */
struct mpijob_blocking {
	size_t size; /**< `sizeof` this struct. */

	/**
	 * Carry out one exchange and return when it is over. Called from several threads at a time.
	 * Tell what comes by mpijob_blocking_header(), mpijob_blocking_status() and
	 * mpijob_blocking_data().
	 *
	 * @param self     what was given to mpijob_blocking_new().
	 * @param request  the request; borrowed until you return.
	 * @param answer   where to tell; also what `abort` gets.
	 * @return 0 when the answer came whole (whatever its status), else a negative
	 *         `MPIJOB_ERR_*` as for mpijob_exchange_end().
	 */
	int (*perform)(void *self, const struct mpijob_request *request,
	    mpijob_blocking_answer *answer);

	/**
	 * Make the `perform` of this answer return soon. Called from another thread, at most once
	 * for each. `perform` may be about to return, or have just done so: guard what both use by
	 * a lock of yours. `answer` is valid until you return. May be NULL: the adapter then waits
	 * for `perform` when it is destroyed.
	 */
	void (*abort)(void *self, mpijob_blocking_answer *answer);

	/** Free everything; no `perform` runs any more. May be NULL. */
	void (*destroy)(void *self);

	/** Ordinary exchanges at a time, at most 1,024; 0: 8. Streams come on top. */
	int32_t max_threads;
};
#define MPIJOB_BLOCKING_INIT { sizeof(struct mpijob_blocking), NULL, NULL, NULL, 0 }

/**
 * Make a transport of calls that block.
 *
 * @param blocking   not NULL; copied; `perform` must be there.
 * @param self       passed to its functions; *taken* when this call succeeds.
 * @param transport  not NULL; `size` set; filled.
 * @param out        not NULL; the `self` for mpijob_client_new(), which takes it.
 * @return 0; `MPIJOB_ERR_USAGE` (also a transport in which not every function fits);
 *         `MPIJOB_ERR_UNSUPPORTED` (size of `blocking`); `MPIJOB_ERR_IO` (no descriptor is left);
 *         `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_blocking_new(const struct mpijob_blocking *blocking, void *self,
    struct mpijob_transport *transport, void **out);

/**
 * Tell a header of the answer, from inside of `perform`.
 *
 * @param answer  not NULL.
 * @param name    not NULL; any case.
 * @param value   not NULL; copied.
 * @since 0.1
 */
MPIJOB_API void mpijob_blocking_header(mpijob_blocking_answer *answer, const char *name,
    const char *value);

/** Tell the HTTP status of the answer, from inside of `perform`. `answer` not NULL. @since 0.1 */
MPIJOB_API void mpijob_blocking_status(mpijob_blocking_answer *answer, int status);

/**
 * Tell bytes of the body, from inside of `perform`. Blocks while the reader is behind
 * (back-pressure).
 *
 * @param answer  not NULL.
 * @param data    not NULL unless `len` is 0; copied.
 * @param len     how many bytes.
 * @return 0; `MPIJOB_ERR_CANCELLED` when nobody wants more: return from `perform`;
 *         `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_blocking_data(mpijob_blocking_answer *answer, const char *data, size_t len);

/** Say in words why `perform` fails; copied. `answer` and `message` not NULL. @since 0.1 */
MPIJOB_API void mpijob_blocking_message(mpijob_blocking_answer *answer, const char *message);

/** Ask from inside of `perform` whether the exchange was given up: 1 yes, 0 no. `answer` not NULL.
 * @since 0.1 */
MPIJOB_API int mpijob_blocking_cancelled(const mpijob_blocking_answer *answer);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_BLOCKING_H */
