/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of strings that many facts share: names of nodes, reasons, the owner of ten thousand
 * pods.
 *
 * Each string is stored once with a reference count. So strings are not repeated for each pod, and
 * a string that is not used any more is freed.
 */
#include "plan/intern.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	struct mpijob__base_table_link link;
	size_t uses;
	char text[];
};

static struct entry *entry_of(struct mpijob__base_table_link *link)
{
	return (void *)link;
}

const char *mpijob__plan_intern_get(struct mpijob__plan_intern *intern, const char *text)
{
	size_t size = strlen(text) + 1;
	uint64_t hash = mpijob__base_table_hash(&intern->table, text, "");
	struct mpijob__base_table_link *link = NULL;
	struct entry *entry;

	while ((link = mpijob__base_table_next(&intern->table, hash, link)) != NULL) {
		entry = entry_of(link);
		if (strcmp(entry->text, text) == 0) {
			entry->uses++;
			return entry->text;
		}
	}
	entry = malloc(sizeof(*entry) + size);
	if (!entry || mpijob__base_table_add(&intern->table, &entry->link, hash)) {
		free(entry);
		return NULL;
	}
	memcpy(entry->text, text, size);
	entry->uses = 1;
	return entry->text;
}

void mpijob__plan_intern_put(struct mpijob__plan_intern *intern, const char *kept)
{
	struct entry *entry;

	if (!kept)
		return;
	entry = (void *)(uintptr_t)(kept - offsetof(struct entry, text));
	if (--entry->uses > 0)
		return;
	mpijob__base_table_remove(&intern->table, &entry->link);
	free(entry);
}

void mpijob__plan_intern_free(struct mpijob__plan_intern *intern)
{
	struct mpijob__base_table_link *next;

	for (size_t i = 0; i < intern->table.slot_count; i++)
		for (struct mpijob__base_table_link *link = intern->table.slots[i]; link;
		     link = next) {
			next = link->next;
			free(entry_of(link));
		}
	mpijob__base_table_release(&intern->table);
}
