/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of the table whose files are not there yet: weak, so that each gives way to its file.
 */
#include <stdio.h>

#include "command.h"

#define PENDING(name) \
	__attribute__((weak)) int name(const struct arguments *arguments) \
	{ \
		(void)arguments; \
		fputs("mpijob: this command is not there yet\n", stderr); \
		return EXIT_FINDINGS; \
	}

PENDING(describe_command)
PENDING(logs_command)
PENDING(doctor_command)
