/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a run, for the files of this directory. */
#ifndef MPIJOB__RUN_RUN_H
#define MPIJOB__RUN_RUN_H

#include "base/text.h"
#include "client/client.h"
#include "client/timer.h"
#include "run/pods.h"
#include "run/sshd.h"

#include <mpijob/run.h>

/* The diagram is in run.c. */
enum mpijob__run_state {
	MPIJOB__RUN_FOLLOWING,
	MPIJOB__RUN_DRAINING,
	MPIJOB__RUN_DIAGNOSING,
	MPIJOB__RUN_OVER,
	MPIJOB__RUN_STOPPING,
	MPIJOB__RUN_FAILED,
};

/* What a STATUS event reports. */
struct mpijob__run_status {
	const char *phase;
	int32_t ready, workers;
};

struct mpijob_run {
	mpijob_client *client;
	int local;
	void (*event)(void *user, const struct mpijob_run_event *event);
	void *user;
	enum mpijob__run_state state;
	int code; /* why the run fails; 0 */
	mpijob_timer timer;

	char *namespace_, *name;
	char *uid, *created; /* of the job; NULL: not known yet */
	mpijob_watch *job_watch, *pod_watch;
	int listed;       /* the current list of jobs contains it */
	int connection;   /* the kind of trouble that was reported last; 0: none */
	int starts_mpi;   /* the launcher's command names a program that starts ranks */
	int waits;        /* the launcher is created when all workers are ready */
	int64_t grace_ms; /* of the launcher */

	struct mpijob__run_status status, reported;
	struct mpijob_run_result result;
	char *reason, *message; /* of the result */

	struct mpijob__run_pods pods;
	struct mpijob__run_sshd sshd;
	int paused;
	int64_t output_ms; /* when the last output came */
	int64_t over_ms;   /* since when all workers have ended; 0: not all have */

	struct {
		int64_t since_ms; /* when the job ended, or was deleted */
		int64_t grace_ms; /* of a deletion */
	} end;
	mpijob_task *task;     /* the diagnosis, or the deletion */
	mpijob_diag *findings; /* of this task */
};

int64_t mpijob__run_now_ms(const struct mpijob_run *run);
/* Something has changed: the next poll evaluates the run. */
void mpijob__run_wake(struct mpijob_run *run);
/* The run cannot go on. */
void mpijob__run_fail(struct mpijob_run *run, int code);
/* The job has ended. `reason` and `message` may be NULL. */
void mpijob__run_end(struct mpijob_run *run, int outcome, const char *phase, const char *reason,
    const char *message);
void mpijob__run_emit(struct mpijob_run *run, struct mpijob_run_event *event);
/* Report something about a container to the user of the run; `pod` and `container` may be NULL. */
void mpijob__run_notice(struct mpijob_run *run, const char *pod, const char *container,
    int32_t code, const char *format, ...) MPIJOB__BASE_PRINTF(5, 6);
/* Start to stream what a container prints, or printed before its restart. Returns as
 * mpijob_client_start(). */
int mpijob__run_stream_log(struct mpijob_run *run, const char *pod, const char *container,
    int previous, const struct mpijob_callbacks *callbacks, mpijob_call **out);

#endif
