/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller of its own around mpijob_plan_new(): it sends the job of a file to a cluster, here
 * one embedded in this process, and brings it to its end. With a transport of libmpijob-http it
 * does so on a real one.
 *
 *     cc main.c $(pkg-config --cflags --libs mpijob-local) -o controller && ./controller job.yaml
 *
 * One round reads the job and its children, plans, and executes the plan. Each round reads them
 * again, so a conflict, a failure or a late event loses nothing. (A controller with many pods keeps
 * the facts, and updates them from answers, too.)
 */
#define _DEFAULT_SOURCE
#include <mpijob/local.h>
#include <mpijob/mpijob.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WATCHES = 8 };
static mpijob_client *client;
static mpijob_diag *diag;
static mpijob *job; /* as the server has it */
static mpijob_facts *facts;
static mpijob_observation *observation;
static int changed;

/* --- look: what watches list are the facts of a round, what they tell later begins the next one
 * --- */

static int see(void *user, const struct mpijob_watch_event *event)
{
	(void)user, changed = 1;
	if (event->event == MPIJOB_WATCH_DELETED)
		return mpijob_facts_forget(facts, event->uid), 0;
	const struct mpijob_observed *observed;
	int code = event->json
		       ? mpijob_observe(observation, event->json, event->json_len, &observed, diag)
		       : MPIJOB_ERR_SPEC;
	if (code == 0)
		code = mpijob_facts_apply(facts, observed);
	return code < 0 ? code : 0;
}

static void unseen(void *user, const struct mpijob_answer *answer, const char *what)
{
	(void)user;
	fprintf(stderr, "%s: %s\n", what,
	    answer->message ? answer->message : mpijob_error_text(answer->code));
}

static int watch(const char *api_version, const char *kind, const char *name, const char *label,
    mpijob_watch **out)
{
	struct mpijob_watch_options options = MPIJOB_WATCH_OPTIONS_INIT;
	options.api_version = api_version, options.kind = kind,
	options.namespace_ = mpijob_namespace(job);
	options.name = name, options.label_selector = label;
	options.object = see, options.failed = unseen;
	return mpijob_watch_new(client, &options, out);
}

/* Pods are found by label, the job and its other children by the names that they have or will
 * have. */
static int look(mpijob_objects *objects, mpijob_watch **watches)
{
	static char label[320]; /* a name has 253 bytes at most */
	struct mpijob_object_head head = MPIJOB_OBJECT_HEAD_INIT;
	size_t count = 2;
	snprintf(label, sizeof(label), "training.kubeflow.org/job-name=%s", mpijob_name(job));
	int code = watch("kubeflow.org/v2beta1", "MPIJob", mpijob_name(job), NULL, &watches[0]);
	if (code == 0)
		code = watch("v1", "Pod", NULL, label, &watches[1]);
	for (size_t i = 0; code == 0 && i < mpijob_objects_count(objects); i++)
		if ((code = mpijob_objects_head(objects, i, &head)) == 0 &&
		    head.role != MPIJOB_ROLE_WORKER && count < WATCHES)
			code =
			    watch(head.api_version, head.kind, head.name, NULL, &watches[count++]);
	for (size_t i = 0; i < count; i++)
		while (code == 0 && !mpijob_watch_health_get(watches[i])->synced)
			code = mpijob_client_poll(client, -1);
	return code;
}

/* --- act --- */

static int report(const struct mpijob_target *about, const struct mpijob_action *action)
{
	struct mpijob_target events = { .size = sizeof(events),
		.api_version = "v1",
		.kind = "Event",
		.namespace_ = about->namespace_ };
	mpijob_doc *doc = mpijob_doc_new();
	mpijob_node *root = mpijob_doc_edit(doc, ""),
		    *object = mpijob_node_put_map(doc, root, "involvedObject");
	mpijob_node_put_string(doc, mpijob_node_put_map(doc, root, "metadata"), "generateName",
	    "example-");
	mpijob_node_put_string(doc, object, "apiVersion", action->api_version);
	mpijob_node_put_string(doc, object, "kind", action->kind);
	mpijob_node_put_string(doc, object, "namespace", about->namespace_);
	mpijob_node_put_string(doc, object, "name", action->name);
	mpijob_node_put_string(doc, object, "uid", mpijob_uid(job));
	mpijob_node_put_string(doc, root, "type", action->event_type);
	mpijob_node_put_string(doc, root, "reason", action->event_reason);
	mpijob_node_put_string(doc, root, "message", action->event_message);
	int code = mpijob_doc_error(doc);
	if (code == 0)
		code = mpijob_client_write(client, &events, root, NULL, NULL, diag);
	mpijob_doc_free(doc);
	return code;
}

