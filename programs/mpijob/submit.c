/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command submit: checks the files, creates what the jobs need, creates the jobs, and with
 * --wait waits until they have ended. The server decides about fields: a field that is unknown here
 * is reported only if the server rejects the job, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/api.h"
#include "base/clock.h"
#include "chosen.h"
#include "objects.h"
#include "findings.h"
#include "print.h"
#include "sending.h"
#include "stored.h"

#define LAST_EVENT_MS 1000

struct submit {
	struct connection connection;
	const struct arguments *arguments;
	struct input input;
	mpijob_diag *checked; /* findings of the check */
	size_t printed;
	struct chosen submitted; /* for --wait */
	int64_t begun_ms;
};

/* A job that --wait waits for. */
struct waited {
	const struct chosen_job *job;
	mpijob_watch *watch; /* of its launcher's pods */
	int exit_code;       /* of the last attempt that failed; 0 while none has */
	char when[40];       /* when that ended */
};

/* ---- the check, without a server ---- */

/* Whether only the server can decide: it may be newer. */
static int is_for_the_server(const struct mpijob_finding *finding)
{
	return finding->severity != MPIJOB_SEVERITY_ERROR &&
	       (strcmp(finding->id, "unknown-field") == 0 ||
		   strcmp(finding->id, "pruned-field") == 0);
}

