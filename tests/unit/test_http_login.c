/* SPDX-License-Identifier: Apache-2.0 */
/* Exec credential plugins at which somebody logs in, which takes its time: here somebody types at a
 * terminal. */
#include "http/credentials.h"

#include <mpijob/http.h>
#include <mpijob/mpijob.h>

#include "../support/fake_wait.h"
#include "../support/http_folder.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define REPLY                                                                         \
	"{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/" \
	"v1\",\"status\":{\"token\":\"t\"}}"

#define ASKS  "#!/bin/sh\nread line\necho '" REPLY "'\n"
#define HANGS "#!/bin/sh\nexec sleep 100\n"

/* Our standard input is a terminal meanwhile, at whose other end is `master`. */
static int saved, master, slave;

static int begin(void **state)
{
	saved = dup(0);
	master = posix_openpt(O_RDWR | O_NOCTTY);
	if (master < 0 || grantpt(master) || unlockpt(master))
		return -1;
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (dup2(slave, 0) != 0)
		return -1;
	return scratch_begin(state);
}

static int end(void **state)
{
	dup2(saved, 0);
	close(saved);
	close(slave);
	close(master);
	return scratch_end(state);
}

static void write_kubeconfig(const char *script, const char *mode, int port)
{
	char text[1024];

	snprintf(text, sizeof(text),
	    "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],\n"
	    "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:%d'}}], users: [{name: u, "
	    "user: {exec: {\n"
	    "apiVersion: client.authentication.k8s.io/v1, command: '%s', interactiveMode: "
	    "%s}}}]}\n",
	    port, put_program("plugin", script), mode);
	put("kubeconfig", text);
}

static mpijob_http_config *load(void)
{
	struct mpijob_http_config_options options = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	mpijob_http_config *config = NULL;

	options.kubeconfig = in_scratch("kubeconfig");
	options.interactive = 1;
	assert_int_equal(mpijob_http_config_load(&options, &config, NULL), 0);
	return config;
}

/* --- how long it may take --- */

/* A plugin that does not end is still there so many milliseconds later, and then it is not. */
static void expect_limit(const char *mode, int64_t given_ms, int64_t limit_ms)
{
	mpijob__http_credentials *credentials = NULL;
	const char *message = "";
	mpijob_http_config *config;
	int64_t now_ms = fake_clock_ms();

	write_kubeconfig(HANGS, mode, 1);
	config = load();
	assert_int_equal(mpijob__http_credentials_new(config, given_ms, NULL, NULL, &credentials),
	    0);
	assert_int_equal(mpijob__http_credentials_prepare(credentials, now_ms, &message), 0);
	assert_int_equal(mpijob__http_credentials_may_prompt(credentials),
	    strcmp(mode, "Never") != 0);
	assert_int_equal(mpijob__http_credentials_step(credentials, now_ms + limit_ms - 1), 0);
	assert_int_equal(mpijob__http_credentials_step(credentials, now_ms + limit_ms), 1);
	assert_int_equal(mpijob__http_credentials_may_prompt(credentials), 0);
	assert_int_equal(mpijob__http_credentials_prepare(credentials, now_ms + limit_ms, &message),
	    MPIJOB_ERR_AUTH);
	assert_non_null(strstr(message, "did not exit within"));
	mpijob__http_credentials_free(credentials);
	mpijob_http_config_free(config);
}

static void test_a_login_has_more_time(void **state)
{
	(void)state;
	expect_limit("Always", 0, 900000);
	expect_limit("IfAvailable", 0, 900000);
	expect_limit("Never", 0, 60000);
	expect_limit("Never", 5000, 5000);
	expect_limit("Always", 5000, 900000);
	expect_limit("Always", 1000000, 1000000);
}

/* --- whose time counts meanwhile --- */

struct asked {
	int over, code;
	char message[256];
};

static void done(void *user, const struct mpijob_answer *answer)
{
	struct asked *asked = user;

	asked->over = 1;
	asked->code = answer->code;
	snprintf(asked->message, sizeof(asked->message), "%s",
	    answer->message ? answer->message : "");
}

static void poll_for(mpijob_client *client, const struct asked *asked, int64_t ms)
{
	for (int64_t end_ms = fake_clock_ms() + ms; !asked->over && fake_clock_ms() < end_ms;)
		assert_int_equal(mpijob_client_poll(client, 20), 0);
}

/* Connections are made, and nothing is ever said over them. */
static int listen_silently(int *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*port = ntohs(address.sin_port);
	return fd;
}

static void start(mpijob_client *client, struct asked *asked)
{
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;

	memset(asked, 0, sizeof(*asked));
	callbacks.done = done;
	callbacks.user = asked;
	request.method = "GET";
	request.path = "/version";
	assert_int_equal(mpijob_client_start(client, &request, &callbacks, NULL), 0);
}

static mpijob_client *connect_to(const char *script, const char *mode, int port)
{
	struct mpijob_http_options options = MPIJOB_HTTP_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_http_config *config;
	mpijob_http *http = NULL;
	mpijob_client *client = NULL;

	write_kubeconfig(script, mode, port);
	config = load();
	options.request_timeout_ms = 300;
	fake_wait_for_others = 1;
	assert_int_equal(mpijob_http_new(config, &options, &transport, &http, NULL), 0);
	assert_int_equal(mpijob_client_new(&transport, http, &client), 0);
	mpijob_http_config_free(config);
	return client;
}

static void test_a_login_takes_no_time_of_requests(void **state)
{
	struct asked first, second;
	int port, fd = listen_silently(&port);
	mpijob_client *client = connect_to(ASKS, "Always", port);

	(void)state;
	start(client, &first);
	poll_for(client, &first, 500);
	start(client, &second);
	poll_for(client, &first, 500);
	assert_int_equal(first.over + second.over, 0);
	assert_int_equal(write(master, "typed\n", 6), 6);
	poll_for(client, &first, 10000);
	poll_for(client, &second, 10000);
	assert_int_equal(first.code, MPIJOB_ERR_TIMEOUT);
	assert_int_equal(second.code, MPIJOB_ERR_TIMEOUT);
	assert_non_null(strstr(first.message, "within 300 ms"));
	assert_null(strstr(first.message, "credentials"));
	mpijob_client_free(client);
	close(fd);
}

static void test_a_plugin_that_asks_nobody_does(void **state)
{
	struct asked asked;
	mpijob_client *client = connect_to(HANGS, "Never", 1);

	(void)state;
	start(client, &asked);
	poll_for(client, &asked, 10000);
	assert_int_equal(asked.code, MPIJOB_ERR_TIMEOUT);
	assert_non_null(strstr(asked.message, "the credentials were not available within 300 ms"));
	mpijob_client_free(client);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_login_has_more_time),
		TEST(test_a_login_takes_no_time_of_requests),
		TEST(test_a_plugin_that_asks_nobody_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
