/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how kubectl shortens a length of time: at most two units, and fewer digits the longer it
 * is. People compare its tables with ours.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "when.h"

#define MINUTE INT64_C(60)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define YEAR   (365 * DAY)

/* From `from` seconds on: so many whole units, and the rest in smaller ones where `minor` is
 * one. */
static const struct span {
	int64_t from;
	int64_t unit;
	char letter;
	int64_t minor;
	char minor_letter;
} spans[] = {
	{ 8 * YEAR, YEAR, 'y', 0, 0 },
	{ 2 * YEAR, YEAR, 'y', DAY, 'd' },
	{ 8 * DAY, DAY, 'd', 0, 0 },
	{ 2 * DAY, DAY, 'd', HOUR, 'h' },
	{ 8 * HOUR, HOUR, 'h', 0, 0 },
	{ 3 * HOUR, HOUR, 'h', MINUTE, 'm' },
	{ 10 * MINUTE, MINUTE, 'm', 0, 0 },
	{ 2 * MINUTE, MINUTE, 'm', 1, 's' },
	{ 0, 1, 's', 0, 0 },
};

static int is_same(const struct tm *a, const struct tm *b)
{
	return a->tm_year == b->tm_year && a->tm_mon == b->tm_mon && a->tm_mday == b->tm_mday &&
	       a->tm_hour == b->tm_hour && a->tm_min == b->tm_min && a->tm_sec == b->tm_sec;
}

int when_parse(const char *text, int64_t *seconds)
{
	struct tm given = { 0 }, again;
	int end = 0;

	if (!text || sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &given.tm_year, &given.tm_mon,
			 &given.tm_mday, &given.tm_hour, &given.tm_min, &given.tm_sec, &end) != 6)
		return -1;
	/* Leases and newer Events have microseconds. */
	text += end;
	text += *text == '.' ? 1 + strspn(text + 1, "0123456789") : 0;
	if (strcmp(text, "Z") != 0)
		return -1;
	given.tm_year -= 1900;
	given.tm_mon -= 1;
	again = given;
	time_t time = timegm(&again);
	if (!is_same(&again, &given))
		return -1;
	*seconds = time;
	return 0;
}

const char *age_of_seconds(int64_t seconds, char text[AGE_SIZE])
{
	const struct span *span = spans;

	if (seconds < 0) {
		/* Clocks differ a little. */
		snprintf(text, AGE_SIZE, "%s", seconds < -1 ? "<invalid>" : "0s");
		return text;
	}
	while (seconds < span->from)
		span++;
	int64_t rest = span->minor ? seconds % span->unit / span->minor : 0;
	int len = snprintf(text, AGE_SIZE, "%" PRId64 "%c", seconds / span->unit, span->letter);
	if (rest)
		snprintf(text + len, AGE_SIZE - (size_t)len, "%" PRId64 "%c", rest,
		    span->minor_letter);
	return text;
}

const char *age_text(const char *since, int64_t now_s, char text[AGE_SIZE])
{
	int64_t seconds;

	if (when_parse(since, &seconds))
		return strcpy(text, "<unknown>");
	return age_of_seconds(now_s - seconds, text);
}
