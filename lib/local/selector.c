/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Label selectors in the syntax of queries ("a=b,c!=d,e in (f,g),!h"), and the only supported field
 * selector, metadata.name. As in Kubernetes, an absent key matches "!=" and "notin".
 */
#include "local/selector.h"

#include <stdlib.h>
#include <string.h>

static void clear_requirement(struct mpijob__local_requirement *requirement)
{
	for (size_t i = 0; i < requirement->count; i++)
		free(requirement->values[i]);
	free(requirement->values);
	free(requirement->key);
}

void mpijob__local_selector_clear(struct mpijob__local_selector *selector)
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

static int consume(const char **at, const char *token)
{
	size_t len = strlen(token);

	skip_space(at);
	if (strncmp(*at, token, len) != 0)
		return 0;
	*at += len;
	return 1;
}

/* Read a key or value, which may be empty. The caller frees it; NULL when memory ran out. */
static char *read_word(const char **at)
{
	size_t len;
	char *text;

	skip_space(at);
	len = strcspn(*at, " \t=!,()<>");
	text = strndup(*at, len);
	*at += len;
	return text;
}

/* Takes ownership of `value`. */
static int add_value(struct mpijob__local_requirement *requirement, char *value)
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

static int parse_set(const char **at, struct mpijob__local_requirement *requirement)
{
	if (!consume(at, "("))
		return MPIJOB_ERR_SYNTAX;
	do {
		int rc = add_value(requirement, read_word(at));

		if (rc)
			return rc;
	} while (consume(at, ","));
	return consume(at, ")") ? 0 : MPIJOB_ERR_SYNTAX;
}

static int parse_operator(const char **at, struct mpijob__local_requirement *requirement)
{
	skip_space(at);
	if (**at == '<' || **at == '>')
		return MPIJOB_ERR_UNSUPPORTED;
	if (**at == 0 || **at == ',')
		return 0;
	if (consume(at, "!=")) {
		requirement->negated = 1;
		return add_value(requirement, read_word(at));
	}
	if (consume(at, "==") || consume(at, "="))
		return add_value(requirement, read_word(at));
	if (consume(at, "notin")) {
		requirement->negated = 1;
		return parse_set(at, requirement);
	}
	if (consume(at, "in"))
		return parse_set(at, requirement);
	return MPIJOB_ERR_SYNTAX;
}

static int parse_requirement(const char **at, struct mpijob__local_requirement *requirement)
{
	int absent = consume(at, "!");

	requirement->negated = absent;
	requirement->key = read_word(at);
	if (!requirement->key)
		return MPIJOB_ERR_NOMEM;
	if (!*requirement->key)
		return MPIJOB_ERR_SYNTAX;
	return absent ? 0 : parse_operator(at, requirement);
}

int mpijob__local_selector_labels(struct mpijob__local_selector *selector, const char *text)
{
	const char *at = text;

	skip_space(&at);
	if (!*at)
		return 0;
	do {
		struct mpijob__local_requirement *list = realloc(selector->requirements,
		    (selector->count + 1) * sizeof(*selector->requirements));
		int rc;

		if (!list)
			return MPIJOB_ERR_NOMEM;
		selector->requirements = list;
		memset(&list[selector->count], 0, sizeof(*list));
		rc = parse_requirement(&at, &list[selector->count++]);
		if (rc)
			return rc;
	} while (consume(&at, ","));
	skip_space(&at);
	return *at ? MPIJOB_ERR_SYNTAX : 0;
}

int mpijob__local_selector_fields(struct mpijob__local_selector *selector, const char *text)
{
	const char *at = text;

	skip_space(&at);
	if (!*at)
		return 0;
	if (!consume(&at, "metadata.name"))
		return MPIJOB_ERR_UNSUPPORTED;
	if (!consume(&at, "==") && !consume(&at, "="))
		return MPIJOB_ERR_UNSUPPORTED;
	free(selector->name);
	selector->name = read_word(&at);
	skip_space(&at);
	if (!selector->name)
		return MPIJOB_ERR_NOMEM;
	return *at ? MPIJOB_ERR_UNSUPPORTED : 0;
}

static int meets(const struct mpijob__local_requirement *requirement,
    const struct mpijob__local_revision *revision)
{
	const char *value = mpijob__local_store_revision_label(revision, requirement->key);
	int found = value && requirement->count == 0;

	for (size_t i = 0; value && !found && i < requirement->count; i++)
		found = strcmp(value, requirement->values[i]) == 0;
	return found != requirement->negated;
}

int mpijob__local_selector_matches(const struct mpijob__local_selector *selector,
    const struct mpijob__local_revision *revision)
{
	if (selector->namespace_ &&
	    strcmp(selector->namespace_, mpijob__local_store_revision_namespace(revision)) != 0)
		return 0;
	if (selector->name &&
	    strcmp(selector->name, mpijob__local_store_revision_name(revision)) != 0)
		return 0;
	for (size_t i = 0; i < selector->count; i++) {
		if (!meets(&selector->requirements[i], revision))
			return 0;
	}
	return 1;
}
