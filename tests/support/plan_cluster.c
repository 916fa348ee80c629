/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_cluster.h"

void plan_cluster_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}

static char *plan_cluster_time(int64_t ms, char out[32])
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return out;
}

/* Flow YAML, so that patches need few quotes. */
static mpijob_doc *plan_cluster_parse(const char *format, va_list args)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;
	char *text = NULL;

	options.format = MPIJOB_FORMAT_YAML;
	NEED(vasprintf(&text, format, args) >= 0);
	if (mpijob_doc_parse(text, strlen(text), &options, &doc, NULL))
		plan_cluster_die("no document: %s", text);
	free(text);
	return doc;
}

const char *plan_cluster_text(const mpijob_doc *doc, const char *path)
{
	return mpijob_node_string(mpijob_node_find(mpijob_doc_root(doc), path));
}

int64_t plan_cluster_int(const mpijob_doc *doc, const char *path)
{
	int64_t value = 0;

	mpijob_node_int(mpijob_node_find(mpijob_doc_root(doc), path), &value);
	return value;
}

int plan_cluster_bool(const mpijob_doc *doc, const char *path)
{
	int value = 0;

	mpijob_node_bool(mpijob_node_find(mpijob_doc_root(doc), path), &value);
	return value;
}

mpijob_text *plan_cluster_json(const mpijob_node *node, int32_t format)
{
	mpijob_text *text = mpijob_text_new();

	NEED(text && !mpijob_node_write(node, format, mpijob_text_write, text));
	return text;
}

/* The document is cloned because memory of replaced values is freed only with the document. */
void plan_cluster_set(mpijob_doc **doc, const char *format, ...)
{
	mpijob_doc *patch, *clone;
	va_list args;

	va_start(args, format);
	patch = plan_cluster_parse(format, args);
	va_end(args);
	NEED(!mpijob_doc_merge(*doc, mpijob_doc_root(patch)));
	mpijob_doc_free(patch);
	clone = mpijob_doc_from_node(mpijob_doc_root(*doc), NULL);
	NEED(clone);
	mpijob_doc_free(*doc);
	*doc = clone;
}

struct plan_cluster_object *plan_cluster_find(struct plan_cluster *cluster, const char *kind,
    const char *name)
{
	for (size_t i = 0; i < cluster->count; i++) {
		if (strcmp(plan_cluster_text(cluster->objects[i].doc, "kind"), kind) == 0 &&
		    strcmp(plan_cluster_text(cluster->objects[i].doc, "metadata.name"), name) == 0)
			return &cluster->objects[i];
	}
	return NULL;
}

void plan_cluster_feed_event(struct plan_cluster *cluster, mpijob_facts *facts,
    const mpijob_doc *doc, const char *type)
{
	mpijob_text *text = mpijob_text_new(),
		    *object = plan_cluster_json(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT);
	const struct mpijob_observed *observed;
	char head[64];
	int code;

	snprintf(head, sizeof(head), "{\"type\":\"%s\",\"object\":", type);
	NEED(!mpijob_text_write(text, head, strlen(head)));
	NEED(!mpijob_text_write(text, mpijob_text_data(object), mpijob_text_len(object)));
	NEED(!mpijob_text_write(text, "}", 1));
	code = mpijob_observe(cluster->observation, mpijob_text_data(text), mpijob_text_len(text),
	    &observed, NULL);
	if (code)
		plan_cluster_die("observe gave %d for %s", code, mpijob_text_data(text));
	NEED(mpijob_facts_apply(facts, observed) >= 0);
	mpijob_text_free(text);
	mpijob_text_free(object);
}

void plan_cluster_touch(struct plan_cluster *cluster, struct plan_cluster_object *object)
{
	plan_cluster_set(&object->doc, "{metadata: {resourceVersion: \"%ld\"}}",
	    ++cluster->version);
	plan_cluster_feed_event(cluster, cluster->facts, object->doc, "MODIFIED");
}

struct plan_cluster_object *plan_cluster_add(struct plan_cluster *cluster, mpijob_doc *doc)
{
	char now[32];
	struct plan_cluster_object *object;

