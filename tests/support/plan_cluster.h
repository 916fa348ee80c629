/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster in memory for tests of the plan: it stores what a plan creates, patches and deletes as
 * documents, feeds every change back as facts through mpijob_observe(), and stands in for the Job
 * controller. Pods do what the test says.
 */
#ifndef TESTS_SUPPORT_PLAN_CLUSTER_H
#define TESTS_SUPPORT_PLAN_CLUSTER_H

#include <mpijob/plan.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FAKE_START_MS INT64_C(1790000000000)
#define FAKE          __attribute__((unused)) static

struct fake_object {
	mpijob_doc *doc;
};

struct fake {
	struct fake_object *objects;
	size_t count;
	mpijob_doc *job;
	mpijob_facts *facts;
	mpijob_observation *observation;
	struct mpijob_features features; /* behind `render` */
	struct mpijob_render_options render;
	int32_t max_workers;
	int64_t hold_ms, ready_ms; /* the launcher waits for names; when all workers were ready */
	int names_known;
	int64_t now_ms;
	long version;
	long uid;
	long config_map_writes;
	int graceful; /* deleted pods stay with a deletionTimestamp until fake_reap() */
};

FAKE void fake_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

#define NEED(x)                                                        \
	do {                                                           \
		if (!(x))                                              \
			fake_die("%s:%d: %s", __FILE__, __LINE__, #x); \
	} while (0)

FAKE char *fake_time(int64_t ms, char out[32])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return out;
}

/* Flow YAML, so that patches need few quotes. */
FAKE mpijob_doc *fake_parse(const char *format, va_list args)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;
	char *text = NULL;

	options.format = MPIJOB_FORMAT_YAML;
	NEED(vasprintf(&text, format, args) >= 0);
	if (mpijob_doc_parse(text, strlen(text), &options, &doc, NULL))
		fake_die("no document: %s", text);
	free(text);
	return doc;
}

FAKE const char *fake_text(const mpijob_doc *doc, const char *path)
{
	return mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), path));
}

FAKE int64_t fake_int(const mpijob_doc *doc, const char *path)
{
	int64_t value = 0;

	mpijob_node_int(mpijob_node_find(mpijob_doc_root(doc), path), &value);
	return value;
}

FAKE int fake_bool(const mpijob_doc *doc, const char *path)
{
	int value = 0;

	mpijob_node_bool(mpijob_node_find(mpijob_doc_root(doc), path), &value);
	return value;
}

FAKE mpijob_text *fake_json(const mpijob_node *node, int32_t format)
{
	mpijob_text *text = mpijob_text_new();

	NEED(text && !mpijob_node_write(node, format, mpijob_text_write, text));
	return text;
}

/* Documents only grow: clone now and then. */
FAKE void fake_set(mpijob_doc **doc, const char *format, ...)
{
	mpijob_doc *patch, *clone;
	va_list args;

	va_start(args, format);
	patch = fake_parse(format, args);
	va_end(args);
	NEED(!mpijob_doc_merge(*doc, mpijob_doc_root(patch)));
	mpijob_doc_free(patch);
	clone = mpijob_doc_clone(*doc);
	NEED(clone);
	mpijob_doc_free(*doc);
	*doc = clone;
}

FAKE struct fake_object *fake_find(struct fake *fake, const char *kind, const char *name)
{
	for (size_t i = 0; i < fake->count; i++) {
		if (strcmp(fake_text(fake->objects[i].doc, "kind"), kind) == 0 &&
		    strcmp(fake_text(fake->objects[i].doc, "metadata.name"), name) == 0)
			return &fake->objects[i];
	}
	return NULL;
}

