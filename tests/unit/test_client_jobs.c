/* SPDX-License-Identifier: Apache-2.0 */
/* Typed calls for MPIJobs: what is sent, what becomes of answers that are lost, and where a refusal
 * stands in the file. */
#include "../support/fake_cluster.h"

#include "client/client.h"
#include "client/jobs.h"
#include "client/jobs_submit.h"

#include <setjmp.h>

#include <cmocka.h>

#define JOBS "/apis/kubeflow.org/v2beta1/mpijobs"

static const char text[] = "apiVersion: kubeflow.org/v2beta1\n"
			   "kind: MPIJob\n"
			   "metadata:\n"
			   "  name: pi\n"
			   "  labels: {team: a}\n"
			   "spec:\n"
			   "  slotsPerWorker: 2\n"
			   "  runPolicy: {cleanPodPolicy: Running}\n"
			   "  spice: salt\n"
			   "  mpiReplicaSpecs:\n"
			   "    Worker:\n"
			   "      replicas: 4\n"
			   "      template: {spec: {containers: [{name: w, image: i, resources: "
			   "{limits: {cpu: null}}}]}}\n"
			   "status:\n"
			   "  startTime: null\n";

static mpijob *read_job(const char *yaml)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob *job = NULL;

	options.source = "job.yaml";
	assert_int_equal(mpijob_parse(yaml, strlen(yaml), &options, &job, NULL), 0);
	return job;
}

static int submit(mpijob_client *client, const struct mpijob_submit_options *options, mpijob **out,
    mpijob_diag *diag)
{
	mpijob *job = read_job(text);
	int rc = mpijob_client_submit(client, job, options, out, diag);

	mpijob_free(job);
	return rc;
}

static void submit_sends_the_document(void **state)
{
	struct mpijob_submit_options options = MPIJOB_SUBMIT_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	mpijob *stored = NULL;

	(void)state;
	assert_int_equal(submit(client, NULL, &stored, diag), 0);
	assert_string_equal(fake.log[0],
	    "POST /apis/kubeflow.org/v2beta1/namespaces/default/mpijobs?fieldManager=mpijob"
	    "&fieldValidation=Strict");
	assert_null(strstr(mpijob_text_data(&fake.last_body), "status"));
	assert_non_null(strstr(mpijob_text_data(&fake.last_body), "\"spice\":\"salt\""));
	assert_null(strstr(mpijob_text_data(&fake.last_body), "\"namespace\""));
	assert_string_equal(mpijob_name(stored), "pi");
	assert_non_null(mpijob_uid(stored));
	assert_int_equal(submit(client, NULL, NULL, diag), MPIJOB_ERR_CONFLICT);
	options.namespace_ = "other";
	options.dry_run = 1;
	options.field_manager = "me";
	options.field_validation = "Warn";
	assert_int_equal(submit(client, &options, NULL, NULL), 0);
	assert_string_equal(fake.log[2],
	    "POST /apis/kubeflow.org/v2beta1/namespaces/other/mpijobs?fieldManager=me"
	    "&fieldValidation=Warn&dryRun=All");
	mpijob_free(stored);
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	fake_release(&fake);
}

/* The write is on its way, and will never be answered. */
static mpijob_client *hurried;

static int cancel_the_write(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	(void)fake;
	(void)path;
	if (strcmp(method, "GET") == 0)
		return 0;
	reply->open = 1;
	reply->status = 200;
	reply->body = "";
	mpijob_client_cancel(hurried);
	return 1;
}

static void a_write_that_is_cancelled_may_have_happened(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		mpijob_diag *diag = mpijob_diag_new();
		struct fake fake;
		mpijob_client *client = fake_client(&fake);
		int rc, unknown = 0;

		assert_int_equal(submit(client, NULL, NULL, NULL), 0);
		fake.decide = cancel_the_write;
		hurried = client;
		if (i == 0)
			rc = mpijob_client_suspend(client, "default", "pi", 1, diag);
		else if (i == 1)
			rc = mpijob_client_delete_job(client, "default", "pi", NULL, NULL, diag);
		else
			rc = submit(client, NULL, NULL, diag);
		assert_int_equal(rc, MPIJOB_ERR_CANCELLED);
		for (size_t j = 0; mpijob_diag_at(diag, j); j++)
			unknown += strcmp(mpijob_diag_at(diag, j)->id, "unknown-outcome") == 0;
		assert_int_equal(unknown, 1);
		mpijob_diag_free(diag);
		mpijob_client_free(client);
		fake_release(&fake);
	}
}

