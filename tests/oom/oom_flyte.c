/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of making jobs of Flyte tasks, and of telling their phases, fails once, and from
 * one point on. What does not say that memory ran out must give byte for byte what an undisturbed
 * run gives, findings included; nothing may leak.
 */
#include "failing_malloc.h"

#include <mpijob/flyte.h>
#include <mpijob/mpijob.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 65536

static const char container[] =
    "{\"id\": {\"name\": \"wf.train\", \"project\": \"p\"}, \"taskTypeVersion\": 1, \"metadata\": "
    "{\"interruptible\": true},"
    "\"securityContext\": {\"secrets\": [{\"group\": \"g\\\"\", \"mountRequirement\": \"FILE\"}]}, "
    "\"config\": {\"link_type\": \"vscode\"},"
    "\"container\": {\"image\": \"i\", \"args\": [\"mpirun\", \"-np\", \"4\", \"{{.input}}\", "
    "\"{{.inputs.x}}\", \"{{.perRetryUniqueKey}}\","
    " \"{{.outputPrefix}}\"], \"env\": [{\"key\": \"A\", \"value\": \"b\"}], \"resources\": "
    "{\"limits\": [{\"name\": \"GPU\", \"value\": \"1\"}]}},"
    "\"extendedResources\": {\"gpuAccelerator\": {\"device\": \"d\", \"partitionSize\": \"s\"}, "
    "\"sharedMemory\": {\"mountName\": \"shm\","
    " \"mountPath\": \"/dev/shm\", \"sizeLimit\": \"1Gi\"}},"
    "\"custom\": {\"slots\": 2, \"runPolicy\": {\"backoffLimit\": 0}, \"workerReplicas\": "
    "{\"replicas\": 2, \"resources\": {\"requests\":"
    " [{\"name\": \"CPU\", \"value\": \"2\"}]}, \"command\": [\"/start\"]}, \"launcherReplicas\": "
    "{\"image\": \"l\"}}}";
static const char pod[] =
    "{\"taskTypeVersion\": 0, \"config\": {\"primary_container_name\": \"main\", "
    "\"worker_spec_command\": \"sshd -De\"}, \"k8sPod\":"
    " {\"metadata\": {\"labels\": {\"a\": \"b\"}}, \"podSpec\": {\"containers\": [{\"name\": "
    "\"side\"}, {\"name\": \"main\", \"image\": \"i\", \"args\":"
    " [\"mpirun\", \"x\"], \"resources\": {\"requests\": {\"gpu\": 1}}}], \"tolerations\": "
    "[{\"key\": \"k\"}]}},"
    "\"custom\": {\"numWorkers\": 2, \"numLauncherReplicas\": 2, \"slots\": 3}}";
static const char config_text[] =
    "{default-tolerations: [{key: a}], interruptible-node-selector-requirement: {key: r, operator: "
    "Exists}, default-env-vars: {C: d},"
    " non-interruptible-node-selector-requirement: {key: n, operator: Exists}, "
    "default-env-from-secrets: [s], default-labels: {l: m},"
    " default-node-selector: {n: o}, resource-tolerations: {nvidia.com/gpu: [{key: g}]}, "
    "add-tolerations-for-extended-resources: [nvidia.com/gpu],"
    " default-env-vars-from-env: {H: H}}";
static const char execution_text[] =
    "{name: 1-f, namespace: ns, executionName: e, project: p, consoleUrl: 'http://c/', inputPath: "
    "in, inputs: {x: true}, workflow: w,"
    " labels: {e: f}, environment: {E: f}, resources: {limits: {cpu: 3}}, platformResources: "
    "{limits: {memory: 1Gi}}, serviceAccount: s}";
static const char job_text[] =
    "{apiVersion: kubeflow.org/v1, kind: MPIJob, metadata: {name: j, namespace: ns, "
    "creationTimestamp: '2026-11-21T12:00:00Z'}, spec:"
    " {mpiReplicaSpecs: {Worker: {replicas: 9}}}, status: {startTime: '2026-11-21T12:00:00Z', "
    "conditions: [{type: Failed, status: 'True',"
    " reason: R, message: m, lastTransitionTime: '2026-11-21T12:00:00Z'}]}}";

