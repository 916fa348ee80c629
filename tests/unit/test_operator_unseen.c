/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator does not know, because a watch is behind or there is none: a launcher that
 * another one made, a Secret that somebody took away, or that a job of the same name has left, a
 * pod that came before its owner.
 */
#include "../support/operator_fixture.h"

/* Until `name` is there; at most some seconds. */
static struct fake_object *await(struct operator_fixture *fixture, const char *collection,
    const char *name)
{
	for (int i = 0; i < 5000 && !fake_find(&fixture->fake, collection, "team", name); i++)
		operator_run(fixture, 1);
	return fake_find(&fixture->fake, collection, "team", name);
}

static void next_operator(struct operator_fixture *fixture)
{
	mpijob_operator_free(fixture->operator_);
	start_operator(fixture);
}

/* The list of Jobs is one of a time before there were any, and their watch is silent. */
static int hide_launchers(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	static char list[200];

	if (strcmp(method, "GET") != 0 || strncmp(path, LAUNCHERS, strlen(LAUNCHERS)) != 0)
		return 0;
	reply->status = 200;
	if (strstr(path, "watch=1")) {
		reply->body = "";
		reply->open = 1;
		return 1;
	}
	snprintf(list, sizeof(list),
	    "{\"kind\":\"JobList\",\"apiVersion\":\"batch/"
	    "v1\",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"},\"items\":[]}",
	    fake->version);
	reply->body = list;
	return 1;
}

/* A launcher with a time to live that is not there has ended. One that is only not known of goes
 * on. */
static void a_launcher_that_no_watch_told_of(void **state)
{
	struct fake_object *job, *launcher;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 2, "ttlSecondsAfterFinished: 5");
	assert_non_null(await(&fixture, LAUNCHERS, "pi-launcher"));
	run_pods(&fixture);
	operator_run(&fixture, 100);
	fake_patch(&fixture.fake, job, "status: {startTime: '2020-01-01T00:00:00Z'}");
	for (struct fake_object *pod = fixture.fake.objects; pod; pod = pod->next)
		if (strcmp(pod->collection, PODS) == 0)
			fake_patch(&fixture.fake, pod,
			    "metadata: {creationTimestamp: '2020-01-01T00:00:00Z'}");
	fixture.fake.decide = hide_launchers;
	next_operator(&fixture);
	operator_run(&fixture, 200);
	assert_int_equal(fake_count(&fixture.fake,
			     "GET /apis/batch/v1/namespaces/team/jobs/pi-launcher"),
	    1);
	assert_string_equal(condition(job, "Failed"), "absent");
	launcher = fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher");
	assert_null(mpijob_node_find(mpijob_doc_root(launcher->doc), "spec.suspend"));
	assert_int_equal(fake_objects(&fixture.fake, PODS), 2);
	/* And one that is gone has ended. */
	fixture.fake.decide = NULL;
	fake_delete(&fixture.fake, launcher);
	next_operator(&fixture);
	operator_run(&fixture, 200);
	assert_string_equal(condition(job, "Failed"), "True");
	operator_tear_down(&fixture);
}

/* What pods cannot start without is made again before they are. */
static void a_secret_that_somebody_took_away(void **state)
{
	struct fake_object *job;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 2, "suspend: true");
	assert_non_null(await(&fixture, SECRETS, "pi-ssh"));
	operator_run(&fixture, 100);
	fake_delete(&fixture.fake, fake_find(&fixture.fake, SECRETS, "team", "pi-ssh"));
	entry_of(&fixture)->fresh.read_ms[MPIJOB_ROLE_SECRET] -= 20000;
	fake_patch(&fixture.fake, job, "spec: {runPolicy: {suspend: false}}");
	operator_run(&fixture, 300);
	expect_children(&fixture, 1, 2);
	assert_int_equal(fake_count(&fixture.fake, "GET /api/v1/namespaces/team/secrets/pi-ssh"),
	    1);
	operator_tear_down(&fixture);
}

/* When each request takes longer than an answer is believed, there is still one look for a plan,
 * and not one for a pod. */
static void looks_that_are_old_when_their_turn_comes(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	put_job(&fixture, "team", "pi", 12, "cleanPodPolicy: All");
	assert_non_null(await(&fixture, SECRETS, "pi-ssh"));
	for (int i = 0; i < 1000 && fake_objects(&fixture.fake, LAUNCHERS) == 0; i++) {
		entry_of(&fixture)->fresh.read_ms[MPIJOB_ROLE_SECRET] -= 20000;
		entry_of(&fixture)->fresh.job_ms -= 20000;
		operator_run(&fixture, 1);
	}
	expect_children(&fixture, 1, 12);
	assert_in_range(fake_count(&fixture.fake, "GET /api/v1/namespaces/team/secrets/pi-ssh"), 1,
	    6);
	operator_tear_down(&fixture);
}

