/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of a run's job. */
#ifndef MPIJOB__RUN_PODS_H
#define MPIJOB__RUN_PODS_H

#include "base/table.h"
#include "run/output.h"

struct mpijob__run_pod {
	struct mpijob__base_table_link link; /* first; by UID */
	struct mpijob__run_pod *next;        /* of all */
	struct mpijob__run_pod *launcher;    /* the next older launcher */
	struct mpijob__run_container *containers;
	struct mpijob_run *run;
	char *name, *uid, *created;
	int is_launcher;
	int ready;
	int active; /* a container runs */
	int deleting, deleted;
	int ended;  /* Succeeded or Failed */
	int failed; /* its failure was reported */
	int reads_login;
	/* Of a local run: */
	char *never;      /* why it never starts; NULL: unknown */
	char *waits_for;  /* why its containers do not start yet; NULL: they do not wait */
	int64_t waits_ms; /* since when */
};

struct mpijob__run_pods {
	struct mpijob__run_pod *all;
	struct mpijob__run_pod *launchers; /* newest first */
	struct mpijob__base_table table;   /* by UID */
	int32_t ready_workers;
	int launchers_left;   /* that are not deleted */
	int launchers_going;  /* of these, that have not ended */
	mpijob_doc *launcher; /* the last state of the last launcher that was not being deleted */
	struct mpijob__run_tail last; /* of the output of the last launcher */
	const char *last_pod;         /* which that is; NULL: none has printed */
	struct mpijob__run_worker_tail tail;
};

/* A pod was added, changed or deleted. Takes `doc`. */
void mpijob__run_pod_changed(struct mpijob_run *run, mpijob_doc *doc, int deleted);
void mpijob__run_pods_free(struct mpijob_run *run);

#endif
