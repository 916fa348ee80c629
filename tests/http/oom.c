/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of a transport's life fails, alone or with all after it: ours, libcurl's and,
 * with TLS, OpenSSL's. Each exchange must end once, well or saying that memory ran out; what it got
 * must be whole then; afterwards the transport works, and nothing leaks. The server is a child
 * process, so that this one has a single thread.
 *
 * Usage: http_oom [NUMBER [x]]              a plain server of its own
 *        http_oom tls URL CA STEP [NUMBER [x]]  see test-oom-tls: one allocation in so many
 */
#include "../oom/failing_malloc.h"

#include <mpijob/client.h>
#include <mpijob/http.h>

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MOST 2000
#define END_MS      2500 /* over TLS limits are of 1 s */
#define UNCOUNTED   ((size_t)-1)

static const char *problem;
static char said[256];
static char url[128];
static const char *authority; /* with TLS: the file of its CA */
static size_t unclear;        /* failures that did not say that memory ran out */
static size_t waited;         /* of them those that a limit of time ended */
/* blocks that were left, which over TLS are of caches of libcrypto: at most so many */
static long kept, most_kept;

/* A resolver would be a thread, and the counting allocator is for one thread. */
__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
    const pthread_attr_t *attributes, void *(*function)(void *), void *user)
{
	(void)thread;
	(void)attributes;
	(void)function;
	(void)user;
	return EAGAIN;
}

/* The server: one child for each connection. */

static void write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t done = write(fd, text, left);

		if (done <= 0)
			_exit(0);
		text += done;
		left -= (size_t)done;
	}
}

static void serve(int fd)
{
	char head[4096];
	size_t len = 0;

	for (;;) {
		ssize_t got = read(fd, head + len, sizeof(head) - 1 - len);
		char *end;
		size_t body;

		if (got <= 0)
			_exit(0);
		len += (size_t)got;
		head[len] = 0;
		end = strstr(head, "\r\n\r\n");
		if (!end)
			continue;
		body = strstr(head, "Content-Length: 2") ? 2 : 0;
		if (len < (size_t)(end + 4 - head) + body)
			continue;
		len = 0;
		if (strstr(head, "GET /stream"))
			write_all(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
				      "chunked\r\n\r\n5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n");
		else if (strstr(head, "GET /refused"))
			write_all(fd,
			    "HTTP/1.1 401 No\r\nContent-Length: 4\r\nRetry-After: 1\r\n\r\nnope");
		else
			write_all(fd, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: "
				      "a/b\r\nWarning: 299 - "
				      "\"w\"\r\n\r\nhello");
	}
}

static pid_t start_server(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	pid_t child;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 64) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		exit(2);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
	child = fork();
	if (child) {
		close(listener);
		return child;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd >= 0 && fork() == 0)
			serve(fd);
		close(fd);
	}
}

/* The scenario. */

struct one {
	int done;
	size_t bytes;
	mpijob_call *call;
};

static int judge(int code)
{
	if (code && code != MPIJOB_ERR_NOMEM && code != MPIJOB_ERR_AUTH)
		problem = mpijob_error_name(code);
	return code;
}

static int data_came(void *user, const char *data, size_t len)
{
	struct one *one = user;

	(void)data;
	one->bytes += len;
	return 0;
}

static void done(void *user, const struct mpijob_answer *answer)
{
	struct one *one = user;

	if (one->done++)
		problem = "ended twice";
	if (answer->code == 0 && one->bytes + answer->body_len != (one->bytes ? 10u : 5u))
		problem = "an answer that is not whole";
	/* Out of memory, curl does not see that the address is one, and asks a resolver for it. */
	if (answer->code == MPIJOB_ERR_UNREACHABLE && oom_failed() &&
	    strstr(answer->message, "host name"))
		return;
	/* OpenSSL ends a handshake, or a connection, without always telling why, or waits for what
	 * has come already. */
	if (authority && oom_failed() &&
	    (answer->code == MPIJOB_ERR_UNREACHABLE || answer->code == MPIJOB_ERR_IO ||
		answer->code == MPIJOB_ERR_TIMEOUT)) {
		waited += answer->code == MPIJOB_ERR_TIMEOUT;
		unclear++;
		return;
	}
	if (judge(answer->code) && answer->code != MPIJOB_ERR_NOMEM && answer->status != 401) {
		snprintf(said, sizeof(said), "%s", answer->message);
		problem = said;
	}
}

static void start(mpijob_client *client, struct one *one, const char *method, const char *path,
    int stream)
{
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;

	memset(one, 0, sizeof(*one));
	request.method = method;
	request.path = path;
	request.streaming = stream;
	if (strcmp(method, "POST") == 0) {
		request.body = "{}";
		request.body_len = 2;
		request.content_type = "application/json";
	}
	callbacks.data = stream ? data_came : NULL;
	callbacks.done = done;
	callbacks.user = one;
	if (judge(mpijob_client_start(client, &request, &callbacks, &one->call)))
		one->done = 1;
}

