/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the number of ranks that a launcher starts: parses command and args, or the script of a
 * shell, as mpirun would. Knows which options of Open MPI, Hydra and horovodrun take values,
 * because the first word that is neither an option nor a value is the user's program. In a case
 * that it cannot decide (a variable, hosts of the user, an unknown option before a word) there is
 * no warning.
 */
#include "job/advice.h"

#include "base/mpirun.h"
#include "job/field.h"
#include "job/injected.h"
#include "base/text.h"

#include <mpijob/spec.h>

#include <stdlib.h>
#include <string.h>

#define MOST_RANKS 100000000

enum state { BEFORE, OPTIONS, VALUE, HOSTS, COUNT, UNKNOWN_OPTION, PROGRAM, IGNORED };

/* The parser of one command line; it receives one word after another. */
struct launch {
	const struct mpijob__job_advice *a;
	const char *below;       /* path of the list with the words */
	const mpijob_node *node; /* the word with the number */
	const char *tool;
	enum state state;
	int first;            /* 1 before the first word */
	int values;           /* VALUE: number of values left */
	int may_exceed_slots; /* more ranks than slots may be intended */
	int64_t ranks;        /* sum so far; -1: no number yet */
};

/* ---- tables of words ---- */

static const char *const tools[] = { "mpirun", "mpiexec", "mpiexec.hydra", "mpirun.openmpi",
	"mpiexec.openmpi", "mpiexec.mpich", "mpirun.mpich", "orterun", "prterun", "horovodrun",
	NULL };
static const char *const shells[] = { "sh", "bash", "dash", "ash", "zsh", "ksh", NULL };
static const char *const printing_programs[] = { "echo", "printf", "which", "command", "type",
	"man", "cat", "grep", "test", "[", NULL };

/* Ignores the case of `text`; `start` is in lower case. */
static int begins_with(const char *text, const char *start)
{
	for (; *start; text++, start++) {
		char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;

		if (c != *start)
			return 0;
	}
	return 1;
}

/* "--oversubscribe", "rmaps_base_oversubscribe", "slot:OVERSUBSCRIBE"; not "nooversubscribe". */
static int is_oversubscribe(const char *word)
{
	static const char wanted[] = "oversubscribe";

	for (const char *at = word; *at; at++) {
		if (begins_with(at, wanted))
			return at - word < 2 || !begins_with(at - 2, "no");
	}
	return 0;
}

/* ---- one command ---- */

static void report(const struct launch *launch)
{
	const struct mpijob__job_advice *a = launch->a;
	int64_t offered = (a->workers + (a->launcher_has_ranks != 0)) * a->slots;
	int is_one = a->workers + (a->launcher_has_ranks != 0) == 1;
	const char *outcome = ", and Open MPI refuses more";

	if (strcmp(launch->tool, "horovodrun") == 0)
		outcome = ", and horovodrun refuses more";
	else if (a->mpi != MPIJOB_OPENMPI)
		outcome = ", so that several share a slot";
	mpijob__job_advice_warn(a, FIELD_LAUNCHER_TEMPLATE, launch->below, launch->node,
	    "too-few-slots",
	    "%s starts %lld ranks, but %lld worker%s%s with %lld slot%s%s offer%s %lld%s",
	    launch->tool, (long long)launch->ranks, (long long)a->workers,
	    a->workers == 1 ? "" : "s", a->launcher_has_ranks ? " and the launcher" : "",
	    (long long)a->slots, a->slots == 1 ? "" : "s", is_one ? "" : " each", is_one ? "s" : "",
	    (long long)offered, outcome);
}

static void begin(struct launch *launch)
{
	launch->state = BEFORE;
	launch->first = 1;
	launch->tool = NULL;
	launch->node = NULL;
	launch->may_exceed_slots = 0;
	launch->ranks = -1;
}

static void end(struct launch *launch)
{
	const struct mpijob__job_advice *a = launch->a;

	if (launch->tool && launch->ranks > 0 && !launch->may_exceed_slots && a && a->slots > 0 &&
	    a->workers + a->launcher_has_ranks > 0 &&
	    launch->ranks > (a->workers + (a->launcher_has_ranks != 0)) * a->slots)
		report(launch);
	begin(launch);
}

