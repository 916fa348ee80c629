/* SPDX-License-Identifier: Apache-2.0 */
/* Moves to v2beta1 that are common to v1 and the older versions, which all start ranks with kubectl
 * exec. */
#ifndef MPIJOB__CONVERT_TO_V2BETA1_H
#define MPIJOB__CONVERT_TO_V2BETA1_H

#include "convert/replicas.h"

/* Functions for `carry` of a row. Remove references to kubexec.sh from the launcher's first
 * container. */
void mpijob__convert_to_v2beta1_launcher(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);
/* Set mpiImplementation according to the launcher's variables. */
void mpijob__convert_to_v2beta1_implementation(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);
/* Move the container that mainContainer names to the front. */
void mpijob__convert_to_v2beta1_main_container(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);
/* Remove the command of a worker, which starts sshd now. */
void mpijob__convert_to_v2beta1_worker_command(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);
void mpijob__convert_to_v2beta1_worker_policy(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);
/* Remove the restartPolicy of a pod template. */
void mpijob__convert_to_v2beta1_strip_restart_policy(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);
/* Report that a user other than root needs spec.sshAuthMountPath. */
void mpijob__convert_to_v2beta1_user(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);

#endif
