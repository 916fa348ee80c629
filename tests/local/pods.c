/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods of the embedded cluster on a real node: what a template asks for is seen from inside,
 * through what the containers print. Needs namespaces; skipped with the reason where there are
 * none.
 */
#include "../support/local_client.h"

#include "local/pod.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define PODS    "/api/v1/namespaces/default/pods"
#define MAPS    "/api/v1/namespaces/default/configmaps"
#define SECRETS "/api/v1/namespaces/default/secrets"
#define JOBS    "/apis/batch/v1/namespaces/default/jobs"

static struct cluster node;
static struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
static char notices[16384];

static void take_notice(void *user, const struct mpijob_finding *finding)
{
	size_t len = strlen(notices);

	(void)user;
	snprintf(notices + len, sizeof(notices) - len, "%s: %s\n",
	    finding->field ? finding->field : "", finding->message);
}

static int node_up(mpijob_diag *diag)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	int error;

	options.node_program = MPIJOB_TEST_BUILD "/libexec/mpijob-node";
	options.backoff_base_ms = 50;
	options.notice = take_notice;
	error = mpijob_local_new(&options, &transport, &node.local, diag);
	return error ? error : mpijob_client_new(&transport, node.local, &node.client);
}

/* `spec` without its braces. */
static void make_pod(const char *name, const char *metadata, const char *spec)
{
	char body[4096];

	snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\"%s},\"spec\":{%s}}", name,
	    metadata, spec);
	expect(&node, "POST", PODS, body, 201);
}

/* A pod of one container that runs a shell script and is not started again. */
static void make_script(const char *name, const char *script)
{
	char spec[2048];

	snprintf(spec, sizeof(spec),
	    "\"restartPolicy\":\"Never\",\"containers\":[{\"image\":\"i\",\"name\":\"c\","
	    "\"command\":[\"sh\",\"-c\",\"%s\"]}]",
	    script);
	make_pod(name, "", spec);
}

static char *text_at(const char *path, const char *field)
{
	struct answer answer = ask(&node, "GET", path, NULL);
	const char *text = mpijob_node_text(mpijob_node_find(mpijob_doc_root(answer.doc), field));
	char *copy = strdup(text ? text : "");

	answer_free(&answer);
	return copy;
}

static void wait_text(const char *path, const char *field, const char *wanted, int ms)
{
	char *text = NULL;

	for (; ms > 0; ms -= 10) {
		free(text);
		text = text_at(path, field);
		if (strcmp(text, wanted) == 0)
			break;
		poll_for(&node, 10);
	}
	if (strcmp(text, wanted) != 0)
		print_message("%s %s: '%s', wanted '%s'\n%s", path, field, text, wanted, notices);
	assert_string_equal(text, wanted);
	free(text);
}

static void wait_phase(const char *name, const char *phase)
{
	char path[256];

	snprintf(path, sizeof(path), PODS "/%s", name);
	wait_text(path, "status.phase", phase, 10000);
}

static struct answer log_of(const char *name, const char *query)
{
	struct answer answer;
	char path[256];

	snprintf(path, sizeof(path), PODS "/%s/log%s", name, query);
	ask_start(&node, &answer, 1, "GET", path, NULL, NULL);
	for (int i = 0; i < 2000 && !answer.done; i++)
		assert_int_equal(mpijob_client_poll(node.client, 10), 0);
	assert_true(answer.done);
	return answer;
}

static void wait_log(const char *name, const char *piece)
{
	int found = 0;

	for (int i = 0; i < 200 && !found; i++) {
		struct answer answer = log_of(name, "");

		found =
		    answer.status == 200 && strstr(mpijob_text_data(answer.stream), piece) != NULL;
		answer_free(&answer);
		poll_for(&node, 50);
	}
	assert_true(found);
}

static void expect_log(const char *name, const char *query, const char *wanted)
{
	struct answer answer = log_of(name, query);

	assert_int_equal(answer.status, 200);
	assert_string_equal(mpijob_text_data(answer.stream), wanted);
	answer_free(&answer);
}

