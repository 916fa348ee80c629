/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case folders under tests/cases/doc: text in, findings or documents out.
 *
 *   input.yaml, input.json   the text, read as what its name says; input.txt: as whatever it looks
 *   like generate                 or how to make a long text: first line yaml or json, then `COUNT
 *   TEXT` lines; %d in TEXT
 *                            is the number of the repetition, and \n \t \\ \xNN are what they are
 * in C expected.txt             the result code, the findings, and what would be sent, as JSON
 *
 * Each case runs in a process of its own, within one second and 64 MiB. What was read is also
 * written as YAML and as JSON, and must read back as the same. UPDATE_CASES=1 shows the differences
 * and writes expected.txt.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <mpijob/doc.h>

#define FOLDER       MPIJOB_TEST_SOURCE "/tests/cases/doc"
#define MOST_SHOWN   6    /* findings in expected.txt */
#define MOST_OUTPUT  4000 /* bytes of documents in expected.txt */
#define MOST_SECONDS 1.0
#define MOST_KIB     65536

#if defined(__SANITIZE_ADDRESS__)
#define SLOWER 8.0 /* and its memory says nothing about ours */
#else
#define SLOWER 1.0
#endif

struct buffer {
	char *data;
	size_t len;
	size_t cap;
};

static void need(const void *memory)
{
	if (!memory) {
		perror("test");
		_exit(3);
	}
}

static void append(struct buffer *buffer, const char *data, size_t len)
{
	if (buffer->len + len + 1 > buffer->cap) {
		buffer->cap = (buffer->len + len + 1) * 2;
		buffer->data = realloc(buffer->data, buffer->cap);
		need(buffer->data);
	}
	memcpy(buffer->data + buffer->len, data, len);
	buffer->len += len;
	buffer->data[buffer->len] = 0;
}

static int read_file(const char *name, const char *file, struct buffer *into)
{
	char path[512], piece[4096];
	size_t len;
	FILE *stream;

	(void)snprintf(path, sizeof(path), FOLDER "/%s/%s", name, file);
	stream = fopen(path, "rb");
	if (!stream)
		return 0;
	append(into, "", 0);
	while ((len = fread(piece, 1, sizeof(piece), stream)) > 0)
		append(into, piece, len);
	(void)fclose(stream);
	return 1;
}

/* One `COUNT TEXT` line. */
static void generate_line(const char *line, size_t len, struct buffer *into)
{
	char *after;
	unsigned long count = strtoul(line, &after, 10);
	const char *end = line + len;
	struct buffer text = { NULL, 0, 0 };

	append(&text, "", 0);
	for (const char *at = after + 1; at < end; at++) {
		char c = *at;

		if (c == '\\' && at + 1 < end) {
			c = *++at;
			if (c == 'x')
				c = (char)strtoul((char[]){ at[1], at[2], 0 }, NULL, 16), at += 2;
			else
				c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
		}
		append(&text, &c, 1);
	}
	for (unsigned long i = 0; i < count; i++) {
		const char *hole = strstr(text.data, "%d");
		char number[24];

		append(into, text.data, hole ? (size_t)(hole - text.data) : text.len);
		if (!hole)
			continue;
		append(into, number, (size_t)snprintf(number, sizeof(number), "%lu", i));
		append(into, hole + 2, strlen(hole + 2));
	}
	free(text.data);
}

static int32_t generate(const struct buffer *rules, struct buffer *into)
{
	const char *at = strchr(rules->data, '\n') + 1;

	while (*at) {
		const char *end = strchr(at, '\n');

		generate_line(at, (size_t)(end - at), into);
		at = end + 1;
	}
	return strncmp(rules->data, "json", 4) == 0 ? MPIJOB_FORMAT_JSON : MPIJOB_FORMAT_YAML;
}

/* The text of a case, and the format it is read as; -1 when there is none. */
static int32_t load(const char *name, struct buffer *text)
{
	struct buffer rules = { NULL, 0, 0 };
	int32_t format;

	if (read_file(name, "input.yaml", text))
		return MPIJOB_FORMAT_YAML;
	if (read_file(name, "input.json", text))
		return MPIJOB_FORMAT_JSON;
	if (read_file(name, "input.txt", text))
		return MPIJOB_FORMAT_AUTO;
	if (!read_file(name, "generate", &rules))
		return -1;
	append(text, "", 0);
	format = generate(&rules, text);
	free(rules.data);
	return format;
}

static void put(mpijob_text *out, const char *string)
{
	if (mpijob_text_write(out, string, strlen(string)))
		_exit(3);
}

static void put_findings(mpijob_text *out, const mpijob_diag *diag)
{
	size_t count = mpijob_diag_count(diag, 0);
	char more[64];

	for (size_t i = 0; mpijob_diag_at(diag, i) && i < MOST_SHOWN; i++) {
		put(out, mpijob_diag_at(diag, i)->id);
		put(out, ": ");
		if (mpijob_finding_write(mpijob_diag_at(diag, i), mpijob_text_write, out))
			_exit(3);
		put(out, "\n");
	}
	(void)snprintf(more, sizeof(more), "and %zu more\n", count - MOST_SHOWN);
	if (count > MOST_SHOWN)
		put(out, more);
}

static int to_nowhere(void *user, const char *data, size_t len)
{
	(void)data;
	*(size_t *)user += len;
	return 0;
}

