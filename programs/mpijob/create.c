/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command create: writes a job from a few options. Knows the default of each option. The
 * library validates the job before it is printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "create.h"
#include "base/utf8.h"
#include "findings.h"
#include "print.h"

static int usage_error(const char *text)
{
	print_to(stderr, "mpijob create: %s\n", text);
	return EXIT_USAGE;
}

static int32_t number(struct given given, int32_t otherwise)
{
	return given.is ? (int32_t)given.value : otherwise;
}

static int words_add(struct words *words, const char *word)
{
	const char **items =
	    word ? realloc(words->items, (words->count + 1) * sizeof(*items)) : NULL;

	if (!items)
		return MPIJOB_ERR_NOMEM;
	words->items = items;
	words->items[words->count++] = word;
	return 0;
}

/* The position of a word in `words`, from 1; 0 if it is not there, or NULL. */
static int choose(const char *word, const char *const *words)
{
	for (int i = 0; word && words[i]; i++)
		if (strcmp(word, words[i]) == 0)
			return i + 1;
	return 0;
}

static int take_choices(struct create *c)
{
	static const char *const mpis[] = { "openmpi", "intel", "mpich", NULL };
	static const char *const tools[] = { "mpirun", "mpiexec", "horovodrun", "deepspeed", NULL };
	const struct create_words *given = &c->arguments->create;

	c->mpi = given->mpi ? choose(given->mpi, mpis) : MPIJOB_OPENMPI;
	c->tool = given->tool ? choose(given->tool, tools) : MPIJOB_LAUNCH_MPIRUN;
	if (c->mpi == 0)
		return usage_error("--mpi: use openmpi, intel or mpich");
	return c->tool == 0 ? usage_error("--tool: use mpirun, mpiexec, horovodrun or deepspeed")
			    : 0;
}

static int take_program(struct create *c)
{
	char **given = c->arguments->program;

	if (given && *given)
		c->program = (const char *const *)given;
	else if (c->template_)
		c->program = c->template_->program;
	else
		return usage_error(
		    "say what to run: mpijob create NAME --image IMAGE -- PROGRAM [ARG...]");
	c->compiles = !(given && *given) && c->template_->source;
	while (c->program[c->program_count])
		c->program_count++;
	return 0;
}

static int take_numbers(struct create *c)
{
	const struct create_words *given = &c->arguments->create;
	int works = given->launcher_works;

	c->workers = number(given->workers, 2);
	c->gpus = number(given->gpus, c->template_ ? c->template_->gpus : 0);
	c->slots = number(given->slots, c->gpus > 0 ? c->gpus : 1);
	if ((c->workers == 0 && !works) || c->slots == 0)
		return usage_error("a job needs at least one host with one slot");
	if (c->gpus > 0 && c->slots > c->gpus)
		return usage_error(
		    "--slots: more ranks than a worker has GPUs would share them; give "
		    "at most as many slots as GPUs, or change slotsPerWorker and -np "
		    "in the file when that is meant");
	return 0;
}

static int is_utf8(const char *text)
{
	return mpijob__base_utf8_valid(text, strlen(text), NULL);
}

/* YAML cannot contain other bytes. */
static int check_encoding(const struct create *c)
{
	const struct words *env = &c->arguments->create.env;

	if (!is_utf8(c->name))
		return usage_error("the name is not UTF-8");
	if (c->arguments->namespace_ && !is_utf8(c->arguments->namespace_))
		return usage_error("--namespace: it is not UTF-8");
	if (!is_utf8(c->image))
		return usage_error("--image: it is not UTF-8");
	for (size_t i = 0; i < env->count; i++)
		if (!is_utf8(env->items[i]))
			return usage_error("--env: a variable is not UTF-8");
	for (size_t i = 0; i < c->program_count; i++)
		if (!is_utf8(c->program[i]))
			return usage_error("a word of the program is not UTF-8");
	return 0;
}

static int take_words(struct create *c, const struct arguments *arguments)
{
	const struct create_words *given = &arguments->create;

	c->arguments = arguments;
	c->template_ = given->template_ ? create_template_find(given->template_) : NULL;
	if (given->template_ && !c->template_) {
		print_to(stderr, "mpijob create: --template %s: use pi, osu or nccl\n",
		    given->template_);
		return EXIT_USAGE;
	}
	if (arguments->operands.count > 1)
		return usage_error("it takes one name; the program follows --");
	c->name = arguments->operands.count ? arguments->operands.items[0]
		  : c->template_            ? c->template_->name
					    : NULL;
	if (!c->name)
		return usage_error(
		    "name the job: mpijob create NAME --image IMAGE -- PROGRAM [ARG...]");
	c->image = given->image;
	if (!c->image || !*c->image)
		return usage_error("name the image: --image IMAGE");
	int code = take_program(c);
	if (code == 0)
		code = check_encoding(c);
	if (code == 0)
		code = take_choices(c);
	return code ? code : take_numbers(c);
}

