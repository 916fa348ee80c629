/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between lib/local and the node: what is written is read, in whatever pieces it comes,
 * and nonsense is refused. */
#include "local/node_message.h"

#include <mpijob/base.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

struct pair {
	struct node_channel a;
	struct node_channel b;
};

static void open_pair(struct pair *pair)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	mpijob__local_node_message_channel_init(&pair->a, fds[0]);
	mpijob__local_node_message_channel_init(&pair->b, fds[1]);
}

static void close_pair(struct pair *pair)
{
	mpijob__local_node_message_channel_close(&pair->a);
	mpijob__local_node_message_channel_close(&pair->b);
}

static struct node_reader fields_of(const struct node_incoming *in)
{
	return (struct node_reader){ in->payload, in->payload + in->frame.length };
}

static void fields_come_back(void **state)
{
	struct node_incoming in;
	struct node_reader fields;
	struct node_reader inside;
	struct node_field f;
	struct node_writer w;
	struct pair pair;
	size_t opened;

	(void)state;
	open_pair(&pair);
	mpijob__local_node_message_begin(&w, NODE_REQ_VOLUME_WRITE, 42);
	mpijob__local_node_message_put_number(&w, NODE_F_ID, UINT64_MAX);
	opened = mpijob__local_node_message_open(&w, NODE_F_FILE);
	mpijob__local_node_message_put_text(&w, NODE_F_PATH, "");
	mpijob__local_node_message_put(&w, NODE_F_DATA, "a\0b", 3);
	mpijob__local_node_message_close(&w, opened);
	mpijob__local_node_message_put_text(&w, NODE_F_TEXT, NULL);
	mpijob__local_node_message_put_text(&w, NODE_F_TEXT, "end");
	assert_int_equal(mpijob__local_node_message_send(&pair.a, &w), 0);
	assert_int_equal(mpijob__local_node_message_flush(&pair.a), 0);
	assert_int_equal(mpijob__local_node_message_receive(&pair.b, &in), 1);
	assert_int_equal(in.frame.type, NODE_REQ_VOLUME_WRITE);
	assert_int_equal(in.frame.request, 42);
	fields = fields_of(&in);
	assert_int_equal(mpijob__local_node_message_next(&fields, &f), 1);
	assert_true(mpijob__local_node_message_number(&f) == UINT64_MAX);
	assert_null(mpijob__local_node_message_text(&f));
	assert_int_equal(mpijob__local_node_message_next(&fields, &f), 1);
	assert_int_equal(f.tag, NODE_F_FILE);
	inside = mpijob__local_node_message_inside(&f);
	assert_int_equal(mpijob__local_node_message_next(&inside, &f), 1);
	assert_string_equal(mpijob__local_node_message_text(&f), "");
	assert_int_equal(mpijob__local_node_message_next(&inside, &f), 1);
	assert_int_equal(f.len, 3);
	assert_memory_equal(f.data, "a\0b", 3);
	assert_null(mpijob__local_node_message_text(&f));
	assert_int_equal(mpijob__local_node_message_next(&inside, &f), 0);
	assert_int_equal(mpijob__local_node_message_next(&fields, &f), 1);
	assert_string_equal(mpijob__local_node_message_text(&f), "end");
	assert_int_equal(mpijob__local_node_message_next(&fields, &f), 0);
	assert_int_equal(mpijob__local_node_message_receive(&pair.b, &in), 0);
	mpijob__local_node_message_incoming_free(&in);
	close_pair(&pair);
}

static void queue(struct node_channel *channel, uint64_t request, const void *data, size_t len,
    int fd)
{
	struct node_writer w;

	mpijob__local_node_message_begin(&w, NODE_REQ_EXEC, request);
	mpijob__local_node_message_put(&w, NODE_F_DATA, data, len);
	if (fd >= 0)
		w.fds[w.fd_count++] = fd;
	assert_int_equal(mpijob__local_node_message_send(channel, &w), 0);
}

/* More than a socket takes at once; each message has a descriptor of its own that must arrive with
 * it. */
static void long_messages_keep_their_descriptors(void **state)
{
	enum { COUNT = 6, LENGTH = 700000 };
	char *data = malloc(LENGTH);
	int ends[COUNT];
	struct pair pair;
	int got = 0;

	(void)state;
	open_pair(&pair);
	memset(data, 'x', LENGTH);
	for (int i = 0; i < COUNT; i++) {
		int fds[2];

		assert_int_equal(pipe(fds), 0);
		ends[i] = fds[1];
		queue(&pair.a, (uint64_t)i + 1, data, i % 2 ? LENGTH : 1, i == 3 ? -1 : fds[0]);
		if (i == 3)
			close(fds[0]);
	}
	assert_true(pair.a.out_bytes > 3 * LENGTH);
	while (got < COUNT) {
		struct node_incoming in;
		char letter = (char)('a' + got);
		char back;
		int r;

		assert_int_equal(mpijob__local_node_message_flush(&pair.a), 0);
		r = mpijob__local_node_message_receive(&pair.b, &in);
		assert_in_range(r, 0, 1);
		if (r == 0)
			continue;
		assert_int_equal(in.frame.request, got + 1);
		assert_int_equal(in.frame.length,
		    sizeof(struct node_field_header) + (got % 2 ? LENGTH : 1));
		assert_int_equal(in.fds[0] >= 0, got != 3);
		assert_int_equal(in.fds[1], -1);
		if (got != 3) {
			assert_int_equal(write(ends[got], &letter, 1), 1);
			assert_int_equal(read(in.fds[0], &back, 1), 1);
			assert_int_equal(back, letter);
			assert_true(fcntl(in.fds[0], F_GETFD) & FD_CLOEXEC);
		}
		mpijob__local_node_message_incoming_free(&in);
		close(ends[got++]);
	}
	assert_int_equal(pair.a.out_bytes, 0);
	free(data);
	close_pair(&pair);
}

