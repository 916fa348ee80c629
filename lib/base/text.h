/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows: the members of mpijob_text. */
#ifndef MPIJOB__BASE_TEXT_H
#define MPIJOB__BASE_TEXT_H

#include <mpijob/base.h>

#include <stdarg.h>
#include <string.h>

#if defined(__GNUC__)
#define MPIJOB__BASE_PRINTF(at, first) __attribute__((__format__(__printf__, at, first)))
#else
#define MPIJOB__BASE_PRINTF(at, first)
#endif

/* The end of a message about a value that must be a string and is true or false. */
#define MPIJOB__BASE_TEXT_YAML_BOOL \
	"; YAML 1.1 also reads y, yes, on, n, no and off so: put it in quotes"

/* Whether `text`, which may be NULL, is this string. */
static inline int mpijob__base_text_is(const char *text, const char *string)
{
	return text && strcmp(text, string) == 0;
}

/* Whether both, which may be NULL, are the same string. */
static inline int mpijob__base_text_same(const char *a, const char *b)
{
	return a == b || (b && mpijob__base_text_is(a, b));
}

/* Whether `text`, which may be NULL, has this beginning. */
static inline int mpijob__base_text_begins(const char *text, const char *with)
{
	return text && strncmp(text, with, strlen(with)) == 0;
}

/* Whether `text` has this end, and something before it. */
static inline int mpijob__base_text_ends(const char *text, const char *with)
{
	size_t len = strlen(text), end = strlen(with);

	return len > end && strcmp(text + len - end, with) == 0;
}

/* The last part of a path, which may be NULL. */
static inline const char *mpijob__base_text_file_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* Whether a string, which may be NULL, is one of these, which end with NULL. */
int mpijob__base_text_is_one_of(const char *text, const char *const *strings);
/* Copy a string, which may be NULL. Returns 0 or MPIJOB_ERR_NOMEM. */
int mpijob__base_text_copy(const char *text, const char **out);

/* On the stack use `struct mpijob_text t = { 0 };`, then mpijob__base_text_release(). */
struct mpijob_text {
	char *data; /* NULL while empty */
	size_t len;
	size_t cap; /* without the final NUL */
};

/* Append `len` bytes; `data` may be NULL when `len` is 0. Returns 0 or MPIJOB_ERR_NOMEM. */
int mpijob__base_text_append(struct mpijob_text *text, const char *data, size_t len);
/* Append a NUL-terminated string. Returns 0 or MPIJOB_ERR_NOMEM. */
int mpijob__base_text_puts(struct mpijob_text *text, const char *string);
/* Append formatted text of any length. Floating-point formats are not allowed: they depend on the
 * locale. Returns 0 or MPIJOB_ERR_NOMEM. */
int mpijob__base_text_printf(struct mpijob_text *text, const char *format, ...)
    MPIJOB__BASE_PRINTF(2, 3);
int mpijob__base_text_vprintf(struct mpijob_text *text, const char *format, va_list args)
    MPIJOB__BASE_PRINTF(2, 0);
/* Print into a new string, yours; NULL when out of memory. The same formats. */
char *mpijob__base_text_format(const char *format, ...) MPIJOB__BASE_PRINTF(1, 2);
char *mpijob__base_text_vformat(const char *format, va_list args) MPIJOB__BASE_PRINTF(1, 0);
/* Reserve `len` more bytes and a NUL; the caller writes them at data + len. Returns 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__base_text_reserve(struct mpijob_text *text, size_t len);
/* Wipe and free the bytes, not the struct itself. */
void mpijob__base_text_release(struct mpijob_text *text);

#endif
