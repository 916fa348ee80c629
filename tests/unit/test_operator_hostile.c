/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tenants who mean no good, one after the other beside one who only wants his job to run: theirs is
 * set aside or goes its own way, his runs, nothing of somebody else is touched, and no requests
 * without end come of it. See docs/threat-model.md.
 */
#include "../support/operator_fixture.h"

#include "base/utf8.h"

#include "base/text.h"

#define HEAD     "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\n"
#define LAUNCHER "Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}"
#define WORKER   "Worker: {replicas: 1, template: {spec: {containers: [{name: w, image: i}]}}}"

/* An MPIJob that must not get any child, though the server stores it. */
static const struct {
	const char *what, *yaml;
} jobs[] = {
	{ "a spec that is a list", "metadata: {name: bad}\nspec: [1, 2]\n" },
	{ "no spec", "metadata: {name: bad}\n" },
	{ "two thousand million workers",
	    "metadata: {name: bad}\nspec: {mpiReplicaSpecs: {" LAUNCHER
	    ", Worker: {replicas: 2000000000, "
	    "template: {spec: {containers: [{name: w, image: i}]}}}}}\n" },
	{ "more workers than a number holds",
	    "metadata: {name: bad}\nspec: {mpiReplicaSpecs: {" LAUNCHER ", Worker: {replicas: "
	    "99999999999999999999, template: {spec: {containers: [{name: w, image: i}]}}}}}\n" },
	{ "a hostfile that no ConfigMap holds",
	    "metadata: {name: bad}\nspec: {mpiReplicaSpecs: {" LAUNCHER
	    ", Worker: {replicas: 100000, "
	    "template: {spec: {containers: [{name: w, image: i}]}}}}}\n" },
	{ "fewer slots than none",
	    "metadata: {name: bad}\nspec: {slotsPerWorker: -1, mpiReplicaSpecs: {" LAUNCHER
	    ", " WORKER "}}\n" },
	{ "a launcher without containers",
	    "metadata: {name: bad}\nspec: {mpiReplicaSpecs: {Launcher: {template: {spec: "
	    "{containers: []}}}, " WORKER "}}\n" },
	{ "containers of a strange type",
	    "metadata: {name: bad}\nspec: {mpiReplicaSpecs: {Launcher: {template: {spec: "
	    "{containers: [7, null]}}}, " WORKER "}}\n" },
	{ "many launchers",
	    "metadata: {name: bad}\nspec: {mpiReplicaSpecs: {Launcher: {replicas: 99, template: "
	    "{spec: {containers: [{name: l, image: i}]}}}, " WORKER "}}\n" },
	{ "a name that is too long for its pods",
	    "metadata: {name: "
	    "baaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaad}\nspec: "
	    "{mpiReplicaSpecs: {" LAUNCHER ", " WORKER "}}\n" },
	{ "a policy that nobody knows",
	    "metadata: {name: bad}\nspec: {runPolicy: {cleanPodPolicy: \"$(reboot)\"}, "
	    "mpiReplicaSpecs: {" LAUNCHER ", " WORKER "}}\n" },
	{ "a status of a strange type",
	    "metadata: {name: bad}\nspec: {mpiReplicaSpecs: {" LAUNCHER ", " WORKER
	    "}}\nstatus: {conditions: [{type: 7}], startTime: yesterday}\n" },
	{ "annotations of a strange type",
	    "metadata: {name: bad, annotations: [libmpijob/ssh-port]}\nspec: {mpiReplicaSpecs: "
	    "{" LAUNCHER ", " WORKER "}}\n" },
};

static size_t events_about(const struct operator_fixture *fixture, const char *start)
{
	size_t count = 0;

	for (const struct fake_object *object = fixture->fake.objects; object;
	     object = object->next)
		count +=
		    strcmp(object->collection, EVENTS) == 0 &&
		    strncmp(fake_string(object, "involvedObject.name"), start, strlen(start)) == 0;
	return count;
}

static int has_sample(const struct operator_fixture *fixture, const char *sample)
{
	struct mpijob_text text = { 0 };
	int found;

	assert_int_equal(mpijob_operator_metrics(fixture->operator_, mpijob_text_write, &text), 0);
	found = strstr(mpijob_text_data(&text), sample) != NULL;
	mpijob__base_text_release(&text);
	return found;
}

