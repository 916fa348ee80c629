/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes of which an answer leaves open whether they were done: a gateway's 5xx, at last or before
 * they were sent again. The job is looked at, and what is not to be known is said.
 */
#include "../support/fake_cluster.h"

#include "client/client.h"

#include <setjmp.h>

#include <cmocka.h>

#define JOBS "/apis/kubeflow.org/v2beta1/mpijobs"

#define STATUS(reason)                                                                   \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":" \
	"\"m\"" reason "}"

static const char text[] = "apiVersion: kubeflow.org/v2beta1\n"
			   "kind: MPIJob\n"
			   "metadata: {name: pi, namespace: d}\n"
			   "spec: {slotsPerWorker: 2, mpiReplicaSpecs: {Worker: {replicas: 4}}}\n";

/* What the first write is answered with. */
struct first {
	int status;
	const char *body, *header;
	int apply;
	const char *meddle; /* what somebody else changes behind it; NULL: nothing */
};

#define AGAIN "Retry-After: 0"

static int answer_first(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	struct first *first = fake->user;

	(void)path;
	if (strcmp(method, "GET") != 0 && first->status) {
		reply->status = first->status;
		reply->body = first->body;
		reply->header = first->header;
		reply->apply = first->apply;
		first->status = 0;
		return 1;
	}
	if (first->meddle && fake->objects)
		fake_patch(fake, fake->objects, first->meddle);
	first->meddle = NULL;
	return 0;
}

static int create(mpijob_client *client, mpijob_diag *diag)
{
	mpijob *job = NULL, *stored = NULL;
	int rc;

	assert_int_equal(mpijob_parse(text, strlen(text), NULL, &job, NULL), 0);
	rc = mpijob_client_submit(client, job, NULL, &stored, diag);
	assert_int_equal(stored != NULL, rc == 0);
	mpijob_free(job);
	mpijob_free(stored);
	return rc;
}

static int suspend(mpijob_client *client, mpijob_diag *diag)
{
	return mpijob_client_suspend(client, "d", "pi", 1, diag);
}

static int scale(mpijob_client *client, mpijob_diag *diag)
{
	return mpijob_client_scale(client, "d", "pi", 8, 4, diag);
}

static int delete_it(mpijob_client *client, mpijob_diag *diag)
{
	return mpijob_client_delete_job(client, "d", "pi", NULL, NULL, diag);
}

/* One write of a job that is there before or not; its code, how many writes and looks there must
 * be, and what is said. */
static void expect(int (*act)(mpijob_client *client, mpijob_diag *diag), int there,
    struct first first, int code, size_t writes, size_t looks, int unknown)
{
	mpijob_diag *diag = mpijob_diag_new();
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	int said = 0;

	if (there)
		fake_put(&fake, JOBS, "d", text);
	fake.decide = answer_first;
	fake.user = &first;
	assert_int_equal(act(client, diag), code);
	assert_int_equal(fake_writes(&fake), writes);
	assert_int_equal(fake_count(&fake, "GET "), looks);
	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		said += strcmp(mpijob_diag_at(diag, i)->id, "unknown-outcome") == 0;
	assert_int_equal(said, unknown);
	if (code == 0)
		assert_int_equal(mpijob_diag_count(diag, 0), 0);
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	fake_release(&fake);
}

static void test_p10_a_create_that_was_sent_again(void **state)
{
	const char *other = "spec: {slotsPerWorker: 3}";

	(void)state;
	expect(create, 0, (struct first){ 503, "no backend", AGAIN, 1, NULL }, 0, 2, 1, 0);
	expect(create, 0, (struct first){ 502, STATUS(""), AGAIN, 1, NULL }, 0, 2, 1, 0);
	expect(create, 0, (struct first){ 503, "no backend", AGAIN, 0, NULL }, 0, 2, 0, 0);
	expect(create, 0, (struct first){ 503, "no backend", AGAIN, 1, other }, MPIJOB_ERR_CONFLICT,
	    2, 1, 1);
	/* Who asks for a pause has done nothing: what exists then is somebody else's. */
	expect(create, 1, (struct first){ 429, "later", AGAIN, 0, NULL }, MPIJOB_ERR_CONFLICT, 2, 0,
	    0);
}

