/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headers of requests: User-Agent, Accept, Authorization, Content-Type, Impersonate-*. Values
 * with control characters are rejected, so that a value cannot add a header. The Authorization is
 * in a buffer that is wiped and that curl does not copy into its list.
 */
#include "http/request_headers.h"

#include "base/percent.h"
#include "base/text.h"
#include "http/report.h"

#include <mpijob/base.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STRING(x) #x
#define NUMBER(x) STRING(x)
#define VERSION                      \
	NUMBER(MPIJOB_VERSION_MAJOR) \
	"." NUMBER(MPIJOB_VERSION_MINOR) "." NUMBER(MPIJOB_VERSION_PATCH)

#if defined(__x86_64__)
#define MACHINE "amd64"
#elif defined(__aarch64__)
#define MACHINE "arm64"
#elif defined(__powerpc64__)
#define MACHINE "ppc64le"
#elif defined(__s390x__)
#define MACHINE "s390x"
#elif defined(__riscv)
#define MACHINE "riscv64"
#else
#define MACHINE "unknown"
#endif

int mpijob__http_request_headers_has_control(const char *value)
{
	for (; *value; value++)
		if (((unsigned char)*value < ' ' && *value != '\t') || *value == 0x7f)
			return 1;
	return 0;
}

static int append(struct curl_slist **list, const char *name, const char *value)
{
	struct curl_slist *longer;
	char *line;

	if (mpijob__http_request_headers_has_control(value))
		return MPIJOB_ERR_SPEC;
	line = mpijob__base_text_format("%s: %s", name, value);
	if (!line)
		return MPIJOB_ERR_NOMEM;
	longer = curl_slist_append(*list, line);
	free(line);
	if (!longer)
		return MPIJOB_ERR_NOMEM;
	*list = longer;
	return 0;
}

/* "Impersonate-Extra-" and the percent-encoded key, as client-go writes it; the caller frees it. */
static char *extra_name(const char *key)
{
	struct mpijob_text name = { 0 };

	if (mpijob__base_text_puts(&name, "Impersonate-Extra-") == 0 &&
	    mpijob__base_percent_encode(&name, key, "!#$&'*+-.^_`|~") == 0)
		return name.data;
	mpijob__base_text_release(&name);
	return NULL;
}

static int impersonate(struct curl_slist **list, const mpijob_http_config *config)
{
	int rc = config->as ? append(list, "Impersonate-User", config->as) : 0;

	if (!rc && config->as_uid)
		rc = append(list, "Impersonate-Uid", config->as_uid);
	for (char **group = config->as_groups; !rc && group && *group; group++)
		rc = append(list, "Impersonate-Group", *group);
	for (size_t i = 0; !rc && i < config->as_extra_count; i++) {
		char *name = extra_name(config->as_extra[i].name);

		rc = name ? append(list, name, config->as_extra[i].value) : MPIJOB_ERR_NOMEM;
		free(name);
	}
	return rc;
}

int mpijob__http_request_headers_common(const mpijob_http_config *config,
    const struct mpijob__http_server *server, const char *user_agent, struct curl_slist **out)
{
	struct curl_slist *list = NULL;
	int rc;

	rc = append(&list, "User-Agent",
	    user_agent ? user_agent : "libmpijob/" VERSION " (linux/" MACHINE ")");
	if (!rc)
		rc = append(&list, "Accept", "application/json, */*");
	/* With tls-server-name the URL contains that name instead of the server's. */
	if (!rc && server->connect)
		rc = append(&list, "Host", server->authority);
	if (!rc)
		rc = impersonate(&list, config);
	if (!rc) {
		struct curl_slist *longer = curl_slist_append(list, "Expect:");

		if (longer)
			list = longer;
		else
			rc = MPIJOB_ERR_NOMEM;
	}
	if (rc) {
		curl_slist_free_all(list);
		return rc;
	}
	*out = list;
	return 0;
}

int mpijob__http_request_headers_fill(struct mpijob__http_request_headers *headers,
    const char *authorization, const char *content_type, struct curl_slist *common,
    struct curl_slist **first)
{
	static const char name[] = "Authorization: ";
	static const char no_type[] = "Content-Type:";
	struct curl_slist *list = common;

	mpijob__http_request_headers_clear(headers);
	if (content_type) {
		if (mpijob__http_request_headers_has_control(content_type))
			return MPIJOB_ERR_USAGE;
		headers->content_type = mpijob__base_text_format("Content-Type: %s", content_type);
		if (!headers->content_type)
			return MPIJOB_ERR_NOMEM;
	}
	/* A header without value makes curl omit it; otherwise curl adds its default. */
	headers->nodes[0].data =
	    headers->content_type ? headers->content_type : (char *)(uintptr_t)no_type;
	headers->nodes[0].next = list;
	list = &headers->nodes[0];
	if (authorization) {
		if (mpijob__http_request_headers_has_control(authorization))
			return MPIJOB_ERR_AUTH;
		if (mpijob__http_secret_set(&headers->authorization, name, sizeof(name) - 1) ||
		    mpijob__http_secret_append(&headers->authorization, authorization,
			strlen(authorization)))
			return MPIJOB_ERR_NOMEM;
		headers->nodes[1].data = headers->authorization.data;
		headers->nodes[1].next = list;
		list = &headers->nodes[1];
	}
	*first = list;
	return 0;
}

void mpijob__http_request_headers_clear(struct mpijob__http_request_headers *headers)
{
	mpijob__http_secret_clear(&headers->authorization);
	free(headers->content_type);
	memset(headers, 0, sizeof(*headers));
}

int mpijob__http_request_headers_is_path(const char *path)
{
	if (*path != '/')
		return 0;
	for (; *path; path++)
		if ((unsigned char)*path <= 0x20 || *path == 0x7f || *path == '#')
			return 0;
	return 1;
}

int mpijob__http_request_headers_is_method(const char *word)
{
	size_t len = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return len > 0 && !word[len];
}
