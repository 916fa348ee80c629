/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a target becomes a path: /api or /apis, where the namespace stands, and percent-escaping.
 *
 * Every byte that is not unreserved (RFC 3986) is escaped, so nothing in a name can end its
 * segment. What escaping cannot save ("", ".", "..", a slash: servers and proxies take paths apart
 * after unescaping) is refused.
 */
#include "client/target.h"

#include "base/struct.h"
#include "base/text.h"
#include "client/client.h"
#include "client/resources.h"

#include <mpijob/client.h>

#include <string.h>

static int unreserved(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

static int put_escaped(mpijob_text *out, const char *text)
{
	static const char hex[] = "0123456789ABCDEF";

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		char escaped[3] = { '%', hex[c >> 4], hex[c & 15] };
		int rc = unreserved(c) ? mpijob_text_write(out, text, 1)
				       : mpijob_text_write(out, escaped, 3);

		if (rc)
			return rc;
	}
	return 0;
}

static int put_segment(mpijob_text *out, const char *segment)
{
	if (!*segment || strcmp(segment, ".") == 0 || strcmp(segment, "..") == 0 ||
	    strchr(segment, '/'))
		return MPIJOB_ERR_USAGE;
	if (mpijob__base_text_puts(out, "/"))
		return MPIJOB_ERR_NOMEM;
	return put_escaped(out, segment);
}

static int put_group(mpijob_text *out, const char *api_version)
{
	const char *slash = strchr(api_version, '/');
	mpijob_text group = { 0 };
	int rc;

	if (!slash) {
		rc = mpijob__base_text_puts(out, "/api");
		return rc ? rc : put_segment(out, api_version);
	}
	rc = mpijob__base_text_puts(out, "/apis");
	if (rc == 0)
		rc = mpijob_text_write(&group, api_version, (size_t)(slash - api_version));
	if (rc == 0)
		rc = put_segment(out, mpijob_text_data(&group));
	if (rc == 0)
		rc = put_segment(out, slash + 1);
	mpijob__base_text_release(&group);
	return rc;
}

static int put_query(mpijob_text *out, const struct mpijob_target *target)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < target->query_count; i += 2) {
		if (!target->query[i] || !target->query[i + 1])
			return MPIJOB_ERR_USAGE;
		rc = mpijob__base_text_puts(out, i == 0 ? "?" : "&");
		if (rc == 0)
			rc = put_escaped(out, target->query[i]);
		if (rc == 0)
			rc = mpijob__base_text_puts(out, "=");
		if (rc == 0)
			rc = put_escaped(out, target->query[i + 1]);
	}
	return rc;
}

static int put_target(mpijob_text *out, const struct mpijob_target *target)
{
	int namespaced =
	    target->scope ? target->scope == MPIJOB_SCOPE_NAMESPACED
			  : mpijob__client_resource_namespaced(target->api_version, target->kind);
	mpijob_text plural = { 0 };
	int rc;

	if (target->name && namespaced && !target->namespace_)
		return MPIJOB_ERR_USAGE;
	rc = put_group(out, target->api_version);
	if (rc == 0 && target->namespace_ && namespaced) {
		rc = mpijob__base_text_puts(out, "/namespaces");
		if (rc == 0)
			rc = put_segment(out, target->namespace_);
	}
	if (rc == 0)
		rc = target->plural ? mpijob__base_text_puts(&plural, target->plural)
				    : mpijob__client_resource_plural(target->api_version,
					  target->kind, &plural);
	if (rc == 0)
		rc = put_segment(out, mpijob_text_data(&plural));
	mpijob__base_text_release(&plural);
	if (rc == 0 && target->name)
		rc = put_segment(out, target->name);
	if (rc == 0 && target->subresource)
		rc = put_segment(out, target->subresource);
	return rc ? rc : put_query(out, target);
}

static int make_path(mpijob_text *path, const struct mpijob_target *target)
{
	struct mpijob_target known;
	int rc = mpijob__base_struct_check(&known, sizeof(known), target);

	if (rc)
		return rc;
	if (!known.api_version || !known.kind || known.query_count % 2 ||
	    (known.query_count && !known.query) || (known.subresource && !known.name) ||
	    known.scope < MPIJOB_SCOPE_AUTO || known.scope > MPIJOB_SCOPE_CLUSTER)
		return MPIJOB_ERR_USAGE;
	return put_target(path, &known);
}

int mpijob__client_target_check(const struct mpijob_target *target)
{
	mpijob_text path = { 0 };
	int rc = make_path(&path, target);

	mpijob__base_text_release(&path);
	return rc;
}

int mpijob_target_write(const struct mpijob_target *target, mpijob_write_fn write, void *user)
{
	mpijob_text path = { 0 };
	int rc = target && write ? make_path(&path, target) : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = write(user, mpijob_text_data(&path), path.len);
	mpijob__base_text_release(&path);
	return rc;
}
