/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire format of the node protocol, and how messages with descriptors are sent and received
 * over a non-blocking stream socket. Other files see only fields.
 */
#include "local/node_message.h"

#include "base/secret.h"

#include <mpijob/base.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAILED_NOMEM    1
#define FAILED_TOO_LONG 2

/* Not realloc(), which does not wipe the old block. */
static int reserve(struct node_writer *w, size_t more)
{
	size_t cap = w->cap ? w->cap : 256;
	unsigned char *data;

	if (w->failed)
		return -1;
	if (more > NODE_MAX_PAYLOAD ||
	    w->len + more > NODE_MAX_PAYLOAD + sizeof(struct node_frame)) {
		w->failed = FAILED_TOO_LONG;
		return -1;
	}
	if (w->len + more <= w->cap)
		return 0;
	while (cap < w->len + more)
		cap *= 2;
	data = malloc(cap);
	if (!data) {
		w->failed = FAILED_NOMEM;
		return -1;
	}
	if (w->len)
		memcpy(data, w->data, w->len);
	mpijob__base_secret_free(w->data, w->cap);
	w->data = data;
	w->cap = cap;
	return 0;
}

static void append(struct node_writer *w, const void *data, size_t len)
{
	if (reserve(w, len) || len == 0)
		return;
	memcpy(w->data + w->len, data, len);
	w->len += len;
}

void mpijob__local_node_message_begin(struct node_writer *w, uint16_t type, uint64_t request)
{
	struct node_frame frame = { .type = type, .request = request };

	memset(w, 0, sizeof(*w));
	append(w, &frame, sizeof(frame));
}

void mpijob__local_node_message_put(struct node_writer *w, uint16_t tag, const void *data,
    size_t len)
{
	struct node_field_header header = { .tag = tag, .length = (uint32_t)len };

	if (reserve(w, sizeof(header) + len))
		return;
	append(w, &header, sizeof(header));
	append(w, data, len);
}

void mpijob__local_node_message_put_text(struct node_writer *w, uint16_t tag, const char *text)
{
	if (text)
		mpijob__local_node_message_put(w, tag, text, strlen(text) + 1);
}

void mpijob__local_node_message_put_number(struct node_writer *w, uint16_t tag, uint64_t value)
{
	mpijob__local_node_message_put(w, tag, &value, sizeof(value));
}

size_t mpijob__local_node_message_open(struct node_writer *w, uint16_t tag)
{
	size_t opened = w->len;

	mpijob__local_node_message_put(w, tag, NULL, 0);
	return opened;
}

void mpijob__local_node_message_close(struct node_writer *w, size_t opened)
{
	struct node_field_header header;

	if (w->failed)
		return;
	memcpy(&header, w->data + opened, sizeof(header));
	header.length = (uint32_t)(w->len - opened - sizeof(header));
	memcpy(w->data + opened, &header, sizeof(header));
}

int mpijob__local_node_message_finish(struct node_writer *w)
{
	struct node_frame frame;

	if (w->failed)
		return w->failed == FAILED_TOO_LONG ? MPIJOB_ERR_USAGE : MPIJOB_ERR_NOMEM;
	memcpy(&frame, w->data, sizeof(frame));
	frame.length = (uint32_t)(w->len - sizeof(frame));
	frame.fds = (uint16_t)w->fd_count;
	memcpy(w->data, &frame, sizeof(frame));
	return 0;
}

