/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file render.h
 * Rendering: the Kubernetes objects that the operator creates for a job.
 *
 * The children of the job `J` are, in this order: Service `J`, NetworkPolicy `J` (with the feature
 * `network_policy`), ConfigMap `J-config`, Secret `J-ssh`, PodGroup `J` (with a gang scheduler),
 * Pods `J-worker-0` ... `J-worker-(n-1)`, Job `J-launcher`. With `reference` they are exactly those
 * of kubeflow/mpi-operator v0.8.2, otherwise with the differences that docs/differences.md lists.
 *
 * A mpijob_objects does not store ten thousand pods: all workers share one rendered template.
 * mpijob_objects_at() makes one of them, mpijob_objects_write() streams one or all.
 *
 * Rendering reads no clock and no random source: the same input gives the same bytes. The SSH key
 * is made from the entropy in the options; without entropy the Secret contains a placeholder. Keys
 * are kept in memory that is wiped, and are written only if you ask for it (`with_key`).
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_RENDER_H
#define MPIJOB_RENDER_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/features.h>
#include <mpijob/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/** @name Options
 * @{ */

/** Bytes of entropy for one SSH key pair (ECDSA P-521, as mpi-operator uses): 66 for the private
 * key, and 8 to avoid bias (FIPS 186-5 A.2.1). */
#define MPIJOB_SSH_ENTROPY 74

/** A PriorityClass of the cluster. The minimum resources of a gang depend on the priorities of the
 * replicas. */
struct mpijob_priority_class {
	size_t size;      /**< `sizeof` this struct. */
	const char *name; /**< metadata.name; not NULL. */
	int32_t value;    /**< `value` of the class. */
	int32_t reserved; /**< 0; fills the struct. */
};
#define MPIJOB_PRIORITY_CLASS_INIT { sizeof(struct mpijob_priority_class), NULL, 0, 0 }

/** Inputs of rendering besides the job. */
struct mpijob_render_options {
	size_t size; /**< `sizeof` this struct. */
	/** 1: exactly the objects of mpi-operator v0.8.2, with its defects. */
	int32_t reference;
	/** DNS domain of the cluster, "cluster.local"; NULL or "": host names end in ".svc".
	 * Letters, digits, dots and dashes only, because it is part of a shell script. */
	const char *cluster_domain;
	/** "volcano", or the scheduler name of scheduler-plugins; NULL or "": no gang scheduling.
	 */
	const char *gang_scheduler;
	/** Pointers to the PriorityClasses of the cluster. */
	const struct mpijob_priority_class *const *priority_classes;
	size_t priority_classes_count; /**< How many. */
	/** Random bytes for the SSH key; NULL: the Secret contains a placeholder. The same bytes
	 * give the same key. Copied: wipe yours afterwards. */
	const uint8_t *entropy;
	size_t entropy_len; /**< At least `MPIJOB_SSH_ENTROPY` when `entropy` is given. */
	/** One byte for each worker: 1 if it runs. discover_hosts.sh prints the running ones; NULL:
	 * all run. */
	const uint8_t *running;
	size_t running_count; /**< Bytes in `running`; later workers do not run. */
	/** Optional features (docs/options.md); NULL: none. Ignored with `reference`. */
	const struct mpijob_features *features;
};
#define MPIJOB_RENDER_OPTIONS_INIT { sizeof(struct mpijob_render_options), 0, NULL, NULL, NULL, \
	0, NULL, 0, NULL, 0, NULL }

/** @} */
/** @name All children
 * @{ */

/** The children of one job. */
typedef struct mpijob_objects mpijob_objects;

#define MPIJOB_ROLE_SERVICE        1 /**< Headless Service, for the DNS names of the pods. */
#define MPIJOB_ROLE_CONFIG_MAP     2 /**< ConfigMap with `hostfile` and `discover_hosts.sh`. */
#define MPIJOB_ROLE_SECRET         3 /**< Secret with the SSH key pair. */
#define MPIJOB_ROLE_POD_GROUP      4 /**< PodGroup of the gang scheduler. */
#define MPIJOB_ROLE_WORKER         5 /**< Worker Pod. */
#define MPIJOB_ROLE_LAUNCHER       6 /**< batch/v1 Job of the launcher. */
#define MPIJOB_ROLE_NETWORK_POLICY 7 /**< NetworkPolicy, with the feature `network_policy`. */

/**
 * Render the children of a job.
 *
 * The job must be defaulted and valid (see mpijob_default(), mpijob_validate()).
 *
 * @param job      not NULL; copied as far as needed: you may change or free it afterwards.
 * @param options  NULL for the defaults; copied.
 * @param out      not NULL; receives the objects, yours.
 * @param diag     findings, or NULL. Warnings concern the options, for example if a gang scheduler
 *                 replaces the `schedulerName` of a template; mpijob_validate() reports what does
 *                 not depend on options.
 * @return 0; `MPIJOB_ERR_SPEC` (the job is not valid, or the ConfigMap would exceed 1 MiB);
 *         `MPIJOB_ERR_USAGE` (options, too little entropy); `MPIJOB_ERR_UNSUPPORTED` (options;
 *         libcrypto has no P-521); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_render(const mpijob *job, const struct mpijob_render_options *options,
    mpijob_objects **out, mpijob_diag *diag);

/**
 * Free the objects; the key is wiped.
 *
 * @param objects  yours, or NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_objects_free(mpijob_objects *objects);

/**
 * Count the children.
 *
 * @param objects  not NULL.
 * @return how many mpijob_objects_at() can give.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_objects_count(const mpijob_objects *objects);

/** Kind and name of a child. The strings are borrowed from the mpijob_objects until the next call
 * with it. */
