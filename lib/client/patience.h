/* SPDX-License-Identifier: Apache-2.0 */
/* How long what a server refuses is asked for again. */
#ifndef MPIJOB__CLUSTER_PATIENCE_H
#define MPIJOB__CLUSTER_PATIENCE_H

#include <stdint.h>

/* Starts as zeros. */
struct mpijob__patience {
	int had;          /* it was granted once */
	int tried;        /* refused since, and nothing else */
	int64_t since_ms; /* ... first at this time */
};

/* 1 for a failure that passes by itself, and for 0. */
int mpijob__patience_passes(int code);
/* It is granted. */
void mpijob__patience_renew(struct mpijob__patience *patience);
/* It failed with this code: 1 when there is no use in asking again. */
int mpijob__patience_ends(struct mpijob__patience *patience, int code, int64_t now_ms);

#endif
