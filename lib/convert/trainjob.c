/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion to a TrainJob of Trainer 2.2. A TrainJob contains what differs between jobs, and a
 * runtime of the cluster defines the pods. A TrainJob can set the launcher's image, command and
 * environment; in a runtime patch it can set the volumes, service accounts and scheduling fields of
 * both roles. For all other fields a finding names the field of the runtime. A runtime for MPI has
 * the jobs `launcher` and `node`, each with a container `node`.
 */
#include "base/api.h"
#include "convert/replicas.h"
#include "base/text.h"

#include <string.h>

#define MANAGER        "mpijob.libmpijob/convert"
#define RUNTIME        "mpi-distributed"
#define LAUNCHER_FIRST LAUNCHER_PATH CONTAINERS "[0]"
#define WORKER_FIRST   WORKER_PATH CONTAINERS "[0]"

struct trainjob {
	struct mpijob__convert_conversion *from;
	mpijob_doc *to;
};

/* Values that are copied unchanged. */
static const struct {
	const char *from;
	const char *map; /* In the TrainJob. */
	const char *key;
} copies[] = {
	{ "metadata.name", "metadata", "name" },
	{ "metadata.generateName", "metadata", "generateName" },
	{ "metadata.namespace", "metadata", "namespace" },
	{ "metadata.labels", "metadata", "labels" },
	{ "metadata.annotations", "metadata", "annotations" },
	{ LAUNCHER_FIRST ".image", "spec.trainer", "image" },
	{ LAUNCHER_FIRST ".command", "spec.trainer", "command" },
	{ LAUNCHER_FIRST ".args", "spec.trainer", "args" },
	{ LAUNCHER_FIRST ".env", "spec.trainer", "env" },
	{ "spec.runPolicy.suspend", "spec", "suspend" },
};

/* Fields that a TrainJob does not have, and where they belong. */
static const struct mpijob__convert_move losses[] = {
	{ .field = "spec.runLauncherAsWorker",
	    .loss = 1,
	    .harmless = "false",
	    .note = "belongs in the runtime: spec.mlPolicy.mpi.runLauncherAsNode" },
	{ .field = "spec.sshAuthMountPath",
	    .loss = 1,
	    .harmless = "/root/.ssh",
	    .note = "belongs in the runtime: spec.mlPolicy.mpi.sshAuthMountPath" },
	{ .field = "spec.mpiImplementation",
	    .loss = 1,
	    .harmless = "OpenMPI",
	    .note = "Trainer supports only OpenMPI in spec.mlPolicy.mpi.mpiImplementation of the "
		    "runtime" },
	{ .field = "spec.launcherCreationPolicy",
	    .loss = 1,
	    .harmless = "AtStartup",
	    .note = "belongs in the runtime: dependsOn with status Ready, of its replicated job "
		    "launcher" },
	{ .field = "spec.runPolicy.cleanPodPolicy",
	    .loss = 1,
	    .harmless = "None",
	    .note =
		"Trainer has no such policy; the runtime's JobSet deletes pods with their Jobs" },
	{ .field = "spec.runPolicy.ttlSecondsAfterFinished",
	    .loss = 1,
	    .note = "belongs in the runtime: spec.template.spec.ttlSecondsAfterFinished" },
	{ .field = BACKOFF_LIMIT,
	    .loss = 1,
	    .note = "belongs in the runtime: backoffLimit of its replicated job launcher, or "
		    "spec.template.spec.failurePolicy.maxRestarts" },
	{ .field = "spec.runPolicy.schedulingPolicy.minAvailable",
	    .loss = 1,
	    .note = "Trainer always places all pods of a job together" },
	{ .field = "spec.runPolicy.schedulingPolicy.queue",
	    .loss = 1,
	    .note = "belongs in the runtime: its annotation scheduling.volcano.sh/queue-name" },
	{ .field = "spec.runPolicy.schedulingPolicy.minResources",
	    .loss = 1,
	    .note = "Trainer computes it from the pods" },
	{ .field = "spec.runPolicy.schedulingPolicy.priorityClass",
	    .loss = 1,
	    .note = "belongs in the runtime: priorityClassName of its pod templates" },
	{ .field = "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds",
	    .loss = 1,
	    .note =
		"belongs in the runtime: spec.podGroupPolicy.coscheduling.scheduleTimeoutSeconds" },
	{ .field = LAUNCHER_PATH ".restartPolicy",
	    .loss = 1,
	    .note = "belongs in the runtime: restartPolicy of the pods of its job launcher" },
	{ .field = WORKER_PATH ".restartPolicy",
	    .loss = 1,
	    .note = "belongs in the runtime: restartPolicy of the pods of its job node" },
	{ .field = LAUNCHER_FIRST ".name",
	    .harmless = "node",
	    .note = "in the pods of a TrainJob this container is 'node'" },
	{ .field = WORKER_FIRST ".name",
	    .harmless = "node",
	    .note = "in the pods of a TrainJob this container is 'node'" },
	{ .field = WORKER_FIRST ".image",
	    .loss = 1,
	    .note = "belongs in the runtime: a TrainJob's image is the launcher's only" },
	{ .field = WORKER_FIRST ".command",
	    .loss = 1,
	    .note = "belongs in the runtime: command of the container node of its job node" },
	{ .field = WORKER_FIRST ".args",
	    .loss = 1,
	    .note = "belongs in the runtime: args of the container node of its job node" },
	{ .field = WORKER_FIRST ".env",
	    .loss = 1,
	    .note = "belongs in the runtime: env of the container node of its job node" },
	{ .field = "status", .note = "left out: the status of a TrainJob is different" },
	{ .field = NULL },
};

