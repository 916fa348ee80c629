/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command explain: knows how users write the path of a field (kubectl's dots, or the brackets
 * of findings), and how a row of the field table, or of the schema of pod templates, is printed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpijob/mpijob.h>

#include "base/api.h"
#include "findings.h"
#include "print.h"

static const char *kind_name(int32_t kind)
{
	static const char *const names[] = {
		[MPIJOB_KIND_STRING] = "string",
		[MPIJOB_KIND_INT32] = "int32",
		[MPIJOB_KIND_INT64] = "int64",
		[MPIJOB_KIND_BOOL] = "boolean",
		[MPIJOB_KIND_CHOICE] = "string",
		[MPIJOB_KIND_TIME] = "time",
		[MPIJOB_KIND_OBJECT] = "object",
		[MPIJOB_KIND_LIST] = "list of objects",
		[MPIJOB_KIND_DOCUMENT] = "object",
	};

	return names[kind];
}

static int is_digits(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return 0;
	return 1;
}

/* One step of a path, in dots or brackets; a list's index is left out. Returns 0 at the end. */
static int step_next(const char **path, const char **step, size_t *len)
{
	while (**path) {
		int bracket = **path == '[';
		if (bracket || **path == '.')
			(*path)++;
		*step = *path;
		*len = strcspn(*path, bracket ? "]" : ".[");
		*path += *len;
		if (bracket && **path == ']')
			(*path)++;
		if (*len && !is_digits(*step, *len))
			return 1;
	}
	return 0;
}

/* The length of the beginning of `path` that a row's path matches; 0 if it does not match. */
static size_t row_matches(const char *row, const char *path)
{
	const char *at = path, *step, *row_step;
	size_t len, row_len;

	while (step_next(&row, &row_step, &row_len)) {
		if (!step_next(&at, &step, &len) || len != row_len ||
		    strncmp(step, row_step, len) != 0)
			return 0;
	}
	return (size_t)(at - path);
}

/* The row with the longest match. */
static const struct mpijob_field *row_of(const char *path, size_t *matched)
{
	const struct mpijob_field *found = NULL;

	*matched = 0;
	for (size_t i = 0; mpijob_field_at(i); i++) {
		size_t len = row_matches(mpijob_field_at(i)->path, path);
		if (len > *matched) {
			*matched = len;
			found = mpijob_field_at(i);
		}
	}
	return found;
}

/* The rest of a path with dots only and without indices; the caller frees it. */
static char *rest_of(const char *path)
{
	char *rest = calloc(1, strlen(path) + 2), *end = rest;
	const char *step;
	size_t len;

	while (rest && step_next(&path, &step, &len)) {
		if (end != rest)
			*end++ = '.';
		memcpy(end, step, len);
		end += len;
	}
	return rest;
}

static int ends_in_template(const char *path)
{
	size_t len = strlen(path);
	return len > 9 && strcmp(path + len - 9, ".template") == 0;
}

static void print_head(const char *path, const char *type)
{
	print_out("KIND:     MPIJob\nVERSION:  kubeflow.org/v2beta1\n\nFIELD:    %s <%s>\n", path,
	    type);
}

/* ---- rows of the table ---- */

/* The last step of a path: what follows the path of its parent. */
static const char *child_name(const struct mpijob_field *parent, const struct mpijob_field *field)
{
	size_t len = parent ? strlen(parent->path) : 0;
	const char *name = field->path;

	if (parent && strncmp(field->path, parent->path, len) != 0)
		return NULL;
	name += len;
	if (parent && strncmp(name, "[].", 3) == 0)
		name += 3;
	else if (parent && *name == '.')
		name++;
	else if (parent && *name != '[')
		return NULL;
	if (*name == '\0' || strchr(name, '.') || (*name != '[' && strchr(name, '[')))
		return NULL;
	return *name == '[' && strchr(name + 1, '[') ? NULL : name;
}

static void print_children(const struct mpijob_field *parent)
{
	int any = 0;

	for (size_t i = 0; mpijob_field_at(i); i++) {
		const struct mpijob_field *field = mpijob_field_at(i);
		const char *name = child_name(parent, field);
		if (!name)
			continue;
		if (!any++)
			puts("\nFIELDS:");
		print_out("  %s <%s>\n      %s\n", name, kind_name(field->kind), field->summary);
	}
}

static void print_template_children(const char *path)
{
	struct mpijob_template_field field = MPIJOB_TEMPLATE_FIELD_INIT;
	static const char *const shapes[] = { "", "list of ", "map to " };

	for (size_t i = 0; mpijob_template_field_at(path, i, &field) == 1; i++) {
		if (i == 0)
			puts("\nFIELDS:");
		print_out("  %s <%s%s>%s%s\n", field.name, shapes[field.shape], field.type,
		    field.required ? " -required-" : "",
		    field.in_crd ? "" : " (not in the CRD of v0.8.2: the API server drops it)");
	}
}

