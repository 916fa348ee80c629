/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes facts from the collected fields of an object: which Pods belong to a job, which container's
 * end is the end of the pod, and which parts of a ConfigMap, Service, PodGroup or Job are digested.
 *
 * Only parts that are digested as trees are parsed into a document. A job has few such objects;
 * pods are never parsed into one.
 */
#include "base/api.h"
#include "base/text.h"
#include "plan/host_lines.h"
#include "plan/observation.h"
#include "plan/observe.h"

#include "render/render.h"

#include <stdlib.h>
#include <string.h>

#define WORKER_INFIX "-worker-"
/* larger indices are not workers of ours, and must not allocate memory */
#define MOST_WORKERS 1000000

static int32_t read_index(const char *digits)
{
	int32_t index = 0;

	if (!*digits || (*digits == '0' && digits[1]))
		return -1;
	for (; *digits >= '0' && *digits <= '9'; digits++) {
		index = index * 10 + (*digits - '0');
		if (index > MOST_WORKERS)
			return -1;
	}
	return *digits ? -1 : index;
}

int32_t mpijob__plan_observe_index(const char *name, const char *job)
{
	const char *digits = name + strlen(name);
	size_t infix = strlen(WORKER_INFIX), stem;

	while (digits > name && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	if ((size_t)(digits - name) <= infix || memcmp(digits - infix, WORKER_INFIX, infix) != 0)
		return -1;
	stem = (size_t)(digits - name) - infix;
	if (job && (strlen(job) != stem || memcmp(job, name, stem) != 0))
		return -1;
	return read_index(digits);
}

static int32_t phase_of(const char *phase)
{
	static const struct {
		const char *word;
		int32_t phase;
	} phases[] = {
		{ "Pending", MPIJOB_POD_PENDING },
		{ "Running", MPIJOB_POD_RUNNING },
		{ "Succeeded", MPIJOB_POD_SUCCEEDED },
		{ "Failed", MPIJOB_POD_FAILED },
		{ "Unknown", MPIJOB_POD_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(phases) / sizeof(*phases); i++) {
		if (mpijob__base_text_is(phase, phases[i].word))
			return phases[i].phase;
	}
	return MPIJOB_POD_PENDING;
}

static int32_t pod_role(const struct mpijob__plan_reading *in)
{
	if (mpijob__base_text_is(in->job_role, MPIJOB__RENDER_ROLE_WORKER))
		return MPIJOB_ROLE_WORKER;
	if (mpijob__base_text_is(in->job_role, MPIJOB__RENDER_ROLE_LAUNCHER))
		return MPIJOB_ROLE_LAUNCHER;
	return mpijob__plan_observe_index(in->name, NULL) >= 0 ? MPIJOB_ROLE_WORKER : 0;
}

static void make_pod(struct mpijob__plan_reading *in)
{
	struct mpijob_pod_facts *pod = &in->observation->pod;
	const struct mpijob__plan_container *ended = &in->container;
	int32_t role = pod_role(in);

	if (!role)
		return;
	/* A successful init container is ignored; a failed one is the cause. */
	if (in->init_container.exit_code && !ended->exit_code)
		ended = &in->init_container;
	*pod = (struct mpijob_pod_facts)MPIJOB_POD_FACTS_INIT;
	pod->name = in->name;
	pod->uid = in->uid;
	pod->owner_uid = in->owner.uid;
	pod->role = role;
	if (role == MPIJOB_ROLE_WORKER)
		pod->index = mpijob__plan_observe_index(in->name,
		    mpijob__base_text_is(in->owner.kind, MPIJOB__BASE_API_KIND) ? in->owner.name
										: NULL);
	pod->phase = phase_of(in->phase);
	pod->ready = in->ready;
	pod->deleting = in->deleting;
	pod->exit_code = ended->ended ? ended->exit_code : -1;
	pod->reason = in->status_reason ? in->status_reason : ended->reason;
	pod->message = in->status_message ? in->status_message : ended->message;
	pod->node = in->node;
	pod->created_ms = in->created_ms;
	pod->running_since_ms =
	    in->container.running_since_ms ? in->container.running_since_ms : in->start_ms;
	pod->ended_ms = ended->ended_ms;
	in->observation->view.pod = pod;
}

/* Parse a part of the text into the observation's document; NULL when it is absent. */
static int read_part(struct mpijob__plan_reading *in, const struct mpijob__plan_span *span,
    const mpijob_node **out, mpijob_diag *diag)
{
	mpijob_observation *observation = in->observation;
	mpijob_doc *doc = NULL;
	int code;

	*out = NULL;
	if (!span->text)
		return 0;
	code = mpijob_doc_parse(span->text, span->len,
	    &(struct mpijob_parse_options){ .size = sizeof(struct mpijob_parse_options),
		.format = MPIJOB_FORMAT_JSON },
	    &doc, diag);
	if (code)
		return code;
	observation->doc = doc;
	*out = mpijob_doc_root(doc);
	return 0;
}

static const mpijob_node *map_or_null(const mpijob_node *node)
{
	return mpijob_node_kind(node) == MPIJOB_NODE_MAP ? node : NULL;
}

static int make_launcher(struct mpijob__plan_reading *in, mpijob_diag *diag)
{
	struct mpijob_launcher_facts *launcher = &in->observation->launcher;
	const mpijob_node *pod_template;
	int code = read_part(in, &in->pod_template, &pod_template, diag);

	if (code)
		return code;
	*launcher = (struct mpijob_launcher_facts)MPIJOB_LAUNCHER_FACTS_INIT;
	launcher->name = in->name;
	launcher->uid = in->uid;
	launcher->owner_uid = in->owner.uid;
	launcher->resource_version = in->resource_version;
	launcher->deleting = in->deleting;
	launcher->suspended = in->suspended;
	launcher->complete = in->complete;
	launcher->has_failed = in->has_failed;
	launcher->failed_reason = in->failed_reason;
	launcher->failed_message = in->failed_message;
	launcher->active = in->active;
	launcher->succeeded = in->succeeded;
	launcher->failed = in->failed;
	launcher->start_ms = in->start_ms;
	launcher->completion_ms = in->completion_ms;
	launcher->directives = mpijob__render_observed_directives(pod_template);
	launcher->node_selector = map_or_null(mpijob_node_find(pod_template, "spec.nodeSelector"));
	in->observation->view.launcher = launcher;
	return 0;
}

/* Decode a JSON string inside the text; "" when it is not a string. */
static int decode(const struct mpijob__plan_span *span, mpijob_text *text)
{
	struct mpijob__doc_json r;
	int code;

	if (!span->text)
		return 0;
	mpijob__doc_json_init(&r, span->text, span->len, 0);
	if (mpijob__doc_json_next(&r) != MPIJOB__DOC_JSON_STRING)
		return 0;
	code = mpijob__base_text_reserve(text, r.len);
	if (!code)
		text->len = mpijob__doc_json_decode(&r, text->data);
	return code;
}

/* The hosts that discover_hosts.sh lists: workers by index, and whether there are other hosts
 * except the launcher. */
struct marks {
	uint8_t *listed; /* NULL while counting */
	size_t count;
	int others;
};

static int is_launcher(const char *name, size_t len)
{
	static const char suffix[] = "-launcher";

	return len >= sizeof(suffix) &&
	       memcmp(name + len - (sizeof(suffix) - 1), suffix, sizeof(suffix) - 1) == 0;
}

/* Mark the worker that a line of discover_hosts.sh names: "echo JOB-worker-3.JOB.NAMESPACE.svc". */
static void mark_line(const char *line, size_t len, struct marks *marks)
{
	const char *dot;
	char name[256];
	size_t name_len;
	int32_t index;

	if (len <= 5 || memcmp(line, "echo ", 5) != 0)
		return;
	dot = memchr(line, '.', len);
	name_len = dot ? (size_t)(dot - line) - 5 : len - 5;
	if (name_len >= sizeof(name)) {
		marks->others = 1;
		return;
	}
	memcpy(name, line + 5, name_len);
	name[name_len] = 0;
	index = mpijob__plan_observe_index(name, NULL);
	if (index < 0)
		marks->others |= !is_launcher(name, name_len);
	else if (marks->listed)
		marks->listed[index] = 1;
	else if ((size_t)index >= marks->count)
		marks->count = (size_t)index + 1;
}

static void mark_lines(const char *text, size_t len, struct marks *marks)
{
	const char *end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;

		mark_line(text, (size_t)(stop - text), marks);
		text = stop + 1;
	}
}

/* If the script lists other hosts too, the workers are not recorded: the plan then compares the
 * digest of all hosts. */
static int mark_listed(struct mpijob__plan_reading *in, const mpijob_text *script)
{
	struct mpijob_child_facts *child = &in->observation->child;
	struct marks marks = { NULL, 0, 0 };
	uint8_t *listed;

	if (script->len)
		mark_lines(script->data, script->len, &marks);
	if (marks.others)
		return 0;
	listed = mpijob__base_arena_alloc(&in->observation->arena, marks.count);
	if (!listed)
		return MPIJOB_ERR_NOMEM;
	memset(listed, 0, marks.count);
	marks.listed = listed;
	if (marks.count)
		mark_lines(script->data, script->len, &marks);
	child->listed_workers = listed;
	child->listed_workers_count = marks.count;
	return 0;
}

static int make_config_map(struct mpijob__plan_reading *in)
{
	struct mpijob_child_facts *child = &in->observation->child;
	struct mpijob_text hostfile = { 0 }, script = { 0 };
	int code = decode(&in->hostfile, &hostfile);

	if (!code)
		code = decode(&in->discover_hosts, &script);
	if (!code)
		code = mpijob__render_hosts_expand(&script);
	if (!code) {
		child->digest =
		    mpijob__plan_host_lines_observed(mpijob_text_data(&hostfile), hostfile.len);
		child->listed = mpijob__render_observed_hosts(mpijob_text_data(&script), script.len,
		    &child->listed_count);
		/* Without the script the ConfigMap must be updated. */
		if (in->discover_hosts.text)
			code = mark_listed(in, &script);
		else
			child->listed = 0;
	}
	mpijob__base_text_release(&hostfile);
	mpijob__base_text_release(&script);
	return code;
}

static int make_child(struct mpijob__plan_reading *in, int32_t role, mpijob_diag *diag)
{
	struct mpijob_child_facts *child = &in->observation->child;
	const mpijob_node *spec = NULL;
	int code = 0;

	*child = (struct mpijob_child_facts)MPIJOB_CHILD_FACTS_INIT;
	child->role = role;
	child->name = in->name;
	child->uid = in->uid;
	child->owner_uid = in->owner.uid;
	child->deleting = in->deleting;
	if (role == MPIJOB_ROLE_CONFIG_MAP)
		code = make_config_map(in);
	else if (role == MPIJOB_ROLE_SECRET)
		child->digest =
		    1 + (in->has_private ? UINT64_C(1) : 0) + (in->has_public ? UINT64_C(2) : 0);
	else
		code = read_part(in, &in->spec, &spec, diag);
	if (code)
		return code;
	if (role == MPIJOB_ROLE_SERVICE) {
		child->digest = mpijob__render_observed_service(spec);
		child->owned = map_or_null(mpijob_node_get(spec, "selector"));
	} else if (role == MPIJOB_ROLE_POD_GROUP) {
		child->digest = mpijob__render_observed_pod_group(spec);
		child->owned = map_or_null(mpijob_node_get(spec, "minResources"));
	} else if (role == MPIJOB_ROLE_NETWORK_POLICY) {
		child->digest = mpijob__render_observed_network_policy(spec);
		child->owned = map_or_null(mpijob_node_find(spec, "podSelector.matchLabels"));
	}
	in->observation->view.child = child;
	return 0;
}

#define KIND_OTHER          0
#define KIND_POD            (-1)
#define KIND_PRIORITY_CLASS (-2)
#define KIND_STATUS         (-3)

/* MPIJOB_ROLE_* for a child, else KIND_*. */
static int32_t kind_of(const char *api_version, const char *kind)
{
	static const struct {
		/* with the slash before the version; "v1" is the core group */
		const char *group;
		const char *kind;
		int32_t what;
	} kinds[] = {
		{ "v1", "Pod", KIND_POD },
		{ "v1", "Service", MPIJOB_ROLE_SERVICE },
		{ "v1", "ConfigMap", MPIJOB_ROLE_CONFIG_MAP },
		{ "v1", "Secret", MPIJOB_ROLE_SECRET },
		{ "batch/", "Job", MPIJOB_ROLE_LAUNCHER },
		{ "networking.k8s.io/", "NetworkPolicy", MPIJOB_ROLE_NETWORK_POLICY },
		{ "scheduling.volcano.sh/", "PodGroup", MPIJOB_ROLE_POD_GROUP },
		{ "scheduling.x-k8s.io/", "PodGroup", MPIJOB_ROLE_POD_GROUP },
		{ "scheduling.k8s.io/", "PriorityClass", KIND_PRIORITY_CLASS },
		{ "v1", "Status", KIND_STATUS },
	};

	if (!kind || !api_version)
		return KIND_OTHER;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t len = strlen(kinds[i].group);

		if (strcmp(kind, kinds[i].kind) == 0 &&
		    strncmp(api_version, kinds[i].group, len) == 0 &&
		    (kinds[i].group[len - 1] == '/' || !api_version[len]))
			return kinds[i].what;
	}
	return KIND_OTHER;
}

