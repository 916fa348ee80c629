/* SPDX-License-Identifier: Apache-2.0 */
/* Inside lib/render: the typed view of a PodGroup's document. */
#ifndef MPIJOB_RENDER_POD_GROUP_H
#define MPIJOB_RENDER_POD_GROUP_H

#include "render/build.h"

/* Fill `out` from a document of mpijob__render_pod_group_build(). `out` borrows from `doc` and
 * `timeout`, which receives the number. */
void mpijob__render_pod_group_view(const mpijob_doc *doc, int volcano, int32_t *timeout,
    struct mpijob_pod_group *out);

#endif /* MPIJOB_RENDER_POD_GROUP_H */
