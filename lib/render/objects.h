/* SPDX-License-Identifier: Apache-2.0 */
/* Inside lib/render: what a mpijob_objects holds. */
#ifndef MPIJOB_RENDER_OBJECTS_H
#define MPIJOB_RENDER_OBJECTS_H

#include "render/build.h"

#include "base/text.h"

/* the workers' common text in each format, once one of them was written alone */
struct mpijob__render_print;

struct mpijob_objects {
	/* a copy; `subject` borrows from it; NULL: from somebody else */
	mpijob *job;
	/* of mpijob_render(): without pointers into the caller's options */
	struct mpijob__render_subject subject;
	size_t counts[MPIJOB__RENDER_ROLES]; /* of children by role */
	/* by role; the worker's is that of index 0; NULL: not made */
	mpijob_doc *docs[MPIJOB__RENDER_ROLES];
	/* not NULL; writing a worker adds to it */
	struct mpijob__render_print *print;
	mpijob_ssh_key *key;     /* NULL: placeholders */
	struct mpijob_text name; /* of the last head */
	struct mpijob_pod_group pod_group;
	int32_t timeout;
};

/* The role and the worker's index (0 for all else) of a child. Returns 1, or 0 when there is no
 * such child. */
int mpijob__render_objects_locate(const mpijob_objects *objects, size_t index, int32_t *role,
    int32_t *worker);

/* Make an empty print; NULL when memory ran out. */
struct mpijob__render_print *mpijob__render_print_new(void);
void mpijob__render_print_free(struct mpijob__render_print *print);

#endif /* MPIJOB_RENDER_OBJECTS_H */
