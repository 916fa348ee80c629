/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_H
#define RECORD_H

#include <mpijob/mpijob.h>

#include <stdio.h>

/*
 * A transport that hands everything to another client and writes each exchange to a file, one JSON
 * object a line. Takes `inner`, also when it fails, and leaves `file` open. 0 or MPIJOB_ERR_NOMEM.
 * Bodies are written as they are, Secrets too.
 */
int record_new(mpijob_client *inner, FILE *file, struct mpijob_transport *transport, void **self);

/*
 * A transport that answers from such a file, without a cluster: each request gets the answer of the
 * first line with the same method, path and body that was not used yet. Streams that were given up
 * stay open. 0 or MPIJOB_ERR_*.
 */
int replay_new(const char *text, size_t len, struct mpijob_transport *transport, void **self);

struct recorder {
	mpijob_client *inner;
	FILE *file;
};

/* One exchange, while it is recorded. */
struct tape {
	struct recorder *recorder;
	mpijob_exchange *exchange;
	mpijob_call *call;
	mpijob_doc *line;
	mpijob_text *data;
};

struct tape *tape_new(const struct mpijob_request *request); /* NULL without memory */
void tape_end(struct tape *tape, const struct mpijob_answer *answer, int code);
int tape_write(struct tape *tape, FILE *file);
void tape_free(struct tape *tape);
int record_start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange);

/* One exchange that was recorded. */
struct line {
	struct line *next;
	mpijob_doc *doc;
	mpijob_exchange *exchange; /* while it is played */
	int used, paused, told;
};

/* NULL: it was never asked */
struct line *lines_find(struct line *lines, const struct mpijob_request *request);
void line_tell(struct line *line);

struct player {
	struct line *lines;
	int fd;
};

int replay_start(void *self, const struct mpijob_request *request, mpijob_exchange *exchange);
int replay_poll(void *self, int timeout_ms);
int replay_interest(void *self, int *fd, int64_t *deadline_ms);
void replay_pause(void *self, mpijob_exchange *exchange, int on);
void replay_cancel(void *self, mpijob_exchange *exchange);
void replay_wake(void *self);

#endif
