/* SPDX-License-Identifier: Apache-2.0 */
/* The operator that must not act: a standby until it is told, a shadow for ever; and what either
 * says of itself. */
#include "../support/operator_fixture.h"

#include "client/client.h"

/* The value of a sample, or "absent". */
static void expect_sample(const struct operator_fixture *fixture, const char *sample,
    const char *value)
{
	char *all = metrics(fixture), *line = fake_text("\n%s ", sample), *at = strstr(all, line),
	     *end;

	if (at) {
		at += strlen(line);
		end = strchr(at, '\n');
		*end = 0;
	}
	assert_string_equal(at ? at : "absent", value);
	free(all);
	free(line);
}

static char *report(const struct operator_fixture *fixture)
{
	mpijob_text text = { 0 };
	char *copy;

	assert_int_equal(mpijob_operator_shadow_report(fixture->operator_, mpijob_text_write,
			     &text),
	    0);
	copy = strdup(mpijob_text_data(&text));
	mpijob__base_text_release(&text);
	return copy;
}

static size_t lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* --- standby --- */

static void a_standby_waits_for_its_turn(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	set_up_server(&fixture);
	fixture.options.standby = 1;
	start_operator(&fixture);
	put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
	fake_put(&fixture.fake, JOBS, "team",
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: odd}\nspec: 7\n");
	operator_run(&fixture, 300);
	assert_int_equal(mpijob_operator_synced(fixture.operator_), 1);
	assert_int_equal(fake_writes(&fixture.fake), 0);
	expect_sample(&fixture, "mpi_operator_jobs{phase=\"New\"}", "2");
	mpijob_operator_act(fixture.operator_, 1);
	operator_run(&fixture, 300);
	expect_children(&fixture, 1, 2);
	assert_true(fake_objects(&fixture.fake, EVENTS) > 0);
	operator_tear_down(&fixture);
}

/* Answers to writes take their time. */
static int slow(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	(void)fake;
	(void)path;
	reply->polls = 5;
	return strcmp(method, "GET") != 0;
}

/* Who is no leader any more starts nothing, also in the middle of a plan; what was under way
 * ends. */
static void who_lost_his_office_stops(void **state)
{
	struct operator_fixture fixture;
	size_t pods, events;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = slow;
	operator_run(&fixture, 20);
	put_job(&fixture, "team", "wide", 300, "cleanPodPolicy: None");
	while (fake_objects(&fixture.fake, PODS) < 50)
		operator_run(&fixture, 1);
	assert_true(mpijob_operator_busy(fixture.operator_) > 0);
	mpijob_operator_act(fixture.operator_, 0);
	pods = fake_objects(&fixture.fake, PODS);
	events = fake_objects(&fixture.fake, EVENTS);
	operator_run(&fixture, 300);
	assert_in_range(fake_objects(&fixture.fake, PODS), pods, pods + 16);
	assert_int_equal(mpijob_operator_busy(fixture.operator_), 0);
	/* What was done was told. */
	assert_true(fake_objects(&fixture.fake, EVENTS) >= events);
	pods = fake_writes(&fixture.fake);
	put_job(&fixture, "team", "later", 1, "cleanPodPolicy: None");
	operator_run(&fixture, 300);
	assert_int_equal(fake_writes(&fixture.fake), pods);
	mpijob_operator_act(fixture.operator_, 1);
	for (int i = 0; i < 3000 && !has_children(&fixture, 2, 301); i++)
		operator_run(&fixture, 1);
	expect_children(&fixture, 2, 301);
	operator_tear_down(&fixture);
}

