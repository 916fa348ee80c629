/* SPDX-License-Identifier: Apache-2.0 */
/* A set of names, each with a number: finds duplicates and list entries in linear time. */
#ifndef MPIJOB__DOC_NAMES_H
#define MPIJOB__DOC_NAMES_H

#include "base/arena.h"

#include <stdint.h>

struct mpijob__doc_entry;
struct mpijob__doc_index;

/* All zeros is an empty set. */
struct mpijob__doc_names {
	struct mpijob__base_arena arena;
	struct mpijob__doc_entry *entries;
	struct mpijob__doc_index *index; /* NULL while the set is small */
	uint32_t count;
	uint32_t cap;
};

/*
 * Add a name and its number, unless the set contains the name. The name is copied. A name must not
 * be equal to another name of the set with NUL bytes appended.
 *
 * Returns 1 when it is new; 0 when it is not, and sets `*first` (may be NULL) to the number of the
 * first one; MPIJOB_ERR_NOMEM.
 */
int mpijob__doc_names_add(struct mpijob__doc_names *names, const char *name, size_t len,
    uint32_t number, uint32_t *first);
/* Find a name. Returns 1 and its number (`number` may be NULL), or 0. */
int mpijob__doc_names_find(const struct mpijob__doc_names *names, const char *name, size_t len,
    uint32_t *number);
/* Free the memory; the set is empty and can be used again. */
void mpijob__doc_names_release(struct mpijob__doc_names *names);

#endif
