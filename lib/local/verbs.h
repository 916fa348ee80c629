/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_VERBS_H
#define MPIJOB_LOCAL_VERBS_H

#include "local.h"

#define UPDATE_STATUS 1 /* only its status counts */
#define UPDATE_PATCH  2 /* it is what a patch made of the object */

/* What clients ask for. Each: 0 and a reply, or MPIJOB_ERR_NOMEM. */
int mpijob__local_verbs_create(struct mpijob_local *local, const struct kind *kind,
    const char *namespace_, const mpijob_node *body, struct reply *reply, struct object **out);
/* `fresh` is the whole new object and taken; `how`: UPDATE_*. */
int mpijob__local_verbs_update(struct mpijob_local *local, struct object *object, mpijob_doc *fresh,
    int how, struct reply *reply);
int mpijob__local_verbs_patch(struct mpijob_local *local, struct object *object,
    const mpijob_node *patch, int status, struct reply *reply);

/*
 * Store a changed copy; nothing happens when it says the same. Taken, also on failure. The object
 * may be gone afterwards. 0 or MPIJOB_ERR_NOMEM.
 */
int mpijob__local_verbs_store(struct mpijob_local *local, struct object *object, mpijob_doc *doc);

#endif
