/* SPDX-License-Identifier: Apache-2.0 */
/* The operator against a small server that a test can break: what it makes, when it is silent, how
 * it recovers. */
#include "../support/operator_fixture.h"

/* The whole life of a job, with answers in pieces of every size. */
static void a_life(void **state)
{
	(void)state;
	for (size_t piece = 0; piece < 3; piece++) {
		struct operator_fixture fixture;
		struct fake_object *job, *launcher;
		size_t requests;

		operator_set_up(&fixture);
		fixture.fake.piece = piece * 61;
		assert_int_equal(mpijob_operator_synced(fixture.operator_), 0);
		operator_run(&fixture, 20);
		assert_int_equal(mpijob_operator_synced(fixture.operator_), 1);
		assert_int_equal(fake_writes(&fixture.fake), 0);
		job = put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: Running");
		operator_run(&fixture, 600);
		expect_children(&fixture, 1, 3);
		assert_string_equal(condition(job, "Created"), "True");
		/* Exactly one write each: Service, ConfigMap, Secret, launcher, three workers. */
		assert_int_equal(fake_count(&fixture.fake, "POST ") -
				     fake_count(&fixture.fake,
					 "POST /api/v1/namespaces/team/events"),
		    7);
		assert_int_equal(fake_count(&fixture.fake, "GET /api/v1/namespaces/team/secrets"),
		    0);
		assert_int_equal(fake_count(&fixture.fake, "GET /api/v1/secrets"), 0);

		run_pods(&fixture);
		launcher = fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher");
		fake_put(&fixture.fake, PODS, "team",
		    "apiVersion: v1\nkind: Pod\nmetadata:\n  name: pi-launcher-x\n  labels:\n"
		    "    training.kubeflow.org/operator-name: mpi-operator\n    "
		    "training.kubeflow.org/job-name: pi\n"
		    "    training.kubeflow.org/job-role: launcher\n  ownerReferences:\n"
		    "  - {apiVersion: batch/v1, kind: Job, name: pi-launcher, controller: true, "
		    "uid: nobody}\n"
		    "status: {phase: Running}\n");
		fake_patch(&fixture.fake, launcher,
		    "status: {active: 1, startTime: '2026-11-21T12:00:00Z'}");
		operator_run(&fixture, 600);
		assert_non_null(
		    strstr(fake_string(fake_find(&fixture.fake, CONFIG_MAPS, "team", "pi-config"),
			       "data[discover_hosts.sh]"),
			"pi-worker-2"));

		/* Nothing changes: nothing is asked and nothing written. */
		requests = fixture.fake.log_count;
		operator_run(&fixture, 100);
		assert_int_equal(fixture.fake.log_count, requests);

		fake_patch(&fixture.fake, launcher,
		    "status: {active: 0, succeeded: 1, completionTime: '2026-11-21T12:05:00Z', "
		    "conditions: [{type: Complete, status: 'True'}]}");
		operator_run(&fixture, 600);
		assert_string_equal(condition(job, "Succeeded"), "True");
		assert_null(fake_find(&fixture.fake, PODS, "team", "pi-worker-0"));
		assert_int_equal(fake_objects(&fixture.fake, PODS), 1);
		requests = fixture.fake.log_count;
		operator_run(&fixture, 100);
		assert_int_equal(fixture.fake.log_count, requests);

		fake_delete(&fixture.fake, job);
		operator_run(&fixture, 20);
		assert_int_equal(fixture.fake.log_count, requests);
		operator_tear_down(&fixture);
	}
}

static void writes_are_parallel_and_bounded(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	put_job(&fixture, "team", "wide", 200, "cleanPodPolicy: None");
	operator_run(&fixture, 600);
	expect_children(&fixture, 1, 200);
	assert_int_equal(fixture.fake.most_writes, 16);
	operator_tear_down(&fixture);
}

/* The answers to all creations of pods come in rounds; how many are under way in each is written
 * down. */
struct rounds {
	size_t under_way, sizes[64], count;
};

static int hold_pods(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	struct rounds *rounds = fake->user;

	if (strcmp(method, "POST") != 0 || !strstr(path, "/pods"))
		return 0;
	rounds->under_way++;
	reply->polls = 1000000;
	return 1;
}

/* Wait until no more are sent, then let all of them be answered. */
static void play_round(struct operator_fixture *fixture, struct rounds *rounds)
{
	operator_run(fixture, 50);
	rounds->sizes[rounds->count++] = rounds->under_way;
	rounds->under_way = 0;
	for (struct fake_exchange *exchange = fixture->fake.exchanges; exchange;
	     exchange = exchange->next)
		exchange->reply.polls = 0;
}

/* Creation begins with one, twice as many leave each time that all went well, and never more than
 * 16. */
static void creation_starts_slowly(void **state)
{
	static const size_t expected[] = { 1, 2, 4, 8, 16, 16, 16 };
	struct rounds rounds = { 0, { 0 }, 0 };
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = hold_pods;
	fixture.fake.user = &rounds;
	put_job(&fixture, "team", "wide", 100, "cleanPodPolicy: None");
	while (rounds.count < sizeof(expected) / sizeof(*expected))
		play_round(&fixture, &rounds);
	for (size_t i = 0; i < rounds.count; i++)
		assert_int_equal(rounds.sizes[i], expected[i]);
	operator_tear_down(&fixture);
}

