/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Create what a job needs before it starts.
 *
 * Only this file knows in which order objects must exist, and when one that exists already is as
 * wanted: it contains everything that was to be created, whatever the server added. So the same
 * files can be sent twice.
 */
#include "base/base64.h"
#include "client/jobs_findings.h"
#include "client/jobs_submit.h"
#include "client/resources.h"
#include "client/task.h"
#include "core/diag.h"
#include "run/objects.h"

#include <mpijob/run.h>

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

int mpijob_run_order(const mpijob_node *object)
{
	const int count = sizeof(order) / sizeof(order[0]);

	for (int i = 0; i < count; i++)
		if (strcmp(order[i], mpijob__run_text(object, "kind")) == 0)
			return i;
	return mpijob_is_job(object) ? count + 1 : count;
}

/* ---- is it as wanted? ---- */

static const char *difference(const mpijob_node *wanted, const mpijob_node *stored,
    const char *name);

/* stringData is stored as data, in base64. */
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

static const char *map_difference(const mpijob_node *wanted, const mpijob_node *stored)
{
	const char *found = NULL;

	for (size_t i = 0; i < mpijob_node_count(wanted) && !found; i++) {
		const char *key = mpijob_node_key(wanted, i);
		const mpijob_node *value = mpijob_node_at(wanted, i);
		const mpijob_node *other = mpijob_node_get(stored, key);

		found = !other && strcmp(key, "stringData") == 0
			    ? string_data_difference(value, mpijob_node_get(stored, "data"))
			    : difference(value, other, key);
	}
	return found;
}

/* The name of something in `wanted` that differs in `stored`; NULL: nothing differs. A value that
 * is empty is the same as one that is absent. */
static const char *difference(const mpijob_node *wanted, const mpijob_node *stored,
    const char *name)
{
	int32_t kind = mpijob_node_kind(wanted);
	const char *found = NULL;

	if (kind <= MPIJOB_NODE_NULL ||
	    (!stored && (kind == MPIJOB_NODE_MAP || kind == MPIJOB_NODE_LIST) &&
		mpijob_node_count(wanted) == 0))
		return NULL;
	if (mpijob_node_kind(stored) != kind)
		return name;
	if (kind == MPIJOB_NODE_MAP)
		return map_difference(wanted, stored);
	if (kind != MPIJOB_NODE_LIST)
		return mpijob_node_equal(wanted, stored) ? NULL : name;
	if (mpijob_node_count(wanted) != mpijob_node_count(stored))
		return name;
	for (size_t i = 0; i < mpijob_node_count(wanted) && !found; i++)
		found = difference(mpijob_node_at(wanted, i), mpijob_node_at(stored, i), name);
	return found;
}

/* ---- the task ---- */

struct creation {
	mpijob_task task;
	struct mpijob_submit_options options; /* the task owns the strings */
	mpijob_doc *wanted;
	mpijob_diag *said; /* findings of the current request */
	int plain;         /* the server does not know fieldValidation */
	int compares;      /* it exists, and is read */
};

static struct mpijob_target target_of(const struct creation *this)
{
	const mpijob_node *root = mpijob_doc_root(this->wanted);
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = mpijob__run_text(root, "apiVersion");
	target.kind = mpijob__run_text(root, "kind");
	target.namespace_ = mpijob_node_string(mpijob_node_find(root, "metadata.namespace"));
	return target;
}

static int send(struct creation *this)
{
	const mpijob_node *root = mpijob_doc_root(this->wanted);
	struct mpijob_target target = target_of(this);

	mpijob_diag_clear(this->said);
	return mpijob__client_jobs_send(&this->task, &this->options, &target,
	    mpijob__run_text(root, "metadata.name"), root, this->plain, this->said);
}

static int already_exists(const struct creation *this)
{
	for (size_t i = 0; mpijob_diag_at(this->said, i); i++)
		if (mpijob__base_text_is(mpijob_diag_at(this->said, i)->reason, "AlreadyExists"))
			return 1;
	return 0;
}

