/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A watch over a scripted server, with a clock that only the test advances. It records its
 * callbacks: "(" a list begins, ")10 " it is complete at version 10, "La@3 " an object with uid a
 * and version 3 was listed; A, M and D instead of L for the events.
 */
#ifndef MPIJOB_TEST_WATCH_FIXTURE_H
#define MPIJOB_TEST_WATCH_FIXTURE_H

#include "fake_cluster.h"

#include "client/client.h"
#include "client/watch.h"

#include <setjmp.h>

#include <cmocka.h>

#define LIST(version, items)                                                 \
	"{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"" version \
	"\"},\"items\":[" items "]}"
#define POD(uid, version)                                                                         \
	"{\"metadata\":{\"name\":\"n" uid "\",\"uid\":\"" uid "\",\"resourceVersion\":\"" version \
	"\"}}"
#define EVENT(type, uid, version) "{\"type\":\"" type "\",\"object\":" POD(uid, version) "}\n"
#define EXPIRED                                                                         \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":" \
	"\"Expired\",\"message\":\"too old\",\"code\":410}"

struct watch_fixture {
	struct fake fake;
	mpijob_client *client;
	mpijob_watch *watch;
	mpijob_text seen; /* the recorded callbacks */
	int failures;
	int refuse;    /* result of the next call of on_object() */
	int last_code; /* of the last failure */
	char free_in;  /* free the watch in this callback: b, o, l or f */
};

/* Free the watch if fixture->free_in is this callback. */
void free_in(struct watch_fixture *fixture, char callback);
extern int64_t clock_now; /* milliseconds: the clock of the client */

struct mpijob_watch_options watch_options(struct watch_fixture *fixture);
void set_up_client(struct watch_fixture *fixture);
void watch_set_up(struct watch_fixture *fixture);
void watch_tear_down(struct watch_fixture *fixture);
void reply(struct watch_fixture *fixture, int status, const char *body);
void reply_open(struct watch_fixture *fixture, const char *body);
/* Whether all scripted answers were delivered. */
int is_quiet(const struct watch_fixture *fixture);
/* Poll until all scripted answers were delivered. */
void watch_run(struct watch_fixture *fixture);
/* Advance the clock to the watch's next deadline; returns by how many milliseconds. */
int64_t sleep_over(struct watch_fixture *fixture);
/* Check a query parameter of a request; NULL: it must be absent. */
void asked(const struct watch_fixture *fixture, size_t request, const char *name,
    const char *value);
void seen_is(const struct watch_fixture *fixture, const char *expected);
#endif
