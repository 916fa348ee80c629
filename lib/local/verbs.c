/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What creating, replacing, patching and deleting mean: which parts of metadata belong to the
 * server, when a change conflicts, when it is none, what status subresources let through, and how a
 * deletion waits for finalizers and for the processes of a pod.
 */
#include "verbs.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "base/time.h"
#include "gc.h"
#include "rules.h"

#include <stdlib.h>
#include <string.h>

#define NAME_TRIES 8

/* Create. */

static int check_api_version(const struct kind *kind, const mpijob_node *body, struct reply *reply)
{
	const char *version = mpijob_node_string(mpijob_node_get(body, "apiVersion"));
	const char *name = mpijob_node_string(mpijob_node_get(body, "kind"));
	size_t group = strlen(kind->group);

	if (mpijob_node_kind(body) != MPIJOB_NODE_MAP)
		return mpijob__local_reply_refuse(reply, 400, "BadRequest", kind, NULL,
		    mpijob__base_text_format("the body is no object"));
	if (version && group &&
	    (strncmp(version, kind->group, group) != 0 || version[group] != '/'))
		version = "";
	else if (version && group)
		version += group + 1;
	if ((!version || strcmp(version, kind->version) == 0) &&
	    (!name || strcmp(name, kind->name) == 0))
		return 0;
	return mpijob__local_reply_refuse(reply, 400, "BadRequest", kind, NULL,
	    mpijob__base_text_format("the body is no %s of %s%s%s", kind->name, kind->group,
		group ? "/" : "", kind->version));
}

static int check_namespace(struct mpijob_local *local, const struct kind *kind,
    const char *namespace_, const mpijob_node *metadata, struct reply *reply)
{
	const char *inside = mpijob_node_string(mpijob_node_get(metadata, "namespace"));
	const struct object *object;

	if (!(kind->flags & KIND_NAMESPACED))
		return 0;
	if (inside && *inside && strcmp(inside, namespace_) != 0)
		return mpijob__local_reply_refuse(reply, 400, "BadRequest", kind, NULL,
		    mpijob__base_text_format(
			"the namespace of the object (%s) is not that of the request (%s)", inside,
			namespace_));
	object = mpijob__local_store_find(&local->store, KIND_NAMESPACE, "", namespace_);
	if (!object)
		return mpijob__local_reply_not_found(reply,
		    mpijob__local_store_kind(KIND_NAMESPACE), namespace_);
	if (!mpijob__local_store_deleting(object))
		return 0;
	return mpijob__local_reply_cause(reply, 403, "Forbidden", kind, NULL,
	    "NamespaceTerminating", "metadata.namespace",
	    mpijob__base_text_format("%s cannot be created: namespace %s is being deleted",
		kind->plural, namespace_));
}

/* Settles the name into metadata. */
static int choose_name(struct mpijob_local *local, const struct kind *kind, const char *namespace_,
    mpijob_doc *doc, struct reply *reply)
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
		char *made = mpijob__base_random_suffix(suffix, 5)
				 ? NULL
				 : mpijob__base_text_format("%s%s", prefix, suffix);
		int taken;

		if (!made)
			return MPIJOB_ERR_NOMEM;
		taken = mpijob__local_store_find(&local->store, kind->id, namespace_, made) != NULL;
		if (!taken)
			mpijob_node_put_string(doc, metadata, "name", made);
		free(made);
		if (mpijob_doc_error(doc))
			return MPIJOB_ERR_NOMEM;
		if (!taken)
			return 0;
	}
	return mpijob__local_reply_refuse(reply, 409, "AlreadyExists", kind, prefix,
	    mpijob__base_text_format("no free name for \"%s\"", prefix));
}