static void test_order_and_shared_volume(void **state)
{
	(void)state;
	make_pod("order", "",
	    "\"restartPolicy\":\"Never\",\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}],"
	    "\"initContainers\":[{\"image\":\"i\",\"name\":\"i1\",\"command\":[\"sh\",\"-c\","
	    "\"echo one > /v/f\"],"
	    "\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}]},"
	    "{\"image\":\"i\",\"name\":\"i2\",\"command\":[\"sh\",\"-c\",\"echo two >> /v/f\"],"
	    "\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}]}],"
	    "\"containers\":[{\"image\":\"i\",\"name\":\"a\",\"command\":[\"sh\",\"-c\",\"cat "
	    "/v/f; touch /v/a\"],"
	    "\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}]},"
	    "{\"image\":\"i\",\"name\":\"b\",\"command\":[\"sh\",\"-c\",\"until [ -e /w/a ]; do "
	    "sleep 0.02; done; pwd; ls; "
	    "echo x > /w/no || echo refused\"],\"workingDir\":\"/w\","
	    "\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/w\",\"readOnly\":true}]}]");
	wait_phase("order", "Succeeded");
	expect_log("order", "?container=a", "one\ntwo\n");
	{
		struct answer answer = log_of("order", "?container=b");

		assert_non_null(strstr(mpijob_text_data(answer.stream), "/w\na\nf\n"));
		assert_non_null(strstr(mpijob_text_data(answer.stream), "refused\n"));
		answer_free(&answer);
	}
	expect_refusal(&node, "GET", PODS "/order/log", NULL, NULL, 400, "BadRequest");
	wait_text(PODS "/order", "status.initContainerStatuses[1].state.terminated.reason",
	    "Completed", 10);
	wait_text(PODS "/order", "status.conditions[3].reason", "PodCompleted", 10);
}

static void test_environment(void **state)
{
	(void)state;
	expect(&node, "POST", MAPS,
	    "{\"metadata\":{\"name\":\"em\"},\"data\":{\"K\":\"from-map\",\"L\":\"l\"}}", 201);
	expect(&node, "POST", SECRETS,
	    "{\"metadata\":{\"name\":\"es\"},\"stringData\":{\"S\":\"from-secret\"}}", 201);
	make_pod("env", ",\"labels\":{\"app.x/y\":\"lab\"},\"annotations\":{\"a\":\"ann\"}",
	    "\"restartPolicy\":\"Never\",\"hostname\":\"my-host\",\"containers\":[{\"image\":\"i\","
	    "\"name\":\"c\",\"envFrom\":["
	    "{\"prefix\":\"P_\",\"configMapRef\":{\"name\":\"em\"}},{\"secretRef\":{\"name\":"
	    "\"es\"}},"
	    "{\"configMapRef\":{\"name\":\"absent\",\"optional\":true}}],\"env\":["
	    "{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"B\",\"value\":\"$(A)-$$(A)-$(NONE)-$(P_K)"
	    "\"},"
	    "{\"name\":\"C\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"em\",\"key\":\"K\"}}},"
	    "{\"name\":\"D\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"es\",\"key\":\"S\"}}},"
	    "{\"name\":\"E\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.name\"}}},"
	    "{\"name\":\"F\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.labels['app.x/"
	    "y']\"}}},"
	    "{\"name\":\"G\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.annotations['a']"
	    "\"}}},"
	    "{\"name\":\"H\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"status.podIP\"}}},"
	    "{\"name\":\"I\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.namespace\"}}},"
	    "{\"name\":\"PATH\",\"value\":\"/usr/bin:/bin\"}],"
	    "\"command\":[\"sh\",\"-c\",\"echo $A $B $C $D $E $F $G $I $P_L $S $PATH; hostname; "
	    "[ $H = $(hostname -i) ] && echo same; echo $0 "
	    "$1\"],\"args\":[\"$(A)$(P_L)\",\"$$(A)\"]}]");
	wait_phase("env", "Succeeded");
	expect_log("env", "?container=c",
	    "1 1-$(A)-$(NONE)-from-map from-map from-secret env lab ann default l from-secret "
	    "/usr/bin:/bin\n"
	    "my-host\nsame\n1l $(A)\n");
}

