/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structure of a kubeconfig: a table of its fields and their types. As in kubectl, a wrong type
 * makes the whole file invalid, while unknown fields are ignored and null counts as absent.
 * Messages do not quote values, because values may be keys.
 */
#include "http/kubeconfig_check.h"

#include "base/base64.h"
#include "base/text.h"
#include "http/kubeconfig.h"

#include <stdlib.h>
#include <string.h>

enum kind { ANY, STRING, BOOL, BYTES, STRINGS, STRING_MAP, STRING_LISTS, STRUCT, LIST, NAMED };

struct rule {
	const char *key; /* NULL ends a table */
	enum kind kind;
	const struct rule *sub;
};

static const struct rule extension[] = { { "name", STRING, NULL }, { "extension", ANY, NULL },
	{ NULL, ANY, NULL } };

static const struct rule preferences[] = {
	{ "colors", BOOL, NULL },
	{ "extensions", NAMED, extension },
	{ NULL, ANY, NULL },
};

static const struct rule cluster[] = {
	{ "server", STRING, NULL },
	{ "tls-server-name", STRING, NULL },
	{ "insecure-skip-tls-verify", BOOL, NULL },
	{ "certificate-authority", STRING, NULL },
	{ "certificate-authority-data", BYTES, NULL },
	{ "proxy-url", STRING, NULL },
	{ "disable-compression", BOOL, NULL },
	{ "extensions", NAMED, extension },
	{ NULL, ANY, NULL },
};

static const struct rule auth_provider[] = {
	{ "name", STRING, NULL },
	{ "config", STRING_MAP, NULL },
	{ NULL, ANY, NULL },
};

static const struct rule variable[] = { { "name", STRING, NULL }, { "value", STRING, NULL },
	{ NULL, ANY, NULL } };

static const struct rule exec[] = {
	{ "command", STRING, NULL },
	{ "args", STRINGS, NULL },
	{ "env", LIST, variable },
	{ "apiVersion", STRING, NULL },
	{ "installHint", STRING, NULL },
	{ "provideClusterInfo", BOOL, NULL },
	{ "interactiveMode", STRING, NULL },
	{ NULL, ANY, NULL },
};

static const struct rule user[] = {
	{ "client-certificate", STRING, NULL },
	{ "client-certificate-data", BYTES, NULL },
	{ "client-key", STRING, NULL },
	{ "client-key-data", BYTES, NULL },
	{ "token", STRING, NULL },
	{ "tokenFile", STRING, NULL },
	{ "as", STRING, NULL },
	{ "as-uid", STRING, NULL },
	{ "as-groups", STRINGS, NULL },
	{ "as-user-extra", STRING_LISTS, NULL },
	{ "username", STRING, NULL },
	{ "password", STRING, NULL },
	{ "auth-provider", STRUCT, auth_provider },
	{ "exec", STRUCT, exec },
	{ "extensions", NAMED, extension },
	{ NULL, ANY, NULL },
};

static const struct rule context[] = {
	{ "cluster", STRING, NULL },
	{ "user", STRING, NULL },
	{ "namespace", STRING, NULL },
	{ "extensions", NAMED, extension },
	{ NULL, ANY, NULL },
};

static const struct rule named_cluster[] = { { "name", STRING, NULL },
	{ "cluster", STRUCT, cluster }, { NULL, ANY, NULL } };
static const struct rule named_user[] = { { "name", STRING, NULL }, { "user", STRUCT, user },
	{ NULL, ANY, NULL } };
static const struct rule named_context[] = { { "name", STRING, NULL },
	{ "context", STRUCT, context }, { NULL, ANY, NULL } };

static const struct rule root[] = {
	{ "kind", STRING, NULL },
	{ "apiVersion", STRING, NULL },
	{ "preferences", STRUCT, preferences },
	{ "clusters", NAMED, named_cluster },
	{ "users", NAMED, named_user },
	{ "contexts", NAMED, named_context },
	{ "current-context", STRING, NULL },
	{ "extensions", NAMED, extension },
	{ NULL, ANY, NULL },
};

/* One step of a path from the root: a key, or, when it is NULL, an index. */
struct step {
	const struct step *parent;
	const char *key;
	size_t index;
};

