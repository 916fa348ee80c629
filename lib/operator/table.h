/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table whose links live inside of what it holds. */
#ifndef MPIJOB__OPERATOR_TABLE_H
#define MPIJOB__OPERATOR_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct mpijob__operator_table_link {
	struct mpijob__operator_table_link *next;
	uint64_t hash;
};

/* Zeroed, with a seed, it is empty. */
struct mpijob__operator_table {
	struct mpijob__operator_table_link **slots;
	size_t slot_count; /* a power of two, or 0 */
	size_t count;
	uint64_t seed;
};

uint64_t mpijob__operator_table_hash(const struct mpijob__operator_table *table, const char *first,
    const char *second);
/* 0 or MPIJOB_ERR_NOMEM. The caller sees to it that nothing is there twice. */
int mpijob__operator_table_add(struct mpijob__operator_table *table,
    struct mpijob__operator_table_link *link, uint64_t hash);
void mpijob__operator_table_remove(struct mpijob__operator_table *table,
    struct mpijob__operator_table_link *link);
/* Go through what has this hash: first with `after` NULL, then with what was returned; NULL at the
 * end. */
struct mpijob__operator_table_link *
mpijob__operator_table_next(const struct mpijob__operator_table *table, uint64_t hash,
    const struct mpijob__operator_table_link *after);
/* Frees the slots, not what is in them. */
void mpijob__operator_table_release(struct mpijob__operator_table *table);

#endif
