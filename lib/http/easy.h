/* SPDX-License-Identifier: Apache-2.0 */
/* Curl's easy handles. */
#ifndef MPIJOB__HTTP_EASY_H
#define MPIJOB__HTTP_EASY_H

#include "http/transport.h"

/* The TLS identity of connections. Curl reads it in place. */
struct mpijob__http_pool_identity {
	mpijob__http_secret certificate;
	mpijob__http_secret key;
	mpijob__http_secret ca;
};

/* Create a handle with the options of all requests. `identity` and `share` must outlive it. 0,
 * MPIJOB_ERR_NOMEM, MPIJOB_ERR_UNSUPPORTED. */
int mpijob__http_easy_new(struct mpijob_http *http,
    const struct mpijob__http_pool_identity *identity, CURLSH *share, CURL **out);
/* Set the options of one request. 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_UNSUPPORTED. */
int mpijob__http_easy_prepare(CURL *easy, struct mpijob__http_call *call,
    struct curl_slist *headers);
/* Do not wait for a connection in progress: it will serve one request only. */
void mpijob__http_easy_no_pipewait(CURL *easy);
/* Close the connection after this exchange, when no other uses it. */
void mpijob__http_easy_close_after(CURL *easy);
/* Drop all pointers into the call. 0, or an error: the handle must not be used again. */
int mpijob__http_easy_reset(CURL *easy);
/* What this libcurl lacks; NULL when it supports all that is needed. */
const char *mpijob__http_easy_missing_feature(void);

#endif
