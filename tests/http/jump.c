/* SPDX-License-Identifier: Apache-2.0 */
/* For LD_PRELOAD: clocks that are ahead by as many seconds as the file $JUMP says, "MONOTONIC
 * WALL"; see clocks.py. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long read_jump(clockid_t clock)
{
	const char *path = getenv("JUMP");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char text[64] = "", *wall;
	ssize_t len = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	long monotonic;

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return 0;
	monotonic = strtol(text, &wall, 10);
	return clock == CLOCK_REALTIME ? strtol(wall, NULL, 10) : monotonic;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, now);

	if (rc == 0)
		now->tv_sec += read_jump(clock);
	return rc;
}
