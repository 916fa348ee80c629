/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows the unified format of diff(1). Edits change few places, so the lines after a difference are
 * found by a search that grows with the distance, and gives up after LONGEST_SEARCH lines.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "findings.h"
#include "print.h"
#include "text_diff.h"

#define CONTEXT        3
#define LONGEST_SEARCH 1000

struct lines {
	const char **starts; /* of each line; the last one is the end of the text */
	size_t count;
};

/* Lines that differ; `at` and `count` for the old text and the new one. */
struct change {
	size_t at[2];
	size_t count[2];
};

void text_print(const char *text, size_t len)
{
	const char *end = text + len;

	if (!isatty(STDOUT_FILENO)) {
		fwrite(text, 1, len, stdout);
		return;
	}
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		mpijob_escaped_write(text, (size_t)((stop ? stop : end) - text), file_write,
		    stdout);
		text = stop ? stop + 1 : end;
		if (stop)
			putchar('\n');
	}
}

static int split(const char *text, size_t len, struct lines *lines)
{
	const char *end = text + len;
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += text[i] == '\n';
	lines->starts = malloc((count + 2) * sizeof(*lines->starts));
	if (!lines->starts)
		return MPIJOB_ERR_NOMEM;
	for (lines->count = 0; text < end; lines->count++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		lines->starts[lines->count] = text;
		text = stop ? stop + 1 : end;
	}
	lines->starts[lines->count] = end;
	return 0;
}

static int same(const struct lines *texts, size_t a, size_t b)
{
	const char **left = texts[0].starts + a, **right = texts[1].starts + b;

	return a < texts[0].count && b < texts[1].count &&
	       left[1] - left[0] == right[1] - right[0] &&
	       memcmp(left[0], right[0], (size_t)(left[1] - left[0])) == 0;
}

/* Find the next lines that differ, from `change->at`. Returns 0 when there are none. */
static int next_change(const struct lines *texts, struct change *change)
{
	size_t *at = change->at;
	size_t rest[2];

	while (same(texts, at[0], at[1])) {
		at[0]++;
		at[1]++;
	}
	rest[0] = change->count[0] = texts[0].count - at[0];
	rest[1] = change->count[1] = texts[1].count - at[1];
	for (size_t distance = 1; distance <= LONGEST_SEARCH; distance++) {
		for (size_t i = 0; i <= distance; i++) {
			if (i > rest[0] || distance - i > rest[1] ||
			    !same(texts, at[0] + i, at[1] + distance - i))
				continue;
			change->count[0] = i;
			change->count[1] = distance - i;
			return 1;
		}
	}
	return rest[0] || rest[1];
}

static void print_lines(const struct lines *lines, char mark, size_t from, size_t count)
{
	for (size_t i = from; i < from + count; i++) {
		const char *start = lines->starts[i], *end = lines->starts[i + 1];
		int whole = end[-1] == '\n';
		print_out("%c", mark);
		text_print(start, (size_t)(end - start) - (size_t)whole);
		puts(whole ? "" : "\n\\ No newline at end of file");
	}
}

static void print_range(char mark, size_t from, size_t count)
{
	print_out(" %c%zu", mark, count ? from + 1 : from);
	if (count != 1)
		print_out(",%zu", count);
}

/* Print changes that are near to each other, with the lines around them. */
static void print_hunk(const struct lines *texts, const struct change *changes, size_t count)
{
	const struct change *last = &changes[count - 1];
	size_t before = changes->at[0] < CONTEXT ? changes->at[0] : CONTEXT;
	size_t from[2] = { changes->at[0] - before, changes->at[1] - before };
	size_t end = last->at[0] + last->count[0];
	size_t after = texts[0].count - end < CONTEXT ? texts[0].count - end : CONTEXT;

	fputs("@@", stdout);
	print_range('-', from[0], end + after - from[0]);
	print_range('+', from[1], last->at[1] + last->count[1] + after - from[1]);
	puts(" @@");
	for (size_t i = 0, at = from[0]; i < count; i++) {
		print_lines(&texts[0], ' ', at, changes[i].at[0] - at);
		print_lines(&texts[0], '-', changes[i].at[0], changes[i].count[0]);
		print_lines(&texts[1], '+', changes[i].at[1], changes[i].count[1]);
		at = changes[i].at[0] + changes[i].count[0];
	}
	print_lines(&texts[0], ' ', end, after);
}

static int print_changes(const char *name, const struct lines *texts)
{
	struct change change = { { 0, 0 }, { 0, 0 } };
	struct change *hunk = NULL, *grown;
	size_t count = 0;
	int code = 0, any = 0;

	while (code == 0 && next_change(texts, &change)) {
		if (!any++)
			print_out("--- %s\n+++ %s\n", name, name);
		if (count &&
		    change.at[0] > hunk[count - 1].at[0] + hunk[count - 1].count[0] + 2 * CONTEXT) {
			print_hunk(texts, hunk, count);
			count = 0;
		}
		grown = realloc(hunk, (count + 1) * sizeof(*hunk));
		if (!grown) {
			code = MPIJOB_ERR_NOMEM;
			break;
		}
		hunk = grown;
		hunk[count++] = change;
		change.at[0] += change.count[0];
		change.at[1] += change.count[1];
	}
	if (count && code == 0)
		print_hunk(texts, hunk, count);
	free(hunk);
	return code;
}

int text_diff_print(const char *name, const char *old, size_t old_len, const char *new_,
    size_t new_len)
{
	struct lines texts[2] = { { NULL, 0 }, { NULL, 0 } };
	int code = split(old, old_len, &texts[0]);

	if (code == 0)
		code = split(new_, new_len, &texts[1]);
	if (code == 0)
		code = print_changes(name, texts);
	free(texts[0].starts);
	free(texts[1].starts);
	return code;
}
