/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages that the daemon serves over HTTP. Their `user` is struct state.
 */
#ifndef MPIJOB_OPERATOR_PAGES_H
#define MPIJOB_OPERATOR_PAGES_H

#include "server.h"

extern const struct server_page health_pages[];
extern const struct server_page monitoring_pages[];

#endif
