/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of the suite. They build on each other only through what they create and delete
 * themselves; all is labelled suite=1. What a server is free to do differently (numbers of
 * versions, texts, other objects) is not looked at.
 */
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- objects --- */

static const char *list_empty(struct suite_run *run)
{
	struct reply reply = ask(run, "GET", MAPS "?labelSelector=suite%3D1", NULL, NULL);
	const mpijob_node *root = reply.doc ? mpijob_doc_root(reply.doc) : NULL;
	const char *why = NULL;

	if (reply.status != 200 ||
	    mpijob_node_kind(mpijob_node_get(root, "items")) != MPIJOB_NODE_LIST ||
	    mpijob_node_count(mpijob_node_get(root, "items")) != 0 ||
	    !mpijob_node_find(root, "metadata.resourceVersion"))
		why = wrong(run, "status %d, %zu items", reply.status,
		    mpijob_node_count(mpijob_node_get(root, "items")));
	drop(&reply);
	return why;
}

static const char *create(struct suite_run *run)
{
	return expect(run, "POST", MAPS, JSON, MAP("suite-a", ""), 201, "metadata.uid", NULL);
}

static const char *create_again(struct suite_run *run)
{
	char reason[128];
	const char *why =
	    expect(run, "POST", MAPS, JSON, MAP("suite-a", ""), 409, "reason", reason);

	return why || strcmp(reason, "AlreadyExists") == 0 ? why
							   : wrong(run, "the reason is %s", reason);
}

static const char *get(struct suite_run *run)
{
	char name[128];
	const char *why =
	    expect(run, "GET", MAPS "/suite-a", NULL, NULL, 200, "metadata.name", name);

	return why || strcmp(name, "suite-a") == 0 ? why : wrong(run, "it is %s", name);
}

static const char *get_absent(struct suite_run *run)
{
	char reason[128];
	const char *why = expect(run, "GET", MAPS "/suite-none", NULL, NULL, 404, "reason", reason);

	return why || strcmp(reason, "NotFound") == 0 ? why
						      : wrong(run, "the reason is %s", reason);
}

static const char *select_by_label(struct suite_run *run)
{
	struct reply reply =
	    ask(run, "GET", MAPS "?labelSelector=suite%20in%20%281%2C2%29%2C%21none", NULL, NULL);
	size_t count = mpijob_node_count(
	    reply.doc ? mpijob_node_get(mpijob_doc_root(reply.doc), "items") : NULL);
	const char *why = reply.status == 200 && count == 1
			      ? NULL
			      : wrong(run, "status %d, %zu items", reply.status, count);

	drop(&reply);
	return why;
}

static const char *select_by_name(struct suite_run *run)
{
	struct reply reply =
	    ask(run, "GET", MAPS "?fieldSelector=metadata.name%3Dsuite-a", NULL, NULL);
	size_t count = mpijob_node_count(
	    reply.doc ? mpijob_node_get(mpijob_doc_root(reply.doc), "items") : NULL);
	const char *why = reply.status == 200 && count == 1
			      ? NULL
			      : wrong(run, "status %d, %zu items", reply.status, count);

	drop(&reply);
	return why;
}

static const char *merge_patch(struct suite_run *run)
{
	char value[128];
	const char *why = expect(run, "PATCH", MAPS "/suite-a", MERGE,
	    "{\"data\":{\"k\":\"1\",\"l\":null}}", 200, "data.k", value);

	return why || strcmp(value, "1") == 0 ? why : wrong(run, "data.k is %s", value);
}

/* The version of now, and what is written with the one before. */
static const char *stale_write(struct suite_run *run, const char *method, const char *type)
{
	char old[128], body[512], reason[128] = "";
	const char *why =
	    expect(run, "GET", MAPS "/suite-a", NULL, NULL, 200, "metadata.resourceVersion", old);

	why = first_of(why, simple(run, "PATCH", MAPS "/suite-a", MERGE,
				strcmp(method, "PUT") == 0 ? "{\"data\":{\"k\":\"2\"}}"
							   : "{\"data\":{\"k\":\"3\"}}",
				200));
	snprintf(body, sizeof(body), MAP("suite-a", ",\"resourceVersion\":\"%s\""), old);
	why =
	    first_of(why, expect(run, method, MAPS "/suite-a", type, body, 409, "reason", reason));
	return why || strcmp(reason, "Conflict") == 0 ? why
						      : wrong(run, "the reason is %s", reason);
}

