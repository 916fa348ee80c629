/* SPDX-License-Identifier: Apache-2.0 */
#include "printed_page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

char *printed_page_read(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = calloc(1, PRINTED_PAGE_MOST);

	assert_non_null(text);
	if (file) {
		assert_true(fread(text, 1, PRINTED_PAGE_MOST - 1, file) > 0);
		fclose(file);
	}
	return text;
}

void printed_page_check(const char *name, char *page)
{
	char path[4096];
	char *there;
	int stale;

	assert_true(
	    snprintf(path, sizeof(path), "%s/%s", MPIJOB_TEST_SOURCE, name) < (int)sizeof(path));
	there = printed_page_read(path);
	stale = strcmp(page, there) != 0;
	if (stale && getenv("UPDATE_CASES")) {
		FILE *file = fopen(path, "wb");

		assert_non_null(file);
		assert_true(fputs(page, file) >= 0);
		assert_int_equal(fclose(file), 0);
		stale = 0;
	}
	if (stale)
		fail_msg("%s is stale: run this test with UPDATE_CASES=1", name);
	free(page);
	free(there);
}