	cluster->objects =
	    realloc(cluster->objects, (cluster->count + 1) * sizeof(*cluster->objects));
	NEED(cluster->objects);
	object = &cluster->objects[cluster->count++];
	object->doc = doc;
	plan_cluster_set(&object->doc,
	    "{metadata: {uid: \"00000000-0000-4000-8000-%012ld\", resourceVersion: \"%ld\", "
	    "creationTimestamp: "
	    "\"%s\"}}",
	    ++cluster->uid, ++cluster->version, plan_cluster_time(cluster->now_ms, now));
	if (strcmp(plan_cluster_text(object->doc, "kind"), "Pod") == 0 &&
	    !plan_cluster_text(object->doc, "status.phase"))
		plan_cluster_set(&object->doc, "{status: {phase: Pending}}");
	plan_cluster_feed_event(cluster, cluster->facts, object->doc, "ADDED");
	return object;
}

static void plan_cluster_remove(struct plan_cluster *cluster, struct plan_cluster_object *object)
{
	size_t at = (size_t)(object - cluster->objects);

	plan_cluster_feed_event(cluster, cluster->facts, object->doc, "DELETED");
	mpijob_doc_free(object->doc);
	memmove(object, object + 1, (--cluster->count - at) * sizeof(*object));
}

static int plan_cluster_owned_by(const struct plan_cluster_object *object, const char *uid)
{
	const char *owner = plan_cluster_text(object->doc, "metadata.ownerReferences[0].uid");

	return owner && strcmp(owner, uid) == 0;
}

void plan_cluster_delete(struct plan_cluster *cluster, struct plan_cluster_object *object)
{
	char uid[64], now[32];
	int pod = strcmp(plan_cluster_text(object->doc, "kind"), "Pod") == 0;

	if (pod && cluster->graceful) {
		if (!plan_cluster_text(object->doc, "metadata.deletionTimestamp")) {
			plan_cluster_set(&object->doc, "{metadata: {deletionTimestamp: \"%s\"}}",
			    plan_cluster_time(cluster->now_ms, now));
			plan_cluster_touch(cluster, object);
		}
		return;
	}
	snprintf(uid, sizeof(uid), "%s", plan_cluster_text(object->doc, "metadata.uid"));
	plan_cluster_remove(cluster, object);
	for (size_t i = 0; i < cluster->count; i++) {
		if (plan_cluster_owned_by(&cluster->objects[i], uid))
			plan_cluster_remove(cluster, &cluster->objects[i--]);
	}
}

int plan_cluster_reap(struct plan_cluster *cluster)
{
	int reaped = 0;

	for (size_t i = 0; i < cluster->count; i++) {
		if (plan_cluster_text(cluster->objects[i].doc, "metadata.deletionTimestamp")) {
			plan_cluster_remove(cluster, &cluster->objects[i--]);
			reaped = 1;
		}
	}
	return reaped;
}

static struct plan_cluster_object *plan_cluster_launcher_pod(struct plan_cluster *cluster,
    const char *job_uid)
{
	for (size_t i = 0; i < cluster->count; i++) {
		const char *phase = plan_cluster_text(cluster->objects[i].doc, "status.phase");

		if (strcmp(plan_cluster_text(cluster->objects[i].doc, "kind"), "Pod") == 0 &&
		    plan_cluster_owned_by(&cluster->objects[i], job_uid) && phase &&
		    (strcmp(phase, "Pending") == 0 || strcmp(phase, "Running") == 0))
			return &cluster->objects[i];
	}
	return NULL;
}

static int plan_cluster_job_condition(const struct plan_cluster_object *job, const char *type)
{
	const mpijob_node *list = mpijob_node_find(mpijob_doc_root(job->doc), "status.conditions");

	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		if (strcmp(mpijob_node_string(mpijob_node_get(mpijob_node_at(list, i), "type")),
			type) == 0)
			return 1;
	}
	return 0;
}

