/* SPDX-License-Identifier: Apache-2.0 */
/* A recording is read once, and its lines are used up by being played. */
#include "record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void lines_free(struct line *lines)
{
	while (lines) {
		struct line *line = lines;

		lines = line->next;
		mpijob_doc_free(line->doc);
		free(line);
	}
}

static int lines_read(const char *text, size_t len, struct line **out)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	const char *end;
	int code = 0;

	*out = NULL;
	options.format = MPIJOB_FORMAT_JSON;
	options.max_bytes = (size_t)1 << 30;
	for (; code == 0 && (end = memchr(text, '\n', len)) != NULL;
	     len -= (size_t)(end + 1 - text), text = end + 1) {
		*out = calloc(1, sizeof(**out));
		code = *out ? mpijob_doc_parse(text, (size_t)(end - text), &options, &(*out)->doc,
				  NULL)
			    : MPIJOB_ERR_NOMEM;
		out = *out ? &(*out)->next : out;
	}
	return code;
}

static void destroy(void *self)
{
	struct player *player = self;

	lines_free(player->lines);
	close(player->fd);
	free(player);
}

int replay_new(const char *text, size_t len, struct mpijob_transport *transport, void **self)
{
	static const struct mpijob_transport functions = {
		sizeof(functions),
		replay_start,
		replay_poll,
		replay_interest,
		replay_pause,
		replay_cancel,
		replay_wake,
		destroy,
	};
	struct player *player = calloc(1, sizeof(*player));
	int code;

	if (!player)
		return MPIJOB_ERR_NOMEM;
	player->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	code = lines_read(text, len, &player->lines);
	*transport = functions;
	*self = player;
	if (code)
		destroy(player);
	return code;
}
