/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod as the kubelet runs it. The files pod_*.c share this struct; kubelet.c owns the list of
 * pods.
 */
#ifndef MPIJOB_LOCAL_POD_H
#define MPIJOB_LOCAL_POD_H

#include "local/kubelet.h"
#include "local/local.h"
#include "local/node_client.h"

#define MPIJOB__LOCAL_NODE_ADDRESS "198.18.0.1"
#define MPIJOB__LOCAL_NODE_NAME    "local"

enum mpijob__local_container_state {
	MPIJOB__LOCAL_CONTAINER_WAITING,  /* not started, or waits for a restart */
	MPIJOB__LOCAL_CONTAINER_STARTING, /* start requested from the node */
	MPIJOB__LOCAL_CONTAINER_RUNNING,
	MPIJOB__LOCAL_CONTAINER_TERMINATED,
};

/* The end of one run of a container; status.state.terminated. */
struct mpijob__local_terminated_state {
	int known;
	int64_t code;
	const char *reason; /* a constant */
	char *message;      /* may be NULL */
	uint64_t id;
	int64_t started_ms; /* since 1970 */
	int64_t finished_ms;
};

struct mpijob__local_readiness {
	int kind;          /* READY_* */
	uint16_t ports[2]; /* MPIJOB__LOCAL_READY_LISTEN: any of them; MPIJOB__LOCAL_READY_TCP: the
			      first */
	int64_t next_ms;   /* next probe; -1: a probe is running, or none is needed */
	int pending;       /* running probes */
	uint64_t request;  /* MPIJOB__LOCAL_READY_EXEC: the command that runs; 0: none */
	int64_t end_ms;    /* MPIJOB__LOCAL_READY_EXEC: when the command times out */
	int64_t successes;
	int64_t failures;
	int ready;
};

#define MPIJOB__LOCAL_READY_RUNNING 0 /* ready when it runs */
#define MPIJOB__LOCAL_READY_LISTEN  1 /* ready when its sshd listens */
#define MPIJOB__LOCAL_READY_TCP     2
#define MPIJOB__LOCAL_READY_EXEC    3

struct mpijob__local_container {
	struct mpijob__local_event_source source; /* first: its output pipe; fd -1 when closed */
	struct mpijob__local_pod *pod;
	const mpijob_node *spec;
	const char *name;
	int init;
	enum mpijob__local_container_state state;
	uint64_t id;         /* of this run; 0 before the first */
	const char *waiting; /* a constant: the reason of state.waiting */
	char *waiting_message;
	int64_t started_ms;
	int64_t due_ms; /* earliest start; 0: now */
	int64_t restarts;
	struct mpijob__local_terminated_state
	    last_terminated; /* the previous run; status.lastState */
	struct mpijob__local_terminated_state
	    terminated; /* this run; valid in MPIJOB__LOCAL_CONTAINER_TERMINATED */
	int signalled;
	struct mpijob__local_log *log;
	struct mpijob__local_log *previous_log;
	struct mpijob__local_readiness readiness;
};

struct mpijob__local_volume {
	const mpijob_node *spec;
	const char *name;
	uint64_t id; /* 0: a hostPath */
	int written; /* the node has it */
	int requested;
	int stale;        /* its source changed */
	uint64_t content; /* digest of the files that were sent last */
};

enum mpijob__local_pod_stage {
	MPIJOB__LOCAL_POD_SETUP,       /* sandbox, volumes and hosts file are being created */
	MPIJOB__LOCAL_POD_RUNNING,     /* init containers, then containers */
	MPIJOB__LOCAL_POD_TERMINATING, /* containers are being stopped */
	MPIJOB__LOCAL_POD_TERMINATED,  /* no container runs or will run */
};

