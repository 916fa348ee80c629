/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob shadow-report: knows the page /shadow of a shadow operator, one JSON object per line, and
 * when that operator may take over: when every action that it would have executed is explained.
 *
 * It fetches the page by HTTP/1.0 over a plain socket: the address is that of a pod, or of a port
 * that kubectl forwards, and must never receive credentials of a kubeconfig.
 */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <mpijob/mpijob.h>

#include "command.h"
#include "findings.h"
#include "print.h"
#include "table.h"

#define MOST_BYTES (64u << 20)
#define PATIENCE_S 30
#define SCHEME     "http://"

struct report {
	struct table table;
	size_t actions, unexplained;
};

/* ---- fetch the report ---- */

static int take_all(int fd, mpijob_text *out, const char *name)
{
	char buffer[65536];
	ssize_t got;

	while ((got = read(fd, buffer, sizeof(buffer))) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			print_to(stderr, "mpijob: %s: %s\n", name, strerror(errno));
			return MPIJOB_ERR_IO;
		}
		if (mpijob_text_len(out) + (size_t)got > MOST_BYTES) {
			print_to(stderr,
			    "mpijob: %s: this is not a report: it is larger than 64 MiB\n", name);
			return MPIJOB_ERR_IO;
		}
		int code = mpijob_text_write(out, buffer, (size_t)got);
		if (code)
			return code;
	}
	return 0;
}

static int take_file(const char *name, mpijob_text *out)
{
	FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");

	if (!file && strstr(name, "://")) {
		print_to(stderr,
		    "mpijob: %s: only http:// can be read here; pipe what 'kubectl get --raw' "
		    "prints into 'mpijob shadow-report'\n",
		    name);
		return MPIJOB_ERR_USAGE;
	}
	if (!file) {
		print_to(stderr, "mpijob: %s: %s\n", name, strerror(errno));
		return MPIJOB_ERR_IO;
	}
	int code = take_all(fileno(file), out, name);
	if (file != stdin)
		(void)fclose(file);
	return code;
}

static int connect_any(const struct addrinfo *list)
{
	const struct timeval patience = { PATIENCE_S, 0 };
	int fd = -1;

	for (const struct addrinfo *info = list; info; info = info->ai_next) {
		fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, info->ai_protocol);
		if (fd < 0)
			continue;
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		if (connect(fd, info->ai_addr, info->ai_addrlen) == 0)
			return fd;
		int number = errno;
		(void)close(fd);
		errno = number;
	}
	return -1;
}

/* "HOST:PORT" or "[IPV6]:PORT"; port 80 without one. */
static int dial(const char *authority, const char *url)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	char *host = strdup(authority), *name = host, *port;
	int fd = -1;

	if (!host) {
		failure_print(NULL, MPIJOB_ERR_NOMEM);
		return -1;
	}
	port = strrchr(host, ':');
	if (port && strchr(port, ']'))
		port = NULL;
	if (port)
		*port++ = '\0';
	if (*name == '[' && name[strlen(name) - 1] == ']') {
		name[strlen(name) - 1] = '\0';
		name++;
	}
	int code = getaddrinfo(name, port ? port : "80", &hints, &list);
	if (code == 0)
		fd = connect_any(list);
	if (fd < 0)
		print_to(stderr, "mpijob: %s: %s\n", url,
		    code ? gai_strerror(code) : strerror(errno));
	if (list)
		freeaddrinfo(list);
	free(host);
	return fd;
}

static int send_all(int fd, const char *text, const char *url)
{
	size_t len = strlen(text);

	while (len) {
		ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			print_to(stderr, "mpijob: %s: %s\n", url, strerror(errno));
			return MPIJOB_ERR_IO;
		}
		text += sent;
		len -= (size_t)sent;
	}
	return 0;
}

/* 0 if the body is shorter than the Content-Length of the answer. */
static int is_whole(const char *text, const char *body)
{
	static const char name[] = "\r\ncontent-length:";
	size_t header = (size_t)(body - text);

	for (size_t i = 0; i + sizeof(name) < header; i++)
		if (strncasecmp(text + i, name, sizeof(name) - 1) == 0)
			return strtoull(text + i + sizeof(name) - 1, NULL, 10) == strlen(body);
	return 1;
}

/* The body of an answer with status 200. Otherwise prints an error and returns NULL. */
static const char *body_of(const char *text, const char *url)
{
	const char *end = strstr(text, "\r\n\r\n");
	const char *status = end && strncmp(text, "HTTP/1.", 7) == 0 ? strchr(text, ' ') : NULL;

	if (status && strncmp(status, " 200", 4) == 0 && is_whole(text, end + 4))
		return end + 4;
	if (status && strncmp(status, " 404", 4) == 0)
		print_to(stderr,
		    "mpijob: %s: page not found; a shadow operator serves /shadow at its "
		    "--monitoring-port\n",
		    url);
	else if (status && strncmp(status, " 200", 4) == 0)
		print_to(stderr, "mpijob: %s: the connection broke\n", url);
	else
		print_to(stderr, "mpijob: %s: this is not a report\n", url);
	return NULL;
}

