/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rank.h
 * Which rank a process is, before or without MPI_Init(): read from the variables that whoever
 * started it has set.
 *
 * Each launcher has its own names. A program that only wants to know whether it should write the
 * results asks here:
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
 * Variables are inherited, so several launchers' may be there at once. Those of MPI, horovodrun,
 * torchrun and deepspeed (the source is the first of these that is there) stand before those of a
 * batch system (Slurm, Flux, PMIx alone), in whose job mpirun itself runs. Two launchers, or two
 * batch systems, that contradict each other are an error, since a guess would be worse: torchrun
 * inside of mpirun counts other ranks than mpirun, deepspeed over MPI the same.
 */
#ifndef MPIJOB_RANK_H
#define MPIJOB_RANK_H

#include <mpijob/base.h>
#include <mpijob/diag.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPIJOB_RANK_NONE    0 /**< Nobody: the process runs alone. */
#define MPIJOB_RANK_OPENMPI 1 /**< Open MPI 4 and 5 (OMPI_COMM_WORLD_RANK). */
/** Hydra of MPICH and Intel MPI, and others with PMI (PMI_RANK, MPI_LOCALRANKID). */
#define MPIJOB_RANK_HYDRA 2
/** MVAPICH 2, 3 and 4 (MV2_COMM_WORLD_RANK, MVP_COMM_WORLD_RANK). */
#define MPIJOB_RANK_MVAPICH 3
#define MPIJOB_RANK_HOROVOD 4 /**< horovodrun with gloo (HOROVOD_RANK). */
#define MPIJOB_RANK_TORCH   5 /**< torchrun and deepspeed (RANK with WORLD_SIZE). */
#define MPIJOB_RANK_SLURM   6 /**< srun (SLURM_PROCID). */
#define MPIJOB_RANK_FLUX    7 /**< flux run (FLUX_TASK_RANK). */
#define MPIJOB_RANK_PMIX    8 /**< PMIx alone (PMIX_RANK); it does not tell how many there are. */

/** Which one of how many. */
struct mpijob_rank {
	size_t size;        /**< `sizeof` this struct. */
	int32_t rank;       /**< From 0; never unknown. */
	int32_t world_size; /**< How many ranks; -1: not told. */
	int32_t local_rank; /**< From 0, among those of this host; -1: not told. */
	int32_t local_size; /**< How many ranks on this host; -1: not told. */
	int32_t source;     /**< `MPIJOB_RANK_*`: who told. */
	/** The variable that `rank` is from, a constant; NULL with `MPIJOB_RANK_NONE`. */
	const char *variable;
};
#define MPIJOB_RANK_INIT { sizeof(struct mpijob_rank), 0, 0, 0, 0, 0, NULL }

/**
 * A question for the value of a variable, as getenv() answers it.
 *
 * @param user  what was given beside the function.
 * @param name  of the variable.
 * @return the value, borrowed until mpijob_rank_lookup() returns; NULL when it is not set.
 */
typedef const char *(*mpijob_lookup_fn)(void *user, const char *name);

/**
 * Find out which rank a process is, from its environment.
 *
 * A variable that is set and empty counts as not set.
 *
 * @param environment  "NAME=value" each, with a NULL behind the last, as `environ`; of equal names
 *                     the first counts; NULL: an empty one.
 * @param out          not NULL; `size` set; filled.
 * @param diag         findings, or NULL.
 * @return 1; 0 when nobody has told (`out` is then rank 0 of 1); `MPIJOB_ERR_SPEC` (a value that
 *         makes no sense, or two that contradict each other); `MPIJOB_ERR_NOMEM` (for a finding);
 *         `MPIJOB_ERR_USAGE`; `MPIJOB_ERR_UNSUPPORTED` (the size of `out`).
 * @since 0.1
 */
MPIJOB_API int mpijob_rank_read(const char *const *environment, struct mpijob_rank *out,
    mpijob_diag *diag);

/**
 * The same, for an environment that is asked variable by variable.
 *
 * @param lookup  as getenv() does; not NULL.
 * @param user    passed to `lookup`.
 * @param out     not NULL; `size` set; filled.
 * @param diag    findings, or NULL.
 * @return as mpijob_rank_read().
 * @since 0.1
 */
MPIJOB_API int mpijob_rank_lookup(mpijob_lookup_fn lookup, void *user, struct mpijob_rank *out,
    mpijob_diag *diag);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_RANK_H */
