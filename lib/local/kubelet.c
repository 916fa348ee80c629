/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kubelet and scheduler of the embedded cluster. It binds each new pod to its only node,
 * assigns an address, and dispatches the answers of mpijob-node. It replaces DNS: each namespace
 * has one hosts file with the names of its pods, and the node has the new version before a
 * container of a new pod starts.
 */
#include "local/kubelet.h"
#include "base/api.h"
#include "base/clock.h"
#include "base/text.h"
#include "local/node_client.h"
#include "local/node_program.h"
#include "local/pod.h"

#include <stdlib.h>
#include <string.h>

#define READY_WAIT_MS 20000
#define FIRST_ADDRESS 2u
#define LAST_ADDRESS  65534u

struct pending_request {
	struct pending_request *next;
	uint64_t request;
	int what;
	uint64_t pod;
	uint64_t number;
	void (*done)(void *user, const struct node_event *event); /* MPIJOB__LOCAL_REQUEST_EXEC */
	void *user;
};

/* The pods of a namespace, which share a hosts file. */
struct hosts_group {
	struct hosts_group *next;
	char *namespace_;
	uint64_t id;
	uint64_t wanted_version; /* versions of the hosts file: needed, sent, written */
	uint64_t sent;
	uint64_t written_version;
	int64_t publish_ms; /* when the file gets names; see names_delay_ms */
	int names_published;
};

/* Findings that were reported already. */
struct noticed {
	struct noticed *next;
	char *key;
};

struct mpijob__local_kubelet {
	struct mpijob__local_event_source source; /* first: the node's socket */
	struct mpijob_local *local;
	struct node_client *node;
	struct mpijob__local_pod *pods;
	struct mpijob__local_pod **pods_end;
	struct pending_request *pending;
	struct hosts_group *hosts_groups;
	struct noticed *noticed;
	uint64_t last_number;
	unsigned next_address;
	int new_pods; /* the store has pods that may not be admitted yet */
	int wants_write;
	int32_t identity; /* NODE_IDENTITY_* */
	int dead;
	int error; /* the error that the node reported when it failed */
};

struct node_client *mpijob__local_kubelet_node(struct mpijob__local_kubelet *kubelet)
{
	return kubelet->node;
}

int mpijob__local_kubelet_has_one_id(const struct mpijob__local_kubelet *kubelet)
{
	return kubelet->identity == NODE_IDENTITY_SINGLE;
}

uint64_t mpijob__local_kubelet_new_id(struct mpijob__local_kubelet *kubelet)
{
	return ++kubelet->last_number;
}

/* ---- pending requests ---- */

static int add_pending(struct mpijob__local_kubelet *kubelet,
    const struct pending_request *wanted_version)
{
	struct pending_request *pending_request = malloc(sizeof(*pending_request));

	if (!pending_request)
		return MPIJOB_ERR_NOMEM;
	*pending_request = *wanted_version;
	pending_request->next = kubelet->pending;
	kubelet->pending = pending_request;
	return 0;
}

int mpijob__local_kubelet_await(struct mpijob__local_kubelet *kubelet, uint64_t request, int what,
    uint64_t pod, uint64_t number)
{
	struct pending_request pending_request = { NULL, request, what, pod, number, NULL, NULL };

	/* The answer to such a request is ignored. */
	return what == MPIJOB__LOCAL_REQUEST_IGNORED ? 0 : add_pending(kubelet, &pending_request);
}

static struct pending_request *take_pending(struct mpijob__local_kubelet *kubelet, uint64_t request)
{
	for (struct pending_request **at = &kubelet->pending; *at; at = &(*at)->next) {
		struct pending_request *pending_request = *at;

		if (pending_request->request == request) {
			*at = pending_request->next;
			return pending_request;
		}
	}
	return NULL;
}

/* ---- hosts files ---- */

static struct hosts_group *find_hosts_group(struct mpijob__local_kubelet *kubelet,
    const char *namespace_)
{
	struct hosts_group *hosts_group = kubelet->hosts_groups;

	while (hosts_group && strcmp(hosts_group->namespace_, namespace_) != 0)
		hosts_group = hosts_group->next;
	return hosts_group;
}

