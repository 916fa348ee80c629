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

static void bash(void)
{
	puts("# bash completion for mpijob, printed by 'mpijob completion bash'\n_mpijob() {");
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
	puts("\tesac\n\tcase $word in\n\t-*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;");
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

static void zsh(void)
{
	puts("#compdef mpijob\n# zsh completion for mpijob, printed by 'mpijob completion zsh'\n_mpijob() {");
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
		puts(" \\\n\t\t'*:file:_files' ;;");
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

static void fish(void)
{
	puts("# fish completion for mpijob, printed by 'mpijob completion fish'");
	for (const struct command *command = commands; command->name; command++) {
		printf("complete -c mpijob -n __fish_use_subcommand -f -a %s -d '", command->name);
		fish_text(command->summary);
		puts("'");
		for (const struct option_row *row = option_rows; row->name; row++) {
			if (!(row->commands & command->bit))
				continue;
			printf("complete -c mpijob -n '__fish_seen_subcommand_from %s' -l %s", command->name, row->name);
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

	for (size_t i = 0; arguments->operands.count == 1 && i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(arguments->operands.items[0], shells[i].name) == 0) {
			shells[i].print();
			return 0;
		}
	}
	fputs("mpijob: name one shell: bash, zsh or fish\n", stderr);
	return EXIT_USAGE;
}
