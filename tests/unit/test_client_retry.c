/* SPDX-License-Identifier: Apache-2.0 */
#include "../support/fake_cluster.h"

#include "client/client.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>

#include <cmocka.h>

#define BUSY(seconds)                                                                \
	{                                                                            \
		.status = 429, .body = "Too many requests, please try again later.", \
		.header = "Retry-After: " seconds                                    \
	}

static int64_t clock_now; /* stands still unless a test moves it */

static int64_t clock_ms(void)
{
	return clock_now;
}

static mpijob_client *client_of(struct fake *fake, int32_t retries, int32_t qps, int32_t burst)
{
	struct mpijob_client_options options = MPIJOB_CLIENT_OPTIONS_INIT;
	mpijob_client *client = fake_client(fake);

	client->clock = clock_ms;
	options.retries = retries;
	options.qps = qps;
	options.burst = burst;
	assert_int_equal(mpijob_client_set_options(client, &options), 0);
	return client;
}

struct seen {
	mpijob_call *call;
	int done, code, status;
	int64_t retry_after_ms;
	mpijob_text body, message;
	int pause_at_data, resume_at_data;
};

static int on_data(void *user, const char *data, size_t len)
{
	struct seen *seen = user;

	mpijob_text_write(&seen->body, data, len);
	if (seen->pause_at_data)
		mpijob_call_pause(seen->call, 1);
	if (seen->resume_at_data)
		mpijob_call_pause(seen->call, 0);
	return 0;
}

static void on_done(void *user, const struct mpijob_answer *answer)
{
	struct seen *seen = user;

	seen->done++;
	seen->code = answer->code;
	seen->status = answer->status;
	seen->retry_after_ms = answer->retry_after_ms;
	mpijob__base_text_puts(&seen->body, answer->body);
	mpijob__base_text_puts(&seen->message, answer->message ? answer->message : "");
}

static void forget(struct seen *seen)
{
	mpijob__base_text_release(&seen->body);
	mpijob__base_text_release(&seen->message);
	memset(seen, 0, sizeof(*seen));
}

static int start(mpijob_client *client, struct seen *seen, const char *method, const char *body,
    int streaming)
{
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;

	request.method = method;
	request.path = "/api/v1/namespaces/d/pods";
	request.body = body;
	request.body_len = body ? strlen(body) : 0;
	request.content_type = body ? "application/json" : NULL;
	request.streaming = streaming;
	callbacks.data = streaming ? on_data : NULL;
	callbacks.done = on_done;
	callbacks.user = seen;
	return mpijob_client_start(client, &request, &callbacks, &seen->call);
}

static void poll_some(mpijob_client *client)
{
	for (int i = 0; i < 10; i++)
		assert_int_equal(mpijob_client_poll(client, 0), 0);
}

static void finish(struct fake *fake, mpijob_client *client)
{
	mpijob_client_free(client);
	assert_null(fake->exchanges);
	fake_release(fake);
}

/* 429 and any 5xx with a Retry-After in seconds; not before that time; the same body each time. */
static void test_r1_the_server_says_when(void **state)
{
	static const int statuses[] = { 429, 500, 503, 504, 599 };
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 0, 0);
	char body[] = "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}}";
	struct seen seen = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct fake_reply busy = BUSY("3");

		busy.status = statuses[i];
		fake_script(&fake, busy);
	}
	assert_int_equal(start(client, &seen, "POST", body, 0), 0);
	memset(body, 'x', sizeof(body) - 1); /* what was given is ours to change */
	for (size_t i = 0; i < 5; i++) {
		poll_some(client);
		assert_int_equal(fake.log_count, i + 1);
		clock_now += 2999;
		poll_some(client);
		assert_int_equal(fake.log_count, i + 1);
		assert_int_equal(seen.done, 0);
		clock_now++;
	}
	poll_some(client);
	assert_int_equal(seen.done, 1);
	assert_int_equal(seen.code, 0);
	assert_int_equal(fake.log_count, 6);
	assert_string_equal(mpijob_text_data(&fake.last_body),
	    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}}");
	assert_string_equal(mpijob_text_data(&fake.last_type), "application/json");
	assert_non_null(fake_find(&fake, "/api/v1/pods", "d", "p"));
	forget(&seen);
	finish(&fake, client);
}