/* Fields of a pod and its containers that a runtime patch can set. */
static const char *const pod_fields[] = { "serviceAccountName", "volumes", "imagePullSecrets",
	"securityContext", "nodeSelector", "affinity", "tolerations", "schedulingGates", NULL };
static const char *const container_fields[] = { "volumeMounts", "securityContext", NULL };
/* Fields that other functions convert. */
static const char *const pod_elsewhere[] = { "containers", NULL };
static const char *const container_elsewhere[] = { "name", "image", "command", "args", "env",
	"resources", NULL };

static mpijob_node *make_map(const struct trainjob *trainjob, const char *path)
{
	return mpijob_doc_make(trainjob->to, path);
}

static void copy_values(const struct trainjob *trainjob)
{
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		const mpijob_node *value = mpijob__convert_find(trainjob->from, copies[i].from);

		if (value)
			mpijob_node_put_copy(trainjob->to, make_map(trainjob, copies[i].map),
			    copies[i].key, value);
	}
	mpijob_node_remove(mpijob_doc_edit(trainjob->to, "metadata.annotations"),
	    MPIJOB_CONVERT_ANNOTATION);
	if (mpijob_doc_edit(trainjob->to, "metadata.annotations") &&
	    mpijob_node_count(mpijob_doc_edit(trainjob->to, "metadata.annotations")) == 0)
		mpijob_node_remove(mpijob_doc_edit(trainjob->to, "metadata"), "annotations");
}

static void report_losses(const struct trainjob *trainjob)
{
	for (const struct mpijob__convert_move *row = losses; row->field; row++) {
		const mpijob_node *value = mpijob__convert_find(trainjob->from, row->field);
		const char *text = mpijob_node_text(value);
		int flag;

		if (mpijob_node_bool(value, &flag))
			text = flag ? "true" : "false";
		if (!value || (row->harmless && text && strcmp(text, row->harmless) == 0))
			continue;
		if (row->loss)
			mpijob__convert_loss(trainjob->from, row->field, value, "%s", row->note);
		else
			mpijob__convert_change(trainjob->from, row->field, value, "%s", row->note);
	}
}

static void put_runtime(const struct trainjob *trainjob)
{
	const char *given = trainjob->from->runtime;

	mpijob_node_put_string(trainjob->to, make_map(trainjob, "spec.runtimeRef"), "name",
	    given ? given : RUNTIME);
	if (!given)
		mpijob__convert_change(trainjob->from, "spec.runtimeRef.name", NULL,
		    "written as '" RUNTIME
		    "'; name a ClusterTrainingRuntime of your cluster that has an MPI policy");
}

static void put_nodes(const struct trainjob *trainjob)
{
	int64_t workers = 1, slots = 1;
	int as_worker = 0;

	mpijob_node_bool(mpijob__convert_find(trainjob->from, "spec.runLauncherAsWorker"),
	    &as_worker);
	if (!mpijob__convert_replicas_has(trainjob->from, WORKER_PATH))
		workers = 0;
	mpijob__convert_replicas_number(trainjob->from, WORKER_PATH ".replicas", &workers);
	if (workers == 0)
		mpijob__convert_loss(trainjob->from, WORKER_PATH,
		    mpijob__convert_find(trainjob->from, WORKER_PATH),
		    "a TrainJob has at least one pod of job node");
	if (workers + as_worker > 0)
		mpijob_node_put_int(trainjob->to, make_map(trainjob, "spec.trainer"), "numNodes",
		    workers + as_worker);
	mpijob__convert_replicas_number(trainjob->from, "spec.slotsPerWorker", &slots);
	if (slots < 1)
		mpijob__convert_loss(trainjob->from, "spec.slotsPerWorker",
		    mpijob__convert_find(trainjob->from, "spec.slotsPerWorker"),
		    "a TrainJob's numProcPerNode is at least 1");
	else
		mpijob_node_put_int(trainjob->to, make_map(trainjob, "spec.trainer"),
		    "numProcPerNode", slots);
}

