/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of resources: their names, requests that exceed limits, huge pages (whole pages, with cpu
 * or memory), and pod-level resources that are smaller than those of the containers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "job/template_walk.h"
#include "base/text.h"

static const struct mpijob__base_quantity nothing = { { 0 }, 0, 0 };

static int is_huge_pages(const char *name)
{
	return mpijob__base_text_begins(name, "hugepages-");
}

static int is_native(const char *name)
{
	return !strchr(name, '/') || strstr(name, "kubernetes.io/");
}

static int is_extended(const char *name)
{
	const char *slash = strchr(name, '/');

	return !is_native(name) && !mpijob__base_text_begins(name, "requests.") &&
	       mpijob__job_syntax_is_key(name, strlen(name)) &&
	       (size_t)(slash - name) + strlen("requests.") <= 253;
}

static int read_quantity(const mpijob_node *node, struct mpijob__base_quantity *out)
{
	return mpijob_node_text(node) &&
	       mpijob__base_quantity_parse(mpijob_node_text(node), mpijob_node_length(node), out);
}

static int get_quantity(const mpijob_node *map, const char *name, struct mpijob__base_quantity *out)
{
	return read_quantity(mpijob_node_get(map, name), out);
}

static int is_negative(const struct mpijob__base_quantity *quantity)
{
	return mpijob__base_quantity_compare(quantity, &nothing) < 0;
}

static const char *name_fault(const char *name, int of_pod)
{
	if (!mpijob__job_syntax_is_key(name, strlen(name)))
		return "is not a valid resource name";
	if (strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 || is_huge_pages(name))
		return NULL;
	if (of_pod)
		return "is not a pod-level resource; use cpu, memory or "
		       "hugepages-...";
	if (strchr(name, '/'))
		return is_native(name) || is_extended(name) ? NULL : "is not a valid resource name";
	if (strcmp(name, "ephemeral-storage") == 0)
		return NULL;
	return "is not a container resource; use cpu, memory, ephemeral-storage, hugepages-..., "
	       "or a name with a domain such as nvidia.com/gpu";
}

/* Whether a quantity is a whole number of huge pages of a valid size. */
static int is_pages(const char *name, const struct mpijob__base_quantity *quantity)
{
	const char *size = name + strlen("hugepages-");
	struct mpijob__base_quantity page;
	int64_t bytes, amount;

	if (!mpijob__base_quantity_parse(size, strlen(size), &page) ||
	    mpijob__base_quantity_compare(&page, &nothing) <= 0 ||
	    !mpijob__base_quantity_is_whole(&page))
		return 0;
	if (!mpijob__base_quantity_value(&page, &bytes) ||
	    !mpijob__base_quantity_value(quantity, &amount))
		return 1;
	return amount % bytes == 0;
}

/* Check limits or requests. */
static void check_list(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *list, int of_pod)
{
	for (size_t i = 0;
	     mpijob_node_kind(list->node) == MPIJOB_NODE_MAP && i < mpijob_node_count(list->node);
	     i++) {
		const char *name = mpijob_node_key(list->node, i);
		const char *fault = name_fault(name, of_pod);
		struct mpijob__base_quantity quantity;

		if (!mpijob__job_template_has(list->node, name))
			continue; /* the server drops a null with its key */
		if (fault)
			mpijob__job_template_error(at, list, name, "unknown-resource", "Invalid",
			    "%s", fault);
		if (!read_quantity(mpijob_node_at(list->node, i), &quantity))
			continue;
		if (is_negative(&quantity))
			mpijob__job_template_error(at, list, name, "out-of-range", "Invalid",
			    "must not be negative");
		if (is_extended(name) && !mpijob__base_quantity_is_whole(&quantity))
			mpijob__job_template_error(at, list, name, "invalid-value", "Invalid",
			    "must be a whole number");
		if (is_huge_pages(name) && !is_pages(name, &quantity))
			mpijob__job_template_error(at, list, name, "invalid-value", "Invalid",
			    "must be a whole number of pages");
	}
}

static void check_request(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *requests, const mpijob_node *limits, size_t index)
{
	const char *name = mpijob_node_key(requests->node, index);
	struct mpijob__base_quantity request, limit;
	int fixed = !is_native(name) || is_huge_pages(name);

	if (!mpijob__job_template_has(limits, name)) {
		if (fixed && mpijob__job_template_has(requests->node, name))
			mpijob__job_template_error(at, requests, name, "missing", "Required",
			    "needs the same limit; it cannot be overcommitted");
		return;
	}
	if (!read_quantity(mpijob_node_at(requests->node, index), &request) ||
	    !get_quantity(limits, name, &limit))
		return;
	if (fixed && mpijob__base_quantity_compare(&request, &limit) != 0)
		mpijob__job_template_error(at, requests, name, "over-limit", "Invalid",
		    "must be equal to the limit; it cannot be overcommitted");
	else if (mpijob__base_quantity_compare(&request, &limit) > 0)
		mpijob__job_template_error(at, requests, name, "over-limit", "Invalid",
		    "must not be greater than the limit");
}

