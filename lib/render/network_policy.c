/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NetworkPolicy that allows connections to the job's pods only from its own pods. It covers all
 * ports, because MPI uses ports that are not known in advance and are no safer than sshd. It does
 * not restrict outgoing connections.
 */
#include "base/api.h"
#include "render/build.h"

static void put_pods(struct mpijob__render_build *b, mpijob_node *map)
{
	mpijob_node *pods = mpijob_node_put_map(b->doc, map, "podSelector");
	mpijob_node *labels = mpijob_node_put_map(b->doc, pods, "matchLabels");

	mpijob_node_put_string(b->doc, labels, MPIJOB__BASE_API_LABEL_OPERATOR,
	    MPIJOB__BASE_API_OPERATOR_NAME);
	mpijob_node_put_string(b->doc, labels, MPIJOB__BASE_API_LABEL_JOB_NAME, b->subject->name);
}

void mpijob__render_network_policy_build(struct mpijob__render_build *b)
{
	mpijob_node *root = mpijob__render_build_head(b, MPIJOB_ROLE_NETWORK_POLICY, 0, 1);
	mpijob_node *spec = mpijob_node_put_map(b->doc, root, "spec");
	mpijob_node *rule, *from;

	put_pods(b, spec);
	mpijob_node_append_string(b->doc, mpijob_node_put_list(b->doc, spec, "policyTypes"),
	    "Ingress");
	rule = mpijob_node_append_map(b->doc, mpijob_node_put_list(b->doc, spec, "ingress"));
	from = mpijob_node_append_map(b->doc, mpijob_node_put_list(b->doc, rule, "from"));
	put_pods(b, from);
}
