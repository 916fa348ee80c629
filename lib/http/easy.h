/* SPDX-License-Identifier: Apache-2.0 */
/* Curl's easy handles, set up for us. */
#ifndef MPIJOB__HTTP_EASY_H
#define MPIJOB__HTTP_EASY_H

#include "http/transport.h"

/* What connections are opened with. Curl reads it in place. */
struct mpijob__http_pool_identity {
	mpijob__http_secret certificate;
	mpijob__http_secret key;
	mpijob__http_secret ca;
};

/* What all requests have in common. `identity` and `share` must outlive the handle. 0,
 * MPIJOB_ERR_NOMEM, MPIJOB_ERR_UNSUPPORTED. */
int mpijob__http_easy_new(struct mpijob_http *http,
    const struct mpijob__http_pool_identity *identity, CURLSH *share, CURL **out);
/* What one request has. 0, MPIJOB_ERR_NOMEM, MPIJOB_ERR_UNSUPPORTED. */
int mpijob__http_easy_prepare(CURL *easy, struct mpijob__http_call *call,
    struct curl_slist *headers);
/* Wait for no connection that is being made: none is for several. */
void mpijob__http_easy_hurry(CURL *easy);
/* Close its connection when nobody else uses it. */
void mpijob__http_easy_distrust(CURL *easy);
/* Let go of all pointers into the call. 0 or an error: not to be used again. */
int mpijob__http_easy_forget(CURL *easy);
/* Whether this libcurl can do all that we need; NULL, or what is missing. */
const char *mpijob__http_easy_lacking(void);

#endif