static const char *stale_update(struct suite_run *run)
{
	return stale_write(run, "PUT", JSON);
}

static const char *stale_patch(struct suite_run *run)
{
	return stale_write(run, "PATCH", MERGE);
}

static const char *delete_other_uid(struct suite_run *run)
{
	return simple(run, "DELETE", MAPS "/suite-a", JSON,
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":"
	    "\"6b4c9a3e-0000-4000-8000-000000000001\"}}",
	    409);
}

static const char *delete_uid(struct suite_run *run)
{
	char uid[128], body[512];
	const char *why = expect(run, "GET", MAPS "/suite-a", NULL, NULL, 200, "metadata.uid", uid);

	snprintf(body, sizeof(body),
	    "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"preconditions\":{\"uid\":\"%s\"}}",
	    uid);
	why = first_of(why, simple(run, "DELETE", MAPS "/suite-a", JSON, body, 200));
	return first_of(why, simple(run, "GET", MAPS "/suite-a", NULL, NULL, 404));
}

static const char *bad_body(struct suite_run *run)
{
	return simple(run, "POST", MAPS, JSON, "{", 400);
}

static const char *bad_type(struct suite_run *run)
{
	return simple(run, "POST", MAPS, "text/plain", "x", 415);
}

static const char *no_such_kind(struct suite_run *run)
{
	return simple(run, "GET", "/apis/example.com/v1/namespaces/default/things", NULL, NULL,
	    404);
}

static const char *long_value(struct suite_run *run)
{
	size_t len = 300000;
	char *body = malloc(len + 256);
	struct reply reply;
	const char *why = NULL;
	int at;

	at = sprintf(body, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
			   "\"suite-long\",\"labels\":{\"suite\":\"1\"}},"
			   "\"data\":{\"k\":\"");
	memset(body + at, 'x', len);
	strcpy(body + at + len, "\"}}");
	reply = ask(run, "POST", MAPS, JSON, body);
	if (reply.status != 201)
		why = wrong(run, "status %d", reply.status);
	drop(&reply);
	reply = ask(run, "GET", MAPS "/suite-long", NULL, NULL);
	if (!why && (!reply.doc || mpijob_node_length(mpijob_node_find(mpijob_doc_root(reply.doc),
				       "data.k")) != len))
		why = wrong(run, "it came back otherwise");
	drop(&reply);
	free(body);
	return first_of(why, simple(run, "DELETE", MAPS "/suite-long", NULL, NULL, 200));
}

static const char *status_subresource(struct suite_run *run)
{
	const char *job =
	    "{\"apiVersion\":\"kubeflow.org/"
	    "v2beta1\",\"kind\":\"MPIJob\",\"metadata\":{\"name\":\"suite-job\"},\"spec\":"
	    "{\"runPolicy\":{\"suspend\":true},\"mpiReplicaSpecs\":{\"Launcher\":{\"template\":{"
	    "\"spec\":{\"containers\":"
	    "[{\"name\":\"l\",\"image\":\"i\"}]}}}}}}";
	char suspend[128] = "";
	const char *why = simple(run, "POST", JOBS, JSON, job, 201);

	why = first_of(why, simple(run, "PATCH", JOBS "/suite-job/status", MERGE,
				"{\"status\":{\"startTime\":\"2026-11-21T12:00:00Z\"},\"spec\":{"
				"\"runPolicy\":{\"suspend\":false}}}",
				200));
	why = first_of(why,
	    expect(run, "GET", JOBS "/suite-job", NULL, NULL, 200, "status.startTime", NULL));
	why = first_of(why, expect(run, "GET", JOBS "/suite-job", NULL, NULL, 200,
				"spec.runPolicy.suspend", suspend));
	(void)simple(run, "DELETE", JOBS "/suite-job", NULL, NULL, 200);
	return why || strcmp(suspend, "true") == 0
		   ? why
		   : wrong(run, "a patch of the status changed the spec");
}

