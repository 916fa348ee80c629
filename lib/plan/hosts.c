/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When discover_hosts.sh is written anew while workers start and stop.
 *
 * Every write of the ConfigMap goes to every node that mounts it, and ten thousand workers do not
 * start at once. A worker that stopped is taken out at once: the script must not name the dead.
 * News of starts is gathered: until all run, or twice as many as are listed, or none started for as
 * long as the starts have taken so far (a second at least, half a minute at most). So N starts that
 * do not pause cost log2(N) + 2 writes.
 */
#include "plan/hosts.h"

#define SHORTEST_PAUSE_MS 1000
#define LONGEST_PAUSE_MS  30000 /* who joins a job that has run for hours waits no hours */

struct difference {
	int lost;       /* a worker is listed and does not run */
	int gained;     /* a worker runs and is not listed */
	int32_t listed; /* workers that are listed */
};

static void by_worker(const struct mpijob__plan_workers *workers,
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

/* Facts of a caller's own making may hold the digest alone. Fewer, or others, means that one was
 * lost. */
static void by_digest(struct mpijob_plan *plan, const struct mpijob_child_facts *config_map,
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

	/* Times that are absent, or those of a node whose clock is ahead, are no reason to wait. */
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
		by_worker(workers, config_map, &difference);
		expected =
		    difference.listed + mpijob__render_subject_launcher_has_ranks(&plan->subject);
		/* Something is listed that is no worker, or the launcher is not. */
		if (config_map->listed_count != expected)
			return 1;
	} else {
		by_digest(plan, config_map, &difference);
	}
	if (difference.lost)
		return 1;
	if (!difference.gained)
		return 0;
	return workers->steady == workers->wanted || workers->steady >= 2 * difference.listed ||
	       starts_paused(plan, due_ms);
}
