/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Render options as a document, for case folders and the oracle:
 * {"reference": true, "clusterDomain": "...", "gangScheduler": "...", "priorityClasses": {"NAME": 1}, "running": "101",
 *  "waitForHosts": 60, "compactHosts": true}
 */
#ifndef TESTS_SUPPORT_RENDER_OPTIONS_H
#define TESTS_SUPPORT_RENDER_OPTIONS_H

#include <mpijob/render.h>

#include <stdlib.h>
#include <string.h>

struct read_options {
	struct mpijob_render_options options;
	struct mpijob_priority_class *classes;
	const struct mpijob_priority_class **pointers;
	uint8_t *running;
};

/* `node` may be NULL; what is read borrows from it. */
static void read_options(const mpijob_node *node, struct read_options *out)
{
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	const mpijob_node *classes = mpijob_node_get(node, "priorityClasses");
	const char *running = mpijob_node_string(mpijob_node_get(node, "running"));
	int reference = 0, compact = 0;
	int64_t wait = 0;

	memset(out, 0, sizeof(*out));
	mpijob_node_bool(mpijob_node_get(node, "reference"), &reference);
	options.reference = reference;
	mpijob_node_bool(mpijob_node_get(node, "compactHosts"), &compact);
	options.compact_hosts = compact;
	mpijob_node_int(mpijob_node_get(node, "waitForHosts"), &wait);
	options.wait_for_hosts = (int32_t)wait;
	options.cluster_domain = mpijob_node_string(mpijob_node_get(node, "clusterDomain"));
	options.gang_scheduler = mpijob_node_string(mpijob_node_get(node, "gangScheduler"));
	options.priority_classes_count = mpijob_node_count(classes);
	out->classes = calloc(options.priority_classes_count + 1, sizeof(*out->classes));
	out->pointers = calloc(options.priority_classes_count + 1, sizeof(*out->pointers));
	for (size_t i = 0; i < options.priority_classes_count; i++) {
		int64_t value = 0;

		mpijob_node_int(mpijob_node_at(classes, i), &value);
		out->classes[i] = (struct mpijob_priority_class)MPIJOB_PRIORITY_CLASS_INIT;
		out->classes[i].name = mpijob_node_key(classes, i);
		out->classes[i].value = (int32_t)value;
		out->pointers[i] = &out->classes[i];
	}
	options.priority_classes = out->pointers;
	if (running != NULL) {
		out->running = calloc(strlen(running) + 1, 1);
		for (size_t i = 0; running[i] != '\0'; i++)
			out->running[i] = running[i] == '1';
		options.running = out->running;
		options.running_count = strlen(running);
	}
	out->options = options;
}

static void free_options(struct read_options *options)
{
	free(options->classes);
	free(options->pointers);
	free(options->running);
}

#endif /* TESTS_SUPPORT_RENDER_OPTIONS_H */
