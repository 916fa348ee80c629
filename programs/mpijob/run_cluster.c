/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run on a cluster: send what the files need, then the job, and follow it; an operator there does
 * the work. After a signal, or when the job cannot be watched any more, the job continues, and the
 * user learns how to follow it again; only --rm deletes it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "connect.h"
#include "findings.h"
#include "print.h"
#include "run.h"
#include "sending.h"

static struct connection *connection_of(const struct run *run)
{
	return run->stepped;
}

/* As a shell reads it. */
static void put_quoted(const char *word)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=,";

	if (*word && word[strspn(word, plain)] == 0) {
		print_to(stderr, "%s", word);
		return;
	}
	fputc('\'', stderr);
	while (*word) {
		size_t len = strcspn(word, "'");
		print_to(stderr, "%.*s%s", (int)len, word, word[len] ? "'\\''" : "");
		word += len + (word[len] != '\0');
	}
	fputc('\'', stderr);
}

static void put_option(const char *name, const char *value)
{
	if (!value)
		return;
	print_to(stderr, " --%s ", name);
	put_quoted(value);
}

/* The words that reach this cluster again, in the same name. */
static void put_cluster(const struct run *run)
{
	const struct connection_words *words = &run->arguments->connection;

	print_to(stderr, " -n %s", run->namespace_);
	put_option("kubeconfig", words->kubeconfig);
	put_option("context", words->context);
	put_option("cluster", words->cluster);
	put_option("user", words->user);
	put_option("server", words->server);
	put_option("tls-server-name", words->tls_server_name);
	put_option("certificate-authority", words->certificate_authority);
	put_option("client-certificate", words->client_certificate);
	put_option("client-key", words->client_key);
	put_option("as", words->as);
	put_option("as-uid", words->as_uid);
	for (size_t i = 0; i < words->as_groups.count; i++)
		put_option("as-group", words->as_groups.items[i]);
	if (words->insecure)
		fputs(" --insecure-skip-tls-verify", stderr);
	if (words->token)
		fputs(" --token \"$TOKEN\"", stderr); /* it is nobody's business */
	fputc('\n', stderr);
}

static void put_command(const struct run *run, const char *command)
{
	print_to(stderr, "  %s %s %s", run->arguments->kubectl ? "kubectl mpijob" : "mpijob",
	    command, run->name ? run->name : "");
	put_cluster(run);
}

static void say_detached(struct run *run, const char *why)
{
	progress_say(&run->progress, "%s; %s/%s goes on. To see more of it:", why, run->namespace_,
	    run->name);
	put_command(run, "logs -f");
	fputs("To end it:\n", stderr);
	put_command(run, "delete");
}

static void say_taken(struct run *run)
{
	progress_say(&run->progress, "to follow the job that is there:");
	put_command(run, "logs -f");
	fputs("To make room for this one:\n", stderr);
	put_command(run, "delete");
}

static void say_uncertain(struct run *run)
{
	progress_say(&run->progress, "interrupted; to see whether the job is there already:");
	put_command(run, "get");
}

/* ---- sending ---- */

static int send_needed(struct run *run)
{
	struct connection *connection = connection_of(run);
	struct mpijob_submit_options options;
	int code = 0;

	sending_options(run->arguments, connection->namespace_, &options);
	for (size_t i = 0; i < run->input.count && code >= 0; i++)
		if (!mpijob_is_job(run->input.objects[i].node))
			code = mpijob_run_create(connection->client, run->input.objects[i].node,
			    &options, NULL, connection->diag);
	return code < 0 ? code : 0;
}

static int submit(struct run *run)
{
	struct connection *connection = connection_of(run);
	struct mpijob_submit_options options;
	mpijob *job = NULL, *stored = NULL;

	sending_options(run->arguments, connection->namespace_, &options);
	int code = mpijob_from_node(run->object->node, run->object->source, &job, connection->diag);
	if (code == 0)
		code = mpijob_client_submit(connection->client, job, &options, &stored,
		    connection->diag);
	if (code == 0) {
		run->uid = mpijob_uid(stored) ? strdup(mpijob_uid(stored)) : NULL;
		if (!run->name && mpijob_name(stored))
			run->progress.name = run->name = strdup(mpijob_name(stored));
		code = run->name && run->uid ? 0 : MPIJOB_ERR_NOMEM;
	}
	mpijob_free(job);
	mpijob_free(stored);
	if (code == 0)
		run->created_ms = mpijob__base_clock_monotonic_ms();
	return code;
}

