/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpijob doctor: knows what a cluster needs to run MPIJobs, how to check it, and the command that
 * fixes a problem. Each read may be forbidden: then the result is a warning with the command that
 * grants the right, and the other checks continue.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "base/api.h"
#include "base/clock.h"
#include "objects.h"
#include "findings.h"
#include "print.h"
#include "when.h"

/* One command per line. */
static void print_mend(const char *mend)
{
	while (*mend) {
		int len = (int)strcspn(mend, "\n");

		print_out("      %.*s\n", len, mend);
		mend += len + (mend[len] == '\n');
	}
}

void say(struct doctor *doctor, enum result result, const char *check, const char *mend,
    const char *format, ...)
{
	static const char *const words[] = { "ok", "warn", "fail" };
	char *text = NULL;
	va_list values;

	va_start(values, format);
	int len = vasprintf(&text, format, values);
	va_end(values);
	if (len < 0) {
		doctor->code = MPIJOB_ERR_NOMEM;
		return;
	}
	doctor->failed |= result == RESULT_FAIL;
	if (doctor->report) {
		mpijob_node *map =
		    mpijob_node_append_map(doctor->report, mpijob_doc_edit(doctor->report, ""));
		mpijob_node_put_string(doctor->report, map, "check", check);
		mpijob_node_put_string(doctor->report, map, "result", words[result]);
		mpijob_node_put_lossy(doctor->report, map, "message", text);
		if (mend)
			mpijob_node_put_string(doctor->report, map, "mend", mend);
	} else {
		print_out("%-5s %s\n", words[result], text);
		if (mend && result != RESULT_OK)
			print_mend(mend);
		fflush(stdout);
	}
	free(text);
}

/* ---- read objects ---- */

static void say_unreadable(struct doctor *doctor, const struct probe *probe,
    const struct mpijob_target *target, int code, const mpijob_diag *diag)
{
	const struct mpijob_finding *finding = mpijob_diag_at(diag, 0);
	char *mend = code == MPIJOB_ERR_AUTH ? grant_commands(doctor, probe, target) : NULL;

	say(doctor, RESULT_WARN, probe->check, mend ? mend : SERVER_HEALTH, "%s cannot be read: %s",
	    probe->what, finding ? finding->message : mpijob_error_text(code));
	free(mend);
}

int read_object(struct doctor *doctor, const struct probe *probe, const char *namespace_,
    const char *name, mpijob_doc **out)
{
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	mpijob_diag *diag = mpijob_diag_new();
	mpijob_client *client = doctor->connection->client;
	const char *const query[] = { "fieldSelector", probe->selector };
	int code = MPIJOB_ERR_NOMEM;

	target.api_version = probe->api_version;
	target.kind = probe->kind;
	target.namespace_ = namespace_;
	target.name = name;
	target.query = probe->selector ? query : NULL;
	target.query_count = probe->selector ? 2 : 0;
	if (diag)
		code = name ? mpijob_client_get(client, &target, out, diag)
			    : mpijob_client_list(client, &target, 0, out, diag);
	if (code == MPIJOB_ERR_NOMEM || code == MPIJOB_ERR_CANCELLED)
		doctor->code = code;
	else if (code && code != MPIJOB_ERR_NOT_FOUND)
		say_unreadable(doctor, probe, &target, code, diag);
	mpijob_diag_free(diag);
	return code == 0 ? 1 : code == MPIJOB_ERR_NOT_FOUND ? 0 : -1;
}

static void raw_done(void *user, const struct mpijob_answer *answer)
{
	struct raw *raw = user;

	raw->over = 1;
	raw->code = answer->code;
	raw->message = answer->message ? strdup(answer->message) : NULL;
	if (answer->code == 0 &&
	    mpijob_doc_parse(answer->body, answer->body_len, NULL, &raw->doc, NULL))
		raw->code = MPIJOB_ERR_SYNTAX;
}

int get_raw(struct doctor *doctor, const char *path, struct raw *raw)
{
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;

	request.method = "GET";
	request.path = path;
	callbacks.done = raw_done;
	callbacks.user = raw;
	int code = mpijob_client_start(doctor->connection->client, &request, &callbacks, NULL);
	while (code == 0 && !raw->over && !connection_signal())
		code = mpijob_client_poll(doctor->connection->client, 500);
	if (code == 0 && !raw->over)
		code = MPIJOB_ERR_CANCELLED;
	return code ? code : raw->code;
}

static void check_context(struct doctor *doctor)
{
	const struct connection *connection = doctor->connection;

	say(doctor, RESULT_OK, "context", NULL, "context %s, server %s, user %s, namespace %s",
	    connection->context ? connection->context : "(none)", connection->server,
	    connection->user ? connection->user : "(none)", connection->namespace_);
}

