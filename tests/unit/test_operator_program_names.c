/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's questions to the DNS of the cluster: against a server on the loopback device, and at
 * the end of a socket. */
#include <sys/socket.h>

static ssize_t receive(int fd, void *buffer, size_t room, int flags);

#define recv receive
#include "../../programs/mpijob-operator/names.c"
#undef recv

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "../support/fake_clock.h"

#define SERVER "127.77.0.53"

static int server = -1;
static size_t endless; /* answers that a flood still has, and all those that were read */

static ssize_t receive(int fd, void *buffer, size_t room, int flags)
{
	if (!endless)
		return recv(fd, buffer, room, flags);
	endless--;
	memset(buffer, 0, room);
	return HEADER;
}

void log_line(int32_t severity, const char *format, ...)
{
	(void)severity;
	(void)format;
}

static const char *conf(const char *text)
{
	static char path[] = "/tmp/resolv.XXXXXX";
	int fd;

	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	return path;
}

static struct names *open_names(const char *text, const char *domain)
{
	const char *path = conf(text);
	struct names *names = names_new(path, domain);

	unlink(path);
	return names;
}

/* Answer one query with a code; its type, and its name in `name`. */
static unsigned serve(unsigned code, char *name)
{
	uint8_t query[MAX_QUERY];
	struct sockaddr_in from;
	socklen_t room = sizeof(from);
	ssize_t len =
	    recvfrom(server, query, sizeof(query), MSG_DONTWAIT, (struct sockaddr *)&from, &room);
	size_t at = HEADER;

	assert_true(len > HEADER);
	*name = '\0';
	while (query[at]) {
		strncat(name, (const char *)query + at + 1, query[at]);
		strcat(name, ".");
		at += query[at] + 1U;
	}
	query[2] |= FLAG_ANSWER;
	query[3] = (uint8_t)code;
	assert_int_equal(sendto(server, query, (size_t)len, 0, (struct sockaddr *)&from, room),
	    len);
	return (unsigned)query[at + 1] << 8 | query[at + 2];
}

static void a_name_is_asked_until_it_exists(void **state)
{
	struct names *names =
	    open_names("search mpi.svc.here.test svc.here.test here.test\nnameserver " SERVER "\n",
		NULL);
	char name[MAX_QUERY];
	unsigned first;

	(void)state;
	assert_non_null(names);
	assert_int_equal(names_resolve(names, "pi-worker-0.pi.team.svc"), 0);
	first = serve(3, name);
	assert_string_equal(name, "pi-worker-0.pi.team.svc.here.test.");
	assert_true(first >= TYPE_PRIVATE);
	assert_int_equal(names_resolve(names, "pi-worker-0.pi.team.svc"), 0);
	assert_int_equal(recv(server, name, sizeof(name), MSG_DONTWAIT), -1); /* not at once */
	fake_clock_advance_us((RETRY_MS + 10) * 1000);
	assert_int_equal(names_resolve(names, "pi-worker-0.pi.team.svc"), 0);
	assert_int_not_equal(serve(0, name), first); /* no cache has the answer to another type */
	assert_int_equal(names_resolve(names, "pi-worker-0.pi.team.svc"), 1);
	assert_int_equal(names_resolve(names, "pi-worker-1.pi.team.svc"), 0);
	(void)serve(2, name);
	/* a failure is no name */
	assert_int_equal(names_resolve(names, "pi-worker-1.pi.team.svc"), 0);
	names_free(names);
}

static void the_domain_may_be_given(void **state)
{
	struct names *names =
	    open_names("search svc.here.test\nnameserver " SERVER "\n", "there.test");
	char name[MAX_QUERY];

	(void)state;
	assert_non_null(names);
	assert_int_equal(names_resolve(names, "a.b.c.svc"), 0);
	(void)serve(0, name);
	assert_string_equal(name, "a.b.c.svc.there.test.");
	names_free(names);
}

static void other_resolvers_are_not_asked(void **state)
{
	(void)state;
	assert_null(open_names("search example.test\nnameserver " SERVER "\n", "cluster.local"));
	assert_null(open_names("search svc.here.test\n", NULL));
	assert_null(names_new("/nonexistent/resolv.conf", NULL));
}

static void long_names_are_refused(void **state)
{
	struct names *names = open_names("search svc.here.test\nnameserver " SERVER "\n", NULL);
	char name[600];

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(names_resolve(names, name), -1);
	name[MAX_LABEL + 1] = '\0';
	assert_int_equal(names_resolve(names, name), -1);
	assert_int_equal(names_resolve(names, "a..b"), -1);
	names_free(names);
}

