/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the text of the command create: YAML with comments that explain each choice. Knows which
 * strings need quotes in YAML, and the indentation of each part of an MPIJob.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/api.h"
#include "create.h"

struct writer {
	const struct create *create;
	mpijob_text *out;
	int code; /* of the first failure */
};

static void put(struct writer *w, const char *text)
{
	if (w->code == 0)
		w->code = mpijob_text_write(w->out, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void say(struct writer *w, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0) {
		text = NULL;
		w->code = MPIJOB_ERR_NOMEM;
	} else {
		put(w, text);
	}
	va_end(args);
	free(text);
}

/* Whether every YAML reader takes the word as a string, without quotes. */
static int is_plain(const char *word)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./+=:";
	static const char *const others[] = { "true", "false", "yes", "no", "on", "off", "null",
		"y", "n" };
	size_t len = strlen(word);
	int has_letter = 0;

	if (len == 0 || strspn(word, letters) != len || strchr("-.+=:0123456789", *word) ||
	    word[len - 1] == ':')
		return *word == '-' && word[1] &&
		       strspn(word + 1, "-abcdefghijklmnopqrstuvwxyz_") == len - 1 &&
		       word[len - 1] != '-';
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcasecmp(word, others[i]) == 0)
			return 0;
	for (size_t i = 0; i < len; i++)
		has_letter |= strchr("._+=-/:0123456789", word[i]) == NULL;
	return has_letter;
}

static int text_sink(void *user, const char *data, size_t len)
{
	struct writer *w = user;

	if (w->code == 0)
		w->code = mpijob_text_write(w->out, data, len);
	return w->code;
}

/* Write a string, in quotes if it needs them. */
static void put_word(struct writer *w, const char *word)
{
	mpijob_doc *doc;
	mpijob_node *list;

	if (is_plain(word)) {
		put(w, word);
		return;
	}
	doc = mpijob_doc_new();
	list = mpijob_node_put_list(doc, mpijob_doc_edit(doc, ""), "w");
	mpijob_node_append_string(doc, list, word);
	if (mpijob_doc_error(doc))
		w->code = mpijob_doc_error(doc);
	else
		mpijob_node_write(mpijob_node_at(list, 0), MPIJOB_FORMAT_JSON_COMPACT, text_sink,
		    w);
	mpijob_doc_free(doc);
}

static void put_field(struct writer *w, const char *before, const char *word)
{
	put(w, before);
	put_word(w, word);
	put(w, "\n");
}

/* The name of the ConfigMap that holds the source. */
static void put_source_name(struct writer *w, const char *before)
{
	char *name = NULL;

	if (asprintf(&name, "%s-source", w->create->name) < 0) {
		w->code = MPIJOB_ERR_NOMEM;
		return;
	}
	put_field(w, before, name);
	free(name);
}

static const char *plural(int64_t count)
{
	return count == 1 ? "" : "s";
}

/* ---- containers that run ranks ---- */

static int uses_memory(const struct create *c)
{
	return c->slots > 1 || c->gpus > 0;
}

/* Devices and mounts of a container that runs ranks. */
static void put_compute(struct writer *w)
{
	const struct create *c = w->create;

	if (c->gpus > 0)
		say(w,
		    "            resources:\n              limits:\n                "
		    "nvidia.com/gpu: %d\n",
		    (int)c->gpus);
	if (!uses_memory(c) && !c->compiles)
		return;
	put(w, "            volumeMounts:\n");
	if (uses_memory(c))
		put(w, "            - name: shared-memory\n              mountPath: /dev/shm\n");
	if (c->compiles)
		put(w, "            - name: smoke\n              mountPath: /smoke\n");
}

static void put_compiler(struct writer *w)
{
	const struct create *c = w->create;

	if (!c->compiles)
		return;
	put(w, "          # Compiles the source below on each host, with the mpicc of the image.\n"
	       "          initContainers:\n          - name: compile\n");
	put_field(w, "            image: ", c->image);
	say(w, "            command: [mpicc, -O2, -o, %s, /source/%s, -lm]\n", c->program[0],
	    c->template_->source_name);
	put(w, "            volumeMounts:\n            - name: smoke\n              mountPath: "
	       "/smoke\n"
	       "            - name: source\n              mountPath: /source\n");
}

