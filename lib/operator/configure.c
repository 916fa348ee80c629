/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies the configuration to jobs: each is planned with its effective values, and an Event
 * reports once which of its values a limit changed.
 *
 * Without a configuration, and without annotations that need one, jobs are planned unchanged.
 */
#include "operator/configure.h"

#include "base/api.h"
#include "base/digest.h"
#include "operator/operator.h"

#include <string.h>

#define PREFIX "libmpijob/"

void mpijob__operator_configure_forget_findings(struct mpijob__operator_job *job)
{
	mpijob_diag_free(job->cache.findings);
	job->cache.findings = NULL;
}

static void forget_one(mpijob_operator *operator_, struct mpijob__operator_job *job, void *unused)
{
	(void)operator_;
	(void)unused;
	mpijob__operator_configure_forget_findings(job);
}

static void plan_again(mpijob_operator *operator_, struct mpijob__operator_job *job, void *unused)
{
	(void)unused;
	if (job->reconcile.plan)
		mpijob__operator_reconcile_set_state(job, MPIJOB__OPERATOR_PLAN_STALE);
	mpijob__operator_configure_forget_findings(job);
	mpijob__operator_job_enqueue(operator_, job);
}

int mpijob_operator_configure(mpijob_operator *operator_, const mpijob_operator_config *config)
{
	mpijob_operator_config *copy = NULL;

	if (!operator_)
		return MPIJOB_ERR_USAGE;
	if (config) {
		copy = mpijob_operator_config_clone(config);
		if (!copy)
			return MPIJOB_ERR_NOMEM;
	}
	mpijob_operator_config_free(operator_->options.config);
	operator_->options.config = copy;
	mpijob__operator_jobs_each(operator_,
	    mpijob__operator_is_leading(operator_) || operator_->shadow.on ? plan_again
									   : forget_one,
	    NULL);
	return 0;
}

/* 1 when the job has annotations that only a configuration can allow. */
static int has_annotations(const mpijob *parsed)
{
	const mpijob_node *map =
	    mpijob_node_find(mpijob_doc_root(mpijob_document(parsed)), "metadata.annotations");

	for (size_t i = 0; i < mpijob_node_count(map); i++) {
		const char *key = mpijob_node_key(map, i);

		if (key && strncmp(key, PREFIX, strlen(PREFIX)) == 0)
			return 1;
	}
	return 0;
}

/* ---- Events ---- */

/* Values that the job sets and a limit changed. Changed defaults are not reported. */
static int put_limits(const mpijob *parsed, const mpijob_effective *effective, mpijob_text *out)
{
	const struct mpijob_effective_value *value;
	int rc = 0;

	for (size_t i = 0; rc == 0 && (value = mpijob_effective_at(effective, i)) != NULL; i++)
		if (value->wanted && !value->refused &&
		    mpijob_node_find(mpijob_doc_root(mpijob_document(parsed)), value->field))
			rc = mpijob__base_text_printf(out,
			    "%s%s is %s, not %s: a limit of this operator's configuration",
			    out->len ? "; " : "", value->field, value->value, value->wanted);
	return rc;
}

static int put_warnings(const mpijob_diag *diag, mpijob_text *out)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && mpijob_diag_at(diag, i); i++)
		rc = mpijob__base_text_printf(out, "%s%s", out->len ? "; " : "",
		    mpijob_diag_at(diag, i)->message);
	return rc;
}

static int is_new(struct mpijob__operator_job *job, const mpijob_text *limits,
    const mpijob_text *warnings)
{
	uint64_t digest = mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START,
	    mpijob_text_data(limits), limits->len);
	uint64_t before = job->cache.reported_digest;

	digest = mpijob__base_digest_add(digest, mpijob_text_data(warnings), warnings->len);
	job->cache.reported_digest = digest;
	/* If the job had a status before it was observed, the previous operator has reported. */
	return (limits->len || warnings->len) && digest != before &&
	       (before || !mpijob__operator_job_has_status(job));
}

static int report(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const mpijob_effective *effective, const mpijob_diag *diag)
{
	mpijob_text limits = { 0 }, warnings = { 0 };
	int rc = put_limits(job->cache.mpijob, effective, &limits);

	if (rc == 0)
		rc = put_warnings(diag, &warnings);
	if (rc == 0 && is_new(job, &limits, &warnings)) {
		if (limits.len)
			mpijob__operator_events_emit(operator_, job, "Normal", "LimitApplied",
			    mpijob_text_data(&limits));
		if (warnings.len)
			mpijob__operator_events_emit(operator_, job, "Warning", "AnnotationIgnored",
			    mpijob_text_data(&warnings));
	}
	mpijob__base_text_release(&limits);
	mpijob__base_text_release(&warnings);
	return rc;
}