static void too_long_is_refused(void **state)
{
	char *data = calloc(1, NODE_MAX_PAYLOAD);
	struct node_writer w;
	struct pair pair;

	(void)state;
	open_pair(&pair);
	mpijob__local_node_message_begin(&w, NODE_REQ_VOLUME_WRITE, 1);
	mpijob__local_node_message_put(&w, NODE_F_DATA, data, NODE_MAX_PAYLOAD);
	assert_int_equal(mpijob__local_node_message_send(&pair.a, &w), MPIJOB_ERR_USAGE);
	assert_int_equal(pair.a.out_count, 0);
	free(data);
	close_pair(&pair);
}

/* One frame from a byte pattern; what receive says of it. */
static int receive_raw(const void *bytes, size_t len)
{
	struct node_incoming in;
	struct pair pair;
	int r;

	open_pair(&pair);
	assert_int_equal(write(pair.a.fd, bytes, len), (ssize_t)len);
	r = mpijob__local_node_message_receive(&pair.b, &in);
	if (r == 1)
		mpijob__local_node_message_incoming_free(&in);
	close_pair(&pair);
	return r;
}

static void bad_frames_are_refused(void **state)
{
	struct node_frame too_long = { .length = NODE_MAX_PAYLOAD + 1 };
	struct node_frame too_many = { .fds = NODE_MAX_FDS + 1 };
	struct node_frame none_came = { .fds = 1 };
	struct node_frame empty = { .type = 1 };
	struct node_frame begun = { .length = 5 };

	(void)state;
	assert_int_equal(receive_raw(&too_long, sizeof(too_long)), MPIJOB_ERR_IO);
	assert_int_equal(receive_raw(&too_many, sizeof(too_many)), MPIJOB_ERR_IO);
	assert_int_equal(receive_raw(&none_came, sizeof(none_came)), MPIJOB_ERR_IO);
	assert_int_equal(receive_raw(&empty, sizeof(empty)), 1);
	assert_int_equal(receive_raw(&empty, sizeof(empty) - 1), 0);
	assert_int_equal(receive_raw(&begun, sizeof(begun)), 0);
}

static void bad_fields_are_refused(void **state)
{
	struct node_field_header past_end = { .tag = 1, .length = 9 };
	struct node_field_header not_zero = { .tag = 1, .zero = 1 };
	unsigned char bytes[16] = { 0 };
	struct node_reader fields = { bytes, bytes + sizeof(bytes) };
	struct node_field f;

	(void)state;
	memcpy(bytes, &past_end, sizeof(past_end));
	assert_int_equal(mpijob__local_node_message_next(&fields, &f), -1);
	memcpy(bytes, &not_zero, sizeof(not_zero));
	assert_int_equal(mpijob__local_node_message_next(&fields, &f), -1);
	fields.end = bytes + 7;
	assert_int_equal(mpijob__local_node_message_next(&fields, &f), -1);
	past_end.length = 8;
	memcpy(bytes, &past_end, sizeof(past_end));
	fields.end = bytes + sizeof(bytes);
	assert_int_equal(mpijob__local_node_message_next(&fields, &f), 1);
	assert_int_equal(mpijob__local_node_message_next(&fields, &f), 0);
}

static void the_other_end_closes(void **state)
{
	struct node_incoming in;
	struct pair pair;

	(void)state;
	open_pair(&pair);
	queue(&pair.a, 1, "x", 1, -1);
	assert_int_equal(mpijob__local_node_message_flush(&pair.a), 0);
	mpijob__local_node_message_channel_close(&pair.a);
	/* what was said before still counts */
	assert_int_equal(mpijob__local_node_message_receive(&pair.b, &in), 1);
	mpijob__local_node_message_incoming_free(&in);
	queue(&pair.b, 2, "y", 1, -1);
	assert_int_equal(mpijob__local_node_message_flush(&pair.b), MPIJOB_ERR_IO);
	assert_int_equal(mpijob__local_node_message_receive(&pair.b, &in), MPIJOB_ERR_IO);
	close_pair(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_come_back),
		cmocka_unit_test(long_messages_keep_their_descriptors),
		cmocka_unit_test(too_long_is_refused),
		cmocka_unit_test(bad_frames_are_refused),
		cmocka_unit_test(bad_fields_are_refused),
		cmocka_unit_test(the_other_end_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