struct mpijob__local_pod {
	struct mpijob__local_pod *next;
	struct mpijob__local_kubelet *kubelet;
	struct mpijob_local *local;
	char *uid;
	char *namespace_;
	char *name;
	mpijob_doc *doc; /* the object at admission; its spec cannot change */
	const mpijob_node *spec;
	uint64_t id; /* of the sandbox */
	char *hostname;
	const char *subdomain; /* may be NULL */
	char address[16];
	int host_network;
	int sandbox_ready;
	int sandbox_released;
	uint64_t hosts_version; /* minimum version of the hosts file */
	enum mpijob__local_pod_stage stage;
	struct mpijob__local_container *containers; /* init containers first */
	size_t init_count;
	size_t count;
	struct mpijob__local_volume *volumes;
	size_t volume_count;
	int64_t started_ms; /* since 1970 */
	int64_t kill_ms;    /* MPIJOB__LOCAL_POD_TERMINATING: when the grace period ends */
	int64_t due_ms;
	int dirty;
	int deleting;
	int object_deleted; /* the object is no longer in the store */
	const char *reason; /* a constant: status.reason of a failed pod */
	char *message;
};

/* pod.c: the life cycle. Results: 0, MPIJOB_ERR_NOMEM, or MPIJOB_ERR_IO when the node has ended. */

struct mpijob__local_pod *mpijob__local_pod_new(struct mpijob__local_kubelet *kubelet,
    struct mpijob_local *local, const struct mpijob__local_object *object, uint64_t id);
void mpijob__local_pod_free(struct mpijob__local_pod *pod);
int mpijob__local_pod_start(struct mpijob__local_pod *pod); /* the pod has an address */
int mpijob__local_pod_sync(struct mpijob__local_pod *pod, int64_t clock_ms);
/* Fail the pod. Takes ownership of `message`. */
void mpijob__local_pod_fail(struct mpijob__local_pod *pod, const char *reason, char *message);
int mpijob__local_pod_is_worker(const struct mpijob__local_pod *pod);
int mpijob__local_pod_is_terminated(const struct mpijob__local_pod *pod);
/* `name` NULL: the first container that is not an init container. */
struct mpijob__local_container *mpijob__local_pod_find_container(struct mpijob__local_pod *pod,
    const char *name);

/* container.c: one container. */

int mpijob__local_container_start(struct mpijob__local_container *container);
void mpijob__local_container_started(struct mpijob__local_container *container,
    const struct node_event *event);
void mpijob__local_container_exited(struct mpijob__local_container *container,
    const struct node_event *event);
/* Send a signal to the container if it runs. */
int mpijob__local_container_signal(struct mpijob__local_container *container, int signo);
void mpijob__local_container_set_waiting(struct mpijob__local_container *container,
    const char *reason, char *message);
void mpijob__local_container_clear(struct mpijob__local_container *container);

/* pod_probe.c: readiness. */

void mpijob__local_pod_probe_set_up(struct mpijob__local_container *container);
int mpijob__local_pod_probe_run(struct mpijob__local_container *container, int64_t clock_ms,
    int64_t *next_ms);
void mpijob__local_pod_probe_answer(struct mpijob__local_container *container,
    const struct node_event *event);
int mpijob__local_pod_probe_port(const struct mpijob__local_container *container,
    const mpijob_node *port, uint16_t *out);

/* pod_environment.c: variables, and the expansion of $(NAME). */

struct mpijob__local_environment {
	char **entries; /* "NAME=value", ends with NULL; wiped when freed */
	size_t count;
	char *
	    missing; /* message about the first missing ConfigMap, Secret or key; NULL: all exist */
};

int mpijob__local_environment_make(struct mpijob__local_environment *environment,
    struct mpijob__local_container *container);
void mpijob__local_environment_clear(struct mpijob__local_environment *environment);
/* Expand $(NAME). The caller frees it, with its secrets; NULL when memory ran out. */
char *mpijob__local_environment_expand(const struct mpijob__local_environment *environment,
    const char *text);
/* The value of a fieldRef. 1, and the caller frees *out; 0: the field is not supported;
 * MPIJOB_ERR_NOMEM. */
int mpijob__local_environment_field(const struct mpijob__local_pod *pod, const char *path,
    char **out);

/* pod_volumes.c */