static void count_tries(struct fake_reply reply, int32_t retries, size_t tries)
{
	struct fake fake;
	mpijob_client *client = client_of(&fake, retries, 0, 0);
	struct seen seen = { 0 };

	for (int i = 0; i < 20; i++)
		fake_script(&fake, reply);
	assert_int_equal(start(client, &seen, "GET", NULL, 0), 0);
	for (int i = 0; i < 30; i++) {
		poll_some(client);
		clock_now += 60000;
	}
	assert_int_equal(fake.log_count, tries);
	assert_int_equal(seen.done, 1);
	assert_int_equal(seen.code, MPIJOB_ERR_SERVER);
	assert_int_equal(seen.status, reply.status);
	assert_non_null(strstr(mpijob_text_data(&seen.body), reply.body));
	forget(&seen);
	finish(&fake, client);
}

static void test_r1_how_often_and_when_not(void **state)
{
	struct fake_reply busy = BUSY("1"), at_once = BUSY("0"), late = BUSY("61"),
			  at_most = BUSY("60");
	struct fake_reply none = { .status = 503, .body = "x" },
			  date = BUSY("Fri, 31 Dec 1999 23:59:59 GMT");
	struct fake_reply huge = BUSY("99999999999999999999"), negative = BUSY("-1");

	(void)state;
	count_tries(busy, 0, 11);
	count_tries(busy, 3, 4);
	count_tries(busy, -1, 1);
	count_tries(at_once, 2, 3);
	count_tries(at_most, 1, 2);
	count_tries(late, 0, 1);
	count_tries(huge, 0, 1);
	count_tries(negative, 0, 1);
	count_tries(none, 0, 1);
	count_tries(date, 0, 1);
}

/* 4xx other than 429 is an answer, whatever it says. */
static void test_r1_refusals_are_final(void **state)
{
	struct fake_reply refused = { .status = 409, .body = "{}", .header = "Retry-After: 1" };
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 0, 0);
	struct seen seen = { 0 };

	(void)state;
	fake_script(&fake, refused);
	assert_int_equal(start(client, &seen, "GET", NULL, 0), 0);
	poll_some(client);
	assert_int_equal(seen.code, MPIJOB_ERR_CONFLICT);
	assert_int_equal(seen.retry_after_ms, 1000);
	forget(&seen);
	finish(&fake, client);
}

/* A second try that cannot be made ends the call; one that is given up is not made. */
static void test_r1_ends_of_waiting(void **state)
{
	struct fake_reply busy = BUSY("1"), refuse = { .refuse = MPIJOB_ERR_AUTH };
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 0, 0);
	struct seen seen = { 0 };

	(void)state;
	fake_script(&fake, busy);
	fake_script(&fake, refuse);
	assert_int_equal(start(client, &seen, "GET", NULL, 0), 0);
	poll_some(client);
	clock_now += 1000;
	poll_some(client);
	assert_int_equal(seen.done, 1);
	assert_int_equal(seen.code, MPIJOB_ERR_AUTH);
	forget(&seen);
	fake_script(&fake, busy);
	assert_int_equal(start(client, &seen, "GET", NULL, 0), 0);
	poll_some(client);
	mpijob_call_cancel(seen.call);
	clock_now += 1000;
	poll_some(client);
	assert_int_equal(seen.done, 0);
	assert_int_equal(fake.log_count, 3);
	/* One that waits when the client goes. */
	fake_script(&fake, busy);
	assert_int_equal(start(client, &seen, "GET", NULL, 0), 0);
	poll_some(client);
	finish(&fake, client);
	assert_int_equal(seen.done, 0);
}

