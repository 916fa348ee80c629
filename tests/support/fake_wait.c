/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_wait.h"

int fake_wait_for_others;

static _Atomic int fake_wait_begun;   /* number of waits */
static _Atomic int fake_wait_endless; /* current waits without a limit */

int fake_wait_poll(struct pollfd *list, nfds_t count, int timeout_ms)
{
	int ready = poll(list, count, timeout_ms);

	if (ready == 0 && timeout_ms > 0)
		fake_clock_advance_us(timeout_ms * INT64_C(1000));
	return ready;
}

int fake_wait_is_readable(int fd)
{
	struct pollfd look = { fd, POLLIN, 0 };

	return poll(&look, 1, 0) == 1;
}

void fake_wait_await(void)
{
	int before = atomic_load(&fake_wait_begun);

	while (atomic_load(&fake_wait_begun) == before && !atomic_load(&fake_wait_endless))
		sched_yield();
}

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
	int endless = timeout_ms < 0, count;

	atomic_fetch_add(&fake_wait_endless, endless);
	atomic_fetch_add(&fake_wait_begun, timeout_ms != 0);
	count =
	    epoll_pwait(fd, events, most, endless || fake_wait_for_others ? timeout_ms : 0, NULL);
	atomic_fetch_sub(&fake_wait_endless, endless);
	if (count == 0 && timeout_ms > 0)
		fake_clock_advance_us(timeout_ms * INT64_C(1000));
	return count;
}
