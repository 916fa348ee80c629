/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command set: edits an MPIJob in the text of a file. Knows when an edited file is written: not
 * with errors that it did not have before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "findings.h"
#include "input.h"
#include "print.h"
#include "replace_file.h"
#include "text_diff.h"

struct set {
	const struct arguments *arguments;
	const char *file;
	mpijob_text *old;
	mpijob_text *new_;
	struct mpijob_edit *edits;
	const struct mpijob_edit **pointers;
	char **paths; /* copies of the paths, as many as edits */
	size_t count;
	mpijob_diag *diag;
};

/* ---- the command line ---- */

/* The '=' between path and value, which is not inside brackets; NULL without one. */
static const char *find_equals(const char *word)
{
	while (*word && *word != '=') {
		const char *end = *word == '[' ? strchr(word, ']') : NULL;
		while (end && end[1] && !strchr(".[=", end[1]))
			end = strchr(end + 1, ']');
		word = end ? end + 1 : word + 1;
	}
	return *word ? word : NULL;
}

static int add_edit(struct set *set, const char *path, size_t len, const char *yaml)
{
	struct mpijob_edit *edit = &set->edits[set->count];

	*edit = (struct mpijob_edit)MPIJOB_EDIT_INIT;
	edit->path = set->paths[set->count] = strndup(path, len);
	edit->yaml = yaml;
	set->pointers[set->count] = edit;
	set->count++;
	return edit->path ? 0 : MPIJOB_ERR_NOMEM;
}

static int read_edits(struct set *set)
{
	const struct words *words = &set->arguments->operands, *removed = &set->arguments->removed;
	size_t most = words->count + removed->count;
	int code = 0;

	set->edits = calloc(most, sizeof(*set->edits));
	set->pointers = calloc(most, sizeof(*set->pointers));
	set->paths = calloc(most, sizeof(*set->paths));
	if (!set->edits || !set->pointers || !set->paths)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 1; i < words->count && code == 0; i++) {
		const char *equals = find_equals(words->items[i]);
		code =
		    add_edit(set, words->items[i], (size_t)(equals - words->items[i]), equals + 1);
	}
	for (size_t i = 0; i < removed->count && code == 0; i++)
		code = add_edit(set, removed->items[i], strlen(removed->items[i]), NULL);
	return code;
}

static int check_words(const struct arguments *arguments)
{
	const struct words *words = &arguments->operands;
	int outputs =
	    (arguments->output != NULL) + (arguments->dry_run != 0) + (arguments->diff != 0);

	if (words->count == 0) {
		fputs("mpijob: name a file, or - for standard input\n", stderr);
		return EXIT_USAGE;
	}
	for (size_t i = 1; i < words->count; i++) {
		if (find_equals(words->items[i]))
			continue;
		print_to(stderr,
		    "mpijob: '%s': write PATH=VALUE, for example spec.slotsPerWorker=4\n",
		    words->items[i]);
		return EXIT_USAGE;
	}
	if ((words->count > 1 || arguments->removed.count) == (arguments->printed.count > 0)) {
		fputs(arguments->printed.count ? "mpijob: --get changes nothing; leave out the "
						 "edits\n"
					       : "mpijob: name what to change: PATH=VALUE or "
						 "--remove PATH\n",
		    stderr);
		return EXIT_USAGE;
	}
	if (outputs + (arguments->printed.count > 0) > 1) {
		fputs("mpijob: give only one of --output, --dry-run, --diff and --get\n", stderr);
		return EXIT_USAGE;
	}
	return 0;
}

/* ---- the job of a text ---- */

static int is_wanted(const struct set *set, const struct input_object *object)
{
	const char *wanted = set->arguments->job;
	const char *name = mpijob_node_string(mpijob_node_find(object->node, "metadata.name"));

	return mpijob_is_job(object->node) && (!wanted || (name && strcmp(name, wanted) == 0));
}

/* Read a text. `*position`: that of the job, which is found if it is SIZE_MAX. */
static int read_job(const struct set *set, const mpijob_text *text, struct input *input,
    size_t *position, mpijob_diag *diag)
{
	*input = (struct input){ 0 };
	int code = input_add_text(input, mpijob_text_data(text), mpijob_text_len(text),
	    input_name(set->file), diag);
	for (size_t i = 0; i < input->count && *position == SIZE_MAX; i++)
		if (is_wanted(set, &input->objects[i]))
			*position = i;
	return code == 0 && *position >= input->count ? MPIJOB_ERR_NOT_FOUND : code;
}

static int validate(const struct set *set, const mpijob_text *text, size_t *position,
    mpijob_diag *diag)
{
	struct mpijob_validate_options options = MPIJOB_VALIDATE_OPTIONS_INIT;
	struct input input;
	mpijob *job = NULL;

	options.strict = 1;
	int code = read_job(set, text, &input, position, diag);
	if (code == 0)
		code = input_job(&input.objects[*position], set->arguments, &job, diag);
	if (code == 0)
		code = mpijob_validate(job, &options, diag);
	mpijob_free(job);
	input_free(&input);
	return code == MPIJOB_ERR_NOMEM ? code : 0;
}

