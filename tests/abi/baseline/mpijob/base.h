/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_BASE_H
#define MPIJOB_BASE_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#define MPIJOB_API __attribute__((visibility("default")))
#else
#define MPIJOB_API
#endif
#if defined(__GNUC__) && !defined(MPIJOB_NO_DEPRECATED)
#define MPIJOB_DEPRECATED(use) __attribute__((deprecated(use)))
#else
#define MPIJOB_DEPRECATED(use)
#endif
#define MPIJOB_VERSION_MAJOR 0
#define MPIJOB_VERSION_MINOR 1
#define MPIJOB_VERSION_PATCH 0
MPIJOB_API const char *mpijob_version(void);
#define MPIJOB_VERSION_NUMBER 1000
MPIJOB_API int32_t mpijob_version_number(void);
MPIJOB_API size_t mpijob_struct_size(const char *name);
#define MPIJOB_OK 0
#define MPIJOB_ERR_NOMEM (-1)
#define MPIJOB_ERR_USAGE (-2)
#define MPIJOB_ERR_SYNTAX (-3)
#define MPIJOB_ERR_SPEC (-4)
#define MPIJOB_ERR_IO (-5)
#define MPIJOB_ERR_TIMEOUT (-6)
#define MPIJOB_ERR_CANCELLED (-7)
#define MPIJOB_ERR_AUTH (-8)
#define MPIJOB_ERR_NOT_FOUND (-9)
#define MPIJOB_ERR_CONFLICT (-10)
#define MPIJOB_ERR_REJECTED (-11)
#define MPIJOB_ERR_SERVER (-12)
#define MPIJOB_ERR_UNSUPPORTED (-13)
#define MPIJOB_ERR_UNREACHABLE (-14)
MPIJOB_API const char *mpijob_error_name(int code);
MPIJOB_API const char *mpijob_error_text(int code);
typedef int (*mpijob_write_fn)(void *user, const char *data, size_t len);
typedef struct mpijob_text mpijob_text;
MPIJOB_API mpijob_text *mpijob_text_new(void);
MPIJOB_API void mpijob_text_free(mpijob_text *text);
MPIJOB_API int mpijob_text_write(void *text, const char *data, size_t len);
MPIJOB_API const char *mpijob_text_data(const mpijob_text *text);
MPIJOB_API size_t mpijob_text_len(const mpijob_text *text);
MPIJOB_API void mpijob_text_clear(mpijob_text *text);
MPIJOB_API int mpijob_escaped_write(const char *text, size_t len, mpijob_write_fn write, void *user);
#ifdef __cplusplus
}
#endif
#endif