static struct hosts_group *get_hosts_group(struct mpijob__local_kubelet *kubelet,
    const char *namespace_)
{
	struct hosts_group *hosts_group = find_hosts_group(kubelet, namespace_);

	if (hosts_group)
		return hosts_group;
	hosts_group = calloc(1, sizeof(*hosts_group));
	if (!hosts_group)
		return NULL;
	hosts_group->namespace_ = strdup(namespace_);
	if (!hosts_group->namespace_) {
		free(hosts_group);
		return NULL;
	}
	hosts_group->id = mpijob__local_kubelet_new_id(kubelet);
	hosts_group->names_published = kubelet->local->names_delay_ms == 0;
	hosts_group->publish_ms =
	    mpijob__base_clock_monotonic_ms() + kubelet->local->names_delay_ms;
	hosts_group->next = kubelet->hosts_groups;
	kubelet->hosts_groups = hosts_group;
	return hosts_group;
}

int mpijob__local_kubelet_hosts_group(struct mpijob__local_kubelet *kubelet, const char *namespace_,
    uint64_t *id)
{
	struct hosts_group *hosts_group = get_hosts_group(kubelet, namespace_);

	if (!hosts_group)
		return MPIJOB_ERR_NOMEM;
	*id = hosts_group->id;
	return 0;
}

uint64_t mpijob__local_kubelet_hosts_written(struct mpijob__local_kubelet *kubelet,
    const char *namespace_)
{
	struct hosts_group *hosts_group = find_hosts_group(kubelet, namespace_);

	return hosts_group ? hosts_group->written_version : 0;
}

/* The FQDN comes first: a reverse lookup of the address returns the first name. */
static char *host_line(const struct mpijob__local_pod *pod)
{
	const char *h = pod->hostname;
	const char *s = pod->subdomain;
	const char *n = pod->namespace_;

	if (!s)
		return mpijob__base_text_format("%s\t%s\n", pod->address, h);
	return mpijob__base_text_format("%s\t%s.%s.%s.svc.%s %s.%s.%s.svc %s.%s.%s %s.%s %s\n",
	    pod->address, h, s, n, pod->local->cluster_domain, h, s, n, h, s, n, h, s, h);
}

static int write_hosts(struct mpijob__local_kubelet *kubelet, const struct hosts_group *hosts_group,
    mpijob_text *text)
{
	static const char first[] = "127.0.0.1\tlocalhost\n";
	int rc = mpijob_text_write(text, first, sizeof(first) - 1);

	for (struct mpijob__local_pod *pod = hosts_group->names_published ? kubelet->pods : NULL;
	     pod && !rc; pod = pod->next) {
		char *line;

		if (pod->sandbox_released || strcmp(pod->namespace_, hosts_group->namespace_) != 0)
			continue;
		line = host_line(pod);
		rc = line ? mpijob_text_write(text, line, strlen(line)) : MPIJOB_ERR_NOMEM;
		free(line);
	}
	return rc;
}

static int send_hosts(struct mpijob__local_kubelet *kubelet, struct hosts_group *hosts_group)
{
	mpijob_text *text = mpijob_text_new();
	uint64_t number = 0;
	int rc = text ? write_hosts(kubelet, hosts_group, text) : MPIJOB_ERR_NOMEM;

	if (!rc)
		rc = mpijob__local_node_client_hosts_write(kubelet->node, hosts_group->id,
		    mpijob_text_data(text), mpijob_text_len(text), &number);
	mpijob_text_free(text);
	if (rc)
		return rc;
	hosts_group->sent = hosts_group->wanted_version;
	return mpijob__local_kubelet_await(kubelet, number, MPIJOB__LOCAL_REQUEST_HOSTS,
	    hosts_group->id, hosts_group->sent);
}

/* Publish names whose delay is over. */
static void publish_due_names(struct mpijob__local_kubelet *kubelet, int64_t clock_ms,
    int64_t *next_ms)
{
	for (struct hosts_group *hosts_group = kubelet->hosts_groups; hosts_group;
	     hosts_group = hosts_group->next) {
		if (!hosts_group->names_published && clock_ms >= hosts_group->publish_ms) {
			hosts_group->names_published = 1;
			hosts_group->wanted_version++;
		}
		if (!hosts_group->names_published)
			*next_ms = mpijob__base_clock_earlier(*next_ms, hosts_group->publish_ms);
	}
}