/* What waits for a token when the office is lost does not leave any more. */
static void what_waits_for_a_token_stays(void **state)
{
	struct operator_fixture fixture;
	size_t writes;

	(void)state;
	operator_set_up(&fixture);
	operator_run(&fixture, 20);
	pace(&fixture, 1, 8);
	put_job(&fixture, "team", "wide", 20, "cleanPodPolicy: None");
	operator_run(&fixture, 100);
	writes = fake_writes(&fixture.fake);
	assert_int_equal(writes, 8);
	assert_true(fixture.operator_->writes > 0);
	mpijob_operator_act(fixture.operator_, 0);
	assert_int_equal(fixture.operator_->writes, 0);
	clients_ms += 60000;
	operator_run(&fixture, 100);
	assert_int_equal(fake_writes(&fixture.fake), writes);
	mpijob_operator_act(fixture.operator_, 1);
	pace(&fixture, 0, 0);
	for (int i = 0; i < 3000 && !has_children(&fixture, 1, 20); i++)
		operator_run(&fixture, 1);
	expect_children(&fixture, 1, 20);
	operator_tear_down(&fixture);
}

/* --- a shadow --- */

static void set_up_shadow(struct operator_fixture *fixture)
{
	set_up_server(fixture);
	fixture->options.shadow = 1;
	fixture->options.shadow_grace_ms = 50;
	start_operator(fixture);
}

static void let_pass(struct operator_fixture *fixture, int ms)
{
	int64_t end_ms = fake_clock_ms() + ms;

	do
		operator_run(fixture, 1);
	while (fake_clock_ms() < end_ms);
}

/* Nobody does the work: all that is missing is told, once, and nothing written. */
static void what_nobody_does_is_told_once(void **state)
{
	struct operator_fixture fixture;
	char *text;

	(void)state;
	set_up_shadow(&fixture);
	put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
	operator_run(&fixture, 20);
	text = report(&fixture);
	assert_string_equal(text, "");
	free(text);
	let_pass(&fixture, 250);
	text = report(&fixture);
	/* Service, ConfigMap, Secret, two workers, launcher, status, and that there was a
	 * launcher. */
	assert_non_null(strstr(text, "\"namespace\":\"team\",\"job\":\"pi\",\"verb\":\"create\","
				     "\"kind\":\"Pod\",\"name\":\"pi-worker-1\""));
	assert_non_null(
	    strstr(text, "\"verb\":\"create\",\"kind\":\"Secret\",\"name\":\"pi-ssh\""));
	assert_non_null(
	    strstr(text, "\"verb\":\"patch status\",\"kind\":\"MPIJob\",\"name\":\"pi\""));
	assert_non_null(strstr(text, "\"difference\":null}\n"));
	assert_in_range(lines(text), 7, 8);
	/* The log has a line for each. */
	assert_int_equal(fixture.logged, lines(text));
	assert_string_equal(fixture.last_id, "shadow-action");
	assert_int_equal(strncmp(fixture.last_log, "would ", 6), 0);
	assert_non_null(strstr(fixture.last_log, " team/pi"));
	assert_non_null(strstr(fixture.last_log, " for MPIJob pi: "));
	let_pass(&fixture, 250);
	free(text);
	text = report(&fixture);
	assert_in_range(lines(text), 7, 8);
	free(text);
	expect_sample(&fixture, "mpi_operator_shadow_actions_total{kind=\"Pod\",verb=\"create\"}",
	    "2");
	expect_sample(&fixture, "mpi_operator_jobs_created_total", "0");
	assert_int_equal(fixture.fake.log_count, fake_count(&fixture.fake, "GET "));
	assert_int_equal(fake_count(&fixture.fake, "GET /api/v1/namespaces/team/secrets/pi-ssh"),
	    1);
	mpijob_operator_act(fixture.operator_, 1);
	operator_run(&fixture, 50);
	assert_int_equal(fake_writes(&fixture.fake), 0);
	operator_tear_down(&fixture);
}

