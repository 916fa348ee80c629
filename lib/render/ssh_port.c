/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port of the workers' sshd, where one is asked for: given to sshd as an argument, which it
 * prefers to its configuration file. That is done only where the worker's first container is known
 * to run sshd, by the default command or by a program of that name; else ssh is not told either, so
 * that a job that works goes on working. Knows which of sshd's options have a value.
 */
#include "render/build.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

enum finding { UNKNOWN, TO_ADD, GIVEN };

/* The words of command and args, one after the other. */
struct words {
	const mpijob_node *command, *args;
	size_t at;
};

static size_t count(const struct words *words)
{
	return mpijob_node_count(words->command) + mpijob_node_count(words->args);
}

/* The next word; NULL behind the last, and for what is no string. */
static const char *next(struct words *words)
{
	size_t first = mpijob_node_count(words->command), at = words->at++;

	return mpijob_node_string(at < first ? mpijob_node_at(words->command, at)
					     : mpijob_node_at(words->args, at - first));
}

static int is_sshd(const char *word)
{
	const char *slash = word != NULL ? strrchr(word, '/') : NULL;

	return word != NULL && strcmp(slash != NULL ? slash + 1 : word, "sshd") == 0;
}

static int is_port(const char *text, int32_t port)
{
	char digits[MPIJOB__RENDER_NUMBER_SIZE];
	size_t len = mpijob__render_number((size_t)port, digits);

	return strlen(text) == len && memcmp(text, digits, len) == 0;
}

/* An option with a value: whether it is about the port, and then about which. */
static enum finding judge_value(char option, const char *value, int32_t port, enum finding so_far)
{
	if (value == NULL)
		return UNKNOWN;
	if (option == 'o') {
		if (strncasecmp(value, "Port", 4) != 0 || strchr("= \t", value[4]) == NULL ||
		    value[4] == '\0')
			return so_far;
		value += 5;
	} else if (option != 'p') {
		return so_far;
	}
	return is_port(value, port) ? GIVEN : UNKNOWN;
}

/* One word of options, as getopt() reads it. */
static enum finding judge_word(const char *word, struct words *words, int32_t port,
    enum finding so_far)
{
	if (word[0] != '-')
		return UNKNOWN;
	for (const char *letter = word + 1; *letter != '\0'; letter++) {
		const char *value = letter[1] != '\0' ? letter + 1 : NULL;

		if (strchr("CEbcfghkopu", *letter) == NULL)
			continue;
		return judge_value(*letter, value != NULL ? value : next(words), port, so_far);
	}
	return so_far;
}

static enum finding judge(const mpijob_node *container, int32_t port)
{
	struct words words = { mpijob_node_get(container, "command"),
		mpijob_node_get(container, "args"), 0 };
	enum finding found = TO_ADD;

	if (count(&words) == 0)
		return TO_ADD; /* the default command */
	if (mpijob_node_count(words.command) == 0 || !is_sshd(next(&words)))
		return UNKNOWN;
	while (found != UNKNOWN && words.at < count(&words)) {
		const char *word = next(&words);

		found = word != NULL ? judge_word(word, &words, port, found) : UNKNOWN;
	}
	return found;
}

static enum finding judge_job(const struct mpijob__render_subject *subject)
{
	const struct mpijob_replica_spec *worker = subject->spec->worker;
	const mpijob_node *containers;

	if (subject->features.ssh_port == 0 || worker == NULL)
		return UNKNOWN;
	containers = mpijob_node_find(worker->pod_template, "spec.containers");
	return judge(mpijob_node_at(containers, 0), subject->features.ssh_port);
}

int32_t mpijob__render_ssh_port(const struct mpijob__render_subject *subject)
{
	return judge_job(subject) != UNKNOWN ? subject->features.ssh_port : 0;
}

void mpijob__render_ssh_port_give(struct mpijob__render_build *b, mpijob_node *container)
{
	const char *list =
	    mpijob_node_count(mpijob_node_get(container, "args")) > 0 ? "args" : "command";
	int32_t port = b->subject->features.ssh_port;
	mpijob_node *words;
	enum finding found = judge_job(b->subject);

	if (port == 0 || found == GIVEN)
		return;
	if (found == UNKNOWN) {
		mpijob__render_build_say(b, MPIJOB_SEVERITY_WARNING, "ssh-port-left-to-user", NULL,
		    "spec.containers[0].command", mpijob_node_get(container, "command"),
		    "it is not known that sshd would listen on port %d; neither sshd nor ssh is "
		    "told to use it",
		    (int)port);
		return;
	}
	words = mpijob_node_edit(container, list);
	mpijob_node_append_string(b->doc, words, "-p");
	mpijob_text_clear(&b->scratch);
	b->code = b->code != 0 ? b->code : mpijob__base_text_printf(&b->scratch, "%d", (int)port);
	mpijob_node_append_string(b->doc, words, mpijob_text_data(&b->scratch));
}