static void test_files(void **state)
{
	(void)state;
	expect(&node, "POST", MAPS,
	    "{\"metadata\":{\"name\":\"fm\"},\"data\":{\"k\":\"old\",\"x.sh\":\"#!/bin/sh\\necho "
	    "ran\\n\"}}",
	    201);
	expect(&node, "POST", SECRETS,
	    "{\"metadata\":{\"name\":\"fs\"},\"stringData\":{\"key\":\"sec\",\"other\":\"o\"}}",
	    201);
	make_pod("files", ",\"labels\":{\"l\":\"v\"}",
	    "\"restartPolicy\":\"Never\",\"volumes\":[{\"name\":\"m\",\"configMap\":{\"name\":"
	    "\"fm\","
	    "\"defaultMode\":493}},"
	    "{\"name\":\"s\",\"secret\":{\"secretName\":\"fs\",\"defaultMode\":256,\"items\":["
	    "{\"key\":\"key\",\"path\":\"sub/id\",\"mode\":384}]}},"
	    "{\"name\":\"o\",\"configMap\":{\"name\":\"absent\",\"optional\":true}},"
	    "{\"name\":\"p\",\"projected\":{\"sources\":[{\"secret\":{\"name\":\"fs\"}},{"
	    "\"downwardAPI\":{"
	    "\"items\":["
	    "{\"path\":\"labels\",\"fieldRef\":{\"fieldPath\":\"metadata.labels\"}}]}}]}}],"
	    "\"containers\":[{\"image\":\"i\",\"name\":\"c\",\"volumeMounts\":[{\"name\":\"m\","
	    "\"mountPath\":\"/m\"},"
	    "{\"name\":\"s\",\"mountPath\":\"/s\"},{\"name\":\"o\",\"mountPath\":\"/"
	    "o\"},{\"name\":\"p\",\"mountPath\":\"/p\"},"
	    "{\"name\":\"m\",\"mountPath\":\"/one/k\",\"subPath\":\"k\"}],"
	    "\"command\":[\"sh\",\"-c\",\"cat /m/k; echo; /m/x.sh; cat /s/sub/id; echo; stat -Lc "
	    "%a /s/sub/id; ls "
	    "/s /o; cat "
	    "/p/other /p/labels /one/k; echo; until grep -q new /m/k; do sleep 0.02; done; echo "
	    "changed\"]}]");
	poll_for(&node, 300);
	expect(&node, "PATCH", MAPS "/fm", "{\"data\":{\"k\":\"new\"}}", 200);
	wait_phase("files", "Succeeded");
	expect_log("files", "?container=c",
	    "old\nran\nsec\n600\n/o:\n\n/s:\nsub\nol=\"v\"\nold\nchanged\n");
}

static void test_long_name(void **state)
{
	static const char name[] =
	    "a123456789-123456789-123456789-123456789-123456789-123456789-1--b";

	(void)state;
	make_script(name, "hostname");
	wait_phase(name, "Succeeded");
	expect_log(name, "", "a123456789-123456789-123456789-123456789-123456789-123456789-1\n");
}

static void test_nested_mounts(void **state)
{
	(void)state;
	make_pod("nested", "",
	    "\"restartPolicy\":\"Never\",\"volumes\":[{\"name\":\"outer\",\"emptyDir\":{}},"
	    "{\"name\":\"inner\",\"emptyDir\":{}}],\"initContainers\":[{\"image\":\"i\",\"name\":"
	    "\"i\",\"command\":[\"touch\",\"/i/f\"],"
	    "\"volumeMounts\":[{\"name\":\"inner\",\"mountPath\":\"/i\"}]}],"
	    "\"containers\":[{\"image\":\"i\",\"name\":\"c\",\"command\":[\"ls\",\"/data\",\"/data/"
	    "in\"],\"volumeMounts\":["
	    "{\"name\":\"inner\",\"mountPath\":\"/data/in\"},{\"name\":\"outer\",\"mountPath\":\"/"
	    "data/\"}]}]");
	wait_phase("nested", "Succeeded");
	expect_log("nested", "", "/data:\nin\n\n/data/in:\nf\n");
}

static int count_notices(const char *piece)
{
	int count = 0;

	for (const char *at = notices; (at = strstr(at, piece)); at += strlen(piece))
		count++;
	return count;
}

/* Labels change while the pod runs, and a source becomes what cannot be written: a file where a
 * folder is. */
