/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The garbage collector. It deletes objects whose owners all no longer exist, and completes
 * deletions that wait: a foreground deletion until the children are deleted, a namespace until it
 * is empty. It runs after requests and controllers, when local->gc_pending is set.
 */
#include "local/gc.h"
#include "local/deletion.h"
#include "local/verbs.h"

#include <string.h>

int mpijob__local_gc_is_orphan(const struct mpijob_local *local,
    const struct mpijob__local_object *object)
{
	for (size_t i = 0; i < object->owner_count; i++) {
		if (mpijob__local_store_by_uid(&local->store, object->owners[i]))
			return 0;
	}
	return object->owner_count > 0;
}

static int owns(const char *uid, const struct mpijob__local_object *object)
{
	for (size_t i = 0; i < object->owner_count; i++) {
		if (strcmp(object->owners[i], uid) == 0)
			return 1;
	}
	return 0;
}

static int remove_owner_reference(struct mpijob_local *local, struct mpijob__local_object *object,
    const char *uid)
{
	mpijob_doc *doc = mpijob_doc_from_node(mpijob_doc_root(object->doc), NULL);
	mpijob_node *list;

	if (!doc)
		return MPIJOB_ERR_NOMEM;
	list = mpijob_doc_edit(doc, "metadata.ownerReferences");
	for (size_t i = mpijob_node_count(list); i-- > 0;) {
		const char *owner =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(list, i), "uid"));

		if (owner && strcmp(owner, uid) == 0)
			mpijob_node_remove_at(list, i);
	}
	if (mpijob_node_count(list) == 0)
		mpijob_node_remove(mpijob_doc_edit(doc, "metadata"), "ownerReferences");
	return mpijob__local_verbs_store(local, object, doc);
}

int mpijob__local_gc_remove_owner(struct mpijob_local *local, const char *uid)
{
	for (enum mpijob__local_kind_id kind = 0; kind < MPIJOB__LOCAL_KIND_COUNT; kind++) {
		for (struct mpijob__local_object *
			 object = mpijob__local_store_first(&local->store, kind),
			*next;
		     object; object = next) {
			int rc;

			next = mpijob__local_store_next(object);
			rc = owns(uid, object) ? remove_owner_reference(local, object, uid) : 0;
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* Delete all children and count those that were left. Each deletion may free that child, but no
 * other object. */
static int collect_children(struct mpijob_local *local, struct mpijob__local_object *owner,
    size_t *left)
{
	for (enum mpijob__local_kind_id kind = 0; kind < MPIJOB__LOCAL_KIND_COUNT; kind++) {
		for (struct mpijob__local_object *
			 object = mpijob__local_store_first(&local->store, kind),
			*next;
		     object; object = next) {
			int rc;

			next = mpijob__local_store_next(object);
			if (!owns(owner->uid, object))
				continue;
			rc = mpijob__local_store_deleting(object)
				 ? 0
				 : mpijob__local_deletion_run(local, object,
				       mpijob__local_deletion_has_children(local, object)
					   ? MPIJOB__LOCAL_DELETE_FOREGROUND
					   : MPIJOB__LOCAL_DELETE_BACKGROUND,
				       -1);
			if (rc)
				return rc;
			(*left)++;
		}
	}
	return 0;
}

static int finish_foreground(struct mpijob_local *local, struct mpijob__local_object *object)
{
	size_t left = 0;
	int rc = collect_children(local, object, &left);

	if (rc)
		return rc;
	/* Children that are removed at once set gc_pending again; the next round counts none. */
	return left ? 0
		    : mpijob__local_deletion_remove_finalizer(local, object,
			  MPIJOB__LOCAL_FINALIZER_FOREGROUND);
}

static int empty_namespace(struct mpijob_local *local, struct mpijob__local_object *namespace_)
{
	size_t left = 0;

	for (enum mpijob__local_kind_id kind = 0; kind < MPIJOB__LOCAL_KIND_COUNT; kind++) {
		for (struct mpijob__local_object *
			 object = mpijob__local_store_first(&local->store, kind),
			*next;
		     object; object = next) {
			int rc;

			next = mpijob__local_store_next(object);
			if (!(object->kind->flags & MPIJOB__LOCAL_KIND_NAMESPACED) ||
			    strcmp(object->namespace_, namespace_->name) != 0)
				continue;
			rc = mpijob__local_store_deleting(object)
				 ? 0
				 : mpijob__local_deletion_run(local, object,
				       MPIJOB__LOCAL_DELETE_BACKGROUND, -1);
			if (rc)
				return rc;
			left++;
		}
	}
	return left ? 0 : mpijob__local_store_remove(&local->store, namespace_);
}

static int collect_orphans(struct mpijob_local *local)
{
	for (enum mpijob__local_kind_id kind = 0; kind < MPIJOB__LOCAL_KIND_COUNT; kind++) {
		for (struct mpijob__local_object *
			 object = mpijob__local_store_first(&local->store, kind),
			*next;
		     object; object = next) {
			int rc = 0;

			next = mpijob__local_store_next(object);
			if (mpijob__local_gc_is_orphan(local, object) &&
			    !mpijob__local_store_deleting(object))
				rc = mpijob__local_deletion_run(local, object,
				    MPIJOB__LOCAL_DELETE_BACKGROUND, -1);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* Whether the removal of a pod with grace period 0 failed because memory ran out. */
static int is_removal_pending(const struct mpijob__local_object *object)
{
	int64_t grace = -1;

	mpijob_node_int(mpijob_node_find(mpijob_doc_root(object->doc),
			    "metadata.deletionGracePeriodSeconds"),
	    &grace);
	return object->kind->id == MPIJOB__LOCAL_KIND_POD && grace == 0 &&
	       mpijob_node_count(
		   mpijob_node_find(mpijob_doc_root(object->doc), "metadata.finalizers")) == 0;
}

static int needs_gc(const struct mpijob__local_object *object)
{
	return mpijob__local_store_deleting(object) &&
	       (is_removal_pending(object) || object->kind->id == MPIJOB__LOCAL_KIND_NAMESPACE ||
		   mpijob__local_deletion_has_finalizer(object,
		       MPIJOB__LOCAL_FINALIZER_FOREGROUND));
}

/* Complete one waiting deletion. 1: the store changed, so the caller must call this again, because
 * any object may be freed. 0: nothing is left to do. */
static int finish_deletions(struct mpijob_local *local)
{
	uint64_t version = local->store.version;

	for (enum mpijob__local_kind_id kind = 0; kind < MPIJOB__LOCAL_KIND_COUNT; kind++) {
		for (struct mpijob__local_object *object =
			 mpijob__local_store_first(&local->store, kind);
		     object; object = mpijob__local_store_next(object)) {
			int rc;

			if (!needs_gc(object))
				continue;
			if (is_removal_pending(object))
				rc = mpijob__local_store_remove(&local->store, object);
			else
				rc = kind == MPIJOB__LOCAL_KIND_NAMESPACE
					 ? empty_namespace(local, object)
					 : finish_foreground(local, object);
			if (rc)
				return rc;
			if (local->store.version != version)
				return 1;
		}
	}
	return 0;
}

int mpijob__local_gc_run(struct mpijob_local *local)
{
	int result = 0;

	while (local->gc_pending) {
		local->gc_pending = 0;
		result = collect_orphans(local);
		while (result == 0 || result == 1) {
			result = finish_deletions(local);
			if (result == 0)
				break;
		}
		if (result < 0) {
			local->gc_pending = 1;
			return result;
		}
	}
	return 0;
}
