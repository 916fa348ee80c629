/* SPDX-License-Identifier: Apache-2.0 */
/* Logs of many pods: lines, runs, streams that break, turns, and ends. The server's logs are
 * scripted, its pods are not. */
#include "../support/fake_cluster.h"

#include "client/client.h"

#include <setjmp.h>

#include <cmocka.h>

#define PODS "/api/v1/pods"
#define T0   "2026-11-21T12:00:00.000000001Z "
#define T1   "2026-11-21T12:00:01.5Z "
#define T2   "2026-11-21T12:00:01.500000001Z "
#define T3   "2026-11-21T12:00:03Z "

/* What the server answers to requests for logs, in turn; the last row again and again. */
struct script {
	const char *wanted; /* stands in the path */
	int status;
	const char *body;
	int end_code;
	int open; /* followed: it does not end */
	const char *header;
};

struct scene {
	struct fake fake;
	mpijob_client *client;
	mpijob_logs *logs;
	struct mpijob_logs_options options;
	const struct script *script;
	size_t rows, requests;
	mpijob_text told;     /* "pod/container#attempt: text\n", "..." behind what is not whole */
	mpijob_text failures; /* "pod/container code again\n" */
	int most_open;
	int end_with; /* what `line` returns */
	int free_at;  /* free the logs at that line */
	int lines;
	size_t longest;
};

static int64_t now_ms;

static int64_t test_clock(void)
{
	return now_ms;
}

static int take_line(void *user, const struct mpijob_log_line *line)
{
	struct scene *scene = user;

	assert_int_equal(line->size, sizeof(*line));
	scene->lines++;
	if (line->len > scene->longest)
		scene->longest = line->len;
	mpijob__base_text_printf(&scene->told, "%s/%s#%d: %.*s%s\n", line->pod, line->container,
	    (int)line->attempt, (int)(line->len > 60 ? 5 : line->len), line->text,
	    line->whole ? "" : "...");
	if (scene->free_at == scene->lines) {
		mpijob_logs_free(scene->logs);
		scene->logs = NULL;
	}
	return scene->end_with;
}

static void take_failure(void *user, const char *pod, const char *container, int code,
    const char *message, int again)
{
	struct scene *scene = user;

	assert_non_null(message);
	mpijob__base_text_printf(&scene->failures, "%s/%s %s%s\n", pod ? pod : "-",
	    container ? container : "-", mpijob_error_name(code) + strlen("MPIJOB_ERR_"),
	    again ? " again" : "");
}

static int decide(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	struct scene *scene = fake->user;
	const struct script *row;
	int open = 0;

	(void)method;
	if (strstr(path, "sendInitialEvents")) {
		reply->status = 400;
		reply->body = "";
		return 1;
	}
	if (!strstr(path, "/log?"))
		return 0;
	row = &scene->script[scene->requests < scene->rows ? scene->requests : scene->rows - 1];
	scene->requests++;
	if (row->wanted && !strstr(path, row->wanted)) {
		print_message("%s is not in %s\n", row->wanted, path);
		fail();
	}
	assert_non_null(strstr(path, "timestamps=true"));
	reply->status = row->status ? row->status : 200;
	reply->body = row->body;
	reply->end_code = row->end_code;
	reply->open = row->open;
	reply->header = row->header;
	for (const struct fake_exchange *exchange = fake->exchanges; exchange;
	     exchange = exchange->next)
		open += exchange->scripted;
	if (open + 1 > scene->most_open)
		scene->most_open = open + 1;
	return 1;
}

static struct scene *scene_new(const struct script *script, size_t rows)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct mpijob_logs_options options = MPIJOB_LOGS_OPTIONS_INIT;

	scene->client = fake_client(&scene->fake);
	scene->client->clock = test_clock;
	scene->fake.decide = decide;
	scene->fake.user = scene;
	scene->script = script;
	scene->rows = rows;
	options.namespace_ = "d";
	options.label_selector = "job=pi";
	options.line = take_line;
	options.failed = take_failure;
	options.user = scene;
	scene->options = options;
	now_ms = 1000000;
	return scene;
}

static size_t unread(const mpijob_logs *logs)
{
	size_t count = 99;

	assert_int_not_equal(mpijob_logs_state(logs, &count), MPIJOB_ERR_USAGE);
	return count;
}

static void scene_begin(struct scene *scene)
{
	assert_int_equal(mpijob_logs_new(scene->client, &scene->options, &scene->logs), 0);
}

static void scene_free(struct scene *scene)
{
	mpijob_logs_free(scene->logs);
	assert_null(mpijob__base_list_first(&scene->client->timers));
	mpijob_client_free(scene->client);
	fake_release(&scene->fake);
	mpijob__base_text_release(&scene->told);
	mpijob__base_text_release(&scene->failures);
	free(scene);
}

static void turn(struct scene *scene, int times)
{
	for (int i = 0; i < times; i++)
		assert_int_equal(mpijob_client_poll(scene->client, 0), 0);
}

static void pass(struct scene *scene, int ms)
{
	now_ms += ms;
	turn(scene, 12);
}

static void expect_told(struct scene *scene, const char *wanted)
{
	if (strcmp(mpijob_text_data(&scene->told), wanted) != 0)
		print_message("told:\n%swanted:\n%s", mpijob_text_data(&scene->told), wanted);
	assert_string_equal(mpijob_text_data(&scene->told), wanted);
	mpijob_text_clear(&scene->told);
}

static void expect_failures(struct scene *scene, const char *wanted)
{
	assert_string_equal(mpijob_text_data(&scene->failures), wanted);
	mpijob_text_clear(&scene->failures);
}

