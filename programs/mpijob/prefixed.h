/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of several containers on one stream: each line begins with the pod and the container
 * that printed it.
 */
#ifndef MPIJOB_PROGRAM_PREFIXED_H
#define MPIJOB_PROGRAM_PREFIXED_H

#include <stddef.h>

#include <mpijob/mpijob.h>

#include "outlet.h"

struct prefixed {
	struct outlet *outlet;
	int coloured; /* the prefixes have colours: the stream is a terminal */
	/* the container whose line has begun and not ended; NULL: the next line begins */
	const void *inside;
	mpijob_text *line;
};

/*
 * Lines go to this outlet. Prefixes have colours on a terminal, unless NO_COLOR is set or TERM is
 * dumb. 0, or -1 when memory ran out.
 */
int prefixed_begin(struct prefixed *stream, struct outlet *outlet);

/*
 * Write a part of the output of a container; the address of its name identifies it. A line of
 * another container that has not ended is ended first, so that no line holds the output of two.
 * 0, or -1 when memory ran out.
 */
int prefixed_put(struct prefixed *stream, const char *pod, const char *container, const char *data,
    size_t len);

void prefixed_free(struct prefixed *stream);

#endif
