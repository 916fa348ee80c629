/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read objects of a cluster.
 */
#ifndef MPIJOB_PROGRAM_OBJECTS_H
#define MPIJOB_PROGRAM_OBJECTS_H

#include <mpijob/mpijob.h>

/* "launcher" or "worker" of a pod's labels, or another value; "" without one. */
const char *pod_role(const mpijob_node *pod);

/*
 * Whether a pod belongs to the job with this UID and creation time (NULL: any), not to an earlier
 * one with the same name that is still being deleted.
 */
int pod_is_of(const mpijob_node *pod, const char *uid, const char *created);

/* The string at a path, "" without one. */
const char *text_at(const mpijob_node *node, const char *path);

#endif