static void test_live_volumes(void **state)
{
	int before = count_notices("keeps its old files");

	(void)state;
	expect(&node, "POST", MAPS, "{\"metadata\":{\"name\":\"odd\"},\"data\":{\"y\":\"why\"}}",
	    201);
	make_pod("live", ",\"labels\":{\"stage\":\"one\"}",
	    "\"restartPolicy\":\"Never\",\"volumes\":[{\"name\":\"d\",\"downwardAPI\":{\"items\":[{"
	    "\"path\":\"labels\","
	    "\"fieldRef\":{\"fieldPath\":\"metadata.labels\"}}]}},{\"name\":\"odd\",\"configMap\":{"
	    "\"name\":\"odd\","
	    "\"optional\":true,\"items\":[{\"key\":\"y\",\"path\":\"a/"
	    "b\"},{\"key\":\"x\",\"path\":\"a\"}]}}],"
	    "\"containers\":[{\"image\":\"i\",\"name\":\"c\",\"command\":[\"sh\",\"-c\",\"cat "
	    "/d/labels; until grep -q two /d/labels; "
	    "do sleep 0.05; done; cat /d/labels "
	    "/odd/a/b\"],\"volumeMounts\":[{\"name\":\"d\",\"mountPath\":\"/d\"},"
	    "{\"name\":\"odd\",\"mountPath\":\"/odd\"}]}]");
	wait_phase("live", "Running");
	wait_log("live", "one");
	expect(&node, "PATCH", MAPS "/odd", "{\"data\":{\"x\":\"ex\"}}", 200);
	for (int i = 0; i < 200 && count_notices("keeps its old files") == before; i++)
		poll_for(&node, 10);
	assert_int_equal(count_notices("keeps its old files"), before + 1);
	expect(&node, "PATCH", PODS "/live", "{\"metadata\":{\"labels\":{\"stage\":\"two\"}}}",
	    200);
	wait_phase("live", "Succeeded");
	expect_log("live", "", "stage=\"one\"\nstage=\"two\"\nwhy");
}

static void test_missing_source(void **state)
{
	(void)state;
	make_pod("late", "",
	    "\"restartPolicy\":\"Never\",\"volumes\":[{\"name\":\"m\",\"configMap\":{\"name\":"
	    "\"late-map\"}}],"
	    "\"containers\":[{\"image\":\"i\",\"name\":\"c\",\"command\":[\"sh\",\"-c\",\"cat "
	    "/m/k; echo $V\"],"
	    "\"env\":[{\"name\":\"V\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"late-secret\","
	    "\"key\":\"v\"}}}],"
	    "\"volumeMounts\":[{\"name\":\"m\",\"mountPath\":\"/m\"}]}]");
	poll_for(&node, 100);
	wait_text(PODS "/late", "status.phase", "Pending", 10);
	wait_text(PODS "/late", "status.containerStatuses[0].state.waiting.reason",
	    "ContainerCreating", 10);
	expect(&node, "POST", MAPS,
	    "{\"metadata\":{\"name\":\"late-map\"},\"data\":{\"k\":\"k \"}}", 201);
	wait_text(PODS "/late", "status.containerStatuses[0].state.waiting.reason",
	    "CreateContainerConfigError", 2000);
	expect(&node, "POST", SECRETS,
	    "{\"metadata\":{\"name\":\"late-secret\"},\"stringData\":{\"v\":\"v\"}}", 201);
	wait_phase("late", "Succeeded");
	expect_log("late", "", "k v\n");
}

static void test_exit_code(void **state)
{
	(void)state;
	make_script("three", "echo out; echo err >&2; exit 3");
	wait_phase("three", "Failed");
	wait_text(PODS "/three", "status.containerStatuses[0].state.terminated.exitCode", "3", 10);
	wait_text(PODS "/three", "status.containerStatuses[0].state.terminated.reason", "Error",
	    10);
	expect_log("three", "", "out\nerr\n");
	make_pod("nothing", "",
	    "\"restartPolicy\":\"Never\",\"containers\":[{\"image\":\"i\",\"name\":\"c\","
	    "\"command\":[\"/no/such\"]}]");
	wait_phase("nothing", "Failed");
	wait_text(PODS "/nothing", "status.containerStatuses[0].state.terminated.exitCode", "127",
	    10);
}

static void test_killed(void **state)
{
	struct mpijob__local_object *object;

	(void)state;
	make_script("killed", "sleep 60");
	wait_phase("killed", "Running");
	object = mpijob__local_store_find(&node.local->store, MPIJOB__LOCAL_KIND_POD, "default",
	    "killed");
	assert_int_equal(mpijob__local_container_signal(
			     mpijob__local_pod_find_container(object->pod, "c"), SIGKILL),
	    0);
	wait_phase("killed", "Failed");
	wait_text(PODS "/killed", "status.containerStatuses[0].state.terminated.exitCode", "137",
	    10);
}

