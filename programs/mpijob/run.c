/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob run: knows the life of one run on this machine: cluster, objects of the file, job, output,
 * end, and the exit code that tells how it went.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mpijob/local.h>

#include "findings.h"
#include "input.h"
#include "options.h"
#include "pods.h"

#define TURN_MS 200        /* the longest wait in one turn of the loop: a signal is seen at the latest then */
#define LAST_OUTPUT_MS 5000 /* how long output may still arrive after the job's end */
#define DEFAULT_GRACE_MS 30000

/* What is watched, and who reads its changes as documents. */
struct watched {
	mpijob_watch *watch;
	void (*changed)(void *user, const mpijob_node *object, int gone);
	void *user;
	int code; /* why it cannot go on; 0 while it can */
};

struct run {
	const struct arguments *arguments;
	struct input input;
	mpijob_diag *diag;
	mpijob *job; /* defaulted; the cluster gets the document as it was given */
	const struct input_object *object;
	mpijob_client *client;
	mpijob_operator *operator_;
	struct watched watched_job;
	struct watched watched_pods;
	struct pods pods;
	struct progress progress;
	char *uid;
	const char *phase;
	int workers;
	int finished;       /* the job reached Succeeded or Failed */
	int succeeded;
	char *failure;      /* reason and message of the condition Failed */
	int stopping;       /* exit code after an interrupt or the timeout; 0 while none */
	int stopped_at;     /* signals seen when the stopping began */
	int64_t begun_ms, cluster_ms, created_ms, finished_ms;
};

static volatile sig_atomic_t signals_seen;
static volatile sig_atomic_t last_signal;

static void on_signal(int number)
{
	signals_seen++;
	last_signal = number;
}

static void signals_catch(void)
{
	struct sigaction action = { 0 };
	struct sigaction before;

	action.sa_handler = on_signal;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* nohup has it ignored */
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	/* A reader of our output that goes away is an error of write(), not the end of the process. */
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
}

/* ---- the file ---- */

static int choose_job(struct run *run)
{
	const char *wanted = run->arguments->job;
	const struct input_object *found = NULL;
	size_t jobs = 0;

	for (size_t i = 0; i < run->input.count; i++) {
		const struct input_object *object = &run->input.objects[i];
		const char *name = mpijob_node_string(mpijob_node_find(object->node, "metadata.name"));
		if (!mpijob_is_job(object->node))
			continue;
		jobs++;
		if (!wanted || (name && strcmp(name, wanted) == 0))
			found = object;
	}
	run->object = found;
	const char *source = run->arguments->operands.items[0];
	if (jobs == 0)
		return findings_add(run->diag, MPIJOB_ERR_NOT_FOUND, source, "no-job", "no MPIJob in here");
	if (!found)
		return findings_add(run->diag, MPIJOB_ERR_NOT_FOUND, source, "no-job", "no MPIJob is called '%s'", wanted);
	if (jobs > 1 && !wanted)
		return findings_add(run->diag, MPIJOB_ERR_USAGE, source, "several-jobs",
				    "%zu MPIJobs in here; choose one with --job NAME", jobs);
	return 0;
}

/* A job of another controller would wait for ever. */
static int check_manager(struct run *run, const struct mpijob_spec *spec)
{
	const char *manager = spec->run_policy ? spec->run_policy->managed_by : NULL;

	if (!manager || strcmp(manager, "kubeflow.org/mpi-operator") == 0)
		return 0;
	return findings_add(run->diag, MPIJOB_ERR_SPEC, run->object->source, "managed-elsewhere",
			    "spec.runPolicy.managedBy leaves this job to '%s', so nothing would run it here; remove the field",
			    manager);
}

static int load_job(struct run *run)
{
	struct mpijob_validate_options options = MPIJOB_VALIDATE_OPTIONS_INIT;
	const struct mpijob_spec *spec;

	int code = input_read(&run->arguments->operands, &run->input, run->diag);
	if (code == 0)
		code = choose_job(run);
	if (code == 0)
		code = input_job(run->object, run->arguments, &run->job, run->diag);
	options.reference = run->arguments->reference;
	if (code == 0)
		code = mpijob_validate(run->job, &options, run->diag);
	if (code == 0)
		code = mpijob_spec_get(run->job, &spec, run->diag);
	if (code == 0)
		code = check_manager(run, spec);
	if (code)
		return code;
	run->workers = spec->worker && spec->worker->replicas ? *spec->worker->replicas : 0;
	run->progress.name = mpijob_name(run->job);
	run->pods.namespace_ = mpijob_namespace(run->job);
	return 0;
}

