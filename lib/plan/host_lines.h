/* SPDX-License-Identifier: Apache-2.0 */
/* A digest over what a hostfile says, to tell whether it still says what the job wants. */
#ifndef MPIJOB__PLAN_HOST_LINES_H
#define MPIJOB__PLAN_HOST_LINES_H

#include "render/render.h"

/* Of a text that was observed. */
uint64_t mpijob__plan_host_lines_observed(const char *text, size_t len);
/* Of the one that the job wants. Takes no longer for many workers than for few. */
uint64_t mpijob__plan_host_lines_wanted(const struct mpijob__render_subject *subject);

#endif
