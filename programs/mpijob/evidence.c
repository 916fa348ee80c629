/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Knows where a cluster keeps what it shows of a job, and that most of it may be gone, or not ours
 * to see: each look that fails is noted, and the others go on. Of logs it takes few and short
 * pieces, those that tell something first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "evidence.h"

#include "base/api.h"

#define MOST_LAUNCHERS 4
#define MOST_WORKERS   16 /* of a job that goes on or failed */
#define MOST_ALL       64 /* of one that ended well: of all or of none */
#define LINES          "400"
#define BYTES          "65536"

const char *pod_role(const mpijob_node *pod)
{
	const char *role = mpijob_node_string(
	    mpijob_node_find(pod, "metadata.labels[" MPIJOB__BASE_API_LABEL_JOB_ROLE "]"));

	return role ? role : "";
}

/* Workers have the job as owner; a launcher has its Job, but cannot be older than both. */
int pod_is_of(const mpijob_node *pod, const char *uid, const char *created)
{
	const mpijob_node *owners = mpijob_node_find(pod, "metadata.ownerReferences");
	const char *made = mpijob_node_string(mpijob_node_find(pod, "metadata.creationTimestamp"));

	for (size_t i = 0; uid && i < mpijob_node_count(owners); i++) {
		const char *kind =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(owners, i), "kind"));
		const char *owner =
		    mpijob_node_string(mpijob_node_get(mpijob_node_at(owners, i), "uid"));
		if (kind && owner && strcmp(kind, MPIJOB__BASE_API_KIND) == 0)
			return strcmp(owner, uid) == 0;
	}
	return !created || !made || strcmp(made, created) >= 0;
}

const char *text_at(const mpijob_node *node, const char *path)
{
	const char *text = mpijob_node_string(mpijob_node_find(node, path));

	return text ? text : "";
}

const mpijob_node *condition_of(const mpijob_node *object, const char *type)
{
	const mpijob_node *conditions = mpijob_node_find(object, "status.conditions");

	for (size_t i = 0; i < mpijob_node_count(conditions); i++) {
		const mpijob_node *condition = mpijob_node_at(conditions, i);
		const char *has = mpijob_node_string(mpijob_node_get(condition, "type"));
		if (has && strcasecmp(has, type) == 0)
			return condition;
	}
	return NULL;
}

int condition_is(const mpijob_node *object, const char *type, const char *status)
{
	const char *has = mpijob_node_string(mpijob_node_get(condition_of(object, type), "status"));

	return has && strcmp(has, status) == 0;
}

static int miss(struct seen *seen, const char *what, int code, const mpijob_diag *diag)
{
	const struct mpijob_finding *finding = mpijob_diag_at(diag, 0);
	char *line = NULL;

	if (code == MPIJOB_ERR_CANCELLED || code == MPIJOB_ERR_NOMEM)
		return code;
	if (asprintf(&line, "%s: %s\n", what,
		finding ? finding->message : mpijob_error_text(code)) < 0)
		return MPIJOB_ERR_NOMEM;
	code = mpijob_text_write(seen->missing, line, strlen(line));
	free(line);
	return code;
}

static char *join(const char *left, const char *right)
{
	char *text = NULL;

	return asprintf(&text, "%s%s", left, right) < 0 ? NULL : text;
}

static int look_at_pods(struct seen *seen, mpijob_client *client, const char *namespace_,
    const char *name, mpijob_diag *diag)
{
	char *selector = join(MPIJOB__BASE_API_LABEL_JOB_NAME "=", name);
	const char *query[] = { "labelSelector", selector };
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = namespace_;
	target.query = query;
	target.query_count = 2;
	int code =
	    selector ? mpijob_client_list(client, &target, 0, &seen->pods, diag) : MPIJOB_ERR_NOMEM;
	free(selector);
	if (code)
		return miss(seen, "pods", code, diag);
	const mpijob_node *job = mpijob_doc_root(mpijob_document(seen->job));
	const char *uid = mpijob_node_string(mpijob_node_find(job, "metadata.uid"));
	const char *created =
	    mpijob_node_string(mpijob_node_find(job, "metadata.creationTimestamp"));
	mpijob_node *items = mpijob_doc_find(seen->pods, "items");
	for (size_t i = mpijob_node_count(items); i-- > 0;)
		if (!pod_is_of(mpijob_node_at(items, i), uid, created))
			mpijob_node_remove_at(items, i);
	return 0;
}

