/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dry run: plans of a shadow operator are recorded and not executed.
 *
 * Another operator executes its own plans, at its own pace. So an action is recorded only if it is
 * still planned when the job has not changed for a grace period; for a job that always changes,
 * after ten of them. It is recorded once while it stays planned. A Secret has no informer: it is
 * read by name before its creation is recorded, and ignored where that read is forbidden.
 */
#include "operator/shadow.h"

#include "base/clock.h"
#include "base/time.h"
#include "operator/cache_children.h"
#include "operator/operator.h"
#include "operator/request.h"

#include <stdlib.h>
#include <string.h>

#define MOST_GRACES  10
#define MOST_ENTRIES 10000

/* An action of a job's last plan. */
struct mpijob__operator_shadow_want {
	struct mpijob__base_table_link link;       /* first; by the job's uid and its own name */
	struct mpijob__operator_shadow_want *next; /* of the job */
	const struct mpijob__operator_job *job;
	int64_t first_ms;
	int32_t verb, role;
	int recorded; /* it is recorded */
	int planned;  /* by the current plan */
	char name[];
};

/* A line of the report. */
struct mpijob__operator_shadow_entry {
	struct mpijob__operator_shadow_entry *next;
	int64_t wall_ms;
	int32_t verb;
	const char *kind;                          /* a constant */
	const char *namespace_, *job, *name, *why; /* in `strings` */
	const char *difference;                    /* a constant, or NULL */
	char strings[];
};

/* ---- the report ---- */

static const char *place(char **at, const char *text)
{
	size_t len = strlen(text) + 1;
	char *to = *at;

	memcpy(to, text, len);
	*at += len;
	return to;
}

static struct mpijob__operator_shadow_entry *make_entry(const struct mpijob__operator_job *job,
    const struct mpijob_action *action)
{
	size_t len = strlen(job->namespace_) + strlen(job->name) + strlen(action->name) +
		     strlen(action->why) + 4;
	struct mpijob__operator_shadow_entry *entry = calloc(1, sizeof(*entry) + len);
	char *at;

	if (!entry)
		return NULL;
	at = entry->strings;
	entry->namespace_ = place(&at, job->namespace_);
	entry->job = place(&at, job->name);
	entry->name = place(&at, action->name);
	entry->why = place(&at, action->why);
	entry->kind = action->kind;
	entry->verb = action->verb;
	entry->wall_ms = mpijob_client_server_ms(job->operator_->client);
	return entry;
}

static void keep(mpijob_operator *operator_, struct mpijob__operator_shadow_entry *entry)
{
	struct mpijob__operator_shadow *shadow = &operator_->shadow;

	if (shadow->count == MOST_ENTRIES) {
		struct mpijob__operator_shadow_entry *first = shadow->first;

		shadow->first = first->next;
		shadow->count--;
		free(first);
	}
	if (shadow->first)
		shadow->last->next = entry;
	else
		shadow->first = entry;
	shadow->last = entry;
	shadow->count++;
}

/* 0 or MPIJOB_ERR_NOMEM; then it is recorded later. */
static int record(mpijob_operator *operator_, const struct mpijob__operator_job *job,
    const struct mpijob_action *action)
{
	struct mpijob__operator_shadow_entry *entry = make_entry(job, action);

	if (!entry)
		return MPIJOB_ERR_NOMEM;
	entry->difference = action->difference;
	keep(operator_, entry);
	operator_->metrics.shadow[action->verb][mpijob__operator_metrics_kind(action->kind)]++;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_INFO, "shadow-action",
	    "would %s %s %s/%s for MPIJob %s: %s%s%s", mpijob__operator_metrics_verb(action->verb),
	    action->kind, job->namespace_, action->name, job->name, action->why,
	    entry->difference ? "; difference: " : "", entry->difference ? entry->difference : "");
	return 0;
}