static void test_restart(void **state)
{
	(void)state;
	make_pod("again", "",
	    "\"restartPolicy\":\"OnFailure\",\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}],"
	    "\"containers\":[{\"image\":\"i\",\"name\":\"c\",\"volumeMounts\":[{\"name\":\"v\","
	    "\"mountPath\":\"/v\"}],"
	    "\"command\":[\"sh\",\"-c\",\"echo x >> /v/f; n=$(wc -l < /v/f); echo run $n; [ $n = 3 "
	    "]\"]}]");
	wait_phase("again", "Succeeded");
	wait_text(PODS "/again", "status.containerStatuses[0].restartCount", "2", 10);
	wait_text(PODS "/again", "status.containerStatuses[0].lastState.terminated.exitCode", "1",
	    10);
	expect_log("again", "", "run 3\n");
	expect_log("again", "?previous=true", "run 2\n");
}

static void test_probes(void **state)
{
	(void)state;
	make_pod("probe", "",
	    "\"terminationGracePeriodSeconds\":0,\"containers\":[{\"image\":\"i\",\"name\":\"c\","
	    "\"command\":[\"sh\",\"-c\","
	    "\"sleep 0.5; touch /tmp/ready; sleep "
	    "60\"],\"readinessProbe\":{\"periodSeconds\":1,\"exec\":{\"command\":"
	    "[\"test\",\"-e\",\"/tmp/ready\"]}}}]");
	make_pod("port", "",
	    "\"containers\":[{\"image\":\"i\",\"name\":\"c\",\"ports\":[{\"name\":\"p\","
	    "\"containerPort\":7000}],\"command\":["
	    "\"sleep\",\"60\"],"
	    "\"readinessProbe\":{\"periodSeconds\":1,\"tcpSocket\":{\"port\":\"p\"}}}]");
	wait_phase("probe", "Running");
	wait_text(PODS "/probe", "status.conditions[3].status", "False", 10);
	wait_text(PODS "/probe", "status.conditions[3].status", "True", 3000);
	wait_text(PODS "/port", "status.conditions[3].status", "False", 10);
	expect(&node, "DELETE", PODS "/probe", NULL, 200);
	expect(&node, "DELETE", PODS "/port?gracePeriodSeconds=0", NULL, 200);
	expect(&node, "GET", PODS "/port", NULL, 404);
}

static void test_deletion(void **state)
{
	struct answer answer;

	(void)state;
	make_script("polite",
	    "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done");
	wait_phase("polite", "Running");
	ask_start(&node, &answer, 1, "GET", PODS "/polite/log?follow=true", NULL, NULL);
	while (told(&answer, "up") == 0)
		poll_for(&node, 10);
	expect(&node, "DELETE", PODS "/polite", NULL, 200);
	wait_text(PODS "/polite", "metadata.deletionGracePeriodSeconds", "30", 10);
	for (int i = 0; i < 300 && !answer.done; i++)
		poll_for(&node, 10);
	assert_true(answer.done);
	assert_string_equal(mpijob_text_data(answer.stream), "up\nbye\n");
	answer_free(&answer);
	poll_for(&node, 20);
	expect(&node, "GET", PODS "/polite", NULL, 404);
	/* One that does not listen is killed when its time is over. */
	make_script("deaf", "trap '' TERM; while :; do sleep 0.05; done");
	wait_phase("deaf", "Running");
	expect(&node, "DELETE", PODS "/deaf?gracePeriodSeconds=1", NULL, 200);
	poll_for(&node, 300);
	expect(&node, "GET", PODS "/deaf", NULL, 200);
	poll_for(&node, 1200);
	expect(&node, "GET", PODS "/deaf", NULL, 404);
}

static void test_names(void **state)
{
	(void)state;
	make_pod("n1", "",
	    "\"hostname\":\"w-0\",\"subdomain\":\"j\",\"terminationGracePeriodSeconds\":0,"
	    "\"containers\":[{\"image\":\"i\","
	    "\"name\":\"c\","
	    "\"command\":[\"sleep\",\"60\"]}]");
	make_script("n2",
	    "for n in w-0 w-0.j w-0.j.default.svc w-0.j.default.svc.cluster.local n2 localhost; do "
	    "getent hosts $n > /dev/null && echo $n; done; getent hosts other || echo no other");
	wait_phase("n2", "Succeeded");
	expect_log("n2", "",
	    "w-0\nw-0.j\nw-0.j.default.svc\nw-0.j.default.svc.cluster.local\nn2\nlocalhost\nno "
	    "other\n");
	expect(&node, "DELETE", PODS "/n1?gracePeriodSeconds=0", NULL, 200);
}

