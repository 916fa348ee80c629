/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who we are, from moment to moment: tokens that are read again, certificates that change, plugins
 * that are run. Nothing here waits: a plugin is a child process that the transport's loop looks
 * after.
 */
#ifndef MPIJOB__HTTP_CREDENTIALS_H
#define MPIJOB__HTTP_CREDENTIALS_H

#include <mpijob/base.h>
#include <mpijob/diag.h>

#include "http/config.h"

typedef struct mpijob__http_credentials mpijob__http_credentials;

/* What a request carries. Borrowed from the credentials until their next step, prepare or
 * refused. */
struct mpijob__http_identity {
	const char *authorization; /* "Bearer ..." or "Basic ..."; NULL: no such header */
	const char *certificate;   /* PEM; NULL: none */
	size_t certificate_len;
	const char *key; /* PEM */
	size_t key_len;
	const char *ca; /* PEM of the server's CA; NULL: the system's roots */
	size_t ca_len;
	/* grows when certificate, key or CA change: connections of an older one are closed */
	uint64_t tls_generation;
	uint64_t token_generation; /* grows with each new token; what a 401 is reported with */
};

/*
 * `config` is borrowed and must outlive the credentials. `plugin_timeout_ms` is for a plugin that
 * asks nobody. `notice` is told what concerns no single request; may be NULL. 0, MPIJOB_ERR_NOMEM.
 */
int mpijob__http_credentials_new(const mpijob_http_config *config, int64_t plugin_timeout_ms,
    void (*notice)(void *user, const struct mpijob_finding *finding), void *user,
    mpijob__http_credentials **out);
/* A plugin that runs is killed and waited for. NULL does nothing. */
void mpijob__http_credentials_free(mpijob__http_credentials *credentials);

/*
 * Have valid credentials at `now_ms` (monotonic). 1: they are there. 0: a plugin is running; ask
 * again after a step returned 1. Negative: they cannot be had (MPIJOB_ERR_AUTH, MPIJOB_ERR_IO,
 * MPIJOB_ERR_NOMEM), and *message says why, borrowed until the next call.
 */
int mpijob__http_credentials_prepare(mpijob__http_credentials *credentials, int64_t now_ms,
    const char **message);
/* What they are; only after prepare returned 1. */
const struct mpijob__http_identity *mpijob__http_credentials_identity(
    const mpijob__http_credentials *credentials);
/* The server said 401 to a request that carried this token_generation and tls_generation. */
void mpijob__http_credentials_refused(mpijob__http_credentials *credentials,
    uint64_t token_generation, uint64_t tls_generation);

/* A descriptor to watch for input while a plugin runs, else -1. It may change with each step. */
int mpijob__http_credentials_fd(const mpijob__http_credentials *credentials);
/* Whether a plugin runs that may ask somebody. */
int mpijob__http_credentials_asking(const mpijob__http_credentials *credentials);
/* When to step at the latest, monotonic milliseconds; -1: never by itself. */
int64_t mpijob__http_credentials_due_ms(const mpijob__http_credentials *credentials);
/* Move a plugin on. 1: it has ended, for good or bad, and prepare knows more; 0: not yet. */
int mpijob__http_credentials_step(mpijob__http_credentials *credentials, int64_t now_ms);

#endif
