/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rank.h
 * The rank of a process, before or without MPI_Init(), from the environment variables that its
 * launcher set.
 *
 * Each launcher has its own variables. A program that only needs to know whether it should write
 * the results calls:
 *
 * @code
 * extern char **environ;
 *
 * int writes_results(mpijob_diag *diag)
 * {
 *         struct mpijob_rank rank = MPIJOB_RANK_INIT;
 *         int code = mpijob_rank_read((const char *const *)environ, &rank, diag);
 *
 *         return code < 0 ? code : rank.rank == 0;
 * }
 * @endcode
 *
 * Variables are inherited, so those of several launchers may be set. Variables of MPI, horovodrun,
 * torchrun and deepspeed (in this order) have precedence over those of a batch system (Slurm, Flux,
 * PMIx alone), because mpirun itself may run in a job of that system. If two launchers, or two
 * batch systems, contradict each other, the call fails: torchrun inside mpirun numbers other ranks
 * than mpirun, while deepspeed over MPI numbers the same ones.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_RANK_H
#define MPIJOB_RANK_H

#include <mpijob/base.h>
#include <mpijob/diag.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPIJOB_RANK_NONE    0 /**< No launcher: the process runs alone. */
#define MPIJOB_RANK_OPENMPI 1 /**< Open MPI 4 and 5 (OMPI_COMM_WORLD_RANK). */
/** Hydra of MPICH and Intel MPI, and others with PMI (PMI_RANK, MPI_LOCALRANKID). */
#define MPIJOB_RANK_HYDRA 2
/** MVAPICH 2, 3 and 4 (MV2_COMM_WORLD_RANK, MVP_COMM_WORLD_RANK). */
#define MPIJOB_RANK_MVAPICH 3
#define MPIJOB_RANK_HOROVOD 4 /**< horovodrun with gloo (HOROVOD_RANK). */
#define MPIJOB_RANK_TORCH   5 /**< torchrun and deepspeed (RANK with WORLD_SIZE). */
#define MPIJOB_RANK_SLURM   6 /**< srun (SLURM_PROCID). */
#define MPIJOB_RANK_FLUX    7 /**< flux run (FLUX_TASK_RANK). */
#define MPIJOB_RANK_PMIX    8 /**< PMIx alone (PMIX_RANK); the number of ranks is unknown. */

/** The rank of a process. */
struct mpijob_rank {
	size_t size;        /**< `sizeof` this struct. */
	int32_t rank;       /**< From 0; always known. */
	int32_t world_size; /**< Number of ranks; -1: unknown. */
	int32_t local_rank; /**< From 0, among the ranks of this host; -1: unknown. */
	int32_t local_size; /**< Number of ranks on this host; -1: unknown. */
	int32_t source;     /**< `MPIJOB_RANK_*`: the launcher. */
	/** The variable that holds the rank, a constant; NULL with `MPIJOB_RANK_NONE`. */
	const char *variable;
};
#define MPIJOB_RANK_INIT { sizeof(struct mpijob_rank), 0, 0, 0, 0, 0, NULL }

/**
 * Get the rank of a process from its environment.
 *
 * A variable with an empty value counts as not set.
 *
 * @param environment  strings "NAME=value", terminated by NULL, as `environ`; if a name occurs
 *                     twice, the first one counts; NULL: empty.
 * @param out          not NULL; `size` set; receives the rank.
 * @param diag         findings, or NULL.
 * @return 1; 0 when no launcher set a variable (`out` is then rank 0 of 1); `MPIJOB_ERR_SPEC` (an
 *         invalid value, or two that contradict each other); `MPIJOB_ERR_NOMEM` (for a finding);
 *         `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_UNSUPPORTED` (the size of `out`).
 * @since 0.1
 */
MPIJOB_API int mpijob_rank_read(const char *const *environment, struct mpijob_rank *out,
    mpijob_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_RANK_H */
