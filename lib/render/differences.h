/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE list of what this library does otherwise than mpi-operator v0.8.2, on purpose. The code asks it, and
 * docs/differences.md is printed from it (tests/unit/test_render_differences.c). A new difference is one enum value
 * and one row in differences.c.
 */
#ifndef MPIJOB_RENDER_DIFFERENCES_H
#define MPIJOB_RENDER_DIFFERENCES_H

#include <stddef.h>

enum mpijob__difference {
	MPIJOB__DIFFERENCE_NONE, /* as the reference */
	MPIJOB__DIFFERENCE_DUPLICATE_KEYS,
	MPIJOB__DIFFERENCE_WORKER_REPLICAS,
	MPIJOB__DIFFERENCE_LAUNCHER_CREATION_POLICY,
	MPIJOB__DIFFERENCE_OPENMPI5_VARIABLES,
	MPIJOB__DIFFERENCE_MPICH_LAUNCHER_ARGS,
	MPIJOB__DIFFERENCE_INTEL_LAUNCHER_NAME,
	MPIJOB__DIFFERENCE_SEARCH_DOMAIN,
	MPIJOB__DIFFERENCE_DISCOVER_HOSTS_ORDER,
	MPIJOB__DIFFERENCE_GANG_PRIORITY,
	MPIJOB__DIFFERENCE_GANG_INIT_CONTAINERS,
	MPIJOB__DIFFERENCE_CONFIG_MAP_SIZE,
	MPIJOB__DIFFERENCE_UNKNOWN_FIELDS,
	MPIJOB__DIFFERENCE_RESUME_WAITS,
	MPIJOB__DIFFERENCE_EVICTED_ENDS,
	MPIJOB__DIFFERENCE_EVENTS_ONCE,
	MPIJOB__DIFFERENCE_HOSTS_GATHERED,
	MPIJOB__DIFFERENCE_SAME_HOSTS_STAY,
	MPIJOB__DIFFERENCE_STEADY_WORKERS,
	MPIJOB__DIFFERENCE_SCALE_DOWN_BY_NAME,
	MPIJOB__DIFFERENCE_OWN_FIELDS,
	MPIJOB__DIFFERENCE_STAGES,
	MPIJOB__DIFFERENCE_LAUNCHER_HOLD,
	MPIJOB__DIFFERENCE_SECRET,
	MPIJOB__DIFFERENCE_LAUNCHER_ONCE,
	MPIJOB__DIFFERENCE_TERMINAL_STAYS,
	MPIJOB__DIFFERENCE_FAILURE_NAMES_PODS,
	MPIJOB__DIFFERENCE_TAKEN_NAMES,
	MPIJOB__DIFFERENCE_LAUNCHER_START_TIME,
	MPIJOB__DIFFERENCE_MESSAGES_CUT,
	MPIJOB__DIFFERENCE_VALIDATION_WORDS,
	MPIJOB__DIFFERENCE_COUNT
};

enum mpijob__difference_mode {
	MPIJOB__DIFFERENCE_ALWAYS,  /* no switch */
	MPIJOB__DIFFERENCE_DEFAULT /* on unless `reference` is set */
};

struct mpijob__difference_row {
	const char *id;   /* stable, lower case with dashes */
	const char *what; /* what is done here, and what the reference does */
	const char *why;
	enum mpijob__difference_mode mode;
	const char *toggle; /* how to switch it off, or why there is no switch */
};

/* Look at a row; NULL for NONE and what is no difference. Names and order follow the enum. */
const struct mpijob__difference_row *mpijob__difference_row(enum mpijob__difference difference);

/* Whether a difference holds when nothing but `reference` is said; NONE always does. */
int mpijob__difference_holds(enum mpijob__difference difference, int reference);

#endif /* MPIJOB_RENDER_DIFFERENCES_H */
