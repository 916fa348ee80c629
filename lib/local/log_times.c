/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times of log lines. One mark is stored for each millisecond in which output arrived; the
 * lines of that millisecond are one nanosecond apart. So the times of lines are unique, and a
 * client that continues with sinceTime neither misses nor repeats a line.
 */
#include "local/log_times.h"

#include <stdlib.h>
#include <string.h>

#define NS_OF_MS 1000000
#define NS_OF_S  1000000000

struct log_mark {
	uint64_t offset; /* a line begins here */
	int64_t ns;
};

static const char *line_end(const struct mpijob__local_log_bytes *bytes, uint64_t offset)
{
	return offset < bytes->to ? memchr(bytes->data + (offset - bytes->from), '\n',
					(size_t)(bytes->to - offset))
				  : NULL;
}

/* The offset of the line after the one at `offset`; `to` when there is none. */
static uint64_t next_line(const struct mpijob__local_log_bytes *bytes, uint64_t offset)
{
	const char *end = line_end(bytes, offset);

	return end ? bytes->from + (uint64_t)(end - bytes->data) + 1 : bytes->to;
}

/* How many lines begin in [from, to). A line begins at `from`. */
static int64_t count_lines(const struct mpijob__local_log_bytes *bytes, uint64_t from, uint64_t to)
{
	int64_t count = 0;

	for (; from < to; from = next_line(bytes, from))
		count++;
	return count;
}

static int add_mark(struct mpijob__local_log_times *times, uint64_t offset, int64_t ns)
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

void mpijob__local_log_times_add(struct mpijob__local_log_times *times,
    const struct mpijob__local_log_bytes *added, int64_t now_ms)
{
	uint64_t begin = times->in_line ? next_line(added, added->from) : added->from;
	int64_t now_ns = now_ms * NS_OF_MS;

	if (added->from == added->to)
		return;
	times->in_line = added->data[added->to - added->from - 1] != '\n';
	if (begin == added->to)
		return;
	if (now_ns < times->next_ns)
		now_ns = times->next_ns;
	/* If memory runs out, the lines get a slightly older time. */
	if ((times->count == 0 || now_ns > times->next_ns) && add_mark(times, begin, now_ns))
		times->next_ns = now_ns;
	times->next_ns += count_lines(added, begin, added->to);
}

/* The index of the last mark at or before `offset`; 0 when all are after it. */
static size_t find_mark(const struct mpijob__local_log_times *times, uint64_t offset)
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

void mpijob__local_log_times_trim(struct mpijob__local_log_times *times,
    const struct mpijob__local_log_bytes *all, uint64_t base)
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

void mpijob__local_log_times_clear(struct mpijob__local_log_times *times)
{
	free(times->marks);
	memset(times, 0, sizeof(*times));
}

int64_t mpijob__local_log_times_at(const struct mpijob__local_log_times *times,
    const struct mpijob__local_log_bytes *all, uint64_t offset)
{
	const struct log_mark *mark;

	if (times->count == 0)
		return times->next_ns;
	mark = &times->marks[find_mark(times, offset)];
	return mark->offset > offset ? mark->ns : mark->ns + count_lines(all, mark->offset, offset);
}

int64_t mpijob__local_log_times_next(const struct mpijob__local_log_times *times, uint64_t offset,
    int64_t before_ns)
{
	size_t mark = times->count ? find_mark(times, offset) : 0;

	return times->count && times->marks[mark].offset == offset ? times->marks[mark].ns
								   : before_ns + 1;
}

uint64_t mpijob__local_log_times_since(const struct mpijob__local_log_times *times,
    const struct mpijob__local_log_bytes *all, int64_t since_ns)
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
	return offset == all->to && times->in_line ? last : offset;
}

void mpijob__local_log_times_format(int64_t ns, char out[MPIJOB__BASE_TIME_NS_SIZE])
{
	(void)mpijob__base_time_format_ns(ns / NS_OF_S, (int32_t)(ns % NS_OF_S), 9, out);
}

int mpijob__local_log_times_parse(const char *text, int64_t *ns)
{
	int64_t seconds;
	int32_t fraction;

	/* 64 bits of nanoseconds end in the year 2262. */
	if (!mpijob__base_time_parse_ns(text, &seconds, &fraction) || seconds < 0 ||
	    seconds >= INT64_MAX / NS_OF_S)
		return 0;
	*ns = seconds * NS_OF_S + fraction;
	return 1;
}
