/* SPDX-License-Identifier: Apache-2.0 */
/* Inside lib/render: builds the document of a child. */
#ifndef MPIJOB_RENDER_BUILD_H
#define MPIJOB_RENDER_BUILD_H

#include "base/text.h"
#include "job/injected.h"
#include "render/render.h"

/*
 * A child being built. The functions do not return failures: `code` and the document keep the first
 * one, and mpijob__render_build_finish() returns it.
 */
struct mpijob__render_build {
	const struct mpijob__render_subject *subject;
	mpijob_doc *doc;   /* owned */
	mpijob_diag *diag; /* findings, or NULL */
	int code;          /* the first failure */
	/* "Launcher" or "Worker" while its template is processed, for findings */
	const char *role;
	struct mpijob_text scratch;
};

void mpijob__render_build_start(struct mpijob__render_build *build,
    const struct mpijob__render_subject *subject, mpijob_diag *diag);
/* Return 0 and the document in `out`, or free it and return the first failure. */
int mpijob__render_build_finish(struct mpijob__render_build *build, mpijob_doc **out);
/* Discard the document and return the first failure, or 0. */
int mpijob__render_build_discard(struct mpijob__render_build *build);

/*
 * Put apiVersion, kind and metadata with name, namespace and controller reference into the root;
 * returns the root. (The controller reference of a worker is added later, after its labels.)
 * `index` is used for a worker. `labels`: put the label `app`, which all children except pods and
 * the PodGroup have.
 */
mpijob_node *mpijob__render_build_head(struct mpijob__render_build *build, int32_t role,
    int32_t index, int labels);
/* With `reference`: replace the quantities in a pod's spec by their canonical form. */
void mpijob__render_build_quantities(struct mpijob__render_build *build, mpijob_node *spec);
/* Put the reference to the job, as its controller, into a metadata map. */
void mpijob__render_build_owner(struct mpijob__render_build *build, mpijob_node *metadata);
/* Put the name of a child. */
void mpijob__render_build_name(struct mpijob__render_build *build, mpijob_node *map,
    const char *key, int32_t role, int32_t index);
/* Put formatted text. */
void mpijob__render_build_printf(struct mpijob__render_build *build, mpijob_node *map,
    const char *key, const char *format, ...) MPIJOB__BASE_PRINTF(4, 5);

/*
 * Get the map or list at a path of the user's template (the last step is a key of `map`). It is
 * created if it is absent or null; a value of another kind is a failure.
 */
mpijob_node *mpijob__render_build_map(struct mpijob__render_build *build, mpijob_node *map,
    const char *path);
mpijob_node *mpijob__render_build_list(struct mpijob__render_build *build, mpijob_node *map,
    const char *path);

/* Report a finding about the role's template; in reference mode only errors. `field` is the path
 * below `spec.mpiReplicaSpecs[role].template.`. */
void mpijob__render_build_report(struct mpijob__render_build *build, int32_t severity,
    const char *id, const char *reason, const char *field, const mpijob_node *at,
    const char *format, ...) MPIJOB__BASE_PRINTF(7, 8);

/* Build the children into `b->doc`; failures are in `b`. */
void mpijob__render_service_build(struct mpijob__render_build *b);
void mpijob__render_network_policy_build(struct mpijob__render_build *b);
void mpijob__render_config_map_build(struct mpijob__render_build *b);
/* The keys are in base64; NULL: a placeholder. */
void mpijob__render_secret_build(struct mpijob__render_build *b, const char *private_base64,
    const char *public_base64);
void mpijob__render_worker_pod_build(struct mpijob__render_build *b, int32_t index);
void mpijob__render_launcher_job_build(struct mpijob__render_build *b);
void mpijob__render_pod_group_build(struct mpijob__render_build *b);

/* Change the worker's name and index label in a document of mpijob__render_worker_pod_build(). */
int mpijob__render_worker_pod_renumber(const struct mpijob__render_subject *subject,
    mpijob_doc *doc, int32_t index);
