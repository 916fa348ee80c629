/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_STORE_H
#define MPIJOB_LOCAL_STORE_H

#include "base/list.h"
#include "base/table.h"

#include <mpijob/base.h>
#include <mpijob/doc.h>

/* ---- kinds ---- */

enum kind_id {
	KIND_NAMESPACE,
	KIND_POD,
	KIND_SERVICE,
	KIND_CONFIG_MAP,
	KIND_SECRET,
	KIND_EVENT,
	KIND_JOB,
	KIND_PRIORITY_CLASS,
	KIND_MPIJOB,
	KIND_VOLCANO_POD_GROUP,
	KIND_SCHEDULER_POD_GROUP,
	KIND_LEASE,
	KIND_COUNT
};

#define KIND_NAMESPACED  1u /* namespaced */
#define KIND_STATUS      2u /* has a status subresource */
#define KIND_GENERATION  4u /* increments metadata.generation */
#define KIND_PUT_CREATES 8u /* PUT of an absent object creates it */

struct kind {
	enum kind_id id;
	const char *group; /* "" for the core group */
	const char *version;
	const char *plural;
	const char *name;
	unsigned flags;
};

const struct kind *mpijob__local_store_kind(enum kind_id id);
const struct kind *mpijob__local_store_kind_find(const char *group, const char *version,
    const char *plural);

/* One version of an object, shared by the store, its history, replies and watches. */
struct revision {
	size_t refs;
	uint64_t version;
	mpijob_text *text; /* compact JSON */
	/* for selectors: "namespace\0name\0key\0value\0key\0value\0\0", labels last */
	char *index;
	size_t index_len;
};

void mpijob__local_store_revision_ref(struct revision *revision);
void mpijob__local_store_revision_unref(struct revision *revision);
const char *mpijob__local_store_revision_namespace(const struct revision *revision);
const char *mpijob__local_store_revision_name(const struct revision *revision);
/* NULL: absent */
const char *mpijob__local_store_revision_label(const struct revision *revision, const char *key);

struct object {
	struct mpijob__base_table_link by_name; /* first; of its collection */
	struct mpijob__base_table_link by_uid;
	struct mpijob__base_list link; /* of its collection */
	const struct kind *kind;
	const char *namespace_; /* "" if cluster-scoped; these three share one allocation */
	const char *name;
	const char *uid;
	mpijob_doc *doc; /* replaced as a whole, never edited in place */
	struct revision *now;
	char **owners; /* uids */
	size_t owner_count;
	int deleting;    /* it has a deletionTimestamp */
	struct pod *pod; /* the kubelet's pod; NULL: not a pod, or not admitted */
};

#define CHANGE_ADDED    1
#define CHANGE_MODIFIED 2
#define CHANGE_DELETED  3

/* A change of one object. */
struct store_event {
	int change;
	struct revision *now;
	struct revision *before; /* NULL for ADDED */
};

/* The objects of one kind and their recent store events. */
struct collection {
	struct mpijob__base_list objects;
	struct mpijob__base_table names; /* the same, by namespace and name */
	struct store_event *history;
	size_t history_count;
	size_t history_cap;
	size_t history_bytes;
	uint64_t history_base;    /* sequence number of history[0] */
	uint64_t trimmed_version; /* version of the newest event that is no longer in the history */
};

struct store {
	struct mpijob__base_table uids;
	struct collection collections[KIND_COUNT];
	uint64_t version;
	size_t window;       /* events kept per kind */
	size_t window_bytes; /* and the bytes of their text */
	/* Called after each change. On CHANGE_DELETED the object is no longer in the store, and is
	 * freed after the call. */
	void (*changed)(void *user, struct object *object, int change);
	void *user;
};

void mpijob__local_store_init(struct store *store,
    void (*changed)(void *user, struct object *object, int change), void *user);
void mpijob__local_store_clear(struct store *store);

struct object *mpijob__local_store_find(const struct store *store, enum kind_id kind,
    const char *namespace_, const char *name);
struct object *mpijob__local_store_first(const struct store *store, enum kind_id kind);
/* The next one of its kind; NULL: it is the last. */
struct object *mpijob__local_store_next(const struct object *object);
struct object *mpijob__local_store_by_uid(const struct store *store, const char *uid);

/*
 * Add an object. Takes ownership of `doc`, which contains name and uid, also on failure. 0 or
 * MPIJOB_ERR_NOMEM.
 */
int mpijob__local_store_add(struct store *store, const struct kind *kind, const char *namespace_,
    mpijob_doc *doc, struct object **out);
/* Replace the content of an object. Takes ownership of `doc`, also on failure. 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__local_store_replace(struct store *store, struct object *object, mpijob_doc *doc);
/* Remove an object and free it. 0, or MPIJOB_ERR_NOMEM: it stays. */
int mpijob__local_store_remove(struct store *store, struct object *object);

/* Trim the history to the window. Call this when all watches have been fed. */
void mpijob__local_store_trim(struct store *store);

/* The string at a path of an object; NULL when absent. */
const char *mpijob__local_store_text(const struct object *object, const char *path);
int mpijob__local_store_deleting(const struct object *object);

#endif
