/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The headers of our requests: User-Agent, Authorization, Impersonate-*, and the formats that we
 * accept. No value can add a header. The Authorization is in one wiped buffer, which curl reads in
 * place.
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

static int one_line(const char *value)
{
	for (; *value; value++)
		if (((unsigned char)*value < 0x20 && *value != '\t') || *value == 0x7f)
			return 0;
	return 1;
}

static int append(struct curl_slist **list, const char *name, const char *value)
{
	struct curl_slist *longer;
	char *line;

	if (!one_line(value))
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

/* A new string. The percent sign is the escape, so it is not plain. */
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
	int error = config->as ? append(list, "Impersonate-User", config->as) : 0;

	if (!error && config->as_uid)
		error = append(list, "Impersonate-Uid", config->as_uid);
	for (char **group = config->as_groups; !error && group && *group; group++)
		error = append(list, "Impersonate-Group", *group);
	for (size_t i = 0; !error && i < config->as_extra_count; i++) {
		char *name = extra_name(config->as_extra[i].name);

		error = name ? append(list, name, config->as_extra[i].value) : MPIJOB_ERR_NOMEM;
		free(name);
	}
	return error;
}

int mpijob__http_request_headers_common(const mpijob_http_config *config,
    const struct mpijob__http_server *server, const char *user_agent, struct curl_slist **out)
{
	struct curl_slist *list = NULL;
	int error;

	error = append(&list, "User-Agent",
	    user_agent ? user_agent : "libmpijob/" VERSION " (linux/" MACHINE ")");
	if (!error)
		error = append(&list, "Accept", "application/json, */*");
	/* The URL contains the name of the certificate, not of the server. */
	if (!error && server->connect)
		error = append(&list, "Host", server->authority);
	if (!error)
		error = impersonate(&list, config);
	if (!error) {
		struct curl_slist *longer = curl_slist_append(list, "Expect:");

		if (longer)
			list = longer;
		else
			error = MPIJOB_ERR_NOMEM;
	}
	if (error) {
		curl_slist_free_all(list);
		return error;
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
		if (!one_line(content_type))
			return MPIJOB_ERR_USAGE;
		headers->content_type = mpijob__base_text_format("Content-Type: %s", content_type);
		if (!headers->content_type)
			return MPIJOB_ERR_NOMEM;
	}
	/* Without a value, curl omits it instead of choosing one. */
	headers->nodes[0].data =
	    headers->content_type ? headers->content_type : (char *)(uintptr_t)no_type;
	headers->nodes[0].next = list;
	list = &headers->nodes[0];
	if (authorization) {
		if (!one_line(authorization))
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