/* The small job of another namespace is not behind the two hundred pods of the first. */
static void namespaces_are_treated_alike(void **state)
{
	struct operator_fixture fixture;
	int steps = 0;

	(void)state;
	operator_set_up(&fixture);
	operator_run(&fixture, 20);
	put_job(&fixture, "large", "wide", 1000, "cleanPodPolicy: None");
	while (fake_objects(&fixture.fake, PODS) <= 100 && steps++ < 10000)
		operator_run(&fixture, 1);
	assert_true(fake_objects(&fixture.fake, PODS) > 100);
	put_job(&fixture, "small", "one", 1, "cleanPodPolicy: None");
	while (!fake_find(&fixture.fake, LAUNCHERS, "small", "one-launcher") && steps++ < 10000)
		operator_run(&fixture, 1);
	assert_non_null(fake_find(&fixture.fake, LAUNCHERS, "small", "one-launcher"));
	assert_true(fake_objects(&fixture.fake, PODS) < 900);
	operator_tear_down(&fixture);
}

/* --- faults --- */

/* Every n-th write fails in one way; `user` says which. */
struct plan_of_faults {
	int every, count, kind;
};

static int spoil(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	struct plan_of_faults *plan = fake->user;

	if (strcmp(method, "GET") == 0 || strstr(path, "/events") || ++plan->count % plan->every)
		return 0;
	switch (plan->kind) {
	case 0: /* done, but the answer is lost */
		reply->apply = 1;
		reply->end_code = MPIJOB_ERR_IO;
		return 1;
	case 1: /* not done, and no answer */ reply->end_code = MPIJOB_ERR_TIMEOUT; return 1;
	case 2:
		reply->status = 500;
		reply->body = "oops";
		return 1;
	case 3:
		reply->status = 409;
		reply->body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
			      "\"reason\":\"Conflict\",\"code\":409}";
		return 1;
	case 4:
		reply->status = 429;
		reply->body = "{}";
		return 1;
	case 5:
		reply->status = 201;
		reply->body = "no json";
		reply->apply = 0;
		return 1;
	case 6: reply->refuse = MPIJOB_ERR_IO; return 1;
	default: reply->polls = 20; return 1;
	}
}

static void faults_change_nothing_in_the_end(void **state)
{
	(void)state;
	for (int kind = 0; kind <= 7; kind++)
		for (int every = 1; every <= 4; every++) {
			struct plan_of_faults plan = { every == 1 ? 2 : every, every == 1, kind };
			struct operator_fixture fixture;
			struct fake_object *job;

			operator_set_up(&fixture);
			fixture.fake.decide = spoil;
			fixture.fake.user = &plan;
			job = put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: All");
			for (int i = 0; i < 30000 &&
					!(has_children(&fixture, 1, 3) && is_true(job, "Created"));
			     i++)
				operator_run(&fixture, 1);
			expect_children(&fixture, 1, 3);
			assert_string_equal(condition(job, "Created"), "True");
			fake_patch(&fixture.fake,
			    fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher"),
			    "status: {succeeded: 1, startTime: '2026-11-21T12:00:00Z', "
			    "completionTime: '2026-11-21T12:05:00Z', "
			    "conditions: [{type: Complete, status: 'True'}]}");
			for (int i = 0; i < 30000 && !(fake_objects(&fixture.fake, PODS) == 0 &&
							 is_true(job, "Succeeded"));
			     i++)
				operator_run(&fixture, 1);
			assert_string_equal(condition(job, "Succeeded"), "True");
			assert_int_equal(fake_objects(&fixture.fake, PODS), 0);
			operator_tear_down(&fixture);
		}
}

/* A write that the server did, and whose answer was lost, is looked at, not sent again. */
static void a_lost_answer_is_no_second_write(void **state)
{
	struct plan_of_faults plan = { 2, 0, 0 };
	struct operator_fixture fixture;
	size_t writes;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = spoil;
	fixture.fake.user = &plan;
	put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: All");
	operator_run(&fixture, 900);
	expect_children(&fixture, 1, 3);
	writes = fake_count(&fixture.fake, "POST ") -
		 fake_count(&fixture.fake, "POST /api/v1/namespaces/team/events");
	assert_int_equal(writes, 7);
	operator_tear_down(&fixture);
}

static int too_many(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	(void)path;
	if (strcmp(method, "GET") == 0 || fake->user)
		return 0;
	fake->user = fake;
	reply->status = 429;
	reply->header = "Retry-After: 1";
	reply->body = "";
	return 1;
}

static void retry_after_is_obeyed(void **state)
{
	struct operator_fixture fixture;
	size_t writes = 0;
	int64_t from_ms;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = too_many;
	put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	while (!fixture.fake.user)
		operator_run(&fixture, 1);
	operator_run(&fixture, 2);
	writes = fake_writes(&fixture.fake);
	from_ms = fake_clock_ms();
	while (fake_writes(&fixture.fake) == writes && fake_clock_ms() - from_ms < 5000)
		operator_run(&fixture, 1);
	assert_in_range(fake_clock_ms() - from_ms, 900, 2000);
	operator_run(&fixture, 600);
	expect_children(&fixture, 1, 1);
	operator_tear_down(&fixture);
}

static void cut_watches(void **state)
{
	struct operator_fixture fixture;
	struct fake_object *job;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.cut_watches = 1;
	job = put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	run_pods(&fixture);
	operator_run(&fixture, 400);
	expect_children(&fixture, 1, 3);
	assert_string_equal(condition(job, "Created"), "True");
	assert_int_equal(fake_count(&fixture.fake, "POST ") -
			     fake_count(&fixture.fake, "POST /api/v1/namespaces/team/events"),
	    7);
	operator_tear_down(&fixture);
}

