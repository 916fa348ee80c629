/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which credentials a request gets, and for how long they are valid. A token, a password or a
 * certificate in the configuration takes precedence over the plugin. All requests share the output
 * of a plugin until it expires or the server answers 401. New connections are needed only when a
 * certificate changes. After a failure the plugin does not run for RETRY_MS, so that all requests
 * that wait for it fail with the same message.
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

#define TIMEOUT_MS 60000 /* default for a plugin */
/* minimum for a plugin that may prompt: a login in a browser takes time */
#define INTERACTIVE_TIMEOUT_MS 900000
#define RETRY_MS               1000 /* after a failure, or after expired credentials */
#define MAX_HINTS              10   /* install hints per HINT_PERIOD_MS */
#define HINT_PERIOD_MS         3600000

struct mpijob__http_credentials {
	const mpijob_http_config *config;
	int64_t timeout_ms; /* for a plugin that cannot prompt */
	struct mpijob__http_identity identity;
	struct mpijob__http_identity_files files;
	mpijob__http_secret authorization;
	int have_basic;
	/* The plugin. */
	struct mpijob__http_plugin plugin; /* runs while pid is not 0 */
	int interactive;                   /* it reads our standard input */
	int64_t limit_ms;                  /* timeout of this run */
	mpijob__http_secret certificate;   /* output of its last run */
	mpijob__http_secret key;
	int has_plugin_credentials; /* a run returned credentials */
	int refused;                /* the server answered 401 to them */
	int expires;
	int64_t expires_ms;   /* since 1970 */
	int64_t use_until_ms; /* monotonic: until then even expired credentials are used */
	int expiry_reported;
	int failed;       /* 0, or the error of its last run */
	int64_t retry_ms; /* monotonic: earliest next run after a failure */
	int hints;
	int64_t hint_period_ms; /* when `hints` was reset */
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

/* Store a message and return `code`. Takes ownership of `message`; NULL: memory ran out. */
static int set_message(mpijob__http_credentials *credentials, int code, char *message)
{
	free(credentials->message);
	credentials->message = message;
	return message ? code : MPIJOB_ERR_NOMEM;
}

/* Point the identity to the current values. */
static void update_identity(mpijob__http_credentials *credentials)
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

/* Take over *header as the Authorization, or clear it when building it failed with `code`. */
static int replace_header(mpijob__http_credentials *credentials, int code,
    mpijob__http_secret *header)
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

/* Set "Bearer TOKEN"; an empty token removes the header. */
static int set_bearer(mpijob__http_credentials *credentials, const mpijob__http_secret *token)
{
	mpijob__http_secret header = { NULL, 0 };
	int rc = token->len ? mpijob__http_secret_set(&header, "Bearer ", 7) : 0;

	if (rc == 0)
		rc = mpijob__http_secret_append(&header, token->data, token->len);
	return replace_header(credentials, rc, &header);
}

static int set_basic(mpijob__http_credentials *credentials)
{
	const mpijob_http_config *config = credentials->config;
	mpijob__http_secret plain = { NULL, 0 }, encoded = { NULL, 0 }, header = { NULL, 0 };
	int rc = mpijob__http_secret_set(&plain, config->username, strlen(config->username));

	if (rc == 0)
		rc = mpijob__http_secret_append(&plain, ":", 1);
	if (rc == 0)
		rc =
		    mpijob__http_secret_append(&plain, config->password.data, config->password.len);
	if (rc == 0)
		rc = mpijob__http_secret_encode(&encoded, plain.data, plain.len);
	if (rc == 0)
		rc = mpijob__http_secret_set(&header, "Basic ", 6);
	if (rc == 0)
		rc = mpijob__http_secret_append(&header, encoded.data, encoded.len);
	mpijob__http_secret_clear(&plain);
	mpijob__http_secret_clear(&encoded);
	rc = replace_header(credentials, rc, &header);
	credentials->have_basic |= rc == 0;
	return rc;
}

/* Set the Authorization from the configuration. 1 or negative. */
static int prepare_authorization(mpijob__http_credentials *credentials, int64_t now_ms)
{
	const mpijob_http_config *config = credentials->config;
	char *message = NULL;
	int rc = 0;

	if (config->token_file) {
		rc = mpijob__http_identity_files_read_token(&credentials->files, config, now_ms,
		    &message);
		if (rc < 0)
			return set_message(credentials, rc, message);
		if (rc > 0 || !credentials->authorization.len)
			rc = set_bearer(credentials, &credentials->files.token);
	} else if (config->token.len && !credentials->authorization.len) {
		rc = set_bearer(credentials, &config->token);
	} else if (config->username && !credentials->have_basic) {
		rc = set_basic(credentials);
	}
	return rc ? rc : 1;
}

/* Record that a run of the plugin failed, and return the error. Takes ownership of `message`. */
static int plugin_failed(mpijob__http_credentials *credentials, int64_t now_ms, int code,
    char *message)
{
	credentials->failed = set_message(credentials, code, message);
	credentials->retry_ms = now_ms + RETRY_MS;
	return credentials->failed;
}

/* Whether the plugin gets our standard input: 1 or 0; -1: it requires it, but *why prevents it. */
static int is_interactive(const mpijob_http_config *config, const char **why)
{
	int terminal = isatty(STDIN_FILENO);

	if (config->exec.interactive_mode == MPIJOB__HTTP_EXEC_NEVER)
		return 0;
	if (config->exec.interactive_mode == MPIJOB__HTTP_EXEC_IF_AVAILABLE)
		return config->interactive && terminal;
	*why = "this program does not let plugins read its standard input";
	if (config->interactive)
		*why = "standard input is not a terminal";
	return config->interactive && terminal ? 1 : -1;
}

/* The message for a missing program. Only MAX_HINTS messages per period contain the install hint:
 * it is long, and daemons log each message. */
static char *not_found_message(mpijob__http_credentials *credentials, int64_t now_ms)
{
	const struct mpijob__http_exec_plugin *exec = &credentials->config->exec;
	int hint;

	if (!credentials->hints || now_ms - credentials->hint_period_ms >= HINT_PERIOD_MS) {
		credentials->hints = 0;
		credentials->hint_period_ms = now_ms;
	}
	hint = credentials->hints < MAX_HINTS;
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
	int number = 0, rc;
	char *info;

	if (interactive < 0)
		return plugin_failed(credentials, now_ms, MPIJOB_ERR_AUTH,
		    mpijob__base_text_format("the credential plugin '%s' needs to prompt, but %s",
			exec->command, why));
	info = mpijob__http_plugin_info(credentials->config, &credentials->files.ca, interactive);
	if (!info)
		return plugin_failed(credentials, now_ms, MPIJOB_ERR_NOMEM, NULL);
	credentials->interactive = interactive;
	credentials->limit_ms = credentials->timeout_ms;
	if (interactive && credentials->limit_ms < INTERACTIVE_TIMEOUT_MS)
		credentials->limit_ms = INTERACTIVE_TIMEOUT_MS;
	rc = mpijob__http_plugin_start(&credentials->plugin, credentials->config, info, interactive,
	    now_ms + credentials->limit_ms, &number);
	free(info);
	if (rc == 0)
		return 0;
	if (rc == MPIJOB__HTTP_PLUGIN_NOT_FOUND)
		return plugin_failed(credentials, now_ms, MPIJOB_ERR_AUTH,
		    not_found_message(credentials, now_ms));
	if (rc == MPIJOB__HTTP_PLUGIN_FORBIDDEN)
		return plugin_failed(credentials, now_ms, MPIJOB_ERR_AUTH,
		    mpijob__base_text_format(
			"the credential plugin '%s' is not in the list of allowed plugins",
			exec->command));
	if (rc == MPIJOB__HTTP_PLUGIN_NOT_STARTED)
		return plugin_failed(credentials, now_ms, MPIJOB_ERR_AUTH,
		    mpijob__base_text_format("the credential plugin '%s' cannot be started: %s",
			exec->command, mpijob__http_report_errno(number)));
	return plugin_failed(credentials, now_ms, MPIJOB_ERR_NOMEM, NULL);
}

static int prepare_plugin(mpijob__http_credentials *credentials, int64_t now_ms)
{
	int expired = credentials->expires && now_ms >= credentials->use_until_ms &&
		      mpijob__base_clock_wall_ms() > credentials->expires_ms;

	if (credentials->plugin.pid)
		return 0;
	if (credentials->has_plugin_credentials && !credentials->refused && !expired)
		return 1;
	if (credentials->failed && now_ms < credentials->retry_ms)
		return credentials->failed;
	return start_plugin(credentials, now_ms);
}

int mpijob__http_credentials_prepare(mpijob__http_credentials *credentials, int64_t now_ms,
    const char **message)
{
	char *why = NULL;
	int rc = mpijob__http_identity_files_read_pem(&credentials->files, credentials->config,
	    now_ms, &why);

	credentials->identity.tls_generation += rc > 0;
	if (rc < 0)
		rc = set_message(credentials, rc, why);
	else if (uses_plugin(credentials->config))
		rc = prepare_plugin(credentials, now_ms);
	else
		rc = prepare_authorization(credentials, now_ms);
	update_identity(credentials);
	if (rc < 0)
		*message = rc != MPIJOB_ERR_NOMEM && credentials->message ? credentials->message
									  : "out of memory";
	return rc;
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

	/* The credentials were replaced meanwhile: the 401 is about older ones. */
	if (identity->token_generation != token_generation ||
	    identity->tls_generation != tls_generation)
		return;
	credentials->files.token_due_ms = 0;
	credentials->refused = credentials->has_plugin_credentials;
}

int mpijob__http_credentials_fd(const mpijob__http_credentials *credentials)
{
	return credentials->plugin.pid ? mpijob__http_plugin_fd(&credentials->plugin) : -1;
}

int mpijob__http_credentials_may_prompt(const mpijob__http_credentials *credentials)
{
	return credentials->plugin.pid && credentials->interactive;
}

int64_t mpijob__http_credentials_due_ms(const mpijob__http_credentials *credentials)
{
	return credentials->plugin.pid ? mpijob__http_plugin_due_ms(&credentials->plugin) : -1;
}

static void report_expired(mpijob__http_credentials *credentials)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	char *message = mpijob__base_text_format("the credential plugin '%s' returned expired "
						 "credentials; check the clock of this machine",
	    credentials->config->exec.command);

