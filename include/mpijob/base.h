/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file base.h
 * Included by every other header of libmpijob: result codes, text sinks, and the version.
 *
 * These rules hold for the whole library:
 *
 * - **Results.** A function that can fail returns 0 or a negative `MPIJOB_ERR_*`. A query returns 1
 *   for yes, 0 for no or absent. After a failure every `out` parameter is unchanged.
 * - **Ownership.** An object that a function returns through `T **out` belongs to you: free it with
 *   T's `_free`. A returned `const` pointer is borrowed: it is valid until its owner is changed or
 *   freed. Inputs are copied, unless the parameter says *taken*: then the library owns them.
 *   `_free(NULL)` does nothing.
 * - **NULL.** A pointer may be NULL only where its description says so; `diag` always may. If
 *   another pointer is NULL, a function that returns result codes returns `MPIJOB_ERR_USAGE`, a
 *   query or count returns 0, a function that returns a pointer returns NULL, and a `void` function
 *   does nothing.
 * - **Strings** are UTF-8 and end in NUL; NULL means absent. Functions that add text to a document
 *   return `MPIJOB_ERR_USAGE` if it is not UTF-8; mpijob_node_put_lossy() accepts any bytes.
 * - **Structs** that you read or fill begin with `size_t size`. Set it with the struct's `_INIT`
 *   macro (or `sizeof`). A member that is zero is "not given". The library accepts a shorter struct
 *   of an older version (its missing members are not given) and a longer struct of a newer version
 *   whose unknown members are zero; if one of them is not zero, it returns
 *   `MPIJOB_ERR_UNSUPPORTED`. It returns `MPIJOB_ERR_USAGE` for a struct too short to hold `size`,
 *   a boolean that is neither 0 nor 1, and a number that is not one of the member's constants.
 * - **Threads.** There is no global mutable state. One object is used by one thread at a time;
 *   different objects by any threads. Several threads may call functions with the same `const`
 *   object while no thread changes it; mpijob_plan_write_body() is the one exception. Functions
 *   that may be called from any thread at any time say so.
 * - **Time**: a time whose name ends in `_ms` is in milliseconds since 1970-01-01T00:00:00Z; a span
 *   of time is in milliseconds.
 * - The library does not print or exit, and does not use signals, the locale or the environment.
 * - **C++.** All names begin with `mpijob_` or `MPIJOB_`, except the opaque type `mpijob` (the
 *   job). So a C++ file that includes these headers cannot declare a global `namespace mpijob`;
 *   choose another name, or nest it.
 *
 * @par Stability
 * Frozen at 1.0.
 */
#ifndef MPIJOB_BASE_H
#define MPIJOB_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Marks the functions that the shared libraries export. */
#if defined(__GNUC__)
#define MPIJOB_API __attribute__((visibility("default")))
#else
#define MPIJOB_API
#endif

/** Marks a function that a later major version removes; `use` says what replaces it. */
#if defined(__GNUC__) && !defined(MPIJOB_NO_DEPRECATED)
#define MPIJOB_DEPRECATED(use) __attribute__((deprecated(use)))
#else
#define MPIJOB_DEPRECATED(use)
#endif

#define MPIJOB_VERSION_MAJOR 0 /**< Changes when the binary interface does. */
#define MPIJOB_VERSION_MINOR 1 /**< Grows with each release that adds functions or members. */
#define MPIJOB_VERSION_PATCH 0 /**< Grows with each release that only fixes defects. */

/**
 * Return the version of the loaded library, for example "0.1.0".
 *
 * @return a constant string, never NULL.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_version(void);

/** The version of these headers as a number that grows with each release: 1,002,003 for 1.2.3. */
#define MPIJOB_VERSION_NUMBER 1000

/**
 * Return the version of the loaded library as a number, to compare with `MPIJOB_VERSION_NUMBER`.
 *
 * @return 1,002,003 for 1.2.3.
 * @since 0.1
 */
MPIJOB_API int32_t mpijob_version_number(void);

