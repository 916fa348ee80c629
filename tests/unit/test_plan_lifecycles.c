/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random lifecycles of jobs, seeded: suspend, resume, scale, fail, evict, delete. After every turn,
 * what holds for all plans is checked (PLAN_LIVES says for how many, PLAN_LIFE for which one):
 * carrying out any part of a plan and planning again leads to the same end; nothing is left to do
 * then; a finished job stays finished; the same inputs give the same bytes; facts that were kept
 * are those that a list gives. Other lifecycles have features that are off by default.
 */
#include "../support/plan_cluster.h"

#include "plan/facts.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#define TURNS 14
#if defined(__SANITIZE_ADDRESS__)
#define LIFECYCLES 150
#else
#define LIFECYCLES 600
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
	plan_cluster_set(&job,
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

static void happen_to_worker(struct plan_cluster *cluster)
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
	plan_cluster_pod(cluster, name, pick(patches, 4));
}

static void happen_to_launcher(struct plan_cluster *cluster)
{
	switch (draw(4)) {
	case 0:
		plan_cluster_launcher_failed(cluster,
		    "{phase: Failed, containerStatuses: [{state: {terminated: {exitCode: 7, "
		    "reason: Error}}}]}",
		    plan_cluster_int(cluster->job, "spec.runPolicy.backoffLimit"));
		break;
	case 1: plan_cluster_launcher_succeeded(cluster); break;
	default: plan_cluster_pod_runs(cluster, draw(2) ? "pi-launcher-0" : "pi-launcher-1"); break;
	}
}

static void somebody_deletes(struct plan_cluster *cluster)
{
	struct plan_cluster_object *object;

	if (!cluster->count)
		return;
	object = &cluster->objects[draw((uint32_t)cluster->count)];
	/* Without its Job a launcher pod has no controller; Kubernetes deletes the pods with the
	 * Job. */
	plan_cluster_delete(cluster, object);
}

static void ttl_passes(struct plan_cluster *cluster)
{
	struct plan_cluster_object *job = plan_cluster_job(cluster);

	if (job && plan_cluster_job_finished(job) &&
	    mpijob_node_find(mpijob_doc_root(job->doc), "spec.ttlSecondsAfterFinished")) {
		cluster->now_ms += 40000;
		plan_cluster_delete(cluster, job);
	}
}

static void change_job(struct plan_cluster *cluster)
{
	char patch[128];

	if (cluster->features.fail_invalid && draw(3) == 0) {
		snprintf(patch, sizeof(patch), "{spec: {slotsPerWorker: %d}}",
		    plan_cluster_int(cluster->job, "spec.slotsPerWorker") < 0 ? 1 : -1);
	} else if (draw(3)) {
		snprintf(patch, sizeof(patch), "{spec: {runPolicy: {suspend: %s}}}",
		    plan_cluster_bool(cluster->job, "spec.runPolicy.suspend") ? "false" : "true");
	} else {
		snprintf(patch, sizeof(patch),
		    "{spec: {mpiReplicaSpecs: {Worker: {replicas: %d}}}}", (int)draw(4) + 1);
	}
	plan_cluster_change_job(cluster, patch);
}

static void happen(struct plan_cluster *cluster)
{
	char name[32];

	switch (draw(12)) {
	case 0:
	case 1:
	case 2:
		random_worker(name);
		plan_cluster_pod_runs(cluster, name);
		break;
	case 3:
		for (int i = 0; i < 4; i++) {
			snprintf(name, sizeof(name), "pi-worker-%d", i);
			plan_cluster_pod_runs(cluster, name);
		}
		break;
	case 4: happen_to_worker(cluster); break;
	case 5:
	case 6:
	case 7: happen_to_launcher(cluster); break;
	case 8: somebody_deletes(cluster); break;
	case 9: ttl_passes(cluster); break;
	case 10: change_job(cluster); break;
	default: cluster->now_ms += draw(20000); break;
	}
}

