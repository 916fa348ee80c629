/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands that print a result for files and change nothing: validate, default, render.
 */
#include <stdlib.h>
#include <string.h>

#include "base/api.h"
#include "base/random.h"
#include "findings.h"
#include "input.h"
#include "options.h"
#include "print.h"
#include "output.h"

enum output_kind { OUTPUT_TEXT, OUTPUT_YAML, OUTPUT_JSON, OUTPUT_NAME };

static int output_read(const char *name, enum output_kind *output)
{
	static const char *const names[] = { "", "yaml", "json", "name" };

	for (size_t i = OUTPUT_YAML; name && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0) {
			*output = (enum output_kind)i;
			return 0;
		}
	}
	if (!name)
		return 0;
	print_to(stderr, "mpijob: -o %s: unknown format; use yaml, json or name\n", name);
	return EXIT_USAGE;
}

/* The state of a command: its files, findings and output. */
struct task {
	const struct arguments *arguments;
	struct input input;
	mpijob_diag *diag;
	enum output_kind output;
	size_t jobs;      /* MPIJobs in the input */
	size_t printed;   /* documents printed so far */
	int read_code;    /* the result of reading the input */
	mpijob_doc *list; /* default -o json: the jobs, as a v1 List */
};

static int task_begin(struct task *task, const struct arguments *arguments,
    enum output_kind fallback)
{
	*task = (struct task){ .arguments = arguments, .output = fallback };
	if (output_read(arguments->output, &task->output))
		return EXIT_USAGE;
	if (arguments->operands.count == 0) {
		fputs("mpijob: name a file, a directory, or - for standard input\n", stderr);
		return EXIT_USAGE;
	}
	task->diag = mpijob_diag_new();
	if (!task->diag) {
		failure_print(NULL, MPIJOB_ERR_NOMEM);
		return EXIT_FINDINGS;
	}
	if (findings_choose(task->diag, arguments)) {
		mpijob_diag_free(task->diag);
		return EXIT_USAGE;
	}
	task->read_code = input_read(&arguments->operands, &task->input, task->diag);
	for (size_t i = 0; i < task->input.count; i++)
		task->jobs += (size_t)mpijob_is_job(task->input.objects[i].node);
	return 0;
}

static void task_end(struct task *task)
{
	input_free(&task->input);
	mpijob_doc_free(task->list);
	mpijob_diag_free(task->diag);
}

typedef int (*job_fn)(struct task *task, mpijob *job);

/* Call `each` with every MPIJob, defaulted; continue after one that is rejected. Returns the first
 * code. */
static int for_each_job(struct task *task, job_fn each)
{
	int result = task->read_code;

	for (size_t i = 0; i < task->input.count; i++) {
		const struct input_object *object = &task->input.objects[i];
		mpijob *job = NULL;
		if (!mpijob_is_job(object->node))
			continue;
		int code = input_job(object, task->arguments, &job, task->diag);
		if (code == 0)
			code = each(task, job);
		if (code && !result)
			result = code;
		mpijob_free(job);
	}
	if (task->jobs == 0 && result == 0)
		result = findings_add(task->diag, MPIJOB_ERR_NOT_FOUND,
		    task->arguments->operands.items[0], "no-job", "no MPIJob in here");
	return result;
}

static int check(struct task *task, const mpijob *job)
{
	struct mpijob_validate_options options = MPIJOB_VALIDATE_OPTIONS_INIT;
	options.reference = task->arguments->reference;
	options.strict = task->arguments->strict;
	return mpijob_validate(job, &options, task->diag);
}

static const char *name_of(const mpijob *job)
{
	return mpijob_name(job) ? mpijob_name(job) : "(no name)";
}

/* ---- validate ---- */

static int validate_one(struct task *task, mpijob *job)
{
	int code = check(task, job);

	if (code == 0 && task->output == OUTPUT_NAME)
		print_out("mpijob." MPIJOB__BASE_API_GROUP "/%s\n", name_of(job));
	return code;
}

int validate_command(const struct arguments *arguments)
{
	struct task task;
	int code = task_begin(&task, arguments, OUTPUT_TEXT);
	if (code)
		return code;

	code = for_each_job(&task, validate_one);
	size_t errors = mpijob_diag_count(task.diag, MPIJOB_SEVERITY_ERROR);
	if (task.output == OUTPUT_JSON) {
		int printed = findings_print_json(task.diag);
		code = code ? code : printed;
	} else {
		findings_print_named(task.diag, task.output == OUTPUT_NAME ? stderr : stdout);
	}
	failure_print(task.diag, code);
	if (task.output == OUTPUT_TEXT)
		print_to(stderr, "%zu job%s, %zu error%s, %zu warning%s\n", task.jobs,
		    task.jobs == 1 ? "" : "s", errors, errors == 1 ? "" : "s",
		    mpijob_diag_count(task.diag, MPIJOB_SEVERITY_WARNING),
		    mpijob_diag_count(task.diag, MPIJOB_SEVERITY_WARNING) == 1 ? "" : "s");
	task_end(&task);
	return code ? EXIT_FINDINGS : 0;
}

