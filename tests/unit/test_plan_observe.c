/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob_observe(): what becomes of each kind of object, in whatever order its keys come; and that
 * text which is cut short or damaged is refused, or at least does no harm.
 */
#include "../support/plan_cluster.h"

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#define LABELS(role)                                                   \
	"labels: {training.kubeflow.org/operator-name: mpi-operator, " \
	"training.kubeflow.org/job-name: pi, "                         \
	"training.kubeflow.org/job-role: " role "}"
#define OWNER                                                                                \
	"ownerReferences: [{kind: X, uid: other}, {apiVersion: kubeflow.org/v2beta1, kind: " \
	"MPIJob, name: pi, uid: "                                                            \
	"u0, controller: true}]"
#define POD(status)                                                                           \
	"{apiVersion: v1, kind: Pod, metadata: {name: pi-worker-12, namespace: ns, uid: u1, " \
	"resourceVersion: \"77\", "                                                           \
	"creationTimestamp: "                                                                 \
	"\"2026-09-21T14:13:20Z\", " LABELS(                                                  \
	    "worker") ", " OWNER                                                              \
		      "}, spec: {containers: [{name: w}], nodeName: node-1}, status: " status "}"

static const char *const kinds[] = {
	POD("{phase: Running, conditions: [{type: Ready, status: \"True\"}, {type: Initialized, "
	    "status: \"True\"}], "
	    "startTime: "
	    "\"2026-09-21T14:13:21Z\", containerStatuses: [{name: a, state: {running: {startedAt: "
	    "\"2026-09-21T14:13:25Z\"}}}]}"),
	POD("{phase: Failed, containerStatuses: [{name: a, state: {terminated: {exitCode: 0, "
	    "reason: Completed}}}, "
	    "{name: b, state: "
	    "{terminated: {exitCode: 137, reason: OOMKilled, message: \"no\\tmemory\"}}}]}"),
	"{type: DELETED, object: {apiVersion: batch/v1, kind: Job, metadata: {name: pi-launcher, "
	"uid: u2, "
	"resourceVersion: \"5\", " OWNER
	"}, spec: {suspend: true, template: {metadata: {labels: {a: b}}, spec: "
	"{nodeSelector: {zone: x}, tolerations: [{key: k}]}}}, "
	"status: {active: 1, failed: 2, startTime: \"2026-09-21T14:13:20Z\", conditions: [{type: "
	"Failed, status: "
	"\"True\", reason: R, "
	"message: M}]}}}",
	"{apiVersion: v1, kind: Service, metadata: {name: pi, uid: u3, " OWNER
	"}, spec: {clusterIP: None, publishNotReadyAddresses: true, "
	"selector: {a: b, c: d}}}",
	"{apiVersion: v1, kind: ConfigMap, metadata: {name: pi-config, uid: u4, " OWNER
	"}, data: {hostfile: \"pi-worker-0.pi.ns.svc "
	"slots=1\\n\", discover_hosts.sh: \"#!/bin/sh\\necho pi-launcher.pi.ns.svc\\necho "
	"pi-worker-2.pi.ns.svc\\necho "
	"pi-worker-0.pi.ns.svc\\n\"}}",
	"{type: ADDED, object: {apiVersion: v1, kind: Secret, type: kubernetes.io/ssh-auth, "
	"metadata: {name: pi-ssh, "
	"uid: u5, " OWNER "}, data: {ssh-privatekey: a2V5, ssh-publickey: a2V5}}}",
	"{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: pi, uid: "
	"u6, " OWNER "}, spec: {minMember: 3, queue: q, minResources: {cpu: \"3\"}}}",
	"{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high, uid: u7}, "
	"value: 1000}",
	"{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, metadata: {name: pi, namespace: ns, uid: "
	"u0, "
	"resourceVersion: \"9\", "
	"deletionTimestamp: \"2026-09-21T14:13:20Z\"}, spec: {mpiReplicaSpecs: {}}, status: "
	"{conditions: [{type: "
	"Created}]}}",
	"{type: ERROR, object: {apiVersion: v1, kind: Status, status: Failure, code: 410, reason: "
	"Expired, message: "
	"too old}}",
	"{type: BOOKMARK, object: {apiVersion: v1, kind: Pod, metadata: {resourceVersion: \"12\", "
	"annotations: "
	"{k8s.io/initial-events-end: \"true\"}}}}",
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static mpijob_observation *observation;
static const struct mpijob_observed *observed; /* by the last mpijob_observe() */

static mpijob_doc *parse(const char *text)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;

	options.format = MPIJOB_FORMAT_YAML;
	if (mpijob_doc_parse(text, strlen(text), &options, &doc, NULL))
		plan_cluster_die("no document: %s", text);
	return doc;
}

