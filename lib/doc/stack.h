/* SPDX-License-Identifier: Apache-2.0 */
/* A stack of small structs instead of recursion, because trees may be deeper than the C stack
 * allows. */
#ifndef MPIJOB__DOC_STACK_H
#define MPIJOB__DOC_STACK_H

#include <stddef.h>

/* Initialise with `{ .size = sizeof(struct frame) }`. */
struct mpijob__doc_stack {
	size_t size; /* of one element */
	char *data;
	size_t count;
	size_t cap;
};

/* Push a copy of an element. Returns the new top, which the next push may move, or NULL when memory
 * ran out. */
void *mpijob__doc_stack_push(struct mpijob__doc_stack *stack, const void *element);
/* The top, or NULL when the stack is empty. */
void *mpijob__doc_stack_top(const struct mpijob__doc_stack *stack);
/* Get an element; 0 is the bottom. */
void *mpijob__doc_stack_at(const struct mpijob__doc_stack *stack, size_t index);
/* Remove the top. */
void mpijob__doc_stack_pop(struct mpijob__doc_stack *stack);
void mpijob__doc_stack_free(struct mpijob__doc_stack *stack);

#endif
