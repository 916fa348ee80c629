/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PriorityClasses of the cluster: their values order the pods that count for the resources of a
 * PodGroup.
 *
 * There are few of them: they are in an array, next to the array of views that rendering takes.
 */
#include "operator/cache_classes.h"

#include "operator/operator.h"

#include <stdlib.h>
#include <string.h>

/* The array has moved or changed: set the views. */
static void set_views(mpijob_operator *operator_)
{
	for (size_t i = 0; i < operator_->classes.count; i++)
		operator_->classes.views[i] = &operator_->classes.items[i].view;
	operator_->options.render.priority_classes = operator_->classes.views;
	operator_->options.render.priority_classes_count = operator_->classes.count;
}

static struct mpijob__operator_priority_class *find(const mpijob_operator *operator_,
    const char *name)
{
	for (size_t i = 0; i < operator_->classes.count; i++)
		if (strcmp(operator_->classes.items[i].name, name) == 0)
			return &operator_->classes.items[i];
	return NULL;
}

static void drop(mpijob_operator *operator_, struct mpijob__operator_priority_class *class)
{
	size_t at = (size_t)(class - operator_->classes.items);

	free(class->name);
	memmove(class, class + 1, (operator_->classes.count - at - 1) * sizeof(*class));
	operator_->classes.count--;
	set_views(operator_);
}

static int add(mpijob_operator *operator_, const char *name,
    struct mpijob__operator_priority_class **out)
{
	size_t count = operator_->classes.count + 1;
	struct mpijob__operator_priority_class *classes;
	const struct mpijob_priority_class **views;
	char *copy;

	classes = realloc(operator_->classes.items, count * sizeof(*classes));
	if (!classes)
		return MPIJOB_ERR_NOMEM;
	operator_->classes.items = classes;
	set_views(operator_);
	views = realloc(operator_->classes.views, count * sizeof(*views));
	if (!views)
		return MPIJOB_ERR_NOMEM;
	operator_->classes.views = views;
	set_views(operator_);
	copy = strdup(name);
	if (!copy)
		return MPIJOB_ERR_NOMEM;
	*out = &classes[operator_->classes.count++];
	memset(*out, 0, sizeof(**out));
	(*out)->name = copy;
	(*out)->view.size = sizeof((*out)->view);
	(*out)->view.name = copy;
	set_views(operator_);
	return 0;
}

int mpijob__operator_classes_event(struct mpijob__operator_informer *informer,
    const struct mpijob_watch_event *object)
{
	mpijob_operator *operator_ = informer->operator_;
	struct mpijob__operator_priority_class *class = find(operator_, object->name);
	const struct mpijob_observed *observed;
	int32_t value;
	int rc;

	if (object->event == MPIJOB_WATCH_DELETED) {
		if (class)
			drop(operator_, class);
		mpijob__operator_jobs_enqueue(operator_);
		return 0;
	}
	if (!object->json || !*object->name)
		return 0;
	rc = mpijob_observe(operator_->cache.observation, object->json, object->json_len, &observed,
	    NULL);
	if (rc)
		return rc == MPIJOB_ERR_NOMEM ? rc : 0;
	value = observed->priority_value;
	if (!class) {
		rc = add(operator_, object->name, &class);
		if (rc)
			return rc;
	} else if (class->view.value == value) {
		class->generation = informer->generation;
		return 0;
	}
	class->generation = informer->generation;
	class->view.value = value;
	mpijob__operator_jobs_enqueue(operator_);
	return 0;
}

void mpijob__operator_classes_sweep(struct mpijob__operator_informer *informer)
{
	mpijob_operator *operator_ = informer->operator_;
	int changed = 0;

	for (size_t i = operator_->classes.count; i-- > 0;)
		if (operator_->classes.items[i].generation != informer->generation) {
			drop(operator_, &operator_->classes.items[i]);
			changed = 1;
		}
	if (changed)
		mpijob__operator_jobs_enqueue(operator_);
}

void mpijob__operator_classes_release(mpijob_operator *operator_)
{
	for (size_t i = 0; i < operator_->classes.count; i++)
		free(operator_->classes.items[i].name);
	free(operator_->classes.items);
	free(operator_->classes.views);
}