/* --- what it finds when it comes --- */

static void a_second_operator_finds_all_done(void **state)
{
	struct operator_fixture fixture;
	size_t writes;

	(void)state;
	operator_set_up(&fixture);
	put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	run_pods(&fixture);
	operator_run(&fixture, 400);
	expect_children(&fixture, 1, 3);
	mpijob_operator_free(fixture.operator_);
	writes = fake_writes(&fixture.fake);
	start_operator(&fixture);
	operator_run(&fixture, 400);
	assert_int_equal(fake_writes(&fixture.fake), writes);
	/* The Secret is not listed: it was asked for by name, once. */
	assert_int_equal(fake_count(&fixture.fake, "GET /api/v1/namespaces/team/secrets/pi-ssh"),
	    1);
	operator_tear_down(&fixture);
}

static void a_deleted_worker_comes_again(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	fake_delete(&fixture.fake, fake_find(&fixture.fake, PODS, "team", "pi-worker-1"));
	operator_run(&fixture, 200);
	assert_non_null(fake_find(&fixture.fake, PODS, "team", "pi-worker-1"));
	operator_tear_down(&fixture);
}

/* How long it takes until a worker that is deleted is there again. */
static int64_t delete_worker(struct operator_fixture *fixture)
{
	int64_t from_ms = fake_clock_ms();

	fake_delete(&fixture->fake, fake_find(&fixture->fake, PODS, "team", "pi-worker-1"));
	while (!fake_find(&fixture->fake, PODS, "team", "pi-worker-1") &&
	       fake_clock_ms() - from_ms < 60000)
		operator_run(fixture, 1);
	assert_non_null(fake_find(&fixture->fake, PODS, "team", "pi-worker-1"));
	return fake_clock_ms() - from_ms;
}

static void who_deletes_again_and_again_waits_longer(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	for (int i = 0; i < 6; i++)
		assert_in_range(delete_worker(&fixture), 0, 100);
	for (int64_t least = 200; least < 4000; least *= 2)
		assert_in_range(delete_worker(&fixture), least, least + 100);
	operator_tear_down(&fixture);
}

/* A server that takes a patch and does not apply it, as a webhook may make it. */
static int ignore_patches(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	if (strcmp(method, "PATCH") != 0 || !strstr(path, "/configmaps/"))
		return 0;
	reply->status = 200;
	reply->body = fake->user;
	return 1;
}

static void a_job_that_never_settles_is_planned_less_often(void **state)
{
	static const char patches[] = "PATCH /api/v1/namespaces/team/configmaps/pi-config";
	struct fake_object *map;
	int64_t from_ms;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	map = fake_find(&fixture.fake, CONFIG_MAPS, "team", "pi-config");
	fake_patch(&fixture.fake, map, "data: {hostfile: mine}");
	fixture.fake.user = fake_json(mpijob_doc_root(map->doc));
	fixture.fake.decide = ignore_patches;
	from_ms = fake_clock_ms();
	while (fake_clock_ms() - from_ms < 3000 && fake_count(&fixture.fake, patches) <= 30)
		operator_run(&fixture, 1);
	assert_in_range(fake_count(&fixture.fake, patches), 12, 30);
	assert_string_equal(fixture.last_id, "does-not-settle");
	free(fixture.fake.user);
	operator_tear_down(&fixture);
}

/* An Event of a reason; NULL when there is none. */
static struct fake_object *find_event(const struct operator_fixture *fixture, const char *reason)
{
	for (struct fake_object *object = fixture->fake.objects; object; object = object->next)
		if (strcmp(object->collection, EVENTS) == 0 &&
		    strcmp(fake_string(object, "reason"), reason) == 0)
			return object;
	return NULL;
}

static void somebody_elses_service(void **state)
{
	struct operator_fixture fixture;
	struct fake_object *event;

	(void)state;
	operator_set_up(&fixture);
	fake_put(&fixture.fake, SERVICES, "team",
	    "apiVersion: v1\nkind: Service\nmetadata: {name: pi}\n");
	put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	event = find_event(&fixture, "ErrResourceExists");
	assert_non_null(event);
	assert_string_equal(fake_string(event, "involvedObject.name"), "pi");
	assert_string_equal(fake_string(event, "type"), "Warning");
	assert_int_equal(fake_objects(&fixture.fake, LAUNCHERS), 0);
	/* When it goes, the job is resumed. */
	fake_delete(&fixture.fake, fake_find(&fixture.fake, SERVICES, "team", "pi"));
	operator_run(&fixture, 400);
	expect_children(&fixture, 1, 1);
	operator_tear_down(&fixture);
}

