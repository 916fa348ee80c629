/* SPDX-License-Identifier: Apache-2.0 */
#include "render_options.h"

/* Each feature by its name in camel case: "waitForHosts". */
static void read_features(const mpijob_node *node, struct mpijob_features *out)
{
	*out = (struct mpijob_features)MPIJOB_FEATURES_INIT;
	for (size_t i = 0; mpijob_feature_at(i); i++) {
		const char *name = mpijob_feature_at(i)->name;
		char key[64] = "", *to = key;
		const mpijob_node *value;
		int yes;

		for (const char *at = name; *at != '\0'; at++)
			*to++ = *at == '-' ? (char)toupper(*++at) : *at;
		*to = '\0';
		value = mpijob_node_get(node, key);
		if (mpijob_node_bool(value, &yes))
			mpijob_features_set(out, name, yes ? "true" : "false", NULL);
		else if (value != NULL)
			mpijob_features_set(out, name, mpijob_node_text(value), NULL);
	}
}

void read_options(const mpijob_node *node, struct read_options *out)
{
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	const mpijob_node *classes = mpijob_node_get(node, "priorityClasses");
	const char *running = mpijob_node_string(mpijob_node_get(node, "running"));
	int reference = 0;

	memset(out, 0, sizeof(*out));
	mpijob_node_bool(mpijob_node_get(node, "reference"), &reference);
	options.reference = reference;
	read_features(node, &out->features);
	options.features = &out->features;
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

void free_options(struct read_options *options)
{
	free(options->classes);
	free(options->pointers);
	free(options->running);
}
