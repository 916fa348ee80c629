/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run on this machine: start an embedded cluster and its operator, create the objects of the file
 * and the job, follow it, and leave nothing behind.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <mpijob/local.h>
#include <mpijob/operator.h>

#include "base/api.h"
#include "base/clock.h"
#include "findings.h"
#include "objects.h"
#include "options.h"
#include "print.h"
#include "run.h"

#define WORKER_IMAGE   "spec.mpiReplicaSpecs[Worker].template.spec.containers[0].image"
#define CLEAN_MS       500  /* within which the operator deletes what cleanPodPolicy says */
#define SHORT_GRACE_MS 1000 /* of a launcher whose work is in vain */

static const char *image_of(const struct run *run, const char *path)
{
	const char *image =
	    mpijob_node_string(mpijob_node_find(mpijob_doc_root(mpijob_document(run->job)), path));
	return image ? image : "(none)";
}

/* The first line: that this is local, and which image is not used. */
static void announce(const struct run *run)
{
	const char *launcher =
	    image_of(run, "spec.mpiReplicaSpecs[Launcher].template.spec.containers[0].image");
	const char *worker = image_of(run, WORKER_IMAGE);
	int differ = run->workers > 0 && strcmp(launcher, worker) != 0;

	print_to(stderr,
	    "mpijob: running %s/%s locally, on this machine; image %s%s%s not used: the pods see "
	    "this machine's files\n",
	    mpijob_namespace(run->job), mpijob_name(run->job), launcher,
	    differ ? " and image " : "", differ ? worker : "");
}

/* ---- the cluster ---- */

static void on_notice(void *user, const struct mpijob_finding *finding)
{
	struct run *run = user;
	struct mpijob_finding placed = *finding;

	if (placed.field && !placed.source)
		run_place(run, &placed);
	progress_hide(&run->progress);
	finding_print(&placed, stderr);
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
	mpijob_operator *operator_ = NULL;

	options.allow_host_path = run->arguments->allow_host_path;
	options.cluster_domain = run->arguments->cluster_domain;
	options.backoff_base_ms = a_day_at_most(run->arguments->backoff_base_ms);
	options.names_delay_ms = a_day_at_most(run->arguments->late_names_ms);
	options.notice = on_notice;
	options.notice_user = run;
	guard_pause();
	int code = mpijob_local_new(&options, &transport, &local, run->diag);
	guard_resume();
	if (code == 0)
		code = mpijob_client_new(&transport, local, &run->client);
	if (code)
		return code;
	render.reference = run->arguments->reference;
	render.cluster_domain = run->arguments->cluster_domain;
	render.features = options_features(run->arguments);
	control.render = &render;
	control.log = on_log;
	control.log_user = run;
	code = mpijob_operator_new(run->client, &control, &operator_, run->diag);
	run->stepped = operator_;
	run->cluster_ms = mpijob__base_clock_monotonic_ms();
	return code;
}

/* Say that a field of the job has no effect here. */
static void warn_field(struct run *run, const char *field, const char *message)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;

	finding.severity = MPIJOB_SEVERITY_WARNING;
	finding.id = "not-honoured";
	finding.field = field;
	finding.message = message;
	on_notice(run, &finding);
}

/* Workers that share the network of one machine share its name and the port of sshd, so each pod
 * gets its own. */
static void separate_networks(struct run *run, mpijob_doc *doc)
{
	static const char *const specs[] = { "spec.mpiReplicaSpecs[Worker].template.spec",
		"spec.mpiReplicaSpecs[Launcher].template.spec" };
	int shared = 0;

	mpijob_node_bool(mpijob_node_get(mpijob_doc_edit(doc, specs[0]), "hostNetwork"), &shared);
	if (!shared || run->workers < 2)
		return;
	warn_field(run, "spec.mpiReplicaSpecs[Worker].template.spec.hostNetwork",
	    "not honoured locally: on one machine the workers would share one address and one port "
	    "of sshd, so each pod has a network of its own");
	for (size_t i = 0; i < 2; i++)
		mpijob_node_remove(mpijob_doc_edit(doc, specs[i]), "hostNetwork");
}

/* What an API server, Kueue and a second node would do for the job. */
static void make_runnable(struct run *run, mpijob_doc *doc)
{
	mpijob_node_put_string(doc, mpijob_doc_make(doc, "metadata"), "name", run->name);
	if (run->arguments->resume)
		mpijob_node_remove(mpijob_doc_edit(doc, "spec.runPolicy"), "suspend");
	separate_networks(run, doc);
}

static int create(struct run *run, const mpijob_node *object, mpijob_doc **out)
{
	struct mpijob_submit_options options = MPIJOB_SUBMIT_OPTIONS_INIT;

	options.namespace_ = mpijob_namespace(run->job);
	options.field_validation = "Ignore"; /* a local cluster has nothing else */
	int code = mpijob_run_create(run->client, object, &options, out, run->diag);
	return code < 0 ? code : 0;
}

static int create_namespace(struct run *run, const char *name)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, "");

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
		const char *has = mpijob_node_string(
		    mpijob_node_find(run->input.objects[i].node, "metadata.name"));
		if (input_is(&run->input.objects[i], "v1", "Namespace") && has &&
		    strcmp(has, name) == 0)
			return 1;
	}
	return 0;
}

