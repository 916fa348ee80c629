/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the command that starts the ranks of a job. This file has the parts that are common to all
 * tools: number of hosts, slots and ranks, whether root runs mpirun (Open MPI needs an option
 * then), and words of a program that no launcher can pass on.
 */
#include "launch/launch.h"

#include "core/diag.h"
#include "base/struct.h"
#include "job/job.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

void mpijob__launch_add(struct mpijob__launch_command *c, const char *word)
{
	mpijob_launch *launch = c->launch;

	if (launch->code != 0)
		return;
	if (launch->count + 2 > launch->room) {
		size_t room = launch->room * 2 + 32;
		const char **words = realloc(launch->words, room * sizeof(*words));

		if (words == NULL) {
			launch->code = MPIJOB_ERR_NOMEM;
			return;
		}
		launch->words = words;
		launch->room = room;
	}
	launch->words[launch->count] = mpijob__base_arena_copy(&launch->memory, word, strlen(word));
	if (launch->words[launch->count] == NULL)
		launch->code = MPIJOB_ERR_NOMEM;
	else
		launch->words[++launch->count] = NULL;
}

void mpijob__launch_add_pair(struct mpijob__launch_command *c, const char *option,
    const char *value)
{
	if (value == NULL)
		return;
	mpijob__launch_add(c, option);
	mpijob__launch_add(c, value);
}

void mpijob__launch_add_text(struct mpijob__launch_command *c, const char *option,
    const struct mpijob_text *text)
{
	mpijob__launch_add_pair(c, option, mpijob_text_data(text));
}

void mpijob__launch_add_number(struct mpijob__launch_command *c, const char *option, int32_t number)
{
	struct mpijob_text text = { 0 };

	if (number > 0 && mpijob__base_text_printf(&text, "%d", (int)number) != 0)
		c->launch->code = MPIJOB_ERR_NOMEM;
	else if (number > 0)
		mpijob__launch_add_text(c, option, &text);
	mpijob__base_text_release(&text);
}

void mpijob__launch_error(struct mpijob__launch_command *c, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (mpijob__core_diag_vaddf(c->diag, MPIJOB_SEVERITY_ERROR, "launch-option", NULL, NULL,
		NULL, format, args) != 0)
		c->launch->code = MPIJOB_ERR_NOMEM;
	va_end(args);
	if (c->launch->code == 0)
		c->launch->code = code;
}

void mpijob__launch_reject_option(struct mpijob__launch_command *c, int given, const char *name,
    const char *why)
{
	if (given)
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED, "%s: %s", name, why);
}

/* ---- the job ---- */

static int is_true(const mpijob_node *node)
{
	int value = 0;

	return mpijob_node_bool(node, &value) && value;
}

/* Whether a securityContext excludes root. */
static int is_user(const mpijob_node *context)
{
	int64_t user = 0;

	return is_true(mpijob_node_get(context, "runAsNonRoot")) ||
	       (mpijob_node_int(mpijob_node_get(context, "runAsUser"), &user) && user != 0);
}

static void read_template(struct mpijob__launch_command *c, const mpijob_node *template)
{
	const mpijob_node *pod = mpijob_node_get(template, "spec");
	const mpijob_node *container = mpijob_node_at(mpijob_node_get(pod, "containers"), 0);

	c->env = mpijob_node_get(container, "env");
	c->may_be_root = !is_user(mpijob_node_get(pod, "securityContext")) &&
			 !is_user(mpijob_node_get(container, "securityContext"));
}

