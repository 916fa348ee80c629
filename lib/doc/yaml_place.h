/* SPDX-License-Identifier: Apache-2.0 */
/* Converts libyaml's positions, in characters, to lines and columns in bytes. */
#ifndef MPIJOB__DOC_YAML_PLACE_H
#define MPIJOB__DOC_YAML_PLACE_H

#include <stddef.h>
#include <stdint.h>

struct mpijob__doc_yaml_place {
	const char *text;
	size_t len;
	/* the last result */
	size_t character;
	size_t byte;
	int32_t line;
	size_t line_byte; /* offset of the beginning of its line */
	size_t line_character;
};

void mpijob__doc_yaml_place_init(struct mpijob__doc_yaml_place *place, const char *text,
    size_t len);
/* Get the line and column of a character by its index in the text, from 0. Fast if the indices
 * increase. */
void mpijob__doc_yaml_place_find(struct mpijob__doc_yaml_place *place, size_t character,
    int32_t *line, int32_t *column);
/* Get the line and column of a byte by its offset. */
void mpijob__doc_yaml_place_byte(const char *text, size_t len, size_t offset, int32_t *line,
    int32_t *column);

#endif