static int send_all_hosts(struct mpijob__local_kubelet *kubelet)
{
	int rc = 0;

	for (struct hosts_group *hosts_group = kubelet->hosts_groups; hosts_group && !rc;
	     hosts_group = hosts_group->next) {
		if (hosts_group->wanted_version > hosts_group->sent)
			rc = send_hosts(kubelet, hosts_group);
	}
	return rc;
}

static void hosts_written(struct mpijob__local_kubelet *kubelet, uint64_t id, uint64_t version)
{
	for (struct hosts_group *hosts_group = kubelet->hosts_groups; hosts_group;
	     hosts_group = hosts_group->next) {
		if (hosts_group->id == id && version > hosts_group->written_version)
			hosts_group->written_version = version;
	}
	for (struct mpijob__local_pod *pod = kubelet->pods; pod; pod = pod->next) {
		if (pod->stage == MPIJOB__LOCAL_POD_SETUP)
			pod->dirty = 1;
	}
}

/* ---- pods ---- */

static int address_in_use(const struct mpijob__local_kubelet *kubelet, const char *address)
{
	for (const struct mpijob__local_pod *pod = kubelet->pods; pod; pod = pod->next) {
		if (!pod->sandbox_released && strcmp(pod->address, address) == 0)
			return 1;
	}
	return 0;
}

static int assign_address(struct mpijob__local_kubelet *kubelet, struct mpijob__local_pod *pod)
{
	for (unsigned i = FIRST_ADDRESS; i <= LAST_ADDRESS && !pod->host_network; i++) {
		unsigned number = kubelet->next_address++;
		char *address =
		    mpijob__base_text_format("198.18.%u.%u", (number >> 8) & 255, number & 255);
		int is_free = address && !address_in_use(kubelet, address);

		if (kubelet->next_address > LAST_ADDRESS)
			kubelet->next_address = FIRST_ADDRESS;
		if (is_free)
			memcpy(pod->address, address, strlen(address) + 1);
		free(address);
		if (is_free)
			return 0;
		if (!address)
			return MPIJOB_ERR_NOMEM;
	}
	memcpy(pod->address, MPIJOB__LOCAL_NODE_ADDRESS, sizeof(MPIJOB__LOCAL_NODE_ADDRESS));
	if (!pod->host_network)
		mpijob__local_pod_fail(pod, "NoAddress",
		    mpijob__base_text_format("all addresses are in use"));
	return 0;
}

static int admit(struct mpijob__local_kubelet *kubelet, struct mpijob__local_object *object)
{
	struct hosts_group *hosts_group = get_hosts_group(kubelet, object->namespace_);
	struct mpijob__local_pod *pod = hosts_group
					    ? mpijob__local_pod_new(kubelet, kubelet->local, object,
						  mpijob__local_kubelet_new_id(kubelet))
					    : NULL;
	int rc;

	if (!pod)
		return MPIJOB_ERR_NOMEM;
	rc = assign_address(kubelet, pod);
	if (rc) {
		mpijob__local_pod_free(pod);
		return rc;
	}
	object->pod = pod;
	*kubelet->pods_end = pod;
	kubelet->pods_end = &pod->next;
	pod->hosts_version = ++hosts_group->wanted_version;
	return mpijob__local_pod_start(pod);
}

static int admit_new_pods(struct mpijob__local_kubelet *kubelet)
{
	for (struct mpijob__local_object *object =
		 mpijob__local_store_first(&kubelet->local->store, MPIJOB__LOCAL_KIND_POD);
	     object; object = mpijob__local_store_next(object)) {
		const char *phase = mpijob__local_store_text(object, "status.phase");
		int rc = 0;

		if (!object->pod && !mpijob__local_store_deleting(object) && phase &&
		    strcmp(phase, "Pending") == 0)
			rc = admit(kubelet, object);
		if (rc)
			return rc;
	}
	kubelet->new_pods = 0;
	return 0;
}

