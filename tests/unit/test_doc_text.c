/* SPDX-License-Identifier: Apache-2.0 */
/* Options of reading, places, the style of what is written, failing sinks, and numbers. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "doc/number.h"

#include <mpijob/doc.h>

static mpijob_doc *parse(const char *text)
{
	mpijob_doc *doc = NULL;

	assert_int_equal(mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL), 0);
	return doc;
}

static int parse_with(const char *text, const struct mpijob_parse_options *options, const char *id)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *doc = NULL;
	int rc = mpijob_doc_parse(text, strlen(text), options, &doc, diag);

	if (id) {
		assert_int_equal(rc, MPIJOB_ERR_SYNTAX);
		assert_string_equal(mpijob_diag_at(diag, 0)->id, id);
		assert_null(doc);
	}
	mpijob_doc_free(doc);
	mpijob_diag_free(diag);
	return rc;
}

static void options(void **state)
{
	struct mpijob_parse_options given = MPIJOB_PARSE_OPTIONS_INIT;
	struct {
		struct mpijob_parse_options known;
		size_t later;
	} newer = { MPIJOB_PARSE_OPTIONS_INIT, 1 };
	mpijob_doc *doc = NULL;

	(void)state;
	assert_int_equal(mpijob_doc_parse(NULL, 1, NULL, &doc, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_doc_parse("a", 1, NULL, NULL, NULL), MPIJOB_ERR_USAGE);
	given.format = 4;
	assert_int_equal(parse_with("a: 1", &given, NULL), MPIJOB_ERR_USAGE);
	given.format = MPIJOB_FORMAT_JSON;
	assert_int_equal(parse_with("a: 1", &given, "syntax"), MPIJOB_ERR_SYNTAX);
	given.format = MPIJOB_FORMAT_AUTO;
	given.size = 3;
	assert_int_equal(parse_with("a: 1", &given, NULL), MPIJOB_ERR_USAGE);
	/* An older caller's struct: everything behind `source` is not given. */
	given.size = offsetof(struct mpijob_parse_options, format);
	given.format = 99;
	assert_int_equal(parse_with("a: 1", &given, NULL), 0);
	newer.known.size = sizeof(newer);
	assert_int_equal(parse_with("a: 1", &newer.known, NULL), MPIJOB_ERR_UNSUPPORTED);
	newer.later = 0;
	assert_int_equal(parse_with("a: 1", &newer.known, NULL), 0);
}

static void limits(void **state)
{
	struct mpijob_parse_options given = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;

	(void)state;
	given.max_depth = 2;
	parse_with("[[[1]]]", &given, "limit-depth");
	assert_int_equal(parse_with("[[1]]", &given, NULL), 0);
	parse_with("a: {b: {c: 1}}", &given, "limit-depth");
	given.max_depth = -1;
	assert_int_equal(parse_with("1", &given, NULL), MPIJOB_ERR_USAGE);
	given.max_depth = 1000000;
	assert_int_equal(parse_with("1", &given, NULL), 0);
	given.max_values = 3;
	parse_with("[1, 2, 3]", &given, "limit-values");
	parse_with("- &a [1]\n- *a\n", &given, "limit-values");
	assert_int_equal(parse_with("[1, 2]", &given, NULL), 0);
	given.max_values = 0;
	given.max_bytes = 4;
	parse_with("a: 12", &given, "limit-size");
	assert_int_equal(parse_with("a: 1", &given, NULL), 0);
	/* A text that claims to be huge is refused before it is looked at. */
	assert_int_equal(mpijob_doc_parse("x", (size_t)1 << 40, NULL, &doc, NULL),
	    MPIJOB_ERR_SYNTAX);
	given.max_bytes = 0;
	given.max_aliases = 2;
	parse_with("x: &a 1\nb: [*a, *a, *a]\n", &given, "limit-aliases");
	assert_int_equal(parse_with("x: &a 1\nb: [*a, *a]\n", &given, NULL), 0);
	given.max_aliases = 0;
	given.max_expanded = 5;
	parse_with("x: &a abc\nb: [*a, *a]\n", &given, "limit-aliases");
	assert_int_equal(parse_with("x: &a abc\nb: [*a]\n", &given, NULL), 0);
}

