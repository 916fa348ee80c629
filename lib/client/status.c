/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a server reports an error: the Status object, its reasons and causes, and the meaning of a
 * bare HTTP status.
 *
 * The reason decides, the number only when the reason is unknown (409 is both "already exists" and
 * "conflict"). Causes become findings with the names of local validation.
 */
#include "client/status.h"

#include "core/diag.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_LIMIT 2048 /* bytes shown of a body that is not a Status */

static const struct {
	const char *reason;
	int code;
} reasons[] = {
	{ "Unauthorized", MPIJOB_ERR_AUTH },
	{ "Forbidden", MPIJOB_ERR_AUTH },
	{ "NotFound", MPIJOB_ERR_NOT_FOUND },
	{ "Gone", MPIJOB_ERR_NOT_FOUND },
	{ "Expired", MPIJOB_ERR_NOT_FOUND },
	{ "AlreadyExists", MPIJOB_ERR_CONFLICT },
	{ "Conflict", MPIJOB_ERR_CONFLICT },
	{ "Invalid", MPIJOB_ERR_REJECTED },
	{ "BadRequest", MPIJOB_ERR_REJECTED },
	{ "RequestEntityTooLarge", MPIJOB_ERR_REJECTED },
	{ "TooManyRequests", MPIJOB_ERR_SERVER },
	{ "ServerTimeout", MPIJOB_ERR_SERVER },
	{ "StoreReadError", MPIJOB_ERR_SERVER },
	{ "Timeout", MPIJOB_ERR_SERVER },
	{ "InternalError", MPIJOB_ERR_SERVER },
	{ "ServiceUnavailable", MPIJOB_ERR_SERVER },
	{ "MethodNotAllowed", MPIJOB_ERR_UNSUPPORTED },
	{ "NotAcceptable", MPIJOB_ERR_UNSUPPORTED },
	{ "UnsupportedMediaType", MPIJOB_ERR_UNSUPPORTED },
};

/* The reason of a cause, and the identifier of the same finding of local validation. */
static const struct {
	const char *cause;
	const char *reason;
	const char *id;
} causes[] = {
	{ "FieldValueRequired", "Required", "server-required" },
	{ "FieldValueInvalid", "Invalid", "server-invalid" },
	{ "FieldValueNotSupported", "NotSupported", "server-not-supported" },
	{ "FieldValueForbidden", "Forbidden", "server-forbidden" },
	{ "FieldValueDuplicate", "Duplicate", "server-duplicate" },
	{ "FieldValueNotFound", "NotFound", "server-not-found" },
	{ "FieldValueTooLong", "TooLong", "server-too-long" },
	{ "FieldValueTooMany", "TooMany", "server-too-many" },
	{ "FieldValueTypeInvalid", "TypeInvalid", "server-type-invalid" },
	{ "FieldManagerConflict", "Conflict", "server-conflict" },
};

/* The code of a reason, MPIJOB_ERR_*; 0 for an unknown reason. */
static int reason_code(const char *reason)
{
	for (size_t i = 0; reason && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strcmp(reasons[i].reason, reason) == 0)
			return reasons[i].code;
	return 0;
}

/* The code of an HTTP status: 0 or MPIJOB_ERR_*. */
static int http_code(int status)
{
	if (status >= 200 && status <= 299)
		return 0;
	switch (status) {
	case 401:
	case 403: return MPIJOB_ERR_AUTH;
	case 404:
	case 410: return MPIJOB_ERR_NOT_FOUND;
	case 409: return MPIJOB_ERR_CONFLICT;
	case 405:
	case 406:
	case 415:
	case 501: return MPIJOB_ERR_UNSUPPORTED;
	case 429: return MPIJOB_ERR_SERVER;
	default: return status >= 400 && status < 500 ? MPIJOB_ERR_REJECTED : MPIJOB_ERR_SERVER;
	}
}

