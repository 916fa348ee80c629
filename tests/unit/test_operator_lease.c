/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leader election over a scripted server, with a clock that a test moves: who leads when, what is
 * sent for it, and that two never lead at once whatever the server does.
 */
#include "../support/fake_cluster.h"

#include "operator/lease.h"

#include "client/client.h"

#include <setjmp.h>

#include <cmocka.h>
#include <unistd.h>

#define LEASES "/apis/coordination.k8s.io/v1/leases"
#define PATH   "/apis/coordination.k8s.io/v1/namespaces/ops/leases/boss"
#define FOREIGN                                                                                   \
	"apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata: {name: boss, labels: {kept: " \
	"'yes'}}\n"                                                                               \
	"spec: {holderIdentity: %s, leaseDurationSeconds: %d, leaseTransitions: 4, "              \
	"acquireTime: '2001-01-01T00:00:00.000000Z', renewTime: '2001-01-01T00:00:00.%06dZ'}\n"

struct fixture {
	struct fake fake;
	mpijob_client *client;
	mpijob_lease *lease;
	mpijob_text told; /* "+" leading began, "-" it ended, then the holder */
	int logged;
};

static int64_t clock_now;

static int64_t clock_ms(void)
{
	return clock_now;
}

static void on_changed(void *user, int leading, const char *holder)
{
	struct fixture *fixture = user;

	mpijob__base_text_printf(&fixture->told, "%s%s ", leading ? "+" : "-", holder);
}

static void on_log(void *user, const struct mpijob_finding *finding)
{
	struct fixture *fixture = user;

	assert_string_equal(finding->id, "lease-failed");
	assert_non_null(finding->message);
	fixture->logged++;
}

static struct mpijob_lease_options options_of(struct fixture *fixture, const char *identity)
{
	struct mpijob_lease_options options = MPIJOB_LEASE_OPTIONS_INIT;

	options.namespace_ = "ops";
	options.name = "boss";
	options.identity = identity;
	options.seed = 5;
	options.changed = on_changed;
	options.log = on_log;
	options.user = fixture;
	return options;
}

static void set_up_client(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	clock_now = 1000000;
	fixture->client = fake_client(&fixture->fake);
	fixture->client->clock = clock_ms;
}

static void set_up(struct fixture *fixture)
{
	struct mpijob_lease_options options = options_of(fixture, "me");

	set_up_client(fixture);
	assert_int_equal(mpijob_lease_new(fixture->client, &options, &fixture->lease), 0);
	fixture->lease->clock = clock_ms;
}

static void tear_down(struct fixture *fixture)
{
	mpijob_lease_free(fixture->lease);
	assert_null(mpijob__base_list_first(&fixture->client->timers));
	mpijob_client_free(fixture->client);
	mpijob__base_text_release(&fixture->told);
	fake_release(&fixture->fake);
}

/* Until nothing is under way. */
static void settle(struct fixture *fixture)
{
	for (int i = 0; i < 20; i++)
		assert_int_equal(mpijob_client_poll(fixture->client, 0), 0);
}

/* Let time pass in small steps. */
static void pass(struct fixture *fixture, int64_t ms)
{
	for (int64_t end = clock_now + ms; clock_now < end; clock_now += 50)
		settle(fixture);
	settle(fixture);
}

static struct fake_object *foreign(struct fixture *fixture, const char *holder, int seconds)
{
	char *yaml = fake_text(FOREIGN, holder, seconds, 1);
	struct fake_object *object = fake_put(&fixture->fake, LEASES, "ops", yaml);

	free(yaml);
	return object;
}

static void renew(struct fixture *fixture, struct fake_object *object, int number)
{
	char *yaml = fake_text("spec: {renewTime: '2001-01-01T00:00:00.%06dZ'}", number);

	fake_patch(&fixture->fake, object, yaml);
	free(yaml);
}

static struct fake_object *stored(struct fixture *fixture)
{
	return fake_find(&fixture->fake, LEASES, "ops", "boss");
}

static int64_t number(struct fixture *fixture, const char *path)
{
	int64_t value = -1;

	assert_int_equal(mpijob_node_int(mpijob_node_find(mpijob_doc_root(stored(fixture)->doc),
					     path),
			     &value),
	    1);
	return value;
}

static void assert_told(struct fixture *fixture, const char *wanted)
{
	assert_string_equal(mpijob_text_data(&fixture->told), wanted);
	mpijob_text_clear(&fixture->told);
}

