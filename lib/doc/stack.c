/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack on the heap. Copying, comparing, merging, reading and writing trees use it, so that a
 * deep document cannot exhaust the C stack.
 */
#include "doc/stack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *mpijob__doc_stack_push(struct mpijob__doc_stack *stack, const void *element)
{
	void *top;

	if (stack->count == stack->cap) {
		size_t cap = stack->cap ? stack->cap * 2 : 16;
		char *data =
		    cap < SIZE_MAX / stack->size ? realloc(stack->data, cap * stack->size) : NULL;

		if (!data)
			return NULL;
		stack->data = data;
		stack->cap = cap;
	}
	top = stack->data + stack->count++ * stack->size;
	memcpy(top, element, stack->size);
	return top;
}

void *mpijob__doc_stack_at(const struct mpijob__doc_stack *stack, size_t index)
{
	return stack->data + index * stack->size;
}

void *mpijob__doc_stack_top(const struct mpijob__doc_stack *stack)
{
	return stack->count ? mpijob__doc_stack_at(stack, stack->count - 1) : NULL;
}

void mpijob__doc_stack_pop(struct mpijob__doc_stack *stack)
{
	stack->count--;
}

void mpijob__doc_stack_free(struct mpijob__doc_stack *stack)
{
	free(stack->data);
	stack->data = NULL;
	stack->count = stack->cap = 0;
}
