/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random lives of jobs, seeded: suspend, resume, scale, fail, evict, delete. After every turn, what
 * holds for all plans is checked (PLAN_LIVES says for how many, PLAN_LIFE for which one): carrying
 * out any part of a plan and planning again leads to the same end; nothing is left to do then; a
 * finished job stays finished; the same inputs give the same bytes; facts that were kept are those
 * that a list gives. Other lives have features that are off by default.
 */
#include "../support/plan_cluster.h"

#include "plan/facts.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#define TURNS 14
#if defined(__SANITIZE_ADDRESS__)
#define LIVES 150
#else
#define LIVES 600
#endif

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 11) % below;
}

static const char *pick(const char *const *words, uint32_t count)
{
	return words[draw(count)];
}

static mpijob_doc *random_job(void)
{
	static const char *const policies[] = { "None", "Running", "All" };
	static const char *const creations[] = { "AtStartup", "WaitForWorkersReady" };
	mpijob_doc *job = mpijob_doc_new();

	NEED(job);
	fake_set(&job,
	    "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: pi, namespace: ns}, "
	    "spec: "
	    "{runLauncherAsWorker: %s, "
	    "launcherCreationPolicy: %s, runPolicy: {suspend: %s, cleanPodPolicy: %s, "
	    "backoffLimit: %d%s}, "
	    "mpiReplicaSpecs: "
	    "{Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}, Worker: "
	    "{replicas: %d, template: "
	    "{spec: "
	    "{containers: [{name: w, image: i}]}}}}}}",
	    draw(4) ? "false" : "true", pick(creations, 2), draw(4) ? "false" : "true",
	    pick(policies, 3), (int)draw(3), draw(4) ? "" : ", ttlSecondsAfterFinished: 30",
	    (int)draw(4) + 1);
	return job;
}

static void random_worker(char name[32])
{
	snprintf(name, 32, "pi-worker-%d", (int)draw(4));
}

static void happen_to_worker(struct fake *fake)
{
	static const char *const patches[] = {
		"{status: {phase: Failed, containerStatuses: [{state: {terminated: {exitCode: 137, "
		"reason: Error}}}]}}",
		"{status: {phase: Failed, reason: Evicted, message: low}}",
		"{status: {phase: Succeeded}}",
		"{status: {conditions: []}}",
	};
	char name[32];

	random_worker(name);
	fake_pod(fake, name, pick(patches, 4));
}

static void happen_to_launcher(struct fake *fake)
{
	switch (draw(4)) {
	case 0:
		fake_launcher_failed(fake,
		    "{phase: Failed, containerStatuses: [{state: {terminated: {exitCode: 7, "
		    "reason: Error}}}]}",
		    fake_int(fake->job, "spec.runPolicy.backoffLimit"));
		break;
	case 1: fake_launcher_succeeded(fake); break;
	default: fake_pod_runs(fake, draw(2) ? "pi-launcher-0" : "pi-launcher-1"); break;
	}
}

static void somebody_deletes(struct fake *fake)
{
	struct fake_object *object;

	if (!fake->count)
		return;
	object = &fake->objects[draw((uint32_t)fake->count)];
	/* Without its Job a launcher pod has no controller; Kubernetes deletes the pods with the
	 * Job. */
	fake_delete(fake, object);
}

static void ttl_passes(struct fake *fake)
{
	struct fake_object *job = fake_job(fake);

	if (job && fake_job_finished(job) &&
	    mpijob_node_find(mpijob_doc_root(job->doc), "spec.ttlSecondsAfterFinished")) {
		fake->now_ms += 40000;
		fake_delete(fake, job);
	}
}

