/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of one container: where they end, when they were written, and which were reported
 * before.
 *
 * Logs are always requested with timestamps: only these say where to resume after a stream broke.
 * The node receives the time in whole seconds, so lines arrive again, and are dropped by their time
 * and number.
 */
#include "client/log_lines.h"

#include "client/logs.h"

#include "base/time.h"

#include <string.h>

#define LINE_MOST ((size_t)64 << 10)
#define TIME_MOST 40 /* bytes of a time with nanoseconds and an offset, and a space */

/* Length of the time and the space at the beginning of a line; 0 when there is none. */
static size_t read_time(const char *line, size_t len, struct mpijob__client_log_time *out)
{
	size_t end = 0;
	const char *dot;
	int digits = 0;

	memset(out, 0, sizeof(*out));
	while (end < len && end < TIME_MOST && line[end] != ' ')
		end++;
	if (end == len || end == TIME_MOST || end < 20)
		return 0;
	memcpy(out->text, line, end);
	if (!mpijob__base_time_parse(out->text, &out->seconds)) {
		memset(out, 0, sizeof(*out));
		return 0;
	}
	dot = strchr(out->text, '.');
	for (const char *at = dot ? dot + 1 : ""; *at >= '0' && *at <= '9' && digits < 9;
	     at++, digits++)
		out->nanoseconds = out->nanoseconds * 10 + (*at - '0');
	for (; digits < 9; digits++)
		out->nanoseconds *= 10;
	return end + 1;
}

static int compare(const struct mpijob__client_log_time *a, const struct mpijob__client_log_time *b)
{
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? -1 : 1;
	return a->nanoseconds < b->nanoseconds ? -1 : a->nanoseconds > b->nanoseconds;
}

/* Whether the line that begins now was reported before. */
static int was_reported(struct mpijob__client_log_source *source,
    const struct mpijob__client_log_time *time)
{
	const struct mpijob__client_log_position *place = &source->lines.position;
	int order;

	if (!source->lines.catching_up || !time->text[0])
		return 0;
	order = place->last.text[0] ? compare(time, &place->last) : 1;
	if (order < 0 || (order == 0 && source->lines.caught < place->same)) {
		source->lines.caught += order == 0;
		return 1;
	}
	source->lines.catching_up = 0;
	return 0;
}

static int report(struct mpijob__client_log_source *source, const char *text, size_t len, int whole)
{
	struct mpijob_logs *logs = source->logs;
	struct mpijob_log_line line = { sizeof(line), source->pod->name, source->name, text, len,
		whole, source->run.attempt };
	int code = logs->options.line(logs->options.user, &line);

	source->retry.attempts = source->retry.refusals = source->retry.reported_code =
	    source->stream.silences = 0;
	source->retry.backoff_ms = 0;
	if (logs->freed)
		return MPIJOB_ERR_CANCELLED;
	if (code)
		mpijob__client_log_end(logs, code < 0 ? code : MPIJOB_ERR_CANCELLED);
	return code;
}

/* A line was reported to its end. */
static void move_on(struct mpijob__client_log_source *source)
{
	struct mpijob__client_log_position *place = &source->lines.position;

	if (place->open.text[0]) {
		place->same = place->last.text[0] && compare(&place->open, &place->last) == 0
				  ? place->same + 1
				  : 1;
		place->last = place->open;
	}
	memset(&place->open, 0, sizeof(place->open));
	place->reported = 0;
	source->lines.state = MPIJOB__CLIENT_LOG_LINE_START;
}

/* The first part of a line: its time, and whether it is reported at all. Returns how many bytes in
 * front do not belong to its text. */
static size_t begin_line(struct mpijob__client_log_source *source, const char *data, size_t len)
{
	struct mpijob__client_log_position *place = &source->lines.position;
	struct mpijob__client_log_time time;
	size_t before = read_time(data, len, &time);

	source->lines.untimed |= before == 0;
	source->lines.skip = 0;
	if (was_reported(source, &time)) {
		source->lines.state = MPIJOB__CLIENT_LOG_LINE_DROPPING;
		return 0;
	}
	source->lines.state = MPIJOB__CLIENT_LOG_LINE_INSIDE;
	/* A part of this line was reported before the stream broke. */
	if (place->reported && compare(&time, &place->open) == 0)
		source->lines.skip = place->reported;
	else
		place->reported = 0;
	place->open = time;
	return source->logs->options.timestamps ? 0 : before;
}

