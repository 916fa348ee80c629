/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariants. Some are checked at every change of the store, in order; some at every request of
 * an operator; and the relations between jobs, their status and their children when nothing is
 * pending.
 */
#include "lifecycle.h"

#include "local/route.h"

#include <stdlib.h>
#include <string.h>

#define STALE_MOST_MS 60000 /* the maximum age of a cache, also after a watch broke */

/* --- small questions --- */

static const char *text_at(const struct mpijob__local_object *object, const char *path)
{
	const char *text = mpijob__local_store_text(object, path);

	return text ? text : "";
}

static int64_t int_at(const struct mpijob__local_object *object, const char *path, int64_t absent)
{
	mpijob_node_int(mpijob_node_find(mpijob_doc_root(object->doc), path), &absent);
	return absent;
}

static int flag_at(const struct mpijob__local_object *object, const char *path)
{
	int flag = 0;

	mpijob_node_bool(mpijob_node_find(mpijob_doc_root(object->doc), path), &flag);
	return flag;
}

const mpijob_node *condition_of(const struct mpijob__local_object *object, const char *type)
{
	const mpijob_node *list =
	    mpijob_node_find(mpijob_doc_root(object->doc), "status.conditions");

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		const char *text =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(list, i), "type"));

		if (text && strcmp(text, type) == 0)
			return mpijob_node_at(list, i);
	}
	return NULL;
}

int condition_is(const struct mpijob__local_object *object, const char *type, const char *status)
{
	const char *text =
	    mpijob_node_string(mpijob_node_get(condition_of(object, type), "status"));

	return text && strcmp(text, status) == 0;
}

static int phase_is(const struct mpijob__local_object *pod, const char *phase)
{
	return strcmp(text_at(pod, "status.phase"), phase) == 0;
}

static int ended(const struct mpijob__local_object *pod)
{
	return phase_is(pod, "Succeeded") || phase_is(pod, "Failed");
}

static int is_ready(const struct mpijob__local_object *pod)
{
	return condition_is(pod, "Ready", "True");
}

static int suspended(const struct mpijob__local_object *job)
{
	return flag_at(job, "spec.runPolicy.suspend");
}

static int workers_of(const struct mpijob__local_object *job)
{
	return (int)int_at(job, "spec.mpiReplicaSpecs.Worker.replicas", 0);
}

static int policy_is(const struct mpijob__local_object *job, const char *policy)
{
	return strcmp(text_at(job, "spec.runPolicy.cleanPodPolicy"), policy) == 0;
}

/* -1: none. */
static int worker_index(const struct mpijob__local_object *pod)
{
	const char *at = strstr(pod->name, "-worker-");

	return at ? atoi(at + 8) : -1;
}

/* --- memory --- */

struct life *invariants_life(struct world *world, const char *uid)
{
	struct life *life = world->lifecycle;

	while (life && strcmp(life->uid, uid) != 0)
		life = life->next;
	return life;
}

static struct kin *find_kin(const struct world *world, const char *uid)
{
	struct kin *kin = world->kin;

	while (kin && strcmp(kin->uid, uid) != 0)
		kin = kin->next;
	return kin;
}

static void add_kin(struct world *world, const struct mpijob__local_object *object,
    struct life *life)
{
	struct kin *kin = calloc(1, sizeof(*kin));

	NEED(kin);
	(void)snprintf(kin->uid, sizeof(kin->uid), "%s", object->uid);
	kin->life = life;
	kin->made_at = world->local->store.version;
	kin->next = world->kin;
	world->kin = kin;
}

void invariants_release(struct world *world)
{
	while (world->lifecycle) {
		struct life *next = world->lifecycle->next;

		free(world->lifecycle);
		world->lifecycle = next;
	}
	while (world->kin) {
		struct kin *next = world->kin->next;

		free(world->kin);
		world->kin = next;
	}
}

