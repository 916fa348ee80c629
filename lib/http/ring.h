/* SPDX-License-Identifier: Apache-2.0 */
/* Circular lists of calls. */
#ifndef MPIJOB__HTTP_RING_H
#define MPIJOB__HTTP_RING_H

struct mpijob__http_call;

/* An element or the head of a ring. An empty head points to itself. All zero: not in a ring. */
struct mpijob__http_link {
	struct mpijob__http_link *prev;
	struct mpijob__http_link *next;
	struct mpijob__http_call *call; /* NULL in a head */
};

void mpijob__http_ring_init(struct mpijob__http_link *head);
int mpijob__http_ring_has(const struct mpijob__http_link *link);
/* Insert `link` before `place`; before the head means at the end. */
void mpijob__http_ring_insert(struct mpijob__http_link *place, struct mpijob__http_link *link);
/* Does nothing when the link is not in a ring. */
void mpijob__http_ring_leave(struct mpijob__http_link *link);

#endif
