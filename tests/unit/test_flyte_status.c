/* SPDX-License-Identifier: Apache-2.0 */
/* What Flyte is told of a job, where it differs from what Flyte's plugin says, and the timeout rule
 * to the second. */
#include <mpijob/flyte.h>
#include <mpijob/mpijob.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NOON INT64_C(1795262400) /* 2026-11-21T12:00:00Z */

static mpijob_flyte_status *look(const char *text,
    const struct mpijob_flyte_status_options *options)
{
	mpijob_flyte_status *status = NULL;
	mpijob_doc *doc = NULL;

	assert_int_equal(mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL), 0);
	assert_int_equal(mpijob_flyte_status_read(mpijob_doc_root(doc), options, &status), 0);
	mpijob_doc_free(doc);
	return status;
}

#define JOB(version, spec, status)                                                                 \
	"{apiVersion: kubeflow.org/" version ", kind: MPIJob, metadata: {name: j, namespace: ns, " \
	"creationTimestamp: '2026-11-21T12:00:00Z'},"                                              \
	" spec: {mpiReplicaSpecs: {Worker: {replicas: 2}}" spec "}, status: {" status "}}"

static void the_launcher_is_linked_first(void **state)
{
	struct mpijob_flyte_status_options options = MPIJOB_FLYTE_STATUS_OPTIONS_INIT;
	uint32_t none = 0;
	mpijob_flyte_status *status = look(JOB("v1", "", ""), NULL);

	(void)state;
	assert_int_equal(mpijob_flyte_status_link_count(status), 3);
	assert_string_equal(mpijob_flyte_status_link_at(status, 0)->pod, "j-launcher");
	assert_string_equal(mpijob_flyte_status_link_at(status, 2)->pod, "j-worker-1");
	assert_string_equal(mpijob_flyte_status_link_at(status, 2)->uri,
	    "http://localhost:30082/#!/log/ns/j-worker-1/pod?namespace=ns");
	assert_null(mpijob_flyte_status_link_at(status, 3));
	mpijob_flyte_status_free(status);
	status = look(JOB("v2beta1", "", ""), NULL);
	assert_int_equal(mpijob_flyte_status_link_count(status), 2);
	mpijob_flyte_status_free(status);
	options.launcher_pod = "j-launcher-x7k2p";
	status = look(JOB("v2beta1", "", ""), &options);
	assert_string_equal(mpijob_flyte_status_link_at(status, 0)->pod, "j-launcher-x7k2p");
	mpijob_flyte_status_free(status);
	options.repairs = &none;
	status = look(JOB("v1", "", ""), &options);
	assert_int_equal(mpijob_flyte_status_link_count(status), 2);
	mpijob_flyte_status_free(status);
}

static void links_have_an_end(void **state)
{
	static const char text[] =
	    "{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: j, namespace: ns}, "
	    "spec: {mpiReplicaSpecs: {Worker: {replicas: 2147483647}}}}";
	mpijob_flyte_status *status = look(text, NULL);

	(void)state;
	assert_int_equal(mpijob_flyte_status_link_count(status), 10000);
	assert_string_equal(mpijob_flyte_status_link_at(status, 9999)->pod, "j-worker-9999");
	mpijob_flyte_status_free(status);
}

static void templates_are_filled(void **state)
{
	struct mpijob_flyte_log_template template = MPIJOB_FLYTE_LOG_TEMPLATE_INIT;
	const struct mpijob_flyte_log_template *templates[] = { &template, NULL };
	struct mpijob_flyte_execution execution = MPIJOB_FLYTE_EXECUTION_INIT;
	struct mpijob_flyte_status_options options = MPIJOB_FLYTE_STATUS_OPTIONS_INIT;
	mpijob_flyte_status *status;
	mpijob_doc *doc = NULL;

	(void)state;
	template.name = "Logs of {{ .podName }}";
	template.uri = "l/{{.podUnixStartTime}}-{{ .podUnixFinishTime }}/{{ $PODRFC3339FINISHTIME "
		       "}}/{{.taskRetryAttempt}}/{{.nodeID}}";
	options.templates = templates;
	options.templates_count = 1;
	options.now_s = NOON + 5;
	options.execution = &execution;
	execution.attempt = 2;
	status = look(JOB("v2beta1", "", "startTime: '2026-11-21T12:00:00Z'"), &options);
	assert_string_equal(mpijob_flyte_status_link_at(status, 0)->name, "Logs of j-worker-0");
	assert_string_equal(mpijob_flyte_status_link_at(status, 0)->uri,
	    "l/1795262400-1795262405/2026-11-21T12:00:05Z/2/{{.nodeID}}");
	mpijob_flyte_status_free(status);
	options.templates_count = 0;
	status = look(JOB("v1", "", "startTime: '2026-11-21T12:00:00Z'"), &options);
	assert_int_equal(mpijob_flyte_status_link_count(status), 0);
	mpijob_flyte_status_free(status);
	options.templates_count = 2;
	status = NULL;
	assert_int_equal(mpijob_doc_parse(JOB("v1", "", ""), strlen(JOB("v1", "", "")), NULL, &doc,
			     NULL),
	    0);
	options.now_s = 0;
	assert_int_equal(mpijob_flyte_status_read(mpijob_doc_root(doc), &options, &status),
	    MPIJOB_ERR_USAGE);
	assert_null(status);
	mpijob_doc_free(doc);
}

