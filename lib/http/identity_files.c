/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When files are read again, and what happens when that fails: the last content stays in use, and
 * the failure is reported once. A certificate and its key are replaced as a pair or not at all. A
 * token is valid for a minute and read ten seconds earlier; certificates, keys and CAs are read
 * every five minutes.
 */
#include "http/identity_files.h"

#include "base/text.h"
#include "http/report.h"
#include "http/resolve.h"
#include "http/tls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_MS     50000
#define PEM_MS       300000
#define RETRY_MS     1000 /* after a token could not be read */
#define PEM_RETRY_MS 10000

void mpijob__http_identity_files_release(struct mpijob__http_identity_files *files)
{
	mpijob__http_secret_clear(&files->ca);
	mpijob__http_secret_clear(&files->certificate);
	mpijob__http_secret_clear(&files->key);
	mpijob__http_secret_clear(&files->token);
}

/* Takes `what`. The last content stays in use. */
static void report_once(struct mpijob__http_identity_files *files, int *reported, char *what)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;
	char *message =
	    what ? mpijob__base_text_format("%s; the last content is still used", what) : NULL;

	if (message && files->notice && !*reported) {
		finding.severity = MPIJOB_SEVERITY_WARNING;
		finding.id = "credentials-stale";
		finding.message = message;
		files->notice(files->user, &finding);
	}
	*reported = 1;
	free(message);
	free(what);
}

/* The bytes of one PEM, from the configuration or its file. An empty file counts as absent. */
static int read_one(const struct mpijob__http_pem *pem, const char *what, mpijob__http_secret *out,
    char **message)
{
	int code = 0;

	if (pem->data.len)
		return mpijob__http_secret_set(out, pem->data.data, pem->data.len);
	if (!pem->file)
		return 0;
	code = mpijob__http_secret_read(out, pem->file, 0);
	if (code == MPIJOB_ERR_IO)
		*message = mpijob__base_text_format("the %s '%s' cannot be read: %s", what,
		    pem->file, mpijob__http_report_errno(errno));
	else if (code == 0 && !out->len)
		*message = mpijob__base_text_format("the %s '%s' is empty", what, pem->file);
	if (code == 0 && !out->len)
		code = MPIJOB_ERR_IO;
	return code;
}

struct set {
	mpijob__http_secret ca, certificate, key;
};

static int read_set(const mpijob_http_config *config, struct set *set, char **message)
{
	const char *why = NULL;
	int code = read_one(&config->ca, "certificate authority", &set->ca, message);

	if (code == 0)
		code = read_one(&config->certificate, "client certificate", &set->certificate,
		    message);
	if (code == 0)
		code = read_one(&config->key, "client key", &set->key, message);
	if (code || !set->certificate.len)
		return code;
	code = mpijob__http_tls_check_pair(&set->certificate, &set->key, &why);
	if (code != MPIJOB_ERR_SPEC)
		return code;
	*message = mpijob__base_text_format("the client certificate cannot be used: %s", why);
	return MPIJOB_ERR_AUTH;
}

static int differs(const mpijob__http_secret *a, const mpijob__http_secret *b)
{
	return a->len != b->len || (a->len && memcmp(a->data, b->data, a->len) != 0);
}

/* Exchange the present pair with `set`. */
static int exchange(struct mpijob__http_identity_files *files, struct set *set)
{
	struct set old = { files->ca, files->certificate, files->key };
	int new = !files->have_pem || differs(&old.ca, &set->ca) ||
		  differs(&old.certificate, &set->certificate) || differs(&old.key, &set->key);

	files->ca = set->ca;
	files->certificate = set->certificate;
	files->key = set->key;
	*set = old;
	return new;
}

int mpijob__http_identity_files_read_pem(struct mpijob__http_identity_files *files,
    const mpijob_http_config *config, int64_t now_ms, char **message)
{
	int changes = config->ca.file || config->certificate.file || config->key.file;
	struct set set = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
	char *why = NULL;
	int code;

	if (files->have_pem && (!changes || now_ms < files->pem_due_ms))
		return 0;
	code = read_set(config, &set, &why);
	if (code && files->have_pem) {
		report_once(files, &files->told_pem, why);
		files->pem_due_ms = now_ms + PEM_RETRY_MS;
		code = 0;
	} else if (code) {
		*message = why;
	} else {
		code = exchange(files, &set);
		files->have_pem = 1;
		files->told_pem = 0;
		files->pem_due_ms = now_ms + PEM_MS;
	}
	mpijob__http_secret_clear(&set.ca);
	mpijob__http_secret_clear(&set.certificate);
	mpijob__http_secret_clear(&set.key);
	return code;
}

static int read_token(const char *file, mpijob__http_secret *out, char **message)
{
	int code = mpijob__http_secret_read(out, file, 1);

	if (code == MPIJOB_ERR_IO)
		*message = mpijob__base_text_format("the token file '%s' cannot be read: %s", file,
		    mpijob__http_report_errno(errno));
	if (code)
		return code;
	if (!out->len)
		*message = mpijob__base_text_format("the token file '%s' is empty", file);
	else if (strlen(out->data) != out->len || mpijob__http_resolve_has_control(out->data))
		*message = mpijob__base_text_format(
		    "the token file '%s' holds something else than a token", file);
	else
		return 0;
	return MPIJOB_ERR_AUTH;
}

int mpijob__http_identity_files_read_token(struct mpijob__http_identity_files *files,
    const mpijob_http_config *config, int64_t now_ms, char **message)
{
	mpijob__http_secret token = { NULL, 0 }, old = files->token;
	char *why = NULL;
	int code;

	if (files->token_due_ms && now_ms < files->token_due_ms)
		return 0;
	code = read_token(config->token_file, &token, &why);
	files->token_due_ms = now_ms + (code ? RETRY_MS : TOKEN_MS);
	/* The inline token is used until the file was read. */
	if (code && !files->have_token && config->token.len) {
		if (mpijob__http_secret_set(&files->token, config->token.data, config->token.len) ==
		    0)
			files->have_token = 1;
		report_once(files, &files->told_token, why);
		code = files->have_token ? 1 : MPIJOB_ERR_NOMEM;
	} else if (code && files->have_token) {
		report_once(files, &files->told_token, why);
		code = 0;
	} else if (code) {
		*message = why;
		files->token_due_ms = 0;
	} else {
		code = !files->have_token || differs(&old, &token);
		files->token = token;
		token = old;
		files->have_token = 1;
		files->told_token = 0;
	}
	mpijob__http_secret_clear(&token);
	return code;
}
