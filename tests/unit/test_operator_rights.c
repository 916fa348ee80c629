/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server does not let the operator do, or does not take as meant: missing rights and
 * kinds, uids that are gone, jobs that cannot be read. It says which, goes on with the rest, and
 * recovers by itself.
 */
#include "../support/operator_fixture.h"

#define POD_GROUPS "/apis/scheduling.volcano.sh/v1beta1/podgroups"

/* What is refused: requests whose method and path contain these. */
struct refusal {
	const char *method, *path, *body;
	int status, count;
};

#define FORBIDDEN                                                                       \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":" \
	"\"Forbidden\",\"message\":\"forbidden by a test\",\"code\":403}"
#define NO_KIND                                                                         \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":" \
	"\"NotFound\",\"message\":\"the server could not find the requested "           \
	"resource\",\"code\":404}"

static int refuse(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	struct refusal *refusal = fake->user;

	if (!refusal || !refusal->path || !strstr(path, refusal->path) ||
	    strncmp(method, refusal->method, strlen(refusal->method)) != 0)
		return 0;
	refusal->count++;
	reply->status = refusal->status;
	reply->body = refusal->body;
	return 1;
}

static int has_sample(const struct operator_fixture *fixture, const char *sample)
{
	char *all = metrics(fixture), *line = fake_text("\n%s\n", sample);
	int yes = strstr(all, line) != NULL;

	free(all);
	free(line);
	return yes;
}

/* The same as if its times had come. */
static void hurry(struct operator_fixture *fixture)
{
	struct mpijob__operator_queue *queue = &fixture->operator_->queue;

	while (queue->heap_count) {
		struct mpijob__operator_queue_item *item = queue->heap[1];

		item->not_before_ms = INT64_MIN;
		mpijob__operator_queue_add_at(queue, item, 0);
		operator_run(fixture, 1);
	}
}

static void count_refused(void *count, const struct mpijob__operator_job *entry)
{
	*(size_t *)count += entry->item.denied;
}

/* How many jobs wait for what the server does not let us do. */
static size_t refused_jobs(const struct operator_fixture *fixture)
{
	size_t count = 0;

	mpijob__operator_jobs_visit(fixture->operator_, count_refused, &count);
	return count;
}

static int says_event(const struct operator_fixture *fixture, const char *name, const char *words)
{
	int says = 0;

	for (struct fake_object *object = fixture->fake.objects; object; object = object->next)
		says |= strcmp(object->collection, EVENTS) == 0 &&
			strcmp(fake_string(object, "involvedObject.name"), name) == 0 &&
			strstr(fake_string(object, "message"), words) != NULL;
	return says;
}

/* --- rights --- */

static void a_right_is_taken_and_given_back(void **state)
{
	struct refusal refusal = { "POST", "/pods", FORBIDDEN, 403, 0 };
	struct operator_fixture fixture;
	size_t logged;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = refuse;
	fixture.fake.user = &refusal;
	put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
	put_job(&fixture, "team", "other", 2, "cleanPodPolicy: All");
	operator_run(&fixture, 300);
	assert_true(refusal.count > 3);
	assert_true(
	    has_sample(&fixture, "mpi_operator_denied_namespaces{kind=\"Pod\",verb=\"create\"} 1"));
	for (int i = 0; i < 3000 && refused_jobs(&fixture) < 2; i++)
		operator_run(&fixture, 1);
	assert_int_equal(refused_jobs(&fixture), 2);
	/* All else of these jobs is there, and it was said once. */
	assert_int_equal(fake_objects(&fixture.fake, SERVICES), 2);
	assert_int_equal(fixture.logged, 1);
	assert_string_equal(fixture.last_log,
	    "cannot create Pod in namespace team for now: forbidden by a test");
	logged = (size_t)fixture.logged;
	/* One gets through, whenever its time comes; then the other does not wait. */
	refusal.path = NULL;
	fixture.operator_->queue.heap[1]->not_before_ms = INT64_MIN;
	mpijob__operator_queue_add_at(&fixture.operator_->queue, fixture.operator_->queue.heap[1],
	    0);
	operator_run(&fixture, 300);
	expect_children(&fixture, 2, 4);
	assert_int_equal(fixture.logged, logged + 1);
	assert_string_equal(fixture.last_log, "can create Pod in namespace team again");
	assert_false(
	    has_sample(&fixture, "mpi_operator_denied_namespaces{kind=\"Pod\",verb=\"create\"} 1"));
	assert_int_equal(refused_jobs(&fixture), 0);
	operator_tear_down(&fixture);
}

