/* SPDX-License-Identifier: Apache-2.0 */
/* What a failed transfer means. */
#ifndef MPIJOB__HTTP_FAILURE_H
#define MPIJOB__HTTP_FAILURE_H

#include <curl/curl.h>
#include <stdint.h>

#include "http/server.h"

/* What is known of a transfer that failed. Strings are borrowed. */
struct mpijob__http_failure {
	CURLcode code;
	const char *text;   /* curl's own words; "" for none */
	long verify_result; /* OpenSSL's verdict on the server's certificate, X509_V_ERR_* */
	long os_errno;
	long connect_status; /* what a proxy answered to CONNECT; 0: nothing */
	const char *server;  /* host:port, for people */
	const char *proxy;   /* the same of the proxy; NULL: none */
	int tls;             /* the server's URL begins with https */
	int has_ca;          /* there is a CA of its own */
	int answered;        /* a status had come */
	int replayed;        /* curl would have sent a write a second time */
	int64_t connect_timeout_ms;
	int64_t idle_timeout_ms;
};

/* Its MPIJOB_ERR_*, and what to tell people in *message: yours; NULL when memory ran out. */
int mpijob__http_failure_describe(const struct mpijob__http_failure *failure, char **message);

#endif
