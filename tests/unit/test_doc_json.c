/* SPDX-License-Identifier: Apache-2.0 */
/* The pull reader by itself, and reading JSON compared with jansson, which shares no code with
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "doc/json_reader.h"

#include <mpijob/doc.h>

static struct mpijob__doc_json reader(const char *text)
{
	struct mpijob__doc_json r;

	mpijob__doc_json_init(&r, text, strlen(text), 0);
	return r;
}

static void tokens(void **state)
{
	static const int expected[] = { MPIJOB__DOC_JSON_MAP, MPIJOB__DOC_JSON_KEY,
		MPIJOB__DOC_JSON_LIST, MPIJOB__DOC_JSON_NUMBER, MPIJOB__DOC_JSON_TRUE,
		MPIJOB__DOC_JSON_FALSE, MPIJOB__DOC_JSON_NULL, MPIJOB__DOC_JSON_LIST_END,
		MPIJOB__DOC_JSON_KEY, MPIJOB__DOC_JSON_STRING, MPIJOB__DOC_JSON_MAP_END,
		MPIJOB__DOC_JSON_LIST, MPIJOB__DOC_JSON_LIST_END, MPIJOB__DOC_JSON_END,
		MPIJOB__DOC_JSON_END };
	struct mpijob__doc_json r =
	    reader(" {\"a\" : [1, true,false , null ],\n\"b\":\"x\"}[]\r\n");

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(mpijob__doc_json_next(&r), expected[i]);
}

static void places(void **state)
{
	struct mpijob__doc_json r = reader("{\n  \"a\"\n : 1,\r\n\t\"\xc3\xa9\": [\r2]}");

	(void)state;
	assert_int_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_MAP);
	assert_int_equal(mpijob__doc_json_key(&r), 1);
	assert_int_equal(r.line, 2);
	assert_int_equal(mpijob__doc_json_column(&r), 3);
	assert_int_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_NUMBER);
	assert_int_equal(r.line, 3);
	assert_int_equal(mpijob__doc_json_column(&r), 4);
	assert_int_equal(mpijob__doc_json_key(&r), 1);
	assert_int_equal(r.line, 4);
	assert_int_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_LIST);
	assert_int_equal(mpijob__doc_json_column(&r), 8);
	assert_int_equal(mpijob__doc_json_item(&r), 1);
	assert_int_equal(r.line, 5);
	assert_int_equal(mpijob__doc_json_column(&r), 1);
	assert_int_equal(mpijob__doc_json_until(&r) - mpijob__doc_json_from(&r), 1);
}

static void projects(void **state)
{
	struct mpijob__doc_json r = reader("{\"skip\":{\"deep\":[1,{\"x\":[]}]},\"n\":1e2,"
					   "\"na\\u006de\":\"p\\u00e9\\ud83d\\ude00\\n\","
					   "\"list\":[{\"a\":1},2,\"x\"],\"last\":null}");
	char name[64];
	int64_t number = 0;
	int items = 0;

	(void)state;
	assert_int_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_MAP);
	while (mpijob__doc_json_key(&r)) {
		if (mpijob__doc_json_is(&r, "n")) {
			assert_int_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_NUMBER);
			assert_int_equal(mpijob__doc_json_int(&r, &number), 1);
		} else if (mpijob__doc_json_is(&r, "name")) {
			assert_int_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_STRING);
			assert_true(r.len < sizeof(name));
			assert_int_equal(mpijob__doc_json_decode(&r, name), 8);
			assert_int_equal(mpijob__doc_json_is(&r, "p\xc3\xa9\xf0\x9f\x98\x80\n"), 1);
			assert_int_equal(mpijob__doc_json_is(&r, "p\xc3\xa9\xf0\x9f\x98\x80"), 0);
			assert_int_equal(mpijob__doc_json_is(&r, "p\xc3\xa9\xf0\x9f\x98\x80\n."),
			    0);
		} else if (mpijob__doc_json_is(&r, "list")) {
			assert_int_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_LIST);
			while (mpijob__doc_json_item(&r)) {
				items++;
				assert_int_equal(mpijob__doc_json_finish(&r), 1);
			}
		} else {
			assert_int_equal(mpijob__doc_json_skip(&r), 1);
		}
	}
	assert_int_equal(r.token, MPIJOB__DOC_JSON_MAP_END);
	assert_int_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_END);
	assert_int_equal(number, 100);
	assert_string_equal(name, "p\xc3\xa9\xf0\x9f\x98\x80\n");
	assert_int_equal(items, 3);
}

static void errors_stay(void **state)
{
	struct mpijob__doc_json r = reader("{\"a\":[1,{\"b\":tru}]}");

	(void)state;
	assert_int_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_MAP);
	assert_int_equal(mpijob__doc_json_key(&r), 1);
	assert_int_equal(mpijob__doc_json_skip(&r), 0);
	assert_int_equal(r.token, MPIJOB__DOC_JSON_ERROR);
	assert_string_equal(r.error_id, "syntax");
	assert_int_equal(mpijob__doc_json_column(&r), 14);
	assert_int_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_ERROR);
	assert_int_equal(mpijob__doc_json_key(&r), 0);
	assert_int_equal(mpijob__doc_json_item(&r), 0);
	assert_int_equal(mpijob__doc_json_finish(&r), 0);
	assert_int_equal(mpijob__doc_json_is(&r, "a"), 0);
}

static void depth(void **state)
{
	struct mpijob__doc_json r;

	(void)state;
	mpijob__doc_json_init(&r, "[[[]]] [[[[]]]]", 15, 3);
	for (int i = 0; i < 6; i++)
		assert_int_not_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_ERROR);
	for (int i = 0; i < 3; i++)
		assert_int_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_LIST);
	assert_int_equal(r.depth, 3);
	assert_int_equal(mpijob__doc_json_next(&r), MPIJOB__DOC_JSON_ERROR);
	assert_string_equal(r.error_id, "limit-depth");
}

/* Cut at every byte: never a whole value, never a read behind the end. */
static void truncated(void **state)
{
	static const char text[] =
	    "{\"a\":[1.5e-3,true,\"\\ud83d\\ude00\xc3\xa9\",null,{\"b\":{}}]}";

	(void)state;
	for (size_t len = 1; len < sizeof(text) - 1; len++) {
		char *copy = malloc(len);
		mpijob_doc *doc = NULL;

		memcpy(copy, text, len);
		assert_int_equal(mpijob_doc_parse(copy, len, NULL, &doc, NULL), MPIJOB_ERR_SYNTAX);
		assert_null(doc);
		free(copy);
	}
}