static int look_at_launcher(struct seen *seen, mpijob_client *client, const char *namespace_,
    const char *name, mpijob_diag *diag)
{
	char *launcher = join(name, "-launcher");
	struct mpijob_target target = MPIJOB_TARGET_INIT;

	target.api_version = MPIJOB__BASE_API_BATCH;
	target.kind = "Job";
	target.namespace_ = namespace_;
	target.name = launcher;
	int code =
	    launcher ? mpijob_client_get(client, &target, &seen->launcher, diag) : MPIJOB_ERR_NOMEM;
	free(launcher);
	return code && code != MPIJOB_ERR_NOT_FOUND ? miss(seen, "the launcher's Job", code, diag)
						    : 0;
}

/* Whether an Event is about the job or something whose name begins as those of its objects. */
static int is_ours(const mpijob_node *event, const char *name)
{
	const char *about = mpijob_node_string(mpijob_node_find(event, "involvedObject.name"));
	size_t len = strlen(name);

	if (!about || strncmp(about, name, len) != 0)
		return 0;
	return about[len] == '\0' || strncmp(about + len, "-launcher", 9) == 0 ||
	       strncmp(about + len, "-worker-", 8) == 0;
}

/* An older job of the same name has events too: those before this one was made are not of it. */
static int is_since(const mpijob_node *event, const char *created)
{
	const char *last = mpijob_node_string(mpijob_node_get(event, "lastTimestamp"));

	if (!last || !*last)
		last = mpijob_node_string(mpijob_node_get(event, "eventTime"));
	return !last || strncmp(last, created, 19) >= 0;
}

static int look_at_events(struct seen *seen, mpijob_client *client, const char *namespace_,
    const char *name, mpijob_diag *diag)
{
	const char *created =
	    mpijob_node_string(mpijob_node_find(mpijob_doc_root(mpijob_document(seen->job)),
		"metadata.creationTimestamp"));
	mpijob_doc *all = NULL;
	int code = mpijob_client_events(client, namespace_, NULL, NULL, NULL, &all, diag);

	if (code)
		return miss(seen, "events", code, diag);
	seen->events = mpijob_doc_new();
	mpijob_node *list =
	    mpijob_node_put_list(seen->events, mpijob_doc_edit(seen->events), "items");
	const mpijob_node *items = mpijob_node_get(mpijob_doc_root(all), "items");
	for (size_t i = 0; i < mpijob_node_count(items); i++) {
		const mpijob_node *event = mpijob_node_at(items, i);
		if (is_ours(event, name) && is_since(event, created ? created : ""))
			mpijob_node_append(seen->events, list,
			    mpijob_node_copy(seen->events, event));
	}
	mpijob_doc_free(all);
	return mpijob_doc_error(seen->events);
}

int seen_gather(struct seen *seen, mpijob_client *client, const char *namespace_, const char *name,
    mpijob_diag *diag)
{
	static int (*const looks[])(struct seen *, mpijob_client *, const char *, const char *,
	    mpijob_diag *) = { look_at_pods, look_at_launcher, look_at_events };

	seen->missing = mpijob_text_new();
	int code = seen->missing ? mpijob_client_get_job(client, namespace_, name, &seen->job, diag)
				 : MPIJOB_ERR_NOMEM;
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]) && code == 0; i++) {
		mpijob_diag *own = mpijob_diag_new();
		code = own ? looks[i](seen, client, namespace_, name, own) : MPIJOB_ERR_NOMEM;
		mpijob_diag_free(own);
	}
	return code;
}

/* ---- logs ---- */

struct fetch {
	mpijob_text *text;
	int over;
	int code;
	char *message;
};

static void fetched(void *user, const struct mpijob_answer *answer)
{
	struct fetch *fetch = user;

	fetch->over = 1;
	fetch->code = answer->code;
	if (answer->code)
		fetch->message = answer->message ? strdup(answer->message) : NULL;
	else
		fetch->code = mpijob_text_write(fetch->text, answer->body, answer->body_len);
}

