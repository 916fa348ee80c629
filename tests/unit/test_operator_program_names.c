/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's questions to the DNS of the cluster, against a server on the loopback device. */
#include "../../programs/mpijob-operator/names.c"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "../support/fake_clock.h"

#define SERVER "127.77.0.53"

static int server = -1;

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
	uint8_t query[QUERY_MOST];
	struct sockaddr_in from;
	socklen_t room = sizeof(from);
	ssize_t len = recvfrom(server, query, sizeof(query), MSG_DONTWAIT, (struct sockaddr *)&from, &room);
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
	assert_int_equal(sendto(server, query, (size_t)len, 0, (struct sockaddr *)&from, room), len);
	return (unsigned)query[at + 1] << 8 | query[at + 2];
}

static void a_name_is_asked_until_it_exists(void **state)
{
	struct names *names = open_names("search mpi.svc.here.test svc.here.test here.test\nnameserver " SERVER "\n", NULL);
	char name[QUERY_MOST];
	unsigned first;

	(void)state;
	assert_non_null(names);
	assert_int_equal(names_resolve(names, "pi-worker-0.pi.team.svc"), 0);
	first = serve(3, name);
	assert_string_equal(name, "pi-worker-0.pi.team.svc.here.test.");
	assert_true(first >= TYPE_PRIVATE);
	assert_int_equal(names_resolve(names, "pi-worker-0.pi.team.svc"), 0);
	assert_int_equal(recv(server, name, sizeof(name), MSG_DONTWAIT), -1); /* not at once */
	fake_clock_advance_us((AGAIN_MS + 10) * 1000);
	assert_int_equal(names_resolve(names, "pi-worker-0.pi.team.svc"), 0);
	assert_int_not_equal(serve(0, name), first); /* no cache has the answer to another type */
	assert_int_equal(names_resolve(names, "pi-worker-0.pi.team.svc"), 1);
	assert_int_equal(names_resolve(names, "pi-worker-1.pi.team.svc"), 0);
	(void)serve(2, name);
	assert_int_equal(names_resolve(names, "pi-worker-1.pi.team.svc"), 0); /* a failure is no name */
	names_free(names);
}

static void the_domain_may_be_given(void **state)
{
	struct names *names = open_names("search svc.here.test\nnameserver " SERVER "\n", "there.test");
	char name[QUERY_MOST];

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
	name[LABEL_MOST + 1] = '\0';
	assert_int_equal(names_resolve(names, name), -1);
	assert_int_equal(names_resolve(names, "a..b"), -1);
	names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_asked_until_it_exists),
		cmocka_unit_test(the_domain_may_be_given),
		cmocka_unit_test(other_resolvers_are_not_asked),
		cmocka_unit_test(long_names_are_refused),
	};
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(53) };

	server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	inet_pton(AF_INET, SERVER, &address.sin_addr);
	if (server < 0 || bind(server, (const struct sockaddr *)&address, sizeof(address))) {
		puts("port 53 of the loopback device cannot be had here");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
