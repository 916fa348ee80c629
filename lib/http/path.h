/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files, by their spelling alone: no file is looked at. */
#ifndef MPIJOB__HTTP_PATH_H
#define MPIJOB__HTTP_PATH_H

/* `path` seen from the folder `base`, without "." and "..", doubled slashes and a slash at the end;
 * an absolute `path` is copied as it is. Memory of its own, or NULL. */
char *mpijob__http_path_join(const char *base, const char *path);
/* Shorten "a/./b//../c" to "a/c". Memory of its own, or NULL. */
char *mpijob__http_path_clean(const char *path);
/* The absolute folder that a file is in. Memory of its own, or NULL (errno ENOMEM, or what getcwd
 * said). */
char *mpijob__http_path_folder(const char *file);
/* An absolute name for a file, seen from the working directory. As above. */
char *mpijob__http_path_absolute(const char *file);

#endif
