/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command is: its place in the table of commands, and the arguments that it gets.
 */
#ifndef MPIJOB_PROGRAM_COMMAND_H
#define MPIJOB_PROGRAM_COMMAND_H

#include <stddef.h>
#include <stdint.h>

/* Exit codes that every command shares; run and exec pass on those of the job. */
#define EXIT_FINDINGS 1      /* the input is refused, or something could not be done */
#define EXIT_USAGE 2         /* the command line is wrong */
#define EXIT_TIMED_OUT 124   /* run: --timeout passed */
#define EXIT_OWN_FAILURE 125 /* run, exec: what failed is this program, not the job */
#define EXIT_SIGNALLED 128   /* run: plus the number of the signal that interrupted it */

/* Words of the command line; they live as long as the program. */
struct words {
	const char **items;
	size_t count;
};

struct arguments {
	struct words operands; /* files and directories; of exec the pod, of explain fields */
	char **program;        /* what stands behind --, closed by NULL; NULL without one */
	const char *output;
	const char *namespace_;
	const char *job;
	const char *container;
	const char *cluster_domain;
	const char *gang_scheduling;
	const char *uid;
	const char *to;       /* convert: the version */
	const char *runtime;  /* convert: of a TrainJob */
	const char *observed; /* plan: a file with what is in the cluster */
	const char *now;      /* plan: RFC 3339 */
	struct words priority_classes;
	int64_t timeout_ms;        /* 0: none */
	int64_t backoff_base_ms;   /* 0: as Kubernetes */
	int64_t wait_for_hosts_ms; /* 0: not at all */
	int64_t late_names_ms;     /* 0: at once */
	struct words silence; /* findings by their identifiers */
	struct words error;
	int compact_hosts;
	int with_key;
	int no_annotation;
	int reference;
	int strict;
	int keep;
	int allow_host_path;
	int timings;
	int roff;
};

/* One bit for each command, for the table of options. */
enum {
	COMMAND_VALIDATE = 1 << 0,
	COMMAND_DEFAULT = 1 << 1,
	COMMAND_RENDER = 1 << 2,
	COMMAND_RUN = 1 << 3,
	COMMAND_EXEC = 1 << 4,
	COMMAND_VERSION = 1 << 5,
	COMMAND_HELP = 1 << 6,
	COMMAND_COMPLETION = 1 << 7,
	COMMAND_CONVERT = 1 << 8,
	COMMAND_EXPLAIN = 1 << 9,
	COMMAND_PLAN = 1 << 10,
	COMMAND_DIFF = 1 << 11,
};

struct command {
	const char *name;
	unsigned bit;
	const char *operands; /* for the usage line */
	const char *summary;  /* one line */
	const char *text;     /* paragraphs of the help, separated by empty lines */
	int (*run)(const struct arguments *arguments);
};

/* The table of commands, closed by a row without a name. */
extern const struct command commands[];

/* Find a command by its name; NULL when there is none. */
const struct command *command_find(const char *name);

int validate_command(const struct arguments *arguments);
int default_command(const struct arguments *arguments);
int render_command(const struct arguments *arguments);
int convert_command(const struct arguments *arguments);
int explain_command(const struct arguments *arguments);
int plan_command(const struct arguments *arguments);
int diff_command(const struct arguments *arguments);
int run_command(const struct arguments *arguments);
int exec_command(const struct arguments *arguments);
int version_command(const struct arguments *arguments);
int help_command(const struct arguments *arguments);
int completion_command(const struct arguments *arguments);

#endif
