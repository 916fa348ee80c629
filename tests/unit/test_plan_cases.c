/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/cases/plan/NAME: job.yaml and steps.yaml (a list of steps, one key each; see
 * tests/cases/plan/README.md) run against a cluster in memory; what was planned must be
 * expected.yaml. UPDATE_CASES=1 prints and writes differences.
 */
#include "../support/plan_cluster.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#define CASES MPIJOB_TEST_SOURCE "/tests/cases/plan"

static char *read_file(const char *folder, const char *name)
{
	char path[1024], *text;
	FILE *file;
	long len;

	snprintf(path, sizeof(path), "%s/%s/%s", CASES, folder, name);
	file = fopen(path, "rb");
	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	len = ftell(file);
	rewind(file);
	text = calloc((size_t)len + 1, 1);
	NEED(text && fread(text, 1, (size_t)len, file) == (size_t)len);
	fclose(file);
	return text;
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s", CASES, folder, name);
	file = fopen(path, "wb");
	NEED(file && fwrite(text, 1, strlen(text), file) == strlen(text));
	fclose(file);
}

static mpijob_doc *read_doc(const char *folder, const char *name)
{
	char *text = read_file(folder, name);
	mpijob_doc *doc = NULL;

	if (!text)
		plan_cluster_die("%s/%s: cannot be read", folder, name);
	if (mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL))
		plan_cluster_die("%s/%s: is no document", folder, name);
	free(text);
	return doc;
}

static const char *const verbs[] = {
	[MPIJOB_ACTION_CREATE] = "create",
	[MPIJOB_ACTION_PATCH] = "patch",
	[MPIJOB_ACTION_PATCH_STATUS] = "patch status",
	[MPIJOB_ACTION_DELETE] = "delete",
	[MPIJOB_ACTION_EVENT] = "event",
};

static void put_body(mpijob_doc *out, mpijob_node *map, const mpijob_plan *plan, size_t index)
{
	mpijob_text *text = plan_cluster_body(plan, index);
	mpijob_doc *body = NULL;

	NEED(!mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &body, NULL));
	mpijob_node_remove(mpijob_doc_edit(body, ""), "metadata");
	mpijob_node_put_copy(out, map, "body", mpijob_doc_root(body));
	mpijob_doc_free(body);
	mpijob_text_free(text);
}

/* One line for what has no body to show. */
static void put_action(mpijob_doc *out, mpijob_node *list, const mpijob_plan *plan, size_t index)
{
	const struct mpijob_action *action = mpijob_plan_at(plan, index);
	char line[2048];
	mpijob_node *map;

	if (action->verb == MPIJOB_ACTION_EVENT)
		snprintf(line, sizeof(line), "%d event %s %s: %s", action->stage,
		    action->event_type, action->event_reason, action->event_message);
	else
		snprintf(line, sizeof(line), "%d %s %s/%s (%s)", action->stage, verbs[action->verb],
		    action->kind, action->name, action->why);
	if (action->verb != MPIJOB_ACTION_PATCH && action->verb != MPIJOB_ACTION_PATCH_STATUS) {
		mpijob_node_append_string(out, list, line);
		return;
	}
	map = mpijob_node_append_map(out, list);
	mpijob_node_put_string(out, map, "do", line);
	if (action->role != MPIJOB_ROLE_SECRET)
		put_body(out, map, plan, index);
}

static void put_transitions(mpijob_doc *out, mpijob_node *map, int32_t transitions)
{
	char line[64] = "";

	if (transitions & MPIJOB_TRANSITION_CREATED)
		strcat(line, "created ");
	if (transitions & MPIJOB_TRANSITION_SUCCEEDED)
		strcat(line, "succeeded ");
	if (transitions & MPIJOB_TRANSITION_FAILED)
		strcat(line, "failed ");
	if (*line)
		line[strlen(line) - 1] = 0;
	if (*line)
		mpijob_node_put_string(out, map, "transitions", line);
}