/* The reason that client-go uses for a body that is not a Status. */
static const char *synthetic_reason(int status, int is_post)
{
	switch (status) {
	case 400: return "BadRequest";
	case 401: return "Unauthorized";
	case 403: return "Forbidden";
	case 404: return "NotFound";
	case 405: return "MethodNotAllowed";
	case 406: return "NotAcceptable";
	case 409: return is_post ? "AlreadyExists" : "Conflict";
	case 410: return "Gone";
	case 413: return "RequestEntityTooLarge";
	case 415: return "UnsupportedMediaType";
	case 422: return "Invalid";
	case 429: return "TooManyRequests";
	case 503: return "ServiceUnavailable";
	case 504: return "Timeout";
	default: return status >= 500 ? "InternalError" : "Unknown";
	}
}

/* One line of text, truncated, with spaces for unprintable characters. */
static int put_line(mpijob_text *out, const char *body, size_t len)
{
	int blank = 1;

	if (len > TEXT_LIMIT)
		len = TEXT_LIMIT;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)body[i];

		if (c <= ' ' || c == 0x7f) {
			blank = 1;
			continue;
		}
		if (blank && mpijob__base_text_puts(out, " "))
			return MPIJOB_ERR_NOMEM;
		blank = 0;
		if (mpijob_text_write(out, body + i, 1))
			return MPIJOB_ERR_NOMEM;
	}
	return 0;
}

static int is_vague(const struct mpijob__client_verdict *verdict, int status)
{
	return verdict->code == MPIJOB_ERR_SERVER && status >= 500;
}

static int synthesise(struct mpijob__client_verdict *verdict, int status, int is_post,
    const char *body, size_t len)
{
	verdict->code = http_code(status);
	verdict->reason = synthetic_reason(status, is_post);
	verdict->vague = is_vague(verdict, status);
	verdict->text = mpijob_text_new();
	if (!verdict->text ||
	    mpijob__base_text_printf(verdict->text, "the server answered with status %d", status))
		return MPIJOB_ERR_NOMEM;
	if (len > 0 &&
	    (mpijob__base_text_puts(verdict->text, ":") || put_line(verdict->text, body, len)))
		return MPIJOB_ERR_NOMEM;
	verdict->message = mpijob_text_data(verdict->text);
	return 0;
}

static int is_status(const mpijob_node *root)
{
	const char *kind = mpijob_node_string(mpijob_node_get(root, "kind"));
	const char *version = mpijob_node_string(mpijob_node_get(root, "apiVersion"));

	return kind && version && strcmp(kind, "Status") == 0 && strcmp(version, "v1") == 0;
}

/* Do not parse a body that cannot be a Status: those are small and contain "Status". */
static int may_be_status(const char *body, size_t len)
{
	static const char word[] = "\"Status\"";
	const char *end = body + len, *at = body;

	if (len > MPIJOB__CLIENT_STATUS_LIMIT)
		return 0;
	/* Search for the capital first: every answer is searched, and capitals are rare. */
	while (at < end && (at = memchr(at, 'S', (size_t)(end - at))) != NULL) {
		if (at > body && (size_t)(end - at) >= sizeof(word) - 2 &&
		    memcmp(at - 1, word, sizeof(word) - 1) == 0)
			return 1;
		at++;
	}
	return 0;
}

