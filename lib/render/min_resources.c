/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The minimum resources of a gang: those of the role with the higher priority first, with equal
 * priorities of the launcher. For each resource a container needs its request, or its limit if
 * there is no request. mpi-operator confuses launcher and workers if the workers have the higher
 * priority, and ignores init containers and overhead; this is fixed unless `reference` is set.
 */
#include "render/min_resources.h"

#include "base/quantity.h"
#include "base/struct.h"
#include "render/differences.h"

#include <stdlib.h>
#include <string.h>

/* Sums by resource, in the order of their first occurrence. Names are borrowed from the job. */
struct sums {
	struct sum {
		const char *name;
		struct mpijob__base_quantity value;
	} * entries;
	size_t count;
	/* a map from name to index in `entries`, because a template may have many resources */
	mpijob_doc *places;
};

/* A role's pods. */
struct group {
	const char *role; /* for findings */
	const mpijob_node *spec;
	int64_t pods;
	int32_t priority;
};

static int is_on(const struct mpijob__render_build *b, enum mpijob__render_difference difference)
{
	return mpijob__render_difference_holds(difference, b->subject->options.reference);
}

static void release(struct sums *sums)
{
	mpijob_doc_free(sums->places);
	free(sums->entries);
}

static struct sum *append(struct mpijob__render_build *b, struct sums *sums, const char *name)
{
	struct sum *grown = sums->entries;
	size_t count = sums->count;

	if (sums->places == NULL)
		sums->places = mpijob_doc_new();
	mpijob_node_put_int(sums->places, mpijob_doc_edit(sums->places, ""), name, (int64_t)count);
	if ((count & (count - 1)) == 0) /* full: the array is doubled at every power of two */
		grown = realloc(sums->entries, (count > 0 ? 2 * count : 1) * sizeof(*grown));
	if (grown != NULL)
		sums->entries = grown;
	if (grown == NULL || mpijob_doc_error(sums->places) != 0) {
		b->code = b->code != 0 ? b->code : MPIJOB_ERR_NOMEM;
		return NULL;
	}
	grown[count] = (struct sum){ name, { { 0 }, 0, 0 } };
	sums->count++;
	return &grown[count];
}

/* The sum of a resource; NULL if not found. */
static struct sum *find(const struct sums *sums, const char *name)
{
	int64_t at;

	if (sums->count == 0 ||
	    !mpijob_node_int(mpijob_node_get(mpijob_doc_root(sums->places), name), &at))
		return NULL;
	return (size_t)at < sums->count ? &sums->entries[at] : NULL;
}

static struct sum *find_or_append(struct mpijob__render_build *b, struct sums *sums,
    const char *name)
{
	struct sum *sum = find(sums, name);

	return sum != NULL ? sum : append(b, sums, name);
}

static void too_large(struct mpijob__render_build *b, const mpijob_node *at)
{
	mpijob__render_build_report(b, MPIJOB_SEVERITY_ERROR, "quantity-too-large", "Invalid",
	    "spec.containers", at, "the sum of the gang's resources is too large");
}

static void add(struct mpijob__render_build *b, struct sums *sums, const char *name,
    const struct mpijob__base_quantity *value)
{
	struct sum *sum = find_or_append(b, sums, name);

	if (sum != NULL && !mpijob__base_quantity_add(&sum->value, value))
		too_large(b, NULL);
}

static void add_all(struct mpijob__render_build *b, struct sums *sums, const struct sums *others)
{
	for (size_t i = 0; i < others->count; i++)
		add(b, sums, others->entries[i].name, &others->entries[i].value);
}

/* Add a map from resource to quantity, except the resources in `unless`. */
static void add_map(struct mpijob__render_build *b, struct sums *sums, const mpijob_node *map,
    const mpijob_node *unless, const char *field)
{
	for (size_t i = 0; i < mpijob_node_count(map) && mpijob_node_kind(map) == MPIJOB_NODE_MAP;
	     i++) {
		const mpijob_node *node = mpijob_node_at(map, i);
		const char *name = mpijob_node_key(map, i);
		struct mpijob__base_quantity value = { { 0 }, 0, 0 };

		if (mpijob_node_get(unless, name) != NULL)
			continue;
		if (mpijob_node_kind(node) != MPIJOB_NODE_NULL &&
		    (mpijob_node_text(node) == NULL ||
			!mpijob__base_quantity_parse(mpijob_node_text(node),
			    mpijob_node_length(node), &value)))
			mpijob__render_build_report(b, MPIJOB_SEVERITY_ERROR, "invalid-quantity",
			    "Invalid", field, node,
			    "%s: must be a quantity such as '500m', '2' or '1.5Gi'", name);
		add(b, sums, name, &value);
	}
}

static void add_container(struct mpijob__render_build *b, struct sums *sums,
    const mpijob_node *container, const char *field)
{
	const mpijob_node *resources = mpijob_node_get(container, "resources");
	const mpijob_node *requests = mpijob_node_get(resources, "requests");

	add_map(b, sums, requests, NULL, field);
	add_map(b, sums, mpijob_node_get(resources, "limits"), requests, field);
}

static void take_maximum(struct mpijob__render_build *b, struct sums *sums,
    const struct sums *others)
{
	for (size_t i = 0; i < others->count; i++) {
		struct sum *sum = find_or_append(b, sums, others->entries[i].name);

		if (sum != NULL &&
		    mpijob__base_quantity_compare(&sum->value, &others->entries[i].value) < 0)
			sum->value = others->entries[i].value;
	}
}