int plan_cluster_job_finished(const struct plan_cluster_object *job)
{
	return plan_cluster_job_condition(job, "Complete") ||
	       plan_cluster_job_condition(job, "Failed");
}

int plan_cluster_job_controller(struct plan_cluster *cluster)
{
	char name[128], uid[64], now[32];
	struct plan_cluster_object *job = NULL, *pod;
	mpijob_doc *doc;

	for (size_t i = 0; i < cluster->count && !job; i++) {
		if (strcmp(plan_cluster_text(cluster->objects[i].doc, "kind"), "Job") == 0)
			job = &cluster->objects[i];
	}
	if (!job || plan_cluster_job_finished(job) ||
	    !mpijob_node_find(mpijob_doc_root(job->doc), "spec.template"))
		return 0;
	snprintf(uid, sizeof(uid), "%s", plan_cluster_text(job->doc, "metadata.uid"));
	pod = plan_cluster_launcher_pod(cluster, uid);
	if (plan_cluster_bool(job->doc, "spec.suspend")) {
		if (!pod)
			return 0;
		plan_cluster_remove(cluster, pod);
		return 1;
	}
	if (pod)
		return 0;
	if (!plan_cluster_text(job->doc, "status.startTime")) {
		plan_cluster_set(&job->doc, "{status: {startTime: \"%s\"}}",
		    plan_cluster_time(cluster->now_ms, now));
		plan_cluster_touch(cluster, job);
	}
	snprintf(name, sizeof(name), "%s-%ld", plan_cluster_text(job->doc, "metadata.name"),
	    (long)plan_cluster_int(job->doc, "status.failed"));
	doc = mpijob_doc_from_node(mpijob_node_find(mpijob_doc_root(job->doc), "spec.template"),
	    NULL);
	NEED(doc);
	plan_cluster_set(&doc,
	    "{apiVersion: v1, kind: Pod, metadata: {name: \"%s\", namespace: ns, ownerReferences: "
	    "[{apiVersion: "
	    "batch/v1, kind: Job, "
	    "name: \"%s\", uid: \"%s\", controller: true}]}}",
	    name, plan_cluster_text(job->doc, "metadata.name"), uid);
	plan_cluster_add(cluster, doc);
	return 1;
}

struct plan_cluster_object *plan_cluster_job(struct plan_cluster *cluster)
{
	char name[128];

	snprintf(name, sizeof(name), "%s-launcher",
	    plan_cluster_text(cluster->job, "metadata.name"));
	return plan_cluster_find(cluster, "Job", name);
}

void plan_cluster_launcher_failed(struct plan_cluster *cluster, const char *pod_status,
    int64_t limit)
{
	struct plan_cluster_object *job = plan_cluster_job(cluster),
				   *pod = job ? plan_cluster_launcher_pod(cluster,
						    plan_cluster_text(job->doc, "metadata.uid"))
					      : NULL;
	int64_t failed;

	if (!pod)
		return;
	plan_cluster_set(&pod->doc, "{status: %s}", pod_status);
	plan_cluster_touch(cluster, pod);
	job = plan_cluster_job(cluster);
	failed = plan_cluster_int(job->doc, "status.failed") + 1;
	plan_cluster_set(&job->doc, "{status: {failed: %ld}}", (long)failed);
	if (failed > limit)
		plan_cluster_set(&job->doc,
		    "{status: {conditions: [{type: Failed, status: \"True\", "
		    "reason: BackoffLimitExceeded, "
		    "message: Job has reached the specified backoff limit}]}}");
	plan_cluster_touch(cluster, job);
}

void plan_cluster_launcher_succeeded(struct plan_cluster *cluster)
{
	struct plan_cluster_object *job = plan_cluster_job(cluster),
				   *pod = job ? plan_cluster_launcher_pod(cluster,
						    plan_cluster_text(job->doc, "metadata.uid"))
					      : NULL;
	char now[32];

	if (!pod)
		return;
	plan_cluster_set(&pod->doc, "{status: {phase: Succeeded}}");
	plan_cluster_touch(cluster, pod);
	job = plan_cluster_job(cluster);
	plan_cluster_set(&job->doc,
	    "{status: {succeeded: 1, completionTime: \"%s\", conditions: [{type: Complete, status: "
	    "\"True\"}]}}",
	    plan_cluster_time(cluster->now_ms, now));
	plan_cluster_touch(cluster, job);
}