static void expect_late(const char *text, int64_t seconds, const int32_t *timeout, int late)
{
	struct mpijob_flyte_status_options options = MPIJOB_FLYTE_STATUS_OPTIONS_INIT;
	mpijob_flyte_status *status;

	options.now_s = NOON + seconds;
	options.timeout_s = timeout;
	status = look(text, &options);
	assert_int_equal(mpijob_flyte_status_phase(status)->timed_out, late);
	assert_int_equal(mpijob_flyte_status_phase(status)->error != NULL, late);
	assert_int_equal(mpijob_flyte_status_phase(status)->phase,
	    late ? MPIJOB_FLYTE_UNDEFINED : MPIJOB_FLYTE_QUEUED);
	mpijob_flyte_status_free(status);
}

static void operators_may_be_late(void **state)
{
	const int32_t ten = 10;

	(void)state;
	expect_late(JOB("v1", "", ""), 60, NULL, 0);
	expect_late(JOB("v1", "", ""), 61, NULL, 1);
	expect_late(JOB("v2beta1", "", ""), 11, &ten, 1);
	expect_late(JOB("v2beta1", "", ""), 10, &ten, 0);
	expect_late(JOB("v1", ", runPolicy: {suspend: true}", ""), 1000, NULL, 0);
	expect_late(JOB("v1", "", "startTime: '2026-11-21T12:00:01Z'"), 1000, NULL, 0);
	expect_late(JOB("v1", "", ""), -NOON, NULL, 0); /* the time is not known */
}

#define CONDITION(type, status, second)     \
	"{type: " type ", status: '" status \
	"', reason: R, message: m, lastTransitionTime: '2026-11-21T12:00:0" second "Z'}"

static void expect_phase(const char *text, const uint32_t *repairs, int32_t phase,
    const char *reason, const char *message)
{
	struct mpijob_flyte_status_options options = MPIJOB_FLYTE_STATUS_OPTIONS_INIT;
	mpijob_flyte_status *status;

	options.repairs = repairs;
	status = look(text, &options);
	assert_int_equal(mpijob_flyte_status_phase(status)->phase, phase);
	assert_string_equal(mpijob_flyte_status_phase(status)->reason, reason);
	assert_string_equal(mpijob_flyte_status_phase(status)->message, message);
	mpijob_flyte_status_free(status);
}

static void what_ended_has_ended(void **state)
{
	static const char quick[] = JOB("v2beta1", "",
	    "conditions: [" CONDITION("Created", "True", "1") ", " CONDITION("Running", "False",
		"1") ", " CONDITION("Succeeded", "True", "1") "]");
	static const char failed[] = JOB("v1", "",
	    "conditions: [" CONDITION("Running", "True", "5") ", " CONDITION("Failed", "True",
		"2") "]");
	static const char odd[] = JOB("v1", "", "conditions: [" CONDITION("Odd", "True", "1") "]");
	static const char none[] =
	    JOB("v1", "", "conditions: [" CONDITION("Running", "False", "1") "]");
	const uint32_t plugin = 0;

	(void)state;
	expect_phase(quick, &plugin, MPIJOB_FLYTE_QUEUED, "JobCreated", "");
	expect_phase(quick, NULL, MPIJOB_FLYTE_SUCCESS, "", "");
	expect_phase(failed, &plugin, MPIJOB_FLYTE_RUNNING, "", "");
	expect_phase(failed, NULL, MPIJOB_FLYTE_RETRYABLE_FAILURE, "", "Job failed:\n\tR - m");
	expect_phase(odd, NULL, MPIJOB_FLYTE_UNDEFINED, "", "");
	expect_phase(none, NULL, MPIJOB_FLYTE_UNDEFINED, "", "");
	expect_phase(JOB("v1", "", ""), NULL, MPIJOB_FLYTE_QUEUED, "JobCreated", "");
	expect_phase(JOB("v1", "",
			 "conditions: [" CONDITION("Created", "True",
			     "1") ", " CONDITION("Suspended", "True", "1") "]"),
	    NULL, MPIJOB_FLYTE_QUEUED, "Suspended", "");
}

static void other_objects_are_refused(void **state)
{
	mpijob_flyte_status *status = NULL;
	mpijob_doc *doc = NULL;
	const char *text = "{apiVersion: kubeflow.org/v1alpha2, kind: MPIJob}";

	(void)state;
	assert_int_equal(mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL), 0);
	assert_int_equal(mpijob_flyte_status_read(mpijob_doc_root(doc), NULL, &status),
	    MPIJOB_ERR_UNSUPPORTED);
	assert_int_equal(mpijob_flyte_status_read(NULL, NULL, &status), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_flyte_status_read(mpijob_doc_root(doc), NULL, NULL),
	    MPIJOB_ERR_USAGE);
	assert_null(status);
	mpijob_flyte_status_free(NULL);
	mpijob_doc_free(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_launcher_is_linked_first),
		cmocka_unit_test(links_have_an_end),
		cmocka_unit_test(templates_are_filled),
		cmocka_unit_test(operators_may_be_late),
		cmocka_unit_test(what_ended_has_ended),
		cmocka_unit_test(other_objects_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