static void test_first(void **state)
{
	struct fixture fixture;
	const char *time;

	(void)state;
	set_up(&fixture);
	assert_false(mpijob_lease_leading(fixture.lease));
	assert_string_equal(mpijob_lease_holder(fixture.lease), "");
	settle(&fixture);
	assert_true(mpijob_lease_leading(fixture.lease));
	assert_string_equal(mpijob_lease_holder(fixture.lease), "me");
	assert_told(&fixture, "+me ");
	assert_int_equal(fixture.fake.log_count, 2);
	assert_string_equal(fixture.fake.log[0], "GET " PATH);
	assert_string_equal(fixture.fake.log[1],
	    "POST /apis/coordination.k8s.io/v1/namespaces/ops/leases");
	assert_string_equal(fake_string(stored(&fixture), "spec.holderIdentity"), "me");
	assert_int_equal(number(&fixture, "spec.leaseDurationSeconds"), 15);
	assert_int_equal(number(&fixture, "spec.leaseTransitions"), 0);
	time = fake_string(stored(&fixture), "spec.renewTime");
	assert_int_equal(strlen(time), strlen("2026-11-21T12:00:00.000000Z"));
	assert_string_equal(time + 23, "000Z");
	assert_string_equal(fake_string(stored(&fixture), "spec.acquireTime"), time);
	assert_int_equal(fixture.logged, 0);
	tear_down(&fixture);
}

static void test_renews(void **state)
{
	struct fixture fixture;
	char *acquired;

	(void)state;
	set_up(&fixture);
	settle(&fixture);
	acquired = strdup(fake_string(stored(&fixture), "spec.acquireTime"));
	pass(&fixture, 30000);
	assert_int_equal(fake_count(&fixture.fake, "PUT " PATH), 10);
	assert_int_equal(fixture.fake.log_count, 12);
	assert_string_equal(fake_string(stored(&fixture), "spec.acquireTime"), acquired);
	assert_int_equal(number(&fixture, "spec.leaseTransitions"), 0);
	assert_true(mpijob_lease_leading(fixture.lease));
	assert_told(&fixture, "+me ");
	free(acquired);
	tear_down(&fixture);
}

static void test_waits_for_another(void **state)
{
	struct fixture fixture;
	struct fake_object *object;

	(void)state;
	set_up(&fixture);
	object = foreign(&fixture, "other", 15);
	for (int i = 2; i < 12; i++) { /* another that is alive, with a clock of 2001 */
		pass(&fixture, 9000);
		renew(&fixture, object, i);
	}
	assert_int_equal(fake_writes(&fixture.fake), 0);
	assert_told(&fixture, "-other ");
	assert_string_equal(mpijob_lease_holder(fixture.lease), "other");
	/* Tries are 3 to 6.6 s apart. */
	assert_in_range(fixture.fake.log_count, 90000 / 6700, 90000 / 3000 + 1);
	pass(&fixture, 14000);
	assert_int_equal(fake_writes(&fixture.fake), 0);
	pass(&fixture, 15000);
	assert_told(&fixture, "+me ");
	assert_int_equal(number(&fixture, "spec.leaseTransitions"), 5);
	assert_string_equal(fake_string(stored(&fixture), "metadata.labels.kept"), "yes");
	assert_true(strncmp(fake_string(stored(&fixture), "spec.acquireTime"), "2001", 4) != 0);
	tear_down(&fixture);
}

/* Its own seconds count, and a Lease that was given up is free. */
static void test_takes_what_is_free(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	(void)foreign(&fixture, "other", 1);
	pass(&fixture, 7000);
	assert_told(&fixture, "-other +me ");
	tear_down(&fixture);
	set_up(&fixture);
	(void)foreign(&fixture, "''", 15);
	settle(&fixture);
	assert_told(&fixture, "+me ");
	assert_int_equal(number(&fixture, "spec.leaseTransitions"), 5);
	tear_down(&fixture);
}

static int broken(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	(void)fake;
	(void)method;
	(void)path;
	reply->end_code = MPIJOB_ERR_IO;
	return 1;
}

