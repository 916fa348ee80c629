/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measurement behind §4 of docs/design.md: one realistic pod as a jansson tree, as a tree of
 * ours, and read straight past, with what each costs and what each keeps.
 *
 *     cc -O2 -std=c11 -D_GNU_SOURCE -Iinclude -Ilib bench/spike/tree.c \
 *         lib/{base,core,doc}/[a-z]*.c -lyaml -ljansson -o tree && ./tree
 */
#include "doc/json_reader.h"

#include <mpijob/doc.h>

#include <jansson.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 20000

static mpijob_text *pod;

static void say(const char *text)
{
	if (mpijob_text_write(pod, text, strlen(text)))
		exit(2);
}

/* A worker pod as an API server gives it: metadata, spec with defaults, status with conditions; 3.3
 * kB. */
static void make_pod(void)
{
	static const char *const conditions[] = { "PodReadyToStartContainers", "Initialized",
		"Ready", "ContainersReady", "PodScheduled" };
	char line[512];

	pod = mpijob_text_new();
	say("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"pi-worker-17\","
	    "\"namespace\":\"training-team-a\","
	    "\"uid\":\"0f7c4a31-5c8e-4f0e-9d3a-6f2b1c9e8a77\",\"resourceVersion\":\"184467440\","
	    "\"creationTimestamp\":"
	    "\"2025-03-04T10:20:30Z\",\"labels\":{\"training.kubeflow.org/"
	    "job-name\":\"pi\",\"training.kubeflow.org/job-role\":"
	    "\"worker\",\"training.kubeflow.org/"
	    "operator-name\":\"mpi-operator\",\"training.kubeflow.org/replica-index\":\"17\","
	    "\"training.kubeflow.org/replica-type\":\"worker\"},\"annotations\":{\"kubernetes.io/"
	    "limit-ranger\":\"cpu request "
	    "set\"},\"ownerReferences\":[{\"apiVersion\":\"kubeflow.org/"
	    "v2beta1\",\"kind\":\"MPIJob\",\"name\":\"pi\",\"uid\":"
	    "\"6a3f9f0e-2c47-4ac5-8a21-94c1f4f3f0d2\",\"controller\":true,\"blockOwnerDeletion\":"
	    "true}]},\"spec\":{\"volumes\":"
	    "[{\"name\":\"ssh-auth\",\"secret\":{\"secretName\":\"pi-ssh\",\"items\":[{\"key\":"
	    "\"ssh-privatekey\",\"path\":\"id_rsa\"},"
	    "{\"key\":\"ssh-publickey\",\"path\":\"id_rsa.pub\"},{\"key\":\"ssh-publickey\","
	    "\"path\":\"authorized_keys\"}],"
	    "\"defaultMode\":420}},{\"name\":\"kube-api-access-x7k2p\",\"projected\":{\"sources\":["
	    "{\"serviceAccountToken\":"
	    "{\"expirationSeconds\":3607,\"path\":\"token\"}},{\"configMap\":{\"name\":\"kube-root-"
	    "ca.crt\",\"items\":[{\"key\":"
	    "\"ca.crt\",\"path\":\"ca.crt\"}]}}],\"defaultMode\":420}}],\"containers\":[{\"name\":"
	    "\"worker\",\"image\":"
	    "\"mpioperator/mpi-pi:openmpi\",\"command\":[\"/usr/sbin/"
	    "sshd\"],\"args\":[\"-De\",\"-f\",\"/home/mpiuser/.sshd_config\"],"
	    "\"env\":[{\"name\":\"K_MPI_JOB_ROLE\",\"value\":\"worker\"},{\"name\":\"NVIDIA_"
	    "VISIBLE_DEVICES\"}],\"resources\":"
	    "{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"},\"requests\":{\"cpu\":\"1\",\"memory\":"
	    "\"1Gi\"}},\"volumeMounts\":[{\"name\":"
	    "\"ssh-auth\",\"mountPath\":\"/home/mpiuser/"
	    ".ssh\"},{\"name\":\"kube-api-access-x7k2p\",\"readOnly\":true,\"mountPath\":"
	    "\"/var/run/secrets/kubernetes.io/serviceaccount\"}],\"terminationMessagePath\":\"/dev/"
	    "termination-log\","
	    "\"terminationMessagePolicy\":\"File\",\"imagePullPolicy\":\"Always\","
	    "\"securityContext\":{\"runAsUser\":1000}}],"
	    "\"restartPolicy\":\"Never\",\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":"
	    "\"ClusterFirst\",\"nodeName\":"
	    "\"node-0042\",\"hostname\":\"pi-worker-17\",\"subdomain\":\"pi\",\"schedulerName\":"
	    "\"default-scheduler\","
	    "\"tolerations\":[{\"key\":\"node.kubernetes.io/"
	    "not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
	    "\"tolerationSeconds\":300}],\"priority\":0,\"enableServiceLinks\":true,"
	    "\"preemptionPolicy\":"
	    "\"PreemptLowerPriority\"},\"status\":{\"phase\":\"Running\",\"conditions\":[");
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		(void)snprintf(line, sizeof(line),
		    "%s{\"type\":\"%s\",\"status\":\"True\",\"lastProbeTime\":null,"
		    "\"lastTransitionTime\":\"2025-03-04T10:20:3%zuZ\"}",
		    i ? "," : "", conditions[i], i);
		say(line);
	}
	say("],\"hostIP\":\"10.0.4.2\",\"hostIPs\":[{\"ip\":\"10.0.4.2\"}],\"podIP\":\"10.244.3."
	    "18\",\"podIPs\":[{\"ip\":\"10.244.3.18\"}],"
	    "\"startTime\":\"2025-03-04T10:20:30Z\",\"containerStatuses\":[{\"name\":\"worker\","
	    "\"state\":{\"running\":{\"startedAt\":"
	    "\"2025-03-04T10:20:34Z\"}},\"lastState\":{},\"ready\":true,\"restartCount\":0,"
	    "\"image\":\"docker.io/mpioperator/mpi-pi:"
	    "openmpi\",\"imageID\":\"docker.io/mpioperator/"
	    "mpi-pi@sha256:0c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f\","
	    "\"containerID\":\"containerd://"
	    "9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0\",\"started\":true}],"
	    "\"qosClass\":\"Guaranteed\"}}");
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t heap(void)
{
	return mallinfo2().uordblks;
}

