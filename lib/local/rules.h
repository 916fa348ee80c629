/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_RULES_H
#define MPIJOB_LOCAL_RULES_H

#include "reply.h"

/* Both: 0, with reply->status above 0 when it is refused; or MPIJOB_ERR_NOMEM. */

/* Check a new object of a kind and fill in what a server would; its metadata is complete. */
int mpijob__local_rules_new(const struct kind *kind, mpijob_doc *doc, struct reply *reply);

/* Check what an update may change. */
int mpijob__local_rules_change(const struct object *old, mpijob_doc *doc, struct reply *reply);

#endif
