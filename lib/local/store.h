/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_STORE_H
#define MPIJOB_LOCAL_STORE_H

#include <mpijob/base.h>
#include <mpijob/doc.h>

/* Kinds. */

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

#define KIND_NAMESPACED  1u /* its objects live in namespaces */
#define KIND_STATUS      2u /* has a status subresource */
#define KIND_GENERATION  4u /* counts changes in metadata.generation */
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

/* What an object was at one time, shared by everybody who still has to tell of it. */
struct revision {
	size_t refs;
	uint64_t version;
	mpijob_text *text; /* compact JSON */
	/* "namespace\0name\0key\0value\0key\0value\0\0": what selectors look at */
	char *index;
	size_t index_len;
};

void mpijob__local_store_revision_hold(struct revision *revision);
void mpijob__local_store_revision_drop(struct revision *revision);
const char *mpijob__local_store_revision_namespace(const struct revision *revision);
const char *mpijob__local_store_revision_name(const struct revision *revision);
/* NULL: absent */
const char *mpijob__local_store_revision_label(const struct revision *revision, const char *key);

struct object {
	struct object *hash_next;
	struct object *uid_next;
	struct object *prev;
	struct object *next; /* of the same kind */
	const struct kind *kind;
	const char *namespace_; /* "" without one; these three live in one block */
	const char *name;
	const char *uid;
	mpijob_doc *doc; /* replaced as a whole, never edited in place */
	struct revision *now;
	char **owners; /* uids */
	size_t owner_count;
	int deleting;    /* it has a deletionTimestamp */
	struct pod *pod; /* of a pod: what the kubelet runs for it; NULL when it does not */
};

#define CHANGE_ADDED    1
#define CHANGE_MODIFIED 2
#define CHANGE_DELETED  3

struct happening {
	int change;
	struct revision *now;
	struct revision *before; /* NULL for ADDED */
};

/* The objects of one kind, and what happened to them lately. */
struct shelf {
	struct object *first;
	struct object *last;
	size_t count;
	struct happening *history;
	size_t history_count;
	size_t history_cap;
	size_t history_bytes;
	uint64_t history_base; /* sequence number of history[0] */
	uint64_t forgotten;    /* version of the newest happening that is no longer there */
};

struct store {
	struct object **buckets;     /* by kind, namespace and name */
	struct object **uid_buckets; /* as many, by uid */
	size_t bucket_count;
	size_t count;
	struct shelf shelves[KIND_COUNT];
	uint64_t version;
	size_t window;       /* happenings kept per kind */
	size_t window_bytes; /* and their text */
	/* Told after each change. On DELETED the object is out of the store and freed
	 * afterwards. */
	void (*changed)(void *user, struct object *object, int change);
	void *user;
};

int mpijob__local_store_init(struct store *store,
    void (*changed)(void *user, struct object *object, int change), void *user);
void mpijob__local_store_clear(struct store *store);

struct object *mpijob__local_store_find(const struct store *store, enum kind_id kind,
    const char *namespace_, const char *name);
struct object *mpijob__local_store_first(const struct store *store, enum kind_id kind);
struct object *mpijob__local_store_by_uid(const struct store *store, const char *uid);

/*
 * Put a new object in; `doc` has its name and uid already and is taken, also on failure.
 * 0 or MPIJOB_ERR_NOMEM.
 */
int mpijob__local_store_add(struct store *store, const struct kind *kind, const char *namespace_,
    mpijob_doc *doc, struct object **out);
/* Give an object new content; `doc` is taken, also on failure. */
int mpijob__local_store_replace(struct store *store, struct object *object, mpijob_doc *doc);
/* Take an object out and free it. */
int mpijob__local_store_remove(struct store *store, struct object *object);

/* Forget what is outside the window; called when all watches have been fed. */
void mpijob__local_store_trim(struct store *store);

/* Shorthands. */
/* of a string; NULL: absent */
const char *mpijob__local_store_text(const struct object *object, const char *path);
int mpijob__local_store_deleting(const struct object *object);

#endif
