/* SPDX-License-Identifier: Apache-2.0 */
/* The operator under a configuration: what it makes of jobs, whom it tells, and what a reload
 * does. */
#include "../support/operator_fixture.h"

#include "base/text.h"

#include <mpijob/operator_config.h>

#define HEAD "apiVersion: libmpijob/v1alpha1\nkind: OperatorConfig\n"

static void configure(struct operator_fixture *fixture, const char *text)
{
	struct mpijob_text whole = { 0 };
	mpijob_operator_config *config = NULL;

	mpijob__base_text_printf(&whole, "%s%s", HEAD, text);
	assert_int_equal(mpijob_operator_config_parse(whole.data, whole.len, NULL, &config, NULL),
	    0);
	assert_int_equal(mpijob_operator_configure(fixture->operator_, config), 0);
	mpijob_operator_config_free(config);
	mpijob__base_text_release(&whole);
}

/* Events of a reason about a job. */
static int events(const struct operator_fixture *fixture, const char *job, const char *reason)
{
	int count = 0;

	for (const struct fake_object *object = fixture->fake.objects; object;
	     object = object->next)
		count += strcmp(object->collection, EVENTS) == 0 &&
			 strcmp(fake_string(object, "reason"), reason) == 0 &&
			 strcmp(fake_string(object, "involvedObject.name"), job) == 0;
	return count;
}

static const char *message(const struct operator_fixture *fixture, const char *job,
    const char *reason)
{
	for (const struct fake_object *object = fixture->fake.objects; object;
	     object = object->next)
		if (strcmp(object->collection, EVENTS) == 0 &&
		    strcmp(fake_string(object, "reason"), reason) == 0 &&
		    strcmp(fake_string(object, "involvedObject.name"), job) == 0)
			return fake_string(object, "message");
	return "";
}

static int64_t number_of(const struct fake_object *object, const char *path)
{
	int64_t number = -1;

	mpijob_node_int(object ? mpijob_node_find(mpijob_doc_root(object->doc), path) : NULL,
	    &number);
	return number;
}

static void expect_metric(const struct operator_fixture *fixture, const char *line)
{
	char *text = metrics(fixture);

	if (!strstr(text, line))
		fail_msg("no %s", line);
	free(text);
}

static void values_reach_the_children_and_not_the_spec(void **state)
{
	struct fake_object *job, *launcher;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	configure(&fixture,
	    "defaults: {ttlSecondsAfterFinished: 60, cleanPodPolicy: All}\n"
	    "limits: {activeDeadlineSeconds: {max: 1000}}\n"
	    "namespaces: [{names: [other], limits: {activeDeadlineSeconds: {max: 7}}}]\n");
	job = put_job(&fixture, "team", "pi", 2, "activeDeadlineSeconds: 5000");
	put_job(&fixture, "other", "tau", 2, "");
	operator_run(&fixture, 600);
	expect_children(&fixture, 2, 4);
	launcher = fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher");
	assert_int_equal(number_of(launcher, "spec.activeDeadlineSeconds"), 1000);
	assert_int_equal(number_of(launcher, "spec.ttlSecondsAfterFinished"), 60);
	assert_int_equal(number_of(fake_find(&fixture.fake, LAUNCHERS, "other", "tau-launcher"),
			     "spec.activeDeadlineSeconds"),
	    7);
	/* The spec is the user's. */
	assert_int_equal(number_of(job, "spec.runPolicy.activeDeadlineSeconds"), 5000);
	assert_null(
	    mpijob_node_find(mpijob_doc_root(job->doc), "spec.runPolicy.ttlSecondsAfterFinished"));
	assert_int_equal(fake_count(&fixture.fake,
			     "PATCH /apis/kubeflow.org/v2beta1/namespaces/team/mpijobs/pi "),
	    0);
	/* He is told, once. */
	assert_int_equal(events(&fixture, "pi", "LimitApplied"), 1);
	assert_string_equal(message(&fixture, "pi", "LimitApplied"),
	    "spec.runPolicy.activeDeadlineSeconds is 1000, not 5000: a limit of this operator's "
	    "configuration");
	run_pods(&fixture);
	fake_patch(&fixture.fake, launcher,
	    "status: {active: 0, succeeded: 1, startTime: '2026-11-21T12:00:00Z', completionTime: "
	    "'2026-11-21T12:05:00Z', "
	    "conditions: [{type: Complete, status: 'True'}]}");
	operator_run(&fixture, 600);
	assert_string_equal(condition(job, "Succeeded"), "True");
	assert_int_equal(events(&fixture, "pi", "LimitApplied"), 1);
	/* cleanPodPolicy All */
	assert_null(fake_find(&fixture.fake, PODS, "team", "pi-worker-0"));
	operator_tear_down(&fixture);
}