void free_raw(struct raw *raw)
{
	mpijob_doc_free(raw->doc);
	free(raw->message);
}

/* If the server does not answer, no other check makes sense. 0 or a code. */
static int check_server(struct doctor *doctor)
{
	struct raw raw = { 0 };
	int code = get_raw(doctor, "/version", &raw);

	if (code == 0)
		say(doctor, RESULT_OK, "server", NULL, "the server answers: Kubernetes %s",
		    text_at(mpijob_doc_root(raw.doc), "gitVersion"));
	else if (code != MPIJOB_ERR_CANCELLED && code != MPIJOB_ERR_NOMEM)
		say(doctor, RESULT_FAIL, "server", "kubectl cluster-info",
		    "the server does not answer: %s",
		    raw.message ? raw.message : mpijob_error_text(code));
	free_raw(&raw);
	return code;
}

/* Nothing can be created in a namespace that is missing or is being deleted. */
static void check_namespace(struct doctor *doctor)
{
	static const struct probe probe = { "v1", "Namespace", "namespaces", "namespace",
		"the namespace", NULL };
	const char *name = doctor->connection->namespace_;
	mpijob_doc *doc = NULL;
	char *mend = NULL;

	if (doctor->arguments->all_namespaces)
		return;
	int there = read_object(doctor, &probe, NULL, name, &doc);
	if (asprintf(&mend, "kubectl %s namespace %s", there ? "describe" : "create", name) < 0) {
		mend = NULL;
		doctor->code = MPIJOB_ERR_NOMEM;
	}
	if (there == 0)
		say(doctor, RESULT_FAIL, "namespace", mend, "namespace %s does not exist", name);
	else if (there > 0 && *text_at(mpijob_doc_root(doc), "metadata.deletionTimestamp"))
		say(doctor, RESULT_FAIL, "namespace", mend,
		    "namespace %s is being deleted, and nothing can be created in it; see what it "
		    "waits for",
		    name);
	else if (there > 0)
		say(doctor, RESULT_OK, "namespace", NULL, "namespace %s exists", name);
	free(mend);
	mpijob_doc_free(doc);
}

/* ---- the CRD ---- */

#define INSTALL                           \
	"kubectl apply --server-side -k " \
	"'https://github.com/kubeflow/mpi-operator/manifests/overlays/standalone?ref=v0.8.2'"

static void say_versions(struct doctor *doctor, const mpijob_node *crd)
{
	const mpijob_node *versions = mpijob_node_find(crd, "spec.versions");
	int v2beta1 = 0, other = 0;
	mpijob_text *names = mpijob_text_new();

	for (size_t i = 0; i < mpijob_node_count(versions); i++) {
		const mpijob_node *version = mpijob_node_at(versions, i);
		const char *name = text_at(version, "name");
		int served = 0;
		mpijob_node_bool(mpijob_node_get(version, "served"), &served);
		if (!served)
			continue;
		v2beta1 |= strcmp(name, "v2beta1") == 0;
		other |= strcmp(name, "v2beta1") != 0;
		if (names && (mpijob_text_write(names, " ", 1) ||
				 mpijob_text_write(names, name, strlen(name))))
			doctor->code = MPIJOB_ERR_NOMEM;
	}
	const char *list = names ? mpijob_text_data(names) : "";
	if (!v2beta1)
		say(doctor, RESULT_FAIL, "crd", INSTALL,
		    "the CRD of MPIJobs serves%s, not v2beta1: it is that of the training "
		    "operator; disable MPIJobs there (--enable-scheme without mpijob) and replace "
		    "it",
		    list);
	else
		say(doctor, other ? RESULT_WARN : RESULT_OK, "crd",
		    other ? "mpijob convert FILE" : NULL,
		    "the CRD of MPIJobs exists and serves%s%s", list,
		    other ? "; nothing converts jobs of the other versions" : "");
	mpijob_text_free(names);
}

static void say_status(struct doctor *doctor, const mpijob_node *crd)
{
	const mpijob_node *versions = mpijob_node_find(crd, "spec.versions");

	for (size_t i = 0; i < mpijob_node_count(versions); i++)
		if (strcmp(text_at(mpijob_node_at(versions, i), "name"), "v2beta1") == 0 &&
		    !mpijob_node_find(mpijob_node_at(versions, i), "subresources.status"))
			say(doctor, RESULT_FAIL, "crd-status", INSTALL,
			    "v2beta1 has no status subresource, so that no job ever gets a status");
}

