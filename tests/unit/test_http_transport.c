/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the HTTP transport that need no server: URLs, Go's proxy rules, headers, words for
 * failures, refusals.
 */
#include "client/client.h"
#include "http/failure.h"
#include "http/proxy.h"
#include "http/receive.h"
#include "http/server.h"
#include "http/request_headers.h"

#include <mpijob/http.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/x509_vfy.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "../support/fake_wait.h"

/* The server's URL. */

static void test_k10_urls_are_taken_apart(void **state)
{
	static const struct {
		const char *url, *tls_name, *authority, *base, *connect;
	} rows[] = {
		{ "https://h", NULL, "h:443", "https://h:443", NULL },
		{ "https://h/", NULL, "h:443", "https://h:443", NULL },
		{ "http://h", NULL, "h:80", "http://h:80", NULL },
		{ "https://10.0.0.1:6443/a/b//", NULL, "10.0.0.1:6443", "https://10.0.0.1:6443/a/b",
		    NULL },
		{ "https://[fd00::1]:6443", NULL, "[fd00::1]:6443", "https://[fd00::1]:6443",
		    NULL },
		{ "https://[fd00::1]", NULL, "[fd00::1]:443", "https://[fd00::1]:443", NULL },
		{ "https://h:1/x", "name", "h:1", "https://name:1/x", "name:1:h:1" },
		{ "https://[::1]:1", "name", "[::1]:1", "https://name:1", "name:1:[::1]:1" },
		{ "https://h:1", "::2", "h:1", "https://[::2]:1", "[::2]:1:h:1" },
		{ "http://h:1", "name", "h:1", "http://h:1", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct mpijob__http_server server;
		const char *why = NULL;

		assert_int_equal(mpijob__http_server_init(&server, rows[i].url, rows[i].tls_name,
				     &why),
		    0);
		assert_string_equal(server.authority, rows[i].authority);
		assert_string_equal(server.base, rows[i].base);
		assert_string_equal(server.connect ? server.connect : "",
		    rows[i].connect ? rows[i].connect : "");
		mpijob__http_server_clear(&server);
	}
}

static void bad_urls_are_refused(void **state)
{
	static const char *const urls[] = { "", "h", "ftp://h", "https://", "https://:1",
		"https://[::1", "https://u@h", "https://h:", "https://h:0", "https://h:70000",
		"https://h:1x", "https://h?a", "https://h/#a", "https://h /", "https://[::1]x",
		"https://h\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
		struct mpijob__http_server server;
		const char *why = NULL;

		assert_int_equal(mpijob__http_server_init(&server, urls[i], NULL, &why),
		    MPIJOB_ERR_SPEC);
		assert_non_null(why);
	}
}

/* Proxies. */

static const char *const *environment;

static const char *variable(const char *name)
{
	for (size_t i = 0; environment && environment[i]; i += 2)
		if (strcmp(environment[i], name) == 0)
			return environment[i + 1];
	return NULL;
}

static void expect_proxy(const char *given, const char *url, const char *wanted)
{
	struct mpijob__http_server server;
	const char *why;
	char *proxy = NULL;

	assert_int_equal(mpijob__http_server_init(&server, url, NULL, &why), 0);
	assert_int_equal(mpijob__http_proxy_choose(given, &server, variable, &proxy), 0);
	assert_string_equal(proxy ? proxy : "none", wanted);
	free(proxy);
	mpijob__http_server_clear(&server);
}

static void test_k8_proxies_follow_the_rules_of_go(void **state)
{
	static const char *const https[] = { "HTTPS_PROXY", "p:1", "HTTP_PROXY", "http://q:2",
		NULL };
	static const char *const small[] = { "https_proxy", "https://p:1", "HTTPS_PROXY", "",
		NULL };
	static const char *const cgi[] = { "HTTP_PROXY", "q:2", "REQUEST_METHOD", "GET", NULL };

	(void)state;
	environment = NULL;
	expect_proxy(NULL, "https://h", "none");
	expect_proxy("http://x:3", "https://localhost", "http://x:3");
	environment = https;
	expect_proxy(NULL, "https://h", "http://p:1");
	expect_proxy(NULL, "http://h", "http://q:2");
	expect_proxy("http://x:3", "https://h", "http://x:3");
	expect_proxy(NULL, "https://localhost:6443", "none");
	expect_proxy(NULL, "https://127.9.9.9", "none");
	expect_proxy(NULL, "https://[::1]:6443", "none");
	expect_proxy(NULL, "https://[::2]:6443", "http://p:1");
	environment = small;
	expect_proxy(NULL, "https://h", "https://p:1");
	environment = cgi;
	expect_proxy(NULL, "http://h", "none");
}

static void test_k8_no_proxy_follows_the_rules_of_go(void **state)
{
	static const struct {
		const char *list, *url;
		int direct;
	} rows[] = {
		{ "*", "https://h", 1 },
		{ "a,*", "https://h", 1 },
		{ "*x", "https://hx", 0 },
		{ "example.com", "https://example.com", 1 },
		{ "example.com", "https://EXAMPLE.com", 1 },
		{ "example.com", "https://a.example.com", 1 },
		{ "example.com", "https://anexample.com", 0 },
		{ ".example.com", "https://a.example.com", 1 },
		{ ".example.com", "https://example.com", 0 },
		{ "*.example.com", "https://a.example.com", 1 },
		{ "*.example.com", "https://example.com", 0 },
		{ "example.com:443", "https://example.com", 1 },
		{ "example.com:443", "https://example.com:6443", 0 },
		{ " b , example.com ", "https://example.com", 1 },
		{ ",,", "https://example.com", 0 },
		{ "10.0.0.1", "https://10.0.0.1:6443", 1 },
		{ "10.0.0.1:6443", "https://10.0.0.1:6443", 1 },
		{ "10.0.0.1:80", "https://10.0.0.1:6443", 0 },
		{ "10.0.0.1", "https://10.0.0.10", 0 },
		{ "0.0.1", "https://10.0.0.1", 1 }, /* no address, so a domain */
		{ "10.0.0.0/8", "https://10.200.3.4", 1 },
		{ "10.0.0.0/9", "https://10.200.3.4", 0 },
		{ "10.0.0.0/0", "https://99.1.1.1", 1 },
		{ "10.0.0.0/33", "https://10.0.0.1", 0 },
		{ "10.0.0.0/", "https://10.0.0.1", 0 },
		{ "10.0.0.0/8", "https://h", 0 },
		{ "fd00::/8", "https://[fd12::1]:6443", 1 },
		{ "fd00::/8", "https://[fe12::1]:6443", 0 },
		{ "::/0", "https://10.0.0.1", 0 },
		{ "::ffff:10.0.0.0/104", "https://10.0.0.1", 0 },
		{ "[fd12::1]:6443", "https://[fd12::1]:6443", 1 },
		{ "[fd12::1]:6444", "https://[fd12::1]:6443", 0 },
		{ "fd12::1", "https://[fd12:0::1]", 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *const values[] = { "HTTPS_PROXY", "p:1", "NO_PROXY", rows[i].list,
			NULL };

		environment = values;
		expect_proxy(NULL, rows[i].url, rows[i].direct ? "none" : "http://p:1");
	}
	environment = NULL;
}

static void test_k8_other_proxies_are_refused(void **state)
{
	static const char *const socks[] = { "HTTPS_PROXY", "socks5://h:1", NULL };
	struct mpijob__http_server server;
	const char *why;
	char *proxy = NULL;

	(void)state;
	assert_int_equal(mpijob__http_server_init(&server, "https://h", NULL, &why), 0);
	environment = socks;
	assert_int_equal(mpijob__http_proxy_choose(NULL, &server, variable, &proxy),
	    MPIJOB_ERR_UNSUPPORTED);
	environment = NULL;
	assert_int_equal(mpijob__http_proxy_choose("ftp://h", &server, variable, &proxy),
	    MPIJOB_ERR_UNSUPPORTED);
	assert_null(proxy);
	mpijob__http_server_clear(&server);
}

static void passwords_of_proxies_are_not_shown(void **state)
{
	static const char *const rows[][2] = { { "http://h:1", "h:1" },
		{ "http://u:p@h:1/", "h:1" }, { "https://u:p@x@h", "h" },
		{ "http://[::1]:3", "[::1]:3" }, { "http://u:p/q@h:1", "h:1" },
		{ "http://u:p?q#r@h:1/x", "h:1" } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *shown = mpijob__http_proxy_shown(rows[i][0]);

		assert_string_equal(shown, rows[i][1]);
		free(shown);
	}
}

/* Headers. */

static int holds(const struct curl_slist *list, const char *line)
{
	for (; list; list = list->next)
		if (strcmp(list->data, line) == 0)
			return 1;
	return 0;
}

static void test_wire_impersonation_is_escaped(void **state)
{
	char *groups[] = { "a", "b c", NULL };
	struct mpijob__http_impersonation_extra extra[] = { { "acme.com/Some%Key", "v" },
		{ "plain-key_1", "w" } };
	mpijob_http_config config = { 0 };
	struct mpijob__http_server server = { 0 };
	struct curl_slist *list = NULL;

	(void)state;
	config.as = "jane";
	config.as_uid = "1-2";
	config.as_groups = groups;
	config.as_extra = extra;
	config.as_extra_count = 2;
	assert_int_equal(mpijob__http_request_headers_common(&config, &server, "me/1", &list), 0);
	assert_true(holds(list, "User-Agent: me/1"));
	assert_true(holds(list, "Impersonate-User: jane"));
	assert_true(holds(list, "Impersonate-Uid: 1-2"));
	assert_true(holds(list, "Impersonate-Group: a"));
	assert_true(holds(list, "Impersonate-Group: b c"));
	assert_true(holds(list, "Impersonate-Extra-acme.com%2FSome%25Key: v"));
	assert_true(holds(list, "Impersonate-Extra-plain-key_1: w"));
	assert_true(holds(list, "Expect:"));
	curl_slist_free_all(list);
	list = NULL;
	config.as = "jane\r\nX-Other: 1";
	assert_int_equal(mpijob__http_request_headers_common(&config, &server, NULL, &list),
	    MPIJOB_ERR_SPEC);
	assert_null(list);
	config.as = NULL;
	assert_int_equal(mpijob__http_request_headers_common(&config, &server, "a\nb", &list),
	    MPIJOB_ERR_SPEC);
}

static void headers_of_a_request_come_first(void **state)
{
	struct mpijob__http_request_headers wire = { 0 };
	struct curl_slist common = { (char *)(uintptr_t) "Accept: x", NULL };
	struct curl_slist *list = NULL;

	(void)state;
	assert_int_equal(mpijob__http_request_headers_fill(&wire, "Bearer t", "application/json",
			     &common, &list),
	    0);
	assert_true(holds(list, "Authorization: Bearer t"));
	assert_true(holds(list, "Content-Type: application/json"));
	assert_true(holds(list, "Accept: x"));
	assert_int_equal(mpijob__http_request_headers_fill(&wire, "Bearer t\r\nX: 1", NULL, &common,
			     &list),
	    MPIJOB_ERR_AUTH);
	assert_int_equal(mpijob__http_request_headers_fill(&wire, NULL, "a\nb", &common, &list),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob__http_request_headers_fill(&wire, NULL, NULL, &common, &list), 0);
	assert_true(holds(list, "Content-Type:"));
	assert_ptr_equal(list->next, &common);
	mpijob__http_request_headers_clear(&wire);
	assert_true(mpijob__http_request_headers_is_path("/a?b=%20"));
	assert_false(mpijob__http_request_headers_is_path("a"));
	assert_false(mpijob__http_request_headers_is_path("/a b"));
	assert_false(mpijob__http_request_headers_is_path("/a\r\nb"));
	assert_false(mpijob__http_request_headers_is_path("/a#b"));
	assert_false(mpijob__http_request_headers_is_method("get"));
	assert_false(mpijob__http_request_headers_is_method("GET /"));
	assert_false(mpijob__http_request_headers_is_method(""));
}

/* Failures. */

static void failures_are_told_in_words(void **state)
{
	static const struct {
		CURLcode code;
		long verify, number, connect;
		const char *text;
		int tls, proxy, wanted;
		const char *words;
	} rows[] = {
		{ CURLE_COULDNT_CONNECT, 0, ECONNREFUSED, 0, "", 1, 0, MPIJOB_ERR_IO,
		    "cannot connect to h:1: connection refused; is it running, and is the port "
		    "right" },
		{ CURLE_COULDNT_CONNECT, 0, 0, 0, "", 1, 1, MPIJOB_ERR_IO,
		    "cannot connect to the proxy p:2 on the way to h:1" },
		{ CURLE_OPERATION_TIMEDOUT, 0, 0, 0, "", 1, 0, MPIJOB_ERR_TIMEOUT,
		    "h:1: no connection within 30 s" },
		{ CURLE_PEER_FAILED_VERIFICATION, X509_V_ERR_CERT_HAS_EXPIRED, 0, 0, "", 1, 0,
		    MPIJOB_ERR_IO, "the certificate of h:1 has expired" },
		{ CURLE_PEER_FAILED_VERIFICATION, X509_V_ERR_CERT_NOT_YET_VALID, 0, 0, "", 1, 0,
		    MPIJOB_ERR_IO,
		    "the certificate of h:1 is not valid yet; check the clocks of both machines" },
		{ CURLE_PEER_FAILED_VERIFICATION, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, 0, 0, "", 1,
		    0, MPIJOB_ERR_IO,
		    "the certificate of h:1 is signed by an unknown authority; name its CA in "
		    "certificate-authority" },
		{ CURLE_PEER_FAILED_VERIFICATION, 0, 0, 0,
		    "SSL: certificate subject name 'x' does not match target host name 'h'", 1, 0,
		    MPIJOB_ERR_IO,
		    "the certificate of h:1 is for other host names; name one of them in "
		    "tls-server-name, or use it in "
		    "the server's "
		    "URL" },
		{ CURLE_PEER_FAILED_VERIFICATION, X509_V_ERR_INVALID_CA, 0, 0, "odd", 1, 0,
		    MPIJOB_ERR_IO, "h:1: its certificate was rejected (odd)" },
		{ CURLE_RECV_ERROR, 0, ETIMEDOUT, 0, "", 1, 0, MPIJOB_ERR_IO,
		    "h:1: no response for 45 s" },
		{ CURLE_RECV_ERROR, 0, 0, 0, "tlsv13 alert certificate required", 1, 0,
		    MPIJOB_ERR_AUTH, "h:1 refused the client certificate" },
		{ CURLE_RECV_ERROR, 0, 0, 407, "", 1, 1, MPIJOB_ERR_IO,
		    "the proxy p:2 answered 407 to the request for a tunnel to h:1; add a user "
		    "name and password to its URL" },
		{ CURLE_SSL_CONNECT_ERROR, 0, 0, 0, "SSL routines::wrong version number", 1, 0,
		    MPIJOB_ERR_IO,
		    "h:1 does not speak TLS; if it is plain HTTP, its URL begins with http://" },
		{ CURLE_SSL_CERTPROBLEM, 0, 0, 0, "bad", 1, 0, MPIJOB_ERR_AUTH,
		    "h:1: the client certificate or its key cannot be used (bad)" },
		{ CURLE_UNSUPPORTED_PROTOCOL, 0, 0, 0, "", 0, 0, MPIJOB_ERR_IO,
		    "h:1 does not speak HTTP; if it expects TLS, its URL begins with https://" },
		{ CURLE_COULDNT_RESOLVE_PROXY, 0, 0, 0, "", 1, 1, MPIJOB_ERR_IO,
		    "the host name of the proxy p:2 is not known" },
		{ CURLE_NOT_BUILT_IN, 0, 0, 0, "no", 1, 0, MPIJOB_ERR_UNSUPPORTED,
		    "h:1: this libcurl does not support it (no)" },
		{ CURLE_OUT_OF_MEMORY, 0, 0, 0, "", 1, 0, MPIJOB_ERR_NOMEM, NULL },
		{ CURLE_SSL_CONNECT_ERROR, 0, 0, 0, "digital envelope routines::malloc failure", 1,
		    0, MPIJOB_ERR_NOMEM, NULL },
		{ CURLE_OBSOLETE20, 0, 0, 0, "", 1, 0, MPIJOB_ERR_IO,
		    "h:1: the exchange failed (Unknown error)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct mpijob__http_failure failure = { 0 };
		char *message = NULL;

		failure.code = rows[i].code;
		failure.verify_result = rows[i].verify;
		failure.os_errno = rows[i].number;
		failure.connect_status = rows[i].connect;
		failure.text = rows[i].text;
		failure.server = "h:1";
		failure.proxy = rows[i].proxy ? "p:2" : NULL;
		failure.tls = rows[i].tls;
		failure.connect_timeout_ms = 30000;
		failure.idle_timeout_ms = 45000;
		assert_int_equal(mpijob__http_failure_describe(&failure, &message), rows[i].wanted);
		assert_string_equal(message ? message : "", rows[i].words ? rows[i].words : "");
		free(message);
	}
}

/* Opening. */

static int open_with(const struct mpijob_http_options *options, size_t transport_size,
    const char *server)
{
	struct mpijob_http_config_options wish = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_http_config *config = NULL;
	mpijob_http *http = NULL;
	int code;

	wish.server = server;
	assert_int_equal(mpijob_http_config_load(&wish, &config, NULL), 0);
	transport.size = transport_size;
	code = mpijob_http_new(config, options, &transport, &http, NULL);
	mpijob_http_config_free(config);
	if (!code)
		transport.destroy(http);
	else
		assert_null(http);
	return code;
}

static void options_are_checked(void **state)
{
	struct mpijob_http_options options = MPIJOB_HTTP_OPTIONS_INIT;
	struct {
		struct mpijob_http_options known;
		char more[8];
	} longer = { MPIJOB_HTTP_OPTIONS_INIT, { 0 } };
	size_t whole = sizeof(struct mpijob_transport);

	(void)state;
	assert_int_equal(open_with(NULL, whole, "https://h"), 0);
	assert_int_equal(open_with(&options, whole, "https://h"), 0);
	assert_int_equal(open_with(&options, whole - 1, "https://h"), MPIJOB_ERR_USAGE);
	longer.known.size = sizeof(longer);
	assert_int_equal(open_with(&longer.known, whole, "https://h"), 0);
	longer.more[7] = 1;
	assert_int_equal(open_with(&longer.known, whole, "https://h"), MPIJOB_ERR_UNSUPPORTED);
	options.size = 1;
	assert_int_equal(open_with(&options, whole, "https://h"), MPIJOB_ERR_USAGE);
	options.size = sizeof(options);
	options.max_connections = -1;
	assert_int_equal(open_with(&options, whole, "https://h"), MPIJOB_ERR_USAGE);
	options.max_connections = 0;
	options.user_agent = "a\r\nb";
	assert_int_equal(open_with(&options, whole, "https://h"), MPIJOB_ERR_SPEC);
}

/* A server that takes the connection and never says a word. */
static int listen_silently(char *url, size_t size)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	snprintf(url, size, "http://127.0.0.1:%d", ntohs(address.sin_port));
	return fd;
}

static void when_done(void *user, const struct mpijob_answer *answer)
{
	*(int *)user = answer->code ? answer->code : 1;
}

static void the_longest_times_are_no_short_ones(void **state)
{
	struct mpijob_http_config_options wish = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	struct mpijob_http_options options = MPIJOB_HTTP_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	mpijob_http_config *config = NULL;
	mpijob_client *client = NULL;
	mpijob_http *http = NULL;
	int ended = 0, fd;
	char url[64];

	(void)state;
	fd = listen_silently(url, sizeof(url));
	wish.server = url;
	assert_int_equal(mpijob_http_config_load(&wish, &config, NULL), 0);
	options.connect_timeout_ms = options.request_timeout_ms = INT64_MAX;
	options.idle_timeout_ms = options.plugin_timeout_ms = INT64_MAX;
	options.max_connections = INT32_MAX;
	assert_int_equal(mpijob_http_new(config, &options, &transport, &http, NULL), 0);
	assert_int_equal(mpijob_client_new(&transport, http, &client), 0);
	request.method = "GET";
	request.path = "/";
	callbacks.done = when_done;
	callbacks.user = &ended;
	assert_int_equal(mpijob_client_start(client, &request, &callbacks, NULL), 0);
	request.timeout_ms = INT64_MAX;
	assert_int_equal(mpijob_client_start(client, &request, &callbacks, NULL), 0);
	for (int i = 0; i < 10; i++)
		assert_int_equal(mpijob_client_poll(client, 10), 0);
	assert_int_equal(ended, 0);
	mpijob_client_free(client);
	mpijob_http_config_free(config);
	close(fd);
}

/* Of many at a time most wait for their turn; that must not make them last, or end twice, or
 * never. */

#define MANY 1500

static void count_timeout(void *user, const struct mpijob_answer *answer)
{
	assert_int_equal(answer->code, MPIJOB_ERR_TIMEOUT);
	assert_non_null(strstr(answer->message, "within 200 ms"));
	assert_null(strstr(answer->message, "credentials"));
	++*(int *)user;
}

static void those_that_wait_their_turn_end_in_time(void **state)
{
	struct mpijob_http_config_options wish = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	static int ended[MANY];
	mpijob_call *calls[MANY];
	mpijob_http_config *config = NULL;
	mpijob_client *client = NULL;
	mpijob_http *http = NULL;
	char url[64];
	int fd = listen_silently(url, sizeof(url));

	(void)state;
	wish.server = url;
	assert_int_equal(mpijob_http_config_load(&wish, &config, NULL), 0);
	assert_int_equal(mpijob_http_new(config, NULL, &transport, &http, NULL), 0);
	assert_int_equal(mpijob_client_new(&transport, http, &client), 0);
	request.method = "GET";
	request.path = "/";
	request.timeout_ms = 200;
	callbacks.done = count_timeout;
	for (int i = 0; i < MANY; i++) {
		callbacks.user = &ended[i];
		assert_int_equal(mpijob_client_start(client, &request, &callbacks, &calls[i]), 0);
	}
	assert_int_equal(mpijob_client_poll(client, 0), 0);
	for (int i = 0; i < MANY; i += 3)
		mpijob_call_cancel(calls[i]);
	for (int i = 0; i < 40; i++)
		assert_int_equal(mpijob_client_poll(client, 20), 0);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(ended[i], i % 3 != 0);
	mpijob_client_free(client);
	mpijob_http_config_free(config);
	close(fd);
}

/* Answers. */

static void a_nul_in_a_header_writes_nowhere(void **state)
{
	struct mpijob_http http = { 0 };
	struct mpijob_exchange exchange = { 0 };
	struct mpijob__http_call call = { .http = &http, .exchange = &exchange, .status = 429 };
	char line[] = "Retry-After: 5\0                                              7\r\n";

	(void)state;
	assert_int_equal(mpijob__http_receive_header(line, 1, sizeof(line) - 1, &call),
	    sizeof(line) - 1);
	assert_int_equal(call.failure.code, 0);
	assert_int_equal(exchange.answer.retry_after_ms, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_k10_urls_are_taken_apart),
		cmocka_unit_test(bad_urls_are_refused),
		cmocka_unit_test(test_k8_proxies_follow_the_rules_of_go),
		cmocka_unit_test(test_k8_no_proxy_follows_the_rules_of_go),
		cmocka_unit_test(test_k8_other_proxies_are_refused),
		cmocka_unit_test(passwords_of_proxies_are_not_shown),
		cmocka_unit_test(test_wire_impersonation_is_escaped),
		cmocka_unit_test(headers_of_a_request_come_first),
		cmocka_unit_test(failures_are_told_in_words),
		cmocka_unit_test(options_are_checked),
		cmocka_unit_test(those_that_wait_their_turn_end_in_time),
		cmocka_unit_test(the_longest_times_are_no_short_ones),
		cmocka_unit_test(a_nul_in_a_header_writes_nowhere),
	};

	unsetenv("HTTPS_PROXY");
	unsetenv("HTTP_PROXY");
	setenv("KUBECONFIG", "/dev/null", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
