/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of a large map: a crit-bit tree over its keys.
 *
 * A hash table without a random seed (pure code has none) could be attacked with colliding keys.
 * Here the cost of a search is at most the number of bits of the key, so the cost of reading a
 * document is linear in its size. Keys contain no NUL byte, so the end of a key is treated as one.
 */
#include "doc/index.h"

#include "doc/node.h"

#include <mpijob/base.h>

#include <string.h>

#define LEAF 0x80000000u

struct branch {
	uint32_t byte;     /* first byte in which the keys below differ */
	uint32_t bit;      /* the bit of that byte, a power of two */
	uint32_t child[2]; /* LEAF | position of an entry, or another branch */
};

struct mpijob__doc_index {
	struct branch *branches;
	uint32_t used;
	uint32_t cap;
	uint32_t root;
	/* first unused branch below `used`, linked through child[0]; LEAF for none */
	uint32_t spare;
	uint32_t count; /* entries */
};

static unsigned int byte_at(const char *key, size_t len, uint32_t byte)
{
	return byte < len ? (unsigned char)key[byte] : 0;
}

static int side(const struct branch *branch, const char *key, size_t len)
{
	return (byte_at(key, len, branch->byte) & branch->bit) != 0;
}

#define PATH 16

/* The last branches on the path of a search. */
struct path {
	uint32_t count;
	uint32_t branches[PATH]; /* a ring buffer */
};

/* The leaf at which a search for a key ends. Records the path in `way`, if not NULL. */
static uint32_t nearest(const struct mpijob__doc_index *index, const char *key, size_t len,
    struct path *path)
{
	uint32_t at = index->root;

	while (!(at & LEAF)) {
		const struct branch *branch = &index->branches[at];

		if (path)
			path->branches[path->count++ % PATH] = at;
		at = branch->child[side(branch, key, len)];
	}
	return at & ~LEAF;
}

uint32_t mpijob__doc_index_find(const struct mpijob__doc_index *index,
    const struct mpijob__doc_entry *entries, const char *key, size_t len)
{
	uint32_t position;

	if (index->count == 0)
		return MPIJOB__DOC_INDEX_NONE;
	position = nearest(index, key, len, NULL);
	if (entries[position].key_len != len || memcmp(entries[position].key, key, len) != 0)
		return MPIJOB__DOC_INDEX_NONE;
	return position;
}

int mpijob__doc_index_reserve(struct mpijob__base_arena *arena, struct mpijob__doc_index *index)
{
	uint32_t cap = index->cap + index->cap / 2 + 16;
	struct branch *branches;

	if (index->used < index->cap || !(index->spare & LEAF))
		return 0;
	branches = mpijob__base_arena_grow(arena, index->branches, index->cap * sizeof(*branches),
	    cap * sizeof(*branches));
	if (!branches)
		return MPIJOB_ERR_NOMEM;
	index->branches = branches;
	index->cap = cap;
	return 0;
}

static uint32_t branch_take(struct mpijob__doc_index *index)
{
	uint32_t taken = index->spare;

	if (taken & LEAF)
		return index->used++;
	index->spare = index->branches[taken].child[0];
	return taken;
}

/* The length of the common prefix of two keys. */
static uint32_t same_bytes(const struct mpijob__doc_entry *a, const struct mpijob__doc_entry *b)
{
	uint32_t most = a->key_len < b->key_len ? a->key_len : b->key_len, byte = 0;

	while (byte < most && a->key[byte] == b->key[byte])
		byte++;
	return byte;
}

/* The highest bit of a number. */
static uint32_t top_bit(uint32_t bits)
{
	while (bits & (bits - 1))
		bits &= bits - 1;
	return bits;
}

static int is_below(const struct branch *branch, uint32_t byte, uint32_t bit)
{
	return branch->byte > byte || (branch->byte == byte && branch->bit < bit);
}

/* Where to insert a branch for a bit, on the path of a search for its key. It is usually near the
 * end. */
