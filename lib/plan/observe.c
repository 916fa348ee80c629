/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the fields that a controller of MPIJobs needs from the JSON text of an object, in one pass.
 *
 * The kind may come after all other fields, so the pass collects the fields of all kinds; then
 * projection.c makes the facts of the object's kind. For parts that are digested, the pass stores
 * only where they are in the text.
 */
#include "base/api.h"
#include "plan/observation.h"

#include "core/diag.h"
#include "base/time.h"
#include "render/render.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Store the first field of a wrong type; whether it is an error depends on the kind. */
static void note_wrong_type(struct mpijob__plan_reading *in, const char *path)
{
	if (in->r.token == MPIJOB__DOC_JSON_ERROR || in->r.token == MPIJOB__DOC_JSON_NULL)
		return;
	if (!in->wrong) {
		in->wrong = path;
		in->wrong_place.line = in->r.line;
		in->wrong_place.column = mpijob__doc_json_column(&in->r);
	}
}

/* Copy the current key or string. */
static const char *keep(struct mpijob__plan_reading *in)
{
	char *copy = mpijob__base_arena_bytes(&in->observation->arena, in->r.len + 1);

	if (!copy) {
		in->nomem = 1;
		return NULL;
	}
	if (in->r.escaped) {
		mpijob__doc_json_decode(&in->r, copy);
	} else {
		memcpy(copy, in->r.text, in->r.len);
		copy[in->r.len] = 0;
	}
	return copy;
}

static void take_string(struct mpijob__plan_reading *in, const char **out, const char *path)
{
	if (mpijob__doc_json_next(&in->r) == MPIJOB__DOC_JSON_STRING) {
		*out = keep(in);
		return;
	}
	note_wrong_type(in, path);
	mpijob__doc_json_finish(&in->r);
}

static void take_int(struct mpijob__plan_reading *in, int32_t *out, const char *path)
{
	int64_t value;

	mpijob__doc_json_next(&in->r);
	if (mpijob__doc_json_int(&in->r, &value) && value >= INT32_MIN && value <= INT32_MAX)
		*out = (int32_t)value;
	else
		note_wrong_type(in, path);
	mpijob__doc_json_finish(&in->r);
}

static void take_bool(struct mpijob__plan_reading *in, int32_t *out, const char *path)
{
	int token = mpijob__doc_json_next(&in->r);

	if (token == MPIJOB__DOC_JSON_TRUE || token == MPIJOB__DOC_JSON_FALSE)
		*out = token == MPIJOB__DOC_JSON_TRUE;
	else
		note_wrong_type(in, path);
	mpijob__doc_json_finish(&in->r);
}

static void take_time(struct mpijob__plan_reading *in, int64_t *out_ms, const char *path)
{
	char text[64];
	int64_t seconds;

	if (mpijob__doc_json_next(&in->r) == MPIJOB__DOC_JSON_STRING && in->r.len < sizeof(text)) {
		mpijob__doc_json_decode(&in->r, text);
		if (mpijob__base_time_parse(text, &seconds)) {
			*out_ms = seconds * 1000;
			return;
		}
	}
	note_wrong_type(in, path);
	mpijob__doc_json_finish(&in->r);
}

/* Store where the value of the current key is in the text. */
static void take_span(struct mpijob__plan_reading *in, struct mpijob__plan_span *span)
{
	int token = mpijob__doc_json_next(&in->r);
	const char *from = mpijob__doc_json_from(&in->r);

	if (mpijob__doc_json_finish(&in->r) && token != MPIJOB__DOC_JSON_NULL) {
		span->text = from;
		span->len = (size_t)(mpijob__doc_json_until(&in->r) - from);
	}
}

/* Begin to read a map or list: 1 if the value is one; otherwise skip it and return 0. */
static int enter(struct mpijob__plan_reading *in, int token, const char *path)
{
	if (mpijob__doc_json_next(&in->r) == token)
		return 1;
	note_wrong_type(in, path);
	mpijob__doc_json_finish(&in->r);
	return 0;
}

static int is(const struct mpijob__plan_reading *in, const char *key)
{
	return mpijob__doc_json_is(&in->r, key);
}

