/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The templates of the command create: tests of the network between the hosts. Two contain the
 * source of an example (the build generates source_*.inc from it), so that any image with mpicc
 * runs them.
 */
#include <string.h>

#include "create.h"

static const char pi_source[] = {
#include <source_pi.inc>
	, '\0'
};
static const char pingpong_source[] = {
#include <source_pingpong.inc>
	, '\0'
};

static const char *const pi_program[] = { "/smoke/pi", NULL };
static const char *const osu_program[] = { "/smoke/pingpong", NULL };
static const char *const nccl_program[] = { "all_reduce_perf", "-b", "8", "-e", "1G", "-f", "2",
	"-g", "1", NULL };
static const char *const nccl_env[] = { "NCCL_DEBUG=INFO", NULL };

static const struct create_template templates[] = {
	{ "pi",
	    "Computes pi on all hosts: the least that shows that ranks start everywhere and add up "
	    "what they found.",
	    pi_program, "pi.c", pi_source, 0, NULL },
	{ "osu",
	    "Sends messages between each pair of hosts; the last line of the log names the slowest "
	    "host and pair.",
	    osu_program, "pingpong.c", pingpong_source, 0, NULL },
	{ "nccl",
	    "Adds up numbers over all GPUs with NCCL's own test: 'Avg bus bandwidth' at the end is "
	    "what the links give, and the lines with 'via NET/' tell over which of them.",
	    nccl_program, NULL, NULL, 1, nccl_env },
};

const struct create_template *create_template_find(const char *name)
{
	for (size_t i = 0; i < sizeof(templates) / sizeof(templates[0]); i++)
		if (strcmp(name, templates[i].name) == 0)
			return &templates[i];
	return NULL;
}
