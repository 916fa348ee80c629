/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes completion scripts for bash, zsh and fish from the tables of commands and options.
 */
#include <stdio.h>
#include <string.h>

#include "options.h"

static void bash_options(unsigned bit)
{
	for (const struct option_row *row = option_rows; row->name; row++)
		if (row->commands & bit)
			printf(" --%s", row->name);
}

/* Choices of one option differ between commands. */
static void bash_values(void)
{
	for (const struct option_row *row = option_rows; row->name; row++) {
		const char *bar = "\t";
		if (!row->choices)
			continue;
		for (const struct command *command = commands; command->name; command++) {
			if (!(row->commands & command->bit))
				continue;
			printf("%s'%s --%s'", bar, command->name, row->name);
			if (row->letter)
				printf("|'%s -%c'", command->name, row->letter);
			bar = "|";
		}
		printf(") COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", row->choices);
	}
}

/* Commands whose operands are names of jobs: those that also accept -f FILE, and logs. */
static int takes_jobs(const struct command *command)
{
	const unsigned names = COMMAND_GET | COMMAND_DESCRIBE | COMMAND_LOGS | COMMAND_WAIT |
			       COMMAND_SUSPEND | COMMAND_RESUME | COMMAND_SCALE | COMMAND_DELETE;

	return (command->bit & names) != 0;
}

static void print_job_commands(const char *between)
{
	const char *before = "";

	for (const struct command *command = commands; command->name; command++) {
		if (!takes_jobs(command))
			continue;
		printf("%s%s", before, command->name);
		before = between;
	}
}

/* The options that decide which jobs are listed: for the namespace, the server and the user. */
static void print_places(const char *between, const char *end)
{
	const char *before = "";

	for (const struct option_row *row = option_rows; row->name; row++) {
		int is_namespace = strcmp(row->name, "namespace") == 0;
		if (!(row->commands & COMMAND_GET) || !row->value ||
		    !(is_namespace || row->commands & COMMAND_CONNECTION) ||
		    strcmp(row->name, "request-timeout") == 0)
			continue;
		printf("%s--%s%s", before, row->name, end);
		before = between;
		if (row->letter)
			printf("%s-%c%s", between, row->letter, end);
	}
}

/* Completion does not prompt, and soon gives up on a server that does not answer. */
#define LIST "get -o name --request-timeout=2s"

static void bash_jobs(void)
{
	puts("# The names of the jobs, of the cluster and namespace that the line "
	     "names.\n_mpijob_jobs() {");
	fputs("\tlocal i at where=()\n\tfor ((i = 2; i < COMP_CWORD - 1; i++)); do\n\t\tcase "
	      "${COMP_WORDS[i]} in\n\t\t",
	    stdout);
	print_places("|", "");
	puts(")\n\t\t\tat=$((i + 1))\n\t\t\t[ \"${COMP_WORDS[at]}\" = = ] && at=$((i + 2))\n"
	     "\t\t\twhere+=(\"${COMP_WORDS[i]}\" \"${COMP_WORDS[at]}\") ;;\n\t\tesac\n\tdone");
	puts("\t\"${COMP_WORDS[0]}\" " LIST " \"${where[@]}\" </dev/null 2>/dev/null |\n\t\tsed -n "
	     "'s|.*/\\([a-z0-9.-]*\\)$|\\1|p' # compgen would expand other characters\n}");
}

/* Options whose value is not the name of a job. */
static void bash_valued(void)
{
	fputs("\tcase $before in\n\t=", stdout);
	for (const struct option_row *row = option_rows; row->name; row++)
		if (row->value && !row->choices &&
		    row->commands & (COMMAND_GET | COMMAND_LOGS | COMMAND_WAIT | COMMAND_SCALE))
			printf("|--%s", row->name);
	puts("|-n|-l|-s|-c) compopt -o default; return ;;\n\tesac");
}

static void bash(void)
{
	puts("# bash completion for mpijob, printed by 'mpijob completion bash'");
	bash_jobs();
	puts("_mpijob() {");
	puts("\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=");
	puts("\tCOMPREPLY=()\n\tcase \"${COMP_WORDS[1]} $before\" in");
	bash_values();
	puts("\tesac\n\tif [ \"$COMP_CWORD\" -eq 1 ]; then");
	fputs("\t\tCOMPREPLY=($(compgen -W '", stdout);
	for (const struct command *command = commands; command->name; command++)
		printf("%s%s", command == commands ? "" : " ", command->name);
	puts("' -- \"$word\"))\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in");
	for (const struct command *command = commands; command->name; command++) {
		printf("\t%s) options='", command->name);
		bash_options(command->bit);
		puts("' ;;");
	}
	puts("\tesac\n\tcase $word in\n\t-*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")); "
	     "return ;;\n\tesac");
	bash_valued();
	fputs("\tcase \"${COMP_WORDS[1]} $before\" in\n", stdout);
	for (const struct command *command = commands; command->name; command++)
		if (takes_jobs(command) && !(command->bit & COMMAND_LOGS))
			printf("\t\"%s -f\") compopt -o default; return ;;\n", command->name);
	fputs("\tesac\n\tcase ${COMP_WORDS[1]} in\n\t", stdout);
	print_job_commands("|");
	puts(") COMPREPLY=($(compgen -W \"$(_mpijob_jobs)\" -- \"$word\")) ;;");
	puts("\t*) compopt -o default ;;\n\tesac\n}\ncomplete -F _mpijob mpijob");
}