/* Where a job waited for a right and is gone, nothing waits any more: its namespace may be gone,
 * too. */
static void what_nobody_waits_for_is_forgotten(void **state)
{
	struct refusal refusal = { "POST", "/pods", FORBIDDEN, 403, 0 };
	struct fake_object *one, *other;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = refuse;
	fixture.fake.user = &refusal;
	one = put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
	other = put_job(&fixture, "team", "tau", 2, "cleanPodPolicy: All");
	for (int i = 0; i < 3000 && refused_jobs(&fixture) < 2; i++)
		operator_run(&fixture, 1);
	assert_int_equal(fixture.operator_->rights.count, 1);
	fake_delete(&fixture.fake, one);
	operator_run(&fixture, 20);
	assert_int_equal(fixture.operator_->rights.count, 1);
	fake_delete(&fixture.fake, other);
	operator_run(&fixture, 20);
	assert_int_equal(fixture.operator_->rights.count, 0);
	assert_int_equal(refused_jobs(&fixture), 0);
	assert_false(
	    has_sample(&fixture, "mpi_operator_denied_namespaces{kind=\"Pod\",verb=\"create\"} 1"));
	operator_tear_down(&fixture);
}

/* Nor does a job that is suspended meanwhile. */
static void who_is_suspended_waits_for_no_right(void **state)
{
	struct refusal refusal = { "POST", "/pods", FORBIDDEN, 403, 0 };
	struct fake_object *job;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = refuse;
	fixture.fake.user = &refusal;
	job = put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
	for (int i = 0; i < 3000 && !refused_jobs(&fixture); i++)
		operator_run(&fixture, 1);
	assert_int_equal(fixture.operator_->rights.count, 1);
	fake_patch(&fixture.fake, job, "spec: {runPolicy: {suspend: true}}");
	for (int i = 0; i < 3000 && refused_jobs(&fixture); i++)
		operator_run(&fixture, 1);
	assert_int_equal(refused_jobs(&fixture), 0);
	assert_int_equal(fixture.operator_->rights.count, 0);
	operator_tear_down(&fixture);
}

/* The right to look at one object is told and told back as those to write are. */
static void a_right_to_look_comes_back(void **state)
{
	struct refusal refusal = { "GET", "/secrets", FORBIDDEN, 403, 0 };
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = refuse;
	fixture.fake.user = &refusal;
	fake_put(&fixture.fake, SECRETS, "team",
	    "apiVersion: v1\nkind: Secret\nmetadata: {name: pi-ssh}\n");
	put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	for (int i = 0; i < 3000 && !fixture.operator_->rights.count; i++)
		operator_run(&fixture, 1);
	assert_int_equal(fixture.operator_->rights.count, 1);
	assert_true(refusal.count > 0);
	refusal.path = NULL;
	for (int i = 0; i < 100 && fixture.operator_->rights.count; i++) {
		struct mpijob__operator_queue *queue = &fixture.operator_->queue;

		if (queue->heap_count) {
			queue->heap[1]->not_before_ms = INT64_MIN;
			mpijob__operator_queue_add_at(queue, queue->heap[1], 0);
		}
		operator_run(&fixture, 3);
	}
	assert_int_equal(fixture.operator_->rights.count, 0);
	operator_tear_down(&fixture);
}

