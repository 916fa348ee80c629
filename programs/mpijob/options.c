/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows every option of every command: one row each, with kubectl's spelling where kubectl has the
 * same. getopt_long() does the reading; this file only turns rows into its tables.
 */
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define AT(member) offsetof(struct arguments, member)
#define ON_FILES (COMMAND_VALIDATE | COMMAND_DEFAULT | COMMAND_RENDER | COMMAND_RUN)
#define ON_PLANS (COMMAND_PLAN | COMMAND_DIFF)
#define ALL (~0u)

const struct option_row option_rows[] = {
	{ "filename", 'f', "FILE", ON_FILES | COMMAND_CONVERT | COMMAND_PLAN, OPTION_WORDS, AT(operands), NULL,
	  "A file, a directory (its .yaml, .yml and .json files), or - for standard input; the same as an operand." },
	{ "output", 'o', "FORMAT", COMMAND_VALIDATE | COMMAND_DEFAULT | COMMAND_RENDER | COMMAND_CONVERT | ON_PLANS, OPTION_TEXT,
	  AT(output), "yaml json name", "Print as yaml, json or name; convert, plan and diff know no name." },
	{ "to", 0, "VERSION", COMMAND_CONVERT, OPTION_TEXT, AT(to), "v2beta1 v1 TrainJob",
	  "The version to write: v2beta1 (the MPI operator), v1 (the training operator) or TrainJob (Trainer v2)." },
	{ "no-annotation", 0, NULL, COMMAND_CONVERT, OPTION_FLAG, AT(no_annotation), NULL,
	  "Do not keep in an annotation what the version cannot hold." },
	{ "runtime", 0, "NAME", COMMAND_CONVERT, OPTION_TEXT, AT(runtime), NULL, "The ClusterTrainingRuntime of a TrainJob." },
	{ "observed", 0, "FILE", COMMAND_PLAN, OPTION_TEXT, AT(observed), NULL,
	  "What is in the cluster: Kubernetes objects or lists of them, the stored MPIJob too; nothing without it." },
	{ "now", 0, "TIME", COMMAND_PLAN, OPTION_TEXT, AT(now), NULL, "The time to plan for, as 2026-11-21T12:00:00Z." },
	{ "namespace", 'n', "NAMESPACE", COMMAND_DEFAULT | COMMAND_RENDER | COMMAND_RUN | COMMAND_EXEC | ON_PLANS, OPTION_TEXT,
	  AT(namespace_), NULL, "Namespace for jobs that name none, and of the pod to reach; \"default\" without it." },
	{ "job", 0, "NAME", COMMAND_RUN | ON_PLANS, OPTION_TEXT, AT(job), NULL, "Which MPIJob when there are several." },
	{ "timeout", 0, "DURATION", COMMAND_RUN, OPTION_DURATION, AT(timeout_ms), NULL,
	  "Stop the job after so long (90s, 5m, 1h30m) and exit with 124." },
	{ "keep", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(keep), NULL,
	  "Stay after the job's end, with the pods that its cleanPodPolicy keeps, until interrupted." },
	{ "allow-host-path", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(allow_host_path), NULL,
	  "Let hostPath volumes reach this machine's files." },
	{ "backoff-base", 0, "DURATION", COMMAND_RUN, OPTION_DURATION, AT(backoff_base_ms), NULL,
	  "First pause before the launcher is tried again; it doubles each time; 10s as Kubernetes without it." },
	{ "late-names", 0, "DURATION", COMMAND_RUN, OPTION_DURATION, AT(late_names_ms), NULL,
	  "Give the pods' names addresses only so long after the first pod, to try a job against a slow DNS." },
	{ "timings", 0, NULL, COMMAND_RUN, OPTION_FLAG, AT(timings), NULL, "Say at the end where the time went." },
	{ "container", 'c', "NAME", COMMAND_EXEC, OPTION_TEXT, AT(container), NULL, "Container; the first one without it." },
	{ "cluster-domain", 0, "DOMAIN", COMMAND_RENDER | COMMAND_RUN | ON_PLANS, OPTION_TEXT, AT(cluster_domain), NULL,
	  "DNS domain of the cluster for host names, as the operator's flag; without it they end in .svc." },
	{ "compact-hosts", 0, NULL, COMMAND_RENDER | COMMAND_RUN | ON_PLANS, OPTION_FLAG, AT(compact_hosts), NULL,
	  "Short host names, and a discover_hosts.sh that counts: for jobs whose ConfigMap would be too large." },
	{ "wait-for-hosts", 0, "DURATION", COMMAND_RENDER | COMMAND_RUN | ON_PLANS, OPTION_DURATION, AT(wait_for_hosts_ms), NULL,
	  "Let the launcher wait for so long until all hosts have addresses, in an init container." },
	{ "gang-scheduling", 0, "NAME", COMMAND_RENDER | ON_PLANS, OPTION_TEXT, AT(gang_scheduling),
	  "volcano scheduler-plugins-scheduler",
	  "Gang scheduler: volcano, or the scheduler name of scheduler-plugins." },
	{ "priority-class", 0, "NAME=VALUE", COMMAND_RENDER, OPTION_WORDS, AT(priority_classes), NULL,
	  "A PriorityClass of the cluster, for a PodGroup's resources; may be repeated." },
	{ "uid", 0, "UID", COMMAND_RENDER, OPTION_TEXT, AT(uid), NULL, "UID of the MPIJob, for owner references." },
	{ "with-key", 0, NULL, COMMAND_RENDER, OPTION_FLAG, AT(with_key), NULL,
	  "Print a fresh SSH private key in the Secret instead of a placeholder." },
	{ "reference", 0, NULL, ON_FILES | ON_PLANS, OPTION_FLAG, AT(reference), NULL,
	  "Exactly as mpi-operator v0.8.2: every deliberate difference off." },
	{ "strict", 0, NULL, COMMAND_VALIDATE, OPTION_FLAG, AT(strict), NULL,
	  "Unknown fields and roles are errors, not warnings." },
	{ "silence", 0, "ID", COMMAND_VALIDATE | COMMAND_RENDER, OPTION_WORDS, AT(silence), NULL,
	  "Do not report a warning or note, by the identifier in brackets behind it; may be repeated." },
	{ "error", 0, "ID", COMMAND_VALIDATE | COMMAND_RENDER, OPTION_WORDS, AT(error), NULL,
	  "Make a warning or note an error; may be repeated." },
	{ "man", 0, NULL, COMMAND_HELP, OPTION_FLAG, AT(roff), NULL, "Print the manual page in roff." },
	{ "help", 'h', NULL, ALL, OPTION_HELP, 0, NULL, "Print this help." },
	{ NULL, 0, NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

#define ROWS (sizeof(option_rows) / sizeof(option_rows[0]) - 1)
#define FIRST_LONG 1000 /* getopt values of rows without a letter begin here */

static int words_add(struct words *words, const char *word)
{
	const char **items = realloc(words->items, (words->count + 1) * sizeof(*items));
	if (!items)
		return -1;
	items[words->count++] = word;
	words->items = items;
	return 0;
}

/* Milliseconds of one unit; 0 for an unknown one. */
static int64_t unit_ms(const char *text, size_t *len)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		*len = strlen(units[i].name);
		if (strncmp(text, units[i].name, *len) == 0)
			return units[i].ms;
	}
	return 0;
}