static void answered(void *user, const struct mpijob_answer *answer)
{
	*(int *)user = answer->code;
	if (answer->code && answer->code != MPIJOB_ERR_CONFLICT)
		fprintf(stderr, "%s\n", answer->message);
}

/* The body goes to the server as it is written, and is wiped: it may hold the key. So are the bytes
 * that made it. */
static int send(const mpijob_plan *plan, size_t index, struct mpijob_target *target)
{
	int create = mpijob_plan_at(plan, index)->verb == MPIJOB_ACTION_CREATE, waiting = 1;
	struct mpijob_request request = { .size = sizeof(request),
		.method = create ? "POST" : "PATCH",
		.content_type = create ? "application/json" : "application/merge-patch+json",
		.target = target };
	struct mpijob_callbacks callbacks = { .size = sizeof(callbacks),
		.done = answered,
		.user = &waiting };
	mpijob_call *call = NULL;
	mpijob_text *body = mpijob_text_new();
	uint8_t entropy[MPIJOB_SSH_ENTROPY];
	int code = !body                                  ? MPIJOB_ERR_NOMEM
		   : getentropy(entropy, sizeof(entropy)) ? MPIJOB_ERR_IO
							  : 0;
	target->name = create ? NULL : target->name;
	if (code == 0)
		code = mpijob_plan_write_body(plan, index, entropy, sizeof(entropy),
		    mpijob_text_write, body);
	if (code == 0) {
		request.body = mpijob_text_data(body), request.body_len = mpijob_text_len(body);
		code = mpijob_client_start(client, &request, &callbacks, &call);
	}
	while (code == 0 && waiting > 0)
		code = mpijob_client_poll(client, -1);
	if (call && waiting > 0)
		mpijob_call_cancel(call);
	explicit_bzero(entropy, sizeof(entropy));
	mpijob_text_free(body);
	return code ? code : waiting;
}

static int carry_out(const mpijob_plan *plan)
{
	static const char *const verbs[] = { "", "create", "patch", "patch the status of", "delete",
		"tell of" };
	const struct mpijob_action *action;
	int code = 0;
	for (size_t i = 0; code == 0 && (action = mpijob_plan_at(plan, i)); i++) {
		struct mpijob_target target = { .size = sizeof(target),
			.api_version = action->api_version,
			.kind = action->kind,
			.namespace_ = mpijob_namespace(job),
			.name = action->name,
			.subresource =
			    action->verb == MPIJOB_ACTION_PATCH_STATUS ? "status" : NULL };
		struct mpijob_delete_options deletion = { .size = sizeof(deletion),
			.uid = action->uid,
			.propagation = "Background" };
		printf("%s %s %s: %s\n", verbs[action->verb], action->kind, action->name,
		    action->why);
		if (action->verb == MPIJOB_ACTION_EVENT)
			code = report(&target, action);
		else if (action->verb == MPIJOB_ACTION_DELETE)
			code = mpijob_client_delete(client, &target, &deletion, diag);
		else
			code = send(plan, i, &target);
		if (code == MPIJOB_ERR_NOT_FOUND && action->verb == MPIJOB_ACTION_DELETE)
			code = 0;
	}
	return code;
}

/* --- the rounds --- */

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* 1: the job has ended, and what is to be done then is done. 0: there will be another round. A
 * negative code: the end of all. */
static int go_round(mpijob_objects *objects)
{
	struct mpijob_plan_options options = { .size = sizeof(options), .now_ms = now_ms() };
	mpijob_watch *watches[WATCHES] = { NULL };
	mpijob *stored = NULL;
	mpijob_plan *plan = NULL;
	int64_t until = 0;
	int lost = 0; /* the client itself has failed */
	mpijob_facts_free(facts);
	facts = mpijob_facts_new();
	int code = facts ? look(objects, watches) : MPIJOB_ERR_NOMEM;
	changed = 0;
	if (code == 0 && (code = mpijob_client_get_job(client, mpijob_namespace(job),
			      mpijob_name(job), &stored, diag)) == 0) {
		mpijob_free(job), job = stored;
		code = mpijob_plan_new(job, facts, &options, &plan, diag);
	} else if (code == MPIJOB_ERR_NOT_FOUND) {
		code = 1; /* another client has deleted it */
	}
	if (code == 0) {
		const struct mpijob_plan_result *result = mpijob_plan_get_result(plan);
		until = result->next_ms;
		code = result->actions_count || until || !result->status->completion_time
			   ? carry_out(plan)
			   : 1;
	}
	/* a conflict: another client was faster; read again at once */
	if (code < 0 && code != MPIJOB_ERR_CONFLICT)
		until = now_ms() + 1000;
	for (int64_t now = now_ms(); code != 1 && code != MPIJOB_ERR_CONFLICT && lost == 0 &&
				     !changed && (!until || now < until);
	     now = now_ms())
		lost = mpijob_client_poll(client,
		    until ? (int)(until - now < 60000 ? until - now : 60000) : -1);
	for (size_t i = 0; i < WATCHES; i++)
		mpijob_watch_free(watches[i]);
	mpijob_plan_free(plan);
	return lost < 0 ? lost : code == 1;
}

