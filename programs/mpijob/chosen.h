/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs that a command line selects: by name, from files, by labels, or all.
 */
#ifndef MPIJOB_PROGRAM_CHOSEN_H
#define MPIJOB_PROGRAM_CHOSEN_H

#include "base/api.h"
#include "connect.h"

#define JOB_RESOURCE "mpijob." MPIJOB__BASE_API_GROUP

struct chosen_job {
	char *namespace_;
	char *name;
	char *uid; /* NULL if the job was named and not listed */
};

struct chosen {
	struct chosen_job *jobs;
	size_t count;
	int by_name; /* the command line names them: each must exist */
};

/* Check the options that select jobs, without a request. Returns 0, or prints an error and returns
 * EXIT_USAGE. */
int chosen_check(const struct arguments *arguments);

/* The same for commands that need a selection. */
int chosen_check_some(const struct arguments *arguments);

/*
 * Find the selected jobs, after chosen_check(); lists those on the server for -l, --all and -A.
 * Returns 0, or prints an error and returns the exit code. An empty result is not an error. Call
 * chosen_free() in either case.
 */
int chosen_find(struct connection *connection, const struct arguments *arguments,
    struct chosen *chosen);

/* Only the jobs of names and files; `count` is 0 without them. */
int chosen_names(struct connection *connection, const struct arguments *arguments,
    struct chosen *chosen);

/* Fill in which object a job is. */
void chosen_target(struct mpijob_target *target, const struct chosen_job *job);

void chosen_free(struct chosen *chosen);

/* List the MPIJobs of a namespace (NULL: of all) with these labels (NULL: any); see
 * mpijob_client_list(). */
int jobs_list(struct connection *connection, const char *namespace_, const char *selector,
    mpijob_doc **out);

#endif