static void submit_refuses_before_sending(void **state)
{
	struct mpijob_submit_options options = MPIJOB_SUBMIT_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	mpijob *named = read_job(
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: pi, namespace: d}\n");
	mpijob *nameless = read_job(
	    "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {generateName: pi-}\n");

	(void)state;
	options.namespace_ = "e";
	assert_int_equal(mpijob_client_submit(client, named, &options, NULL, diag),
	    MPIJOB_ERR_SPEC);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "other-namespace");
	assert_int_equal(mpijob_diag_at(diag, 0)->line, 3);
	options.apply = 1;
	assert_int_equal(mpijob_client_submit(client, nameless, &options, NULL, diag),
	    MPIJOB_ERR_SPEC);
	assert_string_equal(mpijob_diag_at(diag, 1)->id, "missing");
	assert_int_equal(mpijob_client_submit(client, NULL, NULL, NULL, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(fake.log_count, 0);
	mpijob_free(named);
	mpijob_free(nameless);
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	fake_release(&fake);
}

static void expect_place(const mpijob_diag *diag, size_t at, const char *id, const char *field,
    int line, int column)
{
	const struct mpijob_finding *finding = mpijob_diag_at(diag, at);

	assert_non_null(finding);
	assert_string_equal(finding->id, id);
	if (field)
		assert_string_equal(finding->field, field);
	else
		assert_null(finding->field);
	assert_int_equal(finding->line, line);
	assert_int_equal(finding->column, column);
	if (line)
		assert_string_equal(finding->source, "job.yaml");
}

static int submit_scripted(int status, const char *body, const char *header, mpijob_diag *diag)
{
	struct fake_reply reply = { 0 };
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	int rc;

	reply.status = status;
	reply.body = body;
	reply.header = header;
	fake_script(&fake, reply);
	rc = submit(client, NULL, NULL, diag);
	mpijob_client_free(client);
	fake_release(&fake);
	return rc;
}

static void refusals_have_places(void **state)
{
	mpijob_diag *diag = mpijob_diag_new();
	const char *causes = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
			     "\"reason\":\"Invalid\",\"code\":422,\"message\":\"m\","
			     "\"details\":{\"causes\":["
			     "{\"reason\":\"FieldValueNotSupported\",\"field\":\"spec.runPolicy."
			     "cleanPodPolicy\",\"message\":\"use x\"},"
			     "{\"reason\":\"FieldValueInvalid\",\"field\":\"spec.mpiReplicaSpecs["
			     "Worker].replicas\",\"message\":\"too many\"},"
			     "{\"reason\":\"FieldValueRequired\",\"field\":\"spec.mpiReplicaSpecs."
			     "Worker.template.spec.containers[0].x.y\","
			     "\"message\":\"Required value\"},"
			     "{\"reason\":\"FieldValueInvalid\",\"field\":\"metadata.labels[a.b/"
			     "c]\",\"message\":\"bad\"},"
			     "{\"reason\":\"FieldManagerConflict\",\"field\":\".spec."
			     "mpiReplicaSpecs.Worker.replicas\",\"message\":\"mine\"},"
			     "{\"reason\":\"FieldValueInvalid\",\"field\":\"elsewhere\","
			     "\"message\":\"bad\"},{\"message\":\"no field\"}]}}";
	const char *strict = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
			     "\"reason\":\"BadRequest\",\"code\":400,\"message\":"
			     "\"MPIJob in version \\\"v2beta1\\\" cannot be handled as a MPIJob: "
			     "strict decoding error: unknown field "
			     "\\\"spec.spice\\\", unknown field \\\"spec.runPolicy.zzz\\\", "
			     "duplicate field \\\"metadata.name\\\"\"}";

	(void)state;
	assert_int_equal(submit_scripted(422, causes, NULL, diag), MPIJOB_ERR_REJECTED);
	assert_int_equal(mpijob_diag_count(diag, 0), 7);
	expect_place(diag, 0, "server-not-supported", "spec.runPolicy.cleanPodPolicy", 8, 31);
	expect_place(diag, 1, "server-invalid", "spec.mpiReplicaSpecs[Worker].replicas", 12, 17);
	expect_place(diag, 2, "server-required",
	    "spec.mpiReplicaSpecs.Worker.template.spec.containers[0].x.y", 13, 38);
	expect_place(diag, 3, "server-invalid", "metadata.labels[a.b/c]", 5, 11);
	expect_place(diag, 4, "server-conflict", "spec.mpiReplicaSpecs.Worker.replicas", 12, 17);
	expect_place(diag, 5, "server-invalid", "elsewhere", 0, 0);
	expect_place(diag, 6, "server-refused", NULL, 0, 0);
	mpijob_diag_clear(diag);

	assert_int_equal(submit_scripted(400, strict, NULL, diag), MPIJOB_ERR_REJECTED);
	assert_int_equal(mpijob_diag_count(diag, 0), 3);
	expect_place(diag, 0, "server-unknown-field", "spec.spice", 9, 10);
	expect_place(diag, 1, "server-unknown-field", "spec.runPolicy.zzz", 8, 14);
	expect_place(diag, 2, "server-duplicate", "metadata.name", 4, 9);
	mpijob_diag_clear(diag);

	assert_int_equal(submit_scripted(201,
			     "{\"apiVersion\":\"kubeflow.org/v2beta1\",\"kind\":\"MPIJob\"}",
			     "Warning: 299 - \"unknown field \\\"spec.spice\\\"\"", diag),
	    0);
	assert_int_equal(mpijob_diag_count(diag, 0), 1);
	expect_place(diag, 0, "server-warning", "spec.spice", 9, 10);
	mpijob_diag_free(diag);
}

/* A server that is not strict by nature is asked a second time, unless strictness was asked for. */
static int never_strict(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	(void)fake;
	(void)method;
	if (!strstr(path, "fieldValidation=Strict"))
		return 0;
	reply->status = 501;
	reply->body = "";
	return 1;
}

static void strict_where_possible(void **state)
{
	struct mpijob_submit_options options = MPIJOB_SUBMIT_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	struct fake fake;
	mpijob_client *client = fake_client(&fake);

	(void)state;
	fake.decide = never_strict;
	options.field_validation = "Strict";
	assert_int_equal(submit(client, &options, NULL, NULL), MPIJOB_ERR_UNSUPPORTED);
	assert_int_equal(submit(client, NULL, NULL, diag), 0);
	assert_int_equal(mpijob_diag_count(diag, 0), 1);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "not-strict");
	assert_int_equal(fake.log_count, 3);
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	fake_release(&fake);
}