static void one_over_the_limit_is_set_aside_while_others_go_on(void **state)
{
	struct fake_object *large;
	struct operator_fixture fixture;
	size_t requests;

	(void)state;
	operator_set_up(&fixture);
	configure(&fixture, "limits: {workers: {max: 3}}\n");
	large = put_job(&fixture, "team", "large", 4, "");
	put_job(&fixture, "team", "small", 3, "");
	operator_run(&fixture, 600);
	expect_children(&fixture, 1, 3);
	assert_int_equal(events(&fixture, "large", "ValidationError"), 1);
	assert_non_null(
	    strstr(message(&fixture, "large", "ValidationError"), "4 workers are more than the 3"));
	expect_metric(&fixture, "mpi_operator_objects_set_aside_total{kind=\"MPIJob\"} 1\n");
	expect_metric(&fixture, "mpi_operator_jobs{phase=\"SetAside\"} 1\n");
	requests = fixture.fake.log_count;
	operator_run(&fixture, 100);
	assert_int_equal(fixture.fake.log_count, requests);

	fake_patch(&fixture.fake, large, "spec: {mpiReplicaSpecs: {Worker: {replicas: 2}}}");
	operator_run(&fixture, 600);
	expect_children(&fixture, 2, 5);
	expect_metric(&fixture, "mpi_operator_jobs{phase=\"SetAside\"} 0\n");
	expect_metric(&fixture, "mpi_operator_objects_set_aside_total{kind=\"MPIJob\"} 1\n");
	operator_tear_down(&fixture);
}

static void a_reload_takes_jobs_up_again(void **state)
{
	struct operator_fixture fixture;
	size_t requests;

	(void)state;
	operator_set_up(&fixture);
	configure(&fixture, "limits: {workers: {max: 3}}\n");
	put_job(&fixture, "team", "large", 4, "");
	operator_run(&fixture, 300);
	expect_children(&fixture, 0, 0);
	configure(&fixture, "limits: {workers: {max: 4}}\n");
	operator_run(&fixture, 600);
	expect_children(&fixture, 1, 4);
	/* What runs goes on under a lower limit, and a reload of the same is no reason to write. */
	configure(&fixture, "limits: {workers: {max: 1}}\n");
	operator_run(&fixture, 300);
	expect_children(&fixture, 1, 4);
	requests = fake_writes(&fixture.fake);
	configure(&fixture, "limits: {workers: {max: 1}}\n");
	assert_int_equal(mpijob_operator_configure(fixture.operator_, NULL), 0);
	operator_run(&fixture, 300);
	assert_int_equal(fake_writes(&fixture.fake), requests);
	assert_int_equal(mpijob_operator_configure(NULL, NULL), MPIJOB_ERR_USAGE);
	operator_tear_down(&fixture);
}

static struct fake_object *put_annotated(struct operator_fixture *fixture, const char *name,
    const char *annotations)
{
	char *yaml = fake_text(
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: %s, annotations: "
	    "{%s}}\nspec:\n"
	    "  mpiReplicaSpecs:\n"
	    "    Launcher: {template: {spec: {containers: [{name: l, image: i, command: "
	    "[mpirun]}]}}}\n"
	    "    Worker: {replicas: 1, template: {spec: {containers: [{name: w, image: i}]}}}\n",
	    name, annotations);
	struct fake_object *job = fake_put(&fixture->fake, JOBS, "team", yaml);

	free(yaml);
	return job;
}

static const mpijob_node *init_container(struct operator_fixture *fixture, const char *launcher)
{
	const struct fake_object *object = fake_find(&fixture->fake, LAUNCHERS, "team", launcher);

	assert_non_null(object);
	return mpijob_node_find(mpijob_doc_root(object->doc),
	    "spec.template.spec.initContainers[0]");
}

