/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of Flyte tasks: what callers rely on beside the comparison with Flyte's own plugin
 * (tests/flyte). */
#include <mpijob/flyte.h>
#include <mpijob/mpijob.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LAUNCHER "spec.mpiReplicaSpecs[Launcher].template.spec"
#define WORKER   "spec.mpiReplicaSpecs[Worker].template.spec"

static mpijob_doc *read_doc(const char *text)
{
	mpijob_doc *doc = NULL;

	assert_int_equal(mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL), 0);
	return doc;
}

static int make(const char *text, const char *version, const struct mpijob_flyte_options *options,
    mpijob_doc **out, mpijob_diag *diag)
{
	mpijob_doc *task = read_doc(text);
	int code = mpijob_flyte_job(mpijob_doc_root(task), version, options, out, diag);

	mpijob_doc_free(task);
	return code;
}

static const char *text_at(const mpijob_doc *doc, const char *path)
{
	return mpijob_node_text(mpijob_node_find(mpijob_doc_root(doc), path));
}

static size_t count_of(const mpijob_diag *diag, const char *id)
{
	size_t count = 0;

	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		count += strcmp(mpijob_diag_at(diag, i)->id, id) == 0;
	return count;
}

static const char task[] =
    "{taskTypeVersion: 1, metadata: {interruptible: true}, container: {image: i, args: [mpirun, "
    "-np, '4', a],"
    " env: [{key: A, value: b}], resources: {limits: [{name: GPU, value: '1'}]}},"
    " custom: {slots: 2, workerReplicas: {replicas: 2}, launcherReplicas: {replicas: 9}, "
    "runPolicy: "
    "{ttlSecondsAfterFinished: 0}}}";

