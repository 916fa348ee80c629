/* SPDX-License-Identifier: Apache-2.0 */
/* Started calls: many at a time, each told of once, given up at any point; what they do is what
 * calls made at once do.
 */
#include "../support/fake_cluster.h"
#include "../support/writes.h"

#include "client/client.h"

#include <mpijob/tasks.h>

#include <setjmp.h>

#include <cmocka.h>

static const char text[] = "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata: {name: pi}\n"
			   "spec: {mpiReplicaSpecs: {Worker: {replicas: 2}}}\n";

static mpijob *read_job(void)
{
	mpijob *job = NULL;

	assert_int_equal(mpijob_parse(text, strlen(text), NULL, &job, NULL), 0);
	return job;
}

struct told {
	int count, code;
	mpijob *job;
	mpijob_doc *doc;
};

static void when_done(void *user, int code, mpijob *job, mpijob_doc *doc)
{
	struct told *told = user;

	told->count++;
	told->code = code;
	told->job = job;
	told->doc = doc;
}

static struct mpijob_task_callbacks to(struct told *told)
{
	struct mpijob_task_callbacks callbacks = MPIJOB_TASK_CALLBACKS_INIT;

	memset(told, 0, sizeof(*told));
	told->code = 99;
	callbacks.done = when_done;
	callbacks.user = told;
	return callbacks;
}

static void forget(struct told *told)
{
	mpijob_free(told->job);
	mpijob_doc_free(told->doc);
	memset(told, 0, sizeof(*told));
}

static void poll_until(mpijob_client *client, const int *count)
{
	for (int i = 0; i < 100 && !*count; i++)
		assert_int_equal(mpijob_client_poll(client, 0), 0);
	assert_int_equal(*count, 1);
}

static void submit(mpijob_client *client)
{
	struct told told;
	struct mpijob_task_callbacks callbacks = to(&told);
	mpijob *job = read_job();

	assert_int_equal(mpijob_client_submit_start(client, job, NULL, &callbacks, NULL, NULL), 0);
	assert_int_equal(told.count, 0);
	poll_until(client, &told.count);
	assert_int_equal(told.code, 0);
	assert_string_equal(mpijob_name(told.job), "pi");
	mpijob_free(job);
	forget(&told);
}

static void one_after_the_other(void **state)
{
	struct fake fake;
	struct told told;
	struct mpijob_task_callbacks callbacks = to(&told);
	mpijob_client *client = fake_client(&fake);
	mpijob_diag *diag = mpijob_diag_new();

	(void)state;
	submit(client);
	assert_int_equal(mpijob_client_scale_start(client, "default", "pi", 5, 2, &callbacks, NULL,
			     diag),
	    0);
	poll_until(client, &told.count);
	assert_int_equal(told.code, 0);
	assert_null(told.job);
	callbacks = to(&told);
	assert_int_equal(mpijob_client_scale_start(client, "default", "pi", 6, 2, &callbacks, NULL,
			     diag),
	    0);
	poll_until(client, &told.count);
	assert_int_equal(told.code, MPIJOB_ERR_CONFLICT);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "unexpected-replicas");
	callbacks = to(&told);
	assert_int_equal(mpijob_client_suspend_start(client, "default", "pi", 1, &callbacks, NULL,
			     diag),
	    0);
	poll_until(client, &told.count);
	assert_int_equal(told.code, 0);
	callbacks = to(&told);
	assert_int_equal(mpijob_client_get_job_start(client, "default", "pi", &callbacks, NULL,
			     diag),
	    0);
	poll_until(client, &told.count);
	assert_non_null(
	    mpijob_node_find(mpijob_doc_root(mpijob_document(told.job)), "spec.runPolicy.suspend"));
	forget(&told);
	callbacks = to(&told);
	assert_int_equal(mpijob_client_delete_job_start(client, "default", "pi", NULL, NULL,
			     &callbacks, NULL, diag),
	    0);
	poll_until(client, &told.count);
	assert_int_equal(told.code, 0);
	callbacks = to(&told);
	assert_int_equal(mpijob_client_get_job_start(client, "default", "pi", &callbacks, NULL,
			     diag),
	    0);
	poll_until(client, &told.count);
	assert_int_equal(told.code, MPIJOB_ERR_NOT_FOUND);
	assert_null(told.job);
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	fake_release(&fake);
}

