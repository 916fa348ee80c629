/* SPDX-License-Identifier: Apache-2.0 */
/* Keeping up with a collection: list once, then watch, for as long as it takes. */
#ifndef MPIJOB__CLUSTER_WATCH_H
#define MPIJOB__CLUSTER_WATCH_H

#include <mpijob/client.h>

#define MPIJOB__WATCH_LISTED 0
#define MPIJOB__WATCH_ADDED 1
#define MPIJOB__WATCH_MODIFIED 2
#define MPIJOB__WATCH_DELETED 3

/* One object that was listed or changed. All borrowed for the call; strings are "" when absent. */
struct mpijob__watch_object {
	int event;          /* MPIJOB__WATCH_* */
	const char *json;   /* the object itself, with apiVersion and kind; NULL when it is over the limit */
	size_t len;
	size_t whole;       /* bytes that it had */
	const char *uid;
	const char *name;
	const char *namespace_;
	const char *resource_version;
};

/* What is watched, and who is told. Strings are copied. */
struct mpijob__watch_config {
	const char *api_version;
	const char *kind;
	const char *namespace_;     /* NULL: all */
	const char *label_selector; /* NULL: none */
	size_t object_limit;        /* bytes of one object; 0: 8 MiB */
	int64_t (*clock)(void);     /* monotonic milliseconds; NULL: this machine's */
	uint64_t seed;              /* of the watch's dice: how long it watches, how long it backs off */
	void *user;
	/* A list begins: what is not told again until `listed` is gone. May be NULL. */
	void (*begin)(void *user);
	/* An object. Return 0, or MPIJOB_ERR_NOMEM: the stream is then begun again where it stood. */
	int (*object)(void *user, const struct mpijob__watch_object *object);
	/* A list is complete, as of this resourceVersion. Return as `object`: the list is then made again. */
	int (*listed)(void *user, const char *resource_version);
	/* A list or watch failed and will be tried again. `message` may be NULL. May itself be NULL. */
	void (*failed)(void *user, const struct mpijob_answer *answer, const char *what);
};

typedef struct mpijob__watch mpijob__watch;

/* 0, MPIJOB_ERR_NOMEM. The client must outlive the watch. */
int mpijob__watch_new(mpijob_client *client, const struct mpijob__watch_config *config, mpijob__watch **out);
/* Give it up; nothing is told any more. NULL does nothing. */
void mpijob__watch_free(mpijob__watch *watch);
/* Start what is due. Not from inside of a callback. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__watch_step(mpijob__watch *watch);
/* When to step at the latest; INT64_MAX when only the server can move it on. */
int64_t mpijob__watch_due_ms(const mpijob__watch *watch);
/* 1 once a first list has arrived whole. */
int mpijob__watch_synced(const mpijob__watch *watch);

#endif
