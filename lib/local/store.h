/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_STORE_H
#define MPIJOB_LOCAL_STORE_H

#include "base/list.h"
#include "base/table.h"

#include <mpijob/base.h>
#include <mpijob/doc.h>

/* ---- kinds ---- */

enum mpijob__local_kind_id {
	MPIJOB__LOCAL_KIND_NAMESPACE,
	MPIJOB__LOCAL_KIND_POD,
	MPIJOB__LOCAL_KIND_SERVICE,
	MPIJOB__LOCAL_KIND_CONFIG_MAP,
	MPIJOB__LOCAL_KIND_SECRET,
	MPIJOB__LOCAL_KIND_EVENT,
	MPIJOB__LOCAL_KIND_JOB,
	MPIJOB__LOCAL_KIND_PRIORITY_CLASS,
	MPIJOB__LOCAL_KIND_MPIJOB,
	MPIJOB__LOCAL_KIND_VOLCANO_POD_GROUP,
	MPIJOB__LOCAL_KIND_SCHEDULER_POD_GROUP,
	MPIJOB__LOCAL_KIND_LEASE,
	MPIJOB__LOCAL_KIND_COUNT
};

#define MPIJOB__LOCAL_KIND_NAMESPACED  1u /* namespaced */
#define MPIJOB__LOCAL_KIND_STATUS      2u /* has a status subresource */
#define MPIJOB__LOCAL_KIND_GENERATION  4u /* increments metadata.generation */
#define MPIJOB__LOCAL_KIND_PUT_CREATES 8u /* PUT of an absent object creates it */

struct mpijob__local_kind {
	enum mpijob__local_kind_id id;
	const char *group; /* "" for the core group */
	const char *version;
	const char *plural;
	const char *name;
	unsigned flags;
};

const struct mpijob__local_kind *mpijob__local_store_kind(enum mpijob__local_kind_id id);
const struct mpijob__local_kind *mpijob__local_store_kind_find(const char *group,
    const char *version, const char *plural);

/* One version of an object, shared by the store, its history, replies and watches. */
struct mpijob__local_revision {
	size_t refs;
	uint64_t version;
	mpijob_text *text; /* compact JSON */
	/* for selectors: "namespace\0name\0key\0value\0key\0value\0\0", labels last */
	char *index;
	size_t index_len;
};

void mpijob__local_store_revision_ref(struct mpijob__local_revision *revision);
void mpijob__local_store_revision_unref(struct mpijob__local_revision *revision);
const char *mpijob__local_store_revision_namespace(const struct mpijob__local_revision *revision);
const char *mpijob__local_store_revision_name(const struct mpijob__local_revision *revision);
/* NULL: absent */
const char *mpijob__local_store_revision_label(const struct mpijob__local_revision *revision,
    const char *key);

struct mpijob__local_object {
	struct mpijob__base_table_link by_name; /* first; of its collection */
	struct mpijob__base_table_link by_uid;
	struct mpijob__base_list link; /* of its collection */
	const struct mpijob__local_kind *kind;
	const char *namespace_; /* "" if cluster-scoped; these three share one allocation */
	const char *name;
	const char *uid;
	mpijob_doc *doc; /* replaced as a whole, never edited in place */
	struct mpijob__local_revision *now;
	char **owners; /* uids */
	size_t owner_count;
	int deleting;                  /* it has a deletionTimestamp */
	struct mpijob__local_pod *pod; /* the kubelet's pod; NULL: not a pod, or not admitted */
};

#define MPIJOB__LOCAL_CHANGE_ADDED    1
#define MPIJOB__LOCAL_CHANGE_MODIFIED 2
#define MPIJOB__LOCAL_CHANGE_DELETED  3

/* A change of one object. */
struct mpijob__local_store_event {
	int change;
	struct mpijob__local_revision *now;
	struct mpijob__local_revision *before; /* NULL for ADDED */
};

/* The objects of one kind and their recent store events. */
struct mpijob__local_collection {
	struct mpijob__base_list objects;
	struct mpijob__base_table names; /* the same, by namespace and name */
	struct mpijob__local_store_event *history;
	size_t history_count;
	size_t history_cap;
	size_t history_bytes;
	uint64_t history_base;    /* sequence number of history[0] */
	uint64_t trimmed_version; /* version of the newest event that is no longer in the history */
};

struct mpijob__local_store {
	struct mpijob__base_table uids;
	struct mpijob__local_collection collections[MPIJOB__LOCAL_KIND_COUNT];
	uint64_t version;
	size_t window;       /* events kept per kind */
	size_t window_bytes; /* and the bytes of their text */
	/* Called after each change. On MPIJOB__LOCAL_CHANGE_DELETED the object is no longer in the
	 * store, and is freed after the call. */
	void (*changed)(void *user, struct mpijob__local_object *object, int change);
	void *user;
};

void mpijob__local_store_init(struct mpijob__local_store *store,
    void (*changed)(void *user, struct mpijob__local_object *object, int change), void *user);
void mpijob__local_store_clear(struct mpijob__local_store *store);

struct mpijob__local_object *mpijob__local_store_find(const struct mpijob__local_store *store,
    enum mpijob__local_kind_id kind, const char *namespace_, const char *name);
struct mpijob__local_object *mpijob__local_store_first(const struct mpijob__local_store *store,
    enum mpijob__local_kind_id kind);
/* The next one of its kind; NULL: it is the last. */
struct mpijob__local_object *mpijob__local_store_next(const struct mpijob__local_object *object);
struct mpijob__local_object *mpijob__local_store_by_uid(const struct mpijob__local_store *store,
    const char *uid);

/*
 * Add an object. Takes ownership of `doc`, which contains name and uid, also on failure. 0 or
 * MPIJOB_ERR_NOMEM.
 */
int mpijob__local_store_add(struct mpijob__local_store *store,
    const struct mpijob__local_kind *kind, const char *namespace_, mpijob_doc *doc,
    struct mpijob__local_object **out);
/* Replace the content of an object. Takes ownership of `doc`, also on failure. 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__local_store_replace(struct mpijob__local_store *store,
    struct mpijob__local_object *object, mpijob_doc *doc);
/* Remove an object and free it. 0, or MPIJOB_ERR_NOMEM: it stays. */
int mpijob__local_store_remove(struct mpijob__local_store *store,
    struct mpijob__local_object *object);

/* Trim the history to the window. Call this when all watches have been fed. */
void mpijob__local_store_trim(struct mpijob__local_store *store);

/* The string at a path of an object; NULL when absent. */
const char *mpijob__local_store_text(const struct mpijob__local_object *object, const char *path);
int mpijob__local_store_deleting(const struct mpijob__local_object *object);

#endif
