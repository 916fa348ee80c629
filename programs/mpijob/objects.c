/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read objects of a cluster: texts, and which pods belong to a job.
 */
#include <string.h>

#include "objects.h"

#include "base/api.h"

const char *pod_role(const mpijob_node *pod)
{
	const char *role = mpijob_node_string(
	    mpijob_node_find(pod, "metadata.labels[" MPIJOB__BASE_API_LABEL_JOB_ROLE "]"));

	return role ? role : "";
}

/* A worker's owner is the job. A launcher's owner is a Job, but it cannot be older than the job. */
int pod_is_of(const mpijob_node *pod, const char *uid, const char *created)
{
	const mpijob_node *owners = mpijob_node_find(pod, "metadata.ownerReferences");
	const char *made = mpijob_node_string(mpijob_node_find(pod, "metadata.creationTimestamp"));

	for (size_t i = 0; uid && i < mpijob_node_count(owners); i++) {
		const char *kind =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(owners, i), "kind"));
		const char *owner =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(owners, i), "uid"));
		if (kind && owner && strcmp(kind, MPIJOB__BASE_API_KIND) == 0)
			return strcmp(owner, uid) == 0;
	}
	return !created || !made || strcmp(made, created) >= 0;
}

const char *text_at(const mpijob_node *node, const char *path)
{
	const char *text = mpijob_node_string(mpijob_node_find(node, path));

	return text ? text : "";
}