struct check {
	const struct mpijob__http_kubeconfig_file *file;
	struct mpijob__http_report *report;
};

static int write_path(mpijob_text *text, const struct step *step)
{
	char *part;
	int rc;

	if (!step)
		return 0;
	rc = write_path(text, step->parent);
	part = step->key ? mpijob__base_text_format("%s%s", step->parent ? "." : "", step->key)
			 : mpijob__base_text_format("[%zu]", step->index);
	if (rc == 0)
		rc = part ? mpijob_text_write(text, part, strlen(part)) : MPIJOB_ERR_NOMEM;
	free(part);
	return rc;
}

static void report(const struct check *check, const struct step *step, const mpijob_node *node,
    const char *id, const char *reason, const char *message)
{
	struct mpijob__http_report_location location = { check->file->name, NULL, node };
	mpijob_text *path = mpijob_text_new();

	if (!path || write_path(path, step)) {
		mpijob__http_report_nomem(check->report);
	} else {
		location.field = step ? mpijob_text_data(path) : NULL;
		mpijob__http_report_add(check->report, MPIJOB_ERR_SPEC, id, reason, &location, "%s",
		    message);
	}
	mpijob_text_free(path);
}

static const char *kind_name(const mpijob_node *node)
{
	static const char *const names[] = { "nothing", "null", "true or false", "a number",
		"a string", "a list", "a map" };

	return names[mpijob_node_kind(node)];
}

static void report_type(const struct check *check, const struct step *step, const mpijob_node *node,
    const char *wanted)
{
	int scalar = mpijob_node_kind(node) == MPIJOB_NODE_NUMBER ||
		     mpijob_node_kind(node) == MPIJOB_NODE_BOOL;
	int quotes = scalar && strcmp(wanted, "a string") == 0;
	char *message = mpijob__base_text_format("must be %s, not %s%s", wanted, kind_name(node),
	    quotes ? "; put it in quotes" : "");

	if (message)
		report(check, step, node, "config-type", "TypeInvalid", message);
	else
		mpijob__http_report_nomem(check->report);
	free(message);
}

static void check_string(const struct check *check, const struct step *step,
    const mpijob_node *node)
{
	const char *text = mpijob_node_string(node);

	if (!text)
		report_type(check, step, node, "a string");
	else if (strlen(text) != mpijob_node_length(node))
		report(check, step, node, "config-value", "Invalid",
		    "must not contain a NUL character");
}

static void check_bytes(const struct check *check, const struct step *step, const mpijob_node *node)
{
	const char *text = mpijob_node_string(node);

	if (!text)
		report_type(check, step, node, "a string");
	else if (mpijob__base_base64_decode(text, mpijob_node_length(node), NULL) == SIZE_MAX)
		report(check, step, node, "config-value", "Invalid",
		    "must be base64; for a file use the field without '-data'");
}

static void check_fields(const struct check *check, const struct step *parent,
    const mpijob_node *map, const struct rule *rules);
static void check_value(const struct check *check, const struct step *step, const mpijob_node *node,
    enum kind kind, const struct rule *sub);

/* Each entry of a list. */
static void check_list(const struct check *check, const struct step *step, const mpijob_node *list,
    enum kind kind, const struct rule *sub)
{
	if (mpijob_node_kind(list) != MPIJOB_NODE_LIST) {
		report_type(check, step, list, "a list");
		return;
	}
	for (size_t i = 0; i < mpijob_node_count(list); i++) {
		struct step here = { step, NULL, i };

		check_value(check, &here, mpijob_node_at(list, i), kind, sub);
	}
}

/* Each value of a map. */
static void check_map(const struct check *check, const struct step *step, const mpijob_node *map,
    enum kind kind)
{
	if (mpijob_node_kind(map) != MPIJOB_NODE_MAP) {
		report_type(check, step, map, "a map");
		return;
	}
	for (size_t i = 0; i < mpijob_node_count(map); i++) {
		struct step here = { step, mpijob_node_key(map, i), 0 };

		check_value(check, &here, mpijob_node_at(map, i), kind, NULL);
	}
}

/* A null extension is ignored, as in client-go. */
static int is_null_extension(const mpijob_node *item, const struct rule *sub)
{
	return sub == extension &&
	       mpijob_node_kind(mpijob_node_get(item, "extension")) <= MPIJOB_NODE_NULL;
}