static void test_gives_up(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	settle(&fixture);
	fixture.fake.decide = broken;
	pass(&fixture, 7900); /* 3 s until the next try, and 5 s of trying */
	assert_true(mpijob_lease_leading(fixture.lease));
	pass(&fixture, 200);
	assert_false(mpijob_lease_leading(fixture.lease));
	assert_told(&fixture, "+me -me ");
	assert_in_range(fixture.logged, 1, 1);
	pass(&fixture, 60000);
	/* a restart would not help */
	assert_true(mpijob_lease_healthy(fixture.lease, 20000));
	assert_told(&fixture, "");
	fixture.fake.decide = NULL;
	pass(&fixture, 7000);
	assert_told(&fixture, "+me ");
	assert_true(mpijob_lease_healthy(fixture.lease, 20000));
	assert_int_equal(number(&fixture, "spec.leaseTransitions"), 0);
	tear_down(&fixture);
}

/* A process that was stopped does not lead again before it has read the Lease. */
static void test_stood_still(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	settle(&fixture);
	clock_now += 14900;
	assert_true(mpijob_lease_leading(fixture.lease));
	clock_now += 200;
	assert_false(mpijob_lease_leading(fixture.lease));
	assert_true(mpijob_lease_healthy(fixture.lease, 20000));
	clock_now += 20000;
	assert_false(mpijob_lease_healthy(fixture.lease, 20000));
	settle(&fixture);
	settle(&fixture);
	tear_down(&fixture);
}

static int64_t slept;

static int64_t asleep_ms(void)
{
	return slept;
}

/* A machine that slept: its clock stood still, that of others went on. */
static void test_slept(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	slept = 5000;
	fixture.lease->asleep = asleep_ms;
	settle(&fixture);
	clock_now += 1000;
	assert_true(mpijob_lease_leading(fixture.lease));
	slept += 13900;
	assert_true(mpijob_lease_leading(fixture.lease));
	slept += 200;
	assert_false(mpijob_lease_leading(fixture.lease));
	pass(&fixture, 2100);
	assert_true(mpijob_lease_leading(fixture.lease)); /* nobody took it */
	assert_told(&fixture, "+me ");
	tear_down(&fixture);
}

/* That a record of ours is there does not tell when it was written. */
static void test_old_record(void **state)
{
	struct fake_reply lost = { .end_code = MPIJOB_ERR_IO, .apply = 1 }, served = { 0 },
			  failed = { .end_code = MPIJOB_ERR_IO };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	settle(&fixture);
	fake_script(&fixture.fake, lost);
	fake_script(&fixture.fake, served);
	fake_script(&fixture.fake, failed);
	clock_now += 3000;
	settle(&fixture);
	assert_int_equal(fixture.fake.script_at, 3);
	assert_true(mpijob_lease_leading(fixture.lease));
	clock_now += 12100;
	assert_false(mpijob_lease_leading(fixture.lease));
	tear_down(&fixture);
}

static void test_taken_away(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	settle(&fixture);
	fake_patch(&fixture.fake, stored(&fixture),
	    "spec: {holderIdentity: other, renewTime: '2001-01-01T00:00:00.000009Z'}");
	pass(&fixture, 3200);
	assert_false(mpijob_lease_leading(fixture.lease));
	assert_told(&fixture, "+me -other ");
	assert_int_equal(fixture.logged, 0);
	tear_down(&fixture);
}

static void test_deleted(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	settle(&fixture);
	fake_delete(&fixture.fake, stored(&fixture));
	pass(&fixture, 3200);
	assert_true(mpijob_lease_leading(fixture.lease));
	assert_told(&fixture, "+me ");
	assert_non_null(stored(&fixture));
	tear_down(&fixture);
}

/* A renewal that happened while its answer was lost. */
static void test_answer_lost(void **state)
{
	struct fake_reply lost = { .end_code = MPIJOB_ERR_TIMEOUT, .apply = 1 };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	settle(&fixture);
	fake_script(&fixture.fake, lost);
	pass(&fixture, 3200);
	assert_int_equal(fake_count(&fixture.fake, "PUT"), 2);
	assert_told(&fixture, "+me ");
	assert_true(mpijob_lease_leading(fixture.lease));
	tear_down(&fixture);
}

