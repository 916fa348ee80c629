/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file render.h
 * Rendering: the Kubernetes objects that a job needs, made from the job and nothing else.
 *
 * The children of the job `J` are, in this order: Service `J`, NetworkPolicy `J` (when it is asked
 * for), ConfigMap `J-config`, Secret `J-ssh`, PodGroup `J` (with a gang scheduler), Pods
 * `J-worker-0` ... `J-worker-(n-1)`, Job `J-launcher`. They are those of kubeflow/mpi-operator
 * v0.8.2, plus what docs/differences.md lists; with `reference` set, exactly those.
 *
 * A mpijob_objects does not hold ten thousand pods: all workers share one rendered template, and
 * one of them is made when you ask for it (mpijob_objects_at()), or all are streamed
 * (mpijob_objects_write()).
 *
 * Rendering reads no clock and no random source: the same input gives the same bytes. The SSH key
 * is made from entropy that you give; without it the Secret holds a placeholder. Key material stays
 * in memory that is wiped, and appears in text only where you asked for it (`with_key`).
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

/** A PriorityClass of the cluster: orders the replicas when a gang's resources are added up. */
struct mpijob_priority_class {
	size_t size;      /**< `sizeof` this struct. */
	const char *name; /**< metadata.name; not NULL. */
	int32_t value;    /**< The class's value. */
};
#define MPIJOB_PRIORITY_CLASS_INIT { sizeof(struct mpijob_priority_class), NULL, 0 }

/** What the children depend on besides the job. */
struct mpijob_render_options {
	size_t size; /**< `sizeof` this struct. */
	/** 1: exactly what mpi-operator v0.8.2 creates, with its defects. */
	int32_t reference;
	/** DNS domain of the cluster, "cluster.local"; NULL or "": host names end in ".svc".
	 * Letters, digits, dots and dashes only: it gets into a shell script. */
	const char *cluster_domain;
	/** "volcano", or the scheduler name of scheduler-plugins; NULL or "": none. */
	const char *gang_scheduler;
	/** Pointers to the classes that exist. */
	const struct mpijob_priority_class *const *priority_classes;
	size_t priority_classes_count; /**< How many. */
	/** Random bytes for the SSH key; NULL: the Secret holds a placeholder. */
	const uint8_t *entropy;
	size_t entropy_len; /**< At least `MPIJOB_SSH_ENTROPY` when `entropy` is given. */
	/** One byte a worker, 1 where it runs: the hosts that discover_hosts.sh prints; NULL: all
	 * of them. */
	const uint8_t *running;
	size_t running_count; /**< Bytes in `running`; workers beyond do not run. */
	/** What else is done, docs/options.md; NULL: nothing; nothing of it with `reference`. */
	const struct mpijob_features *features;
};
#define MPIJOB_RENDER_OPTIONS_INIT { sizeof(struct mpijob_render_options), 0, NULL, NULL, NULL, \
	0, NULL, 0, NULL, 0, NULL }

/** @} */
/** @name All children
 * @{ */

/** The children of one job. */
typedef struct mpijob_objects mpijob_objects;

#define MPIJOB_ROLE_SERVICE        1 /**< Service, headless, for the pods' names. */
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
 * @param job      not NULL; copied as far as needed: it may change or go afterwards.
 * @param options  NULL for the defaults; copied.
 * @param out      not NULL; the objects, yours.
 * @param diag     findings, or NULL: warnings too, for example where a gang scheduler takes the
 *                 place of another scheduler; what can be told without these options is said by
 *                 mpijob_validate().
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

/** What a child is, without making it. Strings are borrowed from the objects until the next call on
 * them. */
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
 * Tell what one child is.
 *
 * @param objects  not NULL.
 * @param index    from 0.
 * @param out      not NULL; `size` set; filled.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such child); `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_objects_head(mpijob_objects *objects, size_t index,
    struct mpijob_object_head *out);

/**
 * Find a child by what it is.
 *
 * @param objects  not NULL.
 * @param role     `MPIJOB_ROLE_*`.
 * @param worker   index of the worker for `MPIJOB_ROLE_WORKER`, else ignored.
 * @param out      not NULL; its position.
 * @return 1 when there is one, else 0.
 * @since 0.1
 */
MPIJOB_API int mpijob_objects_find(const mpijob_objects *objects, int32_t role, int32_t worker,
    size_t *out);

/**
 * Make one child as a document. The Secret comes without its private key (a placeholder stands
 * there).
 *
 * @param objects  not NULL.
 * @param index    from 0.
 * @param out      not NULL; the document, yours.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such child); `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_objects_at(const mpijob_objects *objects, size_t index, mpijob_doc **out);