/* The server's part of a new object's metadata. */
static int own_metadata(const struct kind *kind, const char *namespace_, mpijob_doc *doc)
{
	static const char *const not_yours[] = { "resourceVersion", "deletionTimestamp",
		"deletionGracePeriodSeconds", "generation", "selfLink" };
	mpijob_node *metadata = mpijob_doc_make(doc, "metadata");
	char uid[MPIJOB__BASE_RANDOM_UUID_SIZE];
	char now[MPIJOB__BASE_TIME_SIZE];

	if (mpijob__base_random_uuid(uid))
		return MPIJOB_ERR_NOMEM;
	(void)mpijob__base_time_format(mpijob__base_clock_wall_ms() / 1000, now);
	for (size_t i = 0; i < sizeof(not_yours) / sizeof(not_yours[0]); i++)
		mpijob_node_remove(metadata, not_yours[i]);
	if (kind->flags & KIND_NAMESPACED)
		mpijob_node_put_string(doc, metadata, "namespace", namespace_);
	else
		mpijob_node_remove(metadata, "namespace");
	mpijob_node_put_string(doc, metadata, "uid", uid);
	mpijob_node_put_string(doc, metadata, "creationTimestamp", now);
	if (kind->flags & KIND_GENERATION)
		mpijob_node_put_int(doc, metadata, "generation", 1);
	if (kind->flags & KIND_STATUS)
		mpijob_node_remove(mpijob_doc_edit(doc), "status");
	return 0;
}

static mpijob_doc *named_copy(const struct kind *kind, const mpijob_node *body)
{
	mpijob_doc *doc = mpijob_doc_from_node(body);
	mpijob_node *root = mpijob_doc_edit(doc);
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

static int check_create(struct mpijob_local *local, const struct kind *kind, const char *namespace_,
    mpijob_doc *doc, struct reply *reply)
{
	const mpijob_node *metadata = mpijob_node_get(mpijob_doc_root(doc), "metadata");
	const char *version = mpijob_node_string(mpijob_node_get(metadata, "resourceVersion"));
	const char *name;
	int error;

	if (metadata && mpijob_node_kind(metadata) != MPIJOB_NODE_MAP)
		return mpijob__local_reply_refuse(reply, 400, "BadRequest", kind, NULL,
		    mpijob__base_text_format("metadata is no map"));
	if (version && *version)
		return mpijob__local_reply_refuse(reply, 400, "BadRequest", kind, NULL,
		    mpijob__base_text_format(
			"resourceVersion must not be set on objects to be created"));
	error = check_namespace(local, kind, namespace_, metadata, reply);
	if (!error && !reply->status)
		error = choose_name(local, kind, namespace_, doc, reply);
	if (error || reply->status)
		return error;
	if (mpijob_doc_error(doc))
		return MPIJOB_ERR_NOMEM;
	name = mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), "metadata.name"));
	if (!mpijob__local_store_find(&local->store, kind->id, namespace_, name))
		return 0;
	return mpijob__local_reply_refuse(reply, 409, "AlreadyExists", kind, name,
	    mpijob__base_text_format("%s%s%s \"%s\" already exists", kind->plural,
		*kind->group ? "." : "", kind->group, name));
}

/* Takes the document. */
static int finish_create(struct mpijob_local *local, const struct kind *kind,
    const char *namespace_, mpijob_doc *doc, struct reply *reply, struct object **out)
{
	struct object *object;
	int error = own_metadata(kind, namespace_, doc);

	if (!error)
		error = mpijob__local_rules_new(kind, doc, reply);
	if (!error && mpijob_doc_error(doc))
		error = MPIJOB_ERR_NOMEM;
	if (error || reply->status) {
		mpijob_doc_free(doc);
		return error;
	}
	error = mpijob__local_store_add(&local->store, kind, namespace_, doc, &object);
	if (error)
		return error;
	if (mpijob__local_gc_is_orphan(local, object))
		local->collect = 1;
	if (out)
		*out = object;
	return mpijob__local_reply_object(reply, 201, object);
}

int mpijob__local_verbs_create(struct mpijob_local *local, const struct kind *kind,
    const char *namespace_, const mpijob_node *body, struct reply *reply, struct object **out)
{
	mpijob_doc *doc;
	int error = check_api_version(kind, body, reply);

	if (error || reply->status)
		return error;
	doc = named_copy(kind, body);
	if (!doc)
		return MPIJOB_ERR_NOMEM;
	error = check_create(local, kind, namespace_, doc, reply);
	if (error || reply->status) {
		mpijob_doc_free(doc);
		return error;
	}
	return finish_create(local, kind, namespace_, doc, reply, out);
}

/* Update. */

static int is_custom(const struct kind *kind)
{
	return kind->id == KIND_MPIJOB || kind->id == KIND_VOLCANO_POD_GROUP ||
	       kind->id == KIND_SCHEDULER_POD_GROUP;
}

