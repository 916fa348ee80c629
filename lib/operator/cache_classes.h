/* SPDX-License-Identifier: Apache-2.0 */
/* The PriorityClasses of the cluster. */
#ifndef MPIJOB__OPERATOR_CACHE_CLASSES_H
#define MPIJOB__OPERATOR_CACHE_CLASSES_H

#include "operator/informer.h"

#include <mpijob/render.h>

struct mpijob__operator_priority_class {
	struct mpijob_priority_class view;
	char *name;
	uint32_t generation;
};

struct mpijob__operator_classes {
	struct mpijob__operator_priority_class *items;
	const struct mpijob_priority_class **views; /* of the items, as rendering takes them */
	size_t count;
};

/* A PriorityClass from a list or watch. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__operator_classes_event(struct mpijob__operator_informer *informer,
    const struct mpijob_watch_event *object);
/* Forget the classes that a list did not contain. */
void mpijob__operator_classes_sweep(struct mpijob__operator_informer *informer);
void mpijob__operator_classes_release(mpijob_operator *operator_);

#endif
