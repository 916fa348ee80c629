/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands suspend, resume and scale: each changes one field of existing jobs. Knows that a dry
 * run on the server needs the change as a separate patch, and which word reports the change.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/api.h"
#include "chosen.h"
#include "findings.h"
#include "print.h"
#include "stored.h"

struct change {
	struct connection connection;
	const struct arguments *arguments;
	const char *done; /* printed after the name */
	int (*make)(struct change *change, const struct chosen_job *job);
	/* the same, for a dry run on the server */
	int (*patch)(mpijob_doc *doc, const struct change *change);
	int suspend; /* suspend: 1, resume: 0 */
	size_t printed;
};

static int dry_run_on_server(struct change *change, const struct chosen_job *job, mpijob_doc **out)
{
	struct mpijob_write_options options = MPIJOB_WRITE_OPTIONS_INIT;
	const char *query[] = { "dryRun", "All" };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_doc *doc = mpijob_doc_new();

	chosen_target(&target, job);
	target.query = query;
	target.query_count = 2;
	options.verb = MPIJOB_WRITE_PATCH_MERGE;
	options.field_manager = "mpijob";
	int code = change->patch(doc, change);
	if (code == 0)
		code = mpijob_client_write(change->connection.client, &target, mpijob_doc_root(doc),
		    &options, out, change->connection.diag);
	mpijob_doc_free(doc);
	return code;
}

/* Read the stored object. A dry run does not change it. */
static int read_stored(struct change *change, const struct chosen_job *job, mpijob_doc **out)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	chosen_target(&target, job);
	return mpijob_client_get(change->connection.client, &target, out, change->connection.diag);
}

static int change_one(struct change *change, const struct chosen_job *job)
{
	mpijob_doc *stored = NULL;
	int dry_run = change->arguments->dry_run, code;

	if (dry_run == DRY_RUN_SERVER)
		code = dry_run_on_server(change, job, &stored);
	else
		code = dry_run == DRY_RUN_CLIENT ? 0 : change->make(change, job);
	/* The line needs only the name, but a job that does not exist must not be reported as
	 * changed. */
	if (code == 0 && !stored && (dry_run == DRY_RUN_CLIENT || change->arguments->output))
		code = read_stored(change, job, &stored);
	if (code == 0 && stored)
		code = stored_print(change->arguments, mpijob_doc_root(stored), change->done,
		    &change->printed);
	else if (code == 0)
		print_out(JOB_RESOURCE "/%s %s\n", job->name, change->done);
	fflush(stdout);
	mpijob_doc_free(stored);
	connection_report(&change->connection, code);
	/* The server's message does not name the job. */
	if (code == MPIJOB_ERR_REJECTED || code == MPIJOB_ERR_CONFLICT)
		print_to(stderr, "mpijob: " JOB_RESOURCE "/%s is not %s\n", job->name,
		    change->done);
	return connection_exit(&change->connection, code);
}

static int change_all(struct change *change)
{
	struct chosen chosen;
	int result = chosen_find(&change->connection, change->arguments, &chosen);

	if (result == 0 && chosen.count == 0)
		fputs("No resources found\n", stderr);
	for (size_t i = 0; i < chosen.count && !connection_signal(); i++) {
		int code = change_one(change, &chosen.jobs[i]);
		result = result ? result : code;
	}
	chosen_free(&chosen);
	return result;
}

static int run(struct change *change)
{
	if (stored_form(change->arguments) || chosen_check_some(change->arguments))
		return EXIT_USAGE;
	int code = connection_open(&change->connection, change->arguments);
	if (code == 0) {
		connection_catch_signals(&change->connection);
		code = change_all(change);
	}
	connection_close(&change->connection);
	return code;
}

/* ---- suspend and resume ---- */

static int make_suspend(struct change *change, const struct chosen_job *job)
{
	return mpijob_client_suspend(change->connection.client, job->namespace_, job->name,
	    change->suspend, change->connection.diag);
}

static int patch_suspend(mpijob_doc *doc, const struct change *change)
{
	mpijob_node_put_bool(doc, mpijob_doc_make(doc, "spec.runPolicy"), "suspend",
	    change->suspend);
	return mpijob_doc_error(doc);
}

int suspend_command(const struct arguments *arguments)
{
	struct change change = { .arguments = arguments,
		.done = "suspended",
		.make = make_suspend,
		.patch = patch_suspend,
		.suspend = 1 };

	return run(&change);
}

int resume_command(const struct arguments *arguments)
{
	struct change change = { .arguments = arguments,
		.done = "resumed",
		.make = make_suspend,
		.patch = patch_suspend };

	return run(&change);
}

/* ---- scale ---- */

static int make_scale(struct change *change, const struct chosen_job *job)
{
	const struct given *current = &change->arguments->current_replicas;

	return mpijob_client_scale(change->connection.client, job->namespace_, job->name,
	    (int32_t)change->arguments->replicas.value, current->is ? (int32_t)current->value : -1,
	    change->connection.diag);
}

static int patch_scale(mpijob_doc *doc, const struct change *change)
{
	mpijob_node_put_int(doc, mpijob_doc_make(doc, "spec.mpiReplicaSpecs.Worker"), "replicas",
	    change->arguments->replicas.value);
	return mpijob_doc_error(doc);
}

int scale_command(const struct arguments *arguments)
{
	struct change change = { .arguments = arguments,
		.done = "scaled",
		.make = make_scale,
		.patch = patch_scale };

	if (!arguments->replicas.is) {
		fputs("mpijob: say how many workers: mpijob scale NAME --replicas=NUMBER\n",
		    stderr);
		return EXIT_USAGE;
	}
	return run(&change);
}