static void many_at_a_time(void **state)
{
	static struct told told[32];
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct mpijob_task_callbacks callbacks;
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	char kind[] = "MPIJob", namespace_[] = "default";
	mpijob *at_once = NULL;

	(void)state;
	submit(client);
	target.api_version = "kubeflow.org/v2beta1";
	target.kind = kind;
	target.namespace_ = namespace_;
	for (size_t i = 0; i < 32; i++) {
		callbacks = to(&told[i]);
		if (i % 2)
			assert_int_equal(mpijob_client_list_start(client, &target, 0, &callbacks,
					     NULL, NULL),
			    0);
		else
			assert_int_equal(mpijob_client_get_job_start(client, "default", "pi",
					     &callbacks, NULL, NULL),
			    0);
	}
	/* What was given is not looked at any more. */
	memset(kind, 'x', sizeof(kind) - 1);
	memset(namespace_, 'x', sizeof(namespace_) - 1);
	/* They go on while something is waited for. */
	assert_int_equal(mpijob_client_get_job(client, "default", "pi", &at_once, NULL), 0);
	mpijob_free(at_once);
	for (size_t i = 0; i < 32; i++) {
		poll_until(client, &told[i].count);
		assert_int_equal(told[i].code, 0);
		if (i % 2)
			assert_int_equal(mpijob_node_count(
					     mpijob_node_get(mpijob_doc_root(told[i].doc),
						 "items")),
			    1);
		else
			assert_string_equal(mpijob_name(told[i].job), "pi");
		forget(&told[i]);
	}
	mpijob_client_free(client);
	fake_release(&fake);
}

static void given_up(void **state)
{
	struct fake fake;
	struct told told;
	struct mpijob_task_callbacks callbacks = to(&told);
	mpijob_client *client = fake_client(&fake);
	mpijob *job = read_job();
	mpijob_task *tasks[4] = { NULL };

	(void)state;
	mpijob_task_cancel(NULL);
	assert_int_equal(mpijob_client_submit_start(client, job, NULL, &callbacks, &tasks[0], NULL),
	    0);
	assert_int_equal(mpijob_client_wait_job_start(client, "default", "pi", "Finished", -1,
			     &callbacks, &tasks[1], NULL),
	    0);
	assert_int_equal(mpijob_client_events_start(client, "default", NULL, NULL, NULL, &callbacks,
			     &tasks[2], NULL),
	    0);
	for (size_t i = 0; i < 3; i++)
		mpijob_task_cancel(tasks[i]);
	assert_int_equal(mpijob_client_poll(client, 0), 0);
	assert_int_equal(told.count, 0);
	assert_null(mpijob__base_list_first(&client->tasks));
	assert_null(mpijob__base_list_first(&client->watches));
	/* Those that are left go with the client. */
	assert_int_equal(mpijob_client_wait_job_start(client, "default", "pi", "Running", 60000,
			     &callbacks, NULL, NULL),
	    0);
	assert_int_equal(mpijob_client_poll(client, 0), 0);
	assert_int_equal(mpijob_client_submit_start(client, job, NULL, &callbacks, NULL, NULL), 0);
	assert_int_equal(mpijob_client_events_start(client, "default", NULL, NULL, NULL, &callbacks,
			     NULL, NULL),
	    0);
	mpijob_client_free(client);
	mpijob_free(job);
	fake_release(&fake);
}

struct chain {
	mpijob_client *client;
	struct told told;
	int begun;
	mpijob_task *unattended; /* started without callbacks */
};

