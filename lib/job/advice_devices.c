/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warnings about GPUs and similar devices: ranks and GPUs should match, workers that are not
 * deleted keep their GPUs, and the operator hides GPUs from a launcher without ranks. Knows the
 * names of these resources.
 */
#include "job/advice.h"

#include "base/accelerator.h"
#include "base/quantity.h"
#include "job/field.h"
#include "job/value.h"

#include <mpijob/spec.h>

#include <string.h>

static int64_t amount(const mpijob_node *node)
{
	struct mpijob__base_quantity quantity;
	int64_t value;

	if (!mpijob_node_text(node) ||
	    !mpijob__base_quantity_parse(mpijob_node_text(node), mpijob_node_length(node),
		&quantity) ||
	    !mpijob__base_quantity_value(&quantity, &value))
		return 0;
	return value > 0 && value < INT32_MAX ? value : 0;
}

/* The devices that a pod requests. */
struct demand {
	const char *name; /* name of the first device; NULL: no device */
	const mpijob_node *node;
	enum mpijob__base_accelerator device; /* of the first */
	int64_t gpus;
};

static void add_container(struct demand *demand, const mpijob_node *container)
{
	const mpijob_node *limits = mpijob_node_find(container, "resources.limits");

	if (mpijob_node_kind(limits) != MPIJOB_NODE_MAP)
		return;
	for (size_t i = 0; i < mpijob_node_count(limits); i++) {
		const mpijob_node *node = mpijob_node_at(limits, i);
		enum mpijob__base_accelerator device =
		    mpijob__base_accelerator_of(mpijob_node_key(limits, i));
		int64_t count = device != MPIJOB__BASE_ACCELERATOR_NONE ? amount(node) : 0;

		if (!count)
			continue;
		if (!demand->name) {
			demand->name = mpijob_node_key(limits, i);
			demand->node = node;
			demand->device = device;
		}
		demand->gpus += device >= MPIJOB__BASE_ACCELERATOR_GPU ? count : 0;
	}
}

static struct demand demand_of(const mpijob_node *containers)
{
	struct demand demand = { 0 };

	for (size_t i = 0; i < mpijob_node_count(containers); i++)
		add_container(&demand, mpijob_node_at(containers, i));
	return demand;
}

int mpijob__job_advice_has_device(const mpijob_node *container)
{
	struct demand demand = { 0 };

	add_container(&demand, container);
	return demand.name != NULL;
}

static void rule_slots(const struct mpijob__job_advice *a, const struct demand *worker)
{
	long long slots = a->slots, gpus = worker->gpus;

	if (!gpus || a->slots <= 0 || slots == gpus)
		return;
	if (slots > gpus)
		mpijob__job_advice_warn(a, FIELD_SLOTS_PER_WORKER, NULL, NULL, "gpus-shared",
		    "%lld ranks share the %lld GPU%s of a worker (%s); use as many slots as GPUs",
		    slots, gpus, gpus == 1 ? "" : "s", worker->name);
	else
		mpijob__job_advice_note(a, FIELD_SLOTS_PER_WORKER, NULL, NULL, "gpus-unused",
		    "a worker has %lld GPUs (%s) and %lld slot%s: each rank must drive several "
		    "GPUs, or some idle",
		    gpus, worker->name, slots, slots == 1 ? "" : "s");
}

static void rule_clean(const struct mpijob__job_advice *a, const struct demand *worker)
{
	const char *policy =
	    mpijob_node_string(mpijob__job_field_node(a->root, FIELD_CLEAN_POD_POLICY));

	if (worker->name && (!policy || strcmp(policy, "None") == 0))
		mpijob__job_advice_warn(a, FIELD_CLEAN_POD_POLICY, NULL, NULL, "gpus-kept",
		    "with None the workers keep their %s when the job has ended; use Running or "
		    "All",
		    worker->name);
}

static void rule_launcher(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *launcher)
{
	struct demand demand = { 0 };

	add_container(&demand, launcher->main);
	if (!a->launcher_has_ranks && demand.device == MPIJOB__BASE_ACCELERATOR_NVIDIA_GPU)
		mpijob__job_advice_warn(a, launcher->template,
		    ".spec.containers[0].resources.limits", demand.node, "launcher-gpus-hidden",
		    "the operator empties NVIDIA_VISIBLE_DEVICES of a launcher without ranks, so "
		    "it does not see its %s; remove them, or set spec.runLauncherAsWorker",
		    demand.name);
}

void mpijob__job_advice_devices(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *launcher, const struct mpijob__job_advice_role *worker)
{
	struct demand demand = demand_of(worker->containers);

	rule_slots(a, &demand);
	rule_clean(a, &demand);
	rule_launcher(a, launcher);
}
