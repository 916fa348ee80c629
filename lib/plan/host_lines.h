/* SPDX-License-Identifier: Apache-2.0 */
/* A digest of the contents of a hostfile, to compare the observed with the wanted one. */
#ifndef MPIJOB__PLAN_HOST_LINES_H
#define MPIJOB__PLAN_HOST_LINES_H

#include "render/render.h"

/* Digest of an observed text. */
uint64_t mpijob__plan_host_lines_observed(const char *text, size_t len);
/* Digest of the wanted hostfile. The cost does not depend on the number of workers. */
uint64_t mpijob__plan_host_lines_wanted(const struct mpijob__render_subject *subject);

#endif