static void hostile_objects_are_set_aside(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	fake_put(&fixture.fake, JOBS, "team",
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: odd}\nspec: 7\n");
	fake_put(&fixture.fake, JOBS, "team",
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: empty}\n");
	fake_put(&fixture.fake, PODS, "team",
	    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: "
	    "{training.kubeflow.org/operator-name: mpi-operator}, "
	    "ownerReferences: [1, {controller: true}]}\nspec: []\nstatus: [1]\n");
	fake_put(&fixture.fake, CONFIG_MAPS, "team",
	    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {hostfile: 7}\n");
	put_job(&fixture, "team", "good", 2, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	assert_non_null(fake_find(&fixture.fake, LAUNCHERS, "team", "good-launcher"));
	assert_null(fake_find(&fixture.fake, LAUNCHERS, "team", "odd-launcher"));
	operator_tear_down(&fixture);
}

/* Ownership does not reach across namespaces. */
static void a_claim_from_another_namespace(void **state)
{
	struct operator_fixture fixture;
	struct fake_object *job;
	char *yaml;

	(void)state;
	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	yaml = fake_text(
	    "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: pi-launcher\n  ownerReferences:\n"
	    "  - {apiVersion: kubeflow.org/v2beta1, kind: MPIJob, name: pi, controller: true, uid: "
	    "%s}\n"
	    "status: {conditions: [{type: Failed, status: 'True'}]}\n",
	    fake_string(job, "metadata.uid"));
	fake_put(&fixture.fake, LAUNCHERS, "evil", yaml);
	free(yaml);
	operator_run(&fixture, 400);
	assert_string_equal(condition(job, "Failed"), "absent");
	assert_non_null(fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher"));
	operator_tear_down(&fixture);
}

static void suspend_and_resume(void **state)
{
	struct operator_fixture fixture;
	struct fake_object *job;

	(void)state;
	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 2, "suspend: true");
	operator_run(&fixture, 400);
	assert_int_equal(fake_objects(&fixture.fake, PODS), 0);
	assert_string_equal(condition(job, "Suspended"), "True");
	fake_patch(&fixture.fake, job, "spec: {runPolicy: {suspend: false}}");
	operator_run(&fixture, 400);
	expect_children(&fixture, 1, 2);
	assert_string_equal(condition(job, "Suspended"), "False");
	fake_patch(&fixture.fake, job, "spec: {runPolicy: {suspend: true}}");
	operator_run(&fixture, 400);
	assert_int_equal(fake_objects(&fixture.fake, PODS), 0);
	assert_string_equal(condition(job, "Suspended"), "True");
	operator_tear_down(&fixture);
}

/* As if the job had been written to a minute earlier. */
static void age(struct operator_fixture *fixture)
{
	entry_of(fixture)->fresh.job_ms -= 60000;
}

/* News may be old: before the first of many workers is deleted the job is looked at, and before the
 * others it is not. */
static void a_job_is_looked_at_once(void **state)
{
	static const char look[] = "GET /apis/kubeflow.org/v2beta1/namespaces/team/mpijobs/pi";
	struct operator_fixture fixture;
	struct fake_object *job;

	(void)state;
	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 40, "cleanPodPolicy: All");
	operator_run(&fixture, 600);
	expect_children(&fixture, 1, 40);
	age(&fixture);
	fake_patch(&fixture.fake, job, "spec: {mpiReplicaSpecs: {Worker: {replicas: 20}}}");
	operator_run(&fixture, 600);
	expect_children(&fixture, 1, 20);
	assert_int_equal(fake_count(&fixture.fake, look), 1);
	age(&fixture);
	fake_patch(&fixture.fake, job, "spec: {runPolicy: {suspend: true}}");
	operator_run(&fixture, 600);
	assert_int_equal(fake_objects(&fixture.fake, PODS), 0);
	assert_int_equal(fake_count(&fixture.fake, look), 2);
	/* What we deleted ourselves, just after it was made, nobody took away. */
	assert_int_equal(entry_of(&fixture)->backoff.losses, 0);
	operator_tear_down(&fixture);
}

/* A read for an earlier plan does not count after 10 s, or when another operator led meanwhile. */
static void an_old_read_is_repeated(void **state)
{
	static const char read[] = "GET /apis/kubeflow.org/v2beta1/namespaces/team/mpijobs/pi";
	struct mpijob__operator_freshness *fresh;
	struct operator_fixture fixture;
	struct fake_object *job;

	(void)state;
	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 4, "cleanPodPolicy: All");
	operator_run(&fixture, 300);
	expect_children(&fixture, 1, 4);
	fresh = &entry_of(&fixture)->fresh;
	fresh->job_ms = fresh->verified_ms = fixture.operator_->now_ms;
	fresh->verified = MPIJOB__OPERATOR_ROLE_BIT(0);
	mpijob_operator_act(fixture.operator_, MPIJOB_OPERATOR_WATCHES);
	mpijob_operator_act(fixture.operator_, MPIJOB_OPERATOR_ACTS);
	fake_patch(&fixture.fake, job, "spec: {mpiReplicaSpecs: {Worker: {replicas: 3}}}");
	operator_run(&fixture, 300);
	expect_children(&fixture, 1, 3);
	assert_int_equal(fake_count(&fixture.fake, read), 1);

	fake_patch(&fixture.fake, job, "spec: {runPolicy: {suspend: true}}");
	while (fake_count(&fixture.fake, "DELETE ") == 1 && fake_count(&fixture.fake, read) == 1) {
		fresh->job_ms = fresh->verified_ms = fixture.operator_->now_ms - 60000;
		fresh->verified = MPIJOB__OPERATOR_ROLE_BIT(0);
		operator_run(&fixture, 1);
	}
	operator_run(&fixture, 300);
	assert_int_equal(fake_objects(&fixture.fake, PODS), 0);
	assert_int_equal(fake_count(&fixture.fake, read), 2);
	operator_tear_down(&fixture);
}

