/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a launch command, each word with a NUL behind it: launch_words FILE [MEMBER=VALUE]... --
 * PROGRAM... A member of struct mpijob_launch_options that is a list may be given several times.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpijob/mpijob.h>

#define MOST 64

struct member {
	const char *name;
	size_t offset;
};

#define MEMBER(member) { #member, offsetof(struct mpijob_launch_options, member) }

static const struct member numbers[] = { MEMBER(tool), MEMBER(np), MEMBER(ranks_per_host),
	MEMBER(allow_run_as_root), MEMBER(oversubscribe), MEMBER(env_only), MEMBER(elastic),
	MEMBER(min_np), MEMBER(max_np), MEMBER(elastic_timeout), MEMBER(start_timeout),
	MEMBER(reset_limit), MEMBER(verbose) };
static const struct member texts[] = { MEMBER(executable), MEMBER(hostfile), MEMBER(bind_to),
	MEMBER(map_by), MEMBER(log_level), MEMBER(network_interface), MEMBER(backend) };

static const char *env[MOST], *known[MOST], *args[MOST];

static int take(struct mpijob_launch_options *options, const char *word)
{
	size_t len = strcspn(word, "=");
	const char *value = word + len + 1;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strlen(numbers[i].name) == len && strncmp(word, numbers[i].name, len) == 0)
			return *(int32_t *)(void *)((char *)options + numbers[i].offset) =
				   atoi(value),
								      1;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strlen(texts[i].name) == len && strncmp(word, texts[i].name, len) == 0)
			return *(const char **)(void *)((char *)options + texts[i].offset) = value,
									  1;
	if (len == 3 && strncmp(word, "env", 3) == 0 && options->env_count < MOST)
		return env[options->env_count++] = value, 1;
	if (len == 5 && strncmp(word, "known", 5) == 0 && options->known_count < MOST)
		return known[options->known_count++] = value, 1;
	if (len == 4 && strncmp(word, "args", 4) == 0 && options->args_count < MOST)
		return args[options->args_count++] = value, 1;
	return 0;
}

static mpijob *read_job(const char *path, mpijob_diag *diag)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	size_t len = file ? fread(text, 1, sizeof(text), file) : 0;
	mpijob *job = NULL;

	if (file)
		fclose(file);
	if (mpijob_parse(text, len, NULL, &job, diag) || mpijob_default(job, NULL, diag))
		return NULL;
	return job;
}

int main(int argc, char **argv)
{
	struct mpijob_launch_options options = MPIJOB_LAUNCH_OPTIONS_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob *job = argc > 1 ? read_job(argv[1], diag) : NULL;
	mpijob_launch *launch = NULL;
	int at = 2, code = job ? 0 : 1;

	options.env = env;
	options.known = known;
	options.args = args;
	for (; at < argc && strcmp(argv[at], "--") != 0; at++)
		if (!take(&options, argv[at]))
			return fprintf(stderr, "no member: %s\n", argv[at]), 1;
	if (code == 0)
		code = mpijob_launch_new(job, (const char *const *)argv + at + 1,
		    (size_t)(argc - at - 1), &options, &launch, diag);
	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		fprintf(stderr, "%s\n", mpijob_diag_at(diag, i)->message);
	for (const char *const *word = mpijob_launch_words(launch); word && *word; word++)
		fwrite(*word, 1, strlen(*word) + 1, stdout);
	mpijob_launch_free(launch);
	mpijob_free(job);
	mpijob_diag_free(diag);
	return code != 0;
}
