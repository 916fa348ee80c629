/* SPDX-License-Identifier: Apache-2.0 */
#include "operator/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Take everything that is ready, done at once; written down by position in `items`. */
static void drain(struct mpijob__operator_queue *queue, struct mpijob__operator_queue_item *items,
    int64_t now, const char *expected)
{
	char seen[64] = "";
	size_t len = 0;
	struct mpijob__operator_queue_item *item;

	while ((item = mpijob__operator_queue_take(queue, now)) != NULL) {
		seen[len++] = (char)('a' + (item - items));
		mpijob__operator_queue_done(queue, item, INT64_MIN);
	}
	seen[len] = 0;
	assert_string_equal(seen, expected);
}

static void join(struct mpijob__operator_queue *queue, struct mpijob__operator_queue_item *items,
    const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(mpijob__operator_queue_join(queue, &items[i], names[i]), 0);
}

static void leave(struct mpijob__operator_queue *queue, struct mpijob__operator_queue_item *items,
    size_t count)
{
	for (size_t i = 0; i < count; i++)
		mpijob__operator_queue_leave(queue, &items[i]);
	assert_null(mpijob__base_list_first(&queue->groups));
	assert_null(mpijob__base_list_first(&queue->turns));
	assert_int_equal(queue->heap_count, 0);
	mpijob__operator_queue_release(queue);
}

/* Who has half of all requests under way lets others go first, and goes on when there are none. */
static void slow_requests_do_not_take_all(void **state)
{
	static const char *const names[] = { "slow", "slow", "slow", "quick" };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item items[4];

	(void)state;
	mpijob__operator_queue_init(&queue);
	queue.most = 3;
	join(&queue, items, names, 4);
	for (int i = 0; i < 4; i++)
		mpijob__operator_queue_add(&queue, &items[i]);
	for (int i = 0; i < 2; i++)
		mpijob__operator_queue_sent(&queue, &items[i]);
	for (int i = 0; i < 3; i++) {
		assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[3]);
		mpijob__operator_queue_continue(&queue, &items[3]);
	}
	mpijob__operator_queue_answered(&queue, &items[0]);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[0]);
	mpijob__operator_queue_sent(&queue, &items[0]);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[3]);
	mpijob__operator_queue_done(&queue, &items[3], INT64_MIN);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[1]);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[2]);
	assert_null(mpijob__operator_queue_take(&queue, 0));
	leave(&queue, items, 4);
}

/* The last places are for others, also for those who come later. */
static void some_places_are_left_to_others(void **state)
{
	static const char *const names[] = { "slow", "quick" };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item items[2];

	(void)state;
	mpijob__operator_queue_init(&queue);
	queue.most = 16;
	join(&queue, items, names, 2);
	mpijob__operator_queue_add(&queue, &items[0]);
	for (int i = 0; i < 14; i++) {
		assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[0]);
		mpijob__operator_queue_sent(&queue, &items[0]);
		mpijob__operator_queue_continue(&queue, &items[0]);
	}
	assert_null(mpijob__operator_queue_take(&queue, 0));
	assert_int_equal(mpijob__operator_queue_due_ms(&queue), MPIJOB__OPERATOR_QUEUE_NEVER);
	mpijob__operator_queue_add(&queue, &items[1]);
	assert_int_equal(mpijob__operator_queue_due_ms(&queue), INT64_MIN);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[1]);
	mpijob__operator_queue_answered(&queue, &items[0]);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[0]);
	mpijob__operator_queue_sent(&queue, &items[0]);
	mpijob__operator_queue_continue(&queue, &items[0]);
	/* Who is alone may have them all. */
	mpijob__operator_queue_leave(&queue, &items[1]);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[0]);
	leave(&queue, items, 1);
}

