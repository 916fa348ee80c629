/* SPDX-License-Identifier: Apache-2.0 */
/* Curl's easy handles. */
#ifndef MPIJOB__HTTP_EASY_H
#define MPIJOB__HTTP_EASY_H

#include "http/transport.h"

/* The TLS identity of the connections of a pool. Curl does not copy it. */
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
/* Do not wait for a connection that is being established: with HTTP/1.1 it serves one request at a
 * time. */
void mpijob__http_easy_no_pipewait(CURL *easy);
/* Close the connection after this transfer, unless others use it. */
void mpijob__http_easy_close_after(CURL *easy);
/* Remove all pointers into the call. 0, or an error: free the handle then. */
int mpijob__http_easy_reset(CURL *easy);
/* A sentence about what this libcurl lacks, a constant; NULL: it has everything. */
const char *mpijob__http_easy_missing_feature(void);

#endif
