/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of deliberate differences from mpi-operator v0.8.2. The code queries it, and
 * docs/differences.md is printed from it (tests/unit/test_render_differences.c). A new difference
 * is one enum value and one row in differences.c.
 */
#ifndef MPIJOB_RENDER_DIFFERENCES_H
#define MPIJOB_RENDER_DIFFERENCES_H

#include <stddef.h>

enum mpijob__render_difference {
	MPIJOB__RENDER_DIFFERENCE_NONE, /* as the reference */
	MPIJOB__RENDER_DIFFERENCE_DUPLICATE_KEYS,
	MPIJOB__RENDER_DIFFERENCE_WORKER_REPLICAS,
	MPIJOB__RENDER_DIFFERENCE_LAUNCHER_CREATION_POLICY,
	MPIJOB__RENDER_DIFFERENCE_OPENMPI5_VARIABLES,
	MPIJOB__RENDER_DIFFERENCE_MPICH_LAUNCHER_ARGS,
	MPIJOB__RENDER_DIFFERENCE_INTEL_LAUNCHER_NAME,
	MPIJOB__RENDER_DIFFERENCE_SEARCH_DOMAIN,
	MPIJOB__RENDER_DIFFERENCE_DISCOVER_HOSTS_ORDER,
	MPIJOB__RENDER_DIFFERENCE_GANG_PRIORITY,
	MPIJOB__RENDER_DIFFERENCE_GANG_INIT_CONTAINERS,
	MPIJOB__RENDER_DIFFERENCE_CONFIG_MAP_SIZE,
	MPIJOB__RENDER_DIFFERENCE_UNKNOWN_FIELDS,
	MPIJOB__RENDER_DIFFERENCE_RESUME_WAITS,
	MPIJOB__RENDER_DIFFERENCE_EVICTED_ENDS,
	MPIJOB__RENDER_DIFFERENCE_EVENTS_ONCE,
	MPIJOB__RENDER_DIFFERENCE_HOSTS_GATHERED,
	MPIJOB__RENDER_DIFFERENCE_SAME_HOSTS_STAY,
	MPIJOB__RENDER_DIFFERENCE_STEADY_WORKERS,
	MPIJOB__RENDER_DIFFERENCE_SCALE_DOWN_BY_NAME,
	MPIJOB__RENDER_DIFFERENCE_SCALE_DOWN_EVENT,
	MPIJOB__RENDER_DIFFERENCE_OWN_FIELDS,
	MPIJOB__RENDER_DIFFERENCE_STAGES,
	MPIJOB__RENDER_DIFFERENCE_LAUNCHER_HOLD,
	MPIJOB__RENDER_DIFFERENCE_SECRET,
	MPIJOB__RENDER_DIFFERENCE_LAUNCHER_ONCE,
	MPIJOB__RENDER_DIFFERENCE_TERMINAL_STAYS,
	MPIJOB__RENDER_DIFFERENCE_FAILURE_NAMES_PODS,
	MPIJOB__RENDER_DIFFERENCE_TAKEN_NAMES,
	MPIJOB__RENDER_DIFFERENCE_LAUNCHER_START_TIME,
	MPIJOB__RENDER_DIFFERENCE_MESSAGES_CUT,
	MPIJOB__RENDER_DIFFERENCE_VALIDATION_WORDS,
	MPIJOB__RENDER_DIFFERENCE_COUNT
};

enum mpijob__render_difference_mode {
	MPIJOB__RENDER_DIFFERENCE_ALWAYS, /* no switch */
	MPIJOB__RENDER_DIFFERENCE_DEFAULT /* on unless `reference` is set */
};

struct mpijob__render_difference_row {
	const char *id;   /* stable, lower case with dashes */
	const char *what; /* the behaviour of this library, and that of mpi-operator */
	const char *why;
	enum mpijob__render_difference_mode mode;
	const char *toggle; /* how to turn it off, or why this is not possible */
};

/* Get a row; NULL for NONE and unknown values. Names and order are those of the enum. */
const struct mpijob__render_difference_row *mpijob__render_difference_row(
    enum mpijob__render_difference difference);

/* Whether a difference is on, depending on `reference`; NONE always is. */
int mpijob__render_difference_holds(enum mpijob__render_difference difference, int reference);

#endif /* MPIJOB_RENDER_DIFFERENCES_H */