/**
 * Return the size of a public struct in the loaded library. A program that was compiled with the
 * headers of a younger version can see whether the library knows a member, before it sets it.
 *
 * @param name  "mpijob_render_options"; not NULL; of a struct in the headers of libmpijob.
 * @return bytes; 0 if the library has no such struct.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_struct_size(const char *name);

/**
 * @name Result codes Callers branch on the code; the findings of a mpijob_diag say what is wrong,
 * where, and why.
 * @{
 */
#define MPIJOB_OK        0    /**< Success. */
#define MPIJOB_ERR_NOMEM (-1) /**< Memory ran out; nothing was changed. */
/** The call itself is wrong: an argument that must not be NULL, a struct that is too short. */
#define MPIJOB_ERR_USAGE     (-2)
#define MPIJOB_ERR_SYNTAX    (-3)  /**< The text is not YAML or JSON, or exceeds a limit. */
#define MPIJOB_ERR_SPEC      (-4)  /**< The document is well formed, but its content is invalid. */
#define MPIJOB_ERR_IO        (-5)  /**< A file, socket or process failed. */
#define MPIJOB_ERR_TIMEOUT   (-6)  /**< A deadline passed. */
#define MPIJOB_ERR_CANCELLED (-7)  /**< The caller asked to stop. */
#define MPIJOB_ERR_AUTH      (-8)  /**< Credentials are missing or refused (HTTP 401, 403). */
#define MPIJOB_ERR_NOT_FOUND (-9)  /**< The object does not exist (HTTP 404). */
#define MPIJOB_ERR_CONFLICT  (-10) /**< Another client changed the object or owns it (HTTP 409). */
#define MPIJOB_ERR_REJECTED  (-11) /**< The server rejected the request (HTTP 400, 413, 422). */
/** The server failed or is overloaded (HTTP 429, 5xx); try later. */
#define MPIJOB_ERR_SERVER      (-12)
#define MPIJOB_ERR_UNSUPPORTED (-13) /**< Valid, but not supported by this library or server. */
/** The connection to the server failed: the request was not sent. */
#define MPIJOB_ERR_UNREACHABLE (-14)
/** @} */

/**
 * Return the name of a result code, for example "MPIJOB_ERR_SYNTAX".
 *
 * @param code  any integer.
 * @return a constant string, never NULL; "unknown" for a number that is not a code.
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
 * A sink for text: it receives one piece after another.
 *
 * @param user  the pointer that was passed with the function.
 * @param data  the bytes; borrowed for the call; not NUL-terminated.
 * @param len   how many bytes; may be 0.
 * @return 0 to continue; a negative `MPIJOB_ERR_*` to stop: the writing function returns it.
 */
typedef int (*mpijob_write_fn)(void *user, const char *data, size_t len);

/**
 * A text buffer that grows. It is also a sink: pass mpijob_text_write() as the mpijob_write_fn and
 * the text as its `user`.
 */
typedef struct mpijob_text mpijob_text;

/**
 * Make an empty text.
 *
 * @return the text, yours; NULL if memory ran out.
 * @since 0.1
 */
MPIJOB_API mpijob_text *mpijob_text_new(void);

/**
 * Free a text.
 *
 * @param text  yours, or NULL. Its bytes are overwritten with zeros first.
 * @since 0.1
 */
MPIJOB_API void mpijob_text_free(mpijob_text *text);

/**
 * Append bytes; a mpijob_write_fn.
 *
 * @param text  the mpijob_text; not NULL (a `void *` so that the function fits mpijob_write_fn).
 * @param data  the bytes; not part of `text` itself; may be NULL when `len` is 0.
 * @param len   how many.
 * @return 0, `MPIJOB_ERR_NOMEM` (the text is unchanged), `MPIJOB_ERR_USAGE` (NULL).
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
 * Empty a text. Its bytes are overwritten with zeros; its memory is kept for reuse.
 *
 * @param text  not NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_text_clear(mpijob_text *text);

/**
 * Write text from outside (a file, a server, an event) so that it is safe to print: characters that
 * control a terminal, or that make a line look different from its content, are escaped.
 *
 * These are control characters (C0 with line ends and tabs, DEL, C1), U+2028, U+2029, the controls
 * of bidirectional text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069) and bytes that
 * are not UTF-8. A single byte is written as `\xNN`, a longer character as `\uNNNN`. All other
 * characters, also the backslash, are written unchanged.
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

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_BASE_H */
