/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our half of bench/core/run: does one kind of work again and again for some time, and prints one
 * line of JSON: how often, the processor time, allocations, and the process' peak memory.
 *
 *     bench-core parse|first|keyless|unchanged FILE MILLISECONDS
 *
 * parse: the text of a job becomes a job. first: a job that was parsed and nothing of which exists
 * is defaulted, validated and planned, and every object is written as JSON. keyless: all but the
 * Secret. unchanged: the plan of a job all of which exists.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpijob/mpijob.h>

#define NOW_MS INT64_C(1790000000000)

/* Every allocation of this process passes here. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static size_t allocations, allocated;

static void *counted(void *memory)
{
	allocations++;
	allocated += malloc_usable_size(memory);
	return memory;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	return counted(__libc_malloc(size));
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size)
{
	return counted(__libc_calloc(count, size));
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
	return counted(__libc_realloc(old, size));
}

static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "bench-core: %s\n", what);
	exit(1);
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A line of /proc/self/status. Not ru_maxrss: that of a program begins with what its parent had. */
static long status_kib(const char *name)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	need(file != NULL, "/proc/self/status");
	while (!kib && fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0)
			kib = atol(line + strlen(name));
	fclose(file);
	return kib;
}

static int count(void *user, const char *data, size_t len)
{
	(void)data;
	*(size_t *)user += len;
	return 0;
}

struct work {
	char *text;
	size_t len;
	mpijob *job;
	mpijob_facts *facts;
	size_t bytes; /* of JSON, in all */
};

static void read_file(struct work *work, const char *path)
{
	FILE *file = fopen(path, "rb");
	long len;

	need(file && !fseek(file, 0, SEEK_END) && (len = ftell(file)) > 0, "the file");
	rewind(file);
	work->len = (size_t)len;
	work->text = malloc(work->len);
	need(work->text && fread(work->text, 1, work->len, file) == work->len, "the file");
	fclose(file);
}

static mpijob *parse(const struct work *work)
{
	mpijob *job = NULL;

	need(!mpijob_parse(work->text, work->len, NULL, &job, NULL), "mpijob_parse");
	return job;
}

static void do_parse(struct work *work)
{
	mpijob_free(parse(work));
}

static mpijob_plan *plan(const struct work *work)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	mpijob_plan *made = NULL;

	options.now_ms = NOW_MS;
	need(!mpijob_plan_new(work->job, work->facts, &options, &made, NULL), "mpijob_plan_new");
	return made;
}

static void write_body(const mpijob_plan *made, size_t index, mpijob_write_fn write, void *user)
{
	uint8_t entropy[MPIJOB_SSH_ENTROPY];

	for (size_t i = 0; i < sizeof(entropy); i++)
		entropy[i] = (uint8_t)(i * 7 + 1);
	need(!mpijob_plan_write_body(made, index, entropy, sizeof(entropy), write, user),
	    "mpijob_plan_write_body");
}

static void first(struct work *work, int secret)
{
	mpijob_plan *made = plan(work);

	for (size_t i = 0; i < mpijob_plan_get_result(made)->actions_count; i++) {
		const struct mpijob_action *action = mpijob_plan_at(made, i);

		if (action->verb == MPIJOB_ACTION_CREATE &&
		    (secret || action->role != MPIJOB_ROLE_SECRET))
			write_body(made, i, count, &work->bytes);
	}
	mpijob_plan_free(made);
}

static void do_first(struct work *work)
{
	first(work, 1);
}

static void do_keyless(struct work *work)
{
	first(work, 0);
}

static void do_unchanged(struct work *work)
{
	mpijob_plan *made = plan(work);

	need(mpijob_plan_get_result(made)->actions_count == 0, "a plan with nothing to do");
	mpijob_plan_free(made);
}

/* What an API server, kubelets and the Job controller would make of it: pods run. */
static void feed(struct work *work, mpijob_observation *observation, mpijob_doc *doc)
{
	const struct mpijob_observed *observed;
	mpijob_text *text = mpijob_text_new();
	mpijob_node *metadata = mpijob_doc_edit(doc, "metadata");
	const char *name = mpijob_node_string(mpijob_node_get(metadata, "name"));
	const char *kind = mpijob_node_string(mpijob_node_get(mpijob_doc_root(doc), "kind"));

	need(text && mpijob_node_put_string(doc, metadata, "uid", name), "mpijob_node_put_string");
	if (strcmp(kind, "Pod") == 0) {
		static const char status[] =
		    "{\"status\":{\"phase\":\"Running\",\"startTime\":\"2026-09-21T14:00:00Z\","
		    "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}";
		mpijob_doc *patch = NULL;

		need(!mpijob_doc_parse(status, sizeof(status) - 1, NULL, &patch, NULL),
		    "mpijob_doc_parse");
		need(!mpijob_doc_merge(doc, mpijob_doc_root(patch)), "mpijob_doc_merge");
		mpijob_doc_free(patch);
	}
	need(!mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write,
		 text),
	    "mpijob_node_write");
	need(!mpijob_observe(observation, mpijob_text_data(text), mpijob_text_len(text), &observed,
		 NULL),
	    "mpijob_observe");
	need(mpijob_facts_apply(work->facts, observed) >= 0, "mpijob_facts_apply");
	mpijob_text_free(text);
}

