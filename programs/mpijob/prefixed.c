/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prefixes that distinguish the lines of several containers: "[pod/NAME/CONTAINER] ", as kubectl
 * logs
 * --prefix prints them, in a colour that stays the same for the same container.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prefixed.h"

static const char *const COLOURS[] = { "\033[36m", "\033[33m", "\033[32m", "\033[35m", "\033[34m",
	"\033[31m" };

#define COLOURS_COUNT (sizeof(COLOURS) / sizeof(COLOURS[0]))
#define NO_COLOUR     "\033[0m"

static int takes_colours(int fd)
{
	const char *refused = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(refused && *refused) && term && *term && strcmp(term, "dumb") != 0;
}

int prefixed_begin(struct prefixed *stream, struct outlet *outlet)
{
	stream->outlet = outlet;
	stream->coloured = takes_colours(outlet->fd);
	stream->inside = NULL;
	stream->line = mpijob_text_new();
	return stream->line ? 0 : -1;
}

void prefixed_free(struct prefixed *stream)
{
	mpijob_text_free(stream->line);
	stream->line = NULL;
}

/* FNV-1a of the two names. */
static const char *colour_of(const char *pod, const char *container)
{
	uint32_t hash = 2166136261U;

	for (const char *at = pod; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619U;
	for (const char *at = container; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619U;
	return COLOURS[hash % COLOURS_COUNT];
}

static int add(mpijob_text *text, const char *string)
{
	return mpijob_text_write(text, string, strlen(string));
}

static int add_prefix(struct prefixed *stream, const char *pod, const char *container)
{
	mpijob_text *line = stream->line;
	int code = add(line, stream->coloured ? colour_of(pod, container) : "");

	if (code == 0)
		code = add(line, "[pod/");
	if (code == 0)
		code = mpijob_escaped_write(pod, strlen(pod), mpijob_text_write, line);
	if (code == 0)
		code = add(line, "/");
	if (code == 0)
		code = mpijob_escaped_write(container, strlen(container), mpijob_text_write, line);
	if (code == 0)
		code = add(line, "] ");
	return code ? code : add(line, stream->coloured ? NO_COLOUR : "");
}

/* Hand a whole line, or a part of one, to the outlet in one piece. */
static int put_part(struct prefixed *stream, const char *pod, const char *container,
    const char *data, size_t len)
{
	int goes_on = stream->inside == container, code = 0;

	mpijob_text_clear(stream->line);
	if (!goes_on && stream->inside)
		code = add(stream->line, "\n");
	if (code == 0 && !goes_on)
		code = add_prefix(stream, pod, container);
	if (code == 0)
		code = mpijob_text_write(stream->line, data, len);
	stream->inside = data[len - 1] == '\n' ? NULL : container;
	return code ? -1
		    : outlet_put(stream->outlet, mpijob_text_data(stream->line),
			  mpijob_text_len(stream->line));
}

int prefixed_put(struct prefixed *stream, const char *pod, const char *container, const char *data,
    size_t len)
{
	int code = 0;

	while (len && code == 0) {
		const char *end = memchr(data, '\n', len);
		size_t part = end ? (size_t)(end - data) + 1 : len;

		code = put_part(stream, pod, container, data, part);
		data += part;
		len -= part;
	}
	return code;
}
