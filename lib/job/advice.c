/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warnings about jobs that every server accepts, but that then wait forever, keep unused resources,
 * or run differently from what the user intends. This file has the rules for the whole job: gang
 * scheduling and its annotations. Nothing here is an error, and a doubtful case gives no warning.
 */
#include "job/advice.h"

#include "base/api.h"
#include "base/field_path.h"
#include "job/field.h"
#include "job/rules.h"
#include "job/value.h"

#include <mpijob/spec.h>

#include <string.h>

static void say(const struct mpijob__job_advice *a, int32_t severity, int field, const char *below,
    const mpijob_node *node, const char *id, const char *format, va_list args)
    MPIJOB__BASE_PRINTF(7, 0);

static void say(const struct mpijob__job_advice *a, int32_t severity, int field, const char *below,
    const mpijob_node *node, const char *id, const char *format, va_list args)
{
	struct mpijob__core_place around = mpijob__job_rules_place(a->report, a->root, field);
	struct mpijob__job_spot spot = { NULL, mpijob__job_report_place(a->report, node, &around) };
	struct mpijob_text path = { 0 }, message = { 0 };

	if (mpijob__base_text_puts(&path, mpijob__job_field_row(field)->field.path) ||
	    mpijob__base_text_puts(&path, below ? below : "") ||
	    mpijob__base_text_vprintf(&message, format, args))
		a->report->code = MPIJOB_ERR_NOMEM;
	spot.path = mpijob_text_data(&path);
	if (severity == MPIJOB_SEVERITY_WARNING)
		mpijob__job_report_warning(a->report, &spot, id, "%s", mpijob_text_data(&message));
	else
		mpijob__job_report_note(a->report, &spot, id, "%s", mpijob_text_data(&message));
	mpijob__base_text_release(&path);
	mpijob__base_text_release(&message);
}

void mpijob__job_advice_warn(const struct mpijob__job_advice *a, int field, const char *below,
    const mpijob_node *node, const char *id, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(a, MPIJOB_SEVERITY_WARNING, field, below, node, id, format, args);
	va_end(args);
}

void mpijob__job_advice_note(const struct mpijob__job_advice *a, int field, const char *below,
    const mpijob_node *node, const char *id, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(a, MPIJOB_SEVERITY_INFO, field, below, node, id, format, args);
	va_end(args);
}

static int read(const mpijob_node *root, int id, struct mpijob__job_value *value)
{
	return mpijob__job_value_read(mpijob__job_field_row(id), mpijob__job_field_node(root, id),
		   value) == VALUE_GIVEN;
}

static int64_t number_or(const mpijob_node *root, int id, int64_t fallback)
{
	struct mpijob__job_value value;

	return read(root, id, &value) ? value.number : fallback;
}

static struct mpijob__job_advice_role role_of(const mpijob_node *root, int is_worker)
{
	struct mpijob__job_advice_role role = { .template = is_worker ? FIELD_WORKER_TEMPLATE
								      : FIELD_LAUNCHER_TEMPLATE,
		.name = is_worker ? "worker" : "launcher",
		.is_worker = is_worker };

	role.pod = mpijob_node_get(mpijob__job_field_node(root, role.template), "spec");
	role.containers = mpijob_node_get(role.pod, "containers");
	if (mpijob_node_kind(role.containers) != MPIJOB_NODE_LIST)
		role.containers = NULL;
	role.main = mpijob_node_at(role.containers, 0);
	role.replicas = is_worker ? number_or(root, FIELD_WORKER_REPLICAS, 1) : 1;
	return role;
}

/* ---- gang scheduling ---- */

static const char *annotation(const mpijob_node *metadata, const char *key,
    const mpijob_node **node)
{
	*node = mpijob_node_get(mpijob_node_get(metadata, "annotations"), key);
	return mpijob_node_string(*node);
}

