/* SPDX-License-Identifier: Apache-2.0 */
/* Knows how a scenario goes wrong: the sweep must notice each of these before what it says of
 * others counts. */
#include "scenarios.h"

#include <stdlib.h>
#include <string.h>

/* The compiler must not see through an allocation. */
static char *volatile kept;

static int act_leak(const struct scenario *scenario, struct subject *subject, struct sink *sink)
{
	char *first, *second;

	(void)scenario;
	(void)subject;
	kept = first = malloc(8);
	if (!first)
		return MPIJOB_ERR_NOMEM;
	kept = second = malloc(8);
	if (!second)
		return MPIJOB_ERR_NOMEM;
	free(second);
	free(first);
	return sink_write(sink, "fine", 4);
}

static int act_other_output(const struct scenario *scenario, struct subject *subject,
    struct sink *sink)
{
	char *text = malloc(8);

	(void)scenario;
	(void)subject;
	kept = text;
	sink_write(sink, text ? "fine" : "less", 4);
	free(text);
	return 0;
}

static int act_other_code(const struct scenario *scenario, struct subject *subject,
    struct sink *sink)
{
	char *text = malloc(8);

	(void)scenario;
	(void)subject;
	kept = text;
	if (!text)
		return MPIJOB_ERR_SPEC;
	free(text);
	return sink_write(sink, "fine", 4);
}

static int act_crash(const struct scenario *scenario, struct subject *subject, struct sink *sink)
{
	char *text = malloc(8);

	(void)scenario;
	(void)subject;
	kept = text;
	memcpy(kept, "fine", 4);
	sink_write(sink, kept, 4);
	free(text);
	return 0;
}

const struct scenario canaries[] = {
	{ "leak", -1, 0, NULL, act_leak },
	{ "other output", -1, 0, NULL, act_other_output },
	{ "other code", -1, 0, NULL, act_other_code },
	{ "crash", -1, 0, NULL, act_crash },
};
const size_t canaries_count = sizeof(canaries) / sizeof(canaries[0]);