static void each_key_once_and_namespaces_take_turns(void **state)
{
	static const char *const names[] = { "x", "x", "x", "y", "z", "z" };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item items[6];

	(void)state;
	mpijob__operator_queue_init(&queue);
	join(&queue, items, names, 6);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 6; i++)
			mpijob__operator_queue_add(&queue, &items[i]);
	assert_int_equal(mpijob__operator_queue_due_ms(&queue), INT64_MIN);
	drain(&queue, items, 0, "adebfc");
	drain(&queue, items, 0, "");
	assert_int_equal(mpijob__operator_queue_due_ms(&queue), MPIJOB__OPERATOR_QUEUE_NEVER);
	leave(&queue, items, 6);
}

static void added_while_busy(void **state)
{
	static const char *const names[] = { "x" };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item items[1];

	(void)state;
	mpijob__operator_queue_init(&queue);
	join(&queue, items, names, 1);
	mpijob__operator_queue_add(&queue, &items[0]);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[0]);
	mpijob__operator_queue_add(&queue, &items[0]);
	mpijob__operator_queue_add(&queue, &items[0]);
	assert_null(mpijob__operator_queue_take(&queue, 0));
	/* It is still the same turn that comes again. */
	mpijob__operator_queue_continue(&queue, &items[0]);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[0]);
	assert_int_equal(items[0].dirty, 1);
	mpijob__operator_queue_done(&queue, &items[0], INT64_MIN);
	drain(&queue, items, 0, "a");
	leave(&queue, items, 1);
}

static void rest_after_work(void **state)
{
	static const char *const names[] = { "x" };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item items[1];

	(void)state;
	mpijob__operator_queue_init(&queue);
	join(&queue, items, names, 1);
	for (int again = 0; again < 2; again++) {
		mpijob__operator_queue_add(&queue, &items[0]);
		assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[0]);
		if (again)
			mpijob__operator_queue_add(&queue, &items[0]);
		mpijob__operator_queue_done(&queue, &items[0], 50);
		if (!again)
			mpijob__operator_queue_add(&queue, &items[0]);
		drain(&queue, items, 49, "");
		drain(&queue, items, 50, "a");
	}
	leave(&queue, items, 1);
}

static void the_earliest_time_wins(void **state)
{
	static const char *const names[] = { "x", "y", "z" };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item items[3];

	(void)state;
	mpijob__operator_queue_init(&queue);
	join(&queue, items, names, 3);
	mpijob__operator_queue_add_at(&queue, &items[0], 50);
	mpijob__operator_queue_add_at(&queue, &items[0], 90);
	mpijob__operator_queue_add_at(&queue, &items[1], 70);
	mpijob__operator_queue_add_at(&queue, &items[1], 30);
	mpijob__operator_queue_add_at(&queue, &items[2], 40);
	assert_int_equal(mpijob__operator_queue_due_ms(&queue), 30);
	drain(&queue, items, 29, "");
	drain(&queue, items, 45, "bc");
	drain(&queue, items, 100, "a");
	/* Taking a key takes its timer too. */
	mpijob__operator_queue_add_at(&queue, &items[0], 200);
	mpijob__operator_queue_add(&queue, &items[0]);
	drain(&queue, items, 100, "a");
	drain(&queue, items, 300, "");
	leave(&queue, items, 3);
}

static int64_t fail_once(struct mpijob__operator_queue *queue,
    struct mpijob__operator_queue_item *item, int64_t now, int64_t least)
{
	mpijob__operator_queue_add_at(queue, item, now);
	assert_ptr_equal(mpijob__operator_queue_take(queue, now), item);
	mpijob__operator_queue_failed(queue, item, now, least, 0);
	return mpijob__operator_queue_due_ms(queue) - now;
}

