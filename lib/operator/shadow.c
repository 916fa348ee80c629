/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator that must not act would have done.
 *
 * Another one does the work, at its own pace. So an action counts only when it is still wanted
 * after nothing was heard of the job for a while; for a job that is never quiet, after ten such
 * whiles. Each is told once, for as long as it stays wanted. A Secret is never listed: it is asked
 * for by name when its turn to be missed has come, and where that is forbidden it is not missed.
 */
#include "operator/operator.h"

#include "client/client.h"
#include "client/clock.h"
#include "base/time.h"

#include <stdlib.h>
#include <string.h>

#define PATIENCE  10
#define MOST_TOLD 10000

/* An action that the plan of a job wants. */
struct mpijob__operator_want {
	struct mpijob__operator_table_link link; /* first; by the job's uid and its own name */
	struct mpijob__operator_want *next;      /* of the record */
	const struct mpijob__operator_record *record;
	int64_t first_ms;
	int32_t verb, role;
	int told, seen;
	char name[];
};

/* One that counted. */
struct mpijob__operator_told {
	struct mpijob__operator_told *next;
	int64_t wall_ms;
	int32_t verb;
	const char *kind;                          /* a constant */
	const char *namespace_, *job, *name, *why; /* in `strings` */
	const char *difference;                    /* a constant, or NULL */
	char strings[];
};

/* --- what counted --- */

static const char *place(char **at, const char *text)
{
	size_t len = strlen(text) + 1;
	char *to = *at;

	memcpy(to, text, len);
	*at += len;
	return to;
}

static struct mpijob__operator_told *make_told(const struct mpijob__operator_record *record,
    const struct mpijob_action *action)
{
	size_t len = strlen(record->namespace_) + strlen(record->name) + strlen(action->name) +
		     strlen(action->why) + 4;
	struct mpijob__operator_told *told = calloc(1, sizeof(*told) + len);
	char *at;

	if (!told)
		return NULL;
	at = told->strings;
	told->namespace_ = place(&at, record->namespace_);
	told->job = place(&at, record->name);
	told->name = place(&at, action->name);
	told->why = place(&at, action->why);
	told->kind = action->kind;
	told->verb = action->verb;
	told->wall_ms = mpijob__client_server_ms(record->operator_->client);
	return told;
}

static void keep(mpijob_operator *operator_, struct mpijob__operator_told *told)
{
	struct mpijob__operator_shadow *shadow = &operator_->shadow;

	if (shadow->count == MOST_TOLD) {
		struct mpijob__operator_told *first = shadow->first;

		shadow->first = first->next;
		shadow->count--;
		free(first);
	}
	if (shadow->first)
		shadow->last->next = told;
	else
		shadow->first = told;
	shadow->last = told;
	shadow->count++;
}

/* 0 or MPIJOB_ERR_NOMEM: then it is told later. */
static int tell(mpijob_operator *operator_, const struct mpijob__operator_record *record,
    const mpijob_plan *plan, const struct mpijob_action *action)
{
	struct mpijob__operator_told *told = make_told(record, action);

	if (!told)
		return MPIJOB_ERR_NOMEM;
	told->difference = mpijob__operator_explain(record, plan, action);
	keep(operator_, told);
	operator_->metrics.shadow[action->verb][mpijob__operator_metrics_kind(action->kind)]++;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_INFO, "shadow-action",
	    "would %s %s %s/%s for MPIJob %s: %s%s%s", mpijob__operator_metrics_verb(action->verb),
	    action->kind, record->namespace_, action->name, record->name, action->why,
	    told->difference ? "; difference: " : "", told->difference ? told->difference : "");
	return 0;
}