static void config_changed(struct mpijob__local_kubelet *kubelet,
    const struct mpijob__local_object *object)
{
	for (struct mpijob__local_pod *pod = kubelet->pods; pod; pod = pod->next) {
		if (pod->stage == MPIJOB__LOCAL_POD_TERMINATED ||
		    strcmp(pod->namespace_, object->namespace_) != 0)
			continue;
		/* The pod may also wait for an object of this name. */
		mpijob__local_pod_volumes_source_changed(pod, object);
		pod->dirty = 1;
	}
}

void mpijob__local_kubelet_changed(struct mpijob__local_kubelet *kubelet,
    struct mpijob__local_object *object, int change)
{
	if (!kubelet)
		return;
	if (object->kind->id == MPIJOB__LOCAL_KIND_CONFIG_MAP ||
	    object->kind->id == MPIJOB__LOCAL_KIND_SECRET) {
		config_changed(kubelet, object);
	} else if (object->kind->id == MPIJOB__LOCAL_KIND_POD) {
		kubelet->new_pods |= change == MPIJOB__LOCAL_CHANGE_ADDED;
		if (!object->pod)
			return;
		object->pod->dirty = 1;
		if (change != MPIJOB__LOCAL_CHANGE_DELETED)
			mpijob__local_pod_volumes_fields_changed(object->pod);
		object->pod->deleting = mpijob__local_store_deleting(object);
		object->pod->object_deleted = change == MPIJOB__LOCAL_CHANGE_DELETED;
	}
}

static struct mpijob__local_pod *find_pod(struct mpijob__local_kubelet *kubelet, uint64_t id)
{
	struct mpijob__local_pod *pod = kubelet->pods;

	while (pod && pod->id != id)
		pod = pod->next;
	return pod;
}

static int sync_pods(struct mpijob__local_kubelet *kubelet, int64_t clock_ms, int64_t *next_ms)
{
	for (struct mpijob__local_pod **at = &kubelet->pods; *at;) {
		struct mpijob__local_pod *pod = *at;
		int due = pod->due_ms >= 0 && pod->due_ms <= clock_ms;
		int rc = pod->dirty || due ? mpijob__local_pod_sync(pod, clock_ms) : 0;

		if (rc) {
			pod->dirty = 1;
			return rc;
		}
		if (pod->object_deleted && mpijob__local_pod_is_terminated(pod)) {
			*at = pod->next;
			if (!*at)
				kubelet->pods_end = at;
			mpijob__local_pod_free(pod);
			continue;
		}
		*next_ms = mpijob__base_clock_earlier(*next_ms, pod->due_ms);
		at = &pod->next;
	}
	return 0;
}

/* ---- messages of the node ---- */

static struct mpijob__local_container *find_container(struct mpijob__local_pod *pod, uint64_t id)
{
	for (size_t i = 0; pod && i < pod->count; i++) {
		if (pod->containers[i].id == id)
			return &pod->containers[i];
	}
	return NULL;
}

static void handle_setup_answer(struct mpijob__local_pod *pod, int what, uint64_t number,
    const struct node_event *event)
{
	pod->dirty = 1;
	if (event->type != NODE_ANS_OK) {
		if (what == MPIJOB__LOCAL_REQUEST_VOLUME &&
		    mpijob__local_pod_volumes_write_failed(pod, number, event->text))
			return;
		mpijob__local_pod_fail(pod, "SetUpFailed",
		    event->text ? strdup(event->text) : NULL);
		return;
	}
	if (what == MPIJOB__LOCAL_REQUEST_SANDBOX)
		pod->sandbox_ready = 1;
	for (size_t i = 0; what == MPIJOB__LOCAL_REQUEST_VOLUME && i < pod->volume_count; i++) {
		if (pod->volumes[i].id == number)
			pod->volumes[i].written = 1;
	}
}