static void failures_back_off(void **state)
{
	static const char *const names[] = { "x" };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item item;
	int64_t now = 1000, wait = 5;

	(void)state;
	mpijob__operator_queue_init(&queue);
	join(&queue, &item, names, 1);
	for (int i = 0; i < 18; i++, wait *= 2) {
		assert_int_equal(fail_once(&queue, &item, now, 0), wait);
		now += wait;
	}
	assert_int_equal(fail_once(&queue, &item, now, 0), 1000000);
	now += 1000000;
	assert_int_equal(fail_once(&queue, &item, now, 2000000), 2000000);
	/* What the server asked for holds, also when something changes. */
	mpijob__operator_queue_add(&queue, &item);
	assert_null(mpijob__operator_queue_take(&queue, now + 1999999));
	assert_ptr_equal(mpijob__operator_queue_take(&queue, now + 2000000), &item);
	mpijob__operator_queue_done(&queue, &item, INT64_MIN);
	/* Success forgets. News end a back-off at once. */
	now += 3000000;
	assert_int_equal(fail_once(&queue, &item, now, 0), 5);
	assert_int_equal(fail_once(&queue, &item, now + 5, 0), 10);
	mpijob__operator_queue_add(&queue, &item);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, now + 6), &item);
	mpijob__operator_queue_done(&queue, &item, INT64_MIN);
	leave(&queue, &item, 1);
}

/* Many keys and times in random order come out in order of time. */
static void many_timers(void **state)
{
	enum { COUNT = 500 };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item *items = calloc(COUNT, sizeof(*items));
	int64_t last = 0;
	size_t taken = 0;
	unsigned dice = 1;

	(void)state;
	mpijob__operator_queue_init(&queue);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(mpijob__operator_queue_join(&queue, &items[i], "x"), 0);
	for (int i = 0; i < 3 * COUNT; i++) {
		dice = dice * 1103515245u + 12345u;
		mpijob__operator_queue_add_at(&queue, &items[(dice >> 8) % COUNT],
		    (int64_t)(dice >> 16));
	}
	for (int i = 0; i < COUNT; i += 7)
		mpijob__operator_queue_leave(&queue, &items[i]);
	while (mpijob__operator_queue_due_ms(&queue) != MPIJOB__OPERATOR_QUEUE_NEVER) {
		int64_t due = mpijob__operator_queue_due_ms(&queue);
		struct mpijob__operator_queue_item *item;

		assert_true(due >= last);
		last = due;
		while ((item = mpijob__operator_queue_take(&queue, due)) != NULL) {
			mpijob__operator_queue_done(&queue, item, INT64_MIN);
			taken++;
		}
	}
	assert_in_range(taken, 300, COUNT);
	for (int i = 0; i < COUNT; i++)
		if (i % 7)
			mpijob__operator_queue_leave(&queue, &items[i]);
	assert_null(mpijob__base_list_first(&queue.groups));
	mpijob__operator_queue_release(&queue);
	free(items);
}

/* Two thousand jobs of one tenant with many turns each: the small job of another one never waits
 * for more than one. */
static void a_small_job_beside_two_thousand(void **state)
{
	enum { MANY = 2000, TURNS = 20 };
	struct mpijob__operator_queue_item *items = calloc(MANY + 1, sizeof(*items)),
					   *small = &items[MANY];
	struct mpijob__operator_queue queue;
	int *turns = calloc(MANY, sizeof(*turns));
	size_t waited = 0, most = 0, served = 0;

	(void)state;
	mpijob__operator_queue_init(&queue);
	queue.now_ms = 100;
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(mpijob__operator_queue_join(&queue, &items[i], "large"), 0);
		mpijob__operator_queue_add(&queue, &items[i]);
	}
	assert_int_equal(mpijob__operator_queue_join(&queue, small, "small"), 0);
	assert_int_equal(queue.queued, MANY);
	assert_int_equal(mpijob__operator_queue_oldest_ms(&queue), 100);
	queue.now_ms = 200;
	for (struct mpijob__operator_queue_item *item;
	     (item = mpijob__operator_queue_take(&queue, 0));) {
		if (item == small) {
			most = waited > most ? waited : most;
			waited = 0;
			served++;
			mpijob__operator_queue_done(&queue, item, INT64_MIN);
			continue;
		}
		waited += mpijob__base_list_is_linked(&small->link);
		if (++turns[item - items] < TURNS)
			mpijob__operator_queue_continue(&queue, item);
		else
			mpijob__operator_queue_done(&queue, item, INT64_MIN);
		if ((item - items) % 7 == 0)
			mpijob__operator_queue_add(&queue, small);
	}
	assert_true(served > MANY);
	assert_int_equal(most, 1);
	assert_int_equal(queue.queued, 0);
	assert_int_equal(mpijob__operator_queue_oldest_ms(&queue), INT64_MAX);
	leave(&queue, items, MANY + 1);
	free(turns);
	free(items);
}

