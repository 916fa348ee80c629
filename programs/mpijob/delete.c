/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command delete: deletes all jobs, then waits for each. Knows that a job of the same name that
 * is created meanwhile is another job, which it neither deletes nor waits for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/api.h"
#include "base/clock.h"
#include "chosen.h"
#include "findings.h"
#include "print.h"
#include "stored.h"

struct deletion {
	struct connection connection;
	const struct arguments *arguments;
	struct chosen chosen;
	int64_t end_ms; /* 0: no limit */
};

static const char *propagation(const struct arguments *arguments)
{
	static const char *const names[] = { "Background", "Background", "Foreground", "Orphan" };

	return names[arguments->cascade];
}

static void print_deleted(const struct deletion *deletion, const struct chosen_job *job)
{
	if (deletion->arguments->output)
		print_out(JOB_RESOURCE "/%s\n", job->name);
	else
		print_out(JOB_RESOURCE " \"%s\" deleted from %s namespace%s\n", job->name,
		    job->namespace_, stored_suffix(deletion->arguments));
	fflush(stdout);
}

/* Read the UID of the job: the wait ends when the object with this UID is deleted. */
static int find_uid(struct deletion *deletion, struct chosen_job *job)
{
	mpijob *stored = NULL;

	if (job->uid)
		return 0;
	int code = mpijob_client_get_job(deletion->connection.client, job->namespace_, job->name,
	    &stored, deletion->connection.diag);
	if (code == 0 && mpijob_uid(stored)) {
		job->uid = strdup(mpijob_uid(stored));
		code = job->uid ? 0 : MPIJOB_ERR_NOMEM;
	}
	mpijob_free(stored);
	if (code != MPIJOB_ERR_AUTH)
		return code;
	/* A user who may delete jobs but not read them does not wait. */
	mpijob_diag_clear(deletion->connection.diag);
	return 0;
}

static int send(struct deletion *deletion, const struct chosen_job *job)
{
	struct mpijob_delete_options options = MPIJOB_DELETE_OPTIONS_INIT;
	const char *query[] = { "dryRun", "All" };
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	if (deletion->arguments->dry_run == DRY_RUN_CLIENT)
		return 0;
	if (deletion->arguments->dry_run != DRY_RUN_SERVER)
		return mpijob_client_delete_job(deletion->connection.client, job->namespace_,
		    job->name, job->uid, propagation(deletion->arguments),
		    deletion->connection.diag);
	chosen_target(&target, job);
	target.query = query;
	target.query_count = 2;
	options.uid = job->uid;
	options.propagation = propagation(deletion->arguments);
	return mpijob_client_delete(deletion->connection.client, &target, &options,
	    deletion->connection.diag);
}

static int is_deleted(void *user, const mpijob_node *object)
{
	const struct chosen_job *job = user;
	const char *uid = mpijob_node_string(mpijob_node_find(object, "metadata.uid"));

	return !object || (uid && job->uid && strcmp(uid, job->uid) != 0);
}

static int wait_for(struct deletion *deletion, struct chosen_job *job)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	int64_t left = -1;

	if (deletion->end_ms) {
		left = deletion->end_ms - mpijob__base_clock_monotonic_ms();
		left = left > 0 ? left : 0;
	}
	chosen_target(&target, job);
	int code = mpijob_client_wait(deletion->connection.client, &target, left, is_deleted, job,
	    NULL, deletion->connection.diag);
	if (code == MPIJOB_ERR_AUTH) {
		mpijob_diag_clear(deletion->connection.diag);
		return 0;
	}
	if (code != MPIJOB_ERR_TIMEOUT)
		return connection_exit(&deletion->connection,
		    connection_report(&deletion->connection, code));
	mpijob_diag_clear(deletion->connection.diag);
	print_to(stderr,
	    "mpijob: timed out waiting until " JOB_RESOURCE
	    "/%s is deleted; a finalizer may prevent it\n",
	    job->name);
	return EXIT_TIMED_OUT;
}

static int delete_one(struct deletion *deletion, struct chosen_job *job, int waits)
{
	/* Only the wait needs the UID. A dry run must not report a job as deleted that does not
	 * exist. */
	int code =
	    waits || deletion->arguments->dry_run == DRY_RUN_CLIENT ? find_uid(deletion, job) : 0;

	if (code == 0)
		code = send(deletion, job);
	if (code == MPIJOB_ERR_NOT_FOUND &&
	    (deletion->arguments->ignore_not_found || !deletion->chosen.by_name)) {
		mpijob_diag_clear(deletion->connection.diag);
		return 0;
	}
	if (code == 0) {
		print_deleted(deletion, job);
	} else {
		free(job->uid); /* do not wait for it */
		job->uid = NULL;
	}
	return connection_exit(&deletion->connection,
	    connection_report(&deletion->connection, code));
}

static int delete_all(struct deletion *deletion)
{
	int real =
	    deletion->arguments->dry_run == 0 || deletion->arguments->dry_run == DRY_RUN_NONE;
	int waits = deletion->arguments->wait >= 0 && real;
	int result = chosen_find(&deletion->connection, deletion->arguments, &deletion->chosen);
	struct chosen *chosen = &deletion->chosen;

	if (result == 0 && chosen->count == 0)
		fputs("No resources found\n", stderr);
	for (size_t i = 0; i < chosen->count && !connection_signal(); i++) {
		int code = delete_one(deletion, &chosen->jobs[i], waits);
		result = result ? result : code;
	}
	for (size_t i = 0; i < chosen->count && waits && !connection_signal(); i++) {
		int code = chosen->jobs[i].uid ? wait_for(deletion, &chosen->jobs[i]) : 0;
		result = result ? result : code;
	}
	return result;
}

int delete_command(const struct arguments *arguments)
{
	struct deletion deletion = { .arguments = arguments };

	if (arguments->output && strcmp(arguments->output, "name") != 0) {
		print_to(stderr, "mpijob: -o %s: unknown format; use name\n", arguments->output);
		return EXIT_USAGE;
	}
	if (chosen_check_some(arguments))
		return EXIT_USAGE;
	if (arguments->limit_ms.is && arguments->limit_ms.value > 0)
		deletion.end_ms = mpijob__base_clock_monotonic_ms() + arguments->limit_ms.value;
	int code = connection_open(&deletion.connection, arguments);
	if (code == 0) {
		connection_catch_signals(&deletion.connection);
		code = delete_all(&deletion);
	}
	chosen_free(&deletion.chosen);
	connection_close(&deletion.connection);
	return code;
}