static struct fake_object *add_pod(struct scene *scene, const char *name, const char *status)
{
	char *yaml = fake_text("{apiVersion: v1, kind: Pod, metadata: {name: %s, labels: {job: "
			       "pi}}, spec: {initContainers: "
			       "[{name: first}, {name: side, restartPolicy: Always}], containers: "
			       "[{name: main}, {name: "
			       "other}]}, status: {%s}}",
	    name, status);
	struct fake_object *pod = fake_put(&scene->fake, PODS, "d", yaml);

	free(yaml);
	return pod;
}

static void set_status(struct scene *scene, struct fake_object *pod, const char *status)
{
	char *yaml = fake_text("{status: {%s}}", status);

	fake_patch(&scene->fake, pod, yaml);
	free(yaml);
	turn(scene, 6);
}

#define STATUS(phase, restarts, state) \
	"phase: " phase ", containerStatuses: [{name: main, restartCount: " restarts ", " state "}]"
#define RUNNING(restarts) STATUS("Running", restarts, "state: {running: {}}, lastState: {}")
#define RESTARTED(restarts) \
	STATUS("Running", restarts, "state: {running: {}}, lastState: {terminated: {exitCode: 1}}")
#define BACK_OFF(restarts)                                                                    \
	STATUS("Running", restarts,                                                           \
	    "state: {running: null, terminated: null, waiting: {}}, lastState: {terminated: " \
	    "{exitCode: 1}}")
#define ENDED(restarts) \
	STATUS("Succeeded", restarts, "state: {running: null, terminated: {exitCode: 0}}")
#define PENDING "phase: Pending"

/* --- what is there --- */

static void what_is_there(void **state)
{
	static const struct script script[] = {
		{ "/a/log?container=main&timestamps=true", 0,
		    T0 "one\n" T1 "\n" T2 "two\r\n" T3 "end", 0, 0, NULL },
		{ "/b/log?container=main", 0, "no time\n", 0, 0, NULL },
	};
	int64_t tail = 7, since = 60;
	struct scene *scene = scene_new(script, 2);

	(void)state;
	add_pod(scene, "b", RUNNING("0"));
	add_pod(scene, "a", ENDED("0"));
	scene->options.tail_lines = &tail;
	scene->options.since_seconds = &since;
	scene_begin(scene);
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), 1);
	turn(scene, 12);
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), 0);
	assert_non_null(
	    strstr(scene->fake.log[scene->fake.log_count - 1], "tailLines=7&sinceSeconds=60"));
	assert_null(strstr(scene->fake.log[scene->fake.log_count - 1], "follow"));
	expect_told(scene,
	    "a/main#0: one\na/main#0: \na/main#0: two\r\na/main#0: end...\nb/main#0: no time\n");
	expect_failures(scene, "");
	turn(scene, 5);
	assert_int_equal(scene->requests, 2);
	scene_free(scene);
}

static void timestamps_when_asked(void **state)
{
	static const struct script script[] = { { NULL, 0, T0 "one\n", 0, 0, NULL } };
	struct scene *scene = scene_new(script, 1);

	(void)state;
	add_pod(scene, "a", ENDED("0"));
	scene->options.timestamps = 1;
	scene_begin(scene);
	turn(scene, 12);
	expect_told(scene, "a/main#0: " T0 "one\n");
	scene_free(scene);
}

static void cut_anywhere(void **state)
{
	static const struct script script[] = { { NULL, 0, T0 "one\n\n" T1 "two\n" T2 "x", 0, 0,
	    NULL } };

	(void)state;
	for (size_t piece = 1; piece < 40; piece++) {
		struct scene *scene = scene_new(script, 1);

		add_pod(scene, "a", ENDED("0"));
		scene->fake.piece = piece;
		scene_begin(scene);
		for (int i = 0; i < 3000 && mpijob_logs_state(scene->logs, NULL) > 0; i++)
			turn(scene, 1);
		expect_told(scene, "a/main#0: one\na/main#0: \na/main#0: two\na/main#0: x...\n");
		scene_free(scene);
	}
}

static char *long_line(size_t len)
{
	char *body = malloc(len + 64);
	int begin = sprintf(body, T0);

	memset(body + begin, 'a', len);
	memcpy(body + begin + len, "\n" T1 "b\n", strlen("\n" T1 "b\n") + 1);
	return body;
}

static void long_lines(void **state)
{
	static const struct {
		size_t len;
		const char *told;
	} rows[] = {
		{ 65535, "a/main#0: aaaaa\na/main#0: b\n" },
		{ 65536, "a/main#0: aaaaa\na/main#0: b\n" },
		{ 65537, "a/main#0: aaaaa...\na/main#0: a\na/main#0: b\n" },
		{ 3 * 65536 + 1, "a/main#0: aaaaa...\na/main#0: aaaaa...\na/main#0: "
				 "aaaaa...\na/main#0: a\na/main#0: b\n" },
	};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (size_t piece = 0; piece < 2; piece++) {
			char *body = long_line(rows[i].len);
			struct script script = { NULL, 0, body, 0, 0, NULL };
			struct scene *scene = scene_new(&script, 1);

			add_pod(scene, "a", ENDED("0"));
			scene->fake.piece = piece ? 50021 : 0;
			scene_begin(scene);
			turn(scene, 24);
			assert_int_equal(mpijob_logs_state(scene->logs, NULL), 0);
			expect_told(scene, rows[i].told);
			assert_in_range(scene->longest, 1, 65536);
			scene_free(scene);
			free(body);
		}
}

static void not_there_yet(void **state)
{
	static const struct script script[] = { { NULL, 0, "x\n", 0, 0, NULL } };
	struct scene *scene = scene_new(script, 1);

	(void)state;
	add_pod(scene, "a", PENDING);
	scene_begin(scene);
	turn(scene, 12);
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), 0);
	assert_int_equal(scene->requests, 0);
	expect_failures(scene, "a/main REJECTED\n");
	scene_free(scene);
}

