/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The actions of a script: one row each, with its name, its weight, the ranges of its numbers and
 * its function. An action that does not apply in the current state does nothing.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

#define CONFLICT_WRITES 3000

/* --- users --- */

#define CREATE_POLICY(flags)  ((flags)&3) /* cleanPodPolicy: none given, None, Running, All */
#define CREATE_SUSPENDED      4
#define CREATE_WAITS          8  /* launcherCreationPolicy: WaitForWorkersReady */
#define CREATE_WORKING        16 /* runLauncherAsWorker */
#define CREATE_BACKOFF(flags) ((flags) >> 5 & 3)
#define CREATE_TTL(flags)     ((flags) >> 7 & 3)
#define CREATE_DEADLINE       512
#define CREATE_NEVER          1024 /* restartPolicy of the launcher */
#define CREATE_FOREIGN        2048 /* managedBy somebody else */
#define CREATE_INVALID        4096
#define CREATE_MOST           8192

static const char *policy_text(int flags)
{
	static const char *const texts[] = { "", "\"cleanPodPolicy\":\"None\",",
		"\"cleanPodPolicy\":\"Running\",", "\"cleanPodPolicy\":\"All\"," };

	return texts[CREATE_POLICY(flags)];
}

static const char *backoff_text(int flags)
{
	static const char *const texts[] = { "", "\"backoffLimit\":0,", "\"backoffLimit\":1,",
		"\"backoffLimit\":3," };

	return texts[CREATE_BACKOFF(flags)];
}

static const char *ttl_text(int flags)
{
	static const char *const texts[] = { "", "\"ttlSecondsAfterFinished\":0,",
		"\"ttlSecondsAfterFinished\":30,", "" };

	return texts[CREATE_TTL(flags)];
}

static void create(struct world *world, int slot, int workers, int flags)
{
	const char *node = world->options & WORLD_BOUND ? "\"nodeName\":\"node\"," : "";
	char worker[200];

	(void)snprintf(worker, sizeof(worker),
	    ",\"Worker\":{\"replicas\":%d,\"template\":{\"spec\":{%s\"containers\":[{\"name\":"
	    "\"c\",\"image\":"
	    "\"i\"}]}}}",
	    workers, node);
	(void)driver_create(world, MPIJOB__LOCAL_KIND_MPIJOB, slot & 1 ? "n1" : "n0",
	    "{\"metadata\":{\"name\":\"s%d\"%s},\"spec\":{%s%s%s\"runPolicy\":{%s%s%s%s%"
	    "s\"suspend\":%s},"
	    "\"mpiReplicaSpecs\":{\"Launcher\":{%s\"template\":{\"spec\":{%s\"containers\":[{"
	    "\"name\":\"c\",\"image\":"
	    "\"i\",\"command\":[\"mpirun\"]}]}}}%s}}}",
	    slot, flags & CREATE_INVALID ? ",\"labels\":{\"lifecycle-invalid\":\"yes\"}" : "",
	    flags & CREATE_INVALID ? "\"mpiImplementation\":\"Unknown\"," : "",
	    flags & CREATE_WAITS ? "\"launcherCreationPolicy\":\"WaitForWorkersReady\"," : "",
	    flags & CREATE_WORKING ? "\"runLauncherAsWorker\":true," : "", policy_text(flags),
	    backoff_text(flags), ttl_text(flags),
	    flags & CREATE_DEADLINE ? "\"activeDeadlineSeconds\":60," : "",
	    flags & CREATE_FOREIGN ? "\"managedBy\":\"kueue.x-k8s.io/multikueue\"," : "",
	    flags & CREATE_SUSPENDED ? "true" : "false",
	    flags & CREATE_NEVER ? "\"restartPolicy\":\"Never\"," : "", node,
	    workers ? worker : "");
}

static void suspend(struct world *world, int slot, int on, int unused)
{
	struct mpijob__local_object *job = job_in(world, slot);

	(void)unused;
	if (job)
		(void)driver_patch(world, job, NULL, "{\"spec\":{\"runPolicy\":{\"suspend\":%s}}}",
		    on ? "true" : "false");
}

static void scale(struct world *world, int slot, int workers, int unused)
{
	struct mpijob__local_object *job = job_in(world, slot);

	(void)unused;
	if (job && mpijob_node_find(mpijob_doc_root(job->doc), "spec.mpiReplicaSpecs.Worker"))
		(void)driver_patch(world, job, NULL,
		    "{\"spec\":{\"mpiReplicaSpecs\":{\"Worker\":{\"replicas\":%d}}}}", workers);
}

static void delete_job(struct world *world, int slot, int how, int unused)
{
	static const char *const ways[] = { "Background", "Foreground" };
	struct mpijob__local_object *job = job_in(world, slot);

	(void)unused;
	if (job)
		(void)driver_delete(world, job, ways[how]);
}

