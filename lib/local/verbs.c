/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Create, update and patch: which metadata the server sets, when an update conflicts or changes
 * nothing, what an update of the status subresource changes, and when the removal of the last
 * finalizer completes a deletion.
 */
#include "local/verbs.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "base/time.h"
#include "local/gc.h"
#include "local/rules.h"

#include <stdlib.h>
#include <string.h>

#define NAME_TRIES 8

/* ---- create ---- */

static int check_api_version(const struct mpijob__local_kind *kind, const mpijob_node *body,
    struct mpijob__local_reply *reply)
{
	const char *version = mpijob_node_string(mpijob_node_get(body, "apiVersion"));
	const char *name = mpijob_node_string(mpijob_node_get(body, "kind"));
	size_t group = strlen(kind->group);

	if (mpijob_node_kind(body) != MPIJOB_NODE_MAP)
		return mpijob__local_reply_error(reply, 400, "BadRequest", kind, NULL,
		    mpijob__base_text_format("the body is not an object"));
	if (version && group &&
	    (strncmp(version, kind->group, group) != 0 || version[group] != '/'))
		version = "";
	else if (version && group)
		version += group + 1;
	if ((!version || strcmp(version, kind->version) == 0) &&
	    (!name || strcmp(name, kind->name) == 0))
		return 0;
	return mpijob__local_reply_error(reply, 400, "BadRequest", kind, NULL,
	    mpijob__base_text_format("the body is not a %s of %s%s%s", kind->name, kind->group,
		group ? "/" : "", kind->version));
}

static int check_namespace(struct mpijob_local *local, const struct mpijob__local_kind *kind,
    const char *namespace_, const mpijob_node *metadata, struct mpijob__local_reply *reply)
{
	const char *inside = mpijob_node_string(mpijob_node_get(metadata, "namespace"));
	const struct mpijob__local_object *object;

	if (!(kind->flags & MPIJOB__LOCAL_KIND_NAMESPACED))
		return 0;
	if (inside && *inside && strcmp(inside, namespace_) != 0)
		return mpijob__local_reply_error(reply, 400, "BadRequest", kind, NULL,
		    mpijob__base_text_format(
			"the namespace of the object (%s) does not match that of the request (%s)",
			inside, namespace_));
	object =
	    mpijob__local_store_find(&local->store, MPIJOB__LOCAL_KIND_NAMESPACE, "", namespace_);
	if (!object)
		return mpijob__local_reply_not_found(reply,
		    mpijob__local_store_kind(MPIJOB__LOCAL_KIND_NAMESPACE), namespace_);
	if (!mpijob__local_store_deleting(object))
		return 0;
	return mpijob__local_reply_cause(reply, 403, "Forbidden", kind, NULL,
	    "NamespaceTerminating", "metadata.namespace",
	    mpijob__base_text_format("%s cannot be created: namespace %s is being deleted",
		kind->plural, namespace_));
}

/* Ensure that metadata.name is set, from generateName if necessary. */
static int choose_name(struct mpijob_local *local, const struct mpijob__local_kind *kind,
    const char *namespace_, mpijob_doc *doc, struct mpijob__local_reply *reply)
{
	mpijob_node *metadata = mpijob_doc_make(doc, "metadata");
	const char *name = mpijob_node_string(mpijob_node_get(metadata, "name"));
	const char *prefix = mpijob_node_string(mpijob_node_get(metadata, "generateName"));
	char suffix[6] = "";

	if (!metadata)
		return MPIJOB_ERR_NOMEM;
	if (name && *name)
		return 0;
	if (!prefix || !*prefix)
		return mpijob__local_reply_invalid(reply, kind, "", "FieldValueRequired",
		    "metadata.name",
		    mpijob__base_text_format("Required value: name or generateName is required"));
	for (int i = 0; i < NAME_TRIES; i++) {
		char *candidate = mpijob__base_random_suffix(suffix, 5)
				      ? NULL
				      : mpijob__base_text_format("%s%s", prefix, suffix);
		int taken;

		if (!candidate)
			return MPIJOB_ERR_NOMEM;
		taken = mpijob__local_store_find(&local->store, kind->id, namespace_, candidate) !=
			NULL;
		if (!taken)
			mpijob_node_put_string(doc, metadata, "name", candidate);
		free(candidate);
		if (mpijob_doc_error(doc))
			return MPIJOB_ERR_NOMEM;
		if (!taken)
			return 0;
	}
	return mpijob__local_reply_error(reply, 409, "AlreadyExists", kind, prefix,
	    mpijob__base_text_format("no free name begins with \"%s\"", prefix));
}

