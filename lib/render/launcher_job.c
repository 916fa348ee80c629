/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The launcher's batch/v1 Job. ttlSecondsAfterFinished, activeDeadlineSeconds and backoffLimit come
 * from the run policy. A pod is replaced only after it has failed, otherwise two launchers could
 * run at the same time. A suspended MPIJob has a suspended Job. The pod mounts the hostfile,
 * discover_hosts.sh and the keys, and waits for the names of the hosts if the feature is on.
 */
#include "render/build.h"

mpijob_node *mpijob__render_launcher_job_template(struct mpijob__render_build *b,
    mpijob_node *parent)
{
	const struct mpijob_replica_spec *replica = b->subject->spec->launcher;
	const char *index = mpijob__render_subject_launcher_has_ranks(b->subject) ? "0" : NULL;
	mpijob_node *template, *metadata, *spec;

	b->role = "Launcher";
	template = mpijob_node_put_map(b->doc, parent, "template");
	metadata = mpijob_node_put_map(b->doc, template, "metadata");
	mpijob__render_pod_metadata(b, replica->pod_template, metadata, index);
	mpijob__render_build_owner(b, metadata);
	spec = mpijob__render_pod_spec(b, replica->pod_template, template, MPIJOB_ROLE_LAUNCHER, 0);
	mpijob__render_pod_restart_policy(b, spec, replica);
	mpijob__render_environment_inject(b, mpijob__render_pod_container(b, spec),
	    MPIJOB_ROLE_LAUNCHER);
	mpijob__render_pod_mount_keys(b, spec);
	mpijob__render_pod_mount_config(b, spec);
	mpijob__render_wait_for_hosts_add(b, spec);
	return template;
}

void mpijob__render_launcher_job_build(struct mpijob__render_build *b)
{
	const struct mpijob_run_policy *policy = b->subject->spec->run_policy;
	mpijob_node *root = mpijob__render_build_head(b, MPIJOB_ROLE_LAUNCHER, 0, 1);
	mpijob_node *spec = mpijob_node_put_map(b->doc, root, "spec");

	if (policy != NULL && policy->suspend != NULL && *policy->suspend != 0)
		mpijob_node_put_bool(b->doc, spec, "suspend", 1);
	if (policy != NULL && policy->ttl_seconds_after_finished != NULL)
		mpijob_node_put_int(b->doc, spec, "ttlSecondsAfterFinished",
		    *policy->ttl_seconds_after_finished);
	if (policy != NULL && policy->active_deadline_seconds != NULL)
		mpijob_node_put_int(b->doc, spec, "activeDeadlineSeconds",
		    *policy->active_deadline_seconds);
	if (policy != NULL && policy->backoff_limit != NULL)
		mpijob_node_put_int(b->doc, spec, "backoffLimit", *policy->backoff_limit);
	mpijob_node_put_string(b->doc, spec, "podReplacementPolicy", "Failed");
	mpijob__render_launcher_job_template(b, spec);
}
