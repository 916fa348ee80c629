/* SPDX-License-Identifier: Apache-2.0 */
#include "../support/fake_cluster.h"
#include "../support/writes.h"

#include "client/client.h"

#include <setjmp.h>

#include <cmocka.h>

#define ITEM(name) "{\"metadata\":{\"name\":\"" name "\"}}"
#define PAGE(version, more, items)                                                                 \
	"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version \
	"\"" more "},\"items\":[" items "]}"
#define REST(token) ",\"continue\":\"" token "\",\"remainingItemCount\":7"
#define EXPIRED                                                                                    \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{\"continue\":\"x\"},\"status\":" \
	"\"Failure\",\"reason\":"                                                                  \
	"\"Expired\",\"message\":\"too old\",\"code\":410}"

static mpijob_doc *parse(const char *text)
{
	mpijob_doc *doc = NULL;

	assert_int_equal(mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL), 0);
	return doc;
}

static void finish(struct fake *fake, mpijob_client *client, mpijob_diag *diag)
{
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	assert_null(fake->exchanges);
	fake_release(fake);
}

static void asked(const struct fake *fake, size_t request, const char *name, const char *value)
{
	char *found;

	assert_true(request < fake->log_count);
	found = fake_query(fake->log[request], name);
	if (value && found)
		assert_string_equal(found, value);
	assert_true((value != NULL) == (found != NULL));
	free(found);
}

static void is_json(mpijob_doc *doc, const char *json)
{
	char *text = fake_json(mpijob_doc_root(doc));

	assert_string_equal(text, json);
	free(text);
	mpijob_doc_free(doc);
}

/* --- lists --- */

#define WHOLE(name) "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\"}}"

static void test_l1_a_list_in_pages(void **state)
{
	static const char *const query[] = { "resourceVersion", "0", "labelSelector", "a=b",
		"limit", "1", "resourceVersionMatch", "NotOlderThan", "continue", "mine" };

	(void)state;
	for (size_t piece = 0; piece < 4; piece++) {
		struct mpijob_target target = fake_pod(NULL);
		struct fake fake;
		mpijob_client *client = fake_client(&fake);
		mpijob_diag *diag = mpijob_diag_new();
		mpijob_doc *list = NULL;

		fake.piece = piece;
		target.query = query;
		target.query_count = 10;
		fake_answer(&fake, 200, PAGE("10", REST("t/1"), ITEM("a") "," ITEM("b")));
		fake_answer(&fake, 200, PAGE("10", REST("t/2"), ""));
		fake_answer(&fake, 200,
		    PAGE("10", "",
			"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c\"}}"));
		assert_int_equal(mpijob_client_list(client, &target, 2, &list, diag), 0);
		is_json(list, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
			      "\"resourceVersion\":\"10\"},\"items\":[" WHOLE("a") "," WHOLE(
				  "b") ",{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"
				       "\"name\":\"c\"}}]}");
		assert_int_equal(fake.log_count, 3);
		assert_int_equal(mpijob_diag_count(diag, 0), 0);
		asked(&fake, 0, "limit", "2");
		asked(&fake, 0, "resourceVersion", "0");
		asked(&fake, 0, "continue", NULL);
		asked(&fake, 2, "continue", "t/2");
		asked(&fake, 2, "limit", "2");
		asked(&fake, 2, "labelSelector", "a=b");
		asked(&fake, 2, "resourceVersion", NULL);
		asked(&fake, 2, "resourceVersionMatch", NULL);
		finish(&fake, client, diag);
	}
}

