/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which credentials are used, and for how long: a token, a password or a certificate of the
 * configuration takes precedence over the plugin. The output of a plugin is used until it expires
 * or is refused, and all requests share it. Connections are closed only when a certificate changes.
 * A plugin that failed is not run again at once, so that all requests that wait for it get one
 * answer.
 */
#include "http/credentials.h"

#include "base/clock.h"
#include "base/text.h"
#include "http/identity_files.h"
#include "http/plugin.h"
#include "http/plugin_info.h"
#include "http/plugin_reply.h"
#include "http/report.h"
#include "http/tls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT_MS 60000 /* for a plugin, unless the caller sets another */
/* at least, for a plugin that asks the user: a login in a browser takes time */
#define ASKING_MS 900000
#define PAUSE_MS  1000 /* after a plugin failed, or returned expired credentials */
#define HINTS     10   /* in each HINT_MS */
#define HINT_MS   3600000

struct mpijob__http_credentials {
	const mpijob_http_config *config;
	int64_t timeout_ms; /* for a plugin that does not ask the user */
	struct mpijob__http_identity identity;
	struct mpijob__http_identity_files files;
	mpijob__http_secret authorization;
	int have_basic;
	/* The plugin. */
	struct mpijob__http_plugin plugin; /* while pid is not 0 */
	int asking;                        /* it may have our standard input */
	int64_t limit_ms;                  /* for this run */
	mpijob__http_secret certificate;   /* of its last run */
	mpijob__http_secret key;
	int have;    /* it returned credentials */
	int refused; /* a server refused them */
	int expires;
	int64_t expires_ms; /* since 1970 */
	int64_t fresh_ms;   /* until then (monotonic) they are used although they are expired */
	int told_expired;
	int failed;        /* the code of its last run */
	int64_t failed_ms; /* it is not run again before */
	int hints;
	int64_t hints_ms; /* when the count began */
	char *message;
};

int mpijob__http_credentials_new(const mpijob_http_config *config, int64_t plugin_timeout_ms,
    void (*notice)(void *user, const struct mpijob_finding *finding), void *user,
    mpijob__http_credentials **out)
{
	mpijob__http_credentials *credentials = calloc(1, sizeof(*credentials));

	if (!credentials)
		return MPIJOB_ERR_NOMEM;
	credentials->config = config;
	credentials->timeout_ms = plugin_timeout_ms > 0 ? plugin_timeout_ms : TIMEOUT_MS;
	credentials->files.notice = notice;
	credentials->files.user = user;
	*out = credentials;
	return 0;
}

void mpijob__http_credentials_free(mpijob__http_credentials *credentials)
{
	if (!credentials)
		return;
	if (credentials->plugin.pid)
		mpijob__http_plugin_end(&credentials->plugin);
	mpijob__http_identity_files_release(&credentials->files);
	mpijob__http_secret_clear(&credentials->authorization);
	mpijob__http_secret_clear(&credentials->certificate);
	mpijob__http_secret_clear(&credentials->key);
	free(credentials->message);
	free(credentials);
}

static int uses_plugin(const mpijob_http_config *config)
{
	return config->exec.command && !config->token.len && !config->token_file &&
	       !config->username && !config->certificate.data.len && !config->certificate.file;
}

/* Store a message, which it takes, and return its code. */
static int fail(mpijob__http_credentials *credentials, int code, char *message)
{
	free(credentials->message);
	credentials->message = message;
	return message ? code : MPIJOB_ERR_NOMEM;
}

/* Point the identity at the present values. */
static void publish(mpijob__http_credentials *credentials)
{
	struct mpijob__http_identity *identity = &credentials->identity;
	const struct mpijob__http_identity_files *files = &credentials->files;
	const mpijob__http_secret *certificate =
	    credentials->certificate.len ? &credentials->certificate : &files->certificate;
	const mpijob__http_secret *key =
	    credentials->certificate.len ? &credentials->key : &files->key;

	identity->authorization = credentials->authorization.data;
	identity->certificate = certificate->data;
	identity->certificate_len = certificate->len;
	identity->key = key->data;
	identity->key_len = key->len;
	identity->ca = files->ca.data;
	identity->ca_len = files->ca.len;
}

/* Replace a header; it is cleared when the new one cannot be made. */
static int take_header(mpijob__http_credentials *credentials, int code, mpijob__http_secret *header)
{
	if (code) {
		mpijob__http_secret_clear(header);
		return code;
	}
	mpijob__http_secret_clear(&credentials->authorization);
	credentials->authorization = *header;
	credentials->identity.token_generation++;
	return 0;
}

