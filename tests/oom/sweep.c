/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how to fail every single allocation of a scenario, and how to judge what comes of it.
 *
 *     oom_sweep DATA PI_YAML                          every scenario of every subject
 *     oom_sweep DATA PI_YAML SUBJECT SCENARIO N once|on [M]   one of them, with the stack of
 * allocation N (or M)
 *
 * Each failure is tried in a fork of its own, with libcrypto warmed before: allocation i alone
 * fails ("once"), or i and all that follow ("on"). Then either the call says MPIJOB_ERR_NOMEM,
 * leaves its objects as they were, and works when it is repeated; or it gives exactly what it gives
 * undisturbed. Nothing may stay allocated.
 */
#include "failing_malloc.h"
#include "scenarios.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM         (16u << 20)
#define SECONDS_EACH 20
#define SHOWN_EACH   6

/* How a child ends; the first two are as it should be. */
enum verdict { SAME, CLEAN, LEAK, OTHER_OUTPUT, OTHER_CODE, CHANGED, NOT_AGAIN, UNTOUCHED };

static const char *const verdicts[] = {
	[SAME] = "the same result",
	[CLEAN] = "a clean error",
	[LEAK] = "a leak",
	[OTHER_OUTPUT] = "success with other output",
	[OTHER_CODE] = "another error than MPIJOB_ERR_NOMEM",
	[CHANGED] = "the job was changed though the call failed",
	[NOT_AGAIN] = "the call does not work when repeated",
	[UNTOUCHED] = "no allocation failed",
};

static struct sink want, have, before, after;
static int want_code;

static void make_sink(struct sink *sink)
{
	sink->data = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sink->room = ROOM;
	if (sink->data == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
}

static int same(const struct sink *a, const struct sink *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* The job that the scenario works on. */
static void look(const struct subject *subject, struct sink *sink)
{
	sink->len = 0;
	if (subject->job && mpijob_node_write(mpijob_doc_root(mpijob_document(subject->job)),
				MPIJOB_FORMAT_JSON, sink_write, sink))
		abort();
}

/* A host with threads would do the same: what a thread keeps in libcrypto is no leak. */
static void forget_thread(void)
{
	ERR_clear_error();
	OPENSSL_thread_stop();
}

static enum verdict judge(const struct scenario *scenario, struct subject *subject, int code)
{
	enum verdict verdict = CLEAN;

	if (code == want_code && same(&have, &want)) {
		verdict = SAME;
	} else if (code == want_code) {
		return OTHER_OUTPUT;
	} else if (code != MPIJOB_ERR_NOMEM) {
		fprintf(stderr, "result %d, undisturbed %d\n", code, want_code);
		return OTHER_CODE;
	} else {
		look(subject, &after);
		if (!same(&before, &after))
			return CHANGED;
		have.len = 0;
		if (scenario->act(scenario, subject, &have) != want_code || !same(&have, &want))
			return NOT_AGAIN;
	}
	mpijob_free(subject->job);
	forget_thread();
	if (oom_live()) {
		fprintf(stderr, "%ld blocks, the oldest is allocation %zu\n", oom_live(),
		    oom_oldest());
		return LEAK;
	}
	return verdict;
}

static enum verdict disturb(const struct scenario *scenario, struct subject *subject, size_t at,
    int on)
{
	int code;

	have.len = 0;
	look(subject, &before);
	oom_start(at, on);
	code = scenario->act(scenario, subject, &have);
	oom_stop();
	if (at && !oom_failed())
		return UNTOUCHED;
	return judge(scenario, subject, code);
}

/* In a fork; 1 when it ended as it should. */
static int try(const struct scenario *scenario, struct subject *subject, size_t at, int on,
    int shown)
{
	int status = 0;
	pid_t pid = fork();

	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	if (pid == 0) {
		if (!shown && !freopen("/dev/null", "w", stderr))
			_exit(98);
		alarm(SECONDS_EACH);
		_exit((int)disturb(scenario, subject, at, on));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) <= CLEAN)
		return 1;
	if (!shown)
		return 0;
	fprintf(stderr, "%s: %s: allocation %zu%s: ", subject->name, scenario->name, at,
	    on ? " and all later ones" : "");
	if (WIFSIGNALED(status))
		fprintf(stderr, "%s\n",
		    WTERMSIG(status) == SIGALRM ? "hangs" : strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) <= UNTOUCHED)
		fprintf(stderr, "%s\n", verdicts[WEXITSTATUS(status)]);
	else
		fprintf(stderr, "exit code %d\n", WEXITSTATUS(status));
	return 0;
}

static void prepare(const struct scenario *scenario, struct subject *subject)
{
	subject->job = NULL;
	if (scenario->prepare && scenario->prepare(subject)) {
		fprintf(stderr, "%s: %s: cannot be prepared\n", subject->name, scenario->name);
		exit(1);
	}
}

/* Run undisturbed, in this process: warms libcrypto, and tells what is wanted. */
static size_t undisturbed(const struct scenario *scenario, struct subject *subject)
{
	size_t count = 0;

	for (int round = 0; round < 2; round++) {
		prepare(scenario, subject);
		want.len = 0;
		oom_start(0, 0);
		want_code = scenario->act(scenario, subject, &want);
		oom_stop();
		count = oom_count();
		mpijob_free(subject->job);
		forget_thread();
	}
	if (want_code == MPIJOB_ERR_NOMEM || !count || !want.len) {
		fprintf(stderr, "%s: %s: result %d, %zu allocations, %zu bytes of output\n",
		    subject->name, scenario->name, want_code, count, want.len);
		exit(1);
	}
	if (oom_live()) {
		fprintf(stderr,
		    "%s: %s: %ld blocks leak undisturbed, the oldest is allocation %zu\n",
		    subject->name, scenario->name, oom_live(), oom_oldest());
		exit(1);
	}
	return count;
}

