/* SPDX-License-Identifier: Apache-2.0 */
#include "base/split.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* What was cut out, as one text: "type uid name namespace version [json]\n" each. */
static int note(void *user, const struct mpijob__base_split_object *object)
{
	mpijob_text *text = user;

	assert_int_equal(mpijob__base_text_printf(text, "%s %s %s %s %s [%.*s]\n", object->type,
			     object->uid, object->name, object->namespace_,
			     object->resource_version, object->json ? (int)object->len : 4,
			     object->json ? object->json : "none"),
	    0);
	return 0;
}

/* Feed a text in two pieces, at every place, and byte by byte; the outcome must be the same. */
static void expect(int mode, size_t limit, const char *input, int code, int complete,
    const char *expected)
{
	size_t len = strlen(input);

	for (size_t cut = 0; cut <= len + 1; cut++) {
		struct mpijob__base_split split;
		mpijob_text text = { 0 };
		int rc = mpijob__base_split_init(&split, mode, "v1", "Pod", limit);

		if (cut <= len) {
			rc = mpijob__base_split_feed(&split, input, cut, note, &text);
			if (rc == 0)
				rc = mpijob__base_split_feed(&split, input + cut, len - cut, note,
				    &text);
		}
		for (size_t i = 0; cut > len && rc == 0 && i < len; i++)
			rc = mpijob__base_split_feed(&split, input + i, 1, note, &text);
		assert_int_equal(rc, code);
		if (rc == 0)
			assert_int_equal(mpijob__base_split_complete(&split), complete);
		assert_string_equal(mpijob_text_data(&text), expected);
		mpijob__base_text_release(&text);
		mpijob__base_split_release(&split);
	}
}

static void events(void **state)
{
	(void)state;
	expect(MPIJOB__BASE_SPLIT_EVENTS, 4096,
	    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\",\"uid\":\"u1\","
	    "\"resourceVersion\":\"5\","
	    "\"labels\":{\"name\":\"no\",\"uid\":\"no\"}},\"spec\":{\"metadata\":{\"uid\":\"no\"},"
	    "\"t\":\"}{\\\"]\\\\\"}}}\n"
	    "{\"object\":{\"kind\":\"Status\",\"type\":\"no\",\"code\":410},\"type\":\"ERROR\"}"
	    " \r\n{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\","
	    "\"namespace\":\"n\"}}}",
	    0, 1,
	    "ADDED u1 a  5 "
	    "[{\"metadata\":{\"name\":\"a\",\"uid\":\"u1\",\"resourceVersion\":\"5\",\"labels\":{"
	    "\"name\":\"no\","
	    "\"uid\":\"no\"}},\"spec\":{\"metadata\":{\"uid\":\"no\"},\"t\":\"}{\\\"]\\\\\"}}]\n"
	    "ERROR     [{\"kind\":\"Status\",\"type\":\"no\",\"code\":410}]\n"
	    "BOOKMARK   n 9 [{\"metadata\":{\"resourceVersion\":\"9\",\"namespace\":\"n\"}}]\n");
	expect(MPIJOB__BASE_SPLIT_EVENTS, 4096, "{\"type\":\"ADDED\",\"object\":{\"a", 0, 0, "");
	expect(MPIJOB__BASE_SPLIT_EVENTS, 4096, "{\"type\":\"X\",\"object\":null}{\"type\":7}", 0,
	    1, "X     [none]\n     [none]\n");
	expect(MPIJOB__BASE_SPLIT_EVENTS, 4096, "{\"type\":\"X\"} garbage", MPIJOB_ERR_SYNTAX, 0,
	    "X     [none]\n");
	expect(MPIJOB__BASE_SPLIT_EVENTS, 4096, "[1]", MPIJOB_ERR_SYNTAX, 0, "");
	expect(MPIJOB__BASE_SPLIT_EVENTS, 4096,
	    "{\"type\":\"X\",\"object\":{\"metadata\":{\"name\":\"\xc3\xa9\"}}}", 0, 1,
	    "X  \xc3\xa9   [{\"metadata\":{\"name\":\"\xc3\xa9\"}}]\n");
	expect(MPIJOB__BASE_SPLIT_EVENTS, 4096,
	    "{\"type\":\"X\",\"object\":{\"metadata\":{\"name\":\"z\xff\"}}}", MPIJOB_ERR_SYNTAX, 0,
	    "");
	expect(MPIJOB__BASE_SPLIT_EVENTS, 4096, "", 0, 1, "");
}

