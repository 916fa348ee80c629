/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pod as the kubelet runs it. The files pod_*.c share this struct; kubelet.c owns the list of
 * pods.
 */
#ifndef MPIJOB_LOCAL_POD_H
#define MPIJOB_LOCAL_POD_H

#include "kubelet.h"
#include "local.h"
#include "node_client.h"

#define NODE_ADDRESS "198.18.0.1"
#define NODE_NAME    "local"

enum container_state {
	CONTAINER_WAITING,  /* not started, or to be started again */
	CONTAINER_STARTING, /* asked for */
	CONTAINER_RUNNING,
	CONTAINER_ENDED,
};

/* How one run of a container ended. */
struct ending {
	int known;
	int64_t code;
	const char *reason; /* a constant */
	char *message;      /* NULL for none */
	uint64_t id;
	int64_t started_ms; /* since 1970 */
	int64_t finished_ms;
};

struct readiness {
	int kind;          /* READY_* */
	uint16_t ports[2]; /* READY_LISTEN: any of them; READY_TCP: the first */
	int64_t next_ms;   /* when to look again; -1: a look is under way, or none is needed */
	int pending;       /* looks under way */
	uint64_t request;  /* READY_EXEC: the command that runs; 0: none */
	int64_t end_ms;    /* and until when it may */
	int64_t successes;
	int64_t failures;
	int ready;
};

#define READY_RUNNING 0 /* ready when it runs */
#define READY_LISTEN  1 /* when its sshd listens */
#define READY_TCP     2
#define READY_EXEC    3

struct container {
	struct mpijob__local_source source; /* first: what it writes; fd -1 when closed */
	struct pod *pod;
	const mpijob_node *spec;
	const char *name;
	int init;
	enum container_state state;
	uint64_t id;         /* of this run; 0 before the first */
	const char *waiting; /* a constant: why it waits */
	char *waiting_message;
	int64_t started_ms;
	int64_t due_ms; /* when it may start again; 0: now */
	int64_t restarts;
	struct ending last;   /* the run before this one */
	struct ending ending; /* this run, once CONTAINER_ENDED */
	int signalled;
	struct log *log;
	struct log *previous_log;
	struct readiness readiness;
};

struct volume {
	const mpijob_node *spec;
	const char *name;
	uint64_t id; /* 0: a path of this machine */
	int written; /* the node has it */
	int asked;
	int stale;        /* its source changed */
	uint64_t content; /* digest of the files that the node was given last */
};

enum pod_stage {
	POD_SETUP,   /* sandbox, volumes and names are being made */
	POD_RUNNING, /* init containers, then containers */
	POD_ENDING,  /* containers are being stopped */
	POD_OVER,    /* nothing runs and nothing will */
};

struct pod {
	struct pod *next;
	struct kubelet *kubelet;
	struct mpijob_local *local;
	char *uid;
	char *namespace_;
	char *name;
	mpijob_doc *doc; /* the object as it was when it came; its spec does not change */
	const mpijob_node *spec;
	uint64_t id; /* of the sandbox */
	char *hostname;
	const char *subdomain; /* NULL without one */
	char address[16];
	int host_network;
	int sandbox_ready;
	int sandbox_gone;
	uint64_t hosts_version; /* the group's hosts file must be at least this new */
	enum pod_stage stage;
	struct container *containers; /* init containers first */
	size_t init_count;
	size_t count;
	struct volume *volumes;
	size_t volume_count;
	int64_t started_ms; /* since 1970 */
	int64_t kill_ms;    /* POD_ENDING: when patience ends; -1 killed already */
	int64_t due_ms;
	int dirty;
	int deleting;
	int gone;           /* the object is not there any more */
	const char *reason; /* a constant: why it failed as a whole */
	char *message;
};

/* pod.c: the life of a pod. Each: 0, MPIJOB_ERR_NOMEM, or MPIJOB_ERR_IO when the node is gone. */

struct pod *mpijob__local_pod_new(struct kubelet *kubelet, struct mpijob_local *local,
    const struct object *object, uint64_t id);
void mpijob__local_pod_free(struct pod *pod);
int mpijob__local_pod_begin(struct pod *pod); /* once it has its address */
int mpijob__local_pod_sync(struct pod *pod, int64_t clock_ms);
/* The pod cannot run at all; `message` is taken. */
void mpijob__local_pod_fail(struct pod *pod, const char *reason, char *message);
int mpijob__local_pod_is_worker(const struct pod *pod);
int mpijob__local_pod_is_over(const struct pod *pod);
/* NULL: the first one */
struct container *mpijob__local_pod_find_container(struct pod *pod, const char *name);

