/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a log, and where they can be read as the job, its pods, its events and its launcher:
 * what is found is one line of text that drives no terminal, of a kind that the table knows.
 */
#include "base/utf8.h"

#include <mpijob/diagnose.h>

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 1000 /* of a message: 600, what an escape adds, and how many more there are */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const mpijob_diag *diag)
{
	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, i);
		size_t len = strlen(finding->message);
		if (!mpijob_finding_kind_find(finding->id) || len == 0 || len > MOST_BYTES ||
		    !mpijob__base_utf8_valid(finding->message, len, NULL))
			abort();
		for (size_t at = 0; at < len; at++)
			if ((unsigned char)finding->message[at] < ' ' ||
			    finding->message[at] == 0x7f)
				abort();
	}
}

static void diagnose(mpijob *job, const mpijob_node *any, const char *text, size_t len)
{
	struct mpijob_evidence evidence = MPIJOB_EVIDENCE_INIT;
	struct mpijob_log_tail tails[2] = { MPIJOB_LOG_TAIL_INIT, MPIJOB_LOG_TAIL_INIT };
	const struct mpijob_log_tail *const pointers[2] = { &tails[0], &tails[1] };
	mpijob_diag *diag = mpijob_diag_new();

	tails[0].pod = "pi-launcher-x2k";
	tails[1].pod = "pi-worker-0";
	for (size_t i = 0; i < 2; i++) {
		tails[i].text = text;
		tails[i].len = len;
	}
	evidence.job = job;
	evidence.launcher = evidence.pods = evidence.events = any;
	evidence.logs = pointers;
	evidence.logs_count = 2;
	evidence.now_ms = INT64_C(1795262400000);
	if (mpijob_diagnose(&evidence, diag) != (int)mpijob_diag_count(diag, 0))
		abort();
	check(diag);
	mpijob_diag_free(diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	mpijob *job = NULL, *own = NULL;
	mpijob_doc *doc = NULL;

	if (mpijob_new("pi", "default", NULL, &job, NULL))
		abort();
	(void)mpijob_doc_parse(text, size, NULL, &doc, NULL);
	diagnose(job, doc ? mpijob_doc_root(doc) : NULL, text, size);
	if (doc && mpijob_from_node(mpijob_doc_root(doc), NULL, &own, NULL) == 0)
		diagnose(own, NULL, text, size);
	mpijob_free(own);
	mpijob_free(job);
	mpijob_doc_free(doc);
	return 0;
}