static void the_run_before(void **state)
{
	static const struct script script[] = {
		{ "/a/log?container=main&timestamps=true&previous=true", 0, T0 "x\n", 0, 0, NULL }
	};
	struct scene *scene = scene_new(script, 1);

	(void)state;
	add_pod(scene, "b", RUNNING("0"));
	add_pod(scene, "a", RESTARTED("3"));
	scene->options.previous = 1;
	scene_begin(scene);
	turn(scene, 12);
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), 0);
	expect_told(scene, "a/main#2: x\n");
	expect_failures(scene, "b/main REJECTED\n");
	scene_free(scene);
}

/* --- following --- */

static void goes_on_where_it_stood(void **state)
{
	static const struct script script[] = {
		{ "follow=true", 0, T0 "one\n" T1 "two\n" T1 "three\n" T2 "fo", MPIJOB_ERR_IO, 0,
		    NULL },
		{ "sinceTime=2026-11-21T12%3A00%3A01.5Z&follow=true", 0,
		    T1 "two\n" T1 "three\n" T1 "more\n" T2 "four\n", MPIJOB_ERR_IO, 0, NULL },
		{ NULL, 0, NULL, MPIJOB_ERR_IO, 0, NULL },
		{ "sinceTime=2026-11-21T12%3A00%3A01.500000001Z", 0,
		    T1 "more\n" T2 "four\n" T3 "five\n", 0, 0, NULL },
	};
	struct scene *scene = scene_new(script, 4);
	struct fake_object *pod = add_pod(scene, "a", RUNNING("0"));

	(void)state;
	scene->options.follow = 1;
	scene_begin(scene);
	turn(scene, 12);
	expect_told(scene, "a/main#0: one\na/main#0: two\na/main#0: three\n");
	expect_failures(scene, "a/main IO again\n");
	turn(scene, 20);
	assert_int_equal(scene->requests, 1);
	pass(scene, 1000);
	expect_told(scene, "a/main#0: more\na/main#0: four\n");
	pass(scene, 999);
	assert_int_equal(scene->requests, 2);
	pass(scene, 1);
	assert_int_equal(scene->requests, 3);
	pass(scene, 2000);
	assert_int_equal(scene->requests, 4);
	expect_told(scene, "a/main#0: five\n");
	/* It ended well, and whether the run did is to be seen. */
	assert_int_equal(unread(scene->logs), 1);
	set_status(scene, pod, ENDED("0"));
	assert_int_equal(unread(scene->logs), 0);
	pass(scene, 10000);
	assert_int_equal(scene->requests, 4);
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), 1);
	scene_free(scene);
}

/* Of a long line, too, no byte is told twice. */
static void goes_on_inside_of_a_line(void **state)
{
	char *body = long_line(3 * 65536 + 1), *cut = strndup(body, 2 * 65536 + 200);
	struct script script[] = { { NULL, 0, cut, MPIJOB_ERR_IO, 0, NULL },
		{ NULL, 0, body, 0, 0, NULL } };
	struct scene *scene = scene_new(script, 2);

	(void)state;
	add_pod(scene, "a", RUNNING("0"));
	scene->options.follow = 1;
	scene_begin(scene);
	turn(scene, 12);
	expect_told(scene, "a/main#0: aaaaa...\na/main#0: aaaaa...\n");
	pass(scene, 1000);
	expect_told(scene, "a/main#0: aaaaa...\na/main#0: a\na/main#0: b\n");
	scene_free(scene);
	free(body);
	free(cut);
}

static void a_stream_let_go_is_taken_up(void **state)
{
	static const struct script script[] = { { NULL, 0, T0 "one\n", 0, 0, NULL },
		{ "sinceTime", 0, T0 "one\n" T1 "two\n", 0, 1, NULL } };
	struct scene *scene = scene_new(script, 2);

	(void)state;
	add_pod(scene, "a", RUNNING("0"));
	scene->options.follow = 1;
	scene_begin(scene);
	turn(scene, 12);
	assert_int_equal(scene->requests, 1);
	pass(scene, 1000);
	expect_told(scene, "a/main#0: one\na/main#0: two\n");
	expect_failures(scene, "");
	scene_free(scene);
}

static void restarts(void **state)
{
	static const struct script script[] = {
		{ "follow=true", 0, T0 "one\n", 0, 0, NULL }, /* run 0 */
		/* run 1, while run 2 waits to start */
		{ "follow=true", 0, T1 "two", 0, 0, NULL },
		/* run 3, missed: 2 is lost, 4 runs */
		{ "previous=true", 0, T2 "four\n", 0, 0, NULL },
		{ "follow=true", 0, T3 "five\n", 0, 1, NULL },
	};
	int64_t tail = 1;
	struct scene *scene = scene_new(script, 4);
	struct fake_object *pod;

	(void)state;
	scene->options.follow = 1;
	scene->options.tail_lines = &tail;
	scene_begin(scene);
	turn(scene, 6);
	pod = add_pod(scene, "a", PENDING);
	turn(scene, 6);
	pass(scene, 60000);
	assert_int_equal(scene->requests, 0);
	set_status(scene, pod, RUNNING("0"));
	expect_told(scene, "a/main#0: one\n");
	set_status(scene, pod, BACK_OFF("1"));
	turn(scene, 6);
	expect_told(scene, "a/main#1: two...\n");
	pass(scene, 60000);
	assert_int_equal(scene->requests, 2);
	set_status(scene, pod, RESTARTED("4"));
	turn(scene, 6);
	expect_told(scene, "a/main#3: four\na/main#4: five\n");
	expect_failures(scene, "");
	for (size_t i = 0; i < scene->fake.log_count; i++)
		assert_null(strstr(scene->fake.log[i], "tailLines"));
	scene_free(scene);
}

