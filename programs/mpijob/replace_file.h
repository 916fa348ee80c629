/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a file in one step.
 */
#ifndef MPIJOB_PROGRAM_REPLACE_FILE_H
#define MPIJOB_PROGRAM_REPLACE_FILE_H

#include <stddef.h>

/*
 * Write a file, so that at every moment it has its old content or all of the new one. A file that
 * exists keeps its mode, and its owner if possible; a symbolic link stays one. Returns 0, or -1 and
 * sets errno; the file is then as before.
 */
int replace_file(const char *path, const char *data, size_t len);

#endif
