/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private functions of rendering for other directories, above all for lib/plan: names and labels of
 * a job's children, and digests that show whether an observed child is equal to the rendered one
 * without rendering it.
 *
 * A digest has 64 bits; 0 means "absent". The order of a map's keys does not matter; nulls and
 * empty maps and lists count as absent; whole numbers are compared by value.
 */
#ifndef MPIJOB_RENDER_RENDER_H
#define MPIJOB_RENDER_RENDER_H

#include <mpijob/render.h>

#define MPIJOB__RENDER_ROLE_LAUNCHER "launcher"
#define MPIJOB__RENDER_ROLE_WORKER   "worker"

#define MPIJOB__RENDER_KEY_HOSTFILE       "hostfile"
#define MPIJOB__RENDER_KEY_DISCOVER_HOSTS "discover_hosts.sh"
#define MPIJOB__RENDER_KEY_SSH_PRIVATE    "ssh-privatekey"
#define MPIJOB__RENDER_KEY_SSH_PUBLIC     "ssh-publickey"

/** @name The subject: the fields of a job that rendering uses
 * @{ */

/** The fields of a job that rendering uses; borrowed from the job, which must not change meanwhile.
 */
struct mpijob__render_subject {
	const char *source; /* name of the job's document for findings; NULL when unknown */
	const char *name;
	const char *namespace_;         /* "default" when the job has none */
	const char *uid;                /* "" when the job has none */
	const struct mpijob_spec *spec; /* defaulted */
	const mpijob_node *annotations; /* metadata.annotations of the job, or NULL */
	/* complete; pointers borrowed; `features` is NULL */
	struct mpijob_render_options options;
	struct mpijob_features features; /* the features; all off with `reference` */
	/* the launcher exists and is not suspended: the gang includes it, even with gang_safe_wait
	 */
	int launcher_runs;
	/* reject a ConfigMap that would be too large when all workers run */
	int all_must_fit;
};

/** * Make the subject of a job. * * @param job      not NULL; defaulted.
 * @param options  NULL for the defaults; may be of an older version.
 * @param out      set on success.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_SPEC` (no name, no launcher, a field of a wrong type); `MPIJOB_ERR_USAGE`,
 *         `MPIJOB_ERR_UNSUPPORTED` (options); `MPIJOB_ERR_NOMEM`.
 */
int mpijob__render_subject_make(const mpijob *job, const struct mpijob_render_options *options,
    struct mpijob__render_subject *out, mpijob_diag *diag);

/* The same, with a check that the job is valid; `MPIJOB_ERR_SPEC` if it is not. */
int mpijob__render_subject_valid(const mpijob *job, const struct mpijob_render_options *options,
    struct mpijob__render_subject *out, mpijob_diag *diag);

/* 0 without a worker spec */
int32_t mpijob__render_subject_workers(const struct mpijob__render_subject *subject);
int32_t mpijob__render_subject_slots(const struct mpijob__render_subject *subject);
/* runLauncherAsWorker */
int mpijob__render_subject_launcher_has_ranks(const struct mpijob__render_subject *subject);
/* short host names */
int mpijob__render_subject_compact(const struct mpijob__render_subject *subject);
/* gang_safe_wait: the gang does not include the launcher, which waits for the workers. */
int mpijob__render_subject_gang_waits(const struct mpijob__render_subject *subject);
#define MPIJOB__RENDER_GANG_NONE    0
#define MPIJOB__RENDER_GANG_VOLCANO 1
#define MPIJOB__RENDER_GANG_PLUGINS 2
int mpijob__render_subject_gang(const struct mpijob__render_subject *subject); /* MPIJOB__GANG_* */

/**
 * Append the name of a child.
 *
 * @param job    name of the job.
 * @param role   `MPIJOB_ROLE_*`.
 * @param index  of a worker, from 0; else ignored.
 * @param text   appended to.
 * @return 0; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE` (role, index).
 */
int mpijob__render_name(const char *job, int32_t role, int32_t index, mpijob_text *text);

/* The roles in the order in which children are listed and created; 0 after the last. */
int32_t mpijob__render_role(size_t index);
#define MPIJOB__RENDER_ROLES 8 /* size of an array by role */

/** apiVersion of a role's kind; `volcano` is used for the PodGroup. NULL for an unknown role. */
const char *mpijob__render_api_version(int32_t role, int volcano);
/** Kind of a role's objects; NULL for an unknown role. */
const char *mpijob__render_kind(int32_t role);

