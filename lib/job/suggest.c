/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the field that an unknown key means: a misspelled name, a name at the wrong level
 * (kubeflow.org/v1 had cleanPodPolicy directly in spec), or a name of an older version.
 */
#include "job/suggest.h"

#include <string.h>

#include "base/near.h"
#include "job/field.h"

/* Names of older versions that are too different for the edit distance. */
static const struct {
	const char *old;
	int id;
} renamed[] = {
	{ "mpiDistribution", FIELD_MPI_IMPLEMENTATION }, /* v1alpha2 */
};

const char *mpijob__job_suggest_choice(const char *word, const char *const *choices)
{
	size_t count = 0;

	while (choices[count])
		count++;
	return mpijob__base_near_word(word, choices, count);
}

/* The part of the document that a row belongs to: spec, status, metadata. */
static int part_of(int id)
{
	while (id != FIELD_ROOT && mpijob__job_field_row(id)->parent != FIELD_ROOT)
		id = mpijob__job_field_row(id)->parent;
	return id;
}

static const char *path_elsewhere(int id, const char *key)
{
	const char *found = NULL;

	for (int i = 1; i < FIELD_END; i++) {
		const struct mpijob__job_row *row = mpijob__job_field_row(i);

		if (strcmp(row->key, key) != 0 || (id != FIELD_ROOT && part_of(i) != part_of(id)))
			continue;
		if (found)
			return NULL;
		found = row->field.path;
	}
	return found;
}

const char *mpijob__job_suggest_key(int id, const char *key)
{
	const char *keys[FIELD_END] = { NULL };
	const char *near;

	for (int i = 1; i < FIELD_END; i++) {
		if (mpijob__job_field_row(i)->parent == id)
			keys[i] = mpijob__job_field_row(i)->key;
	}
	near = path_elsewhere(id, key);
	if (!near)
		near = mpijob__base_near_word(key, keys, FIELD_END);
	for (size_t i = 0; !near && i < sizeof(renamed) / sizeof(renamed[0]); i++) {
		if (strcmp(renamed[i].old, key) == 0 && part_of(renamed[i].id) == part_of(id))
			near = mpijob__job_field_row(renamed[i].id)->key;
	}
	return near;
}
