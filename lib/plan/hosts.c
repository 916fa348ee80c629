/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides when discover_hosts.sh is updated while workers start and stop.
 *
 * Each update of the ConfigMap is sent to every node that mounts it, and ten thousand workers do
 * not start at the same time. A stopped worker is removed immediately. Started workers are added
 * together: when all run, when twice as many run as are listed, or when no worker has started for
 * as long as the previous starts took (1 to 30 seconds). So N starts without a pause need log2(N) +
 * 2 updates.
 */
#include "plan/hosts.h"

#define SHORTEST_PAUSE_MS 1000
#define LONGEST_PAUSE_MS                                                        \
	30000 /* a worker that joins a long-running job does not wait for hours \
	       */

struct difference {
	int lost;       /* a listed worker does not run */
	int gained;     /* a running worker is not listed */
	int32_t listed; /* number of listed workers */
};

static void compare_workers(const struct mpijob__plan_workers *workers,
    const struct mpijob_child_facts *config_map, struct difference *out)
{
	size_t wanted = (size_t)workers->wanted, listed_count = config_map->listed_workers_count;
	size_t most = wanted > listed_count ? wanted : listed_count;

	for (size_t i = 0; i < most; i++) {
		int runs = i < wanted && workers->runs[i];
		int listed = i < listed_count && config_map->listed_workers[i];

		out->listed += listed;
		out->lost |= listed && !runs;
		out->gained |= runs && !listed;
	}
}

/* Facts that the caller made may only have the digest. If the digests differ and no more hosts are
 * wanted than listed, a worker was lost. */
static void compare_digests(struct mpijob_plan *plan, const struct mpijob_child_facts *config_map,
    struct difference *out)
{
	const struct mpijob__plan_workers *workers = &plan->workers;
	int32_t count = 0;
	uint64_t wanted = 0;

	mpijob__plan_fail(plan, mpijob__render_wanted_hosts(&plan->subject, workers->runs,
				    (size_t)workers->wanted, &wanted, &count));
	out->listed =
	    config_map->listed_count - mpijob__render_subject_launcher_has_ranks(&plan->subject);
	out->gained = wanted != config_map->listed;
	out->lost = out->gained && count <= config_map->listed_count;
}

static int starts_paused(const struct mpijob_plan *plan, int64_t *due_ms)
{
	const struct mpijob__plan_workers *workers = &plan->workers;
	int64_t pause = workers->last_ms - workers->first_ms;

	/* Without times, or if the clock of a node is ahead, do not wait. */
	if (!workers->first_ms || workers->last_ms > plan->now_ms)
		return 1;
	if (pause < SHORTEST_PAUSE_MS)
		pause = SHORTEST_PAUSE_MS;
	if (pause > LONGEST_PAUSE_MS)
		pause = LONGEST_PAUSE_MS;
	if (plan->now_ms >= workers->last_ms + pause)
		return 1;
	*due_ms = workers->last_ms + pause;
	return 0;
}

int mpijob__plan_hosts_changed(struct mpijob_plan *plan,
    const struct mpijob_child_facts *config_map, int64_t *due_ms)
{
	const struct mpijob__plan_workers *workers = &plan->workers;
	struct difference difference = { 0, 0, 0 };
	int32_t expected;

	if (config_map->listed_workers) {
		compare_workers(workers, config_map, &difference);
		expected =
		    difference.listed + mpijob__render_subject_launcher_has_ranks(&plan->subject);
		/* The ConfigMap lists another host, or not the launcher. */
		if (config_map->listed_count != expected)
			return 1;
	} else {
		compare_digests(plan, config_map, &difference);
	}
	if (difference.lost)
		return 1;
	if (!difference.gained)
		return 0;
	return workers->steady == workers->wanted || workers->steady >= 2 * difference.listed ||
	       starts_paused(plan, due_ms);
}
