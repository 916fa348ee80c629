/* SPDX-License-Identifier: Apache-2.0 */
/* Missing rights: verbs on a kind in a namespace that the API server refuses at present. */
#ifndef MPIJOB__OPERATOR_RIGHTS_H
#define MPIJOB__OPERATOR_RIGHTS_H

#include <mpijob/operator.h>

#include <stddef.h>
#include <stdint.h>

struct mpijob__operator_job;
struct mpijob__operator_right;

struct mpijob__operator_rights {
	struct mpijob__operator_right *missing;
	size_t count;
	/* MPIJOB__OPERATOR_KIND_BIT() of kinds that are listed because `get` is forbidden */
	unsigned listed_kinds;
	/* the same for kinds that are updated because `patch` is forbidden */
	unsigned updated_kinds;
};

/* A request was refused. 1 if this is logged already; 0 if the caller should log it. */
int mpijob__operator_rights_missing(mpijob_operator *operator_, const char *namespace_,
    int32_t verb, const char *kind, const char *message);
/* A request succeeded. */
void mpijob__operator_rights_granted(mpijob_operator *operator_, const char *namespace_,
    int32_t verb, const char *kind);
/*
 * Note whether a job waits for a right. When no other job of its namespace waits, no request would
 * show that the right is granted again: it is forgotten.
 */
void mpijob__operator_rights_set_waiting(mpijob_operator *operator_,
    struct mpijob__operator_job *job, int waits);
/* The number of namespaces in which a right is missing. */
size_t mpijob__operator_rights_count(const mpijob_operator *operator_, int32_t verb,
    const char *kind);
void mpijob__operator_rights_release(mpijob_operator *operator_);

#endif