static int observe_doc(const mpijob_doc *doc)
{
	mpijob_text *text = plan_cluster_json(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT);
	int code = mpijob_observe(observation, mpijob_text_data(text), mpijob_text_len(text),
	    &observed, NULL);

	mpijob_text_free(text);
	return code;
}

static const struct mpijob_observed *observe(const char *yaml)
{
	mpijob_doc *doc = parse(yaml);

	assert_int_equal(observe_doc(doc), 0);
	mpijob_doc_free(doc);
	return observed;
}

static int observe_code(const char *json)
{
	return mpijob_observe(observation, json, strlen(json), &observed, NULL);
}

static void test_pod(void **state)
{
	const struct mpijob_observed *seen = observe(kinds[0]);
	const struct mpijob_pod_facts *pod = seen->pod;

	(void)state;
	assert_int_equal(seen->event, MPIJOB_EVENT_NONE);
	assert_string_equal(seen->api_version, "v1");
	assert_string_equal(seen->kind, "Pod");
	assert_string_equal(seen->namespace_, "ns");
	assert_string_equal(seen->resource_version, "77");
	assert_string_equal(seen->owner_kind, "MPIJob");
	assert_string_equal(seen->owner_uid, "u0");
	assert_string_equal(seen->job_name, "pi");
	assert_non_null(pod);
	assert_string_equal(pod->name, "pi-worker-12");
	assert_string_equal(pod->uid, "u1");
	assert_string_equal(pod->owner_uid, "u0");
	assert_int_equal(pod->role, MPIJOB_ROLE_WORKER);
	assert_int_equal(pod->index, 12);
	assert_int_equal(pod->phase, MPIJOB_POD_RUNNING);
	assert_int_equal(pod->ready, 1);
	assert_int_equal(pod->deleting, 0);
	assert_int_equal(pod->exit_code, -1);
	assert_null(pod->reason);
	assert_string_equal(pod->node, "node-1");
	assert_int_equal(pod->created_ms, INT64_C(1790000000000));
	assert_int_equal(pod->running_since_ms, INT64_C(1790000005000));
}

