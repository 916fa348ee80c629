/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of one object by its name. */
#ifndef MPIJOB__OPERATOR_READ_H
#define MPIJOB__OPERATOR_READ_H

#include "operator/metrics.h"

#include <mpijob/client.h>
#include <mpijob/operator.h>

#define MPIJOB__OPERATOR_KIND_BIT(kind) (1u << mpijob__operator_metrics_kind(kind))

/* Read the object that `target` names; `*is_list`: by a list. Returns as mpijob_client_start(). */
int mpijob__operator_read_start(mpijob_operator *operator_, struct mpijob_target target,
    const struct mpijob_callbacks *callbacks, int *is_list, mpijob_call **call);
/* A read was forbidden: 1 when the caller should read again, now by a list. */
int mpijob__operator_read_refused(mpijob_operator *operator_, const char *kind, int is_list);
/*
 * Call `handle` with the response of a read. The response of a list becomes the one of a GET: its
 * only object, or MPIJOB_ERR_NOT_FOUND. Returns what `handle` returned. Memory that may hold a key
 * is wiped.
 */
int mpijob__operator_read_answer(const char *api_version, const char *kind, int is_list,
    const struct mpijob_answer *answer,
    int (*handle)(void *user, const struct mpijob_answer *answer), void *user);

#endif
