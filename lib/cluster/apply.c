/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two requests that are more than a verb and an object: apply, and the question what one may do.
 *
 * Only here is known what server-side apply demands (a manager's name, its content type, force) and how a
 * SelfSubjectAccessReview asks and answers.
 */
#include "base/diag.h"
#include "base/struct.h"
#include "cluster/client.h"

#include <stdlib.h>
#include <string.h>

#define APPLY_PATCH   "application/apply-patch+yaml"
#define MANAGER       "mpijob"
#define MANAGER_LIMIT 128

static int is_manager(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (name[i] < ' ' || name[i] > '~')
			return 0;
	return len > 0 && len <= MANAGER_LIMIT;
}

/* The caller's query and ours; `query` has room. 0 or MPIJOB_ERR_USAGE when both say the same thing. */
static int make_query(struct mpijob_target *target, const struct mpijob_apply_options *options, const char **query)
{
	size_t count = target->query_count;

	for (size_t i = 0; i < count; i++) {
		query[i] = target->query[i];
		if (!query[i] ||
		    (i % 2 == 0 && (strcmp(query[i], "fieldManager") == 0 || strcmp(query[i], "force") == 0)))
			return MPIJOB_ERR_USAGE;
	}
	query[count++] = "fieldManager";
	query[count++] = options->field_manager ? options->field_manager : MANAGER;
	if (options->force) {
		query[count++] = "force";
		query[count++] = "true";
	}
	target->query = query;
	target->query_count = count;
	return 0;
}

int mpijob_client_apply(mpijob_client *client, const struct mpijob_target *target, const mpijob_node *object,
			const struct mpijob_apply_options *options, mpijob_doc **out, mpijob_diag *diag)
{
	struct mpijob_apply_options known;
	struct mpijob_target named;
	const char **query;
	int rc = client && target && object ? mpijob__struct_check(&known, sizeof(known), options) : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = mpijob__struct_check(&named, sizeof(named), target);
	if (rc)
		return rc;
	if (!named.name || named.query_count % 2 || (named.query_count && !named.query) ||
	    (known.field_manager && !is_manager(known.field_manager)))
		return MPIJOB_ERR_USAGE;
	query = calloc(named.query_count + 4, sizeof(*query));
	if (!query)
		return MPIJOB_ERR_NOMEM;
	rc = make_query(&named, &known, query);
	/* JSON is YAML, and the only content type of apply that every server takes. */
	if (rc == 0)
		rc = mpijob__call_with(client, "PATCH", &named, APPLY_PATCH, object, out, diag);
	free(query);
	return rc;
}

/* --- access --- */

static mpijob_doc *make_review(const struct mpijob_access *access)
{
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc), *asked;

	mpijob_node_put_string(doc, root, "apiVersion", "authorization.k8s.io/v1");
	mpijob_node_put_string(doc, root, "kind", "SelfSubjectAccessReview");
	asked = mpijob_node_put_map(doc, mpijob_node_put_map(doc, root, "spec"), "resourceAttributes");
	mpijob_node_put_string(doc, asked, "verb", access->verb);
	mpijob_node_put_string(doc, asked, "group", access->group);
	mpijob_node_put_string(doc, asked, "resource", access->resource);
	mpijob_node_put_string(doc, asked, "subresource", access->subresource);
	mpijob_node_put_string(doc, asked, "namespace", access->namespace_);
	mpijob_node_put_string(doc, asked, "name", access->name);
	return doc;
}

static void tell_why_not(const mpijob_node *status, const struct mpijob_access *access, mpijob_diag *diag)
{
	const char *why = mpijob_node_string(mpijob_node_get(status, "reason"));

	if (!why || !*why)
		why = mpijob_node_string(mpijob_node_get(status, "evaluationError"));
	mpijob__diag_addf(diag, MPIJOB_SEVERITY_INFO, "access-denied", "Forbidden", NULL, NULL, "may not %s %s%s%s%s%s",
			  access->verb, access->resource, access->subresource ? "/" : "",
			  access->subresource ? access->subresource : "", why && *why ? ": " : "", why ? why : "");
}

static int read_review(const mpijob_doc *doc, const struct mpijob_access *access, mpijob_diag *diag)
{
	const mpijob_node *status = mpijob_node_get(mpijob_doc_root(doc), "status");
	int allowed = 0;

	if (!mpijob_node_bool(mpijob_node_get(status, "allowed"), &allowed)) {
		mpijob__diag_addf(diag, MPIJOB_SEVERITY_ERROR, "request-failed", NULL, NULL, NULL,
				  "the answer does not say whether it is allowed");
		return MPIJOB_ERR_SYNTAX;
	}
	if (!allowed)
		tell_why_not(status, access, diag);
	return allowed != 0;
}

int mpijob_client_can(mpijob_client *client, const struct mpijob_access *access, mpijob_diag *diag)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct mpijob_access known;
	mpijob_doc *doc, *answer = NULL;
	int rc = client && access ? mpijob__struct_check(&known, sizeof(known), access) : MPIJOB_ERR_USAGE;

	if (rc)
		return rc;
	if (!known.verb || !*known.verb || !known.resource || !*known.resource)
		return MPIJOB_ERR_USAGE;
	target.api_version = "authorization.k8s.io/v1";
	target.kind = "SelfSubjectAccessReview";
	doc = make_review(&known);
	rc = mpijob_doc_error(doc);
	if (rc == 0)
		rc = mpijob_client_create(client, &target, mpijob_doc_root(doc), &answer, diag);
	if (rc == 0)
		rc = read_review(answer, &known, diag);
	mpijob_doc_free(answer);
	mpijob_doc_free(doc);
	return rc;
}