static void print_row(const struct mpijob_field *field)
{
	print_head(field->path, kind_name(field->kind));
	print_out("\n  %s\n\n", field->summary);
	if (field->default_text)
		print_out("DEFAULT:  %s\n", field->default_text);
	if (field->minimum)
		printf("MINIMUM:  %" PRId64 "\n", *field->minimum);
	for (size_t i = 0; field->choices && field->choices[i]; i++)
		print_out("%s%s\n", i == 0 ? "CHOICES:  " : "          ", field->choices[i]);
	print_out("SINCE:    mpi-operator %s\n", field->since);
	print_children(field);
	if (ends_in_template(field->path))
		print_template_children("");
}

static int explain_template(const char *path, const char *rest)
{
	struct mpijob_template_field field = MPIJOB_TEMPLATE_FIELD_INIT;
	static const char *const shapes[] = { "", "list of ", "map to " };
	char type[128];

	if (mpijob_template_field_find(rest, &field) != 1)
		return 0;
	snprintf(type, sizeof(type), "%s%s", shapes[field.shape], field.type);
	print_head(path, type);
	puts("\n  A field of Kubernetes' own pod template; it passes through to the pods.\n");
	if (field.required)
		puts("REQUIRED: yes");
	if (field.default_text)
		print_out("DEFAULT:  %s\n", field.default_text);
	for (const char *word = field.choices; word && *word; word += strlen(word) + 1)
		print_out("%s%s\n", word == field.choices ? "CHOICES:  " : "          ", word);
	print_out("SINCE:    %s\n",
	    field.in_crd && field.in_kubernetes
		? "in the CRD of mpi-operator v0.8.2, and in Kubernetes 1.36"
	    : field.in_crd ? "in the CRD of mpi-operator v0.8.2; Kubernetes 1.36 has it no more"
			   : "in Kubernetes 1.36; the CRD of mpi-operator v0.8.2 lacks it, so the "
			     "API server drops it");
	if (field.is_object)
		print_template_children(rest);
	return 1;
}

/* ---- the command ---- */

static void list_all(void)
{
	for (size_t i = 0; mpijob_field_at(i); i++) {
		const struct mpijob_field *field = mpijob_field_at(i);
		print_out("%s <%s>%s%s\n    %s\n", field->path, kind_name(field->kind),
		    field->default_text ? ", default " : "",
		    field->default_text ? field->default_text : "", field->summary);
	}
}

/* Say what there is where a path goes wrong. */
static int complain(const char *path, const struct mpijob_field *nearest)
{
	int any = 0;

	print_to(stderr, "mpijob: no field %s%s%s; %s", path,
	    nearest ? ": nothing of that name in " : "", nearest ? nearest->path : "",
	    nearest && ends_in_template(nearest->path) ? "see 'mpijob explain' of that\n"
						       : "there is ");
	if (nearest && ends_in_template(nearest->path))
		return EXIT_FINDINGS;
	for (size_t i = 0; mpijob_field_at(i); i++) {
		const char *name = child_name(nearest, mpijob_field_at(i));
		if (name)
			print_to(stderr, "%s%s", any++ ? ", " : "", name);
	}
	fputs(any ? "\n" : "nothing below it\n", stderr);
	return EXIT_FINDINGS;
}

static int explain(const char *path)
{
	static const char *const prefixes[] = { "mpijob.", "mpijobs.",
		MPIJOB__BASE_API_RESOURCE "." };
	size_t matched;

	if (finding_explain(path))
		return 0;
	for (size_t i = sizeof(prefixes) / sizeof(prefixes[0]); i-- > 0;)
		if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0) {
			path += strlen(prefixes[i]);
			break;
		}
	const struct mpijob_field *row = row_of(path, &matched);
	char *rest = rest_of(path + matched);
	if (!rest) {
		fputs("mpijob: out of memory\n", stderr);
		return EXIT_FINDINGS;
	}
	int found = row && *rest == '\0';
	if (found)
		print_row(row);
	else if (row && ends_in_template(row->path))
		found = explain_template(path, rest);
	free(rest);
	return found ? 0 : complain(path, row);
}

int explain_command(const struct arguments *arguments)
{
	int result = 0;

	if (arguments->operands.count == 0)
		list_all();
	for (size_t i = 0; i < arguments->operands.count; i++) {
		if (i)
			putchar('\n');
		int code = explain(arguments->operands.items[i]);
		result = code ? code : result;
	}
	return result;
}
