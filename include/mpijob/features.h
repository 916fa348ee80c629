/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file features.h
 * Optional features that mpi-operator v0.8.2 does not have.
 *
 * All features are off by default, because they could change the behaviour of existing jobs. One
 * table describes them. The name of a feature is the flag of the operator (`--wait-for-hosts=60s`)
 * and of the command, the key in the operator's configuration, and after the prefix `libmpijob/`
 * the annotation of an MPIJob. docs/options.md is printed from the table. With `reference` in the
 * render options all features are off.
 *
 * @code
 * struct mpijob_features features = MPIJOB_FEATURES_INIT;
 * struct mpijob_render_options options = MPIJOB_RENDER_OPTIONS_INIT;
 *
 * features.compact_hosts = 1;
 * mpijob_features_set(&features, "wait-for-hosts", "1m30s", NULL);
 * options.features = &features;
 * @endcode
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_FEATURES_H
#define MPIJOB_FEATURES_H

#include <mpijob/base.h>
#include <mpijob/diag.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Values of the features; 0 is off. docs/options.md describes each feature under its name with
 * dashes. */
struct mpijob_features {
	size_t size; /**< `sizeof` this struct. */
	/** 1: the MPIJob is deleted when its ttlSecondsAfterFinished is over. */
	int32_t ttl_deletes_job;
	int32_t clean_launcher; /**< 1: cleanPodPolicy All deletes the launcher's pods too. */
	/** How many failed worker pods are recreated for one job. */
	int32_t replace_workers;
	/** How often a failed worker pod restarts the job. */
	int32_t restart_gang;
	/** 1: an invalid job that has not started becomes Failed until it is corrected. */
	int32_t fail_invalid;
	/** 1: if the launcher is created after the workers are ready, the gang does not include the
	 * launcher. */
	int32_t gang_safe_wait;
	/** Port on which a worker must accept connections to become ready. */
	int32_t worker_readiness;
	int32_t ssh_port; /**< Port of sshd and ssh. */
	/** 1: environment variables of the user take precedence over those of the operator. */
	int32_t user_variables;
	/** 1: a dnsPolicy of the user is kept with hostNetwork. */
	int32_t user_dns_policy;
	/** 1: only the owner can read the SSH keys, wherever they are mounted. */
	int32_t private_keys;
	/** Seconds that the launcher pod waits until the names of all hosts resolve. */
	int32_t wait_for_hosts;
	/** 1: short host names, and a discover_hosts.sh that generates the names with a counter. */
	int32_t compact_hosts;
	int32_t network_policy; /**< 1: only pods of the job can connect to its pods. */
	/** 1: a job whose launcher succeeded fails if it lost a worker pod. */
	int32_t fail_lost_worker;
	int32_t reserved; /**< 0; fills the struct. */
};
#define MPIJOB_FEATURES_INIT { sizeof(struct mpijob_features), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
	0, 0, 0, 0, 0 }

#define MPIJOB_FEATURE_SWITCH 1 /**< On or off. */
#define MPIJOB_FEATURE_COUNT  2 /**< A whole number. */
/** Seconds; written as "90s", "5m", "1h30m" or a number of seconds. */
#define MPIJOB_FEATURE_DURATION 3

/** One row of the table. All strings are constants. */
struct mpijob_feature {
	size_t size;      /**< `sizeof` this struct of the library. */
	const char *name; /**< "wait-for-hosts". */
	int32_t kind;     /**< `MPIJOB_FEATURE_*`. */
	int32_t minimum;  /**< The smallest value besides 0. */
	int32_t maximum;  /**< The greatest value. */
	/** Number of the defect of v0.8.2 that it fixes (docs/differences.md); 0: none. */
	int32_t defect;
	/** One sentence: what the feature does. docs/options.md has details. */
	const char *summary;
};

/**
 * Read one row.
 *
 * @param index  from 0.
 * @return a constant; NULL after the last row.
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
 * Set one feature from text, for example from a flag, a file or an annotation.
 *
 * A switch accepts "true" and "false", a count a number within its bounds, a duration "90s", "5m"
 * or seconds, rounded up to whole seconds. "0" and "false" turn features of all kinds off.
 *
 * @param features  not NULL; unchanged on failure.
 * @param name      name of the feature; not NULL.
 * @param value     NULL: "true".
 * @param diag      findings, or NULL; they say which values are accepted.
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such feature); `MPIJOB_ERR_SPEC` (an invalid value);
 *         `MPIJOB_ERR_UNSUPPORTED` (the struct is of an older version without this feature);
 *         `MPIJOB_ERR_USAGE`.
 * @since 0.1
 */
MPIJOB_API int mpijob_features_set(struct mpijob_features *features, const char *name,
    const char *value, mpijob_diag *diag);

/**
 * Read one feature.
 *
 * @param features  NULL: all features are off.
 * @param name      name of the feature; not NULL.
 * @return its value; 0 if it is off or does not exist.
 * @since 0.1
 */
MPIJOB_API int32_t mpijob_features_get(const struct mpijob_features *features, const char *name);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_FEATURES_H */
