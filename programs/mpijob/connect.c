/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows how the command connects to a cluster: kubectl's options, warnings of the server, and
 * advice for each failure. It loads libmpijob-http only when it is needed, so that commands for
 * files run without libcurl.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "connect.h"
#include "base/api.h"
#include "findings.h"
#include "print.h"
#include "base/text.h"

#define TEXT_OF(value)    #value
#define LIBRARY_OF(major) "libmpijob-http.so." TEXT_OF(major)
#define LIBRARY           LIBRARY_OF(MPIJOB_VERSION_MAJOR)
#define NO_LIMIT_MS       (INT64_C(365) * 86400 * 1000)

/* The functions that this program uses. */
struct http_functions {
	__typeof__(mpijob_http_config_load) *config_load;
	__typeof__(mpijob_http_config_free) *config_free;
	__typeof__(mpijob_http_config_server) *config_server;
	__typeof__(mpijob_http_config_namespace) *config_namespace;
	__typeof__(mpijob_http_config_context) *config_context;
	__typeof__(mpijob_http_config_user) *config_user;
	__typeof__(mpijob_http_new) *new_;
};

static mpijob_client *volatile interrupted_client;
static volatile sig_atomic_t signal_seen;

/* ---- the library ---- */

/* It is in the same directory as libmpijob. */
static void *library_open(void)
{
	Dl_info info;
	char *path = NULL;
	void *library = NULL;

	if (dladdr((void *)(uintptr_t)mpijob_version, &info) && info.dli_fname &&
	    strrchr(info.dli_fname, '/') &&
	    asprintf(&path, "%.*s/%s", (int)(strrchr(info.dli_fname, '/') - info.dli_fname),
		info.dli_fname, LIBRARY) >= 0) {
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		free(path);
	}
	return library ? library : dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

static int library_functions(void *library, struct http_functions *functions)
{
	const struct {
		const char *name;
		void *place;
	} wanted[] = {
		{ "mpijob_http_config_load", &functions->config_load },
		{ "mpijob_http_config_free", &functions->config_free },
		{ "mpijob_http_config_server", &functions->config_server },
		{ "mpijob_http_config_namespace", &functions->config_namespace },
		{ "mpijob_http_config_context", &functions->config_context },
		{ "mpijob_http_config_user", &functions->config_user },
		{ "mpijob_http_new", &functions->new_ },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		void *found = dlsym(library, wanted[i].name);
		if (!found)
			return -1;
		memcpy(wanted[i].place, &found, sizeof(found));
	}
	return 0;
}

static int library_load(struct connection *connection, struct http_functions *functions)
{
	connection->library = library_open();
	if (connection->library && library_functions(connection->library, functions) == 0)
		return 0;
	const char *why = dlerror();
	print_to(stderr,
	    "mpijob: cannot load " LIBRARY ", which talks to clusters: %s\n"
	    "mpijob: install it next to libmpijob, and libcurl, which it needs; commands for files "
	    "work without it\n",
	    why ? why : "it is of another version");
	return -1;
}

/* ---- options ---- */

static int reads_stdin(const struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->operands.count; i++)
		if (strcmp(arguments->operands.items[i], "-") == 0)
			return 1;
	for (size_t i = 0; i < arguments->files.count; i++)
		if (strcmp(arguments->files.items[i], "-") == 0)
			return 1;
	return 0;
}

static void config_options(const struct arguments *arguments,
    struct mpijob_http_config_options *options)
{
	const struct connection_words *words = &arguments->connection;

	options->kubeconfig = words->kubeconfig;
	options->context = words->context;
	options->cluster = words->cluster;
	options->user = words->user;
	options->namespace_ =
	    arguments->namespace_ && *arguments->namespace_ ? arguments->namespace_ : NULL;
	options->server = words->server;
	options->tls_server_name = words->tls_server_name;
	options->certificate_authority = words->certificate_authority;
	options->client_certificate = words->client_certificate;
	options->client_key = words->client_key;
	options->token = words->token;
	options->as_user = words->as;
	options->as_uid = words->as_uid;
	options->as_groups = words->as_groups.items;
	options->as_groups_count = words->as_groups.count;
	options->insecure_skip_tls_verify = words->insecure;
	/* a credential plugin may prompt only if the jobs are not read from standard input */
	options->interactive = !reads_stdin(arguments);
}

