/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Events of an object, in the order in which they happened.
 *
 * Only this file knows which time of an Event counts: older reporters update lastTimestamp, newer
 * ones leave it null and write a series.
 */
#include "client/jobs.h"

#include "base/text.h"
#include "client/jobs_findings.h"
#include "client/task.h"
#include "base/time.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const mpijob_node *event;
	size_t number; /* position in the list: equal times keep their order */
	int64_t seconds;
	int64_t nanoseconds;
};

/* Up to nine digits after the dot of "12:00:00.123456Z". */
static int64_t fraction(const char *time)
{
	const char *dot = strchr(time, '.');
	int64_t value = 0;
	int digits = 0;

	for (const char *at = dot ? dot + 1 : ""; *at >= '0' && *at <= '9' && digits < 9;
	     at++, digits++)
		value = value * 10 + (*at - '0');
	for (; digits < 9; digits++)
		value *= 10;
	return value;
}

static void read_time(struct row *row)
{
	static const char *const paths[] = { "series.lastObservedTime", "lastTimestamp",
		"eventTime", "firstTimestamp", "metadata.creationTimestamp" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const char *time = mpijob_node_string(mpijob_node_find(row->event, paths[i]));

		if (time && mpijob__base_time_parse(time, &row->seconds)) {
			row->nanoseconds = fraction(time);
			return;
		}
	}
	row->seconds = row->nanoseconds = 0;
}

static int by_time(const void *a, const void *b)
{
	const struct row *one = a, *other = b;

	if (one->seconds != other->seconds)
		return one->seconds < other->seconds ? -1 : 1;
	if (one->nanoseconds != other->nanoseconds)
		return one->nanoseconds < other->nanoseconds ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

/* The subject; NULL: any. */
struct subject {
	const char *kind, *name, *uid;
};

static int agrees(const mpijob_node *event, const char *path, const char *wanted)
{
	const char *given = wanted ? mpijob_node_string(mpijob_node_find(event, path)) : NULL;

	return !wanted || (given && strcmp(given, wanted) == 0);
}

static int is_about(const mpijob_node *event, const struct subject *subject)
{
	return agrees(event, "involvedObject.kind", subject->kind) &&
	       agrees(event, "involvedObject.name", subject->name) &&
	       agrees(event, "involvedObject.uid", subject->uid);
}

/* Convert to a list of the subject's Events, in order. */
static int sort_events(const mpijob_node *list, const struct subject *subject, mpijob_doc **out)
{
	const mpijob_node *items = mpijob_node_get(list, "items");
	size_t most = mpijob_node_count(items), count = 0;
	struct row *rows = malloc((most + 1) * sizeof(*rows));
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = doc ? mpijob_doc_edit(doc, "") : NULL, *to;
	int rc = rows && doc ? 0 : MPIJOB_ERR_NOMEM;

	for (size_t i = 0; rc == 0 && i < most; i++) {
		struct row row = { mpijob_node_at(items, i), i, 0, 0 };

		if (!is_about(row.event, subject))
			continue;
		read_time(&row);
		rows[count++] = row;
	}
	if (rc == 0) {
		qsort(rows, count, sizeof(*rows), by_time);
		mpijob_node_put_string(doc, root, "apiVersion", "v1");
		mpijob_node_put_string(doc, root, "kind", "EventList");
		if (mpijob_node_get(list, "metadata"))
			mpijob_node_put_copy(doc, root, "metadata",
			    mpijob_node_get(list, "metadata"));
		to = mpijob_node_put_list(doc, root, "items");
		for (size_t i = 0; i < count; i++)
			mpijob_node_append(doc, to, mpijob_node_copy(doc, rows[i].event));
		rc = mpijob_doc_error(doc);
	}
	free(rows);
	if (rc)
		mpijob_doc_free(doc);
	else
		*out = doc;
	return rc;
}

static int put_term(mpijob_text *selector, const char *field, const char *value)
{
	if (!value)
		return 0;
	/* Escape for a field selector. */
	if ((selector->len && mpijob__base_text_puts(selector, ",")) ||
	    mpijob__base_text_printf(selector, "involvedObject.%s=", field))
		return MPIJOB_ERR_NOMEM;
	for (; *value; value++)
		if ((strchr("\\,=", *value) && mpijob__base_text_puts(selector, "\\")) ||
		    mpijob_text_write(selector, value, 1))
			return MPIJOB_ERR_NOMEM;
	return 0;
}

/* A search in progress. */
struct search {
	mpijob_task task;
	struct subject subject; /* the task owns the strings */
	const char *namespace_;
	mpijob_text selector;
	int selects;       /* this list was selected by the server */
	mpijob_diag *said; /* of this list */
};

static int list(struct search *search, int selects)
{
	struct mpijob_task_callbacks callbacks = mpijob__client_task_child_callbacks(&search->task);
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	const char *query[2] = { "fieldSelector", mpijob_text_data(&search->selector) };
	int rc;

	search->selects = selects;
	target.api_version = "v1";
	target.kind = "Event";
	target.namespace_ = search->namespace_;
	target.query = query;
	target.query_count = selects && search->selector.len ? 2 : 0;
	rc = mpijob_client_list_start(search->task.client, &target, 0, &callbacks,
	    &search->task.child, selects ? search->said : search->task.diag);
	return rc ? rc : MPIJOB__CLIENT_TASK_WAITS;
}

/* A server that cannot select is asked for all Events. */
static int listed(mpijob_task *task, int code, mpijob_doc *doc)
{
	struct search *search = (struct search *)task;

	if (search->selects && code == MPIJOB_ERR_UNSUPPORTED && search->selector.len)
		return list(search, 0);
	if (search->selects && mpijob__client_jobs_place_findings(NULL, search->said, task->diag) &&
	    code)
		code = MPIJOB_ERR_NOMEM;
	if (code == 0)
		code = sort_events(mpijob_doc_root(doc), &search->subject, &task->doc);
	mpijob_doc_free(doc);
	return code;
}

static void release(mpijob_task *task)
{
	struct search *search = (struct search *)task;

	mpijob__base_text_release(&search->selector);
	mpijob_diag_free(search->said);
}

static int begin(struct search *search)
{
	const struct subject *subject = &search->subject;

	search->said = mpijob_diag_new();
	if (!search->said || put_term(&search->selector, "kind", subject->kind) ||
	    put_term(&search->selector, "name", subject->name) ||
	    put_term(&search->selector, "uid", subject->uid))
		return MPIJOB_ERR_NOMEM;
	return list(search, 1);
}

int mpijob_client_events_start(mpijob_client *client, const char *namespace_, const char *kind,
    const char *name, const char *uid, const struct mpijob_task_callbacks *callbacks,
    mpijob_task **out, mpijob_diag *diag)
{
	struct search *search;
	mpijob_task *task = NULL;
	int rc = namespace_
		     ? mpijob__client_task_new(sizeof(*search), client, callbacks, out, diag, &task)
		     : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	search = (struct search *)task;
	task->step = listed;
	task->release = release;
	search->namespace_ = mpijob__client_task_copy(task, namespace_, &rc);
	search->subject.kind = mpijob__client_task_copy(task, kind, &rc);
	search->subject.name = mpijob__client_task_copy(task, name, &rc);
	search->subject.uid = mpijob__client_task_copy(task, uid, &rc);
	return mpijob__client_task_started(task, rc ? rc : begin(search));
}
