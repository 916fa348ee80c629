/* SPDX-License-Identifier: Apache-2.0 */
/* Building, looking, changing, copying, comparing and merging documents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <mpijob/doc.h>

static mpijob_doc *parse(const char *text)
{
	mpijob_doc *doc = NULL;

	assert_int_equal(mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL), 0);
	return doc;
}

static void expect_json(const mpijob_node *node, const char *expected)
{
	mpijob_text *text = mpijob_text_new();

	assert_int_equal(mpijob_node_write(node, MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write,
			     text),
	    0);
	assert_string_equal(mpijob_text_data(text), expected);
	mpijob_text_free(text);
}

static void builds(void **state)
{
	int32_t line = 7, column = 7;
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, "");
	mpijob_node *list = mpijob_node_put_list(doc, root, "list");

	(void)state;
	mpijob_node_put_string(doc, root, "s", "text");
	mpijob_node_put_int(doc, root, "i", INT64_MIN);
	mpijob_node_put_bool(doc, root, "b", 2);
	mpijob_node_put(doc, root, "n", mpijob_node_new(doc, MPIJOB_NODE_NULL));
	mpijob_node_put(doc, root, "f", mpijob_node_new_text(doc, MPIJOB_NODE_NUMBER, "1.50", 4));
	mpijob_node_put(doc, root, "z", mpijob_node_new_text(doc, MPIJOB_NODE_STRING, "a\0b", 3));
	mpijob_node_append_string(doc, list, "x");
	mpijob_node_put_int(doc, mpijob_node_append_map(doc, list), "k", 1);
	mpijob_node_put_map(doc, mpijob_node_put_map(doc, root, "m"), "inner");
	mpijob_node_put_copy(doc, root, "c", mpijob_node_get(root, "list"));
	mpijob_node_put_string(doc, root, "i", "replaced");
	assert_null(mpijob_node_put_string(doc, root, "absent", NULL));
	assert_int_equal(mpijob_doc_error(doc), 0);
	expect_json(mpijob_doc_root(doc),
	    "{\"list\":[\"x\",{\"k\":1}],\"s\":\"text\",\"i\":\"replaced\",\"b\":true,\"n\":null,"
	    "\"f\":1.50,\"z\":\"a\\u0000b\",\"m\":{\"inner\":{}},\"c\":[\"x\",{\"k\":1}]}");
	mpijob_node_place(mpijob_doc_root(doc), &line, &column);
	assert_true(line == 0 && column == 0);
	mpijob_node_place(NULL, &line, NULL);
	assert_int_equal(line, 0);
	assert_ptr_equal(mpijob_doc_edit(doc, ""), root);
	mpijob_doc_free(doc);
}

static void chains_survive_null(void **state)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, "");
	mpijob_node *text = mpijob_node_put_string(doc, root, "s", "text");

	(void)state;
	assert_int_equal(mpijob_doc_error(NULL), MPIJOB_ERR_NOMEM);
	assert_null(mpijob_doc_edit(NULL, ""));
	assert_null(mpijob_node_put_map(NULL, NULL, "a"));
	assert_null(mpijob_node_put(doc, NULL, "a", text));
	assert_null(mpijob_node_put(doc, root, "a", NULL));
	assert_null(mpijob_node_append(doc, NULL, text));
	assert_null(mpijob_node_copy(doc, NULL));
	assert_null(mpijob_doc_make(NULL, "a"));
	assert_int_equal(mpijob_doc_error(doc), 0);
	assert_null(mpijob_node_put_int(doc, text, "a", 1));
	assert_int_equal(mpijob_doc_error(doc), MPIJOB_ERR_USAGE);
	assert_non_null(mpijob_node_put_int(doc, root, "a", 1));
	assert_int_equal(mpijob_doc_error(doc), MPIJOB_ERR_USAGE);
	mpijob_doc_free(doc);
	mpijob_doc_free(NULL);
	mpijob_docs_free(NULL);
}

static void usage(void **state)
{
	static const char *const numbers[] = { "", "-", "01", "+1", "1.", ".5", "1e", "0x1", "1 ",
		"nan", "1e400", "-1e999" };

	(void)state;
	for (int32_t kind = -1; kind <= MPIJOB_NODE_MAP + 1; kind++) {
		int has_text = kind == MPIJOB_NODE_STRING || kind == MPIJOB_NODE_NUMBER;
		int is_empty =
		    kind == MPIJOB_NODE_NULL || kind == MPIJOB_NODE_LIST || kind == MPIJOB_NODE_MAP;
		mpijob_doc *doc = mpijob_doc_new();

		assert_int_equal(mpijob_node_new_text(doc, kind, "1", 1) != NULL, has_text);
		assert_int_equal(mpijob_doc_error(doc), has_text ? 0 : MPIJOB_ERR_USAGE);
		mpijob_doc_free(doc);
		doc = mpijob_doc_new();
		assert_int_equal(mpijob_node_new(doc, kind) != NULL, is_empty);
		assert_int_equal(mpijob_doc_error(doc), is_empty ? 0 : MPIJOB_ERR_USAGE);
		mpijob_doc_free(doc);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		mpijob_doc *doc = mpijob_doc_new();

		assert_null(
		    mpijob_node_new_text(doc, MPIJOB_NODE_NUMBER, numbers[i], strlen(numbers[i])));
		assert_int_equal(mpijob_doc_error(doc), MPIJOB_ERR_USAGE);
		mpijob_doc_free(doc);
	}
	for (int i = 0; i < 3; i++) {
		mpijob_doc *doc = mpijob_doc_new();
		mpijob_node *root = mpijob_doc_edit(doc, "");

		if (i == 0)
			assert_null(
			    mpijob_node_append(doc, root, mpijob_node_new(doc, MPIJOB_NODE_NULL)));
		else if (i == 1)
			assert_null(mpijob_node_put(doc, root, "self", root));
		else
			assert_null(mpijob_doc_make(doc, "a..b"));
		assert_int_equal(mpijob_doc_error(doc), MPIJOB_ERR_USAGE);
		mpijob_doc_free(doc);
	}
}

/* A node under itself would be written and cloned for ever, one in two places ever more often. */
static void one_place_each(void **state)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, ""),
		    *upper = mpijob_node_new(doc, MPIJOB_NODE_MAP),
		    *lower = mpijob_node_new(doc, MPIJOB_NODE_LIST);
	mpijob_node *middle = mpijob_node_new(doc, MPIJOB_NODE_MAP);

	(void)state;
	assert_non_null(mpijob_node_put(doc, upper, "middle", middle));
	assert_non_null(mpijob_node_put(doc, middle, "lower", lower));
	assert_int_equal(mpijob_doc_error(doc), 0);
	assert_null(mpijob_node_append(doc, lower, lower));
	assert_null(mpijob_node_append(doc, lower, upper));
	assert_null(mpijob_node_append(doc, lower, middle));
	assert_null(mpijob_node_put(doc, middle, "upper", upper));
	assert_null(mpijob_node_put(doc, root, "middle", middle));
	assert_int_equal(mpijob_doc_error(doc), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_node_count(lower) + mpijob_node_count(root), 0);
	assert_ptr_equal(mpijob_node_put(doc, upper, "middle", middle), middle);
	assert_ptr_equal(mpijob_node_put(doc, root, "upper", upper), upper);
	assert_null(mpijob_node_append(doc, lower, root));
	/* Removed and replaced values are free again. */
	assert_int_equal(mpijob_node_remove(upper, "middle"), 1);
	assert_ptr_equal(mpijob_node_put(doc, root, "middle", middle), middle);
	assert_non_null(mpijob_node_put_int(doc, root, "middle", 1));
	assert_non_null(mpijob_node_append(doc, lower, mpijob_node_new(doc, MPIJOB_NODE_MAP)));
	assert_ptr_equal(mpijob_node_put(doc, upper, "again", middle), middle);
	assert_null(mpijob_node_append(doc, lower, root));
	mpijob_doc_free(doc);
}