static struct life *owner_life(struct world *world, const struct mpijob__local_object *object)
{
	return object->owner_count ? invariants_life(world, object->owners[0]) : NULL;
}

/* --- changes --- */

static int is_refused(const struct mpijob__local_object *job)
{
	const char *reason =
	    mpijob_node_string(mpijob_node_get(condition_of(job, "Failed"), "reason"));

	return reason && strcmp(reason, "ValidationError") == 0;
}

/* It is said to have ended because its launcher is gone. */
static void check_gone(struct world *world, const struct mpijob__local_object *job)
{
	const char *reason =
	    mpijob_node_string(mpijob_node_get(condition_of(job, "Failed"), "reason"));

	if (!reason || strcmp(reason, "MPIJobLauncherGone") != 0)
		return;
	for (struct mpijob__local_object *launcher =
		 mpijob__local_store_first(&world->local->store, MPIJOB__LOCAL_KIND_JOB);
	     launcher; launcher = mpijob__local_store_next(launcher))
		if (launcher->owner_count && strcmp(launcher->owners[0], job->uid) == 0 &&
		    !launcher->deleting)
			world_fail(world, "launcher-there",
			    "%s has failed for want of %s, which is there", job->name,
			    launcher->name);
}

static void note_terminal(struct world *world, const struct mpijob__local_object *job,
    struct life *life)
{
	static const char *const ends[] = { "Succeeded", "Failed" };
	int is[2] = { condition_is(job, ends[0], "True"), condition_is(job, ends[1], "True") };

	if (is[0] && is[1])
		world_fail(world, "both-ends", "%s is Succeeded and Failed", job->name);
	/* Until it is corrected. */
	if (is[1] && (world->features & FEATURE_INVALID) && is_refused(job))
		is[1] = 0;
	for (int i = 0; i < 2; i++) {
		if (life->terminal[0] && strcmp(life->terminal, ends[i]) == 0 && !is[i])
			world_fail(world, "terminal", "%s is no longer %s", job->name, ends[i]);
		if (!is[i])
			continue;
		if (!life->terminal[0])
			check_gone(world, job);
		else if (strcmp(life->terminal, ends[i]) != 0)
			world_fail(world, "terminal", "%s was %s and is %s", job->name,
			    life->terminal, ends[i]);
		(void)snprintf(life->terminal, sizeof(life->terminal), "%s", ends[i]);
	}
}

static void job_changed(struct world *world, const struct mpijob__local_object *job, int change)
{
	struct life *life = invariants_life(world, job->uid);
	uint64_t version = world->local->store.version;

	if (!life) {
		life = calloc(1, sizeof(*life));
		NEED(life);
		(void)snprintf(life->uid, sizeof(life->uid), "%s", job->uid);
		life->next = world->lifecycle;
		world->lifecycle = life;
	}
	if (change == MPIJOB__LOCAL_CHANGE_DELETED)
		return;
	if (suspended(job) || life->suspended) {
		life->suspended_at = version;
		life->suspended_ms = clock_ms();
	}
	life->suspended = suspended(job);
	for (int i = 0; i <= MOST_WORKERS; i++) {
		if (i < workers_of(job) && i < life->workers)
			continue;
		life->small_at[i] = version;
		life->small_ms[i] = clock_ms();
	}
	life->workers = workers_of(job);
	note_terminal(world, job, life);
}

static void launcher_changed(struct world *world, const struct mpijob__local_object *launcher,
    int change)
{
	struct life *life = owner_life(world, launcher);
	const struct mpijob__local_object *job =
	    life ? mpijob__local_store_by_uid(&world->local->store, life->uid) : NULL;

	if (!life)
		return;
	if (change == MPIJOB__LOCAL_CHANGE_ADDED) {
		add_kin(world, launcher, life);
		life->launchers++;
		if (life->terminal[0])
			world_fail(world, "launcher-after-end", "%s is made though the job is %s",
			    launcher->name, life->terminal);
		else if (life->complete && !life->meddled)
			world_fail(world, "second-run", "%s is made though one was Complete",
			    launcher->name);
	}
	if (!condition_is(launcher, "Complete", "True"))
		return;
	life->complete = 1;
	/*
	 * An operator that is killed between the launcher's creation and the status that remembers
	 * it, for longer than launcher and time to live take, leaves nothing to know it by: the one
	 * second run that is not prevented.
	 */
	if (job && !mpijob_node_find(mpijob_doc_root(job->doc), "status.replicaStatuses.Launcher"))
		life->meddled = 1;
}

