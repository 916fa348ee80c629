/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_RULES_H
#define MPIJOB_LOCAL_RULES_H

#include "local/reply.h"

/* Both return 0 or MPIJOB_ERR_NOMEM. reply->status is above 0 if the object is rejected. */

/* Set the defaults of a new object and check it. Its metadata must be complete. */
int mpijob__local_rules_new(const struct mpijob__local_kind *kind, mpijob_doc *doc,
    struct mpijob__local_reply *reply);

/* Check an update. */
int mpijob__local_rules_change(const struct mpijob__local_object *old, mpijob_doc *doc,
    struct mpijob__local_reply *reply);

#endif