static void test_pod_that_ended(void **state)
{
	const struct mpijob_pod_facts *pod = observe(kinds[1])->pod;

	(void)state;
	assert_int_equal(pod->phase, MPIJOB_POD_FAILED);
	assert_int_equal(pod->exit_code, 137);
	assert_string_equal(pod->reason, "OOMKilled");
	assert_string_equal(pod->message, "no\tmemory");
	assert_int_equal(pod->ended_ms, 0);
	pod = observe(
	    POD("{phase: Succeeded, containerStatuses: [{state: {terminated: {exitCode: 0, reason: "
		"Completed, finishedAt: null}}}]}"))
		  ->pod;
	assert_int_equal(pod->exit_code, 0);
	assert_int_equal(pod->ended_ms, 0);
	/* Of two containers, the time is that of the one whose end counts. */
	pod = observe(POD("{phase: Failed, containerStatuses: [{state: {terminated: {exitCode: 0, "
			  "finishedAt: "
			  "\"2026-09-21T14:13:21Z\"}}}, {state: {terminated: {exitCode: 2, "
			  "finishedAt: \"2026-09-21T14:13:22Z\"}}}]}"))
		  ->pod;
	assert_int_equal(pod->exit_code, 2);
	assert_int_equal(pod->ended_ms, INT64_C(1790000002000));
	pod = observe(POD("{phase: Failed, reason: Evicted, message: low, containerStatuses: "
			  "[{state: {terminated: "
			  "{exitCode: 1, reason: "
			  "Error}}}]}"))
		  ->pod;
	assert_string_equal(pod->reason, "Evicted");
	assert_string_equal(pod->message, "low");
	assert_int_equal(pod->exit_code, 1);
	/* Restarted after it failed, then stopped from outside; and one that the kernel killed. */
	pod = observe(POD("{phase: Failed, containerStatuses: [{state: {terminated: {exitCode: "
			  "143, reason: Error}}, "
			  "lastState: {terminated: {exitCode: 3, reason: Error, message: no input, "
			  "finishedAt: "
			  "\"2026-09-21T14:13:30Z\"}}}]}"))
		  ->pod;
	assert_int_equal(pod->exit_code, 3);
	assert_string_equal(pod->message, "no input");
	assert_int_equal(pod->ended_ms, INT64_C(1790000010000));
	pod = observe(
	    POD("{phase: Failed, containerStatuses: [{lastState: {terminated: {exitCode: 3}}, "
		"state: {terminated: {exitCode: 137, reason: OOMKilled}}}]}"))
		  ->pod;
	assert_int_equal(pod->exit_code, 137);
	assert_string_equal(pod->reason, "OOMKilled");
	pod = observe(POD("{phase: Failed, initContainerStatuses: [{state: {terminated: {exitCode: "
			  "3, reason: "
			  "Init}}}], "
			  "containerStatuses: [{state: {waiting: {reason: PodInitializing}}}]}"))
		  ->pod;
	assert_int_equal(pod->exit_code, 3);
	assert_string_equal(pod->reason, "Init");
	pod = observe(POD("{phase: Running, initContainerStatuses: [{state: {terminated: "
			  "{exitCode: 0}}}], startTime: "
			  "\"2026-09-21T14:13:21Z\"}"))
		  ->pod;
	assert_int_equal(pod->exit_code, -1);
	assert_int_equal(pod->running_since_ms, INT64_C(1790000001000));
}

static int32_t index_of(const char *name)
{
	char yaml[512];
	const struct mpijob_observed *seen;

	snprintf(yaml, sizeof(yaml), "{apiVersion: v1, kind: Pod, metadata: {name: %s, uid: u}}",
	    name);
	seen = observe(yaml);
	return seen->pod ? seen->pod->index : -2;
}

static void test_names_of_workers(void **state)
{
	(void)state;
	assert_int_equal(index_of("pi-worker-0"), 0);
	assert_int_equal(index_of("a-worker-1-worker-20"), 20);
	assert_int_equal(index_of("pi-worker-"), -2);
	assert_int_equal(index_of("pi-worker-01"), -2);
	assert_int_equal(index_of("-worker-1"), -2);
	assert_int_equal(index_of("pi-worker-99999999999999999999"), -2);
	assert_int_equal(index_of("pi-worker-2000000000"), -2);
	assert_int_equal(index_of("web-7f9c"), -2);
	/* A pod of the job under another name is none of its workers. */
	assert_int_equal(
	    observe("{apiVersion: v1, kind: Pod, metadata: {name: po-worker-1, uid: u, " LABELS(
			"worker") ", " OWNER "}}")
		->pod->index,
	    -1);
}