static void write_told(mpijob_doc *doc, const struct mpijob__operator_told *told)
{
	mpijob_node *root = mpijob_doc_edit(doc);
	char time[MPIJOB__BASE_TIME_SIZE];

	mpijob__base_time_format(told->wall_ms / 1000, time);
	mpijob_node_put_string(doc, root, "time", time);
	mpijob_node_put_string(doc, root, "namespace", told->namespace_);
	mpijob_node_put_string(doc, root, "job", told->job);
	mpijob_node_put_string(doc, root, "verb", mpijob__operator_metrics_verb(told->verb));
	mpijob_node_put_string(doc, root, "kind", told->kind);
	mpijob_node_put_string(doc, root, "name", told->name);
	mpijob_node_put_string(doc, root, "why", told->why);
	if (told->difference)
		mpijob_node_put_string(doc, root, "difference", told->difference);
	else
		mpijob_node_put(doc, root, "difference", mpijob_node_new_null(doc));
}

int mpijob_operator_shadow_report(const mpijob_operator *operator_, mpijob_write_fn write,
    void *user)
{
	int code = 0;

	if (!operator_ || !write)
		return MPIJOB_ERR_USAGE;
	for (const struct mpijob__operator_told *told = operator_->shadow.first; told && code == 0;
	     told = told->next) {
		mpijob_doc *doc = mpijob_doc_new();
		mpijob_text line = { 0 };

		write_told(doc, told);
		code = mpijob_doc_error(doc);
		if (code == 0)
			code = mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT,
			    mpijob_text_write, &line);
		if (code == 0)
			code = mpijob__base_text_puts(&line, "\n");
		if (code == 0)
			code = write(user, mpijob_text_data(&line), line.len);
		mpijob__base_text_release(&line);
		mpijob_doc_free(doc);
	}
	return code;
}

/* --- what is wanted --- */

static struct mpijob__operator_want *find(const mpijob_operator *operator_,
    const struct mpijob__operator_record *record, const struct mpijob_action *action)
{
	const struct mpijob__operator_table *table = &operator_->shadow.wants;
	uint64_t hash = mpijob__operator_table_hash(table, record->uid, action->name);
	struct mpijob__operator_table_link *link = NULL;

	while ((link = mpijob__operator_table_next(table, hash, link))) {
		struct mpijob__operator_want *want = (struct mpijob__operator_want *)(void *)link;

		if (want->record == record && want->verb == action->verb &&
		    want->role == action->role && strcmp(want->name, action->name) == 0)
			return want;
	}
	return NULL;
}

static struct mpijob__operator_want *add(mpijob_operator *operator_,
    struct mpijob__operator_record *record, const struct mpijob_action *action)
{
	struct mpijob__operator_table *table = &operator_->shadow.wants;
	size_t len = strlen(action->name) + 1;
	struct mpijob__operator_want *want = calloc(1, sizeof(*want) + len);

	if (!want)
		return NULL;
	memcpy(want->name, action->name, len);
	if (mpijob__operator_table_add(table, &want->link,
		mpijob__operator_table_hash(table, record->uid, want->name))) {
		free(want);
		return NULL;
	}
	want->record = record;
	want->verb = action->verb;
	want->role = action->role;
	want->first_ms = operator_->now_ms;
	want->next = record->wants;
	record->wants = want;
	return want;
}

/* Drop those that the last plan did not want, or all. */
static void drop(mpijob_operator *operator_, struct mpijob__operator_record *record, int all)
{
	struct mpijob__operator_want **at = &record->wants;

	while (*at) {
		struct mpijob__operator_want *want = *at;

		if (want->seen && !all) {
			want->seen = 0;
			at = &want->next;
			continue;
		}
		*at = want->next;
		mpijob__operator_table_remove(&operator_->shadow.wants, &want->link);
		free(want);
	}
}

static int64_t ripe_ms(const mpijob_operator *operator_,
    const struct mpijob__operator_record *record, const struct mpijob__operator_want *want)
{
	int64_t grace = operator_->shadow.grace_ms;
	int64_t quiet =
	    (record->news_ms > want->first_ms ? record->news_ms : want->first_ms) + grace;
	int64_t last = want->first_ms + grace * PATIENCE;

	return quiet < last ? quiet : last;
}

/* --- the Secret --- */

