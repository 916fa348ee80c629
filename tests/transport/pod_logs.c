/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logs of real processes: pods of the embedded cluster print while they are followed, streams are
 * closed at every other moment, and each line must come once and in its order. Needs namespaces;
 * skipped with the reason where there are none.
 */
#include "../support/local_client.h"

#include "client/logs.h"

#define PODS  "/api/v1/namespaces/default/pods"
#define LINES 400

static struct cluster node;

/* What came, pod by pod. */
struct told_lines {
	mpijob_text *text[4];
	int failures;
};

static int node_up(mpijob_diag *diag)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	int error;

	options.node_program = MPIJOB_TEST_BUILD "/libexec/mpijob-node";
	options.backoff_base_ms = 50;
	node.transport.size = sizeof(node.transport);
	error = mpijob_local_new(&options, &node.transport, &node.local, diag);
	return error ? error : mpijob_client_new(&node.transport, node.local, &node.client);
}

static void make_pod(const char *name, const char *label, const char *policy, const char *init,
    const char *script)
{
	char body[4096];

	snprintf(body, sizeof(body),
	    "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"set\":\"%s\"}},\"spec\":{"
	    "\"restartPolicy\":\"%s\",\"volumes\":[{\"name\":\"v\","
	    "\"emptyDir\":{}}],%s\"containers\":[{\"image\":\"i\",\"name\":\"c\",\"command\":["
	    "\"sh\",\"-c\",\"%s\"],\"volumeMounts\":[{\"name\":\"v\","
	    "\"mountPath\":\"/v\"}]}]}}",
	    name, label, policy, init, script);
	expect(&node, "POST", PODS, body, 201);
}

static int take_line(void *user, const struct mpijob_log_line *line)
{
	struct told_lines *told_text = user;
	size_t at = (size_t)(line->pod[strlen(line->pod) - 1] - '0');
	char head[64];

	assert_in_range(at, 0, 3);
	snprintf(head, sizeof(head), "%s%d ", line->container, (int)line->attempt);
	mpijob_text_write(told_text->text[at], head, strlen(head));
	mpijob_text_write(told_text->text[at], line->text, line->len);
	return mpijob_text_write(told_text->text[at], line->whole ? "\n" : "~\n",
	    line->whole ? 1 : 2);
}

static void take_failure(void *user, const char *pod, const char *container, int code,
    const char *message, int again)
{
	struct told_lines *told_text = user;

	print_message("%s/%s: %s: %s%s\n", pod ? pod : "", container ? container : "",
	    mpijob_error_name(code), message, again ? ", again" : "");
	told_text->failures += !again;
}

static mpijob_logs *begin_logs(struct told_lines *told_text, const char *selector, int follow,
    int64_t *tail)
{
	struct mpijob_logs_options options = MPIJOB_LOGS_OPTIONS_INIT;
	mpijob_logs *logs = NULL;

	for (size_t i = 0; i < 4; i++)
		told_text->text[i] = mpijob_text_new();
	told_text->failures = 0;
	options.namespace_ = "default";
	options.label_selector = selector;
	options.all_containers = 1;
	options.follow = follow;
	options.tail_lines = tail;
	options.line = take_line;
	options.failed = take_failure;
	options.user = told_text;
	assert_int_equal(mpijob_logs_new(node.client, &options, &logs), 0);
	return logs;
}

static size_t unread(const mpijob_logs *logs)
{
	size_t count = 0;

	(void)mpijob_logs_state(logs, &count);
	return count;
}

static void end_logs(struct told_lines *told_text, mpijob_logs *logs)
{
	mpijob_logs_free(logs);
	for (size_t i = 0; i < 4; i++)
		mpijob_text_free(told_text->text[i]);
}

static int ended(const char *name)
{
	char path[128];
	struct answer answer;
	const char *phase;
	int yes;

	snprintf(path, sizeof(path), PODS "/%s", name);
	answer = ask(&node, "GET", path, NULL);
	phase = mpijob_node_string(mpijob_node_find(mpijob_doc_root(answer.doc), "status.phase"));
	yes = phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
	answer_free(&answer);
	return yes;
}