/* Make "Bearer TOKEN" of a token; without one, remove the header. */
static int set_bearer(mpijob__http_credentials *credentials, const mpijob__http_secret *token)
{
	mpijob__http_secret header = { NULL, 0 };
	int code = token->len ? mpijob__http_secret_set(&header, "Bearer ", 7) : 0;

	if (code == 0)
		code = mpijob__http_secret_append(&header, token->data, token->len);
	return take_header(credentials, code, &header);
}

static int set_basic(mpijob__http_credentials *credentials)
{
	const mpijob_http_config *config = credentials->config;
	mpijob__http_secret plain = { NULL, 0 }, encoded = { NULL, 0 }, header = { NULL, 0 };
	int code = mpijob__http_secret_set(&plain, config->username, strlen(config->username));

	if (code == 0)
		code = mpijob__http_secret_append(&plain, ":", 1);
	if (code == 0)
		code =
		    mpijob__http_secret_append(&plain, config->password.data, config->password.len);
	if (code == 0)
		code = mpijob__http_secret_encode(&encoded, plain.data, plain.len);
	if (code == 0)
		code = mpijob__http_secret_set(&header, "Basic ", 6);
	if (code == 0)
		code = mpijob__http_secret_append(&header, encoded.data, encoded.len);
	mpijob__http_secret_clear(&plain);
	mpijob__http_secret_clear(&encoded);
	code = take_header(credentials, code, &header);
	credentials->have_basic |= code == 0;
	return code;
}

/* The header that needs no plugin. 1 or negative. */
static int prepare_authorization(mpijob__http_credentials *credentials, int64_t now_ms)
{
	const mpijob_http_config *config = credentials->config;
	char *message = NULL;
	int code = 0;

	if (config->token_file) {
		code = mpijob__http_identity_files_read_token(&credentials->files, config, now_ms,
		    &message);
		if (code < 0)
			return fail(credentials, code, message);
		if (code > 0 || !credentials->authorization.len)
			code = set_bearer(credentials, &credentials->files.token);
	} else if (config->token.len && !credentials->authorization.len) {
		code = set_bearer(credentials, &config->token);
	} else if (config->username && !credentials->have_basic) {
		code = set_basic(credentials);
	}
	return code ? code : 1;
}

/* A run of a plugin failed; takes `message`. */
static int fail_run(mpijob__http_credentials *credentials, int64_t now_ms, int code, char *message)
{
	credentials->failed = fail(credentials, code, message);
	credentials->failed_ms = now_ms + PAUSE_MS;
	return credentials->failed;
}

/* Whether the plugin gets our standard input: 1, 0; -1 with `why`: it must not run without. */
static int is_interactive(const mpijob_http_config *config, const char **why)
{
	int terminal = isatty(STDIN_FILENO);

	if (config->exec.interactive_mode == MPIJOB__HTTP_EXEC_NEVER)
		return 0;
	if (config->exec.interactive_mode == MPIJOB__HTTP_EXEC_IF_AVAILABLE)
		return config->interactive && terminal;
	*why = "this program does not let plugins read its standard input";
	if (config->interactive)
		*why = "standard input is no terminal";
	return config->interactive && terminal ? 1 : -1;
}

/* The message for a program that does not exist. The install hint is for users; it is not repeated
 * in every log line. */
static char *not_found(mpijob__http_credentials *credentials, int64_t now_ms)
{
	const struct mpijob__http_exec_plugin *exec = &credentials->config->exec;
	int hint;

	if (!credentials->hints || now_ms - credentials->hints_ms >= HINT_MS) {
		credentials->hints = 0;
		credentials->hints_ms = now_ms;
	}
	hint = credentials->hints < HINTS;
	credentials->hints += hint;
	return mpijob__base_text_format("the credential plugin '%s' is not installed%s%s",
	    exec->command, hint && exec->install_hint ? ": " : "",
	    hint && exec->install_hint ? exec->install_hint : "");
}

