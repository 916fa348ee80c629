/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file launch.h
 * Launch commands: the command that the launcher of a job runs to start the ranks of a program on
 * all hosts.
 *
 * Each MPI has its own options for the same purpose. Here the options are one struct. The result is
 * an argument vector for the launcher's container (`command`), or for execvp() inside it:
 *
 * @code
 * #include <unistd.h>
 *
 * int start(const mpijob *job, mpijob_diag *diag)
 * {
 *         static const char *const program[] = { "python", "train.py" };
 *         static const char *const forwarded[] = { "NCCL_DEBUG", "TRAIN_*" };
 *         struct mpijob_launch_options options = MPIJOB_LAUNCH_OPTIONS_INIT;
 *         mpijob_launch *launch = NULL;
 *
 *         options.env = forwarded;
 *         options.env_count = 2;
 *         int code = mpijob_launch_new(job, program, 2, &options, &launch, diag);
 *         if (code == 0) {
 *                 const char *const *words = mpijob_launch_words(launch);
 *                 execvp(words[0], (char *const *)words);
 *         }
 *         mpijob_launch_free(launch);
 *         return code;
 * }
 * @endcode
 *
 * The hosts come from the hostfile that the operator mounts: mpirun finds it through the variables
 * that the operator sets; horovodrun and deepspeed get its path as an option. By default the number
 * of ranks is the number of slots of the job: those of its workers, and of the launcher if it runs
 * ranks too. mpijob_validate() has no findings about such a command.
 *
 * @par Stability
 * May change in a minor version.
 */
#ifndef MPIJOB_LAUNCH_H
#define MPIJOB_LAUNCH_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/** mpirun of the job's MPI; for Intel MPI mpiexec.hydra, which its mpirun script calls. */
#define MPIJOB_LAUNCH_MPIRUN  1
#define MPIJOB_LAUNCH_MPIEXEC 2 /**< mpiexec of the job's MPI, which takes the same options. */
/** horovodrun; elastic with `elastic`. Without it, only for Open MPI, whose hostfile it can read.
 */
#define MPIJOB_LAUNCH_HOROVODRUN 3
#define MPIJOB_LAUNCH_DEEPSPEED                                          \
	4 /**< deepspeed; only for Open MPI, whose hostfile it can read. \
	   */