static void print_checked(const struct submit *submit, int for_the_server)
{
	for (size_t i = 0; mpijob_diag_at(submit->checked, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(submit->checked, i);
		if (is_for_the_server(finding) == for_the_server)
			finding_print(finding, stderr);
	}
}

/* A job with generateName gets a placeholder as name, for the check. */
static int give_name(mpijob *job)
{
	const char *begin = text_at(mpijob_doc_root(mpijob_document(job)), "metadata.generateName");
	char *name = NULL;

	if (mpijob_name(job) || !*begin)
		return 0;
	if (asprintf(&name, "%sxxxxx", begin) < 0)
		return MPIJOB_ERR_NOMEM;
	int code = mpijob_identify(job, name, NULL, NULL);
	free(name);
	return code;
}

static int check_job(struct submit *submit, const struct input_object *object)
{
	struct mpijob_validate_options options = MPIJOB_VALIDATE_OPTIONS_INIT;
	mpijob *job = NULL;
	int code = input_job(object, submit->arguments, &job, submit->checked);

	if (code == 0)
		code = give_name(job);
	if (code == 0)
		code = mpijob_validate(job, &options, submit->checked);
	mpijob_free(job);
	return code;
}

static int check_object(struct submit *submit, const struct input_object *object)
{
	const char *has = text_at(object->node, "metadata.namespace");
	const char *wanted = submit->arguments->namespace_;
	int32_t line;

	mpijob_node_place(object->node, &line, NULL);
	if (!*text_at(object->node, "apiVersion") || !*text_at(object->node, "kind"))
		return findings_add(submit->checked, MPIJOB_ERR_SPEC, object->source,
		    "no-api-version",
		    "line %d: this is not a Kubernetes object: apiVersion or kind is missing",
		    line);
	if (!*text_at(object->node, "metadata.name") &&
	    !*text_at(object->node, "metadata.generateName"))
		return findings_add(submit->checked, MPIJOB_ERR_SPEC, object->source, "no-name",
		    "line %d: %s has no metadata.name", line, text_at(object->node, "kind"));
	if (!*text_at(object->node, "metadata.name") && submit->arguments->server_side)
		return findings_add(submit->checked, MPIJOB_ERR_SPEC, object->source, "no-name",
		    "%s has metadata.generateName, which works without --server-side only",
		    text_at(object->node, "kind"));
	if (wanted && *has && sending_has_namespace(object) && strcmp(has, wanted) != 0)
		return findings_add(submit->checked, MPIJOB_ERR_SPEC, object->source,
		    "other-namespace",
		    "%s '%s' is of namespace '%s', not of '%s' as --namespace says",
		    text_at(object->node, "kind"), text_at(object->node, "metadata.name"), has,
		    wanted);
	return 0;
}

static int check(struct submit *submit)
{
	int result = input_read(&submit->arguments->operands, &submit->input, submit->checked);
	int ignores = strcmp(sending_validation(submit->arguments), "Ignore") == 0;

	for (size_t i = 0; i < submit->input.count; i++) {
		const struct input_object *object = &submit->input.objects[i];
		int code = check_object(submit, object);
		if (code == 0 && mpijob_is_job(object->node) && !ignores)
			code = check_job(submit, object);
		result = result ? result : code;
	}
	if (result == 0 && submit->input.count == 0)
		result = findings_add(submit->checked, MPIJOB_ERR_NOT_FOUND,
		    submit->arguments->operands.items[0], "no-job", "nothing in here");
	print_checked(submit, 0);
	failure_print(submit->checked, result);
	return result;
}

/* ---- sending ---- */

static int remember(struct submit *submit, const mpijob *job)
{
	struct chosen *all = &submit->submitted;
	struct chosen_job *jobs = realloc(all->jobs, (all->count + 1) * sizeof(*jobs));

	if (!jobs)
		return MPIJOB_ERR_NOMEM;
	all->jobs = jobs;
	jobs[all->count++] =
	    (struct chosen_job){ strdup(mpijob_namespace(job)), strdup(mpijob_name(job)), NULL };
	return jobs[all->count - 1].namespace_ && jobs[all->count - 1].name ? 0 : MPIJOB_ERR_NOMEM;
}

static const char *done_word(const struct submit *submit)
{
	return submit->arguments->server_side ? "serverside-applied" : "created";
}

static int print_unsent(struct submit *submit, mpijob *job)
{
	int code = mpijob_namespace(job)
		       ? 0
		       : mpijob_identify(job, NULL, submit->connection.namespace_, NULL);

	if (code)
		return code;
	return stored_print(submit->arguments, mpijob_doc_root(mpijob_document(job)),
	    done_word(submit), &submit->printed);
}

static int send_job(struct submit *submit, const struct input_object *object)
{
	struct mpijob_submit_options options;
	mpijob *job = NULL, *stored = NULL;
	int code = mpijob_from_node(object->node, object->source, &job, submit->connection.diag);

	sending_options(submit->arguments, submit->connection.namespace_, &options);
	if (code == 0 && submit->arguments->dry_run == DRY_RUN_CLIENT)
		code = print_unsent(submit, job);
	else if (code == 0)
		code = mpijob_client_submit(submit->connection.client, job, &options, &stored,
		    submit->connection.diag);
	if (code == 0 && stored)
		code = stored_print(submit->arguments, mpijob_doc_root(mpijob_document(stored)),
		    done_word(submit), &submit->printed);
	if (code == 0 && stored)
		code = remember(submit, stored);
	mpijob_free(stored);
	mpijob_free(job);
	if (code == MPIJOB_ERR_REJECTED)
		print_checked(submit, 1);
	return code;
}

/* An object with the namespace that it is sent to. */
static int print_unsent_object(struct submit *submit, const struct input_object *object)
{
	mpijob_doc *doc = mpijob_doc_from_node(object->node, NULL);

	if (sending_has_namespace(object) && !*text_at(object->node, "metadata.namespace"))
		mpijob_node_put_string(doc, mpijob_doc_make(doc, "metadata"), "namespace",
		    submit->connection.namespace_);
	int code = mpijob_doc_error(doc);
	if (code == 0)
		code = stored_print(submit->arguments, mpijob_doc_root(doc), done_word(submit),
		    &submit->printed);
	mpijob_doc_free(doc);
	return code;
}

static int send_object(struct submit *submit, const struct input_object *object)
{
	struct mpijob_submit_options options;
	mpijob_doc *stored = NULL;

	if (submit->arguments->dry_run == DRY_RUN_CLIENT)
		return print_unsent_object(submit, object);
	sending_options(submit->arguments, submit->connection.namespace_, &options);
	int code = mpijob_run_create(submit->connection.client, object->node, &options, &stored,
	    submit->connection.diag);
	if (code >= 0)
		code = stored_print(submit->arguments, mpijob_doc_root(stored),
		    code ? "unchanged" : done_word(submit), &submit->printed);
	mpijob_doc_free(stored);
	return code;
}

static void say_refused(const struct submit *submit, const struct input_object *object, int code)
{
	int exists = code == MPIJOB_ERR_CONFLICT && !submit->arguments->server_side &&
		     mpijob_is_job(object->node);

	fputs("mpijob: ", stderr);
	stored_print_name(object->node, stderr);
	print_to(stderr, " is not %s%s\n", submit->arguments->server_side ? "applied" : "created",
	    exists ? "; to submit it again delete it first, or change it with --server-side"
	    : code == MPIJOB_ERR_CONFLICT && submit->arguments->server_side
		? "; --force-conflicts takes the fields over"
		: "");
}

static int send_one(struct submit *submit, const struct input_object *object)
{
	int code =
	    mpijob_is_job(object->node) ? send_job(submit, object) : send_object(submit, object);

	connection_report(&submit->connection, code);
	if (code && code != MPIJOB_ERR_CANCELLED)
		say_refused(submit, object, code);
	return connection_exit(&submit->connection, code);
}

/* If an object that jobs need was rejected, no job is sent. */
static int send_all(struct submit *submit)
{
	int result = 0, needed_failed = 0;

	sending_sort(&submit->input);
	for (size_t i = 0; i < submit->input.count && !connection_signal(); i++) {
		const struct input_object *object = &submit->input.objects[i];
		int is_job = mpijob_is_job(object->node);
		if (is_job && needed_failed) {
			fputs("mpijob: ", stderr);
			stored_print_name(object->node, stderr);
			fputs(" is not sent, because of the above\n", stderr);
			continue;
		}
		int code = send_one(submit, object);
		needed_failed |= code && !is_job;
		result = result ? result : code;
	}
	return result;
}

/* ---- the end of the jobs ---- */

/* Keep the exit code of a launcher that ended, if it is the latest one that is not 0. */
static void take_exit(struct waited *waited, const mpijob_node *ended)
{
	const char *when = text_at(ended, "finishedAt");
	int64_t code = 0;

	if (!mpijob_node_int(mpijob_node_get(ended, "exitCode"), &code) || code <= 0 ||
	    code > 255 || strlen(when) >= sizeof(waited->when))
		return;
	if (strcmp(when, waited->when) >= 0) {
		strcpy(waited->when, when);
		waited->exit_code = (int)code;
	}
}

/* A launcher's pod may be deleted when the job has failed, so it is watched. */
static int on_pod(void *user, const struct mpijob_watch_event *event)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;

	options.format = MPIJOB_FORMAT_JSON;
	int code =
	    event->json ? mpijob_doc_parse(event->json, event->json_len, &options, &doc, NULL) : 0;
	const mpijob_node *pod = doc ? mpijob_doc_root(doc) : NULL;
	const mpijob_node *containers =
	    pod ? mpijob_node_find(pod, "status.containerStatuses") : NULL;
	/* the code is that of the deletion, not of the program */
	int deleting = pod && *text_at(pod, "metadata.deletionTimestamp");
	for (size_t i = 0; i < mpijob_node_count(containers); i++) {
		take_exit(user,
		    mpijob_node_find(mpijob_node_at(containers, i), "lastState.terminated"));
		if (!deleting)
			take_exit(user,
			    mpijob_node_find(mpijob_node_at(containers, i), "state.terminated"));
	}
	mpijob_doc_free(doc);
	return code == MPIJOB_ERR_NOMEM ? code : 0;
}

