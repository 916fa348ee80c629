/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How objects are deleted: preconditions and propagation policies, the grace period of pods, which
 * deletions wait for finalizers, children or processes, and which reply and store events result.
 */
#include "local/deletion.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "base/time.h"
#include "local/gc.h"
#include "local/verbs.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_GRACE_S 30

int mpijob__local_deletion_has_finalizer(const struct mpijob__local_object *object,
    const char *finalizer)
{
	const mpijob_node *list =
	    mpijob_node_find(mpijob_doc_root(object->doc), "metadata.finalizers");

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const char *text = mpijob_node_string(mpijob_node_at(list, i));

		if (text && strcmp(text, finalizer) == 0)
			return 1;
	}
	return 0;
}

int mpijob__local_deletion_remove_finalizer(struct mpijob_local *local,
    struct mpijob__local_object *object, const char *finalizer)
{
	mpijob_doc *doc = mpijob_doc_from_node(mpijob_doc_root(object->doc), NULL);
	mpijob_node *list;

	if (!doc)
		return MPIJOB_ERR_NOMEM;
	list = mpijob_doc_edit(doc, "metadata.finalizers");
	for (size_t i = mpijob_node_count(list); i-- > 0;) {
		const char *text = mpijob_node_string(mpijob_node_at(list, i));

		if (text && strcmp(text, finalizer) == 0)
			mpijob_node_remove_at(list, i);
	}
	if (mpijob_node_count(list) == 0)
		mpijob_node_remove(mpijob_doc_edit(doc, "metadata"), "finalizers");
	return mpijob__local_verbs_store(local, object, doc);
}

/* The grace period in seconds; 0 when the object is not a pod with processes. */
static int64_t pod_grace(const struct mpijob__local_object *object, int64_t requested)
{
	const char *phase = mpijob__local_store_text(object, "status.phase");
	const char *node = mpijob__local_store_text(object, "spec.nodeName");
	int64_t grace = DEFAULT_GRACE_S;

	if (object->kind->id != MPIJOB__LOCAL_KIND_POD || !node || !*node)
		return 0;
	if (phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0))
		return 0;
	if (requested >= 0)
		return requested;
	mpijob_node_int(mpijob_node_find(mpijob_doc_root(object->doc),
			    "spec.terminationGracePeriodSeconds"),
	    &grace);
	return grace > 0 ? grace : 1;
}

static void put_deletion_timestamp(mpijob_doc *doc, int64_t grace)
{
	mpijob_node *metadata = mpijob_doc_make(doc, "metadata");
	char when[MPIJOB__BASE_TIME_SIZE];
	int64_t generation = 0;

	/* As in Kubernetes, starting the deletion increments the generation. */
	if (!mpijob_node_get(metadata, "deletionTimestamp") &&
	    mpijob_node_int(mpijob_node_get(metadata, "generation"), &generation))
		mpijob_node_put_int(doc, metadata, "generation", generation + 1);
	(void)mpijob__base_time_format(mpijob__base_clock_wall_ms() / 1000 + grace, when);
	mpijob_node_put_string(doc, metadata, "deletionTimestamp", when);
	mpijob_node_put_int(doc, metadata, "deletionGracePeriodSeconds", grace);
}

static int begin_deletion(struct mpijob_local *local, struct mpijob__local_object *object,
    int policy, int64_t grace)
{
	mpijob_doc *doc = mpijob_doc_from_node(mpijob_doc_root(object->doc), NULL);

	put_deletion_timestamp(doc, grace);
	if (policy == MPIJOB__LOCAL_DELETE_FOREGROUND &&
	    object->kind->id != MPIJOB__LOCAL_KIND_NAMESPACE) {
		mpijob_node *metadata = mpijob_doc_make(doc, "metadata");
		mpijob_node *list = mpijob_node_edit(metadata, "finalizers");

		mpijob_node_append_string(doc,
		    list ? list : mpijob_node_put_list(doc, metadata, "finalizers"),
		    MPIJOB__LOCAL_FINALIZER_FOREGROUND);
	}
	if (object->kind->id == MPIJOB__LOCAL_KIND_NAMESPACE)
		mpijob_node_put_string(doc, mpijob_doc_make(doc, "status"), "phase", "Terminating");
	local->gc_pending = 1;
	return mpijob__local_verbs_store(local, object, doc);
}

int mpijob__local_deletion_has_children(const struct mpijob_local *local,
    const struct mpijob__local_object *owner)
{
	for (enum mpijob__local_kind_id kind = 0; kind < MPIJOB__LOCAL_KIND_COUNT; kind++) {
		for (struct mpijob__local_object *object =
			 mpijob__local_store_first(&local->store, kind);
		     object; object = mpijob__local_store_next(object)) {
			for (size_t i = 0; i < object->owner_count; i++) {
				if (strcmp(object->owners[i], owner->uid) == 0)
					return 1;
			}
		}
	}
	return 0;
}

