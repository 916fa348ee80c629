/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election over the embedded cluster: one leads, gives up, the next leads; one is gone, the
 * next waits. */
#include "../support/fake_wait.h"
#include "../support/local_client.h"

#include <mpijob/lease.h>

static mpijob_lease *stand(struct cluster *cluster, const char *identity)
{
	struct mpijob_lease_options options = MPIJOB_LEASE_OPTIONS_INIT;
	mpijob_lease *lease = NULL;

	options.namespace_ = "default";
	options.name = "boss";
	options.identity = identity;
	options.component = "test";
	options.lease_ms = 2000;
	options.renew_ms = 1000;
	options.retry_ms = 200;
	assert_int_equal(mpijob_lease_new(cluster->client, &options, &lease), 0);
	return lease;
}

static int both(const mpijob_lease *first, const mpijob_lease *second)
{
	return mpijob_lease_leading(first) && mpijob_lease_leading(second);
}

/* However slow this machine is. */
static void until_leading(struct cluster *cluster, const mpijob_lease *lease)
{
	for (int i = 0; i < 400 && !mpijob_lease_leading(lease); i++)
		poll_for(cluster, 50);
	assert_int_equal(mpijob_lease_leading(lease), 1);
}

static void test_turns(void **state)
{
	struct cluster *cluster = *state;
	mpijob_lease *first = stand(cluster, "first"), *second;

	until_leading(cluster, first);
	second = stand(cluster, "second");
	for (int i = 0; i < 50; i++) { /* longer than it holds: it is renewed */
		poll_for(cluster, 50);
		assert_int_equal(both(first, second), 0);
	}
	assert_string_not_equal(mpijob_lease_holder(second), "");
	mpijob_lease_release(first);
	assert_int_equal(mpijob_lease_leading(first), 0);
	until_leading(cluster, second);
	for (int i = 0; i < 100 && mpijob_lease_busy(first); i++)
		poll_for(cluster, 50);
	assert_int_equal(mpijob_lease_busy(first), 0);
	mpijob_lease_free(first);

	/* Without a word: its time has to pass. */
	mpijob_lease_free(second);
	first = stand(cluster, "third");
	poll_for(cluster, 1000);
	assert_int_equal(mpijob_lease_leading(first), 0);
	assert_string_equal(mpijob_lease_holder(first), "second");
	until_leading(cluster, first);
	mpijob_lease_free(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_turns, cluster_up, cluster_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