static void test_r2_only_gets_survive_a_broken_connection(void **state)
{
	static const char *const writes[] = { "POST", "PUT", "PATCH", "DELETE" };
	struct fake_reply lost = { .end_code = MPIJOB_ERR_IO };
	struct fake_reply half = { .status = 200, .body = "{", .end_code = MPIJOB_ERR_IO };
	struct fake_reply slow = { .end_code = MPIJOB_ERR_TIMEOUT };
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 0, 0);
	struct seen seen = { 0 };

	(void)state;
	fake_script(&fake, lost);
	assert_int_equal(start(client, &seen, "GET", NULL, 0), 0);
	poll_some(client);
	assert_int_equal(seen.done, 0);
	clock_now += 999;
	poll_some(client);
	assert_int_equal(fake.log_count, 1);
	clock_now++;
	poll_some(client);
	assert_int_equal(seen.done, 1);
	assert_int_equal(seen.code, 0);
	forget(&seen);
	for (size_t i = 0; i < 4; i++) {
		fake_script(&fake, lost);
		assert_int_equal(start(client, &seen, writes[i], "{}", 0), 0);
		poll_some(client);
		assert_int_equal(seen.code, MPIJOB_ERR_IO);
		forget(&seen);
	}
	fake_script(&fake, half);
	assert_int_equal(start(client, &seen, "GET", NULL, 0), 0);
	poll_some(client);
	assert_int_equal(seen.code, MPIJOB_ERR_IO);
	forget(&seen);
	fake_script(&fake, slow);
	assert_int_equal(start(client, &seen, "GET", NULL, 0), 0);
	poll_some(client);
	assert_int_equal(seen.code, MPIJOB_ERR_TIMEOUT);
	forget(&seen);
	finish(&fake, client);
}

/* What was shown to a reader is not shown twice. */
static void test_r2_streams_only_before_their_first_byte(void **state)
{
	struct fake_reply busy = BUSY("1"), lost = { .end_code = MPIJOB_ERR_IO };
	struct fake_reply half = { .status = 200, .body = "abc", .end_code = MPIJOB_ERR_IO };
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 0, 0);
	struct seen seen = { 0 };

	(void)state;
	fake_script(&fake, lost);
	fake_script(&fake, busy);
	fake_script(&fake, half);
	assert_int_equal(start(client, &seen, "GET", NULL, 1), 0);
	for (int i = 0; i < 4; i++) {
		poll_some(client);
		clock_now += 1000;
	}
	assert_int_equal(fake.log_count, 3);
	assert_int_equal(seen.done, 1);
	assert_int_equal(seen.code, MPIJOB_ERR_IO);
	assert_string_equal(mpijob_text_data(&seen.body), "abc");
	forget(&seen);
	finish(&fake, client);
}

/* Plain text with 429 is not a Status and still means "later". */
static void test_r3_a_plain_429(void **state)
{
	struct fake_reply busy = BUSY("1");
	struct fake fake;
	mpijob_client *client = client_of(&fake, -1, 0, 0);
	struct seen seen = { 0 };

	(void)state;
	fake_script(&fake, busy);
	assert_int_equal(start(client, &seen, "GET", NULL, 0), 0);
	poll_some(client);
	assert_int_equal(seen.code, MPIJOB_ERR_SERVER);
	assert_int_equal(seen.retry_after_ms, 1000);
	assert_string_equal(mpijob_text_data(&seen.message),
	    "the server answered with status 429: Too many requests, please try again later.");
	forget(&seen);
	finish(&fake, client);
}

/* 5 a second, 10 at once: the eleventh leaves after 200 ms, and so on; in order. */
static void test_r6_the_bucket_is_exact(void **state)
{
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 5, 10);
	struct seen seen[20] = { 0 };

	(void)state;
	for (size_t i = 0; i < 20; i++)
		assert_int_equal(start(client, &seen[i], "GET", NULL, 0), 0);
	poll_some(client);
	assert_int_equal(fake.log_count, 10);
	for (size_t i = 10; i < 20; i++) {
		clock_now += 199;
		poll_some(client);
		assert_int_equal(fake.log_count, i);
		assert_int_equal(seen[i].done, 0);
		clock_now++;
		poll_some(client);
		assert_int_equal(fake.log_count, i + 1);
		assert_int_equal(seen[i].done, 1);
	}
	for (size_t i = 0; i < 20; i++)
		forget(&seen[i]);
	/* It fills to the burst, and not above, however long the pause. */
	clock_now += INT64_C(1) << 50;
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(start(client, &seen[i], "GET", NULL, 0), 0);
	poll_some(client);
	assert_int_equal(fake.log_count, 30);
	for (size_t i = 0; i < 12; i++)
		forget(&seen[i]);
	finish(&fake, client);
}

