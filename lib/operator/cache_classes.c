/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PriorityClasses of the cluster, which a gang's resources are added up by.
 *
 * There are few, so they stand in an array; the views of them that rendering wants are made with
 * it.
 */
#include "operator/operator.h"

#include <stdlib.h>
#include <string.h>

/* The array has moved or changed: show it anew. */
static void show(mpijob_operator *operator_)
{
	for (size_t i = 0; i < operator_->class_count; i++)
		operator_->class_views[i] = &operator_->classes[i].view;
	operator_->render.priority_classes = operator_->class_views;
	operator_->render.priority_classes_count = operator_->class_count;
}

static struct mpijob__operator_priority_class *find(const mpijob_operator *operator_,
    const char *name)
{
	for (size_t i = 0; i < operator_->class_count; i++)
		if (strcmp(operator_->classes[i].name, name) == 0)
			return &operator_->classes[i];
	return NULL;
}

static void drop(mpijob_operator *operator_, struct mpijob__operator_priority_class *class)
{
	size_t at = (size_t)(class - operator_->classes);

	free(class->name);
	memmove(class, class + 1, (operator_->class_count - at - 1) * sizeof(*class));
	operator_->class_count--;
	show(operator_);
}

static int add(mpijob_operator *operator_, const char *name,
    struct mpijob__operator_priority_class **out)
{
	size_t count = operator_->class_count + 1;
	struct mpijob__operator_priority_class *classes;
	const struct mpijob_priority_class **views;
	char *copy;

	classes = realloc(operator_->classes, count * sizeof(*classes));
	if (!classes)
		return MPIJOB_ERR_NOMEM;
	operator_->classes = classes;
	show(operator_);
	views = realloc(operator_->class_views, count * sizeof(*views));
	if (!views)
		return MPIJOB_ERR_NOMEM;
	operator_->class_views = views;
	show(operator_);
	copy = strdup(name);
	if (!copy)
		return MPIJOB_ERR_NOMEM;
	*out = &classes[operator_->class_count++];
	memset(*out, 0, sizeof(**out));
	(*out)->name = copy;
	(*out)->view.size = sizeof((*out)->view);
	(*out)->view.name = copy;
	show(operator_);
	return 0;
}

int mpijob__operator_classes_event(struct mpijob__operator_informer *source,
    const struct mpijob_watch_event *object)
{
	mpijob_operator *operator_ = source->operator_;
	struct mpijob__operator_priority_class *class = find(operator_, object->name);
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
	rc = mpijob_observe(operator_->observation, object->json, object->json_len, NULL);
	if (rc)
		return rc == MPIJOB_ERR_NOMEM ? rc : 0;
	value = mpijob_observation_view(operator_->observation)->priority_value;
	if (!class) {
		rc = add(operator_, object->name, &class);
		if (rc)
			return rc;
	} else if (class->view.value == value) {
		class->generation = source->generation;
		return 0;
	}
	class->generation = source->generation;
	class->view.value = value;
	mpijob__operator_jobs_enqueue(operator_);
	return 0;
}

void mpijob__operator_classes_sweep(struct mpijob__operator_informer *source)
{
	mpijob_operator *operator_ = source->operator_;
	int changed = 0;

	for (size_t i = operator_->class_count; i-- > 0;)
		if (operator_->classes[i].generation != source->generation) {
			drop(operator_, &operator_->classes[i]);
			changed = 1;
		}
	if (changed)
		mpijob__operator_jobs_enqueue(operator_);
}

void mpijob__operator_classes_release(mpijob_operator *operator_)
{
	for (size_t i = 0; i < operator_->class_count; i++)
		free(operator_->classes[i].name);
	free(operator_->classes);
	free(operator_->class_views);
}