static void show_plan(mpijob_doc *out, const struct plan_cluster *cluster, const mpijob_plan *plan)
{
	mpijob_node *map = mpijob_node_append_map(out, mpijob_doc_edit(out, ""));
	mpijob_node *actions = mpijob_node_put_list(out, map, "actions");

	mpijob_node_put_int(out, map, "at", (cluster->now_ms - PLAN_CLUSTER_START_MS) / 1000);
	for (size_t i = 0; i < mpijob_plan_get_result(plan)->actions_count; i++)
		put_action(out, actions, plan, i);
	put_transitions(out, map, mpijob_plan_get_result(plan)->transitions);
	if (mpijob_plan_get_result(plan)->next_ms)
		mpijob_node_put_int(out, map, "nextMs",
		    mpijob_plan_get_result(plan)->next_ms - cluster->now_ms);
}

/* What the plan says the status will be is what the cluster then holds. */
static void check_status(const struct plan_cluster *cluster, const mpijob_plan *plan)
{
	const struct mpijob_status *want = mpijob_plan_get_result(plan)->status, *have = NULL;
	mpijob *job = NULL;

	NEED(!mpijob_from_node(mpijob_doc_root(cluster->job), NULL, &job, NULL));
	NEED(!mpijob_status_get(job, &have, NULL));
	assert_int_equal(want->conditions_count, have->conditions_count);
	for (size_t i = 0; i < want->conditions_count; i++) {
		assert_string_equal(want->conditions[i]->type, have->conditions[i]->type);
		assert_int_equal(want->conditions[i]->status, have->conditions[i]->status);
		assert_string_equal(want->conditions[i]->reason, have->conditions[i]->reason);
		assert_string_equal(want->conditions[i]->message, have->conditions[i]->message);
		assert_int_equal(*want->conditions[i]->last_update_time,
		    *have->conditions[i]->last_update_time);
		assert_int_equal(*want->conditions[i]->last_transition_time,
		    *have->conditions[i]->last_transition_time);
	}
	assert_int_equal(!want->launcher, !have->launcher);
	assert_int_equal(!want->worker, !have->worker);
	if (want->worker) {
		assert_int_equal(want->worker->active, have->worker->active);
		assert_int_equal(want->worker->failed, have->worker->failed);
		assert_int_equal(want->worker->succeeded, have->worker->succeeded);
	}
	assert_int_equal(!want->start_time, !have->start_time);
	assert_int_equal(!want->completion_time, !have->completion_time);
	mpijob_free(job);
}

/* Plan and carry out until there is nothing to do; the Job controller keeps up. */
static void step_plan(struct plan_cluster *cluster, mpijob_doc *out, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		mpijob_plan *plan = plan_cluster_plan(cluster, cluster->facts);
		size_t count = mpijob_plan_get_result(plan)->actions_count;

		if (count || i == 0)
			show_plan(out, cluster, plan);
		if (count && !plan_cluster_act_all(cluster, plan))
			check_status(cluster, plan);
		mpijob_plan_free(plan);
		if (!plan_cluster_job_controller(cluster) && !count)
			return;
	}
}

/* Whoever carries out is killed behind so many actions. */
static void step_act(struct plan_cluster *cluster, mpijob_doc *out, size_t count)
{
	mpijob_plan *plan = plan_cluster_plan(cluster, cluster->facts);

	show_plan(out, cluster, plan);
	for (size_t i = 0; i < count && i < mpijob_plan_get_result(plan)->actions_count; i++)
		NEED(!plan_cluster_act(cluster, plan, i));
	mpijob_plan_free(plan);
}