/** Options of a launch command; zero means the default of the tool. */
struct mpijob_launch_options {
	size_t size;            /**< `sizeof` this struct. */
	int32_t tool;           /**< `MPIJOB_LAUNCH_*`; 0: mpirun. */
	int32_t np;             /**< Number of ranks; 0: one for each slot of the job. */
	int32_t ranks_per_host; /**< Ranks on each host; 0: the number of its slots. */
	/** Open MPI, also with deepspeed: 1 yes, -1 no; 0: yes, unless the launcher's template sets
	 * a user. No effect for Hydra, gloo and pdsh, which always allow root. horovodrun with
	 * backend "mpi" always allows root; -1 is then `MPIJOB_ERR_UNSUPPORTED`. */
	int32_t allow_run_as_root;
	/** 1: allow more ranks than slots (Open MPI refuses this otherwise). If `map_by` has
	 * qualifiers, add OVERSUBSCRIBE there too: Open MPI 4 and 5 combine them differently. */
	int32_t oversubscribe;
	/** Path of the tool, "/opt/mpi/bin/mpirun"; not empty; NULL: its name. */
	const char *executable;
	/** mpirun, mpiexec: another hostfile than the operator's; NULL: the one that the
	 * environment names. */
	const char *hostfile;
	/** "none", "hwthread", "core", "socket" or "numa"; NULL: the default of the MPI. */
	const char *bind_to;
	/** "slot": fill one host after the other; "node": round-robin over the hosts; for Open MPI
	 * any mapping of letters, digits and ":,=_.-"; NULL: the default of the MPI. */
	const char *map_by;
	/** Environment variables of the ranks: "NAME" and "PREFIX*" (copied from the launcher), or
	 * "NAME=value". */
	const char *const *env;
	size_t env_count; /**< How many. */
	/** Variables that the launcher will have in addition to those of its template, as "NAME" or
	 * "NAME=value". A "PREFIX*" in `env` is expanded to the names in this list and in the
	 * template, because the tools have no option for prefixes. */
	const char *const *known;
	size_t known_count; /**< How many. */
	/** Hydra (Intel MPI, MPICH): 1: the ranks get only `env`; 0: all variables of the launcher.
	 * With Open MPI the ranks always get only `env`. */
	int32_t env_only;
	const char *const *args; /**< Further arguments for the tool, before the program. */
	size_t args_count;       /**< How many. */
	/** horovodrun: 1: the set of hosts may change; discover_hosts.sh prints the current hosts.
	 */
	int32_t elastic;
	/** Elastic: minimum number of ranks; 0: the slots of one host. */
	int32_t min_np;
	int32_t max_np; /**< Elastic: maximum number of ranks; 0: `np`. */
	/** Elastic: seconds to wait for ranks after a change; 0: 600, the default of horovodrun. */
	int32_t elastic_timeout;
	/** horovodrun: seconds within which all ranks must start; 0: 30, the default of horovodrun.
	 */
	int32_t start_timeout;
	int32_t reset_limit; /**< Elastic: maximum number of resets; 0: no limit. */
	/** 1: verbose output (horovodrun --verbose, mpiexec -verbose, mpirun --display-map). */
	int32_t verbose;
	/** horovodrun: "TRACE", "DEBUG", "INFO", "WARNING", "ERROR" or "FATAL". */
	const char *log_level;
	const char *network_interface; /**< horovodrun: the interfaces to use, "eth0,eth1". */
	/** horovodrun: "gloo" or "mpi"; deepspeed: its --launcher, "pdsh" or "openmpi". */
	const char *backend;
};
#define MPIJOB_LAUNCH_OPTIONS_INIT                                                                 \
	{                                                                                          \
		sizeof(struct mpijob_launch_options), 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, \
		    0, NULL, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL                  \
	}

/** A command: an argument vector. */
typedef struct mpijob_launch mpijob_launch;

/**
 * Make the command that starts a program's ranks.
 *
 * An option that the tool does not support is an error; it is never ignored.
 *
 * @param job            not NULL; defaulted and valid; unchanged.
 * @param program        the program and its arguments; not NULL; copied. For deepspeed the first
 *                       word is a Python script, or with "--no_python" in `args` any program.
 * @param program_count  number of words; at least 1.
 * @param options        NULL for the defaults; copied.
 * @param out            not NULL; receives the command, yours.
 * @param diag           findings, or NULL; also warnings, such as a prefix that no known variable
 *                       has.
 * @return 0; `MPIJOB_ERR_SPEC` (the job has no slots: no workers, and its launcher runs no ranks;
 *         or fields have wrong types); `MPIJOB_ERR_UNSUPPORTED` (the tool, or this job's MPI, does
 *         not support an option: the finding says what is supported; options); `MPIJOB_ERR_USAGE`
 *         (NULL, a number that is not a constant or out of range, an empty `executable`, an invalid
 *         variable name or mapping, options); `MPIJOB_ERR_NOMEM`.
 * @since 0.1
 */
MPIJOB_API int mpijob_launch_new(const mpijob *job, const char *const *program,
    size_t program_count, const struct mpijob_launch_options *options, mpijob_launch **out,
    mpijob_diag *diag);

/**
 * Free a command.
 *
 * @param launch  yours, or NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_launch_free(mpijob_launch *launch);

/**
 * Get all words, terminated by NULL, for execvp().
 *
 * @param launch  not NULL.
 * @return borrowed until the command is freed.
 * @since 0.1
 */
MPIJOB_API const char *const *mpijob_launch_words(const mpijob_launch *launch);

/**
 * Return the number of ranks that the command starts.
 *
 * @param launch  not NULL.
 * @return the number of ranks; for an elastic command the initial number.
 * @since 0.1
 */
MPIJOB_API int32_t mpijob_launch_ranks(const mpijob_launch *launch);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_LAUNCH_H */
