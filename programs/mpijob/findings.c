/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints findings: one line each for people, an array of objects for programs.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "print.h"

static const char *severity_name(int32_t severity)
{
	switch (severity) {
	case MPIJOB_SEVERITY_WARNING: return "warning";
	case MPIJOB_SEVERITY_INFO: return "info";
	default: return "error";
	}
}

int findings_vadd(mpijob_diag *diag, int code, struct mpijob_finding *finding, const char *format,
    va_list values)
{
	char *message = NULL;
	int len = vasprintf(&message, format, values);

	if (len < 0)
		return MPIJOB_ERR_NOMEM;
	finding->severity = MPIJOB_SEVERITY_ERROR;
	finding->message = message;
	mpijob_diag_add(diag, finding);
	free(message);
	return code;
}

int findings_add(mpijob_diag *diag, int code, const char *source, const char *id,
    const char *format, ...)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	va_list values;

	finding.id = id;
	finding.source = source;
	va_start(values, format);
	code = findings_vadd(diag, code, &finding, format, values);
	va_end(values);
	return code;
}

int file_write(void *stream, const char *data, size_t len)
{
	return fwrite(data, 1, len, stream) == len ? 0 : MPIJOB_ERR_IO;
}

static int choose(mpijob_diag *diag, const char *option, const struct words *ids, int32_t severity)
{
	for (size_t i = 0; i < ids->count; i++) {
		const struct finding_kind *kind = finding_kind_find(ids->items[i]);

		if (!kind || (kind->severity == MPIJOB_SEVERITY_ERROR && !severity)) {
			print_to(stderr, "mpijob: --%s %s: %s\n", option, ids->items[i],
			    kind ? "this is an error and stays one"
				 : "no finding has this identifier");
			return EXIT_USAGE;
		}
		if (mpijob_diag_set_severity(diag, ids->items[i], severity)) {
			fputs("mpijob: out of memory\n", stderr);
			return EXIT_USAGE;
		}
	}
	return 0;
}

int findings_choose(mpijob_diag *diag, const struct arguments *arguments)
{
	int code = choose(diag, "silence", &arguments->silence, 0);

	return code ? code : choose(diag, "error", &arguments->error, MPIJOB_SEVERITY_ERROR);
}

int finding_explain(const char *id)
{
	const struct finding_kind *kind = finding_kind_find(id);

	if (kind)
		print_out("%s <%s>\n\n%s\n%s\n\n    %s\n", kind->id, severity_name(kind->severity),
		    kind->summary, kind->advice, kind->example);
	return kind != NULL;
}

/* A finding that can be silenced is printed with its identifier. */
static int shows_id(const struct mpijob_finding *finding)
{
	const struct finding_kind *kind = finding_kind_find(finding->id);

	return finding->severity != MPIJOB_SEVERITY_ERROR ||
	       (kind && kind->severity != MPIJOB_SEVERITY_ERROR);
}

static void print(const struct mpijob_finding *finding, FILE *stream, int named)
{
	mpijob_finding_write(finding, file_write, stream);
	if (named && shows_id(finding))
		print_to(stream, " [%s]", finding->id);
	fputc('\n', stream);
}

void finding_print(const struct mpijob_finding *finding, FILE *stream)
{
	print(finding, stream, 0);
}

/* A finding, and what decides its place among the others: file, line, column, then the order in
 * which it was found. */
struct ranked {
	const struct mpijob_finding *finding;
	size_t file;
	size_t index;
};

static int compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->finding->line != b->finding->line)
		return a->finding->line < b->finding->line ? -1 : 1;
	if (a->finding->column != b->finding->column)
		return a->finding->column < b->finding->column ? -1 : 1;
	return a->index < b->index ? -1 : 1;
}

static int same_source(const struct mpijob_finding *a, const struct mpijob_finding *b)
{
	return a->source == b->source ||
	       (a->source && b->source && strcmp(a->source, b->source) == 0);
}

/* All findings in the order of their places; the caller frees them; NULL when memory ran out. */
static struct ranked *rank(const mpijob_diag *diag)
{
	size_t count = mpijob_diag_count(diag, 0) - mpijob_diag_dropped(diag);
	struct ranked *ranked = calloc(count + 1, sizeof(*ranked));

	for (size_t i = 0; ranked && i < count; i++) {
		size_t same = 0;
		ranked[i].finding = mpijob_diag_at(diag, i);
		while (same < i && !same_source(ranked[same].finding, ranked[i].finding))
			same++;
		ranked[i].file = same < i ? ranked[same].file : i;
		ranked[i].index = i;
	}
	if (ranked)
		qsort(ranked, count, sizeof(*ranked), compare);
	return ranked;
}

static void print_all(const mpijob_diag *diag, FILE *stream, int named)
{
	struct ranked *ranked = rank(diag);

	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		print(ranked ? ranked[i].finding : mpijob_diag_at(diag, i), stream, named);
	free(ranked);
	if (mpijob_diag_dropped(diag))
		fprintf(stream, "... and %zu more findings\n", mpijob_diag_dropped(diag));
}

void findings_print(const mpijob_diag *diag, FILE *stream)
{
	print_all(diag, stream, 0);
}

void findings_print_named(const mpijob_diag *diag, FILE *stream)
{
	print_all(diag, stream, 1);
}

static void put_optional(mpijob_doc *doc, mpijob_node *map, const char *key, const char *text)
{
	if (text)
		mpijob_node_put_lossy(doc, map, key, text);
	else
		mpijob_node_put(doc, map, key, mpijob_node_new(doc, MPIJOB_NODE_NULL));
}

int findings_print_json(const mpijob_diag *diag)
{
	mpijob_doc *doc = NULL;
	struct ranked *ranked = rank(diag);

	mpijob_doc_parse("[]", 2, NULL, &doc, NULL);
	mpijob_node *list = mpijob_doc_edit(doc, "");

	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		const struct mpijob_finding *finding =
		    ranked ? ranked[i].finding : mpijob_diag_at(diag, i);
		mpijob_node *map = mpijob_node_append_map(doc, list);
		put_optional(doc, map, "file", finding->source);
		mpijob_node_put_int(doc, map, "line", finding->line);
		mpijob_node_put_int(doc, map, "column", finding->column);
		mpijob_node_put_string(doc, map, "severity", severity_name(finding->severity));
		mpijob_node_put_string(doc, map, "id", finding->id);
		put_optional(doc, map, "reason", finding->reason);
		put_optional(doc, map, "field", finding->field);
		mpijob_node_put_lossy(doc, map, "message", finding->message);
	}
	free(ranked);
	int code = mpijob_doc_error(doc);
	if (code == 0)
		code =
		    mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON, file_write, stdout);
	mpijob_doc_free(doc);
	return code;
}

void failure_print(const mpijob_diag *diag, int code)
{
	if (code && mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR) == 0)
		print_to(stderr, "mpijob: %s\n", mpijob_error_text(code));
}