/* Another operator, slower than the shadow's eye, but within its patience. */
static void who_is_only_slow_is_not_accused(void **state)
{
	struct operator_fixture fixture;
	mpijob_operator *shadow = NULL;
	struct mpijob_operator_options options = MPIJOB_OPERATOR_OPTIONS_INIT;
	mpijob_text text = { 0 };
	struct fake_object *job;

	(void)state;
	set_up_server(&fixture);
	fixture.options.standby = 1;
	start_operator(&fixture);
	options.shadow = 1;
	options.shadow_grace_ms = 300;
	assert_int_equal(mpijob_operator_new(fixture.client, &options, &shadow, NULL), 0);
	job = put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: All");
	for (int i = 0; i < 2000; i++) {
		if (i == 100)
			mpijob_operator_act(fixture.operator_, 1);
		if (i == 500)
			run_pods(&fixture);
		assert_int_equal(mpijob_operator_step(fixture.operator_, 0), 0);
		assert_int_equal(mpijob_operator_step(shadow, 1), 0);
	}
	expect_children(&fixture, 1, 3);
	assert_true(is_true(job, "Created"));
	assert_int_equal(mpijob_operator_shadow_report(shadow, mpijob_text_write, &text), 0);
	assert_string_equal(mpijob_text_data(&text), "");
	/* The Secret was not there when it was first wanted; that was settled by asking for it by
	 * name, at most. */
	assert_true(fake_count(&fixture.fake, "GET /api/v1/namespaces/team/secrets/pi-ssh") <= 1);
	assert_int_equal(fake_count(&fixture.fake, "GET /api/v1/secrets"), 0);
	mpijob__base_text_release(&text);
	mpijob_operator_free(shadow);
	operator_tear_down(&fixture);
}

static int hide_secrets(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	(void)fake;
	(void)method;
	if (!strstr(path, "/secrets"))
		return 0;
	reply->status = 403;
	reply->body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
		      "\"reason\":\"Forbidden\",\"code\":403}";
	return 1;
}

static void a_secret_that_may_not_be_seen_is_not_missed(void **state)
{
	struct operator_fixture fixture;
	char *text;

	(void)state;
	set_up_shadow(&fixture);
	fixture.fake.decide = hide_secrets;
	put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	let_pass(&fixture, 400);
	text = report(&fixture);
	assert_non_null(strstr(text, "pi-worker-0"));
	assert_null(strstr(text, "Secret"));
	free(text);
	assert_int_equal(fake_count(&fixture.fake, "GET /api/v1/namespaces/team/secrets/pi-ssh"),
	    1);
	operator_tear_down(&fixture);
}

/* What the reference does not do, and the row that says why we do: a job whose worker was evicted
 * ends. */
static void a_difference_is_named(void **state)
{
	struct operator_fixture fixture;
	struct fake_object *job, *launcher;
	mpijob_operator *shadow = NULL;
	struct mpijob_operator_options options = MPIJOB_OPERATOR_OPTIONS_INIT;
	mpijob_text text = { 0 };

	(void)state;
	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	run_pods(&fixture);
	launcher = fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher");
	fake_patch(&fixture.fake, launcher,
	    "status: {active: 1, startTime: '2026-11-21T12:00:00Z'}");
	operator_run(&fixture, 400);
	mpijob_operator_act(fixture.operator_, 0);
	options.shadow = 1;
	options.shadow_grace_ms = 20;
	assert_int_equal(mpijob_operator_new(fixture.client, &options, &shadow, NULL), 0);
	fake_patch(&fixture.fake, fake_find(&fixture.fake, PODS, "team", "pi-worker-1"),
	    "status: {phase: Failed, reason: Evicted}");
	/* As the reference leaves it: Failed, without an end. */
	fake_patch(&fixture.fake, job,
	    "status: {conditions: [{type: Created, status: 'True', reason: MPIJobCreated}, "
	    "{type: Failed, status: 'True', reason: MPIJobEvicted, message: 1/2 workers are "
	    "evicted}]}");
	for (int i = 0; i < 300; i++)
		assert_int_equal(mpijob_operator_step(shadow, 1), 0);
	assert_int_equal(mpijob_operator_shadow_report(shadow, mpijob_text_write, &text), 0);
	assert_non_null(strstr(mpijob_text_data(&text),
	    "\"verb\":\"patch\",\"kind\":\"Job\",\"name\":\"pi-launcher\""));
	assert_non_null(strstr(mpijob_text_data(&text), "\"difference\":\"evicted-job-ends\"}"));
	assert_null(strstr(mpijob_text_data(&text), "\"difference\":null"));
	mpijob__base_text_release(&text);
	mpijob_operator_free(shadow);
	operator_tear_down(&fixture);
}