static void one_of_them_is_set_aside_and_the_others_go_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		char *yaml = fake_text("%s%s", HEAD, jobs[i].yaml);
		struct operator_fixture fixture;
		size_t requests;

		operator_set_up(&fixture);
		fake_put(&fixture.fake, JOBS, "team", yaml);
		put_job(&fixture, "team", "good", 2, "cleanPodPolicy: All");
		operator_run(&fixture, 400);
		if (!fake_find(&fixture.fake, LAUNCHERS, "team", "good-launcher") ||
		    !has_children(&fixture, 1, 2))
			fail_msg("%s: the other job does not run, or this one does", jobs[i].what);
		if (events_about(&fixture, "ba") != 1)
			fail_msg("%s: %zu Events about it", jobs[i].what,
			    events_about(&fixture, "ba"));
		if (!has_sample(&fixture,
			"mpi_operator_objects_set_aside_total{kind=\"MPIJob\"} 1\n") ||
		    !has_sample(&fixture, "mpi_operator_jobs{phase=\"SetAside\"} 1\n"))
			fail_msg("%s: the metrics do not tell", jobs[i].what);
		requests = fixture.fake.log_count;
		operator_run(&fixture, 100);
		assert_int_equal(fixture.fake.log_count, requests);
		operator_tear_down(&fixture);
		free(yaml);
	}
}

/* A job cannot be named so that something of somebody else becomes its own. */
static void names_of_others_are_not_taken(void **state)
{
	static const struct {
		const char *collection, *name, *yaml;
	} others[] = {
		{ SERVICES, "pi",
		    "apiVersion: v1\nkind: Service\nmetadata: {name: pi}\nspec: {selector: {a: "
		    "b}}\n" },
		{ CONFIG_MAPS, "pi-config",
		    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: pi-config}\ndata: "
		    "{hostfile: mine}\n" },
		{ SECRETS, "pi-ssh",
		    "apiVersion: v1\nkind: Secret\nmetadata: {name: pi-ssh}\ndata: {password: "
		    "c2VjcmV0}\n" },
		{ LAUNCHERS, "pi-launcher",
		    "apiVersion: batch/v1\nkind: Job\nmetadata: {name: pi-launcher}\nspec: "
		    "{suspend: true}\n" },
		{ PODS, "pi-worker-0",
		    "apiVersion: v1\nkind: Pod\nmetadata: {name: pi-worker-0}\nstatus: {phase: "
		    "Running}\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct fake_object *other;
		struct operator_fixture fixture;
		char *before, *after;

		operator_set_up(&fixture);
		other = fake_put(&fixture.fake, others[i].collection, "team", others[i].yaml);
		before = fake_json(mpijob_doc_root(other->doc));
		put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
		put_job(&fixture, "team", "good", 1, "cleanPodPolicy: All");
		operator_run(&fixture, 400);
		assert_ptr_equal(fake_find(&fixture.fake, others[i].collection, "team",
				     others[i].name),
		    other);
		after = fake_json(mpijob_doc_root(other->doc));
		assert_string_equal(after, before);
		if (events_about(&fixture, "pi") < 1)
			fail_msg("%s: nobody is told", others[i].name);
		assert_non_null(fake_find(&fixture.fake, LAUNCHERS, "team", "good-launcher"));
		free(before);
		free(after);
		operator_tear_down(&fixture);
	}
}

/* What is written by whom: 1 when a text is in an object that the operator made, in its log, or in
 * its metrics. */
static int is_told(const struct operator_fixture *fixture, const char *text)
{
	int found =
	    has_sample(fixture, text) || (fixture->last_log && strstr(fixture->last_log, text));

	for (const struct fake_object *object = fixture->fake.objects; object;
	     object = object->next) {
		char *json = fake_json(mpijob_doc_root(object->doc));

		found |= strcmp(object->collection, SECRETS) != 0 && strstr(json, text) != NULL;
		free(json);
	}
	return found;
}

