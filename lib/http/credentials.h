/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The credentials of each moment: tokens that are read again, certificates that change, plugins
 * that are run. Nothing here blocks: a plugin is a child process that the transport's loop watches.
 */
#ifndef MPIJOB__HTTP_CREDENTIALS_H
#define MPIJOB__HTTP_CREDENTIALS_H

#include <mpijob/base.h>
#include <mpijob/diag.h>

#include "http/config.h"

typedef struct mpijob__http_credentials mpijob__http_credentials;

/* The credentials of a request. Borrowed until the next step, prepare or refused. */
struct mpijob__http_identity {
	const char *authorization; /* "Bearer ..." or "Basic ..."; NULL: no such header */
	const char *certificate;   /* PEM; NULL: none */
	size_t certificate_len;
	const char *key; /* PEM */
	size_t key_len;
	const char *ca; /* PEM of the server's CA; NULL: the system's roots */
	size_t ca_len;
	/* grows when certificate, key or CA change: connections of an older generation are closed
	 */
	uint64_t tls_generation;
	uint64_t token_generation; /* grows with each new token; a 401 is reported with it */
};

/*
 * `config` is borrowed and must outlive the credentials. `plugin_timeout_ms` is for a plugin that
 * does not ask the user. `notice` receives messages that belong to no request; may be NULL. 0,
 * MPIJOB_ERR_NOMEM.
 */
int mpijob__http_credentials_new(const mpijob_http_config *config, int64_t plugin_timeout_ms,
    void (*notice)(void *user, const struct mpijob_finding *finding), void *user,
    mpijob__http_credentials **out);
/* Kills a plugin that runs, and waits for it. NULL does nothing. */
void mpijob__http_credentials_free(mpijob__http_credentials *credentials);

/*
 * Get valid credentials at `now_ms` (monotonic). 1: they are available. 0: a plugin runs; ask again
 * after a step returned 1. Negative: they are not available (MPIJOB_ERR_AUTH, MPIJOB_ERR_IO,
 * MPIJOB_ERR_NOMEM), and *message says why, borrowed until the next call.
 */
int mpijob__http_credentials_prepare(mpijob__http_credentials *credentials, int64_t now_ms,
    const char **message);
/* The credentials; only after prepare returned 1. */
const struct mpijob__http_identity *mpijob__http_credentials_identity(
    const mpijob__http_credentials *credentials);
/* The server answered 401 to a request with this token_generation and tls_generation. */
void mpijob__http_credentials_refused(mpijob__http_credentials *credentials,
    uint64_t token_generation, uint64_t tls_generation);

/* A descriptor to poll for input while a plugin runs, else -1. It may change with each step. */
int mpijob__http_credentials_fd(const mpijob__http_credentials *credentials);
/* 1 while a plugin runs that may ask the user. */
int mpijob__http_credentials_may_prompt(const mpijob__http_credentials *credentials);
/* When to step at the latest, in monotonic milliseconds; -1: no deadline. */
int64_t mpijob__http_credentials_due_ms(const mpijob__http_credentials *credentials);
/* Advance a plugin. 1: it has ended, with success or not; call prepare. 0: not yet. */
int mpijob__http_credentials_step(mpijob__http_credentials *credentials, int64_t now_ms);

#endif
