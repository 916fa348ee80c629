/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label selectors as they stand in a query ("a=b,c!=d,e in (f,g),!h") and the one field selector
 * that the embedded cluster knows. An absent key fulfils "!=" and "notin", as on every API server.
 */
#include "selector.h"

#include <stdlib.h>
#include <string.h>

static void clear_requirement(struct requirement *requirement)
{
	for (size_t i = 0; i < requirement->count; i++)
		free(requirement->values[i]);
	free(requirement->values);
	free(requirement->key);
}

void mpijob__local_selector_clear(struct selector *selector)
{
	for (size_t i = 0; i < selector->count; i++)
		clear_requirement(&selector->requirements[i]);
	free(selector->requirements);
	free(selector->name);
	free(selector->namespace_);
	memset(selector, 0, sizeof(*selector));
}

static void skip_space(const char **at)
{
	while (**at == ' ' || **at == '\t')
		(*at)++;
}

static int eat(const char **at, const char *token)
{
	size_t len = strlen(token);

	skip_space(at);
	if (strncmp(*at, token, len) != 0)
		return 0;
	*at += len;
	return 1;
}

/* A key or value; may be empty. */
static char *word(const char **at)
{
	size_t len;
	char *text;

	skip_space(at);
	len = strcspn(*at, " \t=!,()<>");
	text = strndup(*at, len);
	*at += len;
	return text;
}

/* `value` is taken. */
static int add_value(struct requirement *requirement, char *value)
{
	char **values;

	if (!value)
		return MPIJOB_ERR_NOMEM;
	values = realloc(requirement->values, (requirement->count + 1) * sizeof(*values));
	if (!values) {
		free(value);
		return MPIJOB_ERR_NOMEM;
	}
	requirement->values = values;
	values[requirement->count++] = value;
	return 0;
}

static int parse_set(const char **at, struct requirement *requirement)
{
	if (!eat(at, "("))
		return MPIJOB_ERR_SYNTAX;
	do {
		int error = add_value(requirement, word(at));

		if (error)
			return error;
	} while (eat(at, ","));
	return eat(at, ")") ? 0 : MPIJOB_ERR_SYNTAX;
}

static int parse_operator(const char **at, struct requirement *requirement)
{
	skip_space(at);
	if (**at == '<' || **at == '>')
		return MPIJOB_ERR_UNSUPPORTED;
	if (**at == 0 || **at == ',')
		return 0;
	if (eat(at, "!=")) {
		requirement->negated = 1;
		return add_value(requirement, word(at));
	}
	if (eat(at, "==") || eat(at, "="))
		return add_value(requirement, word(at));
	if (eat(at, "notin")) {
		requirement->negated = 1;
		return parse_set(at, requirement);
	}
	if (eat(at, "in"))
		return parse_set(at, requirement);
	return MPIJOB_ERR_SYNTAX;
}

static int parse_requirement(const char **at, struct requirement *requirement)
{
	int absent = eat(at, "!");

	requirement->negated = absent;
	requirement->key = word(at);
	if (!requirement->key)
		return MPIJOB_ERR_NOMEM;
	if (!*requirement->key)
		return MPIJOB_ERR_SYNTAX;
	return absent ? 0 : parse_operator(at, requirement);
}

int mpijob__local_selector_labels(struct selector *selector, const char *text)
{
	const char *at = text;

	skip_space(&at);
	if (!*at)
		return 0;
	do {
		struct requirement *list = realloc(selector->requirements,
		    (selector->count + 1) * sizeof(*selector->requirements));
		int error;

		if (!list)
			return MPIJOB_ERR_NOMEM;
		selector->requirements = list;
		memset(&list[selector->count], 0, sizeof(*list));
		error = parse_requirement(&at, &list[selector->count++]);
		if (error)
			return error;
	} while (eat(&at, ","));
	skip_space(&at);
	return *at ? MPIJOB_ERR_SYNTAX : 0;
}

int mpijob__local_selector_fields(struct selector *selector, const char *text)
{
	const char *at = text;

	skip_space(&at);
	if (!*at)
		return 0;
	if (!eat(&at, "metadata.name"))
		return MPIJOB_ERR_UNSUPPORTED;
	if (!eat(&at, "==") && !eat(&at, "="))
		return MPIJOB_ERR_UNSUPPORTED;
	free(selector->name);
	selector->name = word(&at);
	skip_space(&at);
	if (!selector->name)
		return MPIJOB_ERR_NOMEM;
	return *at ? MPIJOB_ERR_UNSUPPORTED : 0;
}

static int fulfils(const struct requirement *requirement, const struct revision *revision)
{
	const char *value = mpijob__local_store_revision_label(revision, requirement->key);
	int found = value && requirement->count == 0;

	for (size_t i = 0; value && !found && i < requirement->count; i++)
		found = strcmp(value, requirement->values[i]) == 0;
	return found != requirement->negated;
}

int mpijob__local_selector_matches(const struct selector *selector, const struct revision *revision)
{
	if (selector->namespace_ &&
	    strcmp(selector->namespace_, mpijob__local_store_revision_namespace(revision)) != 0)
		return 0;
	if (selector->name &&
	    strcmp(selector->name, mpijob__local_store_revision_name(revision)) != 0)
		return 0;
	for (size_t i = 0; i < selector->count; i++) {
		if (!fulfils(&selector->requirements[i], revision))
			return 0;
	}
	return 1;
}