FAKE void fake_feed_event(struct fake *fake, mpijob_facts *facts, const mpijob_doc *doc,
    const char *type)
{
	mpijob_text *text = mpijob_text_new(),
		    *object = fake_json(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT);
	char head[64];
	int code;

	snprintf(head, sizeof(head), "{\"type\":\"%s\",\"object\":", type);
	NEED(!mpijob_text_write(text, head, strlen(head)));
	NEED(!mpijob_text_write(text, mpijob_text_data(object), mpijob_text_len(object)));
	NEED(!mpijob_text_write(text, "}", 1));
	code =
	    mpijob_observe(fake->observation, mpijob_text_data(text), mpijob_text_len(text), NULL);
	if (code)
		fake_die("observe gave %d for %s", code, mpijob_text_data(text));
	NEED(mpijob_facts_apply(facts, mpijob_observation_view(fake->observation)) >= 0);
	mpijob_text_free(text);
	mpijob_text_free(object);
}

FAKE void fake_touch(struct fake *fake, struct fake_object *object)
{
	fake_set(&object->doc, "{metadata: {resourceVersion: \"%ld\"}}", ++fake->version);
	fake_feed_event(fake, fake->facts, object->doc, "MODIFIED");
}

/* Store an object; takes the document. */
FAKE struct fake_object *fake_add(struct fake *fake, mpijob_doc *doc)
{
	char now[32];
	struct fake_object *object;

	fake->objects = realloc(fake->objects, (fake->count + 1) * sizeof(*fake->objects));
	NEED(fake->objects);
	object = &fake->objects[fake->count++];
	object->doc = doc;
	fake_set(&object->doc,
	    "{metadata: {uid: \"00000000-0000-4000-8000-%012ld\", resourceVersion: \"%ld\", "
	    "creationTimestamp: "
	    "\"%s\"}}",
	    ++fake->uid, ++fake->version, fake_time(fake->now_ms, now));
	if (strcmp(fake_text(object->doc, "kind"), "Pod") == 0 &&
	    !fake_text(object->doc, "status.phase"))
		fake_set(&object->doc, "{status: {phase: Pending}}");
	fake_feed_event(fake, fake->facts, object->doc, "ADDED");
	return object;
}

FAKE void fake_remove(struct fake *fake, struct fake_object *object)
{
	size_t at = (size_t)(object - fake->objects);

	fake_feed_event(fake, fake->facts, object->doc, "DELETED");
	mpijob_doc_free(object->doc);
	memmove(object, object + 1, (--fake->count - at) * sizeof(*object));
}

FAKE int fake_owned_by(const struct fake_object *object, const char *uid)
{
	const char *owner = fake_text(object->doc, "metadata.ownerReferences[0].uid");

	return owner && strcmp(owner, uid) == 0;
}

/* Delete an object, and what it owns. */
FAKE void fake_delete(struct fake *fake, struct fake_object *object)
{
	char uid[64], now[32];
	int pod = strcmp(fake_text(object->doc, "kind"), "Pod") == 0;

	if (pod && fake->graceful) {
		if (!fake_text(object->doc, "metadata.deletionTimestamp")) {
			fake_set(&object->doc, "{metadata: {deletionTimestamp: \"%s\"}}",
			    fake_time(fake->now_ms, now));
			fake_touch(fake, object);
		}
		return;
	}
	snprintf(uid, sizeof(uid), "%s", fake_text(object->doc, "metadata.uid"));
	fake_remove(fake, object);
	for (size_t i = 0; i < fake->count; i++) {
		if (fake_owned_by(&fake->objects[i], uid))
			fake_remove(fake, &fake->objects[i--]);
	}
}

/* Pods that are going are gone. */
FAKE int fake_reap(struct fake *fake)
{
	int reaped = 0;

	for (size_t i = 0; i < fake->count; i++) {
		if (fake_text(fake->objects[i].doc, "metadata.deletionTimestamp")) {
			fake_remove(fake, &fake->objects[i--]);
			reaped = 1;
		}
	}
	return reaped;
}

