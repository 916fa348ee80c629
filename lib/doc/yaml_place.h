/* SPDX-License-Identifier: Apache-2.0 */
/* Turns libyaml's places, which count characters, into lines and columns in bytes. */
#ifndef MPIJOB__DOC_YAML_PLACE_H
#define MPIJOB__DOC_YAML_PLACE_H

#include <stddef.h>
#include <stdint.h>

struct mpijob__doc_yaml_place {
	const char *text;
	size_t len;
	/* the place that was asked for last */
	size_t character;
	size_t byte;
	int32_t line;
	size_t line_byte; /* where its line begins */
	size_t line_character;
};

void mpijob__doc_yaml_place_init(struct mpijob__doc_yaml_place *place, const char *text,
    size_t len);
/* Find the place of a character by its number in the whole text, from 0. Fast when asked in
 * order. */
void mpijob__doc_yaml_place_find(struct mpijob__doc_yaml_place *place, size_t character,
    int32_t *line, int32_t *column);
/* Find the place of a byte by its offset. */
void mpijob__doc_yaml_place_byte(const char *text, size_t len, size_t offset, int32_t *line,
    int32_t *column);

#endif
