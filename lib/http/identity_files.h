/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates, keys and tokens in files that change. */
#ifndef MPIJOB__HTTP_IDENTITY_FILES_H
#define MPIJOB__HTTP_IDENTITY_FILES_H

#include <mpijob/diag.h>

#include "http/config.h"

/* What was read last. All zero: nothing was read. */
struct mpijob__http_identity_files {
	mpijob__http_secret ca;
	mpijob__http_secret certificate;
	mpijob__http_secret key;
	mpijob__http_secret token;
	int have_pem;
	int have_token;
	int64_t pem_due_ms;
	int64_t token_due_ms;
	int told_pem; /* the failure to read them was reported */
	int told_token;
	void (*notice)(void *user, const struct mpijob_finding *finding); /* may be NULL */
	void *user;
};

/*
 * Read what is due. 1: something changed; 0: nothing did; negative (MPIJOB_ERR_IO, MPIJOB_ERR_AUTH,
 * MPIJOB_ERR_NOMEM): it was never available, and `*message` (the caller's to free; NULL when memory
 * ran out) says why.
 */
int mpijob__http_identity_files_read_pem(struct mpijob__http_identity_files *files,
    const mpijob_http_config *config, int64_t now_ms, char **message);
int mpijob__http_identity_files_read_token(struct mpijob__http_identity_files *files,
    const mpijob_http_config *config, int64_t now_ms, char **message);
void mpijob__http_identity_files_release(struct mpijob__http_identity_files *files);

#endif