/* ---- planning ---- */

/* Validate a job with defaults, as a plan does. If a default is rejected, each plan rejects it. */
static int validate(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const mpijob *parsed)
{
	struct mpijob_default_options defaults = { .size = sizeof(defaults),
		.reference = operator_->options.render.reference };
	struct mpijob_validate_options options = { .size = sizeof(options),
		.reference = operator_->options.render.reference };
	mpijob *copy = mpijob_clone(parsed);
	mpijob_diag *findings = mpijob_diag_new();
	int rc = copy && findings ? mpijob_default(copy, &defaults, NULL) : MPIJOB_ERR_NOMEM;

	if (rc == 0)
		rc = mpijob_validate(copy, &options, findings);
	mpijob_free(copy);
	if (rc == MPIJOB_ERR_NOMEM) {
		mpijob_diag_free(findings);
		return rc;
	}
	job->cache.findings = findings;
	operator_->cache.validations++;
	return 0;
}

int mpijob__operator_configure_validate(mpijob_operator *operator_,
    struct mpijob__operator_job *job)
{
	mpijob_effective *effective = NULL;
	int rc;

	if (job->cache.findings)
		return 0;
	if (!operator_->options.config && !has_annotations(job->cache.mpijob))
		return validate(operator_, job, job->cache.mpijob);
	rc = mpijob_effective_new(operator_->options.config, job->cache.mpijob,
	    operator_->options.render.features, &effective, NULL);
	if (rc == 0)
		rc = validate(operator_, job, mpijob_effective_job(effective));
	mpijob_effective_free(effective);
	return rc;
}

/* A plan that rejects the job begins with an Event that reports it. */
static void note_refusal(mpijob_operator *operator_, struct mpijob__operator_job *job,
    const mpijob_plan *plan)
{
	const struct mpijob_action *action = mpijob_plan_at(plan, 0);
	int refused = action && action->event_reason &&
		      strcmp(action->event_reason, MPIJOB__BASE_API_REASON_INVALID) == 0;

	if (refused && job->cache.state != MPIJOB__OPERATOR_JOB_REFUSED)
		operator_->metrics.skipped[mpijob__operator_metrics_kind(MPIJOB__BASE_API_KIND)]++;
	job->cache.state = refused ? MPIJOB__OPERATOR_JOB_REFUSED : MPIJOB__OPERATOR_JOB_PARSED;
}

static int plan_configured(mpijob_operator *operator_, struct mpijob__operator_job *job,
    struct mpijob_plan_options *options, mpijob_plan **out)
{
	struct mpijob_render_options render = operator_->options.render;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_effective *effective = NULL;
	int rc = MPIJOB_ERR_NOMEM;

	if (diag)
		rc = mpijob_effective_new(operator_->options.config, job->cache.mpijob,
		    render.features, &effective, diag);
	if (rc == 0) {
		render.features = mpijob_effective_features(effective);
		options->render = &render;
		options->max_workers = mpijob_effective_max_workers(effective);
		rc = mpijob_plan_new(mpijob_effective_job(effective), job->cache.facts, options,
		    out, NULL);
	}
	/* A plan without actions has no Events. */
	if (rc == 0 && !operator_->shadow.on && mpijob_plan_at(*out, 0)) {
		rc = report(operator_, job, effective, diag);
		if (rc) {
			mpijob_plan_free(*out);
			*out = NULL;
		}
	}
	mpijob_effective_free(effective);
	mpijob_diag_free(diag);
	return rc;
}

int mpijob__operator_configure_plan(mpijob_operator *operator_, struct mpijob__operator_job *job,
    struct mpijob_plan_options *options, mpijob_plan **out)
{
	int rc;

	rc = mpijob__operator_configure_validate(operator_, job);
	if (rc)
		return rc;
	options->validated = job->cache.findings;
	options->render = &operator_->options.render;
	if (operator_->options.config || has_annotations(job->cache.mpijob))
		rc = plan_configured(operator_, job, options, out);
	else
		rc = mpijob_plan_new(job->cache.mpijob, job->cache.facts, options, out, NULL);
	if (rc == 0)
		note_refusal(operator_, job, *out);
	return rc;
}