static void change_job(struct fake *fake)
{
	char patch[128];

	if (fake->features.fail_invalid && draw(3) == 0) {
		snprintf(patch, sizeof(patch), "{spec: {slotsPerWorker: %d}}",
		    fake_int(fake->job, "spec.slotsPerWorker") < 0 ? 1 : -1);
	} else if (draw(3)) {
		snprintf(patch, sizeof(patch), "{spec: {runPolicy: {suspend: %s}}}",
		    fake_bool(fake->job, "spec.runPolicy.suspend") ? "false" : "true");
	} else {
		snprintf(patch, sizeof(patch),
		    "{spec: {mpiReplicaSpecs: {Worker: {replicas: %d}}}}", (int)draw(4) + 1);
	}
	fake_change_job(fake, patch);
}

static void happen(struct fake *fake)
{
	char name[32];

	switch (draw(12)) {
	case 0:
	case 1:
	case 2:
		random_worker(name);
		fake_pod_runs(fake, name);
		break;
	case 3:
		for (int i = 0; i < 4; i++) {
			snprintf(name, sizeof(name), "pi-worker-%d", i);
			fake_pod_runs(fake, name);
		}
		break;
	case 4: happen_to_worker(fake); break;
	case 5:
	case 6:
	case 7: happen_to_launcher(fake); break;
	case 8: somebody_deletes(fake); break;
	case 9: ttl_passes(fake); break;
	case 10: change_job(fake); break;
	default: fake->now_ms += draw(20000); break;
	}
}

static mpijob_text *bytes_of(const mpijob_plan *plan)
{
	mpijob_text *text = mpijob_text_new();
	char line[4096];

	for (size_t i = 0; i < mpijob_plan_count(plan); i++) {
		const struct mpijob_action *action = mpijob_plan_at(plan, i);
		mpijob_text *body;

		snprintf(line, sizeof(line), "%d %d %d %d %s %s %s %s %s\n", action->verb,
		    action->stage, action->role, action->index, action->kind, action->name,
		    action->uid ? action->uid : "-", action->why,
		    action->event_message ? action->event_message : "-");
		NEED(!mpijob_text_write(text, line, strlen(line)));
		if (action->verb == MPIJOB_ACTION_EVENT || action->verb == MPIJOB_ACTION_DELETE)
			continue;
		body = fake_body(plan, i);
		NEED(!mpijob_text_write(text, mpijob_text_data(body), mpijob_text_len(body)));
		mpijob_text_free(body);
	}
	snprintf(line, sizeof(line), "%lld %d\n", (long long)mpijob_plan_next_ms(plan),
	    mpijob_plan_transitions(plan));
	NEED(!mpijob_text_write(text, line, strlen(line)));
	return text;
}

/* Plan twice: from the facts as they were kept, and from a list of all that is there. */
static void check_same(struct fake *fake)
{
	mpijob_facts *listed = mpijob_facts_new();
	mpijob_plan *one, *other;
	mpijob_text *a, *b;

	NEED(listed);
	/* How a launcher ended that is gone is remembered, and no list has it. While a job is
	 * refused that is not yet told. */
	if (fake->facts->launcher.deleted) {
		mpijob_facts_free(listed);
		return;
	}
	for (size_t i = fake->count; i > 0; i--)
		fake_feed_event(fake, listed, fake->objects[i - 1].doc, "ADDED");
	one = fake_plan(fake, fake->facts);
	other = fake_plan(fake, listed);
	a = bytes_of(one);
	b = bytes_of(other);
	assert_string_equal(mpijob_text_data(a), mpijob_text_data(b));
	mpijob_text_free(a);
	mpijob_text_free(b);
	mpijob_plan_free(one);
	mpijob_plan_free(other);
	mpijob_facts_free(listed);
}

static void check_launchers(const struct fake *fake)
{
	int jobs = 0, live = 0;

	for (size_t i = 0; i < fake->count; i++) {
		const mpijob_doc *doc = fake->objects[i].doc;
		const char *phase = fake_text(doc, "status.phase"),
			   *name = fake_text(doc, "metadata.name");

		jobs += strcmp(fake_text(doc, "kind"), "Job") == 0;
		live += strncmp(name, "pi-launcher-", 12) == 0 && phase &&
			(strcmp(phase, "Pending") == 0 || strcmp(phase, "Running") == 0);
	}
	assert_true(jobs <= 1);
	assert_true(live <= 1);
}

