/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A descriptor whose reader may be slow: what it does not take yet is kept, and nobody waits for
 * it.
 */
#ifndef MPIJOB_PROGRAM_OUTLET_H
#define MPIJOB_PROGRAM_OUTLET_H

#include <stddef.h>
#include <stdint.h>

#define OUTLET_MUCH   (256 << 10) /* so much that is kept is reason to take no more */
#define OUTLET_LITTLE (64 << 10)
#define OUTLET_BLOCK  (32 << 10) /* smaller pieces wait for more to come */
#define OUTLET_HOLD   10         /* for so many milliseconds */

struct outlet {
	int fd;
	int error;        /* an errno: nothing can be written any more, what comes is dropped */
	int64_t moved_ms; /* when the reader last took something, or there was nothing to take */

	/* Its own. */
	char *data;
	size_t at, len, cap;
	size_t due; /* bytes that are kept when the next attempt to write is made */
};

/* Keep these bytes, and write when a block is full. 0, or -1 when memory ran out. */
int outlet_put(struct outlet *outlet, const char *data, size_t len);

/* Write what the reader takes now. */
void outlet_flush(struct outlet *outlet);

/* The same when a block is full, or when the first byte has waited for OUTLET_HOLD. */
void outlet_turn(struct outlet *outlet);

/* Wait until the reader takes something again, at most so long. */
void outlet_wait(const struct outlet *outlet, int timeout_ms);

/* Bytes that are kept. */
size_t outlet_pending(const struct outlet *outlet);

/* Drop what is kept; `error` says why. */
void outlet_fail(struct outlet *outlet, int error);

void outlet_free(struct outlet *outlet);

#endif
