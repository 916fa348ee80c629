/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows from a deletion: children whose owners are all gone are deleted, an owner deleted in
 * the foreground waits until its children are gone, a namespace until its content is. It runs after
 * requests and controllers, over everything that names an owner or is on its way out.
 */
#include "gc.h"
#include "deletion.h"
#include "verbs.h"

#include <string.h>

int mpijob__local_gc_is_orphan(const struct mpijob_local *local, const struct object *object)
{
	for (size_t i = 0; i < object->owner_count; i++) {
		if (mpijob__local_store_by_uid(&local->store, object->owners[i]))
			return 0;
	}
	return object->owner_count > 0;
}

static int owns(const char *uid, const struct object *object)
{
	for (size_t i = 0; i < object->owner_count; i++) {
		if (strcmp(object->owners[i], uid) == 0)
			return 1;
	}
	return 0;
}

static int strike_owner(struct mpijob_local *local, struct object *object, const char *uid)
{
	mpijob_doc *doc = mpijob_doc_clone(object->doc);
	mpijob_node *list;

	if (!doc)
		return MPIJOB_ERR_NOMEM;
	list = mpijob_doc_find(doc, "metadata.ownerReferences");
	for (size_t i = mpijob_node_count(list); i-- > 0;) {
		const char *owner =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(list, i), "uid"));

		if (owner && strcmp(owner, uid) == 0)
			mpijob_node_remove_at(list, i);
	}
	if (mpijob_node_count(list) == 0)
		mpijob_node_remove(mpijob_doc_find(doc, "metadata"), "ownerReferences");
	return mpijob__local_verbs_store(local, object, doc);
}

int mpijob__local_gc_disown(struct mpijob_local *local, const char *uid)
{
	for (enum kind_id kind = 0; kind < KIND_COUNT; kind++) {
		for (struct object *object = mpijob__local_store_first(&local->store, kind), *next;
		     object; object = next) {
			int error;

			next = object->next;
			error = owns(uid, object) ? strike_owner(local, object, uid) : 0;
			if (error)
				return error;
		}
	}
	return 0;
}

/* One step may free the object itself, nothing else. */
static int collect_children(struct mpijob_local *local, struct object *owner, size_t *left)
{
	for (enum kind_id kind = 0; kind < KIND_COUNT; kind++) {
		for (struct object *object = mpijob__local_store_first(&local->store, kind), *next;
		     object; object = next) {
			int error;

			next = object->next;
			if (!owns(owner->uid, object))
				continue;
			error = mpijob__local_store_deleting(object)
				    ? 0
				    : mpijob__local_deletion_run(local, object,
					  mpijob__local_deletion_has_children(local, object)
					      ? DELETE_FOREGROUND
					      : DELETE_BACKGROUND,
					  -1);
			if (error)
				return error;
			(*left)++;
		}
	}
	return 0;
}

static int finish_foreground(struct mpijob_local *local, struct object *object)
{
	size_t left = 0;
	int error = collect_children(local, object, &left);

	if (error)
		return error;
	/* Children that went at once set `collect` again, so the next round finds none. */
	return left ? 0 : mpijob__local_deletion_finalize(local, object, FINALIZER_FOREGROUND);
}

static int empty_namespace(struct mpijob_local *local, struct object *namespace_)
{
	size_t left = 0;

	for (enum kind_id kind = 0; kind < KIND_COUNT; kind++) {
		for (struct object *object = mpijob__local_store_first(&local->store, kind), *next;
		     object; object = next) {
			int error;

			next = object->next;
			if (!(object->kind->flags & KIND_NAMESPACED) ||
			    strcmp(object->namespace_, namespace_->name) != 0)
				continue;
			error =
			    mpijob__local_store_deleting(object)
				? 0
				: mpijob__local_deletion_run(local, object, DELETE_BACKGROUND, -1);
			if (error)
				return error;
			left++;
		}
	}
	return left ? 0 : mpijob__local_store_remove(&local->store, namespace_);
}

static int collect_orphans(struct mpijob_local *local)
{
	for (enum kind_id kind = 0; kind < KIND_COUNT; kind++) {
		for (struct object *object = mpijob__local_store_first(&local->store, kind), *next;
		     object; object = next) {
			int error = 0;

			next = object->next;
			if (mpijob__local_gc_is_orphan(local, object) &&
			    !mpijob__local_store_deleting(object))
				error = mpijob__local_deletion_run(local, object, DELETE_BACKGROUND,
				    -1);
			if (error)
				return error;
		}
	}
	return 0;
}

/* A pod without time left, whose removal failed for want of memory. */
static int is_left(const struct object *object)
{
	int64_t grace = -1;

	mpijob_node_int(mpijob_node_find(mpijob_doc_root(object->doc),
			    "metadata.deletionGracePeriodSeconds"),
	    &grace);
	return object->kind->id == KIND_POD && grace == 0 &&
	       mpijob_node_count(
		   mpijob_node_find(mpijob_doc_root(object->doc), "metadata.finalizers")) == 0;
}

static int is_waiting(const struct object *object)
{
	return mpijob__local_store_deleting(object) &&
	       (is_left(object) || object->kind->id == KIND_NAMESPACE ||
		   mpijob__local_deletion_has_finalizer(object, FINALIZER_FOREGROUND));
}

/* Any object may be gone after a step: 1 asks to begin again. */
static int finish_waiting(struct mpijob_local *local)
{
	uint64_t version = local->store.version;

	for (enum kind_id kind = 0; kind < KIND_COUNT; kind++) {
		for (struct object *object = mpijob__local_store_first(&local->store, kind); object;
		     object = object->next) {
			int error;

			if (!is_waiting(object))
				continue;
			if (is_left(object))
				error = mpijob__local_store_remove(&local->store, object);
			else
				error = kind == KIND_NAMESPACE ? empty_namespace(local, object)
							       : finish_foreground(local, object);
			if (error)
				return error;
			if (local->store.version != version)
				return 1;
		}
	}
	return 0;
}

int mpijob__local_gc_run(struct mpijob_local *local)
{
	int result = 0;

	while (local->collect) {
		local->collect = 0;
		result = collect_orphans(local);
		while (result == 0 || result == 1) {
			result = finish_waiting(local);
			if (result == 0)
				break;
		}
		if (result < 0) {
			local->collect = 1;
			return result;
		}
	}
	return 0;
}
