/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that wait for an owner: how many, how long, and how namespaces share the table. The test
 * sets the clock. */
#include "operator/operator.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TABLE   4096
#define MINUTES INT64_C(60000)

static int warnings;
static char last[256];

static void on_log(void *user, const struct mpijob_finding *finding)
{
	(void)user;
	assert_string_equal(finding->id, "too-many-orphans");
	snprintf(last, sizeof(last), "%s", finding->message);
	warnings++;
}

static mpijob_operator *set_up(void)
{
	mpijob_operator *operator_ = calloc(1, sizeof(*operator_));

	assert_non_null(operator_);
	operator_->options.log = on_log;
	operator_->now_ms = 1000;
	operator_->cache.by_uid.seed = 7;
	operator_->informers[MPIJOB__OPERATOR_INFORMER_PODS].operator_ = operator_;
	operator_->informers[MPIJOB__OPERATOR_INFORMER_PODS].number =
	    MPIJOB__OPERATOR_INFORMER_PODS;
	operator_->informers[MPIJOB__OPERATOR_INFORMER_PODS].kind = "Pod";
	warnings = 0;
	return operator_;
}

static void tear_down(mpijob_operator *operator_)
{
	mpijob__operator_orphans_release(operator_);
	free(operator_);
}

/* Pods of one namespace, each with an owner of its own that nobody knows. */
static void add(mpijob_operator *operator_, const char *namespace_, int from, int count)
{
	for (int i = from; i < from + count; i++) {
		struct mpijob_observed observed = { .size = sizeof(observed) };
		char uid[64], owner[64], name[64];

		snprintf(uid, sizeof(uid), "%s-%d", namespace_, i);
		snprintf(owner, sizeof(owner), "owner-of-%s-%d", namespace_, i);
		snprintf(name, sizeof(name), "pod-%d", i);
		observed.uid = uid;
		observed.owner_uid = owner;
		observed.namespace_ = namespace_;
		observed.name = name;
		mpijob__operator_orphans_add(&operator_->informers[MPIJOB__OPERATOR_INFORMER_PODS],
		    &observed);
	}
}

static size_t count_of(const mpijob_operator *operator_, const char *namespace_)
{
	size_t count = 0;

	for (const struct mpijob__operator_orphan *orphan = operator_->orphans.waiting; orphan;
	     orphan = orphan->next)
		count += strcmp(orphan->namespace_, namespace_) == 0;
	return count;
}

static int waits(const mpijob_operator *operator_, const char *uid)
{
	for (const struct mpijob__operator_orphan *orphan = operator_->orphans.waiting; orphan;
	     orphan = orphan->next)
		if (strcmp(orphan->uid, uid) == 0)
			return 1;
	return 0;
}

/* All pods of a large job may come before it. */
static void one_namespace_may_use_the_whole_table(void **state)
{
	mpijob_operator *operator_ = set_up();

	(void)state;
	add(operator_, "team", 0, TABLE);
	assert_int_equal(operator_->orphans.count, TABLE);
	assert_int_equal(warnings, 0);
	mpijob__operator_orphans_adopt(operator_, "owner-of-team-17");
	assert_int_equal(operator_->orphans.count, TABLE - 1);
	assert_string_equal(operator_->orphans.fetches->name, "pod-17");
	mpijob__operator_orphans_drop(operator_, "team-18");
	assert_int_equal(operator_->orphans.count, TABLE - 2);
	tear_down(operator_);
}

static void a_full_table_has_room_for_others(void **state)
{
	mpijob_operator *operator_ = set_up();

	(void)state;
	add(operator_, "forger", 0, 3 * TABLE);
	assert_int_equal(operator_->orphans.count, TABLE);
	add(operator_, "team", 0, 100);
	assert_int_equal(count_of(operator_, "team"), 100);
	assert_int_equal(count_of(operator_, "forger"), TABLE - 100);
	/* The oldest go. */
	assert_int_equal(waits(operator_, "forger-99"), 0);
	assert_int_equal(waits(operator_, "forger-100"), 1);
	/* It gets nothing back from who has less, and no more than an equal share of what another
	 * one wants. */
	add(operator_, "forger", 4 * TABLE, TABLE);
	assert_int_equal(count_of(operator_, "team"), 100);
	add(operator_, "team", 100, TABLE);
	assert_in_range(count_of(operator_, "forger"), TABLE / 2 - 1, TABLE / 2);
	assert_int_equal(operator_->orphans.count, TABLE);
	tear_down(operator_);
}

static void a_namespace_is_reported_once_in_ten_minutes(void **state)
{
	mpijob_operator *operator_ = set_up();

	(void)state;
	add(operator_, "forger", 0, TABLE + 1000);
	assert_int_equal(warnings, 1);
	assert_non_null(strstr(last, "Pod forger/pod-4096"));
	operator_->now_ms += 9 * MINUTES;
	add(operator_, "forger", 0, 2 * TABLE);
	assert_int_equal(warnings, 1);
	/* All have expired by then, and the table fills anew. */
	operator_->now_ms += 2 * MINUTES;
	add(operator_, "forger", 0, 2 * TABLE);
	assert_int_equal(warnings, 2);
	tear_down(operator_);
}

static void nothing_waits_for_ever(void **state)
{
	mpijob_operator *operator_ = set_up();

	(void)state;
	add(operator_, "old", 0, 10);
	operator_->now_ms += 5 * MINUTES;
	add(operator_, "new", 0, 10);
	operator_->now_ms += 5 * MINUTES - 1;
	add(operator_, "new", 10, 1);
	assert_int_equal(count_of(operator_, "old"), 10);
	operator_->now_ms++;
	mpijob__operator_orphans_step(operator_);
	assert_int_equal(count_of(operator_, "old"), 0);
	assert_int_equal(count_of(operator_, "new"), 11);
	operator_->now_ms += 20 * MINUTES;
	mpijob__operator_orphans_step(operator_);
	assert_int_equal(operator_->orphans.count, 0);
	assert_null(operator_->orphans.groups);
	tear_down(operator_);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_namespace_may_use_the_whole_table),
		cmocka_unit_test(a_full_table_has_room_for_others),
		cmocka_unit_test(a_namespace_is_reported_once_in_ten_minutes),
		cmocka_unit_test(nothing_waits_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
