/* SPDX-License-Identifier: Apache-2.0 */
/* The message and the result code of a failed transfer. */
#ifndef MPIJOB__HTTP_FAILURE_H
#define MPIJOB__HTTP_FAILURE_H

#include <curl/curl.h>
#include <stdint.h>

#include "http/server.h"

/* The facts about a failed transfer. Strings are borrowed. */
struct mpijob__http_failure {
	CURLcode code;
	const char *text;   /* curl's error text; "" for none */
	long verify_result; /* OpenSSL's X509_V_ERR_* for the server's certificate */
	long os_errno;
	long connect_status; /* the proxy's answer to CONNECT; 0: none */
	const char *server;  /* host:port, for messages */
	const char *proxy;   /* the proxy, for messages; NULL: none */
	int tls;             /* the server's URL begins with https */
	int has_ca;          /* the configuration has a CA */
	int answered;        /* a status was received */
	int replayed;        /* curl tried to send a write a second time */
	int64_t connect_timeout_ms;
	int64_t idle_timeout_ms;
};

/* Returns an MPIJOB_ERR_*. The caller frees *message; it is NULL when memory ran out. */
int mpijob__http_failure_describe(const struct mpijob__http_failure *failure, char **message);

#endif
