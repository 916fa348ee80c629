/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command wait: knows kubectl's syntax of --for, and what each condition means for an MPIJob.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/api.h"
#include "base/clock.h"
#include "chosen.h"
#include "objects.h"
#include "findings.h"
#include "print.h"
#include "stored.h"

struct goal {
	char *type;        /* of the condition; "Finished", "Deleted" */
	const char *value; /* the status that it must have; "True" for the library's own wait */
};

struct wait {
	struct connection connection;
	const struct arguments *arguments;
	struct goal goal;
	int64_t end_ms; /* 0: no limit */
	size_t printed;
};

/* kubectl ignores letter case. */
static const char *spelled(const char *word)
{
	static const char *const types[] = { "Created", "Running", "Restarting", "Suspended",
		"Succeeded", "Failed", "Finished" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcasecmp(types[i], word) == 0)
			return types[i];
	return strcasecmp(word, "delete") == 0 || strcasecmp(word, "deleted") == 0 ? "Deleted"
										   : NULL;
}

static int complain(const char *text)
{
	print_to(stderr,
	    "mpijob: --for %s: use condition=TYPE, Created, Running, Suspended, Succeeded, Failed, "
	    "Finished or delete\n",
	    text);
	return EXIT_USAGE;
}

/* condition=TYPE, condition=TYPE=VALUE, TYPE, delete. */
static int goal_read(const char *text, struct goal *goal)
{
	static const char *const values[] = { "True", "False", "Unknown" };
	const char *word = strncmp(text, "condition=", 10) == 0 ? text + 10 : text;
	const char *equals = word == text ? NULL : strchr(word, '=');

	goal->value = "True";
	for (size_t i = 0; equals && i < 3; i++)
		if (strcasecmp(equals + 1, values[i]) == 0)
			goal->value = values[i];
	if (equals && strcasecmp(equals + 1, goal->value) != 0)
		return complain(text);
	goal->type = equals ? strndup(word, (size_t)(equals - word)) : strdup(word);
	const char *known = goal->type ? spelled(goal->type) : NULL;
	/* condition=TYPE accepts any type, for other operators; TYPE alone must be known. */
	if (!known && goal->type && (word == text || !*goal->type))
		return complain(text);
	if (known) {
		free(goal->type);
		goal->type = strdup(known);
	}
	if (!goal->type)
		failure_print(NULL, MPIJOB_ERR_NOMEM);
	return goal->type ? 0 : EXIT_FINDINGS;
}

static int64_t left_ms(const struct wait *wait)
{
	int64_t left = wait->end_ms - mpijob__base_clock_monotonic_ms();

	if (wait->end_ms == 0)
		return -1;
	return left > 0 ? left : 0;
}

/* Whether a condition has a status. Letter case of the type does not matter, as for `kubectl wait`.
 */
static int condition_is(const mpijob_node *object, const char *type, const char *status)
{
	const mpijob_node *conditions = mpijob_node_find(object, "status.conditions");

	for (size_t i = 0; i < mpijob_node_count(conditions); i++) {
		const mpijob_node *condition = mpijob_node_at(conditions, i);

		if (strcasecmp(text_at(condition, "type"), type) == 0)
			return strcmp(text_at(condition, "status"), status) == 0;
	}
	return 0;
}

/* A mpijob_wait_fn for another status than True. */
static int has_value(void *user, const mpijob_node *object)
{
	const struct goal *goal = user;

	return object ? condition_is(object, goal->type, goal->value) : MPIJOB_ERR_NOT_FOUND;
}

static int wait_for(struct wait *wait, const struct chosen_job *job, mpijob_doc **out)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob *stored = NULL;

	if (strcmp(wait->goal.value, "True") == 0) {
		int code = mpijob_client_wait_job(wait->connection.client, job->namespace_,
		    job->name, wait->goal.type, left_ms(wait), &stored, wait->connection.diag);
		*out = stored ? mpijob_doc_from_node(mpijob_doc_root(mpijob_document(stored)), NULL)
			      : NULL;
		mpijob_free(stored);
		return code;
	}
	target.api_version = MPIJOB__BASE_API_VERSION;
	target.kind = MPIJOB__BASE_API_KIND;
	target.namespace_ = job->namespace_;
	target.name = job->name;
	return mpijob_client_wait(wait->connection.client, &target, left_ms(wait), has_value,
	    &wait->goal, out, wait->connection.diag);
}

static int wait_one(struct wait *wait, const struct chosen_job *job)
{
	mpijob_doc *stored = NULL;
	int code = wait_for(wait, job, &stored);

	if (code == 0 && stored)
		code = stored_print(wait->arguments, mpijob_doc_root(stored), "condition met",
		    &wait->printed);
	else if (code == 0)
		print_out(JOB_RESOURCE "/%s%s\n", job->name,
		    wait->arguments->output ? "" : " condition met");
	mpijob_doc_free(stored);
	if (code == MPIJOB_ERR_TIMEOUT) {
		mpijob_diag_clear(wait->connection.diag);
		print_to(stderr, "mpijob: timed out waiting for %s of " JOB_RESOURCE "/%s\n",
		    wait->goal.type, job->name);
		return EXIT_TIMED_OUT;
	}
	if (code == MPIJOB_ERR_NOT_FOUND && mpijob_diag_count(wait->connection.diag, 0) == 0)
		findings_add(wait->connection.diag, code, NULL, "server-not-found",
		    "there is no MPIJob '%s' in namespace '%s' (any more)", job->name,
		    job->namespace_);
	connection_report(&wait->connection, code);
	/* The findings do not name the job. */
	if (code == MPIJOB_ERR_SPEC || code == MPIJOB_ERR_NOT_FOUND)
		print_to(stderr, "mpijob: waiting for %s of " JOB_RESOURCE "/%s is over\n",
		    wait->goal.type, job->name);
	return connection_exit(&wait->connection, code);
}

static int wait_all(struct wait *wait)
{
	struct chosen chosen;
	int result = chosen_find(&wait->connection, wait->arguments, &chosen);

	if (result == 0 && chosen.count == 0 && strcmp(wait->goal.type, "Deleted") != 0) {
		fputs("mpijob: no such jobs to wait for\n", stderr);
		result = EXIT_FINDINGS;
	}
	for (size_t i = 0; i < chosen.count && !connection_signal(); i++) {
		int code = wait_one(wait, &chosen.jobs[i]);
		result = result && result != EXIT_TIMED_OUT ? result : code ? code : result;
	}
	chosen_free(&chosen);
	return result;
}

int wait_command(const struct arguments *arguments)
{
	struct wait wait = { .arguments = arguments };
	int code = stored_form(arguments);

	if (code == 0)
		code = goal_read(arguments->for_ ? arguments->for_ : "Finished", &wait.goal);
	if (code) {
		free(wait.goal.type);
		return code;
	}
	if (arguments->limit_ms.is && arguments->limit_ms.value >= 0)
		wait.end_ms = mpijob__base_clock_monotonic_ms() + arguments->limit_ms.value;
	code = connection_open(&wait.connection, arguments);
	if (code == 0) {
		connection_catch_signals(&wait.connection);
		code = wait_all(&wait);
	}
	connection_close(&wait.connection);
	free(wait.goal.type);
	return code;
}
