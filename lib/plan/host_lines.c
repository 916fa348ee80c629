/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hostfile says, apart from how: of which job, whether the launcher is in it, how many
 * workers, and how many slots each has in which MPI's words. The domain behind a host's name is
 * left aside: a job keeps the names that the operator gave it that began it. Lines in any other
 * order or form are a text like any other, and never what is wanted.
 */
#include "plan/host_lines.h"

#include "base/digest.h"

#include <stdio.h>
#include <string.h>

struct says {
	const char *job; /* its name is what stands before "-launcher" and "-worker-0" */
	size_t job_len;
	const char *slots; /* " slots=2" or ":2", as each line ends */
	size_t slots_len;
	int32_t workers;
	int32_t launcher;
};

/* One line: "JOB-worker-0.JOB.NAMESPACE.svc slots=2". */
struct line {
	const char *name;
	size_t name_len;
	const char *slots;
	size_t slots_len;
};

static uint64_t digest_of(const struct says *says)
{
	int32_t numbers[2] = { says->workers, says->launcher };
	uint64_t digest =
	    mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START, numbers, sizeof(numbers));

	digest = mpijob__base_digest_add(digest, says->job, says->job_len);
	digest = mpijob__base_digest_add(digest, "", 1);
	return mpijob__base_digest_add(digest, says->slots, says->slots_len) | 1;
}

static int split(const char *text, size_t len, struct line *out)
{
	const char *end = text + len, *at = text;

	while (at < end && *at != '.' && *at != ' ' && *at != ':')
		at++;
	out->name = text;
	out->name_len = (size_t)(at - text);
	while (at < end && *at != ' ' && *at != ':')
		at++;
	out->slots = at;
	out->slots_len = (size_t)(end - at);
	return at < end;
}

static int same(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

/* Take in one line; 0 when it is not the next one of a hostfile as it is rendered. */
static int take(struct says *says, const struct line *line)
{
	static const char launcher[] = "-launcher";
	size_t suffix = sizeof(launcher) - 1;
	int first = says->workers == 0 && !says->launcher;
	char tail[24];
	int len;

	if (first) {
		says->slots = line->slots;
		says->slots_len = line->slots_len;
	} else if (!same(says->slots, says->slots_len, line->slots, line->slots_len)) {
		return 0;
	}
	if (first && line->name_len > suffix &&
	    memcmp(line->name + line->name_len - suffix, launcher, suffix) == 0) {
		says->launcher = 1;
		says->job_len = line->name_len - suffix;
		says->job = line->name;
		return 1;
	}
	len = snprintf(tail, sizeof(tail), "-worker-%d", (int)says->workers);
	suffix = (size_t)len;
	if (line->name_len <= suffix ||
	    memcmp(line->name + line->name_len - suffix, tail, suffix) != 0)
		return 0;
	if (first) {
		says->job = line->name;
		says->job_len = line->name_len - suffix;
	} else if (!same(says->job, says->job_len, line->name, line->name_len - suffix)) {
		return 0;
	}
	says->workers++;
	return 1;
}

uint64_t mpijob__plan_host_lines_observed(const char *text, size_t len)
{
	struct says says = { "", 0, "", 0, 0, 0 };
	const char *at = text, *end = text + len;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct line line;

		/* Another text: even where a known one is odd, so that the two never meet. */
		if (!newline || !split(at, (size_t)(newline - at), &line) || !take(&says, &line))
			return mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START, text, len) &
			       ~UINT64_C(1);
		at = newline + 1;
	}
	return digest_of(&says);
}

uint64_t mpijob__plan_host_lines_wanted(const struct mpijob__render_subject *subject)
{
	int32_t mpi = subject->spec->mpi_implementation;
	struct says says = { subject->name, strlen(subject->name), "", 0, 0, 0 };
	char slots[24];
	int len;

	says.workers = mpijob__render_subject_workers(subject);
	says.launcher = mpijob__render_subject_launcher_has_ranks(subject);
	if (!says.workers && !says.launcher)
		return digest_of(&(struct says){ "", 0, "", 0, 0, 0 });
	len = snprintf(slots, sizeof(slots),
	    mpi == MPIJOB_INTEL || mpi == MPIJOB_MPICH ? ":%d" : " slots=%d",
	    (int)mpijob__render_subject_slots(subject));
	says.slots = slots;
	says.slots_len = (size_t)len;
	return digest_of(&says);
}