/* ---- default ---- */

static int default_one(struct task *task, mpijob *job)
{
	const mpijob_node *root = mpijob_doc_root(mpijob_document(job));

	switch (task->output) {
	case OUTPUT_NAME:
		print_out("mpijob." MPIJOB__BASE_API_GROUP "/%s\n", name_of(job));
		return 0;
	case OUTPUT_JSON:
		mpijob_node_append(task->list, mpijob_doc_edit(task->list, "items"),
		    mpijob_node_copy(task->list, root));
		return mpijob_doc_error(task->list);
	default:
		if (task->printed++)
			puts("---");
		return mpijob_node_write(root, MPIJOB_FORMAT_YAML, file_write, stdout);
	}
}

/* One job is printed as it is, several as a List. */
static int list_print(const struct task *task)
{
	const mpijob_node *root = mpijob_doc_root(task->list);
	const mpijob_node *items = mpijob_node_get(root, "items");

	if (mpijob_node_count(items) == 0)
		return 0;
	return mpijob_node_write(mpijob_node_count(items) == 1 ? mpijob_node_at(items, 0) : root,
	    MPIJOB_FORMAT_JSON, file_write, stdout);
}

int default_command(const struct arguments *arguments)
{
	struct task task;
	int code = task_begin(&task, arguments, OUTPUT_YAML);
	if (code)
		return code;

	if (task.output == OUTPUT_JSON)
		task.list = output_list_new();
	code = for_each_job(&task, default_one);
	if (task.list) {
		int printed =
		    mpijob_doc_error(task.list) ? mpijob_doc_error(task.list) : list_print(&task);
		code = code ? code : printed;
	}
	findings_print(task.diag, stderr);
	failure_print(task.diag, code);
	task_end(&task);
	return code ? EXIT_FINDINGS : 0;
}

/* ---- render ---- */

/* The PriorityClasses of the command line and of the files. */
struct classes {
	struct mpijob_priority_class *items;
	const struct mpijob_priority_class **pointers;
	char **names; /* copies of the names on the command line */
	size_t names_count;
	size_t count;
};

static void classes_free(struct classes *classes)
{
	for (size_t i = 0; i < classes->names_count; i++)
		free(classes->names[i]);
	free(classes->names);
	free(classes->items);
	free(classes->pointers);
}

static int class_add(struct classes *classes, const char *name, int64_t value)
{
	if (value < INT32_MIN || value > INT32_MAX)
		return MPIJOB_ERR_USAGE;
	classes->pointers[classes->count] = &classes->items[classes->count];
	classes->items[classes->count++] =
	    (struct mpijob_priority_class){ sizeof(struct mpijob_priority_class), name,
		    (int32_t)value, 0 };
	return 0;
}

/* NAME=VALUE */
static int class_parse(struct classes *classes, const char *word)
{
	const char *equals = strrchr(word, '=');
	char *end = NULL;
	long long value = equals ? strtoll(equals + 1, &end, 10) : 0;

	if (!equals || equals == word || end == equals + 1 || *end) {
		print_to(stderr,
		    "mpijob: --priority-class %s: write NAME=VALUE, for example high=1000\n", word);
		return MPIJOB_ERR_USAGE;
	}
	char *name = strndup(word, (size_t)(equals - word));
	if (!name)
		return MPIJOB_ERR_NOMEM;
	classes->names[classes->names_count++] = name;
	return class_add(classes, name, value);
}

static int classes_collect(struct classes *classes, const struct arguments *arguments,
    const struct input *input)
{
	size_t most = arguments->priority_classes.count + input->count + 1;
	int code = 0;

	classes->items = calloc(most, sizeof(*classes->items));
	classes->pointers = calloc(most, sizeof(*classes->pointers));
	classes->names = calloc(most, sizeof(*classes->names));
	if (!classes->items || !classes->pointers || !classes->names)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < arguments->priority_classes.count && code == 0; i++)
		code = class_parse(classes, arguments->priority_classes.items[i]);
	for (size_t i = 0; i < input->count && code == 0; i++) {
		const mpijob_node *node = input->objects[i].node;
		const char *name = mpijob_node_string(mpijob_node_find(node, "metadata.name"));
		int64_t value = 0;
		if (input_is(&input->objects[i], NULL, "PriorityClass") && name &&
		    mpijob_node_int(mpijob_node_get(node, "value"), &value))
			code = class_add(classes, name, value);
	}
	return code;
}

