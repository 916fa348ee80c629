/* SPDX-License-Identifier: Apache-2.0 */
/* One exchange as a line of JSON: method, path and body; status, code and message when it ended;
 * data. */
#include "record.h"

#include <stdlib.h>

static int write_file(void *file, const char *data, size_t len)
{
	return fwrite(data, 1, len, file) == len ? 0 : MPIJOB_ERR_IO;
}

struct tape *tape_new(const struct mpijob_request *request)
{
	struct tape *tape = calloc(1, sizeof(*tape));
	mpijob_node *root;

	if (!tape)
		return NULL;
	tape->line = mpijob_doc_new();
	tape->data = mpijob_text_new();
	root = mpijob_doc_edit(tape->line, "");
	mpijob_node_put_string(tape->line, root, "method", request->method);
	mpijob_node_put_string(tape->line, root, "path", request->path);
	mpijob_node_put(tape->line, root, "body",
	    mpijob_node_new_text(tape->line, MPIJOB_NODE_STRING, request->body ? request->body : "",
		request->body_len));
	if (tape->data && mpijob_doc_error(tape->line) == 0)
		return tape;
	tape_free(tape);
	return NULL;
}

void tape_end(struct tape *tape, const struct mpijob_answer *answer, int code)
{
	mpijob_node *root = mpijob_doc_edit(tape->line, "");

	mpijob_node_put_int(tape->line, root, "status", answer->status);
	mpijob_node_put_int(tape->line, root, "code", code);
	mpijob_node_put_int(tape->line, root, "retryAfter", answer->retry_after_ms / 1000);
	mpijob_node_put_string(tape->line, root, "message", code ? answer->message : NULL);
}

int tape_write(struct tape *tape, FILE *file)
{
	mpijob_node *data = mpijob_node_new_text(tape->line, MPIJOB_NODE_STRING,
	    mpijob_text_data(tape->data), mpijob_text_len(tape->data));
	int code;

	mpijob_node_put(tape->line, mpijob_doc_edit(tape->line, ""), "data", data);
	code = mpijob_doc_error(tape->line);
	if (code == 0)
		code = mpijob_node_write(mpijob_doc_root(tape->line), MPIJOB_FORMAT_JSON_COMPACT,
		    write_file, file);
	return code == 0 && fputc('\n', file) == EOF ? MPIJOB_ERR_IO : code;
}

void tape_free(struct tape *tape)
{
	mpijob_doc_free(tape->line);
	mpijob_text_free(tape->data);
	free(tape);
}