/* A plan of two hundred workers that may not be made asks for one, not for sixteen at once. */
static void a_refused_plan_asks_once(void **state)
{
	struct refusal refusal = { "POST", "/pods", FORBIDDEN, 403, 0 };
	struct operator_fixture fixture;
	int failures;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = refuse;
	fixture.fake.user = &refusal;
	put_job(&fixture, "team", "pi", 200, "cleanPodPolicy: All");
	operator_run(&fixture, 20);
	for (int i = 0; i < 3000 && entry_of(&fixture)->item.failures < 5; i++)
		operator_run(&fixture, 1);
	failures = entry_of(&fixture)->item.failures;
	assert_int_equal(failures, 5);
	assert_in_range(refusal.count, failures, failures + 1); /* with the try under way */
	operator_tear_down(&fixture);
}

#define CROWD 10000

/* Many other jobs of a namespace are refused, too. */
static struct mpijob__operator_queue_item *crowd(struct operator_fixture *fixture,
    const char *namespace_)
{
	struct mpijob__operator_queue_item *items = calloc(CROWD, sizeof(*items));

	for (size_t i = 0; i < CROWD; i++) {
		assert_int_equal(mpijob__operator_queue_join(&fixture->operator_->queue, &items[i],
				     namespace_),
		    0);
		mpijob__operator_queue_set_denied(&fixture->operator_->queue, &items[i], 1);
	}
	return items;
}

static void disperse(struct operator_fixture *fixture, struct mpijob__operator_queue_item *items)
{
	for (size_t i = 0; i < CROWD; i++)
		mpijob__operator_queue_leave(&fixture->operator_->queue, &items[i]);
	free(items);
}

/*
 * Nobody tells that a right is back: it is tried every half a minute at the latest, but not by ten
 * thousand jobs of a namespace. Those of another one do not make it wait.
 */
static void the_wait_for_a_right_is_bounded(void **state)
{
	struct refusal refusal = { "POST", "/services", FORBIDDEN, 403, 0 };
	struct mpijob__operator_queue_item *item, *others;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = refuse;
	fixture.fake.user = &refusal;
	put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 100);
	item = fixture.operator_->queue.heap[1];
	item->failures = 30;
	item->not_before_ms = INT64_MIN;
	mpijob__operator_queue_add_at(&fixture.operator_->queue, item, 0);
	operator_run(&fixture, 20);
	assert_int_equal(item->failures, 31);
	assert_in_range(item->due_ms - fixture.operator_->now_ms, 29000, 30001);
	others = crowd(&fixture, "other");
	mpijob__operator_queue_add_at(&fixture.operator_->queue, item, 0);
	operator_run(&fixture, 20);
	assert_int_equal(item->failures, 32);
	assert_in_range(item->due_ms - fixture.operator_->now_ms, 29000, 30001);
	disperse(&fixture, others);
	others = crowd(&fixture, "team");
	mpijob__operator_queue_add_at(&fixture.operator_->queue, item, 0);
	operator_run(&fixture, 20);
	assert_in_range(item->due_ms - fixture.operator_->now_ms, 999000, 1000001);
	disperse(&fixture, others);
	operator_tear_down(&fixture);
}

/* Lists and watches are refused: it says which, and goes on once it may. */
static void what_may_not_be_watched(void **state)
{
	struct refusal refusal = { "GET", PODS "?", FORBIDDEN, 403, 0 };
	struct operator_fixture fixture;

	(void)state;
	set_up_server(&fixture);
	fixture.fake.decide = refuse;
	fixture.fake.user = &refusal;
	start_operator(&fixture);
	put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
	operator_run(&fixture, 200);
	assert_int_equal(mpijob_operator_synced(fixture.operator_), 0);
	assert_int_equal(fake_writes(&fixture.fake), 0);
	assert_string_equal(fixture.last_log, "cannot list Pod: forbidden by a test");
	assert_true(has_sample(&fixture, "mpi_operator_watch_up{kind=\"Pod\"} 0"));
	assert_true(has_sample(&fixture, "mpi_operator_watch_up{kind=\"MPIJob\"} 1"));
	refusal.path = NULL;
	for (int i = 0; i < 20000 && !has_children(&fixture, 1, 2); i++)
		operator_run(&fixture, 1);
	expect_children(&fixture, 1, 2);
	assert_string_equal(fixture.last_log, "Pod can be listed and watched again");
	assert_true(has_sample(&fixture, "mpi_operator_watch_up{kind=\"Pod\"} 1"));
	operator_tear_down(&fixture);
}

