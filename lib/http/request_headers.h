/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of a request. */
#ifndef MPIJOB__HTTP_REQUEST_HEADERS_H
#define MPIJOB__HTTP_REQUEST_HEADERS_H

#include <curl/curl.h>

#include "http/config.h"
#include "http/server.h"

/* Build the headers of all requests of a transport. 0, and the caller frees *out;
 * MPIJOB_ERR_SPEC (a value contains control characters), MPIJOB_ERR_NOMEM. */
int mpijob__http_request_headers_common(const mpijob_http_config *config,
    const struct mpijob__http_server *server, const char *user_agent, struct curl_slist **out);

/* The headers of one request, which precede the common ones. The Authorization is wiped. */
struct mpijob__http_request_headers {
	struct curl_slist nodes[2];
	mpijob__http_secret authorization;
	char *content_type;
};
/* Fill the headers and set *first to the whole list for curl, which ends with `common`. Both values
 * may be NULL. 0; MPIJOB_ERR_AUTH or MPIJOB_ERR_USAGE (`authorization` or `content_type` contains
 * control characters); MPIJOB_ERR_NOMEM. */
int mpijob__http_request_headers_fill(struct mpijob__http_request_headers *headers,
    const char *authorization, const char *content_type, struct curl_slist *common,
    struct curl_slist **first);
void mpijob__http_request_headers_clear(struct mpijob__http_request_headers *headers);

/* Whether a text contains a control character other than a tab, and so could add a header. */
int mpijob__http_request_headers_has_control(const char *value);
/* Whether a path is valid in a request line: it begins with a slash and contains no white space,
 * control character or fragment. */
int mpijob__http_request_headers_is_path(const char *path);
/* Whether a method is valid: capital letters only. */
int mpijob__http_request_headers_is_method(const char *word);

#endif
