/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a configuration meets the jobs: each is planned as mpijob_effective_new() says, its people
 * are told once what of their wishes does not count, and one that must not begin is known as set
 * aside.
 *
 * Without a configuration, and without annotations that would need one, a plan is made as if there
 * were none of this.
 */
#include "operator/operator.h"

#include "base/digest.h"
#include "job/job.h"

#include <string.h>

#define PREFIX "libmpijob/"

void mpijob__operator_configure_forget_findings(struct mpijob__operator_job *record)
{
	mpijob_diag_free(record->findings);
	record->findings = NULL;
}

static void forget_one(mpijob_operator *operator_, struct mpijob__operator_job *record,
    void *unused)
{
	(void)operator_;
	(void)unused;
	mpijob__operator_configure_forget_findings(record);
}

static void plan_anew(mpijob_operator *operator_, struct mpijob__operator_job *record, void *unused)
{
	(void)unused;
	if (record->act.plan)
		record->act.replan = 1;
	mpijob__operator_configure_forget_findings(record);
	mpijob__operator_job_enqueue(operator_, record);
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
	mpijob_operator_config_free(operator_->config);
	operator_->config = copy;
	mpijob__operator_jobs_each(operator_,
	    operator_->acting || operator_->shadow.on ? plan_anew : forget_one, NULL);
	return 0;
}

/* 1 when the job has annotations that only a configuration can allow. */
static int asks(const mpijob *job)
{
	const mpijob_node *map = mpijob_node_find(mpijob__job_node(job), "metadata.annotations");

	for (size_t i = 0; i < mpijob_node_count(map); i++) {
		const char *key = mpijob_node_key(map, i);

		if (key && strncmp(key, PREFIX, strlen(PREFIX)) == 0)
			return 1;
	}
	return 0;
}

/* --- what people are told --- */

/* What the job itself says, and a limit changed; what it leaves to others needs no comment. */
static int put_limits(const mpijob *job, const mpijob_effective *effective, mpijob_text *out)
{
	const struct mpijob_effective_value *value;
	int code = 0;

	for (size_t i = 0; code == 0 && (value = mpijob_effective_at(effective, i)) != NULL; i++)
		if (value->wanted && !value->refused &&
		    mpijob_node_find(mpijob__job_node(job), value->field))
			code = mpijob__base_text_printf(out,
			    "%s%s is %s, not %s: a limit of this operator's configuration",
			    out->len ? "; " : "", value->field, value->value, value->wanted);
	return code;
}

static int put_warnings(const mpijob_diag *diag, mpijob_text *out)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < mpijob_diag_count(diag); i++)
		code = mpijob__base_text_printf(out, "%s%s", out->len ? "; " : "",
		    mpijob_diag_at(diag, i)->message);
	return code;
}

static int is_new(struct mpijob__operator_job *record, const mpijob_text *limits,
    const mpijob_text *warnings)
{
	uint64_t digest = mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START,
	    mpijob_text_data(limits), limits->len);
	uint64_t before = record->told;

	digest = mpijob__base_digest_add(digest, mpijob_text_data(warnings), warnings->len);
	record->told = digest;
	/* A job that had a status before we knew it was told then, by whoever was here before
	 * us. */
	return (limits->len || warnings->len) && digest != before &&
	       (before || !mpijob__operator_job_has_status(record));
}

static int tell(mpijob_operator *operator_, struct mpijob__operator_job *record,
    const mpijob_effective *effective, const mpijob_diag *diag)
{
	mpijob_text limits = { 0 }, warnings = { 0 };
	int code = put_limits(record->job, effective, &limits);

	if (code == 0)
		code = put_warnings(diag, &warnings);
	if (code == 0 && is_new(record, &limits, &warnings)) {
		if (limits.len)
			mpijob__operator_events_emit(operator_, record, "Normal", "LimitApplied",
			    mpijob_text_data(&limits));
		if (warnings.len)
			mpijob__operator_events_emit(operator_, record, "Warning",
			    "AnnotationIgnored", mpijob_text_data(&warnings));
	}
	mpijob__base_text_release(&limits);
	mpijob__base_text_release(&warnings);
	return code;
}

