/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kubeconfig files are read, and how they are merged. As in client-go, the first file that
 * contains an entry, or current-context, wins; entries are not merged field by field. Missing files
 * of a list are skipped, but a file that the caller names must exist. $KUBECONFIG is a list; if a
 * file exists whose name is the whole value, it is that one file.
 */
#include "http/kubeconfig.h"

#include "http/kubeconfig_check.h"
#include "base/text.h"
#include "http/path.h"
#include "http/secret.h"
#include "http/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void release_file(struct mpijob__http_kubeconfig_file *file)
{
	mpijob__http_tree_wipe(file->root);
	mpijob_docs_free(file->docs);
	free(file->directory);
	free(file->name);
}

void mpijob__http_kubeconfig_release(struct mpijob__http_kubeconfig *kubeconfig)
{
	for (size_t i = 0; i < kubeconfig->count; i++)
		release_file(&kubeconfig->files[i]);
	free(kubeconfig->files);
	free(kubeconfig->missing);
	memset(kubeconfig, 0, sizeof(*kubeconfig));
}

/* As in kubectl, only the first document of a file is used. */
static int parse(struct mpijob__http_kubeconfig_file *file, const mpijob__http_secret *text,
    struct mpijob__http_report *report)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	int rc;

	options.source = file->name;
	options.max_bytes = MPIJOB__HTTP_SECRET_FILE_LIMIT;
	options.max_depth = MPIJOB__HTTP_TREE_DEPTH;
	rc = mpijob_docs_parse(text->data, text->len, &options, &file->docs, report->diag);
	if (rc == MPIJOB_ERR_NOMEM)
		mpijob__http_report_nomem(report);
	if (rc && report->code == 0)
		report->code = rc;
	if (rc == 0)
		file->root = mpijob_doc_root(mpijob_docs_at(file->docs, 0));
	return rc;
}

static void report_unreadable(const char *name, int number, struct mpijob__http_report *report)
{
	struct mpijob__http_report_location location = { name, NULL, NULL };

	mpijob__http_report_add(report, MPIJOB_ERR_IO, "config-unreadable", NULL, &location,
	    "the kubeconfig cannot be read: %s", mpijob__http_report_errno(number));
}

static int add_missing(struct mpijob__http_kubeconfig *kubeconfig, const char *name)
{
	char *all = mpijob__base_text_format("%s%s%s",
	    kubeconfig->missing ? kubeconfig->missing : "", kubeconfig->missing ? ", " : "", name);

	if (!all)
		return MPIJOB_ERR_NOMEM;
	free(kubeconfig->missing);
	kubeconfig->missing = all;
	return 0;
}

/* Append an empty file; the caller increments the count. */
static struct mpijob__http_kubeconfig_file *next_file(struct mpijob__http_kubeconfig *kubeconfig)
{
	struct mpijob__http_kubeconfig_file *files;

	files = realloc(kubeconfig->files, (kubeconfig->count + 1) * sizeof(*files));
	if (!files)
		return NULL;
	kubeconfig->files = files;
	memset(&files[kubeconfig->count], 0, sizeof(*files));
	return &files[kubeconfig->count];
}

static void load_file(struct mpijob__http_kubeconfig_file *file, const char *name,
    const mpijob__http_secret *text, struct mpijob__http_report *report)
{
	file->name = strdup(name);
	file->directory = mpijob__http_path_directory(name);
	if (!file->name || (!file->directory && errno == ENOMEM))
		mpijob__http_report_nomem(report);
	else if (!file->directory)
		report_unreadable(name, errno, report);
	else if (parse(file, text, report) == 0)
		mpijob__http_kubeconfig_check(file, report);
}

static void read_file(struct mpijob__http_kubeconfig *kubeconfig, const char *name,
    struct mpijob__http_report *report)
{
	struct mpijob__http_kubeconfig_file *file = next_file(kubeconfig);
	mpijob__http_secret text = { NULL, 0 };
	int rc = file ? mpijob__http_secret_read(&text, name, 0) : MPIJOB_ERR_NOMEM;

	if (rc == 0) {
		kubeconfig->count++;
		load_file(file, name, &text, report);
	} else if (rc == MPIJOB_ERR_IO && errno == ENOENT && !kubeconfig->explicit_) {
		rc = add_missing(kubeconfig, name);
	} else if (rc == MPIJOB_ERR_IO) {
		report_unreadable(name, errno, report);
	}
	if (rc == MPIJOB_ERR_NOMEM)
		mpijob__http_report_nomem(report);
	mpijob__http_secret_clear(&text);
}

/* Whether the list has the same element before `part`. */
static int is_repeated(const char *list, const char *part, size_t len)
{
	while (list < part) {
		size_t size = strcspn(list, ":");

		if (size == len && memcmp(list, part, len) == 0)
			return 1;
		list += size + 1;
	}
	return 0;
}

static void read_list(struct mpijob__http_kubeconfig *kubeconfig, const char *list,
    struct mpijob__http_report *report)
{
	const char *part = list;

