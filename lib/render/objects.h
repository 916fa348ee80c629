/* SPDX-License-Identifier: Apache-2.0 */
/* Inside lib/render: the members of mpijob_objects. */
#ifndef MPIJOB_RENDER_OBJECTS_H
#define MPIJOB_RENDER_OBJECTS_H

#include "render/build.h"

#include "base/text.h"

/* the common text of all workers in each format, made when the first single worker is written */
struct mpijob__render_stencils;

struct mpijob_objects {
	/* a copy that `subject` borrows from; NULL: `subject` borrows from the caller's job */
	mpijob *job;
	/* after mpijob_render() without pointers into the caller's options */
	struct mpijob__render_subject subject;
	size_t counts[MPIJOB__RENDER_ROLES]; /* number of children by role */
	/* by role; of workers only index 0; NULL: not made yet */
	mpijob_doc *docs[MPIJOB__RENDER_ROLES];
	/* not NULL; a cache that writing a worker fills */
	struct mpijob__render_stencils *stencils;
	struct mpijob__render_ssh_key *key; /* NULL: placeholders */
	struct mpijob_text name;            /* name in the last mpijob_object_head */
	int volcano;                        /* the gang scheduler is Volcano */
};

/* Get the role and the worker's index (0 for other roles) of a child. Returns 1, or 0 when there is
 * no such child. */
int mpijob__render_objects_locate(const mpijob_objects *objects, size_t index, int32_t *role,
    int32_t *worker);

/* Make an empty print; NULL when memory ran out. */
struct mpijob__render_stencils *mpijob__render_stencils_new(void);
void mpijob__render_stencils_free(struct mpijob__render_stencils *stencils);

#endif /* MPIJOB_RENDER_OBJECTS_H */