static mpijob_text *bytes_of(const mpijob_plan *plan)
{
	mpijob_text *text = mpijob_text_new();
	char line[4096];

	for (size_t i = 0; i < mpijob_plan_get_result(plan)->actions_count; i++) {
		const struct mpijob_action *action = mpijob_plan_at(plan, i);
		mpijob_text *body;

		snprintf(line, sizeof(line), "%d %d %d %d %s %s %s %s %s\n", action->verb,
		    action->stage, action->role, action->index, action->kind, action->name,
		    action->uid ? action->uid : "-", action->why,
		    action->event_message ? action->event_message : "-");
		NEED(!mpijob_text_write(text, line, strlen(line)));
		if (action->verb == MPIJOB_ACTION_EVENT || action->verb == MPIJOB_ACTION_DELETE)
			continue;
		body = plan_cluster_body(plan, i);
		NEED(!mpijob_text_write(text, mpijob_text_data(body), mpijob_text_len(body)));
		mpijob_text_free(body);
	}
	snprintf(line, sizeof(line), "%lld %d\n", (long long)mpijob_plan_get_result(plan)->next_ms,
	    mpijob_plan_get_result(plan)->transitions);
	NEED(!mpijob_text_write(text, line, strlen(line)));
	return text;
}

/* Plan twice: from the facts as they were kept, and from a list of all that is there. */
static void check_same(struct plan_cluster *cluster)
{
	mpijob_facts *listed = mpijob_facts_new();
	mpijob_plan *one, *other;
	mpijob_text *a, *b;

	NEED(listed);
	/* How a launcher ended that is gone is remembered, and no list has it. While a job is
	 * refused that is not yet told. */
	if (cluster->facts->launcher.deleted) {
		mpijob_facts_free(listed);
		return;
	}
	for (size_t i = cluster->count; i > 0; i--)
		plan_cluster_feed_event(cluster, listed, cluster->objects[i - 1].doc, "ADDED");
	one = plan_cluster_plan(cluster, cluster->facts);
	other = plan_cluster_plan(cluster, listed);
	a = bytes_of(one);
	b = bytes_of(other);
	assert_string_equal(mpijob_text_data(a), mpijob_text_data(b));
	mpijob_text_free(a);
	mpijob_text_free(b);
	mpijob_plan_free(one);
	mpijob_plan_free(other);
	mpijob_facts_free(listed);
}

static void check_launchers(const struct plan_cluster *cluster)
{
	int jobs = 0, live = 0;

	for (size_t i = 0; i < cluster->count; i++) {
		const mpijob_doc *doc = cluster->objects[i].doc;
		const char *phase = plan_cluster_text(doc, "status.phase"),
			   *name = plan_cluster_text(doc, "metadata.name");

		jobs += strcmp(plan_cluster_text(doc, "kind"), "Job") == 0;
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

	return mpijob_plan_get_result(plan)->actions_count == 1 &&
	       action->verb == MPIJOB_ACTION_EVENT &&
	       strcmp(action->event_reason, "ValidationError") == 0;
}

/* Plan and carry out until there is nothing to do. */
static void settle(struct plan_cluster *cluster)
{
	for (int i = 0; i < 20; i++) {
		mpijob_plan *plan = plan_cluster_plan(cluster, cluster->facts);
		size_t count = mpijob_plan_get_result(plan)->actions_count - says_refused(plan);
		int moved;

		plan_cluster_act_all(cluster, plan);
		mpijob_plan_free(plan);
		moved = plan_cluster_reap(cluster);
		moved |= plan_cluster_job_controller(cluster);
		check_launchers(cluster);
		if (!count && !moved)
			return;
	}
	fail_msg("no end of planning");
}

/* Carry out some of a plan: whole stages, then any actions of the next one. */
static void act_partly(struct plan_cluster *cluster, const mpijob_plan *plan)
{
	int32_t stop = (int32_t)draw(6);

	for (size_t i = 0; i < mpijob_plan_get_result(plan)->actions_count; i++) {
		int32_t stage = mpijob_plan_at(plan, i)->stage;

		if (stage < stop || (stage == stop && draw(2)))
			if (plan_cluster_act(cluster, plan, i))
				return;
	}
}

static int finished(const struct plan_cluster *cluster, const char *type)
{
	const mpijob_node *list =
	    mpijob_node_find(mpijob_doc_root(cluster->job), "status.conditions");

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const mpijob_node *condition = mpijob_node_at(list, i);

		if (strcmp(mpijob_node_string(mpijob_node_get(condition, "type")), type) == 0)
			return strcmp(mpijob_node_string(mpijob_node_get(condition, "status")),
				   "True") == 0;
	}
	return 0;
}