static void read_labels(struct mpijob__plan_reading *in)
{
	if (!enter(in, MPIJOB__DOC_JSON_MAP, "metadata.labels"))
		return;
	while (mpijob__doc_json_key(&in->r)) {
		if (is(in, MPIJOB__BASE_API_LABEL_JOB_NAME))
			take_string(in, &in->job_name,
			    "metadata.labels[" MPIJOB__BASE_API_LABEL_JOB_NAME "]");
		else if (is(in, MPIJOB__BASE_API_LABEL_JOB_ROLE))
			take_string(in, &in->job_role,
			    "metadata.labels[" MPIJOB__BASE_API_LABEL_JOB_ROLE "]");
		else
			mpijob__doc_json_skip(&in->r);
	}
}

static void read_annotations(struct mpijob__plan_reading *in)
{
	if (!enter(in, MPIJOB__DOC_JSON_MAP, "metadata.annotations"))
		return;
	while (mpijob__doc_json_key(&in->r)) {
		if (is(in, MPIJOB__BASE_API_LIST_END))
			take_string(in, &in->initial_events_end,
			    "metadata.annotations[" MPIJOB__BASE_API_LIST_END "]");
		else
			mpijob__doc_json_skip(&in->r);
	}
}

static void read_owner(struct mpijob__plan_reading *in)
{
	struct mpijob__plan_owner owner = { 0 };
	int32_t controller = 0;

	while (mpijob__doc_json_key(&in->r)) {
		if (is(in, "apiVersion"))
			take_string(in, &owner.api_version,
			    "metadata.ownerReferences[].apiVersion");
		else if (is(in, "kind"))
			take_string(in, &owner.kind, "metadata.ownerReferences[].kind");
		else if (is(in, "name"))
			take_string(in, &owner.name, "metadata.ownerReferences[].name");
		else if (is(in, "uid"))
			take_string(in, &owner.uid, "metadata.ownerReferences[].uid");
		else if (is(in, "controller"))
			take_bool(in, &controller, "metadata.ownerReferences[].controller");
		else
			mpijob__doc_json_skip(&in->r);
	}
	if (controller)
		in->owner = owner;
}

static void read_owners(struct mpijob__plan_reading *in)
{
	if (!enter(in, MPIJOB__DOC_JSON_LIST, "metadata.ownerReferences"))
		return;
	while (mpijob__doc_json_item(&in->r)) {
		if (in->r.token == MPIJOB__DOC_JSON_MAP) {
			read_owner(in);
		} else {
			note_wrong_type(in, "metadata.ownerReferences[]");
			mpijob__doc_json_finish(&in->r);
		}
	}
}

static void read_metadata(struct mpijob__plan_reading *in)
{
	const char *deletion = NULL;

	if (!enter(in, MPIJOB__DOC_JSON_MAP, "metadata"))
		return;
	while (mpijob__doc_json_key(&in->r)) {
		if (is(in, "name"))
			take_string(in, &in->name, "metadata.name");
		else if (is(in, "namespace"))
			take_string(in, &in->namespace_, "metadata.namespace");
		else if (is(in, "uid"))
			take_string(in, &in->uid, "metadata.uid");
		else if (is(in, "resourceVersion"))
			take_string(in, &in->resource_version, "metadata.resourceVersion");
		else if (is(in, "creationTimestamp"))
			take_time(in, &in->created_ms, "metadata.creationTimestamp");
		else if (is(in, "deletionTimestamp"))
			take_string(in, &deletion, "metadata.deletionTimestamp");
		else if (is(in, "labels"))
			read_labels(in);
		else if (is(in, "annotations"))
			read_annotations(in);
		else if (is(in, "ownerReferences"))
			read_owners(in);
		else
			mpijob__doc_json_skip(&in->r);
	}
	in->deleting = deletion != NULL;
}

static void read_spec(struct mpijob__plan_reading *in)
{
	const char *from;

	if (!enter(in, MPIJOB__DOC_JSON_MAP, "spec"))
		return;
	from = mpijob__doc_json_from(&in->r);
	while (mpijob__doc_json_key(&in->r)) {
		if (is(in, "nodeName"))
			take_string(in, &in->node, "spec.nodeName");
		else if (is(in, "suspend"))
			take_bool(in, &in->suspended, "spec.suspend");
		else if (is(in, "template"))
			take_span(in, &in->pod_template);
		else
			mpijob__doc_json_skip(&in->r);
	}
	if (in->r.token != MPIJOB__DOC_JSON_ERROR) {
		in->spec.text = from;
		in->spec.len = (size_t)(mpijob__doc_json_until(&in->r) - from);
	}
}