static int take_url(const char *url, mpijob_text *out, const char **body)
{
	const char *rest = url + strlen(SCHEME);
	size_t len = strcspn(rest, "/");
	char *authority = strndup(rest, len), *request = NULL;
	const char *path = rest[len] && rest[len + 1] ? rest + len : "/shadow";
	int size =
	    authority && !strpbrk(url, " \r\n\t")
		? asprintf(&request, "GET %s HTTP/1.0\r\nHost: %s\r\nUser-Agent: mpijob\r\n\r\n",
		      path, authority)
		: -1;
	int fd = size < 0 ? -1 : dial(authority, url);
	int code = size < 0 ? MPIJOB_ERR_USAGE
		   : fd < 0 ? MPIJOB_ERR_UNREACHABLE
			    : send_all(fd, request, url);

	if (size < 0)
		print_to(stderr, "mpijob: %s: this is not an address\n", url);
	if (code == 0)
		code = take_all(fd, out, url);
	if (fd >= 0)
		(void)close(fd);
	if (size >= 0)
		free(request);
	free(authority);
	*body = code ? NULL : body_of(mpijob_text_data(out), url);
	return code || *body ? code : MPIJOB_ERR_IO;
}

/* ---- read the report ---- */

static const char *word(const mpijob_node *action, const char *key)
{
	const char *text = mpijob_node_string(mpijob_node_get(action, key));

	return text ? text : "";
}

static void add_action(struct report *report, const mpijob_node *action)
{
	static const char *const keys[] = { "time", "namespace", "job", "verb", "kind", "name",
		"why" };
	const char *difference = word(action, "difference");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		table_cell(&report->table, word(action, keys[i]));
	table_cell(&report->table, *difference ? difference : "-");
	report->actions++;
	report->unexplained += !*difference;
}

static int add_lines(struct report *report, const char *text, const char *name)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	size_t len;
	int code = 0;

	options.format = MPIJOB_FORMAT_JSON;
	options.source = name;
	for (size_t line = 1; *text && code == 0; text += len + (text[len] == '\n'), line++) {
		mpijob_doc *doc = NULL;
		len = strcspn(text, "\n");
		if (len == 0)
			continue;
		code = mpijob_doc_parse(text, len, &options, &doc, NULL);
		if (code == 0 && mpijob_node_kind(mpijob_doc_root(doc)) == MPIJOB_NODE_MAP &&
		    *word(mpijob_doc_root(doc), "verb"))
			add_action(report, mpijob_doc_root(doc));
		else if (code != MPIJOB_ERR_NOMEM)
			code = MPIJOB_ERR_SYNTAX;
		mpijob_doc_free(doc);
		if (code == MPIJOB_ERR_SYNTAX)
			print_to(stderr,
			    "mpijob: %s: line %zu is not an action of a shadow operator\n", name,
			    line);
	}
	return code;
}

static void begin_table(struct table *table)
{
	static const char *const headers[] = { "TIME", "NAMESPACE", "JOB", "VERB", "KIND", "NAME",
		"WHY", "DIFFERENCE" };

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		table_column(table, headers[i]);
}

static int print(struct report *report)
{
	int code = table_print(&report->table);

	if (report->actions == 0)
		puts(
		    "nothing: the operator that acts has done all that the shadow would have done");
	else if (code == 0)
		print_out("%zu %s, of which %zu %s not explained by docs/differences.md\n",
		    report->actions, report->actions == 1 ? "action" : "actions",
		    report->unexplained, report->unexplained == 1 ? "is" : "are");
	return code;
}

int shadow_report_command(const struct arguments *arguments)
{
	const char *name = arguments->operands.count ? arguments->operands.items[0] : "-";
	struct report report = { 0 };
	mpijob_text *text = mpijob_text_new();
	const char *body = NULL;
	int code;

	if (arguments->operands.count > 1) {
		fputs("mpijob: shadow-report takes one file or address\n", stderr);
		mpijob_text_free(text);
		return EXIT_USAGE;
	}
	begin_table(&report.table);
	if (!text)
		code = MPIJOB_ERR_NOMEM;
	else if (strncmp(name, SCHEME, strlen(SCHEME)) == 0)
		code = take_url(name, text, &body);
	else
		code = take_file(name, text);
	if (code == 0)
		code = add_lines(&report, body ? body : mpijob_text_data(text), name);
	if (code == 0)
		code = print(&report);
	if (code == MPIJOB_ERR_NOMEM)
		failure_print(NULL, code);
	table_free(&report.table);
	mpijob_text_free(text);
	return code == MPIJOB_ERR_USAGE     ? EXIT_USAGE
	       : code || report.unexplained ? EXIT_FINDINGS
					    : 0;
}
