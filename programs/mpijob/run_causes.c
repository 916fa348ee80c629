/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows what a person wants to read when a run failed: the causes that the cluster shows, each with what to do about
 * it. What cannot be looked at any more is no failure of its own.
 */
#include <string.h>
#include <time.h>

#include "evidence.h"
#include "findings.h"
#include "print.h"
#include "run.h"

/* What the run has said by itself. */
static int is_told(const char *id)
{
	static const char *const told[] = { "container-failed", "backoff-limit", "job-failed", "launcher-gone" };

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (strcmp(told[i], id) == 0)
			return 1;
	return 0;
}

static void tell(const mpijob_diag *causes)
{
	for (size_t i = 0; i < mpijob_diag_count(causes); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(causes, i);
		const struct mpijob_finding_kind *kind = mpijob_finding_kind_find(finding->id);
		if (is_told(finding->id))
			continue;
		fputs("mpijob: ", stderr);
		finding_print(finding, stderr);
		if (kind && finding->severity != MPIJOB_SEVERITY_INFO)
			print_to(stderr, "  %s\n", kind->advice);
	}
}

void run_tell_causes(struct run *run)
{
	mpijob_diag *causes = mpijob_diag_new();
	struct seen seen = { 0 };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	int code = causes ? seen_gather(&seen, run->client, run->namespace_, run->name, NULL) : MPIJOB_ERR_NOMEM;
	if (code == 0)
		code = seen_add_logs(&seen, run->client);
	/* Kubernetes deletes the pod of a last attempt; what it printed passed through here. */
	if (code == 0 && run->pods.last_launcher)
		code = seen_keep_tail(&seen, run->pods.last_launcher, run->pods.last, run->pods.last_len);
	if (code == 0 && seen_diagnose(&seen, (int64_t)now.tv_sec * 1000, causes) >= 0)
		tell(causes);
	seen_free(&seen);
	mpijob_diag_free(causes);
}