/* A job that was spoiled after it began is refused with an Event each time. */
static size_t says_refused(const mpijob_plan *plan)
{
	const struct mpijob_action *action = mpijob_plan_at(plan, 0);

	return mpijob_plan_count(plan) == 1 && action->verb == MPIJOB_ACTION_EVENT &&
	       strcmp(action->event_reason, "ValidationError") == 0;
}

/* Plan and carry out until there is nothing to do. */
static void settle(struct fake *fake)
{
	for (int i = 0; i < 20; i++) {
		mpijob_plan *plan = fake_plan(fake, fake->facts);
		size_t count = mpijob_plan_count(plan) - says_refused(plan);
		int moved;

		fake_act_all(fake, plan);
		mpijob_plan_free(plan);
		moved = fake_reap(fake);
		moved |= fake_job_controller(fake);
		check_launchers(fake);
		if (!count && !moved)
			return;
	}
	fail_msg("no end of planning");
}

/* Carry out some of a plan: whole stages, then any actions of the next one. */
static void act_partly(struct fake *fake, const mpijob_plan *plan)
{
	int32_t stop = (int32_t)draw(6);

	for (size_t i = 0; i < mpijob_plan_count(plan); i++) {
		int32_t stage = mpijob_plan_at(plan, i)->stage;

		if (stage < stop || (stage == stop && draw(2)))
			if (fake_act(fake, plan, i))
				return;
	}
}

static int finished(const struct fake *fake, const char *type)
{
	const mpijob_node *list = mpijob_node_find(mpijob_doc_root(fake->job), "status.conditions");

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *condition = mpijob_node_at(list, i);

		if (strcmp(mpijob_node_string(mpijob_node_get(condition, "type")), type) == 0)
			return strcmp(mpijob_node_string(mpijob_node_get(condition, "status")),
				   "True") == 0;
	}
	return 0;
}

static void check_parts(struct fake *fake)
{
	struct fake whole, part;
	mpijob_plan *plan;
	char *a, *b;

	fake_copy(&whole, fake);
	fake_copy(&part, fake);
	settle(&whole);
	for (int i = 0; i < 2; i++) {
		plan = fake_plan(&part, part.facts);
		act_partly(&part, plan);
		mpijob_plan_free(plan);
		if (draw(2))
			fake_job_controller(&part);
	}
	settle(&part);
	a = fake_state(&whole);
	b = fake_state(&part);
	if (strcmp(a, b) != 0)
		fprintf(stderr, "whole:\n%s\nin parts:\n%s\n", a, b);
	assert_string_equal(a, b);
	free(a);
	free(b);
	fake_end(&whole);
	fake_end(&part);
}

static void ask_for_features(struct fake *fake)
{
	struct mpijob_features *features = &fake->features;

	features->clean_launcher = (int32_t)draw(2);
	features->replace_workers = (int32_t)draw(4);
	features->restart_gang = draw(2) ? (int32_t)draw(4) : 0;
	features->fail_invalid = (int32_t)draw(2);
	features->gang_safe_wait = (int32_t)draw(2);
	features->network_policy = (int32_t)draw(2);
	if (draw(2))
		fake->render.gang_scheduler = draw(2) ? "volcano" : "scheduler-plugins-scheduler";
	if (draw(4) == 0 && features->fail_invalid)
		fake_set(&fake->job, "{spec: {slotsPerWorker: -1}}");
}

/* A job that was refused before it started is the one that may leave its end. */
static int is_refused(const struct fake *fake)
{
	const mpijob_node *list = mpijob_node_find(mpijob_doc_root(fake->job), "status.conditions");
	int refused = 0;

	for (size_t i = 0; i < mpijob_node_count(list); i++)
		refused |=
		    strcmp(mpijob_node_string(mpijob_node_get(mpijob_node_at(list, i), "reason")),
			"ValidationError") == 0;
	return refused && !fake_text(fake->job, "status.startTime");
}

