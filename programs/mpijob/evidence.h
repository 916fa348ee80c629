/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cluster shows of one job: all that mpijob_diagnose() wants to see, as far as one is
 * allowed to look.
 */
#ifndef MPIJOB_PROGRAM_EVIDENCE_H
#define MPIJOB_PROGRAM_EVIDENCE_H

#include <mpijob/diagnose.h>
#include <mpijob/mpijob.h>

struct seen {
	mpijob *job;
	mpijob_doc *launcher; /* NULL: gone, or not to be had */
	mpijob_doc *pods;     /* NULL: not to be had */
	mpijob_doc *events;   /* NULL: not to be had */
	struct mpijob_log_tail *tails;
	const struct mpijob_log_tail **pointers;
	mpijob_text **texts; /* of the tails */
	size_t tails_count;
	mpijob_text *missing; /* what could not be looked at, and why; a line each */
};

/*
 * Look at a job; the job itself must be there. What else cannot be had is told in `missing`.
 * Returns 0 or a code; free it in either case.
 */
int seen_gather(struct seen *seen, mpijob_client *client, const char *namespace_, const char *name,
    mpijob_diag *diag);

/*
 * Also the last lines of its pods that may tell something; of a job that ended well those of the
 * launcher that did, and the first ones of all workers.
 */
int seen_add_logs(struct seen *seen, mpijob_client *client);

/* Add the last lines of a pod, unless its log is there already. */
int seen_keep_tail(struct seen *seen, const char *pod, const char *text, size_t len);

/* Name the causes. Returns how many, or a negative code. */
int seen_diagnose(const struct seen *seen, int64_t now_ms, mpijob_diag *diag);

void seen_free(struct seen *seen);

/* "launcher" or "worker" of a pod's labels, or what is there; "" when nothing is. */
const char *pod_role(const mpijob_node *pod);

/*
 * Whether a pod is of the job of that uid, made at that time, and not of an earlier one of the same
 * name that is still being cleaned up. NULL: any.
 */
int pod_is_of(const mpijob_node *pod, const char *uid, const char *created);

/* The string at a path, "" without one. */
const char *text_at(const mpijob_node *node, const char *path);
/* The condition of a type in status.conditions, or NULL. Letter case does not matter, as for
 * `kubectl wait`. */
const mpijob_node *condition_of(const mpijob_node *object, const char *type);
/* Whether it has this status: "True", "False" or "Unknown". */
int condition_is(const mpijob_node *object, const char *type, const char *status);

/* Start to stream what a container prints, or printed before its restart. As
 * mpijob_client_start(). */
int pod_log_start(mpijob_client *client, const char *namespace_, const char *pod,
    const char *container, int previous, const struct mpijob_callbacks *callbacks,
    mpijob_call **out);

#endif
