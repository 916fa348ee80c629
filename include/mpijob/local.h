/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file local.h
 * A cluster embedded in your process: it stores objects like a Kubernetes API server, and runs pods
 * as processes on this machine, with their own host names, addresses and file systems.
 * (libmpijob-local)
 *
 * It is a transport: create it, pass it to mpijob_client_new(), and use the client as with any
 * cluster. The image of every container is the file system of this machine
 * (docs/image-contract.md); the template's `image` is ignored.
 *
 * The pods run in a child process, the node. When this process ends, even by a signal, the kernel
 * removes everything: no process, mount, interface, namespace or file is left.
 *
 * Requests for features that it does not support fail with status 501: server-side apply, dry runs,
 * pagination, field selectors other than metadata.name. It has no webhooks and no RBAC.
 *
 * @par Stability
 * May change in a minor version.
 */
#ifndef MPIJOB_LOCAL_H
#define MPIJOB_LOCAL_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/transport.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An embedded cluster. */
typedef struct mpijob_local mpijob_local;

/** Options of the embedded cluster. */
struct mpijob_local_options {
	size_t size; /**< `sizeof` this struct. */
	/** Path of the program `mpijob-node`; NULL: `../libexec/mpijob-node` relative to this
	 * library, else the path of the installation. */
	const char *node_program;
	const char *cluster_domain; /**< DNS domain of the cluster; NULL: "cluster.local". */
	int32_t no_node;            /**< 1: start no node; pods stay Pending. */
	/** 1: hostPath volumes may mount this machine's files; 0: a pod with such a volume fails.
	 */
	int32_t allow_host_path;
	/** First back-off of the Job controller and of container restarts, in ms; it doubles each
	 * time; 0: 10,000, as in Kubernetes. */
	int32_t backoff_base_ms;
	/** Called with findings for the user, such as a template field that is not honoured or a
	 * failed pod. May be NULL. */
	void (*notice)(void *user, const struct mpijob_finding *finding);
	void *notice_user; /**< Passed to `notice`. */
	/** For tests of slow DNS, in ms: the pods of a namespace, also each pod itself, cannot
	 * resolve any pod name until this time after the first pod of the namespace; 0: no delay.
	 */
	int32_t names_delay_ms;
	int32_t reserved; /**< 0; fills the struct. */
};
#define MPIJOB_LOCAL_OPTIONS_INIT { sizeof(struct mpijob_local_options), NULL, NULL, 0, 0, 0, \
	NULL, NULL, 0, 0 }

/**
 * Create an embedded cluster and start its node.
 *
 * @param options    NULL for the defaults; copied.
 * @param transport  not NULL; `size` must be set; the functions are filled in.
 * @param out        not NULL; receives the `self` for mpijob_client_new(), which takes ownership.
 *                   Without a client, free it with the transport's `destroy`.
 * @param diag       receives findings: which requirement this machine does not meet, and how to
 * meet it; may be NULL.
 * @return 0; `MPIJOB_ERR_IO` (the node cannot be started); `MPIJOB_ERR_UNSUPPORTED` (this machine
 * does not allow namespaces; options); `MPIJOB_ERR_USAGE` (NULL, invalid options);
 *         `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_local_new(const struct mpijob_local_options *options,
    struct mpijob_transport *transport, mpijob_local **out, mpijob_diag *diag);

/** A program to run in a pod of an embedded cluster. */
struct mpijob_local_exec_options {
	size_t size;             /**< `sizeof` this struct. */
	const char *namespace_;  /**< Namespace of the pod; NULL: "default". */
	const char *pod;         /**< Name of the pod; not NULL. */
	const char *container;   /**< NULL: the first container. */
	const char *const *argv; /**< The program and its arguments; ends with NULL; not NULL. */
	/** Standard input, output and error of the program; borrowed; -1: /dev/null. */
	int fds[3];
	int32_t reserved; /**< 0; fills the struct. */
};
#define MPIJOB_LOCAL_EXEC_OPTIONS_INIT { sizeof(struct mpijob_local_exec_options), NULL, NULL, \
	NULL, NULL, { 0, 1, 2 }, 0 }

/**
 * Run a program in a pod of any embedded cluster of this user on this machine, also of another
 * process, and wait until it ends.
 *
 * @param exec       not NULL.
 * @param exit_code  not NULL; receives the exit code of the program, 128 + n after signal n, 126 or
 *                   127 if it cannot be run.
 * @param diag       receives findings; may be NULL.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such pod runs, or several match: the finding lists them);
 *         `MPIJOB_ERR_IO` (the cluster ended, or no descriptor is left); `MPIJOB_ERR_USAGE` (NULL,
 * no command, a command over 128 KiB); `MPIJOB_ERR_UNSUPPORTED` (size, another version of the
 *         cluster); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_local_exec(const struct mpijob_local_exec_options *exec, int *exit_code,
    mpijob_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_LOCAL_H */
