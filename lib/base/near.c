/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "did you mean".
 *
 * Optimal string alignment with three rows on the stack: names of fields and enumerations are
 * short, and longer words have no suggestion.
 */
#include "base/near.h"

#include <string.h>

#define LONGEST 64

static unsigned char fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t mpijob__base_near_distance(const char *a, const char *b, size_t limit)
{
	size_t rows[3][LONGEST + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];
	size_t a_len = strlen(a), b_len = strlen(b);

	if (strcmp(a, b) == 0)
		return 0;
	if (a_len > LONGEST || b_len > LONGEST)
		return limit + 1;
	for (size_t j = 0; j <= b_len; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *spare = before;

		now[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t replace = last[j - 1] + (fold(a[i - 1]) != fold(b[j - 1]));

			now[j] = least(replace, least(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = spare;
	}
	return least(last[b_len], limit + 1);
}

const char *mpijob__base_near_word(const char *word, const char *const *words, size_t count)
{
	size_t limit = strlen(word) / 3;
	size_t best = limit + 1;
	const char *found = NULL;
	int tie = 0;

	for (size_t i = 0; i < count; i++) {
		size_t distance;

		if (!words[i] || strcmp(word, words[i]) == 0)
			continue;
		distance = mpijob__base_near_distance(word, words[i], limit);
		if (distance < best) {
			best = distance;
			found = words[i];
			tie = 0;
		} else if (distance == best && found && strcmp(found, words[i]) != 0) {
			tie = 1;
		}
	}
	return best <= limit && !tie ? found : NULL;
}
