/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of a request. */
#ifndef MPIJOB__HTTP_REQUEST_HEADERS_H
#define MPIJOB__HTTP_REQUEST_HEADERS_H

#include <curl/curl.h>

#include "http/config.h"
#include "http/server.h"

/* What all requests of a transport have in common. 0, MPIJOB_ERR_SPEC (a value that no header can
 * have), MPIJOB_ERR_NOMEM. */
int mpijob__http_request_headers_common(const mpijob_http_config *config,
    const struct mpijob__http_server *server, const char *user_agent, struct curl_slist **out);

/* What one request has on top, ahead of the common ones; the Authorization is wiped. */
struct mpijob__http_request_headers {
	struct curl_slist nodes[2];
	mpijob__http_secret authorization;
	char *content_type;
};
/* Both values may be NULL. *first is the whole list, for curl. 0, MPIJOB_ERR_AUTH, MPIJOB_ERR_USAGE
 * (line ends in a value), MPIJOB_ERR_NOMEM. */
int mpijob__http_request_headers_fill(struct mpijob__http_request_headers *wire,
    const char *authorization, const char *content_type, struct curl_slist *common,
    struct curl_slist **first);
void mpijob__http_request_headers_clear(struct mpijob__http_request_headers *wire);

/* A path that can stand in a request line: begins with a slash, no white space, no control
 * character, no fragment. */
int mpijob__http_request_headers_is_path(const char *path);
/* A method: capital letters. */
int mpijob__http_request_headers_is_method(const char *word);

#endif
