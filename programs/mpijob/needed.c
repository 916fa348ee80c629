/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows in which order objects have to exist, and when one that exists already is as wanted:
 * everything that the file says is so, whatever the server added. Sending the same files twice is
 * then no error.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "evidence.h"
#include "findings.h"
#include "needed.h"
#include "stored.h"

/* What others refer to comes first. */
static const char *const order[] = {
	"Namespace",
	"ResourceQuota",
	"LimitRange",
	"CustomResourceDefinition",
	"PriorityClass",
	"ServiceAccount",
	"Secret",
	"ConfigMap",
	"StorageClass",
	"PersistentVolume",
	"PersistentVolumeClaim",
	"ClusterRole",
	"ClusterRoleBinding",
	"Role",
	"RoleBinding",
	"ResourceFlavor",
	"ClusterQueue",
	"LocalQueue",
	"Queue",
	"NetworkPolicy",
	"Service",
};

static const char *const without_namespace[] = {
	"Namespace",
	"CustomResourceDefinition",
	"PriorityClass",
	"StorageClass",
	"PersistentVolume",
	"ClusterRole",
	"ClusterRoleBinding",
	"ResourceFlavor",
	"ClusterQueue",
	"Queue",
	"IngressClass",
	"RuntimeClass",
	"Node",
	"DeviceClass",
	"WorkloadPriorityClass",
	"Topology",
	"AdmissionCheck",
	"Cohort",
	"CSIDriver",
};

int needed_rank(const struct input_object *object)
{
	const int count = sizeof(order) / sizeof(order[0]);
	const char *kind = text_at(object->node, "kind");

	for (int i = 0; i < count; i++)
		if (strcmp(order[i], kind) == 0)
			return i;
	return mpijob_is_job(object->node) ? count + 1 : count;
}

int needed_has_namespace(const struct input_object *object)
{
	for (size_t i = 0; i < sizeof(without_namespace) / sizeof(without_namespace[0]); i++)
		if (strcmp(without_namespace[i], text_at(object->node, "kind")) == 0)
			return 0;
	return 1;
}

const char *sending_validation(const struct arguments *arguments)
{
	switch (arguments->validate) {
	case VALIDATE_WARN: return "Warn";
	case VALIDATE_IGNORE:
	case VALIDATE_FALSE: return "Ignore";
	default: return "Strict";
	}
}

void sending_begin(struct sending *sending, const struct arguments *arguments)
{
	*sending = (struct sending){ .arguments = arguments };
	sending->query[0] = "fieldValidation";
	sending->query[1] = sending_validation(arguments);
	sending->query_count = 2;
	if (!arguments->server_side) { /* an apply names its owner in its options */
		sending->query[2] = "fieldManager";
		sending->query[3] = arguments->field_manager ? arguments->field_manager : "mpijob";
		sending->query_count = 4;
	}
	if (arguments->dry_run == DRY_RUN_SERVER) {
		sending->query[sending->query_count++] = "dryRun";
		sending->query[sending->query_count++] = "All";
	}
}

/* ---- is it as wanted? ---- */

static const char *difference(const mpijob_node *wanted, const mpijob_node *has, const char *name);

/* stringData comes back as data, in base64. */
static int is_encoded(const char *text, const char *encoded)
{
	size_t len = strlen(text);

	if (strlen(encoded) != MPIJOB__BASE_BASE64_LEN(len))
		return 0;
	for (size_t i = 0; i < len; i += 3, encoded += 4) {
		char group[4];
		mpijob__base_base64_encode(text + i, len - i < 3 ? len - i : 3, group);
		if (memcmp(group, encoded, 4) != 0)
			return 0;
	}
	return 1;
}

static const char *string_data_difference(const mpijob_node *strings, const mpijob_node *data)
{
	for (size_t i = 0; i < mpijob_node_count(strings); i++) {
		const char *key = mpijob_node_key(strings, i);
		const char *text = mpijob_node_string(mpijob_node_at(strings, i));
		const char *encoded = mpijob_node_string(mpijob_node_get(data, key));
		if (!text || !encoded || !is_encoded(text, encoded))
			return key;
	}
	return NULL;
}

static const char *map_difference(const mpijob_node *wanted, const mpijob_node *has)
{
	for (size_t i = 0; i < mpijob_node_count(wanted); i++) {
		const char *key = mpijob_node_key(wanted, i);
		const mpijob_node *there = mpijob_node_get(has, key);
		const char *differs = !there && strcmp(key, "stringData") == 0
					  ? string_data_difference(mpijob_node_at(wanted, i),
						mpijob_node_get(has, "data"))
					  : difference(mpijob_node_at(wanted, i), there, key);
		if (differs)
			return differs;
	}
	return NULL;
}

