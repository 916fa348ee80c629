/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which environment variables each MPI is told its hostfile, slots and ssh arguments by: THE table. The reference's
 * variables come behind the user's, so that they win. Ours are those that newer MPIs read and the reference does not
 * set (Open MPI 5 reads none of the OMPI_MCA_orte_ ones and would start all ranks on the launcher; Hydra does not
 * know HYDRA_LAUNCH_EXTRA_ARGS): they are left out where the user's own environment may give them already. Open MPI 5
 * is not told to keep whole names: it gives them to ssh all the same, and would not know the launcher by its own.
 */
#include "render/build.h"
#include "render/differences.h"

#include <string.h>

#define HOSTFILE MPIJOB__CONFIG_PATH "/" MPIJOB__KEY_HOSTFILE
#define RETRY    "-o ConnectionAttempts=10"

#define REFERENCE MPIJOB__DIFFERENCE_NONE
#define OPENMPI5  MPIJOB__DIFFERENCE_OPENMPI5_VARIABLES
#define HYDRA     MPIJOB__DIFFERENCE_MPICH_LAUNCHER_ARGS

enum condition { ALWAYS, LAUNCHER_IS_NO_WORKER };

/* A value that is known only with the job. */
static const char slots[] = "slotsPerWorker";

struct variable {
	const char *name;
	const char *value; /* NULL: none at all; `slots`: the job's */
	int32_t mpi;       /* MPIJOB_OPENMPI, ...; 0 for every MPI */
	int32_t role;      /* MPIJOB_ROLE_* */
	enum mpijob__difference origin;
	enum condition condition;
};

static const struct variable variables[] = {
	{ "K_MPI_JOB_ROLE", "launcher", 0, MPIJOB_ROLE_LAUNCHER, REFERENCE, ALWAYS },
	{ "K_MPI_JOB_ROLE", "worker", 0, MPIJOB_ROLE_WORKER, REFERENCE, ALWAYS },
	{ "OMPI_MCA_orte_keep_fqdn_hostnames", "true", MPIJOB_OPENMPI, MPIJOB_ROLE_LAUNCHER, REFERENCE, ALWAYS },
	{ "OMPI_MCA_orte_default_hostfile", HOSTFILE, MPIJOB_OPENMPI, MPIJOB_ROLE_LAUNCHER, REFERENCE, ALWAYS },
	{ "OMPI_MCA_plm_rsh_args", RETRY, MPIJOB_OPENMPI, MPIJOB_ROLE_LAUNCHER, REFERENCE, ALWAYS },
	{ "OMPI_MCA_orte_set_default_slots", slots, MPIJOB_OPENMPI, MPIJOB_ROLE_LAUNCHER, REFERENCE, ALWAYS },
	{ "I_MPI_HYDRA_HOST_FILE", HOSTFILE, MPIJOB_INTEL, MPIJOB_ROLE_LAUNCHER, REFERENCE, ALWAYS },
	{ "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", RETRY, MPIJOB_INTEL, MPIJOB_ROLE_LAUNCHER, REFERENCE, ALWAYS },
	{ "I_MPI_PERHOST", slots, MPIJOB_INTEL, MPIJOB_ROLE_LAUNCHER, REFERENCE, ALWAYS },
	{ "HYDRA_HOST_FILE", HOSTFILE, MPIJOB_MPICH, MPIJOB_ROLE_LAUNCHER, REFERENCE, ALWAYS },
	{ "HYDRA_LAUNCH_EXTRA_ARGS", RETRY, MPIJOB_MPICH, MPIJOB_ROLE_LAUNCHER, REFERENCE, ALWAYS },
	/* Empty, so that a launcher that computes nothing takes no GPU. */
	{ "NVIDIA_VISIBLE_DEVICES", NULL, 0, MPIJOB_ROLE_LAUNCHER, REFERENCE, LAUNCHER_IS_NO_WORKER },
	{ "NVIDIA_DRIVER_CAPABILITIES", NULL, 0, MPIJOB_ROLE_LAUNCHER, REFERENCE, LAUNCHER_IS_NO_WORKER },
	{ "PRTE_MCA_prte_default_hostfile", HOSTFILE, MPIJOB_OPENMPI, MPIJOB_ROLE_LAUNCHER, OPENMPI5, ALWAYS },
	{ "PRTE_MCA_plm_ssh_args", RETRY, MPIJOB_OPENMPI, MPIJOB_ROLE_LAUNCHER, OPENMPI5, ALWAYS },
	{ "PRTE_MCA_prte_set_default_slots", slots, MPIJOB_OPENMPI, MPIJOB_ROLE_LAUNCHER, OPENMPI5, ALWAYS },
	{ "HYDRA_LAUNCHER_EXTRA_ARGS", RETRY, MPIJOB_MPICH, MPIJOB_ROLE_LAUNCHER, HYDRA, ALWAYS },
};