/* --- queries and answers, byte by byte --- */

#define WORKER "pi-worker-0.pi.team.svc"

/* Questions go to `*peer`, which answers as a test wants. */
static struct names *connect_names(int *peer)
{
	struct names *names = calloc(1, sizeof(*names));
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends),
	    0);
	assert_non_null(names);
	names->fd = ends[0];
	names->domain = strdup("here.test");
	*peer = ends[1];
	return names;
}

static void disconnect(struct names *names, int peer)
{
	names_free(names);
	close(peer);
}

static void a_query_is_one_question(void **state)
{
	static const uint8_t question[] = "\x0bpi-worker-0\x02pi\x04team\x03svc\x04here\x04test";
	/* recursion desired; one question */
	static const uint8_t rest[] = { 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0 };
	uint8_t query[MAX_QUERY], again[MAX_QUERY];
	int peer;
	struct names *names = connect_names(&peer);

	(void)state;
	assert_int_equal(names_resolve(names, WORKER), 0);
	assert_int_equal(recv(peer, query, sizeof(query), 0), HEADER + sizeof(question) + 4);
	assert_memory_equal(query + 2, rest, sizeof(rest));
	/* with the root at its end */
	assert_memory_equal(query + HEADER, question, sizeof(question));
	assert_in_range(query[HEADER + sizeof(question)] << 8 |
			    query[HEADER + sizeof(question) + 1],
	    TYPE_PRIVATE, TYPE_PRIVATE + 254);
	assert_int_equal(query[HEADER + sizeof(question) + 2] << 8 |
			     query[HEADER + sizeof(question) + 3],
	    CLASS_IN);
	/* A question without an answer is asked again after a while. */
	assert_int_equal(names_resolve(names, WORKER), 0);
	assert_int_equal(recv(peer, again, sizeof(again), 0), -1);
	fake_clock_advance_us(TIMEOUT_MS * 1000);
	assert_int_equal(names_resolve(names, WORKER), 0);
	assert_int_equal(recv(peer, again, sizeof(again), 0), HEADER + sizeof(question) + 4);
	disconnect(names, peer);
}

/* The longest name fits: 253 characters, of which each label has at most 63. */
static void the_longest_name_is_asked(void **state)
{
	char name[MAX_NAME + 2];
	uint8_t query[MAX_QUERY];
	int peer;
	struct names *names = connect_names(&peer);
	size_t len = MAX_NAME - strlen(".here.test");

	(void)state;
	memset(name, 'a', sizeof(name));
	for (size_t i = MAX_LABEL; i < len; i += MAX_LABEL + 1)
		name[i] = '.';
	name[len] = '\0';
	assert_int_equal(names_resolve(names, name), 0);
	assert_int_equal(recv(peer, query, sizeof(query), 0), HEADER + MAX_NAME + 2 + 4);
	name[len] = 'b';
	name[len + 1] = '\0';
	assert_int_equal(names_resolve(names, name), -1);
	assert_int_equal(recv(peer, query, sizeof(query), 0), -1);
	disconnect(names, peer);
}

struct shape {
	const char *what;
	int answers; /* it is an answer, and the name exists or not */
	int exists;
	size_t len; /* of what is sent; 0: the whole query */
	uint8_t flags[2];
	uint16_t wrong;     /* in the number */
	const char *behind; /* what stands behind the header in place of the question, to the end */
};

static const struct shape shapes[] = {
	{ "an answer", 1, 1, 0, { 0x81, 0x80 }, 0, NULL },
	{ "NXDOMAIN", 1, 0, 0, { 0x81, 0x83 }, 0, NULL },
	{ "SERVFAIL", 1, 0, 0, { 0x81, 0x82 }, 0, NULL },
	{ "REFUSED", 1, 0, 0, { 0x81, 0x85 }, 0, NULL },
	{ "a truncated answer", 1, 1, HEADER + 3, { 0x83, 0x80 }, 0, NULL },
	{ "a header alone", 1, 1, HEADER, { 0x81, 0x80 }, 0, NULL },
	{ "a part of a header", 0, 0, HEADER - 1, { 0x81, 0x80 }, 0, NULL },
	{ "one byte", 0, 0, 1, { 0x81, 0x80 }, 0, NULL },
	{ "a query", 0, 0, 0, { 0x01, 0x00 }, 0, NULL },
	{ "another slot's number", 0, 0, 0, { 0x81, 0x80 }, 1, NULL },
	{ "an old number of the slot", 0, 0, 0, { 0x81, 0x80 }, SLOTS, NULL },
	{ "a compression loop", 1, 1, MAX_QUERY, { 0x81, 0x80 }, 0, "\xc0\x0c" },
	{ "a pointer behind the end", 1, 1, 40, { 0x81, 0x80 }, 0, "\xff\xff" },
	{ "a label that does not end", 1, 0, 40, { 0x81, 0x83 }, 0, "\x3f" },
	{ "more than a query may have", 1, 1, 2 * MAX_QUERY, { 0x81, 0x80 }, 0, "\xff" },
};