static void read_condition(struct mpijob__plan_reading *in)
{
	const char *type = NULL, *status = NULL, *reason = NULL, *message = NULL;

	while (mpijob__doc_json_key(&in->r)) {
		if (is(in, "type"))
			take_string(in, &type, "status.conditions[].type");
		else if (is(in, "status"))
			take_string(in, &status, "status.conditions[].status");
		else if (is(in, "reason"))
			take_string(in, &reason, "status.conditions[].reason");
		else if (is(in, "message"))
			take_string(in, &message, "status.conditions[].message");
		else
			mpijob__doc_json_skip(&in->r);
	}
	if (!type || !status || strcmp(status, "True") != 0)
		return;
	if (strcmp(type, "Ready") == 0) {
		in->ready = 1;
	} else if (strcmp(type, "Complete") == 0) {
		in->complete = 1;
	} else if (strcmp(type, "Failed") == 0) {
		in->has_failed = 1;
		in->failed_reason = reason;
		in->failed_message = message;
	}
}

static void read_running(struct mpijob__plan_reading *in, struct mpijob__plan_container *out)
{
	if (!enter(in, MPIJOB__DOC_JSON_MAP, "status.containerStatuses[].state.running"))
		return;
	while (mpijob__doc_json_key(&in->r)) {
		if (is(in, "startedAt"))
			take_time(in, &out->running_since_ms,
			    "status.containerStatuses[].state.running.startedAt");
		else
			mpijob__doc_json_skip(&in->r);
	}
}

/* Paths of the fields about a container's end, for findings. */
struct end_paths {
	const char *state, *terminated, *exit_code, *reason, *message, *finished_at;
};
#define END_PATHS(state)                                                         \
	{                                                                        \
		"status.containerStatuses[]." state,                             \
		    "status.containerStatuses[]." state ".terminated",           \
		    "status.containerStatuses[]." state ".terminated.exitCode",  \
		    "status.containerStatuses[]." state ".terminated.reason",    \
		    "status.containerStatuses[]." state ".terminated.message",   \
		    "status.containerStatuses[]." state ".terminated.finishedAt" \
	}

static void read_terminated(struct mpijob__plan_reading *in, const struct end_paths *paths,
    struct mpijob__plan_container *out)
{
	if (!enter(in, MPIJOB__DOC_JSON_MAP, paths->terminated))
		return;
	out->ended = 1;
	while (mpijob__doc_json_key(&in->r)) {
		if (is(in, "exitCode"))
			take_int(in, &out->exit_code, paths->exit_code);
		else if (is(in, "reason"))
			take_string(in, &out->reason, paths->reason);
		else if (is(in, "message"))
			take_string(in, &out->message, paths->message);
		else if (is(in, "finishedAt"))
			take_time(in, &out->ended_ms, paths->finished_at);
		else
			mpijob__doc_json_skip(&in->r);
	}
}

/* Copy how a container ended. */
static void copy_end(struct mpijob__plan_container *out, const struct mpijob__plan_container *from)
{
	out->exit_code = from->exit_code;
	out->reason = from->reason;
	out->message = from->message;
	out->ended_ms = from->ended_ms;
}

static void read_state(struct mpijob__plan_reading *in, const struct end_paths *paths,
    struct mpijob__plan_container *out)
{
	if (!enter(in, MPIJOB__DOC_JSON_MAP, paths->state))
		return;
	while (mpijob__doc_json_key(&in->r)) {
		if (is(in, "running"))
			read_running(in, out);
		else if (is(in, "terminated"))
			read_terminated(in, paths, out);
		else
			mpijob__doc_json_skip(&in->r);
	}
}

/*
 * If a container failed, was restarted and was then stopped from outside (as the Job controller
 * stops a launcher after its last retry), the original failure is the fact.
 */
static void prefer_failure(struct mpijob__plan_container *now,
    const struct mpijob__plan_container *before)
{
	int stopped = (now->exit_code == 128 + 15 || now->exit_code == 128 + 9) &&
		      !(now->reason && strcmp(now->reason, "OOMKilled") == 0);

	if (!now->ended || !stopped || !before->exit_code)
		return;
	copy_end(now, before);
}