static void test_users(void **state)
{
	(void)state;
	make_pod("user", "",
	    "\"restartPolicy\":\"Never\",\"securityContext\":{\"runAsUser\":1234,\"runAsGroup\":"
	    "2345,\"fsGroup\":"
	    "3456,"
	    "\"supplementalGroups\":[4567]},\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}],"
	    "\"containers\":[{\"image\":\"i\","
	    "\"name\":\"c\","
	    "\"command\":[\"sh\",\"-c\",\"id -u; id -g; id -G; touch /v/f && stat -c %g /v/f\"],"
	    "\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}]},"
	    "{\"image\":\"i\",\"name\":\"d\",\"command\":[\"id\",\"-u\"],\"securityContext\":{"
	    "\"runAsUser\":5}}]");
	wait_phase("user", "Succeeded");
	if (mpijob__local_kubelet_has_one_id(node.local->kubelet)) {
		expect_log("user", "?container=c", "1234\n2345\n2345\n2345\n");
		assert_non_null(
		    strstr(notices, "securityContext.fsGroup: not honoured locally: this user"));
		assert_non_null(
		    strstr(notices, "securityContext.supplementalGroups: not honoured locally"));
	} else {
		expect_log("user", "?container=c", "1234\n2345\n2345 3456 4567\n3456\n");
	}
	expect_log("user", "?container=d", "5\n");
}

static void test_long_log(void **state)
{
	struct answer answer;
	const char *text;

	(void)state;
	make_script("long", "i=0; while [ $i -lt 14 ]; do head -c 1048575 /dev/zero | tr '\\\\0' "
			    "x; echo; i=$((i+1)); "
			    "done; echo end");
	wait_phase("long", "Running");
	ask_start(&node, &answer, 1, "GET", PODS "/long/log?follow=true", NULL, NULL);
	for (int i = 0; i < 1000 && !answer.done; i++)
		poll_for(&node, 10);
	assert_true(answer.done);
	assert_int_equal(mpijob_text_len(answer.stream), 14 * 1048576 + 4);
	answer_free(&answer);
	/* Who comes later sees what is kept, and how much is not. */
	answer = log_of("long", "");
	text = mpijob_text_data(answer.stream);
	assert_int_equal(text[0], '[');
	assert_non_null(strstr(text, " bytes are no longer kept]\n"));
	assert_string_equal(text + mpijob_text_len(answer.stream) - 4, "end\n");
	assert_true(mpijob_text_len(answer.stream) < 13u << 20);
	answer_free(&answer);
}

/* A follower that takes nothing makes the container wait; nothing is lost. */
static void test_slow_reader(void **state)
{
	struct answer answer;
	mpijob_exchange *exchange;

	(void)state;
	make_script("slow", "i=0; while [ $i -lt 20 ]; do head -c 1048575 /dev/zero | tr '\\\\0' "
			    "x; echo; i=$((i+1)); "
			    "done; echo end");
	wait_phase("slow", "Running");
	ask_start(&node, &answer, 1, "GET", PODS "/slow/log?follow=true", NULL, NULL);
	exchange =
	    ((struct mpijob__local_call *)mpijob__base_list_first(&node.local->calls))->exchange;
	assert_int_equal(mpijob_client_poll(node.client, 0), 0);
	transport.pause(node.local, exchange, 1);
	poll_for(&node, 1500);
	wait_text(PODS "/slow", "status.phase", "Running", 10);
	transport.pause(node.local, exchange, 0);
	for (int i = 0; i < 1000 && !answer.done; i++)
		poll_for(&node, 10);
	assert_true(answer.done);
	assert_int_equal(mpijob_text_len(answer.stream), 20 * 1048576 + 4);
	answer_free(&answer);
	wait_phase("slow", "Succeeded");
}

static void test_hanging_probe(void **state)
{
	(void)state;
	make_pod("hang", "",
	    "\"containers\":[{\"image\":\"i\",\"name\":\"c\",\"command\":[\"sleep\",\"60\"],"
	    "\"readinessProbe\":{\"periodSeconds\":"
	    "1,"
	    "\"exec\":{\"command\":[\"sh\",\"-c\",\"[ -e /tmp/2 ] && exit; touch /tmp/2; sleep "
	    "60\"]}}}]");
	wait_phase("hang", "Running");
	/* The first look is ended after its second, the next one is good. */
	wait_text(PODS "/hang", "status.conditions[3].status", "True", 4000);
	expect(&node, "DELETE", PODS "/hang?gracePeriodSeconds=0", NULL, 200);
}