/* The readers, copies and merges note places as the building functions do. */
static void no_way_around(void **state)
{
	static const char *const texts[] = { "{\"a\": {\"b\": [{}]}}", "a: {b: [{}]}\n",
		"x: &x {b: [{}]}\na:\n  b: 1\n  <<: *x\n", "a: 1\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		mpijob_doc *patch = parse("a: {b: [{}]}\n"), *read = parse(texts[i]);
		mpijob_doc *doc = mpijob_doc_from_node(mpijob_doc_root(read), NULL);
		mpijob_node *root = mpijob_doc_edit(doc, "");

		if (i == 3)
			assert_int_equal(mpijob_doc_merge(doc, mpijob_doc_root(patch)), 0);
		if (i == 3)
			root = mpijob_doc_edit(doc, "");
		assert_null(mpijob_node_put(doc, mpijob_doc_edit(doc, "a"), "c", root));
		assert_null(mpijob_node_append(doc, mpijob_doc_edit(doc, "a.b"),
		    mpijob_doc_edit(doc, "a")));
		assert_null(mpijob_node_put(doc, root, "c", mpijob_doc_edit(doc, "a.b")));
		assert_null(mpijob_node_put(read, mpijob_doc_edit(read, ""), "c",
		    mpijob_doc_edit(read, i < 3 ? "a" : "")));
		assert_int_equal(mpijob_node_count(root), mpijob_node_count(mpijob_doc_root(read)));
		mpijob_doc_free(read);
		mpijob_doc_free(patch);
		mpijob_doc_free(doc);
	}
}

