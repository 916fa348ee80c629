/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an object is a member of several lists at a time without an allocation, leaves each of them
 * in one step, and knows whether it is in one.
 */
#include "base/list.h"

#include <stddef.h>

void mpijob__base_list_init(struct mpijob__base_list *head)
{
	head->prev = head->next = head;
	head->owner = NULL;
}

void *mpijob__base_list_first(const struct mpijob__base_list *head)
{
	return head->next ? head->next->owner : NULL;
}

int mpijob__base_list_is_linked(const struct mpijob__base_list *link)
{
	return link->next != NULL;
}

void mpijob__base_list_insert(struct mpijob__base_list *place, struct mpijob__base_list *link,
    void *owner)
{
	link->owner = owner;
	link->prev = place->prev;
	link->next = place;
	place->prev->next = link;
	place->prev = link;
}

void mpijob__base_list_remove(struct mpijob__base_list *link)
{
	if (!link->next)
		return;
	link->prev->next = link->next;
	link->next->prev = link->prev;
	link->prev = link->next = NULL;
}