int duration_parse(const char *text, int64_t *ms)
{
	const int64_t most = INT64_MAX / 3600000 / 2;
	int64_t sum = 0;

	if (*text == '\0')
		return -1;
	while (*text) {
		if (*text < '0' || *text > '9')
			return -1;
		char *end;
		size_t len = 0;
		errno = 0;
		long long number = strtoll(text, &end, 10);
		int64_t unit = *end ? unit_ms(end, &len) : 1000;
		if (errno || unit == 0 || number > most || sum > most)
			return -1;
		sum += (int64_t)number * unit;
		text = end + len;
	}
	*ms = sum;
	return 0;
}

static int store(const struct option_row *row, const char *value, struct arguments *arguments)
{
	char *place = (char *)arguments + row->offset;

	switch (row->kind) {
	case OPTION_FLAG:
		*(int *)(void *)place = 1;
		return 0;
	case OPTION_TEXT:
		*(const char **)(void *)place = value;
		return 0;
	case OPTION_WORDS:
		if (words_add((struct words *)(void *)place, value) == 0)
			return 0;
		fputs("mpijob: out of memory\n", stderr);
		return EXIT_USAGE;
	case OPTION_DURATION:
		if (duration_parse(value, (int64_t *)(void *)place) == 0)
			return 0;
		fprintf(stderr, "mpijob: --%s: '%s' is no duration; write 90s, 5m, 1h30m or seconds\n", row->name, value);
		return EXIT_USAGE;
	case OPTION_HELP:
		break;
	}
	return -1;
}

