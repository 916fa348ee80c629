/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a list or a watch: the objects that are cut out do not depend on where the bytes
 * were split, and lie inside of what was given.
 */
#include "base/digest.h"
#include "base/split.h"

#include <mpijob/plan.h>

#include <stdlib.h>
#include <string.h>

#define LIMIT 512

struct outcome {
	uint64_t digest;
	size_t count;
	int code, complete;
	mpijob_observation *observation; /* NULL: only cut */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *user, const struct mpijob__base_split_object *object)
{
	const struct mpijob_observed *observed;
	struct outcome *outcome = user;

	outcome->count++;
	outcome->digest =
	    mpijob__base_digest_add(outcome->digest, object->uid, strlen(object->uid) + 1);
	outcome->digest =
	    mpijob__base_digest_add(outcome->digest, object->type, strlen(object->type) + 1);
	outcome->digest = mpijob__base_digest_add(outcome->digest, object->resource_version,
	    strlen(object->resource_version) + 1);
	if (object->json) {
		if (object->whole > LIMIT)
			abort();
		outcome->digest =
		    mpijob__base_digest_add(outcome->digest, object->json, object->len);
		/* What is cut out is what gets read. */
		if (outcome->observation)
			(void)mpijob_observe(outcome->observation, object->json, object->len,
			    &observed, NULL);
	}
	return 0;
}

static void feed(int mode, const char *text, size_t len, size_t piece, struct outcome *outcome)
{
	struct mpijob__base_split split;

	outcome->digest = MPIJOB__BASE_DIGEST_START;
	outcome->code = mpijob__base_split_init(&split, mode, "v1", "Pod", LIMIT);
	for (size_t at = 0; at < len && outcome->code == 0; at += piece)
		outcome->code = mpijob__base_split_feed(&split, text + at,
		    piece < len - at ? piece : len - at, take, outcome);
	outcome->complete = outcome->code == 0 && mpijob__base_split_complete(&split);
	mpijob__base_split_release(&split);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int mode = MPIJOB__BASE_SPLIT_LIST; mode <= MPIJOB__BASE_SPLIT_EVENTS; mode++) {
		struct outcome whole = { 0 }, pieces = { 0 };

		whole.observation = mpijob_observation_new();
		feed(mode, (const char *)data, size, size ? size : 1, &whole);
		feed(mode, (const char *)data, size, size % 7 + 1, &pieces);
		mpijob_observation_free(whole.observation);
		if (whole.digest != pieces.digest || whole.count != pieces.count ||
		    whole.code != pieces.code || whole.complete != pieces.complete)
			abort();
	}
	return 0;
}
