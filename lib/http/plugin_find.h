/* SPDX-License-Identifier: Apache-2.0 */
/* The program of an exec credential plugin. */
#ifndef MPIJOB__HTTP_PLUGIN_FIND_H
#define MPIJOB__HTTP_PLUGIN_FIND_H

#include "http/config.h"

/*
 * Find the program of a command; `allowed` are the commands that may run, NULL for all. 0;
 * MPIJOB__HTTP_PLUGIN_NOT_FOUND or _FORBIDDEN; MPIJOB_ERR_NOMEM.
 */
int mpijob__http_plugin_find(const char *command, char *const *allowed, char **out);

#endif
