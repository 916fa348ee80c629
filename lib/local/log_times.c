/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times of lines, at the cost of one mark for each millisecond in which something was written.
 *
 * Lines that come in the same millisecond are a nanosecond apart, so no two lines have the same
 * time, and who reads a log again from a time on knows exactly where it stood.
 */
#include "log_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_OF_MS 1000000
#define NS_OF_S  1000000000

struct log_mark {
	uint64_t offset; /* a line begins here */
	int64_t ns;
};

static const char *line_end(const struct log_bytes *bytes, uint64_t offset)
{
	return offset < bytes->to ? memchr(bytes->data + (offset - bytes->from), '\n',
					(size_t)(bytes->to - offset))
				  : NULL;
}

/* Where the line behind the one at `offset` begins; `to` when there is none. */
static uint64_t next_line(const struct log_bytes *bytes, uint64_t offset)
{
	const char *end = line_end(bytes, offset);

	return end ? bytes->from + (uint64_t)(end - bytes->data) + 1 : bytes->to;
}

/* How many lines begin in [from, to); one begins at `from`. */
static int64_t count_lines(const struct log_bytes *bytes, uint64_t from, uint64_t to)
{
	int64_t count = 0;

	for (; from < to; from = next_line(bytes, from))
		count++;
	return count;
}

static int add_mark(struct log_times *times, uint64_t offset, int64_t ns)
{
	size_t cap = times->cap ? times->cap * 2 : 16;
	struct log_mark *marks;

	if (times->count == times->cap) {
		marks = realloc(times->marks, cap * sizeof(*marks));
		if (!marks)
			return 0;
		times->marks = marks;
		times->cap = cap;
	}
	times->marks[times->count++] = (struct log_mark){ offset, ns };
	return 1;
}

void mpijob__local_log_times_add(struct log_times *times, const struct log_bytes *news,
    int64_t now_ms)
{
	uint64_t begin = times->inside ? next_line(news, news->from) : news->from;
	int64_t now_ns = now_ms * NS_OF_MS;

	if (news->from == news->to)
		return;
	times->inside = news->data[news->to - news->from - 1] != '\n';
	if (begin == news->to)
		return;
	if (now_ns < times->next_ns)
		now_ns = times->next_ns;
	/* Without memory the lines are a little older. */
	if ((times->count == 0 || now_ns > times->next_ns) && add_mark(times, begin, now_ns))
		times->next_ns = now_ns;
	times->next_ns += count_lines(news, begin, news->to);
}

/* The last mark that is not behind `offset`; 0 when all are. */
static size_t find_mark(const struct log_times *times, uint64_t offset)
{
	size_t low = 0, high = times->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (times->marks[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void mpijob__local_log_times_cut(struct log_times *times, const struct log_bytes *all,
    uint64_t base)
{
	uint64_t begin = base;
	struct log_mark *mark;
	size_t drop;

	if (times->count == 0 || base <= times->marks[0].offset)
		return;
	if (all->data[base - 1 - all->from] != '\n')
		begin = next_line(all, base);
	drop = begin < all->to ? find_mark(times, begin) : times->count;
	if (drop < times->count) {
		mark = &times->marks[drop];
		mark->ns += count_lines(all, mark->offset, begin);
		mark->offset = begin;
	}
	times->count -= drop;
	memmove(times->marks, times->marks + drop, times->count * sizeof(*times->marks));
}

void mpijob__local_log_times_clear(struct log_times *times)
{
	free(times->marks);
	memset(times, 0, sizeof(*times));
}

int64_t mpijob__local_log_times_of(const struct log_times *times, const struct log_bytes *all,
    uint64_t offset)
{
	const struct log_mark *mark;

	if (times->count == 0)
		return times->next_ns;
	mark = &times->marks[find_mark(times, offset)];
	return mark->offset > offset ? mark->ns : mark->ns + count_lines(all, mark->offset, offset);
}

int64_t mpijob__local_log_times_next(const struct log_times *times, uint64_t offset,
    int64_t before_ns)
{
	size_t mark = times->count ? find_mark(times, offset) : 0;

	return times->count && times->marks[mark].offset == offset ? times->marks[mark].ns
								   : before_ns + 1;
}

uint64_t mpijob__local_log_times_since(const struct log_times *times, const struct log_bytes *all,
    int64_t since_ns)
{
	uint64_t offset = all->from, last = all->from, end = all->to;
	int64_t ns = INT64_MIN;

	for (size_t i = times->count; i > 0; i--) {
		const struct log_mark *mark = &times->marks[i - 1];

		if (mark->ns <= since_ns || i == 1) {
			offset = last = mark->ns <= since_ns ? mark->offset : all->from;
			ns = mark->ns;
			break;
		}
		end = mark->offset;
	}
	for (; ns < since_ns && offset < end; ns++) {
		last = offset;
		offset = next_line(all, offset);
	}
	return offset == all->to && times->inside ? last : offset;
}

void mpijob__local_log_times_print(int64_t ns, char out[LOG_TIME_SIZE])
{
	time_t seconds = (time_t)(ns / NS_OF_S);
	struct tm parts = { 0 };

	gmtime_r(&seconds, &parts);
	snprintf(out, LOG_TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%09dZ",
	    (parts.tm_year + 1900) % 10000, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
	    parts.tm_min, parts.tm_sec, (int)(ns % NS_OF_S));
}

/* Digits of a fixed number; -1 for what is none. */
static int digits(const char **at, int count, char behind)
{
	int value = 0;

	for (; count > 0; count--, (*at)++) {
		if (**at < '0' || **at > '9')
			return -1;
		value = value * 10 + (**at - '0');
	}
	if (behind && *(*at)++ != behind)
		return -1;
	return value;
}

/* "Z", "+01:00" or "-01:00": seconds to be taken away. */
static int read_zone(const char *at, int64_t *zone)
{
	int sign = *at == '-' ? -1 : 1, hours, minutes;

	*zone = 0;
	if (*at == 'Z')
		return at[1] == 0;
	if (*at != '+' && *at != '-')
		return 0;
	at++;
	hours = digits(&at, 2, ':');
	minutes = hours < 0 ? -1 : digits(&at, 2, 0);
	*zone = sign * (hours * 3600 + minutes * 60);
	return minutes >= 0 && *at == 0;
}

int mpijob__local_log_times_read(const char *text, int64_t *ns)
{
	static const char behind[] = { '-', '-', 'T', ':', ':', 0 };
	int parts[6], count = 0;
	int64_t fraction = 0, zone;
	struct tm tm = { 0 };

	for (size_t i = 0; i < 6; i++) {
		parts[i] = digits(&text, i == 0 ? 4 : 2, behind[i]);
		if (parts[i] < 0)
			return 0;
	}
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++)
			if (count++ < 9)
				fraction = fraction * 10 + (*text - '0');
	for (; count < 9; count++)
		fraction *= 10;
	/* Nanoseconds of 64 bits end in the year 2262. */
	if (!read_zone(text, &zone) || parts[0] < 1970 || parts[0] > 2200 || parts[1] < 1 ||
	    parts[1] > 12 || parts[2] < 1 || parts[2] > 31 || parts[3] > 23 || parts[4] > 59 ||
	    parts[5] > 60)
		return 0;
	tm.tm_year = parts[0] - 1900;
	tm.tm_mon = parts[1] - 1;
	tm.tm_mday = parts[2];
	tm.tm_hour = parts[3];
	tm.tm_min = parts[4];
	tm.tm_sec = parts[5];
	*ns = ((int64_t)timegm(&tm) - zone) * NS_OF_S + fraction;
	return 1;
}