static void test_refused_pods(void **state)
{
	static const struct {
		const char *name;
		const char *spec;
		const char *reason;
	} cases[] = {
		{ "no-command", "\"containers\":[{\"image\":\"i\",\"name\":\"c\"}]", "NoCommand" },
		{ "host-path",
		    "\"volumes\":[{\"name\":\"v\",\"hostPath\":{\"path\":\"/"
		    "\"}}],\"containers\":[{\"image\":\"i\",\"name\":\"c\",\"command\":[\"true\"]}"
		    "]",
		    "HostPathNotAllowed" },
		{ "claim",
		    "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"x\"}}]"
		    ",\"containers\":[{\"image\":\"i\","
		    "\"name\":\"c\","
		    "\"command\":[\"true\"]}]",
		    "VolumeNotSupported" },
		{ "root",
		    "\"securityContext\":{\"runAsNonRoot\":true},\"containers\":[{\"image\":\"i\","
		    "\"name\":\"c\",\"command\":[\"true\"]}"
		    "]",
		    "RunAsNonRoot" },
	};
	char path[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_pod(cases[i].name, "", cases[i].spec);
		wait_phase(cases[i].name, "Failed");
		snprintf(path, sizeof(path), PODS "/%s", cases[i].name);
		wait_text(path, "status.reason", cases[i].reason, 10);
	}
	assert_non_null(strstr(notices, "neither command nor args"));
}

static void test_not_honoured(void **state)
{
	static const char metadata[] = ",\"labels\":{\"training.kubeflow.org/job-name\":\"nh\","
				       "\"training.kubeflow.org/job-role\":\"worker\"}";
	static const char spec[] =
	    "\"restartPolicy\":\"Never\",\"nodeSelector\":{\"a\":\"b\"},\"tolerations\":[{"
	    "\"operator\":\"Exists\"}],"
	    "\"containers\":[{\"name\":\"c\","
	    "\"image\":\"i\",\"imagePullPolicy\":\"Always\",\"command\":[\"true\"],"
	    "\"resources\":{\"limits\":{\"cpu\":1}},"
	    "\"livenessProbe\":{\"exec\":{\"command\":[\"true\"]}}}]";

	(void)state;
	notices[0] = 0;
	make_pod("nh-1", metadata, spec);
	make_pod("nh-2", metadata, spec);
	wait_phase("nh-1", "Succeeded");
	wait_phase("nh-2", "Succeeded");
	assert_int_equal(
	    count_notices(
		"spec.mpiReplicaSpecs[Worker].template.spec.nodeSelector: not honoured locally\n"),
	    1);
	assert_int_equal(count_notices("spec.mpiReplicaSpecs[Worker].template.spec.tolerations: "),
	    1);
	assert_int_equal(
	    count_notices(
		"spec.mpiReplicaSpecs[Worker].template.spec.containers[0].resources.limits.cpu: "),
	    1);
	assert_int_equal(
	    count_notices(
		"spec.mpiReplicaSpecs[Worker].template.spec.containers[0].livenessProbe: "),
	    1);
	assert_int_equal(count_notices("\n"), 4);
}

static void test_worker_sshd(void **state)
{
	(void)state;
	if (access("/usr/sbin/sshd", X_OK) != 0)
		skip();
	/* Without a key it cannot start on every machine, so it is given one as the operator
	 * does. */
	make_pod("sleepy", ",\"labels\":{\"training.kubeflow.org/job-role\":\"worker\"}",
	    "\"terminationGracePeriodSeconds\":0,\"containers\":[{\"image\":\"i\",\"name\":\"c\","
	    "\"command\":[\"/usr/sbin/"
	    "sshd\",\"-De\",\"-p\","
	    "\"2200\"]}]");
	wait_text(PODS "/sleepy", "status.conditions[3].status", "True", 5000);
	expect(&node, "DELETE", PODS "/sleepy?gracePeriodSeconds=0", NULL, 200);
}