/* jansson's tree and ours, side by side. No recursion to speak of: generated values are shallow. */
static void same_tree(const json_t *theirs, const mpijob_node *ours)
{
	const char *key;
	json_t *value;
	int64_t number;
	size_t index = 0;
	int truth = 2;

	switch (json_typeof(theirs)) {
	case JSON_OBJECT:
		assert_int_equal(mpijob_node_kind(ours), MPIJOB_NODE_MAP);
		assert_int_equal(mpijob_node_count(ours), json_object_size(theirs));
		json_object_foreach((json_t *)(uintptr_t)theirs, key, value)
		    same_tree(value, mpijob_node_get(ours, key));
		break;
	case JSON_ARRAY:
		assert_int_equal(mpijob_node_count(ours), json_array_size(theirs));
		json_array_foreach(theirs, index, value)
		    same_tree(value, mpijob_node_at(ours, index));
		break;
	case JSON_STRING:
		assert_int_equal(mpijob_node_length(ours), json_string_length(theirs));
		assert_memory_equal(mpijob_node_string(ours), json_string_value(theirs),
		    json_string_length(theirs));
		break;
	case JSON_INTEGER:
		assert_int_equal(mpijob_node_int(ours, &number), 1);
		assert_int_equal(number, json_integer_value(theirs));
		break;
	case JSON_REAL:
		assert_true(strtod(mpijob_node_text(ours), NULL) == json_real_value(theirs));
		break;
	case JSON_NULL: assert_int_equal(mpijob_node_kind(ours), MPIJOB_NODE_NULL); break;
	default:
		assert_int_equal(mpijob_node_bool(ours, &truth), 1);
		assert_int_equal(truth, json_is_true(theirs));
	}
}

static unsigned int random_state = 20240118;

static unsigned int below(unsigned int limit)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % limit;
}