/* Twice the rate when no burst is given; a rate that does not divide a second; retries pay, streams
 * do not. */
static void test_r6_what_takes_a_token(void **state)
{
	struct fake_reply busy = BUSY("0");
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 3, 0);
	struct seen seen[8] = { 0 }, stream = { 0 };
	int streams = 0;

	(void)state;
	fake_script(&fake, busy);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(start(client, &seen[i], "GET", NULL, 0), 0);
	poll_some(client);
	assert_int_equal(fake.log_count, 6); /* five and one retry: the burst */
	assert_int_equal(start(client, &seen[5], "GET", NULL, 0), 0);
	for (; streams < 50; streams++) {
		assert_int_equal(start(client, &stream, "GET", NULL, 1), 0);
		poll_some(client);
		assert_int_equal(stream.done, 1);
		forget(&stream);
	}
	assert_int_equal(fake.log_count, 56);
	clock_now += 333;
	poll_some(client);
	assert_int_equal(fake.log_count, 56);
	clock_now++;
	poll_some(client);
	assert_int_equal(fake.log_count, 57);
	for (size_t i = 0; i < 8; i++)
		forget(&seen[i]);
	finish(&fake, client);
}

static void test_options(void **state)
{
	struct mpijob_client_options options = MPIJOB_CLIENT_OPTIONS_INIT;
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	assert_int_equal(mpijob_client_set_options(NULL, &options), MPIJOB_ERR_USAGE);
	options.qps = -1;
	assert_int_equal(mpijob_client_set_options(client, &options), MPIJOB_ERR_USAGE);
	options.qps = 0;
	options.burst = -1;
	assert_int_equal(mpijob_client_set_options(client, &options), MPIJOB_ERR_USAGE);
	options.burst = 0;
	options.size = 1;
	assert_int_equal(mpijob_client_set_options(client, &options), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_set_options(client, NULL), 0);
	finish(&fake, client);
}

/* --- warnings --- */

static void on_warning(void *user, const char *text)
{
	mpijob__base_text_printf(user, "[%s]", text);
}

