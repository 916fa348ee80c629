/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the embedded cluster: a cluster without a node, and requests in one line. */
#ifndef TESTS_SUPPORT_LOCAL_CLIENT_H
#define TESTS_UNIT_LOCAL_CLIENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <mpijob/client.h>
#include <mpijob/local.h>

#include "local/local.h"

struct cluster {
	mpijob_client *client;
	struct mpijob_local *local;
	struct mpijob_transport transport;
};

struct answer {
	int done;
	int code;
	int status;
	mpijob_text *stream;
	mpijob_doc *doc; /* NULL when the body is not JSON */
	mpijob_call *call;
	int pause_after; /* of a stream: cancel after this number of pieces; 0: never */
};

int cluster_up(void **state);
int cluster_down(void **state);
void answer_free(struct answer *answer);
/* Start a request; a streamed one when `answer->stream` is to be filled. */
void ask_start(struct cluster *cluster, struct answer *answer, int stream, const char *method,
    const char *path, const char *type, const char *body);
/* Send a request and poll for the answer: answer_free(). */
struct answer ask(struct cluster *cluster, const char *method, const char *path, const char *body);
/* Send a request, and compare the status. */
void expect(struct cluster *cluster, const char *method, const char *path, const char *body,
    int status);
/* Get an object, which must exist, and compare a text in it; NULL: it must be absent. */
void expect_text(struct cluster *cluster, const char *path, const char *field, const char *text);
/* Send a request that must be rejected with this status and reason. */
void expect_refusal(struct cluster *cluster, const char *method, const char *path, const char *type,
    const char *body, int status, const char *reason);
/* Poll for this time. */
void poll_for(struct cluster *cluster, int ms);
/* How often a text occurs in the data of a stream. */
int told(const struct answer *answer, const char *piece);
#endif