static void only_utf8(void **state)
{
	static const char *const bad[] = { "\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80",
		"\xf4\x90\x80\x80" };

	(void)state;
	for (size_t i = 0; i < 6 * sizeof(bad) / sizeof(bad[0]); i++) {
		const char *text = bad[i / 6];
		mpijob_doc *doc = mpijob_doc_new();
		mpijob_node *root = mpijob_doc_edit(doc, ""),
			    *list = mpijob_node_put_list(doc, root, "list");

		switch (i % 6) {
		case 0:
			assert_null(
			    mpijob_node_new_text(doc, MPIJOB_NODE_STRING, text, strlen(text)));
			break;
		case 1: assert_null(mpijob_node_put_string(doc, root, "key", text)); break;
		case 2: assert_null(mpijob_node_append_string(doc, list, text)); break;
		case 3: assert_null(mpijob_node_put_int(doc, root, text, 1)); break;
		case 4: assert_null(mpijob_node_put_map(doc, root, text)); break;
		default: assert_null(mpijob_doc_make(doc, text)); break;
		}
		assert_int_equal(mpijob_doc_error(doc), MPIJOB_ERR_USAGE);
		assert_int_equal(mpijob_node_count(root), 1);
		assert_non_null(
		    strstr(mpijob_node_string(mpijob_node_put_lossy(doc, root, "key", text)),
			"\xef\xbf\xbd"));
		mpijob_doc_free(doc);
	}
}

static void looks(void **state)
{
	mpijob_doc *doc = parse("a: 1\nb: [x, {c: null}]\nd: true\ne: 1.5\nf: 1e3\n");
	const mpijob_node *root = mpijob_doc_root(doc);
	int64_t number = 7;
	int truth = 7;

	(void)state;
	assert_int_equal(mpijob_node_kind(root), MPIJOB_NODE_MAP);
	assert_int_equal(mpijob_node_kind(NULL), MPIJOB_NODE_NONE);
	assert_int_equal(mpijob_node_count(root), 5);
	assert_int_equal(mpijob_node_count(mpijob_node_get(root, "a")), 0);
	assert_string_equal(mpijob_node_key(root, 1), "b");
	assert_null(mpijob_node_key(root, 5));
	assert_null(mpijob_node_key(mpijob_node_get(root, "b"), 0));
	assert_null(mpijob_node_at(root, 5));
	assert_null(mpijob_node_get(root, "x"));
	assert_null(mpijob_node_get(NULL, "x"));
	assert_int_equal(mpijob_node_kind(mpijob_node_find(root, "b[1].c")), MPIJOB_NODE_NULL);
	assert_ptr_equal(mpijob_node_find(root, ""), root);
	assert_ptr_equal(mpijob_node_find(root, "[b][1]"), mpijob_node_find(root, "b[1]"));
	assert_null(mpijob_node_find(root, "b[2]"));
	assert_null(mpijob_node_find(root, "b[x]"));
	assert_null(mpijob_node_find(root, "a.b"));
	assert_null(mpijob_node_find(root, "b."));
	assert_int_equal(mpijob_node_int(mpijob_node_get(root, "a"), &number), 1);
	assert_int_equal(number, 1);
	assert_int_equal(mpijob_node_int(mpijob_node_get(root, "e"), &number), 0);
	assert_int_equal(mpijob_node_int(mpijob_node_get(root, "d"), &number), 0);
	assert_int_equal(mpijob_node_int(mpijob_node_get(root, "f"), &number), 1);
	assert_int_equal(number, 1000);
	assert_int_equal(mpijob_node_bool(mpijob_node_get(root, "d"), &truth), 1);
	assert_int_equal(truth, 1);
	assert_int_equal(mpijob_node_bool(mpijob_node_get(root, "a"), &truth), 0);
	assert_string_equal(mpijob_node_text(mpijob_node_get(root, "e")), "1.5");
	assert_null(mpijob_node_string(mpijob_node_get(root, "e")));
	assert_string_equal(mpijob_node_string(mpijob_node_find(root, "b[0]")), "x");
	assert_int_equal(mpijob_node_length(mpijob_node_find(root, "b[0]")), 1);
	mpijob_doc_free(doc);
}

