/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rooms above rendering (plan, above all) may know of it besides <mpijob/render.h>: the
 * names and labels of a job's children, and digests that tell whether a child that was observed is
 * still as it would be rendered, without any text or tree being made for the answer.
 *
 * A digest is 64 bits; 0 never occurs for something that exists, so that 0 can stand for "absent".
 * Maps are digested without regard to the order of their keys; nulls and empty maps and lists count
 * as absent; whole numbers by value.
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

/** @name A job as the children see it
 * @{ */

/** A job, taken apart once; all borrowed from the job, which must not change meanwhile. */
struct mpijob__render_subject {
	const char *source; /* of the job's document, for findings; NULL when none */
	const char *name;
	const char *namespace_;         /* "default" when the job has none */
	const char *uid;                /* "" when the job has none */
	const struct mpijob_spec *spec; /* defaulted */
	const mpijob_node *annotations; /* metadata.annotations of the job, or NULL */
	/* complete; pointers borrowed; its features are those below */
	struct mpijob_render_options options;
	struct mpijob_features features; /* what is on; nothing with `reference` */
	/* it is there and not suspended: a gang has to count it, even with gang_safe_wait */
	int launcher_runs;
	/* refuse a ConfigMap that is small enough only while not all workers run */
	int all_must_fit;
};

/**
 * Take a job apart.
 *
 * @param job      not NULL; defaulted.
 * @param options  NULL for the defaults; may be of an older size.
 * @param out      filled on success.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_SPEC` (no name, no launcher, a field of a wrong type); `MPIJOB_ERR_USAGE`,
 *         `MPIJOB_ERR_UNSUPPORTED` (options); `MPIJOB_ERR_NOMEM`.
 */
int mpijob__render_subject_make(const mpijob *job, const struct mpijob_render_options *options,
    struct mpijob__render_subject *out, mpijob_diag *diag);

/* The same after a check that the job is valid: `MPIJOB_ERR_SPEC` also when it is not. */
int mpijob__render_subject_valid(const mpijob *job, const struct mpijob_render_options *options,
    struct mpijob__render_subject *out, mpijob_diag *diag);

/* 0 without a worker spec */
int32_t mpijob__render_subject_workers(const struct mpijob__render_subject *subject);
int32_t mpijob__render_subject_slots(const struct mpijob__render_subject *subject);
/* runLauncherAsWorker */
int mpijob__render_subject_launcher_has_ranks(const struct mpijob__render_subject *subject);
/* short host names */
int mpijob__render_subject_compact(const struct mpijob__render_subject *subject);
/* gang_safe_wait: the gang is complete without the launcher, which waits for the others. */
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

/* The roles in the order in which children are listed and made; 0 behind the last. */
int32_t mpijob__render_role(size_t index);
#define MPIJOB__RENDER_ROLES 8 /* size of an array by role */

/** apiVersion of a role's kind; `volcano` only counts for the PodGroup. NULL for no role. */
const char *mpijob__render_api_version(int32_t role, int volcano);
/** Kind of a role's objects; NULL for no role. */
const char *mpijob__render_kind(int32_t role);

/** @} */
/** @name What is wanted, and what was observed
 * For each child the two digests are equal exactly when there is nothing to update. The `observed`
 * functions take parts of the object's JSON as small trees, or as text. Those that return int give
 * 0, `MPIJOB_ERR_NOMEM` or `MPIJOB_ERR_SPEC` (a template that cannot be rendered).
 * @{ */

/** Service: `spec.selector` and `spec.publishNotReadyAddresses`. `spec` may be NULL. */
uint64_t mpijob__render_observed_service(const mpijob_node *spec);
uint64_t mpijob__render_wanted_service(const struct mpijob__render_subject *subject);

/** Write out what a script says in ranges (compact_hosts); others stay. Returns 0 or
 * `MPIJOB_ERR_NOMEM`. */
