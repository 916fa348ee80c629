/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob_validate(): checks each field according to its row, then the templates and the rules for
 * several fields. In reference mode all findings are errors of mpi-operator v0.8.2, with its
 * messages. Only the default mode also reports jobs that this release accepts although they cannot
 * work.
 */
#include <string.h>

#include "base/struct.h"
#include "job/quote.h"
#include "job/rules.h"
#include "job/state.h"
#include "job/suggest.h"
#include "job/template.h"
#include "job/value.h"
#include "job/walk.h"
#include "schema/schema.h"

#include <mpijob/spec.h>

/* The words of a choice in alphabetical order, as the reference lists them. */
static int put_sorted(struct mpijob_text *out, const char *const *words)
{
	const char *last = "";
	int code = 0;

	for (;;) {
		const char *next = NULL;

		for (int i = 0; words[i]; i++) {
			if (strcmp(words[i], last) > 0 && (!next || strcmp(words[i], next) < 0))
				next = words[i];
		}
		if (!next)
			return code ? MPIJOB_ERR_NOMEM : 0;
		code |= *last ? mpijob__base_text_puts(out, ", ") : 0;
		code |= mpijob__job_quote_go(out, next);
		last = next;
	}
}

static int put_listed(struct mpijob_text *out, const char *const *words)
{
	int code = 0;

	for (int i = 0; words[i]; i++) {
		if (i)
			code |= mpijob__base_text_puts(out, words[i + 1] ? ", " : " or ");
		code |= mpijob__base_text_puts(out, words[i]);
	}
	return code ? MPIJOB_ERR_NOMEM : 0;
}

/* Choices have their own Go types in mpi-operator, so its messages print them as JSON. */
static void reference_unsupported(struct mpijob__job_walk *walk, const struct mpijob__job_row *row,
    const char *text)
{
	struct mpijob_text message = { 0 };
	int code;

	if (row->field.kind == MPIJOB_KIND_CHOICE)
		code = mpijob__job_quote_json(&message, text);
	else
		code = mpijob__job_quote_go(&message, text);
	code |= mpijob__base_text_puts(&message, ": supported values: ");
	code |= put_sorted(&message, row->field.choices);
	if (code)
		walk->report->code = MPIJOB_ERR_NOMEM;
	mpijob__job_report_error(walk->report, mpijob__job_walk_spot(walk), "unsupported-value",
	    "NotSupported", "Unsupported value: %s", mpijob_text_data(&message));
	mpijob__base_text_release(&message);
}