static void test_release(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	settle(&fixture);
	mpijob_lease_release(fixture.lease);
	assert_false(mpijob_lease_leading(fixture.lease));
	assert_true(mpijob_lease_busy(fixture.lease));
	settle(&fixture);
	assert_false(mpijob_lease_busy(fixture.lease));
	assert_string_equal(fake_string(stored(&fixture), "spec.holderIdentity"), "");
	assert_int_equal(number(&fixture, "spec.leaseDurationSeconds"), 1);
	assert_told(&fixture, "+me -me ");
	pass(&fixture, 60000);
	assert_int_equal(fixture.fake.log_count, 3);
	tear_down(&fixture);
}

/* Another client has changed the Lease: it is released anyway, unless another candidate holds it.
 */
static void test_release_conflict(void **state)
{
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	settle(&fixture);
	fake_patch(&fixture.fake, stored(&fixture), "metadata: {labels: {touched: 'yes'}}");
	mpijob_lease_release(fixture.lease);
	settle(&fixture);
	assert_string_equal(fake_string(stored(&fixture), "spec.holderIdentity"), "");
	assert_string_equal(fake_string(stored(&fixture), "metadata.labels.touched"), "yes");
	tear_down(&fixture);
	set_up(&fixture);
	settle(&fixture);
	fake_patch(&fixture.fake, stored(&fixture), "spec: {holderIdentity: other}");
	mpijob_lease_release(fixture.lease);
	settle(&fixture);
	assert_string_equal(fake_string(stored(&fixture), "spec.holderIdentity"), "other");
	assert_false(mpijob_lease_busy(fixture.lease));
	tear_down(&fixture);
}

static void test_release_has_a_limit(void **state)
{
	struct fake_reply never = { .status = 200, .body = "", .open = 1 };
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	settle(&fixture);
	fake_script(&fixture.fake, never);
	mpijob_lease_release(fixture.lease);
	pass(&fixture, 4900);
	assert_true(mpijob_lease_busy(fixture.lease));
	pass(&fixture, 200);
	assert_false(mpijob_lease_busy(fixture.lease));
	tear_down(&fixture);
}

static void test_events(void **state)
{
	struct fixture fixture;
	struct mpijob_lease_options options = options_of(&fixture, "me");
	const struct fake_object *event;

	(void)state;
	set_up_client(&fixture);
	options.component = "mpi-operator";
	assert_int_equal(mpijob_lease_new(fixture.client, &options, &fixture.lease), 0);
	fixture.lease->clock = clock_ms;
	settle(&fixture);
	assert_int_equal(fake_objects(&fixture.fake, "/api/v1/events"), 1);
	for (event = fixture.fake.objects; strcmp(event->collection, "/api/v1/events") != 0;
	     event = event->next)
		;
	assert_string_equal(fake_string(event, "message"), "me became leader");
	assert_string_equal(fake_string(event, "reason"), "LeaderElection");
	assert_string_equal(fake_string(event, "source.component"), "mpi-operator");
	assert_string_equal(fake_string(event, "involvedObject.kind"), "Lease");
	assert_string_equal(fake_string(event, "involvedObject.uid"),
	    fake_string(stored(&fixture), "metadata.uid"));
	mpijob_lease_release(fixture.lease);
	settle(&fixture);
	assert_int_equal(fake_objects(&fixture.fake, "/api/v1/events"), 2);
	assert_false(mpijob_lease_busy(fixture.lease));
	tear_down(&fixture);
}

static void never(void *user, const struct mpijob_answer *answer)
{
	(void)user;
	(void)answer;
	fail_msg("%s", "it was not to leave");
}

/* The rate of the client does not cost us the Lease. */
static void test_unpaced(void **state)
{
	struct mpijob_client_options slow = MPIJOB_CLIENT_OPTIONS_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct fixture fixture;

	(void)state;
	set_up(&fixture);
	slow.qps = 1;
	slow.burst = 1;
	assert_int_equal(mpijob_client_set_options(fixture.client, &slow), 0);
	callbacks.done = never;
	request.method = "GET";
	request.path = "/api/v1/pods";
	callbacks.user = &fixture;
	for (int i = 0; i < 2; i++) {
		mpijob_call *call;

		assert_int_equal(mpijob_client_start(fixture.client, &request, &callbacks, &call),
		    0);
		if (i == 0)
			mpijob_call_cancel(call);
	}
	for (int i = 0; i < 20; i++)
		assert_int_equal(mpijob_client_poll(fixture.client, 0), 0);
	assert_true(mpijob_lease_leading(fixture.lease));
	tear_down(&fixture);
}

static uint64_t dice;

