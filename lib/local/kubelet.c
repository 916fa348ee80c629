/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runs the pods of the embedded cluster on its node: it takes every pod that nobody has, gives
 * it an address, keeps the names of a namespace in one hosts file that is written before any
 * container of a new pod starts, and brings the node's answers to whom they are for.
 */
#include "kubelet.h"
#include "base/clock.h"
#include "base/text.h"
#include "node_client.h"
#include "node_program.h"
#include "pod.h"

#include <stdlib.h>
#include <string.h>

#define READY_WAIT_MS 20000
#define FIRST_ADDRESS 2u
#define LAST_ADDRESS  65534u

struct expectation {
	struct expectation *next;
	uint64_t request;
	int what;
	uint64_t pod;
	uint64_t number;
	void (*done)(void *user, const struct node_event *event); /* ASK_EXEC */
	void *user;
};

/* The pods of a namespace see each other's names. */
struct group {
	struct group *next;
	char *namespace_;
	uint64_t id;
	uint64_t wanted; /* versions of its hosts file */
	uint64_t sent;
	uint64_t written;
	int64_t names_ms; /* from when on the file holds names */
	int named;
};

struct said {
	struct said *next;
	char *words;
};

struct kubelet {
	struct mpijob__local_source source; /* first: the node's socket */
	struct mpijob_local *local;
	struct node_client *node;
	struct pod *pods;
	struct pod **pods_end;
	struct expectation *expected;
	struct group *groups;
	struct said *said;
	uint64_t last_number;
	unsigned next_address;
	int arrivals; /* pods that were not looked at yet */
	int wants_write;
	int32_t identity; /* NODE_IDENTITY_* */
	int dead;
	int error; /* what the node said when it gave up */
};

struct node_client *mpijob__local_kubelet_node(struct kubelet *kubelet)
{
	return kubelet->node;
}

int mpijob__local_kubelet_has_one_id(const struct kubelet *kubelet)
{
	return kubelet->identity == NODE_IDENTITY_SINGLE;
}

uint64_t mpijob__local_kubelet_number(struct kubelet *kubelet)
{
	return ++kubelet->last_number;
}

/* Expectations. */

static int expect(struct kubelet *kubelet, const struct expectation *wanted)
{
	struct expectation *expectation = malloc(sizeof(*expectation));

	if (!expectation)
		return MPIJOB_ERR_NOMEM;
	*expectation = *wanted;
	expectation->next = kubelet->expected;
	kubelet->expected = expectation;
	return 0;
}

int mpijob__local_kubelet_expect(struct kubelet *kubelet, uint64_t request, int what, uint64_t pod,
    uint64_t number)
{
	struct expectation expectation = { NULL, request, what, pod, number, NULL, NULL };

	/* Errors of what nobody waits for are of no interest. */
	return what == ASK_NOTHING ? 0 : expect(kubelet, &expectation);
}

static struct expectation *take_expectation(struct kubelet *kubelet, uint64_t request)
{
	for (struct expectation **at = &kubelet->expected; *at; at = &(*at)->next) {
		struct expectation *expectation = *at;

		if (expectation->request == request) {
			*at = expectation->next;
			return expectation;
		}
	}
	return NULL;
}

/* Names. */

static struct group *find_group(struct kubelet *kubelet, const char *namespace_)
{
	struct group *group = kubelet->groups;

	while (group && strcmp(group->namespace_, namespace_) != 0)
		group = group->next;
	return group;
}

static struct group *make_group(struct kubelet *kubelet, const char *namespace_)
{
	struct group *group = find_group(kubelet, namespace_);

	if (group)
		return group;
	group = calloc(1, sizeof(*group));
	if (!group)
		return NULL;
	group->namespace_ = strdup(namespace_);
	if (!group->namespace_) {
		free(group);
		return NULL;
	}
	group->id = mpijob__local_kubelet_number(kubelet);
	group->named = kubelet->local->names_delay_ms == 0;
	group->names_ms = mpijob__base_clock_monotonic_ms() + kubelet->local->names_delay_ms;
	group->next = kubelet->groups;
	kubelet->groups = group;
	return group;
}