static const char *image_of(const struct run *run, const char *path)
{
	const char *image = mpijob_node_string(mpijob_node_find(mpijob_doc_root(mpijob_document(run->job)), path));
	return image ? image : "(none)";
}

/* The first line: that this is local, and which image is not used. */
static void announce(const struct run *run)
{
	const char *launcher = image_of(run, "spec.mpiReplicaSpecs[Launcher].template.spec.containers[0].image");
	const char *worker = image_of(run, "spec.mpiReplicaSpecs[Worker].template.spec.containers[0].image");
	int differ = run->workers > 0 && strcmp(launcher, worker) != 0;

	fprintf(stderr, "mpijob: running %s/%s locally, on this machine; image %s%s%s not used: the pods see this machine's files\n",
		mpijob_namespace(run->job), mpijob_name(run->job), launcher, differ ? " and image " : "", differ ? worker : "");
}

/* ---- the cluster ---- */

static void on_notice(void *user, const struct mpijob_finding *finding)
{
	struct run *run = user;

	progress_hide(&run->progress);
	finding_print(finding, stderr);
}

static void on_log(void *user, const struct mpijob_finding *finding)
{
	if (finding->severity != MPIJOB_SEVERITY_INFO)
		on_notice(user, finding);
}

static int32_t a_day_at_most(int64_t ms)
{
	return (int32_t)(ms < 86400000 ? ms : 86400000);
}

static int start_cluster(struct run *run)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;
	struct mpijob_operator_options control = MPIJOB_OPERATOR_OPTIONS_INIT;
	mpijob_local *local = NULL;

	options.allow_host_path = run->arguments->allow_host_path;
	options.cluster_domain = run->arguments->cluster_domain;
	options.backoff_base_ms = a_day_at_most(run->arguments->backoff_base_ms);
	options.names_delay_ms = a_day_at_most(run->arguments->late_names_ms);
	options.notice = on_notice;
	options.notice_user = run;
	int code = mpijob_local_new(&options, &transport, &local, run->diag);
	if (code == 0)
		code = mpijob_client_new(&transport, local, &run->client);
	if (code)
		return code;
	render.reference = run->arguments->reference;
	render.cluster_domain = run->arguments->cluster_domain;
	render.wait_for_hosts = options_wait_for_hosts(run->arguments);
	render.compact_hosts = run->arguments->compact_hosts;
	control.render = &render;
	control.log = on_log;
	control.log_user = run;
	code = mpijob_operator_new(run->client, &control, &run->operator_, run->diag);
	run->cluster_ms = clock_ms();
	return code;
}

static int create(struct run *run, const mpijob_node *object, mpijob_doc **out)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_doc *doc = mpijob_doc_from_node(object);
	const char *kind = mpijob_node_string(mpijob_node_get(object, "kind"));

	int has_namespace = strcmp(kind, "Namespace") != 0 && strcmp(kind, "PriorityClass") != 0;
	if (has_namespace && !mpijob_node_find(object, "metadata.namespace"))
		mpijob_node_put_string(doc, mpijob_doc_make(doc, "metadata"), "namespace", mpijob_namespace(run->job));
	int code = mpijob_doc_error(doc);
	if (code == 0) {
		const mpijob_node *root = mpijob_doc_root(doc);
		target.api_version = mpijob_node_string(mpijob_node_get(root, "apiVersion"));
		target.kind = kind;
		target.namespace_ = has_namespace ? mpijob_node_string(mpijob_node_find(root, "metadata.namespace")) : NULL;
		code = target.api_version ? mpijob_client_create(run->client, &target, root, out, run->diag)
					  : findings_add(run->diag, MPIJOB_ERR_SPEC, run->object->source, "no-api-version",
							 "a %s has no apiVersion", kind);
	}
	mpijob_doc_free(doc);
	return code;
}

static int create_namespace(struct run *run, const char *name)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc);

	mpijob_node_put_string(doc, root, "apiVersion", "v1");
	mpijob_node_put_string(doc, root, "kind", "Namespace");
	mpijob_node_put_string(doc, mpijob_node_put_map(doc, root, "metadata"), "name", name);
	int code = mpijob_doc_error(doc);
	if (code == 0)
		code = create(run, mpijob_doc_root(doc), NULL);
	mpijob_doc_free(doc);
	return code;
}

static int has_namespace(const struct run *run, const char *name)
{
	if (strcmp(name, "default") == 0)
		return 1;
	for (size_t i = 0; i < run->input.count; i++) {
		const char *has = mpijob_node_string(mpijob_node_find(run->input.objects[i].node, "metadata.name"));
		if (input_is(&run->input.objects[i], "v1", "Namespace") && has && strcmp(has, name) == 0)
			return 1;
	}
	return 0;
}

