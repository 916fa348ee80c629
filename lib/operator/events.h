/* SPDX-License-Identifier: Apache-2.0 */
/* Events about jobs. */
#ifndef MPIJOB__OPERATOR_EVENTS_H
#define MPIJOB__OPERATOR_EVENTS_H

#include <mpijob/operator.h>

#include <stddef.h>
#include <stdint.h>

struct mpijob__operator_events;
struct mpijob__operator_job;

/* 0, MPIJOB_ERR_NOMEM or MPIJOB_ERR_IO. */
int mpijob__operator_events_new(mpijob_operator *operator_);
void mpijob__operator_events_free(mpijob_operator *operator_);
/* Send an Event about a job, later. Without memory, or beyond the limits, it is dropped. */
void mpijob__operator_events_emit(mpijob_operator *operator_,
    const struct mpijob__operator_job *job, const char *type, const char *reason,
    const char *message);
void mpijob__operator_events_step(mpijob_operator *operator_);
/* Stop sending Events, also those in the send queue. */
void mpijob__operator_events_stop(mpijob_operator *operator_);
int64_t mpijob__operator_events_due_ms(const mpijob_operator *operator_);
/* How many wait to be sent, if they may be sent; those in flight count as writes. */
size_t mpijob__operator_events_waiting(const mpijob_operator *operator_);

#endif
