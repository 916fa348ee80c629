/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The causes of what goes wrong with a job: a task that collects evidence and diagnoses it.
 *
 *     JOB -> PODS -> LAUNCHER -> EVENTS -> LOGS -> end
 *
 * LOGS is one request for each selected container. Only this file knows what is evidence, which
 * logs are most likely to name a cause, and that only the job itself must be readable: each other
 * request that fails is listed under "missing", and the task goes on.
 */
#include "base/api.h"
#include "base/clock.h"
#include "base/struct.h"
#include "client/jobs.h"
#include "client/jobs_findings.h"
#include "client/task.h"
#include "run/objects.h"

#include <mpijob/run.h>

#include <stdlib.h>

#define MOST_LAUNCHERS 4
#define MOST_WORKERS   16 /* of a job that goes on or has failed */
#define MOST_ALL       64 /* of one that has succeeded: all workers, or none */
#define LINES          "400"
#define BYTES          "65536"

/* The log of a container. The evidence owns the names. */
struct log {
	const char *pod, *container;
	int head;     /* the first bytes instead of the last lines */
	int previous; /* of the run before the last restart */
};

struct gathering {
	mpijob_task task;
	struct mpijob_target job; /* the task owns the strings */
	enum { JOB, PODS, LAUNCHER, EVENTS, LOGS } stage;
	mpijob_diag *said;            /* findings of the current request */
	mpijob_doc *evidence;         /* the result: launcher, pods, events, missing */
	mpijob_node *pod;             /* a pod that the caller saw, in `evidence`; or NULL */
	struct mpijob_log_tail *seen; /* lines that the caller saw, or NULL */
	struct log *logs;             /* to request */
	size_t logs_count, logs_at;
	mpijob_text text; /* of the log under way */
	struct mpijob_log_tail *tails;
	const struct mpijob_log_tail **pointers;
	size_t tails_count;
};

/* ---- what a request found ---- */

/* Note that something cannot be read. A task that was cancelled, or has no memory, ends. */
static int note_missing(struct gathering *this, const char *what, int code)
{
	const struct mpijob_finding *finding = mpijob_diag_at(this->said, 0);
	const char *why = finding ? finding->message : mpijob_error_text(code);
	mpijob_node *missing = mpijob_doc_make(this->evidence, "missing");

	if (code == MPIJOB_ERR_CANCELLED || code == MPIJOB_ERR_NOMEM)
		return code;
	mpijob_node_put_lossy(this->evidence, missing, what, why);
	return mpijob_doc_error(this->evidence);
}

static int take_job(struct gathering *this, int code, const mpijob_doc *doc)
{
	if (code == 0)
		code = mpijob_from_node(mpijob_doc_root(doc), mpijob_doc_source(doc),
		    &this->task.job, this->said);
	if (code && mpijob__client_jobs_place_findings(NULL, this->said, this->task.diag))
		code = MPIJOB_ERR_NOMEM;
	return code;
}

static const char *created_of(const struct gathering *this)
{
	return mpijob__run_text(mpijob_doc_root(mpijob_document(this->task.job)),
	    "metadata.creationTimestamp");
}

static mpijob_node *put_items(struct gathering *this, const char *key)
{
	return mpijob_node_put_list(this->evidence,
	    mpijob_node_put_map(this->evidence, mpijob_doc_edit(this->evidence, ""), key), "items");
}

static int take_pods(struct gathering *this, int code, const mpijob_doc *doc)
{
	const mpijob_node *items = mpijob_node_get(mpijob_doc_root(doc), "items");
	const char *last = mpijob__run_text(this->pod, "metadata.name");
	mpijob_node *list;

	if (code)
		return note_missing(this, "pods", code);
	list = put_items(this, "pods");
	for (size_t i = 0; i < mpijob_node_count(items); i++) {
		const mpijob_node *pod = mpijob_node_at(items, i);

		if (!mpijob__run_pod_is_of(pod, mpijob_uid(this->task.job), created_of(this)))
			continue;
		mpijob_node_append(this->evidence, list, mpijob_node_copy(this->evidence, pod));
		if (strcmp(mpijob__run_text(pod, "metadata.name"), last) == 0)
			this->pod = NULL;
	}
	return mpijob_doc_error(this->evidence);
}

static int take_launcher(struct gathering *this, int code, const mpijob_doc *doc)
{
	if (code == MPIJOB_ERR_NOT_FOUND)
		return 0;
	if (code)
		return note_missing(this, "the launcher's Job", code);
	mpijob_node_put_copy(this->evidence, mpijob_doc_edit(this->evidence, ""), "launcher",
	    mpijob_doc_root(doc));
	return mpijob_doc_error(this->evidence);
}

