/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encode, decode, send and receive messages of the node protocol. Both ends use these files:
 * lib/local/node_client.c and programs/mpijob-node.
 */
#ifndef MPIJOB_LOCAL_NODE_MESSAGE_H
#define MPIJOB_LOCAL_NODE_MESSAGE_H

#include "local/node_protocol.h"

#include <stddef.h>

/* A message that is being encoded. The put functions return nothing; they set `failed` (1: out of
 * memory, 2: too long), which finish and send check. */
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
/* NULL adds no field */
void mpijob__local_node_message_put_text(struct node_writer *w, uint16_t tag, const char *text);
void mpijob__local_node_message_put_number(struct node_writer *w, uint16_t tag, uint64_t value);
/* nested fields: open, put, close */
size_t mpijob__local_node_message_open(struct node_writer *w, uint16_t tag);
void mpijob__local_node_message_close(struct node_writer *w, size_t opened);
/* 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_USAGE (too long) */
int mpijob__local_node_message_finish(struct node_writer *w);
/* wipes, frees, closes the descriptors */
void mpijob__local_node_message_release(struct node_writer *w);

/* Decodes fields, which are borrowed from the message. */
struct node_reader {
	const unsigned char *at;
	const unsigned char *end;
};

struct node_field {
	uint16_t tag;
	const unsigned char *data;
	size_t len;
};

/* 1; 0: the end; -1: malformed */
int mpijob__local_node_message_next(struct node_reader *r, struct node_field *field);
/* 0 when the field is not a number */
uint64_t mpijob__local_node_message_number(const struct node_field *field);
/* NULL when the field is not a text */
const char *mpijob__local_node_message_text(const struct node_field *field);
struct node_reader mpijob__local_node_message_inside(const struct node_field *field);

/* A received message. */
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
	size_t out_bytes;          /* total length of the queue */
	size_t sent;               /* bytes of out[0] that are sent */
	struct node_incoming in;   /* the message that is being received */
	size_t got;                /* received bytes of it, header included */
	int fds[4 * NODE_MAX_FDS]; /* received, not yet assigned to a message */
	int fd_count;
	int write_closed; /* sending failed; messages can still be received */
	int dead;         /* neither sending nor receiving is possible */
};

void mpijob__local_node_message_channel_init(struct node_channel *channel, int fd);
void mpijob__local_node_message_channel_close(struct node_channel *channel);

/* Queue a message. Takes over the content of `w`, also on failure. 0, MPIJOB_ERR_NOMEM,
 * MPIJOB_ERR_USAGE (too long), MPIJOB_ERR_IO (closed). */
int mpijob__local_node_message_send(struct node_channel *channel, struct node_writer *w);

/* Send as much as the socket accepts. 0, or MPIJOB_ERR_IO: the peer has closed it. */
int mpijob__local_node_message_flush(struct node_channel *channel);

/* Receive at most one message. 1, and the caller frees *in; 0: no complete message yet;
 * MPIJOB_ERR_IO: end of the stream, or malformed; MPIJOB_ERR_NOMEM. */
int mpijob__local_node_message_receive(struct node_channel *channel, struct node_incoming *in);
void mpijob__local_node_message_incoming_free(struct node_incoming *in);

#endif
