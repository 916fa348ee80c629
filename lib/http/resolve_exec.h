/* SPDX-License-Identifier: Apache-2.0 */
/* The exec entry of a user. */
#ifndef MPIJOB__HTTP_RESOLVE_EXEC_H
#define MPIJOB__HTTP_RESOLVE_EXEC_H

#include "http/resolve.h"

void mpijob__http_resolve_exec(struct mpijob__http_resolve *resolve, const mpijob_node *exec);

#endif
