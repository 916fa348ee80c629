/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables on standard output, as kubectl draws them.
 */
#ifndef MPIJOB_PROGRAM_TABLE_H
#define MPIJOB_PROGRAM_TABLE_H

#include <stddef.h>

#define TABLE_COLUMNS 10

struct table {
	const char *headers[TABLE_COLUMNS];
	size_t columns;
	int no_headers;

	/* Its own. */
	char **cells; /* of the rows that are not printed yet */
	size_t count;
	size_t widths[TABLE_COLUMNS]; /* of all that was printed: later rows stand below */
	int begun;
	int failed; /* memory ran out */
};

/* Add a column before the first row. */
void table_column(struct table *table, const char *header);

/* Add the next cell of the row; copied; what could drive a terminal is escaped, lines after the
 * first are cut off. */
void table_cell(struct table *table, const char *text);

/* Print the rows. 0 or MPIJOB_ERR_NOMEM. */
int table_print(struct table *table);

void table_free(struct table *table);

#endif