static void check_parts(struct plan_cluster *cluster)
{
	struct plan_cluster whole, part;
	mpijob_plan *plan;
	char *a, *b;

	plan_cluster_copy(&whole, cluster);
	plan_cluster_copy(&part, cluster);
	settle(&whole);
	for (int i = 0; i < 2; i++) {
		plan = plan_cluster_plan(&part, part.facts);
		act_partly(&part, plan);
		mpijob_plan_free(plan);
		if (draw(2))
			plan_cluster_job_controller(&part);
	}
	settle(&part);
	a = plan_cluster_state(&whole);
	b = plan_cluster_state(&part);
	if (strcmp(a, b) != 0)
		fprintf(stderr, "whole:\n%s\nin parts:\n%s\n", a, b);
	assert_string_equal(a, b);
	free(a);
	free(b);
	plan_cluster_end(&whole);
	plan_cluster_end(&part);
}

static void ask_for_features(struct plan_cluster *cluster)
{
	struct mpijob_features *features = &cluster->features;

	features->clean_launcher = (int32_t)draw(2);
	features->replace_workers = (int32_t)draw(4);
	features->restart_gang = draw(2) ? (int32_t)draw(4) : 0;
	features->fail_invalid = (int32_t)draw(2);
	features->gang_safe_wait = (int32_t)draw(2);
	features->network_policy = (int32_t)draw(2);
	if (draw(2))
		cluster->render.gang_scheduler =
		    draw(2) ? "volcano" : "scheduler-plugins-scheduler";
	if (draw(4) == 0 && features->fail_invalid)
		plan_cluster_set(&cluster->job, "{spec: {slotsPerWorker: -1}}");
}

/* A job that was refused before it started is the one that may leave its end. */
static int is_refused(const struct plan_cluster *cluster)
{
	const mpijob_node *list =
	    mpijob_node_find(mpijob_doc_root(cluster->job), "status.conditions");
	int refused = 0;

	for (size_t i = 0; i < mpijob_node_count(list); i++)
		refused |=
		    strcmp(mpijob_node_string(mpijob_node_get(mpijob_node_at(list, i), "reason")),
			"ValidationError") == 0;
	return refused && !plan_cluster_text(cluster->job, "status.startTime");
}