/* A patch does not name the object that it means: another uid would be a change. */
static int refuse_uid(const struct object *object, const char *uid, int patch, struct reply *reply)
{
	if (patch)
		return mpijob__local_reply_invalid(reply, object->kind, object->name,
		    "FieldValueInvalid", "metadata.uid",
		    mpijob__base_text_format("Invalid value: \"%s\": the uid cannot change", uid));
	return mpijob__local_reply_refuse(reply, 409, "Conflict", object->kind, object->name,
	    mpijob__base_text_format(
		"Precondition failed: UID in precondition: %s, UID in object: %s", uid,
		object->uid));
}

static int check_same(const struct object *object, const mpijob_node *metadata, int how,
    struct reply *reply)
{
	const char *version = mpijob_node_text(mpijob_node_get(metadata, "resourceVersion"));
	const char *uid = mpijob_node_string(mpijob_node_get(metadata, "uid"));
	const char *name = mpijob_node_string(mpijob_node_get(metadata, "name"));
	const char *namespace_ = mpijob_node_string(mpijob_node_get(metadata, "namespace"));
	uint64_t number = 0;

	if (!name || strcmp(name, object->name) != 0)
		return mpijob__local_reply_refuse(reply, 400, "BadRequest", object->kind,
		    object->name,
		    mpijob__base_text_format(
			"the name of the object (%s) is not that of the request (%s)",
			name ? name : "", object->name));
	if (namespace_ && strcmp(namespace_, object->namespace_) != 0)
		return mpijob__local_reply_refuse(reply, 400, "BadRequest", object->kind,
		    object->name,
		    mpijob__base_text_format(
			"the namespace of the object (%s) is not that of the request (%s)",
			namespace_, object->namespace_));
	/* Of what is not built in, a status has no other fields that count. */
	if (uid && *uid && strcmp(uid, object->uid) != 0 &&
	    !((how & UPDATE_STATUS) && is_custom(object->kind)))
		return refuse_uid(object, uid, how & UPDATE_PATCH, reply);
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
	return mpijob__local_reply_refuse(reply, 409, "Conflict", object->kind, object->name,
	    mpijob__base_text_format("Operation cannot be fulfilled on %s%s%s \"%s\": the object "
				     "has been modified; get it again and repeat the change",
		object->kind->plural, *object->kind->group ? "." : "", object->kind->group,
		object->name));
}

static void keep(mpijob_doc *doc, mpijob_node *map, const mpijob_node *old_map, const char *key)
{
	const mpijob_node *old = mpijob_node_get(old_map, key);

	if (old)
		mpijob_node_put_copy(doc, map, key, old);
	else
		mpijob_node_remove(map, key);
}

/* Put the server's own values back over what the client sent. */
static void keep_own(const struct object *object, mpijob_doc *doc)
{
	static const char *const own[] = { "namespace", "uid", "creationTimestamp",
		"deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion",
		"generateName" };
	const mpijob_node *old = mpijob_doc_root(object->doc);
	mpijob_node *root = mpijob_doc_edit(doc);
	mpijob_node *metadata = mpijob_doc_make(doc, "metadata");

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		keep(doc, metadata, mpijob_node_get(old, "metadata"), own[i]);
	keep(doc, root, old, "kind");
	keep(doc, root, old, "apiVersion");
	if (object->kind->flags & KIND_STATUS)
		keep(doc, root, old, "status");
}

/* The stored object with the status of another; NULL without memory. */
static mpijob_doc *with_status(const struct object *object, const mpijob_doc *fresh)
{
	mpijob_doc *doc = mpijob_doc_clone(object->doc);

	keep(doc, mpijob_doc_edit(doc), mpijob_doc_root(fresh), "status");
	return doc;
}

static int is_spec_like(const char *key)
{
	return strcmp(key, "metadata") != 0 && strcmp(key, "status") != 0;
}

static int spec_changed(const struct object *object, const mpijob_doc *doc)
{
	const mpijob_node *old = mpijob_doc_root(object->doc);
	const mpijob_node *new_ = mpijob_doc_root(doc);

	for (size_t i = 0; i < mpijob_node_count(new_); i++) {
		const char *key = mpijob_node_key(new_, i);

		if (is_spec_like(key) &&
		    !mpijob_node_equal(mpijob_node_get(old, key), mpijob_node_at(new_, i)))
			return 1;
	}
	for (size_t i = 0; i < mpijob_node_count(old); i++) {
		const char *key = mpijob_node_key(old, i);

		if (is_spec_like(key) && !mpijob_node_get(new_, key))
			return 1;
	}
	return 0;
}