static void lists(void **state)
{
	(void)state;
	expect(MPIJOB__BASE_SPLIT_LIST, 4096,
	    "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\",\"items\":[1]},"
	    "\"items\":[\n"
	    "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"}} "
	    ",{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"x\":[{}]}],\"more\":1}\n",
	    0, 1,
	    " u a   "
	    "[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"uid\":\"u\"}}]"
	    "\n"
	    "     [{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"x\":[{}]}]\n");
	/* Items first, none, null, and a list that breaks off. */
	expect(MPIJOB__BASE_SPLIT_LIST, 4096, "{\"items\":[{\"a\":1}],\"metadata\":{}}", 0, 1,
	    "     [{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"a\":1}]\n");
	expect(MPIJOB__BASE_SPLIT_LIST, 4096, "{\"items\":[]}", 0, 1, "");
	expect(MPIJOB__BASE_SPLIT_LIST, 4096, "{\"items\":null}", 0, 1, "");
	expect(MPIJOB__BASE_SPLIT_LIST, 4096, "{\"items\":[{\"a\":1}", 0, 0,
	    "     [{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"a\":1}]\n");
	expect(MPIJOB__BASE_SPLIT_LIST, 4096, "{\"items\":[1]}", MPIJOB_ERR_SYNTAX, 0, "");
	expect(MPIJOB__BASE_SPLIT_LIST, 4096, "{} {", MPIJOB_ERR_SYNTAX, 0, "");
	expect(MPIJOB__BASE_SPLIT_LIST, 4096, "null", MPIJOB_ERR_SYNTAX, 0, "");
}

static void what_surrounds_the_items_is_kept(void **state)
{
	const char *input =
	    "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[{\"a\":[1,2]},{}],\"x\":\"]\"}";
	struct mpijob__base_split split;
	mpijob_text text = { 0 };

	(void)state;
	assert_int_equal(mpijob__base_split_init(&split, MPIJOB__BASE_SPLIT_LIST, "v1", "Pod", 100),
	    0);
	for (size_t i = 0; i < strlen(input); i++)
		assert_int_equal(mpijob__base_split_feed(&split, input + i, 1, note, &text), 0);
	assert_string_equal(mpijob_text_data(&split.outer),
	    "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[],\"x\":\"]\"}");
	mpijob__base_text_release(&text);
	mpijob__base_split_release(&split);
}

static void monsters_are_passed_over(void **state)
{
	(void)state;
	expect(MPIJOB__BASE_SPLIT_LIST, 40,
	    "{\"items\":[{\"metadata\":{\"uid\":\"big\",\"x\":"
	    "\"0123456789012345678901234567890123456789\"}},"
	    "{\"metadata\":{\"uid\":\"small\"}}]}",
	    0, 1,
	    " big    [none]\n small    "
	    "[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"uid\":\"small\"}}]\n");
}

static int pass_over(void *user, const struct mpijob__base_split_object *object)
{
	(void)user;
	assert_null(object->json);
	return 0;
}

static void a_monster_takes_no_memory(void **state)
{
	static const char head[] =
	    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"uid\":\"big\",\"x\":\"",
			  tail[] = "\"}}}\n";
	struct mpijob__base_split split;
	char piece[1024];

	(void)state;
	memset(piece, 'x', sizeof(piece));
	assert_int_equal(mpijob__base_split_init(&split, MPIJOB__BASE_SPLIT_EVENTS, "v1", "Pod",
			     2000),
	    0);
	assert_int_equal(mpijob__base_split_feed(&split, head, sizeof(head) - 1, pass_over, NULL),
	    0);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(mpijob__base_split_feed(&split, piece, sizeof(piece), pass_over,
				     NULL),
		    0);
		assert_true(split.value.cap < 8000);
	}
	assert_int_equal(mpijob__base_split_feed(&split, tail, sizeof(tail) - 1, pass_over, NULL),
	    0);
	mpijob__base_split_release(&split);
}

static int refuse(void *user, const struct mpijob__base_split_object *object)
{
	(void)user;
	(void)object;
	return MPIJOB_ERR_NOMEM;
}

static void the_reader_may_stop(void **state)
{
	struct mpijob__base_split split;

	(void)state;
	assert_int_equal(mpijob__base_split_init(&split, MPIJOB__BASE_SPLIT_EVENTS, "", "", 100),
	    0);
	assert_int_equal(mpijob__base_split_feed(&split, "{}", 2, refuse, NULL), MPIJOB_ERR_NOMEM);
	mpijob__base_split_release(&split);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events),
		cmocka_unit_test(lists),
		cmocka_unit_test(what_surrounds_the_items_is_kept),
		cmocka_unit_test(monsters_are_passed_over),
		cmocka_unit_test(a_monster_takes_no_memory),
		cmocka_unit_test(the_reader_may_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