static void take_count(struct launch *launch, const char *word, const mpijob_node *node)
{
	char *rest;
	long long number = *word >= '0' && *word <= '9' ? strtoll(word, &rest, 10) : -1;

	launch->state = OPTIONS;
	if (number < 0 || *rest || number > MOST_RANKS) {
		launch->may_exceed_slots = 1;
		return;
	}
	launch->ranks = (launch->ranks < 0 ? 0 : launch->ranks) + number;
	launch->node = node;
}

static void take_option(struct launch *launch, const char *word)
{
	launch->state = OPTIONS;
	switch (mpijob__base_mpirun_option(word)) {
	case MPIJOB__BASE_MPIRUN_FLAG: break;
	case MPIJOB__BASE_MPIRUN_COUNT: launch->state = COUNT; break;
	case MPIJOB__BASE_MPIRUN_HOSTFILE: launch->state = HOSTS; break;
	case MPIJOB__BASE_MPIRUN_UNKNOWN:
		if (!is_oversubscribe(word) && !strchr(word, '='))
			launch->state = UNKNOWN_OPTION;
		break;
	case MPIJOB__BASE_MPIRUN_OWN_HOSTS: launch->may_exceed_slots = 1; /* fall through */
	default: launch->state = VALUE; launch->values = (int)mpijob__base_mpirun_values(word);
	}
}

static void take_before(struct launch *launch, const char *word)
{
	const char *name = mpijob__base_text_file_name(word);

	if (launch->first && mpijob__base_text_is_one_of(name, printing_programs)) {
		launch->state = IGNORED;
	} else if (mpijob__base_text_is_one_of(name, tools)) {
		launch->tool = tools[0];
		for (size_t i = 0; tools[i]; i++) {
			if (strcmp(name, tools[i]) == 0)
				launch->tool = tools[i];
		}
		launch->state = OPTIONS;
	}
	launch->first = 0;
}

/* Process one word; it is "" if the shell expands it. */
static void take(struct launch *launch, const char *word, const mpijob_node *node)
{
	launch->may_exceed_slots |=
	    launch->tool && launch->state != PROGRAM && is_oversubscribe(word);
	switch (launch->state) {
	case BEFORE: take_before(launch, word); break;
	case VALUE:
		if (--launch->values == 0)
			launch->state = OPTIONS;
		break;
	case HOSTS:
		launch->may_exceed_slots |= strcmp(word, MPIJOB__JOB_HOSTFILE_PATH) != 0;
		launch->state = OPTIONS;
		break;
	case COUNT: take_count(launch, word, node); break;
	case OPTIONS:
	case UNKNOWN_OPTION:
		if (word[0] == '-' && word[1])
			take_option(launch, word);
		else
			launch->state = launch->state == UNKNOWN_OPTION ? IGNORED : PROGRAM;
		break;
	case PROGRAM:
		if (strcmp(word, ":") == 0) /* another program of the same run */
			launch->state = OPTIONS;
		break;
	case IGNORED: break;
	}
}

/* ---- a shell script ---- */

struct script {
	struct launch *launch;
	const mpijob_node *node;
	struct mpijob_text word;
	int in_word;
	int plain; /* the shell expands nothing in the word */
	int code;
};

static void put(struct script *script, char c)
{
	script->in_word = 1;
	script->code |= mpijob_text_write(&script->word, &c, 1);
}

static void end_word(struct script *script)
{
	if (script->in_word)
		take(script->launch, script->plain ? mpijob_text_data(&script->word) : "",
		    script->node);
	mpijob_text_clear(&script->word);
	script->in_word = 0;
	script->plain = 1;
}

static const char *take_quoted(struct script *script, const char *at)
{
	char quote = *at++;

	script->in_word = 1;
	for (; *at && *at != quote; at++) {
		if (quote == '"' && *at == '\\' && at[1])
			at++;
		else if (quote == '"' && (*at == '$' || *at == '`'))
			script->plain = 0;
		put(script, *at);
	}
	return *at ? at : at - 1;
}

