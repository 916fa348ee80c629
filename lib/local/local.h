/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded cluster as its own files see it: one struct that holds every part, and how a part
 * tells bytes of an answer or asks to be run again.
 */
#ifndef MPIJOB_LOCAL_LOCAL_H
#define MPIJOB_LOCAL_LOCAL_H

#include "base/list.h"
#include "reply.h"
#include "store.h"

#include <mpijob/local.h>

/* One exchange, from start to end. */
struct call {
	struct mpijob__base_list link;  /* among all */
	struct mpijob__base_list ready; /* among those with something to do */
	mpijob_exchange *exchange;
	char *method;
	char *path;
	char *content_type;
	char *body; /* wiped when freed: it may hold a key */
	size_t body_len;
	struct stream *stream; /* once it goes on after its first bytes */
	int paused;
	int busy; /* being told: freed afterwards */
	int cancelled;
};

struct watch;
struct job_state;
struct kubelet;
struct exec_socket;

struct mpijob_local {
	struct store store;
	struct mpijob__base_list calls;
	struct mpijob__base_list ready; /* calls with something to do */
	struct mpijob__base_list watches[KIND_COUNT];
	struct job_state *jobs;
	struct kubelet *kubelet;         /* NULL without a node */
	struct exec_socket *exec_socket; /* NULL without a node */
	size_t told;                     /* mpijob_exchange_* calls so far */
	int epoll;
	int wake;    /* eventfd */
	int collect; /* the garbage collector has something to look at */
	char *cluster_domain;
	int64_t backoff_ms;
	int allow_host_path;
	int64_t names_delay_ms;
	void (*notice)(void *user, const struct mpijob_finding *finding);
	void *notice_user;
};

/* Tell bytes of an answer: 0 to go on, else the call was cancelled meanwhile. */
int mpijob__local_tell(struct mpijob_local *local, struct call *call, const char *data, size_t len);
/* Have a call's stream fed. */
void mpijob__local_ready(struct mpijob_local *local, struct call *call);
/* Have a descriptor looked at: what is called when it can be read (or, on demand, written). */
struct mpijob__local_source {
	void (*run)(struct mpijob__local_source *source);
	int fd;
};
int mpijob__local_watch_fd(struct mpijob_local *local, struct mpijob__local_source *source,
    int write);
int mpijob__local_change_fd(struct mpijob_local *local, struct mpijob__local_source *source,
    int read, int write);
void mpijob__local_forget_fd(struct mpijob_local *local, struct mpijob__local_source *source);
/* Tell people. `message` is taken and may be NULL. */
void mpijob__local_notice(struct mpijob_local *local, int severity, const char *id,
    const char *field, char *message);

/* The earlier of two times, -1 being never. */
int64_t mpijob__local_sooner(int64_t a, int64_t b);

#endif