/* Why a pod was deleted: the log, a metric, and for a scale-down an Event. */
static void a_scale_down_gives_its_reason(void **state)
{
	(void)state;
	for (int32_t reference = 0; reference <= 1; reference++) {
		struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;
		struct operator_fixture fixture;
		struct fake_object *job;
		struct fake_object *event;

		set_up_server(&fixture);
		render.reference = reference;
		fixture.options.render = &render;
		fixture.options.log_actions = 1;
		start_operator(&fixture);
		job = put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: All");
		operator_run(&fixture, 300);
		expect_children(&fixture, 1, 3);
		free(fixture.last_action);
		fixture.last_action = NULL;
		fake_patch(&fixture.fake, job, "spec: {mpiReplicaSpecs: {Worker: {replicas: 2}}}");
		while (!fixture.last_action || !strstr(fixture.last_action, "delete Pod"))
			operator_run(&fixture, 1);
		assert_string_equal(fixture.last_action,
		    "delete Pod team/pi-worker-2 for MPIJob pi: the job has fewer workers now");
		operator_run(&fixture, 300);
		expect_children(&fixture, 1, 2);
		assert_int_equal(fixture.operator_->metrics
				     .actions[MPIJOB_ACTION_DELETE]
					     [mpijob__operator_metrics_kind("Pod")],
		    1);
		event = find_event(&fixture, "SuccessfulDelete");
		assert_int_equal(event != NULL, !reference);
		if (event)
			assert_string_equal(fake_string(event, "message"),
			    "Pod pi-worker-2 is deleted: the job has fewer workers now");
		operator_tear_down(&fixture);
	}
}

static int count_events(struct operator_fixture *fixture, const char *reason)
{
	int count = 0;

	for (struct fake_object *object = fixture->fake.objects; object; object = object->next)
		count += strstr(object->collection, "/events") &&
			 strcmp(fake_string(object, "reason"), reason) == 0;
	return count;
}

static int lose_a_deletion(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	int *count = fake->user;

	if (strcmp(method, "DELETE") != 0 || !strstr(path, "/pods/") || ++*count > 1)
		return 0;
	reply->apply = 1;
	reply->end_code = MPIJOB_ERR_IO;
	return 1;
}

/* The Event of a scale-down depends neither on the answer nor on the role Worker. */
static void each_scale_down_has_an_event(void **state)
{
	static const char *const changes[] = {
		"spec: {mpiReplicaSpecs: {Worker: {replicas: 1}}}",
		"spec: {mpiReplicaSpecs: {Worker: null}}",
	};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct operator_fixture fixture;
		int deletions = 0, expected = i & 1 ? 2 : 1;
		struct fake_object *job;

		operator_set_up(&fixture);
		job = put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
		operator_run(&fixture, 300);
		expect_children(&fixture, 1, 2);
		fixture.fake.user = &deletions;
		fixture.fake.decide = i & 2 ? lose_a_deletion : NULL;
		fake_patch(&fixture.fake, job, changes[i & 1]);
		operator_run(&fixture, 300);
		assert_int_equal(fake_objects(&fixture.fake, PODS), 2 - expected);
		assert_int_equal(count_events(&fixture, "SuccessfulDelete"), expected);
		operator_tear_down(&fixture);
	}
}

/* The Job controller gives up because of the deadline. */
static void a_deadline_passes(void **state)
{
	char start[32];
	struct operator_fixture fixture;
	struct fake_object *job;
	time_t now = fake_clock_wall_s();
	struct tm utc;
	char *patch;

	(void)state;
	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 1,
	    "cleanPodPolicy: All, ttlSecondsAfterFinished: 0, activeDeadlineSeconds: 1");
	for (int i = 0; i < 3000 && !has_children(&fixture, 1, 1); i++)
		operator_run(&fixture, 1);
	expect_children(&fixture, 1, 1);
	gmtime_r(&now, &utc);
	strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%SZ", &utc);
	patch = fake_text("status: {active: 0, failed: 1, startTime: '%s', conditions: [{type: "
			  "Failed, status: 'True', "
			  "reason: DeadlineExceeded, message: m}]}",
	    start);
	fake_patch(&fixture.fake, fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher"),
	    patch);
	free(patch);
	for (int i = 0;
	     i < 30000 && !(is_true(job, "Failed") && fake_objects(&fixture.fake, PODS) == 0); i++)
		operator_run(&fixture, 1);
	assert_true(is_true(job, "Failed"));
	assert_int_equal(fake_objects(&fixture.fake, PODS), 0);
	operator_tear_down(&fixture);
}

/* A watch that expires; meanwhile things went and came. */
static int expire(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	(void)method;
	if (!fake->user || !strstr(path, "watch=1"))
		return 0;
	reply->status = 410;
	reply->body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
		      "\"reason\":\"Expired\",\"code\":410}";
	return 1;
}

static void lists_find_what_vanished(void **state)
{
	struct operator_fixture fixture;
	struct fake_object *job;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = expire;
	put_job(&fixture, "team", "gone", 1, "cleanPodPolicy: All");
	job = put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	expect_children(&fixture, 2, 4);
	/* All watches end, and none may go on from where it stood. */
	fixture.fake.cut_watches = 1;
	fixture.fake.user = job;
	run_pods(&fixture);
	fake_patch(&fixture.fake, job, "metadata: {labels: {a: b}}");
	fake_patch(&fixture.fake, fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher"),
	    "metadata: {labels: {a: b}}");
	operator_run(&fixture, 20);
	fake_delete(&fixture.fake, fake_find(&fixture.fake, JOBS, "team", "gone"));
	fake_delete(&fixture.fake, fake_find(&fixture.fake, PODS, "team", "pi-worker-1"));
	fixture.fake.user = NULL;
	fixture.fake.cut_watches = 0;
	for (int i = 0; i < 30000 && !fake_find(&fixture.fake, PODS, "team", "pi-worker-1"); i++)
		operator_run(&fixture, 1);
	assert_non_null(fake_find(&fixture.fake, PODS, "team", "pi-worker-1"));
	operator_tear_down(&fixture);
}

