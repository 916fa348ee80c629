/* SPDX-License-Identifier: Apache-2.0 */
/* Informers: one list and watch for each kind that the operator follows. */
#ifndef MPIJOB__OPERATOR_INFORMER_H
#define MPIJOB__OPERATOR_INFORMER_H

#include <mpijob/operator.h>
#include <mpijob/watch.h>

/* The kinds, in the order in which they are listed: owners before what they own. */
enum {
	MPIJOB__OPERATOR_INFORMER_JOBS,
	MPIJOB__OPERATOR_INFORMER_LAUNCHERS,
	MPIJOB__OPERATOR_INFORMER_PODS,
	MPIJOB__OPERATOR_INFORMER_SERVICES,
	MPIJOB__OPERATOR_INFORMER_CONFIG_MAPS,
	MPIJOB__OPERATOR_INFORMER_NETWORK_POLICIES,
	MPIJOB__OPERATOR_INFORMER_POD_GROUPS,
	MPIJOB__OPERATOR_INFORMER_PRIORITY_CLASSES,
	MPIJOB__OPERATOR_INFORMER_COUNT,
	MPIJOB__OPERATOR_INFORMER_NONE = MPIJOB__OPERATOR_INFORMER_COUNT /* no informer */
};

/* A generation counts the lists of one kind, from 1 to below MPIJOB__OPERATOR_GENERATIONS. */
#define MPIJOB__OPERATOR_GENERATIONS     (UINT32_C(1) << 26)
#define MPIJOB__OPERATOR_GENERATION_NONE 0 /* no list has begun, or the kind has no informer */

struct mpijob__operator_informer {
	mpijob_operator *operator_;
	mpijob_watch *watch; /* NULL: not started, or the options do not need this kind */
	const char *api_version;
	const char *kind; /* NULL: the options do not need this kind */
	const char *namespace_, *label_selector;
	int number; /* MPIJOB__OPERATOR_INFORMER_* */
	uint32_t generation;
	int failing;  /* a failure was logged; its end is logged too */
	int degraded; /* it is not available, and the operator works without it */
	uint64_t seed;
};

/* Decide which kinds are watched. 0 or MPIJOB_ERR_IO. */
int mpijob__operator_informers_init(mpijob_operator *operator_);
/* Whether an informer may start now. */
int mpijob__operator_informers_may_start(const mpijob_operator *operator_);
/* Start each informer whose turn has come; the client then drives it. 0 or a MPIJOB_ERR_*. */
int mpijob__operator_informers_start(mpijob_operator *operator_);
void mpijob__operator_informers_free(mpijob_operator *operator_);
/* Log each informer that works again after a failure. */
void mpijob__operator_informers_log_recovery(mpijob_operator *operator_);
/* The informer of a kind; MPIJOB__OPERATOR_INFORMER_NONE. */
int mpijob__operator_informer_find(const mpijob_operator *operator_, const char *kind);
/*
 * The generation of a kind's informer, or MPIJOB__OPERATOR_GENERATION_NONE. When it changes while
 * a request is in flight, the object of the response may have been deleted before the list, and
 * neither the list nor the watch after it says so.
 */
uint32_t mpijob__operator_informer_generation(const mpijob_operator *operator_, const char *kind);

#endif