/* The ClusterRole of mpi-operator v0.8.2: these objects may be listed and updated, but neither got
 * nor patched. */
static int refuse_as_the_reference(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	static const char *const kinds[] = { "/secrets/", "/configmaps/", "/services/", "/jobs/" };
	int hit = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		hit |= strstr(path, kinds[i]) != NULL;
	if (!hit || (strcmp(method, "GET") != 0 && strcmp(method, "PATCH") != 0))
		return 0;
	++*(int *)fake->user;
	reply->status = 403;
	reply->body = FORBIDDEN;
	return 1;
}

static void the_rights_of_the_reference_are_enough(void **state)
{
	struct fake_object *job, *secret;
	int refused = 0;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = refuse_as_the_reference;
	fixture.fake.user = &refused;
	job = put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
	operator_run(&fixture, 300);
	expect_children(&fixture, 1, 2);
	run_pods(&fixture);
	operator_run(&fixture, 300);
	assert_non_null(
	    strstr(fake_string(fake_find(&fixture.fake, CONFIG_MAPS, "team", "pi-config"),
		       "data[discover_hosts.sh]"),
		"pi-worker-1"));
	assert_int_equal(refused, 2);
	fake_patch(&fixture.fake, job, "spec: {runPolicy: {suspend: true}}");
	operator_run(&fixture, 300);
	assert_true(is_true(job, "Suspended"));
	assert_int_equal(refused, 4);
	/* A Secret whose key is gone, and that was heard of long ago, is read and mended. */
	secret = fake_find(&fixture.fake, SECRETS, "team", "pi-ssh");
	fake_patch(&fixture.fake, secret, "data: {ssh-privatekey: null, other: eA==}");
	entry_of(&fixture)->fresh.read_ms[MPIJOB_ROLE_SECRET] -= 60000;
	fake_patch(&fixture.fake, job, "spec: {runPolicy: {suspend: false}}");
	operator_run(&fixture, 300);
	expect_children(&fixture, 1, 2);
	assert_non_null(fake_string(fake_find(&fixture.fake, SECRETS, "team", "pi-ssh"),
	    "data[ssh-privatekey]"));
	assert_int_equal(refused, 6);
	run_pods(&fixture);
	operator_run(&fixture, 300);
	/* One refusal for each kind and verb, and nothing that an administrator would have to
	 * mend. */
	assert_int_equal(refused, 6);
	assert_int_equal(fixture.logged, 0);
	operator_tear_down(&fixture);
}

/* Nor does an object that came before its owner need `get`. */
static void an_orphan_is_listed_where_it_cannot_be_got(void **state)
{
	const struct mpijob_child_facts *service;
	int refused = 0;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = refuse_as_the_reference;
	fixture.fake.user = &refused;
	operator_run(&fixture, 20);
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
	operator_run(&fixture, 40);
	assert_null(fixture.operator_->orphans.fetches);
	assert_int_equal(refused, 1);
	service =
	    mpijob_facts_child(mpijob__operator_job_find(fixture.operator_, "later")->cache.facts,
		MPIJOB_ROLE_SERVICE);
	assert_non_null(service);
	assert_string_equal(service->name, "pi");
	operator_tear_down(&fixture);
}