static uint64_t count_plans(const struct operator_fixture *fixture)
{
	uint64_t plans = 0;

	for (size_t i = 0; i <= MPIJOB__OPERATOR_METRICS_BOUNDS; i++)
		plans += fixture->operator_->metrics.planned.buckets[i];
	return plans;
}

/* News of a status, of pods and of children lead to plans, but only a changed job is validated
 * again. */
static void an_unchanged_job_is_validated_once(void **state)
{
	struct operator_fixture fixture;
	struct fake_object *job;

	(void)state;
	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	run_pods(&fixture);
	operator_run(&fixture, 400);
	expect_children(&fixture, 1, 3);
	assert_in_range(count_plans(&fixture), 3, 100);
	assert_int_equal(fixture.operator_->cache.validations, 1);
	fake_patch(&fixture.fake, job, "metadata: {labels: {a: b}}");
	operator_run(&fixture, 400);
	assert_int_equal(fixture.operator_->cache.validations, 2);
	fake_patch(&fixture.fake, job,
	    "spec: {mpiReplicaSpecs: {Worker: {template: {spec: {containers: 5}}}}}");
	operator_run(&fixture, 400);
	assert_int_equal(fixture.operator_->cache.validations, 3);
	assert_int_equal(entry_of(&fixture)->cache.state, MPIJOB__OPERATOR_JOB_REFUSED);
	/* Another configuration may make another job of it. */
	assert_int_equal(mpijob_operator_configure(fixture.operator_, NULL), 0);
	operator_run(&fixture, 400);
	assert_int_equal(fixture.operator_->cache.validations, 4);
	operator_tear_down(&fixture);
}

/* Give a job an annotation of so many bytes. */
static void enlarge(struct operator_fixture *fixture, struct fake_object *job, const char *key,
    size_t len)
{
	char *text = malloc(len + 1);

	memset(text, 'x', len);
	text[len] = 0;
	mpijob_node_put_string(job->doc, mpijob_doc_make(job->doc, "metadata.annotations"), key,
	    text);
	free(text);
	fake_stamp(&fixture->fake, job, "MODIFIED");
}

static void count_unread(void *user, const struct mpijob__operator_job *entry)
{
	*(size_t *)user += entry->cache.raw && !entry->cache.mpijob;
}

/* A burst of large jobs is kept, not read, while it arrives. */
static void a_burst_is_read_in_turns(void **state)
{
	struct operator_fixture fixture;
	size_t unread = 0;

	(void)state;
	operator_set_up(&fixture);
	operator_run(&fixture, 20);
	for (int i = 0; i < 10; i++) {
		char *name = fake_text("large-%d", i);

		enlarge(&fixture, put_job(&fixture, "team", name, 1, "cleanPodPolicy: All"), "a",
		    100000);
		free(name);
	}
	for (int i = 0; i < 20 && !unread; i++) {
		operator_run(&fixture, 1);
		mpijob__operator_jobs_visit(fixture.operator_, count_unread, &unread);
	}
	assert_int_equal(unread, 10);
	operator_run(&fixture, 1000);
	mpijob__operator_jobs_visit(fixture.operator_, count_unread, &unread);
	assert_int_equal(unread, 10);
	expect_children(&fixture, 10, 10);
	operator_tear_down(&fixture);
}

/* What reading a large job will take counts when it comes: a small one that came behind it is begun
 * before it. */
static void a_large_job_lets_others_go_first(void **state)
{
	struct operator_fixture fixture;
	size_t first = 0;

	(void)state;
	operator_set_up(&fixture);
	operator_run(&fixture, 20);
	enlarge(&fixture, put_job(&fixture, "team", "large", 1, "cleanPodPolicy: All"), "a",
	    100000);
	put_job(&fixture, "other", "small", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 1000);
	expect_children(&fixture, 2, 2);
	while (strncmp(fixture.fake.log[first], "POST ", 5) != 0)
		first++;
	assert_non_null(strstr(fixture.fake.log[first], "/namespaces/other/"));
	operator_tear_down(&fixture);
}

/* A job of 2 MiB is read, and one that is larger is not. */
static void a_job_has_two_mebibytes(void **state)
{
	struct operator_fixture fixture;
	struct fake_object *fits, *exceeds;

	(void)state;
	operator_set_up(&fixture);
	fits = put_job(&fixture, "team", "fits", 1, "cleanPodPolicy: All");
	enlarge(&fixture, fits, "a", (2 << 20) - 10000);
	exceeds = put_job(&fixture, "team", "exceeds", 1, "cleanPodPolicy: All");
	enlarge(&fixture, exceeds, "a", 2 << 20);
	operator_run(&fixture, 300);
	assert_non_null(fake_find(&fixture.fake, LAUNCHERS, "team", "fits-launcher"));
	assert_null(fake_find(&fixture.fake, LAUNCHERS, "team", "exceeds-launcher"));
	assert_int_equal(
	    fixture.operator_->metrics.skipped[mpijob__operator_metrics_kind("MPIJob")], 1);
	/* Also when it was read before. */
	fake_patch(&fixture.fake, exceeds, "metadata: {annotations: {a: short}}");
	operator_run(&fixture, 300);
	assert_non_null(fake_find(&fixture.fake, LAUNCHERS, "team", "exceeds-launcher"));
	enlarge(&fixture, fits, "b", 10000);
	operator_run(&fixture, 300);
	assert_int_equal(
	    fixture.operator_->metrics.skipped[mpijob__operator_metrics_kind("MPIJob")], 2);
	operator_tear_down(&fixture);
}

