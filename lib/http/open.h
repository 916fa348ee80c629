/* SPDX-License-Identifier: Apache-2.0 */
/* How a transport is opened and freed. */
#ifndef MPIJOB__HTTP_OPEN_H
#define MPIJOB__HTTP_OPEN_H

#include "http/transport.h"

/* Free all except its calls, which are freed already. */
void mpijob__http_open_clear(struct mpijob_http *http);

#endif