static int applies(const struct mpijob__subject *subject, const struct variable *variable, int32_t role)
{
	if (variable->role != role || (variable->mpi != 0 && variable->mpi != subject->spec->mpi_implementation))
		return 0;
	if (variable->condition == LAUNCHER_IS_NO_WORKER && mpijob__subject_launcher_works(subject))
		return 0;
	return mpijob__difference_holds(variable->origin, subject->options.reference);
}

/* The user's own entry of a name, or NULL. */
static const mpijob_node *given_by_env(const mpijob_node *env, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		const mpijob_node *entry = mpijob_node_at(env, i);
		const char *given = mpijob_node_string(mpijob_node_get(entry, "name"));

		if (given != NULL && strcmp(given, name) == 0)
			return entry;
	}
	return NULL;
}

/* The user's ConfigMap or Secret that may hold a name: every one does whose prefix the name begins with. */
static const mpijob_node *given_by_source(const mpijob_node *sources, const char *name)
{
	for (size_t i = 0; i < mpijob_node_count(sources); i++) {
		const mpijob_node *entry = mpijob_node_at(sources, i);
		const char *prefix = mpijob_node_string(mpijob_node_get(entry, "prefix"));

		if (prefix == NULL || strncmp(name, prefix, strlen(prefix)) == 0)
			return entry;
	}
	return NULL;
}

/* Whether the user's environment may give one of our variables already; it is reported. */
static int left_to_user(struct mpijob__build *b, const mpijob_node *container, size_t own,
			const struct variable *variable)
{
	const mpijob_node *entry = given_by_env(mpijob_node_get(container, "env"), own, variable->name);

	if (entry != NULL) {
		mpijob__build_say(b, MPIJOB_SEVERITY_INFO, "variable-left-to-user", NULL, "spec.containers[0].env",
				  entry, "%s is given here and not set again", variable->name);
		return 1;
	}
	entry = given_by_source(mpijob_node_get(container, "envFrom"), variable->name);
	if (entry == NULL)
		return 0;
	mpijob__build_say(b, MPIJOB_SEVERITY_WARNING, "variable-left-to-user", NULL, "spec.containers[0].envFrom",
			  entry, "%s is not set, as it may be given here; set it in env, or give the source a prefix",
			  variable->name);
	return 1;
}

/* One of the reference's variables that the user gave too: theirs comes later and wins. */
static void report_override(struct mpijob__build *b, const mpijob_node *container, size_t own,
			    const struct variable *variable)
{
	const mpijob_node *entry = given_by_env(mpijob_node_get(container, "env"), own, variable->name);

	if (entry != NULL)
		mpijob__build_say(b, MPIJOB_SEVERITY_WARNING, "variable-overridden", NULL, "spec.containers[0].env",
				  entry, "%s is set by the operator; the value given here has no effect",
				  variable->name);
}

static void append(struct mpijob__build *b, mpijob_node *env, const struct variable *variable)
{
	mpijob_node *entry = mpijob_node_append_map(b->doc, env);

	mpijob_node_put_string(b->doc, entry, "name", variable->name);
	if (variable->value == slots)
		mpijob__build_printf(b, entry, "value", "%d", (int)mpijob__subject_slots(b->subject));
	else
		mpijob_node_put_string(b->doc, entry, "value", variable->value);
}

void mpijob__environment_inject(struct mpijob__build *b, mpijob_node *container, int32_t role)
{
	mpijob_node *env = mpijob__build_list(b, container, "spec.containers[0].env");
	size_t own = mpijob_node_count(env);

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const struct variable *variable = &variables[i];

		if (!applies(b->subject, variable, role))
			continue;
		if (variable->origin == REFERENCE)
			report_override(b, container, own, variable);
		else if (left_to_user(b, container, own, variable))
			continue;
		append(b, env, variable);
	}
}