/* --- a create whose answer is lost --- */

struct loss {
	int apply;          /* the server did it */
	const char *meddle; /* what somebody else changed meanwhile; NULL: nothing */
	int end_code, code;
};

#define GATEWAY                                                                         \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":" \
	"\"Timeout\",\"code\":504}"

static int lose(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	struct loss *loss = fake->user;

	if (strcmp(method, "POST") != 0) {
		if (loss->meddle && fake->objects)
			fake_patch(fake, fake->objects, loss->meddle);
		loss->meddle = NULL;
		return 0;
	}
	(void)path;
	reply->apply = loss->apply;
	if (loss->end_code == MPIJOB_ERR_SERVER) {
		reply->status = 504;
		reply->body = GATEWAY;
	} else {
		reply->end_code = loss->end_code;
	}
	return 1;
}

static void test_p10_lost_answers(void **state)
{
	struct loss losses[] = {
		{ 1, NULL, MPIJOB_ERR_IO, 0 },
		{ 1, NULL, MPIJOB_ERR_TIMEOUT, 0 },
		{ 1, NULL, MPIJOB_ERR_SERVER, 0 },
		{ 0, NULL, MPIJOB_ERR_SERVER, MPIJOB_ERR_SERVER },
		{ 1, "status: {conditions: []}", MPIJOB_ERR_IO, 0 },
		{ 1,
		    "metadata: {managedFields: [{manager: mpijob, operation: Update, fieldsV1: "
		    "{\"f:spec\": {}}},"
		    "{manager: other, fieldsV1: {\"f:status\": {}}}]}",
		    MPIJOB_ERR_IO, 0 },
		{ 0, NULL, MPIJOB_ERR_IO, MPIJOB_ERR_IO },
		{ 0, NULL, MPIJOB_ERR_TIMEOUT, MPIJOB_ERR_TIMEOUT },
		{ 1, "spec: {slotsPerWorker: 3}", MPIJOB_ERR_IO, MPIJOB_ERR_IO },
		{ 1, "metadata: {labels: {team: b}}", MPIJOB_ERR_IO, MPIJOB_ERR_IO },
		{ 1, "metadata: {deletionTimestamp: '2026-11-21T12:00:00Z'}", MPIJOB_ERR_IO,
		    MPIJOB_ERR_IO },
		{ 1,
		    "metadata: {managedFields: [{manager: other, operation: Update, fieldsV1: "
		    "{\"f:spec\": {}}}]}",
		    MPIJOB_ERR_IO, MPIJOB_ERR_IO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
		mpijob_diag *diag = mpijob_diag_new();
		struct fake fake;
		mpijob_client *client = fake_client(&fake);
		int wanted = losses[i].code, found = 0;
		mpijob *stored = NULL;

		fake.decide = lose;
		fake.user = &losses[i];
		assert_int_equal(submit(client, NULL, &stored, diag), wanted);
		assert_int_equal(fake_writes(&fake), 1);
		assert_int_equal(stored != NULL, wanted == 0);
		for (size_t j = 0; mpijob_diag_at(diag, j); j++)
			found += strcmp(mpijob_diag_at(diag, j)->id, "unknown-outcome") == 0;
		assert_int_equal(found, wanted != 0);
		if (wanted == 0)
			assert_int_equal(mpijob_diag_count(diag, 0), 0);
		mpijob_free(stored);
		mpijob_diag_free(diag);
		mpijob_client_free(client);
		fake_release(&fake);
	}
}

static void holds(void **state)
{
	static const struct {
		const char *stored, *sent;
		int holds;
	} rows[] = {
		{ "{a: 1, b: 2}", "{a: 1}", 1 },
		{ "{a: 1}", "{a: 1, b: null}", 1 },
		{ "{a: 1}", "{a: 1, b: {}}", 0 },
		{ "{a: [{x: 1, y: 2}]}", "{a: [{x: 1}]}", 1 },
		{ "{a: [1, 2]}", "{a: [1]}", 0 },
		{ "{a: [1, 2]}", "{a: [2, 1]}", 0 },
		{ "{a: '1'}", "{a: 1}", 0 },
		{ "{a: {b: x}}", "{a: {b: y}}", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mpijob_doc *stored = NULL, *sent = NULL;

		assert_int_equal(mpijob_doc_parse(rows[i].stored, strlen(rows[i].stored), NULL,
				     &stored, NULL),
		    0);
		assert_int_equal(mpijob_doc_parse(rows[i].sent, strlen(rows[i].sent), NULL, &sent,
				     NULL),
		    0);
		assert_int_equal(mpijob__client_jobs_holds(mpijob_doc_root(stored),
				     mpijob_doc_root(sent)),
		    rows[i].holds);
		mpijob_doc_free(stored);
		mpijob_doc_free(sent);
	}
}

/* --- changes --- */

#define ENDED                                                                                    \
	"status: {conditions: [{type: Created, status: 'True'}, {type: Failed, status: 'True', " \
	"message: boo}]}"

static void suspend_and_scale(void **state)
{
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	struct fake_object *pi = fake_put(&fake, JOBS, "d", text);
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	assert_int_equal(mpijob_client_suspend(client, "d", "pi", 1, diag), 0);
	assert_non_null(strstr(mpijob_text_data(&fake.last_body), "\"resourceVersion\""));
	assert_int_equal(fake_writes(&fake), 1);
	assert_int_equal(mpijob_client_suspend(client, "d", "pi", 1, diag), 0);
	assert_int_equal(fake_writes(&fake), 1);
	assert_int_equal(mpijob_client_suspend(client, "d", "pi", 0, diag), 0);
	assert_int_equal(fake_writes(&fake), 2);
	assert_non_null(
	    mpijob_node_find(mpijob_doc_root(pi->doc), "spec.runPolicy.cleanPodPolicy"));

	assert_int_equal(mpijob_client_scale(client, "d", "pi", 8, 3, diag), MPIJOB_ERR_CONFLICT);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "unexpected-replicas");
	assert_int_equal(mpijob_client_scale(client, "d", "pi", 8, 4, diag), 0);
	assert_string_equal(mpijob_node_text(mpijob_node_find(mpijob_doc_root(pi->doc),
				"spec.mpiReplicaSpecs.Worker.replicas")),
	    "8");
	assert_int_equal(mpijob_client_scale(client, "d", "pi", 0, -1, diag), 0);
	assert_int_equal(mpijob_client_scale(client, "d", "pi", -1, -1, diag), MPIJOB_ERR_USAGE);
	assert_int_equal(fake_writes(&fake), 4);

	fake_patch(&fake, pi, ENDED);
	assert_int_equal(mpijob_client_suspend(client, "d", "pi", 1, diag), MPIJOB_ERR_REJECTED);
	assert_int_equal(mpijob_client_scale(client, "d", "pi", 2, -1, diag), MPIJOB_ERR_REJECTED);
	assert_string_equal(mpijob_diag_at(diag, 2)->id, "job-ended");
	assert_int_equal(mpijob_client_suspend(client, "d", "tau", 1, diag), MPIJOB_ERR_NOT_FOUND);
	assert_int_equal(fake_writes(&fake), 4);

	fake_put(&fake, JOBS, "d", "{metadata: {name: alone}, spec: {mpiReplicaSpecs: {}}}");
	assert_int_equal(mpijob_client_scale(client, "d", "alone", 2, -1, NULL),
	    MPIJOB_ERR_REJECTED);
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	fake_release(&fake);
}

/* Somebody is faster, `left` times: with a change of the status, at last with its end. */
struct rush {
	int left, end;
};

static int rush(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	struct rush *rush = fake->user;

	(void)path;
	(void)reply;
	if (strcmp(method, "PATCH") != 0 || rush->left-- <= 0)
		return 0;
	fake_patch(fake, fake->objects,
	    rush->left == 0 && rush->end ? ENDED
	    : rush->left % 2             ? "status: {a: 1}"
					 : "status: {a: 2}");
	return 0;
}

static int suspend_in_a_rush(int left, int end)
{
	struct rush hurry = { left, end };
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	mpijob_diag *diag = mpijob_diag_new();
	int rc;

	fake_put(&fake, JOBS, "d", text);
	fake.decide = rush;
	fake.user = &hurry;
	rc = mpijob_client_suspend(client, "d", "pi", 1, diag);
	assert_int_equal(mpijob_diag_count(diag, 0), rc != 0);
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	fake_release(&fake);
	return rc;
}

static void test_r5_others_change_it_too(void **state)
{
	(void)state;
	assert_int_equal(suspend_in_a_rush(3, 0), 0);
	assert_int_equal(suspend_in_a_rush(3, 1), MPIJOB_ERR_REJECTED);
	assert_int_equal(suspend_in_a_rush(1000, 0), MPIJOB_ERR_CONFLICT);
}

/* The answers to patches are lost, `left` times. */
struct lost_change {
	int apply, left, end_code; /* SERVER: a 504 */
	int no_looks;              /* nor can the job be looked at afterwards */
	const char *meddle;        /* what somebody else changes before the next look */
	int lost;
};

static int lose_changes(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	struct lost_change *loss = fake->user;

	(void)path;
	if (strcmp(method, "GET") == 0) {
		if (loss->lost && loss->meddle)
			fake_patch(fake, fake->objects, loss->meddle);
		if (!loss->lost || !loss->no_looks)
			return 0;
		reply->status = 403;
		reply->body = "";
		return 1;
	}
	if (loss->left-- <= 0)
		return 0;
	loss->lost++;
	reply->apply = loss->apply;
	reply->status = loss->end_code == MPIJOB_ERR_SERVER ? 504 : 0;
	reply->body = GATEWAY;
	reply->end_code = reply->status ? 0 : loss->end_code;
	return 1;
}

static void test_p10_changes_are_looked_after(void **state)
{
	static const struct {
		struct lost_change loss;
		int code;
		size_t writes;
		const char *id; /* of a finding; NULL: there is none */
	} rows[] = {
		{ { 1, 1, MPIJOB_ERR_IO, 0, NULL, 0 }, 0, 1, NULL },
		{ { 1, 1, MPIJOB_ERR_SERVER, 0, NULL, 0 }, 0, 1, NULL },
		{ { 0, 1, MPIJOB_ERR_IO, 0, NULL, 0 }, 0, 2, NULL },
		{ { 0, 1, MPIJOB_ERR_TIMEOUT, 0, NULL, 0 }, 0, 2, NULL },
		{ { 0, 1, MPIJOB_ERR_SERVER, 0, NULL, 0 }, 0, 2, NULL },
		{ { 0, 2, MPIJOB_ERR_IO, 0, NULL, 0 }, MPIJOB_ERR_IO, 2, "unknown-outcome" },
		{ { 0, 1, MPIJOB_ERR_IO, 1, NULL, 0 }, MPIJOB_ERR_IO, 1, "unknown-outcome" },
		{ { 1, 1, MPIJOB_ERR_IO, 1, NULL, 0 }, MPIJOB_ERR_IO, 1, "unknown-outcome" },
		{ { 1, 1, MPIJOB_ERR_IO, 0, ENDED, 0 }, 0, 1, NULL },
		{ { 0, 1, MPIJOB_ERR_IO, 0, ENDED, 0 }, MPIJOB_ERR_REJECTED, 1, "job-ended" },
		/* Not sent: that is no lost answer. */
		{ { 0, 1, MPIJOB_ERR_UNREACHABLE, 0, NULL, 0 }, MPIJOB_ERR_UNREACHABLE, 1,
		    "request-failed" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct lost_change loss = rows[i / 2].loss;
		mpijob_diag *diag = mpijob_diag_new();
		struct fake fake;
		mpijob_client *client = fake_client(&fake);
		int found = 0, rc;

		fake_put(&fake, JOBS, "d", text);
		fake.decide = lose_changes;
		fake.user = &loss;
		rc = i % 2 ? mpijob_client_scale(client, "d", "pi", 8, 4, diag)
			   : mpijob_client_suspend(client, "d", "pi", 1, diag);
		assert_int_equal(rc, rows[i / 2].code);
		assert_int_equal(fake_writes(&fake), rows[i / 2].writes);
		for (size_t j = 0; mpijob_diag_at(diag, j); j++)
			found += rows[i / 2].id &&
				 strcmp(mpijob_diag_at(diag, j)->id, rows[i / 2].id) == 0;
		assert_int_equal(found, rows[i / 2].id != NULL);
		assert_true(rows[i / 2].id || mpijob_diag_count(diag, 0) == 0);
		mpijob_diag_free(diag);
		mpijob_client_free(client);
		fake_release(&fake);
	}
}

static void get_and_delete(void **state)
{
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	mpijob *job = NULL;

	(void)state;
	fake_put(&fake, JOBS, "d", text);
	assert_int_equal(mpijob_client_get_job(client, "d", "pi", &job, NULL), 0);
	assert_string_equal(mpijob_namespace(job), "d");
	assert_int_equal(mpijob_client_delete_job(client, "d", "pi", "another", NULL, NULL),
	    MPIJOB_ERR_CONFLICT);
	assert_int_equal(mpijob_client_delete_job(client, "d", "pi", mpijob_uid(job), NULL, NULL),
	    0);
	assert_non_null(strstr(mpijob_text_data(&fake.last_body), "\"Background\""));
	mpijob_free(job);
	job = NULL;
	assert_int_equal(mpijob_client_get_job(client, "d", "pi", &job, NULL),
	    MPIJOB_ERR_NOT_FOUND);
	assert_null(job);
	assert_int_equal(mpijob_client_get_job(client, NULL, "pi", &job, NULL), MPIJOB_ERR_USAGE);
	mpijob_client_free(client);
	fake_release(&fake);
}

/* The answer to a deletion is lost. */
struct lost_deletion {
	int apply, stays, no_looks;
	const char *uid; /* "": that of the job */
	int code;
};

static int lose_deletions(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	const struct lost_deletion *loss = fake->user;

	(void)path;
	if (strcmp(method, "DELETE") == 0) {
		reply->apply = loss->apply;
		reply->end_code = MPIJOB_ERR_IO;
		return 1;
	}
	if (!loss->no_looks)
		return 0;
	reply->status = 403;
	reply->body = "";
	return 1;
}

static void test_p10_deletions_are_looked_after(void **state)
{
	static const struct lost_deletion rows[] = {
		{ 1, 0, 0, NULL, 0 },
		{ 1, 0, 0, "", 0 },
		{ 0, 1, 0, NULL, 0 },
		{ 0, 0, 0, NULL, MPIJOB_ERR_IO },
		{ 0, 0, 0, "", MPIJOB_ERR_IO },
		{ 1, 0, 1, NULL, MPIJOB_ERR_IO },
		{ 1, 0, 0, "another", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lost_deletion loss = rows[i];
		mpijob_diag *diag = mpijob_diag_new();
		struct fake fake;
		mpijob_client *client = fake_client(&fake);
		struct fake_object *pi = fake_put(&fake, JOBS, "d", text);
		char *uid = strdup(mpijob_node_string(mpijob_doc_edit(pi->doc, "metadata.uid")));

		if (loss.stays) /* until somebody takes his finalizer away */
			fake_patch(&fake, pi,
			    "metadata: {deletionTimestamp: '2026-11-21T12:00:00Z'}");
		fake.decide = lose_deletions;
		fake.user = &loss;
		assert_int_equal(mpijob_client_delete_job(client, "d", "pi",
				     loss.uid && !*loss.uid ? uid : loss.uid, NULL, diag),
		    loss.code);
		assert_int_equal(fake_writes(&fake), 1);
		assert_int_equal(mpijob_diag_count(diag, 0), loss.code ? 2 : 0);
		if (loss.code)
			assert_string_equal(mpijob_diag_at(diag, 1)->id, "unknown-outcome");
		free(uid);
		mpijob_diag_free(diag);
		mpijob_client_free(client);
		fake_release(&fake);
	}
}

/* --- waiting --- */

/* The server here only does lists that are no streams. */
static int refuse_streams(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	(void)fake;
	(void)method;
	if (!strstr(path, "sendInitialEvents"))
		return 0;
	reply->status = 400;
	reply->body = "";
	return 1;
}

static int wait_for(const char *yaml, const char *condition, mpijob **out, mpijob_diag *diag)
{
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	int rc;

	fake.decide = refuse_streams;
	if (yaml)
		fake_put(&fake, JOBS, "d", yaml);
	rc = mpijob_client_wait_job(client, "d", "pi", condition, 0, out, diag);
	mpijob_client_free(client);
	fake_release(&fake);
	return rc;
}

static void wait_conditions(void **state)
{
	static const struct {
		const char *status, *condition;
		int code;
	} rows[] = {
		{ "status: {}", "Running", MPIJOB_ERR_TIMEOUT },
		{ "status: {conditions: [{type: Running, status: 'True'}]}", "Running", 0 },
		{ "status: {conditions: [{type: Running, status: 'False'}]}", "Running",
		    MPIJOB_ERR_TIMEOUT },
		{ "status: {conditions: [{type: Running, status: 'True'}]}", "Finished",
		    MPIJOB_ERR_TIMEOUT },
		{ ENDED, "Finished", 0 },
		{ ENDED, "Failed", 0 },
		{ ENDED, "Created", 0 },
		{ ENDED, "Succeeded", MPIJOB_ERR_SPEC },
		{ ENDED, "Running", MPIJOB_ERR_SPEC },
		{ ENDED, "Deleted", MPIJOB_ERR_TIMEOUT },
		{ "status: {conditions: [{type: Succeeded, status: 'True'}]}", "Finished", 0 },
		{ NULL, "Finished", MPIJOB_ERR_NOT_FOUND },
		{ NULL, "Deleted", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mpijob_diag *diag = mpijob_diag_new();
		char *yaml = NULL;
		mpijob *out = NULL;

		if (rows[i].status)
			yaml = fake_text("{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, "
					 "metadata: {name: pi}, %s}",
			    rows[i].status);
		assert_int_equal(wait_for(yaml, rows[i].condition, &out, diag), rows[i].code);
		assert_int_equal(out != NULL, rows[i].code == 0 && rows[i].status != NULL);
		if (rows[i].code == MPIJOB_ERR_SPEC)
			assert_non_null(strstr(mpijob_diag_at(diag, 0)->message, "boo"));
		mpijob_free(out);
		mpijob_diag_free(diag);
		free(yaml);
	}
}

/* When the watch begins, another job has taken the place of the first, told or not. */
struct turn {
	int step, forgotten;
};

static int replace(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	struct turn *turn = fake->user;

	if (refuse_streams(fake, method, path, reply))
		return 1;
	if (++turn->step != 2)
		return 0;
	fake_delete(fake, fake->objects);
	fake_put(fake, JOBS, "d", text);
	reply->status = 410;
	reply->body = "";
	return turn->forgotten;
}

/* Another job of that name is not the one that was waited for. */
static void wait_for_one_job(void **state)
{
	static const struct {
		const char *condition;
		int code;
	} rows[] = { { "Deleted", 0 }, { "Finished", MPIJOB_ERR_NOT_FOUND } };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct turn turn = { 0, i >= 2 };
		struct fake fake;
		mpijob_client *client = fake_client(&fake);
		mpijob_diag *diag = mpijob_diag_new();

		fake_put(&fake, JOBS, "d", text);
		fake.decide = replace;
		fake.user = &turn;
		assert_int_equal(mpijob_client_wait_job(client, "d", "pi", rows[i % 2].condition,
				     10000, NULL, diag),
		    rows[i % 2].code);
		mpijob_diag_free(diag);
		mpijob_client_free(client);
		fake_release(&fake);
	}
}

/* --- Events --- */

#define EVENT(name, about, times)                                                           \
	"{apiVersion: v1, kind: Event, metadata: {name: " name "}, involvedObject: {" about \
	"}, " times "}"

static int no_selectors(struct fake *fake, const char *method, const char *path,
    struct fake_reply *reply)
{
	(void)fake;
	(void)method;
	if (!strstr(path, "fieldSelector="))
		return 0;
	reply->status = 501;
	reply->body = "";
	return 1;
}

static void events_in_order(void **state)
{
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_doc *list = NULL;
	const mpijob_node *items;
	const char *wanted[] = { "b", "d", "c", "a" };

	(void)state;
	fake_put(&fake, "/api/v1/events", "d",
	    EVENT("a", "kind: MPIJob, name: pi", "lastTimestamp: '2026-11-21T12:00:09Z'"));
	fake_put(&fake, "/api/v1/events", "d",
	    EVENT("b", "kind: MPIJob, name: pi",
		"lastTimestamp: null, eventTime: '2026-11-21T12:00:01.000001Z'"));
	fake_put(&fake, "/api/v1/events", "d",
	    EVENT("c", "kind: MPIJob, name: pi",
		"eventTime: '2026-11-21T12:00:00Z', "
		"series: {count: 2, lastObservedTime: '2026-11-21T12:00:01.5Z'}"));
	fake_put(&fake, "/api/v1/events", "d",
	    EVENT("d", "kind: MPIJob, name: pi", "firstTimestamp: '2026-11-21T12:00:01.000002Z'"));
	fake_put(&fake, "/api/v1/events", "d",
	    EVENT("e", "kind: Pod, name: pi", "lastTimestamp: '2026-11-21T12:00:00Z'"));
	fake_put(&fake, "/api/v1/events", "d",
	    EVENT("f", "kind: MPIJob, name: tau", "lastTimestamp: '2026-11-21T12:00:00Z'"));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(mpijob_client_events(client, "d", "MPIJob", "pi", NULL, &list,
				     diag),
		    0);
		assert_int_equal(mpijob_diag_count(diag, 0), 0);
		items = mpijob_node_get(mpijob_doc_root(list), "items");
		assert_int_equal(mpijob_node_count(items), 4);
		for (size_t j = 0; j < 4; j++)
			assert_string_equal(mpijob_node_string(
						mpijob_node_find(mpijob_node_at(items, j),
						    "metadata.name")),
			    wanted[j]);
		mpijob_doc_free(list);
		list = NULL;
		fake.decide = no_selectors;
	}
	assert_non_null(strstr(fake.log[0],
	    "fieldSelector=involvedObject.kind%3DMPIJob%2CinvolvedObject.name%3Dpi"));
	assert_int_equal(mpijob_client_events(client, "d", NULL, NULL, NULL, &list, NULL), 0);
	assert_int_equal(mpijob_node_count(mpijob_node_get(mpijob_doc_root(list), "items")), 6);
	mpijob_doc_free(list);
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	fake_release(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(submit_sends_the_document),
		cmocka_unit_test(a_write_that_is_cancelled_may_have_happened),
		cmocka_unit_test(submit_refuses_before_sending),
		cmocka_unit_test(refusals_have_places),
		cmocka_unit_test(strict_where_possible),
		cmocka_unit_test(test_p10_lost_answers),
		cmocka_unit_test(test_p10_changes_are_looked_after),
		cmocka_unit_test(test_p10_deletions_are_looked_after),
		cmocka_unit_test(holds),
		cmocka_unit_test(suspend_and_scale),
		cmocka_unit_test(test_r5_others_change_it_too),
		cmocka_unit_test(get_and_delete),
		cmocka_unit_test(wait_conditions),
		cmocka_unit_test(wait_for_one_job),
		cmocka_unit_test(events_in_order),
	};

	return cmocka_run_group_tests_name("cluster_jobs", tests, NULL, NULL);
}
