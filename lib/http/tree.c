/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kubeconfig and a plugin's reply are parsed into documents, which do not wipe their memory. This
 * file overwrites their strings before they are freed. It cannot wipe the buffers of libyaml, which
 * contain parts of the text during parsing.
 */
#include "http/tree.h"

#include "base/secret.h"
#include "http/secret.h"

void mpijob__http_tree_wipe(const mpijob_node *node)
{
	size_t len = mpijob_node_length(node);

	if (mpijob_node_kind(node) == MPIJOB_NODE_STRING && len)
		mpijob__base_secret_wipe((void *)(uintptr_t)mpijob_node_text(node), len);
	for (size_t i = 0; i < mpijob_node_count(node); i++)
		mpijob__http_tree_wipe(mpijob_node_at(node, i));
}
