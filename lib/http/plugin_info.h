/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of an exec credential plugin. */
#ifndef MPIJOB__HTTP_PLUGIN_INFO_H
#define MPIJOB__HTTP_PLUGIN_INFO_H

#include "http/config.h"

/* The environment of a plugin: ours, its own variables, KUBERNETES_EXEC_INFO; closed by NULL; NULL
 * when memory ran out.
 */
char **mpijob__http_plugin_environment(const struct mpijob__http_exec_plugin *exec,
    const char *info);
void mpijob__http_plugin_free_environment(char **environment);
/* The value of KUBERNETES_EXEC_INFO; the caller frees it; NULL when memory ran out. `ca` is the PEM
 * for the server. */
char *mpijob__http_plugin_info(const mpijob_http_config *config, const mpijob__http_secret *ca,
    int interactive);

#endif