static unsigned roll(unsigned sides)
{
	dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(dice >> 33) % sides;
}

/* A server that loses, delays and fails. */
static int chaos(struct fake *fake, const char *method, const char *path, struct fake_reply *reply)
{
	(void)fake;
	(void)method;
	(void)path;
	switch (roll(8)) {
	case 0: reply->end_code = MPIJOB_ERR_IO; return 1;
	case 1:
		reply->end_code = MPIJOB_ERR_TIMEOUT;
		reply->apply = 1;
		return 1;
	case 2: reply->status = 500; return 1;
	case 3:
		reply->apply = 1; /* it works, and answers later */
		reply->polls = (int)roll(12);
		return 1;
	default: return 0;
	}
}

static void test_never_two(void **state)
{
	enum { MANY = 3 };
	static const char *const names[MANY] = { "a", "b", "c" };
	mpijob_lease *leases[MANY];
	unsigned led[MANY] = { 0 };
	struct fixture fixture;

	(void)state;
	for (unsigned seed = 0; seed < 20; seed++) {
		set_up_client(&fixture);
		dice = seed;
		for (int i = 0; i < MANY; i++) {
			struct mpijob_lease_options options = options_of(&fixture, names[i]);

			options.seed = seed * 100 + (unsigned)i;
			assert_int_equal(mpijob_lease_new(fixture.client, &options, &leases[i]), 0);
			leases[i]->clock = clock_ms;
		}
		for (int step = 0; step < 600; step++) {
			size_t writes = fake_writes(&fixture.fake);
			int leaders = 0;

			/* Calm and storm by turns. */
			fixture.fake.decide = step / 100 % 2 ? chaos : NULL;
			clock_now += roll(40) == 0 ? roll(20000) : roll(700);
			assert_int_equal(mpijob_client_poll(fixture.client, 0), 0);
			if (fake_writes(&fixture.fake) != writes)
				/* renewals differ in the wall clock's time */
				fake_clock_advance_us(1000);
			for (int i = 0; i < MANY; i++) {
				int leads = mpijob_lease_leading(leases[i]);

				leaders += leads;
				led[i] += (unsigned)leads;
			}
			if (leaders > 1)
				fail_msg("seed %u, step %d: %d lead", seed, step, leaders);
		}
		for (int i = 0; i < MANY; i++)
			mpijob_lease_free(leases[i]);
		tear_down(&fixture);
	}
	for (int i = 0; i < MANY; i++)
		assert_true(led[i] > 100);
}

static void test_options(void **state)
{
	struct fixture fixture;
	struct mpijob_lease_options options = options_of(&fixture, "me"), bad;
	mpijob_lease *lease = NULL;

	(void)state;
	set_up_client(&fixture);
	assert_int_equal(mpijob_lease_new(NULL, &options, &lease), MPIJOB_ERR_USAGE);
	assert_int_equal(mpijob_lease_new(fixture.client, NULL, &lease), MPIJOB_ERR_USAGE);
	bad = options;
	bad.identity = "";
	assert_int_equal(mpijob_lease_new(fixture.client, &bad, &lease), MPIJOB_ERR_USAGE);
	bad = options;
	bad.renew_ms = 15000;
	assert_int_equal(mpijob_lease_new(fixture.client, &bad, &lease), MPIJOB_ERR_USAGE);
	bad = options;
	bad.retry_ms = 4200;
	assert_int_equal(mpijob_lease_new(fixture.client, &bad, &lease), MPIJOB_ERR_USAGE);
	bad = options;
	bad.lease_ms = 15500;
	assert_int_equal(mpijob_lease_new(fixture.client, &bad, &lease), MPIJOB_ERR_USAGE);
	bad = options;
	bad.size = 4;
	assert_true(mpijob_lease_new(fixture.client, &bad, &lease) < 0);
	assert_null(lease);
	mpijob_lease_free(NULL);
	tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_renews),
		cmocka_unit_test(test_waits_for_another),
		cmocka_unit_test(test_takes_what_is_free),
		cmocka_unit_test(test_gives_up),
		cmocka_unit_test(test_stood_still),
		cmocka_unit_test(test_slept),
		cmocka_unit_test(test_old_record),
		cmocka_unit_test(test_taken_away),
		cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_answer_lost),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_release_conflict),
		cmocka_unit_test(test_release_has_a_limit),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_unpaced),
		cmocka_unit_test(test_never_two),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
