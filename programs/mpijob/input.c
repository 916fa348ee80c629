/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how files, directories and standard input become a flat list of Kubernetes objects: the
 * documents of a file one after another, and the items of a List.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/random.h"
#include "findings.h"
#include "input.h"

#define MOST_BYTES (3u * 1024 * 1024) /* the parser's limit; it reports a longer input */

static void *grow(void *items, size_t count, size_t size)
{
	/* Grow at powers of two. */
	if (count & (count - 1))
		return items;
	return realloc(items, (count ? 2 * count : 1) * size);
}

static int add_object(struct input *input, const mpijob_node *node, const char *source)
{
	struct input_object *objects = grow(input->objects, input->count, sizeof(*objects));
	if (!objects)
		return MPIJOB_ERR_NOMEM;
	input->objects = objects;
	objects[input->count] = (struct input_object){ node, source, input->count };
	input->count++;
	return 0;
}

/* Keys whose values never contain ${NAME}. In a command, a variable or an annotation it may be
 * intended. */
static int is_plain(const char *key)
{
	static const char *const keys[] = { "name", "generateName", "namespace", "image",
		"replicas", "slotsPerWorker", "cpu", "memory" };

	for (size_t i = 0; key && i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(key, keys[i]) == 0)
			return 1;
	return 0;
}

/* The first value that envsubst would replace; NULL if not found. */
static const mpijob_node *find_unfilled(const mpijob_node *node, const char *key)
{
	const char *text = mpijob_node_string(node);
	const mpijob_node *found = text && is_plain(key) && strstr(text, "${") ? node : NULL;

	for (size_t i = 0; i < mpijob_node_count(node) && !found; i++)
		found = find_unfilled(mpijob_node_at(node, i), mpijob_node_key(node, i));
	return found;
}

/* One finding for the object, instead of one for each value. */
static int check_filled(const mpijob_node *node, const char *source, mpijob_diag *diag)
{
	const mpijob_node *unfilled = mpijob_is_job(node) ? find_unfilled(node, NULL) : NULL;
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	char *message = NULL;

	if (!unfilled)
		return 0;
	if (asprintf(&message,
		"this is a template: '%s' is not filled in; set its variables and pipe it through "
		"envsubst",
		mpijob_node_string(unfilled)) < 0)
		return MPIJOB_ERR_NOMEM;
	finding.severity = MPIJOB_SEVERITY_ERROR;
	finding.id = "unfilled-template";
	finding.source = source;
	mpijob_node_place(unfilled, &finding.line, &finding.column);
	finding.message = message;
	mpijob_diag_add(diag, &finding);
	free(message);
	return MPIJOB_ERR_SPEC;
}

static int add_document(struct input *input, const mpijob_doc *doc, mpijob_diag *diag)
{
	const mpijob_node *root = mpijob_doc_root(doc);
	struct input_object list = { root, mpijob_doc_source(doc), 0 };
	int unfilled = check_filled(root, list.source, diag);

	if (unfilled)
		return unfilled;

	if (!input_is(&list, "v1", "List"))
		return add_object(input, root, list.source);
	const mpijob_node *items = mpijob_node_get(root, "items");
	for (size_t i = 0; i < mpijob_node_count(items); i++) {
		int code = add_object(input, mpijob_node_at(items, i), list.source);
		if (code)
			return code;
	}
	return 0;
}

static int add_text(struct input *input, const char *text, size_t len, const char *name,
    mpijob_diag *diag)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	options.source = name;
	mpijob_docs **files = grow(input->files, input->files_count, sizeof(*files));
	if (!files)
		return MPIJOB_ERR_NOMEM;
	input->files = files;

	int code = mpijob_docs_parse(text, len, &options, &files[input->files_count], diag);
	if (code)
		return code;
	const mpijob_docs *docs = files[input->files_count++];
	for (size_t i = 0; mpijob_docs_at(docs, i) && code == 0; i++)
		code = add_document(input, mpijob_docs_at(docs, i), diag);
	return code;
}

static int read_stream(struct input *input, FILE *stream, const char *name, mpijob_diag *diag)
{
	mpijob_text *text = mpijob_text_new();
	char buffer[65536];
	size_t got = 0;
	int code = text ? 0 : MPIJOB_ERR_NOMEM;

	while (code == 0 && mpijob_text_len(text) <= MOST_BYTES &&
	       (got = fread(buffer, 1, sizeof(buffer), stream)) > 0)
		code = mpijob_text_write(text, buffer, got);
	if (code == 0 && ferror(stream))
		code = findings_add(diag, MPIJOB_ERR_IO, name, "unreadable", "cannot read: %s",
		    strerror(errno));
	if (code == 0)
		code = add_text(input, mpijob_text_data(text), mpijob_text_len(text), name, diag);
	mpijob_text_free(text);
	return code;
}