int mpijob__local_kubelet_group(struct kubelet *kubelet, const char *namespace_, uint64_t *id)
{
	struct group *group = make_group(kubelet, namespace_);

	if (!group)
		return MPIJOB_ERR_NOMEM;
	*id = group->id;
	return 0;
}

uint64_t mpijob__local_kubelet_hosts_written(struct kubelet *kubelet, const char *namespace_)
{
	struct group *group = find_group(kubelet, namespace_);

	return group ? group->written : 0;
}

/* Its whole name first: that is what a look-up of the address gives back. */
static char *host_line(const struct pod *pod)
{
	const char *h = pod->hostname;
	const char *s = pod->subdomain;
	const char *n = pod->namespace_;

	if (!s)
		return mpijob__base_text_format("%s\t%s\n", pod->address, h);
	return mpijob__base_text_format("%s\t%s.%s.%s.svc.%s %s.%s.%s.svc %s.%s.%s %s.%s %s\n",
	    pod->address, h, s, n, pod->local->cluster_domain, h, s, n, h, s, n, h, s, h);
}

static int write_names(struct kubelet *kubelet, const struct group *group, mpijob_text *text)
{
	static const char first[] = "127.0.0.1\tlocalhost\n";
	int error = mpijob_text_write(text, first, sizeof(first) - 1);

	for (struct pod *pod = group->named ? kubelet->pods : NULL; pod && !error;
	     pod = pod->next) {
		char *line;

		if (pod->sandbox_gone || strcmp(pod->namespace_, group->namespace_) != 0)
			continue;
		line = host_line(pod);
		error = line ? mpijob_text_write(text, line, strlen(line)) : MPIJOB_ERR_NOMEM;
		free(line);
	}
	return error;
}

static int send_names(struct kubelet *kubelet, struct group *group)
{
	mpijob_text *text = mpijob_text_new();
	uint64_t number = 0;
	int error = text ? write_names(kubelet, group, text) : MPIJOB_ERR_NOMEM;

	if (!error)
		error = mpijob__local_node_client_hosts_write(kubelet->node, group->id,
		    mpijob_text_data(text), mpijob_text_len(text), &number);
	mpijob_text_free(text);
	if (error)
		return error;
	group->sent = group->wanted;
	return mpijob__local_kubelet_expect(kubelet, number, ASK_HOSTS, group->id, group->sent);
}

/* Groups whose names are due now. */
static void name_late_groups(struct kubelet *kubelet, int64_t clock_ms, int64_t *next_ms)
{
	for (struct group *group = kubelet->groups; group; group = group->next) {
		if (!group->named && clock_ms >= group->names_ms) {
			group->named = 1;
			group->wanted++;
		}
		if (!group->named)
			*next_ms = mpijob__local_sooner(*next_ms, group->names_ms);
	}
}

static int send_all_names(struct kubelet *kubelet)
{
	int error = 0;

	for (struct group *group = kubelet->groups; group && !error; group = group->next) {
		if (group->wanted > group->sent)
			error = send_names(kubelet, group);
	}
	return error;
}

static void names_written(struct kubelet *kubelet, uint64_t id, uint64_t version)
{
	for (struct group *group = kubelet->groups; group; group = group->next) {
		if (group->id == id && version > group->written)
			group->written = version;
	}
	for (struct pod *pod = kubelet->pods; pod; pod = pod->next) {
		if (pod->stage == POD_SETUP)
			pod->dirty = 1;
	}
}

/* Pods. */

static int address_taken(const struct kubelet *kubelet, const char *address)
{
	for (const struct pod *pod = kubelet->pods; pod; pod = pod->next) {
		if (!pod->sandbox_gone && strcmp(pod->address, address) == 0)
			return 1;
	}
	return 0;
}