/* A Secret is read to see whose it is; with all messages of the log. */
static void the_contents_of_a_secret_go_nowhere(void **state)
{
	static const char *const owners[] = { "",
		", ownerReferences: [{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, name: pi, "
		"controller: true, uid: '%s'}]" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fake_object *job;
		struct operator_fixture fixture;
		char *owner, *yaml;
		size_t read;

		operator_set_up(&fixture);
		job = put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
		owner = fake_text(owners[i], fake_string(job, "metadata.uid"));
		yaml = fake_text("apiVersion: v1\nkind: Secret\nmetadata: {name: pi-ssh%s}\ndata: "
				 "{password: dGhlc2VjcmV0}\n",
		    owner);
		fake_put(&fixture.fake, SECRETS, "team", yaml);
		for (int step = 0; step < 400; step++) {
			operator_run(&fixture, 1);
			assert_false(is_told(&fixture, "dGhlc2VjcmV0"));
		}
		read = fake_count(&fixture.fake, "GET /api/v1/namespaces/team/secrets/pi-ssh");
		assert_true(read > 0);
		operator_tear_down(&fixture);
		free(owner);
		free(yaml);
	}
}

/* Two jobs have two keys, and the private ones are in their Secrets only. */
static void each_job_has_a_key_of_its_own(void **state)
{
	static const char *const names[] = { "pi-ssh", "pj-ssh" };
	const char *keys[2];
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: All");
	put_job(&fixture, "team", "pj", 1, "cleanPodPolicy: All");
	operator_run(&fixture, 600);
	for (size_t i = 0; i < 2; i++) {
		keys[i] = fake_string(fake_find(&fixture.fake, SECRETS, "team", names[i]),
		    "data[ssh-privatekey]");
		assert_non_null(keys[i]);
		assert_false(is_told(&fixture, keys[i]));
	}
	assert_string_not_equal(keys[0], keys[1]);
	operator_tear_down(&fixture);
}

/* Labels are anybody's to write; only the owner's uid counts. */
static void forged_labels_make_no_child(void **state)
{
	struct fake_object *job, *forged;
	struct operator_fixture fixture;
	char *yaml;

	(void)state;
	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 2, "cleanPodPolicy: All");
	operator_run(&fixture, 300);
	/* An owner that is not its controller owns nothing either. */
	yaml = fake_text("apiVersion: v1\nkind: Pod\nmetadata:\n  name: pi-worker-7\n  labels: "
			 "{training.kubeflow.org/operator-name: "
			 "mpi-operator, training.kubeflow.org/job-name: pi, "
			 "training.kubeflow.org/job-role: worker, "
			 "training.kubeflow.org/replica-index: '7'}\n  ownerReferences: "
			 "[{apiVersion: kubeflow.org/v2beta1, "
			 "kind: MPIJob, name: pi, uid: '%s'}]\nstatus: {phase: Failed, reason: "
			 "Evicted, message: ha}\n",
	    fake_string(job, "metadata.uid"));
	forged = fake_put(&fixture.fake, PODS, "team", yaml);
	free(yaml);
	run_pods(&fixture);
	operator_run(&fixture, 300);
	/* Not evicted, not cleaned up, not listed. */
	assert_string_equal(condition(job, "Failed"), "absent");
	assert_ptr_equal(fake_find(&fixture.fake, PODS, "team", "pi-worker-7"), forged);
	assert_null(strstr(fake_string(fake_find(&fixture.fake, CONFIG_MAPS, "team", "pi-config"),
			       "data[discover_hosts.sh]"),
	    "worker-7"));
	operator_tear_down(&fixture);
}

static const char *message_of(const struct fake_object *job, const char *type)
{
	const mpijob_node *list = mpijob_node_find(mpijob_doc_root(job->doc), "status.conditions");

	for (size_t i = 0; i < mpijob_node_count(list); i++)
		if (strcmp(mpijob_node_string(mpijob_node_get(mpijob_node_at(list, i), "type")),
			type) == 0)
			return mpijob_node_string(
			    mpijob_node_get(mpijob_node_at(list, i), "message"));
	return NULL;
}

static void expect_cut(const char *message, size_t least, size_t most)
{
	assert_non_null(message);
	assert_in_range(strlen(message), least, most);
	assert_true(mpijob__base_utf8_valid(message, strlen(message), NULL));
}

