/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a controller of big jobs pays: the projection of one worker pod as an API server sends it,
 * the memory of one pod's facts, news of a pod, and a plan of a job of N workers in which nothing
 * changed.
 *
 *     bench-plan [WORKERS] [RUNS]
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mpijob/mpijob.h>

#define NOW_MS INT64_C(1790000000000)

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "bench-plan: %s failed\n", what);
	exit(1);
}

static int by_value(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/* A running worker of a real cluster: managed fields, tolerations, volumes, conditions; about 3.7
 * kB. */
static size_t write_pod(char *text, size_t size, int index, const char *phase)
{
	static const char managed[] =
	    "\"managedFields\":[{\"manager\":\"mpi-operator\",\"operation\":\"Update\","
	    "\"apiVersion\":\"v1\","
	    "\"time\":"
	    "\"2026-09-21T14:13:20Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:metadata\":{"
	    "\"f:labels\":{\"."
	    "\":{},"
	    "\"f:training.kubeflow.org/job-name\":{},\"f:training.kubeflow.org/job-role\":{},"
	    "\"f:training.kubeflow.org/operator-name\":{},\"f:training.kubeflow.org/"
	    "replica-index\":{}},"
	    "\"f:ownerReferences\":{\".\":{},\"k:{\\\"uid\\\":\\\"7c8d5f5e-53a1-4b1c-9f3e-"
	    "1c5b470f0001\\\"}\":{}}},"
	    "\"f:spec\":"
	    "{\"f:containers\":{\"k:{\\\"name\\\":\\\"main\\\"}\":{\".\":{},\"f:command\":{},\"f:"
	    "env\":{},\"f:"
	    "image\":{},"
	    "\"f:imagePullPolicy\":{},\"f:name\":{},\"f:resources\":{},\"f:"
	    "terminationMessagePath\":{}}},\"f:"
	    "hostname\":{},"
	    "\"f:restartPolicy\":{},\"f:subdomain\":{},\"f:volumes\":{}}}}],";
	static const char spec[] =
	    "\"volumes\":[{\"name\":\"ssh-auth\",\"secret\":{\"secretName\":\"pi-ssh\",\"items\":[{"
	    "\"key\":\"ssh-"
	    "privatekey\","
	    "\"path\":\"id_rsa\"},{\"key\":\"ssh-publickey\",\"path\":\"id_rsa.pub\"}],"
	    "\"defaultMode\":384}},{"
	    "\"name\":"
	    "\"kube-api-access-x2x7k\",\"projected\":{\"sources\":[{\"serviceAccountToken\":{"
	    "\"expirationSeconds\":"
	    "3607,"
	    "\"path\":\"token\"}},{\"configMap\":{\"name\":\"kube-root-ca.crt\",\"items\":[{"
	    "\"key\":\"ca.crt\","
	    "\"path\":"
	    "\"ca.crt\"}]}}],\"defaultMode\":420}}],\"containers\":[{\"name\":\"main\",\"image\":"
	    "\"registry."
	    "example/train:1\","
	    "\"command\":[\"/usr/sbin/"
	    "sshd\",\"-De\"],\"env\":[{\"name\":\"K_MPI_JOB_ROLE\",\"value\":\"worker\"}],"
	    "\"resources\":{\"limits\":{\"cpu\":\"96\",\"memory\":\"1000Gi\",\"nvidia.com/"
	    "gpu\":\"8\"},\"requests\":{\"cpu\":"
	    "\"96\",\"memory\":\"1000Gi\",\"nvidia.com/"
	    "gpu\":\"8\"}},\"volumeMounts\":[{\"name\":\"ssh-auth\",\"mountPath\":"
	    "\"/root/.ssh\"},{\"name\":\"kube-api-access-x2x7k\",\"readOnly\":true,\"mountPath\":"
	    "\"/var/run/secrets/kubernetes.io/serviceaccount\"}],\"terminationMessagePath\":\"/dev/"
	    "termination-log\","
	    "\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"IfNotPresent\"}],"
	    "\"restartPolicy\":"
	    "\"Never\","
	    "\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\","
	    "\"serviceAccountName\":"
	    "\"default\","
	    "\"securityContext\":{},\"schedulerName\":\"default-scheduler\",\"tolerations\":[{"
	    "\"key\":"
	    "\"node.kubernetes.io/"
	    "not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\",\"tolerationSeconds\":"
	    "300}],"
	    "\"priority\":0,\"enableServiceLinks\":true,\"preemptionPolicy\":"
	    "\"PreemptLowerPriority\"";
	int len = snprintf(text, size,
	    "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\","
	    "\"metadata\":{\"name\":\"pi-"
	    "worker-%d\","
	    "\"namespace\":\"ns\",\"uid\":\"7c8d5f5e-53a1-4b1c-9f3e-%012d\",\"resourceVersion\":\"%"
	    "d\","
	    "\"creationTimestamp\":"
	    "\"2026-09-21T14:13:20Z\",\"labels\":{\"training.kubeflow.org/"
	    "job-name\":\"pi\",\"training.kubeflow.org/job-role\":"
	    "\"worker\",\"training.kubeflow.org/"
	    "operator-name\":\"mpi-operator\",\"training.kubeflow.org/"
	    "replica-index\":\"%d\"},"
	    "\"ownerReferences\":[{\"apiVersion\":\"kubeflow.org/"
	    "v2beta1\",\"kind\":\"MPIJob\",\"name\":\"pi\",\"uid\":\"u\","
	    "\"controller\":true,\"blockOwnerDeletion\":true}],%s\"annotations\":{}},\"spec\":{%s,"
	    "\"nodeName\":"
	    "\"node-%d\","
	    "\"hostname\":\"pi-worker-%d\",\"subdomain\":\"pi\"},\"status\":{\"phase\":\"%s\","
	    "\"conditions\":[{"
	    "\"type\":"
	    "\"Initialized\",\"status\":\"True\",\"lastTransitionTime\":\"2026-09-21T14:13:21Z\"},{"
	    "\"type\":"
	    "\"Ready\",\"status\":"
	    "\"True\",\"lastTransitionTime\":\"2026-09-21T14:13:23Z\"},{\"type\":"
	    "\"ContainersReady\",\"status\":"
	    "\"True\","
	    "\"lastTransitionTime\":\"2026-09-21T14:13:23Z\"},{\"type\":\"PodScheduled\","
	    "\"status\":\"True\","
	    "\"lastTransitionTime\":\"2026-09-21T14:13:20Z\"}],\"hostIP\":\"10.0.0.7\",\"podIP\":"
	    "\"10.1.0.9\","
	    "\"startTime\":"
	    "\"2026-09-21T14:13:20Z\",\"containerStatuses\":[{\"name\":\"main\",\"state\":{"
	    "\"running\":{"
	    "\"startedAt\":"
	    "\"2026-09-21T14:13:22Z\"}},\"lastState\":{},\"ready\":true,\"restartCount\":0,"
	    "\"image\":\"registry."
	    "example/train:1\","
	    "\"imageID\":\"registry.example/"
	    "train@sha256:0000000000000000000000000000000000000000000000000000000000000000\","
	    "\"started\":true}],\"qosClass\":\"Guaranteed\"}}}",
	    index, index, 1000 + index, index, managed, spec, index % 500, index, phase);

	need(len > 0 && (size_t)len < size, "a pod's text");
	return (size_t)len;
}

static const struct mpijob_observed *observe(mpijob_observation *observation, const char *text,
    size_t len)
{
	const struct mpijob_observed *observed;

	need(!mpijob_observe(observation, text, len, &observed, NULL), "mpijob_observe");
	return observed;
}

static void bench_observe(mpijob_observation *observation, int runs)
{
	char text[8192];
	size_t len = write_pod(text, sizeof(text), 1234, "Running");
	double *times = calloc((size_t)runs, sizeof(*times));

	need(times != NULL, "calloc");
	for (int i = 0; i < runs; i++) {
		double start = now_us();

		for (int k = 0; k < 200; k++)
			(void)observe(observation, text, len);
		times[i] = (now_us() - start) / 200;
	}
	qsort(times, (size_t)runs, sizeof(*times), by_value);
	printf("observe a pod of %zu bytes: %.2f us (%.2f to %.2f)\n", len, times[runs / 2],
	    times[0], times[runs - 1]);
	free(times);
}

static void feed_pods(mpijob_observation *observation, mpijob_facts *facts, int workers,
    const char *phase)
{
	char text[8192];

	for (int i = 0; i < workers; i++) {
		size_t len = write_pod(text, sizeof(text), i, phase);

		need(mpijob_facts_apply(facts, observe(observation, text, len)) == 1,
		    "mpijob_facts_apply");
	}
}

static mpijob *make_job(int workers)
{
	char text[2048];
	mpijob *job = NULL;

	snprintf(text, sizeof(text),
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: pi, namespace: ns, "
	    "uid: u, "
	    "resourceVersion: '1'}\n"
	    "spec:\n  mpiReplicaSpecs:\n    Launcher: {template: {spec: {containers: [{name: l, "
	    "image: i, "
	    "command: [x]}]}}}\n"
	    "    Worker: {replicas: %d, template: {spec: {containers: [{name: w, image: i}]}}}\n",
	    workers);
	need(!mpijob_parse(text, strlen(text), NULL, &job, NULL), "mpijob_parse");
	return job;
}

static mpijob_plan *plan_now(const mpijob *job, const mpijob_facts *facts)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	mpijob_plan *plan = NULL;

	options.now_ms = NOW_MS;
	need(!mpijob_plan_new(job, facts, &options, &plan, NULL), "mpijob_plan_new");
	return plan;
}