/**
 * Write one child as text.
 *
 * @param objects   not NULL.
 * @param index     from 0.
 * @param format    `MPIJOB_FORMAT_YAML`, `_JSON` or `_JSON_COMPACT`.
 * @param with_key  1: the Secret with its private key (the sink should wipe what it keeps); 0: a
 *                  placeholder.
 * @param write     the sink; not NULL.
 * @param user      passed to the sink.
 * @return 0; `MPIJOB_ERR_NOT_FOUND`; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`; what the sink
 *         returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_objects_write_at(const mpijob_objects *objects, size_t index, int32_t format,
    int32_t with_key, mpijob_write_fn write, void *user);

/**
 * Stream all children: as JSON one `v1` `List`, as YAML one document each.
 *
 * Memory does not grow with the number of workers.
 *
 * @param objects   not NULL.
 * @param format    `MPIJOB_FORMAT_YAML`, `_JSON` or `_JSON_COMPACT`.
 * @param with_key  as in mpijob_objects_write_at().
 * @param write     the sink; not NULL.
 * @param user      passed to the sink.
 * @return 0; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE`; what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_objects_write(const mpijob_objects *objects, int32_t format, int32_t with_key,
    mpijob_write_fn write, void *user);

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
	/** Fully qualified: "J-worker-0.J.NAMESPACE.svc"; of a launcher of Intel MPI it may be
	 * "J-launcher" alone (docs/differences.md, intel-launcher-name); "J-worker-0.J" with the
	 * feature `compact_hosts`. */
	const char *name;
	int32_t slots;  /**< Ranks that it offers. */
	int32_t worker; /**< Index of the worker; -1 for the launcher. */
};
#define MPIJOB_HOST_INIT { sizeof(struct mpijob_host), NULL, 0, 0 }

/** The hosts of a job. */
typedef struct mpijob_hostfile mpijob_hostfile;

/**
 * List the hosts of a job: the launcher first when it is a worker too, then the workers.
 *
 * @param job      not NULL; defaulted and valid.
 * @param options  NULL for the defaults; `cluster_domain`, `reference` and the feature
 *                 `compact_hosts` count.
 * @param out      not NULL; the hostfile, yours.
 * @param diag     findings, or NULL.
 * @return as mpijob_render().
 * @since 0.1
 */
MPIJOB_API int mpijob_hostfile_new(const mpijob *job, const struct mpijob_render_options *options,
    mpijob_hostfile **out, mpijob_diag *diag);

/** Free a hostfile; NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_hostfile_free(mpijob_hostfile *hostfile);

/** Count the hosts. `hostfile` not NULL. @since 0.1 */
MPIJOB_API size_t mpijob_hostfile_count(const mpijob_hostfile *hostfile);

/**
 * Read one host.
 *
 * @param hostfile  not NULL.
 * @param index     from 0.
 * @return borrowed until the hostfile is freed; NULL when there is no such host.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_host *mpijob_hostfile_at(const mpijob_hostfile *hostfile,
    size_t index);

/**
 * Write the text of the hostfile as the job's MPI reads it: "host slots=n" for Open MPI, "host:n"
 * for Intel and MPICH.
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
/** @name The SSH key pair
 * @{ */

/** Bytes of entropy that one key pair takes: 66 for P-521, 8 against bias (FIPS 186-5 A.2.1). */
#define MPIJOB_SSH_ENTROPY 74

/** An ECDSA P-521 key pair, as the reference uses; in wiped memory. */
typedef struct mpijob_ssh_key mpijob_ssh_key;

/**
 * Make a key pair from entropy; the same bytes give the same key.
 *
 * @param entropy  random bytes; not NULL; wipe yours afterwards.
 * @param len      at least `MPIJOB_SSH_ENTROPY`; more are ignored.
 * @param out      not NULL; the pair, yours.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_USAGE` (too few bytes); `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_UNSUPPORTED`
 *         (libcrypto has no P-521).
 * @since 0.1
 */
MPIJOB_API int mpijob_ssh_key_new(const uint8_t *entropy, size_t len, mpijob_ssh_key **out,
    mpijob_diag *diag);

/** Wipe and free a key pair; NULL does nothing. @since 0.1 */
MPIJOB_API void mpijob_ssh_key_free(mpijob_ssh_key *key);

/** Get the private key in PEM ("EC PRIVATE KEY", SEC1). `key` not NULL. Borrowed. Handle with care.
 * @since 0.1 */
MPIJOB_API const char *mpijob_ssh_key_private(const mpijob_ssh_key *key);

/** Get the public key as a line of authorized_keys, line end included. `key` not NULL. Borrowed.
 * @since 0.1 */
MPIJOB_API const char *mpijob_ssh_key_public(const mpijob_ssh_key *key);

/** @} */
/** @name The PodGroup
 * @{ */

/** What the gang scheduler is told. */
struct mpijob_pod_group {
	size_t size; /**< `sizeof` this struct. */
	/** 1: Volcano's PodGroup; 0: that of scheduler-plugins. */
	int32_t volcano;
	int32_t min_member;                      /**< Pods that must be placed together. */
	const char *queue;                       /**< Volcano; NULL when none. */
	const char *priority_class_name;         /**< Volcano; NULL when none. */
	const int32_t *schedule_timeout_seconds; /**< scheduler-plugins; NULL for Volcano. */
	const mpijob_node *min_resources; /**< Map from resource to quantity; NULL when none. */
};
#define MPIJOB_POD_GROUP_INIT { sizeof(struct mpijob_pod_group), 0, 0, NULL, NULL, NULL, NULL }

/**
 * View the PodGroup among the children.
 *
 * @param objects  not NULL.
 * @return borrowed until the objects are freed; NULL when there is no gang scheduler.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_pod_group *mpijob_objects_pod_group(const mpijob_objects *objects);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_RENDER_H */
