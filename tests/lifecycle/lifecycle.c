/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program:
 *
 *     lifecycle [--seed N] [--steps N] [--length N] [--out FILE]
 *         random worlds of LENGTH actions, until STEPS actions were executed
 *     lifecycle --replay FILE... [--trace | --events]
 *         scripts; each must end as its first line says
 *     lifecycle --shrink FILE
 *         a script that fails, reduced to the actions that are needed for the failure
 *
 * A failure is shrunk and written to FILE, or printed; the exit code is then 1.
 */
#include "lifecycle.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SEED 1
#define SETTLE_S   2200

/* --- scripts --- */

void script_add(struct script *script, const struct action *action)
{
	if (script->count == script->cap) {
		script->cap = script->cap ? script->cap * 2 : 64;
		script->actions = realloc(script->actions, script->cap * sizeof(*script->actions));
		NEED(script->actions);
	}
	script->actions[script->count++] = *action;
}

void script_release(struct script *script)
{
	free(script->actions);
	free(script->expect);
	memset(script, 0, sizeof(*script));
}

int script_read(struct script *script, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[200], word[64];
	struct action action;
	int bad = 0;

	memset(script, 0, sizeof(*script));
	if (!file)
		return -1;
	while (!bad && fgets(line, sizeof(line), file)) {
		unsigned long long seed;

		if (sscanf(line, "# expect: %63s", word) == 1)
			script->expect = strdup(word);
		else if (line[0] == '#' || line[0] == '\n')
			continue;
		else if (sscanf(line, "world %llu %d %d", &seed, &script->options,
			     &script->features) >= 2)
			script->seed = seed;
		else if (action_parse(line, &action) == 0)
			script_add(script, &action);
		else
			bad = fprintf(stderr, "lifecycle: %s: cannot read: %s", path, line);
	}
	(void)fclose(file);
	return bad ? -1 : 0;
}

void script_write(const struct script *script, FILE *out, const char *about)
{
	fprintf(out, "# %s\nworld %llu %d %d\n", about, (unsigned long long)script->seed,
	    script->options, script->features);
	for (size_t i = 0; i < script->count; i++)
		action_print(&script->actions[i], out);
}

/* --- worlds --- */

struct outcome {
	const char *failure; /* NULL: none */
	char message[400];
	size_t at; /* how many actions were done */
	uint64_t writes, events;
	unsigned jobs, ended, launchers;
};

static void end_world(struct world *world, struct outcome *outcome)
{
	outcome->failure = world->failure;
	memcpy(outcome->message, world->message, sizeof(outcome->message));
	outcome->writes = world->writes;
	outcome->events = world->events;
	for (const struct life *life = world->lifecycle; life; life = life->next) {
		outcome->jobs++;
		outcome->ended += life->terminal[0] != 0;
		outcome->launchers += (unsigned)life->launchers;
	}
	world_free(world);
}

static void live(struct script *script, size_t length, struct outcome *outcome)
{
	struct world *world = world_new(script, 0);
	uint64_t rng = script->seed ^ UINT64_C(0x6c69766573);

	while (script->count < length && !world->failure) {
		struct action action;

		action_make(world, &rng, &action);
		script_add(script, &action);
		action_do(world, &action);
	}
	if (!world->failure)
		world_settle(world, SETTLE_S * 1000);
	outcome->at = script->count;
	end_world(world, outcome);
}

static void replay(const struct script *script, int trace, struct outcome *outcome)
{
	struct world *world = world_new(script, trace);
	size_t at = 0;

	while (at < script->count && !world->failure)
		action_do(world, &script->actions[at++]);
	if (!world->failure)
		world_settle(world, SETTLE_S * 1000);
	outcome->at = at;
	end_world(world, outcome);
}

/* --- shorter --- */

static int still_fails(const struct script *script, const char *failure)
{
	struct outcome outcome = { 0 };

	replay(script, 0, &outcome);
	return outcome.failure && strcmp(outcome.failure, failure) == 0;
}

/* Leave pieces out, large ones first, as long as it fails in the same way. */
static void shrink(struct script *script, const char *failure)
{
	struct script less = *script;

	less.actions = malloc((script->count + 1) * sizeof(*less.actions));
	NEED(less.actions);
	for (size_t piece = script->count / 2 + 1; piece > 0; piece /= 2) {
		for (size_t at = 0; at < script->count;) {
			size_t cut = at + piece > script->count ? script->count - at : piece;

			less.count = script->count - cut;
			memcpy(less.actions, script->actions, at * sizeof(*less.actions));
			memcpy(less.actions + at, script->actions + at + cut,
			    (script->count - at - cut) * sizeof(*less.actions));
			if (still_fails(&less, failure)) {
				memcpy(script->actions, less.actions,
				    less.count * sizeof(*less.actions));
				script->count = less.count;
			} else {
				at += piece;
			}
		}
	}
	free(less.actions);
}

