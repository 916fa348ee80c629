/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When token files and PEM files are read again, and what happens when that fails: the last content
 * stays in use, and the failure is reported once. A certificate and its key are replaced only as a
 * pair that matches. As in client-go, a token is used for a minute, less ten seconds; certificates,
 * keys and CAs are read every five minutes.
 */
#include "http/identity_files.h"

#include "base/text.h"
#include "http/report.h"
#include "http/request_headers.h"
#include "http/tls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_MS     50000
#define PEM_MS       300000
#define RETRY_MS     1000 /* after a failure to read the token */
#define PEM_RETRY_MS 10000

void mpijob__http_identity_files_release(struct mpijob__http_identity_files *files)
{
	mpijob__http_secret_clear(&files->ca);
	mpijob__http_secret_clear(&files->certificate);
	mpijob__http_secret_clear(&files->key);
	mpijob__http_secret_clear(&files->token);
}

/* Report a failure unless *reported is set. Takes ownership of `what`. */
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

/* Read one PEM from the configuration or its file. An empty file is an error. */
static int read_pem(const struct mpijob__http_pem *pem, const char *what, mpijob__http_secret *out,
    char **message)
{
	int rc = 0;

	if (pem->data.len)
		return mpijob__http_secret_set(out, pem->data.data, pem->data.len);
	if (!pem->file)
		return 0;
	rc = mpijob__http_secret_read(out, pem->file, 0);
	if (rc == MPIJOB_ERR_IO)
		*message = mpijob__base_text_format("the %s '%s' cannot be read: %s", what,
		    pem->file, mpijob__http_report_errno(errno));
	else if (rc == 0 && !out->len)
		*message = mpijob__base_text_format("the %s '%s' is empty", what, pem->file);
	if (rc == 0 && !out->len)
		rc = MPIJOB_ERR_IO;
	return rc;
}

struct pems {
	mpijob__http_secret ca, certificate, key;
};

static int read_pems(const mpijob_http_config *config, struct pems *set, char **message)
{
	const char *why = NULL;
	int rc = read_pem(&config->ca, "certificate authority", &set->ca, message);

	if (rc == 0)
		rc = read_pem(&config->certificate, "client certificate", &set->certificate,
		    message);
	if (rc == 0)
		rc = read_pem(&config->key, "client key", &set->key, message);
	if (rc || !set->certificate.len)
		return rc;
	rc = mpijob__http_tls_check_pair(&set->certificate, &set->key, &why);
	if (rc != MPIJOB_ERR_SPEC)
		return rc;
	*message = mpijob__base_text_format("the client certificate cannot be used: %s", why);
	return MPIJOB_ERR_AUTH;
}

/* Swap the current PEMs and `set`. 1: they differ. */
static int replace_pems(struct mpijob__http_identity_files *files, struct pems *set)
{
	struct pems old = { files->ca, files->certificate, files->key };
	int new = !files->have_pem || !mpijob__http_secret_equal(&old.ca, &set->ca) ||
		  !mpijob__http_secret_equal(&old.certificate, &set->certificate) ||
		  !mpijob__http_secret_equal(&old.key, &set->key);

	files->ca = set->ca;
	files->certificate = set->certificate;
	files->key = set->key;
	*set = old;
	return new;
}

int mpijob__http_identity_files_read_pem(struct mpijob__http_identity_files *files,
    const mpijob_http_config *config, int64_t now_ms, char **message)
{
	int has_files = config->ca.file || config->certificate.file || config->key.file;
	struct pems set = { { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
	char *why = NULL;
	int rc;

	if (files->have_pem && (!has_files || now_ms < files->pem_due_ms))
		return 0;
	rc = read_pems(config, &set, &why);
	if (rc && files->have_pem) {
		report_once(files, &files->pem_failure_reported, why);
		files->pem_due_ms = now_ms + PEM_RETRY_MS;
		rc = 0;
	} else if (rc) {
		*message = why;
	} else {
		rc = replace_pems(files, &set);
		files->have_pem = 1;
		files->pem_failure_reported = 0;
		files->pem_due_ms = now_ms + PEM_MS;
	}
	mpijob__http_secret_clear(&set.ca);
	mpijob__http_secret_clear(&set.certificate);
	mpijob__http_secret_clear(&set.key);
	return rc;
}

static int read_token(const char *file, mpijob__http_secret *out, char **message)
{
	int rc = mpijob__http_secret_read(out, file, 1);

	if (rc == MPIJOB_ERR_IO)
		*message = mpijob__base_text_format("the token file '%s' cannot be read: %s", file,
		    mpijob__http_report_errno(errno));
	if (rc)
		return rc;
	if (!out->len)
		*message = mpijob__base_text_format("the token file '%s' is empty", file);
	else if (strlen(out->data) != out->len ||
		 mpijob__http_request_headers_has_control(out->data))
		*message = mpijob__base_text_format(
		    "the token file '%s' contains something other than a token", file);
	else
		return 0;
	return MPIJOB_ERR_AUTH;
}

int mpijob__http_identity_files_read_token(struct mpijob__http_identity_files *files,
    const mpijob_http_config *config, int64_t now_ms, char **message)
{
	mpijob__http_secret token = { NULL, 0 }, old = files->token;
	char *why = NULL;
	int rc;

	if (files->token_due_ms && now_ms < files->token_due_ms)
		return 0;
	rc = read_token(config->token_file, &token, &why);
	files->token_due_ms = now_ms + (rc ? RETRY_MS : TOKEN_MS);
	/* The inline token is used until the file was read once. */
	if (rc && !files->have_token && config->token.len) {
		if (mpijob__http_secret_set(&files->token, config->token.data, config->token.len) ==
		    0)
			files->have_token = 1;
		report_once(files, &files->token_failure_reported, why);
		rc = files->have_token ? 1 : MPIJOB_ERR_NOMEM;
	} else if (rc && files->have_token) {
		report_once(files, &files->token_failure_reported, why);
		rc = 0;
	} else if (rc) {
		*message = why;
		files->token_due_ms = 0;
	} else {
		rc = !files->have_token || !mpijob__http_secret_equal(&old, &token);
		files->token = token;
		token = old;
		files->have_token = 1;
		files->token_failure_reported = 0;
	}
	mpijob__http_secret_clear(&token);
	return rc;
}
