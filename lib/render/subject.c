/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the subject: the fields of a job that rendering needs, defaults for an absent namespace or
 * UID, and the checked options of the caller. Also the names of the children.
 */
#include "base/api.h"
#include "render/render.h"

#include "core/diag.h"
#include "base/dns.h"
#include "base/struct.h"
#include "base/text.h"
#include "job/job.h"
#include "job/syntax.h"
#include "render/build.h"
#include "render/features.h"

#include <string.h>

static int fail(mpijob_diag *diag, const mpijob_node *at, const char *field, const char *message)
{
	struct mpijob__core_place place = { NULL, 0, 0 };

	mpijob_node_place(at, &place.line, &place.column);
	mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "not-renderable", "Required", field,
	    &place, "%s", message);
	return MPIJOB_ERR_SPEC;
}

static int check_priority_classes(const struct mpijob_render_options *options)
{
	if (options->priority_classes_count > 0 && options->priority_classes == NULL)
		return MPIJOB_ERR_USAGE;
	for (size_t i = 0; i < options->priority_classes_count; i++) {
		struct mpijob_priority_class class;
		int code;

		if (options->priority_classes[i] == NULL)
			return MPIJOB_ERR_USAGE;
		code =
		    mpijob__base_struct_check(&class, sizeof(class), options->priority_classes[i]);
		if (code != 0)
			return code;
		if (class.name == NULL)
			return MPIJOB_ERR_USAGE;
	}
	return 0;
}

static int check_namespace(const mpijob *job, const char *name, mpijob_diag *diag)
{
	const mpijob_node *node = mpijob_node_find(mpijob__job_node(job), "metadata.namespace");
	struct mpijob__core_place place = { .source = mpijob_doc_source(mpijob_document(job)) };
	const char *form = mpijob__job_syntax_label(name);

	mpijob_node_place(node, &place.line, &place.column);
	if (form == NULL)
		return 0;
	mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "invalid-name", "Invalid",
	    "metadata.namespace", &place, "must be %s", form);
	return MPIJOB_ERR_SPEC;
}

/* Report which member is wrong, because the code alone does not say it. */
static int report_option(mpijob_diag *diag, int code, const char *what)
{
	mpijob__core_diag_addf(diag, MPIJOB_SEVERITY_ERROR, "bad-options", NULL, NULL, NULL,
	    "render options: %s%s", what,
	    code == MPIJOB_ERR_UNSUPPORTED
		? " has a member that this version of the library does not know"
		: "");
	return code;
}

static int check_options(const struct mpijob_render_options *given,
    struct mpijob_render_options *out, struct mpijob_features *features, mpijob_diag *diag)
{
	int code = mpijob__base_struct_check(out, sizeof(*out), given);

	if (code != 0)
		return report_option(diag, code,
		    code == MPIJOB_ERR_USAGE ? "size is not set" : "the struct");
	code = check_priority_classes(out);
	if (code != 0)
		return report_option(diag, code,
		    code == MPIJOB_ERR_USAGE
			? "priority_classes: an entry is NULL, or has no size or no name"
			: "priority_classes: an entry");
	if (out->entropy != NULL && out->entropy_len < MPIJOB_SSH_ENTROPY)
		return report_option(diag, MPIJOB_ERR_USAGE,
		    "entropy: give MPIJOB_SSH_ENTROPY bytes, or NULL");
	if (out->cluster_domain != NULL && out->cluster_domain[0] == '\0')
		out->cluster_domain = NULL;
	if (out->cluster_domain != NULL && !mpijob__base_dns_is_domain(out->cluster_domain))
		return report_option(diag, MPIJOB_ERR_USAGE,
		    "cluster_domain: must be a DNS name, for example 'cluster.local'");
	if (out->gang_scheduler != NULL && out->gang_scheduler[0] == '\0')
		out->gang_scheduler = NULL;
	code = mpijob__render_features_take(out->features, out->reference, features);
	if (code != 0)
		return report_option(diag, code,
		    code == MPIJOB_ERR_USAGE
			? "reference or a feature is out of its bounds, or a size is not set"
			: "features: the struct");
	return 0;
}

