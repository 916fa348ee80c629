/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts the bytes of a Kubernetes list or watch into objects, as they arrive. */
#ifndef MPIJOB__BASE_SPLIT_H
#define MPIJOB__BASE_SPLIT_H

#include "base/text.h"

#include <stddef.h>

#define MPIJOB__BASE_SPLIT_LIST   0 /* one object with a list "items" */
#define MPIJOB__BASE_SPLIT_EVENTS 1 /* one watch event after another */

/* One object. Everything is borrowed for the call; strings are "" when absent. */
struct mpijob__base_split_object {
	const char *type; /* of the event; "" in a list */
	/* the object; NULL when it exceeds the limit, or when an event has none */
	const char *json;
	size_t len;
	size_t whole; /* its size in bytes */
	const char *uid;
	const char *name;
	const char *namespace_;
	const char *resource_version;
	const char *api_version;
	const char *kind;
};

/* Return 0 to continue; mpijob__base_split_feed() returns any other code. */
typedef int (*mpijob__base_split_fn)(void *user, const struct mpijob__base_split_object *object);

struct mpijob__base_split {
	int mode;
	size_t limit;       /* bytes of one object */
	mpijob_text prefix; /* precedes an item without a kind */
	mpijob_text value;  /* the value so far; begins with `prefix` in a list */
	mpijob_text outer;  /* of a list: everything except the items */
	/* type, uid, name, namespace, resourceVersion, apiVersion, kind of the value */
	mpijob_text seen[7];
	size_t whole;                    /* bytes of the value so far */
	size_t object_start, object_end; /* of an event's "object", as indexes in the value */
	int in_items, items_done;        /* of a list */
	int started, ended;              /* of a list: its braces were read */
	int in_value;
	int has_kind;
	/* The reader: its position in the value, or in the list outside of the items. */
	size_t depth;
	unsigned char is_map[4]; /* kind of the innermost containers, by depth 1 to 3 */
	unsigned char path[4];   /* the known key at each of them */
	int in_string, escaped, key_next, is_key;
	int catching; /* index in `seen` of the string that is being read, else -1 */
	char key[20];
	size_t key_len;
};

/*
 * Begin. `api_version` and `kind` are those of the items of a list, because servers omit them
 * there. 0 or MPIJOB_ERR_NOMEM; call mpijob__base_split_release() in either case.
 */
int mpijob__base_split_init(struct mpijob__base_split *split, int mode, const char *api_version,
    const char *kind, size_t limit);
void mpijob__base_split_release(struct mpijob__base_split *split);
/* Take bytes, cut anywhere. 0, MPIJOB_ERR_SYNTAX, MPIJOB_ERR_NOMEM, or what `fn` returned. */
int mpijob__base_split_feed(struct mpijob__base_split *split, const char *data, size_t len,
    mpijob__base_split_fn fn, void *user);
/* 1 when the input so far is complete: a whole list, or no event has begun. */
int mpijob__base_split_complete(const struct mpijob__base_split *split);

#endif
