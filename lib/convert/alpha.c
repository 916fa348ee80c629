/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion of v1alpha1 and v1alpha2 to v2beta1. It makes implicit behaviour of their operators
 * explicit: v1alpha1 creates launcher and workers from one template, computes the number of workers
 * from processing units, and deletes the workers at the end. Both start ranks with kubectl exec, so
 * their images did not need sshd.
 */
#include "base/api.h"
#include "convert/to_v2beta1.h"

#include <string.h>

#define TEMPLATE     "spec.template"
#define POD_SPEC     ".template.spec"
#define GPU          "nvidia.com/gpu"
#define MASTER       "node-role.kubernetes.io/control-plane"
#define WORKER_IMAGE WORKER_PATH CONTAINERS "[0].image"

/* ---- both versions ---- */

/* Move a field of the spec to the run policy. */
static void carry_into_policy(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const char *key = strrchr(move->field, '.') + 1;
	const mpijob_node *value = mpijob__convert_find(conversion, move->field);
	mpijob_node *policy = value ? mpijob_doc_make(conversion->doc, "spec.runPolicy") : NULL;
	const mpijob_node *given = mpijob__convert_get(policy, key);

	if (given && !mpijob_node_equal(given, value))
		mpijob__convert_change(conversion, move->field, value,
		    "left out: spec.runPolicy.%s is used", key);
	else if (value && !given) {
		mpijob__convert_change(conversion, move->field, value,
		    "written as spec.runPolicy.%s", key);
		mpijob_node_put_copy(conversion->doc, policy, key, value);
	}
	mpijob_node_remove(mpijob_doc_edit(conversion->doc, "spec"), key);
}

/* Report what the conversion cannot add: sshd in the image. */
static void carry_image(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *image = mpijob__convert_find(conversion, WORKER_IMAGE);

	(void)move;
	if (image)
		mpijob__convert_loss(conversion, WORKER_IMAGE, image,
		    "ranks are started by ssh now, not by kubectl exec: the image must have "
		    "/usr/sbin/sshd with its host keys, and that of the launcher an ssh client");
}

/* ---- v1alpha2 ---- */

static const struct mpijob__convert_word distributions[] = {
	{ "OpenMPI", "OpenMPI" },
	{ "IntelMPI", "Intel" },
	{ "MPICH", "MPICH" },
	{ NULL, NULL },
};

static void carry_distribution(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *value = mpijob__convert_find(conversion, move->field);
	const char *word = mpijob_node_string(value);
	const struct mpijob__convert_word *row = distributions;

	while (word && row->from && strcmp(row->from, word) != 0)
		row++;
	if (word && row->from) {
		mpijob__convert_change(conversion, move->field, value,
		    "written as spec.mpiImplementation: %s", row->to);
		mpijob__convert_replicas_put_text(conversion, "spec", "mpiImplementation", row->to);
	} else if (value) {
		mpijob__convert_loss(conversion, move->field, value,
		    "left out: not a known MPI implementation; set spec.mpiImplementation");
	}
	mpijob_node_remove(mpijob_doc_edit(conversion->doc, "spec"), "mpiDistribution");
}

static void carry_launcher_policy(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *policy = mpijob__convert_find(conversion, move->field);
	const char *word = mpijob_node_string(policy);

	if (!word || strcmp(word, "Never") == 0 || strcmp(word, "OnFailure") == 0)
		return;
	mpijob__convert_change(conversion, move->field, policy,
	    "written as OnFailure, as v1alpha2 treats all values except Never");
	mpijob__convert_replicas_put_text(conversion, LAUNCHER_PATH, "restartPolicy", "OnFailure");
}