/* What the condition Restarting counts stays within what was asked for. */
static int32_t restarts(const struct fake *fake)
{
	const mpijob_node *list = mpijob_node_find(mpijob_doc_root(fake->job), "status.conditions");
	int count = 0, most = 0;

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *condition = mpijob_node_at(list, i);
		const char *bracket;

		if (strcmp(mpijob_node_string(mpijob_node_get(condition, "type")), "Restarting") !=
		    0)
			continue;
		bracket = strchr(mpijob_node_string(mpijob_node_get(condition, "message")), '(');
		NEED(bracket && sscanf(bracket, "(%d of at most %d)", &count, &most) == 2);
		assert_in_range(count, 1, most);
	}
	return count;
}

/* One more than the highest number of a worker: those below it that are lost come again. */
static int32_t reach(const struct fake *fake)
{
	int32_t most = 0;

	for (size_t i = 0; i < fake->count; i++) {
		const char *name = fake_text(fake->objects[i].doc, "metadata.name");

		if (strncmp(name, "pi-worker-", 10) == 0 && atoi(name + 10) >= most)
			most = atoi(name + 10) + 1;
	}
	return most;
}

/* The limit may be another one at each turn. No worker is made beyond it, and none goes for it. */
static void settle_within(struct fake *fake, int featured)
{
	int32_t before;

	/* What is replaced beyond a limit that came down depends on the order in which the others
	 * go. */
	if (featured && !fake->features.replace_workers && draw(4) == 0)
		fake->max_workers = draw(3) ? (int32_t)draw(4) + 1 : 0;
	before = reach(fake);
	check_parts(fake);
	settle(fake);
	if (fake->max_workers)
		assert_true(
		    reach(fake) <= (before > fake->max_workers ? before : fake->max_workers));
}

static void live(uint64_t number, int featured, int *ends)
{
	int succeeded = 0, failed = 0;
	int32_t counted = 0;
	struct fake fake;

	seed = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
	fake_begin(&fake, random_job());
	if (featured)
		ask_for_features(&fake);
	fake.graceful = (int)draw(2);
	for (int i = 0; i < TURNS; i++) {
		happen(&fake);
		check_same(&fake);
		settle_within(&fake, featured);
		assert_true(!succeeded || finished(&fake, "Succeeded"));
		assert_true(!failed || finished(&fake, "Failed"));
		succeeded = finished(&fake, "Succeeded");
		failed = finished(&fake, "Failed") && !is_refused(&fake);
		assert_true(restarts(&fake) >= counted);
		counted = restarts(&fake);
		assert_false(succeeded && failed);
		if (succeeded || failed) {
			assert_non_null(fake_text(fake.job, "status.completionTime"));
			assert_false(finished(&fake, "Running"));
		}
	}
	ends[0] += succeeded;
	ends[1] += failed;
	ends[2] += counted > 0;
	fake_end(&fake);
}

static void lead(int featured)
{
	const char *given = getenv("PLAN_LIVES");
	long lives = given ? atol(given) : LIVES;
	const char *only = getenv("PLAN_LIFE");
	int ends[3] = { 0, 0, 0 };

	for (long i = only ? atol(only) : 1; i <= (only ? atol(only) : lives); i++) {
		if (getenv("PLAN_VERBOSE"))
			fprintf(stderr, "life %ld%s\n", i, featured ? " with features" : "");
		live((uint64_t)i, featured, ends);
	}
	printf("%ld lives%s of %d turns: %d succeeded, %d failed, %d restarted\n", lives,
	    featured ? " with features" : "", TURNS, ends[0], ends[1], ends[2]);
	if (!only) {
		assert_true(ends[0] > 0);
		assert_true(ends[1] > 0);
		assert_int_equal(ends[2] > 0, featured);
	}
}

