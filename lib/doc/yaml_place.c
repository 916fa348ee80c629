/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts libyaml's positions to lines and columns.
 *
 * libyaml counts characters, and treats three rare Unicode separators as line ends. Editors and
 * compilers count bytes and know \n, \r\n and \r. So only the character index of libyaml is used,
 * and a cursor that moves with the events counts lines and bytes.
 */
#include "doc/yaml_place.h"

#include <string.h>

void mpijob__doc_yaml_place_init(struct mpijob__doc_yaml_place *place, const char *text, size_t len)
{
	memset(place, 0, sizeof(*place));
	place->text = text;
	place->len = len;
	place->line = 1;
}

static void start_over(struct mpijob__doc_yaml_place *place, size_t character)
{
	if (character >= place->line_character) {
		place->character = place->line_character;
		place->byte = place->line_byte;
		return;
	}
	mpijob__doc_yaml_place_init(place, place->text, place->len);
}

static void step(struct mpijob__doc_yaml_place *place)
{
	char c = place->text[place->byte++];

	while (place->byte < place->len && (place->text[place->byte] & 0xc0) == 0x80)
		place->byte++;
	place->character++;
	if (c != '\n' &&
	    (c != '\r' || (place->byte < place->len && place->text[place->byte] == '\n')))
		return;
	place->line++;
	place->line_byte = place->byte;
	place->line_character = place->character;
}

void mpijob__doc_yaml_place_find(struct mpijob__doc_yaml_place *place, size_t character,
    int32_t *line, int32_t *column)
{
	if (character < place->character)
		start_over(place, character);
	while (place->character < character && place->byte < place->len)
		step(place);
	*line = place->line;
	*column = (int32_t)(place->byte - place->line_byte) + 1;
}

void mpijob__doc_yaml_place_byte(const char *text, size_t len, size_t offset, int32_t *line,
    int32_t *column)
{
	struct mpijob__doc_yaml_place place;

	mpijob__doc_yaml_place_init(&place, text, len);
	while (place.byte < offset && place.byte < len)
		step(&place);
	*line = place.line;
	*column = (int32_t)(place.byte - place.line_byte) + 1;
}