static void several(void **state)
{
	struct mpijob_parse_options given = MPIJOB_PARSE_OPTIONS_INIT;
	int32_t line;
	mpijob_docs *docs = NULL;

	(void)state;
	given.source = "job.yaml";
	parse_with("", &given, "no-document");
	parse_with("# nothing\n", NULL, "no-document");
	parse_with("a: 1\n---\nb: 2\n", NULL, "several-documents");
	assert_int_equal(mpijob_docs_parse(NULL, 0, NULL, &docs, NULL), 0);
	assert_null(mpijob_docs_at(docs, 0));
	mpijob_docs_free(docs);
	assert_int_equal(mpijob_docs_parse("a: 1\n---\n---\nb: 2\n", 18, &given, &docs, NULL), 0);
	assert_null(mpijob_docs_at(docs, 2));
	assert_string_equal(mpijob_doc_source(mpijob_docs_at(docs, 1)), "job.yaml");
	mpijob_node_place(mpijob_doc_root(mpijob_docs_at(docs, 1)), &line, NULL);
	assert_int_equal(line, 4);
	mpijob_docs_free(docs);
}

static void max_findings(void **state)
{
	struct mpijob_parse_options given = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *doc = NULL;
	const char *text = "a: 1\na: 2\na: 3\na: 4\nb: .nan\n";

	(void)state;
	assert_int_equal(mpijob_doc_parse(text, strlen(text), &given, &doc, diag),
	    MPIJOB_ERR_SYNTAX);
	assert_int_equal(mpijob_diag_count(diag, 0), 4);
	mpijob_diag_clear(diag);
	given.max_findings = 2;
	assert_int_equal(mpijob_doc_parse(text, strlen(text), &given, &doc, diag),
	    MPIJOB_ERR_SYNTAX);
	assert_int_equal(mpijob_diag_count(diag, 0), 2);
	assert_string_equal(mpijob_diag_at(diag, 0)->reason, "Duplicate");
	assert_string_equal(mpijob_diag_at(diag, 0)->field, "a");
	mpijob_diag_free(diag);
}

static void expect_place(const mpijob_doc *doc, const char *path, int32_t line, int32_t column)
{
	const mpijob_node *node = mpijob_node_find(mpijob_doc_root(doc), path);
	int32_t at[2];

	assert_non_null(node);
	mpijob_node_place(node, &at[0], &at[1]);
	assert_int_equal(at[0], line);
	assert_int_equal(at[1], column);
}

static void places(void **state)
{
	mpijob_doc *doc =
	    parse("# \xc3\xa9\r\na: 1\r\n\"\xc3\xa9\": {\xc3\xa9: x, b: [1, \xf0\x9f\x98\x80, "
		  "3]}\r\nc:\r\n- d\r\n- e: |\r\n    x\r\n  f: &x g\r\n- *x\r\n");
	int32_t line = 0, column = 0;

	(void)state;
	expect_place(doc, "", 2, 1);
	expect_place(doc, "a", 2, 4);
	expect_place(doc, "\xc3\xa9", 3, 7);
	expect_place(doc, "\xc3\xa9.\xc3\xa9", 3, 12);
	expect_place(doc, "\xc3\xa9.b[1]", 3, 22);
	expect_place(doc, "\xc3\xa9.b[2]", 3, 28);
	expect_place(doc, "c", 5, 1);
	expect_place(doc, "c[1]", 6, 3);
	expect_place(doc, "c[1].e", 6, 6);
	expect_place(doc, "c[1].f", 8, 6);
	expect_place(doc, "c[2]", 9, 3);
	mpijob_node_key_place(mpijob_node_find(mpijob_doc_root(doc), "\xc3\xa9"), 1, &line,
	    &column);
	assert_int_equal(line, 3);
	assert_int_equal(column, 15);
	mpijob_node_key_place(mpijob_doc_root(doc), 9, &line, NULL);
	assert_int_equal(line, 0);
	mpijob_doc_free(doc);
	/* separators that are no line ends to an editor */
	doc = parse("a: \"x\xe2\x80\xa8y\xc2\x85z\" \nb: 1\n");
	expect_place(doc, "b", 2, 4);
	mpijob_doc_free(doc);
	doc = parse("{\"a\": 1,\n \"\\u00e9\" : [ true,\n{}]}");
	expect_place(doc, "a", 1, 7);
	expect_place(doc, "\xc3\xa9[1]", 3, 1);
	mpijob_doc_free(doc);
}