/* The name of something in `wanted` that is not so in `has`; NULL when all is so. Nothing is the
 * same as absent. */
static const char *difference(const mpijob_node *wanted, const mpijob_node *has, const char *name)
{
	int32_t kind = mpijob_node_kind(wanted);

	if (kind <= MPIJOB_NODE_NULL ||
	    (!has && (kind == MPIJOB_NODE_MAP || kind == MPIJOB_NODE_LIST) &&
		mpijob_node_count(wanted) == 0))
		return NULL;
	if (mpijob_node_kind(has) != kind)
		return name;
	if (kind == MPIJOB_NODE_MAP)
		return map_difference(wanted, has);
	if (kind != MPIJOB_NODE_LIST)
		return mpijob_node_equal(wanted, has) ? NULL : name;
	if (mpijob_node_count(wanted) != mpijob_node_count(has))
		return name;
	for (size_t i = 0; i < mpijob_node_count(wanted); i++) {
		const char *differs =
		    difference(mpijob_node_at(wanted, i), mpijob_node_at(has, i), name);
		if (differs)
			return differs;
	}
	return NULL;
}

/* ---- sending ---- */

static int exists(const mpijob_diag *diag)
{
	for (size_t i = 0; i < mpijob_diag_count(diag); i++) {
		const char *reason = mpijob_diag_at(diag, i)->reason;
		if (reason && strcmp(reason, "AlreadyExists") == 0)
			return 1;
	}
	return 0;
}

/* It is there: as wanted? */
static int compare(struct connection *connection, struct mpijob_target *target,
    const struct input_object *object, const mpijob_node *wanted, mpijob_doc **out)
{
	target->query_count = 0;
	target->name = text_at(wanted, "metadata.name");
	mpijob_diag_clear(connection->diag);
	int code = mpijob_client_get(connection->client, target, out, connection->diag);
	if (code)
		return code;
	const char *differs = difference(wanted, mpijob_doc_root(*out), "kind");
	if (!differs)
		return 0;
	return findings_add(connection->diag, MPIJOB_ERR_CONFLICT, object->source, "server-refused",
	    "%s '%s' exists and differs at %s; --server-side changes it", target->kind,
	    target->name, differs);
}

static int apply(struct connection *connection, const struct sending *sending,
    struct mpijob_target *target, const mpijob_node *wanted, mpijob_doc **out)
{
	struct mpijob_apply_options options = MPIJOB_APPLY_OPTIONS_INIT;

	options.field_manager = sending->arguments->field_manager;
	options.force = sending->arguments->force_conflicts;
	target->name = text_at(wanted, "metadata.name");
	return mpijob_client_apply(connection->client, target, wanted, &options, out,
	    connection->diag);
}

static int send(struct connection *connection, struct sending *sending,
    const struct input_object *object, const mpijob_node *wanted)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	const char *done = sending->arguments->server_side ? "serverside-applied" : "created";
	mpijob_doc *stored = NULL;
	int code = 0;

	target.api_version = text_at(wanted, "apiVersion");
	target.kind = text_at(wanted, "kind");
	target.namespace_ =
	    needed_has_namespace(object) ? text_at(wanted, "metadata.namespace") : NULL;
	target.query = sending->query;
	target.query_count = sending->query_count;
	if (sending->arguments->dry_run == DRY_RUN_CLIENT)
		return stored_print(sending->arguments, wanted, done, &sending->printed);
	if (sending->arguments->server_side)
		code = apply(connection, sending, &target, wanted, &stored);
	else
		code = mpijob_client_create(connection->client, &target, wanted, &stored,
		    connection->diag);
	if (code == MPIJOB_ERR_CONFLICT && exists(connection->diag)) {
		code = compare(connection, &target, object, wanted, &stored);
		done = "unchanged";
	}
	if (code == 0 && !sending->quiet)
		code = stored_print(sending->arguments, mpijob_doc_root(stored), done,
		    &sending->printed);
	mpijob_doc_free(stored);
	return code;
}

int needed_send(struct connection *connection, struct sending *sending,
    const struct input_object *object)
{
	mpijob_doc *doc = mpijob_doc_from_node(object->node);

	if (needed_has_namespace(object) && !mpijob_node_find(object->node, "metadata.namespace"))
		mpijob_node_put_string(doc, mpijob_doc_make(doc, "metadata"), "namespace",
		    connection->namespace_);
	int code = mpijob_doc_error(doc);
	if (code == 0)
		code = send(connection, sending, object, mpijob_doc_root(doc));
	mpijob_doc_free(doc);
	return code;
}