static void describes(void **state)
{
	static const struct {
		const char *text, *description;
	} cases[] = {
		{ "soon", "the string \"soon\"" },
		{ "1.5", "the number 1.5" },
		{ "yes", "true" },
		{ "false", "false" },
		{ "[1]", "a list" },
		{ "{}", "a map" },
		{ "~", "null" },
		/* cut in front of the character that the sixtieth byte belongs to */
		{ "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xc3\xa9y",
		    "the string \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
		    "\"" },
	};
	mpijob_text *text = mpijob_text_new();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mpijob_doc *doc = parse(cases[i].text);

		mpijob_text_clear(text);
		assert_int_equal(mpijob_node_describe(mpijob_doc_root(doc), mpijob_text_write,
				     text),
		    0);
		assert_string_equal(mpijob_text_data(text), cases[i].description);
		mpijob_doc_free(doc);
	}
	mpijob_text_clear(text);
	assert_int_equal(mpijob_node_describe(NULL, mpijob_text_write, text), 0);
	assert_string_equal(mpijob_text_data(text), "null");
	assert_int_equal(mpijob_node_describe(NULL, NULL, NULL), MPIJOB_ERR_USAGE);
	mpijob_text_free(text);
}

static void makes_paths(void **state)
{
	mpijob_doc *doc = parse("spec:\n  list: [{}]\n  other: ~\n  empty: ~\n");
	mpijob_node *node;

	(void)state;
	node = mpijob_doc_make(doc, "metadata.labels");
	mpijob_node_put_string(doc, node, "a.b/c", "1");
	mpijob_node_put_int(doc, mpijob_doc_make(doc, "spec.list[0].deep.er"), "x", 1);
	mpijob_node_put_int(doc, mpijob_doc_make(doc, "spec.empty"), "y", 2);
	assert_ptr_equal(mpijob_doc_make(doc, "metadata.labels"), node);
	assert_int_equal(mpijob_doc_error(doc), 0);
	assert_string_equal(mpijob_node_string(mpijob_doc_edit(doc, "metadata.labels[a.b/c]")),
	    "1");
	assert_null(mpijob_doc_edit(doc, "no.such"));
	assert_int_equal(mpijob_doc_error(doc), 0);
	assert_null(mpijob_doc_make(doc, "spec.list[1].x"));
	assert_int_equal(mpijob_doc_error(doc), MPIJOB_ERR_USAGE);
	assert_null(mpijob_doc_make(doc, "spec.list"));
	mpijob_doc_free(doc);
}

static void big_map(mpijob_doc *doc, mpijob_node *map, int count)
{
	char key[32];

	for (int i = 0; i < count; i++) {
		(void)snprintf(key, sizeof(key), "key-%d", (i * 7919) % count);
		assert_non_null(mpijob_node_put_int(doc, map, key, i));
	}
}

