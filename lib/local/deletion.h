/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_DELETION_H
#define MPIJOB_LOCAL_DELETION_H

#include "local/local.h"

#define MPIJOB__LOCAL_DELETE_DEFAULT    0
#define MPIJOB__LOCAL_DELETE_BACKGROUND 1
#define MPIJOB__LOCAL_DELETE_FOREGROUND 2
#define MPIJOB__LOCAL_DELETE_ORPHAN     3

#define MPIJOB__LOCAL_FINALIZER_FOREGROUND "foregroundDeletion"

struct mpijob__local_delete_options {
	const char *uid;     /* NULL: any */
	const char *version; /* NULL: any */
	int64_t grace;       /* seconds; -1: not given */
	int policy;
};

/* Serve a DELETE request. 0 and a reply, or MPIJOB_ERR_NOMEM. */
int mpijob__local_deletion_serve(struct mpijob_local *local, struct mpijob__local_object *object,
    const struct mpijob__local_delete_options *options, struct mpijob__local_reply *reply);

/* For controllers: delete an object, remove a finalizer. The object may be freed by the call. 0 or
 * MPIJOB_ERR_NOMEM. */
int mpijob__local_deletion_run(struct mpijob_local *local, struct mpijob__local_object *object,
    int policy, int64_t grace);
int mpijob__local_deletion_remove_finalizer(struct mpijob_local *local,
    struct mpijob__local_object *object, const char *finalizer);
int mpijob__local_deletion_has_finalizer(const struct mpijob__local_object *object,
    const char *finalizer);
/* Whether any object has this one as an owner. */
int mpijob__local_deletion_has_children(const struct mpijob_local *local,
    const struct mpijob__local_object *owner);

#endif
