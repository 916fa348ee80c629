/* SPDX-License-Identifier: Apache-2.0 */
/* The operator under a configuration: what it makes of jobs, whom it tells, and what a reload
 * does. */
#include "../support/operator_rig.h"

#include "base/text.h"

#include <mpijob/operator_config.h>

#define HEAD "apiVersion: libmpijob/v1alpha1\nkind: OperatorConfig\n"

static void configure(struct rig *rig, const char *text)
{
	struct mpijob_text whole = { 0 };
	mpijob_operator_config *config = NULL;

	mpijob__base_text_printf(&whole, "%s%s", HEAD, text);
	assert_int_equal(mpijob_operator_config_parse(whole.data, whole.len, NULL, &config, NULL),
	    0);
	assert_int_equal(mpijob_operator_configure(rig->operator_, config), 0);
	mpijob_operator_config_free(config);
	mpijob__base_text_release(&whole);
}

/* Events of a reason about a job. */
static int events(const struct rig *rig, const char *job, const char *reason)
{
	int count = 0;

	for (const struct fake_object *object = rig->fake.objects; object; object = object->next)
		count += strcmp(object->collection, EVENTS) == 0 &&
			 strcmp(fake_string(object, "reason"), reason) == 0 &&
			 strcmp(fake_string(object, "involvedObject.name"), job) == 0;
	return count;
}