static int read_existing(struct creation *this)
{
	struct mpijob_target target = target_of(this);

	this->compares = 1;
	mpijob_diag_clear(this->said);
	target.name = mpijob__run_text(mpijob_doc_root(this->wanted), "metadata.name");
	return mpijob__client_task_request(&this->task, "GET", &target, NULL, NULL, 1, this->said);
}

static int compare(const struct creation *this, const mpijob_doc *stored)
{
	const mpijob_node *wanted = mpijob_doc_root(this->wanted);
	const char *differs = difference(wanted, mpijob_doc_root(stored), "kind");

	if (!differs)
		return 1;
	return mpijob__core_diag_addf(this->said, MPIJOB_SEVERITY_ERROR, "server-refused",
		   "AlreadyExists", NULL, NULL,
		   "%s '%s' exists and differs at %s; only a server-side apply changes it",
		   mpijob__run_text(wanted, "kind"), mpijob__run_text(wanted, "metadata.name"),
		   differs)
		   ? MPIJOB_ERR_NOMEM
		   : MPIJOB_ERR_CONFLICT;
}

static int answered(mpijob_task *task, int code, mpijob_doc *doc)
{
	struct creation *this = (struct creation *)task;

	if (code == MPIJOB_ERR_CONFLICT && !this->options.apply && !this->compares &&
	    already_exists(this))
		return read_existing(this);
	if (code == MPIJOB_ERR_UNSUPPORTED && !this->options.field_validation && !this->plain) {
		this->plain = 1;
		return send(this);
	}
	if (code == 0 && this->compares)
		code = compare(this, doc);
	task->doc = doc;
	if (mpijob__client_jobs_place_findings(NULL, this->said, task->diag))
		code = MPIJOB_ERR_NOMEM;
	return code;
}

static void release(mpijob_task *task)
{
	struct creation *this = (struct creation *)task;

	mpijob_doc_free(this->wanted);
	mpijob_diag_free(this->said);
}

static int refuse(const struct creation *this, const char *id, const char *message)
{
	mpijob__core_diag_addf(this->task.diag, MPIJOB_SEVERITY_ERROR, id, NULL, NULL, NULL, "%s",
	    message);
	return MPIJOB_ERR_SPEC;
}

/* An object of a kind with namespaces gets the one of the options. */
static int begin(struct creation *this, const mpijob_node *object,
    const struct mpijob_submit_options *options)
{
	const char *version = mpijob__run_text(object, "apiVersion");
	const char *kind = mpijob__run_text(object, "kind");
	int rc = mpijob__client_jobs_copy_options(&this->task, options, &this->options);

	this->said = mpijob_diag_new();
	this->wanted = mpijob_doc_from_node(object, NULL);
	if (rc || !this->said || !this->wanted)
		return MPIJOB_ERR_NOMEM;
	if (!*version || !*kind)
		return refuse(this, "no-api-version", "apiVersion or kind is missing");
	if (mpijob__client_resource_namespaced(version, kind) &&
	    !mpijob_node_find(object, "metadata.namespace"))
		mpijob_node_put_string(this->wanted, mpijob_doc_make(this->wanted, "metadata"),
		    "namespace", options->namespace_ ? options->namespace_ : "default");
	rc = mpijob_doc_error(this->wanted);
	return rc ? rc : send(this);
}

int mpijob_run_create_start(mpijob_client *client, const mpijob_node *object,
    const struct mpijob_submit_options *options, const struct mpijob_task_callbacks *callbacks,
    mpijob_task **out, mpijob_diag *diag)
{
	struct mpijob_submit_options known;
	struct creation *this;
	mpijob_task *task = NULL;
	int rc = client && object ? mpijob__client_jobs_check_options(options, &known)
				  : MPIJOB_ERR_USAGE;

	if (rc == 0)
		rc = mpijob__client_task_new(sizeof(*this), client, callbacks, out, diag, &task);
	if (rc)
		return rc;
	this = (struct creation *)task;
	task->step = answered;
	task->release = release;
	return mpijob__client_task_started(task, begin(this, object, &known));
}