static void waiting_to_start(void **state)
{
	static const struct script script[] = { { NULL, 400, "", 0, 0, NULL },
		{ NULL, 0, T0 "one\n", 0, 0, NULL } };
	const char *name = "a";
	struct scene *scene = scene_new(script, 2);
	struct fake_object *pod = add_pod(scene, "a", PENDING);

	(void)state;
	scene->options.label_selector = NULL;
	scene->options.pods = &name;
	scene->options.pods_count = 1;
	scene->options.follow = 1;
	scene_begin(scene);
	pass(scene, 100000);
	assert_int_equal(scene->requests, 0);
	assert_int_equal(unread(scene->logs), 0);
	/* The node may be behind the pod's status. */
	set_status(scene, pod, RUNNING("0"));
	assert_int_equal(scene->requests, 1);
	expect_failures(scene, "a/main REJECTED again\n");
	pass(scene, 1000);
	assert_int_equal(scene->requests, 2);
	set_status(scene, pod, ENDED("0"));
	turn(scene, 6);
	expect_told(scene, "a/main#0: one\n");
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), 0);
	scene_free(scene);
}

static void init_containers_come_first(void **state)
{
	static const struct script script[] = {
		{ "container=first", 0, T0 "1\n", 0, 0, NULL },
		{ "container=side", 0, T0 "2\n", 0, 1, NULL },
		{ "container=main", 0, T0 "3\n", 0, 1, NULL },
		{ "container=other", 0, T0 "4\n", 0, 1, NULL },
	};
	struct scene *scene = scene_new(script, 4);
	struct fake_object *pod;

	(void)state;
	scene->options.all_containers = 1;
	scene->options.follow = 1;
	pod = add_pod(scene, "a",
	    "initContainerStatuses: [{name: first, restartCount: 0, state: {running: {}}}]");
	scene_begin(scene);
	turn(scene, 12);
	assert_int_equal(scene->requests, 1);
	set_status(scene, pod,
	    "initContainerStatuses: [{name: first, restartCount: 0, state: {terminated: {}}}, "
	    "{name: side, "
	    "restartCount: 0, state: {running: {}}}], containerStatuses: [{name: main, "
	    "restartCount: 0, "
	    "state: {running: {}}}, {name: other, restartCount: 0, state: {running: {}}}]");
	turn(scene, 12);
	expect_told(scene, "a/first#0: 1\na/side#0: 2\na/main#0: 3\na/other#0: 4\n");
	scene_free(scene);
}

static void containers_by_name(void **state)
{
	static const struct script script[] = { { "container=other", 0, "x\n", 0, 0, NULL } };
	struct scene *scene = scene_new(script, 1);
	const char *both = "containerStatuses: [{name: main, state: {terminated: {}}}, {name: "
			   "other, state: {terminated: {}}}]";
	struct fake_object *pod = add_pod(scene, "a", both);

	(void)state;
	fake_patch(&scene->fake, pod,
	    "metadata: {annotations: {kubectl.kubernetes.io/default-container: other}}");
	scene_begin(scene);
	turn(scene, 12);
	expect_told(scene, "a/other#0: x\n");
	mpijob_logs_free(scene->logs);
	scene->options.container = "none";
	scene_begin(scene);
	turn(scene, 12);
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), 0);
	expect_failures(scene, "a/none NOT_FOUND\n");
	scene_free(scene);
}

/* --- turns --- */

static void few_streams(void **state)
{
	static const struct script script[] = { { NULL, 0, T0 "x\n", 0, 0, NULL } };
	struct scene *scene = scene_new(script, 1);

	(void)state;
	for (int i = 0; i < 9; i++) {
		char name[32];

		snprintf(name, sizeof(name), "p%d", i);
		add_pod(scene, name, ENDED("0"));
	}
	scene->options.max_streams = 2;
	scene_begin(scene);
	turn(scene, 40);
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), 0);
	assert_int_equal(scene->lines, 9);
	assert_int_equal(scene->most_open, 2);
	scene_free(scene);
}

static void followers_take_turns(void **state)
{
	static const struct script script[] = {
		{ NULL, 0, T0 "x\n", 0, 1, NULL },
		{ NULL, 0, T0 "x\n", 0, 1, NULL },
		{ NULL, 0, T0 "x\n", 0, 1, NULL },
		{ "sinceTime", 0, T0 "x\n", 0, 1, NULL },
	};
	struct scene *scene = scene_new(script, 4);
	size_t seen[3] = { 0 };

	(void)state;
	add_pod(scene, "p0", RUNNING("0"));
	add_pod(scene, "p1", RUNNING("0"));
	add_pod(scene, "p2", RUNNING("0"));
	scene->options.max_streams = 1;
	scene->options.follow = 1;
	scene_begin(scene);
	turn(scene, 12);
	assert_int_equal(scene->requests, 1);
	pass(scene, 4999);
	assert_int_equal(scene->requests, 1);
	for (int i = 0; i < 11; i++)
		pass(scene, 5000);
	assert_int_equal(scene->requests, 12);
	assert_int_equal(scene->most_open, 1);
	assert_int_equal(scene->lines, 3);
	for (size_t i = 0; i < scene->fake.log_count; i++)
		for (int pod = 0; pod < 3; pod++) {
			char part[32];

			snprintf(part, sizeof(part), "/p%d/log", pod);
			seen[pod] += strstr(scene->fake.log[i], part) != NULL;
		}
	assert_int_equal(seen[0], 4);
	assert_int_equal(seen[1], 4);
	assert_int_equal(seen[2], 4);
	scene_free(scene);
}

