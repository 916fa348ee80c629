/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file operator.h
 * The operator: watches the MPIJobs of a cluster and their children, makes plans, and executes
 * them.
 *
 * It runs on your thread: call mpijob_operator_step() in a loop. It works with any transport.
 *
 * By default it reconciles at once. As one of several replicas it starts as a standby, which only
 * watches until mpijob_operator_act() makes it the leader. As a shadow, beside another operator, it
 * only records what it would do (mpijob_operator_shadow_report()).
 *
 * @par Stability
 * May change in a minor version.
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

/* The role of an operator, see mpijob_operator_act(). */
#define MPIJOB_OPERATOR_WATCHES 0 /**< It watches and writes nothing. */
#define MPIJOB_OPERATOR_ACTS    1 /**< It leads: it makes and executes plans. */
/** It shuts down: it neither makes nor continues plans, but sends pending Events. */
#define MPIJOB_OPERATOR_ENDS 2

/** Options of the operator. */
struct mpijob_operator_options {
	size_t size;            /**< `sizeof` this struct. */
	const char *namespace_; /**< Watch this namespace only; NULL: all. */
	/** Options for rendering children; NULL for the defaults; copied. `entropy`, `running` and
	 * `priority_classes` are ignored. */
	const struct mpijob_render_options *render;
	int32_t max_writes; /**< Maximum number of concurrent writes; 0: 16. */
	/** Called with findings for a log; they have no source, line or column. May be NULL. */
	void (*log)(void *user, const struct mpijob_finding *finding);
	void *log_user; /**< Passed to `log`. */
	/** 1: a dry run: plan every job, and write nothing, not even Events. It needs only rights
	 * to read, and none to read Secrets. */
	int32_t shadow;
	/** 1: start with MPIJOB_OPERATOR_WATCHES, until mpijob_operator_act(). Ignored by a shadow.
	 */
	int32_t standby;
	/** In ms: a shadow records an action when the plan still contains it and no event about the
	 * job has arrived for this time, or ten times this after the plan first contained it; 0:
	 * 10,000. */
	int64_t shadow_grace_ms;
	/** `launcher_hold_ms` of struct mpijob_plan_options, in ms; 0: launchers do not wait for
	 * the DNS names of workers. */
	int64_t launcher_hold_ms;
	/**
	 * Query the DNS of the cluster for a name, without blocking: 1 if it resolves, 0 if not or
	 * if the answer is pending, negative if the DNS cannot be queried. `name` is borrowed and
	 * ends with ".svc". It is called again until it returns 1. NULL: launchers wait
	 * `launcher_hold_ms`.
	 */
	int (*resolve)(void *user, const char *name);
	void *resolve_user; /**< Passed to `resolve`. */
	/** 1: also log each action with its reason, with severity MPIJOB_SEVERITY_DEBUG. */
	int32_t log_actions;
	int32_t reserved; /**< 0; fills the struct. */
};
#define MPIJOB_OPERATOR_OPTIONS_INIT { sizeof(struct mpijob_operator_options), NULL, NULL, 0, \
	NULL, NULL, 0, 0, 0, 0, NULL, NULL, 0, 0 }