/* Watch the launchers. Without the right to read pods the exit code stays unknown. */
static int watch_launchers(struct submit *submit, struct waited *waited)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;
	char *selector = NULL;

	if (asprintf(&selector,
		MPIJOB__BASE_API_LABEL_JOB_NAME "=%s," MPIJOB__BASE_API_LABEL_JOB_ROLE "=launcher",
		waited->job->name) < 0)
		return MPIJOB_ERR_NOMEM;
	options.api_version = "v1";
	options.kind = "Pod";
	options.namespace_ = waited->job->namespace_;
	options.label_selector = selector;
	options.object = on_pod;
	options.user = waited;
	int code = mpijob_watch_new(submit->connection.client, &options, &waited->watch);
	free(selector);
	return code;
}

/* The event of the job's end may come before that of the pod's end. */
static int launcher_exit(struct submit *submit, const struct waited *waited)
{
	int64_t end = mpijob__base_clock_monotonic_ms() + LAST_EVENT_MS, now;

	while (!waited->exit_code && (now = mpijob__base_clock_monotonic_ms()) < end &&
	       !connection_signal())
		if (mpijob_client_poll(submit->connection.client, (int)(end - now)))
			break;
	return waited->exit_code ? waited->exit_code : EXIT_FINDINGS;
}