static void report(const char *what, double seconds, size_t bytes)
{
	(void)printf("%-28s %6.1f us  %6.0f MB/s  %6zu bytes live\n", what, seconds / ROUNDS * 1e6,
	    (double)mpijob_text_len(pod) * ROUNDS / seconds / 1e6, bytes);
}

static size_t count_values(const json_t *value)
{
	size_t count = 1, index;
	const char *key;
	json_t *entry;

	if (json_is_object(value))
		json_object_foreach((json_t *)(uintptr_t)value, key, entry) count +=
		    count_values(entry);
	json_array_foreach(value, index, entry) count += count_values(entry);
	return count;
}

static void measure_jansson(void)
{
	double begin;
	size_t before = heap(), live;
	json_t *tree = json_loadb(mpijob_text_data(pod), mpijob_text_len(pod), 0, NULL);

	live = heap() - before;
	(void)printf("%zu bytes of text, %zu values\n", mpijob_text_len(pod), count_values(tree));
	json_decref(tree);
	begin = now();
	for (int i = 0; i < ROUNDS; i++)
		json_decref(json_loadb(mpijob_text_data(pod), mpijob_text_len(pod), 0, NULL));
	report("jansson tree, freed", now() - begin, live);
}

static void measure_ours(void)
{
	double begin;
	size_t before = heap(), live;
	mpijob_doc *doc = NULL;

	(void)mpijob_doc_parse(mpijob_text_data(pod), mpijob_text_len(pod), NULL, &doc, NULL);
	live = heap() - before;
	mpijob_doc_free(doc);
	begin = now();
	for (int i = 0; i < ROUNDS; i++) {
		(void)mpijob_doc_parse(mpijob_text_data(pod), mpijob_text_len(pod), NULL, &doc,
		    NULL);
		mpijob_doc_free(doc);
	}
	report("own tree, places, freed", now() - begin, live);
}

