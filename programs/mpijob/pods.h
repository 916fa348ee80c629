/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods of the job that runs: which there are, how the launcher's attempts ended, and their
 * output.
 */
#ifndef MPIJOB_PROGRAM_PODS_H
#define MPIJOB_PROGRAM_PODS_H

#include <mpijob/mpijob.h>

#include "outlet.h"
#include "prefixed.h"
#include "progress.h"
#include "sshd.h"

/* A container of a pod that has been heard of. */
struct container_row {
	struct container_row *next;
	struct pod_row *pod;
	char *name;
	int is_init;
	mpijob_text *line; /* the line that has begun, of another container than the main one */
	int is_main;       /* the launcher's first container: its output is the output of the job */
	int64_t attempts;  /* how often it was started, as far as its output was asked for */
	int64_t ended;     /* how many of its attempts are known to have ended */
	char *waits_for;   /* why it waits, as was last told */
	mpijob_call *log;  /* its output is being followed: of this attempt, as bytes */
	char *trouble;     /* why nothing of it comes at present; NULL while it does */
	int64_t troubled_ms; /* since when */
	/* the same on a cluster: of all attempts, by lines, over broken connections */
	mpijob_logs *logs;
	int waiting;      /* it has output, which is read after that of earlier launchers */
	int64_t heard_ms; /* when the last line came, or reading began or went on */
};

struct pod_row {
	struct pod_row *next;
	struct container_row *containers;
	struct pods *pods;
	char *name;
	char *uid;
	char *created;
	int is_launcher;
	int ready;
	int running;
	int deleting;
	int gone;
	int ended;  /* Succeeded or Failed */
	int failed; /* it was told so */
	/* On this machine only: */
	int active;       /* a container of it runs */
	char *never;      /* why it never starts; NULL when nothing says so */
	char *waits;      /* what its containers wait for; NULL when they do not wait */
	int64_t waits_ms; /* since when */
};

#define PODS_LAST 32768 /* bytes of the launcher's output that are kept, to find causes in */

/* The end of the output of the first worker that failed. */
struct worker_tail {
	int shown;
	size_t len;
	char text[4096];
};

struct pods {
	const char *last_launcher; /* the pod that printed what is in `last`; NULL when none did */
	char last[2 * PODS_LAST];
	size_t last_len;
	mpijob_client *client;
	const char *namespace_;
	const char *
	    /* of the job, and when it was made: pods of an earlier one are left aside; NULL:
	     * there are none */
	    uid;
	const char *created;
	struct progress *progress;
	struct pod_row *rows;      /* newest first */
	int has_exit_code;         /* an attempt of the launcher ended by itself */
	int exit_code;             /* of the last one that did */
	int64_t first_ready_ms;    /* when all workers were first ready; 0 before */
	int64_t launcher_start_ms; /* when the launcher was first seen running */
	int64_t launcher_end_ms;   /* when it was last seen to end */
	int64_t over_ms;           /* since when all workers have ended; 0 while they have not */
	/* the job could not succeed any more, so the run ends: no further attempt is followed */
	int given_up;
	struct worker_tail tail;
	int code;          /* a failure of our own; 0 while all is well */
	int output_lost;   /* some of the launcher's output found no reader */
	int is_cluster;    /* connections can break: outputs are read so that they go on */
	struct outlet out; /* the output of the launcher's first container, as it is */
	int out_is_terminal;
	int in_line;            /* a line of `out` has begun and not ended */
	struct outlet news;     /* that of its other containers, on standard error */
	struct prefixed others; /* writes to news */
	struct sshd sshd;       /* whether anybody came to the workers */
	int paused;             /* the reader of one of them is behind */
	int64_t heard_ms;       /* when output last came */
};

/* A change of a pod arrived; `user` is the struct pods. */
void pods_changed(void *user, const mpijob_node *pod, int gone);

int pods_ready_workers(const struct pods *pods);
/* a pod that a command can be run in; NULL without one */
const char *pods_running(const struct pods *pods);
int pods_launchers_left(const struct pods *pods);  /* launcher pods that are not gone */
int pods_launchers_going(const struct pods *pods); /* launcher pods that have not ended */
/* outputs still being followed, or not yet taken by their readers */
int pods_logs_open(const struct pods *pods);

/* Outputs of which something may come soon, since they come, or have not come for less than so
 * long; of the others it is told that they are not complete with pods_tell_missing(). */
int pods_logs_alive(const struct pods *pods, int64_t patience_ms);
void pods_tell_missing(struct pods *pods);

/* Once in each turn: hand on what readers take now. Returns how long the turn may wait, at most
 * `most_ms`. */
int pods_turn(struct pods *pods, int most_ms);

/* A line of the job's output stands unfinished on the terminal. */
int pods_in_line(const struct pods *pods);

/* When it is time to end: give a reader up that has taken nothing for a while (`now` 1: for any
 * time). */
void pods_hurry(struct pods *pods, int now);

void pods_free(struct pods *pods);

#endif
