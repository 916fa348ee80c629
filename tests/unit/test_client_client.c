/* SPDX-License-Identifier: Apache-2.0 */
#include "../support/fake_cluster.h"
#include "../support/writes.h"

#include "client/client.h"

#include <setjmp.h>

#include <cmocka.h>

#define POD                                                                                   \
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":" \
	"\"d\"}}"

static void round_trip(void **state)
{
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	struct mpijob_target all = fake_pod(NULL), one = fake_pod("p");
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *pod = NULL, *stored = NULL, *read = NULL, *patch = NULL;

	(void)state;
	for (size_t piece = 0; piece < 3; piece++) {
		stored = read = pod = patch = NULL;
		fake.piece = piece;
		assert_int_equal(mpijob_doc_parse(POD, strlen(POD), NULL, &pod, NULL), 0);
		assert_int_equal(mpijob_client_write(client, &all, mpijob_doc_root(pod), NULL,
				     &stored, diag),
		    0);
		assert_non_null(mpijob_node_find(mpijob_doc_root(stored), "metadata.uid"));
		assert_int_equal(mpijob_client_write(client, &all, mpijob_doc_root(pod), NULL, NULL,
				     diag),
		    MPIJOB_ERR_CONFLICT);
		assert_int_equal(mpijob_doc_parse("{\"spec\":{\"x\":1}}", 16, NULL, &patch, NULL),
		    0);
		assert_int_equal(mpijob_client_write(client, &one, mpijob_doc_root(patch),
				     WRITE(PATCH_MERGE), NULL, diag),
		    0);
		assert_int_equal(mpijob_client_get(client, &one, &read, diag), 0);
		assert_non_null(mpijob_node_find(mpijob_doc_root(read), "spec.x"));
		assert_int_equal(mpijob_client_delete(client, &one, DELETION("another", NULL),
				     diag),
		    MPIJOB_ERR_CONFLICT);
		assert_int_equal(mpijob_client_delete(client, &one,
				     DELETION(mpijob_node_string(
						  mpijob_node_find(mpijob_doc_root(read),
						      "metadata.uid")),
					 "Background"),
				     diag),
		    0);
		assert_non_null(strstr(mpijob_text_data(&fake.last_body),
		    "\"propagationPolicy\":\"Background\""));
		assert_int_equal(mpijob_client_get(client, &one, &read, diag),
		    MPIJOB_ERR_NOT_FOUND);
		mpijob_doc_free(pod);
		mpijob_doc_free(patch);
		mpijob_doc_free(stored);
		mpijob_doc_free(read);
	}
	assert_string_equal(fake.log[0], "POST /api/v1/namespaces/d/pods");
	assert_string_equal(fake.log[2], "PATCH /api/v1/namespaces/d/pods/p");
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	assert_int_equal(fake.destroyed, 1);
	fake_release(&fake);
}

static void never_again(mpijob_client *client)
{
	struct mpijob_client_options options = MPIJOB_CLIENT_OPTIONS_INIT;

	options.retries = -1;
	assert_int_equal(mpijob_client_set_options(client, &options), 0);
}

static int get_scripted(struct fake_reply reply, mpijob_diag *diag)
{
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	struct mpijob_target one = fake_pod("p");
	mpijob_doc *doc = NULL;
	int code;

	never_again(client);
	fake_script(&fake, reply);
	code = mpijob_client_get(client, &one, &doc, diag);
	assert_true(code ? doc == NULL : doc != NULL);
	mpijob_doc_free(doc);
	mpijob_client_free(client);
	fake_release(&fake);
	return code;
}

