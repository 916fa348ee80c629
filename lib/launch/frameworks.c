/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of horovodrun and deepspeed, which start ranks by ssh or through mpirun. Both
 * ignore the operator's variables, so they get the path of the hostfile as an option. Both can only
 * read "host slots=n". discover_hosts.sh prints hosts without slots. deepspeed passes its mpirun
 * options in one word.
 */
#include "launch/launch.h"

#include "job/injected.h"
#include "base/text.h"

#include <mpijob/spec.h>

#include <string.h>

#define DISCOVERY MPIJOB__JOB_CONFIG_PATH "/discover_hosts.sh"

static const char *hostfile(const struct mpijob__launch_command *c)
{
	return c->options.hostfile != NULL ? c->options.hostfile : MPIJOB__JOB_HOSTFILE_PATH;
}

static void need_openmpi_hostfile(struct mpijob__launch_command *c, const char *tool,
    const char *instead)
{
	if (c->mpi != MPIJOB_OPENMPI && c->options.hostfile == NULL)
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "%s reads only Open MPI's hostfile ('host slots=n'); set mpiImplementation to "
		    "OpenMPI%s",
		    tool, instead);
}

/* Append OPTION=WORDS as one word, because the words begin with dashes. */
static void add_joined(struct mpijob__launch_command *c, const char *option,
    const struct mpijob_text *words)
{
	struct mpijob_text text = { 0 };

	if (words->len > 0 && mpijob__base_text_printf(&text, "%s=%s", option, words->data) != 0)
		c->launch->code = MPIJOB_ERR_NOMEM;
	else if (words->len > 0)
		mpijob__launch_add(c, text.data);
	mpijob__base_text_release(&text);
}

static void join(struct mpijob__launch_command *c, struct mpijob_text *text, const char *option,
    const char *value)
{
	const char *space = text->len > 0 ? " " : "";

	if (value == NULL)
		return;
	if (mpijob__base_text_printf(text, "%s%s%s%s", space, option, *value != '\0' ? " " : "",
		value) != 0)
		c->launch->code = MPIJOB_ERR_NOMEM;
}

/* ---- horovodrun ---- */

static void check_elastic(struct mpijob__launch_command *c, int32_t min_np, int32_t max_np)
{
	if (min_np > c->np || c->np > max_np)
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "np: %d initial ranks are not between min_np %d and max_np %d", (int)c->np,
		    (int)min_np, (int)max_np);
	mpijob__launch_reject_option(c, mpijob__base_text_is(c->options.backend, "mpi"), "backend",
	    "an elastic horovodrun starts its ranks itself; use gloo");
	mpijob__launch_reject_option(c, c->options.hostfile != NULL, "hostfile",
	    "an elastic horovodrun calls discover_hosts.sh");
}

static void add_elastic(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;
	int32_t per_host = o->ranks_per_host > 0 ? o->ranks_per_host : c->slots;
	int32_t max_np = o->max_np > 0 ? o->max_np : c->np;
	int32_t min_np = o->min_np > 0 ? o->min_np : per_host < c->np ? per_host : c->np;

	check_elastic(c, min_np, max_np);
	mpijob__launch_add_number(c, "--min-np", min_np);
	mpijob__launch_add_number(c, "--max-np", max_np);
	mpijob__launch_add_pair(c, "--host-discovery-script", DISCOVERY);
	mpijob__launch_add_number(c, "--slots-per-host", per_host);
	mpijob__launch_add_number(c, "--elastic-timeout", o->elastic_timeout);
	mpijob__launch_add_number(c, "--reset-limit", o->reset_limit);
}