/* From inside of a callback calls can be started, not made at once. */
static void start_again(void *user, int code, mpijob *job, mpijob_doc *doc)
{
	struct chain *chain = user;
	struct mpijob_task_callbacks callbacks = to(&chain->told);
	mpijob_task *task = NULL;
	mpijob *at_once = NULL;

	assert_int_equal(code, MPIJOB_ERR_NOT_FOUND);
	assert_null(job);
	assert_null(doc);
	chain->begun = 1;
	assert_int_equal(mpijob_client_get_job(chain->client, "default", "pi", &at_once, NULL),
	    MPIJOB_ERR_USAGE);
	assert_null(at_once);
	assert_int_equal(mpijob_client_get_job_start(chain->client, "default", "pi", NULL, &task,
			     NULL),
	    MPIJOB_ERR_USAGE);
	assert_null(task);
	assert_int_equal(mpijob_task_wait(chain->unattended, NULL, NULL), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_get_job_start(chain->client, "default", "pi", &callbacks,
			     NULL, NULL),
	    0);
}

static void from_callbacks(void **state)
{
	struct fake fake;
	struct chain chain = { 0 };
	struct mpijob_task_callbacks callbacks = MPIJOB_TASK_CALLBACKS_INIT;
	mpijob_client *client = chain.client = fake_client(&fake);

	(void)state;
	callbacks.done = start_again;
	callbacks.user = &chain;
	assert_int_equal(mpijob_client_get_job_start(client, "default", "pi", &callbacks, NULL,
			     NULL),
	    0);
	assert_int_equal(mpijob_client_get_job_start(client, "default", "pi", NULL,
			     &chain.unattended, NULL),
	    0);
	poll_until(client, &chain.begun);
	poll_until(client, &chain.told.count);
	assert_int_equal(chain.told.code, MPIJOB_ERR_NOT_FOUND);
	assert_int_equal(mpijob_task_wait(chain.unattended, NULL, NULL), MPIJOB_ERR_NOT_FOUND);
	assert_int_equal(fake.log_count, 3);
	mpijob_client_free(client);
	fake_release(&fake);
}

/* ---- without callbacks ---- */

static mpijob_task *get_job(mpijob_client *client, const char *name)
{
	mpijob_task *task = NULL;

	assert_int_equal(mpijob_client_get_job_start(client, "default", name, NULL, &task, NULL),
	    0);
	assert_non_null(task);
	return task;
}

static void a_result_is_kept_until_the_wait(void **state)
{
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	mpijob_task *early, *late, *failed;
	mpijob *job = NULL, *unchanged = NULL;
	mpijob_doc *doc = NULL;
	size_t sent;

	(void)state;
	submit(client);
	early = get_job(client, "pi");
	late = get_job(client, "pi");
	failed = get_job(client, "none");
	assert_int_equal(mpijob_task_wait(late, &job, &doc), 0);
	assert_string_equal(mpijob_name(job), "pi");
	assert_null(doc);
	mpijob_free(job);
	/* The other two have ended in the same polls, or end in the next ones. */
	for (int i = 0; i < 10; i++)
		assert_int_equal(mpijob_client_poll(client, 0), 0);
	sent = fake.log_count;
	assert_int_equal(mpijob_task_wait(early, &job, NULL), 0);
	assert_string_equal(mpijob_name(job), "pi");
	mpijob_free(job);
	assert_int_equal(mpijob_task_wait(failed, &unchanged, &doc), MPIJOB_ERR_NOT_FOUND);
	assert_null(unchanged);
	assert_int_equal(fake.log_count, sent);
	/* Outputs that nobody takes are freed. */
	assert_int_equal(mpijob_task_wait(get_job(client, "pi"), NULL, NULL), 0);
	assert_null(mpijob__base_list_first(&client->tasks));
	mpijob_client_free(client);
	fake_release(&fake);
}

static void results_that_nobody_waits_for(void **state)
{
	struct told told;
	struct mpijob_task_callbacks callbacks = to(&told);
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	mpijob_task *ended, *running, *with_callbacks = NULL;

	(void)state;
	submit(client);
	ended = get_job(client, "pi");
	(void)get_job(client, "pi");
	for (int i = 0; i < 10; i++)
		assert_int_equal(mpijob_client_poll(client, 0), 0);
	running = get_job(client, "pi");
	mpijob_task_cancel(ended);
	mpijob_task_cancel(running);
	assert_int_equal(mpijob_client_get_job_start(client, "default", "pi", &callbacks,
			     &with_callbacks, NULL),
	    0);
	assert_int_equal(mpijob_task_wait(with_callbacks, NULL, NULL), MPIJOB_ERR_USAGE);
	poll_until(client, &told.count);
	forget(&told);
	assert_int_equal(mpijob_task_wait(NULL, NULL, NULL), MPIJOB_ERR_USAGE);
	(void)get_job(client, "pi");
	assert_non_null(mpijob__base_list_first(&client->tasks));
	mpijob_client_free(client); /* frees one that has ended, and one that runs */
	fake_release(&fake);
}

