/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file operator.h
 * The operator: watches the MPIJobs of a cluster and their children, plans, and carries plans out.
 *
 * It runs on one thread, yours: call mpijob_operator_step() in a loop. It does not know, and has no
 * way to ask, which transport its client uses.
 */
#ifndef MPIJOB_OPERATOR_H
#define MPIJOB_OPERATOR_H

#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/render.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An operator. */
typedef struct mpijob_operator mpijob_operator;

/** How the operator works. */
struct mpijob_operator_options {
	size_t size;            /**< `sizeof` this struct. */
	const char *namespace_; /**< Watch this namespace only; NULL: all. */
	const struct mpijob_render_options *render; /**< How children are rendered; NULL for the defaults; copied.
	                                                 `entropy`, `running` and `priority_classes` are ignored. */
	int32_t max_writes;     /**< Writes under way at a time; 0: 16. */
	/** Called for what is worth a line in a log: findings without a place. May be NULL. */
	void (*log)(void *user, const struct mpijob_finding *finding);
	void *log_user;         /**< Passed to `log`. */
};
#define MPIJOB_OPERATOR_OPTIONS_INIT { sizeof(struct mpijob_operator_options), NULL, NULL, 0, NULL, NULL }

/**
 * Make an operator. Nothing is sent before the first step.
 *
 * @param client   borrowed; must outlive the operator; not NULL. Others may use it between steps.
 * @param options  NULL for the defaults; copied.
 * @param out      not NULL; the operator, yours.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (options); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_new(mpijob_client *client, const struct mpijob_operator_options *options,
				   mpijob_operator **out, mpijob_diag *diag);

/** Free an operator; what it had under way is cancelled. NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_operator_free(mpijob_operator *operator_);

/**
 * Do what there is to do, then wait for news, at most so long.
 *
 * @param operator_   not NULL.
 * @param timeout_ms  milliseconds; 0: do not wait; negative: no limit. It returns earlier when its own next
 *                    time comes, when news came, or when the client was woken.
 * @return 0; `MPIJOB_ERR_NOMEM` (state is kept; call again); what the transport returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_step(mpijob_operator *operator_, int timeout_ms);

/**
 * Tell whether the first lists have arrived.
 *
 * @param operator_  not NULL.
 * @return 1 when it acts, 0 while it still learns what exists.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_synced(const mpijob_operator *operator_);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_OPERATOR_H */
