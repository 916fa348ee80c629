/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions: where Kubernetes' objects have them, and how one is found by its type.
 */
#include <mpijob/job.h>

#include <string.h>

static int has_text(const mpijob_node *map, const char *key, const char *wanted)
{
	const char *text = mpijob_node_string(mpijob_node_get(map, key));

	return text && strcmp(text, wanted) == 0;
}

const mpijob_node *mpijob_condition_find(const mpijob_node *object, const char *type,
    const char *status)
{
	const mpijob_node *list = mpijob_node_find(object, "status.conditions");

	for (size_t i = 0; type && i < mpijob_node_count(list); i++) {
		const mpijob_node *condition = mpijob_node_at(list, i);

		if (has_text(condition, "type", type) &&
		    (!status || has_text(condition, "status", status)))
			return condition;
	}
	return NULL;
}
