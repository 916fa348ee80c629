/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where secrets are left: a program looks through its own memory for one, after all that held it
 * was freed. The secret has SECRET_LENGTH characters, and make_secret() of the including file
 * writes it: it must not be in memory otherwise.
 */
#ifndef MPIJOB_TEST_OWN_MEMORY_H
#define MPIJOB_TEST_OWN_MEMORY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#define SECRET_LENGTH 40

static void make_secret(char out[SECRET_LENGTH + 1]);

/* How often it is in one piece of memory. */
static size_t count_in(const char *data, size_t len)
{
	char secret[SECRET_LENGTH + 1];
	size_t found = 0;
	const char *end = data + len;

	make_secret(secret);
	for (const char *p = data;
	     (p = memmem(p, (size_t)(end - p), secret, SECRET_LENGTH)) != NULL; p++)
		found++;
	explicit_bzero(secret, sizeof(secret));
	return found;
}

#define PIECE ((size_t)1 << 20)

/* Pieces overlap, so that none is missed at an edge; one that is seen twice counts twice. */
static size_t count_range(int memory, unsigned long from, unsigned long to, char *buffer)
{
	size_t found = 0;

	for (unsigned long at = from; at < to; at += PIECE - SECRET_LENGTH) {
		size_t want = to - at < PIECE ? to - at : PIECE;
		ssize_t got = pread(memory, buffer, want, (off_t)at);

		if (got > 0)
			found += count_in(buffer, (size_t)got);
	}
	explicit_bzero(buffer, PIECE);
	return found;
}

/* How often it is in all memory of this process that can be written, but for the stack and the
 * buffer. */
static size_t count_secrets(void)
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
			found += count_range(memory, from, own, buffer);
			found += count_range(memory, own + PIECE, to, buffer);
		} else {
			found += count_range(memory, from, to, buffer);
		}
	}
	fclose(maps);
	close(memory);
	return found;
}

#endif