/* Mostly right JSON, out of pieces that are sometimes wrong. */
static void generate(mpijob_text *text, int level)
{
	static const char *const pieces[] = {
		"0",
		"-0",
		"1",
		"-17",
		"9223372036854775807",
		"-9223372036854775808",
		"1.5",
		"1e5",
		"-0.25E-2",
		"123456789.125",
		"\"\"",
		"\"abc\"",
		"\"\\u00e9\\n\\\"\\\\\\/\"",
		"\"\\ud83d\\ude00\"",
		"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
		"true",
		"false",
		"null",
		"[]",
		"{}",
		"\"\\u0000\"",
		"\"\t\"",
		"01",
		"1.",
		"nul",
		"\"\\ud800\"",
		"\"\\x\"",
		"\"\xff\"",
		"\"\xc0\x80\"",
		"-",
		"+1",
		"1e",
		"[,]",
		"{,}",
		"\"a",
		"'a'",
		"1 2",
		"{\"a\"}",
		"[1",
		"tru e",
	};
	unsigned int count = below(4);

	if (level > 3 || below(3) == 0) {
		const char *piece =
		    pieces[below(below(8) ? 20 : sizeof(pieces) / sizeof(pieces[0]))];

		assert_int_equal(mpijob_text_write(text, piece, strlen(piece)), 0);
		return;
	}
	if (below(2)) {
		char key[32];

		assert_int_equal(mpijob_text_write(text, "{ ", 2), 0);
		for (unsigned int i = 0; i < count; i++) {
			int len = snprintf(key, sizeof(key), "%s\"k%u\"%s:", i ? "," : "", i,
			    below(2) ? " " : "\n");

			assert_int_equal(mpijob_text_write(text, key, (size_t)len), 0);
			generate(text, level + 1);
		}
		assert_int_equal(mpijob_text_write(text, below(100) ? "}" : "]", 1), 0);
		return;
	}
	assert_int_equal(mpijob_text_write(text, "[", 1), 0);
	for (unsigned int i = 0; i < count; i++) {
		if (i)
			assert_int_equal(mpijob_text_write(text, ", ", 2), 0);
		generate(text, level + 1);
	}
	assert_int_equal(mpijob_text_write(text, "]", 1), 0);
}

static void agrees_with_jansson(void **state)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_text *text = mpijob_text_new();
	int accepted = 0, refused = 0;

	(void)state;
	options.format = MPIJOB_FORMAT_JSON;
	for (int i = 0; i < 20000; i++) {
		mpijob_doc *ours = NULL;
		json_t *theirs;
		int rc;

		mpijob_text_clear(text);
		generate(text, 0);
		theirs = json_loadb(mpijob_text_data(text), mpijob_text_len(text),
		    JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
		rc = mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), &options,
		    &ours, NULL);
		if ((rc == 0) != (theirs != NULL))
			fail_msg("we say %s, jansson %s: %s", mpijob_error_name(rc),
			    theirs ? "yes" : "no", mpijob_text_data(text));
		if (theirs)
			same_tree(theirs, mpijob_doc_root(ours));
		accepted += rc == 0;
		refused += rc != 0;
		json_decref(theirs);
		mpijob_doc_free(ours);
	}
	mpijob_text_free(text);
	print_message("%d accepted by both, %d refused by both\n", accepted, refused);
	assert_true(accepted > 5000 && refused > 2000);
}

/* What a program wrote has no places when it says so; what YAML tells is read by people. */
static void no_places(void **state)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	static const char text[] = "{\"a\": [1, {\"b\": null}]}";
	mpijob_doc *doc = NULL;
	int32_t line = -1, column = -1;

	(void)state;
	for (options.no_places = 0; options.no_places < 2; options.no_places++) {
		int place = !options.no_places;
		assert_int_equal(mpijob_doc_parse(text, sizeof(text) - 1, &options, &doc, NULL), 0);
		mpijob_node_place(mpijob_doc_root(doc), &line, NULL);
		mpijob_node_place(mpijob_node_find(mpijob_doc_root(doc), "a[1].b"), NULL, &column);
		assert_true(line == place && column == (place ? 17 : 0));
		mpijob_node_key_place(mpijob_doc_root(doc), 0, &line, &column);
		assert_true(line == place && column == 2 * place);
		mpijob_doc_free(doc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens),
		cmocka_unit_test(places),
		cmocka_unit_test(projects),
		cmocka_unit_test(errors_stay),
		cmocka_unit_test(depth),
		cmocka_unit_test(truncated),
		cmocka_unit_test(agrees_with_jansson),
		cmocka_unit_test(no_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