static int check_role(const mpijob *job, const struct mpijob_replica_spec *replica,
    const char *role, mpijob_diag *diag)
{
	const mpijob_node *template = replica->pod_template;
	const mpijob_node *containers = mpijob_node_find(template, "spec.containers");
	struct mpijob_text field = { 0 };
	int code = 0;

	if (mpijob_node_kind(mpijob_node_at(containers, 0)) == MPIJOB_NODE_MAP)
		return 0;
	code = mpijob__base_text_printf(&field, "spec.mpiReplicaSpecs[%s].template.spec.containers",
	    role);
	if (code == 0)
		code = fail(diag, template != NULL ? template : mpijob__job_node(job), field.data,
		    "must define at least one container");
	mpijob__base_text_release(&field);
	return code;
}

static int check_spec(const mpijob *job, const struct mpijob_spec *spec, mpijob_diag *diag)
{
	const mpijob_node *root = mpijob__job_node(job);
	int code = 0;

	if (spec->launcher == NULL)
		return fail(diag, root, "spec.mpiReplicaSpecs[Launcher]", "must have a launcher");
	code = check_role(job, spec->launcher, "Launcher", diag);
	if (code != 0 || spec->worker == NULL)
		return code;
	if (spec->worker->replicas == NULL)
		return fail(diag, root, "spec.mpiReplicaSpecs[Worker].replicas",
		    "must have a number of workers");
	return check_role(job, spec->worker, "Worker", diag);
}

int mpijob__render_subject_make(const mpijob *job, const struct mpijob_render_options *options,
    struct mpijob__render_subject *out, mpijob_diag *diag)
{
	struct mpijob__render_subject subject = { 0 };
	int code = check_options(options, &subject.options, &subject.features, diag);

	if (code != 0)
		return code;
	subject.options.features = NULL;
	subject.source = mpijob_doc_source(mpijob_document(job));
	subject.name = mpijob_name(job);
	if (subject.name == NULL || subject.name[0] == '\0')
		return fail(diag, mpijob__job_node(job), "metadata.name", "must have a name");
	subject.namespace_ = mpijob_namespace(job);
	if (subject.namespace_ == NULL || subject.namespace_[0] == '\0')
		subject.namespace_ = "default";
	code = check_namespace(job, subject.namespace_, diag);
	if (code != 0)
		return code;
	subject.uid = mpijob_uid(job);
	if (subject.uid == NULL)
		subject.uid = "";
	subject.annotations = mpijob_node_find(mpijob__job_node(job), "metadata.annotations");
	code = mpijob__job_spec(job, &subject.spec, diag);
	if (code == 0)
		code = check_spec(job, subject.spec, diag);
	if (code == 0)
		*out = subject;
	return code;
}

int mpijob__render_subject_valid(const mpijob *job, const struct mpijob_render_options *options,
    struct mpijob__render_subject *out, mpijob_diag *diag)
{
	struct mpijob_validate_options validate_options = MPIJOB_VALIDATE_OPTIONS_INIT;
	int code;

	validate_options.reference = 1;
	code = mpijob_validate(job, &validate_options, diag);
	return code != 0 ? code : mpijob__render_subject_make(job, options, out, diag);
}

int32_t mpijob__render_subject_workers(const struct mpijob__render_subject *subject)
{
	const struct mpijob_replica_spec *worker = subject->spec->worker;

	return worker != NULL && worker->replicas != NULL && *worker->replicas > 0
		   ? *worker->replicas
		   : 0;
}

int32_t mpijob__render_subject_slots(const struct mpijob__render_subject *subject)
{
	return subject->spec->slots_per_worker != NULL ? *subject->spec->slots_per_worker : 1;
}

int mpijob__render_subject_launcher_has_ranks(const struct mpijob__render_subject *subject)
{
	return subject->spec->run_launcher_as_worker != NULL &&
	       *subject->spec->run_launcher_as_worker != 0;
}

int mpijob__render_subject_compact(const struct mpijob__render_subject *subject)
{
	return subject->features.compact_hosts != 0;
}

int mpijob__render_subject_gang_waits(const struct mpijob__render_subject *subject)
{
	return subject->features.gang_safe_wait != 0 && !subject->launcher_runs &&
	       subject->spec->launcher_creation_policy == MPIJOB_LAUNCHER_WAIT_FOR_WORKERS_READY &&
	       mpijob__render_subject_workers(subject) > 0;
}

