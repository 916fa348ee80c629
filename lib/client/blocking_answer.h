/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of blocking calls, and the adapter that they belong to. */
#ifndef MPIJOB__CLIENT_BLOCKING_ANSWER_H
#define MPIJOB__CLIENT_BLOCKING_ANSWER_H

#include "base/list.h"
#include "base/text.h"

#include <mpijob/blocking.h>

#include <pthread.h>
#include <stdatomic.h>

/* bytes that may wait for the reader of one answer */
#define MPIJOB__CLIENT_BLOCKING_FULL ((size_t)256 << 10)

/* What a worker reported: bytes of the body, a header, or the status. */
struct piece {
	struct piece *next;
	int what;
	int status;
	size_t len; /* of `text`; of a header: its name, a NUL, its value */
	size_t name_len;
	char text[];
};

enum { PIECE_HEADER, PIECE_STATUS, PIECE_DATA };

struct adapter;

struct mpijob_blocking_answer {
	struct adapter *adapter;
	/* NULL: ended or cancelled; only the polling thread changes it */
	mpijob_exchange *exchange;
	struct mpijob_request request; /* points into `text` and `body` */
	mpijob_text text, body;
	struct mpijob__base_list link;               /* in the list of all answers */
	struct mpijob_blocking_answer *next_waiting; /* in the list for a thread of the pool */
	struct mpijob_blocking_answer *next_ready;   /* in the list for poll */
	int is_waiting, is_ready;
	struct piece *first, *last;
	size_t queued; /* bytes in the pieces */
	int paused, cancelled;
	int performing; /* inside of `perform` */
	int aborting;   /* inside of `abort` */
	int over;       /* the worker has released it */
	int code;       /* what `perform` returned */
	int broken;     /* memory ran out and a piece is missing */
	char *message;
	int has_thread; /* a stream has a thread of its own */
	pthread_t thread;
	pthread_cond_t changed; /* there is room, or it is cancelled, or `abort` has returned */
};

struct adapter {
	struct mpijob_blocking blocking;
	void *self;
	int fd;
	atomic_int woken;
	pthread_mutex_t lock;
	pthread_cond_t work; /* for the pool */
	struct mpijob__base_list answers;
	struct mpijob_blocking_answer *waiting, *last_waiting;
	struct mpijob_blocking_answer *ready, *last_ready;
	size_t waiting_count, idle, thread_count;
	pthread_t *threads;
	int stopping;
};

/* Call all functions with the lock held, except the first one and the last two. */

/* Make poll return. Safe in a signal handler. */
void mpijob__client_blocking_ring(struct adapter *adapter);
/* Answers with something to report, or to be freed; pop: NULL if not found. */
void mpijob__client_blocking_push_ready(struct mpijob_blocking_answer *answer);
struct mpijob_blocking_answer *mpijob__client_blocking_pop_ready(struct adapter *adapter);
/* Answers for the pool; pop: there must be one. */
void mpijob__client_blocking_push_waiting(struct mpijob_blocking_answer *answer);
struct mpijob_blocking_answer *mpijob__client_blocking_pop_waiting(struct adapter *adapter);
void mpijob__client_blocking_drop_waiting(struct mpijob_blocking_answer *answer);
/* The list of all answers. */
void mpijob__client_blocking_link(struct mpijob_blocking_answer *answer);
void mpijob__client_blocking_unlink(struct mpijob_blocking_answer *answer);
void mpijob__client_blocking_free_piece(struct piece *piece);
void mpijob__client_blocking_drop_pieces(struct mpijob_blocking_answer *answer);
/* NULL when memory ran out. */
struct mpijob_blocking_answer *mpijob__client_blocking_new(struct adapter *adapter,
    const struct mpijob_request *request, mpijob_exchange *exchange);
/* Join the thread of the answer, if it has one. */
void mpijob__client_blocking_join(struct mpijob_blocking_answer *answer);
/* Free an answer, and join its thread. No list and no exchange refers to it any more. */
void mpijob__client_blocking_free(struct mpijob_blocking_answer *answer);

#endif
