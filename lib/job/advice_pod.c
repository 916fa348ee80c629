/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warnings about pods with several containers, of which only the first becomes the launcher or
 * worker; and about workers with hostNetwork, because two on one node cannot both listen on sshd's
 * port.
 */
#include "base/api.h"
#include "job/advice.h"

#include "job/field.h"

#include <string.h>

#define DEFAULT_CONTAINER MPIJOB__BASE_API_CONTAINER

/* ---- the main container ---- */

static const char *name_of(const mpijob_node *container)
{
	const char *name = mpijob_node_string(mpijob_node_get(container, "name"));

	return name ? name : "";
}

/* Whether the name of a container suggests that it is the main one of the role. */
static int has_main_name(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role, const mpijob_node *container)
{
	const char *job = mpijob_node_string(mpijob__job_field_node(a->root, FIELD_NAME));
	const char *name = name_of(container);

	return strstr(name, role->name) || strstr(name, "main") || strstr(name, "mpi") ||
	       (job && strcmp(name, job) == 0);
}

/* Whether the command or resources show that it is the main container. */
static int runs_main_program(const struct mpijob__job_advice_role *role,
    const mpijob_node *container)
{
	return role->is_worker ? mpijob__job_advice_runs_program(container, "sshd") ||
				     mpijob__job_advice_has_device(container)
			       : mpijob__job_advice_starts_ranks(container);
}

/* Whether the first of several containers is the main one: 1, 0, or -1 when unknown. */
static int first_is_main(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role)
{
	const mpijob_node *template = mpijob__job_field_node(a->root, role->template);
	const mpijob_node *annotations =
	    mpijob_node_get(mpijob_node_get(template, "metadata"), "annotations");
	const char *chosen = mpijob_node_string(mpijob_node_get(annotations, DEFAULT_CONTAINER));

	if (chosen)
		return strcmp(chosen, name_of(role->main)) == 0;
	if (runs_main_program(role, role->main))
		return 1;
	for (size_t i = 1; i < mpijob_node_count(role->containers); i++) {
		if (runs_main_program(role, mpijob_node_at(role->containers, i)))
			return 0;
	}
	return has_main_name(a, role, role->main) ? 1 : -1;
}

static void rule_main_container(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role)
{
	int is;

	if (mpijob_node_count(role->containers) < 2 || !*name_of(role->main))
		return;
	is = first_is_main(a, role);
	if (is < 1)
		mpijob__job_advice_warn(a, role->template, ".spec.containers", role->main,
		    "main-container-unclear",
		    "only the first container, '%s', becomes the %s%s; put the main one first",
		    name_of(role->main), role->name,
		    is == 0 ? ", and another one looks like it"
			    : ", and it is unclear whether it is the main one");
}

/* ---- the network of the node ---- */

static int is_host_network(const mpijob_node *pod)
{
	int yes = 0;

	return mpijob_node_bool(mpijob_node_get(pod, "hostNetwork"), &yes) && yes;
}

static int is_hostname(const mpijob_node *term)
{
	const char *key = mpijob_node_string(mpijob_node_get(term, "topologyKey"));

	return key && strcmp(key, "kubernetes.io/hostname") == 0;
}

/* Whether the scheduler places such pods on different nodes: because of a rule, or of a declared
 * port. */
static int is_kept_apart(const struct mpijob__job_advice_role *role)
{
	const mpijob_node *terms = mpijob_node_find(role->pod,
	    "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution");
	const mpijob_node *spread = mpijob_node_get(role->pod, "topologySpreadConstraints");

	for (size_t i = 0; i < mpijob_node_count(terms); i++) {
		if (is_hostname(mpijob_node_at(terms, i)))
			return 1;
	}
	for (size_t i = 0; i < mpijob_node_count(spread); i++) {
		if (mpijob_node_string(mpijob_node_get(mpijob_node_at(spread, i), "topologyKey")))
			return 1;
	}
	for (size_t i = 0; i < mpijob_node_count(role->containers); i++) {
		if (mpijob_node_count(
			mpijob_node_get(mpijob_node_at(role->containers, i), "ports")))
			return 1;
	}
	return 0;
}

static int has_words(const mpijob_node *container)
{
	return mpijob_node_count(mpijob_node_get(container, "command")) ||
	       mpijob_node_count(mpijob_node_get(container, "args"));
}

/* Whether an argument sets the port of sshd, or a configuration file that may set it. */
static int gives_port(const mpijob_node *container)
{
	static const char *const lists[] = { "command", "args" };

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const mpijob_node *list = mpijob_node_get(container, lists[i]);

		for (size_t j = 0; j < mpijob_node_count(list); j++) {
			const char *word = mpijob_node_string(mpijob_node_at(list, j));

			if (word && (strncmp(word, "-p", 2) == 0 || strncmp(word, "-f", 2) == 0 ||
					strstr(word, "Port") || strchr(word, ' ')))
				return 1;
		}
	}
	return 0;
}

static void rule_host_network(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *worker)
{
	const mpijob_node *node = mpijob_node_get(worker->pod, "hostNetwork");
	int is_default = !has_words(worker->main);

	if (!is_host_network(worker->pod) || !worker->main ||
	    !(is_default || mpijob__job_advice_runs_program(worker->main, "sshd")))
		return;
	if (a->workers > 1 && !is_kept_apart(worker))
		mpijob__job_advice_warn(a, worker->template, ".spec.hostNetwork", node,
		    "host-network-collision",
		    "on one node only one of the %lld workers' sshd gets its port; keep workers "
		    "apart by a required podAntiAffinity on kubernetes.io/hostname, or list the "
		    "port in ports",
		    (long long)a->workers);
	if (!gives_port(worker->main))
		mpijob__job_advice_note(a, worker->template, ".spec.hostNetwork", node,
		    "host-network-port",
		    "sshd shares the ports of the node, whose own sshd usually has 22; give "
		    "another Port in the image's sshd_config and ssh_config");
}

void mpijob__job_advice_pod(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *role)
{
	rule_main_container(a, role);
	if (role->is_worker)
		rule_host_network(a, role);
}
