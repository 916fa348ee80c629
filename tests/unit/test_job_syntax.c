/* SPDX-License-Identifier: Apache-2.0 */
/* The forms of names: what each one takes, and what it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job/syntax.h"
#include "job/template_walk.h"

struct form {
	mpijob__job_syntax *check;
	const char *good[8];
	const char *bad[10];
};

static const struct form forms[] = {
	{ mpijob__job_syntax_label, { "a", "a-b", "0" }, { "", "A", "-a", "a-", "a.b", "a_b" } },
	{ mpijob__job_syntax_subdomain, { "a", "a.b", "0.1" },
	    { "", "a..b", ".a", "a.", "A", "a.-b" } },
	{ mpijob__job_syntax_prefix, { "a", "a-", "a.b-", "a--", "a.-" },
	    { "", "-", "Ab-", "a..b-", "A" } },
	{ mpijob__job_syntax_driver, { "a", "CSI.example.com" }, { "", "a_b", "a." } },
	{ mpijob__job_syntax_host, { "a", "a.b" }, { "", "a_b" } },
	{ mpijob__job_syntax_search, { ".", "a", "a.", "_a.b", "a_b.c" },
	    { "", "..", "A", "a b", "__", "a..b", "-a" } },
	{ mpijob__job_syntax_key, { "a", "A_b.c", "x.y/z" },
	    { "", "/a", "a/", "a/b/c", "X/a", "-a", "a b" } },
	{ mpijob__job_syntax_annotation, { "a", "X.Y/z" }, { "", "/a", "a/b/c", "a b" } },
	{ mpijob__job_syntax_value, { "", "a", "A_b.c" }, { "-a", "a b", "a/b", "a-" } },
	{ mpijob__job_syntax_variable, { "A", "a b", "0" }, { "", "A=B", "\xc3\xa9", "a\n" } },
	{ mpijob__job_syntax_port, { "a", "http-1", "1a" },
	    { "", "1", "a--b", "-a", "A", "a_b", "aaaaaaaaaaaaaaaa" } },
	{ mpijob__job_syntax_file, { "a", "A_b.c-d", ".a" }, { "", ".", "..", "..a", "a/b" } },
	{ mpijob__job_syntax_header, { "X-A", "a" }, { "", "a b", "a_b" } },
	{ mpijob__job_syntax_sysctl, { "a", "net.core.x", "net/ipv4/a_b" },
	    { "", "A", "a..b", "a.", "a b" } },
	{ mpijob__job_syntax_address,
	    { "1.2.3.4", "0.0.0.0", "::", "::1", "1:2:3:4:5:6:7:8", "fe80::1", "1::1.2.3.4",
		"64:ff9b::1.2.3.4" },
	    { "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", ":::", "1::2::3", "1:2:3:4:5:6:7",
		"::ffff:1.2.3.4", "::g" } },
	{ mpijob__job_syntax_image, { "", "a", "a b" }, { " a", "a ", "\ta", "a\xe3\x80\x80" } },
	{ mpijob__job_syntax_no_dotdot, { "", "a", "/a/b", "..a", "a..", "..." },
	    { "..", "a/..", "../a", "a/../b" } },
	{ mpijob__job_syntax_absolute, { "/", "/a" }, { "", "a" } },
	{ mpijob__job_syntax_relative, { "", "a/b", "..a" }, { "/a", "a/..", ".." } },
	{ mpijob__job_syntax_projected, { "a", "a/..b" }, { "..a", "../a", "/a" } },
	{ mpijob__job_syntax_iscsi,
	    { "iqn.2001-04.com.example:a", "eui.0123456789abcdef",
		"naa.0123456789abcdef0123456789abcdef" },
	    { "", "a", "iqn.2001-04.com.example", "iqn.201-04.a:b", "eui.1", "naa.1",
		"iqn.2001-04.a:b c" } },
	{ mpijob__job_syntax_windows_user,
	    { "a", "DOMAIN\\a", "NT AUTHORITY\\SYSTEM", "a.example.com\\b" },
	    { "", "a\\", "\\a", "a\\b\\c", "a:b", "...", "a\nb", "a*\\b" } },
	{ mpijob__job_syntax_credential, { "a" }, { "" } },
	{ mpijob__job_syntax_no_slash, { "", "a" }, { "a/b" } },
	{ mpijob__job_syntax_registry, { "a:1", "a:1,b:2", "[::1]:5" },
	    { "", "a", "a:1,b", "::1:5", "[a]b:1" } },
	{ mpijob__job_syntax_tenant, { "", "a" }, { NULL } },
};

static void each_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		for (size_t k = 0; k < 8 && forms[i].good[k]; k++) {
			if (forms[i].check(forms[i].good[k]))
				fail_msg("form %zu refuses '%s'", i, forms[i].good[k]);
		}
		for (size_t k = 0; k < 10 && forms[i].bad[k]; k++) {
			if (!forms[i].check(forms[i].bad[k]))
				fail_msg("form %zu takes '%s'", i, forms[i].bad[k]);
		}
	}
}

/* The longest that is taken, with letters only, or with dots that keep labels short. */
static void lengths(void **state)
{
	static const struct {
		mpijob__job_syntax *check;
		size_t most;
	} limits[] = { { mpijob__job_syntax_label, 63 }, { mpijob__job_syntax_subdomain, 253 },
		{ mpijob__job_syntax_driver, 63 }, { mpijob__job_syntax_host, 64 },
		{ mpijob__job_syntax_search, 253 }, { mpijob__job_syntax_key, 63 },
		{ mpijob__job_syntax_value, 63 }, { mpijob__job_syntax_port, 15 },
		{ mpijob__job_syntax_file, 253 }, { mpijob__job_syntax_sysctl, 253 },
		{ mpijob__job_syntax_tenant, 64 }, { mpijob__job_syntax_credential, 65536 },
		{ mpijob__job_syntax_annotation, 63 }, { mpijob__job_syntax_windows_user, 104 } };
	char *text = malloc(70000);

	(void)state;
	assert_non_null(text);
	memset(text, 'a', 70000);
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		text[limits[i].most] = '\0';
		assert_null(limits[i].check(text));
		text[limits[i].most] = 'a';
		text[limits[i].most + 1] = '\0';
		assert_non_null(limits[i].check(text));
		text[limits[i].most + 1] = 'a';
	}
	free(text);
}

/* Rows name fields of their type, and rows of a type stand together. */
static void rows_fit_the_schema(void **state)
{
	(void)state;
	for (int type = 0; type < SCHEMA_NONE; type++) {
		size_t count;
		const struct mpijob__job_template_row *rows =
		    mpijob__job_template_rows(type, &count);

		for (size_t i = 0; i < count; i++) {
			char names[600] = "";

			if (!rows[i].key) {
				assert_non_null(rows[i].rule);
				continue;
			}
			strncat(names, rows[i].key, sizeof(names) - 1);
			for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
				if (!mpijob__schema_find(type, name))
					fail_msg("%s has no %s", mpijob__schema_type_name(type),
					    name);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_form), cmocka_unit_test(lengths),
		cmocka_unit_test(rows_fit_the_schema) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
