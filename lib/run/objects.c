/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read the objects of a job.
 *
 * Only this file knows to which of several jobs with the same name a pod belongs.
 */
#include "run/objects.h"

#include "base/api.h"
#include "base/text.h"

const char *mpijob__run_text(const mpijob_node *node, const char *path)
{
	const char *text = mpijob_node_string(mpijob_node_find(node, path));

	return text ? text : "";
}

int mpijob__run_pod_has_role(const mpijob_node *pod, const char *role)
{
	return strcmp(mpijob__run_text(pod, "metadata.labels[" MPIJOB__BASE_API_LABEL_JOB_ROLE "]"),
		   role) == 0;
}

/* A worker's owner is the job. A launcher's owner is a Job, but it cannot be older than the job. */
int mpijob__run_pod_is_of(const mpijob_node *pod, const char *uid, const char *created)
{
	const mpijob_node *owners = mpijob_node_find(pod, "metadata.ownerReferences");
	const char *time = mpijob__run_text(pod, "metadata.creationTimestamp");

	for (size_t i = 0; uid && i < mpijob_node_count(owners); i++) {
		const mpijob_node *owner = mpijob_node_at(owners, i);

		if (strcmp(mpijob__run_text(owner, "kind"), MPIJOB__BASE_API_KIND) == 0)
			return strcmp(mpijob__run_text(owner, "uid"), uid) == 0;
	}
	return !created || !*time || strcmp(time, created) >= 0;
}