/* --- ends --- */

static void pods_that_go(void **state)
{
	static const struct script script[] = { { NULL, 0, T0 "x\n", 0, 1, NULL },
		{ NULL, 0, T1 "y\n", 0, 0, NULL } };
	struct scene *scene = scene_new(script, 2);
	struct fake_object *pod = add_pod(scene, "a", RUNNING("0"));

	(void)state;
	scene->options.follow = 1;
	scene->options.max_streams = 1;
	scene_begin(scene);
	turn(scene, 12);
	/* Gone before it was its turn. */
	add_pod(scene, "b", RUNNING("0"));
	turn(scene, 6);
	fake_delete(&scene->fake, scene->fake.objects);
	turn(scene, 6);
	expect_failures(scene, "b/main NOT_FOUND\n");
	/* What is open is read to its end; the next pod of that name is another one. */
	fake_delete(&scene->fake, pod);
	turn(scene, 6);
	assert_int_equal(unread(scene->logs), 1);
	for (struct fake_exchange *exchange = scene->fake.exchanges; exchange;
	     exchange = exchange->next)
		if (!exchange->watching)
			exchange->reply.open = 0;
	turn(scene, 6);
	assert_int_equal(unread(scene->logs), 0);
	add_pod(scene, "a", ENDED("0"));
	turn(scene, 12);
	expect_told(scene, "a/main#0: x\na/main#0: y\n");
	expect_failures(scene, "");
	scene_free(scene);
}

static void named_pods(void **state)
{
	static const struct script script[] = { { NULL, 0, T0 "x\n", 0, 0, NULL } };
	const char *names[] = { "a", "b" };
	struct scene *scene = scene_new(script, 1);

	(void)state;
	scene->options.label_selector = NULL;
	scene->options.pods = names;
	scene->options.pods_count = 2;
	scene->options.follow = 1;
	scene_begin(scene);
	turn(scene, 12);
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), MPIJOB_ERR_NOT_FOUND);
	expect_failures(scene, "a/- NOT_FOUND\nb/- NOT_FOUND\n");
	mpijob_logs_free(scene->logs);
	add_pod(scene, "b", ENDED("0"));
	add_pod(scene, "c", ENDED("0"));
	scene_begin(scene);
	turn(scene, 12);
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), 0);
	expect_failures(scene, "a/- NOT_FOUND\n");
	expect_told(scene, "b/main#0: x\n");
	scene_free(scene);
}

static int forbid(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	(void)fake;
	(void)method;
	(void)path;
	reply->status = 403;
	reply->body = "";
	return 1;
}

static void what_is_not_allowed(void **state)
{
	static const struct script script[] = { { NULL, 403, "", 0, 0, NULL } };
	struct scene *scene = scene_new(script, 1);

	(void)state;
	scene->options.follow = 1;
	add_pod(scene, "a", RUNNING("0"));
	scene_begin(scene);
	turn(scene, 12);
	pass(scene, 100000);
	assert_int_equal(scene->requests, 1);
	expect_failures(scene, "a/main AUTH\n");
	mpijob_logs_free(scene->logs);
	scene->fake.decide = forbid;
	scene_begin(scene);
	turn(scene, 12);
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), MPIJOB_ERR_AUTH);
	expect_failures(scene, "-/- AUTH\n");
	scene_free(scene);
}

static int forbid_pods(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	return strstr(path, "/log?") ? decide(fake, method, path, reply)
				     : forbid(fake, method, path, reply);
}

/* What could be had is asked for again, also where neither pods nor logs are allowed for a
 * moment. */
static void what_is_not_allowed_for_a_moment(void **state)
{
	static const struct script script[] = { { NULL, 0, T0 "x\n", MPIJOB_ERR_IO, 0, NULL },
		{ NULL, 401, "", 0, 0, NULL }, { NULL, 403, "", 0, 0, NULL },
		{ NULL, 0, T1 "y\n", 0, 1, NULL } };
	struct scene *scene = scene_new(script, 4);
	struct fake_object *pod;

	(void)state;
	scene->options.follow = 1;
	pod = add_pod(scene, "a", RUNNING("0"));
	scene_begin(scene);
	turn(scene, 12);
	scene->fake.decide = forbid_pods;
	scene->fake.cut_watches = 1;
	set_status(scene, pod, RUNNING("0") ", podIP: 10.0.0.1");
	pass(scene, 3000);
	expect_failures(scene, "a/main IO again\n-/- AUTH again\na/main AUTH again\n");
	scene->fake.decide = decide;
	scene->fake.cut_watches = 0;
	pass(scene, 10000);
	pass(scene, 10000);
	expect_told(scene, "a/main#0: x\na/main#0: y\n");
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), 1);
	add_pod(scene, "b", RUNNING("0"));
	turn(scene, 12);
	assert_int_equal(unread(scene->logs), 2);
	scene_free(scene);
}

/* Nothing else for a minute: it is meant. */
static void what_is_not_allowed_any_more(void **state)
{
	static const struct script script[] = { { NULL, 0, T0 "x\n", MPIJOB_ERR_IO, 0, NULL },
		{ NULL, 403, "", 0, 0, NULL } };
	struct scene *scene = scene_new(script, 2);

	(void)state;
	scene->options.follow = 1;
	add_pod(scene, "a", RUNNING("0"));
	scene_begin(scene);
	for (int i = 0; i < 50; i++)
		pass(scene, 1000);
	expect_failures(scene, "a/main IO again\na/main AUTH again\n");
	for (int i = 0; i < 50; i++)
		pass(scene, 1000);
	expect_failures(scene, "a/main AUTH\n");
	scene_free(scene);
}

