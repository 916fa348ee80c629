/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_RANK_H
#define MPIJOB_RANK_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#ifdef __cplusplus
extern "C" {
#endif
#define MPIJOB_RANK_NONE 0
#define MPIJOB_RANK_OPENMPI 1
#define MPIJOB_RANK_HYDRA 2
#define MPIJOB_RANK_MVAPICH 3
#define MPIJOB_RANK_HOROVOD 4
#define MPIJOB_RANK_TORCH 5
#define MPIJOB_RANK_SLURM 6
#define MPIJOB_RANK_FLUX 7
#define MPIJOB_RANK_PMIX 8
struct mpijob_rank {
	size_t size;
	int32_t rank;
	int32_t world_size;
	int32_t local_rank;
	int32_t local_size;
	int32_t source;
	const char *variable;
};
#define MPIJOB_RANK_INIT { sizeof(struct mpijob_rank), 0, 0, 0, 0, 0, NULL }
MPIJOB_API int mpijob_rank_read(const char *const *environment, struct mpijob_rank *out, mpijob_diag *diag);
#ifdef __cplusplus
}
#endif
#endif