/* --- what a cluster may not do --- */

static const char *pages(struct suite_run *run)
{
	return simple(run, "GET", MAPS "?limit=1", NULL, NULL, 200);
}

static const char *dry_run(struct suite_run *run)
{
	const char *why = simple(run, "POST", MAPS "?dryRun=All", JSON, MAP("suite-dry", ""), 201);

	return first_of(why, simple(run, "GET", MAPS "/suite-dry", NULL, NULL, 404));
}

static const char *strict(struct suite_run *run)
{
	return simple(run, "POST", MAPS "?fieldValidation=Strict", JSON,
	    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"suite-strict\"}"
	    ",\"spice\":1}",
	    400);
}

static const char *apply(struct suite_run *run)
{
	const char *why = simple(run, "PATCH", MAPS "/suite-apply?fieldManager=suite",
	    "application/apply-patch+yaml", MAP("suite-apply", ""), 201);

	return first_of(why, simple(run, "DELETE", MAPS "/suite-apply", NULL, NULL, 200));
}

static const char *patch_of(struct suite_run *run, const char *type, const char *patch)
{
	const char *why = simple(run, "POST", MAPS, JSON, MAP("suite-patch", ""), 201);

	why = first_of(why, simple(run, "PATCH", MAPS "/suite-patch", type, patch, 200));
	(void)simple(run, "DELETE", MAPS "/suite-patch", NULL, NULL, 200);
	return why;
}

static const char *json_patch(struct suite_run *run)
{
	return patch_of(run, "application/json-patch+json",
	    "[{\"op\":\"add\",\"path\":\"/data\",\"value\":{\"k\":\"1\"}}]");
}

static const char *strategic_patch(struct suite_run *run)
{
	return patch_of(run, "application/strategic-merge-patch+json", "{\"data\":{\"k\":\"1\"}}");
}

static const char *delete_many(struct suite_run *run)
{
	return simple(run, "DELETE", MAPS "?labelSelector=suite%3Dnone", NULL, NULL, 200);
}

const struct suite_check suite_checks[] = {
	{ "list", list_empty },
	{ "create", create },
	{ "create again: AlreadyExists", create_again },
	{ "get", get },
	{ "get what is not there", get_absent },
	{ "label selector", select_by_label },
	{ "field selector metadata.name", select_by_name },
	{ "merge patch", merge_patch },
	{ "update of an old version: Conflict", stale_update },
	{ "patch of an old version: Conflict", stale_patch },
	{ "delete with another uid: Conflict", delete_other_uid },
	{ "delete with its uid", delete_uid },
	{ "body that is no JSON", bad_body },
	{ "unknown content type", bad_type },
	{ "unknown kind", no_such_kind },
	{ "300 kB there and back", long_value },
	{ "status subresource", status_subresource },
	{ "watch: added, modified, deleted", watch_story },
	{ "watch goes on from a version", watch_resumes },
	{ "watch of a version that is forgotten: 410", watch_forgotten },
	{ "watch ends by timeoutSeconds", watch_ends },
	{ "cancel a stream", cancel_stream },
	{ "cancel before the first poll", cancel_before_poll },
	{ "pause a stream", pause_stream },
	{ "wake from another thread", wake_poll },
	{ "the host's own event loop", host_loop },
	{ "500 exchanges at once", many_at_once },
	{ "start inside of a callback", start_in_callback },
	{ "log of a pod that waits to start", log_of_pod },
	{ "a job: submit, suspend, scale, delete", jobs_life },
	{ "a job: apply", jobs_apply },
	{ "a refusal has its place in the file", jobs_refusal },
	{ "lists in pages", pages },
	{ "dry run", dry_run },
	{ "strict field validation", strict },
	{ "server-side apply", apply },
	{ "JSON patch", json_patch },
	{ "strategic merge patch", strategic_patch },
	{ "delete a collection", delete_many },
};

const size_t suite_check_count = sizeof(suite_checks) / sizeof(suite_checks[0]);
