/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of a configuration: credentials and impersonation. */
#ifndef MPIJOB__HTTP_RESOLVE_USER_H
#define MPIJOB__HTTP_RESOLVE_USER_H

#include "http/resolve.h"

/* Fill the identity from the user entry and the options; report errors. */
void mpijob__http_resolve_user(struct mpijob__http_resolve *resolve);

#endif
