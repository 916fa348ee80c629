/* SPDX-License-Identifier: Apache-2.0 */
/* The index of children against a plain array, and uids that are packed. */
#include "operator/operator.h"
#include "plan/pods.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RECORDS 7
#define MOST    3000

static uint64_t dice = 1;

static uint64_t roll(uint64_t sides)
{
	dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (dice >> 33) % sides;
}

/* UUIDs, and now and then something else. */
static void name(char uid[64], unsigned number)
{
	if (number % 5)
		snprintf(uid, 64, "%08x-1234-4abc-9def-%012x", number * 2654435761u, number);
	else
		snprintf(uid, 64, "uid-%u", number);
}

static struct mpijob__operator_child *look(const struct mpijob__operator_index *objects,
    const char *text)
{
	struct mpijob__base_uid uid;

	mpijob__base_uid_borrow(&uid, text);
	return mpijob__operator_index_find(objects, &uid);
}

static void check_lists(const struct mpijob__operator_index *objects,
    struct mpijob__operator_job *entries, const int *owner)
{
	size_t counts[RECORDS] = { 0 }, place = 0, all = 0;
	struct mpijob__operator_child *object;

	while ((object = mpijob__operator_index_next(objects, &place))) {
		counts[object->job - entries]++;
		all++;
	}
	assert_int_equal(all, objects->count);
	for (int i = 0; i < MOST; i++)
		if (owner[i] >= 0)
			counts[owner[i]]--;
	for (size_t i = 0; i < RECORDS; i++)
		assert_int_equal(counts[i], 0);
}

static void adding_and_dropping(void **state)
{
	struct mpijob__operator_job *entries = calloc(RECORDS, sizeof(*entries));
	struct mpijob__operator_index objects = { .seed = 5 };
	static int owner[MOST];
	char uid[64];

	(void)state;
	memset(owner, 0xff, sizeof(owner));
	assert_null(look(&objects, "uid-1"));
	for (int step = 0; step < 30000; step++) {
		unsigned number = (unsigned)roll(MOST);
		int entry = (int)roll(RECORDS);
		struct mpijob__operator_child *object;

		name(uid, number);
		object = look(&objects, uid);
		assert_int_equal(object != NULL, owner[number] >= 0);
		if (object) {
			assert_ptr_equal(object->job, &entries[owner[number]]);
			mpijob__operator_index_drop(&objects, object);
			owner[number] = -1;
		} else {
			object = mpijob__operator_index_add(&objects, &entries[entry], uid);
			assert_non_null(object);
			assert_ptr_equal(mpijob__operator_index_of(&objects, &entries[entry]),
			    object);
			owner[number] = entry;
		}
		if (step % 1000 == 0)
			check_lists(&objects, entries, owner);
	}
	/* A record goes with all that is its own. */
	for (int i = 0; i < RECORDS; i++) {
		while (entries[i].cache.children)
			mpijob__operator_index_drop(&objects,
			    mpijob__operator_index_of(&objects, &entries[i]));
		for (int j = 0; j < MOST; j++)
			owner[j] = owner[j] == i ? -1 : owner[j];
		check_lists(&objects, entries, owner);
	}
	assert_int_equal(objects.count, 0);
	assert_true(objects.used <= MOST);
	mpijob__operator_index_release(&objects);
	free(entries);
}

static void uids_come_out_as_they_went_in(void **state)
{
	static const char *const texts[] = {
		"7f3e5a34-1c2d-4000-8abc-0123456789ab", /* a UUID */
		"7f3e5a34-1c2d-4000-babc-0123456789ab",
		"7f3e5a34-1c2d-4000-0abc-0123456789ab", /* of other variants */
		"7f3e5a34-1c2d-4000-cabc-0123456789ab",
		"7F3E5A34-1C2D-4000-8ABC-0123456789AB", /* not in lower case */
		"7f3e5a34-1c2d-4000-8abc-0123456789a",
		"7f3e5a34-1c2d-4000-8abc-0123456789abc",
		"7f3e5a341c2d40008abc0123456789ab",
		"7f3e5a34-1c2d-4000-8abc-0123456789ag",
		"7f3e5a34-1c2d-4000_8abc-0123456789ab",
		"",
		"u",
		"00000000-0000-0000-8000-000000000000",
	};
	struct mpijob__base_uid uids[sizeof(texts) / sizeof(*texts)], borrowed;
	char room[MPIJOB__BASE_UID_ROOM];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char *copy = strdup(texts[i]);

		assert_int_equal(mpijob__base_uid_set(&uids[i], copy), 0);
		free(copy);
		assert_string_equal(mpijob__base_uid_text(&uids[i], room), texts[i]);
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		mpijob__base_uid_borrow(&borrowed, texts[i]);
		assert_true(
		    mpijob__base_uid_hash(&borrowed, 7) == mpijob__base_uid_hash(&uids[i], 7));
		for (size_t j = 0; j < sizeof(texts) / sizeof(*texts); j++)
			assert_int_equal(mpijob__base_uid_same(&borrowed, &uids[j]), i == j);
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		mpijob__base_uid_clear(&uids[i]);
}

/* What ten thousand pods cost: these two, and two or three slots of four bytes. */
static void they_are_small(void **state)
{
	(void)state;
	assert_true(sizeof(struct mpijob__operator_child) <= 48);
	assert_true(sizeof(struct mpijob__plan_pod) <= 72);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adding_and_dropping),
		cmocka_unit_test(uids_come_out_as_they_went_in),
		cmocka_unit_test(they_are_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