static void test_r9_warnings(void **state)
{
	static const struct {
		const char *header, *told;
	} rows[] = {
		{ "Warning: 299 - \"a\"", "[a]" },
		{ "warning: 299 - \"a \\\"b\\\" \\\\ c\"", "[a \"b\" \\ c]" },
		{ "WARNING: 299 - \"a\", 299 - \"b\", 299 - \"a\"", "[a][b]" },
		{ "Warning: 199 - \"a\", 299 x \"b\" \"Wed, 21 Oct 2015 07:28:00 GMT\", 299 - \"c, "
		  "d\"",
		    "[b][c, d]" },
		{ "Warning: 299 - \"never ends", "" },
		{ "Warning: 299 - \"\"", "" },
		{ "Warning: 299 - ", "" },
		{ "Warning: 299 - \"a\\", "" },
		{ "Warning: 2990 - \"a\"", "" },
		{ "Warning: 299 - \"a\" \"half a date", "[a]" },
		{ "Warning: ,,, , ", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mpijob_client_options options = MPIJOB_CLIENT_OPTIONS_INIT;
		struct fake_reply reply = { .status = 200, .body = "{}", .header = rows[i].header };
		struct fake fake;
		mpijob_client *client = fake_client(&fake);
		mpijob_text told = { 0 };
		struct seen seen = { 0 };

		options.warning = on_warning;
		options.warning_user = &told;
		assert_int_equal(mpijob_client_set_options(client, &options), 0);
		fake_script(&fake, reply);
		assert_int_equal(start(client, &seen, "GET", NULL, 0), 0);
		poll_some(client);
		assert_string_equal(mpijob_text_data(&told), rows[i].told);
		/* Each request tells for itself. */
		forget(&seen);
		fake_script(&fake, reply);
		assert_int_equal(start(client, &seen, "GET", NULL, 0), 0);
		poll_some(client);
		assert_int_equal(told.len, 2 * strlen(rows[i].told));
		forget(&seen);
		mpijob__base_text_release(&told);
		finish(&fake, client);
	}
}

/* A server may not fill our memory, nor keep us comparing, with ever new warnings. */
static void test_warnings_have_an_end(void **state)
{
	struct mpijob_exchange exchange = { 0 };
	mpijob_client client = { 0 };
	mpijob_text told = { 0 };

	(void)state;
	client.options.warning = on_warning;
	client.options.warning_user = &told;
	exchange.client = &client;
	for (int i = 0; i < 20000; i++) {
		mpijob_text header = { 0 };

		assert_int_equal(mpijob__base_text_printf(&header, "299 - \"number %d\"", i), 0);
		mpijob_exchange_header(&exchange, "Warning", mpijob_text_data(&header));
		mpijob__base_text_release(&header);
	}
	assert_in_range(exchange.answer.warnings.len, 16 << 10, 64 << 10);
	assert_non_null(strstr(mpijob_text_data(&told), "[number 500]"));
	assert_null(strstr(mpijob_text_data(&told), "[number 19999]"));
	mpijob__base_text_release(&exchange.answer.warnings);
	mpijob__base_text_release(&told);
}

/* --- pausing --- */

static void test_pause_keeps_what_comes(void **state)
{
	struct fake_reply stream = { .status = 200, .body = "abcdefghij" };
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 0, 0);
	struct seen seen = { 0 };

	(void)state;
	fake.piece = 2;
	fake_script(&fake, stream);
	seen.pause_at_data = 1;
	assert_int_equal(start(client, &seen, "GET", NULL, 1), 0);
	poll_some(client);
	assert_null(fake.exchanges); /* the transport is done with it */
	assert_string_equal(mpijob_text_data(&seen.body), "ab");
	assert_int_equal(seen.done, 0);
	mpijob_call_pause(seen.call, 0);
	assert_string_equal(mpijob_text_data(&seen.body), "ab"); /* not from inside of that call */
	poll_some(client);
	assert_string_equal(mpijob_text_data(&seen.body), "abcdefghij");
	assert_int_equal(seen.done, 1);
	assert_int_equal(seen.code, 0);
	forget(&seen);

	/* Paused and resumed at once: nothing is lost or turned round. */
	fake_script(&fake, stream);
	seen.pause_at_data = seen.resume_at_data = 1;
	assert_int_equal(start(client, &seen, "GET", NULL, 1), 0);
	poll_some(client);
	assert_string_equal(mpijob_text_data(&seen.body), "abcdefghij");
	assert_int_equal(seen.done, 1);
	forget(&seen);

	/* The code of the end is kept, too. */
	stream.end_code = MPIJOB_ERR_IO;
	fake_script(&fake, stream);
	seen.pause_at_data = 1;
	assert_int_equal(start(client, &seen, "GET", NULL, 1), 0);
	poll_some(client);
	mpijob_call_pause(seen.call, 0);
	poll_some(client);
	assert_int_equal(seen.code, MPIJOB_ERR_IO);
	assert_string_equal(mpijob_text_data(&seen.message), "the connection was lost");
	forget(&seen);

	/* Given up, and left behind, while paused. */
	fake_script(&fake, stream);
	seen.pause_at_data = 1;
	assert_int_equal(start(client, &seen, "GET", NULL, 1), 0);
	poll_some(client);
	mpijob_call_cancel(seen.call);
	forget(&seen);
	fake_script(&fake, stream);
	seen.pause_at_data = 1;
	assert_int_equal(start(client, &seen, "GET", NULL, 1), 0);
	poll_some(client);
	finish(&fake, client);
	assert_int_equal(seen.done, 0);
	forget(&seen);
}

static struct {
	struct fake *fake;
	char told[16];
} pausing;

static void pause_fake(void *self, mpijob_exchange *exchange, int on)
{
	size_t len = strlen(pausing.told);

	assert_ptr_equal(self, pausing.fake);
	assert_non_null(mpijob_exchange_slot(exchange));
	assert_true(len < sizeof(pausing.told) - 1);
	pausing.told[len] = on ? '1' : '0';
}