static void test_l2_a_list_that_is_forgotten(void **state)
{
	static const char *const query[] = { "resourceVersion", "5" };
	struct mpijob_target target = fake_pod(NULL);
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *list = NULL;

	(void)state;
	target.query = query;
	target.query_count = 2;
	fake_answer(&fake, 200, PAGE("10", REST("t"), ITEM("a")));
	fake_answer(&fake, 410, EXPIRED);
	fake_answer(&fake, 200, PAGE("20", "", ITEM("b")));
	assert_int_equal(mpijob_client_list(client, &target, 0, &list, diag), 0);
	is_json(list, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{"
		      "\"resourceVersion\":\"20\"},\"items\":[" WHOLE("b") "]}");
	asked(&fake, 0, "limit", "500");
	asked(&fake, 2, "limit", NULL);
	asked(&fake, 2, "continue", NULL);
	asked(&fake, 2, "resourceVersion", "5");
	assert_int_equal(mpijob_diag_count(diag, 0), 0);
	/* The first page says so: that is the answer. */
	list = NULL;
	fake_answer(&fake, 410, EXPIRED);
	assert_int_equal(mpijob_client_list(client, &target, 0, &list, diag), MPIJOB_ERR_NOT_FOUND);
	assert_null(list);
	assert_string_equal(mpijob_diag_at(diag, 0)->reason, "Expired");
	/* And so it is when the whole list says so. */
	fake_answer(&fake, 200, PAGE("10", REST("t"), ITEM("a")));
	fake_answer(&fake, 410, EXPIRED);
	fake_answer(&fake, 410, EXPIRED);
	assert_int_equal(mpijob_client_list(client, &target, 0, &list, diag), MPIJOB_ERR_NOT_FOUND);
	assert_int_equal(fake.log_count, 7);
	finish(&fake, client, diag);
}

static void test_l1_a_server_without_pages(void **state)
{
	struct mpijob_target target = fake_pod(NULL);
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *list = NULL;

	(void)state;
	for (int i = 0; i < 2; i++) {
		if (i == 0)
			fake_answer(&fake, 501, "no");
		fake_answer(&fake, 200, "{\"metadata\":{},\"items\":[" ITEM("a") "]}");
		assert_int_equal(mpijob_client_list(client, &target, 0, &list, diag), 0);
		is_json(list,
		    "{\"metadata\":{},\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[" WHOLE(
			"a") "]}");
	}
	assert_int_equal(fake.log_count, 3);
	asked(&fake, 2, "limit", NULL);
	fake_answer(&fake, 501, "no");
	assert_int_equal(mpijob_client_list(client, &target, 0, &list, diag),
	    MPIJOB_ERR_UNSUPPORTED);
	finish(&fake, client, diag);
}

static void test_lists_that_are_none(void **state)
{
	static const struct {
		int status, code;
		const char *body;
	} rows[] = {
		{ 200, MPIJOB_ERR_SYNTAX, "" },
		{ 200, MPIJOB_ERR_SYNTAX, "{\"items\":[" },
		{ 200, MPIJOB_ERR_SYNTAX, "[]" },
		{ 200, MPIJOB_ERR_SYNTAX, "{\"items\":[1]}" },
		{ 200, MPIJOB_ERR_SYNTAX, "{\"items\":[{\"a\":}]}" },
		{ 403, MPIJOB_ERR_AUTH, "no" },
		{ 404, MPIJOB_ERR_NOT_FOUND, "404 page not found" },
	};
	struct mpijob_target target = fake_pod(NULL), one = fake_pod("p");
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mpijob_diag *diag = mpijob_diag_new();
		mpijob_doc *list = NULL;

		fake_answer(&fake, rows[i].status, rows[i].body);
		assert_int_equal(mpijob_client_list(client, &target, 0, &list, diag), rows[i].code);
		assert_null(list);
		assert_true(mpijob_diag_count(diag, 0) > 0);
		mpijob_diag_free(diag);
	}
	assert_int_equal(mpijob_client_list(client, &one, 0, (mpijob_doc *[]){ NULL }, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_list(client, &target, -1, (mpijob_doc *[]){ NULL }, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_list(client, &target, 0, NULL, NULL), MPIJOB_ERR_USAGE);
	finish(&fake, client, NULL);
}

/* --- writes --- */

static void test_p3_types_of_patches(void **state)
{
	static const char *const types[] = { "application/merge-patch+json",
		"application/json-patch+json", "application/strategic-merge-patch+json" };
	struct mpijob_target target = fake_pod("p");
	mpijob_doc *patch = parse("{\"x\":1}");
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	for (int32_t i = 0; i < 3; i++) {
		fake_answer(&fake, 200, "{}");
		assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(patch),
				     WRITE_VERB(MPIJOB_WRITE_PATCH_MERGE + i), NULL, NULL),
		    0);
		assert_string_equal(mpijob_text_data(&fake.last_type), types[i]);
	}
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(patch),
			     WRITE_VERB(MPIJOB_WRITE_APPLY + 1), NULL, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(patch),
			     WRITE_VERB(-1), NULL, NULL),
	    MPIJOB_ERR_USAGE);
	mpijob_doc_free(patch);
	finish(&fake, client, NULL);
}

