/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file operator.h
 * The operator: watches the MPIJobs of a cluster and their children, plans, and carries plans out.
 *
 * It runs on one thread, yours: call mpijob_operator_step() in a loop. It does not know, and has no
 * way to ask, which transport its client uses.
 *
 * It acts at once; as one of several it begins as a standby, which watches and is told when to act
 * (mpijob_operator_act()); and as a shadow it only says what it would have done, beside another
 * operator that does the work (mpijob_operator_shadow_report()).
 */
#ifndef MPIJOB_OPERATOR_H
#define MPIJOB_OPERATOR_H

#include <mpijob/base.h>
#include <mpijob/client.h>
#include <mpijob/diag.h>
#include <mpijob/operator_config.h>
#include <mpijob/render.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An operator. */
typedef struct mpijob_operator mpijob_operator;

/* What an operator does, see mpijob_operator_act(). */
#define MPIJOB_OPERATOR_WATCHES 0 /**< Nothing is written. */
#define MPIJOB_OPERATOR_ACTS    1 /**< Plans are made and carried out. */
/** No plan is made or carried on, but Events about what was done are still sent. */
#define MPIJOB_OPERATOR_ENDS 2

/** How the operator works. */
struct mpijob_operator_options {
	size_t size;            /**< `sizeof` this struct. */
	const char *namespace_; /**< Watch this namespace only; NULL: all. */
	/** How children are rendered; NULL for the defaults; copied. `entropy`, `running` and
	 * `priority_classes` are ignored. */
	const struct mpijob_render_options *render;
	int32_t max_writes; /**< Writes under way at a time; 0: 16. */
	/** Called for what is worth a line in a log: findings without a place. May be NULL. */
	void (*log)(void *user, const struct mpijob_finding *finding);
	void *log_user; /**< Passed to `log`. */
	/** 1: plan every job and carry nothing out: no write, no Event. It reads what a role may
	 * read that has no rights to write and none to read Secrets. */
	int32_t shadow;
	/** 1: watch, and act only once mpijob_operator_act() says so. Without meaning for a
	 * shadow. */
	int32_t standby;
	/** A shadow counts an action that its plan still wants when there was no news of the job
	 * for so long, or ten times as long after it was first wanted; 0: 10,000. */
	int64_t shadow_grace_ms;
	/** `launcher_hold_ms` of struct mpijob_plan_options; 0: launchers do not wait for the DNS
	 * names of workers. */
	int64_t launcher_hold_ms;
	/**
	 * Ask the DNS of the cluster for a name, without blocking: 1 when it resolves, 0 when not
	 * or not yet, negative when it cannot be asked. `name` is borrowed and ends in ".svc". It
	 * is called again until it returns 1. NULL: launchers wait `launcher_hold_ms`.
	 */
	int (*resolve)(void *user, const char *name);
	void *resolve_user; /**< Passed to `resolve`. */
	/** 1: also log each action with its reason, with severity MPIJOB_SEVERITY_DEBUG. */
	int32_t log_actions;
};
#define MPIJOB_OPERATOR_OPTIONS_INIT { sizeof(struct mpijob_operator_options), NULL, NULL, 0, \
	NULL, NULL, 0, 0, 0, 0, NULL, NULL, 0 }

/**
 * Make an operator. Nothing is sent before the first step.
 *
 * @param client   borrowed; must outlive the operator; not NULL. Others may use it between steps.
 *                 The operator is its observer (mpijob_client_set_observer()), for its metrics.
 * @param options  NULL for the defaults; copied.
 * @param out      not NULL; the operator, yours.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (options); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_new(mpijob_client *client,
    const struct mpijob_operator_options *options, mpijob_operator **out, mpijob_diag *diag);

/** Free an operator; what it had under way is cancelled. NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_operator_free(mpijob_operator *operator_);

/**
 * Do what there is to do, then wait for news, at most so long.
 *
 * @param operator_   not NULL.
 * @param timeout_ms  milliseconds; 0: do not wait; negative: no limit. It returns earlier when its
 *                    own next time comes, when news came, or when the client was woken.
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

/**
 * Begin or cease to act: who is elected acts, who is not only watches, and who is elected and about
 * to go ends.
 *
 * Who ceases to act writes nothing new: what has not left yet is taken back, and what is under way
 * comes to its end (mpijob_operator_busy()). Events that wait while he only watches are sent when
 * he acts again. Then every job is planned anew. A shadow never acts.
 *
 * @param operator_  not NULL.
 * @param part       `MPIJOB_OPERATOR_*`; anything else is MPIJOB_OPERATOR_WATCHES.
 * @since 0.1
 */
MPIJOB_API void mpijob_operator_act(mpijob_operator *operator_, int part);

/**
 * Set what an administrator wants of all jobs, in the place of what was set before. Every job is
 * planned anew.
 *
 * @param operator_  not NULL.
 * @param config     NULL: nothing; copied.
 * @return 0; `MPIJOB_ERR_NOMEM` (what was set before holds on); `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_configure(mpijob_operator *operator_,
    const mpijob_operator_config *config);

/**
 * Count what is not settled yet: writes under way, and Events that are being sent or wait to be,
 * unless it only watches. Who wants to end cleanly ends, or watches, and goes on with
 * mpijob_operator_step() until this is 0 or his patience ends.
 *
 * @param operator_  not NULL.
 * @return how many.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_operator_busy(const mpijob_operator *operator_);

/**
 * For a host's own event loop: tell what to wait for before the next mpijob_operator_step() with
 * timeout 0.
 *
 * @param operator_    not NULL.
 * @param fd           set to a descriptor to be watched for input, or -1; not NULL.
 * @param deadline_ms  set to the time of CLOCK_MONOTONIC in milliseconds by which to step at the
 *                     latest, or -1; not NULL.
 * @return 0; `MPIJOB_ERR_UNSUPPORTED` (the transport has no such thing); `MPIJOB_ERR_USAGE` (NULL);
 *         what the transport returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_interest(mpijob_operator *operator_, int *fd, int64_t *deadline_ms);

/**
 * Write the metrics of this operator in the text format of Prometheus, version 0.0.4. They are
 * listed in docs/metrics.md.
 *
 * @param operator_  not NULL.
 * @param write      the sink; not NULL.
 * @param user       passed to the sink.
 * @return 0; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE` (NULL); what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_metrics(const mpijob_operator *operator_, mpijob_write_fn write,
    void *user);

/**
 * Write what a shadow would have done: one JSON object for each action, in the order of counting,
 * each on a line. Members: `time` (RFC 3339), `namespace`, `job`, `verb` ("create", "patch", "patch
 * status", "delete"), `kind`, `name`, `why`, `difference` (the row of docs/differences.md that
 * explains it, or null). The last 10,000 are kept.
 *
 * Events are no actions of their own here: they go with the status that they are about. A Secret
 * that the shadow may not look at is taken to be there.
 *
 * @param operator_  not NULL.
 * @param write      the sink; not NULL; not called when there is nothing.
 * @param user       passed to the sink.
 * @return 0; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE` (NULL); what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_shadow_report(const mpijob_operator *operator_,
    mpijob_write_fn write, void *user);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_OPERATOR_H */
