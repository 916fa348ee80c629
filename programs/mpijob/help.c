/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints help and the manual page. Knows nothing of single commands or options: the two tables do.
 */
#include <stdio.h>
#include <string.h>

#include <mpijob/base.h>

#include "help.h"
#include "options.h"
#include "print.h"

#define WIDTH 96 /* columns of the help on a terminal */

/* Print words, broken at WIDTH, with an indent from the second line on. */
static void wrap(const char *text, size_t indent, size_t column)
{
	while (*text) {
		size_t word = strcspn(text, " \n");
		if (column > indent && column + 1 + word > WIDTH) {
			printf("\n%*s", (int)indent, "");
			column = indent;
		}
		printf("%.*s", (int)word, text);
		column += word;
		text += word;
		if (*text == '\n') {
			size_t lines = strspn(text, "\n");
			for (size_t i = 0; i < lines; i++)
				putchar('\n');
			printf("%*s", (int)indent, "");
			column = indent;
			text += lines;
		} else if (*text == ' ') {
			putchar(' ');
			column++;
			text++;
		}
	}
	putchar('\n');
}

/* A value that may be left out needs '='. */
static const char *value_before(const struct option_row *row)
{
	return !row->value ? "" : row->kind == OPTION_CHOICE ? "[=" : " ";
}

static const char *value_behind(const struct option_row *row)
{
	return row->value && row->kind == OPTION_CHOICE ? "]" : "";
}

static size_t option_name(const struct option_row *row, char *text, size_t size)
{
	char letter[5] = "    ";
	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	int len = snprintf(text, size, "  %s--%s%s%s%s", letter, row->name, value_before(row),
	    row->value ? row->value : "", value_behind(row));
	return len < 0 ? 0 : (size_t)len;
}

/* Options that many commands share are explained at one place, apart from help. */
static int is_shown(const struct option_row *row, unsigned command)
{
	int shared = (row->commands & COMMAND_CONNECTION) && row->kind != OPTION_HELP;

	return (row->commands & command) && (!shared || command == COMMAND_CONNECTION);
}

static int talks_to_clusters(const struct command *command)
{
	for (const struct option_row *row = option_rows; row->name; row++)
		if ((row->commands & COMMAND_CONNECTION) && row->kind != OPTION_HELP)
			return (row->commands & command->bit) != 0;
	return 0;
}

static void print_options(unsigned command)
{
	puts("\nOptions:");
	for (const struct option_row *row = option_rows; row->name; row++) {
		char name[80];
		if (!is_shown(row, command))
			continue;
		size_t len = option_name(row, name, sizeof(name));
		printf("%-34s", name);
		if (len > 33)
			printf("\n%34s", "");
		wrap(option_help(row), 34, 34);
	}
}

static void print_commands(const char *called)
{
	puts("mpijob: check, render, run and manage MPIJobs (kubeflow.org/v2beta1)\n");
	printf("Usage: %s COMMAND [OPTION...] [OPERAND...]\n\nCommands:\n", called);
	for (const struct command *command = commands; command->name; command++)
		printf("  %-15s%s\n", command->name, command->summary);
	printf("\n'%s help COMMAND' describes a command, 'help options' the options that select "
	       "the cluster. Start with: %s validate job.yaml\n",
	    called, called);
}

void help_print(const struct command *command, int kubectl)
{
	const char *called = kubectl ? "kubectl mpijob" : "mpijob";

	if (!command) {
		print_commands(called);
		return;
	}
	printf("%s.\n\nUsage: %s %s [OPTION...] %s\n\n", command->summary, called, command->name,
	    command->operands);
	wrap(command->text, 0, 0);
	print_options(command->bit);
	if (talks_to_clusters(command))
		printf("\nThe cluster is selected as in kubectl, with --context and others; '%s "
		       "help options' lists them.\n",
		    called);
}

static void print_connection(void)
{
	puts("Options of all commands for a cluster: they select the server and the user. "
	     "Without them the current context of the\nkubeconfig is used, as in kubectl.");
	print_options(COMMAND_CONNECTION);
}

