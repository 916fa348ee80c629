/* SPDX-License-Identifier: Apache-2.0 */
/* How many findings of a job are kept, and that the others are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <mpijob/mpijob.h>

#define UNKNOWN 250

/* A job with unknown keys in its pod, and one wrong type behind them. */
static mpijob *make_job(void)
{
	mpijob_text *text = mpijob_text_new();
	mpijob *job = NULL;
	char key[32];
	static const char head[] =
	    "{\"apiVersion\":\"kubeflow.org/"
	    "v2beta1\",\"kind\":\"MPIJob\",\"metadata\":{\"name\":\"b\"},"
	    "\"spec\":{\"mpiReplicaSpecs\":{\"Launcher\":{\"template\":{\"spec\":{";
	static const char tail[] =
	    "\"volumes\":5,\"containers\":[{\"name\":\"l\",\"image\":\"i\"}]}}}}}}";

	assert_int_equal(mpijob_text_write(text, head, sizeof(head) - 1), 0);
	for (int i = 0; i < UNKNOWN; i++) {
		int len = snprintf(key, sizeof(key), "\"b-%06d\":1,", i);

		assert_int_equal(mpijob_text_write(text, key, (size_t)len), 0);
	}
	assert_int_equal(mpijob_text_write(text, tail, sizeof(tail) - 1), 0);
	assert_int_equal(mpijob_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &job,
			     NULL),
	    0);
	assert_int_equal(mpijob_default(job, NULL, NULL), 0);
	mpijob_text_free(text);
	return job;
}

static size_t count_of(const mpijob_diag *diag, const char *id)
{
	size_t count = 0;

	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		count += strcmp(mpijob_diag_at(diag, i)->id, id) == 0;
	return count;
}

static void a_hundred_of_a_kind_are_kept(void **state)
{
	struct mpijob_validate_options strict = MPIJOB_VALIDATE_OPTIONS_INIT;
	mpijob *job = make_job();
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	assert_int_equal(mpijob_validate(job, NULL, diag), MPIJOB_ERR_SPEC);
	assert_int_equal(count_of(diag, "unknown-field"), 100);
	assert_int_equal(count_of(diag, "wrong-type"), 1); /* not hidden by the others */
	assert_int_equal(mpijob_diag_dropped(diag), UNKNOWN - 100);
	assert_in_range(mpijob_diag_count(diag, MPIJOB_SEVERITY_WARNING), UNKNOWN, UNKNOWN + 5);
	assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR), 1);
	/* Strict, they are errors, all of them. */
	mpijob_diag_clear(diag);
	strict.strict = 1;
	assert_int_equal(mpijob_validate(job, &strict, diag), MPIJOB_ERR_SPEC);
	assert_int_equal(mpijob_diag_count(diag, MPIJOB_SEVERITY_ERROR), UNKNOWN + 1);
	assert_int_equal(mpijob_validate(job, &strict, NULL), MPIJOB_ERR_SPEC);
	mpijob_diag_free(diag);
	mpijob_free(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_hundred_of_a_kind_are_kept) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
