/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PodGroup, with which a gang scheduler places all pods of a job or none. For Volcano it has a
 * queue (from the policy, otherwise from an annotation of the job) and a priority class (from the
 * policy, otherwise of the launcher, otherwise of the workers); for scheduler-plugins a timeout
 * instead.
 */
#include "render/build.h"

#include "base/api.h"
#include "render/min_resources.h"

static const struct mpijob_scheduling_policy *policy(const struct mpijob__render_build *b)
{
	static const struct mpijob_scheduling_policy none = MPIJOB_SCHEDULING_POLICY_INIT;
	const struct mpijob_run_policy *run = b->subject->spec->run_policy;

	return run != NULL && run->scheduling_policy != NULL ? run->scheduling_policy : &none;
}

static int given(const char *text)
{
	return text != NULL && text[0] != '\0';
}

static const char *queue(const struct mpijob__render_build *b)
{
	if (given(policy(b)->queue))
		return policy(b)->queue;
	return mpijob_node_string(
	    mpijob_node_get(b->subject->annotations, MPIJOB__BASE_API_VOLCANO_QUEUE));
}

static const char *template_class(const struct mpijob_replica_spec *replica)
{
	const mpijob_node *template = replica != NULL ? replica->pod_template : NULL;

	return mpijob_node_string(mpijob_node_find(template, "spec.priorityClassName"));
}

static const char *priority_class(const struct mpijob__render_build *b)
{
	const struct mpijob_spec *spec = b->subject->spec;

	if (given(policy(b)->priority_class))
		return policy(b)->priority_class;
	if (given(template_class(spec->launcher)))
		return template_class(spec->launcher);
	return template_class(spec->worker);
}

static int32_t min_member(const struct mpijob__render_build *b)
{
	const int32_t *asked = policy(b)->min_available;
	int32_t workers = mpijob__render_subject_workers(b->subject);

	if (mpijob__render_subject_gang_waits(b->subject))
		return asked != NULL && *asked < workers ? *asked : workers;
	if (asked != NULL)
		return *asked;
	return workers < INT32_MAX ? workers + 1 : workers;
}

static void put_given(struct mpijob__render_build *b, mpijob_node *map, const char *key,
    const char *text)
{
	if (given(text))
		mpijob_node_put_string(b->doc, map, key, text);
}

void mpijob__render_pod_group_build(struct mpijob__render_build *b)
{
	mpijob_node *root = mpijob__render_build_head(b, MPIJOB_ROLE_POD_GROUP, 0, 0);
	mpijob_node *spec = mpijob_node_put_map(b->doc, root, "spec");
	const int32_t *timeout = policy(b)->schedule_timeout_seconds;
	const mpijob_node *resources = policy(b)->min_resources;

	mpijob_node_put_int(b->doc, spec, "minMember", min_member(b));
	if (mpijob__render_subject_gang(b->subject) == MPIJOB__RENDER_GANG_VOLCANO) {
		put_given(b, spec, "queue", queue(b));
		put_given(b, spec, "priorityClassName", priority_class(b));
	} else {
		mpijob_node_put_int(b->doc, spec, "scheduleTimeoutSeconds",
		    timeout != NULL ? *timeout : 0);
	}
	if (mpijob_node_kind(resources) == MPIJOB_NODE_MAP)
		mpijob_node_put_copy(b->doc, spec, "minResources", resources);
	else if (min_member(b) != 0)
		mpijob__render_min_resources_put(b, spec, min_member(b));
}