static void a_cancel_is_for_the_wait(void **state)
{
	struct told told;
	struct mpijob_task_callbacks callbacks = to(&told);
	struct fake fake;
	mpijob_client *client = fake_client(&fake);
	mpijob_task *cancelled, *change = NULL, *none = NULL;
	mpijob_diag *diag = mpijob_diag_new();
	size_t sent;

	(void)state;
	submit(client);
	/* Before the start: nothing is sent. */
	sent = fake.log_count;
	mpijob_client_cancel(client);
	assert_int_equal(mpijob_client_suspend_start(client, "default", "pi", 1, NULL, &none, NULL),
	    MPIJOB_ERR_CANCELLED);
	assert_null(none);
	assert_int_equal(fake.log_count, sent);
	/* Between start and wait: neither the request of another task nor a callback takes it. */
	assert_int_equal(mpijob_client_suspend_start(client, "default", "pi", 1, NULL, &change,
			     diag),
	    0);
	assert_int_equal(mpijob_client_get_job_start(client, "default", "pi", &callbacks, NULL,
			     NULL),
	    0);
	cancelled = get_job(client, "pi");
	mpijob_client_cancel(client);
	assert_int_equal(mpijob_task_wait(cancelled, NULL, NULL), MPIJOB_ERR_CANCELLED);
	assert_int_equal(mpijob_task_wait(change, NULL, NULL), 0);
	assert_int_equal(mpijob_diag_count(diag, 0), 0);
	poll_until(client, &told.count);
	assert_int_equal(told.code, 0);
	forget(&told);
	/* It remains when the task has ended already. */
	cancelled = get_job(client, "pi");
	for (int i = 0; i < 10; i++)
		assert_int_equal(mpijob_client_poll(client, 0), 0);
	mpijob_client_cancel(client);
	assert_int_equal(mpijob_task_wait(cancelled, NULL, NULL), 0);
	assert_int_equal(mpijob_client_suspend(client, "default", "pi", 0, NULL),
	    MPIJOB_ERR_CANCELLED);
	assert_int_equal(mpijob_client_suspend(client, "default", "pi", 0, NULL), 0);
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	fake_release(&fake);
}

static int is_named(void *user, const mpijob_node *object)
{
	return object &&
	       strcmp(mpijob_node_string(mpijob_node_find(object, "metadata.name")), user) == 0;
}