/* An administrator, or the owner of the job, learns from an Event which right is missing, whatever
 * it is needed for. */
static void a_missing_right_is_an_event(void **state)
{
	static const struct {
		const char *method, *path, *event;
	} rows[] = {
		{ "GET", "/namespaces/team/secrets",
		    "Secret pi-ssh cannot be read: forbidden by a test" },
		{ "P", "/jobs/pi-launcher",
		    "Job pi-launcher cannot be changed: forbidden by a test" },
		{ "PATCH", "/mpijobs/pi/status",
		    "MPIJob pi cannot be changed: forbidden by a test" },
		{ "DELETE", "/pods/pi-worker",
		    "Pod pi-worker-1 cannot be deleted: forbidden by a test" },
		{ "POST", "/services", "Service pi cannot be created: forbidden by a test" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct refusal refusal = { rows[i].method, rows[i].path, FORBIDDEN, 403, 0 };
		struct fake_object *job;
		struct operator_fixture fixture;

		operator_set_up(&fixture);
		fixture.fake.decide = refuse;
		fixture.fake.user = &refusal;
		if (strcmp(rows[i].method, "GET") == 0)
			fake_put(&fixture.fake, SECRETS, "team",
			    "apiVersion: v1\nkind: Secret\nmetadata: {name: pi-ssh}\n");
		job = put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
		operator_run(&fixture, 300);
		fake_patch(&fixture.fake, job, "spec: {runPolicy: {suspend: true}}");
		for (int k = 0; k < 600 && !says_event(&fixture, "pi", rows[i].event); k++)
			operator_run(&fixture, 1);
		assert_true(says_event(&fixture, "pi", rows[i].event));
		operator_tear_down(&fixture);
	}
}

/* The gang scheduler is not installed: what needs no PodGroup goes on, and all does once it is. */
static void a_kind_that_is_not_installed(void **state)
{
	struct refusal refusal = { "", "/podgroups", NO_KIND, 404, 0 };
	struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;
	struct fake_object *done, *job;
	struct operator_fixture fixture;

	(void)state;
	set_up_server(&fixture);
	render.gang_scheduler = "volcano";
	fixture.options.render = &render;
	fixture.fake.decide = refuse;
	fixture.fake.user = &refusal;
	start_operator(&fixture);
	done = put_job(&fixture, "team", "done", 1, "cleanPodPolicy: All, suspend: true");
	job = put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 200);
	assert_int_equal(mpijob_operator_synced(fixture.operator_), 1);
	assert_true(has_sample(&fixture, "mpi_operator_watch_up{kind=\"PodGroup\"} 0"));
	assert_true(has_sample(&fixture,
	    "mpi_operator_denied_namespaces{kind=\"PodGroup\",verb=\"create\"} 1"));
	assert_false(is_true(job, "Created"));
	assert_true(is_true(done, "Suspended"));
	assert_int_equal(fake_objects(&fixture.fake, PODS), 0);
	refusal.path = NULL;
	for (int i = 0; i < 20000 && !fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher");
	     i++)
		operator_run(&fixture, 1);
	assert_non_null(fake_find(&fixture.fake, PODS, "team", "pi-worker-0"));
	assert_non_null(fake_find(&fixture.fake, POD_GROUPS, "team", "pi"));
	assert_non_null(fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher"));
	operator_tear_down(&fixture);
}

/* --- uids that are gone --- */

#define IMMUTABLE                                                                       \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":" \
	"\"Invalid\",\"message\":\"metadata.uid: field is immutable\",\"code\":422}"

/* A patch comes when the object has just been made again, by somebody else. */
static int make_again(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	int *patches = fake->user;

	if (strcmp(method, "PATCH") != 0 || !strstr(path, "/services/pi"))
		return 0;
	if (++*patches > 1)
		return 0;
	fake_patch(fake, fake_find(fake, SERVICES, "team", "pi"),
	    "metadata: {uid: another, ownerReferences: null}");
	reply->status = 422;
	reply->body = IMMUTABLE;
	return 1;
}

/* A server answers 422, not 409, to a patch whose uid is another's: that is no failure, and no
 * reason to wait. */
static void a_patch_for_one_that_was_made_again(void **state)
{
	struct refusal refusal = { "PATCH", "/services/pi", IMMUTABLE, 422, 0 };
	struct operator_fixture fixture;
	int patches = 0;

	(void)state;
	operator_set_up(&fixture);
	put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 300);
	expect_children(&fixture, 1, 1);
	fixture.fake.decide = make_again;
	fixture.fake.user = &patches;
	fake_patch(&fixture.fake, fake_find(&fixture.fake, SERVICES, "team", "pi"),
	    "spec: {selector: {other: thing}}");
	operator_run(&fixture, 300);
	assert_int_equal(patches, 1);
	assert_null(fixture.last_log);
	assert_int_equal(entry_of(&fixture)->item.failures, 0);
	assert_int_equal(fake_count(&fixture.fake, "GET /api/v1/namespaces/team/services/pi"), 1);
	/* When it is the one that was meant, it is the patch that is wrong. */
	fake_delete(&fixture.fake, fake_find(&fixture.fake, SERVICES, "team", "pi"));
	operator_run(&fixture, 300);
	fixture.fake.decide = refuse;
	fixture.fake.user = &refusal;
	fake_patch(&fixture.fake, fake_find(&fixture.fake, SERVICES, "team", "pi"),
	    "spec: {selector: {other: thing}}");
	operator_run(&fixture, 300);
	assert_true(entry_of(&fixture)->item.failures > 0);
	assert_string_equal(fixture.last_log,
	    "cannot patch Service team/pi: metadata.uid: field is immutable");
	operator_tear_down(&fixture);
}

