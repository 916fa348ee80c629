/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and parses field paths such as `spec.containers[0].name`.
 *
 * A key may contain `]`. The closing `]` is the one that is followed by a dot, an opening bracket,
 * or the end of the string.
 */
#include "base/field_path.h"

#include <stdint.h>
#include <string.h>

static int is_word(const char *key)
{
	const char *c = key;

	while ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
	       *c == '-' || *c == '_')
		c++;
	return c > key && *c == 0;
}

int mpijob__base_field_path_entry(struct mpijob_text *path, const char *key)
{
	size_t len = strlen(key);

	if (mpijob__base_text_reserve(path, len + 2))
		return MPIJOB_ERR_NOMEM;
	return mpijob__base_text_printf(path, "[%s]", key);
}

int mpijob__base_field_path_key(struct mpijob_text *path, const char *key)
{
	if (!is_word(key))
		return mpijob__base_field_path_entry(path, key);
	return mpijob__base_text_printf(path, "%s%s", path->len ? "." : "", key);
}

int mpijob__base_field_path_index(struct mpijob_text *path, size_t index)
{
	return mpijob__base_text_printf(path, "[%zu]", index);
}

void mpijob__base_field_path_cut(struct mpijob_text *path, size_t mark)
{
	path->len = mark;
	if (path->data)
		path->data[mark] = 0;
}

static int next_bracket(const char **path, struct mpijob__base_field_step *step)
{
	const char *from = *path + 1;
	const char *end = strchr(from, ']');

	while (end && end[1] && end[1] != '.' && end[1] != '[')
		end = strchr(end + 1, ']');
	if (!end)
		return MPIJOB_ERR_USAGE;
	step->text = from;
	step->len = (size_t)(end - from);
	step->bracket = 1;
	*path = end + 1;
	return 1;
}

/* A step is followed by a dot and a name, a bracket, or the end. */
static int next_name(const char **path, struct mpijob__base_field_step *step)
{
	size_t len = strcspn(*path, ".[");

	if (len == 0)
		return MPIJOB_ERR_USAGE;
	step->text = *path;
	step->len = len;
	step->bracket = 0;
	*path += len;
	return 1;
}

int mpijob__base_field_path_next(const char **path, struct mpijob__base_field_step *step)
{
	int rc;

	if (**path == 0)
		return 0;
	rc = **path == '[' ? next_bracket(path, step) : next_name(path, step);
	if (rc < 0)
		return rc;
	if (**path == '.') {
		(*path)++;
		if (**path == 0 || **path == '.' || **path == '[')
			return MPIJOB_ERR_USAGE;
	}
	return 1;
}

int mpijob__base_field_path_select(const struct mpijob__base_field_step *step,
    struct mpijob__base_field_step *key, struct mpijob__base_field_step *value)
{
	const char *equals = step->bracket ? memchr(step->text, '=', step->len) : NULL;

	if (!equals || equals == step->text)
		return 0;
	*key = *value = *step;
	key->len = (size_t)(equals - step->text);
	value->text = equals + 1;
	value->len = step->len - key->len - 1;
	return 1;
}

int mpijob__base_field_path_number(const struct mpijob__base_field_step *step, size_t *index)
{
	size_t value = 0;

	if (step->len == 0 || step->len > 18)
		return 0;
	for (size_t i = 0; i < step->len; i++) {
		if (step->text[i] < '0' || step->text[i] > '9')
			return 0;
		value = value * 10 + (size_t)(step->text[i] - '0');
	}
	*index = value;
	return 1;
}
