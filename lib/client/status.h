/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer of a server means. */
#ifndef MPIJOB__CLIENT_STATUS_H
#define MPIJOB__CLIENT_STATUS_H

#include <mpijob/base.h>
#include <mpijob/diag.h>
#include <mpijob/doc.h>

#define MPIJOB__CLIENT_STATUS_LIMIT ((size_t)1 << 20) /* a larger body is not a Status */

/* The verdict on one answer. */
struct mpijob__client_verdict {
	int code;            /* 0 or MPIJOB_ERR_* */
	const char *reason;  /* borrowed from `doc` or constant; NULL when all is well */
	const char *message; /* borrowed; NULL when all is well */
	/* a 5xx without a reason: a gateway may have sent it, so a write may have been done */
	int vague;
	int64_t retry_after_ms; /* from the Status' details; 0 when absent */
	mpijob_doc *doc;        /* the Status; NULL when there was none */
	mpijob_text *text;      /* a message of our own; NULL when the server's is used */
};

/*
 * Judge a complete answer: by the reason of its Status, else by its HTTP status. A 2xx fails only
 * if its body is a Status with "status": "Failure". 0, or MPIJOB_ERR_NOMEM, which is then the
 * verdict's code, too; call mpijob__client_verdict_release() in either case.
 */
int mpijob__client_verdict_make(struct mpijob__client_verdict *verdict, int status, int is_post,
    const char *body, size_t len);
void mpijob__client_verdict_release(struct mpijob__client_verdict *verdict);
/* Report a verdict: one finding for each cause, else one for the message. */
void mpijob__client_verdict_report(const struct mpijob__client_verdict *verdict, mpijob_diag *diag);

#endif
