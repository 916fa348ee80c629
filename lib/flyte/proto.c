/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads protobuf messages in JSON, with the variants that protobuf's readers accept: the name of a
 * field in camelCase or as in the .proto file, null for absent, an enumeration as word or number, a
 * number as string.
 */
#include "flyte/flyte.h"

#include <stdlib.h>
#include <string.h>

static int is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Whether `key` is `field` with underscores. */
static int is_snake(const char *key, const char *field)
{
	for (; *field; field++) {
		if (is_upper(*field) && *key++ != '_')
			return 0;
		if (*key++ != (is_upper(*field) ? (char)(*field - 'A' + 'a') : *field))
			return 0;
	}
	return *key == '\0';
}

const mpijob_node *mpijob__flyte_proto_get(const mpijob_node *message, const char *field)
{
	const mpijob_node *found = mpijob_node_get(message, field);

	for (size_t i = 0; !found && mpijob_node_kind(message) == MPIJOB_NODE_MAP &&
			   i < mpijob_node_count(message);
	     i++) {
		if (is_snake(mpijob_node_key(message, i), field))
			found = mpijob_node_at(message, i);
	}
	return mpijob_node_kind(found) == MPIJOB_NODE_NULL ? NULL : found;
}

const char *mpijob__flyte_proto_text(const mpijob_node *message, const char *field)
{
	const mpijob_node *node = mpijob__flyte_proto_get(message, field);

	return node ? mpijob_node_string(node) : "";
}

static int read_decimal(const char *text, int64_t *out)
{
	char *end = NULL;

	if (!text || !*text || strlen(text) > 11 || strspn(text, "-0123456789") != strlen(text))
		return 0;
	*out = strtoll(text, &end, 10);
	return *end == '\0';
}

static int number_of(const mpijob_node *node, int64_t *out)
{
	if (mpijob_node_kind(node) == MPIJOB_NODE_STRING)
		return read_decimal(mpijob_node_string(node), out);
	return mpijob_node_int(node, out);
}

int mpijob__flyte_proto_int(const mpijob_node *message, const char *field, int32_t *out)
{
	const mpijob_node *node = mpijob__flyte_proto_get(message, field);
	int64_t value = 0;

	if (node && (!number_of(node, &value) || value < INT32_MIN || value > INT32_MAX))
		return 0;
	*out = (int32_t)value;
	return 1;
}

const char *mpijob__flyte_proto_word(const mpijob_node *message, const char *field,
    const char *const *words, size_t count)
{
	const mpijob_node *node = mpijob__flyte_proto_get(message, field);
	int64_t number = 0;

	if (!node)
		return words[0];
	if (mpijob_node_kind(node) == MPIJOB_NODE_NUMBER)
		return mpijob_node_int(node, &number) && number >= 0 && (size_t)number < count
			   ? words[number]
			   : NULL;
	for (size_t i = 0; i < count; i++) {
		if (mpijob_node_string(node) && strcmp(mpijob_node_string(node), words[i]) == 0)
			return words[i];
	}
	return NULL;
}