/* Set the metadata of a new object that the server owns. */
static int set_server_metadata(const struct mpijob__local_kind *kind, const char *namespace_,
    mpijob_doc *doc)
{
	static const char *const server_fields[] = { "resourceVersion", "deletionTimestamp",
		"deletionGracePeriodSeconds", "generation", "selfLink" };
	mpijob_node *metadata = mpijob_doc_make(doc, "metadata");
	char uid[MPIJOB__BASE_RANDOM_UUID_SIZE];
	char now[MPIJOB__BASE_TIME_SIZE];

	if (mpijob__base_random_uuid(uid))
		return MPIJOB_ERR_NOMEM;
	(void)mpijob__base_time_format(mpijob__base_clock_wall_ms() / 1000, now);
	for (size_t i = 0; i < sizeof(server_fields) / sizeof(server_fields[0]); i++)
		mpijob_node_remove(metadata, server_fields[i]);
	if (kind->flags & MPIJOB__LOCAL_KIND_NAMESPACED)
		mpijob_node_put_string(doc, metadata, "namespace", namespace_);
	else
		mpijob_node_remove(metadata, "namespace");
	mpijob_node_put_string(doc, metadata, "uid", uid);
	mpijob_node_put_string(doc, metadata, "creationTimestamp", now);
	if (kind->flags & MPIJOB__LOCAL_KIND_GENERATION)
		mpijob_node_put_int(doc, metadata, "generation", 1);
	if (kind->flags & MPIJOB__LOCAL_KIND_STATUS)
		mpijob_node_remove(mpijob_doc_edit(doc, ""), "status");
	return 0;
}

static mpijob_doc *copy_with_kind(const struct mpijob__local_kind *kind, const mpijob_node *body)
{
	mpijob_doc *doc = mpijob_doc_from_node(body, NULL);
	mpijob_node *root = mpijob_doc_edit(doc, "");
	char *version =
	    mpijob__base_text_format("%s%s%s", kind->group, *kind->group ? "/" : "", kind->version);

	if (version) {
		mpijob_node_put_string(doc, root, "kind", kind->name);
		mpijob_node_put_string(doc, root, "apiVersion", version);
	}
	free(version);
	if (version && !mpijob_doc_error(doc))
		return doc;
	mpijob_doc_free(doc);
	return NULL;
}

static int check_create(struct mpijob_local *local, const struct mpijob__local_kind *kind,
    const char *namespace_, mpijob_doc *doc, struct mpijob__local_reply *reply)
{
	const mpijob_node *metadata = mpijob_node_get(mpijob_doc_root(doc), "metadata");
	const char *version = mpijob_node_string(mpijob_node_get(metadata, "resourceVersion"));
	const char *name;
	int rc;

	if (metadata && mpijob_node_kind(metadata) != MPIJOB_NODE_MAP)
		return mpijob__local_reply_error(reply, 400, "BadRequest", kind, NULL,
		    mpijob__base_text_format("metadata is not a map"));
	if (version && *version)
		return mpijob__local_reply_error(reply, 400, "BadRequest", kind, NULL,
		    mpijob__base_text_format(
			"resourceVersion must not be set on objects to be created"));
	rc = check_namespace(local, kind, namespace_, metadata, reply);
	if (!rc && !reply->status)
		rc = choose_name(local, kind, namespace_, doc, reply);
	if (rc || reply->status)
		return rc;
	if (mpijob_doc_error(doc))
		return MPIJOB_ERR_NOMEM;
	name = mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.name"));
	if (!mpijob__local_store_find(&local->store, kind->id, namespace_, name))
		return 0;
	return mpijob__local_reply_error(reply, 409, "AlreadyExists", kind, name,
	    mpijob__base_text_format("%s%s%s \"%s\" already exists", kind->plural,
		*kind->group ? "." : "", kind->group, name));
}