/* Namespaces before what lives in them. */
static int create_objects(struct run *run)
{
	static const char *const kinds[] = { "Namespace", "PriorityClass", "ConfigMap", "Secret" };
	const char *namespace_ = mpijob_namespace(run->job);
	int code = has_namespace(run, namespace_) ? 0 : create_namespace(run, namespace_);

	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
		for (size_t i = 0; i < run->input.count && code == 0; i++)
			if (input_is(&run->input.objects[i], NULL, kinds[kind]))
				code = create(run, run->input.objects[i].node, NULL);
	return code;
}

static int is_used(const struct input_object *object)
{
	return mpijob_is_job(object->node) || input_is(object, NULL, "Namespace") ||
	       input_is(object, NULL, "PriorityClass") || input_is(object, NULL, "ConfigMap") ||
	       input_is(object, NULL, "Secret");
}

static void warn_unused(struct run *run)
{
	for (size_t i = 0; i < run->input.count; i++) {
		const struct input_object *object = &run->input.objects[i];
		const char *kind = mpijob_node_string(mpijob_node_get(object->node, "kind"));
		const char *name = mpijob_node_string(mpijob_node_find(object->node, "metadata.name"));
		if (!is_used(object))
			progress_say(&run->progress, "warning: %s:%d: %s %s is left out of a local run", object->source,
				     mpijob_node_line(object->node), kind ? kind : "an object", name ? name : "without a name");
	}
}

static int create_job(struct run *run)
{
	mpijob_doc *stored = NULL;
	int code = create(run, run->object->node, &stored);

	if (code == 0) {
		const char *uid = mpijob_node_string(mpijob_node_find(mpijob_doc_root(stored), "metadata.uid"));
		run->uid = uid ? strdup(uid) : NULL;
		code = run->uid ? 0 : MPIJOB_ERR_NOMEM;
	}
	mpijob_doc_free(stored);
	run->created_ms = clock_ms();
	return code;
}

/* ---- watching ---- */

static int condition_true(const mpijob_node *status, const char *type, const mpijob_node **found)
{
	const mpijob_node *conditions = mpijob_node_get(status, "conditions");

	for (size_t i = 0; i < mpijob_node_count(conditions); i++) {
		const mpijob_node *condition = mpijob_node_at(conditions, i);
		const char *has = mpijob_node_string(mpijob_node_get(condition, "type"));
		const char *value = mpijob_node_string(mpijob_node_get(condition, "status"));
		if (has && value && strcmp(has, type) == 0) {
			*found = condition;
			return strcmp(value, "True") == 0;
		}
	}
	return 0;
}

static void keep_failure(struct run *run, const mpijob_node *condition)
{
	const char *reason = mpijob_node_string(mpijob_node_get(condition, "reason"));
	const char *message = mpijob_node_string(mpijob_node_get(condition, "message"));

	free(run->failure);
	if (asprintf(&run->failure, "%s: %s", reason ? reason : "Failed", message ? message : "no message") < 0)
		run->failure = NULL;
}

static void job_changed(void *user, const mpijob_node *job, int gone)
{
	struct run *run = user;
	const mpijob_node *status = mpijob_node_get(job, "status");
	const mpijob_node *condition = NULL;

	if (gone || run->finished)
		return;
	if (condition_true(status, "Failed", &condition)) {
		run->finished = 1;
		run->phase = "failed";
		keep_failure(run, condition);
	} else if (condition_true(status, "Succeeded", &condition)) {
		run->finished = run->succeeded = 1;
		run->phase = "succeeded";
	} else if (condition_true(status, "Suspended", &condition)) {
		run->phase = "suspended";
	} else if (condition_true(status, "Running", &condition)) {
		run->phase = "running";
	}
	if (run->finished)
		run->finished_ms = clock_ms();
}

static int on_object(void *user, const struct mpijob_watch_event *event)
{
	struct watched *watched = user;
	mpijob_doc *doc = NULL;
	int code = event->json ? mpijob_doc_parse(event->json, event->json_len, NULL, &doc, NULL) : MPIJOB_ERR_SYNTAX;

	if (code == 0)
		watched->changed(watched->user, mpijob_doc_root(doc), event->event == MPIJOB_WATCH_DELETED);
	mpijob_doc_free(doc);
	return code;
}

/* What is worth another try is tried by the watch itself. */
static void on_watch_failed(void *user, const struct mpijob_answer *answer, const char *what)
{
	struct watched *watched = user;

	(void)what;
	if (answer->code != MPIJOB_ERR_IO && answer->code != MPIJOB_ERR_TIMEOUT && answer->code != MPIJOB_ERR_SERVER)
		watched->code = answer->code;
}

