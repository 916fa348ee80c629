/* SPDX-License-Identifier: Apache-2.0 */
/* Create and free a transport; mpijob_http_new() is public. */
#ifndef MPIJOB__HTTP_OPEN_H
#define MPIJOB__HTTP_OPEN_H

#include "http/transport.h"

/* Free the transport. Its calls must be freed already. */
void mpijob__http_open_free(struct mpijob_http *http);

#endif
