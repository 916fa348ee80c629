/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_LOG_TIMES_H
#define MPIJOB_LOCAL_LOG_TIMES_H

#include "base/time.h"

#include <stddef.h>
#include <stdint.h>

/* When each line of a log was written. Zeros to begin with. */
struct log_times {
	struct log_mark *marks;
	size_t count;
	size_t cap;
	int64_t next_ns; /* the next line is not older than this */
	int inside;      /* the last line has no end yet */
};

/* A stretch of a log: bytes `from` (which is data[0]) up to `to`. */
struct log_bytes {
	const char *data;
	uint64_t from;
	uint64_t to;
};

/* These bytes came, now. */
void mpijob__local_log_times_add(struct log_times *times, const struct log_bytes *news,
    int64_t now_ms);
/* What is before `base` will be forgotten. */
void mpijob__local_log_times_cut(struct log_times *times, const struct log_bytes *all,
    uint64_t base);
void mpijob__local_log_times_clear(struct log_times *times);

/* The time of the line that begins at `offset`. Each line has one of its own, later than that of
 * the one before. */
int64_t mpijob__local_log_times_of(const struct log_times *times, const struct log_bytes *all,
    uint64_t offset);
/* The same, of the line behind one of which the time is known. */
int64_t mpijob__local_log_times_next(const struct log_times *times, uint64_t offset,
    int64_t before_ns);
/* Where the first line begins that is not older; where the last one begins that has no end yet, or
 * the end of all, when there is none. */
uint64_t mpijob__local_log_times_since(const struct log_times *times, const struct log_bytes *all,
    int64_t since_ns);

/* RFC 3339 in UTC with nine digits behind the dot. */
void mpijob__local_log_times_print(int64_t ns, char out[MPIJOB__BASE_TIME_NS_SIZE]);
/* RFC 3339: 1 and its nanoseconds since 1970, else 0. */
int mpijob__local_log_times_read(const char *text, int64_t *ns);

#endif