/* Launcher pods of one MPIJob that may run at this moment. */
static void count_launchers(struct world *world, const struct life *life)
{
	int live = 0;

	for (struct mpijob__local_object *pod =
		 mpijob__local_store_first(&world->local->store, MPIJOB__LOCAL_KIND_POD);
	     pod; pod = mpijob__local_store_next(pod)) {
		const struct kin *kin = pod->owner_count ? find_kin(world, pod->owners[0]) : NULL;

		live += kin && kin->life == life && worker_index(pod) < 0 && !pod->deleting &&
			!ended(pod);
	}
	if (live > 1)
		world_fail(world, "two-launchers", "%d launcher pods of one job at a time", live);
}

static void pod_changed(struct world *world, const struct mpijob__local_object *pod, int change)
{
	struct life *life = owner_life(world, pod);
	const struct kin *kin = pod->owner_count ? find_kin(world, pod->owners[0]) : NULL;

	if (change == MPIJOB__LOCAL_CHANGE_ADDED && life)
		add_kin(world, pod, NULL);
	if (kin && kin->life && change != MPIJOB__LOCAL_CHANGE_DELETED)
		count_launchers(world, kin->life);
}

static void check_mark(struct world *world, const struct mpijob__local_object *object)
{
	const struct mpijob__local_collection *collection =
	    &world->local->store.collections[object->kind->id];
	const struct mpijob__local_store_event *last =
	    &collection->history[collection->history_count - 1];
	const char *before =
	    last->before ? mpijob__local_store_revision_label(last->before, "lifecycle-mark")
			 : NULL;
	const char *now = mpijob__local_store_revision_label(last->now, "lifecycle-mark");

	if (before && (!now || strcmp(before, now) != 0) && !world->driver_acts)
		world_fail(world, "foreign-label", "a label of somebody else is gone from %s %s",
		    object->kind->name, object->name);
}

void invariants_changed(void *user, struct mpijob__local_object *object, int change)
{
	struct world *world = user;

	world->store_changed(world->store_user, object, change);
	if (object->kind->id == MPIJOB__LOCAL_KIND_EVENT)
		return;
	world->changes++;
	if (world->trace == TRACE_EVENTS)
		printf("{\"type\":\"%s\",\"object\":%s}\n",
		    change == MPIJOB__LOCAL_CHANGE_ADDED     ? "ADDED"
		    : change == MPIJOB__LOCAL_CHANGE_DELETED ? "DELETED"
							     : "MODIFIED",
		    mpijob_text_data(object->now->text));
	else if (world->trace)
		fprintf(stderr, "%9lld     %s %s/%s %s%s\n", (long long)clock_ms(),
		    object->kind->name, object->namespace_, object->name,
		    change == MPIJOB__LOCAL_CHANGE_ADDED     ? "added"
		    : change == MPIJOB__LOCAL_CHANGE_DELETED ? "deleted"
							     : "changed",
		    object->deleting ? ", is going" : "");
	if (object->kind->id == MPIJOB__LOCAL_KIND_MPIJOB)
		job_changed(world, object, change);
	else if (object->kind->id == MPIJOB__LOCAL_KIND_JOB)
		launcher_changed(world, object, change);
	else if (object->kind->id == MPIJOB__LOCAL_KIND_POD)
		pod_changed(world, object, change);
	if (change == MPIJOB__LOCAL_CHANGE_MODIFIED)
		check_mark(world, object);
}