static int turn(struct run *run)
{
	int code = mpijob_operator_step(run->operator_, TURN_MS);

	if (code == 0)
		code = run->watched_job.code ? run->watched_job.code : run->watched_pods.code;
	if (code == 0)
		code = run->pods.code;
	int ready = pods_ready_workers(&run->pods);
	if (run->pods.first_ready_ms == 0 && ready == run->workers)
		run->pods.first_ready_ms = clock_ms();
	/* Workers that are cleaned up at the end are no news. */
	progress_show(&run->progress, run->phase, run->finished ? run->progress.ready : ready, run->workers, clock_ms());
	return code;
}

/* Why to stop before the end: exit code, or 0. */
static int must_stop(const struct run *run)
{
	if (signals_seen)
		return EXIT_SIGNALLED + last_signal;
	if (run->arguments->timeout_ms && clock_ms() - run->begun_ms >= run->arguments->timeout_ms)
		return EXIT_TIMED_OUT;
	return 0;
}

/* A second signal ends at once, also while the output waits for its reader. */
static int urgency(void *user)
{
	const struct run *run = user;

	if (must_stop(run) == 0)
		return PODS_GO_ON;
	return signals_seen > (run->stopping ? run->stopped_at : 1) ? PODS_END_NOW : PODS_END_SOON;
}

static int until_finished(struct run *run)
{
	int code = 0;

	while (code == 0 && !run->finished && (run->stopping = must_stop(run)) == 0)
		code = turn(run);
	for (int64_t end = clock_ms() + LAST_OUTPUT_MS; code == 0 && !run->stopping && pods_logs_open(&run->pods);) {
		if (clock_ms() >= end || (run->stopping = must_stop(run)) != 0)
			break;
		code = turn(run);
	}
	return code;
}

static int64_t grace_ms(const struct run *run)
{
	const mpijob_node *root = mpijob_doc_root(mpijob_document(run->job));
	int64_t seconds;

	if (!mpijob_node_int(mpijob_node_find(root, "spec.mpiReplicaSpecs[Launcher].template.spec.terminationGracePeriodSeconds"),
			     &seconds) || seconds < 0 || seconds > 3600)
		return DEFAULT_GRACE_MS;
	return seconds * 1000;
}

/* Delete the job and give its launcher the time that it asks for; a second signal ends the waiting. */
static int stop(struct run *run)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	run->stopped_at = signals_seen;
	progress_say(&run->progress, "%s; stopping%s", run->stopping == EXIT_TIMED_OUT ? "timed out" : "interrupted",
		     run->stopped_at ? " (once more: at once)" : "");
	target.api_version = "kubeflow.org/v2beta1";
	target.kind = "MPIJob";
	target.namespace_ = mpijob_namespace(run->job);
	target.name = mpijob_name(run->job);
	run->phase = "stopping";
	int code = mpijob_client_delete(run->client, &target, run->uid, "Background", run->diag);
	if (code == MPIJOB_ERR_NOT_FOUND)
		code = 0;
	int64_t end = clock_ms() + grace_ms(run);
	while (code == 0 && (pods_launchers_left(&run->pods) || pods_logs_open(&run->pods)) && clock_ms() < end &&
	       signals_seen == run->stopped_at)
		code = turn(run);
	return code;
}

static int keep(struct run *run)
{
	int code = 0;

	progress_say(&run->progress, "kept; look inside with: mpijob exec POD -- COMMAND; Ctrl-C ends it");
	while (code == 0 && must_stop(run) == 0)
		code = turn(run);
	return code;
}

/* ---- the whole ---- */

static int watch(struct run *run, struct watched *watched, struct mpijob_watch_options *options)
{
	options->namespace_ = mpijob_namespace(run->job);
	options->object = on_object;
	options->failed = on_watch_failed;
	options->user = watched;
	return mpijob_watch_new(run->client, options, &watched->watch);
}

static int watch_job(struct run *run)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;

	options.api_version = "kubeflow.org/v2beta1";
	options.kind = "MPIJob";
	options.name = mpijob_name(run->job);
	run->watched_job.changed = job_changed;
	run->watched_job.user = run;
	return watch(run, &run->watched_job, &options);
}

