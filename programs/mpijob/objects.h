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
/* The condition of a type in status.conditions, or NULL. Letter case does not matter, as for
 * `kubectl wait`. */
const mpijob_node *condition_of(const mpijob_node *object, const char *type);
/* Whether it has this status: "True", "False" or "Unknown". */
int condition_is(const mpijob_node *object, const char *type, const char *status);

#endif