/* All of them, and one has been too long. */
static void expect_events_cut(const struct operator_fixture *fixture)
{
	size_t longest = 0;

	for (const struct fake_object *object = fixture->fake.objects; object;
	     object = object->next) {
		const char *message =
		    strcmp(object->collection, EVENTS) == 0 ? fake_string(object, "message") : NULL;

		if (!message)
			continue;
		expect_cut(message, 1, 1024);
		longest = strlen(message) > longest ? strlen(message) : longest;
	}
	assert_in_range(longest, 1020, 1024);
}

/* `pad` decides where in a character a limit falls. */
static void cut_with(int pad)
{
	struct fake_object *job;
	mpijob_text text = { 0 };
	struct operator_fixture fixture;
	char *patch;

	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: None");
	operator_run(&fixture, 300);
	run_pods(&fixture);
	operator_run(&fixture, 100);
	mpijob__base_text_puts(&text, "\\e[31m\\r\\n\\u202e");
	mpijob__base_text_puts(&text, &"yy"[2 - pad]);
	for (int i = 0; i < 20000; i++)
		mpijob__base_text_puts(&text, "x\xc3\xa9");
	mpijob__operator_events_emit(fixture.operator_, entry_of(&fixture), "Warning", "Long",
	    mpijob_text_data(&text));
	patch = fake_text("status: {phase: Failed, reason: Evicted, message: \"%s\"}",
	    mpijob_text_data(&text));
	fake_patch(&fixture.fake, fake_find(&fixture.fake, PODS, "team", "pi-worker-0"), patch);
	free(patch);
	operator_run(&fixture, 300);
	assert_string_equal(condition(job, "Failed"), "True");
	/* What a pod said is cut shorter, in front of it stands which one it is. */
	expect_cut(message_of(job, "Failed"), 500, 512 + 150);
	expect_events_cut(&fixture);
	operator_tear_down(&fixture);

	operator_set_up(&fixture);
	job = put_job(&fixture, "team", "pi", 1, "cleanPodPolicy: None");
	operator_run(&fixture, 300);
	patch = fake_text("status: {failed: 1, conditions: [{type: Failed, status: 'True', reason: "
			  "R, message: \"%s\"}]}",
	    mpijob_text_data(&text));
	fake_patch(&fixture.fake, fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher"),
	    patch);
	free(patch);
	operator_run(&fixture, 300);
	assert_string_equal(condition(job, "Failed"), "True");
	expect_cut(message_of(job, "Failed"), 900, 1024);
	expect_events_cut(&fixture);
	mpijob__base_text_release(&text);
	operator_tear_down(&fixture);
}

/* The termination message of a pod is the tenant's, and as long as he likes. */
static void long_and_strange_messages_are_cut(void **state)
{
	(void)state;
	for (int pad = 0; pad < 3; pad++)
		cut_with(pad);
}

/* Many jobs that are nothing but trouble do not keep one from the rest. */
static void a_flood_of_them_drowns_nobody(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	for (int i = 0; i < 300; i++) {
		char *yaml =
		    fake_text(HEAD "metadata: {name: bad-%d}\nspec: {slotsPerWorker: -%d}\n", i,
			i + 1);

		fake_put(&fixture.fake, JOBS, "evil", yaml);
		free(yaml);
	}
	put_job(&fixture, "team", "good", 2, "cleanPodPolicy: All");
	operator_run(&fixture, 900);
	expect_children(&fixture, 1, 2);
	assert_true(has_sample(&fixture, "mpi_operator_jobs{phase=\"SetAside\"} 300\n"));
	/* One request for each is all that they cost, and that not for ever. */
	assert_true(fake_count(&fixture.fake, "POST /api/v1/namespaces/evil/events") <= 300);
	assert_int_equal(fake_count(&fixture.fake,
			     "PATCH /apis/kubeflow.org/v2beta1/namespaces/evil"),
	    0);
	operator_tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_them_is_set_aside_and_the_others_go_on),
		cmocka_unit_test(names_of_others_are_not_taken),
		cmocka_unit_test(the_contents_of_a_secret_go_nowhere),
		cmocka_unit_test(each_job_has_a_key_of_its_own),
		cmocka_unit_test(forged_labels_make_no_child),
		cmocka_unit_test(long_and_strange_messages_are_cut),
		cmocka_unit_test(a_flood_of_them_drowns_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