/* Default, check and store a new object. Takes ownership of `doc`. */
static int finish_create(struct mpijob_local *local, const struct mpijob__local_kind *kind,
    const char *namespace_, mpijob_doc *doc, struct mpijob__local_reply *reply,
    struct mpijob__local_object **out)
{
	struct mpijob__local_object *object;
	int rc = set_server_metadata(kind, namespace_, doc);

	if (!rc)
		rc = mpijob__local_rules_new(kind, doc, reply);
	if (!rc && mpijob_doc_error(doc))
		rc = MPIJOB_ERR_NOMEM;
	if (rc || reply->status) {
		mpijob_doc_free(doc);
		return rc;
	}
	rc = mpijob__local_store_add(&local->store, kind, namespace_, doc, &object);
	if (rc)
		return rc;
	if (mpijob__local_gc_is_orphan(local, object))
		local->gc_pending = 1;
	if (out)
		*out = object;
	return mpijob__local_reply_object(reply, 201, object);
}

int mpijob__local_verbs_create(struct mpijob_local *local, const struct mpijob__local_kind *kind,
    const char *namespace_, const mpijob_node *body, struct mpijob__local_reply *reply,
    struct mpijob__local_object **out)
{
	mpijob_doc *doc;
	int rc = check_api_version(kind, body, reply);

	if (rc || reply->status)
		return rc;
	doc = copy_with_kind(kind, body);
	if (!doc)
		return MPIJOB_ERR_NOMEM;
	rc = check_create(local, kind, namespace_, doc, reply);
	if (rc || reply->status) {
		mpijob_doc_free(doc);
		return rc;
	}
	return finish_create(local, kind, namespace_, doc, reply, out);
}

/* ---- update ---- */

static int is_custom(const struct mpijob__local_kind *kind)
{
	return kind->id == MPIJOB__LOCAL_KIND_MPIJOB ||
	       kind->id == MPIJOB__LOCAL_KIND_VOLCANO_POD_GROUP ||
	       kind->id == MPIJOB__LOCAL_KIND_SCHEDULER_POD_GROUP;
}

/* In a patch another uid is an attempt to change it; in an update it is a failed precondition. */
static int reject_uid(const struct mpijob__local_object *object, const char *uid, int patch,
    struct mpijob__local_reply *reply)
{
	if (patch)
		return mpijob__local_reply_invalid(reply, object->kind, object->name,
		    "FieldValueInvalid", "metadata.uid",
		    mpijob__base_text_format("Invalid value: \"%s\": the uid cannot change", uid));
	return mpijob__local_reply_error(reply, 409, "Conflict", object->kind, object->name,
	    mpijob__base_text_format(
		"Precondition failed: UID in precondition: %s, UID in object: %s", uid,
		object->uid));
}

static int check_identity(const struct mpijob__local_object *object, const mpijob_node *metadata,
    int how, struct mpijob__local_reply *reply)
{
	const char *version = mpijob_node_text(mpijob_node_get(metadata, "resourceVersion"));
	const char *uid = mpijob_node_string(mpijob_node_get(metadata, "uid"));
	const char *name = mpijob_node_string(mpijob_node_get(metadata, "name"));
	const char *namespace_ = mpijob_node_string(mpijob_node_get(metadata, "namespace"));
	uint64_t number = 0;

	if (!name || strcmp(name, object->name) != 0)
		return mpijob__local_reply_error(reply, 400, "BadRequest", object->kind,
		    object->name,
		    mpijob__base_text_format(
			"the name of the object (%s) does not match that of the request (%s)",
			name ? name : "", object->name));
	if (namespace_ && strcmp(namespace_, object->namespace_) != 0)
		return mpijob__local_reply_error(reply, 400, "BadRequest", object->kind,
		    object->name,
		    mpijob__base_text_format(
			"the namespace of the object (%s) does not match that of the request (%s)",
			namespace_, object->namespace_));
	/* A status update of a custom resource ignores all other fields. */
	if (uid && *uid && strcmp(uid, object->uid) != 0 &&
	    !((how & MPIJOB__LOCAL_UPDATE_STATUS) && is_custom(object->kind)))
		return reject_uid(object, uid, how & MPIJOB__LOCAL_UPDATE_PATCH, reply);
	if ((!version || !*version) && is_custom(object->kind))
		return mpijob__local_reply_cause(reply, 422, "Invalid", object->kind, object->name,
		    "FieldValueInvalid", "metadata.resourceVersion",
		    mpijob__base_text_format(
			"metadata.resourceVersion: it must be given when %s are replaced",
			object->kind->plural));
	if (!version || !*version)
		return 0;
	if (!mpijob__base_number_parse(version, &number))
		return mpijob__local_reply_invalid(reply, object->kind, object->name,
		    "FieldValueInvalid", "metadata.resourceVersion",
		    mpijob__base_text_format("Invalid value: \"%s\": must be a number", version));
	if (number == object->now->version)
		return 0;
	return mpijob__local_reply_error(reply, 409, "Conflict", object->kind, object->name,
	    mpijob__base_text_format("Operation cannot be fulfilled on %s%s%s \"%s\": the object "
				     "has been modified; get it again and repeat the change",
		object->kind->plural, *object->kind->group ? "." : "", object->kind->group,
		object->name));
}