static void test_launcher(void **state)
{
	const struct mpijob_observed *seen = observe(kinds[2]);
	const struct mpijob_launcher_facts *job = seen->launcher;

	(void)state;
	assert_int_equal(seen->event, MPIJOB_EVENT_DELETED);
	assert_non_null(job);
	assert_int_equal(job->suspended, 1);
	assert_int_equal(job->has_failed, 1);
	assert_int_equal(job->complete, 0);
	assert_string_equal(job->failed_reason, "R");
	assert_string_equal(job->failed_message, "M");
	assert_int_equal(job->active, 1);
	assert_int_equal(job->failed, 2);
	assert_int_equal(job->start_ms, INT64_C(1790000000000));
	assert_int_equal(job->completion_ms, 0);
	assert_string_equal(mpijob_node_string(mpijob_node_get(job->node_selector, "zone")), "x");
	assert_true(job->directives != 0);
}

static void test_children(void **state)
{
	const struct mpijob_child_facts *child = observe(kinds[3])->child;

	(void)state;
	assert_int_equal(child->role, MPIJOB_ROLE_SERVICE);
	assert_int_equal(mpijob_node_count(child->owned), 2);
	child = observe(kinds[4])->child;
	assert_int_equal(child->role, MPIJOB_ROLE_CONFIG_MAP);
	assert_int_equal(child->listed_count, 3);
	assert_int_equal(child->listed_workers_count, 3);
	assert_int_equal(child->listed_workers[0], 1);
	assert_int_equal(child->listed_workers[1], 0);
	assert_int_equal(child->listed_workers[2], 1);
	child = observe(kinds[5])->child;
	assert_int_equal(child->role, MPIJOB_ROLE_SECRET);
	child = observe(kinds[6])->child;
	assert_int_equal(child->role, MPIJOB_ROLE_POD_GROUP);
	assert_int_equal(mpijob_node_count(child->owned), 1);
}

static void test_others(void **state)
{
	const struct mpijob_observed *seen = observe(kinds[7]);

	(void)state;
	assert_int_equal(seen->priority_value, 1000);
	seen = observe(kinds[8]);
	assert_string_equal(seen->kind, "MPIJob");
	assert_int_equal(seen->deleting, 1);
	assert_null(seen->pod);
	seen = observe(kinds[9]);
	assert_int_equal(seen->event, MPIJOB_EVENT_ERROR);
	assert_int_equal(seen->code, 410);
	assert_string_equal(seen->reason, "Expired");
	assert_string_equal(seen->message, "too old");
	seen = observe(kinds[10]);
	assert_int_equal(seen->event, MPIJOB_EVENT_BOOKMARK);
	assert_string_equal(seen->resource_version, "12");
	assert_int_equal(seen->initial_events_end, 1);
	assert_null(seen->pod);
	/* An item of a list does not name its kind. */
	seen = observe("{object: {metadata: {name: pi-worker-3, uid: u}}, type: ADDED, kind: Pod, "
		       "apiVersion: v1}");
	assert_int_equal(seen->pod->index, 3);
	/* Kinds of other groups are not ours. */
	seen = observe("{apiVersion: example.com/v1, kind: Pod, metadata: {name: pi-worker-3, uid: "
		       "u}, spec: 7, status: [x]}");
	assert_null(seen->pod);
	assert_null(
	    observe("{apiVersion: v1beta1, kind: Service, metadata: {name: pi, uid: u}}")->child);
	assert_int_equal(
	    mpijob_observe(observation,
		"{\"kind\":\"P\\u006fd\",\"apiVersion\":\"v1\",\"metadata\":{\"n\\u0061me\":"
		"\"pi-worker-\\u0034\","
		"\"uid\":\"u\"}}",
		85, &observed, NULL),
	    MPIJOB_ERR_SYNTAX);
	assert_int_equal(
	    observe_code(
		"{\"kind\":\"P\\u006fd\",\"apiVersion\":\"v1\",\"metadata\":{\"n\\u0061me\":\"pi-"
		"worker-\\u0034\",\"uid\":\"u\"}}"),
	    0);
	assert_int_equal(observed->pod->index, 4);
}