static void touch(struct world *world, int slot, int number, int unused)
{
	struct mpijob__local_object *job = job_in(world, slot);

	(void)unused;
	if (job)
		(void)driver_patch(world, job, NULL,
		    "{\"metadata\":{\"annotations\":{\"lifecycle\":\"%d\"}}}", number);
}

/* --- others who meddle --- */

/* 0 to 3: the other children, 4: the launcher, 5: its pod, 6 and on: workers. */
static struct mpijob__local_object *any_child(struct world *world, int slot, int which)
{
	if (which < 4)
		return child_in(world, slot, which);
	if (which == 4)
		return launcher_in(world, slot);
	return which == 5 ? launcher_pod_in(world, slot) : worker_in(world, slot, which - 6);
}

static void remove_child(struct world *world, int slot, int which, int unused)
{
	struct mpijob__local_object *object = any_child(world, slot, which);

	struct life *life =
	    object && object->owner_count ? invariants_life(world, object->owners[0]) : NULL;

	(void)unused;
	/* Of a launcher that somebody takes away nobody knows whether it ended. */
	if (life && object->kind->id == MPIJOB__LOCAL_KIND_JOB)
		life->meddled = 1;
	if (object)
		(void)driver_delete(world, object, "Background");
}

static void mark(struct world *world, int slot, int which, int number)
{
	struct mpijob__local_object *object = any_child(world, slot, which);

	if (object)
		(void)driver_patch(world, object, NULL,
		    "{\"metadata\":{\"labels\":{\"lifecycle-mark\":\"%d\"}}}", number);
}

/* Change what is the operator's. */
static void bend(struct world *world, int slot, int which, int unused)
{
	static const char *const changes[] = {
		"{\"spec\":{\"selector\":{\"mine\":\"yes\"}}}",
		"{\"data\":{\"hostfile\":\"nobody\"}}",
		"{\"data\":{\"ssh-privatekey\":null}}",
		"{\"spec\":{\"minMember\":99}}",
		"{\"data\":{\"discover_hosts.sh\":\"#!/bin/sh\\necho nobody\\n\"}}",
	};
	struct mpijob__local_object *object = child_in(world, slot, which == 4 ? 1 : which);

	(void)unused;
	if (object)
		(void)driver_patch(world, object, NULL, "%s", changes[which]);
}

/* Take a child's name before the operator does. */
static void take_name(struct world *world, int slot, int which, int unused)
{
	const char *namespace_ = slot & 1 ? "n1" : "n0";

	(void)unused;
	if (which == 0)
		(void)driver_create(world, MPIJOB__LOCAL_KIND_SERVICE, namespace_,
		    "{\"metadata\":{\"name\":\"s%d\"},\"spec\":{}}", slot);
	else if (which == 1)
		(void)driver_create(world, MPIJOB__LOCAL_KIND_CONFIG_MAP, namespace_,
		    "{\"metadata\":{\"name\":\"s%d-config\"}}", slot);
	else if (which == 2)
		(void)driver_create(world, MPIJOB__LOCAL_KIND_SECRET, namespace_,
		    "{\"metadata\":{\"name\":\"s%d-ssh\"}}", slot);
	else
		(void)driver_create(world, MPIJOB__LOCAL_KIND_POD, namespace_,
		    "{\"metadata\":{\"name\":\"s%d-worker-1\"},\"spec\":{\"containers\":[{\"name\":"
		    "\"c\",\"image\":"
		    "\"i\"}]}}",
		    slot);
}

/* And give it back. */
static void give_names(struct world *world, int slot, int unused, int unused_too)
{
	(void)unused;
	(void)unused_too;
	for (int which = 0; which < 10; which++) {
		struct mpijob__local_object *object = any_child(world, slot, which);

		if (object && !object->owner_count)
			(void)driver_delete(world, object, "Background");
	}
}

/* --- kubelet --- */

static void worker_phase(struct world *world, int slot, int index, int phase)
{
	struct mpijob__local_object *pod = worker_in(world, slot, index);

	if (pod)
		driver_phase(world, pod, (enum phase)phase);
}

static void launcher_phase(struct world *world, int slot, int phase, int unused)
{
	struct mpijob__local_object *pod = launcher_pod_in(world, slot);

	(void)unused;
	if (pod)
		driver_phase(world, pod, (enum phase)phase);
}

static void run_workers(struct world *world, int slot, int phase, int unused)
{
	(void)unused;
	for (int i = 0; i < MOST_WORKERS; i++)
		worker_phase(world, slot, i, phase);
}

static void reap(struct world *world, int unused, int unused_too, int unused_as_well)
{
	(void)unused;
	(void)unused_too;
	(void)unused_as_well;
	(void)kubelet_reap(world);
}

/* --- network, clocks and operators --- */