/**
 * Create an operator. Nothing is sent before the first step.
 *
 * @param client   borrowed; must outlive the operator; not NULL. You may use it for other calls
 *                 between steps. The operator is its observer (mpijob_client_set_observer()), for
 *                 its metrics.
 * @param options  NULL for the defaults; copied.
 * @param out      not NULL; receives the operator, which you free.
 * @param diag     receives findings; may be NULL.
 * @return 0; `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (options); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_new(mpijob_client *client,
    const struct mpijob_operator_options *options, mpijob_operator **out, mpijob_diag *diag);

/** Free an operator and cancel its requests in flight. NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_operator_free(mpijob_operator *operator_);

/**
 * Process events and due work, then wait for more.
 *
 * @param operator_   not NULL.
 * @param timeout_ms  milliseconds; 0: do not wait; negative: no limit. It returns earlier when work
 *                    becomes due, after an event or answer, or when the client is woken.
 * @return 0; `MPIJOB_ERR_NOMEM` (the state is kept; call again); the error of the transport.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_step(mpijob_operator *operator_, int timeout_ms);

/**
 * Test whether the first lists of all informers are complete.
 *
 * @param operator_  not NULL.
 * @return 1; 0 before, when it does not reconcile yet.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_synced(const mpijob_operator *operator_);

/**
 * Set the role: MPIJOB_OPERATOR_ACTS for the elected leader, MPIJOB_OPERATOR_WATCHES for the other
 * replicas, MPIJOB_OPERATOR_ENDS for a leader that shuts down.
 *
 * An operator that stops leading sends no new writes: queued writes are dropped, and writes in
 * flight complete (mpijob_operator_busy()). Pending Events are kept while it only watches, and sent
 * when it leads again. Then every job is planned again. A shadow never leads.
 *
 * @param operator_  not NULL.
 * @param part       `MPIJOB_OPERATOR_*`; other values mean MPIJOB_OPERATOR_WATCHES.
 * @since 0.1
 */
MPIJOB_API void mpijob_operator_act(mpijob_operator *operator_, int part);

/**
 * Replace the administrator's configuration. Every job is planned again.
 *
 * @param operator_  not NULL.
 * @param config     NULL: no configuration; copied.
 * @return 0; `MPIJOB_ERR_NOMEM` (the previous configuration stays in effect); `MPIJOB_ERR_USAGE`
 *         (`operator_` is NULL).
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_configure(mpijob_operator *operator_,
    const mpijob_operator_config *config);

/**
 * Count the writes in flight and, unless it only watches, the Events that are pending or in flight.
 * For a clean shutdown set MPIJOB_OPERATOR_ENDS or MPIJOB_OPERATOR_WATCHES, and call
 * mpijob_operator_step() until this is 0, or until your grace period is over.
 *
 * @param operator_  not NULL.
 * @return the number.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_operator_busy(const mpijob_operator *operator_);

/**
 * For the host's event loop: get what to wait for before the next mpijob_operator_step() with
 * timeout 0.
 *
 * @param operator_    not NULL.
 * @param fd           not NULL; receives a descriptor to poll for input, or -1.
 * @param deadline_ms  not NULL; receives the latest time of the next step, in milliseconds of
 *                     CLOCK_MONOTONIC, or -1.
 * @return 0; `MPIJOB_ERR_UNSUPPORTED` (the transport has no `interest`); `MPIJOB_ERR_USAGE` (NULL);
 *         the error of the transport.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_interest(mpijob_operator *operator_, int *fd, int64_t *deadline_ms);

/**
 * Write the metrics of this operator in the text format of Prometheus, version 0.0.4.
 * docs/metrics.md lists them.
 *
 * @param operator_  not NULL.
 * @param write      the sink; not NULL.
 * @param user       passed to the sink.
 * @return 0; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE` (NULL); the error of the sink.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_metrics(const mpijob_operator *operator_, mpijob_write_fn write,
    void *user);

/**
 * Write the actions that a shadow has recorded: one JSON object per line, in the order of
 * recording. Members: `time` (RFC 3339), `namespace`, `job`, `verb` ("create", "patch", "patch
 * status", "delete"), `kind`, `name`, `why`, `difference` (the entry of docs/differences.md that
 * explains it, or null). The last 10,000 are kept.
 *
 * Events are not recorded separately: they belong to the status change that they describe. A shadow
 * assumes that a Secret exists if it has no right to read it.
 *
 * @param operator_  not NULL.
 * @param write      the sink; not NULL; not called if there are no actions.
 * @param user       passed to the sink.
 * @return 0; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE` (NULL); the error of the sink.
 * @since 0.1
 */
MPIJOB_API int mpijob_operator_shadow_report(const mpijob_operator *operator_,
    mpijob_write_fn write, void *user);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_OPERATOR_H */
