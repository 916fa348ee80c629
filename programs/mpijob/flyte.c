/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command flyte: the MPIJob of a Flyte task. Knows the files with Flyte's configuration and the
 * facts of an execution, the names of repairs on the command line, and that a job for v2beta1 is
 * validated.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "findings.h"
#include "input.h"
#include "output.h"
#include "print.h"

#include <mpijob/flyte.h>

struct making {
	const struct arguments *arguments;
	struct mpijob_flyte_config config;
	struct mpijob_flyte_execution execution;
	struct mpijob_flyte_options options;
	uint32_t repairs;
	struct output output;
	mpijob_diag *diag;
};

/* The only document of a file; `file` owns it. */
static int read_one(const char *name, struct input *file, const mpijob_node **out,
    mpijob_diag *diag)
{
	struct words words = { &name, 1 };
	int code = input_read(&words, file, diag);

	if (!code && file->count != 1)
		return findings_add(diag, MPIJOB_ERR_SPEC, name, "flyte-task",
		    "must hold one document, not %zu", file->count);
	if (!code)
		*out = file->objects[0].node;
	return code;
}

/* One name of the list that begins at `name`; 0 when there is no such repair. */
static uint32_t repair_find(const char *name, size_t len)
{
	for (size_t i = 0; i < mpijob_flyte_repair_count(); i++) {
		const struct mpijob_flyte_repair *repair = mpijob_flyte_repair_at(i);

		if (strlen(repair->name) == len && memcmp(repair->name, name, len) == 0)
			return repair->flag;
	}
	return 0;
}

/* "all", "none", or names, separated by commas. Returns 0, or prints an error and returns
 * EXIT_USAGE. */
static int repairs_read(const char *list, uint32_t *out)
{
	*out = mpijob__base_text_is(list, "all") ? UINT32_MAX : 0;
	if (*out || mpijob__base_text_is(list, "none"))
		return 0;
	while (*list) {
		size_t len = strcspn(list, ",");
		uint32_t flag = repair_find(list, len);

		if (!flag) {
			print_to(stderr,
			    "mpijob: --repair: no repair is called '%.*s'; use all, none", (int)len,
			    list);
			for (size_t i = 0; i < mpijob_flyte_repair_count(); i++)
				print_to(stderr, ", %s", mpijob_flyte_repair_at(i)->name);
			fputs("\n", stderr);
			return EXIT_USAGE;
		}
		*out |= flag;
		list += len + (list[len] == ',');
	}
	return 0;
}

/* Report what an operator of v2beta1 would reject or warn of. */
static int check(struct making *making, const mpijob_node *node)
{
	mpijob *job = NULL;
	int code = mpijob_from_node(node, making->options.source, &job, making->diag);

	if (!code)
		code = mpijob_default(job, NULL, making->diag);
	if (!code)
		code = mpijob_validate(job, NULL, making->diag);
	mpijob_free(job);
	return code;
}

static int make_one(struct making *making, const struct input_object *object)
{
	const char *to = making->arguments->to ? making->arguments->to : "v2beta1";
	mpijob_doc *job = NULL;
	int code;

	making->options.source = object->source;
	code = mpijob_flyte_job(object->node, to, &making->options, &job, making->diag);
	if (!code)
		code = output_put(&making->output, mpijob_doc_root(job));
	if (!code && !mpijob__base_text_is(to, "v1"))
		code = check(making, mpijob_doc_root(job));
	mpijob_doc_free(job);
	return code;
}

static int make_all(struct making *making, const struct words *names)
{
	struct input input;
	int result = input_read(names, &input, making->diag);

	for (size_t i = 0; i < input.count; i++) {
		int code = make_one(making, &input.objects[i]);

		result = result ? result : code;
	}
	input_free(&input);
	return result;
}

/* Read the whole configuration of flytepropeller, or only its plugins.k8s. */
static int read_config(struct making *making, struct input *file)
{
	const mpijob_node *root = NULL, *section;
	int code = making->arguments->flyte_config
		       ? read_one(making->arguments->flyte_config, file, &root, making->diag)
		       : 0;

	if (code || !root)
		return code;
	section = mpijob_node_find(root, "plugins.k8s");
	return mpijob_flyte_config_read(section ? section : root, &making->config, making->diag);
}

static int read_execution(struct making *making, struct input *file)
{
	const mpijob_node *root = NULL;
	int code = making->arguments->flyte_execution
		       ? read_one(making->arguments->flyte_execution, file, &root, making->diag)
		       : 0;

	if (!code && root)
		code = mpijob_flyte_execution_read(root, &making->execution, making->diag);
	if (making->arguments->job)
		making->execution.name = making->arguments->job;
	if (making->arguments->namespace_)
		making->execution.namespace_ = making->arguments->namespace_;
	return code;
}

static int render(struct making *making, const struct words *names)
{
	struct input config = { 0 }, execution = { 0 };
	int code = read_config(making, &config), printed;

	if (!code)
		code = read_execution(making, &execution);
	if (!code)
		code = make_all(making, names);
	printed = output_end(&making->output);
	input_free(&config);
	input_free(&execution);
	return code ? code : printed;
}

int flyte_command(const struct arguments *arguments)
{
	struct making making = { .arguments = arguments,
		.config = MPIJOB_FLYTE_CONFIG_INIT,
		.execution = MPIJOB_FLYTE_EXECUTION_INIT,
		.options = MPIJOB_FLYTE_OPTIONS_INIT,
		.output = { .format = MPIJOB_FORMAT_YAML } };
	struct words names = { arguments->operands.items + 1, arguments->operands.count - 1 };
	int code;

	if (arguments->operands.count < 2 ||
	    !mpijob__base_text_is(arguments->operands.items[0], "render")) {
		fputs("mpijob: say 'mpijob flyte render' and name a file, a directory, or - for "
		      "standard input\n",
		    stderr);
		return EXIT_USAGE;
	}
	if (output_format(arguments->output, &making.output.format))
		return EXIT_USAGE;
	if (arguments->repairs && repairs_read(arguments->repairs, &making.repairs))
		return EXIT_USAGE;
	making.options.config = &making.config;
	making.options.execution = &making.execution;
	making.options.repairs = arguments->repairs ? &making.repairs : NULL;
	making.diag = mpijob_diag_new();
	code = making.diag ? render(&making, &names) : MPIJOB_ERR_NOMEM;
	findings_print(making.diag, stderr);
	failure_print(making.diag, code);
	mpijob_diag_free(making.diag);
	return code ? EXIT_FINDINGS : 0;
}