static void count_generation(const struct object *object, mpijob_doc *doc)
{
	int64_t generation = 0;

	if (!(object->kind->flags & KIND_GENERATION) || !spec_changed(object, doc))
		return;
	mpijob_node_int(mpijob_node_find(mpijob_doc_root(object->doc), "metadata.generation"),
	    &generation);
	mpijob_node_put_int(doc, mpijob_doc_make(doc, "metadata"), "generation", generation + 1);
}

static int has_finalizers(const mpijob_doc *doc)
{
	return mpijob_node_count(mpijob_node_find(mpijob_doc_root(doc), "metadata.finalizers")) > 0;
}

/* A deletion that waits for finalizers is over when the last is struck; pods wait for their
 * processes instead. */
static int is_finished(const struct object *object, const mpijob_doc *doc)
{
	int64_t grace = 0;

	if (!mpijob__local_store_deleting(object) || has_finalizers(doc) ||
	    !has_finalizers(object->doc))
		return 0;
	mpijob_node_int(mpijob_node_find(mpijob_doc_root(doc),
			    "metadata.deletionGracePeriodSeconds"),
	    &grace);
	return grace == 0 && object->kind->id != KIND_NAMESPACE;
}

int mpijob__local_verbs_store(struct mpijob_local *local, struct object *object, mpijob_doc *doc)
{
	if (mpijob_doc_error(doc)) {
		mpijob_doc_free(doc);
		return MPIJOB_ERR_NOMEM;
	}
	if (mpijob_node_equal(mpijob_doc_root(doc), mpijob_doc_root(object->doc))) {
		mpijob_doc_free(doc);
		return 0;
	}
	if (!is_finished(object, doc))
		return mpijob__local_store_replace(&local->store, object, doc);
	/* Its end is told, not the change that made it end. */
	mpijob_doc_free(doc);
	return mpijob__local_store_remove(&local->store, object);
}

static int store_and_reply(struct mpijob_local *local, struct object *object, mpijob_doc *doc,
    struct reply *reply)
{
	int gone = is_finished(object, doc);
	int error;

	if (gone) {
		/* The reply is made first: the object is gone afterwards. */
		error = mpijob__local_reply_doc(reply, 200, doc);
		return error ? error : mpijob__local_verbs_store(local, object, doc);
	}
	error = mpijob__local_verbs_store(local, object, doc);
	return error ? error : mpijob__local_reply_object(reply, 200, object);
}

int mpijob__local_verbs_update(struct mpijob_local *local, struct object *object, mpijob_doc *fresh,
    int how, struct reply *reply)
{
	mpijob_doc *doc = fresh;
	int error = check_api_version(object->kind, mpijob_doc_root(fresh), reply);

	if (!error && !reply->status)
		error = check_same(object, mpijob_node_get(mpijob_doc_root(fresh), "metadata"), how,
		    reply);
	if (!error && !reply->status && (how & UPDATE_STATUS)) {
		doc = with_status(object, fresh);
		mpijob_doc_free(fresh);
	} else if (!error && !reply->status) {
		keep_own(object, doc);
		error = mpijob__local_rules_change(object, doc, reply);
		count_generation(object, doc);
	}
	if (!error && !reply->status && mpijob_doc_error(doc))
		error = MPIJOB_ERR_NOMEM;
	if (error || reply->status) {
		mpijob_doc_free(doc);
		return error;
	}
	return store_and_reply(local, object, doc, reply);
}

int mpijob__local_verbs_patch(struct mpijob_local *local, struct object *object,
    const mpijob_node *patch, int status, struct reply *reply)
{
	mpijob_doc *doc;

	if (mpijob_node_kind(patch) != MPIJOB_NODE_MAP)
		return mpijob__local_reply_refuse(reply, 400, "BadRequest", object->kind,
		    object->name, mpijob__base_text_format("the patch is no object"));
	doc = mpijob_doc_clone(object->doc);
	if (!doc || mpijob_doc_merge(doc, patch)) {
		mpijob_doc_free(doc);
		return MPIJOB_ERR_NOMEM;
	}
	return mpijob__local_verbs_update(local, object, doc,
	    UPDATE_PATCH | (status ? UPDATE_STATUS : 0), reply);
}
