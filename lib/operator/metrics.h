/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics of an operator. */
#ifndef MPIJOB__OPERATOR_METRICS_H
#define MPIJOB__OPERATOR_METRICS_H

#include <mpijob/client.h>

#define MPIJOB__OPERATOR_METRICS_BOUNDS  12
#define MPIJOB__OPERATOR_METRICS_VERBS   7 /* of requests */
#define MPIJOB__OPERATOR_METRICS_CODES   64
#define MPIJOB__OPERATOR_METRICS_KINDS   11
#define MPIJOB__OPERATOR_METRICS_ACTIONS 5 /* MPIJOB__OPERATOR_ACTION_GET, MPIJOB_ACTION_* */

struct mpijob__operator_histogram {
	/* not cumulative; the last one is unbounded */
	uint64_t buckets[MPIJOB__OPERATOR_METRICS_BOUNDS + 1];
	uint64_t sum_us;
};

/* Failed requests of one status and verb; the last entry counts those without an entry of their
 * own. */
struct mpijob__operator_failure {
	const char *verb; /* NULL: the entry is free */
	int status;
	uint64_t count;
};

struct mpijob__operator_metrics {
	uint64_t created, succeeded, failed;      /* jobs */
	struct mpijob__operator_histogram waited; /* in the queue */
	struct mpijob__operator_histogram planned;
	struct mpijob__operator_histogram requests[MPIJOB__OPERATOR_METRICS_VERBS];
	struct mpijob__operator_failure failures[MPIJOB__OPERATOR_METRICS_CODES];
	/* actions that succeeded */
	uint64_t actions[MPIJOB__OPERATOR_METRICS_ACTIONS][MPIJOB__OPERATOR_METRICS_KINDS];
	uint64_t skipped[MPIJOB__OPERATOR_METRICS_KINDS];
	uint64_t events_dropped;
	uint64_t shadow[MPIJOB__OPERATOR_METRICS_ACTIONS][MPIJOB__OPERATOR_METRICS_KINDS];
};

/* The index of a kind in an array of METRICS_KINDS. */
size_t mpijob__operator_metrics_kind(const char *kind);
/* "get", "create", "patch", "patch status", "delete" */
const char *mpijob__operator_metrics_verb(int32_t action);
void mpijob__operator_histogram_add(struct mpijob__operator_histogram *histogram, int64_t us);
/* Count a request that has ended. */
void mpijob__operator_metrics_request(struct mpijob__operator_metrics *metrics,
    const struct mpijob_request_stats *stats);

#endif
