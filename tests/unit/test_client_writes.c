/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same for every kind of write: versions, the place of the status, and writes that are
 * only tried. */
#include "../support/fake_cluster.h"
#include "../support/writes.h"

#include <setjmp.h>

#include <cmocka.h>

static mpijob_doc *parse(const char *text)
{
	mpijob_doc *doc = NULL;

	assert_int_equal(mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL), 0);
	return doc;
}

static void finish(struct fake *fake, mpijob_client *client)
{
	mpijob_client_free(client);
	assert_null(fake->exchanges);
	fake_release(fake);
}

#define STORED(version) "{\"metadata\":{\"name\":\"p\",\"resourceVersion\":\"" version "\"}}"
#define STALE                                                                           \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":" \
	"\"Conflict\",\"message\":"                                                     \
	"\"the object has been modified\",\"code\":409}"

/* A version is a text that goes back as it came; whether it is stale is the server's to say, and
 * nobody tries again. */
static void test_p1_versions_are_opaque(void **state)
{
	static const char *const versions[] = { STORED("007"), STORED("18446744073709551616"),
		STORED("a:b/c"), STORED("") };
	struct mpijob_target target = fake_pod("p");
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		mpijob_doc *got = NULL, *out = NULL;

		fake_answer(&fake, 200, versions[i]);
		fake_answer(&fake, 409, STALE);
		assert_int_equal(mpijob_client_get(client, &target, &got, NULL), 0);
		assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(got),
				     WRITE(UPDATE), &out, NULL),
		    MPIJOB_ERR_CONFLICT);
		assert_string_equal(mpijob_text_data(&fake.last_body), versions[i]);
		assert_string_equal(fake.log[2 * i + 1], "PUT /api/v1/namespaces/d/pods/p");
		assert_null(out);
		mpijob_doc_free(got);
	}
	assert_int_equal(fake.log_count, 8);
	finish(&fake, client);
}

static void test_p2_the_status_is_a_place_of_its_own(void **state)
{
	struct mpijob_target target = fake_pod("p");
	mpijob_doc *object =
	    parse("{\"metadata\":{\"name\":\"p\"},\"status\":{\"phase\":\"Running\"}}");
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	target.subresource = "status";
	fake_answer(&fake, 200, "{}");
	fake_answer(&fake, 200, "{}");
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object),
			     WRITE(UPDATE), NULL, NULL),
	    0);
	assert_int_equal(mpijob_client_write(client, &target, mpijob_doc_root(object),
			     WRITE(PATCH_MERGE), NULL, NULL),
	    0);
	assert_string_equal(fake.log[0], "PUT /api/v1/namespaces/d/pods/p/status");
	assert_string_equal(fake.log[1], "PATCH /api/v1/namespaces/d/pods/p/status");
	mpijob_doc_free(object);
	finish(&fake, client);
}

/* A deletion's is in its body too, since a server that gets one does not look at the query. */
static void test_p6_every_write_can_be_tried(void **state)
{
	static const char *const query[] = { "dryRun", "All" };
	struct mpijob_target all = fake_pod(NULL), one = fake_pod("p");
	mpijob_doc *object = parse(STORED("1"));
	const mpijob_node *root = mpijob_doc_root(object);
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	all.query = one.query = query;
	all.query_count = one.query_count = 2;
	for (int i = 0; i < 5; i++)
		fake_answer(&fake, 200, "{}");
	assert_int_equal(mpijob_client_write(client, &all, root, NULL, NULL, NULL), 0);
	assert_int_equal(mpijob_client_write(client, &one, root, WRITE(UPDATE), NULL, NULL), 0);
	assert_int_equal(mpijob_client_write(client, &one, root, WRITE(PATCH_MERGE), NULL, NULL),
	    0);
	assert_int_equal(mpijob_client_write(client, &one, root, WRITE(APPLY), NULL, NULL), 0);
	assert_int_equal(mpijob_client_delete(client, &one, NULL, NULL), 0);
	assert_non_null(strstr(mpijob_text_data(&fake.last_body), "\"dryRun\":[\"All\"]"));
	assert_int_equal(fake.log_count, 5);
	for (size_t i = 0; i < 4; i++)
		assert_non_null(strstr(fake.log[i], "?dryRun=All"));
	mpijob_doc_free(object);
	finish(&fake, client);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_p1_versions_are_opaque),
		cmocka_unit_test(test_p2_the_status_is_a_place_of_its_own),
		cmocka_unit_test(test_p6_every_write_can_be_tried) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