static int give_address(struct kubelet *kubelet, struct pod *pod)
{
	for (unsigned i = FIRST_ADDRESS; i <= LAST_ADDRESS && !pod->host_network; i++) {
		unsigned number = kubelet->next_address++;
		char *address =
		    mpijob__base_text_format("198.18.%u.%u", (number >> 8) & 255, number & 255);
		int free_ = address && !address_taken(kubelet, address);

		if (kubelet->next_address > LAST_ADDRESS)
			kubelet->next_address = FIRST_ADDRESS;
		if (free_)
			memcpy(pod->address, address, strlen(address) + 1);
		free(address);
		if (free_)
			return 0;
		if (!address)
			return MPIJOB_ERR_NOMEM;
	}
	memcpy(pod->address, NODE_ADDRESS, sizeof(NODE_ADDRESS));
	if (!pod->host_network)
		mpijob__local_pod_fail(pod, "NoAddress",
		    mpijob__base_text_format("all addresses are in use"));
	return 0;
}

static int admit(struct kubelet *kubelet, struct object *object)
{
	struct group *group = make_group(kubelet, object->namespace_);
	struct pod *pod = group ? mpijob__local_pod_new(kubelet, kubelet->local, object,
				      mpijob__local_kubelet_number(kubelet))
				: NULL;
	int error;

	if (!pod)
		return MPIJOB_ERR_NOMEM;
	error = give_address(kubelet, pod);
	if (error) {
		mpijob__local_pod_free(pod);
		return error;
	}
	object->pod = pod;
	*kubelet->pods_end = pod;
	kubelet->pods_end = &pod->next;
	pod->hosts_version = ++group->wanted;
	return mpijob__local_pod_begin(pod);
}

static int admit_arrivals(struct kubelet *kubelet)
{
	for (struct object *object = mpijob__local_store_first(&kubelet->local->store, KIND_POD);
	     object; object = object->next) {
		const char *phase = mpijob__local_store_text(object, "status.phase");
		int error = 0;

		if (!object->pod && !mpijob__local_store_deleting(object) && phase &&
		    strcmp(phase, "Pending") == 0)
			error = admit(kubelet, object);
		if (error)
			return error;
	}
	kubelet->arrivals = 0;
	return 0;
}

static void source_changed(struct kubelet *kubelet, const struct object *object)
{
	for (struct pod *pod = kubelet->pods; pod; pod = pod->next) {
		if (pod->stage == POD_OVER || strcmp(pod->namespace_, object->namespace_) != 0)
			continue;
		/* Also a pod that waits for something of this name to appear. */
		mpijob__local_pod_volumes_uses(pod, object);
		pod->dirty = 1;
	}
}

void mpijob__local_kubelet_changed(struct kubelet *kubelet, struct object *object, int change)
{
	if (!kubelet)
		return;
	if (object->kind->id == KIND_CONFIG_MAP || object->kind->id == KIND_SECRET) {
		source_changed(kubelet, object);
	} else if (object->kind->id == KIND_POD) {
		kubelet->arrivals |= change == CHANGE_ADDED;
		if (!object->pod)
			return;
		object->pod->dirty = 1;
		if (change != CHANGE_DELETED)
			mpijob__local_pod_volumes_fields_changed(object->pod);
		object->pod->deleting = mpijob__local_store_deleting(object);
		object->pod->gone = change == CHANGE_DELETED;
	}
}

static struct pod *find_pod(struct kubelet *kubelet, uint64_t id)
{
	struct pod *pod = kubelet->pods;

	while (pod && pod->id != id)
		pod = pod->next;
	return pod;
}

static int sync_pods(struct kubelet *kubelet, int64_t clock_ms, int64_t *next_ms)
{
	for (struct pod **at = &kubelet->pods; *at;) {
		struct pod *pod = *at;
		int due = pod->due_ms >= 0 && pod->due_ms <= clock_ms;
		int error = pod->dirty || due ? mpijob__local_pod_sync(pod, clock_ms) : 0;

		if (error) {
			pod->dirty = 1;
			return error;
		}
		if (pod->gone && mpijob__local_pod_is_over(pod)) {
			*at = pod->next;
			if (!*at)
				kubelet->pods_end = at;
			mpijob__local_pod_free(pod);
			continue;
		}
		*next_ms = mpijob__local_sooner(*next_ms, pod->due_ms);
		at = &pod->next;
	}
	return 0;
}

