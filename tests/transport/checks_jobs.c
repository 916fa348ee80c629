/* SPDX-License-Identifier: Apache-2.0 */
/* The typed calls for MPIJobs: what they ask of a server must be what every server understands. */
#include "suite.h"

#include <string.h>

static const char text[] =
    "apiVersion: kubeflow.org/v2beta1\n"
    "kind: MPIJob\n"
    "metadata: {name: suite-typed}\n"
    "spec:\n"
    "  runPolicy: {suspend: false}\n"
    "  mpiReplicaSpecs:\n"
    "    Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}\n"
    "    Worker: {replicas: 1, template: {spec: {containers: [{name: w, image: i}]}}}\n";

static const char wrong_text[] =
    "apiVersion: kubeflow.org/v2beta1\n"
    "kind: MPIJob\n"
    "metadata: {name: suite-wrong}\n"
    "spec:\n"
    "  mpiReplicaSpecs:\n"
    "    Launcher: {template: {spec: {containers: [{name: l, image: i}]}}}\n"
    "  spice: salt\n";

static int submit_with(struct suite_run *run, const char *yaml,
    const struct mpijob_submit_options *submit_options, mpijob **stored, mpijob_diag *diag)
{
	struct mpijob_parse_options options = MPIJOB_PARSE_OPTIONS_INIT;
	mpijob *job = NULL;
	int code;

	options.source = "job.yaml";
	code = mpijob_parse(yaml, strlen(yaml), &options, &job, NULL);
	if (code == 0)
		code = mpijob_client_submit(run->client, job, submit_options, stored, diag);
	mpijob_free(job);
	return code;
}

static int submit(struct suite_run *run, const char *yaml, mpijob **stored, mpijob_diag *diag)
{
	return submit_with(run, yaml, NULL, stored, diag);
}

static const char *look(struct suite_run *run, int suspended, int64_t workers)
{
	mpijob *job = NULL;
	int code = mpijob_client_get_job(run->client, "default", "suite-typed", &job, NULL),
	    given = -1;
	const mpijob_node *root = code ? NULL : mpijob_doc_root(mpijob_document(job));
	int64_t count = -1;
	const char *why = NULL;

	(void)mpijob_node_bool(mpijob_node_find(root, "spec.runPolicy.suspend"), &given);
	(void)mpijob_node_int(mpijob_node_find(root, "spec.mpiReplicaSpecs.Worker.replicas"),
	    &count);
	if (code || given != suspended || count != workers)
		why = wrong(run, "%s, suspend %d, %d workers", mpijob_error_name(code), given,
		    (int)count);
	mpijob_free(job);
	return why;
}

static const char *expect_code(struct suite_run *run, const char *what, int code, int wanted)
{
	return code == wanted ? NULL
			      : wrong(run, "%s: %s and not %s", what, mpijob_error_name(code),
				    mpijob_error_name(wanted));
}

const char *jobs_life(struct suite_run *run)
{
	mpijob_doc *events = NULL;
	mpijob *stored = NULL;
	mpijob_client *client = run->client;
	const char *why = expect_code(run, "submit", submit(run, text, &stored, NULL), 0);

	if (why)
		return why;
	why = expect_code(run, "submit again", submit(run, text, NULL, NULL), MPIJOB_ERR_CONFLICT);
	why =
	    first_of(why, expect_code(run, "suspend",
			      mpijob_client_suspend(client, "default", "suite-typed", 1, NULL), 0));
	why = first_of(why, look(run, 1, 1));
	why = first_of(why, expect_code(run, "scale",
				mpijob_client_scale(client, "default", "suite-typed", 3, 2, NULL),
				MPIJOB_ERR_CONFLICT));
	why = first_of(why,
	    expect_code(run, "scale",
		mpijob_client_scale(client, "default", "suite-typed", 3, 1, NULL), 0));
	why =
	    first_of(why, expect_code(run, "resume",
			      mpijob_client_suspend(client, "default", "suite-typed", 0, NULL), 0));
	why = first_of(why, look(run, 0, 3));
	why = first_of(why, expect_code(run, "events",
				mpijob_client_events(client, "default", "MPIJob", "suite-typed",
				    mpijob_uid(stored), &events, NULL),
				0));
	why = first_of(why, expect_code(run, "delete",
				mpijob_client_delete_job(client, "default", "suite-typed",
				    mpijob_uid(stored), NULL, NULL),
				0));
	why = first_of(why,
	    expect_code(run, "delete again",
		mpijob_client_delete_job(client, "default", "suite-typed", NULL, NULL, NULL),
		MPIJOB_ERR_NOT_FOUND));
	mpijob_doc_free(events);
	mpijob_free(stored);
	return why;
}

const char *jobs_apply(struct suite_run *run)
{
	struct mpijob_submit_options options = MPIJOB_SUBMIT_OPTIONS_INIT;
	static const char other[] = "apiVersion: kubeflow.org/v2beta1\n"
				    "kind: MPIJob\n"
				    "metadata: {name: suite-typed}\n"
				    "spec: {mpiReplicaSpecs: {Worker: {replicas: 5}}}\n";
	mpijob_diag *diag = mpijob_diag_new();
	const char *why;
	int code;

	options.apply = 1;
	code = submit_with(run, text, &options, NULL, NULL);
	if (code == MPIJOB_ERR_UNSUPPORTED) {
		mpijob_diag_free(diag);
		return SUITE_UNSUPPORTED;
	}
	why = expect_code(run, "apply", code, 0);
	why = first_of(why,
	    expect_code(run, "apply again", submit_with(run, text, &options, NULL, NULL), 0));
	why = first_of(why, look(run, 0, 1));
	options.field_manager = "another";
	why =
	    first_of(why, expect_code(run, "apply what is owned",
			      submit_with(run, other, &options, NULL, diag), MPIJOB_ERR_CONFLICT));
	if (!why && (mpijob_diag_count(diag, 0) != 1 || mpijob_diag_at(diag, 0)->line != 4))
		why = wrong(run, "%zu findings about the conflict, field %s",
		    mpijob_diag_count(diag, 0),
		    mpijob_diag_at(diag, 0) ? mpijob_diag_at(diag, 0)->field : "");
	options.force = 1;
	why = first_of(why,
	    expect_code(run, "apply by force", submit_with(run, other, &options, NULL, NULL), 0));
	why = first_of(why, look(run, 0, 5));
	(void)mpijob_client_delete_job(run->client, "default", "suite-typed", NULL, NULL, NULL);
	mpijob_diag_free(diag);
	return why;
}

const char *jobs_refusal(struct suite_run *run)
{
	mpijob_diag *diag = mpijob_diag_new();
	int code = submit(run, wrong_text, NULL, diag);
	const struct mpijob_finding *finding = mpijob_diag_at(diag, 0);
	const char *why = NULL;

	if (code == 0)
		why = "accepted";
	else if (code != MPIJOB_ERR_REJECTED || !finding)
		why = wrong(run, "%s", mpijob_error_name(code));
	else if (strcmp(finding->id, "server-unknown-field") != 0 || finding->line != 7)
		why = wrong(run, "%s at line %d: %s", finding->id, (int)finding->line,
		    finding->message);
	mpijob_diag_free(diag);
	if (code == 0)
		(void)mpijob_client_delete_job(run->client, "default", "suite-wrong", NULL, NULL,
		    NULL);
	return why;
}