static void read_job(struct mpijob__launch_command *c, const mpijob *job)
{
	const struct mpijob_spec *spec = NULL;
	int64_t hosts, slots;

	c->launch->code = mpijob__job_spec(job, &spec, c->diag);
	if (c->launch->code != 0)
		return;
	read_template(c, mpijob__job_template(job, MPIJOB__JOB_LAUNCHER));
	c->mpi = spec->mpi_implementation > 0 ? spec->mpi_implementation : MPIJOB_OPENMPI;
	c->launcher_has_ranks =
	    spec->run_launcher_as_worker != NULL && *spec->run_launcher_as_worker != 0;
	hosts =
	    spec->worker != NULL && spec->worker->replicas != NULL ? *spec->worker->replicas : 0;
	hosts += c->launcher_has_ranks;
	slots = spec->slots_per_worker != NULL ? *spec->slots_per_worker : 1;
	if (hosts <= 0 || slots <= 0)
		mpijob__launch_error(c, MPIJOB_ERR_SPEC,
		    "the job has no slot on which a rank could run");
	else if (hosts > INT32_MAX || hosts * slots > INT32_MAX)
		mpijob__launch_error(c, MPIJOB_ERR_SPEC,
		    "the job has more slots than MPI supports");
	c->hosts = (int32_t)hosts;
	c->slots = (int32_t)slots;
}

/* ---- options ---- */

static int is_out_of_range(const struct mpijob_launch_options *o)
{
	return o->np < 0 || o->ranks_per_host < 0 || o->oversubscribe < 0 || o->env_only < 0 ||
	       o->elastic < 0 || o->min_np < 0 || o->max_np < 0 || o->elastic_timeout < 0 ||
	       o->start_timeout < 0 || o->reset_limit < 0 || o->verbose < 0 ||
	       o->allow_run_as_root < -1 || o->allow_run_as_root > 1;
}

static int has_null(const char *const *list, size_t count)
{
	if (count > 0 && list == NULL)
		return 1;
	for (size_t i = 0; i < count; i++) {
		if (list[i] == NULL)
			return 1;
	}
	return 0;
}

static int take_options(struct mpijob__launch_command *c, const struct mpijob_launch_options *given)
{
	struct mpijob_launch_options *o = &c->options;
	int code = mpijob__base_struct_check(o, sizeof(*o), given);

	if (code != 0)
		return code;
	if (o->tool == 0)
		o->tool = MPIJOB_LAUNCH_MPIRUN;
	if (o->tool < 0 || o->tool > MPIJOB_LAUNCH_DEEPSPEED || is_out_of_range(o) ||
	    has_null(o->env, o->env_count) || has_null(o->known, o->known_count) ||
	    has_null(o->args, o->args_count) || (o->executable != NULL && *o->executable == '\0') ||
	    !mpijob__base_struct_is_flag(o->oversubscribe) ||
	    !mpijob__base_struct_is_flag(o->env_only) || !mpijob__base_struct_is_flag(o->elastic) ||
	    !mpijob__base_struct_is_flag(o->verbose))
		return MPIJOB_ERR_USAGE;
	return 0;
}

/* Compute the number of ranks: all slots, or as in the options. */
static void count_ranks(struct mpijob__launch_command *c)
{
	const struct mpijob_launch_options *o = &c->options;
	int64_t per_host = o->ranks_per_host > 0 ? o->ranks_per_host : c->slots;
	int64_t np = o->np > 0 ? o->np : per_host * c->hosts;

	if (o->ranks_per_host > 0 && np > per_host * c->hosts)
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "np: %lld ranks are more than %d on each of %d host%s", (long long)np,
		    (int)per_host, (int)c->hosts, c->hosts == 1 ? "" : "s");
	else if ((np > (int64_t)c->slots * c->hosts || per_host > c->slots) &&
		 o->oversubscribe == 0)
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "np: %lld ranks, but the job has %d host%s with %d slot%s each; use fewer, or "
		    "set oversubscribe",
		    (long long)np, (int)c->hosts, c->hosts == 1 ? "" : "s", (int)c->slots,
		    c->slots == 1 ? "" : "s");
	else if (np > INT32_MAX)
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED, "np: more ranks than MPI supports");
	c->np = (int32_t)(np > INT32_MAX ? INT32_MAX : np);
}

