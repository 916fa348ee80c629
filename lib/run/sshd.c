/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find out whether sshd on the workers let anyone in.
 *
 * Only this file knows what sshd prints when it listens and when a user logs in. It reads the
 * workers' output while the job runs, until the first login: workers that are deleted at the end of
 * the job leave no log.
 */
#define _GNU_SOURCE /* memmem() */
#include "run/run.h"

#include <stdlib.h>

#define MOST 64 /* workers of a job */
#define SEAM 64 /* bytes kept of the last piece, because a word may be cut */

struct mpijob__run_login {
	struct mpijob__run_login *next;
	struct mpijob_run *run;
	mpijob_call *call;
	int listens;
	char last[SEAM];
	size_t last_len;
};

static int contains(const char *text, size_t len, const char *word)
{
	return memmem(text, len, word, strlen(word)) != NULL;
}

static void search(struct mpijob__run_login *worker, const char *text, size_t len)
{
	worker->listens |= contains(text, len, "Server listening on");
	worker->run->sshd.used |= contains(text, len, "Accepted publickey");
}

static int on_data(void *user, const char *data, size_t len)
{
	struct mpijob__run_login *worker = user;
	size_t head = len < SEAM ? len : SEAM, whole = worker->last_len + head;
	char seam[2 * SEAM];

	memcpy(seam, worker->last, worker->last_len);
	memcpy(seam + worker->last_len, data, head);
	search(worker, seam, whole);
	search(worker, data, len);
	worker->last_len = len >= SEAM || whole > SEAM ? SEAM : whole;
	memcpy(worker->last, len >= SEAM ? data + len - SEAM : seam + whole - worker->last_len,
	    worker->last_len);
	if (!worker->run->sshd.used)
		return 0;
	mpijob__run_wake(worker->run); /* the other calls are cancelled outside of this callback */
	return MPIJOB_ERR_CANCELLED;
}

static void on_done(void *user, const struct mpijob_answer *answer)
{
	struct mpijob__run_login *worker = user;

	worker->call = NULL;
	if (answer->code && !worker->run->sshd.used)
		worker->run->sshd.unknown = 1;
}

void mpijob__run_sshd_read(struct mpijob_run *run, const char *pod, const char *container)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), on_data, on_done, NULL };
	struct mpijob__run_login *worker;
	int rc;

	run->sshd.unknown |= run->sshd.count >= MOST;
	if (run->sshd.used || run->sshd.unknown)
		return;
	worker = calloc(1, sizeof(*worker));
	if (!worker) {
		mpijob__run_fail(run, MPIJOB_ERR_NOMEM);
		return;
	}
	worker->run = run;
	worker->next = run->sshd.workers;
	run->sshd.workers = worker;
	run->sshd.count++;
	callbacks.user = worker;
	rc = mpijob__run_stream_log(run, pod, container, 0, &callbacks, &worker->call);
	if (rc == MPIJOB_ERR_NOMEM)
		mpijob__run_fail(run, rc);
	else if (rc)
		run->sshd.unknown = 1;
}

void mpijob__run_sshd_stop(struct mpijob_run *run)
{
	if (!run->sshd.used && !run->sshd.unknown)
		return;
	for (struct mpijob__run_login *worker = run->sshd.workers; worker; worker = worker->next) {
		if (worker->call)
			mpijob_call_cancel(worker->call);
		worker->call = NULL;
	}
}

int mpijob__run_sshd_was_idle(const struct mpijob_run *run, int32_t workers)
{
	const struct mpijob__run_sshd *sshd = &run->sshd;

	if (sshd->used || sshd->unknown || workers <= 0 || sshd->count != (size_t)workers)
		return 0;
	for (const struct mpijob__run_login *worker = sshd->workers; worker; worker = worker->next)
		if (!worker->listens)
			return 0;
	return 1;
}

void mpijob__run_sshd_free(struct mpijob_run *run)
{
	run->sshd.unknown = 1;
	mpijob__run_sshd_stop(run);
	while (run->sshd.workers) {
		struct mpijob__run_login *worker = run->sshd.workers;

		run->sshd.workers = worker->next;
		free(worker);
	}
}