/*
 * A namespace with many expensive jobs, each of 90 ms, beside one with a cheap job that has a
 * hundred turns, of 1 ms each. The first turn of the cheap one comes after one expensive turn at
 * most, and all together take little longer than alone.
 */
static void expensive_jobs_wait_for_others(void **state)
{
	static const char *const names[] = { "costly", "costly", "costly", "costly", "cheap" };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item items[5];
	int64_t now_us = 0, longest_us = 0, last_us = 0;
	int cheap = 0;

	(void)state;
	mpijob__operator_queue_init(&queue);
	join(&queue, items, names, 5);
	for (int i = 0; i < 4; i++)
		mpijob__operator_queue_add(&queue, &items[i]);
	while (cheap < 100) {
		struct mpijob__operator_queue_item *item;
		int64_t took_us;

		queue.now_ms = now_us / 1000;
		item = mpijob__operator_queue_take(&queue, queue.now_ms);
		assert_non_null(item);
		took_us = item == &items[4] ? 1000 : 90000;
		mpijob__operator_queue_charge(&queue, item, took_us);
		now_us += took_us;
		if (item == &items[4]) {
			longest_us = now_us - last_us > longest_us ? now_us - last_us : longest_us;
			cheap++;
		}
		/* The cheap job is there from the first turn on, and each job wants more at
		 * once. */
		if (cheap == 0)
			mpijob__operator_queue_add(&queue, &items[4]);
		if (item == &items[4] || last_us == 0)
			last_us = now_us;
		mpijob__operator_queue_continue(&queue, item);
	}
	assert_in_range(longest_us, 1000, 100000);
	assert_in_range(now_us, 100000, 300000);
	leave(&queue, items, 5);
}

/* Alone a namespace goes on, whatever it used; and what took little costs nothing. */
static void only_others_make_a_namespace_rest(void **state)
{
	static const char *const names[] = { "costly", "costly", "cheap" };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item items[3];

	(void)state;
	mpijob__operator_queue_init(&queue);
	join(&queue, items, names, 3);
	mpijob__operator_queue_add(&queue, &items[0]);
	mpijob__operator_queue_add(&queue, &items[1]);
	mpijob__operator_queue_charge(&queue, &items[0], 500000);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[0]);
	mpijob__operator_queue_add(&queue, &items[2]);
	mpijob__operator_queue_charge(&queue, &items[2], 1999);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[2]);
	mpijob__operator_queue_continue(&queue, &items[2]);
	queue.now_ms = 4999;
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 4999), &items[2]);
	mpijob__operator_queue_continue(&queue, &items[2]);
	queue.now_ms = 5000;
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 5000), &items[1]);
	leave(&queue, items, 3);
}

/* Who rests waits while others have requests under way, or may be in what was not read yet, and no
 * longer than its rest. */
