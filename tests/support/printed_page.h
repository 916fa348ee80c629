/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages under docs/ that are generated from a table of the library: the unit test of the table
 * compares the page with it, and writes the page when UPDATE_CASES is set.
 */
#ifndef TESTS_SUPPORT_PRINTED_PAGE_H
#define TESTS_SUPPORT_PRINTED_PAGE_H

#define PRINTED_PAGE_MOST (1 << 20) /* limit of a page in bytes */

/* The text of a file, yours; "" when it does not exist. */
char *printed_page_read(const char *path);
/* Compare `page`, which is freed, with the file `name` of the source tree. */
void printed_page_check(const char *name, char *page);
#endif