/* What an API server would send back of a child that was made or changed. */
static void feed_child(mpijob_observation *observation, mpijob_facts *facts, const mpijob *job,
    const struct mpijob_render_options *options, int32_t role)
{
	mpijob_objects *objects = NULL;
	mpijob_doc *doc = NULL;
	mpijob_text *text = mpijob_text_new();
	mpijob *ready = mpijob_clone(job);
	size_t at;

	need(text && ready && !mpijob_default(ready, NULL, NULL), "mpijob_default");
	need(!mpijob_render(ready, options, &objects, NULL), "mpijob_render");
	need(mpijob_objects_find(objects, role, -1, &at) && !mpijob_objects_at(objects, at, &doc),
	    "mpijob_objects_at");
	mpijob_node_put_string(doc, mpijob_doc_edit(doc, "metadata"), "uid", "child");
	need(!mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write,
		 text),
	    "mpijob_node_write");
	need(mpijob_facts_apply(facts,
		 observe(observation, mpijob_text_data(text), mpijob_text_len(text))) == 1,
	    "mpijob_facts_apply");
	mpijob_text_free(text);
	mpijob_doc_free(doc);
	mpijob_objects_free(objects);
	mpijob_free(ready);
}

static void bench_plan(mpijob *job, const mpijob_facts *facts, int workers, int runs)
{
	double *times = calloc((size_t)runs, sizeof(*times));
	mpijob_plan *plan = plan_now(job, facts);

	need(times != NULL, "calloc");
	need(!mpijob_status_set(job, mpijob_plan_get_result(plan)->status, NULL),
	    "mpijob_status_set");
	mpijob_plan_free(plan);
	for (int i = 0; i < runs; i++) {
		double start = now_us();

		plan = plan_now(job, facts);
		times[i] = now_us() - start;
		need(mpijob_plan_get_result(plan)->actions_count == 0, "a plan with nothing to do");
		mpijob_plan_free(plan);
	}
	qsort(times, (size_t)runs, sizeof(*times), by_value);
	printf("plan of %d workers, nothing changed: %.3f ms (%.3f to %.3f)\n", workers,
	    times[runs / 2] / 1e3, times[0] / 1e3, times[runs - 1] / 1e3);
	free(times);
}