#define CONFLICT                                                                                 \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"Apply " \
	"failed with 2 conflicts\","                                                             \
	"\"reason\":\"Conflict\",\"details\":{\"causes\":[{\"reason\":\"FieldManagerConflict\"," \
	"\"message\":"                                                                           \
	"\"conflict with \\\"kubectl\\\" using "                                                 \
	"v1\",\"field\":\".spec.a\"},{\"reason\":\"FieldManagerConflict\","                      \
	"\"message\":\"conflict with \\\"x\\\"\",\"field\":\".spec.b\"}]},\"code\":409}"

static void test_p4_apply(void **state)
{
	static const char *const query[] = { "dryRun", "All" }, *const twice[] = { "fieldManager",
		"x" };
	struct mpijob_write_options options = MPIJOB_WRITE_OPTIONS_INIT;
	struct mpijob_target target = fake_pod("p");
	mpijob_doc *object = parse(WHOLE("p")), *stored = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	char longest[130];
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	fake_answer(&fake, 200, WHOLE("p"));
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), WRITE(APPLY),
			     &stored, diag),
	    0);
	is_json(stored, WHOLE("p"));
	assert_string_equal(fake.log[0], "PATCH /api/v1/namespaces/d/pods/p?fieldManager=mpijob");
	assert_string_equal(mpijob_text_data(&fake.last_type), "application/apply-patch+yaml");
	assert_string_equal(mpijob_text_data(&fake.last_body), WHOLE("p"));

	target.query = query;
	target.query_count = 2;
	options.verb = MPIJOB_WRITE_APPLY;
	options.field_manager = "me & you";
	options.force = 1;
	fake_answer(&fake, 201, "{}");
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), &options,
			     NULL, diag),
	    0);
	assert_string_equal(fake.log[1],
	    "PATCH /api/v1/namespaces/d/pods/p?dryRun=All&fieldManager=me%20%26%20you&force=true");

	fake_answer(&fake, 409, CONFLICT);
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), WRITE(APPLY),
			     NULL, diag),
	    MPIJOB_ERR_CONFLICT);
	assert_int_equal(mpijob_diag_count(diag, 0), 2);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "server-conflict");
	assert_string_equal(mpijob_diag_at(diag, 0)->field, ".spec.a");
	assert_string_equal(mpijob_diag_at(diag, 1)->message, "conflict with \"x\"");

	memset(longest, 'm', sizeof(longest));
	longest[129] = 0;
	options.field_manager = longest;
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), &options,
			     NULL, diag),
	    MPIJOB_ERR_USAGE);
	longest[128] = 0;
	fake_answer(&fake, 200, "{}");
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), &options,
			     NULL, diag),
	    0);
	options.field_manager = "a\nb";
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), &options,
			     NULL, diag),
	    MPIJOB_ERR_USAGE);
	options.field_manager = "";
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), &options,
			     NULL, diag),
	    MPIJOB_ERR_USAGE);
	target.query = twice;
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), WRITE(APPLY),
			     NULL, diag),
	    MPIJOB_ERR_USAGE);
	target = fake_pod(NULL);
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), WRITE(APPLY),
			     NULL, diag),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(fake.log_count, 4);
	mpijob_doc_free(object);
	finish(&fake, client, diag);
}

/* The options of a write may set the field manager of each write, but only an apply can force. */
static void test_p3_the_field_manager_of_a_write(void **state)
{
	static const char *const query[] = { "force", "true", "fieldManager", "x" };
	struct mpijob_write_options options = MPIJOB_WRITE_OPTIONS_INIT;
	struct mpijob_target target = fake_pod(NULL);
	mpijob_doc *object = parse(WHOLE("p"));
	mpijob_diag *diag = mpijob_diag_new();
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	options.field_manager = "me";
	fake_answer(&fake, 201, "{}");
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), &options,
			     NULL, diag),
	    0);
	assert_string_equal(fake.log[0], "POST /api/v1/namespaces/d/pods?fieldManager=me");
	target.query = query;
	target.query_count = 2;
	fake_answer(&fake, 201, "{}");
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), &options,
			     NULL, diag),
	    0);
	assert_string_equal(fake.log[1],
	    "POST /api/v1/namespaces/d/pods?force=true&fieldManager=me");
	target.query_count = 4;
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), &options,
			     NULL, diag),
	    MPIJOB_ERR_USAGE);
	target.query_count = 0;
	options.force = 1;
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), &options,
			     NULL, diag),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(fake.log_count, 2);
	mpijob_doc_free(object);
	finish(&fake, client, diag);
}

