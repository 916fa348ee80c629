/* SPDX-License-Identifier: Apache-2.0 */
/* A transport without a cluster: it only has to tell, at the next poll, what was told before. */
#include "record.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct player {
	struct line *lines;
	int fd;
};

static void ring(struct player *player)
{
	(void)!write(player->fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

static int start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
{
	struct player *player = self;
	struct line *line = lines_find(player->lines, request);

	if (!line)
		return MPIJOB_ERR_UNSUPPORTED;
	line->used = 1;
	line->exchange = exchange;
	mpijob_exchange_set_slot(exchange, line);
	ring(player);
	return 0;
}

static int poll_lines(void *self, int timeout_ms)
{
	struct player *player = self;
	struct pollfd wait = { player->fd, POLLIN, 0 };
	uint64_t count;

	if (poll(&wait, 1, timeout_ms) > 0)
		(void)!read(player->fd, &count, sizeof(count));
	for (struct line *line = player->lines; line; line = line->next)
		if (line->exchange && !line->told && !line->paused)
			line_tell(line);
	return 0;
}

static int interest(void *self, int *fd, int64_t *deadline_ms)
{
	*fd = ((struct player *)self)->fd;
	*deadline_ms = -1;
	return 0;
}

static void hold(void *self, mpijob_exchange *exchange, int on)
{
	((struct line *)mpijob_exchange_slot(exchange))->paused = on;
	ring(self);
}

static void cancel(void *self, mpijob_exchange *exchange)
{
	(void)self;
	((struct line *)mpijob_exchange_slot(exchange))->exchange = NULL;
}

static void wake(void *self)
{
	ring(self);
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
		sizeof(functions), start, poll_lines, interest, hold, cancel, wake, destroy,
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
