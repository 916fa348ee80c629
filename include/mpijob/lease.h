/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lease.h
 * Leader election: a Lease in the cluster decides which of several processes leads.
 *
 * The holder renews the Lease. The other candidates read it regularly, and acquire it if it was not
 * renewed for its duration. The algorithm is that of client-go, so that programs with client-go can
 * be candidates for the same Lease. Times in the Lease are never compared with the local clock; a
 * candidate only measures how long ago it observed a change of the Lease.
 *
 * @code
 * struct mpijob_lease_options options = MPIJOB_LEASE_OPTIONS_INIT;
 * mpijob_client *client = NULL; // from mpijob_client_new()
 * mpijob_lease *lease = NULL;
 * options.namespace_ = "ops";
 * options.name = "my-controller";
 * options.identity = "host-1_6b4c9a3e-2f4d-4a0e-9f6e-1d2c3b4a5f60";
 * int code = mpijob_lease_new(client, &options, &lease);
 * while (code == 0) {
 *         if (mpijob_lease_leading(lease))
 *                 puts("this process leads");
 *         code = mpijob_client_poll(client, 1000);
 * }
 * mpijob_lease_free(lease);
 * @endcode
 *
 * A candidate runs inside mpijob_client_poll(), concurrently with all other calls. The client's
 * rate limit does not delay its requests. As with client-go, there is no fencing: a write that was
 * sent while leading may arrive later, so the writes of a leader must be safe in that case.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_LEASE_H
#define MPIJOB_LEASE_H

#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A candidate for a Lease. */
typedef struct mpijob_lease mpijob_lease;

/** The Lease and the candidate. */
struct mpijob_lease_options {
	size_t size;            /**< `sizeof` this struct. */
	const char *namespace_; /**< Namespace of the Lease; not NULL. */
	const char *name;       /**< Name of the Lease; not NULL. */
	/** Unique identity of this candidate, such as host name and UUID; not NULL, not "". */
	const char *identity;
	const char *component; /**< Source component of Events; NULL: no Events. */
	/** Lease duration in ms, whole seconds: others may acquire a Lease that was not renewed for
	 * this time; 0: 15,000. */
	int32_t lease_ms;
	/** Renew deadline in ms: stop leading if renewing fails for this time; less than
	 * `lease_ms`; 0: 5,000. */
	int32_t renew_ms;
	/** Retry period in ms between attempts; `renew_ms` must be more than 1.2 times this; 0:
	 * 3,000. */
	int32_t retry_ms;
	/** Seed of the random jitter of attempts, and of the names of Events; any number. */
	uint64_t seed;
	/** Called when leading begins or ends, and when another holder is observed. `holder` is
	 * borrowed; "" for none. May be NULL. */
	void (*changed)(void *user, int leading, const char *holder);
	/** Called with findings for a log. A failure is reported again only after a success. May be
	 * NULL. */
	void (*log)(void *user, const struct mpijob_finding *finding);
	void *user; /**< Passed to both. */
};
#define MPIJOB_LEASE_OPTIONS_INIT { sizeof(struct mpijob_lease_options), NULL, NULL, NULL, \
	NULL, 0, 0, 0, 0, NULL, NULL, NULL }

/**
 * Become a candidate for a Lease, which is created if it does not exist. The next poll sends the
 * first request.
 *
 * @param client   borrowed; must outlive the candidate; not NULL.
 * @param options  not NULL; copied.
 * @param out      not NULL; receives the candidate, which you free.
 * @return 0; `MPIJOB_ERR_USAGE` (a name is missing; times that violate the rules above);
 *         `MPIJOB_ERR_UNSUPPORTED` (size); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_lease_new(mpijob_client *client, const struct mpijob_lease_options *options,
    mpijob_lease **out);

/**
 * Free a candidate. A Lease that it holds is kept until it expires; see mpijob_lease_release().
 *
 * @param lease  may be NULL. Must not be called from its callbacks.
 * @since 0.1
 */
MPIJOB_API void mpijob_lease_free(mpijob_lease *lease);

/**
 * Test whether this candidate leads now. Call this before each action that only the leader may
 * take. It is also 0 if the last renewal is so old that others may hold the Lease although this
 * candidate could not observe that, for example because the process was suspended.
 *
 * @param lease  not NULL.
 * @return 1 or 0.
 * @since 0.1
 */
MPIJOB_API int mpijob_lease_leading(const mpijob_lease *lease);

/**
 * Get the holder of the Lease at the last read.
 *
 * @param lease  not NULL.
 * @return borrowed until the next poll; "" if there is no holder, and before the first read.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_lease_holder(const mpijob_lease *lease);

/**
 * Test the health of leader election, for a liveness probe. A leader must renew the Lease or stop
 * leading in time; if it does neither, the client is no longer polled.
 *
 * @param lease         not NULL.
 * @param tolerance_ms  milliseconds after the Lease duration.
 * @return 1; 0 if this candidate leads although it did not renew the Lease for the Lease duration
 * and `tolerance_ms`.
 * @since 0.1
 */
MPIJOB_API int mpijob_lease_healthy(const mpijob_lease *lease, int64_t tolerance_ms);

/**
 * Stop being a candidate, and start to release the Lease if this candidate holds it, so that
 * another can acquire it at once. Leading ends immediately: complete your writes before this call.
 * Then poll until mpijob_lease_busy() is 0, which takes at most `renew_ms`.
 *
 * @param lease  not NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_lease_release(mpijob_lease *lease);

/**
 * Test whether the release is in progress, or Events are not sent yet.
 *
 * @param lease  not NULL.
 * @return 1 or 0.
 * @since 0.1
 */
MPIJOB_API int mpijob_lease_busy(const mpijob_lease *lease);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_LEASE_H */