static void dispatch_answer(struct mpijob__local_kubelet *kubelet,
    const struct pending_request *request, const struct node_event *event)
{
	struct mpijob__local_pod *pod = request->what == MPIJOB__LOCAL_REQUEST_HOSTS ||
						request->what == MPIJOB__LOCAL_REQUEST_EXEC
					    ? NULL
					    : find_pod(kubelet, request->pod);
	struct mpijob__local_container *container = find_container(pod, request->number);

	if (request->what == MPIJOB__LOCAL_REQUEST_HOSTS)
		hosts_written(kubelet, request->pod, request->number);
	else if (request->what == MPIJOB__LOCAL_REQUEST_EXEC && request->done)
		request->done(request->user, event);
	else if (pod && (request->what == MPIJOB__LOCAL_REQUEST_SANDBOX ||
			    request->what == MPIJOB__LOCAL_REQUEST_VOLUME))
		handle_setup_answer(pod, request->what, request->number, event);
	else if (container && request->what == MPIJOB__LOCAL_REQUEST_START)
		mpijob__local_container_started(container, event);
	else if (container && request->what == MPIJOB__LOCAL_REQUEST_PROBE)
		mpijob__local_pod_probe_answer(container, event);
}

static void container_exited(struct mpijob__local_kubelet *kubelet, const struct node_event *event)
{
	for (struct mpijob__local_pod *pod = kubelet->pods; pod; pod = pod->next) {
		struct mpijob__local_container *container = find_container(pod, event->id);

		if (container) {
			mpijob__local_container_exited(container, event);
			return;
		}
	}
}

static void node_failed(struct mpijob__local_kubelet *kubelet, const struct node_event *event)
{
	kubelet->dead = 1;
	kubelet->error = event->error ? event->error : MPIJOB_ERR_IO;
	mpijob__local_notice(kubelet->local, MPIJOB_SEVERITY_ERROR, "local-node", NULL,
	    mpijob__base_text_format("%s", event->text ? event->text : "the node failed"));
}

static void handle_event(struct mpijob__local_kubelet *kubelet, const struct node_event *event)
{
	struct pending_request *pending_request;

	if (event->type == NODE_EVT_FATAL) {
		node_failed(kubelet, event);
	} else if (event->type == NODE_EVT_EXITED) {
		container_exited(kubelet, event);
	} else {
		pending_request = take_pending(kubelet, event->request);
		if (pending_request)
			dispatch_answer(kubelet, pending_request, event);
		free(pending_request);
	}
}

static int handle_events(struct mpijob__local_kubelet *kubelet, int timeout_ms)
{
	int rc = mpijob__local_node_client_step(kubelet->node, timeout_ms);
	struct node_event event;

	while (mpijob__local_node_client_next(kubelet->node, &event) == 1)
		handle_event(kubelet, &event);
	if (rc == MPIJOB_ERR_IO && !kubelet->dead) {
		struct node_event object_deleted = { .error = rc,
			.text = "the node ended unexpectedly" };

		node_failed(kubelet, &object_deleted);
	}
	return kubelet->dead ? kubelet->error : rc;
}

static void update_epoll(struct mpijob__local_kubelet *kubelet)
{
	int wants = mpijob__local_node_client_wants_write(kubelet->node);

	if (wants != kubelet->wants_write)
		mpijob__local_modify_fd(kubelet->local, &kubelet->source, 1, wants);
	kubelet->wants_write = wants;
}

int mpijob__local_kubelet_run(struct mpijob__local_kubelet *kubelet, int64_t clock_ms,
    int64_t *next_ms)
{
	int rc;

	*next_ms = -1;
	if (!kubelet)
		return 0;
	rc = handle_events(kubelet, 0);
	if (!rc && kubelet->new_pods)
		rc = admit_new_pods(kubelet);
	publish_due_names(kubelet, clock_ms, next_ms);
	if (!rc)
		rc = send_all_hosts(kubelet);
	if (!rc)
		rc = sync_pods(kubelet, clock_ms, next_ms);
	if (!rc)
		rc = handle_events(kubelet, 0);
	update_epoll(kubelet);
	for (struct mpijob__local_pod *pod = kubelet->pods; pod && !rc; pod = pod->next) {
		if (pod->dirty)
			*next_ms = clock_ms;
	}
	return rc;
}

/* ---- logs, exec, notices ---- */