/* Put the launcher's pod template below `parent`. Only it can differ between the launcher Jobs of
 * one MPIJob. */
mpijob_node *mpijob__render_launcher_job_template(struct mpijob__render_build *b,
    mpijob_node *parent);

/* pod.c: parts of the pods of both roles. `metadata` and `spec` are filled from `template`, which
 * is the user's. */
void mpijob__render_pod_metadata(struct mpijob__render_build *b, const mpijob_node *template,
    mpijob_node *metadata, const char *replica_index);
mpijob_node *mpijob__render_pod_spec(struct mpijob__render_build *b, const mpijob_node *template,
    mpijob_node *parent, int32_t role, int32_t index);
void mpijob__render_pod_restart_policy(struct mpijob__render_build *b, mpijob_node *spec,
    const struct mpijob_replica_spec *replica);
void mpijob__render_pod_mount_keys(struct mpijob__render_build *b, mpijob_node *spec);
#define MPIJOB__RENDER_CONFIG_VOLUME "mpi-job-config"
void mpijob__render_pod_mount_config(struct mpijob__render_build *b, mpijob_node *spec);
mpijob_node *mpijob__render_pod_container(struct mpijob__render_build *b, mpijob_node *spec);

/* environment.c: append the variables of a role to its first container. */
void mpijob__render_environment_inject(struct mpijob__render_build *b, mpijob_node *container,
    int32_t role);

/* ssh_port.c: the port that sshd and ssh are configured to use; 0: none, or sshd may not listen on
 * it. */
int32_t mpijob__render_ssh_port(const struct mpijob__render_subject *subject);
/* Add the port to a worker's command, or report why not. The container already has the default
 * command. */
void mpijob__render_ssh_port_add(struct mpijob__render_build *b, mpijob_node *container);

/* wait_for_hosts.c: add the launcher's init container if the feature is on. The volume of the
 * ConfigMap must exist. */
void mpijob__render_wait_for_hosts_add(struct mpijob__render_build *b, mpijob_node *spec);

/* config_map.c: the size limit of API servers, and the finding that it is exceeded. */
#define MPIJOB__RENDER_CONFIG_MAP_LIMIT ((size_t)1024 * 1024)
void mpijob__render_config_map_too_large(const struct mpijob__render_subject *subject,
    mpijob_diag *diag);

/* hostfile.c: write the texts to a sink. `MPIJOB_ERR_SPEC` when even the names would not fit into a
 * ConfigMap. */
int mpijob__render_hostfile_write(const struct mpijob__render_subject *subject,
    mpijob_write_fn write, void *user);
int mpijob__render_discover_hosts_write(const struct mpijob__render_subject *subject,
    mpijob_write_fn write, void *user);
/* discover_hosts.sh in the long form, whether compact_hosts is set or not. */
int mpijob__render_discover_hosts_lines(const struct mpijob__render_subject *subject,
    mpijob_write_fn write, void *user);
/* Whether discover_hosts.sh names this worker. */
int mpijob__render_hostfile_runs(const struct mpijob__render_subject *subject, int32_t index);
/* host_ranges.c: discover_hosts.sh in the short form. */
int mpijob__render_host_ranges_write(const struct mpijob__render_subject *subject,
    mpijob_write_fn write, void *user);
/* Append ".JOB.NAMESPACE.svc[.DOMAIN]", or ".JOB" with compact_hosts. */
int mpijob__render_hostfile_suffix(const struct mpijob__render_subject *subject,
    struct mpijob_text *text);

/* subject.c: write decimal digits without a NUL; returns their number. */
#define MPIJOB__RENDER_NUMBER_SIZE 20
size_t mpijob__render_number(size_t number, char out[MPIJOB__RENDER_NUMBER_SIZE]);

#endif /* MPIJOB_RENDER_BUILD_H */