static void test_p10_a_gateway_answers_a_create(void **state)
{
	(void)state;
	expect(create, 0, (struct first){ 502, "<html>bad gateway", NULL, 1, NULL }, 0, 1, 1, 0);
	expect(create, 0, (struct first){ 502, "<html>bad gateway", NULL, 0, NULL },
	    MPIJOB_ERR_SERVER, 1, 1, 1);
	expect(create, 0, (struct first){ 503, "", NULL, 1, NULL }, 0, 1, 1, 0);
	expect(create, 0, (struct first){ 500, STATUS(""), NULL, 1, NULL }, 0, 1, 1, 0);
	expect(create, 0, (struct first){ 504, STATUS(",\"reason\":\"Timeout\""), NULL, 0, NULL },
	    MPIJOB_ERR_SERVER, 1, 1, 1);
	/* The server itself says why it did not. */
	expect(create, 0,
	    (struct first){ 500, STATUS(",\"reason\":\"InternalError\""), NULL, 0, NULL },
	    MPIJOB_ERR_SERVER, 1, 0, 0);
	expect(create, 0, (struct first){ 429, "later", NULL, 0, NULL }, MPIJOB_ERR_SERVER, 1, 0,
	    0);
}

/* What a look finds, with the time that it is for the server. */
static void expect_of_age(const char *created, int conflict, int code)
{
	char *job = fake_text(
	    "{\"apiVersion\":\"kubeflow.org/"
	    "v2beta1\",\"kind\":\"MPIJob\",\"metadata\":{\"name\":\"pi\","
	    "\"namespace\":\"d\",\"creationTimestamp\":\"%s\"},\"spec\":{\"slotsPerWorker\":2,"
	    "\"mpiReplicaSpecs\":{\"Worker\":{\"replicas\":4}}}}",
	    created);
	mpijob_diag *diag = mpijob_diag_new();
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	if (conflict) {
		fake_script(&fake,
		    (struct fake_reply){ .status = 503, .body = "no backend", .header = AGAIN });
		fake_script(&fake, (struct fake_reply){ .status = 409,
				       .body = STATUS(",\"reason\":\"AlreadyExists\"") });
	} else {
		fake_script(&fake, (struct fake_reply){ .end_code = MPIJOB_ERR_IO });
	}
	fake_script(&fake, (struct fake_reply){ .status = 200,
			       .body = job,
			       .header = "Date: Sat, 21 Nov 2026 18:37:20 GMT" });
	assert_int_equal(create(client, diag), code);
	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		assert_string_not_equal(mpijob_diag_at(diag, i)->id, "unknown-outcome");
	if (code)
		assert_string_equal(mpijob_diag_at(diag, mpijob_diag_count(diag, 0) - 1)->reason,
		    "AlreadyExists");
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	fake_release(&fake);
	free(job);
}

/* The same file was sent yesterday: that job is none of ours, and ours was not made. */
static void test_p10_the_same_job_of_another_time(void **state)
{
	(void)state;
	for (int conflict = 0; conflict < 2; conflict++) {
		expect_of_age("2026-11-21T18:37:20Z", conflict, 0);
		expect_of_age("2026-11-21T18:37:18Z", conflict, 0);
		expect_of_age("2026-11-21T18:37:10Z", conflict, MPIJOB_ERR_CONFLICT);
		expect_of_age("2026-11-20T18:37:20Z", conflict, MPIJOB_ERR_CONFLICT);
		expect_of_age("yesterday", conflict, 0);
	}
}

/* A change is looked at before and after; one that was done is not done again. */
static void test_p10_changes(void **state)
{
	static int (*const changes[])(mpijob_client * client, mpijob_diag * diag) = { suspend,
		scale };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		expect(changes[i], 1, (struct first){ 503, "no backend", AGAIN, 1, NULL }, 0, 2, 2,
		    0);
		expect(changes[i], 1, (struct first){ 503, "no backend", AGAIN, 0, NULL }, 0, 2, 1,
		    0);
		expect(changes[i], 1, (struct first){ 502, "<html>", NULL, 1, NULL }, 0, 1, 2, 0);
		expect(changes[i], 1, (struct first){ 502, "<html>", NULL, 0, NULL }, 0, 2, 2, 0);
	}
}

static void test_p10_deletions(void **state)
{
	(void)state;
	expect(delete_it, 1, (struct first){ 503, "no backend", AGAIN, 1, NULL }, 0, 2, 1, 0);
	expect(delete_it, 1, (struct first){ 502, "<html>", NULL, 1, NULL }, 0, 1, 1, 0);
	expect(delete_it, 1, (struct first){ 502, "<html>", NULL, 0, NULL }, MPIJOB_ERR_SERVER, 1,
	    1, 1);
	expect(delete_it, 0, (struct first){ 429, "later", AGAIN, 0, NULL }, MPIJOB_ERR_NOT_FOUND,
	    2, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_p10_a_create_that_was_sent_again),
		cmocka_unit_test(test_p10_a_gateway_answers_a_create),
		cmocka_unit_test(test_p10_the_same_job_of_another_time),
		cmocka_unit_test(test_p10_changes),
		cmocka_unit_test(test_p10_deletions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
