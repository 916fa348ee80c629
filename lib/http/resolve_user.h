/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of a configuration. */
#ifndef MPIJOB__HTTP_RESOLVE_USER_H
#define MPIJOB__HTTP_RESOLVE_USER_H

#include "http/resolve.h"

/* The steps of it. */
void mpijob__http_resolve_user(struct mpijob__http_resolve *resolve);

#endif
