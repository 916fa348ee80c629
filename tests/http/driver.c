/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP transport on a leash, for the scripts beside this file: commands come in as lines, what
 * happens goes out as lines of JSON. Everything goes through the public headers, as in a program of
 * a user.
 *
 *     start NAME METHOD PATH [stream] [fresh] [timeout=MS] [body=TEXT] [fill=BYTES]
 *     wait NAME            until it is done        data NAME BYTES   until so much came
 *     status...            is in what "done" says  poll MS           once; says how long it took
 *     cancel NAME  pause NAME  resume NAME         wake MS           from another thread, so much
 * later load COUNT AHEAD METHOD PATH [stream]        many at a time; says how they ended quit
 */
#include <mpijob/client.h>
#include <mpijob/http.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define NAMES 64

struct one {
	char name[32];
	int used;
	int done;
	mpijob_call *call;
	size_t bytes;
	unsigned long sum; /* of the bytes, by place: what came twice or in the wrong order shows */
	size_t load;       /* 1: one of many */
};

static struct one ones[NAMES];
static mpijob_client *client;
static int foreign = -1; /* an epoll set of ours, around the transport's */

static struct {
	size_t count, ahead, started, ended, failed;
	int statuses[600];
	char method[16], path[512];
	int stream;
	int first_code;
	char first_message[512];
} load;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print_string(const char *text, size_t len)
{
	putchar('"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void print_answer(const char *name, size_t bytes, unsigned long sum,
    const struct mpijob_answer *answer)
{
	printf("{\"done\": \"%s\", \"code\": %d, \"status\": %d, \"bytes\": %zu, \"sum\": %lu, "
	       "\"retry_after\": %lld, "
	       "\"message\": ",
	    name, answer->code, answer->status, bytes + answer->body_len, sum,
	    (long long)answer->retry_after_ms);
	print_string(answer->message ? answer->message : "",
	    answer->message ? strlen(answer->message) : 0);
	printf(", \"body\": ");
	print_string(answer->body, answer->body_len < 4000 ? answer->body_len : 4000);
	printf("}\n");
	fflush(stdout);
}

static int data_came(void *user, const char *data, size_t len)
{
	struct one *one = user;

	for (size_t i = 0; i < len; i++)
		one->sum = one->sum * 31 + (unsigned char)data[i];
	one->bytes += len;
	return 0;
}

static void one_done(void *user, const struct mpijob_answer *answer)
{
	struct one *one = user;

	one->done = 1;
	one->call = NULL;
	print_answer(one->name, one->bytes, one->sum, answer);
}

static struct one *find(const char *name, int make)
{
	struct one *empty = NULL;

	for (size_t i = 0; i < NAMES; i++) {
		if (ones[i].used && strcmp(ones[i].name, name) == 0)
			return &ones[i];
		if (!ones[i].used && !empty)
			empty = &ones[i];
	}
	if (!make || !empty) {
		fprintf(stderr, "driver: no exchange %s\n", name);
		exit(2);
	}
	memset(empty, 0, sizeof(*empty));
	snprintf(empty->name, sizeof(empty->name), "%s", name);
	empty->used = 1;
	return empty;
}

/* Wait for something to happen: in the library, or in a loop of our own. */
static void turn(int timeout_ms)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct timespec t;
	int64_t deadline = -1;
	int fd = -1;
	int code = 0;

	if (foreign < 0) {
		code = mpijob_client_poll(client, timeout_ms);
	} else {
		code = mpijob_client_interest(client, &fd, &deadline);
		if (epoll_ctl(foreign, EPOLL_CTL_ADD, fd, &event) && errno != EEXIST)
			code = -1;
		clock_gettime(CLOCK_MONOTONIC, &t);
		if (deadline >= 0) {
			int64_t left = deadline - ((int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000);

			left = left < 0 ? 0 : left;
			if (timeout_ms < 0 || left < timeout_ms)
				timeout_ms = (int)left;
		}
		epoll_wait(foreign, &event, 1, timeout_ms);
		if (!code)
			code = mpijob_client_poll(client, 0);
	}
	if (code) {
		fprintf(stderr, "driver: poll failed: %d\n", code);
		exit(2);
	}
}

static void start(char *rest)
{
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	char *save = NULL;
	struct one *one = find(strtok_r(rest, " ", &save), 1);
	char *word;
	char *filling = NULL;
	int code;

	request.method = strtok_r(NULL, " ", &save);
	request.path = strtok_r(NULL, " ", &save);
	while ((word = strtok_r(NULL, " ", &save)) != NULL) {
		if (strcmp(word, "stream") == 0) {
			request.streaming = 1;
			callbacks.data = data_came;
		} else if (strcmp(word, "fresh") == 0) {
			request.fresh = 1;
		} else if (strncmp(word, "timeout=", 8) == 0) {
			request.timeout_ms = atol(word + 8);
		} else if (strncmp(word, "body=", 5) == 0) {
			request.content_type = "application/json";
			request.body = word + 5;
			request.body_len = strlen(word + 5);
		} else if (strncmp(word, "fill=", 5) == 0) {
			request.content_type = "application/json";
			request.body_len = (size_t)atol(word + 5);
			request.body = filling = malloc(request.body_len + 1);
			memset(filling, 'x', request.body_len);
		}
	}
	callbacks.done = one_done;
	callbacks.user = one;
	code = mpijob_client_start(client, &request, &callbacks, &one->call);
	free(filling);
	if (code) {
		one->done = 1;
		printf("{\"done\": \"%s\", \"refused\": %d}\n", one->name, code);
	}
}

static void start_more(void);

static int load_data(void *user, const char *data, size_t len)
{
	(void)user;
	(void)data;
	(void)len;
	return 0;
}

static void load_done(void *user, const struct mpijob_answer *answer)
{
	(void)user;
	load.ended++;
	if (answer->status >= 0 && answer->status < 600)
		load.statuses[answer->status]++;
	if (answer->code && load.failed++ == 0) {
		load.first_code = answer->code;
		snprintf(load.first_message, sizeof(load.first_message), "%s",
		    answer->message ? answer->message : "");
	}
	start_more();
}

static void start_more(void)
{
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;

	request.method = load.method;
	request.path = load.path;
	request.streaming = load.stream;
	callbacks.done = load_done;
	callbacks.data = load.stream ? load_data : NULL;
	while (load.started < load.count && load.started - load.ended < load.ahead) {
		load.started++;
		if (mpijob_client_start(client, &request, &callbacks, NULL)) {
			load.ended++;
			load.failed++;
		}
	}
}

static void run_load(char *rest)
{
	double begin = now();
	double begin_cpu = cpu();
	char stream[16] = "";

	memset(&load, 0, sizeof(load));
	if (sscanf(rest, "%zu %zu %15s %511s %15s", &load.count, &load.ahead, load.method,
		load.path, stream) < 4)
		exit(2);
	load.stream = strcmp(stream, "stream") == 0;
	start_more();
	while (load.ended < load.count)
		turn(1000);
	printf("{\"load\": %zu, \"failed\": %zu, \"seconds\": %.3f, \"cpu\": %.3f, \"first_code\": "
	       "%d, "
	       "\"first_message\": ",
	    load.count, load.failed, now() - begin, cpu() - begin_cpu, load.first_code);
	print_string(load.first_message, strlen(load.first_message));
	printf(", \"statuses\": {");
	for (int i = 0, first = 1; i < 600; i++)
		if (load.statuses[i]) {
			printf("%s\"%d\": %d", first ? "" : ", ", i, load.statuses[i]);
			first = 0;
		}
	printf("}}\n");
}

static void *wake_later(void *user)
{
	usleep((useconds_t)(long)user * 1000);
	mpijob_client_wake(client);
	return NULL;
}

static void wait_for(const char *name, size_t bytes, int data)
{
	struct one *one = find(name, 0);
	double limit = now() + 60;

	while (!one->done && (!data || one->bytes < bytes) && now() < limit)
		turn(1000);
	if (!one->done && !data)
		printf("{\"stuck\": \"%s\"}\n", name);
	if (data)
		printf("{\"data\": \"%s\", \"bytes\": %zu, \"over\": %d}\n", name, one->bytes,
		    one->done);
	if (one->done && !data)
		one->used = 0;
}

static void command(char *line)
{
	char *rest = strchr(line, ' ');
	struct one *one;
	char name[32];
	size_t bytes;
	double begin;
	pthread_t thread;

	if (rest)
		*rest++ = 0;
	if (strcmp(line, "start") == 0) {
		start(rest);
	} else if (strcmp(line, "wait") == 0) {
		wait_for(rest, 0, 0);
	} else if (strcmp(line, "data") == 0 && sscanf(rest, "%31s %zu", name, &bytes) == 2) {
		wait_for(name, bytes, 1);
	} else if (strcmp(line, "poll") == 0) {
		begin = now();
		turn(atoi(rest));
		printf("{\"poll_ms\": %d}\n", (int)((now() - begin) * 1000));
	} else if (strcmp(line, "run") == 0) {
		for (begin = now(); now() - begin < atoi(rest) / 1000.0;)
			turn(20);
	} else if (strcmp(line, "cancel") == 0) {
		one = find(rest, 0);
		if (one->call)
			mpijob_call_cancel(one->call);
		one->used = 0;
	} else if (strcmp(line, "pause") == 0 || strcmp(line, "resume") == 0) {
		one = find(rest, 0);
		if (one->call)
			mpijob_call_pause(one->call, *line == 'p');
	} else if (strcmp(line, "wake") == 0) {
		if (pthread_create(&thread, NULL, wake_later, (void *)atol(rest)) == 0)
			pthread_detach(thread);
	} else if (strcmp(line, "load") == 0) {
		run_load(rest);
	} else {
		fprintf(stderr, "driver: %s?\n", line);
		exit(2);
	}
	printf("{\"ok\": \"%s\"}\n", line);
	fflush(stdout);
}

static int open_client(struct mpijob_http_config_options *wish, struct mpijob_http_options *options)
{
	struct mpijob_client_options never = MPIJOB_CLIENT_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_http_config *config = NULL;
	mpijob_http *http = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	int code = mpijob_http_config_load(wish, &config, diag);

	if (!code)
		code = mpijob_http_new(config, options, &transport, &http, diag);
	if (!code)
		code = mpijob_client_new(&transport, http, &client);
	never.retries = -1;
	if (!code)
		code = mpijob_client_set_options(client, &never);
	mpijob_http_config_free(config);
	printf("{\"open\": %d, \"findings\": [", code);
	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		const char *message = mpijob_diag_at(diag, i)->message;

		printf("%s", i ? ", " : "");
		print_string(message, strlen(message));
	}
	printf("]}\n");
	fflush(stdout);
	mpijob_diag_free(diag);
	return code;
}