/* Whether an Event is about the job, or an object with a name that its objects have. An Event from
 * before the job is about an earlier one with the same name. */
static int is_about(const struct gathering *this, const mpijob_node *event)
{
	const char *about = mpijob__run_text(event, "involvedObject.name"), *name = this->job.name;
	const char *last = mpijob__run_text(event, "lastTimestamp");
	size_t len = strlen(name);

	if (!*last)
		last = mpijob__run_text(event, "eventTime");
	if (strncmp(about, name, len) != 0 || (*last && strncmp(last, created_of(this), 19) < 0))
		return 0;
	return about[len] == '\0' || strncmp(about + len, "-launcher", 9) == 0 ||
	       strncmp(about + len, "-worker-", 8) == 0;
}

static int take_events(struct gathering *this, int code, const mpijob_doc *doc)
{
	const mpijob_node *items = mpijob_node_get(mpijob_doc_root(doc), "items");
	mpijob_node *list;

	if (code)
		return note_missing(this, "events", code);
	list = put_items(this, "events");
	for (size_t i = 0; i < mpijob_node_count(items); i++)
		if (is_about(this, mpijob_node_at(items, i)))
			mpijob_node_append(this->evidence, list,
			    mpijob_node_copy(this->evidence, mpijob_node_at(items, i)));
	return mpijob_doc_error(this->evidence);
}

static void add_tail(struct gathering *this, const struct mpijob_log_tail *tail)
{
	this->tails[this->tails_count] = *tail;
	this->pointers[this->tails_count] = &this->tails[this->tails_count];
	this->tails_count++;
}

/* A container that has ended may take its log with it; that is not worth a line. */
static int take_log(struct gathering *this, int code, const mpijob_doc *doc)
{
	const struct log *log = &this->logs[this->logs_at++];
	struct mpijob_log_tail tail = MPIJOB_LOG_TAIL_INIT;
	char *what;

	(void)doc;
	this->task.body = NULL;
	if (code == 0) {
		tail.pod = log->pod;
		tail.container = log->container;
		tail.len = this->text.len;
		tail.text = mpijob__base_arena_copy(&this->task.strings,
		    mpijob_text_data(&this->text), tail.len);
		if (!tail.text)
			return MPIJOB_ERR_NOMEM;
		add_tail(this, &tail);
		return 0;
	}
	if (code != MPIJOB_ERR_AUTH && code != MPIJOB_ERR_IO && code != MPIJOB_ERR_UNREACHABLE &&
	    code != MPIJOB_ERR_NOMEM && code != MPIJOB_ERR_CANCELLED)
		return 0;
	what = mpijob__base_text_format("the log of pod %s", log->pod);
	code = what ? note_missing(this, what, code) : MPIJOB_ERR_NOMEM;
	free(what);
	return code;
}

/* ---- which logs ---- */

static void select_log(struct gathering *this, const mpijob_node *pod, int head, int previous)
{
	const char *container = mpijob__run_text(pod, "spec.containers[0].name");
	const char *name = mpijob__run_text(pod, "metadata.name");

	if (*container && *name)
		this->logs[this->logs_count++] = (struct log){ name, container, head, previous };
}

/* Select at most `left` pods of that role in that phase, the last ones first. */
static void select_pods(struct gathering *this, const char *role, const char *phase, size_t *left,
    int head)
{
	const mpijob_node *items = mpijob_node_find(mpijob_doc_root(this->evidence), "pods.items");

	for (size_t i = mpijob_node_count(items); i-- > 0 && *left > 0;) {
		const mpijob_node *pod = mpijob_node_at(items, i);
		int64_t restarts = 0;

		if (!mpijob__run_pod_has_role(pod, role) ||
		    strcmp(mpijob__run_text(pod, "status.phase"), phase) != 0)
			continue;
		(*left)--;
		select_log(this, pod, head, 0);
		mpijob_node_int(mpijob_node_find(pod, "status.containerStatuses[0].restartCount"),
		    &restarts);
		if (restarts > 0 && !head && strcmp(phase, "Succeeded") != 0)
			select_log(this, pod, 0, 1);
	}
}

static size_t count_workers(const struct gathering *this)
{
	const mpijob_node *items = mpijob_node_find(mpijob_doc_root(this->evidence), "pods.items");
	size_t count = 0;

	for (size_t i = 0; i < mpijob_node_count(items); i++)
		count += (size_t)mpijob__run_pod_has_role(mpijob_node_at(items, i), "worker");
	return count;
}

