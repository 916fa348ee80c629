/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of options: parsing, help, manual page and completions all read it.
 */
#ifndef MPIJOB_PROGRAM_OPTIONS_H
#define MPIJOB_PROGRAM_OPTIONS_H

#include "command.h"

enum option_kind {
	OPTION_FLAG, /* an int that becomes 1, or 0 by =false */
	/* an int that becomes 1, or -1 by =false; the default is on, or automatic */
	OPTION_SWITCH,
	OPTION_TEXT, /* a string */
	/* an int: 1 for the first of the choices, also when no =VALUE follows, 2 for the second
	 * ... */
	OPTION_CHOICE,
	OPTION_WORDS,    /* a string each time it is given */
	OPTION_DURATION, /* milliseconds, from "90s", "5m", "1h30m", "500ms" or seconds */
	OPTION_LIMIT,    /* a struct given of milliseconds, which may be 0 and negative */
	OPTION_NUMBER,   /* a struct given, 0 or more; -1: not given */
	/* a feature of that name; its help is that of the row, or the sentence of the feature */
	OPTION_FEATURE,
	OPTION_HELP,
};

struct option_row {
	const char *name;
	char letter;       /* 0 without one */
	const char *value; /* the name of the value in the help; NULL for a flag */
	unsigned commands; /* COMMAND_* of the commands that have it */
	enum option_kind kind;
	size_t offset; /* in struct arguments */
	/* words that complete the value, separated by spaces; NULL when there are none */
	const char *choices;
	const char *help; /* NULL: the sentence of the feature */
};

/* The table; ends with a row without a name. */
extern const struct option_row option_rows[];

/*
 * Read the command line of a command (argv[0] is the command's name). Returns 0, -1 if the user
 * requests help, or prints an error and returns EXIT_USAGE.
 */
int options_parse(const struct command *command, int argc, char **argv,
    struct arguments *arguments);

/* Free what options_parse() allocated. */
void options_free(struct arguments *arguments);

/* The help of a row. */
const char *option_help(const struct option_row *row);

/* The requested features, for render options; NULL when there are none. Borrowed. */
const struct mpijob_features *options_features(const struct arguments *arguments);

#endif
