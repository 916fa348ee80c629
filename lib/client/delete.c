/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletions.
 *
 * Only this file knows what a DeleteOptions contains. A server that gets one in the body ignores
 * the query. So the caller's query goes into the body, too; else a dry run would delete the object.
 */
#include "client/delete.h"

#include "base/struct.h"
#include "client/client.h"
#include "client/task.h"

#include <string.h>

static int put_text(mpijob_doc *doc, mpijob_node *root, const char *name, const char *value)
{
	mpijob_node_put_string(doc, root, name, value);
	return 0;
}

static int put_number(mpijob_doc *doc, mpijob_node *root, const char *name, const char *value)
{
	const mpijob_node *number = mpijob_node_put(doc, root, name,
	    mpijob_node_new_text(doc, MPIJOB_NODE_NUMBER, value, strlen(value)));
	int64_t whole;

	return mpijob_doc_error(doc) || mpijob_node_int(number, &whole) ? 0 : MPIJOB_ERR_USAGE;
}

static int put_truth(mpijob_doc *doc, mpijob_node *root, const char *name, const char *value)
{
	int is_true = strcmp(value, "true") == 0;

	mpijob_node_put_bool(doc, root, name, is_true);
	return is_true || strcmp(value, "false") == 0 ? 0 : MPIJOB_ERR_USAGE;
}

static int put_list(mpijob_doc *doc, mpijob_node *root, const char *name, const char *value)
{
	mpijob_node_append_string(doc, mpijob_node_put_list(doc, root, name), value);
	return 0;
}

/* The parameters of a query that belong into a DeleteOptions. */
static const struct {
	const char *name;
	int (*put)(mpijob_doc *doc, mpijob_node *root, const char *name, const char *value);
} parameters[] = {
	{ "dryRun", put_list },
	{ "gracePeriodSeconds", put_number },
	{ "ignoreStoreReadErrorWithClusterBreakingPotential", put_truth },
	{ "orphanDependents", put_truth },
	{ "propagationPolicy", put_text },
};

/* Options that are set in both places may contradict each other, and are rejected. */
static int put_parameter(mpijob_doc *doc, mpijob_node *root, const char *name, const char *value)
{
	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++) {
		if (strcmp(parameters[i].name, name) != 0)
			continue;
		if (mpijob_node_get(root, name))
			return MPIJOB_ERR_USAGE;
		return parameters[i].put(doc, root, name, value);
	}
	return 0;
}

static int put_query(mpijob_doc *doc, mpijob_node *root, const struct mpijob_target *target)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && target->query && i + 1 < target->query_count; i += 2)
		if (target->query[i] && target->query[i + 1])
			rc = put_parameter(doc, root, target->query[i], target->query[i + 1]);
	return rc;
}

static void put_options(mpijob_doc *doc, mpijob_node *root,
    const struct mpijob_delete_options *options)
{
	mpijob_node *preconditions;

	if (options->grace_seconds)
		mpijob_node_put_int(doc, root, "gracePeriodSeconds", *options->grace_seconds);
	mpijob_node_put_string(doc, root, "propagationPolicy", options->propagation);
	if (!options->uid && !options->resource_version)
		return;
	preconditions = mpijob_node_put_map(doc, root, "preconditions");
	mpijob_node_put_string(doc, preconditions, "uid", options->uid);
	mpijob_node_put_string(doc, preconditions, "resourceVersion", options->resource_version);
}

/* What `options` say, and the query of `target`. */
static int write_options(const struct mpijob_delete_options *options,
    const struct mpijob_target *target, mpijob_write_fn write, void *user)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, "");
	int rc;

	mpijob_node_put_string(doc, root, "kind", "DeleteOptions");
	mpijob_node_put_string(doc, root, "apiVersion", "v1");
	put_options(doc, root, options);
	rc = put_query(doc, root, target);
	if (rc == 0)
		rc = mpijob_doc_error(doc);
	if (rc == 0)
		rc = mpijob_node_write(root, MPIJOB_FORMAT_JSON_COMPACT, write, user);
	mpijob_doc_free(doc);
	return rc;
}

int mpijob_delete_options_write(const struct mpijob_delete_options *options, mpijob_write_fn write,
    void *user)
{
	static const struct mpijob_target none = MPIJOB_TARGET_INIT;
	struct mpijob_delete_options wanted;
	int rc =
	    write ? mpijob__base_struct_check(&wanted, sizeof(wanted), options) : MPIJOB_ERR_USAGE;

	return rc ? rc : write_options(&wanted, &none, write, user);
}

int mpijob__client_task_request_delete(mpijob_task *task, const struct mpijob_target *target,
    const struct mpijob_delete_options *options, mpijob_diag *findings)
{
	struct mpijob_delete_options wanted;
	struct mpijob_target named;
	mpijob_text body = { 0 };
	int rc = mpijob__base_struct_check(&named, sizeof(named), target);

	if (rc == 0)
		rc = mpijob__base_struct_check(&wanted, sizeof(wanted), options);
	if (rc == 0)
		rc = write_options(&wanted, &named, mpijob_text_write, &body);
	if (rc == 0)
		rc = mpijob__client_task_request(task, "DELETE", target, "application/json", &body,
		    0, findings);
	else
		rc = mpijob__client_task_request_failed(task, rc);
	mpijob__base_text_release(&body);
	return rc;
}

int mpijob_client_delete_start(mpijob_client *client, const struct mpijob_target *target,
    const struct mpijob_delete_options *options, const struct mpijob_task_callbacks *callbacks,
    mpijob_task **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = target
		     ? mpijob__client_task_new(sizeof(*task), client, callbacks, out, diag, &task)
		     : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	task->step = mpijob__client_task_return_document;
	return mpijob__client_task_started(task,
	    mpijob__client_task_request_delete(task, target, options, diag));
}