static int read_file(struct input *input, const char *name, mpijob_diag *diag)
{
	FILE *stream = fopen(name, "rb");
	if (!stream)
		return findings_add(diag, MPIJOB_ERR_IO, name, "unreadable", "cannot open: %s",
		    strerror(errno));
	int code = read_stream(input, stream, name, diag);
	fclose(stream);
	return code;
}

static int is_manifest(const struct dirent *entry)
{
	static const char *const endings[] = { ".yaml", ".yml", ".json" };
	size_t len = strlen(entry->d_name);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t end = strlen(endings[i]);
		if (len > end && strcmp(entry->d_name + len - end, endings[i]) == 0)
			return 1;
	}
	return 0;
}

static int read_directory(struct input *input, const char *name, mpijob_diag *diag)
{
	struct dirent **entries;
	int count = scandir(name, &entries, is_manifest, alphasort);
	int result = 0;

	if (count < 0)
		return findings_add(diag, MPIJOB_ERR_IO, name, "unreadable", "cannot open: %s",
		    strerror(errno));
	if (count == 0)
		result = findings_add(diag, MPIJOB_ERR_NOT_FOUND, name, "no-files",
		    "no .yaml, .yml or .json file in this directory");
	for (int i = 0; i < count; i++) {
		size_t size = strlen(name) + strlen(entries[i]->d_name) + 2;
		char *path = malloc(size);
		int code = MPIJOB_ERR_NOMEM;
		if (path) {
			snprintf(path, size, "%s%s%s", name,
			    name[strlen(name) - 1] == '/' ? "" : "/", entries[i]->d_name);
			code = read_file(input, path, diag);
		}
		if (code && !result)
			result = code;
		free(path);
		free(entries[i]);
	}
	free(entries);
	return result;
}

static int read_operand(struct input *input, const char *name, mpijob_diag *diag)
{
	struct stat status;

	if (strcmp(name, "-") == 0)
		return read_stream(input, stdin, "<stdin>", diag);
	if (*name && stat(name, &status) == 0 && S_ISDIR(status.st_mode))
		return read_directory(input, name, diag);
	return read_file(input, name, diag);
}

int input_read(const struct words *operands, struct input *input, mpijob_diag *diag)
{
	int result = 0;

	*input = (struct input){ 0 };
	for (size_t i = 0; i < operands->count; i++) {
		int code = read_operand(input, operands->items[i], diag);
		if (code && !result)
			result = code;
	}
	return result;
}

void input_free(struct input *input)
{
	for (size_t i = 0; i < input->files_count; i++)
		mpijob_docs_free(input->files[i]);
	free(input->files);
	free(input->objects);
}

int input_is(const struct input_object *object, const char *api_version, const char *kind)
{
	const char *has_version = mpijob_node_string(mpijob_node_get(object->node, "apiVersion"));
	const char *has_kind = mpijob_node_string(mpijob_node_get(object->node, "kind"));

	return has_kind && strcmp(has_kind, kind) == 0 &&
	       (!api_version || (has_version && strcmp(has_version, api_version) == 0));
}

int input_job(const struct input_object *object, const struct arguments *arguments, mpijob **out,
    mpijob_diag *diag)
{
	struct mpijob_default_options options = MPIJOB_DEFAULT_OPTIONS_INIT;
	mpijob *job = NULL;

	options.reference = arguments->reference;
	int code = mpijob_from_node(object->node, object->source, &job, diag);
	/* Validation reports a namespace of a wrong type. */
	if (code == 0 && mpijob_node_kind(mpijob_node_find(object->node, "metadata.namespace")) <=
			     MPIJOB_NODE_NULL)
		code = mpijob_identify(job, NULL,
		    arguments->namespace_ ? arguments->namespace_ : "default", NULL);
	if (code == 0)
		code = mpijob_default(job, &options, diag);
	if (code == 0)
		*out = job;
	else
		mpijob_free(job);
	return code;
}

int input_generate_name(mpijob *job, int placeholder)
{
	const char *prefix = mpijob_node_string(
	    mpijob_node_find(mpijob_doc_root(mpijob_document(job)), "metadata.generateName"));
	char suffix[] = INPUT_PLACEHOLDER;
	char *name = NULL;

	if (mpijob_name(job) || !prefix || !*prefix)
		return 0;
	if (!placeholder && mpijob__base_random_suffix(suffix, sizeof(suffix) - 1))
		return MPIJOB_ERR_IO;
	if (asprintf(&name, "%.58s%s", prefix, suffix) < 0)
		return MPIJOB_ERR_NOMEM;
	int code = mpijob_identify(job, name, NULL, NULL);
	free(name);
	return code;
}
