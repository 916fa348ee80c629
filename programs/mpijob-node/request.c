/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatches requests and encodes answers. Malformed requests are answered with an error: the
 * parent is trusted, but a bug in it must not end the node.
 */
#include "node.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

void answer(struct node *node, struct node_writer *w)
{
	int error = mpijob__local_node_message_send(&node->parent, w);

	if (error == MPIJOB_ERR_NOMEM)
		die_errno(0, MPIJOB_ERR_NOMEM, "out of memory");
}

void answer_ok(struct node *node, uint64_t request)
{
	struct node_writer w;

	mpijob__local_node_message_begin(&w, NODE_ANS_OK, request);
	answer(node, &w);
}

void answer_number(struct node *node, uint64_t request, uint16_t tag, uint64_t value)
{
	struct node_writer w;

	mpijob__local_node_message_begin(&w, NODE_ANS_OK, request);
	mpijob__local_node_message_put_number(&w, tag, value);
	answer(node, &w);
}

void answer_error(struct node *node, uint64_t request, int error, int number, const char *format,
    ...)
{
	struct node_writer w;
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		die_errno(0, MPIJOB_ERR_NOMEM, "out of memory");
	va_end(args);
	mpijob__local_node_message_begin(&w, NODE_ANS_ERROR, request);
	mpijob__local_node_message_put_number(&w, NODE_F_ERROR, (uint64_t)-error);
	mpijob__local_node_message_put_number(&w, NODE_F_ERRNO, (uint64_t)number);
	mpijob__local_node_message_put_text(&w, NODE_F_TEXT, text);
	answer(node, &w);
	free(text);
}

void answer_exited(struct node *node, uint16_t type, uint64_t request, uint64_t id, int status)
{
	int signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	struct node_writer w;

	mpijob__local_node_message_begin(&w, type, request);
	if (id)
		mpijob__local_node_message_put_number(&w, NODE_F_ID, id);
	mpijob__local_node_message_put_number(&w, NODE_F_CODE,
	    (uint64_t)(signo ? 128 + signo : WEXITSTATUS(status)));
	mpijob__local_node_message_put_number(&w, NODE_F_SIGNAL, (uint64_t)signo);
	answer(node, &w);
}

/* The fields of all requests except container start and exec. */
struct simple {
	uint64_t id;
	uint64_t request;
	int signo;
	struct node_field data;
	const char *hostname;
	const char *address;
	struct sandbox sandbox;
	struct probe probe;
};

static void read_simple(struct simple *s, const struct node_field *f)
{
	uint64_t number = mpijob__local_node_message_number(f);

	switch (f->tag) {
	case NODE_F_ID: s->id = s->sandbox.id = number; break;
	case NODE_F_REQUEST: s->request = number; break;
	case NODE_F_SIGNAL: s->signo = (int)number; break;
	case NODE_F_DATA: s->data = *f; break;
	case NODE_F_HOSTNAME: s->hostname = mpijob__local_node_message_text(f); break;
	case NODE_F_ADDRESS: s->address = mpijob__local_node_message_text(f); break;
	case NODE_F_HOST_NETWORK: s->sandbox.host_network = number != 0; break;
	case NODE_F_GROUP: s->sandbox.group = number; break;
	case NODE_F_SANDBOX: s->probe.sandbox = number; break;
	case NODE_F_PORT: s->probe.port = (uint16_t)number; break;
	case NODE_F_TIMEOUT: s->probe.deadline = (int64_t)(number & INT32_MAX); break;
	case NODE_F_RETRY: s->probe.retry = (int64_t)(number & INT32_MAX); break;
	case NODE_F_LISTEN: s->probe.listen = number != 0; break;
	default: break;
	}
}

static void handle_simple(struct node *node, const struct node_frame *frame,
    struct node_reader fields)
{
	struct node_reader all = fields;
	struct simple s = { 0 };
	struct node_field f;

	while (mpijob__local_node_message_next(&fields, &f) == 1)
		read_simple(&s, &f);
	s.probe.request = frame->request;
	if (frame->type == NODE_REQ_SANDBOX_CREATE)
		sandbox_create(node, frame->request, &s.sandbox, s.hostname, s.address);
	else if (frame->type == NODE_REQ_SANDBOX_DESTROY)
		sandbox_destroy(node, frame->request, s.id);
	else if (frame->type == NODE_REQ_VOLUME_WRITE)
		volume_write(node, frame->request, &all);
	else if (frame->type == NODE_REQ_VOLUME_REMOVE)
		volume_remove(node, frame->request, s.id);
	else if (frame->type == NODE_REQ_HOSTS_WRITE)
		hosts_write(node, frame->request, s.sandbox.group, s.data.data, s.data.len);
	else if (frame->type == NODE_REQ_CONTAINER_SIGNAL)
		container_signal(node, frame->request, s.id, s.signo);
	else if (frame->type == NODE_REQ_EXEC_SIGNAL)
		exec_signal(node, frame->request, s.request, s.signo);
	else if (frame->type == NODE_REQ_PROBE)
		probe_start(node, &s.probe);
	else
		answer_error(node, frame->request, MPIJOB_ERR_UNSUPPORTED, 0, "unknown request %u",
		    frame->type);
}

void request_handle(struct node *node, struct node_incoming *in)
{
	struct node_reader fields = { in->payload, in->payload + in->frame.length };

	if (in->frame.type == NODE_REQ_CONTAINER_START)
		container_start(node, in);
	else if (in->frame.type == NODE_REQ_EXEC)
		exec_start(node, in);
	else
		handle_simple(node, &in->frame, fields);
	mpijob__local_node_message_incoming_free(in);
}
