/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits by the fake clock, for programs whose library waits in the kernel: when a wait ends without
 * an event, the clock advances by its timeout. Such a wait takes no real time unless
 * fake_wait_for_others is set. fake_wait.c replaces the C library's epoll_wait() for the whole
 * program, so CMake links it like fake_clock.c.
 */
#ifndef MPIJOB_TEST_FAKE_WAIT_H
#define MPIJOB_TEST_FAKE_WAIT_H

#include "fake_clock.h"

#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

extern int fake_wait_for_others; /* wait in real time, for other processes or threads */

/* poll() in real time; a timeout also advances the clock. */
int fake_wait_poll(struct pollfd *list, nfds_t count, int timeout_ms);
int fake_wait_is_readable(int fd);
/* Wait until another thread waits. */
void fake_wait_await(void);
#endif