/* Of a job that has succeeded, an earlier attempt explains nothing, and the first lines of all
 * workers show whether they were used. */
static int select_logs(struct gathering *this)
{
	static const char *const phases[] = { "Failed", "Running", "Succeeded" };
	const mpijob_node *job = mpijob_doc_root(mpijob_document(this->task.job));
	int succeeded = mpijob_condition_find(job, "Succeeded", "True") != NULL;
	size_t launchers = MOST_LAUNCHERS, workers = MOST_WORKERS, most;

	if (succeeded)
		workers = count_workers(this) <= MOST_ALL ? MOST_ALL : 0;
	most = 2 * (launchers + workers);
	this->logs = calloc(most, sizeof(*this->logs));
	this->tails = calloc(most + 1, sizeof(*this->tails));
	this->pointers = calloc(most + 1, sizeof(*this->pointers));
	if (!this->logs || !this->tails || !this->pointers)
		return MPIJOB_ERR_NOMEM;
	for (size_t i = succeeded ? 2 : 0; i < 3; i++)
		select_pods(this, "launcher", phases[i], &launchers, 0);
	for (size_t i = 0; i < 3; i++)
		select_pods(this, "worker", phases[i], &workers, succeeded);
	return 0;
}

/* ---- the end ---- */

/* Add what the caller saw, unless the cluster still shows it. */
static void add_seen(struct gathering *this)
{
	mpijob_node *pods = mpijob_doc_edit(this->evidence, "pods.items");

	if (this->pod && pods)
		mpijob_node_append(this->evidence, pods, this->pod);
	for (size_t i = 0; this->seen && i < this->tails_count; i++)
		if (strcmp(this->tails[i].pod, this->seen->pod) == 0)
			this->seen = NULL;
	if (this->seen)
		add_tail(this, this->seen);
}

static int diagnose(struct gathering *this)
{
	struct mpijob_evidence evidence = MPIJOB_EVIDENCE_INIT;
	const mpijob_node *root = mpijob_doc_root(this->evidence);
	int rc;

	add_seen(this);
	evidence.job = this->task.job;
	evidence.launcher = mpijob_node_get(root, "launcher");
	evidence.pods = mpijob_node_get(root, "pods");
	evidence.events = mpijob_node_get(root, "events");
	evidence.logs = this->pointers;
	evidence.logs_count = this->tails_count;
	evidence.now_ms = mpijob__base_clock_wall_ms();
	mpijob_diag_clear(this->said);
	rc = mpijob_doc_error(this->evidence);
	if (rc == 0)
		rc = mpijob_diagnose(&evidence, this->task.diag ? this->task.diag : this->said);
	this->task.doc = this->evidence;
	this->evidence = NULL;
	return rc;
}

/* ---- requests ---- */

static int request_list(struct gathering *this)
{
	struct mpijob_task_callbacks callbacks = mpijob__client_task_child_callbacks(&this->task);
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	const char *query[] = { "labelSelector", NULL };
	char *selector;
	int rc;

	if (this->stage == EVENTS)
		return mpijob_client_events_start(this->task.client, this->job.namespace_, NULL,
		    NULL, NULL, &callbacks, &this->task.child, this->said);
	selector = mpijob__base_text_format(MPIJOB__BASE_API_LABEL_JOB_NAME "=%s", this->job.name);
	if (!selector)
		return MPIJOB_ERR_NOMEM;
	query[1] = selector;
	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = this->job.namespace_;
	target.query = query;
	target.query_count = 2;
	rc = mpijob_client_list_start(this->task.client, &target, 0, &callbacks, &this->task.child,
	    this->said);
	free(selector);
	return rc;
}

static int request_launcher(struct gathering *this)
{
	char *name = mpijob__base_text_format("%s-launcher", this->job.name);
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	int rc;

	if (!name)
		return MPIJOB_ERR_NOMEM;
	target.api_version = MPIJOB__BASE_API_BATCH;
	target.kind = "Job";
	target.namespace_ = this->job.namespace_;
	target.name = name;
	rc = mpijob__client_task_request(&this->task, "GET", &target, NULL, NULL, 1, this->said);
	free(name);
	return rc;
}

