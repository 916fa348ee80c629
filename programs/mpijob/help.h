/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Help, manual page and completions, all made from the tables of commands and options.
 */
#ifndef MPIJOB_PROGRAM_HELP_H
#define MPIJOB_PROGRAM_HELP_H

#include "command.h"

/* Print the help of a command; of the whole program for NULL. `kubectl`: as it is called by
 * kubectl. */
void help_print(const struct command *command, int kubectl);

/* Print the manual page in roff. */
void manual_print(void);

#endif