int mpijob__local_pod_volumes_set_up(struct mpijob__local_pod *pod);
/* Send the volumes that are new or stale. *missing is set to a message, which the caller frees, if
 * a source does not exist. 0, or the errors of the node client. */
int mpijob__local_pod_volumes_write(struct mpijob__local_pod *pod, char **missing);
/* A ConfigMap or Secret changed: mark the volumes that use it as stale. Returns whether there are
 * any.
 */
int mpijob__local_pod_volumes_source_changed(const struct mpijob__local_pod *pod,
    const struct mpijob__local_object *source);
/* The pod's object changed: mark its downwardAPI volumes as stale. */
void mpijob__local_pod_volumes_fields_changed(struct mpijob__local_pod *pod);
/* The node could not update a volume. 1: reported, containers keep the old files; 0: the volume was
 * never written. */
int mpijob__local_pod_volumes_write_failed(struct mpijob__local_pod *pod, uint64_t id,
    const char *why);
/* The mounts of a container. `texts` owns the paths that are not borrowed. */
struct mpijob__local_mounts {
	struct node_mount *list;
	size_t count;
	char **texts;
	size_t text_count;
	const char *ssh_path;
};
int mpijob__local_pod_volumes_mounts(struct mpijob__local_container *container,
    const struct mpijob__local_environment *environment, struct mpijob__local_mounts *mounts);
void mpijob__local_pod_volumes_mounts_clear(struct mpijob__local_mounts *mounts);

/* pod_status.c */

int mpijob__local_pod_status_write(struct mpijob__local_pod *pod);
const char *mpijob__local_pod_status_phase(const struct mpijob__local_pod *pod);

/* pod_fields.c: report fields that are not honoured, once per job; fail a pod that cannot run. */

void mpijob__local_pod_fields_check(struct mpijob__local_pod *pod);

/* kubelet.c: requests to the node, whose answers are dispatched to the pod or container. */

#define MPIJOB__LOCAL_REQUEST_IGNORED 0
#define MPIJOB__LOCAL_REQUEST_SANDBOX 1
#define MPIJOB__LOCAL_REQUEST_VOLUME  2
#define MPIJOB__LOCAL_REQUEST_HOSTS   3
#define MPIJOB__LOCAL_REQUEST_START   4
#define MPIJOB__LOCAL_REQUEST_PROBE   5
#define MPIJOB__LOCAL_REQUEST_EXEC    6

struct node_client *mpijob__local_kubelet_node(struct mpijob__local_kubelet *kubelet);
uint64_t mpijob__local_kubelet_new_id(struct mpijob__local_kubelet *kubelet);
/* Whether the node has only one user and group id. */
int mpijob__local_kubelet_has_one_id(const struct mpijob__local_kubelet *kubelet);
/* Register a request whose answer must be dispatched. `number` is the id of the container or
 * volume. 0 or MPIJOB_ERR_NOMEM. */
int mpijob__local_kubelet_await(struct mpijob__local_kubelet *kubelet, uint64_t request, int what,
    uint64_t pod, uint64_t number);
/* The hosts group of a namespace (0 or MPIJOB_ERR_NOMEM), and the version of its hosts file that
 * the node has written. */
int mpijob__local_kubelet_hosts_group(struct mpijob__local_kubelet *kubelet, const char *namespace_,
    uint64_t *group);
uint64_t mpijob__local_kubelet_hosts_written(struct mpijob__local_kubelet *kubelet,
    const char *namespace_);
/* Report that a field is not honoured, once per job and field. `what` may be NULL. */
void mpijob__local_kubelet_notice_field(struct mpijob__local_kubelet *kubelet,
    const struct mpijob__local_pod *pod, const char *path, const char *what);

/* pod_security.c: the capability bounding set; *missing (may be NULL) gets the requested
 * capabilities that are not granted. */

uint64_t mpijob__local_pod_security_capabilities(const struct mpijob__local_container *container,
    uint64_t *missing);
uint64_t mpijob__local_pod_security_confine(
    const struct mpijob__local_container *container); /* NODE_CONFINE_* */

#endif