int mpijob__render_hosts_unfold(mpijob_text *script);
/**
 * ConfigMap: the set of hosts that discover_hosts.sh prints, order left aside. The script is one
 * that was unfolded. `count`: how many; may be NULL.
 */
uint64_t mpijob__render_observed_hosts(const char *script, size_t len, int32_t *count);
/**
 * The same set wanted; the launcher is in it when it works too.
 *
 * `running`: one byte a worker, NULL for all of them; workers beyond `running_count` do not run.
 */
int mpijob__render_wanted_hosts(const struct mpijob__render_subject *subject,
    const uint8_t *running, size_t running_count, uint64_t *out, int32_t *count);

/** NetworkPolicy: the parts of `spec` that we write. `spec` may be NULL. */
uint64_t mpijob__render_observed_network_policy(const mpijob_node *spec);
int mpijob__render_wanted_network_policy(const struct mpijob__render_subject *subject,
    uint64_t *out);

/**
 * PodGroup: `spec` without what the server may fill in. Compare with
 * mpijob__render_pod_group_same(): a queue that we do not ask for may have been given by the
 * scheduler and is left alone.
 */
uint64_t mpijob__render_observed_pod_group(const mpijob_node *spec);
int mpijob__render_wanted_pod_group(const struct mpijob__render_subject *subject, uint64_t *out,
    mpijob_diag *diag);
int mpijob__render_pod_group_same(uint64_t wanted, uint64_t observed);

/**
 * Launcher Job: what may change in its pod template before it starts (KEP-2926): labels without
 * those that the Job controller adds, annotations, nodeSelector, tolerations, schedulingGates.
 * `pod_template` is `spec.template`.
 */
uint64_t mpijob__render_observed_directives(const mpijob_node *pod_template);
int mpijob__render_wanted_directives(const struct mpijob__render_subject *subject, uint64_t *out,
    mpijob_diag *diag);

/** @} */

/** @name Children of a job that was taken apart
 * What mpijob_render() gives, for whoever has a subject already: nothing is copied, checked or made
 * twice.
 * @{ */

/**
 * Begin with no child made.
 *
 * @param subject  not NULL, of a valid job; what it borrows lives as long as the objects.
 * @param out      not NULL; yours, for mpijob_objects_free().
 * @return 0; `MPIJOB_ERR_NOMEM`.
 */
int mpijob__render_objects_new(const struct mpijob__render_subject *subject, mpijob_objects **out);

/**
 * Make all children that were not made yet, also after one was refused, so that all findings come
 * at once.
 *
 * @param diag  findings, or NULL.
 * @return 0; `MPIJOB_ERR_SPEC`; `MPIJOB_ERR_NOMEM`.
 */
int mpijob__render_objects_make(mpijob_objects *objects, mpijob_diag *diag);

/**
 * Get a role's child, the worker of index 0: borrowed; made if need be.
 *
 * @return 0; `MPIJOB_ERR_NOT_FOUND` (no such child); `MPIJOB_ERR_SPEC`; `MPIJOB_ERR_NOMEM`.
 */
int mpijob__render_objects_child(mpijob_objects *objects, int32_t role, const mpijob_doc **out);

/* Write a child as compact JSON, made if need be. As above, and what the sink returned. */
int mpijob__render_objects_send(mpijob_objects *objects, int32_t role, int32_t worker,
    mpijob_write_fn write, void *user);

/*
 * Write the Secret with a key of its own as compact JSON; it needs not be made. 0; MPIJOB_ERR_USAGE
 * (too little entropy); MPIJOB_ERR_UNSUPPORTED; MPIJOB_ERR_NOMEM; what the sink returned.
 */
int mpijob__render_objects_send_secret(const mpijob_objects *objects, const uint8_t *entropy,
    size_t entropy_len, mpijob_write_fn write, void *user);

/** @} */

#endif /* MPIJOB_RENDER_RENDER_H */