static void report(struct script *script, const struct outcome *outcome, const char *out)
{
	char about[500];
	FILE *file;

	printf("FAILED %s: %s\nseed %llu, step %zu\n", outcome->failure, outcome->message,
	    (unsigned long long)script->seed, outcome->at);
	(void)fflush(stdout);
	script->count = outcome->at;
	shrink(script, outcome->failure);
	(void)snprintf(about, sizeof(about), "%s: %s", outcome->failure, outcome->message);
	file = out ? fopen(out, "w") : stdout;
	NEED(file);
	script_write(script, file, about);
	if (out)
		(void)fclose(file);
}

/* --- commands --- */

static int run_random(uint64_t seed, size_t steps, size_t length, const char *out)
{
	double begin = clock_real_s();
	uint64_t writes = 0, events = 0;
	unsigned jobs = 0, ended = 0, launchers = 0;
	size_t done = 0, worlds = 0;

	for (; done < steps; worlds++) {
		struct script script = { .seed = seed + worlds };
		struct outcome outcome = { 0 };
		uint64_t rng = script.seed;

		script.options = (int)(draw(&rng) & (WORLD_MOST - 1));
		if (draw(&rng) & 1)
			script.options &= ~(WORLD_GANG_VOLCANO | WORLD_GANG_SCHEDULER);
		if ((draw(&rng) & 3) == 0)
			script.features = (int)(draw(&rng) & (FEATURE_MOST - 1));
		live(&script, length < steps - done ? length : steps - done, &outcome);
		done += outcome.at;
		writes += outcome.writes;
		events += outcome.events;
		jobs += outcome.jobs;
		ended += outcome.ended;
		launchers += outcome.launchers;
		if (outcome.failure) {
			report(&script, &outcome, out);
			script_release(&script);
			return 1;
		}
		script_release(&script);
	}
	printf("%zu steps in %zu worlds from seed %llu: %u jobs, %u ended, %u launchers, %llu "
	       "writes, %llu Events, %.1f s\n",
	    done, worlds, (unsigned long long)seed, jobs, ended, launchers,
	    (unsigned long long)writes, (unsigned long long)events, clock_real_s() - begin);
	if (steps < 5000 || ended >= steps / 250)
		return 0;
	printf("FAILED: little happens in these lifecycle\n");
	return 1;
}

static int replay_file(const char *path, int trace)
{
	struct outcome outcome = { 0 };
	struct script script;
	int good;

	if (script_read(&script, path)) {
		printf("%s: cannot be read\n", path);
		return 1;
	}
	replay(&script, trace, &outcome);
	good = script.expect ? outcome.failure && strcmp(outcome.failure, script.expect) == 0
			     : !outcome.failure;
	if (outcome.failure)
		printf("%s: %s: %s: %s, at line %zu\n", path, good ? "as expected" : "FAILED",
		    outcome.failure, outcome.message, outcome.at);
	else
		printf("%s: %s\n", path, good ? "well" : "FAILED: it should have failed");
	script_release(&script);
	return !good;
}

static int shrink_file(const char *path, const char *out)
{
	struct outcome outcome = { 0 };
	struct script script;

	if (script_read(&script, path))
		return 1;
	replay(&script, 0, &outcome);
	if (outcome.failure)
		report(&script, &outcome, out);
	script_release(&script);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t seed = FIRST_SEED;
	size_t steps = 20000, length = 150;
	const char *out = NULL, *to_shrink = NULL;
	int trace = 0, replays = 0, bad = 0;

	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--trace") == 0)
			trace = TRACE_ON;
		else if (strcmp(argv[i], "--events") == 0)
			trace = TRACE_EVENTS;
		else if (strcmp(argv[i], "--seed") == 0)
			seed = strtoull(value, NULL, 10), i++;
		else if (strcmp(argv[i], "--steps") == 0)
			steps = strtoull(value, NULL, 10), i++;
		else if (strcmp(argv[i], "--length") == 0)
			length = strtoull(value, NULL, 10), i++;
		else if (strcmp(argv[i], "--out") == 0)
			out = value, i++;
		else if (strcmp(argv[i], "--shrink") == 0)
			to_shrink = value, i++;
		else if (strcmp(argv[i], "--replay") == 0)
			replays = i + 1;
	}
	if (to_shrink)
		return shrink_file(to_shrink, out);
	if (!replays)
		return run_random(seed, steps, length, out);
	for (int i = replays; i < argc; i++)
		if (argv[i][0] != '-')
			bad |= replay_file(argv[i], trace);
	return bad;
}
