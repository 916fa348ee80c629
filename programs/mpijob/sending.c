/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows what --validate, --dry-run, --server-side and --field-manager mean for a request, and in
 * which order the objects of files are sent.
 */
#include <stdlib.h>

#include "objects.h"
#include "sending.h"

const char *sending_validation(const struct arguments *arguments)
{
	switch (arguments->validate) {
	case VALIDATE_WARN: return "Warn";
	case VALIDATE_IGNORE:
	case VALIDATE_FALSE: return "Ignore";
	default: return "Strict";
	}
}

void sending_options(const struct arguments *arguments, const char *namespace_,
    struct mpijob_submit_options *options)
{
	*options = (struct mpijob_submit_options)MPIJOB_SUBMIT_OPTIONS_INIT;
	options->namespace_ = namespace_;
	options->apply = arguments->server_side;
	options->force = arguments->force_conflicts;
	options->dry_run = arguments->dry_run == DRY_RUN_SERVER;
	options->field_manager = arguments->field_manager;
	options->field_validation = sending_validation(arguments);
}

static int compare(const void *left, const void *right)
{
	const struct input_object *a = left, *b = right;
	int order = mpijob_run_order(a->node) - mpijob_run_order(b->node);

	if (order)
		return order;
	return a->position < b->position ? -1 : a->position > b->position;
}

void sending_sort(struct input *input)
{
	if (input->count)
		qsort(input->objects, input->count, sizeof(*input->objects), compare);
}

static int ignore(void *user, const char *data, size_t len)
{
	(void)user;
	(void)data;
	(void)len;
	return 0;
}

/* Only kinds without namespaces have a path without one. */
int sending_has_namespace(const struct input_object *object)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = text_at(object->node, "apiVersion");
	target.kind = text_at(object->node, "kind");
	target.name = "name";
	return mpijob_target_write(&target, ignore, NULL) != 0;
}