static const struct option_row *row_of(int value)
{
	for (size_t i = 0; i < ROWS; i++)
		if (value == (option_rows[i].letter ? option_rows[i].letter : FIRST_LONG + (int)i))
			return &option_rows[i];
	return NULL;
}

static void tables_make(unsigned command, char *letters, struct option *longs)
{
	*letters++ = ':'; /* so that a missing value is told apart from an unknown option */
	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *row = &option_rows[i];
		if (!(row->commands & command))
			continue;
		*longs++ = (struct option){ row->name, row->value ? required_argument : no_argument, NULL,
					    row->letter ? row->letter : FIRST_LONG + (int)i };
		if (row->letter) {
			*letters++ = row->letter;
			if (row->value)
				*letters++ = ':';
		}
	}
	*letters = '\0';
	*longs = (struct option){ NULL, 0, NULL, 0 };
}

static int complain(const struct command *command, int value, char **argv)
{
	const char *word = argv[optind - 1];

	if (value == ':')
		fprintf(stderr, "mpijob: %s: a value is missing", word);
	else if (optopt && optopt < FIRST_LONG && word[1] != '-')
		fprintf(stderr, "mpijob: unknown option -%c", optopt);
	else
		fprintf(stderr, "mpijob: unknown option %s", word);
	fprintf(stderr, "; see 'mpijob help %s'\n", command->name);
	return EXIT_USAGE;
}

/* Cut argv at "--": what stands behind it is the program of exec, or more operands. */
static int cut_program(int argc, char **argv, char ***program)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			argv[i] = NULL;
			*program = argv + i + 1;
			return i;
		}
	}
	return argc;
}

/* kubectl takes -o=json too, which getopt_long() gives as "=json". */
static const char *without_equals(const char *word, const char *value)
{
	return value && value == word + 2 && word[1] != '-' && *value == '=' ? value + 1 : value;
}

int options_parse(const struct command *command, int argc, char **argv, struct arguments *arguments)
{
	char letters[2 * ROWS + 2];
	struct option longs[ROWS + 1];
	int value;

	if (command->bit & COMMAND_EXEC)
		argc = cut_program(argc, argv, &arguments->program);
	tables_make(command->bit, letters, longs);
	opterr = 0;
	optind = 0;
	while ((value = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const struct option_row *row = value == '?' || value == ':' ? NULL : row_of(value);
		if (!row)
			return complain(command, value, argv);
		int code = store(row, without_equals(argv[optind - 1], optarg), arguments);
		if (code)
			return code;
	}
	for (; optind < argc; optind++) {
		if (words_add(&arguments->operands, argv[optind])) {
			fputs("mpijob: out of memory\n", stderr);
			return EXIT_USAGE;
		}
	}
	return 0;
}

int32_t options_wait_for_hosts(const struct arguments *arguments)
{
	const int64_t most = 86400000;

	return (int32_t)(((arguments->wait_for_hosts_ms < most ? arguments->wait_for_hosts_ms : most) + 999) / 1000);
}

void options_free(struct arguments *arguments)
{
	free(arguments->operands.items);
	free(arguments->priority_classes.items);
	free(arguments->silence.items);
	free(arguments->error.items);
}
