/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command convert: MPIJobs of the files in another version; what else is in the files passes
 * through.
 */
#include <stdio.h>

#include "findings.h"
#include "input.h"
#include "output.h"

static int convert_one(const struct arguments *arguments, const struct input_object *object,
    struct output *output, mpijob_diag *diag)
{
	struct mpijob_convert_options options = MPIJOB_CONVERT_OPTIONS_INIT;
	mpijob_doc *converted = NULL;

	if (!mpijob_is_job(object->node))
		return output_put(output, object->node);
	options.no_annotation = arguments->no_annotation;
	options.runtime = arguments->runtime;
	int code =
	    mpijob_convert(object->node, object->source, arguments->to, &options, &converted, diag);
	if (code == 0)
		code = output_put(output, mpijob_doc_root(converted));
	mpijob_doc_free(converted);
	return code;
}

static int convert_all(const struct arguments *arguments, struct output *output, mpijob_diag *diag)
{
	struct input input;
	int result = input_read(&arguments->operands, &input, diag);
	size_t jobs = 0;

	for (size_t i = 0; i < input.count; i++) {
		int code = convert_one(arguments, &input.objects[i], output, diag);
		jobs += (size_t)mpijob_is_job(input.objects[i].node);
		result = result ? result : code;
	}
	if (jobs == 0 && result == 0)
		result = findings_add(diag, MPIJOB_ERR_NOT_FOUND, arguments->operands.items[0],
		    "no-job", "no MPIJob in here");
	input_free(&input);
	return result;
}

int convert_command(const struct arguments *arguments)
{
	struct output output = { .format = MPIJOB_FORMAT_YAML };

	if (output_format(arguments->output, &output.format))
		return EXIT_USAGE;
	if (!arguments->to || arguments->operands.count == 0) {
		fputs(arguments->to ? "mpijob: name a file, a directory, or - for standard input\n"
				    : "mpijob: say --to v2beta1, v1 or TrainJob\n",
		    stderr);
		return EXIT_USAGE;
	}
	mpijob_diag *diag = mpijob_diag_new();
	int code = diag ? convert_all(arguments, &output, diag) : MPIJOB_ERR_NOMEM;
	int printed = output_end(&output);
	code = code ? code : printed;
	findings_print(diag, stderr);
	failure_print(diag, code);
	mpijob_diag_free(diag);
	return code ? EXIT_FINDINGS : 0;
}
