/* SPDX-License-Identifier: Apache-2.0 */
/* File names, by their spelling alone: no file is accessed. */
#ifndef MPIJOB__HTTP_PATH_H
#define MPIJOB__HTTP_PATH_H

/* `path` relative to the directory `base`, without "." and "..", doubled slashes and a slash at the
 * end; an absolute `path` is copied as it is. The caller frees it; NULL when memory ran out. */
char *mpijob__http_path_join(const char *base, const char *path);
/* Shorten "a/./b//../c" to "a/c". The caller frees it; NULL when memory ran out. */
char *mpijob__http_path_clean(const char *path);
/* The absolute directory of a file. The caller frees it; NULL with errno: ENOMEM, or getcwd's. */
char *mpijob__http_path_folder(const char *file);
/* The absolute name of a file. As above. */
char *mpijob__http_path_absolute(const char *file);

#endif
