/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver acts as users, kubelet, other controllers and attackers. Its requests reach the
 * cluster directly, while the requests of the operators pass through their simulated networks.
 */
#include "driver.h"

#include "../support/writes.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void fill_target(struct mpijob_target *target, char *version, size_t size,
    const struct mpijob__local_kind *kind, const char *namespace_, const char *name)
{
	(void)snprintf(version, size, "%s%s%s", kind->group, *kind->group ? "/" : "",
	    kind->version);
	target->api_version = version;
	target->kind = kind->name;
	target->namespace_ = namespace_;
	target->name = name;
}

__attribute__((format(printf, 1, 0))) static mpijob_doc *read_json(const char *format, va_list args)
{
	mpijob_doc *doc = NULL;
	char *text = NULL;

	NEED(vasprintf(&text, format, args) >= 0);
	NEED(mpijob_doc_parse(text, strlen(text), NULL, &doc, NULL) == 0);
	free(text);
	return doc;
}

int driver_create(struct world *world, enum mpijob__local_kind_id kind, const char *namespace_,
    const char *format, ...)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_doc *doc;
	char version[64];
	va_list args;
	int code;

	va_start(args, format);
	doc = read_json(format, args);
	va_end(args);
	fill_target(&target, version, sizeof(version), mpijob__local_store_kind(kind), namespace_,
	    NULL);
	world->driver_acts = 1;
	code = mpijob_client_write(world->driver, &target, mpijob_doc_root(doc), NULL, NULL, NULL);
	world->driver_acts = 0;
	mpijob_doc_free(doc);
	return code;
}

int driver_patch(struct world *world, const struct mpijob__local_object *object,
    const char *subresource, const char *format, ...)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_doc *doc;
	char version[64], *name = strdup(object->name), *namespace_ = strdup(object->namespace_);
	va_list args;
	int code;

	NEED(name && namespace_);
	va_start(args, format);
	doc = read_json(format, args);
	va_end(args);
	fill_target(&target, version, sizeof(version), object->kind, namespace_, name);
	target.subresource = subresource;
	world->driver_acts = 1;
	code = mpijob_client_write(world->driver, &target, mpijob_doc_root(doc), WRITE(PATCH_MERGE),
	    NULL, NULL);
	world->driver_acts = 0;
	mpijob_doc_free(doc);
	free(name);
	free(namespace_);
	return code;
}

static int delete_with(struct world *world, const struct mpijob__local_object *object,
    const char *body)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	const char *const query[] = { "gracePeriodSeconds", "0" };
	char version[64], *name = strdup(object->name), *namespace_ = strdup(object->namespace_);
	int code;

	NEED(name && namespace_);
	fill_target(&target, version, sizeof(version), object->kind, namespace_, name);
	if (!body) {
		target.query = query;
		target.query_count = 2;
	}
	world->driver_acts = 1;
	code = mpijob_client_delete(world->driver, &target, DELETION(NULL, body), NULL);
	world->driver_acts = 0;
	free(name);
	free(namespace_);
	return code;
}

int driver_delete(struct world *world, const struct mpijob__local_object *object,
    const char *propagation)
{
	return delete_with(world, object, propagation);
}

/* --- kubelet --- */

void driver_phase(struct world *world, const struct mpijob__local_object *pod, enum phase phase)
{
	static const char *const names[] = { "Running", "Running", "Succeeded", "Failed",
		"Failed" };
	static const char *const states[] = {
		"\"running\":{\"startedAt\":\"%s\"}",
		"\"running\":{\"startedAt\":\"%s\"}",
		"\"running\":null,\"terminated\":{\"exitCode\":0,\"finishedAt\":\"%s\"}",
		"\"running\":null,\"terminated\":{\"exitCode\":1,\"finishedAt\":\"%s\"}",
		"\"running\":null,\"terminated\":{\"exitCode\":137,\"finishedAt\":\"%s\"}",
	};
	const char *now = mpijob__local_store_text(pod, "status.phase");
	char time[40], state[120];

	if (now && (strcmp(now, "Succeeded") == 0 || strcmp(now, "Failed") == 0))
		return;
	clock_print(time);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	(void)snprintf(state, sizeof(state), states[phase], time);
#pragma GCC diagnostic pop
	world->writes_allowed += phase >= PHASE_FAILED && world->features ? 80 : 6;
	(void)driver_patch(world, pod, "status",
	    "{\"status\":{\"phase\":\"%s\",\"startTime\":\"%s\",%s\"conditions\":[{\"type\":"
	    "\"Ready\","
	    "\"status\":\"%s\"}],\"containerStatuses\":[{\"name\":\"c\",\"state\":{%s}}]}}",
	    names[phase], time, phase == PHASE_EVICTED ? "\"reason\":\"Evicted\"," : "",
	    phase == PHASE_READY ? "True" : "False", state);
}

/* Pods on a node go when the kubelet has ended their processes. 1 when one went. */
int kubelet_reap(struct world *world)
{
	int reaped = 0;

	for (struct mpijob__local_object *
		 pod = mpijob__local_store_first(&world->local->store, MPIJOB__LOCAL_KIND_POD),
		*next;
	     pod; pod = next) {
		next = mpijob__local_store_next(pod);
		if (!pod->deleting)
			continue;
		reaped |= delete_with(world, pod, NULL) == 0;
		next = mpijob__local_store_first(&world->local->store, MPIJOB__LOCAL_KIND_POD);
	}
	return reaped;
}

/* --- what is there --- */

static const char *namespace_of(int slot)
{
	return slot & 1 ? "n1" : "n0";
}