static void put_volumes(struct writer *w)
{
	const struct create *c = w->create;

	if (!uses_memory(c) && !c->compiles)
		return;
	put(w, "          volumes:\n");
	if (uses_memory(c))
		say(w,
		    "          # Ranks of one host%s talk over shared memory, of which a container "
		    "has 64 MiB without this. What is in\n"
		    "          # it counts as memory of the pod.\n"
		    "          - name: shared-memory\n            emptyDir: {medium: Memory}\n",
		    c->gpus > 0 ? ", and NCCL," : "");
	if (c->compiles) {
		put(w, "          - name: smoke\n            emptyDir: {}\n"
		       "          - name: source\n            configMap:\n");
		put_source_name(w, "              name: ");
	}
}

/* ---- the launcher ---- */

/* The reason for each option. Only those of the options in the command are printed. */
static const struct {
	const char *word;
	const char *why;
} notes[] = {
	{ "--allow-run-as-root", "--allow-run-as-root: Open MPI starts nothing for root otherwise; "
				 "leave it out when the image has a user." },
	{ "--bind-to", "--bind-to none: a rank that drives a GPU starts threads of its own, which "
		       "one core would not hold." },
	{ "-bind-to", "-bind-to none: a rank that drives a GPU starts threads of its own, which "
		      "one core would not hold." },
	{ "I_MPI_PIN", "I_MPI_PIN 0: a rank that drives a GPU starts threads of its own, which one "
		       "core would not hold." },
	{ "-x", "-x: ranks on other hosts get the environment of sshd there; what else they need "
		"is sent by name." },
	{ "-genvall", "-genvall: ranks on other hosts get the environment of sshd there; this "
		      "sends what the launcher has." },
	{ "--hostfile", "--hostfile: the hosts, as the operator writes them; this tool does not "
			"look at the operator's variables." },
	{ "--host-discovery-script", "--host-discovery-script: tells which workers run, so that "
				     "ranks come and go with them." },
	{ "--force_multi", "--force_multi: with one host it would run here, and not there." },
};

/* Whether it is among the arguments before those of the program. */
static int has_word(const struct create *c, const char *word)
{
	const char *const *words = mpijob_launch_words(c->launch);

	for (size_t i = 0; words[i + c->program_count]; i++)
		if (strcmp(words[i], word) == 0)
			return 1;
	return 0;
}

static void put_command(struct writer *w)
{
	const struct create *c = w->create;
	int works = c->arguments->create.launcher_works;

	say(w, "            # %d rank%s: %d host%s with %d slot%s each.%s\n",
	    (int)mpijob_launch_ranks(c->launch), plural(mpijob_launch_ranks(c->launch)),
	    (int)c->workers + works, plural(c->workers + works), (int)c->slots, plural(c->slots),
	    has_word(c, "--hostfile") || has_word(c, "--host-discovery-script")
		? ""
		: " The hostfile that the operator mounts tells where they are.");
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (has_word(c, notes[i].word))
			say(w, "            # %s\n", notes[i].why);
	put(w, "            command:\n");
	for (const char *const *word = mpijob_launch_words(c->launch); *word; word++)
		put_field(w, "            - ", *word);
}

static void put_env(struct writer *w)
{
	int begun = 0;

	for (size_t i = 0; i < w->create->env.count; i++) {
		const char *entry = w->create->env.items[i], *equals = strchr(entry, '=');
		if (!equals)
			continue;
		if (!begun)
			put(w, "            env:\n");
		begun = 1;
		put_field(w, "            - name: ", w->create->forward.items[i]);
		put_field(w, "              value: ", equals + 1);
	}
}

