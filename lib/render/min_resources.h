/* SPDX-License-Identifier: Apache-2.0 */
/* Inside lib/render: the sum of the resources of a gang's pods. */
#ifndef MPIJOB_RENDER_MIN_RESOURCES_H
#define MPIJOB_RENDER_MIN_RESOURCES_H

#include "render/build.h"

/*
 * Put `minResources` into a PodGroup's spec: the resources of the `min_member` pods with the
 * highest priority. Failures are in `b`.
 */
void mpijob__render_min_resources_put(struct mpijob__render_build *b, mpijob_node *spec,
    int32_t min_member);

#endif /* MPIJOB_RENDER_MIN_RESOURCES_H */