/* A standby that knows all jobs: one begins to act with all of them in line. */
static void set_up_standby(struct operator_fixture *fixture)
{
	set_up_server(fixture);
	fixture->options.standby = 1;
	start_operator(fixture);
	operator_run(fixture, 100);
	assert_int_equal(mpijob_operator_synced(fixture->operator_), 1);
}

static void validation_that_takes_long_is_a_turn_of_its_own(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	set_up_standby(&fixture);
	put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 100);
	mpijob_operator_act(fixture.operator_, 1);
	fake_clock_cpu_step_us = 30000;
	while (fixture.operator_->cache.validations == 0)
		operator_run(&fixture, 1);
	assert_int_equal(count_plans(&fixture), 0);
	operator_run(&fixture, 1);
	assert_int_equal(count_plans(&fixture), 1);
	fake_clock_cpu_step_us = 0;
	operator_tear_down(&fixture);
}

static void a_step_ends_after_20_ms(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	set_up_standby(&fixture);
	for (int i = 0; i < 8; i++) {
		char *name = fake_text("pi-%d", i);

		put_job(&fixture, name, "pi", 1, "cleanPodPolicy: All");
		free(name);
	}
	operator_run(&fixture, 100);
	mpijob_operator_act(fixture.operator_, 1);
	fake_clock_cpu_step_us = 30000;
	for (uint64_t i = 1; i <= 4; i++) {
		operator_run(&fixture, 1);
		assert_int_equal(fixture.operator_->cache.validations, i);
	}
	/* Without load all that is left is one step. */
	fake_clock_cpu_step_us = 0;
	operator_run(&fixture, 1);
	assert_int_equal(fixture.operator_->cache.validations, 8);
	operator_tear_down(&fixture);
}

/* The namespace whose four Services are made before the second of the other one; NULL when they
 * take turns. */
static const char *goes_first(const struct operator_fixture *fixture)
{
	size_t costly = 0, cheap = 0;

	for (size_t i = 0; i < fixture->fake.log_count && costly < 4 && cheap < 4; i++) {
		costly +=
		    strcmp(fixture->fake.log[i], "POST /api/v1/namespaces/costly/services") == 0;
		cheap +=
		    strcmp(fixture->fake.log[i], "POST /api/v1/namespaces/cheap/services") == 0;
	}
	assert_int_equal(costly == 4 || cheap == 4, 1);
	return costly < 2 ? "cheap" : cheap < 2 ? "costly" : NULL;
}

static void put_jobs(struct operator_fixture *fixture, const char *namespace_, int count)
{
	for (int i = 0; i < count; i++) {
		char *name = fake_text("pi-%d", i);

		put_job(fixture, namespace_, name, 1, "cleanPodPolicy: All");
		free(name);
	}
}

static void a_namespace_has_no_more_turns_for_more_jobs(void **state)
{
	size_t large = 0, small = 0;
	struct operator_fixture fixture;

	(void)state;
	set_up_standby(&fixture);
	put_jobs(&fixture, "large", 100);
	operator_run(&fixture, 300);
	put_jobs(&fixture, "small", 2);
	operator_run(&fixture, 50);
	mpijob_operator_act(fixture.operator_, 1);
	operator_run(&fixture, 400);
	for (size_t i = 0; i < fixture.fake.log_count && small < 2; i++) {
		large += strcmp(fixture.fake.log[i], "POST /api/v1/namespaces/large/services") == 0;
		small += strcmp(fixture.fake.log[i], "POST /api/v1/namespaces/small/services") == 0;
	}
	assert_int_equal(small, 2);
	assert_true(large <= 4);
	operator_tear_down(&fixture);
}

/* Reading, and a turn, are charged to the namespace whose job it is. */
static void who_takes_time_lets_others_go_first(void **state)
{
	(void)state;
	for (int reading = 0; reading < 2; reading++) {
		struct operator_fixture fixture;

		set_up_standby(&fixture);
		fake_clock_cpu_step_us = reading ? 500000 : 0;
		put_jobs(&fixture, "costly", 4);
		operator_run(&fixture, 3);
		fake_clock_cpu_step_us = 0;
		put_jobs(&fixture, "cheap", 4);
		operator_run(&fixture, 3);
		mpijob_operator_act(fixture.operator_, 1);
		if (!reading) {
			fake_clock_cpu_step_us = 500000;
			operator_run(&fixture, 1);
			fake_clock_cpu_step_us = 0;
		}
		operator_run(&fixture, 40000);
		/* Which of the two had the turn for that step is not said. */
		assert_non_null(goes_first(&fixture));
		if (reading)
			assert_string_equal(goes_first(&fixture), "cheap");
		operator_tear_down(&fixture);
	}
}

/* Pods of a launcher that are seen before the Job that owns them. */
static void orphans_are_fetched(void **state)
{
	struct operator_fixture fixture;
	struct fake_object *job;
	char *yaml;

	(void)state;
	operator_set_up(&fixture);
	operator_run(&fixture, 20);
	/* A child whose MPIJob comes later. */
	fake_put(&fixture.fake, SERVICES, "team",
	    "apiVersion: v1\nkind: Service\nmetadata:\n  name: pi\n  ownerReferences:\n"
	    "  - {apiVersion: kubeflow.org/v2beta1, kind: MPIJob, name: pi, controller: true, uid: "
	    "later}\n");
	operator_run(&fixture, 20);
	yaml = strdup("apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: pi, uid: "
		      "later}\nspec:\n"
		      "  mpiReplicaSpecs:\n"
		      "    Launcher:\n      template: {spec: {containers: [{name: l, image: i}]}}\n"
		      "    Worker:\n      replicas: 1\n      template: {spec: {containers: [{name: "
		      "w, image: i}]}}\n");
	job = fake_put(&fixture.fake, JOBS, "team", yaml);
	free(yaml);
	operator_run(&fixture, 400);
	/* Once for its owner, and once more if the job wanted to make it in the meantime. */
	assert_in_range(fake_count(&fixture.fake, "GET /api/v1/namespaces/team/services/pi"), 1, 2);
	expect_children(&fixture, 1, 1);
	assert_string_equal(condition(job, "Created"), "True");
	operator_tear_down(&fixture);
}

