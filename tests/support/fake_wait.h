/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting by the fake clock, for programs whose library waits in the kernel: the clock moves only
 * when a wait ends without an event, by the time of that wait. Such a wait takes no real time,
 * unless the program says that processes or threads are what it waits for. The C library's
 * epoll_wait() is replaced for all code of the program.
 */
#ifndef MPIJOB_TEST_FAKE_WAIT_H
#define MPIJOB_TEST_FAKE_WAIT_H

#include "fake_clock.h"

#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

static int fake_wait_for_others;      /* wait really: others have to do something meanwhile */
static _Atomic int fake_wait_begun;   /* how many waits */
static _Atomic int fake_wait_endless; /* how many without a limit are under way */

/* Like poll(), for processes. */
__attribute__((unused)) static int fake_wait_poll(struct pollfd *list, nfds_t count, int timeout_ms)
{
	int ready = poll(list, count, timeout_ms);

	if (ready == 0 && timeout_ms > 0)
		fake_clock_advance_us(timeout_ms * INT64_C(1000));
	return ready;
}

__attribute__((unused)) static int fake_wait_is_readable(int fd)
{
	struct pollfd look = { fd, POLLIN, 0 };

	return poll(&look, 1, 0) == 1;
}

/* For a thread: until another one waits. */
__attribute__((unused)) static void fake_wait_await(void)
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

#endif
