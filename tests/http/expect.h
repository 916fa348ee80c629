/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a program with threads: each fault is printed, and counted in `wrong`. */
#ifndef MPIJOB_TEST_HTTP_EXPECT_H
#define MPIJOB_TEST_HTTP_EXPECT_H

#include <stdatomic.h>
#include <stdio.h>

static atomic_int wrong;

static void expect(int truth, const char *what)
{
	if (truth)
		return;
	atomic_fetch_add(&wrong, 1);
	fprintf(stderr, "FAULT: %s\n", what);
}

#endif