static void test_refused(void **state)
{
	static const char *const wrong[] = {
		"7",
		"null",
		"[]",
		"\"x\"",
		"{\"metadata\":7}",
		"{\"metadata\":{\"name\":[]}}",
		"{\"type\":\"ADDED\",\"object\":[]}",
		"{\"type\":\"SHOUTED\",\"object\":{}}",
		"{\"object\":{}}",
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"uid\":\"u\"}}",
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"n\"}}",
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"n\",\"uid\":"
		"\"u\"},\"spec\":[]}",
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"n\",\"uid\":"
		"\"u\"},\"status\":{"
		"\"phase\":1}}",
		"{\"apiVersion\":\"batch/"
		"v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"n\",\"uid\":\"u\"},\"status\":{"
		"\"active\":\"1\"}}",
		"{\"apiVersion\":\"batch/"
		"v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"n\",\"uid\":\"u\"},\"status\":{"
		"\"startTime\":\"noon\"}"
		"}",
	};
	static const char *const broken[] = { "", "{", "{}x", "{} {}", "{\"a\":}", "{\"a\":1,}",
		"{'a':1}" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		mpijob_diag *diag = mpijob_diag_new();

		if (mpijob_observe(observation, wrong[i], strlen(wrong[i]), &observed, diag) !=
		    MPIJOB_ERR_SPEC)
			fail_msg("not refused: %s", wrong[i]);
		assert_int_equal(mpijob_diag_count(diag, 0), 1);
		assert_null(observed);
		mpijob_diag_free(diag);
	}
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
		if (observe_code(broken[i]) != MPIJOB_ERR_SYNTAX)
			fail_msg("not refused: %s", broken[i]);
	}
	assert_int_equal(observe_code("{}"), 0);
	assert_int_equal(mpijob_observe(NULL, "{}", 2, &observed, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_observe(observation, NULL, 0, &observed, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_observe(observation, "{}", 2, NULL, NULL), MPIJOB_ERR_USAGE);
	mpijob_observation_free(NULL);
}

static uint64_t seed = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 11) % below;
}

static mpijob_node *shuffled(mpijob_doc *doc, const mpijob_node *from)
{
	size_t count = mpijob_node_count(from), *at;
	mpijob_node *to;

	if (mpijob_node_kind(from) == MPIJOB_NODE_LIST) {
		to = mpijob_node_new(doc, MPIJOB_NODE_LIST);
		for (size_t i = 0; i < count; i++)
			mpijob_node_append(doc, to, shuffled(doc, mpijob_node_at(from, i)));
		return to;
	}
	if (mpijob_node_kind(from) != MPIJOB_NODE_MAP)
		return mpijob_node_copy(doc, from);
	at = calloc(count + 1, sizeof(*at));
	NEED(at);
	to = mpijob_node_new(doc, MPIJOB_NODE_MAP);
	for (size_t i = 0; i < count; i++) {
		size_t other = draw((uint32_t)i + 1);

		at[i] = at[other];
		at[other] = i;
	}
	for (size_t i = 0; i < count; i++)
		mpijob_node_put(doc, to, mpijob_node_key(from, at[i]),
		    shuffled(doc, mpijob_node_at(from, at[i])));
	free(at);
	return to;
}

