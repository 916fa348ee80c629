/* SPDX-License-Identifier: Apache-2.0 */
/* The program of an exec credential plugin. */
#ifndef MPIJOB__HTTP_PLUGIN_FIND_H
#define MPIJOB__HTTP_PLUGIN_FIND_H

#include "http/config.h"

/*
 * Find the program of a command. `allowed` lists the allowed commands and ends with NULL; NULL
 * allows all. 0, and the caller frees *out; MPIJOB__HTTP_PLUGIN_NOT_FOUND or _FORBIDDEN;
 * MPIJOB_ERR_NOMEM.
 */
int mpijob__http_plugin_find(const char *command, char *const *allowed, char **out);

#endif