/* With the feature, NetworkPolicies are watched as all other children are. */
static void network_policies(void **state)
{
	static const char policies[] = "/apis/networking.k8s.io/v1/networkpolicies";
	struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;
	struct mpijob_features features = MPIJOB_FEATURES_INIT;
	struct operator_fixture fixture;
	size_t requests;

	(void)state;
	set_up_server(&fixture);
	features.network_policy = 1;
	render.features = &features;
	fixture.options.render = &render;
	start_operator(&fixture);
	put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	expect_children(&fixture, 1, 1);
	assert_int_equal(fake_objects(&fixture.fake, policies), 1);
	fake_delete(&fixture.fake, fake_find(&fixture.fake, policies, "team", "pi"));
	operator_run(&fixture, 400);
	assert_int_equal(fake_objects(&fixture.fake, policies), 1);
	/* Who comes later finds it. */
	mpijob_operator_free(fixture.operator_);
	requests = fake_writes(&fixture.fake);
	start_operator(&fixture);
	operator_run(&fixture, 400);
	assert_int_equal(fake_writes(&fixture.fake), requests);
	operator_tear_down(&fixture);
}

static void options(void **state)
{
	struct mpijob_operator_options given = MPIJOB_OPERATOR_OPTIONS_INIT;
	struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob_operator *operator_ = NULL;
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	given.max_writes = -1;
	assert_int_equal(mpijob_operator_new(client, &given, &operator_, NULL), MPIJOB_ERR_USAGE);
	given.max_writes = 1;
	render.size = 2;
	given.render = &render;
	assert_int_equal(mpijob_operator_new(client, &given, &operator_, NULL), MPIJOB_ERR_USAGE);
	assert_null(operator_);
	render.size = sizeof(render);
	render.gang_scheduler = "volcano";
	given.namespace_ = "team";
	assert_int_equal(mpijob_operator_new(client, &given, &operator_, NULL), 0);
	assert_int_equal(fake.log_count, 0);
	fake_put(&fake, "/apis/scheduling.k8s.io/v1/priorityclasses", NULL,
	    "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: "
	    "9\n");
	for (int i = 0; i < 30; i++)
		assert_int_equal(mpijob_operator_step(operator_, 0), 0);
	assert_int_equal(mpijob_operator_synced(operator_), 1);
	assert_int_equal(fake_count(&fake, "GET /api/v1/namespaces/team/pods?"), 2);
	assert_int_equal(fake_count(&fake, "GET /apis/scheduling.k8s.io/v1/priorityclasses?"), 2);
	assert_int_equal(fake_count(&fake,
			     "GET /apis/scheduling.volcano.sh/v1beta1/namespaces/team/podgroups?"),
	    2);
	mpijob_operator_free(operator_);
	mpijob_operator_free(NULL);
	mpijob_client_free(client);
	fake_release(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_life),
		cmocka_unit_test(writes_are_parallel_and_bounded),
		cmocka_unit_test(creation_starts_slowly),
		cmocka_unit_test(namespaces_are_treated_alike),
		cmocka_unit_test(faults_change_nothing_in_the_end),
		cmocka_unit_test(a_lost_answer_is_no_second_write),
		cmocka_unit_test(retry_after_is_obeyed),
		cmocka_unit_test(cut_watches),
		cmocka_unit_test(a_second_operator_finds_all_done),
		cmocka_unit_test(a_deleted_worker_comes_again),
		cmocka_unit_test(who_deletes_again_and_again_waits_longer),
		cmocka_unit_test(a_job_that_never_settles_is_planned_less_often),
		cmocka_unit_test(somebody_elses_service),
		cmocka_unit_test(hostile_objects_are_set_aside),
		cmocka_unit_test(a_claim_from_another_namespace),
		cmocka_unit_test(suspend_and_resume),
		cmocka_unit_test(a_job_is_looked_at_once),
		cmocka_unit_test(an_old_read_is_repeated),
		cmocka_unit_test(a_scale_down_gives_its_reason),
		cmocka_unit_test(each_scale_down_has_an_event),
		cmocka_unit_test(a_deadline_passes),
		cmocka_unit_test(lists_find_what_vanished),
		cmocka_unit_test(orphans_are_fetched),
		cmocka_unit_test(an_unchanged_job_is_validated_once),
		cmocka_unit_test(a_burst_is_read_in_turns),
		cmocka_unit_test(a_large_job_lets_others_go_first),
		cmocka_unit_test(a_job_has_two_mebibytes),
		cmocka_unit_test(validation_that_takes_long_is_a_turn_of_its_own),
		cmocka_unit_test(a_step_ends_after_20_ms),
		cmocka_unit_test(a_namespace_has_no_more_turns_for_more_jobs),
		cmocka_unit_test(who_takes_time_lets_others_go_first),
		cmocka_unit_test(network_policies),
		cmocka_unit_test(options),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	streams = 1;
	return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
