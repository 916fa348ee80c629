/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which values are valid for which kind of field: those that an API server with the MPIJob's CRD
 * accepts and that fit the operator's Go types. A null is absent, because an API server removes it.
 * `1.0` and `1e3` are whole numbers.
 */
#include "job/value.h"

#include <string.h>

#include "base/field_path.h"
#include "base/time.h"
#include "job/walk.h"

#include <mpijob/spec.h>

static int read_number(int32_t kind, const mpijob_node *node, struct mpijob__job_value *out)
{
	if (mpijob_node_kind(node) != MPIJOB_NODE_NUMBER || !mpijob_node_int(node, &out->number))
		return VALUE_WRONG;
	if (kind == MPIJOB_KIND_INT32 && (out->number > INT32_MAX || out->number < INT32_MIN))
		return VALUE_WRONG;
	return VALUE_GIVEN;
}

static int read_bool(const mpijob_node *node, struct mpijob__job_value *out)
{
	int value;

	if (!mpijob_node_bool(node, &value))
		return VALUE_WRONG;
	out->number = value;
	return VALUE_GIVEN;
}

static int read_string(const struct mpijob__job_row *row, const mpijob_node *node,
    struct mpijob__job_value *out)
{
	out->text = mpijob_node_string(node);
	if (!out->text)
		return VALUE_WRONG;
	if (row->field.kind == MPIJOB_KIND_TIME)
		return mpijob__base_time_parse(out->text, &out->number) ? VALUE_GIVEN : VALUE_WRONG;
	if (out->text[0] == '\0' && (row->flags & FIELD_EMPTY_IS_ABSENT))
		return VALUE_ABSENT;
	if (row->field.kind != MPIJOB_KIND_CHOICE)
		return VALUE_GIVEN;
	out->number = MPIJOB_OTHER;
	for (int i = 0; row->field.choices[i]; i++) {
		if (strcmp(row->field.choices[i], out->text) == 0 &&
		    strlen(out->text) == mpijob_node_length(node))
			out->number = i + 1;
	}
	return VALUE_GIVEN;
}

int mpijob__job_value_read(const struct mpijob__job_row *row, const mpijob_node *node,
    struct mpijob__job_value *out)
{
	int32_t kind = mpijob_node_kind(node);

	out->number = 0;
	out->text = NULL;
	if (kind == MPIJOB_NODE_NONE || kind == MPIJOB_NODE_NULL)
		return VALUE_ABSENT;
	switch (row->field.kind) {
	case MPIJOB_KIND_INT32:
	case MPIJOB_KIND_INT64: return read_number(row->field.kind, node, out);
	case MPIJOB_KIND_BOOL: return read_bool(node, out);
	case MPIJOB_KIND_LIST: return kind == MPIJOB_NODE_LIST ? VALUE_GIVEN : VALUE_WRONG;
	case MPIJOB_KIND_OBJECT:
	case MPIJOB_KIND_DOCUMENT: return kind == MPIJOB_NODE_MAP ? VALUE_GIVEN : VALUE_WRONG;
	default: return read_string(row, node, out);
	}
}

static const char *expected(int32_t kind)
{
	switch (kind) {
	case MPIJOB_KIND_INT32: return "a whole number of 32 bits";
	case MPIJOB_KIND_INT64: return "a whole number of 64 bits";
	case MPIJOB_KIND_BOOL: return "true or false";
	case MPIJOB_KIND_TIME: return "a time such as \"2026-11-21T12:00:00Z\"";
	case MPIJOB_KIND_LIST: return "a list";
	case MPIJOB_KIND_OBJECT:
	case MPIJOB_KIND_DOCUMENT: return "a map";
	default: return "a string";
	}
}

static void complain(struct mpijob__job_report *report, const struct mpijob__job_spot *spot,
    const char *wanted, const mpijob_node *node, const char *more)
{
	mpijob_text is = { 0 };

	if (mpijob_node_kind(node) == MPIJOB_NODE_BOOL && strcmp(wanted, "a string") == 0)
		more = MPIJOB__BASE_TEXT_YAML_BOOL;
	if (mpijob_node_describe(node, mpijob_text_write, &is))
		report->code = MPIJOB_ERR_NOMEM;
	mpijob__job_report_error(report, spot, "wrong-type", "TypeInvalid", "must be %s, not %s%s",
	    wanted, mpijob_text_data(&is), more);
	mpijob__base_text_release(&is);
}

