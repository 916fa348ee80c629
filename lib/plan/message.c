/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of events and conditions. They have at most the length that an API server accepts; longer
 * ones are cut between characters.
 */
#include "plan/plan.h"

#include <string.h>

#define WORDS_LIMIT 512 /* bytes of a termination message */

const char *mpijob__plan_message_cut(struct mpijob_plan *plan, const char *text, size_t limit)
{
	size_t len = strlen(text);

	if (len <= limit)
		return text;
	len = limit - 3;
	while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
		len--;
	return mpijob__plan_text(plan, "%.*s...", (int)len, text);
}

const char *mpijob__plan_message_failure(struct mpijob_plan *plan, const char *what,
    const struct mpijob__plan_pod *pod)
{
	const struct mpijob__plan_pod_end *end = mpijob__plan_pod_end(pod);
	struct mpijob_text text = { 0 };
	const char *copy = "";
	int code =
	    mpijob__base_text_printf(&text, "%s pod %s", what, mpijob__plan_pod_name(plan, pod));

	if (!code && pod->node)
		code = mpijob__base_text_printf(&text, " on node %s", pod->node);
	if (!code)
		code = mpijob__base_text_puts(&text, " failed");
	if (!code && end->reason)
		code = mpijob__base_text_printf(&text, ": %s", end->reason);
	if (!code && end->exit_code >= 0)
		code = mpijob__base_text_printf(&text, "%s exit code %d", end->reason ? "," : ":",
		    (int)end->exit_code);
	if (code)
		mpijob__plan_fail(plan, code);
	else
		copy = mpijob__plan_text(plan, "%s", mpijob_text_data(&text));
	mpijob__base_text_release(&text);
	return copy;
}

const char *mpijob__plan_message_termination(struct mpijob_plan *plan,
    const struct mpijob__plan_pod *pod)
{
	const char *words = mpijob__plan_pod_end(pod)->message;

	return words ? mpijob__plan_message_cut(plan, words, WORDS_LIMIT) : "";
}

const char *mpijob__plan_message_pod(struct mpijob_plan *plan, const char *what,
    const struct mpijob__plan_pod *pod)
{
	const char *end = mpijob__plan_message_failure(plan, what, pod),
		   *words = mpijob__plan_message_termination(plan, pod);

	return *words ? mpijob__plan_text(plan, "%s: %s", end, words) : end;
}

static int add_finding(struct mpijob_text *text, const struct mpijob_finding *finding, int first)
{
	int code = first ? 0 : mpijob__base_text_puts(text, ", ");

	if (!code && finding->field)
		code = mpijob__base_text_printf(text, "%s: ", finding->field);
	return code ? code : mpijob__base_text_puts(text, finding->message);
}

const char *mpijob__plan_message_findings(struct mpijob_plan *plan, const mpijob_diag *findings)
{
	size_t errors = mpijob_diag_count(findings, MPIJOB_SEVERITY_ERROR);
	struct mpijob_text text = { 0 };
	const char *copy = "";
	int code = errors > 1 ? mpijob__base_text_puts(&text, "[") : 0, first = 1;

	for (size_t i = 0; !code && mpijob_diag_at(findings, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(findings, i);

		if (finding->severity != MPIJOB_SEVERITY_ERROR)
			continue;
		code = add_finding(&text, finding, first);
		first = 0;
	}
	if (!code && errors > 1)
		code = mpijob__base_text_puts(&text, "]");
	if (code)
		mpijob__plan_fail(plan, code);
	else
		copy = mpijob__plan_text(plan, "%s", mpijob_text_data(&text));
	mpijob__base_text_release(&text);
	return copy;
}