/* Each patch of a job's status says which version it is for: a server does not look at its uid. */
static int watch_status(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	(void)reply;
	if (strcmp(method, "PATCH") == 0 && strstr(path, "/mpijobs/pi/status")) {
		int *counts = fake->user;

		counts[strstr(mpijob_text_data(&fake->last_body), "\"resourceVersion\":\"") !=
		       NULL]++;
	}
	return 0;
}

static void a_status_names_its_version(void **state)
{
	struct fake_object *job;
	int counts[2] = { 0, 0 };
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = watch_status;
	fixture.fake.user = counts;
	job = put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 300);
	run_pods(&fixture);
	operator_run(&fixture, 300);
	assert_true(is_true(job, "Created"));
	assert_int_equal(counts[0], 0);
	assert_true(counts[1] >= 2);
	operator_tear_down(&fixture);
}

/* --- jobs that cannot be read --- */

static size_t events_of(const struct operator_fixture *fixture, const char *name)
{
	size_t count = 0;

	for (struct fake_object *object = fixture->fake.objects; object; object = object->next)
		count += strcmp(object->collection, EVENTS) == 0 &&
			 strcmp(fake_string(object, "involvedObject.name"), name) == 0 &&
			 strcmp(fake_string(object, "reason"), "ValidationError") == 0;
	return count;
}

