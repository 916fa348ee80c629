/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on the replicas of a job for both directions. */
#ifndef MPIJOB__CONVERT_REPLICAS_H
#define MPIJOB__CONVERT_REPLICAS_H

#include "convert/conversion.h"

#define LAUNCHER_PATH   "spec.mpiReplicaSpecs[Launcher]"
#define WORKER_PATH     "spec.mpiReplicaSpecs[Worker]"
#define CONTAINERS      ".template.spec.containers"
#define LAUNCHER_POLICY LAUNCHER_PATH ".restartPolicy"
#define BACKOFF_LIMIT   "spec.runPolicy.backoffLimit"

/* Whether the launcher runs ranks according to the training operator: if it has a limit on a
 * resource whose name contains "gpu". */
int mpijob__convert_replicas_gpu_launcher(const struct mpijob__convert_conversion *conversion);

/* Whether a string in the command or args of a container contains a word. */
int mpijob__convert_replicas_has_word(const mpijob_node *container, const char *word);

/* Whether the value at a path is a map. */
int mpijob__convert_replicas_has(const struct mpijob__convert_conversion *conversion,
    const char *path);

/* Put a string or number into the map at a path, which is created if it is absent. */
void mpijob__convert_replicas_put_text(struct mpijob__convert_conversion *conversion,
    const char *map, const char *key, const char *text);
void mpijob__convert_replicas_put_number(struct mpijob__convert_conversion *conversion,
    const char *map, const char *key, int64_t number);

/* Get the number at a path. Returns 1, or 0. */
int mpijob__convert_replicas_number(const struct mpijob__convert_conversion *conversion,
    const char *path, int64_t *out);

#endif
