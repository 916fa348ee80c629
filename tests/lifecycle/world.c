/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A world: how it starts, when its operators run, how time passes, and when it has settled. Nothing
 * is concurrent: the operators run one after the other, each until it waits.
 */
#include "lifecycle.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS 3000

void need_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "lifecycle: %s:%d: %s\n", file, line, what);
	abort();
}

void world_fail(struct world *world, const char *id, const char *format, ...)
{
	va_list args;

	if (world->failure)
		return;
	world->failure = id;
	va_start(args, format);
	(void)vsnprintf(world->message, sizeof(world->message), format, args);
	va_end(args);
	if (world->trace == TRACE_ON)
		fprintf(stderr, "%9lld   FAILED %s: %s\n", (long long)clock_ms(), id,
		    world->message);
}

/* What an operator says of itself: two of its words are failures here. */
static void take_log(void *user, const struct mpijob_finding *finding)
{
	struct seat *seat = user;

	if (seat->network.world->trace == TRACE_ON)
		fprintf(stderr, "%9lld   operator %d says: %s\n", (long long)clock_ms(),
		    seat->network.number, finding->message);
	if (strcmp(finding->id, "does-not-settle") == 0)
		world_fail(seat->network.world, "circles", "%s", finding->message);
}

static void choose_features(int wanted, struct mpijob_features *features)
{
	features->replace_workers = wanted & FEATURE_REPLACE ? 2 : 0;
	features->restart_gang = wanted & FEATURE_RESTART ? 2 : 0;
	features->ttl_deletes_job = (wanted & FEATURE_TTL) != 0;
	features->clean_launcher = (wanted & FEATURE_CLEAN) != 0;
	features->fail_invalid = (wanted & FEATURE_INVALID) != 0;
	features->gang_safe_wait = (wanted & FEATURE_GANG_SAFE) != 0;
	features->compact_hosts = (wanted & FEATURE_COMPACT) != 0;
}

/* The one leaves off before the other begins; what is under way ends as it may. */
void world_lead(struct world *world, int number)
{
	world->leader = number;
	if (!(world->options & WORLD_LEAD))
		return;
	if (world->seats[!number].operator_)
		mpijob_operator_act(world->seats[!number].operator_, 0);
	if (world->seats[number].operator_)
		mpijob_operator_act(world->seats[number].operator_, 1);
}

void world_start(struct world *world, int number)
{
	struct seat *seat = &world->seats[number];
	struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;
	struct mpijob_features features = MPIJOB_FEATURES_INIT;
	struct mpijob_operator_options options = MPIJOB_OPERATOR_OPTIONS_INIT;
	struct mpijob_transport transport;

	if (seat->operator_)
		return;
	if (world->options & WORLD_GANG_VOLCANO)
		render.gang_scheduler = "volcano";
	else if (world->options & WORLD_GANG_SCHEDULER)
		render.gang_scheduler = "scheduler-plugins-scheduler";
	choose_features(world->features, &features);
	render.features = &features;
	options.render = &render;
	options.standby = (world->options & WORLD_LEAD) != 0;
	options.log = take_log;
	options.log_user = seat;
	world->two |= number;
	seat->network.world = world;
	seat->network.number = number;
	seat->network.wake_ms = clock_ms();
	network_fill(&transport);
	NEED(mpijob_client_new(&transport, &seat->network, &seat->client) == 0);
	NEED(mpijob_operator_new(seat->client, &options, &seat->operator_, NULL) == 0);
	if ((world->options & WORLD_LEAD) && world->leader == number)
		mpijob_operator_act(seat->operator_, 1);
}

void world_stop(struct world *world, int number)
{
	struct seat *seat = &world->seats[number];

	if (!seat->operator_)
		return;
	mpijob_operator_free(seat->operator_);
	mpijob_client_free(seat->client);
	seat->operator_ = NULL;
	seat->client = NULL;
	network_reset(&seat->network);
}

static void make_namespaces(struct world *world)
{
	for (int i = 0; i < 2; i++) {
		struct mpijob_target target = MPIJOB_TARGET_INIT;
		mpijob_doc *doc = mpijob_doc_new();
		char name[8];

		target.api_version = "v1";
		target.kind = "Namespace";
		(void)snprintf(name, sizeof(name), "n%d", i);
		mpijob_node_put_string(doc, mpijob_doc_make(doc, "metadata"), "name", name);
		NEED(mpijob_client_write(world->driver, &target, mpijob_doc_root(doc), NULL, NULL,
			 NULL) == 0);
		mpijob_doc_free(doc);
	}
}

struct world *world_new(const struct script *script, int trace)
{
	struct mpijob_local_options options = MPIJOB_LOCAL_OPTIONS_INIT;
	struct mpijob_client_options client = MPIJOB_CLIENT_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	struct world *world = calloc(1, sizeof(*world));