static void fault(struct world *world, int number, int kind, int count)
{
	struct network *network = &world->seats[number].network;

	for (int i = 0; i < count && network->fault_count < MOST_FAULTS; i++)
		network->faults[network->fault_count++] = (enum fault)kind;
}

static void latency(struct world *world, int number, int tenths, int unused)
{
	(void)unused;
	world->seats[number].network.latency_ms = tenths * 100;
}

/* Two operators, one with a stale cache, may revert each other's writes until it is up to date. */
static void allow_conflict(struct world *world)
{
	if (world->seats[0].operator_ && world->seats[1].operator_)
		world->writes_allowed += CONFLICT_WRITES;
}

static void lag(struct world *world, int number, int kind, int tenths)
{
	static const enum mpijob__local_kind_id kinds[] = { MPIJOB__LOCAL_KIND_MPIJOB,
		MPIJOB__LOCAL_KIND_JOB, MPIJOB__LOCAL_KIND_POD, MPIJOB__LOCAL_KIND_SERVICE,
		MPIJOB__LOCAL_KIND_CONFIG_MAP };

	world->seats[number].network.lag_ms[kinds[kind]] = tenths * 100;
	allow_conflict(world);
}

static void cut(struct world *world, int number, int refused, int unused)
{
	(void)unused;
	world->seats[number].network.refuse_watches = refused;
	allow_conflict(world);
	if (world->seats[number].operator_)
		network_cut(&world->seats[number].network);
}

static void jump(struct world *world, int number, int seconds, int back)
{
	world->seats[number].skew_ms = (back ? -1 : 1) * (int64_t)seconds * 1000;
}

static void restart(struct world *world, int number, int unused, int unused_too)
{
	(void)unused;
	(void)unused_too;
	if (!world->seats[number].operator_)
		return;
	world_stop(world, number);
	world_start(world, number);
}

static void stop(struct world *world, int number, int unused, int unused_too)
{
	(void)unused;
	(void)unused_too;
	world_stop(world, number);
}

static void begin(struct world *world, int number, int unused, int unused_too)
{
	(void)unused;
	(void)unused_too;
	world_start(world, number);
	allow_conflict(world); /* one whose events lag starts with a stale cache */
}

static void lead(struct world *world, int number, int unused, int unused_too)
{
	(void)unused;
	(void)unused_too;
	world_lead(world, number);
}

static void step(struct world *world, int steps, int unused, int unused_too)
{
	(void)unused;
	(void)unused_too;
	world_step(world, steps);
}

static void pass(struct world *world, int tenths, int unused, int unused_too)
{
	(void)unused;
	(void)unused_too;
	world_pass(world, tenths * 100);
}

static void settle(struct world *world, int seconds, int unused, int unused_too)
{
	(void)unused;
	(void)unused_too;
	world_settle(world, seconds * 1000);
}

static void defect(struct world *world, int slot, int kind, int unused)
{
	(void)unused;
	driver_defect(world, (enum defect)kind, slot);
}

/* --- the table --- */

static const struct verb {
	const char *name;
	int weight;
	int below[3]; /* numbers are drawn below; 0: none */
	int credit;   /* writes of operators that it may lead to, times their number */
	void (*run)(struct world *world, int a, int b, int c);
} verbs[] = {
	{ "create", 60, { SLOTS, MOST_WORKERS + 1, CREATE_MOST }, 30, create },
	{ "suspend", 30, { SLOTS, 2, 0 }, 30, suspend },
	{ "scale", 25, { SLOTS, MOST_WORKERS + 1, 0 }, 20, scale },
	{ "delete", 25, { SLOTS, 2, 0 }, 20, delete_job },
	{ "touch", 6, { SLOTS, 100, 0 }, 6, touch },
	{ "remove", 20, { SLOTS, 6 + MOST_WORKERS, 0 }, 20, remove_child },
	{ "mark", 12, { SLOTS, 6 + MOST_WORKERS, 100 }, 6, mark },
	{ "bend", 15, { SLOTS, 5, 0 }, 10, bend },
	{ "take-name", 5, { SLOTS, 4, 0 }, 10, take_name },
	{ "give-names", 8, { SLOTS, 0, 0 }, 20, give_names },
	{ "run", 70, { SLOTS, 2, 0 }, 6, run_workers },
	{ "worker", 40, { SLOTS, MOST_WORKERS, PHASE_COUNT }, 10, worker_phase },
	{ "launcher", 70, { SLOTS, PHASE_COUNT, 0 }, 20, launcher_phase },
	{ "reap", 20, { 0, 0, 0 }, 10, reap },
	{ "fault", 60, { OPERATORS, FAULT_COUNT, 4 }, 30, fault },
	{ "latency", 15, { OPERATORS, 30, 0 }, 10, latency },
	{ "lag", 30, { OPERATORS, 5, 200 }, 20, lag },
	{ "cut", 15, { OPERATORS, 3, 0 }, 10, cut },
	{ "jump", 6, { OPERATORS, 400, 2 }, 20, jump },
	{ "restart", 12, { OPERATORS, 0, 0 }, 20, restart },
	{ "stop", 8, { OPERATORS, 0, 0 }, 10, stop },
	{ "begin", 14, { OPERATORS, 0, 0 }, 30, begin },
	{ "lead", 12, { OPERATORS, 0, 0 }, 20, lead },
	{ "step", 150, { 5, 0, 0 }, 2, step },
	{ "pass", 120, { 100, 0, 0 }, 4, pass },
	{ "settle", 22, { 0, 0, 0 }, 20, settle },
	{ "defect", 0, { SLOTS, DEFECT_COUNT, 0 }, 0, defect },
};