/* resourcesPerNode applies to the launcher, and to the nodes only if the launcher is one of them.
 */
static void put_resources(const struct trainjob *trainjob)
{
	const mpijob_node *launcher =
	    mpijob__convert_find(trainjob->from, LAUNCHER_FIRST ".resources");
	const mpijob_node *worker = mpijob__convert_find(trainjob->from, WORKER_FIRST ".resources");
	int as_worker = 0;
	const mpijob_node *used;

	mpijob_node_bool(mpijob__convert_find(trainjob->from, "spec.runLauncherAsWorker"),
	    &as_worker);
	used = as_worker && worker ? worker : launcher;
	if (used)
		mpijob_node_put_copy(trainjob->to, make_map(trainjob, "spec.trainer"),
		    "resourcesPerNode", used);
	if (launcher && used != launcher && !mpijob_node_equal(launcher, worker))
		mpijob__convert_loss(trainjob->from, LAUNCHER_FIRST ".resources", launcher,
		    "left out: a launcher that is a node gets spec.trainer.resourcesPerNode, which "
		    "is the workers'");
	if (worker && used != worker)
		mpijob__convert_loss(trainjob->from, WORKER_FIRST ".resources", worker,
		    "belongs in the runtime: resources of the container node of its job node");
}

static void put_policy(const struct trainjob *trainjob)
{
	const mpijob_node *deadline =
	    mpijob__convert_find(trainjob->from, "spec.runPolicy.activeDeadlineSeconds");
	const char *manager = mpijob__convert_text(trainjob->from, "spec.runPolicy.managedBy");
	int64_t seconds = 0;

	if (mpijob_node_int(deadline, &seconds) && seconds > 0) {
		mpijob_node_put_int(trainjob->to, make_map(trainjob, "spec"),
		    "activeDeadlineSeconds", seconds);
		mpijob__convert_change(trainjob->from, "spec.runPolicy.activeDeadlineSeconds",
		    deadline,
		    "a TrainJob counts the time of the whole job, and restarts at zero when it is "
		    "resumed");
	} else if (deadline) {
		mpijob__convert_loss(trainjob->from, "spec.runPolicy.activeDeadlineSeconds",
		    deadline, "a TrainJob's is at least 1");
	}
	if (manager && strcmp(manager, MPIJOB__BASE_API_MANAGER) == 0)
		manager = MPIJOB__BASE_API_TRAINER_MANAGER;
	if (manager)
		mpijob_node_put_string(trainjob->to, make_map(trainjob, "spec"), "managedBy",
		    manager);
}

/* Report the keys of a map that a TrainJob cannot express. */
static void report_rest(const struct trainjob *trainjob, const char *path,
    const char *const *placed, const char *const *elsewhere, const char *job)
{
	const mpijob_node *map = mpijob__convert_find(trainjob->from, path);

	for (size_t i = 0; mpijob_node_kind(map) == MPIJOB_NODE_MAP && i < mpijob_node_count(map);
	     i++) {
		const char *key = mpijob_node_key(map, i);
		struct mpijob_text field = { 0 };

		if (mpijob__base_text_is_one_of(key, placed) ||
		    mpijob__base_text_is_one_of(key, elsewhere))
			continue;
		if (mpijob__base_text_printf(&field, "%s.%s", path, key))
			trainjob->from->code = MPIJOB_ERR_NOMEM;
		else
			mpijob__convert_loss(trainjob->from, mpijob_text_data(&field),
			    mpijob_node_at(map, i),
			    "belongs in the runtime: the pods of its job %s", job);
		mpijob__base_text_release(&field);
	}
}

static void report_more_containers(const struct trainjob *trainjob, const char *path,
    const char *job)
{
	const mpijob_node *containers = mpijob__convert_find(trainjob->from, path);

	for (size_t i = 1; i < mpijob_node_count(containers); i++) {
		struct mpijob_text field = { 0 };

		if (mpijob__base_text_printf(&field, "%s[%zu]", path, i))
			trainjob->from->code = MPIJOB_ERR_NOMEM;
		else
			mpijob__convert_loss(trainjob->from, mpijob_text_data(&field),
			    mpijob_node_at(containers, i),
			    "belongs in the runtime: a further container of its job %s", job);
		mpijob__base_text_release(&field);
	}
}

/* Copy keys of a map into another map. */
static void copy_keys(const struct trainjob *trainjob, const mpijob_node *from,
    const char *const *keys, mpijob_node *to)
{
	for (; *keys; keys++) {
		const mpijob_node *value = mpijob_node_get(from, *keys);

		if (value && mpijob_node_kind(value) != MPIJOB_NODE_NULL)
			mpijob_node_put_copy(trainjob->to, to, *keys, value);
	}
}

