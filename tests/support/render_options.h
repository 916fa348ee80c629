/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Render options as a document, for test cases and the oracle: {"reference": true,
 * "clusterDomain": "...", "gangScheduler": "...", "priorityClasses": {"NAME": 1}, "running": "101",
 * "waitForHosts": 60, "compactHosts": true}. All features (mpijob/features.h) are read by their
 * names in camel case.
 */
#ifndef TESTS_SUPPORT_RENDER_OPTIONS_H
#define TESTS_SUPPORT_RENDER_OPTIONS_H

#include <mpijob/render.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct read_options {
	struct mpijob_features features;
	struct mpijob_render_options options;
	struct mpijob_priority_class *classes;
	const struct mpijob_priority_class **pointers;
	uint8_t *running;
};

/* `node` may be NULL; `out` has pointers into it. */
void read_options(const mpijob_node *node, struct read_options *out);
void free_options(struct read_options *options);
#endif /* TESTS_SUPPORT_RENDER_OPTIONS_H */