static void read_container(struct mpijob__plan_reading *in, int init)
{
	static const struct end_paths state = END_PATHS("state"),
				      last_state = END_PATHS("lastState");
	struct mpijob__plan_container container = { 0 }, before = { 0 };
	struct mpijob__plan_container *pod = init ? &in->init_container : &in->container;

	while (mpijob__doc_json_key(&in->r)) {
		if (is(in, "state"))
			read_state(in, &state, &container);
		else if (is(in, "lastState"))
			read_state(in, &last_state, &before);
		else
			mpijob__doc_json_skip(&in->r);
	}
	prefer_failure(&container, &before);
	if (!pod->running_since_ms)
		pod->running_since_ms = container.running_since_ms;
	if (container.ended && (!pod->ended || !pod->exit_code)) {
		/* The first failed container counts; without one, the first that ended. */
		if (!pod->ended || container.exit_code)
			copy_end(pod, &container);
		pod->ended = 1;
	}
}

static void read_containers(struct mpijob__plan_reading *in, int init)
{
	if (!enter(in, MPIJOB__DOC_JSON_LIST,
		init ? "status.initContainerStatuses" : "status.containerStatuses"))
		return;
	while (mpijob__doc_json_item(&in->r)) {
		if (in->r.token == MPIJOB__DOC_JSON_MAP) {
			read_container(in, init);
		} else {
			note_wrong_type(in, "status.containerStatuses[]");
			mpijob__doc_json_finish(&in->r);
		}
	}
}

static void read_conditions(struct mpijob__plan_reading *in)
{
	if (!enter(in, MPIJOB__DOC_JSON_LIST, "status.conditions"))
		return;
	while (mpijob__doc_json_item(&in->r)) {
		if (in->r.token == MPIJOB__DOC_JSON_MAP) {
			read_condition(in);
		} else {
			note_wrong_type(in, "status.conditions[]");
			mpijob__doc_json_finish(&in->r);
		}
	}
}

static void read_status(struct mpijob__plan_reading *in)
{
	/* In a Status, `status` is a string. */
	if (mpijob__doc_json_next(&in->r) != MPIJOB__DOC_JSON_MAP) {
		mpijob__doc_json_finish(&in->r);
		return;
	}
	while (mpijob__doc_json_key(&in->r)) {
		if (is(in, "phase"))
			take_string(in, &in->phase, "status.phase");
		else if (is(in, "reason"))
			take_string(in, &in->status_reason, "status.reason");
		else if (is(in, "message"))
			take_string(in, &in->status_message, "status.message");
		else if (is(in, "conditions"))
			read_conditions(in);
		else if (is(in, "containerStatuses"))
			read_containers(in, 0);
		else if (is(in, "initContainerStatuses"))
			read_containers(in, 1);
		else if (is(in, "startTime"))
			take_time(in, &in->start_ms, "status.startTime");
		else if (is(in, "completionTime"))
			take_time(in, &in->completion_ms, "status.completionTime");
		else if (is(in, "active"))
			take_int(in, &in->active, "status.active");
		else if (is(in, "succeeded"))
			take_int(in, &in->succeeded, "status.succeeded");
		else if (is(in, "failed"))
			take_int(in, &in->failed, "status.failed");
		else
			mpijob__doc_json_skip(&in->r);
	}
}

/* Check that a key of a Secret exists, without copying it. */
static void read_key(struct mpijob__plan_reading *in, int *present)
{
	*present = mpijob__doc_json_next(&in->r) == MPIJOB__DOC_JSON_STRING && in->r.len > 0;
	mpijob__doc_json_finish(&in->r);
}

static void read_data(struct mpijob__plan_reading *in)
{
	if (mpijob__doc_json_next(&in->r) != MPIJOB__DOC_JSON_MAP) {
		mpijob__doc_json_finish(&in->r);
		return;
	}
	while (mpijob__doc_json_key(&in->r)) {
		if (is(in, MPIJOB__RENDER_KEY_HOSTFILE))
			take_span(in, &in->hostfile);
		else if (is(in, MPIJOB__RENDER_KEY_DISCOVER_HOSTS))
			take_span(in, &in->discover_hosts);
		else if (is(in, MPIJOB__RENDER_KEY_SSH_PRIVATE))
			read_key(in, &in->has_private);
		else if (is(in, MPIJOB__RENDER_KEY_SSH_PUBLIC))
			read_key(in, &in->has_public);
		else
			mpijob__doc_json_skip(&in->r);
	}
}