void plan_cluster_pod(struct plan_cluster *cluster, const char *name, const char *patch)
{
	struct plan_cluster_object *pod = plan_cluster_find(cluster, "Pod", name);

	if (!pod)
		return;
	plan_cluster_set(&pod->doc, "%s", patch);
	plan_cluster_touch(cluster, pod);
}

void plan_cluster_pod_runs(struct plan_cluster *cluster, const char *name)
{
	struct plan_cluster_object *pod = plan_cluster_find(cluster, "Pod", name);
	char patch[512], now[32];

	/* A pod that ended does not run again. */
	if (!pod || strcmp(plan_cluster_text(pod->doc, "status.phase"), "Pending") != 0)
		return;
	plan_cluster_time(cluster->now_ms, now);
	snprintf(patch, sizeof(patch),
	    "{spec: {nodeName: node-1}, status: {phase: Running, startTime: \"%s\", conditions: "
	    "[{type: Ready, "
	    "status: \"True\"}], "
	    "containerStatuses: [{name: main, state: {running: {startedAt: \"%s\"}}}]}}",
	    now, now);
	plan_cluster_pod(cluster, name, patch);
}

mpijob_plan *plan_cluster_plan(struct plan_cluster *cluster, const mpijob_facts *facts)
{
	struct mpijob_plan_options options = MPIJOB_PLAN_OPTIONS_INIT;
	mpijob_plan *plan = NULL;
	mpijob *job = NULL;
	int code;

	NEED(!mpijob_from_node(mpijob_doc_root(cluster->job), NULL, &job, NULL));
	options.now_ms = cluster->now_ms;
	options.render = &cluster->render;
	options.max_workers = cluster->max_workers;
	options.launcher_hold_ms = cluster->hold_ms;
	options.workers_ready_ms = cluster->ready_ms;
	options.names_known = cluster->names_known;
	code = mpijob_plan_new(job, facts, &options, &plan, NULL);
	if (code)
		plan_cluster_die("plan gave %d", code);
	if (!mpijob_plan_get_result(plan)->awaited_names)
		cluster->ready_ms = 0;
	else if (!cluster->ready_ms)
		cluster->ready_ms = cluster->now_ms;
	mpijob_free(job);
	return plan;
}

mpijob_text *plan_cluster_body(const mpijob_plan *plan, size_t index)
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
		plan_cluster_die("body of action %zu gave %d", index, code);
	return text;
}

static int plan_cluster_conflict(const mpijob_doc *doc, const mpijob_doc *patch, const char *path)
{
	const char *want = plan_cluster_text(patch, path), *have = plan_cluster_text(doc, path);

	return want && (!have || strcmp(want, have) != 0);
}

static int plan_cluster_patch(struct plan_cluster *cluster, mpijob_doc **doc,
    const mpijob_plan *plan, size_t index)
{
	const struct mpijob_action *action = mpijob_plan_at(plan, index);
	mpijob_text *text = plan_cluster_body(plan, index);
	mpijob_doc *patch = NULL;
	mpijob_node *metadata;
	int code = 0;

	NEED(!mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &patch, NULL));
	mpijob_text_free(text);
	NEED(plan_cluster_text(patch, "metadata.uid"));
	if (plan_cluster_conflict(*doc, patch, "metadata.uid") ||
	    plan_cluster_conflict(*doc, patch, "metadata.resourceVersion"))
		code = MPIJOB_ERR_CONFLICT;
	metadata = mpijob_doc_edit(patch, "metadata");
	mpijob_node_remove(metadata, "resourceVersion");
	/* A status subresource takes the status alone; all else leaves it alone. */
	if (action->verb == MPIJOB_ACTION_PATCH_STATUS)
		NEED(!mpijob_node_get(mpijob_doc_root(patch), "spec"));
	else
		NEED(!mpijob_node_get(mpijob_doc_root(patch), "status"));
	if (strcmp(action->kind, "Job") == 0 &&
	    mpijob_node_find(mpijob_doc_root(patch), "spec.template"))
		NEED(!plan_cluster_text(*doc, "status.startTime"));
	if (!code) {
		NEED(!mpijob_doc_merge(*doc, mpijob_doc_root(patch)));
		plan_cluster_set(doc, "{metadata: {resourceVersion: \"%ld\"}}", ++cluster->version);
	}
	mpijob_doc_free(patch);
	return code;
}