static int start_plugin(mpijob__http_credentials *credentials, int64_t now_ms)
{
	const struct mpijob__http_exec_plugin *exec = &credentials->config->exec;
	const char *why = NULL;
	int interactive = is_interactive(credentials->config, &why);
	int number = 0, code;
	char *info;

	if (interactive < 0)
		return fail_run(credentials, now_ms, MPIJOB_ERR_AUTH,
		    mpijob__base_text_format("the credential plugin '%s' has to ask, but %s",
			exec->command, why));
	info = mpijob__http_plugin_info(credentials->config, &credentials->files.ca, interactive);
	if (!info)
		return fail_run(credentials, now_ms, MPIJOB_ERR_NOMEM, NULL);
	credentials->asking = interactive;
	credentials->limit_ms = credentials->timeout_ms;
	if (interactive && credentials->limit_ms < ASKING_MS)
		credentials->limit_ms = ASKING_MS;
	code = mpijob__http_plugin_start(&credentials->plugin, credentials->config, info,
	    interactive, now_ms + credentials->limit_ms, &number);
	free(info);
	if (code == 0)
		return 0;
	if (code == MPIJOB__HTTP_PLUGIN_NOT_FOUND)
		return fail_run(credentials, now_ms, MPIJOB_ERR_AUTH,
		    not_found(credentials, now_ms));
	if (code == MPIJOB__HTTP_PLUGIN_FORBIDDEN)
		return fail_run(credentials, now_ms, MPIJOB_ERR_AUTH,
		    mpijob__base_text_format(
			"the credential plugin '%s' is not among those that may run here",
			exec->command));
	if (code == MPIJOB__HTTP_PLUGIN_REFUSED)
		return fail_run(credentials, now_ms, MPIJOB_ERR_AUTH,
		    mpijob__base_text_format("the credential plugin '%s' cannot be started: %s",
			exec->command, mpijob__http_report_errno(number)));
	return fail_run(credentials, now_ms, MPIJOB_ERR_NOMEM, NULL);
}

static int prepare_plugin(mpijob__http_credentials *credentials, int64_t now_ms)
{
	int expired = credentials->expires && now_ms >= credentials->fresh_ms &&
		      mpijob__base_clock_wall_ms() > credentials->expires_ms;

	if (credentials->plugin.pid)
		return 0;
	if (credentials->have && !credentials->refused && !expired)
		return 1;
	if (credentials->failed && now_ms < credentials->failed_ms)
		return credentials->failed;
	return start_plugin(credentials, now_ms);
}

int mpijob__http_credentials_prepare(mpijob__http_credentials *credentials, int64_t now_ms,
    const char **message)
{
	char *why = NULL;
	int code = mpijob__http_identity_files_read_pem(&credentials->files, credentials->config,
	    now_ms, &why);

	credentials->identity.tls_generation += code > 0;
	if (code < 0)
		code = fail(credentials, code, why);
	else if (uses_plugin(credentials->config))
		code = prepare_plugin(credentials, now_ms);
	else
		code = prepare_authorization(credentials, now_ms);
	publish(credentials);
	if (code < 0)
		*message = code != MPIJOB_ERR_NOMEM && credentials->message ? credentials->message
									    : "out of memory";
	return code;
}

const struct mpijob__http_identity *mpijob__http_credentials_identity(
    const mpijob__http_credentials *credentials)
{
	return &credentials->identity;
}

void mpijob__http_credentials_refused(mpijob__http_credentials *credentials,
    uint64_t token_generation, uint64_t tls_generation)
{
	const struct mpijob__http_identity *identity = &credentials->identity;

	/* Drop the credentials that were refused, unless they have been replaced. */
	if (identity->token_generation != token_generation ||
	    identity->tls_generation != tls_generation)
		return;
	credentials->files.token_due_ms = 0;
	credentials->refused = credentials->have;
}

int mpijob__http_credentials_fd(const mpijob__http_credentials *credentials)
{
	return credentials->plugin.pid ? mpijob__http_plugin_fd(&credentials->plugin) : -1;
}

int mpijob__http_credentials_may_prompt(const mpijob__http_credentials *credentials)
{
	return credentials->plugin.pid && credentials->asking;
}

int64_t mpijob__http_credentials_due_ms(const mpijob__http_credentials *credentials)
{
	return credentials->plugin.pid ? mpijob__http_plugin_due_ms(&credentials->plugin) : -1;
}

static int is_same(const mpijob__http_secret *a, const mpijob__http_secret *b)
{
	return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

static void report_expired(mpijob__http_credentials *credentials)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	char *message =
	    mpijob__base_text_format("the credential plugin '%s' gave credentials that had "
				     "expired; is the clock of this machine right?",
		credentials->config->exec.command);

	if (message && credentials->files.notice && !credentials->told_expired) {
		finding.severity = MPIJOB_SEVERITY_WARNING;
		finding.id = "credentials-expired";
		finding.message = message;
		credentials->files.notice(credentials->files.user, &finding);
	}
	credentials->told_expired = 1;
	free(message);
}

