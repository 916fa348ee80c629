/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_GC_H
#define MPIJOB_LOCAL_GC_H

#include "local.h"

/* Work off what deletions left to do. 0 or MPIJOB_ERR_NOMEM (it is tried again). */
int mpijob__local_gc_run(struct mpijob_local *local);

/* Whether an object names owners and none of them exists. */
int mpijob__local_gc_is_orphan(const struct mpijob_local *local, const struct object *object);

/* Strike an owner out of everything that it owns. */
int mpijob__local_gc_disown(struct mpijob_local *local, const char *uid);

#endif