static void wrong_calls_are_told(void **state)
{
	struct mpijob_flyte_options options = MPIJOB_FLYTE_OPTIONS_INIT;
	struct mpijob_flyte_execution execution = MPIJOB_FLYTE_EXECUTION_INIT;
	mpijob_doc *doc = read_doc(task), *none = NULL;
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	assert_int_equal(mpijob_flyte_job(NULL, "v1", NULL, &none, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_flyte_job(mpijob_doc_root(doc), NULL, NULL, &none, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_flyte_job(mpijob_doc_root(doc), "v1", NULL, NULL, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_flyte_job(mpijob_doc_root(doc), "v2", NULL, &none, diag),
	    MPIJOB_ERR_UNSUPPORTED);
	assert_int_equal(count_of(diag, "unsupported-version"), 1);
	options.size = 1;
	assert_int_equal(mpijob_flyte_job(mpijob_doc_root(doc), "v1", &options, &none, NULL),
	    MPIJOB_ERR_USAGE);
	options.size = sizeof(options);
	options.execution = &execution;
	execution.size = 2;
	assert_int_equal(mpijob_flyte_job(mpijob_doc_root(doc), "v1", &options, &none, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_flyte_execution_read(mpijob_doc_root(doc), &execution, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_flyte_config_read(NULL, NULL, NULL), MPIJOB_ERR_USAGE);
	assert_null(none);
	mpijob_diag_free(diag);
	mpijob_doc_free(doc);
}

static void v1_is_the_plugins(void **state)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *job = NULL;

	(void)state;
	assert_int_equal(make(task, "kubeflow.org/v1", NULL, &job, diag), 0);
	assert_string_equal(text_at(job, "apiVersion"), "kubeflow.org/v1");
	assert_string_equal(text_at(job, "spec.slotsPerWorker"), "1");
	assert_string_equal(text_at(job, "spec.mpiReplicaSpecs[Launcher].replicas"), "1");
	assert_string_equal(text_at(job, WORKER ".containers[0].args[0]"), "mpirun");
	assert_string_equal(text_at(job,
				LAUNCHER ".containers[0].resources.limits[nvidia.com/gpu]"),
	    "1");
	assert_null(text_at(job, "spec.runPolicy.ttlSecondsAfterFinished"));
	assert_null(text_at(job, "metadata.name"));
	assert_int_equal(mpijob_diag_count(diag, 0), 0);
	mpijob_doc_free(job);
	mpijob_diag_free(diag);
}

static void v2beta1_is_repaired(void **state)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *job = NULL;

	(void)state;
	assert_int_equal(make(task, "v2beta1", NULL, &job, diag), 0);
	assert_string_equal(text_at(job, "spec.slotsPerWorker"), "2");
	assert_string_equal(text_at(job, "spec.runPolicy.ttlSecondsAfterFinished"), "0");
	assert_string_equal(text_at(job, "spec.runPolicy.backoffLimit"), "0");
	assert_string_equal(text_at(job, LAUNCHER ".containers[0].args[2]"), "A");
	assert_null(text_at(job, LAUNCHER ".containers[0].resources.limits[nvidia.com/gpu]"));
	assert_null(text_at(job, "spec.runLauncherAsWorker"));
	assert_string_equal(text_at(job, WORKER ".containers[0].resources.limits[nvidia.com/gpu]"),
	    "1");
	assert_null(mpijob_node_find(mpijob_doc_root(job), WORKER ".containers[0].args"));
	assert_int_equal(count_of(diag, "flyte-repair"), 6);
	assert_int_equal(count_of(diag, "conversion-loss"), 0);
	mpijob_doc_free(job);
	mpijob_diag_free(diag);
}

/* Each flag alone changes the job of v2beta1, and without any the environment is reported as
 * lost. */
static void repairs_can_be_chosen(void **state)
{
	static const char many[] = "{taskTypeVersion: 1, metadata: {interruptible: true}, config: "
				   "{primary_container_name: m}, k8sPod: "
				   "{podSpec: {containers:"
				   " [{name: s}, {name: m, args: [mpirun], env: [{name: A}], "
				   "resources: {limits: {gpu: 1}}}]}},"
				   " custom: {slots: 2, workerReplicas: {replicas: 2, command: "
				   "[w]}, runPolicy: {ttlSecondsAfterFinished: "
				   "0}}}";
	struct mpijob_flyte_options options = MPIJOB_FLYTE_OPTIONS_INIT;
	struct mpijob_flyte_config config = MPIJOB_FLYTE_CONFIG_INIT;
	mpijob_doc *selector = read_doc("{spot: x}"), *plain = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	uint32_t repairs = 0;

	(void)state;
	config.interruptible_node_selector = mpijob_doc_root(selector);
	options.repairs = &repairs;
	options.config = &config;
	assert_int_equal(make(many, "v2beta1", &options, &plain, diag), 0);
	assert_int_equal(count_of(diag, "flyte-repair"), 0);
	assert_int_equal(mpijob_flyte_repair_count(), 10);
	assert_null(mpijob_flyte_repair_at(10));
	for (size_t i = 0; i < 7; i++) {
		const struct mpijob_flyte_repair *repair = mpijob_flyte_repair_at(i);
		mpijob_doc *job = NULL;

		assert_int_equal(repair->size, sizeof(*repair));
		repairs = repair->flag;
		if (repairs == MPIJOB_FLYTE_ENVIRONMENT)
			repairs |= MPIJOB_FLYTE_PRIMARY_FIRST;
		mpijob_diag_clear(diag);
		assert_int_equal(make(many, "v2beta1", &options, &job, diag), 0);
		if (mpijob_node_equal(mpijob_doc_root(job), mpijob_doc_root(plain)))
			fail_msg("the repair %s changes nothing", repair->name);
		assert_int_equal(count_of(diag, "flyte-repair"), repairs == repair->flag ? 1 : 2);
		mpijob_doc_free(job);
	}
	mpijob_doc_free(plain);
	mpijob_doc_free(selector);
	mpijob_diag_free(diag);
}

static void unknown_fields_of_pods_stay(void **state)
{
	static const char unknown[] =
	    "{taskTypeVersion: 1, config: {primary_container_name: m}, k8sPod: {podSpec: "
	    "{novel: {a: [a]}, containers: [{name: m, novel: 1}]}},"
	    " custom: {workerReplicas: {replicas: 1}}}";
	mpijob_doc *job = NULL;

	(void)state;
	assert_int_equal(make(unknown, "v2beta1", NULL, &job, NULL), 0);
	assert_string_equal(text_at(job, WORKER ".novel.a[0]"), "a");
	assert_string_equal(text_at(job, WORKER ".containers[0].novel"), "1");
	mpijob_doc_free(job);
}

static void bad_tasks_are_refused(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *message;
	} rows[] = {
		{ "[]", MPIJOB_ERR_SPEC, "must be the map" },
		{ "{custom: {}, taskTypeVersion: x}", MPIJOB_ERR_SPEC, "whole number" },
		{ "{custom: {}, taskTypeVersion: 1}", MPIJOB_ERR_SPEC, "nothing to run" },
		{ "{custom: {}, container: {image: i}}", MPIJOB_ERR_SPEC, "greater than 0" },
		{ "{custom: {numWorkers: 1}, container: {image: i, dataConfig: {}}}",
		    MPIJOB_ERR_UNSUPPORTED, "CoPilot" },
		{ "{custom: {numWorkers: 1}, container: {image: i}, metadata: {podTemplateName: "
		  "big}}",
		    MPIJOB_ERR_UNSUPPORTED, "'big' does not exist" },
		{ "{custom: {numWorkers: 1}, container: {image: i}, metadata: {podTemplateName: "
		  "[big]}}",
		    MPIJOB_ERR_SPEC, "must be a string" },
		{ "{custom: {numWorkers: 1}, container: {image: i, args: [1]}}", MPIJOB_ERR_SPEC,
		    "list of strings" },
		{ "{custom: {numWorkers: 1}, container: {image: i, env: [{key: 1}]}}",
		    MPIJOB_ERR_SPEC, "must have a key" },
		{ "{custom: {numWorkers: 1}, config: {primary_container_name: m}, k8sPod: "
		  "{podSpec: {containers: "
		  "[m]}}}",
		    MPIJOB_ERR_SPEC, "must be maps" },
		{ "{custom: {numWorkers: 1}, config: {primary_container_name: m}, k8sPod: "
		  "{podSpec: {containers: m}}}",
		    MPIJOB_ERR_SPEC, "is not defined" },
		{ "{custom: {numWorkers: 1}, config: {primary_container_name: m}, k8sPod: "
		  "{podSpec: 1}}",
		    MPIJOB_ERR_SPEC, "spec of a pod" },
		{ "{taskTypeVersion: 1, custom: {workerReplicas: []}, container: {}}",
		    MPIJOB_ERR_SPEC, "must be a map" },
		{ "{taskTypeVersion: 1, custom: {workerReplicas: {restartPolicy: 7}}, container: "
		  "{}}",
		    MPIJOB_ERR_SPEC, "unsupported value" },
		{ "{taskTypeVersion: 1, custom: {workerReplicas: {command: x}}, container: {}}",
		    MPIJOB_ERR_SPEC, "list of strings" },
		{ "{taskTypeVersion: 1, custom: {workerReplicas: {replicas: 2147483648}}, "
		  "container: {}}",
		    MPIJOB_ERR_SPEC, "whole number" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mpijob_diag *diag = mpijob_diag_new();
		mpijob_doc *job = NULL;

		assert_int_equal(make(rows[i].text, "v2beta1", NULL, &job, diag), rows[i].code);
		assert_null(job);
		assert_true(mpijob_diag_count(diag, 0) > 0);
		if (!strstr(mpijob_diag_at(diag, mpijob_diag_count(diag, 0) - 1)->message,
			rows[i].message))
			fail_msg("%s: %s", rows[i].text,
			    mpijob_diag_at(diag, mpijob_diag_count(diag, 0) - 1)->message);
		mpijob_diag_free(diag);
	}
}

/* A part of another kind does not vanish without a word. */
static void parts_of_another_kind_are_refused(void **state)
{
#define CONTAINER(text) "{custom: {numWorkers: 1}, container: {image: i, " text "}}"
#define CUSTOM(text)    "{taskTypeVersion: 1, container: {image: i}, custom: {" text "}}"
#define POD(text)                                                                           \
	"{custom: {numWorkers: 1}, config: {primary_container_name: m}, k8sPod: {podSpec: " \
	"{containers: [{name: m, "                                                          \
	"image: i}], " text "}}}"
#define MAIN(text)                                                                          \
	"{custom: {numWorkers: 1}, config: {primary_container_name: m}, k8sPod: {podSpec: " \
	"{containers: [{name: m, "                                                          \
	"image: i, " text "}]}}}"
#define REQUIRED(text)                                                                            \
	POD("affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: " text "}" \
	    "}")
	static const struct {
		const char *text, *field;
	} rows[] = {
		{ "{custom: {numWorkers: 1}, container: x}", "container" },
		{ "{custom: {numWorkers: 1}, container: {image: i}, metadata: x}", "metadata" },
		{ "{custom: {numWorkers: 1}, container: {image: i}, securityContext: {secrets: x}}",
		    "secrets" },
		{ "{custom: {numWorkers: 1}, container: {image: i}, extendedResources: x}",
		    "extendedResources" },
		{ CONTAINER("args: mpirun"), "args" },
		{ CONTAINER("command: mpirun"), "command" },
		{ CONTAINER("env: {A: b}"), "env" },
		{ CONTAINER("resources: cpu"), "resources" },
		{ CONTAINER("resources: {limits: {cpu: 1}}"), "container.resources" },
		{ CUSTOM("workerReplicas: {replicas: 1}, runPolicy: x"), "runPolicy" },
		{ CUSTOM("workerReplicas: {replicas: 1, common: x}"), "common" },
		{ CUSTOM("workerReplicas: {replicas: 1, resources: cpu}"), "resources" },
		{ MAIN("args: mpirun"), "args" },
		{ MAIN("env: {A: b}"), "env" },
		{ MAIN("envFrom: x"), "envFrom" },
		{ MAIN("volumeMounts: x"), "volumeMounts" },
		{ MAIN("resources: cpu"), "resources" },
		{ MAIN("resources: {limits: cpu}"), "resources.limits" },
		{ POD("initContainers: x"), "initContainers" },
		{ POD("tolerations: x"), "tolerations" },
		{ POD("nodeSelector: x"), "nodeSelector" },
		{ POD("volumes: x"), "volumes" },
		{ POD("affinity: x"), "affinity" },
		{ POD("affinity: {nodeAffinity: x}"), "affinity.nodeAffinity" },
		{ REQUIRED("x"),
		    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution" },
		{ REQUIRED("{nodeSelectorTerms: [{matchExpressions: x}]}"), "matchExpressions" },
	};
	mpijob_doc *job = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mpijob_diag *diag = mpijob_diag_new();

		if (make(rows[i].text, "v2beta1", NULL, &job, diag) != MPIJOB_ERR_SPEC)
			fail_msg("%s is taken", rows[i].text);
		assert_int_equal(count_of(diag, "flyte-task"), 1);
		assert_string_equal(mpijob_diag_at(diag, mpijob_diag_count(diag, 0) - 1)->field,
		    rows[i].field);
		mpijob_diag_free(diag);
	}
	assert_null(job);
	/* Null is as good as absent. */
	assert_int_equal(make(MAIN("args: null, env: null, resources: null"), "v2beta1", NULL, &job,
			     NULL),
	    0);
	mpijob_doc_free(job);
}

/* The words of the launcher's arguments, with a space between them. */
static void expect_words(const char *words, const char *expected, size_t repairs)
{
	static const char before[] =
	    "{custom: {numWorkers: 1}, container: {env: [{key: A, value: b}], ";
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_text *text = mpijob_text_new(), *job_text = mpijob_text_new();
	mpijob_doc *job = NULL;
	const mpijob_node *args;
	size_t said = 0;

	mpijob_text_write(job_text, before, sizeof(before) - 1);
	mpijob_text_write(job_text, words, strlen(words));
	mpijob_text_write(job_text, "}}", 2);
	assert_int_equal(make(mpijob_text_data(job_text), "v2beta1", NULL, &job, diag), 0);
	args = mpijob_node_find(mpijob_doc_root(job), LAUNCHER ".containers[0].args");
	for (size_t i = 0; i < mpijob_node_count(args); i++) {
		const char *word = mpijob_node_string(mpijob_node_at(args, i));

		mpijob_text_write(text, " ", i > 0);
		mpijob_text_write(text, word, strlen(word));
	}
	assert_string_equal(mpijob_text_data(text), expected);
	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		said += strstr(mpijob_diag_at(diag, i)->message, "mpirun passes") != NULL;
	assert_int_equal(said, repairs);
	assert_int_equal(count_of(diag, "flyte-ignored"), !repairs && !strstr(expected, "-x A"));
	mpijob_doc_free(job);
	mpijob_text_free(job_text);
	mpijob_text_free(text);
	mpijob_diag_free(diag);
}

static void only_mpirun_is_told_of_variables(void **state)
{
	(void)state;
	expect_words("args: [mpirun, a]", "mpirun -x A a", 1);
	expect_words("args: [/opt/run.sh, --mode, mpirun, --out, x]",
	    "/opt/run.sh --mode mpirun --out x", 0);
	expect_words("args: [sh, -c, mpirun]", "sh -c mpirun", 0);
	expect_words("command: [sh, -c], args: [mpirun]", "mpirun", 0);
	expect_words("args: [timeout, '60', /usr/bin/mpiexec, a]",
	    "timeout 60 /usr/bin/mpiexec -x A a", 1);
	expect_words("args: [tini, -g, --, mpirun, a]", "tini -g -- mpirun -x A a", 1);
	/* What is mpirun's, and what the program's. */
	expect_words("args: [mpirun, -np, '2', prog, -x, A]", "mpirun -x A -np 2 prog -x A", 1);
	expect_words("args: [mpirun, -np, '2', -x, A, prog]", "mpirun -np 2 -x A prog", 0);
	expect_words("args: [mpirun, -bind-to, none, --map-by, slot, -mca, k, v, -H, h, "
		     "--oversubscribe, -x, A=c, prog]",
	    "mpirun -bind-to none --map-by slot -mca k v -H h --oversubscribe -x A=c prog", 0);
	expect_words("args: [mpirun, -x, AB, prog]", "mpirun -x A -x AB prog", 1);
	expect_words("args: [mpirun, -bind-to-socket, prog, -x, A]",
	    "mpirun -x A -bind-to-socket prog -x A", 1);
	expect_words("command: [mpirun], args: [-x, A, prog]", "-x A prog", 0);
}

static void launchers_hold_no_devices(void **state)
{
	static const char *const names[] = { "nvidia.com/gpu", "nvidia.com/mig-1g.5gb",
		"habana.ai/gaudi", "google.com/tpu", "aws.amazon.com/neuron", "gpu.intel.com/xe",
		"example.com/vgpu-new", "example.com/own" };
	static const char before[] =
	    "{custom: {numWorkers: 1}, config: {primary_container_name: m}, k8sPod: {podSpec: "
	    "{containers: [{name: m, args: [mpirun], resources: {limits: {";
	static const char behind[] = ": 1, example.com/rdma: 1}}}]}}}";
	struct mpijob_flyte_config config = MPIJOB_FLYTE_CONFIG_INIT;
	struct mpijob_flyte_options options = MPIJOB_FLYTE_OPTIONS_INIT;

	(void)state;
	config.gpu_resource_name = "example.com/own";
	options.config = &config;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		mpijob_text *text = mpijob_text_new();
		mpijob_doc *job = NULL;
		const mpijob_node *limits;

		mpijob_text_write(text, before, sizeof(before) - 1);
		mpijob_text_write(text, names[i], strlen(names[i]));
		mpijob_text_write(text, behind, sizeof(behind) - 1);
		assert_int_equal(make(mpijob_text_data(text), "v2beta1", &options, &job, NULL), 0);
		limits = mpijob_node_find(mpijob_doc_root(job),
		    LAUNCHER ".containers[0].resources.limits");
		if (mpijob_node_get(limits, names[i]))
			fail_msg("the launcher has %s", names[i]);
		assert_non_null(mpijob_node_get(limits, "example.com/rdma"));
		limits = mpijob_node_find(mpijob_doc_root(job),
		    WORKER ".containers[0].resources.limits");
		assert_non_null(mpijob_node_get(limits, names[i]));
		mpijob_doc_free(job);
		mpijob_text_free(text);
	}
}

/* Callers that were compiled with another version of the library. */
static void structs_of_other_sizes_are_read(void **state)
{
	struct {
		struct mpijob_flyte_config config;
		size_t tail;
	} later = { MPIJOB_FLYTE_CONFIG_INIT, 0 };
	struct mpijob_flyte_config config = MPIJOB_FLYTE_CONFIG_INIT;
	struct mpijob_flyte_execution execution = MPIJOB_FLYTE_EXECUTION_INIT;
	mpijob_doc *doc =
	    read_doc("{default-labels: {a: b}, default-cpus: 2, inject-finalizer: true}");
	mpijob_doc *facts = read_doc("{name: x, attempt: 3, interruptible: true}");

	(void)state;
	later.config.size = sizeof(later);
	assert_int_equal(mpijob_flyte_config_read(mpijob_doc_root(doc), &later.config, NULL), 0);
	assert_int_equal(later.config.inject_finalizer, 1);
	assert_string_equal(later.config.default_cpu, "2");
	later.tail = 1;
	assert_int_equal(mpijob_flyte_config_read(mpijob_doc_root(doc), &later.config, NULL),
	    MPIJOB_ERR_UNSUPPORTED);
	config.size = offsetof(struct mpijob_flyte_config, inject_finalizer);
	assert_int_equal(mpijob_flyte_config_read(mpijob_doc_root(doc), &config, NULL), 0);
	assert_string_equal(config.default_cpu, "2");
	assert_int_equal(config.inject_finalizer, 0);
	config.size = sizeof(size_t) - 1;
	assert_int_equal(mpijob_flyte_config_read(mpijob_doc_root(doc), &config, NULL),
	    MPIJOB_ERR_USAGE);
	/* a part of a member is none */
	execution.size = offsetof(struct mpijob_flyte_execution, attempt) + 2;
	assert_int_equal(mpijob_flyte_execution_read(mpijob_doc_root(facts), &execution, NULL), 0);
	assert_string_equal(execution.name, "x");
	assert_int_equal(execution.attempt, 0);
	assert_int_equal(execution.interruptible, 0);
	mpijob_doc_free(facts);
	mpijob_doc_free(doc);
}

static void what_is_not_read_is_told(void **state)
{
	struct mpijob_flyte_config config = MPIJOB_FLYTE_CONFIG_INIT;
	mpijob_doc *doc = read_doc(
		       "{default-pod-template-name: big, default-env-vars-from-env: {A: B}}"),
		   *empty =
		       read_doc("{default-pod-template-name: '', default-env-vars-from-env: {}}");
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	assert_int_equal(mpijob_flyte_config_read(mpijob_doc_root(empty), &config, diag), 0);
	assert_int_equal(mpijob_diag_count(diag, 0), 0);
	assert_int_equal(mpijob_flyte_config_read(mpijob_doc_root(doc), &config, diag), 0);
	assert_int_equal(count_of(diag, "flyte-ignored"), 2);
	mpijob_diag_free(diag);
	mpijob_doc_free(empty);
	mpijob_doc_free(doc);
}

static void facts_are_read(void **state)
{
	struct mpijob_flyte_config config = MPIJOB_FLYTE_CONFIG_INIT;
	struct mpijob_flyte_execution execution = MPIJOB_FLYTE_EXECUTION_INIT;
	mpijob_doc *doc =
	    read_doc("{default-cpus: 2, default-labels: {a: b}, enable-host-networking-pod: false, "
		     "inject-finalizer: true, other: 1}");
	mpijob_doc *facts = read_doc("{name: x, attempt: 3, interruptible: false, labels: null}");
	mpijob_doc *bad = read_doc("{default-labels: [a]}"), *unknown = read_doc("{nmae: x}"),
		   *negative = read_doc("{attempt: -1}");

	(void)state;
	assert_int_equal(mpijob_flyte_config_read(mpijob_doc_root(doc), &config, NULL), 0);
	assert_string_equal(config.default_cpu, "2");
	assert_int_equal(config.host_network, -1);
	assert_int_equal(config.inject_finalizer, 1);
	assert_int_equal(mpijob_node_count(config.default_labels), 1);
	assert_int_equal(mpijob_flyte_execution_read(mpijob_doc_root(facts), &execution, NULL), 0);
	assert_string_equal(execution.name, "x");
	assert_int_equal(execution.attempt, 3);
	assert_int_equal(execution.interruptible, -1);
	assert_null(execution.labels);
	assert_int_equal(mpijob_flyte_config_read(mpijob_doc_root(bad), &config, NULL),
	    MPIJOB_ERR_SPEC);
	assert_int_equal(mpijob_flyte_execution_read(mpijob_doc_root(unknown), &execution, NULL),
	    MPIJOB_ERR_SPEC);
	assert_int_equal(mpijob_flyte_execution_read(mpijob_doc_root(negative), &execution, NULL),
	    MPIJOB_ERR_SPEC);
	mpijob_doc_free(negative);
	mpijob_doc_free(unknown);
	mpijob_doc_free(bad);
	mpijob_doc_free(facts);
	mpijob_doc_free(doc);
}

/* The object around the job, which the plugin does not build itself. */
static void the_object_is_whole(void **state)
{
	struct mpijob_flyte_config config = MPIJOB_FLYTE_CONFIG_INIT;
	struct mpijob_flyte_execution execution = MPIJOB_FLYTE_EXECUTION_INIT;
	struct mpijob_flyte_options options = MPIJOB_FLYTE_OPTIONS_INIT;
	mpijob_doc *labels = read_doc("{a: config, b: config, c: config}"),
		   *own = read_doc("{b: execution}"), *owner = read_doc("{uid: u}"), *job = NULL;

	(void)state;
	config.default_labels = mpijob_doc_root(labels);
	config.inject_finalizer = 1;
	execution.labels = mpijob_doc_root(own);
	execution.owner = mpijob_doc_root(owner);
	execution.name = "n";
	execution.namespace_ = "ns";
	options.config = &config;
	options.execution = &execution;
	assert_int_equal(make("{custom: {numWorkers: 1}, container: {image: i}, metadata: "
			      "{metadata: {labels: {b: "
			      "task, c: task}}}}",
			     "v1", &options, &job, NULL),
	    0);
	assert_string_equal(text_at(job, "metadata.name"), "n");
	assert_string_equal(text_at(job, "metadata.namespace"), "ns");
	assert_string_equal(text_at(job, "metadata.labels.a"), "config");
	assert_string_equal(text_at(job, "metadata.labels.b"), "execution");
	assert_string_equal(text_at(job, "metadata.labels.c"), "task");
	assert_string_equal(text_at(job, "metadata.finalizers[0]"), "flyte.org/finalizer-k8s");
	assert_string_equal(text_at(job, "metadata.ownerReferences[0].uid"), "u");
	assert_string_equal(text_at(job, "spec.mpiReplicaSpecs[Worker].template.metadata.labels.c"),
	    "config");
	mpijob_doc_free(job);
	mpijob_doc_free(labels);
	mpijob_doc_free(own);
	mpijob_doc_free(owner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_calls_are_told),
		cmocka_unit_test(v1_is_the_plugins),
		cmocka_unit_test(v2beta1_is_repaired),
		cmocka_unit_test(repairs_can_be_chosen),
		cmocka_unit_test(unknown_fields_of_pods_stay),
		cmocka_unit_test(bad_tasks_are_refused),
		cmocka_unit_test(parts_of_another_kind_are_refused),
		cmocka_unit_test(only_mpirun_is_told_of_variables),
		cmocka_unit_test(launchers_hold_no_devices),
		cmocka_unit_test(structs_of_other_sizes_are_read),
		cmocka_unit_test(what_is_not_read_is_told),
		cmocka_unit_test(facts_are_read),
		cmocka_unit_test(the_object_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
