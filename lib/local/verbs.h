/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_VERBS_H
#define MPIJOB_LOCAL_VERBS_H

#include "local/local.h"

#define MPIJOB__LOCAL_UPDATE_STATUS 1 /* change only the status */
#define MPIJOB__LOCAL_UPDATE_PATCH  2 /* `fresh` is the result of a patch */

/* Requests of clients. 0 and a reply, or MPIJOB_ERR_NOMEM. */
int mpijob__local_verbs_create(struct mpijob_local *local, const struct mpijob__local_kind *kind,
    const char *namespace_, const mpijob_node *body, struct mpijob__local_reply *reply,
    struct mpijob__local_object **out);
/* `fresh` is the whole new object; the call takes ownership. `how` is UPDATE_* or 0. */
int mpijob__local_verbs_update(struct mpijob_local *local, struct mpijob__local_object *object,
    mpijob_doc *fresh, int how, struct mpijob__local_reply *reply);
int mpijob__local_verbs_patch(struct mpijob_local *local, struct mpijob__local_object *object,
    const mpijob_node *patch, int status, struct mpijob__local_reply *reply);

/*
 * Store a changed copy, unless it equals the stored object. Takes ownership of `doc`, also on
 * failure. The object is freed if the change completes its deletion. 0 or MPIJOB_ERR_NOMEM.
 */
int mpijob__local_verbs_store(struct mpijob_local *local, struct mpijob__local_object *object,
    mpijob_doc *doc);

#endif
