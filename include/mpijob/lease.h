/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lease.h
 * Leader election: of several processes that could act, one does, by a Lease of the cluster.
 *
 * Whoever holds the Lease renews it; who does not looks whether it is still renewed, and takes it
 * when it was not for as long as it says. It is the algorithm of client-go, so that programs of
 * both kinds can stand for the same Lease. Times that others wrote are never compared with a clock
 * here: only that a record changed, and when that was seen.
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
 *                 puts("this one acts");
 *         code = mpijob_client_poll(client, 1000);
 * }
 * mpijob_lease_free(lease);
 * @endcode
 *
 * It runs inside of mpijob_client_poll(), beside all other calls; its requests are not held back by
 * the client's rate. As with client-go, there is no fencing: a write that was sent while leading
 * may arrive later. What is written by a leader has to be safe against that.
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

/** Which Lease, and who stands for it. */
struct mpijob_lease_options {
	size_t size;            /**< `sizeof` this struct. */
	const char *namespace_; /**< Of the Lease; not NULL. */
	const char *name;       /**< Of the Lease; not NULL. */
	/** Who stands: a text that nobody else has, the host's name and a UUID; not NULL, not
	 * "". */
	const char *identity;
	const char *component; /**< Whom its Events come from; NULL: none are made. */
	/** Others may take the Lease when it was not renewed for so long; whole seconds; 0:
	 * 15,000. */
	int32_t lease_ms;
	/** Give leading up when renewing has failed for so long; less than `lease_ms`; 0: 5,000. */
	int32_t renew_ms;
	/** Between two tries; `renew_ms` is more than 1.2 times of it; 0: 3,000. */
	int32_t retry_ms;
	/** Of its dice, which spread tries over time and name Events; any number. */
	uint64_t seed;
	/** Leading began or ended, or another holder was seen. `holder` is borrowed, "" for none.
	 * May be NULL. */
	void (*changed)(void *user, int leading, const char *holder);
	/** Called for what is worth a line in a log; a failure is told again only after a success.
	 * May be NULL. */
	void (*log)(void *user, const struct mpijob_finding *finding);
	void *user; /**< Passed to both. */
};
#define MPIJOB_LEASE_OPTIONS_INIT { sizeof(struct mpijob_lease_options), NULL, NULL, NULL, \
	NULL, 0, 0, 0, 0, NULL, NULL, NULL }

/**
 * Stand for a Lease; the first request leaves at the next poll. It is created when it does not
 * exist.
 *
 * @param client   borrowed; must outlive the candidate; not NULL.
 * @param options  not NULL; copied.
 * @param out      not NULL; the candidate, yours.
 * @return 0; `MPIJOB_ERR_USAGE` (a name is missing; times that do not fit each other),
 *         `MPIJOB_ERR_UNSUPPORTED` (size); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_lease_new(mpijob_client *client, const struct mpijob_lease_options *options,
    mpijob_lease **out);

/**
 * Free a candidate. A Lease that it holds stays as it is, until it has run out; see
 * mpijob_lease_release().
 *
 * @param lease  yours, or NULL. Not from inside of its callbacks.
 * @since 0.1
 */
MPIJOB_API void mpijob_lease_free(mpijob_lease *lease);

/**
 * Tell whether this one leads, now: 0 also when the Lease was renewed so long ago that others may
 * have taken it, and nothing could tell that yet, for example because this process stood still. Ask
 * before you act.
 *
 * @param lease  not NULL.
 * @return 1 or 0.
 * @since 0.1
 */
MPIJOB_API int mpijob_lease_leading(const mpijob_lease *lease);

/**
 * Tell who held the Lease when it was looked at last.
 *
 * @param lease  not NULL.
 * @return borrowed until the next poll; "" for nobody, and before the first look.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_lease_holder(const mpijob_lease *lease);

/**
 * Tell whether all is well, for a health check: who leads has to have renewed the Lease, or to have
 * given leading up, in time. If neither happened, nobody polls the client any more.
 *
 * @param lease         not NULL.
 * @param tolerance_ms  beyond the time that the Lease holds.
 * @return 1; 0 when leading was not given up although the Lease was not renewed for its time and
 *         `tolerance_ms`.
 * @since 0.1
 */
MPIJOB_API int mpijob_lease_healthy(const mpijob_lease *lease, int64_t tolerance_ms);

/**
 * Stand no more, and begin to give the Lease up when this one holds it, so that another can take it
 * at once. Leading ends now: have ended what you do first. Poll until mpijob_lease_busy() is 0; it
 * takes `renew_ms` at most.
 *
 * @param lease  not NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_lease_release(mpijob_lease *lease);

/**
 * Tell whether giving up goes on, or Events are still to be sent.
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
