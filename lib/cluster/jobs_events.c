/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Events about an object, in the order in which things happened.
 *
 * Only this file knows which of an Event's times counts: reporters of the older kind count up lastTimestamp, those of
 * the newer kind leave it null and write a series.
 */
#include "cluster/jobs.h"

#include "base/text.h"
#include "job/time.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const mpijob_node *event;
	size_t number; /* in the list: equal times keep their order */
	int64_t seconds;
	int64_t nanoseconds;
};

/* Up to nine digits behind the dot of "12:00:00.123456Z". */
static int64_t fraction(const char *time)
{
	const char *dot = strchr(time, '.');
	int64_t value = 0;
	int digits = 0;

	for (const char *at = dot ? dot + 1 : ""; *at >= '0' && *at <= '9' && digits < 9; at++, digits++)
		value = value * 10 + (*at - '0');
	for (; digits < 9; digits++)
		value *= 10;
	return value;
}

static void read_time(struct row *row)
{
	static const char *const paths[] = { "series.lastObservedTime", "lastTimestamp", "eventTime", "firstTimestamp",
					     "metadata.creationTimestamp" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		const char *time = mpijob_node_string(mpijob_node_find(row->event, paths[i]));

		if (time && mpijob__time_parse(time, &row->seconds)) {
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

/* What is asked about; NULL: any. */
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
	       agrees(event, "involvedObject.name", subject->name) && agrees(event, "involvedObject.uid", subject->uid);
}

/* A list of those that are about the subject, in order. */
static int sort_events(const mpijob_node *list, const struct subject *subject, mpijob_doc **out)
{
	const mpijob_node *items = mpijob_node_get(list, "items");
	size_t most = mpijob_node_count(items), count = 0;
	struct row *rows = malloc((most + 1) * sizeof(*rows));
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = doc ? mpijob_doc_edit(doc) : NULL, *to;
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
			mpijob_node_put_copy(doc, root, "metadata", mpijob_node_get(list, "metadata"));
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
	/* Escaped as a field selector wants it. */
	if ((selector->len && mpijob__text_puts(selector, ",")) ||
	    mpijob__text_printf(selector, "involvedObject.%s=", field))
		return MPIJOB_ERR_NOMEM;
	for (; *value; value++)
		if ((strchr("\\,=", *value) && mpijob__text_puts(selector, "\\")) ||
		    mpijob_text_write(selector, value, 1))
			return MPIJOB_ERR_NOMEM;
	return 0;
}

static int list_selected(mpijob_client *client, struct mpijob_target *target, const char *selector, mpijob_doc **list,
			 mpijob_diag *diag)
{
	const char *query[2] = { "fieldSelector", selector };

	target->query = query;
	target->query_count = *selector ? 2 : 0;
	return mpijob_client_list(client, target, 0, list, diag);
}

/* A server that cannot select is asked for all. */
static int list_events(mpijob_client *client, const char *namespace_, const struct subject *subject, mpijob_doc **list,
		       mpijob_diag *diag)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_diag *first = mpijob_diag_new();
	mpijob_text selector = { 0 };
	int rc = first ? 0 : MPIJOB_ERR_NOMEM;

	target.api_version = "v1";
	target.kind = "Event";
	target.namespace_ = namespace_;
	if (rc || put_term(&selector, "kind", subject->kind) || put_term(&selector, "name", subject->name) ||
	    put_term(&selector, "uid", subject->uid))
		rc = MPIJOB_ERR_NOMEM;
	if (rc == 0)
		rc = list_selected(client, &target, mpijob_text_data(&selector), list, first);
	if (rc == MPIJOB_ERR_UNSUPPORTED && selector.len)
		rc = list_selected(client, &target, "", list, diag);
	else if (mpijob__jobs_place_findings(NULL, first, diag) && rc)
		rc = MPIJOB_ERR_NOMEM;
	mpijob__text_release(&selector);
	mpijob_diag_free(first);
	return rc;
}

int mpijob_client_events(mpijob_client *client, const char *namespace_, const char *kind, const char *name,
			 const char *uid, mpijob_doc **out, mpijob_diag *diag)
{
	const struct subject subject = { kind, name, uid };
	mpijob_doc *list = NULL;
	int rc;

	if (!client || !namespace_ || !out)
		return MPIJOB_ERR_USAGE;
	rc = list_events(client, namespace_, &subject, &list, diag);
	if (rc == 0)
		rc = sort_events(mpijob_doc_root(list), &subject, out);
	mpijob_doc_free(list);
	return rc;
}