/* --- requests --- */

/* One of two operators may have a stale cache, and delete what the other one created. */
static int may_be_stale(const struct world *world, int64_t reason_ms)
{
	return world->two && reason_ms && clock_ms() - reason_ms <= STALE_MOST_MS;
}

static int may_delete(struct world *world, const struct mpijob__local_object *pod,
    const struct life *life)
{
	const struct mpijob__local_object *job =
	    mpijob__local_store_by_uid(&world->local->store, life->uid);
	const struct kin *kin = find_kin(world, pod->uid);
	uint64_t made_at = kin ? kin->made_at : 0;
	int index = worker_index(pod);

	if (!job || job->deleting || suspended(job) || life->terminal[0])
		return 1;
	if ((world->features & FEATURE_REPLACE) && phase_is(pod, "Failed"))
		return 1;
	if ((world->features & FEATURE_RESTART) && condition_of(job, "Restarting"))
		return 1;
	if (index >= MOST_WORKERS || index >= workers_of(job))
		return 1;
	return index < 0 || life->suspended_at > made_at || life->small_at[index] > made_at ||
	       may_be_stale(world, life->suspended_ms) ||
	       may_be_stale(world, life->small_ms[index]);
}

static void check_change(struct world *world, const struct mpijob__local_route *route,
    const struct mpijob_request *request)
{
	const struct mpijob__local_object *object = mpijob__local_store_find(&world->local->store,
	    route->kind->id, route->namespace_ ? route->namespace_ : "", route->name);
	const char *at =
	    request->body_len ? memmem(request->body, request->body_len, "\"uid\":\"", 7) : NULL;
	const struct life *life;

	if (!at) {
		world_fail(world, "no-precondition", "%s of %s %s names no uid", request->method,
		    route->kind->name, route->name);
		return;
	}
	/* Another one of that name by now: refused by the cluster. */
	if (!object || strncmp(at + 7, object->uid, strlen(object->uid)) != 0)
		return;
	life = owner_life(world, object);
	if (!life && (world->features & FEATURE_CLEAN) && object->owner_count &&
	    find_kin(world, object->owners[0]))
		life = find_kin(world, object->owners[0])->life;
	if (!life)
		world_fail(world, "foreign", "%s of %s %s, which is not a job's", request->method,
		    route->kind->name, route->name);
	else if (strcmp(request->method, "DELETE") == 0 &&
		 route->kind->id == MPIJOB__LOCAL_KIND_POD && !may_delete(world, object, life))
		world_fail(world, "defect", "%s is deleted for no reason", object->name);
	else if (strcmp(request->method, "DELETE") == 0 &&
		 route->kind->id != MPIJOB__LOCAL_KIND_POD &&
		 route->kind->id != MPIJOB__LOCAL_KIND_VOLCANO_POD_GROUP &&
		 route->kind->id != MPIJOB__LOCAL_KIND_SCHEDULER_POD_GROUP)
		world_fail(world, "defect", "%s %s is deleted", route->kind->name, object->name);
}

/* It names an older version of the job, and so is refused by the cluster. */
static int is_outdated(const struct mpijob__local_object *job, const struct mpijob_request *request)
{
	const char *now = mpijob_node_string(
	    mpijob_node_find(mpijob_doc_root(job->doc), "metadata.resourceVersion"));
	const char *key = "\"resourceVersion\":\"";
	const char *at = memmem(request->body, request->body_len, key, strlen(key));

	return at && now &&
	       (strncmp(at + strlen(key), now, strlen(now)) != 0 ||
		   at[strlen(key) + strlen(now)] != '"');
}

