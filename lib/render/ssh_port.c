/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The feature ssh_port: adds the port to sshd's arguments, which override its configuration file.
 * This is done only if the worker's first container runs sshd, by the default command or by a
 * program of that name. Otherwise ssh does not get the port either, so that a working job keeps
 * working. Knows which options of sshd take a value.
 */
#include "render/build.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

enum port_state { UNKNOWN, TO_ADD, GIVEN };

/* Iterates over the words of command and args. */
struct words {
	const mpijob_node *command, *args;
	size_t at;
};

static size_t count(const struct words *words)
{
	return mpijob_node_count(words->command) + mpijob_node_count(words->args);
}

/* The next word; NULL after the last, and for a value that is not a string. */
static const char *next(struct words *words)
{
	size_t first = mpijob_node_count(words->command), at = words->at++;

	return mpijob_node_string(at < first ? mpijob_node_at(words->command, at)
					     : mpijob_node_at(words->args, at - first));
}

static int is_sshd(const char *word)
{
	return mpijob__base_text_is(mpijob__base_text_file_name(word), "sshd");
}

static int is_port(const char *text, int32_t port)
{
	char digits[MPIJOB__RENDER_NUMBER_SIZE];
	size_t len = mpijob__render_number((size_t)port, digits);

	return strlen(text) == len && memcmp(text, digits, len) == 0;
}

/* Check an option with a value: whether it sets the port, and to which value. */
static enum port_state check_value(char option, const char *value, int32_t port,
    enum port_state so_far)
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

/* Check a word with options, as getopt() parses it. */
static enum port_state check_word(const char *word, struct words *words, int32_t port,
    enum port_state so_far)
{
	if (word[0] != '-')
		return UNKNOWN;
	for (const char *letter = word + 1; *letter != '\0'; letter++) {
		const char *value = letter[1] != '\0' ? letter + 1 : NULL;

		if (strchr("CEbcfghkopu", *letter) == NULL)
			continue;
		return check_value(*letter, value != NULL ? value : next(words), port, so_far);
	}
	return so_far;
}

static enum port_state check_container(const mpijob_node *container, int32_t port)
{
	struct words words = { mpijob_node_get(container, "command"),
		mpijob_node_get(container, "args"), 0 };
	enum port_state found = TO_ADD;

	if (count(&words) == 0)
		return TO_ADD; /* the default command */
	if (mpijob_node_count(words.command) == 0 || !is_sshd(next(&words)))
		return UNKNOWN;
	while (found != UNKNOWN && words.at < count(&words)) {
		const char *word = next(&words);

		found = word != NULL ? check_word(word, &words, port, found) : UNKNOWN;
	}
	return found;
}

static enum port_state check_job(const struct mpijob__render_subject *subject)
{
	const struct mpijob_replica_spec *worker = subject->spec->worker;
	const mpijob_node *containers;

	if (subject->features.ssh_port == 0 || worker == NULL)
		return UNKNOWN;
	containers = mpijob_node_find(worker->pod_template, "spec.containers");
	return check_container(mpijob_node_at(containers, 0), subject->features.ssh_port);
}

int32_t mpijob__render_ssh_port(const struct mpijob__render_subject *subject)
{
	return check_job(subject) != UNKNOWN ? subject->features.ssh_port : 0;
}

void mpijob__render_ssh_port_add(struct mpijob__render_build *b, mpijob_node *container)
{
	const char *list =
	    mpijob_node_count(mpijob_node_get(container, "args")) > 0 ? "args" : "command";
	int32_t port = b->subject->features.ssh_port;
	mpijob_node *words;
	enum port_state found = check_job(b->subject);

	if (port == 0 || found == GIVEN)
		return;
	if (found == UNKNOWN) {
		mpijob__render_build_report(b, MPIJOB_SEVERITY_WARNING, "ssh-port-left-to-user",
		    NULL, "spec.containers[0].command", mpijob_node_get(container, "command"),
		    "sshd may not listen on port %d, so neither sshd nor ssh is configured to use "
		    "it",
		    (int)port);
		return;
	}
	words = mpijob_node_edit(container, list);
	mpijob_node_append_string(b->doc, words, "-p");
	mpijob_text_clear(&b->scratch);
	b->code = b->code != 0 ? b->code : mpijob__base_text_printf(&b->scratch, "%d", (int)port);
	mpijob_node_append_string(b->doc, words, mpijob_text_data(&b->scratch));
}