/* Everything that an observation holds, as text. */
static char *view_text(void)
{
	const struct mpijob_observed *v = observed;
	char *text = NULL;
	const struct mpijob_pod_facts *p = v->pod;
	const struct mpijob_launcher_facts *l = v->launcher;
	const struct mpijob_child_facts *c = v->child;
	char pod[512] = "", launcher[512] = "", child[512] = "";

#define T(x) ((x) ? (x) : "-")
	if (p)
		snprintf(pod, sizeof(pod), "%s %s %s %d %d %d %d %d %d %s %s %s %lld %lld %lld",
		    p->name, p->uid, T(p->owner_uid), p->role, p->index, p->phase, p->ready,
		    p->deleting, p->exit_code, T(p->reason), T(p->message), T(p->node),
		    (long long)p->created_ms, (long long)p->running_since_ms,
		    (long long)p->ended_ms);
	if (l)
		snprintf(launcher, sizeof(launcher), "%s %s %d %d %d %d %s %s %d %d %lld %llx %zu",
		    l->name, l->uid, l->deleting, l->suspended, l->complete, l->has_failed,
		    T(l->failed_reason), T(l->failed_message), l->active, l->failed,
		    (long long)l->start_ms, (unsigned long long)l->directives,
		    mpijob_node_count(l->node_selector));
	if (c)
		snprintf(child, sizeof(child), "%d %s %s %s %llx %llx %d %zu %zu", c->role, c->name,
		    c->uid, T(c->owner_uid), (unsigned long long)c->digest,
		    (unsigned long long)c->listed, c->listed_count, c->listed_workers_count,
		    mpijob_node_count(c->owned));
	NEED(
	    asprintf(&text, "%d %s %s %s %s %s %s %s %d %d %s %s %d %d [%s] [%s] [%s]", v->event,
		T(v->api_version), T(v->kind), T(v->namespace_), T(v->name), T(v->uid),
		T(v->resource_version), T(v->owner_uid), v->deleting, v->code, T(v->reason),
		T(v->message), v->initial_events_end, v->priority_value, pod, launcher, child) > 0);
	return text;
}

static void test_any_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < KINDS; i++) {
		mpijob_doc *doc = parse(kinds[i]);
		char *want;

		assert_int_equal(observe_doc(doc), 0);
		want = view_text();
		for (int k = 0; k < 50; k++) {
			mpijob_doc *other =
			    mpijob_doc_from_node(shuffled(doc, mpijob_doc_root(doc)), NULL);
			char *have;

			NEED(other && !mpijob_doc_error(doc));
			assert_int_equal(observe_doc(other), 0);
			have = view_text();
			assert_string_equal(have, want);
			free(have);
			mpijob_doc_free(other);
		}
		free(want);
		mpijob_doc_free(doc);
	}
}

static void test_cut_and_damaged(void **state)
{
	long accepted = 0, tried = 0;

	(void)state;
	for (size_t i = 0; i < KINDS; i++) {
		mpijob_doc *doc = parse(kinds[i]);
		mpijob_text *text =
		    plan_cluster_json(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT);
		size_t len = mpijob_text_len(text);
		char *copy = malloc(len);

		NEED(copy);
		for (size_t cut = 0; cut < len; cut++) {
			/* A block of exactly this size: a read beyond it is seen. */
			char *part = malloc(cut + !cut);

			NEED(part);
			memcpy(part, mpijob_text_data(text), cut);
			assert_int_equal(mpijob_observe(observation, part, cut, &observed, NULL),
			    MPIJOB_ERR_SYNTAX);
			free(part);
		}
		for (int k = 0; k < 3000; k++) {
			int code;

			memcpy(copy, mpijob_text_data(text), len);
			for (uint32_t n = draw(3) + 1; n > 0; n--)
				copy[draw((uint32_t)len)] =
				    draw(3) ? "{}[]\",:0\\ex"[draw(11)] : (char)draw(256);
			code = mpijob_observe(observation, copy, len, &observed, NULL);
			assert_true(
			    code == 0 || code == MPIJOB_ERR_SYNTAX || code == MPIJOB_ERR_SPEC);
			accepted += code == 0;
			tried++;
		}
		free(copy);
		mpijob_text_free(text);
		mpijob_doc_free(doc);
	}
	printf("damaged objects: %ld, %ld of them still objects\n", tried, accepted);
}

static int setup(void **state)
{
	(void)state;
	observation = mpijob_observation_new();
	return observation ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	mpijob_observation_free(observation);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pod),
		cmocka_unit_test(test_pod_that_ended),
		cmocka_unit_test(test_names_of_workers),
		cmocka_unit_test(test_launcher),
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_cut_and_damaged),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