static struct mpijob__local_object *find(struct world *world, enum mpijob__local_kind_id kind,
    int slot, const char *format, int number)
{
	char name[80], suffix[40];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	(void)snprintf(suffix, sizeof(suffix), format, number);
#pragma GCC diagnostic pop
	(void)snprintf(name, sizeof(name), "s%d%s", slot, suffix);
	return mpijob__local_store_find(&world->local->store, kind, namespace_of(slot), name);
}

struct mpijob__local_object *job_in(struct world *world, int slot)
{
	return find(world, MPIJOB__LOCAL_KIND_MPIJOB, slot, "", 0);
}

struct mpijob__local_object *worker_in(struct world *world, int slot, int index)
{
	return find(world, MPIJOB__LOCAL_KIND_POD, slot, "-worker-%d", index);
}

struct mpijob__local_object *launcher_in(struct world *world, int slot)
{
	return find(world, MPIJOB__LOCAL_KIND_JOB, slot, "-launcher", 0);
}

struct mpijob__local_object *child_in(struct world *world, int slot, int which)
{
	switch (which) {
	case 0: return find(world, MPIJOB__LOCAL_KIND_SERVICE, slot, "", 0);
	case 1: return find(world, MPIJOB__LOCAL_KIND_CONFIG_MAP, slot, "-config", 0);
	case 2: return find(world, MPIJOB__LOCAL_KIND_SECRET, slot, "-ssh", 0);
	default:
		return find(world,
		    world->options & WORLD_GANG_VOLCANO ? MPIJOB__LOCAL_KIND_VOLCANO_POD_GROUP
							: MPIJOB__LOCAL_KIND_SCHEDULER_POD_GROUP,
		    slot, "", 0);
	}
}

struct mpijob__local_object *launcher_pod_in(struct world *world, int slot)
{
	const struct mpijob__local_object *launcher = launcher_in(world, slot);
	struct mpijob__local_object *found = NULL;

	for (struct mpijob__local_object *pod =
		 mpijob__local_store_first(&world->local->store, MPIJOB__LOCAL_KIND_POD);
	     pod && launcher; pod = mpijob__local_store_next(pod))
		if (pod->owner_count && strcmp(pod->owners[0], launcher->uid) == 0 &&
		    !pod->deleting)
			found = pod;
	return found;
}

/* --- planted defects --- */

static void second_run(struct world *world, const struct mpijob__local_object *job)
{
	(void)driver_create(world, MPIJOB__LOCAL_KIND_JOB, job->namespace_,
	    "{\"metadata\":{\"name\":\"%s-again\",\"ownerReferences\":[{\"apiVersion\":"
	    "\"kubeflow.org/"
	    "v2beta1\",\"kind\":\"MPIJob\",\"name\":\"%s\",\"uid\":\"%s\",\"controller\":"
	    "true}]},\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":["
	    "{\"name\":"
	    "\"c\",\"image\":\"i\"}]}}}}",
	    job->name, job->name, job->uid);
}

static void second_pod(struct world *world, const struct mpijob__local_object *launcher)
{
	(void)driver_create(world, MPIJOB__LOCAL_KIND_POD, launcher->namespace_,
	    "{\"metadata\":{\"generateName\":\"%s-\",\"ownerReferences\":[{\"apiVersion\":\"batch/"
	    "v1\","
	    "\"kind\":\"Job\",\"name\":\"%s\",\"uid\":\"%s\",\"controller\":true}]},\"spec\":{"
	    "\"containers\":"
	    "[{\"name\":\"c\",\"image\":\"i\"}]}}",
	    launcher->name, launcher->name, launcher->uid);
}

/* Nobody tells the garbage collector. */
static void orphan(struct world *world)
{
	static const char text[] =
	    "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"lost\",\"uid\":"
	    "\"1\",\"ownerReferences\":[{\"uid\":\"nobody\"}]}}";
	mpijob_doc *doc = NULL;
	int collect = world->local->gc_pending;

	NEED(mpijob_doc_parse(text, sizeof(text) - 1, NULL, &doc, NULL) == 0);
	NEED(mpijob__local_store_add(&world->local->store,
		 mpijob__local_store_kind(MPIJOB__LOCAL_KIND_CONFIG_MAP), "n0", doc, NULL) == 0);
	world->local->gc_pending = collect;
}

void driver_defect(struct world *world, enum defect defect, int slot)
{
	struct mpijob__local_object *job = job_in(world, slot);
	struct mpijob__local_object *launcher = launcher_in(world, slot);

	if (defect == DEFECT_UNEND && job)
		(void)driver_patch(world, job, "status", "{\"status\":{\"conditions\":[]}}");
	else if (defect == DEFECT_TWO_PODS && launcher)
		second_pod(world, launcher);
	else if (defect == DEFECT_SECOND_RUN && job)
		second_run(world, job);
	else if (defect == DEFECT_ORPHAN)
		orphan(world);
	else if (defect == DEFECT_FIGHT && child_in(world, slot, 0))
		(void)driver_patch(world, child_in(world, slot, 0), NULL,
		    "{\"spec\":{\"selector\":{\"mine\":\"yes\"}}}");
	else if (defect == DEFECT_LIE && job)
		(void)driver_patch(world, job, "status",
		    "{\"status\":{\"replicaStatuses\":{\"Worker\":{\"active\":9}}}}");
	if (defect == DEFECT_FIGHT)
		world->fight = slot + 1;
	else if (defect == DEFECT_LIE)
		world->lie = slot + 1;
	else if (defect == DEFECT_BLIND)
		world->blind = 1;
}
