/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two formats of a log line. A line is written by one call, so that lines of two processes do
 * not mix. Text from a cluster is escaped.
 */
#include "log.h"

#include "base/clock.h"
#include "base/time.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpijob/doc.h>

static int json; /* the format of this process */

void log_set_json(int on)
{
	json = on;
}

static void put(const char *data, size_t len)
{
	while (len) {
		ssize_t written = write(STDERR_FILENO, data, len);
		if (written <= 0)
			return;
		data += written;
		len -= (size_t)written;
	}
}

static const char *word(int severity)
{
	return severity == MPIJOB_SEVERITY_ERROR     ? "error"
	       : severity == MPIJOB_SEVERITY_WARNING ? "warning"
	       : severity == MPIJOB_SEVERITY_INFO    ? "info"
						     : "debug";
}

static void stamp(char text[MPIJOB__BASE_TIME_NS_SIZE])
{
	int64_t now_ms = mpijob__base_clock_wall_ms();

	(void)mpijob__base_time_format_ns(now_ms / 1000, (int32_t)(now_ms % 1000) * 1000000, 3,
	    text);
}

static int plain_line(mpijob_text *line, const char *time, const struct mpijob_finding *finding)
{
	char place[32] = "";
	const char *parts[] = { time, " ", word(finding->severity), ": ",
		finding->source ? finding->source : "", place, finding->source ? ": " : "",
		finding->field ? finding->field : "", finding->field ? ": " : "", finding->message,
		finding->id ? " [" : "", finding->id ? finding->id : "", finding->id ? "]" : "" };
	int rc = 0;

	if (finding->source && finding->line)
		(void)snprintf(place, sizeof(place), ":%d:%d", (int)finding->line,
		    (int)finding->column);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && rc == 0; i++)
		rc = mpijob_escaped_write(parts[i], strlen(parts[i]), mpijob_text_write, line);
	return rc;
}

static void put_word(mpijob_doc *doc, mpijob_node *map, const char *key, const char *value)
{
	if (value && *value)
		mpijob_node_put_string(doc, map, key, value);
}

static int json_line(mpijob_text *line, const char *time, const struct mpijob_finding *finding)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *map = mpijob_doc_edit(doc, "");

	put_word(doc, map, "time", time);
	put_word(doc, map, "level", word(finding->severity));
	mpijob_node_put_string(doc, map, "message", finding->message);
	put_word(doc, map, "id", finding->id);
	put_word(doc, map, "reason", finding->reason);
	put_word(doc, map, "field", finding->field);
	put_word(doc, map, "source", finding->source);
	if (finding->line) {
		mpijob_node_put_int(doc, map, "line", finding->line);
		mpijob_node_put_int(doc, map, "column", finding->column);
	}
	int rc = mpijob_doc_error(doc);
	if (rc == 0)
		rc = mpijob_node_write(map, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write, line);
	mpijob_doc_free(doc);
	return rc;
}

void log_finding(void *user, const struct mpijob_finding *finding)
{
	static const char lost[] = "mpijob-operator: out of memory: a line of the log is lost\n";
	mpijob_text *line = mpijob_text_new();
	char time[MPIJOB__BASE_TIME_NS_SIZE];

	(void)user;
	stamp(time);
	int rc = !line  ? MPIJOB_ERR_NOMEM
		 : json ? json_line(line, time, finding)
			: plain_line(line, time, finding);
	const char *data = rc ? "" : mpijob_text_data(line);
	size_t len = strlen(data);
	if (rc == 0 && (len == 0 || data[len - 1] != '\n'))
		rc = mpijob_text_write(line, "\n", 1);
	if (rc == 0)
		put(mpijob_text_data(line), strlen(mpijob_text_data(line)));
	else
		put(lost, sizeof(lost) - 1);
	mpijob_text_free(line);
}

void log_line(int severity, const char *format, ...)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	char *message = NULL;
	va_list values;

	va_start(values, format);
	int len = vasprintf(&message, format, values);
	va_end(values);
	finding.severity = severity;
	finding.message = len < 0 ? "out of memory" : message;
	log_finding(NULL, &finding);
	if (len >= 0)
		free(message);
}

void log_findings(mpijob_diag *diag)
{
	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		log_finding(NULL, mpijob_diag_at(diag, i));
	if (diag)
		mpijob_diag_clear(diag);
}
