/* SPDX-License-Identifier: Apache-2.0 */
/* A launcher that waits for the names of its workers: which names are asked, and what the answers
 * lead to. */
#include "../support/operator_rig.h"

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

static void begin(struct rig *rig, struct dns *dns, int64_t hold_ms, int workers)
{
	set_up_server(rig);
	rig->fake.created = "2099-01-01T00:00:00Z"; /* workers are always young */
	rig->options.launcher_hold_ms = hold_ms;
	rig->options.resolve = dns ? resolve : NULL;
	rig->options.resolve_user = dns;
	start_operator(rig);
	run(rig, 20);
	put_job(rig, "team", "pi", workers, "cleanPodPolicy: Running");
	run(rig, 300);
}

static int has_launcher(struct rig *rig)
{
	return fake_find(&rig->fake, LAUNCHERS, "team", "pi-launcher") != NULL;
}

static void names_that_resolve_start_the_launcher(void **state)
{
	struct dns dns = { .late = 5, .missing = -1 };
	struct rig rig;

	(void)state;
	begin(&rig, &dns, 3600000, 3);
	assert_non_null(fake_find(&rig.fake, PODS, "team", "pi-worker-2"));
	assert_int_equal(dns.asked, 0);
	assert_false(has_launcher(&rig));
	run_pods(&rig);
	for (int i = 0; i < 100 && !has_launcher(&rig); i++)
		run(&rig, 100);
	assert_true(has_launcher(&rig));
	assert_true(dns.asked >= dns.late + 3);
	assert_string_equal(dns.last, "pi-worker-2.pi.team.svc");
	tear_down(&rig);
}

static void each_worker_has_to_resolve(void **state)
{
	struct dns dns = { .missing = 1 };
	struct rig rig;

	(void)state;
	begin(&rig, &dns, 3600000, 3);
	run_pods(&rig);
	for (int i = 0; i < 10; i++)
		run(&rig, 100);
	assert_true(dns.asked > 3);
	assert_false(has_launcher(&rig));
	dns.missing = -1;
	for (int i = 0; i < 100 && !has_launcher(&rig); i++)
		run(&rig, 100);
	assert_true(has_launcher(&rig));
	tear_down(&rig);
}

static void without_dns_the_time_decides(void **state)
{
	struct rig rig;

	(void)state;
	begin(&rig, NULL, 3600000, 1);
	run_pods(&rig);
	run(&rig, 300);
	assert_false(has_launcher(&rig));
	tear_down(&rig);
	begin(&rig, NULL, 1, 1);
	run_pods(&rig);
	run(&rig, 300);
	assert_true(has_launcher(&rig));
	tear_down(&rig);
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
