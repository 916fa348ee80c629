/* SPDX-License-Identifier: Apache-2.0 */
/* The table of features: reading values, bounds, and docs/options.md, which it prints
 * (UPDATE_CASES=1 writes it). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/features.h>
#include <mpijob/render.h>

#include "../support/printed_page.h"
#include "base/text.h"
#include "render/features.h"

static const char head[] =
    "# Options beyond mpi-operator v0.8.2\n"
    "\n"
    "These options change what existing jobs could notice. All of them are off by default. The "
    "operator's\n"
    "flag or its configuration file enables an option for all jobs. An annotation enables it for "
    "one job,\n"
    "if the configuration allows it in the job's namespace. `mpijob render`, `plan`, `diff` and "
    "`run` have\n"
    "flags of the same names. With `--reference` all options are off. This page is printed from\n"
    "`lib/render/features.inc`, the table that the code reads: change it there. `differences.md` "
    "lists what\n"
    "is on by default.\n";

#define ROW(member, name, kind, minimum, maximum, defect, summary, detail, notice) \
	{                                                                          \
		detail, notice                                                     \
	}

/* What only the page says, in the order of the features. */
static const struct {
	const char *detail; /* and what the feature does not change */
	const char *notice; /* how an existing job could be affected */
} texts[] = {
#include "render/features.inc"
};

static void print_bounds(struct mpijob_text *out, const struct mpijob_feature *row)
{
	static const char *const kinds[] = { [MPIJOB_FEATURE_SWITCH] =
						 "a switch: `true` or `false`",
		[MPIJOB_FEATURE_COUNT] = "a number",
		[MPIJOB_FEATURE_DURATION] =
		    "a duration such as `90s`, `5m` or `1h30m`, or seconds" };

	mpijob__base_text_printf(out, "- Value: %s", kinds[row->kind]);
	if (row->kind == MPIJOB_FEATURE_COUNT)
		mpijob__base_text_printf(out, " from %d to %d; 0 is off", (int)row->minimum,
		    (int)row->maximum);
	if (row->kind == MPIJOB_FEATURE_DURATION)
		mpijob__base_text_printf(out, ", at most %d s; 0 is off", (int)row->maximum);
	mpijob__base_text_puts(out, ".\n");
}

static void print_row(struct mpijob_text *out, size_t index)
{
	const struct mpijob_feature *row = mpijob_feature_at(index);
	static const char *const examples[] = { [MPIJOB_FEATURE_SWITCH] = "true",
		[MPIJOB_FEATURE_COUNT] = "2222",
		[MPIJOB_FEATURE_DURATION] = "60s" };
	const char *example =
	    row->maximum < 65535 && row->kind == MPIJOB_FEATURE_COUNT ? "3" : examples[row->kind];

	mpijob__base_text_printf(out, "\n## %s\n\n%s %s\n\n", row->name, row->summary,
	    texts[index].detail);
	print_bounds(out, row);
	mpijob__base_text_printf(out, "- Flag: `--%s%s%s`; annotation: `libmpijob/%s: \"%s\"`.\n",
	    row->name, row->kind == MPIJOB_FEATURE_SWITCH ? "" : "=",
	    row->kind == MPIJOB_FEATURE_SWITCH ? "" : example, row->name, example);
	if (row->defect > 0)
		mpijob__base_text_printf(out, "- Fixes: defect %d of v0.8.2 (`differences.md`).\n",
		    (int)row->defect);
	mpijob__base_text_printf(out, "- Visible effect: %s\n", texts[index].notice);
}

static void page_is_current(void **state)
{
	struct mpijob_text out = { 0 };
	char *page;

	(void)state;
	mpijob__base_text_puts(&out, head);
	for (size_t i = 0; mpijob_feature_at(i); i++)
		print_row(&out, i);
	page = strdup(out.data);
	mpijob__base_text_release(&out);
	printed_page_check("docs/options.md", page);
}

static void rows_are_complete(void **state)
{
	struct mpijob_features features = MPIJOB_FEATURES_INIT;
	int32_t *members = (int32_t *)(void *)((char *)&features + sizeof(features.size));
	size_t count = 0;

	(void)state;
	while (mpijob_feature_at(count))
		count++;
	/* Each member has its row; behind an odd number of them is padding. */
	assert_int_equal(count,
	    (offsetof(struct mpijob_features, fail_lost_worker) - sizeof(features.size)) /
		    sizeof(int32_t) +
		1);
	assert_true(sizeof(features) - sizeof(features.size) - count * sizeof(int32_t) <
		    sizeof(features.size));
	assert_null(mpijob_feature_at(SIZE_MAX));
	for (size_t i = 0; i < count; i++) {
		const struct mpijob_feature *row = mpijob_feature_at(i);
		char most[16];

		assert_ptr_equal(mpijob_feature_find(row->name), row);
		assert_int_equal(strspn(row->name, "abcdefghijklmnopqrstuvwxyz-"),
		    strlen(row->name));
		assert_true(row->summary[0] && texts[i].detail[0] && texts[i].notice[0] &&
			    row->minimum > 0);
		assert_null(strchr(row->summary, '`')); /* it is help, too */
		snprintf(most, sizeof(most), "%d", (int)row->maximum);
		assert_int_equal(mpijob_features_set(&features, row->name, most, NULL), 0);
		assert_int_equal(mpijob_features_get(&features, row->name), row->maximum);
	}
	for (size_t i = 0; i < count; i++)
		assert_int_not_equal(members[i], 0);
}