static int print_names(mpijob_objects *objects)
{
	for (size_t i = 0; i < mpijob_objects_count(objects); i++) {
		struct mpijob_object_head head = MPIJOB_OBJECT_HEAD_INIT;
		int code = mpijob_objects_head(objects, i, &head);
		if (code)
			return code;
		/* kubectl's form: the kind in lower case, then the group. */
		const char *slash = strchr(head.api_version, '/');
		for (const char *at = head.kind; *at; at++)
			print_out("%c", *at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
		if (slash)
			print_out(".%.*s", (int)(slash - head.api_version), head.api_version);
		print_out("/%s\n", head.name);
	}
	return 0;
}

/* Print the children as entries of the one List of several jobs. */
static int print_items(struct task *task, const mpijob_objects *objects)
{
	int code = 0;

	for (size_t i = 0; i < mpijob_objects_count(objects) && code == 0; i++) {
		fputs(task->printed++ ? ",\n" : "\n", stdout);
		code = mpijob_objects_write(objects, i, MPIJOB_FORMAT_JSON_COMPACT,
		    task->arguments->with_key, file_write, stdout);
	}
	return code;
}

static int print_objects(struct task *task, mpijob_objects *objects)
{
	int with_key = task->arguments->with_key;

	if (task->output == OUTPUT_NAME)
		return print_names(objects);
	if (task->output == OUTPUT_JSON && task->jobs > 1)
		return print_items(task, objects);
	if (task->output == OUTPUT_YAML && task->printed++)
		puts("---");
	return mpijob_objects_write(objects, MPIJOB_OBJECTS_ALL,
	    task->output == OUTPUT_JSON ? MPIJOB_FORMAT_JSON : MPIJOB_FORMAT_YAML, with_key,
	    file_write, stdout);
}

static int render_options(const struct task *task, const struct classes *classes, uint8_t *entropy,
    struct mpijob_render_options *options)
{
	const struct arguments *arguments = task->arguments;

	options->reference = arguments->reference;
	options->cluster_domain = arguments->cluster_domain;
	options->features = options_features(arguments);
	options->gang_scheduler = arguments->gang_scheduling;
	options->priority_classes = classes->pointers;
	options->priority_classes_count = classes->count;
	if (!arguments->with_key)
		return 0;
	if (mpijob__base_random_fill(entropy, MPIJOB_SSH_ENTROPY))
		return findings_add(task->diag, MPIJOB_ERR_IO, NULL, "no-entropy",
		    "the kernel gives no random bytes");
	options->entropy = entropy;
	options->entropy_len = MPIJOB_SSH_ENTROPY;
	return 0;
}

static int render_one(struct task *task, mpijob *job)
{
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	struct classes classes = { 0 };
	uint8_t entropy[MPIJOB_SSH_ENTROPY];
	mpijob_objects *objects = NULL;

	int code = input_generate_name(job, 1);
	if (code == 0)
		code = check(task, job);
	if (code == 0 && task->arguments->uid)
		code = mpijob_identify(job, NULL, NULL, task->arguments->uid);
	if (code == 0)
		code = classes_collect(&classes, task->arguments, &task->input);
	if (code == 0)
		code = render_options(task, &classes, entropy, &options);
	if (code == 0)
		code = mpijob_render(job, &options, &objects, task->diag);
	explicit_bzero(entropy, sizeof(entropy));
	if (code == 0)
		code = print_objects(task, objects);
	mpijob_objects_free(objects);
	classes_free(&classes);
	return code;
}

int render_command(const struct arguments *arguments)
{
	struct task task;
	int code = task_begin(&task, arguments, OUTPUT_YAML);
	if (code)
		return code;

	int in_list = task.output == OUTPUT_JSON && task.jobs > 1;
	if (in_list)
		fputs("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[", stdout);
	code = for_each_job(&task, render_one);
	if (in_list)
		puts("\n]}");
	findings_print_named(task.diag, stderr);
	failure_print(task.diag, code);
	task_end(&task);
	return code == MPIJOB_ERR_USAGE ? EXIT_USAGE : code ? EXIT_FINDINGS : 0;
}
