/* SPDX-License-Identifier: Apache-2.0 */
/* docs/differences.md is what the list in lib/render/differences.c says; UPDATE_CASES=1 writes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/base.h>

#include "../support/printed_page.h"
#include "base/text.h"
#include "render/differences.h"

static const char head[] =
	"# Differences from mpi-operator v0.8.2\n"
	"\n"
	"What libmpijob does otherwise than the controller that it is compatible with, on purpose. Everything else is\n"
	"equal, field for field, and the tests in `tests/oracle/` compare the two. This page is printed from\n"
	"`lib/render/differences.c`, the list that the code itself reads: change it there. What is done only when it is asked\n"
	"for stands in `options.md`.\n";

static const struct {
	enum mpijob__difference_mode mode;
	const char *title;
	const char *toggle;
} parts[] = {
	{ MPIJOB__DIFFERENCE_DEFAULT, "On by default", "Switch off" },
	{ MPIJOB__DIFFERENCE_ALWAYS, "Always", "No switch" },
};

static void print_rows(struct mpijob_text *out, size_t part)
{
	int first = 1;

	for (int i = MPIJOB__DIFFERENCE_NONE + 1; i < MPIJOB__DIFFERENCE_COUNT; i++) {
		const struct mpijob__difference_row *row = mpijob__difference_row((enum mpijob__difference)i);

		if (row->mode != parts[part].mode)
			continue;
		if (first)
			mpijob__text_printf(out, "\n## %s\n", parts[part].title);
		first = 0;
		mpijob__text_printf(out, "\n### %s\n\n%s\n\n- Why: %s\n- %s: %s.\n", row->id, row->what, row->why,
				    parts[part].toggle, row->toggle);
	}
}

static char *print_page(void)
{
	struct mpijob_text out = { 0 };
	char *page;

	mpijob__text_puts(&out, head);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		print_rows(&out, i);
	page = strdup(out.data);
	mpijob__text_release(&out);
	return page;
}

static void page_is_current(void **state)
{
	(void)state;
	printed_page_check("docs/differences.md", print_page());
}

static void rows_are_complete(void **state)
{
	(void)state;
	assert_null(mpijob__difference_row(MPIJOB__DIFFERENCE_NONE));
	assert_null(mpijob__difference_row(MPIJOB__DIFFERENCE_COUNT));
	for (int i = MPIJOB__DIFFERENCE_NONE + 1; i < MPIJOB__DIFFERENCE_COUNT; i++) {
		const struct mpijob__difference_row *row = mpijob__difference_row((enum mpijob__difference)i);

		if (!row->id || !row->what || !row->why || !row->toggle)
			fail_msg("row %d is not complete", i);
		assert_int_equal(strspn(row->id, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(row->id));
		for (int j = MPIJOB__DIFFERENCE_NONE + 1; j < i; j++)
			assert_string_not_equal(row->id, mpijob__difference_row((enum mpijob__difference)j)->id);
		assert_int_equal(mpijob__difference_holds((enum mpijob__difference)i, 0), 1);
		assert_int_equal(mpijob__difference_holds((enum mpijob__difference)i, 1),
				 row->mode == MPIJOB__DIFFERENCE_ALWAYS);
	}
	assert_int_equal(mpijob__difference_holds(MPIJOB__DIFFERENCE_NONE, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rows_are_complete), cmocka_unit_test(page_is_current) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
