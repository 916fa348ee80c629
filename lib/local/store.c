/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object store of the embedded cluster: objects by kind, namespace and name, and by UID; one
 * resourceVersion counter for all kinds; each version serialised once; and a bounded history of
 * store events for watches. The store does not check objects; verbs.c and rules.c do.
 */
#include "local/store.h"
#include "base/api.h"
#include "base/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_WINDOW       2048
#define DEFAULT_WINDOW_BYTES (16u << 20)

static const struct mpijob__local_kind kinds[MPIJOB__LOCAL_KIND_COUNT] = {
	[MPIJOB__LOCAL_KIND_NAMESPACE] = { MPIJOB__LOCAL_KIND_NAMESPACE, "", "v1", "namespaces",
	    "Namespace", MPIJOB__LOCAL_KIND_STATUS },
	[MPIJOB__LOCAL_KIND_POD] = { MPIJOB__LOCAL_KIND_POD, "", "v1", "pods", "Pod",
	    MPIJOB__LOCAL_KIND_NAMESPACED | MPIJOB__LOCAL_KIND_STATUS |
		MPIJOB__LOCAL_KIND_GENERATION },
	[MPIJOB__LOCAL_KIND_SERVICE] = { MPIJOB__LOCAL_KIND_SERVICE, "", "v1", "services",
	    "Service", MPIJOB__LOCAL_KIND_NAMESPACED | MPIJOB__LOCAL_KIND_STATUS },
	[MPIJOB__LOCAL_KIND_CONFIG_MAP] = { MPIJOB__LOCAL_KIND_CONFIG_MAP, "", "v1", "configmaps",
	    "ConfigMap", MPIJOB__LOCAL_KIND_NAMESPACED },
	[MPIJOB__LOCAL_KIND_SECRET] = { MPIJOB__LOCAL_KIND_SECRET, "", "v1", "secrets", "Secret",
	    MPIJOB__LOCAL_KIND_NAMESPACED },
	[MPIJOB__LOCAL_KIND_EVENT] = { MPIJOB__LOCAL_KIND_EVENT, "", "v1", "events", "Event",
	    MPIJOB__LOCAL_KIND_NAMESPACED | MPIJOB__LOCAL_KIND_PUT_CREATES },
	[MPIJOB__LOCAL_KIND_JOB] = { MPIJOB__LOCAL_KIND_JOB, "batch", "v1", "jobs", "Job",
	    MPIJOB__LOCAL_KIND_NAMESPACED | MPIJOB__LOCAL_KIND_STATUS |
		MPIJOB__LOCAL_KIND_GENERATION },
	[MPIJOB__LOCAL_KIND_PRIORITY_CLASS] = { MPIJOB__LOCAL_KIND_PRIORITY_CLASS,
	    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass",
	    MPIJOB__LOCAL_KIND_GENERATION },
	[MPIJOB__LOCAL_KIND_MPIJOB] = { MPIJOB__LOCAL_KIND_MPIJOB, MPIJOB__BASE_API_GROUP,
	    "v2beta1", MPIJOB__BASE_API_PLURAL, MPIJOB__BASE_API_KIND,
	    MPIJOB__LOCAL_KIND_NAMESPACED | MPIJOB__LOCAL_KIND_STATUS |
		MPIJOB__LOCAL_KIND_GENERATION },
	[MPIJOB__LOCAL_KIND_VOLCANO_POD_GROUP] = { MPIJOB__LOCAL_KIND_VOLCANO_POD_GROUP,
	    "scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup",
	    MPIJOB__LOCAL_KIND_NAMESPACED | MPIJOB__LOCAL_KIND_STATUS |
		MPIJOB__LOCAL_KIND_GENERATION },
	[MPIJOB__LOCAL_KIND_SCHEDULER_POD_GROUP] = { MPIJOB__LOCAL_KIND_SCHEDULER_POD_GROUP,
	    "scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup",
	    MPIJOB__LOCAL_KIND_NAMESPACED | MPIJOB__LOCAL_KIND_STATUS |
		MPIJOB__LOCAL_KIND_GENERATION },
	[MPIJOB__LOCAL_KIND_LEASE] = { MPIJOB__LOCAL_KIND_LEASE, "coordination.k8s.io", "v1",
	    "leases", "Lease", MPIJOB__LOCAL_KIND_NAMESPACED | MPIJOB__LOCAL_KIND_PUT_CREATES },
};