/* Against a plain model: which keys are left, in which order. */
static void removes(void **state)
{
	enum { COUNT = 300 };
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, "");
	char order[COUNT][16];
	size_t left = COUNT;
	unsigned int seed = 1;

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		(void)snprintf(order[i], sizeof(order[i]), "k%zu", i * i % 997);
		assert_non_null(mpijob_node_put_string(doc, root, order[i], order[i]));
	}
	assert_int_equal(mpijob_node_remove(root, "absent"), 0);
	for (int round = 0; left; round++) {
		size_t gone = (seed = seed * 1103515245u + 12345u) / 65536u % left;

		assert_int_equal(round % 2 ? mpijob_node_remove(root, order[gone])
					   : mpijob_node_remove_at(root, gone),
		    1);
		memmove(order[gone], order[gone + 1], (left - gone - 1) * sizeof(order[0]));
		left--;
		assert_int_equal(mpijob_node_count(root), left);
		for (size_t i = 0; i < left; i++) {
			assert_string_equal(mpijob_node_key(root, i), order[i]);
			assert_string_equal(mpijob_node_string(mpijob_node_get(root, order[i])),
			    order[i]);
		}
		if (round % 5 == 4 && left < COUNT) {
			(void)snprintf(order[left], sizeof(order[left]), "new%d", round);
			assert_non_null(
			    mpijob_node_put_string(doc, root, order[left], order[left]));
			left += round < 400;
			if (round >= 400)
				assert_int_equal(mpijob_node_remove(root, order[left]), 1);
		}
	}
	assert_int_equal(mpijob_node_remove_at(root, 0), 0);
	assert_int_equal(mpijob_node_remove(NULL, "x"), 0);
	mpijob_doc_free(doc);
}

static void finds_in_big_maps(void **state)
{
	enum { COUNT = 50000 };
	mpijob_doc *doc = mpijob_doc_new();
	char key[32];
	int64_t value;

	(void)state;
	big_map(doc, mpijob_doc_edit(doc, ""), COUNT);
	assert_int_equal(mpijob_node_count(mpijob_doc_root(doc)), COUNT);
	for (int i = 0; i < COUNT; i += 37) {
		(void)snprintf(key, sizeof(key), "key-%d", i);
		assert_int_equal(mpijob_node_int(mpijob_node_get(mpijob_doc_root(doc), key),
				     &value),
		    1);
		assert_int_equal(value * 7919 % COUNT, i);
		(void)snprintf(key, sizeof(key), "key-%d-", i);
		assert_null(mpijob_node_get(mpijob_doc_root(doc), key));
		key[3] = 0;
		assert_null(mpijob_node_get(mpijob_doc_root(doc), key));
	}
	mpijob_doc_free(doc);
}

static void list_removal(void **state)
{
	mpijob_doc *doc = parse("[1, 2, 3, 4]");

	(void)state;
	assert_int_equal(mpijob_node_remove_at(mpijob_doc_edit(doc, ""), 1), 1);
	assert_int_equal(mpijob_node_remove_at(mpijob_doc_edit(doc, ""), 3), 0);
	assert_int_equal(mpijob_node_remove_at(mpijob_doc_edit(doc, ""), 2), 1);
	expect_json(mpijob_doc_root(doc), "[1,3]");
	mpijob_doc_free(doc);
}

static void expect_equal(const char *a, const char *b, int expected)
{
	mpijob_doc *one = parse(a), *other = parse(b);

	assert_int_equal(mpijob_node_equal(mpijob_doc_root(one), mpijob_doc_root(other)), expected);
	assert_int_equal(mpijob_node_equal(mpijob_doc_root(other), mpijob_doc_root(one)), expected);
	mpijob_doc_free(one);
	mpijob_doc_free(other);
}

static void equality(void **state)
{
	(void)state;
	assert_int_equal(mpijob_node_equal(NULL, NULL), 1);
	expect_equal("{\"a\":1,\"b\":[true,null,\"x\"]}", "{\"b\":[true,null,\"x\"],\"a\":1.0}", 1);
	expect_equal("{\"a\":1}", "{\"a\":1,\"b\":2}", 0);
	expect_equal("{\"a\":1}", "{\"b\":1}", 0);
	expect_equal("[1,2]", "[2,1]", 0);
	expect_equal("[1]", "[\"1\"]", 0);
	expect_equal("[null]", "[false]", 0);
	expect_equal("[{}]", "[[]]", 0);
	expect_equal("[1e3]", "[1000]", 1);
	expect_equal("[1.50]", "[1.5]", 1);
	expect_equal("[-0]", "[0]", 1);
	expect_equal("[18446744073709551615]", "[18446744073709551614]", 0);
	expect_equal("[1.5]", "[1.25]", 0);
	expect_equal("[\"a\\u0000b\"]", "[\"a\\u0000c\"]", 0);
}