/* Print text for roff: backslashes, dashes, and dots or quotes that begin a line. */
static void roff(const char *text)
{
	for (const char *at = text; *at; at++) {
		if (*at == '\\')
			fputs("\\e", stdout);
		else if (*at == '-')
			fputs("\\-", stdout);
		else if ((*at == '.' || *at == '\'') && (at == text || at[-1] == '\n'))
			printf("\\&%c", *at);
		else if (*at == '\n' && at[1] == '\n')
			fputs("\n.PP", stdout);
		else
			putchar(*at);
	}
}

static void roff_options(unsigned command)
{
	for (const struct option_row *row = option_rows; row->name; row++) {
		if (!is_shown(row, command) || row->kind == OPTION_HELP)
			continue;
		puts(".TP");
		fputs(".B ", stdout);
		if (row->letter)
			printf("\\-%c, ", row->letter);
		fputs("\\-\\-", stdout);
		roff(row->name);
		if (row->value)
			printf("%s\\fI%s\\fR%s", value_before(row), row->value, value_behind(row));
		putchar('\n');
		roff(option_help(row));
		putchar('\n');
	}
}

void manual_print(void)
{
	printf(".TH MPIJOB 1 \"\" \"libmpijob %s\" \"User Commands\"\n", mpijob_version());
	puts(".SH NAME\nmpijob \\- check, render, run and manage MPIJobs");
	puts(".SH SYNOPSIS\n.B mpijob\n.I COMMAND\n[\\fIOPTION\\fR...] [\\fIOPERAND\\fR...]");
	puts(".SH DESCRIPTION\nWorks with MPIJobs (kubeflow.org/v2beta1) in YAML or JSON files. "
	     "An MPIJob has one launcher that runs\n.BR mpirun (1),\nand workers that run\n.BR "
	     "sshd (8).");
	puts("Commands for a cluster need its Kubernetes API server, and the MPI operator in "
	     "the cluster. They also work as\n.BR \"kubectl mpijob\" .");
	puts(".SH COMMANDS");
	for (const struct command *command = commands; command->name; command++) {
		printf(".SS \"mpijob %s\"\n", command->name);
		fputs(".B mpijob ", stdout);
		roff(command->name);
		printf(" \\fR[\\fIOPTION\\fR...] \\fI%s\\fR\n.PP\n", command->operands);
		roff(command->summary);
		puts(".\n.PP");
		roff(command->text);
		putchar('\n');
		roff_options(command->bit);
		if (talks_to_clusters(command))
			puts(".PP\nThe options under OPTIONS OF CLUSTERS are also available.");
	}
	puts(".SH OPTIONS OF CLUSTERS\nThese options select the server and the user, as in\n.BR "
	     "kubectl (1):");
	roff_options(COMMAND_CONNECTION);
	puts(".SH EXIT STATUS\n0 for success; 1 for findings or a failure; 2 for an invalid "
	     "command line; 124 after \\-\\-timeout; 130 after an interrupt.\n.B run\nand\n.B "
	     "exec\nreturn the exit status of the job's programs, and 125 for their own "
	     "failures.");
	puts(".SH SEE ALSO\n.BR kubectl (1),\n.BR mpirun (1)");
}

int help_command(const struct arguments *arguments)
{
	if (arguments->roff) {
		manual_print();
		return 0;
	}
	if (arguments->operands.count == 0) {
		help_print(NULL, arguments->kubectl);
		return 0;
	}
	if (strcmp(arguments->operands.items[0], "options") == 0) {
		print_connection();
		return 0;
	}
	const struct command *command = command_find(arguments->operands.items[0]);
	if (!command) {
		print_to(stderr, "mpijob: unknown command '%s'; see 'mpijob help'\n",
		    arguments->operands.items[0]);
		return EXIT_USAGE;
	}
	help_print(command, arguments->kubectl);
	return 0;
}

int version_command(const struct arguments *arguments)
{
	(void)arguments;
	printf("mpijob %d.%d.%d (libmpijob %s)\n", MPIJOB_VERSION_MAJOR, MPIJOB_VERSION_MINOR,
	    MPIJOB_VERSION_PATCH, mpijob_version());
	return 0;
}
