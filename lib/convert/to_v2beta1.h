/* SPDX-License-Identifier: Apache-2.0 */
/* Moves to v2beta1 that v1 and the older versions have in common: all of them start ranks with
 * kubectl exec. */
#ifndef MPIJOB__CONVERT_TO_V2BETA1_H
#define MPIJOB__CONVERT_TO_V2BETA1_H

#include "convert/replicas.h"

/* For `carry` of a row: the launcher's first container without what names kubexec.sh. */
void mpijob__convert_to_v2beta1_launcher(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);
/* mpiImplementation, as the launcher's variables show it. */
void mpijob__convert_to_v2beta1_implementation(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);
/* The container of mainContainer comes first. */
void mpijob__convert_to_v2beta1_main_container(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);
/* A worker starts sshd and no command of its own. */
void mpijob__convert_to_v2beta1_worker_command(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);
void mpijob__convert_to_v2beta1_worker_policy(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);
/* The restartPolicy of a pod template goes. */
void mpijob__convert_to_v2beta1_strip_restart_policy(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);
/* A user other than root needs spec.sshAuthMountPath. */
void mpijob__convert_to_v2beta1_user(struct mpijob__convert_conversion *conversion,
    const struct mpijob__convert_move *move);

#endif