/* What the node says. */

static struct container *find_run(struct pod *pod, uint64_t id)
{
	for (size_t i = 0; pod && i < pod->count; i++) {
		if (pod->containers[i].id == id)
			return &pod->containers[i];
	}
	return NULL;
}

static void setup_answer(struct pod *pod, int what, uint64_t number, const struct node_event *event)
{
	pod->dirty = 1;
	if (event->type != NODE_ANS_OK) {
		if (what == ASK_VOLUME && mpijob__local_pod_volumes_keep(pod, number, event->text))
			return;
		mpijob__local_pod_fail(pod, "SetUpFailed",
		    event->text ? strdup(event->text) : NULL);
		return;
	}
	if (what == ASK_SANDBOX)
		pod->sandbox_ready = 1;
	for (size_t i = 0; what == ASK_VOLUME && i < pod->volume_count; i++) {
		if (pod->volumes[i].id == number)
			pod->volumes[i].written = 1;
	}
}

static void deliver(struct kubelet *kubelet, const struct expectation *for_,
    const struct node_event *event)
{
	struct pod *pod =
	    for_->what == ASK_HOSTS || for_->what == ASK_EXEC ? NULL : find_pod(kubelet, for_->pod);
	struct container *container = find_run(pod, for_->number);

	if (for_->what == ASK_HOSTS)
		names_written(kubelet, for_->pod, for_->number);
	else if (for_->what == ASK_EXEC && for_->done)
		for_->done(for_->user, event);
	else if (pod && (for_->what == ASK_SANDBOX || for_->what == ASK_VOLUME))
		setup_answer(pod, for_->what, for_->number, event);
	else if (container && for_->what == ASK_START)
		mpijob__local_container_started(container, event);
	else if (container && for_->what == ASK_PROBE)
		mpijob__local_pod_probe_answer(container, event);
}

static void container_exited(struct kubelet *kubelet, const struct node_event *event)
{
	for (struct pod *pod = kubelet->pods; pod; pod = pod->next) {
		struct container *container = find_run(pod, event->id);

		if (container) {
			mpijob__local_container_exited(container, event);
			return;
		}
	}
}

static void node_failed(struct kubelet *kubelet, const struct node_event *event)
{
	kubelet->dead = 1;
	kubelet->error = event->error ? event->error : MPIJOB_ERR_IO;
	mpijob__local_notice(kubelet->local, MPIJOB_SEVERITY_ERROR, "local-node", NULL,
	    mpijob__base_text_format("%s", event->text ? event->text : "the node failed"));
}

static void take_event(struct kubelet *kubelet, const struct node_event *event)
{
	struct expectation *expectation;

	if (event->type == NODE_EVT_FATAL) {
		node_failed(kubelet, event);
	} else if (event->type == NODE_EVT_EXITED) {
		container_exited(kubelet, event);
	} else {
		expectation = take_expectation(kubelet, event->request);
		if (expectation)
			deliver(kubelet, expectation, event);
		free(expectation);
	}
}

static int take_events(struct kubelet *kubelet, int timeout_ms)
{
	int error = mpijob__local_node_client_step(kubelet->node, timeout_ms);
	struct node_event event;

	while (mpijob__local_node_client_next(kubelet->node, &event) == 1)
		take_event(kubelet, &event);
	if (error == MPIJOB_ERR_IO && !kubelet->dead) {
		struct node_event gone = { .error = error,
			.text = "the node ended before its time" };

		node_failed(kubelet, &gone);
	}
	return kubelet->dead ? kubelet->error : error;
}

static void follow_writing(struct kubelet *kubelet)
{
	int wants = mpijob__local_node_client_wants_write(kubelet->node);

	if (wants != kubelet->wants_write)
		mpijob__local_change_fd(kubelet->local, &kubelet->source, 1, wants);
	kubelet->wants_write = wants;
}