static void close_all(int *fds, int count)
{
	for (int i = 0; i < count; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

void mpijob__local_node_message_release(struct node_writer *w)
{
	mpijob__base_secret_free(w->data, w->cap);
	close_all(w->fds, w->fd_count);
	memset(w, 0, sizeof(*w));
}

int mpijob__local_node_message_next(struct node_reader *r, struct node_field *field)
{
	struct node_field_header header;
	size_t left = (size_t)(r->end - r->at);

	if (left == 0)
		return 0;
	if (left < sizeof(header))
		return -1;
	memcpy(&header, r->at, sizeof(header));
	if (header.length > left - sizeof(header) || header.zero != 0)
		return -1;
	field->tag = header.tag;
	field->data = r->at + sizeof(header);
	field->len = header.length;
	r->at = field->data + field->len;
	return 1;
}

uint64_t mpijob__local_node_message_number(const struct node_field *field)
{
	uint64_t value = 0;

	if (field->len == sizeof(value))
		memcpy(&value, field->data, sizeof(value));
	return value;
}

const char *mpijob__local_node_message_text(const struct node_field *field)
{
	if (field->len == 0 || memchr(field->data, 0, field->len) != field->data + field->len - 1)
		return NULL;
	return (const char *)field->data;
}

struct node_reader mpijob__local_node_message_inside(const struct node_field *field)
{
	return (struct node_reader){ field->data, field->data + field->len };
}

void mpijob__local_node_message_channel_init(struct node_channel *channel, int fd)
{
	memset(channel, 0, sizeof(*channel));
	channel->fd = fd;
	for (int i = 0; i < NODE_MAX_FDS; i++)
		channel->in.fds[i] = -1;
}

void mpijob__local_node_message_channel_close(struct node_channel *channel)
{
	for (size_t i = 0; i < channel->out_count; i++)
		mpijob__local_node_message_release(&channel->out[i]);
	free(channel->out);
	mpijob__local_node_message_incoming_free(&channel->in);
	close_all(channel->fds, channel->fd_count);
	if (channel->fd >= 0)
		close(channel->fd);
	mpijob__local_node_message_channel_init(channel, -1);
	channel->dead = 1;
}

static int queue_grow(struct node_channel *channel)
{
	size_t cap = channel->out_cap ? 2 * channel->out_cap : 16;
	struct node_writer *out;

	if (channel->out_count < channel->out_cap)
		return 0;
	out = realloc(channel->out, cap * sizeof(*out)); /* contains pointers, no secrets */
	if (!out)
		return MPIJOB_ERR_NOMEM;
	channel->out = out;
	channel->out_cap = cap;
	return 0;
}

int mpijob__local_node_message_send(struct node_channel *channel, struct node_writer *w)
{
	int rc = mpijob__local_node_message_finish(w);

	if (!rc && (channel->write_closed || channel->dead))
		rc = MPIJOB_ERR_IO;
	if (!rc)
		rc = queue_grow(channel);
	if (rc) {
		mpijob__local_node_message_release(w);
		return rc;
	}
	channel->out[channel->out_count++] = *w;
	channel->out_bytes += w->len;
	memset(w, 0, sizeof(*w));
	return 0;
}

/* The descriptors are sent with the first byte of a message only. */
static ssize_t send_some(int fd, const struct node_writer *w, size_t sent)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * NODE_MAX_FDS)];
	} control = { 0 };
	struct iovec part = { w->data + sent, w->len - sent };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	size_t bytes = sizeof(int) * (size_t)w->fd_count;

	if (sent == 0 && w->fd_count > 0) {
		struct cmsghdr *header;

		msg.msg_control = control.space;
		msg.msg_controllen = CMSG_SPACE(bytes);
		header = CMSG_FIRSTHDR(&msg);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(bytes);
		memcpy(CMSG_DATA(header), w->fds, bytes);
	}
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int mpijob__local_node_message_flush(struct node_channel *channel)
{
	size_t done = 0;

	while (!channel->write_closed && done < channel->out_count) {
		struct node_writer *w = &channel->out[done];
		ssize_t n = send_some(channel->fd, w, channel->sent);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == ENOBUFS))
			break;
		if (n < 0) {
			channel->write_closed = 1;
			break;
		}
		channel->sent += (size_t)n;
		if (channel->sent < w->len)
			continue;
		channel->out_bytes -= w->len;
		mpijob__local_node_message_release(w);
		channel->sent = 0;
		done++;
	}
	channel->out_count -= done;
	if (done && channel->out_count)
		memmove(channel->out, channel->out + done,
		    channel->out_count * sizeof(*channel->out));
	return channel->write_closed ? MPIJOB_ERR_IO : 0;
}

static void keep_fds(struct node_channel *channel, struct msghdr *msg)
{
	const int room = (int)(sizeof(channel->fds) / sizeof(channel->fds[0]));

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (channel->fd_count < room)
				channel->fds[channel->fd_count++] = fd;
			else
				close(fd);
		}
	}
}

/* Read up to `want` bytes. Returns their number; 0: nothing available; MPIJOB_ERR_IO: the end. */
static ssize_t receive_some(struct node_channel *channel, void *to, size_t want)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * NODE_MAX_FDS)];
	} control;
	struct iovec part = { to, want };
	struct msghdr msg = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space) };
	ssize_t n;

	do {
		n = recvmsg(channel->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n > 0) {
		keep_fds(channel, &msg);
		return n;
	}
	if (n < 0 && errno == EAGAIN)
		return 0;
	channel->dead = 1;
	return MPIJOB_ERR_IO;
}

/* The header is complete: allocate the payload. */
static int begin_payload(struct node_channel *channel)
{
	struct node_incoming *in = &channel->in;

	if (in->frame.length > NODE_MAX_PAYLOAD || in->frame.fds > NODE_MAX_FDS) {
		channel->dead = 1;
		return MPIJOB_ERR_IO;
	}
	in->payload = malloc(in->frame.length ? in->frame.length : 1);
	return in->payload ? 0 : MPIJOB_ERR_NOMEM;
}

static int complete(struct node_channel *channel, struct node_incoming *in)
{
	int count = channel->in.frame.fds;

	if (channel->fd_count < count) {
		channel->dead = 1;
		return MPIJOB_ERR_IO;
	}
	memcpy(channel->in.fds, channel->fds, sizeof(int) * (size_t)count);
	channel->fd_count -= count;
	memmove(channel->fds, channel->fds + count, sizeof(int) * (size_t)channel->fd_count);
	*in = channel->in;
	memset(&channel->in, 0, sizeof(channel->in));
	for (int i = 0; i < NODE_MAX_FDS; i++)
		channel->in.fds[i] = -1;
	channel->got = 0;
	return 1;
}

int mpijob__local_node_message_receive(struct node_channel *channel, struct node_incoming *in)
{
	struct node_incoming *now = &channel->in;
	const size_t head = sizeof(now->frame);

	while (!channel->dead) {
		ssize_t n;

		if (channel->got >= head && !now->payload) {
			int rc = begin_payload(channel);

			if (rc)
				return rc;
		}
		if (channel->got >= head && channel->got == head + now->frame.length)
			return complete(channel, in);
		if (channel->got < head)
			n = receive_some(channel, (char *)&now->frame + channel->got,
			    head - channel->got);
		else
			n = receive_some(channel, now->payload + (channel->got - head),
			    head + now->frame.length - channel->got);
		if (n <= 0)
			return (int)n;
		channel->got += (size_t)n;
	}
	return MPIJOB_ERR_IO;
}

void mpijob__local_node_message_incoming_free(struct node_incoming *in)
{
	mpijob__base_secret_free(in->payload, in->frame.length);
	in->payload = NULL;
	close_all(in->fds, NODE_MAX_FDS);
	for (int i = 0; i < NODE_MAX_FDS; i++)
		in->fds[i] = -1;
}