static int32_t event_of(const char *type)
{
	static const char *const words[] = {
		[MPIJOB_EVENT_ADDED] = "ADDED",
		[MPIJOB_EVENT_MODIFIED] = "MODIFIED",
		[MPIJOB_EVENT_DELETED] = "DELETED",
		[MPIJOB_EVENT_BOOKMARK] = "BOOKMARK",
		[MPIJOB_EVENT_ERROR] = "ERROR",
	};

	for (int32_t i = MPIJOB_EVENT_ADDED; i <= MPIJOB_EVENT_ERROR; i++) {
		if (mpijob__base_text_is(type, words[i]))
			return i;
	}
	return MPIJOB_EVENT_NONE;
}

static int reject(struct mpijob__plan_reading *in, const char *field, const char *message,
    mpijob_diag *diag)
{
	mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "wrong-type", "TypeInvalid", field,
	    &in->wrong_place, "%s", message);
	return MPIJOB_ERR_SPEC;
}

static int check(struct mpijob__plan_reading *in, int32_t what, int32_t event, mpijob_diag *diag)
{
	if (in->no_map)
		return reject(in, in->is_event ? "object" : NULL, "must be a map", diag);
	if (in->is_event && event == MPIJOB_EVENT_NONE)
		return reject(in, "type", "must be ADDED, MODIFIED, DELETED, BOOKMARK or ERROR",
		    diag);
	/* In unknown kinds only the metadata has the expected types. */
	if (in->wrong && (what != KIND_OTHER || strncmp(in->wrong, "metadata", 8) == 0))
		return reject(in, in->wrong, "has a wrong type", diag);
	if (what != KIND_OTHER && what != KIND_STATUS && event != MPIJOB_EVENT_BOOKMARK &&
	    !in->name)
		return reject(in, "metadata.name", "is required", diag);
	if (what != KIND_OTHER && what != KIND_STATUS && what != KIND_PRIORITY_CLASS &&
	    event != MPIJOB_EVENT_BOOKMARK && !in->uid)
		return reject(in, "metadata.uid", "is required", diag);
	return 0;
}