static int plan_cluster_create(struct plan_cluster *cluster, const mpijob_plan *plan, size_t index)
{
	const struct mpijob_action *action = mpijob_plan_at(plan, index);
	struct plan_cluster_object *known = plan_cluster_find(cluster, action->kind, action->name);
	mpijob_text *text = plan_cluster_body(plan, index);
	mpijob_doc *doc = NULL;

	NEED(!mpijob_doc_parse(mpijob_text_data(text), mpijob_text_len(text), NULL, &doc, NULL));
	mpijob_text_free(text);
	NEED(strcmp(plan_cluster_text(doc, "metadata.name"), action->name) == 0);
	NEED(strcmp(plan_cluster_text(doc, "kind"), action->kind) == 0);
	NEED(strcmp(plan_cluster_text(doc, "apiVersion"), action->api_version) == 0);
	if (known) {
		/* AlreadyExists: observe the object, then make a new plan. */
		mpijob_doc_free(doc);
		plan_cluster_feed_event(cluster, cluster->facts, known->doc, "ADDED");
		return MPIJOB_ERR_CONFLICT;
	}
	plan_cluster_add(cluster, doc);
	return 0;
}

int plan_cluster_act(struct plan_cluster *cluster, const mpijob_plan *plan, size_t index)
{
	const struct mpijob_action *action = mpijob_plan_at(plan, index);
	struct plan_cluster_object *object;
	int code;

	if (action->verb == MPIJOB_ACTION_EVENT)
		return 0;
	if (strcmp(action->kind, "ConfigMap") == 0)
		cluster->config_map_writes++;
	if (action->verb == MPIJOB_ACTION_CREATE)
		return plan_cluster_create(cluster, plan, index);
	if (action->verb == MPIJOB_ACTION_DELETE && strcmp(action->kind, "MPIJob") == 0) {
		while (cluster->count)
			plan_cluster_remove(cluster, &cluster->objects[0]);
		return 0;
	}
	if (strcmp(action->kind, "MPIJob") == 0)
		return plan_cluster_patch(cluster, &cluster->job, plan, index);
	object = plan_cluster_find(cluster, action->kind, action->name);
	if (!object || strcmp(plan_cluster_text(object->doc, "metadata.uid"), action->uid) != 0)
		return action->verb == MPIJOB_ACTION_DELETE ? 0 : MPIJOB_ERR_CONFLICT;
	if (action->verb == MPIJOB_ACTION_DELETE) {
		plan_cluster_delete(cluster, object);
		return 0;
	}
	code = plan_cluster_patch(cluster, &object->doc, plan, index);
	if (!code)
		plan_cluster_feed_event(cluster, cluster->facts, object->doc, "MODIFIED");
	return code;
}

int plan_cluster_act_all(struct plan_cluster *cluster, const mpijob_plan *plan)
{
	int code = 0;

	for (size_t i = 0; !code && i < mpijob_plan_get_result(plan)->actions_count; i++)
		code = plan_cluster_act(cluster, plan, i);
	return code;
}

void plan_cluster_change_job(struct plan_cluster *cluster, const char *patch)
{
	plan_cluster_set(&cluster->job, "%s", patch);
	plan_cluster_set(&cluster->job, "{metadata: {resourceVersion: \"%ld\"}}",
	    ++cluster->version);
}

