/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table with intrusive links. */
#ifndef MPIJOB__BASE_TABLE_H
#define MPIJOB__BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct mpijob__base_table_link {
	struct mpijob__base_table_link *next;
	uint64_t hash;
};

/* Zeroed, with a seed, it is empty. */
struct mpijob__base_table {
	struct mpijob__base_table_link **slots;
	size_t slot_count; /* a power of two, or 0 */
	size_t count;
	uint64_t seed;
};

uint64_t mpijob__base_table_hash(const struct mpijob__base_table *table, const char *first,
    const char *second);
/* 0 or MPIJOB_ERR_NOMEM. The caller makes sure that nothing is added twice. */
int mpijob__base_table_add(struct mpijob__base_table *table, struct mpijob__base_table_link *link,
    uint64_t hash);
void mpijob__base_table_remove(struct mpijob__base_table *table,
    struct mpijob__base_table_link *link);
/* Iterate over the links with this hash: begin with `after` NULL, then pass the last result; NULL
 * at the end. */
struct mpijob__base_table_link *mpijob__base_table_next(const struct mpijob__base_table *table,
    uint64_t hash, const struct mpijob__base_table_link *after);
/* Frees the slots, not their links. */
void mpijob__base_table_release(struct mpijob__base_table *table);

#endif
