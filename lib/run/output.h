/* SPDX-License-Identifier: Apache-2.0 */
/* The output of the containers of a run's job. */
#ifndef MPIJOB__RUN_OUTPUT_H
#define MPIJOB__RUN_OUTPUT_H

#include <mpijob/logs.h>
#include <mpijob/run.h>

#define MPIJOB__RUN_TAIL 32768 /* bytes of the launcher's output, for a diagnosis */

struct mpijob_run;
struct mpijob__run_pod;

struct mpijob__run_container {
	struct mpijob__run_container *next;
	struct mpijob__run_pod *pod;
	char *name;
	int is_init;
	int is_main;     /* the launcher's first container: its output is the output of the job */
	int64_t ended;   /* how many of its runs are known to have ended */
	char *waits_for; /* why it does not start yet, as reported last */

	int64_t started;    /* how many of its runs are known to have started */
	mpijob_call *call;  /* local: streams one run, as bytes */
	mpijob_logs *logs;  /* else: all runs, by lines, over broken connections */
	int queued;         /* until the logs of earlier launchers are read */
	mpijob_text *line;  /* of another container than the main one: the begin of a line */
	int64_t output_ms;  /* when the last line came, or reading began or continued */
	char *trouble;      /* why nothing comes at present; NULL: something does */
	int64_t trouble_ms; /* since when */
};

/* The last bytes of a text; up to twice as much is kept, so that it is seldom moved. */
struct mpijob__run_tail {
	char *data; /* 2 * MPIJOB__RUN_TAIL bytes, or NULL */
	size_t len;
};

/* The last lines of the first worker that fails. */
struct mpijob__run_worker_tail {
	mpijob_logs *logs; /* NULL: none has failed */
	int printed;       /* a line was */
};

/* `started` runs of a launcher's container have started: follow their output. */
void mpijob__run_output_follow(struct mpijob__run_container *container, int64_t started);
/* Report the last lines of a worker's container, once in a run. */
void mpijob__run_output_show_worker(struct mpijob__run_container *container);
/* Start logs that waited for those of an earlier launcher. Returns 1 while others wait. */
int mpijob__run_output_start_queued(struct mpijob_run *run);
/* Whether output of launchers is still being followed. */
int mpijob__run_output_is_open(const struct mpijob_run *run);
/* Whether some of it comes, or has not come for less than this time. */
int mpijob__run_output_is_alive(const struct mpijob_run *run, int64_t silent_ms);
/* Report which output is not complete. */
void mpijob__run_output_report_missing(struct mpijob_run *run);
void mpijob__run_output_pause(struct mpijob_run *run);
void mpijob__run_output_free(struct mpijob__run_container *container);

#endif