static void a_job_is_mended(void **state)
{
	struct fake_object *odd, *large;
	size_t len = 9 << 20, requests;
	char *text = malloc(len + 1);
	struct operator_fixture fixture;

	(void)state;
	memset(text, 'x', len);
	text[len] = 0;
	operator_set_up(&fixture);
	odd = fake_put(&fixture.fake, JOBS, "team",
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: odd, labels: "
	    "7}\nspec: {mpiReplicaSpecs: [1]}\n");
	large = put_job(&fixture, "team", "large", 1, "cleanPodPolicy: All");
	(void)mpijob_doc_edit(large->doc, "");
	mpijob_node_put_string(large->doc, mpijob_doc_make(large->doc, "metadata.annotations"), "a",
	    text);
	fake_stamp(&fixture.fake, large, "MODIFIED");
	put_job(&fixture, "team", "good", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 300);
	assert_non_null(fake_find(&fixture.fake, LAUNCHERS, "team", "good-launcher"));
	assert_null(fake_find(&fixture.fake, LAUNCHERS, "team", "large-launcher"));
	assert_int_equal(events_of(&fixture, "large"), 1);
	assert_true(says_event(&fixture, "large", "larger than this operator reads"));
	assert_int_equal(events_of(&fixture, "odd"), 1);
	assert_true(has_sample(&fixture, "mpi_operator_jobs{phase=\"SetAside\"} 1") ||
		    has_sample(&fixture, "mpi_operator_jobs{phase=\"SetAside\"} 2"));
	assert_true(
	    has_sample(&fixture, "mpi_operator_objects_set_aside_total{kind=\"MPIJob\"} 2"));
	requests = fixture.fake.log_count;
	operator_run(&fixture, 300);
	assert_int_equal(fixture.fake.log_count, requests);
	fake_patch(&fixture.fake, large, "metadata: {annotations: {a: short}}");
	fake_patch(&fixture.fake, odd,
	    "metadata: {labels: null}\nspec:\n  mpiReplicaSpecs:\n"
	    "    Launcher:\n      template: {spec: {containers: [{name: l, image: i}]}}\n"
	    "    Worker:\n      replicas: 1\n      template: {spec: {containers: [{name: w, image: "
	    "i}]}}\n");
	operator_run(&fixture, 300);
	assert_non_null(fake_find(&fixture.fake, LAUNCHERS, "team", "large-launcher"));
	assert_non_null(fake_find(&fixture.fake, LAUNCHERS, "team", "odd-launcher"));
	assert_true(has_sample(&fixture, "mpi_operator_jobs{phase=\"SetAside\"} 0"));
	hurry(&fixture);
	free(text);
	operator_tear_down(&fixture);
}

/* A child that is changed into what nobody can read: its job is told, and goes on with what was
 * known. */
static void a_child_that_cannot_be_read(void **state)
{
	struct fake_object *pod;
	struct operator_fixture fixture;
	int told = 0;

	(void)state;
	operator_set_up(&fixture);
	put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
	operator_run(&fixture, 300);
	pod = fake_find(&fixture.fake, PODS, "team", "pi-worker-0");
	fake_patch(&fixture.fake, pod, "status: {conditions: [1], phase: [2]}");
	operator_run(&fixture, 300);
	for (struct fake_object *object = fixture.fake.objects; object; object = object->next)
		told += strcmp(object->collection, EVENTS) == 0 &&
			strcmp(fake_string(object, "reason"), "ObjectSetAside") == 0;
	assert_int_equal(told, 1);
	assert_true(has_sample(&fixture, "mpi_operator_objects_set_aside_total{kind=\"Pod\"} 1"));
	expect_children(&fixture, 1, 2);
	fake_patch(&fixture.fake, pod, "status: null");
	run_pods(&fixture);
	operator_run(&fixture, 400);
	expect_children(&fixture, 1, 2);
	operator_tear_down(&fixture);
}

/* The server's clock stands elsewhere than ours: what is written is its time. */
static int tell_date(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	(void)fake;
	(void)method;
	reply->header = "Date: Sun, 09 Sep 2001 01:46:40 GMT";
	return strstr(path, "watch=1") == NULL;
}

static void the_time_is_the_servers(void **state)
{
	struct fake_object *job;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = tell_date;
	job = put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 400);
	expect_children(&fixture, 1, 1);
	assert_int_equal(strncmp(fake_string(job, "status.conditions[0].lastTransitionTime"),
			     "2001-09-09T01:4", 15),
	    0);
	assert_int_equal(strncmp(fake_string(job, "status.startTime"), "2001-09-09T01:4", 15), 0);
	for (struct fake_object *object = fixture.fake.objects; object; object = object->next)
		if (strcmp(object->collection, EVENTS) == 0)
			assert_int_equal(strncmp(fake_string(object, "lastTimestamp"),
					     "2001-09-09T01:4", 15),
			    0);
	operator_tear_down(&fixture);
}