/* Restrict the characters, because some tools split the text again or pass it to a shell. */
static void check_map_by(struct mpijob__launch_command *c)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789:,=_.-";
	const char *map_by = c->options.map_by;

	if (map_by != NULL && (*map_by == '\0' || map_by[strspn(map_by, letters)] != '\0'))
		mpijob__launch_error(c, MPIJOB_ERR_USAGE,
		    "map_by: '%s' is not a mapping; write letters, digits and any of ':,=_.-'",
		    map_by);
}

static void check_words(struct mpijob__launch_command *c, const char *const *program, size_t count)
{
	static const char *const levels[] = { "none", "hwthread", "core", "socket", "numa" };
	const char *bind = c->options.bind_to;
	int known = bind == NULL;

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]) && !known; i++)
		known = strcmp(bind, levels[i]) == 0;
	if (!known)
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "bind_to: unknown '%s'; use none, hwthread, core, socket or numa", bind);
	if (program[0][0] == '-' || program[0][0] == '\0')
		mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
		    "program: '%s' would be read as an option", program[0]);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(program[i], ":") == 0)
			mpijob__launch_error(c, MPIJOB_ERR_UNSUPPORTED,
			    "program: mpirun reads a word ':' as the start of another program");
	}
}

static const char *tool_name(const struct mpijob__launch_command *c)
{
	static const char *const names[] = { NULL, "mpirun", "mpiexec", "horovodrun", "deepspeed" };

	if (c->options.executable != NULL)
		return c->options.executable;
	if (c->mpi == MPIJOB_INTEL && c->options.tool == MPIJOB_LAUNCH_MPIRUN)
		return "mpiexec.hydra";
	return names[c->options.tool];
}

static void add_tool(struct mpijob__launch_command *c)
{
	mpijob__launch_add(c, tool_name(c));
	if (c->options.tool == MPIJOB_LAUNCH_HOROVODRUN)
		mpijob__launch_horovodrun(c);
	else if (c->options.tool == MPIJOB_LAUNCH_DEEPSPEED)
		mpijob__launch_deepspeed(c);
	else if (c->mpi == MPIJOB_OPENMPI)
		mpijob__launch_openmpi(c);
	else
		mpijob__launch_hydra(c);
}

static void build(struct mpijob__launch_command *c, const mpijob *job, const char *const *program,
    size_t count)
{
	read_job(c, job);
	if (c->launch->code != 0)
		return;
	count_ranks(c);
	check_words(c, program, count);
	check_map_by(c);
	mpijob__launch_forward_check(c);
	if (c->launch->code != 0)
		return;
	add_tool(c);
	for (size_t i = 0; i < c->options.args_count; i++)
		mpijob__launch_add(c, c->options.args[i]);
	if (c->options.tool == MPIJOB_LAUNCH_HOROVODRUN)
		mpijob__launch_forward_by_env(c);
	for (size_t i = 0; i < count; i++)
		mpijob__launch_add(c, program[i]);
	c->launch->ranks = c->np;
}

int mpijob_launch_new(const mpijob *job, const char *const *program, size_t program_count,
    const struct mpijob_launch_options *options, mpijob_launch **out, mpijob_diag *diag)
{
	struct mpijob__launch_command c = { .diag = diag };
	int code;

	if (job == NULL || program_count == 0 || has_null(program, program_count) || out == NULL)
		return MPIJOB_ERR_USAGE;
	code = take_options(&c, options);
	if (code != 0)
		return code;
	c.launch = calloc(1, sizeof(*c.launch));
	if (c.launch == NULL)
		return MPIJOB_ERR_NOMEM;
	build(&c, job, program, program_count);
	code = c.launch->code;
	if (code == 0)
		*out = c.launch;
	else
		mpijob_launch_free(c.launch);
	return code;
}

void mpijob_launch_free(mpijob_launch *launch)
{
	if (launch == NULL)
		return;
	mpijob__base_arena_free(&launch->memory);
	free(launch->words);
	free(launch);
}

const char *const *mpijob_launch_words(const mpijob_launch *launch)
{
	return launch ? launch->words : NULL;
}

int32_t mpijob_launch_ranks(const mpijob_launch *launch)
{
	return launch ? launch->ranks : 0;
}
