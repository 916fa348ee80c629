/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of one container. */
#ifndef MPIJOB__CLIENT_LOG_LINES_H
#define MPIJOB__CLIENT_LOG_LINES_H

#include "base/text.h"

#include <stdint.h>

struct mpijob__client_log_source;

/* A time as the server writes it, and in numbers, to compare. */
struct mpijob__client_log_time {
	char text[48]; /* "" when there is none */
	int64_t seconds, nanoseconds;
};

/* How far one run was read. */
struct mpijob__client_log_position {
	struct mpijob__client_log_time last; /* of the last line that was reported to its end */
	size_t same;                         /* lines with this time, the last one included */
	struct mpijob__client_log_time open; /* of a line of which a part was reported */
	size_t reported;                     /* bytes of that part; 0: none */
};

/* Where in the stream the next byte is. */
enum mpijob__client_log_line_state {
	MPIJOB__CLIENT_LOG_LINE_START,
	MPIJOB__CLIENT_LOG_LINE_INSIDE,  /* a part of the line was reported */
	MPIJOB__CLIENT_LOG_LINE_DROPPING /* the line was reported before the stream broke */
};

struct mpijob__client_log_lines {
	enum mpijob__client_log_line_state state;
	mpijob_text text; /* the part of the line that was received and is not reported */
	size_t skip;      /* bytes of the line that were reported before the stream broke */
	int catching_up;  /* the next lines may have been reported before */
	size_t caught;    /* lines with the time of `position.last` that were received again */
	int untimed;      /* a line of this stream has no time in front */
	struct mpijob__client_log_position position;
};

/* Cut bytes into lines and report them. 0, MPIJOB_ERR_NOMEM, or the code of a callback that ended
 * the logs. */
int mpijob__client_log_lines_feed(struct mpijob__client_log_source *source, const char *data,
    size_t len);
/* The log has ended: report a last line without a line end. */
int mpijob__client_log_lines_flush(struct mpijob__client_log_source *source);
/*
 * The error that a kubelet appends to a log that it cannot read on; NULL when the stream ended as
 * logs do. Borrowed until the next call.
 */
const char *mpijob__client_log_kubelet_error(const struct mpijob__client_log_source *source);
/* A new stream begins: skip what was reported. */
void mpijob__client_log_lines_restart(struct mpijob__client_log_source *source);
/* Another run begins: nothing of it was reported. */
void mpijob__client_log_lines_reset(struct mpijob__client_log_source *source);

#endif