static void looked(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__operator_record *record = user;
	mpijob_operator *operator_ = record->operator_;
	int rc = 0;

	record->secret_look = NULL;
	if (answer->code == 0)
		rc = mpijob__operator_route_answer(operator_, record, answer->body,
		    answer->body_len);
	if (rc == MPIJOB_ERR_NOMEM)
		operator_->nomem = 1;
	if (rc == 0 && (answer->code == 0 || answer->code == MPIJOB_ERR_NOT_FOUND))
		record->known_ms[MPIJOB_ROLE_SECRET] = operator_->now_ms;
	else if (answer->code == MPIJOB_ERR_AUTH)
		record->secret_hidden = 1;
	/* After any other failure it is asked again when the job is looked at next. */
	if (answer->code == 0 || answer->code == MPIJOB_ERR_NOT_FOUND ||
	    answer->code == MPIJOB_ERR_AUTH)
		mpijob__operator_queue_add(&operator_->queue, &record->item);
	else
		mpijob__operator_queue_add_at(&operator_->queue, &record->item,
		    operator_->now_ms + operator_->shadow.grace_ms);
}

static int look(mpijob_operator *operator_, struct mpijob__operator_record *record,
    const struct mpijob_action *action)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, looked, record };
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	if (record->secret_look)
		return 0;
	target.api_version = action->api_version;
	target.kind = action->kind;
	target.namespace_ = record->namespace_;
	target.name = action->name;
	return mpijob__client_request_start(operator_->client, "GET", &target, NULL, NULL,
	    &callbacks, &record->secret_look);
}

/* --- a plan --- */

/* 0 when it is settled, its time when it ripens later, or MPIJOB_ERR_NOMEM. */
static int64_t judge(mpijob_operator *operator_, struct mpijob__operator_record *record,
    const mpijob_plan *plan, const struct mpijob_action *action)
{
	int is_secret = action->role == MPIJOB_ROLE_SECRET;
	int unknown = is_secret && !record->known_ms[MPIJOB_ROLE_SECRET];
	struct mpijob__operator_want *want;
	int64_t ripe;
	int rc;

	if (action->verb == MPIJOB_ACTION_EVENT || (is_secret && record->secret_hidden))
		return 0;
	want = find(operator_, record, action);
	if (!want)
		want = add(operator_, record, action);
	if (!want)
		return MPIJOB_ERR_NOMEM;
	want->seen = 1;
	if (want->told)
		return 0;
	ripe = ripe_ms(operator_, record, want);
	if (ripe > operator_->now_ms)
		return ripe;
	rc = unknown ? look(operator_, record, action) : tell(operator_, record, plan, action);
	want->told = rc == 0 && !unknown;
	if (rc && rc != MPIJOB_ERR_NOMEM)
		return operator_->now_ms + operator_->shadow.grace_ms;
	return rc;
}

int mpijob__operator_shadow_plan(mpijob_operator *operator_, struct mpijob__operator_record *record,
    const mpijob_plan *plan, int64_t *due_ms)
{
	int code = 0;

	*due_ms = INT64_MAX;
	for (size_t i = 0; i < mpijob_plan_count(plan); i++) {
		int64_t due = judge(operator_, record, plan, mpijob_plan_at(plan, i));

		if (due < 0)
			code = MPIJOB_ERR_NOMEM;
		else if (due > 0 && due < *due_ms)
			*due_ms = due;
	}
	drop(operator_, record, 0);
	return code;
}

void mpijob__operator_shadow_forget(mpijob_operator *operator_,
    struct mpijob__operator_record *record)
{
	if (record->secret_look)
		mpijob_call_cancel(record->secret_look);
	record->secret_look = NULL;
	drop(operator_, record, 1);
}

void mpijob__operator_shadow_release(mpijob_operator *operator_)
{
	while (operator_->shadow.first) {
		struct mpijob__operator_told *told = operator_->shadow.first;

		operator_->shadow.first = told->next;
		free(told);
	}
	mpijob__operator_table_release(&operator_->shadow.wants);
}