/* --- metrics --- */

static void a_life_is_counted(void **state)
{
	struct operator_fixture fixture;
	struct fake_object *job;
	char *text;

	(void)state;
	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	expect_sample(&fixture, "mpi_operator_jobs_created_total", "1");
	expect_sample(&fixture, "mpi_operator_jobs_successful_total", "0");
	expect_sample(&fixture,
	    "mpi_operator_job_info{launcher=\"pi-launcher\",namespace=\"team\"}", "1");
	expect_sample(&fixture, "mpi_operator_jobs{phase=\"Created\"}", "1");
	expect_sample(&fixture, "mpi_operator_queue_depth", "0");
	expect_sample(&fixture, "mpi_operator_queue_oldest_seconds", "0.000000");
	expect_sample(&fixture, "mpi_operator_writes_under_way", "0");
	expect_sample(&fixture, "mpi_operator_watch_up{kind=\"Pod\"}", "1");
	expect_sample(&fixture, "mpi_operator_synced", "1");
	text = metrics(&fixture);
	assert_non_null(strstr(text, "# TYPE mpi_operator_plan_seconds histogram\n"));
	assert_non_null(strstr(text, "mpi_operator_api_request_seconds_count{verb=\"POST\"} "));
	assert_null(strstr(text, "mpi_operator_api_request_seconds_count{verb=\"POST\"} 0\n"));
	assert_non_null(strstr(text, "mpi_operator_watch_age_seconds{kind=\"MPIJob\"} "));
	free(text);
	fake_patch(&fixture.fake, fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher"),
	    "status: {succeeded: 1, startTime: '2026-11-21T12:00:00Z', completionTime: "
	    "'2026-11-21T12:05:00Z', "
	    "conditions: [{type: Complete, status: 'True'}]}");
	operator_run(&fixture, 400);
	assert_true(is_true(job, "Succeeded"));
	expect_sample(&fixture, "mpi_operator_jobs_successful_total", "1");
	expect_sample(&fixture, "mpi_operator_jobs_failed_total", "0");
	expect_sample(&fixture, "mpi_operator_jobs{phase=\"Succeeded\"}", "1");
	fake_delete(&fixture.fake, job);
	operator_run(&fixture, 20);
	expect_sample(&fixture,
	    "mpi_operator_job_info{launcher=\"pi-launcher\",namespace=\"team\"}", "absent");
	expect_sample(&fixture, "mpi_operator_jobs_created_total", "1");
	operator_tear_down(&fixture);
}

static int refuse_some(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	int *left = fake->user;

	if (strcmp(method, "POST") != 0 || !strstr(path, "/services") || --*left < 0)
		return 0;
	reply->status = 500;
	reply->body = "oops";
	return 1;
}

static void failures_are_counted_by_code(void **state)
{
	struct operator_fixture fixture;
	int left = 2;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = refuse_some;
	fixture.fake.user = &left;
	put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	expect_children(&fixture, 1, 1);
	expect_sample(&fixture, "mpi_operator_api_errors_total{code=\"500\",verb=\"POST\"}", "2");
	/* More kinds of failures than places: the rest is one. */
	for (int status = 400; status < 500; status++)
		mpijob__operator_metrics_request(&fixture.operator_->metrics,
		    &(struct mpijob_request_stats){ .method = "GET",
			.status = status,
			.code = MPIJOB_ERR_SERVER,
			.took_ms = 1 });
	expect_sample(&fixture, "mpi_operator_api_errors_total{code=\"400\",verb=\"GET\"}", "1");
	expect_sample(&fixture, "mpi_operator_api_errors_total{code=\"499\",verb=\"GET\"}",
	    "absent");
	operator_tear_down(&fixture);
}