	NEED(world);
	clock_reset(script->seed);
	world->options = script->options;
	world->features = script->features;
	world->trace = trace;
	world->rng = script->seed;
	options.no_node = 1;
	client.retries = -1;
	NEED(mpijob_local_new(&options, &transport, &world->local, NULL) == 0);
	NEED(mpijob_client_new(&transport, world->local, &world->driver) == 0);
	NEED(mpijob_client_set_options(world->driver, &client) == 0);
	make_namespaces(world);
	world->store_changed = world->local->store.changed;
	world->store_user = world->local->store.user;
	world->local->store.changed = invariants_changed;
	world->local->store.user = world;
	world->writes_allowed = 100;
	world_start(world, 0);
	if (script->options & WORLD_TWO)
		world_start(world, 1);
	return world;
}

void world_free(struct world *world)
{
	for (int i = 0; i < OPERATORS; i++)
		world_stop(world, i);
	world->local->store.changed = world->store_changed;
	world->local->store.user = world->store_user;
	mpijob_client_free(world->driver);
	invariants_release(world);
	free(world);
}

/* --- turns --- */

static void run(struct world *world, int number)
{
	struct seat *seat = &world->seats[number];

	clock_skew(seat->skew_ms);
	NEED(mpijob_operator_step(seat->operator_, INT_MAX) == 0);
	clock_skew(0);
}

void world_step(struct world *world, int steps)
{
	for (int i = 0; i < steps; i++)
		for (int k = 0; k < OPERATORS; k++)
			if (world->seats[k].operator_ && !world->failure)
				run(world, k);
}

static int64_t cluster_due(struct world *world)
{
	int64_t due = -1;
	int fd;

	NEED(mpijob_client_interest(world->driver, &fd, &due) == 0);
	return due < 0 ? INT64_MAX : due;
}

static int64_t next_due(struct world *world)
{
	int64_t due = cluster_due(world);

	for (int i = 0; i < OPERATORS; i++) {
		const struct seat *seat = &world->seats[i];
		int64_t when = seat->operator_ ? network_due_ms(&seat->network) : INT64_MAX;

		due = when < due ? when : due;
	}
	return due;
}

void world_turn(struct world *world)
{
	for (int round = 0; round < MOST_ROUNDS && !world->failure; round++) {
		uint64_t changes = world->changes;

		NEED(mpijob_client_poll(world->driver, 0) == 0);
		world_step(world, 1);
		if (changes == world->changes && next_due(world) > clock_ms())
			return;
	}
	world_fail(world, "spins", "after %d rounds there is still something to do at once",
	    MOST_ROUNDS);
}

void world_pass(struct world *world, int64_t ms)
{
	int64_t until = clock_ms() + ms;

	world_turn(world);
	while (!world->failure && clock_ms() < until) {
		int64_t due = next_due(world);

		clock_advance(due < until ? due : until);
		world_turn(world);
	}
}

static void calm(struct world *world)
{
	for (int i = 0; i < OPERATORS; i++) {
		struct network *network = &world->seats[i].network;

		network->fault_count = 0;
		network->refuse_watches = 0;
		network->latency_ms = 0;
		memset(network->lag_ms, 0, sizeof(network->lag_ms));
		if (world->blind)
			network->lag_ms[MPIJOB__LOCAL_KIND_POD] = INT32_MAX;
	}
	if (!world->seats[1].operator_ || world->leader == 0)
		world_start(world, 0);
	if (!world->seats[world->leader].operator_)
		world_lead(world, !world->leader);
}

/* A name that is taken is asked for every minute; else nothing is asked for when nothing
 * changes. */
static int is_taken(const struct world *world)
{
	static const enum mpijob__local_kind_id kinds[] = { MPIJOB__LOCAL_KIND_POD,
		MPIJOB__LOCAL_KIND_SECRET };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (struct mpijob__local_object *object =
			 mpijob__local_store_first(&world->local->store, kinds[i]);
		     object; object = mpijob__local_store_next(object))
			if (!object->owner_count)
				return 1;
	return 0;
}

/* Everybody keeps his hands off until nothing changed for so long. */
void world_settle(struct world *world, int64_t quiet_ms)
{
	int64_t begin = clock_ms(), since = begin;
	uint64_t changes = world->changes, asked = world->writes + world->reads;

	calm(world);
	while (!world->failure && clock_ms() - since < quiet_ms) {
		int64_t due, end = since + quiet_ms;

		world_turn(world);
		if (world->fight && world->changes != changes)
			driver_defect(world, DEFECT_FIGHT, world->fight - 1);
		if (kubelet_reap(world) || world->changes != changes) {
			changes = world->changes;
			since = clock_ms();
		}
		if (clock_ms() - since < quiet_ms / 2)
			asked = world->writes + world->reads;
		if (world->writes > world->writes_allowed)
			world_fail(world, "storm", "%llu writes of operators, %llu would be many",
			    (unsigned long long)world->writes,
			    (unsigned long long)world->writes_allowed);
		else if (clock_ms() - begin > 100 * quiet_ms)
			world_fail(world, "unsettled", "it goes on changing");
		due = next_due(world);
		clock_advance(due < end ? due : end);
	}
	if (asked != world->writes + world->reads && !is_taken(world))
		world_fail(world, "restless", "nothing changes, and operators go on asking");
	if (world->lie && !world->failure)
		driver_defect(world, DEFECT_LIE, world->lie - 1);
	if (!world->failure)
		invariants_quiet(world);
}