static void put_launcher(struct writer *w)
{
	const struct create *c = w->create;
	int works = c->arguments->create.launcher_works;

	put(w, "    Launcher:\n      replicas: 1\n"
	       "      # With Never the pod of each attempt stays, and its log with it.\n"
	       "      restartPolicy: Never\n      template:\n        spec:\n");
	if (works)
		put_compiler(w);
	put(w, "          containers:\n          - name: launcher\n");
	put_field(w, "            image: ", c->image);
	put_command(w);
	put_env(w);
	if (works) {
		put_compute(w);
		put_volumes(w);
	}
}

/* ---- the job ---- */

static void put_workers(struct writer *w)
{
	const struct create *c = w->create;

	say(w, "    Worker:\n      replicas: %d\n      template:\n        spec:\n",
	    (int)c->workers);
	put_compiler(w);
	put(w, "          containers:\n          - name: worker\n");
	put_field(w, "            image: ", c->image);
	put(w, "            # No command: the operator lets it run sshd, through which the ranks "
	       "are started.\n");
	put_compute(w);
	put_volumes(w);
}

static const char *mpi_name(int32_t mpi)
{
	return mpi == MPIJOB_INTEL ? "Intel" : mpi == MPIJOB_MPICH ? "MPICH" : "OpenMPI";
}

static void put_head(struct writer *w)
{
	const struct create *c = w->create;

	if (c->template_)
		say(w, "# %s\n", c->template_->about);
	if (c->compiles)
		put(w, "# The image needs mpicc, sshd and ssh.\n");
	else
		say(w, "# The image needs %s, the program, sshd and ssh.\n",
		    mpijob_launch_words(c->launch)[0]);
	put(w, "# 'mpijob validate' checks this file, 'mpijob run' tries it on this machine, "
	       "'mpijob submit' sends it to a cluster.\n");
}

static void put_spec(struct writer *w)
{
	const struct create *c = w->create;

	put(w, "apiVersion: " MPIJOB__BASE_API_VERSION "\nkind: " MPIJOB__BASE_API_KIND
	       "\nmetadata:\n");
	put_field(w, "  name: ", c->name);
	if (c->arguments->namespace_)
		put_field(w, "  namespace: ", c->arguments->namespace_);
	say(w,
	    "spec:\n  # Which MPI the image has: the hostfile and the variables that name it are "
	    "written for this one.\n"
	    "  mpiImplementation: %s\n",
	    mpi_name(c->mpi));
	say(w, "  # Ranks on each host%s.\n  slotsPerWorker: %d\n",
	    c->gpus > 0 && c->slots == c->gpus ? ", one for each GPU" : "", (int)c->slots);
	if (c->arguments->create.launcher_works)
		put(w,
		    "  # The launcher's pod is one of the hosts.\n  runLauncherAsWorker: true\n");
	say(w,
	    "  runPolicy:\n    # Workers go when the job has ended%s; the launcher stays, with its "
	    "log.\n"
	    "    cleanPodPolicy: Running\n",
	    c->gpus > 0 ? ", and give their GPUs back" : "");
	say(w,
	    "    # How often a launcher that failed is tried again, each time from the "
	    "beginning.\n    backoffLimit: %d\n",
	    c->template_ ? 0 : 2);
	put(w, "  mpiReplicaSpecs:\n");
}

/* Write the source line by line under its key. */
static void put_source(struct writer *w)
{
	const struct create *c = w->create;

	if (!c->compiles)
		return;
	put(w, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n");
	put_source_name(w, "  name: ");
	if (c->arguments->namespace_)
		put_field(w, "  namespace: ", c->arguments->namespace_);
	say(w, "data:\n  %s: |\n", c->template_->source_name);
	for (const char *at = c->template_->source; *at;) {
		size_t len = strcspn(at, "\n");
		say(w, "%s%.*s\n", len ? "    " : "", (int)len, at);
		at += len + (at[len] == '\n');
	}
}

int create_write(const struct create *create, mpijob_text *out)
{
	struct writer w = { create, out, 0 };

	put_head(&w);
	put_spec(&w);
	put_launcher(&w);
	if (create->workers > 0)
		put_workers(&w);
	put_source(&w);
	return w.code;
}