/* ---- warnings of the server ---- */

static void print_begin(struct connection *connection)
{
	if (connection->before_print)
		connection->before_print(connection->before_print_user);
}

static int was_warned(const struct connection *connection, const char *text)
{
	for (size_t i = 0; i < connection->warned.count; i++)
		if (strcmp(connection->warned.items[i], text) == 0)
			return 1;
	return 0;
}

static void on_warning(void *user, const char *text)
{
	struct connection *connection = user;
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;

	if (was_warned(connection, text))
		return;
	const char **items =
	    realloc(connection->warned.items, (connection->warned.count + 1) * sizeof(*items));
	char *copy = strdup(text);
	if (items)
		connection->warned.items = items;
	if (items && copy)
		items[connection->warned.count++] = copy;
	else
		free(copy);
	connection->warnings++;
	finding.severity = MPIJOB_SEVERITY_WARNING;
	finding.id = "server-warning";
	finding.message = text;
	print_begin(connection);
	finding_print(&finding, stderr);
}

static void on_notice(void *user, const struct mpijob_finding *finding)
{
	print_begin(user);
	finding_print(finding, stderr);
}

/* ---- open and close ---- */

static int make_client(struct connection *connection, const struct http_functions *http)
{
	const struct arguments *arguments = connection->arguments;
	struct mpijob_http_options options = MPIJOB_HTTP_OPTIONS_INIT;
	struct mpijob_client_options client_options = MPIJOB_CLIENT_OPTIONS_INIT;
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_http *self = NULL;
	struct given limit = arguments->connection.request_timeout_ms;

	if (limit.is) {
		options.request_timeout_ms = limit.value > 0 ? limit.value : NO_LIMIT_MS;
		options.plugin_timeout_ms = options.request_timeout_ms;
	}
	if (limit.is && limit.value > 0)
		options.connect_timeout_ms = limit.value;
	options.notice = on_notice;
	options.notice_user = connection;
	client_options.warning = on_warning;
	client_options.warning_user = connection;
	int code = http->new_(connection->config, &options, &transport, &self, connection->diag);
	if (code == 0)
		code = mpijob_client_new(&transport, self, &connection->client);
	if (code == 0)
		code = mpijob_client_set_options(connection->client, &client_options);
	return code;
}

static void print_no_config(const struct connection *connection)
{
	const struct connection_words *words = &connection->arguments->connection;

	if (words->kubeconfig || words->context || words->cluster || words->user || words->server)
		return;
	fputs("mpijob: name a cluster with --kubeconfig FILE, $KUBECONFIG or --server URL; without "
	      "one: mpijob run --local FILE\n",
	    stderr);
}

