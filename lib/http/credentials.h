/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The credentials of a connection: token files and certificate files that change, and exec
 * credential plugins. Nothing here blocks: a plugin is a child process whose descriptor the
 * transport polls.
 */
#ifndef MPIJOB__HTTP_CREDENTIALS_H
#define MPIJOB__HTTP_CREDENTIALS_H

#include <mpijob/base.h>
#include <mpijob/diag.h>

#include "http/config.h"

typedef struct mpijob__http_credentials mpijob__http_credentials;

/* The credentials of a request. Borrowed until the next step, prepare or refused. */
struct mpijob__http_identity {
	const char *authorization; /* "Bearer ..." or "Basic ..."; NULL: no Authorization header */
	const char *certificate;   /* PEM; NULL: none */
	size_t certificate_len;
	const char *key; /* PEM */
	size_t key_len;
	const char *ca; /* PEM of the server's CA; NULL: the system's roots */
	size_t ca_len;
	/* grows when certificate, key or CA change; connections of older generations are closed */
	uint64_t tls_generation;
	uint64_t token_generation; /* grows with each new token; see
				      mpijob__http_credentials_refused() */
};

/*
 * Create the credentials of `config`, which must outlive them. `plugin_timeout_ms` is for a plugin
 * that does not read standard input. `notice` receives findings that belong to no request; may be
 * NULL. 0, MPIJOB_ERR_NOMEM.
 */
int mpijob__http_credentials_new(const mpijob_http_config *config, int64_t plugin_timeout_ms,
    void (*notice)(void *user, const struct mpijob_finding *finding), void *user,
    mpijob__http_credentials **out);
/* Kills a plugin that runs, and waits for it. NULL does nothing. */
void mpijob__http_credentials_free(mpijob__http_credentials *credentials);

/*
 * Make the credentials valid at `now_ms` (monotonic). 1: they are valid. 0: a plugin runs; call
 * this again after mpijob__http_credentials_step() returned 1. Negative: they are not available
 * (MPIJOB_ERR_AUTH, MPIJOB_ERR_IO, MPIJOB_ERR_NOMEM); *message says why, borrowed until the next
 * call.
 */
int mpijob__http_credentials_prepare(mpijob__http_credentials *credentials, int64_t now_ms,
    const char **message);
/* The credentials; only after prepare returned 1. */
const struct mpijob__http_identity *mpijob__http_credentials_identity(
    const mpijob__http_credentials *credentials);
/* Report that the server answered 401 to a request with this token_generation and tls_generation.
 */
void mpijob__http_credentials_refused(mpijob__http_credentials *credentials,
    uint64_t token_generation, uint64_t tls_generation);

/* A descriptor to poll for input while a plugin runs, else -1. It may change with each step. */
int mpijob__http_credentials_fd(const mpijob__http_credentials *credentials);
/* 1 while a plugin runs that may prompt the user. */
int mpijob__http_credentials_may_prompt(const mpijob__http_credentials *credentials);
/* The latest time for the next step, in monotonic milliseconds; -1: no plugin runs. */
int64_t mpijob__http_credentials_due_ms(const mpijob__http_credentials *credentials);
/* Read a plugin's output, check its exit and its timeout. 1: it has ended, with success or not;
 * call mpijob__http_credentials_prepare(). 0: it runs, or there is no plugin. */
int mpijob__http_credentials_step(mpijob__http_credentials *credentials, int64_t now_ms);

#endif