/* The patch of one job of the runtime; NULL when there is nothing to patch. */
static mpijob_node *patch_of(const struct trainjob *trainjob, const mpijob_node *pod_template,
    const char *job)
{
	static const char *const metadata_keys[] = { "labels", "annotations", NULL };
	const mpijob_node *pod = mpijob_node_get(pod_template, "spec");
	mpijob_node *metadata = mpijob_node_new(trainjob->to, MPIJOB_NODE_MAP),
		    *spec = mpijob_node_new(trainjob->to, MPIJOB_NODE_MAP);
	mpijob_node *container = mpijob_node_new(trainjob->to, MPIJOB_NODE_MAP),
		    *patch = mpijob_node_new(trainjob->to, MPIJOB_NODE_MAP), *at;

	copy_keys(trainjob, mpijob_node_get(pod_template, "metadata"), metadata_keys, metadata);
	copy_keys(trainjob, pod, pod_fields, spec);
	mpijob_node_put_string(trainjob->to, container, "name", "node");
	copy_keys(trainjob, mpijob_node_at(mpijob_node_get(pod, "containers"), 0), container_fields,
	    container);
	if (mpijob_node_count(container) > 1)
		mpijob_node_append(trainjob->to,
		    mpijob_node_put_list(trainjob->to, spec, "containers"), container);
	if (mpijob_node_count(metadata) + mpijob_node_count(spec) == 0)
		return NULL;
	mpijob_node_put_string(trainjob->to, patch, "name", job);
	at = mpijob_node_put_map(trainjob->to, patch, "template");
	at = mpijob_node_put_map(trainjob->to, at, "spec");
	at = mpijob_node_put_map(trainjob->to, at, "template");
	if (mpijob_node_count(metadata))
		mpijob_node_put(trainjob->to, at, "metadata", metadata);
	if (mpijob_node_count(spec))
		mpijob_node_put(trainjob->to, at, "spec", spec);
	return patch;
}

static void put_patches(const struct trainjob *trainjob)
{
	static const char *const roles[][2] = { { LAUNCHER_PATH ".template", "launcher" },
		{ WORKER_PATH ".template", "node" } };
	mpijob_node *jobs = mpijob_node_new(trainjob->to, MPIJOB_NODE_LIST);
	mpijob_node *patch, *at;

	for (size_t i = 0; i < 2; i++)
		mpijob_node_append(trainjob->to, jobs,
		    patch_of(trainjob, mpijob__convert_find(trainjob->from, roles[i][0]),
			roles[i][1]));
	if (mpijob_node_count(jobs) == 0)
		return;
	patch = mpijob_node_append_map(trainjob->to,
	    mpijob_node_put_list(trainjob->to, make_map(trainjob, "spec"), "runtimePatches"));
	mpijob_node_put_string(trainjob->to, patch, "manager", MANAGER);
	at = mpijob_node_put_map(trainjob->to, patch, "trainingRuntimeSpec");
	at = mpijob_node_put_map(trainjob->to, at, "template");
	at = mpijob_node_put_map(trainjob->to, at, "spec");
	mpijob_node_put(trainjob->to, at, "replicatedJobs", jobs);
}

mpijob_doc *mpijob__convert_trainjob_make(struct mpijob__convert_conversion *conversion)
{
	const struct trainjob trainjob = { conversion, mpijob_doc_new() };
	mpijob_node *root = mpijob_doc_edit(trainjob.to, "");

	mpijob_node_put_string(trainjob.to, root, "apiVersion", MPIJOB__BASE_API_TRAINJOB);
	mpijob_node_put_string(trainjob.to, root, "kind", "TrainJob");
	make_map(&trainjob, "metadata");
	make_map(&trainjob, "spec");
	put_runtime(&trainjob);
	copy_values(&trainjob);
	put_nodes(&trainjob);
	put_resources(&trainjob);
	put_policy(&trainjob);
	put_patches(&trainjob);
	report_losses(&trainjob);
	report_rest(&trainjob, LAUNCHER_PATH ".template.spec", pod_fields, pod_elsewhere,
	    "launcher");
	report_rest(&trainjob, LAUNCHER_FIRST, container_fields, container_elsewhere, "launcher");
	report_rest(&trainjob, WORKER_PATH ".template.spec", pod_fields, pod_elsewhere, "node");
	report_rest(&trainjob, WORKER_FIRST, container_fields, container_elsewhere, "node");
	report_more_containers(&trainjob, LAUNCHER_PATH CONTAINERS, "launcher");
	report_more_containers(&trainjob, WORKER_PATH CONTAINERS, "node");
	return trainjob.to;
}