static void gives_up_when_it_does_not_follow(void **state)
{
	static const struct script script[] = { { NULL, 500, "", 0, 0, NULL } };
	struct scene *scene = scene_new(script, 1);

	(void)state;
	add_pod(scene, "a", RUNNING("0"));
	scene_begin(scene);
	for (int i = 0; i < 10; i++)
		pass(scene, 60000);
	assert_int_equal(mpijob_logs_state(scene->logs, NULL), 0);
	assert_int_equal(scene->requests, 5);
	expect_failures(scene, "a/main SERVER again\na/main SERVER\n");
	scene_free(scene);
}

/* Somebody takes the request and says nothing: of a container that runs that is no news, of one
 * that has ended it is. */
static void a_stream_without_an_end(void **state)
{
	static const struct script script[] = { { NULL, 0, T0 "x\n", 0, 1, NULL },
		{ NULL, 0, "", 0, 1, NULL }, { "sinceTime", 0, T0 "x\n" T1 "y\n", 0, 0, NULL } };
	struct scene *scene = scene_new(script, 3);
	struct fake_object *pod = add_pod(scene, "a", RUNNING("0"));

	(void)state;
	scene->options.follow = 1;
	scene_begin(scene);
	turn(scene, 12);
	pass(scene, 3600000);
	assert_int_equal(scene->requests, 1);
	set_status(scene, pod, ENDED("0"));
	scene->fake.fresh = 0; /* but for the watch, an hour ago */
	mpijob_logs_pause(scene->logs, 1);
	pass(scene, 60000);
	mpijob_logs_pause(scene->logs, 0);
	turn(scene, 6);
	pass(scene, 4999);
	expect_failures(scene, "");
	assert_int_equal(scene->fake.fresh, 0);
	pass(scene, 1);
	expect_failures(scene, "a/main TIMEOUT again\n");
	pass(scene, 1000);
	assert_int_equal(scene->requests, 2);
	assert_int_equal(scene->fake.fresh, 1);
	/* The next time it has longer. */
	pass(scene, 9999);
	assert_int_equal(unread(scene->logs), 1);
	pass(scene, 1);
	pass(scene, 2000);
	assert_int_equal(scene->requests, 3);
	assert_int_equal(scene->fake.fresh, 2);
	assert_int_equal(unread(scene->logs), 0);
	expect_told(scene, "a/main#0: x\na/main#0: y\n");
	scene_free(scene);
}

/* Of what has ended nothing more will come; what runs may still be had, and so may the next run. */
/* One that never brings an end, and never a byte. */
static void a_stream_that_stays_silent(void **state)
{
	static const struct script script[] = { { NULL, 0, "", 0, 1, NULL } };
	struct scene *scene = scene_new(script, 1);

	(void)state;
	add_pod(scene, "a", ENDED("0"));
	scene->options.follow = 1;
	scene_begin(scene);
	turn(scene, 12);
	for (int i = 0; i < 150; i++)
		pass(scene, 1000);
	assert_int_equal(unread(scene->logs), 1);
	expect_failures(scene, "a/main TIMEOUT again\n");
	for (int i = 0; i < 50; i++)
		pass(scene, 1000);
	assert_int_equal(unread(scene->logs), 0);
	expect_failures(scene, "a/main TIMEOUT\n");
	assert_int_equal(scene->requests, 5);
	scene_free(scene);
}

#define GONE "unable to retrieve container logs for containerd://6a"

/* A kubelet's error is the end of an answer with status 200: it has no time in front and no line
 * end. */