/* Name, uid and phase, all else skipped, as the plan reads a pod. */
static int project(struct mpijob__doc_json *r, char name[64], char phase[64])
{
	if (mpijob__doc_json_next(r) != MPIJOB__DOC_JSON_MAP)
		return 0;
	while (mpijob__doc_json_key(r)) {
		int status = mpijob__doc_json_is(r, "status");

		if (!status && !mpijob__doc_json_is(r, "metadata")) {
			(void)mpijob__doc_json_skip(r);
			continue;
		}
		(void)mpijob__doc_json_next(r);
		while (mpijob__doc_json_key(r)) {
			int wanted = mpijob__doc_json_is(r, status ? "phase" : "name");

			(void)mpijob__doc_json_next(r);
			if (wanted && r->token == MPIJOB__DOC_JSON_STRING && r->len < 64)
				(void)mpijob__doc_json_decode(r, status ? phase : name);
			(void)mpijob__doc_json_finish(r);
		}
	}
	return r->token == MPIJOB__DOC_JSON_MAP_END;
}

static void measure_projection(void)
{
	char name[64] = "", phase[64] = "";
	struct mpijob__doc_json r;
	double begin = now();

	for (int i = 0; i < ROUNDS; i++) {
		mpijob__doc_json_init(&r, mpijob_text_data(pod), mpijob_text_len(pod), 0);
		if (!project(&r, name, phase))
			exit(2);
	}
	report("own reader, projection", now() - begin, 0);
	(void)printf("  (%s is %s)\n", name, phase);
}

static int to_nowhere(void *user, const char *data, size_t len)
{
	(void)data;
	*(size_t *)user += len;
	return 0;
}

static void measure_writing(void)
{
	json_t *tree = json_loadb(mpijob_text_data(pod), mpijob_text_len(pod), 0, NULL);
	mpijob_doc *doc = NULL;
	size_t bytes = 0;
	double begin = now();

	for (int i = 0; i < ROUNDS; i++)
		free(json_dumps(tree, JSON_COMPACT));
	report("jansson, written", now() - begin, 0);
	(void)mpijob_doc_parse(mpijob_text_data(pod), mpijob_text_len(pod), NULL, &doc, NULL);
	begin = now();
	for (int i = 0; i < ROUNDS; i++)
		(void)mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT,
		    to_nowhere, &bytes);
	report("own, written as JSON", now() - begin, 0);
	begin = now();
	for (int i = 0; i < ROUNDS; i++)
		(void)mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_YAML, to_nowhere,
		    &bytes);
	report("own, written as YAML", now() - begin, 0);
	mpijob_doc_free(doc);
	json_decref(tree);
}

static void measure_yaml(void)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_text *text = mpijob_text_new();
	mpijob_doc *doc = NULL;
	double begin;

	options.format = MPIJOB_FORMAT_YAML;
	(void)mpijob_doc_parse(mpijob_text_data(pod), mpijob_text_len(pod), NULL, &doc, NULL);
	(void)mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_YAML, mpijob_text_write, text);
	mpijob_doc_free(doc);
	begin = now();
	for (int i = 0; i < ROUNDS; i++) {
		(void)mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), &options,
		    &doc, NULL);
		mpijob_doc_free(doc);
	}
	report("own tree from YAML, freed", now() - begin, 0);
	mpijob_text_free(text);
}

/* What comes out of each when numbers and nesting are not of the everyday kind. */
static void show_fidelity(void)
{
	static const char *const texts[] = { "[1.0]", "[1e3]", "[0.10]", "[18446744073709551616]",
		"[-0]" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *tree = json_loads(texts[i], 0, NULL);
		char *theirs = tree ? json_dumps(tree, JSON_COMPACT) : NULL;
		mpijob_text *ours = mpijob_text_new();
		mpijob_doc *doc = NULL;

		(void)mpijob_doc_parse(texts[i], strlen(texts[i]), NULL, &doc, NULL);
		(void)mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT,
		    mpijob_text_write, ours);
		(void)printf("%-24s jansson %-24s own %s\n", texts[i], theirs ? theirs : "refused",
		    mpijob_text_data(ours));
		mpijob_text_free(ours);
		mpijob_doc_free(doc);
		free(theirs);
		json_decref(tree);
	}
}

int main(void)
{
	make_pod();
	measure_jansson();
	measure_ours();
	measure_projection();
	measure_writing();
	measure_yaml();
	show_fidelity();
	mpijob_text_free(pod);
	return 0;
}
