/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded cluster as its own files see it: the struct with all parts, and the functions with
 * which a part sends data to a client, registers a descriptor, or reports a finding.
 */
#ifndef MPIJOB_LOCAL_LOCAL_H
#define MPIJOB_LOCAL_LOCAL_H

#include "base/list.h"
#include "local/reply.h"
#include "local/store.h"

#include <mpijob/local.h>

/* One exchange, from start to end. */
struct mpijob__local_call {
	struct mpijob__base_list link;  /* in the list of all calls */
	struct mpijob__base_list ready; /* in the list of ready calls */
	mpijob_exchange *exchange;
	char *method;
	char *path;
	char *content_type;
	char *body; /* wiped when freed: it may contain a key */
	size_t body_len;
	struct mpijob__local_stream *stream; /* a watch or a log after its reply began */
	int paused;
	int busy; /* process_call() is active and frees the call if it is cancelled */
	int cancelled;
};

struct mpijob__local_watch;
struct mpijob__local_job_state;
struct mpijob__local_kubelet;
struct mpijob__local_exec_socket;

struct mpijob_local {
	struct mpijob__local_store store;
	struct mpijob__base_list calls;
	struct mpijob__base_list ready; /* calls with something to do */
	struct mpijob__base_list watches[MPIJOB__LOCAL_KIND_COUNT];
	struct mpijob__local_job_state *jobs;
	struct mpijob__local_kubelet *kubelet;         /* NULL without a node */
	struct mpijob__local_exec_socket *exec_socket; /* NULL without a node */
	size_t reports;                                /* number of mpijob_exchange_* calls */
	int epoll;
	int wake;       /* eventfd */
	int gc_pending; /* the garbage collector must run */
	char *cluster_domain;
	int64_t backoff_ms;
	int allow_host_path;
	int64_t names_delay_ms;
	void (*notice)(void *user, const struct mpijob_finding *finding);
	void *notice_user;
};

/* Send a part of an answer to the client. 0, or 1: the call was cancelled. */
int mpijob__local_send_data(struct mpijob_local *local, struct mpijob__local_call *call,
    const char *data, size_t len);
/* Let the next round of poll() serve the call or feed its stream. */
void mpijob__local_mark_ready(struct mpijob_local *local, struct mpijob__local_call *call);
/* A descriptor in the epoll set; `run` is called when it is readable or, if requested, writable. */
struct mpijob__local_event_source {
	void (*run)(struct mpijob__local_event_source *source);
	int fd;
};
int mpijob__local_add_fd(struct mpijob_local *local, struct mpijob__local_event_source *source,
    int write);
int mpijob__local_modify_fd(struct mpijob_local *local, struct mpijob__local_event_source *source,
    int read, int write);
void mpijob__local_remove_fd(struct mpijob_local *local, struct mpijob__local_event_source *source);
/* Report a finding through options.notice. Takes ownership of `message`; NULL (memory ran out)
 * reports nothing. */
void mpijob__local_notice(struct mpijob_local *local, int severity, const char *id,
    const char *field, char *message);

#endif