int main(int argc, char **argv)
{
	struct mpijob_http_config_options wish = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	struct mpijob_http_options options = MPIJOB_HTTP_OPTIONS_INIT;
	const struct {
		const char *name;
		const char **to;
	} words[] = { { "--kubeconfig", &wish.kubeconfig }, { "--server", &wish.server },
		{ "--ca", &wish.certificate_authority }, { "--cert", &wish.client_certificate },
		{ "--key", &wish.client_key }, { "--token", &wish.token },
		{ "--tls-server-name", &wish.tls_server_name }, { "--proxy", &wish.proxy_url },
		{ "--as", &wish.as_user }, { "--user-agent", &options.user_agent } };
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	for (int i = 1; i + 1 < argc; i += 2) {
		for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++)
			if (strcmp(argv[i], words[w].name) == 0)
				*words[w].to = argv[i + 1];
		if (strcmp(argv[i], "--insecure") == 0)
			wish.insecure_skip_tls_verify = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--http1") == 0)
			options.http1 = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--max") == 0)
			options.max_connections = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--idle") == 0)
			options.idle_timeout_ms = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--connect") == 0)
			options.connect_timeout_ms = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--foreign") == 0)
			foreign = epoll_create1(EPOLL_CLOEXEC);
	}
	if (open_client(&wish, &options))
		return 0;
	while ((len = getline(&line, &room, stdin)) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (strcmp(line, "quit") == 0)
			break;
		command(line);
	}
	free(line);
	mpijob_client_free(client);
	if (foreign >= 0)
		close(foreign);
	return 0;
}