static void put_document(mpijob_text *out, const mpijob_node *root)
{
	size_t len = 0;
	char summary[64];

	if (mpijob_node_write(root, MPIJOB_FORMAT_JSON, to_nowhere, &len))
		_exit(3);
	if (len <= MOST_OUTPUT) {
		if (mpijob_node_write(root, MPIJOB_FORMAT_JSON, mpijob_text_write, out))
			_exit(3);
		return;
	}
	(void)snprintf(summary, sizeof(summary), "(%zu bytes, %zu entries)\n", len,
	    mpijob_node_count(root));
	put(out, summary);
}

/* Small results are written and read again. */
static void check_round_trip(mpijob_text *out, const mpijob_node *root, int32_t format)
{
	mpijob_text *text = mpijob_text_new();
	mpijob_doc *again = NULL;
	size_t len = 0;

	if (mpijob_node_write(root, format, to_nowhere, &len))
		_exit(3);
	if (len > 1 << 20) {
		mpijob_text_free(text);
		return;
	}
	if (mpijob_node_write(root, format, mpijob_text_write, text) ||
	    mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &again, NULL) ||
	    !mpijob_node_equal(mpijob_doc_root(again), root)) {
		put(out, "READS BACK AS ANOTHER TREE:\n");
		put(out, mpijob_text_data(text));
	}
	mpijob_doc_free(again);
	mpijob_text_free(text);
}

static void put_result(mpijob_text *out, const struct buffer *text, int32_t format)
{
	static const char *const sources[] = { "input.txt", "input.yaml", "input.json" };
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_docs *docs = NULL;
	size_t count = 0;
	char summary[64];

	options.source = sources[format];
	options.format = format;
	put(out,
	    mpijob_error_name(mpijob_docs_parse(text->data, text->len, &options, &docs, diag)));
	put(out, "\n");
	put_findings(out, diag);
	for (; mpijob_docs_at(docs, count); count++) {
		const mpijob_node *root = mpijob_doc_root(mpijob_docs_at(docs, count));

		if (count >= 10)
			continue;
		put(out, "---\n");
		put_document(out, root);
		check_round_trip(out, root, MPIJOB_FORMAT_YAML);
		check_round_trip(out, root, MPIJOB_FORMAT_JSON);
	}
	(void)snprintf(summary, sizeof(summary), "%zu documents\n", count);
	if (docs && count != 1)
		put(out, summary);
	mpijob_docs_free(docs);
	mpijob_diag_free(diag);
}

/* In the child: make the text, read it, and send the result to the parent. */
static void run_child(const char *name, int pipe_end)
{
	struct buffer text = { NULL, 0, 0 };
	mpijob_text *out = mpijob_text_new();
	int32_t format = load(name, &text);
	size_t sent = 0;

	if (format < 0)
		_exit(4);
	put_result(out, &text, format);
	while (sent < mpijob_text_len(out)) {
		ssize_t wrote =
		    write(pipe_end, mpijob_text_data(out) + sent, mpijob_text_len(out) - sent);

		if (wrote <= 0)
			_exit(3);
		sent += (size_t)wrote;
	}
	mpijob_text_free(out);
	free(text.data);
	exit(0); /* not _exit(): the leak checker wants to look */
}

static double seconds(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

/* 1 when the child ended well and within the limits. */
static int judge(const char *name, int status, const struct rusage *usage)
{
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		print_error("%s: ended with status 0x%x\n", name, (unsigned int)status);
		return 0;
	}
	if (seconds(usage) > MOST_SECONDS * SLOWER) {
		print_error("%s: took %.2f s\n", name, seconds(usage));
		return 0;
	}
	if (SLOWER <= 1.0 && usage->ru_maxrss > MOST_KIB) {
		print_error("%s: took %ld KiB\n", name, usage->ru_maxrss);
		return 0;
	}
	return 1;
}

static void update(const char *name, const struct buffer *got)
{
	char path[512];
	FILE *file;

	(void)snprintf(path, sizeof(path), FOLDER "/%s/expected.txt", name);
	file = fopen(path, "wb");
	if (file) {
		(void)fwrite(got->data, 1, got->len, file);
		(void)fclose(file);
	}
}

static int compare(const char *name, const struct buffer *got)
{
	struct buffer expected = { NULL, 0, 0 };
	int same;

	(void)read_file(name, "expected.txt", &expected);
	same = expected.data && expected.len == got->len &&
	       memcmp(expected.data, got->data, got->len) == 0;
	if (!same) {
		print_error("%s: expected\n%s\ngot\n%s\n", name,
		    expected.data ? expected.data : "(nothing)", got->data);
		if (getenv("UPDATE_CASES"))
			update(name, got);
	}
	free(expected.data);
	return same;
}

static int run_case(const char *name)
{
	struct buffer got = { NULL, 0, 0 };
	struct rusage usage;
	char piece[4096];
	int ends[2], status, good;
	ssize_t len;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)close(ends[0]);
		run_child(name, ends[1]);
	}
	(void)close(ends[1]);
	append(&got, "", 0);
	while ((len = read(ends[0], piece, sizeof(piece))) > 0)
		append(&got, piece, (size_t)len);
	(void)close(ends[0]);
	assert_int_equal(wait4(child, &status, 0, &usage), child);
	good = judge(name, status, &usage) && compare(name, &got);
	free(got.data);
	return good;
}

static void cases(void **state)
{
	const char *only = getenv("CASE");
	struct dirent **names;
	int count = scandir(FOLDER, &names, NULL, alphasort);
	int run = 0, failed = 0;

	(void)state;
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		if (names[i]->d_name[0] != '.' && (!only || strcmp(only, names[i]->d_name) == 0)) {
			run++;
			failed += !run_case(names[i]->d_name);
		}
		free(names[i]);
	}
	free(names);
	print_message("%d cases, %d failed\n", run, failed);
	assert_true(run > 0);
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(cases) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