/* Rows that read the launcher come before rows that change it. */
static const struct mpijob__convert_move moves_v1alpha2[] = {
	{ .field = "spec.slotsPerWorker" },
	{ .field = "spec.backoffLimit", .carry = carry_into_policy },
	{ .field = "spec.activeDeadlineSeconds", .carry = carry_into_policy },
	{ .field = "spec.cleanPodPolicy", .carry = carry_into_policy },
	{ .field = "spec.runPolicy.backoffLimit" },
	{ .field = "spec.runPolicy.activeDeadlineSeconds" },
	{ .field = "spec.runPolicy.cleanPodPolicy" },
	{ .field = "spec.runPolicy.ttlSecondsAfterFinished" },
	{ .field = "spec.runPolicy.schedulingPolicy" },
	{ .field = "spec.mpiDistribution", .carry = carry_distribution },
	{ .field = LAUNCHER_POLICY, .carry = carry_launcher_policy },
	{ .field = LAUNCHER_PATH ".replicas" },
	{ .field = LAUNCHER_PATH CONTAINERS, .carry = mpijob__convert_to_v2beta1_launcher },
	{ .field = LAUNCHER_PATH POD_SPEC ".restartPolicy",
	    .carry = mpijob__convert_to_v2beta1_strip_restart_policy },
	{ .field = LAUNCHER_PATH POD_SPEC ".securityContext.runAsUser",
	    .carry = mpijob__convert_to_v2beta1_user },
	{ .field = WORKER_PATH ".replicas" },
	{ .field = WORKER_PATH ".restartPolicy",
	    .carry = mpijob__convert_to_v2beta1_worker_policy },
	{ .field = "spec.mainContainer", .carry = mpijob__convert_to_v2beta1_main_container },
	{ .field = WORKER_PATH CONTAINERS, .carry = mpijob__convert_to_v2beta1_worker_command },
	{ .field = WORKER_PATH POD_SPEC ".restartPolicy",
	    .carry = mpijob__convert_to_v2beta1_strip_restart_policy },
	{ .field = WORKER_PATH POD_SPEC ".securityContext.runAsUser",
	    .carry = mpijob__convert_to_v2beta1_user },
	{ .field = WORKER_IMAGE, .carry = carry_image },
	{ .field = NULL },
};

/* ---- v1alpha1: how many workers, and what each has ---- */

struct units {
	const char *resource; /* Name of the limit. */
	int64_t workers;      /* -1: unknown: no workers are created. */
	int64_t each;         /* 0: not given. */
};

/* The number at the first of two fields that is given. */
static const mpijob_node *number_of(const struct mpijob__convert_conversion *conversion,
    const char *first, const char *second, int64_t *out)
{
	const mpijob_node *node = mpijob__convert_find(conversion, first);

	if (!node)
		node = mpijob__convert_find(conversion, second);
	return node && mpijob_node_int(node, out) ? node : NULL;
}

/* Divide a total of units by the units per node of the job, or the default of the operator's flag.
 */
static void round_up_workers(struct mpijob__convert_conversion *conversion, const char *field,
    const mpijob_node *place, int64_t total, const char *per_field, struct units *units)
{
	int64_t per = 1;

	if (!mpijob__convert_replicas_number(conversion, per_field, &per))
		mpijob__convert_change(conversion, per_field, NULL,
		    "taken as 1, the default of the operator's flag: set it if that flag had "
		    "another value");
	if (per < 1 || total < 1) {
		mpijob__convert_loss(conversion, field, place,
		    "the number of workers cannot be computed from it: write "
		    "spec.mpiReplicaSpecs[Worker]");
		return;
	}
	if (total > per && total % per != 0)
		mpijob__convert_loss(conversion, field, place,
		    "not a multiple of %s, so v1alpha1 rejects it; rounded up", per_field);
	units->workers = total / per + (total % per != 0);
	units->each = total < per ? total : per;
	mpijob__convert_change(conversion, field, place,
	    "written as %lld workers, each with a limit of %lld %s", (long long)units->workers,
	    (long long)units->each, units->resource);
}

static void count_units(struct mpijob__convert_conversion *conversion, struct units *units)
{
	const char *type = mpijob__convert_text(conversion, "spec.processingResourceType");
	int has_gpus = mpijob__convert_find(conversion, "spec.gpus") != NULL;
	int64_t total = 0;
	const mpijob_node *place =
	    number_of(conversion, "spec.gpus", "spec.processingUnits", &total);
	const mpijob_node *both = mpijob__convert_find(conversion, "spec.processingUnits");
	const mpijob_node *limits =
	    mpijob__convert_find(conversion, TEMPLATE ".spec.containers[0].resources.limits");

	units->resource = type && strcmp(type, "cpu") == 0 ? "cpu" : GPU;
	if (has_gpus && both)
		mpijob__convert_loss(conversion, "spec.processingUnits", both,
		    "left out: v1alpha1 rejects it together with spec.gpus");
	if (place)
		round_up_workers(conversion, has_gpus ? "spec.gpus" : "spec.processingUnits", place,
		    total, has_gpus ? "spec.gpusPerNode" : "spec.processingUnitsPerNode", units);
	else if (mpijob__convert_replicas_number(conversion, "spec.replicas", &units->workers))
		mpijob_node_int(mpijob_node_get(limits, units->resource), &units->each);
}