const struct mpijob__local_kind *mpijob__local_store_kind(enum mpijob__local_kind_id id)
{
	return &kinds[id];
}

const struct mpijob__local_kind *mpijob__local_store_kind_find(const char *group,
    const char *version, const char *plural)
{
	for (size_t i = 0; i < MPIJOB__LOCAL_KIND_COUNT; i++) {
		if (strcmp(kinds[i].group, group) == 0 && strcmp(kinds[i].version, version) == 0 &&
		    strcmp(kinds[i].plural, plural) == 0)
			return &kinds[i];
	}
	return NULL;
}

/* ---- revisions ---- */

void mpijob__local_store_revision_ref(struct mpijob__local_revision *revision)
{
	revision->refs++;
}

void mpijob__local_store_revision_unref(struct mpijob__local_revision *revision)
{
	if (!revision || --revision->refs > 0)
		return;
	mpijob_text_free(revision->text);
	free(revision->index);
	free(revision);
}

const char *mpijob__local_store_revision_namespace(const struct mpijob__local_revision *revision)
{
	return revision->index;
}

const char *mpijob__local_store_revision_name(const struct mpijob__local_revision *revision)
{
	return revision->index + strlen(revision->index) + 1;
}

const char *mpijob__local_store_revision_label(const struct mpijob__local_revision *revision,
    const char *key)
{
	const char *at = mpijob__local_store_revision_name(revision);

	for (at += strlen(at) + 1; *at;) {
		const char *value = at + strlen(at) + 1;

		if (strcmp(at, key) == 0)
			return value;
		at = value + strlen(value) + 1;
	}
	return NULL;
}

static char *put_string(char *at, const char *word)
{
	size_t size = strlen(word) + 1;

	memcpy(at, word, size);
	return at + size;
}

static const char *text_or_empty(const mpijob_node *node)
{
	const char *text = mpijob_node_string(node);

	return text ? text : "";
}

static int make_index(struct mpijob__local_revision *revision,
    const struct mpijob__local_object *object, const mpijob_doc *doc)
{
	const mpijob_node *labels = mpijob_node_find(mpijob_doc_root(doc), "metadata.labels");
	size_t count = mpijob_node_count(labels);
	size_t size = strlen(object->namespace_) + strlen(object->name) + 3;
	char *at;

	for (size_t i = 0; i < count; i++)
		size += strlen(mpijob_node_key(labels, i)) +
			strlen(text_or_empty(mpijob_node_at(labels, i))) + 2;
	revision->index = malloc(size);
	if (!revision->index)
		return MPIJOB_ERR_NOMEM;
	revision->index_len = size;
	at = put_string(put_string(revision->index, object->namespace_), object->name);
	for (size_t i = 0; i < count; i++) {
		at = put_string(at, mpijob_node_key(labels, i));
		at = put_string(at, text_or_empty(mpijob_node_at(labels, i)));
	}
	*at = 0;
	return 0;
}

/* Set resourceVersion in the document and serialise it. */
static struct mpijob__local_revision *revision_new(const struct mpijob__local_object *object,
    mpijob_doc *doc, uint64_t version)
{
	struct mpijob__local_revision *revision = calloc(1, sizeof(*revision));
	char *number = mpijob__base_text_format("%llu", (unsigned long long)version);
	mpijob_node *metadata = mpijob_doc_make(doc, "metadata");

	if (revision) {
		revision->refs = 1;
		revision->version = version;
		revision->text = mpijob_text_new();
	}
	if (!revision || !number || !revision->text ||
	    !mpijob_node_put_string(doc, metadata, "resourceVersion", number) ||
	    mpijob_doc_error(doc) ||
	    mpijob_node_write(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT, mpijob_text_write,
		revision->text) ||
	    make_index(revision, object, doc)) {
		mpijob__local_store_revision_unref(revision);
		revision = NULL;
	}
	free(number);
	return revision;
}