#define VERBS ((int)(sizeof(verbs) / sizeof(verbs[0])))

static int in_range(int value, int below)
{
	return below == 0 || (value >= 0 && value < below);
}

void action_do(struct world *world, const struct action *action)
{
	const struct verb *verb = &verbs[action->verb];

	world->writes_allowed += (uint64_t)verb->credit * OPERATORS;
	if (world->trace == TRACE_ON) {
		fprintf(stderr, "%9lld ", (long long)clock_ms());
		action_print(action, stderr);
	}
	verb->run(world, action->a, action->b, action->c);
}

static int draw_below(uint64_t *rng, int below)
{
	return below ? (int)(draw(rng) % (uint64_t)below) : 0;
}

/* What is done to a job is mostly done to one that is there, and a new one mostly gets a free
 * name. */
static void choose_slot(struct world *world, uint64_t *rng, struct action *action)
{
	int wants_job = strcmp(verbs[action->verb].name, "create") != 0;

	for (int tries = 0; tries < 6 && (job_in(world, action->a) != NULL) != wants_job; tries++)
		action->a = draw_below(rng, SLOTS);
}

/* Most jobs are ordinary, most launchers run well. */
static void make_likely(struct action *action, uint64_t *rng, const char *name)
{
	if (strcmp(name, "create") == 0) {
		if (draw_below(rng, 8))
			action->c &= ~(CREATE_FOREIGN | CREATE_INVALID);
		if (draw_below(rng, 3))
			action->c &= ~(CREATE_SUSPENDED | CREATE_DEADLINE);
		if (draw_below(rng, 6) && action->b == 0)
			action->b = 2;
	} else if (strcmp(name, "scale") == 0 && draw_below(rng, 4)) {
		action->b = action->b ? action->b : 1;
	} else if (strcmp(name, "settle") == 0) {
		action->a = 400;
	} else if (strcmp(name, "launcher") == 0 && !draw_below(rng, 3)) {
		action->b = PHASE_SUCCEEDED;
	} else if (strcmp(name, "worker") == 0 && draw_below(rng, 2)) {
		action->c = PHASE_READY;
	} else if (strcmp(name, "cut") == 0 && draw_below(rng, 2)) {
		action->b = 0;
	}
}

void action_make(struct world *world, uint64_t *rng, struct action *action)
{
	int total = 0, at;

	for (int i = 0; i < VERBS; i++)
		total += verbs[i].weight;
	at = draw_below(rng, total);
	action->verb = 0;
	while (at >= verbs[action->verb].weight)
		at -= verbs[action->verb++].weight;
	action->a = draw_below(rng, verbs[action->verb].below[0]);
	action->b = draw_below(rng, verbs[action->verb].below[1]);
	action->c = draw_below(rng, verbs[action->verb].below[2]);
	if (verbs[action->verb].below[0] == SLOTS)
		choose_slot(world, rng, action);
	make_likely(action, rng, verbs[action->verb].name);
}

int action_parse(const char *line, struct action *action)
{
	char name[32];

	memset(action, 0, sizeof(*action));
	if (sscanf(line, "%31s %d %d %d", name, &action->a, &action->b, &action->c) < 1)
		return -1;
	for (action->verb = 0; action->verb < VERBS; action->verb++)
		if (strcmp(verbs[action->verb].name, name) == 0)
			return in_range(action->a, verbs[action->verb].below[0]) &&
				       in_range(action->b, verbs[action->verb].below[1]) &&
				       in_range(action->c, verbs[action->verb].below[2])
				   ? 0
				   : -1;
	return -1;
}

void action_print(const struct action *action, FILE *out)
{
	const struct verb *verb = &verbs[action->verb];

	fprintf(out, "%s", verb->name);
	if (action->a || verb->below[0])
		fprintf(out, " %d", action->a);
	if (action->b || verb->below[1])
		fprintf(out, " %d", action->b);
	if (action->c || verb->below[2])
		fprintf(out, " %d", action->c);
	fprintf(out, "\n");
}