/* Any other name would change the path of the request. */
static int is_namespace(const char *name)
{
	return !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

int connection_open(struct connection *connection, const struct arguments *arguments)
{
	struct http_functions http;
	struct mpijob_http_config_options options = MPIJOB_HTTP_CONFIG_OPTIONS_INIT;

	*connection = (struct connection){ .arguments = arguments };
	if (arguments->namespace_ && !is_namespace(arguments->namespace_)) {
		print_to(stderr, "mpijob: --namespace: '%s' is not the name of a namespace\n",
		    arguments->namespace_);
		return EXIT_USAGE;
	}
	connection->diag = mpijob_diag_new();
	/* Warnings are printed when they arrive. */
	if (!connection->diag || mpijob_diag_set_severity(connection->diag, "server-warning", 0)) {
		failure_print(NULL, MPIJOB_ERR_NOMEM);
		return EXIT_FINDINGS;
	}
	if (library_load(connection, &http))
		return EXIT_FINDINGS;
	config_options(arguments, &options);
	int code = http.config_load(&options, &connection->config, connection->diag);
	if (code == 0) {
		connection->server = http.config_server(connection->config);
		connection->namespace_ = http.config_namespace(connection->config);
		connection->context = http.config_context(connection->config);
		connection->user = http.config_user(connection->config);
		code = make_client(connection, &http);
	}
	findings_print(connection->diag, stderr);
	failure_print(connection->diag, code);
	mpijob_diag_clear(connection->diag);
	if (code == MPIJOB_ERR_NOT_FOUND)
		print_no_config(connection);
	return code == 0 ? 0 : code == MPIJOB_ERR_USAGE ? EXIT_USAGE : EXIT_FINDINGS;
}

void connection_close(struct connection *connection)
{
	struct http_functions http;

	interrupted_client = NULL;
	mpijob_client_free(connection->client);
	if (connection->config && library_functions(connection->library, &http) == 0)
		http.config_free(connection->config);
	/* The library stays loaded: libcurl and libcrypto do not support unloading. */
	mpijob_diag_free(connection->diag);
	for (size_t i = 0; i < connection->warned.count; i++)
		free((void *)(uintptr_t)connection->warned.items[i]);
	free(connection->warned.items);
	*connection = (struct connection){ 0 };
}

/* ---- failures ---- */

/* Whether a finding has this reason, or a message with these words. */
static int says(const mpijob_diag *diag, const char *reason, const char *words)
{
	for (size_t i = 0; mpijob_diag_at(diag, i); i++) {
		const struct mpijob_finding *finding = mpijob_diag_at(diag, i);
		if ((finding->reason && strcmp(finding->reason, reason) == 0) ||
		    strstr(finding->message, words))
			return 1;
	}
	return 0;
}

static void print_place(const struct connection *connection)
{
	print_to(stderr, "mpijob: server %s", connection->server);
	if (connection->context)
		print_to(stderr, ", context '%s'", connection->context);
	if (connection->user)
		print_to(stderr, ", user '%s'", connection->user);
	fputc('\n', stderr);
}

#define WORD_SIZE 64

/* The word after `before`; "" if there is none, or if it is too long or has other characters. */
static const char *word_after(const char *text, const char *before, char word[WORD_SIZE])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789.-/";
	const char *found = strstr(text, before);
	size_t len = found ? strspn(found + strlen(before), plain) : 0;

	if (len >= WORD_SIZE)
		len = 0;
	memcpy(word, found ? found + strlen(before) : "", len);
	word[len] = '\0';
	return word;
}

/* The server's message names the missing right: print the kubectl command that checks it. */
static void print_right(const struct connection *connection)
{
	char verb[WORD_SIZE] = "", resource[WORD_SIZE], group[WORD_SIZE], namespace_[WORD_SIZE];

	for (size_t i = 0; mpijob_diag_at(connection->diag, i) && !*verb; i++) {
		const char *text = mpijob_diag_at(connection->diag, i)->message;
		word_after(text, " cannot ", verb);
		word_after(text, " resource \"", resource);
		word_after(text, " API group \"", group);
		word_after(text, " in the namespace \"", namespace_);
	}
	if (!*verb || !*resource) {
		fputs("mpijob: this user may not do that; 'kubectl auth can-i --list' lists what "
		      "it may do\n",
		    stderr);
		return;
	}
	const char *context = connection->arguments->connection.context;
	const char *role = *namespace_ ? "Role" : "ClusterRole";
	char *slash = strchr(resource, '/');
	if (slash)
		*slash = '\0';
	print_to(stderr,
	    "mpijob: to check: kubectl auth can-i %s %s%s%s%s%s%s%s%s%s; a %s with this right and "
	    "a %sBinding give it\n",
	    verb, resource, *group ? "." : "", group, slash ? " --subresource=" : "",
	    slash ? slash + 1 : "", *namespace_ ? " -n " : " -A", namespace_,
	    context ? " --context " : "", context ? context : "", role, role);
}

