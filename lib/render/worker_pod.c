/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's Pod. Its controller is the MPIJob, not a Job or StatefulSet, so its name and index
 * never change. It runs sshd if the user sets neither command nor args. A search domain lets it
 * resolve the launcher's short name, to which Intel MPI and MPICH connect back. A label has its
 * index, one higher if the launcher has index 0.
 */
#include "base/api.h"
#include "render/build.h"

#include "base/text.h"
#include "render/differences.h"

#include <string.h>

/* The default cluster domain, which mpi-operator always uses. */
#define DEFAULT_DOMAIN "cluster.local"

static void default_command(struct mpijob__render_build *b, mpijob_node *container)
{
	mpijob_node *command;

	if (mpijob_node_count(mpijob_node_get(container, "command")) > 0 ||
	    mpijob_node_count(mpijob_node_get(container, "args")) > 0)
		return;
	command = mpijob_node_put_list(b->doc, container, "command");
	mpijob_node_append_string(b->doc, command, "/usr/sbin/sshd");
	mpijob_node_append_string(b->doc, command, "-De");
}

/* The probe fails only after one minute, because a node may be busy. */
static void add_readiness_probe(struct mpijob__render_build *b, mpijob_node *container)
{
	int32_t kind = mpijob_node_kind(mpijob_node_get(container, "readinessProbe"));
	int32_t port = mpijob__render_ssh_port(b->subject);
	mpijob_node *probe;

	if (b->subject->features.worker_readiness == 0 ||
	    (kind != MPIJOB_NODE_NONE && kind != MPIJOB_NODE_NULL))
		return;
	probe = mpijob_node_put_map(b->doc, container, "readinessProbe");
	mpijob_node_put_int(b->doc, mpijob_node_put_map(b->doc, probe, "tcpSocket"), "port",
	    port != 0 ? port : b->subject->features.worker_readiness);
	mpijob_node_put_int(b->doc, probe, "periodSeconds", 3);
	mpijob_node_put_int(b->doc, probe, "timeoutSeconds", 3);
	mpijob_node_put_int(b->doc, probe, "failureThreshold", 20);
}

static void add_search_domain(struct mpijob__render_build *b, mpijob_node *spec)
{
	const struct mpijob__render_subject *subject = b->subject;
	const char *domain = subject->options.cluster_domain;
	mpijob_node *config = mpijob__render_build_map(b, spec, "spec.dnsConfig");
	mpijob_node *searches = mpijob__render_build_list(b, config, "spec.dnsConfig.searches");
	int code;

	if (domain == NULL ||
	    !mpijob__render_difference_holds(MPIJOB__RENDER_DIFFERENCE_SEARCH_DOMAIN,
		subject->options.reference))
		domain = DEFAULT_DOMAIN;
	mpijob_text_clear(&b->scratch);
	code = mpijob__base_text_printf(&b->scratch, "%s.%s.svc.%s", subject->name,
	    subject->namespace_, domain);
	if (code != 0 && b->code == 0)
		b->code = code;
	mpijob_node_append_string(b->doc, searches, mpijob_text_data(&b->scratch));
}

static int index_label(const struct mpijob__render_subject *subject, int32_t index,
    struct mpijob_text *text)
{
	return mpijob__base_text_printf(text, "%d",
	    (int)index + (mpijob__render_subject_launcher_has_ranks(subject) ? 1 : 0));
}

void mpijob__render_worker_pod_build(struct mpijob__render_build *b, int32_t index)
{
	const struct mpijob_replica_spec *replica = b->subject->spec->worker;
	struct mpijob_text label = { 0 };
	mpijob_node *root, *metadata, *spec, *container;

	b->role = "Worker";
	root = mpijob__render_build_head(b, MPIJOB_ROLE_WORKER, index, 0);
	if (b->code == 0)
		b->code = index_label(b->subject, index, &label);
	metadata = mpijob_node_edit(root, "metadata");
	mpijob__render_pod_metadata(b, replica->pod_template, metadata, mpijob_text_data(&label));
	mpijob__render_build_owner(b, metadata);
	mpijob__base_text_release(&label);
	spec = mpijob__render_pod_spec(b, replica->pod_template, root, MPIJOB_ROLE_WORKER, index);
	add_search_domain(b, spec);
	mpijob__render_pod_restart_policy(b, spec, replica);
	container = mpijob__render_pod_container(b, spec);
	default_command(b, container);
	mpijob__render_ssh_port_add(b, container);
	add_readiness_probe(b, container);
	mpijob__render_environment_inject(b, container, MPIJOB_ROLE_WORKER);
	mpijob__render_pod_mount_keys(b, spec);
}

int mpijob__render_worker_pod_renumber(const struct mpijob__render_subject *subject,
    mpijob_doc *doc, int32_t index)
{
	mpijob_node *root = mpijob_doc_edit(doc, "");
	mpijob_node *metadata = mpijob_node_edit(root, "metadata");
	struct mpijob_text text = { 0 };
	int code = mpijob__render_name(subject->name, MPIJOB_ROLE_WORKER, index, &text);

	mpijob_node_put_string(doc, metadata, "name", mpijob_text_data(&text));
	mpijob_node_put_string(doc, mpijob_node_edit(root, "spec"), "hostname",
	    mpijob_text_data(&text));
	mpijob_text_clear(&text);
	if (code == 0)
		code = index_label(subject, index, &text);
	mpijob_node_put_string(doc, mpijob_node_edit(metadata, "labels"),
	    MPIJOB__BASE_API_LABEL_REPLICA_INDEX, mpijob_text_data(&text));
	mpijob__base_text_release(&text);
	return code != 0 ? code : mpijob_doc_error(doc);
}
