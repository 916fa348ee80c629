/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how kubectl prints a table: three blanks between columns, none after the last one, and
 * columns that keep their width for later rows. Control characters in cells are escaped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpijob/base.h>

#include "print.h"
#include "table.h"

#define GAP         3
#define LEAST_WIDTH 6

/* The width of a text: characters, not bytes. */
static size_t letters(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += ((unsigned char)*text & 0xc0) != 0x80;
	return count;
}

/* The first line, escaped as it is printed. The caller frees it; NULL when memory ran out. */
static char *escape(const char *text)
{
	mpijob_text *out = mpijob_text_new();
	size_t line = strcspn(text, "\f\n\r");
	char *cell = NULL;

	if (out && mpijob_escaped_write(text, line, mpijob_text_write, out) == 0 &&
	    mpijob_text_write(out, "...", text[line] ? 3 : 0) == 0)
		cell = strdup(mpijob_text_data(out));
	mpijob_text_free(out);
	return cell;
}

void table_column(struct table *table, const char *header)
{
	table->headers[table->columns] = header;
	table->widths[table->columns++] = table->no_headers ? 0 : letters(header);
}

void table_cell(struct table *table, const char *text)
{
	char *cell = escape(text);
	char **cells = table->cells;

	if ((table->count & (table->count - 1)) == 0)
		cells =
		    realloc(table->cells, (table->count ? 2 * table->count : 1) * sizeof(*cells));
	if (cells)
		table->cells = cells;
	if (!cell || !cells) {
		free(cell);
		table->failed = 1;
		return;
	}
	cells[table->count++] = cell;
}

static void print_row(const struct table *table, const char *const *cells)
{
	for (size_t i = 0; i < table->columns; i++) {
		size_t width =
		    table->widths[i] + GAP > LEAST_WIDTH ? table->widths[i] + GAP : LEAST_WIDTH;
		int blanks = i + 1 < table->columns ? (int)(width - letters(cells[i])) : 0;
		print_out("%s%*s", cells[i], blanks, "");
	}
	putchar('\n');
}

static void forget(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->count = 0;
}

int table_print(struct table *table)
{
	size_t whole = table->failed ? 0 : table->count - table->count % table->columns;

	for (size_t i = 0; i < whole; i++) {
		size_t width = letters(table->cells[i]);
		if (width > table->widths[i % table->columns])
			table->widths[i % table->columns] = width;
	}
	if (whole && !table->begun && !table->no_headers)
		print_row(table, table->headers);
	table->begun |= whole != 0;
	for (size_t i = 0; i < whole; i += table->columns)
		print_row(table, (const char *const *)table->cells + i);
	forget(table);
	fflush(stdout); /* --watch shows each row at once */
	return table->failed ? MPIJOB_ERR_NOMEM : 0;
}

void table_free(struct table *table)
{
	forget(table);
}
