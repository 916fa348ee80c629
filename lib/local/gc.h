/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_GC_H
#define MPIJOB_LOCAL_GC_H

#include "local/local.h"

/* Run the garbage collector if it is pending. 0, or MPIJOB_ERR_NOMEM: it stays pending. */
int mpijob__local_gc_run(struct mpijob_local *local);

/* Whether an object has owners and none of them exists. */
int mpijob__local_gc_is_orphan(const struct mpijob_local *local,
    const struct mpijob__local_object *object);

/* Remove an owner from the ownerReferences of all objects. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__local_gc_remove_owner(struct mpijob_local *local, const char *uid);

#endif
