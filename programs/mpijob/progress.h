/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of a run: one line that is redrawn on a terminal, plain lines otherwise.
 */
#ifndef MPIJOB_PROGRAM_PROGRESS_H
#define MPIJOB_PROGRAM_PROGRESS_H

#include <stdint.h>

struct progress {
	const char *name; /* of the job */
	int terminal;     /* standard error is one */
	/* the terminal shows an unfinished line of the job's output: do not overwrite it */
	int waits;
	int live;         /* the terminal shows the progress line */
	int64_t begun_ms; /* when the run began */
	int64_t drawn_ms; /* when the progress line was last drawn */
	const char *phase;
	int ready, workers;
};

/* Set the current state. Prints it if it has changed, and redraws the progress line regularly. */
void progress_show(struct progress *progress, const char *phase, int ready, int workers,
    int64_t now_ms);

/* Erase the progress line, before other output. */
void progress_hide(struct progress *progress);

/* Print a message of this program on standard error. */
void progress_say(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