/* Add the sums of another list to the resources that `sums` has. */
static void add_known(struct mpijob__render_build *b, struct sums *sums, const struct sums *others)
{
	for (size_t i = 0; i < sums->count; i++) {
		const struct sum *other = find(others, sums->entries[i].name);

		if (other != NULL &&
		    !mpijob__base_quantity_add(&sums->entries[i].value, &other->value))
			too_large(b, NULL);
	}
}

/* Init containers run one after the other, before the containers. Those with restartPolicy: Always
 * keep running. */
static void add_init_containers(struct mpijob__render_build *b, struct sums *pod,
    const mpijob_node *spec)
{
	const mpijob_node *list = mpijob_node_get(spec, "initContainers");
	struct sums running = { NULL, 0, NULL }, maximum = { NULL, 0, NULL };

	for (size_t i = 0; i < mpijob_node_count(list) && b->code == 0; i++) {
		const mpijob_node *container = mpijob_node_at(list, i);
		const char *policy =
		    mpijob_node_string(mpijob_node_get(container, "restartPolicy"));
		int keeps_running = policy != NULL && strcmp(policy, "Always") == 0;
		struct sums now = { NULL, 0, NULL };

		add_container(b, &now, container, "spec.initContainers");
		/* Only the resources of this container are added: the sums of the others do not
		 * change. */
		if (keeps_running)
			add_all(b, pod, &now);
		add_known(b, &now, &running);
		if (keeps_running)
			take_maximum(b, &running, &now);
		take_maximum(b, &maximum, &now);
		release(&now);
	}
	take_maximum(b, pod, &maximum);
	release(&running);
	release(&maximum);
}

static void add_group(struct mpijob__render_build *b, struct sums *total, const struct group *group)
{
	const mpijob_node *containers = mpijob_node_get(group->spec, "containers");
	struct sums pod = { NULL, 0, NULL };

	b->role = group->role;
	for (size_t i = 0; i < mpijob_node_count(containers); i++)
		add_container(b, &pod, mpijob_node_at(containers, i), "spec.containers");
	if (is_on(b, MPIJOB__RENDER_DIFFERENCE_GANG_INIT_CONTAINERS)) {
		add_init_containers(b, &pod, group->spec);
		add_map(b, &pod, mpijob_node_get(group->spec, "overhead"), NULL, "spec.overhead");
	}
	for (size_t i = 0; i < pod.count; i++)
		if (!mpijob__base_quantity_multiply(&pod.entries[i].value, group->pods))
			too_large(b, group->spec);
	add_all(b, total, &pod);
	release(&pod);
}

/* The options were checked before; a class may be an older struct without `value`. */
static int32_t priority(const struct mpijob_render_options *options, const mpijob_node *spec)
{
	const char *name = mpijob_node_string(mpijob_node_get(spec, "priorityClassName"));
	struct mpijob_priority_class class;

	for (size_t i = 0; name != NULL && i < options->priority_classes_count; i++)
		if (mpijob__base_struct_check(&class, sizeof(class),
			options->priority_classes[i]) == 0 &&
		    strcmp(class.name, name) == 0)
			return class.value;
	return 0;
}

static struct group make_group(const struct mpijob__render_build *b, const char *role,
    const struct mpijob_replica_spec *replica)
{
	const mpijob_node *spec = mpijob_node_get(replica->pod_template, "spec");
	int64_t pods = replica->replicas != NULL ? *replica->replicas : 0;

	return (struct group){ role, spec, pods, priority(&b->subject->options, spec) };
}

static int64_t minimum(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Reduce the groups to `min_member` pods, those of the first group first. */
static void limit_pods(struct group *first, struct group *second, int64_t min_member, int fixed)
{
	if (first->pods + second->pods <= min_member)
		return;
	if (!fixed) {
		second->pods = min_member - 1;
		return;
	}
	first->pods = minimum(first->pods, min_member);
	second->pods = min_member - first->pods;
}

static void put_sums(struct mpijob__render_build *b, mpijob_node *spec, const struct sums *sums)
{
	mpijob_node *map;

	if (sums->count == 0)
		return;
	map = mpijob_node_put_map(b->doc, spec, "minResources");
	for (size_t i = 0; i < sums->count; i++) {
		char text[MPIJOB__BASE_QUANTITY_TEXT];

		mpijob__base_quantity_print(&sums->entries[i].value, text);
		mpijob_node_put_string(b->doc, map, sums->entries[i].name, text);
	}
}

void mpijob__render_min_resources_put(struct mpijob__render_build *b, mpijob_node *spec,
    int32_t min_member)
{
	const struct mpijob_spec *job = b->subject->spec;
	struct group launcher = make_group(b, "Launcher", job->launcher);
	struct sums total = { NULL, 0, NULL };

	if (mpijob__render_subject_gang_waits(b->subject))
		launcher.pods = 0;
	if (job->worker == NULL) {
		add_group(b, &total, &launcher);
	} else {
		struct group worker = make_group(b, "Worker", job->worker);
		int worker_first = worker.priority > launcher.priority;
		struct group *first = worker_first ? &worker : &launcher,
			     *second = worker_first ? &launcher : &worker;

		limit_pods(first, second, min_member,
		    is_on(b, MPIJOB__RENDER_DIFFERENCE_GANG_PRIORITY));
		add_group(b, &total, first);
		add_group(b, &total, second);
	}
	put_sums(b, spec, &total);
	release(&total);
}