	if (message && credentials->files.notice && !credentials->expiry_reported) {
		finding.severity = MPIJOB_SEVERITY_WARNING;
		finding.id = "credentials-expired";
		finding.message = message;
		credentials->files.notice(credentials->files.user, &finding);
	}
	credentials->expiry_reported = 1;
	free(message);
}

/* Use the output of a plugin. */
static int accept_reply(mpijob__http_credentials *credentials,
    struct mpijob__http_plugin_reply *reply, int64_t now_ms)
{
	int same = mpijob__http_secret_equal(&credentials->certificate, &reply->certificate) &&
		   mpijob__http_secret_equal(&credentials->key, &reply->key);
	int rc = set_bearer(credentials, &reply->token);

	if (rc)
		return rc;
	mpijob__http_secret_clear(&credentials->certificate);
	mpijob__http_secret_clear(&credentials->key);
	credentials->certificate = reply->certificate;
	credentials->key = reply->key;
	memset(&reply->certificate, 0, sizeof(reply->certificate));
	memset(&reply->key, 0, sizeof(reply->key));
	credentials->identity.tls_generation += !same;
	credentials->has_plugin_credentials = 1;
	credentials->refused = credentials->failed = 0;
	credentials->expires = reply->expires;
	credentials->expires_ms = reply->expires_ms;
	/* As in client-go, the current requests use even expired credentials: the local clock may
	 * be wrong, and the server decides. */
	credentials->use_until_ms = now_ms;
	if (reply->expires && mpijob__base_clock_wall_ms() > reply->expires_ms) {
		credentials->use_until_ms = now_ms + RETRY_MS;
		report_expired(credentials);
	} else {
		credentials->expiry_reported = 0;
	}
	return 0;
}