/* ---- collections ---- */

static uint64_t hash_of_name(const struct mpijob__local_collection *collection,
    const char *namespace_, const char *name)
{
	return mpijob__base_table_hash(&collection->names, namespace_, name);
}

struct mpijob__local_object *mpijob__local_store_find(const struct mpijob__local_store *store,
    enum mpijob__local_kind_id kind, const char *namespace_, const char *name)
{
	const struct mpijob__local_collection *collection = &store->collections[kind];
	uint64_t hash = hash_of_name(collection, namespace_, name);
	struct mpijob__base_table_link *link = NULL;

	while ((link = mpijob__base_table_next(&collection->names, hash, link)) != NULL) {
		struct mpijob__local_object *object = (struct mpijob__local_object *)(void *)link;

		if (strcmp(object->name, name) == 0 && strcmp(object->namespace_, namespace_) == 0)
			return object;
	}
	return NULL;
}

struct mpijob__local_object *mpijob__local_store_first(const struct mpijob__local_store *store,
    enum mpijob__local_kind_id kind)
{
	return mpijob__base_list_first(&store->collections[kind].objects);
}

struct mpijob__local_object *mpijob__local_store_next(const struct mpijob__local_object *object)
{
	return object->link.next->owner;
}

struct mpijob__local_object *mpijob__local_store_by_uid(const struct mpijob__local_store *store,
    const char *uid)
{
	uint64_t hash = mpijob__base_table_hash(&store->uids, uid, "");
	struct mpijob__base_table_link *link = NULL;

	while ((link = mpijob__base_table_next(&store->uids, hash, link)) != NULL) {
		struct mpijob__local_object *object =
		    (struct mpijob__local_object *)(void *)((char *)link -
							    offsetof(struct mpijob__local_object,
								by_uid));

		if (strcmp(object->uid, uid) == 0)
			return object;
	}
	return NULL;
}

static int link_object(struct mpijob__local_store *store, struct mpijob__local_object *object)
{
	struct mpijob__local_collection *collection = &store->collections[object->kind->id];

	if (mpijob__base_table_add(&collection->names, &object->by_name,
		hash_of_name(collection, object->namespace_, object->name)))
		return MPIJOB_ERR_NOMEM;
	if (mpijob__base_table_add(&store->uids, &object->by_uid,
		mpijob__base_table_hash(&store->uids, object->uid, ""))) {
		mpijob__base_table_remove(&collection->names, &object->by_name);
		return MPIJOB_ERR_NOMEM;
	}
	mpijob__base_list_insert(&collection->objects, &object->link, object);
	return 0;
}

static void unlink_object(struct mpijob__local_store *store, struct mpijob__local_object *object)
{
	mpijob__base_table_remove(&store->collections[object->kind->id].names, &object->by_name);
	mpijob__base_table_remove(&store->uids, &object->by_uid);
	mpijob__base_list_remove(&object->link);
}

/* ---- objects ---- */

static void free_owners(char **owners, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(owners[i]);
	free(owners);
}

static void object_free(struct mpijob__local_object *object)
{
	if (!object)
		return;
	free_owners(object->owners, object->owner_count);
	mpijob__local_store_revision_unref(object->now);
	mpijob_doc_free(object->doc);
	free((char *)object->namespace_);
	free(object);
}

static int read_owners(const mpijob_doc *doc, char ***out, size_t *count_out)
{
	const mpijob_node *list =
	    mpijob_node_find(mpijob_doc_root(doc), "metadata.ownerReferences");
	size_t count = mpijob_node_count(list);
	char **owners = NULL;

	if (count > 0) {
		owners = calloc(count, sizeof(*owners));
		if (!owners)
			return MPIJOB_ERR_NOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		owners[i] = strdup(text_or_empty(mpijob_node_get(mpijob_node_at(list, i), "uid")));
		if (!owners[i]) {
			free_owners(owners, i);
			return MPIJOB_ERR_NOMEM;
		}
	}
	*out = owners;
	*count_out = count;
	return 0;
}