/* --- planning --- */

/* Validate a job, as a plan would: with defaults, which may be refused too, but then by each
 * plan. */
static int validate(mpijob_operator *operator_, struct mpijob__operator_job *record,
    const mpijob *job)
{
	struct mpijob_default_options defaults = { .size = sizeof(defaults),
		.reference = operator_->render.reference };
	struct mpijob_validate_options options = { .size = sizeof(options),
		.reference = operator_->render.reference };
	mpijob *copy = mpijob_clone(job);
	mpijob_diag *findings = mpijob_diag_new();
	int code = copy && findings ? mpijob_default(copy, &defaults, NULL) : MPIJOB_ERR_NOMEM;

	if (code == 0)
		code = mpijob_validate(copy, &options, findings);
	mpijob_free(copy);
	if (code == MPIJOB_ERR_NOMEM) {
		mpijob_diag_free(findings);
		return code;
	}
	record->findings = findings;
	operator_->validations++;
	return 0;
}

int mpijob__operator_configure_validate(mpijob_operator *operator_,
    struct mpijob__operator_job *record)
{
	mpijob_effective *effective = NULL;
	int code;

	if (record->findings)
		return 0;
	if (!operator_->config && !asks(record->job))
		return validate(operator_, record, record->job);
	code = mpijob_effective_new(operator_->config, record->job, operator_->render.features,
	    &effective, NULL);
	if (code == 0)
		code = validate(operator_, record, mpijob_effective_job(effective));
	mpijob_effective_free(effective);
	return code;
}

/* A plan that refuses the job begins with saying so. */
static void note_refusal(mpijob_operator *operator_, struct mpijob__operator_job *record,
    const mpijob_plan *plan)
{
	const struct mpijob_action *action = mpijob_plan_at(plan, 0);
	int refused =
	    action && action->event_reason && strcmp(action->event_reason, "ValidationError") == 0;

	if (refused && !record->invalid)
		operator_->metrics.set_aside[mpijob__operator_metrics_kind("MPIJob")]++;
	record->invalid = refused != 0;
}

static int plan_configured(mpijob_operator *operator_, struct mpijob__operator_job *record,
    struct mpijob_plan_options *options, mpijob_plan **out)
{
	struct mpijob_render_options render = operator_->render;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_effective *effective = NULL;
	int code = MPIJOB_ERR_NOMEM;

	if (diag)
		code = mpijob_effective_new(operator_->config, record->job, render.features,
		    &effective, diag);
	if (code == 0) {
		render.features = mpijob_effective_features(effective);
		options->render = &render;
		options->max_workers = mpijob_effective_max_workers(effective);
		code = mpijob_plan_new(mpijob_effective_job(effective), record->facts, options, out,
		    NULL);
	}
	/* Who does nothing about a job has nothing to say about it either. */
	if (code == 0 && !operator_->shadow.on && mpijob_plan_count(*out) > 0) {
		code = tell(operator_, record, effective, diag);
		if (code) {
			mpijob_plan_free(*out);
			*out = NULL;
		}
	}
	mpijob_effective_free(effective);
	mpijob_diag_free(diag);
	return code;
}

int mpijob__operator_configure_plan(mpijob_operator *operator_, struct mpijob__operator_job *record,
    struct mpijob_plan_options *options, mpijob_plan **out)
{
	int code;

	code = mpijob__operator_configure_validate(operator_, record);
	if (code)
		return code;
	options->validated = record->findings;
	options->render = &operator_->render;
	if (operator_->config || asks(record->job))
		code = plan_configured(operator_, record, options, out);
	else
		code = mpijob_plan_new(record->job, record->facts, options, out, NULL);
	if (code == 0)
		note_refusal(operator_, record, *out);
	return code;
}