static void step_show(struct plan_cluster *cluster, mpijob_doc *out, const char *what)
{
	mpijob_node *map = mpijob_node_append_map(out, mpijob_doc_edit(out, ""));
	char kind[64], *slash;

	snprintf(kind, sizeof(kind), "%s", what);
	slash = strchr(kind, '/');
	mpijob_node_put_string(out, map, "show", what);
	if (strcmp(what, "status") == 0) {
		mpijob_node_put_copy(out, map, "status",
		    mpijob_node_get(mpijob_doc_root(cluster->job), "status"));
	} else if (strcmp(what, "objects") == 0) {
		mpijob_node *list = mpijob_node_put_list(out, map, "objects");
		char line[256];

		for (size_t i = 0; i < cluster->count; i++) {
			const mpijob_doc *doc = cluster->objects[i].doc;

			snprintf(line, sizeof(line), "%s/%s%s", plan_cluster_text(doc, "kind"),
			    plan_cluster_text(doc, "metadata.name"),
			    plan_cluster_bool(doc, "spec.suspend") ? " suspended" : "");
			mpijob_node_append_string(out, list, line);
		}
	} else if (slash) {
		struct plan_cluster_object *object;

		*slash = 0;
		object = plan_cluster_find(cluster, kind, slash + 1);
		NEED(object);
		mpijob_node_put_copy(out, map, "data",
		    mpijob_node_get(mpijob_doc_root(object->doc), "data"));
		mpijob_node_put_copy(out, map, "spec",
		    mpijob_node_get(mpijob_doc_root(object->doc), "spec"));
	}
}

static void step_patch(struct plan_cluster *cluster, const mpijob_node *value)
{
	for (size_t i = 0; i < mpijob_node_count(value); i++) {
		const char *key = mpijob_node_key(value, i), *slash = strchr(key, '/');
		mpijob_text *text =
		    plan_cluster_json(mpijob_node_at(value, i), MPIJOB_FORMAT_JSON_COMPACT);
		struct plan_cluster_object *object;
		char kind[64];

		if (!slash) {
			plan_cluster_pod(cluster, key, mpijob_text_data(text));
		} else {
			snprintf(kind, sizeof(kind), "%.*s", (int)(slash - key), key);
			object = plan_cluster_find(cluster, kind, slash + 1);
			NEED(object);
			plan_cluster_set(&object->doc, "%s", mpijob_text_data(text));
			plan_cluster_touch(cluster, object);
		}
		mpijob_text_free(text);
	}
}

static void step_delete(struct plan_cluster *cluster, const char *what)
{
	char kind[128], *slash;
	struct plan_cluster_object *object;

	snprintf(kind, sizeof(kind), "%s", what);
	slash = strchr(kind, '/');
	NEED(slash);
	*slash = 0;
	object = plan_cluster_find(cluster, kind, slash + 1);
	NEED(object);
	plan_cluster_delete(cluster, object);
}

static void step_pods_run(struct plan_cluster *cluster, const mpijob_node *list)
{
	for (size_t i = 0; i < mpijob_node_count(list); i++)
		plan_cluster_pod_runs(cluster, mpijob_node_string(mpijob_node_at(list, i)));
}

static int step_job(struct plan_cluster *cluster, const char *key, const mpijob_node *value)
{
	mpijob_text *text;

	if (strcmp(key, "job") == 0) {
		text = plan_cluster_json(value, MPIJOB_FORMAT_JSON_COMPACT);
		plan_cluster_change_job(cluster, mpijob_text_data(text));
		mpijob_text_free(text);
	} else if (strcmp(key, "launcherFails") == 0) {
		text =
		    plan_cluster_json(mpijob_node_get(value, "status"), MPIJOB_FORMAT_JSON_COMPACT);
		plan_cluster_launcher_failed(cluster, mpijob_text_data(text),
		    plan_cluster_int(cluster->job, "spec.runPolicy.backoffLimit"));
		mpijob_text_free(text);
	} else if (strcmp(key, "launcherSucceeds") == 0) {
		plan_cluster_launcher_succeeded(cluster);
	} else {
		return 0;
	}
	return 1;
}

/* {NAME: VALUE} */
static void step_feature(struct plan_cluster *cluster, const mpijob_node *value)
{
	for (size_t i = 0; i < mpijob_node_count(value); i++) {
		const mpijob_node *node = mpijob_node_at(value, i);
		int yes = 0, is_switch = mpijob_node_bool(node, &yes);
		const char *text = is_switch ? (yes ? "true" : "false") : mpijob_node_text(node);

		NEED(!mpijob_features_set(&cluster->features, mpijob_node_key(value, i), text,
		    NULL));
	}
}