static void add_static(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;
	static const char why[] = "only for an elastic horovodrun";

	need_openmpi_hostfile(c, "horovodrun", ", or run it elastic");
	mpijob__launch_reject_option(c, o->min_np != 0, "min_np", why);
	mpijob__launch_reject_option(c, o->max_np != 0, "max_np", why);
	mpijob__launch_reject_option(c, o->elastic_timeout != 0, "elastic_timeout", why);
	mpijob__launch_reject_option(c, o->reset_limit != 0, "reset_limit", why);
	mpijob__launch_reject_option(c, o->ranks_per_host != 0 && o->ranks_per_host != c->slots,
	    "ranks_per_host", "horovodrun fills the slots of the hostfile, unless it is elastic");
	mpijob__launch_add_pair(c, "--hostfile", hostfile(c));
}

static void add_binding(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;
	struct mpijob_text text = { 0 };

	mpijob__launch_reject_option(c,
	    (o->bind_to != NULL || o->map_by != NULL) && !mpijob__base_text_is(o->backend, "mpi"),
	    "bind_to, map_by", "horovodrun binds ranks only with backend mpi");
	join(c, &text, "--bind-to", o->bind_to);
	join(c, &text, "--map-by", o->map_by);
	add_joined(c, "--binding-args", &text);
	mpijob__base_text_release(&text);
}

static void check_words(struct mpijob__launch_command *c)
{
	static const char *const levels[] = { "TRACE", "DEBUG", "INFO", "WARNING", "ERROR",
		"FATAL" };
	const struct mpijob_launch_options *o = &c->options;
	int known = o->log_level == NULL;

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]) && !known; i++)
		known = strcmp(o->log_level, levels[i]) == 0;
	if (!known)
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "log_level: unknown '%s'; use TRACE, DEBUG, INFO, WARNING, ERROR or FATAL",
		    o->log_level);
	if (o->backend != NULL && !mpijob__base_text_is(o->backend, "gloo") &&
	    !mpijob__base_text_is(o->backend, "mpi"))
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "backend: unknown '%s'; use gloo or mpi", o->backend);
	mpijob__launch_reject_option(c, o->oversubscribe != 0, "oversubscribe",
	    "horovodrun rejects more ranks than slots");
	mpijob__launch_reject_option(c,
	    o->allow_run_as_root < 0 && mpijob__base_text_is(o->backend, "mpi"),
	    "allow_run_as_root",
	    "with backend mpi horovodrun always lets root run mpirun; use gloo");
	mpijob__launch_reject_option(c, o->env_only != 0, "env_only",
	    "horovodrun forwards all variables of the launcher");
}

void mpijob__launch_horovodrun(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;

	check_words(c);
	mpijob__launch_add_number(c, "-np", c->np);
	if (o->elastic != 0)
		add_elastic(c);
	else
		add_static(c);
	if (o->backend != NULL)
		mpijob__launch_add(c, mpijob__base_text_is(o->backend, "mpi") ? "--mpi" : "--gloo");
	mpijob__launch_add_number(c, "--start-timeout", o->start_timeout);
	mpijob__launch_add_pair(c, "--network-interfaces", o->network_interface);
	mpijob__launch_add_pair(c, "--log-level", o->log_level);
	if (o->verbose != 0)
		mpijob__launch_add(c, "--verbose");
	add_binding(c);
}

/* ---- deepspeed ---- */

/* Append "-x 'word'"; deepspeed splits the text as a shell does. */
static void join_quoted(struct mpijob__launch_command *c, const char *word, void *user)
{
	struct mpijob_text *text = user;
	int code = mpijob__base_text_puts(text, text->len > 0 ? " -x '" : "-x '");

	for (const char *at = word; *at != '\0' && code == 0; at++)
		code = *at == '\'' ? mpijob__base_text_puts(text, "'\"'\"'")
				   : mpijob_text_write(text, at, 1);
	if (code == 0)
		code = mpijob__base_text_puts(text, "'");
	if (code != 0)
		c->launch->code = code;
}

static void add_launcher_args(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;
	struct mpijob_text text = { 0 };

	if (o->allow_run_as_root > 0 || (o->allow_run_as_root == 0 && c->may_be_root))
		join(c, &text, "--allow-run-as-root", "");
	join(c, &text, "--bind-to", o->bind_to);
	join(c, &text, "--map-by", o->map_by);
	mpijob__launch_forward_each(c, join_quoted, &text);
	add_joined(c, "--launcher_args", &text);
	mpijob__base_text_release(&text);
}

