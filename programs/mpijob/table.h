/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables on standard output, as kubectl prints them.
 */
#ifndef MPIJOB_PROGRAM_TABLE_H
#define MPIJOB_PROGRAM_TABLE_H

#include <stddef.h>

#define TABLE_COLUMNS 10

struct table {
	const char *headers[TABLE_COLUMNS];
	size_t columns;
	int no_headers;

	/* Private. */
	char **cells; /* of the rows that are not printed yet */
	size_t count;
	size_t widths[TABLE_COLUMNS]; /* of all printed rows: later ones use the same */
	int begun;
	int failed; /* memory ran out */
};

/* Add a column before the first row. */
void table_column(struct table *table, const char *header);

/* Add the next cell of the row; copied; control characters are escaped, and only the first line is
 * used. */
void table_cell(struct table *table, const char *text);

/* Print the rows. 0 or MPIJOB_ERR_NOMEM. */
int table_print(struct table *table);

void table_free(struct table *table);

#endif
