/* SPDX-License-Identifier: Apache-2.0 */
/* The example of a workflow engine's plugin: what its watch tells, and what it cannot tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../examples/workflow/step.c"

#define JOB(uid, status)                                                                  \
	"{\"apiVersion\": \"kubeflow.org/v2beta1\", \"kind\": \"MPIJob\", \"metadata\": " \
	"{\"name\": \"j\", \"uid\": "                                                     \
	"\"" uid "\"}, \"spec\": {}, \"status\": {" status "}}"
#define TRUE(type) "\"conditions\": [{\"type\": \"" type "\", \"status\": \"True\"}]"

static void start(struct step *step)
{
	*step = (struct step){ .phase = STEP_WAITING, .why = "" };
	assert_int_equal(mpijob_parse(JOB("u", ""), strlen(JOB("u", "")), NULL, &step->job, NULL),
	    0);
}

static void tell(struct step *step, int32_t event, const char *uid, const char *json)
{
	const struct mpijob_watch_event news = { .size = sizeof(news),
		.event = event,
		.json = json,
		.json_len = strlen(json),
		.uid = uid,
		.name = "j" };

	assert_int_equal(see(step, &news), 0);
}

static void a_list_without_the_job_ends_the_step(void **state)
{
	struct step step;

	(void)state;
	start(&step);
	begin(&step);
	tell(&step, MPIJOB_WATCH_LISTED, "u", JOB("u", TRUE("Running")));
	assert_int_equal(listed(&step, "1"), 0);
	assert_int_equal(step.phase, STEP_RUNNING);
	begin(&step); /* another job of that name is not it */
	tell(&step, MPIJOB_WATCH_LISTED, "other", JOB("other", TRUE("Running")));
	assert_int_equal(step.phase, STEP_RUNNING);
	assert_int_equal(listed(&step, "2"), 0);
	assert_int_equal(step.phase, STEP_ABORTED);
	step_end(&step);
}

static void what_ended_stays_so(void **state)
{
	struct step step;

	(void)state;
	start(&step);
	begin(&step);
	tell(&step, MPIJOB_WATCH_LISTED, "u", JOB("u", TRUE("Succeeded")));
	assert_int_equal(listed(&step, "1"), 0);
	assert_int_equal(step.phase, STEP_DONE);
	tell(&step, MPIJOB_WATCH_DELETED, "u", JOB("u", TRUE("Succeeded")));
	begin(&step);
	assert_int_equal(listed(&step, "2"), 0);
	assert_int_equal(step.phase, STEP_DONE);
	step_end(&step);
}

static void a_deleted_job_ends_the_step(void **state)
{
	struct step step;

	(void)state;
	start(&step);
	tell(&step, MPIJOB_WATCH_DELETED, "other", JOB("other", ""));
	assert_int_equal(step.phase, STEP_WAITING);
	tell(&step, MPIJOB_WATCH_DELETED, "u", JOB("u", ""));
	assert_int_equal(step.phase, STEP_ABORTED);
	step_end(&step);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_without_the_job_ends_the_step),
		cmocka_unit_test(what_ended_stays_so),
		cmocka_unit_test(a_deleted_job_ends_the_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