static uint32_t *link_of(struct mpijob__doc_index *index, const struct mpijob__doc_entry *added,
    uint32_t byte, uint32_t bit, const struct path *path)
{
	uint32_t *link = &index->root, up = path->count,
		 last = path->count > PATH ? path->count - PATH : 0;
	struct branch *branch;

	while (up > last && is_below(&index->branches[path->branches[(up - 1) % PATH]], byte, bit))
		up--;
	if (up > last) {
		branch = &index->branches[path->branches[(up - 1) % PATH]];
		return &branch->child[side(branch, added->key, added->key_len)];
	}
	/* Above all branches, or above the recorded ones. */
	while (last && !(*link & LEAF) && !is_below(&index->branches[*link], byte, bit)) {
		branch = &index->branches[*link];
		link = &branch->child[side(branch, added->key, added->key_len)];
	}
	return link;
}

uint32_t mpijob__doc_index_add(struct mpijob__doc_index *index,
    const struct mpijob__doc_entry *entries, uint32_t position)
{
	const struct mpijob__doc_entry *added = &entries[position];
	const struct mpijob__doc_entry *near;
	uint32_t byte, bit, taken, found;
	uint32_t *link;
	struct branch *branch;
	struct path path;

	path.count = 0;
	if (index->count == 0) {
		index->count = 1;
		index->root = LEAF | position;
		return position;
	}
	found = nearest(index, added->key, added->key_len, &path);
	near = &entries[found];
	byte = same_bytes(near, added);
	if (byte == near->key_len && byte == added->key_len)
		return found;
	index->count++;
	bit = top_bit(
	    byte_at(near->key, near->key_len, byte) ^ byte_at(added->key, added->key_len, byte));
	link = link_of(index, added, byte, bit, &path);
	taken = branch_take(index);
	branch = &index->branches[taken];
	branch->byte = byte;
	branch->bit = bit;
	branch->child[side(branch, added->key, added->key_len)] = LEAF | position;
	branch->child[!side(branch, added->key, added->key_len)] = *link;
	*link = taken;
	return position;
}

struct mpijob__doc_index *mpijob__doc_index_copy(struct mpijob__base_arena *arena,
    const struct mpijob__doc_index *from)
{
	struct mpijob__doc_index *index = mpijob__base_arena_alloc(arena, sizeof(*index));

	if (!index)
		return NULL;
	*index = *from;
	index->cap = from->used;
	index->branches = mpijob__base_arena_array(arena, from->used, sizeof(*index->branches));
	if (!index->branches)
		return NULL;
	memcpy(index->branches, from->branches, from->used * sizeof(*index->branches));
	return index;
}

static void move_down(uint32_t *link, uint32_t position)
{
	if (*link & LEAF && (*link & ~LEAF) > position)
		(*link)--;
}

void mpijob__doc_index_remove(struct mpijob__doc_index *index,
    const struct mpijob__doc_entry *entries, uint32_t position)
{
	const struct mpijob__doc_entry *removed = &entries[position];
	uint32_t *above = NULL;
	uint32_t *link = &index->root;

	while (!(*link & LEAF)) {
		struct branch *branch = &index->branches[*link];

		above = link;
		link = &branch->child[side(branch, removed->key, removed->key_len)];
	}
	if (above) {
		uint32_t free_branch = *above;
		struct branch *branch = &index->branches[free_branch];

		*above = branch->child[link == &branch->child[0]];
		branch->child[0] = index->spare;
		branch->child[1] = 0;
		index->spare = free_branch;
	}
	index->count--;
	move_down(&index->root, position);
	for (uint32_t i = 0; i < index->used; i++) {
		move_down(&index->branches[i].child[0], position);
		move_down(&index->branches[i].child[1], position);
	}
}

struct mpijob__doc_index *mpijob__doc_index_new(struct mpijob__base_arena *arena,
    const struct mpijob__doc_entry *entries, uint32_t count)
{
	struct mpijob__doc_index *index = mpijob__base_arena_alloc(arena, sizeof(*index));

	if (!index)
		return NULL;
	memset(index, 0, sizeof(*index));
	index->spare = LEAF;
	for (uint32_t i = 0; i < count; i++) {
		if (mpijob__doc_index_reserve(arena, index))
			return NULL;
		(void)mpijob__doc_index_add(index, entries, i);
	}
	return index;
}
