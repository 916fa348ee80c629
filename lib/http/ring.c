/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intrusive circular lists of calls. A call has one link per list, so that it can be in several
 * lists, and it leaves a list in constant time.
 */
#include "http/ring.h"

#include <stddef.h>

void mpijob__http_ring_init(struct mpijob__http_link *head)
{
	head->prev = head->next = head;
	head->call = NULL;
}

int mpijob__http_ring_has(const struct mpijob__http_link *link)
{
	return link->next != NULL;
}

void mpijob__http_ring_insert(struct mpijob__http_link *place, struct mpijob__http_link *link)
{
	link->prev = place->prev;
	link->next = place;
	place->prev->next = link;
	place->prev = link;
}

void mpijob__http_ring_leave(struct mpijob__http_link *link)
{
	if (!link->next)
		return;
	link->prev->next = link->next;
	link->next->prev = link->prev;
	link->prev = link->next = NULL;
}
