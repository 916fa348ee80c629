/* SPDX-License-Identifier: Apache-2.0 */
/* The requests of the driver: all that do not come from an operator. */
#ifndef MPIJOB_TEST_LIVES_DRIVER_H
#define MPIJOB_TEST_LIVES_DRIVER_H

#include "lifecycle.h"

/* Each: 0 or what the cluster answered. `format` gives JSON. */
int driver_create(struct world *world, enum mpijob__local_kind_id kind, const char *namespace_,
    const char *format, ...) __attribute__((format(printf, 4, 5)));
int driver_patch(struct world *world, const struct mpijob__local_object *object,
    const char *subresource, const char *format, ...) __attribute__((format(printf, 4, 5)));
int driver_delete(struct world *world, const struct mpijob__local_object *object,
    const char *propagation);

/* A pod comes to a phase; one that has ended stays as it is. */
enum phase {
	PHASE_RUNNING,
	PHASE_READY,
	PHASE_SUCCEEDED,
	PHASE_FAILED,
	PHASE_EVICTED,
	PHASE_COUNT
};
void driver_phase(struct world *world, const struct mpijob__local_object *pod, enum phase phase);

struct mpijob__local_object *worker_in(struct world *world, int slot, int index);
struct mpijob__local_object *launcher_in(struct world *world, int slot);
/* The launcher's youngest pod that is not going; NULL when there is none. */
struct mpijob__local_object *launcher_pod_in(struct world *world, int slot);
/* One of the other children: 0 Service, 1 ConfigMap, 2 Secret, 3 PodGroup. */
struct mpijob__local_object *child_in(struct world *world, int slot, int which);

#endif