int main(int argc, char **argv)
{
	int workers = argc > 1 ? atoi(argv[1]) : 10000, runs = argc > 2 ? atoi(argv[2]) : 51;
	mpijob_observation *observation = mpijob_observation_new();
	mpijob_facts *facts = mpijob_facts_new();
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	mpijob *job;
	size_t before;
	double start;

	need(observation && facts && workers > 0 && runs > 0, "the arguments");
	bench_observe(observation, runs);
	before = mallinfo2().uordblks;
	feed_pods(observation, facts, workers, "Pending");
	printf("facts of %d pods: %.0f bytes a pod\n", workers,
	    (double)(mallinfo2().uordblks - before) / workers);
	start = now_us();
	feed_pods(observation, facts, workers, "Running");
	printf("news of %d pods, printed, observed and applied: %.2f us a pod\n", workers,
	    (now_us() - start) / workers);
	job = make_job(workers);
	feed_child(observation, facts, job, &options, MPIJOB_ROLE_SERVICE);
	feed_child(observation, facts, job, &options, MPIJOB_ROLE_CONFIG_MAP);
	feed_child(observation, facts, job, &options, MPIJOB_ROLE_SECRET);
	feed_child(observation, facts, job, &options, MPIJOB_ROLE_LAUNCHER);
	bench_plan(job, facts, workers, runs);
	mpijob_free(job);
	mpijob_facts_free(facts);
	mpijob_observation_free(observation);
	return 0;
}