/* A log is no JSON, so it is not for mpijob_client_get(). */
static int fetch_log(mpijob_client *client, const mpijob_node *pod, const char *container,
    int first, int previous, struct fetch *fetch)
{
	const char *query[] = { "container", container, "limitBytes", BYTES, "previous",
		previous ? "true" : "false", "tailLines", LINES };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	struct mpijob_callbacks callbacks = MPIJOB_CALLBACKS_INIT;
	mpijob_text *path = mpijob_text_new();

	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = mpijob_node_string(mpijob_node_find(pod, "metadata.namespace"));
	target.name = mpijob_node_string(mpijob_node_find(pod, "metadata.name"));
	target.subresource = "log";
	target.query = query;
	target.query_count = first ? 6 : 8;
	int code = path ? mpijob_target_write(&target, mpijob_text_write, path) : MPIJOB_ERR_NOMEM;
	request.method = "GET";
	request.path = path ? mpijob_text_data(path) : NULL;
	callbacks.done = fetched;
	callbacks.user = fetch;
	if (code == 0)
		code = mpijob_client_start(client, &request, &callbacks, NULL);
	while (code == 0 && !fetch->over)
		code = mpijob_client_poll(client, -1);
	mpijob_text_free(path);
	return code ? code : fetch->code;
}

static int keep(struct seen *seen, const char *pod, const char *container, mpijob_text *text)
{
	size_t count = seen->tails_count + 1;
	struct mpijob_log_tail *tails = realloc(seen->tails, count * sizeof(*tails));
	if (tails)
		seen->tails = tails;
	mpijob_text **texts = realloc(seen->texts, count * sizeof(*texts));
	if (texts)
		seen->texts = texts;
	const struct mpijob_log_tail **pointers =
	    realloc(seen->pointers, count * sizeof(*pointers));
	if (pointers)
		seen->pointers = pointers;
	if (!tails || !texts || !pointers) {
		mpijob_text_free(text);
		return MPIJOB_ERR_NOMEM;
	}
	struct mpijob_log_tail *tail = &tails[count - 1];
	*tail = (struct mpijob_log_tail)MPIJOB_LOG_TAIL_INIT;
	tail->pod = pod;
	tail->container = container;
	tail->text = mpijob_text_data(text);
	tail->len = mpijob_text_len(text);
	texts[count - 1] = text;
	seen->tails_count = count;
	for (size_t i = 0; i < count; i++)
		pointers[i] = &tails[i];
	return 0;
}

static int add_log(struct seen *seen, mpijob_client *client, const mpijob_node *pod, int first,
    int previous)
{
	const char *container =
	    mpijob_node_string(mpijob_node_find(pod, "spec.containers[0].name"));
	const char *name = mpijob_node_string(mpijob_node_find(pod, "metadata.name"));
	struct fetch fetch = { mpijob_text_new(), 0, 0, NULL };
	char *line = NULL;

	int code = fetch.text ? 0 : MPIJOB_ERR_NOMEM;
	if (code == 0 && container && name)
		code = fetch_log(client, pod, container, first, previous, &fetch);
	if (code == 0 && container && name) {
		code = keep(seen, name, container, fetch.text);
		fetch.text = NULL;
	} else if (code != MPIJOB_ERR_NOMEM && code != MPIJOB_ERR_CANCELLED && code != 0) {
		/* The end of a container takes its log with it; that is no news. */
		int tell = code == MPIJOB_ERR_AUTH || code == MPIJOB_ERR_IO ||
			   code == MPIJOB_ERR_UNREACHABLE;
		if (asprintf(&line, "the log of pod %s: %s\n", name,
			fetch.message ? fetch.message : mpijob_error_text(code)) < 0)
			line = NULL;
		code = tell && line ? mpijob_text_write(seen->missing, line, strlen(line)) : 0;
	}
	mpijob_text_free(fetch.text);
	free(fetch.message);
	free(line);
	return code;
}

static int is_phase(const mpijob_node *pod, const char *phase)
{
	const char *has = mpijob_node_string(mpijob_node_find(pod, "status.phase"));

	return has && strcmp(has, phase) == 0;
}

static int64_t restarts(const mpijob_node *pod)
{
	int64_t count = 0;

	mpijob_node_int(mpijob_node_find(pod, "status.containerStatuses[0].restartCount"), &count);
	return count;
}

