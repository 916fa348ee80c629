/* SPDX-License-Identifier: Apache-2.0 */
/* Result codes, texts, arenas, incoming structs, near words, UTF-8 and digests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/near.h"
#include "base/struct.h"
#include "base/text.h"
#include "base/utf8.h"

static void codes(void **state)
{
	(void)state;
	assert_string_equal(mpijob_version(), "0.1.0");
	assert_int_equal(mpijob_version_number(), 1000);
	assert_int_equal(MPIJOB_VERSION_NUMBER, 1000);
	for (int code = 0; code >= -14; code--) {
		assert_memory_equal(mpijob_error_name(code), "MPIJOB_", 7);
		assert_string_not_equal(mpijob_error_text(code), mpijob_error_text(1));
		for (int other = code + 1; other <= 0; other++)
			assert_string_not_equal(mpijob_error_text(code), mpijob_error_text(other));
	}
	assert_string_equal(mpijob_error_name(-15), "unknown");
	assert_string_equal(mpijob_error_name(1), "unknown");
	assert_string_equal(mpijob_error_name(MPIJOB_ERR_SYNTAX), "MPIJOB_ERR_SYNTAX");
}

static void text_grows(void **state)
{
	mpijob_text *text = mpijob_text_new();

	(void)state;
	assert_string_equal(mpijob_text_data(text), "");
	assert_int_equal(mpijob_text_write(text, NULL, 0), 0);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(mpijob__base_text_printf(text, "%d,", i), 0);
	assert_int_equal(mpijob_text_len(text), strlen(mpijob_text_data(text)));
	assert_memory_equal(mpijob_text_data(text), "0,1,2,3,", 8);
	assert_string_equal(mpijob_text_data(text) + mpijob_text_len(text) - 5, "9999,");
	mpijob_text_clear(text);
	assert_int_equal(mpijob_text_len(text), 0);
	assert_string_equal(mpijob_text_data(text), "");
	assert_int_equal(mpijob_text_write(text, "a\0b", 3), 0);
	assert_int_equal(mpijob_text_len(text), 3);
	assert_memory_equal(mpijob_text_data(text), "a\0b", 4);
	assert_int_equal(mpijob__base_text_reserve(text, SIZE_MAX / 2), MPIJOB_ERR_NOMEM);
	mpijob_text_free(text);
	mpijob_text_free(NULL);
}

static void text_clear_wipes(void **state)
{
	mpijob_text *text = mpijob_text_new();
	const char *data;

	(void)state;
	assert_int_equal(mpijob_text_write(text, "secret", 6), 0);
	data = mpijob_text_data(text);
	mpijob_text_clear(text);
	assert_memory_equal(data, "\0\0\0\0\0\0", 6);
	mpijob_text_free(text);
}

static void arenas(void **state)
{
	struct mpijob__base_arena arena = { 0 };
	char *grown = NULL;
	size_t size = 0;

	(void)state;
	for (size_t want = 1; want < 300000; want = want * 3 / 2 + 1) {
		char *piece = mpijob__base_arena_alloc(&arena, want);

		assert_non_null(piece);
		assert_int_equal((uintptr_t)piece % sizeof(void *), 0);
		memset(piece, 0xaa, want);
		grown = mpijob__base_arena_grow(&arena, grown, size, want);
		assert_non_null(grown);
		for (; size < want; size++)
			grown[size] = (char)size;
		for (size_t i = 0; i < size; i++)
			assert_int_equal(grown[i], (char)i);
	}
	assert_string_equal(mpijob__base_arena_copy(&arena, "abcdef", 3), "abc");
	assert_null(mpijob__base_arena_array(&arena, SIZE_MAX / 2, 16));
	assert_null(mpijob__base_arena_alloc(&arena, SIZE_MAX - 4));
	mpijob__base_arena_free(&arena);
	mpijob__base_arena_free(&arena);
}

struct known {
	size_t size;
	int32_t a;
	int32_t b;
	const char *c;
};

static void structs(void **state)
{
	struct {
		struct known known;
		int64_t later;
	} newer = { { sizeof(newer), 1, 2, "c" }, 0 };
	struct known local;
	/* Exactly as long as an older version, in memory of its own, so that reading past it is
	 * found. */
	char *older = malloc(offsetof(struct known, b));
	size_t *bare = malloc(sizeof(*bare));
	char *partly = malloc(offsetof(struct known, b) + 2);

	(void)state;
	assert_int_equal(mpijob__base_struct_check(&local, sizeof(local), NULL), 0);
	assert_int_equal(local.size, sizeof(local));
	memcpy(older, &(size_t){ offsetof(struct known, b) }, sizeof(size_t));
	memcpy(older + offsetof(struct known, a), &(int32_t){ 7 }, sizeof(int32_t));
	assert_int_equal(mpijob__base_struct_check(&local, sizeof(local), older), 0);
	assert_int_equal(local.size, sizeof(local));
	assert_int_equal(local.a, 7);
	assert_int_equal(local.b, 0);
	assert_null(local.c);
	assert_int_equal(mpijob__base_struct_check(&local, sizeof(local), &newer), 0);
	assert_string_equal(local.c, "c");
	newer.later = 1;
	assert_int_equal(mpijob__base_struct_check(&local, sizeof(local), &newer),
	    MPIJOB_ERR_UNSUPPORTED);
	*bare = sizeof(*bare);
	assert_int_equal(mpijob__base_struct_check(&local, sizeof(local), bare), 0);
	*bare = sizeof(*bare) - 1;
	assert_int_equal(mpijob__base_struct_check(&local, sizeof(local), bare), MPIJOB_ERR_USAGE);
	*bare = 0;
	assert_int_equal(mpijob__base_struct_check(&local, sizeof(local), bare), MPIJOB_ERR_USAGE);
	memset(partly, 1, offsetof(struct known, b) + 2);
	memcpy(partly, &(size_t){ offsetof(struct known, b) + 2 }, sizeof(size_t));
	assert_int_equal(mpijob__base_struct_check(&local, sizeof(local), partly), 0);
	free(older);
	free(bare);
	free(partly);
}

