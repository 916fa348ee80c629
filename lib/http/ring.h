/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of calls. */
#ifndef MPIJOB__HTTP_RING_H
#define MPIJOB__HTTP_RING_H

struct mpijob__http_call;

/* A place in a ring, or its head; an empty ring's head points to itself. All zero: in no ring. */
struct mpijob__http_link {
	struct mpijob__http_link *prev;
	struct mpijob__http_link *next;
	struct mpijob__http_call *call; /* NULL in a head */
};

void mpijob__http_ring_init(struct mpijob__http_link *head);
int mpijob__http_ring_has(const struct mpijob__http_link *link);
/* Before a place; before the head is at the end. */
void mpijob__http_ring_insert(struct mpijob__http_link *place, struct mpijob__http_link *link);
/* Nothing happens when it is in no ring. */
void mpijob__http_ring_leave(struct mpijob__http_link *link);

#endif