int mpijob__local_kubelet_run(struct kubelet *kubelet, int64_t clock_ms, int64_t *next_ms)
{
	int error;

	*next_ms = -1;
	if (!kubelet)
		return 0;
	error = take_events(kubelet, 0);
	if (!error && kubelet->arrivals)
		error = admit_arrivals(kubelet);
	name_late_groups(kubelet, clock_ms, next_ms);
	if (!error)
		error = send_all_names(kubelet);
	if (!error)
		error = sync_pods(kubelet, clock_ms, next_ms);
	if (!error)
		error = take_events(kubelet, 0);
	follow_writing(kubelet);
	for (struct pod *pod = kubelet->pods; pod && !error; pod = pod->next) {
		if (pod->dirty)
			*next_ms = clock_ms;
	}
	return error;
}

/* What others ask. */

struct log *mpijob__local_kubelet_log(struct kubelet *kubelet, const char *uid, const char *name,
    int previous)
{
	struct object *object =
	    kubelet ? mpijob__local_store_by_uid(&kubelet->local->store, uid) : NULL;
	struct container *container =
	    object && object->pod ? mpijob__local_pod_find_container(object->pod, name) : NULL;

	if (!container)
		return NULL;
	return previous ? container->previous_log : container->log;
}

int mpijob__local_kubelet_exec(struct kubelet *kubelet, const struct kubelet_exec *exec,
    uint64_t *request)
{
	struct object *object =
	    mpijob__local_store_find(&kubelet->local->store, KIND_POD, exec->namespace_, exec->pod);
	struct container *container =
	    object && object->pod ? mpijob__local_pod_find_container(object->pod, exec->container)
				  : NULL;
	struct expectation expectation = { NULL, 0, ASK_EXEC, 0, 0, exec->done, exec->user };
	struct node_exec ask = { 0 };
	int error;

	if (!container || container->state != CONTAINER_RUNNING)
		return MPIJOB_ERR_NOT_FOUND;
	ask.container = container->id;
	ask.argv = exec->argv;
	memcpy(ask.fds, exec->fds, sizeof(ask.fds));
	error = mpijob__local_node_client_exec(kubelet->node, &ask, request);
	if (error)
		return error;
	expectation.request = *request;
	return expect(kubelet, &expectation);
}

void mpijob__local_kubelet_exec_drop(struct kubelet *kubelet, uint64_t request)
{
	struct expectation *expectation = take_expectation(kubelet, request);
	uint64_t number = 0;

	if (!expectation)
		return;
	free(expectation);
	(void)mpijob__local_node_client_exec_signal(kubelet->node, request, 9, &number);
}

static int say_once(struct kubelet *kubelet, const char *words)
{
	struct said *said;

	for (said = kubelet->said; said; said = said->next) {
		if (strcmp(said->words, words) == 0)
			return 0;
	}
	said = calloc(1, sizeof(*said));
	if (said)
		said->words = strdup(words);
	if (!said || !said->words) {
		free(said);
		return 1;
	}
	said->next = kubelet->said;
	kubelet->said = said;
	return 1;
}

/* The path as it stands in the job that the pod was made for. */
static char *field_of_job(const struct pod *pod, const char *path)
{
	const mpijob_node *labels = mpijob_node_find(mpijob_doc_root(pod->doc), "metadata.labels");
	const char *role =
	    mpijob_node_string(mpijob_node_get(labels, "training.kubeflow.org/job-role"));

	if (!role)
		return mpijob__base_text_format("spec.%s", path);
	return mpijob__base_text_format("spec.mpiReplicaSpecs[%s].template.spec.%s",
	    strcmp(role, "worker") == 0 ? "Worker" : "Launcher", path);
}

void mpijob__local_kubelet_notice_field(struct kubelet *kubelet, const struct pod *pod,
    const char *path, const char *what)
{
	const mpijob_node *labels = mpijob_node_find(mpijob_doc_root(pod->doc), "metadata.labels");
	const char *job =
	    mpijob_node_string(mpijob_node_get(labels, "training.kubeflow.org/job-name"));
	char *field = field_of_job(pod, path);
	char *words = field ? mpijob__base_text_format("%s/%s/%s", pod->namespace_,
				  job ? job : pod->name, field)
			    : NULL;

	if (words && say_once(kubelet, words))
		mpijob__local_notice(kubelet->local, MPIJOB_SEVERITY_WARNING, "not-honoured", field,
		    mpijob__base_text_format("not honoured locally%s%s", what ? ": " : "",
			what ? what : ""));
	free(words);
	free(field);
}

