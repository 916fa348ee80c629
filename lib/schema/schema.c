/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How blob.inc is laid out: types with a range of fields, fields with the numbers of their texts,
 * and one pool of texts. Numbers instead of pointers, so that a loader has nothing to fill in and
 * nothing is ever written to.
 */
#include "schema/schema.h"

#include <string.h>

static const char texts[] =
#define SCHEMA_TEXT
#include "schema/blob.inc"
#undef SCHEMA_TEXT
    ;

static const struct {
	uint16_t name;
	uint16_t first;
	uint16_t count;
} types[] = {
#define SCHEMA_TYPE(name, text, first, count) { text, first, count },
#include "schema/blob.inc"
#undef SCHEMA_TYPE
};

#define CRD           SCHEMA_IN_CRD
#define KUBE          SCHEMA_IN_KUBERNETES
#define CRD_REQUIRED  SCHEMA_CRD_REQUIRED
#define KUBE_REQUIRED SCHEMA_KUBE_REQUIRED
#define POINTER       SCHEMA_POINTER
#define SET_LIST      SCHEMA_SET
#define MAP_LIST      SCHEMA_KEYED
#define ATOMIC_LIST   SCHEMA_ATOMIC_LIST
#define ATOMIC        SCHEMA_ATOMIC
#define EMPTY_FILL    SCHEMA_EMPTY_FILL

static const struct mpijob__schema_field fields[] = {
#define SCHEMA_FIELD(text, shape, kind, of, choices, keys, fill, patch, flags) \
	{ text, choices, keys, fill, patch, SCHEMA_##shape, SCHEMA_##kind, SCHEMA_##of, flags },
#include "schema/blob.inc"
#undef SCHEMA_FIELD
};

const char *mpijob__schema_text(uint16_t number)
{
	return texts + number;
}

const char *mpijob__schema_type_name(int type)
{
	return texts + types[type].name;
}

const struct mpijob__schema_field *mpijob__schema_fields(int type, size_t *count)
{
	*count = types[type].count;
	return fields + types[type].first;
}

const struct mpijob__schema_field *mpijob__schema_find(int type, const char *name)
{
	size_t low = types[type].first, high = low + types[type].count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(name, texts + fields[middle].name);

		if (order == 0)
			return &fields[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

int mpijob__schema_allows(const struct mpijob__schema_field *field, const char *word)
{
	const char *choice = texts + field->choices;

	if (!field->choices)
		return 1;
	do {
		if (strcmp(choice, word) == 0)
			return 1;
		choice += strlen(choice) + 1;
	} while (*choice);
	return 0;
}
