/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of a hostfile: name of the job, whether the launcher is in it, number of workers, and
 * slots in the format of the MPI. It ignores the domains of the hosts: a job keeps the names of the
 * operator that started it. A text whose lines have another order or form never has the digest of a
 * wanted hostfile.
 */
#include "plan/host_lines.h"

#include "base/digest.h"

#include <stdio.h>
#include <string.h>

struct contents {
	const char *job; /* the part of a name before "-launcher" or "-worker-0" */
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

static uint64_t digest_of(const struct contents *contents)
{
	int32_t numbers[2] = { contents->workers, contents->launcher };
	uint64_t digest =
	    mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START, numbers, sizeof(numbers));

	digest = mpijob__base_digest_add(digest, contents->job, contents->job_len);
	digest = mpijob__base_digest_add(digest, "", 1);
	return mpijob__base_digest_add(digest, contents->slots, contents->slots_len) | 1;
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

/* Process one line; 0 when it is not the next line of a rendered hostfile. */
static int add_line(struct contents *contents, const struct line *line)
{
	static const char launcher[] = "-launcher";
	size_t suffix = sizeof(launcher) - 1;
	int first = contents->workers == 0 && !contents->launcher;
	char tail[24];
	int len;

	if (first) {
		contents->slots = line->slots;
		contents->slots_len = line->slots_len;
	} else if (!same(contents->slots, contents->slots_len, line->slots, line->slots_len)) {
		return 0;
	}
	if (first && line->name_len > suffix &&
	    memcmp(line->name + line->name_len - suffix, launcher, suffix) == 0) {
		contents->launcher = 1;
		contents->job_len = line->name_len - suffix;
		contents->job = line->name;
		return 1;
	}
	len = snprintf(tail, sizeof(tail), "-worker-%d", (int)contents->workers);
	suffix = (size_t)len;
	if (line->name_len <= suffix ||
	    memcmp(line->name + line->name_len - suffix, tail, suffix) != 0)
		return 0;
	if (first) {
		contents->job = line->name;
		contents->job_len = line->name_len - suffix;
	} else if (!same(contents->job, contents->job_len, line->name, line->name_len - suffix)) {
		return 0;
	}
	contents->workers++;
	return 1;
}

uint64_t mpijob__plan_host_lines_observed(const char *text, size_t len)
{
	struct contents contents = { "", 0, "", 0, 0, 0 };
	const char *at = text, *end = text + len;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct line line;

		/* Another text: its digest is even, while that of a rendered hostfile is odd. */
		if (!newline || !split(at, (size_t)(newline - at), &line) ||
		    !add_line(&contents, &line))
			return mpijob__base_digest_add(MPIJOB__BASE_DIGEST_START, text, len) &
			       ~UINT64_C(1);
		at = newline + 1;
	}
	return digest_of(&contents);
}

uint64_t mpijob__plan_host_lines_wanted(const struct mpijob__render_subject *subject)
{
	int32_t mpi = subject->spec->mpi_implementation;
	struct contents contents = { subject->name, strlen(subject->name), "", 0, 0, 0 };
	char slots[24];
	int len;

	contents.workers = mpijob__render_subject_workers(subject);
	contents.launcher = mpijob__render_subject_launcher_has_ranks(subject);
	if (!contents.workers && !contents.launcher)
		return digest_of(&(struct contents){ "", 0, "", 0, 0, 0 });
	len = snprintf(slots, sizeof(slots),
	    mpi == MPIJOB_INTEL || mpi == MPIJOB_MPICH ? ":%d" : " slots=%d",
	    (int)mpijob__render_subject_slots(subject));
	contents.slots = slots;
	contents.slots_len = (size_t)len;
	return digest_of(&contents);
}