static void test_lives(void **state)
{
	(void)state;
	lead(0);
}

static void test_lives_with_features(void **state)
{
	(void)state;
	lead(1);
}

/* While N workers start one after the other without a pause, the ConfigMap is written log2(N) + 2
 * times at most. */
static void test_coalescing(void **state)
{
	(void)state;
	for (int n = 1; n <= 64; n *= 2) {
		struct fake fake;
		int most = 2;

		for (int i = n; i > 1; i /= 2)
			most++;
		seed = (uint64_t)n * 77 + 1;
		fake_begin(&fake, random_job());
		fake_set(&fake.job,
		    "{spec: {runPolicy: {suspend: false}, mpiReplicaSpecs: {Worker: {replicas: "
		    "%d}}}}",
		    n);
		settle(&fake);
		fake.config_map_writes = 0;
		for (int i = 0; i < n; i++) {
			char name[32];

			snprintf(name, sizeof(name), "pi-worker-%d", (i * 5 + 3) % n);
			fake.now_ms += 100;
			fake_pod_runs(&fake, name);
			settle(&fake);
		}
		if (fake.config_map_writes > most)
			fail_msg("%d workers: %ld writes, at most %d", n, fake.config_map_writes,
			    most);
		fake_end(&fake);
	}
}

/* A pause lets what has started be listed: at the time that the plan gave. */
static void test_pause(void **state)
{
	struct fake fake;
	mpijob_plan *plan;
	int64_t due;

	(void)state;
	seed = 5;
	fake_begin(&fake, random_job());
	fake_set(&fake.job,
	    "{spec: {runPolicy: {suspend: false}, mpiReplicaSpecs: {Worker: {replicas: 8}}}}");
	settle(&fake);
	for (int i = 0; i < 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "pi-worker-%d", i);
		fake_pod_runs(&fake, name);
		settle(&fake);
		fake.now_ms += 4000;
	}
	fake.now_ms -= 4000;
	fake.config_map_writes = 0;
	settle(&fake);
	assert_int_equal(fake.config_map_writes, 0);
	plan = fake_plan(&fake, fake.facts);
	assert_int_equal(mpijob_plan_count(plan), 0);
	due = mpijob_plan_next_ms(plan);
	mpijob_plan_free(plan);
	assert_int_equal(due, fake.now_ms + 8000);
	fake.now_ms = due - 1;
	settle(&fake);
	assert_int_equal(fake.config_map_writes, 0);
	fake.now_ms = due;
	settle(&fake);
	assert_int_equal(fake.config_map_writes, 1);
	plan = fake_plan(&fake, fake.facts);
	assert_int_equal(mpijob_plan_next_ms(plan), 0);
	mpijob_plan_free(plan);
	fake_end(&fake);
}

/* One that joins a job after hours is listed within half a minute. */
static void test_late_start(void **state)
{
	struct fake fake;
	mpijob_plan *plan;
	int64_t due;

	(void)state;
	seed = 5;
	fake_begin(&fake, random_job());
	fake_set(&fake.job,
	    "{spec: {runPolicy: {suspend: false}, mpiReplicaSpecs: {Worker: {replicas: 4}}}}");
	settle(&fake);
	fake_pod_runs(&fake, "pi-worker-0");
	fake_pod_runs(&fake, "pi-worker-1");
	settle(&fake);
	fake.now_ms += 7200000;
	fake_pod_runs(&fake, "pi-worker-2");
	fake.config_map_writes = 0;
	settle(&fake);
	assert_int_equal(fake.config_map_writes, 0);
	plan = fake_plan(&fake, fake.facts);
	due = mpijob_plan_next_ms(plan);
	mpijob_plan_free(plan);
	assert_int_equal(due, fake.now_ms + 30000);
	fake.now_ms = due;
	settle(&fake);
	assert_int_equal(fake.config_map_writes, 1);
	fake_end(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_lives_with_features),
		cmocka_unit_test(test_coalescing),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_late_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