/* A user who may not read CRDs may still read jobs: then check whether the API is served. */
static void check_crd(struct doctor *doctor)
{
	static const struct probe probe = { MPIJOB__BASE_API_CRD, "CustomResourceDefinition",
		"customresourcedefinitions.apiextensions.k8s.io", "crd", "the CRD of MPIJobs",
		NULL };
	mpijob_doc *doc = NULL;
	int there = read_object(doctor, &probe, NULL, MPIJOB__BASE_API_RESOURCE, &doc);

	if (there == 0)
		say(doctor, RESULT_FAIL, "crd", INSTALL,
		    "the cluster does not know MPIJobs: there is no CRD mpijobs.kubeflow.org");
	if (there > 0) {
		say_versions(doctor, mpijob_doc_root(doc));
		say_status(doctor, mpijob_doc_root(doc));
	}
	mpijob_doc_free(doc);
	if (there >= 0 || doctor->code)
		return;
	struct raw raw = { 0 };
	there = serves(doctor, "/apis/" MPIJOB__BASE_API_VERSION, "crd", MPIJOB__BASE_API_VERSION,
	    &raw);
	if (there >= 0)
		say(doctor, there ? RESULT_OK : RESULT_FAIL, "crd", INSTALL,
		    "the server %s kubeflow.org/v2beta1", there ? "serves" : "does not serve");
	free_raw(&raw);
}

/* ---- operators ---- */

/* The image of a Deployment that reconciles MPIJobs, or NULL. */
static const char *operator_image(const mpijob_node *deployment)
{
	const mpijob_node *containers =
	    mpijob_node_find(deployment, "spec.template.spec.containers");

	for (size_t i = 0; i < mpijob_node_count(containers); i++) {
		const char *image = text_at(mpijob_node_at(containers, i), "image");
		if (strstr(image, MPIJOB__BASE_API_OPERATOR_NAME) ||
		    strstr(image, "mpijob-operator") || strstr(image, "training-operator"))
			return image;
	}
	return NULL;
}

/* Whether a Deployment is a shadow operator, which writes nothing. */
static int is_shadow(const mpijob_node *deployment)
{
	const mpijob_node *containers =
	    mpijob_node_find(deployment, "spec.template.spec.containers");

	for (size_t i = 0; i < mpijob_node_count(containers); i++) {
		const mpijob_node *args = mpijob_node_get(mpijob_node_at(containers, i), "args");
		for (size_t j = 0; j < mpijob_node_count(args); j++) {
			const char *arg = mpijob_node_string(mpijob_node_at(args, j));
			while (arg && *arg == '-')
				arg++;
			if (arg && (strcmp(arg, "shadow") == 0 || strcmp(arg, "shadow=true") == 0))
				return 1;
		}
	}
	return 0;
}

/* Numbers of ready operators: those that use the Lease mpi-operator, and others. */
struct operators {
	size_t leased;
	size_t others;
};

static void check_deployment(struct doctor *doctor, const mpijob_node *item,
    struct operators *found)
{
	const char *image = operator_image(item), *namespace_ = text_at(item, "metadata.namespace");
	const char *name = text_at(item, "metadata.name");
	int64_t ready = 0, wanted = 1;

	if (!image)
		return;
	mpijob_node_int(mpijob_node_find(item, "status.readyReplicas"), &ready);
	mpijob_node_int(mpijob_node_find(item, "spec.replicas"), &wanted);
	if (wanted == 0 && ready == 0) {
		say(doctor, RESULT_OK, "operator", NULL, "Deployment %s/%s, %s, is scaled to 0",
		    namespace_, name, image);
		return;
	}
	say(doctor, ready ? RESULT_OK : RESULT_FAIL, "operator", "kubectl describe deployment -A",
	    "Deployment %s/%s runs %s%s: %lld ready", namespace_, name, image,
	    is_shadow(item) ? " as a shadow, which writes nothing" : "", (long long)ready);
	if (ready && !is_shadow(item))
		(*(strstr(image, "training-operator") ? &found->others : &found->leased))++;
}

static struct operators check_deployments(struct doctor *doctor)
{
	static const struct probe probe = { "apps/v1", "Deployment", "deployments.apps", "operator",
		"the Deployments of all namespaces", NULL };
	mpijob_doc *doc = NULL;
	int there = read_object(doctor, &probe, NULL, NULL, &doc);
	const mpijob_node *items =
	    there > 0 ? mpijob_node_get(mpijob_doc_root(doc), "items") : NULL;
	struct operators found = { 0, 0 };

	for (size_t i = 0; i < mpijob_node_count(items); i++)
		check_deployment(doctor, mpijob_node_at(items, i), &found);
	mpijob_doc_free(doc);
	return found;
}

/* A renewed Lease shows that an operator runs, in the cluster or elsewhere. `*seen`: whether the
 * Leases could be read. */
