/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that arrive before their owner: each kind has a watch of its own, and events of different
 * watches are not ordered.
 *
 * Only names are kept, a few thousand at most. When the owner arrives the object is fetched.
 * Children of a job that was deleted are not kept.
 *
 * A tenant can create pods with an owner that does not exist. So an entry expires, and when the
 * table is full the namespace with the most entries loses its oldest one.
 */
#include "operator/orphans.h"

#include "operator/cache_children.h"
#include "operator/operator.h"
#include "operator/read.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ORPHANS 4096
#define WAITS_MS     600000 /* much longer than a disconnection of the watch of the owners */
#define WARNS_MS     600000 /* between two warnings about a namespace */
#define MOST_FETCHES 8
#define RETRY_MS     1000
#define RETRY_STEPS  5 /* doubled so often */

static int is_removed(const mpijob_operator *operator_, const char *uid)
{
	uint64_t hash = mpijob__base_table_hash(&operator_->cache.by_uid, uid, "");

	for (size_t i = 0; i < MPIJOB__OPERATOR_REMOVED_UIDS; i++)
		if (operator_->cache.removed[i] == hash)
			return 1;
	return 0;
}

static struct mpijob__operator_orphan_group *find_group(const mpijob_operator *operator_,
    const char *namespace_)
{
	struct mpijob__operator_orphan_group *group = operator_->orphans.groups;

	while (group && strcmp(group->name, namespace_) != 0)
		group = group->next;
	return group;
}

static struct mpijob__operator_orphan_group *make_group(mpijob_operator *operator_,
    const char *namespace_)
{
	struct mpijob__operator_orphan_group *group = find_group(operator_, namespace_);
	size_t size = strlen(namespace_) + 1;

	if (group)
		return group;
	group = calloc(1, sizeof(*group) + size);
	if (!group)
		return NULL;
	memcpy(group->name, namespace_, size);
	group->next = operator_->orphans.groups;
	operator_->orphans.groups = group;
	return group;
}

/* Forget the namespaces without an entry whose last warning is old. */
static void drop_groups(mpijob_operator *operator_)
{
	struct mpijob__operator_orphan_group **at = &operator_->orphans.groups;

	while (*at) {
		struct mpijob__operator_orphan_group *group = *at;

		if (group->count ||
		    (group->warned_ms && operator_->now_ms - group->warned_ms < WARNS_MS)) {
			at = &group->next;
			continue;
		}
		*at = group->next;
		free(group);
	}
}

/* Remove an entry from the table; the caller frees it. */
static struct mpijob__operator_orphan *take_out(mpijob_operator *operator_,
    struct mpijob__operator_orphan **at)
{
	struct mpijob__operator_orphan *orphan = *at;

	*at = orphan->next;
	operator_->orphans.count--;
	find_group(operator_, orphan->namespace_)->count--;
	return orphan;
}

/* Make room in a full table for an entry of a namespace. 0 when no other namespace has more
 * entries. */
static int make_room(mpijob_operator *operator_, const struct mpijob__operator_orphan_group *wants)
{
	struct mpijob__operator_orphan_group *largest = operator_->orphans.groups;
	struct mpijob__operator_orphan **oldest = NULL;

	if (operator_->orphans.count < MOST_ORPHANS)
		return 1;
	for (struct mpijob__operator_orphan_group *group = largest; group; group = group->next)
		if (group->count > largest->count)
			largest = group;
	if (largest->count <= wants->count + 1)
		return 0;
	for (struct mpijob__operator_orphan **at = &operator_->orphans.waiting; *at;
	     at = &(*at)->next)
		if (strcmp((*at)->namespace_, largest->name) == 0)
			oldest = at;
	free(take_out(operator_, oldest));
	return 1;
}

static void report_full(struct mpijob__operator_informer *informer,
    struct mpijob__operator_orphan_group *group, const char *name)
{
	mpijob_operator *operator_ = informer->operator_;

	if (group->warned_ms && operator_->now_ms - group->warned_ms < WARNS_MS)
		return;
	group->warned_ms = operator_->now_ms;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_WARNING, "too-many-orphans",
	    "%s %s/%s names an owner that is not known, as do %zu others of its namespace; it and "
	    "further ones are skipped",
	    informer->kind, group->name, name, group->count);
}

