/* SPDX-License-Identifier: Apache-2.0 */
/* Intrusive doubly linked lists. */
#ifndef MPIJOB__BASE_LIST_H
#define MPIJOB__BASE_LIST_H

/*
 * The head of a list, or the link of a member. An empty head points to itself. A link of zeros is
 * in no list. So a loop over a list is
 *
 *     for (link = head.next; link->owner; link = link->next)
 */
struct mpijob__base_list {
	struct mpijob__base_list *prev;
	struct mpijob__base_list *next;
	void *owner; /* the member; NULL in a head */
};

void mpijob__base_list_init(struct mpijob__base_list *head);
/* The first member; NULL when there are none, or the head is zeros. */
void *mpijob__base_list_first(const struct mpijob__base_list *head);
int mpijob__base_list_is_linked(const struct mpijob__base_list *link);
/* Insert before a member; before the head is at the end, before head.next at the beginning. */
void mpijob__base_list_insert(struct mpijob__base_list *place, struct mpijob__base_list *link,
    void *owner);
/* Remove a link from its list, if it is in one. */
void mpijob__base_list_remove(struct mpijob__base_list *link);

#endif
