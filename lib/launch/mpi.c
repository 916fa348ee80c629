/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of mpirun and mpiexec. Uses options that Open MPI 4 and 5 both support: --map-by
 * ppr:N:node with the qualifier OVERSUBSCRIBE, because older options are removed or deprecated in
 * 5. (Several qualifiers are separated by commas in 4 and by colons in 5.) With Hydra, MPICH binds
 * ranks by options, Intel MPI by variables.
 */
#include "launch/launch.h"
#include "base/text.h"

#include <mpijob/spec.h>

#include <string.h>

static void reject_framework_options(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;
	static const char why[] = "only for horovodrun";

	mpijob__launch_reject_option(c, o->elastic != 0, "elastic", why);
	mpijob__launch_reject_option(c, o->min_np != 0, "min_np", why);
	mpijob__launch_reject_option(c, o->max_np != 0, "max_np", why);
	mpijob__launch_reject_option(c, o->elastic_timeout != 0, "elastic_timeout", why);
	mpijob__launch_reject_option(c, o->start_timeout != 0, "start_timeout", why);
	mpijob__launch_reject_option(c, o->reset_limit != 0, "reset_limit", why);
	mpijob__launch_reject_option(c, o->log_level != NULL, "log_level", why);
	mpijob__launch_reject_option(c, o->network_interface != NULL, "network_interface", why);
	mpijob__launch_reject_option(c, o->backend != NULL, "backend",
	    "only for horovodrun and deepspeed");
}

/* ---- Open MPI ---- */

static int is_oversubscribe(const char *word, size_t len)
{
	static const char wanted[] = "oversubscribe";

	for (size_t i = 0; i < len && wanted[i] != '\0'; i++) {
		if ((word[i] | 0x20) != wanted[i])
			return 0;
	}
	return len == sizeof(wanted) - 1;
}

/* Whether map_by contains OVERSUBSCRIBE. */
static int has_oversubscribe(const char *map_by)
{
	const char *at = strchr(map_by, ':');

	while (at != NULL && *at != '\0') {
		size_t len = strcspn(++at, ":,");

		if (is_oversubscribe(at, len))
			return 1;
		at += len;
	}
	return 0;
}

/* Whether to add OVERSUBSCRIBE to --map-by. */
static int needs_oversubscribe(struct mpijob__launch_command *c)
{
	const char *map_by = c->options.map_by;

	if (c->options.oversubscribe == 0 || (map_by != NULL && has_oversubscribe(map_by)))
		return 0;
	if (map_by != NULL && strchr(map_by, ':') != NULL)
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "oversubscribe: map_by has its own qualifier, after which Open MPI 4 requires "
		    "a comma and 5 a colon; write it there: '%s,OVERSUBSCRIBE' or "
		    "'%s:OVERSUBSCRIBE'",
		    map_by, map_by);
	return 1;
}

/* Append --map-by. */
static void map_openmpi(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;
	struct mpijob_text text = { 0 };
	int code = 0;

	if (o->ranks_per_host > 0 && o->map_by != NULL && strcmp(o->map_by, "slot") != 0)
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "map_by: with ranks_per_host hosts are filled one after the other; omit one of "
		    "the two");
	if (o->ranks_per_host > 0)
		code = mpijob__base_text_printf(&text, "ppr:%d:node", (int)o->ranks_per_host);
	else if (o->map_by != NULL || o->oversubscribe != 0)
		code = mpijob__base_text_puts(&text, o->map_by != NULL ? o->map_by : "slot");
	if (code == 0 && needs_oversubscribe(c))
		code = mpijob__base_text_puts(&text, ":OVERSUBSCRIBE");
	if (code != 0)
		c->launch->code = code;
	else if (text.len > 0)
		mpijob__launch_add_text(c, "--map-by", &text);
	mpijob__base_text_release(&text);
}

void mpijob__launch_openmpi(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;

	reject_framework_options(c);
	if (o->allow_run_as_root > 0 || (o->allow_run_as_root == 0 && c->may_be_root))
		mpijob__launch_add(c, "--allow-run-as-root");
	mpijob__launch_add_number(c, "-np", c->np);
	mpijob__launch_add_pair(c, "--hostfile", o->hostfile);
	mpijob__launch_add_pair(c, "--bind-to", o->bind_to);
	map_openmpi(c);
	if (o->verbose != 0)
		mpijob__launch_add(c, "--display-map");
	mpijob__launch_forward_openmpi(c);
}

/* ---- Hydra ---- */

static void bind_intel(struct mpijob__launch_command *c, const char *bind_to)
{
	if (mpijob__base_text_is(bind_to, "hwthread"))
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "bind_to: Intel MPI pins to domains; use none, core, socket or numa");
	mpijob__launch_add(c, "-genv");
	if (mpijob__base_text_is(bind_to, "none"))
		mpijob__launch_add_pair(c, "I_MPI_PIN", "0");
	else
		mpijob__launch_add_pair(c, "I_MPI_PIN_DOMAIN", bind_to);
}

static void map_hydra(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;
	int by_node = mpijob__base_text_is(o->map_by, "node");

	if (o->map_by != NULL && !by_node && strcmp(o->map_by, "slot") != 0)
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "map_by: Hydra has no '%s'; use slot or node", o->map_by);
	if (by_node && o->ranks_per_host > 0)
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "map_by: with ranks_per_host hosts are filled one after the other; omit one of "
		    "the two");
	mpijob__launch_add_number(c, "-ppn", by_node ? 1 : o->ranks_per_host);
}

void mpijob__launch_hydra(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;

	reject_framework_options(c);
	mpijob__launch_add_number(c, "-n", c->np);
	mpijob__launch_add_pair(c, "-f", o->hostfile);
	map_hydra(c);
	if (c->mpi == MPIJOB_INTEL && o->bind_to != NULL)
		bind_intel(c, o->bind_to);
	else
		mpijob__launch_add_pair(c, "-bind-to", o->bind_to);
	if (o->verbose != 0)
		mpijob__launch_add(c, "-verbose");
	mpijob__launch_forward_hydra(c);
}
