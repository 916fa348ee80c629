/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a job, on this machine or on a cluster: what both have in common.
 */
#ifndef MPIJOB_PROGRAM_RUN_H
#define MPIJOB_PROGRAM_RUN_H

#include <mpijob/mpijob.h>

#include "command.h"
#include "input.h"
#include "pods.h"

/* What is watched, and who reads its changes as documents. */
struct watched {
	struct run *run;
	mpijob_watch *watch;
	void (*changed)(void *user, const mpijob_node *object, int gone);
	void *user;
	int listed; /* objects of the list that comes */
	int code;   /* why it cannot go on; 0 while it can */
};

enum trouble { TROUBLE_NONE, TROUBLE_LOST, TROUBLE_REFUSED };

struct run {
	const struct arguments *arguments;
	struct input input;
	mpijob_diag *diag;
	mpijob *job; /* defaulted; the cluster gets the document as it was given */
	const struct input_object *object;
	mpijob_client *client;
	/* Move everything on, and wait at most so long. */
	int (*step)(struct run *run, int timeout_ms);
	void *stepped; /* the operator of a local run, the connection of another */
	int is_cluster;
	struct watched watched_job;
	struct watched watched_pods;
	struct pods pods;
	struct progress progress;
	char *name; /* as the server has it */
	const char *namespace_;
	char *uid;
	char *created; /* when the server made it */
	const char *phase;
	int workers;
	int finished; /* the job reached Succeeded or Failed, or is gone */
	int succeeded;
	int explained;  /* `failure` names the cause */
	char *failure;  /* reason and message of the condition Failed */
	int stopping;   /* exit code after an interrupt or the timeout; 0 while none */
	int stopped_at; /* signals seen when the stopping began */
	enum trouble told;
	int64_t begun_ms, cluster_ms, created_ms, finished_ms;
};

/* run_loop.c */
void run_catch_signals(void);
/* Signals make a call made at once return MPIJOB_ERR_CANCELLED from now on; NULL: no more. */
void run_interrupts(mpijob_client *client);
int run_signals_seen(void);
/* Why to stop before the end: exit code, or 0. */
int run_must_stop(const struct run *run);
int run_turn(struct run *run);
/* Watch the job and its pods; needs client, name, namespace_. */
int run_watch(struct run *run);
/* Until the job has ended and all its output is there, or it is time to stop. */
int run_until_finished(struct run *run);
/* Warn when it ended well, but on the launcher alone. */
void run_tell_idle(struct run *run);
/* Hand on what is left of the output, as long as somebody takes it. */
void run_flush(struct run *run);
void run_unwatch(struct run *run);
int run_exit_code(const struct run *run, int code);
void run_print_timings(const struct run *run, int64_t closing_ms);

/* run_local.c, run_cluster.c: the whole; 0 or a code, with findings in the run's diag */
int run_local(struct run *run);
/* The exit code. */
int run_cluster(struct run *run);

/* run_causes.c: why it failed, with what to do; needs the client. */
void run_tell_causes(struct run *run);

/* run.c: read the files, choose the job, check it. */
int run_load_job(struct run *run);
/* Give a finding about a field of the job its place in the file. */
void run_place(const struct run *run, struct mpijob_finding *finding);

#endif