static size_t check_leases(struct doctor *doctor, int quiet, int *seen)
{
	static const struct probe probe = { MPIJOB__BASE_API_LEASE, "Lease",
		MPIJOB__BASE_API_LEASES, "lease", "the Leases of all namespaces", NULL };
	mpijob_doc *doc = NULL;
	int there = read_object(doctor, &probe, NULL, NULL, &doc);
	const mpijob_node *items =
	    there > 0 ? mpijob_node_get(mpijob_doc_root(doc), "items") : NULL;
	size_t alive = 0;
	int64_t now = mpijob__base_clock_wall_ms() / 1000;

	*seen = there >= 0;
	for (size_t i = 0; i < mpijob_node_count(items); i++) {
		const mpijob_node *item = mpijob_node_at(items, i);
		const char *name = text_at(item, "metadata.name"),
			   *renewed = text_at(item, "spec.renewTime");
		int64_t seconds = 15, at = 0;
		char age[AGE_SIZE];
		if (strcmp(name, MPIJOB__BASE_API_OPERATOR_NAME) != 0)
			continue;
		mpijob_node_int(mpijob_node_find(item, "spec.leaseDurationSeconds"), &seconds);
		int fresh = when_parse(renewed, &at) == 0 && now - at <= 2 * seconds + 30;
		alive += (size_t)fresh;
		if (fresh || !quiet)
			say(doctor, fresh ? RESULT_OK : RESULT_WARN, "lease",
			    "kubectl logs -n mpi-operator deployment/mpi-operator",
			    "Lease %s/%s is held by %s, renewed %s ago%s",
			    text_at(item, "metadata.namespace"), name,
			    text_at(item, "spec.holderIdentity"), age_text(renewed, now, age),
			    fresh ? "" : ": that operator does not run any more");
	}
	mpijob_doc_free(doc);
	return alive;
}

static void check_operators(struct doctor *doctor)
{
	struct operators found = check_deployments(doctor);
	int seen = 0;
	size_t leases =
	    doctor->code ? 0 : check_leases(doctor, found.leased + found.others > 0, &seen);

	if (doctor->code)
		return;
	if (seen && found.leased + found.others + leases == 0)
		say(doctor, RESULT_FAIL, "operator", INSTALL,
		    "no MPI operator was found: MPIJobs would wait forever");
	/* Of operators that share a Lease, only one is leading. */
	if (seen && found.leased > 1)
		found.leased = 1;
	if (found.others + (leases > found.leased ? leases : found.leased) > 1)
		say(doctor, RESULT_FAIL, "two-operators",
		    "kubectl scale deployment NAME -n NAMESPACE --replicas=0",
		    "more than one operator reconciles MPIJobs: each job could get two launchers");
}

/* ---- the command ---- */

static int run_checks(struct doctor *doctor)
{
	static void (*const checks[])(struct doctor *) = { check_namespace, check_crd,
		check_operators, check_operator_rights, check_rights, check_queues, check_gangs,
		check_domain };

	check_context(doctor);
	int code = check_server(doctor);
	if (code)
		return code == MPIJOB_ERR_CANCELLED || code == MPIJOB_ERR_NOMEM ? code : 0;
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && doctor->code == 0; i++)
		checks[i](doctor);
	return doctor->code;
}

static int report(struct doctor *doctor)
{
	int code = mpijob_doc_error(doctor->report);

	return code ? code
		    : mpijob_node_write(mpijob_doc_root(doctor->report), MPIJOB_FORMAT_JSON,
			  file_write, stdout);
}

int doctor_command(const struct arguments *arguments)
{
	struct connection connection = { 0 };
	struct doctor doctor = { .arguments = arguments, .connection = &connection };

	if (arguments->operands.count) {
		fputs("mpijob: doctor checks the whole cluster; it takes no names\n", stderr);
		return EXIT_USAGE;
	}
	if (arguments->output && strcmp(arguments->output, "json") != 0) {
		print_to(stderr, "mpijob: -o %s: doctor prints json\n", arguments->output);
		return EXIT_USAGE;
	}
	int code = connection_open(&connection, arguments);
	if (code == 0) {
		connection_catch_signals(&connection);
		if (arguments->output)
			code = mpijob_doc_parse("[]", 2, NULL, &doctor.report, NULL);
		if (code == 0)
			code = run_checks(&doctor);
		if (code == 0 && doctor.report)
			code = report(&doctor);
		code = connection_exit(&connection, connection_report(&connection, code));
		if (code == 0 && doctor.failed)
			code = EXIT_FINDINGS;
	}
	mpijob_doc_free(doctor.report);
	free(doctor.subject);
	connection_close(&connection);
	return code;
}