/* The list is ordered by age: all entries after the first old one are old. */
static void expire(mpijob_operator *operator_)
{
	struct mpijob__operator_orphan **at = &operator_->orphans.waiting;

	while (*at && operator_->now_ms - (*at)->since_ms < WAITS_MS)
		at = &(*at)->next;
	while (*at)
		free(take_out(operator_, at));
	drop_groups(operator_);
}

static char *put(char *at, const char *text, const char **member)
{
	size_t len = strlen(text) + 1;

	memcpy(at, text, len);
	*member = at;
	return at + len;
}

void mpijob__operator_orphans_add(struct mpijob__operator_informer *informer,
    const struct mpijob_observed *observed)
{
	mpijob_operator *operator_ = informer->operator_;
	struct mpijob__operator_orphan_group *group;
	struct mpijob__operator_orphan *orphan;
	char *at;

	if (is_removed(operator_, observed->owner_uid))
		return;
	expire(operator_);
	for (orphan = operator_->orphans.waiting; orphan; orphan = orphan->next)
		if (strcmp(orphan->uid, observed->uid) == 0)
			return;
	group = make_group(operator_, observed->namespace_);
	if (!group)
		return;
	if (!make_room(operator_, group)) {
		report_full(informer, group, observed->name);
		return;
	}
	orphan = calloc(1, sizeof(*orphan) + strlen(observed->owner_uid) + strlen(observed->uid) +
			       strlen(observed->namespace_) + strlen(observed->name) + 4);
	if (!orphan)
		return;
	at = put(orphan->strings, observed->owner_uid, &orphan->owner_uid);
	at = put(at, observed->uid, &orphan->uid);
	at = put(at, observed->namespace_, &orphan->namespace_);
	put(at, observed->name, &orphan->name);
	orphan->operator_ = operator_;
	orphan->informer = (unsigned char)informer->number;
	orphan->since_ms = operator_->now_ms;
	orphan->next = operator_->orphans.waiting;
	operator_->orphans.waiting = orphan;
	operator_->orphans.count++;
	group->count++;
}

/* Cancel a fetch: its response would bring back a deleted object. */
static void drop_fetch(mpijob_operator *operator_, const char *uid)
{
	for (struct mpijob__operator_orphan **at = &operator_->orphans.fetches; *at;
	     at = &(*at)->next) {
		struct mpijob__operator_orphan *orphan = *at;

		if (strcmp(orphan->uid, uid) != 0)
			continue;
		*at = orphan->next;
		if (orphan->call) {
			mpijob_call_cancel(orphan->call);
			operator_->orphans.fetching--;
		}
		free(orphan);
		return;
	}
}

void mpijob__operator_orphans_drop(mpijob_operator *operator_, const char *uid)
{
	drop_fetch(operator_, uid);
	for (struct mpijob__operator_orphan **at = &operator_->orphans.waiting; *at;
	     at = &(*at)->next) {
		struct mpijob__operator_orphan *orphan = *at;

		if (strcmp(orphan->uid, uid) != 0)
			continue;
		free(take_out(operator_, at));
		return;
	}
}

void mpijob__operator_orphans_adopt(mpijob_operator *operator_, const char *owner_uid)
{
	struct mpijob__operator_orphan **at = &operator_->orphans.waiting;

	while (*at) {
		struct mpijob__operator_orphan *orphan = *at;

		if (strcmp(orphan->owner_uid, owner_uid) != 0) {
			at = &orphan->next;
			continue;
		}
		take_out(operator_, at);
		orphan->due_ms = INT64_MIN;
		orphan->next = operator_->orphans.fetches;
		operator_->orphans.fetches = orphan;
	}
}

static void end_fetch(struct mpijob__operator_orphan *orphan)
{
	struct mpijob__operator_orphan **at = &orphan->operator_->orphans.fetches;

	while (*at != orphan)
		at = &(*at)->next;
	*at = orphan->next;
	free(orphan);
}