/* Whether a template names a gang scheduler. */
static int is_gang_template(const mpijob_node *template)
{
	static const char *const schedulers[] = { "volcano", "kube-batch",
		"scheduler-plugins-scheduler", "coscheduling" };
	const char *name = mpijob_node_string(mpijob_node_find(template, "spec.schedulerName"));
	const mpijob_node *metadata = mpijob_node_get(template, "metadata"), *node;

	for (size_t i = 0; name && i < sizeof(schedulers) / sizeof(schedulers[0]); i++) {
		if (strcmp(name, schedulers[i]) == 0)
			return 1;
	}
	return annotation(metadata, MPIJOB__BASE_API_VOLCANO_GROUP, &node) != NULL ||
	       mpijob_node_get(mpijob_node_get(metadata, "labels"), MPIJOB__BASE_API_POD_GROUP) !=
		   NULL;
}

/* Only the operator knows whether there is a gang scheduler, but fields of the job show that it
 * expects one. */
static int expects_gang(const struct mpijob__job_advice *a)
{
	const mpijob_node *node;

	return mpijob_node_count(mpijob__job_field_node(a->root, FIELD_SCHEDULING_POLICY)) > 0 ||
	       is_gang_template(mpijob__job_field_node(a->root, FIELD_LAUNCHER_TEMPLATE)) ||
	       is_gang_template(mpijob__job_field_node(a->root, FIELD_WORKER_TEMPLATE)) ||
	       annotation(mpijob__job_field_node(a->root, FIELD_METADATA),
		   MPIJOB__BASE_API_VOLCANO_QUEUE, &node) != NULL;
}

/* No worker starts before the gang is complete, but the launcher is created when all workers are
 * ready. */
static void rule_deadlock(const struct mpijob__job_advice *a)
{
	const mpijob_node *policy = mpijob__job_field_node(a->root, FIELD_LAUNCHER_CREATION_POLICY);
	const char *word = mpijob_node_string(policy);
	int64_t least = number_or(a->root, FIELD_MIN_AVAILABLE, a->workers + 1);

	if (!word || strcmp(word, "WaitForWorkersReady") != 0 || least <= a->workers ||
	    a->workers == 0 || !expects_gang(a))
		return;
	mpijob__job_advice_warn(a, FIELD_LAUNCHER_CREATION_POLICY, NULL, policy, "gang-deadlock",
	    "a gang of %lld pods needs the launcher, which is created only when all %lld workers "
	    "run; "
	    "set spec.runPolicy.schedulingPolicy.minAvailable to %lld, or use AtStartup",
	    (long long)least, (long long)a->workers, (long long)a->workers);
}

static void rule_group_name(const struct mpijob__job_advice *a)
{
	static const char wrong[] = "scheduling.volcano.sh/group-name",
			  right[] = MPIJOB__BASE_API_VOLCANO_QUEUE;
	const mpijob_node *metadata = mpijob__job_field_node(a->root, FIELD_METADATA), *node,
			  *other;
	struct mpijob__job_value queue;

	if (!annotation(metadata, wrong, &node) || annotation(metadata, right, &other) ||
	    read(a->root, FIELD_QUEUE, &queue))
		return;
	mpijob__job_advice_warn(a, FIELD_ANNOTATIONS, "[scheduling.volcano.sh/group-name]", node,
	    "group-name", "has no effect; the queue is read from '%s'", right);
}

/* ---- all ---- */

void mpijob__job_advice_check(struct mpijob__job_report *report, const mpijob_node *root)
{
	struct mpijob__job_advice a = { .report = report, .root = root };
	struct mpijob__job_advice_role launcher = role_of(root, 0), worker = role_of(root, 1);

	a.workers =
	    mpijob__job_field_node(root, FIELD_WORKER) && worker.replicas > 0 ? worker.replicas : 0;
	a.slots = number_or(root, FIELD_SLOTS_PER_WORKER, 1);
	a.mpi = (int32_t)number_or(root, FIELD_MPI_IMPLEMENTATION, MPIJOB_OPENMPI);
	a.launcher_has_ranks = number_or(root, FIELD_RUN_LAUNCHER_AS_WORKER, 0) != 0;
	rule_deadlock(&a);
	rule_group_name(&a);
	mpijob__job_advice_devices(&a, &launcher, &worker);
	mpijob__job_advice_launch(&a, &launcher);
	mpijob__job_advice_pod(&a, &launcher);
	mpijob__job_advice_pod(&a, &worker);
	mpijob__job_advice_environment(&a, &launcher);
	mpijob__job_advice_environment(&a, &worker);
}