void plan_cluster_begin(struct plan_cluster *cluster, mpijob_doc *job)
{
	struct mpijob_features features = MPIJOB_FEATURES_INIT;
	struct mpijob_render_options render = MPIJOB_RENDER_OPTIONS_INIT;

	memset(cluster, 0, sizeof(*cluster));
	cluster->job = job;
	cluster->facts = mpijob_facts_new();
	cluster->observation = mpijob_observation_new();
	cluster->features = features;
	cluster->render = render;
	cluster->render.features = &cluster->features;
	cluster->now_ms = PLAN_CLUSTER_START_MS;
	NEED(cluster->facts && cluster->observation);
	plan_cluster_change_job(cluster, "{metadata: {uid: 00000000-0000-4000-8000-00000000cafe}}");
}

void plan_cluster_end(struct plan_cluster *cluster)
{
	for (size_t i = 0; i < cluster->count; i++)
		mpijob_doc_free(cluster->objects[i].doc);
	free(cluster->objects);
	mpijob_doc_free(cluster->job);
	mpijob_facts_free(cluster->facts);
	mpijob_observation_free(cluster->observation);
}

void plan_cluster_feed_all(struct plan_cluster *cluster, mpijob_facts *facts)
{
	for (size_t i = 0; i < cluster->count; i++)
		plan_cluster_feed_event(cluster, facts, cluster->objects[i].doc, "ADDED");
}

void plan_cluster_copy(struct plan_cluster *out, const struct plan_cluster *from)
{
	*out = *from;
	out->objects = calloc(from->count + 1, sizeof(*out->objects));
	out->facts = mpijob_facts_new();
	out->observation = mpijob_observation_new();
	out->job = mpijob_doc_from_node(mpijob_doc_root(from->job), NULL);
	NEED(out->objects && out->facts && out->observation && out->job);
	for (size_t i = 0; i < from->count; i++)
		NEED(out->objects[i].doc =
			 mpijob_doc_from_node(mpijob_doc_root(from->objects[i].doc), NULL));
	plan_cluster_feed_all(out, out->facts);
}

static int plan_cluster_by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *plan_cluster_normal(const mpijob_doc *given)
{
	mpijob_doc *doc = mpijob_doc_from_node(mpijob_doc_root(given), NULL);
	mpijob_node *metadata = mpijob_doc_edit(doc, "metadata"),
		    *owners = mpijob_doc_edit(doc, "metadata.ownerReferences");
	mpijob_text *text;
	char *copy;

	mpijob_node_remove(metadata, "uid");
	mpijob_node_remove(metadata, "resourceVersion");
	for (size_t i = 0; i < mpijob_node_count(owners); i++)
		mpijob_node_remove(mpijob_node_edit_at(owners, i), "uid");
	text = plan_cluster_json(mpijob_doc_root(doc), MPIJOB_FORMAT_JSON_COMPACT);
	copy = strdup(mpijob_text_data(text));
	mpijob_text_free(text);
	mpijob_doc_free(doc);
	for (char *at = copy; (at = strchr(at, '[')) != NULL; at++) {
		if (strspn(at + 1, "0123456789abcdef") == 8 && at[9] == ']')
			memset(at + 1, 'x', 8); /* of a uid */
	}
	return copy;
}

char *plan_cluster_state(const struct plan_cluster *cluster)
{
	char **lines = calloc(cluster->count + 1, sizeof(*lines)), *state;
	size_t len = 1;

	NEED(lines);
	for (size_t i = 0; i < cluster->count; i++)
		lines[i] = plan_cluster_normal(cluster->objects[i].doc);
	lines[cluster->count] = plan_cluster_normal(cluster->job);
	for (size_t i = 0; i <= cluster->count; i++)
		len += strlen(lines[i]) + 1;
	qsort(lines, cluster->count + 1, sizeof(*lines), plan_cluster_by_text);
	state = calloc(len, 1);
	NEED(state);
	len = 0;
	for (size_t i = 0; i <= cluster->count; i++) {
		len += (size_t)sprintf(state + len, "%s\n", lines[i]);
		free(lines[i]);
	}
	free(lines);
	return state;
}