/* A part of a line, or its end. */
static int take_part(struct mpijob__client_log_source *source, const char *data, size_t len,
    int whole)
{
	size_t before = source->lines.state == MPIJOB__CLIENT_LOG_LINE_START
			    ? begin_line(source, data, len)
			    : 0;
	size_t skip = source->lines.skip < len - before ? source->lines.skip : len - before;
	size_t shown = len - before - skip;

	if (source->lines.state == MPIJOB__CLIENT_LOG_LINE_DROPPING) {
		if (whole)
			source->lines.state = MPIJOB__CLIENT_LOG_LINE_START;
		return 0;
	}
	source->lines.skip -= skip;
	source->lines.position.reported += shown;
	if (whole)
		move_on(source);
	return shown || whole ? report(source, data + before + skip, shown, whole) : 0;
}

/* Length of the next part of a line that is too long: of its text and what precedes it. */
static size_t part_most(const struct mpijob__client_log_source *source)
{
	struct mpijob__client_log_time time;

	if (source->lines.state != MPIJOB__CLIENT_LOG_LINE_START ||
	    source->logs->options.timestamps)
		return LINE_MOST;
	return LINE_MOST +
	       read_time(mpijob_text_data(&source->lines.text), source->lines.text.len, &time);
}

static int report_long(struct mpijob__client_log_source *source)
{
	size_t part;
	int rc = 0;

	while (rc == 0 && source->lines.text.len > (part = part_most(source))) {
		rc = take_part(source, source->lines.text.data, part, 0);
		source->lines.text.len -= part;
		memmove(source->lines.text.data, source->lines.text.data + part,
		    source->lines.text.len);
	}
	return rc;
}

/* The end of a line: the part that was kept, and the part that arrived now. */
static int take_end(struct mpijob__client_log_source *source, const char *data, size_t len)
{
	int rc;

	if (source->lines.text.len == 0)
		return take_part(source, data, len, 1);
	if (mpijob_text_write(&source->lines.text, data, len))
		return MPIJOB_ERR_NOMEM;
	rc = report_long(source);
	len = source->lines.text.len;
	source->lines.text.len = 0;
	return rc ? rc : take_part(source, mpijob_text_data(&source->lines.text), len, 1);
}

int mpijob__client_log_lines_feed(struct mpijob__client_log_source *source, const char *data,
    size_t len)
{
	int rc = 0;

	while (rc == 0 && len > 0) {
		const char *end = memchr(data, '\n', len);
		size_t part = end ? (size_t)(end - data) : len;

		/* Process a huge piece without a line end in parts. */
		if (part > LINE_MOST / 2) {
			part = LINE_MOST / 2;
			end = NULL;
		}
		if (end) {
			rc = take_end(source, data, part);
			part++;
		} else if (mpijob_text_write(&source->lines.text, data, part)) {
			rc = MPIJOB_ERR_NOMEM;
		} else {
			rc = report_long(source);
		}
		data += part;
		len -= part;
	}
	return rc;
}

int mpijob__client_log_lines_flush(struct mpijob__client_log_source *source)
{
	size_t len = source->lines.text.len;

	source->lines.text.len = 0;
	return len ? take_part(source, mpijob_text_data(&source->lines.text), len, 0) : 0;
}

/*
 * A kubelet that fails after its answer has begun can only append the error to the body: without a
 * line end, and without the time that precedes each line of a log. So the last piece is such an
 * error if it has no time and all lines before it have one.
 */
const char *mpijob__client_log_kubelet_error(const struct mpijob__client_log_source *source)
{
	const char *text = mpijob_text_data(&source->lines.text);
	struct mpijob__client_log_time time;

	if (source->lines.text.len == 0 || source->lines.state != MPIJOB__CLIENT_LOG_LINE_START ||
	    source->lines.untimed || read_time(text, source->lines.text.len, &time))
		return NULL;
	return text;
}

void mpijob__client_log_lines_restart(struct mpijob__client_log_source *source)
{
	mpijob_text_clear(&source->lines.text);
	source->lines.state = MPIJOB__CLIENT_LOG_LINE_START;
	source->lines.untimed = 0;
	source->lines.skip = 0;
	source->lines.catching_up =
	    source->lines.position.last.text[0] || source->lines.position.reported;
	source->lines.caught = 0;
}

void mpijob__client_log_lines_reset(struct mpijob__client_log_source *source)
{
	memset(&source->lines.position, 0, sizeof(source->lines.position));
	mpijob__client_log_lines_restart(source);
}
