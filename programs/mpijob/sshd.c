/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows what sshd prints when it listens and when it lets somebody in. The workers' output is read
 * beside the launcher's until the first of them tells of a login, which in most jobs is at once;
 * workers that are deleted at the job's end leave no log to look at later.
 */
#include <stdlib.h>
#include <string.h>

#include "evidence.h"
#include "sshd.h"

#define MOST 64 /* workers of a job that is looked at */
#define KEPT 64 /* bytes of the text that came last, for words that are cut */

struct sshd_row {
	struct sshd_row *next;
	struct sshd *sshd;
	char *pod;
	mpijob_call *call;
	int listens;
	char last[KEPT];
	size_t last_len;
};

static void stop_all(struct sshd *sshd)
{
	for (struct sshd_row *row = sshd->rows; row; row = row->next) {
		if (row->call)
			mpijob_call_cancel(row->call);
		row->call = NULL;
	}
}

static int has(const char *text, size_t len, const char *word)
{
	return memmem(text, len, word, strlen(word)) != NULL;
}

static void look_at(struct sshd_row *row, const char *text, size_t len)
{
	row->listens |= has(text, len, "Server listening on");
	row->sshd->let_in |= has(text, len, "Accepted publickey");
}

/* A word may begin in one piece and end in the next. */
static int on_data(void *user, const char *data, size_t len)
{
	struct sshd_row *row = user;
	char seam[2 * KEPT];
	size_t head = len < KEPT ? len : KEPT;

	memcpy(seam, row->last, row->last_len);
	memcpy(seam + row->last_len, data, head);
	look_at(row, seam, row->last_len + head);
	look_at(row, data, len);
	size_t whole = row->last_len + head;
	if (len >= KEPT) {
		memcpy(row->last, data + len - KEPT, KEPT);
		row->last_len = KEPT;
	} else {
		size_t keep = whole < KEPT ? whole : KEPT;
		memcpy(row->last, seam + whole - keep, keep);
		row->last_len = keep;
	}
	/* The others are cancelled outside of this callback. */
	return row->sshd->let_in ? MPIJOB_ERR_CANCELLED : 0;
}

static void on_done(void *user, const struct mpijob_answer *answer)
{
	struct sshd_row *row = user;

	row->call = NULL;
	if (answer->code && !row->sshd->let_in)
		row->sshd->unknown = 1;
}

static int follow(struct sshd_row *row, const char *container)
{
	struct mpijob_callbacks callbacks = { sizeof(callbacks), on_data, on_done, row };

	return pod_log_start(row->sshd->client, row->sshd->namespace_, row->pod, container, 0,
	    &callbacks, &row->call);
}

int sshd_look(struct sshd *sshd, const char *pod, const char *container)
{
	for (const struct sshd_row *row = sshd->rows; row; row = row->next)
		if (strcmp(row->pod, pod) == 0)
			return 0;
	sshd->unknown |= sshd->count >= MOST;
	if (sshd->let_in || sshd->unknown)
		return 0;
	struct sshd_row *row = calloc(1, sizeof(*row));
	if (!row || !(row->pod = strdup(pod))) {
		free(row);
		return MPIJOB_ERR_NOMEM;
	}
	row->sshd = sshd;
	row->next = sshd->rows;
	sshd->rows = row;
	sshd->count++;
	return follow(row, container);
}

void sshd_rest(struct sshd *sshd)
{
	if (sshd->let_in || sshd->unknown)
		stop_all(sshd);
}

int sshd_was_idle(const struct sshd *sshd, int workers)
{
	if (sshd->let_in || sshd->unknown || workers <= 0 || sshd->count != (size_t)workers)
		return 0;
	for (const struct sshd_row *row = sshd->rows; row; row = row->next)
		if (!row->listens)
			return 0;
	return 1;
}

void sshd_free(struct sshd *sshd)
{
	stop_all(sshd);
	while (sshd->rows) {
		struct sshd_row *row = sshd->rows;
		sshd->rows = row->next;
		free(row->pod);
		free(row);
	}
}
