/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of strings that many facts share: names of nodes, reasons, the owner of ten thousand
 * pods.
 *
 * Each string is stored once with a reference count. So strings are not repeated for each pod, and
 * a string that is not used any more is freed.
 */
#include "plan/intern.h"

#include "base/digest.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct mpijob__plan_intern_entry {
	struct mpijob__plan_intern_entry *next;
	uint64_t hash;
	size_t uses;
	char text[];
};

static uint64_t hash_of(const char *text, size_t len)
{
	uint64_t hash = mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START, text, len);

	return hash ^ (hash >> 32);
}

static int widen(struct mpijob__plan_intern *intern)
{
	size_t count = intern->buckets_count ? intern->buckets_count * 2 : 8;
	struct mpijob__plan_intern_entry **buckets =
	    calloc(count, sizeof(struct mpijob__plan_intern_entry *));

	if (!buckets)
		return -1;
	for (size_t i = 0; i < intern->buckets_count; i++) {
		struct mpijob__plan_intern_entry *entry = intern->buckets[i];

		while (entry) {
			struct mpijob__plan_intern_entry *next = entry->next;
			struct mpijob__plan_intern_entry **head =
			    &buckets[entry->hash & (count - 1)];

			entry->next = *head;
			*head = entry;
			entry = next;
		}
	}
	free(intern->buckets);
	intern->buckets = buckets;
	intern->buckets_count = count;
	return 0;
}

const char *mpijob__plan_intern_get(struct mpijob__plan_intern *intern, const char *text)
{
	size_t len = strlen(text);
	uint64_t hash = hash_of(text, len);
	struct mpijob__plan_intern_entry *entry = NULL;

	if (intern->buckets_count)
		entry = intern->buckets[hash & (intern->buckets_count - 1)];
	for (; entry; entry = entry->next) {
		if (entry->hash == hash && strcmp(entry->text, text) == 0) {
			entry->uses++;
			return entry->text;
		}
	}
	if (intern->count >= intern->buckets_count && widen(intern))
		return NULL;
	entry = malloc(sizeof(*entry) + len + 1);
	if (!entry)
		return NULL;
	memcpy(entry->text, text, len + 1);
	entry->hash = hash;
	entry->uses = 1;
	entry->next = intern->buckets[hash & (intern->buckets_count - 1)];
	intern->buckets[hash & (intern->buckets_count - 1)] = entry;
	intern->count++;
	return entry->text;
}

void mpijob__plan_intern_put(struct mpijob__plan_intern *intern, const char *kept)
{
	struct mpijob__plan_intern_entry *entry, **link;

	if (!kept)
		return;
	entry = (void *)(uintptr_t)(kept - offsetof(struct mpijob__plan_intern_entry, text));
	if (--entry->uses > 0)
		return;
	link = &intern->buckets[entry->hash & (intern->buckets_count - 1)];
	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	intern->count--;
	free(entry);
}

void mpijob__plan_intern_free(struct mpijob__plan_intern *intern)
{
	for (size_t i = 0; i < intern->buckets_count; i++) {
		struct mpijob__plan_intern_entry *entry = intern->buckets[i];

		while (entry) {
			struct mpijob__plan_intern_entry *next = entry->next;

			free(entry);
			entry = next;
		}
	}
	free(intern->buckets);
	memset(intern, 0, sizeof(*intern));
}