static void annotations_count_where_they_are_allowed(void **state)
{
	struct fake_object *job;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	/* Without a configuration none does, and their people are told. */
	put_annotated(&fixture, "early", "libmpijob/wait-for-hosts: 60s");
	operator_run(&fixture, 300);
	assert_null(init_container(&fixture, "early-launcher"));
	assert_int_equal(events(&fixture, "early", "AnnotationIgnored"), 1);
	configure(&fixture, "annotations: [wait-for-hosts]\n");
	put_annotated(&fixture, "pi", "libmpijob/wait-for-hosts: 60s");
	job = put_annotated(&fixture, "tau",
	    "libmpijob/wait-for-hosts: for ever, libmpijob/compact-hosts: 'true'");
	operator_run(&fixture, 600);
	assert_non_null(init_container(&fixture, "pi-launcher"));
	assert_int_equal(events(&fixture, "pi", "AnnotationIgnored"), 0);
	assert_null(init_container(&fixture, "tau-launcher"));
	assert_int_equal(events(&fixture, "tau", "AnnotationIgnored"), 1);
	assert_string_equal(message(&fixture, "tau", "AnnotationIgnored"),
	    "the annotation libmpijob/wait-for-hosts has no effect: its value is not valid for "
	    "wait-for-hosts; the annotation "
	    "libmpijob/compact-hosts has no effect: the configuration of the operator does not "
	    "allow it in team");
	/* Once is enough. */
	run_pods(&fixture);
	operator_run(&fixture, 300);
	fake_patch(&fixture.fake, job, "metadata: {labels: {a: b}}");
	operator_run(&fixture, 300);
	assert_int_equal(events(&fixture, "tau", "AnnotationIgnored"), 1);
	operator_tear_down(&fixture);
}

/* Jobs that somebody else looks after are not ours to comment on. */
static void foreign_jobs_are_left_alone(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	configure(&fixture, "limits: {workers: {max: 1}, activeDeadlineSeconds: {max: 1}}\n");
	put_job(&fixture, "team", "pi", 9, "managedBy: kueue.x-k8s.io/multikueue");
	operator_run(&fixture, 300);
	assert_int_equal(fake_writes(&fixture.fake), 0);
	expect_metric(&fixture, "mpi_operator_jobs{phase=\"SetAside\"} 0\n");
	operator_tear_down(&fixture);
}

/* Who asks for more later is told then; who asks for nothing is told nothing. */
static void a_later_wish_is_told_too(void **state)
{
	struct fake_object *job;
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	configure(&fixture, "limits: {activeDeadlineSeconds: {max: 1000}}\nannotations: []\n");
	job = put_job(&fixture, "team", "pi", 1, "");
	operator_run(&fixture, 300);
	assert_int_equal(number_of(fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher"),
			     "spec.activeDeadlineSeconds"),
	    1000);
	assert_int_equal(events(&fixture, "pi", "LimitApplied"), 0);
	fake_patch(&fixture.fake, job,
	    "spec: {runPolicy: {activeDeadlineSeconds: 5000, suspend: true}}");
	operator_run(&fixture, 300);
	assert_int_equal(events(&fixture, "pi", "LimitApplied"), 1);
	fake_patch(&fixture.fake, job,
	    "metadata: {annotations: {libmpijob/ssh-port: '2222'}}\nspec: {runPolicy: {suspend: "
	    "false}}");
	operator_run(&fixture, 300);
	assert_int_equal(events(&fixture, "pi", "AnnotationIgnored"), 1);
	operator_tear_down(&fixture);
}

/* Another operator, or the one before, told what there was to tell. */
static void a_restart_tells_nothing_again(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	operator_set_up(&fixture);
	configure(&fixture, "limits: {activeDeadlineSeconds: {max: 1000}}\n");
	put_job(&fixture, "team", "pi", 1, "activeDeadlineSeconds: 5000");
	operator_run(&fixture, 300);
	assert_int_equal(events(&fixture, "pi", "LimitApplied"), 1);
	mpijob_operator_free(fixture.operator_);
	start_operator(&fixture);
	configure(&fixture, "limits: {activeDeadlineSeconds: {max: 1000}}\n");
	operator_run(&fixture, 300);
	run_pods(&fixture);
	operator_run(&fixture, 300);
	assert_int_equal(events(&fixture, "pi", "LimitApplied"), 1);
	/* Another limit is news. */
	configure(&fixture, "limits: {activeDeadlineSeconds: {max: 999}}\n");
	fake_patch(&fixture.fake, fake_find(&fixture.fake, LAUNCHERS, "team", "pi-launcher"),
	    "status: {active: 0, succeeded: 1, startTime: '2026-11-21T12:00:00Z', completionTime: "
	    "'2026-11-21T12:05:00Z', "
	    "conditions: [{type: Complete, status: 'True'}]}");
	operator_run(&fixture, 300);
	assert_int_equal(events(&fixture, "pi", "LimitApplied"), 2);
	operator_tear_down(&fixture);
}

