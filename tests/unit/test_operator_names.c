/* SPDX-License-Identifier: Apache-2.0 */
/* A launcher that waits for the names of its workers: which names are asked, and what the answers
 * lead to. */
#include "../support/operator_fixture.h"

struct dns {
	int asked, late; /* how often, and how many of these find nothing */
	int missing;     /* a name that never resolves: that of this worker; -1: none */
	char last[256];
};

static int resolve(void *user, const char *name)
{
	struct dns *dns = user;
	char never[32];

	(void)snprintf(never, sizeof(never), "-worker-%d.", dns->missing);
	(void)snprintf(dns->last, sizeof(dns->last), "%s", name);
	return dns->asked++ >= dns->late && !strstr(name, never);
}

static void begin(struct operator_fixture *fixture, struct dns *dns, int64_t hold_ms, int workers)
{
	set_up_server(fixture);
	fixture->fake.created = "2099-01-01T00:00:00Z"; /* workers are always young */
	fixture->options.launcher_hold_ms = hold_ms;
	fixture->options.resolve = dns ? resolve : NULL;
	fixture->options.resolve_user = dns;
	start_operator(fixture);
	operator_run(fixture, 20);
	put_job(fixture, "team", "pi", workers, "cleanPodPolicy: Running");
	operator_run(fixture, 300);
}

static int has_launcher(struct operator_fixture *fixture)
{
	return fake_find(&fixture->fake, LAUNCHERS, "team", "pi-launcher") != NULL;
}

static void names_that_resolve_start_the_launcher(void **state)
{
	struct dns dns = { .late = 5, .missing = -1 };
	struct operator_fixture fixture;

	(void)state;
	begin(&fixture, &dns, 3600000, 3);
	assert_non_null(fake_find(&fixture.fake, PODS, "team", "pi-worker-2"));
	assert_int_equal(dns.asked, 0);
	assert_false(has_launcher(&fixture));
	run_pods(&fixture);
	for (int i = 0; i < 100 && !has_launcher(&fixture); i++)
		operator_run(&fixture, 100);
	assert_true(has_launcher(&fixture));
	assert_true(dns.asked >= dns.late + 3);
	assert_string_equal(dns.last, "pi-worker-2.pi.team.svc");
	operator_tear_down(&fixture);
}

static void each_worker_has_to_resolve(void **state)
{
	struct dns dns = { .missing = 1 };
	struct operator_fixture fixture;

	(void)state;
	begin(&fixture, &dns, 3600000, 3);
	run_pods(&fixture);
	for (int i = 0; i < 10; i++)
		operator_run(&fixture, 100);
	assert_true(dns.asked > 3);
	assert_false(has_launcher(&fixture));
	dns.missing = -1;
	for (int i = 0; i < 100 && !has_launcher(&fixture); i++)
		operator_run(&fixture, 100);
	assert_true(has_launcher(&fixture));
	operator_tear_down(&fixture);
}

static void without_dns_the_time_decides(void **state)
{
	struct operator_fixture fixture;

	(void)state;
	begin(&fixture, NULL, 3600000, 1);
	run_pods(&fixture);
	operator_run(&fixture, 300);
	assert_false(has_launcher(&fixture));
	operator_tear_down(&fixture);
	begin(&fixture, NULL, 1, 1);
	run_pods(&fixture);
	operator_run(&fixture, 300);
	assert_true(has_launcher(&fixture));
	operator_tear_down(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_resolve_start_the_launcher),
		cmocka_unit_test(each_worker_has_to_resolve),
		cmocka_unit_test(without_dns_the_time_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
