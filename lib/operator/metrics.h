/* SPDX-License-Identifier: Apache-2.0 */
/* What an operator counts. */
#ifndef MPIJOB__OPERATOR_METRICS_H
#define MPIJOB__OPERATOR_METRICS_H

#include <stddef.h>
#include <stdint.h>

#define MPIJOB__OPERATOR_METRICS_BOUNDS  12
#define MPIJOB__OPERATOR_METRICS_VERBS   7 /* of requests */
#define MPIJOB__OPERATOR_METRICS_CODES   64
#define MPIJOB__OPERATOR_METRICS_KINDS   11
#define MPIJOB__OPERATOR_METRICS_ACTIONS 5 /* MPIJOB_ACTION_*; 0: a look */

struct mpijob__operator_histogram {
	/* each by itself; the last one without bound */
	uint64_t buckets[MPIJOB__OPERATOR_METRICS_BOUNDS + 1];
	uint64_t sum_us;
};

/* Requests that failed with one status and verb; the last place takes what found no other. */
struct mpijob__operator_failure {
	const char *verb; /* NULL: the place is free */
	int status;
	uint64_t count;
};

struct mpijob__operator_metrics {
	uint64_t created, succeeded, failed;      /* jobs */
	struct mpijob__operator_histogram waited; /* in the queue */
	struct mpijob__operator_histogram planned;
	struct mpijob__operator_histogram requests[MPIJOB__OPERATOR_METRICS_VERBS];
	struct mpijob__operator_failure failures[MPIJOB__OPERATOR_METRICS_CODES];
	uint64_t set_aside[MPIJOB__OPERATOR_METRICS_KINDS];
	uint64_t events_dropped;
	uint64_t shadow[MPIJOB__OPERATOR_METRICS_ACTIONS][MPIJOB__OPERATOR_METRICS_KINDS];
};

/* The place of a kind in what is counted by kind. */
size_t mpijob__operator_metrics_kind(const char *kind);
/* "get", "create", "patch", "patch status", "delete" */
const char *mpijob__operator_metrics_verb(int32_t action);
void mpijob__operator_histogram_add(struct mpijob__operator_histogram *histogram, int64_t us);
/* A request ended; an observer of the client. `user` is the struct mpijob__operator_metrics. */
void mpijob__operator_metrics_request(void *user, const char *verb, int status, int code,
    int64_t took_ms);

#endif