void mpijob__job_value_complain(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const struct mpijob__job_row *row, const mpijob_node *node)
{
	complain(report, spot, expected(row->field.kind), node, "");
}

void mpijob__job_value_complain_of(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const char *wanted, const mpijob_node *node)
{
	complain(report, spot, wanted, node, "");
}

static const char *skip_digits(const char *text)
{
	while (*text >= '0' && *text <= '9')
		text++;
	return text;
}

/* Skip a decimal number without sign; NULL if not found. */
static const char *skip_decimal(const char *text)
{
	const char *whole = skip_digits(text);
	const char *end = *whole == '.' ? skip_digits(whole + 1) : whole;

	return end - text == (*whole == '.') ? NULL : end;
}

static int is_quantity(const char *text)
{
	const char *end;

	text += *text == '+' || *text == '-';
	end = skip_decimal(text);
	if (!end)
		return 0;
	if (*end == '\0' || (strchr("KMGTPE", *end) && end[1] == 'i' && end[2] == '\0') ||
	    (strchr("numkMGTPE", *end) && end[1] == '\0'))
		return 1;
	if (*end != 'e' && *end != 'E')
		return 0;
	end++;
	end += *end == '+' || *end == '-';
	return *end && *skip_digits(end) == '\0';
}

int mpijob__job_value_is_quantity(const struct mpijob__job_report *report, const mpijob_node *node)
{
	int64_t number;

	if (mpijob_node_kind(node) == MPIJOB_NODE_NUMBER)
		return report->reference || mpijob_node_int(node, &number);
	return mpijob_node_string(node) && is_quantity(mpijob_node_string(node));
}

size_t mpijob__job_value_check_entries(struct mpijob__job_report *report,
    const struct mpijob__job_spot *spot, const struct mpijob__job_row *row, const mpijob_node *node)
{
	size_t wrong = 0;
	int quantities = row->shape == SHAPE_QUANTITIES;

	for (size_t i = 0; row->shape != SHAPE_MAP && i < mpijob_node_count(node); i++) {
		const mpijob_node *entry = mpijob_node_at(node, i);
		struct mpijob_text path = { 0 };
		struct mpijob__job_spot inner = { NULL,
			mpijob__job_report_place(report, entry, &spot->place) };
		const char *more = "";

		if (mpijob_node_kind(entry) == MPIJOB_NODE_NULL)
			continue;
		if (quantities ? mpijob__job_value_is_quantity(report, entry)
			       : mpijob_node_string(entry) != NULL)
			continue;
		wrong++;
		if (mpijob__base_text_puts(&path, spot->path) ||
		    mpijob__base_field_path_entry(&path, mpijob_node_key(node, i)))
			report->code = MPIJOB_ERR_NOMEM;
		inner.path = mpijob_text_data(&path);
		if (quantities && mpijob_node_kind(entry) == MPIJOB_NODE_MAP)
			more = "; the resources stand directly under minResources";
		complain(report, &inner, quantities ? MPIJOB__JOB_VALUE_QUANTITY : "a string",
		    entry, more);
		mpijob__base_text_release(&path);
	}
	return wrong;
}

static void check_type(struct mpijob__job_walk *walk, const struct mpijob__job_row *row,
    const mpijob_node *node)
{
	struct mpijob__job_value value;
	int state = mpijob__job_value_read(row, node, &value);

	if (state == VALUE_WRONG) {
		walk->report->broken += row->field.kind == MPIJOB_KIND_OBJECT;
		mpijob__job_value_complain(walk->report, mpijob__job_walk_spot(walk), row, node);
	} else if (state == VALUE_GIVEN && row->field.kind == MPIJOB_KIND_DOCUMENT) {
		mpijob__job_value_check_entries(walk->report, mpijob__job_walk_spot(walk), row,
		    node);
	}
}

void mpijob__job_value_check_types(struct mpijob__job_report *report, int id,
    const mpijob_node *node)
{
	struct mpijob__job_walk walk = { .report = report, .field = check_type, .other_roles = 1 };

	mpijob__job_walk_object(&walk, id, node);
}