static void make_head(struct mpijob__plan_reading *in, int32_t what, int32_t event)
{
	struct mpijob_observed *view = &in->observation->view;

	view->event = event;
	view->api_version = in->api_version;
	view->kind = in->kind;
	view->namespace_ = in->namespace_;
	view->name = in->name;
	view->uid = in->uid;
	view->resource_version = in->resource_version;
	view->owner_api_version = in->owner.api_version;
	view->owner_kind = in->owner.kind;
	view->owner_name = in->owner.name;
	view->owner_uid = in->owner.uid;
	view->job_name = in->job_name;
	view->deleting = in->deleting;
	view->initial_events_end = mpijob__base_text_is(in->initial_events_end, "true");
	if (what == KIND_STATUS || event == MPIJOB_EVENT_ERROR) {
		view->code = in->code;
		view->reason = in->reason;
		view->message = in->message;
	}
	if (what == KIND_PRIORITY_CLASS)
		view->priority_value = in->value;
}

int mpijob__plan_projection_make(struct mpijob__plan_reading *in, mpijob_diag *diag)
{
	int32_t event = in->is_event ? event_of(in->event_type) : MPIJOB_EVENT_NONE;
	int32_t what = kind_of(in->api_version, in->kind);
	int code = check(in, what, event, diag);

	if (code)
		return code;
	make_head(in, what, event);
	if (event == MPIJOB_EVENT_BOOKMARK || event == MPIJOB_EVENT_ERROR)
		return 0;
	if (what == KIND_POD)
		make_pod(in);
	else if (what == MPIJOB_ROLE_LAUNCHER)
		return make_launcher(in, diag);
	else if (what > 0)
		return make_child(in, what, diag);
	return 0;
}