static void read_script(struct script *script, const char *text)
{
	for (const char *at = text; *at; at++) {
		if (*at == '\'' || *at == '"') {
			at = take_quoted(script, at);
		} else if (*at == '\\' && at[1]) {
			at++;
			if (*at != '\n')
				put(script, *at);
		} else if (strchr(" \t\n;&|()", *at)) {
			end_word(script);
			if (*at != ' ' && *at != '\t')
				end(script->launch);
		} else if (*at == '#' && !script->in_word) {
			at += strcspn(at, "\n");
			end(script->launch);
			at--;
		} else {
			script->plain &= *at != '$' && *at != '`';
			put(script, *at);
		}
	}
	end_word(script);
	end(script->launch);
}

static void take_script(struct launch *launch, const char *text, const mpijob_node *node)
{
	struct script script = { .launch = launch, .node = node, .plain = 1 };

	begin(launch);
	if (!strstr(text, "<<"))
		read_script(&script, text);
	if (script.code && launch->a)
		launch->a->report->code = MPIJOB_ERR_NOMEM;
	mpijob__base_text_release(&script.word);
}

/* ---- a container ---- */

static const char *const lists[] = { "command", "args" };
static const char *const paths[] = { ".spec.containers[0].command", ".spec.containers[0].args" };

#define LISTS (sizeof(lists) / sizeof(lists[0]))

/* -c, also -lc or -xec */
static int is_script_option(const char *word)
{
	return word[0] == '-' && word[1] != '-' && word[1] && word[strlen(word) - 1] == 'c';
}

/* Parse the command of a container, or the script that it passes to a shell. */
static void read_container(struct launch *launch, const mpijob_node *container)
{
	enum { NO_SHELL, SHELL, SCRIPT } shell = NO_SHELL;

	begin(launch);
	for (size_t i = 0; i < LISTS; i++) {
		const mpijob_node *list = mpijob_node_get(container, lists[i]);

		for (size_t j = 0; j < mpijob_node_count(list); j++) {
			const mpijob_node *node = mpijob_node_at(list, j);
			const char *word = mpijob_node_string(node);

			launch->below = paths[i];
			if (!word)
				return;
			if (shell == SCRIPT) {
				take_script(launch, word, node);
				return;
			}
			if (shell == NO_SHELL && launch->state == BEFORE &&
			    mpijob__base_text_is_one_of(mpijob__base_text_file_name(word), shells))
				shell = SHELL;
			else if (shell == SHELL && is_script_option(word))
				shell = SCRIPT;
			else if (shell == NO_SHELL)
				take(launch, strstr(word, "$(") ? "" : word, node);
		}
	}
	end(launch);
}

int mpijob__job_advice_runs_program(const mpijob_node *container, const char *program)
{
	for (size_t i = 0; i < LISTS; i++) {
		const mpijob_node *list = mpijob_node_get(container, lists[i]);

		for (size_t j = 0; j < mpijob_node_count(list); j++) {
			const char *word = mpijob_node_string(mpijob_node_at(list, j));

			if (word && (strcmp(mpijob__base_text_file_name(word), program) == 0 ||
					(strchr(word, ' ') && strstr(word, program))))
				return 1;
		}
	}
	return 0;
}

int mpijob__job_advice_starts_ranks(const mpijob_node *container)
{
	for (size_t i = 0; tools[i]; i++) {
		if (mpijob__job_advice_runs_program(container, tools[i]))
			return 1;
	}
	return 0;
}

/* Whether a variable of the launcher allows more ranks than slots. */
static int allows_oversubscribe(const mpijob_node *container)
{
	const mpijob_node *env = mpijob_node_get(container, "env");

	for (size_t i = 0; i < mpijob_node_count(env); i++) {
		const char *name =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(env, i), "name"));
		const char *value =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(env, i), "value"));

		if ((name && is_oversubscribe(name)) || (value && is_oversubscribe(value)))
			return 1;
	}
	return 0;
}

void mpijob__job_advice_launch(const struct mpijob__job_advice *a,
    const struct mpijob__job_advice_role *launcher)
{
	struct launch launch = { .a = a };

	if (!launcher->main || allows_oversubscribe(launcher->main))
		return;
	read_container(&launch, launcher->main);
}
