/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how kubectl names an object in one line (kind in lower case, group unless it is the core's,
 * name), and which fields it leaves out of a whole object.
 */
#include <string.h>

#include "findings.h"
#include "print.h"
#include "stored.h"

int stored_form(const struct arguments *arguments)
{
	const char *form = arguments->output;

	if (!form || strcmp(form, "name") == 0 || strcmp(form, "yaml") == 0 ||
	    strcmp(form, "json") == 0)
		return 0;
	print_to(stderr, "mpijob: -o %s: unknown format; use name, yaml or json\n", form);
	return EXIT_USAGE;
}

const char *stored_suffix(const struct arguments *arguments)
{
	switch (arguments->dry_run) {
	case DRY_RUN_CLIENT: return " (dry run)";
	case DRY_RUN_SERVER: return " (server dry run)";
	default: return "";
	}
}

void stored_print_name(const mpijob_node *object, FILE *stream)
{
	const char *kind = mpijob_node_string(mpijob_node_get(object, "kind"));
	const char *version = mpijob_node_string(mpijob_node_get(object, "apiVersion"));
	const char *name = mpijob_node_string(mpijob_node_find(object, "metadata.name"));
	const char *slash = version ? strchr(version, '/') : NULL;

	if (!name)
		name = mpijob_node_string(mpijob_node_find(object, "metadata.generateName"));
	for (const char *at = kind ? kind : ""; *at; at++)
		print_to(stream, "%c", *at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
	if (slash)
		print_to(stream, ".%.*s", (int)(slash - version), version);
	print_to(stream, "/%s", name ? name : "");
}

static int print_whole(const mpijob_node *object, int32_t format)
{
	mpijob_doc *doc = mpijob_doc_from_node(object, NULL);
	mpijob_node *metadata = mpijob_node_edit(mpijob_doc_edit(doc, ""), "metadata");

	if (metadata)
		mpijob_node_remove(metadata, "managedFields");
	int code = mpijob_doc_error(doc);
	if (code == 0)
		code = mpijob_node_write(mpijob_doc_root(doc), format, file_write, stdout);
	mpijob_doc_free(doc);
	return code;
}

int stored_print(const struct arguments *arguments, const mpijob_node *object, const char *done,
    size_t *printed)
{
	const char *form = arguments->output;
	int is_json = form && strcmp(form, "json") == 0;
	int code = 0;

	if (form && strcmp(form, "name") != 0) {
		if (!is_json && (*printed)++)
			puts("---");
		code = print_whole(object, is_json ? MPIJOB_FORMAT_JSON : MPIJOB_FORMAT_YAML);
	} else {
		stored_print_name(object, stdout);
		if (!form)
			print_out(" %s%s", done, stored_suffix(arguments));
		putchar('\n');
	}
	fflush(stdout);
	return code;
}