static void expect_merge(const char *target, const char *patch, const char *result)
{
	mpijob_doc *doc = parse(target), *from = parse(patch);

	assert_int_equal(mpijob_doc_merge(doc, mpijob_doc_root(from)), 0);
	expect_json(mpijob_doc_root(doc), result);
	mpijob_doc_free(from);
	expect_json(mpijob_doc_root(doc), result);
	mpijob_doc_free(doc);
}

/* The examples of RFC 7396, appendix A, and a few more. */
static void merges(void **state)
{
	(void)state;
	expect_merge("{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}");
	expect_merge("{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}");
	expect_merge("{\"a\":\"b\"}", "{\"a\":null}", "{}");
	expect_merge("{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}");
	expect_merge("{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}");
	expect_merge("{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}");
	expect_merge("{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}",
	    "{\"a\":{\"b\":\"d\"}}");
	expect_merge("{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}");
	expect_merge("[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]");
	expect_merge("{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]");
	expect_merge("{\"a\":\"foo\"}", "null", "null");
	expect_merge("{\"a\":\"foo\"}", "\"bar\"", "\"bar\"");
	expect_merge("{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}");
	expect_merge("[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}");
	expect_merge("{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}");
	expect_merge("{\"x\":[null]}", "{\"y\":[null,{\"z\":null}]}",
	    "{\"x\":[null],\"y\":[null,{\"z\":null}]}");
}

static void merge_keeps_identity(void **state)
{
	mpijob_doc *doc = parse("{\"spec\":{\"a\":1}}");
	mpijob_doc *patch = parse("{\"spec\":{\"b\":2}}");
	mpijob_node *spec = mpijob_doc_edit(doc, "spec");

	(void)state;
	assert_int_equal(mpijob_doc_merge(doc, mpijob_doc_root(patch)), 0);
	assert_ptr_equal(mpijob_doc_edit(doc, "spec"), spec);
	mpijob_node_put_int(doc, spec, "c", 3);
	expect_json(mpijob_doc_root(doc), "{\"spec\":{\"a\":1,\"b\":2,\"c\":3}}");
	/* A part of the document itself as the patch. */
	assert_int_equal(mpijob_doc_merge(doc, mpijob_doc_root(doc)), 0);
	expect_json(mpijob_doc_root(doc), "{\"spec\":{\"a\":1,\"b\":2,\"c\":3}}");
	assert_int_equal(mpijob_doc_merge(doc, spec), 0);
	expect_json(mpijob_doc_root(doc),
	    "{\"spec\":{\"a\":1,\"b\":2,\"c\":3},\"a\":1,\"b\":2,\"c\":3}");
	mpijob_doc_free(patch);
	mpijob_doc_free(doc);
}

/* A patch that removes every second key of a big map, in time that is not its square. */
static void merge_is_linear(void **state)
{
	enum { COUNT = 60000 };
	mpijob_doc *doc = mpijob_doc_new(), *patch = mpijob_doc_new();
	clock_t begin;
	char key[32];

	(void)state;
	big_map(doc, mpijob_doc_edit(doc, ""), COUNT);
	for (int i = 0; i < COUNT; i += 2) {
		(void)snprintf(key, sizeof(key), "key-%d", i);
		mpijob_node_put(patch, mpijob_doc_edit(patch, ""), key,
		    mpijob_node_new(patch, MPIJOB_NODE_NULL));
	}
	begin = clock();
	assert_int_equal(mpijob_doc_merge(doc, mpijob_doc_root(patch)), 0);
	assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 1.0);
	assert_int_equal(mpijob_node_count(mpijob_doc_root(doc)), COUNT / 2);
	assert_null(mpijob_node_get(mpijob_doc_root(doc), "key-4"));
	assert_non_null(mpijob_node_get(mpijob_doc_root(doc), "key-5"));
	mpijob_doc_free(doc);
	mpijob_doc_free(patch);
}

