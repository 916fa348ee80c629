/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on paths as strings; no file is accessed. */
#ifndef MPIJOB__HTTP_PATH_H
#define MPIJOB__HTTP_PATH_H

/* Join `base` and `path` and clean the result; an absolute `path` is copied unchanged. The caller
 * frees it; NULL when memory ran out. */
char *mpijob__http_path_join(const char *base, const char *path);
/* Remove ".", "..", double slashes and a slash at the end: "a/./b//../c" becomes "a/c". The caller
 * frees it; NULL when memory ran out. */
char *mpijob__http_path_clean(const char *path);
/* The absolute directory of a file. The caller frees it; NULL with errno ENOMEM or that of
 * getcwd(). */
char *mpijob__http_path_directory(const char *file);
/* The absolute path of a file. Ownership and errors are the same. */
char *mpijob__http_path_absolute(const char *file);

#endif
