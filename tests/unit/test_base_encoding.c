/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 in both directions, hexadecimal digits, decimal numbers, new strings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"
#include "base/hex.h"
#include "base/number.h"
#include "base/text.h"

#include <mpijob/base.h>

/* The test vectors of RFC 4648, section 10, and every byte. */
static void base64_round_trip(void **state)
{
	static const char *const pairs[][2] = { { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" },
		{ "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" } };
	unsigned char all[256];
	char *text, *back;
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		text = mpijob__base_base64_encode_new(pairs[i][0], strlen(pairs[i][0]));
		assert_string_equal(text, pairs[i][1]);
		assert_int_equal(mpijob__base_base64_decode_new(text, strlen(text), &back, &len),
		    0);
		assert_string_equal(back, pairs[i][0]);
		assert_int_equal(len, strlen(back));
		free(text);
		free(back);
	}
	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (unsigned char)(i * 7);
	text = mpijob__base_base64_encode_new(all, sizeof(all));
	assert_int_equal(strlen(text), MPIJOB__BASE_BASE64_LEN(sizeof(all)));
	assert_int_equal(mpijob__base_base64_decode_new(text, strlen(text), &back, &len), 0);
	assert_int_equal(len, sizeof(all));
	assert_memory_equal(back, all, sizeof(all));
	free(text);
	free(back);
	assert_null(mpijob__base_base64_encode_new(all, SIZE_MAX - 1));
}

static void base64_decodes_as_go(void **state)
{
	static const struct {
		const char *text;
		size_t len; /* SIZE_MAX: not base64 */
	} cases[] = { { "Zm9v\r\nYm\nFy\n", 6 }, { "Zh==", 1 }, { "Zm9=", 2 }, { "Z\ng=\n=", 1 },
		{ "\n", 0 }, { "Zg=", SIZE_MAX }, { "Zg", SIZE_MAX }, { "Z===", SIZE_MAX },
		{ "=", SIZE_MAX }, { "====", SIZE_MAX }, { "Zg==Zg==", SIZE_MAX },
		{ "Zm 9v", SIZE_MAX }, { "Zm9v Zm9v", SIZE_MAX }, { "Zm-_", SIZE_MAX },
		{ "Zm9vZ", SIZE_MAX }, { "Zm9vZg====", SIZE_MAX } };
	char out[16], *data = out;
	size_t len = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *text = cases[i].text;

		assert_int_equal(mpijob__base_base64_decode(text, strlen(text), NULL),
		    cases[i].len);
		assert_int_equal(mpijob__base_base64_decode(text, strlen(text), out), cases[i].len);
	}
	assert_int_equal(mpijob__base_base64_decode("Zm9\0", 4, out), SIZE_MAX);
	assert_int_equal(mpijob__base_base64_decode_new("Zg", 2, &data, &len), MPIJOB_ERR_SYNTAX);
	assert_ptr_equal(data, out);
	assert_int_equal(len, 7);
}

static void hex_digits(void **state)
{
	static const char digits[] = "0123456789abcdef";
	char out[17] = "";

	(void)state;
	for (int c = 0; c < 256; c++) {
		const char *found =
		    c ? strchr(digits, c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) : NULL;

		assert_int_equal(mpijob__base_hex_value((char)c), found ? found - digits : -1);
	}
	mpijob__base_hex_write(UINT64_C(0x0123456789abcdef), 16, out);
	assert_string_equal(out, "0123456789abcdef");
	memset(out, '-', 5);
	mpijob__base_hex_write(0x1a2, 2, out + 1);
	assert_memory_equal(out, "-a2--", 5);
}

static void numbers(void **state)
{
	static const char *const bad[] = { "", "-1", "+1", " 1", "1 ", "0x1", "1.0",
		"18446744073709551616", "99999999999999999999" };
	uint64_t number = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(mpijob__base_number_parse(bad[i], &number), 0);
	assert_int_equal(number, 7);
	assert_int_equal(mpijob__base_number_parse("18446744073709551615", &number), 1);
	assert_true(number == UINT64_MAX);
	assert_int_equal(mpijob__base_number_parse("0012", &number), 1);
	assert_int_equal(number, 12);
}

static void new_strings(void **state)
{
	char *text = mpijob__base_text_format("%s-%d", "worker", 12), *longer;

	(void)state;
	assert_string_equal(text, "worker-12");
	longer = mpijob__base_text_format("%*s|%s", 5000, "", text);
	assert_int_equal(strlen(longer), 5010);
	assert_string_equal(longer + 5000, "|worker-12");
	free(text);
	free(longer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_round_trip),
		cmocka_unit_test(base64_decodes_as_go),
		cmocka_unit_test(hex_digits),
		cmocka_unit_test(numbers),
		cmocka_unit_test(new_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