static void near_words(void **state)
{
	static const char *const words[] = { "replicas", "template", "restartPolicy", NULL,
		"cleanPodPolicy" };
	char longer[200];

	(void)state;
	assert_int_equal(mpijob__base_near_distance("replicas", "replicas", 9), 0);
	assert_int_equal(mpijob__base_near_distance("replica", "replicas", 9), 1);
	assert_int_equal(mpijob__base_near_distance("repilcas", "replicas", 9), 1);
	assert_int_equal(mpijob__base_near_distance("kitten", "sitting", 9), 3);
	assert_int_equal(mpijob__base_near_distance("abc", "xyz", 1), 2);
	assert_int_equal(mpijob__base_near_distance("REPLICAS", "replicas", 9), 0);
	assert_int_equal(mpijob__base_near_distance("", "abc", 9), 3);
	assert_string_equal(mpijob__base_near_word("repicas", words, 5), "replicas");
	assert_string_equal(mpijob__base_near_word("cleanpodpolicy", words, 5), "cleanPodPolicy");
	assert_null(mpijob__base_near_word("volumes", words, 5));
	assert_null(mpijob__base_near_word("", words, 5));
	memset(longer, 'a', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	assert_null(mpijob__base_near_word(longer, words, 5));
	assert_null(mpijob__base_near_word("ab", (const char *const[]){ "abc", "abd" }, 2));
	assert_ptr_equal(mpijob__base_near_word("tempalte", words, 5), words[1]);
	assert_null(mpijob__base_near_word("template", words, 5));
	assert_null(mpijob__base_near_word("template", NULL, 0));
}

static void utf8(void **state)
{
	static const char *const bad[] = { "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80",
		"\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80", "\xff", "\xe2\x82", "\xc3(", "\xe2(\xa1" };
	static const uint32_t codes_[] = { 0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff,
		0x10000, 0x10ffff };
	uint32_t code = 0;
	size_t where = 99;
	char room[4];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(mpijob__base_utf8_valid(bad[i], strlen(bad[i]), NULL), 0);
	for (size_t i = 0; i < sizeof(codes_) / sizeof(codes_[0]); i++) {
		size_t len = mpijob__base_utf8_write(room, codes_[i]);

		assert_int_equal(mpijob__base_utf8_read(room, room + len, &code), len);
		assert_int_equal(code, codes_[i]);
		assert_int_equal(mpijob__base_utf8_read(room, room + len - 1, &code), 0);
	}
	assert_int_equal(mpijob__base_utf8_valid("ab\xff", 3, &where), 0);
	assert_int_equal(where, 2);
	assert_int_equal(mpijob__base_utf8_valid("", 0, NULL), 1);
}

/* What a terminal acts on, or what reorders a line, is escaped; all else stays. */
static void escaped(void **state)
{
	static const struct {
		const char *text, *wanted;
	} rows[] = {
		{ "", "" },
		{ "a \\ b", "a \\ b" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "a\n\t\r\x1b\x7f.", "a\\x0a\\x09\\x0d\\x1b\\x7f." },
		{ "\xc2\x80\xc2\x9f\xc2\xa0", "\\u0080\\u009f\xc2\xa0" },
		{ "\x9b\xff"
		  "a\xc3",
		    "\\x9b\\xff"
		    "a\\xc3" },
		{ "\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90",
		    "\\u061c\\u200e\\u200f\xe2\x80\x90" },
		{ "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xae\xe2\x80\xaf",
		    "\xe2\x80\xa7\\u2028\\u2029\\u202a\\u202e\xe2\x80\xaf" },
		{ "\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa",
		    "\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa" },
	};
	mpijob_text *text = mpijob_text_new();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mpijob_text_clear(text);
		assert_int_equal(mpijob_escaped_write(rows[i].text, strlen(rows[i].text),
				     mpijob_text_write, text),
		    0);
		assert_string_equal(mpijob_text_data(text), rows[i].wanted);
	}
	mpijob_text_clear(text);
	assert_int_equal(mpijob_escaped_write("a\0b", 3, mpijob_text_write, text), 0);
	assert_string_equal(mpijob_text_data(text), "a\\x00b");
	assert_int_equal(mpijob_escaped_write(NULL, 0, mpijob_text_write, text), 0);
	assert_int_equal(mpijob_escaped_write(NULL, 1, mpijob_text_write, text), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_escaped_write("a", 1, NULL, text), MPIJOB_ERR_USAGE);
	mpijob_text_free(text);
}

