/* SPDX-License-Identifier: Apache-2.0 */
/* The options of mpirun and horovodrun. */
#ifndef MPIJOB__BASE_MPIRUN_H
#define MPIJOB__BASE_MPIRUN_H

#include <stddef.h>

enum mpijob__base_mpirun_option {
	MPIJOB__BASE_MPIRUN_UNKNOWN,
	MPIJOB__BASE_MPIRUN_FLAG,      /* has no value */
	MPIJOB__BASE_MPIRUN_COUNT,     /* the number of ranks */
	MPIJOB__BASE_MPIRUN_HOSTFILE,  /* a file */
	MPIJOB__BASE_MPIRUN_OWN_HOSTS, /* hosts or slots other than those of a hostfile */
	MPIJOB__BASE_MPIRUN_VALUE,     /* has any other value */
	MPIJOB__BASE_MPIRUN_TWO_VALUES
};

/* The kind of an option, which begins with one dash or two. */
enum mpijob__base_mpirun_option mpijob__base_mpirun_option(const char *option);

/* How many words after an option are its values; 0 for unknown options. */
size_t mpijob__base_mpirun_values(const char *option);

#endif
