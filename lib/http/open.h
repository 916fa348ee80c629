/* SPDX-License-Identifier: Apache-2.0 */
/* How a transport is made and unmade. */
#ifndef MPIJOB__HTTP_OPEN_H
#define MPIJOB__HTTP_OPEN_H

#include "http/transport.h"

/* Free all but its calls, which are gone. */
void mpijob__http_open_clear(struct mpijob_http *http);

#endif
