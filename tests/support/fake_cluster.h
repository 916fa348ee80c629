/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small API server in a transport, for faults that a real one rarely shows: answers that are cut
 * at any byte, lost or rejected, watches that end, versions that expire. It implements only objects
 * by path, resourceVersions, uids, merge patches and watches. Each poll advances the fake clock.
 */
#ifndef MPIJOB_TEST_FAKE_CLUSTER_H
#define MPIJOB_TEST_FAKE_CLUSTER_H

#include "fake_clock.h"

#include "base/text.h"

#include <mpijob/mpijob.h>

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What the server does with a request instead of its normal work. */
struct fake_reply {
	/* answer with this status and `body`, with `apply` after the normal work; 0: the normal
	 * answer */
	int status;
	const char *body;
	const char *header; /* "Retry-After: 1", or NULL */
	/* end the exchange with this code; with `apply` and `status` 0 after the normal work */
	int end_code;
	int apply;  /* do the normal work, but lose its answer */
	int open;   /* do not end it */
	int polls;  /* delay the answer by this number of polls */
	int refuse; /* result of the transport's start() */
};

struct fake;
/* Decide about a request: fill `reply` and return 1, or 0 for the normal work. */
typedef int (*fake_decide)(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply);

struct fake_object {
	struct fake_object *next;
	char *collection, *namespace_, *name;
	mpijob_doc *doc;
	uint64_t version;
};

struct fake_event {
	uint64_t version;
	char *collection, *namespace_, *json;
};

struct fake_exchange {
	struct fake_exchange *next;
	mpijob_exchange *exchange;
	struct fake_reply reply;
	int scripted, started, watching, status;
	char *text;  /* the answer */
	size_t told; /* bytes delivered */
	char *collection, *namespace_, *selector;
	size_t cursor; /* in the log of events */
};

struct fake {
	struct fake_exchange *exchanges;
	struct fake_object *objects;
	struct fake_event *events;
	size_t event_count;
	uint64_t version;
	unsigned uids;
	const char *created; /* creationTimestamp of new objects; NULL: a fixed time */
	size_t piece;        /* bytes delivered at a time; 0: all */
	int cut_watches;     /* end every watch after the next event */
	/* supports streamed lists; else it rejects such a request and does not log it */
	int streams;
	fake_decide decide;
	void *user;
	struct fake_reply script[64];
	size_t script_count, script_at;
	char **log;                       /* "POST /path" */
	mpijob_text last_body, last_type; /* of the last request */
	size_t log_count;
	size_t fresh; /* requests for a new connection */
	size_t in_flight_writes, most_writes;
	int destroyed;
	atomic_int woken; /* calls of wake(), from any thread */
};

char *fake_text(const char *format, ...);
void fake_script(struct fake *fake, struct fake_reply reply);
void fake_answer(struct fake *fake, int status, const char *body);
/* A pod of the namespace "d", or all of them. */
struct mpijob_target fake_pod(const char *name);
/* The number of requests in the log that begin with this. */
size_t fake_count(const struct fake *fake, const char *start);
/* The number of requests that are not GET. */
size_t fake_writes(const struct fake *fake);
/* The decoded value of a query parameter, yours; NULL when absent. */
char *fake_query(const char *path, const char *name);
char *fake_json(const mpijob_node *node);
struct fake_object *fake_find(struct fake *fake, const char *collection, const char *namespace_,
    const char *name);
/* Give an object a new resourceVersion, and send an event of this type. */
void fake_stamp(struct fake *fake, struct fake_object *object, const char *type);
/* Add an object to the cluster; `namespace_` may be NULL. */
struct fake_object *fake_put(struct fake *fake, const char *collection, const char *namespace_,
    const char *yaml);
/* Merge a patch into an object. */
void fake_patch(struct fake *fake, struct fake_object *object, const char *yaml);
void fake_delete(struct fake *fake, struct fake_object *object);
const char *fake_string(const struct fake_object *object, const char *path);
size_t fake_objects(const struct fake *fake, const char *collection);

/* For a thread: wait for this number of polls. */
void fake_await_polls(int count);
void fake_destroy(void *self);
/* A client of a new server. The test owns `fake`: fake_release(). */
mpijob_client *fake_client(struct fake *fake);
void fake_release(struct fake *fake);
#endif