/* ---- the end ---- */

static int delete_job(struct run *run)
{
	struct connection *connection = connection_of(run);

	int code = mpijob_client_delete_job(connection->client, run->namespace_, run->name,
	    run->uid, NULL, connection->diag);
	if (code == 0)
		progress_say(&run->progress, "%s/%s deleted", run->namespace_, run->name);
	return code == MPIJOB_ERR_NOT_FOUND ? 0 : code;
}

static int step(struct run *run, int timeout_ms)
{
	return mpijob_client_poll(run->client, timeout_ms);
}

/* Follow it to its end, or until it is time to stop. */
static int follow(struct run *run)
{
	int code = run_follow(run);

	if (code == 0)
		code = run_until_over(run);
	run->stopped_at = run_signals_seen();
	run_output_flush(run);
	progress_hide(&run->progress);
	return code;
}

static int live(struct run *run)
{
	run_interrupts(run->client);
	int code = send_needed(run);
	if (code == 0)
		code = submit(run);
	run_interrupts(NULL);
	if (code)
		return code;
	progress_say(&run->progress, "%s/%s is submitted to %s", run->namespace_, run->name,
	    connection_of(run)->server);
	if (run->arguments->detach) {
		say_detached(run, "detached");
		return 0;
	}
	code = follow(run);
	if (run->arguments->rm) {
		int deleted = delete_job(run);
		return code ? code : deleted;
	}
	return code;
}

/* What helps after the failure was printed. */
static void advise(struct run *run, int code)
{
	const char *why = "the job cannot be watched any more";

	if (run->stopping)
		why = run->stopping == EXIT_TIMED_OUT ? "timed out" : "interrupted";
	if (!run->created_ms && code == MPIJOB_ERR_CANCELLED)
		say_uncertain(run);
	else if (!run->created_ms && code == MPIJOB_ERR_CONFLICT && !run->arguments->server_side)
		say_taken(run);
	else if (run->created_ms && !run->arguments->detach && !run->arguments->rm &&
		 (code || (run->stopping && !run_has_ended(run))))
		say_detached(run, why);
}

static void before_print(void *user)
{
	struct run *run = user;

	progress_hide(&run->progress);
}

/* Signals before the job is there leave nothing to come back to. */
static int exit_of(const struct run *run, int code)
{
	if (code == MPIJOB_ERR_CANCELLED && run_must_stop(run))
		return run_must_stop(run);
	if (code == 0 && run->arguments->detach)
		return 0;
	if (code == 0 && run->arguments->warnings_as_errors && connection_of(run)->warnings &&
	    run_result(run)->outcome == MPIJOB_RUN_SUCCEEDED)
		return EXIT_FINDINGS;
	return run_exit_code(run, code);
}

int run_cluster(struct run *run)
{
	struct arguments arguments = *run->arguments;
	struct connection connection = { .before_print = before_print, .before_print_user = run };

	run->arguments = &arguments;
	run->stepped = &connection;
	run->step = step;
	int result = connection_open(&connection, &arguments);
	if (result == 0) {
		arguments.namespace_ = connection.namespace_;
		int code = run_load_job(run);
		findings_print(run->diag, stderr);
		failure_print(run->diag, code);
		run->client = connection.client;
		if (code == 0) {
			run_catch_signals();
			code = live(run);
			connection_report(&connection, code);
			advise(run, code);
		}
		result = exit_of(run, code);
		if (code == 0 && arguments.timings && run_has_ended(run))
			run_print_timings(run, mpijob__base_clock_monotonic_ms());
	} else if (result != EXIT_USAGE) {
		result = EXIT_OWN_FAILURE;
	}
	run_unfollow(run);
	connection_close(&connection);
	return result;
}
