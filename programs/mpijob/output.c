/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints documents. Knows that JSON output is one value: one document is printed as it is, several
 * as one List.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "findings.h"
#include "output.h"
#include "print.h"

int output_format(const char *name, int32_t *format)
{
	if (!name)
		return 0;
	if (strcmp(name, "yaml") == 0)
		*format = MPIJOB_FORMAT_YAML;
	else if (strcmp(name, "json") == 0)
		*format = MPIJOB_FORMAT_JSON;
	else {
		print_to(stderr, "mpijob: -o %s: this command prints yaml or json\n", name);
		return EXIT_USAGE;
	}
	return 0;
}

mpijob_doc *output_list_new(void)
{
	mpijob_doc *list = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(list, "");

	mpijob_node_put_string(list, root, "apiVersion", "v1");
	mpijob_node_put_string(list, root, "kind", "List");
	mpijob_node_put_list(list, root, "items");
	return list;
}

int output_put(struct output *output, const mpijob_node *node)
{
	if (output->format != MPIJOB_FORMAT_JSON) {
		if (output->count++)
			puts("---");
		return mpijob_node_write(node, MPIJOB_FORMAT_YAML, file_write, stdout);
	}
	if (!output->list)
		output->list = output_list_new();
	output->count++;
	mpijob_node_append(output->list, mpijob_doc_edit(output->list, "items"),
	    mpijob_node_copy(output->list, node));
	return mpijob_doc_error(output->list);
}

int output_end(struct output *output)
{
	int code = output->list ? mpijob_doc_error(output->list) : 0;

	if (code == 0 && output->list) {
		const mpijob_node *root = mpijob_doc_root(output->list),
				  *items = mpijob_node_get(root, "items");
		code = mpijob_node_write(output->count == 1 ? mpijob_node_at(items, 0) : root,
		    MPIJOB_FORMAT_JSON, file_write, stdout);
	}
	mpijob_doc_free(output->list);
	output->list = NULL;
	return code;
}