static int request_log(struct gathering *this)
{
	const struct log *log = &this->logs[this->logs_at];
	const char *query[] = { "container", log->container, "limitBytes", BYTES, "previous",
		log->previous ? "true" : "false", "tailLines", LINES };
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = this->job.namespace_;
	target.name = log->pod;
	target.subresource = "log";
	target.query = query;
	target.query_count = log->head ? 6 : 8;
	mpijob_text_clear(&this->text);
	this->task.body = &this->text;
	return mpijob__client_task_request(&this->task, "GET", &target, NULL, NULL, 0, this->said);
}

/* Send the request of the stage. Returns MPIJOB__CLIENT_TASK_WAITS, or the result of the task. */
static int send(struct gathering *this)
{
	int rc;

	mpijob_diag_clear(this->said);
	if (this->stage == LAUNCHER)
		return request_launcher(this);
	if (this->stage == LOGS && !this->logs && (rc = select_logs(this)) != 0)
		return rc;
	if (this->stage == LOGS)
		return this->logs_at < this->logs_count ? request_log(this) : diagnose(this);
	rc = request_list(this);
	return rc ? mpijob__client_task_request_failed(&this->task, rc) : MPIJOB__CLIENT_TASK_WAITS;
}

static int step(mpijob_task *task, int code, mpijob_doc *doc)
{
	static int (*const take[])(struct gathering *, int, const mpijob_doc *) = { take_job,
		take_pods, take_launcher, take_events, take_log };
	struct gathering *this = (struct gathering *)task;

	code = take[this->stage](this, code, doc);
	mpijob_doc_free(doc);
	if (code)
		return code;
	if (this->stage != LOGS)
		this->stage++;
	return send(this);
}

static void release(mpijob_task *task)
{
	struct gathering *this = (struct gathering *)task;

	mpijob_diag_free(this->said);
	mpijob_doc_free(this->evidence);
	mpijob__base_text_release(&this->text);
	free(this->logs);
	free(this->tails);
	free(this->pointers);
}

/* Copy what the caller saw. */
static int copy_seen(struct gathering *this, const struct mpijob_run_diagnose_options *options)
{
	struct mpijob_log_tail *tail;
	int rc = 0;

	this->pod = options->pod ? mpijob_node_copy(this->evidence, options->pod) : NULL;
	if (!options->log)
		return mpijob_doc_error(this->evidence);
	tail = mpijob__base_arena_alloc(&this->task.strings, sizeof(*tail));
	if (!tail)
		return MPIJOB_ERR_NOMEM;
	rc = mpijob__base_struct_check(tail, sizeof(*tail), options->log);
	if (rc == 0 && !tail->text && tail->len)
		rc = MPIJOB_ERR_USAGE;
	if (rc)
		return rc;
	tail->pod = mpijob__client_task_copy(&this->task, tail->pod, &rc);
	tail->container = mpijob__client_task_copy(&this->task, tail->container, &rc);
	tail->text =
	    tail->text ? mpijob__base_arena_copy(&this->task.strings, tail->text, tail->len) : NULL;
	if (tail->len && !tail->text)
		rc = MPIJOB_ERR_NOMEM;
	this->seen = tail->pod ? tail : NULL;
	return rc ? rc : mpijob_doc_error(this->evidence);
}

static int begin(struct gathering *this, const struct mpijob_run_diagnose_options *given)
{
	struct mpijob_run_diagnose_options options = MPIJOB_RUN_DIAGNOSE_OPTIONS_INIT;
	int rc = given ? mpijob__base_struct_check(&options, sizeof(options), given) : 0;

	this->said = mpijob_diag_new();
	this->evidence = mpijob_doc_new();
	if (rc == 0 && (!this->said || !this->evidence))
		rc = MPIJOB_ERR_NOMEM;
	if (rc == 0)
		mpijob_node_put_map(this->evidence, mpijob_doc_edit(this->evidence, ""), "missing");
	return rc ? rc : copy_seen(this, &options);
}

int mpijob_run_diagnose_start(mpijob_client *client, const char *namespace_, const char *name,
    const struct mpijob_run_diagnose_options *options,
    const struct mpijob_task_callbacks *callbacks, mpijob_task **out, mpijob_diag *diag)
{
	struct mpijob_target target;
	struct gathering *this;
	mpijob_task *task = NULL;
	int rc = mpijob__client_jobs_task(sizeof(*this), client, namespace_, name, callbacks, out,
	    diag, &target, &task);

	if (rc)
		return rc;
	this = (struct gathering *)task;
	this->job = target;
	task->step = step;
	task->release = release;
	rc = begin(this, options);
	if (rc == 0)
		rc = mpijob__client_task_request(task, "GET", &target, NULL, NULL, 1, this->said);
	return mpijob__client_task_started(task, rc);
}
