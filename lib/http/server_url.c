/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which addresses of servers and proxies are valid in a configuration. A server is a URL, or only
 * host and port. Its path becomes the prefix of each request's path; query and fragment are
 * removed. A server's address must not contain a password, because messages contain the address.
 */
#include "http/server_url.h"

#include "base/text.h"
#include "http/report.h"

#include <mpijob/base.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The length of the scheme if "://" follows, else 0. */
static size_t scheme_length(const char *text)
{
	size_t len = 0;

	while (is_letter(text[len]) ||
	       (len && text[len] && (is_digit(text[len]) || strchr("+-.", text[len]))))
		len++;
	return strncmp(text + len, "://", 3) == 0 ? len : 0;
}

static int has_scheme(const char *text, size_t len, const char *name)
{
	return strlen(name) == len && strncasecmp(text, name, len) == 0;
}

/* Spaces and control characters could end a header or the request line. */
static int has_bad_bytes(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text <= ' ' || *text == 0x7f || *text == '\\' || *text == '"' ||
		    *text == '<' || *text == '>')
			return 1;
	}
	return 0;
}

/* 0 for a port from 1 to 65535 or an empty text, else -1. */
static int check_port(const char *text, size_t len)
{
	unsigned number = 0;

	for (size_t i = 0; i < len; i++) {
		if (!is_digit(text[i]) || number > 65535)
			return -1;
		number = number * 10 + (unsigned)(text[i] - '0');
	}
	return len && (number < 1 || number > 65535) ? -1 : 0;
}

/* Check "host", "host:port" or "[::1]:port", and remove a ":" without port. 0, or -1 and *why. */
static int check_authority(const char *text, size_t *len, const char **why)
{
	const char *end = text + *len;
	const char *colon;

	*why = "has no host";
	if (*len && text[0] == '[') {
		const char *close = memchr(text, ']', *len);

		*why = "has a '[' without its ']'";
		if (!close)
			return -1;
		*why = "has something other than a port after ']'";
		if (close + 1 < end && close[1] != ':')
			return -1;
		*why = "is not an IPv6 address in brackets";
		if (close < text + 3 || strspn(text + 1, "0123456789abcdefABCDEF:.%") < 2)
			return -1;
		colon = close + 1 < end ? close + 1 : NULL;
	} else {
		colon = memchr(text, ':', *len);
		if (!*len || colon == text)
			return -1;
		*why = "has more than one ':'; an IPv6 address needs brackets";
		if (colon && memchr(colon + 1, ':', (size_t)(end - colon - 1)))
			return -1;
	}
	*why = "has an invalid port";
	if (colon && check_port(colon + 1, (size_t)(end - colon - 1)))
		return -1;
	if (colon && colon + 1 == end)
		(*len)--;
	return 0;
}

/* Find the lengths of authority and path, and check both. 0, or -1 and *why. */
static int check_server(const char *rest, int has_scheme_, size_t *authority, size_t *path,
    const char **why)
{
	const char *slash;

	*authority = strcspn(rest, "/?#");
	*path = 0;
	*why = "contains credentials; put them into the user's entry";
	if (memchr(rest, '@', *authority))
		return -1;
	slash = rest + *authority;
	if (*slash == '/')
		*path = strcspn(slash, "?#");
	while (*path && slash[*path - 1] == '/')
		(*path)--;
	*why = "has a path and therefore needs a scheme: https://";
	if (*path && !has_scheme_)
		return -1;
	return check_authority(rest, authority, why);
}

int mpijob__http_server_url_normalize(const char *text, int tls, char **out, const char **why)
{
	size_t scheme = scheme_length(text), whole, authority, path;
	const char *rest = scheme ? text + scheme + 3 : text;
	const char *name = tls ? "https" : "http";
	char *url;

	if (scheme)
		name = has_scheme(text, scheme, "https")  ? "https"
		       : has_scheme(text, scheme, "http") ? "http"
							  : NULL;
	*why = "must begin with https:// (or http://)";
	if (!name)
		return MPIJOB_ERR_SPEC;
	*why = "contains a space or another character that a URL must not contain";
	if (has_bad_bytes(text))
		return MPIJOB_ERR_SPEC;
	whole = strcspn(rest, "/?#");
	if (check_server(rest, scheme != 0, &authority, &path, why))
		return MPIJOB_ERR_SPEC;
	url = mpijob__base_text_format("%s://%.*s%.*s", name, (int)authority, rest, (int)path,
	    rest + whole);
	if (!url)
		return MPIJOB_ERR_NOMEM;
	*out = url;
	return 0;
}

int mpijob__http_server_url_is_tls(const char *url)
{
	return strncmp(url, "https:", 6) == 0;
}

int mpijob__http_server_url_check_proxy(const char *text, const char **why)
{
	size_t scheme = scheme_length(text), authority;
	const char *rest = text + scheme + 3;
	const char *at;

	*why = "SOCKS proxies are not supported; use an HTTP proxy (http:// or https://)";
	if (scheme >= 5 && strncasecmp(text, "socks", 5) == 0)
		return MPIJOB_ERR_UNSUPPORTED;
	*why = "must begin with http:// or https://";
	if (!scheme || (!has_scheme(text, scheme, "http") && !has_scheme(text, scheme, "https")))
		return MPIJOB_ERR_SPEC;
	*why = "contains a space or another character that a URL must not contain";
	if (has_bad_bytes(text))
		return MPIJOB_ERR_SPEC;
	authority = strcspn(rest, "/?#");
	for (at = rest + authority; at > rest && at[-1] != '@'; at--)
		;
	authority -= (size_t)(at - rest);
	return check_authority(at, &authority, why) ? MPIJOB_ERR_SPEC : 0;
}