/* The message when the exit of the plugin means failure; NULL: it succeeded, or memory ran out and
 * *nomem is set. */
static char *exit_failure(const mpijob__http_credentials *credentials, int *nomem)
{
	const struct mpijob__http_plugin *plugin = &credentials->plugin;
	const char *command = credentials->config->exec.command;
	char *message = NULL;

	if (plugin->timed_out)
		message = mpijob__base_text_format(
		    "the credential plugin '%s' did not exit within %lld ms", command,
		    (long long)credentials->limit_ms);
	else if (plugin->output_too_large)
		message =
		    mpijob__base_text_format("the credential plugin '%s' wrote more than 1 MiB",
			command);
	else if (plugin->status_unknown || plugin->status == 0)
		return NULL;
	else if (WIFSIGNALED(plugin->status))
		message =
		    mpijob__base_text_format("the credential plugin '%s' was killed by signal %d",
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
	int nomem = 0, rc;
	char *message = exit_failure(credentials, &nomem);

	if (message || nomem)
		return plugin_failed(credentials, now_ms, MPIJOB_ERR_AUTH, message);
	rc = mpijob__http_plugin_reply_read(&reply, plugin->output.data, plugin->output.len,
	    exec->api_version, &why);
	if (rc == 0 && reply.certificate.len)
		rc = mpijob__http_tls_check_pair(&reply.certificate, &reply.key, &why);
	if (rc == MPIJOB_ERR_SPEC)
		message = mpijob__base_text_format(
		    "the credential plugin '%s' returned a certificate that cannot be used: %s",
		    exec->command, why);
	else if (rc == 0)
		rc = accept_reply(credentials, &reply, now_ms);
	else if (rc == MPIJOB_ERR_AUTH)
		message = mpijob__base_text_format("the credential plugin '%s' %s%s", exec->command,
		    why, plugin->status_unknown ? "; its exit code is unknown" : "");
	if (rc)
		rc = plugin_failed(credentials, now_ms,
		    rc == MPIJOB_ERR_NOMEM ? rc : MPIJOB_ERR_AUTH, message);
	mpijob__http_plugin_reply_clear(&reply);
	return rc;
}

int mpijob__http_credentials_step(mpijob__http_credentials *credentials, int64_t now_ms)
{
	int rc;

	if (!credentials->plugin.pid)
		return 0;
	rc = mpijob__http_plugin_step(&credentials->plugin, now_ms);
	if (rc == 0)
		return 0;
	if (rc < 0)
		plugin_failed(credentials, now_ms, MPIJOB_ERR_NOMEM, NULL);
	else
		(void)finish(credentials, now_ms);
	mpijob__http_plugin_end(&credentials->plugin);
	update_identity(credentials);
	return 1;
}