static mpijob_doc *body(const mpijob_plan *made, size_t index)
{
	mpijob_text *text = mpijob_text_new();
	mpijob_doc *doc = NULL;

	need(text != NULL, "memory");
	write_body(made, index, mpijob_text_write, text);
	need(!mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &doc, NULL),
	    "mpijob_doc_parse");
	mpijob_text_free(text);
	return doc;
}

static void carry_out(struct work *work, mpijob_observation *observation, const mpijob_plan *made,
    mpijob_doc **config_map)
{
	for (size_t i = 0; i < mpijob_plan_get_result(made)->actions_count; i++) {
		const struct mpijob_action *action = mpijob_plan_at(made, i);
		mpijob_doc *doc;

		if (action->verb != MPIJOB_ACTION_CREATE && action->verb != MPIJOB_ACTION_PATCH)
			continue;
		doc = body(made, i);
		if (action->verb == MPIJOB_ACTION_CREATE) {
			feed(work, observation, doc);
		} else {
			need(action->role == MPIJOB_ROLE_CONFIG_MAP && *config_map,
			    "a patch of the ConfigMap");
			need(!mpijob_doc_merge(*config_map, mpijob_doc_root(doc)),
			    "mpijob_doc_merge");
			feed(work, observation, *config_map);
		}
		if (action->verb == MPIJOB_ACTION_CREATE && action->role == MPIJOB_ROLE_CONFIG_MAP)
			*config_map = doc;
		else
			mpijob_doc_free(doc);
	}
	need(!mpijob_status_set(work->job, mpijob_plan_get_result(made)->status, NULL),
	    "mpijob_status_set");
}

/* Let all of a job come into being. */
static void settle(struct work *work)
{
	mpijob_observation *observation = mpijob_observation_new();
	mpijob_doc *config_map = NULL;
	size_t left = 1;

	need(observation != NULL, "memory");
	for (int i = 0; left && i < 10; i++) {
		mpijob_plan *made = plan(work);

		left = mpijob_plan_get_result(made)->actions_count;
		carry_out(work, observation, made, &config_map);
		mpijob_plan_free(made);
	}
	need(!left, "an end of planning");
	mpijob_doc_free(config_map);
	mpijob_observation_free(observation);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*once)(struct work *work);
	} kinds[] = { { "parse", do_parse }, { "first", do_first }, { "keyless", do_keyless },
		{ "unchanged", do_unchanged } };
	struct work work = { NULL, 0, NULL, NULL, 0 };
	void (*once)(struct work *) = NULL;
	size_t before, bytes;
	double begun, spent;
	int jobs = 0;

	for (size_t i = 0; argc == 4 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			once = kinds[i].once;
	need(once != NULL, "usage: bench-core parse|first|keyless|unchanged FILE MILLISECONDS");
	read_file(&work, argv[2]);
	work.facts = mpijob_facts_new();
	work.job = parse(&work);
	need(work.facts != NULL, "memory");
	if (once == do_unchanged)
		settle(&work);
	once(&work);
	work.bytes = 0;
	before = allocations;
	bytes = allocated;
	begun = cpu_ms();
	do {
		once(&work);
		jobs++;
		spent = cpu_ms() - begun;
	} while (spent < atof(argv[3]));
	printf("{\"jobs\":%d,\"ms\":%.3f,\"allocations\":%.0f,\"allocated\":%.0f,\"peak\":%ld,"
	       "\"files\":%ld,"
	       "\"written\":%.0f}\n",
	    jobs, spent, (double)(allocations - before) / jobs, (double)(allocated - bytes) / jobs,
	    status_kib("VmHWM:") * 1024, status_kib("RssFile:") * 1024, (double)work.bytes / jobs);
	mpijob_free(work.job);
	mpijob_facts_free(work.facts);
	free(work.text);
	return 0;
}