static void write_entry(mpijob_doc *doc, const struct mpijob__operator_shadow_entry *entry)
{
	mpijob_node *root = mpijob_doc_edit(doc, "");
	char time[MPIJOB__BASE_TIME_SIZE];

	mpijob__base_time_format(entry->wall_ms / 1000, time);
	mpijob_node_put_string(doc, root, "time", time);
	mpijob_node_put_string(doc, root, "namespace", entry->namespace_);
	mpijob_node_put_string(doc, root, "job", entry->job);
	mpijob_node_put_string(doc, root, "verb", mpijob__operator_metrics_verb(entry->verb));
	mpijob_node_put_string(doc, root, "kind", entry->kind);
	mpijob_node_put_string(doc, root, "name", entry->name);
	mpijob_node_put_string(doc, root, "why", entry->why);
	if (entry->difference)
		mpijob_node_put_string(doc, root, "difference", entry->difference);
	else
		mpijob_node_put(doc, root, "difference", mpijob_node_new(doc, MPIJOB_NODE_NULL));
}

int mpijob_operator_shadow_report(const mpijob_operator *operator_, mpijob_write_fn write,
    void *user)
{
	int rc = 0;

	if (!operator_ || !write)
		return MPIJOB_ERR_USAGE;
	for (const struct mpijob__operator_shadow_entry *entry = operator_->shadow.first;
	     entry && rc == 0; entry = entry->next) {
		mpijob_doc *doc = mpijob_doc_new();
		mpijob_text line = { 0 };

		write_entry(doc, entry);
		rc = mpijob_doc_error(doc);
		if (rc == 0)
			rc = mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT,
			    mpijob_text_write, &line);
		if (rc == 0)
			rc = mpijob__base_text_puts(&line, "\n");
		if (rc == 0)
			rc = write(user, mpijob_text_data(&line), line.len);
		mpijob__base_text_release(&line);
		mpijob_doc_free(doc);
	}
	return rc;
}

/* ---- planned actions ---- */

static struct mpijob__operator_shadow_want *find(const mpijob_operator *operator_,
    const struct mpijob__operator_job *job, const struct mpijob_action *action)
{
	const struct mpijob__base_table *table = &operator_->shadow.wants;
	uint64_t hash = mpijob__base_table_hash(table, job->uid, action->name);
	struct mpijob__base_table_link *link = NULL;

	while ((link = mpijob__base_table_next(table, hash, link))) {
		struct mpijob__operator_shadow_want *want =
		    (struct mpijob__operator_shadow_want *)(void *)link;

		if (want->job == job && want->verb == action->verb && want->role == action->role &&
		    strcmp(want->name, action->name) == 0)
			return want;
	}
	return NULL;
}

static struct mpijob__operator_shadow_want *add(mpijob_operator *operator_,
    struct mpijob__operator_job *job, const struct mpijob_action *action)
{
	struct mpijob__base_table *table = &operator_->shadow.wants;
	size_t len = strlen(action->name) + 1;
	struct mpijob__operator_shadow_want *want = calloc(1, sizeof(*want) + len);

	if (!want)
		return NULL;
	memcpy(want->name, action->name, len);
	if (mpijob__base_table_add(table, &want->link,
		mpijob__base_table_hash(table, job->uid, want->name))) {
		free(want);
		return NULL;
	}
	want->job = job;
	want->verb = action->verb;
	want->role = action->role;
	want->first_ms = operator_->now_ms;
	want->next = job->shadow.wants;
	job->shadow.wants = want;
	return want;
}

/* Drop the actions that the last plan does not have, or all. */
static void drop(mpijob_operator *operator_, struct mpijob__operator_job *job, int all)
{
	struct mpijob__operator_shadow_want **at = &job->shadow.wants;

	while (*at) {
		struct mpijob__operator_shadow_want *want = *at;

		if (want->planned && !all) {
			want->planned = 0;
			at = &want->next;
			continue;
		}
		*at = want->next;
		mpijob__base_table_remove(&operator_->shadow.wants, &want->link);
		free(want);
	}
}

static int64_t due_at_ms(const mpijob_operator *operator_, const struct mpijob__operator_job *job,
    const struct mpijob__operator_shadow_want *want)
{
	int64_t grace = operator_->shadow.grace_ms;
	int64_t quiet =
	    (job->cache.changed_ms > want->first_ms ? job->cache.changed_ms : want->first_ms) +
	    grace;
	int64_t last = want->first_ms + grace * MOST_GRACES;

	return quiet < last ? quiet : last;
}