static void values_are_read(void **state)
{
	static const struct {
		const char *name, *value;
		int code;
		int32_t is;
	} rows[] = {
		{ "compact-hosts", NULL, 0, 1 },
		{ "compact-hosts", "false", 0, 0 },
		{ "compact-hosts", "1", 0, 1 },
		{ "compact-hosts", "0", 0, 0 },
		{ "compact-hosts", "yes", MPIJOB_ERR_SPEC, 0 },
		{ "compact-hosts", "", MPIJOB_ERR_SPEC, 0 },
		{ "wait-for-hosts", "90", 0, 90 },
		{ "wait-for-hosts", "1m30s", 0, 90 },
		{ "wait-for-hosts", "500ms", 0, 1 },
		{ "wait-for-hosts", "24h", 0, 86400 },
		{ "wait-for-hosts", "false", 0, 0 },
		{ "wait-for-hosts", "0s", 0, 0 },
		{ "wait-for-hosts", "24h1s", MPIJOB_ERR_SPEC, 0 },
		{ "wait-for-hosts", "true", MPIJOB_ERR_SPEC, 0 },
		{ "wait-for-hosts", NULL, MPIJOB_ERR_SPEC, 0 },
		{ "wait-for-hosts", "1d", MPIJOB_ERR_SPEC, 0 },
		{ "wait-for-hosts", "-1s", MPIJOB_ERR_SPEC, 0 },
		{ "wait-for-hosts", "s", MPIJOB_ERR_SPEC, 0 },
		{ "wait-for-hosts", "999999999h999999999h", MPIJOB_ERR_SPEC, 0 },
		{ "ssh-port", "2222", 0, 2222 },
		{ "ssh-port", "65536", MPIJOB_ERR_SPEC, 0 },
		{ "ssh-port", "22x", MPIJOB_ERR_SPEC, 0 },
		{ "ssh-port", "99999999999", MPIJOB_ERR_SPEC, 0 },
		{ "ssh_port", "22", MPIJOB_ERR_NOT_FOUND, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mpijob_features features = MPIJOB_FEATURES_INIT, before = features;
		mpijob_diag *diag = mpijob_diag_new();
		int code = mpijob_features_set(&features, rows[i].name, rows[i].value, diag);

		if (code != rows[i].code ||
		    mpijob_features_get(&features, rows[i].name) != rows[i].is)
			fail_msg("%s=%s: %d", rows[i].name, rows[i].value ? rows[i].value : "",
			    code);
		if (code != 0)
			assert_memory_equal(&features, &before, sizeof(before));
		assert_int_equal(mpijob_diag_count(diag, 0), code != 0);
		mpijob_diag_free(diag);
	}
}

static void names_are_suggested(void **state)
{
	struct mpijob_features features = MPIJOB_FEATURES_INIT;
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	assert_int_equal(mpijob_features_set(&features, "wait-for-host", "1s", diag),
	    MPIJOB_ERR_NOT_FOUND);
	assert_string_equal(mpijob_diag_at(diag, 0)->message,
	    "there is no such feature; did you mean wait-for-hosts?");
	mpijob_diag_clear(diag);
	assert_int_equal(mpijob_features_set(&features, "ssh-port", "0x16", diag), MPIJOB_ERR_SPEC);
	assert_string_equal(mpijob_diag_at(diag, 0)->message,
	    "'0x16' is not accepted; use a number from 1 to 65535, or 0");
	mpijob_diag_free(diag);
}

static void older_and_wrong_structs(void **state)
{
	struct mpijob_features features = MPIJOB_FEATURES_INIT, taken;

	(void)state;
	assert_int_equal(mpijob_features_set(NULL, "ssh-port", "22", NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_features_set(&features, NULL, "22", NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_features_get(NULL, "ssh-port"), 0);
	features.network_policy = 1;
	features.size = offsetof(struct mpijob_features, network_policy);
	assert_int_equal(mpijob_features_set(&features, "network-policy", "true", NULL),
	    MPIJOB_ERR_UNSUPPORTED);
	assert_int_equal(mpijob_features_get(&features, "network-policy"), 0);
	assert_int_equal(mpijob__render_features_take(&features, 0, &taken), 0);
	assert_int_equal(taken.network_policy, 0);
	features.compact_hosts = 2;
	assert_int_equal(mpijob__render_features_take(&features, 0, &taken), MPIJOB_ERR_USAGE);
	features.compact_hosts = 1;
	assert_int_equal(mpijob__render_features_take(&features, 1, &taken), 0);
	assert_int_equal(taken.compact_hosts, 0);
	assert_int_equal(mpijob__render_features_take(&features, 0, &taken), 0);
	assert_int_equal(taken.compact_hosts, 1);
	assert_int_equal(taken.size, sizeof(taken));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(names_are_suggested),
		cmocka_unit_test(older_and_wrong_structs),
		cmocka_unit_test(page_is_current),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
