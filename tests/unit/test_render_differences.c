/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/differences.md is what the list in lib/render/differences.inc says; UPDATE_CASES=1 writes
 * it. Behind it stand the defects of v0.8.2 that users ran into, what became of each, and where
 * that is tested: the tests are looked up, so that none is only named. tests/side/test-rows shows
 * those that can be seen in a cluster, beside v0.8.2 itself.
 */
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

#include <mpijob/features.h>

#include <sys/stat.h>

static const char head[] =
    "# Differences from mpi-operator v0.8.2\n"
    "\n"
    "These are the deliberate differences between libmpijob and the controller with which it is\n"
    "compatible. Everything else is equal, field for field, and the tests in `tests/oracle/` "
    "compare both.\n"
    "This page is printed from `lib/render/differences.inc`: change it there.\n"
    "`options.md` lists the behaviour that is off by default.\n";

static const struct {
	enum mpijob__render_difference_mode mode;
	const char *title;
	const char *toggle;
} parts[] = {
	{ MPIJOB__RENDER_DIFFERENCE_DEFAULT, "On by default", "Switch off" },
	{ MPIJOB__RENDER_DIFFERENCE_ALWAYS, "Always", "No switch" },
};

#define DIFFERENCE(name, mode, ...) \
	[MPIJOB__RENDER_DIFFERENCE_##name] = { MPIJOB__RENDER_DIFFERENCE_##mode, __VA_ARGS__ },

static const struct {
	enum mpijob__render_difference_mode mode;
	const char *id, *what, *why, *toggle;
} rows[MPIJOB__RENDER_DIFFERENCE_COUNT] = {
#include "render/differences.inc"
};

static void print_rows(struct mpijob_text *out, size_t part)
{
	int first = 1;

	for (int i = MPIJOB__RENDER_DIFFERENCE_NONE + 1; i < MPIJOB__RENDER_DIFFERENCE_COUNT; i++) {
		if (rows[i].mode != parts[part].mode)
			continue;
		if (first)
			mpijob__base_text_printf(out, "\n## %s\n", parts[part].title);
		first = 0;
		mpijob__base_text_printf(out, "\n### %s\n\n%s\n\n- Why: %s\n- %s: %s.\n",
		    rows[i].id, rows[i].what, rows[i].why, parts[part].toggle, rows[i].toggle);
	}
}

struct defect {
	const char *what;
	/* differences and features, separated by spaces; "" when it is no matter of either */
	const char *cures;
	const char *how; /* then this tells; else NULL */
	/* "plan/NAME": a folder of tests/cases; "FILE:FUNCTION" in tests/unit; separated by
	 * spaces */
	const char *tests;
};

/* The number of a defect is its place, from 1. */
static const struct defect defects[] = {
	{ "Open MPI 5 ignores the added variables: all ranks run on the launcher, and the job "
	  "succeeds (#842).",
	    "openmpi5-variables", NULL, "render/openmpi" },
	{ "The launcher of a suspended job with WaitForWorkersReady starts before the workers: no "
	  "worker exists, so none is unready (#615, #617, #868).",
	    "resume-waits-for-workers", NULL, "plan/suspended-from-start-wait" },
	{ "WaitForWorkersReady with a gang scheduler waits forever (#608).", "gang-safe-wait", NULL,
	    "plan/gang-safe-wait plan/gang-wait render/gang-safe-wait "
	    "render/gang-safe-wait-at-startup" },
	{ "An eviction sets Failed without a completion time: nothing is cleaned up, and Failed "
	  "may become Succeeded (#647).",
	    "evicted-job-ends finished-stays-finished", NULL,
	    "plan/evicted plan/evicted-clean-all plan/evicted-by-older-operator" },
	{ "Failed worker pods are never replaced (#391).", "replace-workers restart-gang", NULL,
	    "plan/replace-workers plan/replace-workers-used-up plan/replace-workers-counted-before "
	    "plan/replace-workers-pause plan/restart-gang "
	    "plan/restart-gang-evicted plan/restart-gang-wait-for-workers "
	    "plan/restart-gang-suspended plan/restart-gang-ends "
	    "plan/fail-worker-killed" },
	{ "Errors of a spec are reported by an Event only (#604).", "fail-invalid", NULL,
	    "plan/fail-invalid plan/fail-invalid-started plan/fail-invalid-too-large "
	    "plan/invalid" },
	{ "One MPIJob that cannot be read stops the list and the watch of all MPIJobs (#473).", "",
	    "objects are read one by one, and one that cannot be read is skipped",
	    "test_operator_run.c:hostile_objects_are_set_aside" },
	{ "`cluster.local` is written into the workers' search domains (#832).", "search-domain",
	    NULL, "render/cluster-domain" },
	{ "Any launcherCreationPolicy except AtStartup is treated as WaitForWorkersReady.",
	    "launcher-creation-policy", NULL,
	    "validate/creation-policy-unknown plan/reference-unknown-creation-policy" },
	{ "Scaling down with runLauncherAsWorker deletes one worker too many.",
	    "scale-down-by-name", NULL, "plan/scale-down-launcher-as-worker" },
	{ "discover_hosts.sh is sorted as text: worker 10 before worker 2.", "discover-hosts-order",
	    NULL, "render/discover-hosts-order" },
	{ "Each sync generates a key pair.", "", "one is generated only when the Secret is written",
	    "test_plan_defects.c:row_12_a_key_is_drawn_for_the_secret_alone" },
	{ "Each sync sends the same Events, and after the end each sync writes the status.",
	    "events-once", NULL, "plan/run plan/succeed-clean-all" },
	{ "Cached objects are modified in place (#819).", "",
	    "a plan changes neither the job nor the facts",
	    "test_plan_defects.c:row_14_planning_changes_nothing" },
	{ "A default that the server fills into a PodGroup is reverted again and again.",
	    "own-fields-only", NULL, "plan/gang-volcano" },
	{ "minResources are wrong if the workers have the higher priority class.", "gang-priority",
	    NULL, "render/gang-worker-priority" },
	{ "minResources include neither init containers nor overhead.", "gang-init-containers",
	    NULL, "render/gang-init-containers" },
	{ "cleanPodPolicy All keeps the launcher's pods (#643).", "clean-launcher", NULL,
	    "plan/clean-launcher plan/clean-launcher-running plan/succeed-clean-all" },
	{ "ttlSecondsAfterFinished removes only the launcher Job (#644), and a job whose launcher "
	  "Job was removed before its end was observed runs again.",
	    "launcher-not-made-twice ttl-deletes-job", NULL,
	    "plan/ttl-deleted-unseen plan/ttl-deleted-at-once plan/ttl-deletes-job "
	    "plan/ttl-keeps-job" },
	{ "Variables of the user are overridden (#476).", "user-variables", NULL,
	    "render/user-variables render/env-collisions" },
	{ "hostNetwork overrides the user's dnsPolicy.", "user-dns-policy", NULL,
	    "render/user-dns-policy render/host-network-dns-policy" },
	{ "Keys have mode 0600 only in /root/.ssh (#429).", "private-keys", NULL,
	    "render/private-keys render/private-keys-non-root render/non-root" },
	{ "An absent number of workers becomes 0, which is rejected.", "worker-replicas", NULL,
	    "default/empty-roles" },
	{ "The CRD is too large for client-side kubectl apply.", "",
	    "`mpijob crd` prints one that is small enough", "test_job_crd.c:slim" },
	{ "A worker pod without the index label stops the sync, and the launcher may start without "
	  "workers.",
	    "scale-down-by-name", NULL, "plan/worker-without-label" },
	{ "A second launcher starts while the first one terminates (#810).", "",
	    "as in v0.8.2, where it is fixed: podReplacementPolicy is Failed",
	    "test_plan_defects.c:row_26_a_launcher_pod_is_replaced_once_it_failed" },
	{ "Running becomes True again after the end (#787).", "", "as in v0.8.2, where it is fixed",
	    "plan/succeed plan/fail-backoff" },
	{ "Scheduling directives are not applied to the launcher on resume (#770, #772).", "",
	    "as in v0.8.2, where it is fixed", "plan/resume-directives" },
	{ "The operator crashes with runLauncherAsWorker and no worker under a gang scheduler "
	  "(#669).",
	    "", "as in v0.8.2, where it is fixed", "render/no-workers-gang" },
	{ "Pods of other namespaces are counted (#622).", "", "as in v0.8.2, where it is fixed",
	    "test_operator_run.c:a_claim_from_another_namespace plan/taken-worker" },
};

#define DEFECTS (sizeof(defects) / sizeof(defects[0]))

/* The next word of `*rest`, separated by spaces; NULL behind the last. */
static const char *next_word(const char **rest, char word[128])
{
	size_t len;

	*rest += strspn(*rest, " ");
	len = strcspn(*rest, " ");
	assert_true(len < 128);
	memcpy(word, *rest, len);
	word[len] = '\0';
	*rest += len;
	return len > 0 ? word : NULL;
}

static int is_difference(const char *id)
{
	for (int i = MPIJOB__RENDER_DIFFERENCE_NONE + 1; i < MPIJOB__RENDER_DIFFERENCE_COUNT; i++)
		if (strcmp(mpijob__render_difference_row((enum mpijob__render_difference)i)->id,
			id) == 0)
			return 1;
	return 0;
}

/* Cured by those that are differences, or by those that are features. */
static void print_cures(struct mpijob_text *out, const struct defect *defect, int differences)
{
	const char *rest = defect->cures, *word,
		   *before = differences ? " Fixed:" : " Fixed by an option:";
	char room[128];

	while ((word = next_word(&rest, room)) != NULL) {
		if (is_difference(word) != differences)
			continue;
		mpijob__base_text_printf(out, "%s `%s`", before, word);
		before = ",";
	}
	if (before[0] == ',')
		mpijob__base_text_puts(out, ".");
}

static void print_defect(struct mpijob_text *out, size_t index)
{
	mpijob__base_text_printf(out, "%zu. %s", index + 1, defects[index].what);
	if (defects[index].how != NULL)
		mpijob__base_text_printf(out, " Here: %s.", defects[index].how);
	print_cures(out, &defects[index], 1);
	print_cures(out, &defects[index], 0);
	mpijob__base_text_puts(out, "\n");
}

static void print_defects(struct mpijob_text *out)
{
	mpijob__base_text_puts(out, "\n"
				    "## Defects of mpi-operator\n"
				    "\n"
				    "These are the problems that its users found, with the threads "
				    "in its repository, and their state\n"
				    "here: fixed by default, by a difference above; or by an "
				    "option of `options.md`, because existing jobs\n"
				    "could notice the fix.\n\n");
	for (size_t i = 0; i < DEFECTS; i++)
		print_defect(out, i);
}

static int exists(const char *test)
{
	const char *colon = strchr(test, ':');
	char path[1024], wanted[256], *text;
	struct stat folder;
	int found;

	if (colon == NULL) {
		snprintf(path, sizeof(path), MPIJOB_TEST_SOURCE "/tests/cases/%s", test);
		return stat(path, &folder) == 0 && S_ISDIR(folder.st_mode);
	}
	snprintf(wanted, sizeof(wanted), "cmocka_unit_test(%s)", colon + 1);
	snprintf(path, sizeof(path), MPIJOB_TEST_SOURCE "/tests/unit/%.*s", (int)(colon - test),
	    test);
	text = printed_page_read(path);
	found = strstr(text, wanted) != NULL;
	free(text);
	return found;
}

static void each_defect_has_its_test(void **state)
{
	int options = 0;

	(void)state;
	for (size_t i = 0; i < DEFECTS; i++) {
		const char *rest = defects[i].tests, *word;
		char room[128];

		assert_true((defects[i].how != NULL) != (defects[i].cures[0] != '\0'));
		for (int count = 0; (word = next_word(&rest, room)) != NULL || count == 0; count++)
			if (word == NULL || !exists(word))
				fail_msg("defect %zu: there is no test %s", i + 1,
				    word != NULL ? word : "at all");
		rest = defects[i].cures;
		while ((word = next_word(&rest, room)) != NULL) {
			const struct mpijob_feature *feature = mpijob_feature_find(word);

			if (feature == NULL ? !is_difference(word)
					    : (size_t)feature->defect != i + 1)
				fail_msg("defect %zu is not cured by %s", i + 1, word);
			options += feature != NULL;
		}
	}
	for (size_t i = 0; mpijob_feature_at(i); i++)
		options -= mpijob_feature_at(i)->defect != 0;
	assert_int_equal(options, 0);
}

static char *print_page(void)
{
	struct mpijob_text out = { 0 };
	char *page;

	mpijob__base_text_puts(&out, head);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		print_rows(&out, i);
	print_defects(&out);
	page = strdup(out.data);
	mpijob__base_text_release(&out);
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
	assert_null(mpijob__render_difference_row(MPIJOB__RENDER_DIFFERENCE_NONE));
	assert_null(mpijob__render_difference_row(MPIJOB__RENDER_DIFFERENCE_COUNT));
	for (int i = MPIJOB__RENDER_DIFFERENCE_NONE + 1; i < MPIJOB__RENDER_DIFFERENCE_COUNT; i++) {
		const struct mpijob__render_difference_row *row =
		    mpijob__render_difference_row((enum mpijob__render_difference)i);

		if (!row->id || !rows[i].what[0] || !rows[i].why[0] || !rows[i].toggle[0])
			fail_msg("row %d is not complete", i);
		assert_int_equal(strspn(row->id, "abcdefghijklmnopqrstuvwxyz0123456789-"),
		    strlen(row->id));
		for (int j = MPIJOB__RENDER_DIFFERENCE_NONE + 1; j < i; j++)
			assert_string_not_equal(row->id,
			    mpijob__render_difference_row((enum mpijob__render_difference)j)->id);
		assert_int_equal(mpijob__render_difference_holds((enum mpijob__render_difference)i,
				     0),
		    1);
		assert_int_equal(mpijob__render_difference_holds((enum mpijob__render_difference)i,
				     1),
		    row->mode == MPIJOB__RENDER_DIFFERENCE_ALWAYS);
	}
	assert_int_equal(mpijob__render_difference_holds(MPIJOB__RENDER_DIFFERENCE_NONE, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(each_defect_has_its_test), cmocka_unit_test(page_is_current) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
