/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of calls. */
#ifndef MPIJOB__HTTP_RING_H
#define MPIJOB__HTTP_RING_H

struct call;

/* A place in a ring, or its head; an empty ring's head points to itself. All zero: in no ring. */
struct link {
	struct link *prev;
	struct link *next;
	struct call *call; /* NULL in a head */
};

void mpijob__http_ring_init(struct link *head);
int mpijob__http_ring_has(const struct link *link);
/* Before a place; before the head is at the end. */
void mpijob__http_ring_insert(struct link *place, struct link *link);
/* Nothing happens when it is in no ring. */
void mpijob__http_ring_leave(struct link *link);

#endif
