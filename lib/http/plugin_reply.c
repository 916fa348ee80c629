/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes an ExecCredential a good one: its version is the one that was asked for, and it holds
 * a token, or a certificate with its key. Nothing that a plugin wrote is ever repeated in a
 * message.
 */
#include "http/plugin_reply.h"

#include "base/time.h"
#include "http/resolve.h"
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

/* A string of the reply: absent, null and "" are the same. 0 when it is something else, or holds a
 * NUL. */
static int take(const mpijob_node *status, const char *key, mpijob__http_secret *out, int *failed)
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

static const char *take_time(struct mpijob__http_plugin_reply *reply, const mpijob_node *status)
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
	return reply->expires ? NULL
			      : "wrote an expirationTimestamp that is no time as RFC 3339 has it";
}

/* NULL, or what is wrong. */
static const char *take_status(struct mpijob__http_plugin_reply *reply, const mpijob_node *status,
    int *failed)
{
	if (mpijob_node_kind(status) != MPIJOB_NODE_MAP)
		return "wrote an ExecCredential without status";
	if (!take(status, "token", &reply->token, failed) ||
	    !take(status, "clientCertificateData", &reply->certificate, failed) ||
	    !take(status, "clientKeyData", &reply->key, failed))
		return "wrote a status in which something is no string";
	if (*failed)
		return NULL;
	if (!reply->token.len && !reply->certificate.len && !reply->key.len)
		return "wrote neither a token nor a certificate";
	if (!reply->certificate.len)
		return reply->key.len ? "wrote a key without its certificate"
				      : take_time(reply, status);
	return reply->key.len ? take_time(reply, status) : "wrote a certificate without its key";
}

/* As in client-go, who knows what was asked for, the kind may be left out. */
static int is_credential(const mpijob_node *root)
{
	const mpijob_node *kind = mpijob_node_get(root, "kind");
	const char *text = mpijob_node_string(kind);

	if (mpijob_node_kind(root) != MPIJOB_NODE_MAP)
		return 0;
	return mpijob_node_kind(kind) <= MPIJOB_NODE_NULL ||
	       (text && (!*text || strcmp(text, "ExecCredential") == 0));
}

static const char *take_root(struct mpijob__http_plugin_reply *reply, const mpijob_node *root,
    const char *api_version, int *failed)
{
	const char *version = mpijob_node_string(mpijob_node_get(root, "apiVersion"));
	const char *why;

	if (!is_credential(root))
		return "wrote something that is no ExecCredential";
	if (!version || strcmp(version, api_version) != 0)
		return "wrote an ExecCredential of another apiVersion than the configuration asks "
		       "for";
	why = take_status(reply, mpijob_node_get(root, "status"), failed);
	if (!why && !*failed && reply->token.len &&
	    mpijob__http_resolve_has_control(reply->token.data))
		return "wrote a token with control characters in it";
	return why;
}

int mpijob__http_plugin_reply_read(struct mpijob__http_plugin_reply *reply, const char *text,
    size_t len, const char *api_version, const char **why)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob_doc *doc = NULL;
	int failed = 0, code;

	*why = "wrote no JSON";
	options.max_depth = MPIJOB__HTTP_TREE_DEPTH;
	code = mpijob_doc_parse(text, len, &options, &doc, NULL);
	if (code == 0)
		*why = take_root(reply, mpijob_doc_root(doc), api_version, &failed);
	if (doc)
		mpijob__http_tree_wipe(mpijob_doc_root(doc));
	mpijob_doc_free(doc);
	if (code == MPIJOB_ERR_NOMEM || failed)
		code = MPIJOB_ERR_NOMEM;
	else
		code = *why ? MPIJOB_ERR_AUTH : 0;
	if (code)
		mpijob__http_plugin_reply_clear(reply);
	return code;
}