static struct mpijob__local_object *object_new(const struct mpijob__local_kind *kind,
    const char *namespace_, const mpijob_doc *doc)
{
	const mpijob_node *metadata = mpijob_node_get(mpijob_doc_root(doc), "metadata");
	const char *name = text_or_empty(mpijob_node_get(metadata, "name"));
	const char *uid = text_or_empty(mpijob_node_get(metadata, "uid"));
	struct mpijob__local_object *object = calloc(1, sizeof(*object));
	char *block = malloc(strlen(namespace_) + strlen(name) + strlen(uid) + 3);

	if (!object || !block) {
		free(object);
		free(block);
		return NULL;
	}
	object->kind = kind;
	object->namespace_ = block;
	object->name = put_string(block, namespace_);
	object->uid = object->name + strlen(name) + 1;
	put_string(put_string((char *)object->name, name), uid);
	return object;
}

/* ---- history ---- */

static int history_reserve(struct mpijob__local_collection *collection)
{
	size_t cap = collection->history_cap ? collection->history_cap * 2 : 64;
	struct mpijob__local_store_event *history;

	if (collection->history_count < collection->history_cap)
		return 0;
	history = realloc(collection->history, cap * sizeof(*history));
	if (!history)
		return MPIJOB_ERR_NOMEM;
	collection->history = history;
	collection->history_cap = cap;
	return 0;
}

/* Append a store event; history_reserve() has made room. Takes a reference to `now`, and takes over
 * that of `before`. */
static void history_append(struct mpijob__local_collection *collection, int change,
    struct mpijob__local_revision *now, struct mpijob__local_revision *before)
{
	collection->history[collection->history_count++] =
	    (struct mpijob__local_store_event){ change, now, before };
	collection->history_bytes += mpijob_text_len(now->text);
	mpijob__local_store_revision_ref(now);
}

static void history_trim(struct mpijob__local_collection *collection, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct mpijob__local_store_event *store_event = &collection->history[i];

		collection->trimmed_version = store_event->now->version;
		collection->history_bytes -= mpijob_text_len(store_event->now->text);
		mpijob__local_store_revision_unref(store_event->now);
		mpijob__local_store_revision_unref(store_event->before);
	}
	collection->history_count -= count;
	collection->history_base += count;
	memmove(collection->history, collection->history + count,
	    collection->history_count * sizeof(*collection->history));
}

void mpijob__local_store_trim(struct mpijob__local_store *store)
{
	for (size_t kind = 0; kind < MPIJOB__LOCAL_KIND_COUNT; kind++) {
		struct mpijob__local_collection *collection = &store->collections[kind];
		size_t count = collection->history_count > store->window
				   ? collection->history_count - store->window
				   : 0;
		size_t bytes = collection->history_bytes;

		for (size_t i = 0;
		     i < collection->history_count && (i < count || bytes > store->window_bytes);
		     i++) {
			bytes -= mpijob_text_len(collection->history[i].now->text);
			count = i + 1 > count ? i + 1 : count;
		}
		/* Trim many entries at a time, because the rest is moved. */
		if (count > store->window / 4 ||
		    collection->history_bytes > 2 * store->window_bytes)
			history_trim(collection, count);
	}
}

/* ---- changes ---- */

static void set_doc(struct mpijob__local_object *object, mpijob_doc *doc)
{
	object->doc = doc;
	object->deleting = mpijob__local_store_text(object, "metadata.deletionTimestamp") != NULL;
}

int mpijob__local_store_add(struct mpijob__local_store *store,
    const struct mpijob__local_kind *kind, const char *namespace_, mpijob_doc *doc,
    struct mpijob__local_object **out)
{
	struct mpijob__local_collection *collection = &store->collections[kind->id];
	struct mpijob__local_object *object = object_new(kind, namespace_, doc);