static int is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static int has_error(const mpijob_diag *diag, const struct mpijob_finding *error)
{
	for (size_t i = 0; i < mpijob_diag_count(diag, 0); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, i);
		if (finding->severity == MPIJOB_SEVERITY_ERROR && is_same(finding->id, error->id) &&
		    is_same(finding->field, error->field) &&
		    is_same(finding->message, error->message))
			return 1;
	}
	return 0;
}

/* Check the result. With errors that the old text does not have, returns MPIJOB_ERR_SPEC. */
static int check_result(struct set *set)
{
	mpijob_diag *before = mpijob_diag_new();
	size_t position = SIZE_MAX, first = mpijob_diag_count(set->diag, 0), errors = 0;
	int code = before ? validate(set, set->old, &position, before) : MPIJOB_ERR_NOMEM;

	if (code == 0)
		code = validate(set, set->new_, &position, set->diag);
	for (size_t i = first; i < mpijob_diag_count(set->diag, 0); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(set->diag, i);
		errors += finding->severity == MPIJOB_SEVERITY_ERROR && !has_error(before, finding);
	}
	mpijob_diag_free(before);
	return code ? code : errors && !set->arguments->force ? MPIJOB_ERR_SPEC : 0;
}

/* ---- output ---- */

static int write_result(struct set *set)
{
	const struct arguments *arguments = set->arguments;
	const char *text = mpijob_text_data(set->new_);
	size_t len = mpijob_text_len(set->new_);
	const char *to = arguments->output ? arguments->output : set->file;

	if (arguments->diff)
		return text_diff_print(input_name(set->file), mpijob_text_data(set->old),
		    mpijob_text_len(set->old), text, len);
	if (arguments->dry_run || strcmp(to, "-") == 0) {
		text_print(text, len);
		return 0;
	}
	if (to == set->file && len == mpijob_text_len(set->old) &&
	    memcmp(text, mpijob_text_data(set->old), len) == 0)
		return 0;
	if (replace_file(to, text, len) == 0)
		return 0;
	return findings_add(set->diag, MPIJOB_ERR_IO, to, "unwritable", "cannot write: %s",
	    strerror(errno));
}

static int edit(struct set *set)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;

	options.source = input_name(set->file);
	int code = read_edits(set);
	if (code == 0)
		code = mpijob_edit_text(mpijob_text_data(set->old), mpijob_text_len(set->old),
		    set->arguments->job, &options, set->pointers, set->count, mpijob_text_write,
		    set->new_, set->diag);
	if (code)
		return code;
	code = check_result(set);
	return code ? code : write_result(set);
}

static int print_value(const struct set *set, const mpijob_node *job, const char *path)
{
	const mpijob_node *node = mpijob_node_find(job, path);

	if (!node)
		return findings_add(set->diag, MPIJOB_ERR_NOT_FOUND, input_name(set->file),
		    "no-value", "there is no value at %s", path);
	if (!mpijob_node_text(node))
		return mpijob_node_write(node, MPIJOB_FORMAT_YAML, file_write, stdout);
	text_print(mpijob_node_text(node), mpijob_node_length(node));
	putchar('\n');
	return 0;
}

static int print_values_of_job(struct set *set)
{
	const struct words *paths = &set->arguments->printed;
	size_t position = SIZE_MAX;
	struct input input;
	size_t jobs = 0;
	int code = read_job(set, set->old, &input, &position, set->diag);

	for (size_t i = 0; i < input.count; i++)
		jobs += (size_t)is_wanted(set, &input.objects[i]);
	if (code == MPIJOB_ERR_NOT_FOUND)
		findings_add(set->diag, code, input_name(set->file), "no-job", "no MPIJob in here");
	else if (code == 0 && jobs > 1)
		code = findings_add(set->diag, MPIJOB_ERR_USAGE, input_name(set->file),
		    "several-jobs", "several MPIJobs; name one with --job");
	for (size_t i = 0; i < paths->count && code == 0; i++)
		code = print_value(set, input.objects[position].node, paths->items[i]);
	input_free(&input);
	return code;
}

int set_command(const struct arguments *arguments)
{
	struct set set = { .arguments = arguments };
	int code = check_words(arguments);

	if (code)
		return code;
	set.file = arguments->operands.items[0];
	set.old = mpijob_text_new();
	set.new_ = mpijob_text_new();
	set.diag = mpijob_diag_new();
	code = set.old && set.new_ && set.diag ? input_read_text(set.file, set.old, set.diag)
					       : MPIJOB_ERR_NOMEM;
	if (code == 0)
		code = arguments->printed.count ? print_values_of_job(&set) : edit(&set);
	findings_print_named(set.diag, stderr);
	failure_print(set.diag, code);
	if (code == MPIJOB_ERR_SPEC)
		fputs("mpijob: nothing is written, because there would be new errors; --force "
		      "writes the result nevertheless\n",
		    stderr);
	for (size_t i = 0; i < set.count; i++)
		free(set.paths[i]);
	free(set.paths);
	free(set.pointers);
	free(set.edits);
	mpijob_text_free(set.old);
	mpijob_text_free(set.new_);
	mpijob_diag_free(set.diag);
	return code == MPIJOB_ERR_USAGE ? EXIT_USAGE : code ? EXIT_FINDINGS : 0;
}