static int all_done(const struct one *ones, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!ones[i].done)
			return 0;
	return 1;
}

static struct one ones[5];

static int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void live(mpijob_client *client)
{
	int64_t until = clock_ms() + END_MS;

	start(client, &ones[0], "GET", "/a", 0);
	start(client, &ones[1], "POST", "/b", 0);
	start(client, &ones[2], "GET", "/stream", 1);
	start(client, &ones[3], "GET", "/refused", 0);
	if (!ones[2].done)
		mpijob_call_pause(ones[2].call, 1);
	for (int i = 0; i < ROUNDS_MOST && !all_done(ones, 4); i++) {
		if (authority && oom_failed() && clock_ms() >= until)
			break;
		judge(mpijob_client_poll(client, 5));
		if (i == 4 && !ones[2].done)
			mpijob_call_pause(ones[2].call, 0);
	}
	/* OpenSSL may try again and again until there is memory. */
	if (!all_done(ones, 4) && !(authority && oom_failed()))
		problem = "an exchange does not end";
	start(client, &ones[4], "GET", "/stream", 1);
	judge(mpijob_client_poll(client, 0));
	if (!ones[4].done)
		mpijob_call_cancel(ones[4].call);
}

/* Memory is back. */
static void look(mpijob_client *client)
{
	struct one one;

	for (int64_t until = clock_ms() + END_MS; !all_done(ones, 4) && clock_ms() < until;)
		mpijob_client_poll(client, 5);
	/*
	 * A session ticket for which there was no memory can leave OpenSSL saying for ever that it
	 * wants to read. What has a limit of time ends by it; a stream has that of its reader.
	 */
	if (authority && !ones[2].done) {
		mpijob_call_cancel(ones[2].call);
		ones[2].done = 1;
		unclear++;
		waited++;
	}
	for (int i = 0; i < 4; i++)
		if (!ones[i].done) {
			snprintf(said, sizeof(said), "exchange %d does not end when memory is back",
			    i);
			problem = said;
		}
	start(client, &one, "GET", "/a", 0);
	for (int i = 0; i < ROUNDS_MOST && !one.done; i++)
		mpijob_client_poll(client, 5);
	if (!one.done)
		problem = "nothing works afterwards";
}

static size_t scenario(size_t fail_at, int persistent)
{
	struct mpijob_http_config_options wish = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	struct mpijob_client_options never = MPIJOB_CLIENT_OPTIONS_INIT;
	struct mpijob_http_options limits = MPIJOB_HTTP_OPTIONS_INIT;
	mpijob_http_config *config = NULL;
	mpijob_http *http = NULL;
	mpijob_client *client = NULL;
	size_t count;
	int code;

	wish.server = url;
	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++)
		ones[i].done = 1;
	limits.connect_timeout_ms = limits.request_timeout_ms = limits.idle_timeout_ms =
	    authority ? 1000 : 0;
	wish.certificate_authority = authority;
	wish.as_user = "jane";
	wish.namespace_ = "default";
	if (fail_at != UNCOUNTED)
		oom_start(fail_at, persistent);
	code = mpijob_http_config_load(&wish, &config, NULL);
	if (!code)
		code = mpijob_http_new(config, &limits, &transport, &http, NULL);
	if (!code)
		code = mpijob_client_new(&transport, http, &client);
	never.retries = -1;
	if (!code)
		code = mpijob_client_set_options(client, &never);
	if (judge(code) == 0)
		live(client);
	count = oom_stop();
	if (client)
		look(client);
	mpijob_client_free(client);
	mpijob_http_config_free(config);
	if (authority && fail_at != UNCOUNTED) {
		kept = oom_live();
		most_kept = kept > most_kept ? kept : most_kept;
		oom_forget();
	}
	return count;
}

int main(int argc, char **argv)
{
	size_t step = 1;
	pid_t server = 0;
	int code;

#ifdef __SANITIZE_ADDRESS__
	puts("skipped: the sanitizer brings an allocator of its own");
	return 77;
#endif
	setenv("KUBECONFIG", "/dev/null", 1);
	unsetenv("HTTP_PROXY");
	unsetenv("http_proxy");
	if (argc > 4 && strcmp(argv[1], "tls") == 0) {
		snprintf(url, sizeof(url), "%s", argv[2]);
		authority = argv[3];
		step = strtoul(argv[4], NULL, 10);
		argc -= 4;
		argv += 4;
	} else {
		server = start_server();
	}
	/* What libcurl and libcrypto keep for the process is none of ours. */
	scenario(UNCOUNTED, 0);
	code = oom_each(argc, argv, step, scenario, &problem);
	if (authority)
		printf("%zu failures over TLS did not say that memory ran out, %zu of them waited; "
		       "at most %ld blocks were "
		       "left\n",
		    unclear, waited, most_kept);
	if (server)
		kill(server, SIGKILL);
	return code;
}
