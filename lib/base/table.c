/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chained hash table.
 *
 * It allocates only its slots, and works with too few of them: once it has some, adding cannot
 * fail. The hash has a seed, so that tenants cannot choose names that collide.
 */
#include "base/table.h"

#include "base/digest.h"

#include <mpijob/base.h>

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 8

uint64_t mpijob__base_table_hash(const struct mpijob__base_table *table, const char *first,
    const char *second)
{
	uint64_t hash = mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START ^ table->seed, first,
	    strlen(first) + 1);

	hash = mpijob__base_digest_add(hash, second, strlen(second));
	return hash ^ (hash >> 32);
}

static struct mpijob__base_table_link **slot_of(const struct mpijob__base_table *table,
    uint64_t hash)
{
	return &table->slots[hash & (table->slot_count - 1)];
}

static int grow(struct mpijob__base_table *table)
{
	struct mpijob__base_table bigger = *table;
	struct mpijob__base_table_link *next;

	bigger.slot_count = table->slot_count ? table->slot_count * 2 : FIRST_SLOTS;
	bigger.slots = calloc(bigger.slot_count, sizeof(struct mpijob__base_table_link *));
	if (!bigger.slots)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < table->slot_count; i++)
		for (struct mpijob__base_table_link *link = table->slots[i]; link; link = next) {
			struct mpijob__base_table_link **slot = slot_of(&bigger, link->hash);

			next = link->next;
			link->next = *slot;
			*slot = link;
		}
	free(table->slots);
	*table = bigger;
	return 0;
}

int mpijob__base_table_add(struct mpijob__base_table *table, struct mpijob__base_table_link *link,
    uint64_t hash)
{
	struct mpijob__base_table_link **slot;

	if (table->count >= table->slot_count && grow(table) && table->slot_count == 0)
		return MPIJOB_ERR_NOMEM;
	slot = slot_of(table, hash);
	link->hash = hash;
	link->next = *slot;
	*slot = link;
	table->count++;
	return 0;
}

void mpijob__base_table_remove(struct mpijob__base_table *table,
    struct mpijob__base_table_link *link)
{
	struct mpijob__base_table_link **at = slot_of(table, link->hash);

	while (*at && *at != link)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = link->next;
	table->count--;
}

struct mpijob__base_table_link *mpijob__base_table_next(const struct mpijob__base_table *table,
    uint64_t hash, const struct mpijob__base_table_link *after)
{
	struct mpijob__base_table_link *link;

	if (table->slot_count == 0)
		return NULL;
	link = after ? after->next : *slot_of(table, hash);
	while (link && link->hash != hash)
		link = link->next;
	return link;
}

void mpijob__base_table_release(struct mpijob__base_table *table)
{
	free(table->slots);
	table->slots = NULL;
	table->slot_count = table->count = 0;
}
