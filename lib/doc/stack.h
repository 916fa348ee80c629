/* SPDX-License-Identifier: Apache-2.0 */
/* A stack of small structs, in place of recursion: trees may be deeper than the C stack. */
#ifndef MPIJOB__DOC_STACK_H
#define MPIJOB__DOC_STACK_H

#include <stddef.h>

/* Begin with `{ .size = sizeof(struct frame) }`. */
struct mpijob__doc_stack {
	size_t size; /* of one element */
	char *data;
	size_t count;
	size_t cap;
};

/* Put a copy of an element on top. The new top, which moves with the next push, or NULL when memory
 * ran out. */
void *mpijob__doc_stack_push(struct mpijob__doc_stack *stack, const void *element);
/* The top, or NULL when the stack is empty. */
void *mpijob__doc_stack_top(const struct mpijob__doc_stack *stack);
/* An element by its height. */
void *mpijob__doc_stack_at(const struct mpijob__doc_stack *stack, size_t index);
/* Take the top off. */
void mpijob__doc_stack_pop(struct mpijob__doc_stack *stack);
void mpijob__doc_stack_free(struct mpijob__doc_stack *stack);

#endif
