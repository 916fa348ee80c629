/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the path of a request: kind, namespace, name and subresource, and the parameters of the
 * query, all percent-decoded.
 */
#include "local/route.h"

#include "base/hex.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SEGMENTS 10

/* Percent-decode; with `plus`, '+' is a space. An encoded NUL is an error. */
static int unescape(const char *text, size_t len, int plus, char **out)
{
	char *copy = malloc(len + 1);
	char *at = copy;

	if (!copy)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '+' && plus)
			c = ' ';
		if (text[i] == '%') {
			int high = i + 2 < len ? mpijob__base_hex_value(text[i + 1]) : -1;
			int low = i + 2 < len ? mpijob__base_hex_value(text[i + 2]) : -1;

			if (high < 0 || low < 0 || (high == 0 && low == 0)) {
				free(copy);
				return MPIJOB_ERR_SYNTAX;
			}
			c = (char)(high * 16 + low);
			i += 2;
		}
		*at++ = c;
	}
	*at = 0;
	*out = copy;
	return 0;
}

static int parse_parameter(struct mpijob__local_route *route, const char *text, size_t len)
{
	const char *equals = memchr(text, '=', len);
	size_t name_len = equals ? (size_t)(equals - text) : len;
	struct mpijob__local_parameter *list;
	struct mpijob__local_parameter parameter = { NULL, NULL };
	int rc = unescape(text, name_len, 1, &parameter.name);

	if (!rc)
		rc = equals ? unescape(equals + 1, len - name_len - 1, 1, &parameter.value)
			    : unescape("", 0, 0, &parameter.value);
	list = rc ? NULL : realloc(route->parameters, (route->parameter_count + 1) * sizeof(*list));
	if (!list) {
		free(parameter.name);
		free(parameter.value);
		return rc ? rc : MPIJOB_ERR_NOMEM;
	}
	route->parameters = list;
	list[route->parameter_count++] = parameter;
	return 0;
}

static int parse_query(struct mpijob__local_route *route, const char *query)
{
	while (*query) {
		size_t len = strcspn(query, "&");
		int rc = len ? parse_parameter(route, query, len) : 0;

		if (rc)
			return rc;
		query += len;
		if (*query == '&')
			query++;
	}
	return 0;
}

static int split_path(const char *path, size_t len, char **segments, size_t *count)
{
	size_t at = 0;

	while (at < len) {
		size_t end = at;
		int rc;

		while (end < len && path[end] != '/')
			end++;
		if (end > at) {
			if (*count == MAX_SEGMENTS)
				return MPIJOB_ERR_SYNTAX;
			rc = unescape(path + at, end - at, 0, &segments[*count]);
			if (rc)
				return rc;
			(*count)++;
		}
		at = end + 1;
	}
	return 0;
}

static char *move_out(char **segment)
{
	char *text = *segment;

	*segment = NULL;
	return text;
}

/* Parse what follows the version: [namespaces/NS/]PLURAL[/NAME[/SUB]], or
 * namespaces[/NAME[/status]].
 */
static void parse_resource(struct mpijob__local_route *route, const char *group,
    const char *version, char **segments, size_t count)
{
	const struct mpijob__local_kind *kind;

	if (count >= 3 && strcmp(segments[0], "namespaces") == 0 &&
	    mpijob__local_store_kind_find(group, version, segments[2])) {
		route->namespace_ = move_out(&segments[1]);
		segments += 2;
		count -= 2;
	}
	if (count == 0 || count > 3)
		return;
	kind = mpijob__local_store_kind_find(group, version, segments[0]);
	if (!kind || (route->namespace_ && !(kind->flags & MPIJOB__LOCAL_KIND_NAMESPACED)))
		return;
	/* A namespaced object cannot be addressed without its namespace. */
	if (count > 1 && !route->namespace_ && (kind->flags & MPIJOB__LOCAL_KIND_NAMESPACED))
		return;
	route->kind = kind;
	if (count > 1)
		route->name = move_out(&segments[1]);
	if (count > 2)
		route->subresource = move_out(&segments[2]);
}

static void parse_group(struct mpijob__local_route *route, char **segments, size_t count)
{
	if (count >= 3 && strcmp(segments[0], "api") == 0)
		parse_resource(route, "", segments[1], segments + 2, count - 2);
	else if (count >= 4 && strcmp(segments[0], "apis") == 0)
		parse_resource(route, segments[1], segments[2], segments + 3, count - 3);
}

int mpijob__local_route_parse(struct mpijob__local_route *route, const char *path)
{
	char *segments[MAX_SEGMENTS] = { NULL };
	size_t count = 0;
	size_t len = strcspn(path, "?");
	int rc;

	memset(route, 0, sizeof(*route));
	rc = split_path(path, len, segments, &count);
	if (!rc)
		parse_group(route, segments, count);
	for (size_t i = 0; i < MAX_SEGMENTS; i++)
		free(segments[i]);
	if (!rc && path[len] == '?')
		rc = parse_query(route, path + len + 1);
	return rc;
}

void mpijob__local_route_clear(struct mpijob__local_route *route)
{
	for (size_t i = 0; i < route->parameter_count; i++) {
		free(route->parameters[i].name);
		free(route->parameters[i].value);
	}
	free(route->parameters);
	free(route->namespace_);
	free(route->name);
	free(route->subresource);
	memset(route, 0, sizeof(*route));
}

const char *mpijob__local_route_parameter(const struct mpijob__local_route *route, const char *name)
{
	for (size_t i = 0; i < route->parameter_count; i++) {
		if (strcmp(route->parameters[i].name, name) == 0)
			return route->parameters[i].value;
	}
	return NULL;
}

int mpijob__local_route_flag(const struct mpijob__local_route *route, const char *name)
{
	const char *value = mpijob__local_route_parameter(route, name);

	return value && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0);
}

const char *mpijob__local_route_unknown_parameter(const struct mpijob__local_route *route,
    const char *const *known)
{
	for (size_t i = 0; i < route->parameter_count; i++) {
		size_t j = 0;

		while (known[j] && strcmp(known[j], route->parameters[i].name) != 0)
			j++;
		if (!known[j])
			return route->parameters[i].name;
	}
	return NULL;
}
