/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protects keys and tokens in memory: this program writes no core file, and other processes of the
 * same user cannot read its memory. The node of a local run gets the original limit, for its
 * containers.
 */
#include "command.h"

#include <sys/prctl.h>
#include <sys/resource.h>

static rlim_t as_it_was;

static void set_limit(rlim_t soft)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit))
		return;
	limit.rlim_cur = soft;
	setrlimit(RLIMIT_CORE, &limit);
}

void guard_memory(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit) == 0)
		as_it_was = limit.rlim_cur;
	set_limit(0);
	prctl(PR_SET_DUMPABLE, 0);
}

void guard_pause(void)
{
	set_limit(as_it_was);
}

void guard_resume(void)
{
	set_limit(0);
}
