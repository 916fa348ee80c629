/* SPDX-License-Identifier: Apache-2.0 */
/* When a job on a local cluster cannot succeed any more. */
#ifndef MPIJOB__RUN_HOPELESS_H
#define MPIJOB__RUN_HOPELESS_H

#include <mpijob/doc.h>

struct mpijob_run;
struct mpijob__run_pod;

/* Why a container does not start yet; NULL: it has started, or only backs off. */
const char *mpijob__run_hopeless_waits(const mpijob_node *status);
/* Read why the pod never starts. */
void mpijob__run_hopeless_read(struct mpijob__run_pod *pod, const mpijob_node *object);
/* End the run when the job cannot succeed any more. */
void mpijob__run_hopeless_check(struct mpijob_run *run);

#endif