static void any_object(void **state)
{
	struct fake_reply allowed = { .status = 201, .body = "{\"status\":{\"allowed\":true}}" };
	struct fake_reply denied = { .status = 201,
		.body = "{\"status\":{\"allowed\":false,\"reason\":\"why\"}}" };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct mpijob_access access = MPIJOB_ACCESS_INIT;
	struct fake fake;
	struct told told;
	struct mpijob_task_callbacks callbacks = to(&told);
	mpijob_client *client = fake_client(&fake);
	mpijob_diag *diag = mpijob_diag_new();
	char name[] = "pi", other[] = "other";
	mpijob_doc *patch = NULL;

	(void)state;
	submit(client);
	target.api_version = "kubeflow.org/v2beta1";
	target.kind = "MPIJob";
	target.namespace_ = "default";
	target.name = "pi";
	assert_int_equal(mpijob_client_get_start(client, &target, &callbacks, NULL, diag), 0);
	poll_until(client, &told.count);
	assert_int_equal(told.code, 0);
	assert_int_equal(is_named(name, mpijob_doc_root(told.doc)), 1);
	forget(&told);
	callbacks = to(&told);
	assert_int_equal(mpijob_client_wait_start(client, &target, -1, is_named, name, &callbacks,
			     NULL, diag),
	    0);
	poll_until(client, &told.count);
	assert_int_equal(told.code, 0);
	assert_non_null(told.doc);
	forget(&told);
	/* One look, which does not content. */
	callbacks = to(&told);
	assert_int_equal(mpijob_client_wait_start(client, &target, 0, is_named, other, &callbacks,
			     NULL, diag),
	    0);
	poll_until(client, &told.count);
	assert_int_equal(told.code, MPIJOB_ERR_TIMEOUT);
	assert_string_equal(mpijob_diag_at(diag, 0)->id, "wait-failed");
	assert_null(mpijob__base_list_first(&client->watches));
	/* A patch, and a deletion. */
	assert_int_equal(mpijob_doc_parse("{\"x\":1}", 7, NULL, &patch, NULL), 0);
	callbacks = to(&told);
	assert_int_equal(mpijob_client_write_start(client, &target, mpijob_doc_root(patch),
			     WRITE(PATCH_MERGE), &callbacks, NULL, diag),
	    0);
	mpijob_doc_free(patch);
	poll_until(client, &told.count);
	assert_int_equal(told.code, 0);
	assert_non_null(mpijob_node_get(mpijob_doc_root(told.doc), "x"));
	forget(&told);
	callbacks = to(&told);
	assert_int_equal(mpijob_client_delete_start(client, &target, DELETION("other", NULL),
			     &callbacks, NULL, NULL),
	    0);
	poll_until(client, &told.count);
	assert_int_equal(told.code, MPIJOB_ERR_CONFLICT);
	callbacks = to(&told);
	assert_int_equal(mpijob_client_delete_start(client, &target, NULL, &callbacks, NULL, NULL),
	    0);
	poll_until(client, &told.count);
	assert_int_equal(told.code, 0);
	assert_null(told.doc);
	access.verb = "create";
	access.resource = "jobs";
	fake_script(&fake, allowed);
	fake_script(&fake, denied);
	for (int expected = 1; expected >= 0; expected--) {
		callbacks = to(&told);
		assert_int_equal(mpijob_client_can_start(client, &access, &callbacks, NULL, diag),
		    0);
		poll_until(client, &told.count);
		assert_int_equal(told.code, expected);
		assert_null(told.doc);
	}
	assert_string_equal(mpijob_diag_at(diag, 1)->id, "access-denied");
	mpijob_diag_free(diag);
	mpijob_client_free(client);
	fake_release(&fake);
}

static void wrong_calls(void **state)
{
	struct fake fake;
	struct told told;
	struct mpijob_task_callbacks callbacks = to(&told), none = MPIJOB_TASK_CALLBACKS_INIT;
	struct mpijob_access access = MPIJOB_ACCESS_INIT;
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_client *client = fake_client(&fake);
	mpijob *job = read_job();

	(void)state;
	assert_int_equal(mpijob_client_submit_start(client, NULL, NULL, &callbacks, NULL, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_submit_start(client, job, NULL, &none, NULL, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_submit_start(client, job, NULL, NULL, NULL, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_get_start(client, &target, &callbacks, NULL, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_list_start(client, &target, 0, &callbacks, NULL, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_can_start(client, &access, &callbacks, NULL, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_scale_start(client, "d", "pi", -1, -1, &callbacks, NULL,
			     NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_wait_job_start(client, "d", "pi", NULL, 0, &callbacks, NULL,
			     NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_client_events_start(client, NULL, NULL, NULL, NULL, &callbacks,
			     NULL, NULL),
	    MPIJOB_ERR_USAGE);
	assert_int_equal(told.count, 0);
	assert_null(mpijob__base_list_first(&client->tasks));
	assert_int_equal(fake.log_count, 0);
	mpijob_free(job);
	mpijob_client_free(client);
	fake_release(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(many_at_a_time),
		cmocka_unit_test(given_up),
		cmocka_unit_test(from_callbacks),
		cmocka_unit_test(a_result_is_kept_until_the_wait),
		cmocka_unit_test(results_that_nobody_waits_for),
		cmocka_unit_test(a_cancel_is_for_the_wait),
		cmocka_unit_test(any_object),
		cmocka_unit_test(wrong_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