/* Another process asks, while this one polls. */
static int exec_in_child(const char *pod, const char *const *argv, int out)
{
	pid_t child = fork();
	int status = 0;

	assert_true(child >= 0);
	if (child == 0) {
		struct mpijob_local_exec_options exec = MPIJOB_LOCAL_EXEC_OPTIONS_INIT;
		int code = 0;
		int error;

		exec.pod = pod;
		exec.argv = argv;
		exec.fds[0] = -1;
		exec.fds[1] = out;
		exec.fds[2] = out;
		error = mpijob_local_exec(&exec, &code, NULL);
		_exit(error ? 100 - error : code);
	}
	while (waitpid(child, &status, WNOHANG) == 0)
		poll_for(&node, 5);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_exec(void **state)
{
	static const char *const say[] = { "sh", "-c", "hostname; exit 9", NULL };
	static const char *const none[] = { "no-such-program", NULL };
	char text[64] = "";
	int ends[2];

	(void)state;
	make_script("door", "sleep 60");
	wait_phase("door", "Running");
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(exec_in_child("door", say, ends[1]), 9);
	assert_int_equal(read(ends[0], text, sizeof(text) - 1), 5);
	assert_string_equal(text, "door\n");
	assert_int_equal(exec_in_child("door", none, ends[1]), 127);
	assert_int_equal(exec_in_child("no-such-pod", say, ends[1]), 100 - MPIJOB_ERR_NOT_FOUND);
	close(ends[0]);
	close(ends[1]);
	expect(&node, "DELETE", PODS "/door?gracePeriodSeconds=0", NULL, 200);
}

/* Ends of runs that were told before their pod was being deleted. */
static int ends_by_themselves(const struct answer *watch)
{
	int count = 0;
	const char *line = mpijob_text_data(watch->stream);

	while (*line) {
		const char *end = strchr(line, '\n');
		const char *terminated = strstr(line, "\"state\":{\"terminated\"");
		const char *deletion = strstr(line, "deletionTimestamp");

		if (!end)
			break;
		count += terminated && terminated < end && !(deletion && deletion < end);
		line = end + 1;
	}
	return count;
}

static void test_job(void **state)
{
	struct answer watch;

	(void)state;
	ask_start(&node, &watch, 1, "GET", PODS "?watch=true&labelSelector=job-name%3Djf", NULL,
	    NULL);
	expect(&node, "POST", JOBS,
	    "{\"metadata\":{\"name\":\"jf\"},\"spec\":{\"backoffLimit\":2,\"template\":{\"spec\":{"
	    "\"restartPolicy\":"
	    "\"OnFailure\","
	    "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}],\"containers\":[{\"image\":\"i\","
	    "\"name\":\"c\",\"command\":[\"sh\",\"-"
	    "c\",\"exit 4\"]}]}}}}",
	    201);
	wait_text(JOBS "/jf", "status.conditions[1].type", "Failed", 5000);
	wait_text(JOBS "/jf", "status.conditions[1].reason", "BackoffLimitExceeded", 10);
	assert_int_equal(ends_by_themselves(&watch), 3);
	mpijob_call_cancel(watch.call);
	answer_free(&watch);
	expect(&node, "POST", JOBS,
	    "{\"metadata\":{\"name\":\"js\"},\"spec\":{\"backoffLimit\":0,"
	    "\"activeDeadlineSeconds\":1,\"template\":{"
	    "\"spec\":{"
	    "\"terminationGracePeriodSeconds\":0,\"restartPolicy\":\"Never\",\"containers\":[{"
	    "\"image\":\"i\",\"name\":\"c\","
	    "\"command\":[\"sleep\","
	    "\"60\"]}]}}}}",
	    201);
	wait_text(JOBS "/js", "status.ready", "1", 3000);
	wait_text(JOBS "/js", "status.conditions[1].reason", "DeadlineExceeded", 4000);
	wait_text(JOBS "/js", "status.failed", "1", 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_and_shared_volume),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_nested_mounts),
		cmocka_unit_test(test_live_volumes),
		cmocka_unit_test(test_missing_source),
		cmocka_unit_test(test_exit_code),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_deletion),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_long_log),
		cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_hanging_probe),
		cmocka_unit_test(test_refused_pods),
		cmocka_unit_test(test_not_honoured),
		cmocka_unit_test(test_worker_sshd),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_job),
	};
	mpijob_diag *diag = mpijob_diag_new();
	int error = node_up(diag);
	int failed;

	if (error == MPIJOB_ERR_UNSUPPORTED) {
		printf("skipped: %s\n",
		    mpijob_diag_at(diag, 0) ? mpijob_diag_at(diag, 0)->message : "no namespaces");
		mpijob_diag_free(diag);
		return 77;
	}
	if (error) {
		printf("no node: %s\n", mpijob_diag_at(diag, 0) ? mpijob_diag_at(diag, 0)->message
								: mpijob_error_text(error));
		mpijob_diag_free(diag);
		return 1;
	}
	failed = cmocka_run_group_tests_name("local pods", tests, NULL, NULL);
	mpijob_client_free(node.client);
	mpijob_diag_free(diag);
	return failed;
}