/* Logs of at most so many pods of that role that are in that phase. */
static int add_logs(struct seen *seen, mpijob_client *client, const char *role, const char *phase,
    size_t *left, int first)
{
	const mpijob_node *items = mpijob_node_get(mpijob_doc_root(seen->pods), "items");
	int code = 0;

	for (size_t i = mpijob_node_count(items); i-- > 0 && *left > 0 && code == 0;) {
		const mpijob_node *pod = mpijob_node_at(items, i);
		if (strcmp(pod_role(pod), role) != 0 || !is_phase(pod, phase))
			continue;
		(*left)--;
		code = add_log(seen, client, pod, first, 0);
		if (code == 0 && restarts(pod) > 0 && !first && !is_phase(pod, "Succeeded"))
			code = add_log(seen, client, pod, 0, 1);
	}
	return code;
}

static size_t count_workers(const struct seen *seen)
{
	const mpijob_node *items = mpijob_node_get(mpijob_doc_root(seen->pods), "items");
	size_t count = 0;

	for (size_t i = 0; i < mpijob_node_count(items); i++)
		count += strcmp(pod_role(mpijob_node_at(items, i)), "worker") == 0;
	return count;
}

int seen_add_logs(struct seen *seen, mpijob_client *client)
{
	static const char *const phases[] = { "Failed", "Running", "Succeeded" };
	int succeeded =
	    condition_is(mpijob_doc_root(mpijob_document(seen->job)), "Succeeded", "True");
	size_t launchers = MOST_LAUNCHERS, workers = MOST_WORKERS;
	int code = 0;

	if (!seen->pods)
		return 0;
	if (succeeded)
		workers = count_workers(seen) <= MOST_ALL ? MOST_ALL : 0;
	/* An attempt that failed before explains nothing of a job that ended well. */
	for (size_t i = succeeded ? 2 : 0; i < 3 && code == 0; i++)
		code = add_logs(seen, client, "launcher", phases[i], &launchers, 0);
	for (size_t i = 0; i < 3 && code == 0; i++)
		code = add_logs(seen, client, "worker", phases[i], &workers, succeeded);
	return code;
}

int seen_keep_tail(struct seen *seen, const char *pod, const char *text, size_t len)
{
	for (size_t i = 0; i < seen->tails_count; i++)
		if (strcmp(seen->tails[i].pod, pod) == 0)
			return 0;
	mpijob_text *copy = mpijob_text_new();
	if (!copy || mpijob_text_write(copy, text, len)) {
		mpijob_text_free(copy);
		return MPIJOB_ERR_NOMEM;
	}
	return keep(seen, pod, NULL, copy);
}

int seen_diagnose(const struct seen *seen, int64_t now_ms, mpijob_diag *diag)
{
	struct mpijob_evidence evidence = MPIJOB_EVIDENCE_INIT;

	evidence.job = seen->job;
	evidence.launcher = seen->launcher ? mpijob_doc_root(seen->launcher) : NULL;
	evidence.pods = seen->pods ? mpijob_doc_root(seen->pods) : NULL;
	evidence.events = seen->events ? mpijob_doc_root(seen->events) : NULL;
	evidence.logs = seen->pointers;
	evidence.logs_count = seen->tails_count;
	evidence.now_ms = now_ms;
	return mpijob_diagnose(&evidence, diag);
}

void seen_free(struct seen *seen)
{
	for (size_t i = 0; i < seen->tails_count; i++)
		mpijob_text_free(seen->texts[i]);
	free(seen->texts);
	free(seen->tails);
	free(seen->pointers);
	mpijob_free(seen->job);
	mpijob_doc_free(seen->launcher);
	mpijob_doc_free(seen->pods);
	mpijob_doc_free(seen->events);
	mpijob_text_free(seen->missing);
}

int pod_log_start(mpijob_client *client, const char *namespace_, const char *pod,
    const char *container, int previous, const struct mpijob_callbacks *callbacks,
    mpijob_call **out)
{
	const char *query[] = { "container", container, previous ? "previous" : "follow", "true" };
	struct mpijob_target target = MPIJOB_TARGET_INIT;
	struct mpijob_request request = MPIJOB_REQUEST_INIT;
	mpijob_text *path = mpijob_text_new();

	target.api_version = "v1";
	target.kind = "Pod";
	target.namespace_ = namespace_;
	target.name = pod;
	target.subresource = "log";
	target.query = query;
	target.query_count = 4;
	int code = path ? mpijob_target_write(&target, mpijob_text_write, path) : MPIJOB_ERR_NOMEM;
	request.method = "GET";
	request.path = path ? mpijob_text_data(path) : NULL;
	request.streaming = 1;
	if (code == 0)
		code = mpijob_client_start(client, &request, callbacks, out);
	mpijob_text_free(path);
	return code;
}
