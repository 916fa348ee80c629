/* SPDX-License-Identifier: Apache-2.0 */
/* What both directions ask of the replicas of a job, and do to them. */
#ifndef MPIJOB__CONVERT_REPLICAS_H
#define MPIJOB__CONVERT_REPLICAS_H

#include "convert/conversion.h"

#define LAUNCHER_PATH   "spec.mpiReplicaSpecs[Launcher]"
#define WORKER_PATH     "spec.mpiReplicaSpecs[Worker]"
#define CONTAINERS      ".template.spec.containers"
#define LAUNCHER_POLICY LAUNCHER_PATH ".restartPolicy"
#define BACKOFF_LIMIT   "spec.runPolicy.backoffLimit"

/* The training operator's rule: a launcher with a limit on a resource whose name holds "gpu" is a
 * worker too. */
int mpijob__convert_replicas_gpu_launcher(const struct mpijob__convert_conversion *conversion);

/* 1 when a string of the command or the arguments of a container holds a word. */
int mpijob__convert_replicas_says(const mpijob_node *container, const char *word);

/* 1 when the map at a path is there as one. */
int mpijob__convert_replicas_has(const struct mpijob__convert_conversion *conversion,
    const char *path);

/* Write a string or number at a key of the map at a path, which is made where it is absent. */
void mpijob__convert_replicas_put_text(struct mpijob__convert_conversion *conversion,
    const char *map, const char *key, const char *text);
void mpijob__convert_replicas_put_number(struct mpijob__convert_conversion *conversion,
    const char *map, const char *key, int64_t number);

/* 1 and the number at a path; else 0. */
int mpijob__convert_replicas_number(const struct mpijob__convert_conversion *conversion,
    const char *path, int64_t *out);

#endif
