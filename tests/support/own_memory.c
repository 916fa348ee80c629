/* SPDX-License-Identifier: Apache-2.0 */
#include "own_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 20)

/* The number of copies in one piece of memory. */
static size_t count_in(own_memory_make_fn make, const char *data, size_t len)
{
	char secret[SECRET_LENGTH + 1];
	size_t found = 0;
	const char *end = data + len;

	make(secret);
	for (const char *p = data;
	     (p = memmem(p, (size_t)(end - p), secret, SECRET_LENGTH)) != NULL; p++)
		found++;
	explicit_bzero(secret, sizeof(secret));
	return found;
}

/* Pieces overlap, so that a copy across an edge is found. */
static size_t count_range(own_memory_make_fn make, int memory, unsigned long from, unsigned long to,
    char *buffer)
{
	size_t found = 0;

	for (unsigned long at = from; at < to; at += PIECE - SECRET_LENGTH) {
		size_t want = to - at < PIECE ? to - at : PIECE;
		ssize_t got = pread(memory, buffer, want, (off_t)at);

		if (got > 0)
			found += count_in(make, buffer, (size_t)got);
	}
	explicit_bzero(buffer, PIECE);
	return found;
}

size_t own_memory_count(own_memory_make_fn make)
{
	static char buffer[PIECE];
	FILE *maps = fopen("/proc/self/maps", "r");
	int memory = open("/proc/self/mem", O_RDONLY);
	unsigned long from, to, own = (unsigned long)(uintptr_t)buffer;
	char line[512], access[5];
	size_t found = 0;

	assert_non_null(maps);
	assert_true(memory >= 0);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3 || access[1] != 'w' ||
		    strstr(line, "[stack]"))
			continue;
		/* The shadow of a sanitizer is huge and empty. */
		if (to - from > (1ul << 32))
			continue;
		if (own >= from && own < to) {
			found += count_range(make, memory, from, own, buffer);
			found += count_range(make, memory, own + PIECE, to, buffer);
		} else {
			found += count_range(make, memory, from, to, buffer);
		}
	}
	fclose(maps);
	close(memory);
	return found;
}