/* A job that has ended goes after its time, when that is wanted. */
static int is_timely(struct world *world, const struct mpijob__local_route *route,
    const struct mpijob_request *request)
{
	const struct mpijob__local_object *job = mpijob__local_store_find(&world->local->store,
	    MPIJOB__LOCAL_KIND_MPIJOB, route->namespace_, route->name);
	const struct life *life = job ? invariants_life(world, job->uid) : NULL;

	if (!(world->features & FEATURE_TTL) || strcmp(request->method, "DELETE") != 0 ||
	    !memmem(request->body, request->body_len, "\"uid\":\"", 7))
		return 0;
	if (!life || !memmem(request->body, request->body_len, job->uid, strlen(job->uid)) ||
	    is_outdated(job, request))
		return 1;
	return life->terminal[0] && mpijob_node_find(mpijob_doc_root(job->doc),
					"spec.runPolicy.ttlSecondsAfterFinished");
}

void invariants_request(struct world *world, const struct mpijob_request *request, int number)
{
	struct mpijob__local_route route = { 0 };
	int reads = strcmp(request->method, "GET") == 0;

	(void)number;
	NEED(mpijob__local_route_parse(&route, request->path) == 0);
	NEED(route.kind);
	if (route.kind->id == MPIJOB__LOCAL_KIND_EVENT) {
		world->events++;
	} else if (reads) {
		world->reads += route.name != NULL;
	} else {
		world->writes++;
		if (route.kind->id == MPIJOB__LOCAL_KIND_MPIJOB &&
		    is_timely(world, &route, request))
			;
		else if (route.kind->id == MPIJOB__LOCAL_KIND_MPIJOB &&
			 (!route.subresource || strcmp(request->method, "PATCH") != 0))
			world_fail(world, "foreign", "%s of an MPIJob", request->method);
		else if (route.kind->id != MPIJOB__LOCAL_KIND_MPIJOB && route.name)
			check_change(world, &route, request);
	}
	mpijob__local_route_clear(&route);
}

/* --- quiet --- */

struct census {
	int present[MOST_WORKERS], running[MOST_WORKERS];
	int active, ready, steady, evicted;
	int live; /* workers that are there to run, none of them going */
	int surplus;
	int launcher_running;
	int taken; /* a name of a child belongs to somebody else */
	const struct mpijob__local_object *launcher, *config_map;
};

static void count_worker(struct census *census, const struct mpijob__local_object *job,
    const struct mpijob__local_object *pod)
{
	int index = worker_index(pod);

	if (index >= workers_of(job) || index >= MOST_WORKERS) {
		census->surplus += !pod->deleting;
		census->live += !pod->deleting && !ended(pod);
		return;
	}
	census->present[index] = 1;
	census->live += !pod->deleting && !ended(pod);
	if (phase_is(pod, "Running")) {
		census->active++;
		census->steady += !pod->deleting;
		census->running[index] = !pod->deleting;
	}
	census->ready += is_ready(pod) && !pod->deleting;
	census->evicted +=
	    phase_is(pod, "Failed") && strcmp(text_at(pod, "status.reason"), "Evicted") == 0;
}

static const struct mpijob__local_object *child(const struct world *world,
    const struct mpijob__local_object *job, enum mpijob__local_kind_id kind, const char *suffix,
    struct census *census)
{
	const struct mpijob__local_object *object;
	char name[80];

	(void)snprintf(name, sizeof(name), "%s%s", job->name, suffix);
	object = mpijob__local_store_find(&world->local->store, kind, job->namespace_, name);
	if (object && (!object->owner_count || strcmp(object->owners[0], job->uid) != 0)) {
		census->taken = 1;
		return NULL;
	}
	return object;
}

