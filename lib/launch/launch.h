/* SPDX-License-Identifier: Apache-2.0 */
/* A launch command while it is made; for the files of lib/launch. */
#ifndef MPIJOB__LAUNCH_H
#define MPIJOB__LAUNCH_H

#include "base/arena.h"
#include "base/text.h"

#include <mpijob/launch.h>

/* The words so far. `code` keeps the first failure, so callers need not check each call. */
struct mpijob_launch {
	struct mpijob__base_arena memory;
	const char **words; /* terminated by NULL */
	size_t count;
	size_t room;
	int32_t ranks;
	int code;
};

/* The inputs of a tool. */
struct mpijob__launch_command {
	struct mpijob_launch_options options;
	const mpijob_node *env; /* env of the launcher's first container */
	int32_t mpi;            /* MPIJOB_OPENMPI, ... */
	int32_t slots;          /* on each host */
	int32_t hosts;
	int32_t np;
	int launcher_has_ranks;
	int may_be_root;
	mpijob_launch *launch;
	mpijob_diag *diag;
};

/* Append a word, an option with its value, an option with a number. */
void mpijob__launch_add(struct mpijob__launch_command *c, const char *word);
void mpijob__launch_add_pair(struct mpijob__launch_command *c, const char *option,
    const char *value);
void mpijob__launch_add_number(struct mpijob__launch_command *c, const char *option,
    int32_t number);
/* Append an option with a text. */
void mpijob__launch_add_text(struct mpijob__launch_command *c, const char *option,
    const struct mpijob_text *text);

/* Report why the command cannot be made, and fail. */
void mpijob__launch_error(struct mpijob__launch_command *c, int code, const char *format, ...)
    MPIJOB__BASE_PRINTF(3, 4);

/* If the option `name` is `given`, reject it with the reason `why`. */
void mpijob__launch_reject_option(struct mpijob__launch_command *c, int given, const char *name,
    const char *why);

/* Append the words of each tool before the program, without options.args. */
void mpijob__launch_openmpi(struct mpijob__launch_command *c);
void mpijob__launch_hydra(struct mpijob__launch_command *c);
void mpijob__launch_horovodrun(struct mpijob__launch_command *c);
void mpijob__launch_deepspeed(struct mpijob__launch_command *c);

/* Variables: the value after '=' in an entry; NULL for a name or prefix. */
const char *mpijob__launch_forward_value(const char *entry);
int mpijob__launch_forward_is_prefix(const char *entry);
/* Check options.env. */
void mpijob__launch_forward_check(struct mpijob__launch_command *c);
/* Call `take` for each variable to forward, as NAME or NAME=value; prefixes are expanded to the
 * known names. */
typedef void (
    *mpijob__launch_forward_fn)(struct mpijob__launch_command *c, const char *word, void *user);
void mpijob__launch_forward_each(struct mpijob__launch_command *c, mpijob__launch_forward_fn take,
    void *user);
/* Append the variables as options of each tool; for horovodrun, after all options, as "env
 * NAME=value ...". */
void mpijob__launch_forward_openmpi(struct mpijob__launch_command *c);
void mpijob__launch_forward_hydra(struct mpijob__launch_command *c);
void mpijob__launch_forward_by_env(struct mpijob__launch_command *c);

#endif
