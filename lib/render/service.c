/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headless Service for the DNS names of launcher and workers; it has no ports. It publishes
 * pods that are not ready only if the launcher runs ranks, because otherwise the launcher would
 * wait for its own name.
 */
#include "base/api.h"
#include "render/build.h"

void mpijob__render_service_build(struct mpijob__render_build *b)
{
	mpijob_node *root = mpijob__render_build_head(b, MPIJOB_ROLE_SERVICE, 0, 1);
	mpijob_node *spec = mpijob_node_put_map(b->doc, root, "spec");
	mpijob_node *selector;

	mpijob_node_put_string(b->doc, spec, "clusterIP", "None");
	selector = mpijob_node_put_map(b->doc, spec, "selector");
	mpijob_node_put_string(b->doc, selector, MPIJOB__BASE_API_LABEL_OPERATOR,
	    MPIJOB__BASE_API_OPERATOR_NAME);
	mpijob_node_put_string(b->doc, selector, MPIJOB__BASE_API_LABEL_JOB_NAME, b->subject->name);
	if (mpijob__render_subject_launcher_has_ranks(b->subject))
		mpijob_node_put_bool(b->doc, spec, "publishNotReadyAddresses", 1);
}
