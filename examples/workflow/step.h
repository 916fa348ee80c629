/* SPDX-License-Identifier: Apache-2.0 */
/* What a workflow engine wants of the plugin for steps that are MPI programs. */
#ifndef EXAMPLE_STEP_H
#define EXAMPLE_STEP_H

#include <mpijob/mpijob.h>

enum step_phase { STEP_WAITING, STEP_RUNNING, STEP_DONE, STEP_FAILED, STEP_ABORTED };

struct step {
	mpijob_client *client; /* the engine's; it polls it */
	mpijob *job;           /* as it was stored, then as it was last seen */
	mpijob_watch *watch;
	int seen; /* in the list that is under way */
	enum step_phase phase;
	const char *why; /* of a failure; lives until the phase is anew */
};

/* Submit the job and follow it. On failure nothing runs, and `diag` says why. */
int step_start(struct step *step, mpijob_client *client, const mpijob *job, const char *namespace_,
    mpijob_diag *diag);
/* Take the job away, whatever it does; the phase becomes STEP_ABORTED unless it has ended
 * before. */
int step_abort(struct step *step, mpijob_diag *diag);
void step_end(struct step *step);

#endif