static const char *advice(const struct connection *connection, int code)
{
	switch (code) {
	case MPIJOB_ERR_AUTH:
		if (says(connection->diag, "Unauthorized", "Unauthorized"))
			return "the server does not accept these credentials: they may have "
			       "expired, or be those of another cluster";
		return NULL;
	/* a kind and not an object: the answer names no object, or is not a Status */
	case MPIJOB_ERR_NOT_FOUND:
		if (says(connection->diag, "", "could not find the requested resource") ||
		    says(connection->diag, "", "404 page not found"))
			return "the server does not know this kind; for MPIJobs the MPI operator "
			       "and its CRD are missing: mpijob doctor";
		return NULL;
	case MPIJOB_ERR_IO:
	case MPIJOB_ERR_UNREACHABLE:
	case MPIJOB_ERR_TIMEOUT:
		return "check whether the server is up and reachable from here: mpijob doctor";
	case MPIJOB_ERR_SERVER: return "the server is overloaded or failing; try again";
	default: return NULL;
	}
}

/* Users of kubectl type 'get job.yaml' and 'get mpijob pi' by habit. */
static void print_meant(struct connection *connection)
{
	const struct words *words = &connection->arguments->operands;
	const char *first = connection->by_name && words->count ? words->items[0] : "";

	for (size_t i = 0; connection->by_name && i < words->count; i++)
		if (mpijob__base_text_ends(words->items[i], ".yaml") ||
		    mpijob__base_text_ends(words->items[i], ".yml") ||
		    mpijob__base_text_ends(words->items[i], ".json")) {
			print_to(stderr,
			    "mpijob: '%s' is taken for the name of a job; 'mpijob get -f %s' looks "
			    "for the jobs of a file\n",
			    words->items[i], words->items[i]);
			break;
		}
	if (strcmp(first, "mpijob") == 0 || strcmp(first, MPIJOB__BASE_API_PLURAL) == 0 ||
	    strcmp(first, MPIJOB__BASE_API_RESOURCE) == 0)
		print_to(stderr,
		    "mpijob: '%s' is taken for the name of a job; no kind is given here: only "
		    "names, or none for all\n",
		    first);
	connection->by_name = 0; /* once */
}

int connection_report(struct connection *connection, int code)
{
	if (code == 0 && mpijob_diag_count(connection->diag, 0) == 0)
		return 0;
	print_begin(connection);
	if (code == MPIJOB_ERR_CANCELLED) {
		fputs("mpijob: interrupted\n", stderr);
	} else {
		findings_print(connection->diag, stderr);
		failure_print(connection->diag, code);
	}
	if (code == MPIJOB_ERR_NOT_FOUND)
		print_meant(connection);
	const char *help = advice(connection, code);
	if (help || code == MPIJOB_ERR_AUTH)
		print_place(connection);
	if (help)
		print_to(stderr, "mpijob: %s\n", help);
	else if (code == MPIJOB_ERR_AUTH && says(connection->diag, "Forbidden", "is forbidden"))
		print_right(connection);
	mpijob_diag_clear(connection->diag);
	return code;
}

int connection_exit(const struct connection *connection, int code)
{
	if (signal_seen && code == MPIJOB_ERR_CANCELLED)
		return EXIT_SIGNALLED + signal_seen;
	if (code)
		return EXIT_FINDINGS;
	return connection->warnings && connection->arguments->warnings_as_errors ? EXIT_FINDINGS
										 : 0;
}

/* ---- signals ---- */

static void on_signal(int number)
{
	int saved = errno;
	mpijob_client *client = interrupted_client;

	signal_seen = number;
	if (client)
		mpijob_client_cancel(client);
	errno = saved;
}

void connection_catch_signals(struct connection *connection)
{
	struct sigaction action = { 0 }, before;

	interrupted_client = connection->client;
	action.sa_handler = on_signal;
	action.sa_flags = (int)(SA_RESETHAND | SA_RESTART);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* under nohup it stays ignored */
	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

int connection_signal(void)
{
	return signal_seen;
}

int output_is_read(void)
{
	struct pollfd output = { STDOUT_FILENO, 0, 0 };

	return poll(&output, 1, 0) <= 0 || !(output.revents & POLLERR);
}