static void take_census(struct world *world, const struct mpijob__local_object *job,
    struct census *census)
{
	memset(census, 0, sizeof(*census));
	for (struct mpijob__local_object *pod =
		 mpijob__local_store_first(&world->local->store, MPIJOB__LOCAL_KIND_POD);
	     pod; pod = mpijob__local_store_next(pod)) {
		const struct kin *kin = pod->owner_count ? find_kin(world, pod->owners[0]) : NULL;

		if (pod->owner_count && strcmp(pod->owners[0], job->uid) == 0)
			count_worker(census, job, pod);
		else if (kin && kin->life && strcmp(kin->life->uid, job->uid) == 0)
			census->launcher_running += phase_is(pod, "Running");
	}
	for (int i = 0; i < workers_of(job) && i < MOST_WORKERS; i++) {
		char suffix[20];

		(void)snprintf(suffix, sizeof(suffix), "-worker-%d", i);
		(void)child(world, job, MPIJOB__LOCAL_KIND_POD, suffix, census);
	}
	census->launcher = child(world, job, MPIJOB__LOCAL_KIND_JOB, "-launcher", census);
	census->config_map = child(world, job, MPIJOB__LOCAL_KIND_CONFIG_MAP, "-config", census);
	(void)child(world, job, MPIJOB__LOCAL_KIND_SERVICE, "", census);
	(void)child(world, job, MPIJOB__LOCAL_KIND_SECRET, "-ssh", census);
	(void)child(world, job, MPIJOB__LOCAL_KIND_VOLCANO_POD_GROUP, "", census);
	(void)child(world, job, MPIJOB__LOCAL_KIND_SCHEDULER_POD_GROUP, "", census);
}

static void lacks(struct world *world, const struct mpijob__local_object *job, const char *what)
{
	world_fail(world, "lacking", "%s/%s: %s", job->namespace_, job->name, what);
}

static void lies(struct world *world, const struct mpijob__local_object *job, const char *what)
{
	world_fail(world, "status", "%s/%s: %s", job->namespace_, job->name, what);
}

static void check_finished(struct world *world, const struct mpijob__local_object *job,
    const struct census *census)
{
	if (!mpijob__local_store_text(job, "status.completionTime"))
		lies(world, job, "it is finished without completionTime");
	if (condition_is(job, "Running", "True"))
		lies(world, job, "it is finished and Running");
	if (!condition_of(job, "Running"))
		lies(world, job, "it is finished without a condition Running");
	if ((policy_is(job, "All") || policy_is(job, "Running")) && census->live && !census->taken)
		lacks(world, job, "it is finished, and workers are left");
	if (census->launcher && !flag_at(census->launcher, "spec.suspend") &&
	    !condition_is(census->launcher, "Complete", "True") &&
	    !condition_is(census->launcher, "Failed", "True") && !census->launcher->deleting)
		lacks(world, job, "it is finished, and its launcher goes on");
	if (int_at(job, "status.replicaStatuses.Launcher.active", 0) != 0 &&
	    !census->launcher_running)
		lies(world, job, "a launcher is active that does not run");
}

static void check_suspended(struct world *world, const struct mpijob__local_object *job,
    const struct census *census)
{
	if (!condition_is(job, "Suspended", "True"))
		lies(world, job, "it is suspended and does not say so");
	if (condition_is(job, "Running", "True"))
		lies(world, job, "it is suspended and Running");
	if (census->live)
		lacks(world, job, "it is suspended, and workers are left");
	if (!census->launcher || !flag_at(census->launcher, "spec.suspend"))
		lacks(world, job, "it is suspended without a suspended launcher");
}

static void check_hosts(struct world *world, const struct mpijob__local_object *job,
    const struct census *census)
{
	const mpijob_node *data =
	    mpijob_node_find(mpijob_doc_root(census->config_map->doc), "data");
	const char *file = mpijob_node_string(mpijob_node_get(data, "hostfile"));
	const char *script = mpijob_node_string(mpijob_node_get(data, "discover_hosts.sh"));

	for (int i = 0; i < MOST_WORKERS; i++) {
		char host[80];

		(void)snprintf(host, sizeof(host), "%s-worker-%d.", job->name, i);
		if ((file && strstr(file, host)) != (i < workers_of(job)))
			lacks(world, job, "the hostfile is wrong");
		if ((script && strstr(script, host)) != census->running[i])
			lacks(world, job, "discover_hosts.sh is wrong");
	}
}