static int print_line(void *user, const struct mpijob_log_line *line)
{
	(void)user;
	return printf("%.*s\n", (int)line->len, line->text) < 0 ? MPIJOB_ERR_IO : 0;
}

/* Says how the job ended: 0 when it succeeded. */
static int tell_end(void)
{
	struct mpijob_logs_options options = MPIJOB_LOGS_OPTIONS_INIT;
	mpijob_logs *logs = NULL;
	options.namespace_ = mpijob_namespace(job);
	options.job = mpijob_name(job);
	options.role = "launcher";
	options.line = print_line;
	int code = mpijob_logs_new(client, &options, &logs);
	while (code == 0 && mpijob_logs_state(logs, NULL) == 1)
		code = mpijob_client_poll(client, -1);
	mpijob_logs_free(logs);
	return code ? code
		    : mpijob_client_wait_job(client, mpijob_namespace(job), mpijob_name(job),
			  "Succeeded", 0, NULL, diag);
}

static int print_piece(void *user, const char *data, size_t len)
{
	return fwrite(data, 1, len, user) == len ? 0 : MPIJOB_ERR_IO;
}

static void print_findings(void)
{
	for (size_t i = 0; mpijob_diag_at(diag, i); i++)
		if (mpijob_finding_write(mpijob_diag_at(diag, i), print_piece, stderr) == 0)
			fputc('\n', stderr);
	mpijob_diag_clear(diag);
}

/* What the children will be called tells the job itself, as it is once its defaults are filled
 * in. */
static int read_job(const char *name, mpijob **sent, mpijob_objects **objects)
{
	static char text[1 << 20];
	struct mpijob_parse_options options = { .size = sizeof(options), .source = name };
	FILE *file = fopen(name, "r");
	if (!file)
		return perror(name), MPIJOB_ERR_IO;
	size_t len = fread(text, 1, sizeof(text), file);
	if (len == sizeof(text))
		fprintf(stderr, "%s: longer than this program reads\n", name);
	int code = ferror(file) || len == sizeof(text)
		       ? MPIJOB_ERR_IO
		       : mpijob_parse(text, len, &options, sent, diag);
	mpijob *whole = code == 0 ? mpijob_clone(*sent) : NULL;
	if (code == 0)
		code = whole ? mpijob_default(whole, NULL, diag) : MPIJOB_ERR_NOMEM;
	if (code == 0 && (code = mpijob_validate(whole, NULL, diag)) == 0)
		code = mpijob_render(whole, NULL, objects, diag);
	mpijob_free(whole), fclose(file);
	return code;
}

int main(int argc, char **argv)
{
	struct mpijob_transport transport = MPIJOB_TRANSPORT_INIT;
	mpijob_local *local = NULL;
	mpijob_objects *objects = NULL;
	mpijob *sent = NULL;
	diag = mpijob_diag_new(), observation = mpijob_observation_new();
	int code = diag && observation ? read_job(argc > 1 ? argv[1] : "job.yaml", &sent, &objects)
				       : MPIJOB_ERR_NOMEM;
	if (code == 0 && (code = mpijob_local_new(NULL, &transport, &local, diag)) == 0 &&
	    (code = mpijob_client_new(&transport, local, &client)) == 0)
		code = mpijob_client_submit(client, sent, NULL, &job, diag);
	int ended = 0;
	while (code == 0 && ended == 0) {
		ended = go_round(objects);
		code = ended < 0 ? ended : 0;
		print_findings();
	}
	if (code == 0)
		code = tell_end();
	print_findings();
	if (code != 0)
		fprintf(stderr, "%s\n", mpijob_error_text(code));
	mpijob_client_free(client), mpijob_objects_free(objects), mpijob_free(sent),
	    mpijob_free(job);
	mpijob_facts_free(facts), mpijob_observation_free(observation), mpijob_diag_free(diag);
	return code != 0;
}