/* The sweep itself is tested first: every canary must be found out, the leak when its second
 * allocation fails. */
static void try_canaries(struct subject *subject)
{
	for (size_t i = 0; i < canaries_count; i++) {
		size_t count = undisturbed(&canaries[i], subject);

		if (!try(&canaries[i], subject, 0, 0, 1) ||
		    try(&canaries[i], subject, count, 0, 0)) {
			fprintf(stderr, "self-test: %s was not noticed\n", canaries[i].name);
			exit(1);
		}
	}
}

static int applies(const struct scenario *scenario, const struct subject *subject)
{
	if (scenario->valid && !subject->states[0].job)
		return 0;
	return subject->json || strcmp(scenario->name, "parse") == 0;
}

/* How many tries ended badly. */
static size_t sweep(const struct scenario *scenario, struct subject *subject, size_t *tried)
{
	size_t count = undisturbed(scenario, subject), bad = 0;

	prepare(scenario, subject);
	for (int on = 0; on < 2; on++) {
		for (size_t at = 1; at <= count; at++)
			bad += !try(scenario, subject, at, on, bad < SHOWN_EACH);
	}
	mpijob_free(subject->job);
	*tried += 2 * count;
	printf("%-10s %-18s %6zu allocations, %6zu tried, %zu bad\n", subject->name, scenario->name,
	    count, 2 * count, bad);
	fflush(stdout);
	return bad;
}

static char *read_file(const char *folder, const char *name, size_t *len)
{
	char path[4096], *text = malloc(ROOM);
	FILE *file;

	snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", name);
	file = fopen(path, "rb");
	if (!file || !text) {
		perror(path);
		exit(2);
	}
	*len = fread(text, 1, ROOM, file);
	fclose(file);
	return text;
}

static void begin(struct subject *subject, const char *name, const char *folder, const char *file)
{
	size_t len;
	char *text = read_file(folder, file, &len);

	subject_begin(subject, name, text, len);
	free(text);
}

static int one(struct subject *subjects, size_t count, char **argv, int argc)
{
	size_t at = strtoul(argv[2], NULL, 10);

	for (size_t i = 0; i < count * scenarios_count; i++) {
		const struct scenario *scenario = &scenarios[i % scenarios_count];
		struct subject *subject = &subjects[i / scenarios_count];

		if (strcmp(subject->name, argv[0]) != 0 || strcmp(scenario->name, argv[1]) != 0 ||
		    !applies(scenario, subject))
			continue;
		undisturbed(scenario, subject);
		prepare(scenario, subject);
		oom_trace(argc > 4 ? strtoul(argv[4], NULL, 10) : at);
		return !try(scenario, subject, at, strcmp(argv[3], "on") == 0, 1);
	}
	fprintf(stderr, "no scenario %s of a subject %s\n", argv[1], argv[0]);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct mpijob_priority_class low = { sizeof(low), "low", 10, 0 },
						  high = { sizeof(high), "high", 1000, 0 };
	static const struct mpijob_priority_class *const classes[] = { &low, &high };
	static struct subject subjects[5];
	struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
	size_t count = sizeof(subjects) / sizeof(subjects[0]);
	size_t tried = 0, bad = 0;
	struct mpijob_features wait = MPIJOB_FEATURES_INIT, all = { sizeof(all), 1, 1, 1, 1, 1, 1,
		22, 2222, 1, 1, 1, 60, 1, 1, 1, 0 };

#ifdef __SANITIZE_ADDRESS__
	puts("skipped: AddressSanitizer brings an allocator of its own");
	return 77;
#endif
	if (argc < 3)
		return 2;
	make_sink(&want);
	make_sink(&have);
	make_sink(&before);
	make_sink(&after);
	for (size_t i = 0; i < count; i++)
		subjects[i].render = options;
	wait.wait_for_hosts = 60;
	wait.replace_workers = 2;
	subjects[0].render.features = &wait;
	subjects[1].render.features = &all;
	subjects[1].render.cluster_domain = "cluster.local";
	subjects[1].render.priority_classes = subjects[2].render.priority_classes = classes;
	subjects[1].render.priority_classes_count = subjects[2].render.priority_classes_count = 2;
	subjects[1].render.gang_scheduler = "volcano";
	subjects[2].render.gang_scheduler = "scheduler-plugins-scheduler";
	subjects[2].render.reference = 1;
	begin(&subjects[0], "pi", "", argv[2]);
	begin(&subjects[1], "rich", argv[1], "rich.yaml");
	begin(&subjects[2], "reference", argv[1], "rich.yaml");
	for (size_t i = 0; i < 3; i++) {
		if (!subjects[i].states[0].job) {
			fprintf(stderr, "%s is refused, and would not be tried\n",
			    subjects[i].name);
			return 2;
		}
	}
	begin(&subjects[3], "refused", argv[1], "refused.yaml");
	begin(&subjects[4], "broken", argv[1], "broken.yaml");
	if (argc > 6)
		return one(subjects, count, argv + 3, argc - 3);
	try_canaries(&subjects[0]);
	for (size_t i = 0; i < count * scenarios_count; i++) {
		if (applies(&scenarios[i % scenarios_count], &subjects[i / scenarios_count]))
			bad += sweep(&scenarios[i % scenarios_count],
			    &subjects[i / scenarios_count], &tried);
	}
	for (size_t i = 0; i < count; i++)
		subject_end(&subjects[i]);
	printf("%zu allocation failures tried, %zu bad\n", tried, bad);
	return bad != 0;
}
