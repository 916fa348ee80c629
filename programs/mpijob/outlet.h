/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output to a reader that may be slow: a buffer keeps what the reader does not take yet, so that no
 * call blocks.
 */
#ifndef MPIJOB_PROGRAM_OUTLET_H
#define MPIJOB_PROGRAM_OUTLET_H

#include <stddef.h>
#include <stdint.h>

#define OUTLET_MUCH   (256 << 10) /* the caller pauses its input when so many bytes are pending */
#define OUTLET_LITTLE (64 << 10)
#define OUTLET_BLOCK  (32 << 10) /* shorter output waits for more */
#define OUTLET_HOLD   10         /* milliseconds that it waits */

struct outlet {
	int fd;
	int error;        /* errno of a write that failed: all later output is dropped */
	int64_t moved_ms; /* when the reader last took something, or there was nothing to take */

	/* Private. */
	char *data;
	size_t at, len, cap;
	size_t due; /* pending bytes at which the next write is tried */
};

/* Append these bytes, and write when a block is full. 0, or -1 when memory ran out. */
int outlet_put(struct outlet *outlet, const char *data, size_t len);

/* Write what the reader takes now. */
void outlet_flush(struct outlet *outlet);

/* The same when a block is full, or when the first byte has waited for OUTLET_HOLD. */
void outlet_turn(struct outlet *outlet);

/* Wait until the reader takes output again, or for timeout_ms. */
void outlet_wait(const struct outlet *outlet, int timeout_ms);

/* The number of pending bytes. */
size_t outlet_pending(const struct outlet *outlet);

/* Drop all pending bytes; `error` is the reason. */
void outlet_fail(struct outlet *outlet, int error);

void outlet_free(struct outlet *outlet);

#endif