static void unsupported(struct mpijob__job_walk *walk, const struct mpijob__job_row *row,
    const char *text)
{
	const char *near = mpijob__job_suggest_choice(text, row->field.choices);
	struct mpijob_text words = { 0 };

	if (put_listed(&words, row->field.choices))
		walk->report->code = MPIJOB_ERR_NOMEM;
	mpijob__job_report_error(walk->report, mpijob__job_walk_spot(walk), "unsupported-value",
	    "NotSupported", "unsupported value '%s'; use %s%s%s%s", text, mpijob_text_data(&words),
	    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	mpijob__base_text_release(&words);
}

static int is_choice(const struct mpijob__job_row *row, const char *text)
{
	for (int i = 0; row->field.choices[i]; i++) {
		if (strcmp(row->field.choices[i], text) == 0)
			return 1;
	}
	return 0;
}

static void missing(struct mpijob__job_walk *walk, const struct mpijob__job_row *row)
{
	const char *usual = row->field.default_text;

	if (walk->report->reference)
		mpijob__job_report_error(walk->report, mpijob__job_walk_spot(walk), "missing",
		    "Required", "Required value: %s", row->required);
	else
		mpijob__job_report_error(walk->report, mpijob__job_walk_spot(walk), "missing",
		    "Required", "a value is required%s%s", usual ? "; the default is " : "",
		    usual ? usual : "");
}

static void check_absent(struct mpijob__job_walk *walk, const struct mpijob__job_row *row)
{
	int is_word = row->field.kind == MPIJOB_KIND_CHOICE && row->field.default_text != NULL;

	/* A default is missing only because of another error, which is reported already. */
	if (row->field.default_text && walk->report->broken)
		return;
	if (row->required || (is_word && !walk->report->reference))
		missing(walk, row);
	else if (is_word)
		reference_unsupported(walk, row, "");
}

static void out_of_range(struct mpijob__job_walk *walk, const struct mpijob__job_row *row,
    int64_t number)
{
	const int64_t *minimum = row->field.minimum;
	long long found = number, bound = minimum ? *minimum : 0;
	int exact = minimum && row->maximum && *minimum == *row->maximum;

	if (walk->report->reference)
		mpijob__job_report_error(walk->report, mpijob__job_walk_spot(walk), "out-of-range",
		    "Invalid", "Invalid value: %lld: must be %s%lld", found,
		    exact ? "" : "greater than or equal to ", bound);
	else
		mpijob__job_report_error(walk->report, mpijob__job_walk_spot(walk), "out-of-range",
		    "Invalid", "must be %s%lld, not %lld", exact ? "" : "at least ", bound, found);
}

static void check_given(struct mpijob__job_walk *walk, const struct mpijob__job_row *row,
    const struct mpijob__job_value *value)
{
	if (row->field.choices && !is_choice(row, value->text)) {
		if (walk->report->reference)
			reference_unsupported(walk, row, value->text);
		else
			unsupported(walk, row, value->text);
	}
	if ((row->field.minimum && value->number < *row->field.minimum) ||
	    (row->maximum && value->number > *row->maximum))
		out_of_range(walk, row, value->number);
}

static void check_value(struct mpijob__job_walk *walk, const struct mpijob__job_row *row,
    const mpijob_node *node)
{
	struct mpijob__job_value value;
	int state;

	if ((row->flags & FIELD_LENIENT) && walk->report->reference)
		return;
	state = mpijob__job_value_read(row, node, &value);
	if (state == VALUE_ABSENT)
		check_absent(walk, row);
	else if (state == VALUE_GIVEN)
		check_given(walk, row, &value);
}

static void warn_unknown(struct mpijob__job_walk *walk, int id, const char *key)
{
	const char *near = mpijob__job_suggest_key(id, key);
	unsigned int flags = mpijob__job_field_row(id)->flags;
	int is_role = (flags & FIELD_BY_ROLE) != 0;

	if ((flags & FIELD_META) && mpijob__schema_find(SCHEMA_ObjectMeta, key))
		return;
	mpijob__job_report_strict(walk->report, mpijob__job_walk_spot(walk),
	    is_role ? "unknown-role" : "unknown-field", "%s%s%s%s",
	    is_role ? "unknown role, the operator ignores it"
		    : "unknown field, the server drops it",
	    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

int mpijob_validate(const mpijob *job, const struct mpijob_validate_options *options,
    mpijob_diag *diag)
{
	struct mpijob_validate_options known;
	struct mpijob__job_walk walk = { .field = check_value };
	struct mpijob__job_report report;
	const mpijob_node *root;
	int code;

	if (!job)
		return MPIJOB_ERR_USAGE;
	code = mpijob__base_struct_check(&known, sizeof(known), options);
	if (code == 0 && (!mpijob__base_struct_is_flag(known.reference) ||
			     !mpijob__base_struct_is_flag(known.strict)))
		code = MPIJOB_ERR_USAGE;
	if (code)
		return code;
	report = mpijob__job_state_report(job, diag, known.reference != 0);
	report.strict = known.strict != 0;
	root = mpijob__job_node(job);
	mpijob__job_value_check_types(&report, FIELD_ROOT, root);
	mpijob__job_template_check(&report, root);
	/* mpi-operator cannot decode a job with a wrong type. */
	if (report.reference && report.errors)
		return mpijob__job_report_result(&report);
	walk.report = &report;
	walk.unknown = report.reference ? NULL : warn_unknown;
	mpijob__job_walk_object(&walk, FIELD_ROOT, root);
	mpijob__job_rules_check(&report, root);
	return mpijob__job_report_result(&report);
}