static void messages_of_the_node(void **state)
{
	static const struct {
		const char *status, *body, *told, *failures;
		int previous;
	} rows[] = {
		{ RESTARTED("1"), GONE, "", "a/main REJECTED\n", 1 },
		{ ENDED("0"), GONE, "", "a/main REJECTED\n", 0 },
		{ ENDED("0"),
		    T0 "one\n"
		       "failed to open log file \"0.log\"",
		    "a/main#0: one\n", "a/main REJECTED\n", 0 },
		/* The program's own words have a time, whole lines are lines, and a server may know
		 * no times. */
		{ ENDED("0"), T0 GONE, "a/main#0: " GONE "...\n", "", 0 },
		{ ENDED("0"), GONE "\n", "a/main#0: " GONE "\n", "", 0 },
		{ ENDED("0"), "no time\n" GONE, "a/main#0: no time\na/main#0: " GONE "...\n", "",
		    0 },
		{ ENDED("0"), T0 "one\n" T1, "a/main#0: one\n", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct script script = { NULL, 0, rows[i].body, 0, 0, NULL };
		struct scene *scene = scene_new(&script, 1);

		add_pod(scene, "a", rows[i].status);
		scene->options.previous = rows[i].previous;
		scene_begin(scene);
		turn(scene, 12);
		assert_int_equal(mpijob_logs_state(scene->logs, NULL), 0);
		expect_told(scene, rows[i].told);
		expect_failures(scene, rows[i].failures);
		assert_int_equal(scene->requests, 1);
		scene_free(scene);
	}
}

static void messages_of_the_node_while_following(void **state)
{
	static const struct script lost[] = { { NULL, 0, GONE, 0, 0, NULL } };
	static const struct script again[] = { { NULL, 0,
						   T0 "one\n"
						      "failed to create fsnotify watcher",
						   0, 0, NULL },
		{ "sinceTime", 0, T0 "one\n" T1 "two\n", 0, 1, NULL } };
	static const struct script previous[] = { { "previous=true", 0, GONE, 0, 0, NULL },
		{ NULL, 0, T1 "two\n", 0, 1, NULL } };
	struct scene *scene = scene_new(lost, 1);

	(void)state;
	scene->options.follow = 1;
	add_pod(scene, "a", ENDED("0"));
	scene_begin(scene);
	for (int i = 0; i < 60; i++)
		pass(scene, 1000);
	assert_int_equal(scene->requests, 6);
	assert_int_equal(unread(scene->logs), 0);
	expect_told(scene, "");
	expect_failures(scene, "a/main REJECTED again\na/main REJECTED\n");
	scene_free(scene);

	scene = scene_new(again, 2);
	scene->options.follow = 1;
	add_pod(scene, "a", RUNNING("0"));
	scene_begin(scene);
	turn(scene, 12);
	pass(scene, 1000);
	expect_told(scene, "a/main#0: one\na/main#0: two\n");
	expect_failures(scene, "a/main REJECTED again\n");
	scene_free(scene);

	scene = scene_new(previous, 2);
	scene->options.follow = 1;
	scene_begin(scene);
	turn(scene, 12);
	add_pod(scene, "a", RESTARTED("1"));
	turn(scene, 12);
	expect_told(scene, "a/main#1: two\n");
	expect_failures(scene, "a/main REJECTED\n");
	scene_free(scene);
}

static void gives_up_what_has_ended(void **state)
{
	static const struct script script[] = { { NULL, 500, "", 0, 0, NULL },
		{ NULL, 0, NULL, MPIJOB_ERR_IO, 0, NULL }, { NULL, 500, "", 0, 0, NULL },
		{ NULL, 500, "", 0, 0, NULL }, { NULL, 500, "", 0, 0, NULL },
		{ NULL, 500, "", 0, 0, NULL }, { NULL, 500, "", 0, 0, NULL },
		{ NULL, 0, T1 "next\n", 0, 1, NULL } };
	static const struct script refused[] = { { NULL, 500, "", 0, 0, NULL } },
				   cut[] = { { NULL, 0, NULL, MPIJOB_ERR_IO, 0, NULL } };
	struct scene *scene = scene_new(script, 8);
	struct fake_object *pod = add_pod(scene, "a", ENDED("0"));

	(void)state;
	scene->options.follow = 1;
	scene_begin(scene);
	turn(scene, 12);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(unread(scene->logs), 1);
		pass(scene, 60000);
	}
	expect_failures(scene, "a/main SERVER again\na/main IO again\na/main SERVER again\n");
	pass(scene, 60000);
	expect_failures(scene, "a/main SERVER\n");
	assert_int_equal(scene->requests, 7);
	assert_int_equal(unread(scene->logs), 0);
	pass(scene, 600000);
	assert_int_equal(scene->requests, 7);
	set_status(scene, pod, RESTARTED("1"));
	pass(scene, 60000);
	expect_told(scene, "a/main#1: next\n");
	expect_failures(scene, "");
	scene_free(scene);
	for (int i = 0; i < 2; i++) {
		scene = scene_new(i ? cut : refused, 1);
		add_pod(scene, "a", i ? ENDED("0") : RUNNING("0"));
		scene->options.follow = 1;
		scene_begin(scene);
		for (int j = 0; j < 30; j++)
			pass(scene, 60000);
		assert_true(scene->requests > 25);
		assert_int_equal(unread(scene->logs), 1);
		expect_failures(scene, i ? "a/main IO again\n" : "a/main SERVER again\n");
		scene_free(scene);
	}
}

static void servers_ask_to_wait(void **state)
{
	static const struct script script[] = {
		{ .status = 429, .body = "", .header = "Retry-After: 7" },
		{ .body = T0 "x\n", .open = 1 }
	};
	struct scene *scene = scene_new(script, 2);

	(void)state;
	scene->options.follow = 1;
	add_pod(scene, "a", RUNNING("0"));
	scene_begin(scene);
	turn(scene, 12);
	pass(scene, 6999);
	assert_int_equal(scene->requests, 1);
	pass(scene, 1);
	expect_told(scene, "a/main#0: x\n");
	expect_failures(scene, "a/main SERVER again\n");
	scene_free(scene);
}

static void readers_stop_it(void **state)
{
	static const struct script script[] = { { NULL, 0, T0 "1\n" T1 "2\n" T2 "3\n", 0, 1,
	    NULL } };

	(void)state;
	for (int how = 0; how < 3; how++) {
		struct scene *scene = scene_new(script, 1);

		add_pod(scene, "a", RUNNING("0"));
		add_pod(scene, "b", RUNNING("0"));
		scene->options.follow = 1;
		scene->end_with = how == 0 ? MPIJOB_ERR_IO : 0;
		scene->free_at = how == 1 ? 2 : 0;
		scene->fake.piece = how == 2 ? 20 : 0;
		scene_begin(scene);
		turn(scene, how == 2 ? 5 : 12);
		if (how == 0)
			assert_int_equal(mpijob_logs_state(scene->logs, NULL), MPIJOB_ERR_IO);
		assert_int_equal(scene->lines, how == 0 ? 1 : how == 1 ? 2 : scene->lines);
		scene_free(scene);
	}
}

static void pause_and_go_on(void **state)
{
	static const struct script script[] = { { NULL, 0, T0 "1\n" T1 "2\n" T2 "3\n", 0, 1,
	    NULL } };
	struct scene *scene = scene_new(script, 1);

	(void)state;
	add_pod(scene, "a", RUNNING("0"));
	scene->options.follow = 1;
	scene->fake.piece = 35;
	scene_begin(scene);
	while (scene->lines < 1)
		turn(scene, 1);
	mpijob_logs_pause(scene->logs, 1);
	add_pod(scene, "b", RUNNING("0"));
	turn(scene, 30);
	assert_int_equal(scene->lines, 1);
	assert_int_equal(scene->requests, 1);
	mpijob_logs_pause(scene->logs, 0);
	turn(scene, 40);
	assert_int_equal(scene->lines, 6);
	scene_free(scene);
}

