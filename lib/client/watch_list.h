/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of a watch. */
#ifndef MPIJOB__CLIENT_WATCH_LIST_H
#define MPIJOB__CLIENT_WATCH_LIST_H

#include "client/watch.h"

/* Request a list, or its next page. 0 or MPIJOB_ERR_*. */
int mpijob__client_watch_start_list(mpijob_watch *watch);

#endif