static void expect_yaml(const char *text, const char *expected)
{
	mpijob_doc *doc = parse(text), *again;
	mpijob_text *out = mpijob_text_new();

	assert_int_equal(mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_YAML,
			     mpijob_text_write, out),
	    0);
	assert_string_equal(mpijob_text_data(out), expected);
	again = parse(mpijob_text_data(out));
	assert_int_equal(mpijob_node_equal(mpijob_doc_root(doc), mpijob_doc_root(again)), 1);
	mpijob_doc_free(again);
	mpijob_text_free(out);
	mpijob_doc_free(doc);
}

static void yaml_style(void **state)
{
	(void)state;
	expect_yaml("{\"a\":{\"b\":[1,{\"c\":2,\"d\":[]},[3,[4]]]},\"e\":{}}",
	    "a:\n  b:\n  - 1\n  - c: 2\n    d: []\n  - - 3\n    - - 4\ne: {}\n");
	expect_yaml("[\"yes\",\"0644\",\"1e3\",\"\",\" x\",\"a: "
		    "b\",\"~\",\"1.5\",\"on\",\"y\",\"2001-01-01\",\"12:30\"]",
	    "- \"yes\"\n- \"0644\"\n- \"1e3\"\n- \"\"\n- ' x'\n- 'a: b'\n- \"~\"\n- \"1.5\"\n- "
	    "\"on\"\n- \"y\"\n"
	    "- \"2001-01-01\"\n- \"12:30\"\n");
	expect_yaml("[\"-c\",\"--x=y\",\"- a\",\"-\",\"a "
		    "#b\",\"a#b\",\"#a\",\"a:b\",\"a:\",\"it's\",\"'q'\",\"[a]\",\"a,b\",\"*\",\"/"
		    "bin/sh\"]",
	    "- -c\n- --x=y\n- '- a'\n- '-'\n- 'a #b'\n- a#b\n- '#a'\n- a:b\n- 'a:'\n- it's\n- "
	    "'''q'''\n- '[a]'\n- a,b\n"
	    "- '*'\n- /bin/sh\n");
	expect_yaml("{\"s\":\"one\\n two\\n\",\"t\":\"x\\ny\",\"u\":\"x\\n\\n\",\"v\":\" "
		    "x\\ny\",\"w\":\"\\n\",\"x\":\"a\\tb\"}",
	    "s: |\n  one\n   two\nt: |-\n  x\n  y\nu: |+\n  x\n\nv: \" x\\ny\"\nw: \"\\n\"\nx: "
	    "\"a\\tb\"\n");
	expect_yaml("{\"\":1,\"true\":2,\"1\":3,\"a b\":4,\"<<\":5,\"x\\ny\":6,\"k: \":7}",
	    "\"\": 1\n\"true\": 2\n\"1\": 3\na b: 4\n'<<': 5\n\"x\\ny\": 6\n'k: ': 7\n");
	expect_yaml("[null,true,-0.5e-7,\"\xc3\xa9\",\"\\u0007\\u2028\\ufeff\"]",
	    "- null\n- true\n- -0.5e-7\n- \xc3\xa9\n- \"\\u0007\\u2028\\ufeff\"\n");
	expect_yaml("\"root\\nlines\\n\"", "|\n  root\n  lines\n");
	expect_yaml("\"--- x\"", "'--- x'\n");
}

