/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file launch.h
 * Launch commands: what the launcher of a job has to run so that a program's ranks start on all
 * hosts.
 *
 * Each MPI spells the same wish in its own way. Here it is a struct, and what comes out is the
 * vector of words for the launcher's container (`command`), or for execvp() inside it:
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
 *         if (code == 0)
 *                 execvp(mpijob_launch_at(launch, 0), (char *const *)mpijob_launch_words(launch));
 *         mpijob_launch_free(launch);
 *         return code;
 * }
 * @endcode
 *
 * The hosts are those of the hostfile that the operator mounts: mpirun finds it by the variables
 * that the operator sets, horovodrun and deepspeed are told where it is. As many ranks are asked
 * for as the job has slots: those of its workers, and of the launcher when it is a worker too. So
 * mpijob_validate() has nothing to say about such a command.
 */
#ifndef MPIJOB_LAUNCH_H
#define MPIJOB_LAUNCH_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/** mpirun of the job's MPI; of Intel MPI mpiexec.hydra, to which mpirun is a script. */
#define MPIJOB_LAUNCH_MPIRUN  1
#define MPIJOB_LAUNCH_MPIEXEC 2 /**< mpiexec of the job's MPI, which takes the same options. */
/** horovodrun; elastic with `elastic`. Static it reads only Open MPI's hostfile. */
#define MPIJOB_LAUNCH_HOROVODRUN 3
#define MPIJOB_LAUNCH_DEEPSPEED  4 /**< deepspeed; it reads only Open MPI's hostfile. */

/** What is wanted; whatever is zero is as the tool has it. */
struct mpijob_launch_options {
	size_t size;            /**< `sizeof` this struct. */
	int32_t tool;           /**< `MPIJOB_LAUNCH_*`; 0: mpirun. */
	int32_t np;             /**< Ranks; 0: one for each slot of the job. */
	int32_t ranks_per_host; /**< Ranks on each host; 0: as many as it has slots. */
	/** Open MPI, deepspeed's too: 1 yes, -1 no; 0: unless the launcher's template names a user.
	 * Of no effect where root is never refused: Hydra, gloo, pdsh. horovodrun with backend
	 * "mpi" always says yes, and -1 is refused. */
	int32_t allow_run_as_root;
	/** 1: more ranks than slots may be started (Open MPI refuses it otherwise). With qualifiers
	 * in `map_by` write OVERSUBSCRIBE there too: Open MPI 4 and 5 join them differently. */
	int32_t oversubscribe;
	/** What is run in place of the tool's name, "/opt/mpi/bin/mpirun"; not empty; NULL: the
	 * name. */
	const char *executable;
	/** mpirun, mpiexec: a hostfile other than the operator's; NULL: what the environment
	 * says. */
	const char *hostfile;
	/** "none", "hwthread", "core", "socket" or "numa"; NULL: the MPI's own default. */
	const char *bind_to;
	/** "slot": fill one host after the other; "node": one rank each in turn; for Open MPI
	 * anything that it knows, of letters, digits and ":,=_.-"; NULL: the MPI's own default. */
	const char *map_by;
	/** Variables that the ranks get: "NAME" and "PREFIX*" (as the launcher has them), or
	 * "NAME=value". */
	const char *const *env;
	size_t env_count; /**< How many. */
	/** Names of variables that the launcher will have besides those in its template, as "NAME"
	 * or "NAME=value"; a prefix stands for those names, here and in the template, that begin
	 * with it, since no tool knows prefixes. */
	const char *const *known;
	size_t known_count; /**< How many. */
	/** Hydra (Intel MPI, MPICH): 1: only `env` goes to the ranks; 0: everything the launcher
	 * has, and so `env` too. Open MPI never sends anything else. */
	int32_t env_only;
	const char *const *args; /**< More words for the tool, before the program. */
	size_t args_count;       /**< How many. */
	/** horovodrun: 1: hosts may come and go; discover_hosts.sh tells which there are. */
	int32_t elastic;
	/** Elastic: fewest ranks to go on with; 0: the slots of one host. */
	int32_t min_np;
	int32_t max_np; /**< Elastic: most ranks; 0: `np`. */
	/** Elastic: seconds to wait for ranks after a change; 0: 600 as horovodrun. */
	int32_t elastic_timeout;
	/** horovodrun: seconds until all ranks must have started; 0: 30 as horovodrun. */
	int32_t start_timeout;
	int32_t reset_limit; /**< Elastic: changes after which it gives up; 0: none. */
	/** 1: the tool tells more (horovodrun --verbose, mpiexec -verbose, mpirun
	 * --display-map). */
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

/** A command, as words. */
typedef struct mpijob_launch mpijob_launch;

/**
 * Make the command that starts a program's ranks.
 *
 * A wish that the tool cannot be told is refused, never dropped.
 *
 * @param job            not NULL; defaulted and valid; only read.
 * @param program        the program and its arguments; not NULL; copied. deepspeed wants a Python
 *                       script first, or with "--no_python" in `args` any program.
 * @param program_count  how many words; at least 1.
 * @param options        NULL for the defaults; copied.
 * @param out            not NULL; the command, yours.
 * @param diag           findings, or NULL; warnings too: a prefix that no known variable has.
 * @return 0; `MPIJOB_ERR_SPEC` (the job has no workers and no launcher that works, or fields of
 *         wrong types); `MPIJOB_ERR_UNSUPPORTED` (the tool, or this job's MPI, cannot do it: the
 *         finding says what it can; options); `MPIJOB_ERR_USAGE` (NULL, a number that is no
 *         constant or is out of its range, an empty `executable`, a word that is no variable's name
 *         or no mapping, options); `MPIJOB_ERR_NOMEM`.
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
 * Count the words of a command.
 *
 * @param launch  not NULL.
 * @return how many mpijob_launch_at() can give.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_launch_count(const mpijob_launch *launch);

/**
 * Read one word.
 *
 * @param launch  not NULL.
 * @param index   from 0.
 * @return borrowed until the command is freed; NULL when there is no such word.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_launch_at(const mpijob_launch *launch, size_t index);

/**
 * Get all words, with a NULL behind the last, as execvp() takes them.
 *
 * @param launch  not NULL.
 * @return borrowed until the command is freed.
 * @since 0.1
 */
MPIJOB_API const char *const *mpijob_launch_words(const mpijob_launch *launch);

/**
 * Tell how many ranks the command asks for.
 *
 * @param launch  not NULL.
 * @return the number; of an elastic one that with which it starts.
 * @since 0.1
 */
MPIJOB_API int32_t mpijob_launch_ranks(const mpijob_launch *launch);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_LAUNCH_H */
