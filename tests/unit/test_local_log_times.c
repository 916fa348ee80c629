/* SPDX-License-Identifier: Apache-2.0 */
/* Times of lines: each has its own, wherever writes are cut, and whatever was forgotten in
 * front. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "local/log_times.h"

#define MS 1000000

struct log {
	struct mpijob__local_log_times times;
	char data[4096];
	uint64_t from, to;
};

static struct mpijob__local_log_bytes all_of(struct log *log)
{
	return (struct mpijob__local_log_bytes){ log->data + log->from, log->from, log->to };
}

static void add(struct log *log, const char *text, int64_t now_ms)
{
	struct mpijob__local_log_bytes news = { text, log->to, log->to + strlen(text) };

	memcpy(log->data + log->to, text, strlen(text));
	log->to = news.to;
	mpijob__local_log_times_add(&log->times, &news, now_ms);
}

/* The time of the line that begins with this letter, which is there once. */
static int64_t at(struct log *log, char letter)
{
	struct mpijob__local_log_bytes all = all_of(log);
	const char *found = memchr(all.data, letter, (size_t)(all.to - all.from));

	assert_non_null(found);
	return mpijob__local_log_times_at(&log->times, &all, (uint64_t)(found - log->data));
}

static char since(struct log *log, int64_t ns)
{
	struct mpijob__local_log_bytes all = all_of(log);
	uint64_t offset = mpijob__local_log_times_since(&log->times, &all, ns);

	return offset == log->to ? '-' : log->data[offset];
}

static void each_line_has_its_time(void **state)
{
	struct log log = { 0 };

	(void)state;
	assert_int_equal(since(&log, 0), '-');
	add(&log, "a\nb\nc", 1);
	add(&log, "c\nd\n", 1);
	add(&log, "e", 2);
	add(&log, "e", 3);
	add(&log, "e\n", 4);
	add(&log, "f\n", 4);
	add(&log, "g\n", 1); /* the clock was set back */
	assert_int_equal(at(&log, 'a'), 1 * MS);
	assert_int_equal(at(&log, 'b'), 1 * MS + 1);
	assert_int_equal(at(&log, 'c'), 1 * MS + 2);
	assert_int_equal(at(&log, 'd'), 1 * MS + 3);
	assert_int_equal(at(&log, 'e'), 2 * MS);
	assert_int_equal(at(&log, 'f'), 4 * MS);
	assert_int_equal(at(&log, 'g'), 4 * MS + 1);
	for (const char *letter = "abcdefg"; *letter; letter++) {
		assert_int_equal(since(&log, at(&log, *letter)), *letter);
		assert_int_equal(since(&log, at(&log, *letter) + 1), letter[1] ? letter[1] : '-');
	}
	assert_int_equal(since(&log, INT64_MIN), 'a');
	add(&log, "h", 9);
	/* What has no end yet is never left out. */
	assert_int_equal(since(&log, 100 * MS), 'h');
	mpijob__local_log_times_clear(&log.times);
}

static void what_is_forgotten_changes_nothing(void **state)
{
	static const char letters[] = "abcdefgh";

	(void)state;
	for (uint64_t cut = 1; cut < 24; cut++) {
		struct log log = { 0 };
		int64_t times[8];
		struct mpijob__local_log_bytes all;

		add(&log, "aa\nbb\ncc", 1);
		add(&log, "\ndd\nee\n", 1);
		add(&log, "ff\ngg\nhh\n", 2);
		for (int i = 0; i < 8; i++)
			times[i] = at(&log, letters[i]);
		all = all_of(&log);
		mpijob__local_log_times_trim(&log.times, &all, cut);
		log.from = cut;
		for (uint64_t i = (cut + 2) / 3; i < 8; i++) {
			assert_int_equal(at(&log, letters[i]), times[i]);
			assert_int_equal(since(&log, times[i]), letters[i]);
		}
		add(&log, "i\n", 2);
		assert_int_equal(at(&log, 'i'), times[7] + 1);
		mpijob__local_log_times_clear(&log.times);
	}
}

static void text(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} rows[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2026-11-21T12:00:00.123456789Z", 1795262400123456789 },
		{ "2026-11-21T13:00:00.1234567891+01:00", 1795262400123456789 },
		{ "2026-11-21T10:30:00.5-01:30", 1795262400500000000 },
	};
	static const char *const bad[] = { "", "2026", "2026-11-21", "2026-11-21T12:00:00",
		"2026-13-21T12:00:00Z", "2026-11-21T12:00:00ZZ", "2026-11-21T12:00:00+1",
		"x026-11-21T12:00:00Z", "2026-11-21T12:00:00.Zx", "9999-11-21T12:00:00Z",
		"2026-11-21 12:00:00Z" };
	char out[MPIJOB__BASE_TIME_NS_SIZE];
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(mpijob__local_log_times_parse(rows[i].text, &ns), 1);
		assert_int_equal(ns, rows[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(mpijob__local_log_times_parse(bad[i], &ns), 0);
	mpijob__local_log_times_format(1795262400000000007, out);
	assert_string_equal(out, "2026-11-21T12:00:00.000000007Z");
	assert_int_equal(mpijob__local_log_times_parse(out, &ns), 1);
	assert_int_equal(ns, 1795262400000000007);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_line_has_its_time),
		cmocka_unit_test(what_is_forgotten_changes_nothing),
		cmocka_unit_test(text),
	};

	return cmocka_run_group_tests_name("local_log_times", tests, NULL, NULL);
}