struct mpijob__local_log *mpijob__local_kubelet_log(struct mpijob__local_kubelet *kubelet,
    const char *uid, const char *name, int previous)
{
	struct mpijob__local_object *object =
	    kubelet ? mpijob__local_store_by_uid(&kubelet->local->store, uid) : NULL;
	struct mpijob__local_container *container =
	    object && object->pod ? mpijob__local_pod_find_container(object->pod, name) : NULL;

	if (!container)
		return NULL;
	return previous ? container->previous_log : container->log;
}

int mpijob__local_kubelet_exec(struct mpijob__local_kubelet *kubelet,
    const struct mpijob__local_kubelet_exec *exec, uint64_t *request)
{
	struct mpijob__local_object *object = mpijob__local_store_find(&kubelet->local->store,
	    MPIJOB__LOCAL_KIND_POD, exec->namespace_, exec->pod);
	struct mpijob__local_container *container =
	    object && object->pod ? mpijob__local_pod_find_container(object->pod, exec->container)
				  : NULL;
	struct pending_request pending_request = { NULL, 0, MPIJOB__LOCAL_REQUEST_EXEC, 0, 0,
		exec->done, exec->user };
	struct node_exec ask = { 0 };
	int rc;

	if (!container || container->state != MPIJOB__LOCAL_CONTAINER_RUNNING)
		return MPIJOB_ERR_NOT_FOUND;
	ask.container = container->id;
	ask.argv = exec->argv;
	memcpy(ask.fds, exec->fds, sizeof(ask.fds));
	rc = mpijob__local_node_client_exec(kubelet->node, &ask, request);
	if (rc)
		return rc;
	pending_request.request = *request;
	return add_pending(kubelet, &pending_request);
}

void mpijob__local_kubelet_exec_cancel(struct mpijob__local_kubelet *kubelet, uint64_t request)
{
	struct pending_request *pending_request = take_pending(kubelet, request);
	uint64_t number = 0;

	if (!pending_request)
		return;
	free(pending_request);
	(void)mpijob__local_node_client_exec_signal(kubelet->node, request, 9, &number);
}

static int is_first_notice(struct mpijob__local_kubelet *kubelet, const char *key)
{
	struct noticed *noticed;

	for (noticed = kubelet->noticed; noticed; noticed = noticed->next) {
		if (strcmp(noticed->key, key) == 0)
			return 0;
	}
	noticed = calloc(1, sizeof(*noticed));
	if (noticed)
		noticed->key = strdup(key);
	if (!noticed || !noticed->key) {
		free(noticed);
		return 1;
	}
	noticed->next = kubelet->noticed;
	kubelet->noticed = noticed;
	return 1;
}

/* The field of the MPIJob from which this field of the pod was rendered. */
static char *field_of_job(const struct mpijob__local_pod *pod, const char *path)
{
	const mpijob_node *labels = mpijob_node_find(mpijob_doc_root(pod->doc), "metadata.labels");
	const char *role =
	    mpijob_node_string(mpijob_node_get(labels, MPIJOB__BASE_API_LABEL_JOB_ROLE));

	if (!role)
		return mpijob__base_text_format("spec.%s", path);
	return mpijob__base_text_format("spec.mpiReplicaSpecs[%s].template.spec.%s",
	    strcmp(role, "worker") == 0 ? "Worker" : "Launcher", path);
}

void mpijob__local_kubelet_notice_field(struct mpijob__local_kubelet *kubelet,
    const struct mpijob__local_pod *pod, const char *path, const char *what)
{
	const mpijob_node *labels = mpijob_node_find(mpijob_doc_root(pod->doc), "metadata.labels");
	const char *job =
	    mpijob_node_string(mpijob_node_get(labels, MPIJOB__BASE_API_LABEL_JOB_NAME));
	char *field = field_of_job(pod, path);
	char *key = field ? mpijob__base_text_format("%s/%s/%s", pod->namespace_,
				job ? job : pod->name, field)
			  : NULL;

	if (key && is_first_notice(kubelet, key))
		mpijob__local_notice(kubelet->local, MPIJOB_SEVERITY_WARNING, "not-honoured", field,
		    mpijob__base_text_format("not honoured locally%s%s", what ? ": " : "",
			what ? what : ""));
	free(key);
	free(field);
}

/* ---- create and free ---- */