static void restore(mpijob_doc *doc, mpijob_node *map, const mpijob_node *old_map, const char *key)
{
	const mpijob_node *old = mpijob_node_get(old_map, key);

	if (old)
		mpijob_node_put_copy(doc, map, key, old);
	else
		mpijob_node_remove(map, key);
}

/* Restore the fields that only the server may set. */
static void restore_server_fields(const struct mpijob__local_object *object, mpijob_doc *doc)
{
	static const char *const server_fields[] = { "namespace", "uid", "creationTimestamp",
		"deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion",
		"generateName" };
	const mpijob_node *old = mpijob_doc_root(object->doc);
	mpijob_node *root = mpijob_doc_edit(doc, "");
	mpijob_node *metadata = mpijob_doc_make(doc, "metadata");

	for (size_t i = 0; i < sizeof(server_fields) / sizeof(server_fields[0]); i++)
		restore(doc, metadata, mpijob_node_get(old, "metadata"), server_fields[i]);
	restore(doc, root, old, "kind");
	restore(doc, root, old, "apiVersion");
	if (object->kind->flags & MPIJOB__LOCAL_KIND_STATUS)
		restore(doc, root, old, "status");
}

/* The stored object with the status of `fresh`; NULL when memory ran out. */
static mpijob_doc *with_status(const struct mpijob__local_object *object, const mpijob_doc *fresh)
{
	mpijob_doc *doc = mpijob_doc_from_node(mpijob_doc_root(object->doc), NULL);

	restore(doc, mpijob_doc_edit(doc, ""), mpijob_doc_root(fresh), "status");
	return doc;
}

static int counts_for_generation(const char *key)
{
	return strcmp(key, "metadata") != 0 && strcmp(key, "status") != 0;
}

static int spec_changed(const struct mpijob__local_object *object, const mpijob_doc *doc)
{
	const mpijob_node *old = mpijob_doc_root(object->doc);
	const mpijob_node *new_ = mpijob_doc_root(doc);

	for (size_t i = 0; i < mpijob_node_count(new_); i++) {
		const char *key = mpijob_node_key(new_, i);

		if (counts_for_generation(key) &&
		    !mpijob_node_equal(mpijob_node_get(old, key), mpijob_node_at(new_, i)))
			return 1;
	}
	for (size_t i = 0; i < mpijob_node_count(old); i++) {
		const char *key = mpijob_node_key(old, i);

		if (counts_for_generation(key) && !mpijob_node_get(new_, key))
			return 1;
	}
	return 0;
}

static void bump_generation(const struct mpijob__local_object *object, mpijob_doc *doc)
{
	int64_t generation = 0;

	if (!(object->kind->flags & MPIJOB__LOCAL_KIND_GENERATION) || !spec_changed(object, doc))
		return;
	mpijob_node_int(mpijob_node_find(mpijob_doc_root(object->doc), "metadata.generation"),
	    &generation);
	mpijob_node_put_int(doc, mpijob_doc_make(doc, "metadata"), "generation", generation + 1);
}

