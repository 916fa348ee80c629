/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions on replicas for both directions. Knows when the training operator runs ranks on the
 * launcher, which no field of a v1 job says.
 */
#include "convert/replicas.h"

#include <string.h>

int mpijob__convert_replicas_has(const struct mpijob__convert_conversion *conversion,
    const char *path)
{
	return mpijob_node_kind(mpijob_doc_edit(conversion->doc, path)) == MPIJOB_NODE_MAP;
}

static int limits_gpu(const mpijob_node *container)
{
	const mpijob_node *limits =
	    mpijob_node_get(mpijob_node_get(container, "resources"), "limits");

	for (size_t i = 0; i < mpijob_node_count(limits); i++) {
		const char *name = mpijob_node_key(limits, i);

		if (name && strstr(name, "gpu"))
			return 1;
	}
	return 0;
}

int mpijob__convert_replicas_gpu_launcher(const struct mpijob__convert_conversion *conversion)
{
	const mpijob_node *containers = mpijob_doc_edit(conversion->doc, LAUNCHER_PATH CONTAINERS);

	for (size_t i = 0; i < mpijob_node_count(containers); i++) {
		if (limits_gpu(mpijob_node_at(containers, i)))
			return 1;
	}
	return 0;
}

static int list_has_word(const mpijob_node *list, const char *word)
{
	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const char *text = mpijob_node_string(mpijob_node_at(list, i));

		if (text && strstr(text, word))
			return 1;
	}
	return 0;
}

int mpijob__convert_replicas_has_word(const mpijob_node *container, const char *word)
{
	return list_has_word(mpijob_node_get(container, "command"), word) ||
	       list_has_word(mpijob_node_get(container, "args"), word);
}

void mpijob__convert_replicas_put_text(struct mpijob__convert_conversion *conversion,
    const char *map, const char *key, const char *text)
{
	mpijob_node_put_string(conversion->doc, mpijob_doc_make(conversion->doc, map), key, text);
}

void mpijob__convert_replicas_put_number(struct mpijob__convert_conversion *conversion,
    const char *map, const char *key, int64_t number)
{
	mpijob_node_put_int(conversion->doc, mpijob_doc_make(conversion->doc, map), key, number);
}

int mpijob__convert_replicas_number(const struct mpijob__convert_conversion *conversion,
    const char *path, int64_t *out)
{
	return mpijob_node_int(mpijob_doc_edit(conversion->doc, path), out);
}