static void sinks(void **state)
{
	mpijob_doc *doc = parse("a: [1, {b: x}, \"y\\nz\"]\nc: ''\n");

	(void)state;
	assert_int_equal(mpijob_node_write(NULL, MPIJOB_FORMAT_YAML, mpijob_text_write, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_node_write(mpijob_doc_root(doc), 0, mpijob_text_write, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_node_write(mpijob_doc_root(doc), 4, mpijob_text_write, NULL),
	    MPIJOB_ERR_USAGE);
	mpijob_doc_free(doc);
}

static int fails_at(void *user, const char *data, size_t len)
{
	int *left = user;

	(void)data;
	(void)len;
	return (*left)-- > 0 ? 0 : MPIJOB_ERR_IO;
}

/* Every call of the sink fails once: the failure comes out, and the sink is not called again. */
static void sink_failures(void **state)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *list = mpijob_node_put_list(doc, mpijob_doc_edit(doc, ""), "list");
	char *large = malloc(5001);

	(void)state;
	memset(large, 'x', 5000);
	large[5000] = 0;
	for (int i = 0; i < 200; i++)
		mpijob_node_put_string(doc, mpijob_node_append_map(doc, list),
		    i % 20 ? "a key" : large, i % 7 ? "v" : large);
	assert_int_equal(mpijob_doc_error(doc), 0);
	for (int32_t format = MPIJOB_FORMAT_YAML; format <= MPIJOB_FORMAT_JSON_COMPACT; format++) {
		int left = 100000, calls;

		assert_int_equal(mpijob_node_write(mpijob_doc_root(doc), format, fails_at, &left),
		    0);
		calls = 100000 - left;
		assert_true(calls > 20);
		for (int i = 0; i < calls; i++) {
			left = i;
			assert_int_equal(mpijob_node_write(mpijob_doc_root(doc), format, fails_at,
					     &left),
			    MPIJOB_ERR_IO);
			assert_int_equal(left, -1);
		}
	}
	free(large);
	mpijob_doc_free(doc);
}

static void expect_int(const char *text, int fits, int64_t value)
{
	int64_t out = 77;

	assert_int_equal(mpijob__doc_number_int(text, strlen(text), &out), fits);
	assert_true(out == (fits ? value : 77));
}

static void whole_numbers(void **state)
{
	(void)state;
	expect_int("0", 1, 0);
	expect_int("-0", 1, 0);
	expect_int("0.000e99999999999", 1, 0);
	expect_int("1.0", 1, 1);
	expect_int("1e3", 1, 1000);
	expect_int("1.5e1", 1, 15);
	expect_int("1.55e1", 0, 0);
	expect_int("1000e-3", 1, 1);
	expect_int("1000e-4", 0, 0);
	expect_int("9223372036854775807", 1, INT64_MAX);
	expect_int("9223372036854775808", 0, 0);
	expect_int("-9223372036854775808", 1, INT64_MIN);
	expect_int("-9223372036854775809", 0, 0);
	expect_int("99999999999999999999", 0, 0);
	expect_int("1e18", 1, 1000000000000000000);
	expect_int("1e19", 0, 0);
	expect_int("1e99999999999999999999", 0, 0);
	expect_int("1e-99999999999999999999", 0, 0);
}

static void expect_spelled(const char *text, const char *expected)
{
	char room[MPIJOB__DOC_NUMBER_ROOM];
	size_t len = mpijob__doc_number_canonical(text, strlen(text), room);

	if (!expected) {
		assert_int_equal(len, 0);
		return;
	}
	assert_string_equal(room, expected);
	assert_int_equal(len, strlen(expected));
}

static void spelled_numbers(void **state)
{
	(void)state;
	expect_spelled("18446744073709551615", "18446744073709551615");
	expect_spelled("18446744073709551616", "18446744073709552000");
	expect_spelled("1e21", "1e+21");
	expect_spelled("1e20", "100000000000000000000");
	expect_spelled("0.000001", "0.000001");
	expect_spelled("0.0000001", "1e-7");
	expect_spelled("5e-324", "5e-324");
	expect_spelled("2e-324", "0");
	expect_spelled("1.7976931348623158e308", "1.7976931348623157e+308");
	expect_spelled("1.7976931348623159e308", NULL);
	expect_spelled("-1e400", NULL);
	expect_spelled("9007199254740993.0", "9007199254740992");
	expect_spelled("-0.0", "-0");
}

/* A host may have set any locale; a decimal comma must not reach us. */
static void other_locale(void **state)
{
	static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8",
		"nl_NL.UTF-8" };
	const char *set = NULL;

	for (size_t i = 0; !set && i < sizeof(names) / sizeof(names[0]); i++)
		set = setlocale(LC_ALL, names[i]);
	if (!set)
		print_message("no locale with a decimal comma here\n");
	spelled_numbers(state);
	whole_numbers(state);
	(void)setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options),
		cmocka_unit_test(limits),
		cmocka_unit_test(several),
		cmocka_unit_test(max_findings),
		cmocka_unit_test(places),
		cmocka_unit_test(yaml_style),
		cmocka_unit_test(sinks),
		cmocka_unit_test(sink_failures),
		cmocka_unit_test(whole_numbers),
		cmocka_unit_test(spelled_numbers),
		cmocka_unit_test(other_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