/* Life. */

static void nothing(struct mpijob__local_source *source)
{
	(void)source; /* the next run of the kubelet reads */
}

static void tell_why(mpijob_diag *diag, const struct node_event *event)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;

	finding.severity = MPIJOB_SEVERITY_ERROR;
	finding.id = "local-node";
	finding.message = event->text ? event->text : "the node did not start";
	mpijob_diag_add(diag, &finding);
}

/* Until the node is ready or says why it is not. */
static int wait_for_node(struct kubelet *kubelet, mpijob_diag *diag)
{
	int64_t end = mpijob__base_clock_monotonic_ms() + READY_WAIT_MS;
	struct node_event event = { 0 };

	for (;;) {
		int error = mpijob__local_node_client_step(kubelet->node, 100);

		while (mpijob__local_node_client_next(kubelet->node, &event) == 1) {
			if (event.type == NODE_EVT_READY) {
				kubelet->identity = event.identity;
				return 0;
			}
			if (event.type == NODE_EVT_FATAL) {
				tell_why(diag, &event);
				return event.error ? event.error : MPIJOB_ERR_IO;
			}
		}
		if (error || mpijob__base_clock_monotonic_ms() >= end) {
			event.text = NULL;
			tell_why(diag, &event);
			return error == MPIJOB_ERR_NOMEM ? error : MPIJOB_ERR_IO;
		}
	}
}

static int start_node(struct kubelet *kubelet, const char *program, mpijob_diag *diag)
{
	char *found = program ? strdup(program) : mpijob__local_node_program_find();
	struct node_options options = { found, NULL, NODE_IDENTITY_AUTO };
	int error = found ? mpijob__local_node_client_start(&options, &kubelet->node, diag)
			  : MPIJOB_ERR_NOMEM;

	free(found);
	if (!error)
		error = wait_for_node(kubelet, diag);
	if (error)
		return error;
	kubelet->source.fd = mpijob__local_node_client_fd(kubelet->node);
	kubelet->source.run = nothing;
	return mpijob__local_watch_fd(kubelet->local, &kubelet->source, 0);
}

int mpijob__local_kubelet_new(struct mpijob_local *local, const char *program, struct kubelet **out,
    mpijob_diag *diag)
{
	struct kubelet *kubelet = calloc(1, sizeof(*kubelet));
	int error;

	if (!kubelet)
		return MPIJOB_ERR_NOMEM;
	kubelet->local = local;
	kubelet->source.fd = -1;
	kubelet->pods_end = &kubelet->pods;
	kubelet->next_address = FIRST_ADDRESS;
	error = start_node(kubelet, program, diag);
	if (error) {
		mpijob__local_kubelet_free(kubelet);
		return error;
	}
	*out = kubelet;
	return 0;
}

static void free_lists(struct kubelet *kubelet)
{
	while (kubelet->pods) {
		struct pod *pod = kubelet->pods;

		kubelet->pods = pod->next;
		mpijob__local_pod_free(pod);
	}
	while (kubelet->expected) {
		struct expectation *expectation = kubelet->expected;

		kubelet->expected = expectation->next;
		free(expectation);
	}
	while (kubelet->groups) {
		struct group *group = kubelet->groups;

		kubelet->groups = group->next;
		free(group->namespace_);
		free(group);
	}
	while (kubelet->said) {
		struct said *said = kubelet->said;

		kubelet->said = said->next;
		free(said->words);
		free(said);
	}
}

void mpijob__local_kubelet_free(struct kubelet *kubelet)
{
	if (!kubelet)
		return;
	if (kubelet->source.fd >= 0)
		mpijob__local_forget_fd(kubelet->local, &kubelet->source);
	/* The node and all that lives in it ends here. */
	mpijob__local_node_client_free(kubelet->node);
	free_lists(kubelet);
	free(kubelet);
}