struct sink {
	size_t len;
	char data[ROOM];
};

static struct sink expected, got;
static struct sink *sink; /* where the present run writes */

static int keep(void *user, const char *data, size_t len)
{
	(void)user;
	if (len > ROOM - sink->len)
		return 1;
	memcpy(sink->data + sink->len, data, len);
	sink->len += len;
	return 0;
}

static int read_yaml(const char *text, mpijob_doc **out)
{
	return mpijob_doc_parse(text, strlen(text), NULL, out, NULL);
}

static int make(const char *task_text, const char *version,
    const struct mpijob_flyte_options *options)
{
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *task = NULL, *job = NULL;
	int code = diag ? read_yaml(task_text, &task) : MPIJOB_ERR_NOMEM;

	if (!code)
		code = mpijob_flyte_job(mpijob_doc_root(task), version, options, &job, diag);
	if (!code)
		code = mpijob_node_write(mpijob_doc_root(job), MPIJOB_FORMAT_JSON, keep, NULL);
	for (size_t i = 0; !code && mpijob_diag_at(diag, i); i++)
		code = mpijob_finding_write(mpijob_diag_at(diag, i), keep, NULL);
	if (!code && mpijob_diag_dropped(diag))
		code = MPIJOB_ERR_USAGE;
	mpijob_doc_free(job);
	mpijob_doc_free(task);
	mpijob_diag_free(diag);
	return code;
}

static int make_all(void)
{
	struct mpijob_flyte_config config = MPIJOB_FLYTE_CONFIG_INIT;
	struct mpijob_flyte_execution execution = MPIJOB_FLYTE_EXECUTION_INIT;
	struct mpijob_flyte_options options = MPIJOB_FLYTE_OPTIONS_INIT;
	mpijob_doc *config_doc = NULL, *execution_doc = NULL;
	int code = read_yaml(config_text, &config_doc);

	if (!code)
		code = read_yaml(execution_text, &execution_doc);
	if (!code)
		code = mpijob_flyte_config_read(mpijob_doc_root(config_doc), &config, NULL);
	if (!code)
		code =
		    mpijob_flyte_execution_read(mpijob_doc_root(execution_doc), &execution, NULL);
	options.config = &config;
	options.execution = &execution;
	if (!code)
		code = make(container, "v2beta1", &options);
	if (!code)
		code = make(pod, "v2beta1", &options);
	if (!code)
		code = make(pod, "v1", &options);
	mpijob_doc_free(config_doc);
	mpijob_doc_free(execution_doc);
	return code;
}

static int look(void)
{
	mpijob_flyte_status *status = NULL;
	mpijob_doc *job = NULL;
	int code = read_yaml(job_text, &job);

	if (!code)
		code = mpijob_flyte_status_read(mpijob_doc_root(job), NULL, &status);
	if (!code)
		code = keep(NULL, mpijob_flyte_status_phase(status)->message,
		    strlen(mpijob_flyte_status_phase(status)->message));
	for (size_t i = 0; !code && i < mpijob_flyte_status_link_count(status); i++)
		code = keep(NULL, mpijob_flyte_status_link_at(status, i)->uri,
		    strlen(mpijob_flyte_status_link_at(status, i)->uri));
	mpijob_flyte_status_free(status);
	mpijob_doc_free(job);
	return code;
}

static const char *problem;

static size_t scenario(size_t fail_at, int persistent)
{
	size_t count;
	int code;

	sink = expected.len ? &got : &expected;
	sink->len = 0;
	oom_start(fail_at, persistent);
	code = make_all();
	if (!code)
		code = look();
	count = oom_stop();
	if (code && (code != MPIJOB_ERR_NOMEM || !fail_at))
		problem = mpijob_error_name(code);
	if (!code && sink == &got &&
	    (got.len != expected.len || memcmp(got.data, expected.data, got.len) != 0))
		problem = "it gave something else, and called it done";
	return count;
}

int main(int argc, char **argv)
{
	return oom_each(argc, argv, 1, scenario, &problem);
}