static void codes(void **state)
{
	static const struct {
		int status, end, code;
		const char *body;
	} rows[] = {
		{ 200, 0, 0, "{}" },
		{ 200, 0, MPIJOB_ERR_SYNTAX, "{" },
		{ 200, 0, MPIJOB_ERR_SYNTAX, "" },
		{ 400, 0, MPIJOB_ERR_REJECTED, "no" },
		{ 401, 0, MPIJOB_ERR_AUTH, "" },
		{ 403, 0, MPIJOB_ERR_AUTH, "<html>" },
		{ 404, 0, MPIJOB_ERR_NOT_FOUND, "404 page not found" },
		{ 405, 0, MPIJOB_ERR_UNSUPPORTED, "" },
		{ 409, 0, MPIJOB_ERR_CONFLICT, "" },
		{ 410, 0, MPIJOB_ERR_NOT_FOUND, "" },
		{ 413, 0, MPIJOB_ERR_REJECTED, "" },
		{ 415, 0, MPIJOB_ERR_UNSUPPORTED, "" },
		{ 422, 0, MPIJOB_ERR_REJECTED, "" },
		{ 429, 0, MPIJOB_ERR_SERVER, "Too many requests, please try again later." },
		{ 500, 0, MPIJOB_ERR_SERVER, "" },
		{ 501, 0, MPIJOB_ERR_UNSUPPORTED, "" },
		{ 503, 0, MPIJOB_ERR_SERVER, "\x01\x02" },
		{ 307, 0, MPIJOB_ERR_SERVER, "" },
		/* The reason decides. */
		{ 500, 0, MPIJOB_ERR_CONFLICT,
		    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
		    "\"AlreadyExists\"}" },
		{ 403, 0, MPIJOB_ERR_AUTH,
		    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"reason\":\"NotInvented\"}" },
		/* A success that is none. */
		{ 200, 0, MPIJOB_ERR_NOT_FOUND,
		    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":"
		    "404}" },
		{ 200, 0, 0, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\"}" },
		/* Another group's Status is just an object. */
		{ 200, 0, 0,
		    "{\"kind\":\"Status\",\"apiVersion\":\"x/v1\",\"status\":\"Failure\"}" },
		{ 0, MPIJOB_ERR_IO, MPIJOB_ERR_IO, NULL },
		{ 200, MPIJOB_ERR_TIMEOUT, MPIJOB_ERR_TIMEOUT, "{\"a\":1}" },
		{ 0, MPIJOB_ERR_AUTH, MPIJOB_ERR_AUTH, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mpijob_diag *diag = mpijob_diag_new();
		struct fake_reply reply = { 0 };

		reply.status = rows[i].status;
		reply.body = rows[i].body;
		reply.end_code = rows[i].end;
		assert_int_equal(get_scripted(reply, diag), rows[i].code);
		assert_true((mpijob_diag_count(diag, 0) > 0) == (rows[i].code != 0));
		mpijob_diag_free(diag);
	}
}

static void causes_become_findings(void **state)
{
	struct fake_reply reply = { 0 };
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	reply.status = 422;
	reply.body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
		     "\"Invalid\",\"message\":\"m\","
		     "\"details\":{\"causes\":[{\"reason\":\"FieldValueNotSupported\",\"field\":"
		     "\"spec.a\",\"message\":\"use x\"},"
		     "{\"reason\":\"FieldValueRequired\",\"field\":\"spec.b\",\"message\":"
		     "\"Required value\"},"
		     "{\"reason\":\"Strange\"}]},\"code\":422}";
	assert_int_equal(get_scripted(reply, diag), MPIJOB_ERR_REJECTED);
	assert_int_equal(mpijob_diag_count(diag, 0), 3);
	assert_string_equal(mpijob_diag_at(diag, 0)->reason, "NotSupported");
	assert_string_equal(mpijob_diag_at(diag, 0)->field, "spec.a");
	assert_string_equal(mpijob_diag_at(diag, 0)->message, "use x");
	assert_string_equal(mpijob_diag_at(diag, 1)->reason, "Required");
	assert_string_equal(mpijob_diag_at(diag, 2)->reason, "Strange");
	assert_string_equal(mpijob_diag_at(diag, 2)->message, "m");

	mpijob_diag_clear(diag);
	reply.status = 502;
	reply.body = "<html>\n\x1b[31m bad  gateway";
	assert_int_equal(get_scripted(reply, diag), MPIJOB_ERR_SERVER);
	assert_string_equal(mpijob_diag_at(diag, 0)->message,
	    "the server answered with status 502: <html> [31m bad gateway");
	assert_string_equal(mpijob_diag_at(diag, 0)->reason, "InternalError");

	mpijob_diag_clear(diag);
	reply.status = 200;
	reply.body = "{}";
	reply.header = "warning:299 - \"kubectl is \\\"old\\\"\"";
	assert_int_equal(get_scripted(reply, diag), 0);
	assert_int_equal(mpijob_diag_count(diag, 0), 1);
	assert_int_equal(mpijob_diag_at(diag, 0)->severity, MPIJOB_SEVERITY_WARNING);
	assert_string_equal(mpijob_diag_at(diag, 0)->message, "kubectl is \"old\"");
	mpijob_diag_free(diag);
}

/* --- started calls --- */

struct seen {
	mpijob_client *client;
	mpijob_call *call, *other;
	int done, code, status;
	int64_t retry_after_ms;
	size_t bytes;
	int stop; /* what `data` returns */
	int cancel_self, cancel_other, nest;
	struct seen *again; /* start this one from `done` */
};

static void start(mpijob_client *client, struct seen *seen, int streaming);

static int on_data(void *user, const char *data, size_t len)
{
	struct seen *seen = user;

	assert_non_null(data);
	seen->bytes += len;
	if (seen->cancel_self)
		mpijob_call_cancel(seen->call);
	return seen->stop;
}

static void on_done(void *user, const struct mpijob_answer *answer)
{
	struct seen *seen = user;

	seen->done++;
	seen->code = answer->code;
	seen->status = answer->status;
	seen->retry_after_ms = answer->retry_after_ms;
	assert_non_null(answer->body);
	assert_int_equal(strlen(answer->body), answer->body_len);
	if (seen->cancel_other)
		mpijob_call_cancel(seen->other);
	if (seen->again)
		start(seen->client, seen->again, 0);
	if (seen->nest) {
		struct mpijob_target one = fake_pod("p");
		mpijob_doc *doc = NULL;

		assert_int_equal(mpijob_client_get(seen->client, &one, &doc, NULL),
		    MPIJOB_ERR_USAGE);
		assert_int_equal(mpijob_client_poll(seen->client, 0), MPIJOB_ERR_USAGE);
	}
}

static void start(mpijob_client *client, struct seen *seen, int streaming)
{
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;

	request.method = "GET";
	request.path = "/api/v1/pods";
	request.streaming = streaming;
	callbacks.data = streaming ? on_data : NULL;
	callbacks.done = on_done;
	callbacks.user = seen;
	seen->client = client;
	assert_int_equal(mpijob_client_start(client, &request, &callbacks, &seen->call), 0);
}

static void poll_some(mpijob_client *client)
{
	for (int i = 0; i < 20; i++)
		assert_int_equal(mpijob_client_poll(client, 0), 0);
}

static void started_calls(void **state)
{
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	struct seen one = { 0 }, two = { 0 }, three = { 0 }, stopped = { 0 }, gone = { 0 },
		    last = { 0 };
	struct fake_reply open = { 0 }, busy = { 0 };

	(void)state;
	never_again(client);
	open.status = 200;
	open.body = "abcdef";
	open.open = 1;
	busy.status = 429;
	busy.body = "{}";
	busy.header = "retry-after: 7";

	/* One whose end starts another. */
	one.again = &two;
	one.nest = 1;
	start(client, &one, 0);
	assert_int_equal(one.done, 0);
	poll_some(client);
	assert_int_equal(one.done, 1);
	assert_int_equal(one.code, 0);
	assert_int_equal(two.done, 1);

	/* One that is waiting, given up from outside of poll and from a callback of another. */
	fake_script(&fake, open);
	start(client, &three, 1);
	fake_script(&fake, open);
	start(client, &gone, 1);
	poll_some(client);
	assert_int_equal(three.bytes, 6);
	mpijob_call_cancel(three.call);
	last.other = gone.call;
	last.cancel_other = 1;
	fake_script(&fake, busy);
	start(client, &last, 0);
	poll_some(client);
	assert_int_equal(last.done, 1);
	assert_int_equal(last.code, MPIJOB_ERR_SERVER);
	assert_int_equal(last.retry_after_ms, 7000);
	assert_int_equal(three.done, 0);
	assert_int_equal(gone.done, 0);
	assert_null(fake.exchanges);

	/* One whose reader has enough, and one that gives itself up. */
	fake.piece = 1;
	fake_script(&fake, open);
	stopped.stop = MPIJOB_ERR_NOMEM;
	start(client, &stopped, 1);
	fake_script(&fake, open);
	gone.cancel_self = 1;
	gone.bytes = 0;
	start(client, &gone, 1);
	poll_some(client);
	assert_int_equal(stopped.done, 1);
	assert_int_equal(stopped.code, MPIJOB_ERR_NOMEM);
	assert_int_equal(stopped.bytes, 1);
	assert_int_equal(gone.bytes, 1);
	assert_int_equal(gone.done, 0);
	assert_null(fake.exchanges);

	/* One under way when the client goes. */
	fake_script(&fake, open);
	start(client, &gone, 1);
	mpijob_client_free(client);
	assert_int_equal(gone.done, 0);
	assert_null(fake.exchanges);
	fake_release(&fake);
}

static void a_failed_stream_tells_why(void **state)
{
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	struct fake_reply gone = { 0 };
	struct seen seen = { 0 };

	(void)state;
	gone.status = 410;
	gone.body =
	    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"reason\":\"Expired\",\"code\":410}";
	fake_script(&fake, gone);
	start(client, &seen, 1);
	poll_some(client);
	assert_int_equal(seen.bytes, 0);
	assert_int_equal(seen.status, 410);
	assert_int_equal(seen.code, MPIJOB_ERR_NOT_FOUND);
	mpijob_client_free(client);
	fake_release(&fake);
}

static void wrong_use(void **state)
{
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	struct fake_reply refused = { 0 };
	struct fake fake, other = { 0 };
	mpijob_client *client = fake_client(&fake), *none = NULL;
	int fd;
	int64_t deadline;

	(void)state;
	transport.destroy = fake_destroy;
	assert_int_equal(mpijob_client_new(&transport, &other, &none), MPIJOB_ERR_USAGE);
	assert_int_equal(other.destroyed, 1);
	assert_null(none);
	assert_int_equal(mpijob_client_interest(client, &fd, &deadline), MPIJOB_ERR_UNSUPPORTED);
	mpijob_client_wake(client);
	assert_int_equal(fake.woken, 1);

	request.method = "GET";
	request.path = "relative";
	callbacks.done = on_done;
	assert_int_equal(mpijob_client_start(client, &request, &callbacks, NULL), MPIJOB_ERR_USAGE);
	request.path = "/api";
	callbacks.done = NULL;
	assert_int_equal(mpijob_client_start(client, &request, &callbacks, NULL), MPIJOB_ERR_USAGE);
	callbacks.done = on_done;
	refused.refuse = MPIJOB_ERR_AUTH;
	fake_script(&fake, refused);
	assert_int_equal(mpijob_client_start(client, &request, &callbacks, NULL), MPIJOB_ERR_AUTH);
	mpijob_client_free(client);
	mpijob_client_free(NULL);
	fake_release(&fake);
}

static void a_huge_answer_is_refused(void **state)
{
	size_t len = MPIJOB__CLIENT_BODY_LIMIT + 10;
	char *body = malloc(len + 1);
	mpijob_diag *diag = mpijob_diag_new();
	struct fake_reply reply = { 0 };

	(void)state;
	memset(body, ' ', len);
	body[len] = 0;
	reply.status = 200;
	reply.body = body;
	assert_int_equal(get_scripted(reply, diag), MPIJOB_ERR_SYNTAX);
	assert_string_equal(mpijob_diag_at(diag, 0)->message, "the answer is larger than 64 MiB");
	mpijob_diag_free(diag);
	free(body);
}

/* A transport that is taken is destroyed when no client can be made, where its struct is long
 * enough to hold `destroy`. */
static void a_refused_transport_is_destroyed(void **state)
{
	struct {
		struct mpijob_transport known;
		uint64_t newer;
	} longer;
	struct fake good, fake = { 0 };
	mpijob_client *client = fake_client(&good), *none = NULL;
	static const struct {
		size_t size;
		uint64_t newer;
		int code, destroyed;
	} rows[] = {
		{ sizeof(longer), 1, MPIJOB_ERR_UNSUPPORTED, 1 },
		{ offsetof(struct mpijob_transport, destroy) + sizeof(void (*)(void)), 0,
		    MPIJOB_ERR_USAGE, 1 },
		{ offsetof(struct mpijob_transport, destroy), 0, MPIJOB_ERR_USAGE, 0 },
		{ sizeof(size_t), 0, MPIJOB_ERR_USAGE, 0 },
		{ 0, 0, MPIJOB_ERR_USAGE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memset(&longer, 0, sizeof(longer));
		longer.known = client->transport;
		longer.known.start = i == 0 ? client->transport.start : NULL;
		longer.known.size = rows[i].size;
		longer.newer = rows[i].newer;
		fake.destroyed = 0;
		assert_int_equal(mpijob_client_new(&longer.known, &fake, &none), rows[i].code);
		assert_int_equal(fake.destroyed, rows[i].destroyed);
	}
	longer.known = client->transport;
	fake.destroyed = 0;
	assert_int_equal(mpijob_client_new(&longer.known, &fake, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(fake.destroyed, 1);
	assert_null(none);
	mpijob_client_free(client);
	fake_release(&good);
}

/* The value of an answer's header that the client goes by, and what it does then. */
static void headers_that_matter(void **state)
{
	struct fake_reply reply = { .status = 200, .body = "<html>Sign in</html>" };
	mpijob_diag *diag = mpijob_diag_new();
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	struct mpijob_target one = fake_pod("p");
	mpijob_doc *doc = NULL;

	(void)state;
	reply.header = "Content-Type:text/html; charset=utf-8";
	assert_int_equal(get_scripted(reply, diag), MPIJOB_ERR_SYNTAX);
	assert_non_null(strstr(mpijob_diag_at(diag, 0)->message, "text/html"));
	mpijob_diag_clear(diag);
	reply.header = "X-Content-Type:text/html";
	assert_int_equal(get_scripted(reply, diag), MPIJOB_ERR_SYNTAX);
	assert_null(strstr(mpijob_diag_at(diag, 0)->message, "text/html"));
	reply.body = POD;
	reply.header = "Date: Sat, 21 Nov 2026 18:37:20 GMT";
	fake_script(&fake, reply);
	assert_int_equal(mpijob_client_get(client, &one, &doc, NULL), 0);
	assert_in_range(mpijob__client_server_clock_ms(&client->server_clock, client->clock()),
	    INT64_C(1795286240000), INT64_C(1795286242000));
	mpijob_doc_free(doc);
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	fake_release(&fake);
}

/* Each header that the client looks at is in the description that transports are written by. */
static void headers_are_described(void **state)
{
	static char source[1 << 16], text[1 << 16];
	FILE *files[] = { fopen(MPIJOB_TEST_SOURCE "/lib/client/exchange_header.c", "r"),
		fopen(MPIJOB_TEST_SOURCE "/include/mpijob/transport.h", "r") };
	const char *sentence, *end;
	int found = 0;

	(void)state;
	assert_true(files[0] && files[1]);
	source[fread(source, 1, sizeof(source) - 1, files[0])] = 0;
	text[fread(text, 1, sizeof(text) - 1, files[1])] = 0;
	fclose(files[0]);
	fclose(files[1]);
	sentence = strstr(text, "Report a header of the answer.");
	assert_non_null(sentence);
	end = strstr(sentence, "\n *\n");
	for (const char *at = source; (at = strstr(at, "same_name(name, \"")); found++) {
		char name[40] = "`";
		const char *place;

		at += strlen("same_name(name, \"");
		memcpy(name + 1, at, strcspn(at, "\""));
		strcat(name, "`");
		place = strcasestr(sentence, name);
		if (!place)
			print_message("%s is not described\n", name);
		assert_true(place && place < end);
	}
	for (const char *at = sentence; at < end; at++)
		found -= *at == '`' && !strchr(", .", at[1]);
	assert_int_equal(found, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(codes),
		cmocka_unit_test(causes_become_findings),
		cmocka_unit_test(started_calls),
		cmocka_unit_test(a_failed_stream_tells_why),
		cmocka_unit_test(wrong_use),
		cmocka_unit_test(a_refused_transport_is_destroyed),
		cmocka_unit_test(headers_that_matter),
		cmocka_unit_test(headers_are_described),
		cmocka_unit_test(a_huge_answer_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
