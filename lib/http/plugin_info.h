/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of an exec credential plugin. */
#ifndef MPIJOB__HTTP_PLUGIN_INFO_H
#define MPIJOB__HTTP_PLUGIN_INFO_H

#include "http/config.h"

/* Build the environment of a plugin: that of this process, the variables of its entry, and
 * KUBERNETES_EXEC_INFO with the value `info`. It ends with NULL. NULL when memory ran out. */
char **mpijob__http_plugin_environment(const struct mpijob__http_exec_plugin *exec,
    const char *info);
void mpijob__http_plugin_free_environment(char **environment);
/* Build the value of KUBERNETES_EXEC_INFO. `ca` is the PEM of the server's CA, or empty. The caller
 * frees it; NULL when memory ran out. */
char *mpijob__http_plugin_info(const mpijob_http_config *config, const mpijob__http_secret *ca,
    int interactive);

#endif
