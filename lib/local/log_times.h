/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_LOG_TIMES_H
#define MPIJOB_LOCAL_LOG_TIMES_H

#include "base/time.h"

#include <stddef.h>
#include <stdint.h>

/* The times of the lines of a log. Initialise with zeros. */
struct mpijob__local_log_times {
	struct log_mark *marks;
	size_t count;
	size_t cap;
	int64_t next_ns; /* lower bound for the time of the next line */
	int in_line;     /* the last line is incomplete */
};

/* The bytes [from, to) of a log; data[0] is the byte at `from`. */
struct mpijob__local_log_bytes {
	const char *data;
	uint64_t from;
	uint64_t to;
};

/* Record that bytes were appended at `now_ms`, milliseconds since 1970. */
void mpijob__local_log_times_add(struct mpijob__local_log_times *times,
    const struct mpijob__local_log_bytes *added, int64_t now_ms);
/* Drop the marks before `base`, because the log drops these bytes. */
void mpijob__local_log_times_trim(struct mpijob__local_log_times *times,
    const struct mpijob__local_log_bytes *all, uint64_t base);
void mpijob__local_log_times_clear(struct mpijob__local_log_times *times);

/* The time of the line that begins at `offset`, in nanoseconds since 1970. Times are unique and
 * increase from line to line. */
int64_t mpijob__local_log_times_at(const struct mpijob__local_log_times *times,
    const struct mpijob__local_log_bytes *all, uint64_t offset);
/* The same for the line after one whose time, `before_ns`, is known. */
int64_t mpijob__local_log_times_next(const struct mpijob__local_log_times *times, uint64_t offset,
    int64_t before_ns);
/* The offset of the first line at or after `since_ns`. If there is none: the offset of the last
 * line if it is incomplete, else the end. */
uint64_t mpijob__local_log_times_since(const struct mpijob__local_log_times *times,
    const struct mpijob__local_log_bytes *all, int64_t since_ns);

/* Format as RFC 3339 in UTC with nine fractional digits. */
void mpijob__local_log_times_format(int64_t ns, char out[MPIJOB__BASE_TIME_NS_SIZE]);
/* Parse RFC 3339: 1 and the nanoseconds since 1970, or 0. */
int mpijob__local_log_times_parse(const char *text, int64_t *ns);

#endif