FAKE struct fake_object *fake_launcher_pod(struct fake *fake, const char *job_uid)
{
	for (size_t i = 0; i < fake->count; i++) {
		const char *phase = fake_text(fake->objects[i].doc, "status.phase");

		if (strcmp(fake_text(fake->objects[i].doc, "kind"), "Pod") == 0 &&
		    fake_owned_by(&fake->objects[i], job_uid) && phase &&
		    (strcmp(phase, "Pending") == 0 || strcmp(phase, "Running") == 0))
			return &fake->objects[i];
	}
	return NULL;
}

FAKE int fake_job_condition(const struct fake_object *job, const char *type)
{
	const mpijob_node *list = mpijob_node_find(mpijob_doc_root(job->doc), "status.conditions");

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		if (strcmp(mpijob_node_string(mpijob_node_get(mpijob_node_at(list, i), "type")),
			type) == 0)
			return 1;
	}
	return 0;
}

FAKE int fake_job_finished(const struct fake_object *job)
{
	return fake_job_condition(job, "Complete") || fake_job_condition(job, "Failed");
}

/* What the Job controller does now. 1 when it did something. */
FAKE int fake_job_controller(struct fake *fake)
{
	char name[128], uid[64], now[32];
	struct fake_object *job = NULL, *pod;
	mpijob_doc *doc;

	for (size_t i = 0; i < fake->count && !job; i++) {
		if (strcmp(fake_text(fake->objects[i].doc, "kind"), "Job") == 0)
			job = &fake->objects[i];
	}
	if (!job || fake_job_finished(job) ||
	    !mpijob_node_find(mpijob_doc_root(job->doc), "spec.template"))
		return 0;
	snprintf(uid, sizeof(uid), "%s", fake_text(job->doc, "metadata.uid"));
	pod = fake_launcher_pod(fake, uid);
	if (fake_bool(job->doc, "spec.suspend")) {
		if (!pod)
			return 0;
		fake_remove(fake, pod);
		return 1;
	}
	if (pod)
		return 0;
	if (!fake_text(job->doc, "status.startTime")) {
		fake_set(&job->doc, "{status: {startTime: \"%s\"}}", fake_time(fake->now_ms, now));
		fake_touch(fake, job);
	}
	snprintf(name, sizeof(name), "%s-%ld", fake_text(job->doc, "metadata.name"),
	    (long)fake_int(job->doc, "status.failed"));
	doc = mpijob_doc_from_node(mpijob_node_find(mpijob_doc_root(job->doc), "spec.template"));
	NEED(doc);
	fake_set(&doc,
	    "{apiVersion: v1, kind: Pod, metadata: {name: \"%s\", namespace: ns, ownerReferences: "
	    "[{apiVersion: "
	    "batch/v1, kind: Job, "
	    "name: \"%s\", uid: \"%s\", controller: true}]}}",
	    name, fake_text(job->doc, "metadata.name"), uid);
	fake_add(fake, doc);
	return 1;
}

FAKE struct fake_object *fake_job(struct fake *fake)
{
	char name[128];

	snprintf(name, sizeof(name), "%s-launcher", fake_text(fake->job, "metadata.name"));
	return fake_find(fake, "Job", name);
}

/* The launcher pod ended; `limit` attempts may fail. */
FAKE void fake_launcher_failed(struct fake *fake, const char *pod_status, int64_t limit)
{
	struct fake_object *job = fake_job(fake),
			   *pod = job ? fake_launcher_pod(fake, fake_text(job->doc, "metadata.uid"))
				      : NULL;
	int64_t failed;

	if (!pod)
		return;
	fake_set(&pod->doc, "{status: %s}", pod_status);
	fake_touch(fake, pod);
	job = fake_job(fake);
	failed = fake_int(job->doc, "status.failed") + 1;
	fake_set(&job->doc, "{status: {failed: %ld}}", (long)failed);
	if (failed > limit)
		fake_set(&job->doc, "{status: {conditions: [{type: Failed, status: \"True\", "
				    "reason: BackoffLimitExceeded, "
				    "message: Job has reached the specified backoff limit}]}}");
	fake_touch(fake, job);
}

