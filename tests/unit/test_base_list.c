/* SPDX-License-Identifier: Apache-2.0 */
/* Intrusive lists: order, membership, and removal in a loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/list.h"

struct item {
	struct mpijob__base_list link;
	int number;
};

static void assert_order(const struct mpijob__base_list *head, const int *numbers, size_t count)
{
	const struct mpijob__base_list *link = head->next;

	for (size_t i = 0; i < count; i++, link = link->next) {
		const struct item *item = link->owner;

		assert_non_null(item);
		assert_int_equal(item->number, numbers[i]);
		assert_ptr_equal(link->next->prev, link);
	}
	assert_ptr_equal(link, head);
	assert_null(link->owner);
}

static void test_insert(void **state)
{
	struct item a = { .number = 1 }, b = { .number = 2 }, c = { .number = 3 };
	struct mpijob__base_list head = { 0 };

	(void)state;
	assert_null(mpijob__base_list_first(&head));
	mpijob__base_list_init(&head);
	assert_null(mpijob__base_list_first(&head));
	mpijob__base_list_insert(&head, &b.link, &b);
	mpijob__base_list_insert(&head, &c.link, &c);
	mpijob__base_list_insert(head.next, &a.link, &a);
	assert_order(&head, (const int[]){ 1, 2, 3 }, 3);
	assert_ptr_equal(mpijob__base_list_first(&head), &a);
}

static void test_remove(void **state)
{
	struct item items[3] = { 0 };
	struct mpijob__base_list head;
	struct item *first;

	(void)state;
	mpijob__base_list_init(&head);
	mpijob__base_list_remove(&items[0].link);
	for (int i = 0; i < 3; i++) {
		items[i].number = i;
		assert_false(mpijob__base_list_is_linked(&items[i].link));
		mpijob__base_list_insert(&head, &items[i].link, &items[i]);
		assert_true(mpijob__base_list_is_linked(&items[i].link));
	}
	mpijob__base_list_remove(&items[1].link);
	assert_false(mpijob__base_list_is_linked(&items[1].link));
	mpijob__base_list_remove(&items[1].link);
	assert_order(&head, (const int[]){ 0, 2 }, 2);
	while ((first = mpijob__base_list_first(&head)) != NULL)
		mpijob__base_list_remove(&first->link);
	assert_order(&head, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_insert),
		cmocka_unit_test(test_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