/* Close what is open: it has to go on where it stood. */
static int break_streams(mpijob_logs *logs)
{
	int broken = 0;

	for (struct mpijob__client_log_pod *pod = logs->pods; pod; pod = pod->next)
		for (struct mpijob__client_log_source *source = pod->sources; source;
		     source = source->next)
			if (source->state == MPIJOB__CLIENT_LOG_STREAMING) {
				mpijob__client_log_close_stream(source);
				broken++;
			}
	mpijob_timer_set(&logs->timer, INT64_MIN);
	return broken;
}

static void followed_and_broken(void **state)
{
	const char *init = "\"initContainers\":[{\"image\":\"i\",\"name\":\"i\",\"command\":["
			   "\"sh\",\"-c\",\"echo first; printf half\"]}],";
	const char *script = "i=0; while [ $i -lt 400 ]; do echo line $i; i=$((i+1)); [ $((i%20)) "
			     "-ne 0 ] || sleep 0.01; done; printf end";
	mpijob_text *wanted = mpijob_text_new();
	struct told_lines told_text;
	mpijob_logs *logs = begin_logs(&told_text, "set=a", 1, NULL);
	int broken = 0, rounds;
	char line[64];

	(void)state;
	mpijob_text_write(wanted, "i0 first\ni0 half~\n", 18);
	for (int i = 0; i < LINES; i++) {
		snprintf(line, sizeof(line), "c0 line %d\n", i);
		mpijob_text_write(wanted, line, strlen(line));
	}
	mpijob_text_write(wanted, "c0 end~\n", 8);
	make_pod("a-0", "a", "Never", init, script);
	make_pod("a-1", "a", "Never", init, script);
	make_pod("a-2", "a", "Never", init, script);
	for (rounds = 0; rounds < 3000; rounds++) {
		assert_int_equal(mpijob_client_poll(node.client, 5), 0);
		if (rounds % 2)
			broken += break_streams(logs);
		if (rounds % 50 == 49 && ended("a-0") && ended("a-1") && ended("a-2") &&
		    unread(logs) == 0)
			break;
	}
	print_message("%d streams were closed in %d rounds\n", broken, rounds);
	assert_in_range(broken, 10, 100000);
	assert_int_equal(told_text.failures, 0);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(mpijob_text_data(told_text.text[i]), mpijob_text_data(wanted));
	mpijob_text_free(wanted);
	end_logs(&told_text, logs);
}

static void every_run(void **state)
{
	struct told_lines told_text;
	mpijob_logs *logs = begin_logs(&told_text, "set=b", 1, NULL);

	(void)state;
	make_pod("b-0", "b", "OnFailure", "",
	    "echo x >> /v/n; n=$(wc -l < /v/n); echo run $n; sleep 0.1; [ $n -ge 3 ]");
	for (int i = 0; i < 2000 && !(i % 20 == 19 && ended("b-0") && unread(logs) == 0); i++)
		assert_int_equal(mpijob_client_poll(node.client, 10), 0);
	assert_string_equal(mpijob_text_data(told_text.text[0]), "c0 run 1\nc1 run 2\nc2 run 3\n");
	assert_int_equal(told_text.failures, 0);
	end_logs(&told_text, logs);
}

static void the_last_lines(void **state)
{
	int64_t tail = 3;
	struct told_lines told_text;
	mpijob_logs *logs = begin_logs(&told_text, "set=a", 0, &tail);

	(void)state;
	for (int i = 0; i < 500 && mpijob_logs_state(logs, NULL) > 0; i++)
		assert_int_equal(mpijob_client_poll(node.client, 10), 0);
	assert_int_equal(mpijob_logs_state(logs, NULL), 0);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(mpijob_text_data(told_text.text[i]),
		    "i0 first\ni0 half~\nc0 line 398\nc0 line 399\nc0 end~\n");
	end_logs(&told_text, logs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(followed_and_broken),
		cmocka_unit_test(every_run),
		cmocka_unit_test(the_last_lines),
	};
	mpijob_diag *diag = mpijob_diag_new();
	int failed, error = node_up(diag);

	if (error) {
		printf("skipped: %s\n", mpijob_diag_at(diag, 0) ? mpijob_diag_at(diag, 0)->message
								: mpijob_error_text(error));
		mpijob_diag_free(diag);
		return error == MPIJOB_ERR_UNSUPPORTED ? 77 : 1;
	}
	failed = cmocka_run_group_tests_name("pod_logs", tests, NULL, NULL);
	mpijob_client_free(node.client);
	mpijob_diag_free(diag);
	return failed;
}
