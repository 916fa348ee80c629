/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_LOCAL_VERBS_H
#define MPIJOB_LOCAL_VERBS_H

#include "local.h"

#define DELETE_DEFAULT    0
#define DELETE_BACKGROUND 1
#define DELETE_FOREGROUND 2
#define DELETE_ORPHAN     3

#define FINALIZER_FOREGROUND "foregroundDeletion"

struct delete_options {
	const char *uid;     /* NULL: any */
	const char *version; /* NULL: any */
	int64_t grace;       /* seconds; -1: not given */
	int policy;
};

/* What clients ask for. Each: 0 and a reply, or MPIJOB_ERR_NOMEM. */
int mpijob__verbs_create(struct mpijob_local *local, const struct kind *kind, const char *namespace_,
			 const mpijob_node *body, struct reply *reply, struct object **out);
/* `fresh` is the whole new object and taken; `status`: only its status counts. */
int mpijob__verbs_update(struct mpijob_local *local, struct object *object, mpijob_doc *fresh, int status,
			 struct reply *reply);
int mpijob__verbs_patch(struct mpijob_local *local, struct object *object, const mpijob_node *patch, int status,
			struct reply *reply);
int mpijob__verbs_delete(struct mpijob_local *local, struct object *object, const struct delete_options *options,
			 struct reply *reply);

/* What controllers do; the object may be gone afterwards. 0 or MPIJOB_ERR_NOMEM. */

/* Store a changed copy; nothing happens when it says the same. Taken, also on failure. */
int mpijob__verbs_store(struct mpijob_local *local, struct object *object, mpijob_doc *doc);
int mpijob__verbs_remove(struct mpijob_local *local, struct object *object, int policy, int64_t grace);
int mpijob__verbs_finalize(struct mpijob_local *local, struct object *object, const char *finalizer);
int mpijob__verbs_has_finalizer(const struct object *object, const char *finalizer);

#endif
