/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_DIAGNOSE_H
#define MPIJOB_DIAGNOSE_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>
#include <mpijob/job.h>
#ifdef __cplusplus
extern "C" {
#endif
struct mpijob_log_tail {
	size_t size;
	const char *pod;
	const char *container;
	const char *text;
	size_t len;
};
#define MPIJOB_LOG_TAIL_INIT { sizeof(struct mpijob_log_tail), NULL, NULL, NULL, 0 }
struct mpijob_evidence {
	size_t size;
	mpijob *job;
	const mpijob_node *launcher;
	const mpijob_node *pods;
	const mpijob_node *events;
	const struct mpijob_log_tail *const *logs;
	size_t logs_count;
	int64_t now_ms;
};
#define MPIJOB_EVIDENCE_INIT { sizeof(struct mpijob_evidence), NULL, NULL, NULL, NULL, NULL, 0, 0 }
MPIJOB_API int mpijob_diagnose(const struct mpijob_evidence *evidence, mpijob_diag *diag);
#ifdef __cplusplus
}
#endif
#endif
