/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the environment variables of lib/job/injected.c to a role's first container: those of the reference always,
 * behind the user's, ours where the user's environment cannot give them already. What this means for a job is said by
 * mpijob_validate().
 */
#include "render/build.h"

#include "render/differences.h"

static int holds(const struct mpijob__build *b, const struct mpijob__injected *row)
{
	static const enum mpijob__difference differences[] = {
		[INJECTED_BY_REFERENCE] = MPIJOB__DIFFERENCE_NONE,
		[INJECTED_FOR_OPENMPI5] = MPIJOB__DIFFERENCE_OPENMPI5_VARIABLES,
		[INJECTED_FOR_HYDRA] = MPIJOB__DIFFERENCE_MPICH_LAUNCHER_ARGS,
	};

	return mpijob__difference_holds(differences[row->origin], b->subject->options.reference);
}

/* Whether the user's environment may give one of our variables already. */
static int left_to_user(const mpijob_node *container, size_t own, const struct mpijob__injected *row)
{
	return row->origin != INJECTED_BY_REFERENCE &&
	       (mpijob__injected_in_env(mpijob_node_get(container, "env"), own, row->name) != NULL ||
		mpijob__injected_in_source(mpijob_node_get(container, "envFrom"), row->name) != NULL);
}

static void append(struct mpijob__build *b, mpijob_node *env, const struct mpijob__injected *row)
{
	mpijob_node *entry = mpijob_node_append_map(b->doc, env);

	mpijob_node_put_string(b->doc, entry, "name", row->name);
	if (row->kind == INJECTED_SLOTS)
		mpijob__build_printf(b, entry, "value", "%d", (int)mpijob__subject_slots(b->subject));
	else
		mpijob_node_put_string(b->doc, entry, "value", row->text);
}

void mpijob__environment_inject(struct mpijob__build *b, mpijob_node *container, int32_t role)
{
	int works = mpijob__subject_launcher_works(b->subject), worker = role == MPIJOB_ROLE_WORKER;
	mpijob_node *env = mpijob__build_list(b, container, "spec.containers[0].env");
	const struct mpijob__injected *row;
	size_t own = mpijob_node_count(env);

	for (size_t i = 0; (row = mpijob__injected_at(i)) != NULL; i++) {
		if (mpijob__injected_applies(row, worker, b->subject->spec->mpi_implementation, works) &&
		    holds(b, row) && !left_to_user(container, own, row))
			append(b, env, row);
	}
}