/* What the server thinks of unknown fields is asked for by the caller; what it says comes as
 * findings. */
static void test_p5_field_validation(void **state)
{
	static const char *const query[] = { "fieldValidation", "Strict", "fieldManager", "x",
		"dryRun", "All" };
	struct mpijob_target target = fake_pod(NULL);
	mpijob_doc *object = parse(WHOLE("p"));
	mpijob_diag *diag = mpijob_diag_new();
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	target.query = query;
	target.query_count = 6;
	fake_answer(&fake, 400,
	    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
	    "\"BadRequest\",\"message\":"
	    "\"strict decoding error: unknown field \\\"spec.x\\\"\",\"code\":400}");
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), NULL, NULL,
			     diag),
	    MPIJOB_ERR_REJECTED);
	assert_string_equal(fake.log[0],
	    "POST /api/v1/namespaces/d/pods?fieldValidation=Strict&fieldManager=x&dryRun=All");
	assert_string_equal(mpijob_diag_at(diag, 0)->message,
	    "strict decoding error: unknown field \"spec.x\"");
	mpijob_doc_free(object);
	finish(&fake, client, diag);
}

static void test_p7_deletes(void **state)
{
	struct mpijob_target target = fake_pod("p");
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	for (int i = 0; i < 3; i++)
		fake_answer(&fake, 200, "{}");
	assert_int_equal(mpijob_client_delete(client, &target, NULL, NULL), 0);
	assert_string_equal(mpijob_text_data(&fake.last_body),
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}");
	assert_int_equal(mpijob_client_delete(client, &target, DELETION("u-1", "Foreground"), NULL),
	    0);
	assert_string_equal(mpijob_text_data(&fake.last_body),
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":"
	    "\"Foreground\","
	    "\"preconditions\":{\"uid\":\"u-1\"}}");
	assert_string_equal(mpijob_text_data(&fake.last_type), "application/json");
	finish(&fake, client, NULL);
}

static void expect_deletion(struct fake *fake, mpijob_client *client,
    const struct mpijob_target *target, const struct mpijob_delete_options *options,
    const char *body)
{
	fake_answer(fake, 200, "{}");
	assert_int_equal(mpijob_client_delete(client, target, options, NULL), 0);
	assert_string_equal(mpijob_text_data(&fake->last_body), body);
}