/* A pause is forwarded to a transport that supports it, after it has reported what it had. */
static void test_pause_reaches_the_transport(void **state)
{
	struct fake_reply stream = { .status = 200, .body = "abcdef", .open = 1 };
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 0, 0);
	struct seen seen = { 0 };

	(void)state;
	pausing.fake = &fake;
	client->transport.pause = pause_fake;
	fake_script(&fake, stream);
	seen.pause_at_data = 1;
	fake.piece = 3;
	assert_int_equal(start(client, &seen, "GET", NULL, 1), 0);
	poll_some(client);
	assert_string_equal(pausing.told, "1");
	mpijob_call_pause(seen.call, 0);
	assert_string_equal(pausing.told, "10");
	poll_some(client);
	assert_string_equal(mpijob_text_data(&seen.body), "abcdef");
	assert_string_equal(pausing.told, "101");
	finish(&fake, client);
	forget(&seen);
}

/* --- cancelling --- */

static int started(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	(void)fake;
	(void)method;
	(void)path;
	memset(reply, 0, sizeof(*reply));
	reply->polls = 1 << 30; /* never answered */
	reply->status = 200;
	return 1;
}

static void *cancel_soon(void *client)
{
	fake_await_polls(5);
	mpijob_client_wake(client);
	errno = 4711;
	mpijob_client_cancel(client);
	return errno == 4711 ? client : NULL;
}

static void test_cancel_from_another_thread(void **state)
{
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *doc = NULL;
	struct seen other = { 0 };
	pthread_t thread;
	void *kept = NULL;

	(void)state;
	fake.decide = started;
	target.api_version = "v1";
	target.kind = "Pod";
	assert_int_equal(start(client, &other, "GET", NULL, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, client), 0);
	assert_int_equal(mpijob_client_get(client, &target, &doc, diag), MPIJOB_ERR_CANCELLED);
	assert_int_equal(pthread_join(thread, &kept), 0);
	assert_ptr_equal(kept, client); /* errno is as it was */
	assert_null(doc);
	assert_int_equal(mpijob_diag_count(diag, 0), 1);
	/* The call that was started goes on. */
	assert_int_equal(other.done, 0);
	assert_non_null(fake.exchanges);
	/* The next one, when none waits; and only one. */
	mpijob_client_cancel(client);
	assert_int_equal(mpijob_client_get(client, &target, &doc, diag), MPIJOB_ERR_CANCELLED);
	fake.decide = NULL;
	assert_int_equal(mpijob_client_get(client, &target, &doc, diag), 0);
	mpijob_doc_free(doc);
	mpijob_diag_free(diag);
	finish(&fake, client);
}

/* --- a host's own loop --- */

static int interest(void *self, int *fd, int64_t *deadline_ms)
{
	(void)self;
	*fd = 7;
	*deadline_ms = clock_now + 5000;
	return 0;
}

static int start_request(mpijob_client *client, struct seen *seen, struct mpijob_request request)
{
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;

	callbacks.done = on_done;
	callbacks.user = seen;
	return mpijob_client_start(client, &request, &callbacks, &seen->call);
}

static void test_a_request_that_is_sent_once(void **state)
{
	struct mpijob_target target = fake_pod("p");
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct fake_reply busy = BUSY("0");
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 0, 0);
	struct seen seen = { 0 };

	(void)state;
	request.method = "GET";
	request.target = &target;
	for (int once = 0; once < 2; once++) {
		request.once = once;
		fake_script(&fake, busy);
		assert_int_equal(start_request(client, &seen, request), 0);
		poll_some(client);
		assert_int_equal(seen.done, 1);
		assert_int_equal(seen.status, once ? 429 : 404);
		assert_int_equal(seen.retry_after_ms, 0);
		forget(&seen);
	}
	assert_int_equal(fake.log_count, 3);
	assert_string_equal(fake.log[2], "GET /api/v1/namespaces/d/pods/p");
	finish(&fake, client);
}

/* It does not wait behind others, and takes none of their tokens. */
static void test_an_urgent_request(void **state)
{
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 1, 1);
	struct seen seen[2] = { 0 }, urgent = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(start(client, &seen[i], "GET", NULL, 0), 0);
	assert_int_equal(mpijob_call_queued(seen[0].call), 0);
	assert_int_equal(mpijob_call_queued(seen[1].call), 1);
	request.method = "GET";
	request.path = "/urgent";
	request.urgent = 1;
	assert_int_equal(start_request(client, &urgent, request), 0);
	assert_int_equal(mpijob_call_queued(urgent.call), 0);
	poll_some(client);
	assert_int_equal(fake.log_count, 2);
	assert_string_equal(fake.log[1], "GET /urgent");
	clock_now += 1000;
	poll_some(client);
	assert_int_equal(seen[1].done, 1);
	for (size_t i = 0; i < 2; i++)
		forget(&seen[i]);
	forget(&urgent);
	finish(&fake, client);
}

