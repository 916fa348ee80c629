/* SPDX-License-Identifier: Apache-2.0 */
/* What the objects of a job show. */
#ifndef MPIJOB__RUN_OBJECTS_H
#define MPIJOB__RUN_OBJECTS_H

#include <mpijob/doc.h>

/* The string at a path; "" without one. `node` may be NULL. */
const char *mpijob__run_text(const mpijob_node *node, const char *path);
/* Whether the pod has this role: "launcher" or "worker". */
int mpijob__run_pod_has_role(const mpijob_node *pod, const char *role);
/* Whether the pod belongs to the job with this UID and creation time (NULL: any), not to an earlier
 * one with the same name that is still being deleted. */
int mpijob__run_pod_is_of(const mpijob_node *pod, const char *uid, const char *created);

#endif