static int has_finalizers(const mpijob_doc *doc)
{
	return mpijob_node_count(mpijob_node_find(mpijob_doc_root(doc), "metadata.finalizers")) > 0;
}

/* Whether the new content removes the last finalizer of an object that is being deleted, so that
 * the object must be removed. A pod is removed later, when its processes have ended. */
static int completes_deletion(const struct mpijob__local_object *object, const mpijob_doc *doc)
{
	int64_t grace = 0;

	if (!mpijob__local_store_deleting(object) || has_finalizers(doc) ||
	    !has_finalizers(object->doc))
		return 0;
	mpijob_node_int(mpijob_node_find(mpijob_doc_root(doc),
			    "metadata.deletionGracePeriodSeconds"),
	    &grace);
	return grace == 0 && object->kind->id != MPIJOB__LOCAL_KIND_NAMESPACE;
}

int mpijob__local_verbs_store(struct mpijob_local *local, struct mpijob__local_object *object,
    mpijob_doc *doc)
{
	if (mpijob_doc_error(doc)) {
		mpijob_doc_free(doc);
		return MPIJOB_ERR_NOMEM;
	}
	if (mpijob_node_equal(mpijob_doc_root(doc), mpijob_doc_root(object->doc))) {
		mpijob_doc_free(doc);
		return 0;
	}
	if (!completes_deletion(object, doc))
		return mpijob__local_store_replace(&local->store, object, doc);
	/* Only DELETED is recorded, not the removal of the finalizer. */
	mpijob_doc_free(doc);
	return mpijob__local_store_remove(&local->store, object);
}

static int store_and_reply(struct mpijob_local *local, struct mpijob__local_object *object,
    mpijob_doc *doc, struct mpijob__local_reply *reply)
{
	int object_deleted = completes_deletion(object, doc);
	int rc;

	if (object_deleted) {
		/* Build the reply first: the call below frees the object. */
		rc = mpijob__local_reply_doc(reply, 200, doc);
		return rc ? rc : mpijob__local_verbs_store(local, object, doc);
	}
	rc = mpijob__local_verbs_store(local, object, doc);
	return rc ? rc : mpijob__local_reply_object(reply, 200, object);
}

int mpijob__local_verbs_update(struct mpijob_local *local, struct mpijob__local_object *object,
    mpijob_doc *fresh, int how, struct mpijob__local_reply *reply)
{
	mpijob_doc *doc = fresh;
	int rc = check_api_version(object->kind, mpijob_doc_root(fresh), reply);

	if (!rc && !reply->status)
		rc = check_identity(object, mpijob_node_get(mpijob_doc_root(fresh), "metadata"),
		    how, reply);
	if (!rc && !reply->status && (how & MPIJOB__LOCAL_UPDATE_STATUS)) {
		doc = with_status(object, fresh);
		mpijob_doc_free(fresh);
	} else if (!rc && !reply->status) {
		restore_server_fields(object, doc);
		rc = mpijob__local_rules_change(object, doc, reply);
		bump_generation(object, doc);
	}
	if (!rc && !reply->status && mpijob_doc_error(doc))
		rc = MPIJOB_ERR_NOMEM;
	if (rc || reply->status) {
		mpijob_doc_free(doc);
		return rc;
	}
	return store_and_reply(local, object, doc, reply);
}

int mpijob__local_verbs_patch(struct mpijob_local *local, struct mpijob__local_object *object,
    const mpijob_node *patch, int status, struct mpijob__local_reply *reply)
{
	mpijob_doc *doc;

	if (mpijob_node_kind(patch) != MPIJOB_NODE_MAP)
		return mpijob__local_reply_error(reply, 400, "BadRequest", object->kind,
		    object->name, mpijob__base_text_format("the patch is not an object"));
	doc = mpijob_doc_from_node(mpijob_doc_root(object->doc), NULL);
	if (!doc || mpijob_doc_merge(doc, patch)) {
		mpijob_doc_free(doc);
		return MPIJOB_ERR_NOMEM;
	}
	return mpijob__local_verbs_update(local, object, doc,
	    MPIJOB__LOCAL_UPDATE_PATCH | (status ? MPIJOB__LOCAL_UPDATE_STATUS : 0), reply);
}
