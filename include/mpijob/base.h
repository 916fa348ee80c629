/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file base.h
 * What every other header of libmpijob builds on: result codes, text sinks, and the version.
 *
 * The whole library follows a few rules, stated once here:
 *
 * - **Results.** A function that can fail returns 0 or a negative `MPIJOB_ERR_*`. A question
 *   returns 1 for yes, 0 for no or absent. After a failure every `out` parameter is untouched.
 * - **Ownership.** What comes out through `T **out` is yours: give it to T's `_free`. A returned
 *   `const` pointer is borrowed: it lives until its owner is changed or freed. What goes in is
 *   copied, unless the parameter says *taken*. `_free(NULL)` does nothing.
 * - **NULL.** A pointer may be NULL only where its description says so; `diag` always may. Where it
 *   may not, a function that returns result codes returns `MPIJOB_ERR_USAGE`, a question or count
 *   0, a function that returns a pointer NULL, and one that returns nothing does nothing.
 * - **Strings** are UTF-8 and end in NUL; NULL means absent. Text that becomes part of a document
 *   and is not UTF-8 is `MPIJOB_ERR_USAGE`; mpijob_node_put_lossy() takes any bytes.
 * - **Structs** that you read or fill begin with `size_t size`. Set it with the struct's `_INIT`
 *   macro (or `sizeof`); everything after it that is zero means "not given". A struct that is
 *   shorter than the library's is accepted (what is missing is "not given"); one that is longer is
 *   accepted while its unknown tail is zero, else `MPIJOB_ERR_UNSUPPORTED`; one too short to hold
 *   `size` itself is `MPIJOB_ERR_USAGE`. So is a boolean that is neither 0 nor 1, and a number that
 *   is not one of the member's constants.
 * - **Threads.** There is no global mutable state. One object is used by one thread at a time;
 *   different objects by any threads. Calls that take an object as `const` may run at the same time
 *   on several threads while no other call changes it; mpijob_plan_write_body() is the one
 *   exception. Functions that may be called from another thread at any time say so.
 * - **Time** is given in milliseconds since 1970-01-01T00:00:00Z where a name ends in `_ms`.
 * - Nothing here prints, exits, or touches signals, the locale or the environment.
 * - **C++.** All names of C begin with `mpijob_` or `MPIJOB_`, but one: the opaque type `mpijob`,
 *   the job. So a C++ program cannot have a `namespace mpijob` in the global scope of a file that
 *   includes these headers; name it otherwise, or nest it.
 */
#ifndef MPIJOB_BASE_H
#define MPIJOB_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Marks what the shared libraries export. */
#if defined(__GNUC__)
#define MPIJOB_API __attribute__((visibility("default")))
#else
#define MPIJOB_API
#endif

#define MPIJOB_VERSION_MAJOR 0 /**< Changes when the binary interface does. */
#define MPIJOB_VERSION_MINOR 1 /**< Grows with each release that adds to the interface. */
#define MPIJOB_VERSION_PATCH 0 /**< Grows with each release that only mends. */

/**
 * Tell the version of the library that is loaded, for example "0.1.0".
 *
 * @return a constant string, never NULL.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_version(void);

/** @name Result codes
 * A code exists only because a caller may want to act on it; the findings of a
 * mpijob_diag say what, where and why.
 * @{ */
#define MPIJOB_OK        0    /**< Done. */
#define MPIJOB_ERR_NOMEM (-1) /**< Memory ran out; nothing was changed. */
/** The call itself is wrong: a NULL that must not be, a struct too short. */
#define MPIJOB_ERR_USAGE     (-2)
#define MPIJOB_ERR_SYNTAX    (-3)  /**< The text is not YAML or JSON, or goes over a limit. */
#define MPIJOB_ERR_SPEC      (-4)  /**< The document is well formed, its content is refused. */
#define MPIJOB_ERR_IO        (-5)  /**< A file, socket or process failed. */
#define MPIJOB_ERR_TIMEOUT   (-6)  /**< A deadline passed. */
#define MPIJOB_ERR_CANCELLED (-7)  /**< The caller asked to stop. */
#define MPIJOB_ERR_AUTH      (-8)  /**< Credentials are missing or refused (HTTP 401, 403). */
#define MPIJOB_ERR_NOT_FOUND (-9)  /**< What was named is not there (HTTP 404). */
#define MPIJOB_ERR_CONFLICT  (-10) /**< Somebody else changed or owns it (HTTP 409). */
#define MPIJOB_ERR_REJECTED  (-11) /**< The server understood and refused (HTTP 400, 413, 422). */
/** The server failed or is overloaded (HTTP 429, 5xx); try later. */
#define MPIJOB_ERR_SERVER      (-12)
#define MPIJOB_ERR_UNSUPPORTED (-13) /**< Valid, but not something this library or server does. */
/** No connection to the server could be made: the request was never sent. */
#define MPIJOB_ERR_UNREACHABLE (-14)
/** @} */