/* What took the place of another object of its name is not deleted in its stead. */
static int watch_deletes(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	(void)path;
	(void)reply;
	if (strcmp(method, "DELETE") == 0) {
		int *counts = fake->user;

		counts[strstr(mpijob_text_data(&fake->last_body),
			   "\"preconditions\":{\"uid\":\"") != NULL]++;
	}
	return 0;
}

static void deletes_carry_the_uid(void **state)
{
	struct fake_object *job;
	int counts[2] = { 0, 0 };
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	fixture.fake.decide = watch_deletes;
	fixture.fake.user = counts;
	job = put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: All");
	operator_run(&fixture, 300);
	fake_patch(&fixture.fake, job, "spec: {runPolicy: {suspend: true}}");
	operator_run(&fixture, 600);
	assert_int_equal(fake_objects(&fixture.fake, PODS), 0);
	assert_int_equal(counts[0], 0);
	assert_in_range(counts[1], 3, 10);
	operator_tear_down(&fixture);
}

/* A pod that the operator could not delete, and another client then deletes, is a loss. */
static void a_refused_deletion_is_not_a_deletion(void **state)
{
	static const struct refusal refusals[] = {
		{ "DELETE", "/pods/pi-worker-2", FORBIDDEN, 403, 0 },
		{ "DELETE", "/pods/pi-worker-2", "broken", 500, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct refusal refusal = refusals[i];
		struct operator_fixture fixture;
		struct fake_object *job;

		operator_set_up(&fixture);
		fixture.fake.decide = refuse;
		fixture.fake.user = &refusal;
		job = put_job(&fixture, "team", "pi", 3, "cleanPodPolicy: All");
		operator_run(&fixture, 300);
		expect_children(&fixture, 1, 3);
		fake_patch(&fixture.fake, job, "spec: {mpiReplicaSpecs: {Worker: {replicas: 2}}}");
		for (int turn = 0; turn < 300 && refusal.count == 0; turn++)
			operator_run(&fixture, 1);
		assert_int_equal(refusal.count, 1);
		operator_run(&fixture, 5);
		entry_of(&fixture)->fresh.worker_created_ms = fixture.operator_->now_ms;
		assert_int_equal(entry_of(&fixture)->backoff.losses, 0);
		fake_delete(&fixture.fake, fake_find(&fixture.fake, PODS, "team", "pi-worker-2"));
		operator_run(&fixture, 5);
		assert_int_equal(entry_of(&fixture)->backoff.losses, 1);
		operator_tear_down(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_nobody_waits_for_is_forgotten),
		cmocka_unit_test(who_is_suspended_waits_for_no_right),
		cmocka_unit_test(a_right_to_look_comes_back),
		cmocka_unit_test(the_rights_of_the_reference_are_enough),
		cmocka_unit_test(an_orphan_is_listed_where_it_cannot_be_got),
		cmocka_unit_test(a_missing_right_is_an_event),
		cmocka_unit_test(a_right_is_taken_and_given_back),
		cmocka_unit_test(a_refused_plan_asks_once),
		cmocka_unit_test(the_wait_for_a_right_is_bounded),
		cmocka_unit_test(what_may_not_be_watched),
		cmocka_unit_test(a_kind_that_is_not_installed),
		cmocka_unit_test(a_patch_for_one_that_was_made_again),
		cmocka_unit_test(a_status_names_its_version),
		cmocka_unit_test(deletes_carry_the_uid),
		cmocka_unit_test(a_refused_deletion_is_not_a_deletion),
		cmocka_unit_test(a_job_is_mended),
		cmocka_unit_test(a_child_that_cannot_be_read),
		cmocka_unit_test(the_time_is_the_servers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
