/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the writers of YAML and JSON. */
#ifndef MPIJOB__DOC_WRITE_H
#define MPIJOB__DOC_WRITE_H

#include "doc/layout.h"
#include "doc/node.h"
#include "doc/stack.h"

/* A buffer for the sink. It keeps the first failure, and passes nothing on after it. */
struct mpijob__doc_out {
	mpijob_write_fn write;
	void *user;
	int rc;
	size_t len;
	char data[1024];
};

void mpijob__doc_out_put(struct mpijob__doc_out *out, const char *data, size_t len);
void mpijob__doc_out_puts(struct mpijob__doc_out *out, const char *string);
void mpijob__doc_out_spaces(struct mpijob__doc_out *out, size_t count);
/* Flush the buffer. Returns the first failure. */
int mpijob__doc_out_finish(struct mpijob__doc_out *out);

/* A list or map that is being written. */
struct mpijob__doc_writing {
	const struct mpijob_node *node;
	uint32_t next;
	uint32_t indent;
};

/* Layouts of JSON. */
#define MPIJOB__DOC_JSON_COMPACT  0 /* without spaces */
#define MPIJOB__DOC_JSON_INDENTED 1 /* two spaces for each level */
#define MPIJOB__DOC_JSON_FLOW     2 /* on one line, valid YAML too */

/* Write a tree as JSON, without a final line end. Returns 0 or MPIJOB_ERR_NOMEM; failures of the
 * sink are in `out`. */
int mpijob__doc_write_json(struct mpijob__doc_out *out, const struct mpijob_node *node, int layout);
/* Write a string in double quotes that both JSON and YAML read. */
void mpijob__doc_write_quoted(struct mpijob__doc_out *out, const char *text, size_t len);
/* Write a tree as YAML, with a final line end. */
int mpijob__doc_write_yaml(struct mpijob__doc_out *out, const struct mpijob_node *node);

/* How a YAML text is indented. */
struct mpijob__doc_yaml_style {
	uint32_t map;     /* a map below a key, and a literal block */
	uint32_t list;    /* the dashes of a list below a key */
	uint32_t literal; /* a string becomes a literal block with this indentation; 0: if needed */
};

/* Write a value, with a line end, after the "key:" of a map or the "- " of a list that is indented
 * by `indent`. */
int mpijob__doc_write_yaml_value(struct mpijob__doc_out *out, const struct mpijob_node *node,
    int in_list, size_t indent, const struct mpijob__doc_yaml_style *style);
/*
 * Write a value on one line, without a line end, in place of a scalar of the style `old`, an enum
 * mpijob__doc_event_style. `flow`: inside of brackets.
 */
int mpijob__doc_write_yaml_inline(struct mpijob__doc_out *out, const struct mpijob_node *node,
    int old, int flow);
/* Write a key with its colon. */
void mpijob__doc_write_yaml_key(struct mpijob__doc_out *out, const char *key, size_t len, int flow);

#endif
