/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command crd: the CRD that the library makes, as text for kubectl.
 */
#include <stdio.h>

#include <mpijob/mpijob.h>

#include "command.h"
#include "findings.h"
#include "output.h"
#include "print.h"

int crd_command(const struct arguments *arguments)
{
	struct mpijob_crd_options options = MPIJOB_CRD_OPTIONS_INIT;
	int32_t format = MPIJOB_FORMAT_YAML;
	mpijob_doc *doc = NULL;
	int code = output_format(arguments->output, &format);

	if (code)
		return code;
	if (arguments->operands.count) {
		print_to(stderr, "mpijob crd: %s: it takes no operands\n",
		    arguments->operands.items[0]);
		return EXIT_USAGE;
	}
	if (format == MPIJOB_FORMAT_JSON)
		format = MPIJOB_FORMAT_JSON_COMPACT;
	options.descriptions = arguments->full;
	code = mpijob_crd_new(&options, &doc);
	if (code == 0)
		code = mpijob_node_write(mpijob_doc_root(doc), format, file_write, stdout);
	if (code == 0 && format == MPIJOB_FORMAT_JSON_COMPACT)
		putchar('\n');
	mpijob_doc_free(doc);
	if (code)
		print_to(stderr, "mpijob: %s\n", mpijob_error_text(code));
	return code ? EXIT_FINDINGS : 0;
}