static int has_huge_pages(const mpijob_node *list)
{
	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		if (is_huge_pages(mpijob_node_key(list, i)) &&
		    mpijob_node_kind(mpijob_node_at(list, i)) > MPIJOB_NODE_NULL)
			return 1;
	}
	return 0;
}

static int has_base(const mpijob_node *list)
{
	return mpijob__job_template_has(list, "cpu") || mpijob__job_template_has(list, "memory");
}

static void check_claims(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__job_step list = mpijob__job_template_child(step, "claims");

	for (size_t i = 0; i < mpijob_node_count(mpijob__job_template_list(step->node, "claims"));
	     i++) {
		struct mpijob__job_step entry = mpijob__job_template_entry(&list, i);
		const char *name = mpijob__job_template_text(entry.node, "name");
		const char *request = mpijob__job_template_text(entry.node, "request");

		if (!name && mpijob__job_template_has(entry.node, "name"))
			mpijob__job_template_error(at, &entry, "name", "missing", "Required",
			    "a value is required");
		if (name && !mpijob__job_template_pool_find(at, POOL_CLAIMS, name, NULL))
			mpijob__job_template_error(at, &entry, "name", "not-found", "NotFound",
			    "'%s' is not one of spec.resourceClaims", name);
		if (request && mpijob__job_syntax_label(request))
			mpijob__job_template_error(at, &entry, "request", "invalid-value",
			    "Invalid", "'%s' must be %s", request,
			    mpijob__job_syntax_label(request));
	}
}

void mpijob__job_template_resources(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__job_step limits = mpijob__job_template_child(step, "limits");
	struct mpijob__job_step requests = mpijob__job_template_child(step, "requests");
	int of_pod = step->before && step->before->type == SCHEMA_PodSpec;

	check_list(at, &limits, of_pod);
	check_list(at, &requests, of_pod);
	for (size_t i = 0; i < mpijob_node_count(mpijob__job_template_map(step->node, "requests"));
	     i++)
		check_request(at, &requests, limits.node, i);
	if ((has_huge_pages(limits.node) || has_huge_pages(requests.node)) &&
	    !has_base(limits.node) && !has_base(requests.node))
		mpijob__job_template_error(at, step, NULL, "missing", "Forbidden",
		    "huge pages need cpu or memory too");
	if (!of_pod)
		check_claims(at, step);
	else if (mpijob_node_count(mpijob__job_template_list(step->node, "claims")))
		mpijob__job_template_error(at, step, "claims", "forbidden", "Forbidden",
		    "only containers can have claims");
}

static int is_sidecar(const mpijob_node *container)
{
	const char *policy = mpijob__job_template_text(container, "restartPolicy");

	return policy && strcmp(policy, "Always") == 0;
}

/* The sum of the containers' requests for one resource. */
struct demand {
	struct mpijob__base_quantity running;  /* containers */
	struct mpijob__base_quantity sidecars; /* init containers with restartPolicy: Always */
	struct mpijob__base_quantity most;     /* maximum while init containers run */
	int too_large;                         /* the sum overflows */
};

static void add_demand(struct demand *demand, const struct mpijob__base_quantity *requested,
    int init, int sidecar)
{
	struct mpijob__base_quantity with = demand->sidecars;

	if (!init) {
		demand->too_large |= !mpijob__base_quantity_add(&demand->running, requested);
		return;
	}
	demand->too_large |= !mpijob__base_quantity_add(&with, requested);
	if (sidecar)
		demand->sidecars = with;
	else if (mpijob__base_quantity_compare(&with, &demand->most) > 0)
		demand->most = with;
}

/* Add the requests of a container, or its limits where it has no request, for the resources in
 * `names`. */
static void add_container(struct demand *demands, const struct mpijob__doc_names *names,
    const mpijob_node *container, int init)
{
	static const char *const lists[] = { "requests", "limits" };
	const mpijob_node *resources = mpijob_node_get(container, "resources");
	const mpijob_node *requests = mpijob_node_get(resources, lists[0]);

	for (int i = 0; i < 2; i++) {
		const mpijob_node *list = mpijob__job_template_map(resources, lists[i]);

		for (size_t k = 0; k < mpijob_node_count(list); k++) {
			const char *name = mpijob_node_key(list, k);
			struct mpijob__base_quantity requested, own_request;
			uint32_t at;

			if (mpijob__job_template_names_find(names, name, &at) &&
			    read_quantity(mpijob_node_at(list, k), &requested) &&
			    !(i && get_quantity(requests, name, &own_request)))
				add_demand(&demands[at], &requested, init, is_sidecar(container));
		}
	}
}

/* Whether the containers request more than a quantity at any time. */
static int exceeds(const struct demand *demand, const struct mpijob__base_quantity *given)
{
	struct mpijob__base_quantity sum = demand->running;

	if (demand->too_large || !mpijob__base_quantity_add(&sum, &demand->sidecars))
		return 0;
	if (mpijob__base_quantity_compare(&demand->most, &sum) > 0)
		sum = demand->most;
	return mpijob__base_quantity_compare(&sum, given) > 0;
}

