/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster in memory for tests of the plan: it executes the actions of a plan on documents, feeds
 * every change back into the facts with mpijob_observe(), and simulates the Job controller. The
 * test changes the state of the pods.
 */
#ifndef TESTS_SUPPORT_PLAN_CLUSTER_H
#define TESTS_SUPPORT_PLAN_CLUSTER_H

#include <mpijob/plan.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PLAN_CLUSTER_START_MS INT64_C(1790000000000)

struct plan_cluster_object {
	mpijob_doc *doc;
};

struct plan_cluster {
	struct plan_cluster_object *objects;
	size_t count;
	mpijob_doc *job;
	mpijob_facts *facts;
	mpijob_observation *observation;
	struct mpijob_features features; /* of `render` */
	struct mpijob_render_options render;
	int32_t max_workers;
	int64_t hold_ms, ready_ms; /* options launcher_hold_ms and workers_ready_ms of the plan */
	int names_known;
	int64_t now_ms;
	long version;
	long uid;
	long config_map_writes;
	int graceful; /* deleted pods stay with a deletionTimestamp until plan_cluster_reap() */
};

void plan_cluster_die(const char *format, ...);
#define NEED(x)                                                                \
	do {                                                                   \
		if (!(x))                                                      \
			plan_cluster_die("%s:%d: %s", __FILE__, __LINE__, #x); \
	} while (0)

const char *plan_cluster_text(const mpijob_doc *doc, const char *path);
int64_t plan_cluster_int(const mpijob_doc *doc, const char *path);
int plan_cluster_bool(const mpijob_doc *doc, const char *path);
mpijob_text *plan_cluster_json(const mpijob_node *node, int32_t format);
/* Merge a patch in flow YAML into a document. */
void plan_cluster_set(mpijob_doc **doc, const char *format, ...);
struct plan_cluster_object *plan_cluster_find(struct plan_cluster *cluster, const char *kind,
    const char *name);
void plan_cluster_feed_event(struct plan_cluster *cluster, mpijob_facts *facts,
    const mpijob_doc *doc, const char *type);
void plan_cluster_touch(struct plan_cluster *cluster, struct plan_cluster_object *object);
/* Add an object; the cluster owns the document. */
struct plan_cluster_object *plan_cluster_add(struct plan_cluster *cluster, mpijob_doc *doc);
/* Delete an object, and what it owns. */
void plan_cluster_delete(struct plan_cluster *cluster, struct plan_cluster_object *object);
/* Remove the pods that have a deletionTimestamp. Returns whether there were any. */
int plan_cluster_reap(struct plan_cluster *cluster);
int plan_cluster_job_finished(const struct plan_cluster_object *job);
/* One step of the Job controller. Returns 1 if it changed something. */
int plan_cluster_job_controller(struct plan_cluster *cluster);
struct plan_cluster_object *plan_cluster_job(struct plan_cluster *cluster);
/* End the launcher pod with this status; the Job fails after more than `limit` failures. */
void plan_cluster_launcher_failed(struct plan_cluster *cluster, const char *pod_status,
    int64_t limit);
void plan_cluster_launcher_succeeded(struct plan_cluster *cluster);
void plan_cluster_pod(struct plan_cluster *cluster, const char *name, const char *patch);
void plan_cluster_pod_runs(struct plan_cluster *cluster, const char *name);
mpijob_plan *plan_cluster_plan(struct plan_cluster *cluster, const mpijob_facts *facts);
mpijob_text *plan_cluster_body(const mpijob_plan *plan, size_t index);
/* Execute one action. Returns 0, or MPIJOB_ERR_CONFLICT: make a new plan. */
int plan_cluster_act(struct plan_cluster *cluster, const mpijob_plan *plan, size_t index);
int plan_cluster_act_all(struct plan_cluster *cluster, const mpijob_plan *plan);
void plan_cluster_change_job(struct plan_cluster *cluster, const char *patch);
/* `job` is owned by the cluster. */
void plan_cluster_begin(struct plan_cluster *cluster, mpijob_doc *job);
void plan_cluster_end(struct plan_cluster *cluster);
void plan_cluster_feed_all(struct plan_cluster *cluster, mpijob_facts *facts);
void plan_cluster_copy(struct plan_cluster *out, const struct plan_cluster *from);
/* All objects as text, yours, without uids, values derived from them, and versions. */
char *plan_cluster_state(const struct plan_cluster *cluster);
#endif /* TESTS_SUPPORT_PLAN_CLUSTER_H */
