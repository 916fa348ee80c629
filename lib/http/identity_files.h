/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates, keys and tokens in files that change. */
#ifndef MPIJOB__HTTP_IDENTITY_FILES_H
#define MPIJOB__HTTP_IDENTITY_FILES_H

#include <mpijob/diag.h>

#include "http/config.h"

/* The last content of each file. All zero: nothing was read. */
struct mpijob__http_identity_files {
	mpijob__http_secret ca;
	mpijob__http_secret certificate;
	mpijob__http_secret key;
	mpijob__http_secret token;
	int have_pem;
	int have_token;
	int64_t pem_due_ms;
	int64_t token_due_ms;
	int pem_failure_reported; /* do not report the same failure again */
	int token_failure_reported;
	void (*notice)(void *user, const struct mpijob_finding *finding); /* may be NULL */
	void *user;
};

/*
 * Read the files that are due at `now_ms` (monotonic). 1: the content changed; 0: it did not, or
 * reading failed and the last content stays in use; negative (MPIJOB_ERR_IO, MPIJOB_ERR_AUTH,
 * MPIJOB_ERR_NOMEM): reading failed and there is no last content. Then *message says why; the
 * caller frees it; NULL when memory ran out.
 */
int mpijob__http_identity_files_read_pem(struct mpijob__http_identity_files *files,
    const mpijob_http_config *config, int64_t now_ms, char **message);
int mpijob__http_identity_files_read_token(struct mpijob__http_identity_files *files,
    const mpijob_http_config *config, int64_t now_ms, char **message);
void mpijob__http_identity_files_release(struct mpijob__http_identity_files *files);

#endif