static void who_rests_waits_for_others_to_come(void **state)
{
	static const char *const names[] = { "costly", "costly", "cheap" };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item items[3];

	(void)state;
	mpijob__operator_queue_init(&queue);
	join(&queue, items, names, 3);
	mpijob__operator_queue_add(&queue, &items[0]);
	mpijob__operator_queue_add(&queue, &items[1]);
	mpijob__operator_queue_charge(&queue, &items[0], 500000);
	queue.more = 1;
	assert_null(mpijob__operator_queue_take(&queue, 0));
	assert_int_equal(mpijob__operator_queue_due_ms(&queue), INT64_MIN);
	queue.more = 0;
	mpijob__operator_queue_sent(&queue, &items[2]);
	assert_null(mpijob__operator_queue_take(&queue, 0));
	assert_int_equal(mpijob__operator_queue_due_ms(&queue), 5000);
	mpijob__operator_queue_sent(&queue, &items[0]);
	mpijob__operator_queue_answered(&queue, &items[2]);
	assert_int_equal(mpijob__operator_queue_due_ms(&queue), INT64_MIN);
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 0), &items[0]);
	mpijob__operator_queue_answered(&queue, &items[0]);
	mpijob__operator_queue_sent(&queue, &items[2]);
	queue.more = 1;
	queue.now_ms = 5000;
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 5000), &items[1]);
	mpijob__operator_queue_leave(&queue, &items[2]);
	assert_int_equal(queue.in_flight, 0);
	leave(&queue, items, 2);
}

static void a_rest_lasts_a_minute_at_most(void **state)
{
	static const char *const names[] = { "costly", "cheap" };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item items[2];

	(void)state;
	mpijob__operator_queue_init(&queue);
	join(&queue, items, names, 2);
	mpijob__operator_queue_add(&queue, &items[0]);
	mpijob__operator_queue_add(&queue, &items[1]);
	mpijob__operator_queue_charge(&queue, &items[0], INT64_C(3600) * 1000000);
	queue.now_ms = 59999;
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 59999), &items[1]);
	mpijob__operator_queue_continue(&queue, &items[1]);
	queue.now_ms = 60000;
	assert_ptr_equal(mpijob__operator_queue_take(&queue, 60000), &items[0]);
	leave(&queue, items, 2);
}

/* Ten tries a second are shared by the namespaces, and within one by its keys. */
static void refusals_are_counted_by_namespace(void **state)
{
	static const char *const names[] = { "x", "x", "x", "y", "z" };
	struct mpijob__operator_queue queue;
	struct mpijob__operator_queue_item items[5];

	(void)state;
	mpijob__operator_queue_init(&queue);
	join(&queue, items, names, 5);
	assert_int_equal(mpijob__operator_queue_share(&queue, &items[0]), 0);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 4; i++)
			mpijob__operator_queue_set_denied(&queue, &items[i], 1);
	assert_int_equal(mpijob__operator_queue_share(&queue, &items[0]), 6);
	assert_int_equal(mpijob__operator_queue_share(&queue, &items[3]), 2);
	mpijob__operator_queue_set_denied(&queue, &items[0], 0);
	assert_int_equal(mpijob__operator_queue_share(&queue, &items[1]), 4);
	mpijob__operator_queue_leave(&queue, &items[3]);
	assert_int_equal(mpijob__operator_queue_share(&queue, &items[1]), 2);
	assert_int_equal(queue.denied_groups, 1);
	leave(&queue, items, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_once_and_namespaces_take_turns),
		cmocka_unit_test(slow_requests_do_not_take_all),
		cmocka_unit_test(some_places_are_left_to_others),
		cmocka_unit_test(added_while_busy),
		cmocka_unit_test(rest_after_work),
		cmocka_unit_test(the_earliest_time_wins),
		cmocka_unit_test(failures_back_off),
		cmocka_unit_test(many_timers),
		cmocka_unit_test(a_small_job_beside_two_thousand),
		cmocka_unit_test(refusals_are_counted_by_namespace),
		cmocka_unit_test(expensive_jobs_wait_for_others),
		cmocka_unit_test(only_others_make_a_namespace_rest),
		cmocka_unit_test(who_rests_waits_for_others_to_come),
		cmocka_unit_test(a_rest_lasts_a_minute_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