int mpijob__render_subject_gang(const struct mpijob__render_subject *subject)
{
	if (subject->options.gang_scheduler == NULL)
		return MPIJOB__RENDER_GANG_NONE;
	return strcmp(subject->options.gang_scheduler, "volcano") == 0
		   ? MPIJOB__RENDER_GANG_VOLCANO
		   : MPIJOB__RENDER_GANG_PLUGINS;
}

size_t mpijob__render_number(size_t number, char out[MPIJOB__RENDER_NUMBER_SIZE])
{
	char *end = out + MPIJOB__RENDER_NUMBER_SIZE, *at = end;

	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	memmove(out, at, (size_t)(end - at));
	return (size_t)(end - at);
}

/* Without printf(), because a plan computes thousands of names. */
int mpijob__render_name(const char *job, int32_t role, int32_t index, mpijob_text *text)
{
	static const char *const behind[] = {
		[MPIJOB_ROLE_SERVICE] = "",
		[MPIJOB_ROLE_CONFIG_MAP] = "-config",
		[MPIJOB_ROLE_SECRET] = "-ssh",
		[MPIJOB_ROLE_POD_GROUP] = "",
		[MPIJOB_ROLE_WORKER] = "-worker-",
		[MPIJOB_ROLE_LAUNCHER] = "-launcher",
		[MPIJOB_ROLE_NETWORK_POLICY] = "",
	};
	char digits[MPIJOB__RENDER_NUMBER_SIZE];
	int code;

	if (role < MPIJOB_ROLE_SERVICE || role >= MPIJOB__RENDER_ROLES ||
	    (role == MPIJOB_ROLE_WORKER && index < 0))
		return MPIJOB_ERR_USAGE;
	code = mpijob__base_text_puts(text, job);
	if (code == 0)
		code = mpijob__base_text_puts(text, behind[role]);
	if (code == 0 && role == MPIJOB_ROLE_WORKER)
		code =
		    mpijob_text_write(text, digits, mpijob__render_number((size_t)index, digits));
	return code;
}

int mpijob_child_name_write(const char *job, int32_t role, int32_t index, mpijob_write_fn write,
    void *user)
{
	mpijob_text name = { 0 };
	int rc = MPIJOB_ERR_USAGE;

	if (job && write)
		rc = mpijob__render_name(job, role, index, &name);
	if (rc == 0)
		rc = write(user, mpijob_text_data(&name), name.len);
	mpijob__base_text_release(&name);
	return rc;
}

int32_t mpijob__render_role(size_t index)
{
	static const int32_t roles[] = {
		MPIJOB_ROLE_SERVICE,
		MPIJOB_ROLE_NETWORK_POLICY,
		MPIJOB_ROLE_CONFIG_MAP,
		MPIJOB_ROLE_SECRET,
		MPIJOB_ROLE_POD_GROUP,
		MPIJOB_ROLE_WORKER,
		MPIJOB_ROLE_LAUNCHER,
	};

	return index < sizeof(roles) / sizeof(roles[0]) ? roles[index] : 0;
}

const char *mpijob__render_api_version(int32_t role, int volcano)
{
	switch (role) {
	case MPIJOB_ROLE_SERVICE:
	case MPIJOB_ROLE_CONFIG_MAP:
	case MPIJOB_ROLE_SECRET:
	case MPIJOB_ROLE_WORKER: return "v1";
	case MPIJOB_ROLE_POD_GROUP:
		return volcano ? MPIJOB__BASE_API_VOLCANO : MPIJOB__BASE_API_COSCHEDULING;
	case MPIJOB_ROLE_LAUNCHER: return MPIJOB__BASE_API_BATCH;
	case MPIJOB_ROLE_NETWORK_POLICY: return MPIJOB__BASE_API_NETWORK;
	default: return NULL;
	}
}

const char *mpijob__render_kind(int32_t role)
{
	static const char *const kinds[] = {
		[MPIJOB_ROLE_SERVICE] = "Service",
		[MPIJOB_ROLE_CONFIG_MAP] = "ConfigMap",
		[MPIJOB_ROLE_SECRET] = "Secret",
		[MPIJOB_ROLE_POD_GROUP] = "PodGroup",
		[MPIJOB_ROLE_WORKER] = "Pod",
		[MPIJOB_ROLE_LAUNCHER] = "Job",
		[MPIJOB_ROLE_NETWORK_POLICY] = "NetworkPolicy",
	};

	return role >= MPIJOB_ROLE_SERVICE && role < MPIJOB__RENDER_ROLES ? kinds[role] : NULL;
}
