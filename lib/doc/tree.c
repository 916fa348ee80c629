/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and compares trees, without recursion.
 *
 * A copied list or map gets an array of exactly its size. The index of a large map is copied after
 * its entries.
 */
#include "doc/node.h"

#include "doc/index.h"
#include "doc/number.h"
#include "doc/stack.h"

#include <string.h>

struct copying {
	const struct mpijob_node *from;
	struct mpijob_node *to;
};

/* Copy one node; a list or map is empty at first, with memory for its entries. */
static struct mpijob_node *copy_one(struct mpijob__base_arena *arena,
    const struct mpijob_node *from, int share)
{
	struct mpijob_node *to = mpijob__doc_node_new(arena, from->kind);
	size_t size;

	if (!to)
		return NULL;
	to->truth = from->truth;
	to->line = from->line;
	to->column = from->column;
	if (from->kind == MPIJOB_NODE_STRING || from->kind == MPIJOB_NODE_NUMBER) {
		to->count = from->count;
		to->in.text = share ? from->in.text
				    : mpijob__base_arena_copy(arena, from->in.text, from->count);
		return to->in.text ? to : NULL;
	}
	if (from->count == 0 || (from->kind != MPIJOB_NODE_LIST && from->kind != MPIJOB_NODE_MAP))
		return to;
	size = from->kind == MPIJOB_NODE_MAP ? sizeof(*from->in.entries) : sizeof(*from->in.items);
	to->in.items = mpijob__base_arena_array(arena, from->count, size);
	mpijob__doc_container(to)->cap = from->count;
	return to->in.items ? to : NULL;
}

static int copy_entry(struct mpijob__base_arena *arena, struct copying *top, int share,
    struct mpijob_node **copied)
{
	uint32_t at = top->to->count;
	const struct mpijob__doc_entry *entry;

	*copied = copy_one(arena, mpijob__doc_node_child(top->from, at), share);
	if (!*copied)
		return MPIJOB_ERR_NOMEM;
	if (top->from->kind == MPIJOB_NODE_LIST) {
		top->to->in.items[at] = *copied;
	} else {
		entry = &top->from->in.entries[at];
		top->to->in.entries[at] = *entry;
		top->to->in.entries[at].merged = 0;
		top->to->in.entries[at].value = *copied;
		if (!share)
			top->to->in.entries[at].key =
			    mpijob__base_arena_copy(arena, entry->key, entry->key_len);
		if (!top->to->in.entries[at].key)
			return MPIJOB_ERR_NOMEM;
	}
	top->to->count++;
	mpijob__doc_node_adopt(top->to, *copied);
	return 0;
}

static int copy_done(struct mpijob__base_arena *arena, const struct copying *copying)
{
	struct mpijob__doc_container *container = mpijob__doc_container(copying->to);

	if (copying->to->kind != MPIJOB_NODE_MAP || copying->to->count < MPIJOB__DOC_INDEX_FROM)
		return 0;
	container->index =
	    mpijob__doc_index_copy(arena, mpijob__doc_container_const(copying->from)->index);
	return container->index ? 0 : MPIJOB_ERR_NOMEM;
}

struct mpijob_node *mpijob__doc_node_copy(struct mpijob__base_arena *arena,
    const struct mpijob_node *from, int share)
{
	struct mpijob__doc_stack stack = { .size = sizeof(struct copying) };
	struct mpijob_node *root = copy_one(arena, from, share);
	struct copying frame = { from, root };
	struct copying *top;
	int rc = 0;

	if (!root || mpijob_node_count(from) == 0)
		return root;
	if (!mpijob__doc_stack_push(&stack, &frame))
		return NULL;
	while (rc == 0 && (top = mpijob__doc_stack_top(&stack)) != NULL) {
		struct mpijob_node *copied;

		if (top->to->count == top->from->count) {
			rc = copy_done(arena, top);
			mpijob__doc_stack_pop(&stack);
			continue;
		}
		frame.from = mpijob__doc_node_child(top->from, top->to->count);
		rc = copy_entry(arena, top, share, &copied);
		frame.to = copied;
		if (rc == 0 && mpijob_node_count(frame.from) &&
		    !mpijob__doc_stack_push(&stack, &frame))
			rc = MPIJOB_ERR_NOMEM;
	}
	mpijob__doc_stack_free(&stack);
	return rc ? NULL : root;
}