static void run_step(struct plan_cluster *cluster, mpijob_doc *out, const char *key,
    const mpijob_node *value)
{
	int64_t number = 0;

	mpijob_node_int(value, &number);
	if (strcmp(key, "plan") == 0)
		step_plan(cluster, out, number ? (int)number : 12);
	else if (strcmp(key, "act") == 0)
		step_act(cluster, out, (size_t)number);
	else if (strcmp(key, "wait") == 0)
		cluster->now_ms += number;
	else if (strcmp(key, "hold") == 0)
		(void)mpijob_node_int(value, &cluster->hold_ms);
	else if (strcmp(key, "names") == 0)
		cluster->names_known = strcmp(mpijob_node_string(value), "known") == 0;
	else if (strcmp(key, "gang") == 0)
		cluster->render.gang_scheduler = mpijob_node_string(value);
	else if (strcmp(key, "compact") == 0)
		cluster->features.compact_hosts = mpijob_node_string(value) == NULL;
	else if (strcmp(key, "feature") == 0)
		step_feature(cluster, value);
	else if (strcmp(key, "reference") == 0)
		cluster->render.reference = mpijob_node_string(value) == NULL;
	else if (strcmp(key, "graceful") == 0)
		cluster->graceful = 1;
	else if (strcmp(key, "reap") == 0)
		plan_cluster_reap(cluster);
	else if (strcmp(key, "show") == 0)
		step_show(cluster, out, mpijob_node_string(value));
	else if (strcmp(key, "run") == 0)
		step_pods_run(cluster, value);
	else if (strcmp(key, "patch") == 0)
		step_patch(cluster, value);
	else if (strcmp(key, "put") == 0)
		plan_cluster_add(cluster, mpijob_doc_from_node(value, NULL));
	else if (strcmp(key, "delete") == 0)
		step_delete(cluster, mpijob_node_string(value));
	else if (!step_job(cluster, key, value))
		plan_cluster_die("no step: %s", key);
}

static char *run_steps(const char *folder)
{
	mpijob_doc *steps = read_doc(folder, "steps.yaml"), *out = mpijob_doc_new();
	struct plan_cluster cluster;
	mpijob_text *text;
	char *copy;

	plan_cluster_begin(&cluster, read_doc(folder, "job.yaml"));
	NEED(!mpijob_doc_merge(out, mpijob_node_new(out, MPIJOB_NODE_LIST)));
	for (size_t i = 0; i < mpijob_node_count(mpijob_doc_root(steps)); i++) {
		const mpijob_node *step = mpijob_node_at(mpijob_doc_root(steps), i);

		run_step(&cluster, out, mpijob_node_key(step, 0), mpijob_node_at(step, 0));
	}
	NEED(!mpijob_doc_error(out));
	text = plan_cluster_json(mpijob_doc_root(out), MPIJOB_FORMAT_YAML);
	copy = strdup(mpijob_text_data(text));
	mpijob_text_free(text);
	plan_cluster_end(&cluster);
	mpijob_doc_free(steps);
	mpijob_doc_free(out);
	return copy;
}

static void run_case(const char *folder, int *failures)
{
	char *expected = read_file(folder, "expected.yaml"), *actual = run_steps(folder),
	     *again = run_steps(folder);

	assert_string_equal(actual, again);
	if (!expected || strcmp(expected, actual) != 0) {
		fprintf(stderr, "tests/cases/plan/%s differs; it is now:\n%s\n", folder, actual);
		if (getenv("UPDATE_CASES"))
			write_file(folder, "expected.yaml", actual);
		else
			(*failures)++;
	}
	free(expected);
	free(actual);
	free(again);
}

static int is_folder(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && !strchr(entry->d_name, '.');
}

static void test_cases(void **state)
{
	struct dirent **entries;
	int count = scandir(CASES, &entries, is_folder, alphasort), failures = 0;

	(void)state;
	assert_true(count > 20);
	for (int i = 0; i < count; i++) {
		run_case(entries[i]->d_name, &failures);
		free(entries[i]);
	}
	free(entries);
	printf("plan cases: %d\n", count);
	assert_int_equal(failures, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
