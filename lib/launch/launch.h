/* SPDX-License-Identifier: Apache-2.0 */
/* One launch command while it is made; for the files of this room. */
#ifndef MPIJOB__LAUNCH_H
#define MPIJOB__LAUNCH_H

#include "base/arena.h"
#include "base/text.h"

#include <mpijob/launch.h>

/* Words that are collected; the first failure stays in `code`, so that nobody has to look after
 * each. */
struct mpijob_launch {
	struct mpijob__base_arena memory;
	const char **words; /* a NULL behind the last */
	size_t count;
	size_t room;
	int32_t ranks;
	int code;
};

/* What a tool looks at. */
struct mpijob__launch_command {
	struct mpijob_launch_options options;
	const mpijob_node *env; /* of the launcher's first container */
	int32_t mpi;            /* MPIJOB_OPENMPI, ... */
	int32_t slots;          /* of each host */
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
/* The same as "OPTION" "FORMATTED". */
void mpijob__launch_add_text(struct mpijob__launch_command *c, const char *option,
    const struct mpijob_text *text);

/* Say why a command cannot be made; it is not. */
void mpijob__launch_refuse(struct mpijob__launch_command *c, int code, const char *format, ...)
    MPIJOB__BASE_PRINTF(3, 4);

/* Refuse the option `name` when it is `given`, for the reason `why`: what the tool is. */
void mpijob__launch_refuse_option(struct mpijob__launch_command *c, int given, const char *name,
    const char *why);

/* Each tool: all words before the program, but not options.args. */
void mpijob__launch_openmpi(struct mpijob__launch_command *c);
void mpijob__launch_hydra(struct mpijob__launch_command *c);
void mpijob__launch_horovodrun(struct mpijob__launch_command *c);
void mpijob__launch_deepspeed(struct mpijob__launch_command *c);

/* Variables: what is behind '=' in an entry; NULL for a name or prefix. */
const char *mpijob__launch_forward_value(const char *entry);
int mpijob__launch_forward_is_prefix(const char *entry);
/* Check options.env. */
void mpijob__launch_forward_check(struct mpijob__launch_command *c);
/* Each variable to send as NAME or NAME=value, a prefix as the names that are known to begin with
 * it. */
typedef void (
    *mpijob__launch_forward_fn)(struct mpijob__launch_command *c, const char *word, void *user);
void mpijob__launch_forward_each(struct mpijob__launch_command *c, mpijob__launch_forward_fn take,
    void *user);
/* The variables in the words of each tool; behind all of horovodrun's options, "env NAME=value
 * ...". */
void mpijob__launch_forward_openmpi(struct mpijob__launch_command *c);
void mpijob__launch_forward_hydra(struct mpijob__launch_command *c);
void mpijob__launch_forward_by_env(struct mpijob__launch_command *c);

#endif
