/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file local.h
 * A cluster inside your process: it stores objects like a Kubernetes API server and runs pods as
 * real processes on this machine, with their own host names, addresses and file systems.
 * (libmpijob-local)
 *
 * It is a transport: make it, give it to mpijob_client_new(), and everything that works on a
 * cluster works on it. The image of every container is this machine's own file system
 * (docs/image-contract.md), whatever the template's `image` says.
 *
 * It runs a child process, the node, in which all pods live. When this process ends, for whatever
 * reason, the kernel removes everything: no process, mount, interface, namespace or file stays.
 *
 * What it does not do it refuses with status 501, never with something almost right: server-side
 * apply, dry runs, pagination, field selectors other than metadata.name, webhooks, RBAC.
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

/** How the embedded cluster works. */
struct mpijob_local_options {
	size_t size; /**< `sizeof` this struct. */
	/** The program `mpijob-node`; NULL: `../libexec/mpijob-node` seen from this library, else
	 * the place it was installed to. */
	const char *node_program;
	const char *cluster_domain; /**< DNS domain of the cluster; NULL: "cluster.local". */
	int32_t no_node;            /**< 1: start no node; pods are stored and stay Pending. */
	/** 1: hostPath volumes reach this machine's files; 0: such a pod fails. */
	int32_t allow_host_path;
	/** First back-off of the Job controller and of restarts; doubles each time; 0: 10,000 as
	 * Kubernetes. */
	int32_t backoff_base_ms;
	/** Called for what people should know: a template field that is not honoured, a failed pod.
	 * May be NULL. */
	void (*notice)(void *user, const struct mpijob_finding *finding);
	void *notice_user; /**< Passed to `notice`. */
	/** For tests of late names: no name of a namespace's pods, their own included, has an
	 * address before so long after its first pod appeared; 0: at once. */
	int32_t names_delay_ms;
};
#define MPIJOB_LOCAL_OPTIONS_INIT { sizeof(struct mpijob_local_options), NULL, NULL, 0, 0, 0, \
	NULL, NULL, 0 }

/**
 * Make an embedded cluster and start its node.
 *
 * @param options    NULL for the defaults; copied.
 * @param transport  not NULL; `size` set; filled.
 * @param out        not NULL; set to the `self` for mpijob_client_new(), which takes it. Without a
 *                   client, free it with the transport's `destroy`.
 * @param diag       findings, or NULL: which pre-condition of this machine is missing, and how to
 *                   get it.
 * @return 0; `MPIJOB_ERR_IO` (the node cannot be started); `MPIJOB_ERR_UNSUPPORTED` (this machine
 *         does not let processes have namespaces; options); `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_local_new(const struct mpijob_local_options *options,
    struct mpijob_transport *transport, mpijob_local **out, mpijob_diag *diag);

/** A program to run inside a pod of an embedded cluster of another process. */
struct mpijob_local_exec_options {
	size_t size;             /**< `sizeof` this struct. */
	const char *namespace_;  /**< Of the pod; NULL: "default". */
	const char *pod;         /**< Name of the pod; not NULL. */
	const char *container;   /**< NULL: the first one. */
	const char *const *argv; /**< The program and its arguments, closed by NULL; not NULL. */
	/** Its standard input, output and error; borrowed; -1: /dev/null. */
	int fds[3];
};
#define MPIJOB_LOCAL_EXEC_OPTIONS_INIT { sizeof(struct mpijob_local_exec_options), NULL, NULL, \
	NULL, NULL, { 0, 1, 2 } }

/**
 * Run a program inside a pod of an embedded cluster that this user runs in any process on this
 * machine, and wait for its end.
 *
 * @param exec       not NULL.
 * @param exit_code  not NULL; the program's exit code, 128 + n after signal n, 126 or 127 when it
 *                   cannot be run.
 * @param diag       findings, or NULL.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such pod runs, or several do: the finding lists them);
 *         `MPIJOB_ERR_IO`; `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_UNSUPPORTED` (size); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_local_exec(const struct mpijob_local_exec_options *exec, int *exit_code,
    mpijob_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_LOCAL_H */
