/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the environment variables of lib/job/injected.c to a role's first container: those of
 * mpi-operator always, after the user's; the others unless the user's environment may set them.
 * mpijob_validate() reports the consequences for a job.
 */
#include "render/build.h"

#include "render/differences.h"

static int is_on(const struct mpijob__render_build *b, const struct mpijob__job_injected *row)
{
	static const enum mpijob__render_difference differences[] = {
		[INJECTED_BY_REFERENCE] = MPIJOB__RENDER_DIFFERENCE_NONE,
		[INJECTED_FOR_OPENMPI5] = MPIJOB__RENDER_DIFFERENCE_OPENMPI5_VARIABLES,
		[INJECTED_FOR_HYDRA] = MPIJOB__RENDER_DIFFERENCE_MPICH_LAUNCHER_ARGS,
	};

	return mpijob__render_difference_holds(differences[row->origin],
	    b->subject->options.reference);
}

/* Whether the variable is not added: the user's environment may set it, or overrides it with the
 * feature user_variables. */
static int left_to_user(const struct mpijob__render_build *b, const mpijob_node *container,
    size_t own, const struct mpijob__job_injected *row)
{
	int given =
	    mpijob__job_injected_in_env(mpijob_node_get(container, "env"), own, row->name) != NULL;

	if (row->origin == INJECTED_BY_REFERENCE)
		return given && b->subject->features.user_variables != 0;
	return given || mpijob__job_injected_in_source(mpijob_node_get(container, "envFrom"),
			    row->name) != NULL;
}

/* Warn if ssh would use another port than sshd. */
static void warn_ssh(struct mpijob__render_build *b, const mpijob_node *container,
    const struct mpijob__job_injected *row)
{
	int32_t port = mpijob__render_ssh_port(b->subject);

	if (row->kind == INJECTED_SSH && port != 0)
		mpijob__render_build_report(b, MPIJOB_SEVERITY_WARNING, "ssh-port-left-to-user",
		    NULL, "spec.containers[0].env", mpijob_node_get(container, "env"),
		    "%s is set by your environment; it must contain '-p %d', the port of sshd",
		    row->name, (int)port);
}

static void append(struct mpijob__render_build *b, mpijob_node *env,
    const struct mpijob__job_injected *row)
{
	mpijob_node *entry = mpijob_node_append_map(b->doc, env);

	mpijob_node_put_string(b->doc, entry, "name", row->name);
	if (row->kind == INJECTED_SLOTS)
		mpijob__render_build_printf(b, entry, "value", "%d",
		    (int)mpijob__render_subject_slots(b->subject));
	else if (row->kind == INJECTED_SSH && mpijob__render_ssh_port(b->subject) != 0)
		mpijob__render_build_printf(b, entry, "value", "%s -p %d", row->text,
		    (int)mpijob__render_ssh_port(b->subject));
	else
		mpijob_node_put_string(b->doc, entry, "value", row->text);
}

void mpijob__render_environment_inject(struct mpijob__render_build *b, mpijob_node *container,
    int32_t role)
{
	int has_ranks = mpijob__render_subject_launcher_has_ranks(b->subject),
	    worker = role == MPIJOB_ROLE_WORKER;
	mpijob_node *env = mpijob__render_build_list(b, container, "spec.containers[0].env");
	const struct mpijob__job_injected *row;
	size_t own = mpijob_node_count(env);

	for (size_t i = 0; (row = mpijob__job_injected_at(i)) != NULL; i++) {
		if (!mpijob__job_injected_applies(row, worker, b->subject->spec->mpi_implementation,
			has_ranks) ||
		    !is_on(b, row))
			continue;
		if (left_to_user(b, container, own, row))
			warn_ssh(b, container, row);
		else
			append(b, env, row);
	}
}