/* container.c: one container. */

int mpijob__local_container_start(struct container *container);
void mpijob__local_container_started(struct container *container, const struct node_event *event);
void mpijob__local_container_exited(struct container *container, const struct node_event *event);
/* Ask it to end. */
int mpijob__local_container_signal(struct container *container, int signo);
void mpijob__local_container_wait(struct container *container, const char *reason, char *message);
void mpijob__local_container_clear(struct container *container);

/* pod_probe.c: readiness. */

void mpijob__local_pod_probe_set_up(struct container *container);
int mpijob__local_pod_probe_run(struct container *container, int64_t clock_ms, int64_t *next_ms);
void mpijob__local_pod_probe_answer(struct container *container, const struct node_event *event);
int mpijob__local_pod_probe_port(const struct container *container, const mpijob_node *port,
    uint16_t *out);

/* pod_environment.c: variables and what is written $(NAME). */

struct environment {
	char **entries; /* "NAME=value", closed by NULL; wiped when freed */
	size_t count;
	char *missing; /* the first thing that is not there yet, for people; NULL when all is */
};

int mpijob__local_environment_make(struct environment *environment, struct container *container);
void mpijob__local_environment_clear(struct environment *environment);
/* NULL without memory. */
char *mpijob__local_environment_expand(const struct environment *environment, const char *text);
/* A field of the pod as downwardAPI and fieldRef name it: 1, 0 when unknown, MPIJOB_ERR_NOMEM. */
int mpijob__local_environment_field(const struct pod *pod, const char *path, char **out);

/* pod_volumes.c */

int mpijob__local_pod_volumes_set_up(struct pod *pod);
/* Send what is not written or stale; 1: some source is not there yet, and pod->containers say
 * so. */
int mpijob__local_pod_volumes_write(struct pod *pod, char **missing);
int mpijob__local_pod_volumes_uses(const struct pod *pod, const struct object *source);
/* The pod's own object changed, of which a downwardAPI volume may tell. */
void mpijob__local_pod_volumes_fields_changed(struct pod *pod);
/* The node could not write a volume again: those who run keep the old files. 0: it had none yet. */
int mpijob__local_pod_volumes_keep(struct pod *pod, uint64_t id, const char *why);
/* The mounts of a container; the list is malloc'ed, its texts go into `texts`. */
struct mounts {
	struct node_mount *list;
	size_t count;
	char **texts;
	size_t text_count;
	const char *ssh_path;
};
int mpijob__local_pod_volumes_mounts(struct container *container,
    const struct environment *environment, struct mounts *mounts);
void mpijob__local_pod_volumes_mounts_clear(struct mounts *mounts);

/* pod_status.c */

int mpijob__local_pod_status_write(struct pod *pod);
const char *mpijob__local_pod_status_phase(const struct pod *pod);

/* pod_fields.c: what of a template is not honoured is said once; what cannot be run at all fails
 * the pod. */

void mpijob__local_pod_fields_check(struct pod *pod);

/* kubelet.c: asking the node. The answer comes to the container or pod that asked. */

#define ASK_NOTHING 0
#define ASK_SANDBOX 1
#define ASK_VOLUME  2
#define ASK_HOSTS   3
#define ASK_START   4
#define ASK_PROBE   5
#define ASK_EXEC    6

struct node_client *mpijob__local_kubelet_node(struct kubelet *kubelet);
uint64_t mpijob__local_kubelet_number(struct kubelet *kubelet);
/* Whether this user has no other ids to give to groups. */
int mpijob__local_kubelet_has_one_id(const struct kubelet *kubelet);
/* Remember whom an answer is for. `number`: the container's or volume's. */
int mpijob__local_kubelet_expect(struct kubelet *kubelet, uint64_t request, int what, uint64_t pod,
    uint64_t number);
/* The group of a namespace's names, and the version of its hosts file that the node has. */
int mpijob__local_kubelet_group(struct kubelet *kubelet, const char *namespace_, uint64_t *group);
uint64_t mpijob__local_kubelet_hosts_written(struct kubelet *kubelet, const char *namespace_);
/* Say once per job that a field is not honoured. `what` may be NULL. */
void mpijob__local_kubelet_notice_field(struct kubelet *kubelet, const struct pod *pod,
    const char *path, const char *what);

/* pod_security.c; `missing`, which may be NULL, gets what the container asks for and does not
 * get */

uint64_t mpijob__local_pod_security_capabilities(const struct container *container,
    uint64_t *missing);
uint64_t mpijob__local_pod_security_confine(const struct container *container); /* NODE_CONFINE_* */

#endif
