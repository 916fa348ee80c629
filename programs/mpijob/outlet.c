/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes to a blocking descriptor without blocking. Other processes may share the descriptor, so
 * O_NONBLOCK is not possible. A pipe that poll() reports as ready takes PIPE_BUF bytes, so each
 * write is at most that long.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "outlet.h"

#include "base/clock.h"

void outlet_wait(const struct outlet *outlet, int timeout_ms)
{
	struct pollfd ready = { .fd = outlet->fd, .events = POLLOUT };

	(void)poll(&ready, 1, timeout_ms);
}

/* Bytes written; 0: the descriptor is not ready; -1: it has failed. */
static ssize_t write_some(struct outlet *outlet, const char *data, size_t len)
{
	struct pollfd ready = { .fd = outlet->fd, .events = POLLOUT };

	if (poll(&ready, 1, 0) <= 0)
		return 0;
	ssize_t written = write(outlet->fd, data, len < PIPE_BUF ? len : PIPE_BUF);
	if (written > 0)
		outlet->moved_ms = mpijob__base_clock_monotonic_ms();
	if (written >= 0 || errno == EAGAIN || errno == EINTR)
		return written > 0 ? written : 0;
	outlet_fail(outlet, errno);
	return -1;
}

size_t outlet_pending(const struct outlet *outlet)
{
	return outlet->len - outlet->at;
}

void outlet_fail(struct outlet *outlet, int error)
{
	outlet->error = error;
	outlet->at = outlet->len = 0;
}

void outlet_flush(struct outlet *outlet)
{
	while (outlet_pending(outlet) && !outlet->error) {
		ssize_t written =
		    write_some(outlet, outlet->data + outlet->at, outlet_pending(outlet));
		if (written <= 0)
			break;
		outlet->at += (size_t)written;
	}
	if (outlet_pending(outlet) == 0)
		outlet->at = outlet->len = 0;
	outlet->due = outlet_pending(outlet) + OUTLET_BLOCK;
}

/* Half of the buffer stays free, so that bytes are moved once on average. */
static int make_room(struct outlet *outlet, size_t len)
{
	size_t pending = outlet_pending(outlet), cap = 2 * (pending + len);

	if (outlet->cap - outlet->len >= len)
		return 0;
	if (outlet->at)
		memmove(outlet->data, outlet->data + outlet->at, pending);
	outlet->at = 0;
	outlet->len = pending;
	if (cap <= outlet->cap)
		return 0;
	char *more = realloc(outlet->data, cap);
	if (!more)
		return -1;
	outlet->data = more;
	outlet->cap = cap;
	return 0;
}

int outlet_put(struct outlet *outlet, const char *data, size_t len)
{
	if (len == 0 || outlet->error)
		return 0;
	if (make_room(outlet, len))
		return -1;
	if (outlet_pending(outlet) == 0)
		outlet->moved_ms = mpijob__base_clock_monotonic_ms();
	memcpy(outlet->data + outlet->len, data, len);
	outlet->len += len;
	if (outlet_pending(outlet) >= outlet->due)
		outlet_flush(outlet);
	return 0;
}

void outlet_turn(struct outlet *outlet)
{
	size_t pending = outlet_pending(outlet);

	if (pending && (pending >= OUTLET_BLOCK ||
			   mpijob__base_clock_monotonic_ms() - outlet->moved_ms >= OUTLET_HOLD))
		outlet_flush(outlet);
}

void outlet_free(struct outlet *outlet)
{
	free(outlet->data);
	outlet->data = NULL;
	outlet->at = outlet->len = outlet->cap = 0;
}