/* ---- the Secret ---- */

static void secret_answered(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__operator_job *job = user;
	mpijob_operator *operator_ = job->operator_;
	int rc = 0;

	job->shadow.secret_call = NULL;
	if (answer->code == 0)
		rc = mpijob__operator_children_answer(operator_, job, answer->body,
		    answer->body_len);
	if (rc == MPIJOB_ERR_NOMEM)
		operator_->nomem = 1;
	if (rc == 0 && (answer->code == 0 || answer->code == MPIJOB_ERR_NOT_FOUND))
		job->fresh.read_ms[MPIJOB_ROLE_SECRET] = operator_->now_ms;
	else if (answer->code == MPIJOB_ERR_AUTH)
		job->shadow.secret_forbidden = 1;
	/* After any other failure the next plan reads it again. */
	if (answer->code == 0 || answer->code == MPIJOB_ERR_NOT_FOUND ||
	    answer->code == MPIJOB_ERR_AUTH)
		mpijob__operator_queue_add(&operator_->queue, &job->item);
	else
		mpijob__operator_queue_add_at(&operator_->queue, &job->item,
		    operator_->now_ms + operator_->shadow.grace_ms);
}

static int read_secret(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const struct mpijob_action *action)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, secret_answered, job };
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	if (job->shadow.secret_call)
		return 0;
	target.api_version = action->api_version;
	target.kind = action->kind;
	target.namespace_ = job->namespace_;
	target.name = action->name;
	return mpijob__operator_request_send(operator_->client, "GET", &target, NULL, &callbacks,
	    &job->shadow.secret_call);
}

/* ---- a plan ---- */

/* Record one action of a plan if it is due. 0; the time of the next check; or MPIJOB_ERR_NOMEM. */
static int64_t record_due(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const struct mpijob_action *action)
{
	int is_secret = action->role == MPIJOB_ROLE_SECRET;
	int unknown = is_secret && !job->fresh.read_ms[MPIJOB_ROLE_SECRET];
	struct mpijob__operator_shadow_want *want;
	int64_t due_ms;
	int rc;

	if (action->verb == MPIJOB_ACTION_EVENT || (is_secret && job->shadow.secret_forbidden))
		return 0;
	want = find(operator_, job, action);
	if (!want)
		want = add(operator_, job, action);
	if (!want)
		return MPIJOB_ERR_NOMEM;
	want->planned = 1;
	if (want->recorded)
		return 0;
	due_ms = due_at_ms(operator_, job, want);
	if (due_ms > operator_->now_ms)
		return due_ms;
	rc = unknown ? read_secret(operator_, job, action) : record(operator_, job, action);
	want->recorded = rc == 0 && !unknown;
	if (rc && rc != MPIJOB_ERR_NOMEM)
		return operator_->now_ms + operator_->shadow.grace_ms;
	return rc;
}

int mpijob__operator_shadow_record(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const mpijob_plan *plan, int64_t *due_ms)
{
	const struct mpijob_action *action;
	int rc = 0;

	*due_ms = INT64_MAX;
	for (size_t i = 0; (action = mpijob_plan_at(plan, i)); i++) {
		int64_t due = record_due(operator_, job, action);

		if (due < 0)
			rc = MPIJOB_ERR_NOMEM;
		else if (due > 0 && due < *due_ms)
			*due_ms = due;
	}
	drop(operator_, job, 0);
	return rc;
}

void mpijob__operator_shadow_forget(mpijob_operator *operator_, struct mpijob__operator_job *job)
{
	if (job->shadow.secret_call)
		mpijob_call_cancel(job->shadow.secret_call);
	job->shadow.secret_call = NULL;
	drop(operator_, job, 1);
}

void mpijob__operator_shadow_release(mpijob_operator *operator_)
{
	while (operator_->shadow.first) {
		struct mpijob__operator_shadow_entry *entry = operator_->shadow.first;

		operator_->shadow.first = entry->next;
		free(entry);
	}
	mpijob__base_table_release(&operator_->shadow.wants);
}
