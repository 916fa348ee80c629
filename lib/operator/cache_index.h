/* SPDX-License-Identifier: Apache-2.0 */
/* The index of children: the job of each, and the version that was observed last. */
#ifndef MPIJOB__OPERATOR_CACHE_INDEX_H
#define MPIJOB__OPERATOR_CACHE_INDEX_H

#include "base/uid.h"

#include <stddef.h>
#include <stdint.h>

struct mpijob__operator_job;

/* A child. Entries of the index have numbers from 1; 0 means none. */
struct mpijob__operator_child {
	struct mpijob__operator_job *job; /* NULL: the entry is free */
	struct mpijob__base_uid uid;
	uint64_t version;         /* resourceVersion; 0 when that is not a number */
	uint32_t chain;           /* others in its slot, or the next free entry */
	uint32_t prev, next;      /* of the job */
	uint32_t generation : 26; /* the last list that contained it */
	uint32_t informer : 4;
	uint32_t deleted : 1;  /* a response reported the deletion; its last event may follow */
	uint32_t deleting : 1; /* this operator sent a DELETE that has not failed */
};

/* Zeroed, with a seed, it is empty. */
struct mpijob__operator_index {
	struct mpijob__operator_child **blocks;
	size_t block_count;
	uint32_t used; /* entries that were ever used */
	uint32_t free; /* the first free one of them, linked by `chain` */
	uint32_t *slots;
	size_t slot_count; /* a power of two, or 0 */
	size_t count;
	uint64_t seed;
};

struct mpijob__operator_child *
mpijob__operator_index_find(const struct mpijob__operator_index *index,
    const struct mpijob__base_uid *uid);
/* Add a child that is not in the index; NULL when memory ran out. */
struct mpijob__operator_child *mpijob__operator_index_add(struct mpijob__operator_index *index,
    struct mpijob__operator_job *job, const char *uid);
void mpijob__operator_index_drop(struct mpijob__operator_index *index,
    struct mpijob__operator_child *child);
/* The child of a job that was added last; NULL when it has none. */
struct mpijob__operator_child *mpijob__operator_index_of(const struct mpijob__operator_index *index,
    const struct mpijob__operator_job *job);
/* Iterate over all: begin with `*at` 0; NULL at the end. The caller may drop the result. */
struct mpijob__operator_child *
mpijob__operator_index_next(const struct mpijob__operator_index *index, size_t *at);
void mpijob__operator_index_release(struct mpijob__operator_index *index);

#endif