FAKE void fake_launcher_succeeded(struct fake *fake)
{
	struct fake_object *job = fake_job(fake),
			   *pod = job ? fake_launcher_pod(fake, fake_text(job->doc, "metadata.uid"))
				      : NULL;
	char now[32];

	if (!pod)
		return;
	fake_set(&pod->doc, "{status: {phase: Succeeded}}");
	fake_touch(fake, pod);
	job = fake_job(fake);
	fake_set(&job->doc,
	    "{status: {succeeded: 1, completionTime: \"%s\", conditions: [{type: Complete, status: "
	    "\"True\"}]}}",
	    fake_time(fake->now_ms, now));
	fake_touch(fake, job);
}

FAKE void fake_pod(struct fake *fake, const char *name, const char *patch)
{
	struct fake_object *pod = fake_find(fake, "Pod", name);

	if (!pod)
		return;
	fake_set(&pod->doc, "%s", patch);
	fake_touch(fake, pod);
}

FAKE void fake_pod_runs(struct fake *fake, const char *name)
{
	struct fake_object *pod = fake_find(fake, "Pod", name);
	char patch[512], now[32];

	/* A pod that ended does not run again. */
	if (!pod || strcmp(fake_text(pod->doc, "status.phase"), "Pending") != 0)
		return;
	fake_time(fake->now_ms, now);
	snprintf(patch, sizeof(patch),
	    "{spec: {nodeName: node-1}, status: {phase: Running, startTime: \"%s\", conditions: "
	    "[{type: Ready, "
	    "status: \"True\"}], "
	    "containerStatuses: [{name: main, state: {running: {startedAt: \"%s\"}}}]}}",
	    now, now);
	fake_pod(fake, name, patch);
}

FAKE mpijob_plan *fake_plan(struct fake *fake, const mpijob_facts *facts)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	mpijob_plan *plan = NULL;
	mpijob *job = NULL;
	int code;

	NEED(!mpijob_from_node(mpijob_doc_root(fake->job), NULL, &job, NULL));
	options.now_ms = fake->now_ms;
	options.render = &fake->render;
	options.max_workers = fake->max_workers;
	options.launcher_hold_ms = fake->hold_ms;
	options.workers_ready_ms = fake->ready_ms;
	options.names_known = fake->names_known;
	code = mpijob_plan_new(job, facts, &options, &plan, NULL);
	if (code)
		fake_die("plan gave %d", code);
	if (!mpijob_plan_awaits_names(plan))
		fake->ready_ms = 0;
	else if (!fake->ready_ms)
		fake->ready_ms = fake->now_ms;
	mpijob_free(job);
	return plan;
}

FAKE mpijob_text *fake_body(const mpijob_plan *plan, size_t index)
{
	uint8_t entropy[MPIJOB_SSH_ENTROPY];
	mpijob_text *text = mpijob_text_new();
	int code;

	for (size_t i = 0; i < sizeof(entropy); i++)
		entropy[i] = (uint8_t)(i * 7 + 1);
	NEED(text);
	code =
	    mpijob_plan_write_body(plan, index, entropy, sizeof(entropy), mpijob_text_write, text);
	if (code)
		fake_die("body of action %zu gave %d", index, code);
	return text;
}

static int fake_conflict(const mpijob_doc *doc, const mpijob_doc *patch, const char *path)
{
	const char *want = fake_text(patch, path), *have = fake_text(doc, path);

	return want && (!have || strcmp(want, have) != 0);
}