static int report_end(struct submit *submit, const struct waited *waited, const mpijob *ended)
{
	const mpijob_node *root = mpijob_doc_root(mpijob_document(ended));
	const mpijob_node *failed = mpijob_condition_find(root, "Failed", "True");

	if (!failed) {
		print_to(stderr, "mpijob: " JOB_RESOURCE "/%s succeeded\n", waited->job->name);
		return 0;
	}
	print_to(stderr, "mpijob: " JOB_RESOURCE "/%s failed: %s: %s\n", waited->job->name,
	    text_at(failed, "reason"), text_at(failed, "message"));
	print_to(stderr, "mpijob: what went wrong: mpijob describe -n %s %s\n",
	    waited->job->namespace_, waited->job->name);
	return launcher_exit(submit, waited);
}

static int64_t left_ms(const struct submit *submit)
{
	const struct given *limit = &submit->arguments->limit_ms;
	int64_t left = submit->begun_ms + limit->value - mpijob__base_clock_monotonic_ms();

	if (!limit->is || limit->value <= 0)
		return -1;
	return left > 0 ? left : 0;
}

static int wait_one(struct submit *submit, const struct waited *waited)
{
	struct connection *connection = &submit->connection;
	const struct chosen_job *job = waited->job;
	mpijob *ended = NULL;
	int code = mpijob_client_wait_job(connection->client, job->namespace_, job->name,
	    "Finished", left_ms(submit), &ended, connection->diag);
	int result = code == 0 ? report_end(submit, waited, ended) : EXIT_TIMED_OUT;

	if (code == MPIJOB_ERR_TIMEOUT || code == MPIJOB_ERR_CANCELLED)
		print_to(stderr,
		    "mpijob: %s" JOB_RESOURCE "/%s goes on; to wait again: mpijob wait -n %s %s\n",
		    code == MPIJOB_ERR_TIMEOUT ? "timed out; " : "", job->name, job->namespace_,
		    job->name);
	mpijob_free(ended);
	if (code && code != MPIJOB_ERR_TIMEOUT)
		return connection_exit(connection, connection_report(connection, code));
	mpijob_diag_clear(connection->diag);
	return result;
}

static int wait_all(struct submit *submit)
{
	size_t count = submit->submitted.count;
	struct waited *all = calloc(count + 1, sizeof(*all));
	int code = all ? 0 : MPIJOB_ERR_NOMEM, result = 0;

	for (size_t i = 0; i < count && code == 0; i++) {
		all[i].job = &submit->submitted.jobs[i];
		code = watch_launchers(submit, &all[i]);
	}
	for (size_t i = 0; i < count && code == 0 && (i == 0 || !connection_signal()); i++) {
		int ended = wait_one(submit, &all[i]);
		result = result ? result : ended;
	}
	for (size_t i = 0; all && i < count; i++)
		mpijob_watch_free(all[i].watch);
	free(all);
	return code ? connection_exit(&submit->connection,
			  connection_report(&submit->connection, code))
		    : result;
}

static int run(struct submit *submit)
{
	if (check(submit))
		return EXIT_FINDINGS;
	int code = connection_open(&submit->connection, submit->arguments);
	if (code)
		return code;
	connection_catch_signals(&submit->connection);
	int result = send_all(submit);
	if (submit->arguments->wait > 0 && !connection_signal()) {
		code = wait_all(submit);
		result = result ? result : code;
	}
	return result;
}

int submit_command(const struct arguments *arguments)
{
	struct submit submit = { .arguments = arguments,
		.begun_ms = mpijob__base_clock_monotonic_ms() };

	if (arguments->operands.count == 0) {
		fputs("mpijob: name a file, a directory, or - for standard input\n", stderr);
		return EXIT_USAGE;
	}
	if (arguments->force_conflicts && !arguments->server_side) {
		fputs("mpijob: --force-conflicts goes with --server-side\n", stderr);
		return EXIT_USAGE;
	}
	if (stored_form(arguments))
		return EXIT_USAGE;
	submit.checked = mpijob_diag_new();
	int code = EXIT_FINDINGS;
	if (submit.checked)
		code = run(&submit);
	else
		failure_print(NULL, MPIJOB_ERR_NOMEM);
	connection_close(&submit.connection);
	chosen_free(&submit.submitted);
	input_free(&submit.input);
	mpijob_diag_free(submit.checked);
	return code;
}