static int is_given(const struct words *given, const char *entry)
{
	size_t len = strcspn(entry, "=");

	for (size_t i = 0; i < given->count; i++)
		if (strcspn(given->items[i], "=") == len &&
		    strncmp(given->items[i], entry, len) == 0)
			return 1;
	return 0;
}

/* The variables, and their names without values. The user's variables replace those of the
 * template. */
static int take_env(struct create *c)
{
	const struct words *given = &c->arguments->create.env;
	int code = 0;

	for (size_t i = 0; c->template_ && c->template_->env && c->template_->env[i] && code == 0;
	     i++)
		if (!is_given(given, c->template_->env[i]))
			code = words_add(&c->env, c->template_->env[i]);
	for (size_t i = 0; i < given->count && code == 0; i++)
		code = words_add(&c->env, given->items[i]);
	for (size_t i = 0; i < c->env.count && code == 0; i++) {
		char *name = strndup(c->env.items[i], strcspn(c->env.items[i], "="));
		code = words_add(&c->forward, name);
		if (code)
			free(name);
	}
	return code;
}

/* Make the launch command from a job that has only hosts and slots. */
static int make_launch(struct create *c, mpijob_diag *diag)
{
	const struct create_words *given = &c->arguments->create;
	struct mpijob_launch_options options = MPIJOB_LAUNCH_OPTIONS_INIT;
	struct mpijob_replica_spec worker = MPIJOB_REPLICA_SPEC_INIT;
	struct mpijob_spec spec = MPIJOB_SPEC_INIT;
	mpijob *job = NULL;

	worker.replicas = &c->workers;
	spec.worker = &worker;
	spec.slots_per_worker = &c->slots;
	spec.run_launcher_as_worker = &given->launcher_works;
	spec.mpi_implementation = c->mpi;
	options.tool = c->tool;
	options.elastic = given->elastic;
	options.backend = given->backend;
	options.env = c->forward.items;
	options.env_count = c->forward.count;
	options.known = c->env.items;
	options.known_count = c->env.count;
	if (c->gpus > 0 && c->tool <= MPIJOB_LAUNCH_MPIEXEC)
		options.bind_to = "none";
	int code = mpijob_new(c->name, NULL, &spec, &job, diag);
	if (code == 0)
		code = mpijob_launch_new(job, c->program, c->program_count, &options, &c->launch,
		    diag);
	mpijob_free(job);
	return code;
}

/* The library must accept what is written. */
static int check(const mpijob_text *text, mpijob_diag *diag)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_docs *docs = NULL;
	mpijob *job = NULL;

	int code =
	    mpijob_docs_parse(mpijob_text_data(text), mpijob_text_len(text), &options, &docs, diag);
	if (code == 0)
		code = mpijob_from_node(mpijob_doc_root(mpijob_docs_at(docs, 0)), NULL, &job, diag);
	if (code == 0)
		code = mpijob_default(job, NULL, diag);
	if (code == 0)
		code = mpijob_validate(job, NULL, diag);
	mpijob_free(job);
	mpijob_docs_free(docs);
	return code;
}

static void free_all(struct create *c)
{
	for (size_t i = 0; i < c->forward.count; i++)
		free((char *)c->forward.items[i]);
	free(c->forward.items);
	free(c->env.items);
	mpijob_launch_free(c->launch);
}

int create_command(const struct arguments *arguments)
{
	struct create create = { 0 };
	int code = take_words(&create, arguments);
	if (code)
		return code;

	mpijob_diag *diag = mpijob_diag_new();
	mpijob_text *text = mpijob_text_new();
	code = diag && text ? take_env(&create) : MPIJOB_ERR_NOMEM;
	if (code == 0)
		code = make_launch(&create, diag);
	if (code == 0)
		code = create_write(&create, text);
	if (code == 0)
		code = check(text, diag);
	findings_print(diag, stderr);
	failure_print(diag, code);
	if (code == 0)
		file_write(stdout, mpijob_text_data(text), mpijob_text_len(text));
	mpijob_text_free(text);
	mpijob_diag_free(diag);
	free_all(&create);
	return code == MPIJOB_ERR_UNSUPPORTED || code == MPIJOB_ERR_USAGE ? EXIT_USAGE
	       : code                                                     ? EXIT_FINDINGS
									  : 0;
}
