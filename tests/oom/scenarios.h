/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sweep disturbs: each scenario is one piece of work on a subject, prepared beforehand
 * without disturbance.
 */
#ifndef TESTS_OOM_SCENARIOS_H
#define TESTS_OOM_SCENARIOS_H

#include <mpijob/mpijob.h>

#include <stddef.h>

#define SUBJECT_STATES 6

/* Where output goes: it never allocates. */
struct sink {
	char *data;
	size_t len;
	size_t room;
};

/* The cluster at one point of a job's life, as texts. */
struct state {
	const char *name;
	mpijob_doc *job;
	mpijob_text **events;
	size_t count;
	int64_t now_ms;
};

struct subject {
	const char *name;
	char *text;
	size_t len;
	char *json; /* the same as JSON; NULL when the text is refused */
	size_t json_len;
	struct mpijob_render_options render;
	struct state states[SUBJECT_STATES]; /* none when the job is refused */
	mpijob *job;                         /* what the scenario works on; made by prepare */
};

struct scenario {
	const char *name;
	int state;                               /* of the cluster; -1: none */
	int valid;                               /* 1: only for jobs that are not refused */
	int (*prepare)(struct subject *subject); /* undisturbed; NULL: nothing to do */
	int (*act)(const struct scenario *scenario, struct subject *subject, struct sink *sink);
};

extern const struct scenario scenarios[];
extern const size_t scenarios_count;
extern const struct scenario canaries[]; /* each of them goes wrong in its own way */
extern const size_t canaries_count;

int sink_write(void *sink, const char *data, size_t len);

/* Read a job's text into a subject and take the job through its life. Ends the program when that
 * fails. */
void subject_begin(struct subject *subject, const char *name, const char *text, size_t len);
void subject_end(struct subject *subject);

#endif /* TESTS_OOM_SCENARIOS_H */