static const char *message(const struct rig *rig, const char *job, const char *reason)
{
	for (const struct fake_object *object = rig->fake.objects; object; object = object->next)
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

static void expect_metric(const struct rig *rig, const char *line)
{
	char *text = metrics(rig);

	if (!strstr(text, line))
		fail_msg("no %s", line);
	free(text);
}

static void values_reach_the_children_and_not_the_spec(void **state)
{
	struct fake_object *job, *launcher;
	struct rig rig;

	(void)state;
	set_up(&rig);
	configure(&rig,
	    "defaults: {ttlSecondsAfterFinished: 60, cleanPodPolicy: All}\n"
	    "limits: {activeDeadlineSeconds: {max: 1000}}\n"
	    "namespaces: [{names: [other], limits: {activeDeadlineSeconds: {max: 7}}}]\n");
	job = put_job(&rig, "team", "pi", 2, "activeDeadlineSeconds: 5000");
	put_job(&rig, "other", "tau", 2, "");
	run(&rig, 600);
	expect_children(&rig, 2, 4);
	launcher = fake_find(&rig.fake, LAUNCHERS, "team", "pi-launcher");
	assert_int_equal(number_of(launcher, "spec.activeDeadlineSeconds"), 1000);
	assert_int_equal(number_of(launcher, "spec.ttlSecondsAfterFinished"), 60);
	assert_int_equal(number_of(fake_find(&rig.fake, LAUNCHERS, "other", "tau-launcher"),
			     "spec.activeDeadlineSeconds"),
	    7);
	/* The spec is the user's. */
	assert_int_equal(number_of(job, "spec.runPolicy.activeDeadlineSeconds"), 5000);
	assert_null(
	    mpijob_node_find(mpijob_doc_root(job->doc), "spec.runPolicy.ttlSecondsAfterFinished"));
	assert_int_equal(fake_count(&rig.fake,
			     "PATCH /apis/kubeflow.org/v2beta1/namespaces/team/mpijobs/pi "),
	    0);
	/* He is told, once. */
	assert_int_equal(events(&rig, "pi", "LimitApplied"), 1);
	assert_string_equal(message(&rig, "pi", "LimitApplied"),
	    "spec.runPolicy.activeDeadlineSeconds is 1000, not 5000: a limit of this operator's "
	    "configuration");
	run_pods(&rig);
	fake_patch(&rig.fake, launcher,
	    "status: {active: 0, succeeded: 1, startTime: '2026-11-21T12:00:00Z', completionTime: "
	    "'2026-11-21T12:05:00Z', "
	    "conditions: [{type: Complete, status: 'True'}]}");
	run(&rig, 600);
	assert_string_equal(condition(job, "Succeeded"), "True");
	assert_int_equal(events(&rig, "pi", "LimitApplied"), 1);
	/* cleanPodPolicy All */
	assert_null(fake_find(&rig.fake, PODS, "team", "pi-worker-0"));
	tear_down(&rig);
}

static void one_over_the_limit_is_set_aside_while_others_go_on(void **state)
{
	struct fake_object *large;
	struct rig rig;
	size_t requests;

	(void)state;
	set_up(&rig);
	configure(&rig, "limits: {workers: {max: 3}}\n");
	large = put_job(&rig, "team", "large", 4, "");
	put_job(&rig, "team", "small", 3, "");
	run(&rig, 600);
	expect_children(&rig, 1, 3);
	assert_int_equal(events(&rig, "large", "ValidationError"), 1);
	assert_non_null(
	    strstr(message(&rig, "large", "ValidationError"), "4 workers are more than the 3"));
	expect_metric(&rig, "mpi_operator_objects_set_aside_total{kind=\"MPIJob\"} 1\n");
	expect_metric(&rig, "mpi_operator_jobs{phase=\"SetAside\"} 1\n");
	requests = rig.fake.log_count;
	run(&rig, 100);
	assert_int_equal(rig.fake.log_count, requests);

	fake_patch(&rig.fake, large, "spec: {mpiReplicaSpecs: {Worker: {replicas: 2}}}");
	run(&rig, 600);
	expect_children(&rig, 2, 5);
	expect_metric(&rig, "mpi_operator_jobs{phase=\"SetAside\"} 0\n");
	expect_metric(&rig, "mpi_operator_objects_set_aside_total{kind=\"MPIJob\"} 1\n");
	tear_down(&rig);
}

static void a_reload_takes_jobs_up_again(void **state)
{
	struct rig rig;
	size_t requests;

	(void)state;
	set_up(&rig);
	configure(&rig, "limits: {workers: {max: 3}}\n");
	put_job(&rig, "team", "large", 4, "");
	run(&rig, 300);
	expect_children(&rig, 0, 0);
	configure(&rig, "limits: {workers: {max: 4}}\n");
	run(&rig, 600);
	expect_children(&rig, 1, 4);
	/* What runs goes on under a lower limit, and a reload of the same is no reason to write. */
	configure(&rig, "limits: {workers: {max: 1}}\n");
	run(&rig, 300);
	expect_children(&rig, 1, 4);
	requests = fake_writes(&rig.fake);
	configure(&rig, "limits: {workers: {max: 1}}\n");
	assert_int_equal(mpijob_operator_configure(rig.operator_, NULL), 0);
	run(&rig, 300);
	assert_int_equal(fake_writes(&rig.fake), requests);
	assert_int_equal(mpijob_operator_configure(NULL, NULL), MPIJOB_ERR_USAGE);
	tear_down(&rig);
}

static struct fake_object *put_annotated(struct rig *rig, const char *name, const char *annotations)
{
	char *yaml = fake_text(
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: %s, annotations: "
	    "{%s}}\nspec:\n"
	    "  mpiReplicaSpecs:\n"
	    "    Launcher: {template: {spec: {containers: [{name: l, image: i, command: "
	    "[mpirun]}]}}}\n"
	    "    Worker: {replicas: 1, template: {spec: {containers: [{name: w, image: i}]}}}\n",
	    name, annotations);
	struct fake_object *job = fake_put(&rig->fake, JOBS, "team", yaml);

	free(yaml);
	return job;
}

static const mpijob_node *init_container(struct rig *rig, const char *launcher)
{
	const struct fake_object *object = fake_find(&rig->fake, LAUNCHERS, "team", launcher);

	assert_non_null(object);
	return mpijob_node_find(mpijob_doc_root(object->doc),
	    "spec.template.spec.initContainers[0]");
}

static void annotations_count_where_they_are_allowed(void **state)
{
	struct fake_object *job;
	struct rig rig;

	(void)state;
	set_up(&rig);
	/* Without a configuration none does, and their people are told. */
	put_annotated(&rig, "early", "libmpijob/wait-for-hosts: 60s");
	run(&rig, 300);
	assert_null(init_container(&rig, "early-launcher"));
	assert_int_equal(events(&rig, "early", "AnnotationIgnored"), 1);
	configure(&rig, "annotations: [wait-for-hosts]\n");
	put_annotated(&rig, "pi", "libmpijob/wait-for-hosts: 60s");
	job = put_annotated(&rig, "tau",
	    "libmpijob/wait-for-hosts: for ever, libmpijob/compact-hosts: 'true'");
	run(&rig, 600);
	assert_non_null(init_container(&rig, "pi-launcher"));
	assert_int_equal(events(&rig, "pi", "AnnotationIgnored"), 0);
	assert_null(init_container(&rig, "tau-launcher"));
	assert_int_equal(events(&rig, "tau", "AnnotationIgnored"), 1);
	assert_string_equal(message(&rig, "tau", "AnnotationIgnored"),
	    "the annotation libmpijob/wait-for-hosts has no effect: its value is none for "
	    "wait-for-hosts; the annotation "
	    "libmpijob/compact-hosts has no effect: the configuration of the operator does not "
	    "allow it in team");
	/* Once is enough. */
	run_pods(&rig);
	run(&rig, 300);
	fake_patch(&rig.fake, job, "metadata: {labels: {a: b}}");
	run(&rig, 300);
	assert_int_equal(events(&rig, "tau", "AnnotationIgnored"), 1);
	tear_down(&rig);
}

/* Jobs that somebody else looks after are not ours to comment on. */
static void foreign_jobs_are_left_alone(void **state)
{
	struct rig rig;

	(void)state;
	set_up(&rig);
	configure(&rig, "limits: {workers: {max: 1}, activeDeadlineSeconds: {max: 1}}\n");
	put_job(&rig, "team", "pi", 9, "managedBy: kueue.x-k8s.io/multikueue");
	run(&rig, 300);
	assert_int_equal(fake_writes(&rig.fake), 0);
	expect_metric(&rig, "mpi_operator_jobs{phase=\"SetAside\"} 0\n");
	tear_down(&rig);
}

/* Who asks for more later is told then; who asks for nothing is told nothing. */
static void a_later_wish_is_told_too(void **state)
{
	struct fake_object *job;
	struct rig rig;

	(void)state;
	set_up(&rig);
	configure(&rig, "limits: {activeDeadlineSeconds: {max: 1000}}\nannotations: []\n");
	job = put_job(&rig, "team", "pi", 1, "");
	run(&rig, 300);
	assert_int_equal(number_of(fake_find(&rig.fake, LAUNCHERS, "team", "pi-launcher"),
			     "spec.activeDeadlineSeconds"),
	    1000);
	assert_int_equal(events(&rig, "pi", "LimitApplied"), 0);
	fake_patch(&rig.fake, job,
	    "spec: {runPolicy: {activeDeadlineSeconds: 5000, suspend: true}}");
	run(&rig, 300);
	assert_int_equal(events(&rig, "pi", "LimitApplied"), 1);
	fake_patch(&rig.fake, job,
	    "metadata: {annotations: {libmpijob/ssh-port: '2222'}}\nspec: {runPolicy: {suspend: "
	    "false}}");
	run(&rig, 300);
	assert_int_equal(events(&rig, "pi", "AnnotationIgnored"), 1);
	tear_down(&rig);
}

/* Another operator, or the one before, told what there was to tell. */
static void a_restart_tells_nothing_again(void **state)
{
	struct rig rig;

	(void)state;
	set_up(&rig);
	configure(&rig, "limits: {activeDeadlineSeconds: {max: 1000}}\n");
	put_job(&rig, "team", "pi", 1, "activeDeadlineSeconds: 5000");
	run(&rig, 300);
	assert_int_equal(events(&rig, "pi", "LimitApplied"), 1);
	mpijob_operator_free(rig.operator_);
	start_operator(&rig);
	configure(&rig, "limits: {activeDeadlineSeconds: {max: 1000}}\n");
	run(&rig, 300);
	run_pods(&rig);
	run(&rig, 300);
	assert_int_equal(events(&rig, "pi", "LimitApplied"), 1);
	/* Another limit is news. */
	configure(&rig, "limits: {activeDeadlineSeconds: {max: 999}}\n");
	fake_patch(&rig.fake, fake_find(&rig.fake, LAUNCHERS, "team", "pi-launcher"),
	    "status: {active: 0, succeeded: 1, startTime: '2026-11-21T12:00:00Z', completionTime: "
	    "'2026-11-21T12:05:00Z', "
	    "conditions: [{type: Complete, status: 'True'}]}");
	run(&rig, 300);
	assert_int_equal(events(&rig, "pi", "LimitApplied"), 2);
	tear_down(&rig);
}

static const char policies[] = "/apis/networking.k8s.io/v1/networkpolicies";

/* One that lets jobs choose. */
static void start_configured(struct rig *rig)
{
	start_operator(rig);
	configure(rig, "annotations: [network-policy]\n");
}

static size_t asked_for_policy(const struct rig *rig)
{
	return fake_count(&rig->fake,
	    "GET /apis/networking.k8s.io/v1/namespaces/team/networkpolicies/pi");
}

/* Nobody watches it: who comes later asks for it by name, and makes none; one that is missing is
 * made. */
static void a_network_policy_by_annotation(void **state)
{
	struct rig rig;
	size_t writes;

	(void)state;
	set_up_server(&rig);
	start_configured(&rig);
	put_annotated(&rig, "pi", "libmpijob/network-policy: 'true'");
	run(&rig, 400);
	expect_children(&rig, 1, 1);
	assert_int_equal(fake_objects(&rig.fake, policies), 1);
	assert_int_equal(asked_for_policy(&rig), 0);
	mpijob_operator_free(rig.operator_);
	writes = fake_writes(&rig.fake);
	start_configured(&rig);
	run(&rig, 400);
	assert_int_equal(fake_writes(&rig.fake), writes);
	assert_int_equal(asked_for_policy(&rig), 1);
	mpijob_operator_free(rig.operator_);
	fake_delete(&rig.fake, fake_find(&rig.fake, policies, "team", "pi"));
	start_configured(&rig);
	run(&rig, 400);
	assert_int_equal(fake_writes(&rig.fake), writes + 1);
	assert_int_equal(asked_for_policy(&rig), 2);
	assert_int_equal(fake_objects(&rig.fake, policies), 1);
	tear_down(&rig);
}

/* Somebody else's is in its place; when that is gone, which nobody tells, it is found out. */
static void somebody_elses_network_policy(void **state)
{
	struct rig rig;
	struct mpijob__operator_job *entry;

	(void)state;
	set_up_server(&rig);
	start_configured(&rig);
	fake_put(&rig.fake, policies, "team",
	    "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: pi}\n");
	put_annotated(&rig, "pi", "libmpijob/network-policy: 'true'");
	run(&rig, 400);
	assert_int_equal(fake_objects(&rig.fake, LAUNCHERS), 0);
	fake_delete(&rig.fake, fake_find(&rig.fake, policies, "team", "pi"));
	entry = mpijob__operator_job_find(rig.operator_,
	    fake_string(fake_find(&rig.fake, JOBS, "team", "pi"), "metadata.uid"));
	assert_true(entry->backoff.foreign_until_ms > rig.operator_->now_ms);
	entry->backoff.foreign_until_ms = 1;
	mpijob__operator_queue_add(&rig.operator_->queue, &entry->item);
	run(&rig, 400);
	expect_children(&rig, 1, 1);
	assert_int_equal(fake_objects(&rig.fake, policies), 1);
	tear_down(&rig);
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
