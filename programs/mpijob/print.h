/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing with text from outside: names, messages, statuses, paths, words of the command line.
 */
#ifndef MPIJOB_PROGRAM_PRINT_H
#define MPIJOB_PROGRAM_PRINT_H

#include <stdarg.h>
#include <stdio.h>

/*
 * As printf() and its relatives, but each string (%s, %c) is escaped as by mpijob_escaped_write().
 * The format itself is the program's own and printed as it is. Known: %% %s %c %d %u %f with flags
 * '-', a width, a precision, and l, ll, z.
 */
void print_out(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_to(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
void print_values(FILE *stream, const char *format, va_list values)
    __attribute__((format(printf, 2, 0)));

#endif