static const char policies[] = "/apis/networking.k8s.io/v1/networkpolicies";

/* One that lets jobs choose. */
static void start_configured(struct operator_fixture *fixture)
{
	start_operator(fixture);
	configure(fixture, "annotations: [network-policy]\n");
}

static size_t asked_for_policy(const struct operator_fixture *fixture)
{
	return fake_count(&fixture->fake,
	    "GET /apis/networking.k8s.io/v1/namespaces/team/networkpolicies/pi");
}

/* Nobody watches it: who comes later asks for it by name, and makes none; one that is missing is
 * made. */
static void a_network_policy_by_annotation(void **state)
{
	struct operator_fixture fixture;
	size_t writes;

	(void)state;
	set_up_server(&fixture);
	start_configured(&fixture);
	put_annotated(&fixture, "pi", "libmpijob/network-policy: 'true'");
	operator_run(&fixture, 400);
	expect_children(&fixture, 1, 1);
	assert_int_equal(fake_objects(&fixture.fake, policies), 1);
	assert_int_equal(asked_for_policy(&fixture), 0);
	mpijob_operator_free(fixture.operator_);
	writes = fake_writes(&fixture.fake);
	start_configured(&fixture);
	operator_run(&fixture, 400);
	assert_int_equal(fake_writes(&fixture.fake), writes);
	assert_int_equal(asked_for_policy(&fixture), 1);
	mpijob_operator_free(fixture.operator_);
	fake_delete(&fixture.fake, fake_find(&fixture.fake, policies, "team", "pi"));
	start_configured(&fixture);
	operator_run(&fixture, 400);
	assert_int_equal(fake_writes(&fixture.fake), writes + 1);
	assert_int_equal(asked_for_policy(&fixture), 2);
	assert_int_equal(fake_objects(&fixture.fake, policies), 1);
	operator_tear_down(&fixture);
}

/* Somebody else's is in its place; when that is gone, which nobody tells, it is found out. */
static void somebody_elses_network_policy(void **state)
{
	struct operator_fixture fixture;
	struct mpijob__operator_job *entry;

	(void)state;
	set_up_server(&fixture);
	start_configured(&fixture);
	fake_put(&fixture.fake, policies, "team",
	    "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: pi}\n");
	put_annotated(&fixture, "pi", "libmpijob/network-policy: 'true'");
	operator_run(&fixture, 400);
	assert_int_equal(fake_objects(&fixture.fake, LAUNCHERS), 0);
	fake_delete(&fixture.fake, fake_find(&fixture.fake, policies, "team", "pi"));
	entry = mpijob__operator_job_find(fixture.operator_,
	    fake_string(fake_find(&fixture.fake, JOBS, "team", "pi"), "metadata.uid"));
	assert_true(entry->backoff.foreign_until_ms > fixture.operator_->now_ms);
	entry->backoff.foreign_until_ms = 1;
	mpijob__operator_queue_add(&fixture.operator_->queue, &entry->item);
	operator_run(&fixture, 400);
	expect_children(&fixture, 1, 1);
	assert_int_equal(fake_objects(&fixture.fake, policies), 1);
	operator_tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_reach_the_children_and_not_the_spec),
		cmocka_unit_test(one_over_the_limit_is_set_aside_while_others_go_on),
		cmocka_unit_test(a_reload_takes_jobs_up_again),
		cmocka_unit_test(annotations_count_where_they_are_allowed),
		cmocka_unit_test(foreign_jobs_are_left_alone),
		cmocka_unit_test(a_later_wish_is_told_too),
		cmocka_unit_test(a_restart_tells_nothing_again),
		cmocka_unit_test(a_network_policy_by_annotation),
		cmocka_unit_test(somebody_elses_network_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