/**
 * Give the name of a result code, for example "MPIJOB_ERR_SYNTAX".
 *
 * @param code  any integer.
 * @return a constant string, never NULL; "unknown" for a number that is no code.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_error_name(int code);

/**
 * Describe a result code in a few words, for example "out of memory".
 *
 * @param code  any integer.
 * @return a constant string, never NULL.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_error_text(int code);

/**
 * A sink for text: called with one piece after another.
 *
 * @param user  what was given beside the function.
 * @param data  the bytes; borrowed for the call; not NUL-terminated.
 * @param len   how many bytes; may be 0.
 * @return 0 to go on; a negative `MPIJOB_ERR_*` to stop, which the writing function then returns.
 */
typedef int (*mpijob_write_fn)(void *user, const char *data, size_t len);

/**
 * Text that grows: the ready-made sink. Pass mpijob_text_write() and the text itself where a
 * function wants a mpijob_write_fn and its `user`.
 */
typedef struct mpijob_text mpijob_text;

/**
 * Make an empty text.
 *
 * @return the text, yours; NULL when memory ran out.
 * @since 0.1
 */
MPIJOB_API mpijob_text *mpijob_text_new(void);

/**
 * Free a text.
 *
 * @param text  yours, or NULL. Its bytes are wiped.
 * @since 0.1
 */
MPIJOB_API void mpijob_text_free(mpijob_text *text);

/**
 * Append bytes; a mpijob_write_fn.
 *
 * @param text  the mpijob_text; not NULL (a `void *` so that the function fits mpijob_write_fn).
 * @param data  the bytes; not the text's own; may be NULL when `len` is 0.
 * @param len   how many.
 * @return 0, `MPIJOB_ERR_NOMEM` (the text keeps what it had), `MPIJOB_ERR_USAGE` (NULL).
 * @since 0.1
 */
MPIJOB_API int mpijob_text_write(void *text, const char *data, size_t len);

/**
 * Read the bytes collected so far.
 *
 * @param text  not NULL.
 * @return borrowed until the text changes; NUL-terminated; NULL only when `text` is.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_text_data(const mpijob_text *text);

/**
 * Count the bytes collected so far, without the final NUL.
 *
 * @param text  not NULL.
 * @return the number of bytes.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_text_len(const mpijob_text *text);

/**
 * Empty a text; its memory is wiped and kept for reuse.
 *
 * @param text  not NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_text_clear(mpijob_text *text);

/**
 * Write text from outside (a file, a server, an event) so that it is safe to print: what a terminal
 * would act on, and what makes a line read differently from what it is, is escaped.
 *
 * Escaped are control characters (C0 with line ends and tabs, DEL, C1), U+2028, U+2029, the
 * controls of bidirectional text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069) and
 * bytes that are not UTF-8: as `\xNN` what is one byte, as `\uNNNN` what is a longer character. All
 * other characters, the backslash too, are written unchanged.
 *
 * @param text   the bytes; NULL when `len` is 0, else not NULL; need not end in NUL.
 * @param len    how many.
 * @param write  the sink; not NULL.
 * @param user   passed to the sink.
 * @return 0, `MPIJOB_ERR_USAGE` (NULL), or what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_escaped_write(const char *text, size_t len, mpijob_write_fn write,
    void *user);

/**
 * Find the word that was probably meant by one that was mistyped, as the findings of this library
 * do for "did you mean".
 *
 * A word is near when one edit for every three letters is enough (a letter more, less or another
 * one, or two neighbours swapped; upper and lower case are the same), and no other of the words is
 * as near.
 *
 * @param word   what was typed; not NULL.
 * @param words  what there is; NULL among them is passed over; may be NULL when `count` is 0.
 * @param count  how many.
 * @return one of `words`, borrowed, never equal to `word`; NULL when none is near, or two are.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_nearest(const char *word, const char *const *words, size_t count);

/**
 * Read a span of time as people write it: "90s", "5m", "1h30m", "250ms"; a number without a unit at
 * the end counts seconds.
 *
 * @param text  not NULL.
 * @param ms    set to milliseconds; not NULL; untouched on failure.
 * @return 0; `MPIJOB_ERR_SYNTAX` (no such span, or one beyond 2^53 ms); `MPIJOB_ERR_USAGE` (NULL).
 * @since 0.1
 */
MPIJOB_API int mpijob_duration_parse(const char *text, int64_t *ms);

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_BASE_H */