/* Names in a list must be unique. A document serves as the map from name to index. */
static void check_names(const struct check *check, const struct step *step, const mpijob_node *list,
    const struct rule *sub)
{
	mpijob_doc *seen = mpijob_doc_new();

	for (size_t i = 0; i < mpijob_node_count(list) && mpijob_doc_error(seen) == 0; i++) {
		struct step here = { step, NULL, i }, field = { &here, "name", 0 };
		const mpijob_node *node = mpijob_node_get(mpijob_node_at(list, i), "name");
		const char *name = mpijob_node_string(node) ? mpijob_node_string(node) : "";
		int64_t first;
		int32_t line;
		char *message;

		if (!mpijob_node_int(mpijob_node_get(mpijob_doc_root(seen), name), &first)) {
			if (is_null_extension(mpijob_node_at(list, i), sub))
				continue;
			(void)mpijob_node_put_int(seen, mpijob_doc_edit(seen, ""), name,
			    (int64_t)i);
			continue;
		}
		mpijob_node_place(mpijob_node_at(list, (size_t)first), &line, NULL);
		message = mpijob__base_text_format(
		    "'%s' is already the name of entry %d, in line %d; keep one of the two", name,
		    (int)first, (int)line);
		if (message)
			report(check, &field, node ? node : mpijob_node_at(list, i),
			    "config-duplicate", "Duplicate", message);
		else
			mpijob__http_report_nomem(check->report);
		free(message);
	}
	if (mpijob_doc_error(seen))
		mpijob__http_report_nomem(check->report);
	mpijob_doc_free(seen);
}

static void check_value(const struct check *check, const struct step *step, const mpijob_node *node,
    enum kind kind, const struct rule *sub)
{
	int value;

	if (!node || mpijob_node_kind(node) == MPIJOB_NODE_NULL)
		return;
	switch (kind) {
	case ANY: break;
	case STRING: check_string(check, step, node); break;
	case BOOL:
		if (!mpijob_node_bool(node, &value))
			report_type(check, step, node, "true or false");
		break;
	case BYTES: check_bytes(check, step, node); break;
	case STRINGS: check_list(check, step, node, STRING, NULL); break;
	case STRING_MAP: check_map(check, step, node, STRING); break;
	case STRING_LISTS: check_map(check, step, node, STRINGS); break;
	case STRUCT: check_fields(check, step, node, sub); break;
	case LIST: check_list(check, step, node, STRUCT, sub); break;
	case NAMED:
		check_list(check, step, node, STRUCT, sub);
		check_names(check, step, node, sub);
		break;
	}
}

static void check_fields(const struct check *check, const struct step *parent,
    const mpijob_node *map, const struct rule *rules)
{
	if (mpijob_node_kind(map) != MPIJOB_NODE_MAP) {
		report_type(check, parent, map, "a map");
		return;
	}
	for (; rules->key; rules++) {
		struct step here = { parent, rules->key, 0 };

		check_value(check, &here, mpijob_node_get(map, rules->key), rules->kind,
		    rules->sub);
	}
}

/* Unlike in other objects of Kubernetes, both fields are optional. */
static void check_version(const struct check *check)
{
	static const struct {
		const char *key, *value;
	} wanted[] = { { "apiVersion", "v1" }, { "kind", "Config" } };

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		const mpijob_node *node = mpijob_node_get(check->file->root, wanted[i].key);
		const char *text = mpijob_node_string(node);
		struct step step = { NULL, wanted[i].key, 0 };
		char *message;

		if (!text || !*text || strcmp(text, wanted[i].value) == 0)
			continue;
		message =
		    mpijob__base_text_format("'%s' is not valid in a kubeconfig; it must be %s",
			text, wanted[i].value);
		if (message)
			report(check, &step, node, "config-value", "NotSupported", message);
		else
			mpijob__http_report_nomem(check->report);
		free(message);
	}
}

void mpijob__http_kubeconfig_check(const struct mpijob__http_kubeconfig_file *file,
    struct mpijob__http_report *report)
{
	struct check check = { file, report };

	check_value(&check, NULL, file->root, STRUCT, root);
	check_version(&check);
}