/* The garbage collector is about to remove it: that is not waited for long, and without any
 * news. */
static void a_secret_that_a_job_has_left(void **state)
{
	struct fake_object *left;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	left = fake_put(&fixture.fake, SECRETS, "team",
	    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: pi-ssh\n  ownerReferences:\n"
	    "  - {apiVersion: kubeflow.org/v2beta1, kind: MPIJob, name: pi, controller: true, uid: "
	    "the-last-pi}\n");
	put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	for (int i = 0;
	     i < 3000 && !(entry_of(&fixture) && entry_of(&fixture)->backoff.foreign_until_ms); i++)
		operator_run(&fixture, 1);
	assert_in_range(entry_of(&fixture)->backoff.foreign_until_ms - fixture.operator_->now_ms, 0,
	    1001);
	fake_delete(&fixture.fake, left);
	assert_non_null(await(&fixture, LAUNCHERS, "pi-launcher"));
	expect_children(&fixture, 1, 1);
	operator_tear_down(&fixture);
}

/* The first so many looks at an object fail. */
static int fail_looks(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	int *left = fake->user;

	if (strcmp(method, "GET") != 0 || !strstr(path, "/services/pi") || *left == 0)
		return 0;
	--*left;
	reply->status = 500;
	reply->body = "oops";
	return 1;
}

/* An object that came before its owner is asked for until there is an answer: no watch tells of it
 * again. */
static void an_object_that_cannot_be_fetched_for_long(void **state)
{
	int left = 20;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	operator_run(&fixture, 20);
	fixture.fake.decide = fail_looks;
	fixture.fake.user = &left;
	fake_put(&fixture.fake, SERVICES, "team",
	    "apiVersion: v1\nkind: Service\nmetadata:\n  name: pi\n  ownerReferences:\n"
	    "  - {apiVersion: kubeflow.org/v2beta1, kind: MPIJob, name: pi, controller: true, uid: "
	    "later}\n");
	operator_run(&fixture, 20);
	fake_put(&fixture.fake, JOBS, "team",
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: pi, uid: "
	    "later}\nspec:\n"
	    "  runPolicy: {managedBy: kueue.x-k8s.io/multikueue}\n  mpiReplicaSpecs:\n"
	    "    Launcher:\n      template: {spec: {containers: [{name: l, image: i}]}}\n");
	for (int i = 0; i < 3000 && left; i++) {
		operator_run(&fixture, 1);
		if (!fixture.operator_->orphans.fetches)
			continue;
		assert_true(fixture.operator_->orphans.fetches->due_ms <=
			    fixture.operator_->now_ms + 32000);
		fixture.operator_->orphans.fetches->due_ms = 0;
	}
	operator_run(&fixture, 20);
	assert_int_equal(left, 0);
	assert_null(fixture.operator_->orphans.fetches);
	assert_non_null(
	    mpijob_facts_child(mpijob__operator_job_find(fixture.operator_, "later")->cache.facts,
		MPIJOB_ROLE_SERVICE));
	operator_tear_down(&fixture);
}

/* --- Events --- */

static int refuse_secrets(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	(void)fake;
	if (strcmp(method, "POST") != 0 || !strstr(path, "/secrets"))
		return 0;
	reply->status = 403;
	reply->body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
		      "\"reason\":\"Forbidden\",\"code\":403}";
	return 1;
}

static size_t events_of(const struct operator_fixture *fixture, const char *reason)
{
	size_t count = 0;

	for (const struct fake_object *object = fixture->fake.objects; object;
	     object = object->next)
		count += strcmp(object->collection, EVENTS) == 0 &&
			 strcmp(fake_string(object, "reason"), reason) == 0;
	return count;
}

/* The status is written when all is there, and its Event comes with it, once. */
static void a_status_comes_last(void **state)
{
	struct fake_object *job;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = refuse_secrets;
	job = put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 300);
	assert_string_equal(condition(job, "Created"), "absent");
	assert_int_equal(events_of(&fixture, "MPIJobCreated"), 0);
	fixture.fake.decide = NULL;
	for (int i = 0; i < 40000 && !is_true(job, "Created"); i++)
		operator_run(&fixture, 1);
	operator_run(&fixture, 100);
	expect_children(&fixture, 1, 1);
	assert_string_equal(condition(job, "Created"), "True");
	assert_int_equal(events_of(&fixture, "MPIJobCreated"), 1);
	operator_tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_launcher_that_no_watch_told_of),
		cmocka_unit_test(a_secret_that_somebody_took_away),
		cmocka_unit_test(looks_that_are_old_when_their_turn_comes),
		cmocka_unit_test(a_secret_that_a_job_has_left),
		cmocka_unit_test(an_object_that_cannot_be_fetched_for_long),
		cmocka_unit_test(a_status_comes_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