static int fake_patch(struct fake *fake, mpijob_doc **doc, const mpijob_plan *plan, size_t index)
{
	const struct mpijob_action *action = mpijob_plan_at(plan, index);
	mpijob_text *text = fake_body(plan, index);
	mpijob_doc *patch = NULL;
	mpijob_node *metadata;
	int code = 0;

	NEED(!mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &patch, NULL));
	mpijob_text_free(text);
	NEED(fake_text(patch, "metadata.uid"));
	if (fake_conflict(*doc, patch, "metadata.uid") ||
	    fake_conflict(*doc, patch, "metadata.resourceVersion"))
		code = MPIJOB_ERR_CONFLICT;
	metadata = mpijob_doc_find(patch, "metadata");
	mpijob_node_remove(metadata, "resourceVersion");
	/* A status subresource takes the status alone; all else leaves it alone. */
	if (action->verb == MPIJOB_ACTION_PATCH_STATUS)
		NEED(!mpijob_node_get(mpijob_doc_root(patch), "spec"));
	else
		NEED(!mpijob_node_get(mpijob_doc_root(patch), "status"));
	if (strcmp(action->kind, "Job") == 0 &&
	    mpijob_node_find(mpijob_doc_root(patch), "spec.template"))
		NEED(!fake_text(*doc, "status.startTime"));
	if (!code) {
		NEED(!mpijob_doc_merge(*doc, mpijob_doc_root(patch)));
		fake_set(doc, "{metadata: {resourceVersion: \"%ld\"}}", ++fake->version);
	}
	mpijob_doc_free(patch);
	return code;
}

static int fake_create(struct fake *fake, const mpijob_plan *plan, size_t index)
{
	const struct mpijob_action *action = mpijob_plan_at(plan, index);
	struct fake_object *known = fake_find(fake, action->kind, action->name);
	mpijob_text *text = fake_body(plan, index);
	mpijob_doc *doc = NULL;

	NEED(!mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &doc, NULL));
	mpijob_text_free(text);
	NEED(strcmp(fake_text(doc, "metadata.name"), action->name) == 0);
	NEED(strcmp(fake_text(doc, "kind"), action->kind) == 0);
	NEED(strcmp(fake_text(doc, "apiVersion"), action->api_version) == 0);
	if (known) {
		/* AlreadyExists: look at it, then plan again. */
		mpijob_doc_free(doc);
		fake_feed_event(fake, fake->facts, known->doc, "ADDED");
		return MPIJOB_ERR_CONFLICT;
	}
	fake_add(fake, doc);
	return 0;
}

/* Carry one action out. 0, or MPIJOB_ERR_CONFLICT: plan again. */
FAKE int fake_act(struct fake *fake, const mpijob_plan *plan, size_t index)
{
	const struct mpijob_action *action = mpijob_plan_at(plan, index);
	struct fake_object *object;
	int code;

	if (action->verb == MPIJOB_ACTION_EVENT)
		return 0;
	if (strcmp(action->kind, "ConfigMap") == 0)
		fake->config_map_writes++;
	if (action->verb == MPIJOB_ACTION_CREATE)
		return fake_create(fake, plan, index);
	if (action->verb == MPIJOB_ACTION_DELETE && strcmp(action->kind, "MPIJob") == 0) {
		while (fake->count)
			fake_remove(fake, &fake->objects[0]);
		return 0;
	}
	if (strcmp(action->kind, "MPIJob") == 0)
		return fake_patch(fake, &fake->job, plan, index);
	object = fake_find(fake, action->kind, action->name);
	if (!object || strcmp(fake_text(object->doc, "metadata.uid"), action->uid) != 0)
		return action->verb == MPIJOB_ACTION_DELETE ? 0 : MPIJOB_ERR_CONFLICT;
	if (action->verb == MPIJOB_ACTION_DELETE) {
		fake_delete(fake, object);
		return 0;
	}
	code = fake_patch(fake, &object->doc, plan, index);
	if (!code)
		fake_feed_event(fake, fake->facts, object->doc, "MODIFIED");
	return code;
}

FAKE int fake_act_all(struct fake *fake, const mpijob_plan *plan)
{
	int code = 0;

	for (size_t i = 0; !code && i < mpijob_plan_count(plan); i++)
		code = fake_act(fake, plan, i);
	return code;
}