/* A call that waits for its next attempt is queued, too; cancelled, it is not sent again. */
static void test_queued_calls(void **state)
{
	struct fake_reply busy = BUSY("2");
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 0, 0);
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(mpijob_call_queued(NULL), 0);
	fake_script(&fake, busy);
	assert_int_equal(start(client, &seen, "POST", "{}", 0), 0);
	assert_int_equal(mpijob_call_queued(seen.call), 0);
	poll_some(client);
	assert_int_equal(mpijob_call_queued(seen.call), 1);
	mpijob_call_cancel(seen.call);
	clock_now += 3000;
	poll_some(client);
	assert_int_equal(fake.log_count, 1);
	assert_int_equal(seen.done, 0);
	finish(&fake, client);
}

static void test_requests_that_are_refused(void **state)
{
	struct mpijob_target target = fake_pod("p"), unnamed = fake_pod("..");
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 0, 0);
	struct seen seen = { 0 };

	(void)state;
	request.method = "GET";
	assert_int_equal(start_request(client, &seen, request), MPIJOB_ERR_USAGE);
	request.path = "api";
	assert_int_equal(start_request(client, &seen, request), MPIJOB_ERR_USAGE);
	request.target = &unnamed;
	assert_int_equal(start_request(client, &seen, request), MPIJOB_ERR_USAGE);
	request.target = &target;
	request.once = 2;
	assert_int_equal(start_request(client, &seen, request), MPIJOB_ERR_USAGE);
	request.once = 1;
	request.urgent = -1;
	assert_int_equal(start_request(client, &seen, request), MPIJOB_ERR_USAGE);
	assert_int_equal(fake.log_count, 0);
	finish(&fake, client);
}

static void test_interest_knows_the_timers(void **state)
{
	struct fake_reply busy = BUSY("2");
	struct fake fake;
	mpijob_client *client = client_of(&fake, 0, 0, 0);
	struct seen seen = { 0 };
	int64_t deadline_ms = 0;
	int fd = 0;

	(void)state;
	client->transport.interest = interest;
	assert_int_equal(mpijob_client_interest(client, &fd, &deadline_ms), 0);
	assert_int_equal(deadline_ms, clock_now + 5000);
	fake_script(&fake, busy);
	assert_int_equal(start(client, &seen, "GET", NULL, 0), 0);
	poll_some(client);
	assert_int_equal(mpijob_client_interest(client, &fd, &deadline_ms), 0);
	assert_int_equal(deadline_ms, clock_now + 2000);
	assert_int_equal(fd, 7);
	finish(&fake, client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_r1_the_server_says_when),
		cmocka_unit_test(test_r1_how_often_and_when_not),
		cmocka_unit_test(test_r1_refusals_are_final),
		cmocka_unit_test(test_r1_ends_of_waiting),
		cmocka_unit_test(test_r2_only_gets_survive_a_broken_connection),
		cmocka_unit_test(test_r2_streams_only_before_their_first_byte),
		cmocka_unit_test(test_r3_a_plain_429),
		cmocka_unit_test(test_r6_the_bucket_is_exact),
		cmocka_unit_test(test_r6_what_takes_a_token),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_r9_warnings),
		cmocka_unit_test(test_warnings_have_an_end),
		cmocka_unit_test(test_pause_keeps_what_comes),
		cmocka_unit_test(test_pause_reaches_the_transport),
		cmocka_unit_test(test_cancel_from_another_thread),
		cmocka_unit_test(test_a_request_that_is_sent_once),
		cmocka_unit_test(test_an_urgent_request),
		cmocka_unit_test(test_queued_calls),
		cmocka_unit_test(test_requests_that_are_refused),
		cmocka_unit_test(test_interest_knows_the_timers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