static int watch_pods(struct run *run)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;
	mpijob_text *selector = mpijob_text_new();
	static const char key[] = "training.kubeflow.org/job-name=";
	int code = selector ? mpijob_text_write(selector, key, sizeof(key) - 1) : MPIJOB_ERR_NOMEM;

	if (code == 0)
		code = mpijob_text_write(selector, mpijob_name(run->job), strlen(mpijob_name(run->job)));
	if (code == 0) {
		options.api_version = "v1";
		options.kind = "Pod";
		options.label_selector = mpijob_text_data(selector);
		run->pods.client = run->client;
		run->watched_pods.changed = pods_changed;
		run->watched_pods.user = &run->pods;
		code = watch(run, &run->watched_pods, &options);
	}
	mpijob_text_free(selector);
	return code;
}

static int live(struct run *run)
{
	int code = create_objects(run);

	if (code == 0)
		code = create_job(run);
	if (code == 0)
		code = until_finished(run);
	if (code == 0 && run->finished)
		progress_say(&run->progress, "%s %s%s%s", run->progress.name, run->succeeded ? "succeeded" : "failed",
			     run->failure ? ": " : "", run->failure ? run->failure : "");
	if (code == 0 && run->stopping)
		code = stop(run);
	else if (code == 0 && run->arguments->keep)
		code = keep(run);
	return code;
}

static int watch_and_live(struct run *run)
{
	int code = watch_job(run);

	if (code == 0)
		code = watch_pods(run);
	if (code == 0)
		code = live(run);
	mpijob_watch_free(run->watched_job.watch);
	mpijob_watch_free(run->watched_pods.watch);
	pods_free(&run->pods);
	return code;
}

static double seconds(int64_t from, int64_t to)
{
	return from && to ? (double)(to - from) / 1000.0 : 0.0;
}

static void print_timings(const struct run *run, int64_t closing_ms)
{
	int64_t end = clock_ms();
	int64_t own = end - run->begun_ms - (run->pods.launcher_end_ms - run->pods.launcher_start_ms);

	fprintf(stderr, "mpijob: timings in s: cluster up %.3f, job created %.3f, workers ready %.3f, launcher started %.3f, "
		"launcher ran %.3f, result known %.3f, closed %.3f; all but the launcher %.3f\n",
		seconds(run->begun_ms, run->cluster_ms), seconds(run->begun_ms, run->created_ms),
		seconds(run->begun_ms, run->pods.first_ready_ms), seconds(run->begun_ms, run->pods.launcher_start_ms),
		seconds(run->pods.launcher_start_ms, run->pods.launcher_end_ms),
		seconds(run->pods.launcher_end_ms, run->finished_ms), seconds(closing_ms, end), (double)own / 1000.0);
}

static int exit_code(const struct run *run, int code)
{
	if (code)
		return EXIT_OWN_FAILURE;
	if (run->stopping)
		return run->stopping;
	if (run->succeeded)
		return run->pods.output_lost ? EXIT_OWN_FAILURE : 0;
	/* A job that failed although its launcher ended well: evicted, for example. */
	return run->pods.has_exit_code && run->pods.exit_code ? run->pods.exit_code : EXIT_FINDINGS;
}

static void run_free(struct run *run)
{
	mpijob_operator_free(run->operator_);
	mpijob_client_free(run->client);
	mpijob_free(run->job);
	input_free(&run->input);
	mpijob_diag_free(run->diag);
	free(run->uid);
	free(run->failure);
}

int run_command(const struct arguments *arguments)
{
	struct run run = { .arguments = arguments, .phase = "starting" };

	if (arguments->operands.count == 0) {
		fputs("mpijob: name a file, a directory, or - for standard input\n", stderr);
		return EXIT_USAGE;
	}
	run.begun_ms = clock_ms();
	run.progress.begun_ms = run.begun_ms;
	run.progress.terminal = isatty(STDERR_FILENO);
	run.pods.progress = &run.progress;
	run.pods.urgency = urgency;
	run.pods.urgency_user = &run;
	run.diag = mpijob_diag_new();
	int code = run.diag ? load_job(&run) : MPIJOB_ERR_NOMEM;
	if (code == 0) {
		announce(&run);
		findings_print(run.diag, stderr);
		mpijob_diag_clear(run.diag);
		warn_unused(&run);
		signals_catch();
		code = start_cluster(&run);
	}
	if (code == 0)
		code = watch_and_live(&run);
	progress_hide(&run.progress);
	findings_print(run.diag, stderr);
	failure_print(run.diag, code);

	int result = exit_code(&run, code);
	int64_t closing_ms = clock_ms();
	mpijob_operator_free(run.operator_);
	mpijob_client_free(run.client);
	run.operator_ = NULL;
	run.client = NULL;
	if (code == 0 && arguments->timings)
		print_timings(&run, closing_ms);
	run_free(&run);
	return result;
}