/* Take over the output of a plugin. */
static int accept_reply(mpijob__http_credentials *credentials,
    struct mpijob__http_plugin_reply *reply, int64_t now_ms)
{
	int same = is_same(&credentials->certificate, &reply->certificate) &&
		   is_same(&credentials->key, &reply->key);
	int code = set_bearer(credentials, &reply->token);

	if (code)
		return code;
	mpijob__http_secret_clear(&credentials->certificate);
	mpijob__http_secret_clear(&credentials->key);
	credentials->certificate = reply->certificate;
	credentials->key = reply->key;
	memset(&reply->certificate, 0, sizeof(reply->certificate));
	memset(&reply->key, 0, sizeof(reply->key));
	credentials->identity.tls_generation += !same;
	credentials->have = 1;
	credentials->refused = credentials->failed = 0;
	credentials->expires = reply->expires;
	credentials->expires_ms = reply->expires_ms;
	/* As in client-go, expired credentials are used for the present requests: the server knows
	 * the time better. */
	credentials->fresh_ms = now_ms;
	if (reply->expires && mpijob__base_clock_wall_ms() > reply->expires_ms) {
		credentials->fresh_ms = now_ms + PAUSE_MS;
		report_expired(credentials);
	} else {
		credentials->told_expired = 0;
	}
	return 0;
}

/* Why the end of a run makes it fail; NULL: it ended well. Sets `nomem` when memory ran out. */
static char *bad_end(const mpijob__http_credentials *credentials, int *nomem)
{
	const struct mpijob__http_plugin *plugin = &credentials->plugin;
	const char *command = credentials->config->exec.command;
	char *message = NULL;

	if (plugin->timed_out)
		message = mpijob__base_text_format(
		    "the credential plugin '%s' did not end within %lld ms", command,
		    (long long)credentials->limit_ms);
	else if (plugin->too_much)
		message =
		    mpijob__base_text_format("the credential plugin '%s' wrote more than 1 MiB",
			command);
	else if (plugin->unknown || plugin->status == 0)
		return NULL;
	else if (WIFSIGNALED(plugin->status))
		message =
		    mpijob__base_text_format("the credential plugin '%s' was ended by signal %d",
			command, WTERMSIG(plugin->status));
	else
		message =
		    mpijob__base_text_format("the credential plugin '%s' failed with exit code %d",
			command, WEXITSTATUS(plugin->status));
	*nomem = !message;
	return message;
}

static int finish(mpijob__http_credentials *credentials, int64_t now_ms)
{
	const struct mpijob__http_plugin *plugin = &credentials->plugin;
	const struct mpijob__http_exec_plugin *exec = &credentials->config->exec;
	struct mpijob__http_plugin_reply reply = { 0 };
	const char *why = NULL;
	int nomem = 0, code;
	char *message = bad_end(credentials, &nomem);

	if (message || nomem)
		return fail_run(credentials, now_ms, MPIJOB_ERR_AUTH, message);
	code = mpijob__http_plugin_reply_read(&reply, plugin->output.data, plugin->output.len,
	    exec->api_version, &why);
	if (code == 0 && reply.certificate.len)
		code = mpijob__http_tls_check_pair(&reply.certificate, &reply.key, &why);
	if (code == MPIJOB_ERR_SPEC)
		message = mpijob__base_text_format(
		    "the credential plugin '%s' gave a certificate that cannot be used: %s",
		    exec->command, why);
	else if (code == 0)
		code = accept_reply(credentials, &reply, now_ms);
	else if (code == MPIJOB_ERR_AUTH)
		message = mpijob__base_text_format("the credential plugin '%s' %s%s", exec->command,
		    why, plugin->unknown ? "; its exit code is not known" : "");
	if (code)
		code = fail_run(credentials, now_ms,
		    code == MPIJOB_ERR_NOMEM ? code : MPIJOB_ERR_AUTH, message);
	mpijob__http_plugin_reply_clear(&reply);
	return code;
}

int mpijob__http_credentials_step(mpijob__http_credentials *credentials, int64_t now_ms)
{
	int code;

	if (!credentials->plugin.pid)
		return 0;
	code = mpijob__http_plugin_step(&credentials->plugin, now_ms);
	if (code == 0)
		return 0;
	if (code < 0)
		fail_run(credentials, now_ms, MPIJOB_ERR_NOMEM, NULL);
	else
		(void)finish(credentials, now_ms);
	mpijob__http_plugin_end(&credentials->plugin);
	publish(credentials);
	return 1;
}