/* Text between single quotes of a shell, with brackets and colons escaped for _arguments. */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (*text == '[' || *text == ']' || *text == ':')
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void zsh_jobs(void)
{
	puts("# The names of the jobs, of the cluster and namespace that the line "
	     "names.\n_mpijob_jobs() {");
	fputs("\tlocal i\n\tlocal -a where found\n\tfor ((i = 3; i < CURRENT; i++)); do\n\t\tcase "
	      "${words[i]} in\n\t\t",
	    stdout);
	print_places("|", "");
	fputs(") (( i + 1 < CURRENT )) && where+=(\"${words[i]}\" \"${words[i+1]}\") ;;\n\t\t",
	    stdout);
	print_places("|", "=*");
	puts(") where+=(\"${words[i]}\") ;;\n\t\tesac\n\tdone");
	puts("\tfound=(${(f)\"$(mpijob " LIST
	     " \"${where[@]}\" </dev/null 2>/dev/null)\"})\n\tcompadd -- ${found##*/}\n}");
}

static void zsh(void)
{
	puts("#compdef mpijob\n# zsh completion for mpijob, printed by 'mpijob completion zsh'");
	zsh_jobs();
	puts("_mpijob() {");
	puts("\tif (( CURRENT == 2 )); then\n\t\tlocal -a commands=(");
	for (const struct command *command = commands; command->name; command++) {
		printf("\t\t\t'%s:", command->name);
		zsh_text(command->summary);
		puts("'");
	}
	puts("\t\t)\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase ${words[2]} in");
	for (const struct command *command = commands; command->name; command++) {
		printf("\t%s) _arguments", command->name);
		for (const struct option_row *row = option_rows; row->name; row++) {
			if (!(row->commands & command->bit))
				continue;
			printf(" \\\n\t\t'--%s[", row->name);
			zsh_text(option_help(row));
			putchar(']');
			if (row->value)
				printf(":%s:%s%s%s", row->value, row->choices ? "(" : "_files",
				    row->choices ? row->choices : "", row->choices ? ")" : "");
			putchar('\'');
		}
		puts(takes_jobs(command) ? " \\\n\t\t'*:job:_mpijob_jobs' ;;"
					 : " \\\n\t\t'*:file:_files' ;;");
	}
	puts("\tesac\n}\n_mpijob \"$@\"");
}

static void fish_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
}

static void fish_jobs(void)
{
	puts("# The names of the jobs, of the cluster and namespace that the line names.\nfunction "
	     "__mpijob_jobs");
	fputs(
	    "\tset -l words (commandline -opc)\n\tset -l where\n\tfor i in (seq 3 (count $words))\n"
	    "\t\tswitch $words[$i]\n\t\t\tcase ",
	    stdout);
	print_places(" ", "");
	fputs("\n\t\t\t\ttest $i -lt (count $words); and set -a where $words[$i] $words[(math $i + "
	      "1)]\n\t\t\tcase ",
	    stdout);
	print_places(" ", "=\\*");
	puts("\n\t\t\t\tset -a where $words[$i]\n\t\tend\n\tend");
	puts("\tmpijob " LIST " $where </dev/null 2>/dev/null | string replace -r '.*/' ''\nend");
	fputs("complete -c mpijob -n '__fish_seen_subcommand_from ", stdout);
	print_job_commands(" ");
	puts("' -f -a '(__mpijob_jobs)'");
}

static void fish(void)
{
	puts("# fish completion for mpijob, printed by 'mpijob completion fish'");
	fish_jobs();
	for (const struct command *command = commands; command->name; command++) {
		printf("complete -c mpijob -n __fish_use_subcommand -f -a %s -d '", command->name);
		fish_text(command->summary);
		puts("'");
		for (const struct option_row *row = option_rows; row->name; row++) {
			if (!(row->commands & command->bit))
				continue;
			printf("complete -c mpijob -n '__fish_seen_subcommand_from %s' -l %s",
			    command->name, row->name);
			if (row->letter)
				printf(" -s %c", row->letter);
			if (row->value)
				fputs(" -r", stdout);
			if (row->choices)
				printf(" -f -a '%s'", row->choices);
			fputs(" -d '", stdout);
			fish_text(option_help(row));
			puts("'");
		}
	}
}

int completion_command(const struct arguments *arguments)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

	for (size_t i = 0; arguments->operands.count == 1 && i < sizeof(shells) / sizeof(shells[0]);
	     i++) {
		if (strcmp(arguments->operands.items[0], shells[i].name) == 0) {
			shells[i].print();
			return 0;
		}
	}
	fputs("mpijob: name one shell: bash, zsh or fish\n", stderr);
	return EXIT_USAGE;
}