static void test_p7_grace_and_preconditions(void **state)
{
	static const int64_t none = 0;
	struct mpijob_delete_options options = MPIJOB_DELETE_OPTIONS_INIT;
	struct mpijob_target target = fake_pod("p");
	mpijob_text body = { 0 };
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	expect_deletion(&fake, client, &target, NULL,
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}");
	options.grace_seconds = &none;
	expect_deletion(&fake, client, &target, &options,
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0}");
	options.resource_version = "7";
	expect_deletion(&fake, client, &target, &options,
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0,"
	    "\"preconditions\":{\"resourceVersion\":\"7\"}}");
	options.uid = "u-1";
	options.grace_seconds = NULL;
	expect_deletion(&fake, client, &target, &options,
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\","
	    "\"preconditions\":{\"uid\":\"u-1\",\"resourceVersion\":\"7\"}}");
	/* The same body, for a call that is started. */
	assert_int_equal(mpijob_delete_options_write(&options, mpijob_text_write, &body), 0);
	assert_string_equal(mpijob_text_data(&body), mpijob_text_data(&fake.last_body));
	mpijob__base_text_release(&body);
	assert_int_equal(mpijob_delete_options_write(&options, NULL, NULL), MPIJOB_ERR_USAGE);
	options.size = 4;
	assert_int_equal(mpijob_delete_options_write(&options, mpijob_text_write, &body),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_delete(client, &target, &options, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(fake.log_count, 4);
	finish(&fake, client, NULL);
}

/* A server that gets options in the body reads none of the query, so all of it goes along. */
static void test_p6_p7_a_deletion_with_a_query(void **state)
{
	static const char *const query[] = { "gracePeriodSeconds", "0", "dryRun", "All",
		"orphanDependents", "false", "x", "dryRun" };
	static const char *const policy[] = { "propagationPolicy", "Foreground" };
	struct mpijob_target target = fake_pod("p");
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	for (int i = 0; i < 4; i++)
		fake_answer(&fake, 200, "{}");
	target.query = query;
	target.query_count = 8;
	assert_int_equal(mpijob_client_delete(client, &target, DELETION("u-1", "Orphan"), NULL), 0);
	assert_string_equal(fake.log[0],
	    "DELETE "
	    "/api/v1/namespaces/d/pods/"
	    "p?gracePeriodSeconds=0&dryRun=All&orphanDependents=false&x=dryRun");
	assert_string_equal(mpijob_text_data(&fake.last_body),
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":\"Orphan\","
	    "\"preconditions\":{\"uid\":\"u-1\"},\"gracePeriodSeconds\":0,\"dryRun\":[\"All\"],"
	    "\"orphanDependents\":false}");
	target.query_count = 2; /* what lies past the count is not the caller's word */
	assert_int_equal(mpijob_client_delete(client, &target, NULL, NULL), 0);
	assert_string_equal(mpijob_text_data(&fake.last_body),
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0}");
	target.query = query + 6; /* a value is no name */
	assert_int_equal(mpijob_client_delete(client, &target, NULL, NULL), 0);
	assert_string_equal(mpijob_text_data(&fake.last_body),
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}");
	target.query = policy;
	assert_int_equal(mpijob_client_delete(client, &target, NULL, NULL), 0);
	assert_string_equal(mpijob_text_data(&fake.last_body),
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"propagationPolicy\":"
	    "\"Foreground\"}");
	finish(&fake, client, NULL);
}

/* What cannot be put into the body as it is meant is not sent. */
static void test_p7_queries_that_are_refused(void **state)
{
	static const char *const queries[][4] = {
		{ "propagationPolicy", "Foreground", "x", "y" }, /* the argument says Orphan */
		{ "dryRun", "All", "dryRun", "All" },
		{ "gracePeriodSeconds", "1", "gracePeriodSeconds", "2" },
		{ "gracePeriodSeconds", "1.5", "x", "y" },
		{ "gracePeriodSeconds", "soon", "x", "y" },
		{ "gracePeriodSeconds", "", "x", "y" },
		{ "orphanDependents", "perhaps", "x", "y" },
	};
	struct mpijob_target target = fake_pod("p");
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	target.query_count = 4;
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		target.query = queries[i];
		assert_int_equal(mpijob_client_delete(client, &target, DELETION(NULL, "Orphan"),
				     NULL),
		    MPIJOB_ERR_USAGE);
	}
	assert_int_equal(fake.log_count, 0);
	finish(&fake, client, NULL);
}

/* A status of text: 2048 bytes of it, in one line; the reason from the number. */
static void test_r4_bodies_that_are_no_status(void **state)
{
	struct mpijob_target target = fake_pod(NULL), one = fake_pod("p");
	mpijob_doc *object = parse(WHOLE("p")), *doc = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	char body[4001];
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	memset(body, 'x', 4000);
	body[4000] = 0;
	fake_answer(&fake, 409, body);
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object), NULL, NULL,
			     diag),
	    MPIJOB_ERR_CONFLICT);
	assert_string_equal(mpijob_diag_at(diag, 0)->reason, "AlreadyExists");
	assert_int_equal(strlen(mpijob_diag_at(diag, 0)->message),
	    strlen("the server answered with status 409: ") + 2048);
	fake_answer(&fake, 409, "");
	assert_int_equal(mpijob_client_write(client, &one, mpijob_doc_root(object), WRITE(UPDATE),
			     NULL, diag),
	    MPIJOB_ERR_CONFLICT);
	assert_string_equal(mpijob_diag_at(diag, 1)->reason, "Conflict");
	fake_answer(&fake, 504, "");
	assert_int_equal(mpijob_client_get(client, &one, &doc, diag), MPIJOB_ERR_SERVER);
	assert_string_equal(mpijob_diag_at(diag, 2)->reason, "Timeout");
	/* A success that is a failure, and findings of it. */
	fake_answer(&fake, 200,
	    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":"
	    "\"NotFound\",\"message\":\"m\"}");
	assert_int_equal(mpijob_client_get(client, &one, &doc, diag), MPIJOB_ERR_NOT_FOUND);
	assert_string_equal(mpijob_diag_at(diag, 3)->message, "m");
	assert_null(doc);
	mpijob_doc_free(object);
	finish(&fake, client, diag);
}