FAKE void fake_change_job(struct fake *fake, const char *patch)
{
	fake_set(&fake->job, "%s", patch);
	fake_set(&fake->job, "{metadata: {resourceVersion: \"%ld\"}}", ++fake->version);
}

/* Takes the document of the job. */
FAKE void fake_begin(struct fake *fake, mpijob_doc *job)
{
	struct mpijob_features features = MPIJOB_FEATURES_INIT;
	struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;

	memset(fake, 0, sizeof(*fake));
	fake->job = job;
	fake->facts = mpijob_facts_new();
	fake->observation = mpijob_observation_new();
	fake->features = features;
	fake->render = render;
	fake->render.features = &fake->features;
	fake->now_ms = FAKE_START_MS;
	NEED(fake->facts && fake->observation);
	fake_change_job(fake, "{metadata: {uid: 00000000-0000-4000-8000-00000000cafe}}");
}

FAKE void fake_end(struct fake *fake)
{
	for (size_t i = 0; i < fake->count; i++)
		mpijob_doc_free(fake->objects[i].doc);
	free(fake->objects);
	mpijob_doc_free(fake->job);
	mpijob_facts_free(fake->facts);
	mpijob_observation_free(fake->observation);
}

FAKE void fake_feed_all(struct fake *fake, mpijob_facts *facts)
{
	for (size_t i = 0; i < fake->count; i++)
		fake_feed_event(fake, facts, fake->objects[i].doc, "ADDED");
}

FAKE void fake_copy(struct fake *out, const struct fake *from)
{
	*out = *from;
	out->objects = calloc(from->count + 1, sizeof(*out->objects));
	out->facts = mpijob_facts_new();
	out->observation = mpijob_observation_new();
	out->job = mpijob_doc_clone(from->job);
	NEED(out->objects && out->facts && out->observation && out->job);
	for (size_t i = 0; i < from->count; i++)
		NEED(out->objects[i].doc = mpijob_doc_clone(from->objects[i].doc));
	fake_feed_all(out, out->facts);
}

static int fake_by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *fake_normal(const mpijob_doc *given)
{
	mpijob_doc *doc = mpijob_doc_clone(given);
	mpijob_node *metadata = mpijob_doc_find(doc, "metadata"),
		    *owners = mpijob_doc_find(doc, "metadata.ownerReferences");
	mpijob_text *text;
	char *copy;

	mpijob_node_remove(metadata, "uid");
	mpijob_node_remove(metadata, "resourceVersion");
	for (size_t i = 0; i < mpijob_node_count(owners); i++)
		mpijob_node_remove(mpijob_node_edit_at(owners, i), "uid");
	text = fake_json(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT);
	copy = strdup(mpijob_text_data(text));
	mpijob_text_free(text);
	mpijob_doc_free(doc);
	for (char *at = copy; (at = strchr(at, '[')) != NULL; at++) {
		if (strspn(at + 1, "0123456789abcdef") == 8 && at[9] == ']')
			memset(at + 1, 'x', 8); /* of a uid */
	}
	return copy;
}

/* The state of the cluster without uids, what is made of them, and versions; free it. */
FAKE char *fake_state(const struct fake *fake)
{
	char **lines = calloc(fake->count + 1, sizeof(*lines)), *state;
	size_t len = 1;

	NEED(lines);
	for (size_t i = 0; i < fake->count; i++)
		lines[i] = fake_normal(fake->objects[i].doc);
	lines[fake->count] = fake_normal(fake->job);
	for (size_t i = 0; i <= fake->count; i++)
		len += strlen(lines[i]) + 1;
	qsort(lines, fake->count + 1, sizeof(*lines), fake_by_text);
	state = calloc(len, 1);
	NEED(state);
	len = 0;
	for (size_t i = 0; i <= fake->count; i++) {
		len += (size_t)sprintf(state + len, "%s\n", lines[i]);
		free(lines[i]);
	}
	free(lines);
	return state;
}

#endif /* TESTS_SUPPORT_PLAN_CLUSTER_H */