/* ---- v1alpha1: the two kinds of pods ---- */

static void make_worker(struct mpijob__convert_conversion *conversion, const mpijob_node *template,
    const struct units *units)
{
	mpijob_node *worker = mpijob_doc_make(conversion->doc, WORKER_PATH), *first, *resources,
		    *limits;

	mpijob_node_put_int(conversion->doc, worker, "replicas", units->workers);
	mpijob_node_put_string(conversion->doc, worker, "restartPolicy", "OnFailure");
	mpijob__convert_change(conversion, WORKER_PATH ".restartPolicy", NULL,
	    "written as OnFailure: v1alpha1 restarts workers always");
	mpijob_node_put_copy(conversion->doc, worker, "template", template);
	first = mpijob_node_edit_at(mpijob__convert_find(conversion, WORKER_PATH CONTAINERS), 0);
	mpijob_node_remove(first, "command");
	mpijob_node_remove(first, "args");
	if (!first || units->each == 0)
		return;
	resources = mpijob__convert_get(first, "resources");
	if (!resources)
		resources = mpijob_node_put_map(conversion->doc, first, "resources");
	limits = mpijob__convert_get(resources, "limits");
	if (!limits)
		limits = mpijob_node_put_map(conversion->doc, resources, "limits");
	mpijob_node_put_int(conversion->doc, limits, units->resource, units->each);
}

static void make_launcher(struct mpijob__convert_conversion *conversion,
    const mpijob_node *template)
{
	mpijob_node *launcher = mpijob_doc_make(conversion->doc, LAUNCHER_PATH), *first;
	const char *policy = mpijob_node_string(mpijob_node_find(template, "spec.restartPolicy"));

	mpijob_node_put_string(conversion->doc, launcher, "restartPolicy",
	    policy && strcmp(policy, "Never") == 0 ? "Never" : "OnFailure");
	mpijob_node_put_copy(conversion->doc, launcher, "template", template);
	first = mpijob_node_edit_at(mpijob__convert_find(conversion, LAUNCHER_PATH CONTAINERS), 0);
	if (mpijob__convert_get(first, "resources"))
		mpijob__convert_change(conversion, LAUNCHER_PATH CONTAINERS "[0].resources",
		    mpijob__convert_get(first, "resources"),
		    "left out: v1alpha1 gives them to workers only");
	mpijob_node_remove(first, "resources");
}

static void carry_template(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	struct units units = { GPU, -1, 0 };
	const mpijob_node *value = mpijob__convert_find(conversion, move->field);
	mpijob_doc *copy = value ? mpijob_doc_from_node(value, NULL) : NULL;

	count_units(conversion, &units);
	if (value && !copy)
		conversion->code = MPIJOB_ERR_NOMEM;
	if (!copy)
		return;
	mpijob__convert_change(conversion, move->field, value,
	    "becomes the templates of the launcher, which keeps the command, and of the workers, "
	    "which run /usr/sbin/sshd -De");
	mpijob_node_remove(mpijob_doc_edit(conversion->doc, "spec"), "template");
	make_launcher(conversion, mpijob_doc_root(copy));
	if (units.workers > 0)
		make_worker(conversion, mpijob_doc_root(copy), &units);
	else
		mpijob__convert_loss(conversion, move->field, value,
		    "the job has no workers: set gpus, processingUnits or replicas");
	if (units.each > 0 && !mpijob__convert_find(conversion, "spec.slotsPerWorker"))
		mpijob__convert_replicas_put_number(conversion, "spec", "slotsPerWorker",
		    units.each);
	mpijob_doc_free(copy);
}

