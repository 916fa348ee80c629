/* SPDX-License-Identifier: Apache-2.0 */
/* A transport without a cluster: it only has to tell, at the next poll, what was told before. */
#include "record.h"

#include <poll.h>
#include <unistd.h>

static void ring(struct player *player)
{
	(void)!write(player->fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

int replay_start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange)
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

int replay_poll(void *self, int timeout_ms)
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

int replay_interest(void *self, int *fd, int64_t *deadline_ms)
{
	*fd = ((struct player *)self)->fd;
	*deadline_ms = -1;
	return 0;
}

void replay_pause(void *self, mpijob_exchange *exchange, int on)
{
	((struct line *)mpijob_exchange_slot(exchange))->paused = on;
	ring(self);
}

void replay_cancel(void *self, mpijob_exchange *exchange)
{
	(void)self;
	((struct line *)mpijob_exchange_slot(exchange))->exchange = NULL;
}

void replay_wake(void *self)
{
	ring(self);
}
