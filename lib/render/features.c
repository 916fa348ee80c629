/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds, reads and checks features. The table, features.inc, has more text than the library keeps.
 * The code of a feature is in the file of the child or plan that it changes.
 */
#include "render/features.h"

#include "core/diag.h"
#include "base/duration.h"
#include "base/near.h"
#include "base/struct.h"

#include <stddef.h>
#include <string.h>

struct row {
	struct mpijob_feature view;
	size_t offset; /* in struct mpijob_features */
};

#define ROW(member, name, kind, minimum, maximum, defect, summary, detail, notice)              \
	{                                                                                       \
		{ sizeof(struct mpijob_feature), name, MPIJOB_FEATURE_##kind, minimum, maximum, \
			defect, summary },                                                      \
		    offsetof(struct mpijob_features, member)                                    \
	}

static const struct row rows[] = {
#include "render/features.inc"
};

#define COUNT (sizeof(rows) / sizeof(rows[0]))

const struct mpijob_feature *mpijob_feature_at(size_t index)
{
	return index < COUNT ? &rows[index].view : NULL;
}

static const struct row *find(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (strcmp(rows[i].view.name, name) == 0)
			return &rows[i];
	return NULL;
}

const struct mpijob_feature *mpijob_feature_find(const char *name)
{
	const struct row *row = name != NULL ? find(name) : NULL;

	return row != NULL ? &row->view : NULL;
}

static int32_t *place(struct mpijob_features *features, const struct row *row)
{
	return (int32_t *)(void *)((char *)features + row->offset);
}

static int in_bounds(const struct row *row, int64_t value)
{
	return value == 0 || (value >= row->view.minimum && value <= row->view.maximum);
}

/* Parse a number of at most nine digits at the beginning of a text. Returns its end, or NULL. */
static const char *read_number(const char *text, int64_t *out)
{
	size_t len = strspn(text, "0123456789");

	if (len == 0 || len > 9)
		return NULL;
	*out = 0;
	for (size_t i = 0; i < len; i++)
		*out = *out * 10 + (text[i] - '0');
	return text + len;
}

static int read_seconds(const char *text, int64_t *out)
{
	int64_t ms;

	if (mpijob__base_duration_parse(text, &ms) || ms > INT64_C(1000) * INT32_MAX)
		return 0;
	*out = (ms + 999) / 1000;
	return 1;
}

static int read_value(const struct row *row, const char *text, int64_t *out)
{
	const char *end;

	if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0) {
		*out = 0;
		return 1;
	}
	*out = 1;
	switch (row->view.kind) {
	case MPIJOB_FEATURE_SWITCH: return strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
	case MPIJOB_FEATURE_DURATION: return read_seconds(text, out);
	default: end = read_number(text, out); return end != NULL && *end == '\0';
	}
}

static int report_value(const struct row *row, const char *value, mpijob_diag *diag)
{
	const struct mpijob_feature *view = &row->view;

	if (view->kind == MPIJOB_FEATURE_SWITCH)
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "invalid-feature", "Invalid",
		    view->name, NULL, "'%s' is not accepted; use true or false", value);
	else if (view->kind == MPIJOB_FEATURE_DURATION)
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "invalid-feature", "Invalid",
		    view->name, NULL,
		    "'%s' is not accepted; use a duration as 90s, 5m or 1h30m, at most %d s, or 0",
		    value, (int)view->maximum);
	else
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "invalid-feature", "Invalid",
		    view->name, NULL, "'%s' is not accepted; use a number from %d to %d, or 0",
		    value, (int)view->minimum, (int)view->maximum);
	return MPIJOB_ERR_SPEC;
}

static int report_name(const char *name, mpijob_diag *diag)
{
	const char *names[COUNT], *near;

	for (size_t i = 0; i < COUNT; i++)
		names[i] = rows[i].view.name;
	near = mpijob__base_near_word(name, names, COUNT);
	mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "unknown-feature", "NotSupported", name,
	    NULL, "there is no such feature%s%s%s", near != NULL ? "; did you mean " : "",
	    near != NULL ? near : "", near != NULL ? "?" : "");
	return MPIJOB_ERR_NOT_FOUND;
}

int mpijob_features_set(struct mpijob_features *features, const char *name, const char *value,
    mpijob_diag *diag)
{
	struct mpijob_features known;
	const struct row *row;
	int64_t number;
	int code = features != NULL && name != NULL
		       ? mpijob__base_struct_check(&known, sizeof(known), features)
		       : MPIJOB_ERR_USAGE;

	if (code != 0)
		return code;
	row = find(name);
	if (row == NULL)
		return report_name(name, diag);
	if (row->offset + sizeof(int32_t) > features->size)
		return MPIJOB_ERR_UNSUPPORTED;
	value = value != NULL ? value : "true";
	if (!read_value(row, value, &number) || !in_bounds(row, number))
		return report_value(row, value, diag);
	*place(features, row) = (int32_t)number;
	return 0;
}

int32_t mpijob_features_get(const struct mpijob_features *features, const char *name)
{
	const struct row *row = name != NULL ? find(name) : NULL;
	int32_t value;

	if (features == NULL || row == NULL || row->offset + sizeof(value) > features->size)
		return 0;
	memcpy(&value, (const char *)features + row->offset, sizeof(value));
	return value;
}

int mpijob__render_features_take(const struct mpijob_features *given, int reference,
    struct mpijob_features *out)
{
	int code = mpijob__base_struct_check(out, sizeof(*out), given);

	if (code == 0 && !mpijob__base_struct_is_flag(reference))
		code = MPIJOB_ERR_USAGE;
	for (size_t i = 0; code == 0 && i < COUNT; i++)
		if (!in_bounds(&rows[i], *place(out, &rows[i])))
			code = MPIJOB_ERR_USAGE;
	return code == 0 && reference ? mpijob__base_struct_check(out, sizeof(*out), NULL) : code;
}