/** @} */
/** @name Digests of wanted and observed children * The two digests of a child are equal if it needs
 * no update. The `observed` functions take parts * of the object as small trees or text. Functions
 * with a result code return 0, `MPIJOB_ERR_NOMEM` or * `MPIJOB_ERR_SPEC` (a template that cannot be
 * rendered).
 * @{ */

/** Service: `spec.selector` and `spec.publishNotReadyAddresses`. `spec` may be NULL. */
uint64_t mpijob__render_observed_service(const mpijob_node *spec);
uint64_t mpijob__render_wanted_service(const struct mpijob__render_subject *subject);

/** Convert a script with ranges (compact_hosts) to the long form; other scripts are unchanged.
 * Returns 0 or `MPIJOB_ERR_NOMEM`. */
int mpijob__render_hosts_expand(mpijob_text *script);
/**
 * ConfigMap: the set of hosts that discover_hosts.sh prints, in any order. The script has the long
 * form. `count` receives their number; may be NULL.
 */
uint64_t mpijob__render_observed_hosts(const char *script, size_t len, int32_t *count);
/**
 * The wanted set of hosts; it contains the launcher if that runs ranks.
 *
 * `running`: one byte for each worker, NULL: all run; workers beyond `running_count` do not run.
 */
int mpijob__render_wanted_hosts(const struct mpijob__render_subject *subject,
    const uint8_t *running, size_t running_count, uint64_t *out, int32_t *count);

/** NetworkPolicy: the fields of `spec` that rendering sets. `spec` may be NULL. */
uint64_t mpijob__render_observed_network_policy(const mpijob_node *spec);
int mpijob__render_wanted_network_policy(const struct mpijob__render_subject *subject,
    uint64_t *out);

/**
 * PodGroup: `spec` without fields that the server may set. Compare with
 * mpijob__render_pod_group_same(), which ignores a queue that the scheduler may have set.
 */
uint64_t mpijob__render_observed_pod_group(const mpijob_node *spec);
int mpijob__render_wanted_pod_group(const struct mpijob__render_subject *subject, uint64_t *out,
    mpijob_diag *diag);
int mpijob__render_pod_group_same(uint64_t wanted, uint64_t observed);

/**
 * Launcher Job: the fields of its pod template that may change before it starts (KEP-2926): labels
 * without those of the Job controller, annotations, nodeSelector, tolerations, schedulingGates.
 * `pod_template` is `spec.template`.
 */
uint64_t mpijob__render_observed_directives(const mpijob_node *pod_template);
int mpijob__render_wanted_directives(const struct mpijob__render_subject *subject, uint64_t *out,
    mpijob_diag *diag);

/** @} */

/** @name Children of a subject * As mpijob_render(), for callers that have a subject: nothing is
 * copied, checked or made twice.
 * @{ */

/**
 * Make the objects without any child.
 *
 * @param subject  not NULL, of a valid job; what it borrows must live as long as the objects.
 * @param out      not NULL; receives the objects, to be freed with mpijob_objects_free().
 * @return 0; `MPIJOB_ERR_NOMEM`.
 */
int mpijob__render_objects_new(const struct mpijob__render_subject *subject, mpijob_objects **out);

/**
 * Make all children that were not made yet. If one fails, the others are made too, to report all
 * findings.
 *
 * @param diag  findings, or NULL.
 * @return 0; `MPIJOB_ERR_SPEC`; `MPIJOB_ERR_NOMEM`.
 */
int mpijob__render_objects_make(mpijob_objects *objects, mpijob_diag *diag);

/**
 * Get the child of a role, for workers that of index 0: borrowed; made if necessary.
 *
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such child); `MPIJOB_ERR_SPEC`; `MPIJOB_ERR_NOMEM`.
 */
int mpijob__render_objects_child(mpijob_objects *objects, int32_t role, const mpijob_doc **out);

/* Write a child as compact JSON, made if necessary. Returns as above, or what the sink returned. */
int mpijob__render_objects_write_child(mpijob_objects *objects, int32_t role, int32_t worker,
    mpijob_write_fn write, void *user);

/*
 * Write the Secret with a new key as compact JSON; the child itself is not made. Returns 0;
 * MPIJOB_ERR_USAGE (too little entropy); MPIJOB_ERR_UNSUPPORTED; MPIJOB_ERR_NOMEM; what the sink
 * returned.
 */
int mpijob__render_objects_write_secret(const mpijob_objects *objects, const uint8_t *entropy,
    size_t entropy_len, mpijob_write_fn write, void *user);

/** @} */

#endif /* MPIJOB_RENDER_RENDER_H */