static void read_object(struct mpijob__plan_reading *in, int inside_event);

/* A watch event has `type` and `object`; without `object`, `type` is that of a Secret. */
static void read_field(struct mpijob__plan_reading *in, int inside_event)
{
	if (is(in, "apiVersion"))
		take_string(in, &in->api_version, "apiVersion");
	else if (is(in, "kind"))
		take_string(in, &in->kind, "kind");
	else if (is(in, "metadata"))
		read_metadata(in);
	else if (is(in, "spec"))
		read_spec(in);
	else if (is(in, "status"))
		read_status(in);
	else if (is(in, "data"))
		read_data(in);
	else if (is(in, "code"))
		take_int(in, &in->code, "code");
	else if (is(in, "reason"))
		take_string(in, &in->reason, "reason");
	else if (is(in, "message"))
		take_string(in, &in->message, "message");
	else if (is(in, "value"))
		take_int(in, &in->value, "value");
	else if (!inside_event && is(in, "type"))
		take_string(in, &in->event_type, "type");
	else if (!inside_event && is(in, "object"))
		read_object(in, 1);
	else
		mpijob__doc_json_skip(&in->r);
}

static void read_object(struct mpijob__plan_reading *in, int inside_event)
{
	if (mpijob__doc_json_next(&in->r) != MPIJOB__DOC_JSON_MAP) {
		in->no_map = 1;
		mpijob__doc_json_finish(&in->r);
		return;
	}
	in->is_event = inside_event;
	while (mpijob__doc_json_key(&in->r))
		read_field(in, inside_event);
}

static int report_syntax(struct mpijob__plan_reading *in, mpijob_diag *diag)
{
	struct mpijob__core_place place = { NULL, in->r.line, mpijob__doc_json_column(&in->r) };

	mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, in->r.error_id, NULL, NULL, &place,
	    "%s", in->r.error ? in->r.error : "lists and maps are nested too deeply");
	return MPIJOB_ERR_SYNTAX;
}

static int read_text(struct mpijob__plan_reading *in, const char *json, size_t len,
    mpijob_diag *diag)
{
	mpijob__doc_json_init(&in->r, json, len, 0);
	read_object(in, 0);
	if (in->r.token == MPIJOB__DOC_JSON_ERROR)
		return report_syntax(in, diag);
	if (in->r.token == MPIJOB__DOC_JSON_END ||
	    mpijob__doc_json_next(&in->r) != MPIJOB__DOC_JSON_END) {
		in->r.error_id = "syntax";
		in->r.error = "expected exactly one JSON object";
		return report_syntax(in, diag);
	}
	return in->nomem ? MPIJOB_ERR_NOMEM : 0;
}

mpijob_observation *mpijob_observation_new(void)
{
	mpijob_observation *observation = calloc(1, sizeof(*observation));

	if (observation)
		observation->view.size = sizeof(observation->view);
	return observation;
}

static void clear(mpijob_observation *observation)
{
	mpijob__base_arena_free(&observation->arena);
	mpijob_doc_free(observation->doc);
	observation->doc = NULL;
	memset(&observation->view, 0, sizeof(observation->view));
	observation->view.size = sizeof(observation->view);
}

void mpijob_observation_free(mpijob_observation *observation)
{
	if (!observation)
		return;
	clear(observation);
	free(observation);
}

int mpijob_observe(mpijob_observation *observation, const char *json, size_t len,
    const struct mpijob_observed **out, mpijob_diag *diag)
{
	struct mpijob__plan_reading in;
	int code;

	if (!observation || !json || !out)
		return MPIJOB_ERR_USAGE;
	clear(observation);
	memset((char *)&in + sizeof(in.r), 0, sizeof(in) - sizeof(in.r));
	in.observation = observation;
	code = read_text(&in, json, len, diag);
	if (!code)
		code = mpijob__plan_projection_make(&in, diag);
	if (code)
		clear(observation);
	*out = code ? NULL : &observation->view;
	return code;
}
