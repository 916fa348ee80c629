/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person at the terminal sees of a run: a live line on a terminal, plain lines otherwise.
 */
#ifndef MPIJOB_PROGRAM_PROGRESS_H
#define MPIJOB_PROGRAM_PROGRESS_H

#include <stdint.h>

struct progress {
	const char *name; /* of the job */
	int terminal;     /* standard error is one */
	/* a line of the job's output stands unfinished on that terminal: nothing is drawn over
	 * it */
	int waits;
	int live;         /* a live line stands on it now */
	int64_t begun_ms; /* when the run began */
	int64_t drawn_ms; /* when the live line was last drawn */
	const char *phase;
	int ready, workers;
};

/* Tell the present state; prints when it changed, and redraws the live line as time goes by. */
void progress_show(struct progress *progress, const char *phase, int ready, int workers,
    int64_t now_ms);

/* Take the live line away, before other output. */
void progress_hide(struct progress *progress);

/* Print a line of this program's own on standard error. */
void progress_say(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
