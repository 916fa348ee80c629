/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs that a command line means: by name, from files, by labels, or all.
 */
#ifndef MPIJOB_PROGRAM_CHOSEN_H
#define MPIJOB_PROGRAM_CHOSEN_H

#include "base/api.h"
#include "connect.h"

#define JOB_RESOURCE "mpijob." MPIJOB__BASE_API_GROUP

struct chosen_job {
	char *namespace_;
	char *name;
	char *uid; /* NULL when the job was named, not found */
};

struct chosen {
	struct chosen_job *jobs;
	size_t count;
	int by_name; /* they were named: each has to exist */
};

/* Check how jobs are chosen, before anything is asked. Returns 0, or EXIT_USAGE after having said
 * what is wrong. */
int chosen_check(const struct arguments *arguments);

/* The same where it must be said which jobs are meant. */
int chosen_check_some(const struct arguments *arguments);

/*
 * Find out which jobs are meant, after chosen_check(); asks the server for -l, --all and -A.
 * Returns 0, or the exit code after having said what is wrong. That none is found is no error. Free
 * what was chosen in either case.
 */
int chosen_find(struct connection *connection, const struct arguments *arguments,
    struct chosen *chosen);

/* The names and files alone; `count` is 0 when there are none. */
int chosen_names(struct connection *connection, const struct arguments *arguments,
    struct chosen *chosen);

void chosen_free(struct chosen *chosen);

/* List the MPIJobs of a namespace (NULL: of all) with these labels (NULL: any); see
 * mpijob_client_list(). */
int jobs_list(struct connection *connection, const char *namespace_, const char *selector,
    mpijob_doc **out);

#endif