static void of_a_job(void **state)
{
	static const struct script script[] = { { NULL, 0, T0 "x\n", 0, 0, NULL } };
	static const char *const wrong[] = { "", "pi,a=b", "pi!", "p i", NULL };
	static const char *const roles[] = { NULL, "launcher", "worker" };
	struct scene *scene = scene_new(script, 1);
	struct mpijob_logs_options options = scene->options;

	(void)state;
	options.label_selector = NULL;
	for (size_t i = 0; wrong[i]; i++) {
		options.job = wrong[i];
		assert_int_equal(mpijob_logs_new(scene->client, &options, &scene->logs),
		    MPIJOB_ERR_USAGE);
	}
	options.job = "pi";
	options.role = "master";
	assert_int_equal(mpijob_logs_new(scene->client, &options, &scene->logs), MPIJOB_ERR_USAGE);
	assert_null(scene->logs);
	fake_patch(&scene->fake, add_pod(scene, "a", ENDED("0")),
	    "metadata: {labels: {training.kubeflow.org/job-name: pi, "
	    "training.kubeflow.org/job-role: launcher}}");
	fake_patch(&scene->fake, add_pod(scene, "b", ENDED("0")),
	    "metadata: {labels: {training.kubeflow.org/job-name: pi, "
	    "training.kubeflow.org/job-role: worker}}");
	fake_patch(&scene->fake, add_pod(scene, "c", ENDED("0")),
	    "metadata: {labels: {training.kubeflow.org/job-name: tau, "
	    "training.kubeflow.org/job-role: launcher}}");
	for (size_t i = 0; i < 3; i++) {
		options.role = roles[i];
		assert_int_equal(mpijob_logs_new(scene->client, &options, &scene->logs), 0);
		turn(scene, 20);
		assert_int_equal(strstr(mpijob_text_data(&scene->told), "a/main#0: x\n") != NULL,
		    i != 2);
		assert_int_equal(strstr(mpijob_text_data(&scene->told), "b/main#0: x\n") != NULL,
		    i != 1);
		assert_null(strstr(mpijob_text_data(&scene->told), "c/"));
		assert_int_equal(mpijob_logs_state(scene->logs, NULL), 0);
		mpijob_text_clear(&scene->told);
		mpijob_logs_free(scene->logs);
	}
	scene->logs = NULL;
	scene_free(scene);
}

static void usage(void **state)
{
	static const struct script script[] = { { NULL, 0, "", 0, 0, NULL } };
	struct scene *scene = scene_new(script, 1);
	const struct mpijob_logs_options good = scene->options;
	struct mpijob_logs_options bad[12];
	const char *names[] = { "a", NULL };
	int64_t minus = -1, zero = 0;

	(void)state;
	for (size_t i = 0; i < 12; i++)
		bad[i] = good;
	bad[0].namespace_ = NULL;
	bad[1].line = NULL;
	bad[2].label_selector = NULL;
	bad[3].pods = names;
	bad[3].pods_count = 1;
	bad[4].label_selector = NULL;
	bad[4].pods = names;
	bad[4].pods_count = 2;
	bad[5].tail_lines = &minus;
	bad[6].since_seconds = &zero;
	bad[7].container = "a";
	bad[7].all_containers = 1;
	bad[8].max_streams = -1;
	bad[9].job = "pi"; /* and labels */
	bad[10].role = "worker";
	bad[11].label_selector = NULL;
	bad[11].pods = names;
	bad[11].pods_count = 1;
	bad[11].job = "pi";
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(mpijob_logs_new(scene->client, &bad[i], &scene->logs),
		    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_logs_new(NULL, &good, &scene->logs), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_logs_new(scene->client, NULL, &scene->logs), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_logs_state(NULL, NULL), MPIJOB_ERR_USAGE);
	assert_null(scene->logs);
	scene_free(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there),
		cmocka_unit_test(timestamps_when_asked),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(not_there_yet),
		cmocka_unit_test(the_run_before),
		cmocka_unit_test(goes_on_where_it_stood),
		cmocka_unit_test(goes_on_inside_of_a_line),
		cmocka_unit_test(a_stream_let_go_is_taken_up),
		cmocka_unit_test(restarts),
		cmocka_unit_test(waiting_to_start),
		cmocka_unit_test(init_containers_come_first),
		cmocka_unit_test(containers_by_name),
		cmocka_unit_test(few_streams),
		cmocka_unit_test(followers_take_turns),
		cmocka_unit_test(pods_that_go),
		cmocka_unit_test(named_pods),
		cmocka_unit_test(what_is_not_allowed),
		cmocka_unit_test(what_is_not_allowed_for_a_moment),
		cmocka_unit_test(what_is_not_allowed_any_more),
		cmocka_unit_test(gives_up_when_it_does_not_follow),
		cmocka_unit_test(a_stream_without_an_end),
		cmocka_unit_test(a_stream_that_stays_silent),
		cmocka_unit_test(messages_of_the_node),
		cmocka_unit_test(messages_of_the_node_while_following),
		cmocka_unit_test(gives_up_what_has_ended),
		cmocka_unit_test(servers_ask_to_wait),
		cmocka_unit_test(of_a_job),
		cmocka_unit_test(readers_stop_it),
		cmocka_unit_test(pause_and_go_on),
		cmocka_unit_test(usage),
	};

	return cmocka_run_group_tests_name("cluster_logs", tests, NULL, NULL);
}