static void check_requests_fit(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *requests)
{
	static const char *const lists[] = { "containers", "initContainers" };
	size_t count = mpijob_node_count(
	    mpijob_node_kind(requests->node) == MPIJOB_NODE_MAP ? requests->node : NULL);
	struct mpijob__doc_names names = { 0 };
	struct demand *demands = count ? calloc(count, sizeof(*demands)) : NULL;
	int code = count && !demands ? MPIJOB_ERR_NOMEM : 0;

	for (size_t i = 0; i < count && code >= 0; i++) {
		const char *name = mpijob_node_key(requests->node, i);

		code = mpijob__doc_names_add(&names, name, strlen(name), (uint32_t)i, NULL);
	}
	for (int i = 0; i < 2 && count && code >= 0; i++) {
		const mpijob_node *list =
		    mpijob__job_template_list(mpijob__job_template_spec(at), lists[i]);

		for (size_t k = 0; k < mpijob_node_count(list); k++)
			add_container(demands, &names, mpijob_node_at(list, k), i);
	}
	for (size_t i = 0; i < count && code >= 0; i++) {
		struct mpijob__base_quantity given;

		if (read_quantity(mpijob_node_at(requests->node, i), &given) &&
		    exceeds(&demands[i], &given))
			mpijob__job_template_error(at, requests, mpijob_node_key(requests->node, i),
			    "over-limit", "Invalid",
			    "is less than the sum of the containers' requests");
	}
	if (code < 0)
		at->report->code = MPIJOB_ERR_NOMEM;
	mpijob__doc_names_release(&names);
	free(demands);
}

static void check_limits_fit(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *limits)
{
	const mpijob_node *containers =
	    mpijob__job_template_list(mpijob__job_template_spec(at), "containers");

	for (size_t i = 0; i < mpijob_node_count(containers); i++) {
		const mpijob_node *own =
		    mpijob__job_template_map(mpijob_node_get(mpijob_node_at(containers, i),
						 "resources"),
			"limits");

		for (size_t k = 0; k < mpijob_node_count(own); k++) {
			const char *name = mpijob_node_key(own, k);
			struct mpijob__base_quantity given, one;

			if (get_quantity(limits->node, name, &given) &&
			    read_quantity(mpijob_node_at(own, k), &one) &&
			    mpijob__base_quantity_compare(&one, &given) > 0)
				mpijob__job_template_error(at, limits, name, "over-limit",
				    "Invalid", "is less than the limit of a container");
		}
	}
}

static void check_containers_fit(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *resources)
{
	struct mpijob__job_step requests = mpijob__job_template_child(resources, "requests");
	struct mpijob__job_step limits = mpijob__job_template_child(resources, "limits");

	check_requests_fit(at, &requests);
	check_limits_fit(at, &limits);
}

void mpijob__job_template_pod_resources(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__job_step resources = mpijob__job_template_child(step, "resources");
	struct mpijob__job_step overhead = mpijob__job_template_child(step, "overhead");

	check_list(at, &overhead, 0);
	if (mpijob_node_kind(resources.node) == MPIJOB_NODE_MAP)
		check_containers_fit(at, &resources);
}

void mpijob__job_template_empty_dir(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__base_quantity size;

	if (get_quantity(step->node, "sizeLimit", &size) && is_negative(&size))
		mpijob__job_template_error(at, step, "sizeLimit", "out-of-range", "Forbidden",
		    "must not be negative");
}

void mpijob__job_template_volume_claim(const struct mpijob__job_pod_template *at,
    const struct mpijob__job_step *step)
{
	struct mpijob__job_step resources = mpijob__job_template_child(step, "resources");
	const mpijob_node *modes = mpijob__job_template_list(step->node, "accessModes");
	const mpijob_node *requests = mpijob_node_get(resources.node, "requests");
	static const char *const classes[] = { "storageClassName", "volumeAttributesClassName" };
	struct mpijob__base_quantity size;
	size_t alone = 0, others = 0;

	for (size_t i = 0; i < mpijob_node_count(modes); i++) {
		const char *mode = mpijob_node_string(mpijob_node_at(modes, i));
		int is_alone = mode && strcmp(mode, "ReadWriteOncePod") == 0;

		alone += is_alone != 0;
		others += mode && !is_alone;
	}
	if (alone && others)
		mpijob__job_template_error(at, step, "accessModes", "conflict", "Forbidden",
		    "ReadWriteOncePod cannot be combined with other modes");
	if (!mpijob__job_template_has(requests, "storage"))
		mpijob__job_template_error(at, step, "resources", "missing", "Required",
		    "needs requests.storage");
	else if (get_quantity(requests, "storage", &size) &&
		 mpijob__base_quantity_compare(&size, &nothing) <= 0)
		mpijob__job_template_error(at, step, "resources", "out-of-range", "Invalid",
		    "requests.storage must be more than 0");
	for (size_t i = 0; i < 2; i++) {
		const char *name = mpijob__job_template_text(step->node, classes[i]);

		if (name && mpijob__job_syntax_subdomain(name))
			mpijob__job_template_error(at, step, classes[i], "invalid-value", "Invalid",
			    "'%s' must be %s", name, mpijob__job_syntax_subdomain(name));
	}
}