/* What the condition Restarting counts stays within what was asked for. */
static int32_t restarts(const struct plan_cluster *cluster)
{
	const mpijob_node *list =
	    mpijob_node_find(mpijob_doc_root(cluster->job), "status.conditions");
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
static int32_t reach(const struct plan_cluster *cluster)
{
	int32_t most = 0;

	for (size_t i = 0; i < cluster->count; i++) {
		const char *name = plan_cluster_text(cluster->objects[i].doc, "metadata.name");

		if (strncmp(name, "pi-worker-", 10) == 0 && atoi(name + 10) >= most)
			most = atoi(name + 10) + 1;
	}
	return most;
}

/* The limit may be another one at each turn. No worker is made beyond it, and none goes for it. */
static void settle_within(struct plan_cluster *cluster, int featured)
{
	int32_t before;

	/* What is replaced beyond a limit that came down depends on the order in which the others
	 * go. */
	if (featured && !cluster->features.replace_workers && draw(4) == 0)
		cluster->max_workers = draw(3) ? (int32_t)draw(4) + 1 : 0;
	before = reach(cluster);
	check_parts(cluster);
	settle(cluster);
	if (cluster->max_workers)
		assert_true(reach(cluster) <=
			    (before > cluster->max_workers ? before : cluster->max_workers));
}

static void live(uint64_t number, int featured, int *ends)
{
	int succeeded = 0, failed = 0;
	int32_t counted = 0;
	struct plan_cluster cluster;

	seed = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
	plan_cluster_begin(&cluster, random_job());
	if (featured)
		ask_for_features(&cluster);
	cluster.graceful = (int)draw(2);
	for (int i = 0; i < TURNS; i++) {
		happen(&cluster);
		check_same(&cluster);
		settle_within(&cluster, featured);
		assert_true(!succeeded || finished(&cluster, "Succeeded"));
		assert_true(!failed || finished(&cluster, "Failed"));
		succeeded = finished(&cluster, "Succeeded");
		failed = finished(&cluster, "Failed") && !is_refused(&cluster);
		assert_true(restarts(&cluster) >= counted);
		counted = restarts(&cluster);
		assert_false(succeeded && failed);
		if (succeeded || failed) {
			assert_non_null(plan_cluster_text(cluster.job, "status.completionTime"));
			assert_false(finished(&cluster, "Running"));
		}
	}
	ends[0] += succeeded;
	ends[1] += failed;
	ends[2] += counted > 0;
	plan_cluster_end(&cluster);
}

static void lead(int featured)
{
	const char *given = getenv("PLAN_LIVES");
	long lifecycles = given ? atol(given) : LIFECYCLES;
	const char *only = getenv("PLAN_LIFE");
	int ends[3] = { 0, 0, 0 };

	for (long i = only ? atol(only) : 1; i <= (only ? atol(only) : lifecycles); i++) {
		if (getenv("PLAN_VERBOSE"))
			fprintf(stderr, "lifecycle %ld%s\n", i, featured ? " with features" : "");
		live((uint64_t)i, featured, ends);
	}
	printf("%ld lifecycles%s of %d turns: %d succeeded, %d failed, %d restarted\n", lifecycles,
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
		struct plan_cluster cluster;
		int most = 2;

		for (int i = n; i > 1; i /= 2)
			most++;
		seed = (uint64_t)n * 77 + 1;
		plan_cluster_begin(&cluster, random_job());
		plan_cluster_set(&cluster.job,
		    "{spec: {runPolicy: {suspend: false}, mpiReplicaSpecs: {Worker: {replicas: "
		    "%d}}}}",
		    n);
		settle(&cluster);
		cluster.config_map_writes = 0;
		for (int i = 0; i < n; i++) {
			char name[32];

			snprintf(name, sizeof(name), "pi-worker-%d", (i * 5 + 3) % n);
			cluster.now_ms += 100;
			plan_cluster_pod_runs(&cluster, name);
			settle(&cluster);
		}
		if (cluster.config_map_writes > most)
			fail_msg("%d workers: %ld writes, at most %d", n, cluster.config_map_writes,
			    most);
		plan_cluster_end(&cluster);
	}
}

/* A pause lets what has started be listed: at the time that the plan gave. */
static void test_pause(void **state)
{
	struct plan_cluster cluster;
	mpijob_plan *plan;
	int64_t due;

	(void)state;
	seed = 5;
	plan_cluster_begin(&cluster, random_job());
	plan_cluster_set(&cluster.job,
	    "{spec: {runPolicy: {suspend: false}, mpiReplicaSpecs: {Worker: {replicas: 8}}}}");
	settle(&cluster);
	for (int i = 0; i < 3; i++) {
		char name[32];

		snprintf(name, sizeof(name), "pi-worker-%d", i);
		plan_cluster_pod_runs(&cluster, name);
		settle(&cluster);
		cluster.now_ms += 4000;
	}
	cluster.now_ms -= 4000;
	cluster.config_map_writes = 0;
	settle(&cluster);
	assert_int_equal(cluster.config_map_writes, 0);
	plan = plan_cluster_plan(&cluster, cluster.facts);
	assert_int_equal(mpijob_plan_get_result(plan)->actions_count, 0);
	due = mpijob_plan_get_result(plan)->next_ms;
	mpijob_plan_free(plan);
	assert_int_equal(due, cluster.now_ms + 8000);
	cluster.now_ms = due - 1;
	settle(&cluster);
	assert_int_equal(cluster.config_map_writes, 0);
	cluster.now_ms = due;
	settle(&cluster);
	assert_int_equal(cluster.config_map_writes, 1);
	plan = plan_cluster_plan(&cluster, cluster.facts);
	assert_int_equal(mpijob_plan_get_result(plan)->next_ms, 0);
	mpijob_plan_free(plan);
	plan_cluster_end(&cluster);
}

/* One that joins a job after hours is listed within half a minute. */
static void test_late_start(void **state)
{
	struct plan_cluster cluster;
	mpijob_plan *plan;
	int64_t due;

	(void)state;
	seed = 5;
	plan_cluster_begin(&cluster, random_job());
	plan_cluster_set(&cluster.job,
	    "{spec: {runPolicy: {suspend: false}, mpiReplicaSpecs: {Worker: {replicas: 4}}}}");
	settle(&cluster);
	plan_cluster_pod_runs(&cluster, "pi-worker-0");
	plan_cluster_pod_runs(&cluster, "pi-worker-1");
	settle(&cluster);
	cluster.now_ms += 7200000;
	plan_cluster_pod_runs(&cluster, "pi-worker-2");
	cluster.config_map_writes = 0;
	settle(&cluster);
	assert_int_equal(cluster.config_map_writes, 0);
	plan = plan_cluster_plan(&cluster, cluster.facts);
	due = mpijob_plan_get_result(plan)->next_ms;
	mpijob_plan_free(plan);
	assert_int_equal(due, cluster.now_ms + 30000);
	cluster.now_ms = due;
	settle(&cluster);
	assert_int_equal(cluster.config_map_writes, 1);
	plan_cluster_end(&cluster);
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