static void check_children(struct world *world, const struct mpijob__local_object *job,
    struct census *census)
{
	int wait = strcmp(text_at(job, "spec.launcherCreationPolicy"), "WaitForWorkersReady") == 0;

	for (int i = 0; i < workers_of(job) && i < MOST_WORKERS; i++)
		if (!census->present[i])
			lacks(world, job, "a worker is not there");
	if (census->surplus)
		lacks(world, job, "there are more workers than it has");
	if (!child(world, job, MPIJOB__LOCAL_KIND_SERVICE, "", census))
		lacks(world, job, "it has no Service");
	if (!census->config_map)
		lacks(world, job, "it has no ConfigMap");
	else if (!(world->features & FEATURE_COMPACT))
		check_hosts(world, job, census);
	if (!census->launcher && (!wait || census->ready == workers_of(job)))
		lacks(world, job, "it has no launcher");
	if (census->launcher && flag_at(census->launcher, "spec.suspend") &&
	    (!wait || census->ready == workers_of(job)))
		lacks(world, job, "its launcher is suspended");
}

static void check_active(struct world *world, const struct mpijob__local_object *job,
    struct census *census)
{
	if (condition_is(job, "Suspended", "True"))
		lies(world, job, "it goes on and says Suspended");
	if (!condition_is(job, "Created", "True"))
		lies(world, job, "it does not say Created");
	if (census->steady == workers_of(job) && census->launcher_running &&
	    !condition_is(job, "Running", "True"))
		lies(world, job, "all of it runs, and it does not say Running");
	if (int_at(job, "status.replicaStatuses.Worker.active", 0) != census->active)
		lies(world, job, "the number of active workers is wrong");
	if (census->evicted && !(world->features & (FEATURE_REPLACE | FEATURE_RESTART)))
		lies(world, job, "workers are evicted, and it goes on");
	if (census->launcher && (condition_is(census->launcher, "Complete", "True") ||
				    condition_is(census->launcher, "Failed", "True")))
		lies(world, job, "its launcher has ended, and it goes on");
	check_children(world, job, census);
}

static int is_left_alone(const struct mpijob__local_object *job)
{
	const char *manager = text_at(job, "spec.runPolicy.managedBy");

	return job->deleting || (*manager && strcmp(manager, "kubeflow.org/mpi-operator") != 0) ||
	       mpijob_node_find(mpijob_doc_root(job->doc), "metadata.labels.lifecycle-invalid") !=
		   NULL ||
	       (mpijob_node_find(mpijob_doc_root(job->doc), "spec.mpiReplicaSpecs.Worker") &&
		   workers_of(job) == 0);
}

static void check_job(struct world *world, const struct mpijob__local_object *job)
{
	struct census census;

	if (is_left_alone(job))
		return;
	take_census(world, job, &census);
	if (condition_is(job, "Succeeded", "True") || condition_is(job, "Failed", "True"))
		check_finished(world, job, &census);
	else if (census.taken)
		return;
	else if (suspended(job))
		check_suspended(world, job, &census);
	else
		check_active(world, job, &census);
}

/* What names an MPIJob or launcher as its owner that does not exist. */
static void check_orphans(struct world *world)
{
	const struct mpijob__local_store *store = &world->local->store;

	for (int kind = 0; kind < MPIJOB__LOCAL_KIND_COUNT; kind++)
		for (struct mpijob__local_object *object = mpijob__local_store_first(store, kind);
		     object; object = mpijob__local_store_next(object))
			if (object->owner_count &&
			    !mpijob__local_store_by_uid(store, object->owners[0]) &&
			    !object->deleting)
				world_fail(world, "orphan", "%s %s is left behind",
				    object->kind->name, object->name);
}

void invariants_quiet(struct world *world)
{
	for (struct mpijob__local_object *job =
		 mpijob__local_store_first(&world->local->store, MPIJOB__LOCAL_KIND_MPIJOB);
	     job; job = mpijob__local_store_next(job))
		check_job(world, job);
	check_orphans(world);
}
