/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a run on this machine cannot succeed any more, so that it ends without further retries.
 */
#ifndef MPIJOB_PROGRAM_HOPELESS_H
#define MPIJOB_PROGRAM_HOPELESS_H

#include "run.h"

/* Note in the row why its pod never starts, as its status tells. */
void hopeless_look(struct pod_row *row, const mpijob_node *pod);

/* End the run when it cannot succeed any more. */
void hopeless_check(struct run *run);

/* Print the last lines of a worker's container that failed, once per run. Returns 0 or a code. */
int hopeless_show_worker(struct container_row *row);

#endif