static void answers_of_all_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		const struct shape *shape = &shapes[i];
		uint8_t bytes[2 * MAX_QUERY] = { 0 };
		int peer;
		struct names *names = connect_names(&peer);
		ssize_t len;

		assert_int_equal(names_resolve(names, WORKER), 0);
		len = recv(peer, bytes, sizeof(bytes), 0);
		assert_true(len > HEADER);
		put16(bytes, ((unsigned)bytes[0] << 8 | bytes[1]) ^ shape->wrong);
		memcpy(bytes + 2, shape->flags, 2);
		for (size_t at = HEADER; shape->behind && at < sizeof(bytes); at++)
			bytes[at] = (uint8_t)shape->behind[(at - HEADER) % strlen(shape->behind)];
		len = shape->len ? (ssize_t)shape->len : len;
		assert_int_equal(send(peer, bytes, (size_t)len, 0), len);
		if (names_resolve(names, WORKER) != shape->exists)
			fail_msg("%s: the name exists %s", shape->what, shape->exists ? "not" : "");
		/* What is no answer leaves the question open; after NXDOMAIN it is soon asked
		 * again. */
		fake_clock_advance_us(RETRY_MS * 1000);
		(void)names_resolve(names, WORKER);
		if ((recv(peer, bytes, sizeof(bytes), 0) > 0) != (shape->answers && !shape->exists))
			fail_msg("%s: when it is asked again", shape->what);
		disconnect(names, peer);
	}
}

/* Two answers to one question: the first counts. And one of no bytes ends nothing. */
static void answers_that_nobody_asked_for(void **state)
{
	uint8_t bytes[MAX_QUERY];
	int peer;
	struct names *names = connect_names(&peer);
	ssize_t len;

	(void)state;
	assert_int_equal(names_resolve(names, WORKER), 0);
	len = recv(peer, bytes, sizeof(bytes), 0);
	assert_int_equal(send(peer, "", 0, 0), 0);
	bytes[2] |= FLAG_ANSWER;
	assert_int_equal(send(peer, bytes, (size_t)len, 0), len);
	bytes[3] = 3;
	assert_int_equal(send(peer, bytes, (size_t)len, 0), len);
	assert_int_equal(names_resolve(names, WORKER), 1);
	assert_int_equal(names_resolve(names, WORKER), 1);
	disconnect(names, peer);
}

static void a_flood_does_not_keep_the_operator(void **state)
{
	const size_t flood = 10 * SLOTS;
	int peer;
	struct names *names = connect_names(&peer);

	(void)state;
	endless = flood;
	assert_int_equal(names_resolve(names, WORKER), 0);
	assert_in_range(flood - endless, 1, SLOTS);
	endless = 0;
	disconnect(names, peer);
}

/* A server that is not there refuses each query: the name is unknown, and nothing else happens. */
static void a_server_that_is_gone(void **state)
{
	int peer;
	struct names *names = connect_names(&peer);

	(void)state;
	close(peer);
	assert_int_equal(names_resolve(names, WORKER), -1);
	assert_int_equal(names_resolve(names, WORKER), -1);
	names_free(names);
}

int main(void)
{
	const struct CMUnitTest alone[] = {
		cmocka_unit_test(a_query_is_one_question),
		cmocka_unit_test(the_longest_name_is_asked),
		cmocka_unit_test(answers_of_all_shapes),
		cmocka_unit_test(answers_that_nobody_asked_for),
		cmocka_unit_test(a_flood_does_not_keep_the_operator),
		cmocka_unit_test(a_server_that_is_gone),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_asked_until_it_exists),
		cmocka_unit_test(the_domain_may_be_given),
		cmocka_unit_test(other_resolvers_are_not_asked),
		cmocka_unit_test(long_names_are_refused),
	};
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(53) };
	int failed = cmocka_run_group_tests(alone, NULL, NULL);

	server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	inet_pton(AF_INET, SERVER, &address.sin_addr);
	if (failed)
		return failed;
	if (server < 0 || bind(server, (const struct sockaddr *)&address, sizeof(address))) {
		puts("port 53 of the loopback device cannot be used here");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
