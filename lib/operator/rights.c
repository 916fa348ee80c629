/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs on a kind in a namespace that the API server refuses at present.
 *
 * Roles change, quotas are exhausted, kinds are not installed yet: no watch event reports this. It
 * is logged once when it begins and once when it ends, not for each attempt. As soon as one request
 * succeeds again, the other jobs of the namespace that were refused are planned again.
 */
#include "operator/rights.h"

#include "operator/operator.h"

#include <stdlib.h>
#include <string.h>

#define MOST_RIGHTS 256

struct mpijob__operator_right {
	struct mpijob__operator_right *next;
	int32_t verb;
	const char *kind; /* in `namespace_`, after it */
	char namespace_[];
};

static struct mpijob__operator_right **find(mpijob_operator *operator_, const char *namespace_,
    int32_t verb, const char *kind)
{
	struct mpijob__operator_right **at = &operator_->rights.missing;

	while (*at && ((*at)->verb != verb || strcmp((*at)->kind, kind) != 0 ||
			  strcmp((*at)->namespace_, namespace_) != 0))
		at = &(*at)->next;
	return at;
}

static struct mpijob__operator_right *make(const char *namespace_, int32_t verb, const char *kind)
{
	size_t len = strlen(namespace_) + 1, kind_len = strlen(kind) + 1;
	struct mpijob__operator_right *right = calloc(1, sizeof(*right) + len + kind_len);

	if (!right)
		return NULL;
	memcpy(right->namespace_, namespace_, len);
	memcpy(right->namespace_ + len, kind, kind_len);
	right->kind = right->namespace_ + len;
	right->verb = verb;
	return right;
}

int mpijob__operator_rights_missing(mpijob_operator *operator_, const char *namespace_,
    int32_t verb, const char *kind, const char *message)
{
	struct mpijob__operator_right **at = find(operator_, namespace_, verb, kind);

	if (*at || operator_->rights.count >= MOST_RIGHTS)
		return *at != NULL;
	*at = make(namespace_, verb, kind);
	if (!*at)
		return 0;
	operator_->rights.count++;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_WARNING, "rights-missing",
	    "cannot %s %s in namespace %s for now: %s", mpijob__operator_metrics_verb(verb), kind,
	    namespace_, message);
	return 1;
}

static void enqueue_denied(mpijob_operator *operator_, struct mpijob__operator_job *job,
    void *namespace_)
{
	if (job->item.denied && strcmp(job->namespace_, namespace_) == 0)
		mpijob__operator_job_enqueue(operator_, job);
}

void mpijob__operator_rights_granted(mpijob_operator *operator_, const char *namespace_,
    int32_t verb, const char *kind)
{
	struct mpijob__operator_right **at, *right;

	if (!operator_->rights.missing)
		return;
	at = find(operator_, namespace_, verb, kind);
	right = *at;
	if (!right)
		return;
	mpijob__operator_log(operator_, MPIJOB_SEVERITY_INFO, "rights-back",
	    "can %s %s in namespace %s again", mpijob__operator_metrics_verb(verb), kind,
	    namespace_);
	mpijob__operator_jobs_each(operator_, enqueue_denied, right->namespace_);
	*at = right->next;
	operator_->rights.count--;
	free(right);
}

static void forget(mpijob_operator *operator_, const char *namespace_)
{
	struct mpijob__operator_right **at = &operator_->rights.missing;

	while (*at) {
		struct mpijob__operator_right *right = *at;

		if (strcmp(right->namespace_, namespace_) != 0) {
			at = &right->next;
			continue;
		}
		*at = right->next;
		operator_->rights.count--;
		free(right);
	}
}

void mpijob__operator_rights_set_waiting(mpijob_operator *operator_,
    struct mpijob__operator_job *job, int waits)
{
	if (!waits && !job->item.denied)
		return;
	mpijob__operator_queue_set_denied(&operator_->queue, &job->item, waits);
	if (mpijob__operator_queue_share(&operator_->queue, &job->item) == 0)
		forget(operator_, job->namespace_);
}

size_t mpijob__operator_rights_count(const mpijob_operator *operator_, int32_t verb,
    const char *kind)
{
	size_t count = 0;

	for (const struct mpijob__operator_right *right = operator_->rights.missing; right;
	     right = right->next)
		count += right->verb == verb && strcmp(right->kind, kind) == 0;
	return count;
}

void mpijob__operator_rights_release(mpijob_operator *operator_)
{
	while (operator_->rights.missing) {
		struct mpijob__operator_right *right = operator_->rights.missing;

		operator_->rights.missing = right->next;
		free(right);
	}
}