#define FRAMES_AT_HAND 512 /* trees deeper than the default max_depth need memory */

/* If the compiler is configured to clear local variables, clearing this array would cost more than
 * most comparisons. */
#if defined(__has_attribute)
#if __has_attribute(uninitialized)
#define NOT_CLEARED __attribute__((uninitialized))
#endif
#endif
#ifndef NOT_CLEARED
#define NOT_CLEARED
#endif

struct comparing {
	const struct mpijob_node *a;
	const struct mpijob_node *b;
	uint32_t next;
};

/* Compare two nodes without their entries. */
static int equal_one(const struct mpijob_node *a, const struct mpijob_node *b)
{
	if (a->kind != b->kind)
		return 0;
	switch (a->kind) {
	case MPIJOB_NODE_BOOL: return a->truth == b->truth;
	case MPIJOB_NODE_STRING:
		return a->count == b->count && memcmp(a->in.text, b->in.text, a->count) == 0;
	case MPIJOB_NODE_NUMBER:
		return mpijob__doc_number_equal(a->in.text, a->count, b->in.text, b->count);
	default: return a->count == b->count;
	}
}

/* The entry of `b` that corresponds to entry `at` of `a`; NULL if `b` has no such entry. */
static const struct mpijob_node *counterpart(const struct mpijob_node *a,
    const struct mpijob_node *b, uint32_t at)
{
	const struct mpijob__doc_entry *entry;
	uint32_t found;

	if (a->kind == MPIJOB_NODE_LIST)
		return b->in.items[at];
	entry = &a->in.entries[at];
	if (b->in.entries[at].key_len == entry->key_len &&
	    memcmp(b->in.entries[at].key, entry->key, entry->key_len) == 0)
		return b->in.entries[at].value;
	found = mpijob__doc_map_find(b, entry->key, entry->key_len);
	return found == MPIJOB__DOC_INDEX_NONE ? NULL : b->in.entries[found].value;
}

/*
 * The first frames are on the C stack, so documents of ordinary depth are compared without
 * allocating memory. For deeper ones the function cannot report that memory ran out; it returns
 * "not equal", which is the safe result.
 */
int mpijob_node_equal(const mpijob_node *a, const mpijob_node *b)
{
	struct comparing at_hand[FRAMES_AT_HAND] NOT_CLEARED;
	struct mpijob__doc_stack deeper = { .size = sizeof(struct comparing) };
	struct comparing frame = { a, b, 0 };
	struct comparing *top = &frame;
	size_t depth = 0;
	int equal;

	if (!a || !b)
		return a == b;
	equal = equal_one(a, b);
	if (equal && mpijob_node_count(a))
		at_hand[depth++] = frame;
	while (equal && depth) {
		top =
		    depth <= FRAMES_AT_HAND ? &at_hand[depth - 1] : mpijob__doc_stack_top(&deeper);
		if (top->next == top->a->count) {
			if (depth-- > FRAMES_AT_HAND)
				mpijob__doc_stack_pop(&deeper);
			continue;
		}
		frame.a = mpijob__doc_node_child(top->a, top->next);
		frame.b = counterpart(top->a, top->b, top->next++);
		equal = frame.b && equal_one(frame.a, frame.b);
		if (!equal || mpijob_node_count(frame.a) == 0)
			continue;
		if (depth < FRAMES_AT_HAND)
			at_hand[depth] = frame;
		else if (!mpijob__doc_stack_push(&deeper, &frame))
			equal = 0;
		depth++;
	}
	mpijob__doc_stack_free(&deeper);
	return equal;
}