static int count_bytes(void *user, const char *data, size_t len)
{
	(void)data;
	*(size_t *)user += len;
	return 0;
}

/* Deeper than any C stack that recursion would need. */
static void deep(void **state)
{
	enum { DEPTH = 300000 };
	mpijob_doc *doc = mpijob_doc_new(), *clone, *patch;
	mpijob_node *node = mpijob_doc_edit(doc, "");
	size_t bytes = 0;

	(void)state;
	for (int i = 0; i < DEPTH; i++)
		node = i % 3 == 2
			   ? mpijob_node_append_map(doc, mpijob_node_put_list(doc, node, "l"))
			   : mpijob_node_put_map(doc, node, "m");
	mpijob_node_put_int(doc, node, "end", 1);
	assert_int_equal(mpijob_doc_error(doc), 0);
	clone = mpijob_doc_from_node(mpijob_doc_root(doc), NULL);
	assert_int_equal(mpijob_node_equal(mpijob_doc_root(doc), mpijob_doc_root(clone)), 1);
	mpijob_node_put_int(doc, node, "end", 2);
	assert_int_equal(mpijob_node_equal(mpijob_doc_root(doc), mpijob_doc_root(clone)), 0);
	patch = mpijob_doc_new();
	mpijob_node_put_copy(patch, mpijob_doc_edit(patch, ""), "m",
	    mpijob_node_get(mpijob_doc_root(doc), "m"));
	assert_int_equal(mpijob_doc_merge(clone, mpijob_doc_root(patch)), 0);
	assert_int_equal(mpijob_node_equal(mpijob_doc_root(doc), mpijob_doc_root(clone)), 1);
	assert_int_equal(mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT,
			     count_bytes, &bytes),
	    0);
	assert_true(bytes > 6 * DEPTH);
	bytes = 0;
	assert_int_equal(mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_YAML, count_bytes,
			     &bytes),
	    0);
	assert_true(bytes < 20 * DEPTH);
	mpijob_doc_free(patch);
	mpijob_doc_free(clone);
	mpijob_doc_free(doc);
}

static void copies_stand_alone(void **state)
{
	mpijob_doc *doc = parse("# c\na:\n  b: [1, x]\n");
	mpijob_doc *copy = mpijob_doc_from_node(mpijob_doc_edit(doc, "a.b"), "a.yaml");
	mpijob_doc *other = mpijob_doc_new();
	int32_t line, column;

	(void)state;
	mpijob_node_put_copy(other, mpijob_doc_edit(other, ""), "k", mpijob_doc_root(doc));
	mpijob_doc_free(doc);
	assert_string_equal(mpijob_doc_source(copy), "a.yaml");
	assert_null(mpijob_doc_source(other));
	expect_json(mpijob_doc_root(copy), "[1,\"x\"]");
	expect_json(mpijob_doc_root(other), "{\"k\":{\"a\":{\"b\":[1,\"x\"]}}}");
	mpijob_node_place(mpijob_node_at(mpijob_doc_root(copy), 1), &line, &column);
	assert_true(line == 3 && column == 10);
	assert_int_equal(mpijob_doc_merge(copy, mpijob_node_new_bool(copy, 0)), 0);
	expect_json(mpijob_doc_root(copy), "false");
	mpijob_doc_free(copy);
	mpijob_doc_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(builds),
		cmocka_unit_test(chains_survive_null),
		cmocka_unit_test(usage),
		cmocka_unit_test(one_place_each),
		cmocka_unit_test(no_way_around),
		cmocka_unit_test(only_utf8),
		cmocka_unit_test(looks),
		cmocka_unit_test(describes),
		cmocka_unit_test(makes_paths),
		cmocka_unit_test(removes),
		cmocka_unit_test(finds_in_big_maps),
		cmocka_unit_test(list_removal),
		cmocka_unit_test(equality),
		cmocka_unit_test(merges),
		cmocka_unit_test(merge_keeps_identity),
		cmocka_unit_test(merge_is_linear),
		cmocka_unit_test(deep),
		cmocka_unit_test(copies_stand_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
