/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by observe.c, which reads the text of an object, and projection.c, which makes the facts.
 */
#ifndef MPIJOB__PLAN_OBSERVATION_H
#define MPIJOB__PLAN_OBSERVATION_H

#include "base/arena.h"
#include "core/diag.h"
#include "doc/json_reader.h"

#include <mpijob/plan.h>

struct mpijob_observation {
	struct mpijob_observed view;
	struct mpijob_pod_facts pod;
	struct mpijob_launcher_facts launcher;
	struct mpijob_child_facts child;
	struct mpijob__base_arena arena; /* memory of the strings above */
	mpijob_doc *doc;                 /* document of the nodes above, or NULL */
};

/* A value inside the text; NULL when absent. */
struct mpijob__plan_span {
	const char *text;
	size_t len;
};

struct mpijob__plan_owner {
	const char *api_version;
	const char *kind;
	const char *name;
	const char *uid;
};

/* The state of a pod's containers that becomes a fact. */
struct mpijob__plan_container {
	int ended;
	int32_t exit_code;
	const char *reason;
	const char *message;
	int64_t ended_ms;
	int64_t running_since_ms;
};

/* The fields that one pass collects. `r` is the first member because mpijob__doc_json_init()
 * initialises it. */
struct mpijob__plan_reading {
	struct mpijob__doc_json r;
	struct mpijob_observation *observation;
	int nomem;
	const char *wrong; /* path of the first collected field with a wrong type; NULL: none */
	struct mpijob__core_place wrong_place;

	int is_event, no_map;
	const char *event_type;
	const char *api_version, *kind;
	const char *name, *namespace_, *uid, *resource_version;
	const char *job_name, *job_role, *initial_events_end;
	struct mpijob__plan_owner owner;
	int64_t created_ms;
	int32_t deleting;

	const char *node;
	int32_t suspended;
	struct mpijob__plan_span spec, pod_template;

	const char *phase, *status_reason, *status_message;
	int32_t ready, complete, has_failed;
	const char *failed_reason, *failed_message;
	struct mpijob__plan_container container, init_container;
	int64_t start_ms, completion_ms;
	int32_t active, succeeded, failed;

	struct mpijob__plan_span hostfile, discover_hosts; /* JSON strings with their quotes */
	int has_private, has_public;

	int32_t code, value;
	const char *reason, *message;
};

/* Make the observation's view from the collected fields. Returns as mpijob_observe(). */
int mpijob__plan_projection_make(struct mpijob__plan_reading *in, mpijob_diag *diag);

#endif
