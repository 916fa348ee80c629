/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file features.h
 * What an operator can do beyond mpi-operator v0.8.2, each only when it is asked for.
 *
 * All of it is off unless you set it, since a job of today could notice. One table names every
 * feature: the same name is the operator's flag (`--wait-for-hosts=60s`), the command's, a key of
 * the operator's configuration, and behind `libmpijob/` an annotation of an MPIJob. docs/options.md
 * is printed from it. With `reference` in the render options none is on.
 *
 * @code
 * struct mpijob_features features = MPIJOB_FEATURES_INIT;
 * struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
 *
 * features.compact_hosts = 1;
 * mpijob_features_set(&features, "wait-for-hosts", "1m30s", NULL);
 * options.features = &features;
 * @endcode
 */
#ifndef MPIJOB_FEATURES_H
#define MPIJOB_FEATURES_H

#include <mpijob/base.h>
#include <mpijob/diag.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Optional features; 0 is off. docs/options.md describes each one under its name with dashes. */
struct mpijob_features {
	size_t size; /**< `sizeof` this struct. */
	/** 1: the MPIJob goes once its ttlSecondsAfterFinished is over. */
	int32_t ttl_deletes_job;
	int32_t clean_launcher; /**< 1: cleanPodPolicy All deletes the launcher's pods too. */
	/** Failed worker pods are recreated, at most this many times for each job. */
	int32_t replace_workers;
	/** A worker pod that failed starts the job again, at most so many times. */
	int32_t restart_gang;
	/** 1: a job that is refused before it started is Failed until it is corrected. */
	int32_t fail_invalid;
	/** 1: a gang whose launcher waits for its workers does not wait for the launcher. */
	int32_t gang_safe_wait;
	/** Port on which workers have to accept before they are ready. */
	int32_t worker_readiness;
	int32_t ssh_port; /**< Port for sshd and ssh. */
	/** 1: the user's environment variables win over those that are added. */
	int32_t user_variables;
	/** 1: a dnsPolicy that the user chose stays with hostNetwork. */
	int32_t user_dns_policy;
	/** 1: only their owner may read the keys, wherever they are mounted. */
	int32_t private_keys;
	/** Seconds that the launcher's pod waits for the names of all hosts. */
	int32_t wait_for_hosts;
	/** 1: short host names, and a discover_hosts.sh that counts. */
	int32_t compact_hosts;
	int32_t network_policy; /**< 1: only pods of the job reach pods of the job. */
	/** 1: a job fails whose launcher succeeded although it lost a worker pod. */
	int32_t fail_lost_worker;
};
#define MPIJOB_FEATURES_INIT { sizeof(struct mpijob_features), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
	0, 0, 0, 0 }

#define MPIJOB_FEATURE_SWITCH 1 /**< On or off. */
#define MPIJOB_FEATURE_COUNT  2 /**< A whole number. */
/** Seconds; written as "90s", "5m", "1h30m" or a number of seconds. */
#define MPIJOB_FEATURE_DURATION 3

/** One row of the table. All strings are constants of the library. */
struct mpijob_feature {
	size_t size;      /**< `sizeof` this struct of the library. */
	const char *name; /**< "wait-for-hosts". */
	int32_t kind;     /**< `MPIJOB_FEATURE_*`. */
	int32_t minimum;  /**< The least value besides 0. */
	int32_t maximum;  /**< The greatest value. */
	/** Number of the defect of v0.8.2 that it cures (docs/differences.md); 0: none. */
	int32_t defect;
	const char *summary; /**< One sentence: what it does. */
	const char *detail;  /**< What exactly, and what it leaves alone. */
	const char *notice;  /**< By what a job of today could notice that it is on. */
};

/**
 * Count the features.
 *
 * @return how many mpijob_feature_at() can give.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_feature_count(void);

/**
 * Read one row.
 *
 * @param index  from 0.
 * @return a constant; NULL when there is no such row.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_feature *mpijob_feature_at(size_t index);

/**
 * Find a row by its name.
 *
 * @param name  "wait-for-hosts"; not NULL.
 * @return a constant; NULL when there is no such feature.
 * @since 0.1
 */
MPIJOB_API const struct mpijob_feature *mpijob_feature_find(const char *name);

/**
 * Set one feature from text, as flags, files and annotations give it.
 *
 * A switch takes "true" and "false", any other kind a number within its bounds or a duration; "0"
 * and "false" are off for all kinds. Parts of seconds are rounded up.
 *
 * @param features  not NULL; unchanged on failure.
 * @param name      of the feature; not NULL.
 * @param value     NULL: "true".
 * @param diag      findings, or NULL; they say what would be accepted.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such feature); `MPIJOB_ERR_SPEC` (no such value);
 *         `MPIJOB_ERR_UNSUPPORTED` (the struct is of an older version that does not have it);
 *         `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_features_set(struct mpijob_features *features, const char *name,
    const char *value, mpijob_diag *diag);

/**
 * Read one feature.
 *
 * @param features  NULL: all are off.
 * @param name      of the feature; not NULL.
 * @return its value; 0 when it is off, or when there is no such feature.
 * @since 0.1
 */
MPIJOB_API int32_t mpijob_features_get(const struct mpijob_features *features, const char *name);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_FEATURES_H */