static int is_used(const struct input_object *object)
{
	return mpijob_is_job(object->node) || input_is(object, NULL, "Namespace") ||
	       input_is(object, NULL, "PriorityClass") || input_is(object, NULL, "ConfigMap") ||
	       input_is(object, NULL, "Secret");
}

static int create_objects(struct run *run)
{
	const char *namespace_ = mpijob_namespace(run->job);
	int code = has_namespace(run, namespace_) ? 0 : create_namespace(run, namespace_);

	for (size_t i = 0; i < run->input.count && code == 0; i++)
		if (is_used(&run->input.objects[i]) && !mpijob_is_job(run->input.objects[i].node))
			code = create(run, run->input.objects[i].node, NULL);
	return code;
}

static void warn_unused(struct run *run)
{
	for (size_t i = 0; i < run->input.count; i++) {
		const struct input_object *object = &run->input.objects[i];
		const char *kind = mpijob_node_string(mpijob_node_get(object->node, "kind"));
		const char *name =
		    mpijob_node_string(mpijob_node_find(object->node, "metadata.name"));
		int32_t line;
		mpijob_node_place(object->node, &line, NULL);
		if (!is_used(object))
			progress_say(&run->progress,
			    "warning: %s:%d: %s %s is left out of a local run", object->source,
			    line, kind ? kind : "an object", name ? name : "without a name");
	}
}

static int create_job(struct run *run)
{
	mpijob_doc *doc = mpijob_doc_from_node(run->object->node, NULL), *stored = NULL;

	make_runnable(run, doc);
	int code = mpijob_doc_error(doc);
	if (code == 0)
		code = create(run, mpijob_doc_root(doc), &stored);
	if (code == 0) {
		run->uid = strdup(text_at(mpijob_doc_root(stored), "metadata.uid"));
		code = run->uid ? 0 : MPIJOB_ERR_NOMEM;
	}
	mpijob_doc_free(stored);
	mpijob_doc_free(doc);
	run->created_ms = mpijob__base_clock_monotonic_ms();
	return code;
}

/* ---- its end ---- */

/* Delete the job and let its launcher end; a second signal ends the waiting. */
static int delete_job(struct run *run, int64_t grace_ms)
{
	int code = mpijob_run_stop(run->job_run, grace_ms);

	run->stopped_at = run_signals_seen();
	while (code == 0 && mpijob_run_state(run->job_run) > 0 &&
	       run_signals_seen() == run->stopped_at)
		code = run_turn(run);
	return code;
}

static int stop(struct run *run)
{
	/* The launcher would have received the same signal. */
	if (run->stopping == EXIT_SIGNALLED + SIGPIPE)
		return delete_job(run, SHORT_GRACE_MS);
	progress_say(&run->progress, "%s; stopping%s",
	    run->stopping == EXIT_TIMED_OUT ? "timed out" : "interrupted",
	    run_signals_seen() ? " (once more: at once)" : "");
	run->phase = "stopping";
	return delete_job(run, -1);
}

static int keep(struct run *run)
{
	int code = 0;

	for (int64_t end = mpijob__base_clock_monotonic_ms() + CLEAN_MS;
	     code == 0 && mpijob__base_clock_monotonic_ms() < end && run_must_stop(run) == 0;)
		code = run_turn(run);
	const char *pod = run_result(run)->running_pod;
	if (!pod) {
		progress_say(&run->progress, "no pod runs any more, so nothing is kept; "
					     "spec.runPolicy.cleanPodPolicy: None keeps workers");
		return code;
	}
	progress_say(&run->progress,
	    "kept; look inside with: mpijob exec %s -- COMMAND; Ctrl-C ends it", pod);
	while (code == 0 && run_must_stop(run) == 0)
		code = run_turn(run);
	return code;
}

static int live(struct run *run)
{
	int code = create_objects(run);

	if (code == 0)
		code = create_job(run);
	if (code == 0)
		code = run_follow(run);
	if (code == 0)
		code = run_until_over(run);
	const struct mpijob_run_result *result = run_result(run);
	if (result->given_up && (!result->explained || result->exit_code == 127))
		progress_say(&run->progress,
		    "image %s is not used: what the job needs of it has to be on this machine",
		    image_of(run, WORKER_IMAGE));
	if (code == 0 && run->stopping)
		code = stop(run);
	else if (code == 0 && run->arguments->keep)
		code = keep(run);
	else if (code == 0 && result->given_up)
		code = delete_job(run, SHORT_GRACE_MS);
	return code;
}

static int step(struct run *run, int timeout_ms)
{
	return mpijob_operator_step(run->stepped, timeout_ms);
}

static void close_cluster(struct run *run)
{
	mpijob_operator_free(run->stepped);
	mpijob_client_free(run->client);
}

int run_local(struct run *run)
{
	int64_t closing_ms;

	announce(run);
	findings_print(run->diag, stderr);
	mpijob_diag_clear(run->diag);
	warn_unused(run);
	run_catch_signals();
	int code = start_cluster(run);
	run->step = step;
	if (code == 0)
		code = live(run);
	run_output_flush(run);
	run_unfollow(run);
	progress_hide(&run->progress);
	findings_print(run->diag, stderr);
	failure_print(run->diag, code);
	closing_ms = mpijob__base_clock_monotonic_ms();
	close_cluster(run);
	if (code == 0 && run->arguments->timings)
		run_print_timings(run, closing_ms);
	return code;
}