static void digests(void **state)
{
	uint64_t whole = mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START, "foobar", 6);
	uint64_t halves =
	    mpijob__base_digest_add(mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START, "foo", 3),
		"bar", 3);

	(void)state;
	/* the published value of FNV-1a for this text */
	assert_true(whole == UINT64_C(0x85944171f73967e8));
	assert_true(whole == halves);
}

static void comparisons(void **state)
{
	static const char *const words[] = { "sh", "bash", NULL };
	struct mpijob__base_arena arena = { 0 };
	const char *copy = "x", *text = "pi";

	(void)state;
	assert_true(mpijob__base_text_same(NULL, NULL));
	assert_true(mpijob__base_text_same("a", "a"));
	assert_false(mpijob__base_text_same("", NULL));
	assert_false(mpijob__base_text_same(NULL, ""));
	assert_true(mpijob__base_text_begins("abc", "ab"));
	assert_false(mpijob__base_text_begins("a", "ab"));
	assert_false(mpijob__base_text_begins(NULL, ""));
	assert_true(mpijob__base_text_ends("a.yaml", ".yaml"));
	assert_false(mpijob__base_text_ends(".yaml", ".yaml"));
	assert_string_equal(mpijob__base_text_file_name("/bin/sh"), "sh");
	assert_string_equal(mpijob__base_text_file_name("sh"), "sh");
	assert_null(mpijob__base_text_file_name(NULL));
	assert_true(mpijob__base_text_is_one_of("bash", words));
	assert_false(mpijob__base_text_is_one_of("ba", words));
	assert_false(mpijob__base_text_is_one_of(NULL, words));
	assert_int_equal(mpijob__base_text_copy(NULL, &copy), 0);
	assert_null(copy);
	assert_int_equal(mpijob__base_arena_own(&arena, &copy), 0);
	assert_null(copy);
	assert_int_equal(mpijob__base_arena_own(&arena, &text), 0);
	assert_string_equal(text, "pi");
	mpijob__base_arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes),
		cmocka_unit_test(text_grows),
		cmocka_unit_test(text_clear_wipes),
		cmocka_unit_test(arenas),
		cmocka_unit_test(comparisons),
		cmocka_unit_test(structs),
		cmocka_unit_test(near_words),
		cmocka_unit_test(utf8),
		cmocka_unit_test(escaped),
		cmocka_unit_test(digests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