static void take_status(struct mpijob__client_verdict *verdict, int status, int is_post)
{
	const mpijob_node *root = mpijob_doc_root(verdict->doc);
	const mpijob_node *wait = mpijob_node_find(root, "details.retryAfterSeconds");
	int64_t number = 0;

	verdict->reason = mpijob_node_string(mpijob_node_get(root, "reason"));
	verdict->message = mpijob_node_string(mpijob_node_get(root, "message"));
	verdict->code = reason_code(verdict->reason);
	if (mpijob_node_int(wait, &number) && number > 0)
		verdict->retry_after_ms =
		    number > INT32_MAX ? (int64_t)INT32_MAX * 1000 : number * 1000;
	if (verdict->code == 0 && (status < 200 || status > 299))
		verdict->code = http_code(status);
	if (verdict->code == 0 && mpijob_node_int(mpijob_node_get(root, "code"), &number) &&
	    number > 299 && number < 600)
		verdict->code = http_code((int)number);
	if (verdict->code == 0)
		verdict->code = MPIJOB_ERR_SERVER;
	if (!verdict->reason || !*verdict->reason) {
		verdict->vague = is_vague(verdict, status);
		verdict->reason = synthetic_reason(status, is_post);
	} else if (strcmp(verdict->reason, "Timeout") == 0) {
		verdict->vague = 1; /* the server's own timeout */
	}
	if (!verdict->message || !*verdict->message)
		verdict->message = verdict->reason;
}

int mpijob__client_verdict_make(struct mpijob__client_verdict *verdict, int status, int is_post,
    const char *body, size_t len)
{
	int failed = status < 200 || status > 299;
	int rc;

	memset(verdict, 0, sizeof(*verdict));
	if (may_be_status(body, len)) {
		struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
		const char *outcome;

		options.format = MPIJOB_FORMAT_JSON;
		rc = mpijob_doc_parse(body, len, &options, &verdict->doc, NULL);
		if (rc == MPIJOB_ERR_NOMEM)
			goto nomem;
		if (rc == 0) {
			const mpijob_node *root = mpijob_doc_root(verdict->doc);

			outcome = mpijob_node_string(mpijob_node_get(root, "status"));
			if (is_status(root) &&
			    (failed || (outcome && strcmp(outcome, "Failure") == 0))) {
				take_status(verdict, status, is_post);
				return 0;
			}
			mpijob_doc_free(verdict->doc);
			verdict->doc = NULL;
		}
	}
	if (!failed)
		return 0;
	rc = synthesise(verdict, status, is_post, body, len);
	if (rc == 0)
		return 0;
nomem:
	verdict->code = MPIJOB_ERR_NOMEM;
	verdict->reason = NULL;
	verdict->message = mpijob_error_text(MPIJOB_ERR_NOMEM);
	return MPIJOB_ERR_NOMEM;
}

void mpijob__client_verdict_release(struct mpijob__client_verdict *verdict)
{
	mpijob_doc_free(verdict->doc);
	mpijob_text_free(verdict->text);
	memset(verdict, 0, sizeof(*verdict));
}

static void report_cause(const mpijob_node *cause, const char *message, mpijob_diag *diag)
{
	const char *reason = mpijob_node_string(mpijob_node_get(cause, "reason"));
	const char *text = mpijob_node_string(mpijob_node_get(cause, "message"));
	const char *field = mpijob_node_string(mpijob_node_get(cause, "field"));
	const char *id = "server-refused";

	for (size_t i = 0; reason && i < sizeof(causes) / sizeof(causes[0]); i++)
		if (strcmp(causes[i].cause, reason) == 0) {
			id = causes[i].id;
			reason = causes[i].reason;
			break;
		}
	if (field && !*field)
		field = NULL;
	mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, id, reason, field, NULL, "%s",
	    text && *text ? text : message);
}

void mpijob__client_verdict_report(const struct mpijob__client_verdict *verdict, mpijob_diag *diag)
{
	const mpijob_node *list;

	if (!diag || verdict->code == 0)
		return;
	list =
	    verdict->doc ? mpijob_node_find(mpijob_doc_root(verdict->doc), "details.causes") : NULL;
	for (size_t i = 0; i < mpijob_node_count(list); i++)
		report_cause(mpijob_node_at(list, i), verdict->message, diag);
	if (mpijob_node_count(list) == 0)
		mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "server-refused",
		    verdict->reason, NULL, NULL, "%s",
		    verdict->message ? verdict->message : mpijob_error_text(verdict->code));
}
