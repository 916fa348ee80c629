/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of the node protocol: put together, taken apart, carried over a stream socket with
 * descriptors. Used by both ends: lib/local/node_client.c and programs/mpijob-node.
 */
#ifndef MPIJOB_LOCAL_NODE_MESSAGE_H
#define MPIJOB_LOCAL_NODE_MESSAGE_H

#include "node_protocol.h"

#include <stddef.h>

/* A message that is being written. Puts never fail on the spot; `failed` remembers (1: no memory,
 * 2: too long). */
struct node_writer {
	unsigned char *data; /* frame header and fields; wiped before it is freed */
	size_t len;
	size_t cap;
	int failed;
	int fds[NODE_MAX_FDS]; /* owned */
	int fd_count;
};

void mpijob__local_node_message_begin(struct node_writer *w, uint16_t type, uint64_t request);
void mpijob__local_node_message_put(struct node_writer *w, uint16_t tag, const void *data,
    size_t len);
/* NULL: nothing */
void mpijob__local_node_message_put_text(struct node_writer *w, uint16_t tag, const char *text);
void mpijob__local_node_message_put_number(struct node_writer *w, uint16_t tag, uint64_t value);
/* fields in a field: open, puts, close */
size_t mpijob__local_node_message_open(struct node_writer *w, uint16_t tag);
void mpijob__local_node_message_close(struct node_writer *w, size_t opened);
/* 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_USAGE (too long) */
int mpijob__local_node_message_finish(struct node_writer *w);
/* wipes, frees, closes the descriptors */
void mpijob__local_node_message_drop(struct node_writer *w);

/* Fields that are being read; borrowed from the message. */
struct node_reader {
	const unsigned char *at;
	const unsigned char *end;
};

struct node_field {
	uint16_t tag;
	const unsigned char *data;
	size_t len;
};

/* 1; 0 at the end; -1 malformed */
int mpijob__local_node_message_next(struct node_reader *r, struct node_field *field);
/* 0 when it is none */
uint64_t mpijob__local_node_message_number(const struct node_field *field);
/* NULL when it is none */
const char *mpijob__local_node_message_text(const struct node_field *field);
struct node_reader mpijob__local_node_message_inside(const struct node_field *field);

/* One message that came in. */
struct node_incoming {
	struct node_frame frame;
	unsigned char *payload; /* owned; wiped before it is freed */
	int fds[NODE_MAX_FDS];  /* owned; -1 when taken or absent */
};

/* A stream socket that carries messages in both directions without blocking. */
struct node_channel {
	int fd;
	struct node_writer *out; /* queue of messages to send */
	size_t out_count;
	size_t out_cap;
	size_t out_bytes;          /* that wait in the queue */
	size_t sent;               /* bytes of out[0] that are gone */
	struct node_incoming in;   /* the message that is coming in */
	size_t got;                /* bytes of it, header included */
	int fds[4 * NODE_MAX_FDS]; /* came in, not yet given to a message */
	int fd_count;
	int mute; /* nothing can be sent any more */
	int dead; /* nothing can be received any more either */
};

void mpijob__local_node_message_channel_init(struct node_channel *channel, int fd);
void mpijob__local_node_message_channel_close(struct node_channel *channel);

/* Queue a message; takes what is in `w` in any case. 0 or MPIJOB_ERR_*. */
int mpijob__local_node_message_send(struct node_channel *channel, struct node_writer *w);

/* Send what the socket takes. 0, or MPIJOB_ERR_IO: the other end is gone. */
int mpijob__local_node_message_flush(struct node_channel *channel);

/* Receive at most one message: 1 and *in is the caller's; 0: nothing whole yet; MPIJOB_ERR_IO: end
 * or nonsense; _NOMEM.
 */
int mpijob__local_node_message_receive(struct node_channel *channel, struct node_incoming *in);
void mpijob__local_node_message_incoming_free(struct node_incoming *in);

#endif