struct mpijob_object_head {
	size_t size;             /**< `sizeof` this struct. */
	int32_t role;            /**< `MPIJOB_ROLE_*`. */
	int32_t index;           /**< Index of a worker; -1 for all else. */
	const char *api_version; /**< "v1", "batch/v1", ... */
	const char *kind;        /**< "Pod", ... */
	const char *name;        /**< metadata.name. */
};
#define MPIJOB_OBJECT_HEAD_INIT { sizeof(struct mpijob_object_head), 0, 0, NULL, NULL, NULL }

/**
 * Get kind and name of a child without making it.
 *
 * @param objects  not NULL.
 * @param index    from 0.
 * @param out      not NULL; `size` set; receives the result.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such child); `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_objects_head(mpijob_objects *objects, size_t index,
    struct mpijob_object_head *out);

/**
 * Find a child by its role.
 *
 * @param objects  not NULL.
 * @param role     `MPIJOB_ROLE_*`.
 * @param worker   index of the worker for `MPIJOB_ROLE_WORKER`, else ignored.
 * @param out      not NULL; receives its position.
 * @return 1 if it exists, else 0.
 * @since 0.1
 */
MPIJOB_API int mpijob_objects_find(const mpijob_objects *objects, int32_t role, int32_t worker,
    size_t *out);

/**
 * Make one child as a document. In the Secret, a placeholder replaces the private key.
 *
 * @param objects  not NULL.
 * @param index    from 0.
 * @param out      not NULL; receives the document, yours.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such child); `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_objects_at(const mpijob_objects *objects, size_t index, mpijob_doc **out);

/** Index for mpijob_objects_write(): all children. */
#define MPIJOB_OBJECTS_ALL 0x7fffffff

/**
 * Write one child or all children as text.
 *
 * All children are one `v1` `List` in JSON, and one document for each in YAML. The memory that this
 * needs does not grow with the number of workers.
 *
 * @param objects   not NULL.
 * @param index     from 0, or `MPIJOB_OBJECTS_ALL`.
 * @param format    `MPIJOB_FORMAT_YAML`, `_JSON` or `_JSON_COMPACT`.
 * @param with_key  1: the Secret contains its private key (wipe it after use); 0: a placeholder.
 * @param write     the sink; not NULL.
 * @param user      passed to the sink.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such child); `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`; what
 *         the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_objects_write(const mpijob_objects *objects, size_t index, int32_t format,
    int32_t with_key, mpijob_write_fn write, void *user);

/**
 * Write the name of a child.
 *
 * @param job    name of the job; not NULL.
 * @param role   `MPIJOB_ROLE_*`.
 * @param index  of a worker, from 0; else ignored.
 * @param write  the sink; not NULL.
 * @param user   passed to the sink.
 * @return 0; `MPIJOB_ERR_USAGE` (NULL, no such role, a negative index); `MPIJOB_ERR_NOMEM`; what
 *         the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_child_name_write(const char *job, int32_t role, int32_t index,
    mpijob_write_fn write, void *user);

/** @} */
/** @name The hostfile
 * @{ */

/** One line of the hostfile. */
struct mpijob_host {
	size_t size; /**< `sizeof` this struct. */
	/** Fully qualified: "J-worker-0.J.NAMESPACE.svc". With the feature `compact_hosts`
	 * "J-worker-0.J". The launcher of Intel MPI may be "J-launcher" (docs/differences.md,
	 * intel-launcher-name). */
	const char *name;
	int32_t slots;  /**< Ranks that the host can run. */
	int32_t worker; /**< Index of the worker; -1 for the launcher. */
};
#define MPIJOB_HOST_INIT { sizeof(struct mpijob_host), NULL, 0, 0 }

/** The list of a job's hosts. */
typedef struct mpijob_hostfile mpijob_hostfile;

/**
 * List the hosts of a job: first the launcher if it runs ranks too, then the workers.
 *
 * @param job      not NULL; defaulted and valid.
 * @param options  NULL for the defaults; only `cluster_domain`, `reference` and the feature
 *                 `compact_hosts` have an effect.
 * @param out      not NULL; receives the hostfile, yours.
 * @param diag     findings, or NULL.
 * @return as mpijob_render().
 * @since 0.1
 */
MPIJOB_API int mpijob_hostfile_new(const mpijob *job, const struct mpijob_render_options *options,
    mpijob_hostfile **out, mpijob_diag *diag);

/** Free a hostfile; NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_hostfile_free(mpijob_hostfile *hostfile);

/**
 * Read one host.
 *
 * @param hostfile  not NULL.
 * @param index     from 0.
 * @return borrowed until the hostfile is freed; NULL after the last host.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_host *mpijob_hostfile_at(const mpijob_hostfile *hostfile,
    size_t index);

/**
 * Write the text of the hostfile for the job's MPI: "host slots=n" for Open MPI, "host:n" for Intel
 * and MPICH.
 *
 * @param hostfile  not NULL.
 * @param write     the sink; not NULL.
 * @param user      passed to the sink.
 * @return 0; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`; what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_hostfile_write(const mpijob_hostfile *hostfile, mpijob_write_fn write,
    void *user);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_RENDER_H */