/* Whether deepspeed exports a variable by default. */
static int is_exported(const char *entry)
{
	static const char *const prefixes[] = { "NCCL", "PYTHON", "UCX", "MV2", "MLFLOW" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
			return mpijob__launch_forward_value(entry) == NULL;
	}
	return 0;
}

static void check_pdsh(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;

	for (size_t i = 0; i < o->env_count; i++) {
		if (!is_exported(o->env[i]))
			mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
			    "env: deepspeed forwards only NCCL*, PYTHON*, UCX*, MV2* and MLFLOW*, "
			    "and "
			    "not '%s'; use backend openmpi, or a file .deepspeed_env",
			    o->env[i]);
	}
	mpijob__launch_reject_option(c,
	    o->bind_to != NULL && !mpijob__base_text_is(o->bind_to, "core") &&
		!mpijob__base_text_is(o->bind_to, "none"),
	    "bind_to", "deepspeed binds to core or none; use one of these, or backend openmpi");
	mpijob__launch_reject_option(c,
	    o->map_by != NULL && !mpijob__base_text_is(o->map_by, "slot"), "map_by",
	    "deepspeed fills one host after the other; use slot, or backend openmpi");
}

static void check_deepspeed(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;
	static const char why[] = "deepspeed has no such option";
	int32_t per_host = o->ranks_per_host > 0 ? o->ranks_per_host : c->slots;

	need_openmpi_hostfile(c, "deepspeed", "");
	if (o->backend != NULL && !mpijob__base_text_is(o->backend, "pdsh") &&
	    !mpijob__base_text_is(o->backend, "openmpi"))
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "backend: unknown '%s'; use pdsh or openmpi", o->backend);
	mpijob__launch_reject_option(c, (int64_t)per_host * c->hosts != c->np, "np",
	    "deepspeed starts the same number of ranks on every host; use ranks_per_host");
	mpijob__launch_reject_option(c,
	    per_host != c->slots && mpijob__base_text_is(o->backend, "openmpi"), "ranks_per_host",
	    "deepspeed with backend openmpi fills the slots of the hostfile");
	mpijob__launch_reject_option(c, o->oversubscribe != 0, "oversubscribe",
	    "deepspeed gives each rank a slot");
	mpijob__launch_reject_option(c,
	    o->env_only != 0 && !mpijob__base_text_is(o->backend, "openmpi"), "env_only", why);
	mpijob__launch_reject_option(c,
	    o->elastic != 0 || o->min_np != 0 || o->max_np != 0 || o->elastic_timeout != 0 ||
		o->reset_limit != 0,
	    "elastic", "only for horovodrun");
	mpijob__launch_reject_option(c, o->start_timeout != 0, "start_timeout", why);
	mpijob__launch_reject_option(c, o->verbose != 0, "verbose", why);
	mpijob__launch_reject_option(c, o->log_level != NULL, "log_level", why);
	mpijob__launch_reject_option(c, o->network_interface != NULL, "network_interface", why);
}

void mpijob__launch_deepspeed(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;
	int with_mpi = mpijob__base_text_is(o->backend, "openmpi");

	check_deepspeed(c);
	mpijob__launch_add_pair(c, "--hostfile", hostfile(c));
	if (c->hosts == 1) /* otherwise it would run on the launcher instead of the host */
		mpijob__launch_add(c, "--force_multi");
	mpijob__launch_add_pair(c, "--launcher", o->backend);
	if (o->ranks_per_host > 0 && o->ranks_per_host != c->slots)
		mpijob__launch_add_number(c, "--num_gpus", o->ranks_per_host);
	if (with_mpi) {
		add_launcher_args(c);
	} else {
		check_pdsh(c);
		if (mpijob__base_text_is(o->bind_to, "core"))
			mpijob__launch_add(c, "--bind_cores_to_rank");
	}
}