static int must_wait(const struct mpijob__local_object *object, int policy, int64_t grace)
{
	return grace > 0 || object->kind->id == MPIJOB__LOCAL_KIND_NAMESPACE ||
	       policy == MPIJOB__LOCAL_DELETE_FOREGROUND ||
	       mpijob_node_count(
		   mpijob_node_find(mpijob_doc_root(object->doc), "metadata.finalizers")) > 0;
}

/* Remove an object. For a pod there are two store events, as in Kubernetes: grace period 0, then
 * DELETED. */
static int remove_now(struct mpijob_local *local, struct mpijob__local_object *object)
{
	mpijob_doc *doc;
	int rc = 0;

	if (object->kind->id == MPIJOB__LOCAL_KIND_POD) {
		doc = mpijob_doc_from_node(mpijob_doc_root(object->doc), NULL);
		if (!doc)
			return MPIJOB_ERR_NOMEM;
		put_deletion_timestamp(doc, 0);
		rc = mpijob__local_verbs_store(local, object, doc);
	}
	if (!rc)
		rc = mpijob__local_store_remove(&local->store, object);
	if (rc)
		local->gc_pending = 1; /* the garbage collector retries */
	return rc;
}

int mpijob__local_deletion_run(struct mpijob_local *local, struct mpijob__local_object *object,
    int policy, int64_t grace)
{
	int64_t pod_grace_s = pod_grace(object, grace);
	int rc = 0;

	if (policy == MPIJOB__LOCAL_DELETE_ORPHAN && !mpijob__local_store_deleting(object))
		rc = mpijob__local_gc_remove_owner(local, object->uid);
	if (rc)
		return rc;
	if (mpijob__local_store_deleting(object)) {
		if (object->kind->id != MPIJOB__LOCAL_KIND_POD ||
		    must_wait(object, MPIJOB__LOCAL_DELETE_BACKGROUND, pod_grace_s))
			return 0;
		return remove_now(local, object);
	}
	if (must_wait(object, policy, pod_grace_s))
		return begin_deletion(local, object, policy, pod_grace_s);
	return remove_now(local, object);
}

static int check_preconditions(const struct mpijob__local_object *object,
    const struct mpijob__local_delete_options *options, struct mpijob__local_reply *reply)
{
	uint64_t version = 0;

	if (options->uid && strcmp(options->uid, object->uid) != 0)
		return mpijob__local_reply_conflict(reply, object->kind, object->name,
		    mpijob__base_text_format(
			"Precondition failed: UID in precondition: %s, UID in object: %s",
			options->uid, object->uid));
	if (!options->version || (mpijob__base_number_parse(options->version, &version) &&
				     version == object->now->version))
		return 0;
	return mpijob__local_reply_conflict(reply, object->kind, object->name,
	    mpijob__base_text_format(
		"Precondition failed: resourceVersion in precondition: %s, in object: %llu",
		options->version, (unsigned long long)object->now->version));
}

/* As in Kubernetes, the reply is the object while its deletion waits, and the last version of a pod
 * or Service; otherwise a Status. */
static int remove_and_reply(struct mpijob_local *local, struct mpijob__local_object *object,
    int policy, int64_t grace, struct mpijob__local_reply *reply)
{
	const struct mpijob__local_kind *kind = object->kind;
	int is_shown = kind->id == MPIJOB__LOCAL_KIND_POD || kind->id == MPIJOB__LOCAL_KIND_SERVICE;
	const struct mpijob__local_collection *collection = &local->store.collections[kind->id];
	char *uid = strdup(object->uid);
	const struct mpijob__local_object *remaining;
	int rc = uid ? mpijob__local_reply_deleted(reply, object) : MPIJOB_ERR_NOMEM;

	if (!rc)
		rc = mpijob__local_deletion_run(local, object, policy, grace);
	remaining = rc ? NULL : mpijob__local_store_by_uid(&local->store, uid);
	if (remaining)
		rc = mpijob__local_reply_object(reply, 200, remaining);
	else if (!rc && is_shown)
		rc = mpijob__local_reply_revision(reply, 200,
		    collection->history[collection->history_count - 1].now);
	free(uid);
	return rc;
}

int mpijob__local_deletion_serve(struct mpijob_local *local, struct mpijob__local_object *object,
    const struct mpijob__local_delete_options *options, struct mpijob__local_reply *reply)
{
	int policy = options->policy;
	const struct mpijob__local_kind *kind = object->kind;
	const char *warning = NULL;
	int rc = check_preconditions(object, options, reply);

	if (rc || reply->status)
		return rc;
	/* Only batch/v1 orphans children by default. */
	if (policy == MPIJOB__LOCAL_DELETE_DEFAULT && kind->id == MPIJOB__LOCAL_KIND_JOB) {
		policy = MPIJOB__LOCAL_DELETE_ORPHAN;
		warning = "the pods of the Job are kept; set propagationPolicy to Background to "
			  "delete them, or to Orphan to keep them without this warning";
	}
	rc = remove_and_reply(local, object, policy, options->grace, reply);
	reply->warning = warning;
	return rc;
}