static int take_fetched(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__operator_orphan *orphan = user;
	mpijob_operator *operator_ = orphan->operator_;
	struct mpijob_watch_event object = {
		sizeof(object),
		MPIJOB_WATCH_MODIFIED,
		answer->body,
		answer->body_len,
		answer->body_len,
		orphan->uid,
		orphan->name,
		orphan->namespace_,
		"",
	};
	int rc = answer->code;

	if (is_removed(operator_, orphan->owner_uid)) {
		end_fetch(orphan);
		return 0;
	}
	/* The kind was listed meanwhile, perhaps without the object: fetch it again. */
	if (rc == 0 && orphan->generation != operator_->informers[orphan->informer].generation) {
		orphan->due_ms = INT64_MIN;
		return 0;
	}
	if (rc == 0)
		rc = mpijob__operator_children_event(&operator_->informers[orphan->informer],
		    &object);
	if (rc == MPIJOB_ERR_NOMEM)
		operator_->nomem = 1;
	if (rc == 0 || rc == MPIJOB_ERR_NOT_FOUND) {
		end_fetch(orphan);
		return 0;
	}
	/* No event reports it again until it changes. */
	orphan->due_ms =
	    operator_->now_ms + ((int64_t)RETRY_MS << orphan->attempts) + answer->retry_after_ms;
	orphan->attempts += orphan->attempts < RETRY_STEPS;
	return 0;
}

static void fetched(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__operator_orphan *orphan = user;
	mpijob_operator *operator_ = orphan->operator_;
	const struct mpijob__operator_informer *informer = &operator_->informers[orphan->informer];

	orphan->call = NULL;
	operator_->orphans.fetching--;
	if (answer->status == 403 &&
	    mpijob__operator_read_refused(operator_, informer->kind, orphan->is_list)) {
		orphan->due_ms = INT64_MIN;
		return;
	}
	(void)mpijob__operator_read_answer(informer->api_version, informer->kind, orphan->is_list,
	    answer, take_fetched, orphan);
}

static int start_fetch(mpijob_operator *operator_, struct mpijob__operator_orphan *orphan)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), NULL, fetched, orphan };
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	orphan->generation = operator_->informers[orphan->informer].generation;
	target.api_version = operator_->informers[orphan->informer].api_version;
	target.kind = operator_->informers[orphan->informer].kind;
	target.namespace_ = orphan->namespace_;
	target.name = orphan->name;
	return mpijob__operator_read_start(operator_, target, &callbacks, &orphan->is_list,
	    &orphan->call);
}

void mpijob__operator_orphans_step(mpijob_operator *operator_)
{
	expire(operator_);
	for (struct mpijob__operator_orphan *orphan = operator_->orphans.fetches; orphan;
	     orphan = orphan->next) {
		if (operator_->orphans.fetching >= MOST_FETCHES)
			return;
		if (orphan->call || orphan->due_ms > operator_->now_ms)
			continue;
		if (start_fetch(operator_, orphan) == 0)
			operator_->orphans.fetching++;
		else
			orphan->due_ms = operator_->now_ms + RETRY_MS;
	}
}

int64_t mpijob__operator_orphans_due_ms(const mpijob_operator *operator_)
{
	int64_t due = INT64_MAX;

	if (operator_->orphans.fetching >= MOST_FETCHES)
		return due;
	for (const struct mpijob__operator_orphan *orphan = operator_->orphans.fetches; orphan;
	     orphan = orphan->next)
		if (!orphan->call && orphan->due_ms < due)
			due = orphan->due_ms;
	return due;
}

static void free_list(struct mpijob__operator_orphan *orphan)
{
	while (orphan) {
		struct mpijob__operator_orphan *next = orphan->next;

		if (orphan->call)
			mpijob_call_cancel(orphan->call);
		free(orphan);
		orphan = next;
	}
}

void mpijob__operator_orphans_release(mpijob_operator *operator_)
{
	free_list(operator_->orphans.waiting);
	free_list(operator_->orphans.fetches);
	operator_->orphans.waiting = operator_->orphans.fetches = NULL;
	while (operator_->orphans.groups) {
		struct mpijob__operator_orphan_group *group = operator_->orphans.groups;

		operator_->orphans.groups = group->next;
		free(group);
	}
}