	if (object)
		object->now = revision_new(object, doc, store->version + 1);
	if (!object || !object->now || read_owners(doc, &object->owners, &object->owner_count) ||
	    history_reserve(collection) || link_object(store, object)) {
		object_free(object);
		mpijob_doc_free(doc);
		return MPIJOB_ERR_NOMEM;
	}
	set_doc(object, doc);
	store->version++;
	history_append(collection, MPIJOB__LOCAL_CHANGE_ADDED, object->now, NULL);
	store->changed(store->user, object, MPIJOB__LOCAL_CHANGE_ADDED);
	if (out)
		*out = object;
	return 0;
}

int mpijob__local_store_replace(struct mpijob__local_store *store,
    struct mpijob__local_object *object, mpijob_doc *doc)
{
	struct mpijob__local_collection *collection = &store->collections[object->kind->id];
	struct mpijob__local_revision *now = revision_new(object, doc, store->version + 1);
	char **owners = NULL;
	size_t owner_count = 0;

	if (!now || history_reserve(collection) || read_owners(doc, &owners, &owner_count)) {
		mpijob__local_store_revision_unref(now);
		mpijob_doc_free(doc);
		return MPIJOB_ERR_NOMEM;
	}
	store->version++;
	history_append(collection, MPIJOB__LOCAL_CHANGE_MODIFIED, now, object->now);
	object->now = now;
	mpijob_doc_free(object->doc);
	set_doc(object, doc);
	free_owners(object->owners, object->owner_count);
	object->owners = owners;
	object->owner_count = owner_count;
	store->changed(store->user, object, MPIJOB__LOCAL_CHANGE_MODIFIED);
	return 0;
}

int mpijob__local_store_remove(struct mpijob__local_store *store,
    struct mpijob__local_object *object)
{
	struct mpijob__local_collection *collection = &store->collections[object->kind->id];
	mpijob_doc *doc = mpijob_doc_from_node(mpijob_doc_root(object->doc), NULL);
	struct mpijob__local_revision *last =
	    doc ? revision_new(object, doc, store->version + 1) : NULL;

	mpijob_doc_free(doc);
	if (!last || history_reserve(collection)) {
		mpijob__local_store_revision_unref(last);
		return MPIJOB_ERR_NOMEM;
	}
	store->version++;
	unlink_object(store, object);
	history_append(collection, MPIJOB__LOCAL_CHANGE_DELETED, last, object->now);
	object->now = last;
	store->changed(store->user, object, MPIJOB__LOCAL_CHANGE_DELETED);
	object_free(object);
	return 0;
}

/* ---- create and free ---- */

void mpijob__local_store_init(struct mpijob__local_store *store,
    void (*changed)(void *user, struct mpijob__local_object *object, int change), void *user)
{
	memset(store, 0, sizeof(*store));
	for (size_t kind = 0; kind < MPIJOB__LOCAL_KIND_COUNT; kind++)
		mpijob__base_list_init(&store->collections[kind].objects);
	store->window = DEFAULT_WINDOW;
	store->window_bytes = DEFAULT_WINDOW_BYTES;
	store->changed = changed;
	store->user = user;
}

void mpijob__local_store_clear(struct mpijob__local_store *store)
{
	for (size_t kind = 0; kind < MPIJOB__LOCAL_KIND_COUNT; kind++) {
		struct mpijob__local_collection *collection = &store->collections[kind];
		struct mpijob__local_object *object;

		while ((object = mpijob__base_list_first(&collection->objects)) != NULL) {
			unlink_object(store, object);
			object_free(object);
		}
		if (collection->history_count)
			history_trim(collection, collection->history_count);
		free(collection->history);
		mpijob__base_table_release(&collection->names);
	}
	mpijob__base_table_release(&store->uids);
	memset(store, 0, sizeof(*store));
}

const char *mpijob__local_store_text(const struct mpijob__local_object *object, const char *path)
{
	return mpijob_node_string(mpijob_node_find(mpijob_doc_root(object->doc), path));
}

int mpijob__local_store_deleting(const struct mpijob__local_object *object)
{
	return object->deleting;
}