static void ignore_event(struct mpijob__local_event_source *source)
{
	(void)source; /* mpijob__local_kubelet_run() reads the socket */
}

static void report_node_error(mpijob_diag *diag, const struct node_event *event)
{
	struct mpijob_finding finding = MPIJOB_FINDING_INIT;

	finding.severity = MPIJOB_SEVERITY_ERROR;
	finding.id = "local-node";
	finding.message = event->text ? event->text : "the node did not start";
	mpijob_diag_add(diag, &finding);
}

/* Wait until the node is ready or reports an error. */
static int wait_for_node(struct mpijob__local_kubelet *kubelet, mpijob_diag *diag)
{
	int64_t end = mpijob__base_clock_monotonic_ms() + READY_WAIT_MS;
	struct node_event event = { 0 };

	for (;;) {
		int rc = mpijob__local_node_client_step(kubelet->node, 100);

		while (mpijob__local_node_client_next(kubelet->node, &event) == 1) {
			if (event.type == NODE_EVT_READY) {
				kubelet->identity = event.identity;
				return 0;
			}
			if (event.type == NODE_EVT_FATAL) {
				report_node_error(diag, &event);
				return event.error ? event.error : MPIJOB_ERR_IO;
			}
		}
		if (rc || mpijob__base_clock_monotonic_ms() >= end) {
			event.text = NULL;
			report_node_error(diag, &event);
			return rc == MPIJOB_ERR_NOMEM ? rc : MPIJOB_ERR_IO;
		}
	}
}

static int start_node(struct mpijob__local_kubelet *kubelet, const char *program, mpijob_diag *diag)
{
	char *found = program ? strdup(program) : mpijob__local_node_program_find();
	struct node_options options = { found, NULL, NODE_IDENTITY_AUTO };
	int rc = found ? mpijob__local_node_client_start(&options, &kubelet->node, diag)
		       : MPIJOB_ERR_NOMEM;

	free(found);
	if (!rc)
		rc = wait_for_node(kubelet, diag);
	if (rc)
		return rc;
	kubelet->source.fd = mpijob__local_node_client_fd(kubelet->node);
	kubelet->source.run = ignore_event;
	return mpijob__local_add_fd(kubelet->local, &kubelet->source, 0);
}

int mpijob__local_kubelet_new(struct mpijob_local *local, const char *program,
    struct mpijob__local_kubelet **out, mpijob_diag *diag)
{
	struct mpijob__local_kubelet *kubelet = calloc(1, sizeof(*kubelet));
	int rc;

	if (!kubelet)
		return MPIJOB_ERR_NOMEM;
	kubelet->local = local;
	kubelet->source.fd = -1;
	kubelet->pods_end = &kubelet->pods;
	kubelet->next_address = FIRST_ADDRESS;
	rc = start_node(kubelet, program, diag);
	if (rc) {
		mpijob__local_kubelet_free(kubelet);
		return rc;
	}
	*out = kubelet;
	return 0;
}

static void free_lists(struct mpijob__local_kubelet *kubelet)
{
	while (kubelet->pods) {
		struct mpijob__local_pod *pod = kubelet->pods;

		kubelet->pods = pod->next;
		mpijob__local_pod_free(pod);
	}
	while (kubelet->pending) {
		struct pending_request *pending_request = kubelet->pending;

		kubelet->pending = pending_request->next;
		free(pending_request);
	}
	while (kubelet->hosts_groups) {
		struct hosts_group *hosts_group = kubelet->hosts_groups;

		kubelet->hosts_groups = hosts_group->next;
		free(hosts_group->namespace_);
		free(hosts_group);
	}
	while (kubelet->noticed) {
		struct noticed *noticed = kubelet->noticed;

		kubelet->noticed = noticed->next;
		free(noticed->key);
		free(noticed);
	}
}

void mpijob__local_kubelet_free(struct mpijob__local_kubelet *kubelet)
{
	if (!kubelet)
		return;
	if (kubelet->source.fd >= 0)
		mpijob__local_remove_fd(kubelet->local, &kubelet->source);
	/* This ends the node and everything in it. */
	mpijob__local_node_client_free(kubelet->node);
	free_lists(kubelet);
	free(kubelet);
}
