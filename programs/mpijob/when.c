/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how kubectl prints a duration: at most two units, and fewer digits the longer it is. Our
 * tables print the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "when.h"

#include "base/time.h"

#define MINUTE INT64_C(60)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define YEAR   (365 * DAY)

/* From `from` seconds: whole units, and the rest in units of `minor` seconds, unless that is 0. */
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

int when_parse(const char *text, int64_t *seconds)
{
	return text && mpijob__base_time_parse(text, seconds) ? 0 : -1;
}

const char *age_of_seconds(int64_t seconds, char text[AGE_SIZE])
{
	const struct span *span = spans;

	if (seconds < 0) {
		/* The clocks of client and server may differ a little. */
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
