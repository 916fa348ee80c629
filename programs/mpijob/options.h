/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of options: parsing, help, manual page and completions all read it.
 */
#ifndef MPIJOB_PROGRAM_OPTIONS_H
#define MPIJOB_PROGRAM_OPTIONS_H

#include "command.h"

enum option_kind {
	OPTION_FLAG, /* an int that becomes 1, or 0 by =false */
	/* an int that becomes 1, or -1 by =false: something that is on, or decides itself, when not
	 * given */
	OPTION_SWITCH,
	OPTION_TEXT, /* a string */
	/* an int: 1 for the first of the choices, also when no =VALUE follows, 2 for the second
	 * ... */
	OPTION_CHOICE,
	OPTION_WORDS,    /* a string each time it is given */
	OPTION_DURATION, /* milliseconds, from "90s", "5m", "1h30m", "500ms" or seconds */
	OPTION_LIMIT,    /* a struct given of milliseconds, which may be 0 and negative */
	OPTION_NUMBER,   /* a struct given, 0 or more; -1: not given */
	/* a feature of that name; its help is the sentence of its row, or the row's */
	OPTION_FEATURE,
	OPTION_HELP,
};

struct option_row {
	const char *name;
	char letter;       /* 0 without one */
	const char *value; /* what stands for the value in the help; NULL for a flag */
	unsigned commands; /* COMMAND_* of the commands that have it */
	enum option_kind kind;
	size_t offset; /* in struct arguments */
	/* words that complete the value, separated by spaces; NULL when there are none */
	const char *choices;
	const char *help; /* NULL for a feature: its own sentence */
};

/* The table, closed by a row without a name. */
extern const struct option_row option_rows[];

/*
 * Read the command line of a command (argv[0] is the command's name). Returns 0, EXIT_USAGE after
 * having said what is wrong, or -1 when help was asked for.
 */
int options_parse(const struct command *command, int argc, char **argv,
    struct arguments *arguments);

/* Free what options_parse() allocated. */
void options_free(struct arguments *arguments);

/* The help of a row. */
const char *option_help(const struct option_row *row);

/* The features that were asked for, for render options; NULL when there are none. Borrowed. */
const struct mpijob_features *options_features(const struct arguments *arguments);

#endif
