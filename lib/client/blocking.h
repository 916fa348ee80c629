/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the adapter for calls that block. */
#ifndef MPIJOB__CLIENT_BLOCKING_H
#define MPIJOB__CLIENT_BLOCKING_H

#include "base/text.h"

#include <mpijob/blocking.h>

#include <pthread.h>
#include <stdatomic.h>

/* bytes that may wait for the reader of one answer */
#define MPIJOB__CLIENT_BLOCKING_FULL ((size_t)256 << 10)

/* Something told by a worker: bytes of the body, a header, or the status. */
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
	/* NULL: ended or cancelled; the polling thread's alone to change */
	mpijob_exchange *exchange;
	struct mpijob_request request; /* points into `text` and `body` */
	mpijob_text text, body;
	struct mpijob_blocking_answer *prev, *next;  /* of all answers */
	struct mpijob_blocking_answer *next_waiting; /* for a thread of the pool */
	struct mpijob_blocking_answer *next_ready;   /* for poll */
	int is_waiting, is_ready;
	struct piece *first, *last;
	size_t queued; /* bytes in the pieces */
	int paused, cancelled;
	int performing; /* inside of `perform` */
	int aborting;   /* inside of `abort` */
	int over;       /* the worker has let go of it */
	int code;       /* what `perform` returned */
	int broken;     /* a piece was lost: memory ran out */
	char *message;
	int has_thread; /* a stream's own */
	pthread_t thread;
	pthread_cond_t changed; /* room, cancelled, not aborting any more */
};

struct adapter {
	struct mpijob_blocking blocking;
	void *self;
	int fd;
	atomic_int woken;
	pthread_mutex_t lock;
	pthread_cond_t work; /* for the pool */
	struct mpijob_blocking_answer *answers;
	struct mpijob_blocking_answer *waiting, *last_waiting;
	struct mpijob_blocking_answer *ready, *last_ready;
	size_t waiting_count, idle, thread_count;
	pthread_t *threads;
	int stopping;
};

/* All but the first and the last two: with the lock held. */

/* Make poll return. Safe in a signal handler. */
void mpijob__client_blocking_ring(struct adapter *adapter);
/* Those with something to tell, or to be freed; pop: NULL when there is none. */
void mpijob__client_blocking_push_ready(struct mpijob_blocking_answer *answer);
struct mpijob_blocking_answer *mpijob__client_blocking_pop_ready(struct adapter *adapter);
/* Those for the pool; pop: there must be one. */
void mpijob__client_blocking_push_waiting(struct mpijob_blocking_answer *answer);
struct mpijob_blocking_answer *mpijob__client_blocking_pop_waiting(struct adapter *adapter);
void mpijob__client_blocking_drop_waiting(struct mpijob_blocking_answer *answer);
/* All of them. */
void mpijob__client_blocking_link(struct mpijob_blocking_answer *answer);
void mpijob__client_blocking_unlink(struct mpijob_blocking_answer *answer);
void mpijob__client_blocking_free_piece(struct piece *piece);
void mpijob__client_blocking_drop_pieces(struct mpijob_blocking_answer *answer);
/* NULL without memory. */
struct mpijob_blocking_answer *mpijob__client_blocking_new(struct adapter *adapter,
    const struct mpijob_request *request, mpijob_exchange *exchange);
/* Wait for a thread of its own. */
void mpijob__client_blocking_join(struct mpijob_blocking_answer *answer);
/* Joins a thread of its own. Nobody else knows the answer any more. */
void mpijob__client_blocking_free(struct mpijob_blocking_answer *answer);

#endif
