/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes of any object: create, update, patch and apply.
 *
 * Only this file knows their methods and content types, and what server-side apply requires (a
 * field manager, force).
 */
#include "client/write.h"

#include "base/struct.h"

#include <stdlib.h>
#include <string.h>

#define MANAGER       "mpijob"
#define MANAGER_LIMIT 128

/* By MPIJOB_WRITE_*. JSON is YAML, and this is the only content type for apply that every server
 * accepts. */
static const struct {
	const char *method, *content_type;
} verbs[] = {
	{ "POST", "application/json" },
	{ "PUT", "application/json" },
	{ "PATCH", "application/merge-patch+json" },
	{ "PATCH", "application/json-patch+json" },
	{ "PATCH", "application/strategic-merge-patch+json" },
	{ "PATCH", "application/apply-patch+yaml" },
};

static int is_manager(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (name[i] < ' ' || name[i] > '~')
			return 0;
	return len > 0 && len <= MANAGER_LIMIT;
}

/* Join the caller's query and ours; `query` has room. 0, or MPIJOB_ERR_USAGE when both set the same
 * parameter. */
static int make_query(struct mpijob_target *target, const struct mpijob_write_options *options,
    const char **query)
{
	size_t count = target->query_count;

	for (size_t i = 0; i < count; i++) {
		query[i] = target->query[i];
		if (!query[i] || (i % 2 == 0 && ((options->field_manager &&
						     strcmp(query[i], "fieldManager") == 0) ||
						    (options->verb == MPIJOB_WRITE_APPLY &&
							strcmp(query[i], "force") == 0))))
			return MPIJOB_ERR_USAGE;
	}
	if (options->field_manager) {
		query[count++] = "fieldManager";
		query[count++] = options->field_manager;
	}
	if (options->force) {
		query[count++] = "force";
		query[count++] = "true";
	}
	target->query = query;
	target->query_count = count;
	return 0;
}

static int check(const struct mpijob_target *target, const struct mpijob_write_options *options,
    struct mpijob_target *named, struct mpijob_write_options *known)
{
	int rc = mpijob__base_struct_check(known, sizeof(*known), options), applies;

	if (rc == 0)
		rc = mpijob__base_struct_check(named, sizeof(*named), target);
	if (rc)
		return rc;
	applies = known->verb == MPIJOB_WRITE_APPLY;
	if (known->verb < 0 || known->verb > MPIJOB_WRITE_APPLY || (applies && !named->name) ||
	    (known->force && !applies) || !mpijob__base_struct_is_flag(known->force) ||
	    named->query_count % 2 || (named->query_count && !named->query) ||
	    (known->field_manager && !is_manager(known->field_manager)))
		return MPIJOB_ERR_USAGE;
	if (applies && !known->field_manager)
		known->field_manager = MANAGER;
	return 0;
}

int mpijob__client_task_request_write(mpijob_task *task, const struct mpijob_target *target,
    const mpijob_node *object, const struct mpijob_write_options *options, int reads,
    mpijob_diag *findings)
{
	struct mpijob_write_options known;
	struct mpijob_target named;
	const char **query;
	int rc = check(target, options, &named, &known);

	if (rc)
		return mpijob__client_task_request_failed(task, rc);
	query = calloc(named.query_count + 4, sizeof(*query));
	if (!query)
		return mpijob__client_task_request_failed(task, MPIJOB_ERR_NOMEM);
	rc = make_query(&named, &known, query);
	rc = rc ? mpijob__client_task_request_failed(task, rc)
		: mpijob__client_task_request_node(task, verbs[known.verb].method, &named,
		      verbs[known.verb].content_type, object, reads, findings);
	free(query);
	return rc;
}

int mpijob_client_write_start(mpijob_client *client, const struct mpijob_target *target,
    const mpijob_node *object, const struct mpijob_write_options *options,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag)
{
	mpijob_task *task = NULL;
	int rc = target && object
		     ? mpijob__client_task_new(sizeof(*task), client, callbacks, out, diag, &task)
		     : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	task->step = mpijob__client_task_return_document;
	return mpijob__client_task_started(task,
	    mpijob__client_task_request_write(task, target, object, options,
		MPIJOB__CLIENT_TASK_WANTED, diag));
}
