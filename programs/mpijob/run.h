/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a job, on this machine or on a cluster: what both have in common.
 */
#ifndef MPIJOB_PROGRAM_RUN_H
#define MPIJOB_PROGRAM_RUN_H

#include <mpijob/mpijob.h>

#include "command.h"
#include "input.h"
#include "outlet.h"
#include "prefixed.h"
#include "progress.h"

struct run {
	const struct arguments *arguments;
	struct input input;
	mpijob_diag *diag;
	mpijob *job; /* defaulted; the cluster gets the document as it was given */
	const struct input_object *object;
	mpijob_client *client;
	/* Process what has arrived, and wait at most timeout_ms. */
	int (*step)(struct run *run, int timeout_ms);
	void *stepped; /* the operator of a local run, the connection of another */
	int is_cluster;
	mpijob_run *job_run;             /* NULL: the job is not followed yet, or any more */
	struct mpijob_run_result result; /* of the last one, without its texts */
	struct progress progress;
	char *name; /* as the server has it */
	const char *namespace_;
	char *uid;
	const char *phase;
	int ready, workers;
	int end_printed;
	int stopping;   /* exit code after an interrupt or the timeout; 0 while none */
	int stopped_at; /* signals seen when the stopping began */
	int64_t begun_ms, cluster_ms, created_ms;

	struct outlet out; /* the output of the launcher's first container, as it is */
	int out_is_terminal;
	int in_line;            /* a line of `out` has begun and not ended */
	int output_lost;        /* some of it found no reader */
	struct outlet messages; /* the output of other containers, on standard error */
	struct prefixed others; /* writes to messages */
	int paused;             /* the reader of one of them is behind */
};

/* run_loop.c */
void run_catch_signals(void);
/* Signals make a blocking call return MPIJOB_ERR_CANCELLED from now on; NULL: no more. */
void run_interrupts(mpijob_client *client);
int run_signals_seen(void);
/* Why to stop before the end: exit code, or 0. */
int run_must_stop(const struct run *run);
int run_turn(struct run *run);
/* Start to follow the job; needs client, name, namespace_, uid. */
int run_follow(struct run *run);
void run_unfollow(struct run *run);
/* Until the job has ended and everything about it is printed, or it is time to stop. */
int run_until_over(struct run *run);
/* Print how the job ended, once. */
void run_print_end(struct run *run);
int run_exit_code(const struct run *run, int code);
void run_print_timings(const struct run *run, int64_t closing_ms);
/* The result of the run so far. */
const struct mpijob_run_result *run_result(const struct run *run);
int run_has_ended(const struct run *run);

/* run_output.c */
int run_output_begin(struct run *run);
void run_output_put(struct run *run, const struct mpijob_run_event *event);
/* Write what the readers take now. Returns the milliseconds that the turn may wait, at most
 * `most_ms`. */
int run_output_turn(struct run *run, int most_ms);
/* It is time to end: give up a reader that has taken nothing for a while (`now` 1: at once). */
void run_output_give_up(struct run *run, int now);
/* Write the rest of the output, as long as its reader takes it. */
void run_output_flush(struct run *run);
/* A line of the job's output is unfinished on the terminal. */
int run_output_in_line(const struct run *run);
void run_output_free(struct run *run);

/* run_local.c, run_cluster.c: the whole; 0 or a code, with findings in the run's diag */
int run_local(struct run *run);
/* The exit code. */
int run_cluster(struct run *run);

/* run_causes.c: print a cause or hint, with what to do, unless the run has said it. */
void run_print_cause(struct run *run, const struct mpijob_finding *finding);

/* run.c: read the files, choose the job, check it. */
int run_load_job(struct run *run);
/* Give a finding about a field of the job its place in the file. */
void run_place(const struct run *run, struct mpijob_finding *finding);

#endif
