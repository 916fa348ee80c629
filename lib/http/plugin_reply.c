/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which output of a plugin is valid: an ExecCredential of the requested version with a token, or a
 * certificate and its key, or all of them. Messages do not quote the output.
 */
#include "http/plugin_reply.h"

#include "base/time.h"
#include "http/request_headers.h"
#include "http/tree.h"

#include <stdlib.h>
#include <string.h>

void mpijob__http_plugin_reply_clear(struct mpijob__http_plugin_reply *reply)
{
	mpijob__http_secret_clear(&reply->token);
	mpijob__http_secret_clear(&reply->certificate);
	mpijob__http_secret_clear(&reply->key);
	reply->expires = 0;
}

/* Read a string; absent, null and "" are equal. 0: it has another type, or contains a NUL. Sets
 * *failed when memory runs out. */
static int read_string(const mpijob_node *status, const char *key, mpijob__http_secret *out,
    int *failed)
{
	const mpijob_node *node = mpijob_node_get(status, key);
	const char *text = mpijob_node_string(node);

	if (!node || mpijob_node_kind(node) == MPIJOB_NODE_NULL)
		return 1;
	if (!text || strlen(text) != mpijob_node_length(node))
		return 0;
	*failed |= mpijob__http_secret_set(out, text, mpijob_node_length(node)) != 0;
	return 1;
}

static const char *read_expiry(struct mpijob__http_plugin_reply *reply, const mpijob_node *status)
{
	const mpijob_node *node = mpijob_node_get(status, "expirationTimestamp");
	const char *text = mpijob_node_string(node);
	int64_t seconds = 0;
	int32_t nanoseconds = 0;

	if (!node || mpijob_node_kind(node) == MPIJOB_NODE_NULL)
		return NULL;
	reply->expires = text && strlen(text) == mpijob_node_length(node) &&
			 mpijob__base_time_parse_ns(text, &seconds, &nanoseconds);
	reply->expires_ms = seconds * 1000 + nanoseconds / 1000000;
	return reply->expires ? NULL : "wrote an expirationTimestamp that is not an RFC 3339 time";
}

/* NULL, or the message. */
static const char *read_status(struct mpijob__http_plugin_reply *reply, const mpijob_node *status,
    int *failed)
{
	if (mpijob_node_kind(status) != MPIJOB_NODE_MAP)
		return "wrote an ExecCredential without status";
	if (!read_string(status, "token", &reply->token, failed) ||
	    !read_string(status, "clientCertificateData", &reply->certificate, failed) ||
	    !read_string(status, "clientKeyData", &reply->key, failed))
		return "wrote a status with a field that is not a string";
	if (*failed)
		return NULL;
	if (!reply->token.len && !reply->certificate.len && !reply->key.len)
		return "wrote neither a token nor a certificate";
	if (!reply->certificate.len)
		return reply->key.len ? "wrote a key without its certificate"
				      : read_expiry(reply, status);
	return reply->key.len ? read_expiry(reply, status) : "wrote a certificate without its key";
}

/* As in client-go, the kind is optional. */
static int is_credential(const mpijob_node *root)
{
	const mpijob_node *kind = mpijob_node_get(root, "kind");
	const char *text = mpijob_node_string(kind);

	if (mpijob_node_kind(root) != MPIJOB_NODE_MAP)
		return 0;
	return mpijob_node_kind(kind) <= MPIJOB_NODE_NULL ||
	       (text && (!*text || strcmp(text, "ExecCredential") == 0));
}

static const char *read_credential(struct mpijob__http_plugin_reply *reply, const mpijob_node *root,
    const char *api_version, int *failed)
{
	const char *version = mpijob_node_string(mpijob_node_get(root, "apiVersion"));
	const char *why;

	if (!is_credential(root))
		return "wrote something that is not an ExecCredential";
	if (!version || strcmp(version, api_version) != 0)
		return "wrote an ExecCredential with another apiVersion than the configuration "
		       "requests";
	why = read_status(reply, mpijob_node_get(root, "status"), failed);
	if (!why && !*failed && reply->token.len &&
	    mpijob__http_request_headers_has_control(reply->token.data))
		return "wrote a token that contains control characters";
	return why;
}

int mpijob__http_plugin_reply_read(struct mpijob__http_plugin_reply *reply, const char *text,
    size_t len, const char *api_version, const char **why)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;
	int failed = 0, rc;

	*why = "wrote something that is not JSON";
	options.max_depth = MPIJOB__HTTP_TREE_DEPTH;
	rc = mpijob_doc_parse(text, len, &options, &doc, NULL);
	if (rc == 0)
		*why = read_credential(reply, mpijob_doc_root(doc), api_version, &failed);
	if (doc)
		mpijob__http_tree_wipe(mpijob_doc_root(doc));
	mpijob_doc_free(doc);
	if (rc == MPIJOB_ERR_NOMEM || failed)
		rc = MPIJOB_ERR_NOMEM;
	else
		rc = *why ? MPIJOB_ERR_AUTH : 0;
	if (rc)
		mpijob__http_plugin_reply_clear(reply);
	return rc;
}