	while (*part) {
		size_t len = strcspn(part, ":");
		char *name = NULL;

		if (len && !is_repeated(list, part, len)) {
			name = strndup(part, len);
			if (name)
				read_file(kubeconfig, name, report);
			else
				mpijob__http_report_nomem(report);
		}
		free(name);
		part += len;
		part += *part == ':';
	}
}

void mpijob__http_kubeconfig_read(struct mpijob__http_kubeconfig *kubeconfig, const char *path,
    struct mpijob__http_report *report)
{
	const char *list = getenv("KUBECONFIG");
	const char *home = getenv("HOME");
	char *name;

	memset(kubeconfig, 0, sizeof(*kubeconfig));
	if (path) {
		kubeconfig->explicit_ = 1;
		read_file(kubeconfig, path, report);
		return;
	}
	if (list && *list) {
		if (strchr(list, ':') && access(list, F_OK) == 0)
			read_file(kubeconfig, list, report);
		else
			read_list(kubeconfig, list, report);
		return;
	}
	if (!home || !*home)
		return;
	name = mpijob__http_path_join(home, ".kube/config");
	if (name)
		read_file(kubeconfig, name, report);
	else
		mpijob__http_report_nomem(report);
	free(name);
}

static const char *name_of(const mpijob_node *item)
{
	const char *name = mpijob_node_string(mpijob_node_get(item, "name"));

	return name ? name : "";
}

int mpijob__http_kubeconfig_find(const struct mpijob__http_kubeconfig *kubeconfig, const char *list,
    const char *inner, const char *name, struct mpijob__http_kubeconfig_entry *entry)
{
	for (size_t i = 0; i < kubeconfig->count; i++) {
		const mpijob_node *items = mpijob_node_get(kubeconfig->files[i].root, list);

		for (size_t k = 0; k < mpijob_node_count(items); k++) {
			const mpijob_node *item = mpijob_node_at(items, k);

			if (strcmp(name_of(item), name) != 0)
				continue;
			entry->file = &kubeconfig->files[i];
			entry->list = list;
			entry->inner = inner;
			entry->index = k;
			entry->item = item;
			entry->value = mpijob_node_get(item, inner);
			return 1;
		}
	}
	return 0;
}

const char *mpijob__http_kubeconfig_current(const struct mpijob__http_kubeconfig *kubeconfig,
    const struct mpijob__http_kubeconfig_file **file, const mpijob_node **node)
{
	for (size_t i = 0; i < kubeconfig->count; i++) {
		const mpijob_node *found =
		    mpijob_node_get(kubeconfig->files[i].root, "current-context");
		const char *name = mpijob_node_string(found);

		if (name && *name) {
			*file = &kubeconfig->files[i];
			*node = found;
			return name;
		}
	}
	return NULL;
}

#define MAX_NAMES 20

/* Write `name` with the separator of element `index` of `count`. */
static int write_name(mpijob_text *text, const char *name, size_t index, size_t count)
{
	const char *before = index == 0 ? (count == 1 ? "; there is only " : "; there are ")
			     : index + 1 == count ? " and "
						  : ", ";
	int rc = mpijob_text_write(text, before, strlen(before));

	return rc ? rc : mpijob_text_write(text, name, strlen(name));
}

/* Whether no earlier file has an entry of the same name. */
static int is_first(const struct mpijob__http_kubeconfig *kubeconfig, const char *list, size_t file,
    const mpijob_node *item)
{
	struct mpijob__http_kubeconfig_entry entry;

	return mpijob__http_kubeconfig_find(kubeconfig, list, list, name_of(item), &entry) &&
	       entry.item == item && entry.file == &kubeconfig->files[file];
}

char *mpijob__http_kubeconfig_names(const struct mpijob__http_kubeconfig *kubeconfig,
    const char *list)
{
	const char *names[MAX_NAMES];
	mpijob_text *text = mpijob_text_new();
	size_t count = 0;
	int more = 0, rc = text ? 0 : MPIJOB_ERR_NOMEM;
	char *out;

	for (size_t i = 0; i < kubeconfig->count && !more; i++) {
		const mpijob_node *items = mpijob_node_get(kubeconfig->files[i].root, list);

		for (size_t k = 0; k < mpijob_node_count(items) && !more; k++) {
			if (!is_first(kubeconfig, list, i, mpijob_node_at(items, k)))
				continue;
			if (count == MAX_NAMES)
				more = 1;
			else
				names[count++] = name_of(mpijob_node_at(items, k));
		}
	}
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = write_name(text, *names[i] ? names[i] : "''", i, more ? SIZE_MAX : count);
	if (rc == 0 && more)
		rc = mpijob_text_write(text, " and others", 11);
	if (rc == 0 && !count)
		rc = mpijob_text_write(text, "; there is none", 15);
	out = rc == 0 ? strdup(mpijob_text_data(text)) : NULL;
	mpijob_text_free(text);
	return out;
}

const char *mpijob__http_kubeconfig_string(const struct mpijob__http_kubeconfig_entry *entry,
    const char *key)
{
	const char *text = mpijob_node_string(mpijob_node_get(entry->value, key));

	return text && *text ? text : NULL;
}
