/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target without libFuzzer, for every compiler and for the ordinary tests:
 *
 *     fuzz_x COUNT [-n NAME] [FILE | FOLDER]...
 *
 * First every file as it is (folders are searched through, with -n for files of this name), then
 * COUNT mutations of them, the same ones every time.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define LONGEST 8192 /* inputs and mutations beyond are cut */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	uint8_t *data;
	size_t len;
};

static const char *only; /* the name of -n */
static struct input *inputs;
static size_t input_count;
static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static size_t below(size_t limit)
{
	return limit ? (size_t)(next_random() % limit) : 0;
}

static void *need(void *memory)
{
	if (!memory)
		exit(2);
	return memory;
}

static void add_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct input input = { need(malloc(LONGEST)), 0 };

	if (!file) {
		perror(path);
		exit(2);
	}
	input.len = fread(input.data, 1, LONGEST, file);
	(void)fclose(file);
	inputs = need(realloc(inputs, (input_count + 1) * sizeof(*inputs)));
	inputs[input_count++] = input;
}

static void add_path(const char *path)
{
	struct dirent **names;
	struct stat about;
	int count;

	if (stat(path, &about) || !S_ISDIR(about.st_mode)) {
		const char *name = strrchr(path, '/');

		if (!only || strcmp(name ? name + 1 : path, only) == 0)
			add_file(path);
		return;
	}
	count = scandir(path, &names, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		size_t len = strlen(path) + strlen(names[i]->d_name) + 2;
		char *inner = need(malloc(len));

		(void)snprintf(inner, len, "%s/%s", path, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			add_path(inner);
		free(inner);
		free(names[i]);
	}
	free(names);
}

/* Change a few bytes, cut a piece out, double one, or take one from another input. */
static size_t mutate(uint8_t *data, size_t len)
{
	static const char telling[] =
	    "{}[]:,-#&*!|>'\"%@`?<~\\ \t\n\r0.eE+\0\xff\xc2\x80\xef\xbb\xbf";
	size_t at = below(len + 1);
	size_t piece = below(len - at + 1) % 32;
	const struct input *other = &inputs[below(input_count)];
	size_t from = below(other->len + 1);

	switch (below(6)) {
	case 0:
		if (at < len)
			data[at] = (uint8_t)next_random();
		return len;
	case 1:
		if (at < len)
			data[at] = (uint8_t)telling[below(sizeof(telling) - 1)];
		return len;
	case 2: memmove(data + at, data + at + piece, len - at - piece); return len - piece;
	case 3:
		if (len + piece > LONGEST)
			return len;
		memmove(data + at + piece, data + at, len - at);
		return len + piece;
	case 4:
		if (len + 1 > LONGEST)
			return len;
		memmove(data + at + 1, data + at, len - at);
		data[at] = (uint8_t)telling[below(sizeof(telling) - 1)];
		return len + 1;
	default:
		piece = below(other->len - from + 1) % 64;
		if (len + piece > LONGEST)
			return len;
		memmove(data + at + piece, data + at, len - at);
		memcpy(data + at, other->data + from, piece);
		return len + piece;
	}
}

/* A copy of exactly the input's size, so that a read past its end is noticed. */
static void run(const uint8_t *data, size_t len)
{
	uint8_t *copy = need(malloc(len ? len : 1));

	if (len)
		memcpy(copy, data, len);
	(void)LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	uint8_t data[LONGEST];
	struct timespec begin, end;
	double seconds;

	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
			only = argv[++i];
		else
			add_path(argv[i]);
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	for (size_t i = 0; i < input_count; i++)
		run(inputs[i].data, inputs[i].len);
	for (unsigned long i = 0; input_count && i < count; i++) {
		const struct input *base = &inputs[below(input_count)];
		size_t len = base->len;

		memcpy(data, base->data, len);
		for (size_t rounds = 1 + below(6); rounds; rounds--)
			len = mutate(data, len);
		run(data, len);
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	(void)printf("%zu inputs and %lu mutations in %.1f s, %.0f/s\n", input_count,
	    input_count ? count : 0, seconds, (double)(input_count + count) / seconds);
	for (size_t i = 0; i < input_count; i++)
		free(inputs[i].data);
	free(inputs);
	return input_count ? 0 : 2;
}