static void labels_are_escaped(void **state)
{
	struct operator_fixture fixture;
	struct fake_object *job;
	struct mpijob__operator_job *entry;

	(void)state;
	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 20);
	/* No server has such a name; the format would be broken all the same. */
	entry = mpijob__operator_job_find(fixture.operator_, fake_string(job, "metadata.uid"));
	free(entry->namespace_);
	entry->namespace_ = strdup("te\"a\\m\n");
	entry->cache.had_launcher = 1;
	expect_sample(&fixture,
	    "mpi_operator_job_info{launcher=\"pi-launcher\",namespace=\"te\\\"a\\\\m\\n\"}", "1");
	operator_tear_down(&fixture);
}

/* docs/metrics.md has a row for each family, with its type and what HELP says of it, and no
 * other. */
static void the_page_is_complete(void **state)
{
	char *text, *page = calloc(1, 65536), *at;
	FILE *file = fopen(MPIJOB_TEST_SOURCE "/docs/metrics.md", "rb");
	size_t families = 0, rows = 0;
	struct operator_fixture fixture;

	(void)state;
	assert_true(file && page && fread(page, 1, 65535, file) > 1000);
	fclose(file);
	operator_set_up(&fixture);
	text = metrics(&fixture);
	for (char *help = strstr(text, "# HELP "); help; help = strstr(help + 1, "# HELP ")) {
		char *name = help + strlen("# HELP "), *says = strchr(name, ' ') + 1,
		     *end = strchr(says, '\n');
		char *type;
		char *row = fake_text("| `%.*s` | ", (int)(says - 1 - name), name),
		     *found = strstr(page, row);
		char *rest = fake_text("| %.*s |\n", (int)(end - says), says);

		type = strstr(end, "# TYPE ") + strlen("# TYPE ") + (says - name);
		assert_non_null(found);
		found += strlen(row);
		assert_int_equal(strncmp(found, type, strcspn(type, "\n")), 0);
		at = strstr(found, rest);
		assert_true(at && at < strchr(found, '\n'));
		free(row);
		free(rest);
		families++;
	}
	for (at = strstr(page, "\n| `mpi_operator_"); at; at = strstr(at + 1, "\n| `mpi_operator_"))
		rows++;
	assert_int_equal(families, rows);
	free(text);
	free(page);
	operator_tear_down(&fixture);
}

static int stop_at_once(void *user, const char *data, size_t len)
{
	(void)user;
	(void)data;
	(void)len;
	return MPIJOB_ERR_CANCELLED;
}

static void calls(void **state)
{
	struct operator_fixture fixture;
	int64_t deadline;
	int fd;

	(void)state;
	operator_set_up(&fixture);
	assert_int_equal(mpijob_operator_metrics(NULL, mpijob_text_write, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_operator_metrics(fixture.operator_, NULL, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_operator_metrics(fixture.operator_, stop_at_once, NULL),
	    MPIJOB_ERR_CANCELLED);
	assert_int_equal(mpijob_operator_shadow_report(NULL, mpijob_text_write, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_operator_shadow_report(fixture.operator_, stop_at_once, NULL), 0);
	assert_int_equal(mpijob_operator_interest(NULL, &fd, &deadline), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_operator_interest(fixture.operator_, &fd, &deadline),
	    MPIJOB_ERR_UNSUPPORTED);
	operator_tear_down(&fixture);
	set_up_server(&fixture);
	fixture.options.shadow_grace_ms = -1;
	assert_int_equal(mpijob_operator_new(fixture.client, &fixture.options, &fixture.operator_,
			     NULL),
	    MPIJOB_ERR_USAGE);
	operator_tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_standby_waits_for_its_turn),
		cmocka_unit_test(who_lost_his_office_stops),
		cmocka_unit_test(what_waits_for_a_token_stays),
		cmocka_unit_test(what_nobody_does_is_told_once),
		cmocka_unit_test(who_is_only_slow_is_not_accused),
		cmocka_unit_test(a_secret_that_may_not_be_seen_is_not_missed),
		cmocka_unit_test(a_difference_is_named),
		cmocka_unit_test(a_life_is_counted),
		cmocka_unit_test(failures_are_counted_by_code),
		cmocka_unit_test(labels_are_escaped),
		cmocka_unit_test(the_page_is_complete),
		cmocka_unit_test(calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