/* --- access --- */

static void test_what_one_may_do(void **state)
{
	struct mpijob_access access = MPIJOB_ACCESS_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	access.verb = "create";
	access.resource = "jobs";
	access.group = "batch";
	access.subresource = "status";
	access.namespace_ = "d";
	access.name = "n";
	fake_answer(&fake, 201, "{\"status\":{\"allowed\":true}}");
	assert_int_equal(mpijob_client_can(client, &access, diag), 1);
	assert_string_equal(fake.log[0],
	    "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
	assert_string_equal(mpijob_text_data(&fake.last_body),
	    "{\"apiVersion\":\"authorization.k8s.io/"
	    "v1\",\"kind\":\"SelfSubjectAccessReview\",\"spec\":"
	    "{\"resourceAttributes\":{\"verb\":\"create\",\"group\":\"batch\",\"resource\":"
	    "\"jobs\","
	    "\"subresource\":\"status\",\"namespace\":\"d\",\"name\":\"n\"}}}");
	assert_int_equal(mpijob_diag_count(diag, 0), 0);
	fake_answer(&fake, 201,
	    "{\"status\":{\"allowed\":false,\"reason\":\"no RBAC policy matched\"}}");
	assert_int_equal(mpijob_client_can(client, &access, diag), 0);
	assert_int_equal(mpijob_diag_at(diag, 0)->severity, MPIJOB_SEVERITY_INFO);
	assert_string_equal(mpijob_diag_at(diag, 0)->message,
	    "may not create jobs/status: no RBAC policy matched");
	access.subresource = access.group = access.namespace_ = access.name = NULL;
	fake_answer(&fake, 201, "{\"status\":{\"allowed\":false}}");
	assert_int_equal(mpijob_client_can(client, &access, diag), 0);
	assert_string_equal(mpijob_diag_at(diag, 1)->message, "may not create jobs");
	assert_string_equal(mpijob_text_data(&fake.last_body),
	    "{\"apiVersion\":\"authorization.k8s.io/"
	    "v1\",\"kind\":\"SelfSubjectAccessReview\",\"spec\":"
	    "{\"resourceAttributes\":{\"verb\":\"create\",\"resource\":\"jobs\"}}}");
	fake_answer(&fake, 201, "{\"status\":{}}");
	assert_int_equal(mpijob_client_can(client, &access, diag), MPIJOB_ERR_SYNTAX);
	fake_answer(&fake, 403, "");
	assert_int_equal(mpijob_client_can(client, &access, diag), MPIJOB_ERR_AUTH);
	access.verb = "";
	assert_int_equal(mpijob_client_can(client, &access, diag), MPIJOB_ERR_USAGE);
	finish(&fake, client, diag);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_l1_a_list_in_pages),
		cmocka_unit_test(test_l1_a_server_without_pages),
		cmocka_unit_test(test_l2_a_list_that_is_forgotten),
		cmocka_unit_test(test_lists_that_are_none),
		cmocka_unit_test(test_p3_types_of_patches),
		cmocka_unit_test(test_p4_apply),
		cmocka_unit_test(test_p3_the_field_manager_of_a_write),
		cmocka_unit_test(test_p5_field_validation),
		cmocka_unit_test(test_p7_deletes),
		cmocka_unit_test(test_p7_grace_and_preconditions),
		cmocka_unit_test(test_p6_p7_a_deletion_with_a_query),
		cmocka_unit_test(test_p7_queries_that_are_refused),
		cmocka_unit_test(test_r4_bodies_that_are_no_status),
		cmocka_unit_test(test_what_one_may_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