/* launcherOnMaster: the launcher tolerates the taint of control planes, and runs only there. */
static void carry_master(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *value = mpijob__convert_find(conversion, move->field);
	mpijob_doc *doc = conversion->doc;
	mpijob_node *spec, *map;
	int on = 0;

	if (mpijob_node_bool(value, &on) && on) {
		mpijob__convert_change(conversion, move->field, value,
		    "written as a toleration of the launcher and its node affinity, both on " MASTER
		    " (v1alpha1: .../master)");
		spec = mpijob_doc_make(doc, LAUNCHER_PATH POD_SPEC);
		map = mpijob_node_append(doc, mpijob_node_put_list(doc, spec, "tolerations"),
		    mpijob_node_new(doc, MPIJOB_NODE_MAP));
		mpijob_node_put_string(doc, map, "key", MASTER);
		mpijob_node_put_string(doc, map, "operator", "Exists");
		mpijob_node_put_string(doc, map, "effect", "NoSchedule");
		map = mpijob_node_put_map(doc, mpijob_node_put_map(doc, spec, "affinity"),
		    "nodeAffinity");
		map =
		    mpijob_node_put_map(doc, map, "requiredDuringSchedulingIgnoredDuringExecution");
		map = mpijob_node_append(doc, mpijob_node_put_list(doc, map, "nodeSelectorTerms"),
		    mpijob_node_new(doc, MPIJOB_NODE_MAP));
		map = mpijob_node_append(doc, mpijob_node_put_list(doc, map, "matchExpressions"),
		    mpijob_node_new(doc, MPIJOB_NODE_MAP));
		mpijob_node_put_string(doc, map, "key", MASTER);
		mpijob_node_put_string(doc, map, "operator", "Exists");
	}
	mpijob_node_remove(mpijob_doc_edit(doc, "spec"), "launcherOnMaster");
}

/* Make the behaviour of v1alpha1's operator explicit. */
static void report_habits(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	if (!mpijob__convert_replicas_has(conversion, WORKER_PATH))
		return;
	mpijob__convert_change(conversion, move->field, NULL,
	    "written as WaitForWorkersReady, as v1alpha1 does");
	mpijob__convert_replicas_put_text(conversion, "spec", "launcherCreationPolicy",
	    "WaitForWorkersReady");
	mpijob__convert_change(conversion, "spec.runPolicy.cleanPodPolicy", NULL,
	    "written as All: v1alpha1 removes the workers when the job has ended");
	mpijob__convert_replicas_put_text(conversion, "spec.runPolicy", "cleanPodPolicy", "All");
}

static void carry_status(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move)
{
	const mpijob_node *status = mpijob__convert_find(conversion, move->field);

	if (status)
		mpijob__convert_loss(conversion, move->field, status,
		    "left out: v1alpha1 has no conditions");
	mpijob_node_remove(mpijob_doc_edit(conversion->doc, ""), "status");
}

/* The template is split before the fields that it depends on are removed. */
static const struct mpijob__convert_move moves_v1alpha1[] = {
	{ .field = "spec.slotsPerWorker" },
	{ .field = TEMPLATE, .carry = carry_template },
	{ .field = "spec.gpus", .what = MOVE_DROP },
	{ .field = "spec.gpusPerNode", .what = MOVE_DROP },
	{ .field = "spec.processingUnits", .what = MOVE_DROP },
	{ .field = "spec.processingUnitsPerNode", .what = MOVE_DROP },
	{ .field = "spec.processingResourceType", .what = MOVE_DROP },
	{ .field = "spec.replicas", .what = MOVE_DROP },
	{ .field = "spec.launcherOnMaster", .carry = carry_master },
	{ .field = "spec.backoffLimit", .carry = carry_into_policy },
	{ .field = "spec.activeDeadlineSeconds", .carry = carry_into_policy },
	{ .field = "spec.launcherCreationPolicy", .carry = report_habits },
	{ .field = LAUNCHER_PATH CONTAINERS "[0].env",
	    .carry = mpijob__convert_to_v2beta1_implementation },
	{ .field = LAUNCHER_PATH CONTAINERS, .carry = mpijob__convert_to_v2beta1_launcher },
	{ .field = LAUNCHER_PATH POD_SPEC ".restartPolicy",
	    .carry = mpijob__convert_to_v2beta1_strip_restart_policy },
	{ .field = LAUNCHER_PATH POD_SPEC ".securityContext.runAsUser",
	    .carry = mpijob__convert_to_v2beta1_user },
	{ .field = WORKER_PATH POD_SPEC ".restartPolicy",
	    .carry = mpijob__convert_to_v2beta1_strip_restart_policy },
	{ .field = WORKER_PATH POD_SPEC ".securityContext.runAsUser",
	    .carry = mpijob__convert_to_v2beta1_user },
	{ .field = WORKER_IMAGE, .carry = carry_image },
	{ .field = "status", .carry = carry_status },
	{ .field = NULL },
};

const struct mpijob__convert_move *mpijob__convert_alpha_moves(const char *version)
{
	if (strcmp(version, MPIJOB__BASE_API_V1ALPHA1) == 0)
		return moves_v1alpha1;
	return strcmp(version, MPIJOB__BASE_API_V1ALPHA2) == 0 ? moves_v1alpha2 : NULL;
}
